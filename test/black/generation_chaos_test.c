/* generation_chaos_test.c: document 002's generation, two hundred times, with agents, runners, people and servers
 * none of which can be relied on.
 *
 * Runners are threads that claim runs and play their agents, which record, forget to, fail, crash, say all twice,
 * or die with their runner, before and after they have recorded. People approve, reject and want rework, two
 * at once. Meanwhile servers are killed. Afterwards the log says whether a step was at work twice at once, an
 * attempt counted twice, or an approval skipped; and all has ended. */
#include <pthread.h>

#include "black/roaming_client.h"
#include "client/socket.h"
#include "sim/postgres.h"

enum {
    NODES = 2,
    RUNNERS = 12,
    PEOPLE = 2,
    HANDS = RUNNERS + PEOPLE,
    STEPS = 7,
    APPROVED = 3, /* the step that a person approves */
    EXECUTIONS = 40,
    EXECUTIONS_SOAK = 200,
    UP_MS = 700,
    POLL_MS = 1500,
    END_S = 240,
    WILD_S = 40, /* that all of it goes on at most */
};

static int generations(void)
{
    return black_times() > 1 ? EXECUTIONS_SOAK : EXECUTIONS;
}

static const char *const outputs[STEPS + 1][3] = {
    [1] = { "blueprint_path" },
    [2] = { "constraints_list" },
    [3] = { "verification_plan" },
    [4] = { "draft", "compliance_echo" },
    [5] = { "fast_compliance_result" },
    [6] = { "final_validation_report" },
    [7] = { "final_report", "scene_content" },
};

struct chorus {
    struct chaos chaos; /* only its servers are of use */
    struct hand *hands;
    atomic_bool calm; /* all do what they should, at once */
    _Atomic int starting;
    _Atomic int64_t turns, deaths, silent, failed, late, decisions, refused;
};

/* A runner with its agents, or a person. */
struct hand {
    struct chorus *all;
    struct roaming_client client;
    pthread_t thread;
    int number, lives, keys;
    str token, runner_id; /* of a runner */
};

static bool by_chance(struct hand *h, uint32_t percent)
{
    return !h->all->calm && random_below(&h->client.random, 100) < percent;
}

static str quoted(struct hand *h, str text)
{
    return quotes_double(h->client.arena, text.at);
}

#define BODY(h, ...) quoted((h), arena_printf((h)->client.arena, __VA_ARGS__))

static str key_new(struct hand *h)
{
    return arena_printf(h->client.arena, "h%d-%d", h->number, ++h->keys);
}

/* Once, as whoever has a token; the status is 0 when there was no answer in time. */
static struct response ask_once(struct hand *h, str token, const char *method, str target, str key,
                                str body)
{
    struct roaming_client *v = &h->client;
    struct endpoint endpoint = v->chaos->nodes[v->node].endpoint;
    struct response_field field = { STR("Idempotency-Key"), key };
    struct http_call call = { .method = method,
                              .target = target,
                              .fields = &field,
                              .field_count = key.len ? 1 : 0,
                              .body = body,
                              .timeout_ms = v->patience_ms };
    struct response r = { .status = 0 };

    endpoint.token = token;
    struct http_client *client = http_client_new(&endpoint);
    if (http_client_call(client, v->arena, &call, &r) || r.status == 503)
        r = (struct response){ .status = 0 };
    http_client_free(client);
    return r;
}

/* Until there is an answer, with one key. */
static struct response ask(struct hand *h, str token, const char *method, str target, str body)
{
    str key = strcmp(method, "GET") ? key_new(h) : STR("");
    struct response r;

    while (!(r = ask_once(h, token, method, target, key, body)).status) {
        h->client.sent_again++;
        chaos_wait_ms(5);
        roaming_client_move(&h->client);
    }
    return r;
}

static str operator_token(const struct hand *h)
{
    return h->client.chaos->nodes[h->client.node].endpoint.token;
}

static const struct json *look(struct hand *h, str target)
{
    struct response r = ask(h, operator_token(h), "GET", target, STR(""));

    if (r.status != 200)
        check_fail(__FILE__, __LINE__, STR_FMT ": status %d: " STR_FMT, STR_ARG(target), r.status,
                   STR_ARG(r.body));
    return json_parsed(h->client.arena, r.body);
}

/* ---- runners ---- */

