/* agent_file.c: from the text of a file to an agent, and the agents of a folder. */
#include "client/agent_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"

enum { FILE_BYTES_MAX = 1 << 20, FILES_MAX = 1000 };

struct reader {
    struct arena *arena;
    str rest;
    int line; /* of the file, from 1 on: the one that was read last */
};

static err broken(struct reader *r, int line, const char *expected)
{
    return err_new(r->arena, ERR_INVALID, "line %d: %s", line, expected);
}

/* ---- lines ---- */

/* The line that comes next, without its end. */
static bool line_peek(const struct reader *r, str *line)
{
    str after;

    if (!r->rest.len)
        return false;
    str_cut(r->rest, '\n', line, &after);
    if (str_ends(*line, STR("\r")))
        line->len--;
    return true;
}

static void line_skip(struct reader *r)
{
    str line, after = STR("");

    if (!str_cut(r->rest, '\n', &line, &after))
        after = STR("");
    r->rest = after;
    r->line++;
}

static size_t indent_of(str line)
{
    size_t n = 0;

    while (n < line.len && (line.at[n] == ' ' || line.at[n] == '\t'))
        n++;
    return n;
}

static bool is_blank(str line)
{
    return str_trim(line).len == 0;
}

/* ---- texts ---- */

/* A comment begins with # behind a space; in a text without quotes, that is. */
static str without_comment(str text)
{
    if (text.len && text.at[0] == '#')
        return STR("");
    for (size_t i = 1; i < text.len; i++)
        if (text.at[i] == '#' && (text.at[i - 1] == ' ' || text.at[i - 1] == '\t'))
            return str_trim(str_slice(text, 0, i));
    return text;
}

static const char escapes[] = "n\nt\tr\r\"\"\\\\//  ";

/* The character of \n, \t and so on; 0: there is no such escape. */
static char escape_of(char c)
{
    for (const char *e = escapes; *e; e += 2)
        if (*e == c)
            return e[1];
    return 0;
}

/* A text in quotes, of which `*text` begins with the first; it is left with what follows the last. */
static err quoted_read(struct reader *r, str *text, str *out)
{
    char quote = text->at[0];
    struct buf value = buf_in(r->arena);

    for (size_t i = 1; i < text->len; i++) {
        char c = text->at[i];
        bool twice = c == '\'' && i + 1 < text->len && text->at[i + 1] == c && quote == c;
        if (c == quote && !twice) {
            *text = str_trim(str_slice(*text, i + 1, text->len));
            *out = buf_str(&value);
            return NULL;
        }
        if (quote == '"' && c == '\\') {
            c = i + 1 < text->len ? escape_of(text->at[i + 1]) : 0;
            if (!c)
                return broken(r, r->line,
                              "expected one of \\n \\t \\r \\\" \\\\ behind a backslash in quotes; "
                              "between ' and ' a backslash is one");
        }
        i += twice || (quote == '"' && text->at[i] == '\\');
        buf_byte(&value, c);
    }
    return broken(r, r->line,
                  "expected a closing quote in the same line; a text of several lines is written "
                  "as `key: |` with the lines indented below it");
}

/* Lines below a key that are indented, with what they have in common taken away. */
static str block_read(struct reader *r, bool fold)
{
    struct buf out = buf_in(r->arena);
    size_t indent = 0, blanks = 0;
    str line;

    while (line_peek(r, &line) && (is_blank(line) || indent_of(line) > 0)) {
        line_skip(r);
        if (is_blank(line)) {
            blanks++;
            continue;
        }
        size_t own = indent_of(line);
        indent = indent ? indent : own;
        if (out.len && fold && !blanks)
            buf_byte(&out, ' ');
        for (size_t i = 0; out.len && i < blanks + !fold; i++)
            buf_byte(&out, '\n');
        blanks = 0;
        buf_add(&out, str_slice(line, own < indent ? own : indent, line.len));
    }
    return str_trim(buf_str(&out));
}

/* ---- lists ---- */

