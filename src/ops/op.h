/* op.h: everything the server can do, as one table.
 *
 * An entry says what an operation is called, where it is found, who may call it,
 * what goes in and what comes out. HTTP routes, MCP tools, commands, OpenAPI,
 * help and the simulator's inputs are all derived from it; nothing of them is
 * written by hand. Knows no HTTP beyond the words of a route, no MCP, no argv. */
#ifndef OPS_OP_H
#define OPS_OP_H

#include "json/json.h"

struct tx;
struct actor;
struct event;
struct schema;

/* JSON written as it is. Not to be wrapped in another macro, which would expand `true`. */
#define JSON(...) #__VA_ARGS__

enum op_effect {
    OP_READS,  /* on any connection, and changes nothing */
    OP_WRITES, /* by the one writer, inside its batch */
};

enum op_surface { ON_HTTP = 1, ON_MCP = 2, ON_CLI = 4 };

/* Which kinds of tokens may call it; what they may reach is checked by the rules. The server's own
 * work, which no token stands for, may call everything. */
enum op_caller {
    BY_OPERATOR = 1,
    BY_SESSION = 2,
    BY_RUNNER = 4,
    BY_VIEWER = 8,
    BY_SYSTEM = 16,
    BY_WORKER = 32, /* a runner's token that names types of jobs: it has those, and no runs */
    /* Who sits in front of the client of an attended session, and was asked by us: no token is. */
    BY_PERSON = 64,
};

#define BY_ALL (BY_OPERATOR | BY_SESSION | BY_RUNNER | BY_VIEWER)

/* A runner carries out what it is given, and has no part in the work itself. */
#define BY_READERS (BY_OPERATOR | BY_SESSION | BY_VIEWER)

/* What a token stands for, as those see it whose tools are chosen by it. */
enum op_tier {
    TIER_CHILD,    /* a session below another */
    TIER_ROOT,     /* a session without a parent, or one that is not registered */
    TIER_OPERATOR, /* everything */
    TIER_VIEWER,   /* what reads */
    TIER_NONE,     /* nothing: runners carry out what they are given */
};

/* Whose tools are listed once somebody uses what they are for; those of no group always are. */
enum op_group {
    GROUP_NONE,
    GROUP_PHASES, /* document 001's */
    GROUP_STEPS,  /* document 002's */
    GROUPS
};

/* A body of that media type is not the input but one field of it. */
struct op_body {
    const char *media_type, *field;
    bool either; /* where it has a member of that name, it is the input as others are */
};

#define OP_BODIES_MAX 2

/* What a handler gets: an object that fits the operation's input schema. */
struct input {
    const struct op *op;
    const struct json *json;
    const struct json *fields; /* that the operation declares: op_fields */
    bool wait_over;            /* it has waited long enough: the answer is what there is */

    /* What it gave as `wait_self` when it last began to wait; NULL: it has not. It is gone after this
     * time: what is needed of it later is copied. */
    const void *waited;
    void *ready; /* what the operation's `prepare` has left; NULL: it was not asked */
};

/* Whether an event is what somebody waits for; called by the thread that answers requests. */
typedef bool op_wakes(const void *self, const struct event *e);

/* What a handler leaves: the answer's JSON, and what the surfaces make of it. */
struct answer {
    struct json_writer json; /* that the handler writes with; to nowhere when it is done */
    str text;                /* what it has written: printed JSON; not the handler's to set */
    bool created;            /* something is there that was not: 201 */
    bool empty;              /* there is nothing to show: 204 */
    const char *media; /* over HTTP it is not this object but its member "text", of this media type,
                        * unless JSON is asked for by name; NULL: it is JSON */
    int64_t version;   /* of what is shown; 0: it has none */
    str next;          /* where the next page begins; empty: this is the last */

    /* What the operation's sibling that reads the whole document would answer from now on, so that
     * readers find it in memory. With an id and no text, it is this answer itself. Empty: nothing
     * to say. */
    str cached_id, cached;

    /* With .wait: nothing was written and there is nothing to answer yet. The operation is run
     * again when an event of the subject comes after `wait_seq`, or at `wait_until_ms`. */
    bool waits;
    str wait_subject; /* empty: any */
    int64_t wait_seq, wait_until_ms;
    int64_t wait_again_ms; /* it is run again by then, and waits on; 0: no need */

    /* With .wait and no subject: only an event that this says yes to wakes it, and each such event
     * wakes one of those who wait, not all. `wait_self` lives in the transaction's arena, and until
     * the operation was run again. */
    op_wakes *wakes;
    const void *wait_self;

    /* Something was done that is no event, but whoever waits for this subject is to look again. */
    str notify;

    /* A token that somebody will show soon; empty: none was made. */
    str minted;

    /* What was written is committed, and then the answer is that of this operation, which reads and
     * may wait; so nothing is started twice. NULL: the answer is this one. */
    const char *then;
    struct json then_input;
};

typedef err op_run(struct tx *tx, const struct input *in, struct answer *out);

