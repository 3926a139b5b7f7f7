/* states.c: operations on states, and their table. */
#include "ops/states.h"

#include "base/utf8.h"
#include "core/blame.h"
#include "core/session.h"
#include "core/team.h"
#include "json/pointer.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/truncate.h"
#include "ops/write.h"

void write_state_head(struct json_writer *w, const struct state *s, int64_t version)
{
    json_write_begin(w, '{');
    write_text(w, STR("state_id"), s->id);
    write_or_null(w, STR("name"), s->name);
    write_text(w, STR("schema_id"), s->schema_id);
    write_text(w, STR("schema_name"), s->schema_name);
    write_int(w, STR("schema_version"), s->schema_version);
    write_or_null(w, STR("root_session_id"), s->root_session);
    write_or_null(w, STR("root_session_name"), s->root_name);
    write_int(w, STR("version"), version);
    write_time(w, STR("created_at"), s->created_at_ms);
    write_time(w, STR("updated_at"), s->updated_at_ms);
}

/* Once a document is that large, who reads or writes it is told before it is refused for it. */
static err write_warning(struct tx *tx, struct json_writer *w, const struct state *s)
{
    const struct schema_rules *rules;

    if ((int64_t)s->body.len < team_rules_of(tx)->state_warn_bytes)
        return NULL;
    TRY(schema_rules(tx, s->schema_id, &rules));
    write_text(
        w, STR("warning"),
        arena_printf(tx->arena,
                     "this state has %zu bytes, of which every reader pays for each; at %u a "
                     "write is refused: remove what nobody needs any more, keep large texts "
                     "in files and their paths here, and read parts by pointer",
                     s->body.len, (unsigned)rules->policy.state_bytes_max));
    return NULL;
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

static err state_list_op(struct tx *tx, const struct input *in, struct answer *out)
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
        write_text(&out->json, STR("schema_description"), all[i].schema_description);
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

static err state_read_op(struct tx *tx, const struct input *in, struct answer *out)
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
    TRY(write_warning(tx, w, &s));
    if (since) {
        TRY(write_since(tx, w, &s, since, chars_max));
    } else if (!whole) {
        TRY(write_version(tx, w, &s, version, in, chars_max));
    } else {
        write_stored(tx, w, STR("current_data"), THING("state", s.id), s.body);
        out->cached_id = s.id;
    }
    json_write_end(w, '}');
    return NULL;
}

static err state_schema_op(struct tx *tx, const struct input *in, struct answer *out)
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

static err state_history_op(struct tx *tx, const struct input *in, struct answer *out)
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

static err state_diff_op(struct tx *tx, const struct input *in, struct answer *out)
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

static err state_blame_op(struct tx *tx, const struct input *in, struct answer *out)
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
    TRY(write_warning(tx, &w, s));
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
    out->cached_id = s->id;
    out->cached = buf_str(&shown);
    return NULL;
}

/* ---- handlers ---- */

/* Who wants a version of what stays as it is says so. */
static err touch_if_asked(struct tx *tx, const struct input *in, struct state *s)
{
    return s->unchanged && input_bool(in, "touch", false) ? state_touch(tx, s) : NULL;
}

static err state_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct schema_version schema;
    struct state s;

    if (input_json(in, "name") && tx->actor->kind == ACTOR_SESSION)
        return err_new(tx->arena, ERR_FORBIDDEN,
                       "only the operator names a state: leave the name out, and use the state_id");
    TRY(schema_find(tx, input_str(in, "schema_name"), input_int(in, "schema_version", 0), &schema));
    TRY(session_state_create(tx, &schema, input_json(in, "initial_data"),
                             input_str(in, "root_session"), &s));
    if (input_str(in, "name").len)
        TRY(state_name_new(tx, &s, input_str(in, "name")));
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

static err state_update_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct state_dropped dropped;
    struct state s;

    TRY(unseen_check(tx, in));
    TRY(state_replace(tx, input_str(in, "state_id"), input_json(in, "data"),
                      input_int(in, "expected_version", 0), input_int(in, "base_version", 0), &s,
                      &dropped));
    TRY(touch_if_asked(tx, in, &s));
    return write_written(tx, in, out, &s, &dropped);
}

