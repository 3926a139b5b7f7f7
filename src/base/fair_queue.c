/* fair_queue.c: for each tenant a list of slots, a ring of the tenants that have items, a lock, and a
 * condition to wait for. */
#include "base/fair_queue.h"

#include <assert.h>
#include <errno.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/monotonic.h"

enum {
    BUCKETS = 1024,   /* of tenants by their names */
    PART_US = 500,    /* that a tenant gets when it is its turn; what takes less counts as much */
    TOOK_MAX = 50000, /* what takes longer counts as this */
};

struct slot {
    struct fair_item item;
    struct slot *next;
};

/* A tenant is there while it has items. Its name is that of its first value. What it got in its
 * turns and did not need for what it gave is its due: what takes long waits until that is enough. */
struct tenant {
    struct slot *first, **end;
    size_t count;
    int64_t due_us;
    struct tenant *next, *previous; /* in the ring */
    struct tenant *beside;          /* in its bucket; or in the list of free ones */
};

struct fair_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something was put, or it was closed */
    size_t room, share, count;
    struct slot *slots, *free_slots;
    struct tenant *tenants, *free_tenants;
    struct tenant *at; /* whose turn it is; NULL: nobody waits */
    struct tenant *buckets[BUCKETS];
    int32_t took_us[BUCKETS]; /* of late, by the tenants of a bucket */
    bool closed;
};

/* What is taken and may be given back needs slots beside those that are waiting, so there are twice
 * as many as there is room for. */
struct fair_queue *fair_queue_new(size_t room, size_t share)
{
    struct fair_queue *t = mem_alloc(sizeof *t);

    assert(share > 0 && share <= room);
    *t = (struct fair_queue){ .room = room, .share = share };
    t->slots = mem_alloc(2 * room * sizeof *t->slots);
    t->tenants = mem_alloc(2 * room * sizeof *t->tenants);
    for (size_t i = 0; i < 2 * room; i++) {
        t->slots[i].next = i + 1 < 2 * room ? &t->slots[i + 1] : NULL;
        t->tenants[i].beside = i + 1 < 2 * room ? &t->tenants[i + 1] : NULL;
    }
    t->free_slots = t->slots;
    t->free_tenants = t->tenants;
    pthread_mutex_init(&t->lock, NULL);
    monotonic_cond_init(&t->changed);
    return t;
}

void fair_queue_free(struct fair_queue *t)
{
    if (!t)
        return;
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    mem_free(t->slots);
    mem_free(t->tenants);
    mem_free(t);
}

/* ---- tenants; the lock is held ---- */

static size_t bucket_number(str name)
{
    return hash_bytes(name.at, name.len) % BUCKETS;
}

static struct tenant **bucket_of(struct fair_queue *t, str name)
{
    return &t->buckets[bucket_number(name)];
}

static int64_t takes_us(const struct fair_queue *t, str tenant)
{
    int64_t us = t->took_us[bucket_number(tenant)];

    return us < PART_US ? PART_US : us;
}

static struct tenant *tenant_find(struct fair_queue *t, str name)
{
    struct tenant *l = *bucket_of(t, name);

    while (l && !str_eq(l->first->item.tenant, name))
        l = l->beside;
    return l;
}

/* A new one comes last: just before the one whose turn it is. With `first` it comes next. */
static struct tenant *tenant_open(struct fair_queue *t, str name, bool first)
{
    struct tenant *l = t->free_tenants, **bucket = bucket_of(t, name);

    assert(l); /* no more than there are slots, since each has an item */
    t->free_tenants = l->beside;
    *l = (struct tenant){ .end = &l->first, .next = l, .previous = l, .beside = *bucket };
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

static void turn_next(struct fair_queue *t)
{
    t->at = t->at->next;
    t->at->due_us += PART_US;
}

static void tenant_close(struct fair_queue *t, struct tenant *l, str name)
{
    struct tenant **at = bucket_of(t, name);

    assert(l->count == 0 && !l->first);
    while (*at != l)
        at = &(*at)->beside;
    *at = l->beside;
    l->next->previous = l->previous;
    l->previous->next = l->next;
    if (t->at == l)
        t->at = l->next == l ? NULL : l->next;
    l->beside = t->free_tenants;
    t->free_tenants = l;
}

static struct slot *slot_take(struct fair_queue *t, struct fair_item item)
{
    struct slot *p = t->free_slots;

