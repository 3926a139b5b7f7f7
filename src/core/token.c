/* token.c: who may come in, and as whom. */
#include "core/token.h"

#include <assert.h>

#include "base/digest.h"
#include "core/columns.h"
#include "core/due.h"
#include "core/event.h"
#include "core/stored.h"
#include "json/pointer.h"

enum { SECRET_BYTES = 24, POINTERS_MAX = 100, READS_MAX = 20, JOBS_SCOPE_MAX = 32 };

static const struct {
    const char *name, *prefix; /* no prefix: nobody gets a token of that kind */
} kinds[] = {
    [ACTOR_SYSTEM] = { "system", NULL },  [ACTOR_OPERATOR] = { "operator", "op_" },
    [ACTOR_RUNNER] = { "runner", "rn_" }, [ACTOR_SESSION] = { "session", "ss_" },
    [ACTOR_VIEWER] = { "viewer", "vw_" }, [ACTOR_CODE] = { "code", "cd_" },
};

#define KIND_COUNT (sizeof kinds / sizeof *kinds)

const char *actor_kind_name(enum actor_kind kind)
{
    assert(kind < KIND_COUNT);
    return kinds[kind].name;
}

bool actor_kind_find(str name, enum actor_kind *out)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (kinds[i].prefix && str_eq(name, str_from(kinds[i].name))) {
            *out = (enum actor_kind)i;
            return true;
        }
    }
    return false;
}

static str hash_of(struct arena *a, str text)
{
    unsigned char sum[SHA256_BYTES];

    sha256(text, sum);
    return hex_encode(a, (str){ (const char *)sum, sizeof sum });
}

/* ---- minting ---- */

err pointers_check(struct tx *tx, const struct json *pointers)
{
    if (!pointers)
        return NULL;
    if (pointers->kind != JSON_ARRAY || pointers->len > POINTERS_MAX)
        return err_new(tx->arena, ERR_INVALID,
                       "expected \"pointers\" to be an array of at most %d JSON Pointers",
                       POINTERS_MAX);
    for (uint32_t i = 0; i < pointers->len; i++) {
        struct json_pointer ignored;
        if (pointers->items[i].kind != JSON_STRING)
            return err_new(tx->arena, ERR_INVALID,
                           "expected a JSON Pointer like \"/tasks\" in \"pointers\", found %s",
                           json_kind_name(pointers->items[i].kind));
        TRY(json_pointer_parse(tx->arena, json_text(&pointers->items[i]), &ignored));
    }
    return NULL;
}

static err reads_check(struct tx *tx, const struct json *reads)
{
    bool fits = !reads || (reads->kind == JSON_ARRAY && reads->len <= READS_MAX);

    for (uint32_t i = 0; reads && fits && i < reads->len; i++)
        fits = reads->items[i].kind == JSON_STRING;
    if (fits)
        return NULL;
    return err_new(tx->arena, ERR_INVALID,
                   "expected \"reads\" to be an array of at most %d states, by id or name",
                   READS_MAX);
}

/* A worker is a runner that has nothing but jobs: its token says of which types. */
static err jobs_check(struct tx *tx, enum actor_kind kind, const struct json *jobs)
{
    bool fits = !jobs || (jobs->kind == JSON_ARRAY && jobs->len > 0 && jobs->len <= JOBS_SCOPE_MAX);

    for (uint32_t i = 0; jobs && fits && i < jobs->len; i++)
        fits = json_text(&jobs->items[i]).len > 0;
    if (!fits)
        return err_new(tx->arena, ERR_INVALID,
                       "expected \"jobs\" to be an array of 1 to %d types of jobs, like \"deploy\" "
                       "or \"build-*\"",
                       JOBS_SCOPE_MAX);
    if (jobs && kind != ACTOR_RUNNER)
        return err_new(
            tx->arena, ERR_INVALID,
            "expected \"jobs\" in the scope of a token of kind runner, found it in one of "
            "kind %s",
            actor_kind_name(kind));
    return NULL;
}

static err scope_check(struct tx *tx, enum actor_kind kind, const struct json *scope)
{
    TRY(reads_check(tx, json_get(scope, "reads")));
    TRY(jobs_check(tx, kind, json_get(scope, "jobs")));
    if (kind == ACTOR_SESSION && json_str(scope, "session_id").len == 0)
        return err_new(tx->arena, ERR_INVALID,
                       "expected a scope with a \"session_id\" for a session's token");
    return pointers_check(tx, json_get(scope, "pointers"));
}

