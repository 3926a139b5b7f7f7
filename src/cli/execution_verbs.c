/* execution_verbs.c: baton execution start, show, log, report, retry; baton job claim.
 *
 * Each is some operations, and words for people. */
#include "cli/execution_verbs.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/names.h"
#include "cli/session_verbs.h"
#include "cli/step_text.h"

enum {
    ASK_S = 45,          /* how long one question waits */
    ASK_MORE_MS = 10000, /* and for the way */
    EVENTS_MAX = 100000,
};

struct execution_text execution_text_here(const struct cli *c)
{
    return (struct execution_text){ .now_ms = cli_now_ms(),
                                    .width = c->terminal ? render_width() : 0,
                                    .unicode = session_unicode(),
                                    .coloured = c->coloured };
}

/* ---- values ---- */

/* JSON, or a file with it: an object. */
static err object_read(struct cli *c, const char *what, const char *word, const struct json **out)
{
    bool file = word[0] == '@' || strcmp(word, "-") == 0 || word[0] != '{';
    err e = file ? json_load(c, c->arena, word + (word[0] == '@'), out)
                 : json_parse(c->arena, str_from(word), NULL, out);

    if (e && file && e->kind == ERR_NOT_FOUND && word[0] != '@')
        return usage_error(c, arena_printf(c->arena,
                                           "%s expects a JSON object like '{\"name\":1}', the name "
                                           "of a file with one, or -, but found '%s'.",
                                           what, word));
    if (e)
        return err_within(c->arena, e, "%s", what);
    if (!json_is(*out, JSON_OBJECT))
        return usage_error(c, arena_printf(c->arena, "%s expects a JSON object, but found %s.",
                                           what, json_kind_name((*out)->kind)));
    return NULL;
}

static err number_read(struct cli *c, const char *option, int64_t least, struct json *body,
                       const char *field)
{
    const char *given = cli_value(c, option);
    int64_t n;

    if (!given)
        return NULL;
    if (!str_to_int(str_from(given), &n) || n < least)
        return usage_error(c, arena_printf(c->arena,
                                           "%s expects a number from %lld on, but found '%s'.",
                                           option, (long long)least, given));
    json_put(c->arena, body, str_from(field), json_int(c->arena, n));
    return NULL;
}

static void put_text(struct cli *c, struct json *body, const char *field, const char *value)
{
    if (value && *value)
        json_put(c->arena, body, str_from(field), json_string(str_from(value)));
}

/* ---- asking ---- */

static err ask(struct cli *c, struct caller *k, str id, const struct json **out)
{
    return caller_call(k, c->arena,
                       &(struct call){
                           .method = "GET", .pattern = "/executions/{id}", PARAMS({ "id", id }) },
                       out);
}

static err ask_steps(struct cli *c, struct caller *k, str id, const struct json **out)
{
    return caller_call(k, c->arena,
                       &(struct call){ .method = "GET",
                                       .pattern = "/executions/{id}/steps",
                                       PARAMS({ "id", id }) },
                       out);
}

static void print_json(struct cli *c, const struct json *answer)
{
    struct buf out = buf_in(c->arena);

    render_json(c, &out, answer, c->terminal && !c->json);
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
}

/* Runs a command with a caller; what was not found is named by its first argument. */
static err with_caller(struct cli *c, const char *kind, err (*run)(struct cli *c, struct caller *k))
{
    struct caller k;

    caller_init(&k, cli_value(c, "--data"));
    err e = names_meant(c, &k, run(c, &k), kind, str_from(c->args[0]));
    caller_release(&k);
    return e;
}

/* ---- waiting for the end ---- */

static bool is_open(const struct json *execution)
{
    return !json_str(execution, "ended_at").len;
}

/* What has changed since the last look, for who waits at a terminal. */
static void note_progress(struct cli *c, const struct json *now, int64_t *told)
{
    const struct json *approvals = json_get(now, "open_approvals");
    int64_t done, total,
        incidents = json_int_or(now, "incidents", 0) +
                    (json_is(approvals, JSON_ARRAY) ? (int64_t)approvals->len : 0);

    execution_progress(now, &done, &total);
    str waits = execution_waits(c->arena, now);
    if (incidents && *told != -incidents)
        cli_note(c,
                 "it waits for you: `baton execution show " STR_FMT
                 "` says for what, and what to do",
                 STR_ARG(json_str(now, "execution_id")));
    else if (!incidents && c->terminal && *told != done)
        cli_note(c, "%lld of %lld steps done%s" STR_FMT, (long long)done, (long long)total,
                 waits.len ? "; " : "", STR_ARG(waits));
    *told = incidents ? -incidents : done;
}

