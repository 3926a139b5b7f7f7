/* chaos.c: writers and subscribers to whom nothing may get lost, whatever happens to the servers. */
#include "black/roaming_client.h"

#include <pthread.h>
#include <stdlib.h>

#include "client/ws_client.h"

enum {
    TARGETS = 3,    /* states that one writer writes: its own and the two */
    WINDOW = 4,     /* numbers that a slot shows, the newest last */
    READ_EVERY = 8, /* writes after which a writer reads what it wrote */
    LISTENERS = 2,
    STAY = 200, /* messages after which a subscriber goes to another node, at most */
    PAGE = 500,
};

/* Of one writer in one state: versions[n - 1] is what was answered to its n-th write. */
struct track {
    int64_t *versions;
    int64_t count;
};

/* A version as history or an event shows it. */
struct entry {
    int64_t seq;
    int writer;
    int64_t n;
};

struct version_list {
    struct entry *items; /* of version 1, 2, … */
    int64_t count;
};

struct writer {
    struct roaming_client client;
    int number;
    pthread_t thread;
    struct track tracks[TARGETS];
    int64_t conflicts;
};

struct listener {
    struct chaos *chaos;
    bool all; /* of all states, or of the shared one only */
    pthread_t thread;
    struct random random;
    int node;
    int64_t seq; /* of the last event */
    struct version_list heard[CHAOS_STATES];
    int64_t connections;
};

int64_t chaos_ms(int seconds, int sanitized_seconds)
{
    const char *text = getenv("BATON_SOAK_SECONDS");
    return 1000 * (text ? atoll(text) : BLACK_SANITIZED ? sanitized_seconds : seconds);
}

static void *grown(void *items, int64_t count, size_t size)
{
    bool is_full = (count & (count - 1)) == 0; /* 0 or a power of two */
    return is_full ? mem_grow(items, (size_t)(count ? 2 * count : 1) * size) : items;
}

static int64_t window_at(int64_t count, int i)
{
    int64_t n = count - WINDOW + 1 + i;
    return n > 0 ? n : 0;
}

/* ---- writers ---- */

static int state_of(const struct writer *w, int target)
{
    return target == 0 ? w->number : target == 1 ? CHAOS_SHARED : CHAOS_CAREFUL;
}

static str body_of(struct writer *w, int64_t n, int64_t expected)
{
    struct buf out = buf_in(w->client.arena);

    buf_printf(&out,
               "{\"operations\":[{\"op\":\"add\",\"path\":\"/slots/%d/-\",\"value\":%lld},"
               "{\"op\":\"remove\",\"path\":\"/slots/%d/0\"}]",
               w->number, (long long)n, w->number);
    if (expected)
        buf_printf(&out, ",\"expected_version\":%lld", (long long)expected);
    buf_byte(&out, '}');
    return buf_str(&out);
}

/* Until it is done. A write that comes too late for its version was not done, also when an earlier
 * answer to it was lost: had it been done, its key would be answered as it was then. */
static void write_next(struct writer *w, int target)
{
    struct roaming_client *v = &w->client;
    struct track *t = &w->tracks[target];
    int state = state_of(w, target), tries = 0;
    int64_t expected = 0;
    struct response r;

    do {
        if (state == CHAOS_CAREFUL)
            expected = json_int_or(roaming_client_read(v, state, ""), "version", 0);
        str key = arena_printf(v->arena, "%d-%d-%lld-%d", w->number, target,
                               (long long)(t->count + 1), tries);
        r = roaming_client_ask(v, "PATCH", state, "", key, body_of(w, t->count + 1, expected));
        w->conflicts += tries++ > 0;
    } while (r.status == 409 && state == CHAOS_CAREFUL);
    if (r.status != 200)
        check_fail(__FILE__, __LINE__, "writer %d: status %d: " STR_FMT, w->number, r.status,
                   STR_ARG(r.body));
    int64_t version = json_int_or(json_parsed(v->arena, r.body), "version", 0);
    if (expected)
        CHECK_INT(version, expected + 1);
    chaos_shown(v->chaos, state, version);
    t->versions = grown(t->versions, t->count, sizeof *t->versions);
    t->versions[t->count++] = version;
}

