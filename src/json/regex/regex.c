/* regex.c: compiled expressions on PCRE2, and matching within bounds.
 *
 * Knows PCRE2 and nothing of syntax: the translators hand it an expression that
 * means there what it meant in its own language. */
#include "json/regex/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <assert.h>
#include <pcre2.h>
#include <pthread.h>
#include <stdlib.h>

#include "json/regex/private.h"

#define PATTERN_BYTES_MAX (64u << 10)
#define MATCH_LIMIT 100000
#define HEAP_LIMIT_KIB (16u << 10)
#define UNMETERED_BYTES_MAX 256 /* of a subject that cannot take long */
#define ITEM_WORK 8             /* of an item; that of a character it runs over is 1 */
#define METERED_WORK_MAX 1000000
#define METERED_WORK_PER_BYTE 48
#define METERED_WORK_PER_STEP 32 /* of whoever counts in steps */
#define JIT_STACK_BYTES_MIN (32u << 10)
#define JIT_STACK_BYTES_MAX (4u << 20) /* address space; pages come when touched */

struct regex {
    pcre2_code *code;
    pcre2_code *metered; /* the same with a call at every item; NULL: it has no choices */
    bool jit, metered_jit;
};

/* What a thread needs for matching, made once by its first match. */
struct matcher {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

static pthread_once_t matcher_once = PTHREAD_ONCE_INIT;
static pthread_key_t matcher_key;
static _Thread_local struct matcher *matcher_mine;

static void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

static void matcher_free(void *p)
{
    struct matcher *m = p;
    pcre2_match_data_free(m->data);
    pcre2_match_context_free(m->context);
    pcre2_jit_stack_free(m->stack);
    free(m);
}

static void matcher_make_key(void)
{
    if (pthread_key_create(&matcher_key, matcher_free) != 0)
        abort();
}

static struct matcher *matcher_new(void)
{
    struct matcher *m = mem_alloc(sizeof *m);
    m->data = must(pcre2_match_data_create(1, NULL));
    m->context = must(pcre2_match_context_create(NULL));
    m->stack = must(pcre2_jit_stack_create(JIT_STACK_BYTES_MIN, JIT_STACK_BYTES_MAX, NULL));
    pcre2_jit_stack_assign(m->context, NULL, m->stack);
    pcre2_set_heap_limit(m->context, HEAP_LIMIT_KIB);
    pthread_once(&matcher_once, matcher_make_key);
    pthread_setspecific(matcher_key, m);
    return m;
}

static err regex_fail(struct arena *a, int code)
{
    if (code == PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH)
        return err_new(a, ERR_INVALID,
                       "regular expression: expected a lookbehind of which each alternative has "
                       "one fixed length; one that varies is not supported");
    char message[256];
    pcre2_get_error_message(code, (PCRE2_UCHAR *)message, sizeof message);
    return err_new(a, ERR_INVALID, "regular expression: not supported: %s", message);
}

/* What PCRE2 10.42 works out about where a match may start is wrong for some expressions: with a
 * lookahead, (?=a)b?a is not found in "a", and with an alternative, (?:[ad]|)b*[ac] is not found in
 * "a" by compiled code. They are searched without such help; it is of no use to anchored ones
 * anyway. Translators write characters that stand for themselves as numbers, so what is found here
 * is an operator. */
static uint32_t start_options(str text)
{
    bool misjudged = strstr(text.at, "(?=") || strchr(text.at, '|');
    return misjudged ? PCRE2_NO_START_OPTIMIZE : 0;
}

static err code_build(struct arena *a, str text, uint32_t options, pcre2_code **out)
{
    int code;
    PCRE2_SIZE offset;
    pcre2_compile_context *context = must(pcre2_compile_context_create(NULL));
    pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF); /* for the dot of I-Regexp */
    *out = pcre2_compile((PCRE2_SPTR)text.at, text.len,
                         options | start_options(text) | PCRE2_UTF | PCRE2_NO_UTF_CHECK |
                             PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF |
                             PCRE2_ALLOW_EMPTY_CLASS | PCRE2_NEVER_BACKSLASH_C,
                         &code, &offset, context);
    pcre2_compile_context_free(context);
    return *out ? NULL : regex_fail(a, code);
}

/* Compiles what a translator wrote. */
static err regex_build(struct arena *a, str text, uint32_t options, struct regex **out)
{
    pcre2_code *code, *metered = NULL;
    bool branches = strpbrk(text.at, "*+{?|") != NULL;

    TRY(code_build(a, text, options, &code));
    if (branches) {
        err e = code_build(a, text, options | PCRE2_AUTO_CALLOUT, &metered);
        if (e) {
            pcre2_code_free(code);
            return e;
        }
    }
    struct regex *r = mem_alloc(sizeof *r);
    *r = (struct regex){
        .code = code,
        .metered = metered,
        .jit = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0,
        .metered_jit = metered && pcre2_jit_compile(metered, PCRE2_JIT_COMPLETE) == 0,
    };
    *out = r;
    return NULL;
}

