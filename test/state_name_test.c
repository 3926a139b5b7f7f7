/* state_name_test.c: states that have a name, which is taken wherever their id is. */
#include "session_help.h"
#include "sim/both.h"

static struct world *world_with_state(void)
{
    struct world *w = world_new();

    answer(w, "schema.create",
           "{'name':'task','description':'What is to be done','json_schema':{'type':'object'}}");
    answer(w, "state.create", "{'schema_name':'task','initial_data':{'n':1},'name':'plan'}");
    return w;
}

static str state_id_in(const struct command *c)
{
    return arena_copy(check_arena(), at(c, "/state_id"));
}

/* The id of the state that a name means now. */
static str id_of(struct world *w, const char *name)
{
    return state_id_in(call(w, "state.read", "{'state_id':'%s'}", name));
}

TEST_BOTH(a_state_is_called_by_its_name_wherever_its_id_is_taken)
{
    static const struct {
        const char *op, *more;
    } calls[] = {
        { "state.read", "" },
        { "state.read", ",'wait_version':1" },
        { "state.update", ",'data':{'n':2}" },
        { "state.patch", ",'merge':{'n':3}" },
        { "state.history", "" },
        { "state.diff", ",'from':1" },
        { "state.blame", "" },
        { "state.schema", "" },
        { "state.rollback", ",'version':1" },
        { "state.migrate", ",'schema_version':1" },
        { "state.rename", ",'name':'plan'" },
    };
    struct world *w = world_with_state();
    str id = id_of(w, "plan");

    CHECK(str_starts(id, STR("wfstate_")));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct command *c = call(w, calls[i].op, "{'state_id':'plan'%s}", calls[i].more);
        CHECK_OK(c->error);
        if (c->answer.waits)
            continue;
        const struct json *told = json_parsed(check_arena(), c->answer.text);
        if (json_get(told, "state_id"))
            CHECK(str_eq(json_str(told, "state_id"), id));
        if (c->answer.cached_id.len)
            CHECK(str_eq(c->answer.cached_id, id)); /* what is kept is kept by its id */
        for (const struct event *e = c->events; e; e = event_after(e))
            CHECK(str_eq(event_subject(e), id));
    }
    struct command *waits = call(w, "state.read", "{'state_id':'plan','wait_version':9}");
    CHECK(waits->answer.waits && str_eq(waits->answer.wait_subject, id));
    CHECK_STR(at(call(w, "event.list", "{'subject':'plan'}"), "/subject"), id.at);
    CHECK_STR(at(call(w, "event.list", "{'subject':'plan'}"), "/events/0/subject"), id.at);
    CHECK_OK(call(w, "state.delete", "{'state_id':'plan'}")->error);
    CHECK_ERR(refused(w, "state.read", "{'state_id':'plan'}"), ERR_NOT_FOUND);
    world_audit(w);
    world_close(w);
}

TEST_BOTH(a_name_is_one_states_and_free_again_when_it_was_given_up)
{
    struct world *w = world_with_state();
    str first = id_of(w, "plan");
    str second =
        state_id_in(call(w, "state.create", "{'schema_name':'task','initial_data':{'n':2}}"));

    CHECK_ERR(refused(w, "state.create", "{'schema_name':'task','initial_data':{},'name':'plan'}"),
              ERR_CONFLICT);
    struct command *c = call(w, "state.rename", "{'state_id':'%s','name':'plan'}", second.at);
    CHECK_ERR(c->error, ERR_CONFLICT);
    CHECK(strstr(c->error->message.at, first.at));

    /* Whoever has it, is shown: never the one that had it before. */
    CHECK_STR(at(call(w, "state.rename", "{'state_id':'plan','name':'old.plan-1'}"), "/name"),
              "old.plan-1");
    CHECK_ERR(refused(w, "state.read", "{'state_id':'plan'}"), ERR_NOT_FOUND);
    CHECK_OK(call(w, "state.rename", "{'state_id':'%s','name':'plan'}", second.at)->error);
    CHECK(str_eq(id_of(w, "plan"), second) && str_eq(id_of(w, "old.plan-1"), first));
    CHECK_OK(call(w, "state.delete", "{'state_id':'plan'}")->error);
    CHECK_OK(call(w, "state.rename", "{'state_id':'old.plan-1','name':null}")->error);
    CHECK_STR(at(call(w, "state.read", "{'state_id':'%s'}", first.at), "/name"), "null");
    CHECK_OK(call(w, "state.create", "{'schema_name':'task','initial_data':{'n':3},'name':'plan'}")
                 ->error);
    CHECK_STR(at(call(w, "state.read", "{'state_id':'plan'}"), "/current_data/n"), "3");
    world_audit(w);
    world_close(w);
}

