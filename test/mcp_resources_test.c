/* mcp_resources_test.c: resources, subscriptions, prompts and completion, for those who may see
 * what they are about. */
#define _GNU_SOURCE
#include "mcp_direct.h"

enum { LEGACY, MODERN };

/* Two sessions with a state each: red is what the tests look at, blue is somebody else's. */
struct fixture {
    struct mcp_direct *r;
    str red, blue;
};

static str state_of(struct mcp_direct *r, const char *name)
{
    struct arena *a = check_arena();
    str id = arena_printf(a, "ses_%s", name);

    mcp_direct_did(r, "session.create",
                   arena_printf(a, "{'session_id':'%s','session_name':'%s'}", id.at, name).at);
    const struct json *made = mcp_direct_did(
        r, "state.create",
        arena_printf(a, "{'schema_name':'any','initial_data':{'who':'%s'},'root_session':'%s'}",
                     name, id.at)
            .at);
    return arena_copy(a, json_str(made, "state_id"));
}

static struct fixture fixture_new(void)
{
    struct fixture p = { .r = mcp_direct_new("place.db") };

    mcp_direct_did(p.r, "schema.create", "{'name':'any','json_schema':{'type':'object'}}");
    p.red = state_of(p.r, "red");
    p.blue = state_of(p.r, "blue");
    return p;
}

static void as_red(struct fixture *p)
{
    mcp_direct_as(p->r, ACTOR_SESSION, "ss_red", "ses_red", p->red);
}

static const char *uri(str state, const char *rest)
{
    return arena_printf(check_arena(), "'uri':'baton://state/" STR_FMT "%s'", STR_ARG(state), rest)
        .at;
}

static void write_red(struct fixture *p, int value)
{
    mcp_direct_did(p->r, "state.update",
                   arena_printf(check_arena(), "{'state_id':'" STR_FMT "','data':{'n':%d}}",
                                STR_ARG(p->red), value)
                       .at);
}

/* ---- resources ---- */

TEST(resources_are_the_states_that_a_token_reaches)
{
    struct fixture p = fixture_new();
    const struct json *all = mcp_direct_result(p.r, MODERN, "resources/list", "");

    CHECK_INT(json_get(all, "resources")->len, 2);
    CHECK_INT(json_int_or(all, "ttlMs", -1), 0);
    CHECK_STR(json_str(all, "cacheScope"), "private");
    as_red(&p);
    for (int era = LEGACY; era <= MODERN; era++) {
        all = json_get(mcp_direct_result(p.r, era, "resources/list", ""), "resources");
        CHECK_INT(all->len, 1);
        CHECK_STR(json_str(json_at(all, 0), "uri"),
                  arena_printf(check_arena(), "baton://state/" STR_FMT, STR_ARG(p.red)).at);
        CHECK_STR(json_str(json_at(all, 0), "title"), "State of red (any, version 1)");
    }
    mcp_direct_as(p.r, ACTOR_RUNNER, "rn_1", "", STR(""));
    CHECK_INT(mcp_direct_refused(p.r, MODERN, "resources/list", ""),
              error_kind_info(ERR_FORBIDDEN)->rpc);
    mcp_direct_free(p.r);
}

static str plain_state(struct arena *a, int number)
{
    return arena_printf(a, "{'schema_name':'any','initial_data':{'number':%d}}", number);
}

TEST(resources_are_listed_page_by_page)
{
    struct fixture p = fixture_new();
    int count = 0;
    str cursor = STR("");

    mcp_direct_did_many(p.r, "state.create", 228, plain_state);
    do {
        str params = cursor.len
                         ? arena_printf(check_arena(), "'cursor':'" STR_FMT "'", STR_ARG(cursor))
                         : STR("");
        const struct json *page = mcp_direct_result(p.r, MODERN, "resources/list", params.at);
        count += (int)json_get(page, "resources")->len;
        cursor = json_str(page, "nextCursor");
        CHECK(json_get(page, "resources")->len > 0);
    } while (cursor.len);
    CHECK_INT(count, 230);
    CHECK_INT(mcp_direct_refused(p.r, MODERN, "resources/list", "'cursor':'?'"), RPC_PARAMS);
    CHECK_INT(mcp_direct_refused(p.r, MODERN, "resources/templates/list", "'cursor':'abcd'"),
              RPC_PARAMS);
    mcp_direct_free(p.r);
}