static err state_patch_op(struct tx *tx, const struct input *in, struct answer *out)
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

static err state_rename_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct state s;

    TRY(state_rename(tx, input_str(in, "state_id"), input_str(in, "name"), &s));
    return write_written(tx, in, out, &s, NULL);
}

static err state_rollback_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct state s;

    TRY(state_rollback(tx, input_str(in, "state_id"), input_int(in, "version", 0),
                       input_int(in, "expected_version", 0), &s));
    return write_written(tx, in, out, &s, NULL);
}

static err state_delete_op(struct tx *tx, const struct input *in, struct answer *out)
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

static err state_migrate_op(struct tx *tx, const struct input *in, struct answer *out)
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

/* ---- the table ---- */

// clang-format off

/* Fields that several operations take. */
#define STATE_ID JSON("state_id": { "type": "string", "description": "The state: its id, as state.create and state.list answer it, or its name." })
#define EXPECTED JSON("expected_version": { "type": "integer", "minimum": 1, \
    "description": "Refuse unless this version is the current one." })
#define TOUCH JSON("touch": { "type": "boolean", \
    "description": "Make a version also when nothing changes: it records on purpose that all stays as it is." })
#define REPRESENTATION JSON("representation": { "type": "boolean", \
    "description": "Answer with the whole document, too." })

/* What a write answers. */
#define UNCHANGED JSON("unchanged": { "type": "boolean", \
    "description": "True: the document was so already, so nothing was written and the version is what it was. It is not there otherwise." })
#define WRITTEN SHAPE(STATE_REQUIRED, STATE_MEMBERS "," STATE_DATA "," UNCHANGED)

#define AUTHOR JSON( \
    "time": { "type": "string", "format": "date-time", "description": "When this version was written." }, \
    "actor": { "type": "string", "description": "Who wrote it: the name of the token, which of a session is the session's." }, \
    "session_id": { "type": ["string", "null"], "description": "The session that wrote it; null: none did." })

