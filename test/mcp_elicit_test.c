/* mcp_elicit_test.c: what only a person decides, asked through their agent's client. */
#include "mcp_direct.h"
#include "workflow_help.h"

/* An agent that works in front of a person, and a step that waits to be approved. */
struct desk {
    struct mcp_direct *d;
    struct world *w;
    str id;                            /* of the execution */
    const char *arguments;             /* more of the agent's */
    const char *capabilities;          /* of its client */
    void (*meanwhile)(struct desk *k); /* while the person thinks; NULL: nothing */
    const struct json *asked;          /* what they were asked: params of elicitation/create */
    str state;                         /* requestState */
};

static struct desk desk_new(const char *approval)
{
    static int desks;
    struct desk k = { .d = mcp_direct_new(arena_printf(check_arena(), "elicit%d.db", ++desks).at),
                      .arguments = ",'modifications':{'tone':'mine'}",
                      .capabilities = "'elicitation':{'form':{}}" };

    k.w = k.d->w;
    k.d->legacy.elicits_form = true;
    session(k.w, "root", NULL);
    deploy(k.w, arena_printf(check_arena(),
                             "{'workflow':'plan','steps':[{'id':'plan','title':'The plan',"
                             "'outputs':['text'],'approval':%s},{'id':'next','after':['plan']}]}",
                             approval)
                    .at);
    k.id = begin(k.w, "plan", "'parent_session_name':'root'");
    CHECK_OK(reported(k.w, k.id, "plan", "'outputs':{'text':'the first text'}")->error);
    become(k.w, "root");
    CHECK(k.w->actor.is_attended);
    return k;
}

static void desk_free(struct desk *k)
{
    become_operator(k->w);
    world_audit(k->w);
    mcp_direct_free(k->d);
}

/* ---- the call ---- */

/* The agent's call, with more members of its params; what came of it so far. */
static struct mcp_call *sent(struct desk *k, bool modern, str more)
{
    struct mcp_call *m = mcp_direct_call(k->d);
    str meta = modern ? arena_printf(m->arena,
                                     ",'_meta':{'io.modelcontextprotocol/protocolVersion':"
                                     "'2026-07-28',"
                                     "'io.modelcontextprotocol/clientCapabilities':{%s}}",
                                     k->capabilities)
                      : STR("");
    str text = arena_printf(m->arena,
                            "{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{"
                            "'name':'approve_step','arguments':{'workflow_id':'" STR_FMT
                            "','step':'plan','approved':true%s}" STR_FMT STR_FMT "}}",
                            STR_ARG(k->id), k->arguments, STR_ARG(more), STR_ARG(meta));
    struct json body = json_of(m->arena, text.at);

    m->session = modern ? NULL : &k->d->legacy;
    mcp_begin(m, json_printed(m->arena, &body));
    mcp_direct_finish(k->d, m);
    return m;
}

static const struct json *result_of(struct desk *k, struct mcp_call *m)
{
    CHECK_INT(m->next, MCP_ANSWER);
    return mcp_direct_member(k->d, json_parsed(m->arena, m->answer), "result");
}

/* The agent's call again, with what its person has answered: a member of inputResponses, or none. */
static struct mcp_call *sent_again(struct desk *k, const char *response)
{
    str answers = response
                      ? arena_printf(check_arena(), ",'inputResponses':{'decision':%s}", response)
                      : STR("");

    return sent(k, true,
                arena_printf(check_arena(), STR_FMT ",'requestState':'" STR_FMT "'",
                             STR_ARG(answers), STR_ARG(k->state)));
}

/* A newer client's person is asked by the result. */
static void asked_by_result(struct desk *k, struct mcp_call *m)
{
    const struct json *result = result_of(k, m);
    const struct json *question = json_get(json_get(result, "inputRequests"), "decision");

    CHECK_STR(json_str(result, "resultType"), "input_required");
    CHECK_STR(json_str(question, "method"), "elicitation/create");
    k->asked = json_get(question, "params");
    CHECK_STR(json_str(k->asked, "mode"), "form");
    k->state = json_str(result, "requestState");
}

/* An older client's by a request of ours, to which `response` is the result; NULL: none comes. */
static struct mcp_call *asked_by_request(struct desk *k, struct mcp_call *m, const char *response)
{
    struct rpc reply = { .kind = RPC_RESPONSE };
    struct mcp_play p = { 0 };
    struct json value;

