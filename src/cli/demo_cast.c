/* demo_cast.c: who plays in the demonstration, and what they play. */
#include "cli/demo.h"

// clang-format off
static const char schema_text[] = JSON({
    "type": "object",
    "required": ["goal", "tasks"],
    "additionalProperties": false,
    "properties": {
        "goal": { "type": "string" },
        "tasks": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["status"],
                "properties": {
                    "status": { "enum": ["open", "done", "failed"] },
                    "note": { "type": "string" }
                }
            }
        },
        "reviews": { "type": "array", "items": { "type": "string" }, "x-owner": ["root"] }
    },
    "x-baton": { "state_update": { "max_retries": 3, "timeout": 10, "retry_delay": 1 } }
});

static const char state_text[] = JSON({
    "goal": "release 1.0",
    "tasks": {
        "parser": { "status": "open" },
        "tests": { "status": "open" },
        "docs": { "status": "open" }
    },
    "reviews": []
});

/* The scenarios of the workers: src/runner/scripted.h says what they may hold. */
static const struct {
    const char *name, *scenario;
    const char *status; /* that its task has in the end */
} workers[WORKERS] = {
    [WORKER_GOOD] = { "parser", JSON({
        "work": [
            { "say": "reads the grammar" }, { "sleep_ms": 1000 },
            { "call": { "op": "state.patch", "input": { "operations": [{ "op": "replace",
                "path": "/tasks/parser", "value": { "status": "done", "note": "3 files" } }] } } },
            { "say": "has written the parser", "cost_usd": 0.02, "tokens": [1800, 420] }
        ]
    }), "done" },
    [WORKER_FORGETFUL] = { "tests", JSON({
        "work": [
            { "say": "runs the tests" }, { "sleep_ms": 1800 },
            { "say": "all tests pass", "cost_usd": 0.01, "tokens": [900, 80] }
        ],
        "state_update": [
            [{ "say": "all tests pass, as I said" }],
            [{ "say": "there is nothing left to do" }],
            [{ "call": { "op": "state.patch", "input": { "operations": [{ "op": "replace",
                "path": "/tasks/tests", "value": { "status": "done", "note": "128 pass" } }] } } }]
        ]
    }), "done" },
    [WORKER_FAILING] = { "docs", JSON({
        "work": [ { "say": "looks for the old manual" }, { "sleep_ms": 1400 }, { "exit": 3 } ],
        "state_update": [
            [], [],
            [{ "call": { "op": "state.patch", "input": { "operations": [{ "op": "replace",
                "path": "/tasks/docs", "value": { "status": "failed", "note": "no manual" } }] } } }]
        ]
    }), "failed" },
};

static const char callback_text[] = JSON([
    { "call": { "op": "state.read" } },
    { "call": { "op": "state.patch", "input": { "operations": [{ "op": "add", "path": "/reviews/-",
        "value": "looked at what was recorded" }] } } },
    { "say": "has looked at what was recorded" }
]);

static const struct {
    const char *name, *description;
} agents[] = {
    { "demo-lead", "Splits the work, and looks at what comes of it" },
    { "demo-worker", "Does one part of it" },
};
// clang-format on

/* ---- pieces of requests ---- */

static struct json parsed(struct arena *a, const char *text)
{
    const struct json *json = NULL;
    err e = json_parse(a, str_from(text), NULL, &json);

    return e ? json_null() : json_copy(a, json); /* a test plays all of it */
}

static void put(struct arena *a, struct json *object, const char *name, const char *text)
{
    json_put(a, object, str_from(name), json_string(str_from(text)));
}

static err post(struct caller *k, struct arena *a, const char *pattern, const struct json *body,
                const struct json **answer)
{
    struct call call = { .method = "POST",
                         .pattern = pattern,
                         .body = json_printed(a, body),
                         .key = idempotency_key(a) };

    return caller_call(k, a, &call, answer);
}

/* ---- the beginning ---- */

