/* fair_queue_test.c: what a bounded queue of tenants that take turns promises. */
#include "base/fair_queue.h"

#include <pthread.h>
#include <stdio.h>

#include "check.h"

/* "a1": the tenant is the letter. Values are their own texts. */
static size_t put(struct fair_queue *t, const char *const *values, size_t count)
{
    struct fair_item list[64];

    for (size_t i = 0; i < count; i++)
        list[i] = (struct fair_item){ (void *)(uintptr_t)values[i], { values[i], 1 } };
    return fair_queue_put(t, list, count);
}

#define PUT(t, ...)                                \
    put((t), (const char *const[]){ __VA_ARGS__ }, \
        sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static str shown(const struct fair_item *list, size_t count)
{
    struct buf out = buf_in(check_arena());

    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%s%s", i ? " " : "", (const char *)list[i].value);
    return buf_str(&out);
}

static str take(struct fair_queue *t, size_t most)
{
    struct fair_item list[64];

    return shown(list, fair_queue_take(t, list, most, 0, NULL));
}

TEST(lanes_take_turns_and_each_keeps_its_order)
{
    struct fair_queue *t = fair_queue_new(64, 64);

    CHECK_INT(PUT(t, "a1", "a2", "a3", "a4", "b1", "c1", "c2"), 0);
    CHECK_INT(fair_queue_length(t), 7);
    CHECK_STR(take(t, 4), "a1 b1 c1 a2");
    CHECK_INT(PUT(t, "b2", "d1", "a5"), 0); /* whoever comes new waits for one round at most */
    CHECK_STR(take(t, 64), "c2 a3 b2 d1 a4 a5");
    CHECK_STR(take(t, 64), "");
    fair_queue_free(t);
}

/* However much one tenant has waiting, another waits for one thing of it. */
TEST(a_full_lane_makes_others_wait_for_one_of_it)
{
    struct fair_queue *t = fair_queue_new(8, 4);

    CHECK_INT(PUT(t, "a1", "a2", "a3", "a4", "a5", "a6"), 2); /* its share is four */
    CHECK_INT(PUT(t, "b1"), 0);
    CHECK_STR(take(t, 2), "a1 b1");
    CHECK_INT(PUT(t, "a7", "b2", "b3", "b4", "b5", "c1", "c2"), 2); /* and the room is eight */
    CHECK_INT(fair_queue_length(t), 8);
    CHECK_STR(take(t, 64), "a2 b2 a3 b3 a4 b4 a7 b5");
    fair_queue_free(t);
}

/* Lanes share time: what takes twenty times as long comes a twentieth as often. */
TEST(a_lane_whose_things_take_long_has_its_turn_less_often)
{
    struct fair_queue *t = fair_queue_new(64, 64);
    struct fair_item list[64];
    size_t others = 0;

    fair_queue_took(t, STR("a"), 20000); /* of one it is not known yet that the next will, too */
    CHECK_INT(PUT(t, "a1", "a2"), 0);
    CHECK_STR(take(t, 1), "a1"); /* nobody else is there */
    for (int i = 0; i < 40; i++)
        CHECK_INT(PUT(t, "b"), 0);
    while (fair_queue_take(t, list, 1, 0, NULL) && list[0].tenant.at[0] == 'b')
        others++;
    CHECK(others >= 15 && others <= 20);
    fair_queue_free(t);
}

TEST(what_is_taken_together_takes_no_longer_than_it_may)
{
    struct fair_queue *t = fair_queue_new(64, 64);
    struct fair_item list[64];
    struct fair_batch batch = { .left_us = 20000 };

    for (int i = 0; i < 40; i++)
        fair_queue_took(t, STR("a"), 9000);
    CHECK_INT(PUT(t, "a1", "a2", "a3", "a4", "a5"), 0);
    CHECK_INT(fair_queue_take(t, list, 64, 0, &batch), 2); /* the third would be too much */
    CHECK_INT(fair_queue_take(t, list, 64, 0, &batch), 0);
    CHECK_INT(batch.count, 2);
    CHECK_INT(fair_queue_length(t), 3);
    fair_queue_free(t);
}

/* What takes longer than all of a batch may is alone in one: nobody waits for it who came before, and
 * who came meanwhile waits for no second one. It has its turn all the same, after each of theirs. */
TEST(what_takes_long_makes_nobody_wait_who_is_done_before_it)
{
    struct fair_queue *t = fair_queue_new(64, 64);
    static const char *const expected[] = { "a1", "b1 c1", "a2", "b2", "a3", "a4", "b3", "" };
    struct fair_item list[64];

    for (int i = 0; i < 40; i++)
        fair_queue_took(t, STR("a"), 30000);
    CHECK_INT(PUT(t, "a1", "a2", "a3", "a4"), 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct fair_batch batch = { .left_us = 20000 };
        size_t n = fair_queue_take(t, list, 64, 0, &batch);
        if (i == 0) /* these come while it is done */
            CHECK_INT(PUT(t, "b1", "c1"), 0);
        if (i == 2)
            CHECK_INT(PUT(t, "b2"), 0);
        if (i == 5)
            CHECK_INT(PUT(t, "b3"), 0);
        n += fair_queue_take(t, list + n, 64 - n, 0, &batch); /* what joins them */
        CHECK_STR(shown(list, n), expected[i]);
    }
    fair_queue_free(t);
}

TEST(what_is_given_back_is_first_again)
{
    struct fair_queue *t = fair_queue_new(4, 4);
    struct fair_item list[4];

    CHECK_INT(PUT(t, "a1", "a2", "b1", "c1"), 0);
    CHECK_INT(fair_queue_take(t, list, 4, 0, NULL), 4);
    CHECK_STR(shown(list, 4), "a1 b1 c1 a2");
    CHECK_INT(PUT(t, "b2", "d1", "a3", "d2"), 0); /* the room is taken again … */
    fair_queue_give_back(t, list + 1, 3);         /* … and still there is room for these */
    CHECK_INT(fair_queue_length(t), 7);
    CHECK_INT(PUT(t, "e1"), 1);
    CHECK_STR(take(t, 64), "b1 d1 c1 a2 b2 d2 a3");
    fair_queue_free(t);
}

TEST(closed_turns_give_what_is_left_and_then_end)
{
    struct fair_queue *t = fair_queue_new(4, 4);
    struct fair_item list[4];

    CHECK_INT(PUT(t, "a1", "b1"), 0);
    fair_queue_close(t);
    CHECK_INT(PUT(t, "a2"), 1);
    CHECK_INT(fair_queue_take(t, list, 1, -1, NULL), 1);
    fair_queue_give_back(t, list, 1);
    CHECK(!fair_queue_ended(t));
    CHECK_INT(fair_queue_take(t, list, 4, -1, NULL), 2);
    CHECK(fair_queue_ended(t));
    CHECK_INT(fair_queue_take(t, list, 4, -1, NULL), 0);
    fair_queue_free(t);
}

/* ---- many threads ---- */

enum { PUTTERS = 4, EACH = 20000 };

struct putter {
    struct fair_queue *turns;
    char tenant[2];
};

static void *put_many(void *self)
{
    struct putter *p = self;

    for (uintptr_t i = 1; i <= EACH;) {
        struct fair_item turn = { (void *)i, { p->tenant, 1 } };
        if (fair_queue_put(p->turns, &turn, 1) == 0)
            i++;
    }
    return NULL;
}

TEST(turns_lose_nothing_between_many_threads)
{
    struct fair_queue *t = fair_queue_new(64, 32);
    struct putter putters[PUTTERS];
    pthread_t threads[PUTTERS];
    uintptr_t last[PUTTERS] = { 0 };
    struct fair_item list[16];

    for (int i = 0; i < PUTTERS; i++) {
        putters[i] = (struct putter){ t, { (char)('a' + i), 0 } };
        CHECK_INT(pthread_create(&threads[i], NULL, put_many, &putters[i]), 0);
    }
    for (size_t left = PUTTERS * EACH; left > 0;) {
        size_t n = fair_queue_take(t, list, 16, -1, NULL), done = n > 3 ? n - 3 : n;
        for (size_t i = 0; i < done; i++)
            CHECK_INT((uintptr_t)list[i].value, ++last[list[i].tenant.at[0] - 'a']);
        fair_queue_give_back(t, list + done, n - done);
        left -= done;
    }
    for (int i = 0; i < PUTTERS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(fair_queue_length(t), 0);
    fair_queue_free(t);
}
