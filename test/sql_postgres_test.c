/* sql_postgres_test.c: every SQL text of the program, on a real PostgreSQL.
 *
 * A scenario of operations runs on SQLite and is recorded: each statement with its arguments and
 * the rows that came back. The recording then runs on a PostgreSQL server of the test's own, and
 * every row must be the same. The row of `node` belongs to each store's driver and is left out. */
#include "check.h"
#include "core/idempotency.h"
#include "core/retain.h"
#include "core/state.h"
#include "core/tables.h"
#include "sim/engine.h"
#include "sim/postgres.h"

/* ---- the scenario ---- */

/* Small numbers, so that a few writes are outgrown. */
static const struct retention small = {
    .events = 10,
    .events_ms = 1000,
    .versions = 10,
    .versions_step = 5,
    .keys_ms = 1000,
    .rows = 7,
};

struct step {
    const char *op, *input;
    const char *key;
    const char *session; /* the id of the state that the caller sees; NULL: it is the operator */
    bool system;         /* the server itself asks */
    bool refused;        /* what it wrote is taken back */
};

/* Ids are counted: schema_1, wfstate_2 and so on. Names begin with letters that bytes and people
 * order differently. */
// clang-format off
static const struct step steps[] = {
    { .op = "schema.create", .input = "{'name':'task','json_schema':{'type':'object','properties':{'n':{'type':'integer'}}},'description':'été'}" },
    { .op = "state.create",  .input = "{'schema_name':'task','initial_data':{'n':0,'text':'ß','list':[1,2]}}" },
    { .op = "state.create",  .input = "{'schema_name':'task','initial_data':{'n':0},'root_session':'ses_B'}", .key = "made" },
    { .op = "state.create",  .input = "{'schema_name':'task','initial_data':{'n':0},'root_session':'ses_B'}", .key = "made" },
    { .op = "state.create",  .input = "{'schema_name':'task','initial_data':{'n':0},'root_session':'ses_a'}" },
    { .op = "state.create",  .input = "{'schema_name':'none','initial_data':{}}", .refused = true },
    { .op = "schema.create", .input = "{'name':'task','json_schema':{'type':'object','properties':{'n':{'type':'number'}}}}" },
    { .op = "schema.create", .input = "{'name':'task','json_schema':{'type':'object','properties':{'n':{'type':'number'}}}}" },
    { .op = "schema.create", .input = "{'name':'Zebra','json_schema':true}" },
    { .op = "schema.create", .input = "{'name':'a_b','json_schema':true}" },
    { .op = "schema.create", .input = "{'name':'a-b','json_schema':true}" },
    { .op = "schema.list",     .input = "{}" },
    { .op = "schema.list",     .input = "{'after':'Zebra','limit':2}" },
    { .op = "schema.get",      .input = "{'name':'task'}" },
    { .op = "schema.get",      .input = "{'name':'task','version':1}" },
    { .op = "schema.get",      .input = "{'name':'task','version':9}", .refused = true },
    { .op = "schema.versions", .input = "{'name':'task'}" },
    { .op = "schema.check",    .input = "{'name':'task','data':{'n':'x'}}" },
    { .op = "state.list",      .input = "{}" },
    { .op = "state.list",      .input = "{'after':'wfstate_2','limit':1}" },
    { .op = "state.list",      .input = "{'active':true}" },
    { .op = "state.list",      .input = "{'schema':'task','active':true}" },
    { .op = "state.list",      .input = "{'root_session':'ses_B','schema':'task'}" },
    { .op = "state.list",      .input = "{'active':true}", .session = "wfstate_3" },
    { .op = "state.update",    .input = "{'state_id':'wfstate_2','data':{'n':1}}" },
    { .op = "state.update",    .input = "{'state_id':'wfstate_2','data':{'n':'x'}}", .refused = true },
    { .op = "state.patch",     .input = "{'state_id':'wfstate_2','operations':[{'op':'replace','path':'/n','value':2}],'expected_version':2}" },
    { .op = "state.patch",     .input = "{'state_id':'wfstate_2','merge':{'n':3}}" },
    { .op = "state.read",      .input = "{'state_id':'wfstate_2'}" },
    { .op = "state.read",      .input = "{'state_id':'wfstate_2','version':1}" },
    { .op = "state.history",   .input = "{'state_id':'wfstate_2'}" },
    { .op = "state.diff",      .input = "{'state_id':'wfstate_2','from':1,'to':3}" },
    { .op = "state.blame",     .input = "{'state_id':'wfstate_2'}" },
    { .op = "state.schema",    .input = "{'state_id':'wfstate_2'}" },
    { .op = "state.migrate",   .input = "{'state_id':'wfstate_2','schema_version':2}" },
    { .op = "state.rollback",  .input = "{'state_id':'wfstate_2','version':1}" },
    { .op = "token.create",    .input = "{'kind':'operator'}" },
    { .op = "token.create",    .input = "{'kind':'session','scope':{'session_id':'ses_1','state_id':'wfstate_2'},'expires_in':60}" },
    { .op = "token.list",      .input = "{}" },
    { .op = "token.revoke",    .input = "{'token_id':'ss_10'}" },
    { .op = "token.revoke",    .input = "{'token_id':'ss_none'}", .refused = true },
    { .op = "event.list",      .input = "{}" },
    { .op = "event.list",      .input = "{'subject':'wfstate_2','limit':2}" },
    { .op = "event.list",      .input = "{'type':['token_revoked']}" },
    { .op = "state.delete",    .input = "{'state_id':'wfstate_4'}" },
    { .op = "node.beat",       .input = "{'node_id':'node_b','name':'b:1','url':'','version':'1','seq':0}", .system = true },
    { .op = "node.beat",       .input = "{'node_id':'node_C','name':'c:1','url':'http://c','version':'1','seq':3}", .system = true },
    { .op = "node.beat",       .input = "{'node_id':'node_b','name':'b:1','url':'','version':'2','seq':4}", .system = true },
    { .op = "node.list",       .input = "{}" },
    { .op = "node.list",       .input = "{'after':'node_C','limit':1}" },
    { .op = "node.leave",      .input = "{'node_id':'node_C'}", .system = true },
};
// clang-format on

