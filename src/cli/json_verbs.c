/* json_verbs.c: the JSON core by hand: patch, merge, diff, pointer, path, feel and fmt.
 *
 * check has a file of its own; its entry is in the table here. */
#include "cli/cli.h"

#include "flow/feel.h"
#include "json/diff.h"
#include "json/path/path.h"
#include "json/pointer.h"

/* A person at a shell, or a driver of tests, is not one of many clients of a server, so what a
 * patch may do is bounded by what fits in memory, not by what is fair. */
const struct json_patch_limits json_verb_patch_limits = {
    .operations_max = 1000000, .copy_bytes_max = 64 << 20, .work_max = 500000000, /* some seconds */
};

/* ---- results ---- */

/* Large documents go out as they are printed; colours cost a second buffer, on a terminal only. */
static void write_json(struct cli *c, const struct json *j, bool pretty)
{
    struct buf printed = buf_in(c->arena);
    (pretty ? json_print_pretty : json_print)(&printed, j);
    str text = buf_str(&printed);
    if (c->coloured) {
        struct buf painted = buf_in(c->arena);
        term_put_json(&painted, text);
        text = buf_str(&painted);
    }
    cli_write(c, text);
    cli_write(c, STR("\n"));
}

/* Pretty for people, one line for programs. */
static void write_result(struct cli *c, const struct json *j)
{
    write_json(c, j, cli_flag(c, "--pretty") || (c->terminal && !c->json));
}

/* A terminal gets the lines and tabs of a text, and nothing else of it that it would obey. */
static str for_terminal(struct arena *a, str text)
{
    struct buf out = buf_in(a);

    for (size_t from = 0, at = 0; at <= text.len; at++) {
        bool ours = at < text.len && (text.at[at] == '\n' || text.at[at] == '\t');
        if (at < text.len && !ours)
            continue;
        term_put(&out, PAINT_PLAIN, str_slice(text, from, at));
        if (ours)
            buf_byte(&out, text.at[at]);
        from = at + 1;
    }
    return buf_str(&out);
}

static void write_result_or_text(struct cli *c, const struct json *j)
{
    if (!cli_flag(c, "--raw") || !json_is(j, JSON_STRING)) {
        write_result(c, j);
        return;
    }
    cli_write(c, c->terminal ? for_terminal(c->arena, json_text(j)) : json_text(j));
    cli_write(c, STR("\n"));
}

/* ---- the verbs ---- */

static err edit_run(struct cli *c,
                    err (*apply)(struct arena *a, struct json *doc, const struct json *patch,
                                 const struct json_patch_limits *limits),
                    struct json_patch_limits limits)
{
    const struct json *doc, *patch;
    struct json_limits read;
    TRY(json_limits_given(c, &read));
    limits.depth_max = read.depth_max;
    TRY(json_load_limited(c, c->arena, c->args[0], &doc));
    TRY(json_load_limited(c, c->arena, c->args[1], &patch));
    struct json edited = *doc;
    TRY(apply(c->arena, &edited, patch, &limits));
    write_result(c, &edited);
    return NULL;
}

static err patch_run(struct cli *c)
{
    struct json_patch_limits limits = json_verb_patch_limits;
    int64_t operations;

    TRY(json_limit_given(c, "--max-operations", UINT32_MAX, limits.operations_max, &operations));
    limits.operations_max = (uint32_t)operations;
    return edit_run(c, json_patch, limits);
}

static err merge_run(struct cli *c)
{
    return edit_run(c, json_merge, json_verb_patch_limits);
}

static err diff_run(struct cli *c)
{
    const struct json *from, *to;
    TRY(json_load_limited(c, c->arena, c->args[0], &from));
    TRY(json_load_limited(c, c->arena, c->args[1], &to));
    struct json patch = json_diff(c->arena, from, to, 0, NULL);
    write_result(c, &patch);
    if (patch.len > 0 && cli_flag(c, "--exit-code"))
        c->exit = 1;
    return NULL;
}

static err pointer_run(struct cli *c)
{
    const struct json *doc, *value;
    TRY(json_load_limited(c, c->arena, c->args[0], &doc));
    TRY(json_pointer_get(c->arena, doc, str_from(c->args[1]), &value));
    write_result_or_text(c, value);
    return NULL;
}

/* --json: where and what, an object for each match. */
static void write_match(struct cli *c, const struct json_match *m)
{
    struct buf out = buf_in(c->arena), path = buf_in(c->arena), pointer = buf_in(c->arena);
    json_path_print(&path, m->location);
    json_path_print_pointer(&pointer, m->location);

    struct json_writer w = json_writer_to(&out);
    json_write_begin(&w, '{');
    json_write_name(&w, STR("path"));
    json_write_str(&w, buf_str(&path));
    json_write_name(&w, STR("pointer"));
    json_write_str(&w, buf_str(&pointer));
    json_write_name(&w, STR("value"));
    json_write_value(&w, m->value);
    json_write_end(&w, '}');
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
}

