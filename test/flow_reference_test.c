/* flow_reference_test.c: the reference itself. What each small definition does was written out by hand from the
 * design, before it was run. */
#include "reference_help.h"
#include "sim/flow_random.h"

/* ---- steps, one after the other and beside each other ---- */

TEST(flow_reference_goes_along_a_chain)
{
    struct play p = play("{'steps':[{'id':'a','job':'t'},{'id':'b','after':'a'}]}");

    TRACED(&p, "start entered 1, a entered 1, a started 1");
    done(&p, "a");
    TRACED(&p, "a completed 1, b entered 1, b started 1");
    CHECK(!reference_report(p.r, 2, OUTCOME_OK, NULL));
    report(&p, "b", -1, OUTCOME_OK, "{'x':1}");
    TRACED(&p, "b completed 1, end entered 1, end ended 1");
    CHECK_STR(STATUS(&p), "COMPLETED");
    CHECK_STR(json_shown(p.arena, reference_result(p.r)), "{'x':1}");
    CHECK(!reference_report(p.r, 1, OUTCOME_OK, NULL));
}

static const char diamond[] = "{'steps':[{'id':'a'},{'id':'b','after':'a'},{'id':'c','after':'a'},"
                              "{'id':'d','after':['b','c']}]}";

TEST(flow_reference_joins_a_diamond_with_the_lowest_mark)
{
    struct play p = play(diamond);

    TRACED(&p, "start entered 1, a entered 1, a started 1");
    done(&p, "a");
    TRACED(&p, "a completed 1, b entered 1, b started 1, c entered 2, c started 2");
    done(&p, "c");
    TRACED(&p, "c completed 2, d#ready entered 2");
    CHECK_INT(waits(&p, WAIT_JOIN, "d#ready", -1), 2);
    done(&p, "b");
    TRACED(&p, "b completed 1, d#ready entered 1, d#ready joined 1, d entered 1, d started 1");
    done(&p, "d");
    TRACED(&p, "d completed 1, end entered 1, end ended 1");
    CHECK_STR(STATUS(&p), "COMPLETED");
}

TEST(flow_reference_passes_what_is_skipped)
{
    struct play p = play("{'steps':[{'id':'a'},{'id':'b','after':'a','when':'=x > 1'},"
                         "{'id':'c','after':['a','b']}]}");

    report(&p, "a", -1, OUTCOME_OK, "{'x':1}");
    TRACED(&p,
           "start entered 1, a entered 1, a started 1, a completed 1, b entered 1, b skipped 1, "
           "c#ready entered 2, c#ready entered 1, c#ready joined 1, c entered 1, c started 1");
    CHECK_INT(reference_step(p.r, graph_step_find(p.graph, STR("b"))), REFERENCE_STEP_SKIPPED);
}

TEST(flow_reference_ends_when_the_last_of_several_ends_is_reached)
{
    struct play p = play("{'steps':[{'id':'a'},{'id':'b'}]}");

    TRACED(&p, "start entered 1, a entered 1, a started 1, b entered 2, b started 2");
    done(&p, "a");
    TRACED(&p, "a completed 1, end entered 1, end ended 1");
    CHECK_STR(STATUS(&p), "RUNNING");
    done(&p, "b");
    TRACED(&p, "b completed 2, end entered 2, end ended 2");
    CHECK_STR(STATUS(&p), "COMPLETED");
}

/* ---- gateways ---- */

TEST(flow_reference_takes_the_first_true_flow_or_the_default)
{
    static const char definition[] =
        "{'nodes':[{'id':'s','kind':'start'},{'id':'x','kind':'xor'},{'id':'a','kind':'pass'},"
        "{'id':'b','kind':'pass'},{'id':'c','kind':'pass'}],"
        "'flows':[{'from':'s','to':'x'},{'from':'x','to':'c','default':true},"
        "{'from':'x','to':'a','when':'=v > 1'},{'from':'x','to':'b','when':'=v > 0'}]}";
    struct play two = play_with(definition, "{'v':2}"), one = play_with(definition, "{'v':1}"),
                none = play_with(definition, "{}");

    TRACED(&two, "s entered 1, x entered 1, a entered 1");
    TRACED(&one, "s entered 1, x entered 1, b entered 1");
    TRACED(&none, "s entered 1, x entered 1, c entered 1");
    CHECK_STR(STATUS(&none), "COMPLETED");
}

