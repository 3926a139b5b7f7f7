/* runs.c: operations on runs, and their table. */
#include "base/date.h"
#include "core/output.h"
#include "core/run.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

/* ---- one run ---- */

static void write_demands(struct tx *tx, struct json_writer *w, const struct run *r)
{
    struct demand d;

    demand_read(tx->arena, r->demand, &d);
    if (d.unreadable)
        stored_note(tx, stored_damage(tx, THING("run", r->id), DEMAND_UNREADABLE));
    write_begin(w, STR("demands"), '{');
    write_or_null(w, STR("hostname"), d.hostname);
    write_or_null(w, STR("profile"), d.profile);
    write_or_null(w, STR("project_dir"), d.project_dir);
    if (d.user.len)
        write_text(w, STR("user"), d.user);
    write_texts(w, STR("tags"), d.tags, d.tag_count);
    json_write_end(w, '}');
}

static void write_times(struct json_writer *w, const struct run *r)
{
    write_time(w, STR("created_at"), r->created_at_ms);
    write_time_or_null(w, STR("not_before"), r->not_before_ms);
    write_time_or_null(w, STR("claimed_at"), r->claimed_at_ms);
    write_time_or_null(w, STR("started_at"), r->started_at_ms);
    write_time_or_null(w, STR("ended_at"), r->ended_at_ms);
}

static void write_run(struct tx *tx, struct json_writer *w, const struct run *r, bool whole)
{
    json_write_begin(w, '{');
    write_text(w, STR("run_id"), r->id);
    write_or_null(w, STR("session_id"), r->session_id);
    write_or_null(w, STR("session_name"), r->session_name);
    write_or_null(w, STR("type"), team_name(&run_type_words, (int)r->type));
    write_text(w, STR("purpose"), team_name(&purpose_words, (int)r->purpose));
    write_text(w, STR("status"), team_name(&run_words, (int)r->status));
    write_text(w, STR("execution_mode"), team_name(&mode_words, (int)r->mode));
    write_bool(w, STR("queued"), r->queued);
    write_or_null(w, STR("agent_name"), r->agent);
    write_or_null(w, STR("profile"), r->profile);
    write_or_null(w, STR("project_dir"), r->project_dir);
    write_demands(tx, w, r);
    write_int(w, STR("priority"), r->priority);
    write_seconds(w, STR("max_seconds"), r->max_ms);
    write_int(w, STR("cycle"), r->cycle);
    write_int(w, STR("attempt"), r->attempt);
    write_or_null(w, STR("runner_id"), r->runner_id);
    write_times(w, r);
    write_stored(tx, w, STR("metadata"), THING("run", r->id), r->metadata);
    write_or_null(w, STR("error"), r->error);
    if (r->exit_code >= 0)
        write_int(w, STR("exit_code"), r->exit_code);
    else
        write_null(w, STR("exit_code"));
    if (r->owner.len)
        write_text(w, STR("owner"), r->owner);
    if (whole && run_is_command(r)) {
        write_stored(tx, w, STR("argv"), THING("run", r->id), r->argv);
        write_text(w, STR("stdin"), r->input);
    }
    if (whole) {
        write_text(w, STR("prompt"), r->prompt);
        write_or_null(w, STR("result"), r->result);
        if (r->result_cut)
            write_bool(w, STR("truncated"), true);
    }
    json_write_end(w, '}');
}

static err run_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct run r;

    TRY(run_get(tx, input_str(in, "run_id"), &r));
    write_run(tx, &out->json, &r, true);
    return NULL;
}

