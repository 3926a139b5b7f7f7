/* pair.c: two nodes on one PostgreSQL. */
#include "black/pair.h"

static const char *const *args_of(const char *store, const char *setting)
{
    const char **args = (const char **)ARENA_ARRAY(check_arena(), char *, 5);

    args[0] = "--store";
    args[1] = store;
    args[2] = setting ? "--set" : NULL;
    args[3] = setting;
    args[4] = NULL;
    return args;
}

struct pair pair_start_on(struct postgres *postgres, const char *setting)
{
    struct pair p = { .postgres = postgres };
    const char *store = postgres_url(postgres, "postgres", "postgres");

    p.a = (struct black){ .data = "node_a", .args = args_of(store, setting) };
    p.b = (struct black){ .data = "node_b", .args = args_of(store, NULL) };
    black_start(&p.a);
    black_start(&p.b);
    return p;
}

struct pair pair_start_with(const char *setting)
{
    return pair_start_on(postgres_start(), setting);
}

struct pair pair_start(void)
{
    return pair_start_with(NULL);
}

void pair_stop(struct pair *p)
{
    black_stop(&p->a);
    black_stop(&p->b);
    postgres_stop(p->postgres);
}

const char *node_patch_to(int n)
{
    return arena_printf(check_arena(), "{'operations':[{'op':'add','path':'/n','value':%d}]}", n)
        .at;
}

int64_t node_shown_n(const struct black *b, str state)
{
    const struct json *shown = black_expect(b, 200, black_route("GET", state), "");
    return json_int_or(json_get(shown, "current_data"), "n", -1);
}

#define ADD_ONE "{\"operations\":[{\"op\":\"add\",\"path\":\"/list/-\",\"value\":1}]}"

struct response node_add_one(const struct black *b, str state, const char *key)
{
    struct arena *a = check_arena();
    struct response_field field = { STR("Idempotency-Key"), str_from(key) };
    struct http_call call = {
        .method = "PATCH",
        .target = arena_printf(a, "/workflow-states/" STR_FMT, STR_ARG(state)),
        .fields = &field,
        .field_count = 1,
        .body = STR(ADD_ONE),
    };
    struct http_client *client = http_client_new(&b->endpoint);
    struct response r;

    CHECK_OK(http_client_call(client, a, &call, &r));
    http_client_free(client);
    return r;
}

struct peer node_begin_add_one(const struct black *b, str state, const char *key)
{
    struct arena *a = check_arena();
    struct peer p = peer_open(b, a);
    str head = peer_head(a, b, black_route("PATCH", state));

    CHECK(peer_send(&p, arena_printf(a,
                                     STR_FMT "Idempotency-Key: %s\r\n"
                                             "Content-Type: application/json\r\n"
                                             "Content-Length: %zu\r\n\r\n%s",
                                     STR_ARG(head), key, strlen(ADD_ONE), ADD_ONE)));
    return p;
}

int64_t node_shown_count(const struct black *b, str state)
{
    const struct json *shown = black_expect(b, 200, black_route("GET", state), "");
    const struct json *list = json_get(json_get(shown, "current_data"), "list");

    CHECK_INT(json_int_or(shown, "version", 0), 1 + (int64_t)list->len);
    return list->len;
}
