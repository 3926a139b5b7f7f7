/* schema.c: named, versioned schemas. */
#include "core/schema.h"

#include <assert.h>

#include "base/cache.h"
#include "base/digest.h"
#include "base/utf8.h"
#include "core/columns.h"
#include "core/event.h"

/* ---- rules at hand ---- */

/* Rules in an arena of their own, which was given away. */
struct rules_made {
    struct arena *arena;
    const struct schema_rules *rules;
};

/* Reads and compiles the rules of a text. A new one may have warnings; those that are stored have none
 * any more. */
static err rules_make(struct arena *a, const struct json *text, struct schema_warnings *warnings,
                      struct rules_made *out)
{
    struct arena *arena = arena_new();
    struct schema_rules *rules = ARENA_NEW(arena, struct schema_rules);
    err e = policy_read(a, arena, text, &rules->policy);

    if (!e) {
        struct schema_options options = { .assert_formats = rules->policy.formats_asserted,
                                          .is_known = !warnings,
                                          .warnings = warnings };
        e = schema_compile(a, text, &options, &rules->program);
    }
    if (e) {
        arena_free(arena);
        return e;
    }
    schema_free_with(arena, rules->program);
    arena_give(arena); /* whoever keeps it takes it: not always the thread that has made it */
    *out = (struct rules_made){ arena, rules };
    return NULL;
}

err schema_rules(struct tx *tx, str id, const struct schema_rules **out)
{
    struct schema_version v;
    struct rules_made made;
    const struct json *text;

    *out = cache_find(tx->compiled, id);
    if (*out)
        return NULL;
    TRY(schema_by_id(tx, id, &v));
    TRY(stored_parse(tx, THING("schema", v.id), v.text, &text));
    TRY(rules_make(tx->arena, text, NULL, &made));
    cache_keep(tx->compiled, id, made.arena, made.rules);
    *out = made.rules;
    return NULL;
}

/* ---- rows ---- */

static void schema_read(struct tx *tx, const struct row *row, struct schema_version *out)
{
    *out = (struct schema_version){ .version = 0 };
    COLUMNS_READ(SCHEMA_COLUMNS, tx, row, "schema", out);
}

static void schema_read_all(struct tx *tx, const struct row *rows, size_t count,
                            const struct schema_version **out)
{
    struct schema_version *all = ARENA_ARRAY(tx->arena, struct schema_version, count);

    for (size_t i = 0; i < count; i++)
        schema_read(tx, &rows[i], &all[i]);
    *out = all;
}

static err newest(struct tx *tx, str name, const struct row **row)
{
    return sql_one(tx->sql, row,
                   "SELECT " SCHEMA_NAMES " FROM schema WHERE name = $1"
                   " ORDER BY version DESC LIMIT 1",
                   ARGS(TEXT(name)));
}

/* Names the first few that there are: an agent that guessed has no way to list them. */
static err no_such_schema(struct tx *tx, str name)
{
    enum { SHOWN = 8 };
    struct buf names = buf_in(tx->arena);
    const struct row *rows;
    size_t count;

    TRY(sql_all(tx->sql, &rows, &count, "SELECT DISTINCT name FROM schema ORDER BY name LIMIT $1",
                ARGS(INT(SHOWN + 1))));
    for (size_t i = 0; i < count && i < SHOWN; i++)
        buf_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(row_str(&rows[i], 0)));
    if (count > SHOWN)
        buf_add(&names, STR(" and more: schema.list"));
    if (!count)
        buf_add(&names, STR("none; the operator registers one with 'baton schema create'"));
    return err_new(tx->arena, ERR_NOT_FOUND,
                   "there is no schema \"" STR_FMT "\"; there are: " STR_FMT, STR_ARG(name),
                   STR_ARG(buf_str(&names)));
}

err schema_find(struct tx *tx, str name, int64_t version, struct schema_version *out)
{
    const struct row *row, *other;

    TRY(newest(tx, name, &row));
    if (!row)
        return no_such_schema(tx, name);
    schema_read(tx, row, out);
    if (version && version != out->version) {
        TRY(sql_one(tx->sql, &other,
                    "SELECT " SCHEMA_NAMES " FROM schema WHERE name = $1 AND version = $2",
                    ARGS(TEXT(name), INT(version))));
        if (!other)
            return err_new(tx->arena, ERR_NOT_FOUND,
                           "schema \"" STR_FMT "\" has no version %lld: its newest is %lld",
                           STR_ARG(name), (long long)version, (long long)out->version);
        schema_read(tx, other, out);
    }
    return NULL;
}

err schema_by_id(struct tx *tx, str id, struct schema_version *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT " SCHEMA_NAMES " FROM schema WHERE schema_id = $1",
                ARGS(TEXT(id))));
    if (!row)
        return err_new(tx->arena, ERR_NOT_FOUND, "there is no schema " STR_FMT, STR_ARG(id));
    schema_read(tx, row, out);
    return NULL;
}

