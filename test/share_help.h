/* share_help.h: executions whose steps agents do, and runners that play them, for tests of shares. */
#ifndef TEST_SHARE_HELP_H
#define TEST_SHARE_HELP_H

#include "runners.h"

static inline void deploy(struct world *w, const char *definition)
{
    CHECK_OK(call(w, "workflow.deploy", "{'definition':%s}", definition)->error);
}

static inline void agent(struct world *w, const char *name)
{
    CHECK_OK(call(w, "agent.create", "{'name':'%s'}", name)->error);
}

/* The id of a new execution; `more` are further members of what starts it. */
static inline str begin(struct world *w, const char *workflow, const char *more)
{
    return at(call(w, "execution.start", "{'workflow':'%s'%s%s}", workflow, *more ? "," : "", more),
              "/execution_id");
}

/* A member of an execution, or of its steps. */
static inline str seen(struct world *w, str id, const char *pointer)
{
    return at(call(w, "execution.get", "{'execution_id':'" STR_FMT "'}", STR_ARG(id)), pointer);
}

static inline str kept(struct world *w, str id, const char *pointer)
{
    return at(call(w, "execution.steps", "{'execution_id':'" STR_FMT "'}", STR_ARG(id)), pointer);
}

/* An agent at its turn. */
struct turn {
    struct fake_runner runner;
    struct claim claim;
    str session, prompt, purpose;
};

/* The next turn that there is; its claim's id is empty when there is none. */
static inline struct turn turn_next(struct world *w, const struct fake_runner *m)
{
    struct turn t = { .runner = *m };
    struct command *c = poll(w, m);

    if (c->answer.waits || !json_get(answer_of(c), "run"))
        return t;
    t.claim.run_id = at(c, "/run/run_id");
    t.claim.token = at(c, "/run/token");
    CHECK(str_to_int(at(c, "/run/fence"), &t.claim.fence));
    t.session = at(c, "/run/session_name");
    t.prompt = at(c, "/run/prompt");
    t.purpose = at(c, "/run/purpose");
    CHECK_OK(report(w, m, &t.claim, "started", "")->error);
    return t;
}

static inline struct turn turn_of(struct world *w, const struct fake_runner *m, const char *purpose)
{
    struct turn t = turn_next(w, m);

    CHECK(t.claim.run_id.len);
    CHECK_STR(t.purpose, purpose);
    return t;
}

/* What its agent says of a step; `more` begins with a comma. */
static inline struct command *records(struct world *w, const struct turn *t, str id,
                                      const char *step, const char *more)
{
    act_as(w, t->claim.token);
    struct command *c = call(w, "execution.report", "{'execution_id':'" STR_FMT "','step':'%s'%s}",
                             STR_ARG(id), step, more);
    w->actor = the_operator;
    return c;
}

static inline void ends(struct world *w, const struct turn *t)
{
    CHECK_OK(
        report(w, &t->runner, &t->claim, "completed", ",'result':'done','client_id':'c1'")->error);
}

/* So much later, while it works. */
static inline void pass_working(struct world *w, const struct turn *t, int64_t ms)
{
    for (; ms > 0; ms -= 500) {
        world_pass(w, ms < 500 ? ms : 500);
        CHECK_OK(report(w, &t->runner, &t->claim, "progress", "")->error);
    }
}

/* It records that, and stops. */
static inline void works(struct world *w, const struct turn *t, str id, const char *step,
                         const char *outputs)
{
    CHECK_OK(
        records(w, t, id, step, arena_printf(check_arena(), ",'outputs':%s", outputs).at)->error);
    ends(w, t);
}

static inline str session_is(struct world *w, str session, const char *pointer)
{
    return at(call(w, "session.get", "{'session_id':'" STR_FMT "'}", STR_ARG(session)), pointer);
}

#endif
