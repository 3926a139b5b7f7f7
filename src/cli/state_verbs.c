/* state_verbs.c: baton state set: one value of a state, by its place.
 *
 * It is a patch of one operation. What is there is replaced, and what is not is added: an `add` would
 * move the elements of an array. */
#include "cli/state_verbs.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "cli/names.h"

/* ---- the value ---- */

/* JSON, and what cannot be meant as JSON is a text: `done` is, `{"a"` is not. */
static err value_read(struct cli *c, const char *word, struct json *out)
{
    const struct json *value;
    bool file = !cli_flag(c, "--string") && (word[0] == '@' || strcmp(word, "-") == 0);

    if (!utf8_valid(str_from(word)))
        return usage_error(c, STR("VALUE expects UTF-8."));
    if (file) {
        TRY(json_load(c, c->arena, word + (word[0] == '@'), &value));
        *out = *value;
        return NULL;
    }
    *out = json_string(str_from(word));
    err e = cli_flag(c, "--string") ? NULL : json_parse(c->arena, str_from(word), NULL, &value);
    if (e && word[0] && strchr("{[\"", word[0]))
        return err_within(c->arena, e, "VALUE (--string takes it as it is)");
    if (!e && !cli_flag(c, "--string"))
        *out = *value;
    return NULL;
}

/* ---- the call ---- */

static err is_there(struct cli *c, struct caller *k, str id, str pointer, bool *out)
{
    const struct json *answer;
    struct call read = { .method = "GET",
                         .pattern = "/workflow-states/{state_id}",
                         PARAMS({ "state_id", id }, { "pointer", pointer },
                                { "max_chars", STR("1000") }) };
    struct call whole = { .method = "GET",
                          .pattern = "/workflow-states/{state_id}",
                          PARAMS({ "state_id", id }, { "max_chars", STR("1000") }) };

    err e = caller_call(k, c->arena, &read, &answer);
    *out = !e;
    if (e && e->kind == ERR_NOT_FOUND) /* it, or the state? */
        e = caller_call(k, c->arena, &whole, &answer);
    return names_meant(c, k, e, "state", id);
}

static err set(struct cli *c, struct caller *k, str id, str pointer, struct json value)
{
    struct json operation = json_object(), operations = json_array(), body = json_object();
    int64_t version;
    bool there;

    TRY(is_there(c, k, id, pointer, &there));
    json_put(c->arena, &operation, STR("op"), json_string(there ? STR("replace") : STR("add")));
    json_put(c->arena, &operation, STR("path"), json_string(pointer));
    json_put(c->arena, &operation, STR("value"), value);
    json_push(c->arena, &operations, operation);
    json_put(c->arena, &body, STR("operations"), operations);
    const char *expected = cli_value(c, "--expected-version");
    if (expected && (!str_to_int(str_from(expected), &version) || version < 1))
        return usage_error(c, arena_printf(c->arena,
                                           "--expected-version expects a version, but found '%s'.",
                                           expected));
    if (expected)
        json_put(c->arena, &body, STR("expected_version"), json_int(c->arena, version));

    struct response r;
    struct call patch = { .method = "PATCH",
                          .pattern = "/workflow-states/{state_id}",
                          PARAMS({ "state_id", id }),
                          .body = json_printed(c->arena, &body),
                          .key = idempotency_key(c->arena) };
    TRY(caller_request(k, c->arena, &patch, &r));
    return render_answer(c, &r);
}

static err set_run(struct cli *c)
{
    const char *own = getenv("WORKFLOW_STATE_ID"), **word = c->args;
    struct json value;
    struct caller k;

    if (c->arg_count == 2 && (!own || !*own))
        return usage_error(
            c, STR("expected STATE_ID POINTER VALUE, but found 2 arguments; only inside "
                   "a run (WORKFLOW_STATE_ID) is its own state meant."));
    str id = str_from(c->arg_count == 3 ? *word++ : own), pointer = str_from(word[0]);
    if (pointer.len && pointer.at[0] != '/')
        return usage_error(c,
                           arena_printf(c->arena,
                                        "POINTER expects a JSON Pointer like /tasks/0, or '' for "
                                        "all of it, but found '%s'; did you mean '/%s'?",
                                        word[0], word[0]));
    TRY(value_read(c, word[1], &value));
    caller_init(&k, cli_value(c, "--data"));
    err e = set(c, &k, id, pointer, value);
    caller_release(&k);
    return e;
}

// clang-format off
static const struct option set_options[] = {
    { "--string",           's', NULL,  "VALUE is a text, whatever it looks like" },
    { "--expected-version", 0,   "N",   "only if this is the version; exits with 6 if another is" },
    { "--json",             0,   NULL,  "one line of JSON, and errors as JSON too" },
    { "--data",             0,   "DIR", "ask the server of this data directory" },
    { 0 },
};
// clang-format on

const struct verb state_verbs[] = {
    {
        .name = "set",
        .args = "[STATE_ID] POINTER VALUE",
        .args_min = 2,
        .args_max = 3,
        .summary = "Set one value of a state; refused unless the result fits the schema",
        .example = "wfstate_4hq2m7k1x9ab /status done",
        .details =
            "arguments:\n"
            "  STATE_ID  the state; inside a run, without it, the run's own\n"
            "  POINTER   its place as a JSON Pointer: /status, /tasks/0, /tasks/- to append\n"
            "  VALUE     JSON; @FILE or - for a file or standard input with it; a word that\n"
            "            is no JSON is a text: done is \"done\", but 3, true and null are what\n"
            "            they are in JSON (--string makes them texts)",
        .options = set_options,
        .run = set_run,
    },
    { 0 },
};
