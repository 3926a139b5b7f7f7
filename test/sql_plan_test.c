/* sql_plan_test.c: no statement reads a whole table that grows, in the plan that SQLite makes.
 *
 * A plan that does is right and slow, and shows only when the table is large. */
#include <stdlib.h>

#include "check.h"
#include "sim/world.h"

enum { ARGS_MAX = 64 };

/* The highest $n of a text. */
static size_t arg_count(const char *text)
{
    size_t most = 0;

    for (const char *at = text; (at = strchr(at, '$')); at++) {
        size_t n = strtoul(at + 1, NULL, 10);
        most = n > most ? n : most;
    }
    CHECK(most <= ARGS_MAX);
    return most;
}

static bool is_planned(const char *text)
{
    static const char *const verbs[] = { "SELECT", "INSERT", "UPDATE", "DELETE", "WITH" };

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strncmp(text, verbs[i], strlen(verbs[i])) == 0)
            return true;
    return false;
}

/* What may be read from end to end: machines, of which there are few, and what a statement has
 * gathered itself. */
static const str small[] = {
    STR("SCAN runner"), STR("SCAN cluster_node"), STR("SCAN b"),     STR("SCAN below"),
    STR("SCAN head"),   STR("SCAN page"),         STR("SCAN there"), STR("SCAN (subquery-3)"),
};

/* Of a table, and not in the order of an index up to a limit. */
static bool reads_all(str detail)
{
    if (!str_starts(detail, STR("SCAN ")) || str_contains(detail, STR(" USING ")) ||
        str_contains(detail, STR("CONSTANT ROW")))
        return false;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (str_eq(detail, small[i]))
            return false;
    return true;
}

static void plan_check(struct world *w, const char *text, struct buf *bad)
{
    static const struct sql_value nothing[ARGS_MAX];
    const char *explain = arena_printf(check_arena(), "EXPLAIN QUERY PLAN %s", text).at;
    struct sql_args args = { nothing, arg_count(text) };
    const struct row *rows;
    size_t count;

    CHECK_OK(sql_all_(w->engine.sql, &rows, &count, explain, args));
    for (size_t i = 0; i < count; i++)
        if (reads_all(row_str(&rows[i], 3)))
            buf_printf(bad, "\n  " STR_FMT ": %s", STR_ARG(row_str(&rows[i], 3)), text);
}

TEST(no_statement_reads_a_whole_table_that_grows)
{
    struct buf bad = buf_in(check_arena());
    struct store_node node;
    size_t planned = 0;
    struct world *w;

    CHECK_OK(world_open("plan.db", NULL, &w));
    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    for (const struct sql_text *t = __start_sql_texts; t < __stop_sql_texts; t++)
        if (strstr(t->file, "src/") && is_planned(t->text)) {
            plan_check(w, t->text, &bad);
            planned++;
        }
    store_rollback(w->engine.sql);
    world_close(w);
    if (bad.len)
        check_fail(__FILE__, __LINE__, "these read all of a table:" STR_FMT,
                   STR_ARG(buf_str(&bad)));
    check_note("%zu statements", planned);
}
