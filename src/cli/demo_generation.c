/* demo_generation.c: a workflow of seven steps, played by scripted agents and told as it happens.
 *
 * The definition is the one that comes with the program, with what each agent plays as its prompt. What
 * is told comes from the log of events, which outlives the server that is killed in the middle. */
#include "cli/demo.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/date.h"
#include "client/socket.h"

enum {
    STEPS = 7,
    PLAN_STEP = 3,
    DRAFT_STEP = 4,
    CHECK_STEP = 5,
    VALIDATION_STEP = 6,
    VALIDATORS = 7,
    AGENTS = 16,            /* sessions that there are in the end: two steps are done twice */
    STORY_MS = 60000,       /* until it must be over */
    PERSON_MS = 15 * 60000, /* and with a person who is waited for */
    LOOK_S = 1,
    PAGE = 200,
    READ_MS = 1500, /* that one may read what there is to approve */
    AWAY_MS = 20000,
};

/* What the agent of each step plays: src/runner/scripted.h. The second draft is another one, and the
 * check takes no first one. */
static const char *const plays[STEPS] = {
    "{ \"work\": [{ \"say\": \"looks for the blueprint\" }, { \"sleep_ms\": 300 },"
    " { \"record\": { \"artifacts\": {"
    " \"blueprint_path\": \"scene-{{scene_id}}-blueprint.md\" } } }] }",
    "{ \"work\": [{ \"say\": \"reads {{blueprint_path}}\" }, { \"sleep_ms\": 400 },"
    " { \"record\": { \"artifacts\": { \"constraints_list\":"
    " [\"the tone is calm\", \"Ann is not named\", \"it rains\"] } } }] }",
    "{ \"work\": [{ \"say\": \"plans\" }, { \"sleep_ms\": 400 }, { \"record\": { \"artifacts\": {"
    " \"verification_plan\": \"1. read the tone of each paragraph\\n"
    "2. look for names, and for Ann's\\n3. see that it rains\" } } }] }",
    "{ \"work\": [{ \"say\": \"writes\" }, { \"sleep_ms\": 600 },"
    " { \"touch\": \"scene-{{scene_id}}-draft-{{if draft = null then 1 else 2}}.md\" },"
    " { \"record\": { \"artifacts\": { \"compliance_echo\": \"all three\","
    " \"draft\": \"scene-{{scene_id}}-draft-{{if draft = null then 1 else 2}}.md\" } } }] }",
    "{ \"work\": [{ \"say\": \"reads {{draft}}\" }, { \"sleep_ms\": 300 },"
    " { \"record\": { \"artifacts\": { \"fast_compliance_result\": \"it complies\" },"
    " \"error\": \"{{if ends with(draft, \"-1.md\")"
    " then \"paragraph 3 is not calm\" else \"\"}}\" }"
    " }] }",
    "{ \"work\": [{ \"say\": \"validates {{draft}}\" }, { \"sleep_ms\": 2500 },"
    " { \"record\": { \"artifacts\": { \"final_validation_report\": \"it is as planned\" } } }] }",
    "{ \"work\": [{ \"say\": \"formats the report\" }, { \"sleep_ms\": 300 },"
    " { \"record\": { \"artifacts\": { \"final_report\": \"{{final_validation_report}}\","
    " \"scene_content\": \"{{draft}}\" } } }] }",
};

struct generation {
    struct demo_host *host;
    struct cli *cli;
    struct arena *arena; /* of one look */
    str id;
    str titles[STEPS], agents[STEPS];
    int starts[STEPS];
    int validators; /* turns of the sixth step's agents that have begun */
    int room;       /* how many the runners have room for */
    int64_t began_ms, after;
    bool asked, approved, failed, anew, killed, over;
    str status;
};

/* ---- the beginning ---- */

static err post(struct caller *k, struct arena *a, const char *pattern, const struct json *body,
                const struct json **answer)
{
    struct call call = { .method = "POST",
                         .pattern = pattern,
                         .body = json_printed(a, body),
                         .key = idempotency_key(a) };

    return caller_call(k, a, &call, answer);
}

static void put(struct arena *a, struct json *object, const char *name, str text)
{
    json_put(a, object, str_from(name), json_string(text));
}

static err agent_make(struct generation *g, str name)
{
    struct json body = json_object();
    const struct json *ignored;

    put(g->cli->arena, &body, "name", name);
    put(g->cli->arena, &body, "profile", STR("scripted"));
    put(g->cli->arena, &body, "description", STR("Plays its part of the demonstration"));
    err e = post(g->host->caller, g->cli->arena, "/agents", &body, &ignored);
    return e && e->kind == ERR_CONFLICT ? NULL : e;
}

