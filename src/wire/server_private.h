/* server_private.h: what the parts of the server know of each other. Private to wire/.
 *
 * From below to above; a file calls those before it, and others only through what they have given it
 * (a protocol, a route, a function to call when something is done):
 *
 * loop*.c     sockets, timers, other threads' signs;  shared.c  bytes for many
 * submit.c    memory for requests, commands on their way to the other threads
 * quota.c     how much each token takes of what all share
 * conn.c      one connection;  held.c  what waits for slow readers;  lag.c  slow subscribers
 * admit.c     which connections there is room for
 * hub_topic.c who waits for which subject, and until when;  hub_matcher.c  waiters with a predicate;
 *             hub_subscriber.c  how one catches up with the log;  hub.c  publishing
 * wait.c      commands that wait for an event or a time;  pending.c  a command until its answer
 * barrier.c   what other nodes have committed;  grants.c  who the tokens stand for that were shown
 * deliver.c   what other threads bring
 * http/       requests → commands → responses; streams of events (sse.c); what is no operation
 *             (routes.c): /health /ready /metrics /limits /openapi.json
 * ws/         WebSocket;  mcp/  /mcp: see wire/mcp/private.h
 * server.c    all of it together: accepting, turns, deadlines, stopping */
#ifndef WIRE_SERVER_PRIVATE_H
#define WIRE_SERVER_PRIVATE_H

#include "wire/conn.h"
#include "wire/http/parse.h"
#include "wire/server.h"
#include "wire/quota.h"

struct hub;

struct server {
    struct server_options options;
    struct server_limits limits;
    struct loop *loop;
    struct op_cache *cache;
    struct hub *hub;
    struct list conns, dirty;
    uint64_t turn;       /* of the loop: how many there were */
    struct list bulk;    /* of the quotas, those with connections that bring much, in turns */
    struct list unknown; /* of the connections, those that have shown no token, oldest first */
    uint32_t conn_count;
    uint32_t open_count;    /* of those, not closed yet */
    uint32_t unknown_count; /* of these, without a token */
    uint32_t known_count;   /* with one, and not the operator's */
    struct quotas *quotas;
    uint64_t buffered;      /* bytes of requests: what their arenas take, parsed values included */
    uint64_t held;          /* bytes that wait for their readers */
    uint64_t dropped;       /* connections that were, to make room for others */
    int64_t published;      /* the number of the last event that was */
    int64_t team_published; /* and of the last one of a session or a run; at the start all may be */
    bool stopping;

    /* Commands that this turn has gathered for the other threads. */
    struct command *gathered, **gathered_end;
    uint32_t gathered_count;
    bool freed; /* nobody performs anything any more */

    struct delivery *delivery;
    struct barriers *barriers;
    struct grants *grants; /* by what was shown */
    struct arena **arenas; /* empty ones, to be used again */
    uint32_t arena_count;
    struct chunk *chunks; /* conn.c's: empty ones, likewise */
    uint32_t chunk_count;

    uint64_t by_class[6], cache_hits; /* for /metrics: statuses by their hundreds */
    const struct http_route *routes;  /* what is no operation */
    struct file *files;               /* of these, that were asked for: wire/http/route.c's */
    int64_t sign_in_at_ms;            /* wire/http/sign_in.c's: how many have tried */
    struct mcp_front *mcp;            /* wire/mcp/session.c's; NULL: there is no /mcp */
    void (*revoked)(struct server *s, str token_id); /* the token is; NULL: nobody wants to know */
    struct server_more *more;                        /* server.c's own */
};

/* ---- submit.c ---- */

void arenas_init(struct server *s);
void arenas_free(struct server *s);

/* An empty arena, and where it goes afterwards. */
struct arena *server_arena(struct server *s);
void server_arena_done(struct server *s, struct arena *a);

/* Hands a command over at the end of the turn; c->done is called on this thread, after all events
 * that it can have seen are published. Until then the command and its arena are another's. False: no
 * room, try later. What may wait, or is somebody's, goes by pending.h. */
bool server_submit(struct server *s, struct command *c);

/* Those that were gathered go to the other threads; or are refused, because there are none any more. */
void gathered_hand_over(struct server *s);
void gathered_refuse(struct server *s);

/* ---- admit.c ---- */

/* Another user, at the other end of a Unix socket. */
bool admit_is_stranger(const struct link *l);

