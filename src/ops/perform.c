/* perform.c: commands in, answers and events out.
 *
 * A refused command answers its own error, and nothing of it is there. Nearly all
 * are refused before they have changed anything, so on SQLite a batch begins
 * without savepoints; one that must take a change back runs again with them. On
 * PostgreSQL what a command writes is held until it is kept. A disk that
 * is full, or a lost connection, ends the whole transaction with all savepoints:
 * then nothing of the batch counts, and its commands run again one by one, so that
 * only those answer an error that meet one. */
#include "ops/perform.h"

#include <assert.h>
#include <stdio.h>

#include "base/digest.h"
#include "base/log.h"
#include "core/consequence.h"
#include "core/idempotency.h"
#include "core/schema.h"
#include "core/state.h"
#include "core/stored.h"
#include "json/write.h"

static void all_public(struct engine *e, struct command *const *commands, size_t count)
{
    for (size_t i = 0; i < count && !e->stopped; i++)
        if (commands[i]->error)
            commands[i]->error = op_public_error(e, commands[i]->arena, commands[i]->error);
}

/* ---- one command ---- */

static const struct answer no_answer = {
    .text = STR(""),
    .next = STR(""),
    .cached_id = STR(""),
    .cached = STR(""),
    .wait_subject = STR(""),
    .notify = STR(""),
    .minted = STR(""),
};

static void command_reset(struct command *c)
{
    c->error = NULL;
    c->answer = no_answer;
    c->repeated = false;
    c->events = NULL;
    c->minted = NULL;
    c->seq = 0;
}

static unsigned caller_of(const struct command *c)
{
    const struct actor *a = c->actor;
    static const unsigned callers[] = {
        [ACTOR_SYSTEM] = ~0u,         [ACTOR_OPERATOR] = BY_OPERATOR, [ACTOR_RUNNER] = BY_RUNNER,
        [ACTOR_SESSION] = BY_SESSION, [ACTOR_VIEWER] = BY_VIEWER,     [ACTOR_CODE] = 0,
    };
    if (c->by_person && a->kind == ACTOR_SESSION && a->is_attended)
        return BY_PERSON;
    return a->job_count ? BY_WORKER : callers[a->kind];
}

/* Who gets hold of a page's token has it until it is revoked, and no other that outlives it. */
static err rights_check(const struct command *c)
{
    if (c->op->secret && c->actor->is_page)
        return err_new(c->arena, ERR_FORBIDDEN,
                       "%s gives a token, and one of a page gets no others: use the operator's, "
                       "in a terminal",
                       c->op->name);
    if (c->op->by & caller_of(c))
        return NULL;
    return err_new(c->arena, ERR_FORBIDDEN, "%s is not for a token of this kind", c->op->name);
}

/* What does not fit an operation's input is a bad request, not a bad document. */
static err input_check(const struct op_table *table, struct command *c)
{
    TRY(op_input_meant(c->arena, table, c->op, &c->input));
    err unfit = schema_require(c->arena, op_input_schema(table, c->op), c->input);
    if (!unfit)
        return NULL;
    err bad = err_new(c->arena, ERR_INVALID, "%s: " STR_FMT, c->op->name, STR_ARG(unfit->message));
    return err_with(c->arena, bad, unfit->members);
}

static str request_digest(const struct command *c)
{
    unsigned char sum[SHA256_BYTES];
    str text = arena_printf(c->arena, "%s " STR_FMT, c->op->name,
                            STR_ARG(json_printed(c->arena, c->input)));

    sha256(text, sum);
    return hex_encode(c->arena, (str){ (const char *)sum, sizeof sum });
}

static err answer_too_large(const struct command *c, size_t most)
{
    return err_new(
        c->arena, ERR_TOO_LARGE,
        "the answer of %s would be larger than %zu bytes (answer_bytes): ask for less of "
        "it, by a pointer, a narrower query, versions that are closer, or without the "
        "document itself",
        c->op->name, most);
}

/* An answer that was kept: what it is wrapped in says how it looked. */
static err answer_repeat(struct tx *tx, struct command *c, str kept)
{
    struct answer *a = &c->answer;
    const struct json *json;
    TRY(stored_parse(tx, THING("the answer that is kept for key", c->key), kept, &json));
    const struct json *body = json_get(json, "answer");

    c->repeated = true;
    a->text = body ? json_printed(tx->arena, body) : STR("");
    a->created = json_bool_or(json, "created", false);
    a->empty = json_bool_or(json, "empty", false);
    a->version = json_int_or(json, "version", 0);
    if (json_get(json, "then")) {
        a->then = arena_copy(tx->arena, json_str(json, "then")).at;
        a->then_input = *json_get(json, "then_input");
    }
    return NULL;
}

