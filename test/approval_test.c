/* approval_test.c: steps that are done when a person has said so. */
#include "core/exec/approval.h"
#include "sim/both.h"
#include "workflow_help.h"

/* Planned, judged, and then shipped. */
#define PLAN                                                                           \
    "{'workflow':'plan','steps':[{'id':'look','outputs':['seen']},"                    \
    "{'id':'plan','title':'Plan the fix','description':'What to do','after':['look']," \
    "'outputs':['plan','cost'],'approval':{'show':['plan']}},"                         \
    "{'id':'ship','after':['plan']}],'result':'=plan'}"

/* ---- helpers ---- */

/* A member of the approval that waits in an execution. */
static str asked(struct world *w, str id, const char *pointer)
{
    return at(call(w, "approval.list", "{'execution':'" STR_FMT "','status':'waiting'}",
                   STR_ARG(id)),
              arena_printf(check_arena(), "/approvals/0%s", pointer).at);
}

static struct command *decide(struct world *w, str approval, const char *decision, const char *more)
{
    return call(w, "approval.decide", "{'approval_id':'" STR_FMT "','decision':'%s'%s%s}",
                STR_ARG(approval), decision, *more ? "," : "", more);
}

/* An execution of PLAN whose plan waits to be judged. */
static str planned(struct world *w)
{
    str id = begin(w, "plan", "");

    CHECK_OK(reported(w, id, "look", "'outputs':{'seen':1}")->error);
    CHECK_OK(reported(w, id, "plan", "'outputs':{'plan':'mend it','cost':7}")->error);
    return id;
}

static str step_of(struct world *w, str id, int step, const char *member)
{
    return at(call(w, "execution.steps", "{'execution_id':'" STR_FMT "'}", STR_ARG(id)),
              arena_printf(check_arena(), "/steps/%d/%s", step, member).at);
}

/* How often an event of a type was told of an approval. */
static uint32_t told(struct world *w, str approval, const char *type)
{
    return json_get(answer_of(call(w, "event.list", "{'subject':'" STR_FMT "','type':['%s']}",
                                   STR_ARG(approval), type)),
                    "events")
        ->len;
}

static bool is_of(const struct json *approval, const char *step)
{
    return str_eq(json_str(approval, "step"), str_from(step));
}

/* ---- what is asked ---- */

TEST_BOTH(approval_shows_what_there_is_to_judge_and_nothing_goes_on_before)
{
    struct world *w = world_new();

    deploy(w, PLAN);
    str id = planned(w), approval = asked(w, id, "/approval_id");
    CHECK(str_starts(approval, STR("apr_")));
    CHECK_STR(asked(w, id, "/content"),
              "{\"step\":\"plan\",\"title\":\"Plan the fix\",\"description\":\"What to do\","
              "\"outputs\":{\"plan\":\"mend it\"}}");
    CHECK_INT(asked(w, id, "/digest").len, 64);
    CHECK_STR(asked(w, id, "/kind"), "approve");
    CHECK_STR(seen(w, id, "/steps/1/status"), "waiting_approval");
    CHECK_STR(seen(w, id, "/steps/2/status"), "pending");
    CHECK_STR(seen(w, id, "/steps/1/waits_for"),
              arena_printf(check_arena(),
                           "a person: approve plan (baton inbox approve " STR_FMT "), for 0s",
                           STR_ARG(approval))
                  .at);
    CHECK_STR(seen(w, id, "/tokens/0/status"), "approval");
    CHECK(str_eq(seen(w, id, "/open_approvals/0/approval_id"), approval));
    CHECK_HAS(step_of(w, id, 1, "approval"),
              "{\"required\":true,\"approved\":false,\"approved_at\":null,");
    str document =
        at(call(w, "state.read", "{'state_id':'" STR_FMT "'}", STR_ARG(seen(w, id, "/state_id"))),
           "/current_data/steps/plan");
    CHECK_HAS(document, "\"status\":\"waiting_approval\"");
    CHECK_HAS(document,
              arena_printf(check_arena(), "\"approval\":\"" STR_FMT "\"", STR_ARG(approval)).at);
    CHECK_INT(told(w, approval, "approval_requested"), 1);
    CHECK_ERR(reported(w, id, "ship", "")->error, ERR_CONFLICT);
    world_audit(w);
    world_close(w);
}

