/* init_json.c: changes of a JSON text that leave the rest of it as it was written.
 *
 * The text was parsed before, so that the scanner here may trust it: it only looks for where things
 * begin and end. */
#include "cli/init_json.h"

#include <assert.h>

#include "cli/init_text.h"
#include "json/pointer.h"

enum { LINE_MAX_ = 100 }; /* what fits into so many columns is written on one line */

struct entry {
    size_t start;    /* of the name, or of the element */
    size_t from, to; /* of the value */
};

/* ---- where things are ---- */

static size_t space_end(str s, size_t at)
{
    while (at < s.len && strchr(" \t\r\n", s.at[at]))
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
        if (depth == 0 && !strchr("}]", c))
            while (at < s.len && !strchr(" \t\r\n,]}", s.at[at]))
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

/* ---- reading ---- */

static void text_is(struct json_text *t, str text)
{
    t->text = text;
    err e = json_parse(t->arena, text, NULL, &t->json);
    assert(!e); /* what we write is JSON */
}

err json_text_open(struct arena *a, str text, struct json_text *out)
{
    *out = (struct json_text){ .arena = a, .text = text };
    if (str_trim(text).len)
        return json_parse(a, text, NULL, &out->json);
    out->text = STR("");
    return NULL;
}

const struct json *json_text_get(const struct json_text *t, const char *pointer)
{
    const struct json *found = NULL;

    if (!t->json || json_pointer_get(t->arena, t->json, str_from(pointer), &found))
        return NULL;
    return found;
}

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

str json_text_plain(struct arena *a, str text, bool *had)
{
    char *out = (char *)arena_copy(a, text).at;
    size_t comma = text.len; /* the last one that only spaces follow so far */

    *had = false;
    for (size_t at = 0, end; at < text.len; at = end) {
        char c = text.at[at];
        end = c == '"' ? plain_string_end(text, at) : comment_end(text, at);
        if (c != '"' && end > at) {
            *had = true;
            for (size_t i = at; i < end; i++)
                out[i] = text.at[i] == '\n' ? '\n' : ' ';
            continue;
        }
        if ((c == '}' || c == ']') && comma < text.len) {
            *had = true;
            out[comma] = ' ';
        }
        comma = c == ',' ? at : strchr(" \t\r\n", c) ? comma : text.len;
        end = end > at ? end : at + 1;
    }
    return (str){ out, text.len };
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

struct look {
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

static void put_value(struct buf *out, const struct json *j, struct look look, size_t column)
{
    struct buf flat = buf_in(out->arena);
    bool object = json_is(j, JSON_OBJECT);

    put_spaced(&flat, j);
    if (!look.unit.len || j->kind < JSON_ARRAY || column + flat.len <= LINE_MAX_) {
        buf_add(out, buf_str(&flat));
        return;
    }
    struct look inner = look;
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
static str entry_text(struct arena *a, const str *name, const struct json *value, struct look look)
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

/* Adds an entry behind the last of the container at `at`. */
static void entry_add(struct json_text *t, size_t at, size_t count, const str *name,
                      const struct json *value)
{
    struct arena *a = t->arena;
    str s = t->text;
    struct look look = { .eol = text_eol(s), .unit = unit_of(s) };

    if (count > 0) {
        struct entry last = entry_at(s, at, count - 1);
        bool lined = line_start(s, entry_at(s, at, 0).start, &look.indent);
        if (!lined)
            look.unit = look.indent = STR("");
        str text = entry_text(a, name, value, look);
        text = lined ? arena_printf(a, "," STR_FMT STR_FMT STR_FMT, STR_ARG(look.eol),
                                    STR_ARG(look.indent), STR_ARG(text))
                     : arena_printf(a, ", " STR_FMT, STR_ARG(text));
        text_is(t, text_splice(a, s, last.to, last.to, text));
        return;
    }
    str outer = line_indent(s, at);
    look.indent = look.unit.len
                      ? arena_printf(a, STR_FMT STR_FMT, STR_ARG(outer), STR_ARG(look.unit))
                      : STR("");
    str text = entry_text(a, name, value, look);
    if (look.unit.len)
        text = arena_printf(a, STR_FMT STR_FMT STR_FMT STR_FMT STR_FMT, STR_ARG(look.eol),
                            STR_ARG(look.indent), STR_ARG(text), STR_ARG(look.eol), STR_ARG(outer));
    text_is(t, text_splice(a, s, at + 1, value_end(s, at) - 1, text));
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
    *at = entry_at(t->text, *at, *index).from;
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
    size_t at = space_end(t->text, 0);
    while (i < p.count && step(t, &j, &at, p.tokens[i], &index))
        i++;
    if (i == p.count) {
        struct look look = { text_eol(t->text), unit_of(t->text), line_indent(t->text, at) };
        text_is(t, text_splice(t->arena, t->text, at, value_end(t->text, at),
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
    size_t at = space_end(t->text, 0);
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

/* With the comma and the spaces that part it from its neighbour. */
static void entry_drop(struct json_text *t, size_t at, uint32_t index, uint32_t count)
{
    str s = t->text;
    struct entry e = entry_at(s, at, index);

    if (count == 1)
        text_is(t, text_splice(t->arena, s, at + 1, value_end(s, at) - 1, STR("")));
    else if (index > 0)
        text_is(t, text_splice(t->arena, s, entry_at(s, at, index - 1).to, e.to, STR("")));
    else
        text_is(t, text_splice(t->arena, s, e.start, entry_at(s, at, 1).start, STR("")));
}

void json_text_drop(struct json_text *t, const char *pointer)
{
    struct json_pointer p = tokens_of(t, pointer);
    const struct json *j = t->json, *container = j;
    size_t at = space_end(t->text, 0), outer = at;
    uint32_t index = 0;

    if (!j)
        return;
    for (size_t i = 0; i < p.count; i++) {
        container = j;
        outer = at;
        if (!step(t, &j, &at, p.tokens[i], &index))
            return;
    }
    entry_drop(t, outer, index, container->len);
}

void json_text_drop_empty(struct json_text *t, const char *pointer)
{
    const struct json *j = json_text_get(t, pointer);

    if (j && j->kind >= JSON_ARRAY && j->len == 0)
        json_text_drop(t, pointer);
}
