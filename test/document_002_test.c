/* document_002_test.c: the document "Workflow State Schema", example by example. Its definitions are used
 * with steps that are reported, so that each state can be brought about by hand. */
#include "document_help.h"
#include "json/schema/schema.h"

#define STEP(n, title, agent, about, after, outputs, more)                        \
    "{'step':" #n ",'name':'" title "','agent':'" agent "','description':'" about \
    "','prerequisites':" after ",'outputs':" outputs more ",'by':'report'}"

#define GENERATION                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            \
    "{'workflow':'scenes','generation_steps':[" STEP(                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         \
        1, "File Check", "generation-coordinator", "Verify blueprint exists",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 \
        "[]", "['blueprint_path']", ",'human_approval':false,'retry_enabled':false") "," STEP(2,                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              \
                                                                                              "Blueprint Validation",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         \
                                                                                              "blueprint-validator", "Validate blueprint completeness and consistency", "[1]", "['constraints_list']", ",'human_approval':false,'retry_enabled':false") "," STEP(3, "Verification Plan", "verification-planner", "Create human-readable plan for approval", "[2]", "['verification_plan']", ",'human_approval':true,'retry_enabled':false") "," STEP(4,                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       \
                                                                                                                                                                                                                                                                                                                                                                                                                                                     "Generation", "prose-writer", "Generate literary prose adhering to constraints",                                                                                                                                                                                                                                                                                                                                                                                                                                                                         \
                                                                                                                                                                                                                                                                                                                                                                                                                                                     "[3]",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   \
                                                                                                                                                                                                                                                                                                                                                                                                                                                     "['draft','compliance_echo']",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           \
                                                                                                                                                                                                                                                                                                                                                                                                                                                     ",'human_approval':false,'retry_enabled':true,'max_attempts':3") "," STEP(5,                                                                                                                                                                                                                                                                                                                                                                                                                                                                             \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "Fast Compliance Check", "blueprint-compliance-fast-checker", "Fast surface-level compliance check (<30s)", "[4]", "['fast_compliance_result']", ",'human_approval':false,'retry_enabled':false,'triggers_retry':true") "," STEP(6, "Full Validation", "validation-aggregator", "Deep validation with 7 validators in parallel", "[5]", "['final_validation_report']", ",'human_approval':false,'retry_enabled':false,'parallel_agents':7") "," STEP(7,                        \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "Final Output",           \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "generation-coordinator", \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "Format final report for user", "[6]", "['final_report','scene_content']", ",'human_approval':false,'retry_enabled':false") "]}"

#define PHASE(n, title, agents, parallel, after, outputs, more)                   \
    "{'phase':" #n ",'name':'" title "','agents':" agents ",'parallel':" parallel \
    ",'prerequisites':" after ",'outputs':" outputs more ",'by':'report'}"

#define PLANNING                                                                                                                                                                                         \
    "{'workflow':'plans','planning_phases':{'scene':[" PHASE(1, "Exploration", "['dialogue-analyst','context-analyzer']", "true", "[]", "['exploration_results']", ",'human_approval':false") "," PHASE( \
        2, "Scenarios", "['scenario-generator','consequence-predictor']", "false", "[1]",                                                                                                                \
        "['scenarios']",                                                                                                                                                                                 \
        ",'human_approval':true,'approval_type':'select_variant'") "," PHASE(3, "Path Planning",                                                                                                         \
                                                                             "['arc-planner','dependency-mapper']",                                                                                      \
                                                                             "false", "[2]",                                                                                                             \
                                                                             "['path_plan']",                                                                                                            \
                                                                             ",'human_approval':false") "," PHASE(4,                                                                                     \
                                                                                                                  "Detailing",                                                                           \
                                                                                                                  "['emotional-arc-designer','beat-planner','dialogue-weaver']",                         \
                                                                                                                  "false",                                                                               \
                                                                                                                  "[3]",                                                                                 \
                                                                                                                  "['detailed_plans']",                                                                  \
                                                                                                                  ",'human_approval':false") "," PHASE(5,                                                \
                                                                                                                                                       "Integration",                                    \
                                                                                                                                                       "['storyline-integrator','impact-analyzer']",     \
                                                                                                                                                       "false",                                          \
                                                                                                                                                       "[4]",                                            \
                                                                                                                                                       "['integration_analysis']",                       \
                                                                                                                                                       ",'human_approval':false") "],'chapter':['... similar structure ...'],'act':['... similar structure ...']}}"

#define RUN "generation-scene-0204-20251110-143000"
#define RUN_DIR "workspace/sessions/work-on-chapter-02/generation-runs/" RUN
#define PLAN "planning-scene-0204-20251110-150000"
#define PLAN_DIR "workspace/sessions/work-on-chapter-02/planning-runs/" PLAN

/* ---- bringing it about ---- */

