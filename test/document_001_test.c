/* document_001_test.c: the document "Hybrid Workflow State System", example by example. */
#include "document_help.h"

#define TASK "Create calculator.py with tests and verify they pass"

/* As the document's orchestrator has it: titles and agents. */
#define CREATE                                                        \
    "{'task':'" TASK "','phases':["                                   \
    "{'title':'Create calculator module','agent':'general-purpose'}," \
    "{'title':'Write and run tests','agent':'task-completion-verifier'}]}"

static struct world *world_at_the_documents_time(void)
{
    struct world *w = world_new();

    clock_at(w, "2025-01-05T14:30:22Z");
    session(w, "root", NULL);
    session(w, "a", "root");
    session(w, "b", "ses_a");
    session(w, "other", NULL);
    return w;
}

static str made(struct world *w)
{
    return at(call(w, "phase.create", CREATE), "/workflow_id");
}

__attribute__((format(printf, 4, 5))) static struct command *told(struct world *w, str id,
                                                                  int phase, const char *more, ...)
{
    struct buf rest = buf_in(check_arena());
    va_list args;

    va_start(args, more);
    buf_vprintf(&rest, more, args);
    va_end(args);
    return call(w, "phase.update",
                "{'workflow_id':'" STR_FMT "','phase_id':'phase_%d'," STR_FMT "}", STR_ARG(id),
                phase, STR_ARG(buf_str(&rest)));
}

/* ---- 3. the schema ---- */

TEST(workflow_json_is_the_documents)
{
    struct world *w = world_at_the_documents_time();

    struct command *c = call(w, "phase.create", CREATE);
    CHECK(c->answer.created);
    CHECK_PRINTED(
        c, "{'workflow_id':'wf_20250105_143022','id':'wf_20250105_143022','task':'" TASK
           "','status':'pending','current_phase':null,'phases':["
           "{'id':'phase_0','title':'Create calculator module','agent':'general-purpose',"
           "'status':'pending','deliverables':[],'context_for_next':''},"
           "{'id':'phase_1','title':'Write and run tests','agent':'task-completion-verifier',"
           "'status':'pending','deliverables':[],'context_for_next':''}]}");
    str id = at(c, "/workflow_id");
    CHECK_OK(told(w, id, 0, "'status':'active'")->error);
    CHECK_PRINTED(
        viewed(w, id, "workflow"),
        "{'id':'wf_20250105_143022','task':'" TASK
        "','status':'active','current_phase':'phase_0','phases':["
        "{'id':'phase_0','title':'Create calculator module','agent':'general-purpose',"
        "'status':'active','deliverables':[],'context_for_next':''},"
        "{'id':'phase_1','title':'Write and run tests','agent':'task-completion-verifier',"
        "'status':'pending','deliverables':[],'context_for_next':''}]}");
    world_audit(w);
    world_close(w);
}

TEST(a_second_workflow_in_one_second_has_an_id_of_its_own)
{
    struct world *w = world_at_the_documents_time();

    CHECK_STR(made(w), "wf_20250105_143022");
    CHECK_STR(made(w), "wf_20250105_143022_2");
    CHECK_STR(made(w), "wf_20250105_143022_3");
    world_close(w);
}

/* The task is kept as it was written, whatever is in it. */
TEST(the_task_is_the_request_word_by_word)
{
    struct world *w = world_at_the_documents_time();

    struct command *c =
        call(w, "phase.create", "{'task':'= \\\"x\\\" {{y}}\\n  \\u00fc ','phases':['One']}");
    CHECK_STR(at(c, "/task"), "= \"x\" {{y}}\n  \u00fc ");
    CHECK_STR(at(c, "/phases/0/agent"), "general-purpose");
    world_close(w);
}

/* ---- P1.1: create_workflow_state(task, phases) ---- */

