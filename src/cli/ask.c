/* ask.c: what commands that are written by hand ask of the server. */
#include "cli/ask.h"

#include <poll.h>

#include "os/random.h"

enum {
    KEY_BYTES = 16,
    WAIT_LEAST_MS = 100,
    WAIT_MOST_MS = 2000,
    PAGE = 500, /* what lists give at most */
};

void asker_init(struct asker *k, struct cli *c)
{
    *k = (struct asker){ .cli = c, .arena = arena_new() };
}

static void disconnect(struct asker *k)
{
    if (k->client)
        http_client_free(k->client);
    k->client = NULL;
}

void asker_release(struct asker *k)
{
    disconnect(k);
    arena_free(k->arena);
}

err asker_find(struct asker *k, struct arena *a)
{
    if (k->client)
        return NULL;
    arena_reset(k->arena);
    err e = endpoint_find(k->arena, cli_value(k->cli, "--data"), &k->endpoint);
    if (e)
        return err_new(a, e->kind, STR_FMT, STR_ARG(e->message));
    k->client = http_client_new(&k->endpoint);
    return NULL;
}

err asker_keep(struct asker *k, err e)
{
    struct arena *a = k->cli->arena;

    return err_with(a, err_new(a, e->kind, STR_FMT, STR_ARG(e->message)),
                    arena_copy(a, e->members));
}

static err answer_read(struct arena *a, const struct response *r, const struct json **out)
{
    *out = NULL;
    if (r->status >= 400)
        return render_refusal(a, r);
    if (!r->body.len)
        return NULL;
    err e = json_parse(a, r->body, &json_limits_own, out);
    return e ? err_within(a, e, "the server's answer is not JSON") : NULL;
}

err asker_ask(struct asker *k, struct arena *a, const struct question *q, const struct json **out)
{
    bool writes = strcmp(q->method, "GET") != 0;
    struct response_field key = { STR("Idempotency-Key"),
                                  writes ? random_hex(a, KEY_BYTES) : STR("") };
    struct http_call call = { .method = q->method,
                              .fields = &key,
                              .field_count = writes,
                              .body = q->body ? json_printed(a, q->body) : STR(""),
                              .repeatable = true,
                              .timeout_ms = q->timeout_ms ? q->timeout_ms : k->timeout_ms };
    struct response answer;

    TRY(asker_find(k, a));
    TRY(url_target(a, &k->endpoint.url, q->pattern, q->params, q->param_count, &call.target));
    err e = http_client_call(k->client, a, &call, &answer);
    if (e) {
        disconnect(k);
        return e;
    }
    k->reached = true;
    return answer_read(a, &answer, out);
}

err asker_insist(struct asker *k, struct arena *a, const struct question *q,
                 const struct json **out)
{
    int64_t wait_ms = WAIT_LEAST_MS;
    bool told = false;

    for (;;) {
        arena_reset(a);
        err e = asker_ask(k, a, q, out);
        if (!e || e->kind != ERR_UNAVAILABLE || !k->reached)
            return e;
        if (!told)
            cli_warn(k->cli, err_within(a, e, "asking again"));
        told = true;
        poll(NULL, 0, (int)wait_ms);
        wait_ms = 2 * wait_ms < WAIT_MOST_MS ? 2 * wait_ms : WAIT_MOST_MS;
    }
}

err asker_list(struct asker *k, struct arena *a, const char *pattern,
               const struct url_param *filter, const char *list, size_t most, struct json *out,
               bool *cut)
{
    str after = STR("");

    *out = json_array();
    for (*cut = false; !*cut;) {
        struct url_param params[3] = { { "limit", arena_printf(a, "%d", PAGE) } };
        const struct json *page, *items;
        size_t n = 1;
        if (filter)
            params[n++] = *filter;
        if (after.len)
            params[n++] = (struct url_param){ "after", after };
        TRY(asker_ask(k, a,
                      &(struct question){
                          .method = "GET", .pattern = pattern, .params = params, .param_count = n },
                      &page));
        items = json_get(page, list);
        for (uint32_t i = 0; json_is(items, JSON_ARRAY) && i < items->len; i++)
            json_push(a, out, items->items[i]);
        after = json_str(page, "next");
        if (!after.len)
            return NULL;
        *cut = out->len >= most;
    }
    return NULL;
}