/* The members of an object but one. */
static struct json without(struct arena *a, const struct json *object, const char *name)
{
    struct json out = json_object();

    for (uint32_t i = 0; i < object->len; i++)
        if (!str_eq(json_name(&object->members[i]), str_from(name)))
            json_put(a, &out, json_name(&object->members[i]),
                     json_copy(a, &object->members[i].value));
    return out;
}

/* The definition of the program, with parts for its agents and proof that there is a draft. */
static err definition_make(struct generation *g, struct json *out)
{
    struct arena *a = g->cli->arena;
    struct json named, steps = json_array(), proof = json_array(), file = json_object();
    const struct json *answer, *built;

    TRY(caller_call(g->host->caller, a,
                    &(struct call){ .method = "GET", .pattern = "/workflows/generation" },
                    &answer));
    built = json_get(json_get(answer, "definition"), "generation_steps");
    put(a, &file, "file", STR("=draft"));
    json_push(a, &proof, file);
    for (uint32_t i = 0; json_is(built, JSON_ARRAY) && i < built->len && i < STEPS; i++) {
        struct json step = without(a, &built->items[i], "agent");
        g->titles[i] = json_str(&step, "name");
        g->agents[i] = arena_printf(a, STR_FMT STR_FMT, STR_ARG(g->host->prefix),
                                    STR_ARG(json_str(&built->items[i], "agent")));
        put(a, &step, "agent", g->agents[i]);
        put(a, &step, "prompt", str_from(plays[i]));
        if (i == DRAFT_STEP - 1)
            json_put(a, &step, STR("evidence"), proof);
        json_push(a, &steps, step);
        TRY(agent_make(g, g->agents[i]));
    }
    named = without(a, json_get(answer, "definition"), "workflow");
    *out = without(a, &named, "generation_steps");
    json_put(a, out, STR("generation_steps"), steps);
    put(a, out, "workflow", STR("demo-generation"));
    return NULL;
}

static err room_find(struct generation *g)
{
    const struct json *answer, *runners;

    TRY(caller_call(g->host->caller, g->cli->arena,
                    &(struct call){ .method = "GET", .pattern = "/runners" }, &answer));
    runners = json_get(answer, "runners");
    for (uint32_t i = 0; json_is(runners, JSON_ARRAY) && i < runners->len; i++)
        g->room += (int)json_int_or(&runners->items[i], "capacity", 0);
    g->room = g->room < 1 ? 1 : g->room < VALIDATORS ? g->room : VALIDATORS;
    return NULL;
}

static err begin(struct generation *g)
{
    struct json definition, deploy = json_object(), start = json_object(), input = json_object();
    struct arena *a = g->cli->arena;
    char *whole = realpath(g->host->folder.at, NULL);
    const struct json *answer;

    if (whole)
        g->host->folder = arena_copy(a, str_from(whole));
    free(whole);
    str folder = arena_printf(a, STR_FMT "/scenes", STR_ARG(g->host->folder));
    mkdir(folder.at, 0700);
    TRY(caller_call(g->host->caller, a,
                    &(struct call){
                        .method = "GET", .pattern = "/events", PARAMS({ "limit", STR("1") }) },
                    &answer));
    g->after = json_int_or(answer, "seen", 0);
    TRY(definition_make(g, &definition));
    json_put(a, &deploy, STR("definition"), definition);
    TRY(post(g->host->caller, a, "/workflows", &deploy, &answer));
    put(a, &input, "scene_id", STR("0204"));
    put(a, &start, "workflow", STR("demo-generation"));
    put(a, &start, "project_dir", folder);
    json_put(a, &start, STR("input"), input);
    TRY(post(g->host->caller, a, "/executions", &start, &answer));
    g->id = json_str(answer, "execution_id");
    return NULL;
}

/* ---- what is told ---- */

static void tell(struct generation *g, int64_t at_ms, enum paint paint, str who, str what)
{
    if (!g->cli->json)
        demo_line(g->cli, g->arena, at_ms - g->began_ms, paint, who, what);
    cli_flush(g->cli);
}

/* From 1 on; 0: it is no step. */
static int64_t number_of(str node)
{
    int64_t n;

    return str_to_int(node, &n) && n >= 1 && n <= STEPS ? n : 0;
}

static str step_called(struct generation *g, int64_t n)
{
    return arena_printf(g->arena, "step %lld", (long long)n);
}