    CHECK_INT(m->next, MCP_PLAY);
    mcp_play(m, &p);
    CHECK_INT(p.step, MCP_STEP_ASK);
    CHECK(p.pause_ms > 0);
    const struct json *request = json_parsed(m->arena, p.text);
    CHECK_STR(json_str(request, "method"), "elicitation/create");
    CHECK(str_eq(json_str(request, "id"), p.ask_id));
    k->asked = json_get(request, "params");
    CHECK(!json_get(k->asked, "mode")); /* which 2025-06-18 does not know */
    if (k->meanwhile)
        k->meanwhile(k);
    if (response) {
        value = json_of(m->arena, response);
        reply.result = &value;
        p.reply = &reply;
    }
    p.number = 1;
    mcp_play(m, &p);
    CHECK_INT(p.step, MCP_STEP_END);
    mcp_direct_finish(k->d, m);
    return m;
}

/* The whole way of either era; the result of the tool. */
static const struct json *decided(struct desk *k, bool modern, const char *response)
{
    struct mcp_call *m = sent(k, modern, STR(""));

    if (!modern)
        return result_of(k, asked_by_request(k, m, response));
    asked_by_result(k, m);
    if (k->meanwhile)
        k->meanwhile(k);
    return result_of(k, sent_again(k, response));
}

static str text_of(const struct json *result)
{
    return json_str(json_at(json_get(result, "content"), 0), "text");
}

/* The agent is told who decides, and where; nothing was decided. */
static void check_told_who(struct desk *k, const struct json *result)
{
    CHECK(json_bool_or(result, "isError", false));
    CHECK_HAS(text_of(result), "is decided by a person: the operator, with 'baton inbox approve");
    CHECK_STR(seen(k->w, k->id, "/steps/0/status"), "waiting_approval");
}

/* A member of the execution's newest approval. */
static str approval(struct desk *k, const char *pointer)
{
    struct command *c = call(k->w, "approval.list", "{'execution':'" STR_FMT "'}", STR_ARG(k->id));
    const struct json *all = json_get(answer_of(c), "approvals");
    size_t newest = 0;

    for (size_t i = 1; i < all->len; i++)
        if (str_eq(json_str(&all->items[i], "status"), STR("waiting")))
            newest = i;
    return at(c, arena_printf(check_arena(), "/approvals/%zu%s", newest, pointer).at);
}

#define ACCEPT(content) "{'action':'accept','content':{" content "}}"

/* ---- who is asked ---- */

TEST(elicited_approval_is_the_persons_and_what_the_agent_passes_is_a_proposal)
{
    for (int modern = 0; modern < 2; modern++) {
        struct desk k = desk_new("{'attended':true}");
        str digest = approval(&k, "/digest");
        const struct json *result =
            decided(&k, modern, ACCEPT("'decision':'approve','reason':'it is good'"));
        const struct json *form = json_get(k.asked, "requestedSchema");

        CHECK(!json_get(result, "isError"));
        CHECK_HAS(text_of(result), "\"success\":true");
        CHECK_HAS(text_of(result), "\"status\":\"completed\"");
        CHECK_STR(seen(k.w, k.id, "/steps/1/status"), "in_progress");
        CHECK_STR(approval(&k, "/status"), "approved");
        CHECK_STR(approval(&k, "/channel"), "elicitation");
        CHECK_STR(approval(&k, "/decided_by"), "root");
        CHECK_STR(approval(&k, "/decision"), "{\"reason\":\"it is good\"}");

        str message = json_str(k.asked, "message");
        CHECK_HAS(message, "Step \"The plan\" of workflow plan waits");
        CHECK_HAS(message, "the first text");
        CHECK_HAS(message, arena_copy(check_arena(), digest).at);
        CHECK_HAS(message, "proposes {\"approved\":true,\"modifications\":{\"tone\":\"mine\"}}");
        CHECK_STR(json_shown(check_arena(), json_get(form, "required")), "['decision']");
        const struct json *fields = json_get(form, "properties");
        CHECK_STR(json_shown(check_arena(), json_get(json_get(fields, "decision"), "enum")),
                  "['approve','reject']");
        CHECK(!json_get(fields, "selected_variant"));
        desk_free(&k);
    }
}

TEST(elicited_rejection_is_one_though_the_agent_said_approved)
{
    for (int modern = 0; modern < 2; modern++) {
        struct desk k = desk_new("{'attended':true}");
        const struct json *result =
            decided(&k, modern, ACCEPT("'decision':'reject','reason':'no','selected_variant':'x'"));

        CHECK(!json_get(result, "isError"));
        CHECK_HAS(text_of(result), "\"status\":\"failed\"");
        CHECK_STR(approval(&k, "/status"), "rejected");
        CHECK_STR(seen(k.w, k.id, "/status"), "FAILED");
        desk_free(&k);
    }
}

