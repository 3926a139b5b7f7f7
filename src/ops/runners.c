/* runners.c: machines that run agents, and the table of their operations. */
#include "ops/runners.h"

#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

/* ---- the runner itself ---- */

static const str *names_in(struct tx *tx, const struct input *in, const char *field, size_t *count)
{
    const struct json *names = input_json(in, field);
    str *copies = ARENA_ARRAY(tx->arena, str, names ? names->len : 0);

    *count = names ? names->len : 0;
    for (size_t i = 0; i < *count; i++)
        copies[i] = json_text(&names->items[i]);
    return copies;
}

static err runner_register_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct team_rules *rules = team_rules_of(tx);
    str name = input_str(in, "name");
    struct runner r = { .hostname = input_str(in, "hostname"),
                        .project_dir = input_str(in, "project_dir"),
                        .user = input_str(in, "user"),
                        .capacity = input_int(in, "capacity", 1) };

    r.name = name.len ? name : r.hostname;
    r.tags = names_in(tx, in, "tags", &r.tag_count);
    r.profiles = names_in(tx, in, "profiles", &r.profile_count);
    TRY(runner_register(tx, &r));
    out->created = true;
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("runner_id"), r.id);
    write_int(&out->json, STR("poll_timeout_seconds"), rules->poll_ms / 1000);
    write_int(&out->json, STR("heartbeat_interval_seconds"), rules->beat_ms / 1000);
    write_int(&out->json, STR("lease_seconds"), rules->lease_ms / 1000);
    json_write_end(&out->json, '}');
    return NULL;
}

static err runner_write(struct tx *tx, struct json_writer *w, const struct runner *r)
{
    struct run_held held;

    TRY(run_held_by(tx, r, NULL, &held));
    json_write_begin(w, '{');
    write_text(w, STR("runner_id"), r->id);
    write_text(w, STR("name"), r->name);
    write_text(w, STR("hostname"), r->hostname);
    write_or_null(w, STR("project_dir"), r->project_dir);
    write_or_null(w, STR("user"), r->user);
    write_texts(w, STR("tags"), r->tags, r->tag_count);
    write_texts(w, STR("profiles"), r->profiles, r->profile_count);
    write_int(w, STR("capacity"), r->capacity);
    write_int(w, STR("runs"), held.count);
    write_bool(w, STR("alive"), !r->lost);
    write_time(w, STR("registered_at"), r->registered_at_ms);
    write_time(w, STR("seen_at"), r->seen_at_ms);
    json_write_end(w, '}');
    return NULL;
}

static err runner_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct runner *all;
    size_t count;

    TRY(runner_list(tx, input_str(in, "after"), page_rows(in), &all, &count));
    size_t shown = page_begin(in, out, STR("runners"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        TRY(runner_write(tx, &out->json, &all[i]));
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

static err runner_remove_op(struct tx *tx, const struct input *in, struct answer *out)
{
    out->empty = true;
    return runner_remove(tx, input_str(in, "runner_id"));
}

/* Renews what it says that it runs; what is not its own any more, its keeper hears by itself. */
static err runner_heartbeat_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct json *runs = input_json(in, "runs");
    struct run_held held;
    struct runner r;

    TRY(runner_get(tx, input_str(in, "runner_id"), &r));
    TRY(runner_seen(tx, &r));
    for (uint32_t i = 0; runs && i < runs->len; i++)
        TRY(run_renew_held(tx, &r, json_text(&runs->items[i])));
    TRY(run_held_by(tx, &r, NULL, &held));
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("runner_id"), r.id);
    write_texts(&out->json, STR("stop_runs"), held.stop, held.stop_count);
    json_write_end(&out->json, '}');
    return NULL;
}

// clang-format off

#define RUNNER_ID JSON("runner_id": { "type": "string", "description": "The runner, as it was registered." })

#define NAMES JSON({ "type": "string", "minLength": 1, "maxLength": 100 })

/* What every report carries. */
#define REPORT RUNNER_ID "," JSON(                                                                 \
    "run_id": { "type": "string", "description": "The run." },                                     \
    "fence": { "type": "integer", "minimum": 1, "description": "The fence of the claim that it was given under." })

