/* held.h: what waits for slow readers, and who goes when there is no room for more. */
#ifndef WIRE_HELD_H
#define WIRE_HELD_H

#include "wire/conn.h"

/* Whether an answer of so many bytes may be put to the connection. When there is no room for it,
 * those who have taken nothing for a while are dropped, the longest first; with `must`, however
 * short that was. False: it is to be told to try again. */
bool held_takes(struct server *s, struct conn *c, size_t bytes, bool must);

/* Whether so much waits that subscribers must do without more for now: they read it again later. Those
 * who have taken nothing for a while are dropped before it is full. */
bool held_is_scarce(const struct server *s);
bool held_is_full(struct server *s);

#endif
