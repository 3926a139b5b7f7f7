/* hook_agents_test.c: agents inside of a client's process, as those who do phases of a workflow; and the
 * list of what there is to do that a client keeps. */
#include "hooks_fixture.h"

#define CALC                                                           \
    "[{'title':'Create calculator module','agent':'general-purpose'}," \
    "{'title':'Write and run tests','agent':'task-completion-verifier'}]"
#define SAME \
    "[{'title':'First','agent':'general-purpose'},{'title':'Second','agent':'general-purpose'}]"
#define AT_ONCE                                              \
    "[{'title':'One','agent':'general-purpose','after':[]}," \
    "{'title':'Two','agent':'general-purpose','after':[]},"  \
    "{'title':'Last','agent':'reviewer','after':['phase_0','phase_1']}]"

/* A client that a person has started, and a workflow of these phases. */
static struct fixture *with_phases(const char *phases)
{
    struct fixture *t = fixture_with_root();

    as_session(t, A_NAME);
    CHECK_OK(call(t->w, "phase.create", "{'task':'T','phases':%s}", phases)->error);
    t->w->actor = the_operator;
    return t;
}

static const struct json *shown(struct fixture *t)
{
    as_session(t, A_NAME);
    const struct json *w = answer_of(call(t->w, "phase.show", "{}"));
    t->w->actor = the_operator;
    return w;
}

/* The statuses of all phases, in their order, and what the whole is. */
static str phases(struct fixture *t)
{
    const struct json *w = shown(t), *all = json_get(w, "phases");
    struct buf out = buf_in(check_arena());

    for (uint32_t i = 0; i < all->len; i++)
        buf_printf(&out, STR_FMT " ", STR_ARG(json_str(&all->items[i], "status")));
    buf_printf(&out, "= " STR_FMT, STR_ARG(json_str(w, "status")));
    return buf_str(&out);
}

static str phase_member(struct fixture *t, uint32_t i, const char *name)
{
    const struct json *value = json_get(json_at(json_get(shown(t), "phases"), i), name);

    return json_shown(check_arena(), value);
}

static str told(struct fixture *t, const char *event, const char *members)
{
    return hook(t, "claude", A, event, members);
}

static str begins(struct fixture *t, const char *id, const char *type)
{
    return told(t, "SubagentStart",
                arena_printf(check_arena(), "'agent_id':'%s','agent_type':'%s'", id, type).at);
}

static str ends(struct fixture *t, const char *id, const char *words)
{
    return told(t, "SubagentStop",
                arena_printf(check_arena(),
                             "'agent_id':'%s','agent_type':'x','stop_hook_active':false,"
                             "'last_assistant_message':'%s'",
                             id, words)
                    .at);
}

#define PROMPT "'prompt':'go on'"
#define STOPS "'stop_hook_active':false,'background_tasks':[],'session_crons':[]"

TEST(an_agent_inside_of_a_client_does_its_phase)
{
    struct fixture *t = with_phases(CALC);

    CHECK_STR(phases(t), "pending pending = pending");
    str text = begins(t, "a1", "general-purpose");
    CHECK_HAS(text, "You do phase_0 of the workflow wf_");
    CHECK_HAS(text, "Create calculator module");
    CHECK_HAS(text, "'hookEventName':'SubagentStart'");
    CHECK(!str_contains(text, STR("Context:")));
    CHECK_STR(phases(t), "active pending = active");
    SILENT(ends(t, "a1",
                "Done.\\n- `/p/calculator.py`\\n- add, subtract\\n\\nContext: four functions"));
    CHECK_STR(phases(t), "completed active = active");
    CHECK_STR(phase_member(t, 0, "deliverables"), "['/p/calculator.py','add, subtract']");
    CHECK_STR(phase_member(t, 0, "context_for_next"), "'four functions'");

    /* Whoever has started it is told once, with what comes next. */
    text = told(t, "PostToolUse",
                "'tool_name':'Agent','tool_response':{'status':'completed','agentId':'a1'}");
    CHECK_HAS(text, "Create calculator module");
    CHECK_HAS(text, "is completed, with /p/calculator.py; add, subtract.");
    CHECK_HAS(text, "Next is phase_1, ");
    CHECK_HAS(text, "for an agent of the type task-completion-verifier. Put this into its prompt:");
    CHECK_HAS(text, "Context: four functions");
    SILENT(told(t, "UserPromptSubmit", PROMPT));

    CHECK_HAS(begins(t, "a2", "task-completion-verifier"), "Context: four functions");
    SILENT(ends(t, "a2", "All 12 tests pass."));
    CHECK_STR(phases(t), "completed completed = completed");
    CHECK_HAS(told(t, "UserPromptSubmit", PROMPT), "The workflow is completed.");
    fixture_free(t);
}

