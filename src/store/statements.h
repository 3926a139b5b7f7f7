/* statements.h: the statements that a connection has prepared, each found by its literal.
 *
 * A text is known by its address and never read, so finding one costs a multiplication; there are
 * as many as the program has literals, and all are kept. Knows no database: a slot begins with its
 * text, and what follows is the driver's own. Private to store/. */
#ifndef STORE_STATEMENTS_H
#define STORE_STATEMENTS_H

#include "base/str.h"

enum { STATEMENT_ARGS_MAX = 64 };

/* All zero: there are none yet. */
struct statements {
    void *slots; /* open addressing; where the text is NULL, all of the slot is zero */
    uint32_t count, slot_count;
};

void statements_widen(struct statements *s, size_t bytes);

/* The slot of a literal, of `bytes` like all others of this connection; what follows the text is
 * zero when it is new. Stays in its place until the next call. */
static inline void *statements_find(struct statements *s, const char *text, size_t bytes)
{
    if (s->count >= s->slot_count / 2)
        statements_widen(s, bytes);
    uint32_t mask = s->slot_count - 1;
    uint32_t at = (uint32_t)((uintptr_t)text * 0x9e3779b97f4a7c15u >> 32) & mask;

    for (;; at = (at + 1) & mask) {
        const char **slot = (void *)((char *)s->slots + at * bytes);
        if (*slot == text)
            return slot;
        if (!*slot) {
            *slot = text;
            s->count++;
            return slot;
        }
    }
}

/* Forgets all of them. */
void statements_release(struct statements *s);

#endif