/* Those of an earlier demonstration do as well. */
static err agents_make(struct caller *k, struct arena *a)
{
    for (size_t i = 0; i < sizeof agents / sizeof *agents; i++) {
        struct json body = json_object();
        const struct json *ignored;
        put(a, &body, "name", agents[i].name);
        put(a, &body, "description", agents[i].description);
        put(a, &body, "profile", "scripted");
        err e = post(k, a, "/agents", &body, &ignored);
        if (e && e->kind != ERR_CONFLICT)
            return e;
    }
    return NULL;
}

static err state_make(struct caller *k, struct arena *a, struct demo_cast *cast)
{
    struct json session = json_object(), state = json_object();
    const struct json *answer;

    put(a, &session, "session_name", cast->lead.at);
    TRY(post(k, a, "/sessions", &session, &answer));
    put(a, &state, "schema_name", "demo-release");
    put(a, &state, "root_session", cast->lead.at);
    json_put(a, &state, STR("initial_data"), parsed(a, state_text));
    TRY(post(k, a, "/workflow-states", &state, &answer));
    cast->state_id = json_str(answer, "state_id");
    return NULL;
}

/* The lead starts the workers, and is called back by each. */
static struct json lead_scenario(struct arena *a, const struct demo_cast *cast)
{
    struct json scenario = json_object(), work = json_array();

    for (int i = 0; i < WORKERS; i++) {
        struct json start = json_object(), step = json_object();
        put(a, &start, "session_name", cast->workers[i].at);
        put(a, &start, "agent", "demo-worker");
        put(a, &start, "mode", "async_callback");
        json_put(a, &start, STR("prompt"), parsed(a, workers[i].scenario));
        json_put(a, &step, STR("start"), start);
        json_push(a, &work, step);
    }
    struct json said = json_object();
    put(a, &said, "say", "waits for the three");
    json_push(a, &work, said);
    json_put(a, &scenario, STR("work"), work);
    json_put(a, &scenario, STR("callback"), parsed(a, callback_text));
    return scenario;
}

static err lead_start(struct caller *k, struct arena *a, const struct demo_cast *cast)
{
    struct json body = json_object(), scenario = lead_scenario(a, cast);
    const struct json *ignored;

    put(a, &body, "type", "start_session");
    put(a, &body, "session_name", cast->lead.at);
    put(a, &body, "agent_name", "demo-lead");
    put(a, &body, "prompt", json_printed(a, &scenario).at);
    return post(k, a, "/runs", &body, &ignored);
}

err demo_begin(struct caller *k, struct arena *a, str suffix, struct demo_cast *out)
{
    struct json schema = json_object();
    const struct json *ignored;

    out->lead = arena_printf(a, "lead" STR_FMT, STR_ARG(suffix));
    for (int i = 0; i < WORKERS; i++)
        out->workers[i] = arena_printf(a, "%s" STR_FMT, workers[i].name, STR_ARG(suffix));
    put(a, &schema, "name", "demo-release");
    json_put(a, &schema, STR("json_schema"), parsed(a, schema_text));
    TRY(post(k, a, "/workflow-schemas", &schema, &ignored));
    TRY(agents_make(k, a));
    TRY(state_make(k, a, out));
    return lead_start(k, a, out);
}

/* ---- the end ---- */

err demo_state_is_right(struct caller *k, struct arena *a, const struct demo_cast *cast,
                        bool *right)
{
    const struct json *state, *data;

    TRY(caller_call(k, a,
                    &(struct call){ .method = "GET",
                                    .pattern = "/workflow-states/{state_id}",
                                    PARAMS({ "state_id", cast->state_id }) },
                    &state));
    data = json_get(state, "current_data");
    const struct json *reviews = json_get(data, "reviews");
    *right = json_is(reviews, JSON_ARRAY) && reviews->len > 0;
    for (int i = 0; i < WORKERS; i++) {
        const struct json *task = json_get(json_get(data, "tasks"), workers[i].name);
        *right = *right && str_eq(json_str(task, "status"), str_from(workers[i].status));
    }
    return NULL;
}