/* The code pattern of 6.1 enumerates pairs, and writes out members that say nothing yet. */
TEST(phases_are_given_as_objects_pairs_or_titles)
{
    struct world *w = world_at_the_documents_time();

    struct command *c = call(w, "phase.create",
                             "{'task':'t','phases':[['Build','coder'],'Look',"
                             "{'id':'phase_2','title':'Ship','agent':'shipper','status':'pending',"
                             "'deliverables':[],'context_for_next':''}]}");
    CHECK_STR(at(c, "/phases/0/title"), "Build");
    CHECK_STR(at(c, "/phases/0/agent"), "coder");
    CHECK_STR(at(c, "/phases/1/title"), "Look");
    CHECK_STR(at(c, "/phases/2/id"), "phase_2");
    CHECK_STR(at(c, "/phases/2/agent"), "shipper");
    world_close(w);
}

TEST(what_is_no_phase_is_refused_with_what_was_expected)
{
    static const struct {
        const char *phases, *says;
    } cases[] = {
        { "[{'agent':'x'}]", "phase 0: expected a \"title\"" },
        { "['a',{'title':'b','id':'phase_7'}]", "phase 1: expected the id phase_1, or none" },
        { "[{'title':'a','status':'completed'}]", "every phase begins as pending" },
        { "[{'title':'a','deliverables':['x']}]", "every phase begins as pending" },
        { "[{'title':'a','run':'rm -rf /'}]", "expected \"title\", \"agent\", \"description\"" },
        { "[{'title':'a','evidence':[{'run':'x'}]}]", "expected \"title\"" },
        { "[{'title':'a','by':'run'}]", "expected \"title\"" },
        { "[{'title':7}]", "expected a text as \"title\"" },
        { "[['a','b','c']]", "expected a title and an agent" },
        { "[{'title':'a','after':['phase_4']}]", "there is no step \"phase_4\"" },
    };
    struct world *w = world_at_the_documents_time();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command *c = call(w, "phase.create", "{'task':'t','phases':%s}", cases[i].phases);
        CHECK(c->error);
        CHECK_HAS(arena_printf(check_arena(), STR_FMT " " STR_FMT, STR_ARG(c->error->message),
                               STR_ARG(c->error->members)),
                  quotes_double(check_arena(), cases[i].says).at);
    }
    CHECK_ERR(call(w, "phase.create", "{'task':'t','phases':[]}")->error, ERR_INVALID);
    world_close(w);
}

/* ---- 3. "Status Transitions" ---- */

/* Workflow: pending → active (first phase starts) → completed (all phases done). */
TEST(a_workflow_goes_from_pending_to_completed_as_its_phases_do)
{
    struct world *w = world_at_the_documents_time();
    str id = made(w);

    CHECK_STR(at(viewed(w, id, "workflow"), "/status"), "pending");
    struct command *c = told(w, id, 0, "'status':'active'");
    CHECK_PRINTED(c, "{'workflow_id':'wf_20250105_143022','phase_id':'phase_0','status':'active',"
                     "'workflow_status':'active','current_phase':'phase_0','context':'',"
                     "'activated':[]}");
    /* 6.2: the end of a phase; 6.3: the next one with its context. */
    c = told(w, id, 0,
             "'status':'completed','deliverables':['/path/to/calculator.py',"
             "'add, subtract, multiply, divide functions'],"
             "'context_for_next':'Created calculator.py at /path with 4 functions'");
    CHECK_PRINTED(c,
                  "{'workflow_id':'wf_20250105_143022','phase_id':'phase_0','status':'completed',"
                  "'workflow_status':'active','current_phase':'phase_1','context':'',"
                  "'activated':[{'id':'phase_1','title':'Write and run tests',"
                  "'agent':'task-completion-verifier','task':'Write and run tests\\n\\nContext: "
                  "Created calculator.py at /path with 4 functions'}]}");
    CHECK_STR(at(viewed(w, id, "workflow"), "/phases/0/deliverables"),
              "[\"/path/to/calculator.py\",\"add, subtract, multiply, divide functions\"]");
    c = call(w, "phase.show", "{'workflow_id':'" STR_FMT "'}", STR_ARG(id));
    CHECK_STR(at(c, "/current_phase"), "phase_1");
    CHECK_STR(at(c, "/phases/0/context_for_next"),
              "Created calculator.py at /path with 4 functions");
    CHECK_STR(at(c, "/context"), "Created calculator.py at /path with 4 functions");
    /* Whoever begins late is told again. */
    CHECK_STR(at(told(w, id, 1, "'status':'active'"), "/context"),
              "Created calculator.py at /path with 4 functions");

    c = told(w, id, 1, "'status':'completed','context':'4 tests pass'");
    CHECK_STR(at(c, "/workflow_status"), "completed");
    CHECK_STR(at(c, "/current_phase"), "null");
    CHECK_STR(at(c, "/activated"), "[]");
    CHECK_STR(at(viewed(w, id, "workflow"), "/phases/1/context_for_next"), "4 tests pass");
    world_audit(w);
    world_close(w);
}

