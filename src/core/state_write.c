/* state_write.c: the writes of states.
 *
 * Whatever the write is, it comes down to a document before, one after, and the
 * patch between them. Then the same things are asked: may this actor change that,
 * is it small enough, does it fit the schema. */
#include <assert.h>

#include "base/utf8.h"
#include "core/columns.h"
#include "core/due.h"
#include "core/plant.h"
#include "core/retain.h"
#include "core/state.h"
#include "core/stored.h"
#include "core/token.h"
#include "json/diff.h"
#include "json/patch.h"
#include "json/pointer.h"

enum {
    SNAPSHOT_VERSIONS = 100, /* a whole body is logged at least every so many versions */
    WORK_OF_A_BYTE = 4,      /* of applying a patch again, that weighs as much as a byte of it */
    PURGE_AFTER_MS = 24 * 60 * 60 * 1000,
};

/* A write on its way: the state as it was, and what its document is to become. */
struct writing {
    struct state *state;
    const struct schema_rules *rules;
    struct json doc; /* parsed, and free to be edited */
    uint64_t work;   /* of applying the patch again */
};

static err version_check(struct tx *tx, const struct state *s, int64_t expected)
{
#ifdef PLANT_NO_VERSION_CHECK
    expected = 0;
#endif
    tx->seen_version = expected;
    if (!expected || expected == s->version)
        return NULL;
    err e = err_new(tx->arena, tx->precondition ? ERR_PRECONDITION : ERR_CONFLICT,
                    "state " STR_FMT " is at version %lld, expected %lld: read it again and "
                    "repeat the change on what it is now",
                    STR_ARG(s->id), (long long)s->version, (long long)expected);
    return err_with(tx->arena, e,
                    arena_printf(tx->arena, "\"current_version\":%lld", (long long)s->version));
}

static err writing_begin(struct tx *tx, str id, int64_t expected, struct state *out,
                         struct writing *w)
{
    const struct json *parsed;

    TRY(state_get_to_write(tx, id, out));
    TRY(version_check(tx, out, expected));
    TRY(stored_parse(tx, THING("state", out->id), out->body, &parsed));
    *w = (struct writing){ .state = out, .doc = *parsed };
    return schema_rules(tx, out->schema_id, &w->rules);
}

/* ---- checks ---- */

static bool depth_within(const struct json *j, unsigned most)
{
    if (j->kind != JSON_ARRAY && j->kind != JSON_OBJECT)
        return true;
    for (uint32_t i = 0; most > 0 && i < j->len; i++)
        if (!depth_within(j->kind == JSON_ARRAY ? &j->items[i] : &j->members[i].value, most - 1))
            return false;
    return most > 0;
}

static err size_check(struct tx *tx, const struct schema_rules *rules, size_t bytes)
{
    if (bytes <= rules->policy.state_bytes_max)
        return NULL;
    return err_new(tx->arena, ERR_TOO_LARGE,
                   "the state would have %zu bytes, at most %u are allowed", bytes,
                   (unsigned)rules->policy.state_bytes_max);
}

static err document_check(struct tx *tx, const struct schema_rules *rules, const struct json *doc,
                          str printed)
{
    TRY(size_check(tx, rules, printed.len));
    if (!depth_within(doc, JSON_DEPTH_MAX))
        return err_new(tx->arena, ERR_INVALID,
                       "the state would have more than %d containers inside each other",
                       JSON_DEPTH_MAX);
    return schema_require(tx->arena, rules->program, doc);
}

static str sections_shown(struct tx *tx)
{
    struct buf out = buf_in(tx->arena);

    for (size_t i = 0; i < tx->actor->pointer_count; i++)
        buf_printf(&out, "%s" STR_FMT, i ? ", " : "", STR_ARG(tx->actor->pointers[i]));
    return tx->actor->pointer_count ? buf_str(&out) : STR("nothing");
}

static err outside(struct tx *tx, str place, bool moved)
{
    return err_new(tx->arena, ERR_FORBIDDEN,
                   "this write changes \"" STR_FMT "\", which is outside of what this session may "
                   "write: " STR_FMT "%s",
                   STR_ARG(place), STR_ARG(sections_shown(tx)),
                   moved ? ". Adding or removing an element moves all that stand behind it" : "");
}

