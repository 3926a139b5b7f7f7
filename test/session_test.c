/* session_test.c: sessions as operations see them: a tree, how it grows and how it ends. */
#include "session_help.h"

/* ---- the tree ---- */

TEST(sessions_are_a_tree_that_is_listed_flat)
{
    struct world *w = world_with_tree();
    static const struct {
        const char *input, *names;
    } cases[] = {
        { "{}", "a b c other root" },
        { "{'limit':2}", "a b …" },
        { "{'limit':3,'after':'ses_b'}", "c other root" },
        { "{'root':'root'}", "a b c root" },
        { "{'root':'ses_other'}", "other" },
        { "{'parent':'root'}", "a c" },
        { "{'parent':'root','limit':1}", "a …" },
        { "{'parent':'c'}", "" },
        { "{'status':'pending'}", "a b c other root" },
        { "{'status':'running'}", "" },
        { "{'status':'running','root':'root'}", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(listed(w, cases[i].input), cases[i].names);
    CHECK_ERR(refused(w, "session.list", "{'root':'nobody'}"), ERR_NOT_FOUND);
    CHECK_STR(shown(w, "b", "depth"), "3");
    CHECK_STR(shown(w, "ses_b", "parent_session_id"), "'ses_a'");
    CHECK_STR(shown(w, "b", "parent_session_name"), "'a'");
    CHECK_STR(shown(w, "b", "root_session_id"), "'ses_root'");
    CHECK_STR(shown(w, "root", "parent_session_id"), "null");
    CHECK_STR(shown(w, "root", "depth"), "1");
    CHECK_STR(shown(w, "root", "usage"),
              "{'input_tokens':0,'output_tokens':0,'cached_tokens':0,'cost_usd':0.000000,"
              "'models':null}");
    world_close(w);
}

TEST(a_session_is_known_by_one_name_and_one_id)
{
    struct world *w = world_new();
    static const struct {
        const char *input;
        enum error_kind kind;
    } cases[] = {
        { "{'session_name':'x'}", ERR_CONFLICT },
        { "{'session_name':'ses_x'}", ERR_CONFLICT }, /* its id */
        { "{'session_name':'y','session_id':'ses_x'}", ERR_CONFLICT },
        { "{'session_name':'y','session_id':'x'}", ERR_CONFLICT }, /* its name */
        { "{'session_name':'y','session_id':'wfstate_1'}", ERR_INVALID },
        { "{'session_name':'y','session_id':'run_1'}", ERR_INVALID },
        { "{'session_name':'y','session_id':'a/b'}", ERR_INVALID },
        { "{'session_name':''}", ERR_INVALID },
        { "{'session_name':'a b'}", ERR_INVALID },
        { "{'session_name':'1234567890123456789012345678901234567890123456789012345678901'}",
          ERR_INVALID },
        { "{'session_name':'y','parent_session_name':'nobody'}", ERR_NOT_FOUND },
        { "{'session_name':'y','workflow_state_id':'wfstate_9'}", ERR_NOT_FOUND },
    };

    session(w, "x", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_ERR(refused(w, "session.create", cases[i].input), cases[i].kind);
    answer(w, "session.create",
           "{'session_name':'y','session_id':'0b54a9e2-7d4f-4b62-9d5e-1f9b1d6f0a11'}");
    CHECK_STR(shown(w, "0b54a9e2-7d4f-4b62-9d5e-1f9b1d6f0a11", "session_name"), "'y'");
    err e = refused(w, "session.create", "{'session_name':'x'}");
    CHECK_STR(e->message, "there is a session ses_x named \"x\": choose another name, go on with "
                          "that one (`baton session resume x`), or delete it (`baton session "
                          "delete x`) to begin anew");
    CHECK_STR(listed(w, "{}"), "y x");
    world_close(w);
}

TEST(a_tree_is_neither_too_deep_nor_too_wide)
{
    struct team_rules rules = team_rules_default;
    struct world *w = world_new();

    rules.depth_max = 3;
    rules.tree_max = 4;
    w->engine.team = &rules;
    session(w, "n1", NULL);
    session(w, "n2", "n1");
    session(w, "n3", "n2");
    err e = refused(w, "session.create", "{'session_name':'x','parent_session_name':'n3'}");
    CHECK_ERR(e, ERR_LIMIT);
    CHECK_STR(e->members, "\"limit\":\"tree_depth_max\"");
    session(w, "n4", "n1");
    e = refused(w, "session.create", "{'session_name':'x','parent_session_name':'n1'}");
    CHECK_ERR(e, ERR_LIMIT);
    CHECK_STR(e->members, "\"limit\":\"tree_sessions_max\"");
    session(w, "n5", NULL); /* of another tree */
    answer(w, "session.stop", "{'session_id':'n4'}");
    session(w, "n6", "n1");
    world_close(w);
}

/* ---- the end ---- */

/* With all below it. */
static void stop_all(struct world *w, const char *root)
{
    become_operator(w);
    CHECK_OK(call(w, "session.stop", "{'session_id':'%s'}", root)->error);
    world_pass(w, 0);
}

TEST(what_has_ended_is_deleted_with_all_below_it)
{
    struct world *w = world_with_tree();

    answer(w, "state.create", "{'schema_name':'task','initial_data':{},'root_session':'root'}");
    err e = refused(w, "session.delete", "{'session_id':'root'}");
    CHECK_ERR(e, ERR_CONFLICT);
    stop_all(w, "a");
    CHECK_STR(shown(w, "b", "status"), "'stopped'");
    e = refused(w, "session.delete", "{'session_id':'root'}");
    CHECK_STR(e->message, "session root is live: stop it first, with all that is below it");
    become(w, "root");
    CHECK_ERR(refused(w, "session.delete", "{'session_id':'a','with_state':true}"), ERR_FORBIDDEN);
    answer(w, "session.delete", "{'session_id':'a'}");
    become_operator(w);
    CHECK_STR(listed(w, "{}"), "c other root");
    CHECK_ERR(refused(w, "session.get", "{'session_id':'b'}"), ERR_NOT_FOUND);
    stop_all(w, "root");
    answer(w, "session.delete", "{'session_id':'root','with_state':true}");
    CHECK_STR(listed(w, "{}"), "other");
    CHECK_ERR(refused(w, "state.read", "{'state_id':'wfstate_2'}"), ERR_NOT_FOUND);
    session(w, "c", NULL); /* its name is free again */
    world_close(w);
}

TEST(a_session_clears_what_has_ended_below_it)
{
    struct world *w = world_with_tree();

    stop_all(w, "a");
    become(w, "root");
    CHECK_STR(json_shown(check_arena(), answer(w, "session.clear", "{}")),
              "{'deleted':1,'kept':1}");
    CHECK_STR(listed(w, "{}"), "c root");
    become_operator(w);
    CHECK_ERR(refused(w, "session.clear", "{}"), ERR_INVALID);
    CHECK_STR(json_shown(check_arena(), answer(w, "session.clear", "{'session_id':'other'}")),
              "{'deleted':0,'kept':0}");
    world_close(w);
}

/* ---- words ---- */

TEST(only_the_changes_of_the_tables_exist)
{
    int sessions = 0, updates = 0, runs = 0, callbacks = 0;

    for (int from = 0; from < SESSION_STATUS_COUNT; from++) {
        CHECK(!session_may_become(from, from));
        for (int to = 0; to < SESSION_STATUS_COUNT; to++)
            sessions += session_may_become(from, to);
        CHECK_INT(team_word(&session_words, team_name(&session_words, from)), from);
        CHECK(from == SESSION_RUNNING || session_may_become(from, SESSION_RUNNING));
        CHECK(!session_may_become(from, SESSION_PENDING));
    }
    for (int from = 0; from < UPDATE_STATUS_COUNT; from++)
        for (int to = 0; to < UPDATE_STATUS_COUNT; to++)
            updates += update_may_become(from, to);
    for (int from = 0; from < RUN_STATUS_COUNT; from++) {
        CHECK(run_is_live(from) || !run_may_become(from, RUN_PENDING));
        for (int to = 0; to < RUN_STATUS_COUNT; to++)
            runs += run_may_become(from, to);
    }
    for (int from = 0; from < CALLBACK_STATUS_COUNT; from++)
        for (int to = 0; to < CALLBACK_STATUS_COUNT; to++)
            callbacks += callback_may_become(from, to);
    CHECK_INT(sessions, 20);
    CHECK_INT(updates, 8);
    CHECK_INT(runs, 6 + 7 + 6 + 4);
    CHECK_INT(callbacks, 6);
    CHECK_INT(team_word_find(&run_words, STR("nonsense")), -1);
}
