/* fair_queue.c: a bounded queue between threads, in which lanes take turns: lists of places, a ring of the
 * lanes that have something, a lock, and a condition to wait for. */
#include "base/fair_queue.h"

#include <assert.h>
#include <errno.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/monotonic.h"

enum {
    BUCKETS = 1024,   /* of lanes by their names */
    PART_US = 500,    /* that a lane gets when it is its turn; what takes less counts as much */
    TOOK_MAX = 50000, /* what takes longer counts as this */
};

struct place {
    struct turn turn;
    struct place *next;
};

/* A lane is there while it has something. Its name is that of its first value. What it got in its
 * turns and did not need for what it gave is its due: what takes long waits until that is enough. */
struct lane {
    struct place *first, **end;
    size_t count;
    int64_t due_us;
    struct lane *next, *previous; /* in the ring */
    struct lane *beside;          /* in its bucket; or in the list of free ones */
};

struct turns {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something was put, or it was closed */
    size_t room, share, count;
    struct place *places, *free_places;
    struct lane *lanes, *free_lanes;
    struct lane *at; /* whose turn it is; NULL: nobody waits */
    struct lane *buckets[BUCKETS];
    int32_t took_us[BUCKETS]; /* of late, by the lanes of a bucket */
    bool closed;
};

/* What is taken and may be given back needs places beside those that are waiting, so there are twice
 * as many as there is room for. */
struct turns *turns_new(size_t room, size_t share)
{
    struct turns *t = mem_alloc(sizeof *t);

    assert(share > 0 && share <= room);
    *t = (struct turns){ .room = room, .share = share };
    t->places = mem_alloc(2 * room * sizeof *t->places);
    t->lanes = mem_alloc(2 * room * sizeof *t->lanes);
    for (size_t i = 0; i < 2 * room; i++) {
        t->places[i].next = i + 1 < 2 * room ? &t->places[i + 1] : NULL;
        t->lanes[i].beside = i + 1 < 2 * room ? &t->lanes[i + 1] : NULL;
    }
    t->free_places = t->places;
    t->free_lanes = t->lanes;
    pthread_mutex_init(&t->lock, NULL);
    monotonic_cond_init(&t->changed);
    return t;
}

void turns_free(struct turns *t)
{
    if (!t)
        return;
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    mem_free(t->places);
    mem_free(t->lanes);
    mem_free(t);
}

/* ---- lanes; the lock is held ---- */

static size_t bucket_number(str name)
{
    return hash_bytes(name.at, name.len) % BUCKETS;
}

static struct lane **bucket_of(struct turns *t, str name)
{
    return &t->buckets[bucket_number(name)];
}

static int64_t takes_us(const struct turns *t, str lane)
{
    int64_t us = t->took_us[bucket_number(lane)];

    return us < PART_US ? PART_US : us;
}

static struct lane *lane_find(struct turns *t, str name)
{
    struct lane *l = *bucket_of(t, name);

    while (l && !str_eq(l->first->turn.lane, name))
        l = l->beside;
    return l;
}

/* A new one comes last: just before the one whose turn it is. With `first` it comes next. */
static struct lane *lane_open(struct turns *t, str name, bool first)
{
    struct lane *l = t->free_lanes, **bucket = bucket_of(t, name);

    t->free_lanes = l->beside;
    *l = (struct lane){ .end = &l->first, .next = l, .previous = l, .beside = *bucket };
    *bucket = l;
    if (t->at) {
        l->next = t->at;
        l->previous = t->at->previous;
        l->next->previous = l->previous->next = l;
    }
    if (!t->at)
        l->due_us = PART_US;
    if (!t->at || first)
        t->at = l;
    return l;
}

static void lane_next(struct turns *t)
{
    t->at = t->at->next;
    t->at->due_us += PART_US;
}

static void lane_close(struct turns *t, struct lane *l, str name)
{
    struct lane **at = bucket_of(t, name);

    while (*at != l)
        at = &(*at)->beside;
    *at = l->beside;
    l->next->previous = l->previous;
    l->previous->next = l->next;
    if (t->at == l)
        t->at = l->next == l ? NULL : l->next;
    l->beside = t->free_lanes;
    t->free_lanes = l;
}

