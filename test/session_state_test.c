/* session_state_test.c: the state of a tree of sessions: who has it, and for how long. */
#include "session_help.h"

TEST(a_root_creates_one_state_and_its_tree_is_bound_to_it)
{
    struct world *w = world_with_tree();

    become(w, "a");
    CHECK_ERR(refused(w, "state.create", "{'schema_name':'task','initial_data':{}}"),
              ERR_FORBIDDEN);
    struct actor early = w->actor;
    become(w, "root");
    struct command *c =
        world_call(w, "state.create", "{'schema_name':'task','initial_data':{'n':1}}", "");
    CHECK_OK(c->error);
    int bound = 0;
    for (const struct event *e = c->events; e; e = e->next)
        bound += e->type == EVENT_SESSION_BOUND;
    CHECK_INT(bound, 4);
    become_operator(w);
    static const char *const tree[] = { "root", "a", "b", "c" };
    for (size_t i = 0; i < 4; i++)
        CHECK_STR(shown(w, tree[i], "workflow_state_id"), "'wfstate_4'");
    CHECK_STR(shown(w, "other", "workflow_state_id"), "null");

    /* What was known of a token is not good any more; what is read anew is. */
    w->actor = early;
    CHECK_ERR(refused(w, "state.read", "{'state_id':'wfstate_4'}"), ERR_NOT_FOUND);
    become(w, "b");
    const struct json *read = answer(w, "state.read", "{'state_id':'wfstate_4'}");
    CHECK_STR(json_str(read, "root_session_id"), "ses_root");
    CHECK_STR(json_str(read, "root_session_name"), "root");
    answer(w, "state.patch", "{'state_id':'wfstate_4','merge':{'n':2}}");
    read = answer(w, "session.state", "{'session_id':'b'}");
    CHECK_STR(json_shown(check_arena(), json_get(read, "current_data")), "{'n':2}");
    become(w, "root");
    CHECK_ERR(refused(w, "state.create", "{'schema_name':'task','initial_data':{}}"), ERR_CONFLICT);
    answer(w, "session.create", "{'session_name':'late'}");
    CHECK_STR(shown(w, "late", "workflow_state_id"), "'wfstate_4'");
    become(w, "other");
    CHECK_ERR(refused(w, "state.read", "{'state_id':'wfstate_4'}"), ERR_NOT_FOUND);
    CHECK_ERR(refused(w, "session.state", "{'session_id':'other'}"), ERR_NOT_FOUND);
    CHECK_INT(json_get(answer(w, "state.list", "{}"), "states")->len, 0);
    world_close(w);
}

TEST(the_operator_gives_a_state_to_a_root)
{
    struct world *w = world_with_tree();
    const struct {
        const char *input;
        enum error_kind kind;
    } cases[] = {
        { "{'session_name':'x','workflow_state_id':'wfstate_2'}", ERR_CONFLICT }, /* root's */
        { "{'session_name':'x','parent_session_name':'root','workflow_state_id':'wfstate_3'}",
          ERR_CONFLICT },
        { "{'session_name':'x','parent_session_name':'other','workflow_state_id':'wfstate_3'}",
          ERR_CONFLICT },
    };

    answer(w, "state.create", "{'schema_name':'task','initial_data':{},'root_session':'root'}");
    CHECK_STR(shown(w, "b", "workflow_state_id"), "'wfstate_2'");
    answer(w, "state.create", "{'schema_name':'task','initial_data':{}}");
    CHECK_ERR(refused(w, "state.create",
                      "{'schema_name':'task','initial_data':{},'root_session':'root'}"),
              ERR_CONFLICT);
    CHECK_ERR(refused(w, "state.create",
                      "{'schema_name':'task','initial_data':{},'root_session':'b'}"),
              ERR_CONFLICT);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_ERR(refused(w, "session.create", cases[i].input), cases[i].kind);
    answer(w, "session.create",
           "{'session_name':'x','parent_session_name':'root','workflow_state_id':'wfstate_2'}");
    answer(w, "session.create", "{'session_name':'y','workflow_state_id':'wfstate_3'}");
    CHECK_STR(json_str(answer(w, "state.read", "{'state_id':'wfstate_3'}"), "root_session_name"),
              "y");
    /* A session that is not known yet is a label, which does not keep others out. */
    answer(w, "state.create", "{'schema_name':'task','initial_data':{},'root_session':'later'}");
    const struct json *all = answer(w, "state.list", "{'root_session':'later'}");
    CHECK_INT(json_get(all, "states")->len, 1);
    world_close(w);
}

TEST(a_state_is_deleted_when_its_sessions_have_ended)
{
    struct world *w = world_with_tree();

    answer(w, "state.create", "{'schema_name':'task','initial_data':{},'root_session':'root'}");
    err e = refused(w, "state.delete", "{'state_id':'wfstate_2'}");
    CHECK_ERR(e, ERR_CONFLICT);
    CHECK_STR(e->message, "session root, which has the state wfstate_2, is live: stop it first");
    answer(w, "session.stop", "{'session_id':'root'}");
    world_pass(w, 0);
    CHECK_STR(shown(w, "b", "settled"), "true");
    answer(w, "state.delete", "{'state_id':'wfstate_2'}");
    CHECK_STR(shown(w, "b", "workflow_state_id"), "null");
    CHECK_STR(shown(w, "root", "workflow_state_id"), "null");
    world_close(w);
}

static bool peeked(struct world *w, struct op_cache *cache, const struct actor *who)
{
    struct cached_answer *s =
        op_peek(cache, op_find(w->table, STR("state.read")), STR("wfstate_2"), who);

    if (s)
        cached_answer_unref(s);
    return s;
}

TEST(a_state_in_memory_is_shown_to_those_who_see_it_and_while_it_is_right)
{
    struct op_cache *cache = op_cache_new(1 << 20);
    struct world *w = world_with_tree();
    struct actor child = { .kind = ACTOR_SESSION, .session_id = STR("ses_a") };

    op_cache_written(cache,
                     world_call(w, "state.create", "{'schema_name':'task','initial_data':{}}", ""));
    CHECK(peeked(w, cache, &the_operator));
    CHECK(!peeked(w, cache, &child));
    child.state_id = STR("wfstate_2");
    CHECK(peeked(w, cache, &child));
    /* It belongs to somebody now, which it shows. */
    op_cache_written(cache, world_call(w, "session.create",
                                       "{'session_name':'x','workflow_state_id':'wfstate_2'}", ""));
    CHECK(!peeked(w, cache, &the_operator));
    op_cache_free(cache);
    world_close(w);
}