__attribute__((format(printf, 4, 5))) static struct command *updated(struct world *w,
                                                                     const char *id, int step,
                                                                     const char *format, ...)
{
    struct buf rest = buf_in(check_arena());
    va_list args;

    va_start(args, format);
    buf_vprintf(&rest, format, args);
    va_end(args);
    return call(w, "step.update", "{'workflow_id':'%s','step':%d," STR_FMT "}", id, step,
                STR_ARG(buf_str(&rest)));
}

static void step_done(struct world *w, const char *id, int step, const char *artifacts)
{
    CHECK_OK(updated(w, id, step, "'status':'completed','artifacts':%s", artifacts)->error);
}

/* Until the third step waits for a person, at the document's times; each a part of a second later. */
static struct world *generation_that_waits(void)
{
    struct world *w = world_new();

    clock_at(w, "2025-11-10T14:30:00.400Z");
    deploy(w, GENERATION);
    CHECK_STR(begin(w, "scenes", "'input':{'scene_id':'0204'},'session_name':'work-on-chapter-02'"),
              RUN);
    world_pass(w, 5000);
    step_done(w, RUN, 1,
              "{'blueprint_path':'acts/act-1/chapters/chapter-02/scenes/scene-0204-blueprint.md'}");
    world_pass(w, 55000);
    step_done(w, RUN, 2, "{'constraints_list':'" RUN_DIR "/constraints-list.json'}");
    world_pass(w, 240000);
    step_done(w, RUN, 3, "{'verification_plan':'" RUN_DIR "/verification-plan.md'}");
    return w;
}

static struct command *approved(struct world *w)
{
    return call(w, "step.approve",
                "{'workflow_id':'" RUN "','step':3,'approved':true,"
                "'modifications':{'emotional_tone':'professional detachment with cracks'}}");
}

static struct world *generation_at_step_4(void)
{
    struct world *w = generation_that_waits();

    CHECK_OK(approved(w)->error);
    return w;
}

/* ---- Base Workflow State ---- */

/* The document's schema. */
static const char base_schema[] =
    "{'$schema':'http://json-schema.org/draft-07/schema#','type':'object',"
    "'required':['workflow_id','workflow_type','status','created_at','updated_at'],'properties':{"
    "'workflow_id':{'type':'string','description':'Unique identifier: "
    "{type}-{scene_id|context}-{timestamp}','example':'generation-scene-0204-20251110-143000'},"
    "'workflow_type':{'type':'string','enum':['generation','planning'],"
    "'description':'Type of workflow'},"
    "'session_name':{'type':'string','description':'Active session name (if running within "
    "session)'},"
    "'status':{'type':'string','enum':['in_progress','waiting_approval','failed','completed',"
    "'cancelled'],'description':'Overall workflow status'},"
    "'created_at':{'type':'string','format':'date-time','description':'ISO 8601 timestamp'},"
    "'updated_at':{'type':'string','format':'date-time','description':'ISO 8601 timestamp'},"
    "'generation':{'type':'object','description':'Generation workflow state'},"
    "'planning':{'type':'object','description':'Planning workflow state'}}}";

static void fits_base(const struct command *c)
{
    struct json text = json_of(check_arena(), base_schema);
    const struct schema_options options = { .assert_formats = true };
    struct schema *s;

    CHECK_OK(schema_compile(check_arena(), &text, &options, &s));
    CHECK_OK(schema_require(check_arena(), s, answer_of(c)));
    schema_free(s);
}

/* ---- Generation Workflow State ---- */

#define WAITS_FOR_NOTHING_YET \
    ",'status':'pending','started_at':null,'completed_at':null,'artifacts':{}"

TEST(the_state_of_a_generation_is_the_documents)
{
    struct world *w = generation_that_waits();

    CHECK_PRINTED(
        viewed(w, STR(RUN), "workflow"),
        "{'workflow_id':'" RUN "','workflow_type':'generation',"
        "'session_name':'work-on-chapter-02','status':'in_progress',"
        "'created_at':'2025-11-10T14:30:00Z','updated_at':'2025-11-10T14:35:00Z',"
        "'generation':{'scene_id':'0204','current_step':3,'total_steps':7,'steps':["
        "{'step':1,'name':'File Check','status':'completed','started_at':'2025-11-10T14:30:00Z',"
        "'completed_at':'2025-11-10T14:30:05Z','artifacts':{}},"
        "{'step':2,'name':'Blueprint Validation','status':'completed',"
        "'started_at':'2025-11-10T14:30:05Z','completed_at':'2025-11-10T14:31:00Z',"
        "'artifacts':{'constraints_list':'" RUN_DIR "/constraints-list.json'}},"
        "{'step':3,'name':'Verification Plan','status':'waiting_approval',"
        "'started_at':'2025-11-10T14:31:00Z','completed_at':null,"
        "'artifacts':{'verification_plan':'" RUN_DIR "/verification-plan.md'},"
        "'human_approval':{'required':true,'approved':false,'approved_at':null}},"
        "{'step':4,'name':'Generation'" WAITS_FOR_NOTHING_YET
        ",'attempts':{'current':0,'max':3,'history':[]}},"
        "{'step':5,'name':'Fast Compliance Check'" WAITS_FOR_NOTHING_YET "},"
        "{'step':6,'name':'Full Validation'" WAITS_FOR_NOTHING_YET "},"
        "{'step':7,'name':'Final Output'" WAITS_FOR_NOTHING_YET "}],"
        "'artifacts':{'blueprint_path':'acts/act-1/chapters/chapter-02/scenes/"
        "scene-0204-blueprint.md','working_dir':'" RUN_DIR "'}}}");
    fits_base(viewed(w, STR(RUN), "workflow"));
    world_audit(w);
    world_close(w);
}

