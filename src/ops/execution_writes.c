/* execution_writes.c: operations that start executions and change them. */
#include "ops/executions.h"
#include "ops/ops.h"
#include "ops/write.h"

/* ---- starting ---- */

/* The jobs that whoever started it gets at once. */
static err write_claimed(struct tx *tx, const struct input *in, const struct execution *e,
                         struct answer *out)
{
    const struct json *asked = input_json(in, "claim");
    struct job_claim claim;
    struct job *jobs;
    size_t count;

    if (!asked)
        return NULL;
    TRY(job_claim_in(tx, asked, &claim));
    TRY(jobs_claim_next(tx, e, &claim, &jobs, &count));
    write_jobs(tx, &out->json, jobs, count);
    return NULL;
}

/* Agents that nobody knows: their steps wait for somebody to report them. */
static err write_warnings(struct tx *tx, const struct execution *e, struct answer *out)
{
    const struct workflow_program *program;
    str *warnings;
    size_t count;

    TRY(workflow_program(tx, e->workflow, e->version, e->digest, &program));
    TRY(share_unknown_agents(tx, e, program->graph, &warnings, &count));
    if (count)
        write_texts(&out->json, STR("warnings"), warnings, count);
    return NULL;
}

static err execution_start_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct execution_new n = {
        .workflow = input_str(in, "workflow"),
        .version = input_int(in, "version", 0),
        .input = input_json(in, "input"),
        .business_key = input_str(in, "business_key"),
        .workspace = input_str(in, "session_name"),
        .project_dir = input_str(in, "project_dir"),
        .session = input_str(in, "parent_session_name"),
        .workflow_state_id = input_str(in, "workflow_state_id"),
    };
    struct execution e;

    if (input_json(in, "claim") && tx->actor->kind == ACTOR_SESSION)
        return err_new(tx->arena, ERR_FORBIDDEN,
                       "\"claim\" is not for sessions: jobs are claimed by workers and operators");
    TRY(execution_start(tx, &n, &e));
    out->created = true;
    json_write_begin(&out->json, '{');
    execution_members(&out->json, &e);
    write_stored(tx, &out->json, STR("variables"), THING("execution", e.id), e.vars);
    write_stored_or_null(tx, &out->json, STR("result"), THING("execution", e.id), e.result);
    TRY(write_warnings(tx, &e, out));
    TRY(write_claimed(tx, in, &e, out));
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- changing ---- */

static err execution_pause_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct execution e;

    TRY(execution_pause(tx, input_str(in, "execution_id"), input_str(in, "reason"), &e));
    write_execution(tx, out, &e);
    return NULL;
}

static err execution_resume_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct execution e;

    TRY(execution_resume(tx, input_str(in, "execution_id"), input_str(in, "from"), &e));
    write_execution(tx, out, &e);
    return NULL;
}

static err execution_cancel_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct execution e;

    TRY(execution_cancel(tx, input_str(in, "execution_id"), input_str(in, "reason"), &e));
    write_execution(tx, out, &e);
    return NULL;
}

static err execution_set_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct execution e;

    TRY(execution_set(tx, input_str(in, "execution_id"), input_json(in, "variables"), &e));
    write_execution(tx, out, &e);
    return NULL;
}

static err execution_delete_op(struct tx *tx, const struct input *in, struct answer *out)
{
    out->empty = true;
    return execution_delete(tx, input_str(in, "execution_id"));
}

/* "token-7", as the document calls it; 0: any. */
static int64_t token_number(str token)
{
    int64_t n = 0;

    return str_starts(token, STR("token-")) && str_to_int(str_slice(token, 6, token.len), &n) ? n
                                                                                              : 0;
}

static err execution_report_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct execution_report r = { .step = input_str(in, "step"),
                                  .item = input_int(in, "item", -1),
                                  .attempt = input_int(in, "attempt", 0),
                                  .n = token_number(input_str(in, "token")),
                                  .failed = input_bool(in, "failed", false),
                                  .error = input_str(in, "error"),
                                  .outputs = input_json(in, "outputs") };
    struct execution e;

    if (r.failed && r.outputs)
        return err_new(
            tx->arena, ERR_INVALID,
            "expected \"outputs\" of a step that is done, or \"failed\" with an \"error\", "
            "found both");
    if (!r.failed && r.error.len)
        return err_new(tx->arena, ERR_INVALID,
                       "expected \"failed\": true beside \"error\": a step that is done has none");
    TRY(execution_report(tx, input_str(in, "execution_id"), &r, &e));
    write_execution(tx, out, &e);
    return NULL;
}

/* ---- the table ---- */

// clang-format off

#define REASON(about) "\"reason\":{\"type\":\"string\",\"maxLength\":1000,\"description\":\"" about "\"}"

