/* policy_test.c: what schemas say of their states beyond JSON Schema. */
#include "check.h"
#include "core/policy.h"
#include "json_help.h"
#include "sim/both.h"
#include "sim/world.h"

static struct world *world_new(const char *schema, const char *data)
{
    static int worlds;
    struct world *w;

    CHECK_OK(world_open(arena_printf(check_arena(), "policy%d.db", ++worlds).at, NULL, &w));
    CHECK_OK(world_call(w, "schema.create",
                        arena_printf(check_arena(), "{'name':'s','json_schema':%s}", schema).at, "")
                 ->error);
    CHECK_OK(world_call(w, "state.create",
                        arena_printf(check_arena(),
                                     "{'schema_name':'s','initial_data':%s,'root_session':'ses_r'}",
                                     data)
                            .at,
                        "")
                 ->error);
    return w;
}

static void become(struct world *w, const char *name, const char *session)
{
    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = str_from(name),
                               .session_id = str_from(session),
                               .state_id = STR("wfstate_2") };
}

/* By whoever speaks; below it, where that is a session. */
static void session_make(struct world *w, const char *id, const char *name, const char *agent)
{
    CHECK_OK(world_call(w, "session.create",
                        arena_printf(check_arena(),
                                     "{'session_id':'%s','session_name':'%s','agent_name':'%s'}",
                                     id, name, agent)
                            .at,
                        "")
                 ->error);
}

TEST_BOTH(annotations_that_nobody_understands_are_refused)
{
    static const struct {
        const char *schema, *says;
    } cases[] = {
        { "{'x-baton':7}", "/x-baton: expected an object, found 7" },
        { "{'x-baton':{'formt':'annotation'}}",
          "/x-baton/formt: \"formt\" is not allowed here; allowed: \"format\", "
          "\"retention\", \"state_bytes_max\", \"state_update\", \"writer\"; did you mean \"format\"?" },
        { "{'x-baton':{'history':7}}",
          "/x-baton/history: \"history\" is not allowed here; allowed: \"format\", "
          "\"retention\", \"state_bytes_max\", \"state_update\", \"writer\"" },
        { "{'x-baton':{'format':'none'}}", NULL },
        { "{'x-baton':{'state_bytes_max':2000000}}", NULL },
        { "{'x-baton':{'state_bytes_max':0}}", NULL },
        { "{'x-baton':{'state_update':{'policy':'never'}}}", NULL },
        { "{'x-baton':{'state_update':{'retries':3}}}", NULL },
        { "{'properties':{'a':{'x-owner':7}}}",
          "/properties/a: expected \"operator\", \"root\", the name of an agent, the id of "
          "a session, or an array of those" },
        { "{'properties':{'a':{'x-owner':[]}}}", "/properties/a: expected at least one owner" },
        { "{'properties':{'a':{'x-owner':'a b'}}}", NULL },
        { "{'items':{'x-owner':'root'}}",
          "/items: \"x-owner\" is understood at the top of a schema and at members of its "
          "\"properties\", not here" },
        { "{'$defs':{'a':{'properties':{'b':{'x-owner':'root'}}}}}", NULL },
        { "{'anyOf':[{},{'x-owner':'root'}]}", NULL },
        { "{'properties':{'a':{'not':{'x-owner':'root'}}}}", NULL },
    };
    struct world *w;
    CHECK_OK(world_open("policy.db", NULL, &w));

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err e =
            world_call(
                w, "schema.create",
                arena_printf(check_arena(), "{'name':'s','json_schema':%s}", cases[i].schema).at,
                "")
                ->error;
        CHECK_ERR(e, ERR_UNFIT);
        if (cases[i].says)
            CHECK_STR(e->message, cases[i].says);
    }
    CHECK_ERR(world_call(w, "schema.get", "{'name':'s'}", "")->error, ERR_NOT_FOUND);
    world_close(w);
}

TEST_BOTH(annotations_are_taken_where_they_mean_something)
{
    static const char *const schemas[] = {
        "{'x-baton':{}}",
        "{'x-baton':{'format':'assertion','state_bytes_max':1048576,'state_update':{'max_retries':3,"
        "'timeout':120,'retry_delay':5,'policy':'if_missing','on_failure':'skip'}}}",
        "{'x-owner':'operator'}",
        "{'properties':{'x-owner':{'type':'string'},'a':{'x-owner':['root','reviewer-1']}}}",
        "{'default':{'x-owner':7},'enum':[{'x-owner':7}],'examples':[{'x-owner':7}]}",
    };
    struct world *w;
    CHECK_OK(world_open("policy.db", NULL, &w));

    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
        CHECK_OK(
            world_call(w, "schema.create",
                       arena_printf(check_arena(), "{'name':'s','json_schema':%s}", schemas[i]).at,
                       "")
                ->error);
    world_close(w);
}

