/* job_ops_test.c: jobs: claimed by workers, reported alone and together, renewed and lost. */
#include "workflow_help.h"

/* So many jobs that wait. */
static str begin_many(struct world *w, const char *type, const char *items)
{
    str definition = arena_printf(check_arena(),
                                  "{'workflow':'%ss','steps':[{'id':'each','for_each':'=items',"
                                  "'job':'%s','with':{'n':'=item'}}]}",
                                  type, type);

    deploy(w, definition.at);
    return begin(w, arena_printf(check_arena(), "%ss", type).at,
                 arena_printf(check_arena(), "'input':{'items':%s}", items).at);
}

TEST(a_worker_claims_the_oldest_jobs_of_its_types_with_what_they_are_given)
{
    struct world *w = world_new();
    str id = begin_many(w, "build", "[10,20,30]");

    struct command *c =
        call(w, "job.claim", "{'types':['none','build'],'max':2,'lease_seconds':5,'worker':'me'}");
    CHECK_INT(json_get(answer_of(c), "jobs")->len, 2);
    CHECK_STR(at(c, "/jobs/0/type"), "build");
    CHECK_STR(at(c, "/jobs/0/step"), "each");
    CHECK_STR(at(c, "/jobs/0/item"), "0");
    CHECK_STR(at(c, "/jobs/0/attempt"), "1");
    CHECK_STR(at(c, "/jobs/0/worker"), "me");
    CHECK_STR(at(c, "/jobs/0/variables"), "{\"n\":10}");
    CHECK_STR(at(c, "/jobs/1/variables"), "{\"n\":20}");
    CHECK(str_eq(at(c, "/jobs/0/execution_id"), id));
    CHECK_INT(json_get(answer(w, "job.claim", "{'types':['b*'],'max':64}"), "jobs")->len, 1);
    CHECK_STR(at(call(w, "job.claim", "{'types':['*']}"), "/jobs"), "[]");
    world_close(w);
}

TEST(who_finds_no_job_waits_for_one_of_its_types)
{
    struct world *w = world_new();
    struct command *c = call(w, "job.claim", "{'types':['build'],'timeout':9}");

    CHECK(c->answer.waits && !c->answer.wait_subject.len);
    CHECK_INT(c->answer.wait_until_ms, w->now_ms + 9000);
    int64_t seq = c->answer.wait_seq;
    begin_many(w, "other", "[1]");
    struct command *started = w->commands ? NULL : call(w, "job.claim", "{'types':['other']}");
    CHECK(started && json_get(answer_of(started), "jobs")->len == 1);
    deploy(w, "{'workflow':'b','steps':[{'id':'x','job':'build'}]}");
    struct command *b = call(w, "execution.start", "{'workflow':'b'}");
    bool woken = false;
    for (const struct event *e = b->events; e; e = event_after(e))
        woken |= event_seq(e) > seq && c->answer.wakes(c->answer.wait_self, e);
    CHECK(woken);
    world_close(w);
}

TEST(a_job_that_is_done_may_bring_the_next_one_of_its_execution)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'chain','steps':[{'id':'a','job':'x'},{'id':'b','after':['a'],"
              "'job':'y'}]}");
    struct command *c = call(w, "execution.start", "{'workflow':'chain','claim':{'types':['x']}}");
    CHECK_STR(at(c, "/jobs/0/step"), "a");
    c = call(w, "job.complete",
             "{'job_id':'" STR_FMT "','outputs':{'n':1},'claim':{'types':['y'],'worker':'me'}}",
             STR_ARG(at(c, "/jobs/0/job_id")));
    CHECK_STR(at(c, "/jobs/0/step"), "b");
    CHECK_STR(at(c, "/jobs/0/worker"), "me");
    CHECK_STR(at(c, "/jobs/0/variables/n"), "1");
    c = call(w, "job.complete", "{'job_id':'" STR_FMT "','claim':{'types':['y']}}",
             STR_ARG(at(c, "/jobs/0/job_id")));
    CHECK_STR(at(c, "/status"), "COMPLETED");
    CHECK_STR(at(c, "/jobs"), "[]");
    world_close(w);
}