static void item_add(struct reader *r, struct json *items, str text)
{
    if (text.len)
        json_push(r->arena, items, json_string(text));
}

/* Items between commas; those inside of parentheses are a part of their item. */
static void items_split(struct reader *r, str text, struct json *items)
{
    size_t from = 0, depth = 0;

    for (size_t i = 0; i <= text.len; i++) {
        char c = i < text.len ? text.at[i] : ',';
        depth += c == '(';
        depth -= c == ')' && depth > 0;
        if (c == ',' && (depth == 0 || i == text.len)) {
            item_add(r, items, str_trim(str_slice(text, from, i)));
            from = i + 1;
        }
    }
}

/* An item of a list: in quotes, or as it stands. */
static err item_read(struct reader *r, str text, struct json *items)
{
    str value = without_comment(text);

    if (text.len && (text.at[0] == '"' || text.at[0] == '\'')) {
        TRY(quoted_read(r, &text, &value));
        if (without_comment(text).len)
            return broken(r, r->line, "expected nothing behind the closing quote");
    }
    item_add(r, items, value);
    return NULL;
}

/* [a, "b", c], all in one line. */
static err flow_read(struct reader *r, str text, struct json *items)
{
    str rest = str_slice(text, 1, text.len), value;

    for (;;) {
        rest = str_trim(rest);
        if (rest.len && (rest.at[0] == '"' || rest.at[0] == '\'')) {
            TRY(quoted_read(r, &rest, &value));
        } else {
            size_t end = 0;
            while (end < rest.len && rest.at[end] != ',' && rest.at[end] != ']')
                end++;
            value = str_trim(str_slice(rest, 0, end));
            rest = str_slice(rest, end, rest.len);
        }
        item_add(r, items, value);
        if (!rest.len || (rest.at[0] != ',' && rest.at[0] != ']'))
            return broken(r, r->line, "expected a list [a, b] to end in the same line");
        if (rest.at[0] == ']')
            break;
        rest = str_slice(rest, 1, rest.len);
    }
    rest = without_comment(str_trim(str_slice(rest, 1, rest.len)));
    return rest.len ? broken(r, r->line, "expected nothing behind the ] of a list") : NULL;
}

static bool is_item(str line)
{
    str text = str_trim(line);
    return str_eq(text, STR("-")) || str_starts(text, STR("- "));
}

/* Lines with a dash below a key, indented or not. */
static err dashes_read(struct reader *r, struct json *items)
{
    str line;

    while (line_peek(r, &line) && (is_blank(line) || is_item(line))) {
        line_skip(r);
        if (!is_blank(line))
            TRY(item_read(r, str_trim(str_slice(str_trim(line), 1, line.len)), items));
    }
    return NULL;
}

/* ---- values ---- */

struct value {
    bool list;
    str text;
    struct json items;
};

/* Below a key without a value: a list, a text, or nothing. */
static err below_read(struct reader *r, struct value *out)
{
    str line;

    while (line_peek(r, &line) && is_blank(line))
        line_skip(r);
    out->list = line_peek(r, &line) && is_item(line);
    if (out->list)
        return dashes_read(r, &out->items);
    out->text = block_read(r, true);
    return NULL;
}

static err plain_read(struct reader *r, str text, struct value *out)
{
    if (strchr("{&*!%@`", text.at[0]))
        return broken(r, r->line,
                      "expected a text or a list; put quotes around a text that begins "
                      "with one of { & * ! % @ `");
    str more = block_read(r, true);
    out->text = without_comment(text);
    if (more.len)
        out->text = arena_printf(r->arena, STR_FMT " " STR_FMT, STR_ARG(out->text), STR_ARG(more));
    return NULL;
}

static err value_read(struct reader *r, str text, struct value *out)
{
    *out = (struct value){ .text = STR(""), .items = json_array() };
    if (!without_comment(text).len)
        return below_read(r, out);
    switch (text.at[0]) {
    case '|':
    case '>': out->text = block_read(r, text.at[0] == '>'); return NULL;
    case '[': out->list = true; return flow_read(r, text, &out->items);
    case '"':
    case '\'':
        TRY(quoted_read(r, &text, &out->text));
        return without_comment(text).len
                   ? broken(r, r->line, "expected nothing behind the closing quote")
                   : NULL;
    default: return plain_read(r, text, out);
    }
}

