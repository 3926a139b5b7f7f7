/* queue_test.c: what a bounded queue between threads promises. */
#include "base/queue.h"

#include <pthread.h>
#include <time.h>

#include "check.h"

static size_t put(struct queue *q, int from, int count)
{
    int values[16];

    for (int i = 0; i < count; i++)
        values[i] = from + i;
    return queue_put(q, values, (size_t)count);
}

TEST(queue_gives_in_the_order_it_took_and_around_its_end)
{
    struct queue *q = queue_new(sizeof(int), 5);
    int out[8], next = 0;

    for (int round = 0; round < 7; round++) {
        CHECK(put(q, round * 3, 3));
        CHECK_INT(queue_take(q, out, 8, 0), 3);
        for (int i = 0; i < 3; i++)
            CHECK_INT(out[i], next++);
    }
    queue_free(q);
}

TEST(queue_takes_all_of_a_list_or_none_of_it)
{
    struct queue *q = queue_new(sizeof(int), 5);
    int out[8];

    CHECK(put(q, 0, 3));
    CHECK(!put(q, 3, 3));
    CHECK(put(q, 3, 2));
    CHECK(!put(q, 9, 1));
    CHECK(put(q, 9, 0)); /* nothing always fits */
    CHECK_INT(queue_take(q, out, 2, 0), 2);
    CHECK_INT(queue_take(q, out + 2, 8, 0), 3);
    for (int i = 0; i < 5; i++)
        CHECK_INT(out[i], i);
    queue_free(q);
}

static int64_t steady_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

TEST(queue_that_stays_empty_is_waited_for_no_longer_than_asked)
{
    struct queue *q = queue_new(sizeof(int), 5);
    int out;

    int64_t began = steady_ms();
    CHECK_INT(queue_take(q, &out, 1, 30), 0);
    int64_t took = steady_ms() - began;
    CHECK(took >= 29 && took < 5000);
    CHECK(!queue_ended(q));
    CHECK_INT(queue_take(q, &out, 1, 0), 0);
    queue_free(q);
}

TEST(closed_queue_gives_what_is_left_and_then_ends)
{
    struct queue *q = queue_new(sizeof(int), 5);
    int out[2];

    CHECK(put(q, 0, 3));
    queue_close(q);
    CHECK(!put(q, 3, 1));
    CHECK(!queue_ended(q));
    CHECK_INT(queue_take(q, out, 2, -1), 2);
    CHECK_INT(queue_take(q, out, 2, -1), 1);
    CHECK(queue_ended(q));
    CHECK_INT(queue_take(q, out, 2, -1), 0);
    queue_free(q);
}

/* ---- threads ---- */

enum { EACH = 20000, PUTTERS = 3, TAKERS = 3 };

struct taker {
    struct queue *queue;
    int64_t sum, count;
    int last[PUTTERS];
    bool ordered;
};

static void *take_all(void *self)
{
    struct taker *t = self;
    int out[7];
    size_t n;

    t->ordered = true;
    while ((n = queue_take(t->queue, out, 7, -1))) {
        for (size_t i = 0; i < n; i++) {
            int from = out[i] / EACH;
            t->ordered &= out[i] >= t->last[from];
            t->last[from] = out[i];
            t->sum += out[i];
        }
        t->count += (int64_t)n;
    }
    return NULL;
}

struct putter {
    struct queue *queue;
    int from;
};

static void *put_all(void *self)
{
    struct putter *p = self;

    for (int i = 0; i < EACH;) {
        int n = EACH - i < 5 ? EACH - i : 1 + i % 5;
        if (put(p->queue, p->from + i, n))
            i += n;
    }
    return NULL;
}

/* Each of many threads' values arrives exactly once, and in its thread's order. */
TEST(queue_loses_nothing_between_many_threads)
{
    struct queue *q = queue_new(sizeof(int), 64);
    struct putter putters[PUTTERS];
    struct taker takers[TAKERS] = { 0 };
    pthread_t put_threads[PUTTERS], take_threads[TAKERS];
    int64_t sum = 0, count = 0, all = (int64_t)EACH * PUTTERS;

    for (int i = 0; i < TAKERS; i++) {
        takers[i].queue = q;
        pthread_create(&take_threads[i], NULL, take_all, &takers[i]);
    }
    for (int i = 0; i < PUTTERS; i++) {
        putters[i] = (struct putter){ q, i * EACH };
        pthread_create(&put_threads[i], NULL, put_all, &putters[i]);
    }
    for (int i = 0; i < PUTTERS; i++)
        pthread_join(put_threads[i], NULL);
    queue_close(q);
    for (int i = 0; i < TAKERS; i++) {
        pthread_join(take_threads[i], NULL);
        CHECK(takers[i].ordered);
        sum += takers[i].sum;
        count += takers[i].count;
    }
    CHECK_INT(count, all);
    CHECK_INT(sum, all * (all - 1) / 2);
    queue_free(q);
}
