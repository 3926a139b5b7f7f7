/* log_server.h: a server over a log that is an array, for tests of who listens to it.
 *
 * Commits, reads, answers and publishing are steps of the test: what other threads do at any time
 * is done here when the test says so. The loop is turned by hand. */
#ifndef TEST_LOG_SERVER_H
#define TEST_LOG_SERVER_H

#include "check.h"
#include "core/event.h"
#include "net_help.h"
#include "ops/op.h"
#include "wire/hub.h"

enum { LOG_MAX = 4096, ASKED_MAX = 512 };

struct log_server {
    struct loop *loop;
    struct server *server;
    struct op_table *table;
    struct listener *listener;
    struct event events[LOG_MAX]; /* events[i] has number i + 1 */
    int64_t committed, sent;      /* sent: given to the server to be published */
    int64_t floor;                /* the oldest number that can be read */
    int page_max;                 /* events that one read lists at most */
    str data;                     /* of the next event */
    const char *name, *named;     /* a name, and the subject that has it; NULL: there is none */
    bool by_hand;                 /* reads wait for log_read */
    bool busy;                    /* there is no room for commands */
    struct command *asked[ASKED_MAX];
    int asked_count;
    int reads;
    int64_t now_ms;
    struct actor actors[2];
    struct grant operator_grant, session_grant;
    void (*perform)(struct log_server *w, struct command *c); /* of other operations */
};

#define LOG_UNUSED __attribute__((unused))

static err log_run(struct tx *tx, const struct input *in, struct answer *out)
{
    (void)tx, (void)in, (void)out;
    check_fail(__FILE__, __LINE__, "log_perform does what operations do");
}

// clang-format off
#define LOG_ANY JSON({ "type": "object", "properties": {} })

static const struct op log_ops[] = {
    { .name = "event.list", .http = "GET /events", .on = ON_HTTP, .by = BY_ALL,
      .summary = "-", .run = log_run, .input = LOG_ANY, .output = LOG_ANY },
    { .name = "thing.write", .http = "POST /things", .effect = OP_WRITES, .on = ON_HTTP,
      .by = BY_ALL, .summary = "-", .run = log_run, .input = LOG_ANY, .output = LOG_ANY },
    { .name = "thing.wait", .http = "GET /things", .on = ON_HTTP, .by = BY_ALL, .wait = true,
      .summary = "-", .run = log_run, .input = LOG_ANY, .output = LOG_ANY },
};
// clang-format on

/* ---- the log ---- */

static int64_t log_commit(struct log_server *w, const char *subject, enum event_type type)
{
    struct event *e = &w->events[w->committed];

    CHECK(w->committed < LOG_MAX);
    *e = (struct event){ .seq = ++w->committed,
                         .type = type,
                         .subject = str_from(subject),
                         .actor = STR("operator"),
                         .time_ms = 1736937300000,
                         .version = 1,
                         .data = w->data };
    return e->seq;
}

static void log_written(struct command *c)
{
    (void)c;
}

/* Has the next event published that was committed and is not. */
static bool log_publish(struct log_server *w)
{
    if (w->sent == w->committed)
        return false;
    struct command *c = ARENA_NEW(check_arena(), struct command);
    *c = (struct command){ .arena = check_arena_new(),
                           .op = op_find(w->table, STR("thing.write")),
                           .events = &w->events[w->sent++],
                           .done = log_written };
    server_performed(w->server, c);
    return true;
}

LOG_UNUSED static void log_add(struct log_server *w, const char *subject)
{
    log_commit(w, subject, EVENT_STATE_UPDATED);
    log_publish(w);
}

/* ---- reading it ---- */

static bool log_type_fits(const struct json *types, str type)
{
    for (uint32_t i = 0; types && i < types->len; i++)
        if (str_eq(json_text(&types->items[i]), type))
            return true;
    return !types;
}

static err log_refuse(struct log_server *w, const struct command *c, int64_t after, str subject)
{
    if (c->actor->kind == ACTOR_SESSION && subject.len && !str_eq(subject, c->actor->state_id))
        return err_new(c->arena, ERR_NOT_FOUND, "there is nothing here for this session to see");
    if (after >= w->floor - 1)
        return NULL;
    return err_with(c->arena, err_new(c->arena, ERR_GONE, "gone"),
                    arena_printf(c->arena, "\"oldest\":%lld", (long long)w->floor));
}

static void log_list(struct log_server *w, struct command *c)
{
    int64_t after = json_int_or(c->input, "after", 0), next = after;
    str subject = json_str(c->input, "subject");
    bool message = str_eq(json_str(c->input, "shape"), STR("message"));
    struct buf out = buf_in(c->arena);
    int looked = 0;

    c->seq = w->committed;
    c->error = log_refuse(w, c, after, subject);
    if (c->error)
        return;
    if (c->actor->kind == ACTOR_SESSION)
        subject = c->actor->state_id;
    if (w->name && str_eq(subject, str_from(w->name)))
        subject = str_from(w->named);
    buf_add(&out, STR("{\"events\":["));
    bool first = true;
    for (; next < w->committed && looked < w->page_max; looked++, next++) {
        const struct event *e = &w->events[next];
        if ((subject.len && !str_eq(subject, e->subject)) ||
            !log_type_fits(json_get(c->input, "type"), event_type_name(e)))
            continue;
        if (!first)
            buf_byte(&out, ',');
        first = false;
        event_print(&out, e, message ? EVENT_MESSAGE : EVENT_LISTED);
    }
    buf_printf(&out, "],\"next\":%lld,\"seen\":%lld,\"oldest\":%lld,\"subject\":\"" STR_FMT "\"}",
               (long long)next, (long long)w->committed, (long long)w->floor, STR_ARG(subject));
    c->answer.text = buf_str(&out);
}

