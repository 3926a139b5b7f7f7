/* glue.h: what the files of the HTTP protocol know of each other. Private to them.
 *
 * From below to above:
 *
 * exchange.c  the memory of one request
 * check.c     who asks, and for whom the request is: Host, Origin, tokens
 * input.c     request → command
 * route.c     which route a request is for, of those that are no operations
 * answer.c    command, or file → response
 * begin.c     a request whose head is there, until its body is wanted or it is refused
 * http.c      the connection: one request after the other, and their time
 * page.c      the page that a browser sees at /, and its files
 * sign_in.c   how it gets a token
 * routes.c    what is no operation; of that, sse.c has /events, wire/ws/ /ws, and wire/mcp/ /mcp */
#ifndef WIRE_HTTP_GLUE_H
#define WIRE_HTTP_GLUE_H

#include "wire/pending.h"
#include "wire/server_private.h"

enum http_phase {
    HTTP_IDLE,      /* between requests */
    HTTP_HEAD,      /* a head has begun */
    HTTP_BODY,      /* the head was accepted */
    HTTP_ADMITTING, /* its token is being looked up, or what other nodes did */
    HTTP_PENDING,   /* its command is on its way */
    HTTP_AWAY,      /* others see to it, in h->work */
    HTTP_ANSWERED,  /* its response is on the way */
    HTTP_CLOSING,   /* nothing is read any more */
    HTTP_SWITCHED,  /* the connection speaks another protocol */
};

enum http_prefer { PREFER_NOTHING, PREFER_REPRESENTATION, PREFER_MINIMAL };

/* The protocol's state of a connection, with its one request at a time. It outlives the connection
 * when that closes under a request which others still work on. */
struct http {
    struct http_exchange x; /* the first member; x.conn is NULL when the connection is gone */
    struct server *server;
    enum http_phase phase;
    enum http_phase timed;         /* the phase that the deadline is of */
    bool pumping;                  /* further up the stack, bytes are being read */
    bool ended;                    /* the peer sends no more */
    bool paused;                   /* the link is */
    void (*go_on)(struct http *h); /* see http_go_on */

    /* The request. */
    struct http_parser parser;
    struct charge *charge; /* what it takes of what there is for all; it goes with the arena */
    uint64_t reserved;     /* what it will, by the length of its body */
    bool whole;            /* its body was read to the end */
    bool close;            /* the connection ends with its response */
    bool bodiless;         /* HEAD: the head of GET's response and nothing more */
    const char *caching;   /* of its response; NULL: nobody keeps it */
    struct op_match match;
    struct barrier barrier;            /* that it waits for while it is admitted, */
    struct grant_wait grant_wait;      /* and what its token stands for */
    void (*with_body)(struct http *h); /* who wants the body; NULL: an operation */

    /* Whoever sees to it in HTTP_AWAY. */
    void *work;
    void (*cancel)(struct http *h, enum cancel_reason why);

    /* The command. */
    struct pending pending;
    struct grant *grant; /* whose it is */
    bool match_any;      /* If-Match: * */
    enum http_prefer applied;

    /* What came behind the request and waits for its turn. */
    char *held;
    size_t held_from, held_len, held_room;
    struct charge behind; /* for these */

    /* What the last request said and was found good: Host; and Authorization, for which c->grant
     * stands. */
    char host[64];
    size_t host_len;
    char *shown;
    size_t shown_len, shown_room;
};

static inline struct http *http_of(struct http_exchange *x)
{
    return (struct http *)x;
}

static inline bool http_has_body(const struct http_request *r)
{
    return r->chunked || r->content_length > 0;
}

/* A value of a field of a stranger's, fit for a message: cut, and printable. */
str http_legible(struct arena *a, str value);

/* Whoever worked on the request is done with it: goes on with the connection, or lets go of the
 * memory where that is gone. */
static inline void http_go_on(struct http *h)
{
    h->go_on(h);
}

/* ---- exchange.c ---- */

void http_exchange_begin(struct http *h);
void http_exchange_end(struct http *h);

/* Counts what the request has come to take. False: there is no room for that. */
bool http_count(struct http *h);

/* Bytes of memory that the values of its body may take: so many times the bytes that a body may have,
 * unless there is less room at present. */