/* Nobody else writes the writer's own state, so it is exactly as it left it. */
static void read_own(struct writer *w)
{
    const struct track *t = &w->tracks[0];
    const struct json *state = roaming_client_read(&w->client, w->number, "");

    CHECK_INT(json_int_or(state, "version", 0), t->count + 1);
    const struct json *slots = json_get(json_get(state, "current_data"), "slots");
    const struct json *slot = json_find(slots, arena_printf(w->client.arena, "%d", w->number));
    int64_t newest = -1;
    CHECK(json_is(slot, JSON_ARRAY) && slot->len == WINDOW);
    CHECK(json_to_int(json_at(slot, WINDOW - 1), &newest));
    CHECK_INT(newest, t->count);
}

static void *writer_run(void *self)
{
    struct writer *w = self;
    struct roaming_client *v = &w->client;

    arena_take(v->arena);
    while (!v->chaos->over) {
        uint32_t choice = random_below(&v->random, 4);
        write_next(w, choice < 2 ? 0 : (int)choice - 1);
        if (random_below(&v->random, READ_EVERY) == 0) {
            roaming_client_move(v);
            read_own(w);
        }
        arena_reset(v->arena);
    }
    roaming_client_close(v);
    return NULL;
}

/* ---- versions as they are shown ---- */

static int state_named(const struct chaos *c, str id)
{
    for (int i = 0; i < CHAOS_STATES; i++)
        if (str_eq(c->ids[i], id))
            return i;
    return -1;
}

/* What a patch did: it made the state, or it is a write as body_of makes them. */
static struct entry entry_of(const struct json *shown)
{
    const struct json *add = json_at(json_get(shown, "patch"), 0);
    struct entry e = { .seq = json_int_or(shown, "seq", 0), .writer = -1 };
    str path = json_str(add, "path"), number;
    int64_t writer;

    if (path.len == 0)
        return e;
    str_cut(str_slice(path, strlen("/slots/"), path.len), '/', &number, &path);
    CHECK(str_to_int(number, &writer) && writer < CHAOS_WRITERS);
    CHECK_STR(path, "-");
    e.writer = (int)writer;
    e.n = json_int_or(add, "value", 0);
    return e;
}

static void version_add(struct version_list *l, struct entry e)
{
    l->items = grown(l->items, l->count, sizeof *l->items);
    l->items[l->count++] = e;
}

/* ---- subscribers ---- */

static void hear(struct listener *l, const struct json *message)
{
    int state = state_named(l->chaos, json_str(message, "state_id"));
    int64_t seq = json_int_or(message, "seq", 0);

    CHECK(!str_eq(json_str(message, "type"), STR("reset")));
    CHECK(!str_eq(json_str(message, "type"), STR("error")));
    if (!json_get(message, "event_type"))
        return;
    CHECK(seq > l->seq);
    if (l->all)
        CHECK_INT(seq, l->seq + 1);
    l->seq = seq;
    if (state < 0)
        return; /* of the schema, or of the server's own work */
    CHECK_INT(json_int_or(message, "version", 0), l->heard[state].count + 1);
    version_add(&l->heard[state], entry_of(message));
}

static bool has_heard_all(const struct listener *l)
{
    for (int i = 0; i < CHAOS_STATES; i++)
        if ((l->all || i == CHAOS_SHARED) &&
            (l->chaos->last[i] == 0 || l->heard[i].count < l->chaos->last[i]))
            return false;
    return true;
}

static str wish_of(const struct listener *l, struct arena *a)
{
    struct buf out = buf_in(a);

    buf_printf(&out, "{\"action\":\"subscribe\",\"after\":%lld", (long long)l->seq);
    if (!l->all)
        buf_printf(&out, ",\"state_id\":\"" STR_FMT "\"", STR_ARG(l->chaos->ids[CHAOS_SHARED]));
    buf_byte(&out, '}');
    return buf_str(&out);
}

/* Hears until the connection is lost, or nothing comes for a while, or it has heard all; or until
 * it has heard enough here, and goes on with another node. */