/* ---- Planning Workflow State ---- */

TEST(the_state_of_a_planning_is_the_documents)
{
    struct world *w = world_new();

    clock_at(w, "2025-11-10T15:00:00.999Z");
    deploy(w, PLANNING);
    CHECK_STR(begin(w, "plans",
                    "'input':{'context':{'act':1,'chapter':2,'scene':4}},"
                    "'session_name':'work-on-chapter-02'"),
              PLAN);
    world_pass(w, 90000);
    step_done(w, PLAN, 1, "{'exploration_results':'" PLAN_DIR "/exploration-results.md'}");
    world_pass(w, 30000);
    step_done(w, PLAN, 2, "{'scenarios':'" PLAN_DIR "/scenarios.md'}");
    CHECK_STR(
        at(viewed(w, STR(PLAN), "workflow"), "/planning/phases/1/human_approval"),
        "{\"required\":true,\"approved\":false,\"approved_at\":null,\"selected_variant\":null}");
    world_pass(w, 60000);
    CHECK_PRINTED(call(w, "step.approve",
                       "{'workflow_id':'" PLAN
                       "','step':2,'approved':true,'selected_variant':'A'}"),
                  "{'success':true,'workflow_id':'" PLAN "','step':2,'status':'completed',"
                  "'next_step':3,'next_step_name':'Path Planning'}");
    world_pass(w, 120000);
    CHECK_OK(
        call(w, "execution.set", "{'execution_id':'" PLAN "','variables':{'seen':true}}")->error);
    CHECK_PRINTED(
        viewed(w, STR(PLAN), "workflow"),
        "{'workflow_id':'" PLAN "','workflow_type':'planning','session_name':'work-on-chapter-02',"
        "'status':'in_progress','created_at':'2025-11-10T15:00:00Z',"
        "'updated_at':'2025-11-10T15:05:00Z','planning':{'level':'scene',"
        "'context':{'act':1,'chapter':2,'scene':4},'current_phase':3,'total_phases':5,'phases':["
        "{'phase':1,'name':'Exploration','status':'completed',"
        "'started_at':'2025-11-10T15:00:00Z','completed_at':'2025-11-10T15:01:30Z',"
        "'agents':['dialogue-analyst','context-analyzer'],"
        "'artifacts':{'exploration_results':'" PLAN_DIR "/exploration-results.md'}},"
        "{'phase':2,'name':'Scenarios','status':'completed','started_at':'2025-11-10T15:01:30Z',"
        "'completed_at':'2025-11-10T15:03:00Z',"
        "'agents':['scenario-generator','consequence-predictor'],"
        "'artifacts':{'scenarios':'" PLAN_DIR "/scenarios.md'},"
        "'human_approval':{'required':true,'approved':true,'approved_at':'2025-11-10T15:03:00Z',"
        "'selected_variant':'A'}},"
        "{'phase':3,'name':'Path Planning','status':'in_progress',"
        "'started_at':'2025-11-10T15:03:00Z','completed_at':null,"
        "'agents':['arc-planner','dependency-mapper'],'artifacts':{}},"
        "{'phase':4,'name':'Detailing','status':'pending','started_at':null,'completed_at':null,"
        "'agents':['emotional-arc-designer','beat-planner','dialogue-weaver'],'artifacts':{}},"
        "{'phase':5,'name':'Integration','status':'pending','started_at':null,"
        "'completed_at':null,'agents':['storyline-integrator','impact-analyzer'],"
        "'artifacts':{}}],'artifacts':{'working_dir':'" PLAN_DIR "'}}}");
    fits_base(viewed(w, STR(PLAN), "workflow"));
    world_audit(w);
    world_close(w);
}

/* ---- MCP Tools API ---- */

TEST(get_workflow_status_answers_as_printed)
{
    struct world *w = generation_that_waits();

    CHECK_PRINTED(call(w, "step.status", "{'workflow_id':'" RUN "'}"),
                  "{'workflow_id':'" RUN "','workflow_type':'generation','status':'in_progress',"
                  "'current_step':3,'current_step_name':'Verification Plan',"
                  "'waiting_for_approval':true,'progress_percentage':42,"
                  "'artifacts':{'verification_plan':'" RUN_DIR "/verification-plan.md'}}");
    world_close(w);
}

