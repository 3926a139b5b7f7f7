/* work_agent.c: work that agents do: who does which share of a step, with what, and where it ends.
 *
 * Knows neither what a record must be nor what follows from one: see share.c. */
#include <assert.h>

#include "base/utf8.h"
#include "core/agent.h"
#include "core/callback.h"
#include "core/columns.h"
#include "core/exec/private.h"
#include "core/prompt_task.h"
#include "core/stored.h"

enum {
    SESSION_NAME_MAX = 60,
    NAME_PARTS = 34,       /* of a session's name: the execution's */
    NAMES_TRIED = 50,      /* before one is made by chance */
    SESSIONS_KEPT = 100,   /* that a step tells of, the last ones */
    LOOK_AGAIN_MS = 30000, /* whether there is room, though nobody said so */
};

static const struct graph_step *step_at(const struct exec *x, const struct mark *m)
{
    uint16_t step = x->graph->nodes[m->at].step;

    assert(step != GRAPH_NONE);
    return &x->graph->steps[step];
}

/* ---- rows ---- */

static err shares_read(struct tx *tx, const struct row *rows, size_t count, struct share **out)
{
    *out = arena_zero(tx->arena, (count + 1) * sizeof **out);
    for (size_t i = 0; i < count; i++)
        COLUMNS_READ(SHARE_COLUMNS, tx, &rows[i], "share", (&(*out)[i]));
    return NULL;
}

err share_list(struct tx *tx, int64_t no, int64_t n, struct share **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " SHARE_NAMES " FROM share WHERE no = $1 AND ($2 = 0 OR n = $2)"
                " ORDER BY n, number",
                ARGS(INT(no), INT(n))));
    return shares_read(tx, rows, *count, out);
}

err share_store(struct tx *tx, const struct share *s)
{
    return sql_exec(tx->sql,
                    "UPDATE share SET " SET_STORED(SHARE_COLUMNS) " WHERE no = $1 AND n = $12"
                                                                  " AND number = $13",
                    ARGS(INT(s->no), STORED_VALUES(SHARE_COLUMNS, s) INT(s->n), INT(s->number)));
}
_Static_assert(STORED_COUNT(SHARE_COLUMNS) == 10, "the rest of its key are parameters 12 and 13");

static err share_insert(struct tx *tx, const struct share *s)
{
    return sql_exec(tx->sql, INSERT_INTO(share, SHARE_COLUMNS), ARGS(VALUES(SHARE_COLUMNS, s)));
}

/* ---- turns ---- */

err share_turn_by(struct tx *tx, int64_t at_ms)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT at FROM due WHERE kind = 'share_turn' AND subject = 'shares'", NO_ARGS));
    if (row && row_int(row, 0) <= at_ms)
        return NULL;
    return due_add(tx, at_ms, DUE_SHARE_TURN, STR("shares"), 0);
}

err share_wait(struct tx *tx, struct share *s)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT coalesce(max(seq), 0) FROM share WHERE status = 'waiting'",
                NO_ARGS));
    int64_t last = row_int(row, 0);
    s->seq = last >= *tx->seq ? last + 1 : *tx->seq;
    s->status = SHARE_WAITING;
    s->session_id = STR("");
    int64_t at = s->not_before_ms ? s->not_before_ms : tx->now_ms + LOOK_AGAIN_MS;
    return share_turn_by(tx, at);
}

/* Of executions that move: this one does, also where its row says until the end of the command that it is
 * paused. */
static err somebody_waits(struct tx *tx, int64_t no, bool *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT 1 FROM share WHERE status = 'waiting' AND not_before <= $1"
                " AND (no = $2 OR EXISTS (SELECT 1 FROM execution e WHERE e.no = share.no"
                "  AND e.status = 'RUNNING' AND e.halted = 0)) LIMIT 1",
                ARGS(INT(tx->now_ms), INT(no))));
    *out = row;
#ifdef PLANT_MOVER_OUT_OF_TURN
    *out = false;
