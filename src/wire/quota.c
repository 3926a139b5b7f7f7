/* quota.c: who takes how much of what there is for all. */
#include "wire/quota.h"

#include <assert.h>

#include "base/hash.h"
#include "wire/server_private.h"

enum {
    BUCKETS = 256,
    KEPT_PART = 16,   /* of the bytes, one in so many is for the operator alone */
    UNKNOWN_PART = 4, /* and those who have shown no token may have one in so many */
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

/* ---- bytes ---- */

/* At most until it has as much as is then free. So one that takes all it can leaves half to the
 * others, two leave a third, and who has nothing yet finds room beside any number of them. */
uint64_t quota_room(const struct server *s, const struct quota *sh, uint64_t most, uint64_t used,
                    uint64_t own)
{
    uint64_t all = sh->operates ? most : most - most / KEPT_PART;
    uint64_t most_own = sh->operates       ? most
                        : sh->token_id.len ? s->limits.token_bytes
                                           : most / UNKNOWN_PART;

    return bytes_least(bytes_left(most_own, own), bytes_left(bytes_left(all, used), own) / 2);
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

    return c->bytes +
           quota_room(s, c->quota, s->limits.buffered_max, s->buffered, c->quota->buffered);
}

bool charge_fits(const struct charge *c, uint64_t bytes)
{
    return bytes <= charge_most(c);
}
