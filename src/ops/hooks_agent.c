/* hooks_agent.c: agents inside of a client's process, as those who do phases of a workflow.
 *
 * Their starts and ends are told by hooks of their own, which have their ids. The call of a tool that has
 * started one tells of its end only where the client waits for it: of others its answer comes at once, and
 * how they ended comes as a prompt. One that has failed has no end of its own, but a failure. Hooks of one
 * client may come in any order but these: the start of an agent before its end, and the ends of all before
 * the client stops for good. */
#include "base/utf8.h"
#include "core/exec/documents.h"
#include "ops/hooks.h"
#include "view/view.h"

enum {
    TITLE_SHOWN = 120,
    DELIVERABLES_SHOWN = 8,
    DELIVERABLE_SHOWN = 160,
    CONTEXT_SHOWN = 2000,
    PHASES_SHOWN = 6, /* that come next */
    ERROR_BYTES_MAX = 300,
};

/* ---- a phase ---- */

struct phase {
    struct execution e;
    struct view view;
    uint16_t i;
};

/* False: its workflow is gone, or what it was made of. */
static err phase_of(struct tx *tx, const struct sub_agent *g, struct phase *out, bool *found)
{
    err gone = execution_get(tx, g->execution_id, &out->e);

    if (!gone)
        gone = view_load(tx, &out->e, &out->view);
    *found = !gone;
    if (gone)
        return gone->kind == ERR_NOT_FOUND || gone->kind == ERR_CONFLICT ? NULL : gone;
    out->i = graph_step_find(out->view.graph, g->phase);
    *found = out->i != GRAPH_NONE;
    return NULL;
}

/* In one line, and quoted. */
static str title_of(const struct view *v, uint16_t i)
{
    struct json title = json_string(utf8_cut(v->steps[i].step->title, TITLE_SHOWN));

    return json_printed(v->tx->arena, &title);
}

static void put_context(struct buf *out, const struct view *v, uint16_t i)
{
    str context = view_context(v, i), shown = utf8_cut(context, CONTEXT_SHOWN);

    if (context.len)
        buf_printf(out, "\nContext: " STR_FMT "%s", STR_ARG(shown),
                   shown.len < context.len ? "… (get_workflow_state has all of it)" : "");
}

/* ---- its start ---- */

err hook_agent_start(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    struct sub_agent g;
    struct phase p;
    bool tied;

    TRY(sub_agent_begin(tx, &h->s, json_str(h->payload, "agent_id"),
                        json_str(h->payload, "agent_type"), STR(""), &g, &tied));
    if (!tied)
        return NULL;
    TRY(phase_of(tx, &g, &p, &tied));
    if (!tied)
        return NULL;
    buf_printf(&r->context,
               "You do " STR_FMT " of the workflow " STR_FMT ", which baton keeps: " STR_FMT ".",
               STR_ARG(g.phase), STR_ARG(g.execution_id), STR_ARG(title_of(&p.view, p.i)));
    put_context(&r->context, &p.view, p.i);
    buf_printf(&r->context,
               "\nWhen it is done, call update_phase_status (workflow_id \"" STR_FMT
               "\", phase_id \"" STR_FMT "\", status \"completed\" or \"failed\", deliverables, "
               "context_for_next); what you do not say there is taken from your last message. "
               "Should your prompt be about another phase, go by your prompt.",
               STR_ARG(g.execution_id), STR_ARG(g.phase));
    return NULL;
}

/* ---- its end ---- */

/* What its phase is given: what nobody has said of it yet. */
static struct json outputs_of(const struct phase *p, const struct hook_words *words)
{
    struct arena *a = p->view.tx->arena;
    struct json out = json_object(), list = json_array();

    for (size_t i = 0; i < words->count; i++)
        json_push(a, &list, json_string(words->deliverables[i]));
    if (list.len && !view_deliverables(&p->view, p->i)->len)
        json_put(a, &out, STR("deliverables"), list);
    if (words->context.len && !view_context_for_next(&p->view, p->i).len)
        json_put(a, &out, STR("context_for_next"), json_string(words->context));
    return out;
}

