/* busy_poll_test.c: when somebody stays awake: in a dialogue, and not where it is in vain. */
#include "check.h"
#include "base/busy_poll.h"

static void short_turns(struct busy_poll *a, int count)
{
    for (int i = 0; i < count; i++)
        busy_poll_turned(a, true);
}

TEST(awake_only_after_many_short_turns_in_a_row)
{
    struct busy_poll a = { 0 };

    CHECK(!busy_poll_pays(&a));
    short_turns(&a, BUSY_POLL_TURNS - 1);
    CHECK(!busy_poll_pays(&a));
    short_turns(&a, 1);
    CHECK(busy_poll_pays(&a));
    busy_poll_turned(&a, false);
    CHECK(!busy_poll_pays(&a));
    short_turns(&a, BUSY_POLL_TURNS - 1);
    CHECK(!busy_poll_pays(&a));
}

TEST(awake_in_vain_is_tried_less_and_less_but_never_given_up)
{
    struct busy_poll a = { 0 };
    int turns = BUSY_POLL_TURNS;

    for (int i = 0; i < 20; i++) {
        short_turns(&a, turns - 1);
        CHECK(!busy_poll_pays(&a));
        short_turns(&a, 1);
        CHECK(busy_poll_pays(&a));
        busy_poll_tried(&a, false);
        CHECK(!busy_poll_pays(&a));
        turns = BUSY_POLL_TURNS + a.more;
    }
    CHECK_INT(a.more, BUSY_POLL_TURNS_MORE_MAX);
}

TEST(awake_with_success_forgets_soon_that_it_was_in_vain)
{
    struct busy_poll a = { 0 };

    for (int i = 0; i < 10; i++)
        busy_poll_tried(&a, false);
    short_turns(&a, BUSY_POLL_TURNS + BUSY_POLL_TURNS_MORE_MAX);
    for (int i = 0; i < 11; i++) {
        CHECK(busy_poll_pays(&a));
        busy_poll_tried(&a, true);
        busy_poll_turned(&a, true);
    }
    CHECK_INT(a.more, 0);
    busy_poll_turned(&a, false);
    short_turns(&a, BUSY_POLL_TURNS);
    CHECK(busy_poll_pays(&a));
}

/* Those that were counted while more were wanted count no further than that. */
TEST(awake_turns_are_not_counted_beyond_what_is_wanted)
{
    struct busy_poll a = { 0 };

    short_turns(&a, 100 * BUSY_POLL_TURNS);
    CHECK_INT(a.turns, BUSY_POLL_TURNS);
}