/* Where two values differ: the path becomes that of the first such place. False: they are equal. */
static bool difference_find(struct buf *path, const struct json *from, const struct json *to)
{
    bool same_kind = from && to && from->kind == to->kind;
    size_t len = path->len;

    if (same_kind && from->kind == JSON_ARRAY && from->len == to->len) {
        for (uint32_t i = 0; i < from->len; i++) {
            json_pointer_add_index(path, i);
            if (difference_find(path, &from->items[i], &to->items[i]))
                return true;
            path->len = len;
        }
        return false;
    }
    if (!same_kind || from->kind != JSON_OBJECT)
        return !from || !to || !json_equal(from, to);
    const uint32_t *there = json_match(path->arena, from, to);
    for (uint32_t i = 0; i < from->len; i++) {
        json_pointer_add(path, json_name(&from->members[i]));
        if (there[i] == JSON_NONE ||
            difference_find(path, &from->members[i].value, &to->members[there[i]].value))
            return true;
        path->len = len;
    }
    if (from->len == to->len)
        return false;
    there = json_match(path->arena, to, from);
    for (uint32_t i = 0; i < to->len; i++)
        if (there[i] == JSON_NONE) {
            json_pointer_add(path, json_name(&to->members[i]));
            return true;
        }
    return false;
}

/* What has a section at or below it, of all that is in a container: the names that its sections go on
 * with, as members. */
static err sections_in(struct tx *tx, str path, struct json *out)
{
    *out = json_object();
    for (size_t i = 0; i < tx->actor->pointer_count; i++) {
        str granted = tx->actor->pointers[i], below = str_slice(granted, path.len, granted.len);
        struct json_pointer parsed;
        if (!str_starts(granted, path) || !str_starts(below, STR("/")))
            continue;
        below.len = 1 + str_find(str_slice(below, 1, below.len), '/');
        TRY(json_pointer_parse(tx->arena, below, &parsed));
        json_put(tx->arena, out, parsed.tokens[0], json_null());
    }
    return NULL;
}

/* A session with sections of its own changes nothing outside of them. What counts is what is another
 * value afterwards, however the write said it: the patch that is found by comparing may replace more
 * than that, and one that names an element of an array may move others. Only what has a section at or
 * below it is descended into; the rest is compared once, and looked for in no section. */
static err changes_check(struct tx *tx, struct buf *path, const struct json *from,
                         const struct json *to, bool moved);

static err items_check(struct tx *tx, struct buf *path, const struct json *sections,
                       const struct json *from, const struct json *to)
{
    uint32_t most = from->len > to->len ? from->len : to->len, at;
    bool *ours = arena_zero(tx->arena, most);
    size_t len = path->len;

    for (uint32_t i = 0; i < sections->len; i++)
        if (json_pointer_index(json_name(&sections->members[i]), &at) && at < most)
            ours[at] = true;
    for (uint32_t i = 0; i < most; i++) {
        const struct json *before = i < from->len ? &from->items[i] : NULL;
        const struct json *after = i < to->len ? &to->items[i] : NULL;
        if (!ours[i] && before && after && json_equal(before, after))
            continue;
        json_pointer_add_index(path, i);
        TRY(changes_check(tx, path, before, after, from->len != to->len));
        path->len = len;
    }
    return NULL;
}

static err members_check(struct tx *tx, struct buf *path, const struct json *sections,
                         const struct json *from, const struct json *to)
{
    const uint32_t *there = json_match(tx->arena, from, to), *came;
    const uint32_t *at = json_match(tx->arena, sections, from);
    bool *ours = arena_zero(tx->arena, from->len);
    size_t len = path->len;

    for (uint32_t i = 0; i < sections->len; i++)
        if (at[i] != JSON_NONE)
            ours[at[i]] = true;
    for (uint32_t i = 0; i < from->len; i++) {
        const struct json *before = &from->members[i].value;
        const struct json *after = there[i] == JSON_NONE ? NULL : &to->members[there[i]].value;
        if (!ours[i] && after && json_equal(before, after))
            continue;
        json_pointer_add(path, json_name(&from->members[i]));
        TRY(changes_check(tx, path, before, after, false));
        path->len = len;
    }
    came = json_match(tx->arena, to, from);
    for (uint32_t i = 0; i < to->len; i++) {
        if (came[i] != JSON_NONE)
            continue;
        json_pointer_add(path, json_name(&to->members[i]));
        TRY(changes_check(tx, path, NULL, &to->members[i].value, false));
        path->len = len;
    }
    return NULL;
}

