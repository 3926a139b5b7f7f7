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

err callback_stop_tree(struct tx *tx, struct session *s, str why)
{
    int64_t cycle = s->cycle;

    TRY(session_stop(tx, s, why));
    return due_add(tx, tx->now_ms, DUE_SESSION_STOP, s->id, cycle);
}

/* Those below a session whose cycle is open. First come those that were not asked to stop yet. */
static err open_below(struct tx *tx, str id, const struct row **rows, size_t *count)
{
    return sql_all(tx->sql, rows, count,
                   "WITH RECURSIVE below (id) AS ("
                   " SELECT session_id FROM session WHERE parent_id = $1"
                   " UNION ALL"
                   " SELECT s.session_id FROM session s JOIN below b ON s.parent_id = b.id)"
                   " SELECT s.session_id, CASE WHEN r.status = 'stopping' THEN 1 ELSE 0 END"
                   " FROM session s JOIN below b ON s.session_id = b.id"
                   " LEFT JOIN run r ON r.run_id = s.run_id"
                   " WHERE s.settled = 0"
                   " ORDER BY CASE WHEN r.status = 'stopping' THEN 1 ELSE 0 END, s.session_id"
                   " LIMIT $2",
                   ARGS(TEXT(id), INT(STOP_PIECE)));
}

/* An agent that was asked to stop can still start another one, so it comes again while there is
 * such an agent; but not when somebody has resumed the session meanwhile. Whoever is resumed below
 * it when all have stopped is left alone. */
err callback_due_stop(struct tx *tx, const struct due *due)
{
    struct session s, below;
    const struct row *rows;
    size_t count, fresh = 0;
    bool found;

    TRY(session_find(tx, due->subject, &s, &found));
    if (!found || s.cycle != due->arg)
        return NULL;
    TRY(open_below(tx, s.id, &rows, &count));
    while (fresh < count && row_int(&rows[fresh], 1) == 0)
        fresh++;
    bool left = s.run_id.len || count > fresh;
    for (size_t i = 0; i < fresh; i++) {
        TRY(session_load(tx, row_str(&rows[i], 0), &below));
        TRY(session_stop(tx, &below, STR("a session above it was stopped")));
        left |= !below.settled;
    }
    if (fresh == STOP_PIECE)
        return due_add(tx, tx->now_ms, DUE_SESSION_STOP, s.id, s.cycle);
    if (!left)
        return NULL;
    return due_add(tx, tx->now_ms + team_rules_of(tx)->stop_ms, DUE_SESSION_STOP, s.id, s.cycle);
}
