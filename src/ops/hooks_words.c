/* hooks_words.c: what the last words of an agent say of its work: what it has made, and what whoever goes
 * on must know.
 *
 * Agents are asked for both, and answer in prose. In this order: a JSON object with the two members; what
 * stands under a heading like "Deliverables" or "Context for the next phase"; every list that there is,
 * and the prose around it; the paths that the prose names. */
#include "base/utf8.h"
#include "ops/hooks.h"

enum {
    LABEL_BYTES_MAX = 60,
    PATH_BYTES_MAX = 200,
    ENDING_MAX = 5, /* letters of a file's: ".c", ".jsonl" */
};

/* ---- what is kept ---- */

static void deliver(struct arena *a, struct hook_words *out, str text)
{
    text = utf8_cut(str_trim(text), HOOK_DELIVERABLE_MAX);
    for (size_t i = 0; i < out->count; i++)
        if (str_eq(out->deliverables[i], text))
            return;
    if (!text.len || out->count == HOOK_DELIVERABLES_MAX)
        return;
    if (!out->count)
        out->deliverables = ARENA_ARRAY(a, str, HOOK_DELIVERABLES_MAX);
    out->deliverables[out->count++] = text;
}

/* At the end of a word where one is near. */
static str context_cut(struct arena *a, str text)
{
    text = str_trim(text);
    if (text.len <= HOOK_CONTEXT_MAX)
        return text;
    text = utf8_cut(text, HOOK_CONTEXT_MAX);
    size_t end = text.len;
    while (end > HOOK_CONTEXT_MAX / 2 && text.at[end - 1] != ' ' && text.at[end - 1] != '\n')
        end--;
    if (end == HOOK_CONTEXT_MAX / 2)
        end = text.len;
    return arena_printf(a, STR_FMT "…", STR_ARG(str_trim(str_slice(text, 0, end))));
}

/* ---- JSON ---- */

static bool read_object(struct arena *a, str text, struct hook_words *out)
{
    const struct json *said;

    if (!str_starts(text, STR("{")) || json_parse(a, text, NULL, &said))
        return false;
    const struct json *list = json_get(said, "deliverables");
    str context = json_str(said, "context_for_next");
    if (!json_is(list, JSON_ARRAY) && !context.len)
        return false;
    for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->len; i++) {
        const struct json *item = &list->items[i];
        deliver(a, out, json_is(item, JSON_STRING) ? json_text(item) : json_printed(a, item));
    }
    out->context = context_cut(a, context);
    return true;
}

/* All of it, or what stands between the last two fences. */
static bool read_json(struct arena *a, str text, struct hook_words *out)
{
    size_t end = text.len, from = text.len;

    if (read_object(a, text, out))
        return true;
    for (int fences = 0; fences < 2; fences++) {
        end = from;
        while (from >= 3 && memcmp(text.at + from - 3, "```", 3) != 0)
            from--;
        if (from < 3)
            return false;
        from -= 3;
    }
    str inner = str_slice(text, from + 3, end), rest, language;
    if (!str_cut(inner, '\n', &language, &rest))
        return false;
    return read_object(a, str_trim(rest), out);
}

/* ---- lines ---- */

static size_t indent_of(str line)
{
    size_t n = 0;

    while (n < line.len && (line.at[n] == ' ' || line.at[n] == '\t'))
        n += line.at[n] == '\t' ? 4 : 1;
    return n;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What an item of a list says, without its sign and its box. */
static bool item_of(str line, str *out)
{
    static const char *const signs[] = { "- ", "* ", "+ ", "• ", "– " };
    static const char *const boxes[] = { "[ ] ", "[x] ", "[X] " };
    size_t digits = 0;
    bool found = false;

    line = str_trim(line);
    for (size_t i = 0; i < sizeof signs / sizeof *signs && !found; i++) {
        found = str_starts(line, str_from(signs[i]));
        if (found)
            line = str_slice(line, strlen(signs[i]), line.len);
    }
    while (!found && digits < line.len && is_digit(line.at[digits]))
        digits++;
    if (digits && digits < 4 && digits + 1 < line.len && strchr(".)", line.at[digits]) &&
        line.at[digits + 1] == ' ') {
        line = str_slice(line, digits + 2, line.len);
        found = true;
    }
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes && found; i++)
        if (str_starts(line, str_from(boxes[i])))
            line = str_slice(line, 4, line.len);
    *out = str_trim(line);
    return found && out->len;
}

