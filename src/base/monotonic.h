/* monotonic.h: conditions that are waited for by the monotonic clock, which nobody sets. */
#ifndef BASE_MONOTONIC_H
#define BASE_MONOTONIC_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

static inline void monotonic_cond_init(pthread_cond_t *condition)
{
    pthread_condattr_t steady;

    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &steady);
    pthread_condattr_destroy(&steady);
}

/* The time in so many milliseconds, or in a day if that is sooner: whoever waits comes back. */
static inline struct timespec monotonic_after(int64_t ms)
{
    enum { DAY_MS = 24 * 3600 * 1000 };
    struct timespec t;

    if (ms > DAY_MS)
        ms = DAY_MS;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

#endif