static void write_place(struct cli *c, const struct json_match *m,
                        void (*print)(struct buf *out, const struct json_path_location *place))
{
    struct buf place = buf_in(c->arena), out = buf_in(c->arena);
    print(&place, m->location);
    term_put(&out, PAINT_PLAIN, buf_str(&place));
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
}

static err path_run(struct cli *c)
{
    const struct json_path *path;
    const struct json *doc;
    struct json_matches found;
    TRY(json_path_compile(c->arena, str_from(c->args[1]), &path));
    TRY(json_load_limited(c, c->arena, c->args[0], &doc));
    TRY(json_path_run(c->arena, path, doc, &found));

    for (size_t i = 0; i < found.count; i++) {
        const struct json_match *m = &found.items[i];
        if (c->json)
            write_match(c, m);
        else if (cli_flag(c, "--paths"))
            write_place(c, m, json_path_print);
        else if (cli_flag(c, "--pointers"))
            write_place(c, m, json_path_print_pointer);
        else
            write_result_or_text(c, m->value);
    }
    return NULL;
}

static err feel_run(struct cli *c)
{
    struct feel_scope scope = { 0 };
    struct feel_result result;
    const struct feel *feel;

    TRY(feel_compile(c->arena, str_from(c->args[0]), &feel));
    if (c->arg_count > 1)
        TRY(json_load_limited(c, c->arena, c->args[1], &scope.vars));
    if (scope.vars && !json_is(scope.vars, JSON_OBJECT))
        return err_new(c->arena, ERR_INVALID, "expected an object of variables in %s, found %s",
                       cli_path_name(c->args[1]), json_kind_name(scope.vars->kind));
    TRY(feel_eval(c->arena, feel, &scope, cli_now_ms(), &result));
    write_result_or_text(c, result.value);
    if (result.reason.len > 0)
        cli_note(c, STR_FMT, STR_ARG(result.reason));
    return NULL;
}

static err fmt_one(struct cli *c, const char *path)
{
    const struct json *doc;
    TRY(json_load_limited(c, c->arena, path, &doc));
    if (!cli_flag(c, "--canonical")) {
        write_json(c, doc, !cli_flag(c, "--compact") && !c->json);
        return NULL;
    }
    /* These bytes are for hashing and signing: nothing is added to them. */
    struct buf out = buf_in(c->arena);
    json_print_canonical(&out, doc);
    cli_write(c, buf_str(&out));
    return NULL;
}

static err fmt_run(struct cli *c)
{
    if (c->arg_count == 0)
        return fmt_one(c, "-");
    for (int i = 0; i < c->arg_count; i++)
        TRY(fmt_one(c, c->args[i]));
    return NULL;
}

/* ---- the table ---- */

// clang-format off
#define OPTION_PRETTY { "--pretty", 0,   NULL, "indent, also when the output is no terminal" }
#define OPTION_JSON   { "--json",   0,   NULL, "one line of JSON, and errors as JSON too" }
#define OPTION_RAW    { "--raw",    'r', NULL, "print a string as its text, without quotes" }

static const struct option patch_options[] = {
    { "--max-operations", 0, "N", "refuse a patch that has more of them; unless given, 1000000" },
    OPTIONS_JSON_LIMITS, OPTION_PRETTY, OPTION_JSON, { 0 },
};

static const struct option edit_options[] = { OPTIONS_JSON_LIMITS, OPTION_PRETTY, OPTION_JSON, { 0 } };

static const struct option pointer_options[] = {
    OPTION_RAW, OPTIONS_JSON_LIMITS, OPTION_PRETTY, OPTION_JSON, { 0 },
};

static const struct option diff_options[] = {
    { "--exit-code", 0, NULL, "exit with 1 when the documents differ" },
    OPTIONS_JSON_LIMITS, OPTION_PRETTY, OPTION_JSON, { 0 },
};

static const struct option path_options[] = {
    { "--paths",    0, NULL, "print where the matches are, as $['tasks'][0]" },
    { "--pointers", 0, NULL, "print where the matches are, as /tasks/0" },
    OPTION_RAW, OPTIONS_JSON_LIMITS, OPTION_PRETTY,
    { "--json",     0, NULL, "print {\"path\", \"pointer\", \"value\"}, and errors as JSON" },
    { 0 },
};

static const struct option feel_options[] = {
    OPTION_RAW, OPTIONS_JSON_LIMITS, OPTION_PRETTY, OPTION_JSON, { 0 },
};

