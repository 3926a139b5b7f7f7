/* builder.c: what reading a definition consists of, whatever it is written as: mistakes with their places,
 * members by tables, names, values. */
#include <stdlib.h>

#include "base/date.h"
#include "base/utf8.h"
#include "flow/graph_private.h"
#include "json/pointer.h"

enum {
    NAMES_TRIED_MAX = 4000, /* for "did you mean" */
    CIRCLE_SHOWN = 8,
    YEAR_DAYS = 366,
};

/* ---- mistakes ---- */

static void spot_pointer(struct buf *out, const struct spot *at)
{
    if (!at->outer)
        return;
    spot_pointer(out, at->outer);
    if (at->key.at)
        json_pointer_add(out, utf8_cut(at->key, BUILDER_NAME_MAX));
    else
        json_pointer_add_index(out, at->index);
}

/* In words: `step "review", after: `. */
static void spot_words(struct buf *out, const struct spot *at)
{
    const char *before = "";

    if (!at->outer)
        return;
    if (at->noun && at->name.len) {
        buf_printf(out, "%s ", at->noun);
        message_name(out, at->name);
        return;
    }
    spot_words(out, at->outer);
    if (out->len)
        before = at->outer->noun && at->outer->name.len ? ", " : "/";
    buf_add(out, str_from(before));
    if (at->key.at)
        buf_add(out, utf8_cut(at->key, BUILDER_NAME_MAX));
    else
        buf_printf(out, "%zu", at->index);
}

void builder_wrong(struct builder *b, const struct spot *at, const char *keyword,
                   const char *format, ...)
{
    struct buf pointer = buf_in(b->arena), message = buf_in(b->arena);
    va_list args;

    if (b->mistake_count++ >= BUILDER_MISTAKES_MAX)
        return;
    spot_pointer(&pointer, at);
    spot_words(&message, at);
    if (message.len)
        buf_add(&message, STR(": "));
    va_start(args, format);
    buf_vprintf(&message, format, args);
    va_end(args);
    b->mistakes[b->mistake_count - 1] = (struct violation){
        .pointer = buf_str(&pointer),
        .keyword = str_from(keyword),
        .message = buf_str(&message),
    };
}

void builder_warn(struct builder *b, const char *format, ...)
{
    struct buf text = buf_in(b->arena);
    va_list args;

    if (b->warning_count >= BUILDER_MISTAKES_MAX)
        return;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    b->warnings[b->warning_count++] = buf_str(&text);
}

/* What is said of more mistakes than are kept need not be put into words. */
static bool is_full(const struct builder *b)
{
    return b->mistake_count >= BUILDER_MISTAKES_MAX;
}

str builder_shown(struct builder *b, const struct json *value)
{
    struct buf out = buf_in(b->arena);

    if (is_full(b))
        return STR("");
    message_value(&out, value);
    return buf_str(&out);
}

str builder_named(struct builder *b, str name)
{
    struct buf out = buf_in(b->arena);

    if (is_full(b))
        return STR("");
    message_name(&out, name);
    return buf_str(&out);
}

str builder_meant(struct builder *b, str wanted, const str *names, size_t count)
{
    struct nearest n = nearest_to(wanted, &b->cells_left);
    struct buf out = buf_in(b->arena);

    if (is_full(b))
        return STR("");
    for (size_t i = 0; i < count && i < NAMES_TRIED_MAX; i++)
        nearest_try(&n, names[i], &names[i]);
    if (n.found) {
        buf_add(&out, STR("; did you mean "));
        message_name(&out, *(const str *)n.found);
        buf_byte(&out, '?');
    }
    return buf_str(&out);
}

static void wrong_kind(struct builder *b, const struct spot *at, unsigned kinds,
                       const struct json *found)
{
    struct buf words = buf_in(b->arena);

    message_kinds(&words, kinds, false);
    builder_wrong(b, at, "type", "expected " STR_FMT ", found " STR_FMT, STR_ARG(buf_str(&words)),
                  STR_ARG(builder_shown(b, found)));
}

/* ---- members ---- */

