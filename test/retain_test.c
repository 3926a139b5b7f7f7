/* retain_test.c: what is let go, what stays, and that nothing that can be replayed is missing. */
#include "core/retain.h"
#include "sim/both.h"
#include "sim/vfs.h"
#include "calls.h"

enum { DAY_MS = 24 * 3600 * 1000 };

/* Small numbers, so that a few writes outgrow them. */
static const struct retention small = {
    .events = 10,
    .events_ms = 1000,
    .versions = 20,
    .versions_step = 5,
    .keys_ms = 1000,
    .rows = 7,
};

struct fixture {
    struct vfs *disk;
    struct world *w;
};

static struct fixture fixture_new(const struct retention *r)
{
    struct fixture p = { .disk = vfs_new(1, 4096) };

    CHECK_OK(world_open("retain.db", vfs_name(p.disk), &p.w));
    p.w->engine.retention = r;
    CHECK_OK(world_call(p.w, "schema.create", "{'name':'s','json_schema':{'type':'object'}}", "")
                 ->error);
    return p;
}

static void fixture_free(struct fixture *p)
{
    world_close(p->w);
    vfs_free(p->disk);
}

static str made(struct world *w)
{
    struct command *c =
        call(w, "state.create", "{'schema_name':'s','initial_data':{'n':1,'pad':'%050d'}}", 0);
    CHECK_OK(c->error);
    return c->events->subject;
}

static void written(struct world *w, str id, int64_t n)
{
    CHECK_OK(call(w, "state.patch",
                  "{'state_id':'" STR_FMT "','operations':[{'op':'replace','path':'/n',"
                  "'value':%lld}]}",
                  STR_ARG(id), (long long)n)
                 ->error);
}

static void deleted(struct world *w, str id)
{
    CHECK_OK(call(w, "state.delete", "{'state_id':'" STR_FMT "'}", STR_ARG(id))->error);
}

/* An event that is no history of anything. */
static void passing(struct world *w)
{
    str id = at(call(w, "token.create", "{'kind':'viewer'}"), "/token_id");

    CHECK_OK(call(w, "token.revoke", "{'token_id':'" STR_FMT "'}", STR_ARG(id))->error);
}

/* Fires one piece; true when there is more to do now. */
static bool tick(struct world *w)
{
    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    struct command *c = world_call(w, "system.tick", "{}", "");
    w->actor = the_operator;
    CHECK_OK(c->error);
    CHECK(!c->events);
    return str_ends(c->answer.text, STR("\"more\":true}"));
}

static int tick_all(struct world *w)
{
    int count = 1;

    while (tick(w))
        CHECK(count++ < 10000);
    return count;
}

static int64_t counted_in(struct world *w, const char *text)
{
    struct store_node node;
    const struct row *row;

    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_one_(w->engine.sql, &row, text, NO_ARGS));
    store_rollback(w->engine.sql);
    return row_int(row, 0);
}

static int64_t log_rows(struct world *w)
{
    return counted_in(w, "SELECT count(*) FROM log");
}

static int64_t floor_now(struct world *w)
{
    return counted_in(w, "SELECT floor FROM replay");
}

static int64_t last_seq(struct world *w)
{
    return counted_in(w, "SELECT seq FROM node WHERE node_id = 1");
}

/* From the floor on every number is there, once and in order. */
static void replay_check(struct world *w)
{
    int64_t after = floor_now(w) - 1, end = last_seq(w);

    while (after < end) {
        struct command *c = call(w, "event.list", "{'after':%lld,'limit':1000}", (long long)after);
        const struct json *events = json_get(answer_of(c), "events");
        CHECK(events->len > 0);
        for (uint32_t i = 0; i < events->len; i++)
            CHECK_INT(json_int_or(&events->items[i], "seq", 0), ++after);
    }
}

static err version_read(struct world *w, str id, int64_t version)
{
    struct command *c = call(w, "state.read", "{'state_id':'" STR_FMT "','version':%lld}",
                             STR_ARG(id), (long long)version);

    if (c->error)
        return c->error;
    CHECK_INT(json_int_or(json_get(answer_of(c), "current_data"), "n", 0), version);
    return NULL;
}

/* ---- the floor ---- */

