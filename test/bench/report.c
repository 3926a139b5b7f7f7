/* report.c: rows of figures, and which goals they meet. */
#include "bench/report.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned goals, missed, unknown;

void report_title(const char *what, const char *columns)
{
    printf("\n%-30s%s\n", what, columns);
}

static void nothing(void)
{
    printf(" %9s", "-");
}

void report_us(double us)
{
    if (isnan(us))
        nothing();
    else if (us < 1000)
        printf(" %6.1f us", us);
    else if (us < 1e6)
        printf(" %6.2f ms", us / 1e3);
    else
        printf(" %7.2f s", us / 1e6);
}

void report_rate(double per_second)
{
    if (isnan(per_second))
        nothing();
    else
        printf(" %7.0f/s", per_second);
}

void report_ratio(double ratio)
{
    if (isnan(ratio))
        nothing();
    else
        printf(" %8.2fx", ratio);
}

void report_bytes(double bytes)
{
    if (isnan(bytes))
        nothing();
    else if (bytes < 1e6)
        printf(" %6.1f KB", bytes / 1e3);
    else
        printf(" %6.1f MB", bytes / 1e6);
}

static void judge(const char *text, double found, bool met)
{
    goals++;
    missed += !isnan(found) && !met;
    unknown += isnan(found);
    if (isnan(found))
        printf("    goal: %s: not measured\n", text);
    else
        printf("    goal: %s: %.3g, %s\n", text, found, met ? "met" : "NOT MET");
}

void goal_most(const char *text, double found, double most)
{
    judge(text, found, found <= most);
}

void goal_least(const char *text, double found, double least)
{
    judge(text, found, found >= least);
}

void report_end(void)
{
    printf("\n%u goals, %u not met, %u not measured\n", goals, missed, unknown);
}
