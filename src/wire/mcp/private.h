/* private.h: what the files of MCP over HTTP know of each other. Private to them.
 *
 * http.c     the route /mcp: its requests, as far as their heads tell
 * work.c     one message: performed, waited for, answered
 * play.c     one that is answered by a stream of messages, and perhaps asks the client
 * channel.c  messages to a client as a stream, which may be cut and resumed
 * session.c  sessions of clients of the older revisions
 * listen.c   who hears of what has changed
 *
 * What messages mean is mcp/'s business. */
#ifndef WIRE_MCP_PRIVATE_H
#define WIRE_MCP_PRIVATE_H

#include "mcp/mcp.h"
#include "wire/http/glue.h"
#include "wire/hub.h"

/* One for the server. Sessions, and the signature of what clients hand back, are this node's alone:
 * where several nodes share a store, a client of an older revision stays with one of them. */
struct mcp_front {
    struct list sessions; /* least recently used first */
    struct list buckets[256];
    uint32_t session_count;
    struct timer *idle;
    struct list listeners;
};

/* ---- channel.c ---- */

/* What the owner of a channel is told. After CANCEL_GONE the channel is no more. */
struct mcp_channel_events {
    void (*room)(void *owner); /* what had to wait is sent, or somebody has come to listen */
    void (*over)(void *owner, enum cancel_reason why);
};

/* Messages to one client. Without a session they end with their connection; those of a session are
 * kept for a while, and the client may come back for them by another connection. */
struct mcp_channel {
    struct server *server;
    struct mcp_session *session; /* NULL: none */
    struct list link;            /* in the session, oldest first */
    uint32_t number;             /* there */
    struct conn *conn;           /* NULL: nobody listens at present */
    const struct mcp_channel_events *events;
    void *owner;       /* NULL: nothing more comes */
    int64_t sent;      /* the number of the last message */
    struct list kept;  /* messages, oldest first */
    size_t kept_bytes; /* of those */
    uint32_t kept_count;
};

struct mcp_channel *mcp_channel_new(struct server *s, struct mcp_session *session,
                                    const struct mcp_channel_events *events, void *owner);

/* The connection of the request is the channel's from now on: it is sent the head of a stream, then
 * what was kept after the message of that number. The request goes on in HTTP_SWITCHED. */
void mcp_channel_attach(struct mcp_channel *ch, struct http *h, int64_t after);

/* The number with which a stream begins, as the revision wants it. */
void mcp_channel_prime(struct mcp_channel *ch);

void mcp_channel_send(struct mcp_channel *ch, str message);

/* False: somebody must first take what was sent already. */
bool mcp_channel_has_room(const struct mcp_channel *ch);

/* Ends the connection and not the channel; a client that is told a time comes back after it. */
void mcp_channel_cut(struct mcp_channel *ch, int64_t retry_ms);

/* Nothing more comes: the owner has nothing to do with it any more. */
void mcp_channel_end(struct mcp_channel *ch);

/* For its session, when that ends, or when there are too many. */
void mcp_channel_forget(struct mcp_channel *ch);

/* ---- session.c ---- */

enum { MCP_ID_CHARS = 32 };

struct mcp_work;

struct mcp_session {
    struct server *server;
    struct list link;   /* in the order of use */
    struct list bucket; /* of its id */
    char id[MCP_ID_CHARS];
    struct quota *quota; /* of whoever began it; nobody else gets at it */
    struct mcp_client client;
    int64_t used_ms;
    struct list works; /* that are not answered */
    void (*cancel)(struct mcp_work *w, enum cancel_reason why);
    struct list channels; /* of requests, oldest first */
    uint32_t channel_count, channel_next;
    struct mcp_channel *general; /* for what belongs to no request: a GET listens to it */
    struct mcp_listener *listener;
};

/* The one of Mcp-Session-Id, if it is this token's; NULL: there is none. It counts as used. */
struct mcp_session *mcp_session_find(struct server *s, const struct http_request *r,
                                     const struct grant *g);

/* Its works are given to `cancel` when it ends. LIMIT or UNAVAILABLE: there are too many, and none of
 * the token's own is idle. */
err mcp_session_begin(struct server *s, struct arena *a, const struct mcp_client *client,
                      const struct grant *g,
                      void (*cancel)(struct mcp_work *w, enum cancel_reason why),
                      struct mcp_session **out);
void mcp_session_end(struct mcp_session *session);

/* The channel that an event's id belongs to, and the number of the event. False: there is none. */
bool mcp_session_resume(struct mcp_session *session, str event_id, struct mcp_channel **channel,
                        int64_t *after);

/* A channel has sent its last: some of the oldest of those may go. */
void mcp_session_trim(struct mcp_session *session);

/* ---- listen.c ---- */

enum mcp_topic_kind { TOPIC_TOOLS, TOPIC_PROMPTS, TOPIC_RESOURCES, TOPIC_URI, TOPIC_TASK };

/* A session's, on its general channel. It hears of nothing until it is told what. */
struct mcp_listener *mcp_listener_new(struct mcp_session *session);

/* Whether one can hear of so much. */
bool mcp_listener_can(const struct mcp_listen *wishes);

/* That of a message which asks to hear of things, on a channel of its own. The message's memory and
 * grant are the listener's from now on. */
struct mcp_listener *mcp_listener_open(struct server *s, struct arena *a, struct grant *g,
                                       const struct json *id, struct mcp_channel **channel);

/* When somebody has the channel: says `answer`, and what has changed from now on. One that asks for
 * more than its token may hear of is told so, and hears of nothing: it is no more. */
void mcp_listener_start(struct mcp_listener *l, str answer, const struct mcp_listen *wishes);

/* INVALID: it hears of too much already. What it hears of twice, it is told once. */
err mcp_listener_add(struct mcp_listener *l, struct arena *a, enum mcp_topic_kind kind, str name,
                     struct grant *g);
void mcp_listener_drop(struct mcp_listener *l, enum mcp_topic_kind kind, str name);
void mcp_listener_free(struct mcp_listener *l);

/* A list of ours is another from now on: "tools" or "prompts". */
void mcp_listeners_tell(struct server *s, const char *what);

/* ---- work.c ---- */

struct mcp_work {
    struct server *server;
    struct arena *arena; /* the request's, which this is in */
    struct mcp_call call;
    struct http_request request; /* the message's; its texts are in the arena */
    struct charge *charge;       /* the request's */
    struct grant *grant;
    struct mcp_session *session; /* NULL: none */
    struct list link;            /* there */

    /* Who is answered: a request, or later a stream. */
    struct http *http;
    struct mcp_channel *channel;

    struct pending pending; /* its command */
    struct timer *timer;    /* of the next sign of life, or of a pause */
    int64_t signs;          /* of life so far */
    struct mcp_play play;
};

/* A request whose body is there. */
void mcp_work_begin(struct http *h);

/* ---- play.c ---- */

/* Sends what is next, up to a pause, for which w->timer is set, or a question. True: there is nothing
 * more of it, and the call says what is next. */
bool mcp_play_on(struct mcp_work *w);

/* The client has answered a request of ours: the one who asked goes on; NULL: nobody did. */
struct mcp_work *mcp_play_reply(struct mcp_session *session, const struct rpc *reply);

#endif
