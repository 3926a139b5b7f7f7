/* toml_edit.c: changes of a TOML text that leave the rest of it, byte for byte, as it was. */
#include "cli/init/toml_edit.h"

#include "cli/init/text.h"

enum toml_kind { TOML_BLANK, TOML_TABLE, TOML_KEY };

/* What begins on a line; a value may go on for several. */
struct toml_item {
    enum toml_kind kind;
    str path;               /* of a table; of a key with its table in front: names and dots */
    size_t from, to;        /* of its lines, with the end of the last */
    size_t value, value_to; /* of a key */
};

struct toml {
    struct arena *arena;
    str text;
    size_t at;
    str table; /* that keys belong to */
    struct toml_item *items;
    size_t count;
};

static err toml_wrong(const struct toml *t, size_t at, const char *expected)
{
    size_t line = 1;

    for (size_t i = 0; i < at && i < t->text.len; i++)
        line += t->text.at[i] == '\n';
    return err_new(t->arena, ERR_INVALID, "line %zu: expected %s", line, expected);
}

static char peek(const struct toml *t)
{
    return t->at < t->text.len ? t->text.at[t->at] : '\0';
}

static void skip(struct toml *t, const char *set)
{
    while (t->at < t->text.len && strchr(set, t->text.at[t->at]))
        t->at++;
}

static bool starts(const struct toml *t, const char *with)
{
    return str_starts(str_slice(t->text, t->at, t->text.len), str_from(with));
}

/* ---- names ---- */

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* One name of a path; in quotes its escapes are not looked at, since none of ours has any. */
static err name_read(struct toml *t, str *out)
{
    char quote = peek(t);
    size_t from = t->at;

    if (quote == '"' || quote == '\'') {
        for (from = ++t->at; peek(t) && peek(t) != quote && peek(t) != '\n'; t->at++)
            t->at += quote == '"' && peek(t) == '\\';
        if (peek(t) != quote)
            return toml_wrong(t, from, "the end of a name in quotes");
        *out = str_slice(t->text, from, t->at++);
        return NULL;
    }
    while (is_bare(peek(t)))
        t->at++;
    *out = str_slice(t->text, from, t->at);
    return out->len ? NULL : toml_wrong(t, from, "a name, a table or a comment");
}

/* Names with dots between them, behind those of `before`. */
static err path_read(struct toml *t, str before, str *out)
{
    str name;

    for (*out = before;; t->at++) {
        skip(t, " \t");
        TRY(name_read(t, &name));
        *out = out->len ? arena_printf(t->arena, STR_FMT "." STR_FMT, STR_ARG(*out), STR_ARG(name))
                        : name;
        skip(t, " \t");
        if (peek(t) != '.')
            return NULL;
    }
}

/* ---- values ---- */

static err string_skip(struct toml *t)
{
    char quote = peek(t);
    char three[] = { quote, quote, quote, '\0' };
    bool lines = starts(t, three);
    size_t from = t->at;

    for (t->at += lines ? 3 : 1; peek(t) && (lines || peek(t) != '\n'); t->at++) {
        if (lines ? starts(t, three) : peek(t) == quote) {
            t->at += lines ? 3 : 1;
            while (lines && peek(t) == quote) /* up to two more are part of the text */
                t->at++;
            return NULL;
        }
        t->at += quote == '"' && peek(t) == '\\';
    }
    return toml_wrong(t, from, "a string that ends");
}

/* A number, a date or a word. */
static err word_skip(struct toml *t)
{
    size_t from = t->at;

    while (peek(t) && !strchr(",]}#\r\n", peek(t)))
        t->at++;
    return str_trim(str_slice(t->text, from, t->at)).len ? NULL : toml_wrong(t, from, "a value");
}

/* Brackets are counted: what stands between them is passed over. */
static err value_skip(struct toml *t)
{
    size_t from = t->at, depth = 0;

    do {
        char c = peek(t);
        if (c == '"' || c == '\'')
            TRY(string_skip(t));
        else if (c == '\0')
            return toml_wrong(t, from, "brackets that are closed");
        else if (depth == 0 && !strchr("[{", c))
            return word_skip(t);
        else if (c == '#')
            t->at += str_find(str_slice(t->text, t->at, t->text.len), '\n');
        else {
            depth += c == '[' || c == '{';
            depth -= c == ']' || c == '}';
            t->at++;
        }
    } while (depth > 0);
    return NULL;
}