#define USAGE JSON("usage": { "type": ["object", "null"],                                          \
    "description": "What the turn has used: counted when it ends.",                                \
    "properties": {                                                                                \
        "input_tokens": { "type": "integer", "minimum": 0, "description": "Tokens read." },        \
        "output_tokens": { "type": "integer", "minimum": 0, "description": "Tokens written." },    \
        "cached_tokens": { "type": "integer", "minimum": 0, "description": "Tokens read from a cache." }, \
        "cost_usd": { "type": "number", "minimum": 0, "description": "Dollars." },                 \
        "models": { "type": ["object", "null"], "description": "The same by model, as the client says it." }, \
        "whole": { "type": "array", "items": { "enum": ["input_tokens", "output_tokens", "cached_tokens", "cost_usd", "models"] }, \
            "description": "Those that count the conversation from its start, not this turn alone." } } })

#define CLIENT_ID JSON("client_id": { "type": ["string", "null"], "maxLength": 500, "description": "What the client calls the conversation." })

#define END_INPUT FIELDS(JSON("runner_id", "run_id", "fence"), REPORT "," USAGE "," CLIENT_ID "," JSON( \
    "result": { "type": ["string", "null"], "maxLength": 1048576, "description": "The agent's last words." }, \
    "result_truncated": { "type": "boolean", "description": "The result is the end of a longer one." }, \
    "error": { "type": ["string", "null"], "maxLength": 10000, "description": "Why it did not end well." }, \
    "exit_code": { "type": ["integer", "null"], "description": "Of the agent's process." },        \
    "git": { "type": ["object", "null"], "description": "What the directory looks like now: head, branch, dirty." }, \
    "stderr_tail": { "type": ["string", "null"], "maxLength": 10000, "description": "The last lines that the agent wrote to stderr." }))

#define REPORT_SHAPE SHAPE(JSON("run_id", "status", "stop", "lease_seconds"), JSON(                \
    "run_id": { "type": "string", "description": "The run." },                                     \
    "status": { "type": "string", "description": "How far it is now." },                           \
    "stop": { "type": "boolean", "description": "Whether the agent is to be stopped, or must be gone already." }, \
    "lease_seconds": { "type": "integer", "description": "When nothing is reported for so long, the run is given to another runner." }))

#define REPORTS(what, route, about, handler)                                                       \
    {                                                                                              \
        .name = "runner." what, .http = "POST /runner/runs/{run_id}/" route, .effect = OP_WRITES,  \
        .on = ON_HTTP, .by = BY_RUNNER, .summary = about, .input = END_INPUT,                      \
        .output = REPORT_SHAPE, .run = handler,                                                    \
    }

