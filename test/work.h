/* work.h: how much work something is, for tests.
 *
 * Time also tells how busy the machine is, so no test fails by it. The build `counted` counts work
 * instead: one input is one number of units, whatever else the machine does. Other builds tell only
 * the time. */
#ifndef TEST_WORK_H
#define TEST_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct work {
    uint64_t units; /* 0 where they are not counted */
    double ms;      /* of the processor: to be shown, not to be compared */
};

bool work_is_counted(void);

/* What the process has done so far, and since then. */
struct work work_now(void);
struct work work_since(struct work start);

#endif
