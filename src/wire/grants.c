/* grants.c: who the tokens stand for that were shown.
 *
 * A token is looked up once, for all who wait for it, and its grant is kept under
 * the digest of its text: the text itself stays nowhere. A kept grant is as good
 * as a new look-up, because each revocation and change comes by here. Does not
 * know how a token is looked up. */
#include <assert.h>

#include "base/digest.h"
#include "wire/server_private.h"

enum { BUCKETS = 4096, GRANTS_MAX = 4096 };

/* A look-up that is not answered. Its arena belongs to whoever looks up; who waits for it is not its
 * business, and comes and goes meanwhile. */
struct asking {
    struct admission admission;
    struct server *server;
    struct entry *entry;
    uint64_t revocations; /* that were published before it began */
    struct grant_wait *first, **end;
};

struct entry {
    struct entry *next; /* in its bucket */
    struct list used;   /* of those with a grant: least recently used first */
    unsigned char digest[SHA256_BYTES];
    struct grant *grant; /* or */
    struct asking *asking;
};

struct grants {
    struct entry *buckets[BUCKETS];
    struct list used;
    uint32_t count; /* with a grant */
    uint64_t revocations;
};

/* ---- entries ---- */

struct grants *grants_new(void)
{
    struct grants *g = mem_alloc(sizeof *g);

    memset(g, 0, sizeof *g);
    list_init(&g->used);
    return g;
}

/* Where an entry of the digest is linked, or would be. A digest's own bits spread well. */
static struct entry **place_of(struct grants *g, const unsigned char digest[SHA256_BYTES])
{
    struct entry **at = &g->buckets[(digest[0] << 8 | digest[1]) % BUCKETS];

    while (*at && memcmp((*at)->digest, digest, SHA256_BYTES) != 0)
        at = &(*at)->next;
    return at;
}

static struct entry *entry_new(struct grants *g, const unsigned char digest[SHA256_BYTES])
{
    struct entry **at = place_of(g, digest), *e = mem_alloc(sizeof *e);

    assert(!*at);
    *e = (struct entry){ .next = NULL };
    *at = e;
    list_init(&e->used);
    memcpy(e->digest, digest, sizeof e->digest);
    return e;
}

static void entry_drop(struct grants *g, struct entry *e)
{
    struct entry **at = place_of(g, e->digest);

    assert(*at == e);
    *at = e->next;
    list_remove(&e->used);
    if (e->grant) {
        g->count--;
        grant_unref(e->grant);
    }
    mem_free(e);
}

static void entry_use(struct grants *g, struct entry *e)
{
    list_remove(&e->used);
    list_append(&g->used, &e->used);
}

static void entry_keep(struct grants *g, struct entry *e, struct grant *grant)
{
    e->grant = grant;
    e->asking = NULL;
    entry_use(g, e);
    if (++g->count > GRANTS_MAX)
        entry_drop(g, LIST_ENTRY(g->used.next, struct entry, used));
}

static bool has_expired(const struct server *s, const struct grant *g)
{
    return g->expires_at_ms && s->options.now_ms(s->options.self) >= g->expires_at_ms;
}

/* ---- looking up ---- */

static void ask(struct asking *q)
{
    struct server *s = q->server;

    q->revocations = s->grants->revocations;
    s->options.admit(s->options.self, &q->admission);
}

/* Answers all who wait. Any of them may ask for the next token at once, so the entry is not touched
 * any more. */
static void answer(struct asking *q, struct grant *grant, err refused)
{
    for (struct grant_wait *w = q->first, *next; w; w = next) {
        next = w->next;
        w->then(w->owner, grant ? grant_ref(grant) : NULL, refused);
    }
    if (grant)
        grant_unref(grant);
    mem_free(q);
}

static void on_admitted(struct admission *a)
{
    struct asking *q = a->owner;
    struct grants *g = q->server->grants;
    struct grant *grant = a->grant;

    /* What was found may be from before a revocation that has been published since. */
    if (grant && q->revocations != g->revocations) {
        grant_unref(grant);
        a->grant = NULL;
        ask(q);
        return;
    }
    assert(grant || a->error);
    if (grant)
        entry_keep(g, q->entry, grant_ref(grant));
    else
        entry_drop(g, q->entry);
    struct server *s = q->server;
    struct arena *arena = a->arena;
    answer(q, grant, a->error);
    server_arena_done(s, arena);
}

static struct asking *asking_new(struct server *s, struct entry *e, str token)
{
    struct arena *a = server_arena(s);
    struct asking *q = mem_alloc(sizeof *q);

    *q = (struct asking){
        .admission = { .arena = a, .token = arena_copy(a, token), .done = on_admitted, .owner = q },
        .server = s,
        .entry = e,
        .end = &q->first,
    };
    return q;
}

