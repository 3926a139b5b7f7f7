/* json_batch.c: baton json batch: one JSON request on each line, one answer each.
 *
 * For pipes and for drivers of test suites. No input ends it: a line that is not
 * a request, or too long, is answered by {"error": …}, and the next one is read.
 * The operations are a table; what each does to JSON is in json/. */
#include "suites/suites.h"

#include "base/digest.h"
#include "base/utf8.h"
#include "json/diff.h"
#include "json/path/path.h"
#include "json/pointer.h"
#include "json/schema/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* A request wraps its documents in at most this many containers, beyond the depth they may have. */
#define ENVELOPE_DEPTH 4

#define NAME_SHOWN_MAX 60 /* bytes of a name from outside, in messages */

// clang-format off
const char json_batch_details[] =
    "Requests, and what they are answered by, or else by " JSON({"error":TEXT}) ":\n"
    "  " JSON({"op":"start","dialect":URI,"formatAssertion":BOOL,"remotes":{URI:S}}) "\n"
    "                                                " JSON({"ok":true}) "\n"
    "  " JSON({"op":"validate","schema":S,"instances":[D]}) "  " JSON({"results":[BOOL]}) "\n"
    "  " JSON({"op":"patch","doc":D,"patch":P}) "              " JSON({"result":D}) "\n"
    "  " JSON({"op":"merge","doc":D,"patch":P}) "              " JSON({"result":D}) "\n"
    "  " JSON({"op":"diff","a":D,"b":D}) "                     " JSON({"result":P}) "\n"
    "  " JSON({"op":"pointer","doc":D,"pointer":TEXT}) "       " JSON({"result":D}) "\n"
    "  " JSON({"op":"path","doc":D,"query":TEXT}) "            "
    JSON({"result":[D],"paths":[TEXT]}) "\n"
    "  " JSON({"op":"fmt","doc":D}) "                          " JSON({"result":TEXT}) "\n"
    "  " JSON({"op":"canonical","doc":D}) "                    " JSON({"result":TEXT}) "\n"
    "  " JSON({"op":"parse","base64":TEXT}) "                  " JSON({"ok":BOOL,"error":TEXT}) "\n"
    "\n"
    "What start says holds for the lines after it, until the next start. An \"id\" in\n"
    "a request comes back in its answer. An instance whose check reaches its limit\n"
    "counts as false, and \"error\" beside \"results\" says which.";
// clang-format on

/* What the last start said. */
struct batch {
    struct arena *kept; /* holds what the options point to */
    struct schema_options options;
};

struct batch *batch_new(void)
{
    struct batch *b = mem_alloc(sizeof(*b));
    *b = (struct batch){ .kept = arena_new() };
    return b;
}

void batch_free(struct batch *b)
{
    arena_free(b->kept);
    free(b);
}

/* ---- operations: each writes the members of its answer ---- */

static err start(struct batch *b, struct arena *a, const struct json *request,
                 struct json_writer *w)
{
    (void)a;
    struct arena *kept = arena_new();
    struct json *said = ARENA_NEW(kept, struct json);
    *said = json_copy(kept, request);

    const struct json *remotes = json_get(said, "remotes");
    size_t count = json_is(remotes, JSON_OBJECT) ? remotes->len : 0;
    struct schema_document *documents = ARENA_ARRAY(kept, struct schema_document, count);
    for (size_t i = 0; i < count; i++) {
        const struct json_member *m = &remotes->members[i];
        documents[i] = (struct schema_document){ json_name(m), &m->value };
    }
    b->options = (struct schema_options){
        .dialect = json_str(said, "dialect"),
        .assert_formats = json_bool_or(said, "formatAssertion", false),
        .documents = documents,
        .document_count = count,
    };
    arena_free(b->kept);
    b->kept = kept;

    json_write_name(w, STR("ok"));
    json_write_bool(w, true);
    return NULL;
}

/* An instance that uses up its budget counts as false; "error" says which ones did. */
static err validate(struct batch *b, struct arena *a, const struct json *request,
                    struct json_writer *w)
{
    struct schema *schema;
    TRY(schema_compile(a, json_get(request, "schema"), &b->options, &schema));

