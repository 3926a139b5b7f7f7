/* swarm_batch.c: a batch under a fault, and what must be true after it. */
#include "sim/swarm_private.h"

enum { CALLS_MAX = 3000 }; /* of the store, for one command: whatever is asked, it ends soon */

/* ---- what was answered ---- */

void swarm_settle(struct swarm *s)
{
    model_look(s->model, s->w);
    model_audit(s->model, s->w);
    world_digest(s->w, s->digest);
    str rows = { (const char *)s->digest, sizeof s->digest };
    sha256_add(&s->sum, rows);
    if (s->options->tells)
        swarm_note(s, "  rows " STR_FMT, STR_ARG(hex_encode(s->arena, rows)));
}

/* Somebody was told this, so from now on it is true. */
static void answered(struct swarm *s, const struct command *c)
{
    world_check_answer(s->w, c);
    CHECK(!c->error || c->error->kind != ERR_INTERNAL);
    model_key_check(s->model, c);
    s->totals->commands++;
    if (c->error)
        return;
    s->totals->applied += c->events != NULL;
    model_answered(s->model, c);
}

static void perform_one(struct swarm *s, struct command *c)
{
    op_perform(&s->w->engine, &c, 1);
    CHECK(!s->w->engine.stopped);
    swarm_note_command(s, c);
}

void swarm_perform(struct swarm *s, struct command *c)
{
    perform_one(s, c);
    answered(s, c);
}

/* What a client does that was not answered, or was told to try again. */
static struct command *command_again(struct swarm *s, const struct command *c)
{
    return swarm_command(s, c->op, *c->input, c->actor, c->key);
}

/* ---- after a restart ---- */

/* Whether the events of a command are those that the log has from `found` on. */
static bool is_there(struct swarm *s, const struct command *c, const struct json *found)
{
    size_t there = 0, all = 0;

    for (const struct event *e = c->events; e; e = event_after(e), all++) {
        struct buf text = buf_in(s->arena);
        event_print(&text, e, EVENT_MESSAGE);
        const struct json *message = json_parsed(s->arena, buf_str(&text));
        int64_t place = event_seq(e) - json_int_or(json_at(found, 0), "seq", 0);
        const struct json *row = place < 0 ? NULL : json_at(found, (size_t)place);
        there += row && json_equal(row, message);
    }
    CHECK(there == 0 || there == all);
    return there > 0;
}

/* Old keys may have been forgotten by the server's own work in the same batch, which is not there either
 * then: whoever had used such a key again finds the answer of the first time. */
static bool may_forget_keys(struct command *const *batch, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(batch[i]->op->name, "system.tick") == 0)
            return true;
    return false;
}

/* After a restart: of the commands that nobody was answered, each has happened wholly or not at
 * all, and sending it again with its key makes it happen once. */
static void resolve(struct swarm *s, struct command *const *batch, size_t count)
{
    bool there[SWARM_BATCH_MAX] = { false };
    struct command *list =
        world_ask(s->w, s->arena, "event.list",
                  arena_printf(s->arena, "{'after':%lld,'shape':'message','limit':1000}",
                               (long long)s->model->seq));

    CHECK_OK(list->error);
    const struct json *answer = json_parsed(s->arena, list->answer.text);
    const struct json *found = json_get(answer, "events");
    for (size_t i = 0; i < count; i++) {
        there[i] = !batch[i]->error && is_there(s, batch[i], found);
        if (there[i])
            model_answered(s->model, batch[i]);
    }
    CHECK_INT(s->model->seq, list->seq); /* nothing is there that nobody asked for */
    for (size_t i = 0; i < count; i++) {
        struct command *again = command_again(s, batch[i]);
        if (!again->key.len || again->op->secret)
            continue;
        perform_one(s, again);
        if (batch[i]->events && !batch[i]->error &&
            !(again->repeated && may_forget_keys(batch, count)))
            CHECK_INT(again->repeated, there[i]);
        model_may_learn(s->model, again, !batch[i]->events && !batch[i]->repeated);
        answered(s, again);
    }
    swarm_settle(s);
}

/* The process dies, and perhaps the machine with it. */
static void die_and_resolve(struct swarm *s, struct command *const *batch, size_t count)
{
    if (s->on.disk && chance(s, 2))
        vfs_kill(s->on.disk);
    else if (s->on.disk)
        vfs_crash(s->on.disk, random_next(&s->random));
    swarm_note(s, "restart");
    swarm_reopen(s);
    resolve(s, batch, count);
}

