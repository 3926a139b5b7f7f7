/* patch_explain.c: the errors of JSON Patch, in words.
 *
 * They are read by agents that must repair their patch with nothing else to go
 * by: so they say what is there, and what to write instead where that is known. */
#include "json/patch_private.h"

#include "base/utf8.h"

#define SHOWN_MAX 120 /* bytes of a path, a name or a value */
#define LISTED_MAX 8  /* names of members */

/* ---- pieces of messages ---- */

static void add_cut(struct buf *out, str text)
{
    str shown = utf8_cut(text, SHOWN_MAX);
    buf_add(out, shown);
    if (shown.len < text.len)
        buf_add(out, STR("..."));
}

static void add_name(struct buf *out, str name)
{
    struct buf quoted = buf_in(out->arena);
    json_print_string(&quoted, name);
    add_cut(out, buf_str(&quoted));
}

static void add_tokens(struct buf *out, const struct json_pointer *path, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_pointer_add(out, path->tokens[i]);
}

/* The first tokens of a path, or words for the whole document. */
static void add_location(struct buf *out, const struct json_pointer *path, size_t count)
{
    struct buf text = buf_in(out->arena);
    add_tokens(&text, path, count);
    add_cut(out, count ? buf_str(&text) : STR("the document"));
}

str patch_value_text(struct arena *a, const struct json *j)
{
    struct buf out = buf_in(a);

    if (!j)
        buf_add(&out, STR("nothing"));
    else if (j->kind == JSON_ARRAY && json_print_size(j) > SHOWN_MAX)
        buf_printf(&out, "an array of %u elements", (unsigned)j->len);
    else if (j->kind == JSON_OBJECT && json_print_size(j) > SHOWN_MAX)
        buf_printf(&out, "an object of %u members", (unsigned)j->len);
    else
        add_cut(&out, json_printed(a, j));
    return buf_str(&out);
}

/* "operation 2 (move /a to /b): ", as far as the operation has been read. */
static void add_label(struct buf *out, const struct patch_op *op)
{
    buf_printf(out, "operation %u", (unsigned)op->index);
    if (op->action) {
        buf_printf(out, " (%s", op->action->name);
        if (op->from_text.at) {
            buf_byte(out, ' ');
            add_location(out, &op->from, op->from.count);
            buf_add(out, STR(" to"));
        }
        if (op->path_text.at) {
            buf_byte(out, ' ');
            add_location(out, &op->path, op->path.count);
        }
        buf_byte(out, ')');
    }
    buf_add(out, STR(": "));
}

/* The error with its label; `pointer` is the place that it is about, NULL when there is none. */
static err labelled(struct arena *a, const struct patch_op *op, enum error_kind kind,
                    const str *pointer, str why)
{
    struct buf message = buf_in(a), members = buf_in(a);

    add_label(&message, op);
    buf_add(&message, why);
    buf_printf(&members, "\"index\":%u", (unsigned)op->index);
    if (pointer) {
        buf_add(&members, STR(",\"pointer\":"));
        json_print_string(&members, *pointer);
    }
    str text = buf_str(&message);
    return err_with(a, err_new(a, kind, STR_FMT, STR_ARG(text)), buf_str(&members));
}

err patch_error(struct arena *a, const struct patch_op *op, enum error_kind kind,
                const char *format, ...)
{
    struct buf why = buf_in(a);
    va_list args;

    va_start(args, format);
    buf_vprintf(&why, format, args);
    va_end(args);
    return labelled(a, op, kind, op->path_text.at ? &op->path_text : NULL, buf_str(&why));
}

/* ---- a place that does not exist ---- */

static void explain_element(struct buf *why, const struct json_pointer *path, size_t i,
                            const struct json *array, bool writes)
{
    str token = path->tokens[i];
    uint32_t index;

    add_location(why, path, i);
    buf_printf(why, " has %u element%s, ", (unsigned)array->len, array->len == 1 ? "" : "s");
    if (json_pointer_index(token, &index)) {
        buf_printf(why, "so index %u does not exist", (unsigned)index);
        if (writes) {
            struct buf text = buf_in(why->arena);
            add_tokens(&text, path, i);
            buf_add(why, STR("; use "));
            add_cut(why, buf_str(&text));
            buf_add(why, STR("/- to append"));
        }
    } else if (str_eq(token, STR("-"))) {
        buf_add(why, STR("and \"-\" is the place behind the last one, where nothing is yet"));
    } else {
        buf_add(why, STR("and "));
        add_name(why, token);
        buf_add(why, STR(" is not an index: expected digits without leading zeros"));
    }
}

/* The name that was probably meant, or NULL. A short name may differ by less than a long one. */
static const struct json_member *nearest_name(const struct json *object, str name)
{
    unsigned most = name.len < 3 ? 0 : name.len < 6 ? 1 : 2;
    const struct json_member *nearest = NULL;

    for (uint32_t i = 0; i < object->len && most > 0; i++) {
        unsigned distance = str_distance(json_name(&object->members[i]), name, most);
        if (distance <= most) {
            nearest = &object->members[i];
            most = distance - 1;
        }
    }
    return nearest;
}

