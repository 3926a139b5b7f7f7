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
struct schema;

/* JSON written as it is. Not to be wrapped in another macro, which would expand `true`. */
#define JSON(...) #__VA_ARGS__

enum op_effect {
    OP_READS,  /* on any connection, and changes nothing */
    OP_WRITES, /* by the one writer, inside its batch */
};

enum op_surface { ON_HTTP = 1, ON_MCP = 2, ON_CLI = 4 };

/* Which kinds of tokens may call it; what they may reach is checked by the rules. */
enum op_caller { BY_OPERATOR = 1, BY_SESSION = 2, BY_RUNNER = 4, BY_VIEWER = 8 };

#define BY_ALL (BY_OPERATOR | BY_SESSION | BY_RUNNER | BY_VIEWER)

/* A body of that media type is not the input but one field of it. */
struct op_body {
    const char *media_type, *field;
};

#define OP_BODIES_MAX 2

/* What a handler gets: an object that fits the operation's input schema. */
struct input {
    const struct op *op;
    const struct json *json;
};

/* What a handler leaves: the answer's JSON, and what the surfaces make of it. */
struct answer {
    struct json_writer json;
    bool created;    /* something is there that was not: 201 */
    bool empty;      /* there is nothing to show: 204 */
    int64_t version; /* of what is shown; 0: it has none */
    str next;        /* where the next page begins; empty: this is the last */

    /* With .wait: nothing was written and there is nothing to answer yet. The operation is run
     * again when an event of the subject comes after `wait_seq`, or at `wait_until_ms`. */
    bool waits;
    str wait_subject; /* empty: any */
    int64_t wait_seq, wait_until_ms;
};

typedef err op_run(struct tx *tx, const struct input *in, struct answer *out);

struct op {
    const char *name; /* "state.patch": also the command `state patch` and the tool state_patch */
    const char *http; /* "PATCH /workflow-states/{state_id}": {…} are fields of the input */
    enum op_effect effect;
    unsigned on, by;
    struct op_body bodies[OP_BODIES_MAX];
    const char *implied;        /* a field that an agent's session supplies */
    const char *tool;           /* the tool's name, where a document fixes another one */
    bool wait;                  /* it may answer that it waits */
    bool secret;                /* its answer holds a secret and is never kept for a repeat */
    const char *summary;        /* one sentence, for people */
    const char *hint;           /* when to use it, for agents; NULL: the summary */
    const char *input, *output; /* JSON Schema */
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

size_t op_count(const struct op_table *t);
const struct op *op_at(const struct op_table *t, size_t i);

/* By name; NULL when there is none. */
const struct op *op_find(const struct op_table *t, str name);

struct schema *op_input_schema(const struct op_table *t, const struct op *op);
struct schema *op_output_schema(const struct op_table *t, const struct op *op);

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

/* Fields of the input; what is not there reads as "" or NULL, or as what stands in for it. */
str input_str(const struct input *in, const char *field);
int64_t input_int(const struct input *in, const char *field, int64_t otherwise);
bool input_bool(const struct input *in, const char *field, bool otherwise);
const struct json *input_json(const struct input *in, const char *field);

#endif
