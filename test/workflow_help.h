/* workflow_help.h: workflows that are deployed and run, for tests of their operations. */
#ifndef TEST_WORKFLOW_HELP_H
#define TEST_WORKFLOW_HELP_H

#include "session_help.h"

/* Orders: a job, then for each parcel a job beside a report and a job that is done above 100 alone, then
 * a job that is tried three times. */
#define SHIP                                                                            \
    "{'workflow':'ship','description':'Ships an order',"                                \
    "'input':{'type':'object','required':['order']},'steps':["                          \
    "{'id':'pick','job':'pick','with':{'order':'=order'},'outputs':['parcels']},"       \
    "{'id':'label','after':['pick'],'for_each':'=parcels','as':'parcel','job':'label'," \
    "'outputs':['code']},"                                                              \
    "{'id':'check','title':'Check the address','after':['pick'],'outputs':['good'],"    \
    "'fails_when':'=good != true'},"                                                    \
    "{'id':'wrap','after':['pick'],'when':'=order > 100','job':'wrap'},"                \
    "{'id':'send','after':['label','check','wrap'],'job':'send',"                       \
    "'retry':{'max_attempts':3,'backoff':'1m'}}],'result':'=code'}"

/* Two steps that somebody reports. */
#define TWO "{'workflow':'two','steps':[{'id':'a'},{'id':'b','after':['a']}]}"

static inline void deploy(struct world *w, const char *definition)
{
    CHECK_OK(call(w, "workflow.deploy", "{'definition':%s}", definition)->error);
}

/* The id of a new execution; `more` are further members of what starts it. */
static inline str begin(struct world *w, const char *workflow, const char *more)
{
    return at(call(w, "execution.start", "{'workflow':'%s'%s%s}", workflow, *more ? "," : "", more),
              "/execution_id");
}

/* A member of an execution. */
static inline str seen(struct world *w, str id, const char *pointer)
{
    return at(call(w, "execution.get", "{'execution_id':'" STR_FMT "'}", STR_ARG(id)), pointer);
}

/* The id of the next job of a type. */
static inline str take(struct world *w, const char *type)
{
    return at(call(w, "job.claim", "{'types':['%s']}", type), "/jobs/0/job_id");
}

static inline struct command *completed(struct world *w, str job, const char *outputs)
{
    return call(w, "job.complete", "{'job_id':'" STR_FMT "','outputs':%s}", STR_ARG(job), outputs);
}

static inline struct command *reported(struct world *w, str id, const char *step, const char *more)
{
    return call(w, "execution.report", "{'execution_id':'" STR_FMT "','step':'%s'%s%s}",
                STR_ARG(id), step, *more ? "," : "", more);
}

/* Becomes a worker: the holder of a runner's token that names types. */
static inline void become_worker(struct world *w, const char *types)
{
    w->actor = the_operator;
    act_as(w,
           at(call(w, "token.create", "{'kind':'runner','name':'hand','scope':{'jobs':%s}}", types),
              "/token"));
}

#endif