static err changes_check(struct tx *tx, struct buf *path, const struct json *from,
                         const struct json *to, bool moved)
{
    str here = buf_str(path);
    struct json sections;

    if (actor_may_write(tx->actor, here))
        return NULL;
    TRY(sections_in(tx, here, &sections));
    if (sections.len && json_is(from, JSON_ARRAY) && json_is(to, JSON_ARRAY))
        return items_check(tx, path, &sections, from, to);
    if (sections.len && json_is(from, JSON_OBJECT) && json_is(to, JSON_OBJECT))
        return members_check(tx, path, &sections, from, to);
    if (from && to && json_equal(from, to))
        return NULL;
    difference_find(path, from, to);
    return outside(tx, buf_str(path), moved);
}

static err engine_alone(struct tx *tx, str id)
{
    return err_new(tx->arena, ERR_FORBIDDEN,
                   "state " STR_FMT " is the document of an execution, which only its moves write: "
                   "report a step, set variables, pause, resume or cancel the execution instead",
                   STR_ARG(id));
}

err state_get_to_share(struct tx *tx, str id_or_name, struct state *out)
{
    const struct schema_rules *rules;

    TRY(state_get_to_write(tx, id_or_name, out));
    TRY(schema_rules(tx, out->schema_id, &rules));
    if (!rules->policy.engine_writes)
        return NULL;
    return err_new(tx->arena, ERR_FORBIDDEN,
                   "state " STR_FMT " is the document of an execution, which only its moves write: "
                   "choose another state, or leave it out",
                   STR_ARG(out->id));
}

/* Whether this actor may change the one into the other: by its own sections, and by what the schema
 * says of owners. */
static err rights_check(struct tx *tx, const struct writing *w, const struct json *from,
                        const struct json *to)
{
    const struct policy *policy = &w->rules->policy;
    if (policy->engine_writes)
        return engine_alone(tx, w->state->id);
    struct policy_writer by = { .who = tx->actor,
                                .id_given = true,
                                .root_session = w->state->root_session };
    struct buf path = buf_in(tx->arena);
    const struct row *row = NULL;

    TRY(changes_check(tx, &path, from, to, false));
    if (!policy_binds(policy, tx->actor))
        return NULL;
    /* As it is now, whatever was known of the session when its token was looked up. */
    TRY(sql_one(tx->sql, &row,
                "SELECT agent, role, id_given, CASE WHEN attended = 1 AND EXISTS"
                "  (SELECT 1 FROM project p WHERE p.name = session.project AND p.state_id = $2)"
                "  THEN 1 ELSE 0 END FROM session WHERE session_id = $1",
                ARGS(TEXT(tx->actor->session_id), TEXT(w->state->id))));
    if (row) {
        by.agent = row_str(row, 0);
        by.role = row_str(row, 1);
        by.id_given = row_int(row, 2);
        by.is_member = row_int(row, 3);
    }
    return policy_check(tx->arena, policy, &by, from, to);
}

static err patch_apply(struct tx *tx, struct writing *w, const struct json *operations)
{
    const struct json_patch_limits limits = { .operations_max = STATE_OPERATIONS_MAX,
                                              .copy_bytes_max = STATE_COPY_BYTES_MAX,
                                              .worked = &w->work };

    return json_patch(tx->arena, &w->doc, operations, &limits);
}

/* ---- the row and the log ---- */

/* Appends the version to the log, with its whole body when the last one is far, when the patches
 * since then have outgrown it or take long to apply again, or when it is one of those that stay for
 * good. */
static err version_log(struct tx *tx, struct state *s, enum event_type type, str patch,
                       uint64_t work)
{
    const struct retention *r = tx->retention ? tx->retention : &retention_default;
    int64_t cost = (int64_t)(patch.len + work / WORK_OF_A_BYTE);
    bool stays = s->version % r->versions_step == 0;
    bool whole = stays || s->version == 1 || s->version - s->snap_version >= SNAPSHOT_VERSIONS ||
                 s->patch_bytes + cost > (int64_t)s->body.len;
    struct event *e;

    TRY(event_emit(tx,
                   (struct event){ .type = type,
                                   .subject = s->id,
                                   .version = s->version,
                                   .prev_seq = s->last_seq,
                                   .snap_seq = s->snap_seq,
                                   .data = patch,
                                   .body = whole ? s->body : STR("") },
                   &e));
    assert(type != EVENT_STATE_CREATED || (s->version == 1 && whole));
    s->last_seq = e->seq;
    s->patch_bytes = whole ? 0 : s->patch_bytes + cost;
    if (whole) {
        s->snap_seq = e->seq;
        s->snap_version = s->version;
    }
    if (stays && s->version > r->versions)
        return due_add(tx, tx->now_ms, DUE_COMPACT_STATE, s->id, s->version);
    return NULL;
}

