/* callback.c: how a session's cycle goes on when a turn of it has ended.
 *
 * What can end a turn is a run's end, or an agent that says that it stops and hears
 * what it has to do first; both are decided by the same table. How the parent hears of a
 * settled cycle is callback_deliver.c's business. */
#include "core/callback.h"

#include <assert.h>

#include "core/callback_private.h"
#include "core/permission.h"
#include "core/prompt.h"
#include "core/prompt_task.h"
#include "core/token.h"

enum happening {
    TURN_DONE,    /* a turn of work ended well */
    TURN_FAILED,  /* it did not, and its client can be asked why */
    TURN_LOST,    /* it did not, and nobody can be asked */
    UPDATE_OVER,  /* a turn that was only for the update has ended, however it did */
    TURN_STOPPED, /* somebody stopped it */
    HAPPENING_COUNT
};

/* The end of a turn, on its way to what follows. */
struct turn_end {
    struct session *s;
    enum happening what;
    str error;                  /* why it did not end well */
    struct stop_advice *advice; /* the agent is there and hears it; NULL: it takes another turn */
    struct state state;         /* that the session owes an update */
};

/* ---- settling ---- */

static err settled_emit(struct tx *tx, const struct session *s, int64_t state_version)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    write_text(w, STR("session_name"), s->name);
    write_text(w, STR("status"), team_name(&session_words, s->status));
    write_text(w, STR("update_status"), team_name(&update_words, s->update));
    write_int(w, STR("state_version"), state_version);
    write_int(w, STR("cycle"), s->cycle);
    write_text(w, STR("error"), s->error);
    return event_end(tx, &data, (struct event){ .type = EVENT_SESSION_SETTLED, .subject = s->id },
                     NULL);
}

static err settle(struct tx *tx, struct turn_end *t)
{
    struct session *s = t->s;
    enum session_status end = t->what == TURN_STOPPED                      ? SESSION_STOPPED
                              : s->error.len || s->update == UPDATE_FAILED ? SESSION_FAILED
                                                                           : SESSION_FINISHED;

    assert(s->update != UPDATE_PENDING && !s->settled);
    if (t->advice && !s->attended)
        return NULL; /* its run is about to end, and that settles it */
    /* A turn of a session that had ended before may end without ever having been seen to begin. */
    if (end != s->status && !session_may_become(s->status, end))
        TRY(session_become(tx, s, SESSION_RUNNING));
    s->settled = true;
    TRY(session_become(tx, s, end));
    assert(!session_is_live(s->status) && s->ended_at_ms == tx->now_ms);
    return settled_emit(tx, s, t->state.version);
}

/* ---- the update ---- */

static err update_become(struct tx *tx, struct session *s, enum update_status to)
{
    assert(s->update == to || update_may_become(s->update, to));
    s->update = to;
    TRY(session_store(tx, s));
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);
    write_text(w, STR("session_name"), s->name);
    write_text(w, STR("state_update_status"), team_name(&update_words, to));
    write_int(w, STR("state_update_attempts"), s->update_attempts);
    return event_end(tx, &data, (struct event){ .type = EVENT_SESSION_UPDATED, .subject = s->id },
                     NULL);
}

/* It owes an update that it cannot be asked for any more. */
static err give_up(struct tx *tx, struct turn_end *t)
{
    if (!t->s->error.len)
        t->s->error = t->error;
    TRY(update_become(tx, t->s, UPDATE_FAILED));
    return settle(tx, t);
}

static err skip(struct tx *tx, struct turn_end *t)
{
    TRY(update_become(tx, t->s, UPDATE_SKIPPED));
    return settle(tx, t);
}

/* What the schema of its state says, or the settings; of a step there is no schema. */
static err update_rules(struct tx *tx, const struct turn_end *t, struct policy_update *out)
{
    const struct team_rules *team = team_rules_of(tx);
    const struct schema_rules *rules;

    *out = (struct policy_update){ .attempts = -1, .timeout_ms = -1, .delay_ms = -1 };
    if (!t->s->task.len) {
        TRY(schema_rules(tx, t->state.schema_id, &rules));
        *out = rules->policy.update;
    }
    if (out->attempts < 0)
        out->attempts = team->update_attempts;
    if (out->timeout_ms < 0)
        out->timeout_ms = team->update_timeout_ms;
    if (out->delay_ms < 0)
        out->delay_ms = team->update_delay_ms;
    return NULL;
}

