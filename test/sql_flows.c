/* sql_flows.c: of the scenario of sql_postgres_test.c what workflows do. */
#include "share_help.h"
#include "sql_scenario.h"

static str job_claimed(struct world *w, const char *types, const char *more)
{
    return at(call(w, "job.claim", "{'types':[%s],'max':1,'lease_seconds':60,'worker':'ü'%s}",
                   types, more),
              "/jobs/0/job_id");
}

/* Definitions and what runs by them. */
static void workflows_run(struct world *w)
{
    static const struct step before[] = {
        { .op = "session.create", .input = "{'session_name':'flow-top'}" },
        { .op = "workflow.deploy",
          .input = "{'name':'flow','definition':{'steps':[{'id':'a','job':'x.a'},"
                   "{'id':'b','after':['a'],'job':'x.b','retry':{'max_attempts':2}},"
                   "{'id':'c','for_each':'=parts','by':'report'}]}}" },
        { .op = "workflow.deploy",
          .input = "{'name':'flow','definition':{'steps':[{'id':'a','job':'x.a'},"
                   "{'id':'b','after':['a'],'job':'x.b'},{'id':'r','run':'true'},"
                   "{'id':'c','for_each':'=parts','by':'report'}]}}" },
        { .op = "workflow.list", .input = "{}" },
        { .op = "workflow.versions", .input = "{'name':'flow'}" },
        { .op = "workflow.get", .input = "{'name':'flow','version':1}" },
        { .op = "workflow.get", .input = "{'name':'none'}", .refused = true },
        { .op = "execution.start",
          .input = "{'workflow':'flow','business_key':'k','parent_session_name':'flow-top'}" },
        { .op = "execution.start",
          .input = "{'workflow':'flow','business_key':'k'}",
          .refused = true },
        { .op = "workflow.delete", .input = "{'name':'flow'}", .refused = true },
        { .op = "execution.list", .input = "{}" },
        { .op = "incident.list", .input = "{}" },
        { .op = "incident.list", .input = "{}", .session = "wfstate_2" },
        { .op = "job.list", .input = "{}" },
    };
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        step_run(w, &before[i]);
    str id = at(call(w, "execution.list", "{}"), "/executions/0/execution_id");
    call(w, "execution.get", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    call(w, "execution.steps", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    str incident = at(call(w, "incident.list", "{'execution':'" STR_FMT "'}", STR_ARG(id)),
                      "/incidents/0/incident_id");
    call(w, "incident.get", "{'incident_id':'" STR_FMT "'}", STR_ARG(incident));
    call(w, "execution.set", "{'execution_id':'" STR_FMT "','variables':{'parts':[1]}}",
         STR_ARG(id));
    call(w, "incident.resolve", "{'incident_id':'" STR_FMT "'}", STR_ARG(incident));
    call(w, "execution.pause", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    call(w, "execution.resume", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    str job = job_claimed(w, "'x.*'", "");
    call(w, "job.renew", "{'job_id':'" STR_FMT "','lease_seconds':90}", STR_ARG(job));
    call(w, "job.renew", "{'job_id':'" STR_FMT "','lease_seconds':5}", STR_ARG(job));
    call(w, "job.complete",
         "{'job_id':'" STR_FMT "','claim':{'types':['x.b'],'worker':'ü','lease_seconds':1}}",
         STR_ARG(job));
    world_pass(w, 2000); /* and that one is lost */
    job = job_claimed(w, "'x.b'", "");
    call(w, "job.error", "{'job_id':'" STR_FMT "','code':'no','message':'no'}", STR_ARG(job));
    call(w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    call(w, "execution.delete", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    call(w, "workflow.delete", "{'name':'flow'}");
}

/* A step that waits for a person, who is asked again and again. */
static void approvals_run(struct world *w)
{
    static const struct step before[] = {
        { .op = "workflow.deploy",
          .input =
              "{'definition':{'workflow':'judge','steps':[{'id':'a','evidence':[{'run':'x'}]},"
              "{'id':'b','for_each':[],'approval':{'deadline':'10s','default':'approve'}}]}}" },
        { .op = "execution.start",
          .input = "{'workflow':'judge','parent_session_name':'flow-top'}" },
        { .op = "approval.list", .input = "{}" },
        { .op = "approval.list", .input = "{}", .session = "wfstate_2" },
        { .op = "approval.list", .input = "{'status':'waiting'}" },
        { .op = "inbox.list", .input = "{}" },
    };

    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        step_run(w, &before[i]);
    struct command *c = call(w, "approval.list", "{'status':'waiting'}");
    str id = at(c, "/approvals/0/execution_id"), first = at(c, "/approvals/0/approval_id");
    call(w, "execution.report", "{'execution_id':'" STR_FMT "','step':'a'}", STR_ARG(id));
    call(w, "execution.get", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    call(w, "approval.list", "{'execution':'" STR_FMT "'}", STR_ARG(id));
    call(w, "inbox.decide", "{'id':'" STR_FMT "','decision':'rework'}", STR_ARG(first));
    call(w, "execution.resume", "{'execution_id':'" STR_FMT "','from':'b'}", STR_ARG(id));
    world_pass(w, 10000); /* and nobody has decided */
    call(w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    call(w, "execution.delete", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
}

/* What users of documents 001 and 002 ask, also a child of whoever has begun it. */
static void documents_run(struct world *w)
{
    static const struct step before[] = {
        { .op = "session.create",
          .input = "{'session_name':'doc-top','session_id':'ses_doc-top'}" },
        { .op = "session.create",
          .input = "{'session_name':'doc-kid','session_id':'ses_doc-kid',"
                   "'parent_session_name':'doc-top'}" },
        { .op = "workflow.used", .input = "{}" },
        { .op = "phase.create",
          .input = "{'task':'ä','phases':['a','b'],'parent_session_name':'doc-top'}" },
        { .op = "workflow.used", .input = "{}" },
        { .op = "step.workflows", .input = "{}" },
        { .op = "step.workflows", .input = "{'workflow_type':'phases','status':'in_progress'}" },
        { .op = "step.workflows", .input = "{'status':'waiting_approval','session_name':'x'}" },
    };
    static const char *const views[] = {
        "workflow", "markdown", "todos", "index", "metrics", "log"
    };
    static const char *const said[][2] = { { "0", "active" },
                                           { "0", "completed" },
                                           { "1", "completed" } };
    struct actor whoever = w->actor;

    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        step_run(w, &before[i]);
    str id = at(call(w, "phase.show", "{}"), "/id");
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        call(w, "execution.view", "{'execution_id':'" STR_FMT "','view':'%s'}", STR_ARG(id),
             views[i]);
    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = STR("doc-kid"),
                               .session_id = STR("ses_doc-kid"),
                               .is_child = true };
    call(w, "workflow.used", "{}");
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        CHECK_OK(call(w, "phase.update",
                      "{'workflow_id':'" STR_FMT "','phase_id':'phase_%s','status':'%s'}",
                      STR_ARG(id), said[i][0], said[i][1])
                     ->error);
    w->actor = whoever;
    CHECK_OK(call(w, "execution.delete", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
}

/* Its agent does not see that it was ended, and records what nobody wants. */
static void late_run(struct world *w, const struct fake_runner *m)
{
    str id = begin(w, "agents", "");
    world_pass(w, 0);
    struct turn t = turn_of(w, m, "task");

    call(w, "execution.cancel", "{'execution_id':'" STR_FMT "','reason':'ö'}", STR_ARG(id));
    CHECK(records(w, &t, id, "a", ",'outputs':{'o':1}")->error->kind == ERR_CONFLICT);
    CHECK_OK(report(w, m, &t.claim, "stopped", "")->error);
}

/* Agents do steps: one is of the runner's machine, and one meets a limit and waits. An execution takes one
 * step at a time, so that it goes on where it was. */
static void shares_run(struct world *w)
{
    const struct team_rules *before = w->engine.team;
    struct team_rules brief = rules;

    brief.execution_moves = 1;
    w->engine.team = &brief;
    agent(w, "A-first");
    deploy(w, "{'workflow':'agents','steps':["
              "{'id':'a','agent':'A-first','prompt':'ä','outputs':['o']},"
              "{'id':'b','after':['a'],'agent':'a_second','prompt':'{{o}}','outputs':['p'],"
              "'retry':{'max_attempts':2,'backoff':'1s'}}]}");
    struct fake_runner m = fake_runner_new(w, "s", ",'capacity':9");
    be(w, &m);
    call(w, "runner.heartbeat",
         "{'runner_id':'" STR_FMT "','agents':[{'name':'a_second','source':'home'}]}",
         STR_ARG(m.id));
    w->actor = the_operator;
    step_run(w, &(struct step){ .op = "agent.list", .input = "{}" });
    str id = begin(w, "agents", "");
    world_pass(w, 0);
    struct turn t = turn_of(w, &m, "task");
    CHECK_OK(report(w, &m, &t.claim, "failed", ",'error':'rate_limit: ö'")->error);
    late_run(w, &m); /* which makes room, and the other one waits still */
    pass_alive(w, &m, 60000);
    t = turn_of(w, &m, "task");
    works(w, &t, id, "a", "{'o':'ö'}");
    pass_alive(w, &m, 500);
    t = turn_of(w, &m, "task");
    ends(w, &t);
    for (int asked = 0; asked < brief.update_attempts; asked++) {
        t = turn_of(w, &m, "state_update");
        ends(w, &t);
        pass_alive(w, &m, brief.update_delay_ms);
    }
    pass_alive(w, &m, 2000);
    t = turn_of(w, &m, "task");
    CHECK_HAS(t.prompt, "it did not record its result");
    works(w, &t, id, "b", "{'p':[]}");
    pass_alive(w, &m, 500);
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    call(w, "execution.delete", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    w->engine.team = before;
}

void flows_run(struct world *w)
{
    workflows_run(w);
    approvals_run(w);
    shares_run(w);
    documents_run(w);
}
