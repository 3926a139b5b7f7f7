/* session_test.c: sessions as operations see them: the tree, its limits, its state, who reaches
 * what, and what sessions tell. */
#include "check.h"
#include "core/session.h"
#include "core/token.h"
#include "json_help.h"
#include "sim/engine.h"

static struct world *world_new(void)
{
    static int worlds;
    struct world *w;

    CHECK_OK(world_open(arena_printf(check_arena(), "sessions%d.db", ++worlds).at, NULL, &w));
    return w;
}

static const struct json *answer(struct world *w, const char *op, const char *input)
{
    struct command *c = world_call(w, op, input, "");
    const struct json *json;

    CHECK_OK(c->error);
    CHECK(!c->waits);
    if (c->empty)
        return NULL;
    CHECK_OK(json_parse(check_arena(), c->answer, NULL, &json));
    return json;
}

static err refused(struct world *w, const char *op, const char *input)
{
    struct command *c = world_call(w, op, input, "");

    CHECK(c->error && !c->events);
    return c->error;
}

/* A member of a session, or of what it answers, as text. */
static str shown(struct world *w, const char *session, const char *member)
{
    const struct json *all =
        answer(w, "session.get", arena_printf(check_arena(), "{'session_id':'%s'}", session).at);

    CHECK(json_get(all, member));
    return json_shown(check_arena(), json_get(all, member));
}

static void session(struct world *w, const char *name, const char *parent)
{
    answer(w, "session.create",
           parent ? arena_printf(check_arena(),
                                 "{'session_id':'ses_%s','session_name':'%s',"
                                 "'parent_session_name':'%s'}",
                                 name, name, parent)
                        .at
                  : arena_printf(check_arena(), "{'session_id':'ses_%s','session_name':'%s'}", name,
                                 name)
                        .at);
}

/* root ← a ← b, root ← c, and another tree. */
static struct world *world_with_tree(void)
{
    struct world *w = world_new();

    session(w, "root", NULL);
    session(w, "a", "root");
    session(w, "b", "ses_a");
    session(w, "c", "root");
    session(w, "other", NULL);
    answer(w, "schema.create", "{'name':'task','json_schema':{'type':'object'}}");
    return w;
}

static const struct actor operator_actor = { .kind = ACTOR_OPERATOR, .name = { "operator", 8 } };

static void grant_done(void *g)
{
    grant_unref(g);
}

/* Whoever holds a token that is minted for a session now. */
static void become(struct world *w, const char *session_name)
{
    struct grant *grant;

    w->actor = operator_actor;
    const struct json *token = answer(
        w, "token.create",
        arena_printf(check_arena(), "{'kind':'session','scope':{'session_id':'%s'}}", session_name)
            .at);
    CHECK_OK(op_admit(&w->engine, check_arena(), json_str(token, "token"), &grant));
    arena_on_release(check_arena(), grant_done, grant);
    w->actor = *grant->actor;
    CHECK(w->actor.token_id.len && str_eq(w->actor.token_id, grant->token_id));
}

static void become_operator(struct world *w)
{
    w->actor = operator_actor;
}

/* The names of the sessions of a page. */
static str listed(struct world *w, const char *input)
{
    const struct json *page = answer(w, "session.list", input);
    const struct json *all = json_get(page, "sessions");
    struct buf out = buf_in(check_arena());

    for (uint32_t i = 0; i < all->len; i++)
        buf_printf(&out, "%s" STR_FMT, i ? " " : "",
                   STR_ARG(json_str(&all->items[i], "session_name")));
    if (json_get(page, "next"))
        buf_add(&out, STR(" …"));
    return buf_str(&out);
}

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
    CHECK_STR(e->message, "there is a session ses_x named \"x\": choose another name, or resume "
                          "that one");
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

