/* runners.c: machines that run agents and commands: how they get runs, what they tell of them, and the table of
 * their operations. */
#include <math.h>

#include "base/digest.h"
#include "core/agent.h"
#include "core/agent_offer.h"
#include "core/output.h"
#include "core/prompt.h"
#include "core/run.h"
#include "core/wake_queue.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

/* ---- what is told of a run ---- */

/* The trace is the tree's and the span is the run's, so that all who know them agree on both. */
static str traceparent(struct arena *a, str root_id, str run_id)
{
    unsigned char trace[SHA256_BYTES], span[SHA256_BYTES];

    sha256(root_id, trace);
    sha256(run_id, span);
    return arena_printf(a, "00-" STR_FMT "-" STR_FMT "-01",
                        STR_ARG(hex_encode(a, (str){ (const char *)trace, 16 })),
                        STR_ARG(hex_encode(a, (str){ (const char *)span, 8 })));
}

/* Of a request for an update: which of them it is. */
static str attempt_of(struct tx *tx, const struct run *r)
{
    const struct json *metadata;
    err e = json_parse_own(tx->arena, r->metadata, &metadata);
    int64_t attempt = e ? 0 : json_int_or(metadata, "attempt", 0);

    return attempt ? arena_printf(tx->arena, "%lld", (long long)attempt) : STR("");
}

/* What its session's step is known by; NULL: it works for none. */
static const struct json *task_of(struct tx *tx, const struct session *s)
{
    const struct json *task;

    return s->task.len && !json_parse_own(tx->arena, s->task, &task) ? task : NULL;
}

static void write_env(struct tx *tx, struct json_writer *w, const struct run *r,
                      const struct session *s)
{
    const struct json *task = task_of(tx, s);
    const struct {
        const char *name;
        str value;
    } all[] = {
        { "WORKFLOW_STATE_ID", s->state_id },
        { "BATON_SESSION_ID", s->id },
        { "BATON_PARENT_SESSION_ID", s->parent_id },
        { "AGENT_SESSION_NAME", s->name },
        { "TRACEPARENT", traceparent(tx->arena, s->root_id, r->id) },
        { "BATON_RUN_ID", r->id },
        { "BATON_RUN_PURPOSE", team_name(&purpose_words, (int)r->purpose) },
        { "BATON_RUN_ATTEMPT", attempt_of(tx, r) },
        { "BATON_WORKFLOW_ID", json_str(task, "workflow_id") },
        { "BATON_STEP", json_str(task, "step") },
    };

    write_begin(w, STR("env"), '{');
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value.len)
            write_text(w, str_from(all[i].name), all[i].value);
    json_write_end(w, '}');
}

/* One that was deleted meanwhile is null: the runner knows what it cannot do without. */
static err write_profile(struct tx *tx, struct json_writer *w, str key)
{
    struct entry entry = { .text = STR("null") };
    err e = key.len ? entry_get(tx, CATALOG_PROFILES, key, &entry) : NULL;

    if (e && e->kind != ERR_NOT_FOUND)
        return e;
    write_stored(tx, w, STR("profile"), THING("profile", key), entry.text);
    return NULL;
}

/* Of an agent that the runner offers itself it is told the name, and where it has it. */
static err write_agent(struct tx *tx, struct json_writer *w, const struct runner *by,
                       const struct run *r, str dir)
{
    struct agent_offer offer = { .source = OFFER_DATA };
    struct entry entry = { .text = STR("null") };
    bool offered = false;
    err e = r->agent.len ? entry_get(tx, CATALOG_AGENTS, r->agent, &entry) : NULL;

    if (e && e->kind != ERR_NOT_FOUND)
        return e;
    bool known = r->agent.len && !e, registered = known && entry.created_at_ms;
    if (r->agent.len && !registered)
        offered = runner_offers(tx->arena, by, r->agent, dir, &offer);
    if (offered) {
        write_begin(w, STR("agent"), '{');
        write_text(w, STR("name"), r->agent);
        json_write_end(w, '}');
    } else {
        write_stored(tx, w, STR("agent"), THING("agent", r->agent), entry.text);
    }
    write_or_null(w, STR("agent_source"),
                  registered ? STR("registered")
                  : offered  ? str_from(offer_source_names[offer.source])
                  : known    ? STR("built_in")
                             : STR(""));
    return NULL;
}

