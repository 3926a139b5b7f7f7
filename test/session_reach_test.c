/* session_reach_test.c: what a session sees and may do, of itself and of those below it. */
#include "session_help.h"

/* ---- reach ---- */

TEST(a_session_reaches_itself_and_what_is_below_it)
{
    static const struct {
        const char *who, *reached;
    } cases[] = { { "root", "a b c root" }, { "a", "a b" }, { "b", "b" }, { "other", "other" } };
    static const char *const all[] = { "root", "a", "b", "c", "other" };
    static const char *const ops[] = { "session.get",    "session.status", "session.result",
                                       "session.events", "session.stop",   "session.delete" };
    struct world *w = world_with_tree();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        become(w, cases[i].who);
        CHECK_STR(listed(w, "{}"), cases[i].reached);
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            bool in = strstr(cases[i].reached, all[k]);
            const char *input = arena_printf(check_arena(), "{'session_id':'%s'}", all[k]).at;
            for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
                if (in && o >= 4)
                    continue; /* would change the tree */
                struct command *c = world_call(w, ops[o], input, "");
                CHECK(in ? !c->error : c->error && c->error->kind == ERR_NOT_FOUND);
            }
        }
    }
    world_close(w);
}

TEST(a_sessions_token_makes_sessions_below_itself_alone)
{
    struct world *w = world_with_tree();

    become(w, "a");
    answer(w, "session.create", "{'session_name':'new'}");
    CHECK_STR(shown(w, "new", "parent_session_name"), "'a'");
    answer(w, "session.create", "{'session_name':'newer','parent_session_name':'b'}");
    CHECK_STR(shown(w, "newer", "depth"), "4");
    CHECK_ERR(refused(w, "session.create", "{'session_name':'x','parent_session_name':'root'}"),
              ERR_NOT_FOUND);
    CHECK_ERR(refused(w, "session.create", "{'session_name':'x','parent_session_name':'c'}"),
              ERR_NOT_FOUND);
    /* The holder of a token for a session that nobody knows has nothing to be below of. */
    become_operator(w);
    become(w, "ses_unknown");
    CHECK_ERR(refused(w, "session.create", "{'session_name':'x'}"), ERR_NOT_FOUND);
    world_close(w);
}

TEST(a_session_cannot_leave_its_directory)
{
    static const struct {
        const char *dir;
        bool allowed;
    } cases[] = {
        { "/work/site", true },       { "/work/site/", true },  { "/work/site/a/b", true },
        { "/work", false },           { "/work/site2", false }, { "/work/site/../x", false },
        { "/work/site/a/..", false }, { "/etc", false },        { "work/site", false },
    };
    struct world *w = world_new();

    answer(w, "session.create", "{'session_name':'root','project_dir':'/work/site'}");
    become(w, "root");
    answer(w, "session.create", "{'session_name':'same'}");
    CHECK_STR(shown(w, "same", "project_dir"), "'/work/site'");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command *c =
            world_call(w, "session.create",
                       arena_printf(check_arena(), "{'session_name':'x%zu','project_dir':'%s'}", i,
                                    cases[i].dir)
                           .at,
                       "");
        CHECK(cases[i].allowed ? !c->error : c->error && c->error->kind == ERR_FORBIDDEN);
    }
    become_operator(w);
    answer(w, "session.create", "{'session_name':'nowhere'}");
    become(w, "nowhere");
    CHECK_ERR(refused(w, "session.create", "{'session_name':'y','project_dir':'/'}"),
              ERR_FORBIDDEN);
    world_close(w);
}

