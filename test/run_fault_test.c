/* run_fault_test.c: whatever storage call fails, a step of a run happens wholly or not at all. */
#include "runners.h"

struct step {
    struct command *(*run)(struct world *w, const struct fake_runner *m, const struct claim *held);
    const char *status; /* of the run afterwards */
};

static struct command *step_claim(struct world *w, const struct fake_runner *m,
                                  const struct claim *held)
{
    (void)held;
    be(w, m);
    struct command *c = call(w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(m->id));
    w->actor = the_operator;
    return c;
}

static struct command *step_started(struct world *w, const struct fake_runner *m,
                                    const struct claim *held)
{
    return report(w, m, held, "started", "");
}

static struct command *step_progress(struct world *w, const struct fake_runner *m,
                                     const struct claim *held)
{
    return report(w, m, held, "progress", ",'heard':'x','output':[{'stream':'stdout','text':'x'}]");
}

static struct command *step_completed(struct world *w, const struct fake_runner *m,
                                      const struct claim *held)
{
    return report(w, m, held, "completed", ",'result':'r'");
}

static struct command *step_lease(struct world *w, const struct fake_runner *m,
                                  const struct claim *held)
{
    (void)m;
    (void)held;
    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    struct command *c = call(w, "system.tick", "{}");
    w->actor = the_operator;
    return c;
}

/* A run up to where a step begins. */
static struct world *prepared(const struct step *s, struct fake_runner *m, struct claim *held)
{
    struct world *w = world_new();

    *m = fake_runner_new(w, "a", "");
    held->run_id = start(w, "root", "");
    world_pass(w, 0);
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
                struct fake_runner m;
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