static err run_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct run_filter filter = { .after = input_str(in, "after"),
                                 .session_id = input_str(in, "session"),
                                 .status = input_str(in, "status"),
                                 .limit = page_rows(in) };
    const struct run *all;
    size_t count;

    TRY(run_list(tx, &filter, &all, &count));
    size_t shown = page_begin(in, out, STR("runs"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_run(tx, &out->json, &all[i], false);
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

/* ---- what they have written ---- */

static void write_output(struct json_writer *w, const struct output *o)
{
    json_write_begin(w, '{');
    write_int(w, STR("number"), o->number);
    write_text(w, STR("stream"), o->error ? STR("stderr") : STR("stdout"));
    write_text(w, STR("text"), o->text);
    write_time(w, STR("time"), o->at_ms);
    json_write_end(w, '}');
}

static err run_output_op(struct tx *tx, const struct input *in, struct answer *out)
{
    int64_t after = input_int(in, "after", 0), wait_s = input_int(in, "wait", 0);
    const struct output *all;
    struct run r;
    size_t count;

    TRY(run_get(tx, input_str(in, "run_id"), &r));
    TRY(output_list(tx, r.id, after, input_int(in, "limit", 100), &all, &count));
    if (!count && wait_s && run_is_live(r.status) && !in->wait_over) {
        out->waits = true;
        out->wait_subject = r.id;
        out->wait_seq = *tx->seq;
        out->wait_until_ms = tx->now_ms + wait_s * 1000;
        return NULL;
    }
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("run_id"), r.id);
    write_text(&out->json, STR("status"), team_name(&run_words, (int)r.status));
    write_begin(&out->json, STR("output"), '[');
    size_t shown = count;
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_output(&out->json, &all[i]);
    json_write_end(&out->json, ']');
    write_int(&out->json, STR("next"), shown ? all[shown - 1].number : after);
    write_bool(&out->json, STR("ended"), !run_is_live(r.status) && !count);
    json_write_end(&out->json, '}');
    return NULL;
}

enum { SYNC_WAIT_S = 45, METADATA_BYTES_MAX = 16384 };

/* ---- asking for one ---- */

static enum run_type type_of(const struct input *in)
{
    str name = str_from(in->op->name);

    if (str_eq(name, STR("session.start")))
        return RUN_TYPE_START;
    if (str_eq(name, STR("session.resume")))
        return RUN_TYPE_RESUME;
    return (enum run_type)team_word(&run_type_words, input_str(in, "type"));
}

/* An agent is called back by what it starts, unless it says otherwise; the operator looks. */
static err mode_of(struct tx *tx, const struct input *in, enum run_mode *out)
{
    str asked = input_str(in, "execution_mode");
    bool callback = input_bool(in, "callback", false);

    *out = callback || tx->actor->kind == ACTOR_SESSION ? MODE_CALLBACK : MODE_POLL;
    if (asked.len)
        *out = (enum run_mode)team_word(&mode_words, asked);
    if (callback && *out != MODE_CALLBACK)
        return err_new(tx->arena, ERR_INVALID,
                       "\"callback\" means the execution mode async_callback, found \"" STR_FMT
                       "\": leave one of them out",
                       STR_ARG(asked));
    return NULL;
}

static struct demand demand_in(struct tx *tx, const struct input *in)
{
    const struct json *demands = input_declares(in, "demands") ? input_json(in, "demands") : NULL;
    const struct json *tags = json_get(demands, "tags");
    uint32_t count = tags ? tags->len : 0;
    str *copies = ARENA_ARRAY(tx->arena, str, count);

    for (uint32_t i = 0; i < count; i++)
        copies[i] = json_text(&tags->items[i]);
    return (struct demand){ .hostname = json_str(demands, "hostname"),
                            .tags = copies,
                            .tag_count = count };
}

static err run_new_in(struct tx *tx, const struct input *in, struct run_new *out)
{
    const struct json *metadata = input_json(in, "metadata");
    str when = input_str(in, "not_before");

    *out = (struct run_new){ .type = type_of(in),
                             .purpose = PURPOSE_WORK,
                             .prompt = input_str(in, "prompt"),
                             .demand = demand_in(tx, in),
                             .priority = input_int(in, "priority", 0),
                             .max_ms = input_int(in, "max_seconds", 0) * 1000,
                             .metadata = metadata ? json_printed(tx->arena, metadata) : STR("") };
    if (when.len && !date_parse(when, &out->not_before_ms))
        return err_new(tx->arena, ERR_INVALID,
                       "expected \"not_before\" to be a time like 2025-01-15T10:35:00Z");
    if (out->metadata.len > METADATA_BYTES_MAX)
        return err_new(tx->arena, ERR_TOO_LARGE, "\"metadata\" may have %d bytes, found %zu",
                       METADATA_BYTES_MAX, out->metadata.len);
    return mode_of(tx, in, &out->mode);
}

/* Who wants the result in the answer waits for it after all of this is committed. */
static void answer_with_result(struct tx *tx, const struct input *in, str session_id,
                               struct answer *out)
{
    out->then = "session.result";
    out->then_input = json_object();
    json_put(tx->arena, &out->then_input, STR("session_id"), json_string(session_id));
    json_put(tx->arena, &out->then_input, STR("wait"), json_bool(true));
    json_put(tx->arena, &out->then_input, STR("timeout"),
             json_int(tx->arena, input_int(in, "timeout", SYNC_WAIT_S)));
}

/* What a session that is started is to be; one that is resumed is what it is. */
static void start_in(const struct input *in, struct run_request *q)
{
    const struct json *demands = input_json(in, "demands");
    str dir = input_str(in, "project_dir");

    q->parent = input_str(in, "parent_session_name");
    q->pointers = input_json(in, "pointers");
    q->agent = input_str(in, "agent_name");
    q->profile = json_str(demands, "profile");
    q->project_dir = dir.len ? dir : json_str(demands, "project_dir");
    q->project = input_str(in, "project");
}

static err run_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct run_request q = { .session_name = input_str(in, "session_name") };
    struct session s;
    struct run r;

    TRY(run_new_in(tx, in, &q.run));
    if (input_declares(in, "session_id"))
        q.session_id = input_str(in, "session_id");
    if (q.run.type == RUN_TYPE_START)
        start_in(in, &q);
    TRY(run_request(tx, &q, &s, &r));
    out->created = true;
    if (q.run.mode == MODE_SYNC)
        answer_with_result(tx, in, s.id, out);
    write_run(tx, &out->json, &r, true);
    return NULL;
}

