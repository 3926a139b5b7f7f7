/* message.c: the words of a violation. */
#include "json/schema/message.h"

#include "base/utf8.h"
#include "json/write.h"

enum {
    SHOWN_MAX = 60,    /* bytes of a value or a name */
    PATTERN_MAX = 200, /* bytes of a pattern         */
    VALUES_MAX = 12,   /* in a list                  */
    NAMES_MAX = 12,
    NEAR_TEXT_MAX = 64, /* longer texts are near to nothing */
    NEAR_MAX = 3,       /* changes */
    BEGIN_MIN = 2,      /* bytes of a word that others begin with */
    BEGUN_MAX = 4,      /* of those that do */
    QUOTED_MAX = 64 << 10,
};

/* ---- values ---- */

static void message_text(struct buf *out, str text, size_t most)
{
    str shown = utf8_cut(text, most);

    buf_add(out, shown);
    if (shown.len < text.len)
        buf_add(out, STR("…"));
}

void message_name(struct buf *out, str name)
{
    str shown = utf8_cut(name, SHOWN_MAX);

    json_print_string(out, shown);
    if (shown.len < name.len)
        buf_add(out, STR("…"));
}

void message_pattern(struct buf *out, str pattern)
{
    message_text(out, pattern, PATTERN_MAX);
}

/* Prints a value, unless that takes more bytes than are left: a document may be large, and what
 * it holds is not walked for a message. */
static bool print_short(struct buf *out, const struct json *v, size_t end)
{
    if (out->len + v->len > end && v->kind >= JSON_INTEGER)
        return false;
    if (v->kind != JSON_ARRAY && v->kind != JSON_OBJECT) {
        json_print(out, v);
        return out->len <= end;
    }
    buf_byte(out, v->kind == JSON_ARRAY ? '[' : '{');
    for (uint32_t i = 0; i < v->len; i++) {
        if (i)
            buf_byte(out, ',');
        if (v->kind == JSON_OBJECT) {
            if (out->len + v->members[i].name_len > end)
                return false;
            json_print_string(out, json_name(&v->members[i]));
            buf_byte(out, ':');
        }
        if (!print_short(out, v->kind == JSON_ARRAY ? &v->items[i] : &v->members[i].value, end))
            return false;
    }
    buf_byte(out, v->kind == JSON_ARRAY ? ']' : '}');
    return out->len <= end;
}

void message_count(struct buf *out, uint64_t count, const char *noun)
{
    buf_printf(out, "%llu %s%s", (unsigned long long)count, noun, count == 1 ? "" : "s");
}

void message_value(struct buf *out, const struct json *v)
{
    size_t start = out->len;

    if (v->kind == JSON_STRING) {
        message_name(out, json_text(v));
    } else if (json_is_number(v)) {
        message_text(out, json_text(v), SHOWN_MAX);
    } else if (!print_short(out, v, start + SHOWN_MAX)) {
        out->len = start;
        buf_add(out, v->kind == JSON_ARRAY ? STR("an array of ") : STR("an object of "));
        message_count(out, v->len, v->kind == JSON_ARRAY ? "element" : "member");
    }
}

/* ---- lists ---- */

void message_values(struct buf *out, const struct json *values, size_t count)
{
    if (count != 1)
        buf_add(out, count ? STR("one of ") : STR("no value"));
    for (size_t i = 0; i < count && i < VALUES_MAX; i++) {
        if (i)
            buf_add(out, STR(", "));
        message_value(out, &values[i]);
    }
    if (count > VALUES_MAX)
        buf_printf(out, " and %zu more", count - VALUES_MAX);
}

void message_names(struct buf *out, const str *names, size_t count)
{
    for (size_t i = 0; i < count && i < NAMES_MAX; i++) {
        if (i)
            buf_add(out, STR(", "));
        message_name(out, names[i]);
    }
    if (count > NAMES_MAX)
        buf_printf(out, " and %zu more", count - NAMES_MAX);
}

void message_kinds(struct buf *out, unsigned kinds, bool whole)
{
    static const struct {
        enum json_kind kind;
        const char *words;
    } order[] = {
        { JSON_STRING, "a string" }, { JSON_INTEGER, "an integer" }, { JSON_REAL, "a number" },
        { JSON_BOOL, "a boolean" },  { JSON_ARRAY, "an array" },     { JSON_OBJECT, "an object" },
        { JSON_NULL, "null" },
    };
    const char *before = "";

    /* Numbers let integers through, and integers let 1.0 through: one word says both. */
    if (kinds >> JSON_REAL & 1)
        kinds &= ~(1u << (whole ? JSON_REAL : JSON_INTEGER));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (!(kinds >> order[i].kind & 1))
            continue;
        kinds &= ~(1u << order[i].kind);
        buf_printf(out, "%s%s", before, order[i].words);
        before = (kinds & (kinds - 1)) ? ", " : " or ";
    }
}

