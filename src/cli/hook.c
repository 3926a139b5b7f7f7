/* hook.c: `baton hook CLIENT`: from a client's hook to the server and back. */
#include "cli/hook.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/ancestor.h"
#include "cli/hook_input.h"
#include "cli/hook_wait.h"
#include "cli/place.h"
#include "client/caller.h"
#include "client/socket.h"
#include "os/exec.h"

enum {
    TIME_MS = 2000, /* for all of it; BATON_HOOK_TIMEOUT_MS says otherwise */
    TIME_MAX_MS = 60000,
    TIME_LEFT_MS = 20, /* of it, to end in peace */
};

const char hook_details[] =
    "CLIENT is claude, codex, gemini or opencode: whose hook calls it. The client's JSON\n"
    "is read from standard input, and the JSON that it expects is printed. Write it into\n"
    "the client's settings, for all of its events.\n"
    "\n"
    "It never holds an agent up: without a server, or when that takes longer than\n"
    "BATON_HOOK_TIMEOUT_MS (2000), it prints nothing, says why on standard error, and\n"
    "ends with 0. It never ends with 2, which would stop the agent.\n"
    "\n"
    "With --wait it stays beside an idle agent that a person has started, until there is\n"
    "something to tell it: then Claude Code, which runs it as a hook with asyncRewake,\n"
    "reads the text from standard error and goes on by itself, by the exit code 2. It ends\n"
    "with its client, and when another one waits for the same conversation.\n"
    "\n"
    "Exit codes: 0 whatever happened; 1 wrong usage; 2 with --wait alone: wake the agent.";

// clang-format off
const struct option hook_options[] = {
    { "--wait", 0, NULL, "wait until there is something to wake the agent for" },
    { 0 },
};
// clang-format on

/* What cli.exit has when the agent is to be woken: no error is told by it, as wrong usage is by 2. */
enum { EXIT_WAKES = 100 };

/* ---- time ---- */

static int64_t time_given(void)
{
    const char *text = getenv("BATON_HOOK_TIMEOUT_MS");
    int64_t ms;

    return text && str_to_int(str_from(text), &ms) && ms > 0 && ms <= TIME_MAX_MS ? ms : TIME_MS;
}

static void time_over(int signal)
{
    static const char why[] = "baton hook: it took too long, and was given up\n";

    (void)signal;
    ssize_t ignored = write(STDERR_FILENO, why, sizeof why - 1);
    (void)ignored;
    _exit(0);
}

/* Whatever holds it up: a standard input that does not end, a name that is not resolved, a server
 * that hangs. 0: no longer. */
static void time_limit(int64_t ms)
{
    struct itimerval t = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

    signal(SIGALRM, time_over);
    setitimer(ITIMER_REAL, &t, NULL);
}

/* ---- the server ---- */

/* Another program may have taken the server's place: what is printed is an object, or nothing. */
static err answer_check(struct arena *a, const struct response *r)
{
    const struct json *answer;

    if (r->status >= 300)
        return response_error(a, r);
    TRY(json_parse(a, r->body, &json_limits_own, &answer));
    return json_is(answer, JSON_OBJECT)
               ? NULL
               : err_new(a, ERR_INTERNAL, "expected the server's answer to be an object");
}

enum {
    QUEUE_MEMBERS = 3,
    PARAMS_MAX = 4 + PLACE_MEMBERS + QUEUE_MEMBERS,
    PATH_BYTES_MAX = 4096,
};

/* Where a runner of this machine finds Codex and the queue of the conversation. One that runs a single
 * prompt is never idle. */
static size_t queue_members(struct arena *a, struct url_param out[QUEUE_MEMBERS])
{
    const char *given = getenv("CODEX_HOME"), *home = getenv("HOME"), *path = getenv("PATH");
    str codex = given && *given ? str_from(given) : arena_printf(a, "%s/.codex", home ? home : "");
    size_t count = 0;

    if (!str_starts(codex, STR("/")) || codex.len > PLACE_DIR_BYTES_MAX || !utf8_valid(codex) ||
        ancestor_was_told(PROCESSES, getpid(), STR("exec")))
        return 0;
    out[count++] = (struct url_param){ "user", exec_user_name(a, STR("")) };
    out[count++] = (struct url_param){ "client_home", codex };
    if (path && *path && strlen(path) <= PATH_BYTES_MAX && utf8_valid(str_from(path)))
        out[count++] = (struct url_param){ "client_path", str_from(path) };
    return count;
}

/* Where the client says that its conversation is: it may be a daemon, whose own place says nothing. That
 * of Claude Code goes with each `cd`, and is not asked for. */
static str folder_told(struct arena *a, str client, str event)
{
    const struct json *told;

    if (str_eq(client, STR("claude")) || json_parse(a, event, &json_limits_own, &told))
        return STR("");
    return json_str(told, "cwd");
}

/* What the server is told beside the event: whose it is, where it is, and for a client that tells its
 * tools nothing of the conversation, which process it is. */
