/* operations.h: operations one after the other on a store of their own, for fuzz targets of operations.
 *
 * An input is lines, each an operation: who calls (a letter), which one (its name), and its input;
 * or "t" and for how many milliseconds nothing happens but what is due.
 *
 *   o state.patch {"state_id":"wfstate_2","merge":{"n":1}}
 *   t 60000
 *
 * Whatever the input, the process lives; a refused command and a read change no row; an answer fits
 * the operation's output; the same request again under its key is answered the same; and all rules
 * of the audit hold in the end. */
#ifndef TEST_FUZZ_OPERATIONS_H
#define TEST_FUZZ_OPERATIONS_H

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/audit.h"
#include "core/schema.h"
#include "core/tables.h"
#include "json/schema/schema.h"
#include "ops/ops.h"
#include "ops/perform.h"
#include "sim/vfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    LINES_MAX = 12,
    ARGUMENT_DEPTH_MAX = JSON_DEPTH_MAX + 4,
    PASS_MAX_MS = 3 * 24 * 3600 * 1000
};

/* ---- the fixture ---- */

struct fixture {
    struct arena *arena;
    struct vfs *disk;
    struct store *store;
    struct engine engine;
    struct tx_source source;
    int ids;
    int64_t now_ms;
};

static struct op_table *table;

static str count_id(void *self, struct arena *a, const char *prefix)
{
    struct fixture *p = self;
    return arena_printf(a, "%s%d", prefix, ++p->ids);
}

static void same_bytes(void *self, unsigned char *bytes, size_t count)
{
    (void)self;
    memset(bytes, 7, count);
}

static int64_t clock_now(void *self)
{
    return ((struct fixture *)self)->now_ms;
}

static void fixture_open(struct fixture *p, struct vfs *disk)
{
    struct store_migration steps[32];
    struct store_options options = { .migrations = steps,
                                     .migration_count = tables_step_count,
                                     .vfs = vfs_name(disk) };
    struct sql *sql = NULL;

    assert(tables_step_count <= 32);
    for (int i = 0; i < tables_step_count; i++)
        steps[i] = (struct store_migration){ tables_steps[i].version, tables_steps[i].statements };
    *p =
        (struct fixture){ .arena = arena_new(), .disk = disk, .ids = 100, .now_ms = 1736937300000 };
    err e = store_open(p->arena, STR("operations.db"), &options, &p->store);
    if (!e)
        e = store_connect(p->arena, p->store, STORE_WRITES, &sql);
    assert(!e);
    p->source = (struct tx_source){ count_id, same_bytes, p };
    p->engine = (struct engine){ .table = table,
                                 .sql = sql,
                                 .compiled = cache_new(CACHE_LEAST),
                                 .source = &p->source,
                                 .now_ms = clock_now,
                                 .clock = p };
}

static void fixture_close(struct fixture *p)
{
    store_disconnect(p->engine.sql);
    cache_free(p->engine.compiled);
    store_close(p->store);
    vfs_free(p->disk);
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
        { .kind = ACTOR_SESSION,
          .name = { "below", 5 },
          .session_id = { "ses_2", 5 },
          .is_child = true },
    };
    static const char letters[] = "ovrxnsc";
    const char *at = memchr(letters, letter, sizeof letters - 1);

    return &actors[at ? at - letters : 0];
}

static void command_run(struct fixture *p, struct command *c)
{
    struct command *batch[] = { c };
    const struct json *answer;

    op_perform(&p->engine, batch, 1);
    assert(!p->engine.stopped);
    if (c->error) {
        assert(c->error->kind != ERR_INTERNAL && c->error->message.len > 0);
        assert(c->error->kind != ERR_UNAVAILABLE && c->error->kind != ERR_FULL);
    } else if (!c->answer.empty && !c->answer.waits) {
        assert(!json_parse(p->arena, c->answer.text,
                           &(struct json_limits){ .depth_max = 2 * ARGUMENT_DEPTH_MAX,
                                                  .bytes_max = JSON_BYTES_CEILING },
                           &answer));
        assert(!schema_require(p->arena, op_output_schema(table, c->op), answer));
    }
}

/* What there is, as a few numbers that no change leaves as they are. */
static str sum_of(struct fixture *p)
{
    static const char text[] =
        "SELECT (SELECT seq FROM node) || ' ' || (SELECT count(*) FROM log) || ' ' ||"
        " (SELECT count(*) FROM state) || ' ' || (SELECT coalesce(sum(version), 0) FROM state) ||"
        " ' ' || (SELECT count(*) FROM schema) || ' ' || (SELECT count(*) FROM token) || ' ' ||"
        " (SELECT count(*) FROM token WHERE revoked_at > 0) || ' ' ||"
        " (SELECT count(*) FROM idempotency) || ' ' || (SELECT coalesce(sum(at), 0) FROM due) ||"
        " ' ' || (SELECT coalesce(sum(cycle + updated_at), 0) FROM session) || ' ' ||"
        " (SELECT coalesce(sum(fence + lease_until + length(result)), 0) FROM run) || ' ' ||"
        " (SELECT count(*) FROM run_output) || ' ' || (SELECT count(*) FROM session_event) ||"
        " ' ' || (SELECT count(*) FROM callback) || ' ' || (SELECT count(*) FROM permission)";
    struct store_node node;
    const struct row *row;

    err e = store_begin(p->engine.sql, p->arena, &node);
    assert(!e);
    e = sql_one_(p->engine.sql, &row, text, NO_ARGS);
    assert(!e && row);
    store_rollback(p->engine.sql);
    return row_str(row, 0);
}

