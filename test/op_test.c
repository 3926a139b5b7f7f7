/* op_test.c: a table that agrees with itself is taken, any other is refused; routes are found. */
#include "json_help.h"
#include "json/schema/schema.h"
#include "ops/op.h"

static err nothing(struct tx *tx, const struct input *in, struct answer *out)
{
    (void)tx, (void)in, (void)out;
    return NULL;
}

#define OUT JSON({ "type": "object", "properties": { "ok": true } })
#define IN_NONE JSON({ "type": "object", "properties": {} })

// clang-format off
#define IN_STATE JSON({ "type": "object", "required": ["state_id"],        \
    "properties": { "state_id": { "type": "string" }, "operations": true } })
// clang-format on

static const struct op good[] = {
    { .name = "state.list",
      .http = "GET /workflow-states",
      .on = ON_HTTP,
      .by = BY_ALL,
      .summary = "Lists.",
      .input = IN_NONE,
      .output = OUT,
      .run = nothing },
    { .name = "state.create",
      .http = "POST /workflow-states",
      .effect = OP_WRITES,
      .on = ON_HTTP,
      .by = BY_OPERATOR,
      .summary = "Makes.",
      .input = IN_NONE,
      .output = OUT,
      .run = nothing },
    { .name = "state.read",
      .http = "GET /workflow-states/{state_id}",
      .on = ON_HTTP,
      .by = BY_ALL,
      .wait = true,
      .summary = "Reads.",
      .input = IN_STATE,
      .output = OUT,
      .run = nothing },
    { .name = "state.patch",
      .http = "PATCH /workflow-states/{state_id}",
      .effect = OP_WRITES,
      .on = ON_HTTP | ON_MCP,
      .by = BY_OPERATOR | BY_SESSION,
      .implied = "state_id",
      .bodies = { { "application/json-patch+json", "operations" } },
      .summary = "Patches.",
      .input = IN_STATE,
      .output = OUT,
      .run = nothing },
    { .name = "state.schema",
      .http = "GET /workflow-states/{state_id}/schema",
      .on = ON_HTTP,
      .by = BY_ALL,
      .summary = "Shows.",
      .input = IN_STATE,
      .output = OUT,
      .run = nothing },
    { .name = "hidden.thing",
      .http = "GET /hidden",
      .on = ON_CLI,
      .by = BY_OPERATOR,
      .summary = "Is not on HTTP.",
      .input = IN_NONE,
      .output = OUT,
      .run = nothing },
};

static struct op_table *made(void)
{
    struct op_list list = { good, sizeof good / sizeof *good };
    struct op_table *t;
    CHECK_OK(op_table_new(check_arena(), &list, 1, &t));
    return t;
}

TEST(an_operation_is_found_by_name_and_by_route)
{
    struct op_table *t = made();
    struct op_match m;

    CHECK_INT(op_count(t), 6);
    CHECK(op_find(t, STR("state.patch")) == &good[3]);
    CHECK(!op_find(t, STR("state.none")));

    op_route(t, STR("GET"), STR("/workflow-states"), &m);
    CHECK(m.op == &good[0]);
    op_route(t, STR("PATCH"), STR("/workflow-states/wfstate_1"), &m);
    CHECK(m.op == &good[3]);
    CHECK_INT(m.capture_count, 1);
    CHECK_STR(m.captures[0].field, "state_id");
    CHECK_STR(m.captures[0].value, "wfstate_1");
    op_route(t, STR("GET"), STR("/workflow-states/a%2Fb/schema"), &m);
    CHECK(m.op == &good[4]);
    CHECK_STR(m.captures[0].value, "a%2Fb");
    op_table_free(t);
}

TEST(the_singular_is_another_word_for_the_plural)
{
    struct op_table *t = made();
    struct op_match m;

    op_route(t, STR("GET"), STR("/workflow-state/wfstate_1"), &m);
    CHECK(m.op == &good[2]);
    op_route(t, STR("POST"), STR("/workflow-state"), &m);
    CHECK(m.op == &good[1]);
    op_table_free(t);
}

TEST(a_wrong_method_is_told_from_a_wrong_path)
{
    struct op_table *t = made();
    struct op_match m;

    op_route(t, STR("DELETE"), STR("/workflow-states/wfstate_1"), &m);
    CHECK(!m.op);
    CHECK_INT(m.allowed_count, 2);
    CHECK_STR(m.allowed[0], "GET");
    CHECK_STR(m.allowed[1], "PATCH");
    static const char *const nowhere[] = {
        "",        "workflow-states",       "/",
        "//",      "/workflow-states/",     "/workflow-states//schema",
        "/hidden", "/a/b/c/d/e/f/g/h/i/j/k"
    };
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        op_route(t, STR("GET"), str_from(nowhere[i]), &m);
        CHECK(!m.op && m.allowed_count == 0);
    }
    op_table_free(t);
}

TEST(inputs_are_checked_by_the_schema_of_their_operation)
{
    struct op_table *t = made();
    const struct json *in = json_parsed(check_arena(), STR("{\"state_id\":7}"));

    err e = schema_require(check_arena(), op_input_schema(t, &good[2]), in);
    CHECK_ERR(e, ERR_UNFIT);
    CHECK_STR(e->message, "/state_id: expected a string, found 7");
    in = json_parsed(check_arena(), STR("{\"ok\":1}"));
    CHECK_OK(schema_require(check_arena(), op_output_schema(t, &good[2]), in));
    op_table_free(t);
}

/* Each breaks one rule of the table. */
TEST(a_table_that_contradicts_itself_is_refused)
{
    struct op base = good[3], bad[10];
    static const char *const messages[] = {
        "operation state.patch: expected a handler, a summary and who may call it: state.patch",
        "operation state.patch: expected a method, a space and a path: PATCH",
        "operation state.patch: its input: it has none",
        "operation state.patch: its output declares no properties: state.patch",
        "operation state.patch: what its route captures must be a required field: GET /x/{other}",
        "operation state.patch: the field of a body is not in its input: nothing",
        "operation state.patch: the implied field is not in its input: session",
        "operation state.patch: a write that waits has no answer to keep for a repeat: state.patch",
        "operation state.patch: the name is there twice: state.patch",
        "operation state.other: another operation has its route: state.patch",
    };

    for (int i = 0; i < 10; i++)
        bad[i] = base;
    bad[0].run = NULL;
    bad[1].http = "PATCH";
    bad[2].input = NULL;
    bad[3].output = JSON({ "type": "object" });
    bad[4].http = "GET /x/{other}";
    bad[5].bodies[0].field = "nothing";
    bad[6].implied = "session";
    bad[7].wait = true;
    bad[9].name = "state.other";
    for (int i = 0; i < 10; i++) {
        struct op pair[] = { bad[i], bad[i] };
        if (i == 9)
            pair[0] = base;
        struct op_list list = { pair, i < 8 ? 1 : 2 };
        struct op_table *t;
        err e = op_table_new(check_arena(), &list, 1, &t);
        CHECK_ERR(e, ERR_INTERNAL);
        CHECK_STR(e->message, messages[i]);
    }
}
