/* inputs_flow.c: what clients of the swarm ask of workflows, executions, jobs and incidents. */
#include "sim/inputs_private.h"

// clang-format off
/* Under a name each: what is reported, claimed, tried again, decided, goes in circles, stands still, is
 * proven and approved, and is no definition. */
static const char *const definitions[] = {
    "{'workflow':'%s','steps':[{'id':'a'},{'id':'b','after':['a'],'job':'t1'},"
    "{'id':'c','after':['a'],'for_each':[1,2,3,4,5],'parallel':2,'job':'t2','outputs':['k']},"
    "{'id':'d','after':['b','c']}]}",
    "{'workflow':'%s','on_fail':'incident','steps':[{'id':'a','set':{'n':'=1 + 1'}},"
    "{'id':'b','after':['a'],'when':'=n > 1','job':'t1','retry':{'max_attempts':2,'backoff':'2s'}},"
    "{'id':'c','after':['a'],'when':'=n > 2','job':'t1'},{'id':'d','after':['b','c'],'job':'t2',"
    "'timeout':'20s'}]}",
    "{'workflow':'%s','nodes':[{'id':'s','kind':'start'},{'id':'a','job':'t1'},{'id':'x','kind':'xor'},"
    "{'id':'e','kind':'end'}],'flows':[{'from':'s','to':'a'},{'from':'a','to':'x'},"
    "{'from':'x','to':'a','when':'=k = 1'},{'from':'x','to':'e','default':true}]}",
    "{'workflow':'%s','steps':[{'id':'a','for_each':'=no_list','job':'t1'},{'id':'b','run':['true']},"
    "{'id':'c','after':['a','b'],'triggers_retry':false}]}",
    "{'workflow':'%s','input':{'type':'object','required':['k']},'steps':[{'id':'a','job':'t2',"
    "'outputs':['k'],'fails_when':'=k = 2'},{'id':'b','after':['a'],'triggers_retry':'a'}]}",
    "{'workflow':'%s','steps':[{'id':'a','outputs':['k'],'evidence':[{'run':'true'},{'file':'=k'}],"
    "'retry':{'max_attempts':3}},{'id':'d','after':['a'],'approval':{'deadline':'30s','default':"
    "'approve','on_reject':'a'}},{'id':'c','after':['d'],'job':'t1','approval':{'type':'select_variant',"
    "'options':['x','y']}}]}",
    "{'workflow':'%s','steps':[{'id':'a','approval':true,'by':'report'},{'id':'c','after':['a'],"
    "'for_each':[1,2],'run':['true'],'evidence':[{'junit':'r.xml'}],'approval':{'deadline':'20s',"
    "'default':'reject','attended':true}}]}",
    "{'workflow':'%s','steps':[{'id':'a','after':['a','none']}]}",
};

static const char *const names[] = { "f1", "f2", "f3", "f4" };
static const char *const steps[] = { "a", "b", "c", "d" };
static const char *const types[] = { "['t1']", "['t2']", "['t*']", "['t1','t2']", "['none']" };
static const char *const values[] = { "{}", "{'k':1}", "{'k':2}", "{'k':[1],'n':7}", "{'k':'f.txt'}" };
// clang-format on

static const char *one_of(struct inputs *in, const char *const *texts, size_t count)
{
    return texts[random_below(in->random, (uint32_t)count)];
}

#define ONE_OF(in, texts) one_of((in), (texts), COUNT(texts))

/* The newest ones more often: the others have ended. */
static struct json any_id(struct inputs *in, const struct map *ids, const char *none)
{
    uint32_t few = ids->count < 4 ? ids->count : 4;

    if (!ids->count || chance(in, 12))
        return text(none);
    return json_string(
        ids->entries[ids->count - 1 - random_below(in->random, chance(in, 3) ? ids->count : few)]
            .key);
}

static void refer_definition(struct inputs *in, struct json *out)
{
    *out =
        json_of(in->arena, arena_printf(in->arena, ONE_OF(in, definitions), ONE_OF(in, names)).at);
}

static void refer_name(struct inputs *in, struct json *out)
{
    *out = text(ONE_OF(in, names));
}

/* Those that are done by report are reported. */
static void refer_step(struct inputs *in, struct json *out)
{
    static const char *const reported[] = { "a", "a", "d", "c" };

    if ((op_is_of(in, "approval.") || op_is_of(in, "inbox.")) && !chance(in, 4))
        *out = text("");
    else
        *out = text(op_is_of(in, "execution.report") ? ONE_OF(in, reported) : ONE_OF(in, steps));
}

static void refer_phase(struct inputs *in, struct json *out)
{
    *out = text(chance(in, 3) ? "phase_1" : "phase_0");
}

static void refer_phases(struct inputs *in, struct json *out)
{
    *out = json_of(in->arena, chance(in, 3) ? "['a',{'title':'b','agent':'x'},{}]" : "['a','b']");
}

