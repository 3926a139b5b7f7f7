/* store_check.c: the command `store check`: everything in a database fits together. */
#include "app/store_verbs.h"
#include "core/audit.h"
#include "core/schema.h"
#include "json/write.h"

enum { SCHEMAS_MAX = 64 };

struct checking {
    struct cli *cli;
    struct json_writer *json; /* where findings go as JSON; NULL: to people */
    size_t findings;
};

static void finding_write(struct checking *k, const struct audit_finding *f)
{
    struct buf out = buf_in(k->cli->arena);

    term_put(&out, k->cli->coloured ? PAINT_ERROR : PAINT_PLAIN, str_from(f->rule));
    buf_add(&out, STR(": "));
    term_put(&out, PAINT_PLAIN, f->place);
    buf_add(&out, STR(": "));
    term_put(&out, PAINT_PLAIN, f->problem);
    buf_printf(&out, "; to do: %s\n", f->advice);
    cli_write(k->cli, buf_str(&out));
}

static void finding_json(struct json_writer *w, const struct audit_finding *f)
{
    json_write_begin(w, '{');
    write_text(w, STR("rule"), str_from(f->rule));
    write_text(w, STR("place"), f->place);
    write_text(w, STR("problem"), f->problem);
    write_text(w, STR("advice"), str_from(f->advice));
    json_write_end(w, '}');
}

static void take(void *self, const struct audit_finding *f)
{
    struct checking *k = self;

    k->findings++;
    if (k->json)
        finding_json(k->json, f);
    else if (!k->cli->json)
        finding_write(k, f);
}

/* The pages of documents have arenas of their own, in turn: the id to go on from is in the last. */
static err documents_check(struct checking *k, struct tx *tx)
{
    struct arena *whole = tx->arena, *pages[2] = { arena_new(), arena_new() };
    str after = STR("");
    err e;
    int turn = 0;

    tx->schemas = schema_cache_new(SCHEMAS_MAX);
    do {
        tx->arena = pages[turn++ % 2];
        arena_reset(tx->arena);
        sql_arena(tx->sql, tx->arena);
        e = audit_documents(tx, &after, take, k);
    } while (!e && after.len);
    if (e)
        e = err_within(whole, e, "reading the states");
    tx->arena = whole;
    sql_arena(tx->sql, whole);
    schema_cache_free(tx->schemas);
    arena_free(pages[0]);
    arena_free(pages[1]);
    return e;
}

static err rows_check(struct checking *k, struct depot *d, bool deep)
{
    static const struct actor system = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };
    struct store_node node;

    TRY(store_begin(d->sql, k->cli->arena, &node));
    struct tx tx = { .arena = k->cli->arena,
                     .sql = d->sql,
                     .now_ms = node.clock,
                     .seq = &node.seq,
                     .actor = &system };
    TRY(audit_rows(&tx, take, k));
    return deep ? documents_check(k, &tx) : NULL;
}

static err counts_read(struct depot *d, int64_t counts[])
{
    for (size_t i = 0; i < rows_table_count; i++) {
        const struct row *row;
        TRY(sql_one_(d->sql, &row, rows_tables[i].count, NO_ARGS));
        counts[i] = row_int(row, 0);
    }
    return NULL;
}

err check_run(struct cli *c, struct depot *d, bool deep, size_t *findings)
{
    struct checking k = { .cli = c };

    TRY(depot_open(c, d, STORE_READS, 0));
    TRY(rows_check(&k, d, deep));
    store_rollback(d->sql);
    *findings = k.findings;
    return NULL;
}

/* ---- the command ---- */

static void summary_write(struct cli *c, const struct depot *d, const int64_t counts[],
                          size_t findings)
{
    struct buf out = buf_in(c->arena);

    if (findings)
        buf_printf(&out, "%zu problems in ", findings);
    else
        buf_add(&out, STR("OK: "));
    term_put(&out, PAINT_PLAIN, d->shown);
    for (size_t i = 0; i < rows_table_count; i++)
        buf_printf(&out, "%s %lld in %s", i ? "," : ":", (long long)counts[i], rows_tables[i].name);
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
}

static void summary_json(struct json_writer *w, const struct depot *d, const int64_t counts[],
                         size_t findings)
{
    write_bool(w, STR("ok"), findings == 0);
    write_text(w, STR("store"), term_utf8(w->out->arena, d->shown));
    write_begin(w, STR("rows"), '{');
    for (size_t i = 0; i < rows_table_count; i++)
        write_int(w, str_from(rows_tables[i].name), counts[i]);
    json_write_end(w, '}');
}

static err check_print(struct cli *c, struct depot *d)
{
    struct buf out = buf_in(c->arena);
    struct json_writer w = json_writer_to(&out);
    struct checking k = { .cli = c, .json = c->json ? &w : NULL };
    int64_t counts[ROWS_TABLES_MAX];

    json_write_begin(&w, '{');
    write_begin(&w, STR("problems"), '[');
    TRY(rows_check(&k, d, cli_flag(c, "--deep")));
    json_write_end(&w, ']');
    TRY(counts_read(d, counts));
    store_rollback(d->sql);
    c->exit = k.findings ? 1 : 0;
    if (!c->json) {
        summary_write(c, d, counts, k.findings);
        return NULL;
    }
    summary_json(&w, d, counts, k.findings);
    json_write_end(&w, '}');
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
    return NULL;
}

err store_check_verb(struct cli *c)
{
    struct depot d;

    TRY(depot_name(c, c->arg_count ? c->args[0] : NULL, &d));
    TRY(depot_exists(c, &d));
    err e = depot_open(c, &d, STORE_READS, 0);
    if (!e)
        e = check_print(c, &d);
    depot_release(&d);
    return e;
}
