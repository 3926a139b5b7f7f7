/* shared.h: bytes that many connections may be sending at once. */
#ifndef WIRE_SHARED_H
#define WIRE_SHARED_H

#include "base/str.h"

struct server;

struct shared {
    unsigned refs;
    unsigned holders; /* of the refs, those that wait for a reader */
    str bytes;
};

/* A copy of the bytes, with one reference. */
struct shared *shared_new(str bytes);
struct shared *shared_ref(struct shared *s);
void shared_unref(struct shared *s);

/* It waits for a reader, and does so no more, which ends the reference as well. What is sent to many
 * counts once among the bytes that are held, however many it is held for. */
void shared_hold(struct server *s, struct shared *f);
void shared_release(struct server *s, struct shared *f);

#endif
