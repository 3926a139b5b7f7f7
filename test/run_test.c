/* run_test.c: runs are claimed by those whom they fit, held under a lease, and end once. */
#include "check.h"
#include "core/audit.h"
#include "core/output.h"
#include "core/run.h"
#include "json/pointer.h"
#include "json/schema.h"
#include "sim/engine.h"
#include "sim/vfs.h"

/* ---- a world with runners ---- */

enum {
    LEASE_MS = 1000,
    MATCH_MS = 10000,
    RUN_MS = 5000,
    GRACE_MS = 500,
    STOP_MS = 700,
    SILENT_MS = 3000,
};

static const struct team_rules rules = {
    .update_attempts = 3,
    .update_timeout_ms = 2000,
    .update_delay_ms = 100,
    .lease_ms = LEASE_MS,
    .claim_max = 3,
    .match_ms = MATCH_MS,
    .run_ms = RUN_MS,
    .run_grace_ms = GRACE_MS,
    .stop_ms = STOP_MS,
    .poll_ms = 30000,
    .beat_ms = 1000,
    .silent_ms = SILENT_MS,
    .depth_max = 10,
    .tree_max = 100,
    .profile_max = 100,
    .output_bytes = 100,
    .session_events = 10,
};

static const struct actor operator= { .kind = ACTOR_OPERATOR, .name = { "operator", 8 } };

static struct vfs_world *disk; /* of the one world that there is */

static struct world *world_new(void)
{
    struct world *w;

    disk = vfs_world_new(1, 4096);
    CHECK_OK(world_open("run.db", vfs_name(disk), &w));
    w->engine.team = &rules;
    return w;
}

static void broken_rule(void *self, const struct audit_finding *f)
{
    (void)self;
    check_fail(__FILE__, __LINE__, "%s: " STR_FMT ": " STR_FMT, f->rule, STR_ARG(f->place),
               STR_ARG(f->problem));
}

/* All that holds in every database. */
static void world_audit(struct world *w)
{
    struct store_node node;

    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    struct tx tx = { .arena = check_arena(),
                     .sql = w->engine.sql,
                     .now_ms = w->now_ms,
                     .seq = &node.seq,
                     .actor = &w->actor };
    CHECK_OK(audit_rows(&tx, broken_rule, NULL));
    store_rollback(w->engine.sql);
}

static void world_end(struct world *w)
{
    world_audit(w);
    world_close(w);
    vfs_world_free(disk);
}

/* An operation with an input like printf's. */
__attribute__((format(printf, 3, 4))) static struct command *call(struct world *w, const char *op,
                                                                  const char *format, ...)
{
    struct buf input = buf_in(check_arena());
    va_list args;

    va_start(args, format);
    buf_vprintf(&input, format, args);
    va_end(args);
    return world_call(w, op, buf_str(&input).at, "");
}

/* A member of an answer by its pointer; strings are their bytes, the rest is printed. */
static str at(const struct command *c, const char *pointer)
{
    const struct json *json, *value;

    CHECK_OK(c->error);
    CHECK_OK(json_parse(check_arena(), c->answer, NULL, &json));
    CHECK_OK(json_pointer_get(check_arena(), json, str_from(pointer), &value));
    return value->kind == JSON_STRING ? json_text(value) : json_printed(check_arena(), value);
}

static bool has(const struct command *c, const char *name)
{
    const struct json *json;

    CHECK_OK(json_parse(check_arena(), c->answer, NULL, &json));
    return json_get(json, name) != NULL;
}

struct machine {
    str token, id;
};

static void be(struct world *w, const struct machine *m)
{
    w->actor = (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = m->token };
}

/* A runner; what it has beside its name is JSON, beginning with a comma. */
static struct machine machine_new(struct world *w, const char *name, const char *more)
{
    struct machine m = { .token = arena_printf(check_arena(), "rn_%s", name) };

    be(w, &m);
    m.id = at(call(w, "runner.register", "{'hostname':'%s'%s}", name, more), "/runner_id");
    w->actor = operator;
    return m;
}

struct claim {
    str run_id, token;
    int64_t fence;
};

static struct command *poll(struct world *w, const struct machine *m)
{
    be(w, m);
    struct command *c = call(w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(m->id));
    w->actor = operator;
    CHECK_OK(c->error);
    return c;
}

/* The run that a runner gets; its id is empty when there is none. */
static struct claim claim(struct world *w, const struct machine *m)
{
    struct command *c = poll(w, m);
    struct claim taken = { .fence = 0 };

    if (c->waits || !has(c, "run"))
        return taken;
    taken.run_id = at(c, "/run/run_id");
    taken.token = at(c, "/run/token");
    CHECK(str_to_int(at(c, "/run/fence"), &taken.fence));
    return taken;
}

static struct command *report(struct world *w, const struct machine *m, const struct claim *c,
                              const char *what, const char *more)
{
    str op = arena_printf(check_arena(), "runner.%s", what);

    be(w, m);
    struct command *done = call(w, op.at,
                                "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':%lld%s}",
                                STR_ARG(m->id), STR_ARG(c->run_id), (long long)c->fence, more);
    w->actor = operator;
    return done;
}

/* Asks for the first turn of a new session; more of the request is JSON, beginning with a comma. */
static str start(struct world *w, const char *name, const char *more)
{
    return at(call(w, "run.create", "{'type':'start_session','session_name':'%s','prompt':'go'%s}",
                   name, more),
              "/run_id");
}

static str resume(struct world *w, const char *name, const char *more)
{
    return at(call(w, "run.create",
                   "{'type':'resume_session','session_name':'%s','prompt':'more'%s}", name, more),
              "/run_id");
}

static str show(struct world *w, str run_id, const char *pointer)
{
    return at(call(w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(run_id)), pointer);
}

#define CHECK_RUN(w, id, status) CHECK_STR(show(w, id, "/status"), status)

/* All that is due when so much time has passed. */
static void pass(struct world *w, int64_t ms)
{
    w->now_ms += ms;
    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    while (str_ends(world_call(w, "system.tick", "{}", "")->answer, STR("\"more\":true}")))
        ;
    w->actor = operator;
}

/* The same with signs of life of a runner on the way. */
static void pass_alive(struct world *w, const struct machine *m, int64_t ms)
{
    for (; ms > 0; ms -= 500) {
        pass(w, ms < 500 ? ms : 500);
        be(w, m);
        CHECK_OK(call(w, "runner.heartbeat", "{'runner_id':'" STR_FMT "'}", STR_ARG(m->id))->error);
        w->actor = operator;
    }
}

static void must_be(str found, str expected)
{
    CHECK(expected.len > 0);
    CHECK_STR(found, arena_copy(check_arena(), expected).at);
}

static str token_error(struct world *w, str token)
{
    struct grant *grant;
    err e = op_admit(&w->engine, check_arena(), token, &grant);

    if (!e)
        grant_unref(grant);
    return e ? e->message : STR("");
}