err schema_list(struct tx *tx, str after, int64_t limit, const struct schema_version **out,
                size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " SCHEMA_NAMES " FROM schema AS s"
                " WHERE name > $1"
                "   AND version = (SELECT max(version) FROM schema AS t WHERE t.name = s.name)"
                " ORDER BY name LIMIT $2",
                ARGS(TEXT(after), INT(limit))));
    schema_read_all(tx, rows, *count, out);
    return NULL;
}

err schema_versions(struct tx *tx, str name, int64_t before, int64_t limit,
                    const struct schema_version **out, size_t *count)
{
    const struct row *rows;
    struct schema_version newest_version;

    TRY(schema_find(tx, name, 0, &newest_version));
    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " SCHEMA_NAMES " FROM schema WHERE name = $1 AND version < $2"
                " ORDER BY version DESC LIMIT $3",
                ARGS(TEXT(name), INT(before ? before : INT64_MAX), INT(limit))));
    schema_read_all(tx, rows, *count, out);
    return NULL;
}

/* ---- registering ---- */

static err name_check(struct tx *tx, str name)
{
    bool good = name.len > 0 && name.len <= SCHEMA_NAME_MAX;

    for (size_t i = 0; i < name.len && good; i++) {
        char c = name.at[i], low = (char)(c | 0x20);
        good = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    }
    if (good)
        return NULL;
    return err_new(tx->arena, ERR_INVALID,
                   "expected a name of 1 to %d letters, digits and - _ . for a schema, found "
                   "\"" STR_FMT "\"",
                   SCHEMA_NAME_MAX, STR_ARG(utf8_cut(name, 60)));
}

/* Of the compact text. Not of the canonical one, in which numbers are doubles: two bounds that
 * differ in their last digit would be one. */
static str digest_of(struct arena *a, str printed)
{
    unsigned char sum[SHA256_BYTES];

    sha256(printed, sum);
    return hex_encode(a, (str){ (const char *)sum, sizeof sum });
}

static err schema_insert(struct tx *tx, const struct schema_version *v)
{
    TRY(sql_exec(tx->sql, INSERT_INTO(schema, SCHEMA_COLUMNS), ARGS(VALUES(SCHEMA_COLUMNS, v))));
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);
    write_text(w, STR("name"), v->name);
    write_int(w, STR("version"), v->version);
    return event_end(tx, &data,
                     (struct event){
                         .type = EVENT_SCHEMA_REGISTERED, .subject = v->id, .version = v->version },
                     NULL);
}

struct schema_ready {
    struct arena *arena;
    const struct json *text;
    str printed, digest;
    struct schema_warnings warnings;
    struct rules_made made;
    bool kept; /* the cache has it: when the command runs again, it must be made again */
};

static void ready_release(void *ready)
{
    struct schema_ready *r = ready;

    if (!r->kept)
        arena_free(r->made.arena);
}

err schema_prepare(struct arena *a, const struct json *text, struct schema_ready **out)
{
    struct schema_ready *r = ARENA_NEW(a, struct schema_ready);

    *r = (struct schema_ready){ .arena = a, .text = text, .printed = json_printed(a, text) };
    if (r->printed.len > SCHEMA_TEXT_BYTES_MAX)
        return err_new(a, ERR_TOO_LARGE, "expected a schema of at most %u bytes, found %zu",
                       SCHEMA_TEXT_BYTES_MAX, r->printed.len);
    r->digest = digest_of(a, r->printed);
    TRY(rules_make(a, text, &r->warnings, &r->made));
    arena_on_release(a, ready_release, r);
    *out = r;
    return NULL;
}

const struct schema_warnings *schema_ready_warnings(const struct schema_ready *ready)
{
    return &ready->warnings;
}

static err ready_keep(struct tx *tx, struct schema_ready *r, str id)
{
    if (r->kept)
        TRY(rules_make(tx->arena, r->text, NULL, &r->made));
    r->kept = true;
    cache_keep(tx->compiled, id, r->made.arena, r->made.rules);
    return NULL;
}

err schema_register(struct tx *tx, str name, struct schema_ready *ready, str description,
                    struct schema_version *out, bool *created)
{
    const struct row *row;
    struct schema_version newest_version;

    TRY(name_check(tx, name));
    TRY(newest(tx, name, &row));
    if (row)
        schema_read(tx, row, &newest_version);
    *created = !row || !str_eq(newest_version.digest, ready->digest);
    if (!*created) {
        schema_read(tx, row, out);
        return NULL;
    }
    str id = tx_id(tx, "schema_");
    TRY(ready_keep(tx, ready, id));
    *out = (struct schema_version){
        .id = id,
        .name = name,
        .version = row ? newest_version.version + 1 : 1,
        .text = ready->printed,
        .digest = ready->digest,
        .description = description,
        .created_at_ms = tx->now_ms,
    };
    assert(out->digest.len == 2 * SHA256_BYTES && out->text.len > 0);
    return schema_insert(tx, out);
}
