/* report.c: what a runner tells the server of one run. */
#include "runner/report.h"

#include <poll.h>
#include <unistd.h>

#include "base/log.h"
#include "client/socket.h"

enum { ANSWER_MS = 15000, PAUSE_MOST_MS = 15000 };

enum report_answer report_answer_of(err e)
{
    if (!e)
        return REPORT_TAKEN;
    switch (e->kind) {
#ifdef PLANT_REPORT_LOST
    case ERR_UNAVAILABLE: return REPORT_WRONG;
#else
    case ERR_UNAVAILABLE:
#endif
    case ERR_LIMIT:
    case ERR_INTERNAL:
    case ERR_FULL: return REPORT_LATER;
    case ERR_UNAUTHENTICATED:
    case ERR_FORBIDDEN:
    case ERR_NOT_FOUND:
    case ERR_CONFLICT:
    case ERR_GONE: return REPORT_REFUSED;
    default: return REPORT_WRONG;
    }
}

err report_refusal(struct arena *a, const struct response *r)
{
    str detail = response_detail(a, r);

    return err_new(a, response_kind(r->status), "%d " STR_FMT, r->status,
                   STR_ARG(detail.len ? detail : STR("without a reason")));
}

enum report_answer report_once(struct report *r, struct arena *a, const char *what, int64_t number,
                               const struct json *facts, const struct json **answer)
{
    struct json body = json_object();

    json_put(a, &body, STR("runner_id"), json_string(r->runner_id));
    json_put(a, &body, STR("fence"), json_int(a, r->fence));
    for (uint32_t i = 0; facts && i < facts->len; i++)
        json_put(a, &body, json_name(&facts->members[i]), facts->members[i].value);
    struct call call = {
        .method = "POST",
        .pattern = arena_printf(a, "/runner/runs/{run_id}/%s", what).at,
        PARAMS({ "run_id", r->run_id }),
        .body = json_printed(a, &body),
        .key = arena_printf(a, STR_FMT "-%lld-%s-%lld", STR_ARG(r->run_id), (long long)r->fence,
                            what, (long long)number),
        .timeout_ms = ANSWER_MS,
    };
    err e = caller_call(r->caller, a, &call, answer);
    enum report_answer result = report_answer_of(e);

    if (e && result != REPORT_LATER)
        log_warn("report.refused", LOG_S("run", r->run_id), LOG_S("what", str_from(what)),
                 LOG_S("error", e->message));
    return result;
}

enum report_answer report_until(struct report *r, const char *what, int64_t number,
                                const struct json *facts, int64_t patience_ms)
{
    int64_t until_ms = socket_clock_ms() + patience_ms;
    struct arena *a = arena_new();
    enum report_answer result = REPORT_LATER;
    const struct json *answer;

    for (int n = 0; result == REPORT_LATER; n++) {
        arena_reset(a);
        result = report_once(r, a, what, number, facts, &answer);
        int64_t left = until_ms - socket_clock_ms(), pause = retry_delay_ms(n, PAUSE_MOST_MS);
        if (result != REPORT_LATER || left <= 0 || access(r->folder.at, F_OK) < 0)
            break;
        poll(NULL, 0, (int)(pause < left ? pause : left));
    }
    arena_free(a);
    return result;
}

void report_usage(struct arena *a, struct json *facts, const struct stream_usage *u)
{
    struct json usage = json_object();
    const struct json *models;

    if (!u->known)
        return;
    json_put(a, &usage, STR("input_tokens"), json_int(a, u->tokens_in));
    json_put(a, &usage, STR("output_tokens"), json_int(a, u->tokens_out));
    json_put(a, &usage, STR("cached_tokens"), json_int(a, u->tokens_cached));
    str cost = arena_printf(a, "%lld.%06lld", (long long)(u->cost / 1000000),
                            (long long)(u->cost % 1000000));
    json_put(a, &usage, STR("cost_usd"),
             (struct json){ .kind = JSON_REAL, .len = (uint32_t)cost.len, .text = cost.at });
    if (u->models.len && !json_parse(a, u->models, NULL, &models))
        json_put(a, &usage, STR("models"), *models);
    if (u->whole)
        json_put(a, &usage, STR("whole"), *u->whole);
    json_put(a, facts, STR("usage"), usage);
}