/* A turn that goes on begins with what has changed since the last; the request for an update of the
 * state shows that by itself. */
static err prompt_of(struct tx *tx, const struct run *r, const struct session *s, str *out)
{
    str brief = STR("");

    if (r->type == RUN_TYPE_RESUME && r->purpose != PURPOSE_STATE_UPDATE)
        TRY(prompt_brief(tx, s, &brief));
    *out = r->prompt;
    if (brief.len)
        *out = arena_printf(tx->arena, STR_FMT "\n\n" STR_FMT, STR_ARG(brief), STR_ARG(r->prompt));
    return NULL;
}

/* What is told of any run. */
static void write_lease(struct tx *tx, struct json_writer *w, const struct run *r)
{
    write_text(w, STR("run_id"), r->id);
    write_text(w, STR("purpose"), team_name(&purpose_words, (int)r->purpose));
    write_int(w, STR("fence"), r->fence);
    write_int(w, STR("lease_seconds"), team_rules_of(tx)->lease_ms / 1000);
    write_seconds(w, STR("max_seconds"), r->max_ms);
}

static void write_command(struct tx *tx, struct json_writer *w, const struct run *r)
{
    write_lease(tx, w, r);
    write_stored(tx, w, STR("argv"), THING("run", r->id), r->argv);
    write_text(w, STR("stdin"), r->input);
    write_or_null(w, STR("project_dir"), r->project_dir);
}

static err write_turn(struct tx *tx, struct json_writer *w, const struct runner *by,
                      const struct run *r, str token)
{
    struct session s;
    str prompt;

    TRY(session_load(tx, r->session_id, &s));
    TRY(prompt_of(tx, r, &s, &prompt));
    write_lease(tx, w, r);
    write_text(w, STR("type"), team_name(&run_type_words, (int)r->type));
    write_text(w, STR("session_id"), s.id);
    write_text(w, STR("session_name"), s.name);
    write_text(w, STR("prompt"), prompt);
    str dir = r->project_dir.len ? r->project_dir : s.work_dir;
    TRY(write_agent(tx, w, by, r, dir));
    TRY(write_profile(tx, w, r->profile));
    write_or_null(w, STR("project_dir"), dir);
    write_or_null(w, STR("client_id"), s.client_id);
    write_int(w, STR("attempt"), r->attempt);
    write_text(w, STR("token"), token);
    write_stored(tx, w, STR("metadata"), THING("run", r->id), r->metadata);
    write_stored_or_null(tx, w, STR("git"), THING("session", s.id), s.git);
    write_env(tx, w, r, &s);
    return NULL;
}

static err write_claimed(struct tx *tx, struct json_writer *w, const struct runner *by,
                         const struct run *r, str token)
{
    write_begin(w, STR("run"), '{');
    if (run_is_command(r))
        write_command(tx, w, r);
    else
        TRY(write_turn(tx, w, by, r, token));
    json_write_end(w, '}');
    return NULL;
}

/* ---- claims ---- */

/* Before a runner that could not look at everything looks on: it is not to keep the server busy. */
enum { SCAN_AGAIN_MS = 25 };

/* A claim that waits. */
struct claim {
    struct runner runner; /* as it was then, with how far it had looked */
    struct run_tour tour;
    int64_t again_ms; /* when it was to look on; 0: not before something comes */
};

/* One whose machine has other agents than when it began to wait looks anew, as the runner that it is now. */
static bool claim_wakes(const void *self, const struct event *e)
{
    const struct runner *r = &((const struct claim *)self)->runner;

    return run_wakes(r, e) || wake_errand_wakes(r, e) ||
           (e->type == EVENT_RUNNER_UPDATED && str_eq(e->subject, r->id));
}

