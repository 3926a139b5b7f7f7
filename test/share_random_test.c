/* share_random_test.c: agents that misbehave, in executions that people pause, cancel and have done anew.
 *
 * What must hold whatever they do: nobody works twice for the same share at once, who brings results
 * together has them all, each attempt is one that the definition allows, and all of it ends. */
#include "random.h"
#include "share_help.h"
#include "sim/swarm.h"

#define CREW                                                                                   \
    "{'workflow':'crew','steps':["                                                             \
    "{'id':'plan','agent':'a','outputs':['plan'],'timeout':'20s','retry':{'max_attempts':3}}," \
    "{'id':'many','after':['plan'],'agent':'b','parallel_agents':3,'outputs':['many'],"        \
    "'retry':{'max_attempts':3,'backoff':'1s'}},"                                              \
    "{'id':'turns','after':['plan'],'agents':['a','b'],'outputs':['turns'],"                   \
    "'retry':{'max_attempts':3}},"                                                             \
    "{'id':'each','after':['plan'],'for_each':'=[1,2,3]','agent':'b','outputs':['each'],"      \
    "'retry':{'max_attempts':3}},"                                                             \
    "{'id':'last','after':['many','turns','each'],'agent':'a','triggers_retry':'many'}]}"

enum { EXECUTIONS = 3, HELD_MAX = 40, ACTIONS = 250 };

struct play {
    struct world *w;
    struct fake_runner m[2];
    str ids[EXECUTIONS];
    struct turn held[HELD_MAX];
    size_t held_count;
    uint64_t r;
    int records, ends, refusals;
};

static size_t draw_below(uint64_t *r, size_t n)
{
    return (size_t)(random_draw(r) % n);
}

static const struct json *task_of(struct world *w, const struct turn *t)
{
    return answer_of(call(w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(t->claim.run_id)));
}

/* A share is somebody's from its session's beginning until that has settled. */
static void one_at_a_time(struct play *p)
{
    const struct json *all = json_get(answer_of(call(p->w, "run.list", "{'limit':500}")), "runs");

    for (uint32_t i = 0; i < all->len; i++)
        for (uint32_t k = i + 1; k < all->len; k++) {
            const struct json *a = &all->items[i], *b = &all->items[k];
            const struct json *x = json_get(a, "metadata"), *y = json_get(b, "metadata");
            bool both = str_eq(json_str(a, "purpose"), STR("task")) &&
                        str_eq(json_str(b, "purpose"), STR("task")) &&
                        !str_eq(json_str(a, "session_id"), json_str(b, "session_id"));
            bool live = both && !json_get(a, "ended_at")->len && !json_get(b, "ended_at")->len &&
                        str_eq(json_str(a, "status"), STR("running")) &&
                        str_eq(json_str(b, "status"), STR("running"));
            if (!live || !str_eq(json_str(x, "workflow_id"), json_str(y, "workflow_id")) ||
                !str_eq(json_str(x, "step"), json_str(y, "step")) ||
                json_int_or(x, "item", -1) != json_int_or(y, "item", -1) ||
                json_int_or(x, "share", 0) != json_int_or(y, "share", 0))
                continue;
            check_fail(__FILE__, __LINE__, "two sessions work for step " STR_FMT " of " STR_FMT,
                       STR_ARG(json_str(x, "step")), STR_ARG(json_str(x, "workflow_id")));
        }
}

/* Who brings results together is given all three. */
static void gathers_all(const struct turn *t)
{
    size_t found = 0;

    if (!str_contains(t->prompt, STR("Bring their results together")))
        return;
    for (size_t i = 0; i + 17 < t->prompt.len; i++)
        found += memcmp(t->prompt.at + i, "Recorded by agent", 17) == 0;
    CHECK_INT(found, 3);
}

static void take(struct play *p)
{
    const struct fake_runner *m = &p->m[draw_below(&p->r, 2)];

    if (p->held_count == HELD_MAX)
        return;
    struct turn t = turn_next(p->w, m);
    if (!t.claim.run_id.len)
        return;
    gathers_all(&t);
    p->held[p->held_count++] = t;
}

static struct command *record(struct play *p, const struct turn *t, bool good)
{
    const struct json *task = json_get(task_of(p->w, t), "metadata");
    str id = json_str(task, "workflow_id"), step = json_str(task, "step");
    const char *more =
        good ? arena_printf(check_arena(), ",'outputs':{'" STR_FMT "':1}", STR_ARG(step)).at
             : ",'failed':true,'error':'it is broken'";

    if (!id.len || str_eq(t->purpose, STR("state_update"))) {
        id = p->ids[0]; /* it says what comes to its mind */
        step = STR("plan");
    }
    return records(p->w, t, id, arena_copy(check_arena(), step).at, more);
}

/* Whatever it does then is a report of its runner, which may come too late. */
static void act(struct play *p)
{
    static const char *const ends[] = { "completed", "completed", "failed", "stopped" };
    size_t i = p->held_count ? draw_below(&p->r, p->held_count) : 0;
    struct turn *t = &p->held[i];
    str token;

    if (!p->held_count)
        return;
    token = token_error(p->w, t->claim.token);
    if (!token.len && draw_below(&p->r, 3)) {
        struct command *c = record(p, t, draw_below(&p->r, 4));
        p->records += !c->error;
        p->refusals += c->error != NULL;
        CHECK(!c->error || c->error->kind == ERR_CONFLICT || c->error->kind == ERR_UNFIT ||
              c->error->kind == ERR_NOT_FOUND || c->error->kind == ERR_FORBIDDEN);
    }
    if (draw_below(&p->r, 3) == 0)
        return;
    struct command *c =
        report(p->w, &t->runner, &t->claim, ends[draw_below(&p->r, 4)], ",'client_id':'c'");
    if (c->error)
        CHECK_ERR(c->error, ERR_CONFLICT);
    p->ends += !c->error;
    *t = p->held[--p->held_count];
}

