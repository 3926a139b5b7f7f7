/* swarm.c: a random run under faults. */
#include "sim/swarm_private.h"

#include <stdlib.h>

/* So little is kept that letting go of it is part of every run. */
static const struct retention retention = {
    .events = 8,
    .events_ms = 20 * 60 * 1000,
    .versions = 2,
    .versions_step = 2,
    .keys_ms = 2 * 3600 * 1000,
    .rows = 5,
};

/* ---- the log ---- */

void swarm_note(struct swarm *s, const char *format, ...)
{
    struct buf line = buf_in(s->arena);
    va_list args;

    buf_printf(&line, "%llu.%d ", (unsigned long long)s->seed, s->step);
    va_start(args, format);
    buf_vprintf(&line, format, args);
    va_end(args);
    buf_byte(&line, '\n');
    sha256_add(&s->sum, buf_str(&line));
    printf("%s", buf_str(&line).at);
    if (s->options->log)
        fprintf(s->options->log, "%s", buf_str(&line).at);
}

void swarm_note_command(struct swarm *s, const struct command *c)
{
    str subject = json_str(c->input, "state_id");
    const char *how = c->error      ? error_kind_info(c->error->kind)->name
                      : c->repeated ? "repeated"
                      : c->events   ? "applied"
                                    : "ok";

    if (s->options->tells)
        swarm_note(s, "  " STR_FMT, STR_ARG(world_told(s->arena, c)));
    swarm_note(s, "  %s%s" STR_FMT " by " STR_FMT "%s" STR_FMT ": %s v%lld", c->op->name,
               subject.len ? " " : "", STR_ARG(subject), STR_ARG(c->actor->name),
               c->key.len ? " key " : "", STR_ARG(c->key), how, (long long)c->answer.version);
}

/* ---- worlds come and go ---- */

void swarm_open(struct swarm *s, int ids, int64_t now_ms)
{
    if (s->on.disk)
        CHECK_OK(world_open_in(s->arena, "baton.db", vfs_name(s->on.disk), &s->w));
    else
        CHECK_OK(world_open_in(s->arena, s->options->store, NULL, &s->w));
    s->w->retention = retention;
    s->w->engine.careful = s->options->tells; /* then it is compared with another store's */
    s->w->ids = ids;
    s->w->now_ms = s->model->now_ms = now_ms;
    s->totals->restarts++;
}

/* Whatever was left by the one who died, what is shown now may not be lost later. */
static void shown_is_durable(struct swarm *s)
{
    unsigned char now[SHA256_BYTES];

    if (!s->on.disk)
        return;
    world_digest(s->w, now);
    crash_now(s->on.disk, random_next(&s->random), now);
    s->totals->points++;
}

void swarm_reopen(struct swarm *s)
{
    int ids = s->w->ids;
    int64_t now_ms = s->w->now_ms;

    world_close(s->w);
    swarm_open(s, ids, now_ms);
    shown_is_durable(s);
}

void swarm_count(struct swarm *s, enum fault_site site, struct command *const *batch, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t op = 0;
        while (op_at(s->w->table, op) != batch[i]->op)
            op++;
        s->totals->cells[op][site] += fault_site_met(site, batch[i]);
    }
}

/* ---- commands ---- */

struct command *swarm_command(struct swarm *s, const struct op *op, struct json input,
                              const struct actor *actor, str key)
{
    struct command *c = ARENA_NEW(s->arena, struct command);
    struct json *kept = arena_alloc(s->arena, sizeof *kept);

    *kept = input;
    *c = (struct command){ .arena = s->arena, .op = op, .input = kept, .actor = actor, .key = key };
    return c;
}

static const struct op *draw_op(struct swarm *s, enum op_effect effect)
{
    static const char *const often[] = { "state.create", "state.update", "state.patch",
                                         "run.create",   "runner.claim", "runner.started",
                                         "hook.event" };
    /* What they are about is seldom there, or only once. */
    static const char *const seldom[] = { "execution.report", "step.update", "runner.mirrored" };
    const struct op *op;

    if (effect == OP_WRITES && s->options->evenly && chance(s, 5))
        return op_find(s->w->table, str_from(seldom[below(s, sizeof seldom / sizeof *seldom)]));
    if (effect == OP_WRITES && chance(s, s->options->evenly ? 6 : 2))
        return op_find(s->w->table, str_from(often[below(s, sizeof often / sizeof *often)]));
    do
        op = op_at(s->w->table, s->next_op[effect]++ % op_count(s->w->table));
    while (op->effect != effect);
    return op;
}

static str draw_key(struct swarm *s)
{
    /* Where the answer of a commit can be lost, what was asked without a key counts most: nobody
     * can ask again, so what is told must be so. */
    return chance(s, s->on.wire ? 2 : 15) ? STR("") : arena_printf(s->arena, "k%d", ++s->keys);
}

