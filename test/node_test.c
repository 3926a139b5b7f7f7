/* node_test.c: servers that share a database are seen, fall silent, leave and are forgotten. */
#include "json_help.h"
#include "sim/both.h"
#include "sim/world.h"

enum { SECOND = 1000, DAY = 24 * 3600 * SECOND };

static const struct actor server = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };

static struct world *world_new(void)
{
    struct world *w;

    CHECK_OK(world_open("baton.db", NULL, &w));
    return w;
}

/* One command of a server itself. */
static struct command *by_server(struct world *w, const char *op, const char *input)
{
    struct actor before = w->actor;

    w->actor = server;
    struct command *c = world_call(w, op, input, "");
    w->actor = before;
    CHECK_OK(c->error);
    return c;
}

static const char *beat_of(const char *id, int64_t seq)
{
    return arena_printf(check_arena(),
                        "{'node_id':'%s','name':'%s:7','url':'http://%s','version':'1','seq':%lld}",
                        id, id, id, (long long)seq)
        .at;
}

/* Gives how many are alive. */
static int64_t beat(struct world *w, const char *id, int64_t seq)
{
    struct command *c = by_server(w, "node.beat", beat_of(id, seq));

    const struct json *answer = json_parsed(check_arena(), c->answer.text);
    return json_int_or(answer, "nodes", -1);
}

static const struct json *list(struct world *w, const char *input)
{
    struct command *c = world_call(w, "node.list", input, "");

    CHECK_OK(c->error);
    return json_parsed(check_arena(), c->answer.text);
}

/* The ids that a page lists, with "!" behind those that are silent. */
static str ids(const struct json *page)
{
    struct buf out = buf_in(check_arena());
    const struct json *nodes = json_get(page, "nodes");

    for (uint32_t i = 0; i < nodes->len; i++)
        buf_printf(&out, "%s" STR_FMT "%s", i ? " " : "",
                   STR_ARG(json_str(&nodes->items[i], "node_id")),
                   json_bool_or(&nodes->items[i], "alive", false) ? "" : "!");
    return buf_str(&out);
}

TEST_BOTH(a_node_shows_what_it_said_last_and_when_it_came)
{
    struct world *w = world_new();

    CHECK_STR(world_call(w, "node.list", "{}", "")->answer.text, "{\"nodes\":[]}");
    by_server(w, "node.beat",
              "{'node_id':'node_a','name':'host:1','url':'','version':'0.1.0','seq':0}");
    w->now_ms += 5 * SECOND;
    by_server(w, "node.beat",
              "{'node_id':'node_a','name':'host:2','url':'http://h:80','version':'0.2.0','seq':9}");
    CHECK_STR(world_call(w, "node.list", "{}", "")->answer.text,
              "{\"nodes\":[{\"node_id\":\"node_a\",\"name\":\"host:2\",\"url\":\"http://h:80\","
              "\"version\":\"0.2.0\",\"started_at\":\"2025-01-15T10:35:00Z\","
              "\"seen_at\":\"2025-01-15T10:35:05Z\",\"seq\":9,\"alive\":true}]}");
    world_close(w);
}

TEST_BOTH(a_node_is_alive_for_fifteen_seconds_after_a_beat)
{
    struct world *w = world_new();

    CHECK_INT(beat(w, "node_a", 1), 1);
    w->now_ms += 15 * SECOND;
    CHECK_INT(beat(w, "node_b", 1), 2);
    CHECK_STR(ids(list(w, "{}")), "node_a node_b");
    w->now_ms += 1;
    CHECK_STR(ids(list(w, "{}")), "node_a! node_b");
    CHECK_INT(beat(w, "node_b", 1), 1);
    CHECK_INT(beat(w, "node_a", 1), 2); /* it was only slow */
    CHECK_STR(ids(list(w, "{}")), "node_a node_b");
    world_close(w);
}

TEST_BOTH(a_node_that_stops_is_gone_at_once_and_may_stop_twice)
{
    struct world *w = world_new();

    beat(w, "node_a", 1);
    beat(w, "node_b", 1);
    CHECK(by_server(w, "node.leave", "{'node_id':'node_a'}")->answer.empty);
    CHECK_STR(ids(list(w, "{}")), "node_b");
    by_server(w, "node.leave", "{'node_id':'node_a'}");
    CHECK_INT(beat(w, "node_b", 1), 1);
    world_close(w);
}

TEST_BOTH(a_silent_node_is_forgotten_after_a_day)
{
    struct world *w = world_new();

    beat(w, "node_a", 1);
    w->now_ms += DAY;
    beat(w, "node_b", 1);
    CHECK_STR(ids(list(w, "{}")), "node_a! node_b");
    w->now_ms += 1;
    beat(w, "node_b", 1);
    CHECK_STR(ids(list(w, "{}")), "node_b");
    world_close(w);
}

