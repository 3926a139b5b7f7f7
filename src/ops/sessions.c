/* sessions.c: operations on sessions, and their table. */
#include "core/callback.h"
#include "core/run.h"
#include "core/session.h"
#include "core/todo.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/states.h"
#include "ops/write.h"

/* ---- a session ---- */

static void write_usage(struct tx *tx, struct json_writer *w, str name, str session_id,
                        const struct usage *u)
{
    write_begin(w, name, '{');
    write_int(w, STR("input_tokens"), u->tokens_in);
    write_int(w, STR("output_tokens"), u->tokens_out);
    write_int(w, STR("cached_tokens"), u->tokens_cached);
    write_printed(w, STR("cost_usd"),
                  arena_printf(tx->arena, "%lld.%06lld", (long long)(u->cost / 1000000),
                               (long long)(u->cost % 1000000)));
    write_stored_or_null(tx, w, STR("models"), THING("session", session_id), u->models);
    json_write_end(w, '}');
}

/* Who it is and how it stands, which more than one answer has; the object is left open. */
static void write_head(struct json_writer *w, const struct session *s)
{
    json_write_begin(w, '{');
    write_text(w, STR("session_id"), s->id);
    write_text(w, STR("session_name"), s->name);
    write_text(w, STR("status"), team_name(&session_words, s->status));
    write_bool(w, STR("settled"), s->settled);
    write_or_null(w, STR("state_update_status"), team_name(&update_words, s->update));
    write_or_null(w, STR("error"), s->error);
    write_or_null(w, STR("workflow_state_id"), s->state_id);
}

static void write_session(struct tx *tx, struct json_writer *w, const struct session *s)
{
    write_head(w, s);
    write_or_null(w, STR("parent_session_id"), s->parent_id);
    write_or_null(w, STR("parent_session_name"), s->parent_name);
    write_text(w, STR("root_session_id"), s->root_id);
    write_int(w, STR("depth"), s->depth);
    write_or_null(w, STR("agent_name"), s->agent);
    write_or_null(w, STR("profile"), s->profile);
    write_or_null(w, STR("project_dir"), s->project_dir);
    write_stored_or_null(tx, w, STR("pointers"), THING("session", s->id), s->pointers);
    write_bool(w, STR("attended"), s->attended);
    write_or_null(w, STR("project"), s->project);
    write_or_null(w, STR("worktree"), s->worktree);
    write_bool(w, STR("silent"), s->silent);
    write_bool(w, STR("wake"), s->wakes);
    write_bool(w, STR("callback"), s->calls_back);
    write_int(w, STR("cycle"), s->cycle);
    write_int(w, STR("state_update_attempts"), s->update_attempts);
    write_or_null(w, STR("run_id"), s->run_id);
    write_or_null(w, STR("result_run_id"), s->result_run);
    write_or_null(w, STR("client_id"), s->client_id);
    write_or_null(w, STR("hostname"), s->hostname);
    write_stored_or_null(tx, w, STR("git"), THING("session", s->id), s->git);
    write_usage(tx, w, STR("usage"), s->id, &s->usage);
    write_or_null(w, STR("last_event"), s->last_event);
    write_time_or_null(w, STR("last_event_at"), s->last_event_at_ms);
    write_or_null(w, STR("notice"), s->notice);
    write_time_or_null(w, STR("notice_until"), s->notice_until_ms);
    write_time(w, STR("created_at"), s->created_at_ms);
    write_time(w, STR("updated_at"), s->updated_at_ms);
    write_time_or_null(w, STR("ended_at"), s->ended_at_ms);
    json_write_end(w, '}');
}

static err session_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct session s;

    TRY(session_see(tx, input_str(in, "session_id"), &s));
    write_session(tx, &out->json, &s);
    return NULL;
}

/* ---- many ---- */

/* The id of a session that a filter names; empty: it does not filter. */
static err filter_id(struct tx *tx, str wanted, str *out)
{
    struct session s;

    *out = STR("");
    if (!wanted.len)
        return NULL;
    TRY(session_get(tx, wanted, &s));
    *out = s.id;
    return NULL;
}

