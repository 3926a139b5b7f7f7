/* team_model.c: what must be true of sessions, runs and callbacks. */
#include "sim/team_model.h"

#include "json_help.h"

/* What is broken, and the event that breaks it. */
#define BROKEN(e, ...) broken((e), __LINE__, __VA_ARGS__)
#define PROMISE(e, condition, what) ((condition) ? (void)0 : BROKEN((e), "%s", (what)))

__attribute__((noreturn, format(printf, 3, 4))) static void broken(const struct event *e, int line,
                                                                   const char *format, ...)
{
    struct buf text = buf_in(check_arena());
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    if (e)
        buf_printf(&text, "\n  event %lld: %s " STR_FMT " " STR_FMT, (long long)e->seq,
                   event_name(e->type), STR_ARG(e->subject), STR_ARG(e->data));
    check_fail(__FILE__, line, STR_FMT, STR_ARG(buf_str(&text)));
}

struct team_model *team_model_new(struct arena *a, const struct team_rules *rules)
{
    struct team_model *m = ARENA_NEW(a, struct team_model);

    m->arena = a;
    m->rules = rules;
    m->by_id = map_in(a);
    m->versions = map_in(a);
    return m;
}

struct seen_session *team_model_session(const struct team_model *m, str id)
{
    return map_get(&m->by_id, id);
}

struct seen_run *team_model_run(const struct team_model *m, str id)
{
    return map_get(&m->by_id, id);
}

struct seen_runner *team_model_runner(const struct team_model *m, str id)
{
    return map_get(&m->by_id, id);
}

static bool is_held(const struct seen_run *r)
{
    return r->status == RUN_CLAIMED || r->status == RUN_RUNNING || r->status == RUN_STOPPING;
}

/* ---- sessions ---- */

static struct seen_session *session_of(struct team_model *m, const struct event *e)
{
    struct seen_session *s = team_model_session(m, e->subject);

    PROMISE(e, s && !s->deleted, "an event of a session that is not there");
    return s;
}

static void session_created(struct team_model *m, const struct event *e, const struct json *data)
{
    struct seen_session *s = ARENA_NEW(m->arena, struct seen_session);
    str parent = json_str(data, "parent_session_id");

    PROMISE(e, !team_model_session(m, e->subject), "a session is made twice");
    CHECK(m->session_count < TEAM_ALL_MAX);
    *s = (struct seen_session){ .id = arena_copy(m->arena, e->subject),
                                .name = arena_copy(m->arena, json_str(data, "session_name")),
                                .depth = json_int_or(data, "depth", 0),
                                .cycle = 1,
                                .opened_seq = e->seq,
                                .asked_seq = e->seq,
                                .root = s };
    s->state_id = arena_copy(m->arena, json_str(data, "workflow_state_id"));
    if (parent.len) {
        s->parent = team_model_session(m, parent);
        PROMISE(e, s->parent && !s->parent->deleted, "its parent is not there");
        s->root = s->parent->root;
        PROMISE(e, str_eq(s->state_id, s->root->state_id), "it does not have its root's state");
    }
    PROMISE(e, s->depth == (s->parent ? s->parent->depth + 1 : 1), "it has another depth");
    PROMISE(e, s->depth <= m->rules->depth_max, "it is too deep in its tree");
    map_put(&m->by_id, s->id, s);
    m->sessions[m->session_count++] = s;
}

/* What is told of the update: how often it was asked for, that it was paid, by whom. */
static void update_told(struct team_model *m, const struct event *e, const struct json *data,
                        struct seen_session *s)
{
    s->update = (enum update_status)team_word(&update_words, json_str(data, "state_update_status"));
    s->update_seq = e->seq;
    PROMISE(e, json_int_or(data, "state_update_attempts", 0) <= m->rules->update_attempts,
            "it is asked for its update more often than it may be");
    if (s->update == UPDATE_COMPLETED)
        PROMISE(e, e->cause && e->cause == s->wrote_seq, "it has paid, and has not written");
    if (s->update == UPDATE_SKIPPED)
        PROMISE(e, s->wrote_seq > s->asked_seq, "it need not pay, and has not written");
}

static void session_updated(struct team_model *m, const struct event *e, const struct json *data)
{
    struct seen_session *s = session_of(m, e);
    int64_t cycle = json_int_or(data, "cycle", 0);

    if (json_get(data, "state_update_status"))
        update_told(m, e, data, s);
    if (json_get(data, "status")) {
        PROMISE(e, str_eq(json_str(data, "was"), team_name(&session_words, (int)s->status)),
                "it was something else");
        s->status = (enum session_status)team_word(&session_words, json_str(data, "status"));
    }
    if (!cycle)
        return;
    PROMISE(e, s->settled && cycle == s->cycle + 1, "a cycle begins before the last has settled");
    CHECK(cycle < TEAM_CYCLES_MAX);
    s->cycle = cycle;
    s->settled = false;
    s->opened_seq = s->asked_seq = e->seq;
    s->update = UPDATE_NONE;
}