/* The scope as it is kept: a session that is known by a name stands there by its id. */
static err scope_settle(struct tx *tx, const struct json *scope, str *session_id, str *out)
{
    str session = json_str(scope, "session_id");
    const struct row *row = NULL;

    *out = scope ? json_printed(tx->arena, scope) : STR("{}");
    *session_id = session;
    if (session.len)
        TRY(sql_one(tx->sql, &row,
                    "SELECT session_id FROM session WHERE name = $1"
                    " AND NOT EXISTS (SELECT 1 FROM session WHERE session_id = $1)",
                    ARGS(TEXT(session))));
    if (!row)
        return NULL;
    struct json settled = json_copy(tx->arena, scope);
    *session_id = row_str(row, 0);
    *(struct json *)json_get(&settled, "session_id") = json_string(*session_id);
    *out = json_printed(tx->arena, &settled);
    return NULL;
}

err token_create(struct tx *tx, enum actor_kind kind, str name, const struct json *scope,
                 int64_t expires_in_ms, struct token *out, str *text)
{
    unsigned char secret[SECRET_BYTES];
    str settled, session_id;

    assert(kinds[kind].prefix && expires_in_ms >= 0);
    TRY(scope_check(tx, kind, scope));
    TRY(scope_settle(tx, scope, &session_id, &settled));
    if (json_get(scope, "run_id"))
        session_id = STR(""); /* it ends with that, and is not looked for: see run_end */
    tx->source->random(tx->source->self, secret, sizeof secret);
    *out = (struct token){
        .id = tx_id(tx, kinds[kind].prefix),
        .kind = kind,
        .name = name,
        .scope = settled,
        .session_id = session_id,
        .created_at_ms = tx->now_ms,
        .expires_at_ms = expires_in_ms ? tx->now_ms + expires_in_ms : 0,
    };
    str encoded = base64url_encode(tx->arena, (str){ (const char *)secret, sizeof secret });
    *text = arena_printf(tx->arena, STR_FMT "." STR_FMT, STR_ARG(out->id), STR_ARG(encoded));
    out->hash = hash_of(tx->arena, *text);
    assert(out->id.len > 0 && text->len > out->id.len && out->hash.len == 2 * SHA256_BYTES);
    return sql_exec(tx->sql, INSERT_INTO(token, TOKEN_COLUMNS), ARGS(VALUES(TOKEN_COLUMNS, out)));
}

/* ---- checking ---- */

err pointers_read(struct tx *tx, str session_id, str printed, const str **out, size_t *count)
{
    const struct json *pointers;

    TRY(stored_parse(tx, THING("session", session_id), printed, &pointers));
    return stored_texts(tx, THING("session", session_id), pointers, out, count);
}

/* What the row of its session says, which may have changed since the token was minted. */
static err session_apply(struct tx *tx, struct actor *a)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT state_id, pointers, parent_id, attended, coalesce((SELECT p.state_id"
                "  FROM session r JOIN project p ON p.name = r.project"
                "  WHERE r.session_id = session.root_id), ''), task"
                " FROM session WHERE session_id = $1",
                ARGS(TEXT(a->session_id))));
    /* One that is not there yet will be somebody's outside: those that run here are. */
    a->is_attended = !row;
    if (!row)
        return NULL;
    a->state_id = row_str(row, 0);
    a->is_child = row_str(row, 2).len;
    a->is_attended = row_int(row, 3);
    a->project_state_id = row_str(row, 4);
    if (row_str(row, 5).len) {
        const struct json *task;
        TRY(stored_parse_as(tx, THING("session", a->session_id), row_str(row, 5), JSON_OBJECT,
                            &task));
        a->records_by = json_str(task, "tool");
    }
    if (!a->pointers && row_str(row, 1).len)
        return pointers_read(tx, a->session_id, row_str(row, 1), &a->pointers, &a->pointer_count);
    return NULL;
}

static err actor_of(struct tx *tx, const struct token *t, struct actor *out)
{
    const struct json *scope;
    TRY(stored_parse(tx, THING("token", t->id), t->scope, &scope));
    const struct json *pointers = json_get(scope, "pointers"), *reads = json_get(scope, "reads"),
                      *jobs = json_get(scope, "jobs");

    *out = (struct actor){
        .kind = t->kind,
        .name = t->name,
        .token_id = t->id,
        .session_id = json_str(scope, "session_id"),
        .run_id = json_str(scope, "run_id"),
        .state_id = json_str(scope, "state_id"),
        .is_page = json_bool_or(scope, "page", false),
    };
    if (pointers)
        TRY(stored_texts(tx, THING("token", t->id), pointers, &out->pointers, &out->pointer_count));
    if (reads)
        TRY(stored_texts(tx, THING("token", t->id), reads, &out->reads, &out->read_count));
    if (jobs)
        TRY(stored_texts(tx, THING("token", t->id), jobs, &out->jobs, &out->job_count));
    return t->kind == ACTOR_SESSION ? session_apply(tx, out) : NULL;
}