/* Where it goes on. What has come before it was to look on may be where it has been: then it goes
 * around once more. */
static void claim_go_on(const struct tx *tx, const struct claim *past, struct claim *c)
{
    if (past)
        c->runner.claim_cursor = arena_copy(tx->arena, past->runner.claim_cursor);
    c->tour.began = c->runner.claim_cursor;
    if (past && past->again_ms && tx->now_ms >= past->again_ms)
        c->tour.began = arena_copy(tx->arena, past->tour.began);
}

static void claim_wait(struct tx *tx, struct claim *c, struct answer *out)
{
    c->again_ms = c->tour.over ? 0 : tx->now_ms + SCAN_AGAIN_MS;
    out->waits = true;
    out->wait_seq = *tx->seq;
    out->wait_until_ms = tx->now_ms + team_rules_of(tx)->poll_ms;
    out->wait_again_ms = c->again_ms;
    out->wakes = claim_wakes;
    out->wait_self = c;
}

/* A client that is to be woken: it takes a moment, and no place of a run. */
static err errand_write(struct tx *tx, const struct runner *r, struct json_writer *w, bool *said)
{
    struct wake_errand e;

    TRY(wake_errand_take(tx, r, &e));
    *said = e.waker.len > 0;
    if (!*said)
        return NULL;
    write_begin(w, STR("wake"), '{');
    write_text(w, STR("waker"), e.waker);
    write_text(w, STR("conversation"), e.queue.conversation);
    write_text(w, STR("home"), e.queue.home);
    write_or_null(w, STR("path"), e.queue.path);
    write_text(w, STR("text"), e.text);
    json_write_end(w, '}');
    return NULL;
}

/* What there is to say to a runner, if anything: what to stop comes before what to start, and who waits
 * before both begins. */
static err claim_answer(struct tx *tx, const struct input *in, struct claim *c, struct answer *out,
                        bool *said)
{
    struct runner *r = &c->runner;
    struct run_held held;
    struct run run;

    TRY(run_held_by(tx, r, input_json(in, "known"), &held));
    *said = held.stop_count > 0;
    if (*said) {
        write_texts(&out->json, STR("stop_runs"), held.stop, held.stop_count);
        return NULL;
    }
    TRY(errand_write(tx, r, &out->json, said));
    if (*said)
        return NULL;
    TRY(run_claim(tx, r, &held, &c->tour, &run, &out->minted));
    *said = run.id.len > 0;
    if (held.count >= r->capacity)
        r->capacity = 0; /* what comes now is for others: it must not be woken in their place */
    return *said ? write_claimed(tx, &out->json, r, &run, out->minted) : NULL;
}

static err runner_claim_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct claim *c = ARENA_NEW(tx->arena, struct claim);
    bool said = true;
    err gone = runner_get(tx, input_str(in, "runner_id"), &c->runner);

    if (gone && gone->kind != ERR_NOT_FOUND)
        return gone;
    str cursor = c->runner.claim_cursor;
    json_write_begin(&out->json, '{');
    if (gone) {
        write_bool(&out->json, STR("deregistered"), true);
    } else {
        claim_go_on(tx, in->waited, c);
        TRY(runner_seen(tx, &c->runner));
        TRY(claim_answer(tx, in, c, out, &said));
    }
    json_write_end(&out->json, '}');
    out->empty = !said;
    /* One that was lost and is heard again is an event: then there is no waiting any more. */
    if (!said && !in->wait_over && !tx->first)
        claim_wait(tx, c, out);
    else if (!gone && !str_eq(c->runner.claim_cursor, cursor))
        return runner_store_cursor(tx, &c->runner);
    return NULL;
}

/* ---- signs of life ---- */

