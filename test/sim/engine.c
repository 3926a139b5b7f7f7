/* engine.c: the operations without a server, for tests. */
#include "sim/engine.h"

#include "core/schema.h"
#include "core/tables.h"
#include "core/token.h"
#include "json/schema.h"
#include "json_help.h"
#include "ops/ops.h"

enum { STEPS_MAX = 32 };

static str count_id(void *self, struct arena *a, const char *prefix)
{
    struct world *w = self;
    return arena_printf(a, "%s%d", prefix, ++w->ids);
}

static void same_bytes(void *self, unsigned char *bytes, size_t count)
{
    (void)self;
    memset(bytes, 7, count);
}

static int64_t clock_now(void *self)
{
    struct world *w = self;
    return w->now_ms;
}

static err store_of(struct world *w, const char *path, const char *vfs, struct sql **sql)
{
    struct store_migration *steps = ARENA_ARRAY(w->arena, struct store_migration, STEPS_MAX);
    struct store_options options = { .migrations = steps,
                                     .migration_count = tables_step_count,
                                     .vfs = vfs };

    CHECK(tables_step_count <= STEPS_MAX);
    for (int i = 0; i < tables_step_count; i++)
        steps[i] = (struct store_migration){ tables_steps[i].version, tables_steps[i].statements };
    TRY(store_open(w->arena, str_from(path), &options, &w->store));
    err e = store_connect(w->arena, w->store, STORE_WRITES, sql);
    if (e)
        store_close(w->store);
    return e;
}

/* Compiling all schemas takes longer than all else that a world needs, and the table never
 * changes. */
static struct op_table *table_shared(void)
{
    static struct op_table *table;

    if (!table)
        CHECK_OK(op_table_all(check_arena(), &table));
    return table;
}

static struct engine engine_of(struct world *w, struct sql *sql)
{
    return (struct engine){ .table = w->table,
                            .sql = sql,
                            .schemas = schema_cache_new(8),
                            .source = &w->source,
                            .retention = &w->retention,
                            .now_ms = clock_now,
                            .clock = w };
}

err world_open_in(struct arena *a, const char *path, const char *vfs, struct world **out)
{
    struct world *w = ARENA_NEW(a, struct world);
    struct sql *sql;

    w->arena = a;
    TRY(store_of(w, path, vfs, &sql));
    w->table = table_shared();
    w->source = (struct tx_source){ count_id, same_bytes, w };
    w->now_ms = 1736937300000;
    w->actor = (struct actor){ .kind = ACTOR_OPERATOR, .name = STR("operator") };
    w->retention = retention_default;
    w->engine = engine_of(w, fault_around(sql, &w->fault));
    *out = w;
    return NULL;
}

err world_open(const char *path, const char *vfs, struct world **out)
{
    return world_open_in(check_arena(), path, vfs, out);
}

err world_reader(struct world *w, struct engine **out)
{
    struct sql *sql;

    *out = &w->reader;
    if (w->reader.sql)
        return NULL;
    TRY(store_connect(w->arena, w->store, STORE_READS, &sql));
    w->reader = engine_of(w, fault_around(sql, &w->read_fault));
    return NULL;
}

static void engine_close(struct engine *e)
{
    if (!e->sql)
        return;
    store_disconnect(e->sql);
    schema_cache_free(e->schemas);
}

void world_close(struct world *w)
{
    engine_close(&w->reader);
    engine_close(&w->engine);
    store_close(w->store);
}

struct command *world_command(struct world *w, const char *op, const char *input, const char *key)
{
    struct command *c = ARENA_NEW(check_arena(), struct command);
    struct json *json = arena_alloc(check_arena(), sizeof *json);

    struct actor *actor = arena_alloc(check_arena(), sizeof *actor);
    *actor = w->actor;
    *json = json_of(check_arena(), input);
    *c = (struct command){ .arena = check_arena(),
                           .op = op_find(w->table, str_from(op)),
                           .input = json,
                           .actor = actor,
                           .key = str_from(key) };
    CHECK(c->op);
    return c;
}

void world_check_answer(const struct world *w, const struct command *c)
{
    const struct json *answer;

    if (w->engine.stopped || c->error || c->empty || c->waits)
        return;
    CHECK_OK(json_parse(c->arena, c->answer, NULL, &answer));
    CHECK_OK(schema_require(c->arena, op_output_schema(w->table, c->op), answer));
}

struct command *world_call(struct world *w, const char *op, const char *input, const char *key)
{
    struct command *c = world_command(w, op, input, key);

    op_perform(&w->engine, &c, 1);
    world_check_answer(w, c);
    return c;
}
