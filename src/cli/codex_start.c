/* codex_start.c: one request to Codex's daemon, again and again: its own JSON-RPC over a WebSocket, at a
 * Unix socket in its home. */
#include "cli/codex_start.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "client/ws_client.h"
#include "json/write.h"
#include "os/program.h"

enum {
    ANSWER_MS = 5000,    /* that the daemon may take for each */
    AGAIN_MS = 1000,     /* between two questions at first, */
    AGAIN_MAX_MS = 4000, /* and in the end */
    SKIPPED_MAX = 100,   /* messages that are for everybody, before the answer */
    HELLO = 1,
    START = 2, /* the ids of our requests */
};

static const char hello[] = "{\"id\":1,\"method\":\"initialize\",\"params\":{"
                            "\"clientInfo\":{\"name\":\"baton\",\"version\":\"1\"},"
                            "\"capabilities\":{\"experimentalApi\":true}}}";
static const char introduced[] = "{\"method\":\"initialized\"}";

/* ---- the daemon ---- */

static str socket_path(struct arena *a)
{
    const char *codex = getenv("CODEX_HOME"), *home = getenv("HOME");
    const char *name = "app-server-control/app-server-control.sock";

    if (codex && *codex)
        return arena_printf(a, "%s/%s", codex, name);
    return arena_printf(a, "%s/.codex/%s", home ? home : "", name);
}

static str request_to_start(struct arena *a, str thread, str message)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    write_int(&w, STR("id"), START);
    write_text(&w, STR("method"), STR("thread/queue/start"));
    write_begin(&w, STR("params"), '{');
    write_text(&w, STR("threadId"), thread);
    write_text(&w, STR("queuedSubmissionId"), message);
    json_write_end(&w, '}');
    json_write_end(&w, '}');
    return buf_str(&out);
}

/* Asks, and waits for the answer to that among what the daemon tells everybody. */
static err ask(struct ws_client *ws, struct arena *a, str request, int id, const struct json **out)
{
    str text;

    TRY(ws_client_send(ws, a, request, ANSWER_MS));
    for (int i = 0; i < SKIPPED_MAX; i++) {
        TRY(ws_client_next(ws, a, ANSWER_MS, &text));
        TRY(json_parse(a, text, &json_limits_own, out));
        if (json_int_or(*out, "id", 0) == id && !json_get(*out, "method"))
            return NULL;
    }
    return err_new(a, ERR_UNAVAILABLE, "Codex's daemon does not answer");
}

/* Whether it is to be asked again: the conversation is at work. */
static err start(struct arena *a, str thread, str message, bool *again)
{
    struct endpoint daemon = { .url = { .scheme = URL_UNIX, .socket = socket_path(a) } };
    const struct json *answer;
    struct ws_client *ws;

    *again = false;
    TRY(ws_client_open(a, &daemon, "/", ANSWER_MS, &ws));
    err e = ask(ws, a, str_from(hello), HELLO, &answer);
    if (!e)
        e = ws_client_send(ws, a, str_from(introduced), ANSWER_MS);
    if (!e)
        e = ask(ws, a, request_to_start(a, thread, message), START, &answer);
    if (!e)
        *again = str_contains(json_str(json_get(answer, "error"), "message"),
                              STR("active or pending turn"));
    ws_client_free(ws);
    return e;
}

/* ---- the command ---- */

err codex_start_run(struct cli *c)
{
    str thread = str_from(c->args[0]), message = str_from(c->args[1]);
    int64_t wait_ms = AGAIN_MS;
    pid_t bridge = getppid();
    bool again = true;

    program_die_with_parent(SIGTERM);
    while (again && getppid() == bridge) {
        struct arena *a = arena_new();
        err e = start(a, thread, message, &again);
        arena_free(a); /* a daemon that is not there, or does not know this, cannot be helped */
        if (e || !again)
            break;
        struct timespec t = { wait_ms / 1000, wait_ms % 1000 * 1000000 };
        nanosleep(&t, NULL);
        wait_ms = wait_ms * 2 < AGAIN_MAX_MS ? wait_ms * 2 : AGAIN_MAX_MS;
    }
    return NULL;
}