/* A child's sections are within its parent's; which it inherits when it names none. */
TEST(pointers_only_ever_narrow)
{
    struct world *w = world_new();

    answer(w, "session.create", "{'session_name':'root','pointers':['/tasks','/log']}");
    answer(w, "session.create", "{'session_name':'same','parent_session_name':'root'}");
    CHECK_STR(shown(w, "same", "pointers"), "['/tasks','/log']");
    answer(w, "session.create",
           "{'session_name':'less','parent_session_name':'root','pointers':['/tasks/1']}");
    static const char *const wider[] = { "['']", "['/']", "['/task']", "['/tasks','/other']" };
    for (size_t i = 0; i < sizeof wider / sizeof *wider; i++)
        CHECK_ERR(refused(w, "session.create",
                          arena_printf(check_arena(),
                                       "{'session_name':'more','parent_session_name':'root',"
                                       "'pointers':%s}",
                                       wider[i])
                              .at),
                  ERR_FORBIDDEN);
    CHECK_ERR(refused(w, "session.create", "{'session_name':'more','pointers':['tasks']}"),
              ERR_INVALID);
    become(w, "less");
    CHECK_INT(w->actor.pointer_count, 1);
    CHECK_STR(w->actor.pointers[0], "/tasks/1");
    CHECK_ERR(refused(w, "session.create", "{'session_name':'more','pointers':['/tasks']}"),
              ERR_FORBIDDEN);

    /* A token that was minted for less than its session may hands on no more than itself. */
    become_operator(w);
    answer(w, "session.create", "{'session_name':'wide','session_id':'ses_wide'}");
    static const str narrow[] = { { "/a", 2 } };
    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = STR("wide"),
                               .session_id = STR("ses_wide"),
                               .pointers = narrow,
                               .pointer_count = 1 };
    answer(w, "session.create", "{'session_name':'narrow'}");
    CHECK_STR(shown(w, "narrow", "pointers"), "['/a']");
    CHECK_ERR(refused(w, "session.create", "{'session_name':'x','pointers':['/b']}"),
              ERR_FORBIDDEN);
    struct actor restricted = w->actor;
    become_operator(w);
    answer(w, "session.create",
           "{'session_name':'b','parent_session_name':'wide','pointers':['/b']}");
    w->actor = restricted;
    CHECK_ERR(refused(w, "session.create", "{'session_name':'x','parent_session_name':'b'}"),
              ERR_FORBIDDEN);
    world_close(w);
}

TEST(a_viewer_of_one_state_sees_the_sessions_that_share_it)
{
    struct world *w = world_with_tree();

    answer(w, "state.create", "{'schema_name':'task','initial_data':{},'root_session':'root'}");
    w->actor =
        (struct actor){ .kind = ACTOR_VIEWER, .name = STR("viewer"), .state_id = STR("wfstate_2") };
    CHECK_STR(listed(w, "{}"), "a b c root");
    CHECK_ERR(refused(w, "session.get", "{'session_id':'other'}"), ERR_NOT_FOUND);
    world_close(w);
}

/* ---- events of the log ---- */

static size_t heard(struct world *w, const char *subject)
{
    struct command *c = world_call(w, "event.list",
                                   arena_printf(check_arena(), "{'subject':'%s'}", subject).at, "");

    if (c->error && c->error->kind == ERR_NOT_FOUND)
        return 0;
    CHECK_OK(c->error);
    const struct json *page = json_parsed(check_arena(), c->answer.text);
    return json_get(page, "events")->len;
}

TEST(a_session_hears_of_itself_and_of_those_below_it)
{
    struct world *w = world_with_tree();

    answer(w, "state.create", "{'schema_name':'task','initial_data':{},'root_session':'other'}");
    become(w, "a");
    CHECK_INT(heard(w, "ses_a"), 1);
    CHECK_INT(heard(w, "ses_b"), 1);
    CHECK_INT(heard(w, "ses_root"), 0);
    CHECK_INT(heard(w, "ses_c"), 0);
    CHECK_INT(heard(w, "wfstate_2"), 0);
    CHECK_INT(heard(w, "schema_1"), 0);
    CHECK_INT(json_get(answer(w, "event.list", "{}"), "events")->len, 1); /* of itself */

    /* A child by the name of something else opens nothing. */
    answer(w, "session.create", "{'session_name':'wfstate_2'}");
    CHECK_INT(heard(w, "wfstate_2"), 0);
    become(w, "other");
    CHECK_INT(heard(w, "wfstate_2"), 1);
    CHECK_INT(heard(w, "ses_other"), 2);
    CHECK_INT(heard(w, "ses_a"), 0);
    world_close(w);
}

/* ---- tokens ---- */

TEST(a_token_for_a_name_is_a_token_for_its_session)
{
    struct world *w = world_with_tree();

    become(w, "b");
    CHECK_STR(w->actor.session_id, "ses_b");
    become(w, "ses_b");
    CHECK_STR(w->actor.session_id, "ses_b");
    become(w, "nobody");
    CHECK_STR(w->actor.session_id, "nobody");
    world_close(w);
}
