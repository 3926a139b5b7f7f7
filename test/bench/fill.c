/* fill.c: data directories with as many states and runs as a measurement wants. */
#include "bench/fill.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "app/clock.h"
#include "bench/documents.h"
#include "bench/set.h"
#include "core/schema.h"
#include "core/tables.h"
#include "core/team.h"
#include "ops/perform.h"
#include "random.h"

enum { BATCH = 5000, STEPS_MAX = 64, CHECKPOINT_BATCHES = 16 };

struct filler {
    struct arena *arena; /* of what lives as long as the filler */
    struct arena *batch;
    struct store *store;
    struct sql *checkpoints;
    struct op_table *table;
    struct engine engine;
    struct clock clock;
    int64_t frozen_ms;
    struct chance chance;
    struct tx_source source, others;
    struct team_rules team;
    uint64_t number; /* of the next state */
    struct command *commands[BATCH];
    size_t count;
    unsigned batches;
};

static const struct actor operator= { .kind = ACTOR_OPERATOR, .name = { "operator", 8 } };

/* Ids are spread over the whole index as random ones are, but can be told from their number. */
void fill_id(char id[FILL_ID_BYTES], uint64_t number)
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
    uint64_t z = random_draw(&(uint64_t){ number * 0x9e3779b97f4a7c15u });

    memcpy(id, "wfstate_", 8);
    for (int i = 8; i < 20; i++, z >>= 5)
        id[i] = alphabet[z & 31];
    id[20] = '\0';
}

static str id_of_number(void *self, struct arena *a, const char *prefix)
{
    struct filler *f = self;
    char id[FILL_ID_BYTES];

    if (strcmp(prefix, "wfstate_") != 0)
        return f->others.id(f->others.self, a, prefix);
    fill_id(id, f->number++);
    return arena_copy(a, str_from(id));
}

static void random_take(void *self, unsigned char *bytes, size_t count)
{
    struct filler *f = self;
    f->others.random(f->others.self, bytes, count);
}

/* ---- batches ---- */

static void batch_perform(struct filler *f)
{
    if (f->count == 0)
        return;
    op_perform(&f->engine, f->commands, f->count);
    for (size_t i = 0; i < f->count; i++) {
        must(f->commands[i]->error);
        arena_free(f->commands[i]->arena);
    }
    f->count = 0;
    if (++f->batches % CHECKPOINT_BATCHES == 0)
        must(store_checkpoint(f->checkpoints, f->batch));
    arena_reset(f->batch);
}

/* The input is a whole JSON text, which lives in the command's arena. */
static void command_add(struct filler *f, struct arena *a, const char *op, str input)
{
    struct command *c = ARENA_NEW(a, struct command);

    *c = (struct command){ .arena = a,
                           .op = op_find(f->table, str_from(op)),
                           .input = parsed(a, input),
                           .actor = &operator};
    f->commands[f->count++] = c;
    if (f->count == BATCH)
        batch_perform(f);
}

void fill_states(struct filler *f, uint64_t first, uint64_t count, size_t tasks, size_t task_bytes)
{
    f->number = first;
    for (uint64_t i = first; i < first + count; i++) {
        struct arena *a = arena_new();
        str document = document_state(a, i, tasks, task_bytes);
        command_add(f, a, "state.create",
                    arena_printf(a, "{\"schema_name\":\"bench\",\"initial_data\":" STR_FMT "}",
                                 STR_ARG(document)));
    }
    batch_perform(f);
}

void fill_versions(struct filler *f, uint64_t number, uint64_t count)
{
    char id[FILL_ID_BYTES];

    fill_id(id, number);
    for (uint64_t i = 0; i < count; i++) {
        struct arena *a = arena_new();
        command_add(f, a, "state.patch",
                    arena_printf(a,
                                 "{\"state_id\":\"%s\",\"operations\":[{\"op\":\"replace\","
                                 "\"path\":\"/tasks/%d/status\",\"value\":\"%s\"},{\"op\":\"add\","
                                 "\"path\":\"/summary\",\"value\":\"turn %llu\"}]}",
                                 id, (int)(i % 4), i / 4 % 2 ? "done" : "running",
                                 (unsigned long long)i));
    }
    batch_perform(f);
}

/* ---- runs ---- */

void fill_tag(char tag[8], int number)
{
    snprintf(tag, 8, "tag%d", number);
}

/* The set of a number: a tag for each of its bits, and one that all of them have. */
static void tags_add(struct buf *out, uint64_t set)
{
    buf_add(out, STR("[\"all\""));
    for (int i = 0; i < FILL_TAGS; i++) {
        char tag[8];
        fill_tag(tag, i);
        if (set >> i & 1)
            buf_printf(out, ",\"%s\"", tag);
    }
    buf_byte(out, ']');
}

void fill_runs(struct filler *f, uint64_t count, uint64_t tag_sets, uint64_t directories)
{
    for (uint64_t i = 0; i < count; i++) {
        struct arena *a = arena_new();
        struct buf input = buf_in(a);
        buf_printf(&input,
                   "{\"type\":\"start_session\",\"session_name\":\"s%llu\",\"prompt\":\"go\","
                   "\"demands\":{\"tags\":",
                   (unsigned long long)i);
        tags_add(&input, tag_sets ? i % tag_sets : 0);
        buf_add(&input, STR("}"));
        if (directories)
            buf_printf(&input, ",\"project_dir\":\"/projects/%llu\"",
                       (unsigned long long)(i % directories));
        buf_byte(&input, '}');
        command_add(f, a, "run.create", buf_str(&input));
    }
    batch_perform(f);
    must(store_checkpoint(f->checkpoints, f->batch)); /* as a server's would be that is not busy */
}