/* ---- the state of a tree ---- */

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
    while (json_bool_or(answer(w, "session.get", "{'session_id':'b'}"), "settled", false) ==
           false) {
        w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
        answer(w, "system.tick", "{}");
        become_operator(w);
    }
    answer(w, "state.delete", "{'state_id':'wfstate_2'}");
    CHECK_STR(shown(w, "b", "workflow_state_id"), "null");
    CHECK_STR(shown(w, "root", "workflow_state_id"), "null");
    world_close(w);
}

static bool peeked(struct world *w, struct op_cache *cache, const struct actor *who)
{
    struct op_shown *s =
        op_peek(cache, op_find(w->table, STR("state.read")), STR("wfstate_2"), who);

    if (s)
        op_shown_unref(s);
    return s;
}

TEST(a_state_in_memory_is_shown_to_those_who_see_it_and_while_it_is_right)
{
    struct op_cache *cache = op_cache_new(1 << 20);
    struct world *w = world_with_tree();
    struct actor child = { .kind = ACTOR_SESSION, .session_id = STR("ses_a") };

    op_cache_written(cache,
                     world_call(w, "state.create", "{'schema_name':'task','initial_data':{}}", ""));
    CHECK(peeked(w, cache, &operator_actor));
    CHECK(!peeked(w, cache, &child));
    child.state_id = STR("wfstate_2");
    CHECK(peeked(w, cache, &child));
    /* It belongs to somebody now, which it shows. */
    op_cache_written(cache, world_call(w, "session.create",
                                       "{'session_name':'x','workflow_state_id':'wfstate_2'}", ""));
    CHECK(!peeked(w, cache, &operator_actor));
    op_cache_free(cache);
    world_close(w);
}

/* ---- events of the log ---- */