TEST(get_next_step_answers_as_printed)
{
    struct world *w = generation_that_waits();

    CHECK_PRINTED(call(w, "step.next", "{'workflow_id':'" RUN "'}"),
                  "{'can_proceed':false,'current_step':3,'current_step_name':'Verification Plan',"
                  "'current_status':'waiting_approval',"
                  "'blocking_reason':'Human approval required for verification plan',"
                  "'required_action':'User must approve or modify verification plan',"
                  "'next_step':4,'next_step_name':'Generation','prerequisites_met':false}");
    CHECK_OK(approved(w)->error);
    CHECK_PRINTED(call(w, "step.next", "{'workflow_id':'" RUN "'}"),
                  "{'can_proceed':true,'current_step':4,'current_step_name':'Generation',"
                  "'current_status':'in_progress','blocking_reason':null,"
                  "'required_action':'prose-writer must complete generation',"
                  "'next_step':5,'next_step_name':'Fast Compliance Check',"
                  "'prerequisites_met':false}");
    world_close(w);
}

TEST(validate_prerequisites_answers_as_printed)
{
    struct world *w = generation_that_waits();

    CHECK_PRINTED(call(w, "step.prerequisites", "{'workflow_id':'" RUN "','step':4}"),
                  "{'prerequisites_met':false,'required_steps':[1,2,3],'completed_steps':[1,2],"
                  "'missing_steps':[3],'can_start_step':false,"
                  "'blocking_issues':['Step 3 (Verification Plan) is waiting_approval']}");
    CHECK_OK(approved(w)->error);
    CHECK_PRINTED(call(w, "step.prerequisites", "{'workflow_id':'" RUN "','step':4}"),
                  "{'prerequisites_met':true,'required_steps':[1,2,3],'completed_steps':[1,2,3],"
                  "'missing_steps':[],'can_start_step':true,'blocking_issues':[]}");
    CHECK_PRINTED(call(w, "step.prerequisites", "{'workflow_id':'" RUN "','step':7}"),
                  "{'prerequisites_met':false,'required_steps':[1,2,3,4,5,6],"
                  "'completed_steps':[1,2,3],'missing_steps':[4,5,6],'can_start_step':false,"
                  "'blocking_issues':['Step 4 (Generation) is in_progress',"
                  "'Step 5 (Fast Compliance Check) is pending','Step 6 (Full Validation) is "
                  "pending']}");
    CHECK_STR(at(call(w, "step.prerequisites", "{'workflow_id':'" RUN "','step':1}"),
                 "/blocking_issues"),
              "[\"Step 1 (File Check) is completed already\"]");
    struct command *c = call(w, "step.prerequisites", "{'workflow_id':'" RUN "','step':8}");
    CHECK_ERR(c->error, ERR_NOT_FOUND);
    CHECK_HAS(c->error->message, "has no step \"8\"; there are: 1, 2, 3, 4, 5, 6, 7");
    world_close(w);
}

TEST(approve_step_answers_as_printed)
{
    struct world *w = generation_that_waits();

    for (int i = 0; i < 2; i++) /* and again, as whoever has not heard the answer */
        CHECK_PRINTED(approved(w), "{'success':true,'workflow_id':'" RUN "','step':3,"
                                   "'status':'completed','next_step':4,"
                                   "'next_step_name':'Generation'}");
    CHECK_STR(at(viewed(w, STR(RUN), "workflow"), "/generation/steps/2/human_approval"),
              "{\"required\":true,\"approved\":true,\"approved_at\":\"2025-11-10T14:35:00Z\"}");
    CHECK_HAS(seen(w, STR(RUN), "/variables"), "professional detachment with cracks");
    struct command *c =
        call(w, "step.approve", "{'workflow_id':'" RUN "','step':3,'approved':false}");
    CHECK_ERR(c->error, ERR_CONFLICT);
    CHECK_HAS(c->error->message,
              "Step 3 (Verification Plan) waits for no approval: it is completed");
    c = call(w, "step.approve", "{'workflow_id':'" RUN "','step':4,'approved':true}");
    CHECK_ERR(c->error, ERR_CONFLICT);
    CHECK_HAS(c->error->message, "its definition asks nobody for one");
    world_close(w);
}

