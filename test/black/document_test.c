/* document_test.c: the examples of the document that users know, sent to the program as they are
 * written there.
 *
 * Ids, times and sessions are the server's own; all else is compared field by field. */
#include "base/date.h"
#include "black/black.h"
#include "client/ws_client.h"
#include "json_help.h"

/* ---- the document's texts ---- */

static const char schema_text[] =
    "{"
    "  '$schema': 'http://json-schema.org/draft-07/schema#',"
    "  'type': 'object',"
    "  'required': ['status', 'tasks'],"
    "  'properties': {"
    "    'status': {"
    "      'type': 'string',"
    "      'enum': ['pending', 'in_progress', 'review', 'completed', 'failed']"
    "    },"
    "    'tasks': {"
    "      'type': 'array',"
    "      'items': {"
    "        'type': 'object',"
    "        'required': ['name', 'status'],"
    "        'properties': {"
    "          'name': { 'type': 'string' },"
    "          'status': { 'type': 'string', 'enum': ['pending', 'running', 'done', 'failed'] },"
    "          'result': { 'type': 'string' },"
    "          'assigned_to': { 'type': 'string' }"
    "        }"
    "      }"
    "    },"
    "    'summary': { 'type': 'string' },"
    "    'metadata': { 'type': 'object' }"
    "  }"
    "}";

static const char data_text[] =
    "{"
    "  'status': 'in_progress',"
    "  'tasks': ["
    "    { 'name': 'lint', 'status': 'done', 'result': 'No issues' },"
    "    { 'name': 'test', 'status': 'running', 'assigned_to': 'test-runner' },"
    "    { 'name': 'review', 'status': 'pending' }"
    "  ],"
    "  'summary': '2/3 tasks complete'"
    "}";

static const char patch_text[] =
    "{"
    "  'operations': ["
    "    { 'op': 'replace', 'path': '/tasks/0/status', 'value': 'done' },"
    "    { 'op': 'add', 'path': '/tasks/0/result', 'value': 'Analysis complete' }"
    "  ]"
    "}";

static const char initial_text[] = "{ 'status': 'pending', 'tasks': ["
                                   "{ 'name': 'analysis', 'status': 'running' } ] }";

/* ---- helpers ---- */

#define PRINTED(...) arena_printf(check_arena(), __VA_ARGS__).at

static void check_json(const struct json *found, const char *expected)
{
    struct json want = json_of(check_arena(), expected);

    if (!found || !json_equal(found, &want))
        check_fail(__FILE__, __LINE__, "expected %s\nfound    " STR_FMT, expected,
                   STR_ARG(found ? json_shown(check_arena(), found) : STR("nothing")));
}

/* "wfstate_" and twelve letters and digits, say. */
static void check_id(str id, const char *prefix)
{
    CHECK(str_starts(id, str_from(prefix)));
    CHECK(id.len > strlen(prefix));
}

static void check_time(str time)
{
    int64_t ms;

    CHECK(date_parse(time, &ms));
    CHECK(str_ends(time, STR("Z")));
}

static void schema_register(const struct black *b)
{
    const struct json *made =
        black_expect(b, 201, "POST /workflow-schemas",
                     PRINTED("{'name':'code-review-workflow','json_schema':%s,"
                             "'description':'How a review goes'}",
                             schema_text));

    check_id(json_str(made, "schema_id"), "schema_");
    CHECK_STR(json_str(made, "name"), "code-review-workflow");
    CHECK_INT(json_int_or(made, "version", 0), 1);
}

static str state_make(const struct black *b)
{
    const struct json *made = black_expect(
        b, 201, "POST /workflow-states",
        PRINTED("{'schema_name':'code-review-workflow','initial_data':%s}", initial_text));

    check_id(json_str(made, "state_id"), "wfstate_");
    CHECK_INT(json_int_or(made, "version", 0), 1);
    return json_str(made, "state_id");
}

/* ---- what is said of schemas ---- */

TEST(documents_schema_is_registered_listed_and_enforced)
{
    struct black b = { 0 };

    black_start(&b);
    schema_register(&b);
    const struct json *one =
        black_expect(&b, 200, "GET /workflow-schemas/code-review-workflow", "");
    check_json(json_get(one, "json_schema"), schema_text);
    CHECK_STR(json_str(one, "description"), "How a review goes");
    check_time(json_str(one, "created_at"));
    const struct json *all = black_expect(&b, 200, "GET /workflow-schemas", "");
    CHECK_INT(json_get(all, "schemas")->len, 1);
    const struct json *versions =
        black_expect(&b, 200, "GET /workflow-schemas/code-review-workflow/versions", "");
    CHECK_INT(json_get(versions, "schemas")->len, 1);

    /* A missing field, and a status that is none of the five. */
    str id = state_make(&b);
    const struct json *missing =
        black_expect(&b, 422, black_route("PUT", id), "{'data':{'status':'review'}}");
    CHECK(json_get(missing, "errors")->len > 0);
    const struct json *wrong =
        black_expect(&b, 422, black_route("PUT", id), "{'data':{'status':'ready','tasks':[]}}");
    CHECK_STR(json_str(json_at(json_get(wrong, "errors"), 0), "pointer"), "/status");
    CHECK_STR(json_str(json_at(json_get(wrong, "errors"), 0), "keyword"), "enum");
    black_stop(&b);
}

/* ---- what is said of states ---- */

