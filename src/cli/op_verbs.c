/* op_verbs.c: the table of operations as a table of commands.
 *
 * The help of a command is made here, of what its operation says about itself. */
#include "cli/op_verbs.h"
#include "cli/agent_import.h"
#include "cli/execution_verbs.h"
#include "cli/inbox.h"
#include "cli/session_verbs.h"
#include "cli/state_verbs.h"

#include <assert.h>

/* ---- examples ---- */

/* What stands for a field in an example. What is not here is shown by its type. */
static const struct {
    const char *field, *sample;
} samples[] = {
    { "state_id", "wfstate_4hq2m7k1x9ab" },
    { "token_id", "vw_4hq2m7k1x9ab" },
    { "session_id", "ses_4hq2m7k1x9ab" },
    { "run_id", "run_4hq2m7k1x9ab" },
    { "runner_id", "rnr_4hq2m7k1x9ab" },
    { "name", "orders" },
    { "schema_name", "orders" },
    { "json_schema", "schema.json" },
    { "initial_data", "order.json" },
    { "kind", "viewer" },
    { "data", "order.json" },
    { "execution_id", "exec-0199a1c2-7c41-7b6e-9c33-0f0c2f6c1a55" },
    { "job_id", "job_812_0_3_1" },
    { "incident_id", "inc_4hq2m7k1x9ab" },
    { "approval_id", "apr_4hq2m7k1x9ab" },
    { "id", "apr_4hq2m7k1x9ab" },
    { "step", "plan" },
    { "error", "'the tests fail'" },
    { "code", "out_of_stock" },
    { "message", "'hello'" },
    { "version", "3" },
};

static str sample_of(struct arena *a, const struct op_arg *arg)
{
    const struct json *first = json_at(json_get(arg->schema, "enum"), 0);

    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (strcmp(samples[i].field, arg->name) == 0)
            return str_from(samples[i].sample);
    if (json_is(first, JSON_STRING))
        return json_text(first);
    switch (arg->kind) {
    case OP_ARG_INTEGER:
    case OP_ARG_NUMBER: return STR("1");
    case OP_ARG_FLAG: return STR("true");
    case OP_ARG_JSON: return arena_printf(a, "%s.json", arg->name);
    default: return str_from(arg->name);
    }
}

static const char *example_make(struct arena *a, const struct op *op, const struct op_args *args)
{
    struct buf out = buf_in(a);

    for (size_t i = 0; i < args->required_count; i++) {
        buf_add(&out, i ? STR(" ") : STR(""));
        buf_add(&out, sample_of(a, &args->at[i]));
    }
    if (args->body)
        buf_printf(&out, " %s.json", strchr(op->name, '.') + 1);
    return buf_str(&out).at;
}

/* ---- help ---- */

static const char *args_make(struct arena *a, const struct op_args *args)
{
    struct buf out = buf_in(a);

    for (size_t i = 0; i < args->required_count; i++)
        buf_printf(&out, "%s%s", i ? " " : "", args->at[i].placeholder);
    if (args->body)
        buf_printf(&out, "%s[%s]", out.len ? " " : "", args->body);
    if (args->last)
        buf_printf(&out, " [%s]", args->last->placeholder);
    return out.len ? buf_str(&out).at : NULL;
}

static void put_argument(struct buf *out, const char *name, size_t width, str help)
{
    buf_printf(out, "\n  %-*s  ", (int)width, name);
    help_put(out, width + 4, help);
}

static str body_help(struct arena *a, const struct op *op)
{
    struct buf out = buf_in(a);

    for (int i = 0; i < OP_BODIES_MAX && op->bodies[i].field; i++)
        buf_printf(&out, "%s%s", i ? " or " : "", op->bodies[i].field);
    buf_add(&out, STR(": JSON, a file with it, or - for standard input"));
    return buf_str(&out);
}

/* Whether the operation is a list that comes in pages. */
static bool pages(const struct op_args *args)
{
    bool after = false, limit = false, wait = false;

    for (size_t i = 0; i < args->count; i++) {
        after = after || strcmp(args->at[i].name, "after") == 0;
        limit = limit || strcmp(args->at[i].name, "limit") == 0;
        wait = wait || strcmp(args->at[i].name, "wait") == 0;
    }
    return after && limit && !wait;
}

