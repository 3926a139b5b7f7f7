/* jobs.c: operations by which workers get the work of executions and report it. */
#include "core/token.h"
#include "ops/executions.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/write.h"

enum { LEASE_S = 60 };

/* ---- how they are shown ---- */

void write_job(struct tx *tx, struct json_writer *w, const struct job *j)
{
    json_write_begin(w, '{');
    write_text(w, STR("job_id"), j->id);
    write_text(w, STR("execution_id"), j->execution_id);
    write_text(w, STR("workflow"), j->workflow);
    write_text(w, STR("step"), j->step);
    write_text(w, STR("type"), j->type);
    write_or_null(w, STR("business_key"), j->business_key);
    if (j->item >= 0)
        write_int(w, STR("item"), j->item);
    else
        write_null(w, STR("item"));
    write_int(w, STR("attempt"), j->attempt);
    write_int(w, STR("max_attempts"), j->max_attempts);
    write_or_null(w, STR("worker"), j->worker);
    write_time_or_null(w, STR("lease_until"), j->lease_until_ms);
    write_time_or_null(w, STR("timeout_at"), j->timeout_at_ms);
    write_or_null(w, STR("project_dir"), j->project_dir);
    write_stored(tx, w, STR("variables"), THING("job", j->id), j->variables);
    json_write_end(w, '}');
}

void write_jobs(struct tx *tx, struct json_writer *w, const struct job *jobs, size_t count)
{
    write_begin(w, STR("jobs"), '[');
    for (size_t i = 0; i < count; i++)
        write_job(tx, w, &jobs[i]);
    json_write_end(w, ']');
}

/* ---- what a worker asks for ---- */

static bool is_covered(str type, str pattern)
{
    return str_eq(type, pattern) || (str_ends(pattern, STR("*")) &&
                                     str_starts(type, str_slice(pattern, 0, pattern.len - 1)));
}

/* Of the types that are asked for those that the token names; of "build-*" those that begin so. */
static void types_allowed(struct tx *tx, const struct json *asked, struct job_claim *c)
{
    const struct actor *a = tx->actor;
    size_t count = asked ? asked->len : 0;
    str *types = ARENA_ARRAY(tx->arena, str, count + a->job_count);

    for (size_t i = 0; i < count; i++)
        if (actor_works(a, json_text(&asked->items[i])))
            types[c->type_count++] = json_text(&asked->items[i]);
    for (size_t k = 0; k < a->job_count; k++) {
        bool wanted = !count;
        for (size_t i = 0; i < count; i++)
            wanted = wanted || (!str_eq(json_text(&asked->items[i]), a->jobs[k]) &&
                                is_covered(a->jobs[k], json_text(&asked->items[i])));
        if (wanted && c->type_count < JOB_TYPES_MAX)
            types[c->type_count++] = a->jobs[k];
    }
    c->types = types;
}

static str listed(struct tx *tx, const str *texts, size_t count)
{
    struct buf out = buf_in(tx->arena);

    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%s" STR_FMT, i ? ", " : "", STR_ARG(texts[i]));
    return buf_str(&out);
}

err job_claim_in(struct tx *tx, const struct json *claim, struct job_claim *out)
{
    const struct json *types = json_get(claim, "types");
    str worker = json_str(claim, "worker");

    *out = (struct job_claim){ .max = json_int_or(claim, "max", 1),
                               .lease_ms = json_int_or(claim, "lease_seconds", LEASE_S) * 1000,
                               .worker = worker.len ? worker : tx->actor->name };
    types_allowed(tx, types, out);
    if (out->type_count || !types)
        return NULL;
    return err_new(tx->arena, ERR_FORBIDDEN,
                   "this token is for jobs of type " STR_FMT ", found \"" STR_FMT
                   "\": ask for those, or the operator for another token",
                   STR_ARG(listed(tx, tx->actor->jobs, tx->actor->job_count)),
                   STR_ARG(json_text(&types->items[0])));
}

/* ---- claiming ---- */

static bool claim_wakes(const void *self, const struct event *e)
{
    return jobs_wake(self, e);
}

static void claim_wait(struct tx *tx, const struct job_claim *c, int64_t timeout_s,
                       struct answer *out)
{
    out->waits = true;
    out->wait_seq = *tx->seq;
    out->wait_until_ms = tx->now_ms + timeout_s * 1000;
    out->wakes = claim_wakes;
    out->wait_self = c;
}

static err job_claim_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct job_claim *c = ARENA_NEW(tx->arena, struct job_claim);
    int64_t timeout_s = input_int(in, "timeout", 0);
    struct job *jobs;
    size_t count;

    TRY(job_claim_in(tx, in->json, c));
    TRY(jobs_claim(tx, c, &jobs, &count));
    if (!count && timeout_s && !in->wait_over && !tx->first) {
        claim_wait(tx, c, timeout_s, out);
        return NULL;
    }
    json_write_begin(&out->json, '{');
    write_jobs(tx, &out->json, jobs, count);
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- reports ---- */