static void list_names(struct buf *why, const struct json *object)
{
    uint32_t shown = object->len < LISTED_MAX ? object->len : LISTED_MAX;

    buf_add(why, shown ? STR("; it has ") : STR("; it is empty"));
    for (uint32_t i = 0; i < shown; i++) {
        if (i)
            buf_add(why, STR(", "));
        add_name(why, json_name(&object->members[i]));
    }
    if (object->len > shown)
        buf_printf(why, " and %u more", (unsigned)(object->len - shown));
}

/* What a path leads through is not made on the way. */
static void explain_way(struct buf *why, const struct json_pointer *path, size_t i)
{
    str next = path->tokens[i + 1];
    uint32_t index;
    bool list = str_eq(next, STR("-")) || json_pointer_index(next, &index);

    buf_printf(why, ", and it is not made on the way: first add ");
    add_location(why, path, i + 1);
    buf_printf(why, " with the value %s, then this", list ? "[]" : "{}");
}

static void explain_member(struct buf *why, const struct json_pointer *path, size_t i,
                           const struct json *object, bool writes)
{
    const struct json_member *nearest = nearest_name(object, path->tokens[i]);

    add_location(why, path, i);
    buf_add(why, STR(" has no member "));
    add_name(why, path->tokens[i]);
    if (nearest) {
        buf_add(why, STR("; did you mean "));
        add_name(why, json_name(nearest));
        buf_byte(why, '?');
    } else if (writes && i + 1 < path->count) {
        explain_way(why, path, i);
    } else if (writes) {
        buf_add(why, STR("; use add to create it"));
    } else {
        list_names(why, object);
    }
}

static void explain_scalar(struct buf *why, const struct json_pointer *path, size_t i,
                           const struct json *at)
{
    add_location(why, path, i);
    buf_add(why, STR(" is "));
    buf_add(why, patch_value_text(why->arena, at));
    buf_add(why, STR(", which has nothing inside, so not "));
    add_name(why, path->tokens[i]);
}

err patch_not_found(struct arena *a, const struct patch_op *op, const struct json_pointer *path,
                    size_t i, const struct json *at)
{
    struct buf why = buf_in(a), pointer = buf_in(a);
    bool writes = path == &op->path && op->action->writes;

    if (at->kind == JSON_ARRAY)
        explain_element(&why, path, i, at, writes);
    else if (at->kind == JSON_OBJECT)
        explain_member(&why, path, i, at, writes);
    else
        explain_scalar(&why, path, i, at);

    add_tokens(&pointer, path, i + 1);
    str there = buf_str(&pointer);
    return labelled(a, op, ERR_UNFIT, &there, buf_str(&why));
}

/* ---- a test that fails ---- */

/* Steps down to the first member or element in which two containers of one kind differ. Where one
 * of them has none there, it becomes NULL. */
static void step_to_difference(struct buf *pointer, const struct json **found,
                               const struct json **expected, uint64_t *work)
{
    const struct json *f = *found, *e = *expected;

    if (e->kind == JSON_ARRAY) {
        uint32_t i = 0;
        while (i < f->len && i < e->len && json_equal_within(&f->items[i], &e->items[i], work))
            i++;
        json_pointer_add_index(pointer, i);
        *found = json_at(f, i);
        *expected = json_at(e, i);
        return;
    }

    const uint32_t *place = json_match(pointer->arena, e, f);
    for (uint32_t i = 0; i < e->len; i++) {
        const struct json *there = place[i] == JSON_NONE ? NULL : &f->members[place[i]].value;
        if (there && json_equal_within(there, &e->members[i].value, work))
            continue;
        json_pointer_add(pointer, json_name(&e->members[i]));
        *found = there;
        *expected = &e->members[i].value;
        return;
    }

    /* All that was expected is there: so there is more than that. */
    uint32_t more = 0;
    place = json_match(pointer->arena, f, e);
    while (place[more] != JSON_NONE)
        more++;
    json_pointer_add(pointer, json_name(&f->members[more]));
    *found = &f->members[more].value;
    *expected = NULL;
}

err patch_differs(struct arena *a, const struct patch_op *op, const struct json *found,
                  const struct json *expected, uint64_t work)
{
    struct buf pointer = buf_in(a), why = buf_in(a);
    uint64_t left = work;

    add_tokens(&pointer, &op->path, op->path.count);
    size_t len = pointer.len;
    while (found && expected && found->kind == expected->kind &&
           (found->kind == JSON_ARRAY || found->kind == JSON_OBJECT)) {
        const struct json *f = found, *e = expected;
        size_t was = pointer.len;
        step_to_difference(&pointer, &f, &e, &left);
        if (!left) {
            pointer.len = was; /* where it stepped is void */
            break;
        }
        found = f;
        expected = e;
    }

    str there = buf_str(&pointer);
    if (there.len > len) {
        buf_add(&why, STR("at "));
        add_cut(&why, there);
        buf_byte(&why, ' ');
    }
    buf_add(&why, STR("found "));
    buf_add(&why, patch_value_text(a, found));
    buf_add(&why, STR(", expected "));
    buf_add(&why, patch_value_text(a, expected));
    return labelled(a, op, ERR_CONFLICT, &there, buf_str(&why));
}