TEST(flow_reference_rests_at_an_xor_that_leads_nowhere_until_helped)
{
    struct play p = play("{'nodes':[{'id':'s','kind':'start'},{'id':'x','kind':'xor'},"
                         "{'id':'a','kind':'pass'}],"
                         "'flows':[{'from':'s','to':'x'},{'from':'x','to':'a','when':'=v > 1'}]}");

    TRACED(&p, "s entered 1, x entered 1, x incident 1");
    CHECK(reference_retry(p.r, 1, NULL));
    TRACED(&p, "x incident 1");
    struct json values = json_of(p.arena, "{'v':2}");
    CHECK(reference_retry(p.r, 1, &values));
    TRACED(&p, "a entered 1");
    CHECK_STR(STATUS(&p), "COMPLETED");
    CHECK(!reference_retry(p.r, 1, &values));
}

/* All unconditional flows and all that are true; the default is beside the unconditional one here, since
 * no conditional one is true. */
TEST(flow_reference_takes_the_default_when_no_condition_is_true)
{
    static const char definition[] =
        "{'nodes':[{'id':'s','kind':'start'},{'id':'a','kind':'pass'},{'id':'b','kind':'pass'},"
        "{'id':'c','kind':'end'}],"
        "'flows':[{'from':'s','to':'c','default':true},{'from':'s','to':'a'},"
        "{'from':'s','to':'b','when':'=v'}]}";
    struct play no = play_with(definition, "{'v':false}"),
                yes = play_with(definition, "{'v':true}");

    TRACED(&no, "s entered 1, c entered 1, c ended 1, a entered 2");
    TRACED(&yes, "s entered 1, a entered 1, b entered 2");
}

/* Three marks come by one flow, one by the other: the lowest of each go on, the rest stay. */
TEST(flow_reference_joins_one_mark_of_each_flow)
{
    struct play p =
        play("{'nodes':[{'id':'s','kind':'start'},{'id':'m','kind':'pass'},{'id':'w','job':'t'},"
             "{'id':'j','kind':'and'},{'id':'e','kind':'end'}],"
             "'flows':[{'id':'1','from':'s','to':'m'},{'id':'2','from':'s','to':'m'},"
             "{'id':'3','from':'s','to':'w'},{'id':'4','from':'m','to':'j'},"
             "{'id':'5','from':'w','to':'j'},{'id':'6','from':'j','to':'e'}]}");

    TRACED(&p, "s entered 1, m entered 1, m entered 2, w entered 3, w started 3, "
               "j entered 1, j entered 2");
    done(&p, "w");
    TRACED(&p, "w completed 3, j entered 3, j joined 1, e entered 1, e ended 1");
    CHECK_STR(STATUS(&p), "RUNNING");
    CHECK(reference_stalled(p.r));
    CHECK_INT(waits(&p, WAIT_JOIN, "j", -1), 2);
    CHECK(reference_cancel(p.r));
    TRACED(&p, "j cancelled 2");
    CHECK_STR(STATUS(&p), "CANCELLED");
}

/* ---- circles ---- */

TEST(flow_reference_goes_round_until_a_counter_ends_it)
{
    struct play p = play(
        "{'nodes':[{'id':'s','kind':'start'},{'id':'init','set':{'c':0}},{'id':'m','kind':'xor'},"
        "{'id':'add','set':{'c':'=c + 1'}},{'id':'x','kind':'xor'},{'id':'e','kind':'end'}],"
        "'flows':[{'from':'s','to':'init'},{'from':'init','to':'m'},{'from':'m','to':'add'},"
        "{'from':'add','to':'x'},{'from':'x','to':'m','when':'=c < 2'},"
        "{'from':'x','to':'e','default':true}],'result':'=c'}");

    TRACED(&p, "s entered 1, init entered 1, m entered 1, add entered 1, x entered 1, "
               "m entered 1, add entered 1, x entered 1, e entered 1, e ended 1");
    CHECK_STR(json_shown(p.arena, reference_result(p.r)), "2");
}

/* Of 10,000 moves one is the start; of the others every second is at `a`. */
TEST(flow_reference_stops_going_round_for_ever)
{
    struct play p = play("{'nodes':[{'id':'s','kind':'start'},{'id':'a','set':{'c':'=c + 1'}},"
                         "{'id':'b','set':{'d':1}}],"
                         "'flows':[{'from':'s','to':'a'},{'from':'a','to':'b'},"
                         "{'from':'b','to':'a'}]}");
    size_t lines;

    reference_trace(p.r, &lines);
    CHECK_INT(lines, 10001);
    p.seen = lines - 2;
    TRACED(&p, "a entered 1, b incident 1");
    CHECK(!reference_retry(p.r, 1, NULL));
    CHECK(reference_retry(p.r, 0, NULL));
    reference_trace(p.r, &lines);
    CHECK_INT(lines, 20002);
    p.seen = lines - 2;
    TRACED(&p, "a entered 1, b incident 1");
    CHECK_STR(STATUS(&p), "RUNNING");
    CHECK(reference_cancel(p.r));
}