static void session_bound(struct team_model *m, const struct event *e, const struct json *data)
{
    session_of(m, e)->state_id = arena_copy(m->arena, json_str(data, "workflow_state_id"));
}

static bool waits_for_children(const struct team_model *m, const struct seen_session *s)
{
    for (size_t i = 0; i < m->session_count; i++) {
        const struct seen_session *child = m->sessions[i];
        if (child->parent == s && !child->deleted && !child->settled && child->calls_back)
            return true;
    }
    return false;
}

/* A session below another one, with a state, has recorded its result after its last turn of work,
 * or was given up. */
static void session_settled(struct team_model *m, const struct event *e, const struct json *data)
{
    struct seen_session *s = session_of(m, e);
    int update = team_word_find(&update_words, json_str(data, "update_status"));
    struct seen_cycle *cycle = &s->cycles[s->cycle];

    PROMISE(e, !s->settled && !cycle->settled, "it has settled twice");
    PROMISE(e, json_int_or(data, "cycle", 0) == s->cycle, "another cycle has settled");
    PROMISE(e, s->live_runs == 0, "it has settled while a run of it is live");
    PROMISE(e, !session_is_live(s->status), "it has settled while it is live");
    if (s->parent && s->state_id.len) {
        PROMISE(e,
                update == UPDATE_COMPLETED || update == UPDATE_FAILED || update == UPDATE_SKIPPED,
                "it has settled before its update was completed, failed or skipped");
        PROMISE(e,
                update == (int)s->update && s->update_seq > s->opened_seq &&
                    s->update_seq > s->work_seq,
                "its update is of another turn");
    }
    PROMISE(e, update != UPDATE_PENDING, "it has settled with a pending update");
    if (s->status == SESSION_FINISHED)
        PROMISE(e, !waits_for_children(m, s), "it has finished, and its children have not");
    s->settled = true;
    *cycle = (struct seen_cycle){ .settled = true, .owed = s->calls_back && s->parent };
}

static void session_deleted(struct team_model *m, const struct event *e, const struct json *data)
{
    struct seen_session *s = session_of(m, e);

    (void)data;
    PROMISE(e, s->settled && s->live_runs == 0, "it is deleted while it is live");
    s->deleted = true;
}

/* ---- runs ---- */

static struct seen_run *run_of(struct team_model *m, const struct event *e)
{
    struct seen_run *r = team_model_run(m, e->subject);

    PROMISE(e, r && !r->session->deleted, "an event of a run that is not there");
    return r;
}

static struct seen_run *run_new(struct team_model *m, const struct event *e,
                                const struct json *data)
{
    struct seen_run *r = ARENA_NEW(m->arena, struct seen_run);
    struct seen_session *s = team_model_session(m, json_str(data, "session_id"));

    PROMISE(e, s && !s->deleted && !s->settled, "a run of a session that has settled");
    CHECK(m->run_count < TEAM_ALL_MAX);
    *r = (struct seen_run){
        .id = arena_copy(m->arena, e->subject),
        .session = s,
        .purpose = (enum run_purpose)team_word(&purpose_words, json_str(data, "purpose")),
        .status = RUN_PENDING,
        .opens = s->opened_seq == e->seq - 1 && !s->attended,
        .attempt = 1,
    };
    s->live_runs++;
    map_put(&m->by_id, r->id, r);
    m->runs[m->run_count++] = r;
    return r;
}

static bool is_of_session(const struct seen_run *r, const struct json *data)
{
    return str_eq(json_str(data, "session_id"), r->session->id);
}

/* It is new, or may be claimed now, or its runner has lost it. */
static void run_enqueued(struct team_model *m, const struct event *e, const struct json *data)
{
    struct seen_run *r = team_model_run(m, e->subject);

    if (!r)
        r = run_new(m, e, data);
    PROMISE(e, is_of_session(r, data), "it is another session's");
    PROMISE(e, run_is_live(r->status) && r->status != RUN_STOPPING, "it has ended");
    if (is_held(r)) {
        PROMISE(e, r->runner->removed || e->time_ms >= r->sign_ms + m->rules->lease_ms,
                "it is taken away before its lease has passed");
        r->session->held = NULL;
        r->attempt++;
    }
    r->status = RUN_PENDING;
    r->queued = json_bool_or(data, "queued", false);
    PROMISE(e, json_int_or(data, "attempt", 0) == r->attempt, "it has another attempt");
    PROMISE(e, r->attempt <= m->rules->claim_max, "it is given to too many runners");
}