TEST(resource_templates_name_a_state_and_a_version)
{
    struct fixture p = fixture_new();
    const struct json *all =
        json_get(mcp_direct_result(p.r, LEGACY, "resources/templates/list", ""),
                 "resourceTemplates");

    CHECK_INT(all->len, 2);
    CHECK_STR(json_str(json_at(all, 0), "uriTemplate"), "baton://state/{id}");
    CHECK_STR(json_str(json_at(all, 1), "uriTemplate"), "baton://state/{id}/v/{n}");
    mcp_direct_free(p.r);
}

/* What the text of the first content says of the data. */
static str data_read(struct fixture *p, int era, const char *params)
{
    const struct json *result = mcp_direct_result(p->r, era, "resources/read", params), *text;
    const struct json *contents = json_get(result, "contents");

    CHECK_INT(contents->len, 1);
    CHECK_STR(json_str(json_at(contents, 0), "mimeType"), "application/json");
    CHECK_INT(json_int_or(result, "ttlMs", -1), era == MODERN ? 0 : -1);
    text = json_parsed(check_arena(), json_str(json_at(contents, 0), "text"));
    return json_shown(check_arena(), json_get(text, "current_data"));
}

TEST(resource_is_read_as_it_is_or_was)
{
    struct fixture p = fixture_new();

    write_red(&p, 2);
    as_red(&p);
    for (int era = LEGACY; era <= MODERN; era++) {
        CHECK_STR(data_read(&p, era, uri(p.red, "")), "{'n':2}");
        CHECK_STR(data_read(&p, era, uri(p.red, "/v/1")), "{'who':'red'}");
        CHECK_STR(data_read(&p, era, uri(p.red, "/v/2")), "{'n':2}");
    }
    mcp_direct_free(p.r);
}

/* The cache may have the answer when nothing but a state's id is asked for. */
TEST(resource_of_now_may_come_out_of_the_cache)
{
    struct fixture p = fixture_new();
    struct cached_answer shown = { .refs = 1,
                                   .version = 9,
                                   .text = STR("{\"current_data\":\"kept\"}") };
    struct mcp_call *m = mcp_direct_call(p.r);

    m->session = &p.r->legacy;
    mcp_begin(m, arena_printf(m->arena,
                              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\","
                              "\"params\":{\"uri\":\"baton://state/" STR_FMT "\"}}",
                              STR_ARG(p.red)));
    CHECK_INT(m->next, MCP_PERFORM);
    CHECK(m->plain && str_eq(m->plain_id, p.red) && m->op->peek);
    mcp_cached(m, &shown);
    CHECK_INT(m->next, MCP_ANSWER);
    CHECK(memmem(m->answer.at, m->answer.len, "kept", 4));
    mcp_direct_result(p.r, LEGACY, "resources/read", uri(p.red, "/v/1"));
    CHECK(!p.r->call->plain);
    mcp_direct_free(p.r);
}

TEST(resource_that_is_not_there_has_the_code_of_its_era)
{
    struct fixture p = fixture_new();
    const char *const unknown[] = {
        "'uri':'baton://state/none'",
        uri(p.blue, ""),
        uri(p.red, "/v/9"),
        uri(p.red, "/v/0"),
        uri(p.red, "/v/-1"),
        uri(p.red, "/v/"),
        uri(p.red, "/v/1x"),
        uri(p.red, "/w/1"),
        uri(p.red, "/"),
        uri(p.red, "/v/1/2"),
        "'uri':'baton://state/'",
        "'uri':'file:///etc/passwd'",
        "'uri':''",
    };

    as_red(&p);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const struct json *said = mcp_direct_said(p.r, MODERN, "resources/read", unknown[i]);
        CHECK_INT(json_int_or(json_get(said, "error"), "code", 0), RPC_PARAMS);
        CHECK(json_get(json_get(json_get(said, "error"), "data"), "uri"));
        CHECK_INT(mcp_direct_refused(p.r, LEGACY, "resources/read", unknown[i]),
                  RPC_RESOURCE_LEGACY);
    }
    CHECK_INT(mcp_direct_refused(p.r, MODERN, "resources/read", ""), RPC_PARAMS);
    CHECK_INT(mcp_direct_refused(p.r, LEGACY, "resources/read", "'uri':7"), RPC_PARAMS);
    mcp_direct_free(p.r);
}

