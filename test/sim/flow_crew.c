/* flow_crew.c: a runner and its agents, and a person, as a play has them. */
#include "sim/flow_crew.h"

#include "sim/flow_play_private.h"

enum { ROUNDS_MAX = 1000 };

/* A run that the runner holds. */
struct crew_run {
    str id, token, session_id; /* of a command: no token and no session */
    int64_t fence;
};

static const struct actor the_runner = { .kind = ACTOR_RUNNER,
                                         .name = STR("runner"),
                                         .token_id = STR("rn_play") };

/* ---- rows ---- */

/* One text that a row holds, of a mark or a share of this execution; empty: there is none. */
static str looked_up(struct play *p, const char *query, uint32_t n, uint32_t number)
{
    struct store_node node;
    const struct row *row;

    CHECK_OK(store_begin(p->w->engine.sql, p->scratch, &node));
    CHECK_OK(sql_one_(p->w->engine.sql, &row, query,
                      ARGS(TEXT(p->id), INT((int64_t)n), INT((int64_t)number))));
    str found = row ? arena_copy(p->scratch, row_str(row, 0)) : STR("");
    store_rollback(p->w->engine.sql);
    return found;
}

/* ---- the runner ---- */

static str quoted(struct play *p, str text)
{
    struct json j = json_string(text);

    return json_printed(p->scratch, &j);
}

static struct command *as_runner(struct play *p, const char *op, str more)
{
    struct actor before = p->w->actor;

    p->w->actor = the_runner;
    struct command *c =
        play_call(p, op,
                  arena_printf(p->scratch, "{\"runner_id\":\"" STR_FMT "\"" STR_FMT "}",
                               STR_ARG(p->runner), STR_ARG(more)));
    p->w->actor = before;
    if (c->error)
        play_fail(p, "%s: " STR_FMT, op, STR_ARG(c->error->message));
    return c;
}

static size_t run_at(const struct play *p, str id)
{
    size_t at = 0;

    while (at < p->run_count && !str_eq(p->runs[at].id, id))
        at++;
    return at;
}

static void run_drop(struct play *p, str id)
{
    size_t at = run_at(p, id);

    if (at < p->run_count)
        p->runs[at] = p->runs[--p->run_count];
}

static void run_tell(struct play *p, const struct crew_run *r, const char *what, str more)
{
    as_runner(p, arena_printf(p->scratch, "runner.%s", what).at,
              arena_printf(p->scratch, ",\"run_id\":\"" STR_FMT "\",\"fence\":%lld" STR_FMT,
                           STR_ARG(r->id), (long long)r->fence, STR_ARG(more)));
}

static void run_take(struct play *p, const struct json *run)
{
    struct crew_run r = { .id = arena_copy(p->arena, json_str(run, "run_id")),
                          .token = arena_copy(p->arena, json_str(run, "token")),
                          .session_id = arena_copy(p->arena, json_str(run, "session_id")),
                          .fence = json_int_or(run, "fence", 0) };

    run_drop(p, r.id); /* it was lost */
    if ((p->run_count & (p->run_count - 1)) == 0) {
        size_t room = p->run_count ? 2 * p->run_count : 1;
        p->runs = arena_grow(p->arena, p->runs, p->run_count * sizeof r, room * sizeof r);
    }
    p->runs[p->run_count++] = r;
    run_tell(p, &r, "started", STR(""));
}

static void run_end(struct play *p, const struct crew_run *r, const char *what, str more)
{
    str id = r->id;

    run_tell(p, r, what, more);
    run_drop(p, id);
}

/* Something that an agent does with the token of its turn. */
static struct command *as_agent(struct play *p, const struct crew_run *r, const char *op, str input)
{
    struct actor before = p->w->actor;
    struct grant *grant;

    CHECK_OK(op_admit(&p->w->engine, p->scratch, r->token, &grant));
    p->w->actor = *grant->actor;
    struct command *c = play_call(p, op, input);
    p->w->actor = before;
    grant_unref(grant);
    return c;
}

/* Nobody wants to know any more: its step goes on without it. */
static void record_late(struct play *p, const struct crew_run *r)
{
    if (!r->token.len || str_eq(r->session_id, p->stopped))
        return; /* whom a person has stopped may still say something, and it is of no use */
    struct command *c =
        as_agent(p, r, "execution.report",
                 arena_printf(p->scratch,
                              "{'execution_id':'" STR_FMT "','step':'" STR_FMT "','outputs':{}}",
                              STR_ARG(p->id), STR_ARG(p->graph->steps[0].id)));
    if (!c->error || c->events || c->error->kind != ERR_CONFLICT)
        play_fail(p, "an agent that is to stop has recorded something: " STR_FMT,
                  STR_ARG(c->error ? c->error->message : c->answer.text));
}

