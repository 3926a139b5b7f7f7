/* stolen.h: processor time that a virtual machine wanted and did not get.
 *
 * Its host gave it to others. Figures of such a moment say little about a program, least of all
 * about those that wait for each other. */
#ifndef BENCH_STOLEN_H
#define BENCH_STOLEN_H

/* Since the machine started, in ticks of all processors. */
struct stolen {
    double all, taken;
};

struct stolen stolen_now(void);

/* Says how much it was since then, where it was so much that figures cannot be trusted. */
void stolen_print(struct stolen since);

#endif
