/* busy_poll_test.c: when somebody stays awake: in a dialogue, and not where it is in vain. */
#include "check.h"
#include "base/busy_poll.h"

static void short_turns(struct awake *a, int count)
{
    for (int i = 0; i < count; i++)
        awake_turned(a, true);
}

TEST(awake_only_after_many_short_turns_in_a_row)
{
    struct awake a = { 0 };

    CHECK(!awake_pays(&a));
    short_turns(&a, AWAKE_TURNS - 1);
    CHECK(!awake_pays(&a));
    short_turns(&a, 1);
    CHECK(awake_pays(&a));
    awake_turned(&a, false);
    CHECK(!awake_pays(&a));
    short_turns(&a, AWAKE_TURNS - 1);
    CHECK(!awake_pays(&a));
}

TEST(awake_in_vain_is_tried_less_and_less_but_never_given_up)
{
    struct awake a = { 0 };
    int turns = AWAKE_TURNS;

    for (int i = 0; i < 20; i++) {
        short_turns(&a, turns - 1);
        CHECK(!awake_pays(&a));
        short_turns(&a, 1);
        CHECK(awake_pays(&a));
        awake_tried(&a, false);
        CHECK(!awake_pays(&a));
        turns = AWAKE_TURNS + a.more;
    }
    CHECK_INT(a.more, AWAKE_TURNS_MORE_MAX);
}

TEST(awake_with_success_forgets_soon_that_it_was_in_vain)
{
    struct awake a = { 0 };

    for (int i = 0; i < 10; i++)
        awake_tried(&a, false);
    short_turns(&a, AWAKE_TURNS + AWAKE_TURNS_MORE_MAX);
    for (int i = 0; i < 11; i++) {
        CHECK(awake_pays(&a));
        awake_tried(&a, true);
        awake_turned(&a, true);
    }
    CHECK_INT(a.more, 0);
    awake_turned(&a, false);
    short_turns(&a, AWAKE_TURNS);
    CHECK(awake_pays(&a));
}

/* Those that were counted while more were wanted count no further than that. */
TEST(awake_turns_are_not_counted_beyond_what_is_wanted)
{
    struct awake a = { 0 };

    short_turns(&a, 100 * AWAKE_TURNS);
    CHECK_INT(a.turns, AWAKE_TURNS);
}
