/* work.c: how much work something is, for tests.
 *
 * A unit is a basic block of the program's own code. What libraries do is counted at their door, by
 * what they are asked for, in units that take about as long: the linker leads the calls that the
 * Makefile lists here (--wrap).
 *
 * A unit takes 0.9 ns on average: so it was over the 86 cases of hostile inputs that take longer than
 * 8 ms, as the time of the processor in the release build (the best of five, on a machine that others
 * used, too, so it is less on an idle one) by the units in this one, with gcc 12. Where numbers have
 * many digits it is 0.3, where tables miss the caches 4, and for the commands of writer_time_test.c
 * 0.7 to 1.7.
 *
 * The count of much work differs by less than a thousandth from run to run, since some tables are
 * hashed by address; without random addresses (setarch -R) it is the same. */
#include "work.h"

#include <time.h>

static uint64_t units;

#ifdef COUNTED

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define WRAPPED(type, name, ...)     \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

/* The compiler calls it in every basic block. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    units++;
}

/* ---- bytes ---- */

/* 6 to 80 bytes take a nanosecond, the fewer the less of them the caches hold. */
static void count_bytes(size_t n)
{
    units += 1 + n / 16;
}

WRAPPED(void *, memcpy, void *to, const void *from, size_t n)
{
    count_bytes(n);
    return __real_memcpy(to, from, n);
}

WRAPPED(void *, memmove, void *to, const void *from, size_t n)
{
    count_bytes(n);
    return __real_memmove(to, from, n);
}

WRAPPED(void *, memset, void *to, int byte, size_t n)
{
    count_bytes(n);
    return __real_memset(to, byte, n);
}

WRAPPED(int, memcmp, const void *a, const void *b, size_t n)
{
    count_bytes(n);
    return __real_memcmp(a, b, n);
}

WRAPPED(void *, memchr, const void *in, int byte, size_t n)
{
    const char *found = __real_memchr(in, byte, n);

    count_bytes(found ? (size_t)(found - (const char *)in) : n);
    return (void *)found;
}

WRAPPED(size_t, strlen, const char *text)
{
    size_t n = __real_strlen(text);

    count_bytes(n);
    return n;
}

/* ---- regular expressions ---- */

/* Of what compiling makes, of matching texts that are short, and of those that are long. */
enum { CODE_BYTE = 7, BACKTRACK = 3, WALKED_BYTE = 2 };

WRAPPED(pcre2_code *, pcre2_compile_8, PCRE2_SPTR text, PCRE2_SIZE length, uint32_t options,
        int *error, PCRE2_SIZE *offset, pcre2_compile_context *context)
{
    size_t size = 0;
    pcre2_code *code = __real_pcre2_compile_8(text, length, options, error, offset, context);

    if (code)
        pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size);
    units += CODE_BYTE * (size + length);
    return code;
}

WRAPPED(int, pcre2_jit_compile_8, pcre2_code *code, uint32_t options)
{
    int result = __real_pcre2_jit_compile_8(code, options);
    size_t size = 0;

    pcre2_pattern_info(code, PCRE2_INFO_JITSIZE, &size);
    units += CODE_BYTE * size;
    return result;
}

/* What is set for the next match; a test that counts has one thread. */
static uint32_t match_limit;
static int (*callout)(pcre2_callout_block *, void *);
static size_t walked_to;

WRAPPED(int, pcre2_set_match_limit_8, pcre2_match_context *context, uint32_t limit)
{
    match_limit = limit;
    return __real_pcre2_set_match_limit_8(context, limit);
}

static int count_callout(pcre2_callout_block *block, void *data)
{
    if (block->current_position > walked_to)
        units += WALKED_BYTE * (block->current_position - walked_to);
    walked_to = block->current_position;
    return callout(block, data);
}

WRAPPED(int, pcre2_set_callout_8, pcre2_match_context *context,
        int (*function)(pcre2_callout_block *, void *), void *data)
{
    callout = function;
    walked_to = 0;
    return __real_pcre2_set_callout_8(context, function ? count_callout : NULL, data);
}

/* PCRE2 does not tell how often it backtracked, only that a limit was not enough. */
WRAPPED(int, pcre2_jit_match_8, const pcre2_code *code, PCRE2_SPTR text, PCRE2_SIZE length,
        PCRE2_SIZE start, uint32_t options, pcre2_match_data *found, pcre2_match_context *context)
{
    uint32_t limit = callout ? UINT32_MAX : 16;

    for (; limit < match_limit; limit *= 2) {
        __real_pcre2_set_match_limit_8(context, limit);
        if (__real_pcre2_jit_match_8(code, text, length, start, options, found, context) !=
            PCRE2_ERROR_MATCHLIMIT)
            break;
    }
    if (!callout)
        units += 1 + BACKTRACK * (limit < match_limit ? limit : match_limit);
    __real_pcre2_set_match_limit_8(context, match_limit);
    return __real_pcre2_jit_match_8(code, text, length, start, options, found, context);
}

#endif

bool work_is_counted(void)
{
#ifdef COUNTED
    return true;
#else
    return false;
#endif
}

struct work work_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (struct work){ units, (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6 };
}

struct work work_since(struct work start)
{
    struct work now = work_now();

    return (struct work){ now.units - start.units, now.ms - start.ms };
}
