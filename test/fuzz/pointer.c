/* fuzz: src/json/pointer.c */
/* pointer.c: JSON Pointers over documents. Input: a pointer, NUL, the document's text.
 *
 * What parses prints as it was; and finding a value is the same as stepping token by token. */
#include <assert.h>

#include "json/json.h"
#include "json/pointer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_print(struct arena *a, str text, const struct json_pointer *pointer)
{
    struct buf printed = buf_in(a);

    for (size_t i = 0; i < pointer->count; i++)
        json_pointer_add(&printed, pointer->tokens[i]);
    assert(str_eq(buf_str(&printed), text));
}

static void check_get(struct arena *a, str text, const struct json_pointer *pointer,
                      const struct json *doc)
{
    const struct json *stepped = doc, *found;

    for (size_t i = 0; i < pointer->count && stepped; i++)
        stepped = json_pointer_step(stepped, pointer->tokens[i]);
    err e = json_pointer_get(a, doc, text, &found);
    assert(stepped ? !e && found == stepped : e && e->kind == ERR_NOT_FOUND);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text, document;
    struct arena *a = arena_new();
    struct json_pointer pointer;
    const struct json *doc;

    str_cut((str){ (const char *)data, size }, 0, &text, &document);
    err e = json_pointer_parse(a, text, &pointer);
    assert(!e || e->kind == ERR_INVALID);
    if (!e) {
        check_print(a, text, &pointer);
        if (!json_parse(a, document, NULL, &doc))
            check_get(a, text, &pointer, doc);
    }
    arena_free(a);
    return 0;
}
