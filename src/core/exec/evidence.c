/* evidence.c: between the report of an attempt and its completion a runner looks for itself.
 *
 * One run of purpose command executes `baton evidence` in the folder of the execution; what there is to
 * check comes to it as JSON, and what it has found comes back so. Commands stand as the definition has
 * them: nothing that an agent has said becomes part of one, only the paths of files. */
#include <assert.h>

#include "base/utf8.h"
#include "core/exec/private.h"
#include "core/stored.h"

enum { SHOWN_BYTES = 2000, KEPT = 200 };

static const struct graph_step *definition_of(const struct exec *x, const struct mark *m)
{
    assert(x->graph->nodes[m->at].step != GRAPH_NONE);
    return &x->graph->steps[x->graph->nodes[m->at].step];
}

/* ---- what there is to check ---- */

/* A path or a sum: a text, whatever it is made of. */
static err text_eval(struct exec *x, const struct feel_scope *names, const struct feel *f,
                     const char *what, struct json *out, str *trouble)
{
    struct feel_result r;
    err e = feel_eval(x->tx->arena, f, names, x->tx->now_ms, &r);

    if (!e && json_is(r.value, JSON_STRING) && r.value->len) {
        *out = *r.value;
        return NULL;
    }
    *trouble =
        arena_printf(x->tx->arena,
                     "%s of its evidence: expected a text from " STR_FMT ", found " STR_FMT STR_FMT,
                     what, STR_ARG(feel_text(f)),
                     STR_ARG(e ? e->message : utf8_cut(json_printed(x->tx->arena, r.value), 80)),
                     STR_ARG(!e && r.reason.len
                                 ? arena_printf(x->tx->arena, " (" STR_FMT ")", STR_ARG(r.reason))
                                 : STR("")));
    return NULL;
}

static err command_json(struct exec *x, const struct feel_scope *names,
                        const struct graph_evidence *e, struct json *out, str *trouble)
{
    struct arena *a = x->tx->arena;
    struct json argv = json_array();

    (void)names, (void)trouble;
    for (size_t i = 0; i < e->argv_count; i++)
        json_push(a, &argv, json_string(e->argv[i]));
    json_put(a, out, STR("argv"), argv);
    json_put(a, out, STR("exit"), json_int(a, e->exit));
    return NULL;
}

static err file_json(struct exec *x, const struct feel_scope *names, const struct graph_evidence *e,
                     struct json *out, str *trouble)
{
    struct json path = json_null(), sum = json_null();

    TRY(text_eval(x, names, e->file, "the path", &path, trouble));
    if (e->sha256 && !trouble->len)
        TRY(text_eval(x, names, e->sha256, "the SHA-256", &sum, trouble));
    json_put(x->tx->arena, out, STR("path"), path);
    json_put(x->tx->arena, out, STR("sha256"), sum);
    return NULL;
}

static err tests_json(struct exec *x, const struct feel_scope *names,
                      const struct graph_evidence *e, struct json *out, str *trouble)
{
    struct json path = json_null();

    TRY(text_eval(x, names, e->file, "the path", &path, trouble));
    json_put(x->tx->arena, out, STR("path"), path);
    return NULL;
}

static const struct {
    const char *name;
    err (*write)(struct exec *x, const struct feel_scope *names, const struct graph_evidence *e,
                 struct json *out, str *trouble);
} kinds[] = {
    [EVIDENCE_COMMAND] = { "command", command_json },
    [EVIDENCE_HASH] = { "file", file_json },
    [EVIDENCE_TESTS] = { "junit", tests_json },
};

/* Names of the result come first, as for fails_when. */
static err checks_json(struct exec *x, const struct mark *m, const struct json *outputs,
                       struct json *out, str *trouble)
{
    const struct graph_step *definition = definition_of(x, m);
    struct arena *a = x->tx->arena;
    struct json list = json_array();
    struct exec_scope scope;

    *trouble = STR("");
    TRY(scope_of(x, m, &scope));
    const struct feel_scope names = { outputs, scope_names(&scope) };
    for (size_t i = 0; i < definition->evidence_count && !trouble->len; i++) {
        const struct graph_evidence *e = &definition->evidence[i];
        struct json check = json_object();
        json_put(a, &check, STR("kind"), json_string(str_from(kinds[e->kind].name)));
        TRY(kinds[e->kind].write(x, &names, e, &check, trouble));
        json_push(a, &list, check);
    }
    *out = json_object();
    json_put(a, out, STR("checks"), list);
    return NULL;
}