static err answer_keep(struct tx *tx, const struct command *c, str digest)
{
    const struct answer *a = &c->answer;
    struct buf kept = buf_in(tx->arena);
    struct json_writer w = json_writer_to(&kept);

    json_write_begin(&w, '{');
    write_bool(&w, STR("created"), a->created);
    write_bool(&w, STR("empty"), a->empty);
    write_int(&w, STR("version"), a->version);
    if (a->text.len)
        write_printed(&w, STR("answer"), a->text);
    if (a->then) {
        write_text(&w, STR("then"), str_from(a->then));
        write_value(&w, STR("then_input"), &a->then_input);
    }
    json_write_end(&w, '}');
    return idempotency_keep(tx, c->key, digest, buf_str(&kept));
}

static bool is_keyed(const struct command *c)
{
    return c->key.len && c->op->effect == OP_WRITES && !c->op->secret;
}

/* Tools and command lines have no head to say it in. */
static void key_take(struct command *c)
{
    if (c->op->keyed && !c->key.len)
        c->key = json_str(c->input, "key");
}

/* ---- what needs no database ---- */

enum { PREPARED_BYTES = 256 << 10 }; /* of a command's memory, from which on it is worth the way */

bool op_wants_preparing(const struct command *c)
{
    return c->op->prepare || c->arena->bytes >= PREPARED_BYTES;
}

static err prepare(const struct op_table *table, struct command *c)
{
    TRY(rights_check(c));
    TRY(input_check(table, c));
    key_take(c);
    if (is_keyed(c))
        c->digest = request_digest(c);
    if (c->op->prepare) {
        struct input in = { .op = c->op, .json = c->input, .fields = op_fields(table, c->op) };
        TRY(c->op->prepare(c->arena, &in, &c->ready));
    }
    c->prepared = true;
    return NULL;
}

bool op_prepare(const struct op_table *table, struct command *c)
{
    err refused = prepare(table, c);

    command_reset(c);
    c->error = refused;
    return !refused;
}

/* ---- one command, performed ---- */

static err command_run(struct engine *e, struct tx *tx, struct command *c)
{
    struct answer *answer = &c->answer;
    struct buf out = buf_in(c->arena);
    struct input in = { c->op,        c->input,  op_fields(e->table, c->op),
                        c->wait_over, c->waited, c->ready };
    bool keyed;
    str digest = c->digest, kept = STR("");
    struct state selected;

    if (!c->prepared) {
        TRY(rights_check(c));
        TRY(input_check(e->table, c));
        in.json = c->input; /* with its fields by their own names */
        key_take(c);
    }
    keyed = is_keyed(c);
    if (c->selects.len)
        TRY(state_head(tx, c->selects, &selected));
    if (keyed) {
        if (!digest.len)
            digest = request_digest(c);
        TRY(idempotency_find(tx, c->key, digest, &kept));
        if (kept.len)
            return answer_repeat(tx, c, kept);
    }
    answer->json = json_writer_to(&out);
    out.most = e->answer_max ? e->answer_max : OP_ANSWER_MAX;
    TRY(c->op->run(tx, &in, answer));
    if (out.full)
        return answer_too_large(c, out.most);
    assert(!answer->waits || (c->op->wait && !c->wait_over && !tx->first));
    assert(!answer->then || op_find(e->table, str_from(answer->then))->effect == OP_READS);
    TRY(consequence_run(tx));
    TRY(tx->damage); /* whatever it wrote is of rows that could not be read */
    if (answer->minted.len)
        TRY(op_mint(tx, answer->minted, &c->minted));
    answer->json = (struct json_writer){ 0 };
    answer->text = buf_str(&out);
    if (answer->cached_id.len && !answer->cached.len)
        answer->cached = answer->text;
    c->events = tx->first;
    return keyed ? answer_keep(tx, c, digest) : NULL;
}

/* ---- batches ---- */

/* Time never goes back, not even across restarts: below it is the highest that was ever used. Where
 * several nodes share a database, its clock counts, not theirs. */
static int64_t time_now(struct engine *e, struct store_node *node)
{
    int64_t now = node->now ? node->now : e->now_ms(e->clock);

    if (now > node->clock)
        node->clock = now;
    return node->clock;
}

/* A batch under way. */
struct batch {
    struct store_node node;
    int64_t began;          /* the number that it found */
    struct tx_ahead *ahead; /* NULL: nothing was read */
    bool careful;           /* each command has a savepoint */
    bool undone;            /* it has ended because a change could not be taken back alone */
    str fault;              /* of its last command, see tx.h: what it wrote may be refused later */
};

/* Nothing of a refused command stays. */
static void command_undo(struct engine *e, struct batch *b)
{
    bool lives = !store_dead(e->sql);

    store_undo(e->sql);
    b->undone = lives && !b->careful && store_dead(e->sql);
}

