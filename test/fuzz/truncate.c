/* fuzz: src/ops/truncate.c src/json/outline.c */
/* truncate.c: how many characters (a number), a line end, a path's query, a line end, and a document.
 *
 * An answer is JSON. What is there of the document is as it is in the document; what is not is
 * counted, and listed by pointers that lead to it; with room for all of it, all of it is there. */
#include "ops/truncate.h"

#include <assert.h>

#include "json/pointer.h"

static const struct json *answer_read(struct arena *a, struct json_writer *w)
{
    const struct json *answer;

    json_write_end(w, '}');
    err e = json_parse(a, buf_str(w->out), &(struct json_limits){ .depth_max = 2 * JSON_DEPTH_MAX },
                       &answer);
    assert(!e);
    return answer;
}

static struct json_writer answer_begin(struct arena *a)
{
    struct buf *out = ARENA_NEW(a, struct buf);

    *out = buf_in(a);
    struct json_writer w = json_writer_to(out);
    json_write_begin(&w, '{');
    return w;
}

/* What was cut leads to something of the document. */
static void truncated_check(struct arena *a, const struct json *answer, const struct json *doc)
{
    const struct json *cut = json_get(answer, "cut"), *there;

    assert(json_bool_or(answer, "truncated", false) && json_is(cut, JSON_ARRAY));
    assert(json_int_or(answer, "cut_count", -1) >= (int64_t)cut->len);
    assert(json_str(answer, "hint").len);
    for (uint32_t i = 0; i < cut->len; i++) {
        err e = json_pointer_get(a, doc, json_str(&cut->items[i], "pointer"), &there);
        assert(!e && json_int_or(&cut->items[i], "chars", -1) > 0);
    }
}

static void value_check(struct arena *a, const struct json *doc, size_t chars_max)
{
    struct json_writer w = answer_begin(a);

    write_truncated_value(a, &w, STR("value"), STR(""), doc, chars_max);
    const struct json *answer = answer_read(a, &w), *value = json_get(answer, "value");
    if (!json_get(answer, "truncated")) {
        assert(value && json_equal(value, doc));
        return;
    }
    truncated_check(a, answer, doc);
    if (!value)
        return;
    assert(json_is(value, JSON_OBJECT) && json_is(doc, JSON_OBJECT));
    for (uint32_t i = 0; i < value->len; i++) {
        const struct json *whole = json_find(doc, json_name(&value->members[i]));
        assert(whole && json_equal(whole, &value->members[i].value));
    }
    assert(value->len + json_int_or(answer, "cut_count", 0) == doc->len);
}

static void patch_check(struct arena *a, const struct json *doc, size_t chars_max)
{
    struct json_writer w = answer_begin(a);

    write_truncated_patch(a, &w, doc, chars_max);
    const struct json *answer = answer_read(a, &w), *patch = json_get(answer, "patch");
    assert(!patch == json_bool_or(answer, "truncated", false));
    assert(!patch || json_equal(patch, doc));
}

static void matches_check(struct arena *a, const struct json *doc, str query, size_t chars_max)
{
    const struct json_path *path;
    struct json_matches found;
    const struct json *there;

    if (json_path_compile(a, query, &path) || json_path_run(a, path, doc, &found))
        return;
    struct json_writer w = answer_begin(a);
    write_truncated_matches(a, &w, &found, chars_max);
    const struct json *answer = answer_read(a, &w), *matches = json_get(answer, "matches");
    bool cut = json_bool_or(answer, "truncated", false);
    assert(json_is(matches, JSON_ARRAY) && (cut || matches->len == found.count));
    for (uint32_t i = 0; i < matches->len; i++) {
        const struct json *m = &matches->items[i];
        err e = json_pointer_get(a, doc, json_str(m, "pointer"), &there);
        assert(!e && json_equal(there, json_get(m, "value")));
    }
    if (cut)
        assert(matches->len + json_int_or(answer, "cut_count", 0) == (int64_t)found.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str text = size ? (str){ (const char *)data, size } : STR(""), line, query;
    const struct json *doc;
    int64_t most;

    str_cut(text, '\n', &line, &text);
    str_cut(text, '\n', &query, &text);
    if (str_to_int(line, &most) && most >= 0 && !json_parse(a, text, NULL, &doc)) {
        size_t rooms[] = { (size_t)most, 0, TRUNCATE_NONE };
        for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
            value_check(a, doc, rooms[i]);
            patch_check(a, doc, rooms[i]);
            matches_check(a, doc, query, rooms[i]);
        }
    }
    arena_free(a);
    return 0;
}
