/* op_call.c: from a command line to a request, and its answer.
 *
 * A write carries an Idempotency-Key, its own or one made up, so that it can be
 * sent again when the connection is lost, and still happens once. */

#include "cli/op_verbs.h"

enum {
    KEY_MAX = 255,
    CALL_MS = 30000,      /* for an answer that does not wait for anything */
    WAIT_MS = 60000,      /* the longest that an operation waits which says no time */
    WAIT_MORE_MS = 10000, /* beyond the time that an operation waits */
};

/* ---- the request ---- */

/* How long an operation that waits may take: its own time, and some for the way. */
static int64_t timeout_of(const struct op *op, const struct json *input)
{
    int64_t seconds = json_int_or(input, "timeout", json_int_or(input, "wait", -1));

    if (seconds < 0 || seconds > 24 * 3600)
        return op->wait ? WAIT_MS + WAIT_MORE_MS : CALL_MS;
    return seconds * 1000 + WAIT_MORE_MS;
}

void op_call_make(struct arena *a, const struct op *op, const struct json *input, struct call *out)
{
    struct url_param *params = ARENA_ARRAY(a, struct url_param, input->len + 1);
    struct json body = json_object();
    size_t count = 0;
    str method, pattern;

    str_cut(str_from(op->http), ' ', &method, &pattern);
    bool query = str_eq(method, STR("GET")) || str_eq(method, STR("DELETE"));
    for (uint32_t i = 0; i < input->len; i++) {
        const struct json_member *m = &input->members[i];
        if (!query && !op_captures(op, json_name(m))) {
            json_put(a, &body, json_name(m), m->value);
            continue;
        }
        str text = json_is(&m->value, JSON_STRING) ? json_text(&m->value)
                                                   : json_printed(a, &m->value);
        params[count++] = (struct url_param){ arena_copy(a, json_name(m)).at, text };
    }
    *out = (struct call){ .method = arena_copy(a, method).at,
                          .pattern = pattern.at,
                          .params = params,
                          .param_count = count,
                          .body = query ? STR("") : json_printed(a, &body),
                          .reads = op->effect == OP_READS,
                          .timeout_ms = timeout_of(op, input) };
}

/* ---- what goes with a write ---- */

static err key_make(struct cli *c, str *out)
{
    const char *given = cli_value(c, "--key");

    if (!given) {
        *out = idempotency_key(c->arena);
        return NULL;
    }
    *out = str_from(given);
    bool good = out->len > 0 && out->len <= KEY_MAX;
    for (size_t i = 0; i < out->len; i++)
        good = good && given[i] > ' ' && given[i] <= '~' && given[i] != '"';
    return good ? NULL
                : usage_error(c, arena_printf(c->arena,
                                              "--key expects up to %d letters, digits and signs "
                                              "without spaces, but found '%s'.",
                                              KEY_MAX, given));
}

static err match_make(struct cli *c, str *out)
{
    const char *given = cli_value(c, "--if-match");
    int64_t version;

    if (!str_to_int(str_from(given), &version) || version < 1)
        return usage_error(c, arena_printf(c->arena,
                                           "--if-match expects a version, but found '%s'.", given));
    *out = arena_printf(c->arena, "\"%lld\"", (long long)version);
    return NULL;
}

static bool has_option(const struct verb *v, const char *name)
{
    for (const struct option *o = v->options; o->name; o++)
        if (strcmp(o->name, name) == 0)
            return true;
    return false;
}

/* ---- the call ---- */

err op_call_run(struct cli *c)
{
    struct response_field match = { STR("If-Match"), STR("") };
    const struct op *op = c->verb->op;
    const struct json *input;
    struct caller caller;
    struct response answer;
    struct op_args args;
    struct call call;

    op_args_make(c->arena, op, &args);
    TRY(op_args_read(c, &args, &input));
    op_call_make(c->arena, op, input, &call);
    call.once = op->secret; /* the answer to a secret is not kept for a second time */
    if (has_option(c->verb, "--key"))
        TRY(key_make(c, &call.key));
    if (has_option(c->verb, "--if-match") && cli_value(c, "--if-match")) {
        TRY(match_make(c, &match.value));
        call.fields = &match;
        call.field_count = 1;
    }
    caller_init(&caller, cli_value(c, "--data"));
    err e = caller_request(&caller, c->arena, &call, &answer);
    caller_release(&caller);
    return e ? e : render_answer(c, &answer);
}
