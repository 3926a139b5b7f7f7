/* feel.c: expressions and templates over variables. Input: an expression, NUL, an object of variables.
 *
 * Evaluating fails by its budget alone, gives JSON that parses to itself, null with a reason and all
 * else without one, and the same each time. In a template it gives the same text. */
#include <assert.h>

#include "flow/template.h"

#define NOW INT64_C(1795032930250)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_result(struct arena *a, const struct feel_result *result)
{
    const struct json *again;
    str printed = json_printed(a, result->value);

    assert(printed.len <= FEEL_RESULT_MAX * 6); /* escapes */
    assert((result->reason.len > 0) == json_is(result->value, JSON_NULL));
    assert(!json_parse_own(a, printed, &again));
    assert(json_equal(result->value, again));
}

static void check_names(const struct feel *feel)
{
    const str *names;
    size_t count = feel_names(feel, &names);

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            assert(!str_eq(names[i], names[k]));
}

/* As the one expression of a template. */
static void check_template(struct arena *a, str text, const struct feel_scope *scope,
                           const struct feel_result *result)
{
    const struct template *t;
    str rendered, whole = arena_printf(a, "<{{" STR_FMT " }}>", STR_ARG(text));

    /* A }} outside of strings, or a quote that is not closed as a template sees it, ends it early. */
    if (template_compile(a, whole, &t) || template_render(a, t, scope, NOW, &rendered))
        return;
    str expected = json_is(result->value, JSON_STRING) ? json_text(result->value)
                   : json_is(result->value, JSON_NULL) ? STR("")
                                                       : json_printed(a, result->value);
    if (str_starts(rendered, STR("<")) && str_ends(rendered, STR(">")))
        assert(str_eq(str_slice(rendered, 1, rendered.len - 1), expected) ||
               str_contains(text, STR("}}")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text, document;
    struct arena *a = arena_new();
    const struct feel *feel;
    struct feel_scope scope = { 0 };
    struct feel_result result, again;
    const struct template *t;

    str_cut((str){ (const char *)data, size }, 0, &text, &document);
    if (json_parse(a, document, NULL, &scope.vars) || !json_is(scope.vars, JSON_OBJECT))
        scope.vars = NULL;
    err e = feel_compile(a, text, &feel);
    assert(!e || e->kind == ERR_INVALID);
    if (!e) {
        assert(str_eq(feel_text(feel), text));
        check_names(feel);
        e = feel_eval(a, feel, &scope, NOW, &result);
        assert(!e || e->kind == ERR_LIMIT);
        if (!e) {
            check_result(a, &result);
            e = feel_eval(a, feel, &scope, NOW, &again);
            assert(!e && json_equal(result.value, again.value));
            assert(str_eq(result.reason, again.reason));
            check_template(a, text, &scope, &result);
        }
    }
    e = template_compile(a, text, &t);
    assert(!e || e->kind == ERR_INVALID);
    if (!e) {
        e = template_render(a, t, &scope, NOW, &document);
        assert(!e || e->kind == ERR_LIMIT);
    }
    arena_free(a);
    return 0;
}