static const struct model_key *old_key(struct swarm *s)
{
    const struct map *keys = &s->model->keys;

    return keys->count ? keys->entries[below(s, keys->count)].value : NULL;
}

static struct command *draw_command(struct swarm *s, enum op_effect effect)
{
    const struct model_key *old = effect == OP_WRITES && chance(s, 8) ? old_key(s) : NULL;

    if (old && chance(s, 2)) /* the same once more */
        return swarm_command(s, old->op, *old->input, old->actor, old->key);
    const struct op *op = draw_op(s, effect);
    struct json input = inputs_draw(&s->inputs, op, chance(s, 12));
    const struct actor *actor = inputs_actor(&s->inputs, op, &input, chance(s, 15));
    if (old) /* something else under a key that was used */
        return swarm_command(s, op, input, old->actor, old->key);
    return swarm_command(s, op, input, actor, effect == OP_WRITES ? draw_key(s) : STR(""));
}

/* What the engine writes, nobody else does. */
static bool is_engines(const struct model_state *state)
{
    return json_str(json_get(state->schema->text, "x-baton"), "writer").len;
}

/* Several writers who have read the same version; all of them would fit, and each makes a version,
 * whatever it writes. */
static size_t draw_race(struct swarm *s, struct command **batch)
{
    static const struct actor racer = { .kind = ACTOR_OPERATOR, .name = { "operator", 8 } };
    const struct model_state *state = inputs_state(&s->inputs);
    size_t count = state && !is_engines(state) ? 2 + below(s, 4) : 0;

    for (size_t i = 0; i < count; i++) {
        struct json input = json_object();
        json_put(s->arena, &input, STR("state_id"), json_string(state->id));
        json_put(s->arena, &input, STR("data"), inputs_document(&s->inputs, state->schema));
        json_put(s->arena, &input, STR("expected_version"), json_int(s->arena, state->version));
        json_put(s->arena, &input, STR("touch"), json_bool(true));
        batch[i] =
            swarm_command(s, op_find(s->w->table, STR("state.update")), input, &racer, draw_key(s));
    }
    return count;
}

static void write_step(struct swarm *s)
{
    struct command *batch[SWARM_BATCH_MAX];
    size_t count = chance(s, 6) ? draw_race(s, batch) : 0;
    bool race = count > 0;

    if (!race)
        for (count = 0; count == 0 || (count < SWARM_BATCH_MAX && !chance(s, 3)); count++)
            batch[count] = draw_command(s, OP_WRITES);
    swarm_batch(s, batch, count, race);
}

/* What reads answer of older versions is what was told of them then. */
static void read_check(struct swarm *s, const struct command *c)
{
    const struct model_state *state = model_state(s->model, json_str(c->input, "state_id"));

    if (c->error || c->answer.waits || !state || strcmp(c->op->name, "state.read") != 0)
        return;
    CHECK(!state->deleted && c->answer.version >= 1 && c->answer.version <= state->version);
    const struct json *answer = json_parsed(s->arena, c->answer.text);
    const struct json *data = json_get(answer, "current_data");
    if (json_bool_or(answer, "truncated", false))
        return; /* as much of it as was asked for */
    CHECK(!data || json_equal(data, &state->versions[c->answer.version - 1].doc));
}

static void read_one(struct swarm *s)
{
    struct command *c = draw_command(s, OP_READS);
    enum fault_site site = chance(s, 2)   ? FAULT_SITE_NONE
                           : chance(s, 2) ? FAULT_SITE_CALL
                                          : FAULT_SITE_IOERR;
    struct engine *reader;

    if (site == FAULT_SITE_IOERR) {
        swarm_reopen(s);
        world_reader_end(s->w); /* what a connection has read before, it has in memory */
    }
    CHECK_OK(world_reader(s->w, &reader));
    fault_site_plan_read(site, s->w, &s->on, &s->random);
    op_read(reader, c);
    bool fired = fault_site_clear(s->w, &s->on);
    swarm_note(s, "read%s%s", fired ? ", " : "", fired ? fault_site_names[site] : "");
    swarm_note_command(s, c);
    s->totals->reads++;
    if (fault_site_is_to_blame(c))
        swarm_count(s, site, &c, 1);
    CHECK(fired || !fault_site_is_to_blame(c));
    CHECK(!c->error || c->error->kind != ERR_INTERNAL);
    CHECK(c->error || c->seq == s->model->seq);
    world_check_answer(s->w, c);
    read_check(s, c);
}

static void reads_step(struct swarm *s)
{
    for (int i = 0; i < 3; i++)
        read_one(s);
    swarm_settle(s);
}

