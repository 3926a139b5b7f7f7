/* world.c: the operations without a server, for tests. */
#include "sim/world.h"

#include "core/audit.h"
#include "core/tables.h"
#include "core/token.h"
#include "json/schema/schema.h"
#include "json_help.h"
#include "ops/ops.h"
#include "sim/both.h"
#include "sim/run_command.h"
#include "store/driver.h"

enum { STEPS_MAX = 32, OPS_MAX = 256 };

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
                                     .vfs = vfs,
                                     .idle_ms = 60 * 1000 /* a busy machine stops tests, too */ };

    CHECK(tables_step_count <= STEPS_MAX);
    for (int i = 0; i < tables_step_count; i++)
        steps[i] = (struct store_migration){ tables_steps[i].version, tables_steps[i].statements };
    TRY(store_open(w->arena, str_from(path), &options, &w->store));
    err e = store_connect(w->arena, w->store, STORE_WRITES, sql);
    if (e)
        store_close(w->store);
    return e;
}

static const struct driver *faulty_driver;

static err begin_timeless(struct sql *s, struct store_node *node)
{
    err e = faulty_driver->begin(s, node);

    if (node)
        node->now = 0;
    return e;
}

/* A connection that fails on purpose, and that does not say what time it is where the database is:
 * a world's time is a number. */
static struct sql *connection_around(struct sql *inner, struct fault *fault)
{
    static struct driver timeless;
    struct sql *s = fault_around(inner, fault);

    faulty_driver = s->driver;
    timeless = *s->driver;
    timeless.begin = begin_timeless;
    s->driver = &timeless;
    return s;
}

/* All operations, and what only tests have. Compiling all schemas takes longer than all else that a
 * world needs, and the table never changes. */
static struct op_table *table_shared(void)
{
    static struct op_table *table;
    static struct op all[OPS_MAX];
    size_t count = 0;

    if (table)
        return table;
    for (const struct op *op; (op = op_nth(count)); count++) {
        CHECK(count + 1 < OPS_MAX);
        all[count] = *op;
    }
    all[count++] = run_command_op;
    CHECK_OK(op_table_new(check_arena(), &(struct op_list){ all, count }, 1, &table));
    return table;
}

static struct engine engine_of(struct world *w, struct sql *sql)
{
    return (struct engine){ .table = w->table,
                            .sql = sql,
                            .compiled = cache_new(2 * CACHE_LEAST),
                            .source = &w->source,
                            .retention = &w->retention,
                            .team = &w->team,
                            .now_ms = clock_now,
                            .clock = w,
                            /* A fault costs a command its answer on both, or none of them. */
                            .careful = both_listens() };
}

err world_open_in(struct arena *a, const char *path, const char *vfs, struct world **out)
{
    struct world *w = ARENA_NEW(a, struct world);
    struct sql *sql;

    w->arena = a;
    TRY(store_of(w, both_store(path), vfs, &sql));
    w->table = table_shared();
    w->source = (struct tx_source){ count_id, same_bytes, w };
    w->now_ms = 1736937300000;
    w->actor = (struct actor){ .kind = ACTOR_OPERATOR, .name = STR("operator") };
    w->retention = retention_default;
    w->team = team_rules_default;
    w->engine = engine_of(w, connection_around(sql, &w->fault));
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
    w->reader = engine_of(w, connection_around(sql, &w->read_fault));
    return NULL;
}

static void engine_close(struct engine *e)
{
    if (!e->sql)
        return;
    store_disconnect(e->sql);
    cache_free(e->compiled);
    e->sql = NULL;
}

void world_reader_end(struct world *w)
{
    engine_close(&w->reader);
}

/* ---- what is compared ---- */

