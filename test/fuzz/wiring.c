/* fuzz: src/cli/init/hooks.c src/cli/init/json.c src/cli/init/text.c src/cli/init/wire.c src/cli/init/toml_edit.c */
/* Fuzz target: files of others that `baton init` adds to.
 *
 * Whatever a file says, it is refused, or wired so that wiring it again changes nothing, and so that
 * taking out what is ours, twice, is the same as once, and loses no comment. A block of ours leaves
 * no trace at all. */
#include <assert.h>

#include "cli/init/init.h"
#include "cli/init/json.h"
#include "cli/init/text.h"

static str edited(const struct wiring *w, const struct wire_file *f, str text)
{
    str out;
    err e = f->edit(w, text, &out);

    assert(!e); /* it was edited before, and what we have made of it can be edited, too */
    return out;
}

/* How often a comment begins, in what is neither one nor a string. */
static size_t comments(struct arena *a, str text)
{
    str plain = json_text_plain(a, text);
    size_t count = 0;

    for (size_t i = 0; i + 1 < text.len; i++)
        count += text.at[i] == '/' && plain.at[i] == ' ' &&
                 (i == 0 || plain.at[i - 1] == text.at[i - 1]);
    return count;
}

static void check_file(struct arena *a, const struct wire_file *f, str text)
{
    struct wiring in = { a, STR("baton"), true, NULL }, out = { a, STR("baton"), false, NULL };
    struct wiring moved = { a, STR("/else where/baton"), true, NULL };
    str with;
    err e = f->edit(&in, text, &with);

    if (e) {
        assert(e->kind == ERR_INVALID || e->kind == ERR_TOO_LARGE);
        return;
    }
    assert(str_eq(edited(&in, f, with), with));
    str without = edited(&out, f, with);
    assert(str_eq(edited(&out, f, without), without));
    if (str_ends(str_from(f->path), STR(".json")) && comments(a, text))
        assert(comments(a, without));
    str again = edited(&moved, f, with);
    assert(str_eq(edited(&moved, f, again), again));
}

static void check_block(struct arena *a, str text)
{
    size_t from, to;
    bool had = text_marked(text, &from, &to);
    str with = text_mark(a, text, STR("a\nb\n"));

    assert(text_marked(with, &from, &to));
    assert(str_eq(text_mark(a, with, STR("a\nb\n")), with));
    if (!had)
        assert(str_eq(text_mark(a, with, STR("")), text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str text = arena_copy(a, (str){ (const char *)data, size });

    if (size < 4096) {
        for (const struct wire_file *f = wire_files; f->path; f++)
            check_file(a, f, text);
        check_block(a, text);
    }
    arena_free(a);
    return 0;
}