/* Others wait for the writer meanwhile, so a crowd goes in several steps, the oldest first. */
TEST_BOTH(one_beat_forgets_a_hundred_at_most)
{
    struct world *w = world_new();
    static const int left[] = { 151, 51, 1, 1 };

    for (int i = 0; i < 250; i++) {
        beat(w, arena_printf(check_arena(), "node_%03d", 999 - i).at, 1);
        w->now_ms++;
    }
    w->now_ms += DAY;
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        CHECK_INT(beat(w, "node_now", 1), 1);
        const struct json *nodes = json_get(list(w, "{'limit':500}"), "nodes");
        CHECK_INT(nodes->len, left[i]);
        if (i == 0) /* the hundred that came first, and have the highest ids */
            CHECK_STR(json_str(&nodes->items[149], "node_id"), "node_899");
    }
    world_close(w);
}

TEST_BOTH(nodes_are_paged_by_id)
{
    static const char *const all[] = { "node_c", "node_B", "node_a", "node_A", "node_b" };
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        beat(w, all[i], 1);
    const struct json *page = list(w, "{'limit':2}");
    CHECK_STR(ids(page), "node_A node_B");
    CHECK_STR(json_str(page, "next"), "node_B");
    CHECK_STR(world_call(w, "node.list", "{'limit':2}", "")->answer.next, "node_B");
    page = list(w, "{'limit':2,'after':'node_B'}");
    CHECK_STR(ids(page), "node_a node_b");
    page = list(w, "{'limit':2,'after':'node_b'}");
    CHECK_STR(ids(page), "node_c");
    CHECK(!json_get(page, "next"));
    CHECK(!json_get(list(w, "{'limit':5}"), "next"));
    world_close(w);
}

/* A team that rests leaves the log as it is, however long its servers run. */
TEST_BOTH(beats_are_no_events)
{
    struct world *w = world_new();

    CHECK(!by_server(w, "node.beat", beat_of("node_a", 1))->events);
    CHECK(!by_server(w, "node.leave", "{'node_id':'node_a'}")->events);
    CHECK_STR(world_call(w, "event.list", "{}", "")->answer.text,
              "{\"events\":[],\"next\":0,\"seen\":0,\"oldest\":1}");
    world_close(w);
}

TEST_BOTH(people_look_at_nodes_and_only_servers_speak_for_them)
{
    static const struct {
        enum actor_kind kind;
        bool looks;
    } kinds[] = { { ACTOR_OPERATOR, true },
                  { ACTOR_VIEWER, true },
                  { ACTOR_SESSION, false },
                  { ACTOR_RUNNER, false } };
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        w->actor = (struct actor){ .kind = kinds[i].kind, .name = STR("somebody") };
        err e = world_call(w, "node.list", "{}", "")->error;
        CHECK(kinds[i].looks ? !e : e && e->kind == ERR_FORBIDDEN);
        CHECK_ERR(world_call(w, "node.beat", beat_of("node_a", 1), "")->error, ERR_FORBIDDEN);
        CHECK_ERR(world_call(w, "node.leave", "{'node_id':'node_a'}", "")->error, ERR_FORBIDDEN);
    }
    CHECK_INT(op_find(w->table, STR("node.beat"))->on, 0);
    CHECK_INT(op_find(w->table, STR("node.leave"))->on, 0);
    world_close(w);
}

/* Whichever call of the store fails, a beat happened or did not, and the next one is heard. */
TEST_BOTH(a_beat_survives_every_storage_fault)
{
    bool fired = true;
    int n = 0;

    for (n = 1; fired; n++) {
        struct world *w;
        CHECK_OK(world_open(arena_printf(check_arena(), "%d.db", n).at, NULL, &w));
        beat(w, "node_a", 1);
        w->now_ms += DAY + 1;
        w->actor = server;
        w->fault = (struct fault){ .kind = FAULT_CALL, .nth = (uint32_t)n };
        err e = world_call(w, "node.beat", beat_of("node_b", 2), "")->error;
        fired = w->fault.fired;
        w->fault = (struct fault){ .kind = FAULT_NONE };
        CHECK(!e == !fired);
        CHECK_STR(ids(list(w, "{}")), fired ? "node_a!" : "node_b");
        CHECK_INT(beat(w, "node_b", 3), 1);
        CHECK_STR(ids(list(w, "{}")), "node_b");
        world_close(w);
    }
    CHECK(n > 4); /* it has three statements at least */
}