/* A turn for nothing but the update; the first at once, others after a while. */
static err update_enqueue(struct tx *tx, struct session *s, const struct policy_update *rules,
                          str prompt, bool first)
{
    struct run_new n = {
        .type = RUN_TYPE_RESUME,
        .purpose = PURPOSE_STATE_UPDATE,
        .mode = MODE_POLL,
        .prompt = prompt,
        .not_before_ms = first ? 0 : tx->now_ms + rules->delay_ms,
        .max_ms = rules->timeout_ms,
        .metadata = arena_printf(tx->arena, "{\"state_update_run\":true,\"attempt\":%lld}",
                                 (long long)s->update_attempts),
    };
    struct run ignored;

    if (s->status == SESSION_RUNNING)
        TRY(session_become(tx, s, SESSION_IDLE));
    return run_create(tx, s, &n, &ignored);
}

static err update_ask(struct tx *tx, struct turn_end *t, const struct policy_update *rules)
{
    struct session *s = t->s;
    bool first = s->update == UPDATE_NONE;
    str prompt;

    s->update_attempts++;
    TRY(update_become(tx, s, UPDATE_PENDING));
    TRY(s->task.len ? prompt_record(tx, s, rules->attempts, &prompt)
                    : prompt_update(tx, s, &t->state, rules->attempts, &prompt));
    if (!t->advice)
        return update_enqueue(tx, s, rules, prompt, first);
    *t->advice =
        (struct stop_advice){ .block = true, .prompt = prompt, .attempt = s->update_attempts };
    if (s->attended)
        TRY(due_add(tx, tx->now_ms + rules->timeout_ms, DUE_UPDATE_OVERDUE, s->id, s->cycle));
    return NULL;
}

static err ask(struct tx *tx, struct turn_end *t)
{
    struct session *s = t->s;
    bool can = t->advice || s->client_id.len;
    struct policy_update rules;

    TRY(update_rules(tx, t, &rules));
    /* What it wrote before it failed does not say that it did. */
    bool said = !rules.always && t->what != TURN_FAILED;
    bool enough = said || rules.attempts == 0 || !can;
    if (s->update == UPDATE_NONE && s->wrote_version && enough)
        return skip(tx, t);
    if (can && s->update_attempts < rules.attempts)
        return update_ask(tx, t, &rules);
    if (!s->error.len)
        s->error = can ? arena_printf(tx->arena, "it did not record its result after %lld prompts",
                                      (long long)s->update_attempts)
                       : STR("it did not record its result, and its client cannot be resumed");
    return give_up(tx, t);
}

/* Who failed is asked once to record that, unless its schema does not want it. */
static err ask_once(struct tx *tx, struct turn_end *t)
{
    struct policy_update rules;

    TRY(update_rules(tx, t, &rules));
    if (rules.skip_failure)
        return give_up(tx, t);
    if (t->s->update_attempts < rules.attempts - 1)
        t->s->update_attempts = rules.attempts - 1;
    return ask(tx, t);
}

/* ---- the decision ---- */

typedef err step(struct tx *tx, struct turn_end *t);

// clang-format off
/* Of a session that owes its state an update. */
static step *const decisions[UPDATE_STATUS_COUNT][HAPPENING_COUNT] = {
    /* the update is          done      failed     lost      update over   stopped */
    [UPDATE_NONE]      = {    ask,      ask_once,  give_up,  ask,          give_up },
    [UPDATE_PENDING]   = {    ask,      ask_once,  give_up,  ask,          give_up },
    [UPDATE_COMPLETED] = {    settle,   settle,    settle,   settle,       settle  },
    [UPDATE_FAILED]    = {    settle,   settle,    settle,   settle,       settle  },
    [UPDATE_SKIPPED]   = {    settle,   settle,    settle,   settle,       settle  },
};
// clang-format on

/* The state of its tree, and whether it owes that an update. */
static err owed_state(struct tx *tx, const struct session *s, struct state *out, bool *owes)
{
    *out = (struct state){ .version = 0 };
    *owes = session_owes(s);
    return s->state_id.len ? state_load(tx, s->state_id, out) : NULL;
}

/* A person comes first who was asked whether it may go on; but not where there is nobody any more
 * who would. */