static err run_stop_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct run r;

    TRY(run_get(tx, input_str(in, "run_id"), &r));
    str why = input_str(in, "reason");
    TRY(run_stop(
        tx, &r,
        why.len ? why : arena_printf(tx->arena, "stopped by " STR_FMT, STR_ARG(tx->actor->name))));
    write_run(tx, &out->json, &r, true);
    return NULL;
}

/* ---- the table ---- */

// clang-format off

#define RUN_ID JSON("run_id": { "type": "string", "description": "The run, as run.create, session.start or run.list answered its id." })

#define RUN_MEMBERS JSON(                                                                          \
    "run_id": { "type": "string", "description": "What run.get, run.output and run.stop take." },                                      \
    "session_id": { "type": ["string", "null"], "description": "The session whose turn it is; null: a command has none." }, \
    "session_name": { "type": ["string", "null"], "description": "How people call that session; requests take it in place of the id." }, \
    "type": { "enum": ["start_session", "resume_session", null], "description": "The first turn, or a later one; null: a command is no turn." }, \
    "purpose": { "enum": ["work", "state_update", "callback", "task", "command"], "description": "Why there is this turn: work was asked for, a state update is owed, ends of children are told, or a task is given. command: it is none, but what a definition or a project has a runner execute." }, \
    "status": { "enum": ["pending", "claimed", "running", "stopping", "completed", "failed", "timed_out", "stopped"], \
        "description": "pending waits for a runner, claimed for its start, stopping for its end; the last four have ended." }, \
    "execution_mode": { "enum": ["sync", "async_poll", "async_callback"], "description": "How whoever asked hears of the end." }, \
    "queued": { "type": "boolean", "description": "Whether a runner may claim it now." },          \
    "agent_name": { "type": ["string", "null"], "description": "The agent whose role its session has; null: none." }, \
    "profile": { "type": ["string", "null"], "description": "The profile that says how its client is started." }, \
    "project_dir": { "type": ["string", "null"], "description": "The folder that its session works in; null: wherever the runner does." }, \
    "demands": { "type": "object", "description": "What it asks of its runner: hostname, user, profile, project_dir, tags." }, \
    "priority": { "type": "integer", "description": "From -1000 to 1000: of runs that a runner could take, the one with more comes first." }, \
    "max_seconds": { "type": "integer", "description": "After so many seconds it is ended as timed_out." }, \
    "cycle": { "type": "integer", "description": "The cycle of its session that it belongs to: 1, 2 and so on; of a command 0." }, \
    "attempt": { "type": "integer", "description": "1, and one more for each runner that lost it." }, \
    "runner_id": { "type": ["string", "null"], "description": "The runner that claimed it last." }, \
    "created_at": { "type": "string", "format": "date-time", "description": "When it was asked for; of runs with one priority the oldest comes first." }, \
    "not_before": { "type": ["string", "null"], "description": "No runner gets it before this." }, \
    "claimed_at": { "type": ["string", "null"], "description": "When a runner claimed it last; null: none has." }, \
    "started_at": { "type": ["string", "null"], "description": "When its agent was started; null: it has not been." }, \
    "ended_at": { "type": ["string", "null"], "description": "When it ended; null: it has not." }, \
    "metadata": { "type": "object", "description": "What whoever asked for it has noted." },       \
    "error": { "type": ["string", "null"], "description": "Why it did not end well; null where it did, or has not ended." }, \
    "exit_code": { "type": ["integer", "null"], "description": "What its process ended with; null: it has not ended, or not by itself." }, \
    "owner": { "type": "string", "description": "Of a command: what it was made for, in words of its maker." })

