/* callback_stop.c: stopping a session with all that is below it.
 *
 * The session itself is stopped at once, what is below it by and by: each firing of
 * a due row stops some of those whose cycle is open, until there are none. */
#include "core/callback.h"
#include "core/callback_private.h"

enum { STOP_PIECE = 100 };

/* Its runs are asked to stop; without one that must be asked, its cycle settles now. */
static err session_stop(struct tx *tx, struct session *s, str why)
{
    TRY(run_stop_all(tx, s, why));
    return s->run_id.len ? NULL : cycle_stop(tx, s, why);
}

/* When those below are stopped: all of them at once, and then again what an agent that was asked to
 * stop has started since. The row knows of which cycle, too. */
static err stop_below(struct tx *tx, str id, int64_t cycle, bool again, int64_t wait_ms)
{
    return due_add(tx, tx->now_ms + wait_ms, DUE_SESSION_STOP, id, 2 * cycle + again);
}

err callback_stop_tree(struct tx *tx, struct session *s, str why)
{
    int64_t cycle = s->cycle;

    TRY(session_stop(tx, s, why));
    return stop_below(tx, s->id, cycle, false, 0);
}

/* Those below a session whose cycle is open. First come those that were not asked to stop yet. The
 * second time those are left out that somebody has told to work, and no agent or rule has: they
 * were resumed after all had been asked to stop. */
static err open_below(struct tx *tx, str id, bool again, const struct row **rows, size_t *count)
{
    return sql_all(tx->sql, rows, count,
                   "WITH RECURSIVE below (id) AS ("
                   " SELECT session_id FROM session WHERE parent_id = $1"
                   " UNION ALL"
                   " SELECT s.session_id FROM session s JOIN below b ON s.parent_id = b.id)"
                   " SELECT s.session_id, CASE WHEN r.status = 'stopping' THEN 1 ELSE 0 END"
                   " FROM session s JOIN below b ON s.session_id = b.id"
                   " LEFT JOIN run r ON r.run_id = s.run_id"
                   " LEFT JOIN log l ON l.seq = r.seq"
                   " WHERE s.settled = 0 AND ($2 = 0 OR r.status = 'stopping' OR l.seq IS NULL"
                   "  OR l.session_id <> '' OR l.cause <> 0)"
                   " ORDER BY CASE WHEN r.status = 'stopping' THEN 1 ELSE 0 END, s.session_id"
                   " LIMIT $3",
                   ARGS(TEXT(id), INT(again), INT(STOP_PIECE)));
}

/* An agent that was asked to stop can still start another one, so it comes again while there is
 * such an agent; but not when somebody has resumed the session meanwhile. */
err callback_due_stop(struct tx *tx, const struct due *due)
{
    bool again = due->arg % 2, found;
    struct session s, below;
    const struct row *rows;
    size_t count, fresh = 0;

    TRY(session_find_id(tx, due->subject, &s, &found));
    if (!found || s.cycle != due->arg / 2)
        return NULL;
    TRY(open_below(tx, s.id, again, &rows, &count));
    while (fresh < count && row_int(&rows[fresh], 1) == 0)
        fresh++;
    bool left = s.run_id.len || count > fresh;
    for (size_t i = 0; i < fresh; i++) {
        TRY(session_load(tx, row_str(&rows[i], 0), &below));
        TRY(session_stop(tx, &below, STR("a session above it was stopped")));
        left |= !below.settled;
    }
    if (fresh == STOP_PIECE)
        return stop_below(tx, s.id, s.cycle, again, 0);
    return left ? stop_below(tx, s.id, s.cycle, true, team_rules_of(tx)->stop_ms) : NULL;
}
