/* pending.h: a command on its way, from its submission to its answer.
 *
 * Whoever wants something done, a request of HTTP, a message of MCP, a subscriber that
 * reads the log, has one of these and is told once: when there is an answer or an error.
 * What lies between is here: other threads perform the command, it may wait for an event
 * or a time and run again, and behind what it has written there may be a read that answers
 * in its place. */
#ifndef WIRE_PENDING_H
#define WIRE_PENDING_H

#include "ops/op.h"
#include "wire/quota.h"

struct waiting;

/* Why nobody wants to wait any more. */
enum cancel_reason {
    CANCEL_NOT, /* somebody does */
    CANCEL_GONE,
    CANCEL_REVOKED,  /* its token was */
    CANCEL_STOPPING, /* the server is */
    CANCEL_ASKED,    /* the client says so */
    CANCEL_SESSION,  /* the session of MCP that it belongs to has ended */
};

/* As its client is told. */
const char *cancel_text(enum cancel_reason why);

struct pending {
    /* Of its owner, before it is submitted: */
    struct server *server;
    struct command command; /* arena, op, input, actor, and perhaps a key; then what came of it */
    struct charge *charge;  /* what it takes of its token's quota; NULL: it is the server's own */
    str cached;             /* the document that its answer may be kept for; empty: none */
    int64_t
        wait_until_ms; /* it waits no longer, by the wall clock; 0: as long as the server lets it */
    void (*done)(struct pending *p);
    void (*waits)(struct pending *p); /* it begins to; NULL: its owner need not know */
    void *owner;

    const struct command *wrote; /* that the command reads behind; NULL: it was asked for itself */

    /* Its own: */
    bool performing; /* another thread works on it */
    struct waiting *waiting;
    int64_t wait_mark;
    uint32_t cache_mark;
    enum cancel_reason cancelled;
};

/* Submits the command. Its arena is another thread's until p->done is called, once, in a later turn
 * of the loop. LIMIT or UNAVAILABLE: there is no room for it, and p->done is not called. */
err pending_submit(struct pending *p);

/* Nobody wants to wait for it any more: if it waits, it ends with an error that says why, now or soon; if it is
 * being performed, it is told what came of it, and neither waits nor reads on. */
void pending_cancel(struct pending *p, enum cancel_reason why);

#endif
