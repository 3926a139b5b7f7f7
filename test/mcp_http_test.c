/* mcp_http_test.c: /mcp over HTTP: who is let in, what is answered how, and what becomes of those
 * who wait, listen, leave or are slow. */
#include "mcp_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include "json_help.h"
#include "wire/mcp/private.h"

#define BOTH_TYPES "Accept: application/json, text/event-stream|"
#define OK_JSON "HTTP/1.1 200 OK|*Content-Type: application/json|*"
#define OK_STREAM                                                              \
    "HTTP/1.1 200 OK|Content-Type: text/event-stream|Cache-Control: no-cache|" \
    "X-Accel-Buffering: no|Connection: close||"

#define DISCOVER "{'jsonrpc':'2.0','id':1,'method':'server/discover','params':{" MODERN "}}"
#define CALL_HEAD(name) MODERN_HEAD("tools/call") "Mcp-Name: " name "|"

/* ---- who is let in ---- */

// clang-format off
static const struct {
    const char *head, *heard;
} strangers[] = {
    { "Host: localhost|Content-Type: application/json|",                             "HTTP/1.1 401 *" },
    { "Host: localhost|Authorization: Bearer x|Content-Type: application/json|",     "HTTP/1.1 401 *" },
    { "Host: evil.example|Authorization: Bearer OP|Content-Type: application/json|", "HTTP/1.1 421 *" },
    { "Host: localhost|Origin: http://evil.example|Authorization: Bearer OP|Content-Type: application/json|",
      "HTTP/1.1 403 *" },
    { "Host: localhost|Authorization: Bearer OP|",                                   "HTTP/1.1 415 *application/json*" },
    { "Host: localhost|Authorization: Bearer OP|Content-Type: text/plain|",          "HTTP/1.1 415 *" },
    { "Host: localhost|Authorization: Bearer OP|Content-Type: application/json|Content-Encoding: gzip|",
      "HTTP/1.1 415 *Content-Encoding*" },
    { "Host: localhost|Authorization: Bearer OP|Content-Type: application/json|Accept: text/html|",
      "HTTP/1.1 406 *expected Accept to allow application/json*" },
    { "Host: localhost|Origin: http://localhost|Authorization: Bearer OP|Content-Type: application/json|",
      "HTTP/1.1 400 *'jsonrpc':'2.0'*" },
};
// clang-format on

static str with_token(struct mcp_server *s, const char *text)
{
    struct buf out = buf_in(check_arena());
    str rest = str_from(text);

    for (; rest.len; rest = str_slice(rest, 1, rest.len)) {
        if (str_starts(rest, STR("OP|"))) {
            buf_add(&out, s->operator_token);
            rest = str_slice(rest, 1, rest.len);
        } else {
            buf_byte(&out, rest.at[0]);
        }
    }
    return buf_str(&out);
}

TEST(mcp_lets_in_who_shows_a_token_and_comes_from_here)
{
    struct mcp_server *s = mcp_server_open(NULL, false);

    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        struct mcp_peer *p = mcp_peer_new(s);
        str head = with_token(s, strangers[i].head);
        mcp_peer_say(p,
                     text_wire(arena_printf(check_arena(),
                                            "POST /mcp HTTP/1.1|" STR_FMT "Content-Length: 2||{}",
                                            STR_ARG(head))
                                   .at));
        CHECK_PEER(p, strangers[i].heard);
        mcp_peer_close(p);
    }
    CHECK_INT(s->performed, 0);
    mcp_server_close(s);
}

TEST(mcp_has_three_methods)
{
    static const struct {
        const char *method, *heard;
    } cases[] = {
        { "PUT", "HTTP/1.1 405 *Allow: GET, POST, DELETE, OPTIONS|*" },
        { "HEAD", "HTTP/1.1 405 *Allow: GET, POST, DELETE, OPTIONS|*" },
        { "OPTIONS", "HTTP/1.1 204 *Allow: GET, POST, DELETE, OPTIONS|*" },
        { "GET", "HTTP/1.1 405 *Allow: POST, OPTIONS|*" },
        { "DELETE", "HTTP/1.1 405 *Allow: POST, OPTIONS|*" },
    };
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mcp_peer_say(p, text_wire(with_token(s, arena_printf(check_arena(),
                                                             "%s /mcp HTTP/1.1|Host: localhost|"
                                                             "Authorization: Bearer OP||",
                                                             cases[i].method)
                                                    .at)
                                      .at));
        CHECK_PEER(p, cases[i].heard);
    }
    mcp_peer_close(p);
    mcp_server_close(s);
}