/* ---- a turn ---- */

TEST(a_run_is_claimed_started_and_completed)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    str run = start(w, "root", ",'metadata':{'k':1},'project_dir':'/src','max_seconds':9");

    CHECK_RUN(w, run, "pending");
    struct command *c = poll(w, &a);
    must_be(at(c, "/run/run_id"), run);
    CHECK_STR(at(c, "/run/type"), "start_session");
    CHECK_STR(at(c, "/run/purpose"), "work");
    CHECK_STR(at(c, "/run/session_name"), "root");
    CHECK_STR(at(c, "/run/prompt"), "go");
    CHECK_STR(at(c, "/run/agent"), "null");
    CHECK_STR(at(c, "/run/profile/name"), "claude");
    CHECK_STR(at(c, "/run/project_dir"), "/src");
    CHECK_STR(at(c, "/run/fence"), "1");
    CHECK_STR(at(c, "/run/lease_seconds"), "1");
    CHECK_STR(at(c, "/run/max_seconds"), "9");
    CHECK_STR(at(c, "/run/metadata"), "{\"k\":1}");
    CHECK_STR(at(c, "/run/env/AGENT_SESSION_NAME"), "root");
    must_be(at(c, "/run/env/BATON_RUN_ID"), run);
    CHECK_RUN(w, run, "claimed");
    struct claim held = { run, at(c, "/run/token"), 1 };

    CHECK_STR(token_error(w, held.token), "");
    CHECK_OK(report(w, &a, &held, "started", ",'client_id':'abc'")->error);
    CHECK_RUN(w, run, "running");
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/status"), "running");
    CHECK_OK(report(w, &a, &held, "completed", ",'result':'done'")->error);
    CHECK_RUN(w, run, "completed");
    CHECK_STR(show(w, run, "/result"), "done");
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/status"), "finished");
    CHECK(token_error(w, held.token).len > 0);
    world_end(w);
}

/* Everybody who knows the ids comes to the same trace. */
TEST(the_trace_of_a_run_comes_from_the_ids_of_its_tree)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ",'capacity':5");
    str first, second;

    start(w, "root", "");
    first = at(poll(w, &a), "/run/env/TRACEPARENT");
    be(w, &a);
    CHECK(call(w, "runner.claim", "{'runner_id':'" STR_FMT "','known':['%s']}", STR_ARG(a.id),
               "run_none")
              ->answer.len > 0);
    w->actor = operator;
    start(w, "other", ",'priority':5");
    struct machine b = machine_new(w, "b", "");
    second = at(poll(w, &b), "/run/env/TRACEPARENT");
    CHECK_INT(first.len, 55);
    CHECK(str_starts(first, STR("00-")) && str_ends(first, STR("-01")));
    CHECK(!str_eq(str_slice(first, 3, 35), str_slice(second, 3, 35)));
    CHECK(!str_eq(str_slice(first, 36, 52), str_slice(second, 36, 52)));
    world_end(w);
}

TEST(each_end_is_reported_once_and_another_is_a_conflict)
{
    static const struct {
        const char *report, *status, *more, *error;
    } ends[] = {
        { "completed", "completed", ",'result':'r'", "null" },
        { "failed", "failed", ",'error':'bad','stderr_tail':'trace'", "bad\ntrace" },
        { "failed", "failed", ",'exit_code':3", "its agent ended with exit code 3" },
        { "timed_out", "timed_out", ",'error':'slow'", "slow" },
        { "stopped", "stopped", ",'error':'by hand'", "by hand" },
    };
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        str run = start(w, arena_printf(check_arena(), "s%zu", i).at, "");
        struct claim held = claim(w, &a);
        CHECK_OK(report(w, &a, &held, "started", "")->error);
        CHECK_OK(report(w, &a, &held, ends[i].report, ends[i].more)->error);
        CHECK_RUN(w, run, ends[i].status);
        CHECK_STR(show(w, run, "/error"), ends[i].error);
        struct command *again = report(w, &a, &held, ends[i].report, ends[i].more);
        CHECK_OK(again->error);
        CHECK(!again->events);
        if (strcmp(ends[i].status, "stopped") != 0)
            CHECK_ERR(report(w, &a, &held, "stopped", "")->error, ERR_CONFLICT);
        CHECK_STR(at(report(w, &a, &held, "progress", ""), "/stop"), "true");
        CHECK_RUN(w, run, ends[i].status);
    }
    world_end(w);
}

/* The report of the start was lost on the way; what follows from it must not be. */
TEST(a_completion_without_a_start_is_a_start_too)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    str run = start(w, "root", "");
    struct claim held = claim(w, &a);

    CHECK_OK(report(w, &a, &held, "completed", "")->error);
    CHECK(!str_eq(show(w, run, "/started_at"), STR("null")));
    world_end(w);
}

/* ---- fences and leases ---- */

TEST(polling_again_gives_a_claimed_run_anew_and_the_old_token_is_dead)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    str run = start(w, "root", "");
    struct claim first = claim(w, &a), second = claim(w, &a);

    must_be(second.run_id, run);
    CHECK_INT(second.fence, 2);
    CHECK(token_error(w, first.token).len > 0);
    CHECK_STR(token_error(w, second.token), "");
    CHECK_ERR(report(w, &a, &first, "started", "")->error, ERR_CONFLICT);
    CHECK_ERR(report(w, &a, &first, "progress", "")->error, ERR_CONFLICT);
    CHECK_ERR(report(w, &a, &first, "completed", "")->error, ERR_CONFLICT);
    CHECK_RUN(w, run, "claimed");
    CHECK_OK(report(w, &a, &second, "started", "")->error);
    CHECK_STR(claim(w, &a).run_id, "");
    world_end(w);
}

TEST(a_runner_that_says_what_it_knows_is_not_told_again)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ",'capacity':2");
    str first = start(w, "one", ""), second = start(w, "two", "");
    struct claim held = claim(w, &a);

    must_be(held.run_id, first);
    be(w, &a);
    struct command *c = call(w, "runner.claim",
                             "{'runner_id':'" STR_FMT "','known':['" STR_FMT "']}", STR_ARG(a.id),
                             STR_ARG(first));
    w->actor = operator;
    must_be(at(c, "/run/run_id"), second);
    CHECK_OK(report(w, &a, &held, "started", "")->error);
    world_end(w);
}

TEST(another_runner_cannot_report_a_run)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ""), b = machine_new(w, "b", "");
    str run = start(w, "root", "");
    struct claim held = claim(w, &a);

    CHECK_ERR(report(w, &b, &held, "completed", "")->error, ERR_CONFLICT);
    struct machine thief = { b.token, a.id };
    CHECK_ERR(report(w, &thief, &held, "completed", "")->error, ERR_NOT_FOUND);
    CHECK_STR(at(poll(w, &thief), "/deregistered"), "true");
    held.run_id = STR("run_none");
    CHECK_ERR(report(w, &a, &held, "completed", "")->error, ERR_NOT_FOUND);
    CHECK_RUN(w, run, "claimed");
    world_end(w);
}

