/* states_write.c: operations that write states. */
#include "base/utf8.h"
#include "core/session.h"
#include "ops/states.h"
#include "ops/write.h"

/* ---- answers ---- */

static void add_dropped(struct buf *out, const struct state_dropped *dropped)
{
    size_t shown = dropped->count < STATE_DROPPED_SHOWN ? dropped->count : STATE_DROPPED_SHOWN;
    struct json_writer w = json_writer_to(out);

    buf_add(out, STR(",\"dropped\":"));
    json_write_begin(&w, '{');
    write_int(&w, STR("count"), (int64_t)dropped->count);
    write_begin(&w, STR("pointers"), '[');
    for (size_t i = 0; i < shown; i++)
        json_write_str(&w, dropped->pointers[i]);
    json_write_end(&w, ']');
    json_write_end(&w, '}');
}

/* After a write its author is told the version, and the data only on request; but readers are
 * shown all of it from now on. Both begin alike, which is printed once. `dropped` may be NULL. */
static err write_written(struct tx *tx, const struct input *in, struct answer *out,
                         const struct state *s, const struct state_dropped *dropped)
{
    struct buf shown = buf_in(tx->arena), told = buf_in(tx->arena);
    struct json_writer w = json_writer_to(&shown);

    buf_reserve(&shown, s->body.len + 512);
    write_state_head(&w, s, s->version);
    size_t head = shown.len;
    write_printed(&w, STR("current_data"), s->body);
    size_t all = shown.len;
    json_write_end(&w, '}');

    buf_add(&told, (str){ shown.at, input_bool(in, "representation", false) ? all : head });
    if (dropped && dropped->count)
        add_dropped(&told, dropped);
    if (s->unchanged)
        buf_add(&told, STR(",\"unchanged\":true"));
    buf_byte(&told, '}');
    json_write_printed(&out->json, buf_str(&told));
    out->version = s->version;
    out->shown_id = s->id;
    out->shown = buf_str(&shown);
    return NULL;
}

/* ---- handlers ---- */

/* Who wants a version of what stays as it is says so. */
static err touch_if_asked(struct tx *tx, const struct input *in, struct state *s)
{
    return s->unchanged && input_bool(in, "touch", false) ? state_touch(tx, s) : NULL;
}

err state_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct schema_version schema;
    struct state s;

    TRY(schema_find(tx, input_str(in, "schema_name"), input_int(in, "schema_version", 0), &schema));
    TRY(session_state_create(tx, &schema, input_json(in, "initial_data"),
                             input_str(in, "root_session"), &s));
    out->created = true;
    return write_written(tx, in, out, &s, NULL);
}

/* Who reads only so many characters at once has not seen all of a document that has more, unless it
 * says which version it has read. */
static err unseen_check(struct tx *tx, const struct input *in)
{
    int64_t most = input_int(in, "max_chars", 0);
    struct state s;

    if (!most || input_json(in, "expected_version"))
        return NULL;
    TRY(state_get(tx, input_str(in, "state_id"), &s));
    size_t chars = utf8_length(s.body);
    if (chars <= (size_t)most)
        return NULL;
    err e = err_new(tx->arena, ERR_CONFLICT,
                    "state " STR_FMT " has %zu characters, of which at most %lld are read at once: "
                    "what is left out of the new document would be lost. Change parts of it with a "
                    "patch; or read all of it and say so with expected_version %lld",
                    STR_ARG(s.id), chars, (long long)most, (long long)s.version);
    return err_with(tx->arena, e,
                    arena_printf(tx->arena, "\"current_version\":%lld", (long long)s.version));
}

err state_update_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct state_dropped dropped;
    struct state s;

    TRY(unseen_check(tx, in));
    TRY(state_replace(tx, input_str(in, "state_id"), input_json(in, "data"),
                      input_int(in, "expected_version", 0), &s, &dropped));
    TRY(touch_if_asked(tx, in, &s));
    return write_written(tx, in, out, &s, &dropped);
}

err state_patch_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct json *merge = input_json(in, "merge");
    int64_t expected = input_int(in, "expected_version", 0);
    str id = input_str(in, "state_id");
    struct state s;

    TRY(merge ? state_merge(tx, id, merge, expected, &s)
              : state_patch(tx, id, input_json(in, "operations"), expected, &s));
    TRY(touch_if_asked(tx, in, &s));
    return write_written(tx, in, out, &s, NULL);
}

err state_rollback_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct state s;

    TRY(state_rollback(tx, input_str(in, "state_id"), input_int(in, "version", 0),
                       input_int(in, "expected_version", 0), &s));
    return write_written(tx, in, out, &s, NULL);
}

err state_delete_op(struct tx *tx, const struct input *in, struct answer *out)
{
    out->empty = true;
    return session_state_delete(tx, input_str(in, "state_id"),
                                input_int(in, "expected_version", 0));
}

/* ---- migrating ---- */

/* The violations of an error; one that has none is one itself. */
static err write_errors(struct tx *tx, struct json_writer *w, err unfit)
{
    const struct json *members = NULL;

    json_write_name(w, STR("errors"));
    if (unfit)
        TRY(json_parse_own(tx->arena,
                           arena_printf(tx->arena, "{" STR_FMT "}", STR_ARG(unfit->members)),
                           &members));
    if (json_get(members, "errors")) {
        json_write_value(w, json_get(members, "errors"));
        return NULL;
    }
    json_write_begin(w, '[');
    if (unfit) {
        json_write_begin(w, '{');
        write_text(w, STR("pointer"), STR(""));
        write_text(w, STR("keyword"), STR(""));
        write_text(w, STR("message"), unfit->message);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    return NULL;
}

static err migrate_try(struct tx *tx, str id, const struct state_migration *m, struct answer *out)
{
    struct state_trial trial;

    TRY(state_migrate_try(tx, id, m, &trial));
    write_state_head(&out->json, &trial.state, trial.state.version);
    write_bool(&out->json, STR("valid"), !trial.unfit);
    TRY(write_errors(tx, &out->json, trial.unfit));
    write_value(&out->json, STR("would_be"), &trial.doc);
    json_write_end(&out->json, '}');
    return NULL;
}

err state_migrate_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct state_migration m = { .schema_version = input_int(in, "schema_version", 0),
                                 .expected = input_int(in, "expected_version", 0),
                                 .operations = input_json(in, "operations") };
    struct state s;

    if (input_bool(in, "dry_run", false))
        return migrate_try(tx, input_str(in, "state_id"), &m, out);
    TRY(state_migrate(tx, input_str(in, "state_id"), &m, &s));
    return write_written(tx, in, out, &s, NULL);
}
