/* http_fixture.c: a real server with a client, for tests of its protocols. */
#include "http_fixture.h"

#include <signal.h>

#include "core/tx.h"
#include "json/schema/schema.h"
#include "net_help.h"

/* ---- the service ---- */

/* What an operation was asked, which is what most of them answer. */
static err echo(struct tx *tx, const struct input *in, struct answer *out)
{
    (void)tx;
    json_write_begin(&out->json, '{');
    json_write_name(&out->json, STR("asked"));
    json_write_value(&out->json, in->json);
    json_write_end(&out->json, '}');
    return NULL;
}

static err refused(enum error_kind kind, const char *message)
{
    return err_new(check_arena(), kind, "%s", message);
}

static err thing_create(struct tx *tx, const struct input *in, struct answer *out)
{
    (void)tx;
    out->created = true;
    out->version = 1;
    json_write_begin(&out->json, '{');
    json_write_name(&out->json, STR("thing_id"));
    json_write_str(&out->json, input_str(in, "name"));
    json_write_end(&out->json, '}');
    return NULL;
}

static err thing_list(struct tx *tx, const struct input *in, struct answer *out)
{
    if (input_int(in, "limit", 0) == 1)
        out->next = STR("a b");
    return echo(tx, in, out);
}

static err thing_read(struct tx *tx, const struct input *in, struct answer *out)
{
    if (str_eq(input_str(in, "thing_id"), STR("none")))
        return refused(ERR_NOT_FOUND, "there is no thing none");
    out->version = 7;
    out->cached_id = input_str(in, "thing_id");
    out->cached = STR("{\"from\":\"memory\"}");
    return echo(tx, in, out);
}

static err thing_write(struct tx *tx, const struct input *in, struct answer *out)
{
    if (str_eq(input_str(in, "thing_id"), STR("none")))
        return refused(ERR_NOT_FOUND, "there is no thing none");
    if (input_int(in, "expected_version", 7) != 7)
        return refused(tx->precondition ? ERR_PRECONDITION : ERR_CONFLICT, "it is at version 7");
    out->version = 8;
    return echo(tx, in, out);
}

static err thing_delete(struct tx *tx, const struct input *in, struct answer *out)
{
    (void)tx;
    (void)in;
    out->empty = true;
    return NULL;
}

static err thing_wait(struct tx *tx, const struct input *in, struct answer *out)
{
    if (input_declares(in, "thing_id") && str_eq(input_str(in, "thing_id"), STR("none")))
        return refused(ERR_NOT_FOUND, "there is no thing none");
    if (!in->wait_over && input_int(in, "timeout", 0) > 0) {
        out->waits = true;
        out->wait_until_ms = tx->now_ms + input_int(in, "timeout", 0);
        return NULL;
    }
    return echo(tx, in, out);
}

/* A claim, which finds nothing. */
static err thing_claim(struct tx *tx, const struct input *in, struct answer *out)
{
    out->empty = true;
    return thing_wait(tx, in, out);
}

/* Starts something, and waits for it. */
static err thing_start(struct tx *tx, const struct input *in, struct answer *out)
{
    (void)tx;
    out->created = true;
    out->then = "thing.wait";
    out->then_input = *in->json;
    json_write_begin(&out->json, '{');
    json_write_name(&out->json, STR("started"));
    json_write_str(&out->json, input_str(in, "thing_id"));
    json_write_end(&out->json, '}');
    return NULL;
}

static err thing_full(struct tx *tx, const struct input *in, struct answer *out)
{
    (void)tx;
    (void)in;
    (void)out;
    return err_with(check_arena(), refused(ERR_FULL, "the disk is full"), STR("\"free_bytes\":0"));
}

// clang-format off
#define ANY JSON({ "type": "object", "properties": {} })

