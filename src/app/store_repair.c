/* store_repair.c: the command `store check --repair`: damaged states, made whole from a copy.
 *
 * All of it is one transaction, also when it only says what it would do: then it is
 * taken back at the end. Each state is repaired under a savepoint and checked again;
 * one that would not be whole stays as it was. */
#include "app/store_check.h"
#include "core/repair.h"
#include "json/write.h"

struct repairing {
    struct checking check; /* of the store, and of the copy */
    struct cli *cli;
    struct database *store, copy;
    bool has_copy, apply;
    struct tx tx, copy_tx;
    struct store_node node, copy_node;
    struct buf out;
    struct json_writer json;
    size_t repaired, left;
};

/* ---- telling ---- */

static void told(struct repairing *r, str place, bool done, str how)
{
    const char *verb = !done ? "left" : r->apply ? "repaired" : "would repair";

    r->repaired += done;
    r->left += !done;
    if (r->cli->json) {
        json_write_begin(&r->json, '{');
        write_text(&r->json, STR("place"), place);
        write_bool(&r->json, STR("repaired"), done);
        write_text(&r->json, STR("how"), how);
        json_write_end(&r->json, '}');
        return;
    }
    struct buf line = buf_in(r->cli->arena);
    buf_printf(&line, "%s: ", verb);
    term_put(&line, PAINT_PLAIN, place);
    buf_add(&line, STR(": "));
    term_put(&line, PAINT_PLAIN, how);
    buf_byte(&line, '\n');
    cli_write(r->cli, buf_str(&line));
}

static str how_of(struct arena *a, const struct repair *m)
{
    struct buf out = buf_in(a);

    if (m->row)
        buf_add(&out, STR("its row from the copy"));
    if (m->events)
        buf_printf(&out, "%s%lld event%s of its history from the copy", out.len ? ", " : "",
                   (long long)m->events, m->events == 1 ? "" : "s");
    if (m->schema)
        buf_printf(&out, "%sthe text of its schema from the copy", out.len ? ", " : "");
    if (m->document)
        buf_printf(&out, "%sits document from its history", out.len ? ", " : "");
    return buf_str(&out);
}

/* ---- repairing ---- */

/* What the copy has of it is of use when it is whole there. */
static err copy_of(struct repairing *r, str id, struct tx **out, str *why)
{
    err wrong;

    *out = NULL;
    *why = STR("no copy was named with --from");
    if (!r->has_copy)
        return NULL;
    TRY(checking_state(&r->check, &r->copy_tx, id, &wrong));
    if (wrong)
        *why = arena_printf(r->cli->arena, "the copy does not help: " STR_FMT,
                            STR_ARG(wrong->message));
    else
        *out = &r->copy_tx;
    return NULL;
}

static err state_repair(struct repairing *r, str id)
{
    str place = arena_printf(r->cli->arena, "state " STR_FMT, STR_ARG(id)), why;
    struct repair repair;
    struct tx *copy;
    err wrong;

    TRY(copy_of(r, id, &copy, &why));
    TRY(store_mark(r->store->sql));
    TRY(repair_state(&r->tx, copy, id, &repair));
    checking_end(&r->tx); /* what was compiled of a schema may have been damaged */
    r->tx = checking_begin(&r->check, r->store->sql, &r->node);
    TRY(checking_state(&r->check, &r->tx, id, &wrong));
    str how = how_of(r->cli->arena, &repair);
    if (!wrong && how.len) {
        TRY(store_keep(r->store->sql));
        told(r, place, true, how);
        return NULL;
    }
    store_undo(r->store->sql);
    told(r, place, false,
         arena_printf(r->cli->arena, STR_FMT " (" STR_FMT ")",
                      STR_ARG(wrong ? wrong->message : STR("its rows break the rules above")),
                      STR_ARG(copy ? STR("what the copy has of it does not help") : why)));
    return store_dead(r->store->sql)
               ? err_new(r->cli->arena, ERR_INTERNAL, "what was tried could not be taken back")
               : NULL;
}

