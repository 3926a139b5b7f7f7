/* config_read.c: baton.toml, in the part of TOML that settings need.
 *
 * A line is empty, a comment, a [table] or name = value. What TOML has beside
 * that is refused by name of its line, not guessed at. */
#include <assert.h>

#include "app/config_private.h"
#include "base/arena.h"

struct reader {
    struct arena *arena;
    struct config *config;
    const char *path;
    int line;
    str table; /* names below it begin with it and an underscore; empty: none */
    bool seen[SETTING_COUNT_ALL];
};

static err wrong(struct reader *r, const char *expected, str found)
{
    if (found.len > 40)
        found.len = 40;
    for (size_t i = 0; i < found.len; i++) /* a URL may hold a password */
        if (str_starts(str_slice(found, i, found.len), STR("://")))
            found.len = i;
    return err_new(r->arena, ERR_INVALID, "%s:%d: expected %s, but found '" STR_FMT "'", r->path,
                   r->line, expected, STR_ARG(found));
}

static bool is_name(str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return s.len > 0;
}

/* Nothing but a comment may stand there. */
static bool is_rest(str s)
{
    s = str_trim(s);
    return s.len == 0 || s.at[0] == '#';
}

/* ---- values ---- */

/* A string in double quotes has escapes, one in single quotes has none. */
static err read_string(struct reader *r, str text, struct buf *out, str *rest)
{
    char quote = text.at[0];
    size_t i = 1;

    for (; i < text.len && text.at[i] != quote; i++) {
        char c = text.at[i];
        if (c == '\\' && quote == '"') {
            if (++i == text.len || (text.at[i] != '"' && text.at[i] != '\\'))
                return wrong(r, "\\\" or \\\\ where a string has a backslash", text);
            c = text.at[i];
        }
        buf_byte(out, c);
    }
    if (i == text.len)
        return wrong(r, "a string that ends on its line", text);
    *rest = str_slice(text, i + 1, text.len);
    return NULL;
}

static err read_number(struct reader *r, str text, struct buf *out, str *rest)
{
    size_t end = 0;
    int64_t ignored;

    while (end < text.len && !strchr(" \t#", text.at[end]))
        end++;
    if (!str_to_int(str_slice(text, 0, end), &ignored))
        return wrong(r, "a whole number, or a string in quotes", text);
    buf_add(out, str_slice(text, 0, end));
    *rest = str_slice(text, end, text.len);
    return NULL;
}

static err read_value(struct reader *r, str text, str *value)
{
    struct buf out = buf_in(r->arena);
    str rest;

    if (text.len && (text.at[0] == '"' || text.at[0] == '\''))
        TRY(read_string(r, text, &out, &rest));
    else
        TRY(read_number(r, text, &out, &rest));
    if (!is_rest(rest))
        return wrong(r, "a comment or the end of the line behind the value", str_trim(rest));
    *value = buf_str(&out);
    return NULL;
}

/* ---- lines ---- */

static err read_table(struct reader *r, str line)
{
    str name, rest;

    if (!str_cut(str_slice(line, 1, line.len), ']', &name, &rest) || !is_rest(rest))
        return wrong(r, "a table like [name]", line);
    r->table = str_trim(name);
    return is_name(r->table) ? NULL : wrong(r, "a table's name of a-z, 0-9 and _", line);
}

static err read_setting(struct reader *r, str line)
{
    str name, text, value;
    const struct setting *s;

    if (!str_cut(line, '=', &name, &text) || !is_name(str_trim(name)))
        return wrong(r, "a line like name = value", line);
    name = str_trim(name);
    if (r->table.len)
        name = arena_printf(r->arena, STR_FMT "_" STR_FMT, STR_ARG(r->table), STR_ARG(name));
    err e = setting_find(r->arena, name, &s);
    if (e)
        return err_within(r->arena, e, "%s:%d", r->path, r->line);
    TRY(read_value(r, str_trim(text), &value));
    if (r->seen[setting_index(s)])
        return err_new(r->arena, ERR_INVALID, "%s:%d: '%s' was set before: keep one of them",
                       r->path, r->line, s->name);
    r->seen[setting_index(s)] = true;
    e = setting_put(r->arena, r->config, s, value);
    return e ? err_within(r->arena, e, "%s:%d", r->path, r->line) : NULL;
}

err config_read(struct arena *a, struct config *c, str text, const char *path)
{
    struct reader r = { .arena = a, .config = c, .path = path };

    while (text.len) {
        str line;
        str_cut(text, '\n', &line, &text);
        line = str_trim(line);
        r.line++;
        if (is_rest(line))
            continue;
        TRY(line.at[0] == '[' ? read_table(&r, line) : read_setting(&r, line));
    }
    return NULL;
}
