/* fuzz: src/ops/op.c src/ops/perform.c src/ops/states.c src/ops/states_read.c src/ops/states_write.c src/ops/schemas.c src/ops/tokens.c src/ops/events.c src/ops/system.c src/core/state.c src/core/state_write.c src/core/state_history.c src/core/event.c */
/* ops.c: lines, each an operation: who calls (a letter), which one (its name), and the input.
 *
 *   o state.patch {"state_id":"wfstate_2","merge":{"n":1}}
 *
 * Whatever the input, the process lives; a refused command and a read change no row; an answer fits
 * the operation's output; and the same request again under its key is answered the same. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/schema.h"
#include "core/tables.h"
#include "json/schema.h"
#include "ops/ops.h"
#include "ops/perform.h"
#include "sim/vfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES_MAX = 8, ARGUMENT_DEPTH_MAX = JSON_DEPTH_MAX + 4 };

/* ---- the world ---- */

struct place {
    struct arena *arena;
    struct vfs_world *disk;
    struct store *store;
    struct engine engine;
    struct tx_source source;
    int ids;
};

static struct op_table *table;

static str count_id(void *self, struct arena *a, const char *prefix)
{
    struct place *p = self;
    return arena_printf(a, "%s%d", prefix, ++p->ids);
}

static void same_bytes(void *self, unsigned char *bytes, size_t count)
{
    (void)self;
    memset(bytes, 7, count);
}

static int64_t clock_now(void *self)
{
    (void)self;
    return 1736937300000;
}

static void place_open(struct place *p, struct vfs_world *disk)
{
    struct store_migration steps[32];
    struct store_options options = { .migrations = steps,
                                     .migration_count = tables_step_count,
                                     .vfs = vfs_name(disk) };
    struct sql *sql = NULL;

    assert(tables_step_count <= 32);
    for (int i = 0; i < tables_step_count; i++)
        steps[i] = (struct store_migration){ tables_steps[i].version, tables_steps[i].statements };
    *p = (struct place){ .arena = arena_new(), .disk = disk, .ids = 100 };
    err e = store_open(p->arena, STR("ops.db"), &options, &p->store);
    if (!e)
        e = store_connect(p->arena, p->store, STORE_WRITES, &sql);
    assert(!e);
    p->source = (struct tx_source){ count_id, same_bytes, p };
    p->engine = (struct engine){ .table = table,
                                 .sql = sql,
                                 .schemas = schema_cache_new(8),
                                 .source = &p->source,
                                 .now_ms = clock_now };
}

static void place_close(struct place *p)
{
    store_disconnect(p->engine.sql);
    schema_cache_free(p->engine.schemas);
    store_close(p->store);
    vfs_world_free(p->disk);
    arena_free(p->arena);
}

/* ---- commands ---- */

static const struct actor *actor_of(char letter)
{
    static const str sections[] = { { "/n", 2 }, { "/list", 5 } };
    static const struct actor actors[] = {
        { .kind = ACTOR_OPERATOR, .name = { "operator", 8 } },
        { .kind = ACTOR_VIEWER, .name = { "viewer", 6 } },
        { .kind = ACTOR_RUNNER, .name = { "runner", 6 } },
        { .kind = ACTOR_SYSTEM, .name = { "system", 6 } },
        { .kind = ACTOR_SESSION, .name = { "child", 5 }, .session_id = { "ses_1", 5 } },
        { .kind = ACTOR_SESSION,
          .name = { "child", 5 },
          .session_id = { "ses_1", 5 },
          .state_id = { "wfstate_2", 9 },
          .pointers = sections,
          .pointer_count = 2 },
    };
    static const char letters[] = "ovrxns";
    const char *at = memchr(letters, letter, sizeof letters - 1);

    return &actors[at ? at - letters : 0];
}

static void command_run(struct place *p, struct command *c)
{
    struct command *batch[] = { c };
    const struct json *answer;

    op_perform(&p->engine, batch, 1);
    assert(!p->engine.stopped);
    if (c->error) {
        assert(c->error->kind != ERR_INTERNAL && c->error->message.len > 0);
        assert(c->error->kind != ERR_UNAVAILABLE && c->error->kind != ERR_FULL);
    } else if (!c->empty && !c->waits) {
        assert(!json_parse(p->arena, c->answer,
                           &(struct json_limits){ .depth_max = 2 * ARGUMENT_DEPTH_MAX,
                                                  .bytes_max = JSON_BYTES_CEILING },
                           &answer));
        assert(!schema_require(p->arena, op_output_schema(table, c->op), answer));
    }
}

