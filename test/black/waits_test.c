/* waits_test.c: many who wait for what is written again and again meanwhile. */
#include <pthread.h>

#include "black/black.h"

enum {
    WAITERS = 10,
    CALLS = 20,
    CALLS_WRITES = 80,
    WRITES = BLACK_SANITIZED ? 20 : 150,
    TEXT_BYTES = BLACK_SANITIZED ? 200000 : 900000,
    GROWTH_MIB = BLACK_SANITIZED ? 400 : 120,
};

#define META                                                           \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'," \
    "'io.modelcontextprotocol/clientCapabilities':{},'progressToken':'p'}"

/* A state with a text of so many bytes. */
static str state_of(const struct black *b, size_t bytes)
{
    struct buf data = buf_in(check_arena());

    buf_add(&data, STR("{'text':'"));
    memset(buf_reserve(&data, bytes), 'x', bytes);
    data.len += bytes;
    buf_add(&data, STR("'}"));
    return black_add_state(b, buf_str(&data).at);
}

/* Each write is a version more. */
static void write_often(const struct black *b, str id, int writes)
{
    for (int i = 0; i < writes; i++)
        black_expect(b, 200, black_route("PATCH", id),
                     "{'operations':[{'op':'add','path':'/seen','value':true}],'touch':true}");
}

static struct peer poll_open(const struct black *b, str id, int version)
{
    struct peer p = peer_open(b, check_arena());
    str route = arena_printf(check_arena(), "GET /workflow-states/" STR_FMT "?wait_version=%d",
                             STR_ARG(id), version);

    peer_send(&p, arena_printf(check_arena(), STR_FMT "\r\n",
                               STR_ARG(peer_head(check_arena(), b, route.at))));
    return p;
}

/* A poll that is woken looks at the document again. What it needed for that is not kept for the next
 * time. */
TEST_LIMIT(long_poll_that_is_woken_often_holds_no_more_than_one_that_is_not, 90)
{
    struct black b = { 0 };
    struct peer peers[WAITERS];

    black_start(&b);
    black_add_schema(&b);
    str id = state_of(&b, TEXT_BYTES);
    for (int i = 0; i < WAITERS; i++)
        peers[i] = poll_open(&b, id, WRITES + 2);
    write_often(&b, id, 2); /* all were woken once, and hold what they hold */
    long before = black_memory(&b);
    write_often(&b, id, WRITES - 2);
    long growth = (black_memory(&b) - before) >> 10;
    check_note("%d polls of %d bytes, woken %d times: %ld MiB more memory", WAITERS, TEXT_BYTES,
               WRITES, growth);
    CHECK(growth < GROWTH_MIB);
    write_often(&b, id, 1);
    for (int i = 0; i < WAITERS; i++) {
        CHECK_INT(peer_next(&peers[i]).status, 200);
        peer_close(&peers[i]);
    }
    black_stop(&b);
}

static struct peer call_open(const struct black *b, str id, int version)
{
    struct peer p = peer_open(b, check_arena());
    str body = quotes_double(
        check_arena(),
        arena_printf(check_arena(),
                     "{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'state_read',"
                     "'arguments':{'state_id':'" STR_FMT "','wait_version':%d,'timeout':40}," META
                     "}}",
                     STR_ARG(id), version)
            .at);

    peer_send(&p, arena_printf(check_arena(),
                               STR_FMT "Content-Type: application/json\r\n"
                                       "Accept: application/json, text/event-stream\r\n"
                                       "MCP-Protocol-Version: 2026-07-28\r\n"
                                       "Mcp-Method: tools/call\r\nMcp-Name: state_read\r\n"
                                       "Content-Length: %zu\r\n\r\n" STR_FMT,
                               STR_ARG(peer_head(check_arena(), b, "POST /mcp")), body.len,
                               STR_ARG(body)));
    return p;
}

struct writing {
    const struct black *server;
    str id;
    pthread_t thread;
};

static void *write_all(void *self)
{
    struct writing *w = self;

    write_often(w->server, w->id, CALLS_WRITES);
    return NULL;
}

/* The first sign of life makes a stream of an answer. Of some calls it is due while they are looked at
 * again: the writes go on from before the first call until all were made. */
TEST_LIMIT(calls_that_are_woken_when_signs_of_life_are_due_are_answered, 90)
{
    struct black b = { .args = (const char *[]){ "--set", "mcp_progress_time=50ms", NULL } };
    struct peer peers[CALLS];
    struct writing w = { .server = &b };

    black_start(&b);
    black_add_schema(&b);
    w.id = state_of(&b, 50000);
    CHECK(pthread_create(&w.thread, NULL, write_all, &w) == 0);
    for (int i = 0; i < CALLS; i++)
        peers[i] = call_open(&b, w.id, CALLS_WRITES + 2);
    pthread_join(w.thread, NULL);
    write_often(&b, w.id, 1);
    for (int i = 0; i < CALLS; i++) {
        struct response r = peer_next(&peers[i]);
        CHECK_INT(r.status, 200);
        CHECK_HAS(r.body, "\"result\":");
        peer_close(&peers[i]);
    }
    black_stop(&b);
}