static err regex_translate(struct arena *a, str pattern, err (*translate)(struct regex_reader *r),
                           bool loose, str *out)
{
    if (pattern.len > PATTERN_BYTES_MAX)
        return err_new(a, ERR_INVALID, "regular expression: expected at most %u bytes, found %zu",
                       PATTERN_BYTES_MAX, pattern.len);
    if (!utf8_valid(pattern))
        return err_new(a, ERR_INVALID, "regular expression: expected valid UTF-8");
    struct regex_reader r = { .arena = a, .pattern = pattern, .out = buf_in(a), .loose = loose };
    TRY(translate(&r));
    *out = buf_str(&r.out);
    return NULL;
}

err regex_compile(struct arena *a, str pattern, struct regex **out)
{
    str text;
    TRY(regex_translate(a, pattern, regex_translate_ecma, false, &text));
    return regex_build(a, text, 0, out);
}

err regex_compile_loose(struct arena *a, str pattern, bool *loose, struct regex **out)
{
    str text;
    err refused = regex_compile(a, pattern, out);

    *loose = refused && !regex_translate(a, pattern, regex_translate_ecma, true, &text) &&
             !regex_build(a, text, 0, out);
    return *loose ? NULL : refused;
}

err iregexp_compile(struct arena *a, str pattern, bool whole, struct regex **out)
{
    str text;
    TRY(regex_translate(a, pattern, regex_translate_iregexp, false, &text));
    return regex_build(a, text, whole ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0, out);
}

bool regex_valid(str pattern)
{
    struct arena *a = arena_new();
    struct regex *r = NULL;
    bool valid = regex_compile(a, pattern, &r) == NULL;
    regex_free(r);
    arena_free(a);
    return valid;
}

void regex_free(struct regex *r)
{
    if (!r)
        return;
    pcre2_code_free(r->code);
    pcre2_code_free(r->metered);
    free(r);
}

/* One try under a limit: a number of PCRE2's. */
static int match_try(const pcre2_code *code, bool jit, str subject, uint32_t limit)
{
    struct matcher *m = matcher_mine;

    assert(m && code);
    PCRE2_SPTR text = (PCRE2_SPTR)(subject.len ? subject.at : "");

    int found = PCRE2_ERROR_JIT_STACKLIMIT;
    pcre2_set_match_limit(m->context, limit);
    if (jit)
        found = pcre2_jit_match(code, text, subject.len, 0, 0, m->data, m->context);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT)
        found = pcre2_match(code, text, subject.len, 0, PCRE2_NO_JIT | PCRE2_NO_UTF_CHECK, m->data,
                            m->context);
    return found;
}

/* ---- long subjects ---- */

/* The limit of PCRE2 counts where it backtracks, afresh at every place where it tries the pattern,
 * and not how far a repetition runs: \w*: over a long word runs to its end from each of its
 * letters, and the limit sees one step each time. So for subjects that are long enough for this to
 * hurt, every item of the pattern reports where it is. */
struct meter {
    uint64_t work, most;
    size_t last;
};

static int meter_item(pcre2_callout_block *block, void *data)
{
    struct meter *m = data;
    size_t at = block->current_position;

    m->work += ITEM_WORK + (at > m->last ? at - m->last : 0);
    m->last = at;
    return m->work > m->most ? PCRE2_ERROR_CALLOUT : 0;
}

static enum regex_result match_result(int found)
{
    if (found == PCRE2_ERROR_NOMATCH)
        return REGEX_NO;
    return found >= 0 ? REGEX_YES : REGEX_LIMIT;
}

static enum regex_result match_metered(const struct regex *r, str subject, uint32_t *steps)
{
    struct meter meter = { .most =
                               METERED_WORK_MAX + METERED_WORK_PER_BYTE * (uint64_t)subject.len };

    pcre2_set_callout(matcher_mine->context, meter_item, &meter);
    enum regex_result result =
        match_result(match_try(r->metered, r->metered_jit, subject, UINT32_MAX));
    pcre2_set_callout(matcher_mine->context, NULL, NULL);

    uint64_t cost = 1 + meter.work / METERED_WORK_PER_STEP;
    if (result == REGEX_LIMIT || cost >= *steps) {
        *steps = 0;
        return REGEX_LIMIT;
    }
    *steps -= (uint32_t)cost;
    return result;
}

/* PCRE2 does not tell how much it backtracked. So a match is tried with little first, and again
 * with more when that was not enough: how far it had to go tells what it cost. */
enum regex_result regex_match(const struct regex *r, str subject, uint32_t *steps)
{
    static const struct {
        uint32_t share, cost; /* of the whole limit; in steps */
    } tries[] = { { 64, 1 }, { 8, 2000 }, { 1, 20000 } };
    uint32_t length_cost = (uint32_t)(subject.len / 64);

    if (!matcher_mine)
        matcher_mine = matcher_new();
    if (r->metered && subject.len > UNMETERED_BYTES_MAX)
        return match_metered(r, subject, steps);
    for (int i = 0; i < 3; i++) {
        uint32_t cost = tries[i].cost + length_cost;
        if (*steps <= cost)
            break;
        *steps -= cost;
        int found = match_try(r->code, r->jit, subject, MATCH_LIMIT / tries[i].share);
        if (found != PCRE2_ERROR_MATCHLIMIT)
            return match_result(found);
    }
    *steps = 0;
    return REGEX_LIMIT;
}