/* Does what takes long and needs no database, before it is the writer's turn: by any thread, and
 * perhaps not at all. What it leaves lives in the arena. */
typedef err op_ready(struct arena *a, const struct input *in, void **ready);

struct op {
    const char *name; /* "state.patch": also the command `state patch` and the tool state_patch */
    const char *http; /* "PATCH /workflow-states/{state_id}": {…} are fields of the input */
    enum op_effect effect;
    unsigned on, by;
    struct op_body bodies[OP_BODIES_MAX];
    const char *implied;     /* a field that an agent's session supplies */
    const char *tool;        /* the tool's name, where a document fixes another one */
    enum op_tier tier;       /* the lowest that sees the tool: a child's, or a root's */
    enum op_group group;     /* of tools that are listed together */
    const char *tool_input;  /* of its input, what the tool has: name → what an agent is told */
    const char *tool_output; /* of its answer, what the tool has: name → true, or its members */
    bool wait;               /* it may answer that it waits */
    bool secret;             /* its answer holds a secret and is never kept for a repeat */
    bool elicits;            /* a person decides it, whom an agent's client may be asked to ask */
    bool keyed;              /* its field `key` is the Idempotency-Key, where none came with it */
    bool peek;               /* with nothing but its capture, its answer may be in the cache */
    const char *summary;     /* one sentence, for people */
    const char *hint;        /* when to use it, for agents; NULL: the summary */
    const char *input, *output; /* JSON Schema */
    op_ready *prepare;          /* NULL: there is nothing to prepare */
    op_run *run;
};

struct op_list {
    const struct op *ops;
    size_t count;
};

/* ---- op.c ---- */

/* The table with what is derived from it: routes split, schemas compiled. */
struct op_table;

/* Makes it out of the lists, after checking that they agree with themselves: schemas compile,
 * captures, bodies and implied fields are fields, no name and no route twice, every output has
 * properties. INTERNAL, naming the operation, when they do not. */
err op_table_new(struct arena *a, const struct op_list *lists, size_t count, struct op_table **out);
void op_table_free(struct op_table *t);

/* The i-th of everything that baton can do; NULL after the last. They are constants: who needs no
 * routes and no schemas, like a command line, asks for these and not for the table, which takes
 * some milliseconds to make. */
const struct op *op_nth(size_t i);

/* The table of all of them. */
err op_table_all(struct arena *a, struct op_table **out);

size_t op_count(const struct op_table *t);
const struct op *op_at(const struct op_table *t, size_t i);

/* By name; NULL when there is none. */
const struct op *op_find(const struct op_table *t, str name);

struct schema *op_input_schema(const struct op_table *t, const struct op *op);
struct schema *op_output_schema(const struct op_table *t, const struct op *op);

/* The schemas of the input's fields, by name; and of one of them, NULL when there is none. */
const struct json *op_fields(const struct op_table *t, const struct op *op);
const struct json *op_field(const struct op_table *t, const struct op *op, str name);

/* ---- words.c: what callers call a field ---- */

/* The field that a word means with this operation; the word itself, when it means no other. */
str op_field_meant(const struct op_table *t, const struct op *op, str word);

/* The input with its fields by their own names. INVALID: one is there by two words, with two values. */
err op_input_meant(struct arena *a, const struct op_table *t, const struct op *op,
                   const struct json **input);

/* ---- routes ---- */

#define OP_CAPTURES_MAX 4

struct op_capture {
    str field;
    str value; /* as it stands in the path, not decoded */
};

struct op_match {
    const struct op *op; /* NULL: no operation */
    struct op_capture captures[OP_CAPTURES_MAX];
    size_t capture_count;
    str allowed[8]; /* when only the method is wrong: those that there are */
    size_t allowed_count;
};

/* Which operation a method and a path mean. */
void op_route(const struct op_table *t, str method, str path, struct op_match *out);

/* ---- commands: perform.h says what is done with them ---- */

/* One request for one operation. It owns its arena until it is handed back. */
struct command {
    struct arena *arena;
    const struct op *op;
    const struct json *input;
    const struct actor *actor; /* lives at least as long as the command */
    str key;                   /* Idempotency-Key; empty: none */
    str selects;    /* the name of a state that must be in the actor's reach; empty: none */
    bool by_person; /* the server passes on what the person in front of the actor's client said */
    bool precondition;  /* its expected version is one: PRECONDITION, not CONFLICT, if another is */
    bool wait_over;     /* its time is up: it must answer with what there is */
    const void *waited; /* its wait_self of the last time; NULL: it has not waited yet */

    /* Set when it was prepared: it fits what the table says, and this is what was left. */
    bool prepared;
    str digest; /* of the request, where it has a key */
    void *ready;

    /* Set when it was performed. When `error` is NULL, the rest counts. */
    err error;
    struct answer answer;
    bool repeated;               /* the answer is the one that was kept for its key */
    const struct event *events;  /* that it emitted, in order; they may be published now */
    const struct minted *minted; /* a token that it has made; NULL: none */
    int64_t seq;                 /* of a read: the number of the last event that it could see */