/* ---- one message, one answer ---- */

TEST(mcp_answers_with_one_json_text_and_keeps_the_connection)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);

    for (int i = 0; i < 2; i++) {
        mcp_peer_post(p, MODERN_HEAD("server/discover"), DISCOVER);
        CHECK_PEER(p, OK_JSON "{'jsonrpc':'2.0','id':1,'result':{*supportedVersions*}}");
    }
    mcp_peer_post(p, MODERN_HEAD("no/such"),
                  "{'jsonrpc':'2.0','id':2,'method':'no/such','params':{" MODERN "}}");
    CHECK_PEER(p, "HTTP/1.1 404 Not Found|*'id':2,'error':{'code':-32601*");
    mcp_peer_post(p, "", "{'jsonrpc':'2.0','id':2,");
    CHECK_PEER(p, "HTTP/1.1 400 Bad Request|*'error':{'code':-32700*");
    mcp_peer_post(p, MODERN_HEAD("notifications/x"),
                  "{'jsonrpc':'2.0','method':'notifications/x','params':{" MODERN "}}");
    CHECK_PEER(p, "HTTP/1.1 202 Accepted|*Content-Length: 0||");
    mcp_peer_close(p);
    mcp_server_close(s);
}

static const char *call(const char *tool, const char *arguments, const char *meta)
{
    return arena_printf(check_arena(),
                        "{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'%s',"
                        "'arguments':%s,%s}}",
                        tool, arguments, meta)
        .at;
}

static const char *of_state(struct mcp_server *s, const char *more)
{
    return arena_printf(check_arena(), "{'state_id':'" STR_FMT "'%s}", STR_ARG(s->state_id), more)
        .at;
}

/* What a writer said last is what the next one reads, out of memory. */
TEST(mcp_reads_out_of_the_cache_what_was_written)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);

    mcp_peer_post(p, CALL_HEAD("state_read"), call("state_read", of_state(s, ""), MODERN));
    CHECK_PEER(p, OK_JSON "*'id':7,'result':{*title*}}");
    int performed = s->performed;
    uint64_t hits = s->server->cache_hits;
    mcp_peer_post(p, CALL_HEAD("state_read"), call("state_read", of_state(s, ""), MODERN));
    CHECK_PEER(p, OK_JSON "*'id':7,'result':{*title*}}");
    CHECK_INT(s->performed, performed);
    CHECK_INT(s->server->cache_hits, hits + 1);
    mcp_peer_post(p, CALL_HEAD("state_patch"),
                  call("state_patch",
                       of_state(s,
                                ",'operations':[{'op':'replace','path':'/title','value':'new'}]"),
                       MODERN));
    CHECK_PEER(p, OK_JSON "*'id':7,'result':{*");
    mcp_peer_post(p, CALL_HEAD("state_read"), call("state_read", of_state(s, ""), MODERN));
    CHECK_PEER(p, OK_JSON "*new*}}");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_takes_its_requests_in_any_pieces)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);
    str bytes = mcp_post(s->operator_token, BOTH_TYPES CALL_HEAD("state_read"),
                         call("state_read", of_state(s, ""), MODERN));

    for (size_t cut = 1; cut < bytes.len; cut += 7) {
        mcp_peer_say(p, str_slice(bytes, 0, cut));
        CHECK_INT(p->heard.len, 0);
        mcp_peer_say(p, str_slice(bytes, cut, bytes.len));
        CHECK_PEER(p, OK_JSON "*'id':7,'result':{*title*}}");
    }
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_answers_requests_that_come_together_in_their_order)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);
    struct buf both = buf_in(check_arena());

    buf_add(&both, mcp_post(s->operator_token, BOTH_TYPES CALL_HEAD("state_read"),
                            call("state_read", of_state(s, ""), MODERN)));
    buf_add(&both,
            mcp_post(s->operator_token, BOTH_TYPES MODERN_HEAD("server/discover"), DISCOVER));
    mcp_peer_say(p, buf_str(&both));
    CHECK_PEER(p, OK_JSON "*'id':7,*HTTP/1.1 200 OK|*'id':1,*");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_says_so_when_there_is_no_room_for_a_command)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);

    s->full = true;
    mcp_peer_post(p, CALL_HEAD("state_read"), call("state_read", of_state(s, ""), MODERN));
    CHECK_PEER(p, OK_JSON "*'isError':true*");
    s->full = false;
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_does_not_show_one_session_the_state_of_another)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);
    str token = mcp_server_session(s, "alone", STR(""));

    mcp_peer_say(p, mcp_post(token, BOTH_TYPES CALL_HEAD("state_read"),
                             call("state_read", of_state(s, ""), MODERN)));
    CHECK_PEER(p, OK_JSON "*'isError':true*");
    mcp_peer_close(p);
    mcp_server_close(s);
}