/* ---- loops ---- */

TEST(flow_reference_leaves_an_empty_loop_at_once)
{
    struct play p =
        play("{'steps':[{'id':'a','for_each':[],'outputs':['x']},{'id':'b','after':'a'}]}");

    TRACED(&p, "start entered 1, a entered 1, a opened 1, b entered 1, b started 1");
    CHECK_STR(VARIABLES(&p), "{'x':[]}");
}

TEST(flow_reference_collects_outputs_by_index)
{
    struct play p = play("{'steps':[{'id':'a','for_each':[5,6,7],'outputs':['x']},"
                         "{'id':'b','after':'a'}]}");

    TRACED(&p, "start entered 1, a entered 1, a opened 1, a entered 2, a started 2, "
               "a entered 3, a started 3, a entered 4, a started 4");
    report(&p, "a", 2, OUTCOME_OK, "{'x':'third','y':1}");
    report(&p, "a", 0, OUTCOME_OK, "{'x':'first'}");
    TRACED(&p, "a completed 4, a completed 2");
    CHECK_STR(VARIABLES(&p), "{}");
    report(&p, "a", 1, OUTCOME_OK, "{}");
    TRACED(&p, "a completed 3, a closed 1, b entered 1, b started 1");
    CHECK_STR(VARIABLES(&p), "{'x':['first',null,'third']}");
}

TEST(flow_reference_does_two_items_at_once)
{
    struct play p = play("{'steps':[{'id':'a','for_each':'=list','parallel':2}]}");

    TRACED(&p, "start entered 1, a entered 1, a incident 1");
    struct json values = json_of(p.arena, "{'list':[5,6,7]}");
    CHECK(reference_retry(p.r, 1, &values));
    TRACED(&p, "a entered 1, a opened 1, a entered 2, a started 2, a entered 3, a started 3");
    report(&p, "a", 1, OUTCOME_OK, "{}");
    TRACED(&p, "a completed 3, a entered 4, a started 4");
    report(&p, "a", 0, OUTCOME_OK, "{}");
    TRACED(&p, "a completed 2");
    report(&p, "a", 2, OUTCOME_OK, "{}");
    TRACED(&p, "a completed 4, a closed 1, end entered 1, end ended 1");
}

/* Both items are entered before the body goes on: it is behind them on the agenda. */
TEST(flow_reference_evaluates_a_feel_node_for_each_item)
{
    struct play p = play("{'steps':[{'id':'a','for_each':[5,6,7],'as':'n','parallel':2,"
                         "'set':{'y':'=n * 2','z':'=y + loopCounter'}}]}");

    TRACED(&p, "start entered 1, a entered 1, a opened 1, a entered 2, a completed 2, "
               "a entered 3, a completed 3, a entered 4, a completed 4, a closed 1, "
               "end entered 1, end ended 1");
    CHECK_STR(VARIABLES(&p), "{'y':[10,12,14],'z':[11,14,17]}");
}

TEST(flow_reference_starts_64_instances_in_one_move)
{
    struct play p = play("{'steps':[{'id':'a','for_each':'=for i in 1..130 return i'}]}");
    size_t count;
    const struct reference_line *lines = reference_trace(p.r, &count);

    /* start, a, opened; then for each instance entered and started. */
    CHECK_INT(count, 3 + 2 * 130);
    CHECK_INT(lines[3].n, 2);
    CHECK_INT(lines[count - 1].n, 131);
    for (int i = 129; i >= 0; i--)
        report(&p, "a", i, OUTCOME_OK, "{}");
    CHECK_STR(STATUS(&p), "COMPLETED");
}

/* ---- attempts ---- */

