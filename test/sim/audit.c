/* audit.c: every row of the database beside what the model says of it.
 *
 * Statements go to the functions below the macros of sql.h: the list of all texts is that of the
 * program. */
#include "json/schema/schema.h"
#include "json_help.h"
#include "sim/model.h"
#include "sim/rows.h"

static const struct json *parsed(struct arena *a, str text)
{
    return json_parsed(a, text);
}

static void same_doc(struct arena *a, str stored, const struct json *doc, int64_t seq)
{
    if (!json_equal(parsed(a, stored), doc))
        check_fail(__FILE__, __LINE__, "event %lld: stored " STR_FMT ", told " STR_FMT,
                   (long long)seq, STR_ARG(stored), STR_ARG(json_printed(a, doc)));
}

/* ---- the log ---- */

/* From the floor on nothing is missing; below it what is no history any more may be. */
static void missing_check(const struct model *m, int64_t seq, int64_t floor)
{
    const struct model_event *e = &m->events[seq - 1];
    bool history = e->state && !e->state->deleted && !model_outgrown(m, e->state, e->version);

    if (seq >= floor || history)
        check_fail(__FILE__, __LINE__,
                   "event %lld was published and is not in the log, whose floor is %lld: " STR_FMT,
                   (long long)seq, (long long)floor, STR_ARG(e->message));
}

/* The floor has passed nothing that is new. */
static int64_t floor_audit(const struct model *m, struct sql *sql)
{
    const struct row *row;

    CHECK_OK(sql_one_(sql, &row, "SELECT floor FROM replay", NO_ARGS));
    int64_t floor = row_int(row, 0);
    CHECK(floor == 1 || floor <= m->seq - m->retention->events + 1);
    CHECK(floor == 1 ||
          m->now_ms - m->events[floor - 2].time_ms >= m->retention->events_ms - MODEL_MARGIN_MS);
    return floor;
}

enum { SEQ, TYPE, SUBJECT, VERSION, PREV_SEQ, SNAP_SEQ, BODY };

static void version_row_check(const struct model *m, struct arena *a, const struct row *r,
                              const struct model_state *s)
{
    int64_t seq = row_int(r, SEQ), version = row_int(r, VERSION);
    const struct model_version *v = &s->versions[version - 1];

    CHECK(version >= 1 && version <= s->version);
    if (str_eq(row_str(r, TYPE), STR("workflow_state_deleted"))) {
        CHECK_INT(row_int(r, PREV_SEQ), v->seq);
        return;
    }
    CHECK_INT(seq, v->seq);
    /* Below what was dropped, a version that stays is linked to the one that stayed before it. */
    if (version % m->retention->versions_step != 0 || version > s->version - m->retention->versions)
        CHECK_INT(row_int(r, PREV_SEQ), version > 1 ? v[-1].seq : 0);
    CHECK(row_int(r, PREV_SEQ) < seq);
    CHECK(row_int(r, SNAP_SEQ) >= s->versions[0].seq && row_int(r, SNAP_SEQ) <= seq);
    CHECK(m->events[row_int(r, SNAP_SEQ) - 1].state == s);
    CHECK((row_int(r, SNAP_SEQ) == seq) == !row_null(r, BODY));
    if (!row_null(r, BODY))
        same_doc(a, row_str(r, BODY), &v->doc, seq);
}

static void log_audit(const struct model *m, struct sql *sql, struct arena *a)
{
    const struct row *rows;
    size_t count;
    int64_t next = 1, floor = floor_audit(m, sql);

    CHECK_OK(sql_all_(sql, &rows, &count,
                      "SELECT seq, type, subject, version, prev_seq, snap_seq, body FROM log"
                      " ORDER BY seq",
                      NO_ARGS));
    for (size_t i = 0; i < count; i++) {
        int64_t seq = row_int(&rows[i], SEQ);
        CHECK(seq <= m->seq); /* or nobody was told of it */
        for (; next < seq; next++)
            missing_check(m, next, floor);
        next = seq + 1;
        const struct model_event *e = &m->events[seq - 1];
        CHECK(str_eq(row_str(&rows[i], TYPE), e->type));
        CHECK(str_eq(row_str(&rows[i], SUBJECT), e->subject));
        if (e->state)
            version_row_check(m, a, &rows[i], e->state);
    }
    for (; next <= m->seq; next++)
        missing_check(m, next, floor);
}