TEST(an_agent_that_fits_no_phase_is_tied_to_none)
{
    struct fixture *t = with_phases(CALC);

    SILENT(begins(t, "a0", "Explore"));
    SILENT(begins(t, "a1", "task-completion-verifier")); /* whose phase may not start yet */
    SILENT(ends(t, "a0", "- x.c"));
    SILENT(ends(t, "a1", "- x.c"));
    CHECK_STR(phases(t), "pending pending = pending");
    SILENT(told(t, "UserPromptSubmit", PROMPT));
    CHECK_HAS(begins(t, "a2", "general-purpose"), "phase_0");
    SILENT(begins(t, "a3", "general-purpose")); /* it has one */
    SILENT(ends(t, "a3", "nothing"));
    CHECK_STR(phases(t), "active pending = active");
    fixture_free(t);
}

TEST(agents_without_a_workflow_are_nobody)
{
    struct fixture *t = fixture_with_root();

    SILENT(begins(t, "a1", "general-purpose"));
    SILENT(ends(t, "a1", "- x.c"));
    SILENT(told(t, "Stop", STOPS));
    fixture_free(t);
}

/* Those of one type take the phases in their order, and the end of one is the end of its own. */
TEST(several_agents_at_once_have_a_phase_each)
{
    struct fixture *t = with_phases(AT_ONCE);

    CHECK_HAS(begins(t, "b", "general-purpose"), "You do phase_0 of");
    CHECK_HAS(begins(t, "a", "general-purpose"), "You do phase_1 of");
    SILENT(begins(t, "c", "general-purpose"));
    SILENT(begins(t, "r", "reviewer"));
    SILENT(ends(t, "a", "- two.c\\n\\nContext: from two"));
    CHECK_STR(phases(t), "active completed pending = active");
    CHECK(!str_contains(told(t, "UserPromptSubmit", PROMPT), STR("Next is")));
    SILENT(ends(t, "b", "- one.c\\n\\nContext: from one"));
    CHECK_STR(phases(t), "completed completed active = active");
    CHECK_STR(phase_member(t, 0, "deliverables"), "['one.c']");
    CHECK_STR(phase_member(t, 1, "deliverables"), "['two.c']");
    CHECK_HAS(begins(t, "r", "reviewer"), "Context: from one\\nfrom two");
    fixture_free(t);
}

/* The same agent may do one phase after the other, as its client goes on with it. */
TEST(an_agent_that_starts_again_takes_the_next_phase)
{
    struct fixture *t = with_phases(SAME);

    CHECK_HAS(begins(t, "a", "general-purpose"), "phase_0");
    CHECK_HAS(begins(t, "a", "general-purpose"), "phase_0"); /* it is at work */
    SILENT(ends(t, "a", "one"));
    SILENT(ends(t, "a", "told again")); /* which changes nothing */
    CHECK_STR(phases(t), "completed active = active");
    CHECK_HAS(begins(t, "a", "general-purpose"), "phase_1");
    SILENT(ends(t, "a", "two"));
    CHECK_STR(phases(t), "completed completed = completed");
    CHECK_STR(phase_member(t, 0, "context_for_next"), "'one'");
    fixture_free(t);
}

static str workflow_id(struct fixture *t)
{
    return json_str(shown(t), "id");
}

