/* hooks.c: the operation hook.event: what clients of agents tell, and what they are told to do.
 *
 * One table says what each event is and what is done about it. The rules are those of sessions and
 * callbacks; here is only which of them an event calls, and how each client wants its answer. */
#include "ops/hooks.h"

#include "core/callback.h"
#include "core/prompt.h"
#include "core/wake_queue.h"
#include "ops/ops.h"
#include "ops/shapes.h"
#include "ops/write.h"

/* ---- what is done about events ---- */

static err greet(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    bool resumed = str_eq(json_str(h->payload, "source"), STR("resume"));
    str text;

    TRY(prompt_hello(tx, &h->s, resumed, &text));
    hook_context_add(r, text);
    hook_context_add(r, h->notice);
    return NULL;
}

static err on_start(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    TRY(wake_on_start(tx, &h->s));
    if (!str_eq(json_str(h->payload, "source"), STR("compact")))
        TRY(hook_agents_over(tx, &h->s, STR("its client has begun anew")));
    return greet(tx, h, r);
}

/* What a waker brought is a prompt as well, and its own receipt. */
static err on_prompt(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    bool again;

    TRY(hook_agent_prompt(tx, h));
    TRY(wake_receipt(tx, &h->s, json_str(h->payload, "prompt"), &again));
    if (again) {
        r->decision = HOOK_GO_ON;
        r->reason = STR("baton has told this before: there is nothing new in it.");
    }
    return NULL;
}

/* Whether it is one of the tools of ours that write the state, whatever the client calls the server
 * that has it. */
static bool writes_state(str tool)
{
    return str_ends(tool, STR("state_patch")) || str_ends(tool, STR("state_update"));
}

/* Whether a part of an answer says that all was so already. A document that came with it may hold the
 * same word, and says nothing. */
static bool says_unchanged(struct arena *a, const struct json *answer, bool texts)
{
    const struct json *parsed;

    if (json_is(answer, JSON_STRING) && texts)
        return json_parse_own(a, json_text(answer), &parsed)
                   ? str_contains(json_text(answer), STR("\"unchanged\":true"))
                   : says_unchanged(a, parsed, false);
    if (json_bool_or(answer, "unchanged", false))
        return true;
    bool named = json_is(answer, JSON_OBJECT);
    for (uint32_t i = 0; (named || json_is(answer, JSON_ARRAY)) && i < answer->len; i++) {
        if (named && str_eq(json_name(&answer->members[i]), STR("current_data")))
            continue;
        if (says_unchanged(a, named ? &answer->members[i].value : &answer->items[i], texts))
            return true;
    }
    return false;
}

/* A write that changed nothing is no record. Clients show an answer as it is or as text. */
static bool wrote_nothing(struct arena *a, const struct hook *h)
{
    return says_unchanged(a, json_get(h->payload, "tool_response"), true);
}

/* ---- what it has read of its state ---- */

/* The answer of one of our tools that is about a state: itself, or within what a client has put around
 * it. A document that came with it is not looked into. */
static const struct json *state_answer(struct arena *a, const struct json *v, bool texts)
{
    const struct json *found = NULL;
    bool named = json_is(v, JSON_OBJECT);

    if (json_is(v, JSON_STRING) && texts)
        return json_parse_own(a, json_text(v), &found) ? NULL : state_answer(a, found, false);
    if (json_str(v, "state_id").len)
        return v;
    for (uint32_t i = 0; (named || json_is(v, JSON_ARRAY)) && !found && i < v->len; i++)
        found = state_answer(a, named ? &v->members[i].value : &v->items[i], texts);
    return found;
}

/* Who has read all of its state, or all that changed in it, has seen what others wrote. */
static err state_seen(struct tx *tx, struct hook *h)
{
    const struct json *answer =
        state_answer(tx->arena, json_get(h->payload, "tool_response"), true);
    int64_t version = json_int_or(answer, "version", 0);
    bool all = json_get(answer, "current_data") || json_get(answer, "patch");
    struct state state;

    if (h->inner || !session_is_member(&h->s) || !h->s.state_id.len || !all ||
        json_bool_or(answer, "truncated", false) || version <= h->s.seen_version ||
        !str_eq(json_str(answer, "state_id"), h->s.state_id))
        return NULL;
    TRY(state_load(tx, h->s.state_id, &state));
    if (version > state.version)
        return NULL; /* of a past that was taken back */
    h->s.seen_version = version;
    return session_store(tx, &h->s);
}