/* Makes the next version, of a body that was checked. */
static err version_add(struct tx *tx, struct state *s, enum event_type type, str patch,
                       uint64_t work)
{
    assert(s->body.len > 0);
    s->version++;
    s->updated_at_ms = tx->now_ms;
    TRY(version_log(tx, s, type, patch, work));
    assert(s->last_seq == *tx->seq);
#ifdef PLANT_HISTORY_IN_SECOND_TRANSACTION
    TRY(plant_split(tx));
#endif
    state_remember(tx, s->id, s);
    return sql_exec(tx->sql,
                    "UPDATE state SET version = $2, body = $3, last_seq = $4, snap_seq = $5,"
                    " snap_version = $6, patch_bytes = $7, updated_at = $8 WHERE state_id = $1",
                    ARGS(TEXT(s->id), INT(s->version), TEXT(s->body), INT(s->last_seq),
                         INT(s->snap_seq), INT(s->snap_version), INT(s->patch_bytes),
                         INT(s->updated_at_ms)));
}

/* Makes the next version out of a changed document. */
static err write_end(struct tx *tx, struct writing *w, enum event_type type, const struct json *doc,
                     str patch)
{
    struct state *s = w->state;
    struct buf body = buf_in(tx->arena);

    buf_reserve(&body, s->body.len + patch.len + 64); /* about what it will be, in one piece */
    json_print(&body, doc);
    s->body = buf_str(&body);
    TRY(document_check(tx, w->rules, doc, s->body));
    return version_add(tx, s, type, patch, w->work);
}

/* The write of a whole new document: what it changes is found by comparing. */
static err write_diff(struct tx *tx, struct writing *w, const struct json *from,
                      const struct json *to)
{
    TRY(size_check(tx, w->rules, json_print_size(to))); /* before anything looks at all of it */
    TRY(rights_check(tx, w, from, to));
    struct json patch = json_diff(tx->arena, from, to, 0, &w->work);
    w->state->unchanged = patch.len == 0;
    if (w->state->unchanged)
        return NULL;
    return write_end(tx, w, EVENT_STATE_UPDATED, to, json_printed(tx->arena, &patch));
}

/* The document as it was before a patch was applied to it in place. Reading its text again costs
 * less than keeping a copy of each value. */
static err before_read(struct tx *tx, const struct state *s, const struct json **out)
{
    return stored_parse(tx, THING("state", s->id), s->body, out);
}

/* ---- creating and deleting ---- */

static err create(struct tx *tx, const struct schema_version *schema,
                  const struct schema_rules *rules, const struct json *data, str root_session,
                  struct state *out)
{

    *out = (struct state){
        .id = tx_id(tx, "wfstate_"),
        .schema_id = schema->id,
        .schema_name = schema->name,
        .schema_version = schema->version,
        .root_session = root_session,
        .root_name = root_session,
        .version = 1,
        .created_at_ms = tx->now_ms,
        .updated_at_ms = tx->now_ms,
        .body = json_printed(tx->arena, data),
    };
    TRY(document_check(tx, rules, data, out->body));
    TRY(version_log(tx, out, EVENT_STATE_CREATED, STR(""), 0));
    assert(out->last_seq == *tx->seq && out->snap_seq == out->last_seq);
    return sql_exec(tx->sql, INSERT_INTO(state, STATE_COLUMNS), ARGS(VALUES(STATE_COLUMNS, out)));
}

err state_create(struct tx *tx, const struct schema_version *schema, const struct json *data,
                 str root_session, struct state *out)
{
    const struct schema_rules *rules;

    TRY(schema_rules(tx, schema->id, &rules));
    if (rules->policy.engine_writes)
        return err_new(tx->arena, ERR_FORBIDDEN,
                       "the schema \"" STR_FMT "\" is of documents of executions, which are made "
                       "when one is started: choose another schema",
                       STR_ARG(schema->name));
    return create(tx, schema, rules, data, root_session, out);
}

