/* tasks.c: the extension of tasks, for those clients of 2026-07-28 that have it.
 *
 * A task is a run. It is `working` until its session has settled, since the result of a start is
 * that of the whole work, the update of the state included; and `cancelled` when it was stopped. An
 * agent that failed has a result that says so, as one who waited for it would be told: its task is
 * `completed`. `failed` is kept by the protocol for calls that end in an error of JSON-RPC, and a
 * call that has started a run has ended in none. */
#include <assert.h>

#include "mcp/mcp_private.h"
#include "mcp/write.h"
#include "mcp/tools.h"

enum { POLL_MS = 2000 };

enum task_status { TASK_WORKING, TASK_COMPLETED, TASK_CANCELLED };

// clang-format off
static const struct {
    const char *run;
    enum task_status task;
} statuses[] = {
    { "pending",   TASK_WORKING   },
    { "claimed",   TASK_WORKING   },
    { "running",   TASK_WORKING   },
    { "stopping",  TASK_WORKING   },
    { "completed", TASK_COMPLETED },
    { "failed",    TASK_COMPLETED },
    { "timed_out", TASK_COMPLETED },
    { "stopped",   TASK_CANCELLED },
};

static const char *const status_names[] = {
    [TASK_WORKING] = "working", [TASK_COMPLETED] = "completed", [TASK_CANCELLED] = "cancelled",
};
// clang-format on

/* One that is looked at: what run.get has answered of it. */
struct task {
    const struct json *run;
    str subscription; /* the listener's whom it is shown to; empty: tasks/get asks */
};

static enum task_status status_of(const struct json *run)
{
    str status = json_str(run, "status");

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (str_eq(status, str_from(statuses[i].run)))
            return statuses[i].task;
    assert(!"a run has one of these");
    return TASK_WORKING;
}

/* ---- how it is shown ---- */

static str last_updated(const struct json *run)
{
    static const char *const times[] = { "ended_at", "started_at", "claimed_at" };

    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (json_str(run, times[i]).len)
            return json_str(run, times[i]);
    return json_str(run, "created_at");
}

/* What somebody who waits may read. */
static str message_of(struct arena *a, const struct json *run, enum task_status status)
{
    str name = json_str(run, "session_name"), how = json_str(run, "status");

    if (status == TASK_CANCELLED)
        return json_str(run, "error");
    if (status == TASK_COMPLETED)
        return STR("");
    return arena_printf(a,
                        status_of(run) == TASK_WORKING
                            ? "session " STR_FMT " is at work: its run is " STR_FMT
                            : "session " STR_FMT " has not settled: its run is " STR_FMT,
                        STR_ARG(name), STR_ARG(how));
}

static void write_task(struct arena *a, struct json_writer *w, const struct json *run,
                       enum task_status status)
{
    str message = message_of(a, run, status);

    write_text(w, STR("taskId"), json_str(run, "run_id"));
    write_text(w, STR("status"), str_from(status_names[status]));
    if (message.len)
        write_text(w, STR("statusMessage"), message);
    write_text(w, STR("createdAt"), json_str(run, "created_at"));
    write_text(w, STR("lastUpdatedAt"), last_updated(run));
    write_null(w, STR("ttlMs"));
    write_int(w, STR("pollIntervalMs"), POLL_MS);
}

/* What the tool that started it would have answered. */
static void write_result(struct mcp_call *m, struct json_writer *w, str told)
{
    write_begin(w, STR("result"), '{');
    write_begin(w, STR("content"), '[');
    write_text_block(w, told);
    json_write_end(w, ']');
    if (tool_is_structured(m))
        write_printed(w, STR("structuredContent"), told);
    json_write_end(w, '}');
}

void task_answer_created(struct mcp_call *m, const struct json *run)
{
    struct json_writer *w = mcp_result_begin_as(m, "task");

    write_task(m->arena, w, run, TASK_WORKING);
    mcp_result_end(m);
}

/* The task as the answer, or as what a listener is sent. `result` is empty while it has none. */
static void answer_task(struct mcp_call *m, enum task_status status, str result)
{
    const struct task *t = m->own;
    struct buf out = buf_in(m->arena);
    struct json_writer notification = json_writer_to(&out), *w = &notification;

    if (t->subscription.len) {
        rpc_begin_notification(w, STR("notifications/tasks"));
        json_write_begin(w, '{');
        write_subscription(w, t->subscription);
    } else {
        w = mcp_result_begin(m);
    }
    write_task(m->arena, w, t->run, status);
    if (status == TASK_COMPLETED)
        write_result(m, w, result);
    if (!t->subscription.len) {
        mcp_result_end(m);
        return;
    }
    json_write_end(w, '}');
    rpc_end(w);
    m->next = MCP_ANSWER;
    m->status = 200;
    m->answer = buf_str(&out);
}