static void runner_join(struct hand *h)
{
    struct response r = ask(h, h->token, "POST", STR("/runner/register"),
                            BODY(h,
                                 "{'name':'runner-%d-%d','hostname':'here','commands':true,"
                                 "'capacity':8}",
                                 h->number, ++h->lives));

    if (r.status != 200 && r.status != 201)
        check_fail(__FILE__, __LINE__, "register: %d " STR_FMT, r.status, STR_ARG(r.body));
    h->runner_id =
        arena_copy(check_arena(), json_str(json_parsed(h->client.arena, r.body), "runner_id"));
}

/* With all that it has, and without a word. */
static void runner_die(struct hand *h)
{
    h->runner_id = STR("");
    h->all->deaths++;
}

static int tell(struct hand *h, const struct json *run, const char *what, const char *more)
{
    str target = arena_printf(h->client.arena, "/runner/runs/" STR_FMT "/%s",
                              STR_ARG(json_str(run, "run_id")), what);
    struct response r =
        ask(h, h->token, "POST", target,
            BODY(h, "{'runner_id':'" STR_FMT "','fence':%lld%s}", STR_ARG(h->runner_id),
                 (long long)json_int_or(run, "fence", 0), more));

    if (r.status != 200 && r.status != 409 && r.status != 404)
        check_fail(__FILE__, __LINE__, "%s: %d " STR_FMT, what, r.status, STR_ARG(r.body));
    h->all->late += r.status != 200;
    return r.status;
}

/* What its session is to record, as its first turn was told. */
static const struct json *task_of(struct hand *h, const struct json *run)
{
    const struct json *task = json_get(run, "metadata");
    str session = json_str(run, "session_name");

    if (json_str(task, "workflow_id").len)
        return task;
    const struct json *runs =
        json_get(look(h, arena_printf(h->client.arena, "/runs?session=" STR_FMT, STR_ARG(session))),
                 "runs");
    for (uint32_t i = 0; i < runs->len; i++) {
        str id = json_str(&runs->items[i], "run_id");
        task = json_get(look(h, arena_printf(h->client.arena, "/runs/" STR_FMT, STR_ARG(id))),
                        "metadata");
        if (json_str(task, "workflow_id").len)
            return task;
    }
    return NULL;
}

/* Refused when nobody wants to know any more, or its token has ended; whose work is over does not see the
 * execution any more. */
static void record(struct hand *h, const struct json *run, const struct json *task, bool fails)
{
    struct buf body = buf_in(h->client.arena);
    int64_t step = 0;

    CHECK(str_to_int(json_str(task, "step"), &step) && step >= 1 && step <= STEPS);
    buf_printf(&body, "{'step':%lld,'status':'%s'", (long long)step,
               fails ? "failed" : "completed");
    for (int i = 0; !fails && i < 3 && outputs[step][i]; i++)
        buf_printf(&body, "%s'%s':'" STR_FMT "'", i ? "," : ",'artifacts':{", outputs[step][i],
                   STR_ARG(json_str(run, "run_id")));
    buf_add(&body, fails ? STR(",'error':'it is not good'}") : STR("}}"));
    struct response r = ask(h, json_str(run, "token"), "POST",
                            arena_printf(h->client.arena, "/executions/" STR_FMT "/workflow/update",
                                         STR_ARG(json_str(task, "workflow_id"))),
                            BODY(h, STR_FMT, STR_ARG(buf_str(&body))));
    if (r.status != 200 && r.status != 409 && r.status != 401 && r.status != 404)
        check_fail(__FILE__, __LINE__, "record: %d " STR_FMT, r.status, STR_ARG(r.body));
    h->all->late += r.status != 200;
}

/* Whoever works for a workflow may not decide what a person is asked about. */
static void try_to_decide(struct hand *h, const struct json *run)
{
    const struct json *all =
        json_get(look(h, STR("/approvals?status=waiting&limit=1")), "approvals");

    for (uint32_t i = 0; i < all->len; i++) {
        str target = arena_printf(h->client.arena, "/approvals/" STR_FMT,
                                  STR_ARG(json_str(&all->items[i], "approval_id")));
        struct response r = ask(h, json_str(run, "token"), "POST", target,
                                quoted(h, STR("{'decision':'approve'}")));
        CHECK(r.status == 403 || r.status == 404 || r.status == 401);
        h->all->refused++;
    }
}

