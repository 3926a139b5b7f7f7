/* queue.c: a bounded queue between threads: a ring, a lock, and a condition to wait for. */
#include "base/queue.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/monotonic.h"

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something was put, or it was closed */
    char *ring;
    size_t size, room;
    size_t first, count;
    bool closed;
};

struct queue *queue_new(size_t size, size_t room)
{
    struct queue *q = mem_alloc(sizeof *q);

    assert(size > 0 && room > 0);
    *q = (struct queue){ .ring = mem_alloc(size * room), .size = size, .room = room };
    pthread_mutex_init(&q->lock, NULL);
    monotonic_cond_init(&q->changed);
    return q;
}

void queue_free(struct queue *q)
{
    if (!q)
        return;
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    mem_free(q->ring);
    mem_free(q);
}

/* ---- the ring; the lock is held ---- */

/* How many values from `at` on lie in one piece. */
static size_t piece(const struct queue *q, size_t at, size_t count)
{
    return count < q->room - at ? count : q->room - at;
}

static void ring_add(struct queue *q, const char *values, size_t count)
{
    size_t at = (q->first + q->count) % q->room, n = piece(q, at, count);

    assert(q->first < q->room && count <= q->room - q->count);
    memcpy(q->ring + at * q->size, values, n * q->size);
    memcpy(q->ring, values + n * q->size, (count - n) * q->size);
    q->count += count;
}

static void ring_remove(struct queue *q, char *values, size_t count)
{
    size_t n = piece(q, q->first, count);

    assert(count <= q->count && q->count <= q->room);
    memcpy(values, q->ring + q->first * q->size, n * q->size);
    memcpy(values + n * q->size, q->ring, (count - n) * q->size);
    q->first = (q->first + count) % q->room;
    q->count -= count;
}

/* ---- putting and taking ---- */

bool queue_put(struct queue *q, const void *values, size_t count)
{
    pthread_mutex_lock(&q->lock);
    bool fits = !q->closed && count <= q->room - q->count;
    if (fits)
        ring_add(q, values, count);
    pthread_mutex_unlock(&q->lock);
    if (fits && count == 1)
        pthread_cond_signal(&q->changed);
    else if (fits && count)
        pthread_cond_broadcast(&q->changed);
    return fits;
}

static void wait_for_some(struct queue *q, int64_t wait_ms)
{
    if (q->count || q->closed || wait_ms == 0)
        return;
    struct timespec until = monotonic_after(wait_ms);
    int code = 0;
    while (!q->count && !q->closed && code != ETIMEDOUT)
        code = wait_ms < 0 ? pthread_cond_wait(&q->changed, &q->lock)
                           : pthread_cond_timedwait(&q->changed, &q->lock, &until);
}

size_t queue_take(struct queue *q, void *values, size_t most, int64_t wait_ms)
{
    pthread_mutex_lock(&q->lock);
    wait_for_some(q, wait_ms);
    size_t count = q->count < most ? q->count : most;
    ring_remove(q, values, count);
    pthread_mutex_unlock(&q->lock);
    return count;
}

void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_mutex_unlock(&q->lock);
    pthread_cond_broadcast(&q->changed);
}

/* ---- asking ---- */

bool queue_ended(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    bool ended = q->closed && q->count == 0;
    pthread_mutex_unlock(&q->lock);
    return ended;
}
