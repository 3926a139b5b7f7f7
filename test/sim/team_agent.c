/* team_agent.c: machines that come and go, and the agents that they run. */
#include "sim/team_private.h"

enum { NAMES_MAX = 12 }; /* of sessions that agents start */

/* ---- what is reported of a turn ---- */

enum expected { GRANTED, NOT_THERE, NOT_THEIRS };

/* A run is its holder's, and of who lost it only a completion counts, while nobody else has it.
 * What has ended stays as it is. */
static enum expected report_expected(const struct team_turn *turn, int end)
{
    const struct seen_run *r = turn->run;
    const struct seen_runner *now = r->runner;

    if (r->session->deleted)
        return NOT_THERE;
    if (turn->fence != r->fence || !str_eq(turn->runner_id, now->id))
        return NOT_THEIRS;
    if (r->status == RUN_PENDING)
        return end == RUN_COMPLETED ? GRANTED : NOT_THEIRS;
    if (run_is_live(r->status) || end < 0)
        return GRANTED;
    return (int)r->status == end || r->status == RUN_STOPPED ? GRANTED : NOT_THEIRS;
}

static struct actor runner_actor(const struct team_runner *r)
{
    return (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = r->token };
}

static bool is_removed(struct team *t, str runner_id)
{
    return team_model_runner(t->model, runner_id)->removed;
}

/* `end`: how the run has ended, or −1. Facts are JSON after a comma. */
static struct command *report(struct team *t, struct team_turn *turn, const char *what, int end,
                              const char *facts)
{
    enum expected expected = report_expected(turn, end);
    bool removed = is_removed(t, turn->runner_id);
    bool late = turn->run->status == RUN_PENDING, live = run_is_live(turn->run->status);
    struct actor who = runner_actor(turn->runner);
    struct command *c =
        team_call(t, &who, arena_printf(t->arena, "runner.%s", what).at,
                  "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':%lld%s}",
                  STR_ARG(turn->runner_id), STR_ARG(turn->run->id), (long long)turn->fence, facts);

    if (removed || expected == NOT_THERE)
        CHECK_ERR(c->error, ERR_NOT_FOUND);
    else if (expected == NOT_THEIRS)
        CHECK_ERR(c->error, ERR_CONFLICT);
    else
        CHECK_OK(c->error);
    t->totals->refused += c->error != NULL;
    if (c->error)
        return c;
    t->totals->late += late;
    if (live && strcmp(what, "progress") == 0)
        turn->run->sign_ms = t->now_ms;
    if (live && strstr(facts, "client_id"))
        turn->run->session->known = true;
    turn->stop |= json_bool_or(team_answer(t, c), "stop", false);
    return c;
}

static void report_end(struct team *t, struct team_turn *turn, enum run_status end)
{
    static const char *const names[] = { [RUN_COMPLETED] = "completed",
                                         [RUN_FAILED] = "failed",
                                         [RUN_TIMED_OUT] = "timed_out",
                                         [RUN_STOPPED] = "stopped" };

    report(t, turn, names[end], (int)end,
           t->calm || !chance(t, 6) ? ",'result':'done','client_id':'c'" : ",'result':'done'");
    turn->over = true;
}

static void report_start(struct team *t, struct team_turn *turn)
{
    struct command *c =
        report(t, turn, "started", -1, t->calm || chance(t, 2) ? ",'client_id':'c'" : "");

    turn->started = true;
    turn->over |= c->error != NULL;
}

/* ---- what an agent does with its token ---- */

/* A token is good exactly as long as its turn is. */
static bool token_is_good(const struct team_turn *turn)
{
    const struct seen_run *r = turn->run;

    return turn->fence == r->fence && run_is_live(r->status) && !r->session->deleted;
}

