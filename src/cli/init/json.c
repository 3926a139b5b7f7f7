/* json.c: changes of a JSON text that leave the rest of it as it was written.
 *
 * The plain text was parsed before, so that the scanner here may trust it: it only looks for where
 * things begin and end. Each byte of it stands where it stands in the text itself. */
#include "cli/init/json.h"

#include <assert.h>

#include "cli/init/text.h"
#include "json/pointer.h"

enum { LINE_MAX_ = 100 }; /* what fits into so many columns is written on one line */

struct entry {
    size_t start;    /* of the name, or of the element */
    size_t from, to; /* of the value */
};

/* ---- where things are ---- */

/* A NUL, which a comment may have, is in no set. */
static bool is_in(const char *set, char c)
{
    return c && strchr(set, c);
}

static size_t space_end(str s, size_t at)
{
    while (at < s.len && is_in(" \t\r\n", s.at[at]))
        at++;
    return at;
}

static size_t string_end(str s, size_t at)
{
    for (at++; s.at[at] != '"'; at++)
        at += s.at[at] == '\\';
    return at + 1;
}

static size_t value_end(str s, size_t at)
{
    size_t depth = 0;

    do {
        char c = s.at[at];
        if (c == '"') {
            at = string_end(s, at);
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at++;
        if (depth == 0 && !is_in("}]", c))
            while (at < s.len && !is_in(" \t\r\n,]}", s.at[at]))
                at++;
    } while (depth > 0);
    return at;
}

/* The entry that begins at or after `at`, in a container; false: the container ends there. */
static bool entry_next(str s, bool object, size_t at, struct entry *out)
{
    at = space_end(s, at);
    if (s.at[at] == ',')
        at = space_end(s, at + 1);
    if (s.at[at] == '}' || s.at[at] == ']')
        return false;
    out->start = out->from = at;
    if (object)
        out->from = space_end(s, space_end(s, string_end(s, at)) + 1); /* behind the colon */
    out->to = value_end(s, out->from);
    return true;
}

/* Entry number `index` of the container at `at`. */
static struct entry entry_at(str s, size_t at, size_t index)
{
    bool object = s.at[at] == '{', found = true;
    struct entry e = { .to = at + 1 };

    for (size_t i = 0; i <= index && found; i++)
        found = entry_next(s, object, e.to, &e);
    assert(found);
    return e;
}

/* ---- what JSON does not have ---- */

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* Where a comment at `at` ends; `at` itself when there is none. */
static size_t comment_end(str s, size_t at)
{
    str rest = str_slice(s, at, s.len);

    if (str_starts(rest, STR("//")))
        return at + str_find(rest, '\n');
    if (!str_starts(rest, STR("/*")))
        return at;
    for (at += 2; at < s.len; at++)
        if (s.at[at] == '/' && s.at[at - 1] == '*' && at > s.len - rest.len + 2)
            return at + 1;
    return s.len;
}

static size_t plain_string_end(str s, size_t at)
{
    for (at++; at < s.len && s.at[at] != '"' && s.at[at] != '\n'; at++)
        at += s.at[at] == '\\';
    return at < s.len ? at + 1 : s.len;
}

static void blank(char *out, str text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        out[i] = text.at[i] == '\n' ? '\n' : ' ';
}

str json_text_plain(struct arena *a, str text)
{
    char *out = (char *)arena_copy(a, text).at;
    size_t comma =
        text.len; /* the last one, when a value stands before it and only spaces behind */
    size_t at = str_starts(text, STR(BYTE_ORDER_MARK)) ? strlen(BYTE_ORDER_MARK) : 0;
    char last = '\0';

    blank(out, text, 0, at);
    for (size_t end; at < text.len; at = end) {
        char c = text.at[at];
        end = c == '"' ? plain_string_end(text, at) : comment_end(text, at);
        if (c != '"' && end > at) {
            blank(out, text, at, end);
            continue;
        }
        end = end > at ? end : at + 1;
        if (is_in(" \t\r\n", c))
            continue;
        if ((c == '}' || c == ']') && comma < text.len)
            out[comma] = ' ';
        comma = c == ',' && last && !is_in("[{,:", last) ? at : text.len;
        last = c;
    }
    return (str){ out, text.len };
}

/* Where spaces and comments end that begin at `at`; *line: the last of these comments goes to the
 * end of its line. */
static size_t gap_end(str s, size_t at, bool *line)
{
    *line = false;
    for (size_t end;; at = end) {
        end = comment_end(s, at);
        if (end > at)
            *line = s.at[at + 1] == '/';
        else
            end = space_end(s, at);
        if (end == at)
            return at;
    }
}

/* Whether there is a comment in what parts two values. */
static bool gap_commented(str s, size_t from, size_t to)
{
    for (; from < to; from++)
        if (!is_in(" \t\r\n,", s.at[from]))
            return true;
    return false;
}

/* ---- reading ---- */

/* As deep as JSON may be, and of any length: with what is written to it, it is longer. */
static const struct json_limits limits = { .bytes_max = JSON_BYTES_CEILING };

static err text_try(struct json_text *t, str text)
{
    t->text = text;
    t->plain = json_text_plain(t->arena, text);
    t->json = NULL;
    return str_trim(t->plain).len || str_trim(text).len
               ? json_parse(t->arena, t->plain, &limits, &t->json)
               : NULL;
}

static void text_is(struct json_text *t, str text)
{
    err e = text_try(t, text);
    assert(!e); /* what we write is JSON */
}

err json_text_open(struct arena *a, str text, struct json_text *out)
{
    *out = (struct json_text){ .arena = a };
    TRY(text_try(out, text));
    out->made = !text.len;
    if (!out->json)
        out->text = out->plain = STR("");
    return NULL;
}

const struct json *json_text_get(const struct json_text *t, const char *pointer)
{
    const struct json *found = NULL;

    if (!t->json || json_pointer_get(t->arena, t->json, str_from(pointer), &found))
        return NULL;
    return found;
}

/* ---- how things look ---- */

/* The line end and the indentation in front of what begins at `at`; false: something else stands
 * before it on its line. */
static bool line_start(str s, size_t at, str *indent)
{
    size_t from = at;

    while (from > 0 && (s.at[from - 1] == ' ' || s.at[from - 1] == '\t'))
        from--;
    *indent = str_slice(s, from, at);
    return from > 0 && s.at[from - 1] == '\n';
}

/* The indentation of the line that holds `at`. */
static str line_indent(str s, size_t at)
{
    size_t from = at, to;

    while (from > 0 && s.at[from - 1] != '\n')
        from--;
    for (to = from; to < at && (s.at[to] == ' ' || s.at[to] == '\t');)
        to++;
    return str_slice(s, from, to);
}

struct json_style {
    str eol;
    str unit;   /* of indentation; empty: all is on one line */
    str indent; /* of what is written */
};

/* One step of indentation: that of the first member. */
static str unit_of(str s)
{
    size_t open = space_end(s, 0);
    struct entry e;
    str unit;

    if (!s.len || !entry_next(s, s.at[open] == '{', open + 1, &e))
        return STR("  ");
    return line_start(s, e.start, &unit) && unit.len ? unit : STR("");
}

static void put_spaced(struct buf *out, const struct json *j)
{
    bool object = json_is(j, JSON_OBJECT);

    if (j->kind < JSON_ARRAY || j->len == 0) {
        json_print(out, j);
        return;
    }
    buf_add(out, object ? STR("{ ") : STR("["));
    for (uint32_t i = 0; i < j->len; i++) {
        if (i)
            buf_add(out, STR(", "));
        if (object) {
            json_print_string(out, json_name(&j->members[i]));
            buf_add(out, STR(": "));
        }
        put_spaced(out, object ? &j->members[i].value : &j->items[i]);
    }
    buf_add(out, object ? STR(" }") : STR("]"));
}

static void put_value(struct buf *out, const struct json *j, struct json_style look, size_t column)
{
    struct buf flat = buf_in(out->arena);
    bool object = json_is(j, JSON_OBJECT);

    put_spaced(&flat, j);
    if (!look.unit.len || j->kind < JSON_ARRAY || column + flat.len <= LINE_MAX_) {
        buf_add(out, buf_str(&flat));
        return;
    }
    struct json_style inner = look;
    inner.indent =
        arena_printf(out->arena, STR_FMT STR_FMT, STR_ARG(look.indent), STR_ARG(look.unit));
    buf_byte(out, object ? '{' : '[');
    for (uint32_t i = 0; i < j->len; i++) {
        size_t start = out->len + look.eol.len + (i > 0);
        buf_printf(out, "%s" STR_FMT STR_FMT, i ? "," : "", STR_ARG(look.eol),
                   STR_ARG(inner.indent));
        if (object) {
            json_print_string(out, json_name(&j->members[i]));
            buf_add(out, STR(": "));
        }
        put_value(out, object ? &j->members[i].value : &j->items[i], inner, out->len - start);
    }
    buf_printf(out, STR_FMT STR_FMT "%c", STR_ARG(look.eol), STR_ARG(look.indent),
               object ? '}' : ']');
}

/* `"name": value`, or the value alone. */
static str entry_text(struct arena *a, const str *name, const struct json *value,
                      struct json_style look)
{
    struct buf out = buf_in(a);

    if (name) {
        json_print_string(&out, *name);
        buf_add(&out, STR(": "));
    }
    put_value(&out, value, look, look.indent.len + out.len);
    return buf_str(&out);
}

/* ---- changing ---- */

/* Two changes of one text, the first one before the second. */
static str spliced(struct json_text *t, size_t at, size_t to, str with, size_t second, str behind)
{
    str s = text_splice(t->arena, t->text, second, second, behind);
    return text_splice(t->arena, s, at, to, with);
}

/* The comma behind what ends at `at`, with what may be between; the text's end: there is none. */
static size_t comma_behind(str s, size_t at)
{
    bool ignored;
    size_t end = gap_end(s, at, &ignored);

    return end < s.len && s.at[end] == ',' ? end : s.len;
}

/* Where a comment that begins on the same line ends; `at` itself when there is none. */
static size_t line_tail(str s, size_t at)
{
    for (size_t next = at;; at = next) {
        while (next < s.len && (s.at[next] == ' ' || s.at[next] == '\t'))
            next++;
        size_t end = comment_end(s, next);
        if (end == next)
            return at;
        next = str_starts(str_slice(s, next, end), STR("//")) && s.at[end - 1] == '\r' ? end - 1
                                                                                       : end;
    }
}

static str indented(struct arena *a, struct json_style look, str text)
{
    return arena_printf(a, STR_FMT STR_FMT STR_FMT, STR_ARG(look.eol), STR_ARG(look.indent),
                        STR_ARG(text));
}

/* Behind the last entry: with a comma of its own where that has one, else with one before it. What is
 * said of the last one on its line stays there. */
static void entry_append(struct json_text *t, size_t at, size_t count, const str *name,
                         const struct json *value)
{
    struct arena *a = t->arena;
    struct json_style look = { .eol = text_eol(t->text), .unit = unit_of(t->plain) };
    struct entry last = entry_at(t->plain, at, count - 1);
    bool lined = line_start(t->plain, entry_at(t->plain, at, 0).start, &look.indent);
    size_t comma = comma_behind(t->text, last.to);
    bool ended = comma < t->text.len; /* by a comma, though it is the last */
    size_t behind = ended ? comma + 1 : last.to;

    if (!lined)
        look.unit = look.indent = STR("");
    str text = entry_text(a, name, value, look);
    text = lined ? indented(a, look, text) : arena_printf(a, " " STR_FMT, STR_ARG(text));
    size_t tail = lined ? line_tail(t->text, behind) : behind;
    if (ended)
        text_is(t,
                text_splice(a, t->text, tail, tail, arena_printf(a, STR_FMT ",", STR_ARG(text))));
    else
        text_is(t, spliced(t, last.to, last.to, STR(","), tail, text));
}

/* Into a container that is empty, but may have comments. */
static void entry_first(struct json_text *t, size_t at, const str *name, const struct json *value)
{
    struct arena *a = t->arena;
    struct json_style look = { .eol = text_eol(t->text), .unit = unit_of(t->plain) };
    size_t close = value_end(t->plain, at) - 1;
    bool object = t->plain.at[at] == '{', commented = gap_commented(t->text, at + 1, close);
    bool ours = t->made && at == space_end(t->plain, 0);
    str outer = line_indent(t->text, at);

    if (commented && !look.unit.len)
        look.unit = STR("  ");
    if (!look.unit.len) {
        look.indent = STR("");
        str text = entry_text(a, name, value, look);
        text = arena_printf(a, object ? STR_FMT : " " STR_FMT " ", STR_ARG(text));
        text_is(t, text_splice(a, t->text, at + 1, close, text));
        return;
    }
    look.indent = arena_printf(a, STR_FMT STR_FMT, STR_ARG(outer), STR_ARG(look.unit));
    str text = indented(a, look, entry_text(a, name, value, look));
    if (commented) { /* behind the last one, and what follows that stays */
        size_t from = close;
        while (is_in(" \t\r\n", t->text.at[from - 1]))
            from--;
        text_is(t, text_splice(a, t->text, from, from, text));
        return;
    }
    text = arena_printf(a, STR_FMT STR_FMT STR_FMT STR_FMT, STR_ARG(ours ? STR("") : look.eol),
                        STR_ARG(text), STR_ARG(look.eol), STR_ARG(outer));
    text_is(t, text_splice(a, t->text, at + 1, close, text));
}

static void entry_add(struct json_text *t, size_t at, size_t count, const str *name,
                      const struct json *value)
{
    if (count > 0)
        entry_append(t, at, count, name, value);
    else
        entry_first(t, at, name, value);
}

/* One step from the value at *at: true, with its place and number, when it is there. */
static bool step(const struct json_text *t, const struct json **j, size_t *at, str token,
                 uint32_t *index)
{
    const struct json *next = json_pointer_step(*j, token);

    if (!next)
        return false;
    if (json_is(*j, JSON_ARRAY))
        json_pointer_index(token, index);
    else
        for (*index = 0; &(*j)->members[*index].value != next;)
            ++*index;
    *at = entry_at(t->plain, *at, *index).from;
    *j = next;
    return true;
}

static struct json_pointer tokens_of(const struct json_text *t, const char *pointer)
{
    struct json_pointer p;
    err e = json_pointer_parse(t->arena, str_from(pointer), &p);

    assert(!e && p.count > 0);
    return p;
}

/* A value with objects around it for the names that are not there yet. */
static struct json wrapped(struct arena *a, const str *names, size_t count,
                           const struct json *value)
{
    struct json j = *value;

    while (count-- > 0) {
        struct json outer = json_object();
        json_put(a, &outer, names[count], j);
        j = outer;
    }
    return j;
}

static err not_a(struct json_text *t, const char *pointer, const struct json *found,
                 const char *wanted)
{
    return err_new(t->arena, ERR_INVALID, "expected %s on the way to %s, but found: %s", wanted,
                   pointer, json_kind_name(found->kind));
}

static void text_begin(struct json_text *t)
{
    if (!t->json)
        text_is(t, STR("{}\n"));
}

err json_text_set(struct json_text *t, const char *pointer, const struct json *value)
{
    struct json_pointer p = tokens_of(t, pointer);
    uint32_t index;
    size_t i = 0;

    text_begin(t);
    const struct json *j = t->json;
    size_t at = space_end(t->plain, 0);
    while (i < p.count && step(t, &j, &at, p.tokens[i], &index))
        i++;
    if (i == p.count) {
        struct json_style look = { text_eol(t->text), unit_of(t->plain), line_indent(t->text, at) };
        text_is(t, text_splice(t->arena, t->text, at, value_end(t->plain, at),
                               entry_text(t->arena, NULL, value, look)));
        return NULL;
    }
    if (!json_is(j, JSON_OBJECT))
        return not_a(t, pointer, j, "an object");
    struct json whole = wrapped(t->arena, p.tokens + i + 1, p.count - i - 1, value);
    entry_add(t, at, j->len, &p.tokens[i], &whole);
    return NULL;
}

err json_text_push(struct json_text *t, const char *pointer, const struct json *value)
{
    struct json_pointer p = tokens_of(t, pointer);
    const struct json *array = json_text_get(t, pointer), *j = t->json;
    size_t at = space_end(t->plain, 0);
    uint32_t index;

    if (!array) {
        struct json one = json_array();
        json_push(t->arena, &one, *value);
        return json_text_set(t, pointer, &one);
    }
    if (!json_is(array, JSON_ARRAY))
        return not_a(t, pointer, array, "an array");
    for (size_t i = 0; i < p.count; i++)
        step(t, &j, &at, p.tokens[i], &index);
    entry_add(t, at, array->len, NULL, value);
    return NULL;
}

/* Whether the container at `at`, which has one entry alone, was made here: see the header. */
static bool is_made(const struct json_text *t, size_t at)
{
    str s = t->text;
    size_t next = at + 1;

    while (next < s.len && is_in(" \t\r", s.at[next]))
        next++;
    if (next < s.len && s.at[next] == '\n') {
        for (next++; next < s.len && is_in(" \t\r", s.at[next]);)
            next++;
        return next == s.len || s.at[next] != '\n';
    }
    return (s.at[at] == '{') == (s.at[at + 1] == ' ');
}

/* Where the space before an entry begins that goes with it: its indentation, and the end of the line
 * before, unless that ends a comment and something follows. */
static size_t space_before(str s, size_t gap, size_t start, size_t end)
{
    size_t from = start;
    bool line;

    gap_end(s, gap, &line);
    while (from > gap && (s.at[from - 1] == ' ' || s.at[from - 1] == '\t'))
        from--;
    while (end < s.len && (s.at[end] == ' ' || s.at[end] == '\t'))
        end++;
    if (from == gap || s.at[from - 1] != '\n' ||
        (line && end < s.len && s.at[end] != '\n' && s.at[end] != '\r'))
        return from;
    return from - 1 > gap && s.at[from - 2] == '\r' ? from - 2 : from - 1;
}

/* Takes an entry out with a comma: its own, or the one before it, which `gap` is behind. */
static void entry_cut(struct json_text *t, struct entry e, size_t gap, bool first)
{
    str s = t->text;
    size_t own = comma_behind(s, e.to);
    bool apart = own < s.len && gap_commented(s, e.to, own);
    size_t to = own < s.len && !apart ? own + 1 : e.to;
    size_t from = space_before(s, gap, e.start, to);

    if (apart)
        s = text_splice(t->arena, s, own, own + 1, STR(""));
    s = text_splice(t->arena, s, from, to, STR(""));
    if (own == t->text.len && !first)
        s = text_splice(t->arena, s, gap - 1, gap, STR(""));
    text_is(t, s);
}

/* With the comma and the space that part it from its neighbour; comments stay. *emptied: nothing is
 * left in the container, and it was made here. */
static void entry_drop(struct json_text *t, size_t at, uint32_t index, uint32_t count,
                       bool *emptied)
{
    str s = t->text;
    struct entry e = entry_at(t->plain, at, index);
    size_t close = value_end(t->plain, at) - 1;
    size_t next = count > 1 && index == 0 ? entry_at(t->plain, at, 1).start : close;

    *emptied = false;
    if (count == 1 && !gap_commented(s, at + 1, e.start) && !gap_commented(s, e.to, close)) {
        *emptied = is_made(t, at);
        text_is(t, text_splice(t->arena, s, at + 1, close, STR("")));
    } else if (count > 1 && index == 0 && !gap_commented(s, e.to, next)) {
        text_is(t, text_splice(t->arena, s, e.start, next, STR("")));
    } else if (index == 0) {
        entry_cut(t, e, at + 1, true);
    } else {
        entry_cut(t, e, comma_behind(s, entry_at(t->plain, at, index - 1).to) + 1, false);
    }
}

/* ---- one location ---- */

struct location {
    size_t at, outer; /* where the value and the container around it begin */
    const struct json *container;
    uint32_t index; /* in it */
};

static bool location_find(const struct json_text *t, const struct json_pointer *p, size_t count,
                          struct location *out)
{
    const struct json *j = t->json;

    *out = (struct location){ .at = space_end(t->plain, 0) };
    for (size_t i = 0; i < count; i++) {
        out->container = j;
        out->outer = out->at;
        if (!step(t, &j, &out->at, p->tokens[i], &out->index))
            return false;
    }
    return true;
}

void json_text_drop(struct json_text *t, const char *pointer)
{
    struct json_pointer p = tokens_of(t, pointer);
    struct location found;
    bool emptied = true;

    for (size_t count = p.count; t->json && emptied && count > 0; count--) {
        if (!location_find(t, &p, count, &found))
            return;
        entry_drop(t, found.outer, found.index, found.container->len, &emptied);
    }
    size_t root = space_end(t->plain, 0); /* the container around all */
    if (t->json && emptied && !gap_commented(t->text, 0, root) &&
        !gap_commented(t->text, root + 2, t->text.len))
        *t = (struct json_text){
            .arena = t->arena, .text = STR(""), .plain = STR(""), .made = true
        };
}

bool json_text_commented(const struct json_text *t, const char *pointer)
{
    struct json_pointer p = tokens_of(t, pointer);
    struct location found;

    if (!t->json || !location_find(t, &p, p.count, &found))
        return false;
    size_t end = value_end(t->plain, found.at);
    for (size_t i = found.at; i < end; i++)
        if (t->text.at[i] == '/' && t->plain.at[i] == ' ')
            return true;
    return false;
}
