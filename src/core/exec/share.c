/* share.c: what becomes of the sessions that work for steps: what they record, and how they end. */
#include "core/exec/share.h"

#include <assert.h>

#include "core/callback.h"
#include "core/columns.h"
#include "core/exec/private.h"
#include "core/stored.h"

enum {
    TURNS_AT_ONCE = 64,    /* that are looked at in one firing */
    LOOK_AGAIN_MS = 30000, /* at those that have no room */
    LIMIT_WAIT_MS = 60000, /* the first one, where nobody says how long */
    LIMIT_WAIT_MAX_MS = 3600000,
    LIMITS_MOST = 50, /* that a share waits for, one after the other */
};

/* ---- rows ---- */

err share_of_session(struct tx *tx, str session_id, struct share *out, bool *found)
{
    const struct row *row;

    *out = (struct share){ .no = 0 };
    TRY(sql_one(tx->sql, &row,
                "SELECT " SHARE_NAMES " FROM share WHERE session_id = $1 AND session_id <> ''",
                ARGS(TEXT(session_id))));
    *found = row;
    if (row)
        COLUMNS_READ(SHARE_COLUMNS, tx, row, "share", out);
    return NULL;
}

/* Takes up its execution, with the mark that it is of. */
static err share_open(struct tx *tx, const struct share *s, struct exec *x, struct mark **m)
{
    struct execution row;
    bool found;

    TRY(execution_load(tx, s->no, &row, &found));
    if (!found)
        return stored_damage(tx, THING("session", s->session_id),
                             "it works for an execution that is not there");
    TRY(exec_open(tx, &row, x));
    TRY(mark_find(x, s->scope, s->n, m));
    if (!*m || (*m)->status != MARK_WORK)
        return stored_damage(tx, THING("execution", row.id),
                             "a session works for a step that is not at work");
    return NULL;
}

/* ---- records ---- */

/* The session that the actor is; `task` is NULL when it works for no step. */
static err worker_of(struct tx *tx, struct session *s, const struct json **task)
{
    bool found = false;

    *task = NULL;
    if (tx->actor->kind == ACTOR_SESSION)
        TRY(session_find_id(tx, tx->actor->session_id, s, &found));
    if (!found || !s->task.len)
        return NULL;
    return stored_parse_as(tx, THING("session", s->id), s->task, JSON_OBJECT, task);
}

err share_is_worker(struct tx *tx, str execution_id, bool *out)
{
    const struct json *task;
    struct session s;

    TRY(worker_of(tx, &s, &task));
    *out = task && str_eq(json_str(task, "workflow_id"), execution_id);
    return NULL;
}

/* Why its word is not taken any more. */
static err too_late(struct tx *tx, const struct json *task)
{
    str id = json_str(task, "workflow_id"), step = json_str(task, "step");
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT status, reason FROM execution WHERE execution_id = $1",
                ARGS(TEXT(id))));
    str status = row ? row_str(row, 0) : STR("deleted"), reason = row ? row_str(row, 1) : STR("");
    bool open = str_eq(status, STR("RUNNING")) || str_eq(status, STR("PAUSED"));
    return err_new(tx->arena, ERR_CONFLICT,
                   "what this session does for step " STR_FMT " of " STR_FMT
                   " is not wanted any more: %s" STR_FMT "%s" STR_FMT ". Stop",
                   STR_ARG(step), STR_ARG(id),
                   open ? "its attempt is over, or the step is done anew"
                        : "the execution has ended, ",
                   STR_ARG(open ? STR("") : status), !open && reason.len ? ": " : "",
                   STR_ARG(open ? STR("") : reason));
}

static err named_check(struct tx *tx, const struct share_record *r, const struct json *task)
{
    str id = json_str(task, "workflow_id"), step = json_str(task, "step");

    if ((!r->execution_id.len || str_eq(r->execution_id, id)) &&
        (!r->step.len || str_eq(r->step, step)))
        return NULL;
    return err_new(tx->arena, ERR_CONFLICT,
                   "this session works for step " STR_FMT " of " STR_FMT
                   ", and records that alone; found step " STR_FMT " of " STR_FMT,
                   STR_ARG(step), STR_ARG(id), STR_ARG(r->step.len ? r->step : step),
                   STR_ARG(r->execution_id.len ? r->execution_id : id));
}