TEST(jobs_that_are_reported_together_have_an_outcome_each)
{
    struct world *w = world_new();
    str id = begin_many(w, "build", "[1,2]");
    str one = take(w, "build"), two = take(w, "build");

    struct command *c = call(w, "job.complete_all",
                             "{'jobs':[{'job_id':'" STR_FMT "'},{'job_id':'job_9_9_9_9'},"
                             "{'job_id':'" STR_FMT "','outputs':{'k':1}},{'job_id':'" STR_FMT
                             "'}]}",
                             STR_ARG(one), STR_ARG(two), STR_ARG(one));
    CHECK_STR(at(c, "/jobs/0/status"), "RUNNING");
    CHECK_HAS(at(c, "/jobs/1/error"), "\"status\":40");
    CHECK_STR(at(c, "/jobs/2/status"), "COMPLETED");
    CHECK_HAS(at(c, "/jobs/3/error"), "\"status\":40");
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    CHECK_ERR(call(w, "job.complete_all", "{'jobs':[]}")->error, ERR_INVALID);

    deploy(w, "{'workflow':'owes','steps':[{'id':'a','job':'owing','outputs':['k']}]}");
    begin(w, "owes", "");
    str owing = take(w, "owing");
    c = call(w, "job.complete_all", "{'jobs':[{'job_id':'" STR_FMT "'}]}", STR_ARG(owing));
    CHECK_STR(at(c, "/jobs/0/error/status"), "422");
    CHECK_HAS(at(c, "/jobs/0/error/detail"), "k");
    CHECK_ERR(completed(w, owing, "{}")->error, ERR_UNFIT);
    CHECK_STR(at(completed(w, owing, "{'k':null}"), "/status"), "COMPLETED");
    world_audit(w);
    world_close(w);
}

TEST(a_job_whose_lease_ends_is_another_workers_and_the_late_report_is_refused)
{
    struct world *w = world_new();

    begin_many(w, "build", "[1]");
    str late = take(w, "build");
    CHECK_OK(
        call(w, "job.renew", "{'job_id':'" STR_FMT "','lease_seconds':120}", STR_ARG(late))->error);
    world_pass(w, 100000);
    CHECK_STR(at(call(w, "job.claim", "{'types':['build']}"), "/jobs"), "[]");
    world_pass(w, 30000);
    str next = take(w, "build");
    CHECK(!str_eq(late, next));
    CHECK_ERR(completed(w, late, "{}")->error, ERR_CONFLICT);
    CHECK_ERR(call(w, "job.renew", "{'job_id':'" STR_FMT "'}", STR_ARG(late))->error, ERR_CONFLICT);
    CHECK_OK(completed(w, next, "{}")->error);
    world_close(w);
}

/* And the other jobs of the same claim keep theirs, which ends before or after. */
TEST(a_lease_that_is_renewed_for_less_ends_then)
{
    struct world *w = world_new();

    begin_many(w, "build", "[1,2]");
    struct command *c = call(w, "job.claim", "{'types':['build'],'max':2,'lease_seconds':600}");
    str first = at(c, "/jobs/0/job_id"), second = at(c, "/jobs/1/job_id");
    CHECK_OK(
        call(w, "job.renew", "{'job_id':'" STR_FMT "','lease_seconds':10}", STR_ARG(first))->error);
    CHECK_OK(call(w, "job.renew", "{'job_id':'" STR_FMT "','lease_seconds':300}", STR_ARG(second))
                 ->error);
    world_pass(w, 11000);
    str next = take(w, "build");
    CHECK(!str_eq(next, first));
    CHECK_ERR(completed(w, first, "{}")->error, ERR_CONFLICT);
    CHECK_STR(at(call(w, "job.claim", "{'types':['build']}"), "/jobs"), "[]");
    CHECK_OK(completed(w, next, "{}")->error);
    world_pass(w, 290000);
    CHECK(!str_eq(take(w, "build"), second));
    world_audit(w);
    world_close(w);
}