/* Until it has ended; a server that is away for a while is waited for. */
static err wait_for_end(struct cli *c, struct caller *k, str id, const struct json **out)
{
    struct arena *a = arena_new();
    int64_t version = 0, told = INT64_MIN;
    const struct json *now = NULL;
    err e;

    do {
        struct call call = { .method = "GET",
                             .pattern = "/executions/{id}",
                             .timeout_ms = ASK_S * 1000 + ASK_MORE_MS,
                             PARAMS({ "id", id }, { "wait", STR("changed") },
                                    { "since_version",
                                      arena_printf(c->arena, "%lld", (long long)version) },
                                    { "timeout", arena_printf(c->arena, "%d", ASK_S) }) };
        e = call_until_answered(c, k, a, &call, &now);
        if (e)
            break;
        version = json_int_or(now, "state_version", 0);
        note_progress(c, now, &told);
    } while (is_open(now));
    if (!e) {
        struct json *copy = ARENA_NEW(c->arena, struct json);
        *copy = json_copy(c->arena, now);
        *out = copy;
    }
    e = e ? err_copy(c->arena, e) : NULL;
    arena_free(a);
    return e;
}

/* Its result goes to standard output, how it ended beside it. */
static void end_print(struct cli *c, const struct json *e)
{
    str status = json_str(e, "status"), reason = json_str(e, "reason");
    const struct json *result = json_get(e, "result");

    if (str_eq(status, STR("FAILED")))
        c->exit = EXECUTION_EXIT_FAILED;
    else if (str_eq(status, STR("CANCELLED")))
        c->exit = EXECUTION_EXIT_CANCELLED;
    if (c->json)
        print_json(c, e);
    else if (!c->exit && result)
        print_json(c, result);
    if (c->exit)
        cli_note(c, "execution " STR_FMT " " STR_FMT "%s" STR_FMT,
                 STR_ARG(json_str(e, "execution_id")), STR_ARG(status), reason.len ? ": " : "",
                 STR_ARG(reason));
}

/* ---- start ---- */

static err start_body(struct cli *c, struct json *body)
{
    const struct json *input;

    put_text(c, body, "workflow", c->args[0]);
    if (c->arg_count > 1) {
        TRY(object_read(c, "INPUT", c->args[1], &input));
        json_put(c->arena, body, STR("input"), *input);
    }
    TRY(number_read(c, "--version", 1, body, "version"));
    put_text(c, body, "business_key", cli_value(c, "--business-key"));
    put_text(c, body, "session_name", cli_value(c, "--session-name"));
    put_text(c, body, "parent_session_name", cli_value(c, "--parent"));
    put_text(c, body, "workflow_state_id", cli_value(c, "--state"));
    if (cli_value(c, "--project-dir")) {
        char *whole = realpath(cli_value(c, "--project-dir"), NULL);
        str dir = arena_copy(c->arena, str_from(whole ? whole : cli_value(c, "--project-dir")));
        free(whole);
        put_text(c, body, "project_dir", dir.at);
    }
    return NULL;
}

static void started_print(struct cli *c, const struct json *e)
{
    struct buf out = buf_in(c->arena);
    str id = json_str(e, "execution_id");

    if (cli_flag(c, "--quiet")) {
        buf_printf(&out, STR_FMT "\n", STR_ARG(id));
    } else if (c->json || !c->terminal) {
        json_print(&out, e);
        buf_byte(&out, '\n');
    } else {
        buf_add(&out, STR("execution "));
        term_put(&out, c->coloured ? PAINT_KEY : PAINT_PLAIN, id);
        buf_printf(&out, " of %s: " STR_FMT "\n\n", c->args[0], STR_ARG(json_str(e, "status")));
        buf_printf(&out,
                   "  baton execution show " STR_FMT "     where it stands\n"
                   "  baton watch " STR_FMT "              what happens, as it happens\n"
                   "  baton execution cancel " STR_FMT "   end it\n",
                   STR_ARG(id), STR_ARG(id), STR_ARG(id));
    }
    cli_write(c, buf_str(&out));
}

