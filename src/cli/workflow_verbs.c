/* workflow_verbs.c: baton workflow deploy, check, show: definitions from files, and their graphs.
 *
 * What is wrong with one is said for each mistake, with the step that it is in. */
#include <stdio.h>

#include "cli/execution_verbs.h"
#include "cli/graph_text.h"
#include "cli/names.h"
#include "cli/session_verbs.h"

/* ---- mistakes ---- */

/* Each in a line of its own; it says where it is. */
static void put_mistakes(struct buf *out, const struct json *errors)
{
    for (uint32_t i = 0; json_is(errors, JSON_ARRAY) && i < errors->len; i++) {
        buf_add(out, STR("  "));
        term_put(out, PAINT_PLAIN, json_str(&errors->items[i], "message"));
        buf_byte(out, '\n');
    }
}

static void put_warnings(struct cli *c, const struct json *answer)
{
    const struct json *warnings = json_get(answer, "warnings");

    for (uint32_t i = 0; json_is(warnings, JSON_ARRAY) && i < warnings->len; i++)
        cli_note(c, "warning: " STR_FMT, STR_ARG(json_text(&warnings->items[i])));
}

/* ---- asking ---- */

static err definition_load(struct cli *c, const struct json **out)
{
    TRY(json_load(c, c->arena, c->args[0], out));
    if (json_is(*out, JSON_OBJECT))
        return NULL;
    return err_new(c->arena, ERR_INVALID,
                   "%s: expected an object, the definition of a workflow, "
                   "but found %s",
                   cli_path_name(c->args[0]), json_kind_name((*out)->kind));
}

static void answer_json(struct cli *c, const struct json *answer)
{
    struct buf out = buf_in(c->arena);

    render_json(c, &out, answer, c->terminal && !c->json);
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
}

static void put_drawing(const struct cli *c, struct buf *out, const struct json *answer)
{
    struct graph_style style = { .width = c->terminal ? render_width() : 0,
                                 .unicode = session_unicode(),
                                 .coloured = c->coloured };

    graph_text(out, json_get(answer, "drawing"), &style);
}

/* ---- deploy ---- */

static err deploy_refused(struct cli *c, const struct response *r)
{
    struct buf out = buf_in(c->arena);
    const struct json *problem;
    err e = response_error(c->arena, r);

    if (c->json || e->kind != ERR_UNFIT ||
        json_parse(c->arena, r->body, &json_limits_own, &problem) ||
        !json_is(json_get(problem, "errors"), JSON_ARRAY))
        return render_answer(c, r);
    put_mistakes(&out, json_get(problem, "errors"));
    cli_warn(c, err_new(c->arena, ERR_UNFIT, "%s is no definition of a workflow yet",
                        cli_path_name(c->args[0])));
    fwrite(out.at, 1, out.len, stderr);
    c->exit = error_kind_info(ERR_UNFIT)->exit;
    return NULL;
}

static void deployed_print(struct cli *c, const struct json *answer, bool created)
{
    struct buf out = buf_in(c->arena);
    const struct json *steps = json_get(answer, "steps");
    uint32_t count = json_is(steps, JSON_ARRAY) ? steps->len : 0;
    str name = json_str(answer, "workflow");

    if (c->json || !c->terminal) {
        answer_json(c, answer);
        return;
    }
    term_put(&out, c->coloured ? PAINT_KEY : PAINT_PLAIN, name);
    buf_printf(&out, " is at version %lld%s: %u step%s\n\n",
               (long long)json_int_or(answer, "version", 0),
               created ? "" : " already, with the same text", count, count == 1 ? "" : "s");
    buf_printf(&out,
               "  baton workflow show " STR_FMT "      what it looks like\n"
               "  baton execution start " STR_FMT "    begin one\n",
               STR_ARG(name), STR_ARG(name));
    cli_write(c, buf_str(&out));
}

static err deploy(struct cli *c, struct caller *k)
{
    struct json body = json_object();
    const struct json *definition, *answer;
    const char *name = cli_value(c, "--name"), *description = cli_value(c, "--description");
    struct response r;

    TRY(definition_load(c, &definition));
    json_put(c->arena, &body, STR("definition"), *definition);
    if (name)
        json_put(c->arena, &body, STR("name"), json_string(str_from(name)));
    if (description)
        json_put(c->arena, &body, STR("description"), json_string(str_from(description)));
    struct call call = { .method = "POST",
                         .pattern = "/workflows",
                         .body = json_printed(c->arena, &body),
                         .key = idempotency_key(c->arena) };
    TRY(caller_request(k, c->arena, &call, &r));
    if (r.status >= 400)
        return deploy_refused(c, &r);
    TRY(json_parse(c->arena, r.body, &json_limits_own, &answer));
    deployed_print(c, answer, r.status == 201);
    put_warnings(c, answer);
    return NULL;
}