static size_t params_make(struct cli *c, str event, struct url_param params[PARAMS_MAX])
{
    str client = str_from(c->args[0]);
    str folder = place_folder(c->arena, client, folder_told(c->arena, client, event));
    const char *parent = place_variable("BATON_SESSION_ID");
    const char *state = place_variable("WORKFLOW_STATE_ID");
    str process = STR("");
    size_t count = 0;

    if (!str_eq(client, STR("codex"))) /* whose tools are told of the conversation with each call */
        process = ancestor_client(c->arena, PROCESSES, getpid());
    params[count++] = (struct url_param){ "client", client };
    if (parent)
        params[count++] = (struct url_param){ "parent", str_from(parent) };
    if (process.len)
        params[count++] = (struct url_param){ "process", process };
    if (state)
        params[count++] = (struct url_param){ "state", str_from(state) };
    count += place_members(c->arena, folder, params + count);
    if (strcmp(c->args[0], "codex") == 0)
        count += queue_members(c->arena, params + count);
    return count;
}

/* A server of before this program does not know all that it is told now. */
static bool server_is_older(struct arena *a, const struct response *r)
{
    return r->status == 400 && str_contains(response_detail(a, r), STR(" has no parameter "));
}

static const char older[] =
    "the baton server that runs is older than this baton, so that its hooks do nothing: restart "
    "the server: `baton stop` ends it, and the next agent that has baton's tools starts it";

static err event_send(struct cli *c, int64_t until_ms, str event, str *answer)
{
    struct url_param params[PARAMS_MAX];
    size_t count = params_make(c, event, params);
    struct call call = { .method = "POST",
                         .pattern = "/hooks/{client}",
                         .params = params,
                         .param_count = count,
                         .body = event,
                         .timeout_ms = until_ms - socket_clock_ms() };
    struct response response;
    struct caller caller;

    if (call.timeout_ms < 1)
        call.timeout_ms = 1;
    caller_init(&caller, NULL);
    err e = caller_request(&caller, c->arena, &call, &response);
    caller_release(&caller);
    TRY(e);
    if (server_is_older(c->arena, &response))
        return err_new(c->arena, ERR_UNSUPPORTED, "%s", older);
    TRY(answer_check(c->arena, &response));
    *answer = response.body;
    return NULL;
}

/* Clients show standard error to nobody. A conversation begins once: what it is told then is told to
 * the person once. */
static str told_at_start(struct cli *c, str event, err e)
{
    const struct json *payload;
    struct json out = json_object();

    if (e->kind != ERR_UNSUPPORTED || json_parse(c->arena, event, &json_limits_own, &payload) ||
        !str_eq(json_str(payload, "hook_event_name"), STR("SessionStart")))
        return STR("");
    json_put(c->arena, &out, STR("systemMessage"), json_string(e->message));
    return json_printed(c->arena, &out);
}

/* ---- the command ---- */

static bool is_client(const char *word)
{
    static const char *const clients[] = { "claude", "codex", "gemini", "opencode" };

    for (size_t i = 0; i < sizeof clients / sizeof *clients; i++)
        if (strcmp(word, clients[i]) == 0)
            return true;
    return false;
}

/* Whatever goes wrong is told, and is no reason to disturb anybody. */
static err wait_run(struct cli *c)
{
    bool woken;

    if (strcmp(c->args[0], "claude") != 0 && strcmp(c->args[0], "opencode") != 0)
        return usage_error(
            c, arena_printf(c->arena, "--wait is for claude and opencode: %s is not woken by it.",
                            c->args[0]));
    err e = hook_wait(c, c->args[0], &woken);
    if (e)
        cli_warn(c, e);
    c->exit = woken ? EXIT_WAKES : 0;
    return NULL;
}

err hook_run(struct cli *c)
{
    int64_t given = time_given(), until_ms = socket_clock_ms() + given - TIME_LEFT_MS;
    str event = STR(""), answer = STR("");

    if (!is_client(c->args[0]))
        return usage_error(
            c, arena_printf(c->arena, "expected claude, codex, gemini or opencode, found '%s'.",
                            c->args[0]));
    if (cli_flag(c, "--wait"))
        return wait_run(c);
    time_limit(given);
    err e = hook_input(c->arena, &event);
    if (!e)
        e = event_send(c, until_ms, event, &answer);
    time_limit(0);
    if (e) {
        cli_warn(c, e);
        answer = told_at_start(c, event, e);
    }
    cli_write(c, answer);
    return NULL;
}

bool hook_is_called(int argc, char **argv)
{
    str name = str_from(argc > 0 ? argv[0] : NULL);

    return (argc > 1 && strcmp(argv[1], "hook") == 0) || str_eq(name, STR("baton-hook")) ||
           str_ends(name, STR("/baton-hook"));
}

int hook_exit(int code)
{
    return code == EXIT_WAKES ? 2 : code ? 1 : 0;
}
