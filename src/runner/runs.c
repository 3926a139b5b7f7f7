/* runs.c: folders of runs, and the keepers that have them. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "os/fd.h"
#include "os/program.h"
#include "runner/folder.h"
#include "runner/keeper.h"
#include "runner/runner_private.h"

enum { ID_MAX = 64, SAFE_FD = 16, KEEPERS_MAX = 2000 };

/* It becomes the name of a folder. */
static bool is_id(str id)
{
    bool good = id.len > 0 && id.len <= ID_MAX;

    for (size_t i = 0; good && i < id.len; i++) {
        char c = id.at[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    }
    return good;
}

static str folder_of(struct arena *a, str home, str run_id)
{
    return arena_printf(a, STR_FMT "/runs/" STR_FMT, STR_ARG(home), STR_ARG(run_id));
}

/* ---- those that are there ---- */

/* The processes that have, or had, a folder. */
static const pid_t *keepers_list(struct arena *a, str home, size_t *count)
{
    pid_t *all = ARENA_ARRAY(a, pid_t, KEEPERS_MAX);
    DIR *runs = opendir(folder_path(a, home, "runs").at);
    const struct dirent *entry;

    *count = 0;
    while (runs && *count < KEEPERS_MAX && (entry = readdir(runs))) {
        str id = arena_copy(a, str_from(entry->d_name));
        pid_t pid = is_id(id) ? folder_holder(a, folder_path(a, folder_of(a, home, id), "lock"))
                              : 0;
        if (pid)
            all[(*count)++] = pid;
    }
    if (runs)
        closedir(runs);
    return all;
}

/* Ends and removes what a keeper left that was killed. The agent has died with it; what the agent
 * had started has the path of its token in the environment, that of a command the folder, or has
 * become ours: the runner adopts what its keepers leave. */
static void clear(struct arena *a, str home, str folder, str run_id)
{
    str agent = folder_of_agent(a, folder);
    int killed =
        exec_kill_marked(arena_printf(a, "BATON_TOKEN_FILE=" STR_FMT "/token", STR_ARG(agent)));
    killed += exec_kill_marked(arena_printf(a, "BATON_RUN_FOLDER=" STR_FMT, STR_ARG(folder)));
    size_t count;
    const pid_t *keepers = keepers_list(a, home, &count);

    killed += exec_kill_orphans(keepers, count);

    log_warn("run.keeper_lost", LOG_S("run", run_id), LOG_N("killed", killed));
    folder_remove(a, folder);
}

static bool is_live(struct arena *a, str home, str run_id)
{
    str folder = folder_of(a, home, run_id);
    int lock = folder_lock(a, folder_path(a, folder, "lock"));

    if (lock < 0)
        return access(folder.at, F_OK) == 0;
    clear(a, home, folder, run_id);
    close(lock);
    return false;
}

int64_t runs_count(struct arena *a, str home, struct json *ids)
{
    DIR *runs = opendir(folder_path(a, home, "runs").at);
    const struct dirent *entry;
    int64_t count = 0;

    while (runs && (entry = readdir(runs))) {
        str id = arena_copy(a, str_from(entry->d_name));
        if (!is_id(id) || !is_live(a, home, id))
            continue;
        count++;
        if (ids)
            json_push(a, ids, json_string(id));
    }
    if (runs)
        closedir(runs);
    return count;
}

void runs_stop(struct arena *a, str home, str run_id)
{
    str lock = folder_path(a, folder_of(a, home, run_id), "lock");

    if (!is_id(run_id) || !is_live(a, home, run_id))
        return;
    pid_t keeper = folder_holder(a, lock);
    if (keeper)
        kill(keeper, SIGUSR1);
}

/* ---- a new one ---- */

static str spec_of(struct arena *a, const struct runner_options *o, str runner_id,
                   const struct json *run)
{
    struct json spec = json_object(), bare = json_object();

    for (uint32_t i = 0; i < run->len; i++)
        if (!str_eq(json_name(&run->members[i]), STR("token")))
            json_put(a, &bare, json_name(&run->members[i]), run->members[i].value);
    json_put(a, &spec, STR("run"), bare);
    json_put(a, &spec, STR("runner_id"), json_string(runner_id));
    json_put(a, &spec, STR("data"), json_string(o->data));
    json_put(a, &spec, STR("home"), json_string(o->home));
    json_put(a, &spec, STR("user"), json_string(o->user));
    json_put(a, &spec, STR("project_dir"), json_string(o->project_dir));
    return json_printed(a, &spec);
}

/* Descriptors of one keeper. */
struct ends {
    int lock, log, secrets[2], ready[2];
};

/* The runner has one thread, so that anything may be called between fork and exec. */
static void become_keeper(const struct ends *e, const char *folder)
{
    char *argv[] = { "baton", "keep-run", (char *)folder, NULL };
    const int from[] = { e->secrets[0], e->log, e->log, e->lock, e->ready[1] };
    int safe[5];
    sigset_t none;

    /* First out of the way of each other. */
    for (int i = 0; i < 5; i++)
        safe[i] = fcntl(from[i], F_DUPFD, SAFE_FD);
    for (int i = 0; i < 5; i++)
        dup2(safe[i], i);
    fds_close_from(5);
    unsetenv("BATON_TOKEN");
    signal(SIGCHLD, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    execv(program_self(), argv);
    _exit(127);
}

static err keeper_fork(struct arena *a, struct ends *e, str folder, str secrets, int *ready)
{
    pid_t pid = -1;

    e->log = open(folder_path(a, folder, "keeper.log").at,
                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (e->log >= 0 && pipe_open(e->secrets) && pipe_open(e->ready))
        pid = fork();
    if (pid == 0)
        become_keeper(e, folder.at);
    if (pid < 0) {
        err failed = err_new(a, ERR_UNAVAILABLE, "cannot start a keeper: %s", strerror(errno));
        if (e->ready[0] >= 0)
            close(e->ready[0]);
        return failed;
    }
    dprintf(e->lock, "%d\n", (int)pid);
    ssize_t n = write(e->secrets[1], secrets.at, secrets.len); /* a pipe has room for so little */
    (void)n;
    *ready = e->ready[0];
    return NULL;
}

/* An empty folder, and its lock. */
static err folder_take(struct arena *a, str home, str run_id, str folder, int *lock)
{
    if (is_live(a, home, run_id))
        return err_new(a, ERR_CONFLICT, "an older keeper of " STR_FMT " has not ended",
                       STR_ARG(run_id));
    TRY(folder_make(a, folder_path(a, home, "runs")));
    TRY(folder_make(a, folder));
    *lock = folder_lock(a, folder_path(a, folder, "lock"));
    return *lock >= 0 ? NULL
                      : err_new(a, ERR_UNAVAILABLE, STR_FMT ": cannot lock it: %s", STR_ARG(folder),
                                strerror(errno));
}

err runs_start(struct arena *a, const struct runner_options *o, str runner_id,
               const struct json *run, int *ready)
{
    struct ends e = { -1, -1, { -1, -1 }, { -1, -1 } };
    str id = json_str(run, "run_id"), folder = folder_of(a, o->home, id);
    struct json secrets = json_object();

    if (!is_id(id))
        return err_new(a, ERR_INVALID, "the server gave a run whose id is none: " STR_FMT,
                       STR_ARG(id));
    TRY(folder_take(a, o->home, id, folder, &e.lock));
    err failed =
        folder_write(a, folder_path(a, folder, "spec.json"), spec_of(a, o, runner_id, run), NULL);
    json_put(a, &secrets, STR("token"), json_string(json_str(run, "token")));
    json_put(a, &secrets, STR("runner_token"), json_string(str_from(getenv("BATON_TOKEN"))));
    if (!failed)
        failed = keeper_fork(a, &e, folder, json_printed(a, &secrets), ready);
    const int all[] = { e.lock, e.log, e.secrets[0], e.secrets[1], e.ready[1] };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] >= 0)
            close(all[i]);
    if (failed)
        folder_remove(a, folder);
    return failed;
}