TEST(person_who_does_not_decide_leaves_all_as_it_was)
{
    static const char *const responses[] = {
        "{'action':'decline'}",
        "{'action':'cancel'}",
        "{'action':'decline','content':{'decision':'approve'}}",
        "{'action':'accept'}",
        ACCEPT(""),
        ACCEPT("'decision':'rework'"),
        ACCEPT("'decision':true"),
        ACCEPT("'approved':true"),
        "{'role':'assistant','content':{'decision':'approve'}}",
    };

    for (int modern = 0; modern < 2; modern++) {
        struct desk k = desk_new("{'attended':true}");
        for (size_t i = 0; i < sizeof responses / sizeof *responses; i++)
            check_told_who(&k, decided(&k, modern, responses[i]));
        if (!modern)
            check_told_who(&k, decided(&k, modern, NULL));
        CHECK_STR(approval(&k, "/status"), "waiting");
        desk_free(&k);
    }
}

TEST(nobody_is_asked_without_a_form_a_person_or_a_definition_that_lets_them)
{
    for (int modern = 0; modern < 2; modern++) {
        struct desk k = desk_new("{'attended':true}");

        k.capabilities = modern ? "" : "'elicitation':{'form':{}}";
        k.d->legacy.elicits_form = false;
        check_told_who(&k, result_of(&k, sent(&k, modern, STR(""))));
        k.capabilities = "'elicitation':{'url':{}}";
        check_told_who(&k, result_of(&k, sent(&k, modern, STR(""))));
        k.capabilities = "'elicitation':{}";
        k.d->legacy.elicits_form = true;
        k.d->legacy.version = MCP_2025_03_26; /* which knows no forms, whatever it declares */
        if (!modern)
            check_told_who(&k, result_of(&k, sent(&k, modern, STR(""))));
        k.d->legacy.version = MCP_2025_06_18;
        k.w->actor.is_attended = false;
        check_told_who(&k, result_of(&k, sent(&k, modern, STR(""))));
        CHECK_INT(k.d->performed, 1); /* it was not looked for anything to ask */
        desk_free(&k);

        k = desk_new("true");
        check_told_who(&k, result_of(&k, sent(&k, modern, STR(""))));
        desk_free(&k);
    }
}

/* What waits for nobody, is not there or is another's is as without a person. */
TEST(nobody_is_asked_about_what_does_not_wait)
{
    for (int modern = 0; modern < 2; modern++) {
        struct desk k = desk_new("{'attended':true}");

        become_operator(k.w);
        session(k.w, "other", NULL);
        become(k.w, "other");
        CHECK_HAS(text_of(result_of(&k, sent(&k, modern, STR("")))), "Not found");
        become_operator(k.w);
        CHECK_OK(call(k.w, "step.approve",
                      "{'workflow_id':'" STR_FMT "','step':'plan','approved':true}", STR_ARG(k.id))
                     ->error);
        become(k.w, "root");
        CHECK_HAS(text_of(result_of(&k, sent(&k, modern, STR("")))), "\"success\":true");
        desk_free(&k);
    }
}

/* ---- variants ---- */

TEST(elicited_variant_is_one_of_those_that_the_form_names)
{
    for (int modern = 0; modern < 2; modern++) {
        struct desk k = desk_new("{'attended':true,'type':'select_variant','options':['x','y']}");

        k.arguments = ",'selected_variant':'x'";
        const struct json *result = decided(&k, modern, ACCEPT("'decision':'approve'"));
        const struct json *fields = json_get(json_get(k.asked, "requestedSchema"), "properties");
        CHECK_STR(json_shown(check_arena(), json_get(json_get(fields, "selected_variant"), "enum")),
                  "['x','y']");
        CHECK(json_bool_or(result, "isError", false));
        CHECK_HAS(text_of(result), "x, y, found none"); /* the agent's counts for nothing */
        result = decided(&k, modern, ACCEPT("'decision':'approve','selected_variant':'z'"));
        CHECK_HAS(text_of(result), "x, y, found z");
        CHECK_STR(seen(k.w, k.id, "/steps/0/status"), "waiting_approval");
        decided(&k, modern, ACCEPT("'decision':'approve','selected_variant':'y'"));
        CHECK_STR(seen(k.w, k.id, "/variables/selected_variant"), "y");
        desk_free(&k);
    }
}

