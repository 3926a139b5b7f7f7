/* private.h: what the files of the bridge know of each other.
 *
 * bridge.c           the loop: waits for whatever is next
 * lines.c     lines in and out
 * calls.c     what is asked of the server, and in which order
 * message.c   a message of the client: what it needs, and what becomes of its answer
 * brief.c     which messages are answered at once
 * head.c      what HTTP is told of a message
 * lanes.c     connections
 * site.c      where the server is, and having one started
 * identity.c  who the client is: a session, and a token for it
 * legacy.c   the session of a client before 2026-07-28 */
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
    BRIDGE_LANES_MAX = 128,
    BRIDGE_TOGETHER_MAX = 8, /* calls on one lane: the server works on them, we on the next */
    BRIDGE_TRIES_MAX = 3,    /* of a call whose connection is lost */
};

struct bridge;
struct call;

/* ---- calls ---- */

/* What a call is for: those of the client, and those that the bridge makes for itself. */
struct errand {
    /* The head of its request, up to and without the empty line. */
    void (*head)(struct bridge *b, struct call *c, struct buf *out);
    /* Whether it may be sent now; what it needs first is asked for. */
    bool (*ready)(struct bridge *b, struct call *c);
    /* A message of a stream; NULL: it wants none. */
    void (*event)(struct bridge *b, struct call *c, str data);
    /* The answer is whole; of a stream it has no body. */
    void (*done)(struct bridge *b, struct call *c, const struct response *r);
    /* The connection was lost and it is not to be tried again, or there is no server. */
    void (*failed)(struct bridge *b, struct call *c, err e);
};

struct call {
    struct list link; /* in waiting or flying */
    struct arena *arena;
    const struct errand *errand;
    struct lane *lane; /* that it is on; NULL: none */
    struct list place; /* among those on its lane */
    str body;
    struct rpc rpc; /* of the client's messages */
    str version;    /* of a message that tells its own revision; else empty */
    uint64_t number;
    uint64_t session; /* the number of that in which it was sent; 0: none */
    int tries, renewals;
    int64_t not_before_ms;
    bool flying;    /* in that list */
    bool brief;     /* it is answered at once: others may be sent before and behind it */
    bool lasting;   /* a stream without an end: it has time, and comes again when it is lost */
    bool cancelled; /* nobody waits for its answer any more */
    bool answered;  /* the last message of its stream has come */
    bool repeated;  /* it was there before: its first message is known to the client */
    bool met;       /* it was looked up whose it is */
};

/* Requests are sent one behind the other, and answered in that order. */
struct lane {
    struct list link;
    int fd;            /* −1: closed, to be swept */
    struct list calls; /* that are not answered; the first is the one whose answer comes */
    struct arena *asked, *arena; /* of the requests; of the answer that comes */
    struct buf out;              /* the requests */
    size_t sent, count;          /* bytes of them; how many they are */
    size_t pieces;               /* in which their answers came */
    struct response_parser parser;
    struct event_reader events;
    enum { ANSWER_UNKNOWN, ANSWER_WHOLE, ANSWER_STREAM } answer;
    int64_t heard_ms;
    bool used;  /* it has carried an answer before, and may have been closed meanwhile */
    bool spent; /* what was behind the first went elsewhere: it is not used again */
};

/* ---- the bridge ---- */

enum site_state { SITE_UNKNOWN, SITE_FOUND, SITE_STARTING };

struct site {
    enum site_state state;
    struct arena *arena; /* of the endpoint */
    struct endpoint endpoint;
    str dir;      /* for which a server may be started; empty: none may */
    int starting; /* the pipe that tells of the end of the start; −1: none */
    pid_t starter;
    struct arena *why_arena;
    err why;               /* it cannot be reached */
    int64_t down_since_ms; /* 0: it is not */
    bool looked;           /* in vain, in this turn of the loop */
    int64_t look_at_ms;    /* no sooner is it looked for again */
    int64_t start_at_ms;   /* no sooner is one started again */
};

enum settled { NOT_SETTLED, SETTLING, SETTLED };

struct identity {
    enum settled token, row; /* whether it is known with which one; whether the session is there */
    bool own;                /* the token was minted by us */
    bool by_process;         /* its client tells nothing of the conversation, but its hooks do */
    bool beats;              /* the lease of the token is renewed again and again */
    bool with_state;         /* the session is being made with the state that was given */
    struct arena *arena;
    str client;       /* what it is: claude, codex, gemini or what it calls itself */
    str conversation; /* what its client calls it, as far as that says so; else empty */
    str session_id, session_name;
    str token_id, token_text;
    struct list past; /* tokens of other sessions that it was before: struct past_token */
};

enum legacy_state { LEGACY_NONE, LEGACY_OPENING, LEGACY_OPEN, LEGACY_LOST };

struct legacy {
    enum legacy_state state;
    struct arena *arena;
    str opening;        /* the client's initialize, to say it again */
    str version;        /* that was agreed on */
    str session_id;     /* of the server; empty: it has none */
    uint64_t number;    /* of the session: how many there have been */
    bool announcing;    /* that the client is initialized is on its way */
    bool initialized;   /* it has arrived */
    bool streams;       /* a stream is open, or on its way */
    struct list wishes; /* resources that it wants to hear of */
    size_t wish_count;
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
    struct list waiting, flying, spare; /* calls */
    size_t spare_count, waiting_count;
    struct list lanes;
    size_t lane_count;
    struct lane *filling; /* that more calls can be put on, before it is sent; NULL: none */
    size_t apart;         /* so many calls have lanes of their own, though they could share */
    bool stranded;        /* calls have lost their lane, and must be sent again */
    uint64_t last_number;
    char key[17]; /* before the numbers of calls, to make keys that no other bridge has */
    struct site site;
    struct identity identity;
    struct legacy legacy;
    int64_t drain_until_ms; /* 0: the input has not ended */
    bool leaving;           /* nothing is left but to say goodbye */
    bool stirred;           /* a call has come to wait */
    err failing;            /* of all that wait */
    char piece[BRIDGE_PIECE];
};