static bool follow_page(struct swarm *s)
{
    struct model *f = s->follower;
    struct command *c =
        world_ask(s->w, s->arena, "event.list",
                  arena_printf(s->arena, "{'after':%lld,'shape':'message','limit':%u}",
                               (long long)f->seq, 1 + below(s, 20)));

    if (c->error && c->error->kind == ERR_GONE) { /* it was away for too long */
        s->follower = model_copy(s->model);
        return false;
    }
    CHECK_OK(c->error);
    const struct json *answer = json_parsed(s->arena, c->answer.text);
    const struct json *events = json_get(answer, "events");
    for (uint32_t i = 0; i < events->len; i++)
        model_message(f, json_printed(s->arena, &events->items[i]));
    return json_int_or(answer, "next", 0) < json_int_or(answer, "seen", 0);
}

/* A subscriber that was away reads on from where it was, in pages. */
static void follow_step(struct swarm *s)
{
    while (follow_page(s))
        continue;
    swarm_note(s, "follow to %lld", (long long)s->follower->seq);
    CHECK_INT(s->follower->seq, s->model->seq);
    model_same(s->follower, s->model);
}

static void look_back_step(struct swarm *s)
{
    const struct model_state *state = inputs_state(&s->inputs);

    if (!state)
        return;
    int64_t dropped = model_look_back(s->model, s->w, state);
    s->totals->dropped += (uint64_t)dropped;
    swarm_note(s, "look back at " STR_FMT ": %lld of %lld versions are dropped", STR_ARG(state->id),
               (long long)dropped, (long long)state->version);
}

/* By the checkpointer, on a connection of its own, or by the writer, who has the log begin anew.
 * Neither changes what is there, whenever the power goes. */
static void checkpoint_step(struct swarm *s)
{
    bool restarts = chance(s, 2);
    struct sql *sql;

    CHECK_OK(store_connect(s->arena, s->w->store, STORE_WRITES, &sql));
    crash_points_begin(&s->moments, s->on.disk);
    CHECK_OK(restarts ? store_restart_log(s->w->engine.sql, s->arena)
                      : store_checkpoint(sql, s->arena));
    crash_points_end(&s->moments);
    store_disconnect(sql);
    s->totals->points += crash_points_check(&s->moments, &s->random, s->options->points_per_batch,
                                            s->digest, s->digest);
    crash_points_drop(&s->moments);
    swarm_note(s, "checkpoint%s", restarts ? " by the writer" : "");
    swarm_settle(s);
}

/* The server does what has become due, and then what others have asked for meanwhile. */
static void ticks(struct swarm *s)
{
    static const struct actor server = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };
    struct command *batch[SWARM_BATCH_MAX];
    size_t count = 1 + below(s, SWARM_BATCH_MAX);

    for (size_t i = 0; i < count; i++)
        batch[i] = swarm_command(s, op_find(s->w->table, STR("system.tick")), json_object(),
                                 &server, STR(""));
    while (count < SWARM_BATCH_MAX && !chance(s, 3))
        batch[count++] = draw_command(s, OP_WRITES);
    swarm_batch(s, batch, count, false);
}

static void clock_step(struct swarm *s)
{
    const int64_t minute_ms = 60 * 1000, day_ms = 24 * 60 * minute_ms;

    switch (below(s, 5)) {
    case 0: s->w->now_ms -= (int64_t)below(s, 100) * 1000; break;
    case 1: s->w->now_ms += day_ms; break;
    default: s->w->now_ms += (int64_t)below(s, 60) * minute_ms;
    }
    if (s->w->now_ms > s->model->now_ms)
        s->model->now_ms = s->w->now_ms;
    swarm_note(s, "clock %lld", (long long)s->w->now_ms);
    ticks(s);
}

/* It was stopped without a word, and its clients find out when they use their connections. */
static void server_restart(struct swarm *s)
{
    s->options->restart(s->options->server);
    s->totals->restarts++;
    swarm_note(s, "the server restarts");
    swarm_settle(s);
}

static void restart_step(struct swarm *s)
{
    if (s->options->restart && chance(s, 2)) {
        server_restart(s);
        return;
    }
    if (s->on.disk && chance(s, 2))
        vfs_crash(s->on.disk, random_next(&s->random));
    swarm_reopen(s);
    swarm_note(s, "restart between batches");
    swarm_settle(s);
}

static void step(struct swarm *s)
{
    static void (*const steps[])(struct swarm *) = {
        write_step,  write_step,      write_step, write_step,   write_step,
        write_step,  write_step,      reads_step, reads_step,   reads_step,
        follow_step, checkpoint_step, clock_step, restart_step, look_back_step,
    };
    steps[below(s, sizeof steps / sizeof *steps)](s);
}

/* ---- a run ---- */

