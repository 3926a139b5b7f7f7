/* workforce_check.c: what must be true of executions in the end, by what those who worked have noted. */
#include "black/workforce.h"

enum { PAGE = 1000, SPOTS_MAX = 512, SLACK_MS = 20 };

/* ---- what happened, by the log ---- */

/* An event of an execution. */
struct moved {
    str execution, type;
    int64_t seq;
    const struct json *moves;
};

struct moved_list {
    struct moved *items;
    size_t count;
};

static int by_execution(const void *a, const void *b)
{
    const struct moved *x = a, *y = b;
    int order = str_compare(x->execution, y->execution);

    return order ? order : (x->seq > y->seq) - (x->seq < y->seq);
}

static int by_job(const void *a, const void *b)
{
    const struct given *x = a, *y = b;
    int order = str_compare(x->execution, y->execution);

    if (!order)
        order = (x->n > y->n) - (x->n < y->n);
    if (!order)
        order = (x->fence > y->fence) - (x->fence < y->fence);
    return order ? order : (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

static struct moved_list log_read(const struct black *node)
{
    struct moved_list all = { 0 };
    int64_t after = 0, last = 0;

    for (;;) {
        str route = arena_printf(check_arena(),
                                 "GET /events?after=%lld&limit=%d&type=execution_started"
                                 "&type=execution_moved&type=execution_ended",
                                 (long long)after, PAGE);
        const struct json *page = black_expect(node, 200, route.at, "");
        const struct json *events = json_get(page, "events");
        all.items = mem_grow(all.items, (all.count + events->len + 1) * sizeof *all.items);
        for (uint32_t i = 0; i < events->len; i++) {
            const struct json *e = &events->items[i];
            struct moved m = { .execution = json_str(e, "subject"),
                               .type = json_str(e, "type"),
                               .seq = json_int_or(e, "seq", 0),
                               .moves = json_get(json_get(e, "data"), "moves") };
            CHECK(m.seq > last);
            CHECK(!json_get(json_get(e, "data"), "moved")); /* none of them is left out */
            last = m.seq;
            all.items[all.count++] = m;
        }
        after = json_int_or(page, "next", 0);
        if (after >= json_int_or(page, "seen", 0))
            return all;
    }
}

/* How often a mark was where, and what became of it there. */
struct spot {
    str step;
    int64_t n, started, completed, failed, stopped; /* stopped: by the error of a worker */
};

/* An execution: what it shows, and what was noted of it. */
struct whole {
    str id;
    const struct json *shown, *steps;
    bool completed;
    const struct given *jobs;
    size_t job_count;
    const struct given *reports;
    size_t report_count;
    struct spot spots[SPOTS_MAX];
    size_t spot_count;
};

#define EXPECT(w, condition) ((condition) ? (void)0 : unexpected((w), __LINE__, #condition))

static void unexpected(const struct whole *w, int line, const char *condition)
{
    struct buf noted = buf_in(check_arena());

    for (size_t i = 0; i < w->job_count; i++) {
        const struct given *g = &w->jobs[i];
        buf_printf(&noted,
                   "\n  " STR_FMT " " STR_FMT "[%lld] attempt %lld with " STR_FMT
                   ", at %lld until %lld, told %d at %lld, heard %d",
                   STR_ARG(g->id), STR_ARG(g->step), (long long)g->item, (long long)g->attempt,
                   STR_ARG(g->worker), (long long)g->got_at, (long long)g->until, (int)g->told,
                   (long long)g->told_at, (int)g->heard);
    }
    for (size_t i = 0; i < w->spot_count; i++) {
        const struct spot *s = &w->spots[i];
        buf_printf(&noted,
                   "\n  mark %lld at " STR_FMT ": started %lld, completed %lld, failed %lld, "
                   "stopped %lld",
                   (long long)s->n, STR_ARG(s->step), (long long)s->started,
                   (long long)s->completed, (long long)s->failed, (long long)s->stopped);
    }
    check_fail(__FILE__, line, "not true: %s, of " STR_FMT "\n" STR_FMT STR_FMT, condition,
               STR_ARG(json_shown(check_arena(), w->shown)),
               STR_ARG(json_shown(check_arena(), w->steps)), STR_ARG(buf_str(&noted)));
}

static struct spot *spot_at(struct whole *w, str step, int64_t n)
{
    for (size_t i = 0; i < w->spot_count; i++)
        if (w->spots[i].n == n && str_eq(w->spots[i].step, step))
            return &w->spots[i];
    EXPECT(w, w->spot_count < SPOTS_MAX);
    w->spots[w->spot_count] = (struct spot){ .step = step, .n = n };
    return &w->spots[w->spot_count++];
}

/* Marks come in the order of their numbers, and no number is left out. */
static void trace_read(struct whole *w, const struct moved *events, size_t count)
{
    int64_t highest = 0;

    EXPECT(w, count > 0 && str_eq(events[0].type, STR("execution_started")));
    for (size_t i = 0; i < count; i++) {
        const struct json *moves = events[i].moves;
        str before = STR("");
        EXPECT(w, (i > 0) == !str_eq(events[i].type, STR("execution_started")));
        EXPECT(w, i + 1 == count || !str_eq(events[i].type, STR("execution_ended")));
        for (uint32_t k = 0; moves && k < moves->len; k++) {
            int64_t n = 0;
            str what = json_text(json_at(&moves->items[k], 1));
            EXPECT(w, json_to_int(json_at(&moves->items[k], 2), &n) && n > 0);
            EXPECT(w, n <= highest + 1);
            highest = n > highest ? n : highest;
            struct spot *s = spot_at(w, json_text(json_at(&moves->items[k], 0)), n);
            s->started += str_eq(what, STR("started"));
            s->completed += str_eq(what, STR("completed"));
            s->failed += str_eq(what, STR("failed"));
            s->stopped += str_eq(what, STR("incident")) && !str_eq(before, STR("failed"));
            before = what;
        }
    }
    str last = events[count - 1].type;
    EXPECT(w, str_eq(last, STR("execution_ended")) ==
                  (json_get(w->shown, "ended_at")->kind != JSON_NULL));
}

/* ---- of one job ---- */

static const struct json *step_named(const struct whole *w, str name)
{
    for (uint32_t i = 0; i < w->steps->len; i++)
        if (str_eq(json_str(&w->steps->items[i], "step"), name))
            return &w->steps->items[i];
    return NULL;
}

/* What history says of an attempt; NULL: nothing. */
static const struct json *history_entry(const struct whole *w, str step, int64_t item,
                                        int64_t attempt)
{
    const struct json *history = json_get(step_named(w, step), "history");
    const struct json *found = NULL;

    for (uint32_t i = 0; history && i < history->len; i++) {
        const struct json *e = &history->items[i];
        if (json_int_or(e, "attempt", 0) != attempt || json_int_or(e, "item", -1) != item)
            continue;
        EXPECT(w, !found); /* no attempt is counted twice */
        found = e;
    }
    return found;
}

/* Its result, where the execution holds it; NULL: its step has not come to its end. */
static const struct json *result_of(const struct whole *w, const struct given *g)
{
    const struct json *value = json_find(json_get(w->shown, "variables"), g->step);

    return g->item < 0 ? value : json_at(value, (size_t)g->item);
}

/* An attempt that was done is a result and no failure; one that failed, the other way round. */
static void check_outcome(struct whole *w, const struct given *g)
{
    const struct json *entry = history_entry(w, g->step, g->item, g->attempt);
    str outcome = json_str(entry, "outcome");
    bool is_over = entry && (str_eq(outcome, STR("lost")) || str_eq(outcome, STR("timeout")));
    bool said = g->heard == HEARD_YES;

    EXPECT(w, !entry || str_eq(json_str(entry, "worker"), g->worker));
    EXPECT(w, !entry || is_over || (g->told == TOLD_FAILED && g->heard != HEARD_NO));
    if (said && g->told == TOLD_FAILED)
        EXPECT(w, str_eq(outcome, STR("failed")));
    if (said && g->told != TOLD_FAILED)
        EXPECT(w, !entry);
    if (said && g->told == TOLD_DONE) {
        const struct json *value = result_of(w, g);
        EXPECT(w, spot_at(w, g->step, g->n)->completed == 1);
        EXPECT(w, value ? str_eq(json_text(value), g->id) : g->item >= 0 && !w->completed);
    }
    if (w->completed && (g->told == TOLD_NOTHING || g->heard == HEARD_NO))
        EXPECT(w, is_over);
}

/* One after the other: whoever has the next attempt has it when nobody has this one any more. */
static void check_next(struct whole *w, const struct given *g, const struct given *next)
{
    EXPECT(w, next->fence > g->fence && next->attempt > g->attempt);
    EXPECT(w, !(g->heard == HEARD_YES && g->told == TOLD_DONE));
    if (g->heard == HEARD_YES)
        EXPECT(w, next->got_at >= g->told_at);
    else if (g->until && (!g->told || g->told_at > next->got_at))
        EXPECT(w, next->got_at + SLACK_MS >= g->until);
}

static void check_jobs(struct whole *w)
{
    for (size_t i = 0; i < w->job_count; i++) {
        const struct given *g = &w->jobs[i];
        const struct spot *s = spot_at(w, g->step, g->n);
        EXPECT(w, g->attempt >= 1 && g->attempt <= s->started);
        EXPECT(w, s->completed <= 1);
        EXPECT(w, g->attempt <=
                      (WORKFORCE_ATTEMPTS + WORKFORCE_LOSSES) * (1 + s->failed + s->stopped));
        check_outcome(w, g);
        if (i + 1 < w->job_count && w->jobs[i + 1].n == g->n &&
            str_eq(w->jobs[i + 1].step, g->step))
            check_next(w, g, &w->jobs[i + 1]);
    }
}

/* ---- of one report ---- */

static void check_reports(struct whole *w)
{
    int done = 0;

    for (size_t i = 0; i < w->report_count; i++) {
        const struct given *g = &w->reports[i];
        if (g->heard != HEARD_YES)
            continue;
        const struct json *entry = history_entry(w, g->step, -1, g->attempt);
        EXPECT(w, (entry != NULL) == (g->told == TOLD_FAILED));
        if (g->told == TOLD_DONE)
            EXPECT(w, str_eq(json_text(result_of(w, g)), g->id));
        done += g->told == TOLD_DONE;
        for (size_t k = 0; k < i; k++) /* and no attempt has two */
            EXPECT(w, w->reports[k].heard != HEARD_YES || w->reports[k].attempt != g->attempt);
    }
    EXPECT(w, done <= 1);
}

/* ---- of one step ---- */

/* Who has said that, if anybody may have. */
static bool is_result_of_someone(const struct whole *w, str step, int64_t item, str value)
{
    for (size_t i = 0; i < w->job_count + w->report_count; i++) {
        const struct given *g = i < w->job_count ? &w->jobs[i] : &w->reports[i - w->job_count];
        if (str_eq(g->id, value))
            return str_eq(g->step, step) && g->item == item && g->told == TOLD_DONE &&
                   g->heard != HEARD_NO;
    }
    return false;
}

static void check_results(struct whole *w, str step)
{
    const struct json *value = json_find(json_get(w->shown, "variables"), step);

    EXPECT(w, value);
    if (!json_is(value, JSON_ARRAY)) {
        EXPECT(w, is_result_of_someone(w, step, -1, json_text(value)));
        return;
    }
    EXPECT(w, value->len == json_get(json_get(w->shown, "variables"), "parts")->len);
    for (uint32_t i = 0; i < value->len; i++)
        EXPECT(w, is_result_of_someone(w, step, i, json_text(&value->items[i])));
}

/* Every attempt that was begun has come to one end. */
static void check_step(struct whole *w, const struct json *step)
{
    str name = json_str(step, "step");
    const struct json *history = json_get(step, "history");
    int64_t started = 0, ended = history ? history->len : 0, highest = 0;

    for (size_t i = 0; i < w->spot_count; i++) {
        const struct spot *s = &w->spots[i];
        if (!str_eq(s->step, name))
            continue;
        started += s->started;
        ended += (s->started ? s->completed : 0) + s->stopped;
        highest = s->started > highest ? s->started : highest;
    }
    EXPECT(w, json_int_or(step, "attempt", 0) == highest);
    EXPECT(w, ended <= started);
    if (w->completed)
        EXPECT(w, ended == started);
    for (uint32_t i = 0; history && i < history->len; i++) {
        const struct json *e = &history->items[i];
        int64_t attempt = json_int_or(e, "attempt", 0);
        EXPECT(w, attempt >= 1 && attempt <= highest);
        EXPECT(w, history_entry(w, name, json_int_or(e, "item", -1), attempt) == e);
    }
    if (str_eq(json_str(step, "status"), STR("completed")))
        check_results(w, name);
    else
        EXPECT(w, !w->completed || str_eq(json_str(step, "status"), STR("skipped")));
}

/* ---- of one execution ---- */

static void check_document(struct whole *w, const struct black *node)
{
    const struct json *doc =
        json_get(black_expect(node, 200, black_route("GET", json_str(w->shown, "state_id")), ""),
                 "current_data");

    EXPECT(w, json_equal(json_get(doc, "variables"), json_get(w->shown, "variables")));
    EXPECT(w, str_eq(json_str(doc, "status"), json_str(w->shown, "status")));
    EXPECT(w, json_int_or(doc, "incidents", -1) == json_get(w->shown, "open_incidents")->len);
}

static const struct given *given_of(const struct given_list *all, str execution, size_t *count)
{
    size_t from = 0;

    while (from < all->count && str_compare(all->items[from].execution, execution) < 0)
        from++;
    *count = 0;
    while (from + *count < all->count && str_eq(all->items[from + *count].execution, execution))
        ++*count;
    return all->items + from;
}

static void check_execution(const struct black *node, str id, const struct moved *events,
                            size_t count, const struct given_list *jobs,
                            const struct given_list *reports)
{
    str route = arena_printf(check_arena(), "GET /executions/" STR_FMT, STR_ARG(id));
    struct whole *w = ARENA_NEW(check_arena(), struct whole);

    w->id = id;
    w->shown = black_expect(node, 200, route.at, "");
    w->steps =
        json_get(black_expect(node, 200,
                              arena_printf(check_arena(), STR_FMT "/steps", STR_ARG(route)).at, ""),
                 "steps");
    w->completed = str_eq(json_str(w->shown, "status"), STR("COMPLETED"));
    w->jobs = given_of(jobs, id, &w->job_count);
    w->reports = given_of(reports, id, &w->report_count);
    trace_read(w, events, count);
    check_jobs(w);
    check_reports(w);
    for (uint32_t i = 0; i < w->steps->len; i++)
        check_step(w, &w->steps->items[i]);
    check_document(w, node);
}

/* As many as were started, and each of them known by its own key. */
static void check_starts(const struct workforce *f, const struct black *node)
{
    bool *seen = ARENA_ARRAY(check_arena(), bool, (size_t)f->count);
    str after = STR("");
    int found = 0;

    memset(seen, 0, (size_t)f->count * sizeof *seen);
    for (int64_t next = 1; next;) {
        str route =
            arena_printf(check_arena(), "GET /executions?limit=100" STR_FMT, STR_ARG(after));
        const struct json *page = black_expect(node, 200, route.at, "");
        const struct json *all = json_get(page, "executions");
        for (uint32_t i = 0; i < all->len; i++, found++) {
            str key = json_str(&all->items[i], "business_key");
            int64_t number = -1;
            CHECK(str_starts(key, STR("order-")) &&
                  str_to_int(str_slice(key, strlen("order-"), key.len), &number));
            CHECK(number >= 0 && number < f->count && !seen[number]);
            CHECK(str_eq(json_str(&all->items[i], "execution_id"), f->started[number]));
            seen[number] = true;
        }
        next = json_int_or(page, "next", 0);
        after = arena_printf(check_arena(), "&after=%lld", (long long)next);
    }
    CHECK_INT(found, f->count);
}

void workforce_check(const struct workforce *f, const struct black *node, struct given_list *jobs,
                     struct given_list *reports)
{
    struct moved_list log = log_read(node);
    size_t executions = 0;

    check_starts(f, node);
    qsort(jobs->items, jobs->count, sizeof *jobs->items, by_job);
    qsort(reports->items, reports->count, sizeof *reports->items, by_job);
    qsort(log.items, log.count, sizeof *log.items, by_execution);
    for (size_t from = 0, to; from < log.count; from = to, executions++) {
        for (to = from;
             to < log.count && str_eq(log.items[to].execution, log.items[from].execution);)
            to++;
        check_execution(node, log.items[from].execution, log.items + from, to - from, jobs,
                        reports);
    }
    CHECK_INT(executions, f->count);
    mem_free(log.items);
}
