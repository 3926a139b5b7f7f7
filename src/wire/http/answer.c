/* answer.c: what was performed, or refused, as a response.
 *
 * All responses are written here, so that all of them have the same fields. How
 * an error looks is base/err.h's business; which fields belong to a status is
 * one table's, below. */
#include <assert.h>
#include <stdio.h>

#include "base/date.h"
#include "json/write.h"
#include "wire/held.h"
#include "wire/http/glue.h"
#include "wire/http/text.h"

enum {
    HEAD_BYTES = 512,     /* what a head rarely exceeds */
    TOGETHER_MAX = 8192,  /* a body up to here is sent in one piece with its head */
    DATE_FIELD_BYTES = 37 /* "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n" */
};

/* ---- the head ---- */

/* The field, made anew when its second is over. Only the loop's thread writes responses. */
static str date_field(const struct server *s)
{
    static const char days[] = "ThuFriSatSunMonTueWed";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static char text[64];
    static int64_t printed = -1;
    int64_t second = s->options.now_ms(s->options.self) / 1000;

    if (second != printed) {
        int64_t day = second / 86400;
        unsigned of_day = (unsigned)(second % 86400), month, date;
        int year;
        date_civil(day, &year, &month, &date);
        snprintf(text, sizeof text, "Date: %.3s, %02u %.3s %04d %02u:%02u:%02u GMT\r\n",
                 days + day % 7 * 3, date, months + (month - 1) * 3, year, of_day / 3600,
                 of_day / 60 % 60, of_day % 60);
        printed = second;
    }
    return (str){ text, DATE_FIELD_BYTES };
}

/* Whether the connection ends with this response: also when there is a body that nobody read. */
static bool ends_here(const struct http *h)
{
    const struct http_request *r = &h->parser.request;

    return h->close || !r->keep_alive || h->server->stopping || (!h->whole && http_has_body(r));
}

static struct buf head_begin(struct http *h, int status)
{
    struct buf out = buf_in(h->x.arena);

    assert(h->phase != HTTP_ANSWERED);
    h->close = ends_here(h);
    h->server->by_class[status / 100]++;
    buf_reserve(&out, HEAD_BYTES);
    http_write_status(&out, status);
    buf_add(&out, date_field(h->server));
    if (h->caching)
        buf_printf(&out, "Cache-Control: %s\r\n", h->caching);
    else
        buf_add(&out, STR("Cache-Control: no-store\r\n"));
    if (h->close)
        buf_add(&out, STR("Connection: close\r\n"));
    else if (h->parser.request.minor == 0)
        buf_add(&out, STR("Connection: keep-alive\r\n"));
    return out;
}

/* A status that never has a body has no length either. Every response comes by here, so it does
 * without the checks of http_write_field: types are our own literals. */
static void head_end(struct buf *out, const char *type, size_t length, bool has_length)
{
    if (type) {
        buf_add(out, STR("Content-Type: "));
        buf_add(out, str_from(type));
        buf_add(out, STR("\r\n"));
    }
    if (has_length) {
        buf_add(out, STR("Content-Length: "));
        buf_int(out, (int64_t)length);
        buf_add(out, STR("\r\n"));
    }
    http_write_end(out);
}

static void answered(struct http *h)
{
    conn_flush_later(h->x.conn);
    h->phase = HTTP_ANSWERED;
}

/* Whether it can be put to the connection; false: who asks was told to ask again. What was written
 * must be told, and so must what costs more to ask again: others go for that. */
static bool is_room_for(struct http *h, size_t bytes, bool must)
{
    if (bytes <= TOGETHER_MAX || h->bodiless || held_takes(h->server, h->x.conn, bytes, must))
        return true;
    http_refuse_busy(h, "too many answers wait for slow readers (held_bytes, token_bytes)");
    return false;
}

static void finish(struct http *h, struct buf *out, const char *type, str body, bool has_length)
{
    bool together = body.len <= TOGETHER_MAX;

    head_end(out, type, body.len, has_length);
    if (h->bodiless)
        body = STR("");
    if (together)
        buf_add(out, body);
    conn_send(h->x.conn, buf_str(out));
    if (!together && body.len > 0) {
        conn_send(h->x.conn, body);
        conn_flush(h->x.conn); /* what the system takes need not be held */
    }
    answered(h);
}