/* The run that a report is about, after it was made sure that it is the reporter's. */
static err report_begin(struct tx *tx, const struct input *in, struct run *out)
{
    struct runner r;
    bool late;

    TRY(runner_get(tx, input_str(in, "runner_id"), &r));
    TRY(runner_seen(tx, &r));
    return run_holder(tx, input_str(in, "run_id"), &r, input_int(in, "fence", 0), out, &late);
}

/* A run that has ended without its runner is to stop, too. */
static err report_answer(struct tx *tx, const struct run *r, struct answer *out)
{
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("run_id"), r->id);
    write_text(&out->json, STR("status"), team_name(&run_words, (int)r->status));
    write_bool(&out->json, STR("stop"), r->status == RUN_STOPPING || !run_is_live(r->status));
    write_int(&out->json, STR("lease_seconds"), team_rules_of(tx)->lease_ms / 1000);
    json_write_end(&out->json, '}');
    return NULL;
}

static err runner_started_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct run r;

    TRY(report_begin(tx, in, &r));
    TRY(run_started(tx, &r, input_str(in, "project_dir")));
    if (run_is_live(r.status))
        TRY(run_note_activity(tx, &r, input_str(in, "client_id"), STR("")));
    return report_answer(tx, &r, out);
}

static err runner_progress_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct json *pieces = input_json(in, "output");
    struct run r;

    TRY(report_begin(tx, in, &r));
    TRY(run_renew(tx, &r));
    if (!run_is_live(r.status))
        return report_answer(tx, &r, out);
    TRY(run_note_activity(tx, &r, input_str(in, "client_id"), input_str(in, "heard")));
    for (uint32_t i = 0; pieces && i < pieces->len; i++) {
        const struct json *piece = &pieces->items[i];
        TRY(output_add(tx, r.id, str_eq(json_str(piece, "stream"), STR("stderr")),
                       json_str(piece, "text")));
    }
    if (pieces && pieces->len)
        out->notify = r.id;
    return report_answer(tx, &r, out);
}

static err runner_woken_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct runner r;

    out->empty = true;
    TRY(runner_get(tx, input_str(in, "runner_id"), &r));
    TRY(runner_seen(tx, &r));
    return wake_errand_end(tx, &r, input_str(in, "waker"), input_str(in, "failed"));
}

/* ---- ends ---- */

static int64_t millionths(const struct json *dollars)
{
    double value = json_is_number(dollars) ? json_to_double(dollars) * 1e6 : 0;

    return value > 0 && value < 9e18 ? (int64_t)floor(value + 0.5) : 0;
}

static struct usage usage_in(struct tx *tx, const struct input *in)
{
    const struct json *usage = input_json(in, "usage"), *models = json_get(usage, "models");

    return (struct usage){
        .tokens_in = json_int_or(usage, "input_tokens", 0),
        .tokens_out = json_int_or(usage, "output_tokens", 0),
        .tokens_cached = json_int_or(usage, "cached_tokens", 0),
        .cost = millionths(json_get(usage, "cost_usd")),
        .models = json_is(models, JSON_OBJECT) ? json_printed(tx->arena, models) : STR(""),
    };
}

static bool is_whole(const struct json *usage, const char *name)
{
    const struct json *whole = json_get(usage, "whole");
    bool found = false;

    for (uint32_t i = 0; json_is(whole, JSON_ARRAY) && i < whole->len; i++)
        found |= str_eq(json_text(&whole->items[i]), str_from(name));
    return found;
}

static struct usage_whole whole_in(const struct input *in)
{
    const struct json *usage = input_json(in, "usage");

    return (struct usage_whole){
        .tokens_in = is_whole(usage, "input_tokens"),
        .tokens_out = is_whole(usage, "output_tokens"),
        .tokens_cached = is_whole(usage, "cached_tokens"),
        .cost = is_whole(usage, "cost_usd"),
        .models = is_whole(usage, "models"),
    };
}

/* Why a run did not end well: what its runner says, or how its agent left, and the agent's last
 * words on stderr. */
