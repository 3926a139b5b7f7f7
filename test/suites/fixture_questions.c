/* fixture_questions.c: what a client is asked, and what it answers.
 *
 * A question looks the same to an older client, which gets it as a request of ours, and to a newer
 * one, which gets it in a result; so do the answers. */
#include "suites/fixture.h"
#include "mcp/write.h"

// clang-format off
static const struct { const char *method, *capability; } kinds[] = {
    [ASK_FORM]  = { "elicitation/create",     "elicitation" },
    [ASK_MODEL] = { "sampling/createMessage", "sampling"    },
    [ASK_ROOTS] = { "roots/list",             "roots"       },
};

/* What an answer looks like, whatever was asked. */
static const char *const answers[] = {
    [ASK_FORM] = JSON({
        "type": "object", "required": ["action"],
        "properties": {
            "action": { "enum": ["accept", "decline", "cancel"] }, "content": { "type": "object" } },
        "if": { "properties": { "action": { "const": "accept" } } }, "then": { "required": ["content"] } }),
    [ASK_MODEL] = JSON({
        "type": "object", "required": ["role", "content", "model"],
        "properties": {
            "role": { "const": "assistant" }, "model": { "type": "string" },
            "content": {
                "type": "object", "required": ["type", "text"],
                "properties": { "type": { "const": "text" }, "text": { "type": "string" } } } } }),
    [ASK_ROOTS] = JSON({
        "type": "object", "required": ["roots"],
        "properties": {
            "roots": {
                "type": "array",
                "items": {
                    "type": "object", "required": ["uri"],
                    "properties": { "uri": { "type": "string" }, "name": { "type": "string" } } } } } }),
};
// clang-format on

const char *fixture_question_method(const struct fixture_question *q)
{
    return kinds[q->kind].method;
}

/* ---- asking ---- */

static void write_form(struct json_writer *w, const struct fixture_question *q, str text)
{
    write_text(w, STR("message"), text);
    write_printed(w, STR("requestedSchema"), str_from(q->schema));
}

static void write_prompt(struct json_writer *w, const struct fixture_question *q, str text)
{
    write_user_message(w, text);
    write_int(w, STR("maxTokens"), q->tokens_max);
}

void fixture_write_question(struct json_writer *w, const struct fixture_question *q, str text)
{
    if (!text.len)
        text = str_from(q->text);
    json_write_begin(w, '{');
    if (q->kind == ASK_FORM)
        write_form(w, q, text);
    else if (q->kind == ASK_MODEL)
        write_prompt(w, q, text);
    json_write_end(w, '}');
}

void fixture_write_request(struct json_writer *w, const struct fixture_question *q)
{
    write_begin(w, str_from(q->key), '{');
    write_text(w, STR("method"), str_from(kinds[q->kind].method));
    json_write_name(w, STR("params"));
    fixture_write_question(w, q, STR(""));
    json_write_end(w, '}');
}

bool fixture_can_ask(const struct mcp_call *m, const struct fixture_question *q)
{
    switch (q->kind) {
    case ASK_FORM: return m->client.elicits_form;
    case ASK_MODEL: return m->client.samples;
    default: return m->client.roots;
    }
}

bool fixture_must_ask(struct mcp_call *m, const struct fixture_question *q)
{
    const char *capability = kinds[q->kind].capability;

    if (fixture_can_ask(m, q))
        return true;
    mcp_refuse(m, RPC_CAPABILITY,
               arena_printf(m->arena, "{\"requiredCapabilities\":{\"%s\":{}}}", capability),
               "this needs a client with the capability %s, which was not declared", capability);
    return false;
}

/* ---- answers ---- */

static bool is_accepted(const struct json *answer)
{
    return str_eq(json_str(answer, "action"), STR("accept"));
}

bool fixture_fits(struct mcp_call *m, const struct fixture_question *q, const struct json *answer)
{
    if (!answer || fixture_violations(m, answers[q->kind], answer).len)
        return false;
    return q->kind != ASK_FORM || !is_accepted(answer) ||
           !fixture_violations(m, q->schema, json_get(answer, "content")).len;
}

static str roots_text(struct arena *a, const struct json *answer)
{
    const struct json *roots = json_get(answer, "roots"), *root;
    struct buf text = buf_in(a);

    for (size_t i = 0; (root = json_at(roots, i)); i++)
        buf_printf(&text, "%s" STR_FMT, i ? ", " : "", STR_ARG(json_str(root, "uri")));
    return text.len ? buf_str(&text) : STR("none");
}

str fixture_answer_text(struct arena *a, const struct fixture_question *q,
                        const struct json *answer)
{
    static const struct json nothing = { .kind = JSON_OBJECT };
    const struct json *content = json_get(answer, "content");

    switch (q->kind) {
    case ASK_MODEL: return json_str(content, "text");
    case ASK_ROOTS: return roots_text(a, answer);
    default:
        return arena_printf(a, "action=" STR_FMT ", content=" STR_FMT,
                            STR_ARG(json_str(answer, "action")),
                            STR_ARG(json_printed(a, content ? content : &nothing)));
    }
}