/* ---- hearing of them ---- */

TEST(older_clients_subscribe_to_what_they_may_see)
{
    struct fixture p = fixture_new();

    as_red(&p);
    mcp_direct_result(p.r, LEGACY, "resources/subscribe", uri(p.red, ""));
    CHECK_INT(p.r->call->next, MCP_SUBSCRIBE);
    CHECK_STR(p.r->call->uri,
              arena_printf(check_arena(), "baton://state/" STR_FMT, STR_ARG(p.red)).at);
    CHECK_INT(mcp_direct_refused(p.r, LEGACY, "resources/subscribe", uri(p.blue, "")),
              RPC_RESOURCE_LEGACY);
    CHECK_INT(p.r->call->next, MCP_ANSWER);
    CHECK_INT(mcp_direct_refused(p.r, LEGACY, "resources/subscribe", uri(p.red, "/v/1")),
              RPC_PARAMS);
    CHECK_INT(mcp_direct_refused(p.r, LEGACY, "resources/subscribe", "'uri':'x'"),
              RPC_RESOURCE_LEGACY);
    mcp_direct_result(p.r, LEGACY, "resources/unsubscribe", uri(p.red, ""));
    CHECK_INT(p.r->call->next, MCP_UNSUBSCRIBE);
    CHECK_INT(mcp_direct_refused(p.r, MODERN, "resources/subscribe", uri(p.red, "")), RPC_METHOD);
    mcp_direct_free(p.r);
}

static str listened(struct fixture *p, const char *wishes)
{
    const struct json *said =
        mcp_direct_said(p->r, MODERN, "subscriptions/listen",
                        arena_printf(check_arena(), "'notifications':%s", wishes).at);

    CHECK_INT(p->r->call->next, MCP_LISTEN);
    CHECK_STR(json_str(said, "method"), "notifications/subscriptions/acknowledged");
    CHECK_STR(json_shown(check_arena(), json_get(json_get(said, "params"), "_meta")),
              "{'io.modelcontextprotocol/subscriptionId':7}");
    return json_shown(check_arena(), json_get(json_get(said, "params"), "notifications"));
}

TEST(listeners_are_told_what_was_taken)
{
    struct fixture p = fixture_new();
    struct arena *a = check_arena();

    as_red(&p);
    CHECK_STR(listened(&p, "{}"), "{}");
    CHECK_STR(listened(&p, "{'toolsListChanged':true,'promptsListChanged':true,"
                           "'resourcesListChanged':false}"),
              "{'toolsListChanged':true}");
    str wishes = arena_printf(a,
                              "{'resourceSubscriptions':['baton://state/" STR_FMT
                              "','baton://state/" STR_FMT "','baton://state/" STR_FMT
                              "/v/1','mailto:x','baton://state/none']}",
                              STR_ARG(p.blue), STR_ARG(p.red), STR_ARG(p.red));
    CHECK_STR(listened(&p, wishes.at),
              arena_printf(a, "{'resourceSubscriptions':['baton://state/" STR_FMT "']}",
                           STR_ARG(p.red))
                  .at);
    CHECK_INT(p.r->call->listen.uri_count, 1);
    CHECK(!p.r->call->listen.tools);
    mcp_direct_free(p.r);
}