/* ---- check ---- */

static err check(struct cli *c, struct caller *k)
{
    struct json body = json_object();
    const struct json *definition, *answer;
    struct buf out = buf_in(c->arena);

    TRY(definition_load(c, &definition));
    json_put(c->arena, &body, STR("definition"), *definition);
    TRY(caller_call(k, c->arena,
                    &(struct call){ .method = "POST",
                                    .pattern = "/workflows/check",
                                    .body = json_printed(c->arena, &body),
                                    .reads = true },
                    &answer));
    bool valid = json_bool_or(answer, "valid", false);
    if (!valid)
        c->exit = error_kind_info(ERR_UNFIT)->exit;
    if (c->json) {
        answer_json(c, answer);
        return NULL;
    }
    if (valid)
        put_drawing(c, &out, answer);
    else
        put_mistakes(&out, json_get(answer, "errors"));
    cli_write(c, buf_str(&out));
    put_warnings(c, answer);
    return NULL;
}

/* ---- show ---- */

static err show(struct cli *c, struct caller *k)
{
    const char *version = cli_value(c, "--version");
    struct url_param params[] = { { "name", str_from(c->args[0]) },
                                  { "version", str_from(version) } };
    struct buf out = buf_in(c->arena);
    const struct json *answer;

    TRY(caller_call(k, c->arena,
                    &(struct call){ .method = "GET",
                                    .pattern = "/workflows/{name}/drawing",
                                    .params = params,
                                    .param_count = version ? 2 : 1 },
                    &answer));
    if (c->json) {
        answer_json(c, answer);
        return NULL;
    }
    put_drawing(c, &out, answer);
    cli_write(c, buf_str(&out));
    return NULL;
}

/* ---- the table ---- */

static err with_caller(struct cli *c, const char *kind, err (*run)(struct cli *c, struct caller *k))
{
    struct caller k;

    caller_init(&k, cli_value(c, "--data"));
    err e = names_meant(c, &k, run(c, &k), kind, str_from(c->args[0]));
    caller_release(&k);
    return e;
}

static err deploy_run(struct cli *c)
{
    return with_caller(c, NULL, deploy);
}

static err check_run(struct cli *c)
{
    return with_caller(c, NULL, check);
}

static err show_run(struct cli *c)
{
    return with_caller(c, "workflow", show);
}

// clang-format off
#define PLAIN_OPTIONS                                                                              \
    { "--json", 0, NULL,  "one line of JSON, and errors as JSON too" },                            \
    { "--data", 0, "DIR", "ask the server of this data directory" },                               \
    { 0 }

static const struct option deploy_options[] = {
    { "--name",        0, "TEXT", "its name; what the definition calls itself if not given" },
    { "--description", 0, "TEXT", "what it is for, in a line for people" },
    PLAIN_OPTIONS,
};

static const struct option check_options[] = { PLAIN_OPTIONS };

static const struct option show_options[] = {
    { "--version", 0, "N", "a version of it; the newest if not given" },
    PLAIN_OPTIONS,
};
// clang-format on

const struct verb workflow_verbs[] = {
    {
        .name = "deploy",
        .args = "FILE",
        .args_min = 1,
        .args_max = 1,
        .summary = "Deploy the definition in a file: a known name gets its next version",
        .example = "fix-issue.json",
        .details = "FILE is JSON, or - for standard input. The same text again changes nothing.\n"
                   "What runs goes on by the version that it was started with.",
        .options = deploy_options,
        .run = deploy_run,
    },
    {
        .name = "check",
        .args = "FILE",
        .args_min = 1,
        .args_max = 1,
        .summary = "Draw the definition in a file, or say all that is wrong with it",
        .example = "fix-issue.json",
        .details = "Nothing is stored. Exit codes: 0 it could be deployed; 12 it could not.",
        .options = check_options,
        .run = check_run,
    },
    {
        .name = "show",
        .args = "NAME",
        .args_min = 1,
        .args_max = 1,
        .summary = "Draw a workflow: its steps, and what comes after what",
        .example = "fix-issue",
        .options = show_options,
        .run = show_run,
    },
    { 0 },
};
