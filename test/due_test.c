/* due_test.c: what has a time comes at its time, once, and in order. */
#include <stdio.h>

#include "check.h"
#include "core/due.h"
#include "sim/both.h"
#include "sim/world.h"

static struct {
    char order[100];
    err fails;
    int64_t again_ms;
    struct due fired;
} seen;

static err note(struct tx *tx, const struct due *due)
{
    size_t at = strlen(seen.order);

    snprintf(seen.order + at, sizeof seen.order - at, "%d" STR_FMT "%lld ", due->kind,
             STR_ARG(due->subject), (long long)due->arg);
    if (seen.again_ms)
        TRY(due_add(tx, tx->now_ms + seen.again_ms, due->kind, due->subject, due->arg + 1));
    return seen.fails;
}

static const struct due_work works[DUE_KIND_COUNT] = {
    [DUE_COMPACT_STATE] = { .run = note },
    [DUE_PURGE_STATE] = { .run = note },
};

static const struct due_work recurring[DUE_KIND_COUNT] = {
    [DUE_FORGET_KEYS] = { .run = note, .recurs = true },
    [DUE_MOVE_FLOOR] = { .run = note, .recurs = true },
};

static struct world *world_new(void)
{
    struct world *w;

    CHECK_OK(world_open("due.db", NULL, &w));
    w->now_ms = 1000;
    memset(&seen, 0, sizeof seen);
    return w;
}

struct step {
    struct tx tx;
    struct store_node node;
};

/* A transaction, as a command would have it. */
static struct tx *begin(struct world *w, struct step *s)
{
    CHECK_OK(store_begin(w->engine.sql, check_arena(), &s->node));
    s->tx = (struct tx){ .arena = check_arena(),
                         .sql = w->engine.sql,
                         .now_ms = w->now_ms,
                         .seq = &s->node.seq,
                         .actor = &w->actor };
    return &s->tx;
}

static err end(struct world *w, struct step *s, err e)
{
    err why;

    if (e)
        store_rollback(w->engine.sql);
    else
        CHECK_INT(store_commit(w->engine.sql, &s->node, &why), STORE_COMMITTED);
    return e;
}

static void add(struct world *w, int64_t at, enum due_kind kind, const char *subject, int64_t arg)
{
    struct step s;
    CHECK_OK(end(w, &s, due_add(begin(w, &s), at, kind, str_from(subject), arg)));
}

static err fire(struct world *w, int64_t now, const struct due_work *table)
{
    struct step s;
    bool more;

    w->now_ms = now;
    return end(w, &s, due_fire(begin(w, &s), table, &seen.fired, &more));
}

static int64_t next(struct world *w)
{
    struct step s;
    int64_t at;

    CHECK_OK(end(w, &s, due_next(begin(w, &s), &at)));
    return at;
}

TEST_BOTH(what_is_due_fires_once_and_the_earliest_first)
{
    struct world *w = world_new();

    CHECK_INT(next(w), 0);
    add(w, 3000, DUE_COMPACT_STATE, "c", 7);
    add(w, 2000, DUE_PURGE_STATE, "b", 6);
    add(w, 2000, DUE_PURGE_STATE, "a", 5);
    CHECK_INT(next(w), 2000);
    CHECK_OK(fire(w, 1999, works));
    CHECK_STR(str_from(seen.order), "");
    for (int i = 0; i < 5; i++)
        CHECK_OK(fire(w, 2000 + i * 500, works));
    CHECK_STR(str_from(seen.order), "1a5 1b6 0c7 ");
    CHECK_INT(next(w), 0);
    world_close(w);
}

TEST_BOTH(what_waits_for_the_same_subject_is_replaced)
{
    struct world *w = world_new();

    add(w, 2000, DUE_PURGE_STATE, "a", 1);
    add(w, 5000, DUE_PURGE_STATE, "a", 2);
    add(w, 3000, DUE_COMPACT_STATE, "a", 3);
    CHECK_INT(next(w), 3000);
    CHECK_OK(fire(w, 9000, works));
    CHECK_OK(fire(w, 9000, works));
    CHECK_OK(fire(w, 9000, works));
    CHECK_STR(str_from(seen.order), "0a3 1a2 ");
    world_close(w);
}

TEST_BOTH(a_firing_that_fails_is_due_again)
{
    struct world *w = world_new();

    add(w, 2000, DUE_PURGE_STATE, "a", 1);
    seen.fails = err_new(check_arena(), ERR_UNAVAILABLE, "not now");
    CHECK_ERR(fire(w, 2000, works), ERR_UNAVAILABLE);
    CHECK_INT(next(w), 2000);
    seen.fails = NULL;
    CHECK_OK(fire(w, 2000, works));
    CHECK_STR(str_from(seen.order), "1a1 1a1 ");
    CHECK_INT(next(w), 0);
    world_close(w);
}