/* A runner that dies must cost a delay, not the run; but not for ever. */
TEST(a_run_returns_when_its_lease_passes_until_it_has_lost_too_many)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    str run = start(w, "root", "");

    for (int attempt = 1; attempt <= 3; attempt++) {
        struct claim held = claim(w, &a);
        must_be(held.run_id, run);
        CHECK_INT(held.fence, attempt);
        CHECK_OK(report(w, &a, &held, "started", "")->error);
        pass(w, LEASE_MS - 1);
        CHECK_RUN(w, run, "running");
        pass(w, 1);
        if (attempt < 3) {
            CHECK_RUN(w, run, "pending");
            CHECK_STR(show(w, run, "/queued"), "true");
            CHECK_ERR(report(w, &a, &held, "progress", "")->error, ERR_CONFLICT);
            CHECK_ERR(report(w, &a, &held, "failed", "")->error, ERR_CONFLICT);
        }
    }
    CHECK_RUN(w, run, "failed");
    CHECK(strstr(show(w, run, "/error").at, "lost 3 runners"));
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/status"), "failed");
    world_end(w);
}

TEST(a_sign_of_life_gives_a_full_new_lease)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    str run = start(w, "root", "");
    struct claim held = claim(w, &a);

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    for (int i = 0; i < 3; i++) {
        pass(w, LEASE_MS - 1);
        CHECK_OK(report(w, &a, &held, "progress", "")->error);
    }
    pass(w, LEASE_MS - 1);
    be(w, &a);
    CHECK_OK(call(w, "runner.heartbeat", "{'runner_id':'" STR_FMT "','runs':['" STR_FMT "']}",
                  STR_ARG(a.id), STR_ARG(run))
                 ->error);
    w->actor = operator;
    pass(w, LEASE_MS - 1);
    CHECK_RUN(w, run, "running");
    pass(w, 1);
    CHECK_RUN(w, run, "pending");
    world_end(w);
}

TEST(a_late_completion_counts_when_nobody_has_claimed_the_run_since)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ""), b = machine_new(w, "b", "");
    str run = start(w, "one", "");
    struct claim held = claim(w, &a);

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    pass(w, LEASE_MS);
    CHECK_RUN(w, run, "pending");
    CHECK_OK(report(w, &a, &held, "completed", ",'result':'late'")->error);
    CHECK_RUN(w, run, "completed");
    CHECK_STR(claim(w, &b).run_id, "");

    run = start(w, "two", "");
    held = claim(w, &a);
    pass(w, LEASE_MS);
    struct claim other = claim(w, &b);
    must_be(other.run_id, run);
    CHECK_ERR(report(w, &a, &held, "completed", "")->error, ERR_CONFLICT);
    CHECK_RUN(w, run, "claimed");
    CHECK_OK(report(w, &b, &other, "completed", "")->error);
    world_end(w);
}

TEST(a_start_of_the_only_server_renews_every_lease)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    str run = start(w, "root", "");
    struct claim held = claim(w, &a);
    const struct actor system = { .kind = ACTOR_SYSTEM, .name = STR("system") };

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    w->now_ms += 3 * LEASE_MS;
    w->actor = system;
    CHECK_STR(at(call(w, "system.start", "{'node_id':'node_1'}"), "/renewed"), "true");
    pass(w, LEASE_MS - 1);
    CHECK_RUN(w, run, "running");
    w->actor = system;
    CHECK_OK(call(w, "node.beat", "{'node_id':'node_2','name':'n','url':'','version':'1','seq':0}")
                 ->error);
    CHECK_STR(at(call(w, "system.start", "{'node_id':'node_1'}"), "/renewed"), "false");
    pass(w, 1);
    CHECK_RUN(w, run, "pending");
    world_end(w);
}

/* ---- who gets what ---- */

TEST(demands_decide_who_may_take_a_run)
{
    static const struct {
        const char *run, *runner;
        bool fits;
    } cases[] = {
        { "", "", true },
        { ",'demands':{'hostname':'a'}", "", true },
        { ",'demands':{'hostname':'b'}", "", false },
        { ",'demands':{'tags':['gpu']}", ",'tags':['gpu','big']", true },
        { ",'demands':{'tags':['gpu','big']}", ",'tags':['big','gpu']", true },
        { ",'demands':{'tags':['gpu','small']}", ",'tags':['gpu']", false },
        { ",'demands':{'tags':['gpu']}", "", false },
        { ",'demands':{'profile':'codex'}", "", true },
        { ",'demands':{'profile':'codex'}", ",'profiles':['claude','codex']", true },
        { ",'demands':{'profile':'codex'}", ",'profiles':['claude']", false },
        { ",'project_dir':'/src/x'", ",'project_dir':'/src'", true },
        { ",'project_dir':'/src'", ",'project_dir':'/src/'", true },
        { ",'demands':{'project_dir':'/src'}", "", true },
        { ",'project_dir':'/srcs'", ",'project_dir':'/src'", false },
        { ",'project_dir':'/src/../etc'", ",'project_dir':'/src'", false },
        { "", ",'project_dir':'/src'", true },
        { ",'demands':{'hostname':'a','tags':['t'],'profile':'codex','project_dir':'/p'}",
          ",'tags':['t'],'profiles':['codex'],'project_dir':'/'", true },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world *w = world_new();
        struct machine a = machine_new(w, "a", cases[i].runner);
        start(w, "root", cases[i].run);
        bool got = claim(w, &a).run_id.len > 0;
        if (got != cases[i].fits)
            check_fail(__FILE__, __LINE__, "%s on %s: %d", cases[i].run, cases[i].runner, got);
        world_end(w);
    }
}

TEST(equal_demands_have_equal_keys_and_can_be_read_back)
{
    struct arena *a = check_arena();
    const str tags[] = { STR("b"), STR("a\"'"), STR("b") }, same[] = { STR("a\"'"), STR("b") };
    struct demand d = { STR("h,\n"), STR("p"), STR("/d"), tags, 3 }, back;
    struct demand other = { STR("h,\n"), STR("p"), STR("/d"), same, 2 };

    str key = demand_key(a, &d);
    must_be(demand_key(a, &other), key);
    demand_read(a, key, &back);
    CHECK_STR(back.hostname, "h,\n");
    CHECK_STR(back.profile, "p");
    CHECK_STR(back.project_dir, "/d");
    CHECK_INT(back.tag_count, 2);
    CHECK_STR(back.tags[0], "a\"'");
    must_be(demand_key(a, &back), key);
}