#endif
    return NULL;
}

/* ---- a share becomes a session ---- */

/* The name that it is to have, or one that begins so. */
static err name_free(struct tx *tx, str wish, str *out)
{
    struct session other;
    bool taken = true;

    for (int i = 1; taken && i <= NAMES_TRIED; i++) {
        *out = i == 1 ? wish : arena_printf(tx->arena, STR_FMT "_%d", STR_ARG(wish), i);
        TRY(session_find(tx, *out, &other, &taken));
    }
    if (taken)
        *out = tx_id(tx, "step_");
    return NULL;
}

static err state_give(struct tx *tx, const struct execution *e, struct session *s)
{
    struct state state;

    if (s->parent_id.len || !e->workflow_state_id.len)
        return NULL; /* it has the one of its tree */
    err gone = state_load(tx, e->workflow_state_id, &state);
    if (gone)
        return gone->kind == ERR_NOT_FOUND ? NULL : gone;
    TRY(session_state_select(tx, s->id, state.id));
    return session_load(tx, s->id, s);
}

static err session_begin(struct tx *tx, const struct execution *e, struct share *s, bool *full)
{
    struct session_new n = { .project_dir = e->project_dir, .agent = s->agent };
    struct run_new turn = { .type = RUN_TYPE_START,
                            .purpose = PURPOSE_TASK,
                            .mode = MODE_POLL,
                            .prompt = s->prompt,
                            .metadata = s->task };
    struct session session, parent;
    bool found = false;
    struct run run;

    if (e->session_id.len)
        TRY(session_find_id(tx, e->session_id, &parent, &found));
    if (found)
        n.parent = parent.id;
    TRY(entry_resolve(tx, s->agent, e->project_dir, STR(""), &n.profile));
    TRY(name_free(tx, s->session_name, &n.name));
    err refused = session_create(tx, &n, &session);
    *full = refused && refused->kind == ERR_LIMIT &&
            !str_contains(refused->members, STR("tree_depth_max"));
    if (*full)
        return NULL;
    TRY(refused);
    TRY(state_give(tx, e, &session));
    session.task = s->task;
    TRY(run_create(tx, &session, &turn, &run));
    s->session_id = session.id;
    s->session_name = session.name;
    s->status = SHARE_WORKING;
    s->started_at_ms = tx->now_ms;
    return NULL;
}

/* Whoever has moved the execution: its definition is the operator's, and the engine does what it says. */
err share_start(struct tx *tx, const struct execution *e, struct share *s, bool *full)
{
    static const struct actor engine = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };
    const struct actor *who = tx->actor;

    *full = false;
    tx->actor = &engine;
    err failed = session_begin(tx, e, s, full);
    tx->actor = who;
    return failed;
}

/* ---- who does which share ---- */

/* How many work at once; 0: one after the other. */
static size_t at_once(const struct graph_step *s)
{
    return s->parallel_agents > 1 ? s->parallel_agents : s->agents_at_once ? s->agent_count : 0;
}

/* Those at once, and who brings their results together; or those one after the other. */
static size_t shares_of(const struct graph_step *s)
{
    return at_once(s) ? at_once(s) + 1 : s->agent_count;
}

static str agent_of(const struct graph_step *s, size_t number)
{
    bool first = s->parallel_agents > 1 || (at_once(s) && number > at_once(s));

    return s->agents[first ? 0 : number - 1];
}

static enum prompt_role role_of(const struct graph_step *s, size_t number)
{
    return shares_of(s) == 1     ? ROLE_ALONE
           : !at_once(s)         ? ROLE_IN_TURN
           : number > at_once(s) ? ROLE_GATHERS
                                 : ROLE_AT_ONCE;
}

bool share_is_last(const struct exec *x, const struct mark *m, const struct share *s)
{
    return s->number == (int64_t)shares_of(step_at(x, m));
}

