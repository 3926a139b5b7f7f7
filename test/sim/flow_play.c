/* flow_play.c: an execution on a world, beside the reference. */
#include "sim/flow_play.h"

#include "core/exec/execution.h"
#include "sim/both.h"
#include "sim/crash_points.h"
#include "sim/flow_crew.h"
#include "sim/flow_play_private.h"
#include "sim/rows.h"

enum { WILD = 30, KIND = 200, JOBS = 64, LINES_SHOWN = 40 };

void play_fail(const struct play *p, const char *format, ...)
{
    struct buf text = buf_in(check_arena());
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    check_fail(__FILE__, __LINE__, "seed %llu: " STR_FMT "\n%.*s", (unsigned long long)p->seed,
               STR_ARG(buf_str(&text)), (int)p->log.len, p->log.at);
}

/* ---- looking ---- */

/* The power goes at some of the moments of a command: what is there then is what was before it, or what is
 * after it, and nothing between. */
static void perform_watched(struct play *p, struct command *c)
{
    enum { POINTS = 3 };
    unsigned char before[SHA256_BYTES], after[SHA256_BYTES];
    struct crash_points points = { .count = 0 };

    rows_digest(p->w->engine.sql, before);
    crash_points_begin(&points, p->disk);
    op_perform(&p->w->engine, &c, 1);
    crash_points_end(&points);
    rows_digest(p->w->engine.sql, after);
    p->points += crash_points_check(&points, &p->chance, POINTS, before, after);
    crash_points_drop(&points);
}

/* In an arena that is reset after each event: a test plays very many. */
struct command *play_call(struct play *p, const char *op, str input)
{
    struct command *c = ARENA_NEW(p->scratch, struct command);
    struct json *json = ARENA_NEW(p->scratch, struct json);

    *json = json_of(p->scratch, arena_copy(p->scratch, input).at);
    *c = (struct command){ .arena = p->scratch,
                           .op = op_find(p->w->table, str_from(op)),
                           .input = json,
                           .actor = &p->w->actor };
    CHECK(c->op);
    if (p->disk && c->op->effect == OP_WRITES && random_below(&p->chance, 4) == 0)
        perform_watched(p, c);
    else
        op_perform(&p->w->engine, &c, 1);
    world_check_answer(p->w, c);
    return c;
}

str play_shown(struct play *p, const char *op, str input)
{
    struct command *c = play_call(p, op, input);

    if (c->error)
        play_fail(p, "%s: " STR_FMT, op, STR_ARG(c->error->message));
    return c->answer.text;
}

const struct json *play_asked(struct play *p, const char *op, str input)
{
    return json_parsed(p->scratch, play_shown(p, op, input));
}

static void moves_compare(struct play *p, const struct json *moves)
{
    size_t count;
    const struct reference_line *lines = reference_trace(p->reference, &count);

    for (uint32_t k = 0; moves && k < moves->len; k++) {
        const struct json *m = &moves->items[k];
        const struct reference_line *l = &lines[p->lines + k];
        str node = json_text(&m->items[0]), what = json_text(&m->items[1]);
        int64_t n = 0;
        json_to_int(&m->items[2], &n);
        if (p->lines + k >= count)
            play_fail(p, "moved " STR_FMT " " STR_FMT " %lld, and the reference has not",
                      STR_ARG(node), STR_ARG(what), (long long)n);
        if (!str_eq(node, p->graph->nodes[l->node].id) ||
            !str_eq(what, str_from(reference_words[l->what])) || n != l->n)
            play_fail(p, "moved " STR_FMT " " STR_FMT " %lld, expected " STR_FMT " %s %u",
                      STR_ARG(node), STR_ARG(what), (long long)n,
                      STR_ARG(p->graph->nodes[l->node].id), reference_words[l->what], l->n);
    }
}

/* The moves of the events since the last look, beside the lines of the reference. A page of the log
 * may have none of them. */
