/* damage_test.c: what is stored and is not whole any more is told as that, and blames nobody. */
#include <stdio.h>

#include "check.h"
#include "sim/world.h"

/* So that a change is shorter than a document, and is kept as one. */
#define LONG "a document that is longer than its changes; "

static struct world *damage_world(const char *damage)
{
    struct world *w;

    CHECK_OK(world_open("damage.db", NULL, &w));
    CHECK_OK(world_call(w, "schema.create", "{'name':'any','json_schema':true}", "")->error);
    CHECK_OK(world_call(w, "state.create",
                        "{'schema_name':'any','initial_data':{'n':1,'text':'" LONG LONG LONG LONG
                            LONG LONG "'}}",
                        "")
                 ->error); /* wfstate_2 */
    for (int i = 0; i < 3; i++)
        CHECK_OK(world_call(w, "state.patch",
                            arena_printf(check_arena(),
                                         "{'state_id':'wfstate_2','operations':"
                                         "[{'op':'add','path':'/long','value':'x%d'}]}",
                                         i)
                                .at,
                            "")
                     ->error);
    CHECK_OK(world_call(w, "session.create", "{'session_name':'lead'}", "")->error);
    CHECK_OK(world_call(w, "session.event",
                        "{'session_id':'lead','event_type':'message','content':'secret'}", "")
                 ->error);
    CHECK_OK(world_call(w, "agent.create", "{'name':'reader'}", "")->error);
    CHECK_OK(world_call(w, "schema.create", "{'name':'other','json_schema':true}", "kept")->error);
    CHECK_OK(world_call(w, "session.start", "{'session_name':'worker','prompt':'go'}", "")->error);
    w->actor = (struct actor){ .kind = ACTOR_RUNNER, .name = STR("r"), .token_id = STR("rn_1") };
    CHECK_OK(
        world_call(w, "runner.register", "{'hostname':'one','tags':['a','b','c']}", "")->error);
    w->actor = (struct actor){ .kind = ACTOR_OPERATOR, .name = STR("operator") };
    struct store_node node;
    err why;
    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_exec_(w->engine.sql, damage, NO_ARGS));
    CHECK(store_commit(w->engine.sql, &node, &why) == STORE_COMMITTED);
    return w;
}

