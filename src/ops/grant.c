/* grant.c: tokens as requests show them.
 *
 * A grant outlives the command that found it: it has an arena of its own, which
 * goes with the last one who holds it. */
#include <assert.h>

#include "core/state.h"
#include "core/token.h"
#include "json/json.h"
#include "ops/perform.h"

/* A grant with what it refers to. */
struct held {
    struct grant grant;
    struct actor actor;
    struct token token;
    struct arena *arena;
};

static struct held *held_new(void)
{
    struct arena *arena = arena_new();
    struct held *h = ARENA_NEW(arena, struct held);

    h->arena = arena;
    return h;
}

/* From here on it is shared, and as it is: nobody's arena grows any more. */
static struct grant *held_begin(struct held *h, bool operates, int64_t expires_at_ms)
{
    arena_give(h->arena);
    h->grant = (struct grant){ .actor = &h->actor,
                               .token_id = h->actor.token_id,
                               .expires_at_ms = expires_at_ms,
                               .operates = operates,
                               .refs = 1 };
    return &h->grant;
}

/* ---- a token that is shown ---- */

static err grant_find(struct engine *e, str token, struct held *h)
{
    struct store_node node;

    TRY(store_begin(e->sql, h->arena, &node));
    int64_t now = e->now_ms(e->clock);
    struct tx tx = {
        .arena = h->arena,
        .sql = e->sql,
        .now_ms = now > node.clock ? now : node.clock,
        .seq = &node.seq,
        .source = e->source,
        .compiled = e->compiled,
    };
    err refused = token_actor(&tx, token, &h->token, &h->actor);
    store_rollback(e->sql);
    return refused;
}

err op_admit(struct engine *e, struct arena *a, str token, struct grant **out)
{
    struct held *h = held_new();

    err refused = grant_find(e, token, h);
    if (refused) {
        refused = op_public_error(e, a, refused);
        arena_free(h->arena);
        return refused;
    }
    *out = held_begin(h, h->token.kind == ACTOR_OPERATOR, h->token.expires_at_ms);
    return NULL;
}

/* ---- a token that is made ---- */

err op_mint(struct tx *tx, str token, const struct minted **out)
{
    struct actor *actor = ARENA_NEW(tx->arena, struct actor);
    struct minted *minted = ARENA_NEW(tx->arena, struct minted);
    struct token row;

    TRY(token_actor(tx, token, &row, actor));
    *minted = (struct minted){ .text = token,
                               .expires_at_ms = row.expires_at_ms,
                               .operates = row.kind == ACTOR_OPERATOR,
                               .actor = actor };
    *out = minted;
    return NULL;
}

static const str *texts_copy(struct arena *a, const str *from, size_t count)
{
    str *copies = from ? ARENA_ARRAY(a, str, count) : NULL;

    for (size_t i = 0; i < count; i++)
        copies[i] = arena_copy(a, from[i]);
    return copies;
}

static struct actor actor_copy(struct arena *a, const struct actor *from)
{
    struct actor copy = {
        .kind = from->kind,
        .name = arena_copy(a, from->name),
        .token_id = arena_copy(a, from->token_id),
        .session_id = arena_copy(a, from->session_id),
        .run_id = arena_copy(a, from->run_id),
        .state_id = arena_copy(a, from->state_id),
        .project_state_id = arena_copy(a, from->project_state_id),
        .is_page = from->is_page,
        .is_child = from->is_child,
        .is_attended = from->is_attended,
        .records_by = arena_copy(a, from->records_by),
        .pointers = texts_copy(a, from->pointers, from->pointer_count),
        .pointer_count = from->pointer_count,
        .reads = texts_copy(a, from->reads, from->read_count),
        .read_count = from->read_count,
        .jobs = texts_copy(a, from->jobs, from->job_count),
        .job_count = from->job_count,
    };

    return copy;
}

struct grant *grant_made(const struct minted *m)
{
    struct held *h = held_new();

    h->actor = actor_copy(h->arena, m->actor);
    return held_begin(h, m->operates, m->expires_at_ms);
}

/* ---- what changes while it is held ---- */

/* What a session is that came after its token. The token's own sections stand. */
static void session_came(struct held *h, const struct json *data)
{
    const struct json *pointers = json_get(data, "pointers");

    h->actor.is_child = json_str(data, "parent_session_id").len;
    h->actor.is_attended = json_bool_or(data, "attended", true);
    if (h->actor.pointers || !json_is(pointers, JSON_ARRAY))
        return;
    str *copies = ARENA_ARRAY(h->arena, str, pointers->len);
    for (uint32_t i = 0; i < pointers->len; i++)
        copies[i] = json_text(&pointers->items[i]);
    h->actor.pointers = copies;
    h->actor.pointer_count = pointers->len;
}

/* Others may be using the old one, on other threads: it stays as it is. */
struct grant *grant_after(const struct grant *g, const struct event *e)
{
    const struct json *data;
    bool created = e->type == EVENT_SESSION_CREATED;
    bool bound = created || e->type == EVENT_SESSION_BOUND;

    if (!(bound || e->type == EVENT_SESSION_DELETED) || !str_eq(e->subject, g->actor->session_id))
        return NULL;
    struct held *h = held_new();
    err unread = json_parse_own(h->arena, arena_copy(h->arena, e->data), &data);
    assert(!unread);
    h->actor = actor_copy(h->arena, g->actor);
    h->actor.state_id = bound ? json_str(data, "workflow_state_id") : STR("");
    h->actor.project_state_id = bound ? json_str(data, "project_state_id") : STR("");
    if (created)
        session_came(h, data);
    held_begin(h, g->operates, g->expires_at_ms)->revoked = g->revoked;
    return &h->grant;
}

/* ---- what it lets see ---- */

enum op_tier actor_tier(const struct actor *a)
{
    static const enum op_tier tiers[] = {
        [ACTOR_SYSTEM] = TIER_NONE,  [ACTOR_OPERATOR] = TIER_OPERATOR, [ACTOR_RUNNER] = TIER_NONE,
        [ACTOR_SESSION] = TIER_ROOT, [ACTOR_VIEWER] = TIER_VIEWER,     [ACTOR_CODE] = TIER_NONE,
    };

    return a->is_child || a->records_by.len ? TIER_CHILD : tiers[a->kind];
}

/* Who sees everything selects nothing by it. */
enum op_selection actor_selects(const struct actor *a, str state)
{
    if (!event_scope(a, STR("")).len || actor_reads(a, state))
        return SELECTION_GOOD;
    return state_is_name(state) ? SELECTION_NAME : SELECTION_UNKNOWN;
}

str actor_state(const struct actor *a)
{
    return a->state_id;
}

str actor_records_by(const struct actor *a)
{
    return a->records_by;
}

str actor_token(const struct actor *a)
{
    return a->token_id;
}

bool actor_is_attended(const struct actor *a)
{
    return a->is_attended;
}

/* ---- who holds it ---- */

struct grant *grant_ref(struct grant *g)
{
    g->refs++;
    return g;
}

void grant_unref(struct grant *g)
{
    assert(g->refs > 0);
    if (--g->refs == 0)
        arena_free(((struct held *)g)->arena); /* its first member */
}
