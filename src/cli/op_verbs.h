/* op_verbs.h: the operations of the server as commands: `baton NOUN VERB ARGUMENT… --option VALUE`.
 *
 * What the fields of an operation's input look like on a command line, and how a command line
 * becomes a request. All of it is derived from the table of operations. */
#ifndef CLI_OP_VERBS_H
#define CLI_OP_VERBS_H

#include "cli/cli.h"
#include "client/caller.h"
#include "ops/op.h"

/* ---- op_args.c ---- */

enum op_arg_kind {
    OP_ARG_TEXT,
    OP_ARG_INTEGER,
    OP_ARG_NUMBER,
    OP_ARG_FLAG,
    OP_ARG_JSON, /* JSON text, the name of a file with it, or "-" */
};

/* A field of the input. */
struct op_arg {
    const char *name;        /* "state_id" */
    const char *placeholder; /* "STATE_ID" */
    const char *option;      /* "--state-id"; NULL: it is only an argument */
    const char *option_not;  /* of a flag: "--no-active" */
    enum op_arg_kind kind;
    bool required;
    const struct json *schema;
};

struct op_args {
    struct op_arg *at; /* the required ones first: what the route captures, then the others */
    size_t count, required_count;
    const char
        *body; /* how the one more argument is shown that is a body of the operation, or NULL */
    const struct op_arg *last; /* one that may be left out, and stands behind the others; or NULL */
};

void op_args_make(struct arena *a, const struct op *op, struct op_args *out);

/* Whether a field of the input is a part of the path. */
bool op_captures(const struct op *op, str name);

/* What a field takes, in words: "one of operator, runner", "integer, at least 1". */
str op_arg_help(struct arena *a, const struct op_arg *arg);

/* The operation's input as the command line says it. Required fields that no option gives take the
 * arguments in their order; one that the operation implies is, where it is missing, that of the run
 * that the command is called in. */
err op_args_read(struct cli *c, const struct op_args *args, const struct json **out);

/* An option that has one value of the answer printed alone: the first of the members that is there. */
struct op_alone {
    const char *op, *option;
    char letter;
    const char *members[4], *help;
};

/* NULL: the operation has none. */
const struct op_alone *op_alone(const struct op *op);

/* ---- op_call.c ---- */

/* Where the fields go: into the path what its route captures; of a GET or DELETE the rest into the
 * query, else into a JSON body. */
void op_call_make(struct arena *a, const struct op *op, const struct json *input, struct call *out);

/* Asks the server, and prints its answer. */
err op_call_run(struct cli *c);

/* ---- op_verbs.c ---- */

/* The commands that need a server: the operations, grouped by their nouns, with what is written by
 * hand beside them; and watch, logs and top. */
const struct verb *op_verbs(struct arena *a);

#endif