TEST_BOTH(a_schema_can_lower_the_size_of_its_states)
{
    struct world *w = world_new("{'x-baton':{'state_bytes_max':20}}", "{}");

    CHECK_OK(
        world_call(w, "state.update", "{'state_id':'wfstate_2','data':'123456789012345678'}", "")
            ->error);
    err e =
        world_call(w, "state.update", "{'state_id':'wfstate_2','data':'1234567890123456789'}", "")
            ->error;
    CHECK_ERR(e, ERR_TOO_LARGE);
    CHECK_STR(e->message, "the state would have 21 bytes, at most 20 are allowed");
    world_close(w);
}

TEST_BOTH(formats_are_asserted_unless_the_schema_means_them_as_annotations)
{
    static const struct {
        const char *schema;
        bool asserted;
    } cases[] = {
        { "{'format':'date'}", true },
        { "{'format':'date','x-baton':{'format':'assertion'}}", true },
        { "{'format':'date','x-baton':{'format':'annotation'}}", false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world *w = world_new(cases[i].schema, "'2025-01-15'");
        err e = world_call(w, "state.update", "{'state_id':'wfstate_2','data':'soon'}", "")->error;
        if (cases[i].asserted)
            CHECK_ERR(e, ERR_UNFIT);
        else
            CHECK_OK(e);
        world_close(w);
    }
}

/* ---- owners ---- */

static const char owned_schema[] =
    "{'properties':{'plan':{'x-owner':'root','properties':{'notes':{'x-owner':['writer','ses_own']}}},"
    "'verdict':{'x-owner':['reviewer','root']},'free':{},'operator':{'x-owner':'operator'}}}";
static const char owned_data[] =
    "{'plan':{'steps':[1],'notes':'n'},'verdict':'none','free':1,'operator':1}";

/* What each writer may do; the effect counts, however the change is written. */
TEST_BOTH(only_owners_change_what_is_theirs)
{
    enum { ROOT = 1, REVIEWER = 2, WRITER = 4, OPERATOR = 8, ALL = 15 };
    static const struct {
        const char *name, *session;
        unsigned who;
    } actors[] = { { "boss", "ses_r", ROOT },
                   { "ann", "ses_2", REVIEWER },
                   { "bob", "ses_3", WRITER },
                   { "root", "ses_4", 0 },
                   { "operator", "ses_5", 0 },
                   { "reviewer", "ses_6", 0 }, /* what it is called is its own choice */
                   { "ses_own", "ses_7", 0 },
                   { "carl", "ses_own", WRITER },
                   { NULL, NULL, OPERATOR } };
    static const struct {
        const char *operations;
        unsigned by;
    } changes[] = {
        { "[{'op':'replace','path':'/free','value':2}]", ALL },
        { "[{'op':'add','path':'/new','value':2}]", ALL },
        { "[{'op':'replace','path':'/verdict','value':'bad'}]", ROOT | REVIEWER | OPERATOR },
        { "[{'op':'remove','path':'/verdict'}]", ROOT | REVIEWER | OPERATOR },
        { "[{'op':'replace','path':'/verdict','value':'none'}]", ALL },
        { "[{'op':'copy','from':'/verdict','path':'/free'}]", ALL },
        { "[{'op':'move','from':'/verdict','path':'/free'}]", ROOT | REVIEWER | OPERATOR },
        { "[{'op':'add','path':'/plan/steps/-','value':2}]", ROOT | OPERATOR },
        { "[{'op':'add','path':'/plan/more','value':2}]", ROOT | OPERATOR },
        { "[{'op':'replace','path':'/plan/notes','value':'m'}]", WRITER | OPERATOR },
        { "[{'op':'remove','path':'/plan'}]", OPERATOR },
        { "[{'op':'replace','path':'/plan','value':{'notes':'n','steps':[1]}}]", ALL },
        { "[{'op':'replace','path':'/plan','value':{'notes':'n','steps':[2]}}]", ROOT | OPERATOR },
        { "[{'op':'replace','path':'/plan','value':{'notes':'m','steps':[1]}}]",
          WRITER | OPERATOR },
        { "[{'op':'replace','path':'/operator','value':2}]", OPERATOR },
        { "[{'op':'replace','path':'','value':{'plan':{'steps':[1],'notes':'n'},'verdict':'none',"
          "'operator':1}}]",
          ALL },
        { "[{'op':'replace','path':'','value':[]}]", OPERATOR },
    };
    struct world *w = world_new(owned_schema, owned_data);
    int checks = 0;

    session_make(w, "ses_2", "ann", "reviewer");
    session_make(w, "ses_3", "bob", "writer");
    session_make(w, "ses_4", "root", "root");
    session_make(w, "ses_5", "operator", "operator");
    session_make(w, "ses_6", "reviewer", "coder");
    session_make(w, "ses_own", "carl", "none");

    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
        for (size_t a = 0; a < sizeof actors / sizeof *actors; a++, checks++) {
            w->actor = (struct actor){ .kind = ACTOR_OPERATOR, .name = STR("operator") };
            if (actors[a].name)
                become(w, actors[a].name, actors[a].session);
            err e =
                world_call(w, "state.patch",
                           arena_printf(check_arena(), "{'state_id':'wfstate_2','operations':%s}",
                                        changes[c].operations)
                               .at,
                           "")
                    ->error;
            bool may = changes[c].by == ALL || actors[a].who & changes[c].by;
            if (may != !e)
                check_fail(__FILE__, __LINE__, "%s by %s: %s", changes[c].operations,
                           actors[a].name ? actors[a].name : "the operator",
                           e ? e->message.at : "was let through");
            if (e)
                CHECK_ERR(e, ERR_FORBIDDEN);
            w->actor = (struct actor){ .kind = ACTOR_OPERATOR, .name = STR("operator") };
            CHECK_OK(world_call(w, "state.update",
                                arena_printf(check_arena(), "{'state_id':'wfstate_2','data':%s}",
                                             owned_data)
                                    .at,
                                "")
                         ->error);
        }
    }
    check_note("%d checks", checks);
    world_close(w);
}