/* One turn, as an agent takes it. */
static void take_turn(struct hand *h, const struct json *run)
{
    const struct json *task = task_of(h, run);
    uint32_t mood = h->all->calm ? 99 : random_below(&h->client.random, 100);

    h->all->turns++;
    if (tell(h, run, "started", "") != 200)
        return;
    if (mood < 4) {
        runner_die(h);
        return;
    }
    if (!task)
        check_fail(__FILE__, __LINE__, "no task of run " STR_FMT,
                   STR_ARG(json_printed(h->client.arena, run)));
    if (by_chance(h, 3))
        try_to_decide(h, run);
    if (mood < 12) {
        h->all->silent++;
        tell(h, run, "completed", ",'client_id':'c','result':'all is well'");
        return;
    }
    if (mood < 14) {
        h->all->failed++;
        tell(h, run, "failed", ",'error':'exit code 1'");
        return;
    }
    record(h, run, task, mood < 16);
    if (mood >= 16 && mood < 20) {
        runner_die(h);
        return;
    }
    if (mood >= 20 && mood < 28)
        record(h, run, task, false);
    tell(h, run, "completed", ",'client_id':'c','result':'done'");
    if (mood >= 28 && mood < 33)
        tell(h, run, "completed", ",'client_id':'c','result':'done'");
}

static void runs_stop(struct hand *h, const struct json *ids)
{
    for (uint32_t i = 0; i < ids->len; i++) {
        str id = json_text(&ids->items[i]);
        const struct json *run =
            look(h, arena_printf(h->client.arena, "/runs/" STR_FMT, STR_ARG(id)));
        tell(h, run, "stopped", "");
    }
}

static void *runner_run(void *self)
{
    struct hand *h = self;

    arena_take(h->client.arena);
    while (!h->client.chaos->over) {
        if (!h->runner_id.len)
            runner_join(h);
        struct response r = ask_once(
            h, h->token, "GET",
            arena_printf(h->client.arena, "/runner/runs?runner_id=" STR_FMT, STR_ARG(h->runner_id)),
            STR(""), STR(""));
        if (r.status == 200) {
            const struct json *answer = json_parsed(h->client.arena, r.body);
            if (json_get(answer, "run"))
                take_turn(h, json_get(answer, "run"));
            else if (json_get(answer, "stop_runs"))
                runs_stop(h, json_get(answer, "stop_runs"));
            else
                h->runner_id = STR("");
        } else if (r.status != 204 && r.status) {
            check_fail(__FILE__, __LINE__, "claim: %d " STR_FMT, r.status, STR_ARG(r.body));
        } else if (!r.status) {
            chaos_wait_ms(5);
            roaming_client_move(&h->client);
        }
        arena_reset(h->client.arena);
    }
    roaming_client_close(&h->client);
    return NULL;
}

/* ---- people ---- */

static void decide(struct hand *h, const struct json *approval)
{
    uint32_t mood = h->all->calm ? 0 : random_below(&h->client.random, 100);
    const char *decision = mood < 84   ? "'approve'"
                           : mood < 90 ? "'rework'"
                           : mood < 97 ? "'rework','step':'2'"
                                       : "'reject'";
    str target = arena_printf(h->client.arena, "/approvals/" STR_FMT,
                              STR_ARG(json_str(approval, "approval_id")));
    str digest = json_str(approval, "digest");
    struct response r =
        ask(h, operator_token(h), "POST", target,
            BODY(h, "{'decision':%s,'digest':'" STR_FMT "'}", decision, STR_ARG(digest)));

    if (r.status != 200 && r.status != 409)
        check_fail(__FILE__, __LINE__, "decide: %d " STR_FMT, r.status, STR_ARG(r.body));
    h->all->decisions += r.status == 200;
    if (r.status == 200 && by_chance(h, 20)) {
        r = ask(h, operator_token(h), "POST", target,
                BODY(h, "{'decision':'%s'}", mood < 97 ? "reject" : "approve"));
        CHECK_INT(r.status, 409);
        h->all->refused++;
    }
}

static void resolve_incidents(struct hand *h)
{
    const struct json *all = json_get(look(h, STR("/incidents?status=open&limit=50")), "incidents");

    for (uint32_t i = 0; i < all->len; i++) {
        struct response r = ask(h, operator_token(h), "POST",
                                arena_printf(h->client.arena, "/incidents/" STR_FMT "/resolve",
                                             STR_ARG(json_str(&all->items[i], "incident_id"))),
                                STR("{}"));
        CHECK_INT(r.status, 200);
    }
}