TEST(a_failed_phase_fails_the_workflow)
{
    struct world *w = world_at_the_documents_time();
    str id = made(w);

    CHECK_OK(told(w, id, 0, "'status':'active'")->error);
    struct command *c =
        told(w, id, 0, "'status':'failed','deliverables':['half of it'],'error':'no disk'");
    CHECK_STR(at(c, "/status"), "failed");
    CHECK_STR(at(c, "/workflow_status"), "failed");
    CHECK_STR(at(c, "/current_phase"), "null");
    CHECK_STR(at(viewed(w, id, "workflow"), "/phases/0/deliverables"), "[\"half of it\"]");
    CHECK_STR(at(viewed(w, id, "workflow"), "/phases/1/status"), "pending");
    CHECK_HAS(seen(w, id, "/reason"), "no disk");
    /* It goes on from there when somebody resumes it. */
    CHECK_OK(
        call(w, "execution.resume", "{'execution_id':'" STR_FMT "','from':'phase_0'}", STR_ARG(id))
            ->error);
    CHECK_STR(at(viewed(w, id, "workflow"), "/status"), "pending");
    CHECK_STR(at(viewed(w, id, "workflow"), "/phases/0/deliverables"), "[]");
    CHECK_STR(at(told(w, id, 0, "'status':'active'"), "/workflow_status"), "active");
    world_audit(w);
    world_close(w);
}

/* Each way to begin, and each word that is said then of phase 0 or 1, which the document does not have. */
TEST(every_other_transition_is_refused_with_the_reason)
{
    static const struct {
        const char *before[3]; /* said of phase 0, and then of phase 1 */
        int phase;
        const char *said, *reason;
    } cases[] = {
        { { 0 },
          0,
          "completed",
          "phase phase_0 is pending, and cannot become completed: say first that it is active" },
        { { 0 },
          0,
          "failed",
          "phase phase_0 is pending, and cannot become failed: say first that it is active" },
        { { 0 },
          1,
          "active",
          "phase phase_1 is pending, and cannot become active: it begins by itself when what comes "
          "before it is done: phase_0 (pending)" },
        { { 0 }, 1, "completed", "phase_0 (pending)" },
        { { 0 }, 1, "failed", "phase_0 (pending)" },
        { { "active" },
          0,
          "pending",
          "phase phase_0 is active, and cannot become pending: say that it is completed, or that it "
          "has failed" },
        { { "active" }, 1, "active", "phase_0 (active)" },
        { { "active" }, 1, "completed", "phase_0 (active)" },
        { { "active", "completed" },
          0,
          "pending",
          "it is done anew only when the workflow is resumed" },
        { { "active", "completed" },
          0,
          "active",
          "phase phase_0 is completed, and cannot become active: it is done anew only when the "
          "workflow is resumed from it ('baton execution resume wf_20250105_143022" },
        { { "active", "completed" },
          0,
          "failed",
          "phase phase_0 is completed, and cannot become failed" },
        { { "active", "completed" },
          1,
          "pending",
          "phase phase_1 is active, and cannot become pending" },
        { { "active", "failed" },
          0,
          "active",
          "has ended (FAILED), and phase phase_0 is failed: resume it "
          "from a phase" },
        { { "active", "failed" }, 0, "completed", "has ended (FAILED)" },
        { { "active", "failed" }, 0, "pending", "has ended (FAILED)" },
        { { "active", "failed" }, 1, "active", "has ended (FAILED)" },
        { { "active", "failed" }, 1, "completed", "has ended (FAILED)" },
        { { "active", "completed", "completed" }, 1, "active", "has ended (COMPLETED)" },
        { { "active", "completed", "completed" }, 1, "failed", "has ended (COMPLETED)" },
        { { "active", "completed", "completed" }, 0, "pending", "has ended (COMPLETED)" },
    };

    struct world *w = world_at_the_documents_time();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str id = made(w);
        for (size_t k = 0; k < 3 && cases[i].before[k]; k++)
            CHECK_OK(told(w, id, k == 2, "'status':'%s'", cases[i].before[k])->error);
        str was = viewed(w, id, "workflow")->answer.text;
        struct command *c = told(w, id, cases[i].phase, "'status':'%s'", cases[i].said);
        CHECK_ERR(c->error, ERR_CONFLICT);
        CHECK_HAS(c->error->message, cases[i].reason);
        CHECK_STR(viewed(w, id, "workflow")->answer.text, z(was));
    }
    world_audit(w);
    world_close(w);
}

