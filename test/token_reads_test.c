/* token_reads_test.c: a token that may read other states than its own, and write to none of them. */
#include "session_help.h"
#include "sim/both.h"

/* States "own", "shared" and "hidden", in the order of their ids; and a token of a session that has
 * the first and reads the second. */
static struct world *world_with_reader(void)
{
    static const char *const names[] = { "own", "shared", "hidden" };
    struct world *w = world_new();

    answer(w, "schema.create", "{'name':'task','json_schema':{'type':'object'}}");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_OK(call(w, "state.create",
                      "{'schema_name':'task','initial_data':{'n':1},'name':'%s'}", names[i])
                     ->error);
    answer(w, "session.create", "{'session_name':'root','workflow_state_id':'own'}");
    act_as(w, at(call(w, "token.create",
                      "{'kind':'session','scope':{'session_id':'root','reads':['shared']}}"),
                 "/token"));
    return w;
}

static const struct {
    const char *op, *more;
} looks[] = {
    { "state.read", "" },    { "state.read", ",'wait_version':1" },
    { "state.history", "" }, { "state.diff", ",'from':1" },
    { "state.blame", "" },   { "state.schema", "" },
};

TEST_BOTH(a_token_reads_the_states_that_it_names_and_no_others)
{
    struct world *w = world_with_reader();

    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        CHECK_OK(call(w, looks[i].op, "{'state_id':'shared'%s}", looks[i].more)->error);
        CHECK_OK(call(w, looks[i].op, "{'state_id':'own'%s}", looks[i].more)->error);
        CHECK_ERR(call(w, looks[i].op, "{'state_id':'hidden'%s}", looks[i].more)->error,
                  ERR_NOT_FOUND);
    }
    CHECK_OK(call(w, "event.list", "{'subject':'shared'}")->error);
    CHECK_ERR(refused(w, "event.list", "{'subject':'hidden'}"), ERR_NOT_FOUND);
    struct command *c = call(w, "state.list", "{}");
    CHECK_STR(at(c, "/states/0/name"), "own");
    CHECK_STR(at(c, "/states/1/name"), "shared");
    CHECK_INT(json_get(answer_of(c), "states")->len, 2);
    c = call(w, "state.list", "{'limit':1}");
    CHECK_INT(json_get(answer_of(c), "states")->len, 1);
    c = call(w, "state.list", "{'after':'" STR_FMT "'}", STR_ARG(at(c, "/next")));
    CHECK_STR(at(c, "/states/0/name"), "shared");
    CHECK_INT(json_get(answer_of(c), "states")->len, 1);
    world_close(w);
}

TEST(a_token_writes_to_no_state_that_it_only_reads)
{
    static const char *const writes[] = { "state.update", "state.patch", "state.patch" };
    static const char *const fields[] = { "'data':{'n':2}", "'merge':{'n':2}",
                                          "'operations':[{'op':'add','path':'/n','value':2}]" };
    struct world *w = world_with_reader();

    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        struct command *c = call(w, writes[i], "{'state_id':'shared',%s}", fields[i]);
        CHECK_ERR(c->error, ERR_FORBIDDEN);
        CHECK(!c->events && strstr(c->error->message.at, "not write to it"));
        CHECK_ERR(call(w, writes[i], "{'state_id':'hidden',%s}", fields[i])->error, ERR_NOT_FOUND);
        CHECK_OK(call(w, writes[i], "{'state_id':'own',%s}", fields[i])->error);
    }
    world_close(w);
}

/* Who may read a state does not get it for its own by registering with it. */
TEST(a_state_to_read_is_not_taken_for_ones_own)
{
    struct world *w = world_with_reader();

    become_operator(w);
    act_as(w, at(call(w, "token.create",
                      "{'kind':'session','scope':{'session_id':'new-1','reads':['shared']}}"),
                 "/token"));
    CHECK_OK(call(w, "state.read", "{'state_id':'shared'}")->error);
    CHECK_ERR(refused(w, "session.create",
                      "{'session_id':'new-1','session_name':'new','workflow_state_id':'shared'}"),
              ERR_FORBIDDEN);
    CHECK_OK(call(w, "session.create", "{'session_id':'new-1','session_name':'new'}")->error);
    CHECK_ERR(refused(w, "state.patch", "{'state_id':'shared','merge':{}}"), ERR_FORBIDDEN);
    world_close(w);
}

TEST(what_a_token_may_read_is_there_when_it_is_minted)
{
    struct world *w = world_with_reader();

    become_operator(w);
    CHECK_ERR(refused(w, "token.create",
                      "{'kind':'session','scope':{'session_id':'root','reads':['nope']}}"),
              ERR_NOT_FOUND);
    CHECK_ERR(refused(w, "token.create",
                      "{'kind':'session','scope':{'session_id':'root','reads':['wfstate_no']}}"),
              ERR_NOT_FOUND);
    CHECK_ERR(refused(w, "token.create",
                      "{'kind':'session','scope':{'session_id':'root','reads':'shared'}}"),
              ERR_INVALID);
    struct command *c = call(w, "token.create",
                             "{'kind':'session','scope':{'session_id':'root','reads':['shared']}}");
    CHECK(str_starts(at(c, "/scope/reads/0"), STR("wfstate_")));
    world_close(w);
}
