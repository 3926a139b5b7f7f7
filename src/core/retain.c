/* retain.c: how long things are kept, and the work of letting them go. */
#include "core/retain.h"

#include <assert.h>

#include "core/event.h"
#include "core/idempotency.h"
#include "core/message.h"
#include "core/run.h"
#include "core/token.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    HOUR_MS = 60 * MINUTE_MS,
    DAY_MS = 24 * HOUR_MS,
};

const struct retention retention_default = {
    .events = 100000,
    .events_ms = DAY_MS,
    .versions = 10000,
    .versions_step = 1000,
    .keys_ms = DAY_MS,
    .tokens_ms = DAY_MS,
    .rows = 1000,
};

/* ---- the history of a state ---- */

/* A row of a state's chain, without what makes it large. */
struct link {
    int64_t seq; /* 0: the row is not there */
    int64_t version, prev_seq, snap_seq;
};

static err link_read(struct tx *tx, str subject, int64_t seq, struct link *out)
{
    const struct row *row;

    *out = (struct link){ .seq = 0 };
    TRY(sql_one(tx->sql, &row,
                "SELECT version, prev_seq, snap_seq FROM log WHERE seq = $1 AND subject = $2",
                ARGS(INT(seq), TEXT(subject))));
    if (row)
        *out = (struct link){ seq, row_int(row, 0), row_int(row, 1), row_int(row, 2) };
    return NULL;
}

static err row_drop(struct tx *tx, int64_t seq)
{
    return sql_exec(tx->sql, "DELETE FROM log WHERE seq = $1", ARGS(INT(seq)));
}

/* A compaction on its way down a chain. */
struct compaction {
    str state_id;
    int64_t newest; /* versions above this one all stay */
    int64_t step, floor;
    int64_t rows; /* that may still be looked at */
    struct link at;
};

/* Whether it is one of those that stay for good: a whole body, that needs no row before it. */
static bool stays(const struct compaction *c, const struct link *row)
{
    return row->version % c->step == 0 && row->snap_seq == row->seq;
}

/* Goes back to the newest row that stays and has nothing before it that may not go yet. From body
 * to body: what stays has one, so none of them is passed over. */
static err compaction_seek(struct tx *tx, struct compaction *c)
{
    while (c->at.seq && c->rows > 0) {
        const struct link *at = &c->at;
        if (at->version <= c->newest && at->seq <= c->floor && stays(c, at))
            return NULL;
        int64_t before = at->snap_seq < at->seq ? at->snap_seq : at->prev_seq;
        TRY(link_read(tx, c->state_id, before, &c->at));
        c->rows--;
    }
    return NULL;
}

static err link_write(struct tx *tx, const struct link *row)
{
    return sql_exec(tx->sql, "UPDATE log SET prev_seq = $2 WHERE seq = $1",
                    ARGS(INT(row->seq), INT(row->prev_seq)));
}

/* From a row that stays downwards: what does not stay goes, and what does is linked. */
static err compaction_drop(struct tx *tx, struct compaction *c)
{
    int64_t linked = c->at.prev_seq;

    while (c->rows > 0) {
        struct link before;
        TRY(link_read(tx, c->state_id, c->at.prev_seq, &before));
        c->rows--;
        if (before.seq && !stays(c, &before)) {
            TRY(row_drop(tx, before.seq));
            c->at.prev_seq = before.prev_seq;
            continue;
        }
        if (!before.seq)
            c->at.prev_seq = 0;
        if (c->at.prev_seq != linked)
            TRY(link_write(tx, &c->at));
        c->at = before;
        linked = before.prev_seq;
        if (!before.seq)
            return NULL;
    }
    return c->at.prev_seq != linked ? link_write(tx, &c->at) : NULL;
}

/* Drops what a state has outgrown. A row that may still be replayed holds it up, until later. An
 * arg of 0 or more begins at the newest row; -(2 * seq + held_up) goes on from a row. */
