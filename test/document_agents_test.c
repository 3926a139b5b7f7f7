/* document_agents_test.c: agents that are started for phases and steps say what came of them by the tools of
 * documents 001 and 002. */
#include "ops/op.h"
#include "share_help.h"

#define STEPS                                                                           \
    "{'workflow':'g','generation_steps':["                                              \
    "{'step':1,'name':'File Check','agent':'checker','outputs':['blueprint_path']},"    \
    "{'step':2,'name':'Plan','agent':'planner','prerequisites':[1],'outputs':['plan']," \
    "'human_approval':true},"                                                           \
    "{'step':3,'name':'Validation','agent':'checker','prerequisites':[2],"              \
    "'outputs':['report'],'parallel_agents':3}]}"

#define PHASES                                                       \
    "{'workflow':'p','task':'Do it','phases':["                      \
    "{'id':'phase_0','title':'Build','agent':'checker','by':'run'}," \
    "{'id':'phase_1','title':'Look','agent':'planner','by':'run'}]}"

static struct world *world_with_agents(struct fake_runner *m)
{
    struct world *w = world_new();

    *m = fake_runner_new(w, "r", ",'capacity':100");
    agent(w, "checker");
    agent(w, "planner");
    deploy(w, STEPS);
    deploy(w, PHASES);
    return w;
}

/* What its agent says by the document's tool; `more` are further members. */
static struct command *updates(struct world *w, const struct turn *t, str id, const char *more)
{
    act_as(w, t->claim.token);
    struct command *c =
        call(w, "step.update", "{'workflow_id':'" STR_FMT "',%s}", STR_ARG(id), more);
    w->actor = the_operator;
    return c;
}

static str state_of(struct world *w, str id, const char *pointer)
{
    return at(call(w, "execution.view", "{'execution_id':'" STR_FMT "','view':'workflow'}",
                   STR_ARG(id)),
              pointer);
}

TEST(an_agent_records_its_step_by_update_workflow_state)
{
    struct fake_runner m;
    struct world *w = world_with_agents(&m);
    str id = begin(w, "g", "'input':{'scene_id':'0204'}");
    struct turn t = turn_of(w, &m, "task");

    act_as(w, t.claim.token);
    CHECK_STR(actor_records_by(&w->actor), "update_workflow_state");
    CHECK_INT(actor_tier(&w->actor), TIER_CHILD);
    w->actor = the_operator;
    struct command *c = updates(w, &t, id, "'step':1,'status':'completed','artifacts':{'x':1}");
    CHECK_ERR(c->error, ERR_UNFIT);
    CHECK_HAS(c->error->message, "blueprint_path");
    CHECK_ERR(updates(w, &t, id, "'step':2,'status':'completed','artifacts':{'plan':1}")->error,
              ERR_CONFLICT);
    CHECK_ERR(updates(w, &t, id, "'status':'pending'")->error, ERR_CONFLICT);
    CHECK_OK(updates(w, &t, id, "'step':1,'status':'in_progress','artifacts':{}")->error);
    /* It knows which step it works for. */
    CHECK_OK(
        updates(w, &t, id, "'status':'completed','artifacts':{'blueprint_path':'b.md'}")->error);
    ends(w, &t);
    CHECK_STR(state_of(w, id, "/generation/steps/0/status"), "completed");
    CHECK_STR(state_of(w, id, "/generation/artifacts/blueprint_path"), "b.md");

    t = turn_of(w, &m, "task");
    CHECK_OK(updates(w, &t, id, "'status':'completed','artifacts':{'plan':'p.md'}")->error);
    ends(w, &t);
    CHECK_STR(state_of(w, id, "/generation/steps/1/status"), "waiting_approval");
    CHECK_OK(call(w, "step.approve", "{'workflow_id':'" STR_FMT "','step':2,'approved':true}",
                  STR_ARG(id))
                 ->error);
    /* Three at once, and then one that puts their results together. */
    struct turn three[3];
    for (int i = 0; i < 3; i++)
        three[i] = turn_of(w, &m, "task");
    for (int i = 0; i < 3; i++) {
        CHECK_OK(
            updates(w, &three[i], id, "'status':'completed','artifacts':{'report':'r'}")->error);
        ends(w, &three[i]);
    }
    t = turn_of(w, &m, "task");
    CHECK_OK(updates(w, &t, id, "'status':'completed','artifacts':{'report':'all'}")->error);
    ends(w, &t);
    CHECK_STR(state_of(w, id, "/status"), "completed");
    c = call(w, "execution.view", "{'execution_id':'" STR_FMT "','view':'metrics'}", STR_ARG(id));
    CHECK_STR(at(c, "/workflow_metrics/agent_calls"), "6");
    CHECK_STR(at(c, "/workflow_metrics/parallel_executions"), "3");
    world_end(w);
}