/* What somebody has said already stands. A phase that its definition wants more of than an agent's words
 * stays at work: whoever started the agent is told. */
static err agent_end(struct tx *tx, struct sub_agent *g, bool failed, str words)
{
    struct hook_words read;
    struct phase p;
    bool found;

    TRY(sub_agent_ended(tx, g));
    TRY(phase_of(tx, g, &p, &found));
    if (!found || p.view.steps[p.i].row.status != STEP_IN_PROGRESS)
        return NULL;
    hook_words_read(tx->arena, failed ? STR("") : words, &read);
    struct json outputs = outputs_of(&p, &read);
    struct step_told end = { .step = g->phase,
                             .status = failed ? STEP_FAILED : STEP_COMPLETED,
                             .outputs = &outputs,
                             .error = failed ? utf8_cut(words, ERROR_BYTES_MAX) : STR("") };
    err refused = execution_tell(tx, g->execution_id, &end, &p.e);
    return refused && refused->kind != ERR_CONFLICT && refused->kind != ERR_UNFIT ? refused : NULL;
}

/* One that goes on in the background outlives the conversation that has started it, where its person begins
 * another in the same client: then the other one tells of it. Whoever is told of ends hears nothing of it. */
static err agent_end_by_id(struct tx *tx, struct hook *h, str agent_id, bool failed, str words)
{
    struct sub_agent g;
    bool found;

    if (!agent_id.len)
        return NULL;
    TRY(sub_agent_find(tx, h->s.id, agent_id, &g, &found));
    if (!found && h->s.attended && tx->actor->kind != ACTOR_SESSION)
        TRY(sub_agent_find(tx, STR(""), agent_id, &g, &found));
    return found ? agent_end(tx, &g, failed, words) : NULL;
}

err hook_agent_stop(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    (void)r;
    return agent_end_by_id(tx, h, json_str(h->payload, "agent_id"), false,
                           json_str(h->payload, "last_assistant_message"));
}

err hook_agent_failure(struct tx *tx, struct hook *h)
{
    int64_t until_ms;
    str why = json_str(h->payload, "last_assistant_message");

    if (!why.len)
        why = hook_failure(tx->arena, h->payload, tx->now_ms, &until_ms);
    return agent_end_by_id(tx, h, json_str(h->payload, "agent_id"), true, why);
}

/* The texts of an answer, one below the other. */
static str texts_of(struct arena *a, const struct json *content)
{
    struct buf out = buf_in(a);

    for (uint32_t i = 0; json_is(content, JSON_ARRAY) && i < content->len; i++) {
        str text = json_str(&content->items[i], "text");
        buf_printf(&out, "%s" STR_FMT, out.len ? "\n" : "", STR_ARG(text));
    }
    return buf_str(&out);
}

/* ---- which phase it is ---- */

/* The one phase that a prompt names by its id; empty: none, or several. */
static str phase_named(const struct view *v, str prompt)
{
    str found = STR("");

    for (uint16_t i = 0; i < v->count; i++) {
        str id = v->steps[i].step->id;
        bool named = false;
        for (size_t at = 0; at + id.len <= prompt.len && !named; at++) {
            char next = at + id.len < prompt.len ? prompt.at[at + id.len] : ' ';
            bool word = (next >= '0' && next <= '9') || next == '_';
            named = !word && memcmp(prompt.at + at, id.at, id.len) == 0;
        }
        if (named && found.len)
            return STR("");
        if (named)
            found = id;
    }
    return found;
}

/* The call that has started it tells its prompt, which may name another phase than the lowest: several
 * that were started at once begin in any order. Its own start may be heard of later than that. */
