/* report.h: rows of figures, and which goals they meet. NAN is what was not measured. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

/* The head of a table: what it is about, and its columns. */
void report_title(const char *what, const char *columns);

/* Each prints ten characters. */
void report_us(double us);
void report_rate(double per_second);
void report_ratio(double ratio);
void report_bytes(double bytes);

/* A judgement on a line of its own: what was found must be at most, or at least, the limit. */
void goal_most(const char *text, double found, double most);
void goal_least(const char *text, double found, double least);

/* How many goals there were, and how many were not met. */
void report_end(void);

#endif