TEST(flow_reference_tries_again_at_once_or_after_a_delay)
{
    struct play p =
        play("{'steps':[{'id':'a','retry':{'max_attempts':2}},{'id':'b','after':'a',"
             "'retry':{'max_attempts':4,'backoff':'1s','factor':3,'max_backoff':'5s'}}]}");

    failed(&p, "a");
    TRACED(&p, "start entered 1, a entered 1, a started 1, a failed 1, a started 1");
    done(&p, "a");
    TRACED(&p, "a completed 1, b entered 1, b started 1");
    failed(&p, "b");
    TRACED(&p, "b failed 1");
    reference_advance(p.r, 999);
    TRACED(&p, "");
    reference_advance(p.r, 1);
    TRACED(&p, "b started 1");
    failed(&p, "b");
    CHECK_INT(reference_due_ms(p.r) - reference_now_ms(p.r), 3000);
    reference_advance(p.r, 3000);
    failed(&p, "b");
    CHECK_INT(reference_due_ms(p.r) - reference_now_ms(p.r), 5000);
    reference_advance(p.r, 5000);
    failed(&p, "b");
    TRACED(&p, "b failed 1, b started 1, b failed 1, b started 1, b failed 1, b gave_up 1");
    CHECK_STR(STATUS(&p), "FAILED");
}

TEST(flow_reference_counts_timeouts_and_only_the_fourth_loss)
{
    struct play p = play("{'steps':[{'id':'a','timeout':'10s','retry':{'max_attempts':3}}]}");

    traced(&p);
    for (int i = 0; i < 3; i++)
        report(&p, "a", -1, OUTCOME_LOST, "{}");
    TRACED(&p, "a started 1, a started 1, a started 1");
    report(&p, "a", -1, OUTCOME_LOST, "{}");
    TRACED(&p, "a failed 1, a started 1");
    reference_advance(p.r, 10000);
    TRACED(&p, "a failed 1, a started 1");
    reference_advance(p.r, 10000);
    TRACED(&p, "a failed 1, a gave_up 1");
    CHECK_STR(STATUS(&p), "FAILED");
}

TEST(flow_reference_fails_by_what_was_reported)
{
    struct play p = play("{'steps':[{'id':'a','fails_when':'=not(verdict)',"
                         "'retry':{'max_attempts':2}}]}");

    report(&p, "a", -1, OUTCOME_OK, "{'verdict':false}");
    TRACED(&p, "start entered 1, a entered 1, a started 1, a failed 1, a started 1");
    CHECK_STR(VARIABLES(&p), "{'verdict':false}");
    report(&p, "a", -1, OUTCOME_OK, "{'verdict':true}");
    TRACED(&p, "a completed 1, end entered 1, end ended 1");
}

/* ---- failing for good ---- */

static const char three_beside[] = "{'steps':[{'id':'a'},{'id':'b','for_each':[1,2]},"
                                   "{'id':'c','after':'a'},{'id':'d','set':{'x':1},'after':'a'}],"
                                   "'on_fail':'%s'}";

static struct play play_failing(const char *on_fail)
{
    struct play p = play(arena_printf(check_arena(), three_beside, on_fail).at);

    TRACED(&p, "start entered 1, a entered 1, a started 1, b entered 2, b opened 2, b entered 3, "
               "b started 3, b entered 4, b started 4");
    report(&p, "b", 1, OUTCOME_FAILED, "{}");
    return p;
}

/* The whole loop is gone; what runs may finish, and what sets variables is no work. */
TEST(flow_reference_drains)
{
    struct play p = play_failing("drain");

    TRACED(&p, "b failed 4, b gave_up 4");
    CHECK_STR(STATUS(&p), "RUNNING");
    CHECK_INT(waits(&p, WAIT_REPORT, "b", 0), 0);
    CHECK(!reopen(&p, "a"));
    done(&p, "a");
    TRACED(&p, "a completed 1, c entered 1, c held 1, d entered 5, end entered 5, end ended 5");
    CHECK_STR(STATUS(&p), "FAILED");
    CHECK_STR(VARIABLES(&p), "{'x':1}");
    /* b is done again beside what was never done: joins would wait for it in vain. */
    CHECK(reopen(&p, "c"));
    TRACED(&p, "b reopened 6, c reopened 7, b entered 6, b opened 6, c entered 7, c started 7, "
               "b entered 8, b started 8, b entered 9, b started 9");
    CHECK_STR(STATUS(&p), "RUNNING");
}

TEST(flow_reference_stops)
{
    struct play p = play_failing("stop");

    TRACED(&p, "b failed 4, a cancelled 1, b cancelled 2, b cancelled 3, b cancelled 4");
    CHECK_STR(STATUS(&p), "FAILED");
}