TEST(a_rejected_step_fails_the_workflow)
{
    struct world *w = generation_that_waits();

    CHECK_PRINTED(call(w, "step.approve",
                       "{'workflow_id':'" RUN "','step':3,'approved':false,'reason':'too thin'}"),
                  "{'success':true,'workflow_id':'" RUN "','step':3,'status':'failed',"
                  "'next_step':4,'next_step_name':'Generation'}");
    CHECK_STR(at(call(w, "step.status", "{'workflow_id':'" RUN "'}"), "/status"), "failed");
    struct command *c = call(w, "step.next", "{'workflow_id':'" RUN "'}");
    CHECK_HAS(at(c, "/blocking_reason"), "Step 3 (Verification Plan) has failed: ");
    CHECK_HAS(at(c, "/blocking_reason"), "too thin");
    CHECK_STR(at(c, "/required_action"),
              "User must mend the cause, and resume the workflow from step 3");
    world_audit(w);
    world_close(w);
}

/* An agent's word decides nothing, whatever it says. */
TEST(a_session_is_told_who_approves_and_where)
{
    struct world *w = world_new();

    clock_at(w, "2025-11-10T14:30:00Z");
    session(w, "root", NULL);
    session(w, "a", "root");
    deploy(w, GENERATION);
    become(w, "ses_root");
    str id = begin(w, "scenes", "'input':{'scene_id':'0204'}");
    become(w, "ses_a");
    step_done(w, z(id), 1, "{'blueprint_path':'x'}");
    step_done(w, z(id), 2, "{'constraints_list':'y'}");
    step_done(w, z(id), 3, "{'verification_plan':'z'}");
    for (int i = 0; i < 2; i++) {
        become(w, i ? "ses_root" : "ses_a");
        struct command *c = call(w, "step.approve",
                                 "{'workflow_id':'" STR_FMT "','step':3,'approved':true}",
                                 STR_ARG(id));
        CHECK_ERR(c->error, ERR_FORBIDDEN);
        CHECK_HAS(c->error->message,
                  "is decided by a person: the operator, with 'baton inbox approve");
    }
    CHECK_STR(at(viewed(w, id, "workflow"), "/generation/steps/2/status"), "waiting_approval");
    CHECK_STR(at(viewed(w, id, "metrics"), "/workflow_metrics/workflow_id"), z(id));
    CHECK_HAS(view_text(w, id, "log"), "step 3 (Verification Plan): approval apr_");
    world_close(w);
}

TEST(update_workflow_state_answers_as_printed)
{
    struct world *w = generation_at_step_4();

    world_pass(w, 300000);
    CHECK_PRINTED(updated(w, RUN, 4,
                          "'status':'in_progress','artifacts':{'draft':'workspace/.../"
                          "scene-0204-draft.md'}"),
                  "{'success':true,'workflow_id':'" RUN "','updated_at':'2025-11-10T14:40:00Z'}");
    CHECK_STR(at(viewed(w, STR(RUN), "workflow"), "/generation/steps/3/artifacts"),
              "{\"draft\":\"workspace/.../scene-0204-draft.md\"}");
    /* What there is at the end is all of it; what is missing is named. */
    struct command *c = updated(w, RUN, 4, "'status':'completed'");
    CHECK_ERR(c->error, ERR_UNFIT);
    CHECK_HAS(c->error->message, "\"compliance_echo\"");
    step_done(w, RUN, 4, "{'compliance_echo':'workspace/.../echo.json'}");
    CHECK_STR(at(viewed(w, STR(RUN), "workflow"), "/generation/steps/3/artifacts"),
              "{\"draft\":\"workspace/.../scene-0204-draft.md\","
              "\"compliance_echo\":\"workspace/.../echo.json\"}");
    world_audit(w);
    world_close(w);
}

TEST(list_workflows_answers_as_printed)
{
    static const struct {
        const char *filter;
        int total;
    } cases[] = {
        { "'status':'in_progress'", 2 },
        { "'status':'waiting_approval'", 1 },
        { "'status':'waiting_approval','session_name':'elsewhere'", 0 },
        { "'workflow_type':'planning'", 0 },
        { "'workflow_type':'generation'", 3 },
        { "'status':'cancelled'", 1 },
        { "'status':'failed'", 0 },
        { "'status':'completed'", 0 },
        { "'session_name':'work-on-chapter-02'", 1 },
        { "'limit':1", 3 },
    };
    struct world *w = generation_that_waits();

    CHECK_PRINTED(call(w, "step.workflows",
                       "{'status':'in_progress','workflow_type':'generation',"
                       "'session_name':'work-on-chapter-02'}"),
                  "{'workflows':[{'workflow_id':'" RUN "','workflow_type':'generation',"
                  "'status':'in_progress','current_step':3,'progress_percentage':42}],'total':1}");
    begin(w, "scenes", "'input':{'scene_id':'0205'},'session_name':'elsewhere'");
    str third = begin(w, "scenes", "'input':{'scene_id':'0206'}");
    CHECK_OK(call(w, "step.cancel", "{'workflow_id':'" STR_FMT "'}", STR_ARG(third))->error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command *c = call(w, "step.workflows", "{%s}", cases[i].filter);
        CHECK_INT(json_int_or(answer_of(c), "total", -1), cases[i].total);
        CHECK_INT(json_get(answer_of(c), "workflows")->len,
                  strstr(cases[i].filter, "limit") ? 1 : cases[i].total);
    }
    world_close(w);
}

