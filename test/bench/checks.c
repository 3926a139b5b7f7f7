/* checks.c: what test/sim/ asks of a test, answered for a benchmark: what fails ends it, what is
 * not there is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "bench/cluster.h"
#include "bench/set.h"
#include "check.h"

static jmp_buf left_out;
static struct arena *arena; /* as long as the program */

struct arena *check_arena(void)
{
    if (!arena)
        arena = arena_new();
    return arena;
}

void check_fail(const char *file, int line, const char *format, ...)
{
    char why[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    fprintf(stderr, "%s:%d: ", file, line);
    fail("PostgreSQL", str_from(why));
}

void check_skip(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("\nskipped: ");
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    longjmp(left_out, 1);
}

bool cluster_try(void (*start)(void *self), void *self)
{
    if (setjmp(left_out))
        return false;
    start(self);
    return true;
}

void check_int(const char *file, int line, const char *what, long long found, long long expected)
{
    if (found != expected)
        check_fail(file, line, "%s: expected %lld, found %lld", what, expected, found);
}

void check_ok(const char *file, int line, const char *what, err e)
{
    if (e)
        check_fail(file, line, "%s: " STR_FMT, what, STR_ARG(e->message));
}

str check_read(const char *path)
{
    struct buf text = buf_in(check_arena());
    FILE *file = fopen(path, "r");

    for (int c; file && (c = getc(file)) != EOF;)
        buf_byte(&text, (char)c);
    if (file)
        fclose(file);
    return buf_str(&text);
}

/* What is measured is on a disk. */
const char *check_memory_folder(void)
{
    return ".";
}

/* Nothing is shared with other processes. */
void check_serve(const char *where)
{
    fail("no service", str_from(where));
}

str check_service(struct service *s)
{
    fail("no service", str_from(s->name));
}
