/* patch.c: JSON Patch, RFC 6902, in place.
 *
 * The whole patch is read before anything is changed, so a malformed one is
 * INVALID whatever the document is. Then the operations are carried out one by
 * one, and undone again when one of them fails.
 *
 * Where the RFC leaves a choice: removing the whole document leaves null; a
 * member that is replaced, or added although it exists, keeps its place among
 * the members; moving a value to where it is changes nothing. */
#include "json/patch.h"

#include "json/edit.h"
#include "json/patch_private.h"

enum { COPIED_BYTES = 4 }; /* of printed text, that are copied in the time of looking at a value */

struct patching {
    struct arena *arena;
    struct json *doc;
    struct json_patch_limits limits;
    struct edits edits;
    size_t copied_bytes;
};

/* ---- finding places ---- */

struct target {
    struct json *parent; /* NULL: the place is the whole document */
    uint32_t index;      /* in the parent; its length for what will come behind the others */
    struct json *value;  /* NULL: nothing is there yet */
};

static uint32_t child_index(struct patching *p, const struct json *at, str token)
{
    uint32_t index;

    if (at->kind == JSON_OBJECT)
        return edit_find(&p->edits, at, token);
    if (at->kind == JSON_ARRAY && json_pointer_index(token, &index) && index < at->len)
        return index;
    return JSON_NONE;
}

static struct json *child_at(struct json *at, uint32_t index)
{
    return at->kind == JSON_OBJECT ? &at->members[index].value : &at->items[index];
}

/* Whether a value can be added under a token that has none. */
static bool child_can_come(const struct json *at, str token)
{
    uint32_t index;

    if (at->kind == JSON_OBJECT)
        return true;
    return at->kind == JSON_ARRAY &&
           (str_eq(token, STR("-")) || (json_pointer_index(token, &index) && index == at->len));
}

/* Where a path leads. With `adding`, its last token may be one that has no value yet. */
static err locate(struct patching *p, const struct patch_op *op, const struct json_pointer *path,
                  bool adding, struct target *out)
{
    *out = (struct target){ .value = p->doc };
    for (size_t i = 0; i < path->count; i++) {
        struct json *at = out->value;
        uint32_t index = child_index(p, at, path->tokens[i]);
        bool found = index != JSON_NONE, last = i + 1 == path->count;

        if (!found && !(adding && last && child_can_come(at, path->tokens[i])))
            return patch_not_found(p->arena, op, path, i, at);
        *out = (struct target){
            .parent = at,
            .index = found ? index : at->len,
            .value = found ? child_at(at, index) : NULL,
        };
    }
    return NULL;
}

/* ---- what operations consist of ---- */

static err require_depth(struct patching *p, const struct patch_op *op, const struct json *value)
{
    uint32_t most = p->limits.depth_max;

    edit_charge(&p->edits, op->path.count);
    if (op->path.count <= most &&
        edit_depth_within(&p->edits, value, most - (uint32_t)op->path.count))
        return NULL;
    return patch_error(p->arena, op, ERR_TOO_LARGE,
                       "the document would have more than %u containers inside each other",
                       (unsigned)most);
}

/* Puts a value that nothing else holds at the operation's path, which `to` is. */
static void add_value(struct patching *p, const struct patch_op *op, struct target to,
                      struct json value)
{
    if (!to.parent)
        edit_set(&p->edits, p->doc, value);
    else if (to.parent->kind == JSON_ARRAY)
        edit_insert(&p->edits, to.parent, to.index, value);
    else if (to.value)
        edit_set(&p->edits, to.value, value);
    else
        edit_append(&p->edits, to.parent, op->path.tokens[op->path.count - 1], value);
}

static void remove_value(struct patching *p, struct target from)
{
    if (from.parent)
        edit_remove(&p->edits, from.parent, &from.index, 1);
    else
        edit_set(&p->edits, p->doc, json_null());
}

/* ---- the operations ---- */

static err apply_add(struct patching *p, const struct patch_op *op)
{
    struct target to;
    TRY(locate(p, op, &op->path, true, &to));
    TRY(require_depth(p, op, op->value));
    add_value(p, op, to, json_copy(p->arena, op->value));
    return NULL;
}