static err end_repair(struct repairing *r)
{
    struct audit_end end;

    TRY(audit_end_read(&r->tx, &end));
    if (!audit_end_check(&r->tx, &end))
        return NULL;
    int64_t named = end.named > end.log ? end.named : end.log;
    if (r->node.seq > named)
        named = r->node.seq;
    TRY(repair_log_end(&r->tx, named));
    r->node.seq = named;
    told(r, STR("log"), true,
         arena_printf(r->cli->arena,
                      "events go on from %lld, and can be listed from there: those that are lost "
                      "stay lost",
                      (long long)named + 1));
    return NULL;
}

static err all_repair(struct repairing *r)
{
    TRY(checking_run(&r->check, &r->tx, true));
    TRY(end_repair(r));
    for (size_t i = 0; i < r->check.damaged_count; i++)
        TRY(state_repair(r, r->check.damaged[i]));
    /* What is wrong now, all in all. */
    size_t found = r->check.findings;
    r->check.quiet = true;
    r->check.findings = 0;
    TRY(checking_run(&r->check, &r->tx, true));
    r->left = r->check.findings;
    r->check.findings = found;
    return NULL;
}

static err commit(struct repairing *r)
{
    err why;

    if (!r->apply || !r->repaired) {
        store_rollback(r->store->sql);
        return NULL;
    }
    switch (store_commit(r->store->sql, &r->node, &why)) {
    case STORE_COMMITTED: return NULL;
    case STORE_ROLLED_BACK: return why;
    default: return err_within(r->cli->arena, why, "whether it was repaired is not known");
    }
}

/* ---- the command ---- */

static void summary_write(struct repairing *r)
{
    struct buf out = buf_in(r->cli->arena);

    if (r->cli->json) {
        json_write_end(&r->json, ']');
        write_bool(&r->json, STR("applied"), r->apply && r->repaired > 0);
        write_int(&r->json, STR("problems"), (int64_t)r->check.findings);
        write_int(&r->json, STR("repaired"), (int64_t)r->repaired);
        write_int(&r->json, STR("left"), (int64_t)r->left);
        json_write_end(&r->json, '}');
        buf_byte(&r->out, '\n');
        cli_write(r->cli, buf_str(&r->out));
        return;
    }
    buf_printf(&out, "%zu problem%s, %zu repair%s, %zu left%s\n", r->check.findings,
               r->check.findings == 1 ? "" : "s", r->repaired, r->repaired == 1 ? "" : "s", r->left,
               r->apply || !r->repaired ? "" : ": nothing was written, --apply does it");
    cli_write(r->cli, buf_str(&out));
}

static err copy_open(struct repairing *r)
{
    const char *name = cli_value(r->cli, "--from");

    if (!name)
        return NULL;
    TRY(database_name(r->cli, name, &r->copy));
    TRY(database_exists(r->cli, &r->copy));
    if (str_eq(r->copy.name, r->store->name))
        return usage_error(r->cli, STR("--from names the store that is to be repaired"));
    r->copy.as_it_is = true; /* it may be the only one */
    TRY(database_open(r->cli, &r->copy, STORE_READS, 0));
    TRY(store_begin(r->copy.sql, r->cli->arena, &r->copy_node));
    r->copy_tx = checking_begin(&r->check, r->copy.sql, &r->copy_node);
    r->has_copy = true;
    return NULL;
}

static err repair_begun(struct repairing *r)
{
    TRY(copy_open(r));
    TRY(store_begin(r->store->sql, r->cli->arena, &r->node));
    if (r->store->shared)
        TRY(database_unused(r->cli, r->store, &r->node));
    r->tx = checking_begin(&r->check, r->store->sql, &r->node);
    TRY(all_repair(r));
    TRY(commit(r));
    summary_write(r);
    r->cli->exit = r->left || (r->repaired && !r->apply) ? 1 : 0;
    return NULL;
}

err repair_run(struct cli *c, struct database *d)
{
    struct repairing r = { .cli = c,
                           .store = d,
                           .copy = { .locks = { -1, -1 } },
                           .apply = cli_flag(c, "--apply"),
                           .out = buf_in(c->arena) };

    r.json = json_writer_to(&r.out);
    checking_init(&r.check, c, NULL);
    json_write_begin(&r.json, '{');
    write_begin(&r.json, STR("repairs"), '[');
    err e = repair_begun(&r);
    if (r.tx.compiled)
        checking_end(&r.tx);
    if (r.copy_tx.compiled)
        checking_end(&r.copy_tx);
    checking_release(&r.check);
    database_release(&r.copy);
    return e;
}
