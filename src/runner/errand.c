/* errand.c: an idle client on this machine is told something, by its own queue. */
#include "runner/errand.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "client/socket.h"
#include "os/exec.h"
#include "os/fd.h"
#include "runner/report.h"

enum {
    QUEUE_MS = 30 * 1000,
    LOOK_MS = 20, /* between two looks at it */
    ANSWER_MS = 15000,
    PAUSE_MOST_MS = 5000,         /* between two reports */
    PATIENCE_MS = 10 * 60 * 1000, /* with a server that is away: it will offer it again */
    REASON_MAX = 500,
    ENV_MAX = 8,
};

/* ---- the queue ---- */

/* Nothing of ours, where tokens are, and nothing of an agent around us. */
static char *const *env_make(struct arena *a, const struct exec_user *user, str home)
{
    static const char *const kept[] = { "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "PATH" };
    char **env = ARENA_ARRAY(a, char *, ENV_MAX);
    size_t count = 0;

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        str value = str_from(getenv(kept[i]));
        if (user && i < 3)
            value = i == 0 ? user->home : user->name;
        if (value.len)
            env[count++] = (char *)arena_printf(a, "%s=" STR_FMT, kept[i], STR_ARG(value)).at;
    }
    env[count++] = (char *)arena_printf(a, "CODEX_HOME=" STR_FMT, STR_ARG(home)).at;
    env[count] = NULL;
    return env;
}

static str queue_reason(struct arena *a, int said, bool late)
{
    char *room = arena_alloc(a, REASON_MAX);
    ssize_t n = pread(said, room, REASON_MAX, 0);
    str text = str_trim((str){ room, n > 0 ? (size_t)n : 0 });

    return late ? STR("codex queue took too long")
           : text.len && utf8_valid(text)
               ? text
               : STR("codex queue failed, and said nothing to the point");
}

/* By its end, and not by that of its output: what it starts may have that for longer. Empty: the client
 * has it. */
static str queue_wait(struct arena *a, pid_t pid, int said)
{
    int64_t until_ms = socket_clock_ms() + QUEUE_MS;
    bool late = false;
    int status = -1;

    while (waitpid(pid, &status, late ? 0 : WNOHANG) == 0) {
        poll(NULL, 0, LOOK_MS);
        late = socket_clock_ms() >= until_ms;
        if (late)
            kill(-pid, SIGKILL);
    }
    bool taken = !late && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return taken ? STR("") : queue_reason(a, said, late);
}

/* Its arguments are its own: no shell looks at them. */
static err queue_run(struct arena *a, const struct runner_options *o, const struct json *wake,
                     str *why)
{
    struct exec_user *user = o->user.len ? ARENA_NEW(a, struct exec_user) : NULL;
    str path = json_str(wake, "path");
    char *argv[] = {
        "codex",
        "queue",
        (char *)arena_printf(a, "--thread=" STR_FMT, STR_ARG(json_str(wake, "conversation"))).at,
        (char *)arena_printf(a, "--message=" STR_FMT, STR_ARG(json_str(wake, "text"))).at,
        NULL,
    };
    pid_t pid;

    if (user)
        TRY(exec_user_find(a, o->user, user));
    if (path.len) /* by which it is found, too */
        setenv("PATH", arena_copy(a, path).at, 1);
    int said = memory_open();
    struct exec_plan plan = { .argv = argv,
                              .env = env_make(a, user, json_str(wake, "home")),
                              .folder = "/",
                              .in = -1,
                              .out = said,
                              .error = said,
                              .user = user };
    TRY(exec_start(a, &plan, &pid));
    *why = queue_wait(a, pid, said);
    return NULL;
}

/* ---- telling the server ---- */

static enum report_answer report_send(struct caller *caller, struct arena *a, str waker,
                                      const struct json *body)
{
    const struct json *answer;
    struct call call = { .method = "POST",
                         .pattern = "/runner/wakes/{waker}",
                         PARAMS({ "waker", waker }),
                         .body = json_printed(a, body),
                         .reads = true, /* the same report again changes nothing */
                         .timeout_ms = ANSWER_MS };

    return report_answer_of(caller_call(caller, a, &call, &answer));
}

/* Of one that was handed over, until it was heard: only by that it is not offered again. */
static void report(const struct runner_options *o, str waker, const struct json *body)
{
    int64_t until_ms = socket_clock_ms() + PATIENCE_MS;
    enum report_answer heard = REPORT_LATER;
    struct arena *a = arena_new();
    struct caller caller;

    caller_init(&caller, o->data.len ? o->data.at : NULL);
    caller.refusal = report_refusal;
    for (int n = 0; heard == REPORT_LATER && socket_clock_ms() < until_ms; n++) {
        if (n)
            poll(NULL, 0, (int)retry_delay_ms(n, PAUSE_MOST_MS));
        arena_reset(a);
        heard = report_send(&caller, a, waker, body);
    }
    caller_release(&caller);
    arena_free(a);
}

static void errand_do(struct arena *a, const struct runner_options *o, str runner_id,
                      const struct json *wake)
{
    str waker = json_str(wake, "waker"), why = STR("");
    struct json body = json_object();
    err e = queue_run(a, o, wake, &why);

    if (e)
        why = e->message;
    json_put(a, &body, STR("runner_id"), json_string(runner_id));
    if (why.len)
        json_put(a, &body, STR("failed"), json_string(why));
    else
        json_put(a, &body, STR("handed"), json_bool(true));
    log_info("runner.wake", LOG_S("waker", waker),
             LOG_S("conversation", json_str(wake, "conversation")), LOG_S("error", why));
    report(o, waker, &body);
}

/* The runner has one thread, so that anything may be called in its child. What the runner holds, its
 * directory's lock above all, is not the child's. */
void errand_start(struct arena *a, const struct runner_options *o, str runner_id,
                  const struct json *wake)
{
    sigset_t none;
    pid_t pid = fork();

    if (pid < 0)
        log_warn("runner.wake", LOG_S("waker", json_str(wake, "waker")),
                 LOG_S("error", str_from(strerror(errno))));
    if (pid != 0)
        return;
    fds_close_from(3);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    errand_do(a, o, runner_id, wake);
    _exit(0);
}