/* Without stars, and quotes of code. */
static str plain(struct arena *a, str text)
{
    struct buf out = buf_in(a);

    for (size_t i = 0; i < text.len; i++) {
        bool pair = i + 1 < text.len && text.at[i] == '*' && text.at[i + 1] == '*';
        if (pair)
            i++;
        else if (text.at[i] != '`')
            buf_byte(&out, text.at[i]);
    }
    return str_trim(buf_str(&out));
}

enum label { LABEL_NONE, LABEL_OTHER, LABEL_DELIVERABLES, LABEL_CONTEXT };

/* By how they begin, in small letters. */
static const struct {
    const char *begins;
    enum label is;
} labels[] = {
    { "deliverable", LABEL_DELIVERABLES },
    { "files", LABEL_DELIVERABLES },
    { "created", LABEL_DELIVERABLES },
    { "changed", LABEL_DELIVERABLES },
    { "modified", LABEL_DELIVERABLES },
    { "outputs", LABEL_DELIVERABLES },
    { "artifacts", LABEL_DELIVERABLES },
    { "outcome", LABEL_DELIVERABLES },
    { "context", LABEL_CONTEXT },
    { "for the next phase", LABEL_CONTEXT },
    { "for next phase", LABEL_CONTEXT },
    { "next phase", LABEL_CONTEXT },
    { "notes for the next", LABEL_CONTEXT },
    { "handover", LABEL_CONTEXT },
    { "hand-over", LABEL_CONTEXT },
};

static bool begins_so(str text, str small)
{
    for (size_t i = 0; i < small.len; i++) {
        char c = i < text.len ? text.at[i] : '\0';
        if ((c >= 'A' && c <= 'Z' ? c | 0x20 : c) != small.at[i])
            return false;
    }
    return true;
}

/* Whether a line is a heading, or a text with a colon behind it; `rest` is what follows that on the line,
 * which only what is known may have. */
static enum label label_of(struct arena *a, str line, str *rest)
{
    bool heading = str_starts(str_trim(line), STR("#"));
    str text = plain(a, str_trim(line)), name;
    enum label is = LABEL_OTHER;

    *rest = STR("");
    while (str_starts(text, STR("#")))
        text = str_slice(text, 1, text.len);
    text = str_trim(text);
    bool colon = str_cut(text, ':', &name, rest);
    if ((!heading && !colon) || !name.len || name.len > LABEL_BYTES_MAX)
        return LABEL_NONE;
    for (size_t i = 0; i < sizeof labels / sizeof *labels && is == LABEL_OTHER; i++)
        if (begins_so(name, str_from(labels[i].begins)))
            is = labels[i].is;
    *rest = str_trim(*rest);
    return is == LABEL_OTHER && !heading && rest->len ? LABEL_NONE : is;
}

/* ---- paths ---- */

static bool is_path_sign(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
           (c && strchr("/._-+@~", c)) || (unsigned char)c >= 0x80;
}

/* "src/a.c", "/tmp/out", "README.md"; not "e.g.", "and/or", "1.5", "https://…". */
static bool is_path(str word)
{
    size_t dot = word.len, slashes = 0;

    for (size_t i = 0; i < word.len; i++) {
        if (!is_path_sign(word.at[i]))
            return false;
        slashes += word.at[i] == '/';
        dot = word.at[i] == '.' ? i : word.at[i] == '/' ? word.len : dot;
    }
    size_t ending = dot < word.len ? word.len - dot - 1 : 0;
    bool ends = ending > 0 && ending <= ENDING_MAX && dot > 0 && word.at[dot - 1] != '/';
    for (size_t i = dot + 1; i < word.len && ends; i++)
        ends = !is_digit(word.at[i]) || i > dot + 1;
    bool short_for = str_eq(word, STR("e.g")) || str_eq(word, STR("i.e"));
    return word.len > 2 && word.len <= PATH_BYTES_MAX && !short_for &&
           (ends || (slashes > 1 && (word.at[0] == '/' || word.at[0] == '.')) ||
            (slashes > 0 && word.at[word.len - 1] == '/'));
}