/* EXECUTION-STEP, and what tells it from others of the step. */
static str name_of(struct exec *x, const struct mark *m, size_t number)
{
    const struct graph_step *s = step_at(x, m);
    struct buf out = buf_in(x->tx->arena), end = buf_in(x->tx->arena);

    buf_printf(&end, "-" STR_FMT, STR_ARG(utf8_cut(s->id, 10)));
    if (m->item >= 0)
        buf_printf(&end, "-i%lld", (long long)m->item);
    if (shares_of(s) > 1)
        buf_printf(&end, "-%zu", number);
    if (m->attempt > 1)
        buf_printf(&end, "-a%lld", (long long)m->attempt);
    buf_add(&out, utf8_cut(x->row.id, NAME_PARTS));
    buf_add(&out, buf_str(&end));
    for (size_t i = 0; i < out.len; i++) {
        char *c = &out.at[i], low = (char)(*c | 0x20);
        bool good = (low >= 'a' && low <= 'z') || (*c >= '0' && *c <= '9') || *c == '-' ||
                    *c == '_';
        *c = good ? *c : '-';
    }
    return utf8_cut(buf_str(&out), SESSION_NAME_MAX - 4);
}

/* ---- what it is told ---- */

static bool is_output(const struct graph *g, str name)
{
    for (uint16_t i = 0; i < g->step_count; i++) {
        const struct graph_work *work = g->nodes[g->steps[i].node].work;
        for (size_t k = 0; work && k < work->output_count; k++)
            if (str_eq(work->outputs[k], name))
                return true;
    }
    return false;
}

/* What no step has given, and the item of a loop. */
static err known_find(struct exec *x, const struct mark *m, str *out)
{
    struct json known = json_object();
    struct exec_scope scope;

    TRY(scope_of(x, m, &scope));
    for (uint32_t i = 0; i < x->vars.len; i++)
        if (!is_output(x->graph, json_name(&x->vars.members[i])))
            json_put(x->tx->arena, &known, json_name(&x->vars.members[i]),
                     x->vars.members[i].value);
    for (uint32_t i = 0; scope.inner.vars && i < scope.item.len; i++)
        if (!json_find(&known, json_name(&scope.item.members[i])))
            json_put(x->tx->arena, &known, json_name(&scope.item.members[i]),
                     scope.item.members[i].value);
    *out = known.len ? json_printed(x->tx->arena, &known) : STR("");
    return NULL;
}

static err data_of(struct exec *x, uint16_t step, const struct json **out)
{
    return stored_parse_as(x->tx, THING("execution", x->row.id), exec_step(x, step)->data,
                           JSON_OBJECT, out);
}

static err before_find(struct exec *x, const struct graph_step *s, struct prompt_task *t)
{
    struct prompt_said *all = ARENA_ARRAY(x->tx->arena, struct prompt_said, s->after_count);
    const struct json *data;

    for (size_t i = 0; i < s->after_count; i++) {
        const struct graph_step *before = &x->graph->steps[s->after[i]];
        TRY(data_of(x, s->after[i], &data));
        const struct json *gave = json_get(data, "outputs") ? json_get(data, "outputs")
                                                            : json_get(data, "results");
        if (!gave || !gave->len)
            continue;
        str by = str_eq(before->title, before->id)
                     ? before->id
                     : arena_printf(x->tx->arena, STR_FMT "-" STR_FMT, STR_ARG(before->id),
                                    STR_ARG(before->title));
        all[t->before_count++] = (struct prompt_said){ by, json_printed(x->tx->arena, gave) };
    }
    t->before = all;
    return NULL;
}

/* What was wrong before, a line for each. */
static err violations_find(struct exec *x, const struct mark *m, struct prompt_task *t)
{
    struct buf out = buf_in(x->tx->arena);
    struct json all;

    TRY(violations_of(x, m, &all));
    for (uint32_t i = 0; i < all.len; i++) {
        const struct json *one = &all.items[i];
        bool text = one->kind == JSON_STRING;
        buf_add(&out, i ? STR("\n") : STR(""));
        buf_add(&out, text ? json_text(one) : json_printed(x->tx->arena, one));
    }
    t->violations = buf_str(&out);
    return NULL;
}