/* A command as it was before it ran, should it have, and what it may see. */
static struct tx command_begin(struct engine *e, struct batch *b, struct command *c)
{
    command_reset(c);
    sql_arena(e->sql, c->arena);
    return (struct tx){
        .arena = c->arena,
        .sql = e->sql,
        .now_ms = time_now(e, &b->node),
        .seq = &b->node.seq,
        .actor = c->actor,
        .source = e->source,
        .compiled = e->compiled,
        .ahead = b->ahead,
        .retention = e->retention,
        .team = e->team,
        .precondition = c->precondition,
    };
}

/* One command. False when the transaction died. */
static bool command_perform(struct engine *e, struct batch *b, struct command *c)
{
    int64_t seq = b->node.seq;
    struct tx tx = command_begin(e, b, c);

    c->error = b->careful ? store_mark(e->sql) : store_mark_cheap(e->sql);
    if (c->error)
        return !store_dead(e->sql);
    c->error = command_run(e, &tx, c);
    b->fault = tx.fault;
    if (!c->error && !store_dead(e->sql))
        c->error = store_keep(e->sql);
    else
        command_undo(e, b);
    if (c->error) {
        err kept = tx.fault.len ? err_with(c->arena, c->error, tx.fault) : c->error;
        command_reset(c);
        c->error = kept;
        b->node.seq = seq;
        if (tx.first)
            b->ahead = NULL; /* it holds what was taken back */
    }
    return !store_dead(e->sql);
}

static void all_fail(struct command *const *commands, size_t count, err why)
{
    for (size_t i = 0; i < count; i++) {
        command_reset(commands[i]);
        commands[i]->error = err_copy(commands[i]->arena, why);
    }
}

/* The states that the commands name, and their keys: by few statements, and not by one for each. */
static err batch_read_ahead(struct engine *e, struct batch *b, struct command *const *commands,
                            size_t count)
{
    struct arena *a = commands[0]->arena;
    str *ids = ARENA_ARRAY(a, str, count);
    struct idempotency_use *uses = ARENA_ARRAY(a, struct idempotency_use, count);
    struct tx tx = { .arena = a, .sql = e->sql };
    size_t id_count = 0, use_count = 0;

    if (count == 1)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const struct command *c = commands[i];
        const struct json *id = json_get(c->input, "state_id");
        if (json_is(id, JSON_STRING) && state_is_id(json_text(id)))
            ids[id_count++] = json_text(id);
        if (is_keyed(c) && c->key.len <= IDEMPOTENCY_KEY_MAX)
            uses[use_count++] = (struct idempotency_use){ c->actor, c->key };
    }
    tx.ahead = b->ahead = ARENA_NEW(a, struct tx_ahead);
    *b->ahead = (struct tx_ahead){ map_in(a), map_in(a) };
    TRY(state_read_ahead(&tx, ids, id_count));
    return idempotency_read_ahead(&tx, uses, use_count);
}

static bool batch_begin(struct engine *e, struct batch *b, struct command *const *commands,
                        size_t count)
{
    err why = store_begin(e->sql, commands[0]->arena, &b->node);

    b->ahead = NULL;
    b->undone = false;
    b->began = b->node.seq;
    if (why)
        all_fail(commands, count, why);
    return !why;
}

static size_t join_take(const struct op_turn *turn, struct command **commands, size_t count)
{
    return turn->join ? turn->join(turn->self, commands + count, turn->most - count) : 0;
}

static bool is_enough(const struct op_turn *turn, size_t done)
{
    return turn->enough && turn->enough(turn->self, done) && done > 0;
}

/* One attempt at a batch: performs all commands, and those who come meanwhile, once, as the first ones
 * wait for an answer; or as many as are enough; and commits. True when it is settled: those that are
 * done are committed, or every command has its error. */
static bool batch_attempt(struct engine *e, struct batch *b, struct command **commands,
                          size_t *count, size_t *done, const struct op_turn *turn)
{
    bool lives = true;
    err why;

    *done = *count;
    if (!batch_begin(e, b, commands, *count))
        return true;
    *count += join_take(turn, commands, *count);
    *done = 0;
    for (int round = 0; lives && round < 2 && !is_enough(turn, *done) && *done < *count; round++) {
        lives = !batch_read_ahead(e, b, commands + *done, *count - *done);
        while (lives && !is_enough(turn, *done) && *done < *count) {
            lives = command_perform(e, b, commands[*done]);
            *done += lives;
        }
        if (lives && round == 0 && *done == *count)
            *count += join_take(turn, commands, *count);
    }
    if (!lives) {
        store_rollback(e->sql);
        bool alone = *count == 1 && commands[*done]->error;
        *done = *count;
        return alone;
    }
    sql_arena(e->sql, commands[0]->arena);
    enum store_outcome outcome = store_commit(e->sql, &b->node, &why);
#ifdef PLANT_ANSWER_BEFORE_COMMIT
    outcome = STORE_COMMITTED;
#endif
    e->stopped = outcome == STORE_UNKNOWN;
    if (outcome == STORE_COMMITTED && b->node.seq > b->began)
        e->trouble_at_ms = 0; /* it takes writes */
    if (outcome == STORE_ROLLED_BACK && *count == 1)
        all_fail(commands, 1, b->fault.len ? err_with(commands[0]->arena, why, b->fault) : why);
    return outcome != STORE_ROLLED_BACK || *count == 1;
}

