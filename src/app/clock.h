/* clock.h: what differs from run to run: time, and chance.
 *
 * Rules never ask for either; they are handed a time and a source of ids, which
 * the simulator replaces by numbers. Here are the ones of the real world. */
#ifndef APP_CLOCK_H
#define APP_CLOCK_H

#include "core/tx.h"

/* The wall clock as it was at the start, and the time that has passed since, sleep of the machine
 * included. So it never goes back, and a wall clock that is set meanwhile changes nothing. It does
 * not change after it was started: any thread may ask. */
struct clock {
    int64_t started_ms, boot_ms;
};

/* Starts at the wall clock's time, but not before `floor_ms`: the highest time ever used. */
void clock_start(struct clock *c, int64_t floor_ms);

/* The wall clock itself, in ms since 1970. */
int64_t clock_wall_ms(void);

/* Now; takes a void * because engines do not know what kind of clock they have. */
int64_t clock_now_ms(void *clock);

/* Microseconds of a clock that nobody sets, since some moment: to see how long something took. */
int64_t clock_steady_us(void);

/* Randomness of the system, taken in larger pieces: for one thread. */
struct chance {
    unsigned char bytes[512];
    size_t left; /* unused ones, at the end */
};

/* Ids are their prefix and 12 lower-case base-32 characters. */
struct tx_source chance_source(struct chance *c);

#endif
