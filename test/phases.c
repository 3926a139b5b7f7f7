/* phases.c: a team at work, for tests of how cycles of sessions end. */
#include "phases.h"

#include <stdio.h>

#include "sim/vfs.h"

static const struct actor the_operator = { .kind = ACTOR_OPERATOR, .name = STR("operator") };

static void team_open(struct team *t)
{
    CHECK_OK(world_open("two.db", vfs_name(t->disk), &t->w));
    t->w->engine.team = &t->rules;
}

/* As after a crash: what was committed is there, and nothing else. */
static void team_restart(struct team *t)
{
    struct world old = *t->w;

    world_close(t->w);
    team_open(t);
    t->w->now_ms = old.now_ms;
    t->w->ids = old.ids;
    t->w->actor = old.actor;
    t->restarted = true;
}

/* Asks again, with the same key, for as long as it is the store that fails. */
static struct command *perform(struct team *t, const char *op, const char *input)
{
    str key = t->faulty ? arena_printf(check_arena(), "key-%d", ++t->keys) : STR("");

    for (int i = 0;; i++) {
        struct command *c = world_call(t->w, op, input, key.at);
        bool lost = t->w->engine.stopped;
        if (lost)
            team_restart(t);
        if (!lost && !(c->error && t->faulty && c->error->kind > ERR_LIMIT))
            return c;
        CHECK(i < 3);
    }
}

struct command *call(struct team *t, const char *op, const char *format, ...)
{
    struct buf input = buf_in(check_arena());
    va_list args;

    va_start(args, format);
    buf_vprintf(&input, format, args);
    va_end(args);
    return perform(t, op, buf_str(&input).at);
}

const struct json *answer_of(const struct command *c)
{
    CHECK_OK(c->error);
    return json_parsed(check_arena(), c->answer.text);
}

/* ---- who speaks ---- */

void as_operator(struct team *t)
{
    t->w->actor = the_operator;
}

void as_runner(struct team *t)
{
    t->w->actor =
        (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = STR("rn_1") };
}