/* The first of them begins all, under a key each. */
static void start_all(struct hand *h)
{
    for (int i = 0; i < generations(); i++) {
        struct response r;
        str key = arena_printf(h->client.arena, "start-%d", i);
        while (!(r = ask_once(h, operator_token(h), "POST", STR("/executions"), key,
                              BODY(h,
                                   "{'workflow':'generation','business_key':'scene-%d',"
                                   "'input':{'scene_id':'%04d'}}",
                                   i, i)))
                    .status) {
            chaos_wait_ms(5);
            roaming_client_move(&h->client);
        }
        if (r.status != 201)
            check_fail(__FILE__, __LINE__, "start: %d " STR_FMT, r.status, STR_ARG(r.body));
        arena_reset(h->client.arena);
    }
    h->all->starting = 0;
}

static void *person_run(void *self)
{
    struct hand *h = self;

    arena_take(h->client.arena);
    if (h->number == RUNNERS)
        start_all(h);
    while (!h->client.chaos->over) {
        const struct json *all =
            json_get(look(h, STR("/approvals?status=waiting&limit=50")), "approvals");
        for (uint32_t i = 0; i < all->len; i++)
            if (h->all->calm || random_below(&h->client.random, 2))
                decide(h, &all->items[i]);
        resolve_incidents(h);
        arena_reset(h->client.arena);
        chaos_wait_ms(20);
    }
    roaming_client_close(&h->client);
    return NULL;
}

/* ---- what the log says ---- */

/* Of one execution, what its steps were at. */
struct scene {
    str id;
    struct {
        int64_t at_work; /* the mark; 0: none */
        int64_t failed, approved, completed;
        bool passed; /* completed, and approved where a person does that */
    } steps[STEPS + 1];
    int64_t approvals;
};

