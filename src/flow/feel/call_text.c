/* call_text.c: the functions on strings. Positions count code points, from 1; negative ones from the
 * end. Upper and lower case are those of the Latin, Greek and Cyrillic letters. */
#include "base/utf8.h"
#include "flow/feel/private.h"

/* Beside the bytes: what compiling a pattern costs, and what trying it on a text does, which may
 * backtrack a good deal before it comes to its own limit. */
#define COMPILE_STEPS 1000
#define TRY_STEPS 32

static struct feel_value string_in(struct feel_run *run, struct buf *out)
{
    str s = buf_str(out);
    if (s.len > FEEL_RESULT_MAX)
        feel_stop(run, "a text in it is too long");
    return feel_string(s);
}

static bool spend_text(struct feel_run *run, struct feel_value s)
{
    return feel_spend(run, feel_text_steps(s.len));
}

static struct feel_value call_length(struct feel_run *run, const struct feel_value *args,
                                     uint32_t count)
{
    (void)count;
    spend_text(run, args[0]);
    return feel_int((int64_t)utf8_length(feel_string_of(args[0])));
}

/* Without so many code points in front. */
static str skip(str s, int64_t count)
{
    while (count-- > 0 && s.len > 0)
        utf8_next(&s);
    return s;
}

static struct feel_value call_substring(struct feel_run *run, const struct feel_value *args,
                                        uint32_t count)
{
    str s = feel_string_of(args[0]);
    int64_t from, length = INT32_MAX;

    spend_text(run, args[0]);
    if (!feel_number_to_int(args[1], &from) || from == 0)
        return feel_null_of(run, "expected a position from 1, or from -1 at the end, found \1",
                            args[1], args[1]);
    if (count == 3 && (!feel_number_to_int(args[2], &length) || length < 0))
        return feel_null_of(run, "expected a length from 0, found \1", args[2], args[2]);
    if (from < 0) {
        int64_t all = (int64_t)utf8_length(s);
        from = -from > all ? 1 : all + from + 1;
    }
    s = skip(s, from - 1);
    s.len -= skip(s, length).len;
    return feel_string(s);
}

struct case_range {
    uint32_t upper, count, step, lower; /* of `count` letters, every `step`th */
};

static const struct case_range case_ranges[] = {
    { 'A', 26, 1, 'a' },     { 0xc0, 23, 1, 0xe0 },   { 0xd8, 7, 1, 0xf8 },
    { 0x100, 24, 2, 0x101 }, { 0x132, 3, 2, 0x133 },  { 0x139, 8, 2, 0x13a },
    { 0x14a, 23, 2, 0x14b }, { 0x178, 1, 1, 0xff },   { 0x179, 3, 2, 0x17a },
    { 0x386, 1, 1, 0x3ac },  { 0x388, 3, 1, 0x3ad },  { 0x38c, 1, 1, 0x3cc },
    { 0x38e, 2, 1, 0x3cd },  { 0x391, 17, 1, 0x3b1 }, { 0x3a3, 9, 1, 0x3c3 },
    { 0x400, 16, 1, 0x450 }, { 0x410, 32, 1, 0x430 },
};

static uint32_t case_of(uint32_t c, bool upper)
{
    for (size_t i = 0; i < sizeof case_ranges / sizeof *case_ranges; i++) {
        const struct case_range *r = &case_ranges[i];
        uint32_t from = upper ? r->lower : r->upper, to = upper ? r->upper : r->lower;
        if (c >= from && (c - from) % r->step == 0 && (c - from) / r->step < r->count)
            return to + (c - from);
    }
    return c;
}

static struct feel_value in_case(struct feel_run *run, struct feel_value s, bool upper)
{
    struct buf out = buf_in(run->arena);
    str rest = feel_string_of(s);

    if (!feel_spend(run, 1 + rest.len / 8))
        return s;
    while (rest.len > 0)
        out.len += utf8_put(buf_reserve(&out, 4), case_of(utf8_next(&rest), upper));
    return string_in(run, &out);
}

static struct feel_value call_upper(struct feel_run *run, const struct feel_value *args,
                                    uint32_t count)
{
    (void)count;
    return in_case(run, args[0], true);
}

static struct feel_value call_lower(struct feel_run *run, const struct feel_value *args,
                                    uint32_t count)
{
    (void)count;
    return in_case(run, args[0], false);
}

/* Where a part begins, or SIZE_MAX. Paid for by what is looked at. */
static size_t find(struct feel_run *run, str s, str part)
{
    if (part.len == 0)
        return 0;
    for (size_t at = 0, end; at + part.len <= s.len; at = end + 1) {
        end = at + str_find(str_slice(s, at, s.len), part.at[0]);
        if (!feel_spend(run, 1 + (end - at) / 64) || end + part.len > s.len)
            return SIZE_MAX;
        if (str_eq(str_slice(s, end, end + part.len), part))
            return end;
    }
    return SIZE_MAX;
}

static struct feel_value call_contains(struct feel_run *run, const struct feel_value *args,
                                       uint32_t count)
{
    (void)count;
    return feel_bool(find(run, feel_string_of(args[0]), feel_string_of(args[1])) != SIZE_MAX);
}

static struct feel_value call_before(struct feel_run *run, const struct feel_value *args,
                                     uint32_t count)
{
    str s = feel_string_of(args[0]);
    size_t at = find(run, s, feel_string_of(args[1]));

    (void)count;
    return feel_string(str_slice(s, 0, at == SIZE_MAX ? 0 : at));
}