TEST_BOTH(a_refusal_names_the_place_and_its_owners)
{
    struct world *w = world_new(owned_schema, owned_data);

    session_make(w, "ses_3", "writer", "writer");
    become(w, "writer", "ses_3");
    err e = world_call(w, "state.patch", "{'state_id':'wfstate_2','merge':{'verdict':'good'}}", "")
                ->error;
    CHECK_ERR(e, ERR_FORBIDDEN);
    CHECK_STR(e->message, "\"/verdict\" may be changed by its owners only (reviewer, root), not by "
                          "\"writer\": leave it as it is");
    e = world_call(w, "state.update", "{'state_id':'wfstate_2','data':{'free':1}}", "")->error;
    CHECK_ERR(e, ERR_FORBIDDEN);
    CHECK_OK(world_call(w, "state.patch",
                        "{'state_id':'wfstate_2','merge':{'free':2,'plan':{'notes':'m'}}}", "")
                 ->error);
    world_close(w);
}

TEST_BOTH(an_owner_at_the_top_has_the_whole_document)
{
    struct world *w = world_new("{'x-owner':'root','properties':{'log':{'x-owner':'writer'}}}",
                                "{'a':1,'log':[]}");

    session_make(w, "ses_3", "bob", "writer");
    become(w, "bob", "ses_3");
    CHECK_OK(world_call(w, "state.patch",
                        "{'state_id':'wfstate_2','operations':[{'op':'add','path':'/log/-',"
                        "'value':1}]}",
                        "")
                 ->error);
    CHECK_ERR(world_call(w, "state.patch", "{'state_id':'wfstate_2','merge':{'a':2}}", "")->error,
              ERR_FORBIDDEN);
    become(w, "boss", "ses_r");
    CHECK_OK(world_call(w, "state.patch", "{'state_id':'wfstate_2','merge':{'a':2}}", "")->error);
    world_close(w);
}

/* A session that may not write somewhere cannot start one that may, unless the operator has said so
 * of that agent. */
TEST_BOTH(a_role_that_a_session_chose_counts_where_the_agent_says_so)
{
    static const struct {
        const char *started_by; /* NULL: nothing is said */
        const char *by;         /* the session that starts it */
        bool owns;
    } cases[] = {
        { NULL, "ses_root", false },
        { NULL, "ses_lead", false },
        { "[]", "ses_root", false },
        { "['operator']", "ses_root", false },
        { "['root']", "ses_root", true },
        { "['root']", "ses_lead", false },
        { "['lead']", "ses_lead", true },
        { "['coder','lead']", "ses_lead", true },
        { "['lead']", "ses_root", false },
        { "['lead']", "ses_false", false }, /* its own role was chosen by a session */
        { "['ses_lead']", "ses_lead", true },
        { "['ses_false']", "ses_false", false },   /* nor is its id the operator's word */
        { "['called-lead']", "ses_false", false }, /* that is its name */
    };
    static const char verdict[] = "{'state_id':'wfstate_2','merge':{'verdict':'good'}}";

    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const char *said = cases[i / 2].started_by;
        struct world *w = world_new("{'properties':{'verdict':{'x-owner':'reviewer'}}}", "{}");
        struct actor maker = w->actor;
        session_make(w, "ses_root", "top", "none");
        CHECK_OK(world_call(w, "session.create",
                            "{'session_id':'ses_lead','session_name':'a-lead','agent_name':'lead',"
                            "'parent_session_name':'top'}",
                            "")
                     ->error);
        become(w, "top", "ses_root");
        session_make(w, "ses_false", "called-lead", "lead");
        w->actor = maker;
        CHECK_OK(world_call(w, "agent.create",
                            arena_printf(check_arena(), "{'name':'reviewer'%s%s}",
                                         said ? ",'started_by':" : "", said ? said : "")
                                .at,
                            "")
                     ->error);
        become(w, "starter", cases[i / 2].by);
        if (i % 2)
            session_make(w, "ses_child", "reviewer", "reviewer");
        else
            CHECK_OK(world_call(w, "run.create",
                                "{'type':'start_session','session_id':'ses_child',"
                                "'session_name':'reviewer','agent_name':'reviewer','prompt':'x'}",
                                "")
                         ->error);
        become(w, "reviewer", "ses_child");
        err e = world_call(w, "state.patch", verdict, "")->error;
        CHECK(cases[i / 2].owns ? !e : e && e->kind == ERR_FORBIDDEN);
        if (e)
            CHECK_HAS(e->message, "started_by");
        w->actor = maker;
        world_audit(w);
        world_close(w);
    }
}