static size_t heard(struct world *w, const char *subject)
{
    struct command *c = world_call(w, "event.list",
                                   arena_printf(check_arena(), "{'subject':'%s'}", subject).at, "");
    const struct json *page;

    if (c->error && c->error->kind == ERR_NOT_FOUND)
        return 0;
    CHECK_OK(c->error);
    CHECK_OK(json_parse(check_arena(), c->answer, NULL, &page));
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

/* ---- what sessions tell ---- */

TEST(an_attended_session_works_while_it_tells_something)
{
    struct world *w = world_with_tree();

    const struct json *told =
        answer(w, "session.event", "{'session_id':'root','event_type':'session_start'}");
    CHECK_STR(json_shown(check_arena(), told), "{'number':1,'callbacks':0}");
    CHECK_STR(shown(w, "root", "status"), "'running'");
    answer(w, "session.event",
           "{'session_id':'root','event_type':'pre_tool','tool_name':'Bash','tool_input':{'n':1}}");
    CHECK_STR(shown(w, "root", "last_event"), "'pre_tool Bash'");
    answer(w, "session.event", "{'session_id':'root','event_type':'message','content':'so far'}");
    CHECK_STR(shown(w, "root", "last_event"), "'so far'");
    CHECK_STR(shown(w, "root", "last_event_at"), "'2025-01-15T10:35:00Z'");
    const struct json *page = answer(w, "session.events", "{'session_id':'root','limit':2}");
    CHECK_INT(json_int_or(page, "next", 0), 2);
    CHECK_STR(json_shown(check_arena(), json_get(page, "events")),
              "[{'number':1,'event_type':'session_start','time':'2025-01-15T10:35:00Z','data':{}},"
              "{'number':2,'event_type':'pre_tool','time':'2025-01-15T10:35:00Z',"
              "'data':{'tool_name':'Bash','tool_input':{'n':1}}}]");
    CHECK_ERR(refused(w, "session.event", "{'session_id':'root','event_type':'nonsense'}"),
              ERR_INVALID);
    world_close(w);
}

TEST(the_newest_events_of_a_session_are_kept)
{
    struct team_rules rules = team_rules_default;
    struct world *w = world_new();

    rules.session_events = 3;
    w->engine.team = &rules;
    session(w, "root", NULL);
    for (int i = 0; i < 5; i++)
        answer(w, "session.event", "{'session_id':'root','event_type':'message','content':'x'}");
    const struct json *page = answer(w, "session.events", "{'session_id':'root'}");
    CHECK_INT(json_get(page, "events")->len, 3);
    CHECK_INT(json_int_or(&json_get(page, "events")->items[0], "number", 0), 3);
    world_close(w);
}

TEST(an_event_that_is_too_large_is_kept_by_its_size)
{
    struct world *w = world_new();
    char *text = arena_alloc(check_arena(), 70001);

    session(w, "root", NULL);
    memset(text, 'x', 70000);
    text[70000] = 0;
    answer(w, "session.event",
           arena_printf(check_arena(),
                        "{'session_id':'root','event_type':'message','content':'%s'}", text)
               .at);
    const struct json *page = answer(w, "session.events", "{'session_id':'root'}");
    CHECK_STR(json_shown(check_arena(), json_get(&json_get(page, "events")->items[0], "data")),
              "{'truncated':true,'bytes':70014}");
    world_close(w);
}

/* A settled session that is heard again is in its next cycle. */
TEST(an_attended_session_that_goes_on_opens_a_cycle)
{
    struct world *w = world_new();

    session(w, "root", NULL);
    answer(w, "session.event", "{'session_id':'root','event_type':'session_start'}");
    answer(w, "session.event", "{'session_id':'root','event_type':'session_stop'}");
    CHECK_STR(shown(w, "root", "status"), "'finished'");
    CHECK_STR(shown(w, "root", "settled"), "true");
    CHECK_STR(shown(w, "root", "ended_at"), "'2025-01-15T10:35:00Z'");
    answer(w, "session.event", "{'session_id':'root','event_type':'message','content':'more'}");
    CHECK_STR(shown(w, "root", "status"), "'running'");
    CHECK_STR(shown(w, "root", "settled"), "false");
    CHECK_STR(shown(w, "root", "cycle"), "2");
    CHECK_STR(shown(w, "root", "ended_at"), "null");
    world_close(w);
}

TEST(a_session_speaks_for_itself_and_for_those_that_nobody_runs)
{
    struct world *w = world_with_tree();

    become(w, "a");
    answer(w, "session.event", "{'session_id':'a','event_type':'session_start'}");
    answer(w, "session.event", "{'session_id':'b','event_type':'session_start'}");
    CHECK_ERR(refused(w, "session.event", "{'session_id':'root','event_type':'session_start'}"),
              ERR_NOT_FOUND);
    world_close(w);
}

/* ---- waiting ---- */

TEST(who_waits_for_a_session_is_answered_when_it_has_settled)
{
    struct world *w = world_new();

    session(w, "root", NULL);
    struct command *c =
        world_call(w, "session.result", "{'session_id':'root','wait':true,'timeout':7}", "");
    CHECK(!c->error && c->waits);
    CHECK_STR(c->wait_subject, "ses_root");
    CHECK_INT(c->wait_until_ms, w->now_ms + 7000);
    const struct json *now = answer(w, "session.result", "{'session_id':'root'}");
    CHECK_STR(json_str(now, "status"), "pending");
    CHECK(json_str(now, "hint").len > 0);
    CHECK(json_is(json_get(now, "result"), JSON_NULL));
    answer(w, "session.event", "{'session_id':'root','event_type':'session_stop'}");
    now = answer(w, "session.status", "{'session_id':'root','wait':true}");
    CHECK_STR(json_str(now, "status"), "finished");
    now = answer(w, "session.result", "{'session_id':'root','wait':true}");
    CHECK(json_is(json_get(now, "hint"), JSON_NULL));
    world_close(w);
}

/* ---- the end ---- */

static void stop_all(struct world *w, const char *root)
{
    become_operator(w);
    answer(w, "session.stop", arena_printf(check_arena(), "{'session_id':'%s'}", root).at);
    for (int i = 0; i < 10; i++) {
        w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
        answer(w, "system.tick", "{}");
    }
    become_operator(w);
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
