/* fixture_jobs.c: the suite's tools that are tasks, for clients that have the extension.
 *
 * A task does nothing but let time pass, so nothing runs: how it stands is worked out of the time
 * when somebody asks. It is remembered for as long as its ttlMs says, and not stored. */
#include <stdio.h>

#include "base/date.h"
#include "base/digest.h"
#include "base/utf8.h"
#include "suites/fixture.h"
#include "mcp/mcp_private.h"
#include "mcp/write.h"

#define TASKS_MAX 256
#define TEXT_MAX 200
#define TASK_LIVES_MS (5 * 60 * 1000)
#define POLL_MS 200

enum job_end { ENDS_WELL, ENDS_IN_ERROR, ENDS_IN_FAULT };

/* What a task does. */
struct fixture_job {
    enum job_end end;
    int64_t takes_ms;
    const struct fixture_question *questions; /* that must be answered first; NULL: none */
};

struct fixture_task {
    char id[40];
    const struct fixture_job *job;
    int64_t created_ms, updated_ms;
    int64_t until_ms; /* when its work is done, if nobody has to be waited for */
    bool cancelled;
    unsigned answered; /* bit i: question i */
    char text[TEXT_MAX];
};

/* ---- how it stands ---- */

enum task_status { WORKING, NEEDS_INPUT, COMPLETED, FAILED, CANCELLED };

static const char *const status_names[] = { "working", "input_required", "completed", "failed",
                                            "cancelled" };

static bool is_open(const struct fixture_task *t, unsigned question)
{
    return t->job->questions && t->job->questions[question].key && !(t->answered >> question & 1);
}

static bool needs_input(const struct fixture_task *t)
{
    for (unsigned i = 0; t->job->questions && t->job->questions[i].key; i++)
        if (is_open(t, i))
            return true;
    return false;
}

static enum task_status status_of(const struct fixture_task *t, int64_t now_ms)
{
    if (t->cancelled)
        return CANCELLED;
    if (needs_input(t))
        return NEEDS_INPUT;
    if (now_ms < t->until_ms)
        return WORKING;
    return t->job->end == ENDS_IN_FAULT ? FAILED : COMPLETED;
}

static void write_time(struct json_writer *w, str name, int64_t ms)
{
    char text[DATE_TEXT_MAX];

    write_text(w, name, date_print(text, ms));
}

static void write_task(struct json_writer *w, const struct fixture_task *t, enum task_status status)
{
    bool ended = status == COMPLETED || status == FAILED;

    write_text(w, STR("taskId"), str_from(t->id));
    write_text(w, STR("status"), str_from(status_names[status]));
    write_time(w, STR("createdAt"), t->created_ms);
    write_time(w, STR("lastUpdatedAt"), ended ? t->until_ms : t->updated_ms);
    write_int(w, STR("ttlMs"), TASK_LIVES_MS);
    write_int(w, STR("pollIntervalMs"), POLL_MS);
}

static void write_result(struct json_writer *w, const struct fixture_task *t)
{
    write_begin(w, STR("result"), '{');
    write_text(w, STR("resultType"), STR("complete"));
    write_begin(w, STR("content"), '[');
    write_text_block(w, str_from(t->text));
    json_write_end(w, ']');
    write_bool(w, STR("isError"), t->job->end == ENDS_IN_ERROR);
    json_write_end(w, '}');
}

static void write_fault(struct json_writer *w, const struct fixture_task *t)
{
    write_begin(w, STR("error"), '{');
    write_int(w, STR("code"), RPC_INTERNAL);
    write_text(w, STR("message"), str_from(t->text));
    json_write_end(w, '}');
}

static void write_questions(struct json_writer *w, const struct fixture_task *t)
{
    write_begin(w, STR("inputRequests"), '{');
    for (unsigned i = 0; t->job->questions[i].key; i++)
        if (is_open(t, i))
            fixture_write_request(w, &t->job->questions[i]);
    json_write_end(w, '}');
}

/* ---- the tasks ---- */

/* An id that cannot be guessed, since it is all that tasks/get asks for. */
static void make_id(struct mcp_call *m, struct fixture_task *t, int64_t number)
{
    unsigned char mac[SHA256_BYTES];
    str secret = { (const char *)m->mcp->options.secret, sizeof m->mcp->options.secret };

    hmac_sha256(secret, arena_printf(m->arena, "fixture-task %lld", (long long)number), mac);
    str hex = hex_encode(m->arena, (str){ (const char *)mac, 12 });
    snprintf(t->id, sizeof t->id, "task-" STR_FMT, STR_ARG(hex));
}