/* ---- once, and for what was shown ---- */

static void as_somebody_else(struct desk *k, struct command *(*does)(struct desk *k))
{
    struct actor before = k->w->actor;

    become_operator(k->w);
    CHECK_OK(does(k)->error);
    k->w->actor = before;
}

static struct command *approves(struct desk *k)
{
    return call(k->w, "step.approve", "{'workflow_id':'" STR_FMT "','step':'plan','approved':true}",
                STR_ARG(k->id));
}

static struct command *reports_anew(struct desk *k)
{
    return reported(k->w, k->id, "plan", "'outputs':{'text':'another text'}");
}

static void operator_approves(struct desk *k)
{
    as_somebody_else(k, approves);
}

static void content_changes(struct desk *k)
{
    as_somebody_else(k, reports_anew);
}

TEST(elicited_decision_after_another_changes_nothing_and_tells_whose_that_was)
{
    for (int modern = 0; modern < 2; modern++) {
        struct desk k = desk_new("{'attended':true}");

        k.meanwhile = operator_approves;
        const struct json *result = decided(&k, modern, ACCEPT("'decision':'reject'"));
        CHECK(json_bool_or(result, "isError", false));
        CHECK_HAS(text_of(result), "is approved already, by operator");
        CHECK_STR(approval(&k, "/status"), "approved");
        CHECK_STR(approval(&k, "/decided_by"), "operator");
        desk_free(&k);

        k = desk_new("{'attended':true}");
        k.meanwhile = operator_approves;
        result = decided(&k, modern, ACCEPT("'decision':'approve'")); /* the same is no quarrel */
        CHECK_HAS(text_of(result), "\"success\":true");
        CHECK_STR(approval(&k, "/decided_by"), "operator");
        desk_free(&k);
    }
}

TEST(elicited_decision_holds_for_what_was_shown_and_for_nothing_else)
{
    for (int modern = 0; modern < 2; modern++) {
        struct desk k = desk_new("{'attended':true}");

        k.meanwhile = content_changes;
        const struct json *result = decided(&k, modern, ACCEPT("'decision':'approve'"));
        CHECK(json_bool_or(result, "isError", false));
        CHECK_HAS(text_of(result), "was withdrawn: what it was about has changed");
        CHECK_STR(seen(k.w, k.id, "/steps/0/status"), "waiting_approval");
        k.meanwhile = NULL;
        decided(&k, modern, ACCEPT("'decision':'approve'"));
        CHECK_HAS(json_str(k.asked, "message"), "another text");
        CHECK_STR(seen(k.w, k.id, "/steps/0/status"), "completed");
        desk_free(&k);
    }
}

TEST(content_that_is_long_is_cut_and_says_so)
{
    struct desk k = desk_new("{'attended':true}");
    struct buf text = buf_in(check_arena());

    while (text.len < 30000)
        buf_add(&text, STR("a line of it, and "));
    become_operator(k.w);
    CHECK_OK(reported(k.w, k.id, "plan",
                      arena_printf(check_arena(), "'outputs':{'text':'" STR_FMT "'}",
                                   STR_ARG(buf_str(&text)))
                          .at)
                 ->error);
    become(k.w, "root");
    asked_by_result(&k, sent(&k, true, STR("")));
    CHECK(json_str(k.asked, "message").len < 8000);
    CHECK_HAS(json_str(k.asked, "message"), "`baton inbox show apr_");
    desk_free(&k);
}

/* ---- what a client hands back ---- */

#define YES ACCEPT("'decision':'approve'")

static void check_refused(struct desk *k, struct mcp_call *m)
{
    const struct json *error = json_get(json_parsed(m->arena, m->answer), "error");

    CHECK_INT(json_int_or(error, "code", 0), RPC_PARAMS);
    CHECK_INT(k->d->performed, 0);
}

TEST(request_state_that_was_not_given_out_for_this_call_decides_nothing)
{
    struct desk k = desk_new("{'attended':true}");
    str state;

    asked_by_result(&k, sent(&k, true, STR("")));
    state = k.state;
    for (size_t i = 0; i < state.len; i += 17) { /* any byte of it */
        k.state = arena_copy(check_arena(), state);
        ((char *)k.state.at)[i] = state.at[i] == 'A' ? 'B' : 'A';
        check_refused(&k, sent_again(&k, YES));
    }
    k.state = STR("");
    check_refused(&k, sent_again(&k, YES));
    k.state = state;
    k.arguments = ",'modifications':{'tone':'yours'}";
    check_refused(&k, sent_again(&k, YES));
    k.arguments = ",'modifications':{'tone':'mine'}";
    become(k.w, "root"); /* another token of the same session */
    check_refused(&k, sent_again(&k, YES));
    CHECK_STR(seen(k.w, k.id, "/steps/0/status"), "waiting_approval");

    asked_by_result(&k, sent(&k, true, STR("")));
    k.w->now_ms += 10 * 60 * 1000;
    check_refused(&k, sent_again(&k, YES));
    CHECK_STR(seen(k.w, k.id, "/steps/0/status"), "waiting_approval");
    desk_free(&k);
}