static const char *details_make(struct arena *a, const struct op *op, const struct op_args *args)
{
    struct buf out = buf_in(a);
    size_t width = args->body ? strlen(args->body) : 0;

    for (size_t i = 0; i < args->required_count; i++) {
        size_t len = strlen(args->at[i].placeholder);
        width = len > width ? len : width;
    }
    if (args->required_count > 0 || args->body)
        buf_add(&out, STR("arguments:"));
    for (size_t i = 0; i < args->required_count; i++)
        put_argument(&out, args->at[i].placeholder, width, op_arg_help(a, &args->at[i]));
    if (args->body)
        put_argument(&out, args->body, width, body_help(a, op));
    if (op->implied && strcmp(op->implied, "state_id") == 0)
        buf_add(
            &out,
            STR("\n\nInside a run (WORKFLOW_STATE_ID), without STATE_ID, its own state is meant."));
    if (pages(args))
        buf_printf(&out, "%sIt has all pages, unless --limit says how many rows.",
                   out.len ? "\n\n" : "");
    buf_printf(&out, "%sIt asks the server for %s.", out.len ? "\n\n" : "", op->http);
    return buf_str(&out).at;
}

/* ---- options ---- */

static const struct option write_option = {
    "--key", 0, "KEY",
    "under one key a write happens once, however often it is asked for; a new one if not given"
};
static const struct option match_option = {
    "--if-match", 0, "N", "only if this is the version; exits with 8 if another is"
};
static const struct option common_options[] = {
    { "--json", 0, NULL, "one line of JSON, and errors as JSON too" },
    { "--data", 0, "DIR", "ask the server of this data directory" },
};

enum { COMMON = sizeof common_options / sizeof *common_options };

/* One option of a field, or two of a flag. */
static void option_add(struct arena *a, const struct op_arg *arg, struct option *out, size_t *n)
{
    static const char *const values[] = { [OP_ARG_TEXT] = "TEXT",
                                          [OP_ARG_INTEGER] = "N",
                                          [OP_ARG_NUMBER] = "N",
                                          [OP_ARG_FLAG] = "BOOL",
                                          [OP_ARG_JSON] = "JSON" };
    bool flag = arg->option_not != NULL;
    const char *help = arg->required
                           ? arena_printf(a, "instead of the argument %s", arg->placeholder).at
                           : op_arg_help(a, arg).at;

    out[(*n)++] = (struct option){ arg->option, 0, flag ? NULL : values[arg->kind], help };
    if (flag)
        out[(*n)++] = (struct option){ arg->option_not, 0, NULL, "the opposite" };
}

static const struct option *options_make(struct arena *a, const struct op *op,
                                         const struct op_args *args)
{
    struct option *out = arena_zero(a, (2 * args->count + COMMON + 4) * sizeof *out);
    const struct op_alone *alone = op_alone(op);
    size_t n = 0;
    bool versioned = false;

    for (size_t i = 0; i < args->count; i++) {
        if (args->at[i].option)
            option_add(a, &args->at[i], out, &n);
        versioned = versioned || strcmp(args->at[i].name, "expected_version") == 0;
    }
    if (versioned)
        out[n++] = match_option;
    if (op->effect == OP_WRITES && !op->keyed) /* one that is has the field */
        out[n++] = write_option;
    if (alone)
        out[n++] = (struct option){ alone->option, alone->letter, NULL, alone->help };
    memcpy(out + n, common_options, sizeof common_options);
    return out;
}

/* ---- the table ---- */

static struct verb verb_make(struct arena *a, const struct op *op)
{
    str summary = str_from(op->summary);
    struct op_args args;

    if (str_ends(summary, STR(".")))
        summary.len--;
    op_args_make(a, op, &args);
    return (struct verb){
        .name = strchr(op->name, '.') + 1,
        .args = args_make(a, &args),
        .args_max = ARGS_MANY, /* options can stand for arguments: op_args_read counts */
        .summary = arena_copy(a, summary).at,
        .example = example_make(a, op, &args),
        .details = details_make(a, op, &args),
        .options = options_make(a, op, &args),
        .run = op_call_run,
        .op = op,
    };
}