TEST(resume_workflow_answers_as_printed)
{
    struct world *w = generation_at_step_4();

    for (int i = 1; i <= 3; i++)
        CHECK_OK(updated(w, RUN, 4, "'status':'failed','error':'attempt %d was flat'", i)->error);
    struct command *c = viewed(w, STR(RUN), "workflow");
    CHECK_STR(at(c, "/status"), "failed");
    CHECK_STR(at(c, "/generation/steps/3/status"), "failed");
    CHECK_STR(at(c, "/generation/steps/3/attempts/current"), "3");
    CHECK_STR(at(c, "/generation/steps/3/attempts/history/2/error"), "attempt 3 was flat");
    CHECK_STR(at(c, "/generation/steps/3/attempts/history/0/ended_at"), "2025-11-10T14:35:00Z");
    CHECK_PRINTED(call(w, "step.resume", "{'workflow_id':'" RUN "','from_step':4}"),
                  "{'success':true,'workflow_id':'" RUN "','resumed_from_step':4,"
                  "'current_status':'in_progress'}");
    CHECK_STR(at(viewed(w, STR(RUN), "workflow"), "/generation/steps/3/status"), "in_progress");
    /* What was done before stays as it was. */
    CHECK_STR(at(viewed(w, STR(RUN), "workflow"), "/generation/steps/2/status"), "completed");
    world_audit(w);
    world_close(w);
}

TEST(cancel_workflow_answers_as_printed)
{
    struct world *w = generation_that_waits();

    for (int i = 0; i < 2; i++)
        CHECK_PRINTED(call(w, "step.cancel",
                           "{'workflow_id':'" RUN "','reason':'User requested cancellation'}"),
                      i ? "{'success':true,'workflow_id':'" RUN "','status':'cancelled',"
                          "'cleanup_performed':false}"
                        : "{'success':true,'workflow_id':'" RUN "','status':'cancelled',"
                          "'cleanup_performed':true}");
    CHECK_STR(seen(w, STR(RUN), "/reason"), "User requested cancellation");
    CHECK_STR(at(viewed(w, STR(RUN), "workflow"), "/status"), "cancelled");
    CHECK_PRINTED(call(w, "step.resume", "{'workflow_id':'" RUN "'}"),
                  "{'success':true,'workflow_id':'" RUN "','resumed_from_step':3,"
                  "'current_status':'in_progress'}");
    world_audit(w);
    world_close(w);
}

/* ---- statuses ---- */

TEST(what_a_step_cannot_become_is_refused_with_the_reason)
{
    static const struct {
        int step;
        const char *said, *reason;
    } cases[] = {
        { 1, "pending", "step 1 is completed, and cannot become pending" },
        { 1, "in_progress",
          "step 1 is completed, and cannot become in_progress: it is done anew "
          "only when the workflow is resumed from it" },
        { 1, "failed", "step 1 is completed, and cannot become failed" },
        { 3, "pending", "step 3 is waiting_approval, and cannot become pending: a person decides" },
        { 3, "in_progress", "step 3 is waiting_approval, and cannot become in_progress" },
        { 3, "failed", "step 3 is waiting_approval, and cannot become failed" },
        { 4, "in_progress",
          "step 4 is pending, and cannot become in_progress: it begins by itself "
          "when what comes before it is done: 3 (waiting_approval)" },
        { 4, "completed", "step 4 is pending, and cannot become completed" },
        { 4, "failed", "step 4 is pending, and cannot become failed" },
        { 7, "completed", "6 (pending)" },
    };
    struct world *w = generation_that_waits();
    str was = viewed(w, STR(RUN), "workflow")->answer.text;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command *c = updated(w, RUN, cases[i].step, "'status':'%s'", cases[i].said);
        CHECK_ERR(c->error, ERR_CONFLICT);
        CHECK_HAS(c->error->message, cases[i].reason);
    }
    CHECK_STR(viewed(w, STR(RUN), "workflow")->answer.text, z(was));
    CHECK_ERR(updated(w, RUN, 4, "'status':'waiting_approval'")->error, ERR_INVALID);
    CHECK_ERR(call(w, "step.update", "{'workflow_id':'" RUN "','status':'completed'}")->error,
              ERR_INVALID);
    CHECK_OK(approved(w)->error);
    struct command *c = updated(w, RUN, 4, "'status':'pending'");
    CHECK_HAS(c->error->message, "step 4 is in_progress, and cannot become pending: say that it is "
                                 "completed, or that it has failed");
    CHECK_OK(call(w, "step.cancel", "{'workflow_id':'" RUN "'}")->error);
    c = updated(w, RUN, 4, "'status':'completed'");
    CHECK_HAS(c->error->message, "has ended (CANCELLED)");
    world_audit(w);
    world_close(w);
}

