/* approval_random_test.c: whatever happens in whatever order, no step counts as done that was not proven, and
 * none behind an approval begins that no person has given for what was shown.
 *
 * Only what operations answer is looked at. Each workflow is a few steps; reports, findings, decisions,
 * late ones of each, pauses, going back and time come by chance. */
#include "checks.h"
#include "random.h"
#include "sim/crash_points.h"
#include "sim/rows.h"
#include "sim/swarm.h"
#include "sim/vfs.h"
#include "workflow_help.h"

#ifdef __SANITIZE_ADDRESS__
enum { RUNS = 6, RUNS_CRASH = 1 };
#else
enum { RUNS = 40, RUNS_CRASH = 4 };
#endif
enum { EVENTS = 100, STEPS_MAX = 5, KEYS_MAX = 3, SEEN_MAX = 200, CHECKS_MAX = 200 };

/* A step: what it comes after, and which files are looked for before it is done. */
struct planned {
    const char *id, *after[2];
    const char *keys[KEYS_MAX];
    bool approval, approves_late, loop;
};

struct plan {
    const char *definition;
    struct planned steps[STEPS_MAX];
};

// clang-format off
static const struct plan plans[] = {
    { "{'workflow':'w','steps':[{'id':'a','outputs':['n'],'evidence':[{'file':'=\\\"a\\\"'}],'retry':{'max_attempts':9}},"
      "{'id':'b','after':['a'],'outputs':['n'],'approval':{'on_reject':'a'}},"
      "{'id':'c','after':['b'],'evidence':[{'file':'=\\\"c\\\"'}],'approval':{'deadline':'10m','default':'approve'},"
      "'retry':{'max_attempts':9}},{'id':'d','after':['c']}]}",
      { { .id = "a", .keys = { "a" } },
        { .id = "b", .after = { "a" }, .approval = true },
        { .id = "c", .after = { "b" }, .keys = { "c" }, .approval = true, .approves_late = true },
        { .id = "d", .after = { "c" } } } },
    { "{'workflow':'w','steps':[{'id':'a','approval':{'deadline':'5m','default':'reject','on_reject':'a'}},"
      "{'id':'b','after':['a'],'for_each':[0,1],'evidence':[{'file':'=\\\"b\\\" + string(item)'}],'approval':true,"
      "'retry':{'max_attempts':9}},{'id':'c','after':['a'],'evidence':[{'file':'=\\\"c\\\"'}],'triggers_retry':'a'},"
      "{'id':'d','after':['b','c'],'approval':{'type':'select_variant','options':['x','y']}}],"
      "'defaults':{'retry':{'max_attempts':3}}}",
      { { .id = "a", .approval = true },
        { .id = "b", .after = { "a" }, .keys = { "b0", "b1" }, .approval = true, .loop = true },
        { .id = "c", .after = { "a" }, .keys = { "c" } },
        { .id = "d", .after = { "b", "c" }, .approval = true } } },
    { "{'workflow':'w','on_fail':'incident','steps':[{'id':'a','evidence':[{'file':'=\\\"a\\\"'}]},"
      "{'id':'b','evidence':[{'file':'=\\\"b\\\"'}],'approval':{'show':['n']}},"
      "{'id':'c','after':['a','b'],'approval':true}]}",
      { { .id = "a", .keys = { "a" } },
        { .id = "b", .keys = { "b" }, .approval = true },
        { .id = "c", .after = { "a", "b" }, .approval = true } } },
};
// clang-format on

struct question {
    str id, step, digest, status, content;
};

struct game {
    struct world *w;
    const struct plan *plan;
    uint64_t seed, chance;
    str id, runner;
    struct {
        str key;
        bool good; /* that is what a runner has found since it was last reported */
    } keys[STEPS_MAX * KEYS_MAX];
    size_t key_count;
    struct question questions[SEEN_MAX]; /* in the order in which they were first seen */
    size_t question_count;
    struct check checks[CHECKS_MAX]; /* that were claimed, the old ones too */
    size_t check_count;

    unsigned decisions, proofs; /* that counted */

    /* The power goes within its commands. */
    struct vfs *disk;
    bool crashes;
    struct random dice;
    struct crash_points moments;
    unsigned char before[SHA256_BYTES];
    unsigned points;

    /* Of the present event. */
    str decided, decision; /* which approval was, and how */
    bool time_passes;
};

/* With the seed, so that the run can be had again: BATON_FLOW_SEED=…. */
#define game_fail(g, format, ...) \
    check_fail(__FILE__, __LINE__, "seed %llu: " format, (unsigned long long)(g)->seed, __VA_ARGS__)

