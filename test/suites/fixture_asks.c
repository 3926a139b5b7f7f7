/* fixture_asks.c: the suite's tools that ask something of an older client, by a request of ours on
 * the stream of its own. */
#include "suites/fixture.h"

/* ---- asking ---- */

struct asking {
    const struct fixture_question *question;
    str text; /* an argument that is asked instead of the question's own text */
    str id;
};

static str request(struct mcp_call *m, const struct asking *a)
{
    struct buf out = buf_in(m->arena);
    struct json_writer w = json_writer_to(&out);

    rpc_begin_request(&w, a->id, str_from(fixture_question_method(a->question)));
    fixture_write_question(&w, a->question, a->text);
    rpc_end(&w);
    return buf_str(&out);
}

static void answer(struct mcp_call *m, const struct asking *a, const struct rpc *reply)
{
    const struct fixture_question *q = a->question;

    if (!reply)
        tool_answer_text(m, STR("the client did not answer"), true);
    else if (reply->error)
        tool_answer_text(m,
                         arena_printf(m->arena, "the client refused: " STR_FMT,
                                      STR_ARG(json_str(reply->error, "message"))),
                         true);
    else if (!fixture_fits(m, q, reply->result))
        tool_answer_text(m,
                         arena_printf(m->arena, "expected an answer to %s, found " STR_FMT,
                                      fixture_question_method(q),
                                      STR_ARG(json_printed(m->arena, reply->result))),
                         true);
    else
        tool_answer_text(m,
                         arena_printf(m->arena, "%s: " STR_FMT, q->key,
                                      STR_ARG(fixture_answer_text(m->arena, q, reply->result))),
                         false);
}

static void play(struct mcp_call *m, struct mcp_play *p)
{
    const struct asking *a = m->own;

    if (p->number == 0) {
        p->step = MCP_STEP_ASK;
        p->text = request(m, a);
        p->ask_id = a->id;
        return;
    }
    answer(m, a, p->reply);
    p->step = MCP_STEP_END;
}

static void ask(struct mcp_call *m, const struct fixture_tool *tool, const struct json *arguments)
{
    struct asking *a = ARENA_NEW(m->arena, struct asking);

    if (!fixture_can_ask(m, tool->question)) {
        tool_answer_text(m,
                         arena_printf(m->arena, "this client cannot be asked by %s",
                                      fixture_question_method(tool->question)),
                         true);
        return;
    }
    a->question = tool->question;
    a->text = json_str(arguments, tool->question->kind == ASK_MODEL ? "prompt" : "message");
    a->id = arena_printf(m->arena, "fixture-%lld", (long long)++fixtures_of(m)->asked);
    m->own = a;
    m->play = play;
    m->next = MCP_PLAY;
}

/* ---- the table ---- */

// clang-format off
#define USER_FORM JSON({                                                                           \
    "type": "object", "required": ["username", "email"],                                           \
    "properties": {                                                                                \
        "username": { "type": "string", "description": "User's response" },                        \
        "email":    { "type": "string", "description": "User's email address" } } })

#define DEFAULTS_FORM JSON({                                                                       \
    "type": "object",                                                                              \
    "properties": {                                                                                \
        "name":     { "type": "string", "default": "John Doe" },                                   \
        "age":      { "type": "integer", "default": 30 },                                          \
        "score":    { "type": "number", "default": 95.5 },                                         \
        "status":   { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" }, \
        "verified": { "type": "boolean", "default": true } } })

#define ENUMS_FORM JSON({                                                                          \
    "type": "object",                                                                              \
    "properties": {                                                                                \
        "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },         \
        "titledSingle": {                                                                          \
            "type": "string",                                                                      \
            "oneOf": [{ "const": "value1", "title": "First Option" },                              \
                      { "const": "value2", "title": "Second Option" },                             \
                      { "const": "value3", "title": "Third Option" }] },                           \
        "legacyEnum": {                                                                            \
            "type": "string", "enum": ["opt1", "opt2", "opt3"],                                    \
            "enumNames": ["Option One", "Option Two", "Option Three"] },                           \
        "untitledMulti": {                                                                         \
            "type": "array", "items": { "type": "string", "enum": ["option1", "option2", "option3"] } }, \
        "titledMulti": {                                                                           \
            "type": "array",                                                                       \
            "items": { "anyOf": [{ "const": "value1", "title": "First Choice" },                   \
                                 { "const": "value2", "title": "Second Choice" },                  \
                                 { "const": "value3", "title": "Third Choice" }] } } } })

/* The key stands before what was answered. */
static const struct fixture_question
    sampling    = { "LLM response", ASK_MODEL, "", NULL, 100 },
    elicitation = { "User response", ASK_FORM, "", USER_FORM, 0 },
    defaults    = { "Elicitation completed", ASK_FORM, "Please check what is filled in", DEFAULTS_FORM, 0 },
    enums       = { "Elicitation completed", ASK_FORM, "Please choose", ENUMS_FORM, 0 };

#define PROMPT_INPUT JSON({                                                                        \
    "type": "object", "required": ["prompt"],                                                      \
    "properties": { "prompt": { "type": "string", "minLength": 1, "description": "What the model is asked." } } })
#define MESSAGE_INPUT JSON({                                                                       \
    "type": "object", "required": ["message"],                                                     \
    "properties": { "message": { "type": "string", "minLength": 1, "description": "What the user is shown." } } })

static const struct fixture_tool tools[] = {
    { "test_sampling", "Asks the client's model.", PROMPT_INPUT, ERA_LEGACY, .call = ask, .question = &sampling },
    { "test_elicitation", "Asks the user for a name and an address.", MESSAGE_INPUT, ERA_LEGACY, .call = ask, .question = &elicitation },
    { "test_elicitation_sep1034_defaults", "Asks by a form that is filled in already.", NULL, ERA_LEGACY, .call = ask, .question = &defaults },
    { "test_elicitation_sep1330_enums", "Asks by a form with every kind of choice.", NULL, ERA_LEGACY, .call = ask, .question = &enums },
};
// clang-format on

const struct fixture_tools fixture_ask_tools = { tools, sizeof tools / sizeof tools[0] };
