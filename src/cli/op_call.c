/* op_call.c: from a command line to a request, and its answer.
 *
 * A write carries an Idempotency-Key, its own or one made up, so that it can be
 * sent again when the connection is lost, and still happens once. */

#include "cli/names.h"
#include "cli/op_verbs.h"

enum {
    KEY_MAX = 255,
    LIST_MAX = 100000,    /* rows of a list: as many as the log keeps events */
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

/* ---- lists ---- */

/* Whether a list goes on behind a page; where is then in *after. The log's next is always there. */
static bool goes_on(const struct json *page, const struct json **after)
{
    *after = json_get(page, "next");
    if (json_is(*after, JSON_INTEGER))
        return json_int_or(page, "next", 0) < json_int_or(page, "seen", INT64_MAX);
    return json_is(*after, JSON_STRING);
}

/* The longest pages that an operation gives; 0: it has no pages, or waits for what is not there yet. */
static int64_t page_rows(const struct op_args *args, const struct json *input)
{
    for (size_t i = 0; i < args->count; i++)
        if (strcmp(args->at[i].name, "limit") == 0 && !json_get(input, "limit") &&
            !json_get(input, "wait"))
            return json_int_or(args->at[i].schema, "maximum", 0);
    return 0;
}

static void put_over(struct arena *a, struct json *object, const char *name, struct json value)
{
    for (uint32_t i = 0; i < object->len; i++) {
        if (str_eq(json_name(&object->members[i]), str_from(name))) {
            object->members[i].value = value;
            return;
        }
    }
    json_put(a, object, str_from(name), value);
}

/* What is not all is said to be so, beside the table. */
static void tell_more(struct cli *c, const struct json *answer)
{
    const struct json *after;
    str name;

    if (c->json || !render_list(c, answer, &name))
        return;
    cli_flush(c);
    if (goes_on(answer, &after))
        cli_note(c, "there are more: --after " STR_FMT,
                 STR_ARG(json_is(after, JSON_STRING) ? json_text(after)
                                                     : json_printed(c->arena, after)));
    else if (json_bool_or(answer, "truncated", false))
        cli_note(c, "there are more than are shown");
}

/* ---- the answer ---- */

/* The value that an option asks for alone: a text as it is, anything else as JSON. */
static void show(struct cli *c, const struct json *answer)
{
    const struct op_alone *alone = op_alone(c->verb->op);
    struct buf out = buf_in(c->arena);
    const struct json *value = NULL;

    /* What is nothing but a text is that text. */
    if (!c->json && json_is(answer, JSON_OBJECT) && answer->len == 1 &&
        json_str(answer, "text").len) {
        cli_write(c, json_str(answer, "text"));
        return;
    }
    if (!alone || !cli_flag(c, alone->option)) {
        render_value(c, answer);
        tell_more(c, answer);
        return;
    }
    for (size_t i = 0; !value && i < sizeof alone->members / sizeof *alone->members; i++)
        value = alone->members[i] ? json_get(answer, alone->members[i]) : NULL;
    if (json_is(value, JSON_STRING) && !c->json)
        buf_add(&out, json_text(value));
    else if (value)
        render_json(c, &out, value, c->terminal && !c->json);
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
}

/* ---- the call ---- */

/* What was not found was named by an argument. */
static err meant(struct cli *c, struct caller *k, const struct op_args *args,
                 const struct json *input, err e)
{
    str noun, verb;

    str_cut(str_from(c->verb->op->name), '.', &noun, &verb);
    for (size_t i = 0; i < args->count; i++)
        e = names_meant(c, k, e, names_kind(c->arena, noun, str_from(args->at[i].name)),
                        json_str(input, args->at[i].name));
    return e;
}

/* What goes with a write. */
static err call_dress(struct cli *c, struct call *call, struct response_field *match)
{
    call->once = c->verb->op->secret; /* the answer to a secret is not kept for a second time */
    if (has_option(c->verb, "--key"))
        TRY(key_make(c, &call->key));
    if (has_option(c->verb, "--if-match") && cli_value(c, "--if-match")) {
        TRY(match_make(c, &match->value));
        call->fields = match;
        call->field_count = 1;
    }
    return NULL;
}

/* A list comes in pages, and is one answer: the last one's, with the rows of all. */
static err op_call(struct cli *c, struct caller *k, const struct op_args *args,
                   const struct json *asked)
{
    struct response_field match = { STR("If-Match"), STR("") };
    int64_t rows = page_rows(args, asked);
    struct json input = json_copy(c->arena, asked), all = json_array(), *answer;
    const struct json *page, *after = NULL, *list = NULL;
    str name = STR("");
    struct response r;
    struct call call;

    if (rows)
        json_put(c->arena, &input, STR("limit"), json_int(c->arena, rows));
    do {
        if (after)
            put_over(c->arena, &input, "after", *after);
        op_call_make(c->arena, c->verb->op, &input, &call);
        TRY(call_dress(c, &call, &match));
        TRY(caller_request(k, c->arena, &call, &r));
        if (r.status == 404)
            return meant(c, k, args, &input, response_error(c->arena, &r));
        if (r.status >= 400 || !r.body.len)
            return render_answer(c, &r);
        err e = json_parse(c->arena, r.body, &json_limits_own, &page);
        if (e)
            return err_within(c->arena, e, "the server's answer is not JSON");
        list = rows ? render_list(c, page, &name) : NULL;
        for (uint32_t i = 0; list && i < list->len; i++)
            json_push(c->arena, &all, list->items[i]);
    } while (list && all.len < LIST_MAX && goes_on(page, &after));

    answer = ARENA_NEW(c->arena, struct json);
    *answer = json_copy(c->arena, page);
    if (list)
        put_over(c->arena, answer, arena_copy(c->arena, name).at, all);
    show(c, answer);
    return NULL;
}

err op_call_run(struct cli *c)
{
    const struct json *input;
    struct caller caller;
    struct op_args args;

    op_args_make(c->arena, c->verb->op, &args);
    TRY(op_args_read(c, &args, &input));
    caller_init(&caller, cli_value(c, "--data"));
    err e = op_call(c, &caller, &args, input);
    caller_release(&caller);
    return e;
}
