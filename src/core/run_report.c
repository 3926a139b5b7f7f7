/* run_report.c: what runners say of the runs that they hold, and what follows when they do not.
 *
 * Every sign of life gives a run a new term, but its row among what is due stays
 * where it is: when that comes too early, it looks at the run and comes again. */
#include <assert.h>

#include "base/utf8.h"
#include "core/output.h"
#include "core/run_private.h"

enum { WORDS_BYTES_MAX = 300 };

/* ---- who holds it ---- */

static err not_theirs(struct tx *tx, str run_id)
{
    return err_new(tx->arena, ERR_CONFLICT,
                   "run " STR_FMT " is not held under this fence any more: stop its agent and "
                   "report nothing more of it",
                   STR_ARG(run_id));
}

err run_holder(struct tx *tx, str run_id, const struct runner *by, int64_t fence, struct run *out,
               bool *late)
{
    TRY(run_load(tx, run_id, out));
#ifdef PLANT_LEASE_WITHOUT_FENCE
    fence = out->fence;
#endif
    if (!out->fence || out->fence != fence || !str_eq(out->runner_id, by->id))
        return not_theirs(tx, run_id);
    *late = out->status == RUN_PENDING;
    return NULL;
}

/* ---- signs of life ---- */

/* The conversation is where its client has begun it, and the session is at work. */
static err session_started(struct tx *tx, const struct run *r, str work_dir)
{
    const struct row *row;
    struct session s;

    TRY(session_load(tx, r->session_id, &s));
    TRY(sql_one(tx->sql, &row, "SELECT hostname, work_user FROM runner WHERE runner_id = $1",
                ARGS(TEXT(r->runner_id))));
    if (row)
        s.hostname = row_str(row, 0);
    str user = row ? row_str(row, 1) : s.user;
    if (!work_dir.len)
        work_dir = s.work_dir;
    if (!str_eq(user, s.user) || !str_eq(work_dir, s.work_dir)) {
        s.user = user;
        s.work_dir = work_dir;
        TRY(session_change(tx,
                           "UPDATE session SET work_user = $2, work_dir = $3 WHERE session_id = $1",
                           ARGS(TEXT(s.id), TEXT(s.user), TEXT(s.work_dir))));
    }
    s.last_event_at_ms = tx->now_ms;
    return session_become(tx, &s, SESSION_RUNNING);
}

err run_started(struct tx *tx, struct run *r, str work_dir)
{
    const struct team_rules *rules = team_rules_of(tx);

    TRY(team_text_check(tx->arena, "a project_dir", work_dir, DEMAND_DIR_MAX));
    if (r->status == RUN_PENDING)
        return not_theirs(tx, r->id);
    if (r->status != RUN_CLAIMED)
        return NULL;
    assert(r->fence > 0 && r->runner_id.len > 0); /* whoever says so has been checked to hold it */
    run_become(r, RUN_RUNNING);
    r->started_at_ms = tx->now_ms;
    r->lease_until_ms = tx->now_ms + rules->lease_ms;
    TRY(run_store(tx, r));
    TRY(due_add(tx, tx->now_ms + r->max_ms + rules->run_grace_ms, DUE_RUN_TIME, r->id, 0));
    if (!run_is_command(r))
        TRY(session_started(tx, r, work_dir));
    return run_emit(tx, EVENT_RUN_STARTED, r, NULL);
}

err run_renew(struct tx *tx, struct run *r)
{
    if (r->status == RUN_PENDING)
        return not_theirs(tx, r->id);
    if (!run_is_live(r->status))
        return NULL;
    r->lease_until_ms = tx->now_ms + team_rules_of(tx)->lease_ms;
    assert(r->lease_until_ms > tx->now_ms);
    return run_change(tx, "UPDATE run SET lease_until = $2 WHERE run_id = $1",
                      ARGS(TEXT(r->id), INT(r->lease_until_ms)));
}

err run_renew_held(struct tx *tx, const struct runner *by, str run_id)
{
    return run_change(tx,
                      "UPDATE run SET lease_until = $3 WHERE run_id = $1 AND runner_id = $2"
                      " AND lease_until > 0",
                      ARGS(TEXT(run_id), TEXT(by->id),
                           INT(tx->now_ms + team_rules_of(tx)->lease_ms)));
}

err run_note_activity(struct tx *tx, const struct run *r, str client_id, str words)
{
    struct session s;

    if (run_is_command(r) || (!client_id.len && !words.len))
        return NULL;
    TRY(session_load(tx, r->session_id, &s));
    if (client_id.len)
        s.client_id = client_id;
    if (words.len)
        s.last_event = utf8_cut(words, WORDS_BYTES_MAX);
    s.last_event_at_ms = tx->now_ms;
    return session_store(tx, &s);
}

/* ---- ends ---- */

/* A run that nobody has claimed since is its last holder's again. */
static err run_take_back(struct tx *tx, struct run *r)
{
    run_become(r, RUN_CLAIMED);
    r->queued = false;
    if (!r->started_at_ms)
        return run_started(tx, r, STR(""));
    run_become(r, RUN_RUNNING);
    return NULL;
}