static void step_run(struct world *w, const struct step *s)
{
    struct actor before = w->actor;

    if (s->session)
        w->actor = (struct actor){ .kind = ACTOR_SESSION,
                                   .name = STR("child"),
                                   .session_id = STR("ses_1"),
                                   .state_id = str_from(s->session) };
    else if (s->system)
        w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    struct command *c = world_call(w, s->op, s->input, s->key ? s->key : "");
    w->actor = before;
    if (!s->refused != !c->error)
        check_fail(__FILE__, __LINE__, "%s %s: " STR_FMT, s->op, s->input,
                   STR_ARG(c->error ? c->error->message : c->answer));
}

/* Everything that is due, now and in the days to come. */
static void ticks_run(struct world *w)
{
    struct actor before = w->actor;

    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    for (int hours = 0; hours < 27; hours++) {
        while (str_ends(world_call(w, "system.tick", "{}", "")->answer, STR("\"more\":true}")))
            ;
        w->now_ms += 3600 * 1000;
    }
    w->actor = before;
}

/* What a batch of several commands does first. */
static void ahead_run(struct world *w)
{
    struct tx_ahead ahead = { map_in(check_arena()), map_in(check_arena()) };
    const struct actor actor = { .name = STR("operator") };
    const struct idempotency_use uses[] = { { &actor, STR("key-1") }, { &actor, STR("none") } };
    struct tx tx = { .arena = check_arena(), .sql = w->engine.sql, .ahead = &ahead };
    struct store_node node;

    CHECK_OK(store_begin(tx.sql, tx.arena, &node));
    CHECK_OK(state_read_ahead(&tx, &STR("wfstate_2"), 1));
    CHECK_INT(ahead.states.count, 1);
    CHECK_OK(idempotency_read_ahead(&tx, uses, 2));
    CHECK_INT(ahead.keys.count, 2);
    store_rollback(tx.sql);
}

static void scenario_run(struct world *w)
{
    struct grant *grant;

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        step_run(w, &steps[i]);
    CHECK_ERR(op_admit(&w->engine, check_arena(), STR("op_9.wrong"), &grant), ERR_UNAUTHENTICATED);
    for (int i = 0; i < 30; i++) {
        str input = arena_printf(check_arena(), "{'state_id':'wfstate_2','data':{'n':%d}}", i);
        step_run(w, &(struct step){ .op = "state.update", .input = input.at });
    }
    ahead_run(w);
    ticks_run(w);
    /* More than a day later: the others are forgotten. */
    step_run(w, &(struct step){ .op = "node.beat",
                                .input = "{'node_id':'node_a','name':'a:1','url':'',"
                                         "'version':'1','seq':9}",
                                .system = true });
    step_run(w, &(struct step){ .op = "node.list", .input = "{}" });
}

/* ---- the texts ---- */

static bool was_run(const struct recording *recording, const char *text)
{
    for (const struct record *r = recording->first; r; r = r->next)
        if (r->kind == RECORD_RUN && strcmp(r->text, text) == 0)
            return true;
    return false;
}

static size_t texts_check(const struct recording *recording)
{
    struct buf missing = buf_in(check_arena());
    size_t count = 0;

    for (const struct sql_text *t = __start_sql_texts; t < __stop_sql_texts; t++) {
        if (!strstr(t->file, "src/"))
            continue; /* a test's own */
        count++;
        if (!was_run(recording, t->text))
            buf_printf(&missing, "\n  %s", t->text);
    }
    if (missing.len)
        check_fail(__FILE__, __LINE__,
                   "no step of the scenario runs these texts; add one that does:" STR_FMT,
                   STR_ARG(buf_str(&missing)));
    return count;
}

TEST_LIMIT(every_sql_text_gives_the_same_rows_on_postgresql, 60)
{
    struct recording recording = { .arena = check_arena() };
    struct world *w;

    CHECK_OK(world_open("baton.db", NULL, &w));
    w->engine.sql = record_around(w->engine.sql, &recording);
    w->engine.retention = &small;
    scenario_run(w);
    world_close(w);
    size_t texts = texts_check(&recording);

    struct postgres *p = postgres_start();
    for (int i = 0; i < tables_step_count; i++)
        for (const char *const *text = tables_steps[i].statements; *text; text++)
            postgres_exec(p, *text);
    postgres_replay(p, &recording);
    postgres_stop(p);
    check_note("%zu texts, %zu calls", texts, recording.count);
}
