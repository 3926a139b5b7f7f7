/* busy_poll.h: whether somebody who has nothing to do looks on for a moment before he sleeps.
 *
 * A processor that nobody uses is halted, and needs 20 to 50 µs to be there again, most of all a
 * virtual one. Where two programs talk in turns and both answer in less, nearly all of a call's
 * time is that. So one who has had many short turns in a row stays awake between them. Where that
 * is in vain, since the other has gone or needs the processor himself, it is tried less and less;
 * who is asked now and then never does it. Knows no clock: its owner tells what happened. */
#ifndef BASE_BUSY_POLL_H
#define BASE_BUSY_POLL_H

#include <stdbool.h>

enum {
    AWAKE_US = 200,      /* one stays awake for so long … */
    AWAKE_TURN_US = 500, /* … after turns that took no longer, their work included … */
    AWAKE_TURNS = 16,    /* … so many in a row, and more where it was in vain */
    AWAKE_TURNS_MORE_MAX = 1024,
};

struct awake {
    int turns; /* in a row that were short */
    int more;  /* that are wanted since it was in vain */
};

static inline bool awake_pays(const struct awake *a)
{
    return a->turns >= AWAKE_TURNS + a->more;
}

/* A turn is over. */
static inline void awake_turned(struct awake *a, bool is_short)
{
    if (!is_short)
        a->turns = 0;
    else if (!awake_pays(a))
        a->turns++;
}

/* He has stayed awake, and something came, or not. */
static inline void awake_tried(struct awake *a, bool came)
{
    if (came) {
        a->more /= 2;
        return;
    }
    a->turns = 0;
    a->more = a->more ? 2 * a->more : AWAKE_TURNS;
    if (a->more > AWAKE_TURNS_MORE_MAX)
        a->more = AWAKE_TURNS_MORE_MAX;
}

#endif