/* Whatever the key: one of the runner's own host is not looked at before one that any may take. */
TEST(the_highest_priority_is_first_and_then_the_oldest)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ",'capacity':10,'tags':['t']");
    str low = start(w, "low", ",'priority':-1"), old = start(w, "old", ",'demands':{'tags':['t']}"),
        host = start(w, "host", ",'demands':{'hostname':'a'}"), young = start(w, "young", ""),
        high = start(w, "high", ",'priority':7,'demands':{'hostname':'a','tags':['t']}");
    const str order[] = { high, old, host, young, low };

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct claim held = claim(w, &a);
        must_be(held.run_id, order[i]);
        CHECK_OK(report(w, &a, &held, "started", "")->error);
    }
    world_end(w);
}

/* A session's directory is no demand of its own: however many there are, nobody overtakes. */
TEST(directories_do_not_change_the_order_for_who_takes_all)
{
    enum { DIRECTORIES = 80 };
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ",'capacity':100");
    str runs[DIRECTORIES];

    for (int i = 0; i < DIRECTORIES; i++) {
        bool last = i == DIRECTORIES - 1;
        str more = arena_printf(check_arena(), ",'project_dir':'/w/%d','priority':%d",
                                DIRECTORIES - i, last ? 1 : 0);
        runs[i] = start(w, arena_printf(check_arena(), "s%d", i).at, more.at);
    }
    for (int i = 0; i < DIRECTORIES; i++) {
        struct claim held = claim(w, &a);
        must_be(held.run_id, runs[i ? i - 1 : DIRECTORIES - 1]);
        CHECK_OK(report(w, &a, &held, "started", "")->error);
    }
    world_end(w);
}

TEST(a_runner_with_a_directory_takes_what_is_in_it_by_priority_and_age)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ",'capacity':10,'project_dir':'/w/'");
    str none = start(w, "none", ""), deep = start(w, "deep", ",'project_dir':'/w/b/c'"),
        here = start(w, "here", ",'project_dir':'/w','demands':{'hostname':'a'}"),
        high = start(w, "high", ",'project_dir':'/w/a','priority':1");
    const str order[] = { high, none, deep, here };

    start(w, "beside", ",'project_dir':'/w-2','priority':9");
    start(w, "above", ",'project_dir':'/','priority':9");
    start(w, "other", ",'project_dir':'/w/a','priority':9,'demands':{'hostname':'b'}");
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct claim held = claim(w, &a);
        must_be(held.run_id, order[i]);
        CHECK_OK(report(w, &a, &held, "started", "")->error);
    }
    CHECK_STR(claim(w, &a).run_id, "");
    world_end(w);
}

/* Has a claim that waits run again. */
static void look_again(struct world *w, const struct machine *m, struct command *c)
{
    be(w, m);
    c->waited = c->wait_self;
    c->actor = &w->actor;
    op_perform(&w->engine, &c, 1);
    w->actor = operator;
    CHECK_OK(c->error);
}

/* As often as it wants to look on, each time when it said; gives how often that was. */
static int look_around(struct world *w, const struct machine *m, struct command *c)
{
    int looks = 0;

    for (; c->waits && c->wait_again_ms; looks++) {
        CHECK(c->wait_again_ms > w->now_ms && c->wait_again_ms < w->now_ms + 100);
        w->now_ms = c->wait_again_ms;
        look_again(w, m, c);
    }
    return looks;
}

/* No look is at all of very many demands: while a claim waits it looks on, soon, once around. */
TEST(each_of_very_many_demands_gets_its_turn)
{
    static const struct {
        const char *name, *runner, *others, *fitting;
    } cases[] = {
        { "tags, the last of all", ",'tags':['z']", ",'demands':{'tags':['t%d']}",
          ",'demands':{'tags':['z']}" },
        { "tags, the first of all", ",'tags':['a']", ",'demands':{'tags':['t%d']}",
          ",'demands':{'tags':['a']}" },
        { "one for the runner's host", "", ",'demands':{'tags':['t%d']}",
          ",'demands':{'hostname':'a'}" },
        { "directories", ",'project_dir':'/w'", ",'project_dir':'/w/%d','demands':{'tags':['t']}",
          ",'project_dir':'/w/z'" },
    };
    enum { OTHERS = 90, LOOKS = 7 };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world *w = world_new();
        struct machine a = machine_new(w, "a", cases[i].runner);
        for (int k = 0; k < OTHERS; k++) {
            struct buf more = buf_in(check_arena());
            buf_printf(&more, cases[i].others, k);
            start(w, arena_printf(check_arena(), "s%d", k).at, buf_str(&more).at);
        }
        struct command *c = poll(w, &a);
        look_again(w, &a, c); /* something came, but not for it: it goes around from there */
        int looks = look_around(w, &a, c);
        CHECK(c->waits && looks > 0 && looks <= LOOKS);
        CHECK(c->wait_until_ms > w->now_ms + 1000);
        str run = start(w, "fits", cases[i].fitting);
        look_again(w, &a, c);
        look_around(w, &a, c);
        if (c->waits || !str_eq(at(c, "/run/run_id"), run))
            check_fail(__FILE__, __LINE__, "%s: not found once around", cases[i].name);
        world_end(w);
    }
}

/* The next claim goes on where one has come to that found something, or waited in vain. */
TEST(a_claim_goes_on_where_the_last_one_ended)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ",'tags':['z']");
    enum { OTHERS = 40, CLAIMS = 2 }; /* of two looks each */
    int claims = 0;

    for (int k = 0; k < OTHERS; k++)
        start(w, arena_printf(check_arena(), "s%d", k).at,
              arena_printf(check_arena(), ",'demands':{'tags':['t%02d']}", k).at);
    start(w, "fits", ",'demands':{'tags':['z']}");
    for (struct command *c = NULL; !c || !has(c, "run"); claims++) {
        CHECK(claims < CLAIMS);
        c = poll(w, &a);
        c->wait_over = true;
        look_again(w, &a, c);
        CHECK(!c->waits);
    }
    CHECK_INT(claims, CLAIMS);
    world_end(w);
}

TEST(a_runner_gets_no_more_than_it_can_take)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ",'capacity':2");
    struct claim held[2];

    for (int i = 0; i < 3; i++)
        start(w, arena_printf(check_arena(), "s%d", i).at, "");
    for (int i = 0; i < 2; i++) {
        held[i] = claim(w, &a);
        CHECK_OK(report(w, &a, &held[i], "started", "")->error);
    }
    CHECK_STR(claim(w, &a).run_id, "");
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/runs"), "2");
    CHECK_OK(report(w, &a, &held[0], "completed", "")->error);
    CHECK(claim(w, &a).run_id.len > 0);
    world_end(w);
}

