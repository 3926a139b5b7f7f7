/* chaos_test.c: sixteen writers, a server that is killed twice a second, and nothing lost.
 *
 * Every write puts the next number of its writer into the writer's slot of a document, and has a
 * key of its own; a writer that got no answer sends the same again until it has one. So at the end
 * each write is known to be there exactly once, with the version that was answered: documents and
 * histories can be compared with the answers, and what subscribers heard with the histories. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "black/black.h"
#include "client/socket.h"
#include "client/ws_client.h"
#include "json_help.h"

enum {
    WRITERS = 16,
    SHARED = WRITERS, /* a state that all write, */
    CAREFUL,          /* and one that they write with expected_version */
    STATES,           /* those before are one for each writer */
    TARGETS = 3,      /* states that one writer writes: its own and the two */
    WINDOW = 4,       /* numbers that a slot shows, the newest last */
    UP_MS = 400,      /* that a server lives, on average */
    READ_EVERY = 8,   /* writes after which a writer reads what it wrote */
    LISTENERS = 2,
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

struct chaos {
    struct black server;
    str ids[STATES];
    atomic_bool over;
    _Atomic int64_t last[STATES]; /* version, when all is written; 0 until then */
};

struct writer {
    struct chaos *chaos;
    int number;
    pthread_t thread;
    struct http_client *client;
    struct arena *arena; /* of one write */
    struct random random;
    struct track tracks[TARGETS];
    int64_t sent_again, conflicts;
};

struct listener {
    struct chaos *chaos;
    bool all; /* of all states, or of the shared one only */
    pthread_t thread;
    int64_t seq; /* of the last event */
    struct version_list heard[STATES];
    int64_t connections;
};

static void wait_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
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
    return target == 0 ? w->number : target == 1 ? SHARED : CAREFUL;
}

/* Asks until there is an answer, whatever happens to the server meanwhile. */
static struct response ask(struct writer *w, const char *method, int state, str key, str body)
{
    struct response_field fields[] = { { STR("Idempotency-Key"), key } };
    struct http_call call = {
        .method = method,
        .target =
            arena_printf(w->arena, "/workflow-states/" STR_FMT, STR_ARG(w->chaos->ids[state])),
        .fields = fields,
        .field_count = key.len ? 1 : 0,
        .body = body,
        .timeout_ms = 20000,
    };
    struct response r;

    while (http_client_call(w->client, w->arena, &call, &r) || r.status == 503) {
        w->sent_again++;
        wait_ms(2);
    }
    return r;
}

static const struct json *parsed(struct arena *a, str text)
{
    const struct json *json;

    CHECK_OK(json_parse(a, text, NULL, &json));
    return json;
}

static const struct json *read_state(struct writer *w, int state)
{
    struct response r = ask(w, "GET", state, STR(""), STR(""));
    CHECK_INT(r.status, 200);
    return parsed(w->arena, r.body);
}

static str body_of(struct writer *w, int64_t n, int64_t expected)
{
    struct buf out = buf_in(w->arena);

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
    struct track *t = &w->tracks[target];
    int state = state_of(w, target), tries = 0;
    int64_t expected = 0;
    struct response r;

    do {
        if (state == CAREFUL)
            expected = json_int_or(read_state(w, state), "version", 0);
        str key = arena_printf(w->arena, "%d-%d-%lld-%d", w->number, target,
                               (long long)(t->count + 1), tries);
        r = ask(w, "PATCH", state, key, body_of(w, t->count + 1, expected));
        w->conflicts += tries++ > 0;
    } while (r.status == 409 && state == CAREFUL);
    if (r.status != 200)
        check_fail(__FILE__, __LINE__, "writer %d: status %d: " STR_FMT, w->number, r.status,
                   STR_ARG(r.body));
    int64_t version = json_int_or(parsed(w->arena, r.body), "version", 0);
    if (expected)
        CHECK_INT(version, expected + 1);
    t->versions = grown(t->versions, t->count, sizeof *t->versions);
    t->versions[t->count++] = version;
}

