/* input.c: a request as the input of an operation.
 *
 * Whatever stands in the path, the query, the body and the head becomes one flat
 * object. A field may come from more than one place, if they agree. Whether the
 * object fits the operation is for its schema to say. */
#include "base/utf8.h"
#include "wire/http/glue.h"
#include "wire/http/text.h"

/* What a body may be deeper than the document that it carries. */
#define ENVELOPE_DEPTH 4

/* Adds a field, or finds the same value there already. */
static err put(struct http *h, struct json *input, str name, struct json value, const char *where)
{
    const struct json *there = json_find(input, name);

    if (!there) {
        json_put(h->x.arena, input, name, value);
        return NULL;
    }
    if (json_equal(there, &value))
        return NULL;
    return err_new(h->x.arena, ERR_INVALID,
                   "expected \"" STR_FMT "\" in %s to be what the rest of the request says, found "
                   "another value",
                   STR_ARG(name), where);
}

/* ---- the body ---- */

/* What a body of this type is, where it is not the whole input. */
static const struct op_body *body_of(const struct op *op, str type)
{
    for (int i = 0; i < OP_BODIES_MAX; i++)
        if (op->bodies[i].media_type && http_media_is(type, str_from(op->bodies[i].media_type)))
            return &op->bodies[i];
    return NULL;
}

/* Whether a body that may be either is the input, and not the field. */
static bool is_input(const struct op_body *is, const struct json *body)
{
    return !is || (is->either && json_is(body, JSON_OBJECT) && json_get(body, is->field));
}

static err read_body(struct http *h, struct json *input)
{
    const struct http_request *r = &h->parser.request;
    struct json_limits limits = { .depth_max = JSON_DEPTH_MAX + ENVELOPE_DEPTH,
                                  .bytes_max = h->parser.limits.body_max,
                                  .memory_max = http_memory(h) };
    const struct json *body;
    str type = STR("application/json"); /* unless somebody says */

    *input = json_object();
    http_header(r, "content-type", &type);
    const struct op_body *is = body_of(h->match.op, type);
    if (r->body.len == 0 && (!is || is->either))
        return NULL;
    err e = json_parse(h->x.arena, r->body, &limits, &body);
    if (e && e->kind == ERR_TOO_LARGE && limits.memory_max < HTTP_GROWTH * limits.bytes_max)
        return err_new(h->x.arena, ERR_UNAVAILABLE,
                       "there is no room for the values of the body now (buffered_bytes, "
                       "token_bytes): try again in a moment");
    if (e)
        return err_within(h->x.arena, e, "the body");
    if (!is_input(is, body)) {
        json_put(h->x.arena, input, str_from(is->field), *body);
    } else if (body->kind == JSON_OBJECT) {
        *input = *body;
    } else {
        return err_new(h->x.arena, ERR_INVALID, "expected the body to be an object, found %s",
                       json_kind_name(body->kind));
    }
    return NULL;
}

/* ---- the path ---- */

static err read_captures(struct http *h, struct json *input)
{
    for (size_t i = 0; i < h->match.capture_count; i++) {
        const struct op_capture *c = &h->match.captures[i];
        str value;
        TRY(http_decode(h->x.arena, c->value, &value));
        TRY(put(h, input, c->field, json_string(value), "the path"));
    }
    return NULL;
}

/* ---- the query ---- */

/* Whether a schema takes values of a kind, as far as it says so by a word. */
static bool takes(const struct json *schema, const char *kind)
{
    const struct json *type = json_get(schema, "type");

    if (json_is(type, JSON_STRING))
        return str_eq(json_text(type), str_from(kind));
    for (uint32_t i = 0; json_is(type, JSON_ARRAY) && i < type->len; i++)
        if (str_eq(json_text(&type->items[i]), str_from(kind)))
            return true;
    return false;
}

static bool to_integer(struct arena *a, str text, struct json *out)
{
    int64_t n;
    if (!str_to_int(text, &n))
        return false;
    *out = json_int(a, n);
    return true;
}

static bool to_number(struct arena *a, str text, struct json *out)
{
    const struct json *parsed;
    if (json_parse(a, text, NULL, &parsed) || !json_is_number(parsed))
        return false;
    *out = *parsed;
    return true;
}