static void update(struct fixture *t, const char *phase, const char *more)
{
    str id = workflow_id(t);

    as_session(t, A_NAME);
    CHECK_OK(call(t->w, "phase.update", "{'workflow_id':'" STR_FMT "','phase_id':'%s',%s}",
                  STR_ARG(id), phase, more)
                 ->error);
    t->w->actor = the_operator;
}

TEST(what_an_agent_has_said_itself_stands)
{
    struct fixture *t = with_phases(CALC);

    begins(t, "a1", "general-purpose");
    update(t, "phase_0", "'status':'active','deliverables':['mine.c']");
    SILENT(ends(t, "a1", "- other.c\\n\\nContext: by the hook"));
    CHECK_STR(phase_member(t, 0, "deliverables"), "['mine.c']");
    CHECK_STR(phase_member(t, 0, "context_for_next"), "'by the hook'");
    begins(t, "a2", "task-completion-verifier");
    update(t, "phase_1", "'status':'failed','error':'two tests fail'");
    SILENT(ends(t, "a2", "All is well."));
    CHECK_STR(phases(t), "completed failed = failed");
    CHECK_STR(phase_member(t, 1, "context_for_next"), "''");
    str text = told(t, "UserPromptSubmit", PROMPT);
    CHECK_HAS(text, "is failed: two tests fail.");
    CHECK_HAS(text, "The workflow is failed.");
    fixture_free(t);
}