/* The agent as its token has it; NULL: it has none any more. */
static const struct actor *agent_of(struct team *t, const struct team_turn *turn)
{
    bool good = token_is_good(turn);
    struct actor *who = ARENA_NEW(t->arena, struct actor);
    struct grant *grant;
    err e = op_admit(&t->w->engine, t->arena, turn->token, &grant);

    if (!good) {
        CHECK_ERR(e, ERR_UNAUTHENTICATED);
        return NULL;
    }
    CHECK_OK(e);
    *who = *grant->actor;
    who->name = arena_copy(t->arena, who->name);
    who->token_id = arena_copy(t->arena, who->token_id);
    who->session_id = arena_copy(t->arena, who->session_id);
    who->run_id = arena_copy(t->arena, who->run_id);
    who->state_id = arena_copy(t->arena, who->state_id);
    grant_unref(grant);
    CHECK(str_eq(who->session_id, turn->run->session->id));
    CHECK(str_eq(who->state_id, turn->run->session->state_id));
    return who;
}

static void agent_write(struct team *t, struct team_turn *turn)
{
    const struct actor *who = agent_of(t, turn);
    const struct seen_session *s = turn->run->session;

    if (!who || !s->state_id.len)
        return;
    CHECK_OK(team_call(t, who, "state.patch",
                       "{'state_id':'" STR_FMT "','operations':[{'op':'add','path':'/" STR_FMT
                       "','value':%d}]}",
                       STR_ARG(s->state_id), STR_ARG(s->name), ++t->words)
                 ->error);
}

static void agent_create_state(struct team *t, struct team_turn *turn)
{
    const struct actor *who = agent_of(t, turn);
    const struct seen_session *s = turn->run->session;

    if (!who)
        return;
    bool may = !s->parent && !s->state_id.len;
    struct command *c = team_call(t, who, "state.create", "{'schema_name':'%s','initial_data':{}}",
                                  chance(t, 2) ? "always" : "missing");
    CHECK(may == !c->error);
}

static const char *mode_any(struct team *t)
{
    static const char *const modes[] = { "async_callback", "async_callback", "async_callback",
                                         "async_poll", "sync" };

    return modes[below(t, 5)];
}

static void agent_spawn(struct team *t, struct team_turn *turn)
{
    const struct actor *who = t->names < NAMES_MAX ? agent_of(t, turn) : NULL;

    if (who)
        team_ask(t, who, true, team_name_new(t), mode_any(t), "");
}

static void agent_resume(struct team *t, struct team_turn *turn)
{
    struct seen_session *s = team_any(t);

    if (!s || s->parent != turn->run->session)
        return;
    const struct actor *who = agent_of(t, turn);
    if (who)
        team_ask(t, who, false, s->name, mode_any(t), "");
}

/* It says that it stops, and may be told that it must not yet. */
static void agent_stop(struct team *t, struct team_turn *turn)
{
    const struct actor *who = agent_of(t, turn);

    if (!who)
        return;
    struct command *c = team_call(t, who, "session.event",
                                  "{'session_id':'" STR_FMT "','event_type':'session_stop'}",
                                  STR_ARG(turn->run->session->id));
    if (json_get(team_answer(t, c), "decision") && chance(t, 2))
        agent_write(t, turn);
}

static void agent_progress(struct team *t, struct team_turn *turn)
{
    turn->over |= report(t, turn, "progress", -1,
                         ",'heard':'busy','output':[{'stream':'stderr','text':'some words\\n'}]")
                      ->error != NULL;
}

static void agent_stall(struct team *t, struct team_turn *turn)
{
    turn->mute = chance(t, 2);
}

static void agent_complete(struct team *t, struct team_turn *turn)
{
    report_end(t, turn, RUN_COMPLETED);
}

static void agent_fail(struct team *t, struct team_turn *turn)
{
    report_end(t, turn, chance(t, 3) ? RUN_TIMED_OUT : RUN_FAILED);
}

