/* workflow_ops_test.c: definitions: deployed, listed, drawn, checked and deleted. */
#include "workflow_help.h"

TEST(a_definition_is_deployed_once_and_another_text_is_its_next_version)
{
    struct world *w = world_new();
    struct command *c = call(w, "workflow.deploy", "{'definition':%s}", SHIP);

    CHECK(c->answer.created);
    CHECK_STR(at(c, "/workflow"), "ship");
    CHECK_STR(at(c, "/version"), "1");
    CHECK_STR(at(c, "/kind"), "steps");
    CHECK_STR(at(c, "/description"), "Ships an order");
    CHECK_STR(at(c, "/warnings"), "[]");
    CHECK_STR(at(c, "/steps/1"),
              "{\"step\":\"label\",\"title\":\"label\",\"description\":null,\"after\":[\"pick\"],"
              "\"by\":\"job\",\"job\":\"label\",\"for_each\":true}");
    CHECK_STR(at(c, "/steps/2/by"), "report");
    str digest = at(c, "/digest");

    c = call(w, "workflow.deploy", "{'definition':%s}", SHIP);
    CHECK(!c->answer.created && !c->events);
    CHECK_STR(at(c, "/version"), "1");
    CHECK(str_eq(at(c, "/digest"), digest));

    c = call(w, "workflow.deploy", "{'name':'ship','description':'x','definition':%s}", TWO);
    CHECK_STR(at(c, "/version"), "2");
    CHECK_STR(at(c, "/description"), "x");
    CHECK_STR(at(call(w, "workflow.get", "{'name':'ship','version':1}"), "/definition/steps/0/id"),
              "pick");
    CHECK_STR(at(call(w, "workflow.get", "{'name':'ship'}"), "/definition/steps/0/id"), "a");
    world_close(w);
}

/* They have no name: what they are of stands for it, unless one is given. */
TEST(documents_of_others_are_deployed_as_they_are_written)
{
    static const struct {
        const char *definition, *name;
    } cases[] = {
        { "{'id':'wf_20250105_143022','task':'Create calculator.py with tests, and verify they pass',"
          "'status':'pending','current_phase':'phase_0','phases':[{'id':'phase_0','title':'Create',"
          "'agent':'general-purpose','status':'pending','deliverables':[],'context_for_next':''}]}",
          "create-calculator.py-with-tests-and-verify-they-pass" },
        { "{'task':'  Ein Café!','phases':[{'id':'a','title':'x'}]}", "ein-caf" },
        { "{'generation_steps':[{'step':1,'name':'File Check'}]}", "generation" },
        { "{'planning_phases':{'scene':[{'phase':1,'name':'Exploration'}],'act':['...']}}",
          "planning-scene" },
    };
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command *c = call(w, "workflow.deploy", "{'definition':%s}", cases[i].definition);
        CHECK_STR(at(c, "/workflow"), cases[i].name);
        c = call(w, "workflow.deploy", "{'definition':%s,'name':'mine-%zu'}", cases[i].definition,
                 i);
        CHECK_STR(at(c, "/workflow"), arena_printf(check_arena(), "mine-%zu", i).at);
    }
    CHECK_ERR(call(w, "workflow.deploy", "{'definition':{'task':'Проверка','phases':[{'id':'a'}]}}")
                  ->error,
              ERR_INVALID);
    CHECK_ERR(call(w, "workflow.deploy", "{'definition':{'steps':[{'id':'a'}]}}")->error,
              ERR_INVALID);
    world_close(w);
}

TEST(definitions_are_listed_by_name_and_their_versions_from_the_newest_on)
{
    struct world *w = world_new();

    deploy(w, SHIP);
    deploy(w, TWO);
    CHECK_OK(call(w, "workflow.deploy", "{'name':'two','definition':%s}", SHIP)->error);
    struct command *c = call(w, "workflow.list", "{'after':'planning','limit':1}");
    CHECK_STR(at(c, "/workflows/0/workflow"), "ship");
    CHECK_STR(at(c, "/next"), "ship");
    c = call(w, "workflow.list", "{'after':'ship'}");
    CHECK_STR(at(c, "/workflows/0/workflow"), "two");
    CHECK_STR(at(c, "/workflows/0/version"), "2");
    CHECK(!json_get(answer_of(c), "next"));
    c = call(w, "workflow.versions", "{'name':'two','limit':1}");
    CHECK_STR(at(c, "/workflows/0/version"), "2");
    c = call(w, "workflow.versions", "{'name':'two','after':2}");
    CHECK_STR(at(c, "/workflows/0/version"), "1");
    CHECK_HAS(refused(w, "workflow.versions", "{'name':'tow'}")->message, "two");
    world_close(w);
}

TEST(a_definition_is_drawn_in_layers)
{
    struct world *w = world_new();

    deploy(w, TWO);
    struct command *c = call(w, "workflow.show", "{'name':'two'}");
    CHECK_STR(at(c, "/version"), "1");
    CHECK_STR(at(c, "/drawing/layers"), "4");
    CHECK_STR(at(c, "/drawing/nodes/1/id"), "a");
    CHECK_STR(at(c, "/drawing/edges/1/from"), "a");
    CHECK_STR(at(c, "/drawing/edges/1/to"), "b");
    world_close(w);
}

