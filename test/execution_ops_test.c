/* execution_ops_test.c: workflows that run: started, looked at, reported, paused, resumed and ended. */
#include "workflow_help.h"

TEST(an_execution_goes_as_far_as_it_can_and_says_what_it_waits_for)
{
    struct world *w = world_new();

    deploy(w, SHIP);
    struct command *c = call(w, "execution.start",
                             "{'workflow':'ship','input':{'order':7},'business_key':'o7',"
                             "'session_name':'shop','project_dir':'/src'}");
    CHECK(c->answer.created);
    CHECK_STR(at(c, "/status"), "RUNNING");
    CHECK_STR(at(c, "/business_key"), "o7");
    CHECK_STR(at(c, "/session_name"), "shop");
    CHECK_STR(at(c, "/project_dir"), "/src");
    CHECK_STR(at(c, "/variables"), "{\"order\":7}");
    CHECK(!json_get(answer_of(c), "jobs"));
    str id = at(c, "/execution_id");

    CHECK_STR(seen(w, id, "/steps/0/status"), "in_progress");
    CHECK_STR(seen(w, id, "/steps/0/waits_for"), "a worker for jobs of type pick, for 0s");
    CHECK_STR(seen(w, id, "/steps/4/status"), "pending");
    CHECK_STR(seen(w, id, "/steps/4/after"), "[\"label\",\"check\",\"wrap\"]");
    world_pass(w, 180000);
    CHECK_STR(seen(w, id, "/tokens/0/waits_for"), "a worker for jobs of type pick, for 3m");

    completed(w, take(w, "pick"), "{'parcels':[1,2,3]}");
    CHECK_STR(seen(w, id, "/steps/1/waits_for"), "3 of 3 items");
    CHECK_STR(seen(w, id, "/steps/2/waits_for"), "step check to be reported, for 0s");
    CHECK_STR(seen(w, id, "/steps/3/status"), "skipped");
    completed(w, take(w, "label"), "{'code':'x'}");
    CHECK_STR(seen(w, id, "/steps/1/waits_for"), "2 of 3 items");
    CHECK_OK(reported(w, id, "check", "'outputs':{'good':true}")->error);
    completed(w, take(w, "label"), "{'code':'y'}");
    completed(w, take(w, "label"), "{'code':'z'}");

    call(w, "job.claim", "{'types':['send'],'worker':'van 3'}");
    CHECK_HAS(seen(w, id, "/steps/4/waits_for"), "worker van 3 with attempt 1, its lease until ");
    world_pass(w, 61000);
    str job = take(w, "send");
    CHECK_OK(
        call(w, "job.fail", "{'job_id':'" STR_FMT "','error':'no fuel'}", STR_ARG(job))->error);
    CHECK_HAS(seen(w, id, "/steps/4/waits_for"), "until ");
    world_pass(w, 61000);
    CHECK_STR(at(completed(w, take(w, "send"), "{}"), "/status"), "COMPLETED");
    CHECK_STR(seen(w, id, "/result"), "[\"x\",\"y\",\"z\"]");
    CHECK_STR(seen(w, id, "/tokens"), "[]");
    world_audit(w);
    world_close(w);
}