// clang-format off
static const struct {
    const char *damage, *op, *input, *key, *named;
} cases[] = {
    { "UPDATE state SET body = '{\"n\":secret'", "state.read", "{'state_id':'wfstate_2'}", "", "state wfstate_2" },
    { "UPDATE state SET body = '{\"n\":secret'", "state.read", "{'state_id':'wfstate_2','pointer':'/n'}", "", "state wfstate_2" },
    { "UPDATE state SET body = ''", "state.read", "{'state_id':'wfstate_2'}", "", "state wfstate_2" },
    { "UPDATE state SET body = '{\"n\":secret'", "state.patch", "{'state_id':'wfstate_2','operations':[]}", "", "state wfstate_2" },
    { "UPDATE state SET body = '{\"n\":secret'", "state.update", "{'state_id':'wfstate_2','data':{}}", "", "state wfstate_2" },
    { "UPDATE state SET body = '{\"n\":secret'", "state.blame", "{'state_id':'wfstate_2'}", "", "state wfstate_2" },
    { "UPDATE log SET body = 'secret' WHERE body IS NOT NULL", "state.read", "{'state_id':'wfstate_2','version':1}", "", "state wfstate_2" },
    { "UPDATE log SET body = 'secret' WHERE body IS NOT NULL", "state.history", "{'state_id':'wfstate_2'}", "", "state wfstate_2" },
    { "UPDATE log SET data = 'secret' WHERE data <> ''", "state.diff", "{'state_id':'wfstate_2','from':1,'to':3}", "", "state wfstate_2" },
    { "UPDATE log SET data = '[{\"op\":\"remove\",\"path\":\"/none\"}]' WHERE version = 2", "state.diff", "{'state_id':'wfstate_2','from':1,'to':3}", "", "state wfstate_2" },
    { "UPDATE log SET data = '[]', subject = 'nobody' WHERE version = 2", "state.diff", "{'state_id':'wfstate_2','from':1,'to':3}", "", "state wfstate_2" },
    { "DELETE FROM log WHERE version = 2", "state.diff", "{'state_id':'wfstate_2','from':1,'to':3}", "", "state wfstate_2" },
    { "DELETE FROM log WHERE version = 4", "state.history", "{'state_id':'wfstate_2'}", "", "state wfstate_2" },
    { "DELETE FROM log WHERE version = 4", "state.blame", "{'state_id':'wfstate_2'}", "", "state wfstate_2" },
    { "UPDATE log SET prev_seq = seq WHERE version = 2", "state.history", "{'state_id':'wfstate_2'}", "", "state wfstate_2" },
    { "UPDATE log SET snap_seq = 1 WHERE version > 1", "state.diff", "{'state_id':'wfstate_2','from':1,'to':3}", "", "state wfstate_2" },
    { "UPDATE log SET data = 'secret' WHERE version = 2", "event.list", "{}", "", "event 3 of wfstate_2" },
    { "UPDATE log SET type = 'nonsense' WHERE version = 2", "event.list", "{}", "", "event 3 of wfstate_2" },
    { "UPDATE log SET type = 'nonsense' WHERE version = 2", "event.list", "{'type':['workflow_state_updated']}", "", "event 3 of wfstate_2" },
    { "DELETE FROM log WHERE version = 2", "event.list", "{}", "", "event 3" },
    { "DELETE FROM log WHERE version = 2", "event.list", "{'subject':'wfstate_2'}", "", "event 3" },
    { "DELETE FROM replay", "event.list", "{}", "", "where its log begins" },
    { "UPDATE schema SET text = 'secret' WHERE name = 'any'", "schema.get", "{'name':'any'}", "", "schema schema_1" },
    { "UPDATE schema SET text = 'secret' WHERE name = 'any'", "state.schema", "{'state_id':'wfstate_2'}", "", "schema schema_1" },
    { "UPDATE session SET usage_models = 'secret'", "session.get", "{'session_id':'lead'}", "", "session " },
    { "UPDATE session SET git = '{secret'", "session.list", "{}", "", "session " },
    { "UPDATE session SET status = 'secret'", "session.list", "{}", "", "session " },
    { "UPDATE session_event SET data = 'secret'", "session.events", "{'session_id':'lead'}", "", "event of session " },
    { "UPDATE entry SET text = '{secret' WHERE name = 'reader'", "agent.get", "{'name':'reader'}", "", "entry reader" },
    { "UPDATE entry SET text = '{secret' WHERE name = 'reader'", "session.start", "{'session_name':'x','agent_name':'reader','prompt':'go'}", "", "agent reader" },
    /* JSON still, and not what is kept there. */
    { "UPDATE log SET data = '\"secret\"' WHERE version = 4", "state.blame", "{'state_id':'wfstate_2'}", "", "state wfstate_2" },
    { "UPDATE log SET data = '[{\"op\":\"add\",\"path\":\"secret\"}]' WHERE version = 4", "state.blame", "{'state_id':'wfstate_2'}", "", "state wfstate_2" },
    { "UPDATE log SET data = '\"secret\"' WHERE version = 2", "state.diff", "{'state_id':'wfstate_2','from':1,'to':3}", "", "state wfstate_2" },
    { "UPDATE entry SET text = '\"secret\"' WHERE name = 'reader'", "agent.get", "{'name':'reader'}", "", "entry reader" },
    { "UPDATE run SET demand = '[\"\",\"\",\"claude\",\"secret\"]'", "run.list", "{}", "", "run " },
    { "UPDATE run SET demand = '[[0],\"\",\"claude\",[]]'", "run.list", "{}", "", "run " },
    { "UPDATE runner SET tags = '\"secret\"'", "runner.list", "{}", "", "runner " },
    { "UPDATE runner SET tags = '[[0],{},null]'", "runner.list", "{}", "", "runner " },
    { "UPDATE session SET pointers = '\"secret\"' WHERE name = 'lead'", "session.create", "{'session_name':'kid','parent':'lead'}", "", "session " },
    { "UPDATE idempotency SET answer = 'secret'", "schema.create", "{'name':'other','json_schema':true}", "kept", "key kept" },
};
// clang-format on

TEST(what_is_damaged_in_the_store_is_named_and_blames_nobody)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world *w = damage_world(cases[i].damage);
        struct command *c = world_call(w, cases[i].op, cases[i].input, cases[i].key);
        str told = c->error ? c->error->message : c->answer.text;
        if (!c->error || c->error->kind != ERR_INTERNAL || !c->error->damage ||
            !str_contains(told, str_from(cases[i].named)) || str_contains(told, STR("secret")))
            check_fail(__FILE__, __LINE__,
                       "expected damage of \"%s\" of %s after %s, found: " STR_FMT, cases[i].named,
                       cases[i].op, cases[i].damage, STR_ARG(told));
        world_close(w);
        remove("damage.db");
        remove("damage.db-wal");
        remove("damage.db-shm");
    }
}

/* A page of the file that is overwritten; the store finds that by itself. */
TEST(what_the_store_finds_damaged_is_damage)
{
    static char garbage[512];
    struct world *w = damage_world("UPDATE entry SET text = '{}' WHERE name = 'none'");
    struct store_node node;
    const struct row *page, *size;

    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_one_(w->engine.sql, &page,
                      "SELECT rootpage FROM sqlite_master WHERE name = 'entry'", NO_ARGS));
    CHECK_OK(sql_one_(w->engine.sql, &size, "SELECT page_size FROM pragma_page_size", NO_ARGS));
    store_rollback(w->engine.sql);
    long at = (long)((row_int(page, 0) - 1) * row_int(size, 0));
    world_close(w);

    memset(garbage, 0x77, sizeof garbage);
    FILE *f = fopen("damage.db", "r+b");
    CHECK(f && fseek(f, at, SEEK_SET) == 0 && fwrite(garbage, sizeof garbage, 1, f) == 1);
    fclose(f);
    CHECK_OK(world_open("damage.db", NULL, &w));
    struct command *c = world_call(w, "agent.get", "{'name':'reader'}", "");
    CHECK_ERR(c->error, ERR_INTERNAL);
    CHECK(c->error->damage);
    CHECK(!str_contains(c->error->message, STR("damage.db"))); /* that is for the log */
    world_close(w);
}
