/* store_copy.c: all rows of one database into another.
 *
 * The source is read in one transaction, so the copy is what was there at one
 * moment. The target gets it in pages, each in a transaction of its own, and says
 * of itself meanwhile that it is of a version which no program knows; only when
 * both sides were compared does it get the number of its last event, and its
 * version. So an unfinished one is refused wherever it is opened. */
#include <stdio.h>
#include <unistd.h>

#include "app/store_verbs.h"
#include "core/tables.h"
#include "json/write.h"

enum {
    PAGE_ROWS = 500,
    PAGE_ROWS_FIRST = 16,  /* how large rows are is not known yet */
    PAGE_BYTES = 16 << 20, /* of rows that are as large as the last ones were */
    LOG_BYTES = 64 << 20,  /* of the target, from where on it begins anew */
};

struct copying {
    struct cli *cli;
    struct database *from, *to;
    struct arena *pages[2]; /* of the rows at hand, and of those before, whose last one is needed */
    const struct rows_table *table;
    int64_t done, total; /* rows of all tables */
    bool shown;          /* progress is */
};

static void arena_drop(void *a)
{
    arena_free(a);
}

/* The pages go with the command, so errors that are in them outlive us. */
static void copying_init(struct copying *k, struct cli *c, struct database *from,
                         struct database *to)
{
    *k = (struct copying){ .cli = c, .from = from, .to = to };
    for (int i = 0; i < 2; i++) {
        k->pages[i] = arena_new();
        arena_on_release(c->arena, arena_drop, k->pages[i]);
    }
    k->shown = cli_flag(c, "--verbose") || (isatty(STDERR_FILENO) && !c->json);
}

static struct arena *page_turn(struct copying *k)
{
    struct arena *next = k->pages[1];

    k->pages[1] = k->pages[0];
    k->pages[0] = next;
    arena_reset(next);
    return next;
}

/* ---- progress ---- */

static void progress_show(const struct copying *k, int64_t rows, bool ended)
{
    bool terminal = isatty(STDERR_FILENO);

    if (!k->shown || (!terminal && !ended))
        return;
    fprintf(stderr, "%s%-12s %10lld rows  %3d%%%s", terminal ? "\r" : "", k->table->name,
            (long long)rows, k->total ? (int)(k->done * 100 / k->total) : 100,
            terminal && !ended ? "" : "\n");
    fflush(stderr);
}

/* ---- pages ---- */

static void value_add(struct sha256 *sum, const struct sql_value *v)
{
    char head[64];
    int n = snprintf(head, sizeof head, "%d %lld %zu ", (int)v->kind, (long long)v->number,
                     v->bytes.len);

    sha256_add(sum, (str){ head, (size_t)n });
    sha256_add(sum, v->bytes);
}

static size_t page_add(struct sha256 *sum, const struct row *rows, size_t count)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < rows[i].count; k++) {
            value_add(sum, &rows[i].values[k]);
            bytes += rows[i].values[k].bytes.len;
        }
    }
    return bytes;
}

static err commit(struct copying *k, const struct store_node *node)
{
    err why;

    switch (store_commit(k->to->sql, node, &why)) {
    case STORE_COMMITTED: return NULL;
    case STORE_ROLLED_BACK: return why;
    default: return err_within(k->cli->arena, why, "whether a page was written is not known");
    }
}

static err page_write(struct copying *k, const struct row *rows, size_t count)
{
    struct store_node node;
    err e = NULL;

    TRY(store_begin(k->to->sql, k->pages[0], &node));
    for (size_t i = 0; !e && i < count; i++)
        e = sql_exec_(k->to->sql, k->table->insert,
                      (struct sql_args){ rows[i].values, rows[i].count });
    if (e) {
        store_rollback(k->to->sql);
        return e;
    }
    TRY(commit(k, &node));
    return store_log_bytes(k->to->sql) > LOG_BYTES ? store_restart_log(k->to->sql, k->pages[0])
                                                   : NULL;
}

/* As many rows as would make a page if they are like the last ones. */
static int64_t limit_next(int64_t limit, size_t bytes, size_t count)
{
    int64_t fit = PAGE_BYTES / (int64_t)(bytes / count + 1);

    if (fit > limit * 4)
        fit = limit * 4;
    return fit < 1 ? 1 : fit > PAGE_ROWS ? PAGE_ROWS : fit;
}

