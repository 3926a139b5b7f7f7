/* builtin_test.c: workflows that come with the program, and those that an execution brings with it. */
#include "share_help.h"
#include "sim/both.h"

static str listed(struct world *w)
{
    const struct json *all = json_get(answer(w, "workflow.list", "{}"), "workflows");
    struct buf out = buf_in(check_arena());

    for (uint32_t i = 0; i < all->len; i++)
        buf_printf(&out, "%s" STR_FMT " %lld", i ? ", " : "",
                   STR_ARG(json_str(&all->items[i], "workflow")),
                   (long long)json_int_or(&all->items[i], "version", 0));
    return buf_str(&out);
}

TEST_BOTH(what_comes_with_the_program_is_there_without_a_row)
{
    struct world *w = world_new();

    CHECK_STR(listed(w), "generation 1, planning 1");
    struct command *c = call(w, "workflow.get", "{'name':'generation'}");
    CHECK_STR(at(c, "/created_at"), "null");
    CHECK_STR(at(c, "/kind"), "generation");
    CHECK_STR(at(c, "/steps/5/title"), "Full Validation");
    CHECK_STR(at(c, "/steps/5/by"), "agent");
    CHECK_STR(at(c, "/warnings"), "[]");
    CHECK_STR(at(call(w, "workflow.versions", "{'name':'planning'}"), "/workflows/0/version"), "1");
    CHECK_HAS(refused(w, "workflow.delete", "{'name':'planning'}")->message,
              "comes with the program");
    CHECK_HAS(refused(w, "workflow.get", "{'name':'planing'}")->message, "generation, planning");
    CHECK_STR(at(call(w, "workflow.list", "{'limit':1}"), "/next"), "generation");
    CHECK_STR(at(call(w, "workflow.list", "{'after':'generation'}"), "/workflows/0/workflow"),
              "planning");
    world_end(w);
}

TEST_BOTH(another_text_under_its_name_is_version_2)
{
    struct world *w = world_new();
    struct command *c =
        call(w, "workflow.deploy", "{'name':'generation','definition':{'steps':[{'id':'mine'}]}}");

    CHECK_STR(at(c, "/version"), "2");
    CHECK_STR(listed(w), "generation 2, planning 1");
    c = call(w, "workflow.get", "{'name':'generation','version':1}");
    CHECK_STR(at(c, "/steps/0/title"), "File Check");
    CHECK(str_starts(begin(w, "generation", ""), STR("exec-")));
    CHECK_OK(call(w, "execution.start",
                  "{'workflow':'generation','version':1,'input':{'scene_id':'0204'}}")
                 ->error);
    CHECK_HAS(refused(w, "workflow.delete", "{'name':'generation'}")->message, "has not ended");
    world_end(w);
}