static err error_in(struct tx *tx, const struct input *in, const struct run *r, int64_t code,
                    str *out)
{
    str said = input_str(in, "error"), tail = input_str(in, "stderr_tail");
    struct buf text = buf_in(tx->arena);

    if (said.len)
        buf_add(&text, said);
    else if (code >= 0)
        buf_printf(&text, "its %s ended with exit code %lld",
                   run_is_command(r) ? "command" : "agent", (long long)code);
    else
        buf_add(&text, STR("its runner did not say why"));
    if (!tail.len)
        TRY(output_tail(tx, r->id, RUN_TAIL_BYTES, &tail));
    if (tail.len) {
        buf_byte(&text, '\n');
        buf_add(&text, tail);
    }
    *out = buf_str(&text);
    return NULL;
}

static err end_report(struct tx *tx, const struct input *in, enum run_status end,
                      struct answer *out)
{
    const struct json *git = input_json(in, "git");
    struct run_facts facts = {
        .result = input_str(in, "result"),
        .client_id = input_str(in, "client_id"),
        .git = json_is(git, JSON_OBJECT) ? json_printed(tx->arena, git) : STR(""),
        .usage = usage_in(tx, in),
        .whole = whole_in(in),
        .exit_code = input_int(in, "exit_code", -1),
        .result_cut = input_bool(in, "result_truncated", false),
    };
    struct run r;

    TRY(report_begin(tx, in, &r));
    if (end == RUN_FAILED || end == RUN_TIMED_OUT)
        TRY(error_in(tx, in, &r, facts.exit_code, &facts.error));
    else
        facts.error = input_str(in, "error");
    TRY(run_report_end(tx, &r, end, &facts));
    return report_answer(tx, &r, out);
}

static err runner_completed_op(struct tx *tx, const struct input *in, struct answer *out)
{
    return end_report(tx, in, RUN_COMPLETED, out);
}

static err runner_failed_op(struct tx *tx, const struct input *in, struct answer *out)
{
    return end_report(tx, in, RUN_FAILED, out);
}

static err runner_timed_out_op(struct tx *tx, const struct input *in, struct answer *out)
{
    return end_report(tx, in, RUN_TIMED_OUT, out);
}

static err runner_stopped_op(struct tx *tx, const struct input *in, struct answer *out)
{
    return end_report(tx, in, RUN_STOPPED, out);
}

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
                        .capacity = input_int(in, "capacity", 1),
                        .commands = input_bool(in, "commands", false) };

    r.name = name.len ? name : r.hostname;
    r.tags = names_in(tx, in, "tags", &r.tag_count);
    r.profiles = names_in(tx, in, "profiles", &r.profile_count);
    TRY(agent_offers_check(tx, input_json(in, "agents"), &r.agents));
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
    write_bool(w, STR("commands"), r->commands);
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
    bool errand;
    str agents;

    TRY(runner_get(tx, input_str(in, "runner_id"), &r));
    TRY(runner_seen(tx, &r));
    if (input_json(in, "agents")) {
        TRY(agent_offers_check(tx, input_json(in, "agents"), &agents));
        TRY(runner_store_agents(tx, &r, agents));
    }
    for (uint32_t i = 0; runs && i < runs->len; i++)
        TRY(run_renew_held(tx, &r, json_text(&runs->items[i])));
    TRY(run_held_by(tx, &r, NULL, &held));
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("runner_id"), r.id);
    write_texts(&out->json, STR("stop_runs"), held.stop, held.stop_count);
    TRY(errand_write(tx, &r, &out->json, &errand));
    json_write_end(&out->json, '}');
    return NULL;
}

// clang-format off

/* Somebody at a client of this machine who is to be told something. */
#define ERRAND JSON("wake": { "type": "object", \
    "description": "An idle client to wake by its own queue: waker (for runner.woken), conversation, home (of the client), path (to find it by; or null) and text." })

#define RUNNER_ID JSON("runner_id": { "type": "string", "description": "The runner, as it was registered." })

#define NAMES JSON({ "type": "string", "minLength": 1, "maxLength": 100 })

