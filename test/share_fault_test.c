/* share_fault_test.c: whatever storage call fails, what an agent's step comes to happens wholly or not at all. */
#include "share_help.h"

#define PAIR                                                                    \
    "{'workflow':'pair','steps':[{'id':'s','agents':['a','b'],'outputs':['x']," \
    "'retry':{'max_attempts':2}},{'id':'t','after':['s'],'agent':'a','parallel_agents':2}]}"

struct scene {
    struct world *w;
    struct fake_runner m;
    struct turn t;
    struct actor agent; /* who has it */
    str id;
};

/* What happens, and what can be seen of it afterwards. */
struct step {
    const char *name;
    void (*before)(struct scene *s);
    struct command *(*run)(struct scene *s);
    const char *pointer, *value;
};

static void nothing(struct scene *s)
{
    (void)s;
}

static void at_work(struct scene *s)
{
    s->id = begin(s->w, "pair", "");
    s->t = turn_of(s->w, &s->m, "task");
    act_as(s->w, s->t.claim.token);
    s->agent = s->w->actor;
    s->w->actor = the_operator;
}

static void recorded(struct scene *s)
{
    at_work(s);
    CHECK_OK(records(s->w, &s->t, s->id, "s", ",'outputs':{'x':1}")->error);
}

static void recorded_last(struct scene *s)
{
    at_work(s);
    works(s->w, &s->t, s->id, "s", "{'x':1}");
    s->t = turn_of(s->w, &s->m, "task");
    CHECK_OK(records(s->w, &s->t, s->id, "s", ",'outputs':{'x':2}")->error);
}

static void said_to_fail(struct scene *s)
{
    at_work(s);
    CHECK_OK(records(s->w, &s->t, s->id, "s", ",'failed':true")->error);
}

static struct command *starting(struct scene *s)
{
    struct command *c = call(s->w, "execution.start", "{'workflow':'pair','business_key':'k'}");

    if (!c->error)
        s->id = at(c, "/execution_id");
    else if (c->error->kind == ERR_CONFLICT) { /* it was done, and nobody knew */
        c = call(s->w, "execution.list", "{'business_key':'k'}");
        s->id = at(c, "/executions/0/execution_id");
    }
    return c;
}

static struct command *recording(struct scene *s)
{
    s->w->actor = s->agent;
    struct command *c = call(s->w, "execution.report",
                             "{'execution_id':'" STR_FMT "','step':'s','outputs':{'x':1}}",
                             STR_ARG(s->id));
    s->w->actor = the_operator;
    return c;
}

static struct command *ending(struct scene *s)
{
    return report(s->w, &s->m, &s->t.claim, "completed", ",'client_id':'c1'");
}

static struct command *cancelling(struct scene *s)
{
    return call(s->w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(s->id));
}

// clang-format off
static const struct step steps[] = {
    { "start",         nothing,       starting,   "/tokens/0/status",  "work" },
    { "record",        at_work,       recording,  "/steps/0/status",   "in_progress" },
    { "next agent",    recorded,      ending,     "/steps/0/status",   "in_progress" },
    { "next step",     recorded_last, ending,     "/steps/1/status",   "in_progress" },
    { "attempt",       said_to_fail,  ending,     "/steps/0/attempt",  "2" },
    { "no record",     at_work,       ending,     "/steps/0/attempt",  "1" },
    { "cancel",        recorded,      cancelling, "/status",           "CANCELLED" },
};
// clang-format on

static struct scene prepared(const struct step *step)
{
    struct scene s = { .w = world_new() };

    s.m = fake_runner_new(s.w, "r", ",'capacity':100");
    agent(s.w, "a");
    agent(s.w, "b");
    deploy(s.w, PAIR);
    world_pass(s.w, 0);
    step->before(&s);
    return s;
}

TEST_LIMIT(every_step_of_an_agent_survives_every_storage_fault, 240)
{
    static const enum fault_kind kinds[] = { FAULT_CALL, FAULT_DEATH, FAULT_COMMIT, FAULT_LOST };
    int faults = 0;

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int n = 1;; n += n < 12 ? 1 : 9) {
                struct scene s = prepared(&steps[i]);
                s.w->fault = (struct fault){ kinds[k], (uint64_t)n, 0, 0, false };
                struct command *c = steps[i].run(&s);
                bool fired = s.w->fault.fired;
                s.w->fault.kind = FAULT_NONE;
                CHECK(!fired || c->error || s.w->engine.stopped);
                s.w->engine.stopped = false; /* it was done, and nobody knows: as after a restart */
                world_audit(s.w);
                if (fired)
                    c = steps[i].run(&s);
                CHECK_OK(c->error);
                str found = seen(s.w, s.id, steps[i].pointer);
                if (!str_eq(found, str_from(steps[i].value)))
                    check_fail(__FILE__, __LINE__, "%s, fault %d: expected %s, found " STR_FMT,
                               steps[i].name, n, steps[i].value, STR_ARG(found));
                world_end(s.w);
                faults += fired;
                if (!fired)
                    break;
            }
    check_note("%d faults", faults);
    CHECK(faults > 150);
}