static void trace_compare(struct play *p)
{
    size_t count;
    const struct reference_line *lines = reference_trace(p->reference, &count);

    for (bool more = true; more;) {
        const struct json *page =
            play_asked(p, "event.list",
                       arena_printf(p->scratch,
                                    "{'after':%lld,'subject':'" STR_FMT "','limit':1000}",
                                    (long long)p->seen, STR_ARG(p->id)));
        const struct json *events = json_get(page, "events");
        int64_t next = json_int_or(page, "next", p->seen);
        for (uint32_t i = 0; i < events->len; i++) {
            const struct json *data = json_get(&events->items[i], "data");
            const struct json *moves = json_get(data, "moves");
            moves_compare(p, moves);
            p->lines += moves ? (size_t)json_int_or(data, "moved", moves->len) : 0;
        }
        more = next > p->seen;
        p->seen = next;
    }
    if (p->lines != count)
        play_fail(p, "moved %zu times, expected %zu: the next is " STR_FMT " %s %u", p->lines,
                  count, STR_ARG(p->graph->nodes[lines[p->lines].node].id),
                  reference_words[lines[p->lines].what], lines[p->lines].n);
}

static void rest_compare(struct play *p)
{
    const struct json *e =
        play_asked(p, "execution.get",
                   arena_printf(p->scratch, "{'execution_id':'" STR_FMT "'}", STR_ARG(p->id)));
    const struct json *vars = json_get(e, "variables"), *result = json_get(e, "result");
    const struct json *expected = reference_variables(p->reference);
    str status = json_str(e, "status");

    if (!str_eq(status, str_from(reference_status_names[reference_status(p->reference)])))
        play_fail(p, "it is " STR_FMT ", expected %s", STR_ARG(status),
                  reference_status_names[reference_status(p->reference)]);
    if (!json_equal(vars, expected))
        play_fail(p, "variables are " STR_FMT ", expected " STR_FMT,
                  STR_ARG(json_printed(p->scratch, vars)),
                  STR_ARG(json_printed(p->scratch, expected)));
    if (p->graph->result && reference_status(p->reference) == REFERENCE_COMPLETED) {
        const struct json null = json_null();
        const struct json *other = reference_result(p->reference);
        if (!json_equal(result, other ? other : &null))
            play_fail(p, "its result is " STR_FMT, STR_ARG(json_printed(p->scratch, result)));
    }
}

/* Where there are circles a step may be done and at work at once. */
static void steps_compare(struct play *p)
{
    static const char *const words[] = {
        [REFERENCE_STEP_APPROVAL] = "waiting_approval",
        [REFERENCE_STEP_COMPLETED] = "completed",
        [REFERENCE_STEP_SKIPPED] = "skipped",
        [REFERENCE_STEP_FAILED] = "failed",
        [REFERENCE_STEP_CANCELLED] = NULL,
    };

    if (p->graph->kind == GRAPH_NODES || reference_status(p->reference) >= REFERENCE_COMPLETED)
        return;
    const struct json *steps = json_get(
        play_asked(p, "execution.steps",
                   arena_printf(p->scratch, "{'execution_id':'" STR_FMT "'}", STR_ARG(p->id))),
        "steps");
    for (uint16_t i = 0; i < p->graph->step_count; i++) {
        const char *expected = words[reference_step(p->reference, i)];
        str status = json_str(&steps->items[i], "status");
        bool is_told = str_eq(status, STR("pending")) || str_eq(status, STR("in_progress"));
        if (expected ? !str_eq(status, str_from(expected)) : !is_told)
            play_fail(p, "step " STR_FMT " is " STR_FMT ", expected %s",
                      STR_ARG(p->graph->steps[i].id), STR_ARG(status),
                      expected ? expected : "pending or in_progress");
    }
}

/* ---- doing ---- */

/* Whether there may be more: what follows from an event may be due at once. */
static bool tick(struct play *p)
{
    struct actor before = p->w->actor;

    p->w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    struct command *c = play_call(p, "system.tick", STR("{}"));
    p->w->actor = before;
    if (c->error)
        play_fail(p, "system.tick: " STR_FMT, STR_ARG(c->error->message));
    return c->events || str_ends(c->answer.text, STR("\"more\":true}"));
}

/* All that is due now, and what the mover has left. */
static void settle(struct play *p, int64_t ms)
{
    p->w->now_ms += ms;
    for (bool more = true; more;) {
        more = tick(p);
        if (p->between)
            p->between(p);
    }
}