static err person_first(struct tx *tx, struct turn_end *t, bool *out)
{
    struct session *s = t->s;

    if (t->what != TURN_DONE && t->what != UPDATE_OVER)
        return NULL;
    TRY(permission_waits(tx, s->id, out));
    if (*out && !t->advice && s->status == SESSION_RUNNING)
        return session_become(tx, s, SESSION_IDLE);
    return NULL;
}

/* Its children come first: what they have to say, and what they still do. */
static err children_first(struct tx *tx, struct turn_end *t, bool *out)
{
    struct session *s = t->s;
    bool ends = !t->advice || s->attended;
    int64_t awaited;

    if (!t->advice)
        TRY(callback_deliver(tx, s, out));
    else if (!s->attended)
        TRY(callback_waits(tx, s->id, out));
    if (*out)
        return NULL;
    TRY(session_awaited(tx, s->id, &awaited));
    *out = awaited > 0;
    if (*out && ends && s->status == SESSION_RUNNING)
        return session_become(tx, s, SESSION_IDLE);
    return NULL;
}

static bool owes_still(const struct session *s)
{
    return s->update == UPDATE_NONE || s->update == UPDATE_PENDING;
}

static err cycle_decide(struct tx *tx, struct turn_end *t)
{
    struct session *s = t->s;
    bool well = t->what == TURN_DONE || (t->what == UPDATE_OVER && s->update == UPDATE_COMPLETED);
    bool broke = t->what == TURN_FAILED || t->what == TURN_LOST;
    bool waits = false, owes;

    assert(!s->settled);
    TRY(person_first(tx, t, &waits));
    if (!waits && well)
        TRY(children_first(tx, t, &waits));
    if (waits)
        return NULL;
    if (t->what == TURN_STOPPED || (broke && !s->error.len))
        s->error = t->error;
    TRY(owed_state(tx, s, &t->state, &owes));
    if (s->task.len && s->update == UPDATE_NONE && s->wrote_version && t->what != TURN_STOPPED)
        return skip(tx, t); /* a record says by itself that the step is done, or failed */
    if (s->task.len && broke && session_is_limited(s))
        return owes_still(s) ? give_up(tx, t) : settle(tx, t); /* it could not be asked, either */
#ifdef PLANT_CALLBACK_BEFORE_UPDATE
    owes = owes && s->update == UPDATE_PENDING;
#endif
    return owes ? decisions[s->update][t->what](tx, t) : settle(tx, t);
}

/* A session between turns looks again whether its cycle can go on. */
static err cycle_go_on(struct tx *tx, struct session *s)
{
    bool between = s->status == SESSION_IDLE && !s->run_id.len;

    if (!between || s->settled || s->attended)
        return NULL;
    return cycle_decide(tx, &(struct turn_end){ .s = s, .what = TURN_DONE });
}

/* Settles the cycle of a session without a live run as stopped; nothing when it has settled. */
static err cycle_stop(struct tx *tx, struct session *s, str why)
{
    assert(!s->run_id.len);
    if (s->settled)
        return NULL;
    return cycle_decide(tx, &(struct turn_end){ .s = s, .what = TURN_STOPPED, .error = why });
}

/* ---- what leads to it ---- */

static bool run_began(const struct run *r)
{
    return r->started_at_ms;
}

/* Nobody could take it, or each one who did was lost with it. */
static bool run_lost(struct tx *tx, const struct run *r)
{
    return r->status == RUN_FAILED && (!run_began(r) || r->attempt > team_rules_of(tx)->claim_max);
}

static enum happening happening_of(struct tx *tx, const struct session *s, const struct run *r)
{
    if (r->status == RUN_STOPPED)
        return TURN_STOPPED;
    if (run_lost(tx, r))
        return TURN_LOST;
    if (r->purpose == PURPOSE_STATE_UPDATE)
        return UPDATE_OVER;
    if (r->status == RUN_COMPLETED)
        return TURN_DONE;
    return s->client_id.len ? TURN_FAILED : TURN_LOST;
}

