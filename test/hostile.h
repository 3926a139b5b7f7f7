/* hostile.h: inputs made to hurt, and what they may cost, for tests.
 *
 * Each is made from a few pieces, since most of them are a piece said very often. What a case may cost
 * is an amount of work, which the build `counted` checks; other builds check outcomes and memory. */
#ifndef TEST_HOSTILE_H
#define TEST_HOSTILE_H

#include "check.h"
#include "json/json.h"
#include "work.h"

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

/* Does it, and says how much work that is which is measured of it. */
typedef err hostile_run(struct arena *a, const struct hostile *h, struct work *spent);

/* Each case has its outcome, with the work and the memory that a case may take; or with other work, in
 * units, and whatever memory. */
void check_hostile(const struct hostile *h, size_t count, hostile_run *run);
void check_hostile_within(const struct hostile *h, size_t count, hostile_run *run, uint64_t most);

#define CHECK_HOSTILE(cases, run) check_hostile((cases), sizeof(cases) / sizeof(*(cases)), (run))

/* ---- what is measured ---- */

/* What is not a table of cases is not more work than one of them may be. */
void check_work(const char *name, struct work spent);
void check_memory(const char *name);

#define LONG_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

#endif
