/* private.h: what the files of the bridge know of each other, which are, from below to above:
 *
 * lines.c        lines in and out
 * connection.c   one connection: what is on it, and its end
 * exchange.c     one thing that is asked of the server
 * upstream.c     where the server is, and having one started
 * connections.c  all connections: what is sent and received on them
 * exchanges.c    all exchanges: in which order they are sent
 * head.c         what HTTP is told of a message
 * identity.c     who the client is: a session, and a token for it
 * legacy.c       the session of a client before 2026-07-28
 * wake.c         waking an idle client: Codex
 * message.c      a message of the client: what it needs, and what becomes of its answer
 * bridge.c       the loop: waits for whatever is next */
#ifndef CLI_BRIDGE_PRIVATE_H
#define CLI_BRIDGE_PRIVATE_H

#include <sys/types.h>

#include "base/busy_poll.h"
#include "base/list.h"
#include "cli/bridge/bridge.h"
#include "client/event_stream.h"
#include "client/endpoint.h"
#include "client/http_response.h"
#include "mcp/rpc.h"

enum {
    BRIDGE_PIECE = 64 << 10, /* bytes that are read at once */
    BRIDGE_CONNECTIONS_MAX = 128,
    BRIDGE_PIPELINE_MAX = 8, /* exchanges on one connection, which the server works on meanwhile */
    BRIDGE_TRIES_MAX = 3,    /* of an exchange whose connection is lost */
};

struct bridge;
struct exchange;

/* ---- exchanges ---- */

/* What an exchange is for: those of the client, and those that the bridge makes for itself. */
struct exchange_kind {
    /* The head of its request, up to and without the empty line. */
    void (*head)(struct bridge *b, struct exchange *c, struct buf *out);
    /* Whether it may be sent now; what it needs first is asked for. */
    bool (*ready)(struct bridge *b, struct exchange *c);
    /* A message of a stream; NULL: it wants none. */
    void (*event)(struct bridge *b, struct exchange *c, str data);
    /* The answer is whole; of a stream it has no body. */
    void (*done)(struct bridge *b, struct exchange *c, const struct response *r);
    /* The connection was lost and it is not to be tried again, or there is no server. */
    void (*failed)(struct bridge *b, struct exchange *c, err e);
};

struct exchange {
    struct list link; /* in one of the lists waiting and in_flight */
    struct arena *arena;
    const struct exchange_kind *kind;
    struct connection *connection; /* that it is on; NULL: none */
    struct list pipeline;          /* among those on its connection */
    str body;
    struct rpc rpc; /* of the client's messages */
    str version;    /* of a message that tells its own revision; else empty */
    uint64_t number;
    uint64_t session; /* the number of that in which it was sent; 0: none */
    int tries, renewals;
    int64_t not_before_ms;
    bool in_flight; /* in that list */
    bool brief;     /* it is answered at once: others may be sent before and behind it */
    bool lasting;   /* a stream without an end: it has time, and comes again when it is lost */
    bool polls;     /* lasting, and yet answered in the time of all others */
    bool cancelled; /* nobody waits for its answer any more */
    bool answered;  /* the last message of its stream has come */
    bool repeated;  /* it was there before: its first message is known to the client */
    bool met;       /* it was looked up whose it is */
};

/* Requests are sent one behind the other, and answered in that order. */
struct connection {
    struct list link;
    int fd;                /* −1: closed, to be swept */
    struct list exchanges; /* that are not answered; the first is the one whose answer comes */
    struct arena *requests, *arena; /* of the requests; of the answer that comes */
    struct buf out;                 /* the requests */
    size_t sent, count;             /* bytes of them; how many they are */
    size_t pieces;                  /* in which their answers came */
    struct response_parser parser;
    struct event_reader events;
    enum { ANSWER_UNKNOWN, ANSWER_WHOLE, ANSWER_STREAM } answer;
    int64_t received_ms;
    bool used;  /* it has carried an answer before, and may have been closed meanwhile */
    bool spent; /* what was behind the first went elsewhere: it is not used again */
};

/* ---- the bridge ---- */

enum upstream_state { UPSTREAM_UNKNOWN, UPSTREAM_FOUND, UPSTREAM_STARTING };

struct upstream {
    enum upstream_state state;
    struct arena *arena; /* of the endpoint */
    struct endpoint endpoint;
    str dir;      /* for which a server may be started; empty: none may */
    int starting; /* the pipe that tells of the end of the start; −1: none */
    pid_t starter;
    struct arena *why_arena;
    err why;               /* it cannot be reached */
    int64_t down_since_ms; /* 0: it is not */
    bool tried;            /* in vain, in this turn of the loop */
    int64_t retry_at_ms;   /* no sooner is it looked for again */
    int64_t start_at_ms;   /* no sooner is one started again */
};

