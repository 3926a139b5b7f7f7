/* wake.c: an idle Codex that a person started is told that a child of it has ended.
 *
 * Codex takes messages for a conversation from a command of its own, `codex queue`, and starts a turn by
 * itself. Once the bridge knows the conversation, it asks the server for news of it, again and again, and
 * hands what comes to that command. What was handed over waits in Codex's queue, and is not offered
 * otherwise: so the server hears how it went before it is asked for more.
 *
 * Nobody else is woken here: other clients have ways of their own. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/ancestor.h"
#include "cli/bridge/private.h"
#include "json/write.h"
#include "os/exec.h"
#include "os/fd.h"
#include "os/processes.h"
#include "os/program.h"
#include "os/random.h"

enum {
    ASK_SECONDS = 50, /* that the server may take to answer: less than the bridge waits for one */
    QUEUE_MS = 30 * 1000,
    FAILED_MS = 30 * 1000, /* before what could not be handed over is asked for again */
    OFF_MS = 60 * 1000,    /* before a server that had nobody to wake is asked again */
    WAKER_BYTES = 12,
    LOOK_MS = 20, /* between two looks at it */
    REASON_MAX = 500,
};

extern char **environ;

static void take_begin(struct bridge *b, int64_t delay_ms);

/* The server is away, or busy, or has other tokens than it had: true, it is asked again. */
static bool comes_again(struct bridge *b, struct exchange *c, const struct response *r)
{
    if (r->status < 500 && r->status != 429 && r->status != 401)
        return false;
    if (r->status == 401)
        upstream_forget(b);
    exchange_retry(b, c, b->options.pause_ms);
    return true;
}

static void retry(struct bridge *b, struct exchange *c, err e)
{
    (void)e;
    exchange_retry(b, c, b->options.pause_ms);
}

/* ---- telling the server how it went ---- */

static void report_head(struct bridge *b, struct exchange *c, struct buf *out)
{
    head_begin(b, out, "POST", "/wakes/{waker}", b->wake.waker, true);
    head_body(out, c->body);
}

static void report_done(struct bridge *b, struct exchange *c, const struct response *r)
{
    if (comes_again(b, c, r))
        return;
    exchange_end(b, c);
    b->wake.exchange = NULL;
    take_begin(b, b->wake.failed ? FAILED_MS : 0);
}

static const struct exchange_kind report = {
    .head = report_head, .ready = exchange_always, .done = report_done, .failed = retry
};

/* `why` is empty when it was handed over. */
static void report_begin(struct bridge *b, str why)
{
    struct exchange *c = exchange_new(b, &report);
    struct buf out = buf_in(c->arena);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    if (why.len)
        write_text(&w, STR("failed"), why);
    else
        write_bool(&w, STR("handed"), true);
    json_write_end(&w, '}');
    c->body = buf_str(&out);
    c->lasting = c->polls = true; /* it has time, and has no server started */
    b->wake.failed = why.len > 0;
    b->wake.exchange = c;
    exchange_queue(b, c);
}

/* ---- handing it over ---- */

/* Its arguments are its own: no shell looks at them. */
static err queue_start(struct bridge *b, str text)
{
    struct wake *k = &b->wake;
    struct arena *a = b->scratch;
    char *argv[] = {
        "codex",
        "queue",
        (char *)arena_printf(a, "--thread=" STR_FMT, STR_ARG(k->conversation)).at,
        (char *)arena_printf(a, "--message=" STR_FMT, STR_ARG(text)).at,
        NULL,
    };
    k->said = memory_open();
    struct exec_plan plan = {
        .argv = argv, .env = environ, .folder = ".", .in = -1, .out = k->said, .error = k->said
    };
    err e = exec_start(a, &plan, &k->pid);
    if (e) {
        k->pid = 0;
        close(k->said);
    }
    k->until_ms = b->now_ms + QUEUE_MS;
    return e;
}

/* What a Codex that was stopped by Esc does not begin with by itself: see cli/codex_start.h. It names
 * the message by an id: who prints none is another Codex, and left alone. */
static void starter_start(struct bridge *b)
{
    struct wake *k = &b->wake;
    static const char before[] = "Queued message ";
    char *room = arena_alloc(b->scratch, REASON_MAX);
    ssize_t n = pread(k->said, room, REASON_MAX, 0);
    str said = { room, n > 0 ? (size_t)n : 0 }, id = STR(""), rest;

    for (size_t i = 0; i < said.len && !id.len; i++)
        if (str_starts(str_slice(said, i, said.len), str_from(before)))
            str_cut(str_slice(said, i + sizeof before - 1, said.len), ' ', &id, &rest);
    if (!id.len)
        return;
    char *argv[] = { (char *)program_self(), "codex-start", (char *)k->conversation.at,
                     (char *)arena_copy(b->scratch, id).at, NULL };
    struct exec_plan plan = {
        .argv = argv, .env = environ, .folder = "/", .in = -1, .out = -1, .error = -1
    };
    if (exec_start(b->scratch, &plan, &k->starter))
        k->starter = 0; /* then it comes behind the person's next turn */
}

