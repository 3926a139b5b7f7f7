/* mcp_server.h: a server that speaks MCP, with clients, for tests.
 *
 * The operations are the real ones, on a database of the test's own, and are performed on the
 * test's own thread: at once, or when it says so. The loop is turned by hand. */
#ifndef TEST_MCP_SERVER_H
#define TEST_MCP_SERVER_H

#include "http_fixture.h"
#include "mcp/mcp.h"
#include "sim/world.h"

struct mcp_server {
    struct world *world;
    struct loop *loop;
    struct wakeup *stop;
    struct timer *timer;
    struct mcp *mcp;
    struct server *server;
    struct listener *tcp;
    uint16_t port;
    bool holds; /* what is submitted stays in here: */
    struct command *waiting;
    bool full, stopped;
    int performed;
    str operator_token, operator_token_id, state_id;
};

/* A client's connection. What it hears is gathered, with '|' for line ends and single quotes. */
struct mcp_peer {
    struct mcp_server *server;
    int fd;
    struct buf heard;
};

/* The limits may be NULL. There is a state of the operator's, `{'title':'t'}`, of the schema s. */
struct mcp_server *mcp_server_open(const struct server_limits *limits, bool fixtures);
void mcp_server_close(struct mcp_server *s);

void mcp_server_turn(struct mcp_server *s);
void mcp_server_wait(struct mcp_server *s, int64_t ms); /* both clocks go on by that */
void mcp_server_perform(struct mcp_server *s);          /* what is held */

/* Somebody else does something: the operation is performed, and published. Gives the answer. */
const struct json *mcp_server_do(struct mcp_server *s, const char *op, const char *input);

/* A token for a session of that name, which is made, with the state given or none. */
str mcp_server_session(struct mcp_server *s, const char *name, str state_id);

struct mcp_peer *mcp_peer_new(struct mcp_server *s);
void mcp_peer_say(struct mcp_peer *p, str bytes);
void mcp_peer_listen(struct mcp_peer *p); /* takes a turn, and hears what there is */
void mcp_peer_close(struct mcp_peer *p);

/* The bytes of a request: fields end in '|', the body is JSON with single quotes. */
str mcp_post(str token, const char *fields, const char *body);

/* A POST with what every client sends; then what it heard. */
void mcp_peer_post(struct mcp_peer *p, const char *fields, const char *body);

/* The value of a field in the last head that was heard. */
str mcp_peer_field(const struct mcp_peer *p, const char *name);

/* What a message of 2026-07-28 says in params. */
#define MODERN_AS(capabilities)                                        \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'," \
    "'io.modelcontextprotocol/clientCapabilities':" capabilities       \
    ",'io.modelcontextprotocol/clientInfo':{'name':'t','version':'1'}"
#define MODERN MODERN_AS("{}") "}"
#define MODERN_HEAD(method) "MCP-Protocol-Version: 2026-07-28|Mcp-Method: " method "|"

#define CHECK_PEER(peer, pattern)                                           \
    do {                                                                    \
        check_fits(__FILE__, __LINE__, buf_str(&(peer)->heard), (pattern)); \
        (peer)->heard.len = 0;                                              \
    } while (0)

#endif