enum { HTTP_GROWTH = 4 };
size_t http_memory(const struct http *h);

/* ---- begin.c ---- */

/* Checks the request. Its phase is another one then: most often HTTP_BODY, or HTTP_ANSWERED. */
void http_begin(struct http *h);

/* Its body is read, unless there is no room, and given to `then`; NULL: it is an operation's. */
void http_want_body(struct http *h, void (*then)(struct http *h));

/* ---- check.c ---- */

/* MISDIRECTED, when the host is not ours; FORBIDDEN, when a page of another site asks. */
err http_check_host(struct http *h);
err http_check_origin(struct http *h);
err http_check_single(struct http *h); /* what may be there once is not there twice */

/* The token of Authorization. UNAUTHENTICATED, when there is none of the right scheme. */
err http_bearer(struct http *h, str *token);

/* Whether the request shows what it was let in with before, and that is still worth something. */
bool http_is_known(const struct http *h);
void http_remember(struct http *h);

/* NOT_FOUND, when X-Workflow-State-Id names another state than the one that the token sees: it
 * selects and gives nothing. */
err http_check_state(struct http *h);

/* The name that it has instead of an id, which the command must look up; empty: none. */
str http_selects(const struct http *h);

/* INVALID or UNSUPPORTED, when the body can be no input of the operation, whatever is in it. */
err http_check_media(struct http *h);

/* The media types that it takes, as a list. */
str http_media_types(struct arena *a, const struct op *op);

/* ---- input.c ---- */

/* Fills the pending command with the operation's input and what the fields of the head say of it. */
err http_input(struct http *h);

/* Whether the request is nothing but the address of one document, as the cache knows them. */
bool http_is_plain(const struct http *h);

/* ---- answer.c ---- */

/* The response to a performed command; to a read out of the cache, whose reference is taken; to
 * OPTIONS. */
void http_answer(struct http *h);
void http_answer_cached(struct http *h, struct cached_answer *shown);
void http_answer_options(struct http *h);

/* To who asks for a file: nothing, where the client has it already. */
struct http_file;
void http_answer_file(struct http *h, const struct http_file *file);

/* A whole response with more fields: lines that end in CR LF. */
void http_respond_with(struct http *h, int status, const char *type, str fields, str body);

/* UNAVAILABLE, for a reason that passes. */
void http_refuse_busy(struct http *h, const char *what);

/* A problem of that status. */
void http_problem(struct http *h, int status, str detail, str members);

/* ---- route.c ---- */

enum route_need {
    ROUTE_NONE, /* it is an operation, or nothing */
    ROUTE_OPEN, /* no token is needed */
    ROUTE_TOKEN,
    ROUTE_FENCED, /* a token, and what other nodes did before counts as for operations */
    ROUTE_SELF,   /* it asks for a token itself, where the request shows none */
};

/* A text that is the same for all who may have it, and changes with the program alone. */
struct http_file {
    const char *type;
    const char *caching;                            /* Cache-Control */
    str (*text)(struct server *s, struct arena *a); /* asked for once; NULL: it is these: */
    str bytes;
    const char *fields; /* more lines of its head; NULL: none */
};

/* What a path means that is no operation's. A server has a list of them, which ends with an empty path. */
struct http_route {
    str path; /* one that ends in / stands for all below it, but for / itself */
    enum route_need need;
    str methods[4];
    void (*answer)(struct http_exchange *x); /* NULL: it is a file: */
    const struct http_file *file;
    bool (*applies)(const struct server *s, const struct http_request *r); /* NULL: always */
};

/* The one that the request is for; NULL: it is an operation's, or nobody's. */
const struct http_route *route_find(const struct server *s, const struct http_request *r);

/* What it needs: ROUTE_NONE, if there is none. */
enum route_need route_needs(const struct server *s, const struct http_route *route);

/* Whether HEAD can be had where GET can. */
bool route_has_head(const struct http_route *route);

/* What is sent of a file, which is made when it is first asked for, and by what it is recognised. */
struct shared *route_file(struct server *s, const struct http_file *file, str *etag);
void route_files_free(struct server *s);

/* ---- wire/mcp/http.c ---- */

void mcp_route(struct http_exchange *x);

#endif