static err apply_remove(struct patching *p, const struct patch_op *op)
{
    struct target at;
    TRY(locate(p, op, &op->path, false, &at));
    remove_value(p, at);
    return NULL;
}

static err apply_replace(struct patching *p, const struct patch_op *op)
{
    struct target at;
    TRY(locate(p, op, &op->path, false, &at));
    TRY(require_depth(p, op, op->value));
    edit_set(&p->edits, at.value, json_copy(p->arena, op->value));
    return NULL;
}

static bool same_path(const struct json_pointer *a, const struct json_pointer *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!str_eq(a->tokens[i], b->tokens[i]))
            return false;
    return true;
}

static err apply_move(struct patching *p, const struct patch_op *op)
{
    struct target from, to;
    TRY(locate(p, op, &op->from, false, &from));
    if (op->path.count == op->from.count && same_path(&op->path, &op->from, op->path.count))
        return NULL;

    /* The path is one of the document without the value. What moves up or sideways makes the
     * document no deeper, and need not be walked. */
    struct json value = *from.value;
    remove_value(p, from);
    TRY(locate(p, op, &op->path, true, &to));
    if (op->path.count > op->from.count)
        TRY(require_depth(p, op, &value));
    add_value(p, op, to, value);
    return NULL;
}

static err apply_copy(struct patching *p, const struct patch_op *op)
{
    struct target from, to;
    TRY(locate(p, op, &op->from, false, &from));
    TRY(locate(p, op, &op->path, true, &to));

    size_t bytes = json_print_size(from.value);
    p->copied_bytes += bytes;
    edit_charge(&p->edits, bytes / COPIED_BYTES);
    if (p->copied_bytes > p->limits.copy_bytes_max)
        return patch_error(p->arena, op, ERR_TOO_LARGE,
                           "the copies of this patch would have %zu bytes, at most %zu are allowed",
                           p->copied_bytes, p->limits.copy_bytes_max);
    TRY(require_depth(p, op, from.value));
    add_value(p, op, to, json_copy(p->arena, from.value));
    return NULL;
}

static err apply_test(struct patching *p, const struct patch_op *op)
{
    struct target at;
    TRY(locate(p, op, &op->path, false, &at));
    bool equal = json_equal_within(at.value, op->value, &p->edits.work);
    if (equal || !p->edits.work)
        return NULL; /* with no work left, apply_all refuses */
    return patch_differs(p->arena, op, at.value, op->value, p->edits.work);
}

// clang-format off
static const struct patch_action actions[] = {
    /* name       needs         writes  apply */
    { "add",      PATCH_VALUE,  true,   apply_add     },
    { "remove",   0,            false,  apply_remove  },
    { "replace",  PATCH_VALUE,  true,   apply_replace },
    { "move",     PATCH_FROM,   true,   apply_move    },
    { "copy",     PATCH_FROM,   true,   apply_copy    },
    { "test",     PATCH_VALUE,  false,  apply_test    },
};
// clang-format on

/* ---- reading ---- */

#define ACTION_COUNT (sizeof actions / sizeof actions[0])

static err read_action(struct arena *a, const struct json *from, struct patch_op *op)
{
    const struct json *name = json_get(from, "op");

    for (size_t i = 0; i < ACTION_COUNT && json_is(name, JSON_STRING); i++)
        if (str_eq(json_text(name), str_from(actions[i].name)))
            op->action = &actions[i];
    if (op->action)
        return NULL;
    str found = patch_value_text(a, name);
    return patch_error(a, op, ERR_INVALID,
                       "expected \"op\" to be add, remove, replace, move, copy or test, "
                       "found " STR_FMT,
                       STR_ARG(found));
}

static err read_pointer(struct arena *a, const struct json *from, const char *name,
                        const struct patch_op *op, struct json_pointer *pointer, str *text)
{
    const struct json *member = json_get(from, name);

    if (!json_is(member, JSON_STRING)) {
        str found = patch_value_text(a, member);
        return patch_error(a, op, ERR_INVALID,
                           "expected \"%s\" to be a JSON Pointer like \"/a/0\", found " STR_FMT,
                           name, STR_ARG(found));
    }
    err e = json_pointer_parse(a, json_text(member), pointer);
    if (e)
        return patch_error(a, op, ERR_INVALID, "\"%s\": " STR_FMT, name, STR_ARG(e->message));
    *text = json_text(member);
    return NULL;
}

