/* op_verbs_test.c: operations as commands: their help, and what a command line asks for. */
#include "cli/op_verbs.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"

static const struct verb no_verbs[] = { { 0 } };

/* A program with nothing but the operations. */
static const struct verb program = { .name = "baton",
                                     .args = "COMMAND",
                                     .summary = "All operations",
                                     .verbs = no_verbs,
                                     .more = op_verbs };

#define WORDS_MAX 16

/* Reads a command line, its words separated by spaces. */
static err line_read(struct arena *a, struct cli *c, const char *line)
{
    char *words[WORDS_MAX] = { NULL };
    str rest = str_from(line), word;
    bool help = false;

    *c = (struct cli){ .arena = a, .root = &program, .verb = &program, .called = STR("baton") };
    bool more = true;
    for (size_t n = 0; more; n++) {
        CHECK(n + 1 < WORDS_MAX);
        more = str_cut(rest, ' ', &word, &rest);
        words[n] = (char *)arena_copy(a, word).at;
    }
    TRY(verb_enter(c, words, &help));
    CHECK(!help);
    return NULL;
}

/* METHOD TARGET BODY of what the line asks for. */
static err line_request(struct arena *a, const char *line, str *out)
{
    struct url url;
    struct op_args args;
    struct call call;
    str target;
    const struct json *input;
    struct cli c;

    CHECK_OK(url_parse(a, STR("unix:/run/baton.sock"), &url));
    TRY(line_read(a, &c, line));
    op_args_make(a, c.verb->op, &args);
    TRY(op_args_read(&c, &args, &input));
    op_call_make(a, c.verb->op, input, &call);
    TRY(url_target(a, &url, call.pattern, call.params, call.param_count, &target));
    *out = arena_printf(a, "%s " STR_FMT "%s" STR_FMT, call.method, STR_ARG(target),
                        call.body.len ? " " : "", STR_ARG(call.body));
    return NULL;
}

// clang-format off
static const struct {
    const char *line, *request;
} requests[] = {
    { "schema create orders schema.json",
      "POST /workflow-schemas {\"name\":\"orders\",\"json_schema\":{\"type\":\"object\"}}" },
    { "schema create orders @schema.json --description Orders",
      "POST /workflow-schemas {\"name\":\"orders\",\"json_schema\":{\"type\":\"object\"},\"description\":\"Orders\"}" },
    { "schema create orders true",
      "POST /workflow-schemas {\"name\":\"orders\",\"json_schema\":true}" },
    { "schema create schema.json --name orders",
      "POST /workflow-schemas {\"name\":\"orders\",\"json_schema\":{\"type\":\"object\"}}" },
    { "schema list", "GET /workflow-schemas" },
    { "schema list --limit 5 --after a&b", "GET /workflow-schemas?after=a%26b&limit=5" },
    { "schema get a/b", "GET /workflow-schemas/a%2Fb" },
    { "schema get --version=2 orders", "GET /workflow-schemas/orders?version=2" },
    { "schema check orders {\"id\":7}", "POST /workflow-schemas/orders/check {\"data\":{\"id\":7}}" },
    { "state create orders []",
      "POST /workflow-states {\"schema_name\":\"orders\",\"initial_data\":[]}" },
    { "state read wfstate_1", "GET /workflow-states/wfstate_1" },
    { "state read wfstate_1 --pointer /tasks/0", "GET /workflow-states/wfstate_1?pointer=%2Ftasks%2F0" },
    { "state update wfstate_1 {\"id\":7} --expected-version 3",
      "PUT /workflow-states/wfstate_1 {\"data\":{\"id\":7},\"expected_version\":3}" },
    { "state patch wfstate_1 patch.json",
      "PATCH /workflow-states/wfstate_1 {\"operations\":[{\"op\":\"remove\",\"path\":\"/a\"}]}" },
    { "state patch wfstate_1 {\"a\":null}",
      "PATCH /workflow-states/wfstate_1 {\"merge\":{\"a\":null}}" },
    { "state patch wfstate_1 --operations @patch.json",
      "PATCH /workflow-states/wfstate_1 {\"operations\":[{\"op\":\"remove\",\"path\":\"/a\"}]}" },
    { "state patch wfstate_1 --merge 1", "PATCH /workflow-states/wfstate_1 {\"merge\":1}" },
    { "state delete wfstate_1 --expected-version 2",
      "DELETE /workflow-states/wfstate_1?expected_version=2" },
    { "state diff wfstate_1 5 7", "GET /workflow-states/wfstate_1/diff?from=5&to=7" },
    { "state diff wfstate_1 --to 7 5", "GET /workflow-states/wfstate_1/diff?from=5&to=7" },
    { "state diff wfstate_1 5", "GET /workflow-states/wfstate_1/diff?from=5" },
    { "state rollback wfstate_1 2", "POST /workflow-states/wfstate_1/rollback {\"version\":2}" },
    { "state rollback --version 2 wfstate_1", "POST /workflow-states/wfstate_1/rollback {\"version\":2}" },
    { "token create --kind viewer", "POST /tokens {\"kind\":\"viewer\"}" },
    { "token create viewer --expires-in 60", "POST /tokens {\"kind\":\"viewer\",\"expires_in\":60}" },
    { "token revoke vw_1", "DELETE /tokens/vw_1" },
};