/* What there is, as a few numbers that no change leaves as they are. */
static str sum_of(struct place *p)
{
    static const char text[] =
        "SELECT (SELECT seq FROM node) || ' ' || (SELECT count(*) FROM log) || ' ' ||"
        " (SELECT count(*) FROM state) || ' ' || (SELECT coalesce(sum(version), 0) FROM state) ||"
        " ' ' || (SELECT count(*) FROM schema) || ' ' || (SELECT count(*) FROM token) || ' ' ||"
        " (SELECT count(*) FROM token WHERE revoked_at > 0) || ' ' ||"
        " (SELECT count(*) FROM idempotency) || ' ' || (SELECT coalesce(sum(at), 0) FROM due)";
    struct store_node node;
    const struct row *row;

    err e = store_begin(p->engine.sql, p->arena, &node);
    assert(!e);
    e = sql_one_(p->engine.sql, &row, text, NO_ARGS);
    assert(!e && row);
    store_rollback(p->engine.sql);
    return row_str(row, 0);
}

static void command_check(struct place *p, const struct command *made)
{
    struct command first = *made, again = *made;
    str before = sum_of(p);

    command_run(p, &first);
    str after = sum_of(p);
    bool writes = made->op->effect == OP_WRITES;
    if (first.error || !writes)
        assert(str_eq(before, after) && !first.events);
    if (first.error || !writes || made->op->secret)
        return;
    command_run(p, &again);
    assert(!again.error && again.repeated && !again.events);
    assert(str_eq(again.answer, first.answer) && again.version == first.version);
    assert(str_eq(after, sum_of(p)));
}

/* A line that names an operation and holds JSON. */
static bool command_read(struct arena *a, str line, int number, struct command *out)
{
    str who, name, text;

    if (!str_cut(line, ' ', &who, &line) || who.len != 1 || !str_cut(line, ' ', &name, &text))
        return false;
    *out = (struct command){ .arena = a,
                             .op = op_find(table, name),
                             .actor = actor_of(who.at[0]),
                             .key = arena_printf(a, "key%d", number) };
    return out->op && !json_parse(a, text, &(struct json_limits){ .depth_max = ARGUMENT_DEPTH_MAX },
                                  &out->input);
}

static int lines_read(struct arena *a, str text, struct command out[LINES_MAX])
{
    int count = 0;

    for (bool more = true; more && count < LINES_MAX;) {
        str line;
        more = str_cut(text, '\n', &line, &text);
        count += command_read(a, line, count, &out[count]);
    }
    return count;
}

/* ---- a disk to begin with, the same every time ---- */

static const char beginning[] =
    "o schema.create {\"name\":\"s\",\"json_schema\":{\"type\":\"object\",\"properties\":{"
    "\"n\":{\"type\":\"integer\"}}}}\n"
    "o state.create {\"schema_name\":\"s\",\"initial_data\":{\"n\":1,\"list\":[1,{\"a\":2}]}}\n"
    "o state.patch {\"state_id\":\"wfstate_2\",\"merge\":{\"n\":2}}\n"
    "o schema.create {\"name\":\"s\",\"json_schema\":{\"type\":\"object\"}}\n"
    "o token.create {\"kind\":\"viewer\"}";

static struct vfs_world *disk_ready(void)
{
    static struct vfs_world *ready;
    struct command commands[LINES_MAX];
    struct place p;

    if (ready)
        return ready;
    struct vfs_world *disk = vfs_world_new(1, 4096);
    place_open(&p, disk);
    p.ids = 0;
    int count = lines_read(p.arena, str_from(beginning), commands);
    for (int i = 0; i < count; i++) {
        commands[i].key = arena_printf(p.arena, "beginning%d", i); /* others come under key0 … */
        command_check(&p, &commands[i]);
    }
    assert(count == 5 && p.ids == 4);
    vfs_sync_directory(disk);
    ready = vfs_world_copy(disk);
    place_close(&p);
    return ready;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    struct command commands[LINES_MAX];
    str text = size ? (str){ (const char *)data, size } : STR("");
    err e = table ? NULL : op_table_all(a, &table);

    assert(!e);
    int count = lines_read(a, text, commands);
    if (count > 0) {
        struct place p;
        place_open(&p, vfs_world_copy(disk_ready()));
        for (int i = 0; i < count; i++)
            command_check(&p, &commands[i]);
        place_close(&p);
    }
    arena_free(a);
    return 0;
}