static const struct op ops[] = {
    {
        .name = "state.list", .http = "GET /workflow-states", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "List states by id, without their data.",
        .input = FIELDS("", JSON(
            "root_session": { "type": "string", "description": "Only those that belong to this session." },
            "schema": { "type": "string", "description": "Only those bound to a version of this schema." },
            "active": { "type": "boolean", "description": "True: only those whose root session is live." }) "," PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("states"), SHAPE_LIST("states", "A page of them.", SHAPE(STATE_REQUIRED, STATE_MEMBERS "," JSON(
            "schema_description": { "type": "string", "description": "What documents of its schema are for; empty: nobody said." }))) "," PAGE_NEXT),
        .run = state_list_op,
    },
    {
        .name = "state.create", .http = "POST /workflow-states", .effect = OP_WRITES,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Create a state bound to a schema.",
        .hint = "Create the state that you will share with the agents you start: once, before starting them. They inherit it.",
        .input = FIELDS(JSON("schema_name", "initial_data"), JSON(
            "schema_name": { "type": "string", "description": "The name of a registered schema: schema.list tells which there are." },
            "initial_data": { "description": "The document; it must fit the schema." },
            "schema_version": { "type": "integer", "minimum": 1,
                "description": "The version of the schema; the newest unless it is given." },
            "root_session": { "type": "string",
                "description": "The session that it belongs to; a session's own state always belongs to itself." },
            "name": { "type": "string", "minLength": 1,
                "description": "What else requests may call it, by the operator alone: letters, digits and - _ . up to 100 of them; no other state has it." }) ","
            REPRESENTATION),
        .tier = TIER_ROOT,
        .tool_input = JSON({ "schema_name": "A registered schema", "initial_data": "Must fit the schema", "schema_version": "Default: the newest" }),
        .tool_output = JSON({ "state_id": true, "version": true, "schema_name": true, "schema_version": true }),
        .output = WRITTEN, .run = state_create_op,
    },
    {
        .name = "state.read", .http = "GET /workflow-states/{state_id}", .wait = true, .peek = true,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_READERS, .implied = "state_id",
        .summary = "Read a state: all of it, a part, an older version, or what changed since one.",
        .hint = "Read the shared state before you plan or write. Ask for a part by pointer or query if you need no more; with wait_version, wait for others to write.",
        .input = FIELDS(JSON("state_id"), STATE_ID "," JSON(
            "pointer": { "type": "string", "description": "Only the value at this JSON Pointer, like /tasks/0." },
            "query": { "type": "string", "description": "Only what this JSONPath query matches, like $.tasks[?@.status=='done']." },
            "version": { "type": "integer", "minimum": 1, "description": "The document as it was at this version; the current one unless it is given." },
            "since_version": { "type": "integer", "minimum": 1,
                "description": "Instead of the data, the JSON Patch from this version to the current one." },
            "wait_version": { "type": "integer", "minimum": 1,
                "description": "Wait until it has this version; when the time is up, answer as it is." },
            "timeout": { "type": "integer", "minimum": 0, "maximum": 60, "default": 30,
                "description": "How many seconds to wait at most." },
            "max_chars": { "type": "integer", "minimum": 1000,
                "description": "Show no more characters of the data than this: parts that do not fit are left out and listed." })),
        .tool_input = JSON({
            "pointer": "Only this part, like /tasks/0",
            "query": "Only what a JSONPath matches: $.tasks[?@.status=='open']",
            "since_version": "Only the patch since this version",
            "version": "As it was then",
            "wait_version": "Wait for this version",
            "timeout": "Seconds to wait",
            "max_chars": "Default 8000; larger parts are cut and listed",
            "state_id": "" }),
        .tool_output = JSON({ "state_id": true, "version": true, "warning": true, "current_data": true, "value": true,
            "matches": true, "patch": true, "truncated": true,
            "cut_count": true, "cut": true, "hint": true }),
        .output = SHAPE(STATE_REQUIRED, STATE_MEMBERS "," STATE_DATA "," PATCH_MEMBER "," JSON(
            "truncated": { "type": "boolean", "description": "Not all that was asked for is here: what is here is whole." },
            "cut_count": { "type": "integer", "description": "How many parts were left out." },
            "hint": { "type": "string", "description": "How to get what was left out." }) ","
            SHAPE_LIST("cut", "What was left out, as far as there is room to say it.", SHAPE(JSON("pointer", "kind", "chars"), JSON(
                "pointer": { "type": "string", "description": "Where in the document, as a JSON Pointer." },
                "kind": { "type": "string", "description": "What it is: an object, an array …; or the patch." },
                "length": { "type": "integer", "description": "How many members, elements or characters it has." },
                "chars": { "type": "integer", "description": "How many characters its text has." }))) "," JSON(
            "from_version": { "type": "integer", "description": "The version that the patch begins at." },
            "pointer": { "type": "string", "description": "The pointer that was asked for." },
            "value": { "description": "What is at the pointer that was asked for." }) ","
            SHAPE_LIST("matches", "What the query matches.", SHAPE(JSON("pointer", "value"), JSON(
                "pointer": { "type": "string", "description": "Where in the document, as a JSON Pointer." },
                "value": { "description": "What is there, whole." })))),
        .run = state_read_op,
    },
    {
        .name = "state.update", .http = "PUT /workflow-states/{state_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION, .implied = "state_id",
        .summary = "Replace a state's data; refused unless it fits the schema.",
        .hint = "Replace the whole shared state. What you leave out is gone, also what others wrote: to change a part, use state_patch.",
        .input = FIELDS(JSON("state_id", "data"), STATE_ID "," JSON(
            "data": { "description": "The new document, whole: what is not in it is gone afterwards." },
            "base_version": { "type": "integer", "minimum": 1,
                "description": "The version that the new document was made from: what others have written since then and is lost by it is told as dropped. Without it, since expected_version, or the writer's own last write." },
            "max_chars": { "type": "integer", "minimum": 1,
                "description": "Of who reads no more characters at once: without expected_version, refuse to replace a document that has more." }) ","
            EXPECTED "," TOUCH "," REPRESENTATION),
        .tool_input = JSON({ "data": "All of the new document", "expected_version": "Refuse if it is not current",
            "state_id": "" }),
        .tool_output = JSON({ "state_id": true, "version": true, "warning": true, "dropped": true, "unchanged": true }),
        .output = SHAPE(STATE_REQUIRED, STATE_MEMBERS "," STATE_DATA "," UNCHANGED "," JSON(
            "dropped": { "type": "object", "required": ["count", "pointers"],
                "description": "A warning: values that another has written since base_version (or since the writer's own last write) and that are removed or replaced by this; where the writer has not written before, or too long ago, all members that are gone.",
                "properties": {
                    "count": { "type": "integer", "description": "How many values were lost, also where not all are listed." },
                    "pointers": { "type": "array", "items": { "type": "string" },
                        "description": "Where the first 20 of them were." } } })),
        .run = state_update_op,
    },
    {
        .name = "state.patch", .http = "PATCH /workflow-states/{state_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION, .implied = "state_id",
        .bodies = { { "application/json-patch+json", "operations" },
                    { "application/merge-patch+json", "merge" } },
        .summary = "Apply a JSON Patch or a merge patch; refused unless the result fits the schema.",
        .hint = "Record your progress and results in the shared state; the rest of it stays. Append to a list with the path /list/-.",
        .input = JSON({
            "type": "object", "required": ["state_id"], "additionalProperties": false,
            "oneOf": [ { "required": ["operations"] }, { "required": ["merge"] } ],
            "properties": {
                "state_id": { "type": "string", "description": "The state: its id, as state.create and state.list answer it, or its name." },
                "operations": { "type": "array", "description": "JSON Patch operations (RFC 6902), applied all or none." },
                "merge": { "description": "A merge patch (RFC 7396): members replace those of their name, null removes." },
                "expected_version": { "type": "integer", "minimum": 1,
                    "description": "Refuse unless this version is the current one." },
                "touch": { "type": "boolean",
                    "description": "Make a version also when nothing changes: it records on purpose that all stays as it is." },
                "representation": { "type": "boolean", "description": "Answer with the whole document, too." } } }),
        .tool_input = JSON({
            "operations": "JSON Patch: [{op, path, value}], all or none",
            "merge": "Or a merge patch: null removes",
            "expected_version": "Refuse if it is not current",
            "touch": "A version though nothing changes",
            "representation": "Answer the document, too",
            "state_id": "" }),
        .tool_output = JSON({ "state_id": true, "version": true, "warning": true, "current_data": true, "unchanged": true }),
        .output = WRITTEN, .run = state_patch_op,
    },
    {
        .name = "state.delete", .http = "DELETE /workflow-states/{state_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Delete a state; its history goes with it a day later.",
        .input = FIELDS(JSON("state_id"), STATE_ID "," EXPECTED),
        .output = SHAPE("", ""), .run = state_delete_op,
    },
    {
        .name = "state.history", .http = "GET /workflow-states/{state_id}/history",
        .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "List the versions of a state, the newest first, with who wrote them, when, and the patch.",
        .input = FIELDS(JSON("state_id"), STATE_ID "," JSON(
            "after": { "type": "integer", "minimum": 1,
                "description": "Begin after this version, with the one before it: the last page's next." }) "," PAGE_LIMIT),
        .output = SHAPE(JSON("versions"), SHAPE_LIST("versions", "A page of them.",
            SHAPE(JSON("version", "seq", "type", "time", "actor", "session_id", "patch"), JSON(
                "version": { "type": "integer", "description": "The number of this version: state.read, state.diff and state.rollback take it." },
                "seq": { "type": "integer", "description": "The number of its event in the log: event.list shows it." },
                "type": { "type": "string", "description": "The type of its event: it was created, updated or migrated." },
                "touch": { "type": "boolean", "description": "True: it changed nothing, on purpose. It is not there otherwise." }) ","
                AUTHOR "," PATCH_MEMBER)) "," PAGE_NEXT_NUMBER),
        .run = state_history_op,
    },
    {
        .name = "state.diff", .http = "GET /workflow-states/{state_id}/diff",
        .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Show the patch from one version of a state to another.",
        .input = FIELDS(JSON("state_id", "from"), STATE_ID "," JSON(
            "from": { "type": "integer", "minimum": 1, "description": "The version that the patch begins at." },
            "to": { "type": "integer", "minimum": 1, "description": "The version that it leads to; the current one unless it is given." })),
        .output = SHAPE(JSON("state_id", "from", "to", "patch"), STATE_ID "," JSON(
            "from": { "type": "integer", "description": "The version that the patch begins at." },
            "to": { "type": "integer", "description": "The version that it leads to." }) "," PATCH_MEMBER),
        .run = state_diff_op,
    },
    {
        .name = "state.blame", .http = "GET /workflow-states/{state_id}/blame",
        .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Say who wrote a value, and each member or element of it, last.",
        .input = FIELDS(JSON("state_id"), STATE_ID "," JSON(
            "pointer": { "type": "string", "description": "The value, as a JSON Pointer; the whole document unless it is given." })),
        .output = SHAPE(JSON("state_id", "version", "entries", "truncated"), STATE_ID "," JSON(
            "version": { "type": "integer", "description": "The current version, which this is said of." },
            "truncated": { "type": "boolean", "description": "There are more members or elements than are shown." }) ","
            SHAPE_LIST("entries", "The value itself, then what is directly in it.", SHAPE(JSON("pointer", "version"), JSON(
                "pointer": { "type": "string", "description": "A JSON Pointer to where the value is in the current version." },
                "version": { "type": ["integer", "null"], "description": "The version that wrote it; null: it is older than the history." },
                "before": { "type": "integer", "description": "When the version is null: it was written before this one." }) ","
                AUTHOR))),
        .run = state_blame_op,
    },
    {
        .name = "state.rename", .http = "POST /workflow-states/{state_id}/name", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Give a state a name that is taken wherever its id is, another name, or none.",
        .input = FIELDS(JSON("state_id", "name"), STATE_ID "," JSON(
            "name": { "type": ["string", "null"],
                "description": "Letters, digits and - _ . up to 100 of them; null or empty: it has none any more." }) "," REPRESENTATION),
        .output = WRITTEN, .run = state_rename_op,
    },
    {
        .name = "state.rollback", .http = "POST /workflow-states/{state_id}/rollback", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Make a new version with the content of an older one, unless that is what it has.",
        .input = FIELDS(JSON("state_id", "version"), STATE_ID "," JSON(
            "version": { "type": "integer", "minimum": 1, "description": "The older version whose document comes back, as a new version." }) ","
            EXPECTED "," REPRESENTATION),
        .output = WRITTEN, .run = state_rollback_op,
    },
    {
        .name = "state.migrate", .http = "POST /workflow-states/{state_id}/migrate", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Bind a state to another version of its schema, after changing it so that it fits.",
        .input = FIELDS(JSON("state_id", "schema_version"), STATE_ID "," JSON(
            "schema_version": { "type": "integer", "minimum": 1, "description": "The version of its schema to bind it to." },
            "operations": { "type": "array", "description": "JSON Patch operations that are applied first." },
            "dry_run": { "type": "boolean", "description": "Only say whether the result would fit, and what it would be." }) ","
            EXPECTED "," REPRESENTATION),
        .output = SHAPE(STATE_REQUIRED, STATE_MEMBERS "," STATE_DATA "," JSON(
            "valid": { "type": "boolean", "description": "Of a dry run: the result would fit." },
            "would_be": { "description": "Of a dry run: the document as it would be." }) "," UNCHANGED "," ERRORS_MEMBER),
        .run = state_migrate_op,
    },
    {
        .name = "state.schema", .http = "GET /workflow-states/{state_id}/schema",
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_READERS, .implied = "state_id",
        .summary = "Show the schema that a state is bound to.",
        .hint = "Show what the shared state may hold. Use it before writing a part that you have not seen, or after a write was refused.",
        .input = FIELDS(JSON("state_id"), STATE_ID),
        .tool_input = JSON({ "state_id": "" }),
        .tool_output = JSON({ "name": true, "version": true, "json_schema": true }),
        .output = SCHEMA_SHAPE, .run = state_schema_op,
    },
};
// clang-format on

const struct op_list state_ops = { ops, sizeof ops / sizeof *ops };