/* What it has said before, with what it says now. */
static err outputs_merge(struct tx *tx, const struct share *s, const struct json *more,
                         struct json *out)
{
    const struct json *before;

    *out = json_object();
    if (s->outputs.len) {
        TRY(stored_parse_as(tx, THING("session", s->session_id), s->outputs, JSON_OBJECT, &before));
        *out = *before;
    }
    for (uint32_t i = 0; more && i < more->len; i++) {
        str name = json_name(&more->members[i]);
        struct json *there = (struct json *)json_find(out, name);
        if (there)
            *there = more->members[i].value;
        else
            json_put(tx->arena, out, name, more->members[i].value);
    }
    return NULL;
}

static err record_check(struct exec *x, const struct mark *m, const struct share *s,
                        const struct json *outputs)
{
    size_t bytes = json_print_size(outputs);

    if (bytes + json_print_size(&x->vars) > EXECUTION_VARIABLES_MAX)
        return err_new(
            x->tx->arena, ERR_TOO_LARGE,
            "these results have %zu bytes, and all of an execution at most %u: write what "
            "is large into a file, and record its path",
            bytes, EXECUTION_VARIABLES_MAX);
    if (share_is_last(x, m, s))
        return outputs_check(x, m, outputs);
    if (outputs->len || !x->graph->nodes[m->at].work->output_count)
        return NULL;
    return err_new(x->tx->arena, ERR_UNFIT,
                   "expected at least one artifact, under a name of your choice: others go on with "
                   "what you have found");
}

err share_put_record(struct tx *tx, const struct share_record *r, struct execution *out)
{
    struct session session;
    const struct json *task;
    struct json outputs;
    struct share s;
    struct mark *m;
    struct exec x;
    bool found;

    TRY(worker_of(tx, &session, &task));
    if (!task)
        return err_new(tx->arena, ERR_CONFLICT,
                       "this session works for no step: only one that was started for a step "
                       "records its result");
    TRY(named_check(tx, r, task));
    TRY(share_of_session(tx, session.id, &s, &found));
    if (!found || s.status != SHARE_WORKING)
        return too_late(tx, task);
    TRY(share_open(tx, &s, &x, &m));
    TRY(outputs_merge(tx, &s, r->outputs, &outputs));
    if (!r->failed && !r->more)
        TRY(record_check(&x, m, &s, &outputs));
    s.outputs = json_printed(tx->arena, &outputs);
    s.error = !r->failed     ? STR("")
              : r->error.len ? r->error
                             : STR("its agent says that it has failed");
    TRY(share_store(tx, &s));
    if (!r->more)
        TRY(callback_on_record(tx, &session));
    exec_move(&x, m, r->more ? "noted" : "recorded");
    return exec_close(&x, out);
}

/* ---- how a session has ended ---- */

/* Its last turn of work; those in which it was only asked for its record say nothing of that. The id is
 * empty when it had none. */
static err last_run(struct tx *tx, str session_id, struct run *out)
{
    const struct row *row;

    *out = (struct run){ .queued = false };
    TRY(sql_one(tx->sql, &row,
                "SELECT run_id FROM run WHERE session_id = $1 AND purpose <> 'state_update'"
                " ORDER BY seq DESC LIMIT 1",
                ARGS(TEXT(session_id))));
    return row ? run_load(tx, row_str(row, 0), out) : NULL;
}

static bool says_limit(str text)
{
    static const char *const words[] = { "rate_limit", "rate limit", "usage limit reached" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_contains(text, str_from(words[i])))
            return true;
    return false;
}

static bool is_recorded(const struct session *s)
{
    return s->status != SESSION_STOPPED &&
           (s->update == UPDATE_COMPLETED || s->update == UPDATE_SKIPPED);
}