void team_turn_step(struct team *t)
{
    static void (*const steps[])(struct team * t, struct team_turn * turn) = {
        agent_write,    agent_write,    agent_spawn,    agent_spawn,        agent_resume,
        agent_stop,     agent_progress, agent_stall,    agent_create_state, agent_complete,
        agent_complete, agent_complete, agent_complete, agent_complete,     agent_fail,
    };
    size_t from = t->turn_count ? below(t, (uint32_t)t->turn_count) : 0;
    struct team_turn *turn = NULL;

    for (size_t i = 0; i < t->turn_count && !turn; i++) {
        struct team_turn *any = &t->turns[(from + i) % t->turn_count];
        if (!any->over && !any->mute)
            turn = any;
    }
    if (!turn)
        team_people_step(t);
    else if (turn->stop && chance(t, 2))
        report_end(t, turn, RUN_STOPPED);
    else if (!turn->started && !chance(t, 10))
        report_start(t, turn);
    else
        steps[below(t, sizeof steps / sizeof *steps)](t, turn);
}

/* Who has been given up, or has ended, is heard once more. */
void team_ghost_step(struct team *t)
{
    struct team_turn *ghost = t->turn_count ? &t->turns[below(t, (uint32_t)t->turn_count)] : NULL;

    if (!ghost)
        return;
    switch (below(t, 6)) {
    case 0: report_end(t, ghost, RUN_FAILED); break;
    case 1: report(t, ghost, "started", -1, ""); break;
    case 2: report(t, ghost, "progress", -1, ""); break;
    case 3: agent_write(t, ghost); break;
    default: report_end(t, ghost, RUN_COMPLETED);
    }
}

/* ---- runners ---- */

static void runner_register(struct team *t, struct team_runner *r)
{
    struct actor who = runner_actor(r);
    const struct json *answer =
        team_answer(t, team_call(t, &who, "runner.register", "{'hostname':'%s','name':'%s-%d',%s}",
                                 r->host, r->host, r->names, r->about));

    r->id = json_str(answer, "runner_id");
    r->alive = true;
}

void team_runners_init(struct team *t)
{
    static const struct team_runner machines[TEAM_RUNNERS] = {
        { .host = "one", .about = "'tags':[],'capacity':2" },
        { .host = "two", .about = "'tags':['gpu'],'capacity':1" },
        { .host = "two", .about = "'tags':['gpu','big'],'capacity':3" },
    };

    for (int i = 0; i < TEAM_RUNNERS; i++) {
        t->runners[i] = machines[i];
        t->runners[i].token = arena_printf(t->arena, "rn_%d", i);
        runner_register(t, &t->runners[i]);
    }
}

/* Those of a runner that are not over; of those it knows that it has them. */
static str known_list(struct team *t, const struct team_runner *r)
{
    struct buf list = buf_in(t->arena);

    for (size_t i = 0; i < t->turn_count; i++) {
        const struct team_turn *turn = &t->turns[i];
        if (turn->runner == r && !turn->over && !turn->mute)
            buf_printf(&list, "%s'" STR_FMT "'", list.len ? "," : "", STR_ARG(turn->run->id));
    }
    return buf_str(&list);
}

static void turn_new(struct team *t, struct team_runner *r, const struct json *run)
{
    CHECK(t->turn_count < TEAM_TURNS_MAX);
    struct team_turn *turn = &t->turns[t->turn_count++];
    *turn = (struct team_turn){ .run = team_model_run(t->model, json_str(run, "run_id")),
                                .runner = r,
                                .runner_id = r->id,
                                .token = json_str(run, "token"),
                                .fence = json_int_or(run, "fence", 0) };
    CHECK_INT(turn->fence, turn->run->fence);
    CHECK(turn->run->session->held == turn->run);
    t->totals->prompts += turn->run->purpose == PURPOSE_STATE_UPDATE;
}

static void stops_hear(struct team *t, struct team_runner *r, const struct json *ids)
{
    for (size_t i = 0; i < t->turn_count; i++)
        for (uint32_t k = 0; k < ids->len; k++)
            if (t->turns[i].runner == r && str_eq(t->turns[i].run->id, json_text(&ids->items[k])))
                t->turns[i].stop = true;
}

