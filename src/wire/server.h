/* server.h: the front of the program: connections, requests and subscribers of one loop.
 *
 * Gets what it cannot do itself from its maker: `submit` passes a command to a
 * thread that performs it, `admit` has a token looked up. Both answer through
 * server_performed and server_admitted, from whichever thread it was. */
#ifndef WIRE_SERVER_H
#define WIRE_SERVER_H

#include "ops/op.h"
#include "wire/http/parse.h"
#include "wire/loop.h"

struct json_writer;
struct mcp;
struct server;

/* A token on its way to the one who can look it up. */
struct admission {
    struct arena *arena; /* with the token; whoever looks it up owns it until it is handed back */
    str token;
    struct grant *grant; /* set, with a reference for the server; or */
    err error;           /* in the arena */
    void (*done)(struct admission *a);
    void *owner;
    struct admission *follows;
};

/* Limits and deadlines of what comes in; GET /limits lists them. */
struct server_limits {
    struct http_limits http;
    int64_t header_ms, body_ms, idle_ms;  /* 10 s, 30 s, 60 s */
    int64_t write_ms;                     /* a peer that takes nothing for that long: 60 s */
    uint32_t connections_max;             /* 4,096 */
    uint32_t connections_kept;            /* of those, for the operator: 16 */
    uint32_t connections_unknown;         /* and for those who have shown no token: 1,024 */
    uint64_t buffered_max;                /* bytes of requests, in all: 64 MiB */
    uint64_t held_max;                    /* of answers that wait for slow readers: 64 MiB */
    uint64_t answer_max;                  /* of one answer: 4 MiB */
    uint64_t token_bytes;                 /* of either, for one token: 32 MiB */
    uint32_t token_connections;           /* 1,024 */
    uint32_t token_waits;                 /* and subscriptions: 4,096 */
    uint32_t token_requests;              /* that are worked on at a time: 64 */
    uint32_t token_mcp_sessions;          /* 250 */
    uint32_t message_max;                 /* of a WebSocket: 1 MiB */
    uint32_t behind_events, behind_bytes; /* of a slow subscriber: 1,000 and 4 MiB */
    int64_t ping_ms;                      /* to a silent subscriber: 25 s */
    int64_t wait_max_ms;                  /* of a long poll: 60 s */
    int64_t mcp_wait_ms;                  /* of a tool: 45 s */
    int64_t mcp_progress_ms;              /* between signs of life of one that waits: 10 s */
    int64_t mcp_session_ms;               /* of one that nobody uses: 1 h */
    uint32_t mcp_sessions_max;            /* 1,000 */
};

struct server_limits server_limits_default(void);

struct server_options {
    struct loop *loop;
    const struct op_table *table;
    struct server_limits limits;
    int64_t seq; /* the number of the last event at the start */
    bool shared; /* other nodes write too: somebody brings their events: server_published */
    const struct actor *system; /* who the server is when it asks for itself; NULL: not shared */
    size_t cache_bytes;         /* of documents kept in memory */
    const str *hosts;           /* that it answers to beside the names of this machine */
    size_t host_count;
    int64_t (*now_ms)(void *self); /* the wall clock of the program */
    /* Of a list that is linked by `follows`. False: no room, and nobody has got any of it. Where another thread
     * gets it, or the admission, its arena is given away first. */
    bool (*submit)(void *self, struct command *list);
    void (*admit)(void *self, struct admission *a);
    void (*metrics)(void *self, struct buf *out); /* more lines of /metrics */
    const str *config; /* rows of GET /limits that are not the server's: name, value, … */
    size_t config_count;
    const char *(*unready)(void *self);               /* why GET /ready says 503; NULL: ready */
    void (*parts)(void *self, struct json_writer *w); /* more members of its answer; NULL: none */
    bool (*inside)(int64_t pid); /* whether a process belongs to a run; NULL: none does */
    void *self;
    const char *version;
    struct mcp *mcp; /* what /mcp speaks; NULL: there is no such route */
    bool mcp_open;   /* it asks for no token, and performs nothing */
};

struct server *server_new(const struct server_options *options);

/* Accepts connections of a listener: give it, with the server, to loop_listen_…. */
link_accept server_accept;

/* From any thread: commands that were performed, in order, with those of one commit together. Their
 * events are published before any of their answers. They and their arenas are the caller's no more. */
void server_performed(struct server *s, struct command *list);

/* From any thread that reads: while too much was read that the loop has not taken, waits for the
 * loop, however slow it is: what was read is in no other budget. Once the loop has ended, nobody
 * waits for it any more. */
void server_keep_up(struct server *s);
void server_loop_ended(struct server *s);

/* From any thread: events as the log has them, whoever's they are, linked, without a hole between
 * those of one call and the next; those that were published already are passed over. The arena is
 * theirs, and is freed. */
void server_published(struct server *s, struct arena *a, const struct event *events);

/* From any thread: the number up to which all events were published. */
int64_t server_seq(struct server *s);

void server_admitted(struct server *s, struct admission *a);

/* Takes no new connections or requests, lets what is in flight be answered, and calls `stopped`,
 * from the loop, when no connection is left; after the grace the rest of them are cut off. The
 * listeners were closed before. */
void server_stop(struct server *s, int64_t grace_ms, void (*stopped)(void *self));

/* When no connection is left and no other thread works for the server any more. What those threads
 * have brought until then is still delivered. */
void server_free(struct server *s);

#endif
