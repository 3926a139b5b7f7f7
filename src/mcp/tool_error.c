/* tool_error.c: what an agent is told when an operation was refused.
 *
 * It reads what was expected and what was found, and what it can do next: so the text names tools,
 * and values for their arguments. */
#include "mcp/tools.h"

/* What to do next, by what went wrong; NULL: the message says it. */
static const char *const next_steps[ERROR_KIND_COUNT] = {
    [ERR_INVALID] = "Correct the arguments and call it again.",
    [ERR_UNAUTHENTICATED] = "The token of this client is not valid any more: tell the user.",
    [ERR_FORBIDDEN] = "Calling it again will not help: do what is yours, and leave this to others.",
    [ERR_GONE] = "Read the current version instead.",
    [ERR_TOO_LARGE] = "Nothing was written: make it smaller, or split it up, and call it again.",
    [ERR_UNFIT] = "Nothing was written. Correct this and call it again; state_schema shows what is "
                  "allowed.",
    [ERR_LIMIT] = "Wait until something has ended, or do with less, and call it again.",
    [ERR_INTERNAL] = "This is a fault of the server: call it once more, then tell the user.",
    [ERR_UNAVAILABLE] = "Nothing is wrong with the call: repeat it in a few seconds.",
    [ERR_FULL] = "The server has no room left to write: tell the user.",
};

/* More members of the error, as a value. */
static const struct json *members_of(struct arena *a, err e)
{
    const struct json *members;
    str text = arena_printf(a, "{" STR_FMT "}", STR_ARG(e->members));

    return json_parse_own(a, text, &members) ? NULL : members;
}

/* A call that was refused. */
struct refusal {
    const struct tool *tool;
    const struct json *arguments;
    err error;
};

/* Where a violation is. What a document as a whole is wrong with, the argument that holds it is. */
static str place_of(const struct refusal *r, const struct json *violation)
{
    static const char *const documents[] = { "data", "initial_data" };
    str pointer = json_str(violation, "pointer");

    for (size_t i = 0; i < sizeof documents / sizeof *documents && !pointer.len; i++)
        if (r->error->kind == ERR_UNFIT && json_get(r->arguments, documents[i]))
            pointer = str_from(documents[i]);
    return pointer;
}

/* What the words mean of which an argument must be one. */
static str meaning_of(struct arena *a, const struct refusal *r, const struct json *violation)
{
    str pointer = json_str(violation, "pointer");
    const struct json *input;

    if (r->error->kind != ERR_INVALID || !str_eq(json_str(violation, "keyword"), STR("enum")) ||
        json_parse(a, str_from(r->tool->op->input), NULL, &input))
        return STR("");
    return json_str(json_find(json_get(input, "properties"), str_slice(pointer, 1, pointer.len)),
                    "description");
}

/* Each thing that does not fit, with where it is; false: there is no list. */
static bool add_violations(struct arena *a, struct buf *out, const struct refusal *r,
                           const struct json *errors)
{
    for (uint32_t i = 0; json_is(errors, JSON_ARRAY) && i < errors->len; i++) {
        const struct json *v = &errors->items[i];
        str place = place_of(r, v), meaning = meaning_of(a, r, v);
        buf_printf(out, "\n- " STR_FMT "%s" STR_FMT "%s" STR_FMT, STR_ARG(place),
                   place.len ? ": " : "", STR_ARG(json_str(v, "message")), meaning.len ? " " : "",
                   STR_ARG(meaning));
    }
    return json_is(errors, JSON_ARRAY) && errors->len > 0;
}

str tool_error_text(struct arena *a, const struct tool *t, const struct json *arguments, err e)
{
    const struct json *members = members_of(a, e);
    int64_t current = json_int_or(members, "current_version", 0);
    const char *next = next_steps[e->kind];
    struct buf out = buf_in(a);

    buf_printf(&out, STR_FMT " was refused (%s)", STR_ARG(t->name),
               error_kind_info(e->kind)->title);
    if (!add_violations(a, &out, &(struct refusal){ t, arguments, e }, json_get(members, "errors")))
        buf_printf(&out, ": " STR_FMT, STR_ARG(e->message));
    if (e->kind == ERR_NOT_FOUND && t->op->implied && json_get(arguments, t->op->implied))
        next = "Without state_id, it is your own shared state.";
    if (current)
        buf_printf(&out,
                   "\ncurrent_version: %lld. Read it again with state_read, then repeat the change "
                   "with expected_version %lld.",
                   (long long)current, (long long)current);
    else if (next)
        buf_printf(&out, "\n%s", next);
    return buf_str(&out);
}
