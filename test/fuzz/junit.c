/* fuzz: src/runner/junit.c */
/* junit.c: any bytes as a report of tests.
 *
 * What is read counts nothing below zero and names no more than have failed; what is refused names a
 * line that there is, or says that it is no text, or too much of it. */
#include "runner/junit.h"

#include <assert.h>

#include "base/utf8.h"

static void check_report(const struct junit *j)
{
    assert(j->tests >= 0 && j->failures >= 0 && j->errors >= 0 && j->skipped >= 0);
    assert(j->named <= JUNIT_NAMES_MAX && (int64_t)j->named <= j->failures + j->errors);
    for (size_t i = 0; i < j->named; i++)
        assert(j->failed[i].len > 0 && utf8_valid(j->failed[i]));
}

static void check_error(err e, str text)
{
    int64_t line, lines = 1;
    str number, rest;

    for (size_t i = 0; i < text.len; i++)
        lines += text.at[i] == '\n';
    assert(e->kind == ERR_INVALID || e->kind == ERR_TOO_LARGE);
    assert(utf8_valid(e->message));
    if (!str_starts(e->message, STR("line ")))
        return;
    str_cut(str_slice(e->message, strlen("line "), e->message.len), ':', &number, &rest);
    assert(str_to_int(number, &line) && line >= 1 && line <= lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str text = size ? (str){ (const char *)data, size } : STR("");
    struct junit report;
    err e = junit_read(a, text, &report);

    if (e)
        check_error(e, text);
    else
        check_report(&report);
    arena_free(a);
    return 0;
}