err state_render_new(struct tx *tx, const struct schema_version *schema,
                     const struct json *document, struct state *out)
{
    const struct schema_rules *rules;

    TRY(schema_rules(tx, schema->id, &rules));
    assert(rules->policy.engine_writes);
    return create(tx, schema, rules, document, STR(""), out);
}

err state_render(struct tx *tx, str id, const struct json *document, struct state *out)
{
    struct writing w;
    const struct json *before;

    TRY(state_load(tx, id, out));
    TRY(stored_parse(tx, THING("state", out->id), out->body, &before));
    w = (struct writing){ .state = out };
    TRY(schema_rules(tx, out->schema_id, &w.rules));
    assert(w.rules->policy.engine_writes);
    struct json patch = json_diff(tx->arena, before, document, 0, &w.work);
    out->unchanged = patch.len == 0;
    if (out->unchanged)
        return NULL;
    return write_end(tx, &w, EVENT_STATE_UPDATED, document, json_printed(tx->arena, &patch));
}

/* Its history stays for a day, for those who follow the log. */
static err state_remove(struct tx *tx, const struct state *s)
{
    TRY(event_emit(tx,
                   (struct event){ .type = EVENT_STATE_DELETED,
                                   .subject = s->id,
                                   .version = s->version,
                                   .prev_seq = s->last_seq },
                   NULL));
    TRY(due_add(tx, tx->now_ms + PURGE_AFTER_MS, DUE_PURGE_STATE, s->id, s->last_seq));
    state_remember(tx, s->id, NULL);
    return sql_exec(tx->sql, "DELETE FROM state WHERE state_id = $1", ARGS(TEXT(s->id)));
}

err state_delete(struct tx *tx, str id, int64_t expected)
{
    const struct schema_rules *rules;
    struct state s;

    TRY(state_get_to_write(tx, id, &s));
    TRY(schema_rules(tx, s.schema_id, &rules));
    if (rules->policy.engine_writes)
        return engine_alone(tx, s.id);
    TRY(version_check(tx, &s, expected));
    return state_remove(tx, &s);
}

err state_forget(struct tx *tx, str id)
{
    struct state s;

    TRY(state_load(tx, id, &s));
    return state_remove(tx, &s);
}

/* ---- names ---- */

static err name_check(struct tx *tx, const struct state *s, str name)
{
    const struct row *row;

    if (!name.len)
        return NULL;
    if (!state_is_name(name))
        return err_new(
            tx->arena, ERR_INVALID,
            "expected a name of 1 to %d letters, digits and - _ . for a state, that does "
            "not begin with \"wfstate_\" and is not only dots, found \"" STR_FMT "\"",
            STATE_NAME_MAX, STR_ARG(utf8_cut(name, STATE_NAME_MAX)));
    TRY(sql_one(tx->sql, &row,
                "SELECT state_id FROM state WHERE name = $1 AND name <> '' AND state_id <> $2",
                ARGS(TEXT(name), TEXT(s->id))));
    if (!row)
        return NULL;
    return err_new(tx->arena, ERR_CONFLICT,
                   "the state " STR_FMT " has the name \"" STR_FMT "\": choose another, or rename "
                   "that one first",
                   STR_ARG(row_str(row, 0)), STR_ARG(name));
}

err state_name_new(struct tx *tx, struct state *s, str name)
{
    TRY(name_check(tx, s, name));
    s->name = name;
    state_remember(tx, s->id, s);
    return sql_exec(tx->sql, "UPDATE state SET name = $2 WHERE state_id = $1",
                    ARGS(TEXT(s->id), TEXT(name)));
}

err state_rename(struct tx *tx, str id_or_name, str name, struct state *out)
{
    TRY(state_get_to_write(tx, id_or_name, out));
    out->unchanged = str_eq(out->name, name);
    if (out->unchanged)
        return NULL;
    TRY(state_name_new(tx, out, name));
    return version_add(tx, out, EVENT_STATE_RENAMED, STR("[]"), 0);
}

/* ---- changing ---- */