    const struct json *instances = json_get(request, "instances");
    struct buf exhausted = buf_in(a);
    json_write_name(w, STR("results"));
    json_write_begin(w, '[');
    for (uint32_t i = 0; i < instances->len; i++) {
        enum schema_verdict verdict = schema_check(schema, &instances->items[i]);
        json_write_bool(w, verdict == SCHEMA_FITS);
        if (verdict == SCHEMA_EXHAUSTED)
            buf_printf(&exhausted, "%s%u", exhausted.len ? ", " : "", i);
    }
    json_write_end(w, ']');
    schema_free(schema);

    if (exhausted.len) {
        str which = buf_str(&exhausted);
        json_write_name(w, STR("error"));
        json_write_str(w,
                       arena_printf(a, "the check of these instances reached its limit: " STR_FMT,
                                    STR_ARG(which)));
    }
    return NULL;
}

static void write_result(struct json_writer *w, const struct json *value)
{
    json_write_name(w, STR("result"));
    json_write_value(w, value);
}

static void write_result_text(struct json_writer *w, struct buf *text)
{
    json_write_name(w, STR("result"));
    json_write_str(w, buf_str(text));
}

static err patch(struct batch *b, struct arena *a, const struct json *request,
                 struct json_writer *w)
{
    (void)b;
    struct json doc = *json_get(request, "doc");
    TRY(json_patch(a, &doc, json_get(request, "patch"), &json_verb_patch_limits));
    write_result(w, &doc);
    return NULL;
}

static err merge(struct batch *b, struct arena *a, const struct json *request,
                 struct json_writer *w)
{
    (void)b;
    struct json doc = *json_get(request, "doc");
    TRY(json_merge(a, &doc, json_get(request, "patch"), &json_verb_patch_limits));
    write_result(w, &doc);
    return NULL;
}

static err diff(struct batch *b, struct arena *a, const struct json *request, struct json_writer *w)
{
    (void)b;
    struct json between = json_diff(a, json_get(request, "a"), json_get(request, "b"), 0, NULL);
    write_result(w, &between);
    return NULL;
}

static err pointer(struct batch *b, struct arena *a, const struct json *request,
                   struct json_writer *w)
{
    (void)b;
    const struct json *value;
    TRY(json_pointer_get(a, json_get(request, "doc"), json_str(request, "pointer"), &value));
    write_result(w, value);
    return NULL;
}

static err path(struct batch *b, struct arena *a, const struct json *request, struct json_writer *w)
{
    (void)b;
    const struct json_path *query;
    struct json_matches found;
    TRY(json_path_compile(a, json_str(request, "query"), &query));
    TRY(json_path_run(a, query, json_get(request, "doc"), &found));

    json_write_name(w, STR("result"));
    json_write_begin(w, '[');
    for (size_t i = 0; i < found.count; i++)
        json_write_value(w, found.items[i].value);
    json_write_end(w, ']');

    json_write_name(w, STR("paths"));
    json_write_begin(w, '[');
    struct buf place = buf_in(a);
    for (size_t i = 0; i < found.count; i++) {
        place.len = 0;
        json_path_print(&place, found.items[i].location);
        json_write_str(w, buf_str(&place));
    }
    json_write_end(w, ']');
    return NULL;
}

static err fmt(struct batch *b, struct arena *a, const struct json *request, struct json_writer *w)
{
    (void)b;
    struct buf text = buf_in(a);
    json_print_pretty(&text, json_get(request, "doc"));
    write_result_text(w, &text);
    return NULL;
}

static err canonical(struct batch *b, struct arena *a, const struct json *request,
                     struct json_writer *w)
{
    (void)b;
    struct buf text = buf_in(a);
    json_print_canonical(&text, json_get(request, "doc"));
    write_result_text(w, &text);
    return NULL;
}

/* The text comes as base64, since what is not JSON, or not UTF-8, has no place in a request. */
static err parse(struct batch *b, struct arena *a, const struct json *request,
                 struct json_writer *w)
{
    (void)b;
    str text;
    if (!base64_decode(a, json_str(request, "base64"), &text))
        return err_new(a, ERR_INVALID, "expected base64 with padding in \"base64\"");

    const struct json_limits limits = { .bytes_max = BATCH_LINE_MAX, .nul_allowed = true };
    const struct json *parsed;
    err e = json_parse(a, text, &limits, &parsed);
    json_write_name(w, STR("ok"));
    json_write_bool(w, !e);
    if (e) {
        json_write_name(w, STR("error"));
        json_write_str(w, term_utf8(a, e->message));
    }
    return NULL;
}