/* How many commands a read takes of a session that a person runs. */
static int commands_of_read(struct mcp_peer *p, str token)
{
    int before = p->server->performed;

    mcp_peer_say(p, mcp_post(token, BOTH_TYPES CALL_HEAD("state_read"),
                             call("state_read", of_state(p->server, ""), MODERN)));
    CHECK_PEER(p, OK_JSON "*\\'title\\':\\'t\\'*");
    return p->server->performed - before;
}

TEST(mcp_looks_for_callbacks_when_a_session_or_a_run_has_changed)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);
    str token = mcp_server_session(s, "person", s->state_id);

    commands_of_read(p, token); /* the document is in memory then */
    CHECK_INT(commands_of_read(p, token), 0);
    mcp_server_do(s, "schema.create", "{'name':'other','json_schema':{}}");
    CHECK_INT(commands_of_read(p, token), 0);
    mcp_server_do(s, "session.create", "{'session_name':'another'}");
    CHECK_INT(commands_of_read(p, token), 1);
    CHECK_INT(commands_of_read(p, token), 0);
    mcp_peer_close(p);
    mcp_server_close(s);
}

/* ---- waiting ---- */

#define WAIT ",'wait_version':2,'timeout':30"
#define WITH_PROGRESS MODERN_AS("{}") ",'progressToken':'p1'}"

TEST(mcp_call_that_waits_is_answered_when_it_has_come)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);

    mcp_peer_post(p, CALL_HEAD("state_read"), call("state_read", of_state(s, WAIT), MODERN));
    CHECK_PEER(p, "");
    mcp_server_do(s, "state.patch", of_state(s, ",'merge':{'title':'two'}"));
    mcp_peer_listen(p);
    CHECK_PEER(p, OK_JSON "*two*");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_call_that_waits_gives_signs_of_life_to_who_wants_them)
{
    struct server_limits limits = server_limits_default();
    limits.mcp_progress_ms = 20;
    struct mcp_server *s = mcp_server_open(&limits, false);
    struct mcp_peer *p = mcp_peer_new(s);

    mcp_peer_post(p, CALL_HEAD("state_read"), call("state_read", of_state(s, WAIT), WITH_PROGRESS));
    CHECK_PEER(p, "");
    while (!str_contains(buf_str(&p->heard), STR("'progress':2"))) {
        mcp_server_wait(s, 5);
        mcp_peer_listen(p);
    }
    CHECK_PEER(p, OK_STREAM "data: {*'progressToken':'p1','progress':1,*}||"
                            "data: {*'progressToken':'p1','progress':2,*}||*");
    mcp_server_do(s, "state.patch", of_state(s, ",'merge':{'title':'two'}"));
    mcp_peer_listen(p);
    CHECK_PEER(p, "*data: {*'id':7,'result'*two*}||<closed>");
    mcp_peer_close(p);
    mcp_server_close(s);
}