/* ---- keys ---- */

/* What means something here, and what it is called in an agent. */
static const struct {
    const char *key, *member;
    bool list;
} keys[] = {
    { "name", "name", false },       { "description", "description", false },
    { "profile", "profile", false }, { "model", "model", false },
    { "tools", "tools", true },      { "tags", "tags", true },
    { "args", "args", true },        { "initial_prompt", "initial_prompt", false },
    { "ask", "ask", true },          { "permissions", "permissions", false },
};

static err key_put(struct reader *r, int line, size_t key, const struct value *v, struct json *out)
{
    struct json items = v->items;
    str member = str_from(keys[key].member);
    bool inherits = str_eq(member, STR("model")) && str_eq(v->text, STR("inherit"));

    if (json_find(out, member))
        return broken(r, line, arena_printf(r->arena, "'%s' is there twice", keys[key].key).at);
    if (v->list && !keys[key].list)
        return broken(
            r, line,
            arena_printf(r->arena, "expected a text for '%s', found a list", keys[key].key).at);
    if (keys[key].list && !v->list)
        items_split(r, v->text, &items);
    if (keys[key].list && items.len)
        json_put(r->arena, out, member, items);
    else if (!keys[key].list && v->text.len && !inherits)
        json_put(r->arena, out, member, json_string(v->text));
    return NULL;
}

/* What belongs to a key that means nothing here: all lines that are indented or have a dash. */
static void unknown_skip(struct reader *r)
{
    str line;

    while (line_peek(r, &line) && !str_eq(str_trim(line), STR("---")) &&
           (is_blank(line) || indent_of(line) > 0 || is_item(line)))
        line_skip(r);
}

static err key_read(struct reader *r, str line, struct json *out)
{
    str name, rest;
    struct value v;
    int at = r->line;

    bool colon = str_cut(line, ':', &name, &rest);
    if (!colon || (rest.len && rest.at[0] != ' ' && rest.at[0] != '\t') || indent_of(line) > 0)
        return broken(r, at, "expected `key: value`, or --- at the end of the front matter");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (str_eq(str_trim(name), str_from(keys[i].key))) {
            TRY(value_read(r, str_trim(rest), &v));
            return key_put(r, at, i, &v, out);
        }
    unknown_skip(r);
    return NULL;
}

static err front_read(struct reader *r, struct json *out)
{
    str line;

    if (!line_peek(r, &line) || !str_eq(str_trim(line), STR("---")))
        return broken(r, 1, "expected --- and the agent's name and description below it");
    line_skip(r);
    while (line_peek(r, &line)) {
        line_skip(r);
        str text = str_trim(line);
        if (str_eq(text, STR("---")))
            return NULL;
        if (text.len && text.at[0] != '#')
            TRY(key_read(r, line, out));
    }
    return broken(r, r->line,
                  "expected --- at the end of the front matter, found the end of the "
                  "file");
}

err agent_file_parse(struct arena *a, str text, str stem, struct json *out)
{
    const str mark = STR("\xef\xbb\xbf"); /* some editors begin files with it */
    struct reader r = { .arena = a };
    struct json agent = json_object();

    if (text.len > FILE_BYTES_MAX)
        return err_new(a, ERR_TOO_LARGE, "expected at most %d bytes, found %zu", FILE_BYTES_MAX,
                       text.len);
    if (!utf8_valid(text) || (text.len && memchr(text.at, '\0', text.len)))
        return err_new(a, ERR_INVALID, "expected text in UTF-8, found other bytes");
    r.rest = arena_copy(a, str_starts(text, mark) ? str_slice(text, mark.len, text.len) : text);
    TRY(front_read(&r, &agent));
    if (!json_get(&agent, "name"))
        json_put(a, &agent, STR("name"), json_string(arena_copy(a, stem)));
    if (!json_get(&agent, "profile"))
        json_put(a, &agent, STR("profile"), json_string(STR("claude")));
    if (!is_blank(r.rest))
        json_put(a, &agent, STR("system_prompt"), json_string(str_trim(r.rest)));
    *out = agent;
    return NULL;
}