static void jobs_claim_all(struct play *p)
{
    for (uint32_t got = JOBS; got == JOBS;) {
        const struct json *jobs = play_asked(
            p, "job.claim",
            STR("{'types':['*'],'max':64,'lease_seconds':86400,'worker':'w','timeout':0}"));
        got = json_get(jobs, "jobs") ? json_get(jobs, "jobs")->len : 0;
    }
}

/* Time passes, and all that there is to do and to stop is taken up. */
static void others_follow(struct play *p, int64_t ms)
{
    settle(p, ms);
    jobs_claim_all(p);
    while (crew_work(p)) {
        settle(p, 0);
        jobs_claim_all(p);
    }
}

/* Of a mark at work, what a worker knows of it: on one of the pages. */
static str job_of(struct play *p, const struct reference_waiting *at)
{
    str middle = arena_printf(p->scratch, "_%u_%u_", at->scope, at->n), after = STR("");

    for (bool more = true; more;) {
        str input = arena_printf(p->scratch,
                                 "{'execution':'" STR_FMT "','limit':500%s" STR_FMT "%s}",
                                 STR_ARG(p->id), after.len ? ",'after':'" : "", STR_ARG(after),
                                 after.len ? "'" : "");
        const struct json *page = play_asked(p, "job.list", input), *all = json_get(page, "jobs");
        for (uint32_t i = 0; i < all->len; i++)
            if (str_contains(json_str(&all->items[i], "job_id"), middle))
                return json_str(&all->items[i], "job_id");
        after = json_str(page, "next");
        more = after.len > 0;
    }
    play_fail(p, "mark %u has no job", at->n);
    return STR("");
}

/* Its lease passes, and no other time does. */
static void worker_lose(struct play *p, const struct reference_waiting *at)
{
    struct store_node node;
    struct sql *sql = p->w->engine.sql;
    err why;

    CHECK_OK(store_begin(sql, p->scratch, &node));
    CHECK_OK(sql_exec_(sql,
                       "INSERT INTO due (kind, subject, at, arg) SELECT 'job_lease', claim, $1, 0"
                       " FROM mark WHERE n = $2 AND claim <> '' ON CONFLICT (kind, subject)"
                       " DO UPDATE SET at = excluded.at",
                       ARGS(INT(1), INT(at->n))));
    CHECK_OK(sql_exec_(sql, "UPDATE mark SET lease_until = $1 WHERE n = $2 AND claim <> ''",
                       ARGS(INT(1), INT(at->n))));
    CHECK(store_commit(sql, &node, &why) == STORE_COMMITTED);
}

/* What the definition names must be there, or a worker is told so. */
str play_outputs(struct play *p, const struct graph_work *work, str values)
{
    struct json all = json_copy(p->arena, json_parsed(p->scratch, values));

    if (all.kind != JSON_OBJECT)
        return values;
    for (size_t i = 0; i < work->output_count; i++)
        if (!json_find(&all, work->outputs[i]))
            json_put(p->arena, &all, work->outputs[i], json_null());
    return json_printed(p->arena, &all);
}

/* A worker that was too late, or asks again, changes nothing. */
static void late_report(struct play *p, str job)
{
    struct command *c = play_call(
        p, "job.complete",
        arena_printf(p->scratch, "{'job_id':'" STR_FMT "','outputs':{'late':true}}", STR_ARG(job)));

    if (!c->error || c->error->kind != ERR_CONFLICT || c->events)
        play_fail(p, "job " STR_FMT " was reported twice, and that was not refused", STR_ARG(job));
}

static void report_event(struct play *p, struct flow_event *e)
{
    const struct graph_node *node = &p->graph->nodes[e->at.node];
    bool job = node->work->by == WORK_JOB;
    str id;

    if (e->outcome == OUTCOME_LOST && !job)
        e->outcome = OUTCOME_FAILED;
    if (e->outcome == OUTCOME_OK)
        e->values = play_outputs(p, node->work, e->values);
    if (job && e->outcome == OUTCOME_LOST) {
        worker_lose(p, &e->at);
        return;
    }
    if (job) {
        id = job_of(p, &e->at);
        p->late = arena_copy(p->arena, id);
        if (e->outcome == OUTCOME_OK)
            play_shown(p, "job.complete",
                       arena_printf(p->scratch,
                                    "{\"job_id\":\"" STR_FMT "\",\"outputs\":" STR_FMT "}",
                                    STR_ARG(id), STR_ARG(e->values)));
        else
            play_shown(p, "job.fail",
                       arena_printf(p->scratch, "{'job_id':'" STR_FMT "','error':'no'}",
                                    STR_ARG(id)));
        return;
    }
    struct buf input = buf_in(p->scratch);
    buf_printf(&input,
               "{\"execution_id\":\"" STR_FMT "\",\"step\":\"" STR_FMT "\",\"token\":\"token-%u\"",
               STR_ARG(p->id), STR_ARG(node->id), e->at.n);
    if (e->at.index >= 0)
        buf_printf(&input, ",\"item\":%lld", (long long)e->at.index);
    if (e->outcome == OUTCOME_OK)
        buf_printf(&input, ",\"outputs\":" STR_FMT "}", STR_ARG(e->values));
    else
        buf_add(&input, STR(",\"failed\":true}"));
    play_shown(p, "execution.report", buf_str(&input));
}