/* Its memory is another thread's then: see arena_give. */
TEST(mcp_call_that_is_run_again_gives_signs_of_life_meanwhile)
{
    struct server_limits limits = server_limits_default();
    limits.mcp_progress_ms = 200; /* the first comes while it is held, not before */
    struct mcp_server *s = mcp_server_open(&limits, false);
    struct mcp_peer *p = mcp_peer_new(s);

    mcp_peer_post(p, CALL_HEAD("state_read"), call("state_read", of_state(s, WAIT), WITH_PROGRESS));
    s->holds = true;
    mcp_server_do(s, "state.patch", of_state(s, ",'merge':{'title':'two'}"));
    CHECK(s->waiting);
    while (!str_contains(buf_str(&p->heard), STR("'progress':1"))) {
        mcp_server_wait(s, 5);
        mcp_peer_listen(p);
    }
    CHECK_PEER(p, OK_STREAM "data: {*'progressToken':'p1','progress':1,*}||*");
    s->holds = false;
    mcp_server_perform(s);
    mcp_peer_listen(p);
    CHECK_PEER(p, "*data: {*'id':7,'result'*two*}||<closed>");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_call_that_waits_is_answered_plainly_where_no_stream_is_taken)
{
    struct server_limits limits = server_limits_default();
    limits.mcp_progress_ms = 10;
    struct mcp_server *s = mcp_server_open(&limits, false);
    struct mcp_peer *p = mcp_peer_new(s);

    mcp_peer_say(p, mcp_post(s->operator_token, "Accept: application/json|" CALL_HEAD("state_read"),
                             call("state_read", of_state(s, WAIT), WITH_PROGRESS)));
    mcp_server_wait(s, 25);
    mcp_peer_listen(p);
    CHECK_PEER(p, "");
    mcp_server_do(s, "state.patch", of_state(s, ",'merge':{'title':'two'}"));
    mcp_peer_listen(p);
    CHECK_PEER(p, OK_JSON "*two*");
    mcp_peer_close(p);
    mcp_server_close(s);
}

/* The time is the server's, whatever the call asks for. */
TEST(mcp_call_waits_no_longer_than_a_tool_may)
{
    struct server_limits limits = server_limits_default();
    limits.mcp_wait_ms = 30;
    struct mcp_server *s = mcp_server_open(&limits, false);
    struct mcp_peer *p = mcp_peer_new(s);

    mcp_peer_post(p, CALL_HEAD("state_read"), call("state_read", of_state(s, WAIT), MODERN));
    CHECK_PEER(p, "");
    mcp_server_wait(s, 40);
    mcp_peer_listen(p);
    CHECK_PEER(p, OK_JSON "*'id':7,'result'*");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_call_of_one_who_is_gone_is_not_waited_for)
{
    struct server_limits limits = server_limits_default();
    limits.mcp_progress_ms = 10;

    for (int streamed = 0; streamed < 2; streamed++) {
        struct mcp_server *s = mcp_server_open(&limits, false);
        struct mcp_peer *p = mcp_peer_new(s);
        mcp_peer_post(p, CALL_HEAD("state_read"),
                      call("state_read", of_state(s, WAIT), WITH_PROGRESS));
        if (streamed)
            mcp_server_wait(s, 15);
        mcp_peer_close(p);
        int performed = s->performed;
        mcp_server_do(s, "state.patch", of_state(s, ",'merge':{'title':'two'}"));
        CHECK_INT(s->performed, performed);
        mcp_server_close(s);
        unlink("mcp.db");
        unlink("mcp.db-wal");
        unlink("mcp.db-shm");
    }
}

/* A write is done, whoever is there to hear of it. */
TEST(mcp_call_of_one_who_is_gone_is_finished)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);

    mcp_peer_post(p, MODERN_HEAD("server/discover"), DISCOVER); /* its token is known now */
    s->holds = true;
    mcp_peer_post(p, CALL_HEAD("state_patch"),
                  call("state_patch", of_state(s, ",'merge':{'title':'two'}"), MODERN));
    mcp_peer_close(p);
    mcp_server_perform(s);
    mcp_server_turn(s);
    s->holds = false;
    CHECK_INT(json_int_or(mcp_server_do(s, "state.read", of_state(s, "")), "version", 0), 2);
    mcp_server_close(s);
}

static void stopped(void *self)
{
    ((struct mcp_server *)self)->stopped = true;
}