static err agent_launched(struct tx *tx, struct hook *h, const struct json *answer)
{
    str id = json_str(answer, "agentId"), phase;
    const struct json *input = json_get(h->payload, "tool_input");
    struct sub_agent g, *ended;
    struct execution e;
    struct view v;
    size_t count;
    bool found;

    TRY(session_phases(tx, &h->s, false, &e, &found));
    if (!found)
        return NULL;
    err gone = view_load(tx, &e, &v);
    if (gone)
        return gone->kind == ERR_CONFLICT ? NULL : gone;
    phase = phase_named(&v, json_str(input, "prompt"));
    if (!phase.len)
        return NULL;
    TRY(sub_agent_find(tx, h->s.id, id, &g, &found));
    if (found && str_eq(g.execution_id, e.id) && !str_eq(g.phase, phase) &&
        v.steps[graph_step_find(v.graph, phase)].row.status == STEP_IN_PROGRESS)
        return sub_agent_move(tx, &g, phase);
    TRY(sub_agent_list(tx, h->s.id, true, &ended, &count));
    for (size_t i = 0; i < count; i++)
        found = found || str_eq(ended[i].agent_id, id); /* it has ended before that was heard of */
    return found ? NULL
                 : sub_agent_begin(tx, &h->s, id, json_str(input, "subagent_type"), phase, &g,
                                   &found);
}

/* What it says of another phase than its own shows which is its. */
static err agent_told(struct tx *tx, struct hook *h)
{
    const struct json *input = json_get(h->payload, "tool_input");
    str phase = json_str(input, "phase_id");
    struct sub_agent g;
    bool found;

    TRY(sub_agent_find(tx, h->s.id, json_str(h->payload, "agent_id"), &g, &found));
    if (!found || !phase.len || phase.len > SUB_AGENT_WORD_MAX || str_eq(g.phase, phase) ||
        !str_eq(g.execution_id, json_str(input, "workflow_id")))
        return NULL;
    return sub_agent_move(tx, &g, phase);
}

err hook_agent_tool_done(struct tx *tx, struct hook *h)
{
    const struct json *answer = json_get(h->payload, "tool_response");
    str tool = json_str(h->payload, "tool_name");

    if (h->inner && str_ends(tool, STR("update_phase_status")))
        return agent_told(tx, h);
    if (str_eq(tool, STR("TaskStop")))
        return agent_end_by_id(tx, h, json_str(answer, "task_id"), true,
                               STR("its agent was stopped"));
    if (!str_eq(tool, STR("Agent")) && !str_eq(tool, STR("Task")))
        return NULL;
    if (!str_eq(json_str(answer, "status"), STR("completed")))
        return agent_launched(tx, h, answer); /* it goes on in the background */
    return agent_end_by_id(tx, h, json_str(answer, "agentId"), false,
                           texts_of(tx->arena, json_get(answer, "content")));
}

/* What stands between two tags; empty: they are not there. */
static str tagged(str text, str begins, str ends)
{
    for (size_t at = 0; at + begins.len <= text.len; at++) {
        if (memcmp(text.at + at, begins.at, begins.len) != 0)
            continue;
        str rest = str_slice(text, at + begins.len, text.len);
        for (size_t to = 0; to + ends.len <= rest.len; to++)
            if (memcmp(rest.at + to, ends.at, ends.len) == 0)
                return str_slice(rest, 0, to);
        return STR("");
    }
    return STR("");
}

err hook_agent_prompt(struct tx *tx, struct hook *h)
{
    str prompt = str_trim(json_str(h->payload, "prompt"));
    str status = tagged(prompt, STR("<status>"), STR("</status>"));
    str id = tagged(prompt, STR("<task-id>"), STR("</task-id>"));

    if (!str_starts(prompt, STR("<task-notification>")) || !status.len)
        return NULL;
    bool failed = !str_eq(status, STR("completed"));
    str words = failed ? tagged(prompt, STR("<summary>"), STR("</summary>"))
                       : tagged(prompt, STR("<result>"), STR("</result>"));
    return agent_end_by_id(tx, h, id, failed, failed && !words.len ? status : words);
}

err hook_agents_over(struct tx *tx, const struct session *s, str why)
{
    struct sub_agent *all;
    size_t count;

    TRY(sub_agent_list(tx, s->id, false, &all, &count));
    for (size_t i = 0; i < count; i++)
        TRY(agent_end(tx, &all[i], true, why));
    return NULL;
}

