/* value.c: values, from JSON and to it; whether two are equal and which is first; why one is null.
 *
 * Lists and contexts of the variables stay JSON in place, and only the element or member that is
 * asked for is looked at. A null carries its reason, which is put into words when somebody gets to see
 * it. */
#include "flow/feel/private.h"

#include <assert.h>

#include "base/hash.h"
#include "base/utf8.h"

void feel_stop(struct feel_run *run, const char *why)
{
    run->steps_left = 0;
    if (!run->over)
        run->over = why;
}

/* ---- from JSON ---- */

struct feel_value feel_of_json(const struct json *j)
{
    struct feel_value v = { .len = j->len };

    switch ((enum json_kind)j->kind) {
    case JSON_NULL: return (struct feel_value){ .kind = FEEL_NULL };
    case JSON_BOOL: v.kind = FEEL_BOOL; break;
    case JSON_INTEGER:
    case JSON_REAL: return feel_number_of(j);
    case JSON_STRING:
        v.kind = FEEL_STRING;
        v.text = j->text;
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        v.kind = j->kind == JSON_ARRAY ? FEEL_LIST : FEEL_CONTEXT;
        v.in_place = true;
        v.json = j;
        break;
    }
    return v;
}

struct feel_value *feel_values(struct feel_run *run, size_t count)
{
    return feel_spend(run, count / 4) ? ARENA_ARRAY(run->arena, struct feel_value, count) : NULL;
}

struct feel_field feel_field_at(struct feel_value context, uint32_t i)
{
    if (!context.in_place)
        return context.fields[i];
    const struct json_member *m = &context.json->members[i];
    return (struct feel_field){ json_name(m), feel_of_json(&m->value) };
}

#define SEARCHED_FREE 16 /* members that are looked through for nothing */

bool feel_field(struct feel_run *run, struct feel_value context, str name, uint64_t key,
                struct feel_value *out)
{
    if (context.len > SEARCHED_FREE && !feel_spend(run, context.len / SEARCHED_FREE))
        return false;
    if (context.in_place) {
        const struct json_member *m = context.json->members;
        for (uint32_t i = 0; i < context.len; i++, m++)
            if (m->key == key && m->name_len == name.len &&
                (name.len <= HASH_WHOLE_MAX || memcmp(m->name, name.at, name.len) == 0)) {
                *out = feel_of_json(&m->value);
                return true;
            }
        return false;
    }
    for (uint32_t i = 0; i < context.len; i++)
        if (str_eq(context.fields[i].name, name)) {
            *out = context.fields[i].value;
            return true;
        }
    return false;
}

/* ---- to JSON ---- */

static bool take_bytes(struct feel_run *run, size_t *bytes, size_t count)
{
    if (count > *bytes) {
        feel_stop(run, "its result is too long");
        return false;
    }
    *bytes -= count;
    return true;
}

/* What stays in place is measured without more looking than there are bytes. */
static bool take_json(struct feel_run *run, size_t *bytes, const struct json *j)
{
    if (j->kind == JSON_STRING)
        return take_bytes(run, bytes, 2 + (size_t)j->len);
    if (json_is_number(j))
        return take_bytes(run, bytes, j->len);
    if (!take_bytes(run, bytes, 2))
        return false;
    if (j->kind == JSON_ARRAY)
        for (uint32_t i = 0; i < j->len; i++)
            if (!take_bytes(run, bytes, 1) || !take_json(run, bytes, &j->items[i]))
                return false;
    if (j->kind == JSON_OBJECT)
        for (uint32_t i = 0; i < j->len; i++)
            if (!take_bytes(run, bytes, 4 + (size_t)j->members[i].name_len) ||
                !take_json(run, bytes, &j->members[i].value))
                return false;
    return true;
}

static bool text_to_json(struct feel_run *run, str text, enum json_kind kind, bool copy,
                         size_t *bytes, struct json *out)
{
    if (!take_bytes(run, bytes, text.len + (kind == JSON_STRING ? 2 : 0)))
        return false;
    if (copy)
        text = arena_copy(run->arena, text);
    *out = (struct json){ .kind = (uint8_t)kind, .len = (uint32_t)text.len, .text = text.at };
    return true;
}

static bool number_to_json(struct feel_run *run, struct feel_value v, size_t *bytes,
                           struct json *out)
{
    char room[FEEL_NUMBER_ROOM];
    str text = feel_number_print(room, v);
    bool whole = true;

    for (size_t i = 0; i < text.len && whole; i++)
        whole = text.at[i] != '.' && text.at[i] != 'e' && text.at[i] != 'E';
    return text_to_json(run, text, whole ? JSON_INTEGER : JSON_REAL, v.kind == FEEL_NUMBER, bytes,
                        out);
}

static bool list_to_json(struct feel_run *run, struct feel_value v, size_t *bytes, struct json *out)
{
    *out = json_array();
    for (uint32_t i = 0; i < v.len; i++) {
        struct json item;
        if (!take_bytes(run, bytes, 1) || !feel_to_json(run, v.items[i], bytes, &item))
            return false;
        json_push(run->arena, out, item);
    }
    return take_bytes(run, bytes, 2);
}