/* What is left when a batch could not be performed as one. */
static size_t one_by_one(struct engine *e, struct batch *b, struct command **commands, size_t count,
                         const struct op_turn *turn)
{
    static const struct op_turn alone = { .most = 1 };
    size_t i = 0;

    for (; !is_enough(turn, i) && i < count && !e->stopped; i++) {
        size_t one = 1, done;
        batch_attempt(e, b, &commands[i], &one, &done, &alone);
    }
    return i;
}

size_t op_perform_turn(struct engine *e, struct command **commands, size_t *count,
                       const struct op_turn *turn)
{
    const struct op_turn no_more = { .most = turn->most,
                                     .enough = turn->enough,
                                     .self = turn->self };
    struct batch b = { .careful = e->careful };
    size_t done;

    assert(*count > 0 && !e->stopped);
    bool settled = batch_attempt(e, &b, commands, count, &done, turn);
    if (!settled) {
        e->again++;
        if (b.undone) {
            b.careful = true;
            settled = batch_attempt(e, &b, commands, count, &done, &no_more);
        }
    }
    if (!settled)
        done = one_by_one(e, &b, commands, *count, turn);
    all_public(e, commands, done);
    return done;
}

void op_perform(struct engine *e, struct command *const *commands, size_t count)
{
    const struct op_turn all = { .most = count };

    op_perform_turn(e, (struct command **)commands, &count, &all);
}

/* ---- reads ---- */

static void command_read(struct engine *e, struct batch *b, struct command *c)
{
    struct tx tx = command_begin(e, b, c);

    assert(c->op->effect == OP_READS);
    err refused = command_run(e, &tx, c);
    if (refused)
        command_reset(c);
    c->error = refused;
    c->seq = b->node.seq;
}

/* One whose statement failed may have ended the transaction: the others get a new one. */
static void read_all(struct engine *e, struct command *const *commands, size_t count)
{
    struct batch b = { .careful = false };
    size_t done = 0;

    if (!batch_begin(e, &b, commands, count))
        return;
    err failed = batch_read_ahead(e, &b, commands, count);
    while (!failed && done < count && !store_dead(e->sql))
        command_read(e, &b, commands[done++]);
    store_rollback(e->sql);
    if (failed)
        all_fail(commands, count, failed);
    else if (done < count)
        read_all(e, commands + done, count - done);
}

void op_read_all(struct engine *e, struct command *const *commands, size_t count)
{
    read_all(e, commands, count);
    all_public(e, commands, count);
}

void op_read(struct engine *e, struct command *c)
{
    op_read_all(e, &c, 1);
}

/* ---- the log ---- */

enum { FOLLOW_PAGE = 500 };

/* Numbers that were given, and are to be given again. */
static err taken_back(struct arena *a, int64_t after, int64_t seq)
{
    return err_new(
        a, ERR_GONE,
        "the log ends at event %lld, and %lld was published: the database was taken back, "
        "by a restore or by a failover to a standby that lacked what was committed",
        (long long)seq, (long long)after);
}

err op_follow(struct engine *e, struct arena *a, int64_t after, const struct event **first,
              int64_t *last)
{
    struct event_query query = { .after = after, .limit = FOLLOW_PAGE };
    struct event_page page = { .count = 0 };
    struct store_node node;

    *first = NULL;
    *last = after;
    TRY(store_begin(e->sql, a, &node));
    struct tx tx = { .arena = a, .sql = e->sql, .now_ms = node.clock, .seq = &node.seq };
    err failed = node.seq < after ? taken_back(a, after, node.seq) : event_list(&tx, &query, &page);
    store_rollback(e->sql);
    TRY(failed);
    for (size_t i = page.count; i > 0; i--) {
        struct event *event = ARENA_NEW(a, struct event);
        *event = page.events[i - 1];
        event->next = (struct event *)*first;
        *first = event;
    }
    if (page.count)
        *last = page.events[page.count - 1].seq;
    return NULL;
}