/* Whether it is the text of one that is good. */
static err token_find(struct tx *tx, str text, struct token *token, bool *found)
{
    const struct row *row;
    str id, secret;

    str_cut(text, '.', &id, &secret);
    TRY(sql_one(tx->sql, &row, "SELECT " TOKEN_NAMES " FROM token WHERE token_id = $1",
                ARGS(TEXT(id))));
    if (row)
        COLUMNS_READ(TOKEN_COLUMNS, tx, row, "token", token);
    *found = row && digest_equal(token->hash, hash_of(tx->arena, text)) && !token->revoked_at_ms &&
             (!token->expires_at_ms || token->expires_at_ms > tx->now_ms);
    return NULL;
}

err token_actor(struct tx *tx, str text, struct token *token, struct actor *out)
{
    bool found;

    TRY(token_find(tx, text, token, &found));
    if (!found || token->kind == ACTOR_CODE)
        return err_new(tx->arena, ERR_UNAUTHENTICATED,
                       "this token is not known, or not valid any more: ask the operator for one");
    return actor_of(tx, token, out);
}

/* ---- codes ---- */

err token_code(struct tx *tx, enum actor_kind kind, str name, int64_t valid_ms,
               int64_t expires_in_ms, struct token *out, str *text)
{
    struct json scope = json_object();

    assert((kind == ACTOR_OPERATOR || kind == ACTOR_VIEWER) && valid_ms > 0 && expires_in_ms > 0);
    json_put(tx->arena, &scope, STR("kind"), json_string(str_from(actor_kind_name(kind))));
    json_put(tx->arena, &scope, STR("expires_in_ms"), json_int(tx->arena, expires_in_ms));
    return token_create(tx, ACTOR_CODE, name, &scope, valid_ms, out, text);
}

err token_exchange(struct tx *tx, str code, struct token *out, str *text)
{
    struct json scope = json_object();
    const struct json *asked;
    enum actor_kind kind;
    struct token used;
    bool found;

    TRY(token_find(tx, code, &used, &found));
    if (!found || used.kind != ACTOR_CODE)
        return err_new(tx->arena, ERR_UNAUTHENTICATED,
                       "this code is not known, was used, or its time is over: baton open gives "
                       "another one");
    TRY(sql_exec(tx->sql, "UPDATE token SET revoked_at = $2 WHERE token_id = $1",
                 ARGS(TEXT(used.id), INT(tx->now_ms))));
    TRY(stored_parse(tx, THING("token", used.id), used.scope, &asked));
    kind = str_eq(json_str(asked, "kind"), STR("operator")) ? ACTOR_OPERATOR : ACTOR_VIEWER;
    json_put(tx->arena, &scope, STR("page"), json_bool(true));
    return token_create(tx, kind, used.name, &scope, json_int_or(asked, "expires_in_ms", 1), out,
                        text);
}

err token_stands_for(struct tx *tx, str session_id, bool *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT 1 FROM token WHERE session_id = $1 AND session_id <> '' AND revoked_at = 0"
                " AND kind = $2 AND (expires_at = 0 OR expires_at > $3) LIMIT 1",
                ARGS(TEXT(session_id), INT(ACTOR_SESSION), INT(tx->now_ms))));
    *out = row;
    return NULL;
}

err token_revoke(struct tx *tx, str id)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT revoked_at FROM token WHERE token_id = $1", ARGS(TEXT(id))));
    if (!row)
        return err_new(tx->arena, ERR_NOT_FOUND, "there is no token " STR_FMT, STR_ARG(id));
    if (row_int(row, 0))
        return NULL;
    TRY(sql_exec(tx->sql, "UPDATE token SET revoked_at = $2 WHERE token_id = $1",
                 ARGS(TEXT(id), INT(tx->now_ms))));
    return event_emit(tx, (struct event){ .type = EVENT_TOKEN_REVOKED, .subject = id }, NULL);
}

err token_revoke_session(struct tx *tx, str session_id)
{
    const struct row *rows;
    size_t count;

    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT token_id FROM token WHERE session_id = $1 AND session_id <> ''"
                " AND revoked_at = 0 ORDER BY token_id",
                ARGS(TEXT(session_id))));
    for (size_t i = 0; i < count; i++)
        TRY(token_revoke(tx, row_str(&rows[i], 0)));
    return NULL;
}

/* ---- leases ---- */

#define IS_VALID "revoked_at = 0 AND (expires_at = 0 OR expires_at > $2)"

