/* team.c: teams of scripted agents on a real server: starting them, and following the log. */
#define _GNU_SOURCE
#include "black/team.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/socket.h"

enum {
    ARGS_MAX = 24,
    LOOK_S = 1,                                    /* that one look at the log waits */
    PATIENCE_MS = BLACK_SANITIZED ? 60000 : 20000, /* for anything to happen */
    TICK_MS = 10,
};

/* ---- files ---- */

void team_touch(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    close(fd);
}

void team_wait_file(const char *path)
{
    int64_t until = socket_clock_ms() + PATIENCE_MS;

    while (access(path, F_OK) != 0) {
        if (socket_clock_ms() > until)
            check_fail(__FILE__, __LINE__, "%s is not there", path);
        poll(NULL, 0, TICK_MS);
    }
}

/* ---- the server and its agents ---- */

/* Files make it do more: with `helper` it begins with a process that does not end when it is asked,
 * with `leak` it writes down its token. */
static const char agent_text[] =
    "#!/bin/sh\n"
    "file=prompts/$AGENT_SESSION_NAME.$BATON_RUN_ID.$$\n"
    "cat >asked.$$ && mv asked.$$ $file\n"
    "echo $AGENT_SESSION_NAME complains >&2\n"
    "if [ -e leak ]; then echo $BATON_TOKEN >token.$AGENT_SESSION_NAME; fi\n"
    "if [ -e helper ]; then (trap '' TERM; exec sleep 600) & fi\n"
    "exec \"$1\" scripted \"$2\" \"$3\" <$file\n";

/* Conversations are where every runner of this machine finds them. */
static const char profile_text[] =
    "{'merge':{'start':['/bin/sh','%s/agent','{baton}','--start','{client_id}'],"
    "'resume':['/bin/sh','%s/agent','{baton}','--resume','{client_id}'],"
    "'env':{'BATON_SCRIPTED_DIR':'%s'}}}";

const char *const *team_args(const char *runner, const char *store, const char *const *settings)
{
    const char **args = (const char **)ARENA_ARRAY(check_arena(), char *, ARGS_MAX);
    int count = 0;

    args[count++] = "--runner";
    args[count++] = runner;
    args[count++] = "--set";
    args[count++] = "state_update_retry_delay=10ms";
    args[count++] = "--set";
    args[count++] = "profile_sessions_max=1000";
    if (store) {
        args[count++] = "--store";
        args[count++] = store;
    }
    for (; settings && *settings; settings++) {
        CHECK(count + 3 < ARGS_MAX);
        args[count++] = "--set";
        args[count++] = *settings;
    }
    args[count] = NULL;
    return args;
}

void team_prepare(const struct black *server)
{
    const char *here = getcwd(arena_alloc(check_arena(), 4096), 4096);

    CHECK(here);
    check_write("agent", str_from(agent_text));
    mkdir("prompts", 0700);
    black_expect(server, 200, "PATCH /profiles/scripted",
                 arena_printf(check_arena(), profile_text, here, here, here).at);
}

static void start(struct team *t, const char *runner, const char *const *settings)
{
    setenv("BATON_AGENT_STOP_TIME", "200ms", 1);
    t->server.args = team_args(runner, NULL, settings);
    t->events = json_array();
    black_start(&t->server);
    team_prepare(&t->server);
}

void team_start(struct team *t, const char *const *settings)
{
    start(t, "on", settings);
}

void team_start_without_runner(struct team *t, const char *const *settings)
{
    start(t, "off", settings);
}

void team_restart(struct team *t)
{
    black_kill(&t->server);
    black_start(&t->server);
}

void team_stop(struct team *t)
{
    struct json sessions = team_sessions(&t->server);
    struct json settled = team_events(&t->server, "session_settled");
    struct json told = team_events(&t->server, "callback_delivered");

    team_check_told(&sessions, &settled, &told, t->unheard);
    team_check_agents();
    black_stop(&t->server);
    black_run((const char *const[]){ "store", "check", "data/baton.db", "--deep", NULL });
}

/* ---- runners ---- */

