/* fill.c: data directories with as many states as a measurement wants. */
#include "bench/fill.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "app/clock.h"
#include "bench/documents.h"
#include "bench/set.h"
#include "core/schema.h"
#include "core/tables.h"
#include "ops/perform.h"

enum { BATCH = 5000, STEPS_MAX = 64, CHECKPOINT_BATCHES = 16 };

struct filler {
    struct arena *arena; /* of what lives as long as the filler */
    struct arena *batch;
    struct store *store;
    struct sql *checkpoints;
    struct op_table *table;
    struct engine engine;
    struct clock clock;
    struct chance chance;
    struct tx_source source, others;
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
    uint64_t z = (number + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
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
    f->engine.schemas = schema_cache_new(8);
    f->engine.source = &f->source;
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
    schema_cache_free(f->engine.schemas);
    op_table_free(f->table);
    arena_free(f->batch);
    arena_free(f->arena);
}
