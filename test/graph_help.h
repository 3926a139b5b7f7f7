/* graph_help.h: graphs as texts, and what is so of every graph, for tests and fuzzing. */
#ifndef TEST_GRAPH_HELP_H
#define TEST_GRAPH_HELP_H

#include <assert.h>

#include "flow/graph.h"
#include "base/date.h"

static inline void shown_feel(struct buf *out, const char *word, const struct feel *f)
{
    if (f)
        buf_printf(out, "%s(" STR_FMT ")", word, STR_ARG(feel_text(f)));
}

static inline void shown_settings(struct buf *out, const char *word, struct graph_settings s)
{
    buf_add(out, str_from(word));
    for (size_t i = 0; i < s.count; i++) {
        buf_printf(out, " " STR_FMT, STR_ARG(s.at[i].name));
        shown_feel(out, "", s.at[i].value);
    }
}

static inline void shown_ms(struct buf *out, const char *before, int64_t ms)
{
    char room[DATE_TEXT_MAX];

    buf_printf(out, "%s" STR_FMT, before, STR_ARG(duration_print(room, ms)));
}

static inline void shown_work(struct buf *out, const struct graph *g, const struct graph_work *w)
{
    buf_printf(out, " %s", work_by_names[w->by]);
    if (w->by == WORK_JOB)
        buf_printf(out, " " STR_FMT, STR_ARG(w->job_type));
    for (size_t i = 0; i < w->argv_count; i++)
        buf_printf(out, " [" STR_FMT "]", STR_ARG(w->argv[i]));
    if (w->has_with)
        shown_settings(out, " with", w->with);
    if (w->output_count)
        buf_add(out, STR(" gives"));
    for (size_t i = 0; i < w->output_count; i++)
        buf_printf(out, " " STR_FMT, STR_ARG(w->outputs[i]));
    if (w->timeout_ms)
        shown_ms(out, " within ", w->timeout_ms);
    if (w->retry.max_attempts > 1) {
        buf_printf(out, " tried %lld", (long long)w->retry.max_attempts);
        shown_ms(out, " after ", w->retry.backoff_ms);
        buf_printf(out, " x%lld", (long long)w->retry.factor_milli);
        shown_ms(out, " up to ", w->retry.max_backoff_ms);
    }
    shown_feel(out, " fails", w->fails_when);
    if (w->retry_step != GRAPH_NONE)
        buf_printf(out, " reopens " STR_FMT, STR_ARG(g->steps[w->retry_step].id));
}

static inline void shown_approval(struct buf *out, const struct graph *g,
                                  const struct graph_approval *a)
{
    buf_printf(out, " approval%s%s", a->variant ? " of a variant" : "",
               a->attended ? " attended" : "");
    for (size_t i = 0; i < a->show_count; i++)
        buf_printf(out, "%s" STR_FMT, i ? " " : " of ", STR_ARG(a->show[i]));
    shown_feel(out, " out of", a->options);
    if (a->deadline_ms)
        shown_ms(out, " within ", a->deadline_ms);
    if (a->fallback.len)
        buf_printf(out, " else " STR_FMT, STR_ARG(a->fallback));
    if (a->on_reject != GRAPH_NONE)
        buf_printf(out, " back to " STR_FMT, STR_ARG(g->steps[a->on_reject].id));
}

static inline void shown_evidence(struct buf *out, const struct graph_evidence *e)
{
    static const char *const kinds[] = { " runs", " file", " tests" };

    buf_add(out, str_from(kinds[e->kind]));
    for (size_t i = 0; i < e->argv_count; i++)
        buf_printf(out, " [" STR_FMT "]", STR_ARG(e->argv[i]));
    if (e->kind == EVIDENCE_COMMAND)
        buf_printf(out, " exit %lld", (long long)e->exit);
    shown_feel(out, "", e->file);
    shown_feel(out, " sha256", e->sha256);
}

static inline void shown_step(struct buf *out, const struct graph *g, const struct graph_step *s)
{
    buf_printf(out, "\nstep " STR_FMT " \"" STR_FMT "\"", STR_ARG(s->id), STR_ARG(s->title));
    if (s->description.len)
        buf_printf(out, " (" STR_FMT ")", STR_ARG(s->description));
    if (s->entry != s->node)
        buf_printf(out, " by " STR_FMT, STR_ARG(g->nodes[s->entry].id));
    for (size_t i = 0; i < s->after_count; i++)
        buf_printf(out, "%s" STR_FMT, i ? " " : " after ", STR_ARG(g->steps[s->after[i]].id));
    for (size_t i = 0; i < s->agent_count; i++)
        buf_printf(out, "%s" STR_FMT, i ? " " : " agents ", STR_ARG(s->agents[i]));
    if (s->parallel_agents)
        buf_printf(out, " times %u", s->parallel_agents);
    buf_add(out, s->agents_at_once ? STR(" at once") : STR(""));
    if (s->prompt)
        buf_printf(out, " prompt(" STR_FMT ")", STR_ARG(template_text(s->prompt)));
    if (s->approval)
        shown_approval(out, g, s->approval);
    for (size_t i = 0; i < s->evidence_count; i++)
        shown_evidence(out, &s->evidence[i]);
}