TEST(a_job_that_failed_for_good_is_not_tried_again)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'x','steps':[{'id':'a','job':'x','retry':{'max_attempts':5}}]}");
    str id = begin(w, "x", "");
    str job = take(w, "x");
    struct command *c =
        call(w, "job.fail", "{'job_id':'" STR_FMT "','error':'no','for_good':true}", STR_ARG(job));
    CHECK_STR(at(c, "/status"), "FAILED");
    CHECK_STR(seen(w, id, "/steps/0/status"), "failed");
    CHECK_HAS(seen(w, id, "/steps/0/error"), "no");
    CHECK_ERR(refused(w, "job.complete", "{'job_id':'nonsense'}"), ERR_NOT_FOUND);
    world_close(w);
}

TEST(jobs_are_listed_with_who_has_them)
{
    struct world *w = world_new();
    str id = begin_many(w, "build", "[1,2]");

    take(w, "build");
    CHECK_INT(json_get(answer(w, "job.list", "{}"), "jobs")->len, 2);
    CHECK_INT(json_get(answer(w, "job.list", "{'waiting':true}"), "jobs")->len, 1);
    CHECK_INT(json_get(answer(w, "job.list", "{'type':'none'}"), "jobs")->len, 0);
    struct command *c = call(w, "job.list", "{'execution':'" STR_FMT "','limit':1}", STR_ARG(id));
    CHECK_STR(at(c, "/jobs/0/worker"), "operator");
    c = call(w, "job.list", "{'after':'" STR_FMT "'}", STR_ARG(at(c, "/next")));
    CHECK_STR(at(c, "/jobs/0/worker"), "null");
    CHECK_ERR(refused(w, "job.list", "{'execution':'none'}"), ERR_NOT_FOUND);
    world_close(w);
}

/* ---- workers ---- */

TEST(a_worker_has_the_jobs_that_its_token_names_and_nothing_else)
{
    struct world *w = world_new();

    begin_many(w, "build", "[1]");
    begin_many(w, "deploy", "[1]");
    str foreign = take(w, "deploy");
    become_worker(w, "['build','test-*']");
    CHECK_STR(at(call(w, "job.claim", "{'types':['*'],'max':9}"), "/jobs/0/type"), "build");
    CHECK_STR(at(call(w, "job.claim", "{'types':['test-unit','test-*']}"), "/jobs"), "[]");
    err e = refused(w, "job.claim", "{'types':['deploy']}");
    CHECK_ERR(e, ERR_FORBIDDEN);
    CHECK_HAS(e->message, "build, test-*");
    e = completed(w, foreign, "{}")->error;
    CHECK(e && (e->kind == ERR_FORBIDDEN || e->kind == ERR_NOT_FOUND));
    const struct json *jobs = json_get(answer(w, "job.list", "{}"), "jobs");
    CHECK_INT(jobs->len, 1);
    CHECK_ERR(refused(w, "runner.register", "{'hostname':'h'}"), ERR_FORBIDDEN);
    CHECK_ERR(refused(w, "agent.list", "{}"), ERR_FORBIDDEN);
    CHECK_ERR(refused(w, "execution.list", "{}"), ERR_FORBIDDEN);
    world_close(w);
}

TEST(a_runner_is_no_worker_and_other_tokens_name_no_jobs)
{
    struct world *w = world_new();

    CHECK_ERR(refused(w, "token.create", "{'kind':'viewer','scope':{'jobs':['a']}}"), ERR_INVALID);
    CHECK_ERR(refused(w, "token.create", "{'kind':'runner','scope':{'jobs':[]}}"), ERR_INVALID);
    act_as(w, at(call(w, "token.create", "{'kind':'runner'}"), "/token"));
    CHECK_ERR(refused(w, "job.claim", "{'types':['a']}"), ERR_FORBIDDEN);
    world_close(w);
}