/* Nobody else writes the writer's own state, so it is exactly as it left it. */
static void read_own(struct writer *w)
{
    const struct track *t = &w->tracks[0];
    const struct json *state = read_state(w, w->number);

    CHECK_INT(json_int_or(state, "version", 0), t->count + 1);
    const struct json *slots = json_get(json_get(state, "current_data"), "slots");
    const struct json *slot = json_find(slots, arena_printf(w->arena, "%d", w->number));
    int64_t newest = -1;
    CHECK(json_is(slot, JSON_ARRAY) && slot->len == WINDOW);
    CHECK(json_to_int(json_at(slot, WINDOW - 1), &newest));
    CHECK_INT(newest, t->count);
}

static void *writer_run(void *self)
{
    struct writer *w = self;

    w->arena = arena_new();
    w->client = http_client_new(&w->chaos->server.place);
    while (!w->chaos->over) {
        uint32_t choice = random_below(&w->random, 4);
        write_next(w, choice < 2 ? 0 : (int)choice - 1);
        if (random_below(&w->random, READ_EVERY) == 0)
            read_own(w);
        arena_reset(w->arena);
    }
    http_client_free(w->client);
    arena_free(w->arena);
    return NULL;
}

/* ---- versions as they are shown ---- */

static int state_named(const struct chaos *c, str id)
{
    for (int i = 0; i < STATES; i++)
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
    CHECK(str_to_int(number, &writer) && writer < WRITERS);
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
    for (int i = 0; i < STATES; i++)
        if ((l->all || i == SHARED) &&
            (l->chaos->last[i] == 0 || l->heard[i].count < l->chaos->last[i]))
            return false;
    return true;
}

/* Hears until the connection is lost, or nothing comes for a while, or it has heard all. */
static void listen_once(struct listener *l, struct arena *a)
{
    struct ws_client *ws;
    str text = l->all
                   ? arena_printf(a, "{\"action\":\"subscribe\",\"after\":%lld}", (long long)l->seq)
                   : arena_printf(a,
                                  "{\"action\":\"subscribe\",\"state_id\":\"" STR_FMT
                                  "\",\"after\":%lld}",
                                  STR_ARG(l->chaos->ids[SHARED]), (long long)l->seq);

    if (ws_client_open(a, &l->chaos->server.place, "/ws", 5000, &ws)) {
        wait_ms(5);
        return;
    }
    l->connections++;
    err e = ws_client_send(ws, a, text, 5000);
    while (!e && !has_heard_all(l)) {
        str message;
        e = ws_client_next(ws, a, 1000, &message);
        if (!e)
            hear(l, parsed(a, message));
        arena_reset(a);
    }
    ws_client_free(ws);
}

static void *listener_run(void *self)
{
    struct arena *a = arena_new();

    while (!has_heard_all(self)) {
        listen_once(self, a);
        arena_reset(a);
    }
    arena_free(a);
    return NULL;
}

/* ---- the server's fate ---- */

static int64_t soak_seconds(void)
{
    const char *text = getenv("BATON_SOAK_SECONDS");
    return text ? atoll(text) : BLACK_SANITIZED ? 4 : 15;
}

/* About twice a second, where a start takes a tenth of one, and never before there was time to work
 * for a while. */
static int kill_now_and_then(struct chaos *c, struct random *random)
{
    int64_t end = socket_clock_ms() + soak_seconds() * 1000;
    int kills = 0;

    for (; socket_clock_ms() < end; kills++) {
        wait_ms(UP_MS / 2 + (long)random_below(random, UP_MS));
        black_kill(&c->server);
        black_start(&c->server);
    }
    return kills;
}

/* ---- comparing ---- */

static struct version_list history_of(const struct chaos *c, int state)
{
    struct version_list newest_first = { 0 };
    int64_t after = 0;

