/* fair_queue.h: a bounded queue between threads, in which lanes take turns.
 *
 * Everything that is put has a lane. Within a lane things come out in the order
 * in which they were put; between lanes each gives one when it is its turn, so
 * one lane that is full makes another wait for one thing of it and not for all.
 * A lane whose things take long has its turn less often: lanes share time, not
 * only places. They have no more than a share of the room, for the same reason.
 * Any thread may put, any may take. Does not know what travels in it, nor whose
 * lanes are. */
#ifndef BASE_FAIR_QUEUE_H
#define BASE_FAIR_QUEUE_H

#include "base/str.h"

struct turns;

struct turn {
    void *value;
    str lane; /* its name, which lives as long as the value */
};

/* For `room` values in all, and `share` of them in one lane. */
struct turns *turns_new(size_t room, size_t share);
void turns_free(struct turns *t);

/* Puts those for which there is room. The others, none of which was closer to its turn than those of
 * its lane that went in, are moved to the front of the list: gives how many they are. */
size_t turns_put(struct turns *t, struct turn *list, size_t count);

/* Takes what is waiting, at most `most`, and waits for the first as long as `wait_ms` says; −1:
 * until there is one. 0: the time has passed, or it is closed and empty. What they will take is
 * taken off `us`, and the one that uses it up is the last; NULL: it does not matter. */
size_t turns_take(struct turns *t, struct turn *list, size_t most, int64_t wait_ms, int64_t *us);

/* How long something of a lane has taken: about as long as the next will. */
void turns_took(struct turns *t, str lane, int64_t us);

/* Gives back the last that were taken, in their order: each is the first of its lane again. There is
 * always room for them, also when it is closed. */
void turns_give_back(struct turns *t, const struct turn *list, size_t count);

/* Nothing goes in any more; takers get what is left, and then 0 without waiting. */
void turns_close(struct turns *t);

/* Closed, and everything was taken. */
bool turns_ended(struct turns *t);

size_t turns_length(struct turns *t);

#endif