TEST(documents_state_is_answered_as_the_document_shows_it)
{
    struct black b = { 0 };

    black_start(&b);
    schema_register(&b);
    str id = state_make(&b);
    for (int version = 2; version <= 7; version++) {
        const struct json *put = black_expect(&b, 200, black_route("PUT", id),
                                              PRINTED("{'data':%s,'touch':true}", data_text));
        CHECK_INT(json_int_or(put, "version", 0), version);
    }
    const struct json *state = black_expect(&b, 200, black_route("GET", id), "");
    CHECK(str_eq(json_str(state, "state_id"), id));
    check_id(json_str(state, "schema_id"), "schema_");
    CHECK_STR(json_str(state, "schema_name"), "code-review-workflow");
    CHECK(json_is(json_get(state, "root_session_id"), JSON_NULL));
    CHECK(json_is(json_get(state, "root_session_name"), JSON_NULL));
    CHECK_INT(json_int_or(state, "version", 0), 7);
    check_json(json_get(state, "current_data"), data_text);
    check_time(json_str(state, "created_at"));
    check_time(json_str(state, "updated_at"));

    const struct json *all = black_expect(&b, 200, "GET /workflow-states", "");
    CHECK_INT(json_get(all, "states")->len, 1);
    const struct json *of_nobody = black_expect(&b, 200, "GET /workflow-states?root_session=x", "");
    CHECK_INT(json_get(of_nobody, "states")->len, 0);
    black_expect(&b, 204, black_route("DELETE", id), "");
    black_expect(&b, 404, black_route("GET", id), "");
    black_stop(&b);
}

TEST(documents_version_check_refuses_who_is_late)
{
    struct black b = { 0 };

    black_start(&b);
    schema_register(&b);
    str id = state_make(&b);
    const char *route = PRINTED("PUT /workflow-state/" STR_FMT, STR_ARG(id));
    const char *body = PRINTED("{'data':%s,'expected_version':5,'touch':true}", data_text);
    const struct json *conflict = black_expect(&b, 409, route, body);
    CHECK_INT(json_int_or(conflict, "current_version", 0), 1);
    CHECK_INT(json_int_or(conflict, "status", 0), 409);
    CHECK(strstr(json_str(conflict, "detail").at, "at version 1, expected 5"));
    for (int version = 2; version <= 5; version++)
        black_expect(&b, 200, route, PRINTED("{'data':%s,'touch':true}", data_text));
    CHECK_INT(json_int_or(black_expect(&b, 200, route, body), "version", 0), 6);
    CHECK_INT(json_int_or(black_expect(&b, 409, route, body), "current_version", 0), 6);
    black_stop(&b);
}

TEST(documents_patch_changes_its_part_and_nothing_else)
{
    struct black b = { 0 };

    black_start(&b);
    schema_register(&b);
    str id = state_make(&b);
    const char *route = PRINTED("PATCH /workflow-state/" STR_FMT, STR_ARG(id));
    CHECK_INT(json_int_or(black_expect(&b, 200, route, patch_text), "version", 0), 2);
    const struct json *state =
        black_expect(&b, 200, PRINTED("GET /workflow-state/" STR_FMT, STR_ARG(id)), "");
    check_json(json_get(state, "current_data"),
               "{'status':'pending','tasks':[{'name':'analysis','status':'done',"
               "'result':'Analysis complete'}]}");
    black_stop(&b);
}

/* ---- what is said of events ---- */

static const struct json *next_message(struct ws_client *ws)
{
    str text;

    CHECK_OK(ws_client_next(ws, check_arena(), 10000, &text));
    return json_parsed(check_arena(), text);
}

TEST(documents_event_tells_of_each_update)
{
    struct black b = { 0 };
    struct ws_client *ws;

    black_start(&b);
    schema_register(&b);
    str id = state_make(&b);
    CHECK_OK(ws_client_open(check_arena(), &b.endpoint, "/ws", 5000, &ws));
    str subscribe = arena_printf(check_arena(),
                                 "{\"action\":\"subscribe\",\"state_id\":\"" STR_FMT "\"}",
                                 STR_ARG(id));
    CHECK_OK(ws_client_send(ws, check_arena(), subscribe, 5000));
    CHECK_STR(json_str(next_message(ws), "type"), "snapshot");
    black_expect(&b, 200, black_route("PATCH", id), patch_text);

    const struct json *event = next_message(ws);
    CHECK_STR(json_str(event, "event_type"), "workflow_state_updated");
    CHECK(str_eq(json_str(event, "state_id"), id));
    CHECK_INT(json_int_or(event, "version", 0), 2);
    CHECK(json_is(json_get(event, "updated_by_session"), JSON_NULL)); /* the operator is none */
    check_time(json_str(event, "timestamp"));
    ws_client_free(ws);
    black_stop(&b);
}

/* Every route of the document's table has its alias. */
TEST(documents_routes_work_in_the_singular_too)
{
    struct black b = { 0 };

    black_start(&b);
    schema_register(&b);
    const struct json *made = black_expect(
        &b, 201, "POST /workflow-state",
        PRINTED("{'schema_name':'code-review-workflow','initial_data':%s}", initial_text));
    str id = json_str(made, "state_id");
    CHECK_INT(json_get(black_expect(&b, 200, "GET /workflow-state", ""), "states")->len, 1);
    black_expect(&b, 200, PRINTED("GET /workflow-state/" STR_FMT, STR_ARG(id)), "");
    black_expect(&b, 200, PRINTED("PUT /workflow-state/" STR_FMT, STR_ARG(id)),
                 PRINTED("{'data':%s}", data_text));
    black_expect(&b, 200, PRINTED("PATCH /workflow-state/" STR_FMT, STR_ARG(id)), patch_text);
    black_expect(&b, 200, PRINTED("GET /workflow-state/" STR_FMT "/history", STR_ARG(id)), "");
    black_expect(&b, 204, PRINTED("DELETE /workflow-state/" STR_FMT, STR_ARG(id)), "");
    black_stop(&b);
}
