/* hook_wait.c: `baton hook CLIENT --wait`: waits beside an idle agent until there is something to tell
 * it. */
#include "cli/hook_wait.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/hook_input.h"
#include "client/caller.h"
#include "client/socket.h"
#include "json/write.h"
#include "os/program.h"
#include "os/random.h"

enum {
    ASK_SECONDS = 50,   /* that the server may take to answer */
    SLACK_MS = 10000,   /* longer than that, and it is taken for dead */
    AWAY_MAX_MS = 1000, /* between two looks for a server that is away */
    /* The hook that registers the conversation runs beside this one: so long it may be unknown. */
    UNKNOWN_MS = 5000,
    FAILED_MS = 30000, /* before what could not be handed over is asked for again */
    WAKER_BYTES = 12,
    REASON_MAX_BYTES = 500,
};

struct waker {
    struct cli *cli;
    struct caller caller;
    struct arena *arena; /* of one round: nothing is kept */
    bool rewakes;        /* its way, as hook_wait.h says */
    str id, body;
    int64_t begun_ms;
    int failures; /* in a row */
};

/* ---- its client ---- */

static pid_t client_pid;

/* The system may mean the end of a thread of the client's. */
static void on_client_end(int number)
{
    (void)number;
    if (getppid() != client_pid)
        _exit(0);
}

static void client_watch(void)
{
    client_pid = getppid();
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGUSR1, on_client_end);
    program_die_with_parent(SIGUSR1);
}

/* Claude Code without a person runs such a hook as any other, and would wait for its end. */
static bool client_is_attended(bool claude)
{
    const char *attended = getenv("CLAUDE_CODE_SESSION_ATTENDED");

    return !claude || (attended && strcmp(attended, "1") == 0);
}

/* Which conversation is waited for; the arena is not needed for longer. */
static err conversation_read(struct arena *a, bool rewakes, str *out)
{
    const struct json *event;
    str text;

    if (rewakes)
        TRY(hook_input(a, &text));
    else if (!hook_input_line(a, &text))
        return err_new(a, ERR_INVALID, "expected a line of JSON on standard input, found nothing");
    err e = json_parse(a, text, &json_limits_own, &event);
    if (e)
        return err_within(a, e, "standard input is not JSON");
    *out = json_str(event, "session_id");
    return out->len ? NULL : err_new(a, ERR_INVALID, "expected a session_id on standard input");
}

/* ---- the server ---- */

static str take_body(struct arena *a, const struct waker *w, const char *client, str conversation)
{
    struct buf out = buf_in(a);
    struct json_writer j = json_writer_to(&out);

    json_write_begin(&j, '{');
    write_text(&j, STR("client"), str_from(client));
    write_text(&j, STR("conversation"), conversation);
    write_text(&j, STR("waker"), w->id);
    write_text(&j, STR("way"), w->rewakes ? STR("rewake") : STR("plugin"));
    write_int(&j, STR("timeout"), ASK_SECONDS);
    json_write_end(&j, '}');
    return buf_str(&out);
}

static void pause_ms(int64_t ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&t, NULL);
}

static void rest(struct waker *w)
{
    pause_ms(retry_delay_ms(w->failures++, AWAY_MAX_MS));
}

/* Calls until there is an answer: a server that is away, busy, or has other tokens than it had is
 * waited for as long as the client lives. Errors are refusals. */
static err call_patiently(struct waker *w, const struct call *call, const struct json **out)
{
    for (;;) {
        arena_reset(w->arena);
        err e = caller_call(&w->caller, w->arena, call, out);
        bool passing = e &&
                       (e->kind == ERR_UNAVAILABLE || e->kind == ERR_LIMIT || e->kind == ERR_FULL ||
                        e->kind == ERR_INTERNAL || e->kind == ERR_UNAUTHENTICATED);
        if (!passing)
            return e;
        rest(w);
        if (getppid() != client_pid)
            exit(0);
    }
}