err callback_after_run(struct tx *tx, const struct event *e)
{
    size_t undelivered = 0;
    struct run r;
    struct session s;

    TRY(run_load(tx, e->subject, &r));
    if (run_is_command(&r))
        return NULL;
    TRY(session_load(tx, r.session_id, &s));
    /* A turn that began once has told what it carried, also when it was lost with its runner and
     * ended before it began again: then nothing is left to deliver, and it ends as any other does. */
    if (r.purpose == PURPOSE_CALLBACK && !run_began(&r))
        TRY(callback_return(tx, &r, &undelivered));
    if (s.settled || s.run_id.len || r.cycle != s.cycle)
        return NULL;
    if (undelivered && r.status != RUN_STOPPED)
        return due_add(tx, tx->now_ms + team_rules_of(tx)->match_ms, DUE_CALLBACK_DELIVER, s.id, 0);
    struct turn_end t = { .s = &s, .what = happening_of(tx, &s, &r) };
    if (r.status != RUN_COMPLETED)
        t.error = r.error.len ? r.error : STR("its turn did not end well, and nobody said why");
    return cycle_decide(tx, &t);
}

err callback_after_start(struct tx *tx, const struct event *e)
{
    struct run r;
    struct session s;

    TRY(run_load(tx, e->subject, &r));
    if (r.purpose == PURPOSE_STATE_UPDATE || run_is_command(&r))
        return NULL;
    if (r.purpose == PURPOSE_CALLBACK)
        TRY(callback_arrive(tx, &r));
    TRY(session_load(tx, r.session_id, &s));
    return session_begin_work(tx, &s);
}

/* Every write of a session comes by here. */
err callback_after_update(struct tx *tx, const struct event *e)
{
    struct session s;
    bool found = false;

    if (e->session_id.len)
        TRY(session_find_id(tx, e->session_id, &s, &found));
    if (!found || !str_eq(s.state_id, e->subject) || s.task.len)
        return NULL; /* who works for a step owes a record of that, and no update */
    s.wrote_version = e->version;
    if (s.update == UPDATE_PENDING)
        return update_become(tx, &s, UPDATE_COMPLETED);
    return session_change(tx, "UPDATE session SET wrote_version = $2 WHERE session_id = $1",
                          ARGS(TEXT(s.id), INT(s.wrote_version)));
}

err callback_after_settled(struct tx *tx, const struct event *e)
{
    struct session s, parent;
    const struct json *data;
    bool delivers;

    TRY(session_load(tx, e->subject, &s));
    TRY(event_parsed(tx, e, &data));
    assert(s.settled);
    if (s.calls_back)
        TRY(callback_create(tx, &s, json_int_or(data, "state_version", 0), e->seq));
    if (s.parent_id.len) {
        TRY(session_load(tx, s.parent_id, &parent));
        if (s.calls_back && parent.attended) /* its waker, if it has one, looks for it */
            TRY(event_emit(
                tx, (struct event){ .type = EVENT_CALLBACK_WAITING, .subject = parent.id }, NULL));
        TRY(callback_deliver(tx, &parent, &delivers));
        if (!delivers)
            TRY(cycle_go_on(tx, &parent));
    }
    /* What came for it while it failed is heard in a cycle of its own. */
    return callback_deliver(tx, &s, &delivers);
}

/* Who was resumed by it has a run; who cannot be does not wait for it any longer. What a step of a workflow
 * waits for is nobody's turn. */
err callback_after_approval(struct tx *tx, const struct event *e)
{
    const struct json *data;
    struct session s;

    TRY(event_parsed(tx, e, &data));
    if (!str_eq(json_str(data, "kind"), STR("permission")))
        return NULL;
    TRY(session_load(tx, json_str(data, "session_id"), &s));
    return cycle_go_on(tx, &s);
}

/* ---- an agent that says that it stops ---- */

err callback_on_stop(struct tx *tx, struct session *s, str error, struct stop_advice *out)
{
    struct turn_end t = { .s = s, .what = TURN_DONE, .error = error, .advice = out };

    *out = (struct stop_advice){ .block = false };
    TRY(news_take(tx, s, true, &out->prompt, &out->callbacks));
    if (out->callbacks) {
        out->block = true;
        return NULL;
    }
    bool runs_here = !s->attended && s->run_id.len;
    if (s->settled || !(s->attended || runs_here))
        return NULL;
    if (error.len && runs_here)
        return NULL;            /* its run will say how it ended */
    if (session_is_member(s)) { /* it owes nothing, and sits at its prompt until its client ends */
        s->error = error;
        return s->status == SESSION_RUNNING ? session_become(tx, s, SESSION_IDLE)
                                            : session_store(tx, s);
    }
    if (error.len)
        t.what = TURN_FAILED;
    return cycle_decide(tx, &t);
}

