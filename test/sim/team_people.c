/* team_people.c: the operator, and those who attend a session in a client of their own. */
#include "sim/team_private.h"

enum { NAMES_MAX = 6 }; /* of sessions that people start */

static bool may_start(const struct team *t)
{
    return t->names < NAMES_MAX;
}

/* ---- the operator ---- */

static const char *demand_any(struct team *t)
{
    static const char *const demands[] = { "",
                                           "",
                                           "",
                                           ",'demands':{'tags':['gpu']}",
                                           ",'demands':{'hostname':'one'}",
                                           ",'demands':{'tags':['nobody']}" };

    return demands[below(t, 6)];
}

static void state_create(struct team *t, const struct seen_session *root)
{
    struct command *c = team_call(t, &team_operator, "state.create",
                                  "{'schema_name':'%s','initial_data':{},'root_session':'" STR_FMT
                                  "'}",
                                  chance(t, 2) ? "always" : "missing", STR_ARG(root->name));

    CHECK(!c->error ==
          (!root->parent && str_eq(root->state_id, json_str(team_answer(t, c), "state_id"))));
}

/* A root, with a state more often than not. */
static void operator_starts(struct team *t)
{
    if (!may_start(t))
        return;
    struct command *c =
        team_ask(t, &team_operator, true, team_name_new(t), "async_poll", demand_any(t));
    if (!c->error && !chance(t, 6))
        state_create(t, team_model_run(t->model, json_str(team_answer(t, c), "run_id"))->session);
}

/* A child of somebody, who may not know of it. */
static void operator_starts_below(struct team *t)
{
    struct seen_session *s = team_any(t);

    if (!s || !may_start(t))
        return;
    str below_it = arena_printf(t->arena, ",'parent_session_name':'" STR_FMT "'", STR_ARG(s->name));
    team_ask(t, &team_operator, true, team_name_new(t),
             chance(t, 3) ? "async_poll" : "async_callback", below_it.at);
}

void team_people_begin(struct team *t)
{
    operator_starts(t);
    operator_starts_below(t);
}

static void operator_resumes(struct team *t)
{
    struct seen_session *s = team_any(t);

    if (s)
        team_ask(t, &team_operator, false, s->name, chance(t, 2) ? "async_poll" : "async_callback",
                 "");
}

static void operator_stops(struct team *t)
{
    struct seen_session *s = team_any(t);

    if (s)
        CHECK_OK(team_call(t, &team_operator, "session.stop", "{'session_id':'" STR_FMT "'}",
                           STR_ARG(s->id))
                     ->error);
}

static void operator_stops_run(struct team *t)
{
    struct team_model *m = t->model;
    struct seen_run *r = m->run_count ? m->runs[below(t, (uint32_t)m->run_count)] : NULL;

    if (r && !r->session->deleted)
        CHECK_OK(
            team_call(t, &team_operator, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(r->id))
                ->error);
}

static void operator_deletes(struct team *t)
{
    struct seen_session *s = team_any(t);

    if (s)
        team_call(t, &team_operator, "session.delete", "{'session_id':'" STR_FMT "'%s}",
                  STR_ARG(s->id), chance(t, 4) ? ",'with_state':true" : "");
}

static void operator_removes_runner(struct team *t)
{
    struct team_runner *r = &t->runners[below(t, TEAM_RUNNERS)];

    if (r->id.len)
        team_call(t, &team_operator, "runner.remove", "{'runner_id':'" STR_FMT "'}",
                  STR_ARG(r->id));
}

/* ---- those who attend ---- */

static struct seen_session *attended_any(struct team *t)
{
    for (int i = 0; i < 4; i++) {
        struct seen_session *s = team_any(t);
        if (s && s->attended)
            return s;
    }
    return NULL;
}

/* A root, or below another session, as agents inside of a client are. */
static void person_comes(struct team *t)
{
    struct seen_session *above = chance(t, 2) ? team_any(t) : NULL;
    str parent =
        above ? arena_printf(t->arena, ",'parent_session_name':'" STR_FMT "'", STR_ARG(above->name))
              : STR("");

    if (!may_start(t))
        return;
    str name = team_name_new(t);
    struct command *c = team_call(t, &team_operator, "session.create",
                                  "{'session_name':'" STR_FMT "'" STR_FMT "}", STR_ARG(name),
                                  STR_ARG(parent));
    if (c->error)
        return;
    struct seen_session *s =
        team_model_session(t->model, json_str(team_answer(t, c), "session_id"));
    s->attended = true;
    s->calls_back = above != NULL;
    if (!above && chance(t, 2))
        state_create(t, s);
}

static struct command *person_says(struct team *t, const struct seen_session *s, const char *what,
                                   const char *more)
{
    struct command *c = team_call(t, &team_operator, "session.event",
                                  "{'session_id':'" STR_FMT "','event_type':'%s'%s}",
                                  STR_ARG(s->id), what, more);

    CHECK_OK(c->error);
    return c;
}

static void person_writes(struct team *t, const struct seen_session *s)
{
    struct actor who = {
        .kind = ACTOR_SESSION, .name = s->name, .session_id = s->id, .state_id = s->state_id
    };

    if (s->state_id.len)
        CHECK_OK(team_call(t, &who, "state.patch",
                           "{'state_id':'" STR_FMT "','merge':{'" STR_FMT "':%d}}",
                           STR_ARG(s->state_id), STR_ARG(s->name), ++t->words)
                     ->error);
}

static void person_goes_on(struct team *t)
{
    struct seen_session *s = attended_any(t);

    if (!s)
        return;
    switch (below(t, 4)) {
    case 0: person_says(t, s, "message", ",'content':'hello'"); break;
    case 1: person_writes(t, s); break;
    case 2: person_says(t, s, "session_stop", ""); break;
    default: person_says(t, s, "session_stop", ",'error':'the client broke'"); break;
    }
}

/* A session that was made by hand is run from here after all. */
static void operator_adopts(struct team *t)
{
    struct seen_session *s = attended_any(t);

    if (s)
        team_ask(t, &team_operator, true, s->name, chance(t, 2) ? "async_poll" : "async_callback",
                 "");
}

void team_people_step(struct team *t)
{
    static void (*const steps[])(struct team *) = {
        operator_starts,  operator_starts,  operator_starts,         operator_starts_below,
        operator_resumes, operator_resumes, operator_stops,          operator_stops_run,
        operator_deletes, person_comes,     person_goes_on,          person_goes_on,
        person_goes_on,   operator_adopts,  operator_removes_runner,
    };

    steps[below(t, sizeof steps / sizeof *steps)](t);
}

/* ---- when all is calm ---- */

/* It says something, so it hears what there is; then it stops, and first does what it is asked. */
static void person_ends(struct team *t, const struct seen_session *s)
{
    person_says(t, s, "message", "");
    for (int i = 0; i < 8 && !s->settled; i++) {
        struct command *c = person_says(t, s, "session_stop", "");
        if (!json_get(team_answer(t, c), "decision"))
            return;
        person_writes(t, s);
    }
}

void team_people_end(struct team *t)
{
    struct seen_session *deaf = team_model_untold(t->model);

    for (size_t i = 0; i < t->model->session_count; i++) {
        struct seen_session *s = t->model->sessions[i];
        if (s->attended && !s->deleted && (!s->settled || s == deaf))
            person_ends(t, s);
    }
    if (deaf && !deaf->attended && deaf->settled)
        team_ask(t, &team_operator, false, deaf->name, "async_poll", "");
}