/* So that who has it in memory, and who follows the log, hears of it. */
TEST(giving_a_name_is_a_version_with_the_same_document)
{
    struct world *w = world_with_state();
    struct command *c = call(w, "state.rename", "{'state_id':'plan','name':'other'}");

    CHECK_STR(at(c, "/version"), "2");
    CHECK_STR(event_type_name(c->events), "workflow_state_renamed");
    CHECK_STR(at(call(w, "state.diff", "{'state_id':'other','from':1}"), "/patch"), "[]");
    c = call(w, "state.history", "{'state_id':'other'}");
    CHECK_STR(at(c, "/versions/0/type"), "workflow_state_renamed");
    CHECK_STR(at(c, "/versions/0/patch"), "[]");
    CHECK_STR(at(call(w, "state.rename", "{'state_id':'other','name':'other'}"), "/unchanged"),
              "true");
    CHECK_STR(at(call(w, "state.blame", "{'state_id':'other'}"), "/entries/0/version"), "1");
    world_audit(w);
    world_close(w);
}

TEST(what_is_no_name_is_refused_and_says_what_one_is)
{
    static const char *const bad[] = {
        "wfstate_", "wfstate_x", ".",           "..",         "a b",
        "a/b",      "a%2fb",     "pl\xc3\xa4n", "{pointers}", "a\\nb"
    };
    struct world *w = world_with_state();

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct command *c = call(w, "state.rename", "{'state_id':'plan','name':'%s'}", bad[i]);
        CHECK_ERR(c->error, ERR_INVALID);
        CHECK(strstr(c->error->message.at, "1 to 100 letters"));
        CHECK_ERR(call(w, "state.create", "{'schema_name':'task','initial_data':{},'name':'%s'}",
                       bad[i])
                      ->error,
                  ERR_INVALID);
    }
    char longest[102];
    memset(longest, 'n', 101);
    longest[101] = '\0';
    CHECK_ERR(call(w, "state.rename", "{'state_id':'plan','name':'%s'}", longest)->error,
              ERR_INVALID);
    longest[100] = '\0';
    CHECK_OK(call(w, "state.rename", "{'state_id':'plan','name':'%s'}", longest)->error);
    CHECK_STR(at(call(w, "state.read", "{'state_id':'%s'}", longest), "/name"), longest);
    world_close(w);
}

/* A session names no state, and does not hear of others' by trying names. */
TEST(a_name_gives_a_session_nothing_that_its_id_would_not)
{
    struct world *w = world_with_state();
    str own = state_id_in(
        call(w, "state.create", "{'schema_name':'task','initial_data':{},'name':'own'}"));

    answer(w, "session.create", "{'session_name':'root','workflow_state_id':'own'}");
    CHECK_STR(shown(w, "root", "workflow_state_id"),
              arena_printf(check_arena(), "'%s'", own.at).at);
    answer(w, "session.create",
           "{'session_name':'child','parent_session_name':'root','workflow_state_id':'own'}");
    CHECK_ERR(
        refused(w, "session.create",
                "{'session_name':'x','parent_session_name':'root','workflow_state_id':'plan'}"),
        ERR_CONFLICT);
    become(w, "root");
    CHECK_STR(at(call(w, "state.patch", "{'state_id':'own','merge':{'n':1}}"), "/name"), "own");
    CHECK_STR(at(call(w, "event.list", "{'subject':'own'}"), "/subject"), own.at);
    err other = refused(w, "state.read", "{'state_id':'plan'}");
    err none = refused(w, "state.read", "{'state_id':'nope'}");
    CHECK_ERR(other, ERR_NOT_FOUND);
    CHECK_STR(other->message, "there is no state plan");
    CHECK_STR(none->message, "there is no state nope");
    CHECK_ERR(refused(w, "event.list", "{'subject':'plan'}"), ERR_NOT_FOUND);
    CHECK_ERR(refused(w, "state.rename", "{'state_id':'own','name':'mine'}"), ERR_FORBIDDEN);
    world_close(w);
}

