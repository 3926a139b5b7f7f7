/* busy_poll.h: whether a thread with nothing to do polls for a moment before it sleeps.
 *
 * An idle processor is halted, and takes 20 to 50 µs to come back, most of all a
 * virtual one. Where two programs talk in turns and both answer in less, nearly
 * all of a call's time is that. So a thread that has had many short turns in a row
 * polls between them. Where that is in vain, because the peer has gone or needs the
 * processor itself, it is tried less and less; a thread that is asked now and then
 * never does it. Knows no clock: its owner says what happened. */
#ifndef BASE_BUSY_POLL_H
#define BASE_BUSY_POLL_H

#include <stdbool.h>

enum {
    BUSY_POLL_US = 200,      /* a thread polls for so long … */
    BUSY_POLL_TURN_US = 500, /* … after turns that took no longer, their work included … */
    BUSY_POLL_TURNS = 16,    /* … so many in a row, and more where it was in vain */
    BUSY_POLL_TURNS_MORE_MAX = 1024,
};

struct busy_poll {
    int turns; /* in a row that were short */
    int more;  /* that are wanted since it was in vain */
};

static inline bool busy_poll_pays(const struct busy_poll *a)
{
    return a->turns >= BUSY_POLL_TURNS + a->more;
}

/* A turn is over. */
static inline void busy_poll_turned(struct busy_poll *a, bool is_short)
{
    if (!is_short)
        a->turns = 0;
    else if (!busy_poll_pays(a))
        a->turns++;
}

/* It has polled, and something came, or not. */
static inline void busy_poll_tried(struct busy_poll *a, bool came)
{
    if (came) {
        a->more /= 2;
        return;
    }
    a->turns = 0;
    a->more = a->more ? 2 * a->more : BUSY_POLL_TURNS;
    if (a->more > BUSY_POLL_TURNS_MORE_MAX)
        a->more = BUSY_POLL_TURNS_MORE_MAX;
}

#endif