static void runs_stop(struct play *p, const struct json *ids)
{
    for (uint32_t i = 0; i < ids->len; i++) {
        size_t at = run_at(p, json_text(&ids->items[i]));
        if (at == p->run_count)
            play_fail(p, "run " STR_FMT " is to be stopped, and is not held",
                      STR_ARG(json_text(&ids->items[i])));
        record_late(p, &p->runs[at]);
        run_end(p, &p->runs[at], "stopped", STR(""));
    }
}

bool crew_work(struct play *p)
{
    bool any = false;

    for (int i = 0; i < ROUNDS_MAX; i++) {
        struct command *c = as_runner(p, "runner.claim", STR(""));
        if (c->answer.waits)
            return any;
        const struct json *answer = json_parsed(p->scratch, c->answer.text);
        const struct json *run = json_get(answer, "run"), *stop = json_get(answer, "stop_runs");
        if (c->answer.empty)
            continue; /* it was taken for lost, and is heard again: it asks once more */
        any = true;
        if (run)
            run_take(p, run);
        else if (stop)
            runs_stop(p, stop);
        else
            play_fail(p, "a claim gave " STR_FMT, STR_ARG(c->answer.text));
    }
    play_fail(p, "there is no end of runs");
    return any;
}

void crew_join(struct play *p)
{
    struct actor before = p->w->actor;

    for (int i = 0; i < FLOW_RANDOM_AGENTS; i++) {
        struct command *c =
            play_call(p, "agent.create",
                      arena_printf(p->scratch,
                                   "{'name':'" STR_FMT "','description':'A.','profile':'scripted'}",
                                   STR_ARG(flow_random_agents[i])));
        CHECK(!c->error || c->error->kind == ERR_CONFLICT); /* of a play before */
    }
    p->w->actor = the_runner;
    p->runner =
        arena_copy(p->arena,
                   json_str(play_asked(p, "runner.register",
                                       STR("{'hostname':'play','commands':true,'capacity':1000}")),
                            "runner_id"));
    p->w->actor = before;
}

/* ---- agents ---- */

/* The run in which an agent works at its share. */
static struct crew_run *run_of_share(struct play *p, uint32_t n, uint32_t number)
{
    str session = looked_up(p,
                            "SELECT s.session_id FROM share s JOIN execution e ON e.no = s.no"
                            " WHERE e.execution_id = $1 AND s.n = $2 AND s.number = $3",
                            n, number);

    for (size_t i = 0; i < p->run_count; i++)
        if (session.len && str_eq(p->runs[i].session_id, session))
            return &p->runs[i];
    play_fail(p, "share %u of mark %u has no run (its session is \"" STR_FMT "\")", number, n,
              STR_ARG(session));
    return NULL;
}

static void record(struct play *p, const struct crew_run *r, const struct flow_event *e)
{
    const struct graph_node *node = &p->graph->nodes[e->at.node];
    struct buf input = buf_in(p->scratch);

    buf_printf(&input, "{\"execution_id\":\"" STR_FMT "\",\"step\":\"" STR_FMT "\"", STR_ARG(p->id),
               STR_ARG(node->id));
    if (e->turn == TURN_RECORDED)
        buf_printf(&input, ",\"outputs\":" STR_FMT "}",
                   STR_ARG(play_outputs(p, node->work, e->values)));
    else
        buf_add(&input, STR(",\"failed\":true,\"error\":\"it cannot be done\"}"));
    struct command *c = as_agent(p, r, "execution.report", buf_str(&input));
    if (c->error)
        play_fail(p, "the record of an agent: " STR_FMT, STR_ARG(c->error->message));
}

/* Its lease passes, and no other time does. */
static void lose(struct play *p, struct crew_run *r)
{
    struct sql *sql = p->w->engine.sql;
    struct store_node node;
    err why;

    CHECK_OK(store_begin(sql, p->scratch, &node));
    CHECK_OK(sql_exec_(sql, "UPDATE run SET lease_until = 1 WHERE run_id = $1", ARGS(TEXT(r->id))));
    CHECK_OK(sql_exec_(sql,
                       "INSERT INTO due (kind, subject, at, arg) VALUES ('run_lease', $1, 1, 0)"
                       " ON CONFLICT (kind, subject) DO UPDATE SET at = excluded.at",
                       ARGS(TEXT(r->id))));
    CHECK(store_commit(sql, &node, &why) == STORE_COMMITTED);
    run_drop(p, r->id);
}