static err session_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct session_filter filter = { .after = input_str(in, "after"),
                                     .status = input_str(in, "status"),
                                     .limit = page_rows(in) };
    const struct session *all;
    size_t count;

    TRY(filter_id(tx, input_str(in, "root"), &filter.root_id));
    TRY(filter_id(tx, input_str(in, "parent"), &filter.parent_id));
    TRY(session_list(tx, &filter, &all, &count));
    size_t shown = page_begin(in, out, STR("sessions"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_session(tx, &out->json, &all[i]);
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

/* ---- how it stands ---- */

/* Whether to wait for a session to settle: whatever happens to it wakes whoever waits. */
static bool waits_for(struct tx *tx, const struct input *in, const struct session *s,
                      struct answer *out)
{
    if (s->settled || in->wait_over || !input_bool(in, "wait", false))
        return false;
    out->waits = true;
    out->wait_subject = s->id;
    out->wait_seq = *tx->seq;
    out->wait_until_ms = tx->now_ms + input_int(in, "timeout", 30) * 1000;
    return true;
}

/* How far the list is that its agent keeps in its own client; null: nothing was heard of one. */
static err write_todo(struct tx *tx, struct json_writer *w, const struct session *s)
{
    const struct json *items;
    struct todo_list list;
    str current = STR("");
    int64_t done = 0;
    bool found;

    TRY(todo_load(tx, s->id, &list, &found));
    TRY(todo_items(tx, &list, &items));
    if (!found) {
        write_null(w, STR("todo"));
        return NULL;
    }
    for (uint32_t i = 0; i < items->len; i++) {
        str status = json_str(&items->items[i], "status");
        done += str_eq(status, STR("completed"));
        if (!current.len && str_eq(status, STR("in_progress")))
            current = json_str(&items->items[i], "content");
    }
    write_begin(w, STR("todo"), '{');
    write_int(w, STR("done"), done);
    write_int(w, STR("total"), items->len);
    write_or_null(w, STR("current"), current);
    json_write_end(w, '}');
    return NULL;
}

static err session_status_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct session s;

    TRY(session_see(tx, input_str(in, "session_id"), &s));
    if (waits_for(tx, in, &s, out))
        return NULL;
    write_head(w, &s);
    write_int(w, STR("cycle"), s.cycle);
    write_or_null(w, STR("last_event"), s.last_event);
    write_time_or_null(w, STR("last_event_at"), s.last_event_at_ms);
    write_or_null(w, STR("notice"), s.notice);
    write_time_or_null(w, STR("notice_until"), s.notice_until_ms);
    TRY(write_todo(tx, w, &s));
    json_write_end(w, '}');
    return NULL;
}

/* The version that its state has now; 0: it has none, or none that the actor knows of yet. */
static err version_of(struct tx *tx, const struct session *s, int64_t *out)
{
    struct state state = { .version = 0 };
    err e = s->state_id.len ? state_get(tx, s->state_id, &state) : NULL;

    *out = e ? 0 : state.version;
    return e && e->kind != ERR_NOT_FOUND ? e : NULL;
}

static const char *hint_of(const struct session *s, const struct run *result)
{
    if (s->settled)
        return result->result_cut
                   ? "the result is the end of a longer one: what its agent wrote is in "
                     "the output of the run (baton logs, GET /runs/{run_id}/output)"
                   : NULL;
    return s->attended
               ? "it has not settled: somebody works in it; ask for its result again with "
                 "wait=true (get_agent_session_result)"
               : "it has not settled: ask for its result again with wait=true "
                 "(get_agent_session_result), or go on and be called back if it was started "
                 "so";
}

static err session_result_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct run run = { .id = STR("") };
    struct session s;
    int64_t version;

    TRY(session_see(tx, input_str(in, "session_id"), &s));
    if (waits_for(tx, in, &s, out))
        return NULL;
    TRY(version_of(tx, &s, &version));
    if (s.result_run.len)
        TRY(run_load(tx, s.result_run, &run));
    write_head(w, &s);
    write_or_null(w, STR("result"), run.result);
    if (run.result_cut)
        write_bool(w, STR("truncated"), true);
    write_or_null(w, STR("run_id"), run.id);
    write_int_or_null(w, STR("workflow_state_version"), version);
    write_usage(tx, w, STR("usage"), s.id, &s.usage);
    write_or_null(w, STR("hint"), str_from(hint_of(&s, &run)));
    json_write_end(w, '}');
    return NULL;
}

static err session_state_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct session s;
    struct state state;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    if (!s.state_id.len)
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "session " STR_FMT " has no state: its root can create one",
                       STR_ARG(s.name));
    TRY(state_get(tx, s.state_id, &state));
    out->version = state.version;
    write_state_head(&out->json, &state, state.version);
    write_stored(tx, &out->json, STR("current_data"), THING("state", state.id), state.body);
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- what it told of itself ---- */