#define RUN_REQUIRED JSON("run_id", "session_id", "session_name", "type", "purpose", "status", "created_at")

#define RUN_SHAPE SHAPE(RUN_REQUIRED, RUN_MEMBERS "," JSON(                                        \
    "prompt": { "type": "string", "description": "What the agent is asked in this turn." },        \
    "argv": { "type": "array", "items": { "type": "string" }, "description": "Of a command: the program and its arguments." }, \
    "stdin": { "type": "string", "description": "Of a command: what it gets on its standard input." }, \
    "result": { "type": ["string", "null"], "description": "The agent's last words, or the end of what a command wrote to stdout; null until it has ended." }, \
    "truncated": { "type": "boolean", "description": "The result is the end of a longer one; what the run wrote is in its output (baton logs)." }))

/* What both ways to ask for a run take. */
#define PROMPT_FIELDS JSON(                                                                        \
    "prompt": { "type": "string", "minLength": 1, "maxLength": 1048576, "description": "What the agent is to do." }, \
    "execution_mode": { "enum": ["sync", "async_poll", "async_callback"],                          \
        "description": "sync: answer with the result; async_poll: be asked for it later; async_callback: call the parent back when it is there." }, \
    "callback": { "type": "boolean", "description": "The same as the mode async_callback." },      \
    "timeout": { "type": "integer", "minimum": 0, "maximum": 60, "default": 45,                    \
        "description": "Of the mode sync: how many seconds to wait; then the answer says how to go on." }, \
    "metadata": { "type": "object", "description": "Any object of the caller; it is kept with the run and shown with it." }, \
    "max_seconds": { "type": "integer", "minimum": 1, "maximum": 2592000, "description": "After so many seconds it is ended as timed_out." }, \
    "priority": { "type": "integer", "minimum": -1000, "maximum": 1000, "default": 0, "description": "From -1000 to 1000: of runs that a runner could take, the one with more comes first." }, \
    "not_before": { "type": "string", "format": "date-time", "description": "No runner gets it before this." })

#define START_FIELDS JSON(                                                                         \
    "agent_name": { "type": "string", "description": "The role of a new session, as /agents lists them." }, \
    "project_dir": { "type": "string", "maxLength": 1200, "pattern": "^/", "description": "Where a new session works; its parent's unless given." }, \
    "project": { "type": "string", "maxLength": 100, "description": "The project that a new root works for: it has that one's state." }, \
    "parent_session_name": { "type": "string", "description": "The session that a new one is below of; a session's own unless given." }, \
    "pointers": { "type": "array", "items": { "type": "string" }, "maxItems": 100, "description": "JSON Pointers to the sections of the state that a new session may write; its parent's unless given." }, \
    "demands": { "type": "object", "additionalProperties": false,                                  \
        "description": "What the run asks of its runner.",                                         \
        "properties": {                                                                            \
            "hostname": { "type": "string", "maxLength": 255, "description": "Only a runner that registered with this hostname gets it." },    \
            "tags": { "type": "array", "maxItems": 20, "items": { "type": "string", "minLength": 1, "maxLength": 100 }, \
                "description": "Only a runner that has all of these tags." },                      \
            "profile": { "type": "string", "maxLength": 100, "description": "That kind of client, unless the agent says." }, \
            "project_dir": { "type": "string", "maxLength": 1200, "pattern": "^/", "description": "That directory; the same as project_dir." } } })

/* What a tool tells of a turn that was asked for. */
#define RUN_TELLS JSON({ "session_id": true, "session_name": true, "status": true })