/* Work that always fails must not keep all other work from its time. */
TEST_BOTH(what_fails_is_put_off_and_others_come)
{
    struct world *w = world_new();
    struct due bad = { .kind_name = STR("compact_state"), .subject = STR("bad") };
    struct step s;

    add(w, 2000, DUE_COMPACT_STATE, "bad", 1);
    add(w, 2001, DUE_PURGE_STATE, "good", 2);
    seen.fails = err_new(check_arena(), ERR_INTERNAL, "it is damaged");
    CHECK_ERR(fire(w, 3000, works), ERR_INTERNAL);
    CHECK_STR(seen.fired.kind_name, "compact_state");
    CHECK_STR(seen.fired.subject, "bad");
    CHECK_OK(end(w, &s, due_put_off(begin(w, &s), &bad, 500)));
    seen.fails = NULL;
    CHECK_OK(fire(w, 3000, works));
    CHECK_STR(seen.fired.subject, "good");
    /* Who has seen it fail too puts off nothing else, and not this one again. */
    CHECK_OK(end(w, &s, due_put_off(begin(w, &s), &bad, 9999)));
    CHECK_INT(next(w), 3500);
    CHECK_OK(fire(w, 3500, works));
    CHECK_STR(str_from(seen.order), "0bad1 1good2 0bad1 ");
    world_close(w);
}

static void sql_do(struct world *w, const char *text)
{
    struct step s;
    CHECK_OK(end(w, &s, sql_exec_(begin(w, &s)->sql, text, NO_ARGS)));
}

/* As another version of the server has left it, or a hand. */
TEST_BOTH(work_of_a_kind_that_is_not_known_fails_alone)
{
    struct world *w = world_new();
    struct step s;

    sql_do(w, "INSERT INTO due (at, kind, subject, arg) VALUES (1500, 'sing', 'la', 0)");
    add(w, 2000, DUE_PURGE_STATE, "a", 1);
    CHECK_ERR(fire(w, 3000, works), ERR_INTERNAL);
    CHECK_STR(seen.fired.kind_name, "sing");
    CHECK_OK(end(w, &s, due_put_off(begin(w, &s), &seen.fired, 500)));
    CHECK_OK(fire(w, 3000, works));
    CHECK_STR(str_from(seen.order), "1a1 ");
    world_close(w);
}

TEST_BOTH(work_can_have_itself_fired_again)
{
    struct world *w = world_new();

    add(w, 2000, DUE_PURGE_STATE, "a", 1);
    seen.again_ms = 10;
    CHECK_OK(fire(w, 2000, works));
    CHECK_INT(next(w), 2010);
    CHECK_OK(fire(w, 2009, works));
    CHECK_OK(fire(w, 2010, works));
    CHECK_STR(str_from(seen.order), "1a1 1a2 ");
    world_close(w);
}

TEST_BOTH(what_recurs_is_there_without_anyone_adding_it)
{
    struct world *w = world_new();

    seen.again_ms = 100;
    CHECK_OK(fire(w, 1000, recurring));
    CHECK_OK(fire(w, 1000, recurring));
    CHECK_OK(fire(w, 1000, recurring));
    CHECK_STR(str_from(seen.order), "20 30 ");
    CHECK_INT(next(w), 1100);
    world_close(w);
}

/* The server's own operation: for no token, on no surface. */
TEST_BOTH(a_tick_says_when_the_next_one_is_worth_it)
{
    struct world *w = world_new();

    CHECK_ERR(world_call(w, "system.tick", "{}", "")->error, ERR_FORBIDDEN);
    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    struct command *c = world_call(w, "system.tick", "{}", "");
    CHECK_OK(c->error);
    CHECK_STR(c->answer.text, "{\"next_at\":1000,\"more\":true}");
    c = world_call(w, "system.tick", "{}", "");
    CHECK_STR(c->answer.text, "{\"next_at\":61000,\"more\":false}");
    c = world_call(w, "system.tick", "{}", "");
    CHECK_STR(c->answer.text, "{\"next_at\":61000,\"more\":false}");
    CHECK_INT(c->op->on, 0);
    CHECK(!c->op->http);
    world_close(w);
}

TEST_BOTH(a_tick_can_put_off_what_is_due)
{
    struct world *w = world_new();

    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    world_call(w, "system.tick", "{}", "");
    struct command *c =
        world_call(w, "system.tick", "{'put_off':{'kind':'move_floor','subject':'','ms':500}}", "");
    CHECK_STR(c->answer.text, "{\"next_at\":1500,\"more\":false}");
    world_close(w);
}

/* What fails after the work itself, too: by what follows from it, or by a row that cannot be read. */
TEST_BOTH(a_tick_that_fails_names_what_it_fired)
{
    struct world *w = world_new();

    CHECK_OK(world_call(w, "session.create", "{'session_name':'a','session_id':'a-1'}", "")->error);
    sql_do(w, "UPDATE session SET status = 'odd'");
    add(w, 500, DUE_CALLBACK_DELIVER, "a-1", 0);
    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    struct command *c = world_call(w, "system.tick", "{}", "");
    CHECK_ERR(c->error, ERR_INTERNAL);
    CHECK_STR(c->error->members, "\"due\":{\"kind\":\"callback_deliver\",\"subject\":\"a-1\"}");
    world_close(w);
}