/* ---- looking at one ---- */

static bool failed(struct mcp_call *m, const struct command *done)
{
    if (!done->error)
        return false;
    mcp_refuse_error(m, done->error, RPC_PARAMS, STR(""));
    return true;
}

static void result_done(struct mcp_call *m, const struct command *done)
{
    const struct tool *tool = tool_of(m->mcp, "session.result");
    struct buf told = buf_in(m->arena);

    if (failed(m, done))
        return;
    projection_write(&told, done->answer.text, tool->tool_output, tool->output_count);
    answer_task(m, TASK_COMPLETED, buf_str(&told));
}

static void ask_session(struct mcp_call *m, const char *op,
                        void (*then)(struct mcp_call *m, const struct command *done))
{
    const struct task *t = m->own;
    struct json input = json_object();

    json_put(m->arena, &input, STR("session_id"), json_string(json_str(t->run, "session_id")));
    mcp_ask_with(m, op, input, then);
}

/* The same of a session that has been asked for more since: what its run said is what is left of
 * the work that this was. */
static str told_by_run(struct arena *a, const struct json *run)
{
    static const char *const members[] = { "session_id", "session_name", "status", "result",
                                           "error" };
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (json_str(run, members[i]).len)
            write_text(&w, str_from(members[i]), json_str(run, members[i]));
    write_bool(&w, STR("settled"), true);
    json_write_end(&w, '}');
    return buf_str(&out);
}

static void session_done(struct mcp_call *m, const struct command *done)
{
    const struct task *t = m->own;

    if (failed(m, done))
        return;
    const struct json *session = mcp_answer_json(m, done);
    if (json_int_or(session, "cycle", 0) > json_int_or(t->run, "cycle", 0))
        answer_task(m, TASK_COMPLETED, told_by_run(m->arena, t->run));
    else if (json_bool_or(session, "settled", false))
        ask_session(m, "session.result", result_done);
    else
        answer_task(m, TASK_WORKING, STR(""));
}

static void run_done(struct mcp_call *m, const struct command *done)
{
    struct task *t = m->own;

    if (failed(m, done))
        return;
    t->run = mcp_answer_json(m, done);
    enum task_status status = status_of(t->run);
    if (status == TASK_COMPLETED)
        ask_session(m, "session.status", session_done);
    else
        answer_task(m, status, STR(""));
}

static void ask_run(struct mcp_call *m, const char *op, str id,
                    void (*then)(struct mcp_call *m, const struct command *done))
{
    struct json input = json_object();

    json_put(m->arena, &input, STR("run_id"), json_string(id));
    mcp_ask_with(m, op, input, then);
}

void mcp_task_status(struct mcp_call *m, str task_id, str subscription)
{
    struct task *t = ARENA_NEW(m->arena, struct task);

    t->subscription = subscription;
    m->client.version = MCP_2026_07_28; /* no other has tasks */
    m->own = t;
    ask_run(m, "run.get", task_id, run_done);
}

/* ---- methods ---- */

bool task_check_client(struct mcp_call *m)
{
    if (m->client.tasks)
        return true;
    mcp_refuse(m, RPC_CAPABILITY,
               STR("{\"requiredCapabilities\":{\"extensions\":{\"" MCP_EXTENSION_TASKS "\":{}}}}"),
               "this needs a client that declares the extension " MCP_EXTENSION_TASKS);
    return false;
}

static bool task_named(struct mcp_call *m, str *id)
{
    return task_check_client(m) && mcp_param_str(m, "taskId", true, id);
}

void mcp_tasks_get(struct mcp_call *m)
{
    str id;

    if (task_named(m, &id))
        mcp_task_status(m, id, STR(""));
}

static void acknowledge(struct mcp_call *m, const struct command *done)
{
    if (failed(m, done))
        return;
    mcp_result_begin(m);
    mcp_result_end(m);
}

/* No task of ours ever awaits input: what is sent is for no question that is open. */
void mcp_tasks_update(struct mcp_call *m)
{
    str id;

    if (!task_named(m, &id))
        return;
    if (json_is(json_get(m->message.params, "inputResponses"), JSON_OBJECT))
        ask_run(m, "run.get", id, acknowledge);
    else
        mcp_refuse(m, RPC_PARAMS, STR(""), "params.inputResponses must be an object");
}

/* One that has ended already stays as it is, and that is no mistake. */
void mcp_tasks_cancel(struct mcp_call *m)
{
    str id;

    if (task_named(m, &id))
        ask_run(m, "run.stop", id, acknowledge);
}