/* A failing check has the step that writes done anew, which is counted as an attempt of that. */
TEST(a_check_that_fails_reopens_the_step_that_it_checks)
{
    struct world *w = generation_at_step_4();

    step_done(w, RUN, 4, "{'draft':'d1','compliance_echo':'e1'}");
    CHECK_OK(updated(w, RUN, 5, "'status':'failed','error':'a constraint is broken'")->error);
    struct command *c = viewed(w, STR(RUN), "workflow");
    CHECK_STR(at(c, "/status"), "in_progress");
    CHECK_STR(at(c, "/generation/current_step"), "4");
    CHECK_STR(at(c, "/generation/steps/3/status"), "in_progress");
    CHECK_STR(at(c, "/generation/steps/3/attempts/current"), "2");
    CHECK_STR(at(c, "/generation/steps/3/artifacts"), "{}");
    CHECK_STR(at(c, "/generation/steps/4/status"), "pending");
    CHECK_STR(at(viewed(w, STR(RUN), "metrics"), "/workflow_metrics/retry_count"), "1");
    world_audit(w);
    world_close(w);
}

TEST(a_workflow_that_is_done_is_at_its_last_step_and_at_100)
{
    struct world *w = generation_at_step_4();

    step_done(w, RUN, 4, "{'draft':'d','compliance_echo':'e'}");
    step_done(w, RUN, 5, "{'fast_compliance_result':'f'}");
    CHECK_STR(at(call(w, "step.status", "{'workflow_id':'" RUN "'}"), "/progress_percentage"),
              "85");
    step_done(w, RUN, 6, "{'final_validation_report':'r'}");
    step_done(w, RUN, 7, "{'final_report':'x','scene_content':'y'}");
    CHECK_PRINTED(call(w, "step.status", "{'workflow_id':'" RUN "'}"),
                  "{'workflow_id':'" RUN "','workflow_type':'generation','status':'completed',"
                  "'current_step':7,'current_step_name':'Final Output',"
                  "'waiting_for_approval':false,'progress_percentage':100,"
                  "'artifacts':{'final_report':'x','scene_content':'y'}}");
    CHECK_PRINTED(call(w, "step.next", "{'workflow_id':'" RUN "'}"),
                  "{'can_proceed':false,'current_step':7,'current_step_name':'Final Output',"
                  "'current_status':'completed','blocking_reason':'All steps are completed',"
                  "'required_action':'None','next_step':null,'next_step_name':null,"
                  "'prerequisites_met':true}");
    CHECK_STR(view_text(w, STR(RUN), "markdown"),
              "# Workflow Status: scenes\n\nStatus: completed | Current Step: -\n\n## Steps\n\n"
              "- [x] Step 1: File Check → acts/act-1/chapters/chapter-02/scenes/"
              "scene-0204-blueprint.md\n"
              "- [x] Step 2: Blueprint Validation → " RUN_DIR "/constraints-list.json\n"
              "- [x] Step 3: Verification Plan → " RUN_DIR "/verification-plan.md\n"
              "- [x] Step 4: Generation → d, e\n"
              "- [x] Step 5: Fast Compliance Check → f\n"
              "- [x] Step 6: Full Validation → r\n"
              "- [x] Step 7: Final Output → x, y\n");
    world_audit(w);
    world_close(w);
}

/* ---- State Storage ---- */

TEST(the_index_is_the_documents)
{
    struct world *w = generation_that_waits();

    begin(w, "scenes", "'input':{'scene_id':'0205'}");
    CHECK_PRINTED(viewed(w, STR(RUN), "index"),
                  "{'workflows':[{'workflow_id':'" RUN "','workflow_type':'generation',"
                  "'status':'in_progress','session_name':'work-on-chapter-02',"
                  "'created_at':'2025-11-10T14:30:00Z','updated_at':'2025-11-10T14:35:00Z',"
                  "'state_file':'workspace/sessions/work-on-chapter-02/workflow-state/" RUN
                  ".json'}]}");
    world_close(w);
}

/* Without a session the paths are the global ones, and the index is of those. */
TEST(a_workflow_without_a_session_is_global)
{
    struct world *w = generation_that_waits();
    str id = begin(w, "scenes", "'input':{'scene_id':'0205'}");

    CHECK_STR(id, "generation-scene-0205-20251110-143500");
    CHECK_STR(at(viewed(w, id, "workflow"), "/generation/artifacts/working_dir"),
              "workspace/generation-runs/generation-scene-0205-20251110-143500");
    CHECK(!json_get(answer_of(viewed(w, id, "workflow")), "session_name"));
    CHECK_PRINTED(viewed(w, id, "index"),
                  "{'workflows':[{'workflow_id':'generation-scene-0205-20251110-143500',"
                  "'workflow_type':'generation','status':'in_progress',"
                  "'created_at':'2025-11-10T14:35:00Z','updated_at':'2025-11-10T14:35:00Z',"
                  "'state_file':'workspace/workflow-state/"
                  "generation-scene-0205-20251110-143500.json'}]}");
    world_close(w);
}