static err start(struct cli *c, struct caller *k)
{
    struct json body = json_object();
    const struct json *e, *end = NULL;
    const char *key = cli_value(c, "--key");
    struct response r;
    struct call call = { .method = "POST", .pattern = "/executions" };

    TRY(start_body(c, &body));
    call.body = json_printed(c->arena, &body);
    call.key = key ? str_from(key) : idempotency_key(c->arena);
    TRY(caller_request(k, c->arena, &call, &r));
    if (r.status == 404)
        return response_error(c->arena, &r);
    if (r.status >= 400)
        return render_answer(c, &r);
    TRY(json_parse(c->arena, r.body, &json_limits_own, &e));
    if (!cli_flag(c, "--wait")) {
        started_print(c, e);
        return NULL;
    }
    if (c->terminal)
        cli_note(c, "execution " STR_FMT " runs; Ctrl-C leaves it there",
                 STR_ARG(json_str(e, "execution_id")));
    TRY(wait_for_end(c, k, json_str(e, "execution_id"), &end));
    end_print(c, end);
    return NULL;
}

static err start_run(struct cli *c)
{
    return with_caller(c, "workflow", start);
}

/* ---- show ---- */

static err show(struct cli *c, struct caller *k)
{
    struct execution_text look = execution_text_here(c);
    struct buf out = buf_in(c->arena);
    const struct json *e, *steps;

    TRY(ask(c, k, str_from(c->args[0]), &e));
    if (c->json) {
        print_json(c, e);
        return NULL;
    }
    TRY(ask_steps(c, k, str_from(c->args[0]), &steps));
    execution_text_put(&out, &look, e, json_get(steps, "steps"));
    cli_write(c, buf_str(&out));
    return NULL;
}

static err show_run(struct cli *c)
{
    return with_caller(c, "execution", show);
}

/* ---- steps ---- */

static err step_find(struct cli *c, const struct json *steps, const char *name,
                     const struct json **out)
{
    struct guess g = { .wanted = str_from(name) };

    for (uint32_t i = 0; i < steps->len; i++) {
        str id = json_str(&steps->items[i], "step");
        *out = &steps->items[i];
        if (str_eq(id, str_from(name)))
            return NULL;
        guess_try(&g, arena_copy(c->arena, id).at);
    }
    return err_new(c->arena, ERR_NOT_FOUND, "it has no step '%s'" STR_FMT, name,
                   STR_ARG(guess_hint(c->arena, &g)));
}

static err steps(struct cli *c, struct caller *k)
{
    struct execution_text look = execution_text_here(c);
    const struct json *answer, *list, *one = NULL;
    struct buf out = buf_in(c->arena);

    TRY(ask_steps(c, k, str_from(c->args[0]), &answer));
    list = json_get(answer, "steps");
    if (c->arg_count > 1)
        TRY(step_find(c, list, c->args[1], &one));
    if (c->json) {
        print_json(c, one ? one : answer);
        return NULL;
    }
    if (one)
        step_text_put(&out, &look, one);
    else
        render_rows(c, &out, "steps", list);
    cli_write(c, buf_str(&out));
    return NULL;
}

static err steps_run(struct cli *c)
{
    return with_caller(c, "execution", steps);
}

/* ---- log ---- */

static err events_load(struct cli *c, struct caller *k, struct json *out)
{
    int64_t after = 0, seen = 0;

    *out = json_array();
    do {
        const struct json *page, *events;
        struct call call = { .method = "GET",
                             .pattern = "/events",
                             PARAMS({ "subject", str_from(c->args[0]) },
                                    { "after", arena_printf(c->arena, "%lld", (long long)after) },
                                    { "limit", STR("500") }) };
        TRY(caller_call(k, c->arena, &call, &page));
        events = json_get(page, "events");
        for (uint32_t i = 0; json_is(events, JSON_ARRAY) && i < events->len; i++)
            json_push(c->arena, out, events->items[i]);
        after = json_int_or(page, "next", 0);
        seen = json_int_or(page, "seen", 0);
    } while (after < seen && out->len < EVENTS_MAX);
    return NULL;
}