/* An answer that was lost is asked for again. */
TEST(what_is_said_twice_changes_nothing_and_what_is_said_otherwise_is_refused)
{
    struct world *w = world_at_the_documents_time();
    str id = made(w);

    CHECK_OK(told(w, id, 0, "'status':'pending'")->error);
    CHECK_OK(told(w, id, 0, "'status':'active'")->error);
    CHECK_OK(told(w, id, 0, "'status':'active','deliverables':['a.py']")->error);
    CHECK_STR(at(viewed(w, id, "workflow"), "/phases/0/deliverables"), "[\"a.py\"]");
    /* What is said at the end is added to what was said before. */
    for (int i = 0; i < 2; i++) {
        struct command *c = told(w, id, 0, "'status':'completed','context_for_next':'on'");
        CHECK_STR(at(c, "/status"), "completed");
        CHECK_STR(at(viewed(w, id, "workflow"), "/phases/0/deliverables"), "[\"a.py\"]");
        CHECK_STR(at(viewed(w, id, "workflow"), "/phases/0/context_for_next"), "on");
    }
    struct command *c = told(w, id, 0, "'status':'completed','context_for_next':'off'");
    CHECK_ERR(c->error, ERR_CONFLICT);
    CHECK_HAS(c->error->message,
              "phase phase_0 is completed already, with another \"context_for_next\"");
    c = told(w, id, 1, "'status':'completed','context':'a','context_for_next':'b'");
    CHECK_ERR(c->error, ERR_INVALID);
    CHECK_HAS(c->error->message, "\"context\" is another name of \"context_for_next\"");
    CHECK_ERR(told(w, id, 7, "'status':'active'")->error, ERR_NOT_FOUND);
    CHECK_ERR(told(w, STR("wf_1"), 0, "'status':'active'")->error, ERR_NOT_FOUND);
    world_audit(w);
    world_close(w);
}