/* Who has had no turn yet may get another agent when it is started; its role goes by who says so. */
TEST_BOTH(a_role_follows_the_agent_that_a_first_turn_is_asked_in)
{
    static const struct {
        const char *made, *asked; /* its agent at first, and that of its first turn */
        bool by_session, owns;
    } cases[] = {
        { "reviewer", "", true, true },       { "reviewer", "reviewer", true, true },
        { "coder", "reviewer", true, false }, { "coder", "reviewer", false, true },
        { "reviewer", "coder", true, false }, { "reviewer", "coder", false, false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world *w = world_new("{'properties':{'verdict':{'x-owner':'reviewer'}}}", "{}");
        struct actor maker = w->actor;
        CHECK_OK(world_call(w, "agent.create", "{'name':'reviewer'}", "")->error);
        CHECK_OK(world_call(w, "agent.create", "{'name':'coder'}", "")->error);
        session_make(w, "ses_root", "top", "none");
        CHECK_OK(world_call(w, "session.create",
                            arena_printf(check_arena(),
                                         "{'session_id':'ses_child','session_name':'kid',"
                                         "'agent_name':'%s','parent_session_name':'top'}",
                                         cases[i].made)
                                .at,
                            "")
                     ->error);
        if (cases[i].by_session)
            become(w, "top", "ses_root");
        CHECK_OK(world_call(w, "run.create",
                            arena_printf(check_arena(),
                                         "{'type':'start_session','session_name':'kid',"
                                         "'prompt':'x'%s%s%s}",
                                         *cases[i].asked ? ",'agent_name':'" : "", cases[i].asked,
                                         *cases[i].asked ? "'" : "")
                                .at,
                            "")
                     ->error);
        become(w, "kid", "ses_child");
        err e = world_call(w, "state.patch", "{'state_id':'wfstate_2','merge':{'verdict':1}}", "")
                    ->error;
        CHECK(cases[i].owns ? !e : e && e->kind == ERR_FORBIDDEN);
        w->actor = maker;
        world_audit(w);
        world_close(w);
    }
}

/* An id that a session chose for another is as little as a name. */
TEST_BOTH(an_id_that_a_session_chose_owns_nothing)
{
    static const struct {
        const char *id;
        bool by_session, owns;
    } cases[] = { { "reviewer", true, false }, { "reviewer", false, true } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world *w = world_new("{'properties':{'verdict':{'x-owner':'reviewer'}}}", "{}");
        struct actor maker = w->actor;
        CHECK_OK(
            world_call(w, "agent.create", "{'name':'judge','started_by':['reviewer']}", "")->error);
        session_make(w, "ses_root", "top", "none");
        if (cases[i].by_session)
            become(w, "top", "ses_root");
        session_make(w, cases[i].id, "any", "none");
        become(w, "any", cases[i].id);
        err e = world_call(w, "state.patch", "{'state_id':'wfstate_2','merge':{'verdict':1}}", "")
                    ->error;
        CHECK(cases[i].owns ? !e : e && e->kind == ERR_FORBIDDEN);
        session_make(w, "ses_judge", "judge", "judge");
        w->actor = maker;
        struct store_node node;
        const struct row *row;
        CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
        CHECK_OK(sql_one_(w->engine.sql, &row, "SELECT role FROM session WHERE name = $1",
                          ARGS(TEXT(STR("judge")))));
        CHECK_STR(row_str(row, 0), cases[i].owns ? "judge" : "");
        store_rollback(w->engine.sql);
        world_close(w);
    }
}
