/* bridge.h: baton mcp: the Model Context Protocol over standard input and output.
 *
 * A pipe, and no second implementation: each line that a client writes is posted to
 * the server's /mcp, and what comes back, at once or as a stream, is written as lines.
 * It adds what HTTP wants to know of a message, finds the server again when that was
 * restarted, and has one started where there is none. */
#ifndef CLI_BRIDGE_BRIDGE_H
#define CLI_BRIDGE_BRIDGE_H

#include "cli/cli.h"

/* Sees to it that a server runs for the data directory, and waits until it does. */
typedef err mcp_start(struct arena *a, str dir);

struct mcp_bridge_options {
    int in, out;        /* descriptors of lines */
    const char *data;   /* the server's directory, when it was given */
    str state_id;       /* of the state that tools mean when they name none; empty: none */
    mcp_start *start;   /* NULL: none is ever started */
    int64_t drain_ms;   /* after the end of input, for what is not answered; 0: 1 s */
    int64_t down_ms;    /* how long requests wait for a server that does not come back; 0: 5 s */
    int64_t silence_ms; /* how long an answer may take; 0: 90 s */
    int64_t pause_ms;   /* before a stream that was lost is opened again; 0: 1 s */
    int64_t lease_ms;   /* of its token: a bridge that is not heard for so long is gone; 0: 300 s */
};

/* Passes messages until the input ends, or SIGTERM, SIGINT or SIGHUP comes. What is wrong with the
 * server is told to the client in answers, and ends nothing. */
void mcp_bridge(const struct mcp_bridge_options *o);

extern const struct option mcp_bridge_verb_options[];
extern const char mcp_bridge_verb_details[];
err mcp_bridge_verb_run(struct cli *c, mcp_start *start);

#endif