static uint32_t below(struct game *g, uint32_t n)
{
    return (uint32_t)(random_draw(&g->chance) % n);
}

/* ---- the power goes ---- */

/* At moments of the one command between these two: what is there then is what was before it, or what is after
 * it, and nothing between. */
static void watch(struct game *g)
{
    if (!g->crashes)
        return;
    g->moments = (struct crash_points){ .count = 0 };
    rows_digest(g->w->engine.sql, g->before);
    crash_points_begin(&g->moments, g->disk);
}

static void watched(struct game *g)
{
    enum { POINTS = 4 };
    unsigned char after[SHA256_BYTES];

    if (!g->crashes)
        return;
    crash_points_end(&g->moments);
    rows_digest(g->w->engine.sql, after);
    g->points += crash_points_check(&g->moments, &g->dice, POINTS, g->before, after);
    crash_points_drop(&g->moments);
}

/* ---- what is believed ---- */

static bool *key_good(struct game *g, str key)
{
    for (size_t i = 0; i < g->key_count; i++)
        if (str_eq(g->keys[i].key, key))
            return &g->keys[i].good;
    g->keys[g->key_count].key = key;
    return &g->keys[g->key_count++].good;
}

static const struct json *whole(struct game *g)
{
    return answer_of(call(g->w, "execution.get", "{'execution_id':'" STR_FMT "'}", STR_ARG(g->id)));
}

static const struct json *steps(struct game *g)
{
    return json_get(answer_of(call(g->w, "execution.steps", "{'execution_id':'" STR_FMT "'}",
                                   STR_ARG(g->id))),
                    "steps");
}

static str status_of(struct game *g, const struct json *all, const char *step)
{
    for (uint32_t i = 0; i < all->len; i++)
        if (str_eq(json_str(&all->items[i], "step"), str_from(step)))
            return json_str(&all->items[i], "status");
    game_fail(g, "there is no step %s", step);
    return STR("");
}

static bool is(str status, const char *what)
{
    return str_eq(status, str_from(what));
}

/* ---- what must be so ---- */

/* Questions are answered once, by those who may, with what they have said. */
static void question_check(struct game *g, struct question *q, str now)
{
    bool expired = is(now, "expired"), withdrawn = is(now, "withdrawn");

    if (str_eq(q->status, now))
        return;
    if (!is(q->status, "waiting") ||
        (!withdrawn && expired
             ? !g->time_passes
             : !withdrawn && (!str_eq(g->decided, q->id) || !str_eq(g->decision, now))))
        check_fail(__FILE__, __LINE__, STR_FMT " was " STR_FMT " and is " STR_FMT, STR_ARG(q->id),
                   STR_ARG(q->status), STR_ARG(now));
    q->status = arena_copy(check_arena(), now);
}

static void questions_check(struct game *g)
{
    const struct json *all =
        json_get(answer_of(call(g->w, "approval.list", "{'limit':500,'execution':'" STR_FMT "'}",
                                STR_ARG(g->id))),
                 "approvals");

    for (uint32_t i = 0; i < all->len; i++) {
        const struct json *one = &all->items[i];
        size_t k = 0;
        while (k < g->question_count && !str_eq(g->questions[k].id, json_str(one, "approval_id")))
            k++;
        CHECK(k < SEEN_MAX);
        if (k == g->question_count)
            g->questions[g->question_count++] = (struct question){
                .id = json_str(one, "approval_id"),
                .step = json_str(one, "step"),
                .digest = json_str(one, "digest"),
                .status = STR("waiting"),
                .content = json_printed(check_arena(), json_get(one, "content")),
            };
        question_check(g, &g->questions[k], json_str(one, "status"));
    }
}

/* The last question of a step. */
static const struct question *question_of(const struct game *g, const char *step)
{
    const struct question *found = NULL;

    for (size_t i = 0; i < g->question_count; i++)
        if (str_eq(g->questions[i].step, str_from(step)) &&
            !is(g->questions[i].status, "withdrawn"))
            found = &g->questions[i];
    return found;
}

static void step_check(struct game *g, const struct planned *s, const struct json *all)
{
    str status = status_of(g, all, s->id);
    bool done = is(status, "completed"), asked = is(status, "waiting_approval");

    for (size_t i = 0; i < 2 && s->after[i]; i++)
        if (!is(status, "pending") && !is(status_of(g, all, s->after[i]), "completed"))
            game_fail(g, "%s is " STR_FMT " before %s is done", s->id, STR_ARG(status),
                      s->after[i]);
    for (size_t i = 0; i < KEYS_MAX && s->keys[i]; i++)
        if ((done || asked) && !*key_good(g, str_from(s->keys[i])))
            game_fail(g, "%s is " STR_FMT ", and %s was not proven", s->id, STR_ARG(status),
                      s->keys[i]);
    if (!s->approval || (!done && !asked))
        return;
    const struct question *q = question_of(g, s->id);
    if (!q || (asked && !is(q->status, "waiting")) ||
        (done && !is(q->status, "approved") && !(s->approves_late && is(q->status, "expired"))))
        game_fail(g, "%s is " STR_FMT ", and its approval is " STR_FMT, s->id, STR_ARG(status),
                  STR_ARG(q ? q->status : STR("not there")));
}