/* What a client writes by the token of the session that started it counts as its own, too. */
static err on_tool_done(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    bool borrowed = tx->actor->kind == ACTOR_SESSION && !str_eq(tx->actor->session_id, h->s.id);
    str tool = json_str(h->payload, "tool_name");

    TRY(hook_file_after(tx, h, r));
    TRY(hook_agent_tool_done(tx, h));
    TRY(hook_todo_tool_done(tx, h));
    if (str_ends(tool, STR("state_read")))
        TRY(state_seen(tx, h));
    if (!borrowed || !writes_state(tool) || wrote_nothing(tx->arena, h))
        return NULL;
    return callback_on_write(tx, &h->s);
}

static err on_tool(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    TRY(hook_before_tool(tx, h, r));
    return hook_file_before(tx, h, r);
}

static err on_stop(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    struct stop_advice advice;

    TRY(wake_on_stop(tx, &h->s));
    TRY(hook_agents_over(tx, &h->s,
                         STR("its client has stopped, and nobody has told how it ended")));
    TRY(callback_on_stop(tx, &h->s, STR(""), &advice));
    if (advice.block) {
        r->decision = HOOK_GO_ON;
        r->reason = advice.prompt;
    }
    return NULL;
}

/* It is noted and shown, and fails nothing: the client tries again, or its run says what came of
 * it. */
static err on_failure(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    struct session *s = &h->s;

    (void)r;
    if (h->inner)
        TRY(hook_agent_failure(tx, h));
    s->notice = hook_failure(tx->arena, h->payload, tx->now_ms, &s->notice_until_ms);
    s->last_event = s->notice;
    return session_store(tx, s);
}

static err on_end(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    (void)r;
    TRY(wake_on_end(tx, &h->s));
    if (!str_eq(json_str(h->payload, "reason"),
                STR("clear"))) /* of which only the conversation ends */
        TRY(hook_agents_over(tx, &h->s, STR("its client has ended")));
    return callback_on_end(tx, &h->s);
}

/* ---- which events there are ---- */

struct hook_kind {
    const char *name; /* as a client calls it */
    const char *type; /* as it is kept */
    bool works;       /* the agent is at work */
    bool carries;     /* the answer can hold something for the agent to read */
    err (*run)(struct tx *tx, struct hook *h, struct hook_reply *r);
};

// clang-format off
static const struct hook_kind kinds[] = {
    /*                       kept as           works  carries  */
    { "SessionStart",       "session_start",   false, true,  on_start         },
    { "UserPromptSubmit",   "message",         true,  true,  on_prompt        },
    { "BeforeAgent",        "message",         true,  true,  on_prompt        },
    { "PreToolUse",         "pre_tool",        true,  false, on_tool          },
    { "BeforeTool",         "pre_tool",        true,  false, on_tool          },
    { "PostToolUse",        "post_tool",       true,  true,  on_tool_done     },
    { "AfterTool",          "post_tool",       true,  true,  on_tool_done     },
    { "PostToolUseFailure", "post_tool",       true,  false, NULL             },
    { "SubagentStart",      "subagent_start",  false, false, hook_agent_start },
    { "SubagentStop",       "subagent_stop",   false, false, hook_agent_stop  },
    { "TaskCreated",        "task_created",    false, false, NULL             },
    { "TaskCompleted",      "task_completed",  false, false, NULL             },
    { "Stop",               "session_stop",    false, false, on_stop          },
    { "AfterAgent",         "session_stop",    false, false, on_stop          },
    { "StopFailure",        "stop_failure",    false, false, on_failure       },
    { "SessionEnd",         "session_end",     false, false, on_end           },
};

static const struct hook_kind
    /* A stop after which the client goes on by itself is none. */
    pause_kind = { "", "session_pause", false, false, NULL },
    other_kind = { "", "hook",          false, false, NULL };
