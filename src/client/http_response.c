/* http_response.c: bytes → one HTTP/1.x response. */
#include "client/http_response.h"

#include <assert.h>
#include <strings.h>

enum state {
    IN_STATUS,
    IN_FIELDS,
    IN_LENGTH, /* a body of known length */
    IN_CHUNK_SIZE,
    IN_CHUNK,
    IN_CHUNK_END, /* the line end behind a chunk's bytes */
    IN_TRAILER,
    TO_THE_END, /* a body that ends with the connection */
    DONE,
};

enum {
    HEAD_MAX = 64 << 10,
    BODY_MAX = 64 << 20,
    SHOWN_MAX = 40,       /* bytes of a found text in a message */
    CHUNK_DIGITS_MAX = 8, /* of a chunk's size: 4 GiB */
};

/* ---- messages ---- */

/* What came is not shown as it is: it may be anything. */
static str shown(struct arena *a, str text)
{
    struct buf out = buf_in(a);

    if (text.len == 0)
        return STR("nothing");
    buf_byte(&out, '"');
    for (size_t i = 0; i < text.len && i < SHOWN_MAX; i++) {
        char c = text.at[i];
        buf_byte(&out, c >= ' ' && c <= '~' ? c : '?');
    }
    buf_add(&out, text.len > SHOWN_MAX ? STR("…\"") : STR("\""));
    return buf_str(&out);
}

static err unexpected(struct response_parser *p, const char *what, str found)
{
    found = shown(p->arena, found);
    return err_new(p->arena, ERR_INTERNAL,
                   "the server's answer is not HTTP: expected %s, found " STR_FMT, what,
                   STR_ARG(found));
}

static err too_large(struct response_parser *p, const char *what, size_t most)
{
    return err_new(p->arena, ERR_TOO_LARGE,
                   "the server's answer is too large: expected at most %zu bytes of %s", most,
                   what);
}

/* ---- text ---- */

static bool same(str a, str b)
{
    return a.len == b.len && strncasecmp(a.at, b.at, a.len) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_token_byte(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

/* Whether a comma-separated list has a word. */
static bool has_word(str list, str word)
{
    str part;

    for (bool more = true; more;) {
        more = str_cut(list, ',', &part, &list);
        if (same(str_trim(part), word))
            return true;
    }
    return false;
}

static bool digits_read(str text, uint64_t *out)
{
    uint64_t n = 0;

    if (text.len == 0 || text.len > 18)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.at[i]))
            return false;
        n = n * 10 + (uint64_t)(text.at[i] - '0');
    }
    *out = n;
    return true;
}

/* ---- the lines of a head ---- */

/* HTTP/1.1 200 OK; the words behind the number are nothing to us. */
static err status_line(struct response_parser *p, str line)
{
    bool good = line.len >= 12 && str_starts(line, STR("HTTP/1.")) && is_digit(line.at[7]) &&
                line.at[8] == ' ' && (line.len == 12 || line.at[12] == ' ');
    uint64_t status;

    if (!good || !digits_read(str_slice(line, 9, 12), &status) || status < 100 || status > 599)
        return unexpected(p, "a line like HTTP/1.1 200 OK", line);
    p->minor = (uint8_t)(line.at[7] - '0');
    p->response.status = (int)status;
    p->state = IN_FIELDS;
    return NULL;
}

static err field_split(struct response_parser *p, str line, struct response_field *out)
{
    if (!str_cut(line, ':', &out->name, &out->value) || out->name.len == 0)
        return unexpected(p, "a field like Name: value", line);
    for (size_t i = 0; i < out->name.len; i++)
        if (!is_token_byte(out->name.at[i]))
            return unexpected(p, "the name of a field", line);
    out->value = str_trim(out->value);
    for (size_t i = 0; i < out->value.len; i++)
        if (((unsigned char)out->value.at[i] < ' ' && out->value.at[i] != '\t') ||
            out->value.at[i] == 0x7f)
            return unexpected(p, "a field's value without control characters", line);
    return NULL;
}

/* What the fields say of the body. Two that contradict each other are refused: another program on
 * the way may have believed the other one. */
