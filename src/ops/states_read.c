/* states_read.c: operations that read states. */
#include "base/utf8.h"
#include "core/blame.h"
#include "core/session.h"
#include "json/pointer.h"
#include "ops/truncate.h"
#include "ops/page.h"
#include "ops/states.h"
#include "ops/write.h"

void write_state_head(struct json_writer *w, const struct state *s, int64_t version)
{
    json_write_begin(w, '{');
    write_text(w, STR("state_id"), s->id);
    write_text(w, STR("schema_id"), s->schema_id);
    write_text(w, STR("schema_name"), s->schema_name);
    write_int(w, STR("schema_version"), s->schema_version);
    write_or_null(w, STR("root_session_id"), s->root_session);
    write_or_null(w, STR("root_session_name"), s->root_name);
    write_int(w, STR("version"), version);
    write_time(w, STR("created_at"), s->created_at_ms);
    write_time(w, STR("updated_at"), s->updated_at_ms);
}

/* ---- many ---- */

/* A session may be called by its name; what is not known is a label, and stays it. */
static err root_find(struct tx *tx, str wanted, str *out)
{
    struct session s;
    bool known = false;

    if (wanted.len)
        TRY(session_find(tx, wanted, &s, &known));
    *out = known ? s.id : wanted;
    return NULL;
}

err state_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct state_filter filter = { .after = input_str(in, "after"),
                                   .schema_name = input_str(in, "schema"),
                                   .active = input_bool(in, "active", false),
                                   .limit = page_rows(in) };
    const struct state *all;
    size_t count;

    TRY(root_find(tx, input_str(in, "root_session"), &filter.root_session));
    TRY(state_list(tx, &filter, &all, &count));
    size_t shown = page_begin(in, out, STR("states"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++) {
        write_state_head(&out->json, &all[i], all[i].version);
        json_write_end(&out->json, '}');
    }
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

/* ---- one ---- */

enum { MATCHES_MAX = 100000 }; /* fewer than this fill an answer, however short each is */

static err write_matches(struct tx *tx, struct json_writer *w, const struct json *doc, str query,
                         size_t chars_max)
{
    const struct json_path *path;
    struct json_matches found;

    TRY(json_path_compile(tx->arena, query, &path));
    TRY(json_path_run_most(tx->arena, path, doc, MATCHES_MAX, &found));
    write_truncated_matches(tx->arena, w, &found, chars_max);
    return NULL;
}

static err write_value_at(struct tx *tx, struct json_writer *w, const struct json *doc, str pointer,
                          size_t chars_max)
{
    const struct json *value;

    TRY(json_pointer_get(tx->arena, doc, pointer, &value));
    write_text(w, STR("pointer"), pointer);
    write_truncated_value(tx->arena, w, STR("value"), pointer, value, chars_max);
    return NULL;
}

/* A version, or what was asked for of it. */
static err write_version(struct tx *tx, struct json_writer *w, const struct state *s,
                         int64_t version, const struct input *in, size_t chars_max)
{
    struct json doc;

    TRY(state_at(tx, s, version, &doc));
    if (input_json(in, "query"))
        return write_matches(tx, w, &doc, input_str(in, "query"), chars_max);
    if (input_json(in, "pointer"))
        return write_value_at(tx, w, &doc, input_str(in, "pointer"), chars_max);
    write_truncated_value(tx->arena, w, STR("current_data"), STR(""), &doc, chars_max);
    return NULL;
}

static err write_since(struct tx *tx, struct json_writer *w, const struct state *s, int64_t from,
                       size_t chars_max)
{
    struct json patch;

    TRY(state_diff(tx, s, from, s->version, &patch));
    write_int(w, STR("from_version"), from);
    write_truncated_patch(tx->arena, w, &patch, chars_max);
    return NULL;
}

/* Fields that ask for different things, of which one can be answered. */
static err choice_check(struct tx *tx, const struct input *in)
{
    static const char *const pairs[][2] = { { "query", "pointer" },
                                            { "since_version", "pointer" },
                                            { "since_version", "query" },
                                            { "since_version", "version" },
                                            { "wait_version", "version" } };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (input_json(in, pairs[i][0]) && input_json(in, pairs[i][1]))
            return err_new(tx->arena, ERR_INVALID, "expected %s or %s, found both", pairs[i][0],
                           pairs[i][1]);
    return NULL;
}

/* Whether to wait for a version. The body is not looked at: who waits would keep it meanwhile. */
static err wait_for_version(struct tx *tx, const struct input *in, struct answer *out)
{
    struct state s;

    if (in->wait_over || !input_json(in, "wait_version"))
        return NULL;
    TRY(state_head(tx, input_str(in, "state_id"), &s));
    if (s.version >= input_int(in, "wait_version", 0))
        return NULL;
    out->waits = true;
    out->wait_subject = s.id;
    out->wait_seq = s.last_seq;
    out->wait_until_ms = tx->now_ms + input_int(in, "timeout", 30) * 1000;
    return NULL;
}

err state_read_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct state s;

    TRY(choice_check(tx, in));
    TRY(wait_for_version(tx, in, out));
    if (out->waits)
        return NULL;
    TRY(state_get(tx, input_str(in, "state_id"), &s));
    int64_t version = input_int(in, "version", s.version),
            since = input_int(in, "since_version", 0);
    size_t chars_max = input_json(in, "max_chars") ? (size_t)input_int(in, "max_chars", 0)
                                                   : TRUNCATE_NONE;
    bool part = since || input_json(in, "pointer") || input_json(in, "query");
    bool whole = !part && version == s.version &&
                 (s.body.len <= chars_max || utf8_length(s.body) <= chars_max);
    out->version = version;
    write_state_head(w, &s, version);
    if (since) {
        TRY(write_since(tx, w, &s, since, chars_max));
    } else if (!whole) {
        TRY(write_version(tx, w, &s, version, in, chars_max));
    } else {
        write_stored(tx, w, STR("current_data"), THING("state", s.id), s.body);
        out->shown_id = s.id;
    }
    json_write_end(w, '}');
    return NULL;
}