static bool context_to_json(struct feel_run *run, struct feel_value v, size_t *bytes,
                            struct json *out)
{
    *out = json_object();
    for (uint32_t i = 0; i < v.len; i++) {
        const struct feel_field *field = &v.fields[i];
        struct json member;
        if (!take_bytes(run, bytes, 4 + field->name.len) ||
            !feel_to_json(run, field->value, bytes, &member))
            return false;
        json_put(run->arena, out, field->name, member);
    }
    return take_bytes(run, bytes, 2);
}

bool feel_to_json(struct feel_run *run, struct feel_value v, size_t *bytes, struct json *out)
{
    char room[FEEL_TIME_ROOM];

    if (v.in_place) {
        *out = *v.json;
        return take_json(run, bytes, v.json);
    }
    switch ((enum feel_kind)v.kind) {
    case FEEL_NULL: *out = json_null(); return take_bytes(run, bytes, 4);
    case FEEL_BOOL: *out = json_bool(v.len); return take_bytes(run, bytes, 5);
    case FEEL_NUMBER:
    case FEEL_LONG: return number_to_json(run, v, bytes, out);
    case FEEL_STRING: return text_to_json(run, feel_string_of(v), JSON_STRING, false, bytes, out);
    case FEEL_LIST: return list_to_json(run, v, bytes, out);
    case FEEL_CONTEXT: return context_to_json(run, v, bytes, out);
    default: return text_to_json(run, feel_time_print(room, v), JSON_STRING, true, bytes, out);
    }
}

bool feel_to_text(struct feel_run *run, struct feel_value v, str *out)
{
    size_t bytes = FEEL_RESULT_MAX;
    struct json j;

    if (v.kind == FEEL_STRING) {
        *out = feel_string_of(v);
        return true;
    }
    if (!feel_to_json(run, v, &bytes, &j))
        return false;
    *out = j.kind == JSON_STRING ? json_text(&j) : json_printed(run->arena, &j);
    return feel_spend(run, feel_text_steps(out->len));
}

/* ---- equality and order ---- */

static bool lists_equal(struct feel_run *run, struct feel_value a, struct feel_value b)
{
    for (uint32_t i = 0; i < a.len; i++)
        if (!feel_equal(run, feel_item(a, i), feel_item(b, i)))
            return false;
    return true;
}

static bool contexts_equal(struct feel_run *run, struct feel_value a, struct feel_value b)
{
    for (uint32_t i = 0; i < a.len; i++) {
        struct feel_field field = feel_field_at(a, i);
        struct feel_value other;
        if (!feel_field(run, b, field.name, hash_key(field.name.at, field.name.len), &other) ||
            !feel_equal(run, field.value, other))
            return false;
    }
    return true;
}

/* Two that stay in place are compared where they are, however deep and wide. */
static bool in_place_equal(struct feel_run *run, const struct json *a, const struct json *b)
{
    uint64_t work = run->steps_left;
    bool equal = json_equal_within(a, b, &work);
    return feel_spend(run, run->steps_left - work) && equal;
}

bool feel_equal(struct feel_run *run, struct feel_value a, struct feel_value b)
{
    if (feel_is_number(a) && feel_is_number(b))
        return feel_spend(run, 1) && feel_number_compare(a, b) == 0;
    if (a.kind != b.kind)
        return false;
    if (a.in_place && b.in_place)
        return in_place_equal(run, a.json, b.json);
    switch ((enum feel_kind)a.kind) {
    case FEEL_NULL: return true;
    case FEEL_STRING:
        return a.len == b.len && feel_spend(run, feel_text_steps(a.len)) &&
               str_eq(feel_string_of(a), feel_string_of(b));
    case FEEL_BOOL: return a.len == b.len;
    case FEEL_LIST: return a.len == b.len && feel_spend(run, 1) && lists_equal(run, a, b);
    case FEEL_CONTEXT: return a.len == b.len && feel_spend(run, 1) && contexts_equal(run, a, b);
    default: return a.n == b.n;
    }
}

bool feel_order(struct feel_run *run, struct feel_value a, struct feel_value b, int *out)
{
    if (a.kind == FEEL_NUMBER && b.kind == FEEL_NUMBER && a.exponent == b.exponent) {
        *out = (a.n > b.n) - (a.n < b.n);
        return true;
    }
    if (feel_is_number(a) && feel_is_number(b)) {
        *out = feel_number_compare(a, b);
        return feel_spend(run, feel_text_steps(a.kind == FEEL_LONG ? a.len : 0));
    }
    if (a.kind != b.kind)
        return false;
    if (a.kind == FEEL_STRING) {
        /* Bytes of UTF-8 are in the order of the code points. */
        *out = str_compare(feel_string_of(a), feel_string_of(b));
        return feel_spend(run, feel_text_steps(a.len < b.len ? a.len : b.len));
    }
    *out = (a.n > b.n) - (a.n < b.n);
    return feel_is_time(a);
}

