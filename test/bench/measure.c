#include "bench/measure.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* Many short rounds: what else runs on the machine comes and goes within a second, so two things
 * that take turns every few milliseconds meet the same conditions. */
#define ROUNDS 101
#define ROUND_NS 4e6

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double round_ns(measured *run, void *subject, size_t times)
{
    double start = now_ns();
    run(subject, times);
    return now_ns() - start;
}

/* How many operations make a round. Finding out also warms caches and branch predictors. */
static size_t round_times(measured *run, void *subject)
{
    size_t times = 1;

    for (double ns; (ns = round_ns(run, subject, times)) < ROUND_NS;)
        times = ns < ROUND_NS / 10 ? times * 8 : (size_t)((double)times * ROUND_NS / ns * 1.1) + 1;
    return times;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void figures_sort(double *figures, size_t count)
{
    qsort(figures, count, sizeof *figures, by_size);
}

double median(double *figures, int count)
{
    figures_sort(figures, (size_t)count);
    return count ? figures[count / 2] : NAN;
}

double measure(measured *run, void *subject)
{
    double found[ROUNDS];
    size_t times = round_times(run, subject);

    for (int i = 0; i < ROUNDS; i++)
        found[i] = round_ns(run, subject, times) / (double)times;
    return median(found, ROUNDS);
}

void measure_two(measured *one, measured *other, void *subject, double ns[2])
{
    double found[2][ROUNDS];
    size_t times[2] = { round_times(one, subject), round_times(other, subject) };

    for (int i = 0; i < ROUNDS; i++) {
        found[0][i] = round_ns(one, subject, times[0]) / (double)times[0];
        found[1][i] = round_ns(other, subject, times[1]) / (double)times[1];
    }
    ns[0] = median(found[0], ROUNDS);
    ns[1] = median(found[1], ROUNDS);
}