static inline void shown_node(struct buf *out, const struct graph *g, const struct graph_node *n)
{
    buf_printf(out, "\n" STR_FMT " %s", STR_ARG(n->id), node_kind_names[n->kind]);
    if (n->title.len)
        buf_printf(out, " \"" STR_FMT "\"", STR_ARG(n->title));
    shown_feel(out, " when", n->when);
    if (n->loop) {
        shown_feel(out, " each", n->loop->items);
        buf_printf(out, " as " STR_FMT " %u at once", STR_ARG(n->loop->as), n->loop->at_once);
    }
    if (n->work)
        shown_work(out, g, n->work);
    if (n->kind == NODE_FEEL)
        shown_settings(out, "", n->settings);
}

/* All of it, a line for each thing. */
static inline str graph_shown(struct arena *a, const struct graph *g)
{
    struct buf out = buf_in(a);

    buf_printf(&out, "%s " STR_FMT " %s", graph_kind_names[g->kind], STR_ARG(g->name),
               on_fail_names[g->on_fail]);
    if (g->level.len)
        buf_printf(&out, " level " STR_FMT, STR_ARG(g->level));
    if (g->description.len)
        buf_printf(&out, " (" STR_FMT ")", STR_ARG(g->description));
    if (g->input)
        buf_printf(&out, " input " STR_FMT, STR_ARG(json_printed(a, g->input)));
    if (g->context)
        buf_printf(&out, " id(" STR_FMT ")", STR_ARG(template_text(g->context)));
    shown_feel(&out, " result", g->result);
    for (uint16_t i = 0; i < g->node_count; i++)
        shown_node(&out, g, &g->nodes[i]);
    for (uint16_t i = 0; i < g->flow_count; i++) {
        const struct graph_flow *f = &g->flows[i];
        buf_printf(&out, "\n" STR_FMT ": " STR_FMT " > " STR_FMT, STR_ARG(f->id),
                   STR_ARG(g->nodes[f->source].id), STR_ARG(g->nodes[f->target].id));
        shown_feel(&out, " when", f->when);
        buf_add(&out, g->nodes[f->source].fallback == i ? STR(" else") : STR(""));
    }
    for (uint16_t i = 0; i < g->step_count; i++)
        shown_step(&out, g, &g->steps[i]);
    for (size_t i = 0; i < g->warning_count; i++)
        buf_printf(&out, "\nwarning: " STR_FMT, STR_ARG(g->warnings[i]));
    return buf_str(&out);
}

/* What whoever moves tokens on it relies on. */
static inline void graph_check(struct arena *a, const struct graph *g)
{
    size_t starts = 0, in = 0, out = 0;
    bool *seen = arena_zero(a, g->node_count);
    uint16_t *queue = ARENA_ARRAY(a, uint16_t, g->node_count);
    size_t first = 0, last = 0;

    assert(g->node_count <= GRAPH_NODES_MAX && g->flow_count <= GRAPH_FLOWS_MAX);
    for (uint16_t i = 0; i < g->node_count; i++) {
        const struct graph_node *n = &g->nodes[i];
        starts += n->kind == NODE_START;
        in += n->in_count;
        out += n->out_count;
        for (uint16_t k = 0; k < n->in_count; k++) {
            assert(g->flows[n->in[k]].target == i);
            assert(!k || n->in[k - 1] < n->in[k]);
        }
        for (uint16_t k = 0; k < n->out_count; k++) {
            assert(g->flows[n->out[k]].source == i);
            assert(!k || n->out[k - 1] < n->out[k]);
        }
        assert(graph_node_find(g, n->id) == i);
        assert(n->fallback == GRAPH_NONE || g->flows[n->fallback].source == i);
        assert((n->kind == NODE_WORK) == (n->work != NULL));
        assert((n->kind == NODE_FEEL) == (n->settings.count > 0));
        assert(n->step == GRAPH_NONE || n->step < g->step_count);
        assert(n->kind != NODE_START || (n->in_count == 0 && n->out_count > 0));
        assert(n->kind != NODE_END || n->out_count == 0);
    }
    assert(starts == 1 && g->nodes[g->start].kind == NODE_START);
    assert(in == g->flow_count && out == g->flow_count);
    for (uint16_t i = 0; i < g->flow_count; i++)
        assert(graph_flow_find(g, g->flows[i].id) == i);

    seen[g->start] = true;
    queue[last++] = g->start;
    while (first < last) {
        const struct graph_node *n = &g->nodes[queue[first++]];
        for (uint16_t k = 0; k < n->out_count; k++) {
            uint16_t to = g->flows[n->out[k]].target;
            if (!seen[to])
                queue[last++] = to;
            seen[to] = true;
        }
    }
    for (uint16_t i = 0; i < g->step_count; i++) {
        const struct graph_step *s = &g->steps[i];
        assert(graph_step_find(g, s->id) == i);
        assert(str_eq(g->nodes[s->node].id, s->id) && g->nodes[s->node].step == i);
        assert(g->nodes[s->entry].step == i && s->title.len);
        if (g->kind == GRAPH_NODES)
            continue;
        assert(seen[s->entry] && seen[s->node]);
        assert((s->entry != s->node) == (s->after_count > 1));
        assert(g->nodes[s->entry].in_count == (s->after_count ? s->after_count : 1));
        for (size_t k = 0; k < s->after_count; k++)
            assert(g->flows[g->nodes[s->entry].in[k]].source == g->steps[s->after[k]].node);
    }
}

#endif