static void turn_event(struct play *p, struct flow_event *e)
{
    if (e->turn == TURN_RECORDED)
        e->values = play_outputs(p, p->graph->nodes[e->at.node].work, e->values);
    crew_turn(p, e);
}

/* The open incident of a mark, or (0) of the whole; NULL: this page has none. */
static const struct json *incident_of(struct play *p, const struct flow_event *e,
                                      const struct json *all)
{
    str want = e->at.n ? arena_printf(p->scratch, "token-%u", e->at.n) : STR("");

    for (uint32_t i = 0; i < all->len; i++) {
        str kind = json_str(&all->items[i], "kind");
        bool whole = str_eq(kind, STR("loop")) || str_eq(kind, STR("stalled"));
        if (want.len ? !whole && str_eq(json_str(&all->items[i], "token"), want) : whole)
            return &all->items[i];
    }
    return NULL;
}

static void retry_event(struct play *p, struct flow_event *e)
{
    str after = STR("");
    const struct json *incident = NULL;

    do {
        const struct json *page =
            play_asked(p, "incident.list",
                       arena_printf(p->scratch,
                                    "{'execution':'" STR_FMT
                                    "','status':'open','limit':500%s" STR_FMT "%s}",
                                    STR_ARG(p->id), after.len ? ",'after':'" : "", STR_ARG(after),
                                    after.len ? "'" : ""));
        incident = incident_of(p, e, json_get(page, "incidents"));
        after = json_str(page, "next");
    } while (!incident && after.len);
    if (incident) {
        play_shown(p, "incident.resolve",
                   arena_printf(p->scratch,
                                "{\"incident_id\":\"" STR_FMT "\",\"variables\":" STR_FMT "}",
                                STR_ARG(json_str(incident, "incident_id")), STR_ARG(e->values)));
        return;
    }
    play_fail(p, "mark %u has no incident", e->at.n);
}

static void ask(struct play *p, const char *op, const char *more)
{
    play_shown(p, op,
               arena_printf(p->scratch, "{'execution_id':'" STR_FMT "'%s}", STR_ARG(p->id), more));
}

static void event_do(struct play *p, struct flow_event *e)
{
    switch (e->kind) {
    case FLOW_REPORT: report_event(p, e); break;
    case FLOW_TURN: turn_event(p, e); break;
    case FLOW_CHECK: crew_check(p, e); break;
    case FLOW_DECIDE: crew_decide(p, e); break;
    case FLOW_RETRY: retry_event(p, e); break;
    case FLOW_REOPEN:
        ask(p, "execution.resume",
            arena_printf(p->scratch, ",'from':'" STR_FMT "'", STR_ARG(p->graph->steps[e->step].id))
                .at);
        break;
    case FLOW_PAUSE: ask(p, "execution.pause", ""); break;
    case FLOW_RESUME: ask(p, "execution.resume", ""); break;
    case FLOW_CANCEL: ask(p, "execution.cancel", ""); break;
    default: break;
    }
}