uint64_t swarm_setting(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* What chance alone seldom makes: an agent that asks whether it may use a tool, and workflows that have
 * ended, wait for workers, for a report, for a runner that proves them and for a person. */
static const struct {
    const char *op, *input;
} founding[] = {
    { "agent.create", "{'name':'asker','profile':'claude','ask':['Bash']}" },
    { "run.create", "{'type':'start_session','session_id':'claude-x','session_name':'asker',"
                    "'prompt':'x','agent_name':'asker'}" },
    { "hook.event", "{'client':'claude','event':{'session_id':'x','hook_event_name':'PreToolUse',"
                    "'tool_name':'Bash','tool_input':{}}}" },
    { "phase.create", "{'task':'t','parent_session_name':'claude-x','phases':['a','b','c']}" },
    { "workflow.deploy", "{'definition':{'workflow':'f1','steps':[{'id':'a','set':{'k':1}}]}}" },
    { "execution.start", "{'workflow':'f1'}" },
    { "execution.start", "{'workflow':'f1'}" },
    { "workflow.deploy",
      "{'definition':{'workflow':'f2','steps':[{'id':'a'},{'id':'b','job':'t1'},"
      "{'id':'c','for_each':[1,2,3],'job':'t2'},{'id':'d','after':['a','b']}]}}" },
    { "execution.start", "{'workflow':'f2'}" },
    { "execution.start", "{'workflow':'f2'}" },
    { "workflow.deploy",
      "{'definition':{'workflow':'f3','steps':[{'id':'a','for_each':'=none','job':'t1'},"
      "{'id':'b','job':'t2'}]}}" },
    { "execution.start", "{'workflow':'f3'}" },
    { "workflow.deploy",
      "{'definition':{'workflow':'f4','steps':[{'id':'a','for_each':[],'approval':true},"
      "{'id':'b','for_each':[],'approval':{'deadline':'1h','default':'approve'}},"
      "{'id':'c','after':['a'],'evidence':[{'run':'true'}]},"
      "{'id':'d','job':'t1','evidence':[{'file':'x'}],'retry':{'max_attempts':9}}]}}" },
    { "execution.start", "{'workflow':'f4'}" },
    { "execution.start", "{'workflow':'f4'}" },
    { "phase.create", "{'task':'t','phases':['a','b']}" },
    { "phase.create", "{'task':'t','phases':['a','b']}" },
    { "execution.start", "{'workflow':'f2'}" },
    { "execution.start", "{'workflow':'f2'}" },
    { "job.claim", "{'types':['t1','t2'],'max':5}" },
};

static void found(struct swarm *s, const char *name, const struct json *input)
{
    static const struct actor founder = { .kind = ACTOR_OPERATOR, .name = { "operator", 8 } };
    static const struct actor machine = { .kind = ACTOR_RUNNER, .name = { "runner", 6 } };
    const struct op *op = op_find(s->w->table, str_from(name));
    const struct actor *who = op->by & BY_OPERATOR ? &founder : &machine;

    swarm_perform(s, swarm_command(s, op, input ? *input : inputs_draw(&s->inputs, op, false), who,
                                   STR("")));
    swarm_settle(s);
}

static void begin(struct swarm *s)
{
    static const char *const ops[] = { "schema.create", "state.create",    "schema.create",
                                       "state.create",  "token.create",    "session.create",
                                       "run.create",    "runner.register", "run.create" };

    s->model = model_new(s->arena, &retention);
    s->follower = model_new(s->arena, &retention);
    s->model->now_ms = 1736937300000;
    inputs_init(&s->inputs, s->arena, &s->random, s->model);
    swarm_open(s, 0, s->model->now_ms);
    if (s->on.disk)
        vfs_sync_directory(s->on.disk);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        found(s, ops[i], NULL);
    for (size_t i = 0; i < sizeof founding / sizeof *founding; i++) {
        struct json input = json_of(s->arena, founding[i].input);
        found(s, founding[i].op, &input);
    }
    s->next_op[OP_READS] = s->next_op[OP_WRITES] = below(s, (uint32_t)op_count(s->w->table));
}

void swarm_run(uint64_t seed, const struct swarm_options *options, struct swarm_totals *totals,
               unsigned char digest[SHA256_BYTES])
{
    struct swarm s = { .seed = seed,
                       .random = { seed * 2654435761u },
                       .arena = arena_new(),
                       .options = options,
                       .totals = totals };

    sha256_init(&s.sum);
    if (options->store)
        s.on.wire = options->wire;
    else
        s.on.disk = vfs_new(seed, seed % 2 ? 512 : 4096);
    begin(&s);
    for (s.step = 1; s.step <= SWARM_STEPS; s.step++)
        step(&s);
    crash_points_drop(&s.moments);
    world_close(s.w);
    if (s.on.disk)
        vfs_free(s.on.disk);
    sha256_end(&s.sum, digest);
    arena_free(s.arena);
    totals->runs++;
}