/* Whether there is a place for one more, perhaps somebody's who has shown nothing for long. */
bool admit_has_room(struct server *s);

/* Without descriptors nobody can come: some of those go who have shown nothing. */
void admit_no_descriptors(struct server *s);

/* FORBIDDEN, when the one at the other end of a Unix socket belongs to a run and shows the
 * operator's token: an agent may find it in a file, and is not to act with it. */
err server_check_inside(struct conn *c, const struct grant *g, struct arena *a);

/* The same, and LIMIT when the token has as many connections as it may. */
err server_check_welcome(struct conn *c, const struct grant *g, struct arena *a);

/* Whether somebody went for whom there is no room: one without a token for another, or for the
 * operator. */
bool server_makes_room(struct conn *c);

/* ---- deliver.c ---- */

struct delivery *delivery_new(struct server *s);
void delivery_free(struct server *s);

/* What was brought until now is delivered, and all that is held is answered. */
void delivery_settle(struct server *s);

/* Has the loop take another turn. */
void delivery_soon(struct server *s);

/* ---- barrier.c ---- */

/* A request that must not be answered before this node knows all that was committed, on any node,
 * when it asked. All that ask in one turn share one read. */
struct barrier {
    void (*then)(void *owner, err refused); /* `refused`: the database does not say */
    void *owner;
    struct barrier *follows;
};

/* Calls f->then once, in a later turn. Only where the store is shared: else there is nothing that
 * this node does not know. */
void server_barrier(struct server *s, struct barrier *f);

/* Whether somebody waits for a look that has not begun; begins it. */
bool barrier_waits(const struct server *s);
void barrier_read(struct server *s);

struct barriers *barriers_new(void);
void barriers_free(struct server *s);

/* ---- grants.c ---- */

/* One who has shown a token. */
struct grant_wait {
    void (*then)(void *owner, struct grant *g, err refused);
    void *owner;
    struct grant_wait *next;
};

/* The grant that the token stands for: w->then is called, now or later, once, with it or with the
 * error, which lives until it returns. The grant is the caller's to grant_unref. */
void server_grant(struct server *s, str token, struct grant_wait *w);

struct grants *grants_new(void);
void grants_free(struct server *s);

/* A token was made here: it need not be looked up when it is shown. */
void grants_put(struct server *s, const struct minted *m);

/* The token with that id is worth nothing any more; whoever showed it is told. */
void grants_revoke(struct server *s, str token_id);

/* What is published comes by here: some of it ends a grant, or changes what it reaches. */
void grants_hear(struct server *s, const struct event *e);

/* The same for every token that a connection showed and whose time has passed. */
void grants_expire(struct server *s);

/* ---- wire/http/http.c ---- */

extern const struct protocol http_protocol;
void http_conn_open(struct conn *c);

/* What a route that is no operation gets to see; and what it may do with it. */
struct http_exchange {
    struct conn *conn;
    struct arena *arena;
    const struct http_request *request;
};

/* A whole response; `type` may be NULL when there is no body. */
void http_respond(struct http_exchange *x, int status, const char *type, str body);

/* A problem+json of it. */
void http_refuse(struct http_exchange *x, err e);

/* ---- wire/http/routes.c, route.c ---- */

extern const struct http_route *const server_routes;
void route_files_free(struct server *s);

/* ---- wire/ws/ws.c, wire/http/sse.c: the request asks for a stream, its grant is checked ---- */

void ws_begin(struct http_exchange *x);
void sse_begin(struct http_exchange *x);

/* ---- wire/mcp/session.c ---- */

/* All that /mcp has beyond single connections. Sessions of a token end with it, and all of them when
 * the server stops. */
/* A document is used from now on, whose tools are listed then: clients that listen look again. */
void mcp_hear(struct server *s, const struct event *e);

struct mcp_front *mcp_front_new(struct server *s);
void mcp_front_stop(struct server *s);
void mcp_front_free(struct server *s);

/* ---- wait.c ---- */

/* Of a command that says that it waits: runs it again when it is time, and calls c->done when it has
 * an answer, or an error because nobody wants one any more. The mark is what wait_mark gave before
 * the command was submitted. */
struct waiting;
int64_t wait_mark(const struct server *s);
struct waiting *wait_begin(struct server *s, struct command *c, int64_t mark);
void wait_cancel(struct waiting *w);

#endif
