/* timers_test.c: many that fall due at one moment are no queue for each other, nor for anybody else. */
#include <poll.h>
#include <time.h>

#include "base/date.h"
#include "black/black.h"
#include "client/socket.h"
#include "calls.h"
#include "sim/postgres.h"

enum {
    TIMERS = 10000,
    TOGETHER = 500, /* that are made in one batch */
    PATIENCE_MS = BLACK_SANITIZED ? 120000 : 60000,
};

static int64_t wall_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Runs that may be claimed from one moment on, which has come when the server is there; and the number
 * of the last event before that. `more` is of each of them. */
static int64_t timers_make(const char *store, int count, const char *more)
{
    struct command *batch[TOGETHER];
    struct world *w;

    CHECK_OK(world_open(store, NULL, &w));
    w->now_ms = wall_ms() - 1500;
    str input = arena_printf(check_arena(), "{'argv':['true'],'after_seconds':1%s}", more);
    for (int made = 0, n; made < count; made += n) {
        for (n = 0; n < TOGETHER && made + n < count; n++)
            batch[n] = world_command(w, "run.command", input.at, "");
        op_perform(&w->engine, batch, (size_t)n);
        for (int i = 0; i < n; i++)
            CHECK_OK(batch[i]->error);
    }
    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    int64_t seq = json_int_or(answer(w, "system.seen", "{}"), "seq", 0);
    world_close(w);
    return seq;
}

static const struct json *event_at(const struct black *b, int64_t seq)
{
    const struct json *answer =
        black_expect(b, 200,
                     arena_printf(check_arena(), "GET /events?shape=message&after=%lld&limit=1",
                                  (long long)seq - 1)
                         .at,
                     "");
    return &json_get(answer, "events")->items[0];
}

static void seq_wait(const struct black *b, int64_t seq)
{
    int64_t until = socket_clock_ms() + PATIENCE_MS;

    while (black_metric(b, "baton_published_seq") < seq) {
        CHECK(socket_clock_ms() < until);
        poll(NULL, 0, 20);
    }
}

/* Work of a kind that there is not, which is due before all timers. */
static void bad_add(const char *store, int count)
{
    struct store_node node;
    struct world *w;
    err why;

    CHECK_OK(world_open(store, NULL, &w));
    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    for (int i = 0; i < count; i++)
        CHECK_OK(sql_exec(w->engine.sql,
                          "INSERT INTO due (at, kind, subject, arg) VALUES (1, 'sing', $1, 0)",
                          ARGS(TEXT(arena_printf(check_arena(), "s%d", i)))));
    CHECK_INT(store_commit(w->engine.sql, &node, &why), STORE_COMMITTED);
    world_close(w);
}

static void timers_fire(struct black *b, const char *store)
{
    int64_t before, first = 0, last = 0;

    black_start(b); /* it makes the database */
    black_stop(b);
    before = timers_make(store, TIMERS, "");
    black_start(b);
    seq_wait(b, before + TIMERS);
    CHECK(date_parse(json_str(event_at(b, before + 1), "timestamp"), &first));
    CHECK(date_parse(json_str(event_at(b, before + TIMERS), "timestamp"), &last));
    CHECK_STR(json_str(event_at(b, before + TIMERS), "event_type"), "run_enqueued");
    check_note("%d timers of one moment have fired within %lld ms", TIMERS,
               (long long)(last - first));
    black_stop(b);
}

TEST_LIMIT(ten_thousand_timers_of_one_moment_fire, 120)
{
    struct black b = { .port = 0 };

    timers_fire(&b, "data/baton.db");
}

TEST_LIMIT(ten_thousand_timers_of_one_moment_fire_on_postgresql, 120)
{
    struct postgres *postgres = postgres_start();
    const char *url = postgres_new_database(postgres);
    const char *args[] = { "--store", url, NULL };
    struct black b = { .args = args };

    timers_fire(&b, url);
    postgres_stop(postgres);
}

/* Each fails by itself and is put off; nothing is lost or late by it. */
TEST_LIMIT(timers_behind_work_that_fails_fire, 120)
{
    enum { BAD = 20, GOOD = 200 };
    struct black b = { .port = 0 };

    black_start(&b);
    black_stop(&b);
    int64_t before = timers_make("data/baton.db", GOOD, "");
    bad_add("data/baton.db", BAD);
    black_start(&b);
    seq_wait(&b, before + GOOD);
    const struct json *runs = json_get(black_expect(&b, 200, "GET /runs?limit=500", ""), "runs");
    CHECK_INT(runs->len, GOOD);
    for (uint32_t i = 0; i < runs->len; i++)
        CHECK(json_bool_or(&runs->items[i], "queued", false));
    black_stop(&b);
    for (int i = 0; i < BAD; i++) {
        str told = arena_printf(check_arena(), "\\\"subject\\\":\\\"s%d\\\"", i);
        if (!strstr(check_read("log").at, told.at))
            check_fail(__FILE__, __LINE__, "nothing was told of s%d", i);
    }
}

/* What others ask for shares the batches of the server's own work, and does not wait for the end of it. */
TEST_LIMIT(commands_are_done_while_many_timers_fire, 120)
{
    struct black b = { .port = 0 };
    int between = 0;

    black_start(&b);
    black_add_schema(&b);
    str state = black_add_state(&b, "{'n':0}");
    black_stop(&b);
    int64_t before = timers_make("data/baton.db", TIMERS, "");
    black_start(&b);
    const char *route = black_route("PATCH", state);
    while (black_metric(&b, "baton_published_seq") < before + TIMERS) {
        black_expect(&b, 200, route,
                     arena_printf(check_arena(), "{'merge':{'n':%d}}", ++between).at);
        CHECK(between < TIMERS);
    }
    seq_wait(&b, before + TIMERS + between);
    CHECK(between > 1);
    check_note("%d patches were done while %d timers fired", between, TIMERS);
    black_stop(&b);
}
