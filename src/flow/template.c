/* template.c: texts with expressions in them.
 *
 * A template is a list of parts: a text as it is, then the value of an expression. Where an expression
 * ends is found by its brackets and quotes alone, before it is compiled; so that an error in it is told
 * with its place in the whole. */
#include "flow/template.h"

#include "base/map.h"
#include "base/utf8.h"

struct part {
    str text;                /* in front of the expression */
    const struct feel *feel; /* NULL: behind the last one */
};

struct template
{
    str text;
    const struct part *parts;
    size_t count;
    const str *names;
    size_t name_count;
};

/* ---- compiling ---- */

struct place {
    size_t line, column;
};

/* Lines count from 1, columns count code points, from 1. */
static struct place place_of(str text, size_t at)
{
    struct place p = { .line = 1 };
    size_t start = 0;

    for (size_t i = 0; i < at; i++)
        if (text.at[i] == '\n') {
            p.line++;
            start = i + 1;
        }
    p.column = utf8_length(str_slice(text, start, at)) + 1;
    return p;
}

/* Behind what is quoted from here on; the end when it is not closed. */
static size_t skip_quoted(str text, size_t at)
{
    char quote = text.at[at++];

    while (at < text.len && text.at[at] != quote)
        at += text.at[at] == '\\' && quote == '"' ? 2 : 1;
    return at < text.len ? at + 1 : text.len;
}

/* Where the }} stands that ends the expression that begins here, or SIZE_MAX. */
static size_t find_end(str text, size_t at)
{
    size_t open = 0;

    while (at < text.len) {
        char c = text.at[at];
        if (c == '"' || c == '`') {
            at = skip_quoted(text, at);
            continue;
        }
        if (c == '{')
            open++;
        if (c == '}' && open == 0)
            return at + 1 < text.len && text.at[at + 1] == '}' ? at : SIZE_MAX;
        if (c == '}')
            open--;
        at++;
    }
    return SIZE_MAX;
}

/* Where the next {{ stands, or the end. */
static size_t find_start(str text, size_t at)
{
    for (; at < text.len; at++) {
        at += str_find(str_slice(text, at, text.len), '{');
        if (at + 1 < text.len && text.at[at + 1] == '{')
            return at;
    }
    return text.len;
}

static err compile_part(struct arena *a, str text, size_t start, size_t *end, struct part *out)
{
    err e;

    *end = find_end(text, start + 2);
    if (*end == SIZE_MAX)
        e = err_new(a, ERR_INVALID,
                    "expected }} behind the expression that begins here, found none: close it, or "
                    "write {{ \"{{\" }} for the two braces");
    else
        e = feel_compile(a, str_slice(text, start + 2, *end), &out->feel);
    if (!e)
        return NULL;
    struct place p = place_of(text, start);
    return err_within(a, e, "line %zu, column %zu", p.line, p.column);
}

/* How many expressions there may be. */
static size_t count_starts(str text)
{
    size_t count = 0;
    for (size_t at = 0; (at = find_start(text, at)) < text.len; at += 2)
        count++;
    return count;
}

/* The names of all parts, each once. */
static void collect_names(struct arena *a, struct template *t)
{
    struct map seen = map_in(a);
    size_t room = 0;
    const str *names;

    for (size_t i = 0; i < t->count; i++)
        room += t->parts[i].feel ? feel_names(t->parts[i].feel, &names) : 0;
    str *all = ARENA_ARRAY(a, str, room);
    for (size_t i = 0; i < t->count; i++) {
        size_t count = t->parts[i].feel ? feel_names(t->parts[i].feel, &names) : 0;
        for (size_t n = 0; n < count; n++)
            if (!map_put(&seen, names[n], t))
                all[t->name_count++] = names[n];
    }
    t->names = all;
}

err template_compile(struct arena *a, str text, const struct template **out)
{
    if (text.len > TEMPLATE_BYTES_MAX)
        return err_new(a, ERR_INVALID, "expected a template of at most %u bytes, found %zu",
                       TEMPLATE_BYTES_MAX, text.len);
    if (!utf8_valid(text))
        return err_new(a, ERR_INVALID, "expected a template in UTF-8, found byte %zu not to be",
                       utf8_valid_to(text));

    struct template *t = ARENA_NEW(a, struct template);
    text = t->text = arena_copy(a, text);
    struct part *parts = ARENA_ARRAY(a, struct part, count_starts(text) + 1);
    size_t at = 0, start, end;
    while ((start = find_start(text, at)) < text.len) {
        struct part *part = &parts[t->count++];
        part->text = str_slice(text, at, start);
        TRY(compile_part(a, text, start, &end, part));
        at = end + 2;
    }
    parts[t->count++] = (struct part){ .text = str_slice(text, at, text.len) };
    t->parts = parts;
    collect_names(a, t);
    *out = t;
    return NULL;
}

size_t template_names(const struct template *t, const str **names)
{
    *names = t->names;
    return t->name_count;
}

str template_text(const struct template *t)
{
    return t->text;
}

/* ---- rendering ---- */

static void put_value(struct buf *out, const struct json *value)
{
    if (json_is(value, JSON_STRING))
        buf_add(out, json_text(value));
    else if (!json_is(value, JSON_NULL))
        json_print(out, value);
}

err template_render(struct arena *a, const struct template *t, const struct feel_scope *scope,
                    int64_t now_ms, str *out)
{
    struct buf text = buf_in(a);
    uint32_t steps = FEEL_STEPS_MAX;

    for (size_t i = 0; i < t->count; i++) {
        struct feel_result result;
        buf_add(&text, t->parts[i].text);
        if (t->parts[i].feel) {
            TRY(feel_eval_within(a, t->parts[i].feel, scope, now_ms, &steps, &result));
            put_value(&text, result.value);
        }
        if (text.len > TEMPLATE_BYTES_MAX)
            return err_new(a, ERR_LIMIT, "the text is longer than the %u bytes that are allowed",
                           TEMPLATE_BYTES_MAX);
    }
    *out = buf_str(&text);
    return NULL;
}
