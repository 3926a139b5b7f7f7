/* clock_test.c: what the real clock and the real source of ids promise. */
#include "app/clock.h"

#include "base/map.h"
#include "check.h"

TEST(clock_tells_the_time_of_the_wall)
{
    struct clock c;

    clock_start(&c, 0);
    int64_t before = clock_wall_ms(), now = clock_now_ms(&c), after = clock_wall_ms();
    CHECK(now > before - 1000 && now < after + 1000);
}

/* The wall clock may have been set back since the last run. */
TEST(clock_goes_on_from_the_highest_time_that_was_used)
{
    int64_t used = clock_wall_ms() + 3600 * 1000;
    struct clock c;

    clock_start(&c, used);
    int64_t last = clock_now_ms(&c);
    CHECK(last >= used && last < used + 10000);
    while (clock_now_ms(&c) == last) /* it does not stand still there */
        ;
    CHECK(clock_now_ms(&c) > last);
}

TEST(clock_never_goes_back)
{
    struct clock c;

    clock_start(&c, 0);
    int64_t last = clock_now_ms(&c);
    for (int i = 0; i < 100000; i++) {
        int64_t now = clock_now_ms(&c);
        CHECK(now >= last);
        last = now;
    }
}

TEST(ids_are_a_prefix_and_twelve_characters_and_differ)
{
    enum { IDS = 2000 };
    struct chance chance = { 0 };
    struct tx_source source = chance_source(&chance);
    struct map seen = map_in(check_arena());

    for (int i = 0; i < IDS; i++) {
        str id = source.id(source.self, check_arena(), "run_");
        CHECK_INT(id.len, 16);
        CHECK(str_starts(id, STR("run_")));
        for (size_t at = 4; at < id.len; at++)
            CHECK(strchr("abcdefghijklmnopqrstuvwxyz234567", id.at[at]));
        CHECK(!map_put(&seen, id, &seen));
    }
}

/* More than is taken from the system at a time, and no byte is given twice. */
TEST(random_bytes_fill_what_is_asked_for)
{
    struct chance chance = { 0 };
    struct tx_source source = chance_source(&chance);
    unsigned char bytes[4096] = { 0 };
    int counts[256] = { 0 };

    source.random(source.self, bytes, 3);
    source.random(source.self, bytes + 3, sizeof bytes - 3);
    for (size_t i = 0; i < sizeof bytes; i++)
        counts[bytes[i]]++;
    for (int i = 0; i < 256; i++)
        CHECK(counts[i] < 80); /* 16 are expected; 512 zeros at the end of a piece are not */
}
