/* conn.h: one connection: its link, who is at the other end, what is waiting to be sent, and how
 * long it may take.
 *
 * A protocol is what the bytes mean: HTTP at first, then perhaps WebSocket or a
 * stream of events, which the protocol before it switches to. A connection does
 * not know any of them. */
#ifndef WIRE_CONN_H
#define WIRE_CONN_H

#include "base/list.h"
#include "ops/op.h"
#include "wire/loop.h"
#include "wire/shared.h"

struct conn;
struct server;

/* What a protocol is told. All from the loop, never from inside a call of its own to a conn_…
 * function; and none of it, but `closed`, after conn_finish or conn_abort. */
struct protocol {
    const char *name;
    void (*bytes)(struct conn *c, str bytes); /* takes all of them, or keeps what it cannot */
    void (*sent)(struct conn *c);     /* what had to wait is sent, or it is its turn again: go on */
    void (*ended)(struct conn *c);    /* the peer sends no more */
    void (*late)(struct conn *c);     /* the deadline has passed */
    void (*revoked)(struct conn *c);  /* its token is not valid any more */
    void (*stopping)(struct conn *c); /* the server stops: finish what is in flight */
    void (*closed)(struct conn *c);   /* release what is the protocol's */
};

struct conn {
    struct server *server;
    struct link *link;
    struct list all; /* in the server's list */
    const struct protocol *protocol;
    void *state;         /* the protocol's */
    struct grant *grant; /* set by conn_admit alone */
    struct quota *quota; /* whose it is */
    struct list bulk;    /* in the quota's list of those that bring much */
    uint64_t asked_turn; /* the turn of the loop in which it last asked for something, */
    uint32_t asked;      /* and how often it did */
    struct list unknown; /* in the server's list of those who have shown no token, oldest first */
    bool admitting;      /* what it has shown is being looked up */
    bool looked, inside; /* whether its process belongs to a run; false before it was looked at */
    int64_t deadline_ms; /* of loop_now_ms; 0: none */

    /* What is waiting to be sent: a ring of pieces, each with who keeps it. */
    struct piece *out;
    uint32_t out_first, out_count, out_room;
    uint32_t out_taken; /* the first so many are with the link */
    size_t out_bytes;
    size_t out_own;    /* memory of what is this connection's alone */
    size_t unsent;     /* of what is with the link: bytes, when it was last looked at */
    int64_t sent_ms;   /* when the link was last given or rid of something */
    bool sending;      /* the link has a call that is not finished */
    struct list dirty; /* in the server's list of those to send for at the end of the turn */
    bool closing;      /* close it when all is sent */
    bool lingering;    /* all is sent, and the peer was told that no more comes */
    bool ended;        /* the peer sends no more */
    bool closed;
};

/* A connection that takes bytes from now on; who accepts it sets its protocol. */
struct conn *conn_open(struct server *s, struct link *l);

/* Sends what a buffer holds, which is copied; or what is shared, without a copy; or an answer from
 * the cache, whose reference is handed over. */
void conn_send(struct conn *c, str bytes);
void conn_send_shared(struct conn *c, struct shared *s);
void conn_send_cached(struct conn *c, struct cached_answer *s);

/* Whose it is from now on; the reference is handed over. NULL: nobody's that is known. */
void conn_admit(struct conn *c, struct grant *g);

/* When the peer last took something of what is being sent to it. */
int64_t conn_progress_ms(struct conn *c);

/* Gives what is waiting to the link. */
void conn_flush(struct conn *c);

/* Has it flushed at the end of this turn of the loop, once, whatever else is put to it. */
void conn_flush_later(struct conn *c);

/* Whether it may ask for one thing more in this turn of the loop; else `sent` comes when it is its
 * turn again, and what it has said until then is to be kept. */
bool conn_may_ask(struct conn *c);

/* From now on, in ms; 0: no deadline. */
void conn_deadline(struct conn *c, int64_t ms);

/* The bytes behind this call mean something else. The old protocol's state is its own business. */
void conn_switch(struct conn *c, const struct protocol *p, void *state);

/* Closes when all is sent, or at once. A peer that was just sent something gets a moment to read it
 * and to close first: closing under bytes that are still coming in would take it away from it. */
void conn_finish(struct conn *c);
void conn_abort(struct conn *c);

/* For server.c: the end of a turn of a connection that waits for it; those go on that bring much, as
 * many as may in one turn; the check of its deadlines; and the end of the memory that connections
 * take turns with. */
void conn_turn_ends(struct conn *c);
void conns_bulk_go_on(struct server *s);
void conn_check_deadlines(struct conn *c, int64_t now_ms);
void conn_chunks_free(struct server *s);

#endif