#define EXPECT(s, condition)                                                              \
    ((condition) ? (void)0                                                                \
                 : check_fail(__FILE__, __LINE__, "not true of " STR_FMT ", step %d: %s", \
                              STR_ARG((s)->id), (int)step, #condition))

/* `began`: its last started is not over; a mark that has lost its runner begins again without a word. */
static void move_read(struct scene *s, int64_t step, str what, int64_t n)
{
    if (str_eq(what, STR("started"))) {
        EXPECT(s, !s->steps[step].at_work || s->steps[step].at_work == n);
        EXPECT(s, step == 1 || s->steps[step - 1].passed);
        s->steps[step].at_work = n;
        s->steps[step].passed = false;
    } else if (str_eq(what, STR("completed"))) {
        EXPECT(s, s->steps[step].at_work == n);
        s->steps[step].at_work = 0;
        s->steps[step].completed++;
        s->steps[step].passed = step != APPROVED;
    } else if (str_eq(what, STR("failed"))) {
        EXPECT(s, s->steps[step].at_work == n);
        s->steps[step].at_work = 0;
        s->steps[step].failed++;
    } else if (str_eq(what, STR("cancelled"))) {
        s->steps[step].at_work = 0;
    } else if (str_eq(what, STR("approved"))) {
        EXPECT(s, step == APPROVED && s->steps[step].completed > s->steps[step].approved);
        s->steps[step].approved = s->steps[step].completed;
        s->steps[step].passed = true;
        s->approvals++;
    } else if (str_eq(what, STR("reopened"))) {
        s->steps[step].passed = false;
    }
}

static void scene_read(struct scene *s, const struct json *events)
{
    for (uint32_t i = 0; i < events->len; i++) {
        const struct json *data = json_get(&events->items[i], "data"),
                          *moves = json_get(data, "moves");
        CHECK(!json_get(data, "moved")); /* none of them is left out */
        for (uint32_t k = 0; moves && k < moves->len; k++) {
            int64_t step = 0, n = 0;
            if (!str_to_int(json_text(&moves->items[k].items[0]), &step))
                continue;
            CHECK(step >= 1 && step <= STEPS && json_to_int(&moves->items[k].items[2], &n));
            move_read(s, step, json_text(&moves->items[k].items[1]), n);
        }
    }
}

/* As often as the log says that an attempt has failed, there is one that counts in the history. */
static void history_check(const struct scene *s, const struct json *steps)
{
    for (uint32_t i = 0; i < steps->len; i++) {
        const struct json *history = json_get(&steps->items[i], "history");
        int64_t counted = 0, step = 0;
        CHECK(str_to_int(json_str(&steps->items[i], "step"), &step));
        for (uint32_t k = 0; history && k < history->len; k++) {
            str outcome = json_str(&history->items[k], "outcome");
            counted += str_eq(outcome, STR("failed")) || str_eq(outcome, STR("timeout")) ||
                       str_eq(outcome, STR("violations"));
        }
        if (!history || history->len < 50)
            EXPECT(s, counted == s->steps[step].failed);
    }
}

static void approvals_check(const struct scene *s, const struct json *approvals)
{
    int64_t approved = 0, step = APPROVED;

    for (uint32_t i = 0; i < approvals->len; i++) {
        str status = json_str(&approvals->items[i], "status");
        EXPECT(s, !str_eq(status, STR("waiting")));
        approved += str_eq(status, STR("approved"));
        EXPECT(s, !str_eq(status, STR("approved")) ||
                      str_eq(json_str(&approvals->items[i], "decided_by"), STR("operator")));
    }
    EXPECT(s, approved == s->approvals);
}

/* A page of the log may have nothing of it. */
static void log_read(struct scene *s, const struct black *node)
{
    int64_t after = 0;

    for (bool more = true; more;) {
        const struct json *page =
            black_expect(node, 200,
                         arena_printf(check_arena(),
                                      "GET /events?limit=1000&after=%lld&subject=" STR_FMT,
                                      (long long)after, STR_ARG(s->id))
                             .at,
                         "");
        scene_read(s, json_get(page, "events"));
        after = json_int_or(page, "next", 0);
        more = after < json_int_or(page, "seen", 0);
    }
}

static const struct json *list_of(const struct black *node, const char *before, str id,
                                  const char *behind, const char *member)
{
    str route = arena_printf(check_arena(), "GET %s" STR_FMT "%s", before, STR_ARG(id), behind);

    return json_get(black_expect(node, 200, route.at, ""), member);
}

static void scenes_check(const struct black *node, int *completed, int *failed)
{
    str after = STR("");
    int64_t next = 1;
    int found = 0;

    while (next) {
        const struct json *page = black_expect(
            node, 200,
            arena_printf(check_arena(), "GET /executions?limit=100" STR_FMT, STR_ARG(after)).at,
            "");
        const struct json *all = json_get(page, "executions");
        for (uint32_t i = 0; i < all->len; i++, found++) {
            struct scene s = { .id = json_str(&all->items[i], "execution_id") };
            str status = json_str(&all->items[i], "status");
            log_read(&s, node);
            history_check(&s, list_of(node, "/executions/", s.id, "/steps", "steps"));
            approvals_check(&s, list_of(node, "/approvals?limit=500&execution=", s.id, "",
                                        "approvals"));
            *completed += str_eq(status, STR("COMPLETED"));
            *failed += str_eq(status, STR("FAILED"));
            for (int64_t step = 1; str_eq(status, STR("COMPLETED")) && step <= STEPS; step++)
                EXPECT(&s, s.steps[step].passed && !s.steps[step].at_work);
        }
        next = json_int_or(page, "next", 0);
        after = arena_printf(check_arena(), "&after=%lld", (long long)next);
    }
    CHECK_INT(found, generations());
}

/* ---- from the beginning to the end ---- */

static void chorus_begin(struct chorus *c, struct random *random)
{
    c->hands = ARENA_ARRAY(check_arena(), struct hand, HANDS);
    c->starting = 1;
    for (int i = 0; i < HANDS; i++) {
        struct hand *h = &c->hands[i];
        *h = (struct hand){ .all = c, .number = i };
        if (i < RUNNERS)
            h->token = black_add_token(&c->chaos.nodes[0], "runner").text;
        roaming_client_open(&h->client, &c->chaos, random_next(random));
        if (i < RUNNERS && h->client.patience_ms > POLL_MS)
            h->client.patience_ms = POLL_MS;
        CHECK(pthread_create(&h->thread, NULL, i < RUNNERS ? runner_run : person_run, h) == 0);
    }
}

static int kill_now_and_then(struct chorus *c, int64_t for_ms, struct random *random)
{
    int64_t end = socket_clock_ms() + for_ms;
    int kills = 0;

    while (socket_clock_ms() < end || !kills) {
        struct black *b = &c->chaos.nodes[random_below(random, (uint32_t)c->chaos.node_count)];
        chaos_wait_ms(UP_MS / 2 + (long)random_below(random, UP_MS));
        black_kill(b);
        black_start(b);
        kills++;
    }
    return kills;
}

/* Until half of them have come to their end, so that also the last steps see all of it. */
static void stay_wild(const struct chorus *c)
{
    int64_t end = socket_clock_ms() + WILD_S * 1000;
    uint32_t done = 0;

    while (socket_clock_ms() < end && (c->starting || (int)done < generations() / 2)) {
        done = json_get(black_expect(&c->chaos.nodes[0], 200,
                                     "GET /executions?status=COMPLETED&limit=100", ""),
                        "executions")
                   ->len;
        chaos_wait_ms(200);
    }
}

/* The first that has not ended; NULL: there is none. */
static const struct json *still_open(const struct chorus *c)
{
    const struct json *all =
        json_get(black_expect(&c->chaos.nodes[0], 200, "GET /executions?status=open&limit=1", ""),
                 "executions");

    return all->len ? &all->items[0] : NULL;
}

static void wait_for_end(const struct chorus *c)
{
    int64_t end = socket_clock_ms() + END_S * 1000;
    const struct json *one = NULL;

    while (c->starting || (one = still_open(c))) {
        if (socket_clock_ms() > end && one) {
            str route = arena_printf(check_arena(), "GET /executions/" STR_FMT,
                                     STR_ARG(json_str(one, "execution_id")));
            one = black_expect(&c->chaos.nodes[0], 200, route.at, "");
            check_fail(__FILE__, __LINE__, "it does not end: " STR_FMT,
                       STR_ARG(json_shown(check_arena(), one)));
        }
        chaos_wait_ms(200);
    }
}

static void go_through(struct chorus *c)
{
    struct random random = random_start();
    int completed = 0, failed = 0;
    int64_t again = 0;

    chorus_begin(c, &random);
    int kills = kill_now_and_then(c, chaos_ms(5, 4), &random);
    stay_wild(c);
    c->calm = true;
    wait_for_end(c);
    c->chaos.over = true;
    for (int i = 0; i < HANDS; i++) {
        pthread_join(c->hands[i].thread, NULL);
        again += c->hands[i].client.sent_again;
    }
    scenes_check(&c->chaos.nodes[0], &completed, &failed);
    check_note(
        "%d kills, %d executions, %d completed, %d failed, %lld turns, %lld runners died, "
        "%lld forgot to record, %lld crashed, %lld late words, %lld decisions, %lld refused, "
        "%lld requests sent again",
        kills, generations(), completed, failed, (long long)c->turns, (long long)c->deaths,
        (long long)c->silent, (long long)c->failed, (long long)c->late, (long long)c->decisions,
        (long long)c->refused, (long long)again);
    CHECK(completed > 0 && c->deaths > 0 && c->silent > 0 && c->decisions > 0 && c->refused > 0);
    CHECK_INT(completed + failed, generations());
}

#define SETTINGS                                                                             \
    "--set", "versions_kept=10000000", "--set", "state_update_retry_delay=10ms", "--set",    \
        "lease_time=2s", "--set", "run_stop_time=300ms", "--set", "profile_sessions_max=24", \
        "--set", "poll_time=1s"

TEST_LIMIT(no_step_of_a_generation_is_skipped_or_done_twice_by_a_server_that_is_killed, 300)
{
    static const char *const args[] = { SETTINGS, NULL };
    static struct black server = { .args = args };
    static struct chorus c = { .chaos = {
                                   .nodes = &server, .node_count = 1, .patience_ms = 20000 } };

    black_start(&server);
    go_through(&c);
    black_stop(&server);
    black_run((const char *const[]){ "store", "check", "--data", "data", "--deep", NULL });
}

TEST_LIMIT(no_step_of_a_generation_is_skipped_or_done_twice_by_nodes_that_are_killed, 300)
{
    static const char *const settings[] = { "fsync=on", NULL };
    static struct black nodes[NODES];
    static struct chorus c = { .chaos = {
                                   .nodes = nodes, .node_count = NODES, .patience_ms = 1500 } };
    struct postgres *postgres = postgres_start_with(settings);
    const char *store = postgres_new_database(postgres);
    const char *const args[] = { "--store", store, SETTINGS, "--set", "lock_time=500ms", NULL };

    for (int i = 0; i < NODES; i++) {
        nodes[i] =
            (struct black){ .data = arena_printf(check_arena(), "node%d", i).at, .args = args };
        black_start(&nodes[i]);
    }
    go_through(&c);
    for (int i = 0; i < NODES; i++)
        black_stop(&nodes[i]);
    black_run((const char *const[]){ "store", "check", store, "--deep", NULL });
    postgres_stop(postgres);
}