enum identity_state { IDENTITY_UNKNOWN, IDENTITY_ASKED, IDENTITY_KNOWN };

struct identity {
    void (*leaves)(struct bridge *b); /* it is about to become another session */
    enum identity_state token,
        row;  /* whether it is known with which one; whether the session is there */
    bool own; /* the token was minted by us */
    bool
        by_process; /* its client tells nothing of the conversation, or of the first alone: its hooks do */
    bool beats;      /* the lease of the token is renewed again and again */
    bool with_state; /* the session is being made with the state that was given */
    struct arena *arena;
    str client;       /* what it is: claude, codex, gemini or what it calls itself */
    str conversation; /* what its client calls it, as far as that says so; else empty */
    str session_id, session_name;
    str token_id, token_text;
    struct list past; /* tokens of other sessions that it was before: struct past_token */
};

struct wake {
    struct arena *arena;
    str conversation, waker;   /* for which news are asked for, and as whom; empty: none */
    struct exchange *exchange; /* that asks or reports; NULL: none does */
    int64_t again_ms;          /* no sooner is it asked again when it was told not to */
    pid_t pid;                 /* of the command that hands something over; 0: none does */
    int said;                  /* the file of what it says */
    int64_t until_ms;          /* that it may take */
    bool failed;               /* the last could not be handed over */
    pid_t starter;             /* which sees to it that the last is begun with; 0: none does */
    int unattended;            /* nobody sits before the client; −1: that was not looked at */
};

enum legacy_state { LEGACY_NONE, LEGACY_OPENING, LEGACY_OPEN, LEGACY_LOST };

struct legacy {
    enum legacy_state state;
    struct arena *arena;
    str opening;               /* the client's initialize, to say it again */
    str version;               /* that was agreed on */
    str session_id;            /* of the server; empty: it has none */
    uint64_t number;           /* of the session: how many there have been */
    bool announcing;           /* that the client is initialized is on its way */
    bool initialized;          /* it has arrived */
    bool streams;              /* a stream is open, or on its way */
    struct list subscriptions; /* resources that it wants to hear of */
    size_t subscription_count;
    char last_event[EVENT_ID_MAX];
    size_t last_event_len;
};

struct lines_in {
    char *at;
    size_t from, looked, len, room; /* looked: up to there is no line's end */
    bool skipping;                  /* the rest of a line that is too long */
    bool ended;
};

struct lines_out {
    int fd;
    bool is_socket, closed;
    char *at;
    size_t from, len, room;
};

struct bridge {
    struct mcp_bridge_options options;
    int64_t now_ms;
    struct busy_poll awake;
    struct arena *scratch; /* of one message or error */
    struct lines_in in;
    struct lines_out out;
    struct list waiting, in_flight, spare; /* exchanges */
    size_t spare_count, waiting_count;
    struct list connections;
    size_t connection_count;
    struct connection
        *filling;  /* that more exchanges can be put on, before it is sent; NULL: none */
    size_t apart;  /* so many exchanges have connections of their own, though they could share */
    bool stranded; /* exchanges have lost their connection, and must be sent again */
    uint64_t last_number;
    char key[40]; /* before the numbers of exchanges, to make keys that no other bridge has */
    struct upstream upstream;
    struct identity identity;
    struct legacy legacy;
    struct wake wake;
    int64_t drain_until_ms; /* 0: the input has not ended */
    bool leaving;           /* nothing is left but to say goodbye */
    bool stirred;           /* an exchange has come to wait */
    err failing;            /* of all that wait */
    char piece[BRIDGE_PIECE];
};

/* ---- lines.c ---- */

void lines_open(struct bridge *b);
void lines_close(struct bridge *b);
void lines_read(struct bridge *b); /* what there is to read */

/* The next message of it; false: there is none yet. What is too long for one is refused. */
bool lines_next(struct bridge *b, str *line);

void lines_put(struct bridge *b, str text); /* one message; line ends in it become spaces */
void lines_flush(struct bridge *b);
size_t lines_unsent(const struct bridge *b);

/* An error as the answer to a request; `id` may be NULL. */
void lines_fault(struct bridge *b, const struct json *id, int code, str message);

/* For whoever reads standard error. */
void lines_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- connection.c ---- */

struct exchange *connection_first(const struct connection *c); /* NULL: it is free */
struct exchange *connection_shift(struct connection *c);       /* takes the first off it */
bool connection_is_shared(const struct connection *c);
void connection_close(struct bridge *b, struct connection *c); /* exchanges on it are stranded */

/* ---- exchange.c ---- */

struct exchange *exchange_new(struct bridge *b, const struct exchange_kind *kind);
void exchange_queue(struct bridge *b, struct exchange *c); /* until it can be sent */
void exchange_retry(struct bridge *b, struct exchange *c, int64_t delay_ms);
void exchange_end(struct bridge *b,
                  struct exchange *c); /* forgets it, with its connection if need be */