// clang-format on

static const struct hook_kind *kind_of(const struct hook *h)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq(h->name, str_from(kinds[i].name)))
            return kinds[i].run == on_stop && hook_goes_on(h->payload) ? &pause_kind : &kinds[i];
    return &other_kind;
}

/* What agents inside of a client do is not a turn of its session, and what they read is not read by
 * its agent. */
static err event_handle(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    const struct hook_kind *kind = kind_of(h);
    str type = str_from(kind->type), data = hook_digest(tx->arena, h), ends = STR("");
    str changes;
    size_t callbacks;
    int64_t number;

    TRY(kind->works && !h->inner ? session_event_add(tx, &h->s, type, data, &number)
                                 : session_event_note(tx, &h->s, type, data, &number));
    TRY(member_seen(tx, &h->s));
    if (h->fresh && kind->carries && !h->inner && kind->run != on_start)
        TRY(greet(tx, h, r));
    if (kind->run)
        TRY(kind->run(tx, h, r));
    if (!kind->carries || h->inner || r->decision == HOOK_GO_ON)
        return NULL; /* what it would say is not read */
    TRY(hook_agents_tell(tx, &h->s, r));
    TRY(hook_todo_tell(tx, &h->s, r));
    TRY(prompt_changes(tx, &h->s, &changes));
    TRY(news_take(tx, &h->s, false, &ends, &callbacks));
    hook_context_add(r, changes);
    hook_context_add(r, ends);
    return NULL;
}

/* ---- answers, as clients want them ---- */

static void write_specific(struct json_writer *w, const struct hook *h, const char *decision,
                           struct hook_reply *r)
{
    write_begin(w, STR("hookSpecificOutput"), '{');
    write_text(w, STR("hookEventName"), h->name);
    if (decision) {
        write_text(w, STR("permissionDecision"), str_from(decision));
        write_text(w, STR("permissionDecisionReason"), r->reason);
    }
    if (r->context.len)
        write_text(w, STR("additionalContext"), buf_str(&r->context));
    json_write_end(w, '}');
}

static void write_decision(struct json_writer *w, const char *decision, str reason)
{
    write_text(w, STR("decision"), str_from(decision));
    write_text(w, STR("reason"), reason);
}

// clang-format off
/* How a client is told each decision: at the top of the answer, or for this event. NULL: it is not
 * told, since it would go by its own rules anyway. */
static const struct {
    const char *top, *specific;
} words[HOOK_CLIENT_COUNT][HOOK_DEFER + 1] = {
    [HOOK_CLAUDE] = { [HOOK_GO_ON] = { "block", NULL }, [HOOK_ALLOW] = { NULL, "allow" },
                      [HOOK_DENY]  = { NULL, "deny" },  [HOOK_DEFER] = { NULL, "defer" } },
    [HOOK_CODEX]  = { [HOOK_GO_ON] = { "block", NULL }, [HOOK_DENY]  = { NULL, "deny" } },
    [HOOK_GEMINI] = { [HOOK_GO_ON] = { "deny", NULL },  [HOOK_DENY]  = { "deny", NULL } },
    [HOOK_OPENCODE] = { [HOOK_GO_ON] = { "block", NULL }, [HOOK_DENY] = { NULL, "deny" } },
};
// clang-format on

static void write_reply(struct json_writer *w, const struct hook *h, struct hook_reply *r)
{
    const char *top = words[h->client][r->decision].top;
    const char *specific = words[h->client][r->decision].specific;

    json_write_begin(w, '{');
    if (top)
        write_decision(w, top, r->reason);
    if (specific || r->context.len)
        write_specific(w, h, specific, r);
    json_write_end(w, '}');
}

static enum hook_client client_of(str name)
{
    int i = 0;

    while (i < HOOK_CLIENT_COUNT - 1 && !str_eq(name, str_from(hook_client_names[i])))
        i++;
    return (enum hook_client)i;
}

enum { CONVERSATION_MAX = 200 }; /* bytes; a longer one is none of a client's */

/* Where a runner of its machine can wake it. A session's own token is not believed: what it says would
 * be run. */