/* ---- beginning ---- */

static err check_begin(struct exec *x, struct mark *m, const struct json *document)
{
    static const str argv[] = { STR("baton"), STR("evidence") };
    const struct graph_work *work = x->graph->nodes[m->at].work;
    int64_t since_ms = m->since_ms;
    struct run run;
    struct run_command c = {
        .argv = argv,
        .argv_count = sizeof argv / sizeof *argv,
        .stdin_text = json_printed(x->tx->arena, document),
        .owner =
            arena_printf(x->tx->arena, STR_FMT "/" STR_FMT, STR_ARG(x->row.id), STR_ARG(m->node)),
        .demand = { .project_dir = x->row.project_dir },
        .max_ms = work->timeout_ms,
    };

    err e = run_command_create(x->tx, &c, &run);
    if (e && (e->kind == ERR_INVALID || e->kind == ERR_TOO_LARGE))
        return incident_raise(x, m, MARK_PROVE, "command", e->message);
    TRY(e);
    exec_move(x, m, "proving");
    mark_rest(x, m, MARK_CHECK);
    m->since_ms = since_ms; /* the attempt goes on */
    m->ref = run.id;
    return NULL;
}

err evidence_begin(struct exec *x, struct mark *m)
{
    const struct graph_node *node = &x->graph->nodes[m->at];
    const struct json *outputs;
    struct json document;
    str trouble;

    TRY(stored_parse_as(x->tx, THING("execution", x->row.id), m->vars, JSON_OBJECT, &outputs));
    if (node->loop && !m->scope)
        return approval_ask(x, m, outputs); /* its instances were proven one by one */
    if (!definition_of(x, m)->evidence_count)
        return work_proven(x, m, outputs);
    TRY(checks_json(x, m, outputs, &document, &trouble));
    if (trouble.len)
        return incident_raise(x, m, MARK_PROVE, "expression", trouble);
    return check_begin(x, m, &document);
}

/* ---- ending ---- */

/* What the run has said, where it is what was asked for: a verdict on each check. */
static const struct json *verdict_of(struct exec *x, const struct mark *m, const struct run *r)
{
    const struct json *said, *checks;

    if (r->result_cut || json_parse(x->tx->arena, str_trim(r->result), NULL, &said) ||
        !json_is(said, JSON_OBJECT) || !json_is(json_get(said, "ok"), JSON_BOOL))
        return NULL;
    checks = json_get(said, "checks");
    if (!json_is(checks, JSON_ARRAY) || checks->len != definition_of(x, m)->evidence_count)
        return NULL;
    for (uint32_t i = 0; i < checks->len; i++)
        if (!json_is(json_get(&checks->items[i], "ok"), JSON_BOOL))
            return NULL;
    return said;
}

static bool all_are_good(const struct json *said)
{
    const struct json *checks = json_get(said, "checks");
    bool good = json_bool_or(said, "ok", false);

    for (uint32_t i = 0; i < checks->len; i++)
        good &= json_bool_or(&checks->items[i], "ok", false);
    return good;
}

/* Of a check, what is kept. */
static struct json check_kept(struct exec *x, const struct mark *m, const struct json *check)
{
    static const char *const texts[] = { "kind", "what", "found", "sha256" };
    static const char *const numbers[] = { "tests", "failures" };
    struct arena *a = x->tx->arena;
    struct json kept = json_object();

    if (m->scope)
        json_put(a, &kept, STR("item"), json_int(a, m->item));
    json_put(a, &kept, STR("ok"), json_bool(json_bool_or(check, "ok", false)));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (json_str(check, texts[i]).len)
            json_put(a, &kept, str_from(texts[i]),
                     json_string(utf8_cut(json_str(check, texts[i]), SHOWN_BYTES)));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (json_is(json_get(check, numbers[i]), JSON_INTEGER))
            json_put(a, &kept, str_from(numbers[i]), *json_get(check, numbers[i]));
    return kept;
}

