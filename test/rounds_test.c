/* rounds_test.c: what a client hands back is taken only as it was given, by whom, for what. */
#include "mcp_direct.h"

/* A message that asks for `params`, by the holder of a token, at a time. */
static struct mcp_call *call_of(struct mcp_direct *r, const char *method, const char *params)
{
    struct mcp_call *m = mcp_direct_call(r);
    struct json *whole = ARENA_NEW(m->arena, struct json), *id = ARENA_NEW(m->arena, struct json);

    *whole = json_of(m->arena, params);
    *id = json_int(m->arena, 1);
    m->client.version = MCP_2026_07_28;
    m->message =
        (struct rpc){ .kind = RPC_REQUEST, .id = id, .method = str_from(method), .params = whole };
    return m;
}

static const char asked[] = "{'name':'state_read','arguments':{'a':1,'b':[true]}}";

static void hand_back(struct mcp_call *m, str sealed)
{
    json_put(m->arena, (struct json *)m->message.params, STR("requestState"), json_string(sealed));
}

/* The payload, or "refused". */
static str opened(struct mcp_call *m)
{
    const struct json *payload;

    if (!round_open(m, &payload)) {
        const struct json *answer = json_parsed(m->arena, m->answer);
        CHECK_INT(json_int_or(json_get(answer, "error"), "code", 0), RPC_PARAMS);
        return STR("refused");
    }
    return payload ? json_shown(m->arena, payload) : STR("none");
}

TEST(round_opens_what_it_has_sealed)
{
    struct mcp_direct *r = mcp_direct_new("r.db");
    struct mcp_call *m = call_of(r, "tools/call", asked);
    str sealed = round_seal(m, STR("{\"round\":3}"), 1000);

    CHECK_STR(opened(m), "none");
    /* The same, with the members and the numbers written in another way. */
    m = call_of(r, "tools/call", "{'arguments':{'b':[true],'a':1.0},'name':'state_read'}");
    hand_back(m, sealed);
    CHECK_STR(opened(m), "{'round':3}");
    mcp_direct_free(r);
}

TEST(round_refuses_what_belongs_to_another_request)
{
    struct mcp_direct *r = mcp_direct_new("r.db");
    str sealed = round_seal(call_of(r, "tools/call", asked), STR("{}"), 1000);
    static const struct {
        const char *method, *params;
    } others[] = {
        { "prompts/get", asked },
        { "tools/call", "{'name':'state_patch','arguments':{'a':1,'b':[true]}}" },
        { "tools/call", "{'uri':'state_read','name':7,'arguments':{'a':1,'b':[true]}}" },
        { "tools/call", "{'name':'state_read','arguments':{'a':2,'b':[true]}}" },
        { "tools/call", "{'name':'state_read','arguments':{}}" },
        { "tools/call", "{'name':'state_read'}" },
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct mcp_call *m = call_of(r, others[i].method, others[i].params);
        hand_back(m, sealed);
        CHECK_STR(opened(m), "refused");
    }
    mcp_direct_free(r);
}

TEST(round_refuses_another_token_another_secret_and_what_is_too_old)
{
    struct mcp_direct *r = mcp_direct_new("r.db");
    str sealed = round_seal(call_of(r, "tools/call", asked), STR("{}"), 1000);
    struct mcp_call *m;

    mcp_direct_as(r, ACTOR_SESSION, "ss_2", "ses_2", STR(""));
    hand_back(m = call_of(r, "tools/call", asked), sealed);
    CHECK_STR(opened(m), "refused");

    mcp_direct_as(r, ACTOR_OPERATOR, "", "", STR(""));
    r->w->now_ms += 999;
    hand_back(m = call_of(r, "tools/call", asked), sealed);
    CHECK_STR(opened(m), "{}");
    r->mcp->options.secret[31] ^= 1;
    CHECK_STR(opened(m), "refused");
    r->mcp->options.secret[31] ^= 1;
    r->w->now_ms += 1;
    hand_back(m = call_of(r, "tools/call", asked), sealed);
    CHECK_STR(opened(m), "refused");
    mcp_direct_free(r);
}

