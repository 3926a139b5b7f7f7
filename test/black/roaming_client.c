/* roaming_client.c: somebody with a connection, who moves to another node when one does not answer. */
#include "black/roaming_client.h"

#include <time.h>

void chaos_wait_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

int chaos_other_node(const struct chaos *c, int node, struct random *random)
{
    if (c->node_count == 1)
        return node;
    return (node + 1 + (int)random_below(random, (uint32_t)c->node_count - 1)) % c->node_count;
}

void chaos_shown(struct chaos *c, int state, int64_t version)
{
    int64_t known = c->known[state];

    while (known < version && !atomic_compare_exchange_weak(&c->known[state], &known, version)) {
    }
}

void roaming_client_open(struct roaming_client *v, struct chaos *c, uint64_t seed)
{
    *v = (struct roaming_client){
        .chaos = c, .random = { seed }, .arena = arena_new(), .patience_ms = c->patience_ms
    };
    v->node = (int)random_below(&v->random, (uint32_t)c->node_count);
    v->client = http_client_new(&c->nodes[v->node].endpoint);
    arena_give(v->arena);
}

void roaming_client_close(struct roaming_client *v)
{
    http_client_free(v->client);
    arena_free(v->arena);
}

void roaming_client_move(struct roaming_client *v)
{
    int to = chaos_other_node(v->chaos, v->node, &v->random);

    if (to == v->node)
        return;
    http_client_free(v->client);
    v->node = to;
    v->client = http_client_new(&v->chaos->nodes[to].endpoint);
}

struct response roaming_client_send(struct roaming_client *v, const char *method, str target,
                                    str key, str body)
{
    struct response_field fields[] = { { STR("Idempotency-Key"), key } };
    struct http_call call = {
        .method = method,
        .target = target,
        .fields = fields,
        .field_count = key.len ? 1 : 0,
        .body = body,
        .timeout_ms = v->patience_ms,
    };
    struct response r;

    while (http_client_call(v->client, v->arena, &call, &r) || r.status == 503) {
        v->sent_again++;
        chaos_wait_ms(2);
        roaming_client_move(v);
    }
    return r;
}

struct response roaming_client_ask(struct roaming_client *v, const char *method, int state,
                                   const char *query, str key, str body)
{
    str target = arena_printf(v->arena, "/workflow-states/" STR_FMT "%s",
                              STR_ARG(v->chaos->ids[state]), query);

    return roaming_client_send(v, method, target, key, body);
}

const struct json *roaming_client_read(struct roaming_client *v, int state, const char *query)
{
    int64_t known = v->chaos->known[state];
    struct response r = roaming_client_ask(v, "GET", state, query, STR(""), STR(""));

    CHECK_INT(r.status, 200);
    const struct json *found = json_parsed(v->arena, r.body);
    int64_t version = json_int_or(found, "version", 0);
    if (version < known)
        check_fail(__FILE__, __LINE__, "node %d shows version %lld of state %d after %lld", v->node,
                   (long long)version, state, (long long)known);
    chaos_shown(v->chaos, state, version);
    return found;
}