TEST(mcp_tells_those_who_wait_and_listen_that_the_server_stops)
{
    struct server_limits limits = server_limits_default();
    limits.mcp_progress_ms = 10;
    struct mcp_server *s = mcp_server_open(&limits, false);
    struct mcp_peer *plain = mcp_peer_new(s), *streamed = mcp_peer_new(s),
                    *listener = mcp_peer_new(s);

    mcp_peer_post(streamed, CALL_HEAD("state_read"),
                  call("state_read", of_state(s, WAIT), WITH_PROGRESS));
    mcp_server_wait(s, 15);
    mcp_peer_post(plain, CALL_HEAD("state_read"), call("state_read", of_state(s, WAIT), MODERN));
    mcp_peer_post(listener, MODERN_HEAD("subscriptions/listen"),
                  "{'jsonrpc':'2.0','id':'l','method':'subscriptions/listen','params':{"
                  "'notifications':{'resourcesListChanged':true}," MODERN "}}");
    CHECK_PEER(listener, OK_STREAM "data: {*acknowledged*}||");
    server_stop(s->server, 1000, stopped);
    mcp_peer_listen(plain);
    mcp_peer_listen(streamed);
    mcp_peer_listen(listener);
    CHECK_PEER(plain, OK_JSON "*'isError':true*<closed>");
    CHECK_PEER(streamed, "*'id':7,'result'*the server stops*||<closed>");
    CHECK_PEER(listener, "data: {'jsonrpc':'2.0','id':'l','result':{*}||<closed>");
    mcp_peer_close(plain);
    mcp_peer_close(streamed);
    mcp_peer_close(listener);
    mcp_server_close(s);
}

/* ---- a start that waits for its end ---- */

#define START_AGENT(meta)                                                                   \
    "{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'start_agent_session'," \
    "'arguments':{'session_name':'w','prompt':'go','execution_mode':'sync'}," meta "}}"

/* It goes on whoever waits for it, and is started once. */
TEST(mcp_start_that_is_not_done_in_time_says_so_and_goes_on)
{
    struct server_limits limits = server_limits_default();
    limits.mcp_wait_ms = 30;
    struct mcp_server *s = mcp_server_open(&limits, false);
    struct mcp_peer *p = mcp_peer_new(s);

    mcp_peer_post(p, CALL_HEAD("start_agent_session"), START_AGENT(MODERN));
    CHECK_PEER(p, "");
    mcp_server_wait(s, 40);
    mcp_peer_listen(p);
    CHECK_PEER(p, OK_JSON "*'id':7,'result':{*");
    const struct json *runs = json_get(mcp_server_do(s, "run.list", "{}"), "runs");
    CHECK_INT(runs->len, 1);
    CHECK_STR(json_str(&runs->items[0], "status"), "pending");
    mcp_peer_close(p);
    mcp_server_close(s);
}

TEST(mcp_start_of_one_who_is_gone_goes_on)
{
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);

    mcp_peer_post(p, CALL_HEAD("start_agent_session"), START_AGENT(MODERN));
    CHECK_PEER(p, "");
    mcp_peer_close(p);
    CHECK_INT(json_get(mcp_server_do(s, "run.list", "{}"), "runs")->len, 1);
    mcp_server_close(s);
}

/* ---- several nodes ---- */

/* What another node has acknowledged is in the answer, though this one has not heard of it yet. */
TEST(mcp_reads_what_another_node_has_written)
{
    static const struct actor system = { .kind = ACTOR_SYSTEM, .name = STR("system") };
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);
    const char *read = call("state_read", of_state(s, ""), MODERN);
    struct arena *a = arena_new();
    const struct event *events;
    struct engine *reader;
    int64_t last;

    s->server->options.shared = true;
    s->server->options.system = &system;
    mcp_peer_post(p, CALL_HEAD("state_read"), read);
    CHECK_PEER(p, OK_JSON "*title*");
    CHECK_OK(world_call(s->world, "state.patch", of_state(s, ",'merge':{'title':'elsewhere'}"), "")
                 ->error);
    mcp_peer_post(p, CALL_HEAD("state_read"), read);
    CHECK_PEER(p, "");
    CHECK_OK(world_reader(s->world, &reader));
    CHECK_OK(op_follow(reader, a, s->server->published, &events, &last));
    server_published(s->server, a, events);
    mcp_peer_listen(p);
    CHECK_PEER(p, OK_JSON "*elsewhere*");
    mcp_peer_close(p);
    mcp_server_close(s);
}
