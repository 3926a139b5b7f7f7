/* adversary.h: clients that mean ill, by the thousand, for tests that have honest ones beside them.
 *
 * A kind of them is a row of a table in adversary.c: what it sends, with whose token, and whether it
 * takes what it is answered. One thread drives all connections; one that the server closes is opened
 * again. Nothing is expected of what they are answered: what matters is how the server, and those
 * who behave, fare meanwhile. */
#ifndef TEST_BLACK_ADVERSARY_H
#define TEST_BLACK_ADVERSARY_H

#include "black/black.h"

/* Tokens and states that they use; made once for a server. */
struct adversary_setup;
struct adversary_setup *adversary_setup_new(const struct black *b);

/* The token of a session of this name, which has that state; `pointers` is empty, or what its scope
 * has beside: ",'pointers':[…]". */
str adversary_token(const struct black *b, const char *session, str state, const char *pointers);

/* Kinds that are ill are numbered from 0; those behind them are merely busy. */
size_t adversary_kinds(void);
const char *adversary_name(size_t kind);
size_t adversary_kind(const char *name); /* whose name begins so */

struct adversary;

/* Lets so many connections of a kind begin. */
struct adversary *adversary_begin(const struct adversary_setup *setup, size_t kind, int count);

/* The same with so many of each kind that is ill; those that are closed, and now and then one that
 * is not, come back as another kind, by chance. */
struct adversary *adversary_begin_all(const struct adversary_setup *setup, int count_each,
                                      uint64_t seed);

/* In their place as many that mean no harm, each with the token that the ill one would show, so that the
 * same of them find room: they ask for what is done, and where the other is work for the writer, for
 * nearly as much of it as one command may be. */
struct adversary *adversary_begin_busy(const struct adversary_setup *setup, int count_each);

/* Waits until each of them has sent something, or was closed. */
void adversary_wait(const struct adversary *a);

/* How often one of them has sent all that it had to say. */
int64_t adversary_rounds(const struct adversary *a);

/* Closes them, and tells how many rounds there were. */
void adversary_end(struct adversary *a);

#endif