TEST(a_run_waits_for_its_time)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    str run = start(w, "root", ",'not_before':'2025-01-15T10:35:02Z'");

    CHECK_STR(show(w, run, "/queued"), "false");
    pass(w, 1999);
    CHECK_STR(claim(w, &a).run_id, "");
    pass(w, 1);
    must_be(claim(w, &a).run_id, run);
    world_end(w);
}

TEST(a_run_that_nobody_can_take_fails_and_says_why)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    str wrong = start(w, "one", ",'demands':{'tags':['gpu'],'hostname':'b'}");
    str right = start(w, "two", "");
    struct claim held = claim(w, &a); /* and is full with it */
    str waits = start(w, "three", "");

    must_be(held.run_id, right);
    CHECK_OK(report(w, &a, &held, "started", "")->error);
    pass_alive(w, &a, MATCH_MS - 1);
    CHECK_RUN(w, wrong, "pending");
    pass_alive(w, &a, 1);
    CHECK_RUN(w, wrong, "failed");
    CHECK_STR(show(w, wrong, "/error"),
              "no runner could take it; it asks for hostname b, profile claude, tag gpu; there are"
              " runner a on a");
    CHECK_STR(at(call(w, "session.get", "{'session_id':'one'}"), "/status"), "failed");
    CHECK_RUN(w, waits, "pending");
    pass(w, SILENT_MS);
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/alive"), "false");
    pass(w, MATCH_MS);
    CHECK_STR(show(w, waits, "/error"),
              "no runner could take it; it asks for profile claude; no runner is there");
    world_end(w);
}

/* ---- waiting for work ---- */

static bool wakes(const struct command *waits, const struct command *by)
{
    bool any = false;

    CHECK(waits->waits && waits->wakes);
    for (const struct event *e = by->events; e; e = event_after(e))
        any |= waits->wakes(waits->wait_self, e);
    return any;
}

TEST(a_waiting_claim_is_woken_by_what_concerns_it_alone)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ",'tags':['t']"), b = machine_new(w, "b", "");
    struct command *of_a = poll(w, &a), *of_b = poll(w, &b), *by;
    static const char ask[] = "{'type':'start_session','session_name':'%s','prompt':'go'%s}";

    by = call(w, "run.create", ask, "one", ",'demands':{'tags':['t']}");
    CHECK(wakes(of_a, by) && !wakes(of_b, by));
    struct claim held = claim(w, &a);
    by = call(w, "run.create", ask, "later", ",'not_before':'2025-01-15T10:35:02Z'");
    CHECK(!wakes(of_a, by) && !wakes(of_b, by));
    CHECK_OK(report(w, &a, &held, "started", "")->error);
    by = call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(held.run_id));
    CHECK(wakes(of_a, by) && !wakes(of_b, by));
    by = report(w, &a, &held, "stopped", "");
    CHECK(wakes(of_a, by) && !wakes(of_b, by));
    by = call(w, "runner.remove", "{'runner_id':'" STR_FMT "'}", STR_ARG(b.id));
    CHECK(!wakes(of_a, by) && wakes(of_b, by));
    CHECK_STR(at(poll(w, &b), "/deregistered"), "true");
    world_end(w);
}

TEST(a_claim_whose_time_is_up_is_answered_with_nothing)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    struct command *c = poll(w, &a);

    CHECK(c->waits);
    CHECK_INT(c->wait_until_ms, w->now_ms + rules.poll_ms);
    c->wait_over = true;
    op_perform(&w->engine, &c, 1);
    CHECK_OK(c->error);
    CHECK(c->empty && !c->waits);
    world_end(w);
}

/* ---- runners ---- */

TEST(a_runner_that_falls_silent_is_lost_and_joins_again_when_heard)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");

    pass_alive(w, &a, 3 * SILENT_MS);
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/alive"), "true");
    pass(w, SILENT_MS);
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/alive"), "false");
    struct command *c = poll(w, &a);
    CHECK(c->empty && c->events && str_eq(event_type_name(c->events), STR("runner_joined")));
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/alive"), "true");
    pass(w, SILENT_MS);
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/alive"), "false");
    world_end(w);
}

TEST(a_runner_that_registers_again_is_the_same_with_what_it_says_now)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ""), again = machine_new(w, "a", ",'tags':['x']");

    must_be(again.id, a.id);
    CHECK_STR(at(call(w, "runner.list", "{}"), "/runners/0/tags"), "[\"x\"]");
    world_end(w);
}

TEST(the_runs_of_a_removed_runner_go_back_at_once)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ",'capacity':2"), b = machine_new(w, "b", "");
    str run = start(w, "one", ""), stopping = start(w, "two", "");
    struct claim first = claim(w, &a);
    CHECK_OK(report(w, &a, &first, "started", "")->error);
    struct claim second = claim(w, &a);
    CHECK_OK(report(w, &a, &second, "started", "")->error);
    CHECK_OK(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(stopping))->error);

    CHECK_OK(call(w, "runner.remove", "{'runner_id':'" STR_FMT "'}", STR_ARG(a.id))->error);
    pass(w, 0);
    CHECK_RUN(w, run, "pending");
    CHECK_RUN(w, stopping, "stopped");
    must_be(claim(w, &b).run_id, run);
    CHECK_ERR(report(w, &a, &first, "completed", "")->error, ERR_NOT_FOUND);
    world_end(w);
}

/* ---- stopping, and taking too long ---- */

TEST(a_pending_run_is_stopped_at_once)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    str run = start(w, "root", "");

    CHECK_OK(
        call(w, "run.stop", "{'run_id':'" STR_FMT "','reason':'no need'}", STR_ARG(run))->error);
    CHECK_RUN(w, run, "stopped");
    CHECK_STR(show(w, run, "/error"), "no need");
    CHECK_STR(claim(w, &a).run_id, "");
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/status"), "stopped");
    struct command *again = call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(run));
    CHECK_OK(again->error);
    CHECK(!again->events);
    world_end(w);
}

TEST(a_run_that_somebody_has_stops_when_its_runner_says_so_or_after_a_time)
{
    for (int how = 0; how < 4; how++) {
        struct world *w = world_new();
        struct machine a = machine_new(w, "a", "");
        str run = start(w, "root", "");
        struct claim held = claim(w, &a);
        if (how > 0)
            CHECK_OK(report(w, &a, &held, "started", "")->error);
        CHECK_OK(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(run))->error);
        CHECK_RUN(w, run, "stopping");
        must_be(at(poll(w, &a), "/stop_runs/0"), run);
        must_be(at(poll(w, &a), "/stop_runs/0"), run);
        CHECK_STR(at(report(w, &a, &held, "progress", ""), "/stop"), "true");
        CHECK_RUN(w, run, "stopping");
        if (how < 2)
            CHECK_OK(report(w, &a, &held, "stopped", "")->error);
        else if (how == 2)
            CHECK_OK(report(w, &a, &held, "completed", ",'result':'first'")->error);
        else
            pass(w, STOP_MS);
        CHECK_RUN(w, run, "stopped");
        CHECK_STR(show(w, run, "/error"), "stopped by operator");
        CHECK_STR(show(w, run, "/result"), how == 2 ? "first" : "null");
        CHECK(poll(w, &a)->waits);
        world_end(w);
    }
}