/* What its end means for the step. */
static struct outcome outcome_of(struct tx *tx, const struct session *s, const struct share *share,
                                 const struct run *last)
{
    bool lost = last->status == RUN_FAILED &&
                (!last->started_at_ms || last->attempt > team_rules_of(tx)->claim_max);
    struct outcome o = { .what = "failed" };

#ifdef PLANT_MOVER_UNRECORDED
    if (last->status == RUN_COMPLETED) {
        o.what = "completed";
        return o;
    }
#endif
    if (is_recorded(s)) {
        o.what = share->error.len ? "failed" : "completed";
        o.error = share->error;
        return o;
    }
    o.what = s->status == SESSION_STOPPED    ? "failed"
             : last->status == RUN_TIMED_OUT ? "timeout"
             : lost                          ? "lost"
             : last->status == RUN_COMPLETED ? "violations"
                                             : "failed";
    o.error = arena_printf(tx->arena, "session " STR_FMT "%s" STR_FMT, STR_ARG(s->name),
                           s->status == SESSION_STOPPED ? " was stopped: " : ": ",
                           STR_ARG(s->error.len ? s->error : STR("it did not record its result")));
    return o;
}

/* It goes on later, in a session of its own, and nobody counts that. */
static err wait_for_limit(struct tx *tx, const struct session *s, struct share *share)
{
    int64_t wait = LIMIT_WAIT_MS;

    for (int64_t i = 0; i < share->waited && wait < LIMIT_WAIT_MAX_MS; i++)
        wait *= 2;
    if (wait > LIMIT_WAIT_MAX_MS)
        wait = LIMIT_WAIT_MAX_MS;
    share->waited++;
    share->not_before_ms = s->notice_until_ms > tx->now_ms ? s->notice_until_ms : tx->now_ms + wait;
    share->error = STR("");
    share->outputs = STR("");
    TRY(share_wait(tx, share));
    return share_store(tx, share);
}

/* ---- what follows for its step ---- */

/* What is too much for an execution is a failure of whoever says it. */
static void outputs_fit(struct exec *x, const struct json *outputs, struct outcome *o)
{
    x->vars_bytes = json_print_size(&x->vars);
    if (x->vars_bytes + json_print_size(outputs) <= EXECUTION_VARIABLES_MAX)
        return;
    *o = (struct outcome){ .what = "failed",
                           .error = STR("its results are more than an execution may hold: large "
                                        "ones belong into files") };
}

static err share_end(struct tx *tx, struct share *s, struct outcome *o)
{
    const struct json *outputs = NULL;
    bool done = str_eq(str_from(o->what), STR("completed")), over = true;
    struct execution out;
    struct mark *m;
    struct exec x;
    str last;

    s->status = done ? SHARE_COMPLETED : SHARE_FAILED;
    s->ended_at_ms = tx->now_ms;
    TRY(share_store(tx, s));
    TRY(share_open(tx, s, &x, &m));
    if (done)
        TRY(agents_go_on(&x, m, &over, &last));
    if (!over || m->status != MARK_WORK)
        return exec_close(&x, &out);
    if (done) {
        TRY(stored_parse_as(tx, THING("session", s->session_id), last, JSON_OBJECT, &outputs));
        outputs_fit(&x, outputs, o);
        o->outputs = outputs;
    }
    return work_told(&x, m, o, &out);
}

/* It works for nothing any more, so what it is asked for now it owes as anybody does. */
static err task_over(struct tx *tx, struct session *s)
{
    s->task = STR("");
    return session_store(tx, s);
}

static err room_made(struct tx *tx)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT 1 FROM share WHERE status = 'waiting' LIMIT 1", NO_ARGS));
    return row ? share_turn_by(tx, tx->now_ms) : NULL;
}

err share_after_settled(struct tx *tx, const struct event *e)
{
    struct session s;
    struct share share;
    struct run last;
    bool found;

    TRY(session_load(tx, e->subject, &s));
    if (s.task.len) {
        TRY(share_of_session(tx, s.id, &share, &found));
        TRY(last_run(tx, s.id, &last));
        bool limited = session_is_limited(&s) || says_limit(last.error);
        TRY(task_over(tx, &s));
        if (found && share.status == SHARE_WORKING) {
            struct outcome o = outcome_of(tx, &s, &share, &last);
            bool waits = limited && !is_recorded(&s) && s.status == SESSION_FAILED &&
                         share.waited < LIMITS_MOST;
            TRY(waits ? wait_for_limit(tx, &s, &share) : share_end(tx, &share, &o));
        }
    }
    return room_made(tx);
}