static void asking_wait(struct asking *q, struct grant_wait *w)
{
    w->next = NULL;
    *q->end = w;
    q->end = &w->next;
}

void server_grant(struct server *s, str token, struct grant_wait *w)
{
    struct grants *g = s->grants;
    unsigned char digest[SHA256_BYTES];

    sha256(token, digest);
    struct entry *e = *place_of(g, digest);
    if (e && e->grant && !has_expired(s, e->grant)) {
        entry_use(g, e);
        w->then(w->owner, grant_ref(e->grant), NULL);
        return;
    }
    if (e && e->asking) {
        asking_wait(e->asking, w);
        return;
    }
    if (e)
        entry_drop(g, e);
    e = entry_new(g, digest);
    e->asking = asking_new(s, e, token);
    asking_wait(e->asking, w);
    ask(e->asking);
}

void grants_put(struct server *s, const struct minted *m)
{
    unsigned char digest[SHA256_BYTES];

    sha256(m->text, digest);
    if (!*place_of(s->grants, digest))
        entry_keep(s->grants, entry_new(s->grants, digest), grant_made(m));
}

/* ---- what ends a grant ---- */

static bool stands_for(const struct grant *g, str token_id)
{
    return g && str_eq(g->token_id, token_id);
}

/* A connection's grant may be one that is not kept here any more, or not yet again: so they are
 * compared by what they stand for. All are marked before the first one is told. */
void grants_revoke(struct server *s, str token_id)
{
    struct grants *g = s->grants;

    g->revocations++;
    LIST_EACH(it, &g->used) {
        struct entry *e = LIST_ENTRY(it, struct entry, used);
        if (stands_for(e->grant, token_id)) {
            e->grant->revoked = true;
            entry_drop(g, e);
        }
    }
    LIST_EACH(it, &s->conns) {
        struct conn *c = LIST_ENTRY(it, struct conn, all);
        if (stands_for(c->grant, token_id))
            c->grant->revoked = true;
    }
    LIST_EACH(it, &s->conns) {
        struct conn *c = LIST_ENTRY(it, struct conn, all);
        if (stands_for(c->grant, token_id) && !c->closing && !c->closed)
            c->protocol->revoked(c);
    }
    if (s->revoked)
        s->revoked(s, token_id);
}

void grants_expire(struct server *s)
{
    LIST_EACH(it, &s->conns) {
        struct conn *c = LIST_ENTRY(it, struct conn, all);
        if (!c->grant || c->grant->revoked || !has_expired(s, c->grant))
            continue;
        struct grant *g = grant_ref(c->grant); /* its id is needed until all were told */
        grants_revoke(s, g->token_id);
        grant_unref(g);
    }
}

/* ---- what changes a grant ---- */

/* A session came, got a state, or lost it. What is kept here is looked up again; a connection cannot,
 * since nobody has the token's text, and goes on with a grant that has changed alike. */
static void grants_change(struct server *s, const struct event *e)
{
    struct grants *g = s->grants;

    g->revocations++;
    LIST_EACH(it, &g->used) {
        struct entry *kept = LIST_ENTRY(it, struct entry, used);
        struct grant *changed = grant_after(kept->grant, e);
        if (changed) {
            grant_unref(changed);
            entry_drop(g, kept);
        }
    }
    LIST_EACH(it, &s->conns) {
        struct conn *c = LIST_ENTRY(it, struct conn, all);
        struct grant *changed = c->grant ? grant_after(c->grant, e) : NULL;
        if (changed)
            conn_admit(c, changed);
    }
}

void grants_hear(struct server *s, const struct event *e)
{
    str type = event_type_name(e);

    if (str_eq(type, STR("token_revoked")))
        grants_revoke(s, event_subject(e));
    else if (str_eq(type, STR("session_created")) || str_eq(type, STR("session_bound")) ||
             str_eq(type, STR("session_deleted")))
        grants_change(s, e);
}

/* ---- the end ---- */

/* A look-up that was never answered leaves its arena behind, which is nobody's any more. */
void grants_free(struct server *s)
{
    static const char why[] = "the server stopped before the token was looked up";
    static const struct error stopped = { .kind = ERR_UNAVAILABLE,
                                          .message = { why, sizeof why - 1 } };
    struct grants *g = s->grants;

    for (size_t i = 0; i < BUCKETS; i++)
        while (g->buckets[i]) {
            struct asking *q = g->buckets[i]->asking;
            entry_drop(g, g->buckets[i]);
            if (!q)
                continue;
            struct arena *left = q->admission.arena;
            answer(q, NULL, &stopped);
            arena_free(left);
        }
    mem_free(g);
}