static const struct member *member_find_in(const struct builder *b, const struct member *table,
                                           size_t count, str name)
{
    for (size_t i = 0; i < count; i++)
        if ((!table[i].forms || table[i].forms >> b->kind & 1) &&
            str_eq(str_from(table[i].name), name))
            return &table[i];
    return NULL;
}

static void wrong_member(struct builder *b, const struct members *m, str name,
                         const struct member *table, size_t count)
{
    str names[64];
    size_t n = 0;

    if (is_full(b)) {
        b->mistake_count++;
        return;
    }
    for (size_t i = 0; i < count && n < 64; i++)
        if (!table[i].forms || table[i].forms >> b->kind & 1)
            names[n++] = str_from(table[i].name);
    struct spot spot = spot_member(m->at, name);
    str meant = builder_meant(b, name, names, n);
    struct buf all = buf_in(b->arena);
    if (!meant.len) {
        buf_add(&all, STR("; there are "));
        message_names(&all, names, n);
    }
    builder_wrong(b, &spot, "unknown", "there is no such member" STR_FMT,
                  STR_ARG(meant.len ? meant : buf_str(&all)));
}

void builder_members(struct builder *b, struct members *m, const struct json *object,
                     const struct member *table, size_t count)
{
    for (uint32_t i = 0; i < object->len; i++) {
        str name = json_name(&object->members[i]);
        const struct json *value = &object->members[i].value;
        const struct member *member = member_find_in(b, table, count, name);

        if (!member) {
            wrong_member(b, m, name, table, count);
            continue;
        }
        struct spot spot = spot_member(m->at, name);
        if (m->is[member->slot])
            builder_wrong(b, &spot, "conflict", "this is the same as \"%s\": keep one of them",
                          m->called[member->slot]);
        else if (!(member->kinds >> value->kind & 1))
            wrong_kind(b, &spot, member->kinds, value);
        else {
            m->is[member->slot] = value;
            m->called[member->slot] = member->name;
        }
    }
}

struct spot builder_spot(const struct members *m, unsigned slot)
{
    return m->called[slot] ? spot_member(m->at, str_from(m->called[slot])) : *m->at;
}

/* ---- names ---- */

bool builder_is_name(str text)
{
    bool dots = true;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i], low = (char)(c | 0x20);
        if (!(low >= 'a' && low <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '-' &&
            c != '.')
            return false;
        dots = dots && c == '.';
    }
    return !dots && text.len <= BUILDER_NAME_MAX;
}

static void wrong_name(struct builder *b, const struct spot *at, const char *noun, str found)
{
    builder_wrong(b, at, "format",
                  "expected %s, up to %d letters, digits, \"_\", \"-\" and \".\", found " STR_FMT,
                  noun, BUILDER_NAME_MAX, STR_ARG(builder_named(b, found)));
}

bool builder_id(struct builder *b, const struct spot *at, const struct json *value,
                const char *noun, str *out)
{
    if (value->kind != JSON_STRING && value->kind != JSON_INTEGER) {
        wrong_kind(b, at, 1u << JSON_STRING | 1u << JSON_INTEGER, value);
        return false;
    }
    *out = json_text(value);
    if (builder_is_name(*out))
        return true;
    wrong_name(b, at, noun, *out);
    return false;
}

/* For qsort: pointers to names, which stand in one array. */
static int name_order(const void *a, const void *b)
{
    const str *x = *(const str *const *)a, *y = *(const str *const *)b;
    int order = str_compare(*x, *y);

    return order ? order : (x > y) - (x < y);
}

struct name_table builder_names(struct builder *b, const str *names, size_t count, const char *noun,
                                struct spot (*spot)(const void *of, size_t i), const void *of)
{
    struct name_table t = { .names = names, .order = ARENA_ARRAY(b->arena, uint16_t, count) };
    const str **sorted = ARENA_ARRAY(b->arena, const str *, count);

    for (size_t i = 0; i < count; i++)
        if (names[i].len)
            sorted[t.count++] = &names[i];
    qsort(sorted, t.count, sizeof *sorted, name_order);
    for (size_t i = 0; i < t.count; i++) {
        t.order[i] = (uint16_t)(sorted[i] - names);
        if (spot && i && str_eq(*sorted[i - 1], *sorted[i])) {
            struct spot at = spot(of, t.order[i]);
            builder_wrong(b, &at, "unique",
                          "there is a %s of this name before it: each needs its own", noun);
        }
    }
    return t;
}