/* ---- lines ---- */

static err line_end(struct toml *t)
{
    skip(t, " \t\r");
    if (peek(t) == '#')
        t->at += str_find(str_slice(t->text, t->at, t->text.len), '\n');
    if (t->at < t->text.len && peek(t) != '\n')
        return toml_wrong(t, t->at, "the end of the line");
    t->at += t->at < t->text.len;
    return NULL;
}

static err table_read(struct toml *t, struct toml_item *item)
{
    const char *close = starts(t, "[[") ? "]]" : "]";

    item->kind = TOML_TABLE;
    t->at += strlen(close);
    TRY(path_read(t, STR(""), &item->path));
    if (!starts(t, close))
        return toml_wrong(t, t->at, "the ']' that ends the name of a table");
    t->at += strlen(close);
    t->table = item->path;
    return NULL;
}

static err key_read(struct toml *t, struct toml_item *item)
{
    item->kind = TOML_KEY;
    TRY(path_read(t, t->table, &item->path));
    if (peek(t) != '=')
        return toml_wrong(t, t->at, "'=' behind a key");
    t->at++;
    skip(t, " \t");
    item->value = t->at;
    TRY(value_skip(t));
    item->value_to = t->at;
    while (strchr(" \t", t->text.at[item->value_to - 1]))
        item->value_to--;
    return NULL;
}

static err toml_read(struct arena *a, str text, struct toml *t)
{
    size_t most = 1;

    *t = (struct toml){ .arena = a, .text = text, .table = STR("") };
    if (str_starts(text, STR("\xef\xbb\xbf"))) /* some editors begin files with it */
        t->at = 3;
    for (size_t i = 0; i < text.len; i++)
        most += text.at[i] == '\n';
    t->items = ARENA_ARRAY(a, struct toml_item, most);
    while (t->at < text.len) {
        struct toml_item *item = &t->items[t->count++];
        *item = (struct toml_item){ .kind = TOML_BLANK, .path = STR(""), .from = t->at };
        skip(t, " \t");
        if (peek(t) == '[')
            TRY(table_read(t, item));
        else if (!strchr("#\r\n", peek(t)))
            TRY(key_read(t, item));
        TRY(line_end(t));
        item->to = t->at;
    }
    return NULL;
}

/* ---- tables ---- */

static bool is_below(str path, str table)
{
    return path.len > table.len && str_starts(path, table) && path.at[table.len] == '.';
}

/* Finds the table, its keys behind it: `end` is the item after the last of them. t->count: none. */
static err table_find(const struct toml *t, str table, size_t *begin, size_t *end)
{
    str owner = STR("");

    *begin = *end = t->count;
    for (size_t i = 0; i < t->count; i++) {
        const struct toml_item *item = &t->items[i];
        if (item->kind == TOML_TABLE)
            owner = item->path;
        if (item->kind == TOML_TABLE && str_eq(owner, table))
            *begin = i, *end = i + 1;
        else if (item->kind == TOML_KEY && str_eq(owner, table))
            *end = i + 1;
        else if (item->kind == TOML_KEY && !is_below(owner, table) &&
                 (str_eq(item->path, table) || is_below(item->path, table) ||
                  is_below(table, item->path)))
            return err_new(t->arena, ERR_INVALID,
                           "expected the table [" STR_FMT "], but found the key " STR_FMT
                           " outside of it",
                           STR_ARG(table), STR_ARG(item->path));
    }
    return NULL;
}

static str key_line(struct arena *a, const struct toml_key *k, str eol)
{
    return arena_printf(a, "%s = " STR_FMT STR_FMT, k->name, STR_ARG(k->value), STR_ARG(eol));
}