void http_respond_with(struct http *h, int status, const char *type, str fields, str body)
{
    is_room_for(h, body.len, true);
    struct buf out = head_begin(h, status);

    buf_add(&out, fields);
    finish(h, &out, type, body, status != 204 && status != 304);
}

void http_respond(struct http_exchange *x, int status, const char *type, str body)
{
    http_respond_with(http_of(x), status, type, STR(""), body);
}

/* ---- problems ---- */

static bool get_is_safe(const struct http *h)
{
    const struct http_request *r = &h->parser.request;
    struct op_match get;

    op_route(h->server->options.table, STR("GET"), r->path, &get);
    return get.op ? get.op->effect == OP_READS : route_has_head(route_find(h->server, r));
}

static void write_allow(struct buf *out, const struct http *h)
{
    struct buf list = buf_in(h->x.arena);

    for (size_t i = 0; i < h->match.allowed_count; i++) {
        buf_printf(&list, STR_FMT ", ", STR_ARG(h->match.allowed[i]));
        if (str_eq(h->match.allowed[i], STR("GET")) && get_is_safe(h))
            buf_add(&list, STR("HEAD, "));
    }
    buf_add(&list, STR("OPTIONS"));
    http_write_field(out, STR("Allow"), buf_str(&list));
}

static void write_challenge(struct buf *out, const struct http *h)
{
    (void)h;
    http_write_field(out, STR("WWW-Authenticate"), STR("Bearer"));
}

static void write_accept_patch(struct buf *out, const struct http *h)
{
    const struct op *op = h->match.op;

    if (op && str_starts(str_from(op->http), STR("PATCH ")))
        http_write_field(out, STR("Accept-Patch"), http_media_types(h->x.arena, op));
}

static void write_retry(struct buf *out, const struct http *h)
{
    (void)h;
    http_write_field(out, STR("Retry-After"), STR("1"));
}

// clang-format off
/* What a client needs to know beside the problem itself. */
static const struct {
    int status;
    void (*write)(struct buf *out, const struct http *h);
} hints[] = {
    { 401, write_challenge    },
    { 405, write_allow        },
    { 415, write_accept_patch },
    { 429, write_retry        },
    { 503, write_retry        },
    { 507, write_retry        },
};
// clang-format on

/* "urn:baton:problem:not-found" for the kinds of errors that operations know. */
static void write_kind(struct json_writer *w, struct arena *a, int status)
{
    for (int kind = 0; kind < ERROR_KIND_COUNT; kind++) {
        const struct error_kind_info *look = error_kind_info((enum error_kind)kind);
        if (look->http != status)
            continue;
        str type = arena_printf(a, "urn:baton:problem:%s", look->name);
        for (char *at = (char *)type.at; *at; at++)
            *at = *at == '_' ? '-' : *at >= 'A' && *at <= 'Z' ? (char)(*at | 0x20) : *at;
        json_write_str(w, type);
        write_text(w, STR("title"), str_from(look->title));
        return;
    }
    json_write_str(w, STR("about:blank"));
    write_text(w, STR("title"), str_from(http_reason(status)));
}

void http_problem(struct http *h, int status, str detail, str members)
{
    struct buf out = head_begin(h, status), body = buf_in(h->x.arena);
    struct json_writer w = json_writer_to(&body);

    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].status == status)
            hints[i].write(&out, h);
    json_write_begin(&w, '{');
    json_write_name(&w, STR("type"));
    write_kind(&w, h->x.arena, status);
    write_int(&w, STR("status"), status);
    write_text(&w, STR("detail"), detail);
    if (members.len > 0)
        buf_printf(&body, "," STR_FMT, STR_ARG(members));
    json_write_end(&w, '}');
    finish(h, &out, "application/problem+json", buf_str(&body), true);
}

void http_refuse(struct http_exchange *x, err e)
{
    http_problem(http_of(x), error_kind_info(e->kind)->http, e->message, e->members);
}

void http_refuse_busy(struct http *h, const char *what)
{
    http_refuse(&h->x, err_new(h->x.arena, ERR_UNAVAILABLE, "%s: try again in a moment", what));
}