/* ---- the other tables ---- */

static void state_row_check(const struct model *m, struct arena *a, const struct row *r)
{
    const struct model_state *s = model_state(m, row_str(r, 0));

    CHECK(s && !s->deleted && s->schema);
    CHECK(str_eq(row_str(r, 1), s->schema->id));
    CHECK_INT(row_int(r, 2), s->version);
    CHECK_INT(row_int(r, 3), s->versions[s->version - 1].seq);
    same_doc(a, row_str(r, 4), &s->versions[s->version - 1].doc, row_int(r, 3));
    CHECK(schema_check(s->schema->program, parsed(a, row_str(r, 4))) == SCHEMA_FITS);
}

static void states_audit(const struct model *m, struct sql *sql, struct arena *a)
{
    const struct row *rows;
    size_t count, live = 0;

    CHECK_OK(sql_all_(sql, &rows, &count,
                      "SELECT state_id, schema_id, version, last_seq, body FROM state", NO_ARGS));
    for (size_t i = 0; i < count; i++)
        state_row_check(m, a, &rows[i]);
    for (uint32_t i = 0; i < m->states.count; i++)
        live += !((struct model_state *)m->states.entries[i].value)->deleted;
    CHECK_INT(count, live);
}

static void schemas_audit(const struct model *m, struct sql *sql)
{
    const struct row *rows;
    size_t count, total = 0;

    CHECK_OK(sql_all_(sql, &rows, &count,
                      "SELECT min(version), max(version), count(*) FROM schema GROUP BY name",
                      NO_ARGS));
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(row_int(&rows[i], 0), 1);
        CHECK_INT(row_int(&rows[i], 1), row_int(&rows[i], 2));
        total += (size_t)row_int(&rows[i], 2);
    }
    CHECK_INT(total, m->schema_count);
}

/* Exactly the keys of applied requests are there; old ones may have been forgotten. */
static void keys_audit(const struct model *m, struct sql *sql, struct arena *a)
{
    const struct row *rows;
    size_t count, promised = 0, young = 0;

    CHECK_OK(sql_all_(sql, &rows, &count, "SELECT actor, key FROM idempotency", NO_ARGS));
    for (size_t i = 0; i < count; i++) {
        str name = arena_printf(a, STR_FMT "\n" STR_FMT, STR_ARG(row_str(&rows[i], 0)),
                                STR_ARG(row_str(&rows[i], 1)));
        const struct model_key *k = map_get(&m->keys, name);
        if (!k)
            check_fail(__FILE__, __LINE__, "a key of no answered request is kept: " STR_FMT,
                       STR_ARG(name));
        young += model_key_promised(m, k);
    }
    for (uint32_t i = 0; i < m->keys.count; i++)
        promised += model_key_promised(m, m->keys.entries[i].value);
    CHECK_INT(young, promised);
}

/* What the program itself says that holds in every database. */
void model_audit(const struct model *m, struct world *w)
{
    struct arena *a = arena_new();
    struct engine *reader;
    struct store_node node;

    CHECK_OK(world_reader(w, &reader));
    CHECK_OK(store_begin(reader->sql, a, &node));
    CHECK_INT(node.seq, m->seq);
    log_audit(m, reader->sql, a);
    states_audit(m, reader->sql, a);
    schemas_audit(m, reader->sql);
    keys_audit(m, reader->sql, a);
    sql_audit(reader->sql, a);
    store_rollback(reader->sql);
    arena_free(a);
}

void world_digest(struct world *w, unsigned char out[SHA256_BYTES])
{
    struct engine *reader;

    CHECK_OK(world_reader(w, &reader));
    rows_digest(reader->sql, out);
}