/* Whichever byte is changed, cut or added. */
TEST(round_refuses_what_was_changed)
{
    struct mcp_direct *r = mcp_direct_new("r.db");
    str sealed = round_seal(call_of(r, "tools/call", asked), STR("{\"round\":1}"), 1000);

    for (size_t i = 0; i < sealed.len; i++) {
        str changed = arena_copy(check_arena(), sealed);
        ((char *)changed.at)[i] = changed.at[i] == 'A' ? 'B' : 'A';
        struct mcp_call *m = call_of(r, "tools/call", asked);
        hand_back(m, changed);
        CHECK_STR(opened(m), "refused");
        m = call_of(r, "tools/call", asked);
        hand_back(m, str_slice(sealed, 0, i));
        CHECK_STR(opened(m), "refused");
    }
    static const char *const odd[] = { "7", "null", "{}", "'not base64!'" };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        str params = arena_printf(check_arena(), "{'name':'state_read','requestState':%s}", odd[i]);
        CHECK_STR(opened(call_of(r, "tools/call", params.at)), "refused");
    }
    mcp_direct_free(r);
}

TEST(round_response_is_one_that_fits_a_question)
{
    static const struct {
        const char *response;
        bool fits;
    } cases[] = {
        { "{'action':'accept','content':{'name':'x'}}", true },
        { "{'action':'accept'}", true },
        { "{'action':'decline'}", true },
        { "{'action':'cancel','content':null}", true },
        { "{'role':'assistant','content':{'type':'text','text':'Paris'},'model':'m'}", true },
        { "{'roots':[]}", true },
        { "{'action':'accept','content':'x'}", false },
        { "{'action':'perhaps'}", false },
        { "{'action':1}", false },
        { "{'content':{'name':'x'}}", false },
        { "{'role':'assistant','content':'Paris'}", false },
        { "{'roots':{}}", false },
        { "{}", false },
        { "'accept'", false },
        { "null", false },
    };
    struct mcp_direct *r = mcp_direct_new("r.db");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str params = arena_printf(check_arena(), "{'inputResponses':{'q':%s}}", cases[i].response);
        struct mcp_call *m = call_of(r, "tools/call", params.at);
        if (!round_response(m, "q") == cases[i].fits)
            check_fail(__FILE__, __LINE__, "%s", cases[i].response);
        CHECK(!round_response(m, "other"));
    }
    CHECK(!round_response(call_of(r, "tools/call", "{'inputResponses':[1]}"), "q"));
    CHECK(!round_response(call_of(r, "tools/call", "{}"), "q"));
    mcp_direct_free(r);
}

TEST(round_asks_for_more_with_questions_or_without)
{
    struct mcp_direct *r = mcp_direct_new("r.db");
    struct mcp_call *m = call_of(r, "tools/call", asked);
    const struct json *answer, *result;

    round_begin(m);
    round_end(m, STR("abc"));
    answer = json_parsed(m->arena, m->answer);
    result = json_get(answer, "result");
    CHECK_STR(json_str(result, "resultType"), "input_required");
    CHECK_STR(json_str(result, "requestState"), "abc");
    CHECK(!json_get(result, "inputRequests"));

    struct json_writer *w = round_begin(m);
    json_write_name(w, STR("inputRequests"));
    json_write_printed(w, STR("{\"q\":{}}"));
    round_end(m, STR(""));
    answer = json_parsed(m->arena, m->answer);
    result = json_get(answer, "result");
    CHECK(json_get(json_get(result, "inputRequests"), "q"));
    CHECK(!json_get(result, "requestState"));
    CHECK_INT(m->next, MCP_ANSWER);
    mcp_direct_free(r);
}
