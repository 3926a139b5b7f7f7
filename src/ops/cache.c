/* cache.c: documents as readers see them, kept in memory.
 *
 * Entries are found by id through a hash table with chains, and thrown out in the
 * order of their last use when they grow beyond a number of bytes. Belongs to one
 * thread. Does not know how a document is made: commits and reads bring it. */
#include <assert.h>

#include "base/hash.h"
#include "base/list.h"
#include "core/event.h"
#include "core/token.h"
#include "ops/op.h"

enum {
    BUCKETS = 1 << 14,
    MARKS = 1 << 12, /* counters of changes; several ids share one, which only forgets too much */
    ENTRY_BYTES = 200,
};

struct entry {
    struct entry *next;
    struct list used; /* least recently used first */
    uint32_t hash;
    str id;
    struct cached_answer *answer;
};

struct op_cache {
    struct entry **buckets; /* made when there is something to put there */
    struct list used;
    size_t bytes, bytes_max;
    uint32_t marks[MARKS];
};

struct op_cache *op_cache_new(size_t bytes_max)
{
    struct op_cache *c = mem_alloc(sizeof *c);

    memset(c, 0, sizeof *c);
    list_init(&c->used);
    c->bytes_max = bytes_max;
    return c;
}

static uint32_t hash_of(str id)
{
    return hash_bytes(id.at, id.len);
}

static struct entry **slot_of(struct op_cache *c, str id, uint32_t hash)
{
    if (!c->buckets) {
        c->buckets = mem_alloc(BUCKETS * sizeof *c->buckets);
        memset(c->buckets, 0, BUCKETS * sizeof *c->buckets);
    }
    struct entry **at = &c->buckets[hash % BUCKETS];
    while (*at && ((*at)->hash != hash || !str_eq((*at)->id, id)))
        at = &(*at)->next;
    return at;
}

void cached_answer_unref(struct cached_answer *s)
{
    assert(s->refs > 0);
    if (--s->refs > 0)
        return;
    mem_free((char *)s->tool.text.at);
    mem_free(s);
}

static size_t entry_bytes(const struct entry *e)
{
    const struct cached_answer *s = e->answer;

    return ENTRY_BYTES + e->id.len + s->text.len + s->tool.text.len + s->tool.quoted.len;
}

static void entry_drop(struct op_cache *c, struct entry **at)
{
    struct entry *e = *at;

    *at = e->next;
    list_remove(&e->used);
    c->bytes -= entry_bytes(e);
    cached_answer_unref(e->answer);
    mem_free(e);
}

void op_cache_free(struct op_cache *c)
{
    while (!list_empty(&c->used)) {
        struct entry *e = LIST_ENTRY(c->used.next, struct entry, used);
        entry_drop(c, slot_of(c, e->id, e->hash));
    }
    mem_free(c->buckets);
    mem_free(c);
}

static void forget(struct op_cache *c, str id)
{
    uint32_t hash = hash_of(id);
    struct entry **at = slot_of(c, id, hash);

    c->marks[hash % MARKS]++;
    if (*at)
        entry_drop(c, at);
}

static struct cached_answer *answer_new(str text, int64_t version)
{
    struct cached_answer *s = mem_alloc(sizeof *s + text.len);
    char *copy = (char *)(s + 1);

    memcpy(copy, text.at, text.len);
    *s = (struct cached_answer){ .refs = 1, .version = version, .text = { copy, text.len } };
    return s;
}

static void trim(struct op_cache *c)
{
    while (c->bytes > c->bytes_max) {
        struct entry *oldest = LIST_ENTRY(c->used.next, struct entry, used);
        entry_drop(c, slot_of(c, oldest->id, oldest->hash));
    }
}

static void keep(struct op_cache *c, str id, str text, int64_t version)
{
    uint32_t hash = hash_of(id);
    struct entry **at = slot_of(c, id, hash);
    size_t bytes = ENTRY_BYTES + id.len + text.len;

    if (*at)
        entry_drop(c, at);
    if (bytes > c->bytes_max / 4)
        return; /* one document does not throw out all others */
    struct entry *e = mem_alloc(sizeof *e + id.len);
    char *copy = (char *)(e + 1);
    memcpy(copy, id.at, id.len);
    at = &c->buckets[hash % BUCKETS];
    *e = (struct entry){
        .next = *at, .hash = hash, .id = { copy, id.len }, .answer = answer_new(text, version)
    };
    *at = e;
    list_append(&c->used, &e->used);
    c->bytes += bytes;
    trim(c);
}

void op_cache_keep_tool_text(struct op_cache *c, str id, const struct cached_answer *answer,
                             struct tool_text text)
{
    struct entry *e = *slot_of(c, id, hash_of(id));

    if (!e || e->answer != answer || answer->tool.text.len)
        return;
    char *copy = mem_alloc(text.text.len + text.quoted.len);
    memcpy(copy, text.text.at, text.text.len);
    memcpy(copy + text.text.len, text.quoted.at, text.quoted.len);
    e->answer->tool =
        (struct tool_text){ { copy, text.text.len }, { copy + text.text.len, text.quoted.len } };
    c->bytes += text.text.len + text.quoted.len;
    trim(c);
}

struct cached_answer *op_peek(struct op_cache *c, const struct op *op, str id,
                              const struct actor *actor)
{
    if (!op->peek || !actor_reads(actor, id))
        return NULL;
    struct entry *e = *slot_of(c, id, hash_of(id));
    if (!e)
        return NULL;
    list_remove(&e->used);
    list_append(&c->used, &e->used);
    e->answer->refs++;
    return e->answer;
}

uint32_t op_cache_mark(const struct op_cache *c, str id)
{
    return c->marks[hash_of(id) % MARKS];
}

/* What is shown of a state names its session, so it changes with that one, too. */
static void forget_state_of(struct op_cache *c, const struct event *e)
{
    struct arena *a = arena_new();
    const struct json *data;

    if (!json_parse_own(a, e->data, &data))
        forget(c, json_str(data, "workflow_state_id"));
    arena_free(a);
}

void op_cache_written(struct op_cache *c, const struct command *done)
{
    for (const struct event *e = done->events; e; e = e->next) {
        forget(c, e->subject);
        if (e->type == EVENT_SESSION_BOUND || e->type == EVENT_SESSION_DELETED)
            forget_state_of(c, e);
    }
    if (done->answer.cached_id.len && !done->error)
        keep(c, done->answer.cached_id, done->answer.cached, done->answer.version);
}

void op_cache_read(struct op_cache *c, const struct command *done, str id, uint32_t mark)
{
    if (!done->error && done->answer.cached_id.len && str_eq(done->answer.cached_id, id) &&
        op_cache_mark(c, done->answer.cached_id) == mark)
        keep(c, done->answer.cached_id, done->answer.cached, done->answer.version);
}