/* ---- Metrics and Observability ---- */

TEST(metrics_are_the_documents)
{
    struct world *w = world_new();

    clock_at(w, "2025-11-10T14:30:00Z");
    deploy(w, GENERATION);
    begin(w, "scenes", "'input':{'scene_id':'0204'},'session_name':'work-on-chapter-02'");
    world_pass(w, 5000);
    step_done(w, RUN, 1, "{'blueprint_path':'x'}");
    world_pass(w, 55000);
    step_done(w, RUN, 2, "{'constraints_list':'x'}");
    step_done(w, RUN, 3, "{'verification_plan':'x'}");
    world_pass(w, 30000);
    CHECK_OK(approved(w)->error);
    world_pass(w, 100000);
    CHECK_OK(updated(w, RUN, 4, "'status':'failed'")->error);
    world_pass(w, 140000);
    step_done(w, RUN, 4, "{'draft':'x','compliance_echo':'y'}");
    world_pass(w, 90000);
    CHECK_PRINTED(viewed(w, STR(RUN), "metrics"),
                  "{'workflow_metrics':{'workflow_id':'" RUN "','total_time_seconds':420,"
                  "'step_times':[{'step':1,'duration_seconds':5},{'step':2,'duration_seconds':55},"
                  "{'step':3,'duration_seconds':30},{'step':4,'duration_seconds':240}],"
                  "'retry_count':1,'human_approval_time_seconds':30,'agent_calls':6,"
                  "'parallel_executions':1}}");
    step_done(w, RUN, 5, "{'fast_compliance_result':'x'}");
    CHECK_STR(at(viewed(w, STR(RUN), "metrics"), "/workflow_metrics/parallel_executions"), "7");
    world_close(w);
}

TEST(the_log_has_a_line_for_each_thing_that_happened)
{
    struct world *w = generation_that_waits();
    str log;

    CHECK_OK(approved(w)->error);
    CHECK_OK(updated(w, RUN, 4, "'status':'failed','error':'flat'")->error);
    CHECK_OK(call(w, "step.cancel", "{'workflow_id':'" RUN "','reason':'enough\\nof it'}")->error);
    log = view_text(w, STR(RUN), "log");
    static const char *const lines[] = {
        "2025-11-10T14:30:00Z started by operator: workflow scenes version 1\n",
        "2025-11-10T14:30:00Z step 1 (File Check): in_progress (by operator)\n",
        "2025-11-10T14:30:05Z step 1 (File Check): completed (by operator)\n",
        "2025-11-10T14:35:00Z step 3 (Verification Plan): waiting_approval (by operator)\n",
        "2025-11-10T14:35:00Z step 3 (Verification Plan): approval apr_",
        " approved by operator\n",
        "2025-11-10T14:35:00Z step 4 (Generation): attempt 1 failed: flat\n",
        "2025-11-10T14:35:00Z step 4 (Generation): attempt 2\n",
        "2025-11-10T14:35:00Z workflow: CANCELLED (by operator): enough of it\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK_HAS(log, lines[i]);
    CHECK(str_starts(log, str_from(lines[0])));
    CHECK_STR(str_from(viewed(w, STR(RUN), "log")->answer.media), "text/plain; charset=utf-8");
    world_close(w);
}

/* ---- the others ---- */

/* Steps of our own are shown in the same form, and taken by their ids. */
TEST(a_workflow_of_our_own_is_shown_as_one_of_the_documents)
{
    struct world *w = world_new();

    clock_at(w, "2025-11-10T14:30:00Z");
    deploy(w, TWO);
    str id = begin(w, "two", "");
    CHECK_OK(call(w, "step.update",
                  "{'workflow_id':'" STR_FMT "','step':'a','status':'completed',"
                  "'artifacts':{'n':1}}",
                  STR_ARG(id))
                 ->error);
    struct command *c = viewed(w, id, "workflow");
    CHECK_STR(at(c, "/workflow_type"), "steps");
    CHECK_STR(at(c, "/steps/current_step"), "b");
    CHECK_STR(at(c, "/steps/steps/0/artifacts"), "{\"n\":1}");
    CHECK_STR(at(call(w, "step.prerequisites", "{'workflow_id':'" STR_FMT "','step':'b'}",
                      STR_ARG(id)),
                 "/required_steps"),
              "[\"a\"]");
    CHECK_STR(at(call(w, "step.status", "{'workflow_id':'" STR_FMT "'}", STR_ARG(id)),
                 "/progress_percentage"),
              "100");
    world_close(w);
}