/* Takes it away when it has ended, or at once. */
static void starter_end(struct wake *k, bool now)
{
    if (k->starter && now)
        kill(-k->starter, SIGKILL);
    if (k->starter && waitpid(k->starter, NULL, now ? 0 : WNOHANG) != 0)
        k->starter = 0;
}

static str queue_reason(struct bridge *b, bool late)
{
    char *room = arena_alloc(b->scratch, REASON_MAX);
    ssize_t n = pread(b->wake.said, room, REASON_MAX, 0);
    str said = str_trim(term_utf8(b->scratch, (str){ room, n > 0 ? (size_t)n : 0 }));

    return late       ? STR("codex queue took too long")
           : said.len ? said
                      : STR("codex queue failed, and said nothing");
}

/* By its end, and not by that of its output: what it starts may have that for longer. */
void wake_look(struct bridge *b)
{
    struct wake *k = &b->wake;
    int status = -1;
    bool late = b->now_ms >= k->until_ms;

    starter_end(k, false);
    if (!k->pid)
        return;
    if (late)
        kill(-k->pid, SIGKILL);
    if (waitpid(k->pid, &status, late ? 0 : WNOHANG) == 0)
        return;
    bool handed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    str why = handed ? STR("") : queue_reason(b, late);
    starter_end(k, handed);
    if (handed)
        starter_start(b);
    else
        lines_note("the agent could not be woken: " STR_FMT, STR_ARG(why));
    close(k->said);
    k->pid = 0;
    report_begin(b, why);
}

int64_t wake_next_ms(struct bridge *b)
{
    return b->wake.pid ? b->now_ms + LOOK_MS : INT64_MAX;
}

/* ---- asking for news ---- */

static void take_head(struct bridge *b, struct exchange *c, struct buf *out)
{
    head_begin(b, out, "POST", "/wakes", STR(""), true);
    head_body(out, c->body);
}

static void take_done(struct bridge *b, struct exchange *c, const struct response *r)
{
    struct wake *k = &b->wake;
    const struct json *answer = NULL;
    err e = NULL;

    if (comes_again(b, c, r))
        return;
    if (json_parse(b->scratch, r->body, &json_limits_own, &answer))
        answer = NULL;
    str status = json_str(answer, "status");
    if (str_eq(status, STR("none"))) {
        exchange_retry(b, c, 0);
        return;
    }
    exchange_end(b, c);
    k->exchange = NULL;
    if (str_eq(status, STR("news")))
        e = queue_start(b, json_str(answer, "text"));
    else /* what a server does not know today it will not know tomorrow */
        k->again_ms = r->status < 400 ? b->now_ms + OFF_MS : INT64_MAX;
    if (e) {
        lines_note("the agent could not be woken: " STR_FMT, STR_ARG(e->message));
        report_begin(b, e->message);
    }
}

static const struct exchange_kind take = {
    .head = take_head, .ready = exchange_always, .done = take_done, .failed = retry
};

static void take_begin(struct bridge *b, int64_t delay_ms)
{
    struct exchange *c = exchange_new(b, &take);
    struct buf out = buf_in(c->arena);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    write_text(&w, STR("client"), b->identity.client);
    write_text(&w, STR("conversation"), b->wake.conversation);
    write_text(&w, STR("waker"), b->wake.waker);
    write_text(&w, STR("way"), STR("queue"));
    write_int(&w, STR("timeout"), ASK_SECONDS);
    json_write_end(&w, '}');
    c->body = buf_str(&out);
    c->lasting = c->polls = true;
    c->not_before_ms = delay_ms ? b->now_ms + delay_ms : 0;
    b->wake.exchange = c;
    exchange_queue(b, c);
}

/* ---- whom ---- */

void wake_follow(struct bridge *b)
{
    struct wake *k = &b->wake;
    const struct identity *i = &b->identity;
    bool other = !str_eq(i->conversation, k->conversation);

    if (!i->own || !i->conversation.len || !str_eq(i->client, STR("codex")) || k->pid)
        return;
    if (!other && (k->exchange || b->now_ms < k->again_ms))
        return;
    if (k->unattended < 0) /* one that runs a single prompt is never idle */
        k->unattended = ancestor_was_told(PROCESSES, getpid(), STR("exec"));
    if (k->unattended)
        return;
    if (k->exchange && k->exchange->kind == &report)
        return; /* first things first */
    if (k->exchange)
        exchange_end(b, k->exchange);
    if (other) {
        arena_reset(k->arena);
        k->conversation = arena_copy(k->arena, i->conversation);
        k->waker = random_hex(k->arena, WAKER_BYTES);
    }
    take_begin(b, 0);
}

void wake_init(struct bridge *b)
{
    b->wake = (struct wake){ .arena = arena_new(), .unattended = -1 };
}

/* The command dies with us; what it was to hand over is offered again. */
void wake_release(struct bridge *b)
{
    starter_end(&b->wake, true);
    if (b->wake.pid) {
        kill(-b->wake.pid, SIGKILL);
        waitpid(b->wake.pid, NULL, 0);
        close(b->wake.said);
    }
    arena_free(b->wake.arena);
}
