/* mcp.h: the Model Context Protocol: what a message asks for, and what is answered.
 *
 * Four revisions in two eras: three with a session that `initialize` opens, and one, 2026-07-28,
 * in which every message says all of it. All are spoken at once; each message tells its own.
 *
 * Knows no sockets and performs nothing: for each message it says what is to be done next, and is
 * told what came of it. wire/mcp/ does so over HTTP; `baton mcp` passes stdio on to that. */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "mcp/rpc.h"
#include "ops/op.h"

enum mcp_version { MCP_2025_03_26, MCP_2025_06_18, MCP_2025_11_25, MCP_2026_07_28, MCP_VERSIONS };

static inline bool mcp_is_modern(enum mcp_version v)
{
    return v >= MCP_2026_07_28;
}

/* What the client can do, as it says: at initialize, or with each message. */
struct mcp_client {
    enum mcp_version version;
    str name, client_version;
    bool elicits_form, elicits_url, samples, roots, tasks;
    int log_level; /* the least that it wants to hear: 0 debug … 7 emergency */
};

/* ---- one for the whole server ---- */

struct mcp;
struct mcp_served; /* mcp_private.h's */

struct mcp_options {
    const struct op_table *table;
    const char *version;             /* of the program */
    const struct mcp_served *served; /* instead of what we have to serve; NULL: that */
    unsigned char secret[32];        /* signs what clients hand back to us */
    int64_t wait_ms;                 /* no tool blocks longer: 45 s */
    int64_t ask_ms;                  /* a person who is asked has so long; 0: 10 minutes */
};

struct mcp *mcp_new(const struct mcp_options *o);
void mcp_free(struct mcp *m);

/* ---- one message ---- */

struct mcp_play;

/* The head of its HTTP request: false, when it has no such field. Without `field`, the message did
 * not come by HTTP, and there is no head that could disagree with it. */
struct mcp_head {
    bool (*field)(const void *self, const char *name, str *value);
    const void *self;
};

enum mcp_next {
    MCP_ANSWER,     /* `status` and `answer`, a whole JSON-RPC message, are what is sent */
    MCP_ACCEPTED,   /* a notification or a response: 202 and nothing */
    MCP_PERFORM,    /* `op` with `input`, for the one who asks; then mcp_performed */
    MCP_LISTEN,     /* a stream of what `listen` says; its first message is `answer` */
    MCP_PLAY,       /* a stream, whose messages mcp_play gives one after the other */
    MCP_INITIALIZE, /* like MCP_ANSWER, and a session begins for a copy of `client` */
    MCP_SUBSCRIBE,  /* like MCP_ANSWER; the session hears of `uri` from now on, or no more … */
    MCP_UNSUBSCRIBE,
    MCP_SET_LEVEL, /* like MCP_ANSWER; the session's log_level is that of `client` from now on */
};

/* What a listener wants to hear of. */
struct mcp_listen {
    bool tools, prompts, resources; /* that a list has changed */
    const str *uris;                /* resources that are written */
    size_t uri_count;
    const str *tasks; /* ids of tasks, which are those of runs */
    size_t task_count;
};

/* One step of a stream that is played. */
enum mcp_step {
    MCP_STEP_SEND, /* `text`, a notification */
    MCP_STEP_ASK,  /* `text`, a request of ours with the id `ask_id`; its answer is `reply` then, or
                     * NULL when none has come for `pause_ms` (0: it may take any time) */
    MCP_STEP_PAUSE, /* nothing for `pause_ms` */
    MCP_STEP_CUT,   /* the connection ends here; the client comes back for the rest */
    MCP_STEP_END,   /* there are no more: `next` says what is next */
};

struct mcp_call {
    /* By the caller, before mcp_begin. */
    struct arena *arena;
    struct mcp *mcp;
    struct mcp_head head;
    const struct actor *actor;        /* whose token was shown; NULL: `served` asks for none */
    const struct mcp_client *session; /* what its session knows; NULL: it is in none, or in one that
                                       * is not there, which is answered */
    int64_t now_ms;
    bool quiet;        /* it is known that no callbacks wait for the one who asks */
    size_t memory_max; /* that the values of the message may take; 0: any */

