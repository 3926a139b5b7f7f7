/* fuzz: src/json/merge.c src/json/edit.c */
/* merge.c: a document, a newline, and a merge patch.
 *
 * Merging the same patch twice is the same as once; a limit that is hit leaves
 * every byte as it was. */
#include "json/patch.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_merge(struct arena *a, const struct json *parsed, const struct json *patch)
{
    struct json doc = json_copy(a, parsed), limited = json_copy(a, parsed);
    str before = json_printed(a, &doc);

    assert(!json_merge(a, &doc, patch, NULL));
    str once = json_printed(a, &doc);
    struct json_patch_limits limits = { .result_bytes_max = once.len - 1 };
    if (limits.result_bytes_max > 0) {
        assert(json_merge(a, &limited, patch, &limits)->kind == ERR_TOO_LARGE);
        assert(str_eq(json_printed(a, &limited), before));
    }
    limits.result_bytes_max = once.len;
    assert(!json_merge(a, &limited, patch, &limits));
    assert(str_eq(json_printed(a, &limited), once));

    assert(!json_merge(a, &doc, patch, NULL));
    assert(str_eq(json_printed(a, &doc), once));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    const struct json *doc, *patch;
    str doc_text, patch_text, input = { (const char *)data, size };

    if (str_cut(input, '\n', &doc_text, &patch_text) && !json_parse(a, doc_text, NULL, &doc) &&
        !json_parse(a, patch_text, NULL, &patch))
        check_merge(a, doc, patch);
    arena_free(a);
    return 0;
}
