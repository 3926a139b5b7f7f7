/* nodes_test.c: several servers, as processes, on one PostgreSQL: what one has acknowledged, all of
 * them show. */
#include <pthread.h>

#include "black/pair.h"
#include "client/ws_client.h"

TEST_LIMIT(what_one_node_has_acknowledged_the_other_shows_at_once, 60)
{
    enum { ROUNDS = BLACK_SANITIZED ? 60 : 200 };
    struct pair p = pair_start();

    black_add_schema(&p.a);
    str state = black_add_state(&p.b, "{'n':0}");
    for (int i = 1; i <= ROUNDS; i++) {
        const struct black *writer = i % 2 ? &p.a : &p.b, *reader = i % 2 ? &p.b : &p.a;
        CHECK_INT(node_shown_n(writer, state), i - 1); /* and is in its memory now */
        black_expect(writer, 200, black_route("PATCH", state), node_patch_to(i));
        CHECK_INT(node_shown_n(reader, state), i);
    }
    pair_stop(&p);
}

/* Versions 2 to `last`, in order and each once. */
static void hear_versions(struct ws_client *ws, int last)
{
    str message;

    for (int version = 1; version < last;) {
        CHECK_OK(ws_client_next(ws, check_arena(), 20000, &message));
        const struct json *json = json_parsed(check_arena(), message);
        if (json_get(json, "event_type"))
            CHECK_INT(json_int_or(json, "version", 0), ++version);
    }
}

/* So many events, numbered without a hole. */
static void hear_numbers(struct ws_client *ws, int count)
{
    int64_t last = 0;
    str message;

    while (count > 0) {
        CHECK_OK(ws_client_next(ws, check_arena(), 20000, &message));
        const struct json *json = json_parsed(check_arena(), message);
        if (!json_get(json, "event_type"))
            continue;
        int64_t seq = json_int_or(json, "seq", 0);
        CHECK_INT(seq, last ? last + 1 : seq);
        last = seq;
        count--;
    }
}

static struct ws_client *subscribed_with(const struct black *b, str wish)
{
    struct ws_client *ws;
    str message;

    CHECK_OK(ws_client_open(check_arena(), &b->endpoint, "/ws", 5000, &ws));
    CHECK_OK(ws_client_send(ws, check_arena(), wish, 5000));
    CHECK_OK(ws_client_next(ws, check_arena(), 5000, &message));
    return ws;
}

static struct ws_client *subscribed(const struct black *b, str state)
{
    return subscribed_with(
        b, arena_printf(check_arena(), "{\"action\":\"subscribe\",\"state_id\":\"" STR_FMT "\"}",
                        STR_ARG(state)));
}

static struct ws_client *subscribed_to_all(const struct black *b)
{
    return subscribed_with(b, STR("{\"action\":\"subscribe\"}"));
}

TEST_LIMIT(subscriber_of_a_node_hears_of_all_nodes_in_order_and_once, 60)
{
    enum { VERSIONS = 60 };
    struct pair p = pair_start();

    black_add_schema(&p.a);
    str state = black_add_state(&p.a, "{'n':0}");
    struct ws_client *at_a = subscribed(&p.a, state), *at_b = subscribed(&p.b, state);
    for (int i = 2; i <= VERSIONS; i++)
        black_expect(i % 3 ? &p.a : &p.b, 200, black_route("PATCH", state), node_patch_to(i));
    hear_versions(at_a, VERSIONS);
    hear_versions(at_b, VERSIONS);
    ws_client_free(at_a);
    ws_client_free(at_b);
    pair_stop(&p);
}

/* Makes states, as fast as answers come. */
enum { WRITES = BLACK_SANITIZED ? 60 : 200 };

static void *write_many(void *node)
{
    const struct black *b = node;
    struct arena *a = arena_new();
    struct http_client *client = http_client_new(&b->endpoint);

    for (int i = 0; i < WRITES; i++) {
        struct http_call call = { .method = "POST",
                                  .target = STR("/workflow-states"),
                                  .body =
                                      quotes_double(a, "{'schema_name':'any','initial_data':{}}") };
        struct response r;
        CHECK_OK(http_client_call(client, a, &call, &r));
        CHECK_INT(r.status, 201);
        arena_reset(a);
    }
    http_client_free(client);
    arena_free(a);
    return NULL;
}

/* Where writes of both nodes lie between each other, each holds its own back for the other's. */
TEST_LIMIT(nodes_that_write_at_a_time_publish_all_in_one_order, 60)
{
    struct pair p = pair_start();
    pthread_t threads[2];

    black_add_schema(&p.a);
    struct ws_client *subscribers[] = { subscribed_to_all(&p.a), subscribed_to_all(&p.b) };
    CHECK(pthread_create(&threads[0], NULL, write_many, &p.a) == 0);
    CHECK(pthread_create(&threads[1], NULL, write_many, &p.b) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        hear_numbers(subscribers[i], 2 * WRITES);
        ws_client_free(subscribers[i]);
    }
    pair_stop(&p);
}

TEST_LIMIT(request_that_is_repeated_on_another_node_is_done_once, 60)
{
    struct pair p = pair_start();

    black_add_schema(&p.a);
    str state = black_add_state(&p.a, "{'list':[]}");
    struct response first = node_add_one(&p.a, state, "\"once\"");
    struct response again = node_add_one(&p.b, state, "\"once\"");
    CHECK_INT(first.status, 200);
    CHECK_INT(again.status, 200);
    CHECK_STR(again.body, first.body.at);
    CHECK_INT(node_shown_count(&p.b, state), 1);
    pair_stop(&p);
}

TEST_LIMIT(token_that_one_node_has_revoked_is_refused_by_the_other, 60)
{
    struct pair p = pair_start();

    for (int i = 0; i < 10; i++) {
        struct black_token t = black_add_token(&p.a, "viewer");
        struct peer known = peer_open(&p.b, check_arena());
        struct black as = p.b;
        as.endpoint.token = t.text;
        str ask = arena_printf(check_arena(), STR_FMT "\r\n",
                               STR_ARG(peer_head(check_arena(), &as, "GET /workflow-states")));

        peer_send(&known, ask);
        CHECK_INT(peer_next(&known).status, 200);
        str route = arena_printf(check_arena(), "DELETE /tokens/" STR_FMT, STR_ARG(t.id));
        CHECK_INT(black_ask(&p.a, route.at, "").status / 100, 2);
        peer_send(&known, ask); /* on the connection where it was good */
        CHECK_INT(peer_next(&known).status, 401);
        CHECK_INT(black_ask_as(&p.b, t.text, "GET /workflow-states", "").status, 401);
        peer_close(&known);
    }
    pair_stop(&p);
}

TEST_LIMIT(node_that_is_killed_takes_nobody_with_it_and_comes_back, 60)
{
    struct pair p = pair_start();

    black_add_schema(&p.a);
    str state = black_add_state(&p.a, "{'n':0}");
    for (int round = 1; round <= 3; round++) {
        black_expect(&p.a, 200, black_route("PATCH", state), node_patch_to(10 * round));
        black_kill(&p.a);
        CHECK_INT(node_shown_n(&p.b, state), 10 * round);
        black_expect(&p.b, 200, black_route("PATCH", state), node_patch_to(10 * round + 1));
        black_start(&p.a);
        CHECK_INT(node_shown_n(&p.a, state), 10 * round + 1);
    }
    pair_stop(&p);
}
