/* server_told.h: what other threads and other nodes do to a server, for tests of it: the test plays
 * them, and who is answered, and when, is written down. */
#ifndef TEST_SERVER_TOLD_H
#define TEST_SERVER_TOLD_H

#include "core/event.h"
#include "server_fixture.h"

/* ---- what happened, in order ---- */

static char told[512];

static inline void tell(const char *what)
{
    strncat(told, what, sizeof told - strlen(told) - 1);
}

static struct server_fixture *fixture; /* the one of the test */

/* Who was answered, how, and what was published by then. */
static inline void tell_answer(const char *name, err refused)
{
    char what[80];

    snprintf(what, sizeof what, "%s%s@%lld ", name,
             refused ? error_kind_info(refused->kind)->name : "",
             (long long)fixture->server->published);
    tell(what);
}

static inline void answered(struct command *c)
{
    tell_answer(c->owner, c->error);
}

/* ---- commands ---- */

static inline struct command *command_new(const char *op, const char *name)
{
    struct command *c = ARENA_NEW(check_arena(), struct command);

    *c = (struct command){ .arena = check_arena_new(),
                           .op = op_find(fixture->table, str_from(op)),
                           .done = answered,
                           .owner = (void *)name };
    CHECK(c->op);
    return c;
}

static inline struct command *read_at(const char *name, int64_t seq)
{
    struct command *c = command_new("thing.read", name);

    c->seq = seq;
    return c;
}

static inline struct command *write_at(const char *name, int64_t seq, enum event_type type,
                                       str subject)
{
    struct command *c = command_new("thing.write", name);
    struct event *e = ARENA_NEW(check_arena(), struct event);

    *e = (struct event){ .seq = seq, .type = type, .subject = subject, .data = STR("{}") };
    c->events = e;
    return c;
}

static inline struct command *update_at(const char *name, int64_t seq)
{
    return write_at(name, seq, EVENT_STATE_UPDATED, STR("wfstate_1"));
}

/* ---- what other nodes of a shared store have done ---- */

static inline void is_shared(struct server_options *o)
{
    o->shared = true;
}

/* The subscriber brings events from..to of other nodes, each of the subject. */
static inline void bring(struct server_fixture *b, int64_t from, int64_t to, str subject)
{
    struct arena *a = arena_new();
    struct event *first = NULL, **end = &first;

    for (int64_t seq = from; seq <= to; seq++) {
        *end = ARENA_NEW(a, struct event);
        **end = (struct event){
            .seq = seq, .type = EVENT_STATE_UPDATED, .subject = subject, .data = STR("{}")
        };
        end = &(*end)->next;
    }
    server_published(b->server, a, first);
    net_turn(b->loop);
}

/* ---- grants ---- */

/* Never freed: the test holds a reference, and counts the others. */
static inline struct grant *grant_new(str token_id)
{
    struct grant *g = ARENA_NEW(check_arena(), struct grant);

    *g = (struct grant){ .token_id = token_id, .refs = 1 };
    return g;
}

static struct grant *given;
static int given_count, refused_count;

static inline void take_grant(void *owner, struct grant *g, err refused)
{
    CHECK(owner == fixture);
    CHECK_INT(!g, !!refused);
    if (g) {
        CHECK(!g->revoked);
        given = g;
        given_count++;
        grant_unref(g);
    } else {
        refused_count++;
    }
}

static inline void ask_for(struct server_fixture *b, str token)
{
    struct grant_wait *w = ARENA_NEW(check_arena(), struct grant_wait);

    *w = (struct grant_wait){ .then = take_grant, .owner = b };
    server_grant(b->server, token, w);
}

/* The one who looks tokens up answers the last question. */
static inline void admit(struct server_fixture *b, struct grant *g)
{
    struct admission *a = b->asked;

    a->grant = g ? grant_ref(g) : NULL;
    a->error = g ? NULL : err_new(a->arena, ERR_UNAUTHENTICATED, "not known");
    server_admitted(b->server, a);
    net_turn(b->loop);
}

static inline void publish_revocation(struct server_fixture *b, int64_t seq, str token_id)
{
    server_performed(b->server, write_at("revoked", seq, EVENT_TOKEN_REVOKED, token_id));
    net_turn(b->loop);
}

#endif