static const struct op ops[] = {
    { .name = "thing.create", .http = "POST /things", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_ALL,
      .summary = "-", .output = ANY, .run = thing_create, .input = JSON({
        "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } }) },
    { .name = "thing.list", .http = "GET /things", .on = ON_HTTP, .by = BY_ALL,
      .summary = "-", .output = ANY, .run = thing_list, .input = JSON({
        "type": "object", "additionalProperties": false, "properties": { "after": { "type": "string" },
        "note": { "type": "string" }, "limit": { "type": "integer" }, "deep": { "type": "boolean" }, "share": { "type": "number" },
        "tag": { "type": "array", "items": { "type": "integer" } } } }) },
    { .name = "thing.read", .http = "GET /things/{thing_id}", .on = ON_HTTP, .by = BY_ALL, .peek = true,
      .summary = "-", .output = ANY, .run = thing_read, .input = JSON({
        "type": "object", "required": ["thing_id"], "properties": { "thing_id": { "type": "string" },
        "part": { "type": "string" } } }) },
    { .name = "thing.update", .http = "PUT /things/{thing_id}", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_ALL,
      .summary = "-", .output = ANY, .run = thing_write, .input = JSON({
        "type": "object", "required": ["thing_id"], "properties": { "thing_id": { "type": "string" },
        "data": true, "expected_version": { "type": "integer" }, "representation": { "type": "boolean" } } }) },
    { .name = "thing.patch", .http = "PATCH /things/{thing_id}", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_ALL,
      .bodies = { { "application/json-patch+json", "operations" }, { "application/merge-patch+json", "merge" } },
      .summary = "-", .output = ANY, .run = thing_write, .input = JSON({
        "type": "object", "required": ["thing_id"], "properties": { "thing_id": { "type": "string" },
        "operations": { "type": "array" }, "merge": true, "expected_version": { "type": "integer" } } }) },
    { .name = "thing.plan", .http = "POST /things/{thing_id}/plan", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_ALL,
      .bodies = { { "application/json", "plan", .either = true } },
      .summary = "-", .output = ANY, .run = thing_write, .input = JSON({
        "type": "object", "required": ["thing_id"], "properties": { "thing_id": { "type": "string" },
        "plan": true, "expected_version": { "type": "integer" } } }) },
    { .name = "thing.delete", .http = "DELETE /things/{thing_id}", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_ALL,
      .summary = "-", .output = ANY, .run = thing_delete, .input = JSON({
        "type": "object", "required": ["thing_id"], "properties": { "thing_id": { "type": "string" } } }) },
    { .name = "thing.wait", .http = "GET /things/{thing_id}/wait", .on = ON_HTTP, .by = BY_ALL, .wait = true,
      .summary = "-", .output = ANY, .run = thing_wait, .input = JSON({
        "type": "object", "required": ["thing_id"], "properties": { "thing_id": { "type": "string" },
        "timeout": { "type": "integer" } } }) },
    { .name = "thing.claim", .http = "GET /claims", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_ALL, .wait = true,
      .secret = true, .summary = "-", .output = ANY, .run = thing_claim, .input = JSON({
        "type": "object", "properties": { "timeout": { "type": "integer" } } }) },
    { .name = "thing.start", .http = "POST /starts", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_ALL,
      .summary = "-", .output = ANY, .run = thing_start, .input = JSON({
        "type": "object", "required": ["thing_id"], "properties": { "thing_id": { "type": "string" },
        "timeout": { "type": "integer" } } }) },
    { .name = "thing.full", .http = "POST /full", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_ALL,
      .summary = "-", .output = ANY, .run = thing_full, .input = ANY },
};
// clang-format on

/* ---- the server and one client ---- */

static int64_t http_fixture_now(void *self)
{
    return ((struct http_fixture *)self)->now_ms;
}

static void perform(struct http_fixture *s, struct command *c)
{
    struct buf printed = buf_in(c->arena);
    struct input in = {
        c->op, c->input, op_fields(s->table, c->op), c->wait_over, c->waited, NULL
    };
    struct tx tx = { .now_ms = s->now_ms, .precondition = c->precondition };

    s->performed++;
    c->answer = (struct answer){ .json = json_writer_to(&printed) };
    c->error = schema_require(c->arena, op_input_schema(s->table, c->op), c->input);
    if (!c->error)
        c->error = c->op->run(&tx, &in, &c->answer);
    if (c->error) {
        c->answer.waits = false;
        return;
    }
    c->answer.text = buf_str(&printed);
    c->repeated = str_eq(c->key, STR("again"));
}

void http_fixture_perform(struct http_fixture *s)
{
    struct command *list = s->waiting;

    s->waiting = NULL;
    for (struct command *c = list; c; c = c->follows) {
        arena_take(c->arena);
        perform(s, c);
    }
    server_performed(s->server, list);
}

void commands_wait(struct command **waiting, struct command *list)
{
    while (*waiting)
        waiting = &(*waiting)->follows;
    *waiting = list;
    for (struct command *c = list; c; c = c->follows)
        arena_give(c->arena); /* as if another thread had it */
}

static bool http_fixture_submit(void *self, struct command *list)
{
    struct http_fixture *s = self;

    if (s->full)
        return false;
    commands_wait(&s->waiting, list);
    if (!s->holds)
        http_fixture_perform(s);
    return true;
}

static const struct actor nobody_special = { .kind = ACTOR_OPERATOR, .name = STR("op") };
static const struct actor agent = {
    .kind = ACTOR_SESSION, .name = STR("agent"), .session_id = STR("ses_1"), .state_id = STR("x")
};

enum { FOREVER = 1 << 20 };

/* Tokens are the names of their grants. They are never freed. */
struct grant fixture_grants[] = {
    [FIXTURE_OPERATOR] = { .actor = &nobody_special,
                           .token_id = STR("op"),
                           .operates = true,
                           .refs = FOREVER },
    [FIXTURE_VIEWER] = { .actor = &nobody_special, .token_id = STR("viewer"), .refs = FOREVER },
    [FIXTURE_BRIEF] = { .actor = &nobody_special,
                        .token_id = STR("brief"),
                        .expires_at_ms = 5000,
                        .refs = FOREVER },
    [FIXTURE_SESSION] = { .actor = &agent, .token_id = STR("session"), .refs = FOREVER },
};

static void answer_admission(struct http_fixture *s, struct admission *a)
{
    arena_take(a->arena);
    a->grant = NULL;
    for (size_t i = 0; i < sizeof fixture_grants / sizeof *fixture_grants; i++)
        if (str_eq(fixture_grants[i].token_id, a->token) &&
            (!fixture_grants[i].expires_at_ms || fixture_grants[i].expires_at_ms > s->now_ms))
            a->grant = grant_ref(&fixture_grants[i]);
    if (!a->grant)
        a->error = err_new(a->arena, ERR_UNAUTHENTICATED, "this token is not known");
    server_admitted(s->server, a);
}

void http_fixture_answer_admissions(struct http_fixture *s)
{
    while (s->asking) {
        struct admission *a = s->asking;
        s->asking = a->follows;
        answer_admission(s, a);
    }
}

static void http_fixture_admit(void *self, struct admission *a)
{
    struct http_fixture *s = self;

    s->lookups++;
    a->follows = s->asking;
    s->asking = a;
    arena_give(a->arena);
    if (!s->holds)
        http_fixture_answer_admissions(s);
}

static void http_fixture_metrics(void *self, struct buf *out)
{
    (void)self;
    buf_add(out, STR("more 1\n"));
}

static const char *http_fixture_unready(void *self)
{
    return ((struct http_fixture *)self)->unready;
}

bool fixture_is_inside;

static bool http_fixture_inside(int64_t pid)
{
    return pid == getpid() && fixture_is_inside;
}

static void on_stop(void *self)
{
    loop_stop(((struct http_fixture *)self)->loop);
}

void http_fixture_stopped(void *self)
{
    ((struct http_fixture *)self)->stopped = true;
}

struct http_fixture *http_fixture_open(const struct server_limits *limits)
{
    static const str hosts[] = { STR("baton.example") };
    static const str config[] = { STR("state_bytes"), STR("1048576"), STR("store"), STR("sqlite") };
    struct http_fixture *s = ARENA_NEW(check_arena(), struct http_fixture);
    struct op_list list = { ops, sizeof ops / sizeof *ops };

    signal(SIGPIPE, SIG_IGN);
    s->now_ms = 784111777000; /* Sun, 06 Nov 1994 08:49:37 GMT */
    s->heard = buf_in(check_arena());
    s->loop = loop_new();
    s->stop = wakeup_new(s->loop, on_stop, s);
    s->timer = timer_new(s->loop, on_stop, s);
    CHECK_OK(op_table_new(check_arena(), &list, 1, &s->table));
    s->server =
        server_new(&(struct server_options){ .loop = s->loop,
                                             .table = s->table,
                                             .cache_bytes = 1 << 20,
                                             .limits = limits ? *limits : server_limits_default(),
                                             .hosts = hosts,
                                             .host_count = 1,
                                             .config = config,
                                             .config_count = 4,
                                             .now_ms = http_fixture_now,
                                             .submit = http_fixture_submit,
                                             .admit = http_fixture_admit,
                                             .metrics = http_fixture_metrics,
                                             .unready = http_fixture_unready,
                                             .inside = http_fixture_inside,
                                             .self = s,
                                             .version = "1.2.3" });
    CHECK_OK(loop_listen_unix(s->loop, check_arena(), STR("sock"), server_accept, s->server,
                              &s->unix_socket));
    CHECK_OK(loop_listen_tcp(s->loop, check_arena(), STR("127.0.0.1"), &s->port, server_accept,
                             s->server, &s->tcp));
    return s;
}

void http_fixture_turn(struct http_fixture *s)
{
    for (int i = 0; i < 5; i++) {
        wakeup_send(s->stop);
        loop_run(s->loop);
    }
}

void text_hear(int fd, struct buf *heard)
{
    char bytes[65536];
    ssize_t n;

    while ((n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        for (ssize_t i = 0; i < n; i++)
            if (bytes[i] != '\r')
                buf_byte(heard, bytes[i] == '\n' ? '|' : bytes[i] == '"' ? '\'' : bytes[i]);
    if (n == 0)
        buf_add(heard, STR("<closed>"));
}

void http_fixture_listen(struct http_fixture *s)
{
    text_hear(s->fd, &s->heard);
}

void http_fixture_say(struct http_fixture *s, str bytes)
{
    if (bytes.len > 0)
        CHECK_INT(send(s->fd, bytes.at, bytes.len, MSG_NOSIGNAL), bytes.len);
    http_fixture_turn(s);
    http_fixture_listen(s);
}

str text_wire(const char *text)
{
    struct buf out = buf_in(check_arena());
    for (; *text; text++)
        buf_add(&out, *text == '|' ? STR("\r\n") : (str){ text, 1 });
    return buf_str(&out);
}

void http_fixture_connect_local(struct http_fixture *s)
{
    s->fd = net_unix("sock");
    s->heard.len = 0;
    http_fixture_turn(s);
}

void http_fixture_connect(struct http_fixture *s)
{
    s->fd = net_tcp(s->port);
    s->heard.len = 0;
    http_fixture_turn(s);
}

void http_fixture_hang_up(struct http_fixture *s)
{
    close(s->fd);
    http_fixture_turn(s);
}

void http_fixture_ask(struct http_fixture *s, const char *text)
{
    http_fixture_say(s, text_wire(text));
}

bool text_fits(const char *text, const char *pattern)
{
    for (; *pattern && *pattern != '*'; text++, pattern++)
        if (*text != *pattern)
            return false;
    if (!*pattern)
        return !*text;
    for (; *text; text++)
        if (text_fits(text, pattern + 1))
            return true;
    return text_fits(text, pattern + 1);
}

void check_fits(const char *file, int line, str found, const char *pattern)
{
    if (!text_fits(found.at, pattern))
        check_fail(file, line, "expected %s\n     found %s", pattern, found.at);
}

void http_fixture_close(struct http_fixture *s)
{
    listener_close(s->unix_socket);
    listener_close(s->tcp);
    server_stop(s->server, 100, http_fixture_stopped);
    for (int i = 0; i < 1000 && !s->stopped; i++) {
        timer_set(s->timer, 5);
        loop_run(s->loop);
    }
    CHECK(s->stopped);
    CHECK_INT(s->server->buffered, 0);
    server_free(s->server);
    timer_free(s->timer);
    wakeup_free(s->stop);
    loop_free(s->loop);
    op_table_free(s->table);
}