/* From when its agent is there, as that of a job from when a worker has it. */
err share_after_started(struct tx *tx, const struct event *e)
{
    struct execution row;
    struct share s;
    struct mark *m;
    struct exec x;
    struct run r;
    bool found;

    TRY(run_load(tx, e->subject, &r));
    if (r.purpose != PURPOSE_TASK)
        return NULL;
    TRY(share_of_session(tx, r.session_id, &s, &found));
    if (!found || s.status != SHARE_WORKING)
        return NULL;
    TRY(execution_load(tx, s.no, &row, &found));
    if (!found)
        return NULL;
    TRY(exec_open_marks(tx, &row, &x));
    TRY(mark_find(&x, s.scope, s.n, &m));
    int64_t timeout = m ? x.graph->nodes[m->at].work->timeout_ms : 0;
    if (!timeout || m->timer_ms)
        return NULL;
    TRY(mark_timer(&x, m, tx->now_ms + timeout));
    return marks_flush(&x);
}

/* ---- turns ---- */

/* Those for whom there was no room a moment ago need not be tried again. */
struct full {
    int64_t executions[TURNS_AT_ONCE];
    str agents[TURNS_AT_ONCE];
    size_t count;
};

static bool is_full(const struct full *f, const struct share *s)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->executions[i] == s->no && str_eq(f->agents[i], s->agent))
            return true;
    return false;
}

/* What cannot be started any more, since its agent is gone, is an attempt that has failed. */
static err turn_take(struct tx *tx, struct share *s, struct full *f)
{
    struct outcome o = { .what = "failed" };
    struct execution e;
    bool found, full;

    TRY(execution_load(tx, s->no, &e, &found));
    if (!found)
        return stored_damage(tx, THING("share", s->session_name), "its execution is not there");
    err failed = share_start(tx, &e, s, &full);
    if (failed && failed->kind != ERR_INVALID && failed->kind != ERR_NOT_FOUND &&
        failed->kind != ERR_LIMIT)
        return failed;
    if (failed) {
        o.error = arena_printf(tx->arena, "agent " STR_FMT " could not be started: " STR_FMT,
                               STR_ARG(s->agent), STR_ARG(failed->message));
        return share_end(tx, s, &o);
    }
    if (!full)
        return share_store(tx, s);
    f->executions[f->count] = s->no;
    f->agents[f->count++] = s->agent;
    return NULL;
}

/* One that was stopped by the turn of another one before it is not there any more. */
static err still_waits(struct tx *tx, const struct share *s, bool *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT 1 FROM share WHERE no = $1 AND n = $2 AND number = $3"
                " AND status = 'waiting'",
                ARGS(INT(s->no), INT(s->n), INT(s->number))));
    *out = row;
    return NULL;
}

static err look_again(struct tx *tx)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT 1 FROM share WHERE status = 'waiting' LIMIT 1", NO_ARGS));
    if (!row)
        return NULL;
    int64_t at = tx->now_ms + LOOK_AGAIN_MS;
    TRY(sql_one(tx->sql, &row,
                "SELECT coalesce(min(not_before), 0) FROM share WHERE status = 'waiting'"
                " AND not_before > $1",
                ARGS(INT(tx->now_ms))));
    if (row_int(row, 0) && row_int(row, 0) < at)
        at = row_int(row, 0);
    return share_turn_by(tx, at);
}

err share_due_turn(struct tx *tx, const struct due *due)
{
    struct full f = { .count = 0 };
    const struct row *rows;
    size_t count;

    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT " SHARE_NAMES " FROM share WHERE status = 'waiting' AND seq > $1"
                " AND not_before <= $2 AND EXISTS (SELECT 1 FROM execution e WHERE e.no = share.no"
                "  AND e.status = 'RUNNING' AND e.halted = 0) ORDER BY seq LIMIT $3",
                ARGS(INT(due->arg), INT(tx->now_ms), INT(TURNS_AT_ONCE))));
    int64_t last = due->arg;
    for (size_t i = 0; i < count; i++) {
        struct share s;
        bool waits;
        COLUMNS_READ(SHARE_COLUMNS, tx, &rows[i], "share", (&s));
        last = s.seq;
        TRY(still_waits(tx, &s, &waits));
        if (waits && !is_full(&f, &s))
            TRY(turn_take(tx, &s, &f));
    }
    /* Under a name of its own: who has room meanwhile is looked for from the first on. */
    if (count == TURNS_AT_ONCE)
        return due_add(tx, tx->now_ms, DUE_SHARE_TURN, STR("more"), last);
    return look_again(tx);
}
