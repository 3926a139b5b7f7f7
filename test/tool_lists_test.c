/* tool_lists_test.c: which tools are listed when: of a child those of what its run is for, of a root those
 * of documents that its project uses; and that whatever is not listed can be called. */
#include "tools_fixture.h"

#define CHILDS "state_read state_update state_patch state_schema list_agent_sessions "
#define AGENTS                                                               \
    "get_agent_session_status get_agent_session_result start_agent_session " \
    "resume_agent_session"
#define ALWAYS                                                                           \
    "state_create " CHILDS "delete_all_agent_sessions " AGENTS " list_agent_blueprints " \
    "send_message start_workflow create_workflow_state"

#define PHASES "{'task':'t','phases':['a','b']}"
#define STEPS \
    "{'definition':{'workflow':'g','generation_steps':[{'step':1,'name':'One'},{'step':2,'name':'Two'}]}}"

static size_t list_size(struct fixture *d, uint32_t *count)
{
    const struct json *tools = json_get(json_get(said(d, "tools/list", ""), "result"), "tools");

    *count = tools->len;
    return json_printed(check_arena(), tools).len;
}

/* A session that works for a step, as its row says; its run's token is minted then. */
static void as_worker(struct fixture *d, const char *tool)
{
    as_session(d, "kid", true);
    d->w->actor.records_by = str_from(tool);
}

TEST(a_root_sees_the_tools_of_a_document_once_its_project_uses_it)
{
    struct fixture *d = fixture_new("{}");

    CHECK_STR(names_listed(d), ALWAYS);
    meanwhile(d, as_operator, "workflow.list",
              "{}"); /* what comes with the program is no use of it */
    CHECK_STR(names_listed(d), ALWAYS);
    told(d, "create_workflow_state", PHASES);
    CHECK_STR(names_listed(d), ALWAYS " update_phase_status get_workflow_state");
    meanwhile(d, as_operator, "workflow.deploy", STEPS);
    CHECK_STR(names_listed(d),
              "state_create " CHILDS AGENTS " send_message start_workflow create_workflow_state "
              "update_phase_status get_workflow_state get_workflow_status get_next_step "
              "approve_step update_workflow_state resume_workflow");
    fixture_free(d);
}

TEST(a_roots_list_stays_within_20_tools_and_3500_tokens)
{
    struct fixture *d = fixture_new("{}");
    uint32_t count;

    told(d, "create_workflow_state", PHASES);
    meanwhile(d, as_operator, "workflow.deploy", STEPS);
    size_t chars = list_size(d, &count);
    check_note("%zu characters, %u tools", chars, count);
    CHECK_INT(count, 20);
    CHECK(chars <= 4 * 3500);
    fixture_free(d);
}

/* What others do elsewhere on the same server costs nobody a token. */
TEST(another_projects_documents_are_not_listed)
{
    struct fixture *d = fixture_new("{}");

    as_operator(d);
    did(d, "session.create", "{'session_name':'far','session_id':'far'}");
    as_session(d, "far", false);
    d->w->actor.state_id = STR("");
    told(d, "create_workflow_state", PHASES);
    CHECK_STR(names_listed(d), ALWAYS " update_phase_status get_workflow_state");
    as_session(d, "root", false);
    CHECK_STR(names_listed(d), ALWAYS);
    /* What the operator starts is for everybody. */
    meanwhile(d, as_operator, "phase.create", PHASES);
    CHECK_STR(names_listed(d), ALWAYS " update_phase_status get_workflow_state");
    fixture_free(d);
}

TEST(a_childs_tools_are_those_of_what_its_run_is_for)
{
    struct fixture *d = fixture_new("{}");
    uint32_t count;

    told(d, "create_workflow_state", PHASES);
    meanwhile(d, as_operator, "workflow.deploy", STEPS);
    as_session(d, "kid", true);
    CHECK_STR(names_listed(d), CHILDS AGENTS " list_agent_blueprints");
    as_worker(d, "update_phase_status");
    CHECK_STR(names_listed(d),
              CHILDS AGENTS " list_agent_blueprints update_phase_status get_workflow_state");
    as_worker(d, "update_workflow_state");
    CHECK_STR(names_listed(d), CHILDS AGENTS " get_workflow_status get_next_step "
                                             "update_workflow_state");
    size_t chars = list_size(d, &count);
    check_note("%zu characters, %u tools", chars, count);
    CHECK_INT(count, 12);
    /* One without a parent, whose step nobody has started for a session, is no root by that. */
    as_worker(d, "update_workflow_state");
    d->w->actor.is_child = false;
    CHECK_STR(names_listed(d), CHILDS AGENTS " get_workflow_status get_next_step "
                                             "update_workflow_state");
    fixture_free(d);
}

/* It does what it is asked for; the list does not say what it answers. */
static void works(struct fixture *d, const char *tool, const char *arguments)
{
    const struct json *result = called(d, tool, arguments);

    if (json_get(result, "isError"))
        check_fail(__FILE__, __LINE__, "%s: " STR_FMT, tool, STR_ARG(text_of(result, 0)));
}

