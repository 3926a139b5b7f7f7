/* fair_queue.h: a bounded queue between threads that is shared fairly between tenants.
 *
 * Every item belongs to a tenant. Items of one tenant come out in the order in
 * which they were put. Tenants take turns, so one with many items makes another
 * wait for one of them and not for all. The turns share time, not only slots: a
 * tenant whose items take long has its turn less often. A tenant may fill no more
 * than a share of the room. Any thread may put, any may take. Does not know what
 * the items are, nor who the tenants are. */
#ifndef BASE_FAIR_QUEUE_H
#define BASE_FAIR_QUEUE_H

#include "base/str.h"

struct fair_queue;

struct fair_item {
    void *value;
    str tenant; /* a name that lives as long as the value */
};

/* For `room` values in all, and `share` of them for one tenant. */
struct fair_queue *fair_queue_new(size_t room, size_t share);
void fair_queue_free(struct fair_queue *t);

/* Puts those for which there is room. The others, none of which was closer to its turn than those of
 * its tenant that went in, are moved to the front of the list: gives how many they are. */
size_t fair_queue_put(struct fair_queue *t, struct fair_item *list, size_t count);

/* What is done together, and is waited for together: the time that there is for it, by what the items
 * will take, and how many there are of it already. */
struct fair_batch {
    int64_t left_us;
    size_t count;
};

/* Takes what is waiting, at most `most`, and waits for the first as long as `wait_ms` says; −1:
 * until there is one. 0: the time has passed, or it is closed and empty. They are added to `batch`:
 * what takes longer than is left of its time is taken only as its first, so that nobody waits for
 * that who need not. Then it is the first of the next. NULL: it does not matter. */
size_t fair_queue_take(struct fair_queue *t, struct fair_item *list, size_t most, int64_t wait_ms,
                       struct fair_batch *batch);

/* How long something of a tenant has taken: about as long as the next will. */
void fair_queue_took(struct fair_queue *t, str tenant, int64_t us);

/* Gives back the last that were taken, in their order: each is the first of its tenant again. There is
 * always room for them, also when it is closed. */
void fair_queue_give_back(struct fair_queue *t, const struct fair_item *list, size_t count);

/* Nothing goes in any more; takers get what is left, and then 0 without waiting. */
void fair_queue_close(struct fair_queue *t);

/* Closed, and everything was taken. */
bool fair_queue_ended(struct fair_queue *t);

size_t fair_queue_length(struct fair_queue *t);

#endif