uint16_t name_find(const struct name_table *t, str name)
{
    size_t low = 0, high = t->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (str_compare(t->names[t->order[middle]], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->count && str_eq(t->names[t->order[low]], name) ? t->order[low] : GRAPH_NONE;
}

int builder_word(struct builder *b, const struct spot *at, const struct json *value,
                 const char *const *words, size_t count)
{
    struct json allowed[16];
    struct buf all = buf_in(b->arena), meant = buf_in(b->arena);

    for (size_t i = 0; i < count; i++) {
        allowed[i] = json_string(str_from(words[i]));
        if (value->kind == JSON_STRING && str_eq(json_text(value), str_from(words[i])))
            return (int)i;
    }
    message_values(&all, allowed, count);
    message_meant(&meant, value, allowed, count, &b->cells_left);
    builder_wrong(b, at, "enum", "expected " STR_FMT ", found " STR_FMT STR_FMT,
                  STR_ARG(buf_str(&all)), STR_ARG(builder_shown(b, value)),
                  STR_ARG(buf_str(&meant)));
    return -1;
}

bool builder_name_list(struct builder *b, const struct spot *at, const struct json *value,
                       const char *noun, const str **out, size_t *count)
{
    size_t before = b->mistake_count;
    str *names;

    if (value->kind != JSON_ARRAY) {
        wrong_kind(b, at, 1u << JSON_ARRAY, value);
        return false;
    }
    if (value->len > GRAPH_FLOWS_MAX) {
        builder_wrong(b, at, "limit", "expected at most %d, found %u", GRAPH_FLOWS_MAX, value->len);
        return false;
    }
    names = arena_zero(b->arena, value->len * sizeof *names);
    for (uint32_t i = 0; i < value->len; i++) {
        struct spot spot = spot_element(at, i);
        if (value->items[i].kind != JSON_STRING)
            wrong_kind(b, &spot, 1u << JSON_STRING, &value->items[i]);
        else if (!builder_is_name(json_text(&value->items[i])))
            wrong_name(b, &spot, noun, json_text(&value->items[i]));
        else
            names[i] = json_text(&value->items[i]);
    }
    struct name_table sorted = builder_names(b, names, value->len, noun, NULL, NULL);
    for (size_t i = 1; i < sorted.count; i++) {
        struct spot spot = spot_element(at, sorted.order[i]);
        if (str_eq(names[sorted.order[i - 1]], names[sorted.order[i]]))
            builder_wrong(b, &spot, "unique", STR_FMT " is there twice",
                          STR_ARG(builder_named(b, names[sorted.order[i]])));
    }
    *out = names;
    *count = value->len;
    return b->mistake_count == before;
}

/* ---- values ---- */

static bool is_expression(const struct json *v)
{
    return v->kind == JSON_STRING && v->len && v->text[0] == '=';
}

static const struct feel *compiled(struct builder *b, const struct spot *at, str text)
{
    const struct feel *f;
    err e = feel_compile(b->arena, text, &f);

    if (!e)
        return f;
    builder_wrong(b, at, "expression", STR_FMT, STR_ARG(e->message));
    return NULL;
}

/* Whoever writes an expression inside of a list or an object means it to be one, and it would be a text.
 * Only as deep as a literal may be. */
static const struct json *inner_expression(const struct json *v, int depth)
{
    const struct json *found = NULL;

    for (uint32_t i = 0;
         depth && !found && (v->kind == JSON_ARRAY || v->kind == JSON_OBJECT) && i < v->len; i++) {
        const struct json *inner = v->kind == JSON_ARRAY ? &v->items[i] : &v->members[i].value;
        found = is_expression(inner) ? inner : inner_expression(inner, depth - 1);
    }
    return found;
}

const struct feel *builder_value(struct builder *b, const struct spot *at, const struct json *value)
{
    const struct json *inner;

    if (is_expression(value))
        return compiled(b, at, json_text(value));
    if (json_print_size(value) > FEEL_TEXT_MAX) {
        builder_wrong(b, at, "limit", "expected a value of at most %d bytes, found %zu",
                      FEEL_TEXT_MAX, json_print_size(value));
        return NULL;
    }
    if ((inner = inner_expression(value, FEEL_DEPTH_MAX))) {
        builder_wrong(b, at, "expression",
                      STR_FMT
                      " stands inside of a value, where it is only a text: write the whole as "
                      "one expression, like \"={a: x, b: [y, 1]}\"",
                      STR_ARG(builder_shown(b, inner)));
        return NULL;
    }
    return compiled(b, at, json_printed(b->arena, value));
}

const struct feel *builder_condition(struct builder *b, const struct spot *at,
                                     const struct json *value)
{
    if (is_expression(value) || value->kind == JSON_BOOL)
        return builder_value(b, at, value);
    if (value->kind == JSON_STRING && str_starts(json_text(value), STR("${")))
        return compiled(b, at, json_text(value)); /* as Camunda 7 writes them */
    if (value->kind == JSON_STRING)
        builder_wrong(
            b, at, "expression",
            "expected an expression, which begins with \"=\", like \"=count > 3\", found " STR_FMT,
            STR_ARG(builder_shown(b, value)));
    else
        wrong_kind(b, at, 1u << JSON_STRING | 1u << JSON_BOOL, value);
    return NULL;
}

const struct template *builder_template(struct builder *b, const struct spot *at,
                                        const struct json *value)
{
    const struct template *t;
    err e = template_compile(b->arena, json_text(value), &t);

    if (!e)
        return t;
    builder_wrong(b, at, "template", STR_FMT, STR_ARG(e->message));
    return NULL;
}

bool builder_duration(struct builder *b, const struct spot *at, const struct json *value,
                      int64_t *out)
{
    static const int64_t most = YEAR_DAYS * 24LL * 3600 * 1000;

    if (value->kind == JSON_STRING && duration_parse(json_text(value), out) && *out <= most)
        return true;
    builder_wrong(
        b, at, "format",
        "expected a duration of at most a year, like \"30s\", \"2h\" or \"1h30m\", found " STR_FMT,
        STR_ARG(builder_shown(b, value)));
    return false;
}

bool builder_int(struct builder *b, const struct spot *at, const struct json *value, int64_t least,
                 int64_t most, int64_t *out)
{
    if (json_is_number(value) && json_to_int(value, out) && *out >= least && *out <= most)
        return true;
    builder_wrong(b, at, "range", "expected a whole number from %lld to %lld, found " STR_FMT,
                  (long long)least, (long long)most, STR_ARG(builder_shown(b, value)));
    return false;
}

/* ---- what is made ---- */

void builder_room(struct builder *b, size_t nodes, size_t flows)
{
    b->nodes = ARENA_ARRAY(b->arena, struct graph_node, nodes);
    b->flows = ARENA_ARRAY(b->arena, struct graph_flow, flows);
}

struct graph_node *builder_node(struct builder *b, str id, enum node_kind kind)
{
    struct graph_node *n = &b->nodes[b->node_count++];

    *n = (struct graph_node){
        .id = id, .title = STR(""), .kind = kind, .fallback = GRAPH_NONE, .step = GRAPH_NONE
    };
    return n;
}

struct graph_flow *builder_flow(struct builder *b, uint16_t source, uint16_t target)
{
    struct graph_flow *f = &b->flows[b->flow_count++];

    *f = (struct graph_flow){
        .id = arena_printf(b->arena, STR_FMT "->" STR_FMT, STR_ARG(b->nodes[source].id),
                           STR_ARG(b->nodes[target].id)),
        .source = source,
        .target = target,
    };
    return f;
}

str builder_circle(struct builder *b, const str *names, const uint16_t *vertices, size_t count)
{
    struct buf out = buf_in(b->arena);

    for (size_t i = 0; i < count; i++) {
        if (count > CIRCLE_SHOWN && i == CIRCLE_SHOWN - 2) {
            buf_printf(&out, "%zu more -> ", count - CIRCLE_SHOWN + 1);
            i = count - 1;
        }
        buf_printf(&out, STR_FMT " -> ", STR_ARG(names[vertices[i]]));
    }
    buf_add(&out, names[vertices[0]]);
    return buf_str(&out);
}
