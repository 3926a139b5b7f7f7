/* fuzz: src/mcp/rpc.c src/mcp/mcp.c src/mcp/era.c src/mcp/head.c src/mcp/tools.c src/mcp/tool_call.c src/mcp/tell.c src/mcp/resources.c src/mcp/listen.c src/mcp/prompts.c src/mcp/completion.c src/mcp/tasks.c src/mcp/rounds.c test/suites/fixtures.c */
/* mcp.c: a message of MCP: a line of letters that say how it comes, its head, and its body.
 *
 *   hc
 *   MCP-Protocol-Version: 2026-07-28
 *
 *   {"jsonrpc":"2.0", …
 *
 * h: by HTTP, so the head counts; s: in a session; f: with fixtures; c, r, v: a child's, a root's,
 * a viewer's token, else the operator's; n, x, w: operations find nothing, are in conflict, or fail.
 *
 * Whatever comes, the process lives, and the answer is one line of JSON-RPC with the request's id;
 * one of 2026-07-28 tells its kind; and with fixtures no operation is performed. Operations are
 * answered by what their output schema describes. */
#include <assert.h>
#include <stdlib.h>
#include <strings.h>

#include "core/tx.h"
#include "mcp/mcp.h"
#include "suites/suites.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* More operations for one message, and more steps of a stream, than any needs. */
enum { PERFORMED_MAX = 128, STEPS_MAX = 256 };

static struct op_table *table;
static struct mcp *real;

/* ---- what operations answer ---- */

static struct json value_of(struct arena *a, const struct json *schema, int depth);

static struct json object_of(struct arena *a, const struct json *schema, int depth)
{
    const struct json *properties = json_get(schema, "properties");
    struct json object = json_object();

    for (uint32_t i = 0; properties && i < properties->len; i++)
        json_put(a, &object, json_name(&properties->members[i]),
                 value_of(a, &properties->members[i].value, depth + 1));
    return object;
}

/* The first value that a schema of ours lets through. */
static struct json value_of(struct arena *a, const struct json *schema, int depth)
{
    const struct json *values = json_get(schema, "enum"), *type = json_get(schema, "type");
    const struct json *items = json_get(schema, "items");
    struct json list = json_array();

    assert(depth < JSON_DEPTH_MAX);
    if (values)
        return values->items[0];
    if (json_is(type, JSON_ARRAY))
        type = &type->items[0];
    if (!type || str_eq(json_text(type), STR("object")))
        return object_of(a, schema, depth);
    if (str_eq(json_text(type), STR("string")))
        return json_string(json_get(schema, "format") ? STR("2025-01-15T10:35:00Z") : STR("x_1"));
    if (str_eq(json_text(type), STR("integer")) || str_eq(json_text(type), STR("number")))
        return json_int(a, 1);
    if (str_eq(json_text(type), STR("boolean")))
        return json_bool(true);
    if (items)
        json_push(a, &list, value_of(a, items, depth + 1));
    return list;
}

static void perform(struct mcp_call *m, str how)
{
    static const struct {
        char letter;
        enum error_kind kind;
    } errors[] = { { 'n', ERR_NOT_FOUND }, { 'x', ERR_CONFLICT }, { 'w', ERR_INTERNAL } };
    struct command done = { .arena = m->arena, .op = m->op, .input = m->input, .actor = m->actor };
    const struct json *schema;

    assert(m->op && json_is(m->input, JSON_OBJECT));
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (str_find(how, errors[i].letter) < how.len)
            done.error = err_new(m->arena, errors[i].kind, "it went wrong");
    if (!done.error) {
        err e = json_parse(m->arena, str_from(m->op->output), NULL, &schema);
        assert(!e);
        struct json answer = value_of(m->arena, schema, 0);
        done.answer.text = json_printed(m->arena, &answer);
        done.answer.version = 1;
    }
    mcp_performed(m, &done);
}

/* ---- what is answered ---- */

static const struct json *line_of(struct arena *a, str text)
{
    const struct json_limits wide = { .depth_max = 2 * JSON_DEPTH_MAX };
    const struct json *message;
    err e = json_parse(a, text, &wide, &message);

    assert(!e && str_eq(json_str(message, "jsonrpc"), STR("2.0")));
    assert(str_find(text, '\n') == text.len);
    return message;
}

static void check_answer(struct mcp_call *m)
{
    const struct json *message = line_of(m->arena, m->answer), *id = json_get(message, "id");
    const struct json *result = json_get(message, "result"), *error = json_get(message, "error");

    assert(!result != !error);
    assert(m->status == 200 || (error && (m->status == 400 || m->status == 404)));
    if (m->message.kind == RPC_REQUEST && m->message.id)
        assert(id && json_equal(id, m->message.id));
    else
        assert(!id && error);
    if (error)
        assert(json_int_or(error, "code", 0) < 0 && json_str(error, "message").len);
    if (result && mcp_is_modern(m->client.version))
        assert(json_str(result, "resultType").len);
}