/* ---- who has started them is told ---- */

static void put_deliverables(struct buf *out, const struct json *list)
{
    for (uint32_t i = 0; i < list->len && i < DELIVERABLES_SHOWN; i++) {
        str text = json_is(&list->items[i], JSON_STRING) ? json_text(&list->items[i]) : STR("");
        buf_printf(out, "%s" STR_FMT, i ? "; " : ", with ",
                   STR_ARG(utf8_cut(text, DELIVERABLE_SHOWN)));
    }
    if (list->len > DELIVERABLES_SHOWN)
        buf_printf(out, " and %u more", (unsigned)list->len - DELIVERABLES_SHOWN);
}

static void put_end(struct buf *out, const struct phase *p, const struct sub_agent *g)
{
    const struct view_step *s = &p->view.steps[p->i];
    str error = s->row.status == STEP_FAILED ? json_str(s->data, "error") : STR("");

    buf_printf(out, "%s" STR_FMT " of " STR_FMT ", " STR_FMT ", is " STR_FMT, out->len ? "\n" : "",
               STR_ARG(g->phase), STR_ARG(g->execution_id), STR_ARG(title_of(&p->view, p->i)),
               STR_ARG(view_step_status(&p->view, p->i)));
    if (s->row.status == STEP_IN_PROGRESS)
        buf_printf(out,
                   " still, and its agent has ended: say with update_phase_status how it went");
    if (error.len)
        buf_printf(out, ": " STR_FMT, STR_ARG(utf8_cut(error, ERROR_BYTES_MAX)));
    put_deliverables(out, view_deliverables(&p->view, p->i));
    buf_add(out, STR("."));
}

static bool is_at_work(const struct sub_agent *all, size_t count, const struct phase *p, uint16_t i)
{
    for (size_t k = 0; k < count; k++)
        if (str_eq(all[k].execution_id, p->e.id) && str_eq(all[k].phase, p->view.steps[i].step->id))
            return true;
    return false;
}

/* What whoever started the last one has to do now. */
static err put_next(struct tx *tx, struct buf *out, const struct session *s, const struct phase *p)
{
    struct sub_agent *at_work;
    size_t count, shown = 0;

    if (!execution_is_open(p->e.status)) {
        buf_printf(out, "\nThe workflow is " STR_FMT ".", STR_ARG(view_status(&p->view)));
        return NULL;
    }
    TRY(sub_agent_list(tx, s->id, false, &at_work, &count));
    for (uint16_t i = 0; i < p->view.count && shown < PHASES_SHOWN; i++) {
        const struct graph_step *step = p->view.steps[i].step;
        if (i == p->i || p->view.steps[i].row.status != STEP_IN_PROGRESS ||
            is_at_work(at_work, count, p, i))
            continue;
        buf_printf(out, "\nNext is " STR_FMT ", " STR_FMT ", for an agent of the type " STR_FMT,
                   STR_ARG(step->id), STR_ARG(title_of(&p->view, i)),
                   STR_ARG(step->agent_count ? step->agents[0] : STR("general-purpose")));
        buf_add(out, view_context(&p->view, i).len ? STR(". Put this into its prompt:") : STR("."));
        put_context(out, &p->view, i);
        shown++;
    }
    return NULL;
}

err hook_agents_tell(struct tx *tx, const struct session *s, struct hook_reply *r)
{
    struct buf text = buf_in(tx->arena);
    struct phase *last = NULL;
    struct sub_agent *all;
    size_t count;

    TRY(sub_agent_list(tx, s->id, true, &all, &count));
    if (!count)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        struct phase *p = ARENA_NEW(tx->arena, struct phase);
        bool found;
        TRY(phase_of(tx, &all[i], p, &found));
        if (!found)
            continue;
        put_end(&text, p, &all[i]);
        last = p;
    }
    if (last)
        TRY(put_next(tx, &text, s, last));
    hook_context_add(r, buf_str(&text));
    return sub_agent_told(tx, s->id);
}