void crew_turn(struct play *p, const struct flow_event *e)
{
    struct crew_run *r = run_of_share(p, e->at.n, e->number);

    switch (e->turn) {
    case TURN_RECORDED:
    case TURN_SAID_FAILED:
        record(p, r, e);
        run_end(p, r, "completed", STR(",\"client_id\":\"c\",\"result\":\"done\""));
        break;
    case TURN_SILENT:
        run_end(p, r, "completed", STR(",\"client_id\":\"c\",\"result\":\"all is well\""));
        break;
    case TURN_CRASHED: run_end(p, r, "failed", STR(",\"error\":\"exit code 1\"")); break;
    case TURN_LOST: lose(p, r); break;
    default:
        p->stopped = r->session_id;
        play_shown(p, "session.stop",
                   arena_printf(p->scratch, "{'session_id':'" STR_FMT "'}",
                                STR_ARG(r->session_id)));
    }
}

/* ---- evidence ---- */

static str findings(struct play *p, const struct flow_event *e)
{
    const struct graph_step *step = &p->graph->steps[p->graph->nodes[e->at.node].step];
    struct buf out = buf_in(p->scratch);
    bool good = e->proof == PROOF_GOOD;

    buf_printf(&out, "{\"ok\":%s,\"checks\":[", good ? "true" : "false");
    for (size_t i = 0; i < step->evidence_count; i++)
        buf_printf(&out,
                   "%s{\"kind\":\"command\",\"ok\":%s,\"what\":\"make test\",\"found\":\"exit code "
                   "2\"}",
                   i ? "," : "", good || i + 1 < step->evidence_count ? "true" : "false");
    buf_add(&out, STR("]}"));
    return buf_str(&out);
}

void crew_check(struct play *p, const struct flow_event *e)
{
    str run = looked_up(p,
                        "SELECT m.ref FROM mark m JOIN execution e ON e.no = m.no"
                        " WHERE e.execution_id = $1 AND m.n = $2 AND m.status = 'check' AND $3 = 0",
                        e->at.n, 0);
    size_t at = run_at(p, run);

    if (at == p->run_count)
        play_fail(p, "the check of mark %u has no run: \"" STR_FMT "\"", e->at.n, STR_ARG(run));
    struct crew_run *r = &p->runs[at];
    if (e->proof == PROOF_LOST)
        run_end(p, r, "failed", STR(",\"error\":\"the machine was switched off\""));
    else if (e->proof == PROOF_ODD)
        run_end(p, r, "completed", STR(",\"exit_code\":0,\"result\":\"hello\""));
    else
        run_end(p, r, e->proof == PROOF_GOOD ? "completed" : "failed",
                arena_printf(p->scratch, ",\"exit_code\":%d,\"result\":" STR_FMT,
                             e->proof == PROOF_GOOD ? 0 : 1, STR_ARG(quoted(p, findings(p, e)))));
}

/* ---- a person ---- */

static str decision_of(struct play *p, const struct flow_event *e, str id)
{
    static const char *const words[] = {
        [DECISION_APPROVE] = "approve", [DECISION_REJECT] = "reject", [DECISION_REWORK] = "rework"
    };
    struct buf out = buf_in(p->scratch);

    buf_printf(&out, "{\"approval_id\":\"" STR_FMT "\",\"decision\":\"%s\"", STR_ARG(id),
               words[e->decision.what]);
    if (e->decision.variant.len)
        buf_printf(&out, ",\"selected_variant\":\"" STR_FMT "\"", STR_ARG(e->decision.variant));
    if (e->values.len)
        buf_printf(&out, ",\"modifications\":" STR_FMT, STR_ARG(e->values));
    if (e->decision.what == DECISION_REWORK && e->decision.step != GRAPH_NONE)
        buf_printf(&out, ",\"step\":\"" STR_FMT "\"",
                   STR_ARG(p->graph->steps[e->decision.step].id));
    buf_byte(&out, '}');
    return buf_str(&out);
}

/* Whoever works for the execution may want it decided. */
static void agents_decide(struct play *p, str decision)
{
    for (size_t i = 0; i < p->run_count; i++) {
        if (!p->runs[i].token.len)
            continue;
        struct command *c = as_agent(p, &p->runs[i], "approval.decide", decision);
        if (!c->error || c->events ||
            (c->error->kind != ERR_FORBIDDEN && c->error->kind != ERR_NOT_FOUND))
            play_fail(p, "an agent has decided");
        return;
    }
}

/* Whoever has seen something else decides nothing. */
static void unseen_decide(struct play *p, const struct flow_event *e, str id)
{
    str decision = decision_of(p, e, id);
    struct command *c = play_call(p, "approval.decide",
                                  arena_printf(p->scratch, STR_FMT ",\"digest\":\"00\"}",
                                               STR_ARG(str_slice(decision, 0, decision.len - 1))));

    if (!c->error || c->events || c->error->kind != ERR_CONFLICT)
        play_fail(p, "approval " STR_FMT " was decided by who had not seen it", STR_ARG(id));
}

