/* fuzz: src/json/schema/load.c src/json/schema/dialect.c src/json/schema/compile.c
 * fuzz: src/json/schema/compile_kinds.c src/json/schema/merge.c src/json/schema/check.c
 * fuzz: src/json/schema/check_value.c src/json/schema/explain.c
 *
 * The input is a schema, a line end, and a document. Whatever compiles gives one answer: what does
 * not fit can be explained, what fits cannot; a schema and its negation never agree. */
#include <assert.h>

#include "json/schema/schema.h"

static const char *const drafts[] = {
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
};

static void check_negation(struct arena *a, const struct json *schema,
                           const struct schema_options *options, const struct json *doc,
                           enum schema_verdict verdict)
{
    /* References inside it must go on meaning what they meant. */
    if (str_find(json_printed(a, schema), '$') < json_print_size(schema))
        return;
    struct json negated = json_object();
    struct schema *s;
    json_put(a, &negated, STR("not"), *schema);
    err e = schema_compile(a, &negated, options, &s);
    assert(!e);
    enum schema_verdict opposite = schema_check(s, doc);
    assert(verdict == SCHEMA_EXHAUSTED || opposite == SCHEMA_EXHAUSTED ||
           (verdict == SCHEMA_FITS) != (opposite == SCHEMA_FITS));
    schema_free(s);
}

static void check_document(struct arena *a, const struct json *schema,
                           const struct schema_options *options, const struct json *doc)
{
    struct schema *s;
    err e = schema_compile(a, schema, options, &s);
    if (e) {
        assert(e->kind == ERR_UNFIT && e->message.len && e->members.len);
        return;
    }
    const struct violation *violations;
    enum schema_verdict verdict = schema_check(s, doc);
    size_t count = schema_explain(a, s, doc, 10, &violations);
    assert((verdict == SCHEMA_FITS) == (count == 0) && count <= 10);
    assert((verdict == SCHEMA_FITS) == !schema_require(a, s, doc));
    for (size_t i = 0; i < count; i++)
        assert(violations[i].keyword.len && violations[i].message.len);
    schema_free(s);
    check_negation(a, schema, options, doc, verdict);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct schema_options options = { .dialect = str_from(drafts[data[0] % 3]),
                                      .assert_formats = data[0] & 4 };
    struct arena *a = arena_new();
    const struct json *schema, *doc;
    str text = { (const char *)data + 1, size - 1 }, schema_text, doc_text;

    if (str_cut(text, '\n', &schema_text, &doc_text) &&
        !json_parse(a, schema_text, NULL, &schema) && !json_parse(a, doc_text, NULL, &doc))
        check_document(a, schema, &options, doc);
    arena_free(a);
    return 0;
}
