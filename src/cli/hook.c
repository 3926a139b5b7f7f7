/* hook.c: `baton hook CLIENT`: from a client's hook to the server and back. */
#include "cli/hook.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/ancestor.h"
#include "cli/place.h"
#include "client/caller.h"
#include "client/socket.h"

enum {
    TIME_MS = 2000, /* for all of it; BATON_HOOK_TIMEOUT_MS says otherwise */
    TIME_MAX_MS = 60000,
    TIME_LEFT_MS = 20, /* of it, to end in peace */
    PIECE = 64 << 10,
    INPUT_MAX = 16 << 20,
};

const char hook_details[] =
    "CLIENT is claude, codex or gemini: whose hook calls it. The client's JSON is read\n"
    "from standard input, and the JSON that it expects is printed. Write it into the\n"
    "client's settings, for all of its events.\n"
    "\n"
    "It never holds an agent up: without a server, or when that takes longer than\n"
    "BATON_HOOK_TIMEOUT_MS (2000), it prints nothing, says why on standard error, and\n"
    "ends with 0. It never ends with 2, which would stop the agent.\n"
    "\n"
    "Exit codes: 0 whatever happened; 1 wrong usage.";

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

/* ---- what the client says ---- */

static err input_read(struct arena *a, str *out)
{
    struct buf text = buf_in(a);
    ssize_t n = 1;

    while (n != 0 && text.len <= INPUT_MAX) {
        n = read(STDIN_FILENO, buf_reserve(&text, PIECE), PIECE);
        if (n < 0 && errno != EINTR)
            return err_new(a, ERR_INVALID, "cannot read standard input: %s", strerror(errno));
        text.len += n > 0 ? (size_t)n : 0;
    }
    hook_mend(text.at, text.len);
    *out = buf_str(&text);
    if (str_trim(*out).len == 0)
        return err_new(a, ERR_INVALID,
                       "expected the client's JSON on standard input, found nothing");
    return NULL;
}

static int hex_of(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

/* The code of \uXXXX at a place; −1: there is none. */
static int escape_at(const char *text, size_t len, size_t at)
{
    int code = 0;

    if (len < 6 || at > len - 6 || text[at] != '\\' || text[at + 1] != 'u')
        return -1;
    for (size_t i = at + 2; i < at + 6; i++) {
        int digit = hex_of(text[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* A backslash outside of a string is no JSON anyway, so strings need not be told from the rest. */
void hook_mend(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '\\')
            continue;
        int code = escape_at(text, len, i), next = escape_at(text, len, i + 6);
        bool high = code >= 0xd800 && code < 0xdc00, low = code >= 0xdc00 && code < 0xe000;
        bool pair = high && next >= 0xdc00 && next < 0xe000;
        if (code == 0 || low || (high && !pair))
            memcpy(text + i + 2, "fffd", 4);
        i += pair ? 11 : code >= 0 ? 5 : 1;
    }
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

enum { PARAMS_MAX = 4 + PLACE_MEMBERS };

/* What the server is told beside the event: whose it is, where it is, and for a client that tells its
 * tools nothing of the conversation, which process it is. */
static size_t params_make(struct cli *c, struct url_param params[PARAMS_MAX])
{
    const char *parent = place_variable("BATON_SESSION_ID");
    const char *state = place_variable("WORKFLOW_STATE_ID");
    str process = STR("");
    size_t count = 0;

    if (strcmp(c->args[0], "gemini") == 0)
        process = ancestor_client(c->arena, PROCESSES, getpid());
    params[count++] = (struct url_param){ "client", str_from(c->args[0]) };
    if (parent)
        params[count++] = (struct url_param){ "parent", str_from(parent) };
    if (process.len)
        params[count++] = (struct url_param){ "process", process };
    if (state)
        params[count++] = (struct url_param){ "state", str_from(state) };
    return count + place_members(c->arena, params + count);
}

static err event_send(struct cli *c, int64_t until_ms, str event, str *answer)
{
    struct url_param params[PARAMS_MAX];
    size_t count = params_make(c, params);
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
    TRY(answer_check(c->arena, &response));
    *answer = response.body;
    return NULL;
}

/* ---- the command ---- */

static bool is_client(const char *word)
{
    static const char *const clients[] = { "claude", "codex", "gemini" };

    for (size_t i = 0; i < sizeof clients / sizeof *clients; i++)
        if (strcmp(word, clients[i]) == 0)
            return true;
    return false;
}

err hook_run(struct cli *c)
{
    int64_t given = time_given(), until_ms = socket_clock_ms() + given - TIME_LEFT_MS;
    str event, answer = STR("");

    if (!is_client(c->args[0]))
        return usage_error(
            c, arena_printf(c->arena, "expected claude, codex or gemini, found '%s'.", c->args[0]));
    time_limit(given);
    err e = input_read(c->arena, &event);
    if (!e)
        e = event_send(c, until_ms, event, &answer);
    time_limit(0);
    if (e)
        cli_warn(c, e);
    else
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
    return code ? 1 : 0;
}