/* Whether there was a turn for it. */
static bool runner_claim(struct team *t, struct team_runner *r, bool forgets)
{
    struct actor who = runner_actor(r);
    str known = forgets ? STR("") : known_list(t, r);
    struct command *c = team_call(t, &who, "runner.claim",
                                  "{'runner_id':'" STR_FMT "','known':[" STR_FMT "]}",
                                  STR_ARG(r->id), STR_ARG(known));

    if (c->error) { /* there was no answer */
        CHECK_ERR(c->error, ERR_UNAVAILABLE);
        return true;
    }
    if (c->answer.waits || c->answer.empty)
        return false;
    const struct json *answer = team_answer(t, c), *run = json_get(answer, "run");
    if (run)
        turn_new(t, r, run);
    if (json_get(answer, "stop_runs"))
        stops_hear(t, r, json_get(answer, "stop_runs"));
    CHECK(json_bool_or(answer, "deregistered", false) == is_removed(t, r->id));
    if (is_removed(t, r->id))
        r->id = STR("");
    return run != NULL;
}

static void runner_beat(struct team *t, struct team_runner *r)
{
    struct actor who = runner_actor(r);
    bool removed = is_removed(t, r->id);
    struct command *c = team_call(t, &who, "runner.heartbeat",
                                  "{'runner_id':'" STR_FMT "','runs':[" STR_FMT "]}",
                                  STR_ARG(r->id), STR_ARG(known_list(t, r)));

    if (removed) {
        CHECK_ERR(c->error, ERR_NOT_FOUND);
        r->id = STR("");
        return;
    }
    stops_hear(t, r, json_get(team_answer(t, c), "stop_runs"));
    for (size_t i = 0; i < t->turn_count; i++)
        if (t->turns[i].runner == r && !t->turns[i].over && !t->turns[i].mute)
            t->turns[i].run->sign_ms = t->now_ms;
}

static bool is_queued(const struct team *t)
{
    for (size_t i = 0; i < t->model->run_count; i++)
        if (t->model->runs[i]->queued)
            return true;
    return false;
}

/* Its agents die with it, but may be heard of late. */
static void runner_die(struct team *t, struct team_runner *r)
{
    for (size_t i = 0; i < t->turn_count; i++)
        t->turns[i].mute |= t->turns[i].runner == r;
    r->alive = false;
}

/* The same as before, or somebody new; it may find that it was away only for a moment. */
static void runner_come(struct team *t, struct team_runner *r)
{
    r->names += chance(t, 3);
    runner_register(t, r);
}

void team_runner_step(struct team *t)
{
    struct team_runner *r = &t->runners[below(t, TEAM_RUNNERS)];

    if (!r->alive || !r->id.len)
        runner_come(t, r);
    else if (chance(t, 12))
        runner_die(t, r);
    else if (chance(t, 6))
        runner_beat(t, r);
    else if (is_queued(t) || chance(t, 12))
        runner_claim(t, r, chance(t, 6));
    else
        team_turn_step(t);
}

/* ---- when all is calm ---- */

static void turn_finish(struct team *t, struct team_turn *turn)
{
    if (turn->stop) {
        report_end(t, turn, RUN_STOPPED);
        return;
    }
    if (!turn->started)
        report_start(t, turn);
    if (!turn->over && turn->run->session->state_id.len && token_is_good(turn))
        agent_write(t, turn);
    report_end(t, turn, RUN_COMPLETED);
}

bool team_work(struct team *t)
{
    bool worked = false;

    for (int i = 0; i < TEAM_RUNNERS; i++) {
        struct team_runner *r = &t->runners[i];
        if (!r->alive || !r->id.len)
            runner_register(t, r);
        worked |= is_queued(t) && runner_claim(t, r, true);
    }
    for (size_t i = 0; i < t->turn_count; i++)
        if (!t->turns[i].over && (!t->turns[i].mute || t->turns[i].stop)) {
            turn_finish(t, &t->turns[i]);
            worked = true;
        }
    return worked;
}
