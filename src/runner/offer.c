/* offer.c: keeps the server told of the agents that are in files on this machine. */
#include "runner/offer.h"

#include "base/log.h"
#include "runner/agents.h"
#include "runner/errand.h"
#include "runner/runner_private.h"

enum { CALL_MS = 15000 };

struct json offer_first(struct arena *a, const struct runner_options *o)
{
    return agents_offered(a, o, NULL, NULL);
}

/* The arena is begun anew with each change: it holds what is told now. */
static void keep(struct offer *f, str told, str bad)
{
    struct arena *fresh = arena_new();

    f->told = arena_copy(fresh, told);
    f->bad = arena_copy(fresh, bad);
    arena_free(f->arena);
    f->arena = fresh;
}

void offer_init(struct offer *f, const struct runner_options *o, str runner_id)
{
    struct arena *a = arena_new();
    struct json first = offer_first(a, o);

    *f = (struct offer){ .o = o, .runner_id = runner_id, .arena = arena_new() };
    keep(f, json_printed(a, &first), STR("[]"));
    arena_free(a);
}

/* Which projects have folders on this machine; NULL: the server does not say. */
static const struct json *projects_ask(struct offer *f, struct arena *a, struct caller *c)
{
    struct call call = { .method = "GET",
                         .pattern = "/runner/projects",
                         PARAMS({ "runner_id", f->runner_id }),
                         .timeout_ms = CALL_MS };
    const struct json *answer;

    return caller_call(c, a, &call, &answer) ? NULL : json_get(answer, "projects");
}

/* The runs of a runner are its own to tell: this says nothing of them. */
static err beat(struct offer *f, struct arena *a, struct caller *c, const struct json *list)
{
    struct json body = json_object();
    const struct json *answer, *stop;

    json_put(a, &body, STR("runner_id"), json_string(f->runner_id));
    json_put(a, &body, STR("agents"), *list);
    struct call call = { .method = "POST",
                         .pattern = "/runner/heartbeat",
                         .body = json_printed(a, &body),
                         .timeout_ms = CALL_MS };
    TRY(caller_call(c, a, &call, &answer));
    stop = json_get(answer, "stop_runs");
    for (uint32_t i = 0; json_is(stop, JSON_ARRAY) && i < stop->len; i++)
        if (json_is(&stop->items[i], JSON_STRING))
            runs_stop(a, f->o->home, json_text(&stop->items[i]));
    if (json_is(json_get(answer, "wake"), JSON_OBJECT))
        errand_start(a, f->o, f->runner_id, json_get(answer, "wake"));
    return NULL;
}

void offer_tell(struct offer *f, struct arena *a, struct caller *c)
{
    const struct json *projects = f->refused ? NULL : projects_ask(f, a, c);
    struct json bad = json_array();

    if (!projects)
        return;
    struct json list = agents_offered(a, f->o, projects, &bad);
    str printed = json_printed(a, &list), bad_printed = json_printed(a, &bad);
    for (uint32_t i = 0; i < bad.len && !str_eq(bad_printed, f->bad); i++)
        log_warn("runner.agent_file", LOG_S("error", json_text(&bad.items[i])));
    err e = str_eq(printed, f->told) ? NULL : beat(f, a, c, &list);
    if (e && (e->kind == ERR_INVALID || e->kind == ERR_UNFIT)) {
        log_warn("runner.agents_refused", LOG_S("error", e->message));
        f->refused = true;
    }
    if (!str_eq(bad_printed, f->bad) || (!e && !str_eq(printed, f->told)))
        keep(f, e ? f->told : printed, bad_printed);
}