static void listen_once(struct listener *l, struct arena *a)
{
    const struct chaos *c = l->chaos;
    uint32_t stay = c->node_count > 1 ? random_below(&l->random, STAY) : UINT32_MAX;
    struct ws_client *ws;

    if (ws_client_open(a, &c->nodes[l->node].endpoint, "/ws", c->patience_ms, &ws)) {
        chaos_wait_ms(5);
        return;
    }
    l->connections++;
    err e = ws_client_send(ws, a, wish_of(l, a), c->patience_ms);
    while (!e && stay-- > 0 && !has_heard_all(l)) {
        str message;
        e = ws_client_next(ws, a, 1000, &message);
        if (!e)
            hear(l, json_parsed(a, message));
        arena_reset(a);
    }
    ws_client_free(ws);
}

static void *listener_run(void *self)
{
    struct listener *l = self;
    struct arena *a = arena_new();

    while (!has_heard_all(l)) {
        listen_once(l, a);
        l->node = chaos_other_node(l->chaos, l->node, &l->random);
        arena_reset(a);
    }
    arena_free(a);
    return NULL;
}

/* ---- comparing ---- */

static struct version_list history_of(const struct chaos *c, const struct black *node, int state)
{
    struct version_list newest_first = { 0 };
    int64_t after = 0;

    do {
        str route = arena_printf(check_arena(), "GET /workflow-states/" STR_FMT "/history?limit=%d",
                                 STR_ARG(c->ids[state]), PAGE);
        if (after)
            route = arena_printf(check_arena(), STR_FMT "&after=%lld", STR_ARG(route),
                                 (long long)after);
        const struct json *page = black_ask_until(node, 200, route.at, "").body;
        const struct json *versions = json_get(page, "versions");
        for (uint32_t i = 0; i < versions->len; i++) {
            const struct json *shown = json_at(versions, i);
            CHECK_INT(json_int_or(shown, "version", 0), c->last[state] - newest_first.count);
            version_add(&newest_first, entry_of(shown));
        }
        after = json_int_or(page, "next", 0);
    } while (after);
    CHECK_INT(newest_first.count, c->last[state]);

    struct version_list all = { 0 };
    for (int64_t i = newest_first.count; i > 0; i--)
        version_add(&all, newest_first.items[i - 1]);
    mem_free(newest_first.items);
    return all;
}

/* Each acknowledged write is the version that was answered, and there are no other versions. */
static void check_history(const struct version_list *history, const struct writer *writers,
                          int state)
{
    int64_t known = 1;

    for (int w = 0; w < CHAOS_WRITERS; w++)
        for (int target = 0; target < TARGETS; target++) {
            const struct track *t = &writers[w].tracks[target];
            if (state_of(&writers[w], target) != state)
                continue;
            for (int64_t i = 0; i < t->count; i++) {
                CHECK(t->versions[i] > 1 && t->versions[i] <= history->count);
                const struct entry *e = &history->items[t->versions[i] - 1];
                CHECK_INT(e->writer, w);
                CHECK_INT(e->n, i + 1);
            }
            known += t->count;
        }
    CHECK_INT(history->count, known);
}

static void check_heard(const struct version_list *history, const struct version_list *heard)
{
    CHECK_INT(heard->count, history->count);
    for (int64_t i = 0; i < history->count; i++) {
        CHECK_INT(heard->items[i].seq, history->items[i].seq);
        CHECK_INT(heard->items[i].writer, history->items[i].writer);
        CHECK_INT(heard->items[i].n, history->items[i].n);
    }
}

static void check_document(const struct chaos *c, const struct black *node, int state)
{
    const struct json *doc =
        json_get(black_ask_until(node, 200, black_route("GET", c->ids[state]), "").body,
                 "current_data");
    const struct writer *writers = c->writers;

    for (int w = 0; w < CHAOS_WRITERS; w++) {
        const struct json *slot =
            json_find(json_get(doc, "slots"), arena_printf(check_arena(), "%d", w));
        int64_t count = 0, found;
        for (int target = 0; target < TARGETS; target++)
            if (state_of(&writers[w], target) == state)
                count = writers[w].tracks[target].count;
        CHECK_INT(slot->len, WINDOW);
        for (int i = 0; i < WINDOW; i++) {
            CHECK(json_to_int(json_at(slot, (size_t)i), &found));
            CHECK_INT(found, window_at(count, i));
        }
    }
}

