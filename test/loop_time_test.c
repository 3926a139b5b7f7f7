/* loop_time_test.c: what wakes a loop beside its sockets: timers, other threads, signals. */
#include "wire/loop.h"

#include <signal.h>

#include "net_help.h"

struct clockwork {
    struct loop *loop;
    struct timer *a, *b, *c;
    char log[64];
    int pending, passed_on;
};

static void ring_a(void *owner)
{
    struct clockwork *w = owner;

    strcat(w->log, "a");
    timer_free(w->a); /* in its own call */
    timer_clear(w->c);
    w->pending++;
}

static void ring_b(void *owner)
{
    struct clockwork *w = owner;

    strcat(w->log, "b");
    if (strlen(w->log) < 5)
        timer_set(w->b, 5);
    else
        loop_stop(w->loop);
    w->pending++;
}

static void ring_c(void *owner)
{
    struct clockwork *w = owner;
    strcat(w->log, "c");
}

static void pass_on(void *owner)
{
    struct clockwork *w = owner;

    w->passed_on += w->pending;
    w->pending = 0;
}

/* The turn's end is before the loop sleeps: else the work of a timer would wait for the next one. */
TEST(loop_rings_timers_and_ends_each_turn_with_their_work)
{
    struct clockwork w = { .loop = loop_new() };

    w.a = timer_new(w.loop, ring_a, &w);
    w.b = timer_new(w.loop, ring_b, &w);
    w.c = timer_new(w.loop, ring_c, &w);
    loop_each_turn(w.loop, pass_on, &w);
    timer_set(w.b, 1);
    timer_set(w.b, 20); /* instead */
    timer_set(w.a, 5);
    timer_set(w.c, 15);
    int64_t begin = loop_now_ms(w.loop);
    loop_run(w.loop);
    CHECK_STR(str_from(w.log), "abbbb");
    CHECK(loop_now_ms(w.loop) - begin >= 35);
    CHECK_INT(w.passed_on, 5);
    timer_free(w.b);
    timer_free(w.c);
    loop_free(w.loop);
}

enum { WAKERS = 4, WAKES = 10000 };

struct mailbox {
    struct loop *loop;
    struct wakeup *wakeup;
    pthread_mutex_t mutex;
    int posted, taken;
};

static void *post_many(void *self)
{
    struct mailbox *m = self;

    for (int i = 0; i < WAKES; i++) {
        pthread_mutex_lock(&m->mutex);
        m->posted++;
        pthread_mutex_unlock(&m->mutex);
        wakeup_send(m->wakeup);
    }
    return NULL;
}

static void take_all(void *self)
{
    struct mailbox *m = self;

    pthread_mutex_lock(&m->mutex);
    m->taken += m->posted;
    m->posted = 0;
    pthread_mutex_unlock(&m->mutex);
    if (m->taken == WAKERS * WAKES)
        loop_stop(m->loop);
}

TEST(loop_misses_no_wakeup_of_other_threads)
{
    struct mailbox m = { .loop = loop_new(), .mutex = PTHREAD_MUTEX_INITIALIZER };
    pthread_t threads[WAKERS];

    m.wakeup = wakeup_new(m.loop, take_all, &m);
    for (int i = 0; i < WAKERS; i++)
        CHECK(pthread_create(&threads[i], NULL, post_many, &m) == 0);
    loop_run(m.loop);
    for (int i = 0; i < WAKERS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(m.taken, WAKERS * WAKES);
    wakeup_free(m.wakeup);
    loop_free(m.loop);
}

TEST(loop_hears_signals)
{
    struct loop *l = loop_new();
    struct signal_watch *s = signal_new(l, SIGUSR1, net_stop, l);

    raise(SIGUSR1);
    loop_run(l);
    signal_free(s);
    loop_free(l);
}