TEST(what_is_not_listed_can_be_called)
{
    struct fixture *d = fixture_new("{}");

    meanwhile(d, as_operator, "workflow.deploy", STEPS);
    const struct json *started = told(d, "start_workflow", "{'workflow':'g'}");
    const char *id =
        arena_printf(check_arena(), STR_FMT, STR_ARG(json_str(started, "execution_id"))).at;
    works(d, "validate_prerequisites",
          arena_printf(check_arena(), "{'workflow_id':'%s','step':2}", id).at);
    works(d, "list_workflows", "{'status':'in_progress'}");
    as_session(d, "kid", true);
    works(d, "update_workflow_state",
          arena_printf(check_arena(), "{'workflow_id':'%s','step':1,'status':'completed'}", id).at);
    works(d, "get_next_step", arena_printf(check_arena(), "{'workflow_id':'%s'}", id).at);
    as_session(d, "root", false);
    works(d, "cancel_workflow", arena_printf(check_arena(), "{'workflow_id':'%s'}", id).at);
    works(d, "resume_workflow",
          arena_printf(check_arena(), "{'workflow_id':'%s','from_step':2}", id).at);
    fixture_free(d);
}

/* Who listens is told when there is more to see, and not each time. */
TEST(the_first_of_a_document_is_an_event)
{
    struct fixture *d = fixture_new("{}");

    for (int i = 0; i < 2; i++) {
        told(d, "create_workflow_state", PHASES);
        meanwhile(d, as_operator, "workflow.deploy", STEPS);
        told(d, "start_workflow", "{'workflow':'g'}");
    }
    const struct json *events =
        json_get(meanwhile(d, as_operator, "event.list", "{'type':['document_used'],'limit':100}"),
                 "events");
    CHECK_INT(events->len, 2);
    CHECK_STR(json_str(&events->items[0], "subject"), "document_001");
    CHECK_STR(json_str(&events->items[1], "subject"), "document_002");
    fixture_free(d);
}

/* ---- what document 002 prints is taken, and answered, by its tools ---- */

#define DOCUMENT_ID "generation-scene-0204-20251110-143000"

/* Its examples of inputs fit what the list says of each tool: a client may check them before it calls. */
TEST(the_documents_inputs_fit_the_tools_that_are_listed)
{
    static const struct {
        const char *tool, *input;
    } cases[] = {
        { "get_workflow_status", "{'workflow_id':'" DOCUMENT_ID "'}" },
        { "get_next_step", "{'workflow_id':'" DOCUMENT_ID "'}" },
        { "approve_step",
          "{'workflow_id':'" DOCUMENT_ID "','step':3,'approved':true,'modifications':{"
          "'emotional_tone':'professional detachment with cracks'}}" },
        { "update_workflow_state",
          "{'workflow_id':'" DOCUMENT_ID "','step':4,'status':'in_progress','artifacts':{"
          "'draft':'workspace/.../scene-0204-draft.md'}}" },
        { "resume_workflow", "{'workflow_id':'" DOCUMENT_ID "','from_step':4}" },
        { "create_workflow_state",
          "{'task':'t','phases':[{'id':'phase_0','title':'a','agent':'x','status':'pending',"
          "'deliverables':[],'context_for_next':''}]}" },
        { "update_phase_status",
          "{'workflow_id':'wf_20250105_143022','phase_id':'phase_0','status':'completed',"
          "'deliverables':['/path/to/calculator.py'],'context_for_next':'Created it'}" },
        { "get_workflow_state", "{'workflow_id':'wf_20250105_143022'}" },
    };
    struct fixture *d = fixture_new("{}");

    told(d, "create_workflow_state", PHASES);
    meanwhile(d, as_operator, "workflow.deploy", STEPS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json input = json_of(check_arena(), cases[i].input);
        struct schema *s;
        CHECK_OK(schema_compile(check_arena(),
                                json_get(listed_tool(d, cases[i].tool), "inputSchema"), NULL, &s));
        CHECK_OK(schema_require(check_arena(), s, &input));
        schema_free(s);
    }
    fixture_free(d);
}

/* A program is told the document's members, in its order. */
TEST(the_tools_answer_what_the_document_prints)
{
    struct fixture *d = fixture_new("{}");

    as_operator(d);
    did(d, "workflow.deploy", STEPS);
    str started = json_str(did(d, "execution.start", "{'workflow':'g'}"), "execution_id");
    const char *id = arena_printf(check_arena(), STR_FMT, STR_ARG(started)).at;
    tells(
        d, "update_workflow_state",
        arena_printf(check_arena(),
                     "{'workflow_id':'%s','step':1,'status':'completed','artifacts':{'a':'b'}}", id)
            .at,
        arena_printf(check_arena(),
                     "{'success':true,'workflow_id':'%s','updated_at':'2025-01-15T10:35:00Z'}", id)
            .at);
    tells(d, "get_workflow_status", arena_printf(check_arena(), "{'workflow_id':'%s'}", id).at,
          arena_printf(check_arena(),
                       "{'workflow_id':'%s','workflow_type':'generation','status':'in_progress',"
                       "'current_step':2,'current_step_name':'Two','waiting_for_approval':false,"
                       "'progress_percentage':100,'artifacts':{}}",
                       id)
              .at);
    tells(d, "list_workflows", "{'status':'in_progress'}",
          arena_printf(check_arena(),
                       "{'workflows':[{'workflow_id':'%s','workflow_type':'generation',"
                       "'status':'in_progress','current_step':2,'progress_percentage':100}],"
                       "'total':1}",
                       id)
              .at);
    tells(d, "cancel_workflow",
          arena_printf(check_arena(), "{'workflow_id':'%s','reason':'enough'}", id).at,
          arena_printf(check_arena(),
                       "{'success':true,'workflow_id':'%s','status':'cancelled',"
                       "'cleanup_performed':false}",
                       id)
              .at);
    fixture_free(d);
}