err token_lease(struct tx *tx, str id, int64_t lease_ms)
{
    const struct row *row;

    assert(lease_ms > 0);
    TRY(sql_one(tx->sql, &row, "SELECT 1 FROM token WHERE token_id = $1 AND " IS_VALID,
                ARGS(TEXT(id), INT(tx->now_ms))));
    if (!row)
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "there is no token " STR_FMT " that is valid: mint another", STR_ARG(id));
    return due_add(tx, tx->now_ms + lease_ms, DUE_TOKEN_LEASE, id, lease_ms);
}

err token_lease_all(struct tx *tx)
{
    return sql_exec(tx->sql, "UPDATE due SET at = $1 + abs(arg) WHERE kind = 'token_lease'",
                    ARGS(INT(tx->now_ms)));
}

err token_holder(struct tx *tx, str id, bool *valid, str *session_id, int64_t *others)
{
    const struct row *row;

    *valid = false;
    *session_id = STR("");
    *others = 0;
    TRY(sql_one(tx->sql, &row,
                "SELECT session_id, CASE WHEN " IS_VALID " THEN 1 ELSE 0 END FROM token"
                " WHERE token_id = $1",
                ARGS(TEXT(id), INT(tx->now_ms))));
    if (!row)
        return NULL;
    *session_id = row_str(row, 0);
    *valid = row_int(row, 1) != 0;
    TRY(sql_one(tx->sql, &row,
                "SELECT count(*) FROM token WHERE session_id = $1 AND session_id <> ''"
                " AND token_id <> $3 AND " IS_VALID,
                ARGS(TEXT(*session_id), INT(tx->now_ms), TEXT(id))));
    assert(row);
    *others = row_int(row, 0);
    return NULL;
}

/* Two statements, since each has an index of its own. */
err token_forget(struct tx *tx, int64_t before_ms, int64_t limit, int64_t *count)
{
    const struct row *rows;
    size_t revoked, expired;

    TRY(sql_all(tx->sql, &rows, &revoked,
                "DELETE FROM token WHERE token_id IN"
                " (SELECT token_id FROM token WHERE revoked_at > 0 AND revoked_at < $1"
                "   ORDER BY revoked_at LIMIT $2) RETURNING token_id",
                ARGS(INT(before_ms), INT(limit))));
    TRY(sql_all(tx->sql, &rows, &expired,
                "DELETE FROM token WHERE token_id IN"
                " (SELECT token_id FROM token WHERE expires_at > 0 AND expires_at < $1"
                "   ORDER BY expires_at LIMIT $2) RETURNING token_id",
                ARGS(INT(before_ms), INT(limit - (int64_t)revoked))));
    *count = (int64_t)(revoked + expired);
    assert(*count <= limit);
    return NULL;
}

err token_list(struct tx *tx, str after, int64_t limit, const struct token **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " TOKEN_NAMES " FROM token WHERE token_id > $1"
                " ORDER BY token_id LIMIT $2",
                ARGS(TEXT(after), INT(limit))));
    struct token *all = ARENA_ARRAY(tx->arena, struct token, *count);
    for (size_t i = 0; i < *count; i++)
        COLUMNS_READ(TOKEN_COLUMNS, tx, &rows[i], "token", (&all[i]));
    *out = all;
    return NULL;
}

/* ---- reach ---- */

bool actor_sees(const struct actor *a, str state_id)
{
    bool all = a->kind != ACTOR_SESSION && !a->state_id.len;

    return a->kind != ACTOR_RUNNER && (all || str_eq(a->state_id, state_id));
}

bool actor_reads(const struct actor *a, str state_id)
{
    if (a->project_state_id.len && str_eq(a->project_state_id, state_id))
        return true;
    for (size_t i = 0; i < a->read_count; i++)
        if (str_eq(a->reads[i], state_id))
            return true;
    return actor_sees(a, state_id);
}

bool actor_works(const struct actor *a, str type)
{
    if (a->kind == ACTOR_OPERATOR || a->kind == ACTOR_SYSTEM)
        return true;
    for (size_t i = 0; i < a->job_count; i++) {
        str named = a->jobs[i];
        if (str_eq(named, type) ||
            (str_ends(named, STR("*")) && str_starts(type, str_slice(named, 0, named.len - 1))))
            return true;
    }
    return false;
}

bool actor_may_write(const struct actor *a, str pointer)
{
    if (!a->pointers)
        return true;
    for (size_t i = 0; i < a->pointer_count; i++) {
        str granted = a->pointers[i];
        if (str_starts(pointer, granted) &&
            (pointer.len == granted.len || pointer.at[granted.len] == '/'))
            return true;
    }
    return false;
}