static err session_events_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    const struct session_event *all;
    struct session s;
    size_t count;

    TRY(session_see(tx, input_str(in, "session_id"), &s));
    TRY(session_event_list(tx, s.id, input_int(in, "after", 0), page_rows(in), &all, &count));
    size_t shown = page_begin(in, out, STR("events"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++) {
        json_write_begin(w, '{');
        write_int(w, STR("number"), all[i].number);
        write_text(w, STR("event_type"), all[i].type);
        write_time(w, STR("time"), all[i].at_ms);
        write_stored_or_null(tx, w, STR("data"), THING("event of session", s.id), all[i].data);
        json_write_end(w, '}');
    }
    page_end_number(tx, out, shown < count ? all[shown - 1].number : 0);
    return NULL;
}

enum { EVENT_BYTES_MAX = 64 * 1024 }; /* of one event that is kept whole */

/* ---- coming and going ---- */

static err session_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct session_new n = {
        .id = input_str(in, "session_id"),
        .name = input_str(in, "session_name"),
        .parent = input_str(in, "parent_session_name"),
        .state_id = input_str(in, "workflow_state_id"),
        .agent = input_str(in, "agent_name"),
        .project_dir = input_str(in, "project_dir"),
        .pointers = input_json(in, "pointers"),
        .attended = true,
        .calls_back = input_bool(in, "callback", true),
    };
    struct session s;

    TRY(session_create(tx, &n, &s));
    out->created = true;
    write_session(tx, &out->json, &s);
    return NULL;
}

static err session_delete_op(struct tx *tx, const struct input *in, struct answer *out)
{
    bool with_state = input_bool(in, "with_state", false);
    struct session s;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    if (with_state && tx->actor->kind != ACTOR_OPERATOR)
        return err_new(tx->arena, ERR_FORBIDDEN, "only the operator deletes a state");
    out->empty = true;
    return session_delete(tx, &s, with_state);
}

/* What is below a session: each that has ended with all below it goes. */
static err session_clear_op(struct tx *tx, const struct input *in, struct answer *out)
{
    enum { CHILDREN_MAX = 1000 };
    str above = input_str(in, "session_id");
    int64_t deleted = 0, kept = 0;
    const struct session *children;
    struct session s;
    size_t count;

    if (!above.len && tx->actor->kind == ACTOR_SESSION)
        above = tx->actor->session_id;
    if (!above.len)
        return err_new(tx->arena, ERR_INVALID,
                       "expected a session_id: all that has ended below it is deleted");
    TRY(session_get(tx, above, &s));
    TRY(session_list(tx, &(struct session_filter){ .parent_id = s.id, .limit = CHILDREN_MAX },
                     &children, &count));
    for (size_t i = 0; i < count; i++) {
        struct session child = children[i];
        err e = session_delete(tx, &child, false);
        if (e && e->kind != ERR_CONFLICT)
            return e;
        deleted += !e;
        kept += e != NULL;
    }
    json_write_begin(&out->json, '{');
    write_int(&out->json, STR("deleted"), deleted);
    write_int(&out->json, STR("kept"), kept);
    json_write_end(&out->json, '}');
    return NULL;
}

static err session_update_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct session s;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    s.wakes = input_bool(in, "wake", s.wakes);
    TRY(session_store(tx, &s));
    out->notify = s.id;
    write_session(tx, &out->json, &s);
    return NULL;
}

static err session_stop_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str why = input_str(in, "reason");
    struct session s;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    if (!why.len)
        why = arena_printf(tx->arena, "stopped by " STR_FMT, STR_ARG(tx->actor->name));
    TRY(callback_stop_tree(tx, &s, why));
    TRY(session_load(tx, s.id, &s));
    write_session(tx, &out->json, &s);
    return NULL;
}

/* ---- what sessions tell ---- */

/* A token of a session speaks for it, and for those below it that nobody here runs: clients that
 * have agents inside of them report for all of them. */
static err speaker_check(struct tx *tx, const struct session *s)
{
    if (tx->actor->kind != ACTOR_SESSION || s->attended || str_eq(tx->actor->session_id, s->id))
        return NULL;
    return err_new(tx->arena, ERR_FORBIDDEN,
                   "session " STR_FMT " is run here and speaks for itself", STR_ARG(s->name));
}

