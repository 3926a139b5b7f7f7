/* runners_claim.c: how a runner gets a run, and all that its agent will need. */
#include "base/digest.h"
#include "core/agent.h"
#include "core/prompt.h"
#include "ops/runners.h"
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

static void write_env(struct tx *tx, struct json_writer *w, const struct run *r,
                      const struct session *s)
{
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
    };

    write_begin(w, STR("env"), '{');
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value.len)
            write_text(w, str_from(all[i].name), all[i].value);
    json_write_end(w, '}');
}

/* One that was deleted meanwhile is null: the runner knows what it cannot do without. */
static err write_entry(struct tx *tx, struct json_writer *w, str name, enum catalog c, str key)
{
    struct entry entry = { .text = STR("null") };
    err e = key.len ? entry_get(tx, c, key, &entry) : NULL;

    if (e && e->kind != ERR_NOT_FOUND)
        return e;
    write_stored(tx, w, name, THING(c == CATALOG_AGENTS ? "agent" : "profile", key), entry.text);
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

static err write_claimed(struct tx *tx, struct json_writer *w, const struct run *r, str token)
{
    struct session s;
    str prompt;

    TRY(session_load(tx, r->session_id, &s));
    TRY(prompt_of(tx, r, &s, &prompt));
    write_begin(w, STR("run"), '{');
    write_text(w, STR("run_id"), r->id);
    write_text(w, STR("type"), team_name(&run_type_words, (int)r->type));
    write_text(w, STR("purpose"), team_name(&purpose_words, (int)r->purpose));
    write_text(w, STR("session_id"), s.id);
    write_text(w, STR("session_name"), s.name);
    write_text(w, STR("prompt"), prompt);
    TRY(write_entry(tx, w, STR("agent"), CATALOG_AGENTS, r->agent));
    TRY(write_entry(tx, w, STR("profile"), CATALOG_PROFILES, r->profile));
    write_or_null(w, STR("project_dir"), r->project_dir.len ? r->project_dir : s.work_dir);
    write_or_null(w, STR("client_id"), s.client_id);
    write_int(w, STR("attempt"), r->attempt);
    write_int(w, STR("fence"), r->fence);
    write_text(w, STR("token"), token);
    write_int(w, STR("lease_seconds"), team_rules_of(tx)->lease_ms / 1000);
    write_seconds(w, STR("max_seconds"), r->max_ms);
    write_stored(tx, w, STR("metadata"), THING("run", r->id), r->metadata);
    write_stored_or_null(tx, w, STR("git"), THING("session", s.id), s.git);
    write_env(tx, w, r, &s);
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

static bool claim_wakes(const void *self, const struct event *e)
{
    return run_wakes(&((const struct claim *)self)->runner, e);
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

/* What there is to say to a runner, if anything: what to stop comes before what to start. */
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
    TRY(run_claim(tx, r, &held, &c->tour, &run, &out->minted));
    *said = run.id.len > 0;
    if (held.count >= r->capacity)
        r->capacity = 0; /* what comes now is for others: it must not be woken in their place */
    return *said ? write_claimed(tx, &out->json, &run, out->minted) : NULL;
}

err runner_claim_op(struct tx *tx, const struct input *in, struct answer *out)
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
