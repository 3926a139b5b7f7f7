/* call.c: requests to the server, wherever it is now. */
#include "runner/call.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { RETRY_FIRST_MS = 50 };

struct caller {
    struct arena *arena; /* of the place */
    str data, token;     /* token: empty: what the environment says */
    bool found;
    struct endpoint endpoint;
    struct http_client *client;
};

/* A copy that ends in NUL and is the caller's to free. */
static str kept(str text)
{
    char *copy = mem_alloc(text.len + 1);

    if (text.len)
        memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    return (str){ copy, text.len };
}

struct caller *caller_with(str data, str token)
{
    struct caller *c = mem_alloc(sizeof *c);

    *c = (struct caller){ .arena = arena_new(), .data = kept(data), .token = kept(token) };
    return c;
}

struct caller *caller_new(str data)
{
    return caller_with(data, STR(""));
}

static void forget(struct caller *c)
{
    if (c->found)
        http_client_free(c->client);
    c->found = false;
    arena_reset(c->arena);
}

void caller_free(struct caller *c)
{
    forget(c);
    arena_free(c->arena);
    mem_free((char *)c->data.at);
    mem_free((char *)c->token.at);
    mem_free(c);
}

void caller_give(struct caller *c)
{
    arena_give(c->arena);
}

void caller_take(struct caller *c)
{
    arena_take(c->arena);
}

static err find(struct caller *c)
{
    if (c->found)
        return NULL;
    arena_reset(c->arena);
    TRY(endpoint_find(c->arena, c->data.len ? c->data.at : NULL, &c->endpoint));
    if (c->token.len)
        c->endpoint.token = c->token;
    c->client = http_client_new(&c->endpoint);
    c->found = true;
    return NULL;
}

/* What a refusal says, as an error of ours. */
static err refusal(struct arena *a, const struct response *r)
{
    const struct json *problem = NULL;
    str detail = STR("");

    if (!json_parse(a, r->body, &json_limits_own, &problem))
        detail = json_str(problem, "detail");
    return err_new(a, response_kind(r->status), "%d " STR_FMT, r->status,
                   STR_ARG(detail.len ? detail : STR("without a reason")));
}

static err ask(struct caller *c, struct arena *a, const struct call *call, struct response *out)
{
    struct response_field key = { STR("Idempotency-Key"), call->key };
    struct http_call request = { .method = call->method,
                                 .fields = &key,
                                 .field_count = call->key.len > 0,
                                 .body = call->body,
                                 .repeatable = call->key.len > 0,
                                 .timeout_ms = call->timeout_ms };

    TRY(find(c));
    TRY(url_target(a, &c->endpoint.url, call->pattern, call->params, call->param_count,
                   &request.target));
    return http_client_call(c->client, a, &request, out);
}

err caller_ask(struct caller *c, struct arena *a, const struct call *call,
               const struct json **answer)
{
    struct response r;

    *answer = NULL;
    err e = ask(c, a, call, &r);
    if (!e && r.status >= 400)
        e = refusal(a, &r);
    else if (!e && r.body.len)
        e = json_parse(a, r.body, &json_limits_own, answer);
    if (!e)
        return NULL;
    e = err_new(a, e->kind, STR_FMT, STR_ARG(e->message)); /* it may live in the place's arena */
    if (e->kind == ERR_UNAVAILABLE || e->kind == ERR_UNAUTHENTICATED)
        forget(c); /* the token's file may be another one too */
    return e;
}

/* The socket of a directory is for our own programs; others need the address beside it. */
static str announced(struct caller *c, struct arena *a)
{
    str path = arena_printf(a, STR_FMT "/server.json", STR_ARG(c->data)), text;
    const struct json *server;
    char *room = arena_alloc(a, 64 << 10);
    int fd = open(path.at, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return STR("");
    ssize_t n = read(fd, room, 64 << 10);
    close(fd);
    text = (str){ room, n > 0 ? (size_t)n : 0 };
    return json_parse(a, text, &json_limits_own, &server) ? STR("") : json_str(server, "url");
}

str caller_url(struct caller *c, struct arena *a)
{
    const char *given = getenv("BATON_URL");

    if (c->data.len)
        return announced(c, a);
    return str_from(given);
}

int64_t retry_delay_ms(int n, int64_t most_ms)
{
    int64_t delay = RETRY_FIRST_MS;

    while (n-- > 0 && delay < most_ms)
        delay *= 2;
    return delay < most_ms ? delay : most_ms;
}