static err queue_note(struct tx *tx, const struct input *in, const struct hook *h)
{
    struct wake_queue q = { .session_id = h->s.id,
                            .hostname = input_str(in, "host"),
                            .user = input_str(in, "user"),
                            .conversation = json_str(h->payload, "session_id"),
                            .home = input_str(in, "client_home"),
                            .path = input_str(in, "client_path") };
    bool whole = q.hostname.len && q.user.len && q.home.len &&
                 q.conversation.len <= CONVERSATION_MAX;

    if (tx->actor->kind == ACTOR_SESSION || h->client != HOOK_CODEX || !h->s.attended || !whole)
        return NULL;
    return wake_queue_set(tx, &q);
}

static err hook_event_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct json *payload = input_json(in, "event");
    struct hook h = { .client = client_of(input_str(in, "client")),
                      .name = json_str(payload, "hook_event_name"),
                      .payload = payload,
                      .inner = json_str(payload, "agent_id").len };
    struct hook_reply reply = { .context = buf_in(tx->arena) };
    bool there;

    struct member_place place = hook_place(in, "state");

    TRY(hook_session(tx, &h, input_str(in, "parent"), input_str(in, "process"), &there));
    if (there && tx->actor->kind != ACTOR_SESSION)
        TRY(member_settle(tx, &h.s, &place, &h.notice));
    if (there) {
        TRY(queue_note(tx, in, &h));
        TRY(event_handle(tx, &h, &reply));
        out->notify = h.s.id;
    }
    write_reply(&out->json, &h, &reply);
    return NULL;
}

// clang-format off

static const struct op ops[] = {
    {
        .name = "hook.event", .http = "POST /hooks/{client}", .effect = OP_WRITES,
        .on = ON_HTTP, .by = BY_OPERATOR | BY_SESSION,
        .bodies = { { "application/json", "event" } },
        .summary = "Tell what a client's hook was called with; the answer is what the client is to do, in its own words.",
        .input = JSON({
            "type": "object", "additionalProperties": false, "required": ["client", "event"],
            "properties": {
                "client": { "enum": ["claude", "codex", "gemini", "opencode"], "description": "The client whose hook this is: it decides in which form the answer is." },
                "event": { "type": "object", "description": "What the client gave to its hook, as it is." },
                "parent": { "type": "string", "minLength": 1, "maxLength": 100,
                    "description": "The session that an unknown one is registered below, by id or name; with the operator's token." },
                "process": { "type": "string", "minLength": 1, "maxLength": 200,
                    "description": "The process that the client is, where its tools are known by nothing else; with the operator's token." },
                "state": { "type": "string", "minLength": 1, "maxLength": 100,
                    "description": "The state that a root is to have, which it does not own by that: WORKFLOW_STATE_ID." },
                "host": { "type": "string", "minLength": 1, "maxLength": 200, "description": "The machine that the client runs on." },
                "common_dir": { "type": "string", "minLength": 1, "maxLength": 1200,
                    "description": "Git's common directory of its folder, or without git the folder: the project is found by it." },
                "worktree": { "type": "string", "minLength": 1, "maxLength": 1200, "description": "The top of the working tree that it is in." },
                "user": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The user of the operating system that the client runs as." },
                "client_home": { "type": "string", "pattern": "^/", "maxLength": 1200,
                    "description": "The folder by which the client's own command finds its conversations, as CODEX_HOME; with the operator's token: a runner of its machine and user may wake it by that." },
                "client_path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "Its search path for programs." },
                "project": { "type": "string", "minLength": 1, "maxLength": 100,
                    "description": "The project that it is to be a member of, whatever its folder; off: of none." }
            }
        }),
        .output = SHAPE("", JSON(
            "decision": { "type": "string", "description": "That the agent must not stop yet, or may not use the tool." },
            "reason": { "type": "string", "description": "Why, in words that the agent reads; empty where nothing is refused." },
            "hookSpecificOutput": { "type": "object", "description": "What is special about the event: what the agent is to read, and whether it may use the tool." })),
        .run = hook_event_op,
    },
};
// clang-format on

const struct op_list hook_ops = { ops, sizeof ops / sizeof *ops };