    do {
        str route = arena_printf(check_arena(), "GET /workflow-states/" STR_FMT "/history?limit=%d",
                                 STR_ARG(c->ids[state]), PAGE);
        if (after)
            route = arena_printf(check_arena(), STR_FMT "&after=%lld", STR_ARG(route),
                                 (long long)after);
        const struct json *page = black_expect(&c->server, 200, route.at, "");
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

    for (int w = 0; w < WRITERS; w++)
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

static void check_document(const struct chaos *c, const struct writer *writers, int state)
{
    const struct json *doc =
        json_get(black_expect(&c->server, 200, black_route("GET", c->ids[state]), ""),
                 "current_data");

    for (int w = 0; w < WRITERS; w++) {
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

/* ---- the test ---- */

static void states_make(struct chaos *c)
{
    struct buf data = buf_in(check_arena());

    for (int w = 0; w < WRITERS; w++)
        buf_printf(&data, "%s'%d':[0,0,0,0]", w ? "," : "{'slots':{", w);
    buf_add(&data, STR("}}"));
    black_add_schema(&c->server);
    for (int i = 0; i < STATES; i++)
        c->ids[i] = black_add_state(&c->server, buf_str(&data).at);
}

static void check_all(const struct chaos *c, struct writer *writers, struct listener *listeners)
{
    for (int i = 0; i < STATES; i++) {
        struct version_list history = history_of(c, i);
        check_history(&history, writers, i);
        check_document(c, writers, i);
        for (int l = 0; l < LISTENERS; l++) {
            if (listeners[l].all || i == SHARED)
                check_heard(&history, &listeners[l].heard[i]);
            mem_free(listeners[l].heard[i].items);
        }
        mem_free(history.items);
    }
}

static void tell(const struct writer *writers, const struct listener *listeners, int kills)
{
    int64_t written = 0, again = 0, conflicts = 0;

    for (int w = 0; w < WRITERS; w++) {
        for (int target = 0; target < TARGETS; target++) {
            written += writers[w].tracks[target].count;
            mem_free(writers[w].tracks[target].versions);
        }
        again += writers[w].sent_again;
        conflicts += writers[w].conflicts;
    }
    check_note("%d kills, %lld writes acknowledged, %lld requests sent again, %lld conflicts",
               kills, (long long)written, (long long)again, (long long)conflicts);
    check_note("%lld events heard in order over %lld connections", (long long)listeners[0].seq,
               (long long)listeners[0].connections);
    CHECK(kills > 0 && again > 0 && written > WRITERS);
}

TEST_LIMIT(nothing_acknowledged_is_lost_or_doubled_by_a_server_that_is_killed_again_and_again, 240)
{
    static const char *const args[] = { "--set", "versions_kept=10000000", NULL };
    static struct chaos c = { .server = { .args = args } };
    static struct writer writers[WRITERS];
    static struct listener listeners[LISTENERS];
    struct random random = random_start();

    black_start(&c.server);
    states_make(&c);
    for (int i = 0; i < LISTENERS; i++) {
        listeners[i] = (struct listener){ .chaos = &c, .all = i == 0 };
        CHECK(pthread_create(&listeners[i].thread, NULL, listener_run, &listeners[i]) == 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        writers[i] =
            (struct writer){ .chaos = &c, .number = i, .random = { random_next(&random) } };
        CHECK(pthread_create(&writers[i].thread, NULL, writer_run, &writers[i]) == 0);
    }
    int kills = kill_now_and_then(&c, &random);
    c.over = true;
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
    for (int i = 0; i < STATES; i++)
        c.last[i] = json_int_or(black_expect(&c.server, 200, black_route("GET", c.ids[i]), ""),
                                "version", 0);
    for (int i = 0; i < LISTENERS; i++)
        pthread_join(listeners[i].thread, NULL);
    check_all(&c, writers, listeners);
    tell(writers, listeners, kills);
    black_stop(&c.server);
}
