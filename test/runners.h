/* runners.h: a world with runners, played by the test, for tests of runs.
 *
 * A fake runner claims runs and says how they go; whoever speaks besides is the operator. Time is a
 * number, and so is every deadline. */
#ifndef TEST_RUNNERS_H
#define TEST_RUNNERS_H

#include "core/run.h"
#include "sim/vfs.h"
#include "calls.h"

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
    .execution_moves = 256,
    .execution_spin = 10000,
    .execution_marks = 10000,
    .loop_items = 1000,
    .job_lease_ms = 60000,
};

static struct vfs *disk; /* of the one world that there is */

static inline struct world *world_new(void)
{
    struct world *w;

    disk = vfs_new(1, 4096);
    CHECK_OK(world_open("run.db", vfs_name(disk), &w));
    w->engine.team = &rules;
    return w;
}

static inline void world_end(struct world *w)
{
    world_audit(w);
    world_close(w);
    vfs_free(disk);
}

struct fake_runner {
    str token, id;
};

static inline void be(struct world *w, const struct fake_runner *m)
{
    w->actor = (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = m->token };
}

/* A runner; what it has beside its name is JSON, beginning with a comma. */
static inline struct fake_runner fake_runner_new(struct world *w, const char *name,
                                                 const char *more)
{
    struct fake_runner m = { .token = arena_printf(check_arena(), "rn_%s", name) };

    be(w, &m);
    m.id = at(call(w, "runner.register", "{'hostname':'%s'%s}", name, more), "/runner_id");
    w->actor = the_operator;
    return m;
}

struct claim {
    str run_id, token;
    int64_t fence;
};

static inline struct command *poll(struct world *w, const struct fake_runner *m)
{
    be(w, m);
    struct command *c = call(w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(m->id));
    w->actor = the_operator;
    CHECK_OK(c->error);
    return c;
}

/* The run that a runner gets; its id is empty when there is none. */
static inline struct claim claim(struct world *w, const struct fake_runner *m)
{
    struct command *c = poll(w, m);
    struct claim taken = { .fence = 0 };

    if (c->answer.waits || !json_get(answer_of(c), "run"))
        return taken;
    taken.run_id = at(c, "/run/run_id");
    taken.token = json_str(json_get(answer_of(c), "run"), "token"); /* a command has none */
    CHECK(str_to_int(at(c, "/run/fence"), &taken.fence));
    return taken;
}

static inline struct command *report(struct world *w, const struct fake_runner *m,
                                     const struct claim *c, const char *what, const char *more)
{
    str op = arena_printf(check_arena(), "runner.%s", what);

    be(w, m);
    struct command *done = call(w, op.at,
                                "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':%lld%s}",
                                STR_ARG(m->id), STR_ARG(c->run_id), (long long)c->fence, more);
    w->actor = the_operator;
    return done;
}

/* Asks for the first turn of a new session; more of the request is JSON, beginning with a comma. */
static inline str start(struct world *w, const char *name, const char *more)
{
    return at(call(w, "run.create", "{'type':'start_session','session_name':'%s','prompt':'go'%s}",
                   name, more),
              "/run_id");
}

static inline str resume(struct world *w, const char *name, const char *more)
{
    return at(call(w, "run.create",
                   "{'type':'resume_session','session_name':'%s','prompt':'more'%s}", name, more),
              "/run_id");
}

static inline str show(struct world *w, str run_id, const char *pointer)
{
    return at(call(w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(run_id)), pointer);
}

#define CHECK_RUN(w, id, status) CHECK_STR(show(w, id, "/status"), status)

/* So much later, with signs of life of a runner on the way. */
static inline void pass_alive(struct world *w, const struct fake_runner *m, int64_t ms)
{
    for (; ms > 0; ms -= 500) {
        world_pass(w, ms < 500 ? ms : 500);
        be(w, m);
        CHECK_OK(call(w, "runner.heartbeat", "{'runner_id':'" STR_FMT "'}", STR_ARG(m->id))->error);
        w->actor = the_operator;
    }
}

static inline void must_be(str found, str expected)
{
    CHECK(expected.len > 0);
    CHECK_STR(found, arena_copy(check_arena(), expected).at);
}

static inline str token_error(struct world *w, str token)
{
    struct grant *grant;
    err e = op_admit(&w->engine, check_arena(), token, &grant);

    if (!e)
        grant_unref(grant);
    return e ? e->message : STR("");
}

#endif