static err log_show(struct cli *c, struct caller *k)
{
    struct execution_text look = execution_text_here(c);
    struct buf out = buf_in(c->arena);
    const struct json *e;
    struct json events;

    TRY(ask(c, k, str_from(c->args[0]), &e)); /* one that is not there has no events, either */
    TRY(events_load(c, k, &events));
    if (c->json) {
        print_json(c, &events);
        return NULL;
    }
    for (uint32_t i = 0; i < events.len; i++)
        execution_event_put(&out, &look, &events.items[i]);
    if (!events.len)
        buf_add(&out, STR("none: the server keeps its events for a while only\n"));
    cli_write(c, buf_str(&out));
    return NULL;
}

static err log_run(struct cli *c)
{
    return with_caller(c, "execution", log_show);
}

/* ---- report ---- */

static err report(struct cli *c, struct caller *k)
{
    const char *failed = cli_value(c, "--failed"), *outputs = cli_value(c, "--outputs");
    struct json body = json_object();
    const struct json *given, *e;

    if (failed && outputs)
        return usage_error(c, STR("expected --outputs of a step that is done, or --failed, but "
                                  "found both."));
    if (failed) {
        json_put(c->arena, &body, STR("failed"), json_bool(true));
        put_text(c, &body, "error", failed);
    }
    if (outputs) {
        TRY(object_read(c, "--outputs", outputs, &given));
        json_put(c->arena, &body, STR("outputs"), *given);
    }
    TRY(number_read(c, "--item", 0, &body, "item"));
    TRY(number_read(c, "--attempt", 1, &body, "attempt"));
    TRY(caller_call(k, c->arena,
                    &(struct call){
                        .method = "POST",
                        .pattern = "/executions/{id}/steps/{step}/report",
                        .body = json_printed(c->arena, &body),
                        .key = idempotency_key(c->arena),
                        PARAMS({ "id", str_from(c->args[0]) }, { "step", str_from(c->args[1]) }) },
                    &e));
    print_json(c, e);
    return NULL;
}

static err report_run(struct cli *c)
{
    return with_caller(c, "execution", report);
}

/* ---- retry ---- */

err execution_variables_read(struct cli *c, struct json *out)
{
    for (int i = 0; i < c->option_count; i++) {
        const struct json *value;
        str name, word;
        if (strcmp(c->options[i].option->name, "--set") != 0)
            continue;
        if (!str_cut(str_from(c->options[i].value), '=', &name, &word) || !name.len ||
            !utf8_valid(word) || !utf8_valid(name))
            return usage_error(c,
                               arena_printf(c->arena, "--set expects NAME=VALUE, but found '%s'.",
                                            c->options[i].value));
        struct json text = json_string(word);
        if (json_parse(c->arena, word, NULL, &value))
            value = &text;
        json_put(c->arena, out, name, *value);
    }
    return NULL;
}

static err resolve(struct cli *c, struct caller *k, const struct json *incident,
                   const struct json *variables, struct json *resolved)
{
    struct json body = json_object();
    const struct json *answer;

    if (variables->len)
        json_put(c->arena, &body, STR("variables"), *variables);
    TRY(caller_call(k, c->arena,
                    &(struct call){ .method = "POST",
                                    .pattern = "/incidents/{id}/resolve",
                                    .body = json_printed(c->arena, &body),
                                    .key = idempotency_key(c->arena),
                                    PARAMS({ "id", json_str(incident, "incident_id") }) },
                    &answer));
    json_push(c->arena, resolved, *answer);
    return NULL;
}

static void retried_print(struct cli *c, const struct json *resolved)
{
    struct buf out = buf_in(c->arena);

    if (c->json || !c->terminal) {
        print_json(c, resolved);
        return;
    }
    for (uint32_t i = 0; i < resolved->len; i++) {
        str step = json_str(&resolved->items[i], "step");
        buf_add(&out, STR("it goes on"));
        if (step.len)
            buf_printf(&out, " at " STR_FMT, STR_ARG(step));
        buf_byte(&out, '\n');
    }
    cli_write(c, buf_str(&out));
}