static struct place *place_take(struct turns *t, struct turn turn)
{
    struct place *p = t->free_places;

    assert(p);
    t->free_places = p->next;
    *p = (struct place){ .turn = turn };
    t->count++;
    return p;
}

/* ---- putting and taking ---- */

size_t turns_put(struct turns *t, struct turn *list, size_t count)
{
    size_t refused = 0;

    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < count; i++) {
        struct lane *l = lane_find(t, list[i].lane);
        if (t->closed || t->count >= t->room || (l && l->count >= t->share)) {
            list[refused++] = list[i];
            continue;
        }
        if (!l)
            l = lane_open(t, list[i].lane, false);
        *l->end = place_take(t, list[i]);
        l->end = &(*l->end)->next;
        l->count++;
    }
    pthread_mutex_unlock(&t->lock);
    if (count - refused == 1)
        pthread_cond_signal(&t->changed);
    else if (refused < count)
        pthread_cond_broadcast(&t->changed);
    return refused;
}

void turns_give_back(struct turns *t, const struct turn *list, size_t count)
{
    pthread_mutex_lock(&t->lock);
    while (count-- > 0) {
        struct lane *l = lane_find(t, list[count].lane);
        if (!l)
            l = lane_open(t, list[count].lane, true);
        struct place *p = place_take(t, list[count]);
        p->next = l->first;
        if (!l->first)
            l->end = &p->next;
        l->first = p;
        l->count++;
        l->due_us += takes_us(t, list[count].lane);
        t->at = l; /* who was taken first is next again */
    }
    pthread_mutex_unlock(&t->lock);
    pthread_cond_broadcast(&t->changed);
}

static void wait_for_some(struct turns *t, int64_t wait_ms)
{
    if (t->count || t->closed || wait_ms == 0)
        return;
    struct timespec until = monotonic_after(wait_ms < 0 ? 0 : wait_ms);
    int code = 0;
    while (!t->count && !t->closed && code != ETIMEDOUT)
        code = wait_ms < 0 ? pthread_cond_wait(&t->changed, &t->lock)
                           : pthread_cond_timedwait(&t->changed, &t->lock, &until);
}

static struct turn take_one(struct turns *t, int64_t *us)
{
    while (t->at->due_us < takes_us(t, t->at->first->turn.lane))
        lane_next(t);
    struct lane *l = t->at;
    struct place *p = l->first;
    struct turn taken = p->turn;

    *us = takes_us(t, taken.lane);
    l->due_us -= *us;
    l->first = p->next;
    p->next = t->free_places;
    t->free_places = p;
    t->count--;
    lane_next(t);
    if (--l->count == 0)
        lane_close(t, l, taken.lane);
    return taken;
}

size_t turns_take(struct turns *t, struct turn *list, size_t most, int64_t wait_ms, int64_t *us)
{
    int64_t left = us ? *us : INT64_MAX, took;
    size_t count = 0;

    pthread_mutex_lock(&t->lock);
    wait_for_some(t, wait_ms);
    for (; count < most && t->count && left > 0; left -= took)
        list[count++] = take_one(t, &took);
    pthread_mutex_unlock(&t->lock);
    if (us)
        *us = left;
    return count;
}

void turns_took(struct turns *t, str lane, int64_t us)
{
    int32_t *took = &t->took_us[bucket_number(lane)];

    pthread_mutex_lock(&t->lock);
    *took = (int32_t)((*took + (us < TOOK_MAX ? us : TOOK_MAX)) / 2);
    pthread_mutex_unlock(&t->lock);
}

void turns_close(struct turns *t)
{
    pthread_mutex_lock(&t->lock);
    t->closed = true;
    pthread_mutex_unlock(&t->lock);
    pthread_cond_broadcast(&t->changed);
}

/* ---- asking ---- */

bool turns_ended(struct turns *t)
{
    pthread_mutex_lock(&t->lock);
    bool ended = t->closed && t->count == 0;
    pthread_mutex_unlock(&t->lock);
    return ended;
}

size_t turns_length(struct turns *t)
{
    pthread_mutex_lock(&t->lock);
    size_t count = t->count;
    pthread_mutex_unlock(&t->lock);
    return count;
}