TEST(flow_reference_rests_after_failing_until_helped)
{
    struct play p = play_failing("incident");

    TRACED(&p, "b failed 4, b incident 4");
    report(&p, "b", 0, OUTCOME_OK, "{}");
    TRACED(&p, "b completed 3");
    CHECK(reference_retry(p.r, 4, NULL));
    TRACED(&p, "b started 4");
    report(&p, "b", 1, OUTCOME_OK, "{}");
    TRACED(&p, "b completed 4, b closed 2, end entered 2, end ended 2");
    CHECK_STR(STATUS(&p), "RUNNING");
}

/* ---- re-opening ---- */

/* code has three attempts in all: its first, and one more each time that review has failed. */
TEST(flow_reference_goes_back_to_the_step_that_is_tried_again)
{
    struct play p = play("{'steps':[{'id':'code','retry':{'max_attempts':3}},"
                         "{'id':'review','after':'code','triggers_retry':'code'}]}");

    TRACED(&p, "start entered 1, code entered 1, code started 1");
    done(&p, "code");
    failed(&p, "review");
    TRACED(&p, "code completed 1, review entered 1, review started 1, review failed 1, "
               "review cancelled 1, code reopened 2, code entered 2, code started 2");
    failed(&p, "code");
    TRACED(&p, "code failed 2, code started 2");
    done(&p, "code");
    failed(&p, "review");
    TRACED(&p, "code completed 2, review entered 2, review started 2, review failed 2, "
               "review gave_up 2");
    CHECK_STR(STATUS(&p), "FAILED");
}

/* b is done anew; c, which is done and not downstream of it, puts a mark at the join at once. */
TEST(flow_reference_reopens_in_the_middle)
{
    struct play p = play(diamond);

    done(&p, "a");
    done(&p, "c");
    done(&p, "b");
    traced(&p);
    CHECK(reopen(&p, "b"));
    TRACED(&p, "d cancelled 1, b reopened 3, d reopened 4, b entered 3, b started 3, "
               "d#ready entered 4");
    done(&p, "b");
    TRACED(&p, "b completed 3, d#ready entered 3, d#ready joined 3, d entered 3, d started 3");
    done(&p, "d");
    TRACED(&p, "d completed 3, end entered 3, end ended 3");
    CHECK_STR(STATUS(&p), "COMPLETED");
    CHECK(reopen(&p, "d"));
    TRACED(&p, "d reopened 5, d reopened 6, d#ready entered 5, d#ready entered 6, "
               "d#ready joined 5, d entered 5, d started 5");
}

/* What has been reported while it was paused comes once, also where what it leads to is re-opened. */
TEST(flow_reference_pauses)
{
    struct play p = play("{'steps':[{'id':'a'},{'id':'b','after':'a'}]}");

    traced(&p);
    CHECK(reference_pause(p.r));
    done(&p, "a");
    TRACED(&p, "a completed 1");
    CHECK_INT(waits(&p, WAIT_MOVE, "a", -1), 1);
    CHECK(reopen(&p, "b"));
    TRACED(&p, "");
    CHECK(reference_resume(p.r));
    TRACED(&p, "b entered 1, b started 1");
    CHECK(!reference_resume(p.r));
}

/* ---- at random ---- */

struct tally {
    uint64_t seed; /* of the definition that is being played */
    uint32_t words[WORD_COUNT], statuses[REFERENCE_STATUS_COUNT];
    uint32_t stalled, circling, events, refused;
};

