/* run_match.c: runs that wait for a runner, and what becomes of one that nobody takes. */
#include "core/run_private.h"

enum { RUNNERS_MAX = 1000, RUNNERS_SHOWN = 10 };

static err runners_there(struct tx *tx, const struct runner **out, size_t *count)
{
    const struct runner *all;
    size_t kept = 0;

    TRY(runner_list(tx, STR(""), RUNNERS_MAX, &all, count));
    struct runner *there = ARENA_ARRAY(tx->arena, struct runner, *count);
    for (size_t i = 0; i < *count; i++)
        if (!all[i].lost)
            there[kept++] = all[i];
    *out = there;
    *count = kept;
    return NULL;
}

/* Whether somebody who is there could take it. */
static err run_has_taker(struct tx *tx, const struct run *r, bool *out)
{
    const struct runner *there;
    struct demand demand;
    size_t count;

    TRY(runners_there(tx, &there, &count));
    demand_read(tx->arena, r->demand, &demand);
    *out = false;
    for (size_t i = 0; i < count; i++)
        *out |= demand_fits(tx->arena, &demand, &there[i]);
    return NULL;
}

static void print_part(struct buf *out, const char *what, str value)
{
    if (value.len)
        buf_printf(out, " %s " STR_FMT ",", what, STR_ARG(value));
}

static void print_runner(struct buf *out, const struct runner *r, bool first)
{
    buf_printf(out, "%s runner " STR_FMT " on " STR_FMT, first ? "" : ",", STR_ARG(r->name),
               STR_ARG(r->hostname));
    if (r->user.len)
        buf_printf(out, " as " STR_FMT, STR_ARG(r->user));
    if (r->project_dir.len)
        buf_printf(out, " in " STR_FMT, STR_ARG(r->project_dir));
}

/* What it asks for, and who is there instead. Where a conversation goes on is not given up: who has it
 * may come back, and any other would begin a new one. */
static err nobody_fits(struct tx *tx, const struct run *r, str *out)
{
    struct buf text = buf_in(tx->arena);
    const struct runner *there;
    struct demand demand;
    size_t count;

    demand_read(tx->arena, r->demand, &demand);
    buf_add(&text, STR("no runner could take it; it asks for"));
    if (demand.command)
        buf_add(&text, STR(" a runner that takes commands,"));
    print_part(&text, "hostname", demand.hostname);
    print_part(&text, "user", demand.user);
    print_part(&text, "profile", demand.profile);
    print_part(&text, "project_dir", demand.project_dir);
    print_part(&text, "agent", demand.agent);
    for (size_t i = 0; i < demand.tag_count; i++)
        print_part(&text, "tag", demand.tags[i]);
    if (str_ends(buf_str(&text), STR(",")))
        text.len--; /* the last one */
    if (r->type == RUN_TYPE_RESUME)
        buf_add(&text, STR(", which has its conversation: start that runner again"));
    TRY(runners_there(tx, &there, &count));
    buf_add(&text, count ? STR("; there are") : STR("; no runner is there"));
    for (size_t i = 0; i < count && i < RUNNERS_SHOWN; i++)
        print_runner(&text, &there[i], i == 0);
    if (count > RUNNERS_SHOWN)
        buf_printf(&text, " and %zu others", count - RUNNERS_SHOWN);
    *out = buf_str(&text);
    return NULL;
}

err run_due_match(struct tx *tx, const struct due *due)
{
    struct run_facts facts = { .exit_code = -1 };
    struct run r;
    bool fits;

    TRY(run_find(tx, due->subject, &r));
    if (!r.queued)
        return NULL;
    TRY(run_has_taker(tx, &r, &fits));
    if (fits)
        return due_add(tx, tx->now_ms + team_rules_of(tx)->match_ms, DUE_RUN_MATCH, r.id, 0);
    TRY(nobody_fits(tx, &r, &facts.error));
    return run_end(tx, &r, RUN_FAILED, &facts);
}

err run_due_ready(struct tx *tx, const struct due *due)
{
    struct run r;

    TRY(run_find(tx, due->subject, &r));
    if (r.status != RUN_PENDING || !r.id.len || r.queued)
        return NULL;
    return run_enter(tx, &r);
}
