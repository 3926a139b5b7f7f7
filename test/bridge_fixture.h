/* bridge_fixture.h: MCP over stdio between a client and a server that the test plays both.
 *
 * The bridge is a process of its own. What both sides send is written with single quotes, which
 * stand for double ones. */
#ifndef TEST_BRIDGE_FIXTURE_H
#define TEST_BRIDGE_FIXTURE_H

#include "check.h"
#include "cli/bridge/private.h"
#include "json_help.h"

struct bridge_fixture {
    struct mcp_bridge_options options;
    int listener; /* −1: there is no server */
    int in, out;  /* the client's ends */
    pid_t pid;
    str rest; /* lines that came and were not looked at */
};

/* A server that listens, and no bridge yet: its options may be set. There is a token, so that the
 * bridge needs no identity of its own. */
struct bridge_fixture bridge_fixture_new(void);
void bridge_start(struct bridge_fixture *r);

/* Both at once. */
struct bridge_fixture bridge_fixture_start(void);

/* Waits for the end of the bridge, which must be a good one. */
void bridge_expect_end(struct bridge_fixture *r);

/* ---- the client ---- */

void say_bytes(struct bridge_fixture *r, str bytes);
void say(struct bridge_fixture *r, const char *text);
void client_close(struct bridge_fixture *r);

/* So many lines in one piece. */
void say_together(struct bridge_fixture *r, const char *const *lines, size_t count);

/* The next line. */
str hear(struct bridge_fixture *r);

#define HEARS(r, text) CHECK_STR(hear(r), quotes_double(check_arena(), text).at)

/* ---- the server ---- */

void server_listen(struct bridge_fixture *r);
void server_end(struct bridge_fixture *r);

/* Waits for a connection. */
int server_connected(struct bridge_fixture *r);

/* No connection waits to be taken. */
void server_expect_nobody(struct bridge_fixture *r);

/* So many whole requests, one behind the other; empty when the connection ends before. */
str server_take_all(int fd, str *requests, size_t count);
str server_take(int fd);
void server_expect_end(int fd);

/* The line of a request that has its key. */
str key_of(str request);

/* An answer as HTTP; `more` are lines of its head. */
str answer_text(const char *status, const char *more, const char *body);
void server_send(int fd, str bytes);
void server_answer(int fd, const char *status, const char *body);
void server_answer_as(int fd, const char *status, const char *more, const char *body);

void server_stream(int fd);
void server_event(int fd, const char *text);
void server_stream_end(int fd);

/* ---- messages ---- */

#define META "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}"
#define ASK(id) "{'jsonrpc':'2.0','id':" id ",'method':'tools/list','params':{" META "}}"
#define ANSWER(id) "{'jsonrpc':'2.0','id':" id ",'result':{}}"
#define OLD(id) "{'jsonrpc':'2.0','id':" id ",'method':'tools/list'}"
#define OPENING                                      \
    "{'jsonrpc':'2.0','id':0,'method':'initialize'," \
    "'params':{'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':{'name':'old'}}}"
#define OPENED "{'jsonrpc':'2.0','id':0,'result':{'protocolVersion':'2025-11-25'}}"
#define ANNOUNCED "{'jsonrpc':'2.0','method':'notifications/initialized'}"
#define CANCEL(id) \
    "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':" id "}}"
#define CALL(id, name, arguments)                                                \
    "{'jsonrpc':'2.0','id':" id ",'method':'tools/call','params':{'name':'" name \
    "','arguments':{" arguments "}," META "}}"

#endif