TEST(the_server_ends_a_run_that_takes_too_long)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    str run = start(w, "root", ",'max_seconds':2");
    struct claim held = claim(w, &a);

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    CHECK_OK(
        report(w, &a, &held, "progress", ",'output':[{'stream':'stderr','text':'stuck'}]")->error);
    for (int i = 0; i < 24; i++) {
        pass(w, 100);
        CHECK_STR(at(report(w, &a, &held, "progress", ""), "/stop"), "false");
    }
    pass(w, 100);
    CHECK_RUN(w, run, "timed_out");
    CHECK_STR(show(w, run, "/error"),
              "it took longer than the 2 s that it may, and its runner did not end it\nstuck");
    CHECK_STR(at(report(w, &a, &held, "progress", ""), "/stop"), "true");
    CHECK_ERR(report(w, &a, &held, "completed", "")->error, ERR_CONFLICT);
    CHECK(token_error(w, held.token).len > 0);
    world_end(w);
}

/* ---- a session and its runs ---- */

TEST(the_second_run_of_a_busy_session_waits_for_the_first)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ",'capacity':5"),
                   b = machine_new(w, "b", ",'capacity':5");
    str first = start(w, "root", ""), second = resume(w, "root", ",'priority':9"),
        third = resume(w, "root", "");
    struct claim held = claim(w, &a);

    must_be(held.run_id, first);
    CHECK_STR(show(w, second, "/queued"), "false");
    CHECK_OK(report(w, &a, &held, "started", ",'client_id':'abc'")->error);
    CHECK_STR(claim(w, &a).run_id, "");
    CHECK_OK(report(w, &a, &held, "completed", "")->error);
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/status"), "running");
    /* The conversation is where it was begun. */
    CHECK_STR(show(w, second, "/demands/hostname"), "a");
    CHECK_STR(claim(w, &b).run_id, "");
    held = claim(w, &a);
    must_be(held.run_id, second);
    CHECK_OK(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(third))->error);
    CHECK_OK(report(w, &a, &held, "completed", "")->error);
    CHECK_STR(claim(w, &a).run_id, "");
    CHECK_STR(at(call(w, "session.get", "{'session_id':'root'}"), "/status"), "finished");
    CHECK_STR(at(call(w, "run.list", "{'session':'root'}"), "/runs/2/status"), "stopped");
    world_end(w);
}

TEST(what_cannot_be_asked_for_is_refused_and_the_message_says_what_can)
{
    static const struct {
        const char *input;
        enum error_kind kind;
        const char *says;
    } cases[] = {
        { "{'type':'start_session','prompt':'x'}", ERR_INVALID, "session_name" },
        { "{'type':'start_session','prompt':'x','session_name':'root'}", ERR_CONFLICT,
          "resume_session" },
        { "{'type':'resume_session','prompt':'x','session_name':'nobody'}", ERR_NOT_FOUND,
          "nobody" },
        { "{'type':'resume_session','prompt':'x','session_name':'mine'}", ERR_CONFLICT,
          "not started from here" },
        { "{'type':'start_session','prompt':'x','session_name':'b a d'}", ERR_INVALID, "name" },
        { "{'type':'start_session','prompt':'x','session_name':'n','callback':true,"
          "'execution_mode':'sync'}",
          ERR_INVALID, "async_callback" },
        { "{'type':'start_session','prompt':'x','session_name':'n','parent_session_name':'no'}",
          ERR_NOT_FOUND, "no" },
        { "{'type':'start_session','prompt':'x','session_name':'n','argv':['sh']}", ERR_INVALID,
          "argv" },
    };
    struct world *w = world_new();

    start(w, "root", "");
    CHECK_OK(call(w, "session.create", "{'session_name':'mine'}")->error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command *c = world_call(w, "run.create", cases[i].input, "");
        CHECK_ERR(c->error, cases[i].kind);
        if (!strstr(arena_copy(check_arena(), c->error->message).at, cases[i].says))
            check_fail(__FILE__, __LINE__, "%s: " STR_FMT, cases[i].input,
                       STR_ARG(c->error->message));
    }
    world_end(w);
}

TEST(a_session_made_by_hand_can_be_started_once)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");

    CHECK_OK(call(w, "session.create", "{'session_name':'mine'}")->error);
    str run = start(w, "mine", "");
    must_be(claim(w, &a).run_id, run);
    CHECK_ERR(world_call(w, "run.create",
                         "{'type':'start_session','prompt':'x','session_name':'mine'}", "")
                  ->error,
              ERR_CONFLICT);
    world_end(w);
}

/* A session that no runner could take is not lost: it can be started again. */
TEST(a_session_that_had_no_turn_can_be_started_again)
{
    struct world *w = world_new();
    str first = start(w, "root", "");

    pass(w, MATCH_MS);
    CHECK_RUN(w, first, "failed");
    struct machine a = machine_new(w, "a", "");
    str second = start(w, "root", "");
    must_be(claim(w, &a).run_id, second);
    world_end(w);
}

/* The grant is the caller's: what the world does next, it does as its actor. */
static struct grant *be_session(struct world *w, str token)
{
    struct grant *grant;

    CHECK_OK(op_admit(&w->engine, check_arena(), token, &grant));
    w->actor = *grant->actor;
    return grant;
}

TEST(a_session_reaches_what_it_started_and_nothing_else)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", ",'capacity':5");
    str other = start(w, "other", "");
    start(w, "root", ",'project_dir':'/src','priority':1");
    struct claim held = claim(w, &a);
    CHECK_OK(report(w, &a, &held, "started", "")->error);

    struct grant *grant = be_session(w, held.token);
    str child = at(call(w, "session.start", "{'session_name':'child','prompt':'x'}"), "/run_id");
    CHECK_STR(show(w, child, "/execution_mode"), "async_callback");
    CHECK_STR(show(w, child, "/project_dir"), "/src");
    CHECK_ERR(call(w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(other))->error, ERR_NOT_FOUND);
    CHECK_ERR(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(other))->error,
              ERR_NOT_FOUND);
    CHECK_ERR(call(w, "session.start",
                   "{'session_name':'x','prompt':'x','project_dir':'/src/../etc'}")
                  ->error,
              ERR_FORBIDDEN);
    CHECK_ERR(call(w, "session.resume", "{'session_name':'root','prompt':'x'}")->error,
              ERR_FORBIDDEN);
    CHECK_ERR(call(w, "session.start", "{'session_name':'other','prompt':'x'}")->error,
              ERR_CONFLICT);
    must_be(at(call(w, "run.list", "{}"), "/runs/0/run_id"), held.run_id);
    must_be(at(call(w, "run.list", "{'session':'child'}"), "/runs/0/run_id"), child);
    CHECK_ERR(call(w, "run.list", "{'session':'other'}")->error, ERR_NOT_FOUND);
    CHECK_OK(call(w, "run.stop", "{'run_id':'" STR_FMT "'}", STR_ARG(child))->error);
    w->actor = operator;
    grant_unref(grant);
    world_end(w);
}