TEST_BOTH(the_log_can_be_replayed_from_the_newest_events_on)
{
    struct fixture p = fixture_new(&small);

    for (int i = 0; i < 29; i++)
        passing(p.w);
    p.w->now_ms += 1000;
    CHECK(tick_all(p.w) > 20 / small.rows); /* a few rows at a time */
    CHECK_INT(floor_now(p.w), 21);
    CHECK_INT(log_rows(p.w), 10);
    replay_check(p.w);
    err e = call(p.w, "event.list", "{'after':19}")->error;
    CHECK_ERR(e, ERR_GONE);
    CHECK_STR(e->message, "the log was cut: of the events after 19 the oldest that is left is 21; "
                          "read what you need anew and go on from there");
    CHECK_STR(e->members, "\"oldest\":21");
    CHECK_ERR(call(p.w, "event.list", "{}")->error, ERR_GONE);
    CHECK_OK(call(p.w, "event.list", "{'after':20}")->error);
    fixture_free(&p);
}

TEST_BOTH(young_events_stay_however_many_there_are)
{
    struct fixture p = fixture_new(&small);

    for (int i = 0; i < 29; i++) {
        passing(p.w);
        p.w->now_ms += 50;
    }
    tick_all(p.w); /* it is 1,450 ms after the first, and 450 ms after number 11 */
    int64_t floor = floor_now(p.w);
    CHECK_INT(floor, 12);
    replay_check(p.w);
    p.w->now_ms += 60000;
    tick_all(p.w);
    CHECK_INT(floor_now(p.w), 21);
    fixture_free(&p);
}

TEST_BOTH(a_minute_later_the_floor_moves_again)
{
    struct fixture p = fixture_new(&small);

    tick_all(p.w);
    for (int i = 0; i < 20; i++)
        passing(p.w);
    p.w->now_ms += 59999;
    CHECK(!tick(p.w));
    CHECK_INT(floor_now(p.w), 1);
    p.w->now_ms++;
    tick_all(p.w);
    CHECK_INT(floor_now(p.w), 12);
    fixture_free(&p);
}

/* ---- history ---- */

TEST_BOTH(history_stays_below_the_floor)
{
    struct fixture p = fixture_new(&small);
    str id = made(p.w);

    for (int v = 2; v <= 15; v++) {
        written(p.w, id, v);
        passing(p.w);
    }
    for (int i = 0; i < 20; i++)
        passing(p.w);
    p.w->now_ms += 1000;
    tick_all(p.w);
    CHECK_INT(floor_now(p.w), last_seq(p.w) - 9);
    for (int v = 1; v <= 15; v++)
        CHECK_OK(version_read(p.w, id, v));
    CHECK_INT(log_rows(p.w), 15 + 10);
    replay_check(p.w);
    fixture_free(&p);
}

TEST_BOTH(a_deleted_state_is_gone_from_the_log_when_its_time_is_up)
{
    struct fixture p = fixture_new(&small);
    str id = made(p.w), other = made(p.w);

    for (int v = 2; v <= 40; v++)
        written(p.w, id, v);
    written(p.w, other, 2);
    deleted(p.w, id);
    for (int i = 0; i < 10; i++)
        passing(p.w);
    p.w->now_ms += 2000;
    tick_all(p.w);
    CHECK_INT(floor_now(p.w), last_seq(p.w) - 9);
    CHECK(log_rows(p.w) > 40); /* still in its day of grace */
    p.w->now_ms += DAY_MS;
    CHECK(tick_all(p.w) > 40 / small.rows);
    CHECK_INT(log_rows(p.w), 10 + 2);
    CHECK_OK(version_read(p.w, other, 1));
    replay_check(p.w);
    fixture_free(&p);
}

/* What can still be replayed outlives the purge, and goes when the floor has passed it. */
TEST_BOTH(a_purge_leaves_what_can_still_be_replayed)
{
    struct fixture p = fixture_new(&small);
    str id = made(p.w);

    for (int v = 2; v <= 20; v++)
        written(p.w, id, v);
    deleted(p.w, id);
    p.w->now_ms += DAY_MS;
    tick_all(p.w);
    replay_check(p.w);
    CHECK_INT(log_rows(p.w), 10);
    for (int i = 0; i < 10; i++)
        passing(p.w);
    p.w->now_ms += 60000;
    tick_all(p.w);
    CHECK_INT(log_rows(p.w), 10);
    CHECK_INT(counted_in(p.w, "SELECT count(*) FROM log WHERE version > 0"), 0);
    fixture_free(&p);
}