TEST(answers_without_the_question_are_asked_for_and_so_is_a_question_without_answers)
{
    struct desk k = desk_new("{'attended':true}");

    asked_by_result(&k, sent(&k, true, STR(",'inputResponses':{'decision':" YES "}")));
    asked_by_result(&k, sent_again(&k, NULL));
    asked_by_result(&k, sent_again(&k, "{'action':'perhaps'}"));
    asked_by_result(&k, sent_again(&k, "'approve'"));
    CHECK_STR(approval(&k, "/status"), "waiting");
    result_of(&k, sent_again(&k, YES));
    CHECK_STR(approval(&k, "/status"), "approved");
    desk_free(&k);
}

static struct command *reworks(struct desk *k)
{
    return call(k->w, "approval.decide", "{'approval_id':'" STR_FMT "','decision':'rework'}",
                STR_ARG(approval(k, "/approval_id")));
}

TEST(request_state_that_is_replayed_decides_nothing_more)
{
    struct desk k = desk_new("{'attended':true}");

    asked_by_result(&k, sent(&k, true, STR("")));
    as_somebody_else(&k, reworks);
    content_changes(&k); /* the step is given anew, and another approval waits */
    const struct json *result = result_of(&k, sent_again(&k, YES));
    CHECK(json_bool_or(result, "isError", false));
    CHECK_STR(seen(k.w, k.id, "/steps/0/status"), "waiting_approval");

    asked_by_result(&k, sent(&k, true, STR("")));
    CHECK(!json_get(result_of(&k, sent_again(&k, YES)), "isError"));
    CHECK(!json_get(result_of(&k, sent_again(&k, YES)), "isError")); /* the same again */
    result = result_of(&k, sent_again(&k, ACCEPT("'decision':'reject'")));
    CHECK_HAS(text_of(result), "is approved already, by root");
    CHECK_STR(seen(k.w, k.id, "/steps/0/status"), "completed");
    desk_free(&k);
}

/* ---- who cannot say that a person has said it ---- */

TEST(no_agent_says_by_itself_what_its_person_has_decided)
{
    struct desk k = desk_new("{'attended':true}");
    const struct op *op = op_find(k.w->table, STR("approval.answer"));
    str id = approval(&k, "/approval_id"), digest = approval(&k, "/digest");
    const char *const input = arena_printf(check_arena(),
                                           "{'approval_id':'" STR_FMT "','digest':'" STR_FMT
                                           "','decision':'approve'}",
                                           STR_ARG(id), STR_ARG(digest))
                                  .at;

    CHECK_INT(op->on, 0);
    CHECK(!op->http);
    CHECK_INT(op->by, BY_PERSON);
    CHECK(!tool_find(k.d->mcp, &k.w->actor, STR("approval_answer")));
    CHECK(!tool_find(k.d->mcp, &k.w->actor, STR("approval.answer")));
    CHECK_ERR(call(k.w, "approval.answer", "%s", input)->error, ERR_FORBIDDEN);
    become_operator(k.w); /* who has approval.decide */
    CHECK_ERR(call(k.w, "approval.answer", "%s", input)->error, ERR_FORBIDDEN);
    become(k.w, "root");

    /* Whoever is said to be a person's is not by that where nobody sits. */
    struct command *c = world_command(k.w, "approval.answer", input, "");
    c->by_person = true;
    struct actor unattended = k.w->actor;
    unattended.is_attended = false;
    c->actor = &unattended;
    op_perform(&k.w->engine, &c, 1);
    CHECK_ERR(c->error, ERR_FORBIDDEN);

    /* Nor by what it passes. */
    k.capabilities = "";
    k.arguments = ",'by_person':true";
    CHECK(json_bool_or(result_of(&k, sent(&k, true, STR(""))), "isError", false));
    CHECK_STR(seen(k.w, k.id, "/steps/0/status"), "waiting_approval");
    desk_free(&k);
}
