/* loop.h: sockets, timers and wake-ups of one thread.
 *
 * The only part of the program that knows libuv. A link is one end of a
 * connected stream, whatever its kind: TCP, a Unix socket, later TLS. Knows no
 * protocol, and holds no bytes of its own: who sends keeps them until they are
 * sent. */
#ifndef WIRE_LOOP_H
#define WIRE_LOOP_H

#include "base/arena.h"
#include "base/err.h"

struct loop;
struct link;
struct listener;
struct timer;
struct wakeup;

struct loop *loop_new(void);

/* Runs until loop_stop; everything that was made in it must be closed before loop_free. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);
void loop_free(struct loop *l);

/* Milliseconds of a clock that never goes back, as they were when this turn of the loop began. */
int64_t loop_now_ms(const struct loop *l);

/* Calls fn at the end of every turn in which something happened: what a turn gathered is passed on
 * at once, for all of it. There is one; fn may be NULL. */
void loop_each_turn(struct loop *l, void (*fn)(void *owner), void *owner);

/* ---- links ---- */

struct link_events {
    void (*bytes)(void *owner, str bytes); /* they can be looked at until it returns */
    void (*sent)(void *owner);             /* what link_send could not send at once is sent */
    void (*ended)(void *owner);            /* the peer sends no more, or is gone; once */
    void (*closed)(void *owner);           /* the last call: the link is no more */
};

/* Begins to read. Until then, and while paused, the peer's bytes stay with the system. */
void link_open(struct link *l, const struct link_events *events, void *owner);
void link_pause(struct link *l);
void link_resume(struct link *l);

/* How many bytes it is told of at once, at most; as many as that mean that there are more. */
enum { LINK_READ_MAX = 64 << 10 };
void link_read_most(struct link *l, size_t bytes);

/* The same as pausing, of one that brings so much that others are to have their turn first: neither
 * has to know of the other. */
void link_yield(struct link *l);
void link_go_on(struct link *l);

enum { LINK_PIECES_MAX = 64 };

/* Sends the pieces, in one call to the system where that is possible. True: all is sent. False: the
 * rest is being sent, the bytes stay where they are until `sent`, and nothing more may be sent
 * before that. When it fails, `sent` comes all the same, then `ended`; what is sent to a peer that
 * is gone counts as sent. */
bool link_send(struct link *l, const str *pieces, size_t count);

/* How many bytes of the last link_send the system has not taken yet. */
size_t link_unsent(const struct link *l);

/* Tells the peer that no more is sent; what it still sends can be read. Only when all is sent. */
void link_finish(struct link *l);

/* Closes it, now: no other call comes after this than `closed`, from the loop. */
void link_close(struct link *l);

bool link_is_local(const struct link *l); /* a Unix socket */

/* Who is at the other end of a Unix socket. */
bool link_peer(const struct link *l, uint32_t *uid, int64_t *pid);

/* ---- listening ---- */

/* A connection; NULL: one came and could not be taken, because the process has no descriptor left. */
typedef void link_accept(void *owner, struct link *l);

/* Where HOST or HOST:PORT says: "127.0.0.1", "[::1]:0", "localhost:8765" (which is 127.0.0.1).
 * Without a port in the text it is `*port`; 0 takes a free one; `*port` tells which it is. INVALID
 * when the text is no address, CONFLICT when somebody else listens there. */
err loop_listen_tcp(struct loop *l, struct arena *a, str host, uint16_t *port, link_accept *accept,
                    void *owner, struct listener **out);

/* The socket's file is made with mode 0600; one that nobody listens on any more is replaced. It goes
 * when the listener is closed. */
err loop_listen_unix(struct loop *l, struct arena *a, str path, link_accept *accept, void *owner,
                     struct listener **out);
void listener_close(struct listener *l);

/* ---- time and other threads ---- */

struct timer *timer_new(struct loop *l, void (*fn)(void *owner), void *owner);
void timer_set(struct timer *t, int64_t ms); /* from now on, once */
void timer_clear(struct timer *t);
void timer_free(struct timer *t);

/* wakeup_send may be called by any thread, and makes the loop call fn soon, once for many. */
struct wakeup *wakeup_new(struct loop *l, void (*fn)(void *owner), void *owner);
void wakeup_send(struct wakeup *w);
void wakeup_free(struct wakeup *w);

/* Calls fn when the process gets the signal. */
struct signal_watch *signal_new(struct loop *l, int number, void (*fn)(void *owner), void *owner);
void signal_free(struct signal_watch *s);

#endif