/* The next news; NULL: there will be none. */
static err news_wait(struct waker *w, const struct json **news)
{
    const struct call call = { .method = "POST",
                               .pattern = "/wakes",
                               .body = w->body,
                               .reads = true, /* the same waker is given the same again */
                               .timeout_ms = ASK_SECONDS * 1000 + SLACK_MS };

    *news = NULL;
    while (getppid() == client_pid) {
        const struct json *answer;
        program_rest();
        TRY(call_patiently(w, &call, &answer));
        str status = json_str(answer, "status");
        bool unknown = str_eq(status, STR("off")) && socket_clock_ms() < w->begun_ms + UNKNOWN_MS;
        if (str_eq(status, STR("news"))) {
            *news = answer;
            return NULL;
        }
        if (unknown)
            rest(w);
        else if (str_eq(status, STR("none")))
            w->failures = 0;
        else
            return NULL;
    }
    return NULL;
}

/* ---- what there is to tell ---- */

static bool text_print(str text)
{
    while (text.len) {
        ssize_t n = write(STDERR_FILENO, text.at, text.len);
        if (n < 0 && errno != EINTR)
            return false;
        text = str_slice(text, n > 0 ? (size_t)n : 0, text.len);
    }
    return true;
}

/* To a plugin, which says what came of it: the server is told. False: nobody listens any more. */
static err hand_over(struct waker *w, const struct json *news, bool *listens)
{
    struct arena *a = arena_new(); /* for longer than a round */
    struct buf out = buf_in(a);
    struct json_writer j = json_writer_to(&out);
    str said = STR("");
    err e = NULL;

    json_write_begin(&j, '{');
    write_text(&j, STR("text"), json_str(news, "text"));
    json_write_end(&j, '}');
    buf_byte(&out, '\n');
    cli_write(w->cli, buf_str(&out));
    *listens = cli_flush(w->cli) && hook_input_line(a, &said);
    if (*listens) {
        bool handed = str_eq(said, STR("handed"));
        str why = str_slice(said, 0, said.len < REASON_MAX_BYTES ? said.len : REASON_MAX_BYTES);
        struct buf body = buf_in(a);
        struct json_writer b = json_writer_to(&body);
        json_write_begin(&b, '{');
        if (handed)
            write_bool(&b, STR("handed"), true);
        else
            write_text(&b, STR("failed"), term_utf8(a, why));
        json_write_end(&b, '}');
        struct call call = { .method = "POST",
                             .pattern = "/wakes/{waker}",
                             PARAMS({ "waker", w->id }),
                             .body = buf_str(&body),
                             .reads = true };
        const struct json *answer;
        e = call_patiently(w, &call, &answer);
        if (!e && !handed)
            pause_ms(FAILED_MS);
    }
    arena_free(a);
    return e ? err_copy(w->cli->arena, e) : NULL;
}

static err wait_on(struct waker *w, bool *woken)
{
    const struct json *news;
    bool listens = true;

    while (listens) {
        TRY(news_wait(w, &news));
        if (!news)
            return NULL;
        if (w->rewakes) {
            *woken = text_print(json_str(news, "text"));
            return NULL;
        }
        TRY(hand_over(w, news, &listens));
    }
    return NULL;
}

err hook_wait(struct cli *c, const char *client, bool *woken)
{
    struct waker w = { .cli = c,
                       .rewakes = strcmp(client, "claude") == 0,
                       .id = random_hex(c->arena, WAKER_BYTES),
                       .begun_ms = socket_clock_ms() };
    str conversation;

    *woken = false;
    if (!client_is_attended(w.rewakes))
        return NULL;
    client_watch();
    w.arena = arena_new();
    err e = conversation_read(w.arena, w.rewakes, &conversation);
    if (!e) {
        w.body = take_body(c->arena, &w, client, conversation);
        arena_free(w.arena); /* which may have become large */
        w.arena = arena_new();
        caller_init(&w.caller, NULL);
        e = wait_on(&w, woken);
        caller_release(&w.caller);
    }
    e = e ? err_copy(c->arena, e) : NULL;
    arena_free(w.arena);
    return e;
}