void exchange_lost(struct bridge *b, struct exchange *c, bool costs); /* its connection has ended */

/* Of a kind of exchange that needs nothing; and of one whose end nobody cares for. */
bool exchange_always(struct bridge *b, struct exchange *c);
void exchange_is_done(struct bridge *b, struct exchange *c, const struct response *r);
void exchange_has_failed(struct bridge *b, struct exchange *c, err e);

/* Errors of the server that are not messages. */
err exchange_refusal(struct arena *a, const struct response *r);

/* ---- upstream.c ---- */

void upstream_init(struct bridge *b);
void upstream_release(struct bridge *b);
bool upstream_reach(struct bridge *b, int *fd); /* a new connection; false: see upstream.why */
void upstream_forget(struct bridge *b);         /* it may be elsewhere now */
bool upstream_seek(struct bridge *b);           /* false: all that can be done was done in vain */

/* The pipe of the start has something to say: why there is no server, or NULL. */
err upstream_started(struct bridge *b);

/* ---- connections.c ---- */

/* One for this exchange; NULL: there is no server, or there are too many. */
struct connection *connection_take(struct bridge *b, const struct exchange *exchange);
void connection_add(struct bridge *b, struct connection *c,
                    struct exchange *exchange); /* sent soon, if it is brief */
void connection_fill_end(struct bridge *b);     /* sends what was put on a connection together */
bool connection_sends(const struct connection *c);
void connection_send(struct bridge *b, struct connection *c);
void connection_receive(struct bridge *b, struct connection *c);
void connections_sweep(struct bridge *b); /* forgets those that are closed */

/* ---- exchanges.c ---- */

void exchanges_fail(struct bridge *b, err e); /* soon, all that wait and have no time */
void exchanges_pump(struct bridge *b);        /* sends what can be sent */
int64_t exchanges_next_ms(struct bridge *b);  /* when to look again; INT64_MAX: no need */

/* ---- head.c ---- */

/* Method, path, Host and who asks: the client, or the operator. */
void head_begin(struct bridge *b, struct buf *out, const char *method, const char *pattern, str id,
                bool as_operator);
void head_body(struct buf *out, str body); /* what a JSON body wants to be told */
void head_message(struct bridge *b, struct exchange *c, struct buf *out);

/* A value of any bytes, as the protocol wants it in a field. */
void head_value(struct buf *out, const char *name, str value);

/* The session of a client before 2026-07-28, which the exchange is in from then on. */
void head_session(struct bridge *b, struct exchange *c, struct buf *out);

/* ---- identity.c ---- */

void identity_init(struct bridge *b, void (*leaves)(struct bridge *b));
void identity_release(struct bridge *b);
bool identity_token(struct bridge *b, const struct exchange *first); /* whether it is known */
bool identity_row(struct bridge *b, struct exchange *c);             /* of a call of a tool */
void identity_renew(struct bridge *b); /* the token is not taken any more */
void identity_end(struct bridge *b);   /* gives the token back */

/* What a session is called: its client's id with the client's name before it. */
str identity_session_name(struct arena *a, str client, str directory, str id);

/* ---- legacy.c ---- */

void legacy_init(struct bridge *b);
/* The client has sent a message of it. */
void legacy_note(struct bridge *b, const struct exchange *c);
/* Whether it may be passed on: the session is there, with all that must come before. */
bool legacy_ready(struct bridge *b, const struct exchange *c);
/* What came of it: an answer; or nothing but a status, which is 0 when there was no server. */
void legacy_answered(struct bridge *b, const struct exchange *c, str message,
                     const struct response *r);
void legacy_over(struct bridge *b, const struct exchange *c, int status);
/* The server knows the session of this exchange no more. It is begun again when there is something to
 * say, unless that was done already. */
void legacy_lost(struct bridge *b, const struct exchange *c);
/* The client is another session from now on, whose token knows nothing of this one. */
void legacy_leave(struct bridge *b);
void legacy_end(struct bridge *b);
void legacy_release(struct bridge *b);

/* ---- wake.c ---- */

void wake_init(struct bridge *b);
void wake_release(struct bridge *b);
void wake_follow(struct bridge *b);     /* its conversation may be known, or another one, now */
void wake_look(struct bridge *b);       /* what hands something over may have ended */
int64_t wake_next_ms(struct bridge *b); /* when to look again; INT64_MAX: no need */

/* ---- message.c ---- */

void message_take(struct bridge *b, str line);
bool message_is_pending(const struct exchange *c); /* the client waits for its answer */
bool brief_tool(str name); /* it is answered at once, without arguments that have it wait */

#endif