void play_event(struct play *p, struct flow_event *e)
{
    bool paused = reference_status(p->reference) == REFERENCE_PAUSED;

    event_do(p, e);
    others_follow(p, e->kind == FLOW_ADVANCE ? e->ms : 0);
    if (p->late.len)
        late_report(p, p->late);
    crew_decide_late(p);
    buf_printf(&p->log, STR_FMT "\n", STR_ARG(flow_event_shown(p->arena, p->graph, e)));
    if (!flow_event_apply(p->arena, p->reference, e))
        play_fail(p, "the reference refuses that");
    if (e->kind == FLOW_REOPEN && paused && reference_status(p->reference) == REFERENCE_PAUSED)
        reference_resume(p->reference); /* whoever resumes from a step resumes */
    trace_compare(p);
    rest_compare(p);
    steps_compare(p);
    crew_compare(p);
    arena_reset(p->scratch);
}

/* A definition whose commands are jobs: those are for tests of their own. */
static str without_commands(struct arena *a, str definition)
{
    const str run = STR("\"run\":\"true\""), job = STR("\"job\":\"command\"");
    struct buf out = buf_in(a);

    for (size_t i = 0; i < definition.len;) {
        if (str_starts(str_slice(definition, i, definition.len), run)) {
            buf_add(&out, job);
            i += run.len;
        } else {
            buf_byte(&out, definition.at[i++]);
        }
    }
    return buf_str(&out);
}

static int64_t last_event(struct play *p)
{
    struct store_node node;

    CHECK_OK(store_begin(p->w->engine.sql, p->scratch, &node));
    store_rollback(p->w->engine.sql);
    return node.seq;
}

void play_start(struct play *p, str definition, str variables)
{
    str name = arena_printf(p->arena, "seed-%llu", (unsigned long long)p->seed);
    const struct json *started;

    p->log = buf_in(p->arena);
    buf_printf(&p->log, STR_FMT "\n" STR_FMT "\n", STR_ARG(definition), STR_ARG(variables));
    CHECK_OK(graph_compile(p->arena, json_parsed(p->arena, definition), &p->graph));
    p->reference =
        reference_new(p->arena, p->graph, json_parsed(p->arena, variables), p->w->now_ms);
    reference_moves_max(p->reference, (uint32_t)p->w->team.execution_spin);
    reference_agents(p->reference, flow_random_agents, FLOW_RANDOM_AGENTS,
                     (uint32_t)p->w->team.profile_max);
    crew_join(p);
    p->seen = last_event(p);
    play_shown(p, "workflow.deploy",
               arena_printf(p->scratch, "{\"name\":\"" STR_FMT "\",\"definition\":" STR_FMT "}",
                            STR_ARG(name), STR_ARG(definition)));
    started =
        play_asked(p, "execution.start",
                   arena_printf(p->scratch, "{\"workflow\":\"" STR_FMT "\",\"input\":" STR_FMT "}",
                                STR_ARG(name), STR_ARG(variables)));
    p->id = arena_copy(p->arena, json_str(started, "execution_id"));
    others_follow(p, 0);
    CHECK(reference_start(p->reference));
    trace_compare(p);
    rest_compare(p);
    crew_compare(p);
}

unsigned play_seed(struct world **w, struct arena *a, uint64_t seed,
                   void (*between)(struct play *p), struct vfs *watched, uint64_t *points)
{
    struct play p = { .w = *w,
                      .arena = a,
                      .scratch = arena_new(),
                      .seed = seed,
                      .between = between,
                      .disk = watched,
                      .chance = { seed } };
    struct random random = { seed ^ 0x5eed };
    unsigned events = 0;
    bool over = false;

    play_start(&p, without_commands(a, flow_random_definition(a, seed)),
               flow_random_variables(a, &random));
    uint32_t wild = random_below(&random, WILD);
    for (uint32_t i = 0; i < WILD + KIND && !over; i++) {
        struct flow_event e = i < wild ? flow_random_event(a, &random, p.graph, p.reference)
                                       : flow_kind_event(a, &random, p.graph, p.reference);
        size_t count;
        over = e.kind == FLOW_NOTHING;
        if (over)
            break;
        play_event(&p, &e);
        events++;
        const struct reference_waiting *all = reference_waiting(p.reference, a, &count);
        over = count && all[0].n == 0; /* round and round */
    }
    if (reference_status(p.reference) == REFERENCE_RUNNING ||
        reference_status(p.reference) == REFERENCE_PAUSED) {
        struct flow_event end = { .kind = FLOW_CANCEL };
        play_event(&p, &end);
    }
    arena_free(p.scratch);
    *w = p.w;
    *points += p.points;
    return events;
}