static str noun_of(const struct op *op)
{
    str noun, verb;

    str_cut(str_from(op->name), '.', &noun, &verb);
    return noun;
}

static bool is_command(const struct op *op)
{
    return (op->on & ON_CLI) && op->http;
}

/* What the nouns are. One that is not here is told by its commands. */
static const struct {
    const char *noun, *summary;
} nouns_told[] = {
    { "schema", "The shapes that states must have" },
    { "state", "The documents that a team of agents shares" },
    { "token", "Who may talk to the server" },
    { "event", "What happened, in order" },
    { "node", "The servers that share the database" },
    { "project", "Folders whose agents share a state and hear of each other" },
    { "message", "What people and agents write to agents" },
    { "file", "Which files the members of a project are at" },
    { "session", "The agents' conversations" },
    { "run", "Turns of sessions: queued, running, done" },
    { "prompt", "What agents are asked" },
    { "permission", "What agents want to do and you decide" },
    { "runner", "The machines that run agents" },
    { "agent", "The roles that agents have" },
    { "profile", "How to start each kind of agent" },
    { "workflow", "What is to be done, in which order" },
    { "execution", "Workflows that run" },
    { "job", "Work of executions, for workers" },
    { "incident", "What executions cannot go on with without you" },
    { "approval", "What steps of workflows wait for and you decide" },
    { "inbox", "All that waits for you" },
    { "phase", "Phases that a session has planned, and how far they are" },
    { "step", "What comes next in a workflow, and what it still needs" },
};

static const char *noun_summary(struct arena *a, str noun, const struct verb *verbs)
{
    struct buf names = buf_in(a);

    for (size_t i = 0; i < sizeof nouns_told / sizeof *nouns_told; i++)
        if (str_eq(str_from(nouns_told[i].noun), noun))
            return nouns_told[i].summary;
    for (const struct verb *v = verbs; v->name; v++)
        buf_printf(&names, "%s%s", v == verbs ? "" : ", ", v->name);
    return buf_str(&names).at;
}

/* Commands that are written by hand stand behind those of the table, and for those that they are
 * called like. */
static const struct verb *written_for(str noun)
{
    static const struct verb none[] = { { 0 } };

    return str_eq(noun, STR("session"))     ? session_verbs
           : str_eq(noun, STR("state"))     ? state_verbs
           : str_eq(noun, STR("agent"))     ? agent_verbs
           : str_eq(noun, STR("workflow"))  ? workflow_verbs
           : str_eq(noun, STR("execution")) ? execution_verbs
           : str_eq(noun, STR("job"))       ? job_verbs
           : str_eq(noun, STR("inbox"))     ? inbox_verbs
                                            : none;
}

static struct verb noun_make(struct arena *a, size_t op_count, str noun)
{
    const struct verb *written = written_for(noun);
    size_t n = 0, more = 0;

    while (written[more].name)
        more++;
    struct verb *verbs = arena_zero(a, (op_count + more + 1) * sizeof *verbs);
    for (size_t i = 0; i < op_count; i++) {
        const struct op *op = op_nth(i);
        if (is_command(op) && str_eq(noun_of(op), noun) &&
            !verb_find(written, str_from(strchr(op->name, '.') + 1)))
            verbs[n++] = verb_make(a, op);
    }
    memcpy(verbs + n, written, more * sizeof *verbs);
    return (struct verb){ .name = arena_copy(a, noun).at,
                          .args = "COMMAND",
                          .summary = noun_summary(a, noun, verbs),
                          .verbs = verbs };
}

const struct verb *op_verbs(struct arena *a)
{
    size_t n = 0, op_count = 0;

    while (op_nth(op_count))
        op_count++;
    struct verb *nouns = arena_zero(a, (op_count + 4) * sizeof *nouns);
    for (size_t i = 0; i < op_count; i++) {
        str noun = noun_of(op_nth(i));
        if (is_command(op_nth(i)) && !verb_find(nouns, noun))
            nouns[n++] = noun_make(a, op_count, noun);
    }
    nouns[n++] = watch_verb;
    nouns[n++] = logs_verb;
    nouns[n] = top_verb;
    return nouns;
}