err state_schema_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct schema_version schema;
    struct state s;

    TRY(state_get(tx, input_str(in, "state_id"), &s));
    TRY(schema_by_id(tx, s.schema_id, &schema));
    write_schema(tx, &out->json, &schema, true);
    return NULL;
}

/* ---- its past ---- */

/* Who made a version, and when. */
static void write_author(struct json_writer *w, const struct event *row)
{
    write_time(w, STR("time"), row->time_ms);
    write_text(w, STR("actor"), row->actor);
    write_or_null(w, STR("session_id"), row->session_id);
}

void write_first_patch(struct json_writer *w, str body)
{
    json_write_begin(w, '[');
    json_write_begin(w, '{');
    write_text(w, STR("op"), STR("add"));
    write_text(w, STR("path"), STR(""));
    write_printed(w, STR("value"), body);
    json_write_end(w, '}');
    json_write_end(w, ']');
}

static void write_patch_of(struct tx *tx, struct json_writer *w, const struct event *row)
{
    if (!stored_is_json(tx, THING("state", row->subject), row->data.len ? row->data : row->body))
        return;
    json_write_name(w, STR("patch"));
    if (row->data.len)
        json_write_printed(w, row->data);
    else
        write_first_patch(w, row->body);
}

err state_history_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    const struct event *rows;
    struct state s;
    size_t count;
    bool cut;

    TRY(state_get(tx, input_str(in, "state_id"), &s));
    TRY(state_history(tx, &s, input_int(in, "after", 0), page_rows(in), &rows, &count, &cut));
    size_t shown = page_begin(in, out, STR("versions"), cut ? count - 1 : count);
    for (size_t i = 0; page_row(out, i, &shown); i++) {
        json_write_begin(w, '{');
        write_int(w, STR("version"), rows[i].version);
        write_int(w, STR("seq"), rows[i].seq);
        write_text(w, STR("type"), str_from(event_name(rows[i].type)));
        if (rows[i].type == EVENT_STATE_UPDATED && str_eq(rows[i].data, STR("[]")))
            write_bool(w, STR("touch"), true);
        write_author(w, &rows[i]);
        write_patch_of(tx, w, &rows[i]);
        json_write_end(w, '}');
    }
    page_end_number(tx, out, shown < count ? rows[shown - 1].version : 0);
    return NULL;
}

err state_diff_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct json patch;
    struct state s;

    TRY(state_get(tx, input_str(in, "state_id"), &s));
    int64_t from = input_int(in, "from", 0), to = input_int(in, "to", s.version);
    TRY(state_diff(tx, &s, from, to, &patch));
    json_write_begin(w, '{');
    write_text(w, STR("state_id"), s.id);
    write_int(w, STR("from"), from);
    write_int(w, STR("to"), to);
    write_value(w, STR("patch"), &patch);
    json_write_end(w, '}');
    return NULL;
}

static void write_blame(struct json_writer *w, const struct blame *b)
{
    json_write_begin(w, '{');
    write_text(w, STR("pointer"), b->pointer);
    if (b->by) {
        write_int(w, STR("version"), b->by->version);
        write_author(w, b->by);
    } else {
        write_null(w, STR("version"));
        write_int(w, STR("before"), b->before);
    }
    json_write_end(w, '}');
}

err state_blame_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    const struct blame *all;
    struct state s;
    size_t count;
    bool cut;

    TRY(state_get(tx, input_str(in, "state_id"), &s));
    TRY(state_blame(tx, &s, input_str(in, "pointer"), &all, &count, &cut));
    out->version = s.version;
    json_write_begin(w, '{');
    write_text(w, STR("state_id"), s.id);
    write_int(w, STR("version"), s.version);
    write_begin(w, STR("entries"), '[');
    for (size_t i = 0; i < count; i++)
        write_blame(w, &all[i]);
    json_write_end(w, ']');
    write_bool(w, STR("truncated"), cut);
    json_write_end(w, '}');
    return NULL;
}