/* Of 61 versions the newest 20 and a few more stay, and each fifth of the others. */
static void compacted_check(struct world *w, str id, int64_t newest, const struct retention *r)
{
    int64_t cut = (newest - r->versions) / r->versions_step * r->versions_step;

    for (int64_t v = 1; v <= newest; v++) {
        if (v >= cut || v % r->versions_step == 0)
            CHECK_OK(version_read(w, id, v));
        else
            CHECK_ERR(version_read(w, id, v), ERR_GONE);
    }
}

TEST_BOTH(old_versions_are_compacted_to_every_so_many)
{
    struct fixture p = fixture_new(&small);
    str id = made(p.w);

    for (int v = 2; v <= 61; v++)
        written(p.w, id, v);
    for (int i = 0; i < 10; i++)
        passing(p.w);
    p.w->now_ms += 1000;
    tick_all(p.w);
    p.w->now_ms += 3600 * 1000; /* what could be replayed held it up */
    tick_all(p.w);
    compacted_check(p.w, id, 61, &small);
    CHECK_INT(log_rows(p.w), 22 + 7 + 10); /* 40 … 61, 5 … 35 */
    replay_check(p.w);
    fixture_free(&p);
}

/* Each write that passes a step has the row replaced that waits: nothing may be forgotten by it. */
TEST_BOTH(compaction_makes_up_for_what_it_missed)
{
    struct fixture p = fixture_new(&small);
    str id = made(p.w);

    for (int v = 2; v <= 100; v++) {
        written(p.w, id, v);
        if (v % 13 == 0)
            tick(p.w);
        p.w->now_ms += 200;
    }
    for (int hours = 0; hours < 3; hours++) {
        p.w->now_ms += 3600 * 1000;
        passing(p.w);
        tick_all(p.w);
    }
    compacted_check(p.w, id, 100, &small);
    replay_check(p.w);
    fixture_free(&p);
}

/* The real numbers: 10,000 versions whole, and each 1,000th before them. */
TEST_LIMIT(a_long_history_is_compacted_a_thousand_rows_at_a_time, 60)
{
    struct retention r = retention_default;
    struct command *batch[100];

    r.events = 10;
    r.events_ms = 1000;
    struct fixture p = fixture_new(&r);
    str id = made(p.w);
    for (int v = 2; v <= 12050; v += 100) {
        for (int i = 0; i < 100; i++)
            batch[i] = world_command(p.w, "state.patch",
                                     arena_printf(check_arena(),
                                                  "{'state_id':'" STR_FMT
                                                  "','operations':[{'op':'replace',"
                                                  "'path':'/n','value':%d}]}",
                                                  STR_ARG(id), v + i)
                                         .at,
                                     "");
        op_perform(&p.w->engine, batch, 100);
        CHECK_OK(batch[99]->error);
    }
    int64_t newest = 12101, before = log_rows(p.w);
    for (int hours = 0; hours < 2; hours++) {
        p.w->now_ms += 3600 * 1000;
        tick_all(p.w);
    }
    CHECK_INT(before - log_rows(p.w), 1 + 999 + 999); /* the schema's event went as well */
    static const int64_t kept[] = { 1000, 2000, 2001, 2345, 12101 };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        CHECK_OK(version_read(p.w, id, kept[i]));
    static const int64_t gone[] = { 1, 999, 1001, 1999 };
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        CHECK_ERR(version_read(p.w, id, gone[i]), ERR_GONE);
    CHECK_OK(version_read(p.w, id, newest));
    replay_check(p.w);
    fixture_free(&p);
}

/* ---- keys ---- */

TEST_BOTH(keys_are_forgotten_when_they_are_old)
{
    struct fixture p = fixture_new(&small);
    str id = made(p.w);
    str patch = arena_printf(check_arena(),
                             "{'state_id':'" STR_FMT "','operations':[{'op':'replace','path':'/n',"
                             "'value':2}]}",
                             STR_ARG(id));

    tick_all(p.w);
    for (int i = 0; i < 20; i++)
        CHECK_OK(
            world_call(p.w, "state.patch", patch.at, arena_printf(check_arena(), "key%d", i).at)
                ->error);
    p.w->now_ms += 3600 * 1000 - 1000;
    CHECK_OK(world_call(p.w, "state.patch", patch.at, "young")->error);
    p.w->now_ms += 1000;
    CHECK(tick_all(p.w) > 20 / small.rows);
    CHECK_INT(counted_in(p.w, "SELECT count(*) FROM idempotency"), 1);
    CHECK(world_call(p.w, "state.patch", patch.at, "young")->repeated);
    CHECK(!world_call(p.w, "state.patch", patch.at, "key3")->repeated);
    fixture_free(&p);
}