/* Another session of the tree cannot claim what agents are at; a person may report it. */
TEST(nobody_claims_the_work_of_an_agent_that_is_at_it)
{
    struct fake_runner m;
    struct world *w = world_with_agents(&m);

    CHECK_OK(call(w, "session.create", "{'session_name':'top','session_id':'ses_top'}")->error);
    str id = begin(w, "g", "'input':{'scene_id':'1'},'parent_session_name':'top'");
    struct turn t = turn_of(w, &m, "task");
    str token = at(call(w, "token.create", "{'kind':'session','scope':{'session_id':'ses_top'}}"),
                   "/token");
    static const char *const said[] = { "completed", "failed", "in_progress" };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        act_as(w, token);
        struct command *c = call(w, "step.update",
                                 "{'workflow_id':'" STR_FMT "','step':1,'status':'%s',"
                                 "'artifacts':{'blueprint_path':'made up'}}",
                                 STR_ARG(id), said[i]);
        CHECK_ERR(c->error, ERR_CONFLICT);
        CHECK_HAS(c->error->message, "agents work for step 1");
        w->actor = the_operator;
    }
    CHECK_OK(call(w, "step.update",
                  "{'workflow_id':'" STR_FMT "','step':1,'status':'completed',"
                  "'artifacts':{'blueprint_path':'by hand'}}",
                  STR_ARG(id))
                 ->error);
    CHECK_STR(state_of(w, id, "/generation/steps/0/status"), "completed");
    CHECK_ERR(updates(w, &t, id, "'status':'completed','artifacts':{'blueprint_path':'b'}")->error,
              ERR_CONFLICT);
    CHECK_STR(at(call(w, "step.cancel", "{'workflow_id':'" STR_FMT "'}", STR_ARG(id)),
                 "/cleanup_performed"),
              "true");
    world_end(w);
}

/* Phases that are run begin by themselves: nobody need say that the first one does. */
TEST(an_agent_records_its_phase_by_update_phase_status)
{
    struct fake_runner m;
    struct world *w = world_with_agents(&m);
    str id = begin(w, "p", "");
    struct turn t = turn_of(w, &m, "task");

    CHECK_HAS(t.prompt, "update_phase_status");
    CHECK_STR(state_of(w, id, "/current_phase"), "phase_0");
    act_as(w, t.claim.token);
    CHECK_STR(actor_records_by(&w->actor), "update_phase_status");
    CHECK_OK(call(w, "phase.update",
                  "{'workflow_id':'" STR_FMT "','phase_id':'phase_0','status':'completed',"
                  "'deliverables':['a.c'],'context_for_next':'a.c holds it'}",
                  STR_ARG(id))
                 ->error);
    w->actor = the_operator;
    CHECK_STR(state_of(w, id, "/phases/0/status"), "active"); /* until its agent has stopped */
    ends(w, &t);
    CHECK_STR(state_of(w, id, "/phases/0/status"), "completed");
    CHECK_STR(state_of(w, id, "/phases/0/deliverables"), "[\"a.c\"]");
    t = turn_of(w, &m, "task");
    CHECK_HAS(t.prompt, "a.c holds it");
    CHECK_STR(state_of(w, id, "/current_phase"), "phase_1");
    act_as(w, t.claim.token);
    CHECK_STR(at(call(w, "phase.show", "{'workflow_id':'" STR_FMT "'}", STR_ARG(id)), "/context"),
              "a.c holds it");
    w->actor = the_operator;
    world_end(w);
}