static const struct option fmt_options[] = {
    { "--compact",   0, NULL, "one line without spaces" },
    { "--canonical", 0, NULL, "the canonical form of RFC 8785, without a newline at its end" },
    OPTIONS_JSON_LIMITS, OPTION_JSON, { 0 },
};

const struct verb json_verbs[] = {
    {
        .name = "check", .args = "SCHEMA DOC...", .args_min = 2, .args_max = ARGS_MANY,
        .summary = "Check documents against a schema",
        .example = "schema.json order.json",
        .details =
            "Knows JSON Schema draft-07, 2019-09 and 2020-12. For each misfit it prints\n"
            "  FILE: POINTER: KEYWORD: what was expected, and what was found\n"
            "\n"
            "Nothing is fetched from the network: what $ref reaches is given by --ref.\n"
            "\n"
            "Exit codes: 0 all fit; 12 at least one does not; 2 a document or the schema is\n"
            "malformed, or wrong usage; 5 no such file; 13 checking reached its limit.",
        .options = json_check_options, .run = json_check_run,
    },
    {
        .name = "patch", .args = "DOC PATCH", .args_min = 2, .args_max = 2,
        .summary = "Apply a JSON Patch (RFC 6902)",
        .example = "order.json change.json",
        .details =
            "Prints the result. PATCH is an array of operations, like\n"
            "  " JSON([{"op":"replace","path":"/status","value":"done"}]) "\n"
            "All of its operations are applied, or none. The files are not changed.\n"
            "\n"
            "Exit codes: 0 applied; 12 a path does not exist; 6 a test failed; 2 malformed;\n"
            "9 beyond a limit.",
        .options = patch_options, .run = patch_run,
    },
    {
        .name = "merge", .args = "DOC PATCH", .args_min = 2, .args_max = 2,
        .summary = "Apply a Merge Patch (RFC 7396)",
        .example = "order.json change.json",
        .details =
            "Prints the result. PATCH has the members to set; null removes one, as in\n"
            "  " JSON({"status":"done","note":null}) "\n"
            "The files are not changed.",
        .options = edit_options, .run = merge_run,
    },
    {
        .name = "diff", .args = "A B", .args_min = 2, .args_max = 2,
        .summary = "Print the patch that turns A into B",
        .example = "before.json after.json",
        .details =
            "The patch is a JSON Patch (RFC 6902). Equal documents give []: neither the\n"
            "order of members nor how a number is written makes a difference.\n"
            "'baton json patch A PATCH' then prints B.\n"
            "\n"
            "Exit codes: 0, also when they differ; with --exit-code 1 when they differ.",
        .options = diff_options, .run = diff_run,
    },
    {
        .name = "pointer", .args = "DOC POINTER", .args_min = 2, .args_max = 2,
        .summary = "Print the value at a JSON Pointer",
        .example = "order.json /items/0",
        .details =
            "A pointer as in RFC 6901: '' is the whole document, ~1 stands for / in a name,\n"
            "and ~0 for ~. Exit codes: 0 found; 5 there is no such value; 2 malformed.",
        .options = pointer_options, .run = pointer_run,
    },
    {
        .name = "path", .args = "DOC QUERY", .args_min = 2, .args_max = 2,
        .summary = "Print what a JSONPath query matches",
        .example = "order.json '$.items[*]'",
        .details =
            "A query as in RFC 9535, with filters: '$.items[?@.price > 10].name'. Prints one\n"
            "match after the other, and nothing when there is none. Quote the query: the\n"
            "shell gives $, * and ? a meaning of their own.",
        .options = path_options, .run = path_run,
    },
    {
        .name = "feel", .args = "EXPRESSION [DOC]", .args_min = 1, .args_max = 2,
        .summary = "Print what a FEEL expression is worth",
        .example = "'attempts < 3 and passed' vars.json",
        .details =
            "The language of conditions in workflows: docs/feel.md. DOC is an object, whose\n"
            "members are the variables. What cannot be computed is null, and why is said on\n"
            "standard error. Quote the expression.\n"
            "\n"
            "Exit codes: 0 evaluated, null too; 2 malformed, with the column; 13 beyond the\n"
            "limits of steps and of the result.",
        .options = feel_options, .run = feel_run,
    },
    {
        .name = "fmt", .args = "[DOC...]", .args_max = ARGS_MANY,
        .summary = "Format JSON, or make it canonical",
        .example = "order.json",
        .details =
            "Reads standard input when no file is named. Numbers, and the order of members,\n"
            "stay as they are written, except with --canonical.\n"
            "\n"
            "Exit codes: 0 formatted; 2 not JSON, with line and column.",
        .options = fmt_options, .run = fmt_run,
    },
    { 0 },
};
// clang-format on