static bool to_boolean(struct arena *a, str text, struct json *out)
{
    (void)a;
    *out = json_bool(str_eq(text, STR("true")));
    return out->len || str_eq(text, STR("false"));
}

// clang-format off
/* Kinds that text can be turned into, in the order in which they are tried. */
static const struct {
    const char *kind, *article;
    bool (*read)(struct arena *a, str text, struct json *out);
} readers[] = {
    { "integer", "an", to_integer },
    { "number",  "a",  to_number  },
    { "boolean", "a",  to_boolean },
};
// clang-format on

/* A parameter's text as its schema wants it. */
static err convert(struct http *h, const struct json *schema, struct http_pair p, struct json *out)
{
    int wanted = -1;

    *out = json_string(p.value);
    for (int i = 0; i < (int)(sizeof readers / sizeof *readers); i++) {
        if (!takes(schema, readers[i].kind))
            continue;
        if (readers[i].read(h->x.arena, p.value, out))
            return NULL;
        wanted = i;
    }
    *out = json_string(p.value);
    if (wanted < 0 || takes(schema, "string"))
        return NULL;
    return err_new(h->x.arena, ERR_INVALID,
                   "expected the parameter \"" STR_FMT "\" to be %s %s, found \"" STR_FMT "\"",
                   STR_ARG(p.name), readers[wanted].article, readers[wanted].kind,
                   STR_ARG(http_legible(h->x.arena, p.value)));
}

static bool is_captured(const struct http *h, str name)
{
    for (size_t i = 0; i < h->match.capture_count; i++)
        if (str_eq(h->match.captures[i].field, name))
            return true;
    return false;
}

static err unknown_parameter(struct http *h, str name)
{
    const struct json *fields = op_fields(h->server->options.table, h->match.op);
    struct buf known = buf_in(h->x.arena);

    for (uint32_t i = 0; i < fields->len; i++) {
        if (is_captured(h, json_name(&fields->members[i])))
            continue;
        buf_printf(&known, "%s" STR_FMT, known.len ? ", " : "",
                   STR_ARG(json_name(&fields->members[i])));
    }
    return err_new(h->x.arena, ERR_INVALID, "%s has no parameter \"" STR_FMT "\"; it has: %s",
                   h->match.op->name, STR_ARG(utf8_cut(name, 80)),
                   known.len ? buf_str(&known).at : "none");
}

/* The values of all pairs of a name, from the first of them on, as one array. */
static err read_array(struct http *h, const struct json *schema, const struct http_pair *pairs,
                      size_t count, struct json *out)
{
    *out = json_array();
    for (size_t i = 0; i < count; i++) {
        struct json value;
        if (!str_eq(pairs[i].name, pairs[0].name))
            continue;
        TRY(convert(h, json_get(schema, "items"), pairs[i], &value));
        json_push(h->x.arena, out, value);
    }
    return NULL;
}

static bool came_before(const struct http_pair *pairs, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (str_eq(pairs[i].name, pairs[at].name))
            return true;
    return false;
}

static err read_query(struct http *h, struct json *input)
{
    const struct server *s = h->server;
    struct http_pair *pairs;
    size_t count;

    TRY(http_query(h->x.arena, h->parser.request.query, &pairs, &count));
    for (size_t i = 0; i < count; i++) {
        str name = op_field_meant(s->options.table, h->match.op, pairs[i].name);
        const struct json *schema = op_field(s->options.table, h->match.op, name);
        struct json value;
        if (!schema)
            return unknown_parameter(h, pairs[i].name);
        if (!takes(schema, "array"))
            TRY(convert(h, schema, pairs[i], &value));
        else if (came_before(pairs, i))
            continue;
        else
            TRY(read_array(h, schema, pairs + i, count - i, &value));
        TRY(put(h, input, name, value, "the query"));
    }
    return NULL;
}

/* ---- the head ---- */

static bool has_field(const struct http *h, const char *name)
{
    return op_field(h->server->options.table, h->match.op, str_from(name)) != NULL;
}