#define PROMISE(t, condition)                                                      \
    ((condition) ? (void)0                                                         \
                 : check_fail(__FILE__, __LINE__, "definition %llu: not true: %s", \
                              (unsigned long long)(t)->seed, #condition))

/* Each step that has begun comes after steps that are done, and has one mark at most. */
static void check_steps(const struct tally *t, struct arena *a, const struct graph *g,
                        const struct reference *r)
{
    size_t count;
    const struct reference_waiting *all = reference_waiting(r, a, &count);
    uint32_t *marks = arena_zero(a, g->node_count * sizeof *marks);

    PROMISE(t, !reference_stalled(r));
    for (uint16_t s = 0; s < g->step_count; s++)
        for (size_t i = 0; i < g->steps[s].after_count; i++) {
            enum reference_step before = reference_step(r, g->steps[s].after[i]);
            PROMISE(t, reference_step(r, s) == REFERENCE_STEP_PENDING ||
                           before == REFERENCE_STEP_COMPLETED || before == REFERENCE_STEP_SKIPPED);
        }
    for (size_t i = 0; i < count; i++)
        if (all[i].n && all[i].index < 0 && g->nodes[all[i].node].kind != NODE_AND)
            PROMISE(t, marks[all[i].node]++ == 0);
    for (uint16_t s = 0; s < g->step_count && reference_status(r) == REFERENCE_COMPLETED; s++)
        PROMISE(t, reference_step(r, s) == REFERENCE_STEP_COMPLETED ||
                       reference_step(r, s) == REFERENCE_STEP_SKIPPED);
}

/* It has ended, or waits for something that has a name. */
static void check_waits(const struct tally *t, struct arena *a, const struct reference *r)
{
    size_t count, named = 0;
    const struct reference_waiting *all = reference_waiting(r, a, &count);

    for (size_t i = 0; i < count; i++)
        named += all[i].wait == WAIT_REPORT || all[i].wait == WAIT_AGENTS ||
                 all[i].wait == WAIT_CHECK || all[i].wait == WAIT_APPROVAL ||
                 all[i].wait == WAIT_DELAY || all[i].wait == WAIT_INCIDENT;
    if (reference_status(r) >= REFERENCE_COMPLETED)
        PROMISE(t, count == 0);
    else
        PROMISE(t, named || reference_stalled(r) || reference_status(r) == REFERENCE_PAUSED);
}

/* First anything happens, then all that can help; steps have ended when that is over. */
static void play_at_random(struct arena *a, uint64_t seed, struct tally *t)
{
    enum { WILD = 60, KIND = 400 };
    struct random random = { seed ^ 0x5eed };
    const struct graph *g;
    str text = flow_random_definition(a, seed);
    err e = graph_compile(a, json_parsed(a, text), &g);

    t->seed = seed;
    if (e)
        check_fail(__FILE__, __LINE__, "seed %llu: " STR_FMT " of " STR_FMT,
                   (unsigned long long)seed, STR_ARG(e->message), STR_ARG(text));
    struct reference *r = reference_new(a, g, json_parsed(a, flow_random_variables(a, &random)), 0);
    reference_agents(r, flow_random_agents, FLOW_RANDOM_AGENTS, FLOW_RANDOM_AT_ONCE);
    PROMISE(t, reference_start(r));
    bool over = false;
    uint32_t wild = random_below(&random, WILD);
    for (uint32_t i = 0; i < WILD + KIND && !over; i++) {
        struct flow_event event = i < wild ? flow_random_event(a, &random, g, r)
                                           : flow_kind_event(a, &random, g, r);
        over = event.kind == FLOW_NOTHING;
        t->events += !over;
        t->refused += !over && !flow_event_apply(a, r, &event);
        check_waits(t, a, r);
        if (g->kind != GRAPH_NODES)
            check_steps(t, a, g, r);
        size_t count;
        const struct reference_waiting *all = reference_waiting(r, a, &count);
        if (count && all[0].n == 0) { /* round and round, or more and more marks */
            t->circling++;
            break;
        }
    }
    t->statuses[reference_status(r)]++;
    t->stalled += reference_stalled(r);
    PROMISE(t, g->kind == GRAPH_NODES || reference_status(r) >= REFERENCE_COMPLETED);
    size_t count;
    const struct reference_line *lines = reference_trace(r, &count);
    for (size_t i = 0; i < count; i++)
        t->words[lines[i].what]++;
}

TEST_LIMIT(random_reference_keeps_its_promises, 60)
{
    struct random random = random_start();
    struct tally t = { 0 };
    struct buf note = buf_in(check_arena());

    for (int i = 0; i < 2000; i++) {
        struct arena *a = arena_new();
        uint64_t seed = random_next(&random) >> 32;
        play_at_random(a, seed, &t);
        arena_free(a);
    }
    for (int i = 0; i < WORD_COUNT; i++) {
        buf_printf(&note, " %s %u", reference_words[i], t.words[i]);
        CHECK(t.words[i] > 0);
    }
    for (int i = REFERENCE_COMPLETED; i < REFERENCE_STATUS_COUNT; i++) {
        buf_printf(&note, " %s %u", reference_status_names[i], t.statuses[i]);
        CHECK(t.statuses[i] > 0);
    }
    CHECK_INT(t.refused, 0);
    CHECK(t.stalled > 0 && t.circling > 0);
    check_note("%u events, %u stalled, %u circling:" STR_FMT, t.events, t.stalled, t.circling,
               STR_ARG(buf_str(&note)));
}
