/* doctor.h: baton doctor: proves that server, hooks and MCP work, and says how to mend what does
 * not.
 *
 * Its files, from below to above:
 *
 *   report.c    what a check has found, as it is shown and kept
 *   child.c     processes that are talked to, each until a time
 *   clients.c   git, the clients, their wiring, their hooks
 *   agents.c    agents in files
 *   mcp.c       MCP in both eras, over HTTP and over stdio
 *   server.c    the data directory, the server, the token, a runner, the project
 *   doctor.c    the command: the order of the checks
 *
 * It changes nothing, and everything that it asks has a time after which it is not waited for. */
#ifndef CLI_DOCTOR_DOCTOR_H
#define CLI_DOCTOR_DOCTOR_H

#include <sys/types.h>

#include "cli/cli.h"
#include "client/caller.h"

enum doctor_result { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL, DOCTOR_SKIP, DOCTOR_RESULTS };

struct doctor {
    struct cli *cli;
    struct arena *arena;
    str root; /* the project */
    str data; /* the data directory; empty: the server is elsewhere */
    struct caller caller;
    bool works;        /* the server answers, and knows the token */
    struct json found; /* what was found: an object for each check */
    size_t counts[DOCTOR_RESULTS];
};

/* ---- report.c ---- */

/* Notes, and shows, what was found. `fix` is the command that mends it; empty: there is none. */
void doctor_report(struct doctor *d, enum doctor_result r, const char *check, str fix,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- server.c ---- */

void doctor_data(struct doctor *d);
void doctor_server(struct doctor *d);
void doctor_runner(struct doctor *d);
void doctor_project(struct doctor *d);

/* ---- mcp.c ---- */

void doctor_mcp_http(struct doctor *d);

/* By `baton mcp`, which has a server started when there is none. */
void doctor_mcp_stdio(struct doctor *d);

/* Has a server started in that way. */
void doctor_start(struct doctor *d);

/* ---- clients.c ---- */

void doctor_git(struct doctor *d);
void doctor_clients(struct doctor *d);
void doctor_hooks(struct doctor *d);

/* ---- agents.c ---- */

void doctor_agents(struct doctor *d);

/* ---- child.c ---- */

struct doctor_child {
    struct arena *arena;
    pid_t pid;
    int in, out, errors; /* −1: closed */
    int64_t until_ms;    /* of socket_clock_ms: when it is killed */
    struct buf output;
    size_t taken; /* of the output, in lines that were given */
    bool late;
};

/* Starts a program in the project; the first word is found in PATH unless it is a path. */
err child_start(struct doctor *d, const char *const *argv, int64_t time_ms,
                struct doctor_child *out);

void child_send(struct doctor_child *c, str text);

/* Ends its input. */
void child_close(struct doctor_child *c);

/* The next line of its output, without its end; false: there is none, or not in time. */
bool child_line(struct doctor_child *c, str *line);

/* Ends its input, waits for its end, and gives its exit code; −1: it had to be killed. What it said
 * on standard error, or the start of it, is in *errors. */
int child_end(struct doctor_child *c, str *errors);

/* ---- doctor.c ---- */

extern const struct option doctor_options[];
extern const char doctor_details[];
err doctor_run(struct cli *c);

#endif
