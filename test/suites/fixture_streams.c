/* fixture_streams.c: the suite's tools that say something while they work: each is a list of steps.
 *
 * The pauses are real, and so is the cut: a client that wants the rest comes back for it. */
#include <assert.h>

#include "suites/fixture.h"
#include "mcp/write.h"

enum step_kind { STEP_LOG, STEP_PROGRESS, STEP_PAUSE, STEP_CUT, STEP_ASK, STEP_END };

struct fixture_step {
    enum step_kind kind;
    const char *text;
    int number; /* of a hundred; milliseconds */
    const struct fixture_rounds *rounds;
};

/* ---- log messages ---- */

static const char *const levels[] = { "debug", "info",     "notice", "warning",
                                      "error", "critical", "alert",  "emergency" };

#define LEVELS (int)(sizeof levels / sizeof levels[0])
#define LEVEL_OF_STEPS 1

/* LEVELS: there is no such level. */
static int level_of(str name)
{
    int level = 0;

    while (level < LEVELS && !str_eq(name, str_from(levels[level])))
        level++;
    return level;
}

/* A client of today hears nothing unless its request says from which level on. */
static bool wants_log(const struct mcp_call *m)
{
    const struct json *meta = json_get(m->message.params, "_meta");

    return mcp_is_modern(m->client.version)
               ? level_of(json_str(meta, "io.modelcontextprotocol/logLevel")) <= LEVEL_OF_STEPS
               : m->client.log_level <= LEVEL_OF_STEPS;
}

void fixture_set_level(struct mcp_call *m)
{
    str name;

    if (!mcp_param_str(m, "level", true, &name))
        return;
    int level = level_of(name);
    if (level == LEVELS) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "there is no level " STR_FMT, STR_ARG(name));
        return;
    }
    m->client.log_level = level;
    mcp_result_begin(m);
    mcp_result_end(m);
    m->next = MCP_SET_LEVEL;
}

/* ---- steps ---- */

static str log_message(struct mcp_call *m, const char *text)
{
    struct buf out = buf_in(m->arena);
    struct json_writer w = json_writer_to(&out);

    rpc_begin_notification(&w, STR("notifications/message"));
    json_write_begin(&w, '{');
    write_text(&w, STR("level"), str_from(levels[LEVEL_OF_STEPS]));
    write_text(&w, STR("logger"), STR("fixtures"));
    write_text(&w, STR("data"), str_from(text));
    json_write_end(&w, '}');
    rpc_end(&w);
    return buf_str(&out);
}

static str progress_message(struct mcp_call *m, int progress)
{
    struct buf out = buf_in(m->arena);
    struct json_writer w = json_writer_to(&out);

    rpc_begin_notification(&w, STR("notifications/progress"));
    json_write_begin(&w, '{');
    write_printed(&w, STR("progressToken"), m->progress_token);
    write_int(&w, STR("progress"), progress);
    write_int(&w, STR("total"), 100);
    json_write_end(&w, '}');
    rpc_end(&w);
    return buf_str(&out);
}

static void send(struct mcp_play *p, str text)
{
    p->step = MCP_STEP_SEND;
    p->text = text;
}

static void pause(struct mcp_play *p, int64_t ms)
{
    p->step = MCP_STEP_PAUSE;
    p->pause_ms = ms;
}

/* What nobody has asked for is not said. */
static void play(struct mcp_call *m, struct mcp_play *p)
{
    const struct fixture_step *step = (const struct fixture_step *)m->own + p->number;

    switch (step->kind) {
    case STEP_LOG:
        if (wants_log(m))
            send(p, log_message(m, step->text));
        else
            pause(p, 0);
        return;
    case STEP_PROGRESS:
        if (m->progress_token.len)
            send(p, progress_message(m, step->number));
        else
            pause(p, 0);
        return;
    case STEP_PAUSE: pause(p, step->number); return;
    case STEP_CUT: p->step = MCP_STEP_CUT; return;
    case STEP_ASK: fixture_run_rounds(m, step->rounds); break;
    case STEP_END: tool_answer_text(m, str_from(step->text), false); break;
    }
    p->step = MCP_STEP_END;
}