static err retry(struct cli *c, struct caller *k)
{
    str step = c->arg_count > 1 ? str_from(c->args[1]) : STR("");
    struct json variables = json_object(), resolved = json_array(), incidents;
    const struct json *e;
    struct buf steps = buf_in(c->arena);

    TRY(execution_variables_read(c, &variables));
    TRY(ask(c, k, str_from(c->args[0]), &e));
    incidents = *json_get(e, "open_incidents");
    for (uint32_t i = 0; i < incidents.len; i++) {
        str at = json_str(&incidents.items[i], "step");
        buf_printf(&steps, "%s" STR_FMT, i ? ", " : "", STR_ARG(at));
        if (!step.len || str_eq(step, at))
            TRY(resolve(c, k, &incidents.items[i], &variables, &resolved));
    }
    if (!resolved.len && incidents.len)
        return err_new(c->arena, ERR_NOT_FOUND,
                       "nothing waits for you at " STR_FMT ": it is at " STR_FMT, STR_ARG(step),
                       STR_ARG(buf_str(&steps)));
    if (!resolved.len)
        return err_new(c->arena, ERR_CONFLICT,
                       "nothing of it waits for you: it is " STR_FMT
                       "; `baton execution resume ID --from STEP` does steps anew",
                       STR_ARG(json_str(e, "status")));
    retried_print(c, &resolved);
    return NULL;
}

static err retry_run(struct cli *c)
{
    return with_caller(c, "execution", retry);
}

/* ---- jobs ---- */

static err claim(struct cli *c, struct caller *k)
{
    struct json body = json_object(), types = json_array();
    int64_t wait_s;

    for (int i = 0; i < c->arg_count; i++)
        json_push(c->arena, &types, json_string(str_from(c->args[i])));
    json_put(c->arena, &body, STR("types"), types);
    TRY(number_read(c, "--max", 1, &body, "max"));
    TRY(number_read(c, "--lease-seconds", 1, &body, "lease_seconds"));
    TRY(number_read(c, "--timeout", 0, &body, "timeout"));
    put_text(c, &body, "worker", cli_value(c, "--worker"));
    wait_s = json_int_or(&body, "timeout", 0);

    struct response r;
    struct call call = { .method = "POST",
                         .pattern = "/jobs/claim",
                         .body = json_printed(c->arena, &body),
                         .once = true, /* what was claimed and never arrived goes back by itself */
                         .timeout_ms = wait_s * 1000 + ASK_MORE_MS };
    TRY(caller_request(k, c->arena, &call, &r));
    if (r.status >= 400)
        return render_answer(c, &r);
    const struct json *answer;
    TRY(json_parse(c->arena, r.body, &json_limits_own, &answer));
    print_json(c, json_get(answer, "jobs"));
    return NULL;
}

static err claim_run(struct cli *c)
{
    return with_caller(c, NULL, claim);
}

/* ---- the tables ---- */

// clang-format off
#define PLAIN_OPTIONS                                                                              \
    { "--json", 0, NULL,  "one line of JSON, and errors as JSON too" },                            \
    { "--data", 0, "DIR", "ask the server of this data directory" },                               \
    { 0 }

static const struct option start_options[] = {
    { "--wait",         'w', NULL,   "wait until it has ended, and print its result" },
    { "--quiet",        'q', NULL,   "print its id alone" },
    { "--version",      0,   "N",    "the version of the workflow; the newest if not given" },
    { "--business-key", 0,   "TEXT", "what it is known by outside, like the number of an order" },
    { "--project-dir",  0,   "DIR",  "the folder that its commands run in" },
    { "--parent",       0,   "NAME", "the session that it is for" },
    { "--state",        0,   "ID",   "the state that its work is about" },
    { "--session-name", 0,   "TEXT", "the workspace that it belongs to" },
    { "--key",          0,   "KEY",  "under one key it is started once, however often this is called" },
    PLAIN_OPTIONS,
};

static const struct option plain_options[] = { PLAIN_OPTIONS };