static const struct op ops[] = {
    {
        .name = "execution.start", .http = "POST /executions", .effect = OP_WRITES, .on = ON_HTTP | ON_MCP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION, .tool = "start_workflow", .tier = TIER_ROOT,
        .summary = "Start a workflow: an execution begins, and goes as far as it can by itself.",
        .hint = "Start a workflow that is defined, like generation or planning, by its name. The other tools call its execution_id workflow_id.",
        .input = FIELDS(JSON("workflow"), JSON(
            "workflow": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The name of a workflow: workflow.list tells which there are." },
            "version": { "type": "integer", "minimum": 1, "description": "Its version; the newest unless it is given." },
            "input": { "type": "object", "description": "Its first variables; they must fit the definition's input." },
            "business_key": { "type": "string", "maxLength": 200, "description": "What it is known by outside, like the number of an order; no two open executions of a workflow have the same." },
            "session_name": { "type": "string", "maxLength": 100, "description": "The workspace that it belongs to." },
            "parent_session_name": { "type": "string", "maxLength": 100, "description": "The session that it is for, by name or id; a session's own unless given." },
            "workflow_state_id": { "type": "string", "maxLength": 100, "description": "The state that its work is about, by id or name." },
            "project_dir": { "type": "string", "maxLength": 1200, "pattern": "^/", "description": "The folder that its commands run in." }) "," CLAIM_MEMBER),
        .output = SHAPE(EXECUTION_REQUIRED "," JSON("variables", "result"), EXECUTION_MEMBERS "," EXECUTION_DATA ","
            JOBS_MEMBER("With claim: the jobs of it that are yours now.") ","
            SHAPE_LIST("warnings", "What may not go as it was meant: agents that nobody knows, so that their steps wait for a report.", "{\"type\":\"string\"}")),
        .tool_input = JSON({ "workflow": "", "input": "Its first variables, like {scene_id}", "session_name": "A workspace" }),
        .tool_output = JSON({ "execution_id": true, "status": true, "warnings": true }),
        .run = execution_start_op,
    },
    {
        .name = "execution.pause", .http = "POST /executions/{execution_id}/pause", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION,
        .summary = "Pause an execution: nothing new is begun, and what is at work may report.",
        .input = FIELDS(JSON("execution_id"), EXECUTION_ID "," REASON("Why, for those who wonder later.")),
        .output = EXECUTION_SHAPE, .run = execution_pause_op,
    },
    {
        .name = "execution.resume", .http = "POST /executions/{execution_id}/resume", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION,
        .summary = "Let a paused execution go on; or with from do a step and all after it anew, also when it had ended.",
        .input = FIELDS(JSON("execution_id"), EXECUTION_ID "," JSON(
            "from": { "type": "string", "minLength": 1, "maxLength": 200, "description": "The step to begin anew from, by its id." })),
        .output = EXECUTION_SHAPE, .run = execution_resume_op,
    },
    {
        .name = "execution.cancel", .http = "POST /executions/{execution_id}/cancel", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION,
        .summary = "End an execution: what is at work is stopped, and reports of it are refused.",
        .input = FIELDS(JSON("execution_id"), EXECUTION_ID "," REASON("Why, for those who wonder later.")),
        .output = EXECUTION_SHAPE, .run = execution_cancel_op,
    },
    {
        .name = "execution.set", .http = "PATCH /executions/{execution_id}/variables", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR,
        .summary = "Set variables of an execution; the others stay as they are.",
        .input = FIELDS(JSON("execution_id", "variables"), EXECUTION_ID "," JSON(
            "variables": { "type": "object", "description": "Names and their new values." })),
        .output = EXECUTION_SHAPE, .run = execution_set_op,
    },
    {
        .name = "execution.delete", .http = "DELETE /executions/{execution_id}", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR,
        .summary = "Delete an execution that has ended, with its document.",
        .input = FIELDS(JSON("execution_id"), EXECUTION_ID),
        .output = JSON({ "type": "object", "properties": {} }), .run = execution_delete_op,
    },
    {
        .name = "execution.report", .http = "POST /executions/{execution_id}/steps/{step}/report", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION,
        .summary = "Say that a step is done, with what came of it, or that it has failed; for steps that are done by report.",
        .input = FIELDS(JSON("execution_id", "step"), EXECUTION_ID "," JSON(
            "step": { "type": "string", "minLength": 1, "maxLength": 200, "description": "The step, by its id." },
            "outputs": { "type": "object", "description": "What it has given: these become variables." },
            "failed": { "type": "boolean", "description": "It has failed; error says why." },
            "error": { "type": "string", "maxLength": 4000, "description": "Why it has failed, in words for people." },
            "item": { "type": "integer", "minimum": 0, "description": "Of a step that is done for each item of a list: which one, from 0." },
            "attempt": { "type": "integer", "minimum": 1, "description": "The attempt that this is of: refused when another one has begun. The present one unless given." },
            "token": { "type": "string", "pattern": "^token-[0-9]{1,18}$", "description": "Where several tokens are at the step: which one, as the document of the execution calls it." })),
        .output = EXECUTION_SHAPE, .run = execution_report_op,
    },
};
// clang-format on

const struct op_list execution_write_ops = { ops, sizeof ops / sizeof *ops };