/* What is kept of a step; NULL: it cannot be asked now. */
static const struct json *step_ask(struct generation *g, int64_t n)
{
    const struct json *answer;

    if (caller_call(g->host->caller, g->arena,
                    &(struct call){ .method = "GET",
                                    .pattern = "/executions/{id}/steps",
                                    PARAMS({ "id", g->id }) },
                    &answer))
        return NULL;
    return json_at(json_get(answer, "steps"), (size_t)n - 1);
}

static void started_tell(struct generation *g, int64_t at_ms, int64_t n)
{
    str agent = g->agents[n - 1];
    bool again = g->starts[n - 1]++ > 0;
    str what = n == VALIDATION_STEP
                   ? arena_printf(g->arena, STR_FMT ": %d agents " STR_FMT " begin at once",
                                  STR_ARG(g->titles[n - 1]), VALIDATORS, STR_ARG(agent))
                   : arena_printf(g->arena, STR_FMT ": " STR_FMT " begins%s",
                                  STR_ARG(g->titles[n - 1]), STR_ARG(agent),
                                  !again            ? ""
                                  : n == DRAFT_STEP ? " anew, and is told what was wrong"
                                                    : " anew");

    g->anew = g->anew || (again && n == DRAFT_STEP);
    tell(g, at_ms, PAINT_PLAIN, step_called(g, n), what);
}

static void failed_tell(struct generation *g, int64_t at_ms, int64_t n)
{
    const struct json *step = step_ask(g, n), *history = json_get(step, "history"), *first;

    first = json_at(history, 0);
    g->failed = g->failed || n == CHECK_STEP;
    tell(g, at_ms, PAINT_ERROR, step_called(g, n),
         arena_printf(g->arena, "fails: " STR_FMT, STR_ARG(json_str(first, "error"))));
}

static void move_tell(struct generation *g, int64_t at_ms, const struct json *move)
{
    str what = json_text(json_at(move, 1));
    int64_t n = number_of(json_text(json_at(move, 0)));

    if (!n)
        return;
    if (str_eq(what, STR("started")))
        started_tell(g, at_ms, n);
    else if (str_eq(what, STR("failed")))
        failed_tell(g, at_ms, n);
    else if (str_eq(what, STR("proving")))
        tell(g, at_ms, PAINT_PLAIN, step_called(g, n),
             STR("says that there is a draft; a runner looks whether there is"));
    else if (str_eq(what, STR("reopened")))
        tell(g, at_ms, PAINT_PLAIN, STR("baton"),
             arena_printf(g->arena, "has step %lld done anew, and all after it", (long long)n));
    else if (str_eq(what, STR("completed")) && n != PLAN_STEP)
        tell(g, at_ms, PAINT_GOOD, step_called(g, n), STR("is done"));
}

static void moved(struct generation *g, int64_t at_ms, const struct json *event)
{
    const struct json *moves = json_get(json_get(event, "data"), "moves");
    bool proved = false;

    for (uint32_t i = 0; json_is(moves, JSON_ARRAY) && i < moves->len; i++) {
        bool proves = str_eq(json_text(json_at(&moves->items[i], 1)), STR("proving"));
        if (!proves || !proved)
            move_tell(g, at_ms, &moves->items[i]);
        proved = proved || proves;
    }
}

/* ---- the person ---- */

/* For programs that play the person. */
static void waits_json(struct generation *g, str id)
{
    struct json out = json_object();

    put(g->arena, &out, "type", STR("demo_asks"));
    put(g->arena, &out, "approval_id", id);
    put(g->arena, &out, "data", g->host->folder);
    cli_write(g->cli, arena_printf(g->arena, STR_FMT "\n", STR_ARG(json_printed(g->arena, &out))));
    cli_flush(g->cli);
}

static void plan_show(struct generation *g, str id)
{
    struct buf out = buf_in(g->arena);
    const struct json *entry;

    if (g->cli->json) {
        waits_json(g, id);
        return;
    }
    if (caller_call(g->host->caller, g->arena,
                    &(struct call){
                        .method = "GET", .pattern = "/inbox/{id}", PARAMS({ "id", id }) },
                    &entry))
        return;
    const struct json *judged = json_get(json_get(entry, "content"), "content");
    str line, rest = json_str(json_get(judged, "outputs"), "verification_plan");
    for (bool more = rest.len > 0; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        buf_add(&out, STR("             | "));
        term_put(&out, PAINT_PLAIN, line);
        buf_byte(&out, '\n');
    }
    if (cli_flag(g->cli, "--wait"))
        buf_printf(&out, "\n  in another terminal:\n  export BATON_DATA=" STR_FMT "\n",
                   STR_ARG(g->host->folder));
    buf_printf(&out, "\n  baton inbox show " STR_FMT "\n  baton approve " STR_FMT "\n\n",
               STR_ARG(id), STR_ARG(id));
    cli_write(g->cli, buf_str(&out));
    cli_flush(g->cli);
}

