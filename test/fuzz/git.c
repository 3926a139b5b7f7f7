/* fuzz: src/runner/git.c */
/* git.c: any bytes as what `git status --porcelain=v2 --branch -z` prints, twice, split by 0x01.
 *
 * What is read is null, or an object that prints as JSON with a head and paths that are UTF-8; what
 * has changed between one and itself is nothing, and between two it is a text that names both. */
#include "runner/git.h"

#include <assert.h>

#include "base/utf8.h"

enum { DIRTY_MAX = 50 };

static struct json status_read(struct arena *a, str text)
{
    struct json git = git_read(a, text);
    const struct json *again, *dirty;

    if (json_is(&git, JSON_NULL))
        return git;
    err e =
        json_parse(a, json_printed(a, &git), &(struct json_limits){ .nul_allowed = true }, &again);
    assert(!e && json_equal(&git, again));
    assert(json_is(json_get(&git, "head"), JSON_STRING));
    dirty = json_get(&git, "dirty");
    assert(json_is(dirty, JSON_ARRAY) && dirty->len <= DIRTY_MAX);
    for (uint32_t i = 0; i < dirty->len; i++)
        assert(json_is(&dirty->items[i], JSON_STRING) && dirty->items[i].len > 0);
    assert(git_changes(a, &git, &git).len == 0);
    return git;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str text = size ? (str){ (const char *)data, size } : STR(""), first, second;

    str_cut(text, '\1', &first, &second);
    struct json before = status_read(a, first), now = status_read(a, second);
    str changes = git_changes(a, &before, &now);
    assert(utf8_valid(changes));
    bool known = json_is(&before, JSON_OBJECT) && json_is(&now, JSON_OBJECT);
    assert(known || !changes.len);
    if (known && !str_eq(json_str(&before, "head"), json_str(&now, "head")))
        assert(str_contains(changes, STR("- commit: was ")));
    arena_free(a);
    return 0;
}