/* ---- the table ---- */

#define OF(kind) (1u << JSON_##kind)
#define ANY (~0u & ~NEEDED)
#define NEEDED (1u << 31)

struct member {
    const char *name;
    unsigned kinds; /* which it may have; a null stands for nothing where it is not NEEDED */
};

static const struct operation {
    const char *name;
    err (*run)(struct batch *b, struct arena *a, const struct json *request, struct json_writer *w);
    struct member members[4];
} operations[] = {
    // clang-format off
    { "start",     start,     { { "dialect", OF(STRING) }, { "formatAssertion", OF(BOOL) },
                                { "remotes", OF(OBJECT) } } },
    { "validate",  validate,  { { "schema", NEEDED | ANY }, { "instances", NEEDED | OF(ARRAY) } } },
    { "patch",     patch,     { { "doc", NEEDED | ANY },    { "patch", NEEDED | ANY } } },
    { "merge",     merge,     { { "doc", NEEDED | ANY },    { "patch", NEEDED | ANY } } },
    { "diff",      diff,      { { "a", NEEDED | ANY },      { "b", NEEDED | ANY } } },
    { "pointer",   pointer,   { { "doc", NEEDED | ANY },    { "pointer", NEEDED | OF(STRING) } } },
    { "path",      path,      { { "doc", NEEDED | ANY },    { "query", NEEDED | OF(STRING) } } },
    { "fmt",       fmt,       { { "doc", NEEDED | ANY } } },
    { "canonical", canonical, { { "doc", NEEDED | ANY } } },
    { "parse",     parse,     { { "base64", NEEDED | OF(STRING) } } },
    // clang-format on
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

static err operation_find(struct arena *a, const struct json *request, const struct operation **out)
{
    if (!json_is(request, JSON_OBJECT))
        return err_new(a, ERR_INVALID, "expected a request, an object with \"op\", but found %s",
                       json_kind_name(request->kind));
    const struct json *op = json_get(request, "op");
    if (!json_is(op, JSON_STRING))
        return err_new(a, ERR_INVALID, "expected \"op\" to name an operation, but found %s",
                       op ? json_kind_name(op->kind) : "none");

    struct guess g = { .wanted = json_text(op) };
    for (size_t i = 0; i < OPERATIONS; i++) {
        *out = &operations[i];
        if (str_eq(g.wanted, str_from(operations[i].name)))
            return NULL;
        guess_try(&g, operations[i].name);
    }
    str hint = guess_hint(a, &g);
    str shown = utf8_cut(g.wanted, NAME_SHOWN_MAX);
    return err_new(a, ERR_INVALID, "there is no operation '" STR_FMT "'" STR_FMT, STR_ARG(shown),
                   STR_ARG(hint));
}

static err member_check(struct arena *a, const struct operation *op, const struct member *m,
                        const struct json *request)
{
    const struct json *value = json_get(request, m->name);
    bool needed = m->kinds & NEEDED;
    if (!value && needed)
        return err_new(a, ERR_INVALID, "%s needs a member \"%s\"", op->name, m->name);
    if (!value || m->kinds & 1u << value->kind || (json_is(value, JSON_NULL) && !needed))
        return NULL;
    unsigned wanted = 0;
    while (!(m->kinds & 1u << wanted))
        wanted++;
    return err_new(a, ERR_INVALID, "%s expects \"%s\" to be of type %s, but found %s", op->name,
                   m->name, json_kind_name(wanted), json_kind_name(value->kind));
}

/* A member that no operation knows is likelier a mistake than meant to be ignored. */
static err members_check(struct arena *a, const struct operation *op, const struct json *request)
{
    for (const struct member *m = op->members; m->name; m++)
        TRY(member_check(a, op, m, request));

    for (uint32_t i = 0; i < request->len; i++) {
        str name = json_name(&request->members[i]);
        struct guess g = { .wanted = name };
        bool known = str_eq(name, STR("op")) || str_eq(name, STR("id"));
        for (const struct member *m = op->members; m->name; m++) {
            known |= str_eq(name, str_from(m->name));
            guess_try(&g, m->name);
        }
        if (!known) {
            str hint = guess_hint(a, &g), shown = utf8_cut(name, NAME_SHOWN_MAX);
            return err_new(a, ERR_INVALID, "%s has no member '" STR_FMT "'" STR_FMT, op->name,
                           STR_ARG(shown), STR_ARG(hint));
        }
    }
    return NULL;
}

/* ---- a line ---- */

static struct json_writer answer_begin(struct buf *out, const struct json *id)
{
    struct json_writer w = json_writer_to(out);
    json_write_begin(&w, '{');
    if (id) {
        json_write_name(&w, STR("id"));
        json_write_value(&w, id);
    }
    return w;
}

static void answer_error(struct buf *out, const struct json *id, err e)
{
    struct json_writer w = answer_begin(out, id);
    json_write_name(&w, STR("error"));
    json_write_str(&w, term_utf8(out->arena, e->message));
    json_write_end(&w, '}');
}

static err answer(struct batch *b, struct arena *a, const struct json *request, struct buf *out)
{
    const struct operation *op;
    TRY(operation_find(a, request, &op));
    TRY(members_check(a, op, request));
    struct json_writer w = answer_begin(out, json_get(request, "id"));
    TRY(op->run(b, a, request, &w));
    json_write_end(&w, '}');
    return NULL;
}

void batch_line(struct batch *b, struct arena *a, str line, struct buf *out)
{
    if (str_trim(line).len == 0)
        return;
    const struct json_limits limits = {
        .depth_max = JSON_DEPTH_MAX + ENVELOPE_DEPTH,
        .bytes_max = BATCH_LINE_MAX,
        .nul_allowed = true,
    };
    const struct json *request = NULL;
    size_t before = out->len;
    err e = json_parse(a, line, &limits, &request);
    if (!e)
        e = answer(b, a, request, out);
    if (e) {
        out->len = before;
        answer_error(out, json_get(request, "id"), e);
    }
}

/* ---- standard input ---- */

/* The bytes read so far and not yet answered; while `skipping`, the rest of a line too long. */
struct input {
    char *at;
    size_t len, room;
    bool skipping, ended;
};

static err input_fill(struct cli *c, struct input *in)
{
    if (in->room - in->len < 32 << 10) {
        in->room = in->room ? 2 * in->room : 64 << 10;
        in->at = mem_grow(in->at, in->room);
    }
    ssize_t n = read(STDIN_FILENO, in->at + in->len, in->room - in->len);
    if (n < 0 && errno != EINTR)
        return err_new(c->arena, ERR_INVALID, "cannot read standard input: %s", strerror(errno));
    if (n == 0)
        in->ended = true;
    if (n > 0)
        in->len += (size_t)n;
    return NULL;
}

static void answer_line(struct cli *c, struct batch *b, struct arena *a, str line, bool skipped)
{
    struct buf out = buf_in(a);
    if (skipped || line.len > BATCH_LINE_MAX)
        answer_error(&out, NULL,
                     err_new(a, ERR_TOO_LARGE, "expected a line of at most %u bytes",
                             BATCH_LINE_MAX));
    else
        batch_line(b, a, line, &out);
    if (out.len) {
        buf_byte(&out, '\n');
        cli_write(c, buf_str(&out));
        cli_flush(c);
    }
    arena_reset(a);
}

/* Answers every whole line, and what is left when the input has ended, from `scanned` on, where
 * the first line end can be. */
static void answer_lines(struct cli *c, struct batch *b, struct arena *a, struct input *in,
                         size_t scanned)
{
    size_t from = 0;
    while (!c->write_error) {
        const char *end = memchr(in->at + scanned, '\n', in->len - scanned);
        if (!end && !in->ended)
            break;
        size_t to = end ? (size_t)(end - in->at) : in->len;
        answer_line(c, b, a, (str){ in->at + from, to - from }, in->skipping);
        in->skipping = false;
        if (!end)
            break;
        from = scanned = to + 1;
    }
    in->len -= from;
    memmove(in->at, in->at + from, in->len);
    if (in->len > BATCH_LINE_MAX) {
        in->skipping = true;
        in->len = 0;
    }
}

err json_batch_run(struct cli *c)
{
    struct batch *b = batch_new();
    struct arena *a = arena_new();
    struct input in = { 0 };
    err e = NULL;
    while (!e && !in.ended && !c->write_error) {
        size_t scanned = in.len;
        e = input_fill(c, &in);
        if (!e)
            answer_lines(c, b, a, &in, scanned);
    }
    free(in.at);
    arena_free(a);
    batch_free(b);
    return e;
}