static double clock_us(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

const struct json *fill_call(struct filler *f, struct arena *a, str runner_token, const char *op,
                             str input, double *us, double *cpu_us)
{
    const struct actor runner = { .kind = ACTOR_RUNNER,
                                  .name = STR("runner"),
                                  .token_id = runner_token };
    struct command c = { .arena = a,
                         .op = op_find(f->table, str_from(op)),
                         .input = parsed(a, input),
                         .actor = runner_token.len ? &runner : &operator};
    struct command *batch = &c;
    double began = clock_us(CLOCK_MONOTONIC), cpu_began = clock_us(CLOCK_THREAD_CPUTIME_ID);

    op_perform(&f->engine, &batch, 1);
    if (cpu_us)
        *cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID) - cpu_began;
    if (us)
        *us = clock_us(CLOCK_MONOTONIC) - began;
    must(c.error);
    return c.answer.waits || c.answer.empty ? NULL : parsed(a, c.answer.text);
}

void fill_batch(struct filler *f, struct arena *a, const char *op, const str *inputs, size_t count,
                const struct json **answers, double *us, double *cpu_us)
{
    struct command *commands = ARENA_ARRAY(a, struct command, count);
    struct command **batch = ARENA_ARRAY(a, struct command *, count);

    for (size_t i = 0; i < count; i++) {
        batch[i] = &commands[i];
        commands[i] = (struct command){ .arena = a,
                                        .op = op_find(f->table, str_from(op)),
                                        .input = parsed(a, inputs[i]),
                                        .actor = &operator};
    }
    double began = clock_us(CLOCK_MONOTONIC), cpu_began = clock_us(CLOCK_THREAD_CPUTIME_ID);
    op_perform(&f->engine, batch, count);
    *cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID) - cpu_began;
    *us = clock_us(CLOCK_MONOTONIC) - began;
    for (size_t i = 0; i < count; i++) {
        must(commands[i].error);
        answers[i] = parsed(a, commands[i].answer.text);
    }
}

static int64_t frozen_now_ms(void *self)
{
    return *(int64_t *)self;
}

void fill_freeze(struct filler *f, int64_t now_ms)
{
    f->frozen_ms = now_ms;
    f->engine.now_ms = frozen_now_ms;
    f->engine.clock = &f->frozen_ms;
}

/* ---- from the start to the end ---- */

static void schema_add(struct filler *f)
{
    struct arena *a = arena_new();
    FILE *file = fopen("test/bench/schema.json", "rb");
    struct buf text = buf_in(a);

    if (!file)
        fail("cannot read", STR("test/bench/schema.json"));
    buf_add(&text, STR("{\"name\":\"bench\",\"json_schema\":"));
    for (int c; (c = getc(file)) != EOF;)
        buf_byte(&text, (char)c);
    buf_byte(&text, '}');
    fclose(file);
    command_add(f, a, "schema.create", buf_str(&text));
    batch_perform(f);
}

static void store_make(struct filler *f, const char *name)
{
    static struct store_migration steps[STEPS_MAX];
    struct store_options options = { .migrations = steps, .migration_count = tables_step_count };

    for (int i = 0; i < tables_step_count; i++)
        steps[i] = (struct store_migration){ tables_steps[i].version, tables_steps[i].statements };
    must(store_open(f->arena, str_from(name), &options, &f->store));
    must(store_connect(f->arena, f->store, STORE_WRITES, &f->engine.sql));
    must(store_connect(f->arena, f->store, STORE_READS, &f->checkpoints));
}

struct filler *fill_open(const char *folder)
{
    char name[4096];

    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        fail("cannot make", str_from(folder));
    snprintf(name, sizeof name, "%s/baton.db", folder);
    return fill_open_store(name);
}

struct filler *fill_open_store(const char *name)
{
    struct arena *a = arena_new();
    struct filler *f = ARENA_NEW(a, struct filler);

    f->arena = a;
    f->batch = arena_new();
    store_make(f, name);
    must(op_table_all(a, &f->table));
    clock_start(&f->clock, 0);
    f->others = chance_source(&f->chance);
    f->source = (struct tx_source){ id_of_number, random_take, f };
    f->engine.table = f->table;
    f->engine.compiled = cache_new(2 * CACHE_LEAST);
    f->engine.source = &f->source;
    f->team = team_rules_default;
    f->team.match_ms = 24 * 3600 * 1000; /* runs are to stay in the queue */
    f->team.tree_max = f->team.profile_max = 0;
    f->engine.team = &f->team;
    f->engine.now_ms = clock_now_ms;
    f->engine.clock = &f->clock;
    schema_add(f);
    return f;
}

void fill_close(struct filler *f)
{
    must(store_checkpoint(f->checkpoints, f->batch));
    store_disconnect(f->checkpoints);
    store_disconnect(f->engine.sql);
    store_close(f->store);
    cache_free(f->engine.compiled);
    op_table_free(f->table);
    arena_free(f->batch);
    arena_free(f->arena);
}
