/* quota.c: who takes how much of what there is for all. */
#include "wire/quota.h"

#include <assert.h>

#include "base/hash.h"
#include "wire/server_private.h"

enum {
    BUCKETS = 256,
    KEPT_PART = 16,    /* of the bytes, one in so many is for the operator alone */
    UNKNOWN_PART = 4,  /* and those who have shown no token may have one in so many */
    STALLED_MS = 1000, /* who has taken nothing for that long may be dropped for others */
    BULK_TOGETHER = 4, /* connections that bring much, and go on in one turn of the loop */
};

struct quotas {
    struct list buckets[BUCKETS];
};

/* ---- quotas ---- */

struct quotas *quotas_new(void)
{
    struct quotas *all = mem_alloc(sizeof *all);

    for (size_t i = 0; i < BUCKETS; i++)
        list_init(&all->buckets[i]);
    return all;
}

void quotas_free(struct server *s)
{
    for (size_t i = 0; i < BUCKETS; i++)
        assert(list_empty(&s->quotas->buckets[i]));
    assert(s->buffered == 0 && s->held == 0);
    mem_free(s->quotas);
}

struct quota *quota_of(struct server *s, const struct grant *g)
{
    str id = g ? g->token_id : STR("");
    struct list *bucket = &s->quotas->buckets[hash_bytes(id.at, id.len) % BUCKETS];

    LIST_EACH(it, bucket) {
        struct quota *sh = LIST_ENTRY(it, struct quota, link);
        if (str_eq(sh->token_id, id)) {
            sh->refs++;
            return sh;
        }
    }
    struct quota *sh = mem_alloc(sizeof *sh + id.len);
    *sh = (struct quota){ .token_id = { (char *)(sh + 1), id.len },
                          .operates = g && g->operates,
                          .refs = 1 };
    if (id.len)
        memcpy(sh + 1, id.at, id.len);
    list_init(&sh->bulk);
    list_init(&sh->turn);
    list_append(bucket, &sh->link);
    return sh;
}

void quota_unref(struct quota *sh)
{
    if (--sh->refs > 0)
        return;
    assert(!sh->connections && !sh->waits && !sh->sessions && !sh->requests);
    assert(!sh->buffered && !sh->held && list_empty(&sh->bulk));
    list_remove(&sh->turn);
    list_remove(&sh->link);
    mem_free(sh);
}

/* ---- things that are counted ---- */

static err too_many(struct arena *a, const char *what, const char *setting, uint32_t most)
{
    return err_new(a, ERR_LIMIT,
                   "expected at most %u %s of one token (%s), found as many already: end some, or "
                   "use another token",
                   (unsigned)most, what, setting);
}

err quota_check_connection(const struct server *s, const struct quota *sh, struct arena *a)
{
    if (sh->operates || sh->connections < s->limits.token_connections)
        return NULL;
    return too_many(a, "connections", "token_connections", s->limits.token_connections);
}

err quota_check_wait(const struct server *s, const struct quota *sh, size_t more, struct arena *a)
{
    if (sh->operates || sh->waits + more <= s->limits.token_waits)
        return NULL;
    return too_many(a, "waits and subscriptions", "token_waits", s->limits.token_waits);
}

/* Who asks for more than is worked on at a time would have all others wait behind it. */
err quota_check_request(const struct server *s, const struct quota *sh, struct arena *a)
{
    if (sh->operates || sh->requests < s->limits.token_requests)
        return NULL;
    return err_new(a, ERR_LIMIT,
                   "expected at most %u requests of one token at a time (token_requests), found as "
                   "many already: try again in a moment",
                   (unsigned)s->limits.token_requests);
}

err quota_check_session(const struct server *s, const struct quota *sh, struct arena *a)
{
    if (sh->operates || sh->sessions < s->limits.token_mcp_sessions)
        return NULL;
    return too_many(a, "sessions of MCP that are in use", "token_mcp_sessions",
                    s->limits.token_mcp_sessions);
}

/* ---- turns ---- */

void bulk_wait(struct conn *c)
{
    struct quota *sh = c->quota;

    if (c->closed || !list_empty(&c->bulk))
        return;
    link_yield(c->link);
    list_append(&sh->bulk, &c->bulk);
    if (list_empty(&sh->turn))
        list_append(&c->server->bulk, &sh->turn);
}

void bulk_leave(struct conn *c)
{
    list_remove(&c->bulk);
    if (list_empty(&c->quota->bulk))
        list_remove(&c->quota->turn);
}

void bulk_go_on(struct server *s)
{
    for (int i = 0; i < BULK_TOGETHER && !list_empty(&s->bulk); i++) {
        struct quota *sh = LIST_ENTRY(s->bulk.next, struct quota, turn);
        struct conn *c = LIST_ENTRY(sh->bulk.next, struct conn, bulk);
        list_remove(&sh->turn);
        list_append(&s->bulk, &sh->turn);
        bulk_leave(c);
        link_go_on(c->link);
        conn_go_on(c);
    }
}