static const struct {
    const char *line, *message;
} refused[] = {
    { "state read", "expected STATE_ID, but found 0 arguments. See 'baton state read --help'." },
    { "state read a b", "expected STATE_ID, but found 2 arguments. See 'baton state read --help'." },
    { "schema list a", "no arguments were expected, but 'a' was found. See 'baton schema list --help'." },
    { "state rollback a b", "VERSION expects an integer, but found 'b'. See 'baton state rollback --help'." },
    { "state rollback a 1.5", "VERSION expects an integer, but found '1.5'. See 'baton state rollback --help'." },
    { "schema list --limit x", "--limit expects an integer, but found 'x'. See 'baton schema list --help'." },
    { "state update a none",
      "DATA expects JSON, the name of a file with it, or -, but found 'none'. See 'baton state update --help'." },
    { "state patch {\"a\":1}",
      "STATE_ID expects an id or a name, but found '{\"a\":1}'. See 'baton state patch --help'." },
    { "state diff a 1 x", "TO expects an integer, but found 'x'. See 'baton state diff --help'." },
    { "state diff a 1 2 3", "expected STATE_ID FROM [TO], but found 4 arguments. See 'baton state diff --help'." },
    { "state pach a", "there is no command 'pach'; did you mean 'patch'? See 'baton state --help'." },
};
// clang-format on

TEST(command_line_becomes_a_request)
{
    struct arena *a = check_arena();
    str found;

    check_write("schema.json", STR("{\"type\": \"object\"}"));
    check_write("patch.json", STR("[{\"op\": \"remove\", \"path\": \"/a\"}]"));
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        err e = line_request(a, requests[i].line, &found);
        if (e)
            check_fail(__FILE__, __LINE__, "%s: " STR_FMT, requests[i].line, STR_ARG(e->message));
        CHECK_STR(found, requests[i].request);
    }
}

/* Inside a run its own state is meant where there are too few arguments to name one. */
TEST(own_state_of_a_run_is_meant_without_an_id)
{
    static const struct {
        const char *line, *request;
    } all[] = {
        { "state read", "GET /workflow-states/wfstate_own" },
        { "state read other", "GET /workflow-states/other" },
        { "state patch {\"a\":1}", "PATCH /workflow-states/wfstate_own {\"merge\":{\"a\":1}}" },
        { "state patch other {\"a\":1}", "PATCH /workflow-states/other {\"merge\":{\"a\":1}}" },
        { "state patch other --merge 1", "PATCH /workflow-states/other {\"merge\":1}" },
        { "state patch --merge 1", "PATCH /workflow-states/wfstate_own {\"merge\":1}" },
        { "state update 7", "PUT /workflow-states/wfstate_own {\"data\":7}" },
        { "state schema", "GET /workflow-states/wfstate_own/schema" },
    };
    struct arena *a = check_arena();
    str found;

    setenv("WORKFLOW_STATE_ID", "wfstate_own", 1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CHECK_OK(line_request(a, all[i].line, &found));
        CHECK_STR(found, all[i].request);
    }
    CHECK_ERR(line_request(a, "state delete", &found), ERR_INVALID);
    setenv("WORKFLOW_STATE_ID", "", 1);
    CHECK_ERR(line_request(a, "state read", &found), ERR_INVALID);
}