/* The text with one key of the table, whose items are those from `begin` to `end`, set. */
static str key_put(struct toml *t, size_t begin, size_t end, str table, const struct toml_key *k)
{
    str path = arena_printf(t->arena, STR_FMT ".%s", STR_ARG(table), k->name);
    const struct toml_item *last = &t->items[end - 1];

    for (size_t i = begin + 1; i < end; i++) {
        const struct toml_item *item = &t->items[i];
        if (item->kind == TOML_KEY && (str_eq(item->path, path) || is_below(item->path, path)))
            return k->kept ? t->text
                           : text_splice(t->arena, t->text, item->value, item->value_to, k->value);
    }
    str eol = text_eol(t->text);
    if (last->to > last->from && t->text.at[last->to - 1] == '\n')
        return text_splice(t->arena, t->text, last->to, last->to, key_line(t->arena, k, eol));
    return text_splice(t->arena, t->text, last->to, last->to,
                       arena_printf(t->arena, STR_FMT STR_FMT, STR_ARG(eol),
                                    STR_ARG(key_line(t->arena, k, STR("")))));
}

static str table_text(struct arena *a, const char *table, const struct toml_key *keys, size_t count)
{
    struct buf out = buf_in(a);

    buf_printf(&out, "[%s]\n", table);
    for (size_t i = 0; i < count; i++)
        buf_add(&out, key_line(a, &keys[i], STR("\n")));
    return buf_str(&out);
}

err toml_put(struct arena *a, str text, const char *table, const struct toml_key *keys,
             size_t count, str *out)
{
    size_t begin, end;
    struct toml t;

    *out = text;
    for (size_t i = 0; i < count; i++) {
        TRY(toml_read(a, *out, &t));
        TRY(table_find(&t, str_from(table), &begin, &end));
        if (begin == t.count) {
            *out = text_append(a, *out, table_text(a, table, keys, count));
            return NULL;
        }
        *out = key_put(&t, begin, end, str_from(table), &keys[i]);
    }
    return NULL;
}

/* The last table that is `table` or below it, with its keys; false: there is none. */
static bool table_last(const struct toml *t, str table, size_t *from, size_t *to)
{
    bool inside = false, found = false;

    for (size_t i = 0; i < t->count; i++) {
        const struct toml_item *item = &t->items[i];
        if (item->kind == TOML_TABLE) {
            inside = str_eq(item->path, table) || is_below(item->path, table);
            if (inside)
                *from = item->from;
        }
        if (inside && item->kind != TOML_BLANK)
            *to = item->to;
        found |= inside;
    }
    return found;
}

err toml_drop(struct arena *a, str text, const char *table, str *out)
{
    size_t from, to, begin, end;
    struct toml t;

    *out = text;
    for (;;) {
        TRY(toml_read(a, *out, &t));
        TRY(table_find(&t, str_from(table), &begin, &end));
        if (!table_last(&t, str_from(table), &from, &to))
            return NULL;
        *out = text_cut(a, *out, from, to);
    }
}

err toml_table(struct arena *a, str text, const char *table, str *out)
{
    size_t begin, end;
    bool inside = false;
    struct buf lines = buf_in(a);
    struct toml t;

    TRY(toml_read(a, text, &t));
    TRY(table_find(&t, str_from(table), &begin, &end));
    for (size_t i = 0; i < t.count; i++) {
        const struct toml_item *item = &t.items[i];
        if (item->kind == TOML_TABLE)
            inside = str_eq(item->path, str_from(table)) || is_below(item->path, str_from(table));
        for (size_t k = item->from; inside && k < item->to; k++)
            if (text.at[k] != '\r')
                buf_byte(&lines, text.at[k]);
    }
    *out = buf_str(&lines);
    return NULL;
}

err toml_get(struct arena *a, str text, const char *key, str *value)
{
    struct toml t;

    *value = STR("");
    TRY(toml_read(a, text, &t));
    for (size_t i = 0; i < t.count; i++)
        if (t.items[i].kind == TOML_KEY && str_eq(t.items[i].path, str_from(key)))
            *value = str_slice(text, t.items[i].value, t.items[i].value_to);
    return NULL;
}

str toml_string(struct arena *a, str value)
{
    struct buf out = buf_in(a);

    buf_byte(&out, '"');
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.at[i];
        if (c == '"' || c == '\\')
            buf_printf(&out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            buf_printf(&out, "\\u%04X", c);
        else
            buf_byte(&out, (char)c);
    }
    buf_byte(&out, '"');
    return buf_str(&out);
}