static void say(struct fixture_task *t, str text)
{
    snprintf(t->text, sizeof t->text, STR_FMT, STR_ARG(utf8_cut(text, sizeof t->text - 1)));
}

/* NULL: there is no room for it, and that was answered. */
static struct fixture_task *task_new(struct mcp_call *m, const struct fixture_job *job)
{
    struct fixtures *f = fixtures_of(m);

    if (!f->tasks)
        f->tasks = ARENA_ARRAY(m->mcp->arena, struct fixture_task, TASKS_MAX);
    struct fixture_task *t = &f->tasks[f->task_count % TASKS_MAX];
    if (f->task_count >= TASKS_MAX && m->now_ms < t->created_ms + TASK_LIVES_MS) {
        mcp_refuse(m, RPC_INTERNAL, STR(""), "there are %d tasks already: try later", TASKS_MAX);
        return NULL;
    }
    *t = (struct fixture_task){ .job = job, .created_ms = m->now_ms, .updated_ms = m->now_ms };
    make_id(m, t, ++f->task_count);
    return t;
}

static struct fixture_task *task_find(struct mcp_call *m, str id)
{
    struct fixtures *f = fixtures_of(m);
    int64_t count = f->task_count < TASKS_MAX ? f->task_count : TASKS_MAX;

    for (int64_t i = 0; i < count; i++)
        if (str_eq(str_from(f->tasks[i].id), id))
            return &f->tasks[i];
    return NULL;
}

static void begin_task(struct mcp_call *m, const struct fixture_job *job, int64_t takes_ms,
                       str text)
{
    struct fixture_task *t = task_new(m, job);

    if (!t)
        return;
    t->until_ms = m->now_ms + takes_ms;
    say(t, text);
    struct json_writer *w = mcp_result_begin_as(m, "task");
    write_task(w, t, WORKING);
    mcp_result_end(m);
}

/* ---- methods ---- */

/* The task of params.taskId; NULL: it was refused. */
static struct fixture_task *asked_for(struct mcp_call *m)
{
    str id;

    if (!task_check_client(m) || !mcp_param_str(m, "taskId", true, &id))
        return NULL;
    struct fixture_task *t = task_find(m, id);
    if (!t)
        mcp_refuse(m, RPC_PARAMS, STR(""), "there is no task " STR_FMT, STR_ARG(id));
    return t;
}

static void acknowledge(struct mcp_call *m)
{
    mcp_result_begin(m);
    mcp_result_end(m);
}

void fixture_tasks_get(struct mcp_call *m)
{
    const struct fixture_task *t = asked_for(m);

    if (!t)
        return;
    enum task_status status = status_of(t, m->now_ms);
    struct json_writer *w = mcp_result_begin(m);
    write_task(w, t, status);
    if (status == NEEDS_INPUT)
        write_questions(w, t);
    else if (status == COMPLETED)
        write_result(w, t);
    else if (status == FAILED)
        write_fault(w, t);
    mcp_result_end(m);
}

/* One that has ended stays as it is. */
void fixture_tasks_cancel(struct mcp_call *m)
{
    struct fixture_task *t = asked_for(m);

    if (!t)
        return;
    enum task_status status = status_of(t, m->now_ms);
    if (status == WORKING || status == NEEDS_INPUT) {
        t->cancelled = true;
        t->updated_ms = m->now_ms;
    }
    acknowledge(m);
}

/* Answers to what is not asked, or not any more, mean nothing; those that do not fit leave the
 * question open. */
void fixture_tasks_update(struct mcp_call *m)
{
    struct fixture_task *t = asked_for(m);

    if (!t)
        return;
    if (!json_is(json_get(m->message.params, "inputResponses"), JSON_OBJECT)) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "params.inputResponses must be an object");
        return;
    }
    for (unsigned i = 0; t->job->questions && t->job->questions[i].key; i++) {
        const struct fixture_question *q = &t->job->questions[i];
        const struct json *response = round_response(m, q->key);
        if (!is_open(t, i) || !fixture_fits(m, q, response))
            continue;
        str said = fixture_answer_text(m->arena, q, response);
        say(t, arena_printf(m->arena, "%s %s: " STR_FMT ".", t->text, q->key, STR_ARG(said)));
        t->answered |= 1u << i;
        t->updated_ms = m->now_ms;
        t->until_ms = m->now_ms + t->job->takes_ms;
    }
    acknowledge(m);
}

/* ---- tools ---- */

