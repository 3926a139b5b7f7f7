/* measure.h: how long one operation takes.
 *
 * The median of a few rounds, each long enough that neither the clock nor one
 * interruption matters. Does not know what is measured. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stddef.h>

/* Does the operation `times` times. */
typedef void measured(void *subject, size_t times);

/* Nanoseconds of one operation. */
double measure(measured *run, void *subject);

/* The same for two that are compared: their rounds alternate, so that a machine that is busy for a
 * while is so for both. */
void measure_two(measured *one, measured *other, void *subject, double ns[2]);

/* Puts figures in order. */
void figures_sort(double *figures, size_t count);

/* The median, of figures that are in order afterwards; NAN of none. */
double median(double *figures, int count);

#endif
