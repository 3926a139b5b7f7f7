/* fuzz: test/suites/batch.c */
/* batch.c: any bytes as lines of `baton-suites json batch`.
 *
 * Every line that is not blank gets one line of JSON, an object with an answer or an error; an id
 * comes back; a diff is a patch that does what it says. */
#include "suites/suites.h"

#include <assert.h>

static const struct json *parsed(struct arena *a, str text)
{
    const struct json *j = NULL;
    const struct json_limits limits = {
        .depth_max = JSON_DEPTH_MAX + 8,
        .bytes_max = JSON_BYTES_CEILING,
        .nul_allowed = true,
    };
    return json_parse(a, text, &limits, &j) ? NULL : j;
}

/* No deeper than a document may be: a request leaves room for a few levels more. */
static bool usual_depth(struct arena *a, const struct json *j)
{
    const struct json_limits limits = { .nul_allowed = true };
    const struct json *again;
    return !json_parse(a, json_printed(a, j), &limits, &again);
}

static const struct json *answer_to(struct batch *b, struct arena *a, str line)
{
    struct buf out = buf_in(a);
    batch_line(b, a, line, &out);
    str answer = buf_str(&out);
    assert((answer.len == 0) == (str_trim(line).len == 0));
    if (answer.len == 0)
        return NULL;

    assert(str_find(answer, '\n') == answer.len);
    const struct json *j = parsed(a, answer);
    assert(json_is(j, JSON_OBJECT));
    assert(json_get(j, "error") || json_get(j, "result") || json_get(j, "results") ||
           json_get(j, "ok"));
    return j;
}

static void diff_holds(struct batch *b, struct arena *a, const struct json *request,
                       const struct json *diff)
{
    struct buf line = buf_in(a);
    struct json_writer w = json_writer_to(&line);
    json_write_begin(&w, '{');
    json_write_name(&w, STR("op"));
    json_write_str(&w, STR("patch"));
    json_write_name(&w, STR("doc"));
    json_write_value(&w, json_get(request, "a"));
    json_write_name(&w, STR("patch"));
    json_write_value(&w, diff);
    json_write_end(&w, '}');

    const struct json *from = json_get(request, "a"), *to = json_get(request, "b");
    const struct json *result = json_get(answer_to(b, a, buf_str(&line)), "result");
    assert(result || !usual_depth(a, from) || !usual_depth(a, to));
    assert(!result || json_equal(result, to));
}

static void line_holds(struct batch *b, str line)
{
    struct arena *a = arena_new();
    str copy = arena_copy(a, line); /* so that a read beyond its end is seen */
    const struct json *answer = answer_to(b, a, copy);
    const struct json *request = parsed(a, line);

    if (json_get(request, "id"))
        assert(json_equal(json_get(answer, "id"), json_get(request, "id")));
    if (json_get(answer, "result") && str_eq(json_str(request, "op"), STR("diff")))
        diff_holds(b, a, request, json_get(answer, "result"));
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct batch *b = batch_new();
    str rest = { (const char *)data, size }, line;
    bool more = true;
    while (more) {
        more = str_cut(rest, '\n', &line, &rest);
        line_holds(b, line);
    }
    batch_free(b);
    return 0;
}
