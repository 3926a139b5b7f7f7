/* parse_error.c: what is wrong with a text that is no JSON, where, and what was perhaps meant.
 *
 * Runs once, when parsing has stopped already; so it may look at the whole text again. */
#include "json/parse_private.h"
#include "json/pointer.h"

err parse_error_at(const struct parser *p, const char *at, str what)
{
    unsigned line = 1, column = 1;

    for (const char *c = p->begin; c < at; c++) {
        if (*c == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*c & 0xc0) != 0x80) {
            column++; /* columns count characters, not bytes */
        }
    }
    return err_new(p->arena, ERR_INVALID, "line %u, column %u: " STR_FMT, line, column,
                   STR_ARG(what));
}

static str found_text(const struct parser *p)
{
    if (p->at >= p->end)
        return STR("the end of the text");
    unsigned char c = (unsigned char)*p->at;
    if (c > ' ' && c < 0x7f)
        return arena_printf(p->arena, "'%c'", c);
    return arena_printf(p->arena, "byte 0x%02x", c);
}

err parse_too_much(const struct parser *p)
{
    return err_new(p->arena, ERR_TOO_LARGE,
                   "expected values that take at most %zu bytes of memory, found more in %zu bytes "
                   "of JSON: send fewer of them at a time",
                   p->memory_max, (size_t)(p->end - p->begin));
}

/* What people and agents write most often instead of JSON. */
static const char *hint_for(const struct parser *p)
{
    if (p->hint)
        return p->hint;
    if (p->at >= p->end)
        return p->depth ? "; the text seems to be cut off" : "";
    switch (*p->at) {
    case '\'': return "; JSON quotes with \", not with '";
    case '/':
    case '#': return "; JSON has no comments";
    case '}':
    case ']': return "; a comma before it would be one too many";
    case 'N':
    case 'I':
    case 'u': return "; JSON knows null, but no NaN, Infinity or undefined";
    case 'T':
    case 'F': return "; true and false are written in small letters";
    default: return "";
    }
}

err parse_unexpected(const struct parser *p)
{
    return parse_error_at(p, p->at,
                          arena_printf(p->arena, "expected %s, found " STR_FMT "%s", p->expected,
                                       STR_ARG(found_text(p)), hint_for(p)));
}

/* The pointer to the innermost open container: the name or index that each one outside of it has
 * come to. */
static void pointer_to_open(const struct parser *p, struct buf *out)
{
    for (uint32_t d = 0; d + 1 < p->depth; d++) {
        size_t until = p->frames[d + 1].start;
        if (p->frames[d].is_object)
            json_pointer_add(
                out, json_name((const struct json_member *)(const void *)(p->scratch + until) - 1));
        else
            json_pointer_add_index(out, (until - p->frames[d].start) / sizeof(struct json));
    }
}

err parse_duplicate(const struct parser *p, const struct json_member *m)
{
    struct buf pointer = buf_in(p->arena);

    pointer_to_open(p, &pointer);
    json_pointer_add(&pointer, json_name(m));
    bool in_text = m->name >= p->begin && m->name < p->end;
    return parse_error_at(p, in_text ? m->name - 1 : p->at,
                          arena_printf(p->arena,
                                       "expected each name once in an object, found " STR_FMT
                                       " a second time",
                                       STR_ARG(buf_str(&pointer))));
}