/* However many are wanted: each is an operation. */
TEST(listening_takes_a_bounded_number_of_operations)
{
    struct fixture p = fixture_new();
    struct buf wishes = buf_in(check_arena());

    buf_add(&wishes, STR("{'resourceSubscriptions':["));
    for (int i = 0; i < 1000; i++)
        buf_printf(&wishes, "%s'baton://state/" STR_FMT "'", i ? "," : "", STR_ARG(p.red));
    buf_add(&wishes, STR("]}"));
    listened(&p, buf_str(&wishes).at);
    CHECK_INT(p.r->performed, 32);
    CHECK_INT(p.r->call->listen.uri_count, 32);
    mcp_direct_free(p.r);
}

TEST(listening_refuses_malformed_wishes)
{
    struct fixture p = fixture_new();
    static const char *const malformed[] = { "'notifications':[]", "",
                                             "'notifications':{'toolsListChanged':1}",
                                             "'notifications':{'resourceSubscriptions':'x'}",
                                             "'notifications':{'resourceSubscriptions':[1]}" };

    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        CHECK_INT(mcp_direct_refused(p.r, MODERN, "subscriptions/listen", malformed[i]),
                  RPC_PARAMS);
    CHECK_INT(mcp_direct_refused(p.r, MODERN, "subscriptions/listen",
                                 "'notifications':{'taskIds':[]}"),
              RPC_CAPABILITY);
    CHECK_INT(mcp_direct_refused(p.r, LEGACY, "subscriptions/listen", "'notifications':{}"),
              RPC_METHOD);
    mcp_direct_free(p.r);
}

TEST(listeners_messages_carry_the_subscription_of_newer_clients)
{
    struct arena *a = check_arena();
    struct json id = json_string(STR("listen:0"));

    CHECK_STR(
        mcp_list_changed(a, "tools", STR("")),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{}}");
    CHECK_STR(mcp_resource_updated(a, STR("baton://state/x"), STR("7")),
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":"
              "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":7},"
              "\"uri\":\"baton://state/x\"}}");
    CHECK_STR(mcp_listen_over(a, &id),
              "{\"jsonrpc\":\"2.0\",\"id\":\"listen:0\",\"result\":{\"resultType\":\"complete\","
              "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":\"listen:0\"}}}");
}

TEST(resource_addresses_mean_states)
{
    str id;

    CHECK(mcp_uri_state(STR("baton://state/wfstate_1"), &id));
    CHECK_STR(id, "wfstate_1");
    CHECK(mcp_uri_state(STR("baton://state/wfstate_1/v/3"), &id));
    CHECK_STR(id, "wfstate_1");
    CHECK(!mcp_uri_state(STR("baton://run/wfstate_1"), &id));
}

/* ---- prompts ---- */

static str prompt_text(struct fixture *p, const char *params)
{
    const struct json *messages =
        json_get(mcp_direct_result(p->r, MODERN, "prompts/get", params), "messages");

    CHECK_INT(messages->len, 1);
    CHECK_STR(json_str(json_at(messages, 0), "role"), "user");
    return json_str(json_get(json_at(messages, 0), "content"), "text");
}

TEST(prompts_are_listed_with_their_arguments)
{
    struct fixture p = fixture_new();
    const struct json *all =
        json_get(mcp_direct_result(p.r, MODERN, "prompts/list", ""), "prompts");
    struct buf shown = buf_in(check_arena());

    for (uint32_t i = 0; i < all->len; i++) {
        const struct json *arguments = json_get(json_at(all, i), "arguments");
        buf_printf(&shown, STR_FMT ":", STR_ARG(json_str(json_at(all, i), "name")));
        for (uint32_t k = 0; k < arguments->len; k++)
            buf_printf(&shown, " " STR_FMT "%s", STR_ARG(json_str(json_at(arguments, k), "name")),
                       json_bool_or(json_at(arguments, k), "required", false) ? "!" : "");
        buf_add(&shown, STR("; "));
    }
    CHECK_STR(buf_str(&shown), "handover: to summary; state_update_required: session; "
                               "orchestrate: goal! schema_name; ");
    mcp_direct_free(p.r);
}