/* ---- did you mean ---- */

struct nearest nearest_to(str wanted, uint32_t *cells_left)
{
    size_t most = wanted.len / 3;

    return (struct nearest){
        .wanted = wanted,
        .cells_left = cells_left,
        .best = (unsigned)(most < NEAR_MAX ? most : NEAR_MAX) + 1,
    };
}

static str lower(char *at, str s)
{
    for (size_t i = 0; i < s.len; i++)
        at[i] = (char)(s.at[i] >= 'A' && s.at[i] <= 'Z' ? s.at[i] + ('a' - 'A') : s.at[i]);
    return (str){ at, s.len };
}

void nearest_try(struct nearest *n, str text, const void *thing)
{
    char wanted[NEAR_TEXT_MAX], other[NEAR_TEXT_MAX];
    size_t longer = n->wanted.len > text.len ? n->wanted.len : text.len;
    size_t apart = longer - (n->wanted.len > text.len ? text.len : n->wanted.len);
    uint32_t cells = (uint32_t)(longer * longer) + 1;

    if (text.len == 0 || longer > NEAR_TEXT_MAX || apart >= n->best || cells > *n->cells_left)
        return;
    *n->cells_left -= cells;
    unsigned d = str_distance(lower(wanted, n->wanted), lower(other, text), n->best);
    if (d < n->best) {
        n->best = d;
        n->found = thing;
    }
}

/* What a scalar looks like without its quotes; nothing for a container. */
static str scalar_text(const struct json *v)
{
    switch (v->kind) {
    case JSON_NULL: return STR("null");
    case JSON_BOOL: return v->len ? STR("true") : STR("false");
    case JSON_INTEGER:
    case JSON_REAL:
    case JSON_STRING: return json_text(v);
    default: return STR("");
    }
}

static const struct json *nearest_value(const struct json *v, const struct json *values,
                                        size_t count, uint32_t *cells_left)
{
    struct nearest n = nearest_to(scalar_text(v), cells_left);

    /* Of two numbers that differ neither is meant by the other; only a text can be misspelt. */
    for (size_t i = 0; i < count; i++)
        if (v->kind == JSON_STRING || values[i].kind == JSON_STRING)
            nearest_try(&n, scalar_text(&values[i]), &values[i]);
    return n.found;
}

static bool begins_with(const struct json *value, str word)
{
    str text = scalar_text(value);

    return value->kind == JSON_STRING && word.len >= BEGIN_MIN && text.len > word.len &&
           str_starts(text, word) && strchr("_-. /", text.at[word.len]);
}

/* Half of a longer word is nearer to it than to a short one that differs by a letter. */
void message_meant(struct buf *out, const struct json *v, const struct json *values, size_t count,
                   uint32_t *cells_left)
{
    const struct json *meant[BEGUN_MAX];
    size_t found = 0;

    for (size_t i = 0; i < count && found < BEGUN_MAX && v->kind == JSON_STRING; i++)
        if (begins_with(&values[i], json_text(v)))
            meant[found++] = &values[i];
    if (!found) {
        meant[0] = nearest_value(v, values, count, cells_left);
        found = meant[0] != NULL;
    }
    for (size_t i = 0; i < found; i++) {
        buf_add(out, i == 0 ? STR("; did you mean ") : i + 1 < found ? STR(", ") : STR(" or "));
        message_value(out, meant[i]);
    }
    buf_add(out, found ? STR("?") : STR(""));
}

/* ---- JSON inside of a string ---- */

void message_quoted(struct buf *out, const struct json *v, unsigned kinds)
{
    const struct json *held;
    str text = v->kind == JSON_STRING ? str_trim(json_text(v)) : STR("");

    if (!text.len || text.len > QUOTED_MAX || kinds >> JSON_STRING & 1 || !strchr("[{", text.at[0]))
        return;
    struct arena *scratch = arena_new(); /* only what it is counts, and that may be large */
    if (!json_parse(scratch, text, NULL, &held) && kinds >> held->kind & 1)
        buf_printf(out, ": this is JSON inside of a string; write the %s itself, without quotes",
                   held->kind == JSON_ARRAY ? "array" : "object");
    arena_free(scratch);
}

str message_errors(struct arena *a, const struct violation *list, size_t count)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    buf_add(&out, STR("\"errors\":"));
    json_write_begin(&w, '[');
    for (size_t i = 0; i < count; i++) {
        json_write_begin(&w, '{');
        write_text(&w, STR("pointer"), list[i].pointer);
        write_text(&w, STR("keyword"), list[i].keyword);
        write_text(&w, STR("message"), list[i].message);
        json_write_end(&w, '}');
    }
    json_write_end(&w, ']');
    return buf_str(&out);
}
