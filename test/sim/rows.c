/* rows.c: all rows of all tables, as text that is the same on every database.
 *
 * Statements go to the functions below the macros of sql.h: the list of all texts is that of the
 * program. They are found by the address of their text, so each table's is made once. */
#include "sim/rows.h"

#include <stdlib.h>

#include "check.h"
#include "store/driver.h"

enum { TABLES_MAX = 64 };

/* Of `node` there is one row more for each writer, which is PostgreSQL's own business; and a write
 * that was refused after it had changed a row may move the clock on. */
static const char *select_all(str table)
{
    static struct {
        str table;
        const char *text;
    } known[TABLES_MAX];
    int i = 0;

    while (i < TABLES_MAX && known[i].text && !str_eq(known[i].table, table))
        i++;
    CHECK(i < TABLES_MAX);
    if (!known[i].text) {
        known[i].table = arena_copy(check_arena(), table);
        known[i].text =
            str_eq(table, STR("node"))
                ? "SELECT version, seq FROM node WHERE node_id = 1"
                : arena_printf(check_arena(), "SELECT * FROM " STR_FMT, STR_ARG(table)).at;
    }
    return known[i].text;
}

static void value_print(struct buf *out, const struct sql_value *v)
{
    switch (v->kind) {
    case SQL_NULL: buf_add(out, STR("|")); break;
    case SQL_INT: buf_printf(out, "|%lld", (long long)v->number); break;
    case SQL_TEXT: buf_printf(out, "|\"" STR_FMT "\"", STR_ARG(v->bytes)); break;
    case SQL_BYTES:
        buf_add(out, STR("|x"));
        for (size_t i = 0; i < v->bytes.len; i++)
            buf_printf(out, "%02x", (unsigned char)v->bytes.at[i]);
    }
}

static str row_print(struct arena *a, const struct row *r)
{
    struct buf out = buf_in(a);

    for (size_t i = 0; i < r->count; i++)
        value_print(&out, &r->values[i]);
    return buf_str(&out);
}

static int by_bytes(const void *a, const void *b)
{
    return str_compare(*(const str *)a, *(const str *)b);
}

/* Where rows lie, and so the order in which they come, is each database's own business. */
static void table_print(struct buf *out, struct arena *a, struct sql *sql, str table)
{
    const struct row *rows;
    size_t count;

    CHECK_OK(sql_all_(sql, &rows, &count, select_all(table), NO_ARGS));
    str *lines = ARENA_ARRAY(a, str, count);
    for (size_t i = 0; i < count; i++)
        lines[i] = row_print(a, &rows[i]);
    qsort(lines, count, sizeof *lines, by_bytes);
    for (size_t i = 0; i < count; i++)
        buf_printf(out, STR_FMT STR_FMT "\n", STR_ARG(table), STR_ARG(lines[i]));
}

str rows_told(struct sql *sql, struct arena *a)
{
    struct buf out = buf_in(a);
    struct store_node node;
    const struct row *tables;
    size_t count;

    CHECK_OK(store_begin(sql, a, &node));
    CHECK_OK(sql_all_(sql, &tables, &count,
                      sql->store->kind == &postgres_kind
                          ? "SELECT tablename::text FROM pg_tables"
                            " WHERE schemaname = current_schema() ORDER BY 1"
                          : "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1",
                      NO_ARGS));
    for (size_t i = 0; i < count; i++)
        table_print(&out, a, sql, row_str(&tables[i], 0));
    store_rollback(sql);
    return buf_str(&out);
}

void rows_digest(struct sql *sql, unsigned char out[SHA256_BYTES])
{
    struct arena *a = arena_new();

    sha256(rows_told(sql, a), out);
    arena_free(a);
}