err retain_compact_state(struct tx *tx, const struct due *due)
{
    const struct retention *r = retention_of(tx);
    struct compaction c = { .state_id = due->subject, .step = r->versions_step, .rows = r->rows };
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT version, last_seq FROM state WHERE state_id = $1",
                ARGS(TEXT(due->subject))));
    if (!row || row_int(row, 0) - r->versions < c.step)
        return NULL;
    int64_t version = row_int(row, 0);
    c.newest = (version - r->versions) / c.step * c.step;
    TRY(event_floor(tx, &c.floor));
    TRY(link_read(tx, c.state_id, due->arg < 0 ? -due->arg / 2 : row_int(row, 1), &c.at));
    TRY(compaction_seek(tx, &c));
    bool was_there = due->arg < 0 && c.rows == r->rows; /* dropping goes on */
    bool held_up = was_there ? -due->arg % 2 : c.at.version != c.newest;
    TRY(compaction_drop(tx, &c));
    if (c.at.seq)
        return due_add(tx, tx->now_ms, DUE_COMPACT_STATE, c.state_id, -(2 * c.at.seq + held_up));
    return held_up ? due_add(tx, tx->now_ms + HOUR_MS, DUE_COMPACT_STATE, c.state_id, version)
                   : NULL;
}

/* Walks the chain of a deleted state from the row that arg says. Rows that can still be replayed
 * are left for the floor to drop: see retain_move_floor. */
err retain_purge_state(struct tx *tx, const struct due *due)
{
    int64_t seq = due->arg, floor;

    TRY(event_floor(tx, &floor));
    for (int64_t rows = retention_of(tx)->rows; seq && rows > 0; rows--) {
        struct link row;
        TRY(link_read(tx, due->subject, seq, &row));
        if (row.seq && row.seq < floor)
            TRY(row_drop(tx, row.seq));
        seq = row.prev_seq;
    }
    return seq ? due_add(tx, tx->now_ms, DUE_PURGE_STATE, due->subject, seq) : NULL;
}

/* ---- what comes again and again ---- */

/* Tokens too: every turn of an agent leaves one that is worthless. And what goes with no session:
 * messages that were read, whose receivers may be there for much longer, and commands that have ended. */
err retain_forget_keys(struct tx *tx, const struct due *due)
{
    const struct retention *r = retention_of(tx);
    int64_t before = tx->now_ms - r->keys_ms, oldest, tokens, messages = 0, commands = 0;

    TRY(idempotency_forget(tx, before, r->rows));
    TRY(idempotency_oldest(tx, &oldest));
    TRY(token_forget(tx, tx->now_ms - r->tokens_ms, r->rows, &tokens));
    if (r->sessions_ms) {
        TRY(message_forget(tx, tx->now_ms - r->sessions_ms, r->rows, &messages));
        TRY(run_forget_commands(tx, tx->now_ms - r->sessions_ms, r->rows, &commands));
    }
    bool more = (oldest && oldest < before) || tokens == r->rows || messages == r->rows ||
                commands == r->rows;
    return due_add(tx, more ? tx->now_ms : tx->now_ms + HOUR_MS, due->kind, due->subject, 0);
}

/* What is below the floor stays while it is history: of a state that is there, or of a deleted one
 * whose purge has yet to come by. */
static err unkept_drop(struct tx *tx, int64_t from, int64_t to)
{
    assert(from < to && to <= *tx->seq + 1); /* what comes next can always be replayed */
    return sql_exec(tx->sql,
                    "DELETE FROM log WHERE seq >= $1 AND seq < $2"
                    " AND NOT (version > 0"
                    "  AND (EXISTS (SELECT 1 FROM state WHERE state_id = log.subject)"
                    "   OR EXISTS (SELECT 1 FROM due WHERE kind = 'purge_state'"
                    "    AND subject = log.subject AND arg >= log.seq)))",
                    ARGS(INT(from), INT(to)));
}

err retain_move_floor(struct tx *tx, const struct due *due)
{
    const struct retention *r = retention_of(tx);
    int64_t floor, passed = 0;
    const struct row *row;

    TRY(event_floor(tx, &floor));
    int64_t end = *tx->seq - r->events + 1;
    if (end > floor + r->rows)
        end = floor + r->rows;
    if (end > floor) {
        /* From the floor on there is no gap, and times never go back: those that are old enough
         * come first, and counting them says how far. */
        TRY(sql_one(tx->sql, &row,
                    "SELECT count(*) FROM log WHERE seq >= $1 AND seq < $2 AND time <= $3",
                    ARGS(INT(floor), INT(end), INT(tx->now_ms - r->events_ms))));
        passed = row_int(row, 0);
        assert(passed >= 0 && passed <= end - floor);
    }
    if (passed) {
        TRY(unkept_drop(tx, floor, floor + passed));
        TRY(sql_exec(tx->sql, "UPDATE replay SET floor = $1 WHERE replay_id = 1",
                     ARGS(INT(floor + passed))));
    }
    int64_t wait_ms = passed == r->rows ? 0 : MINUTE_MS;
    return due_add(tx, tx->now_ms + wait_ms, due->kind, due->subject, 0);
}