static const struct option report_options[] = {
    { "--outputs", 0, "JSON", "what it has given: an object, a file with one, or -" },
    { "--failed",  0, "WHY",  "it has failed" },
    { "--item",    0, "N",    "of a step that is done for each item of a list: which one, from 0" },
    { "--attempt", 0, "N",    "only if this is still the attempt" },
    PLAIN_OPTIONS,
};

static const struct option retry_options[] = {
    { "--set", 0, "NAME=VALUE", "set a variable first: JSON, or a text; may be repeated" },
    PLAIN_OPTIONS,
};

static const struct option claim_options[] = {
    { "--max",           0, "N",    "how many to take at most (1)" },
    { "--lease-seconds", 0, "N",    "for how long they are yours without a report (60)" },
    { "--timeout",       0, "N",    "how many seconds to wait for one, at most 60 (0)" },
    { "--worker",        0, "TEXT", "what lists call who has them" },
    PLAIN_OPTIONS,
};
// clang-format on

const struct verb execution_verbs[] = {
    {
        .name = "start",
        .args = "WORKFLOW [INPUT]",
        .args_min = 1,
        .args_max = 2,
        .summary = "Start a workflow, with its first variables",
        .example = "fix-issue '{\"issue\":{\"title\":\"It is slow\"}}' --wait",
        .details = "INPUT is a JSON object, a file with one (@FILE), or - for standard input.\n"
                   "\n"
                   "Exit codes with --wait: 0 it completed; 16 it failed; 17 it was cancelled.",
        .options = start_options,
        .run = start_run,
    },
    {
        .name = "show",
        .args = "EXECUTION_ID",
        .args_min = 1,
        .args_max = 1,
        .summary = "Show where an execution stands, and what it waits for",
        .example = "exec-0199a1c2-7c41-7b6e-9c33-0f0c2f6c1a55",
        .details =
            "Each step has a mark: done, at work, not begun, failed, or skipped. What waits\n"
            "for you stands below, with the command that lets it go on.",
        .options = plain_options,
        .run = show_run,
    },
    {
        .name = "steps",
        .args = "EXECUTION_ID [STEP]",
        .args_min = 1,
        .args_max = 2,
        .summary = "Show the steps of an execution, or all that is kept of one",
        .example = "exec-0199a1c2-7c41-7b6e-9c33-0f0c2f6c1a55 code",
        .details = "Of one step: what it has given, what a runner has found of its evidence, what\n"
                   "a person has decided, which agents have worked for it in which sessions, and\n"
                   "each attempt that did not do, with why.",
        .options = plain_options,
        .run = steps_run,
    },
    {
        .name = "log",
        .args = "EXECUTION_ID",
        .args_min = 1,
        .args_max = 1,
        .summary = "Show what happened in an execution, in order",
        .example = "exec-0199a1c2-7c41-7b6e-9c33-0f0c2f6c1a55",
        .options = plain_options,
        .run = log_run,
    },
    {
        .name = "report",
        .args = "EXECUTION_ID STEP",
        .args_min = 2,
        .args_max = 2,
        .summary = "Say that a step is done, or that it has failed",
        .example = "exec-0199a1c2 plan --outputs '{\"plan\":\"tests first\"}'",
        .details = "It is for steps that are done by report: what has a job or a command is\n"
                   "reported by its worker or runner.",
        .options = report_options,
        .run = report_run,
    },
    {
        .name = "retry",
        .args = "EXECUTION_ID [STEP]",
        .args_min = 1,
        .args_max = 2,
        .summary = "Let an execution try again what waits for you",
        .example = "exec-0199a1c2 code --set branch=main",
        .details = "It resolves the open incidents, of one step or all of them, after setting the\n"
                   "variables that are given.",
        .options = retry_options,
        .run = retry_run,
    },
    { 0 },
};

const struct verb job_verbs[] = {
    {
        .name = "claim",
        .args = "TYPE...",
        .args_min = 1,
        .args_max = 32,
        .summary = "Take the oldest jobs of some types, or wait for one",
        .example = "deploy build-* --timeout 30",
        .details = "It prints an array of jobs: what each is given is in its variables. They are\n"
                   "yours until `baton job complete` or `fail`, or until the lease ends.",
        .options = claim_options,
        .run = claim_run,
    },
    { 0 },
};
