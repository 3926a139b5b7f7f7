/* scripted.c: an agent that does what a scenario says. */
#include "runner/scripted.h"

#include "json/schema/schema.h"

enum { HOOK_ROUNDS_MAX = 20, FILE_POLL_MS = 20 };

#define JSON(...) #__VA_ARGS__

/* ---- reading ---- */

// clang-format off
static const char scenario_schema[] = JSON({
    "type": "object",
    "additionalProperties": false,
    "properties": {
        "work": { "$ref": "#/$defs/steps" },
        "state_update": { "type": "array", "items": { "$ref": "#/$defs/steps" } },
        "callback": { "$ref": "#/$defs/steps" }
    },
    "$defs": {
        "steps": { "type": "array", "items": { "$ref": "#/$defs/step" } },
        "step": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": false,
            "properties": {
                "say": { "type": "string" },
                "call": {
                    "type": "object",
                    "required": ["op"],
                    "additionalProperties": false,
                    "properties": {
                        "op": { "type": "string" },
                        "input": { "type": "object" },
                        "expect": { "type": "integer", "minimum": 100, "maximum": 599 }
                    }
                },
                "record": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                        "artifacts": { "type": "object" },
                        "error": { "type": "string" }
                    }
                },
                "start": {
                    "type": "object",
                    "required": ["session_name", "prompt"],
                    "additionalProperties": false,
                    "properties": {
                        "session_name": { "type": "string" },
                        "prompt": { "type": ["string", "object"] },
                        "agent": { "type": "string" },
                        "mode": { "enum": ["sync", "async_poll", "async_callback"] }
                    }
                },
                "cost_usd": { "type": "number", "minimum": 0 },
                "tokens": { "type": "array", "minItems": 2, "maxItems": 2,
                            "items": { "type": "integer", "minimum": 0 } },
                "sleep_ms": { "type": "integer", "minimum": 0 },
                "wait_file": { "type": "string", "minLength": 1 },
                "touch": { "type": "string", "minLength": 1 },
                "stop_hook": { "const": true },
                "stall": { "const": true },
                "exit": { "type": "integer", "minimum": 0, "maximum": 255 }
            }
        }
    }
});
// clang-format on

static err scenario_check(struct arena *a, const struct json *scenario)
{
    const struct json *text;
    struct schema *program;

    TRY(json_parse(a, str_from(scenario_schema), NULL, &text));
    TRY(schema_compile(a, text, NULL, &program));
    err e = schema_require(a, program, scenario);
    schema_free(program);
    return e ? err_new(a, ERR_INVALID, "this is no scenario: " STR_FMT, STR_ARG(e->message)) : NULL;
}