/* What others have recorded; `trouble` says why the prompt cannot be made, and is empty otherwise. */
static err prompt_make(struct exec *x, const struct mark *m, size_t number,
                       const struct prompt_said *others, size_t other_count, str *out, str *trouble)
{
    const struct graph_step *s = step_at(x, m);
    const struct graph_work *work = x->graph->nodes[m->at].work;
    bool last = number == shares_of(s);
    struct exec_scope scope;
    struct prompt_task t = {
        .execution_id = x->row.id,
        .workflow = x->graph->name.len ? x->graph->name : x->row.workflow,
        .step = s->id,
        .title = s->title,
        .description = s->description,
        .tool = x->graph->kind == GRAPH_PHASES ? STR(TOOL_PHASE) : STR(TOOL_STEP),
        .role = role_of(s, number),
        .number = (int64_t)number,
        .of = (int64_t)(at_once(s) ? at_once(s) : shares_of(s)),
        .others = others,
        .other_count = other_count,
        .outputs = last ? work->outputs : NULL,
        .output_count = last ? work->output_count : 0,
        .attempt = m->attempt - m->spared,
        .attempts = work->retry.max_attempts,
    };

    *trouble = STR("");
    TRY(violations_find(x, m, &t));
    if (s->prompt) {
        TRY(scope_of(x, m, &scope));
        err e =
            template_render(x->tx->arena, s->prompt, scope_names(&scope), x->tx->now_ms, &t.work);
        if (e)
            *trouble = arena_printf(x->tx->arena, "its prompt: " STR_FMT, STR_ARG(e->message));
    } else {
        TRY(known_find(x, m, &t.known));
        TRY(before_find(x, s, &t));
    }
    *out = prompt_task(x->tx, &t);
    return NULL;
}

/* See share.h: what its session is to record. */
static str task_of(struct exec *x, const struct mark *m, size_t number)
{
    const struct graph_step *s = step_at(x, m);
    const struct graph_work *work = x->graph->nodes[m->at].work;
    struct arena *a = x->tx->arena;
    struct json task = json_object(), outputs = json_array();

    for (size_t i = 0; number == shares_of(s) && i < work->output_count; i++)
        json_push(a, &outputs, json_string(work->outputs[i]));
    json_put(a, &task, STR("workflow_id"), json_string(x->row.id));
    json_put(a, &task, STR("step"), json_string(s->id));
    if (m->item >= 0)
        json_put(a, &task, STR("item"), json_int(a, m->item));
    json_put(a, &task, STR("attempt"), json_int(a, m->attempt));
    json_put(a, &task, STR("share"), json_int(a, (int64_t)number));
    json_put(a, &task, STR("outputs"), outputs);
    json_put(a, &task, STR("tool"),
             json_string(x->graph->kind == GRAPH_PHASES ? STR(TOOL_PHASE) : STR(TOOL_STEP)));
    return json_printed(a, &task);
}

/* ---- beginning ---- */

/* What only a person can mend: the mark waits for one, and nothing is at work. */
static err cannot_begin(struct exec *x, struct mark *m, const char *kind, str why)
{
    TRY(agents_stop(x, m, STR("the step that it worked for cannot go on")));
    return incident_raise(x, m, MARK_BEGIN, kind, why);
}

static bool is_for_a_person(err e)
{
    return e->kind == ERR_INVALID || e->kind == ERR_NOT_FOUND || e->kind == ERR_LIMIT ||
           e->kind == ERR_CONFLICT || e->kind == ERR_FORBIDDEN;
}