static err no_match(struct http *h, const char *why, str found)
{
    return err_new(h->x.arena, ERR_PRECONDITION, "If-Match: %s, found " STR_FMT, why,
                   STR_ARG(http_legible(h->x.arena, found)));
}

static err read_if_match(struct http *h, struct json *input)
{
    struct http_etag tag, second;
    int64_t version;
    str value, rest;

    if (!http_header_list(h->x.arena, &h->parser.request, "if-match", &value))
        return NULL;
    rest = value;
    TRY(http_etag_next(h->x.arena, &rest, &tag));
    TRY(http_etag_next(h->x.arena, &rest, &second));
    if (!tag.tag.at || second.tag.at)
        return err_new(h->x.arena, ERR_INVALID,
                       "expected one entity tag or * in If-Match, found %s",
                       tag.tag.at ? "several" : "none");
    h->match_any = tag.any;
    if (tag.any)
        return NULL;
    if (!has_field(h, "expected_version"))
        return no_match(h, "expected none, since this operation knows no versions", value);
    if (tag.weak || !str_to_int(tag.tag, &version) || version < 1)
        return no_match(h, "expected the ETag of a version, like \"7\"", value);
    h->pending.command.precondition = true;
    return put(h, input, STR("expected_version"), json_int(h->x.arena, version), "If-Match");
}

/* A preference is only a filter: what the rest of the request says counts more. */
static void read_prefer(struct http *h, struct json *input)
{
    str list, value;

    if (!http_header_list(h->x.arena, &h->parser.request, "prefer", &list) ||
        !http_prefers(list, STR("return"), &value) || !has_field(h, "representation") ||
        json_get(input, "representation"))
        return;
    if (http_same(value, STR("representation")))
        h->applied = PREFER_REPRESENTATION;
    else if (http_same(value, STR("minimal")))
        h->applied = PREFER_MINIMAL;
    else
        return;
    json_put(h->x.arena, input, STR("representation"),
             json_bool(h->applied == PREFER_REPRESENTATION));
}

static err read_key(struct http *h)
{
    const size_t most = 255;
    str key;

    if (!http_header(&h->parser.request, "idempotency-key", &key))
        return NULL;
    bool quoted = key.len > 0 && key.at[0] == '"';
    if (quoted)
        key = key.len > 1 && str_ends(key, STR("\"")) ? str_slice(key, 1, key.len - 1) : STR("");
    bool legible = true;
    for (size_t i = 0; i < key.len; i++)
        legible = legible && key.at[i] >= 0x20 && key.at[i] < 0x7f && key.at[i] != '"';
    if (key.len == 0 || key.len > most || !legible ||
        http_header_count(&h->parser.request, "idempotency-key") > 1)
        return err_new(h->x.arena, ERR_INVALID,
                       "expected one Idempotency-Key of 1 to %zu visible ASCII characters, with or "
                       "without double quotes",
                       most);
    h->pending.command.key = key;
    return NULL;
}

static err read_head(struct http *h, struct json *input)
{
    str ignored;

    read_prefer(h, input);
    if (h->match.op->effect == OP_READS)
        return NULL;
    if (http_header(&h->parser.request, "if-none-match", &ignored))
        return err_new(h->x.arena, ERR_INVALID,
                       "expected If-None-Match with reads only: this writes, and takes If-Match "
                       "where it knows versions");
    TRY(read_key(h));
    return read_if_match(h, input);
}

/* ---- the whole ---- */

bool http_is_plain(const struct http *h)
{
    const struct http_request *r = &h->parser.request;

    return h->match.op->peek && h->match.capture_count == 1 && r->query.len == 0 &&
           r->body.len == 0 && http_selects(h).len == 0 &&
           str_find(h->match.captures[0].value, '%') == h->match.captures[0].value.len;
}

err http_input(struct http *h)
{
    struct json *input = arena_alloc(h->x.arena, sizeof *input);

    h->pending.command = (struct command){
        .arena = h->x.arena, .op = h->match.op, .input = input, .selects = http_selects(h)
    };
    TRY(read_body(h, input));
    TRY(read_captures(h, input));
    TRY(read_query(h, input));
    return read_head(h, input);
}