static const struct op ops[] = {
    {
        .name = "run.create", .http = "POST /runs", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Ask for a turn of a session: start a new one, or resume one.",
        .input = FIELDS(JSON("type", "prompt"), JSON(
            "type": { "enum": ["start_session", "resume_session"], "description": "A new session, or one that has begun." },
            "session_name": { "type": "string", "description": "The session's name: a new one must not be taken." },
            "session_id": { "type": "string", "description": "The session's id, or its name." }) ","
            PROMPT_FIELDS "," START_FIELDS),
        .output = RUN_SHAPE, .run = run_create_op,
    },
    {
        .name = "session.start", .effect = OP_WRITES, .on = ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .tool = "start_agent_session",
        .summary = "Start a session with a prompt.",
        .hint = "Start another agent below you for a task of its own. Go on or end your turn: you are called back when it is done.",
        .input = FIELDS(JSON("session_name", "prompt"), JSON(
            "session_name": { "type": "string", "description": "A name that is not taken: letters, digits, - and _." }) ","
            PROMPT_FIELDS "," START_FIELDS),
        .tool_input = JSON({
            "session_name": "New: letters, digits, - and _",
            "prompt": "The whole task: it sees nothing of yours but the shared state",
            "agent_name": "Its role: list_agent_blueprints",
            "execution_mode": "sync: wait for its answer; default async_callback",
            "project_dir": "Default: yours",
            "pointers": "Parts of the state that it may write; default: yours",
            "max_seconds": "" }),
        .tool_output = RUN_TELLS,
        .output = RUN_SHAPE, .run = run_create_op,
    },
    {
        .name = "session.resume", .effect = OP_WRITES, .on = ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .tool = "resume_agent_session",
        .summary = "Ask a session that has begun for another turn.",
        .hint = "Ask an agent below you for more work in the same conversation, after it has settled.",
        .input = FIELDS(JSON("session_name", "prompt"), JSON(
            "session_name": { "type": "string", "description": "The session to go on with: its name or its id." }) "," PROMPT_FIELDS),
        .tool_input = JSON({ "session_name": "Name or id", "prompt": "", "execution_mode": "sync: wait for its answer" }),
        .tool_output = RUN_TELLS,
        .output = RUN_SHAPE, .run = run_create_op,
    },
    {
        .name = "run.list", .http = "GET /runs", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "List runs: of one session in their order, or all by id.",
        .input = FIELDS("", JSON(
            "session": { "type": "string", "description": "Only those of this session, by id or name; a session sees its own unless given." },
            "status": { "enum": ["pending", "claimed", "running", "stopping", "completed", "failed", "timed_out", "stopped"],
                "description": "Only those with this status." }) "," PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("runs"), SHAPE_LIST("runs", "A page of them, without prompts and results.", SHAPE(RUN_REQUIRED, RUN_MEMBERS)) "," PAGE_NEXT),
        .run = run_list_op,
    },
    {
        .name = "run.get", .http = "GET /runs/{run_id}", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "Show a run.",
        .input = FIELDS(JSON("run_id"), RUN_ID), .output = RUN_SHAPE, .run = run_get_op,
    },
    {
        .name = "run.stop", .http = "POST /runs/{run_id}/stop", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION,
        .summary = "Stop a run: at once when no runner has it, else as soon as its runner hears of it.",
        .input = FIELDS(JSON("run_id"), RUN_ID "," JSON(
            "reason": { "type": "string", "maxLength": 1000, "description": "Why; it is shown as the run's error." })),
        .output = RUN_SHAPE, .run = run_stop_op,
    },
    {
        .name = "run.output", .http = "GET /runs/{run_id}/output", .wait = true, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "Show what the agent of a run has written, from a number on; or wait for more.",
        .input = FIELDS(JSON("run_id"), RUN_ID "," JSON(
            "after": { "type": "integer", "minimum": 0, "default": 0, "description": "Pieces with a higher number than this." },
            "wait": { "type": "integer", "minimum": 0, "maximum": 60, "default": 0,
                "description": "Seconds to wait for a piece when there is none yet." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100, "description": "How many pieces to answer at most; about 1 MiB ends a page as well." })),
        .output = SHAPE(JSON("run_id", "status", "output", "next", "ended"), JSON(
            "run_id": { "type": "string", "description": "The run, as run.create, session.start or run.list answered its id." },
            "status": { "type": "string", "description": "pending waits for a runner, claimed for its start, stopping for its end; the last four have ended." },
            "next": { "type": "integer", "description": "What to ask for with after, to go on." },
            "ended": { "type": "boolean", "description": "Whether this was all that there will be." }) ","
            SHAPE_LIST("output", "In order; the oldest go when there is too much.", SHAPE(JSON("number", "stream", "text", "time"), JSON(
                "number": { "type": "integer", "description": "Of the run's pieces: 1, 2 and so on." },
                "stream": { "enum": ["stdout", "stderr"], "description": "Which of its streams the agent wrote this to." },
                "text": { "type": "string", "description": "What was written, as it came; a piece may end within a line." },
                "time": { "type": "string", "format": "date-time", "description": "When the runner reported it." })))),
        .run = run_output_op,
    },
};
// clang-format on

const struct op_list run_ops = { ops, sizeof ops / sizeof *ops };
