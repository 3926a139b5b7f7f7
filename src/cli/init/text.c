/* text.c: what is ours in a text that belongs to somebody else. */
#include "cli/init/text.h"

str text_eol(str text)
{
    size_t end = str_find(text, '\n');
    bool both = end < text.len && end > 0 && text.at[end - 1] == '\r';

    return both ? STR("\r\n") : STR("\n");
}

str text_splice(struct arena *a, str text, size_t from, size_t to, str with)
{
    struct buf out = buf_in(a);

    buf_add(&out, str_slice(text, 0, from));
    buf_add(&out, with);
    buf_add(&out, str_slice(text, to, text.len));
    return buf_str(&out);
}

/* The same lines with other ends; the last without one, if so wanted. */
static str with_ends(struct arena *a, str block, str eol, bool last)
{
    struct buf out = buf_in(a);

    for (str line, rest = STR(""); block.len; block = rest) {
        rest = STR("");
        str_cut(block, '\n', &line, &rest);
        buf_add(&out, line);
        if (rest.len || last)
            buf_add(&out, eol);
    }
    return buf_str(&out);
}

str text_append(struct arena *a, str text, str block)
{
    bool ended = text.len == 0 || str_ends(text, STR("\n"));
    struct buf out = buf_in(a);
    str eol = text_eol(text);

    buf_add(&out, text);
    if (!ended)
        buf_add(&out, eol);
    if (text.len)
        buf_add(&out, eol);
    buf_add(&out, with_ends(a, block, eol, ended));
    return buf_str(&out);
}

/* Where the line end begins that is right before `at`; `at` itself when there is none. */
static size_t end_before(str text, size_t at)
{
    if (at == 0 || text.at[at - 1] != '\n')
        return at;
    return at > 1 && text.at[at - 2] == '\r' ? at - 2 : at - 1;
}

/* The same for a line end that was written here: it is like those of the block, and a carriage
 * return before another one is not a part of it. */
static size_t own_end_before(str text, size_t at, str eol)
{
    return str_ends(str_slice(text, 0, at), eol) ? at - eol.len : at;
}

str text_cut(struct arena *a, str text, size_t from, size_t to)
{
    str eol = text_eol(str_slice(text, from, to));
    size_t start = own_end_before(text, from, eol);

    if (start > 0 && end_before(text, start) == start && start != from)
        start = from; /* the line before is not empty, and stays whole */
    if (to == text.len && to > from && text.at[to - 1] != '\n')
        start = own_end_before(text, start, eol);
    return text_splice(a, text, start, to, STR(""));
}

/* ---- marks ---- */

/* Whether the line that begins at `at` is the mark; *next is where the one after it begins. */
static bool line_is(str text, size_t at, str mark, size_t *next)
{
    str rest = str_slice(text, at, text.len);
    size_t len = str_find(rest, '\n');

    *next = at + len + (len < rest.len);
    return str_eq(str_trim(str_slice(rest, 0, len)), mark);
}

bool text_marked(str text, size_t *from, size_t *to)
{
    bool begun = false;

    for (size_t at = 0, next; at < text.len; at = next) {
        if (line_is(text, at, STR(MARK_BEGIN), &next)) {
            *from = at;
            begun = true;
        } else if (begun && line_is(text, at, STR(MARK_END), &next)) {
            *to = next;
            return true;
        }
    }
    return false;
}

str text_mark(struct arena *a, str text, str lines)
{
    str block = arena_printf(a, MARK_BEGIN "\n" STR_FMT MARK_END "\n", STR_ARG(lines));
    size_t from, to;

    if (!text_marked(text, &from, &to))
        return lines.len ? text_append(a, text, block) : text;
    if (!lines.len)
        return text_cut(a, text, from, to);
    str there = str_slice(text, from, to);
    return text_splice(a, text, from, to,
                       with_ends(a, block, text_eol(there), str_ends(there, STR("\n"))));
}