static err approve(struct generation *g, str id)
{
    struct json body = json_object();
    const struct json *ignored;

    put(g->arena, &body, "decision", STR("approve"));
    put(g->arena, &body, "reason", STR("the demonstration goes on"));
    put(g->arena, &body, "channel", STR("cli"));
    return caller_call(g->host->caller, g->arena,
                       &(struct call){ .method = "POST",
                                       .pattern = "/inbox/{id}",
                                       .body = json_printed(g->arena, &body),
                                       .key = idempotency_key(g->arena),
                                       PARAMS({ "id", id }) },
                       &ignored);
}

static err requested(struct generation *g, int64_t at_ms, const struct json *event)
{
    str id = json_str(event, "subject");

    g->asked = true;
    tell(g, at_ms, PAINT_ERROR, STR("you"),
         cli_flag(g->cli, "--wait")
             ? STR("are asked to approve the plan, and it waits until you have")
             : STR("are asked to approve the plan; this is done for you in a moment, as you would "
                   "do it:"));
    plan_show(g, id);
    if (cli_flag(g->cli, "--wait"))
        return NULL;
    poll(NULL, 0, READ_MS);
    return g->host->interrupted() ? NULL : approve(g, id);
}

static void resolved(struct generation *g, int64_t at_ms, const struct json *event)
{
    const struct json *data = json_get(event, "data");
    str status = json_str(data, "status");

    g->approved = str_eq(status, STR("approved"));
    tell(g, at_ms, g->approved ? PAINT_GOOD : PAINT_ERROR, step_called(g, PLAN_STEP),
         arena_printf(g->arena, "is " STR_FMT " by " STR_FMT, STR_ARG(status),
                      STR_ARG(json_str(data, "decided_by"))));
}

/* ---- the server that is killed ---- */

static err kill_it(struct generation *g, int64_t at_ms)
{
    struct demo_host *h = g->host;
    int64_t from = socket_clock_ms();

    g->killed = true;
    tell(g, at_ms, PAINT_ERROR, STR("server"),
         arena_printf(g->arena, "is killed, with %d agent%s at work", g->validators,
                      g->validators == 1 ? "" : "s"));
    TRY(h->restart(h));
    int64_t ms = socket_clock_ms() - from;
    tell(g, at_ms + ms, PAINT_GOOD, STR("server"),
         arena_printf(g->arena, "is there again after %lld ms; its agents have worked on",
                      (long long)ms));
    return NULL;
}

/* An agent of the sixth step begins: the last one is there for the results of the others. */
static err turn_begun(struct generation *g, int64_t at_ms, const struct json *event)
{
    const struct json *data = json_get(event, "data");
    bool at_work = g->starts[VALIDATION_STEP - 1] && !g->starts[VALIDATION_STEP];

    if (!at_work || !str_eq(json_str(data, "purpose"), STR("task")))
        return NULL;
    if (!g->validators++)
        TRY(room_find(g));
    if (g->validators == VALIDATORS + 1)
        tell(g, at_ms, PAINT_PLAIN, step_called(g, VALIDATION_STEP),
             STR("all seven have recorded what they found; one more brings that together"));
    return g->validators == g->room && g->host->ours && !g->killed ? kill_it(g, at_ms) : NULL;
}

/* ---- the log ---- */

static err take(struct generation *g, const struct json *event)
{
    str type = json_str(event, "type");
    bool own = str_eq(json_str(event, "subject"), g->id);
    int64_t at_ms = g->began_ms;

    date_parse(json_str(event, "time"), &at_ms);
    g->began_ms = g->began_ms ? g->began_ms : at_ms;
    if (g->cli->json)
        cli_write(g->cli,
                  arena_printf(g->arena, STR_FMT "\n", STR_ARG(json_printed(g->arena, event))));
    cli_flush(g->cli);
    if (own && str_eq(type, STR("execution_started")))
        tell(g, at_ms, PAINT_PLAIN, STR("baton"),
             arena_printf(g->arena, "starts " STR_FMT, STR_ARG(g->id)));
    if (own)
        moved(g, at_ms, event);
    if (str_eq(json_str(json_get(event, "data"), "execution_id"), g->id)) {
        if (str_eq(type, STR("approval_requested")))
            TRY(requested(g, at_ms, event));
        if (str_eq(type, STR("approval_resolved")))
            resolved(g, at_ms, event);
    }
    if (str_eq(type, STR("run_started")))
        TRY(turn_begun(g, at_ms, event));
    if (own && str_eq(type, STR("execution_ended"))) {
        g->over = true;
        g->status = arena_copy(g->cli->arena, json_str(json_get(event, "data"), "status"));
    }
    return NULL;
}

