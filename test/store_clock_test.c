/* store_clock_test.c: a database that was written while the clock was years ahead. */
#include <time.h>

#include "base/date.h"
#include "black/black.h"
#include "core/rows.h"
#include "sim/postgres.h"
#include "calls.h"

#define YEARS_MS INT64_C(315360000000) /* ten of them */
#define DAY_MS 86400000

static int64_t wall_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct world *world_at(const char *store, int64_t now_ms)
{
    struct world *w;

    CHECK_OK(world_open(store, NULL, &w));
    w->now_ms = now_ms;
    w->actor = the_operator;
    return w;
}

/* The clock that the store has, and when the next work is due. */
static int64_t clock_of(struct world *w, int64_t *due_ms)
{
    struct store_node node;
    const struct row *row;

    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    CHECK_OK(
        sql_one(w->engine.sql, &row, "SELECT min(at) FROM due WHERE kind = 'run_ready'", NO_ARGS));
    *due_ms = row_int(row, 0);
    store_rollback(w->engine.sql);
    return node.clock;
}

/* Any number that is larger than what is to come soon would be a time that was left where it was. */
static void check_no_time_is_ahead(struct world *w, int64_t now_ms)
{
    struct store_node node;

    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    for (size_t i = 0; i < rows_table_count; i++) {
        const struct rows_table *t = &rows_tables[i];
        struct sql_value room[ROWS_KEYS_MAX + 1];
        const struct row *rows;
        size_t count;
        CHECK_OK(sql_all_(w->engine.sql, &rows, &count, t->page, rows_after(t, NULL, 1000, room)));
        for (size_t k = 0; k < count; k++)
            for (size_t c = 0; c < rows[k].count; c++)
                if (rows[k].values[c].kind == SQL_INT && rows[k].values[c].number > now_ms + DAY_MS)
                    check_fail(__FILE__, __LINE__, "%s: column %zu is ahead", t->name, c);
    }
    store_rollback(w->engine.sql);
}

static void clock_is_set_back(const char *store)
{
    int64_t ahead_ms = wall_ms() + YEARS_MS, due_ms;
    char text[DATE_TEXT_MAX];
    struct world *w = world_at(store, ahead_ms);

    answer(w, "agent.create", "{'name':'coder','profile':'shell','args':['x']}");
    str when = date_print(text, ahead_ms + 3600000);
    CHECK_OK(call(w, "run.create",
                  "{'type':'start_session','session_name':'s','prompt':'go','agent_name':'coder',"
                  "'not_before':'" STR_FMT "'}",
                  STR_ARG(when))
                 ->error);
    /* A row of every table that has times. */
    answer(w, "schema.create", "{'name':'s','json_schema':true}");
    answer(w, "state.create", "{'schema_name':'s','initial_data':{}}");
    answer(w, "token.create", "{'kind':'viewer','lease':60,'expires_in':60}");
    answer(w, "session.attend", "{'client':'gemini','session_id':'mcp-gemini-1','process':'P'}");
    answer(w, "session.event", "{'session_id':'mcp-gemini-1','event_type':'message'}");
    CHECK_INT(clock_of(w, &due_ms), ahead_ms);
    world_close(w);

    black_run((const char *const[]){ "store", "set-clock", store, NULL });
    w = world_at(store, wall_ms());
    w->ids = 1000; /* which those of the first world are below */
    int64_t now = wall_ms(), clock = clock_of(w, &due_ms);
    CHECK(clock <= now && clock > now - 60000);
    CHECK(due_ms > now + 3600000 - 60000 && due_ms <= now + 3600000); /* in an hour, still */
    check_no_time_is_ahead(w, now);
    answer(w, "session.create", "{'session_name':'t'}");
    world_audit(w);
    world_close(w);
    /* Again, and on one that was never ahead, there is nothing to do. */
    black_run((const char *const[]){ "store", "set-clock", store, NULL });
    black_run((const char *const[]){ "store", "check", store, "--deep", NULL });
}

TEST(clock_that_was_ahead_is_set_back)
{
    clock_is_set_back("ahead.db");
}

TEST_USING(clock_that_was_ahead_is_set_back_on_postgresql, 60, &postgres_service)
{
    struct postgres *p = postgres_shared();

    clock_is_set_back(postgres_new_database(p));
    postgres_leave(p);
}