/* A stream up to its end. A client that is asked answers nothing that fits. */
static void check_play(struct mcp_call *m)
{
    struct mcp_play p = { .number = 0 };
    const struct json empty = json_object();
    const struct rpc reply = { .kind = RPC_RESPONSE, .result = &empty };

    for (; p.number < STEPS_MAX; p.number++) {
        mcp_play(m, &p);
        if (p.step == MCP_STEP_END)
            break;
        if (p.step == MCP_STEP_SEND || p.step == MCP_STEP_ASK)
            line_of(m->arena, p.text);
        p.reply = p.step == MCP_STEP_ASK ? &reply : NULL;
    }
    assert(p.step == MCP_STEP_END);
    check_answer(m);
}

/* ---- how it comes ---- */

/* HTTP lets no field pass that has one of these. */
static bool has_controls(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (((unsigned char)s.at[i] < 0x20 && s.at[i] != '\t') || s.at[i] == 0x7f)
            return true;
    return false;
}

/* `self` is the text of the head. */
static bool find_field(const void *self, const char *name, str *value)
{
    str rest = *(const str *)self, line, found;

    for (bool more = true; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        if (str_cut(line, ':', &found, value) && found.len == strlen(name) &&
            strncasecmp(found.at, name, found.len) == 0)
            return !has_controls(*value);
    }
    return false;
}

static const struct actor *actor_of(str how)
{
    static const struct actor actors[] = {
        { .kind = ACTOR_OPERATOR, .name = { "operator", 8 } },
        { .kind = ACTOR_SESSION,
          .name = { "child", 5 },
          .session_id = { "ses_2", 5 },
          .state_id = { "wfstate_1", 9 },
          .is_child = true },
        { .kind = ACTOR_SESSION,
          .name = { "root", 4 },
          .session_id = { "ses_1", 5 },
          .is_attended = true },
        { .kind = ACTOR_VIEWER, .name = { "viewer", 6 } },
    };
    static const char letters[] = "ocrv";

    for (size_t i = 0; i < how.len; i++) {
        const char *at = memchr(letters, how.at[i], sizeof letters - 1);
        if (at)
            return &actors[at - letters];
    }
    return &actors[0];
}

/* Splits at the first empty line. */
static void split(str text, str *head, str *body)
{
    for (size_t i = 0; i + 1 < text.len; i++)
        if (text.at[i] == '\n' && text.at[i + 1] == '\n') {
            *head = str_slice(text, 0, i);
            *body = str_slice(text, i + 2, text.len);
            return;
        }
    *head = STR("");
    *body = text;
}

static void message_run(struct mcp *mcp, struct arena *a, str how, const str *head, str body)
{
    static const struct mcp_client session = { .version = MCP_2025_11_25, .elicits_form = true };
    bool fixtures = str_find(how, 'f') < how.len;
    struct mcp_call m = { .arena = a, .mcp = mcp, .now_ms = 1736937300000 };
    int performed = 0;

    m.actor = fixtures ? NULL : actor_of(how);
    m.session = str_find(how, 's') < how.len ? &session : NULL;
    if (str_find(how, 'h') < how.len)
        m.head = (struct mcp_head){ find_field, head };
    mcp_begin(&m, body);
    while (m.next == MCP_PERFORM) {
        assert(!fixtures && ++performed < PERFORMED_MAX);
        perform(&m, how);
    }
    if (m.next == MCP_ACCEPTED)
        assert(m.status == 202 && m.message.kind != RPC_REQUEST);
    else if (m.next == MCP_LISTEN)
        line_of(a, m.answer);
    else if (m.next == MCP_PLAY)
        check_play(&m);
    else
        check_answer(&m);
}

static struct mcp *mcp_open(bool fixtures)
{
    return mcp_new(&(struct mcp_options){ .table = table,
                                          .version = "1.0.0",
                                          .served = fixtures ? &mcp_fixtures : NULL,
                                          .wait_ms = 45000 });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str text = size ? (str){ (const char *)data, size } : STR(""), how, head, body;

    if (!table) {
        err e = op_table_all(a, &table);
        assert(!e);
        real = mcp_open(false);
    }
    if (!str_cut(text, '\n', &how, &text))
        text = STR("");
    split(text, &head, &body);
    /* The fixtures remember what was done with them: each input begins with new ones. */
    struct mcp *fixtures = str_find(how, 'f') < how.len ? mcp_open(true) : NULL;
    message_run(fixtures ? fixtures : real, a, how, &head, body);
    mcp_free(fixtures);
    arena_free(a);
    return 0;
}