static void game_check(struct game *g)
{
    const struct json *all;

    questions_check(g);
    all = steps(g);
    for (size_t i = 0; i < STEPS_MAX && g->plan->steps[i].id; i++)
        step_check(g, &g->plan->steps[i], all);
}

/* ---- what happens ---- */

/* One that is at work, mostly. */
static const struct planned *step_drawn(struct game *g)
{
    const struct json *all = steps(g);
    const struct planned *drawn = NULL;
    uint32_t seen = 0;

    if (below(g, 6) == 0)
        return &g->plan->steps[below(g, 3)];
    for (size_t i = 0; i < STEPS_MAX && g->plan->steps[i].id; i++)
        if (is(status_of(g, all, g->plan->steps[i].id), "in_progress") && below(g, ++seen) == 0)
            drawn = &g->plan->steps[i];
    return drawn ? drawn : &g->plan->steps[0];
}

static void report_step(struct game *g)
{
    const struct planned *s = step_drawn(g);
    uint32_t item = below(g, 2);
    bool failed = below(g, 12) == 0;
    str of_item = s->loop ? arena_printf(check_arena(), "'item':%u,", item) : STR(""),
        what = failed ? STR("'failed':true")
                      : arena_printf(check_arena(), "'outputs':{'n':%u}", below(g, 3));

    watch(g);
    struct command *c =
        reported(g->w, g->id, s->id,
                 arena_printf(check_arena(), STR_FMT STR_FMT, STR_ARG(of_item), STR_ARG(what)).at);
    watched(g);
    if (!c->error && !failed && s->keys[0])
        *key_good(g, str_from(s->keys[s->loop ? item : 0])) = false;
}

static str path_of(const struct check *k)
{
    const struct json *input = json_parsed(check_arena(), k->input);

    return json_str(json_at(json_get(input, "checks"), 0), "path");
}

/* The newest check, or one that was answered or stopped long ago. */
static void check_answer(struct game *g)
{
    struct check k = check_claim(g->w, g->runner);
    bool good = below(g, 3) > 0;

    if (k.run_id.len && g->check_count < CHECKS_MAX)
        g->checks[g->check_count++] = k;
    if (!g->check_count)
        return;
    if (!k.run_id.len || below(g, 4) == 0)
        k = g->checks[below(g, (uint32_t)g->check_count)];
    bool wanted =
        is(at(call(g->w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(k.run_id)), "/status"),
           "running");
    if (below(g, 8) == 0) {
        check_ends(g->w, &k, "completed", ",'exit_code':0,'result':'nothing'");
        return;
    }
    watch(g);
    struct command *c =
        check_says(g->w, &k, good,
                   good ? GOOD_FILE : "{'kind':'file','ok':false,'what':'f','found':'none'}");
    watched(g);
    if (wanted && good && !c->error) {
        *key_good(g, path_of(&k)) = true;
        g->proofs++;
    }
}

/* The newest question, mostly. */
static const struct question *question_drawn(struct game *g)
{
    uint32_t back = below(g, 4) ? 0 : below(g, (uint32_t)g->question_count);

    return &g->questions[g->question_count - 1 - back];
}

static void decide(struct game *g)
{
    static const char *const decisions[] = { "approve", "approve", "approve", "reject", "rework" };
    static const char *const becomes[] = { "approved", "approved", "approved", "rejected",
                                           "rework" };
    uint32_t how = below(g, 5);

    if (!g->question_count)
        return;
    const struct question *q = question_drawn(g), *other = question_drawn(g);
    bool named = below(g, 2), waits = is(q->status, "waiting");
    bool stale = named && !str_eq(other->digest, q->digest);
    str digest = named ? other->digest : STR("");
    watch(g);
    struct command *c = call(g->w, "approval.decide",
                             "{'approval_id':'" STR_FMT "','decision':'%s','digest':'" STR_FMT
                             "'%s}",
                             STR_ARG(q->id), decisions[how], STR_ARG(digest),
                             how < 3 && is(q->step, "d") ? ",'selected_variant':'x'" : "");
    watched(g);
    if (stale || (!waits && !is(q->status, becomes[how])))
        CHECK_ERR(c->error, ERR_CONFLICT);
    if (!c->error && waits) {
        g->decided = q->id;
        g->decision = str_from(becomes[how]);
        g->decisions++;
    }
}

