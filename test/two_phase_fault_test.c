/* two_phase_fault_test.c: a store that fails somewhere in the life of a child. */
#include "phases.h"

/* The life of a child that ignores the first prompt, and how its parent hears of it. */
static bool life_with(enum fault_kind kind, uint64_t nth)
{
    struct team *t = team_with_child(PLAIN);

    t->faulty = true;
    t->w->fault = (struct fault){ kind, nth, 0, 0, false };
    turn(t, "child", "work");
    turn(t, "child", "state_update");
    next_attempt(t);
    turn_and_write(t, "child", "state_update");
    turn(t, "root", "callback");
    bool fired = t->restarted || t->w->fault.fired;
    t->w->fault.kind = FAULT_NONE;
    is(t, "child", "finished completed 2 1!");
    is(t, "root", "finished - 0 1!");
    heard(t, "root", 0, 0, 1);
    claim_none(t);
    static const char events[] = "SELECT count(*) FROM log WHERE type = $1";
    CHECK_INT(row_int(row_of(t, events, "callback_delivered"), 0), 1);
    CHECK_INT(row_int(row_of(t, events, "workflow_state_updated"), 0), 1);
    team_free(t);
    return fired;
}

static void survive(enum fault_kind kind, uint64_t step, int least)
{
    int faults = 0;

    for (uint64_t nth = 1; life_with(kind, nth); nth += step)
        faults++;
    check_note("%d faults", faults);
    CHECK(faults >= least);
}

TEST_LIMIT(every_failing_call_leaves_exactly_one_callback, 120)
{
    survive(FAULT_CALL, 1, 100);
}

TEST_LIMIT(every_full_disk_leaves_exactly_one_callback, 120)
{
    survive(FAULT_DEATH, 3, 30);
}

TEST(every_failing_commit_leaves_exactly_one_callback)
{
    survive(FAULT_COMMIT, 1, 10);
}

TEST(every_commit_whose_answer_is_lost_leaves_exactly_one_callback)
{
    survive(FAULT_LOST, 1, 10);
}
