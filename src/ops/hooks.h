/* hooks.h: what the files of the operation hook.event share. Private to ops/hooks*.c and todos.c;
 * the former are, from below to above:
 *
 *   hooks_event.c     what clients tell, as it is kept and read
 *   hooks_session.c   whose event it is
 *   hooks_tool.c      tools that an agent asks for
 *   hooks_file.c      files that tools read and write
 *   hooks_words.c     what the last words of an agent say of its work
 *   hooks_agent.c     agents inside of the client, which do phases of a workflow
 *   hooks_todo.c      what there is to do, as the client's agent lists it
 *   hooks.c           the operation
 *
 * Clients of agents call a hook at each step: they tell what happens, as JSON, and do what the
 * answer says. What they call things differs; what is done about them does not. */
#ifndef OPS_HOOKS_H
#define OPS_HOOKS_H

#include "core/member.h"
#include "core/session.h"
#include "core/sub_agent.h"
#include "core/todo.h"
#include "ops/op.h"

enum hook_client { HOOK_CLAUDE, HOOK_CODEX, HOOK_GEMINI, HOOK_OPENCODE, HOOK_CLIENT_COUNT };

/* An event on its way through the rules. */
struct hook {
    enum hook_client client;
    str name;                   /* of the event, as its client calls it */
    const struct json *payload; /* all of it */
    struct session s;           /* whose event it is */
    bool fresh;                 /* that was registered just now */
    bool inner; /* an agent inside of the client told it, which is no session here */
    str notice; /* what whoever started it has asked for in vain, in sentences; empty: nothing */
};

enum hook_decision {
    HOOK_NOTHING, /* the client goes by its own rules */
    HOOK_GO_ON,   /* it must not stop yet */
    HOOK_ALLOW,
    HOOK_DENY,
    HOOK_DEFER, /* somebody else decides later: the client ends, and is resumed then */
};

/* What the client is to do, and what its agent is to read. */
struct hook_reply {
    enum hook_decision decision;
    str reason;
    struct buf context;
};

static inline void hook_context_add(struct hook_reply *r, str text)
{
    if (r->context.len && text.len)
        buf_add(&r->context, STR("\n"));
    buf_add(&r->context, text);
}

/* ---- hooks_event.c ---- */

extern const char *const hook_client_names[HOOK_CLIENT_COUNT];

/* What is kept of it among the events of its session: bounded, whatever was told. */
str hook_digest(struct arena *a, const struct hook *h);

/* The same for any value: long texts, long lists and what is deep inside are cut. */
struct json hook_cut(struct arena *a, const struct json *value, size_t text_max);

/* What stopped the agent, in a line; and when it can go on, in milliseconds, 0: it does not say. */
str hook_failure(struct arena *a, const struct json *payload, int64_t now_ms, int64_t *until_ms);

/* Whether something of the client goes on by itself after a stop: the agent will, too. */
bool hook_goes_on(const struct json *payload);

/* ---- hooks_session.c ---- */

/* Whose event it is. A session's token speaks for its own session, and, where the client has
 * another conversation than that, for one below it; the operator's for the session that the
 * client's own id stands for. One that is not known is registered, as one that somebody attends to,
 * below `parent` where that is known, unless its tools were met before in the same process. False:
 * there is nobody to speak of. */
err hook_session(struct tx *tx, struct hook *h, str parent, str process, bool *there);

/* What an input says of where a client is: its fields are HOOK_PLACE_FIELDS. */
struct member_place hook_place(const struct input *in, const char *state_field);

/* The sentence for a parent that was named and is not there. */
str hook_no_parent(struct arena *a, str parent);

/* The id of a session whose client has one of its own: whoever knows the one knows the other. */
str hook_session_id(struct arena *a, str client, str own);

/* Legible where it can be, "claude-shop-1b2c3d4e"; else the id, which nobody has as a name. */
err hook_session_name(struct tx *tx, str client, str dir, str id, str *out);

/* ---- hooks_tool.c ---- */

/* Before a tool is used: an agent that is run from here asks for those that its role lists. */
err hook_before_tool(struct tx *tx, struct hook *h, struct hook_reply *r);

/* ---- hooks_file.c ---- */

/* A member is about to write files, or has read or written them: who else has changed them since it
 * last looked is told, where its client shows that to its agent. */
err hook_file_before(struct tx *tx, struct hook *h, struct hook_reply *r);
err hook_file_after(struct tx *tx, struct hook *h, struct hook_reply *r);

/* ---- hooks_words.c ---- */

enum { HOOK_DELIVERABLES_MAX = 50, HOOK_DELIVERABLE_MAX = 300, HOOK_CONTEXT_MAX = 2000 };

struct hook_words {
    str *deliverables; /* paths and outcomes, as it lists them */
    size_t count;
    str context; /* what whoever goes on must know */
};

/* Whatever the text is: what cannot be read is not there. */
void hook_words_read(struct arena *a, str text, struct hook_words *out);

/* ---- hooks_agent.c ---- */

/* One has started: it reads which phase it does, and what was left for it. */
err hook_agent_start(struct tx *tx, struct hook *h, struct hook_reply *r);

/* One has ended, as its own hook tells; has failed; as the tool that has started or stopped it answers; or
 * as the client tells its agent by a prompt. */
err hook_agent_stop(struct tx *tx, struct hook *h, struct hook_reply *r);
err hook_agent_failure(struct tx *tx, struct hook *h);
err hook_agent_tool_done(struct tx *tx, struct hook *h);
err hook_agent_prompt(struct tx *tx, struct hook *h);

/* None of them can be at work any more. */
err hook_agents_over(struct tx *tx, const struct session *s, str why);

/* The agent that has started them reads, once, what became of their phases, and what comes next. */
err hook_agents_tell(struct tx *tx, const struct session *s, struct hook_reply *r);

/* ---- hooks_todo.c ---- */

/* A tool by which an agent keeps its list has been used. */
err hook_todo_tool_done(struct tx *tx, struct hook *h);

/* How a list differs from the session's newest workflow of phases, an open one first: lines that say what
 * to change in it; empty: it does not. Without a workflow e->id is empty. */
err hook_todo_differs(struct tx *tx, const struct session *s, const struct todo_list *list,
                      struct execution *e, str *out);

/* Where it differs, its agent is told, once for each difference. */
err hook_todo_tell(struct tx *tx, const struct session *s, struct hook_reply *r);

#endif