static void runner_become(const char *path, const char *data)
{
    int log = open("runner.log", O_WRONLY | O_CREAT | O_APPEND, 0600);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0u, 0);
    execl(path, "baton", "runner", "--data", data, "--name", data, NULL);
    _exit(127);
}

pid_t team_runner_start(const struct black *server)
{
    char path[4096];
    str link = arena_printf(check_arena(), "/proc/%d/exe", (int)server->pid);
    ssize_t len = readlink(link.at, path, sizeof path - 1);

    CHECK(len > 0);
    path[len] = '\0';
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        runner_become(path, server->data);
    return pid;
}

void team_runner_kill(pid_t runner)
{
    int status;

    kill(runner, SIGKILL);
    CHECK(waitpid(runner, &status, 0) == runner);
    if (!WIFSIGNALED(status))
        check_fail(__FILE__, __LINE__, "a runner has ended by itself (%x); it logged:\n" STR_FMT,
                   status, STR_ARG(check_read("runner.log")));
}

pid_t team_runner_of(const struct black *server)
{
    int64_t pid;
    const char *path = arena_printf(check_arena(), "%s/runner.lock", server->data).at;

    team_wait_file(path);
    while (!str_to_int(str_trim(check_read(path)), &pid))
        poll(NULL, 0, TICK_MS);
    return (pid_t)pid;
}

/* ---- asking for something ---- */

static const struct json *post(struct team *t, const char *route, const struct json *body)
{
    return black_expect(&t->server, 201, route, json_printed(check_arena(), body).at);
}

const struct json *team_turn(struct team *t, const char *type, const char *name,
                             const char *scenario)
{
    struct arena *a = check_arena();
    struct json body =
        json_of(a, arena_printf(a, "{'type':'%s','session_name':'%s'}", type, name).at);
    struct json parsed = json_of(a, scenario);

    if (strcmp(type, "start_session") == 0)
        json_put(a, &body, STR("demands"), json_of(a, "{'profile':'scripted'}"));
    json_put(a, &body, STR("prompt"), json_string(json_printed(a, &parsed)));
    return post(t, "POST /runs", &body);
}

void team_lead(struct team *t, const char *name, const char *policy, const char *scenario)
{
    struct arena *a = check_arena();
    struct json schema =
        json_of(a, arena_printf(a,
                                "{'name':'of-%s','json_schema':{'type':'object','x-baton':"
                                "{'state_update':%s}}}",
                                name, policy)
                       .at);
    struct json session = json_of(a, arena_printf(a, "{'session_name':'%s'}", name).at);
    struct json state =
        json_of(a, arena_printf(a, "{'schema_name':'of-%s','root_session':'%s','initial_data':{}}",
                                name, name)
                       .at);

    post(t, "POST /workflow-schemas", &schema);
    post(t, "POST /sessions", &session);
    post(t, "POST /workflow-states", &state);
    team_turn(t, "start_session", name, scenario);
}

/* ---- the log ---- */

static const struct json *page(const struct black *server, int64_t after, const char *more)
{
    const char *route =
        arena_printf(check_arena(), "GET /events?after=%lld&limit=1000%s", (long long)after, more)
            .at;
    return black_expect(server, 200, route, "");
}

static void hear(struct team *t, int wait_s)
{
    const char *more = arena_printf(check_arena(), "&wait=%d", wait_s).at;
    const struct json *got = page(&t->server, t->seen, more), *events = json_get(got, "events");

    for (uint32_t i = 0; i < events->len; i++)
        json_push(check_arena(), &t->events, events->items[i]);
    t->seen = json_int_or(got, "next", t->seen);
}

struct json team_events(const struct black *server, const char *type)
{
    const char *more = arena_printf(check_arena(), "&type=%s", type).at;
    struct json all = json_array();
    int64_t after = 0;

    for (;;) {
        const struct json *got = page(server, after, more), *events = json_get(got, "events");
        for (uint32_t i = 0; i < events->len; i++)
            json_push(check_arena(), &all, events->items[i]);
        after = json_int_or(got, "next", after);
        if (after >= json_int_or(got, "seen", 0))
            return all;
    }
}