/* One that runs seldom goes back; one that has ended always does, so that more happens. */
static void go_back(struct game *g)
{
    static const char *const from[] = { "a", "b", "c" };

    if (is(json_str(whole(g), "status"), "RUNNING") && below(g, 6))
        return;
    call(g->w, "execution.resume", "{'execution_id':'" STR_FMT "','from':'%s'}", STR_ARG(g->id),
         from[below(g, 3)]);
}

static void pause_or_not(struct game *g)
{
    bool runs = is(json_str(whole(g), "status"), "RUNNING");

    call(g->w, runs && below(g, 3) == 0 ? "execution.pause" : "execution.resume",
         "{'execution_id':'" STR_FMT "'}", STR_ARG(g->id));
}

static void help(struct game *g)
{
    const struct json *open = json_get(whole(g), "open_incidents");

    if (open->len)
        call(g->w, "inbox.decide", "{'id':'" STR_FMT "','decision':'retry'}",
             STR_ARG(json_str(&open->items[0], "incident_id")));
}

static void pass(struct game *g)
{
    static const int64_t ms[] = { 1, 1000, 70000, 301000, 601000 };

    g->time_passes = true;
    world_pass(g->w, ms[below(g, 5)]);
}

static void cancel(struct game *g)
{
    if (below(g, 10) == 0)
        call(g->w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(g->id));
}

/* What brings it further, where something does. */
static void go_on(struct game *g)
{
    const struct json *e = whole(g);

    if (!is(json_str(e, "status"), "RUNNING"))
        go_back(g);
    else if (json_get(e, "open_incidents")->len)
        help(g);
    else if (json_get(e, "open_approvals")->len && below(g, 2))
        decide(g);
    else if (below(g, 2))
        check_answer(g);
    else
        report_step(g);
}

static void (*const events[])(struct game *g) = {
    report_step, check_answer, decide, pause_or_not, go_back, pass, pass, cancel,
};

static void game_play(struct game *g, uint64_t seed, bool crashes)
{
    struct vfs *disk = vfs_new(seed, 4096);

    *g = (struct game){
        .seed = seed, .chance = seed, .dice = { seed }, .disk = disk, .crashes = crashes
    };
    CHECK_OK(world_open("baton.db", vfs_name(disk), &g->w));
    g->w->actor = the_operator;
    g->plan = &plans[below(g, sizeof plans / sizeof *plans)];
    g->w->team.execution_moves = below(g, 2) ? 1 : 256;
    g->runner = runner_new(g->w);
    deploy(g->w, g->plan->definition);
    g->id = begin(g->w, "w", "");
    for (int i = 0; i < EVENTS; i++) {
        g->decided = g->decision = STR("");
        g->time_passes = g->w->team.execution_moves == 1;
        if (below(g, 3))
            go_on(g);
        else
            events[below(g, sizeof events / sizeof *events)](g);
        if (g->time_passes)
            world_pass(g->w, 1);
        game_check(g);
    }
    world_audit(g->w);
    world_close(g->w);
    vfs_free(disk);
}

TEST_LIMIT(random_steps_are_done_when_they_are_proven_and_approved, 120)
{
    uint64_t one = swarm_setting("BATON_FLOW_SEED", 0), seed = swarm_setting("BATON_SEED", 1);
    struct game *g = ARENA_NEW(check_arena(), struct game);
    unsigned decisions = 0, proofs = 0;

    for (uint64_t i = 0; i < (one ? 1 : RUNS); i++) {
        game_play(g, one ? one : seed + i, false);
        decisions += g->decisions;
        proofs += g->proofs;
    }
    check_note("%u decisions and %u proofs that counted", decisions, proofs);
    CHECK(one || (decisions > 2 * RUNS && proofs > RUNS));
}

TEST_LIMIT(random_steps_are_decided_wholly_or_not_at_all_over_a_crash, 120)
{
    uint64_t one = swarm_setting("BATON_FLOW_SEED", 0), seed = swarm_setting("BATON_SEED", 1);
    struct game *g = ARENA_NEW(check_arena(), struct game);
    unsigned points = 0;

    for (uint64_t i = 0; i < (one ? 1 : RUNS_CRASH); i++) {
        game_play(g, one ? one : seed + i, true);
        points += g->points;
    }
    check_note("%u crash points", points);
    CHECK(points > RUNS_CRASH);
}