static void start(struct mcp_call *m, const struct fixture_tool *tool, const struct json *arguments)
{
    (void)arguments;
    m->own = (void *)tool->script;
    m->play = play;
    m->next = MCP_PLAY;
}

/* Once the stream has begun it is too late to refuse the request. */
static void start_asking(struct mcp_call *m, const struct fixture_tool *tool,
                         const struct json *arguments)
{
    if (fixture_must_ask(m, tool->question))
        start(m, tool, arguments);
}

/* For a client that does not know tasks, a long work is a stream with nothing in it but the end. */
void fixture_play_wait(struct mcp_call *m, int64_t ms, str text)
{
    struct fixture_step *script = ARENA_ARRAY(m->arena, struct fixture_step, 2);

    assert(ms >= 0 && ms <= INT32_MAX);
    script[0] = (struct fixture_step){ STEP_PAUSE, NULL, (int)ms, NULL };
    script[1] = (struct fixture_step){ STEP_END, text.at, 0, NULL };
    m->own = script;
    m->play = play;
    m->next = MCP_PLAY;
}

/* ---- the table ---- */

/* Asked in the last message of a stream: what comes before it is never a request. */
static void say_color(struct mcp_call *m, const struct json *answers)
{
    str color = json_str(json_get(json_get(answers, "color"), "content"), "color");

    tool_answer_text(m,
                     arena_printf(m->arena, "The color is " STR_FMT ".",
                                  STR_ARG(color.len ? color : STR("a secret"))),
                     false);
}

// clang-format off
static const struct fixture_question color[] = {
    { "color", ASK_FORM, "Which color?",
      JSON({ "type": "object", "properties": { "color": { "type": "string" } }, "required": ["color"] }), 0 },
    { 0 },
};

static const struct fixture_rounds asks_color = { .rounds = { color }, .finish = say_color };

static const struct fixture_step
    logging[] = {
        { STEP_LOG, "Tool execution started", 0, NULL },   { STEP_PAUSE, NULL, 50, NULL },
        { STEP_LOG, "Tool processing data", 0, NULL },     { STEP_PAUSE, NULL, 50, NULL },
        { STEP_LOG, "Tool execution completed", 0, NULL }, { STEP_END, "Tool with logging executed successfully", 0, NULL } },
    progress[] = {
        { STEP_PROGRESS, NULL, 0, NULL },   { STEP_PAUSE, NULL, 50, NULL },
        { STEP_PROGRESS, NULL, 50, NULL },  { STEP_PAUSE, NULL, 50, NULL },
        { STEP_PROGRESS, NULL, 100, NULL }, { STEP_END, "Tool with progress executed successfully", 0, NULL } },
    reconnection[] = {
        { STEP_CUT, NULL, 0, NULL }, { STEP_PAUSE, NULL, 100, NULL },
        { STEP_END, "The connection was cut, and this is the rest.", 0, NULL } },
    streaming[] = {
        { STEP_PROGRESS, NULL, 0, NULL },   { STEP_PAUSE, NULL, 20, NULL },
        { STEP_PROGRESS, NULL, 100, NULL }, { STEP_ASK, NULL, 0, &asks_color } };

static const struct fixture_tool tools[] = {
    { "test_tool_with_logging", "Writes to the log while it works.", NULL, ERA_BOTH, .call = start, .script = logging },
    { "test_logging_tool", "Writes to the log of those who asked for it.", NULL, ERA_BOTH, .call = start, .script = logging },
    { "test_tool_with_progress", "Tells how far it is.", NULL, ERA_BOTH, .call = start, .script = progress },
    { "test_reconnection", "Ends the connection before it answers.", NULL, ERA_LEGACY, .call = start, .script = reconnection },
    { "test_streaming_elicitation", "Tells how far it is, then asks for a color.", NULL, ERA_MODERN, .call = start_asking, .question = color, .script = streaming },
};
// clang-format on

const struct fixture_tools fixture_stream_tools = { tools, sizeof tools / sizeof tools[0] };
