/* hostile.h: inputs made to hurt, and what they may cost, for tests.
 *
 * Each is made from a few pieces, since most of them are a piece said very often. The time that
 * counts is that of the processor, so a busy machine fails nothing. */
#ifndef TEST_HOSTILE_H
#define TEST_HOSTILE_H

#include "check.h"
#include "json/json.h"

/* A text: head, then `unit` count times, core, then `close` count times, tail. In a unit \1 is its
 * number, \2 the next one, and \3 how many come after it. Single quotes become double ones. */
struct text {
    const char *head, *unit;
    uint32_t count;
    const char *core, *close, *tail;
};

#define PLAIN(text_)               \
    {                              \
        (text_), "", 0, "", "", "" \
    }
#define MANY(head_, unit_, count_, tail_)           \
    {                                               \
        (head_), (unit_), (count_), "", "", (tail_) \
    }
#define NESTED(unit_, count_, core_, close_)         \
    {                                                \
        "", (unit_), (count_), (core_), (close_), "" \
    }

str text_make(struct arena *a, const struct text *t, bool quotes);

/* As a document; making it is not what is measured. */
struct json value_of(struct arena *a, const struct text *t);

/* ---- a case: two texts, what is done with them, and what must come of it ---- */

struct hostile {
    const char *name;
    struct text first, second;
    const char *expected; /* the kind of the error and a part of its message, or "ok" */
};

/* Does it, and says how long what is measured of it took. */
typedef err hostile_run(struct arena *a, const struct hostile *h, double *ms);

/* Each case has its outcome, in the time and the memory that a case may take; or in another time, and
 * whatever memory. */
void check_hostile(const struct hostile *h, size_t count, hostile_run *run);
void check_hostile_within(const struct hostile *h, size_t count, hostile_run *run, double limit_ms);

#define CHECK_HOSTILE(cases, run) check_hostile((cases), sizeof(cases) / sizeof(*(cases)), (run))

/* ---- what is measured ---- */

double cpu_ms(void);
void check_time(const char *name, double ms);
void check_memory(const char *name);

#define LONG_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

#endif