static err field_heed(struct response_parser *p, const struct response_field *f)
{
    uint64_t length;

    if (same(f->name, STR("connection"))) {
        p->closes = p->closes || has_word(f->value, STR("close"));
    } else if (same(f->name, STR("transfer-encoding"))) {
        if (p->chunked || !same(f->value, STR("chunked")))
            return unexpected(p, "chunked as the only transfer encoding", f->value);
        p->chunked = true;
    } else if (same(f->name, STR("content-length"))) {
        if (!digits_read(f->value, &length) || (p->has_length && length != p->length))
            return unexpected(p, "one number as the content's length", f->value);
        p->has_length = true;
        p->length = length;
    }
    return NULL;
}

static void field_keep(struct response_parser *p, const struct response_field *f)
{
    struct response *r = &p->response;

    if (r->field_count == p->field_room) {
        size_t room = p->field_room ? 2 * p->field_room : 16;
        r->fields = arena_grow(p->arena, r->fields, p->field_room * sizeof *r->fields,
                               room * sizeof *r->fields);
        p->field_room = room;
    }
    r->fields[r->field_count++] =
        (struct response_field){ arena_copy(p->arena, f->name), arena_copy(p->arena, f->value) };
}

/* An interim response is over: the next one is as if it had not been. */
static void start_again(struct response_parser *p)
{
    p->response = (struct response){ .body = STR(""), .fields = p->response.fields };
    p->has_length = p->chunked = p->closes = false;
    p->state = IN_STATUS;
}

/* The head is over: how will the body end? */
static err head_end(struct response_parser *p)
{
    int status = p->response.status;

    if (status < 200 && status != 101) {
        start_again(p);
        return NULL;
    }
    if (p->chunked && p->has_length)
        return unexpected(p, "either a length or chunks", STR("both"));
    p->response.keep_alive = p->minor >= 1 && !p->closes;
    p->left = p->length;
    if (status == 101 || status == 204 || status == 304) {
        p->state = DONE;
    } else if (p->chunked) {
        p->state = IN_CHUNK_SIZE;
    } else if (p->has_length) {
        p->state = p->length ? IN_LENGTH : DONE;
    } else {
        p->response.keep_alive = false;
        p->state = TO_THE_END;
    }
    return p->state == IN_LENGTH && p->length > p->limits.body_max
               ? too_large(p, "body", p->limits.body_max)
               : NULL;
}

static err field_line(struct response_parser *p, str line)
{
    struct response_field f;

    if (line.len == 0)
        return head_end(p);
    TRY(field_split(p, line, &f));
    TRY(field_heed(p, &f));
    field_keep(p, &f);
    return NULL;
}

/* ---- the lines of chunks ---- */

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static err chunk_size_line(struct response_parser *p, str line)
{
    str digits, extension;
    uint64_t size = 0;

    str_cut(line, ';', &digits, &extension);
    digits = str_trim(digits);
    if (digits.len == 0 || digits.len > CHUNK_DIGITS_MAX)
        return unexpected(p, "the size of a chunk", line);
    for (size_t i = 0; i < digits.len; i++) {
        int digit = hex_value(digits.at[i]);
        if (digit < 0)
            return unexpected(p, "the size of a chunk", line);
        size = size << 4 | (uint64_t)digit;
    }
    if (size > p->limits.body_max - p->body.len)
        return too_large(p, "body", p->limits.body_max);
    p->left = size;
    p->state = size ? IN_CHUNK : IN_TRAILER;
    return NULL;
}

static err chunk_end_line(struct response_parser *p, str line)
{
    if (line.len > 0)
        return unexpected(p, "the end of a chunk", line);
    p->state = IN_CHUNK_SIZE;
    return NULL;
}

/* Nothing in a trailer matters to us, but it must be one. */
static err trailer_line(struct response_parser *p, str line)
{
    struct response_field f;

    if (line.len > 0)
        return field_split(p, line, &f);
    p->state = DONE;
    return NULL;
}