TEST(prompt_of_the_state_update_is_the_one_that_baton_sends)
{
    struct fixture p = fixture_new();

    str text = prompt_text(&p, "'name':'state_update_required','arguments':{'session':'red'}");
    CHECK(str_contains(text, STR("## Required: Update Workflow State")) &&
          str_contains(text, STR("\"who\":\"red\"")));
    as_red(&p);
    text = prompt_text(&p, "'name':'state_update_required'");
    CHECK_HAS(text, "\"who\":\"red\"");
    CHECK_INT(mcp_direct_refused(p.r, MODERN, "prompts/get",
                                 "'name':'state_update_required','arguments':{'session':'blue'}"),
              RPC_PARAMS);
    mcp_direct_as_operator(p.r);
    CHECK_INT(mcp_direct_refused(p.r, LEGACY, "prompts/get", "'name':'state_update_required'"),
              RPC_PARAMS);
    mcp_direct_free(p.r);
}

TEST(prompt_of_a_hand_over_says_whom_to_resume_or_start)
{
    struct fixture p = fixture_new();

    CHECK_HAS(prompt_text(&p, "'name':'handover','arguments':{'to':'red'}"),
              "Session `red` is there: call `resume_agent_session`");
    CHECK_HAS(prompt_text(&p, "'name':'handover','arguments':{'to':'green'}"),
              "no session `green` yet: call `start_agent_session`");
    str text = prompt_text(&p, "'name':'handover','arguments':{'summary':'half\\n```\\ndone'}");
    CHECK(str_contains(text, STR("End your answer")) &&
          str_contains(text, STR("\n````text\nhalf\n```\ndone\n````\n")));
    mcp_direct_free(p.r);
}

TEST(prompt_of_a_team_shows_the_schema_of_its_state)
{
    struct fixture p = fixture_new();

    CHECK(!str_contains(prompt_text(&p, "'name':'orchestrate','arguments':{'goal':'win'}"),
                        STR("schema `")));
    str text =
        prompt_text(&p, "'name':'orchestrate','arguments':{'goal':'win','schema_name':'any'}");
    CHECK(str_contains(text, STR("```text\nwin\n```")) &&
          str_contains(text, STR("```json\n{\"type\":\"object\"}\n```")));
    mcp_direct_free(p.r);
}

TEST(prompts_refuse_arguments_that_do_not_fit)
{
    struct fixture p = fixture_new();
    static const char *const unfit[] = {
        "",
        "'name':'none'",
        "'name':'orchestrate'",
        "'name':'orchestrate','arguments':{'goal':''}",
        "'name':'orchestrate','arguments':{'goal':'x','schema_name':'none'}",
        "'name':'handover','arguments':[]",
        "'name':'handover','arguments':{'to':7}",
        "'name':'handover','arguments':{'to':'a b'}",
        "'name':'handover','arguments':{'whom':'red'}",
    };

    for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
        for (int era = LEGACY; era <= MODERN; era++)
            CHECK_INT(mcp_direct_refused(p.r, era, "prompts/get", unfit[i]), RPC_PARAMS);
    mcp_direct_free(p.r);
}

/* ---- completion ---- */

static const struct json *completed(struct fixture *p, const char *ref, const char *name,
                                    const char *value, const char *more)
{
    str params = arena_printf(check_arena(), "'ref':%s,'argument':{'name':'%s','value':'%s'}%s",
                              ref, name, value, more);

    return json_get(mcp_direct_result(p->r, MODERN, "completion/complete", params.at),
                    "completion");
}

static str values(const struct json *completion)
{
    return json_shown(check_arena(), json_get(completion, "values"));
}

#define TEMPLATE "{'type':'ref/resource','uri':'baton://state/{id}'}"
#define VERSIONS "{'type':'ref/resource','uri':'baton://state/{id}/v/{n}'}"
#define HANDOVER "{'type':'ref/prompt','name':'handover'}"
#define ORCHESTRATE "{'type':'ref/prompt','name':'orchestrate'}"