static err share_begin(struct exec *x, struct mark *m, size_t number,
                       const struct prompt_said *others, size_t other_count)
{
    bool waits = x->row.status != EXECUTION_RUNNING;
    struct share s = { .no = x->row.no,
                       .n = m->n,
                       .number = (int64_t)number,
                       .scope = m->scope,
                       .attempt = m->attempt,
                       .agent = agent_of(step_at(x, m), number),
                       .session_name = name_of(x, m, number),
                       .task = task_of(x, m, number) };
    bool queues = false;
    str trouble;

    TRY(prompt_make(x, m, number, others, other_count, &s.prompt, &trouble));
    if (trouble.len)
        return cannot_begin(x, m, "expression", trouble);
    if (!waits)
        TRY(somebody_waits(x->tx, x->row.no, &queues));
    if (!waits && !queues) {
        err e = share_start(x->tx, &x->row, &s, &waits);
        if (e && is_for_a_person(e))
            return cannot_begin(x, m, "session",
                                arena_printf(x->tx->arena,
                                             "agent " STR_FMT
                                             " could not be started for step " STR_FMT ": " STR_FMT,
                                             STR_ARG(s.agent), STR_ARG(m->node),
                                             STR_ARG(e->message)));
        TRY(e);
    }
    if (waits || queues)
        TRY(share_wait(x->tx, &s));
    if (queues) /* those before it may wait for what it does not need */
        TRY(share_turn_by(x->tx, x->tx->now_ms));
    return share_insert(x->tx, &s);
}

static err agent_is_known(struct tx *tx, const struct execution *e, str agent, bool *out)
{
    enum agent_source source;

    TRY(agent_source_of(tx, agent, e->project_dir, &source));
    *out = source != AGENT_UNKNOWN;
    return NULL;
}

err agents_begin(struct exec *x, struct mark *m)
{
    const struct graph_step *s = step_at(x, m);
    int64_t timeout = x->graph->nodes[m->at].work->timeout_ms;
    size_t first = at_once(s) ? at_once(s) : 1;
    bool known = true;

    for (size_t i = 0; i < s->agent_count && known; i++)
        TRY(agent_is_known(x->tx, &x->row, s->agents[i], &known));
    if (!known) /* it is done by report, and its time runs at once */
        return timeout ? mark_timer(x, m, x->tx->now_ms + timeout) : NULL;
    for (size_t i = 1; i <= first && m->status == MARK_WORK; i++)
        TRY(share_begin(x, m, i, NULL, 0));
    return NULL;
}

err share_unknown_agents(struct tx *tx, const struct execution *e, const struct graph *g, str **out,
                         size_t *count)
{
    str *all = ARENA_ARRAY(tx->arena, str, g->step_count);

    *count = 0;
    for (uint16_t i = 0; i < g->step_count; i++) {
        const struct graph_step *s = &g->steps[i];
        const struct graph_work *work = g->nodes[s->node].work;
        bool known = true;
        size_t k = 0;
        for (; work && work->by == WORK_AGENT && k < s->agent_count && known; k++)
            TRY(agent_is_known(tx, e, s->agents[k], &known));
        if (!known)
            all[(*count)++] = arena_printf(
                tx->arena,
                "nobody knows an agent \"" STR_FMT "\": step " STR_FMT
                " waits for a report of whoever does it, unless the agent is registered before, or "
                "a runner offers it there",
                STR_ARG(s->agents[k - 1]), STR_ARG(s->id));
    }
    *out = all;
    return NULL;
}

/* ---- going on ---- */

/* Whether sessions are noted that have worked for this attempt. */
static err agents_were_at(struct exec *x, const struct mark *m, bool *out)
{
    const struct json *data, *noted;

    TRY(data_of(x, x->graph->nodes[m->at].step, &data));
    noted = json_get(data, "sessions");
    for (uint32_t i = 0; noted && i < noted->len; i++)
        *out = *out || (json_int_or(&noted->items[i], "attempt", 0) == m->attempt &&
                        json_int_or(&noted->items[i], "item", -1) == m->item);
    return NULL;
}

err agents_are_at(struct exec *x, const struct mark *m, bool *out)
{
    struct share *all;
    size_t count;

    *out = false;
    if (x->graph->nodes[m->at].work->by != WORK_AGENT)
        return NULL;
    TRY(share_list(x->tx, x->row.no, m->n, &all, &count));
    *out = count;
    return count ? NULL : agents_were_at(x, m, out);
}

