/* caller.c: calls of a server, one after the other. */
#include "client/caller.h"

#include "os/random.h"

enum { KEY_BYTES = 16, RETRY_FIRST_MS = 50 };

void caller_init(struct caller *c, const char *data)
{
    *c = (struct caller){ .data = data, .arena = arena_new() };
}

/* The endpoint can still be read, until the server is looked for again. */
static void forget(struct caller *c)
{
    if (c->client)
        http_client_free(c->client);
    c->client = NULL;
}

void caller_release(struct caller *c)
{
    forget(c);
    arena_free(c->arena);
}

void caller_give(struct caller *c)
{
    arena_give(c->arena);
}

void caller_take(struct caller *c)
{
    arena_take(c->arena);
}

err caller_find(struct caller *c, struct arena *a)
{
    if (c->client)
        return NULL;
    arena_reset(c->arena);
    err e = endpoint_find(c->arena, c->data, &c->endpoint);
    if (e)
        return err_copy(a, e);
    if (c->token.len)
        c->endpoint.token = c->token;
    c->client = http_client_new(&c->endpoint);
    return NULL;
}

static bool is_repeatable(const struct call *call)
{
    return !call->once && (call->key.len || call->reads || strcmp(call->method, "GET") == 0);
}

err caller_request(struct caller *c, struct arena *a, const struct call *call, struct response *out)
{
    struct response_field *fields = ARENA_ARRAY(a, struct response_field, call->field_count + 1);
    struct http_call request = { .method = call->method,
                                 .fields = fields,
                                 .body = call->body,
                                 .repeatable = is_repeatable(call),
                                 .timeout_ms = call->timeout_ms ? call->timeout_ms
                                                                : c->timeout_ms };

    if (call->key.len)
        fields[request.field_count++] =
            (struct response_field){ STR("Idempotency-Key"), call->key };
    for (size_t i = 0; i < call->field_count; i++)
        fields[request.field_count++] = call->fields[i];
    TRY(caller_find(c, a));
    TRY(url_target(a, &c->endpoint.url, call->pattern, call->params, call->param_count,
                   &request.target));
    err e = http_client_call(c->client, a, &request, out);
    c->reached = c->reached || !e;
    enum error_kind kind = e ? ERR_UNAVAILABLE : response_kind(out->status);
    if (kind == ERR_UNAVAILABLE || kind == ERR_UNAUTHENTICATED)
        forget(c);
    return e;
}

err caller_call(struct caller *c, struct arena *a, const struct call *call, const struct json **out)
{
    struct response r;

    *out = NULL;
    TRY(caller_request(c, a, call, &r));
    if (r.status >= 400)
        return (c->refusal ? c->refusal : response_error)(a, &r);
    if (!r.body.len)
        return NULL;
    err e = json_parse(a, r.body, &json_limits_own, out);
    return e ? err_within(a, e, "the server's answer is not JSON") : NULL;
}

str idempotency_key(struct arena *a)
{
    return random_hex(a, KEY_BYTES);
}

/* ---- refusals ---- */

/* The problem's members that are more than its text, without the braces. */
static str members_of(struct arena *a, const struct json *problem)
{
    static const char *const known[] = { "type", "title", "detail", "error" };
    struct json rest = json_object();

    for (uint32_t i = 0; i < problem->len; i++) {
        bool more = true;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            more = more && !str_eq(json_name(&problem->members[i]), str_from(known[k]));
        if (more)
            json_put(a, &rest, json_name(&problem->members[i]), problem->members[i].value);
    }
    str text = json_printed(a, &rest);
    return str_slice(text, 1, text.len - 1);
}

err response_error(struct arena *a, const struct response *r)
{
    enum error_kind kind = response_kind(r->status);
    const struct json *problem;

    if (json_parse(a, r->body, &json_limits_own, &problem) || !json_is(problem, JSON_OBJECT))
        return err_new(a, kind, "%s: the server answered with status %d",
                       error_kind_info(kind)->title, r->status);
    str title = json_str(problem, "title"), detail = json_str(problem, "detail");
    if (!title.len)
        title = str_from(error_kind_info(kind)->title);
    err e = err_new(a, kind, STR_FMT "%s" STR_FMT, STR_ARG(title), detail.len ? ": " : "",
                    STR_ARG(detail));
    return err_with(a, e, members_of(a, problem));
}

str response_detail(struct arena *a, const struct response *r)
{
    const struct json *problem;

    return json_parse(a, r->body, &json_limits_own, &problem) ? STR("")
                                                              : json_str(problem, "detail");
}

/* ---- repetitions ---- */

int64_t retry_delay_ms(int n, int64_t most_ms)
{
    int64_t delay = RETRY_FIRST_MS;

    while (n-- > 0 && delay < most_ms)
        delay *= 2;
    return delay < most_ms ? delay : most_ms;
}