/* Whether the end is known already. A run that was asked to stop has stopped, whatever its agent
 * came to meanwhile. */
static err end_known(struct tx *tx, const struct run *r, enum run_status end, bool *known)
{
    *known = !run_is_live(r->status);
    if (!*known || r->status == end || r->status == RUN_STOPPED)
        return NULL;
    return err_new(tx->arena, ERR_CONFLICT, "run " STR_FMT " has ended as " STR_FMT " already",
                   STR_ARG(r->id), STR_ARG(team_name(&run_words, (int)r->status)));
}

/* Why it was asked to is known already; that it was is all that its runner can say. */
static err run_end_asked(struct tx *tx, struct run *r, const struct run_facts *facts)
{
    struct run_facts rest = *facts;

    rest.error = STR("");
    return run_end(tx, r, RUN_STOPPED, &rest);
}

err run_report_end(struct tx *tx, struct run *r, enum run_status end, const struct run_facts *facts)
{
    bool known;

    assert(!run_is_live(end));
    TRY(end_known(tx, r, end, &known));
    if (known)
        return NULL;
    if (r->status == RUN_STOPPING)
        return run_end_asked(tx, r, facts);
    if (r->status == RUN_PENDING) {
        if (end != RUN_COMPLETED)
            return not_theirs(tx, r->id);
        TRY(run_take_back(tx, r));
    } else if (r->status == RUN_CLAIMED && end == RUN_COMPLETED) {
        /* That report was lost, and others wait for what follows from it. */
        TRY(run_started(tx, r, STR("")));
    }
    return run_end(tx, r, end, facts);
}

/* ---- what becomes due ---- */

/* Ends a run for its runner, which says nothing, with the reason and what its agent said last. */
static err run_end_silent(struct tx *tx, struct run *r, enum run_status end, str why)
{
    struct run_facts facts = { .error = why, .exit_code = -1 };
    str tail;

    TRY(output_tail(tx, r->id, RUN_TAIL_BYTES, &tail));
    if (tail.len)
        facts.error = arena_printf(tx->arena, STR_FMT "\n" STR_FMT, STR_ARG(why), STR_ARG(tail));
    return run_end(tx, r, end, &facts);
}

static err run_lost(struct tx *tx, struct run *r)
{
    int64_t lost = r->attempt++;

    assert(r->lease_until_ms <= tx->now_ms);
    if (r->status == RUN_STOPPING)
        return run_end_silent(tx, r, RUN_STOPPED, r->error);
    if (r->attempt > team_rules_of(tx)->claim_max)
        return run_end_silent(tx, r, RUN_FAILED,
                              arena_printf(tx->arena,
                                           "it has lost %lld runners: each claimed it and was not "
                                           "heard of again",
                                           (long long)lost));
    run_become(r, RUN_PENDING);
    r->lease_until_ms = 0;
    return run_enter(tx, r);
}

err run_due_lease(struct tx *tx, const struct due *due)
{
    struct run r;

    TRY(run_find(tx, due->subject, &r));
    if (!r.id.len || !r.lease_until_ms)
        return NULL;
    if (r.lease_until_ms > tx->now_ms)
        return due_add(tx, r.lease_until_ms, DUE_RUN_LEASE, r.id, 0);
    return run_lost(tx, &r);
}

err run_due_time(struct tx *tx, const struct due *due)
{
    struct run r;

    TRY(run_find(tx, due->subject, &r));
    if (!r.id.len || r.status != RUN_RUNNING)
        return NULL;
    int64_t until = r.started_at_ms + r.max_ms + team_rules_of(tx)->run_grace_ms;
    if (until > tx->now_ms)
        return due_add(tx, until, DUE_RUN_TIME, r.id, 0);
    return run_end_silent(tx, &r, RUN_TIMED_OUT,
                          arena_printf(tx->arena,
                                       "it took longer than the %lld s that it may, and its "
                                       "runner did not end it",
                                       (long long)r.max_ms / 1000));
}

err run_due_stop(struct tx *tx, const struct due *due)
{
    struct run r;

    TRY(run_find(tx, due->subject, &r));
    if (!r.id.len || r.status != RUN_STOPPING)
        return NULL;
    return run_end_silent(tx, &r, RUN_STOPPED, r.error);
}

err run_renew_all(struct tx *tx)
{
#ifdef PLANT_CALLBACK_TWICE
    TRY(sql_exec(tx->sql, "UPDATE callback SET status = 'waiting' WHERE status = 'delivered'",
                 NO_ARGS));
#endif
    TRY(sql_exec(tx->sql, "UPDATE runner SET seen_at = $1 WHERE lost = 0", ARGS(INT(tx->now_ms))));
    return run_change(tx,
                      "UPDATE run SET lease_until = $1"
                      " WHERE status IN ('claimed', 'running', 'stopping')",
                      ARGS(INT(tx->now_ms + team_rules_of(tx)->lease_ms)));
}