/* ---- all of it, at random and under faults ---- */

enum { STATES = 4 };

struct life {
    str id;
    int64_t version; /* 0: there is none */
};

static void live(struct fixture *p, struct random *r, struct life lives[STATES])
{
    struct life *l = &lives[random_below(r, STATES)];

    switch (random_below(r, 12)) {
    case 0:
        if (l->version) {
            deleted(p->w, l->id);
            l->version = 0;
        }
        break;
    case 1: p->w->now_ms += random_below(r, 3) ? 700 : DAY_MS / 2; break;
    case 2: passing(p->w); break;
    case 3:
    case 4: tick(p->w); break;
    default:
        if (l->version) {
            written(p->w, l->id, ++l->version);
        } else {
            l->id = made(p->w);
            l->version = 1;
        }
    }
}

static void lives_check(struct fixture *p, const struct life lives[STATES])
{
    for (int i = 0; i < STATES; i++) {
        int64_t newest = lives[i].version;
        for (int64_t v = 1; v <= newest; v++) {
            err e = version_read(p->w, lives[i].id, v);
            CHECK(!e ||
                  (e->kind == ERR_GONE && v % small.versions_step && v < newest - small.versions));
        }
    }
    replay_check(p->w);
}

/* Whatever the order in which things are let go, what is promised is there all the time; and when
 * nothing is left, no row is left behind. */
TEST_BOTH_LIMIT(random_lives_leave_nothing_behind, 60)
{
    struct random r = random_start();
    struct fixture p = fixture_new(&small);
    struct life lives[STATES] = { 0 };

    for (int i = 0; i < 1500; i++) {
        live(&p, &r, lives);
        if (i % 50 == 0)
            lives_check(&p, lives);
    }
    lives_check(&p, lives);
    for (int i = 0; i < STATES; i++)
        if (lives[i].version)
            deleted(p.w, lives[i].id);
    for (int i = 0; i < 10; i++)
        passing(p.w);
    for (int days = 0; days < 3; days++) {
        p.w->now_ms += DAY_MS;
        tick_all(p.w);
    }
    CHECK_INT(log_rows(p.w), 10);
    CHECK_INT(counted_in(p.w, "SELECT count(*) FROM due"), 2);
    fixture_free(&p);
}

/* A firing is wholly done or not at all, whichever call fails. */
TEST_BOTH_LIMIT(retention_survives_every_fault, 60)
{
    static const enum fault_kind kinds[] = { FAULT_CALL, FAULT_DEATH, FAULT_COMMIT };
    int faults = 0;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (uint64_t nth = 1;; nth += both_listens() ? 37 : 3) {
            struct fixture p = fixture_new(&small);
            str id = made(p.w), other = made(p.w);
            for (int v = 2; v <= 32; v++)
                written(p.w, id, v);
            written(p.w, other, 2);
            deleted(p.w, other);
            for (int i = 0; i < 10; i++)
                passing(p.w);
            p.w->now_ms += DAY_MS;
            p.w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
            p.w->fault = (struct fault){ kinds[k], nth, 0, 0, false };
            for (int i = 0; i < 30; i++)
                world_call(p.w, "system.tick", "{}", "");
            bool fired = p.w->fault.fired;
            p.w->fault.kind = FAULT_NONE;
            p.w->actor = the_operator;
            tick_all(p.w);
            p.w->now_ms += 3600 * 1000;
            tick_all(p.w);
            compacted_check(p.w, id, 32, &small);
            CHECK_INT(log_rows(p.w), 10 + 23 + 1); /* 10 … 32, and 5 */
            replay_check(p.w);
            fixture_free(&p);
            if (!fired)
                break;
            faults++;
        }
    }
    check_note("%d faults", faults);
    CHECK(faults > (both_listens() ? 10 : 30));
}
