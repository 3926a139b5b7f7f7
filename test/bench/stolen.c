/* stolen.c: what /proc/stat says of it. */
#include "bench/stolen.h"

#include <stdio.h>

enum { TAKEN = 7, COLUMNS = 8 }; /* user, nice, system, idle, iowait, irq, softirq, steal */

static const double percent_shown = 1;

struct stolen stolen_now(void)
{
    FILE *file = fopen("/proc/stat", "r");
    struct stolen now = { 0, 0 };
    double ticks;

    if (!file)
        return now;
    if (fscanf(file, "cpu") == 0)
        for (int i = 0; i < COLUMNS && fscanf(file, "%lf", &ticks) == 1; i++) {
            now.all += ticks;
            now.taken = i == TAKEN ? ticks : 0;
        }
    fclose(file);
    return now;
}

void stolen_print(struct stolen since)
{
    struct stolen now = stolen_now();
    double all = now.all - since.all;
    double percent = all > 0 ? 100 * (now.taken - since.taken) / all : 0;

    if (percent >= percent_shown)
        printf("    note: %.0f %% of the processors was taken away by the host meanwhile\n",
               percent);
}
