/* tools.h: a tool, as tools/list and tools/call know it. Private to mcp/. */
#ifndef MCP_TOOLS_H
#define MCP_TOOLS_H

#include "mcp/mcp_private.h"
#include "mcp/projection.h"

/* What a tool shows of a document, and what it replaces unseen, without being asked for more. */
#define TOOL_CHARS_MAX 8000

struct tool {
    const struct op *op;
    str name;
    str listed, listed_short;             /* as tools/list has it: for programs, and for models */
    const struct projection *tool_output; /* NULL: all */
    size_t output_count;
    bool is_capped; /* its operation takes max_chars */
    bool starts;    /* it asks a session for a turn, and may wait for what comes of it */
};

/* Whether a model reads what tools answer to this actor, as with every session, and no program. */
bool tool_is_read(const struct actor *actor);

/* A program of the operator's gets JSON as it is, besides the text of it. A session's answers are
 * read by a model, and of the two its client shows either, so that whatever else the model must read
 * would be lost in the other: there the text is all. */
bool tool_is_structured(const struct mcp_call *m);

/* As this actor sees it; NULL: there is none for it. */
const struct tool *tool_seen(const struct mcp *m, const struct actor *actor, str name);

/* Of an operation that is a tool. */
const struct tool *tool_of(const struct mcp *m, const char *op);

/* ---- tool_error.c ---- */

/* Why a call was refused, and what to do next. */
str tool_error_text(struct arena *a, const struct tool *t, const struct json *arguments, err e);

#endif
