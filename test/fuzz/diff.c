/* fuzz: src/json/diff.c src/json/diff_array.c */
/* diff.c: a number of steps, a document, a newline, and another document.
 *
 * The diff leads from one to the other, is no longer than replacing the whole,
 * and is empty exactly when they are equal. */
#include "json/diff.h"

#include <assert.h>

#include "json/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_diff(struct arena *a, const struct json *from, const struct json *to,
                       uint64_t steps)
{
    static const struct json_patch_limits limits = { .operations_max = UINT32_MAX };
    struct json doc = json_copy(a, from), diff = json_diff(a, from, to, steps, NULL);
    size_t whole = strlen("[{'op':'replace','path':'','value':}]") + json_print_size(to);

    assert(json_print_size(&diff) <= whole);
    assert((diff.len == 0) == json_equal(from, to));
    assert(!json_patch(a, &doc, &diff, &limits));
    assert(json_equal(&doc, to));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    const struct json *from, *to;
    str from_text, to_text, input = { (const char *)data + 1, size ? size - 1 : 0 };

    if (input.len && str_cut(input, '\n', &from_text, &to_text) &&
        !json_parse(a, from_text, NULL, &from) && !json_parse(a, to_text, NULL, &to)) {
        check_diff(a, from, to, data[0]);
        check_diff(a, to, from, data[0]);
    }
    arena_free(a);
    return 0;
}
