/* merge.c: JSON Merge Patch, RFC 7396, in place.
 *
 * A member that is null in the patch is removed, an object is merged into the
 * one that is there, anything else replaces. Whatever the document is, a merge
 * patch fits it: only limits can refuse. */
#include "json/edit.h"
#include "json/patch.h"

#include <stdlib.h>

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* First what keeps the members where they are, then the removals, then what is new. */
static void merge(struct edits *e, struct json *at, const struct json *patch)
{
    if (patch->kind != JSON_OBJECT) {
        edit_set(e, at, json_copy(e->arena, patch));
        return;
    }
    if (at->kind != JSON_OBJECT)
        edit_set(e, at, json_object());

    const uint32_t *place = json_match(e->arena, patch, at);
    uint32_t *gone = ARENA_ARRAY(e->arena, uint32_t, patch->len), gone_count = 0;

    for (uint32_t i = 0; i < patch->len; i++) {
        const struct json *value = &patch->members[i].value;
        if (place[i] == JSON_NONE)
            continue;
        if (value->kind == JSON_NULL)
            gone[gone_count++] = place[i];
        else
            merge(e, &at->members[place[i]].value, value);
    }
    if (gone_count > 1)
        qsort(gone, gone_count, sizeof *gone, by_number);
    edit_remove(e, at, gone, gone_count);

    for (uint32_t i = 0; i < patch->len; i++) {
        const struct json_member *m = &patch->members[i];
        if (place[i] != JSON_NONE || m->value.kind == JSON_NULL)
            continue;
        edit_append(e, at, json_name(m), json_null());
        merge(e, &at->members[at->len - 1].value, &m->value);
    }
}

err json_merge(struct arena *a, struct json *doc, const struct json *patch,
               const struct json_patch_limits *limits)
{
    uint32_t depth_max = limits && limits->depth_max ? limits->depth_max : JSON_DEPTH_MAX;
    size_t bytes_max = limits ? limits->result_bytes_max : 0;
    struct edits edits = edits_in(a, UINT64_MAX);

    /* Each container of the patch is one of the result, equally deep. */
    if (!edit_depth_within(&edits, patch, depth_max))
        return err_new(a, ERR_TOO_LARGE,
                       "merge patch: expected at most %u containers inside each other, found more",
                       (unsigned)depth_max);

    merge(&edits, doc, patch);
    size_t bytes = bytes_max ? json_print_size(doc) : 0;
    if (bytes > bytes_max) {
        edits_undo(&edits);
        return err_new(a, ERR_TOO_LARGE,
                       "merge patch: the document would have %zu bytes, at most %zu are allowed",
                       bytes, bytes_max);
    }
    return NULL;
}