str world_told(struct arena *a, const struct command *c)
{
    struct buf out = buf_in(a);

    buf_printf(&out, "%s " STR_FMT " by " STR_FMT " key " STR_FMT ": ", c->op->name,
               STR_ARG(json_printed(a, c->input)), STR_ARG(c->actor->name), STR_ARG(c->key));
    if (c->error)
        buf_printf(&out, "%s " STR_FMT " " STR_FMT, error_kind_info(c->error->kind)->name,
                   STR_ARG(c->error->message), STR_ARG(c->error->members));
    else
        buf_printf(&out, STR_FMT "%s%s%s version %lld next " STR_FMT, STR_ARG(c->answer.text),
                   c->answer.created ? " created" : "", c->answer.empty ? " empty" : "",
                   c->repeated ? " repeated" : "", (long long)c->answer.version,
                   STR_ARG(c->answer.next));
    if (c->answer.cached_id.len)
        buf_printf(&out, " shows " STR_FMT " " STR_FMT, STR_ARG(c->answer.cached_id),
                   STR_ARG(c->answer.cached));
    if (c->answer.waits)
        buf_printf(&out, " waits for " STR_FMT " after %lld until %lld",
                   STR_ARG(c->answer.wait_subject), (long long)c->answer.wait_seq,
                   (long long)c->answer.wait_until_ms);
    for (const struct event *e = c->events; e; e = event_after(e))
        buf_printf(&out, " event %lld", (long long)event_seq(e));
    return buf_str(&out);
}

static void command_keep(struct world *w, struct command *c)
{
    if (w->command_count == w->command_room) {
        size_t room = w->command_room ? 2 * w->command_room : 64;
        w->commands = arena_grow(w->arena, w->commands, w->command_room * sizeof *w->commands,
                                 room * sizeof *w->commands);
        w->command_room = room;
    }
    w->commands[w->command_count++] = c;
}

/* Tells those who compare all that became of this world. */
static void world_tell(struct world *w)
{
    w->fault.kind = FAULT_NONE;
    for (size_t i = 0; i < w->command_count; i++)
        both_note(
            arena_printf(w->arena, STR_FMT "\n", STR_ARG(world_told(w->arena, w->commands[i]))));
    both_note_rows(w->engine.sql);
}

void world_close(struct world *w)
{
    if (both_listens())
        world_tell(w);
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
    if (both_listens())
        command_keep(w, c);
    return c;
}

void world_check_answer(const struct world *w, const struct command *c)
{
    const struct json *answer;

    if (w->engine.stopped || c->error || c->answer.empty || c->answer.waits || c->repeated)
        return; /* one that was kept for its key is as it was, also where answers have more by now */
    CHECK_OK(json_parse_own(c->arena, c->answer.text, &answer));
    CHECK_OK(schema_require(c->arena, op_output_schema(w->table, c->op), answer));
}

struct command *world_call(struct world *w, const char *op, const char *input, const char *key)
{
    struct command *c = world_command(w, op, input, key);

    op_perform(&w->engine, &c, 1);
    world_check_answer(w, c);
    return c;
}

void world_pass(struct world *w, int64_t ms)
{
    struct actor before = w->actor;

    w->now_ms += ms;
    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    for (bool more = true; more;) {
        struct command *c = world_call(w, "system.tick", "{}", "");
        CHECK_OK(c->error);
        more = str_ends(c->answer.text, STR("\"more\":true}"));
    }
    w->actor = before;
}

/* ---- what holds in every database ---- */

static void broken_rule(void *self, const struct audit_finding *f)
{
    (void)self;
    check_fail(__FILE__, __LINE__, "%s: " STR_FMT ": " STR_FMT, f->rule, STR_ARG(f->place),
               STR_ARG(f->problem));
}

void sql_audit(struct sql *sql, struct arena *a)
{
    CHECK_OK(audit_rows(&(struct tx){ .arena = a, .sql = sql }, broken_rule, NULL));
}

void world_audit(struct world *w)
{
    struct store_node node;

    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    sql_audit(w->engine.sql, check_arena());
    store_rollback(w->engine.sql);
}