err agents_go_on(struct exec *x, struct mark *m, bool *over, str *outputs)
{
    size_t total = shares_of(step_at(x, m)), count, done = 0;
    struct share *all;

    TRY(share_list(x->tx, x->row.no, m->n, &all, &count));
    struct prompt_said *others = ARENA_ARRAY(x->tx->arena, struct prompt_said, count);
    for (size_t i = 0; i < count; i++) {
        if (all[i].status != SHARE_COMPLETED)
            continue;
        others[done++] = (struct prompt_said){ all[i].agent, all[i].outputs };
        *outputs = all[i].outputs;
    }
    assert(done > 0 && count <= total);
    *over = done == total;
#ifdef PLANT_SHARE_TOO_EARLY
    done = count;
#endif
    return *over || done < count ? NULL : share_begin(x, m, count + 1, others, done);
}

/* ---- the end ---- */

static struct json share_json(struct exec *x, const struct mark *m, const struct share *s)
{
    struct arena *a = x->tx->arena;
    struct json one = json_object();
    char room[DATE_TEXT_MAX];
    bool works = s->status == SHARE_WORKING;

    json_put(a, &one, STR("agent"), json_string(s->agent));
    json_put(a, &one, STR("session_name"), json_string(s->session_name));
    json_put(a, &one, STR("attempt"), json_int(a, s->attempt));
    if (m->item >= 0)
        json_put(a, &one, STR("item"), json_int(a, m->item));
    json_put(a, &one, STR("status"),
             json_string(team_name(&share_words, works ? SHARE_WITHDRAWN : (int)s->status)));
    json_put(a, &one, STR("started_at"),
             json_string(arena_copy(a, date_print(room, s->started_at_ms))));
    json_put(a, &one, STR("ended_at"),
             json_string(arena_copy(a, date_print(room, works ? x->tx->now_ms : s->ended_at_ms))));
    return one;
}

/* What they were is history: who, when, and what became of it. */
static err sessions_note(struct exec *x, const struct mark *m, const struct share *all,
                         size_t count)
{
    struct step *s = step_of(x, m);
    struct json list = json_array();
    const struct json *data, *before;

    if (!s)
        return NULL;
    TRY(data_of(x, x->graph->nodes[m->at].step, &data));
    before = json_get(data, "sessions");
    uint32_t had = before ? before->len : 0;
    for (uint32_t i = had + count > SESSIONS_KEPT ? (uint32_t)(had + count - SESSIONS_KEPT) : 0;
         i < had; i++)
        json_push(x->tx->arena, &list, before->items[i]);
    for (size_t i = 0; i < count; i++)
        if (all[i].started_at_ms)
            json_push(x->tx->arena, &list, share_json(x, m, &all[i]));
    return list.len ? step_note(x, s, "sessions", list) : NULL;
}

err agents_stop(struct exec *x, struct mark *m, str why)
{
    const struct graph_work *work = x->graph->nodes[m->at].work;
    struct session session;
    struct share *all;
    size_t count;
    bool found;

    if (!work || work->by != WORK_AGENT)
        return NULL;
    TRY(share_list(x->tx, x->row.no, m->n, &all, &count));
    if (!count)
        return NULL;
    TRY(sessions_note(x, m, all, count));
#ifndef PLANT_SHARE_OUTLIVES
    TRY(sql_exec(x->tx->sql, "DELETE FROM share WHERE no = $1 AND n = $2",
                 ARGS(INT(x->row.no), INT(m->n))));
#endif
    for (size_t i = 0; i < count; i++) {
        if (all[i].status != SHARE_WORKING)
            continue;
        TRY(session_find_id(x->tx, all[i].session_id, &session, &found));
        if (found && !session.settled)
            TRY(callback_stop_tree(x->tx, &session, why));
    }
    return NULL;
}
