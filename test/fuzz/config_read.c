/* fuzz: src/app/config_read.c src/app/config.c */
/* config_read.c: any bytes as baton.toml.
 *
 * What is refused names its line and shows no password of a URL; what is taken, printed as a file,
 * is read as the same settings. */
#include <assert.h>

#include "app/config.h"

static str printed(struct arena *a, const struct config *c)
{
    struct buf out = buf_in(a);

    config_print(&out, c);
    return buf_str(&out);
}

static void refused_check(err e, str text)
{
    int64_t line, lines = 1;
    str path, number, rest;

    for (size_t i = 0; i < text.len; i++)
        lines += text.at[i] == '\n';
    assert(e->kind == ERR_INVALID && e->message.len);
    assert(!str_contains(e->message, STR("://u:hunter2@"))); /* nobody's password is shown */
    bool named = str_cut(e->message, ':', &path, &rest) && str_cut(rest, ':', &number, &rest);
    assert(named && str_eq(path, STR("baton.toml")));
    assert(str_to_int(number, &line) && line >= 1 && line <= lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str text = size ? arena_copy(a, (str){ (const char *)data, size }) : STR("");
    struct config config = config_default(), again = config_default();
    err e = config_read(a, &config, text, "baton.toml");

    if (e) {
        refused_check(e, text);
    } else {
        str shown = printed(a, &config);
        e = config_read(a, &again, shown, "baton.toml");
        assert(!e && str_eq(printed(a, &again), shown));
    }
    arena_free(a);
    return 0;
}
