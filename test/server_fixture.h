/* server_fixture.h: a server on a loop of its own, for tests: what it submits and asks for is kept,
 * and the test plays those who would answer. */
#ifndef TEST_SERVER_FIXTURE_H
#define TEST_SERVER_FIXTURE_H

#include "net_help.h"
#include "wire/server_private.h"

struct server_fixture {
    struct loop *loop;
    struct server *server;
    struct op_table *table;
    struct listener *tcp, *local;
    uint16_t port;
    int64_t now_ms;

    struct command *submitted, **submitted_end; /* all that were, until taken */
    int submits;
    bool full; /* submit says no */

    struct admission *asked; /* the last that was */
    int asks;

    const struct protocol *protocol; /* of connections that are accepted: NULL: HTTP */
    struct conn *conn;               /* the last of them */
    void (*accepted)(struct server_fixture *b);
    bool stopped;
};

static err fixture_op(struct tx *tx, const struct input *in, struct answer *out)
{
    (void)tx, (void)in, (void)out;
    return NULL; /* performed by nobody: the test makes the answers */
}

// clang-format off
static const struct op fixture_ops[] = {
    { .name = "event.list", .http = "GET /events", .effect = OP_READS, .on = ON_HTTP, .by = BY_ALL,
      .summary = "Listed.", .run = fixture_op, .input = JSON({ "type": "object", "properties": {} }),
      .output = JSON({ "type": "object", "properties": { "events": {} } }) },
    { .name = "thing.read", .http = "GET /thing", .effect = OP_READS, .on = ON_HTTP, .by = BY_ALL,
      .summary = "Read.", .run = fixture_op, .input = JSON({ "type": "object", "properties": {} }),
      .output = JSON({ "type": "object", "properties": { "id": {} } }) },
    { .name = "thing.write", .http = "PUT /thing", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_ALL,
      .summary = "Written.", .run = fixture_op, .input = JSON({ "type": "object", "properties": {} }),
      .output = JSON({ "type": "object", "properties": { "id": {} } }) },
    { .name = "system.seen", .effect = OP_READS, .by = BY_SYSTEM,
      .summary = "Seen.", .run = fixture_op, .input = JSON({ "type": "object", "properties": {} }),
      .output = JSON({ "type": "object", "properties": { "seq": {} } }) },
};
// clang-format on

static int64_t fixture_now(void *self)
{
    struct server_fixture *b = self;
    return b->now_ms;
}

static bool fixture_submit(void *self, struct command *list)
{
    struct server_fixture *b = self;

    b->submits++;
    if (b->full)
        return false;
    *b->submitted_end = list;
    while (*b->submitted_end)
        b->submitted_end = &(*b->submitted_end)->follows;
    return true;
}

static void fixture_admit(void *self, struct admission *a)
{
    struct server_fixture *b = self;

    b->asks++;
    b->asked = a;
}

static void fixture_accept(void *owner, struct link *l)
{
    struct server_fixture *b = owner;

    if (!b->protocol) {
        server_accept(b->server, l);
        return;
    }
    b->conn = conn_open(b->server, l);
    conn_switch(b->conn, b->protocol, b);
    if (b->accepted)
        b->accepted(b);
}

static struct server_options fixture_options(struct server_fixture *b)
{
    return (struct server_options){ .loop = b->loop,
                                    .table = b->table,
                                    .limits = server_limits_default(),
                                    .seq = 4,
                                    .cache_bytes = 1 << 20,
                                    .now_ms = fixture_now,
                                    .submit = fixture_submit,
                                    .admit = fixture_admit,
                                    .self = b,
                                    .version = "test" };
}

/* `options` may be NULL. */
static struct server_fixture *fixture_new(void (*options)(struct server_options *o))
{
    static const struct op_list list = { fixture_ops, sizeof fixture_ops / sizeof *fixture_ops };
    struct server_fixture *b = ARENA_NEW(check_arena(), struct server_fixture);

    b->loop = loop_new();
    b->now_ms = 1736937300000;
    b->submitted_end = &b->submitted;
    CHECK_OK(op_table_new(check_arena(), &list, 1, &b->table));
    struct server_options o = fixture_options(b);
    if (options)
        options(&o);
    b->server = server_new(&o);
    CHECK_OK(loop_listen_tcp(b->loop, check_arena(), STR("127.0.0.1"), &b->port, fixture_accept, b,
                             &b->tcp));
    return b;
}

static void fixture_stopped(void *self)
{
    struct server_fixture *b = self;

    b->stopped = true;
    loop_stop(b->loop);
}

/* Stops it where it was not, and frees all. */
static void fixture_free(struct server_fixture *b)
{
    listener_close(b->tcp);
    if (b->local)
        listener_close(b->local);
    if (!b->stopped) {
        server_stop(b->server, 0, fixture_stopped);
        loop_run(b->loop);
    }
    CHECK(b->stopped);
    server_free(b->server);
    loop_free(b->loop);
    op_table_free(b->table);
}

#endif