    /* For who submitted it. */
    void (*done)(struct command *c);
    void *owner;
    struct command *follows; /* in a queue */
};

/* A new token, and who it stands for. */
struct minted {
    str text;
    int64_t expires_at_ms;
    bool operates;
    const struct actor *actor;
};

/* Who a token stands for; shared by all connections that showed it. */
struct grant {
    const struct actor *actor;
    str token_id;
    int64_t expires_at_ms; /* 0: never */
    bool operates;         /* an operator's */
    unsigned refs;

    /* Of the thread that all of this belongs to: */
    bool revoked;
    int64_t quiet_at; /* no callbacks waited for it after this event; 0: not known */
};

struct grant *grant_ref(struct grant *g);
void grant_unref(struct grant *g);

/* That of a new token; it is the caller's. */
struct grant *grant_made(const struct minted *m);

/* The same grant after an event that changes what it reaches: its session came, was bound to a
 * state, or was deleted. NULL: it is as it was. The new one is the caller's. */
struct grant *grant_after(const struct grant *g, const struct event *e);

/* Whether a request of this actor may select a state that its head names. Of a name the database knows
 * which state has it, so the command asks: see `selects` there. */
enum op_selection { SELECTION_GOOD, SELECTION_UNKNOWN, SELECTION_NAME };
enum op_selection actor_selects(const struct actor *a, str state);

/* Which tools it sees; the state that is its own, empty: none; and whether callbacks may wait for it,
 * which `callback.waiting` tells and `callback.take` gives. */
enum op_tier actor_tier(const struct actor *a);
str actor_state(const struct actor *a);
str actor_token(const struct actor *a); /* its id */

/* The tool by which a session says what came of the step that it works for; empty: it works for none. */
str actor_records_by(const struct actor *a);
bool actor_is_attended(const struct actor *a);

/* ---- cache.c: what can be answered from memory ----
 *
 * It belongs to the thread that answers requests. A commit brings the new answers with it, and
 * every event of a subject drops what was known of it before. */

struct op_cache;

struct op_cache *op_cache_new(size_t bytes_max);
void op_cache_free(struct op_cache *c);

/* A shared answer: it stays as it is until the last one who holds it lets go. */
struct cached_answer {
    unsigned refs;
    unsigned holders; /* of the refs, those that wait for a reader */
    int64_t version;
    str text;
    struct tool_text {
        str text,
            quoted; /* what a tool makes of it, and that as a JSON string; empty: none has yet */
    } tool;
};

void cached_answer_unref(struct cached_answer *s);

/* The answer to a read of all of a document, as the actor may see it; NULL: ask a reader. What is
 * given is a reference of the caller's. */
struct cached_answer *op_peek(struct op_cache *c, const struct op *op, str id,
                              const struct actor *actor);

/* What a performed command says of what readers see. A read's answer is kept only when nothing was
 * published of its document since op_cache_mark gave `mark`, before the command was submitted; and
 * only when the document was asked for by its id, since what has a name is known then alone. */
uint32_t op_cache_mark(const struct op_cache *c, str id);
void op_cache_written(struct op_cache *c, const struct command *done);
void op_cache_read(struct op_cache *c, const struct command *done, str id, uint32_t mark);

/* What a tool makes of that answer, for the next one who asks. */
void op_cache_keep_tool_text(struct op_cache *c, str id, const struct cached_answer *answer,
                             struct tool_text text);

/* ---- events, as those who listen see them ---- */

int64_t event_seq(const struct event *e);
str event_subject(const struct event *e);
str event_type_name(const struct event *e);
const struct event *event_after(const struct event *e);

/* Whether callbacks may wait for somebody since then: it is of a session or a run. */
bool event_is_of_team(const struct event *e);

/* What an actor hears of who asks for a subject, or (empty) for everything: one that has a state of
 * its own never hears of more than that, a session without one of itself. Whether it may hear of it
 * at all, event.list says. */
str event_scope(const struct actor *actor, str subject);

/* The text of one: as `GET /events` lists it, or as subscribers get it. */
enum event_shape { EVENT_LISTED, EVENT_MESSAGE };
void event_print(struct buf *out, const struct event *e, enum event_shape shape);

/* ---- openapi.c ---- */

/* The OpenAPI 3.1 document of the table. */
str op_openapi(struct arena *a, const struct op_table *t, const char *version);

/* ---- input ---- */

/* Fields of the input; what is not there reads as "" or NULL, or as what stands in for it. A handler
 * that asks for one that its operation does not declare is our mistake, and ends a sanitized
 * build; one of several operations asks first whether this one has it. */
bool input_declares(const struct input *in, const char *field);
str input_str(const struct input *in, const char *field);
int64_t input_int(const struct input *in, const char *field, int64_t otherwise);
bool input_bool(const struct input *in, const char *field, bool otherwise);
const struct json *input_json(const struct input *in, const char *field);

#endif
