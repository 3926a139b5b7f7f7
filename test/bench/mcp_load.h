/* mcp_load.h: clients of MCP that call one tool as fast as they are answered.
 *
 * Over HTTP every connection is a client of its own, with a session where the revision has them;
 * over pipes there is one client, with some calls under way. The tool is `state_read`, and it is
 * told no state: the client's own is meant. */
#ifndef BENCH_MCP_LOAD_H
#define BENCH_MCP_LOAD_H

#include "bench/load.h"
#include "bench/target.h"
#include "json/json.h"

/* A new token of a session, which is called by its name. */
const char *mcp_session_token(struct arena *a, const struct target *t, const char *name);

/* ---- over HTTP ---- */

struct mcp_clients {
    const char *token;
    bool modern;   /* 2026-07-28, which has no sessions; else 2025-11-25 */
    str *sessions; /* the id of each connection's */
};

/* Begins a session for each of so many connections. */
void mcp_clients_begin(struct mcp_clients *c, struct arena *a, int port, uint32_t count);

/* For load.request, with a struct mcp_clients for self. */
void mcp_clients_request(void *self, struct buf *out, uint32_t connection, uint64_t n);

/* The first client asks by hand: the result. An error, of a tool too, ends the program. */
const struct json *mcp_clients_ask(const struct mcp_clients *c, struct arena *a, int port,
                                   const char *method, str params);

/* ---- over pipes ---- */

enum { MCP_ROOM = 256 << 10 }; /* bytes that are read at once */

struct mcp_pipe {
    pid_t pid;
    int to, from;
    uint64_t calls;
    size_t answer_bytes; /* of an answer, with its line's end */
    struct arena *arena;
    struct buf lines; /* to be sent */
    char *room;       /* for what comes back */
    size_t len;
};

/* Starts a program that speaks MCP, in this environment; it is ready, and has answered once. */
struct mcp_pipe mcp_pipe_start(const char *const *words);
void mcp_pipe_stop(struct mcp_pipe *p);

/* Two processes that only pass lines on and answer them with so many bytes: the least that such a
 * program and its server, whose process is `server`, can take. */
struct mcp_pipe mcp_relay_start(size_t answer_bytes, pid_t *server);

/* Keeps so many calls under way. Processor time is that of the program and of `server` (0: none);
 * latencies are known of one call at a time. */
struct load_result mcp_pipe_run(struct mcp_pipe *p, pid_t server, uint32_t under_way,
                                double seconds);

#endif