TEST_BOTH(what_is_deleted_is_that_of_the_program_again)
{
    struct world *w = world_new();
    str id = begin(w, "planning", "'input':{'scene_id':'0204'}");

    CHECK(!str_eq(at(call(w, "workflow.get", "{'name':'planning'}"), "/created_at"), STR("null")));
    CHECK_OK(call(w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    CHECK_OK(call(w, "workflow.delete", "{'name':'planning'}")->error);
    CHECK_STR(listed(w), "generation 1, planning 1");
    CHECK_STR(at(call(w, "workflow.get", "{'name':'planning'}"), "/created_at"), "null");
    CHECK_STR(seen(w, id, "/steps/4/title"), "Integration");
    CHECK_OK(call(w, "execution.resume", "{'execution_id':'" STR_FMT "','from':'1'}", STR_ARG(id))
                 ->error);
    world_end(w);
}

TEST_BOTH(ids_are_of_the_form_that_the_document_has)
{
    static const struct {
        const char *workflow, *input, *begins;
    } cases[] = {
        { "generation", "{'scene_id':'0204'}", "generation-scene-0204-2" },
        { "planning", "{'scene_id':'0204'}", "planning-scene-0204-2" },
        { "planning", "{'context':{'act':1,'chapter':2,'scene':4}}", "planning-scene-0204-2" },
    };
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str id = begin(w, cases[i].workflow,
                       arena_printf(check_arena(), "'input':%s", cases[i].input).at);
        CHECK(str_starts(id, str_from(cases[i].begins)));
    }
    CHECK_HAS(refused(w, "execution.start", "{'workflow':'generation'}")->message, "scene_id");
    CHECK_HAS(refused(w, "execution.start", "{'workflow':'planning'}")->message, "input");
    world_end(w);
}

/* ---- from the first step to the last ---- */

/* The next agent's turn at a step, done as the step wants it. */
static void does(struct world *w, const struct fake_runner *m, str id, const char *step,
                 const char *agent, const char *outputs)
{
    struct turn t = turn_of(w, m, "task");

    CHECK_STR(session_is(w, t.session, "/agent_name"), agent);
    CHECK_HAS(t.prompt, arena_printf(check_arena(), "## Step `%s`: ", step).at);
    works(w, &t, id, step, outputs);
}

static void approve(struct world *w, str id, const char *step)
{
    CHECK_OK(call(w, "step.approve", "{'workflow_id':'" STR_FMT "','step':%s,'approved':true}",
                  STR_ARG(id), step)
                 ->error);
}

TEST_BOTH(a_scene_is_generated_in_seven_steps_with_a_failing_check)
{
    struct world *w = world_new();
    struct fake_runner m = fake_runner_new(w, "r", ",'capacity':100");
    struct command *c =
        call(w, "execution.start",
             "{'workflow':'generation','input':{'scene_id':'0204'},'session_name':'work'}");
    str id = at(c, "/execution_id");

    CHECK(!json_get(answer_of(c), "warnings"));
    does(w, &m, id, "1", "generation-coordinator", "{'blueprint_path':'acts/0204.md'}");
    does(w, &m, id, "2", "blueprint-validator", "{'constraints_list':'c.json'}");
    does(w, &m, id, "3", "verification-planner", "{'verification_plan':'v.md'}");
    CHECK(!turn_next(w, &m).claim.run_id.len);
    approve(w, id, "3");
    does(w, &m, id, "4", "prose-writer", "{'draft':'d.md','compliance_echo':'e'}");
    struct turn t = turn_of(w, &m, "task");
    CHECK_OK(records(w, &t, id, "5", ",'failed':true,'error':'the rain is missing'")->error);
    ends(w, &t);
    t = turn_of(w, &m, "task"); /* step 4 once more */
    CHECK_HAS(t.prompt, "### Attempt 2 of 3");
    CHECK_HAS(t.prompt, "the rain is missing");
    works(w, &t, id, "4", "{'draft':'d2.md','compliance_echo':'e'}");
    does(w, &m, id, "5", "blueprint-compliance-fast-checker", "{'fast_compliance_result':'ok'}");
    struct turn seven[7];
    for (int i = 0; i < 7; i++)
        seven[i] = turn_of(w, &m, "task");
    for (int i = 0; i < 7; i++)
        works(w, &seven[i], id, "6", "{'finding':'none'}");
    does(w, &m, id, "6", "validation-aggregator", "{'final_validation_report':'good'}");
    does(w, &m, id, "7", "generation-coordinator", "{'final_report':'r','scene_content':'s'}");
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    CHECK_INT(json_parsed(check_arena(), kept(w, id, "/steps/5/sessions"))->len, 8);
    world_end(w);
}

TEST_BOTH(a_scene_is_planned_in_five_phases)
{
    struct world *w = world_new();
    struct fake_runner m = fake_runner_new(w, "r", ",'capacity':100");
    str id = begin(w, "planning", "'input':{'scene_id':'0204'}");
    struct turn a = turn_of(w, &m, "task"), b = turn_of(w, &m, "task");

    works(w, &a, id, "1", "{'x':1}");
    works(w, &b, id, "1", "{'y':1}");
    does(w, &m, id, "1", "dialogue-analyst", "{'exploration_results':'e.md'}");
    does(w, &m, id, "2", "scenario-generator", "{'draft':'s'}");
    does(w, &m, id, "2", "consequence-predictor", "{'scenarios':'s.md'}");
    CHECK(!turn_next(w, &m).claim.run_id.len);
    CHECK_OK(call(w, "step.approve",
                  "{'workflow_id':'" STR_FMT "','step':2,'approved':true,'selected_variant':'A'}",
                  STR_ARG(id))
                 ->error);
    does(w, &m, id, "3", "arc-planner", "{'p':1}");
    struct turn t = turn_of(w, &m, "task");
    CHECK_HAS(t.prompt, "\"selected_variant\":\"A\"");
    works(w, &t, id, "3", "{'path_plan':'p.md'}");
    does(w, &m, id, "4", "emotional-arc-designer", "{'p':1}");
    does(w, &m, id, "4", "beat-planner", "{'p':2}");
    does(w, &m, id, "4", "dialogue-weaver", "{'detailed_plans':'d.md'}");
    does(w, &m, id, "5", "storyline-integrator", "{'p':1}");
    does(w, &m, id, "5", "impact-analyzer", "{'integration_analysis':'i.md'}");
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    world_end(w);
}

/* ---- those without a name ---- */

TEST_BOTH(what_an_execution_brings_with_it_is_in_no_list_and_goes_with_the_last_one)
{
    struct world *w = world_new();
    static const char *const same = "{'task':'Add a button','phases':[['Build it','coder']]}";
    str a = at(world_call(w, "phase.create", same, ""), "/workflow_id"),
        b = at(world_call(w, "phase.create", same, ""), "/workflow_id");
    str name = seen(w, a, "/workflow");

    must_be(seen(w, b, "/workflow"), name);
    CHECK(str_starts(name, STR("#")));
    CHECK_STR(listed(w), "generation 1, planning 1");
    for (int i = 0; i < 2; i++) {
        str id = i ? b : a;
        CHECK_OK(call(w, "workflow.get", "{'name':'" STR_FMT "'}", STR_ARG(name))->error);
        CHECK_OK(call(w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
        CHECK_OK(call(w, "execution.delete", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    }
    CHECK(call(w, "workflow.get", "{'name':'" STR_FMT "'}", STR_ARG(name))->error->kind ==
          ERR_NOT_FOUND);
    world_end(w);
}