static void write_reported(struct json_writer *w, str job_id, const struct execution *e)
{
    write_text(w, STR("job_id"), job_id);
    write_text(w, STR("execution_id"), e->id);
    write_text(w, STR("status"), team_name(&execution_words, (int)e->status));
}

static err report_answer(struct json_writer *w, str job_id, const struct execution *e)
{
    json_write_begin(w, '{');
    write_reported(w, job_id, e);
    json_write_end(w, '}');
    return NULL;
}

static err job_complete_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct json *asked = input_json(in, "claim");
    struct job_claim claim;
    struct execution e;
    struct job *jobs;
    size_t count;

    if (asked)
        TRY(job_claim_in(tx, asked, &claim));
    TRY(job_complete(tx, input_str(in, "job_id"), input_json(in, "outputs"), &e));
    json_write_begin(&out->json, '{');
    write_reported(&out->json, input_str(in, "job_id"), &e);
    if (asked) {
        TRY(jobs_claim_next(tx, &e, &claim, &jobs, &count));
        write_jobs(tx, &out->json, jobs, count);
    }
    json_write_end(&out->json, '}');
    return NULL;
}

/* Whether an error is about one job, and was found before anything was written of it. */
static bool is_of_job(err e)
{
    return e->kind == ERR_CONFLICT || e->kind == ERR_NOT_FOUND || e->kind == ERR_FORBIDDEN ||
           e->kind == ERR_INVALID || e->kind == ERR_UNFIT;
}

static void write_refused(struct json_writer *w, str job_id, err e)
{
    const struct error_kind_info *kind = error_kind_info(e->kind);

    write_text(w, STR("job_id"), job_id);
    write_begin(w, STR("error"), '{');
    write_int(w, STR("status"), kind->http);
    write_text(w, STR("title"), str_from(kind->title));
    write_text(w, STR("detail"), e->message);
    json_write_end(w, '}');
}

/* Each has an outcome of its own: one that is refused does not keep the others from counting. */
static err job_complete_all_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct json *jobs = input_json(in, "jobs");

    json_write_begin(&out->json, '{');
    write_begin(&out->json, STR("jobs"), '[');
    for (uint32_t i = 0; i < jobs->len; i++) {
        str id = json_str(&jobs->items[i], "job_id");
        struct execution e;
        err refused = job_complete(tx, id, json_get(&jobs->items[i], "outputs"), &e);
        if (refused && !is_of_job(refused))
            return refused;
        json_write_begin(&out->json, '{');
        if (refused)
            write_refused(&out->json, id, refused);
        else
            write_reported(&out->json, id, &e);
        json_write_end(&out->json, '}');
    }
    json_write_end(&out->json, ']');
    json_write_end(&out->json, '}');
    return NULL;
}

static err job_fail_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct execution e;

    TRY(job_fail(tx, input_str(in, "job_id"), input_str(in, "error"),
                 input_bool(in, "for_good", false), &e));
    return report_answer(&out->json, input_str(in, "job_id"), &e);
}

static err job_error_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct execution e;

    TRY(job_error(tx, input_str(in, "job_id"), input_str(in, "code"), input_str(in, "message"),
                  &e));
    return report_answer(&out->json, input_str(in, "job_id"), &e);
}

static err job_renew_op(struct tx *tx, const struct input *in, struct answer *out)
{
    int64_t until_ms;

    TRY(job_renew(tx, input_str(in, "job_id"), input_int(in, "lease_seconds", LEASE_S) * 1000,
                  &until_ms));
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("job_id"), input_str(in, "job_id"));
    write_time(&out->json, STR("lease_until"), until_ms);
    json_write_end(&out->json, '}');
    return NULL;
}

/* ---- looking ---- */