/* What is kept of an event: all but what says whose and which it is. */
static str event_data(struct tx *tx, const struct input *in)
{
    struct json data = json_object();
    const struct json *all = in->json;

    for (uint32_t i = 0; i < all->len; i++) {
        str name = json_name(&all->members[i]);
        if (!str_eq(name, STR("session_id")) && !str_eq(name, STR("event_type")))
            json_put(tx->arena, &data, name, all->members[i].value);
    }
    str printed = json_printed(tx->arena, &data);
    if (printed.len <= EVENT_BYTES_MAX)
        return printed;
    return arena_printf(tx->arena, "{\"truncated\":true,\"bytes\":%zu}", printed.len);
}

static err session_event_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct stop_advice advice = { .block = false };
    struct session s;
    int64_t number;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    TRY(speaker_check(tx, &s));
    str type = input_str(in, "event_type"), data = event_data(tx, in);
    if (str_eq(type, STR("session_end"))) { /* nobody is there to be told anything */
        TRY(session_event_note(tx, &s, type, data, &number));
        TRY(callback_on_bridge_end(tx, &s));
    } else {
        TRY(session_event_add(tx, &s, type, data, &number));
        TRY(str_eq(type, STR("session_stop"))
                ? callback_on_stop(tx, &s, input_str(in, "error"), &advice)
                : news_take(tx, &s, false, &advice.prompt, &advice.callbacks));
    }
    out->created = true;
    out->notify = s.id;
    json_write_begin(&out->json, '{');
    write_int(&out->json, STR("number"), number);
    if (advice.block) {
        write_text(&out->json, STR("decision"), STR("block"));
        write_text(&out->json, STR("reason"), advice.prompt);
    }
    if (advice.callbacks)
        write_text(&out->json, STR("additional_context"), advice.prompt);
    write_int(&out->json, STR("callbacks"), (int64_t)advice.callbacks);
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- the table ---- */

// clang-format off

/* Fields that several operations take. */
#define SESSION_ID JSON("session_id": { "type": "string", "minLength": 1, "maxLength": 100, \
    "description": "The session: its id or its name." })
#define WAITING JSON( \
    "wait": { "type": "boolean", "default": false, \
        "description": "Wait until it has settled; when the time is up, answer as it is." }, \
    "timeout": { "type": "integer", "minimum": 0, "maximum": 60, "default": 30, \
        "description": "How many seconds to wait at most." })