/* Whether it has all of the members "name=value …". */
static bool data_has(const struct json *data, const char *with)
{
    str rest = str_from(with), word, name, value;

    while (rest.len) {
        str_cut(rest, ' ', &word, &rest);
        CHECK(str_cut(word, '=', &name, &value));
        const struct json *found = json_find(data, name);
        if (!found ||
            !str_eq(value, json_is(found, JSON_STRING) ? json_text(found)
                                                       : json_printed(check_arena(), found)))
            return false;
    }
    return true;
}

static int matching(const struct team *t, const char *type, const char *with, int n,
                    const struct json **out)
{
    int count = 0;

    for (uint32_t i = 0; i < t->events.len; i++) {
        const struct json *e = &t->events.items[i];
        if (!str_eq(json_str(e, "type"), str_from(type)) || !data_has(json_get(e, "data"), with))
            continue;
        if (++count == n)
            *out = e;
    }
    return count;
}

static str log_shown(const struct team *t)
{
    struct buf out = buf_in(check_arena());

    for (uint32_t i = 0; i < t->events.len; i++) {
        const struct json *e = &t->events.items[i];
        buf_printf(&out, "%lld " STR_FMT " " STR_FMT "\n", (long long)json_int_or(e, "seq", 0),
                   STR_ARG(json_str(e, "type")),
                   STR_ARG(json_printed(check_arena(), json_get(e, "data"))));
    }
    return buf_str(&out);
}

const struct json *team_wait(struct team *t, int n, const char *type, const char *with)
{
    int64_t until = socket_clock_ms() + PATIENCE_MS;
    const struct json *found = NULL;

    while (matching(t, type, with, n, &found) < n) {
        if (socket_clock_ms() > until)
            check_fail(__FILE__, __LINE__, "expected %d × %s %s; found:\n" STR_FMT, n, type, with,
                       STR_ARG(log_shown(t)));
        hear(t, LOOK_S);
    }
    return found;
}

int team_count(struct team *t, const char *type, const char *with)
{
    const struct json *ignored;

    hear(t, 0);
    return matching(t, type, with, -1, &ignored);
}

/* ---- sessions and runs ---- */

const struct json *team_settled(struct team *t, const char *name, const char *status,
                                const char *update)
{
    const char *route = arena_printf(check_arena(), "GET /sessions/%s", name).at;
    int64_t until = socket_clock_ms() + PATIENCE_MS;
    const struct json *s;

    while (!json_bool_or(s = black_expect(&t->server, 200, route, ""), "settled", false)) {
        if (socket_clock_ms() > until)
            check_fail(__FILE__, __LINE__, "%s has not settled; found:\n" STR_FMT, name,
                       STR_ARG(log_shown(t)));
        hear(t, LOOK_S);
    }
    CHECK_STR(json_str(s, "status"), status);
    CHECK_STR(json_str(s, "state_update_status"), update);
    return s;
}

const struct json *team_run_of(struct team *t, const char *name, int n)
{
    const char *list = arena_printf(check_arena(), "GET /runs?session=%s", name).at;
    const struct json *runs = json_get(black_expect(&t->server, 200, list, ""), "runs");

    CHECK(n > 0 && (uint32_t)n <= runs->len);
    str id = json_str(&runs->items[n - 1], "run_id");
    return black_expect(&t->server, 200,
                        arena_printf(check_arena(), "GET /runs/" STR_FMT, STR_ARG(id)).at, "");
}

str team_state(struct team *t, const char *name)
{
    const char *route = arena_printf(check_arena(), "GET /sessions/%s/workflow-state", name).at;
    const struct json *state = black_expect(&t->server, 200, route, "");

    return json_shown(check_arena(), json_get(state, "current_data"));
}

struct json team_sessions(const struct black *server)
{
    struct json all = json_array();
    str after = STR("");

    do {
        const char *route = arena_printf(check_arena(), "GET /sessions?limit=200%s" STR_FMT,
                                         after.len ? "&after=" : "", STR_ARG(after))
                                .at;
        const struct json *got = black_expect(server, 200, route, "");
        const struct json *sessions = json_get(got, "sessions");
        for (uint32_t i = 0; i < sessions->len; i++)
            json_push(check_arena(), &all, sessions->items[i]);
        after = json_str(got, "next");
    } while (after.len);
    return all;
}
