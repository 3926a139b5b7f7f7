/* run_request.c: asking a session for a turn: the first one, or one more.
 *
 * Whoever asks, a caller of an operation or a rule, gets the same answer. */
#include <assert.h>

#include "core/agent.h"
#include "core/run.h"

static str session_named(const struct run_request *q)
{
    return q->session_id.len ? q->session_id : q->session_name;
}

/* Who gives both means one session. */
static err session_is_named(struct tx *tx, const struct run_request *q, const struct session *s)
{
    if (!q->session_name.len || str_eq(q->session_name, s->name) || str_eq(q->session_name, s->id))
        return NULL;
    return err_new(tx->arena, ERR_INVALID,
                   "\"session_id\" is that of session " STR_FMT
                   ", and \"session_name\" is \"" STR_FMT "\": give one of them",
                   STR_ARG(s->name), STR_ARG(q->session_name));
}

/* Where a new one will work: as it is asked for, else as whoever it is below. */
static err directory_of(struct tx *tx, const struct run_request *q, str *out)
{
    bool own = !q->parent.len && tx->actor->kind == ACTOR_SESSION, found = false;
    str parent = own ? tx->actor->session_id : q->parent;
    struct session s;

    *out = q->project_dir;
    if (!out->len && parent.len)
        TRY(session_find(tx, parent, &s, &found));
    if (found)
        *out = s.project_dir;
    return NULL;
}

static err session_start_new(struct tx *tx, const struct run_request *q, struct session *out)
{
    struct session_new n = {
        .id = q->session_id,
        .name = q->session_name,
        .parent = q->parent,
        .agent = q->agent,
        .project_dir = q->project_dir,
        .project = q->project,
        .pointers = q->pointers,
        .calls_back = q->run.mode == MODE_CALLBACK,
    };
    str dir;

    if (!n.name.len)
        return err_new(tx->arena, ERR_INVALID,
                       "expected a \"session_name\" for the session that is to be started");
    TRY(directory_of(tx, q, &dir));
    TRY(entry_resolve(tx, n.agent, dir, q->profile, &n.profile));
    return session_create(tx, &n, out);
}

/* Its agent, where one is named; the role that it has already stays with the same one. */
static err agent_give(struct tx *tx, struct session *s, str agent)
{
    str role;

    if (!agent.len)
        return NULL;
    TRY(session_role(tx, agent, &role));
    if (role.len || !str_eq(agent, s->agent))
        s->role = role;
    s->agent = agent;
    return NULL;
}

/* Why one that has begun is not started, and what to do instead. */
static err started_already(struct tx *tx, const struct session *s)
{
    str name = s->name, status = team_name(&session_words, (int)s->status);

    if (tx->actor->kind == ACTOR_SESSION)
        return err_new(tx->arena, ERR_CONFLICT,
                       "session " STR_FMT " has been started already and is " STR_FMT
                       ": ask it for more with resume_agent_session (a run of the type "
                       "resume_session), or choose another name",
                       STR_ARG(name), STR_ARG(status));
    return err_new(tx->arena, ERR_CONFLICT,
                   "session " STR_FMT " has been started already and is " STR_FMT
                   ": go on with it (`baton session resume " STR_FMT "`), choose another name, or "
                   "%s it (`baton session delete " STR_FMT "`) to begin anew",
                   STR_ARG(name), STR_ARG(status), STR_ARG(name),
                   session_is_live(s->status) ? "stop and delete" : "delete", STR_ARG(name));
}

/* Sections are given to a session when it is made. */
static err sections_check(struct tx *tx, const struct run_request *q, const struct session *s)
{
    if (!q->pointers || str_eq(json_printed(tx->arena, q->pointers), s->pointers))
        return NULL;
    return err_new(tx->arena, ERR_CONFLICT,
                   "session " STR_FMT " is registered, and may write %s" STR_FMT
                   ": leave \"pointers\" out, or delete it to begin anew",
                   STR_ARG(s->name), s->pointers.len ? "" : "everywhere", STR_ARG(s->pointers));
}

/* A session that is there and has had no turn: made by hand, or no runner could take its first. */
static err session_adopt(struct tx *tx, const struct run_request *q, struct session *s)
{
    bool begun, calls_back = q->run.mode == MODE_CALLBACK && s->parent_id.len;

    TRY(session_is_named(tx, q, s));
    TRY(run_begun(tx, s->id, &begun));
    if (begun || (s->attended && s->status != SESSION_PENDING))
        return started_already(tx, s);
    TRY(sections_check(tx, q, s));
    str profile = q->profile.len ? q->profile : s->profile;
    TRY(agent_give(tx, s, q->agent));
    TRY(entry_resolve(tx, s->agent, s->project_dir, profile, &s->profile));
    s->attended = false;
    if (!s->settled)
        s->calls_back |= calls_back; /* a parent that waits for it already still does */
    return session_reopen(tx, s, calls_back);
}

static err session_for_start(struct tx *tx, const struct run_request *q, struct session *s)
{
    bool found, reached = false;

    TRY(session_find(tx, session_named(q), s, &found));
    if (found)
        TRY(session_in_reach(tx, s, &reached));
    /* One that is there and out of reach makes its name taken, and nothing more is told. */
    return reached ? session_adopt(tx, q, s) : session_start_new(tx, q, s);
}

static err session_for_resume(struct tx *tx, const struct run_request *q, struct session *s)
{
    bool begun;

    TRY(session_get(tx, session_named(q), s));
    TRY(session_is_named(tx, q, s));
    TRY(run_begun(tx, s->id, &begun));
    if (str_eq(s->id, tx->actor->session_id))
        return err_new(tx->arena, ERR_FORBIDDEN,
                       "a session cannot ask itself for another turn: it is having one");
    if (s->attended)
        return err_new(tx->arena, ERR_CONFLICT,
                       "session " STR_FMT " was not started from here, so no runner can resume it: "
                       "go on in the client that it runs in",
                       STR_ARG(s->name));
    if (!begun && !s->client_id.len)
        return err_new(tx->arena, ERR_CONFLICT,
                       "session " STR_FMT " has had no turn yet: start it with "
                       "start_agent_session (a run of the type start_session)",
                       STR_ARG(s->name));
    bool calls_back = q->run.mode == MODE_CALLBACK && s->parent_id.len;
    if (s->settled)
        return session_reopen(tx, s, calls_back);
    if (!calls_back || s->calls_back)
        return NULL;
    s->calls_back = true; /* whoever asks now waits for it */
    return session_store(tx, s);
}

err run_request(struct tx *tx, const struct run_request *q, struct session *s, struct run *out)
{
    TRY(q->run.type == RUN_TYPE_START ? session_for_start(tx, q, s) : session_for_resume(tx, q, s));
    assert(s->id.len > 0 && !s->settled);
    return run_create(tx, s, &q->run, out);
}