/* ---- a folder ---- */

static bool is_agent_file(str name)
{
    return name.len && name.at[0] != '.' &&
           (str_ends(name, STR(".md")) || str_ends(name, STR(".json")));
}

/* A file of JSON is the agent itself; its name need not be said twice. */
static err json_agent(struct arena *a, str text, str stem, struct json *out)
{
    const struct json *parsed;

    TRY(json_parse(a, text, NULL, &parsed));
    if (!json_is(parsed, JSON_OBJECT))
        return err_new(a, ERR_INVALID, "expected an object, found %s",
                       json_kind_name(parsed->kind));
    *out = json_copy(a, parsed);
    if (!json_get(out, "name"))
        json_put(a, out, STR("name"), json_string(stem));
    return NULL;
}

static err text_failed(struct arena *a, const char *path, int number)
{
    enum error_kind kind = number == ENOENT                      ? ERR_NOT_FOUND
                           : number == EACCES || number == EPERM ? ERR_FORBIDDEN
                                                                 : ERR_INVALID;
    return err_new(a, kind, "cannot read %s: %s", path, strerror(number));
}

/* Of a regular file alone: nobody waits for whoever may write into a pipe. */
static err text_read(struct arena *a, const char *path, str *out)
{
    struct buf text = buf_in(a);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = 1;
    struct stat st;

    if (fd < 0)
        return text_failed(a, path, errno);
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    while (regular && n > 0 && text.len <= FILE_BYTES_MAX) {
        n = read(fd, buf_reserve(&text, 64 << 10), 64 << 10);
        text.len += n > 0 ? (size_t)n : 0;
    }
    int number = regular ? errno : S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    close(fd);
    if (!regular || n < 0)
        return text_failed(a, path, number);
    *out = buf_str(&text);
    return text.len <= FILE_BYTES_MAX
               ? NULL
               : err_new(a, ERR_TOO_LARGE, "cannot read %s: expected at most %d bytes", path,
                         FILE_BYTES_MAX);
}

err agent_file_read(struct arena *a, const char *path, struct json *out)
{
    const char *slash = strrchr(path, '/');
    str name = str_from(slash ? slash + 1 : path), text;
    bool markdown = str_ends(name, STR(".md"));
    str stem = str_slice(name, 0, name.len - strlen(markdown ? ".md" : ".json"));

    TRY(text_read(a, path, &text));
    err e = markdown ? agent_file_parse(a, text, stem, out) : json_agent(a, text, stem, out);
    return e ? err_within(a, e, "%s", path) : NULL;
}

static int by_path(const void *x, const void *y)
{
    return strcmp(((const struct agent_file *)x)->path, ((const struct agent_file *)y)->path);
}

err agent_folder_read(struct arena *a, const char *folder, const struct agent_file **out,
                      size_t *count)
{
    struct agent_file *all = ARENA_ARRAY(a, struct agent_file, FILES_MAX);
    DIR *dir = opendir(folder);
    const struct dirent *d;

    *out = all;
    *count = 0;
    if (!dir && errno == ENOENT)
        return NULL;
    if (!dir)
        return err_new(a, errno == EACCES ? ERR_FORBIDDEN : ERR_INVALID, "cannot read %s: %s",
                       folder, strerror(errno));
    while (*count < FILES_MAX && (d = readdir(dir)))
        if (is_agent_file(str_from(d->d_name)))
            all[(*count)++] =
                (struct agent_file){ .path = arena_printf(a, "%s/%s", folder, d->d_name).at };
    closedir(dir);
    qsort(all, *count, sizeof *all, by_path); /* the order of a folder is nobody's */
    for (size_t i = 0; i < *count; i++)
        all[i].error = agent_file_read(a, all[i].path, &all[i].agent);
    return NULL;
}