/* Of "PATH: what it is" the path by itself, and then the rest. */
static void deliver_item(struct arena *a, struct hook_words *out, str item)
{
    static const char *const between[] = { " - ", " – ", " — ", ": ", " (" };
    str text = plain(a, item);
    size_t at = 0;

    while (at < text.len && is_path_sign(text.at[at]))
        at++;
    str path = str_slice(text, 0, at), rest = str_slice(text, at, text.len);
    for (size_t i = 0; i < sizeof between / sizeof *between && is_path(path); i++) {
        if (!str_starts(rest, str_from(between[i])))
            continue;
        rest = str_slice(rest, strlen(between[i]), rest.len);
        bool closed = between[i][1] == '(' && str_ends(rest, STR(")"));
        deliver(a, out, path);
        deliver(a, out, str_slice(rest, 0, rest.len - closed));
        return;
    }
    deliver(a, out, text);
}

static void deliver_paths(struct arena *a, struct hook_words *out, str text)
{
    for (size_t at = 0, from = 0; at <= text.len; at++) {
        if (at < text.len && (is_path_sign(text.at[at]) || text.at[at] == ':'))
            continue;
        str word = str_slice(text, from, at);
        while (word.len && strchr(".:-", word.at[word.len - 1]))
            word.len--;
        if (is_path(word))
            deliver(a, out, word);
        from = at + 1;
    }
}

/* ---- the whole ---- */

struct reading {
    struct arena *arena;
    struct hook_words *listed; /* under a heading for it */
    struct hook_words *lists;  /* all others */
    struct buf context, prose;
    enum label under;
    size_t indent; /* of the first item of a list; what is further in belongs to it */
    bool in_list, fenced, sections;
};

static void read_line(struct reading *r, str line)
{
    str item, rest;
    bool is_item = item_of(line, &item);
    enum label label = is_item ? LABEL_NONE : label_of(r->arena, line, &rest);

    if (label != LABEL_NONE) {
        r->under = label;
        r->sections = r->sections || label == LABEL_DELIVERABLES;
        r->in_list = false;
        if (label == LABEL_OTHER || !rest.len)
            return;
        if (label == LABEL_CONTEXT)
            buf_printf(&r->context, STR_FMT "\n", STR_ARG(rest));
        else
            deliver_item(r->arena, r->listed, rest);
        return;
    }
    if (r->under == LABEL_CONTEXT) {
        buf_printf(&r->context, STR_FMT "\n", STR_ARG(line));
        return;
    }
    if (!is_item) {
        bool inside = r->in_list && indent_of(line) > r->indent;
        if (!inside && str_trim(line).len)
            r->in_list = false;
        if (!inside)
            buf_printf(&r->prose, STR_FMT "\n", STR_ARG(line));
        return;
    }
    if (!r->in_list)
        r->indent = indent_of(line);
    r->in_list = true;
    if (indent_of(line) <= r->indent)
        deliver_item(r->arena, r->under == LABEL_DELIVERABLES ? r->listed : r->lists, item);
}

void hook_words_read(struct arena *a, str text, struct hook_words *out)
{
    struct hook_words lists = { 0 };
    struct reading r = {
        .arena = a, .listed = out, .lists = &lists, .context = buf_in(a), .prose = buf_in(a)
    };

    *out = (struct hook_words){ 0 };
    text = str_trim(text);
    if (read_json(a, text, out))
        return;
    for (str line, all = text, rest; all.len; all = rest) {
        rest = STR("");
        str_cut(all, '\n', &line, &rest);
        if (str_starts(str_trim(line), STR("```")))
            r.fenced = !r.fenced;
        else if (!r.fenced)
            read_line(&r, line);
    }
    if (!out->count && !r.sections) {
        out->deliverables = lists.deliverables;
        out->count = lists.count;
    }
    str prose = str_trim(buf_str(&r.prose));
    if (!out->count && !r.sections)
        deliver_paths(a, out, prose);
    str context = str_trim(buf_str(&r.context));
    out->context = context_cut(a, context.len ? context : prose.len ? prose : text);
}