TEST(steps_show_what_they_gave_and_how_earlier_attempts_went)
{
    struct world *w = world_new();

    deploy(w, TWO);
    str id = begin(w, "two", "");
    CHECK_OK(reported(w, id, "a", "'outputs':{'n':1}")->error);
    struct command *c = call(w, "execution.steps", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    CHECK_STR(at(c, "/steps/0/status"), "completed");
    CHECK_STR(at(c, "/steps/0/outputs"), "{\"n\":1}");
    CHECK_STR(at(c, "/steps/1/status"), "in_progress");
    CHECK_STR(at(c, "/steps/1/attempt"), "1");

    c = call(w, "execution.resume", "{'execution_id':'" STR_FMT "','from':'a'}", STR_ARG(id));
    CHECK_STR(at(c, "/status"), "RUNNING");
    c = call(w, "execution.steps", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    CHECK_STR(at(c, "/steps/0/status"), "in_progress");
    CHECK_HAS(at(c, "/steps/0/history"), "\"outputs\":{\"n\":1}");
    CHECK_STR(at(c, "/steps/1/status"), "pending");
    world_close(w);
}

static str began(struct world *w, str id)
{
    return arena_copy(check_arena(), seen(w, id, "/steps/0/attempt_started_at"));
}

TEST(a_step_says_when_the_attempt_that_is_at_work_began)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'haul','steps':[{'id':'a','job':'haul',"
              "'retry':{'max_attempts':3,'backoff':'1m'}},{'id':'b','after':['a']}]}");
    str id = begin(w, "haul", "");
    CHECK_STR(seen(w, id, "/steps/0/status"), "in_progress");
    CHECK_STR(began(w, id), "null"); /* no worker has taken it */
    world_pass(w, 30000);
    str job = take(w, "haul"), first = began(w, id);
    CHECK_HAS(first, "Z");
    CHECK(!str_eq(first, seen(w, id, "/steps/0/started_at")));
    world_pass(w, 5000);
    CHECK_STR(began(w, id), first.at);
    CHECK_OK(
        call(w, "job.fail", "{'job_id':'" STR_FMT "','error':'no fuel'}", STR_ARG(job))->error);
    CHECK_STR(began(w, id), "null"); /* it waits for a time */

    world_pass(w, 90000);
    job = take(w, "haul");
    struct command *c = call(w, "execution.steps", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    str second = at(c, "/steps/0/attempt_started_at");
    CHECK(str_compare(second, at(c, "/steps/0/history/0/ended_at")) > 0);
    CHECK_STR(at(c, "/steps/0/history/0/started_at"), first.at);
    CHECK_STR(at(c, "/steps/1/attempt_started_at"), "null");

    completed(w, job, "{}");
    CHECK_STR(began(w, id), "null");
    CHECK(str_eq(seen(w, id, "/steps/1/attempt_started_at"), seen(w, id, "/steps/1/started_at")));
    world_audit(w);
    world_close(w);
}

TEST(a_paused_execution_takes_reports_and_begins_nothing)
{
    struct world *w = world_new();

    deploy(w, TWO);
    str id = begin(w, "two", "");
    struct command *c =
        call(w, "execution.pause", "{'execution_id':'" STR_FMT "','reason':'lunch'}", STR_ARG(id));
    CHECK_STR(at(c, "/status"), "PAUSED");
    CHECK_STR(at(c, "/reason"), "lunch");
    CHECK_OK(reported(w, id, "a", "")->error);
    CHECK_STR(seen(w, id, "/steps/1/status"), "pending");
    CHECK_STR(seen(w, id, "/tokens/0/waits_for"), "the execution to be resumed");
    c = call(w, "execution.resume", "{'execution_id':'" STR_FMT "'}", STR_ARG(id));
    CHECK_STR(at(c, "/status"), "RUNNING");
    CHECK_STR(seen(w, id, "/steps/1/status"), "in_progress");
    world_close(w);
}

TEST(an_execution_is_cancelled_and_deleted_when_it_has_ended)
{
    struct world *w = world_new();

    deploy(w, TWO);
    str id = begin(w, "two", "");
    CHECK_ERR(call(w, "execution.delete", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error,
              ERR_CONFLICT);
    struct command *c =
        call(w, "execution.cancel", "{'execution_id':'" STR_FMT "','reason':'wrong'}", STR_ARG(id));
    CHECK_STR(at(c, "/status"), "CANCELLED");
    CHECK_STR(at(c, "/reason"), "wrong");
    CHECK_ERR(reported(w, id, "a", "")->error, ERR_CONFLICT);
    CHECK_OK(call(w, "execution.delete", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    CHECK_ERR(call(w, "execution.get", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error,
              ERR_NOT_FOUND);
    world_audit(w);
    world_close(w);
}

TEST(variables_are_set_by_a_person)
{
    struct world *w = world_new();

    deploy(w, TWO);
    str id = begin(w, "two", "'input':{'a':1,'b':2}");
    struct command *c =
        call(w, "execution.set", "{'execution_id':'" STR_FMT "','variables':{'b':3}}", STR_ARG(id));
    CHECK_STR(at(c, "/variables"), "{\"a\":1,\"b\":3}");
    world_close(w);
}

TEST(executions_are_listed_from_the_newest_on_and_by_what_is_known_of_them)
{
    struct world *w = world_with_tree();

    deploy(w, TWO);
    deploy(w, SHIP);
    str first = begin(w, "two", "'business_key':'k1','session_name':'shop'");
    begin(w, "two", "'parent_session_name':'root'");
    str last = begin(w, "ship", "'input':{'order':1}");
    call(w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(first));

    struct command *c = call(w, "execution.list", "{'limit':2}");
    CHECK(str_eq(at(c, "/executions/0/execution_id"), last));
    c = call(w, "execution.list", "{'after':" STR_FMT "}", STR_ARG(at(c, "/next")));
    CHECK(str_eq(at(c, "/executions/0/execution_id"), first));
    static const struct {
        const char *filter;
        size_t count;
    } cases[] = {
        { "{}", 3 },
        { "{'workflow':'two'}", 2 },
        { "{'status':'open'}", 2 },
        { "{'status':'CANCELLED'}", 1 },
        { "{'business_key':'k1'}", 1 },
        { "{'session_name':'shop'}", 1 },
        { "{'session':'root'}", 1 },
        { "{'workflow':'none'}", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_INT(json_get(answer(w, "execution.list", cases[i].filter), "executions")->len,
                  cases[i].count);
    world_close(w);
}

/* ---- waiting ---- */

TEST(who_waits_for_an_execution_hears_of_its_change_or_its_end)
{
    struct world *w = world_new();

    deploy(w, TWO);
    str id = begin(w, "two", "");
    str version = seen(w, id, "/state_version");
    struct command *c = call(w, "execution.get",
                             "{'execution_id':'" STR_FMT "','wait':'changed','since_version':0}",
                             STR_ARG(id));
    CHECK(!c->answer.waits);
    c = call(w, "execution.get",
             "{'execution_id':'" STR_FMT "','wait':'changed','since_version':" STR_FMT
             ",'timeout':7}",
             STR_ARG(id), STR_ARG(version));
    CHECK(c->answer.waits && str_eq(c->answer.wait_subject, id));
    CHECK_INT(c->answer.wait_until_ms, w->now_ms + 7000);
    CHECK_OK(reported(w, id, "a", "")->error);
    c = call(w, "execution.get",
             "{'execution_id':'" STR_FMT "','wait':'changed','since_version':" STR_FMT "}",
             STR_ARG(id), STR_ARG(version));
    CHECK(!c->answer.waits);
    c = call(w, "execution.get", "{'execution_id':'" STR_FMT "','wait':'ended'}", STR_ARG(id));
    CHECK(c->answer.waits);
    CHECK_OK(reported(w, id, "b", "")->error);
    c = call(w, "execution.get", "{'execution_id':'" STR_FMT "','wait':'ended'}", STR_ARG(id));
    CHECK_STR(at(c, "/status"), "COMPLETED");
    world_close(w);
}

/* ---- who may ---- */

TEST(a_session_sees_and_reports_what_is_of_its_tree)
{
    struct world *w = world_with_tree();

    deploy(w, TWO);
    str others = begin(w, "two", "'parent_session_name':'other'");
    become(w, "ses_root");
    str own = begin(w, "two", "");
    CHECK_STR(seen(w, own, "/session_id"), "ses_root");
    CHECK_OK(reported(w, own, "a", "")->error);
    CHECK_ERR(reported(w, others, "a", "")->error, ERR_NOT_FOUND);
    CHECK_ERR(call(w, "execution.get", "{'execution_id':'" STR_FMT "'}", STR_ARG(others))->error,
              ERR_NOT_FOUND);
    CHECK_INT(json_get(answer(w, "execution.list", "{}"), "executions")->len, 1);
    CHECK_STR(at(call(w, "event.list", "{'subject':'" STR_FMT "'}", STR_ARG(own)),
                 "/events/0/type"),
              "execution_started");
    CHECK_ERR(call(w, "event.list", "{'subject':'" STR_FMT "'}", STR_ARG(others))->error,
              ERR_NOT_FOUND);
    CHECK_ERR(call(w, "execution.set", "{'execution_id':'" STR_FMT "','variables':{}}",
                   STR_ARG(own))
                  ->error,
              ERR_FORBIDDEN);
    CHECK_ERR(call(w, "execution.start", "{'workflow':'two','claim':{'types':['a']}}")->error,
              ERR_FORBIDDEN);
    CHECK_OK(call(w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(own))->error);
    world_close(w);
}

TEST(what_cannot_be_done_with_an_execution_is_refused_with_why)
{
    static const struct {
        const char *op, *input; /* after the execution's id */
        enum error_kind kind;
        const char *says;
    } cases[] = {
        { "execution.report", ",'step':'z'}", ERR_NOT_FOUND, "z" },
        { "execution.report", ",'step':'b'}", ERR_CONFLICT, "b" },
        { "execution.report", ",'step':'a','attempt':9}", ERR_CONFLICT, "attempt" },
        { "execution.report", ",'step':'a','failed':true,'outputs':{}}", ERR_INVALID,
          "found both" },
        { "execution.report", ",'step':'a','error':'x'}", ERR_INVALID, "\"failed\": true" },
        { "execution.resume", ",'from':'z'}", ERR_NOT_FOUND, "z" },
        { "execution.set", ",'variables':7}", ERR_INVALID, "variables" },
    };
    struct world *w = world_new();

    deploy(w, TWO);
    str id = begin(w, "two", "'business_key':'k'");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str input = arena_printf(check_arena(), "{'execution_id':'" STR_FMT "'%s", STR_ARG(id),
                                 cases[i].input);
        err e = refused(w, cases[i].op, input.at);
        check_note("%s %s: " STR_FMT, cases[i].op, cases[i].input, STR_ARG(e->message));
        CHECK_ERR(e, cases[i].kind);
        CHECK_HAS(e->message, cases[i].says);
    }
    CHECK_HAS(refused(w, "execution.start", "{'workflow':'tow'}")->message, "there are: two");
    CHECK_ERR(refused(w, "execution.start", "{'workflow':'two','business_key':'k'}"), ERR_CONFLICT);
    CHECK_ERR(refused(w, "execution.get", "{'execution_id':'none'}"), ERR_NOT_FOUND);
    CHECK_ERR(refused(w, "execution.start", "{'workflow':'two','project_dir':'src'}"), ERR_INVALID);
    world_close(w);
}

/* It goes with the execution, and nobody but that writes it. */
TEST(the_document_of_an_execution_is_no_state_for_others)
{
    struct world *w = world_new();

    deploy(w, TWO);
    str id = begin(w, "two", ""), state = seen(w, id, "/state_id");
    CHECK_STR(at(call(w, "state.read", "{'state_id':'" STR_FMT "'}", STR_ARG(state)),
                 "/schema_name"),
              "execution");
    err e =
        call(w, "state.patch", "{'state_id':'" STR_FMT "','merge':{'x':1}}", STR_ARG(state))->error;
    CHECK_ERR(e, ERR_FORBIDDEN);
    CHECK_HAS(e->message, "report a step");
    e = call(w, "project.create", "{'name':'p','project_dir':'/p','state':'" STR_FMT "'}",
             STR_ARG(state))
            ->error;
    CHECK_ERR(e, ERR_FORBIDDEN);
    CHECK_HAS(e->message, "choose another state");
    CHECK_ERR(call(w, "session.create", "{'session_name':'s','workflow_state_id':'" STR_FMT "'}",
                   STR_ARG(state))
                  ->error,
              ERR_FORBIDDEN);
    CHECK_OK(call(w, "project.create", "{'name':'p','project_dir':'/p'}")->error);
    CHECK_ERR(
        call(w, "project.update", "{'name':'p','state':'" STR_FMT "'}", STR_ARG(state))->error,
        ERR_FORBIDDEN);
    world_audit(w);
    world_close(w);
}

/* ---- incidents ---- */

TEST(where_no_flow_can_be_taken_the_incident_says_what_each_condition_came_to)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'choose','nodes':[{'id':'s','kind':'start'},{'id':'x','kind':'xor'},"
              "{'id':'e','kind':'end'},{'id':'f','kind':'end'},{'id':'g','kind':'end'}],"
              "'flows':[{'from':'s','to':'x'},{'from':'x','to':'e','when':'=a > 1'},"
              "{'from':'x','to':'f','when':'=b'},"
              "{'from':'x','to':'g','when':'=count(for i in 1..99999 return i) > 0'}]}");
    str id = begin(w, "choose", "'input':{'a':1}");
    struct command *c =
        call(w, "incident.list", "{'status':'open','execution':'" STR_FMT "'}", STR_ARG(id));
    CHECK_STR(at(c, "/incidents/0/kind"), "choice");
    CHECK_STR(
        at(c, "/incidents/0/message"),
        "no flow can be taken from x: x->e: =a > 1 is false; x->f: =b is null (column 2: "
        "there is no variable 'b'); x->g: =count(for i in 1..99999 return i) > 0 is too much: "
        "the expression was given up, for it takes too many steps: at most 100000 steps and "
        "65536 bytes are allowed: set the variables that they are about, and resolve this");
    CHECK_OK(call(w, "incident.resolve", "{'incident_id':'" STR_FMT "','variables':{'a':2}}",
                  STR_ARG(at(c, "/incidents/0/incident_id")))
                 ->error);
    CHECK_STR(seen(w, id, "/status"), "COMPLETED"); /* those behind are not asked */
    world_audit(w);
    world_close(w);
}

TEST(an_incident_says_what_to_do_and_is_resolved_with_variables)
{
    struct world *w = world_new();

    deploy(w, SHIP);
    str id = begin(w, "ship", "'input':{'order':1}"), job = take(w, "pick");
    CHECK_OK(call(w, "job.error", "{'job_id':'" STR_FMT "','code':'empty','message':'none left'}",
                  STR_ARG(job))
                 ->error);
    CHECK_STR(seen(w, id, "/incidents"), "1");
    CHECK_HAS(seen(w, id, "/steps/0/waits_for"), "a person, for 0s: incident inc_");
    struct command *c =
        call(w, "incident.list", "{'status':'open','execution':'" STR_FMT "'}", STR_ARG(id));
    CHECK_STR(at(c, "/incidents/0/step"), "pick");
    CHECK_HAS(at(c, "/incidents/0/message"), "none left");
    str incident = at(c, "/incidents/0/incident_id");
    CHECK(str_eq(seen(w, id, "/open_incidents/0/incident_id"), incident));
    c = call(w, "incident.get", "{'incident_id':'" STR_FMT "'}", STR_ARG(incident));
    CHECK_STR(at(c, "/status"), "open");

    for (int again = 0; again < 2; again++) {
        c = call(w, "incident.resolve", "{'incident_id':'" STR_FMT "','variables':{'stock':5}}",
                 STR_ARG(incident));
        CHECK_STR(at(c, "/status"), "resolved");
        CHECK_STR(at(c, "/resolved_by"), "operator");
    }
    CHECK_STR(seen(w, id, "/incidents"), "0");
    CHECK_STR(seen(w, id, "/variables/stock"), "5");
    CHECK_INT(json_get(answer(w, "incident.list", "{'status':'open'}"), "incidents")->len, 0);
    CHECK_OK(completed(w, take(w, "pick"), "{'parcels':[]}")->error);
    CHECK_ERR(refused(w, "incident.get", "{'incident_id':'inc_none'}"), ERR_NOT_FOUND);
    CHECK_ERR(refused(w, "incident.resolve", "{'incident_id':'inc_none'}"), ERR_NOT_FOUND);
    CHECK_ERR(refused(w, "incident.list", "{'execution':'none'}"), ERR_NOT_FOUND);
    world_close(w);
}

/* A graph that is still at hand is no definition: an execution of one that was deleted stays ended. */
TEST(execution_whose_definition_was_deleted_is_not_taken_up_again)
{
    struct world *w = world_new();

    deploy(w, TWO);
    str id = begin(w, "two", "");
    CHECK_OK(call(w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    CHECK_OK(call(w, "workflow.delete", "{'name':'two'}")->error);
    CHECK_ERR(call(w, "execution.resume", "{'execution_id':'" STR_FMT "','from':'a'}", STR_ARG(id))
                  ->error,
              ERR_NOT_FOUND);
    CHECK_OK(
        call(w, "workflow.deploy", "{'name':'two','definition':{'steps':[{'id':'a'}]}}")->error);
    CHECK_ERR(call(w, "execution.resume", "{'execution_id':'" STR_FMT "','from':'a'}", STR_ARG(id))
                  ->error,
              ERR_CONFLICT);
    cache_free(w->engine.compiled);
    w->engine.compiled = cache_new(CACHE_LEAST); /* as after a restart */
    CHECK_STR(seen(w, id, "/status"), "CANCELLED");
    CHECK_STR(seen(w, id, "/steps"), "[]");
    CHECK_OK(call(w, "execution.steps", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    CHECK_OK(call(w, "execution.delete", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    world_audit(w);
    world_close(w);
}
