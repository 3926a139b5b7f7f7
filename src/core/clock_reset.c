/* clock_reset.c: a database whose clock was ahead is set back. */
#include "core/clock_reset.h"

#include "store/sql.h"

/* What is to happen, of which some may be due already; before the rest, since that is what it waits
 * for. $1: by how much, $2: the time that it is. */
static const char *const coming[] = {
    "UPDATE due SET at = at - $1 WHERE at - $1 > 0 AND at > $2",
    "UPDATE run SET lease_until = lease_until - $1 WHERE lease_until - $1 > 0 AND lease_until > $2",
    "UPDATE run SET not_before = not_before - $1 WHERE not_before - $1 > 0 AND not_before > $2",
    "UPDATE token SET expires_at = expires_at - $1 WHERE expires_at - $1 > 0 AND expires_at > $2",
    "UPDATE session SET notice_until = notice_until - $1 WHERE notice_until - $1 > 0 AND notice_until > $2",
};

/* What has happened, as far as that was later than now; $1: the time that it is. */
static const char *const past[] = {
    "UPDATE log SET time = $1 WHERE time > $1",
    "UPDATE schema SET created_at = $1 WHERE created_at > $1",
    "UPDATE state SET created_at = $1 WHERE created_at > $1",
    "UPDATE state SET updated_at = $1 WHERE updated_at > $1",
    "UPDATE token SET created_at = $1 WHERE created_at > $1",
    "UPDATE token SET revoked_at = $1 WHERE revoked_at > $1",
    "UPDATE idempotency SET created_at = $1 WHERE created_at > $1",
    "UPDATE entry SET created_at = $1 WHERE created_at > $1",
    "UPDATE entry SET updated_at = $1 WHERE updated_at > $1",
    "UPDATE session SET last_event_at = $1 WHERE last_event_at > $1",
    "UPDATE session SET created_at = $1 WHERE created_at > $1",
    "UPDATE session SET updated_at = $1 WHERE updated_at > $1",
    "UPDATE session SET ended_at = $1 WHERE ended_at > $1",
    "UPDATE session_event SET at = $1 WHERE at > $1",
    "UPDATE run SET created_at = $1 WHERE created_at > $1",
    "UPDATE run SET claimed_at = $1 WHERE claimed_at > $1",
    "UPDATE run SET started_at = $1 WHERE started_at > $1",
    "UPDATE run SET ended_at = $1 WHERE ended_at > $1",
    "UPDATE run_output SET at = $1 WHERE at > $1",
    "UPDATE runner SET registered_at = $1 WHERE registered_at > $1",
    "UPDATE runner SET seen_at = $1 WHERE seen_at > $1",
    "UPDATE callback SET created_at = $1 WHERE created_at > $1",
    "UPDATE callback SET delivered_at = $1 WHERE delivered_at > $1",
    "UPDATE cluster_node SET started_at = $1 WHERE started_at > $1",
    "UPDATE cluster_node SET seen_at = $1 WHERE seen_at > $1",
    "UPDATE alias SET at = $1 WHERE at > $1",
    "UPDATE permission SET created_at = $1 WHERE created_at > $1",
    "UPDATE permission SET decided_at = $1 WHERE decided_at > $1",
};

err clock_reset(struct tx *tx, int64_t ms)
{
    for (size_t i = 0; i < sizeof coming / sizeof *coming; i++)
        TRY(sql_exec_(tx->sql, coming[i], ARGS(INT(ms), INT(tx->now_ms))));
    for (size_t i = 0; i < sizeof past / sizeof *past; i++)
        TRY(sql_exec_(tx->sql, past[i], ARGS(INT(tx->now_ms))));
    return NULL;
}