static bool same_kind(struct feel_value a, struct feel_value b)
{
    return a.kind == b.kind || (feel_is_number(a) && feel_is_number(b));
}

struct feel_value feel_compare(struct feel_run *run, enum feel_op op, struct feel_value a,
                               struct feel_value b)
{
    /* What each operator says of below, equal, above. */
    static const bool says[OPS][3] = {
        [OP_EQUAL] = { 0, 1, 0 },   [OP_UNEQUAL] = { 1, 0, 1 }, [OP_LESS] = { 1, 0, 0 },
        [OP_AT_MOST] = { 1, 1, 0 }, [OP_MORE] = { 0, 0, 1 },    [OP_AT_LEAST] = { 0, 1, 1 },
    };
    int order;

    if (op <= OP_UNEQUAL) {
        if (a.kind == FEEL_NULL || b.kind == FEEL_NULL)
            return feel_bool((a.kind == b.kind) == (op == OP_EQUAL));
        if (!same_kind(a, b))
            return feel_null_of(run, "only values of one kind are equal or not: found \1 and \2", a,
                                b);
        return feel_bool(feel_equal(run, a, b) == (op == OP_EQUAL));
    }
    if (a.kind == FEEL_NULL)
        return feel_null_from(run, a);
    if (b.kind == FEEL_NULL)
        return feel_null_from(run, b);
    if (!feel_order(run, a, b, &order))
        return feel_null_of(run,
                            "expected two numbers, strings, dates or durations to compare, "
                            "found \1 and \2",
                            a, b);
    return feel_bool(says[op][(order > 0) - (order < 0) + 1]);
}

/* ---- why something is null ---- */

struct feel_value feel_null_name(struct feel_run *run, const char *message, str name,
                                 struct feel_value one)
{
    struct feel_reason *reason = ARENA_NEW(run->arena, struct feel_reason);

    *reason = (struct feel_reason){ .message = message, .at = run->at, .name = name, .one = one };
    return (struct feel_value){ .kind = FEEL_NULL, .reason = reason };
}

struct feel_value feel_null_of(struct feel_run *run, const char *message, struct feel_value one,
                               struct feel_value two)
{
    struct feel_reason *reason = ARENA_NEW(run->arena, struct feel_reason);

    *reason = (struct feel_reason){ .message = message, .at = run->at, .one = one, .two = two };
    return (struct feel_value){ .kind = FEEL_NULL, .reason = reason };
}

struct feel_value feel_null(struct feel_run *run, const char *message)
{
    return feel_null_of(run, message, (struct feel_value){ 0 }, (struct feel_value){ 0 });
}

struct feel_value feel_null_from(struct feel_run *run, struct feel_value null)
{
    assert(null.kind == FEEL_NULL);
    return null.reason ? null : feel_null(run, "expected a value here, found null");
}

// clang-format off
static const char *const kind_names[FEEL_KINDS] = {
    [FEEL_NULL] = "null",             [FEEL_STRING] = "a string",
    [FEEL_LIST] = "a list",           [FEEL_CONTEXT] = "a context",
    [FEEL_DATE] = "a date",           [FEEL_MOMENT] = "a date and time",
    [FEEL_SPAN] = "a days and time duration", [FEEL_MONTHS] = "a years and months duration",
};
// clang-format on

#define SHOWN_BYTES 40

/* Numbers and booleans by themselves, others as what they are. */
static void describe(struct buf *out, struct feel_value v)
{
    char room[FEEL_TIME_ROOM];

    if (v.kind == FEEL_BOOL) {
        buf_add(out, v.len ? STR("true") : STR("false"));
    } else if (feel_is_number(v)) {
        buf_add(out, utf8_cut(feel_number_print(room, v), SHOWN_BYTES));
    } else {
        buf_add(out, str_from(kind_names[v.kind]));
        if (v.kind != FEEL_STRING && !feel_is_time(v))
            return;
        buf_byte(out, ' ');
        if (v.kind == FEEL_STRING)
            json_print_string(out, utf8_cut(feel_string_of(v), SHOWN_BYTES));
        else
            buf_add(out, feel_time_print(room, v));
    }
}

str feel_reason_text(struct feel_run *run, str text, struct feel_value null)
{
    const struct feel_reason *reason = null.reason;
    struct buf out = buf_in(run->arena);

    if (!reason)
        return STR("the value is null");
    buf_printf(&out, "column %zu: ", utf8_length(str_slice(text, 0, reason->at)) + 1);
    for (const char *at = reason->message; *at; at++) {
        if (*at == '\1')
            describe(&out, reason->one);
        else if (*at == '\2')
            describe(&out, reason->two);
        else if (*at == '\3')
            buf_add(&out, reason->name);
        else
            buf_byte(&out, *at);
    }
    return buf_str(&out);
}