void crew_decide(struct play *p, const struct flow_event *e)
{
    str id =
        looked_up(p,
                  "SELECT a.approval_id FROM approval a JOIN execution e ON e.no = a.no"
                  " WHERE e.execution_id = $1 AND a.n = $2 AND a.status = 'waiting' AND $3 = 0",
                  e->at.n, 0);

    if (!id.len)
        play_fail(p, "nobody is asked about mark %u", e->at.n);
    str decision = decision_of(p, e, id);
    agents_decide(p, decision);
    unseen_decide(p, e, id);
    play_shown(p, "approval.decide", decision);
    p->decided = arena_copy(p->arena, id);
    p->decision = arena_copy(p->arena, decision);
}

void crew_decide_late(struct play *p)
{
    if (!p->decided.len)
        return;
    bool rejected = str_contains(p->decision, STR("\"reject\""));
    struct command *same = play_call(p, "approval.decide", p->decision);
    if (same->error || same->events)
        play_fail(p, "approval " STR_FMT " could not be decided again as it was",
                  STR_ARG(p->decided));
    struct command *other =
        play_call(p, "approval.decide",
                  arena_printf(p->scratch, "{'approval_id':'" STR_FMT "','decision':'%s'}",
                               STR_ARG(p->decided), rejected ? "rework" : "reject"));
    if (!other->error || other->error->kind != ERR_CONFLICT || other->events)
        play_fail(p, "approval " STR_FMT " was decided twice", STR_ARG(p->decided));
}

/* ---- comparing ---- */

static int64_t counted(struct play *p, const char *query)
{
    int64_t count = -1;

    CHECK(str_to_int(looked_up(p, query, 0, 0), &count));
    return count;
}

static str shares_told(struct play *p)
{
    struct store_node node;
    const struct row *rows;
    size_t count, waiting;
    struct buf out = buf_in(p->scratch);
    const struct reference_waiting *all = reference_waiting(p->reference, p->scratch, &waiting);

    CHECK_OK(store_begin(p->w->engine.sql, p->scratch, &node));
    CHECK_OK(sql_all_(p->w->engine.sql, &rows, &count,
                      "SELECT s.n, s.number, s.seq, s.agent, s.status FROM share s JOIN execution e"
                      " ON e.no = s.no WHERE e.execution_id = $1 ORDER BY s.n, s.number",
                      ARGS(TEXT(p->id))));
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "\nmark %lld share %lld place %lld " STR_FMT " " STR_FMT,
                   (long long)row_int(&rows[i], 0), (long long)row_int(&rows[i], 1),
                   (long long)row_int(&rows[i], 2), STR_ARG(row_str(&rows[i], 3)),
                   STR_ARG(row_str(&rows[i], 4)));
    store_rollback(p->w->engine.sql);
    for (size_t i = 0; i < waiting; i++)
        if (all[i].wait == WAIT_AGENTS)
            buf_printf(&out, "\nexpected of mark %u: %u at work", all[i].n, all[i].at_work);
    return buf_str(&out);
}

static void shares_compare(struct play *p, const struct reference_waiting *at)
{
    size_t count;
    const struct reference_share *all = reference_shares(p->reference, p->scratch, at->n, &count);

    for (size_t i = 0; i < count; i++) {
        const char *expected = all[i].done ? "completed" : all[i].at_work ? "working" : "waiting";
        str status = looked_up(p,
                               "SELECT s.status FROM share s JOIN execution e ON e.no = s.no"
                               " WHERE e.execution_id = $1 AND s.n = $2 AND s.number = $3",
                               at->n, all[i].number);
        if (!str_eq(status, str_from(expected)))
            play_fail(p, "share %u of mark %u is \"" STR_FMT "\", expected %s" STR_FMT,
                      all[i].number, at->n, STR_ARG(status), expected, STR_ARG(shares_told(p)));
        if (all[i].at_work)
            run_of_share(p, at->n, all[i].number);
    }
}

void crew_compare(struct play *p)
{
    size_t count;
    const struct reference_waiting *all = reference_waiting(p->reference, p->scratch, &count);
    int64_t asked = 0, checks = 0, working = 0;

    for (size_t i = 0; i < count; i++) {
        asked += all[i].wait == WAIT_APPROVAL;
        checks += all[i].wait == WAIT_CHECK;
        working += all[i].at_work;
        if (all[i].wait == WAIT_AGENTS)
            shares_compare(p, &all[i]);
    }
    int64_t found =
        counted(p, "SELECT CAST(count(*) AS TEXT) FROM approval a JOIN execution e ON e.no = a.no"
                   " WHERE e.execution_id = $1 AND a.status = 'waiting' AND $2 = $3");
    if (found != asked)
        play_fail(p, "a person is asked about %lld, expected %lld", (long long)found,
                  (long long)asked);
    if ((int64_t)p->run_count != checks + working)
        play_fail(p, "%zu runs are held, expected %lld of agents and %lld checks", p->run_count,
                  (long long)working, (long long)checks);
}