TEST(agents_that_do_not_end_well_fail_their_phases)
{
    static const struct {
        const char *event, *members, *why;
    } cases[] = {
        { "StopFailure",
          "'agent_id':'a1','agent_type':'general-purpose','error':'unknown',"
          "'last_assistant_message':'API Error: 400 no such thing'",
          "API Error: 400 no such thing" },
        { "PostToolUse", "'tool_name':'TaskStop','tool_response':{'task_id':'a1'}",
          "its agent was stopped" },
        { "UserPromptSubmit",
          "'prompt':'<task-notification>\\n<task-id>a1</task-id>\\n<status>killed</status>\\n"
          "<summary>Agent was stopped by the user</summary>\\n</task-notification>'",
          "Agent was stopped by the user" },
        { "Stop", STOPS, "nobody has told how it ended" },
        { "SessionEnd", "'reason':'other'", "its client has ended" },
        { "SessionStart", "'source':'resume'", "its client has begun anew" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *t = with_phases(CALC);
        begins(t, "a1", "general-purpose");
        CHECK_STR(phases(t), "active pending = active");
        str text = told(t, cases[i].event, cases[i].members);
        CHECK_STR(phases(t), "failed pending = failed");
        if (!str_contains(text, STR("is failed")))
            text = told(t, "UserPromptSubmit", PROMPT);
        CHECK_HAS(text, cases[i].why);
        fixture_free(t);
    }
}

/* A client that waits for nothing of it, and one that waits for one agent, and not for the other. */
TEST(agents_in_the_background_go_on_when_their_client_stops)
{
    struct fixture *t = with_phases(CALC);

    begins(t, "a1", "general-purpose");
    SILENT(told(t, "PostToolUse",
                "'tool_name':'Agent','tool_response':{'isAsync':true,'status':'async_launched',"
                "'agentId':'a1'}"));
    SILENT(told(t, "Stop",
                "'stop_hook_active':false,'background_tasks':[{'id':'a1','type':'subagent',"
                "'status':'running'}],'session_crons':[]"));
    told(t, "SessionStart", "'source':'compact'");
    CHECK_STR(phases(t), "active pending = active");
    SILENT(ends(t, "a1", "made a.c"));
    CHECK_HAS(told(t, "UserPromptSubmit",
                   "'prompt':'<task-notification>\\n<task-id>a1</task-id>\\n"
                   "<status>completed</status>\\n<result>made a.c</result>\\n"
                   "</task-notification>'"),
              "is completed, with a.c.");
    SILENT(told(t, "Stop", STOPS));
    CHECK_STR(phases(t), "completed active = active");
    fixture_free(t);
}

static str launched(struct fixture *t, const char *id, const char *prompt)
{
    return told(t, "PostToolUse",
                arena_printf(check_arena(),
                             "'tool_name':'Agent','tool_input':{'subagent_type':'general-purpose',"
                             "'prompt':'%s'},'tool_response':{'isAsync':true,"
                             "'status':'async_launched','agentId':'%s'}",
                             prompt, id)
                    .at);
}

/* Those that are started at once begin in any order: their prompts say who is who. */
TEST(an_agent_whose_prompt_names_its_phase_does_that_one)
{
    struct fixture *t = with_phases(AT_ONCE);

    SILENT(launched(t, "b",
                    "phase_1 of the workflow, not phase_10")); /* before its start is heard of */
    CHECK_STR(phases(t), "pending active pending = active");
    CHECK_HAS(begins(t, "b", "general-purpose"), "You do phase_1 of");
    CHECK_HAS(begins(t, "a", "general-purpose"), "You do phase_0 of");
    SILENT(launched(t, "a", "phase_1 and phase_0")); /* which says nothing */
    SILENT(ends(t, "b", "- two.c"));
    CHECK_STR(phases(t), "active completed pending = active");
    told(t, "UserPromptSubmit", PROMPT);
    fixture_free(t);

    t = with_phases(AT_ONCE);
    CHECK_HAS(begins(t, "b", "general-purpose"), "You do phase_0 of");
    CHECK_HAS(begins(t, "a", "general-purpose"), "You do phase_1 of");
    SILENT(launched(t, "b", "Do phase_1."));
    SILENT(launched(t, "a", "Do phase_0."));
    SILENT(ends(t, "b", "- two.c"));
    CHECK_STR(phases(t), "active completed pending = active");
    launched(t, "c", "Do phase_2."); /* which may not begin yet */
    CHECK_STR(phases(t), "active completed pending = active");
    SILENT(ends(t, "a", "- one.c"));
    CHECK_STR(phase_member(t, 0, "deliverables"), "['one.c']");
    CHECK_STR(phase_member(t, 1, "deliverables"), "['two.c']");
    CHECK_HAS(launched(t, "a", "Do phase_2."),
              "Next is phase_2"); /* told late, of one that has ended */
    CHECK_STR(phases(t), "completed completed active = active");
    fixture_free(t);
}

TEST(an_agent_that_speaks_for_another_phase_does_that_one)
{
    struct fixture *t = with_phases(AT_ONCE);

    begins(t, "a", "general-purpose");
    begins(t, "b", "general-purpose");
    update(t, "phase_1", "'status':'completed','deliverables':['by itself']");
    str id = workflow_id(t);
    SILENT(told(t, "PostToolUse",
                arena_printf(check_arena(),
                             "'tool_name':'mcp__baton__update_phase_status','agent_id':'a',"
                             "'tool_input':{'workflow_id':'" STR_FMT "','phase_id':'phase_1'}",
                             STR_ARG(id))
                    .at));
    SILENT(ends(t, "a", "- other.c"));
    CHECK_STR(phases(t), "active completed pending = active");
    SILENT(ends(t, "b", "- one.c"));
    CHECK_STR(phase_member(t, 0, "deliverables"), "['one.c']");
    CHECK_STR(phase_member(t, 1, "deliverables"), "['by itself']");
    fixture_free(t);
}

/* A client whose hooks of ends are not heard tells of them by its prompts, or by its tool. */
TEST(an_end_is_heard_of_by_whichever_way_comes_first)
{
    struct fixture *t = with_phases(SAME);

    begins(t, "a1", "general-purpose");
    CHECK_HAS(told(t, "UserPromptSubmit",
                   "'prompt':'<task-notification>\\n<task-id>a1</task-id>\\n"
                   "<status>completed</status>\\n<result>- a.c</result>\\n</task-notification>'"),
              "with a.c.");
    begins(t, "a2", "general-purpose");
    CHECK_HAS(told(t, "PostToolUse",
                   "'tool_name':'Task','tool_response':{'status':'completed','agentId':'a2',"
                   "'content':[{'type':'text','text':'- b.c'}]}"),
              "with b.c.");
    CHECK_STR(phases(t), "completed completed = completed");
    fixture_free(t);
}

TEST(a_paused_workflow_has_no_phase_to_begin)
{
    struct fixture *t = with_phases(CALC);
    str id = workflow_id(t);

    CHECK_OK(call(t->w, "execution.pause", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    SILENT(begins(t, "a1", "general-purpose"));
    CHECK_OK(call(t->w, "execution.resume", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    CHECK_HAS(begins(t, "a1", "general-purpose"), "phase_0");
    CHECK_OK(call(t->w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    SILENT(ends(t, "a1", "- a.c"));
    CHECK_HAS(told(t, "UserPromptSubmit", PROMPT), "The workflow is failed.");
    CHECK_OK(call(t->w, "execution.delete", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    SILENT(told(t, "UserPromptSubmit", PROMPT));
    fixture_free(t);
}

TEST(agents_are_forgotten_with_their_session)
{
    struct fixture *t = with_phases(CALC);
    struct store_node node;
    const struct row *row;

    begins(t, "a1", "general-purpose");
    told(t, "PostToolUse",
         "'tool_name':'TodoWrite','tool_input':{'todos':[{'content':'x','status':'pending'}]}");
    told(t, "SessionEnd", "'reason':'other'");
    CHECK_OK(call(t->w, "session.delete", "{'session_id':'" A_NAME "'}")->error);
    CHECK_OK(store_begin(t->w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_one(t->w->engine.sql, &row,
                     "SELECT (SELECT count(*) FROM sub_agent) + (SELECT count(*) FROM todo_list)",
                     NO_ARGS));
    CHECK_INT(row_int(row, 0), 0);
    store_rollback(t->w->engine.sql);
    fixture_free(t);
}

/* What Claude Code 2.1.326 tells: one event after the other, as its hooks were called. */
static void replay(struct fixture *t, const struct json *scenario)
{
    const struct json *events = json_get(scenario, "events");

    for (uint32_t i = 0; i < events->len; i++) {
        struct command *c = world_command(t->w, "hook.event", "{'client':'claude'}", "");
        json_put(check_arena(), (struct json *)c->input, STR("event"), events->items[i]);
        op_perform(&t->w->engine, &c, 1);
        CHECK_OK(c->error);
        if (i)
            continue;
        str id = json_str(&events->items[0], "session_id");
        as_session(t, arena_printf(check_arena(), "claude-" STR_FMT, STR_ARG(id)).at);
        str all = json_printed(check_arena(), json_get(scenario, "phases"));
        CHECK_OK(
            call(t->w, "phase.create", "{'task':'T','phases':" STR_FMT "}", STR_ARG(all))->error);
        t->w->actor = the_operator;
    }
}

TEST(agents_of_a_real_client_do_their_phases)
{
    str text = check_read(check_source("test/cases/sub_agents.json"));
    const struct json *all;

    CHECK_OK(json_parse(check_arena(), text, NULL, &all));
    CHECK_INT(all->len, 10);
    for (uint32_t k = 0; k < all->len; k++) {
        const struct json *c = &all->items[k], *first = json_at(json_get(c, "events"), 0);
        str id =
            arena_printf(check_arena(), "claude-" STR_FMT, STR_ARG(json_str(first, "session_id")));
        struct fixture *t = fixture_new();
        struct buf statuses = buf_in(check_arena()), list = buf_in(check_arena());
        struct json made = json_array();

        replay(t, c);
        as_session(t, id.at);
        const struct json *w = answer_of(call(t->w, "phase.show", "{}")),
                          *of = json_get(w, "phases");
        for (uint32_t i = 0; i < of->len; i++) {
            buf_printf(&statuses, "%s" STR_FMT, i ? " " : "",
                       STR_ARG(json_str(&of->items[i], "status")));
            json_push(check_arena(), &made, *json_get(&of->items[i], "deliverables"));
        }
        const struct json *items = json_get(
            answer_of(call(t->w, "session.todos", "{'session_id':'" STR_FMT "'}", STR_ARG(id))),
            "todos");
        for (uint32_t i = 0; i < items->len; i++)
            buf_printf(&list, "%s" STR_FMT " " STR_FMT ": " STR_FMT, i ? ", " : "",
                       STR_ARG(json_str(&items->items[i], "id")),
                       STR_ARG(json_str(&items->items[i], "content")),
                       STR_ARG(json_str(&items->items[i], "status")));
        CHECK_STR(buf_str(&statuses), arena_copy(check_arena(), json_str(c, "statuses")).at);
        CHECK_STR(json_printed(check_arena(), &made),
                  json_printed(check_arena(), json_get(c, "deliverables")).at);
        CHECK_STR(buf_str(&list), arena_copy(check_arena(), json_str(c, "todos")).at);
        fixture_free(t);
    }
}

/* ---- the list of what there is to do ---- */

static const struct json *todos(struct fixture *t)
{
    return answer_of(call(t->w, "session.todos", "{'session_id':'" A_NAME "'}"));
}

static str listed(struct fixture *t)
{
    const struct json *all = json_get(todos(t), "todos");
    struct buf out = buf_in(check_arena());

    for (uint32_t i = 0; i < all->len; i++)
        buf_printf(&out, "%s" STR_FMT " " STR_FMT ": " STR_FMT, i ? ", " : "",
                   STR_ARG(json_str(&all->items[i], "id")),
                   STR_ARG(json_str(&all->items[i], "content")),
                   STR_ARG(json_str(&all->items[i], "status")));
    return buf_str(&out);
}

TEST(the_list_of_a_client_is_mirrored)
{
    struct fixture *t = fixture_with_root();

    CHECK_STR(listed(t), "");
    CHECK(json_is(json_get(todos(t), "updated_at"), JSON_NULL));
    told(
        t, "PostToolUse",
        "'tool_name':'TaskCreate','tool_input':{'subject':'Do A','description':'first','activeForm':"
        "'Doing A'},'tool_response':{'task':{'id':'1','subject':'Do A'}}");
    told(t, "PostToolUse",
         "'tool_name':'TaskCreate','agent_id':'a','tool_input':{'subject':'Do B'},"
         "'tool_response':{'task':{'id':'2','subject':'Do B'}}");
    CHECK_STR(listed(t), "1 Do A: pending, 2 Do B: pending");
    told(t, "PostToolUse",
         "'tool_name':'TaskUpdate','tool_input':{'taskId':'1','status':'in_progress'},"
         "'tool_response':{'success':true,'taskId':'1'}");
    told(t, "PostToolUse",
         "'tool_name':'TaskUpdate','tool_input':{'taskId':'2','status':'completed'},"
         "'tool_response':{'success':false,'error':'no'}");
    CHECK_STR(listed(t), "1 Do A: in_progress, 2 Do B: pending");
    CHECK_STR(json_str(json_at(json_get(todos(t), "todos"), 0), "activeForm"), "Doing A");
    told(t, "PostToolUse",
         "'tool_name':'TaskUpdate','tool_input':{'taskId':'2','status':'deleted'},"
         "'tool_response':{'success':true}");
    CHECK_STR(listed(t), "1 Do A: in_progress");
    told(t, "PostToolUse",
         "'tool_name':'TaskList','tool_input':{},'tool_response':{'tasks':[{'id':'1','subject':'Do "
         "A','status':'completed'},{'id':'7','subject':'Do G','status':'pending'}]}");
    CHECK_STR(listed(t), "1 Do A: completed, 7 Do G: pending");
    told(t, "PostToolUse",
         "'tool_name':'TodoWrite','tool_input':{'todos':[{'content':'x','status':'in_progress',"
         "'activeForm':'Doing x'},{'content':'y','status':'pending'}]}");
    CHECK_STR(listed(t), "1 x: in_progress, 2 y: pending");
    told(t, "PostToolUse", "'tool_name':'TodoWrite','agent_id':'a','tool_input':{'todos':[]}");
    told(t, "PostToolUse", "'tool_name':'TaskList','tool_response':'Interrupted'");
    told(t, "PostToolUse", "'tool_name':'TaskCreate','tool_response':'Interrupted'");
    CHECK_STR(listed(t), "1 x: in_progress, 2 y: pending");
    CHECK_STR(at(call(t->w, "session.status", "{'session_id':'" A_NAME "'}"), "/todo"),
              "{\"done\":0,\"total\":2,\"current\":\"x\"}");
    fixture_free(t);
}

/* A difference is told once; when it has gone and comes again, it is told again. */
TEST(where_the_list_differs_from_the_phases_its_agent_is_told_once)
{
    struct fixture *t = with_phases(CALC);

    SILENT(told(t, "UserPromptSubmit", PROMPT)); /* it keeps no list */
    str text = told(t, "PostToolUse",
                    "'tool_name':'TaskCreate','tool_input':{'subject':'Create calculator module'},"
                    "'tool_response':{'task':{'id':'1'}}");
    CHECK_HAS(text, "Your task list is not what the workflow wf_");
    CHECK_HAS(text, "Write and run tests");
    CHECK(!str_contains(text, STR("calculator")));
    SILENT(told(t, "UserPromptSubmit", PROMPT));
    SILENT(told(t, "PostToolUse",
                "'tool_name':'TaskCreate','tool_input':{'subject':'phase_1: the tests'},"
                "'tool_response':{'task':{'id':'2'}}"));
    SILENT(told(t, "PostToolUse",
                "'tool_name':'TaskCreate','tool_input':{'subject':'Something of my own'},"
                "'tool_response':{'task':{'id':'3'}}"));
    CHECK(json_is(json_get(todos(t), "differs"), JSON_NULL));

    begins(t, "a1", "general-purpose");
    text = told(t, "UserPromptSubmit", PROMPT);
    CHECK_HAS(text, "- entry 1, ");
    CHECK_HAS(text, "Create calculator module");
    CHECK_HAS(text, ": in_progress");
    CHECK(!str_contains(text, STR("own")));
    CHECK_HAS(json_str(todos(t), "differs"), "entry 1");
    SILENT(told(t, "UserPromptSubmit", PROMPT));
    ends(t, "a1", "a.c");
    text = told(t, "UserPromptSubmit", PROMPT);
    CHECK_HAS(text, "- entry 2, ");
    told(t, "PostToolUse",
         "'tool_name':'TaskUpdate','tool_input':{'taskId':'1','status':'completed'},"
         "'tool_response':{'success':true}");
    SILENT(told(t, "PostToolUse",
                "'tool_name':'TaskUpdate','tool_input':{'taskId':'2','status':'in_progress'},"
                "'tool_response':{'success':true}"));

    /* Also when that was the last one, and of an ended workflow nothing is asked for that is not there. */
    update(t, "phase_1", "'status':'completed'");
    CHECK_HAS(told(t, "UserPromptSubmit", PROMPT), ": completed");
    SILENT(told(t, "PostToolUse",
                "'tool_name':'TaskUpdate','tool_input':{'taskId':'2','status':'deleted'},"
                "'tool_response':{'success':true}"));
    fixture_free(t);
}

TEST(a_failed_phase_is_not_done_in_the_list)
{
    struct fixture *t = with_phases(CALC);

    told(t, "PostToolUse",
         "'tool_name':'TodoWrite','tool_input':{'todos':[{'content':'Create calculator module',"
         "'status':'completed'},{'content':'Write and run tests','status':'pending'}]}");
    update(t, "phase_0", "'status':'active'");
    update(t, "phase_0", "'status':'failed','error':'no'");
    CHECK_HAS(told(t, "UserPromptSubmit", PROMPT), "not completed, its phase has failed");
    SILENT(told(t, "PostToolUse",
                "'tool_name':'TodoWrite','tool_input':{'todos':[{'content':'Create calculator "
                "module','status':'in_progress'},{'content':'Write and run tests','status':"
                "'pending'}]}"));
    fixture_free(t);
}