/* Those of other items stay; of the same one only the last attempt's. */
static err evidence_note(struct exec *x, const struct mark *m, const struct json *checks)
{
    struct step *s = step_of(x, m);
    struct json list = json_array();
    const struct json *before;

    TRY(step_noted(x, s, "evidence", &before));
    for (uint32_t i = 0; m->scope && before && i < before->len; i++)
        if (json_int_or(&before->items[i], "item", -1) != m->item)
            json_push(x->tx->arena, &list, before->items[i]);
    for (uint32_t i = 0; i < checks->len && list.len < KEPT; i++)
        json_push(x->tx->arena, &list, check_kept(x, m, &checks->items[i]));
    return step_note(x, s, "evidence", list);
}

/* What was wrong, for who tries again. */
static struct json violations_json(struct exec *x, const struct json *checks)
{
    struct arena *a = x->tx->arena;
    struct json list = json_array();

    for (uint32_t i = 0; i < checks->len; i++) {
        const struct json *check = &checks->items[i];
        str output = utf8_cut(json_str(check, "output"), SHOWN_BYTES);
        if (json_bool_or(check, "ok", false))
            continue;
        json_push(a, &list,
                  json_string(arena_printf(a, STR_FMT ": " STR_FMT "%s" STR_FMT,
                                           STR_ARG(utf8_cut(json_str(check, "what"), SHOWN_BYTES)),
                                           STR_ARG(utf8_cut(json_str(check, "found"), SHOWN_BYTES)),
                                           output.len ? "\n" : "", STR_ARG(output))));
    }
    return list;
}

static err proven(struct exec *x, struct mark *m, const struct json *said)
{
    const struct json *checks = json_get(said, "checks"), *outputs;

    bool good = all_are_good(said);
#ifdef PLANT_EVIDENCE_SKIPPED
    good = true;
#endif
    TRY(evidence_note(x, m, checks));
    if (good) {
        TRY(stored_parse_as(x->tx, THING("execution", x->row.id), m->vars, JSON_OBJECT, &outputs));
        TRY(work_leave(x, m));
        return work_proven(x, m, outputs);
    }
    const struct json violations = violations_json(x, checks);
    struct outcome missed = { .what = "violations", .violations = &violations };
    missed.error = violations.len ? json_text(&violations.items[0])
                                  : STR("its evidence is not what the definition wants");
    m->vars = STR("");
    return work_missed(x, m, &missed);
}

/* Nobody is to blame for a runner that is gone; only where that happens again and again, a person looks. */
static err check_lost(struct exec *x, struct mark *m, const struct run *r)
{
    int64_t since_ms = m->since_ms;
    bool had = r->fence > 0;

    TRY(work_leave(x, m));
    if (r->status == RUN_STOPPED || (had && m->lost >= team_rules_of(x->tx)->claim_max))
        return incident_raise(x, m, MARK_PROVE, "evidence",
                              arena_printf(x->tx->arena,
                                           "its evidence could not be checked: " STR_FMT
                                           ": see to it, and resolve this to have it checked again",
                                           STR_ARG(r->error.len ? r->error
                                                                : STR("its check was stopped"))));
    m->lost += had;
    mark_todo(x, m, MARK_PROVE);
    m->since_ms = since_ms;
    return NULL;
}

err evidence_end(struct exec *x, struct mark *m, const struct run *r)
{
    const struct outcome timeout = {
        .what = "timeout", .error = STR("checking its evidence took longer than its timeout")
    };
    bool ran = r->status == RUN_COMPLETED || r->exit_code >= 0;
    const struct json *said = ran ? verdict_of(x, m, r) : NULL;

    assert(m->status == MARK_CHECK);
    if (said)
        return proven(x, m, said);
    if (r->status == RUN_TIMED_OUT) {
        m->vars = STR("");
        return work_missed(x, m, &timeout);
    }
    if (!ran)
        return check_lost(x, m, r);
    TRY(work_leave(x, m));
    return incident_raise(
        x, m, MARK_PROVE, "evidence",
        arena_printf(x->tx->arena,
                     "expected the findings of 'baton evidence' as JSON, found "
                     "exit code %lld, \"" STR_FMT "\"%s" STR_FMT
                     ": see that the runner's machine has this "
                     "version of baton, and resolve this to have it checked again",
                     (long long)r->exit_code, STR_ARG(utf8_cut(r->result, 200)),
                     r->error.len ? "; " : "", STR_ARG(r->error)));
}