/* The power goes at one of the moments of a batch that succeeded in another future. */
static void crash_for_real(struct swarm *s, struct command *const *batch, size_t count)
{
    int ids = s->w->ids;
    int64_t now_ms = s->w->now_ms;

    world_close(s->w);
    vfs_free(s->on.disk);
    s->on.disk = crash_points_take(&s->moments, below(s, (uint32_t)s->moments.count));
    vfs_crash(s->on.disk, random_next(&s->random));
    swarm_note(s, "crash");
    swarm_open(s, ids, now_ms);
    resolve(s, batch, count);
}

static size_t applied_count(struct command *const *batch, size_t count)
{
    size_t applied = 0;

    for (size_t i = 0; i < count; i++)
        applied += !batch[i]->error && !batch[i]->repeated;
    return applied;
}

/* ---- the batch ---- */

/* Who was refused for want of a disk asks again. */
static void ask_again(struct swarm *s, struct command *const *batch, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fault_site_is_to_blame(batch[i]) && !chance(s, 3))
            swarm_perform(s, command_again(s, batch[i]));
}

/* Those twice that are planned and do not always come. */
static enum fault_site draw_site(struct swarm *s)
{
    static const enum fault_site draws[] = { FAULT_SITE_CALL, FAULT_SITE_CALL,   FAULT_SITE_FULL,
                                             FAULT_SITE_FULL, FAULT_SITE_IOERR,  FAULT_SITE_IOERR,
                                             FAULT_SITE_LOST, FAULT_SITE_COMMIT, FAULT_SITE_CRASH,
                                             FAULT_SITE_NONE, FAULT_SITE_NONE,   FAULT_SITE_NONE };
    enum fault_site drawn = draws[below(s, sizeof draws / sizeof *draws)];

    return drawn == FAULT_SITE_CRASH && !s->on.disk ? FAULT_SITE_NONE : drawn;
}

/* Whether the fault was met. Without one, the store refuses nothing. */
static bool batch_perform(struct swarm *s, struct command *const *batch, size_t count,
                          enum fault_site site, bool race)
{
    fault_site_plan(site, s->w, &s->on, &s->random, count);
    crash_points_begin(&s->moments, s->on.disk);
    op_perform(&s->w->engine, batch, count);
    crash_points_end(&s->moments);
    CHECK(s->w->fault.calls <= CALLS_MAX * count);
    bool fired = fault_site_clear(s->w, &s->on);
    for (size_t i = 0; i < count && !s->w->engine.stopped; i++)
        fired |= fault_site_is_to_blame(batch[i]);
    CHECK(!fired || site < FAULT_SITE_CRASH);
    swarm_note(s, "batch of %zu%s%s%s", count, race ? ", a race" : "", fired ? ", " : "",
               fired ? fault_site_names[site] : "");
    for (size_t i = 0; i < count; i++)
        swarm_note_command(s, batch[i]);
    if (fired)
        swarm_count(s, site, batch, count);
    return fired;
}

/* The rows before and after a batch, in this future and in those in which the power went. */
static void rows_check(struct swarm *s, struct command *const *batch, size_t count, bool once)
{
    unsigned char before[SHA256_BYTES];

    memcpy(before, s->digest, sizeof before);
    world_digest(s->w, s->digest);
    if (applied_count(batch, count) == 0)
        CHECK(memcmp(before, s->digest, sizeof before) == 0); /* what is refused changes nothing */
    if (!once)
        return;
    uint32_t points = crash_points_check(&s->moments, &s->random, s->options->points_per_batch,
                                         before, s->digest);
    s->totals->points += points;
    for (uint32_t i = 0; i < points; i++)
        swarm_count(s, FAULT_SITE_CRASH, batch, count);
}

void swarm_batch(struct swarm *s, struct command *const *batch, size_t count, bool race)
{
    enum fault_site site = draw_site(s);
    bool fired = batch_perform(s, batch, count, site, race);

    if (s->w->engine.stopped) {
        crash_points_drop(&s->moments);
        die_and_resolve(s, batch, count);
        return;
    }
    if (race && !fired)
        CHECK_INT(applied_count(batch, count), 1);
    /* When commands were run one by one, there are more states than before and after. And a write
     * that fails for want of space may have written all here, which no system does. */
    bool once = s->w->fault.commits == 1 && !(fired && site == FAULT_SITE_FULL);
    rows_check(s, batch, count, once);
    if (site == FAULT_SITE_CRASH && once) {
        crash_for_real(s, batch, count);
    } else {
        for (size_t i = 0; i < count; i++)
            answered(s, batch[i]);
        ask_again(s, batch, count);
        swarm_settle(s);
    }
    crash_points_drop(&s->moments);
}