void http_answer_options(struct http *h)
{
    struct buf out = head_begin(h, 204);
    struct op_match patch;

    write_allow(&out, h);
    op_route(h->server->options.table, STR("PATCH"), h->parser.request.path, &patch);
    h->match.op = patch.op;
    write_accept_patch(&out, h);
    finish(h, &out, NULL, STR(""), false);
}

/* ---- what a document's version says ---- */

static void write_etag(struct buf *out, int64_t version)
{
    buf_add(out, STR("ETag: \""));
    buf_int(out, version);
    buf_add(out, STR("\"\r\n"));
}

/* Whether the client has what is recognised by this tag already: If-None-Match compares weakly. A
 * list that is malformed matches nothing, so that its sender gets the document. */
static bool has_tag(const struct http *h, str etag)
{
    const struct http_request *r = &h->parser.request;
    struct http_etag tag;
    str list;

    if (!(h->bodiless || str_eq(r->method, STR("GET"))) ||
        !http_header_list(h->x.arena, r, "if-none-match", &list))
        return false;
    while (!http_etag_next(h->x.arena, &list, &tag) && tag.tag.at)
        if (tag.any || str_eq(tag.tag, etag))
            return true;
    return false;
}

static bool is_unchanged(const struct http *h, int64_t version)
{
    char text[24];

    if (version <= 0 || h->match.op->effect == OP_WRITES)
        return false;
    int len = snprintf(text, sizeof text, "%lld", (long long)version);
    return has_tag(h, (str){ text, (size_t)len });
}

static void answer_unchanged(struct http *h, int64_t version)
{
    struct buf out = head_begin(h, 304);

    write_etag(&out, version);
    finish(h, &out, NULL, STR(""), false);
}

void http_answer_cached(struct http *h, struct cached_answer *shown)
{
    h->server->cache_hits++;
    if (is_unchanged(h, shown->version)) {
        answer_unchanged(h, shown->version);
        cached_answer_unref(shown);
        return;
    }
    if (!shown->holders && !is_room_for(h, shown->text.len, false)) {
        cached_answer_unref(shown);
        return;
    }
    struct buf out = head_begin(h, 200);
    if (shown->version > 0)
        write_etag(&out, shown->version);
    head_end(&out, "application/json", shown->text.len, true);
    conn_send(h->x.conn, (str){ out.at, out.len });
    if (h->bodiless)
        cached_answer_unref(shown);
    else
        conn_send_cached(h->x.conn, shown);
    answered(h);
}

void http_answer_file(struct http *h, const struct http_file *file)
{
    str etag;
    struct shared *bytes = route_file(h->server, file, &etag);
    bool unchanged = has_tag(h, etag);

    if (!unchanged && !bytes->holders && !is_room_for(h, bytes->bytes.len, false))
        return;
    h->caching = file->caching;
    struct buf out = head_begin(h, unchanged ? 304 : 200);
    buf_printf(&out, "ETag: \"" STR_FMT "\"\r\n", STR_ARG(etag));
    buf_add(&out, str_from(file->fields));
    head_end(&out, unchanged ? NULL : file->type, bytes->bytes.len, !unchanged);
    conn_send(h->x.conn, buf_str(&out));
    if (!unchanged && !h->bodiless)
        conn_send_shared(h->x.conn, bytes);
    answered(h);
}

/* ---- the answer of a command ---- */

static void encode_byte(struct buf *out, unsigned char c)
{
    static const char digits[] = "0123456789ABCDEF";

    buf_byte(out, '%');
    buf_byte(out, digits[c >> 4]);
    buf_byte(out, digits[c & 15]);
}

static void encode(struct buf *out, str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            memchr("-._~", c, 4))
            buf_byte(out, (char)c);
        else
            encode_byte(out, c);
    }
}

/* A part of a target, encoded as it came, but without what would end a link around it. */
static void add_target(struct buf *out, str part)
{
    for (size_t i = 0; i < part.len; i++) {
        if (memchr("<>\"", part.at[i], 3))
            encode_byte(out, (unsigned char)part.at[i]);
        else
            buf_byte(out, part.at[i]);
    }
}

/* The field by which a thing of this collection is found: what the operation captures that reads
 * one of them. Empty: there is no such operation. */