static const struct op ops[] = {
    {
        .name = "session.create", .http = "POST /sessions", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Register a session that somebody runs outside of baton; to have one run, create a run.",
        .input = FIELDS(JSON("session_name"), JSON(
            "session_name": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,60}$",
                "description": "Its name, which no other session has." },
            "session_id": { "type": "string", "minLength": 1, "maxLength": 100,
                "description": "Its id, like a UUID, where the client has one already." },
            "parent_session_name": { "type": "string", "minLength": 1, "maxLength": 100,
                "description": "The session that it is below, by name or id; a root without this. A session's is below itself." },
            "workflow_state_id": { "type": "string", "minLength": 1, "maxLength": 100,
                "description": "The state of a root, by id or name. Others have the one of their tree, and may say so." },
            "project_dir": { "type": "string", "minLength": 1, "maxLength": 1200,
                "description": "Where it works; its parent's without this." },
            "agent_name": { "type": "string", "minLength": 1, "maxLength": 100,
                "description": "The agent whose role it has, as agent.list names it; without one it has no role." },
            "pointers": { "type": "array", "items": { "type": "string" }, "maxItems": 100,
                "description": "JSON Pointers to the sections of the state that it may write; its parent's without this." },
            "callback": { "type": "boolean", "default": true,
                "description": "Whether its parent is told when it has settled." })),
        .output = SESSION_SHAPE, .run = session_create_op,
    },
    {
        .name = "session.list", .http = "GET /sessions", .on = ON_HTTP | ON_MCP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION | BY_VIEWER, .tool = "list_agent_sessions",
        .summary = "List sessions by id; parents and depths tell the trees that they are.",
        .hint = "List yourself, the agents below you and the members of your project, with their status and last words.",
        .input = FIELDS("", JSON(
            "root": { "type": "string", "description": "Only those of the tree of this session." },
            "parent": { "type": "string", "description": "Only the children of this session." },
            "status": { "enum": ["pending", "running", "idle", "finished", "failed", "stopped"],
                "description": "Only those with this status; all of them when it is not given." }) "," PAGE_AFTER_ID "," PAGE_LIMIT),
        .tool_input = JSON({ "status": "", "after": "next of the last page" }),
        .tool_output = JSON({ "sessions": { "session_name": true, "status": true, "settled": true,
            "error": true, "parent_session_name": true, "agent_name": true, "last_event": true, "silent": true }, "next": true }),
        .output = SHAPE(JSON("sessions"), SHAPE_LIST("sessions", "A page of them.", SESSION_SHAPE) "," PAGE_NEXT),
        .run = session_list_op,
    },
    {
        .name = "session.get", .http = "GET /sessions/{session_id}", .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "Show a session.",
        .input = FIELDS(JSON("session_id"), SESSION_ID), .output = SESSION_SHAPE, .run = session_get_op,
    },
    {
        .name = "session.delete", .http = "DELETE /sessions/{session_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Delete a session that has ended, with all that is below it and their runs.",
        .input = FIELDS(JSON("session_id"), SESSION_ID "," JSON(
            "with_state": { "type": "boolean", "default": false,
                "description": "Of a root: delete its state, too." })),
        .output = SHAPE("", ""), .run = session_delete_op,
    },
    {
        .name = "session.clear", .http = "DELETE /sessions", .effect = OP_WRITES,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION, .tool = "delete_all_agent_sessions",
        .summary = "Delete what is below a session and has ended with all below it.",
        .hint = "Delete the sessions below you that have ended, when you have read their results: those are gone.",
        .input = FIELDS("", JSON("session_id": { "type": "string", "minLength": 1, "maxLength": 100,
            "description": "The session, by id or name; a session's token means its own without this." })),
        .tier = TIER_ROOT,
        .tool_input = JSON({ "session_id": "Default: yourself" }),
        .tool_output = JSON({ "deleted": true, "kept": true }),
        .output = SHAPE(JSON("deleted", "kept"), JSON(
            "deleted": { "type": "integer", "description": "How many of its children are gone, with all below them." },
            "kept": { "type": "integer", "description": "How many are live, or have something live below them." })),
        .run = session_clear_op,
    },
    {
        .name = "session.status", .http = "GET /sessions/{session_id}/status", .wait = true,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .tool = "get_agent_session_status",
        .summary = "Tell how a session stands; or wait until it has settled.",
        .hint = "See whether an agent below you still works. You are called back when it is done: do not poll.",
        .input = FIELDS(JSON("session_id"), SESSION_ID "," WAITING),
        .tool_input = JSON({ "session_id": "Id or name" }),
        .tool_output = JSON({ "session_name": true, "status": true, "settled": true, "state_update_status": true,
            "error": true, "last_event": true, "last_event_at": true }),
        .output = SHAPE(SESSION_HEAD_REQUIRED "," JSON("cycle", "last_event", "last_event_at"),
            SESSION_HEAD "," SESSION_CYCLE "," SESSION_HEARD "," JSON(
            "todo": { "type": ["object", "null"], "description": "How far the list is that its agent keeps in its own client (session.todos shows it); null: nothing was heard of one.",
                "required": ["done", "total", "current"], "properties": {
                    "done": { "type": "integer", "minimum": 0, "description": "How many of its entries are completed." },
                    "total": { "type": "integer", "minimum": 0, "description": "How many there are." },
                    "current": { "type": ["string", "null"], "description": "What its agent is at; null: it does not say." } } })),
        .run = session_status_op,
    },
    {
        .name = "session.result", .http = "GET /sessions/{session_id}/result", .wait = true,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .tool = "get_agent_session_result",
        .summary = "Give the last words of a session; or wait until it has settled.",
        .hint = "Read what an agent below you answered, or wait for it. What it recorded is in the shared state: state_read.",
        .input = FIELDS(JSON("session_id"), SESSION_ID "," WAITING),
        .tool_input = JSON({ "session_id": "Id or name", "wait": "Until it has settled", "timeout": "Seconds to wait" }),
        .tool_output = JSON({ "session_id": true, "session_name": true, "status": true, "settled": true, "state_update_status": true,
            "error": true, "result": true, "truncated": true, "workflow_state_version": true, "hint": true }),
        .output = SHAPE(SESSION_HEAD_REQUIRED "," JSON("result", "run_id", "workflow_state_version", "usage", "hint"),
            SESSION_HEAD "," SESSION_USAGE "," JSON(
            "result": { "type": ["string", "null"], "description": "What its agent said last; null: nothing yet." },
            "truncated": { "type": "boolean", "description": "The result is the end of a longer one: the hint says where the rest is." },
            "run_id": { "type": ["string", "null"], "description": "The run whose result this is; null: none has ended yet." },
            "workflow_state_version": { "type": ["integer", "null"], "description": "The version of its state now." },
            "hint": { "type": ["string", "null"], "description": "What to do while it has not settled." })),
        .run = session_result_op,
    },
    {
        .name = "session.state", .http = "GET /sessions/{session_id}/workflow-state", .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "Read the state that a session shares with its tree.",
        .input = FIELDS(JSON("session_id"), SESSION_ID),
        .output = SHAPE(STATE_REQUIRED, STATE_MEMBERS "," STATE_DATA), .run = session_state_op,
    },
    {
        .name = "session.event", .http = "POST /sessions/{session_id}/events", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Tell what a session does, as hooks of its client see it; a stop may be refused.",
        .input = FIELDS(JSON("session_id", "event_type"), SESSION_ID "," JSON(
            "event_type": { "enum": ["session_start", "pre_tool", "post_tool", "message", "session_stop", "session_end"],
                "description": "What happened; session_stop: its agent has done what it was asked for, and may be asked for more; session_end: its client is gone, and it settles, whatever those below it do." },
            "tool_name": { "type": "string", "description": "Of an event of a tool: its name." },
            "tool_input": { "description": "Of an event of a tool: what it was called with." },
            "tool_output": { "description": "Of an event of a tool: what it answered." },
            "role": { "type": "string", "description": "Of a message: who said it." },
            "content": { "type": "string", "description": "Of a message: what was said." },
            "reason": { "type": "string", "description": "Of a start, stop or end: why." },
            "error": { "type": "string", "maxLength": 4096, "description": "Of a stop: why it did not end well." },
            "exit_code": { "type": "integer", "description": "Of a stop: what the client ended with." },
            "details": { "type": "object", "description": "Whatever else the client tells." })),
        .output = SHAPE(JSON("number", "callbacks"), JSON(
            "number": { "type": "integer", "minimum": 1, "description": "The number of this event among those of the session: session.events takes it as after." },
            "decision": { "enum": ["block"], "description": "There when the session must not stop yet." },
            "reason": { "type": "string", "description": "What the agent has to do before it may stop; only where the decision is block." },
            "additional_context": { "type": "string", "description": "What the agent is to be told: ends of its children." },
            "callbacks": { "type": "integer", "description": "Of how many ended children additional_context tells." })),
        .run = session_event_op,
    },
    {
        .name = "session.events", .http = "GET /sessions/{session_id}/events", .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "List what a session told of itself; the newest are kept.",
        .input = FIELDS(JSON("session_id"), SESSION_ID "," JSON(
            "after": { "type": "integer", "minimum": 0, "default": 0,
                "description": "Those with a higher number than this." }) "," PAGE_LIMIT),
        .output = SHAPE(JSON("events"), SHAPE_LIST("events", "A page of them, in order.",
            SHAPE(JSON("number", "event_type", "time", "data"), JSON(
                "number": { "type": "integer", "description": "Its number among the events of the session, from 1 on: after takes it." },
                "event_type": { "type": "string", "description": "What happened, like session_start, pre_tool, post_tool, message or session_stop." },
                "time": { "type": "string", "format": "date-time", "description": "When the server was told of it." },
                "data": { "type": "object", "description": "All that was told with it; of more than 64 KiB only that it was truncated, and how long it was." }))) "," PAGE_NEXT_NUMBER),
        .run = session_events_op,
    },
    {
        .name = "session.update", .http = "PATCH /sessions/{session_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Say whether the idle client of a session that a person started may be woken.",
        .input = FIELDS(JSON("session_id", "wake"), SESSION_ID "," JSON(
            "wake": { "type": "boolean", "description": "Whether it is woken for ends of its children and for messages of people." })),
        .output = SESSION_SHAPE, .run = session_update_op,
    },
    {
        .name = "session.stop", .http = "POST /sessions/{session_id}/stop", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Stop a session and all that is below it; what runs is asked to end.",
        .input = FIELDS(JSON("session_id"), SESSION_ID "," JSON(
            "reason": { "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "Why, for those who wonder later." })),
        .output = SESSION_SHAPE, .run = session_stop_op,
    },
};
// clang-format on

const struct op_list session_ops = { ops, sizeof ops / sizeof *ops };