/* Whoever sees one state sees the runs of the tree that has it. */
TEST(a_viewer_of_one_state_sees_the_runs_of_its_tree_alone)
{
    struct world *w = world_new();

    CHECK_OK(call(w, "schema.create", "{'name':'any','json_schema':true}")->error);
    str other = start(w, "other", ""), run = start(w, "root", "");
    str state =
        at(call(w, "state.create", "{'schema_name':'any','initial_data':1,'root_session':'root'}"),
           "/state_id");
    w->actor = (struct actor){ .kind = ACTOR_VIEWER, .name = STR("viewer"), .state_id = state };
    must_be(show(w, run, "/run_id"), run);
    CHECK_ERR(call(w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(other))->error, ERR_NOT_FOUND);
    const char *const lists[] = { "{}", "{'status':'pending'}" };
    for (int i = 0; i < 2; i++) {
        struct command *c = call(w, "run.list", "%s", lists[i]);
        must_be(at(c, "/runs/0/run_id"), run);
        CHECK(!strstr(at(c, "/runs").at, "\"other\""));
    }
    w->actor = operator;
    world_end(w);
}

TEST(whoever_wants_the_result_waits_for_it_after_the_commit)
{
    struct world *w = world_new();
    struct command *c = call(w, "run.create",
                             "{'type':'start_session','session_name':'root','prompt':'go',"
                             "'execution_mode':'sync','timeout':7}");

    CHECK_OK(c->error);
    CHECK(c->then && strcmp(c->then->name, "session.result") == 0);
    CHECK_INT(json_int_or(c->then_input, "timeout", 0), 7);
    CHECK_OK(schema_require(check_arena(), op_input_schema(w->table, c->then), c->then_input));
    world_end(w);
}

static void check_usage(struct world *w, int64_t in, int64_t out, int64_t cached, int64_t cost,
                        const char *models)
{
    const struct row *row;
    struct store_node node;

    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_one(w->engine.sql, &row,
                     "SELECT tokens_in, tokens_out, tokens_cached, cost, usage_models FROM session"
                     " WHERE name = 'root'",
                     NO_ARGS));
    CHECK_INT(row_int(row, 0), in);
    CHECK_INT(row_int(row, 1), out);
    CHECK_INT(row_int(row, 2), cached);
    CHECK_INT(row_int(row, 3), cost);
    CHECK_STR(row_str(row, 4), models);
    store_rollback(w->engine.sql);
}

/* A turn of the session: its first, or one more. */
static void turn_using(struct world *w, struct machine *m, const char *usage)
{
    struct claim held = claim(w, m);

    CHECK_OK(report(w, m, &held, "started", ",'client_id':'c'")->error);
    CHECK_OK(report(w, m, &held, "completed", usage)->error);
}

TEST(what_turns_use_is_added_up)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");

    start(w, "root", "");
    turn_using(w, &a,
               ",'usage':{'input_tokens':10,'output_tokens':5,'cached_tokens':2,"
               "'cost_usd':0.25,'models':{'m':{'in':10,'usd':0.25},'x':1}}");
    resume(w, "root", "");
    turn_using(w, &a,
               ",'usage':{'input_tokens':1,'output_tokens':1,'cost_usd':0.000001,"
               "'models':{'m':{'in':1,'usd':0.5},'y':'?'}}");
    check_usage(w, 11, 6, 2, 250001, "{\"m\":{\"in\":11,\"usd\":0.75},\"x\":1,\"y\":\"?\"}");
    world_end(w);
}

/* Clients that resume a conversation may say what all of it has used; output_tokens here are less
 * than before, so they were counted anew. */
TEST(what_a_client_has_added_up_itself_is_not_added_again)
{
    static const char whole[] = "'whole':['input_tokens','output_tokens','cost_usd','models']}";
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");

    start(w, "root", "");
    turn_using(w, &a,
               arena_printf(check_arena(),
                            ",'usage':{'input_tokens':10,'output_tokens':5,'cached_tokens':2,"
                            "'cost_usd':0.25,'models':{'m':{'in':10}},%s",
                            whole)
                   .at);
    check_usage(w, 10, 5, 2, 250000, "{\"m\":{\"in\":10}}");
    resume(w, "root", "");
    turn_using(w, &a,
               arena_printf(check_arena(),
                            ",'usage':{'input_tokens':13,'output_tokens':3,'cached_tokens':4,"
                            "'cost_usd':0.5,'models':{'m':{'in':13}},%s",
                            whole)
                   .at);
    check_usage(w, 13, 8, 6, 500000, "{\"m\":{\"in\":13}}");
    world_end(w);
}

/* ---- output ---- */

TEST(the_newest_output_is_kept_and_read_from_a_number_on)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    str run = start(w, "root", "");
    struct claim held = claim(w, &a);
    static const char digits[] = "0123456789";

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    struct command *waits =
        call(w, "run.output", "{'run_id':'" STR_FMT "','wait':5}", STR_ARG(run));
    CHECK(waits->waits);
    must_be(waits->wait_subject, run);
    for (int i = 0; i < 15; i++) {
        struct command *c = report(
            w, &a, &held, "progress",
            arena_printf(check_arena(), ",'output':[{'stream':'stdout','text':'%s'}]", digits).at);
        must_be(c->nudge, run);
    }
    struct command *c = call(w, "run.output", "{'run_id':'" STR_FMT "'}", STR_ARG(run));
    CHECK_STR(at(c, "/output/0/number"), "6");
    CHECK_STR(at(c, "/next"), "15");
    CHECK_STR(at(c, "/ended"), "false");
    c = call(w, "run.output", "{'run_id':'" STR_FMT "','after':13,'limit':1}", STR_ARG(run));
    CHECK_STR(at(c, "/output/0/text"), digits);
    CHECK_STR(at(c, "/next"), "14");
    CHECK_OK(report(w, &a, &held, "completed", "")->error);
    c = call(w, "run.output", "{'run_id':'" STR_FMT "','after':15,'wait':5}", STR_ARG(run));
    CHECK(!c->waits);
    CHECK_STR(at(c, "/ended"), "true");
    CHECK_STR(at(c, "/status"), "completed");
    world_end(w);
}