static void command_check(struct fixture *p, const struct command *made)
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
    assert(str_eq(again.answer.text, first.answer.text) &&
           again.answer.version == first.answer.version);
    assert(str_eq(after, sum_of(p)));
}

/* ---- time ---- */

/* So much later, when all that was due by then is done. */
static void time_pass(struct fixture *p, int64_t ms)
{
    static const struct actor system = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };
    const struct json *answer;
    struct json input = json_object();

    p->now_ms += ms;
    for (bool more = true; more;) {
        struct command c = { .arena = p->arena,
                             .op = op_find(table, STR("system.tick")),
                             .actor = &system,
                             .input = &input,
                             .key = STR("") };
        command_run(p, &c);
        assert(!c.error);
        err e = json_parse(p->arena, c.answer.text, NULL, &answer);
        assert(!e);
        more = json_bool_or(answer, "more", false);
    }
}

/* ---- lines ---- */

/* What a line asks for: a command, or that time passes. */
struct line {
    struct command command;
    int64_t pass_ms;
};

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

static bool line_read(struct arena *a, str text, int number, struct line *out)
{
    str word, rest;

    *out = (struct line){ .pass_ms = 0 };
    if (!str_starts(text, STR("t ")))
        return command_read(a, text, number, &out->command);
    str_cut(text, ' ', &word, &rest);
    return str_to_int(rest, &out->pass_ms) && out->pass_ms > 0 && out->pass_ms <= PASS_MAX_MS;
}

static int lines_read(struct arena *a, str text, struct line out[LINES_MAX])
{
    int count = 0;

    for (bool more = true; more && count < LINES_MAX;) {
        str line;
        more = str_cut(text, '\n', &line, &text);
        count += line_read(a, line, count, &out[count]);
    }
    return count;
}

static void lines_run(struct fixture *p, const struct line *lines, int count)
{
    for (int i = 0; i < count; i++) {
        if (lines[i].pass_ms)
            time_pass(p, lines[i].pass_ms);
        else
            command_check(p, &lines[i].command);
    }
}

/* ---- what holds in the end ---- */

static void finding_abort(void *self, const struct audit_finding *f)
{
    (void)self;
    fprintf(stderr, "%s: " STR_FMT ": " STR_FMT "\n", f->rule, STR_ARG(f->place),
            STR_ARG(f->problem));
    assert(!"the audit found something");
}

static void fixture_audit(struct fixture *p)
{
    struct store_node node;

    err e = store_begin(p->engine.sql, p->arena, &node);
    assert(!e);
    struct tx tx = { .arena = p->arena, .sql = p->engine.sql, .seq = &node.seq };
    e = audit_rows(&tx, finding_abort, NULL);
    assert(!e);
    store_rollback(p->engine.sql);
}

/* ---- a disk to begin with, the same every time ---- */

/* The beginning is lines, too; `applied` says how many of them there are. */
static struct vfs *disk_ready(const char *beginning, int applied)
{
    static struct vfs *ready;
    struct line lines[LINES_MAX];
    struct fixture p;

    if (ready)
        return ready;
    struct vfs *disk = vfs_new(1, 4096);
    fixture_open(&p, disk);
    p.ids = 0;
    int count = lines_read(p.arena, str_from(beginning), lines);
    assert(count == applied);
    for (int i = 0; i < count; i++) {
        struct command c = lines[i].command;
        c.key = arena_printf(p.arena, "beginning%d", i); /* others come under key0 … */
        command_run(&p, &c);
        assert(!c.error);
    }
    vfs_sync_directory(disk);
    ready = vfs_copy(disk);
    fixture_close(&p);
    return ready;
}

static int operations_run(const uint8_t *data, size_t size, const char *beginning, int applied)
{
    struct arena *a = arena_new();
    struct line lines[LINES_MAX];
    str text = size ? (str){ (const char *)data, size } : STR("");
    err e = table ? NULL : op_table_all(a, &table);

    assert(!e);
    int count = lines_read(a, text, lines);
    if (count > 0) {
        struct fixture p;
        fixture_open(&p, vfs_copy(disk_ready(beginning, applied)));
        lines_run(&p, lines, count);
        if (size % 4 == 0) /* it takes longer than all the rest */
            fixture_audit(&p);
        fixture_close(&p);
    }
    arena_free(a);
    return 0;
}

#endif