static void log_perform(struct log_server *w, struct command *c)
{
    w->reads++;
    c->error = NULL;
    c->answer.waits = false;
    c->follows = NULL;
    if (str_eq(str_from(c->op->name), STR("event.list")))
        log_list(w, c);
    else
        w->perform(w, c);
}

/* Performs one of the commands that were asked for; who gives it to the server says when. */
LOG_UNUSED static struct command *log_read(struct log_server *w, int which)
{
    struct command *c = w->asked[which];

    CHECK(which < w->asked_count);
    memmove(&w->asked[which], &w->asked[which + 1],
            (size_t)(--w->asked_count - which) * sizeof *w->asked);
    log_perform(w, c);
    return c;
}

/* ---- what the server wants of its maker ---- */

static bool log_submit(void *self, struct command *list)
{
    struct log_server *w = self;

    if (w->busy)
        return false;
    for (struct command *c = list, *next; c; c = next) {
        next = c->follows;
        if (w->by_hand) {
            CHECK(w->asked_count < ASKED_MAX);
            w->asked[w->asked_count++] = c;
        } else {
            log_perform(w, c);
            server_performed(w->server, c);
        }
    }
    return true;
}

static void log_admit(void *self, struct admission *a)
{
    struct log_server *w = self;

    if (str_eq(a->token, STR("op_1")))
        a->grant = grant_ref(&w->operator_grant);
    else if (str_eq(a->token, STR("ss_1")))
        a->grant = grant_ref(&w->session_grant);
    else
        a->error = err_new(a->arena, ERR_UNAUTHENTICATED, "this token is not known");
    server_admitted(w->server, a);
}

static int64_t log_now(void *self)
{
    struct log_server *w = self;
    return w->now_ms;
}

/* ---- the server ---- */

static struct log_server *log_open(const struct server_limits *limits)
{
    static const struct op_list list = { log_ops, sizeof log_ops / sizeof *log_ops };
    struct log_server *w = ARENA_NEW(check_arena(), struct log_server);

    CHECK_OK(op_table_new(check_arena(), &list, 1, &w->table));
    w->loop = loop_new();
    w->floor = 1;
    w->page_max = 1000;
    w->data = STR("[]");
    w->now_ms = 1736937300000;
    w->actors[0] = (struct actor){ .kind = ACTOR_OPERATOR, .name = STR("operator") };
    w->actors[1] = (struct actor){ .kind = ACTOR_SESSION,
                                   .name = STR("child"),
                                   .session_id = STR("ses_1"),
                                   .state_id = STR("a") };
    w->operator_grant = (struct grant){
        .actor = &w->actors[0], .token_id = STR("tok_1"), .operates = true, .refs = 1
    };
    w->session_grant =
        (struct grant){ .actor = &w->actors[1], .token_id = STR("tok_2"), .refs = 1 };
    struct server_options o = { .loop = w->loop,
                                .table = w->table,
                                .limits = limits ? *limits : server_limits_default(),
                                .now_ms = log_now,
                                .submit = log_submit,
                                .admit = log_admit,
                                .self = w,
                                .version = "test" };
    w->server = server_new(&o);
    return w;
}

static void log_turn(struct log_server *w)
{
    struct timer *t = timer_new(w->loop, net_stop, w->loop);

    timer_set(t, 0);
    loop_run(w->loop);
    timer_free(t);
}

/* Has the server listen on the Unix socket `s`, and connects to it. */
LOG_UNUSED static int log_connect(struct log_server *w)
{
    if (!w->listener)
        CHECK_OK(loop_listen_unix(w->loop, check_arena(), STR("s"), server_accept, w->server,
                                  &w->listener));
    return net_unix("s");
}

/* Turns the loop until nothing is under way. */
LOG_UNUSED static void log_settle(struct log_server *w)
{
    for (int i = 0; i < 6; i++)
        log_turn(w);
}

/* Submits a command that waits, by the operator; w->perform decides for how long. */
LOG_UNUSED static void log_wait(struct log_server *w, struct command *c,
                                void (*done)(struct command *c))
{
    *c = (struct command){ .arena = check_arena_new(),
                           .op = op_find(w->table, STR("thing.wait")),
                           .actor = &w->actors[0],
                           .done = done,
                           .owner = w->server };
    CHECK(server_submit(w->server, c));
}

static void log_close(struct log_server *w)
{
    LIST_EACH(it, &w->server->conns)
        conn_abort(LIST_ENTRY(it, struct conn, all));
    for (int i = 0; i < 6; i++)
        log_turn(w);
    while (w->asked_count)
        server_performed(w->server, log_read(w, 0));
    log_turn(w);
    if (w->listener)
        listener_close(w->listener);
    server_free(w->server);
    loop_free(w->loop);
    op_table_free(w->table);
}

#endif