static err (*const line_readers[])(struct response_parser *p, str line) = {
    [IN_STATUS] = status_line,       [IN_FIELDS] = field_line,    [IN_CHUNK_SIZE] = chunk_size_line,
    [IN_CHUNK_END] = chunk_end_line, [IN_TRAILER] = trailer_line,
};

/* ---- bytes ---- */

/* Takes what there is of a line; hands it on when its end is there. */
static err take_line(struct response_parser *p, str *bytes)
{
    size_t end = str_find(*bytes, '\n');
    bool whole = end < bytes->len;
    size_t taken = whole ? end + 1 : end;

    /* The lines of chunks are bounded by the body: there are no more of them than bytes in it. */
    if (p->state == IN_STATUS || p->state == IN_FIELDS || p->state == IN_TRAILER)
        p->head_bytes += taken;
    if (p->head_bytes > p->limits.head_max || p->line.len + taken > p->limits.head_max)
        return too_large(p, "head", p->limits.head_max);
    buf_add(&p->line, str_slice(*bytes, 0, end));
    *bytes = str_slice(*bytes, taken, bytes->len);
    if (!whole)
        return NULL;

    str line = { p->line.at, p->line.len };
    if (line.len > 0 && line.at[line.len - 1] == '\r')
        line.len--;
    p->line.len = 0;
    return line_readers[p->state](p, line);
}

static void take_sized(struct response_parser *p, str *bytes, enum state next)
{
    str part = str_slice(*bytes, 0, p->left < bytes->len ? (size_t)p->left : bytes->len);

    buf_add(&p->body, part);
    *bytes = str_slice(*bytes, part.len, bytes->len);
    p->left -= part.len;
    if (p->left == 0)
        p->state = next;
}

static err take_rest(struct response_parser *p, str *bytes)
{
    if (bytes->len > p->limits.body_max - p->body.len)
        return too_large(p, "body", p->limits.body_max);
    buf_add(&p->body, *bytes);
    *bytes = str_slice(*bytes, bytes->len, bytes->len);
    return NULL;
}

void response_parser_init(struct response_parser *p, struct arena *a,
                          const struct response_limits *limits)
{
    *p = (struct response_parser){ .arena = a, .line = buf_in(a), .body = buf_in(a) };
    if (limits)
        p->limits = *limits;
    p->limits.head_max = p->limits.head_max ? p->limits.head_max : HEAD_MAX;
    p->limits.body_max = p->limits.body_max ? p->limits.body_max : BODY_MAX;
    p->response.body = STR("");
}

err response_parse(struct response_parser *p, str bytes, size_t *used, bool *done)
{
    size_t all = bytes.len;

    *used = 0;
    *done = false;
    while (p->state != DONE && bytes.len > 0) {
        switch (p->state) {
        case IN_LENGTH: take_sized(p, &bytes, DONE); break;
        case IN_CHUNK: take_sized(p, &bytes, IN_CHUNK_END); break;
        case TO_THE_END: TRY(take_rest(p, &bytes)); break;
        default: TRY(take_line(p, &bytes)); break;
        }
    }
    *used = all - bytes.len;
    *done = p->state == DONE;
    if (*done)
        p->response.body = buf_str(&p->body);
    return NULL;
}

err response_end(struct response_parser *p)
{
    if (p->state == TO_THE_END) {
        p->state = DONE;
        p->response.body = buf_str(&p->body);
    }
    if (p->state == DONE)
        return NULL;
    return err_new(p->arena, ERR_UNAVAILABLE,
                   "the server closed the connection before its answer was complete");
}

bool response_begun(const struct response_parser *p)
{
    return p->head_bytes > 0;
}

bool response_value(const struct response *r, const char *name, str *value)
{
    for (size_t i = 0; i < r->field_count; i++) {
        if (same(r->fields[i].name, str_from(name))) {
            *value = r->fields[i].value;
            return true;
        }
    }
    return false;
}

enum error_kind response_kind(int status)
{
    for (int kind = 0; kind < ERROR_KIND_COUNT; kind++)
        if (error_kind_info(kind)->http == status)
            return kind;
    return status == 408 || status >= 502 ? ERR_UNAVAILABLE
           : status >= 500                ? ERR_INTERNAL
                                          : ERR_INVALID;
}