/* Goes through the rows of a table, and writes them to the target when `writes`. */
static err table_walk(struct copying *k, struct sql *sql, bool writes, struct copy_table *out)
{
    struct sql_value room[ROWS_KEYS_MAX + 1];
    const struct row *rows, *last = NULL;
    int64_t limit = PAGE_ROWS_FIRST;
    struct sha256 sum;
    size_t count;

    sha256_init(&sum);
    out->rows = 0;
    for (;;) {
        sql_arena(sql, page_turn(k));
        TRY(sql_all_(sql, &rows, &count, k->table->page, rows_after(k->table, last, limit, room)));
        if (!count)
            break;
        size_t bytes = page_add(&sum, rows, count);
        if (writes)
            TRY(page_write(k, rows, count));
        out->rows += (int64_t)count;
        k->done += writes ? (int64_t)count : 0;
        if (writes)
            progress_show(k, out->rows, false);
        last = &rows[count - 1];
        limit = limit_next(limit, bytes, count);
    }
    if (writes)
        progress_show(k, out->rows, true);
    sha256_end(&sum, out->digest);
    return NULL;
}

/* ---- the target ---- */

static err rows_count(struct sql *sql, const struct rows_table *t, int64_t *out)
{
    const struct row *row;

    TRY(sql_one_(sql, &row, t->count, NO_ARGS));
    *out = row_int(row, 0);
    return NULL;
}

static err empty_check(struct copying *k)
{
    for (size_t i = 0; i < rows_table_count; i++) {
        const struct rows_table *t = &rows_tables[i];
        int64_t rows;
        TRY(rows_count(k->to->sql, t, &rows));
        if (rows && !t->seeded)
            return err_new(k->cli->arena, ERR_CONFLICT,
                           STR_FMT
                           " is not empty, it has %lld rows in %s: copy into a new database",
                           STR_ARG(k->to->shown), (long long)rows, t->name);
    }
    return NULL;
}

static err version_set(struct copying *k, int64_t version)
{
    return sql_exec_(k->to->sql, "UPDATE node SET version = $1 WHERE node_id = 1",
                     ARGS(INT(version)));
}

/* From here on it is ours: nobody else opens it, until it is finished. */
static err target_claim(struct copying *k)
{
    struct arena *a = k->cli->arena;
    struct store_node node;

    TRY(database_open(k->cli, k->to, STORE_WRITES, 0));
    TRY(store_begin(k->to->sql, a, &node));
    err e = empty_check(k);
    if (!e)
        e = version_set(k, STORE_UNFINISHED);
    if (e) {
        store_rollback(k->to->sql);
        return e;
    }
    TRY(commit(k, &node));
    database_close(k->to);
    return database_open(k->cli, k->to, STORE_WRITES, STORE_UNFINISHED);
}

/* The number of the last event and the time come last, with the version. */
static err target_finish(struct copying *k, const struct store_node *from)
{
    struct store_node node;

    TRY(store_begin(k->to->sql, k->cli->arena, &node));
    node.seq = from->seq;
    node.clock = from->clock;
    err e = version_set(k, tables_step_count);
    if (!e)
        return commit(k, &node);
    store_rollback(k->to->sql);
    return e;
}

static err compare(struct copying *k, struct sql *sql, const struct copy_result *expected)
{
    TRY(store_begin(sql, k->pages[0], NULL));
    for (size_t i = 0; i < rows_table_count; i++) {
        const struct copy_table *from = &expected->tables[i];
        struct copy_table to;
        k->table = &rows_tables[i];
        TRY(table_walk(k, sql, false, &to));
        if (to.rows != from->rows || memcmp(to.digest, from->digest, sizeof to.digest) != 0)
            return err_new(k->cli->arena, ERR_INTERNAL,
                           "%s has %lld rows in the source and %lld in the target, or they differ: "
                           "drop the target, and check the source with 'baton store check'",
                           k->table->name, (long long)from->rows, (long long)to.rows);
    }
    store_rollback(sql);
    return NULL;
}

static err target_compare(struct copying *k, const struct copy_result *expected)
{
    struct sql *sql;

    TRY(store_connect(k->cli->arena, k->to->store, STORE_READS, &sql));
    err e = compare(k, sql, expected);
    store_disconnect(sql);
    return e;
}

/* ---- the source ---- */