TEST_BOTH(approval_that_is_given_completes_the_step_and_becomes_variables)
{
    struct world *w = world_new();

    deploy(w, PLAN);
    str id = planned(w), approval = asked(w, id, "/approval_id");
    world_pass(w, 30000);
    struct command *c = decide(w, approval, "approve",
                               "'modifications':{'tone':'calm'},"
                               "'reason':'good','channel':'cli'");
    CHECK_STR(at(c, "/status"), "approved");
    CHECK_STR(at(c, "/decided_by"), "operator");
    CHECK_STR(at(c, "/channel"), "cli");
    CHECK_STR(at(c, "/decision"), "{\"modifications\":{\"tone\":\"calm\"},\"reason\":\"good\"}");
    CHECK_STR(seen(w, id, "/steps/1/status"), "completed");
    CHECK_STR(seen(w, id, "/steps/2/status"), "in_progress");
    CHECK_STR(seen(w, id, "/variables/decision"), "approve");
    CHECK_STR(seen(w, id, "/variables/modifications"), "{\"tone\":\"calm\"}");
    CHECK_STR(seen(w, id, "/approval_seconds"), "30");
    CHECK_STR(seen(w, id, "/open_approvals"), "[]");
    CHECK_HAS(step_of(w, id, 1, "approval"),
              "{\"required\":true,\"approved\":true,\"approved_at\":\"");
    CHECK_HAS(step_of(w, id, 1, "approval"), "\"channel\":\"cli\"");
    CHECK_INT(told(w, approval, "approval_resolved"), 1);

    /* Once: again is nothing, another one is refused. */
    CHECK_OK(decide(w, approval, "approve", "")->error);
    CHECK_INT(told(w, approval, "approval_resolved"), 1);
    CHECK_ERR(decide(w, approval, "approve", "'modifications':{'tone':'wild'}")->error,
              ERR_CONFLICT);
    CHECK_ERR(decide(w, approval, "reject", "")->error, ERR_CONFLICT);
    CHECK_ERR(decide(w, approval, "rework", "")->error, ERR_CONFLICT);
    CHECK_OK(reported(w, id, "ship", "")->error);
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    CHECK_OK(call(w, "execution.delete", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    CHECK_ERR(call(w, "approval.get", "{'approval_id':'" STR_FMT "'}", STR_ARG(approval))->error,
              ERR_NOT_FOUND);
    world_audit(w);
    world_close(w);
}

TEST_BOTH(approval_that_is_refused_fails_step_and_execution)
{
    struct world *w = world_new();

    deploy(w, PLAN);
    str id = planned(w), approval = asked(w, id, "/approval_id");
    CHECK_STR(at(decide(w, approval, "reject", "'reason':'too dear'"), "/status"), "rejected");
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    CHECK_STR(seen(w, id, "/reason"), "step plan was rejected: too dear");
    CHECK_STR(seen(w, id, "/steps/1/status"), "failed");
    CHECK_STR(seen(w, id, "/steps/1/error"), "it was rejected by operator: too dear");
    CHECK_STR(seen(w, id, "/steps/2/status"), "pending");
    CHECK_OK(decide(w, approval, "reject", "")->error);
    CHECK_ERR(decide(w, approval, "approve", "")->error, ERR_CONFLICT);
    world_audit(w);
    world_close(w);
}

/* ---- going back ---- */

TEST_BOTH(approval_that_is_refused_goes_back_where_the_definition_says_so)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'back','steps':[{'id':'a'},{'id':'b','after':['a'],'outputs':['n'],"
              "'approval':{'on_reject':'a'}},{'id':'c','after':['b']}]}");
    str id = begin(w, "back", "");
    CHECK_OK(reported(w, id, "a", "")->error);
    CHECK_OK(reported(w, id, "b", "'outputs':{'n':1}")->error);
    str first = asked(w, id, "/approval_id");
    CHECK_OK(decide(w, first, "reject", "'reason':'no'")->error);
    CHECK_STR(seen(w, id, "/status"), "RUNNING");
    CHECK_STR(seen(w, id, "/steps/0/status"), "in_progress");
    CHECK_STR(seen(w, id, "/steps/1/status"), "pending");
    CHECK_HAS(step_of(w, id, 0, "history"), "\"violations\":[\"it was rejected by operator: no\"]");
    CHECK_HAS(step_of(w, id, 1, "history"), "\"status\":\"rejected\"");
    CHECK_OK(reported(w, id, "a", "")->error);
    CHECK_OK(reported(w, id, "b", "'outputs':{'n':2}")->error);
    str second = asked(w, id, "/approval_id");
    CHECK(!str_eq(first, second));
    CHECK_STR(asked(w, id, "/content/outputs"), "{\"n\":2}");
    CHECK_OK(decide(w, second, "approve", "")->error);
    CHECK_STR(seen(w, id, "/steps/2/status"), "in_progress");
    world_audit(w);
    world_close(w);
}

TEST_BOTH(rework_names_a_step_before_it_which_is_told_why)
{
    struct world *w = world_new();

    deploy(w, PLAN);
    str id = planned(w), first = asked(w, id, "/approval_id");
    CHECK_ERR(decide(w, first, "rework", "'step':'ship'")->error, ERR_UNFIT);
    CHECK_HAS(decide(w, first, "rework", "'step':'none'")->error->message,
              "expected this step or one before it (look, plan)");
    CHECK_ERR(decide(w, first, "approve", "'step':'look'")->error, ERR_INVALID);
    struct command *c = decide(w, first, "rework", "'step':'look','reason':'look closer'");
    CHECK_STR(at(c, "/status"), "rework");
    CHECK_STR(seen(w, id, "/steps/0/status"), "in_progress");
    CHECK_STR(seen(w, id, "/variables/decision"), "rework");
    CHECK_HAS(step_of(w, id, 0, "history"),
              "\"violations\":[\"rework was asked for by operator: look closer\"]");
    CHECK_OK(decide(w, first, "rework", "'step':'look'")->error);
    CHECK_ERR(decide(w, first, "rework", "'step':'plan'")->error, ERR_CONFLICT);

    CHECK_OK(reported(w, id, "look", "'outputs':{'seen':2}")->error);
    CHECK_OK(reported(w, id, "plan", "'outputs':{'plan':'mend it','cost':9}")->error);
    str second = asked(w, id, "/approval_id");
    CHECK_OK(decide(w, second, "rework", "'reason':'shorter'")->error); /* of itself */
    CHECK_STR(seen(w, id, "/steps/0/status"), "completed");
    CHECK_STR(seen(w, id, "/steps/1/status"), "in_progress");
    world_audit(w);
    world_close(w);
}

/* ---- of what was shown ---- */

TEST_BOTH(approval_holds_for_what_was_seen_alone)
{
    struct world *w = world_new();

    deploy(w, PLAN);
    str id = planned(w), first = asked(w, id, "/approval_id"), digest = asked(w, id, "/digest");
    CHECK_ERR(decide(w, first, "approve", "'digest':'0000'")->error, ERR_CONFLICT);
    CHECK_OK(reported(w, id, "plan", "'outputs':{'plan':'other','cost':1}")->error);
    CHECK_ERR(decide(w, first, "approve", "")->error, ERR_CONFLICT);
    CHECK_STR(at(call(w, "approval.get", "{'approval_id':'" STR_FMT "'}", STR_ARG(first)),
                 "/status"),
              "withdrawn");
    str second = asked(w, id, "/approval_id");
    CHECK(!str_eq(first, second) && !str_eq(asked(w, id, "/digest"), digest));
    CHECK_ERR(decide(w, second, "approve",
                     arena_printf(check_arena(), "'digest':'" STR_FMT "'", STR_ARG(digest)).at)
                  ->error,
              ERR_CONFLICT);
    CHECK_ERR(reported(w, id, "plan", "'failed':true")->error, ERR_CONFLICT);
    digest = asked(w, id, "/digest");
    CHECK_OK(decide(w, second, "approve",
                    arena_printf(check_arena(), "'digest':'" STR_FMT "'", STR_ARG(digest)).at)
                 ->error);
    CHECK_STR(seen(w, id, "/steps/2/status"), "in_progress");
    world_audit(w);
    world_close(w);
}

TEST_BOTH(approval_is_withdrawn_by_whatever_ends_its_step)
{
    static const char *const ends[] = { "execution.cancel", "execution.resume" };
    struct world *w = world_new();

    deploy(w, PLAN);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        str id = planned(w), approval = asked(w, id, "/approval_id");
        CHECK_OK(call(w, ends[i], "{'execution_id':'" STR_FMT "'%s}", STR_ARG(id),
                      i ? ",'from':'look'" : "")
                     ->error);
        CHECK_STR(at(call(w, "approval.get", "{'approval_id':'" STR_FMT "'}", STR_ARG(approval)),
                     "/status"),
                  "withdrawn");
        CHECK_INT(told(w, approval, "approval_resolved"), 1);
        CHECK_ERR(decide(w, approval, "approve", "")->error, ERR_CONFLICT);
        CHECK_STR(at(call(w, "inbox.list", "{}"), "/entries"), "[]");
    }
    world_audit(w);
    world_close(w);
}

TEST_BOTH(approval_is_given_while_the_execution_pauses_and_counts_when_it_goes_on)
{
    struct world *w = world_new();

    deploy(w, PLAN);
    str id = planned(w);
    CHECK_OK(call(w, "execution.pause", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    CHECK_OK(decide(w, asked(w, id, "/approval_id"), "approve", "")->error);
    CHECK_STR(seen(w, id, "/steps/1/status"), "completed");
    CHECK_STR(seen(w, id, "/steps/2/status"), "pending");
    CHECK_OK(call(w, "execution.resume", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    CHECK_STR(seen(w, id, "/steps/2/status"), "in_progress");
    world_audit(w);
    world_close(w);
}

/* Whoever is not asked any more does not keep a failing execution open. */
TEST_BOTH(approval_does_not_hold_up_an_execution_that_fails)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'two','steps':[{'id':'a','approval':true},{'id':'b'}]}");
    str id = begin(w, "two", "");
    CHECK_OK(reported(w, id, "a", "")->error);
    str approval = asked(w, id, "/approval_id");
    CHECK_OK(reported(w, id, "b", "'failed':true,'error':'broken'")->error);
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    CHECK_STR(at(call(w, "approval.get", "{'approval_id':'" STR_FMT "'}", STR_ARG(approval)),
                 "/status"),
              "withdrawn");
    id = begin(w, "two", "");
    CHECK_OK(call(w, "execution.resume", "{'execution_id':'" STR_FMT "'}", STR_ARG(id))->error);
    world_audit(w);
    world_close(w);
}

/* ---- variants ---- */

TEST_BOTH(approval_of_a_variant_names_one_of_those_that_there_are)
{
    struct world *w = world_new();

    deploy(
        w,
        "{'workflow':'pick','steps':[{'id':'s','outputs':['scenarios'],"
        "'approval':{'type':'select_variant','options':'=scenarios'}},{'id':'t','after':['s']}]}");
    str id = begin(w, "pick", "");
    CHECK_OK(reported(w, id, "s", "'outputs':{'scenarios':['A',{'id':'B','text':'b'},3]}")->error);
    str approval = asked(w, id, "/approval_id");
    CHECK_STR(asked(w, id, "/options"), "[\"A\",{\"id\":\"B\",\"text\":\"b\"},3]");
    CHECK_HAS(seen(w, id, "/steps/0/waits_for"), "choose a variant of s (baton inbox approve ");
    CHECK_HAS(decide(w, approval, "approve", "")->error->message,
              "one of the variants of step s: A, B, 3, found none");
    CHECK_ERR(decide(w, approval, "approve", "'selected_variant':'C'")->error, ERR_UNFIT);
    CHECK_OK(decide(w, approval, "approve", "'selected_variant':'B'")->error);
    CHECK_STR(seen(w, id, "/variables/selected_variant"), "B");
    CHECK_HAS(step_of(w, id, 0, "approval"), "\"selected_variant\":\"B\"");
    CHECK_OK(decide(w, approval, "approve", "'selected_variant':'B'")->error);
    CHECK_ERR(decide(w, approval, "approve", "'selected_variant':'A'")->error, ERR_CONFLICT);

    /* What is no list of variants is a person's to mend first. */
    id = begin(w, "pick", "");
    CHECK_OK(reported(w, id, "s", "'outputs':{'scenarios':'none'}")->error);
    CHECK_HAS(seen(w, id, "/open_incidents/0/message"), "expected a list of 1 to 100 variants");
    call(w, "incident.resolve", "{'incident_id':'" STR_FMT "'}",
         STR_ARG(seen(w, id, "/open_incidents/0/incident_id")));
    CHECK_STR(seen(w, id, "/incidents"), "1");
    world_audit(w);
    world_close(w);
}

TEST_BOTH(approval_of_a_loop_is_of_all_its_items_together)
{
    struct world *w = world_new();

    deploy(w, "{'workflow':'loop','input':{'required':['list']},'steps':[{'id':'a',"
              "'for_each':'=list','outputs':['n'],'approval':true},{'id':'b','after':['a']}]}");
    str id = begin(w, "loop", "'input':{'list':[1,2]}");
    CHECK_OK(reported(w, id, "a", "'item':1,'outputs':{'n':20}")->error);
    CHECK_STR(at(call(w, "approval.list", "{}"), "/approvals"), "[]");
    CHECK_OK(reported(w, id, "a", "'item':0,'outputs':{'n':10}")->error);
    CHECK_STR(asked(w, id, "/content/outputs"), "{\"n\":[10,20]}");
    CHECK_STR(seen(w, id, "/steps/0/status"), "waiting_approval");
    CHECK_OK(decide(w, asked(w, id, "/approval_id"), "approve", "")->error);
    CHECK_STR(seen(w, id, "/steps/1/status"), "in_progress");

    id = begin(w, "loop", "'input':{'list':[]}"); /* nothing was done, and it is judged, too */
    CHECK_STR(asked(w, id, "/content/outputs"), "{\"n\":[]}");
    CHECK_STR(seen(w, id, "/steps/1/status"), "pending");
    CHECK_OK(decide(w, asked(w, id, "/approval_id"), "rework", "")->error);
    CHECK_OK(decide(w, asked(w, id, "/approval_id"), "approve", "")->error);
    CHECK_STR(seen(w, id, "/steps/1/status"), "in_progress");
    world_audit(w);
    world_close(w);
}

/* ---- deadlines ---- */

#define LATE(more)                                                                 \
    "{'workflow':'late','steps':[{'id':'a','approval':{'deadline':'1h'" more "}}," \
    "{'id':'b','after':['a']}]}"

static str late(struct world *w, const char *definition)
{
    deploy(w, definition);
    str id = begin(w, "late", "");
    CHECK_OK(reported(w, id, "a", "")->error);
    return id;
}

TEST_BOTH(approval_that_nobody_gives_in_time_is_what_the_definition_says)
{
    struct world *w = world_new();

    str id = late(w, LATE(",'default':'approve'")), approval = asked(w, id, "/approval_id");
    world_pass(w, 3599000);
    CHECK_STR(seen(w, id, "/steps/0/status"), "waiting_approval");
    world_pass(w, 1000);
    CHECK_STR(seen(w, id, "/steps/1/status"), "in_progress");
    struct command *c = call(w, "approval.get", "{'approval_id':'" STR_FMT "'}", STR_ARG(approval));
    CHECK_STR(at(c, "/status"), "expired");
    CHECK_STR(at(c, "/channel"), "deadline");
    CHECK_STR(at(c, "/decided_by"), "system");
    CHECK_ERR(decide(w, approval, "approve", "")->error, ERR_CONFLICT); /* one outcome */

    id = late(w, LATE(",'default':'reject'"));
    world_pass(w, 3600000);
    CHECK_STR(seen(w, id, "/status"), "FAILED");

    id = late(w, LATE(",'default':'reject','on_reject':'a'"));
    world_pass(w, 3600000);
    CHECK_STR(seen(w, id, "/steps/0/status"), "in_progress");

    id = late(w, LATE("")); /* it waits on */
    world_pass(w, 7200000);
    CHECK_STR(seen(w, id, "/steps/0/status"), "waiting_approval");

    id = late(w, LATE(",'default':'approve','type':'select_variant','options':['x','y']"));
    world_pass(w, 3600000);
    CHECK_STR(seen(w, id, "/variables/selected_variant"), "x");

    id = late(w, LATE(",'default':'reject'"));
    CHECK_OK(decide(w, asked(w, id, "/approval_id"), "approve", "")->error);
    world_pass(w, 3600000);
    CHECK_STR(seen(w, id, "/steps/1/status"), "in_progress");
    world_audit(w);
    world_close(w);
}

/* ---- who may ---- */

TEST_BOTH(approval_is_never_a_sessions_to_give)
{
    struct world *w = world_with_tree();

    deploy(w, "{'workflow':'plan','steps':[{'id':'plan','approval':{'attended':true}}]}");
    become(w, "root");
    str id = begin(w, "plan", "");
    CHECK_OK(reported(w, id, "plan", "")->error);
    str approval = asked(w, id, "/approval_id");
    struct command *c = decide(w, approval, "approve", "");
    CHECK_ERR(c->error, ERR_FORBIDDEN);
    CHECK_HAS(c->error->message, "the operator, with 'baton inbox approve apr_");
    CHECK_HAS(c->error->message, "whoever sits in front of your client");
    become(w, "other");
    CHECK_ERR(decide(w, approval, "approve", "")->error, ERR_NOT_FOUND);
    CHECK_STR(at(call(w, "approval.list", "{}"), "/approvals"), "[]");
    become_operator(w);
    CHECK_OK(decide(w, approval, "approve", "")->error);
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");
    world_audit(w);
    world_close(w);
}

/* A person in front of an agent's client is asked by it, which only the server itself can say. */
TEST(approval_is_given_by_the_person_in_front_of_a_client_where_the_definition_lets_them)
{
    static const struct {
        bool attended, by_person, lets;
    } cases[] = { { true, true, true }, { true, false, false }, { false, true, false } };
    struct world *w = world_with_tree();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        deploy(w, cases[i].lets || !cases[i].by_person
                      ? "{'workflow':'plan','steps':[{'id':'plan','approval':{'attended':true}}]}"
                      : "{'workflow':'plan','steps':[{'id':'plan','approval':true}]}");
        str id = begin(w, "plan", "'parent_session_name':'root'");
        CHECK_OK(reported(w, id, "plan", "")->error);
        struct actor person = { .kind = ACTOR_SESSION,
                                .name = STR("root"),
                                .session_id = STR("ses_root"),
                                .is_attended = cases[i].attended };
        struct approval_decision d = { .status = APPROVAL_APPROVED,
                                       .channel = STR("elicitation"),
                                       .by_person = cases[i].by_person };
        str approval = asked(w, id, "/approval_id");
        struct store_node node;
        struct approval p;
        struct execution e;
        struct tx tx = { .arena = check_arena(),
                         .sql = w->engine.sql,
                         .now_ms = w->now_ms,
                         .seq = &node.seq,
                         .actor = &person,
                         .source = &w->source,
                         .compiled = w->engine.compiled,
                         .team = &w->team };
        CHECK_OK(store_begin(tx.sql, tx.arena, &node));
        err why = approval_decide(&tx, approval, &d, &p, &e);
        store_rollback(tx.sql);
        if (!cases[i].lets) {
            CHECK_ERR(why, ERR_FORBIDDEN);
            continue;
        }
        CHECK_OK(why);
        CHECK_STR(p.channel, "elicitation");
        CHECK_STR(p.decided_by, "root");
        CHECK_INT(e.status, EXECUTION_COMPLETED);
    }
    world_close(w);
}

TEST_BOTH(approval_of_a_node_goes_forwards_or_fails_and_never_back)
{
    struct world *w = world_new();

    deploy(
        w,
        "{'workflow':'round','nodes':[{'id':'s','kind':'start'},{'id':'p','kind':'pass'},"
        "{'id':'a','kind':'report','approval':true},{'id':'x','kind':'xor'},{'id':'e','kind':'end'}],"
        "'flows':[{'from':'s','to':'p'},{'from':'p','to':'a'},{'from':'a','to':'x'},"
        "{'from':'x','to':'p','when':'=again'},{'from':'x','to':'e','default':true}]}");
    str id = begin(w, "round", "");
    CHECK_OK(reported(w, id, "a", "'outputs':{'again':true}")->error);
    str first = asked(w, id, "/approval_id");
    CHECK_HAS(decide(w, first, "rework", "")->error->message, "made of nodes and flows");
    CHECK_OK(decide(w, first, "approve", "")->error);
    CHECK_STR(seen(w, id, "/status"), "RUNNING");
    CHECK_OK(reported(w, id, "a", "'outputs':{'again':false}")->error);
    CHECK_OK(decide(w, asked(w, id, "/approval_id"), "approve", "")->error);
    CHECK_STR(seen(w, id, "/status"), "COMPLETED");

    id = begin(w, "round", "");
    CHECK_OK(reported(w, id, "a", "'outputs':{'again':true}")->error);
    CHECK_OK(decide(w, asked(w, id, "/approval_id"), "reject", "")->error);
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    world_audit(w);
    world_close(w);
}

TEST_BOTH(approval_that_is_refused_stops_all_where_the_definition_says_so)
{
    struct world *w = world_new();

    deploy(w,
           "{'workflow':'stop','on_fail':'stop','steps':[{'id':'a','approval':true},{'id':'b'}]}");
    str id = begin(w, "stop", "");
    CHECK_OK(reported(w, id, "a", "")->error);
    CHECK_OK(decide(w, asked(w, id, "/approval_id"), "reject", "")->error);
    CHECK_STR(seen(w, id, "/status"), "FAILED");

    /* Else what is at work may finish, and then it has failed. */
    deploy(w, "{'workflow':'drain','steps':[{'id':'a','approval':{'on_reject':'a'}},{'id':'b'},"
              "{'id':'c','approval':true}]}");
    id = begin(w, "drain", "");
    CHECK_OK(reported(w, id, "a", "")->error);
    CHECK_OK(reported(w, id, "c", "")->error);
    const struct json *all =
        json_get(answer_of(call(w, "approval.list", "{'execution':'" STR_FMT "'}", STR_ARG(id))),
                 "approvals");
    bool turned = is_of(&all->items[0], "c");
    str a = json_str(&all->items[turned], "approval_id"),
        c = json_str(&all->items[!turned], "approval_id");
    CHECK_OK(decide(w, c, "reject", "")->error);
    CHECK_STR(seen(w, id, "/status"), "RUNNING");
    CHECK_STR(seen(w, id, "/failing"), "true");
    CHECK_HAS(decide(w, a, "rework", "")->error->message, "is about to fail");
    CHECK_OK(decide(w, a, "reject", "")->error); /* nothing is begun anew then */
    CHECK_STR(seen(w, id, "/steps/0/status"), "failed");
    CHECK_OK(reported(w, id, "b", "")->error);
    CHECK_STR(seen(w, id, "/status"), "FAILED");
    CHECK_STR(seen(w, id, "/reason"), "step c was rejected");
    world_audit(w);
    world_close(w);
}