static void run_claimed(struct team_model *m, const struct event *e, const struct json *data)
{
    struct seen_run *r = run_of(m, e);
    struct seen_runner *runner = team_model_runner(m, json_str(data, "runner_id"));
    bool again = r->status == RUN_CLAIMED && r->runner == runner;

    PROMISE(e, runner && !runner->removed, "it is claimed by who is not there");
    PROMISE(e, again || (r->status == RUN_PENDING && r->queued), "somebody has it already");
    PROMISE(e, !r->session->held || r->session->held == r, "its session is busy with another");
    r->status = RUN_CLAIMED;
    r->queued = false;
    r->runner = runner;
    r->session->held = r;
    r->fence++;
    r->sign_ms = e->time_ms;
    if (r->purpose == PURPOSE_WORK && r->attempt == 1)
        r->session->asked_seq = e->seq;
}

static void run_started(struct team_model *m, const struct event *e, const struct json *data)
{
    struct seen_run *r = run_of(m, e);

    (void)data;
    PROMISE(e, r->status == RUN_CLAIMED || (r->status == RUN_PENDING && r->fence),
            "it starts, and nobody has claimed it");
    PROMISE(e, !r->session->held || r->session->held == r, "its session is busy with another");
    r->status = RUN_RUNNING;
    r->began = true;
    r->session->held = r;
    r->sign_ms = e->time_ms;
    if (r->purpose != PURPOSE_STATE_UPDATE)
        r->session->work_seq = e->seq;
}

static void run_stopping(struct team_model *m, const struct event *e, const struct json *data)
{
    struct seen_run *r = run_of(m, e);

    (void)data;
    PROMISE(e, r->status == RUN_CLAIMED || r->status == RUN_RUNNING, "nobody has it");
    r->status = RUN_STOPPING;
}

static void run_finished(struct team_model *m, const struct event *e, const struct json *data)
{
    struct seen_run *r = run_of(m, e);

    PROMISE(e, is_of_session(r, data), "it is another session's");
    PROMISE(e, run_is_live(r->status), "it ends twice");
    r->status = (enum run_status)team_word(&run_words, json_str(data, "status"));
    PROMISE(e, !run_is_live(r->status), "it has not ended");
    r->session->live_runs--;
    if (r->session->held == r)
        r->session->held = NULL;
}

/* ---- callbacks ---- */

/* A turn of the parent's has begun that tells it; or it is attended, and was told by an answer. */
static void callback_delivered(struct team_model *m, const struct event *e, const struct json *data)
{
    struct seen_session *parent = session_of(m, e);
    struct seen_session *child = team_model_session(m, json_str(data, "child_id"));
    int64_t cycle = json_int_or(data, "cycle", 0);
    str run_id = json_str(data, "run_id");

    PROMISE(e, child && child->parent == parent, "a parent hears of a child that is not its own");
    PROMISE(e, cycle >= 1 && cycle <= child->cycle && child->cycles[cycle].settled,
            "a parent hears of a cycle that has not settled");
    PROMISE(e, child->cycles[cycle].owed, "a parent hears of what it did not ask to hear");
    PROMISE(e, !child->cycles[cycle].told, "a parent hears twice of one cycle of a child");
    child->cycles[cycle].told = true;
    m->told++;
    if (parent->attended && !run_id.len)
        return;
    struct seen_run *r = team_model_run(m, run_id);
    PROMISE(e, r && r->session == parent && r->purpose == PURPOSE_CALLBACK && r->began,
            "no turn of the parent's has begun that tells it");
}

/* ---- runners and states ---- */

static void runner_joined(struct team_model *m, const struct event *e, const struct json *data)
{
    struct seen_runner *r = team_model_runner(m, e->subject);

    (void)data;
    if (r) {
        PROMISE(e, !r->removed, "a runner that was removed is there again");
        return;
    }
    r = ARENA_NEW(m->arena, struct seen_runner);
    r->id = arena_copy(m->arena, e->subject);
    map_put(&m->by_id, r->id, r);
}

/* Who was only not heard of keeps its leases until they pass. */
static void runner_lost(struct team_model *m, const struct event *e, const struct json *data)
{
    (void)data;
    if (str_eq(e->actor, STR("operator")))
        team_model_runner(m, e->subject)->removed = true;
}