static err source_copy(struct copying *k, struct copy_result *out)
{
    for (size_t i = 0; i < rows_table_count; i++) {
        int64_t rows;
        TRY(rows_count(k->from->sql, &rows_tables[i], &rows));
        k->total += rows;
    }
    for (size_t i = 0; i < rows_table_count; i++) {
        k->table = &rows_tables[i];
        TRY(table_walk(k, k->from->sql, true, &out->tables[i]));
    }
    out->rows = k->done;
    if (k->done == k->total)
        return NULL;
    return err_new(
        k->cli->arena, ERR_INTERNAL,
        "the source has %lld rows, and %lld were found in the order of their keys: check "
        "it with 'baton store check'",
        (long long)k->total, (long long)k->done);
}

static err still_check(struct copying *k, int64_t seq)
{
    struct store_node node;

    TRY(store_begin(k->from->sql, k->cli->arena, &node));
    store_rollback(k->from->sql);
    if (node.seq == seq)
        return NULL;
    return err_new(k->cli->arena, ERR_CONFLICT,
                   "somebody wrote to " STR_FMT
                   " meanwhile, events %lld to %lld: stop its servers, "
                   "drop the target, and copy again",
                   STR_ARG(k->from->shown), (long long)seq + 1, (long long)node.seq);
}

err copy_run(struct cli *c, struct database *from, struct database *to, bool still,
             struct copy_result *out)
{
    struct store_node node;
    struct copying k;

    copying_init(&k, c, from, to);
    TRY(database_open(c, from, STORE_READS, 0));
    TRY(store_begin(from->sql, c->arena, &node));
    if (still && from->shared)
        TRY(database_unused(c, from, &node));
    TRY(target_claim(&k));
    TRY(source_copy(&k, out));
    store_rollback(from->sql);
    TRY(target_compare(&k, out));
    if (still)
        TRY(still_check(&k, node.seq));
    out->seq = node.seq;
    return target_finish(&k, &node);
}

/* ---- results ---- */

static void result_json(struct buf *out, const struct database *from, const struct database *to,
                        const struct copy_result *r)
{
    struct json_writer w = json_writer_to(out);

    json_write_begin(&w, '{');
    write_text(&w, STR("from"), term_utf8(out->arena, from->shown));
    write_text(&w, STR("to"), term_utf8(out->arena, to->shown));
    write_int(&w, STR("seq"), r->seq);
    write_int(&w, STR("rows"), r->rows);
    write_begin(&w, STR("tables"), '{');
    for (size_t i = 0; i < rows_table_count; i++) {
        str digest = { (const char *)r->tables[i].digest, SHA256_BYTES };
        write_begin(&w, str_from(rows_tables[i].name), '{');
        write_int(&w, STR("rows"), r->tables[i].rows);
        write_text(&w, STR("sha256"), hex_encode(out->arena, digest));
        json_write_end(&w, '}');
    }
    json_write_end(&w, '}');
    json_write_end(&w, '}');
    buf_byte(out, '\n');
}

void copy_print(struct cli *c, const struct database *from, const struct database *to,
                const struct copy_result *r)
{
    struct buf out = buf_in(c->arena);

    if (c->json) {
        result_json(&out, from, to, r);
    } else {
        buf_printf(&out, "copied %lld rows, up to event %lld, from ", (long long)r->rows,
                   (long long)r->seq);
        term_put(&out, PAINT_PLAIN, from->shown);
        buf_add(&out, STR(" to "));
        term_put(&out, PAINT_PLAIN, to->shown);
        buf_add(&out, STR("; both are the same\n"));
    }
    cli_write(c, buf_str(&out));
}

/* ---- the commands ---- */

static err copy_locked(struct cli *c, struct database *from, struct database *to)
{
    struct copy_result result;

    TRY(database_exists(c, from));
    if (str_eq(from->name, to->name))
        return usage_error(c, STR("--from and --to name the same store"));
    TRY(database_lock(c, from));
    TRY(database_lock(c, to));
    TRY(copy_run(c, from, to, true, &result));
    copy_print(c, from, to, &result);
    return NULL;
}

err store_copy_verb(struct cli *c)
{
    const char *from_name = cli_value(c, "--from"), *to_name = cli_value(c, "--to");
    struct database from, to;

    if (!from_name || !to_name)
        return usage_error(c, STR("expected --from STORE and --to STORE"));
    TRY(database_name(c, from_name, &from));
    TRY(database_name(c, to_name, &to));
    err e = copy_locked(c, &from, &to);
    database_release(&from);
    database_release(&to);
    return e;
}