TEST(completion_offers_what_a_token_sees)
{
    struct fixture p = fixture_new();
    struct arena *a = check_arena();

    CHECK_INT(json_get(completed(&p, TEMPLATE, "id", "", ""), "values")->len, 2);
    CHECK_STR(values(completed(&p, TEMPLATE, "id", p.red.at, "")),
              arena_printf(a, "['" STR_FMT "']", STR_ARG(p.red)).at);
    CHECK_STR(values(completed(&p, TEMPLATE, "id", "zzz", "")), "[]");
    CHECK_STR(values(completed(&p, HANDOVER, "to", "", "")), "['blue','red']");
    CHECK_STR(values(completed(&p, HANDOVER, "to", "re", "")), "['red']");
    CHECK_STR(values(completed(&p, HANDOVER, "summary", "re", "")), "[]");
    CHECK_STR(values(completed(&p, ORCHESTRATE, "schema_name", "a", "")), "['any']");
    as_red(&p);
    CHECK_STR(values(completed(&p, TEMPLATE, "id", "", "")),
              arena_printf(a, "['" STR_FMT "']", STR_ARG(p.red)).at);
    CHECK_STR(values(completed(&p, HANDOVER, "to", "", "")), "['red']");
    mcp_direct_free(p.r);
}

TEST(completion_of_a_version_knows_the_state)
{
    struct fixture p = fixture_new();
    str chosen = arena_printf(check_arena(), ",'context':{'arguments':{'id':'" STR_FMT "'}}",
                              STR_ARG(p.red));

    for (int i = 2; i <= 12; i++)
        write_red(&p, i);
    CHECK_STR(values(completed(&p, VERSIONS, "n", "1", chosen.at)), "['12','11','10','1']");
    CHECK_STR(values(completed(&p, VERSIONS, "n", "", "")), "[]");
    CHECK_STR(values(completed(&p, VERSIONS, "n", "", ",'context':{'arguments':{'id':'none'}}")),
              "[]");
    mcp_direct_free(p.r);
}

static str one_of_three(struct arena *a, int number)
{
    return arena_printf(a, "{'name':'%c%04d','json_schema':true}", "mno"[number % 3], number);
}

/* Names before and after those that begin so are on the same pages. */
TEST(completion_keeps_a_hundred_and_counts_the_rest)
{
    struct fixture p = fixture_new();

    mcp_direct_did_many(p.r, "schema.create", 1200, one_of_three);
    const struct json *c = completed(&p, ORCHESTRATE, "schema_name", "n", "");
    CHECK_INT(json_get(c, "values")->len, 100);
    CHECK_INT(json_int_or(c, "total", 0), 400);
    CHECK(json_bool_or(c, "hasMore", false));
    CHECK_STR(json_text(json_at(json_get(c, "values"), 0)), "n0001");
    CHECK_INT(p.r->performed, 1);
    c = completed(&p, ORCHESTRATE, "schema_name", "n11", "");
    CHECK_INT(json_int_or(c, "total", 0), 33);
    CHECK(!json_bool_or(c, "hasMore", true));
    c = completed(&p, ORCHESTRATE, "schema_name", "", "");
    CHECK_INT(json_int_or(c, "total", 0), 1201);
    mcp_direct_free(p.r);
}

TEST(completion_refuses_what_is_no_argument)
{
    struct fixture p = fixture_new();
    static const char *const unfit[] = {
        "",
        "'ref':" TEMPLATE,
        "'ref':" TEMPLATE ",'argument':{'name':'id'}",
        "'ref':" TEMPLATE ",'argument':{'name':'id','value':1}",
        "'ref':" TEMPLATE ",'argument':{'name':'n','value':''}",
        "'ref':" HANDOVER ",'argument':{'name':'id','value':''}",
        "'ref':{'type':'ref/prompt','name':'none'},'argument':{'name':'id','value':''}",
        "'ref':{'type':'ref/resource','uri':'x'},'argument':{'name':'id','value':''}",
        "'ref':{'type':'ref/other','uri':'x'},'argument':{'name':'id','value':''}",
    };

    for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
        CHECK_INT(mcp_direct_refused(p.r, MODERN, "completion/complete", unfit[i]), RPC_PARAMS);
    mcp_direct_free(p.r);
}