static void person(struct play *p)
{
    static const char *const what[] = {
        "execution.pause",  "execution.resume", "execution.resume",
        "execution.resume", "execution.cancel",
    };
    static const char *const from[] = { "", ",'from':'plan'", ",'from':'many'", ",'from':'last'" };
    size_t k = draw_below(&p->r, 5);
    str id = p->ids[draw_below(&p->r, EXECUTIONS)];

    if (k == 4 && draw_below(&p->r, 4))
        return;
    struct command *c =
        call(p->w, what[k], "{'execution_id':'" STR_FMT "'%s}", STR_ARG(id),
             str_eq(str_from(what[k]), STR("execution.resume")) ? from[draw_below(&p->r, 4)] : "");
    if (c->error)
        CHECK_ERR(c->error, ERR_CONFLICT);
    if (p->held_count && draw_below(&p->r, 8) == 0) {
        str who = p->held[draw_below(&p->r, p->held_count)].session;
        c = call(p->w, "session.stop", "{'session_id':'" STR_FMT "'}", STR_ARG(who));
        CHECK_OK(c->error);
    }
}

/* Everybody does what they should from now on. */
static void end_well(struct play *p)
{
    for (int i = 0; i < EXECUTIONS; i++)
        call(p->w, "execution.resume", "{'execution_id':'" STR_FMT "'}", STR_ARG(p->ids[i]));
    p->held_count = 0;
    for (int round = 0, idle = 0; round < 2000 && idle < 200; round++) {
        pass_alive(p->w, &p->m[0], 500);
        struct turn t = turn_next(p->w, &p->m[0]);
        idle = t.claim.run_id.len ? 0 : idle + 1;
        if (!t.claim.run_id.len)
            continue;
        gathers_all(&t);
        record(p, &t, true);
        report(p->w, &t.runner, &t.claim, "completed", "");
    }
    for (int i = 0; i < EXECUTIONS; i++) {
        str status = seen(p->w, p->ids[i], "/status");
        if (str_eq(status, STR("RUNNING")) || str_eq(status, STR("PAUSED")))
            check_fail(__FILE__, __LINE__, "execution " STR_FMT " has not ended: " STR_FMT,
                       STR_ARG(p->ids[i]), STR_ARG(seen(p->w, p->ids[i], "/tokens")));
    }
}

/* No attempt beyond what the definition allows, but for those that did not count. */
static void attempts_are_counted(struct play *p)
{
    for (int i = 0; i < EXECUTIONS; i++)
        for (int k = 0; k < 5; k++) {
            str history = kept(p->w, p->ids[i], arena_printf(check_arena(), "/steps/%d", k).at);
            const struct json *step = json_parsed(check_arena(), history),
                              *all = json_get(step, "history");
            int64_t counted[4] = { 0 };
            for (uint32_t n = 0; json_is(all, JSON_ARRAY) && n < all->len; n++) {
                str outcome = json_str(&all->items[n], "outcome");
                int64_t item = json_int_or(&all->items[n], "item", -1);
                if (str_eq(outcome, STR("reopened")))
                    memset(counted, 0, sizeof counted);
                else if (!str_eq(outcome, STR("lost")))
                    CHECK(++counted[item + 1] <= 3);
            }
        }
}

static void play(uint64_t seed, struct play *p)
{
    *p = (struct play){ .w = world_new() };
    p->r = seed;
    p->m[0] = fake_runner_new(p->w, "one", ",'capacity':100");
    p->m[1] = fake_runner_new(p->w, "two", ",'capacity':100");
    agent(p->w, "a");
    agent(p->w, "b");
    deploy(p->w, CREW);
    for (int i = 0; i < EXECUTIONS; i++)
        p->ids[i] = begin(p->w, "crew", "");
    for (int i = 0; i < ACTIONS; i++) {
        size_t what = draw_below(&p->r, 10);
        if (what < 4)
            take(p);
        else if (what < 8)
            act(p);
        else if (what < 9)
            person(p);
        else if (draw_below(&p->r, 2))
            pass_alive(p->w, &p->m[0], 900);
        else
            world_pass(p->w, 900);
        if (i % 10 == 0) {
            one_at_a_time(p);
            world_audit(p->w);
        }
    }
    end_well(p);
    attempts_are_counted(p);
    world_end(p->w);
}

TEST_LIMIT(random_agents_misbehave_and_each_step_is_done_once, 120)
{
    enum { ROUNDS = 6 };
    uint64_t seed = swarm_setting("BATON_SEED", 1);
    int records = 0, refusals = 0, ends = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct play p;
        play(seed + (uint64_t)i, &p);
        records += p.records;
        refusals += p.refusals;
        ends += p.ends;
    }
    check_note("seed %llu: %d records, %d refused, %d turns ended", (unsigned long long)seed,
               records, refusals, ends);
    CHECK(records > 50 && ends > 100);
}
