/* document_postgres_test.c: workflows of both documents go and look alike on SQLite and PostgreSQL. */
#include "calls.h"
#include "sim/postgres.h"

#define STEPS                                                                \
    "{'definition':{'workflow':'scenes','generation_steps':["                \
    "{'step':1,'name':'Plan','outputs':['plan'],'human_approval':true},"     \
    "{'step':2,'name':'Generation','prerequisites':[1],'outputs':['draft']," \
    "'retry_enabled':true,'max_attempts':2},"                                \
    "{'step':3,'name':'Check','prerequisites':[2],'triggers_retry':true}]}}"

static const struct {
    const char *op, *input;
} life[] = {
    { "workflow.used", "{}" },
    { "workflow.deploy", STEPS },
    { "execution.start",
      "{'workflow':'scenes','input':{'scene_id':'0204'},'session_name':'work-on-chapter-02'}" },
    { "step.update", "{'workflow_id':'$','step':1,'status':'completed','artifacts':{'plan':'ä'}}" },
    { "step.next", "{'workflow_id':'$'}" },
    { "step.workflows", "{'status':'waiting_approval'}" },
    { "step.approve", "{'workflow_id':'$','step':1,'approved':true,'modifications':{'tone':1}}" },
    { "step.update", "{'workflow_id':'$','step':2,'status':'failed','error':'flat'}" },
    { "step.update",
      "{'workflow_id':'$','step':2,'status':'in_progress','artifacts':{'draft':1}}" },
    { "step.update", "{'workflow_id':'$','step':2,'status':'completed'}" },
    { "step.prerequisites", "{'workflow_id':'$','step':3}" },
    { "step.status", "{'workflow_id':'$'}" },
    { "step.cancel", "{'workflow_id':'$','reason':'enough'}" },
    { "step.resume", "{'workflow_id':'$','from_step':2}" },
    { "step.workflows", "{'session_name':'work-on-chapter-02','workflow_type':'generation'}" },
    { "phase.create", "{'task':'t','phases':['a','b',{'title':'c','after':[0,1]}]}" },
    { "phase.update", "{'workflow_id':'$','phase_id':'phase_1','status':'active'}" },
    { "phase.update",
      "{'workflow_id':'$','phase_id':'phase_1','status':'completed','deliverables':['ß'],"
      "'context_for_next':'on'}" },
    { "phase.show", "{}" },
    { "phase.update", "{'workflow_id':'$','phase_id':'phase_0','status':'active'}" },
    { "phase.update", "{'workflow_id':'$','phase_id':'phase_0','status':'failed'}" },
    { "workflow.used", "{}" },
};

/* What everything answers, with all views behind it. */
static str lived(struct world *w)
{
    static const char *const views[] = {
        "workflow", "markdown", "todos", "index", "metrics", "log"
    };
    struct buf all = buf_in(check_arena());
    str id = STR("");

    for (size_t i = 0; i < sizeof life / sizeof *life; i++) {
        struct buf input = buf_in(check_arena());
        for (const char *at = life[i].input; *at; at++)
            buf_add(&input, *at == '$' ? id : (str){ at, 1 });
        struct command *c = world_call(w, life[i].op, buf_str(&input).at, "");
        CHECK_OK(c->error);
        if (strcmp(life[i].op, "execution.start") == 0)
            id = at(c, "/execution_id");
        else if (strcmp(life[i].op, "phase.create") == 0)
            id = at(c, "/workflow_id");
        else
            buf_printf(&all, "%s: " STR_FMT "\n", life[i].op, STR_ARG(c->answer.text));
        for (size_t k = 0; id.len && k < sizeof views / sizeof *views; k++)
            buf_printf(&all, "%s: " STR_FMT "\n", views[k],
                       STR_ARG(call(w, "execution.view",
                                    "{'execution_id':'" STR_FMT "','view':'%s'}", STR_ARG(id),
                                    views[k])
                                   ->answer.text));
        world_pass(w, 1500);
    }
    world_audit(w);
    return buf_str(&all);
}

TEST_USING(the_documents_are_the_same_on_postgresql, 300, &postgres_service)
{
    struct postgres *p = postgres_shared();
    struct world *w[2];
    str told[2];

    CHECK_OK(world_open("documents.db", NULL, &w[0]));
    CHECK_OK(world_open(postgres_new_schema(p), NULL, &w[1]));
    for (int i = 0; i < 2; i++) {
        w[i]->actor = the_operator;
        told[i] = lived(w[i]);
        world_close(w[i]);
    }
    CHECK(told[0].len > 10000);
    CHECK_STR(told[1], told[0].at);
    postgres_leave(p);
}
