/* fuzz: src/json/patch.c src/json/patch_explain.c src/json/edit.c */
/* patch.c: a document, a newline, and a JSON Patch.
 *
 * A patch that fails leaves every byte as it was; one that passes leaves a
 * document that prints and parses to itself, within the limits. */
#include "json/patch.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_result(struct arena *a, const struct json *doc)
{
    const struct json *again;
    str printed = json_printed(a, doc);

    assert(printed.len == json_print_size(doc));
    assert(printed.len <= 4096);
    assert(!json_parse(a, printed, &(struct json_limits){ .depth_max = 8 }, &again));
    assert(json_equal(doc, again));
    assert(str_eq(json_printed(a, again), printed));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_patch_limits limits = {
        .operations_max = 50,
        .copy_bytes_max = 1000,
        .result_bytes_max = 4096,
        .depth_max = 8,
    };
    struct arena *a = arena_new();
    const struct json *parsed, *patch;
    str doc_text, patch_text, input = { (const char *)data, size };

    if (str_cut(input, '\n', &doc_text, &patch_text) &&
        !json_parse(a, doc_text, &(struct json_limits){ .depth_max = 8 }, &parsed) &&
        !json_parse(a, patch_text, NULL, &patch)) {
        struct json doc = json_copy(a, parsed);
        str before = json_printed(a, &doc), patch_before = json_printed(a, patch);

        for (int round = 0; round < 3; round++) {
            if (json_patch(a, &doc, patch, &limits)) {
                assert(str_eq(json_printed(a, &doc), before));
                break;
            }
            check_result(a, &doc);
            before = json_printed(a, &doc);
        }
        assert(str_eq(json_printed(a, patch), patch_before));
    }
    arena_free(a);
    return 0;
}