static struct feel_value call_after(struct feel_run *run, const struct feel_value *args,
                                    uint32_t count)
{
    str s = feel_string_of(args[0]);
    size_t at = find(run, s, feel_string_of(args[1]));

    (void)count;
    return feel_string(str_slice(s, at == SIZE_MAX ? s.len : at + args[1].len, s.len));
}

static struct feel_value call_starts(struct feel_run *run, const struct feel_value *args,
                                     uint32_t count)
{
    (void)count;
    spend_text(run, args[1]);
    return feel_bool(str_starts(feel_string_of(args[0]), feel_string_of(args[1])));
}

static struct feel_value call_ends(struct feel_run *run, const struct feel_value *args,
                                   uint32_t count)
{
    (void)count;
    spend_text(run, args[1]);
    return feel_bool(str_ends(feel_string_of(args[0]), feel_string_of(args[1])));
}

/* ---- patterns ---- */

/* The pattern of a variable: most often all are tried with the same one. */
static const struct regex *pattern_compiled(struct feel_run *run, str text)
{
    if (run->pattern.regex && str_eq(run->pattern.text, text))
        return run->pattern.regex;
    if (!feel_spend(run, COMPILE_STEPS + text.len))
        return NULL;
    if (run->pattern.regex)
        regex_free(run->pattern.regex);
    if (regex_compile(run->arena, text, &run->pattern.regex))
        run->pattern.regex = NULL;
    run->pattern.text = text;
    return run->pattern.regex;
}

static struct feel_value call_matches(struct feel_run *run, const struct feel_value *args,
                                      uint32_t count)
{
    const struct regex *regex = run->call->regex;

    (void)count;
    if (!regex)
        regex = pattern_compiled(run, feel_string_of(args[1]));
    if (!regex)
        return feel_null_of(run, "expected a pattern (a regular expression), found \1", args[1],
                            args[1]);
    if (!feel_spend(run, TRY_STEPS + args[0].len / 8))
        return feel_bool(false);
    enum regex_result result = regex_match(regex, feel_string_of(args[0]), &run->steps_left);
    if (result == REGEX_LIMIT)
        feel_stop(run, "its pattern takes too many steps");
    return feel_bool(result == REGEX_YES);
}

/* ---- several ---- */

static struct feel_value call_split(struct feel_run *run, const struct feel_value *args,
                                    uint32_t count)
{
    str rest = feel_string_of(args[0]), separator = feel_string_of(args[1]);
    uint32_t parts = 1;
    size_t at;

    (void)count;
    if (separator.len == 0)
        return feel_null(run, "expected a separator, found an empty string");
    for (str s = rest; (at = find(run, s, separator)) != SIZE_MAX; parts++)
        s = str_slice(s, at + separator.len, s.len);
    struct feel_value *items = feel_values(run, parts);
    if (!items)
        return args[0];
    for (uint32_t i = 0; i < parts; i++) {
        at = i + 1 < parts ? find(run, rest, separator) : rest.len;
        if (at == SIZE_MAX) /* no steps are left */
            at = rest.len;
        items[i] = feel_string(str_slice(rest, 0, at));
        rest = str_slice(rest, at + separator.len, rest.len);
    }
    return feel_list(items, parts);
}

static struct feel_value call_join(struct feel_run *run, const struct feel_value *args,
                                   uint32_t count)
{
    struct buf out = buf_in(run->arena);
    str separator = count > 1 ? feel_string_of(args[1]) : STR("");

    for (uint32_t i = 0; i < args[0].len && out.len <= FEEL_RESULT_MAX; i++) {
        struct feel_value item = feel_item(args[0], i);
        if (item.kind != FEEL_STRING)
            return feel_null_of(run, "expected a list of strings, found \1 in it: see string()",
                                item, item);
        if (!feel_spend(run, feel_text_steps(item.len + separator.len)))
            break;
        buf_add(&out, i > 0 ? separator : STR(""));
        buf_add(&out, feel_string_of(item));
    }
    return string_in(run, &out);
}

static struct feel_value call_trim(struct feel_run *run, const struct feel_value *args,
                                   uint32_t count)
{
    (void)count;
    spend_text(run, args[0]);
    return feel_string(str_trim(feel_string_of(args[0])));
}

static struct feel_value call_is_blank(struct feel_run *run, const struct feel_value *args,
                                       uint32_t count)
{
    (void)count;
    spend_text(run, args[0]);
    return feel_bool(str_trim(feel_string_of(args[0])).len == 0);
}

// clang-format off
const struct feel_function feel_calls_text[] = {
    { "substring",        2, 3, "snn", call_substring, "substring(text, start, length)", false },
    { "string length",    1, 1, "s",   call_length,    "string length(text)", false },
    { "upper case",       1, 1, "s",   call_upper,     "upper case(text)", false },
    { "lower case",       1, 1, "s",   call_lower,     "lower case(text)", false },
    { "substring before", 2, 2, "ss",  call_before,    "substring before(text, part)", false },
    { "substring after",  2, 2, "ss",  call_after,     "substring after(text, part)", false },
    { "contains",         2, 2, "ss",  call_contains,  "contains(text, part)", false },
    { "starts with",      2, 2, "ss",  call_starts,    "starts with(text, part)", false },
    { "ends with",        2, 2, "ss",  call_ends,      "ends with(text, part)", false },
    { "matches",          2, 2, "ss",  call_matches,   "matches(text, pattern)", false },
    { "split",            2, 2, "ss",  call_split,     "split(text, separator)", false },
    { "string join",      1, 2, "ls",  call_join,      "string join(list, separator)", false },
    { "trim",             1, 1, "s",   call_trim,      "trim(text)", false },
    { "is blank",         1, 1, "s",   call_is_blank,  "is blank(text)", false },
    { 0 },
};
// clang-format on