/* What is wrong is told for each mistake, and is an answer and no error. */
TEST(a_check_tells_all_mistakes_at_once_and_stores_nothing)
{
    struct world *w = world_new();
    struct command *c = call(w, "workflow.check", "{'definition':%s}", SHIP);

    CHECK_STR(at(c, "/valid"), "true");
    CHECK_STR(at(c, "/errors"), "[]");
    CHECK_STR(at(c, "/drawing/nodes/0/kind"), "start");
    CHECK(!c->events);
    CHECK_STR(at(call(w, "workflow.list", "{'after':'planning'}"), "/workflows"), "[]");

    c = call(w, "workflow.check",
             "{'definition':{'steps':[{'id':'a','after':['b']},{'id':'c','when':'=1 +'}]}}");
    CHECK_STR(at(c, "/valid"), "false");
    CHECK_STR(at(c, "/drawing"), "null");
    CHECK_HAS(at(c, "/errors"), "there is no step \\\"b\\\"");
    CHECK_HAS(at(c, "/errors"), "/steps/1/when");
    CHECK_STR(at(call(w, "workflow.check", "{'definition':{}}"), "/valid"), "false");

    c = call(w, "workflow.check",
             "{'definition':{'steps':[{'id':'a','when':'${order > 100 && !done}'}]}}");
    CHECK_STR(at(c, "/valid"), "true");
    c = call(w, "workflow.check",
             "{'definition':{'steps':[{'id':'a','when':'${execution.getVariable(1)}'}]}}");
    CHECK_HAS(at(c, "/errors"), "methods and functions are not read in ${…}");
    world_close(w);
}

TEST(definitions_that_cannot_be_are_refused_with_what_was_meant)
{
    static const struct {
        const char *op, *input;
        enum error_kind kind;
        const char *says;
    } cases[] = {
        { "workflow.deploy", "{'definition':{'workflow':'x','steps':[{'id':'a','after':['b']}]}}",
          ERR_UNFIT, "there is no step" },
        { "workflow.deploy", "{'definition':{'steps':[{'id':'a'}]}}", ERR_INVALID, "name" },
        { "workflow.deploy", "{'name':'a b','definition':{'steps':[{'id':'a'}]}}", ERR_INVALID,
          "a b" },
        { "workflow.get", "{'name':'tow'}", ERR_NOT_FOUND, "there are: two" },
        { "workflow.get", "{'name':'two','version':7}", ERR_NOT_FOUND, "7" },
        { "workflow.show", "{'name':'tow'}", ERR_NOT_FOUND, "there are: two" },
        { "workflow.delete", "{'name':'tow'}", ERR_NOT_FOUND, "there are: two" },
        { "workflow.delete", "{'name':'two'}", ERR_CONFLICT, "ended" },
    };
    struct world *w = world_new();

    deploy(w, TWO);
    begin(w, "two", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err e = refused(w, cases[i].op, cases[i].input);
        CHECK_ERR(e, cases[i].kind);
        CHECK_HAS(e->message, cases[i].says);
    }
    world_close(w);
}

TEST(a_definition_is_deleted_by_version_or_as_a_whole)
{
    struct world *w = world_new();

    deploy(w, TWO);
    CHECK_OK(call(w, "workflow.deploy", "{'name':'two','definition':%s}", SHIP)->error);
    CHECK_OK(call(w, "workflow.delete", "{'name':'two','version':1}")->error);
    CHECK_ERR(call(w, "workflow.get", "{'name':'two','version':1}")->error, ERR_NOT_FOUND);
    CHECK_STR(at(call(w, "workflow.get", "{'name':'two'}"), "/version"), "2");
    CHECK_OK(call(w, "workflow.delete", "{'name':'two'}")->error);
    CHECK_ERR(call(w, "workflow.get", "{'name':'two'}")->error, ERR_NOT_FOUND);
    world_close(w);
}

/* What is executed is the operator's to say. */
TEST(sessions_and_viewers_read_definitions_and_deploy_none)
{
    struct world *w = world_with_tree();

    deploy(w, TWO);
    become(w, "ses_root");
    CHECK_OK(call(w, "workflow.get", "{'name':'two'}")->error);
    CHECK_OK(call(w, "workflow.check", "{'definition':%s}", TWO)->error);
    CHECK_ERR(call(w, "workflow.deploy", "{'definition':%s}", SHIP)->error, ERR_FORBIDDEN);
    CHECK_ERR(call(w, "workflow.delete", "{'name':'two'}")->error, ERR_FORBIDDEN);
    w->actor = (struct actor){ .kind = ACTOR_VIEWER, .name = STR("viewer") };
    CHECK_OK(call(w, "workflow.list", "{}")->error);
    CHECK_ERR(call(w, "workflow.deploy", "{'definition':%s}", SHIP)->error, ERR_FORBIDDEN);
    world_close(w);
}