/* What every report carries. */
#define REPORT RUNNER_ID "," JSON(                                                                 \
    "run_id": { "type": "string", "description": "The run that this is of, as runner.claim gave it." }, \
    "fence": { "type": "integer", "minimum": 1, "description": "The fence of the claim that it was given under." })

#define USAGE JSON("usage": { "type": ["object", "null"],                                          \
    "description": "What the turn has used: counted when it ends.",                                \
    "properties": {                                                                                \
        "input_tokens": { "type": "integer", "minimum": 0, "description": "Tokens that the model has read." }, \
        "output_tokens": { "type": "integer", "minimum": 0, "description": "Tokens that the model has written." }, \
        "cached_tokens": { "type": "integer", "minimum": 0, "description": "Tokens that came from a cache." }, \
        "cost_usd": { "type": "number", "minimum": 0, "description": "What the turn cost, in dollars." }, \
        "models": { "type": ["object", "null"], "description": "The same by model, as the client says it." }, \
        "whole": { "type": "array", "items": { "enum": ["input_tokens", "output_tokens", "cached_tokens", "cost_usd", "models"] }, \
            "description": "Those that count the conversation from its start, not this turn alone." } } })

#define CLIENT_ID JSON("client_id": { "type": ["string", "null"], "maxLength": 500, "description": "What the client calls the conversation." })

#define END_INPUT FIELDS(JSON("runner_id", "run_id", "fence"), REPORT "," USAGE "," CLIENT_ID "," JSON( \
    "result": { "type": ["string", "null"], "maxLength": 1048576, "description": "The agent's last words, which its parent reads as the result of the run." }, \
    "result_truncated": { "type": "boolean", "description": "The result is the end of a longer one." }, \
    "error": { "type": ["string", "null"], "maxLength": 10000, "description": "Why it did not end well, in words for people; null where it did, or nobody knows." }, \
    "exit_code": { "type": ["integer", "null"], "description": "The exit code of its process; null where it has none." }, \
    "git": { "type": ["object", "null"], "description": "What the directory looks like now: head, branch, dirty." }, \
    "stderr_tail": { "type": ["string", "null"], "maxLength": 10000, "description": "The last lines that the agent wrote to stderr." }))

#define REPORT_SHAPE SHAPE(JSON("run_id", "status", "stop", "lease_seconds"), JSON(                \
    "run_id": { "type": "string", "description": "The run that this is of, as runner.claim gave it." }, \
    "status": { "type": "string", "description": "What became of the run with this report." },     \
    "stop": { "type": "boolean", "description": "Whether the agent is to be stopped, or must be gone already." }, \
    "lease_seconds": { "type": "integer", "description": "When nothing is reported for so long, the run is given to another runner." }))