static void refer_token(struct inputs *in, struct json *out)
{
    *out = text(chance(in, 3) ? "token-2" : "token-1");
}

static void refer_values(struct inputs *in, struct json *out)
{
    *out = json_of(in->arena, ONE_OF(in, values));
}

static void refer_changes(struct inputs *in, struct json *out)
{
    *out = chance(in, 4) ? json_of(in->arena, ONE_OF(in, values)) : json_object();
}

static void refer_types(struct inputs *in, struct json *out)
{
    *out = json_of(in->arena, ONE_OF(in, types));
}

static void refer_variables(struct inputs *in, struct json *out)
{
    if (op_is_of(in, "inbox."))
        refer_changes(in, out);
    else
        refer_values(in, out);
}

static void refer_execution(struct inputs *in, struct json *out)
{
    *out = any_id(in, &in->model->executions, "exec-none");
}

static void refer_job(struct inputs *in, struct json *out)
{
    *out = any_id(in, &in->model->jobs, "job_1_0_1_1");
}

static void refer_incident(struct inputs *in, struct json *out)
{
    *out = any_id(in, &in->model->incidents, "inc_none");
}

static void refer_approval(struct inputs *in, struct json *out)
{
    *out = any_id(in, &in->model->approvals, "apr_none");
}

static void refer_waiting(struct inputs *in, struct json *out)
{
    const struct map *all[] = { &in->model->approvals, &in->model->incidents,
                                &in->model->permissions };

    *out = any_id(in, all[random_below(in->random, COUNT(all))], "apr_none");
}

/* Of what was seen: mostly whatever there is. */
static void refer_digest(struct inputs *in, struct json *out)
{
    *out = text(chance(in, 6) ? "0000" : "");
}

static void refer_decision(struct inputs *in, struct json *out)
{
    static const char *const decisions[] = { "approve", "approve", "approve", "rework",
                                             "reject",  "retry",   "allow" };

    *out = text(decisions[random_below(in->random, op_is_of(in, "inbox.") ? COUNT(decisions) : 5)]);
}

static void refer_variant(struct inputs *in, struct json *out)
{
    *out = text(!chance(in, 4) ? "" : chance(in, 3) ? "z" : chance(in, 2) ? "x" : "y");
}

/* Mostly none that another one may have. */
static void refer_key(struct inputs *in, struct json *out)
{
    *out = json_string(arena_printf(in->arena, "k%u", random_below(in->random, 200)));
}

static void refer_attempt(struct inputs *in, struct json *out)
{
    *out = json_int(in->arena, 1 + random_below(in->random, 2));
}

/* A version that there may be; numbers of executions are larger. */
static void refer_small(struct inputs *in, struct json *out)
{
    *out = json_int(in->arena, 1 + random_below(in->random, 3));
}

static void refer_wait(struct inputs *in, struct json *out)
{
    *out = text(chance(in, 2) ? "ended" : "changed");
}

static void refer_status(struct inputs *in, struct json *out)
{
    *out = text(op_is_of(in, "approval.")   ? "waiting"
                : op_is_of(in, "incident.") ? "open"
                : chance(in, 2)             ? "open"
                                            : "RUNNING");
}

static const struct {
    const char *name;
    void (*refer)(struct inputs *in, struct json *out);
} words[] = {
    { "definition", refer_definition },
    { "name", refer_name },
    { "workflow", refer_name },
    { "version", refer_small },
    { "step", refer_step },
    { "from", refer_step },
    { "token", refer_token },
    { "input", refer_values },
    { "outputs", refer_values },
    { "variables", refer_variables },
    { "types", refer_types },
    { "execution_id", refer_execution },
    { "workflow_id", refer_execution },
    { "phase_id", refer_phase },
    { "phases", refer_phases },
    { "from_step", refer_step },
    { "artifacts", refer_values },
    { "execution", refer_execution },
    { "job_id", refer_job },
    { "incident_id", refer_incident },
    { "approval_id", refer_approval },
    { "id", refer_waiting },
    { "selected_variant", refer_variant },
    { "modifications", refer_changes },
    { "digest", refer_digest },
    { "decision", refer_decision },
    { "business_key", refer_key },
    { "attempt", refer_attempt },
    { "wait", refer_wait },
    { "status", refer_status },
};

bool inputs_flow_refer(struct inputs *in, str name, struct json *out)
{
    bool mine = op_is_of(in, "workflow.") || op_is_of(in, "execution.") || op_is_of(in, "job.") ||
                op_is_of(in, "incident.") || op_is_of(in, "approval.") || op_is_of(in, "inbox.");
    bool documents = op_is_of(in, "phase.") || op_is_of(in, "step.");

    /* Theirs are other words, which their schemas have. */
    mine |= documents && !str_eq(name, STR("status"));

    for (size_t i = 0; mine && i < COUNT(words); i++) {
        if (!str_eq(name, str_from(words[i].name)))
            continue;
        words[i].refer(in, out);
        return true;
    }
    return false;
}