    /* By mcp_begin. */
    struct rpc message;
    struct mcp_client client;
    str progress_token; /* printed JSON; empty: it wants no progress */

    /* What is next, by mcp_begin, mcp_performed and mcp_play. */
    enum mcp_next next;
    int status; /* of HTTP */
    str answer;
    const struct op *op;
    const struct json *input;
    bool by_person; /* what is performed is what a person has said whom we asked */
    str key;        /* idempotency, when the message is repeated by its transport; empty: none */
    bool plain;     /* the input is nothing but `plain_id`: the cache may know the answer */
    str plain_id;
    const struct cached_answer
        *cached;                /* what was performed came out of the cache, by mcp_cached … */
    struct tool_text tool_text; /* … and this is made of it, for the cache; empty: that knows */
    str uri;
    struct mcp_listen listen;
    int64_t quiet_at;    /* no callbacks waited after this event; 0: that was not looked at */
    const char *changed; /* a list that is another from now on, "tools" or "prompts"; NULL: none */

    /* For the methods: what is to be done with what was performed. */
    void (*then)(struct mcp_call *m, const struct command *done);
    void (*play)(struct mcp_call *m, struct mcp_play *p);
    void *own;                       /* of the method, in the arena */
    struct elicitation *elicitation; /* elicit.c's */
    struct buf out;                  /* where the answer is written */
    struct json_writer writer;
};

/* Reads the body, which must live as long as the call, and says what is next. Never fails: what is
 * wrong is answered. */
void mcp_begin(struct mcp_call *m, str body);

/* The operation was performed: done->error, or the answer. What is next is MCP_ANSWER, or another
 * MCP_PERFORM. */
void mcp_performed(struct mcp_call *m, const struct command *done);

/* The same for an answer out of the cache; false: that has none, and it must be performed. */
bool mcp_peek(struct mcp_call *m, struct op_cache *c);
void mcp_cached(struct mcp_call *m, const struct cached_answer *shown);

struct mcp_play {
    int number;              /* of the step: 0, 1 … */
    const struct rpc *reply; /* to the last MCP_STEP_ASK; NULL: none */
    enum mcp_step step;      /* set by mcp_play, with what it needs: */
    str text, ask_id;
    int64_t pause_ms;
};

/* The next step of MCP_PLAY. After MCP_STEP_END, what is next is MCP_ANSWER, of which `answer` is the
 * last message, or MCP_PERFORM. */
void mcp_play(struct mcp_call *m, struct mcp_play *p);

/* ---- texts that a transport sends by itself ---- */

/* An error of the transport as a whole JSON-RPC message; `id` may be NULL. */
str mcp_fault(struct arena *a, const struct json *id, enum rpc_code code, const char *message);

/* That a call is still at work: `number` counts up from 1. */
str mcp_progress(struct arena *a, const struct mcp_call *m, int64_t number, str message);

/* What a listener is sent. `subscription` is the printed id of the request that it listens by;
 * empty: an older client's. */
str mcp_list_changed(struct arena *a, const char *what, str subscription);
str mcp_resource_updated(struct arena *a, str uri, str subscription);
str mcp_listen_over(struct arena *a, const struct json *id);

/* The same of a task, as tasks/get would answer it at this moment: what is next is set as by
 * mcp_begin, to be performed for the one who listens, and `answer` is what that one is sent. Needs
 * arena, mcp, actor and now_ms of the call. */
void mcp_task_status(struct mcp_call *m, str task_id, str subscription);

/* The state that a resource's address means: false, when it is no such address. */
bool mcp_uri_state(str uri, str *state_id);

const char *mcp_version_name(enum mcp_version v);
bool mcp_version_find(str name, enum mcp_version *out);

#endif