/* ---- bytes ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t rest(uint64_t most, uint64_t used)
{
    return used < most ? most - used : 0;
}

/* What a quota may still take of a budget of which so much is used: at most until it has as much as
 * is then free. So one that takes all it can leaves half to the others, two leave a third, and who
 * has nothing yet finds room beside any number of them. */
static uint64_t room_in(const struct server *s, const struct quota *sh, uint64_t most,
                        uint64_t used, uint64_t own)
{
    uint64_t all = sh->operates ? most : most - most / KEPT_PART;
    uint64_t most_own = sh->operates       ? most
                        : sh->token_id.len ? s->limits.token_bytes
                                           : most / UNKNOWN_PART;

    return least(rest(most_own, own), rest(rest(all, used), own) / 2);
}

void charge_begin(struct charge *c, struct server *s, struct quota *sh)
{
    *c = (struct charge){ .server = s, .quota = sh };
    sh->refs++;
}

void charge_end(struct charge *c)
{
    charge_set(c, c->quota, 0);
    quota_unref(c->quota);
}

static void charge_release(void *charge)
{
    charge_end(charge);
}

struct charge *charge_new(struct server *s, struct arena *a, struct quota *sh)
{
    struct charge *c = ARENA_NEW(a, struct charge);

    charge_begin(c, s, sh);
    arena_on_release(a, charge_release, c);
    return c;
}

void charge_set(struct charge *c, struct quota *sh, uint64_t bytes)
{
    c->server->buffered += bytes - c->bytes;
    c->quota->buffered -= c->bytes;
    sh->buffered += bytes;
    c->bytes = bytes;
    if (c->quota == sh)
        return;
    sh->refs++;
    quota_unref(c->quota);
    c->quota = sh;
}

uint64_t charge_most(const struct charge *c)
{
    const struct server *s = c->server;

    return c->bytes + room_in(s, c->quota, s->limits.buffered_max, s->buffered, c->quota->buffered);
}

bool charge_fits(const struct charge *c, uint64_t bytes)
{
    return bytes <= charge_most(c);
}

/* ---- answers that wait ---- */

static bool is_before(const struct conn *a, const struct conn *b)
{
    return a->quota->operates != b->quota->operates ? b->quota->operates : a->sent_ms < b->sent_ms;
}

/* Drops the one who has taken nothing for longest, at least for so long: of one quota, or of all,
 * and then operators only when nobody else is slow. False: there is none. */
static bool slowest_drop(struct server *s, const struct quota *of, const struct conn *but,
                         int64_t ms)
{
    int64_t latest = loop_now_ms(s->loop) - ms;
    struct conn *found = NULL;

    LIST_EACH(it, &s->conns) {
        struct conn *c = LIST_ENTRY(it, struct conn, all);
        bool counts = c != but && c->sending && !c->closed && (!of || c->quota == of);
        if (counts && conn_progress_ms(c) <= latest && (!found || is_before(c, found)))
            found = c;
    }
    if (!found)
        return false;
    s->dropped++;
    conn_abort(found);
    return true;
}

static bool has_room(const struct server *s, const struct conn *c, size_t bytes)
{
    return bytes <= room_in(s, c->quota, s->limits.held_max, s->held, c->quota->held);
}

/* Who would have more than a token may, or than what is left, makes room in its own quota, and not
 * in others'. */
static const struct quota *who_gives(const struct server *s, const struct conn *c, size_t bytes)
{
    uint64_t left = least(rest(s->limits.held_max, s->held), s->limits.token_bytes);
    bool own = !c->quota->operates && c->quota->held + bytes > left;

    return own ? c->quota : NULL;
}

bool held_takes(struct server *s, struct conn *c, size_t bytes, bool must)
{
    int64_t ms = must ? 0 : STALLED_MS;

    if (has_room(s, c, bytes))
        return true;
    LIST_EACH(it, &s->dirty)
        conn_flush(LIST_ENTRY(it, struct conn, dirty)); /* it may only be this turn that is long */
    while (!has_room(s, c, bytes) && slowest_drop(s, who_gives(s, c, bytes), c, ms)) {
    }
    return must || c->quota->operates || has_room(s, c, bytes);
}

bool held_is_scarce(const struct server *s)
{
    return s->held > s->limits.held_max / 2;
}

bool held_is_full(struct server *s)
{
    uint64_t most = s->limits.held_max / 4 * 3;

    while (s->held > most && slowest_drop(s, NULL, NULL, STALLED_MS)) {
    }
    return s->held > most;
}

void shared_hold(struct server *s, struct shared *f)
{
    if (f->holders++ == 0)
        s->held += f->bytes.len;
}

void shared_release(struct server *s, struct shared *f)
{
    assert(f->holders > 0);
    if (--f->holders == 0)
        s->held -= f->bytes.len;
    shared_unref(f);
}
