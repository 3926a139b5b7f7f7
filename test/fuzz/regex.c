/* fuzz/regex.c: any pattern, on any subject.
 *
 * The input is a pattern and a subject with a zero byte between them. What was taken must match
 * without a crash and twice alike, and what is taken as an I-Regexp and found at both ends must be
 * found by a search too. */
#include "json/regex/regex.h"

#include <assert.h>

#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum regex_result match(const struct regex *r, str subject)
{
    uint32_t steps = UINT32_MAX;
    return regex_match(r, subject, &steps);
}

static void match_twice(const struct regex *r, str subject)
{
    enum regex_result first = match(r, subject);
    assert(match(r, subject) == first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str pattern, subject = STR("");
    str_cut((str){ (const char *)data, size }, '\0', &pattern, &subject);
    if (!utf8_valid(subject))
        return 0;

    struct arena *a = arena_new();
    struct regex *r = NULL, *whole = NULL, *part = NULL;
    err e = regex_compile(a, pattern, &r);
    assert((e == NULL) == regex_valid(pattern));
    assert(!e || e->kind == ERR_INVALID);
    if (r)
        match_twice(r, subject);

    err e_whole = iregexp_compile(a, pattern, true, &whole);
    err e_part = iregexp_compile(a, pattern, false, &part);
    assert((e_whole == NULL) == (e_part == NULL));
    if (whole && match(whole, subject) == REGEX_YES)
        assert(match(part, subject) != REGEX_NO);

    regex_free(r);
    regex_free(whole);
    regex_free(part);
    arena_free(a);
    return 0;
}