TEST(command_line_that_is_wrong_is_told_what_was_expected)
{
    struct arena *a = check_arena();
    str found;

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        err e = line_request(a, refused[i].line, &found);
        CHECK_ERR(e, ERR_INVALID);
        CHECK_STR(e->message, refused[i].message);
    }
    err missing = line_request(a, "state update a none.json", &found);
    CHECK_ERR(missing, ERR_NOT_FOUND);
    CHECK_STR(missing->message, "DATA: cannot read none.json: No such file or directory");
    err e = line_request(a, "state update a {\"x\":", &found);
    CHECK_ERR(e, ERR_INVALID);
    CHECK(str_starts(e->message, STR("DATA: ")));
    CHECK_ERR(line_request(a, "state read ..", &found), ERR_INVALID);
}

/* ---- help ---- */

static void line_check(const char *line, str text)
{
    if (text.len > 80)
        check_fail(__FILE__, __LINE__, "%s: a line of more than 80 columns: " STR_FMT, line,
                   STR_ARG(text));
    if (text.len > 0 && text.at[text.len - 1] == ' ')
        check_fail(__FILE__, __LINE__, "%s: a line with nothing to say: '" STR_FMT "'", line,
                   STR_ARG(text));
}

static bool contains(struct arena *a, str text, const char *part)
{
    return strstr(arena_copy(a, text).at, part) != NULL;
}

TEST(every_operation_has_a_help_that_says_something_in_each_line)
{
    struct arena *a = check_arena();
    size_t count = 0;

    for (const struct verb *noun = op_verbs(a); noun->name; noun++) {
        CHECK(*noun->summary);
        for (const struct verb *v = noun->verbs; v && v->name; v++, count++) {
            str called = arena_printf(a, "baton %s %s", noun->name, v->name), rest, line;
            struct buf help = buf_in(a);
            verb_help(&help, v, called);
            rest = buf_str(&help);
            for (bool more = true; more;) {
                more = str_cut(rest, '\n', &line, &rest);
                line_check(called.at, line);
            }
            CHECK(contains(a, buf_str(&help), "\nexample:\n  baton "));
            CHECK(!v->op || contains(a, buf_str(&help), v->op->http));
        }
    }
    check_note("%zu operations", count);
    CHECK(count > 0);
}

/* An option of a field must not hide one that all commands have, nor another field. */
TEST(every_field_of_every_operation_can_be_given)
{
    struct arena *a = check_arena();

    for (const struct verb *noun = op_verbs(a); noun->name; noun++) {
        for (const struct verb *v = noun->verbs; v && v->name; v++) {
            struct op_args args = { .count = 0 };
            if (v->op)
                op_args_make(a, v->op, &args);
            for (size_t i = 0; i < args.count; i++)
                CHECK(args.at[i].option || i < args.required_count);
            for (const struct option *o = v->options; o->name; o++)
                for (const struct option *other = v->options; other < o; other++)
                    if (strcmp(o->name, other->name) == 0)
                        check_fail(__FILE__, __LINE__, "baton %s %s: %s is there twice", noun->name,
                                   v->name, o->name);
        }
    }
}

/* Its own, or one that was written by hand in its place. */
TEST(every_operation_for_the_command_line_is_a_command)
{
    struct arena *a = check_arena();
    const struct verb *nouns = op_verbs(a);
    struct op_table *t;

    CHECK_OK(op_table_all(a, &t));
    for (size_t i = 0; i < op_count(t); i++) {
        const struct op *op = op_at(t, i);
        str noun, name;
        str_cut(str_from(op->name), '.', &noun, &name);
        const struct verb *v = verb_find(nouns, noun);
        v = v ? verb_find(v->verbs, name) : NULL;
        if (op->on & ON_CLI)
            CHECK(v && (v->op == op || !v->op));
        else
            CHECK(!v);
    }
    op_table_free(t);
}