TEST(nothing_of_a_paused_workflow_begins)
{
    struct world *w = world_at_the_documents_time();
    str id = made(w);

    CHECK_OK(call(w, "execution.pause", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    struct command *c = told(w, id, 0, "'status':'active'");
    CHECK_ERR(c->error, ERR_CONFLICT);
    CHECK_HAS(c->error->message, "is paused, and nothing of it begins");
    CHECK_OK(call(w, "execution.resume", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    CHECK_OK(told(w, id, 0, "'status':'active'")->error);
    world_close(w);
}

/* ---- P1.4: generate_markdown(workflow) ---- */

TEST(the_markdown_is_the_template_byte_for_byte)
{
    struct world *w = world_at_the_documents_time();
    str id = made(w);

    CHECK_STR(view_text(w, id, "markdown"), "# Workflow Status: " TASK "\n"
                                            "\n"
                                            "Status: pending | Current Phase: -\n"
                                            "\n"
                                            "## Phases\n"
                                            "\n"
                                            "- [ ] Phase 0: Create calculator module\n"
                                            "- [ ] Phase 1: Write and run tests\n");
    CHECK_OK(told(w, id, 0, "'status':'active'")->error);
    CHECK_OK(told(w, id, 0, "'status':'completed','deliverables':['calculator.py','4 functions']")
                 ->error);
    CHECK_STR(view_text(w, id, "markdown"),
              "# Workflow Status: " TASK "\n"
              "\n"
              "Status: active | Current Phase: Write and run tests\n"
              "\n"
              "## Phases\n"
              "\n"
              "- [x] Phase 0: Create calculator module → calculator.py, 4 functions\n"
              "- [ ] Phase 1: Write and run tests\n");
    CHECK_OK(told(w, id, 1, "'status':'failed'")->error);
    CHECK_STR(view_text(w, id, "markdown"),
              "# Workflow Status: " TASK "\n"
              "\n"
              "Status: failed | Current Phase: -\n"
              "\n"
              "## Phases\n"
              "\n"
              "- [x] Phase 0: Create calculator module → calculator.py, 4 functions\n"
              "- [ ] Phase 1: Write and run tests\n");
    CHECK_STR(str_from(viewed(w, id, "markdown")->answer.media), "text/markdown; charset=utf-8");
    world_close(w);
}

/* ---- 5.3: the list of what there is to do ---- */

TEST(todos_are_those_of_the_documents_pattern)
{
    struct world *w = world_at_the_documents_time();
    str id = made(w);

    CHECK_OK(told(w, id, 0, "'status':'active'")->error);
    CHECK_PRINTED(viewed(w, id, "todos"),
                  "{'todos':[{'content':'Create calculator module','status':'in_progress',"
                  "'activeForm':'Working on Create calculator module'},"
                  "{'content':'Write and run tests','status':'pending',"
                  "'activeForm':'Working on Write and run tests'}]}");
    CHECK_OK(told(w, id, 0, "'status':'completed'")->error);
    CHECK_OK(told(w, id, 1, "'status':'failed'")->error);
    CHECK_PRINTED(viewed(w, id, "todos"),
                  "{'todos':[{'content':'Create calculator module','status':'completed',"
                  "'activeForm':'Working on Create calculator module'},"
                  "{'content':'Write and run tests','status':'pending',"
                  "'activeForm':'Working on Write and run tests'}]}");
    world_close(w);
}

/* ---- phases side by side, as waves ---- */

TEST(phases_that_come_after_others_are_waves)
{
    struct world *w = world_at_the_documents_time();

    str id = at(call(w, "phase.create",
                     "{'task':'t','phases':[{'title':'A'},{'title':'B'},"
                     "{'title':'C','after':['phase_0',1]},{'title':'D','after':'phase_0'}]}"),
                "/workflow_id");
    CHECK_OK(told(w, id, 1, "'status':'active'")->error);
    CHECK_STR(at(viewed(w, id, "workflow"), "/current_phase"), "phase_1");
    CHECK_OK(told(w, id, 0, "'status':'active'")->error);
    CHECK_STR(at(viewed(w, id, "workflow"), "/current_phase"), "phase_0");
    struct command *c = told(w, id, 0, "'status':'completed','context_for_next':'a'");
    CHECK_STR(at(c, "/activated/0/id"), "phase_3");
    CHECK_STR(at(c, "/activated/0/task"), "D\n\nContext: a");
    CHECK_STR(at(c, "/current_phase"), "phase_1");
    c = told(w, id, 1, "'status':'completed','context_for_next':'b'");
    CHECK_STR(at(c, "/activated/0/task"), "C\n\nContext: a\nb");
    CHECK_OK(told(w, id, 2, "'status':'completed'")->error);
    CHECK_STR(at(told(w, id, 3, "'status':'completed'"), "/workflow_status"), "completed");
    world_audit(w);
    world_close(w);
}

/* The other one of its wave may finish, and what comes after neither begins. */
TEST(a_wave_that_has_lost_one_ends_failed)
{
    struct world *w = world_at_the_documents_time();

    str id = at(call(w, "phase.create",
                     "{'task':'t','phases':[{'title':'A'},{'title':'B'},{'title':'C'},"
                     "{'title':'D','after':[0,1]}]}"),
                "/workflow_id");
    CHECK_OK(told(w, id, 0, "'status':'active'")->error);
    CHECK_OK(told(w, id, 1, "'status':'active'")->error);
    CHECK_STR(at(told(w, id, 0, "'status':'failed'"), "/workflow_status"), "active");
    struct command *c = told(w, id, 2, "'status':'active'");
    CHECK_ERR(c->error, ERR_CONFLICT);
    CHECK_HAS(c->error->message, "is failing, and nothing of it begins any more");
    CHECK_STR(at(told(w, id, 1, "'status':'completed'"), "/workflow_status"), "failed");
    CHECK_STR(at(viewed(w, id, "workflow"), "/phases/3/status"), "pending");
    world_audit(w);
    world_close(w);
}

/* ---- who may ---- */

TEST(the_sessions_of_a_tree_tell_of_its_phases_and_others_see_none)
{
    struct world *w = world_at_the_documents_time();

    become(w, "ses_root");
    str id = made(w);
    become(w, "ses_a");
    CHECK_OK(told(w, id, 0, "'status':'active'")->error);
    become(w, "ses_b");
    CHECK_STR(at(call(w, "phase.show", "{}"), "/id"), z(id));
    CHECK_OK(told(w, id, 0, "'status':'completed'")->error);
    /* What is its root's to decide, a child does not. */
    CHECK_ERR(call(w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error,
              ERR_NOT_FOUND);
    become(w, "ses_other");
    CHECK_ERR(told(w, id, 1, "'status':'active'")->error, ERR_NOT_FOUND);
    CHECK_ERR(viewed(w, id, "workflow")->error, ERR_NOT_FOUND);
    struct command *c = call(w, "phase.show", "{}");
    CHECK_ERR(c->error, ERR_NOT_FOUND);
    CHECK_HAS(c->error->message, "create_workflow_state makes one");
    become_operator(w);
    CHECK_OK(told(w, id, 1, "'status':'active'")->error);
    world_close(w);
}

TEST(the_newest_open_workflow_is_the_one_that_is_meant)
{
    struct world *w = world_at_the_documents_time();

    become(w, "ses_root");
    str first = made(w);
    world_pass(w, 1000);
    str second = made(w);
    CHECK_STR(at(call(w, "phase.show", "{}"), "/id"), z(second));
    CHECK_OK(told(w, second, 0, "'status':'active'")->error);
    CHECK_OK(told(w, second, 0, "'status':'failed'")->error);
    CHECK_STR(at(call(w, "phase.show", "{}"), "/id"), z(first));
    CHECK_OK(call(w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(first))->error);
    CHECK_STR(at(call(w, "phase.show", "{}"), "/id"), z(second));
    CHECK_STR(at(viewed(w, first, "workflow"), "/status"), "failed");
    world_close(w);
}

/* What was made by create_workflow_state is in no list of definitions, and nobody starts it by name. */
TEST(the_definition_of_a_task_has_no_name)
{
    struct world *w = world_at_the_documents_time();
    str id = made(w);

    made(w);
    const struct json *listed = json_get(answer(w, "workflow.list", "{}"), "workflows");
    for (uint32_t i = 0; i < listed->len; i++)
        CHECK(json_str(&listed->items[i], "workflow").at[0] != '#');
    CHECK_STR(seen(w, id, "/steps/0/waits_for"), "phase phase_0 to be told active, for 0s");
    CHECK_STR(seen(w, id, "/tokens/0/status"), "ready");
    world_close(w);
}
