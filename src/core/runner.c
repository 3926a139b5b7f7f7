/* runner.c: machines that run agents. */
#include "core/runner.h"

#include <assert.h>

#include "core/columns.h"

enum {
    HEARD_STEP_MS = 1000, /* signs of life within this count as one: they are many */
    HELD_MAX = 1000,      /* runs of one runner: its capacity is below this */
};

/* ---- rows ---- */

static str names_printed(struct arena *a, const str *names, size_t count)
{
    struct json array = json_array();

    for (size_t i = 0; i < count; i++)
        json_push(a, &array, json_string(names[i]));
    return json_printed(a, &array);
}

static err names_parse(struct tx *tx, str id, str text, const str **names, size_t *count)
{
    const struct json *array;

    TRY(stored_parse(tx, THING("runner", id), text, &array));
    return stored_texts(tx, THING("runner", id), array, names, count);
}

static err runner_read(struct tx *tx, const struct row *row, struct runner *out)
{
    *out = (struct runner){ .lost = false };
    COLUMNS_READ(RUNNER_COLUMNS, tx, row, "runner", out);
    TRY(names_parse(tx, out->id, out->tags_printed, &out->tags, &out->tag_count));
    return names_parse(tx, out->id, out->profiles_printed, &out->profiles, &out->profile_count);
}

/* Whoever asks; out->id is empty when there is none. */
static err runner_find(struct tx *tx, str id, struct runner *out)
{
    const struct row *row;

    *out = (struct runner){ .lost = true };
    TRY(sql_one(tx->sql, &row, "SELECT " RUNNER_NAMES " FROM runner WHERE runner_id = $1",
                ARGS(TEXT(id))));
    return row ? runner_read(tx, row, out) : NULL;
}

err runner_get(struct tx *tx, str id, struct runner *out)
{
    TRY(runner_find(tx, id, out));
    if (!out->id.len ||
        (tx->actor->kind == ACTOR_RUNNER && !str_eq(out->token_id, tx->actor->token_id)))
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "there is no runner " STR_FMT " that this token speaks for: register it",
                       STR_ARG(id));
    return NULL;
}

err runner_list(struct tx *tx, str after, int64_t limit, const struct runner **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " RUNNER_NAMES " FROM runner WHERE runner_id > $1"
                " ORDER BY runner_id LIMIT $2",
                ARGS(TEXT(after), INT(limit))));
    struct runner *all = ARENA_ARRAY(tx->arena, struct runner, *count);
    for (size_t i = 0; i < *count; i++)
        TRY(runner_read(tx, &rows[i], &all[i]));
    *out = all;
    return NULL;
}

/* ---- folders ---- */

/* No ".." on the way: what leads out again is not within. */
bool dir_is_within(str dir, str base)
{
    str rest = dir, name;

    while (rest.len) {
        str_cut(rest, '/', &name, &rest);
        if (str_eq(name, STR("..")))
            return false;
    }
    while (base.len > 1 && base.at[base.len - 1] == '/')
        base.len--;
    return str_starts(dir, base) &&
           (dir.len == base.len || dir.at[base.len] == '/' || str_eq(base, STR("/")));
}

/* ---- coming, being heard, going ---- */

static err runner_emit(struct tx *tx, enum event_type type, const struct runner *r)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    write_text(w, STR("name"), r->name);
    write_text(w, STR("hostname"), r->hostname);
    return event_end(tx, &data, (struct event){ .type = type, .subject = r->id }, NULL);
}

static err silence_due(struct tx *tx, const struct runner *r)
{
    return due_add(tx, r->seen_at_ms + team_rules_of(tx)->silent_ms, DUE_RUNNER_SILENT, r->id, 0);
}