static err look(struct generation *g)
{
    const struct json *page, *events;
    struct call list = { .method = "GET",
                         .pattern = "/events",
                         PARAMS({ "after", arena_printf(g->arena, "%lld", (long long)g->after) },
                                { "wait", arena_printf(g->arena, "%d", LOOK_S) },
                                { "limit", arena_printf(g->arena, "%d", PAGE) }) };

    TRY(caller_call(g->host->caller, g->arena, &list, &page));
    events = json_get(page, "events");
    for (uint32_t i = 0; json_is(events, JSON_ARRAY) && i < events->len; i++) {
        if (g->host->interrupted())
            return NULL;
        TRY(take(g, &events->items[i]));
    }
    g->after = json_int_or(page, "next", g->after);
    return NULL;
}

/* A server that comes back is not there at once. */
static err follow(struct generation *g)
{
    int64_t now = socket_clock_ms(), away = now,
            until = now + (cli_flag(g->cli, "--wait") ? PERSON_MS : STORY_MS);
    err e = NULL;

    while (!g->over && !g->host->interrupted() && now < until) {
        arena_reset(g->arena);
        e = look(g);
        now = socket_clock_ms();
        if (e && (e->kind != ERR_UNAVAILABLE || now - away > AWAY_MS))
            return err_copy(g->cli->arena, e);
        away = e ? away : now;
    }
    return NULL;
}

/* ---- the end ---- */

static err metrics_ask(struct generation *g, const struct json **out)
{
    const struct json *answer;

    TRY(caller_call(g->host->caller, g->cli->arena,
                    &(struct call){ .method = "GET",
                                    .pattern = "/executions/{id}/views/metrics",
                                    PARAMS({ "id", g->id }) },
                    &answer));
    *out = json_get(answer, "workflow_metrics");
    return NULL;
}

static void metrics_print(struct generation *g, const struct json *m)
{
    struct buf out = buf_in(g->cli->arena);

    if (g->cli->json)
        return;
    buf_printf(&out,
               "\nWhat it took:\n"
               "  %lld seconds, %lld of them for a person\n"
               "  %lld sessions of agents, up to %lld side by side\n"
               "  %lld step done anew\n",
               (long long)json_int_or(m, "total_time_seconds", 0),
               (long long)json_int_or(m, "human_approval_time_seconds", 0),
               (long long)json_int_or(m, "agent_calls", 0),
               (long long)json_int_or(m, "parallel_executions", 0),
               (long long)json_int_or(m, "retry_count", 0));
    cli_write(g->cli, buf_str(&out));
}

static err end(struct generation *g)
{
    struct arena *a = g->cli->arena;
    const struct json *metrics = NULL, *e = NULL, *vars;

    TRY(metrics_ask(g, &metrics));
    TRY(caller_call(g->host->caller, a,
                    &(struct call){
                        .method = "GET", .pattern = "/executions/{id}", PARAMS({ "id", g->id }) },
                    &e));
    vars = json_get(e, "variables");
    metrics_print(g, metrics);
    const struct demo_promise all[] = {
        { g->asked && g->approved, STR("step 3 waited until it was approved by a person") },
        { g->failed && g->anew,
          STR("step 5 failed, and step 4 was done anew by an agent that was told why") },
        { g->validators == VALIDATORS + 1,
          STR("seven agents validated the draft, and one brought their results together") },
        { (g->killed || !g->host->ours) && json_int_or(metrics, "agent_calls", 0) == AGENTS,
          g->host->ours
              ? STR("the server was killed meanwhile; nothing was lost, and nothing done twice")
              : STR("nothing was lost, and nothing done twice") },
        { str_eq(g->status, STR("COMPLETED")) &&
              str_ends(json_str(vars, "scene_content"), STR("-draft-2.md")),
          STR("it is completed, with the second draft") },
    };
    if (!demo_promises(g->cli, a, all, sizeof all / sizeof *all,
                       json_int_or(e, "state_version", 0)))
        g->cli->exit = 1;
    return NULL;
}

err demo_generation(struct demo_host *h, str *id)
{
    struct generation g = { .host = h, .cli = h->cli };

    TRY(begin(&g));
    *id = g.id;
    g.arena = arena_new();
    err e = follow(&g);
    arena_free(g.arena);
    return e || h->interrupted() ? e : end(&g);
}