static void check_state(const struct chaos *c, const struct black *node, int state)
{
    struct version_list history = history_of(c, node, state);

    check_history(&history, c->writers, state);
    check_document(c, node, state);
    for (int l = 0; l < LISTENERS; l++)
        if (c->listeners[l].all || state == CHAOS_SHARED)
            check_heard(&history, &c->listeners[l].heard[state]);
    mem_free(history.items);
}

/* ---- from the beginning to the end ---- */

static void states_make(struct chaos *c)
{
    struct buf data = buf_in(check_arena());

    for (int w = 0; w < CHAOS_WRITERS; w++)
        buf_printf(&data, "%s'%d':[0,0,0,0]", w ? "," : "{'slots':{", w);
    buf_add(&data, STR("}}"));
    black_add_schema(&c->nodes[0]);
    for (int i = 0; i < CHAOS_STATES; i++)
        c->ids[i] = black_add_state(&c->nodes[0], buf_str(&data).at);
}

void chaos_begin(struct chaos *c, struct random *random)
{
    states_make(c);
    c->listeners = ARENA_ARRAY(check_arena(), struct listener, LISTENERS);
    c->writers = ARENA_ARRAY(check_arena(), struct writer, CHAOS_WRITERS);
    for (int i = 0; i < LISTENERS; i++) {
        struct listener *l = &c->listeners[i];
        *l = (struct listener){ .chaos = c, .all = i == 0, .random = { random_next(random) } };
        CHECK(pthread_create(&l->thread, NULL, listener_run, l) == 0);
    }
    for (int i = 0; i < CHAOS_WRITERS; i++) {
        struct writer *w = &c->writers[i];
        *w = (struct writer){ .number = i };
        roaming_client_open(&w->client, c, random_next(random));
        CHECK(pthread_create(&w->thread, NULL, writer_run, w) == 0);
    }
}

/* Writers first: then it is known what there is to hear. */
static void join_all(struct chaos *c)
{
    c->over = true;
    for (int i = 0; i < CHAOS_WRITERS; i++)
        pthread_join(c->writers[i].thread, NULL);
    for (int i = 0; i < CHAOS_STATES; i++)
        c->last[i] =
            json_int_or(black_ask_until(&c->nodes[0], 200, black_route("GET", c->ids[i]), "").body,
                        "version", 0);
    for (int i = 0; i < LISTENERS; i++)
        pthread_join(c->listeners[i].thread, NULL);
}

static void tell(const struct chaos *c, const char *before)
{
    const struct listener *all = &c->listeners[0];
    int64_t written = 0, again = 0, conflicts = 0;

    for (const struct writer *w = c->writers; w < c->writers + CHAOS_WRITERS; w++) {
        for (int target = 0; target < TARGETS; target++)
            written += w->tracks[target].count;
        again += w->client.sent_again;
        conflicts += w->conflicts;
    }
    check_note("%s, %lld writes acknowledged, %lld requests sent again, %lld conflicts", before,
               (long long)written, (long long)again, (long long)conflicts);
    check_note("%lld events heard in order over %lld connections", (long long)all->seq,
               (long long)all->connections);
    CHECK((again > 0 || c->calm) && written > CHAOS_WRITERS);
}

void chaos_end(struct chaos *c, const char *before)
{
    join_all(c);
    for (int node = 0; node < c->node_count; node++)
        for (int i = 0; i < CHAOS_STATES; i++)
            check_state(c, &c->nodes[node], i);
    tell(c, before);
    for (int w = 0; w < CHAOS_WRITERS; w++)
        for (int target = 0; target < TARGETS; target++)
            mem_free(c->writers[w].tracks[target].versions);
    for (int l = 0; l < LISTENERS; l++)
        for (int i = 0; i < CHAOS_STATES; i++)
            mem_free(c->listeners[l].heard[i].items);
}