err runner_register(struct tx *tx, struct runner *r)
{
    const struct row *row;

    assert(r->name.len > 0 && r->capacity > 0 && r->capacity <= HELD_MAX);
    TRY(team_text_check(tx->arena, "a hostname", r->hostname, DEMAND_HOST_MAX));
    TRY(team_text_check(tx->arena, "a project_dir", r->project_dir, DEMAND_DIR_MAX));
    TRY(team_text_check(tx->arena, "a user", r->user, DEMAND_USER_MAX));
    r->id = tx_id(tx, "rnr_");
    r->token_id = tx->actor->token_id;
    r->tags_printed = names_printed(tx->arena, r->tags, r->tag_count);
    r->profiles_printed = names_printed(tx->arena, r->profiles, r->profile_count);
    r->registered_at_ms = r->seen_at_ms = tx->now_ms;
    r->lost = false;
    r->claim_cursor = STR("");
    TRY(sql_one(
        tx->sql, &row,
        INSERT_INTO(
            runner,
            RUNNER_COLUMNS) " ON CONFLICT (token_id, name) DO UPDATE SET hostname = excluded.hostname,"
                            " project_dir = excluded.project_dir, tags = excluded.tags,"
                            " profiles = excluded.profiles, capacity = excluded.capacity,"
                            " registered_at = excluded.registered_at, seen_at = excluded.seen_at, lost = 0,"
                            " work_user = excluded.work_user, commands = excluded.commands,"
                            " agents = excluded.agents"
                            " RETURNING runner_id",
        ARGS(VALUES(RUNNER_COLUMNS, r))));
    assert(row);
    r->id = row_str(row, 0);
    assert(r->id.len > 0 && !r->lost);
    TRY(silence_due(tx, r));
    return runner_emit(tx, EVENT_RUNNER_JOINED, r);
}

err runner_seen(struct tx *tx, struct runner *r)
{
    bool was_lost = r->lost;

    if (!was_lost && tx->now_ms - r->seen_at_ms < HEARD_STEP_MS)
        return NULL;
    r->seen_at_ms = tx->now_ms;
    r->lost = false;
    TRY(sql_exec(tx->sql, "UPDATE runner SET seen_at = $2, lost = 0 WHERE runner_id = $1",
                 ARGS(TEXT(r->id), INT(r->seen_at_ms))));
    if (!was_lost)
        return NULL;
    TRY(silence_due(tx, r));
    return runner_emit(tx, EVENT_RUNNER_JOINED, r);
}

err runner_store_agents(struct tx *tx, struct runner *r, str agents)
{
    if (str_eq(r->agents, agents))
        return NULL;
    r->agents = agents;
    TRY(sql_exec(tx->sql, "UPDATE runner SET agents = $2 WHERE runner_id = $1",
                 ARGS(TEXT(r->id), TEXT(r->agents))));
    return runner_emit(tx, EVENT_RUNNER_UPDATED, r);
}

err runner_store_cursor(struct tx *tx, const struct runner *r)
{
    return sql_exec(tx->sql, "UPDATE runner SET claim_cursor = $2 WHERE runner_id = $1",
                    ARGS(TEXT(r->id), TEXT(r->claim_cursor)));
}

/* What it held falls due at once: see run_due_lease. */
static err leases_end(struct tx *tx, str runner_id)
{
    const struct row *rows;
    size_t count;

    TRY(run_change_all(tx, &rows, &count,
                       "UPDATE run SET lease_until = $2 WHERE runner_id = $1 AND runner_id <> ''"
                       " AND live = 1 AND lease_until > $2 RETURNING run_id",
                       ARGS(TEXT(runner_id), INT(tx->now_ms))));
    for (size_t i = 0; i < count; i++)
        TRY(due_add(tx, tx->now_ms, DUE_RUN_LEASE, row_str(&rows[i], 0), 0));
    return NULL;
}

err runner_remove(struct tx *tx, str id)
{
    struct runner r;

    TRY(runner_get(tx, id, &r));
    TRY(sql_exec(tx->sql, "DELETE FROM runner WHERE runner_id = $1", ARGS(TEXT(id))));
    TRY(leases_end(tx, id));
    return runner_emit(tx, EVENT_RUNNER_LOST, &r);
}

/* The row is not moved at each sign of life: when it comes too early, it comes again. */
err runner_due_silent(struct tx *tx, const struct due *due)
{
    struct runner r;

    TRY(runner_find(tx, due->subject, &r));
    if (r.lost)
        return NULL;
    if (r.seen_at_ms + team_rules_of(tx)->silent_ms > tx->now_ms)
        return silence_due(tx, &r);
    TRY(sql_exec(tx->sql, "UPDATE runner SET lost = 1 WHERE runner_id = $1", ARGS(TEXT(r.id))));
    return runner_emit(tx, EVENT_RUNNER_LOST, &r);
}