static void begin_job(struct mcp_call *m, const struct fixture_tool *tool,
                      const struct json *arguments)
{
    str name = json_str(arguments, "filename");

    if (task_check_client(m) &&
        (!tool->job->questions || fixture_must_ask(m, tool->job->questions)))
        begin_task(m, tool->job, tool->job->takes_ms,
                   arena_printf(m->arena, "%s %s" STR_FMT, tool->name, name.len ? "of " : "ended",
                                STR_ARG(name)));
}

/* A client without tasks gets what it asks for, and waits. */
static void compute(struct mcp_call *m, const struct fixture_tool *tool,
                    const struct json *arguments)
{
    int64_t seconds = json_int_or(arguments, "seconds", 1);
    str label = json_str(arguments, "label");
    str text = arena_printf(m->arena, "computed " STR_FMT " for %lld s",
                            STR_ARG(label.len ? label : STR("something")), (long long)seconds);

    if (m->client.tasks)
        begin_task(m, tool->job, seconds * 1000, text);
    else
        fixture_play_wait(m, seconds * 1000, text);
}

static const struct fixture_job greeting = { ENDS_WELL, 300, NULL };

static void greet_later(struct mcp_call *m, const struct json *answers)
{
    str name = json_str(json_get(json_get(answers, "user_name"), "content"), "name");

    begin_task(m, &greeting, greeting.takes_ms,
               arena_printf(m->arena, "Hello, " STR_FMT ", after a while.",
                            STR_ARG(name.len ? name : STR("whoever you are"))));
}

static void ask_then_begin(struct mcp_call *m, const struct fixture_tool *tool,
                           const struct json *arguments)
{
    (void)arguments;
    if (task_check_client(m))
        fixture_run_rounds(m, tool->rounds);
}

/* ---- the table ---- */

// clang-format off
#define NAME_FORM JSON({                                                                           \
    "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] })
#define CONFIRM_FORM JSON({                                                                        \
    "type": "object", "properties": { "confirm": { "type": "boolean" } }, "required": ["confirm"] })

static const struct fixture_question
    confirm[]   = { { "confirm", ASK_FORM, "Delete the file?", CONFIRM_FORM, 0 }, { 0 } },
    two[]       = { { "name", ASK_FORM, "What is your name?", NAME_FORM, 0 },
                    { "confirm", ASK_FORM, "Is that right?", CONFIRM_FORM, 0 }, { 0 } },
    user_name[] = { { "user_name", ASK_FORM, "What is your name?", NAME_FORM, 0 }, { 0 } };

static const struct fixture_rounds name_first = { .rounds = { user_name }, .sealed = true, .finish = greet_later };

static const struct fixture_job
    computing = { ENDS_WELL,     0,    NULL },
    failing   = { ENDS_IN_ERROR, 1000, NULL },
    faulty    = { ENDS_IN_FAULT, 300,  NULL },
    deleting  = { ENDS_WELL,     50,   confirm },
    gathering = { ENDS_WELL,     50,   two };

#define COMPUTE_INPUT JSON({                                                                       \
    "type": "object",                                                                              \
    "properties": {                                                                                \
        "seconds": { "type": "integer", "minimum": 0, "maximum": 600, "description": "How long it takes." }, \
        "label":   { "type": "string", "description": "What it is called in the result." } } })
#define FILE_INPUT JSON({                                                                          \
    "type": "object", "properties": { "filename": { "type": "string", "description": "Whose deletion is asked about; no file is touched." } } })

static const struct fixture_tool tools[] = {
    { "slow_compute", "Takes as long as it is told; a task where the client has them.", COMPUTE_INPUT, ERA_MODERN, .call = compute, .job = &computing },
    { "failing_job", "A task that fails as a tool does.", NULL, ERA_MODERN, .call = begin_job, .job = &failing },
    { "protocol_error_job", "A task that fails as a server does.", NULL, ERA_MODERN, .call = begin_job, .job = &faulty },
    { "confirm_delete", "A task that waits for a confirmation.", FILE_INPUT, ERA_MODERN, .call = begin_job, .job = &deleting },
    { "multi_input", "A task that waits for two answers.", NULL, ERA_MODERN, .call = begin_job, .job = &gathering },
    { "test_tool_with_task", "Asks for a name, then is a task that greets.", NULL, ERA_MODERN, .call = ask_then_begin, .rounds = &name_first },
};
// clang-format on

const struct fixture_tools fixture_job_tools = { tools, sizeof tools / sizeof tools[0] };