const struct row *row_by(struct team *t, const char *text, str name)
{
    struct fault fault = t->w->fault;
    struct store_node node;
    const struct row *row;

    t->w->fault.kind = FAULT_NONE;
    CHECK_OK(store_begin(t->w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_one_(t->w->engine.sql, &row, text, ARGS(TEXT(name))));
    store_rollback(t->w->engine.sql);
    t->w->fault = fault;
    CHECK(row);
    return row;
}

const struct row *row_of(struct team *t, const char *text, const char *name)
{
    return row_by(t, text, str_from(name));
}

void as_session(struct team *t, const char *name)
{
    str id = row_str(row_of(t, "SELECT session_id FROM session WHERE name = $1", name), 0);

    t->w->actor = (struct actor){ .kind = ACTOR_SESSION,
                                  .name = str_from(name),
                                  .token_id = STR("ss_1"),
                                  .session_id = id,
                                  .state_id = t->state };
}

/* ---- what the runner does ---- */

void runner_comes(struct team *t)
{
    as_runner(t);
    t->runner = json_str(answer_of(call(t, "runner.register",
                                        "{'hostname':'here','tags':[],'capacity':10}")),
                         "runner_id");
    as_operator(t);
}

/* Claims what is next; false when there is nothing. */
static bool claimed(struct team *t, str *session, str *purpose)
{
    as_runner(t);
    struct command *c = call(t, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(t->runner));
    as_operator(t);
    CHECK_OK(c->error);
    if (c->answer.waits || c->answer.empty)
        return false;
    const struct json *run = json_get(answer_of(c), "run");
    CHECK(run);
    t->run = json_str(run, "run_id");
    t->prompt = json_str(run, "prompt");
    t->fence = json_int_or(run, "fence", 0);
    *session = json_str(run, "session_name");
    *purpose = json_str(run, "purpose");
    return true;
}

void claim(struct team *t, const char *session, const char *purpose)
{
    str found, what;

    if (!claimed(t, &found, &what))
        check_fail(__FILE__, __LINE__, "there is no run for %s (%s)", session, purpose);
    CHECK_STR(found, session);
    CHECK_STR(what, purpose);
}

void claim_none(struct team *t)
{
    str found, what;

    if (claimed(t, &found, &what))
        check_fail(__FILE__, __LINE__, "there is a run of " STR_FMT " (" STR_FMT ")",
                   STR_ARG(found), STR_ARG(what));
}

struct command *report(struct team *t, const char *what, const char *facts)
{
    as_runner(t);
    struct command *c = call(t, what,
                             "{'run_id':'" STR_FMT "','runner_id':'" STR_FMT "','fence':%lld%s}",
                             STR_ARG(t->run), STR_ARG(t->runner), (long long)t->fence, facts);
    as_operator(t);
    return c;
}

void begin(struct team *t, const char *session, const char *purpose)
{
    claim(t, session, purpose);
    CHECK_OK(report(t, "runner.started", "")->error);
}

void done(struct team *t)
{
    CHECK_OK(report(t, "runner.completed", ",'result':'done','client_id':'c-1'")->error);
}

void failed(struct team *t)
{
    CHECK_OK(report(t, "runner.failed", ",'error':'it broke','client_id':'c-1'")->error);
}

void turn(struct team *t, const char *session, const char *purpose)
{
    begin(t, session, purpose);
    done(t);
}

void turn_and_write(struct team *t, const char *session, const char *purpose)
{
    begin(t, session, purpose);
    wrote(t, session);
    done(t);
}

void hold_again(struct team *t, const struct team *before)
{
    t->run = before->run;
    t->fence = before->fence;
}

/* ---- what sessions do ---- */

struct command *write_by(struct team *t, const char *name)
{
    as_session(t, name);
    struct command *c = call(t, "state.patch",
                             "{'state_id':'" STR_FMT "','operations':[{'op':'add','path':'/%s',"
                             "'value':'done %d'}]}",
                             STR_ARG(t->state), name, ++t->writes);
    as_operator(t);
    return c;
}

void wrote(struct team *t, const char *name)
{
    CHECK_OK(write_by(t, name)->error);
}

void start_as(struct team *t, const char *parent, const char *name, const char *mode)
{
    as_session(t, parent);
    CHECK_OK(call(t, "run.create",
                  "{'type':'start_session','session_name':'%s','prompt':'go',"
                  "'execution_mode':'%s'}",
                  name, mode)
                 ->error);
    as_operator(t);
}

void start(struct team *t, const char *parent, const char *name)
{
    start_as(t, parent, name, "async_callback");
}

void resume(struct team *t, const char *parent, const char *name)
{
    as_session(t, parent);
    CHECK_OK(
        call(t, "run.create", "{'type':'resume_session','session_name':'%s','prompt':'more'}", name)
            ->error);
    as_operator(t);
}

/* ---- time ---- */

void after_ms(struct team *t, int64_t ms)
{
    bool more = true;

    t->w->now_ms += ms;
    t->w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    for (int i = 0; more; i++) {
        CHECK(i < 1000);
        more = json_bool_or(answer_of(perform(t, "system.tick", "{}")), "more", false);
    }
    as_operator(t);
}

void next_attempt(struct team *t)
{
    after_ms(t, t->rules.update_delay_ms);
}

/* ---- what is seen ---- */

void is(struct team *t, const char *name, const char *expected)
{
    const struct row *r = row_of(t,
                                 "SELECT status, update_status, update_attempts, cycle, settled"
                                 " FROM session WHERE name = $1",
                                 name);
    str update = row_str(r, 1);
    str found = arena_printf(check_arena(), STR_FMT " " STR_FMT " %lld %lld%s",
                             STR_ARG(row_str(r, 0)), STR_ARG(update.len ? update : STR("-")),
                             (long long)row_int(r, 2), (long long)row_int(r, 3),
                             row_int(r, 4) ? "!" : "");

    check_str(__FILE__, __LINE__, name, found, expected);
}

void heard(struct team *t, const char *parent, int waiting, int in_flight, int delivered)
{
    static const char text[] =
        "SELECT sum(CASE WHEN c.status = 'waiting' THEN 1 ELSE 0 END),"
        " sum(CASE WHEN c.status = 'in_flight' THEN 1 ELSE 0 END),"
        " sum(CASE WHEN c.status = 'delivered' THEN 1 ELSE 0 END)"
        " FROM callback c JOIN session s ON s.session_id = c.parent_id WHERE s.name = $1";
    const struct row *r = row_of(t, text, parent);

    CHECK_INT(row_int(r, 0), waiting);
    CHECK_INT(row_int(r, 1), in_flight);
    CHECK_INT(row_int(r, 2), delivered);
}

str error_of(struct team *t, const char *name)
{
    return row_str(row_of(t, "SELECT error FROM session WHERE name = $1", name), 0);
}

void text_is(str text, const char *name)
{
    const char *path =
        check_source(arena_printf(check_arena(), "test/cases/prompts/%s.md", name).at);

    if (getenv("BATON_WRITE_CASES"))
        check_write(path, text);
    CHECK_STR(text, check_read(path).at);
}

/* ---- teams ---- */

struct team *team_bare(void)
{
    struct team *t = ARENA_NEW(check_arena(), struct team);

    t->disk = vfs_new(1, 4096);
    t->rules = team_rules_default;
    team_open(t);
    runner_comes(t);
    return t;
}

struct team *team_with(const char *schema)
{
    struct team *t = team_bare();

    CHECK_OK(call(t, "schema.create", "{'name':'s','json_schema':%s}", schema)->error);
    CHECK_OK(call(t, "run.create", "{'type':'start_session','session_name':'root','prompt':'lead'}")
                 ->error);
    begin(t, "root", "work");
    as_session(t, "root");
    t->state = json_str(answer_of(call(t, "state.create",
                                       "{'schema_name':'s','initial_data':{'plan':'two'}}")),
                        "state_id");
    as_operator(t);
    return t;
}

struct team *team_with_child(const char *schema)
{
    struct team *t = team_with(schema);

    start(t, "root", "child");
    done(t);
    is(t, "root", "idle - 0 1");
    return t;
}

void team_free(struct team *t)
{
    world_audit(t->w);
    world_close(t->w);
    vfs_free(t->disk);
}
