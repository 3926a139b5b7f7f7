/* command.c: work that a runner executes: a command of the definition, which no agent's words are part of.
 *
 * Variables come to it as JSON on its standard input. Nothing is put into what is executed. */
#include <assert.h>

#include "core/exec/private.h"
#include "core/run.h"

err command_begin(struct exec *x, struct mark *m)
{
    const struct graph_work *work = x->graph->nodes[m->at].work;
    struct json input;
    str trouble;
    struct run run;

    TRY(work_input(x, m, &input, &trouble));
    if (trouble.len)
        return incident_raise(x, m, MARK_BEGIN, "expression", trouble);
    struct run_command c = {
        .argv = work->argv,
        .argv_count = work->argv_count,
        .stdin_text = json_printed(x->tx->arena, &input),
        .owner =
            arena_printf(x->tx->arena, STR_FMT "/" STR_FMT, STR_ARG(x->row.id), STR_ARG(m->node)),
        .demand = { .project_dir = x->row.project_dir },
        .max_ms = work->timeout_ms,
    };
    /* What no process may be given is this step's trouble, and not of whoever reported the one before. */
    err e = run_command_create(x->tx, &c, &run);
    if (e && (e->kind == ERR_INVALID || e->kind == ERR_TOO_LARGE))
        return incident_raise(x, m, MARK_BEGIN, "command", e->message);
    TRY(e);
    m->ref = run.id;
    return NULL;
}

err command_stop(struct exec *x, struct mark *m, str why)
{
    struct run run;

    TRY(run_load(x->tx, m->ref, &run));
    return run_stop(x->tx, &run, why);
}
