/* loop.c: the loop of one thread, by libuv: its turns, its times, and who else may wake it.
 *
 * Connections are in loop_link.c, and where they come from in loop_listen.c. */
#include "wire/loop.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>

#include "wire/loop_private.h"

struct timer {
    uv_timer_t uv;
    void (*fn)(void *owner);
    void *owner;
};

struct wakeup {
    uv_async_t uv;
    void (*fn)(void *owner);
    void *owner;
};

struct signal_watch {
    uv_signal_t uv;
    void (*fn)(void *owner);
    void *owner;
};

/* ---- the loop ---- */

/* A bridge that has much to ask uses two connections in turns. */
void loop_hears(struct loop *l, const struct link *from)
{
    l->anybody = true;
    if (from == l->heard[0] || from == l->heard[1])
        return;
    l->others = true;
    l->heard[1] = l->heard[0];
    l->heard[0] = from;
}

/* Looks for what libuv will wait for, and lets others use the processor meanwhile. */
static bool stay_awake(struct loop *l)
{
    struct pollfd events = { uv_backend_fd(&l->uv), POLLIN, 0 };

    do {
        if (poll(&events, 1, 0) > 0)
            return true;
        sched_yield();
    } while (uv_hrtime() - l->turned_ns < BUSY_POLL_US * 1000);
    return false;
}

/* Only in a dialogue: somebody asks and is answered, and nobody else is there. Among many, each
 * waits for another anyway; and whoever waits for a thread or a time has other things to do with
 * the processor. */
static void rest(struct loop *l)
{
    uint64_t now_ns = uv_hrtime();

    busy_poll_turned(&l->awake,
                     l->anybody && !l->others && now_ns - l->turned_ns <= BUSY_POLL_TURN_US * 1000);
    l->anybody = l->others = false;
    l->turned_ns = now_ns;
    if (busy_poll_pays(&l->awake) && uv_backend_timeout(&l->uv) != 0)
        busy_poll_tried(&l->awake, stay_awake(l));
}

/* libuv calls this between timers and the wait for sockets, hence after everything that can happen
 * in a turn: what the sockets, wake-ups and closed links of the last wait brought, and the timers. */
static void on_turn(uv_prepare_t *turn)
{
    struct loop *l = turn->data;

    if (l->each_turn)
        l->each_turn(l->owner);
    rest(l);
}

struct loop *loop_new(void)
{
    struct loop *l = mem_alloc(sizeof *l);

    memset(l, 0, sizeof *l);
    loop_must(uv_loop_init(&l->uv));
    l->uv.data = l;
    loop_must(uv_prepare_init(&l->uv, &l->turn));
    l->turn.data = l;
    loop_must(uv_prepare_start(&l->turn, on_turn)); /* also keeps an empty loop running */
    return l;
}

/* A peer that is gone must be an error of the call that writes to it, not a signal that ends the
 * process. Only this thread's mask is changed, and only while it runs the loop. */
void loop_run(struct loop *l)
{
    static const struct timespec at_once = { 0, 0 };
    sigset_t pipe, before;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    on_turn(&l->turn); /* of the turn that was stopped */
    if (!sigismember(&before, SIGPIPE))
        sigtimedwait(&pipe, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void loop_stop(struct loop *l)
{
    uv_stop(&l->uv);
}

void loop_free(struct loop *l)
{
    enum { TURNS_MAX = 16 }; /* what is told that it was closed may close something else */

    uv_close((uv_handle_t *)&l->turn, NULL);
    for (int turns = 0; uv_loop_close(&l->uv) != 0; turns++) {
        assert(turns < TURNS_MAX && "everything in the loop was closed");
        uv_run(&l->uv, UV_RUN_NOWAIT);
    }
    mem_free(l);
}

int64_t loop_now_ms(const struct loop *l)
{
    return (int64_t)uv_now(&l->uv);
}

void loop_each_turn(struct loop *l, void (*fn)(void *owner), void *owner)
{
    l->each_turn = fn;
    l->owner = owner;
}

/* ---- time and other threads ---- */

void handle_free(uv_handle_t *handle)
{
    mem_free(handle->data);
}

static void on_timer(uv_timer_t *uv)
{
    struct timer *t = uv->data;
    t->fn(t->owner);
}

struct timer *timer_new(struct loop *l, void (*fn)(void *owner), void *owner)
{
    struct timer *t = mem_alloc(sizeof *t);

    t->fn = fn;
    t->owner = owner;
    loop_must(uv_timer_init(&l->uv, &t->uv));
    t->uv.data = t;
    return t;
}

void timer_set(struct timer *t, int64_t ms)
{
    loop_must(uv_timer_start(&t->uv, on_timer, ms > 0 ? (uint64_t)ms : 0, 0));
}

void timer_clear(struct timer *t)
{
    uv_timer_stop(&t->uv);
}

void timer_free(struct timer *t)
{
    uv_close((uv_handle_t *)&t->uv, handle_free);
}

static void on_wakeup(uv_async_t *uv)
{
    struct wakeup *w = uv->data;
    w->fn(w->owner);
}

struct wakeup *wakeup_new(struct loop *l, void (*fn)(void *owner), void *owner)
{
    struct wakeup *w = mem_alloc(sizeof *w);

    w->fn = fn;
    w->owner = owner;
    w->uv.data = w;
    loop_must(uv_async_init(&l->uv, &w->uv, on_wakeup));
    return w;
}

void wakeup_send(struct wakeup *w)
{
    uv_async_send(&w->uv);
}

void wakeup_free(struct wakeup *w)
{
    uv_close((uv_handle_t *)&w->uv, handle_free);
}

static void on_signal(uv_signal_t *uv, int number)
{
    struct signal_watch *s = uv->data;

    (void)number;
    s->fn(s->owner);
}

struct signal_watch *signal_new(struct loop *l, int number, void (*fn)(void *owner), void *owner)
{
    struct signal_watch *s = mem_alloc(sizeof *s);

    s->fn = fn;
    s->owner = owner;
    loop_must(uv_signal_init(&l->uv, &s->uv));
    s->uv.data = s;
    loop_must(uv_signal_start(&s->uv, on_signal, number));
    return s;
}

void signal_free(struct signal_watch *s)
{
    uv_close((uv_handle_t *)&s->uv, handle_free);
}
