/* pair.h: two nodes on one PostgreSQL, for tests of what they do to each other. */
#ifndef TEST_BLACK_PAIR_H
#define TEST_BLACK_PAIR_H

#include "black/black.h"
#include "sim/postgres.h"

struct pair {
    struct postgres *postgres;
    struct black a, b;
};

/* In the database that statements by hand are for. A setting, "name=value", is that of a alone. */
struct pair pair_start(void);
struct pair pair_start_with(const char *setting);
struct pair pair_start_on(struct postgres *postgres, const char *setting);
void pair_stop(struct pair *p);

/* The body of a write that sets `n` of a state {'n':…}; and what a node shows of it. */
const char *node_patch_to(int n);
int64_t node_shown_n(const struct black *b, str state);

/* Adds one to the list of a state {'list':[]}, under a key; or begins to, and does not wait. */
struct response node_add_one(const struct black *b, str state, const char *key);
struct peer node_begin_add_one(const struct black *b, str state, const char *key);

/* How many were added, by the list and by the version alike. */
int64_t node_shown_count(const struct black *b, str state);

#endif