/* What it has besides those that are registered here. */
#define OFFERED_AGENTS JSON("agents": { "type": "array", "maxItems": 500,                          \
    "description": "Agents that its machine has as files, for sessions that name one: all of them, in place of what it said before.", \
    "items": { "type": "object", "required": ["name", "source"], "additionalProperties": false,    \
        "properties": {                                                                            \
            "name": { "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,60}$", "description": "What sessions name it by." }, \
            "source": { "enum": ["project", "home", "data"], "description": "Where its file is: in a project, in the home of its user, or in the data of the runner. The first of these stands." }, \
            "project": { "type": "string", "maxLength": 1200, "description": "Of a project: its folder." }, \
            "description": { "type": "string", "maxLength": 10000, "description": "What it is for: others choose it by this." }, \
            "model": { "type": "string", "maxLength": 200, "description": "The model that it uses." }, \
            "tools": { "type": "array", "maxItems": 256, "items": { "type": "string", "maxLength": 500 }, "description": "The tools that it may use." } } } })

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
            "hostname": { "type": "string", "minLength": 1, "maxLength": 255, "description": "The name of its machine, for runs that ask for one." },
            "project_dir": { "type": ["string", "null"], "maxLength": 1200, "description": "Only runs in this directory or below it." },
            "user": { "type": "string", "minLength": 1, "maxLength": 100, "description": "As whom its agents run: a session goes on as the user that it has begun as." },
            "commands": { "type": "boolean", "default": false, "description": "It takes runs of purpose command too, which have no session and no client." },
            "capacity": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 1, "description": "How many runs it takes at once." }) ","
            OFFERED_AGENTS ","
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
                "description": "Runs that it has: their leases begin anew." }) "," OFFERED_AGENTS),
        .output = SHAPE(JSON("runner_id", "stop_runs"), RUNNER_ID "," ERRAND "," SHAPE_LIST("stop_runs", "Runs that it is to stop.", JSON({ "type": "string" }))),
        .run = runner_heartbeat_op,
    },
    {
        .name = "runner.claim", .http = "GET /runner/runs", .effect = OP_WRITES, .wait = true, .secret = true, .on = ON_HTTP, .by = BY_RUNNER,
        .summary = "Take the next run for a runner, or wait for one; or hear which to stop, or whom to wake.",
        .input = FIELDS(JSON("runner_id"), RUNNER_ID "," JSON(
            "known": { "type": "array", "maxItems": 1000, "items": { "type": "string" },
                "description": "Runs that it was given and is about to start, or was told to stop: they are not told again. May be repeated." })),
        .output = SHAPE("", JSON(
            "run": { "type": "object", "description": "The run that is the runner's now: run_id, type, purpose, session_id, session_name, prompt, agent, agent_source (registered, project, home, data or built_in: of those in between the runner has the file), profile, project_dir, client_id, attempt, fence, token, lease_seconds, max_seconds, metadata, git and env. Of purpose command: run_id, purpose, argv, stdin, project_dir, fence, lease_seconds and max_seconds." },
            "deregistered": { "type": "boolean", "description": "There is no such runner any more: register again." }) "," ERRAND ","
            SHAPE_LIST("stop_runs", "Runs that it is to stop.", JSON({ "type": "string" }))),
        .run = runner_claim_op,
    },
    {
        .name = "runner.woken", .http = "POST /runner/wakes/{waker}", .effect = OP_WRITES, .on = ON_HTTP, .by = BY_RUNNER,
        .summary = "Report that a client has what it was to be woken with, or that it cannot be had there: then others get it.",
        .input = FIELDS(JSON("runner_id", "waker"), RUNNER_ID "," JSON(
            "waker": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$", "description": "What the claim or the heartbeat has called it." },
            "handed": { "type": "boolean", "description": "The client has it, and keeps it over its own restart." },
            "failed": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "Why it could not be handed over." })),
        .output = SHAPE("", ""), .run = runner_woken_op,
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
                        "stream": { "enum": ["stdout", "stderr"], "description": "Which of its streams the agent wrote this to." },
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
                "hostname": { "type": "string", "description": "The name of its machine, for runs that ask for one." },
                "project_dir": { "type": ["string", "null"], "description": "Only runs in this directory or below it; null: any." },
                "user": { "type": ["string", "null"], "description": "The user of the operating system that its agents run as; null: it did not say." },
                "tags": { "type": "array", "items": { "type": "string" }, "description": "Its tags, which a run may demand of its runner." },
                "profiles": { "type": "array", "items": { "type": "string" }, "description": "The clients that it has; none: all." },
                "commands": { "type": "boolean", "description": "Whether it takes runs of purpose command." },
                "capacity": { "type": "integer", "description": "How many runs it takes at once." },
                "runs": { "type": "integer", "description": "How many runs it holds now: claimed, running or stopping." },
                "alive": { "type": "boolean", "description": "Whether it has said lately that it is there; the runs of one that falls silent go to others." },
                "registered_at": { "type": "string", "format": "date-time", "description": "When it last registered." },
                "seen_at": { "type": "string", "format": "date-time", "description": "When it last said anything." }))) "," PAGE_NEXT),
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