static err base_check(struct tx *tx, const struct state *s, int64_t base)
{
    if (base <= s->version)
        return NULL;
    return err_new(tx->arena, ERR_INVALID,
                   "expected a base_version up to %lld, which state " STR_FMT " is at, found %lld",
                   (long long)s->version, STR_ARG(s->id), (long long)base);
}

err state_replace(struct tx *tx, str id, const struct json *data, int64_t expected, int64_t base,
                  struct state *out, struct state_dropped *dropped)
{
    struct state before;
    struct writing w;

    TRY(writing_begin(tx, id, expected, out, &w));
    TRY(base_check(tx, out, base));
    before = *out;
    TRY(write_diff(tx, &w, &w.doc, data));
    if (!dropped)
        return NULL;
    *dropped = (struct state_dropped){ .count = 0 };
    if (out->unchanged)
        return NULL;
    return state_dropped_find(tx, &before, &w.doc, data, base ? base : expected, dropped);
}

err state_patch(struct tx *tx, str id, const struct json *operations, int64_t expected,
                struct state *out)
{
    const struct json *before;
    struct writing w;

    TRY(writing_begin(tx, id, expected, out, &w));
    TRY(patch_apply(tx, &w, operations));
    TRY(before_read(tx, out, &before));
    TRY(rights_check(tx, &w, before, &w.doc));
    out->unchanged = json_equal(before, &w.doc);
    if (out->unchanged)
        return NULL;
    return write_end(tx, &w, EVENT_STATE_UPDATED, &w.doc, json_printed(tx->arena, operations));
}

err state_merge(struct tx *tx, str id, const struct json *patch, int64_t expected,
                struct state *out)
{
    const struct json *before;
    struct writing w;

    TRY(writing_begin(tx, id, expected, out, &w));
    TRY(json_merge(tx->arena, &w.doc, patch, NULL));
    TRY(before_read(tx, out, &before));
    return write_diff(tx, &w, before, &w.doc);
}

err state_touch(struct tx *tx, struct state *s)
{
    assert(s->unchanged);
    s->unchanged = false;
    return version_add(tx, s, EVENT_STATE_UPDATED, STR("[]"), 0);
}

err state_rollback(struct tx *tx, str id, int64_t version, int64_t expected, struct state *out)
{
    struct writing w;
    struct json old;

    TRY(writing_begin(tx, id, expected, out, &w));
    TRY(state_at(tx, out, version, &old));
    return write_diff(tx, &w, &w.doc, &old);
}

/* ---- migrating ---- */

static err migrate_begin(struct tx *tx, str id, const struct state_migration *m, struct state *out,
                         struct writing *w, struct schema_version *schema,
                         const struct json **before)
{
    TRY(writing_begin(tx, id, m->expected, out, w));
    TRY(schema_find(tx, out->schema_name, m->schema_version, schema));
    if (m->operations)
        TRY(patch_apply(tx, w, m->operations));
    TRY(before_read(tx, out, before));
    TRY(rights_check(tx, w, *before, &w->doc));
    return schema_rules(tx, schema->id, &w->rules);
}

err state_migrate(struct tx *tx, str id, const struct state_migration *m, struct state *out)
{
    struct schema_version schema;
    const struct json *before;
    struct writing w;

    TRY(migrate_begin(tx, id, m, out, &w, &schema, &before));
    out->unchanged = str_eq(out->schema_id, schema.id) && json_equal(before, &w.doc);
    if (out->unchanged)
        return NULL;
    out->schema_id = schema.id;
    out->schema_version = schema.version;
    TRY(write_end(tx, &w, EVENT_STATE_MIGRATED, &w.doc,
                  m->operations ? json_printed(tx->arena, m->operations) : STR("[]")));
    return sql_exec(tx->sql,
                    "UPDATE state SET schema_id = $2, schema_version = $3 WHERE state_id = $1",
                    ARGS(TEXT(out->id), TEXT(schema.id), INT(schema.version)));
}

err state_migrate_try(struct tx *tx, str id, const struct state_migration *m,
                      struct state_trial *out)
{
    struct schema_version schema;
    const struct json *before;
    struct writing w;

    TRY(migrate_begin(tx, id, m, &out->state, &w, &schema, &before));
    out->doc = w.doc;
    out->unfit = document_check(tx, w.rules, &out->doc, json_printed(tx->arena, &out->doc));
    return NULL;
}
