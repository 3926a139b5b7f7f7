/* fuzz: src/json/parse.c src/json/parse_string.c src/json/parse_error.c src/json/print.c
 *
 * What parses is printed, parsed again and is the same, in each of the three ways to print; what
 * does not parse gets a message with a place. */
#include <assert.h>
#include <stdlib.h>

#include "json/json.h"

typedef void print(struct buf *out, const struct json *j);

static str printed(struct arena *a, print *how, const struct json *j)
{
    struct buf out = buf_in(a);
    how(&out, j);
    return buf_str(&out);
}

static const struct json *parsed(struct arena *a, str text, const struct json_limits *limits)
{
    const struct json *j = NULL;
    err e = json_parse(a, text, limits, &j);
    assert(!e);
    return j;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct json_limits limits = { .nul_allowed = data[0] & 1, .bytes_max = 64 << 20 };
    struct arena *a = arena_new();
    /* A copy of exactly that size, so that a read beyond its end is found. */
    char *exact = memcpy(mem_alloc(size - 1), data + 1, size - 1);
    const struct json *j;
    err e = json_parse(a, (str){ exact, size - 1 }, &limits, &j);

    if (e) {
        assert(e->kind == ERR_INVALID && str_starts(e->message, STR("line ")));
    } else {
        str compact = printed(a, json_print, j);
        assert(compact.len == json_print_size(j));
        assert(str_eq(compact, json_printed(a, parsed(a, compact, &limits))));
        assert(
            str_eq(compact, json_printed(a, parsed(a, printed(a, json_print_pretty, j), &limits))));

        str canonical = printed(a, json_print_canonical, j);
        const struct json *again = parsed(a, canonical, &limits);
        assert(str_eq(canonical, printed(a, json_print_canonical, again)));

        struct json copy = json_copy(a, j);
        assert(json_equal(&copy, j) && json_hash(&copy) == json_hash(j));
    }
    free(exact);
    arena_free(a);
    return 0;
}