static void state_written(struct team_model *m, const struct event *e, const struct json *data)
{
    int64_t *version = map_get(&m->versions, e->subject);
    struct seen_session *s = e->session_id.len ? team_model_session(m, e->session_id) : NULL;

    (void)data;
    if (!version) {
        version = ARENA_NEW(m->arena, int64_t);
        map_put(&m->versions, arena_copy(m->arena, e->subject), version);
    }
    PROMISE(e, e->version == *version + 1, "versions of a state have a gap");
    *version = e->version;
    if (s)
        s->wrote_seq = e->seq;
}

/* ---- all of it ---- */

typedef void follow(struct team_model *m, const struct event *e, const struct json *data);

// clang-format off
static follow *const follows[EVENT_TYPE_COUNT] = {
    [EVENT_SESSION_CREATED]    = session_created,
    [EVENT_SESSION_UPDATED]    = session_updated,
    [EVENT_SESSION_BOUND]      = session_bound,
    [EVENT_SESSION_SETTLED]    = session_settled,
    [EVENT_SESSION_DELETED]    = session_deleted,
    [EVENT_RUN_ENQUEUED]       = run_enqueued,
    [EVENT_RUN_CLAIMED]        = run_claimed,
    [EVENT_RUN_STARTED]        = run_started,
    [EVENT_RUN_STOPPING]       = run_stopping,
    [EVENT_RUN_FINISHED]       = run_finished,
    [EVENT_CALLBACK_DELIVERED] = callback_delivered,
    [EVENT_RUNNER_JOINED]      = runner_joined,
    [EVENT_RUNNER_LOST]        = runner_lost,
    [EVENT_STATE_CREATED]      = state_written,
    [EVENT_STATE_UPDATED]      = state_written,
};
// clang-format on

void team_model_follow(struct team_model *m, const struct event *e)
{
    const struct json *data = NULL;

    PROMISE(e, e->seq == m->seq + 1, "an event is missing, or comes twice");
    PROMISE(e, e->time_ms >= m->time_ms, "time goes back");
    PROMISE(e, e->cause >= 0 && e->cause < e->seq, "what led to it comes after it");
    m->seq = e->seq;
    m->time_ms = e->time_ms;
    if (!follows[e->type])
        return;
    if (e->data.len)
        data = json_parsed(m->arena, e->data);
    follows[e->type](m, e, data);
}

void team_model_asked(struct team_model *m, str run_id, bool starts, bool calls_back)
{
    struct seen_run *r = team_model_run(m, run_id);
    struct seen_session *s = r->session;

    if (r->opens)
        s->calls_back = calls_back && s->parent;
    else
        s->calls_back |= calls_back && s->parent;
    if (starts)
        s->attended = false;
}

void team_model_restarted(struct team_model *m, int64_t now_ms)
{
    for (size_t i = 0; i < m->run_count; i++)
        if (is_held(m->runs[i]))
            m->runs[i]->sign_ms = now_ms;
}

bool team_model_busy(const struct team_model *m)
{
    for (size_t i = 0; i < m->session_count; i++)
        if (!m->sessions[i]->deleted && (!m->sessions[i]->settled || m->sessions[i]->live_runs))
            return true;
    return false;
}

static bool is_untold(const struct seen_session *s)
{
    for (int64_t c = 1; c <= s->cycle; c++)
        if (s->cycles[c].owed && !s->cycles[c].told)
            return true;
    return false;
}

/* Who has never had a turn has nobody in it to be told. */
static bool can_hear(const struct seen_session *s)
{
    return !s->deleted && (s->attended || s->known);
}

struct seen_session *team_model_untold(const struct team_model *m)
{
    for (size_t i = 0; i < m->session_count; i++)
        if (is_untold(m->sessions[i]) && can_hear(m->sessions[i]->parent))
            return m->sessions[i]->parent;
    return NULL;
}

void team_model_end(const struct team_model *m)
{
    struct seen_session *deaf = team_model_untold(m);

    for (size_t i = 0; i < m->session_count; i++) {
        const struct seen_session *s = m->sessions[i];
        if (!s->deleted && !s->settled)
            BROKEN(NULL, "session " STR_FMT " has not settled, whatever was waited for",
                   STR_ARG(s->name));
    }
    for (size_t i = 0; i < m->run_count; i++)
        if (run_is_live(m->runs[i]->status))
            BROKEN(NULL, "run " STR_FMT " has not ended, whatever was waited for",
                   STR_ARG(m->runs[i]->id));
    if (deaf)
        BROKEN(NULL, "session " STR_FMT " was not told of all its children", STR_ARG(deaf->name));
}