    assert(p);
    t->free_slots = p->next;
    *p = (struct slot){ .item = item };
    t->count++;
    return p;
}

/* ---- putting and taking ---- */

size_t fair_queue_put(struct fair_queue *t, struct fair_item *list, size_t count)
{
    size_t refused = 0;

    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < count; i++) {
        struct tenant *l = tenant_find(t, list[i].tenant);
        if (t->closed || t->count >= t->room || (l && l->count >= t->share)) {
            list[refused++] = list[i];
            continue;
        }
        if (!l)
            l = tenant_open(t, list[i].tenant, false);
        *l->end = slot_take(t, list[i]);
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

void fair_queue_give_back(struct fair_queue *t, const struct fair_item *list, size_t count)
{
    pthread_mutex_lock(&t->lock);
    while (count-- > 0) {
        struct tenant *l = tenant_find(t, list[count].tenant);
        if (!l)
            l = tenant_open(t, list[count].tenant, true);
        struct slot *p = slot_take(t, list[count]);
        p->next = l->first;
        if (!l->first)
            l->end = &p->next;
        l->first = p;
        l->count++;
        l->due_us += takes_us(t, list[count].tenant);
        t->at = l; /* who was taken first is next again */
    }
    pthread_mutex_unlock(&t->lock);
    pthread_cond_broadcast(&t->changed);
}

static void wait_for_some(struct fair_queue *t, int64_t wait_ms)
{
    if (t->count || t->closed || wait_ms == 0)
        return;
    struct timespec until = monotonic_after(wait_ms < 0 ? 0 : wait_ms);
    int code = 0;
    while (!t->count && !t->closed && code != ETIMEDOUT)
        code = wait_ms < 0 ? pthread_cond_wait(&t->changed, &t->lock)
                           : pthread_cond_timedwait(&t->changed, &t->lock, &until);
}

/* Whose turn it is, as soon as what it has got is enough: how long its first item will take. */
static int64_t turn_find(struct fair_queue *t)
{
    assert(t->at && t->count > 0);
    while (t->at->due_us < takes_us(t, t->at->first->item.tenant))
        turn_next(t);
    return takes_us(t, t->at->first->item.tenant);
}

static struct fair_item take_one(struct fair_queue *t, int64_t us)
{
    struct tenant *l = t->at;
    struct slot *p = l->first;
    struct fair_item taken = p->item;

    l->due_us -= us;
    l->first = p->next;
    p->next = t->free_slots;
    t->free_slots = p;
    t->count--;
    turn_next(t);
    if (--l->count == 0)
        tenant_close(t, l, taken.tenant);
    assert((t->count == 0) == (t->at == NULL));
    return taken;
}

size_t fair_queue_take(struct fair_queue *t, struct fair_item *list, size_t most, int64_t wait_ms,
                       struct fair_batch *batch)
{
    struct fair_batch any = { .left_us = INT64_MAX }, *b = batch ? batch : &any;
    size_t count = 0;

    pthread_mutex_lock(&t->lock);
    wait_for_some(t, wait_ms);
    while (count < most && t->count && b->left_us > 0) {
        int64_t us = turn_find(t);
        if (b->count && us > b->left_us)
            break;
        list[count++] = take_one(t, us);
        b->left_us -= us;
        b->count++;
    }
    pthread_mutex_unlock(&t->lock);
    return count;
}

void fair_queue_took(struct fair_queue *t, str tenant, int64_t us)
{
    int32_t *took = &t->took_us[bucket_number(tenant)];

    pthread_mutex_lock(&t->lock);
    *took = (int32_t)((*took + (us < TOOK_MAX ? us : TOOK_MAX)) / 2);
    pthread_mutex_unlock(&t->lock);
}

void fair_queue_close(struct fair_queue *t)
{
    pthread_mutex_lock(&t->lock);
    t->closed = true;
    pthread_mutex_unlock(&t->lock);
    pthread_cond_broadcast(&t->changed);
}

/* ---- asking ---- */

bool fair_queue_ended(struct fair_queue *t)
{
    pthread_mutex_lock(&t->lock);
    bool ended = t->closed && t->count == 0;
    pthread_mutex_unlock(&t->lock);
    return ended;
}

size_t fair_queue_length(struct fair_queue *t)
{
    pthread_mutex_lock(&t->lock);
    size_t count = t->count;
    pthread_mutex_unlock(&t->lock);
    return count;
}
