/* fuzz: src/json/path/lex.c src/json/path/parse.c src/json/path/filter.c src/json/path/run.c */
/* path.c: JSONPath queries over documents. Input: a query, NUL, the document's text.
 *
 * Every match has a normalized path, which is a query for exactly that value, and a pointer that
 * leads to it. Running can fail by its budget alone. */
#include <assert.h>

#include "json/json.h"
#include "json/path/path.h"
#include "json/pointer.h"

#define CHECKED_MAX 40 /* matches of one input whose places are followed */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_match(struct arena *a, const struct json *doc, const struct json_match *match)
{
    struct buf query = buf_in(a), pointer = buf_in(a), again = buf_in(a);
    const struct json_path *path;
    const struct json *value;
    struct json_matches found;

    json_path_print(&query, match->location);
    err e = json_path_compile(a, buf_str(&query), &path);
    assert(!e);
    e = json_path_run(a, path, doc, &found);
    assert(!e && found.count == 1 && found.items[0].value == match->value);
    json_path_print(&again, found.items[0].location);
    assert(str_eq(buf_str(&again), buf_str(&query)));

    json_path_print_pointer(&pointer, match->location);
    e = json_pointer_get(a, doc, buf_str(&pointer), &value);
    assert(!e && value == match->value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str query, document;
    struct arena *a = arena_new();
    const struct json_path *path;
    const struct json *doc;
    struct json_matches matches;

    str_cut((str){ (const char *)data, size }, 0, &query, &document);
    err e = json_path_compile(a, query, &path);
    assert(!e || e->kind == ERR_INVALID);
    if (!e && !json_parse(a, document, NULL, &doc)) {
        e = json_path_run(a, path, doc, &matches);
        assert(!e || e->kind == ERR_LIMIT);
        for (size_t i = 0; !e && i < matches.count && i < CHECKED_MAX; i++)
            check_match(a, doc, &matches.items[i]);
    }
    arena_free(a);
    return 0;
}