/* ---- lines.c ---- */

void lines_open(struct bridge *b);
void lines_close(struct bridge *b);
void lines_read(struct bridge *b);          /* what there is to read, and what it asks for */
void lines_put(struct bridge *b, str text); /* one message; line ends in it become spaces */
void lines_flush(struct bridge *b);
size_t lines_unsent(const struct bridge *b);

/* An error as the answer to a request; `id` may be NULL. */
void lines_fault(struct bridge *b, const struct json *id, int code, str message);

/* For whoever reads standard error. */
void lines_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- calls.c ---- */

struct call *call_new(struct bridge *b, const struct errand *e);
void call_wait(struct bridge *b, struct call *c); /* until it can be sent */
void call_again(struct bridge *b, struct call *c, int64_t delay_ms);
void call_end(struct bridge *b, struct call *c); /* forgets it, with its connection if need be */
void call_lost(struct bridge *b, struct call *c, bool costs); /* its connection has ended */
void calls_fail(struct bridge *b, err e); /* soon, all that wait and have no time */
void calls_pump(struct bridge *b);        /* sends what can be sent */
int64_t calls_next_ms(struct bridge *b);  /* when to look again; INT64_MAX: no need */

/* Of an errand that needs nothing; and of one whose end nobody cares for. */
bool call_always(struct bridge *b, struct call *c);
void call_is_done(struct bridge *b, struct call *c, const struct response *r);
void call_has_failed(struct bridge *b, struct call *c, err e);

/* Errors of the server that are not messages. */
err call_refusal(struct arena *a, const struct response *r);

/* ---- message.c ---- */

void message_take(struct bridge *b, str line);
bool message_is_pending(const struct call *c); /* the client waits for its answer */

/* ---- brief.c ---- */

bool brief_message(const struct rpc *m);
bool brief_tool(str name); /* without arguments that have it wait */

/* ---- head.c ---- */

/* Method, path, Host and who asks: the client, or the operator. */
void head_begin(struct bridge *b, struct buf *out, const char *method, const char *pattern, str id,
                bool as_operator);
void head_body(struct buf *out, str body); /* what a JSON body wants to be told */
void head_message(struct bridge *b, struct call *c, struct buf *out);

/* A value of any bytes, as the protocol wants it in a field. */
void head_value(struct buf *out, const char *name, str value);

/* ---- lanes.c ---- */

/* One for this call; NULL: there is no server, or there are too many. */
struct lane *lane_take(struct bridge *b, const struct call *call);
void lane_add(struct bridge *b, struct lane *c, struct call *call); /* sent soon, if it is brief */
void lane_fill_end(struct bridge *b);          /* sends what was put on a lane together */
struct call *lane_first(const struct lane *c); /* NULL: it is free */
bool lane_is_shared(const struct lane *c);
bool lane_sends(const struct lane *c);
void lane_send(struct bridge *b, struct lane *c);
void lane_receive(struct bridge *b, struct lane *c);
void lane_close(struct bridge *b, struct lane *c); /* calls on it are stranded */
void lanes_sweep(struct bridge *b);

/* ---- site.c ---- */

void site_init(struct bridge *b);
void site_release(struct bridge *b);
bool site_reach(struct bridge *b, int *fd); /* a new connection; false: see site.why */
void site_forget(struct bridge *b);         /* it may be elsewhere now */
bool site_seek(struct bridge *b);           /* false: all that can be done was done in vain */
void site_started(struct bridge *b);        /* the pipe of the start has something to say */

/* ---- identity.c ---- */

void identity_init(struct bridge *b);
void identity_release(struct bridge *b);
bool identity_token(struct bridge *b, const struct call *first); /* whether it is settled */
bool identity_row(struct bridge *b, struct call *c);             /* of a call of a tool */
void identity_renew(struct bridge *b); /* the token is not taken any more */
void identity_end(struct bridge *b);   /* gives the token back */

/* What a session is called: its client's id with the client's name before it. */
str identity_session_name(struct arena *a, str client, str directory, str id);

/* ---- legacy.c ---- */

void legacy_init(struct bridge *b);
/* The client has sent a message of it. */
void legacy_note(struct bridge *b, const struct call *c);
/* Whether it may be passed on: the session is there, with all that must come before. */
bool legacy_ready(struct bridge *b, const struct call *c);
/* What came of it: an answer; or nothing but a status, which is 0 when there was no server. */
void legacy_answered(struct bridge *b, const struct call *c, str message, const struct response *r);
void legacy_over(struct bridge *b, const struct call *c, int status);
/* The server knows the session of this call no more. It is begun again when there is something to
 * say, unless that was done already. */
void legacy_lost(struct bridge *b, const struct call *c);
/* The client is another session from now on, whose token knows nothing of this one. */
void legacy_leave(struct bridge *b);
/* What a head says of it. */
void legacy_head(struct bridge *b, struct call *c, struct buf *out);
void legacy_end(struct bridge *b);
void legacy_release(struct bridge *b);

#endif