/* What a worker may not have, it does not see either. */
static err job_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct job_filter filter = { .type = input_str(in, "type"),
                                 .execution_id = input_str(in, "execution"),
                                 .after = input_str(in, "after"),
                                 .waiting = input_bool(in, "waiting", false),
                                 .limit = page_rows(in) };
    bool all_types = !tx->actor->job_count;
    struct job *all;
    size_t count;

    if (filter.execution_id.len) {
        struct execution e;
        TRY(execution_get(tx, filter.execution_id, &e));
    }
    TRY(jobs_list(tx, &filter, &all, &count));
    size_t shown = page_begin(in, out, STR("jobs"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        if (all_types || actor_works(tx->actor, all[i].type))
            write_job(tx, &out->json, &all[i]);
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

/* ---- the table ---- */

// clang-format off

#define REPORTED_MEMBERS JSON(                                                                     \
    "job_id": { "type": "string", "description": "The job that was reported." },                   \
    "execution_id": { "type": "string", "description": "The execution that it is of." },           \
    "status": { "enum": ["RUNNING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"], "description": "How that stands with this report." })

#define REPORTED_SHAPE SHAPE(JSON("job_id", "execution_id", "status"), REPORTED_MEMBERS)

#define OUTPUTS JSON("outputs": { "type": "object", "description": "What has come of it: these become variables of the execution." })

static const struct op ops[] = {
    {
        .name = "job.claim", .http = "POST /jobs/claim", .effect = OP_WRITES, .wait = true, .secret = true, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_WORKER,
        .summary = "Take the oldest jobs of some types, or wait for one: they are yours until they are reported or their lease ends.",
        .input = FIELDS(JSON("types"), CLAIM_FIELDS "," JSON(
            "timeout": { "type": "integer", "minimum": 0, "maximum": 60, "default": 0, "description": "How many seconds to wait for a job when there is none." })),
        .output = SHAPE(JSON("jobs"), JOBS_MEMBER("Those that are yours now; none: there was nothing to do.")),
        .run = job_claim_op,
    },
    {
        .name = "job.list", .http = "GET /jobs", .on = ON_HTTP | ON_CLI, .by = BY_READERS | BY_WORKER,
        .summary = "List jobs that wait for a worker or are with one.",
        .input = FIELDS("", JSON(
            "type": { "type": "string", "maxLength": 100, "description": "Only those of this type." },
            "execution": { "type": "string", "maxLength": 100, "description": "Only those of this execution." },
            "waiting": { "type": "boolean", "description": "Only those that nobody has." }) "," PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("jobs"), JOBS_MEMBER("A page of them.") "," PAGE_NEXT),
        .run = job_list_op,
    },
    {
        .name = "job.complete", .http = "POST /jobs/{job_id}/complete", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_WORKER,
        .summary = "Report that a job is done, with what came of it.",
        .input = FIELDS(JSON("job_id"), JOB_ID "," OUTPUTS "," CLAIM_MEMBER),
        .output = SHAPE(JSON("job_id", "execution_id", "status"), REPORTED_MEMBERS "," JOBS_MEMBER("With claim: the next jobs of the execution, which are yours now.")),
        .run = job_complete_op,
    },
    {
        .name = "job.complete_all", .http = "POST /jobs/complete", .effect = OP_WRITES, .on = ON_HTTP,
        .by = BY_OPERATOR | BY_WORKER,
        .summary = "Report several jobs that are done, up to 64 at once; each has an outcome of its own.",
        .input = FIELDS(JSON("jobs"), JSON(
            "jobs": { "type": "array", "minItems": 1, "maxItems": 64, "description": "The jobs.",
                "items": { "type": "object", "additionalProperties": false, "required": ["job_id"], "properties": {
                    "job_id": { "type": "string", "minLength": 1, "maxLength": 200, "description": "The job, as job.claim answered its id." },
                    "outputs": { "type": "object", "description": "What has come of it: these become variables of the execution." } } } })),
        .output = SHAPE(JSON("jobs"), SHAPE_LIST("jobs", "The outcomes, in the same order.", SHAPE(JSON("job_id"), REPORTED_MEMBERS "," JSON(
            "error": { "type": "object", "description": "Why it was refused: status, title and detail; only where it was." })))),
        .run = job_complete_all_op,
    },
    {
        .name = "job.fail", .http = "POST /jobs/{job_id}/fail", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_WORKER,
        .summary = "Report that a job has failed: it is tried again as its definition says, unless it is for good.",
        .input = FIELDS(JSON("job_id", "error"), JOB_ID "," JSON(
            "error": { "type": "string", "minLength": 1, "maxLength": 4000, "description": "Why, in words for people." },
            "for_good": { "type": "boolean", "description": "Trying again would not help." })),
        .output = REPORTED_SHAPE, .run = job_fail_op,
    },
    {
        .name = "job.error", .http = "POST /jobs/{job_id}/error", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_WORKER,
        .summary = "Report what the definition has no answer to: an incident that a person must help with.",
        .input = FIELDS(JSON("job_id", "code", "message"), JOB_ID "," JSON(
            "code": { "type": "string", "minLength": 1, "maxLength": 100, "description": "A short name of what has happened, like out_of_stock." },
            "message": { "type": "string", "minLength": 1, "maxLength": 4000, "description": "What has happened, in words for people." })),
        .output = REPORTED_SHAPE, .run = job_error_op,
    },
    {
        .name = "job.renew", .http = "POST /jobs/{job_id}/renew", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_WORKER,
        .summary = "Have the lease of a job begin anew: its worker is still at it.",
        .input = FIELDS(JSON("job_id"), JOB_ID "," JSON(
            "lease_seconds": { "type": "integer", "minimum": 1, "maximum": 86400, "default": 60, "description": "For how long it is the worker's from now on." })),
        .output = SHAPE(JSON("job_id", "lease_until"), JSON(
            "job_id": { "type": "string", "description": "The job." },
            "lease_until": { "type": "string", "format": "date-time", "description": "When it goes back unless it is reported or renewed." })),
        .run = job_renew_op,
    },
};
// clang-format on

const struct op_list job_ops = { ops, sizeof ops / sizeof *ops };