static const struct op ops[] = {
    {
        .name = "runner.register", .http = "POST /runner/register", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_RUNNER,
        .summary = "Register a machine that runs agents; under the same name again it is the same runner.",
        .input = FIELDS(JSON("hostname"), JSON(
            "name": { "type": "string", "minLength": 1, "maxLength": 255, "description": "Its name; the hostname unless given." },
            "hostname": { "type": "string", "minLength": 1, "maxLength": 255, "description": "The machine." },
            "project_dir": { "type": ["string", "null"], "maxLength": 1200, "description": "Only runs in this directory or below it." },
            "user": { "type": "string", "minLength": 1, "maxLength": 100, "description": "As whom its agents run: a session goes on as the user that it has begun as." },
            "capacity": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 1, "description": "How many runs at once." }) ","
            SHAPE_LIST("tags", "What it has, for runs that ask for it.", NAMES) ","
            SHAPE_LIST("profiles", "The clients that it has; all unless given.", NAMES)),
        .output = SHAPE(JSON("runner_id", "poll_timeout_seconds", "heartbeat_interval_seconds", "lease_seconds"), JSON(
            "runner_id": { "type": "string", "description": "What the runner names itself by in all that it reports." },
            "poll_timeout_seconds": { "type": "integer", "description": "How long a claim waits for a run." },
            "heartbeat_interval_seconds": { "type": "integer", "description": "How often it has to say that it is there." },
            "lease_seconds": { "type": "integer", "description": "How long a run is its own after its last report." })),
        .run = runner_register_op,
    },
    {
        .name = "runner.heartbeat", .http = "POST /runner/heartbeat", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_RUNNER,
        .summary = "Say that a runner is there, and what it runs.",
        .input = FIELDS(JSON("runner_id"), RUNNER_ID "," JSON(
            "runs": { "type": "array", "maxItems": 1000, "items": { "type": "string" },
                "description": "Runs that it has: their leases begin anew." })),
        .output = SHAPE(JSON("runner_id", "stop_runs"), RUNNER_ID "," SHAPE_LIST("stop_runs", "Runs that it is to stop.", JSON({ "type": "string" }))),
        .run = runner_heartbeat_op,
    },
    {
        .name = "runner.claim", .http = "GET /runner/runs", .effect = OP_WRITES, .wait = true, .secret = true, .on = ON_HTTP, .by = BY_RUNNER,
        .summary = "Take the next run for a runner, or wait for one; or hear which to stop.",
        .input = FIELDS(JSON("runner_id"), RUNNER_ID "," JSON(
            "known": { "type": "array", "maxItems": 1000, "items": { "type": "string" },
                "description": "Runs that it was given and is about to start, or was told to stop: they are not told again. May be repeated." })),
        .output = SHAPE("", JSON(
            "run": { "type": "object", "description": "The run that is the runner's now: run_id, type, purpose, session_id, session_name, prompt, agent, profile, project_dir, client_id, attempt, fence, token, lease_seconds, max_seconds, metadata, git and env." },
            "deregistered": { "type": "boolean", "description": "There is no such runner any more: register again." }) ","
            SHAPE_LIST("stop_runs", "Runs that it is to stop.", JSON({ "type": "string" }))),
        .run = runner_claim_op,
    },
    {
        .name = "runner.started", .http = "POST /runner/runs/{run_id}/started", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_RUNNER,
        .summary = "Report that the agent of a run is there.",
        .input = FIELDS(JSON("runner_id", "run_id", "fence"), REPORT "," CLIENT_ID "," JSON(
            "project_dir": { "type": "string", "maxLength": 1200, "description": "The folder that the agent works in: later turns of its session go there." })),
        .output = REPORT_SHAPE, .run = runner_started_op,
    },
    {
        .name = "runner.progress", .http = "POST /runner/runs/{run_id}/progress", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_RUNNER,
        .summary = "Report that a run goes on, and what its agent has written.",
        .input = FIELDS(JSON("runner_id", "run_id", "fence"), REPORT "," USAGE "," CLIENT_ID "," JSON(
            "heard": { "type": ["string", "null"], "description": "What the agent does, in a few words." },
            "output": { "type": "array", "maxItems": 1000, "description": "What was written since the last report, in order.",
                "items": { "type": "object", "required": ["stream", "text"], "additionalProperties": false,
                    "properties": {
                        "stream": { "enum": ["stdout", "stderr"], "description": "Where it was written." },
                        "text": { "type": "string", "description": "What was written: at most 64 KiB in one piece." } } } })),
        .output = REPORT_SHAPE, .run = runner_progress_op,
    },
    REPORTS("completed", "completed", "Report that the agent of a run has done its turn.", runner_completed_op),
    REPORTS("failed", "failed", "Report that a run has failed.", runner_failed_op),
    REPORTS("timed_out", "timed_out", "Report that a run took longer than it may.", runner_timed_out_op),
    REPORTS("stopped", "stopped", "Report that a run was stopped.", runner_stopped_op),
    {
        .name = "runner.list", .http = "GET /runners", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_VIEWER,
        .summary = "List the machines that run agents.",
        .input = FIELDS("", PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("runners"), SHAPE_LIST("runners", "By id.", SHAPE(
            JSON("runner_id", "name", "hostname", "capacity", "runs", "alive", "registered_at", "seen_at"), RUNNER_ID "," JSON(
                "name": { "type": "string", "description": "What it registered as; the same name is the same runner." },
                "hostname": { "type": "string", "description": "The machine." },
                "project_dir": { "type": ["string", "null"], "description": "Only runs in this directory or below it; null: any." },
                "user": { "type": ["string", "null"], "description": "As whom its agents run." },
                "tags": { "type": "array", "items": { "type": "string" }, "description": "What it has." },
                "profiles": { "type": "array", "items": { "type": "string" }, "description": "The clients that it has; none: all." },
                "capacity": { "type": "integer", "description": "How many runs at once." },
                "runs": { "type": "integer", "description": "How many it has now." },
                "alive": { "type": "boolean", "description": "Whether it was heard lately." },
                "registered_at": { "type": "string", "format": "date-time", "description": "When it registered." },
                "seen_at": { "type": "string", "format": "date-time", "description": "When it was last heard." }))) "," PAGE_NEXT),
        .run = runner_list_op,
    },
    {
        .name = "runner.remove", .http = "DELETE /runners/{runner_id}", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_RUNNER,
        .summary = "Take a runner away; its runs go back to the queue.",
        .input = FIELDS(JSON("runner_id"), RUNNER_ID),
        .output = JSON({ "type": "object", "properties": {} }), .run = runner_remove_op,
    },
};
// clang-format on

const struct op_list runner_ops = { ops, sizeof ops / sizeof *ops };