TEST(a_session_gives_no_name_to_the_state_that_it_makes)
{
    struct world *w = world_with_state();

    answer(w, "session.create", "{'session_name':'root'}");
    become(w, "root");
    CHECK_ERR(refused(w, "state.create", "{'schema_name':'task','initial_data':{},'name':'mine'}"),
              ERR_FORBIDDEN);
    CHECK_STR(at(call(w, "state.create", "{'schema_name':'task','initial_data':{}}"), "/name"),
              "null");
    world_close(w);
}

/* It is for the state that had the name then, whatever has it later. */
TEST(a_token_for_a_name_is_one_for_the_state_that_has_it)
{
    struct world *w = world_with_state();
    str id = id_of(w, "plan");
    struct command *c = call(w, "token.create", "{'kind':'viewer','scope':{'state_id':'plan'}}");

    CHECK_STR(at(c, "/scope/state_id"), id.at);
    str token = at(c, "/token");
    CHECK_ERR(refused(w, "token.create", "{'kind':'viewer','scope':{'state_id':'nope'}}"),
              ERR_NOT_FOUND);
    CHECK_OK(call(w, "state.rename", "{'state_id':'plan','name':'before'}")->error);
    CHECK_OK(
        call(w, "state.create", "{'schema_name':'task','initial_data':{},'name':'plan'}")->error);
    act_as(w, token);
    CHECK_ERR(refused(w, "state.read", "{'state_id':'plan'}"), ERR_NOT_FOUND);
    CHECK(str_eq(id_of(w, "before"), id));
    world_close(w);
}

/* A batch reads ahead what it will need, by id. */
TEST_BOTH(commands_of_one_batch_see_each_others_names)
{
    struct world *w = world_with_state();
    struct command *batch[] = {
        world_command(w, "state.patch", "{'state_id':'plan','merge':{'n':2}}", ""),
        world_command(w, "state.rename", "{'state_id':'plan','name':'next'}", ""),
        world_command(w, "state.patch", "{'state_id':'plan','merge':{'n':9}}", ""),
        world_command(w, "state.patch", "{'state_id':'next','merge':{'n':3}}", ""),
        world_command(w, "state.create",
                      "{'schema_name':'task','initial_data':{'n':7},'name':'plan'}", ""),
        world_command(w, "state.patch", "{'state_id':'plan','merge':{'m':8}}", ""),
    };

    op_perform(&w->engine, batch, sizeof batch / sizeof *batch);
    CHECK_ERR(batch[2]->error, ERR_NOT_FOUND);
    for (size_t i = 0; i < sizeof batch / sizeof *batch; i++)
        if (i != 2)
            CHECK_OK(batch[i]->error);
    CHECK_STR(at(call(w, "state.read", "{'state_id':'next'}"), "/current_data/n"), "3");
    CHECK_STR(at(call(w, "state.read", "{'state_id':'next'}"), "/version"), "4");
    CHECK_STR(at(call(w, "state.read", "{'state_id':'plan'}"), "/current_data"),
              "{\"n\":7,\"m\":8}");
    world_audit(w);
    world_close(w);
}

TEST(a_list_says_what_states_are_for)
{
    struct world *w = world_with_state();
    struct command *c = call(w, "state.list", "{}");

    CHECK_STR(at(c, "/states/0/name"), "plan");
    CHECK_STR(at(c, "/states/0/schema_description"), "What is to be done");
    world_close(w);
}