TEST(a_piece_of_output_has_a_limit)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    struct buf more = buf_in(check_arena());

    start(w, "root", "");
    struct claim held = claim(w, &a);
    buf_add(&more, STR(",'output':[{'stream':'stdout','text':'"));
    memset(buf_reserve(&more, OUTPUT_PIECE_MAX + 1), 'x', OUTPUT_PIECE_MAX + 1);
    more.len += OUTPUT_PIECE_MAX + 1;
    buf_add(&more, STR("'}]"));
    CHECK_ERR(report(w, &a, &held, "progress", buf_str(&more).at)->error, ERR_TOO_LARGE);
    world_end(w);
}

/* The last lines that fit, of stderr alone. */
TEST(a_failed_run_ends_with_the_last_lines_of_its_agent)
{
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    struct claim held;
    str run = start(w, "root", "");

    held = claim(w, &a);
    CHECK_OK(report(w, &a, &held, "started", "")->error);
    CHECK_OK(report(w, &a, &held, "progress",
                    ",'output':[{'stream':'stderr','text':'one\\ntw'},"
                    "{'stream':'stdout','text':'no'},{'stream':'stderr','text':'o\\n'}]")
                 ->error);
    CHECK_OK(report(w, &a, &held, "failed", ",'error':'bad'")->error);
    CHECK_STR(show(w, run, "/error"), "bad\none\ntwo\n");
    world_end(w);
}

/* ---- tokens ---- */

static int64_t tokens_listed(struct world *w)
{
    const struct json *json;

    CHECK_OK(
        json_parse(check_arena(), call(w, "token.list", "{'limit':500}")->answer, NULL, &json));
    return json_get(json, "tokens")->len;
}

/* Every turn leaves one. */
TEST(tokens_that_are_worthless_are_forgotten_after_a_day)
{
    enum { HOUR_MS = 3600 * 1000, TURNS = 3 };
    struct world *w = world_new();
    struct machine a = machine_new(w, "a", "");
    str kept = at(call(w, "token.create", "{'kind':'viewer'}"), "/token");

    call(w, "token.create", "{'kind':'viewer','expires_in':60}");
    for (int i = 0; i < TURNS; i++) {
        start(w, arena_printf(check_arena(), "s%d", i).at, "");
        struct claim held = claim(w, &a);
        CHECK_OK(report(w, &a, &held, "completed", "")->error);
    }
    pass(w, 23 * HOUR_MS);
    CHECK_INT(tokens_listed(w), 2 + TURNS);
    pass(w, 2 * HOUR_MS);
    CHECK_INT(tokens_listed(w), 1);
    CHECK_STR(token_error(w, kept), "");
    world_end(w);
}

TEST(a_deleted_session_has_no_tokens_any_more)
{
    struct world *w = world_new();

    CHECK_OK(call(w, "session.create", "{'session_name':'root'}")->error);
    CHECK_OK(
        call(w, "session.create", "{'session_name':'child','parent_session_name':'root'}")->error);
    str token =
        at(call(w, "token.create", "{'kind':'session','scope':{'session_id':'child'}}"), "/token");
    str other =
        at(call(w, "token.create", "{'kind':'session','scope':{'session_id':'else'}}"), "/token");
    CHECK_STR(token_error(w, token), "");
    CHECK_OK(call(w, "session.stop", "{'session_id':'root'}")->error);
    pass(w, STOP_MS);
    CHECK_OK(call(w, "session.delete", "{'session_id':'root'}")->error);
    CHECK(token_error(w, token).len > 0);
    CHECK_STR(token_error(w, other), "");
    world_end(w);
}

/* ---- faults ---- */

struct step {
    struct command *(*run)(struct world *w, const struct machine *m, const struct claim *held);
    const char *status; /* of the run afterwards */
};

static struct command *step_claim(struct world *w, const struct machine *m,
                                  const struct claim *held)
{
    (void)held;
    be(w, m);
    struct command *c = call(w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(m->id));
    w->actor = operator;
    return c;
}

static struct command *step_started(struct world *w, const struct machine *m,
                                    const struct claim *held)
{
    return report(w, m, held, "started", "");
}

static struct command *step_progress(struct world *w, const struct machine *m,
                                     const struct claim *held)
{
    return report(w, m, held, "progress", ",'heard':'x','output':[{'stream':'stdout','text':'x'}]");
}

static struct command *step_completed(struct world *w, const struct machine *m,
                                      const struct claim *held)
{
    return report(w, m, held, "completed", ",'result':'r'");
}

static struct command *step_lease(struct world *w, const struct machine *m,
                                  const struct claim *held)
{
    (void)m;
    (void)held;
    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    struct command *c = call(w, "system.tick", "{}");
    w->actor = operator;
    return c;
}

/* A run up to where a step begins. */
static struct world *prepared(const struct step *s, struct machine *m, struct claim *held)
{
    struct world *w = world_new();

    *m = machine_new(w, "a", "");
    held->run_id = start(w, "root", "");
    pass(w, 0);
    if (s->run == step_claim)
        return w;
    *held = claim(w, m);
    if (s->run != step_started)
        CHECK_OK(report(w, m, held, "started", "")->error);
    if (s->run == step_lease)
        w->now_ms += LEASE_MS;
    return w;
}

/* No token lives on without a run. */
static void tokens_check(struct world *w)
{
    struct store_node node;
    const struct row *row;

    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_one(w->engine.sql, &row,
                     "SELECT count(*) FROM token WHERE revoked_at = 0"
                     " AND token_id NOT IN (SELECT token_id FROM run)",
                     NO_ARGS));
    CHECK_INT(row_int(row, 0), 0);
    store_rollback(w->engine.sql);
}

/* Whatever storage call fails, a step happens wholly or not at all, and trying again does it. The
 * loop ends by itself: at the first n for which the fault was never reached. */
TEST(every_step_survives_every_storage_fault)
{
    static const struct step steps[] = {
        { step_claim, "claimed" },       { step_started, "running" }, { step_progress, "running" },
        { step_completed, "completed" }, { step_lease, "pending" },
    };
    static const enum fault_kind kinds[] = { FAULT_CALL, FAULT_DEATH, FAULT_COMMIT, FAULT_LOST };
    int faults = 0;

    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int n = 1;; n++) {
                struct machine m;
                struct claim held;
                struct world *w = prepared(&steps[s], &m, &held);
                w->fault = (struct fault){ kinds[k], (uint64_t)n, 0, 0, false };
                struct command *c = steps[s].run(w, &m, &held);
                bool fired = w->fault.fired;
                w->fault.kind = FAULT_NONE;
                CHECK(!fired || c->error || w->engine.stopped);
                w->engine.stopped = false; /* it was done, and nobody knows: as after a restart */
                world_audit(w);
                if (fired)
                    c = steps[s].run(w, &m, &held);
                CHECK_OK(c->error);
                CHECK_RUN(w, held.run_id, steps[s].status);
                tokens_check(w);
                world_end(w);
                faults += fired;
                if (!fired)
                    break;
            }
    check_note("%d faults", faults);
    CHECK(faults > 100);
}