/* Behind the brace that ends the object which begins at `from`; where none does, behind the last one. */
static size_t object_end(str text, size_t from)
{
    bool quoted = false;
    size_t depth = 0, last = from;

    for (size_t i = from; i < text.len; i++) {
        char c = text.at[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (c == '{' && !quoted)
            depth++;
        else if (c == '}' && !quoted && --depth == 0)
            return i + 1;
    }
    for (size_t i = from; i < text.len; i++)
        last = text.at[i] == '}' ? i + 1 : last;
    return last;
}

err scripted_read(struct arena *a, str prompt, const struct json **out)
{
    size_t from = str_find(prompt, '{'), to = object_end(prompt, from);

    if (to <= from)
        return err_new(a, ERR_INVALID,
                       "a scripted agent expects its scenario in the prompt: a JSON object like "
                       "{\"work\":[{\"say\":\"done\"}]}, found none");
    err e = json_parse(a, arena_copy(a, str_slice(prompt, from, to)), NULL, out);
    if (e)
        return err_within(a, e, "a scripted agent expects one JSON object in the prompt");
    return scenario_check(a, *out);
}

/* ---- one turn ---- */

struct play {
    struct arena *arena;
    const struct json *scenario;
    const struct scripted_turn *turn;
    const struct scripted_io *io;
    str said; /* last */
    const struct json *cost;
    int64_t tokens_in, tokens_out;
    bool over; /* ended by a step */
    int exit;
};

static err emit(struct play *p, const char *type, const char *name, str value)
{
    struct json line = json_object();

    json_put(p->arena, &line, STR("type"), json_string(str_from(type)));
    json_put(p->arena, &line, str_from(name), json_string(value));
    return p->io->emit(p->io->self, p->arena, &line);
}

static err tell_result(struct play *p)
{
    struct arena *a = p->arena;
    struct json line = json_object(), usage = json_object();

    json_put(a, &usage, STR("input_tokens"), json_int(a, p->tokens_in));
    json_put(a, &usage, STR("output_tokens"), json_int(a, p->tokens_out));
    json_put(a, &usage, STR("cached_tokens"), json_int(a, 0));
    json_put(a, &usage, STR("cost_usd"), p->cost ? *p->cost : json_int(a, 0));
    json_put(a, &line, STR("type"), json_string(STR("result")));
    json_put(a, &line, STR("text"), json_string(p->said.len ? p->said : STR("done")));
    json_put(a, &line, STR("usage"), usage);
    return p->io->emit(p->io->self, a, &line);
}

/* ---- steps ---- */

static err steps_play(struct play *p, const struct json *steps);

static err say_play(struct play *p, const struct json *step)
{
    p->said = json_text(step);
    return emit(p, "say", "text", p->said);
}

/* What an answer says against an operation. */
static err unexpected(struct play *p, str op, int64_t expected, int status,
                      const struct json *answer)
{
    str detail = json_str(answer, "detail");
    struct buf wanted = buf_in(p->arena);

    if (expected)
        buf_printf(&wanted, "%lld", (long long)expected);
    else
        buf_add(&wanted, STR("a success"));
    return err_new(p->arena, ERR_CONFLICT, STR_FMT ": expected " STR_FMT ", found %d%s" STR_FMT,
                   STR_ARG(op), STR_ARG(buf_str(&wanted)), status, detail.len ? ": " : "",
                   STR_ARG(detail));
}

static err operation(struct play *p, str op, const struct json *input, int64_t expected,
                     const struct json **answer)
{
    int status;

    TRY(p->io->call(p->io->self, p->arena, op, input, &status, answer));
    bool good = expected ? status == expected : status >= 200 && status < 300;
    return good ? NULL : unexpected(p, op, expected, status, *answer);
}

static err call_play(struct play *p, const struct json *step)
{
    const struct json *input = json_get(step, "input"), *answer;
    struct json none = json_object();

    return operation(p, json_str(step, "op"), input ? input : &none, json_int_or(step, "expect", 0),
                     &answer);
}

static err record_play(struct play *p, const struct json *step)
{
    const struct json *artifacts = json_get(step, "artifacts"), *answer;
    str error = json_str(step, "error");
    struct json input = json_object();
    struct arena *a = p->arena;

    json_put(a, &input, STR("workflow_id"), json_string(p->turn->workflow_id));
    json_put(a, &input, STR("status"), json_string(error.len ? STR("failed") : STR("completed")));
    if (error.len)
        json_put(a, &input, STR("error"), json_string(error));
    else
        json_put(a, &input, STR("artifacts"), artifacts ? *artifacts : json_object());
    return operation(p, STR("step.update"), &input, 0, &answer);
}

static err start_play(struct play *p, const struct json *step)
{
    struct arena *a = p->arena;
    const struct json *prompt = json_get(step, "prompt"), *answer;
    str agent = json_str(step, "agent"), mode = json_str(step, "mode");
    struct json input = json_object(), demands = json_object();

    json_put(a, &input, STR("type"), json_string(STR("start_session")));
    json_put(a, &input, STR("session_name"), json_string(json_str(step, "session_name")));
    json_put(a, &input, STR("prompt"),
             json_string(json_is(prompt, JSON_STRING) ? json_text(prompt)
                                                      : json_printed(a, prompt)));
    json_put(a, &demands, STR("profile"), json_string(STR("scripted")));
    if (agent.len)
        json_put(a, &input, STR("agent_name"), json_string(agent));
    else
        json_put(a, &input, STR("demands"), demands);
    if (mode.len)
        json_put(a, &input, STR("execution_mode"), json_string(mode));
    return operation(p, STR("run.create"), &input, 0, &answer);
}

static err cost_play(struct play *p, const struct json *step)
{
    p->cost = step;
    return NULL;
}

static err tokens_play(struct play *p, const struct json *step)
{
    int64_t in = 0, out = 0;

    json_to_int(json_at(step, 0), &in);
    json_to_int(json_at(step, 1), &out);
    p->tokens_in += in;
    p->tokens_out += out;
    return NULL;
}

static err sleep_play(struct play *p, const struct json *step)
{
    int64_t ms = 0;

    json_to_int(step, &ms);
    return p->io->pause(p->io->self, p->arena, ms);
}

static err wait_file_play(struct play *p, const struct json *step)
{
    while (!p->io->exists(p->io->self, json_text(step)))
        TRY(p->io->pause(p->io->self, p->arena, FILE_POLL_MS));
    return NULL;
}

static err touch_play(struct play *p, const struct json *step)
{
    return p->io->touch(p->io->self, p->arena, json_text(step));
}

static err stall_play(struct play *p, const struct json *step)
{
    (void)step;
    return p->io->pause(p->io->self, p->arena, INT64_MAX);
}

static err exit_play(struct play *p, const struct json *step)
{
    int64_t code = 0;

    json_to_int(step, &code);
    p->exit = (int)code;
    p->over = true;
    return NULL;
}

/* Each refusal to let it stop is one more request to record its result. */
static err stop_hook_play(struct play *p, const struct json *step)
{
    struct json input = json_object();
    const struct json *answer, *updates = json_get(p->scenario, "state_update");

    (void)step;
    json_put(p->arena, &input, STR("session_id"), json_string(p->turn->session_id));
    json_put(p->arena, &input, STR("event_type"), json_string(STR("session_stop")));
    for (size_t round = 0; round < HOOK_ROUNDS_MAX && !p->over; round++) {
        TRY(operation(p, STR("session.event"), &input, 0, &answer));
        if (!str_eq(json_str(answer, "decision"), STR("block")))
            return NULL;
        TRY(steps_play(p, json_at(updates, round)));
    }
    return p->over ? NULL
                   : err_new(p->arena, ERR_LIMIT, "was not allowed to stop %d times in a row",
                             HOOK_ROUNDS_MAX);
}

static const struct {
    const char *name;
    err (*play)(struct play *p, const struct json *step);
} kinds[] = {
    { "say", say_play },
    { "call", call_play },
    { "start", start_play },
    { "record", record_play },
    { "cost_usd", cost_play },
    { "tokens", tokens_play },
    { "sleep_ms", sleep_play },
    { "touch", touch_play },
    { "wait_file", wait_file_play },
    { "stop_hook", stop_hook_play },
    { "stall", stall_play },
    { "exit", exit_play },
};

/* The members of one step are done in the order of the table. */
static err steps_play(struct play *p, const struct json *steps)
{
    for (uint32_t i = 0; json_is(steps, JSON_ARRAY) && i < steps->len; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds && !p->over; k++) {
            const struct json *value = json_get(&steps->items[i], kinds[k].name);
            if (value)
                TRY(kinds[k].play(p, value));
        }
    return NULL;
}

/* Of requests beyond those that the scenario knows, it ignores all. */
static const struct json *steps_of(const struct play *p)
{
    if (str_eq(p->turn->purpose, STR("state_update")))
        return json_at(json_get(p->scenario, "state_update"),
                       p->turn->attempt > 0 ? (size_t)p->turn->attempt - 1 : 0);
    return json_get(p->scenario, str_eq(p->turn->purpose, STR("callback")) ? "callback" : "work");
}

int scripted_play(struct arena *a, const struct json *scenario, const struct scripted_turn *turn,
                  const struct scripted_io *io)
{
    struct play p = { .arena = a, .scenario = scenario, .turn = turn, .io = io, .said = STR("") };
    err e = emit(&p, "init", "client_id", turn->client_id);

    if (!e)
        e = steps_play(&p, steps_of(&p));
    if (!e && !p.over)
        e = tell_result(&p);
    if (!e)
        return p.exit;
    emit(&p, "error", "text", e->message);
    return 1;
}