static str member_field(const struct op_table *t, const struct op *create)
{
    str path, method;

    if (!str_cut(str_from(create->http), ' ', &method, &path))
        return STR("");
    for (size_t i = 0; i < op_count(t); i++) {
        str route = str_from(op_at(t, i)->http), prefix = STR("GET ");
        if (!str_starts(route, prefix))
            continue;
        route = str_slice(route, prefix.len, route.len);
        str rest = str_slice(route, path.len, route.len);
        if (str_starts(route, path) && str_starts(rest, STR("/{")) &&
            str_find(rest, '}') + 1 == rest.len)
            return str_slice(rest, 2, rest.len - 1);
    }
    return STR("");
}

static void write_location(struct buf *out, struct http *h)
{
    const struct command *c = &h->pending.command;
    str field = member_field(h->server->options.table, c->op);
    const struct json *answer, *id;

    if (field.len == 0 || json_parse_own(h->x.arena, c->answer.text, &answer))
        return;
    id = json_find(answer, field);
    if (!json_is(id, JSON_STRING) && !json_is(id, JSON_INTEGER))
        return;
    struct buf place = buf_in(h->x.arena);
    buf_add(&place, h->parser.request.path);
    buf_byte(&place, '/');
    encode(&place, json_text(id));
    http_write_field(out, STR("Location"), buf_str(&place));
}

/* The target again, with another `after`. */
static void write_next(struct buf *out, struct http *h)
{
    const struct http_request *r = &h->parser.request;
    struct buf link = buf_in(h->x.arena);
    str query = r->query;

    buf_byte(&link, '<');
    add_target(&link, r->path);
    buf_byte(&link, '?');
    for (bool more = query.len > 0; more;) {
        str part, name, value;
        more = str_cut(query, '&', &part, &query);
        str_cut(part, '=', &name, &value);
        if (part.len == 0 || str_eq(name, STR("after")))
            continue;
        add_target(&link, part);
        buf_byte(&link, '&');
    }
    buf_add(&link, STR("after="));
    encode(&link, h->pending.command.answer.next);
    buf_add(&link, STR(">; rel=\"next\""));
    http_write_field(out, STR("Link"), buf_str(&link));
}

static void write_answer_fields(struct buf *out, struct http *h)
{
    static const char *const applied[] = {
        [PREFER_REPRESENTATION] = "return=representation",
        [PREFER_MINIMAL] = "return=minimal",
    };
    const struct command *c = &h->pending.command;

    if (c->answer.version > 0)
        write_etag(out, c->answer.version);
    if (c->answer.created)
        write_location(out, h);
    if (c->answer.next.len > 0)
        write_next(out, h);
    if (c->repeated)
        http_write_field(out, STR("Idempotency-Replayed"), STR("true"));
    if (h->applied)
        http_write_field(out, STR("Preference-Applied"), str_from(applied[h->applied]));
}

static void answer_error(struct http *h, err e)
{
    if (h->match_any && e->kind == ERR_NOT_FOUND)
        e = err_new(h->x.arena, ERR_PRECONDITION, "If-Match: *: " STR_FMT, STR_ARG(e->message));
    http_refuse(&h->x, e);
}

/* A text that is no JSON goes as it is, unless whoever asks names JSON: the member of the answer. */
static bool is_text(struct http *h, str *text)
{
    const struct command *c = &h->pending.command;
    const struct json *answer;
    bool named = false;
    str accept;

    if (!c->answer.media || (http_header(&h->parser.request, "accept", &accept) &&
                             http_accepts(accept, STR("application/json"), &named) > 0 && named))
        return false;
    if (json_parse_own(h->x.arena, c->answer.text, &answer))
        return false;
    *text = json_str(answer, "text");
    return true;
}

void http_answer(struct http *h)
{
    const struct command *c = &h->pending.command;
    str text;

    if (c->error) {
        answer_error(h, c->error);
        return;
    }
    if (is_unchanged(h, c->answer.version)) {
        answer_unchanged(h, c->answer.version);
        return;
    }
    if (!is_room_for(h, c->answer.text.len, c->op->effect == OP_WRITES || h->pending.wrote))
        return;
    struct buf out = head_begin(h, c->answer.empty ? 204 : c->answer.created ? 201 : 200);
    write_answer_fields(&out, h);
    if (c->answer.empty)
        finish(h, &out, NULL, STR(""), false);
    else if (is_text(h, &text))
        finish(h, &out, c->answer.media, text, true);
    else
        finish(h, &out, "application/json", c->answer.text, true);
}
