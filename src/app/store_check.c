/* store_check.c: for the command `store check`: everything in a database fits together. */
#include "app/store_check.h"

#include <stdio.h>
#include <unistd.h>

#include "base/cache.h"
#include "json/write.h"

enum { COMPILED_KEPT = 64, PROGRESS_STATES = 100 };

void checking_init(struct checking *k, struct cli *c, struct json_writer *json)
{
    *k = (struct checking){ .cli = c, .json = json, .known = map_in(c->arena) };
    for (int i = 0; i < 2; i++)
        k->turns[i] = arena_new();
    k->shown = cli_flag(c, "--verbose") || (isatty(STDERR_FILENO) && !c->json);
}

void checking_release(struct checking *k)
{
    for (int i = 0; i < 2; i++)
        arena_free(k->turns[i]);
}

struct tx checking_begin(struct checking *k, struct sql *sql, struct store_node *node)
{
    static const struct actor system = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };

    return (struct tx){ .arena = k->cli->arena,
                        .sql = sql,
                        .now_ms = node->clock,
                        .seq = &node->seq,
                        .actor = &system,
                        .compiled = cache_new(COMPILED_KEPT) };
}

void checking_end(struct tx *tx)
{
    cache_free(tx->compiled);
    tx->compiled = NULL;
}

/* ---- findings ---- */

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

static void damaged_add(struct checking *k, str id)
{
    if (map_get(&k->known, id))
        return;
    if (k->damaged_count == k->damaged_room) {
        size_t room = k->damaged_room * 2 + 16;
        k->damaged = arena_grow(k->cli->arena, k->damaged, k->damaged_room * sizeof *k->damaged,
                                room * sizeof *k->damaged);
        k->damaged_room = room;
    }
    id = arena_copy(k->cli->arena, id);
    k->damaged[k->damaged_count++] = id;
    map_put(&k->known, id, k);
}

static void take(void *self, const struct audit_finding *f)
{
    struct checking *k = self;

    k->findings++;
    if (f->state.len)
        damaged_add(k, f->state);
    if (k->quiet)
        return;
    if (k->json)
        finding_json(k->json, f);
    else if (!k->cli->json)
        finding_write(k, f);
}

/* ---- documents, histories, texts ---- */

static void turn(struct checking *k, struct tx *tx)
{
    struct arena *next = k->turns[1];

    k->turns[1] = k->turns[0];
    k->turns[0] = next;
    arena_reset(next);
    tx->arena = next;
    sql_arena(tx->sql, next);
}

static void turned(struct checking *k, struct tx *tx)
{
    tx->arena = k->cli->arena;
    sql_arena(tx->sql, tx->arena);
}

err checking_state(struct checking *k, struct tx *tx, str id, err *wrong)
{
    struct audit_state at = { .id = id };
    bool more = true;
    err e = NULL;

    *wrong = NULL;
    while (!e && more) {
        turn(k, tx);
        e = audit_state_step(tx, &at, &more, wrong);
    }
    turned(k, tx);
    if (*wrong)
        *wrong = err_copy(tx->arena, *wrong);
    return e ? err_within(tx->arena, err_copy(tx->arena, e), "reading the states") : NULL;
}

static void progress_show(const struct checking *k, bool ended)
{
    bool terminal = isatty(STDERR_FILENO);

    if (!k->shown || (!terminal && !ended) || (!ended && k->states % PROGRESS_STATES != 0))
        return;
    fprintf(stderr, "%sstates and their histories %10lld of %lld%s", terminal ? "\r" : "",
            (long long)k->states, (long long)k->total, terminal && !ended ? "" : "\n");
    fflush(stderr);
}

static err states_check(struct checking *k, struct tx *tx)
{
    /* Ids are copied from place to place, so that a million states need no more than one. */
    char id[256] = "";
    const struct row *row;
    str next;
    err wrong;

    TRY(sql_one_(tx->sql, &row, "SELECT count(*) FROM state", NO_ARGS));
    k->total = row_int(row, 0);
    k->states = 0;
    for (;;) {
        turn(k, tx);
        TRY(audit_state_next(tx, str_from(id), &next));
        if (!next.len)
            break;
        snprintf(id, sizeof id, STR_FMT, STR_ARG(next));
        TRY(checking_state(k, tx, str_from(id), &wrong));
        if (wrong) {
            struct audit_finding f = audit_state_finding(tx, str_from(id), wrong);
            take(k, &f);
        }
        k->states++;
        progress_show(k, false);
    }
    turned(k, tx);
    progress_show(k, true);
    return NULL;
}

static err texts_check(struct checking *k, struct tx *tx)
{
    struct audit_cursor at = { .table = 0 };
    err e = NULL;

    while (!e && at.table < rows_table_count) {
        turn(k, tx);
        e = audit_texts(tx, &at, take, k);
    }
    turned(k, tx);
    return e ? err_copy(tx->arena, e) : NULL;
}

err checking_run(struct checking *k, struct tx *tx, bool deep)
{
    TRY(audit_rows(tx, take, k));
    if (!deep)
        return NULL;
    TRY(states_check(k, tx));
    return texts_check(k, tx);
}

/* ---- the command ---- */

static err rows_check(struct checking *k, struct database *d, bool deep)
{
    struct store_node node;

    TRY(store_begin(d->sql, k->cli->arena, &node));
    struct tx tx = checking_begin(k, d->sql, &node);
    err e = checking_run(k, &tx, deep);
    checking_end(&tx);
    return e;
}

static err counts_read(struct database *d, int64_t counts[])
{
    for (size_t i = 0; i < rows_table_count; i++) {
        const struct row *row;
        TRY(sql_one_(d->sql, &row, rows_tables[i].count, NO_ARGS));
        counts[i] = row_int(row, 0);
    }
    return NULL;
}

err check_run(struct cli *c, struct database *d, bool deep, size_t *findings)
{
    struct checking k;

    TRY(database_open(c, d, STORE_READS, 0));
    checking_init(&k, c, NULL);
    err e = rows_check(&k, d, deep);
    checking_release(&k);
    TRY(e);
    store_rollback(d->sql);
    *findings = k.findings;
    return NULL;
}

static void summary_write(struct cli *c, const struct database *d, const int64_t counts[],
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

static void summary_json(struct json_writer *w, const struct database *d, const int64_t counts[],
                         size_t findings)
{
    write_bool(w, STR("ok"), findings == 0);
    write_text(w, STR("store"), term_utf8(w->out->arena, d->shown));
    write_begin(w, STR("rows"), '{');
    for (size_t i = 0; i < rows_table_count; i++)
        write_int(w, str_from(rows_tables[i].name), counts[i]);
    json_write_end(w, '}');
}

err check_print(struct cli *c, struct database *d)
{
    struct buf out = buf_in(c->arena);
    struct json_writer w = json_writer_to(&out);
    struct checking k;
    int64_t counts[ROWS_TABLES_MAX];

    json_write_begin(&w, '{');
    write_begin(&w, STR("problems"), '[');
    checking_init(&k, c, c->json ? &w : NULL);
    err e = rows_check(&k, d, cli_flag(c, "--deep"));
    checking_release(&k);
    TRY(e);
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