err callback_on_end(struct tx *tx, struct session *s)
{
    struct turn_end t = { .s = s, .what = TURN_DONE };
    bool owes;

    if (s->settled || !s->attended)
        return NULL;
    TRY(owed_state(tx, s, &t.state, &owes));
    if (!owes || (s->update != UPDATE_NONE && s->update != UPDATE_PENDING))
        return settle(tx, &t);
    if (s->update == UPDATE_NONE && s->wrote_version)
        return skip(tx, &t);
    t.error = STR("its client ended before it recorded its result");
    return give_up(tx, &t);
}

/* A client's own name for the conversation is known from its hooks alone. */
err callback_on_bridge_end(struct tx *tx, struct session *s)
{
    return s->client_id.len ? NULL : callback_on_end(tx, s);
}

/* Hooks may speak for the session meanwhile: then it ends when they, too, were silent for the time of
 * the lease. Of one that waits for that, the token is revoked, and the arg is negative. Whoever is
 * heard again opens the next cycle. */
err callback_due_lease(struct tx *tx, const struct due *due)
{
    int64_t lease = due->arg < 0 ? -due->arg : due->arg, others, number;
    bool valid, found = false;
    struct session s;
    str session_id;

    TRY(token_holder(tx, due->subject, &valid, &session_id, &others));
    if (valid)
        TRY(token_revoke(tx, due->subject));
    else if (due->arg > 0)
        return NULL; /* its holder has given it back */
    if (session_id.len)
        TRY(session_find_id(tx, session_id, &s, &found));
    if (!found || others || s.settled)
        return NULL;
    if (s.client_id.len && s.last_event_at_ms > tx->now_ms - lease)
        return due_add(tx, s.last_event_at_ms + lease, DUE_TOKEN_LEASE, due->subject, -lease);
    TRY(session_event_note(tx, &s, STR("session_end"),
                           STR("{\"reason\":\"its client was not heard any more\"}"), &number));
    return callback_on_end(tx, &s);
}

err callback_on_write(struct tx *tx, struct session *s)
{
    struct session by;
    bool found;

    TRY(session_find_id(tx, tx->actor->session_id, &by, &found));
    if (!found || !session_owes(s) || s->task.len || by.wrote_version <= s->wrote_version)
        return NULL;
    s->wrote_version = by.wrote_version;
    return s->update == UPDATE_PENDING ? update_become(tx, s, UPDATE_COMPLETED)
                                       : session_store(tx, s);
}

err callback_on_record(struct tx *tx, struct session *s)
{
    assert(s->task.len && !s->settled);
    s->wrote_version = 1;
    return s->update == UPDATE_PENDING ? update_become(tx, s, UPDATE_COMPLETED)
                                       : session_store(tx, s);
}

/* It was told what it owes, and has not been heard of its stop since. */
err callback_due_update(struct tx *tx, const struct due *due)
{
    struct session s;
    bool found;

    TRY(session_find_id(tx, due->subject, &s, &found));
    /* Of one that is run from here by now, its run decides. */
    if (!found || !s.attended || s.settled || s.cycle != due->arg || s.update == UPDATE_NONE)
        return NULL;
    struct turn_end t = { .s = &s, .what = TURN_DONE };
    if (s.update != UPDATE_PENDING)
        return cycle_decide(tx, &t);
    struct policy_update rules;
    bool owes;
    TRY(owed_state(tx, &s, &t.state, &owes));
    if (!owes)
        return settle(tx, &t); /* what it owed is gone */
    TRY(update_rules(tx, &t, &rules));
    if (s.update_attempts >= rules.attempts) {
        t.error = arena_printf(tx->arena,
                               "it did not record its result: it was asked %lld times, for %lld "
                               "seconds each",
                               (long long)rules.attempts, (long long)rules.timeout_ms / 1000);
        return give_up(tx, &t);
    }
    s.update_attempts++;
    TRY(update_become(tx, &s, UPDATE_PENDING));
    return due_add(tx, tx->now_ms + rules.timeout_ms, DUE_UPDATE_OVERDUE, s.id, s.cycle);
}

/* ---- stopping a session with all that is below it ---- */

/* The session itself is stopped at once, what is below it by and by: each firing of a due row stops
 * some of those whose cycle is open, until there are none. */

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