static err read_op(struct arena *a, const struct json *from, uint32_t index, struct patch_op *op)
{
    *op = (struct patch_op){ .index = index };
    if (from->kind != JSON_OBJECT) {
        str found = patch_value_text(a, from);
        return patch_error(a, op, ERR_INVALID,
                           "expected an object with \"op\" and \"path\", found " STR_FMT,
                           STR_ARG(found));
    }
    TRY(read_action(a, from, op));
    if (op->action->needs & PATCH_FROM)
        TRY(read_pointer(a, from, "from", op, &op->from, &op->from_text));
    TRY(read_pointer(a, from, "path", op, &op->path, &op->path_text));

    op->value = json_get(from, "value");
    if (op->action->needs & PATCH_VALUE && !op->value)
        return patch_error(a, op, ERR_INVALID, "expected a member \"value\", found none");
    if (op->action->apply == apply_move && op->from.count < op->path.count &&
        same_path(&op->from, &op->path, op->from.count))
        return patch_error(a, op, ERR_INVALID, "a value cannot be moved into itself");
    return NULL;
}

/* ---- the whole ---- */

static struct json_patch_limits effective(const struct json_patch_limits *limits)
{
    struct json_patch_limits l = limits ? *limits : (struct json_patch_limits){ 0 };

    if (!l.operations_max)
        l.operations_max = 1000;
    if (!l.copy_bytes_max)
        l.copy_bytes_max = 2u << 20;
    if (!l.depth_max)
        l.depth_max = JSON_DEPTH_MAX;
    if (!l.work_max)
        l.work_max = JSON_PATCH_WORK;
    return l;
}

static err too_much_work(struct patching *p, const struct patch_op *op)
{
    return patch_error(
        p->arena, op, ERR_TOO_LARGE,
        "up to here the patch looks at and shifts more values than the %llu that one "
        "patch may: send it in several parts, or replace the array or object whole",
        (unsigned long long)p->limits.work_max);
}

static err apply_all(struct patching *p, const struct patch_op *ops, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        err e = ops[i].action->apply(p, &ops[i]);
        if (!p->edits.work)
            return too_much_work(p, &ops[i]);
        if (e)
            return e;
    }

    size_t bytes = p->limits.result_bytes_max ? json_print_size(p->doc) : 0;
    if (bytes > p->limits.result_bytes_max)
        return err_new(p->arena, ERR_TOO_LARGE,
                       "JSON Patch: the document would have %zu bytes, at most %zu are allowed",
                       bytes, p->limits.result_bytes_max);
    return NULL;
}

err json_patch(struct arena *a, struct json *doc, const struct json *patch,
               const struct json_patch_limits *limits)
{
    struct patching p = {
        .arena = a,
        .doc = doc,
        .limits = effective(limits),
    };

    if (patch->kind != JSON_ARRAY) {
        str found = patch_value_text(a, patch);
        return err_new(a, ERR_INVALID,
                       "JSON Patch: expected an array of operations, found " STR_FMT,
                       STR_ARG(found));
    }
    if (patch->len > p.limits.operations_max)
        return err_new(a, ERR_TOO_LARGE, "JSON Patch: found %u operations, at most %u are allowed",
                       (unsigned)patch->len, (unsigned)p.limits.operations_max);

    struct patch_op *ops = ARENA_ARRAY(a, struct patch_op, patch->len);
    for (uint32_t i = 0; i < patch->len; i++)
        TRY(read_op(a, &patch->items[i], i, &ops[i]));

    p.edits = edits_in(a, p.limits.work_max);
    err e = apply_all(&p, ops, patch->len);
    if (p.limits.worked)
        *p.limits.worked = p.limits.work_max - p.edits.work;
    if (e)
        edits_undo(&p.edits);
    return e;
}
