/* junit.h: reports of tests, in the XML that most tools can write.
 *
 * Only what says how the tests have ended is read; all else is passed over, if it is well-formed. Strict,
 * and never more work than the text is long: no DOCTYPE, no entities but the five that XML has, no
 * encoding but UTF-8. Knows no files. */
#ifndef RUNNER_JUNIT_H
#define RUNNER_JUNIT_H

#include "base/err.h"

enum { JUNIT_BYTES_MAX = 16 << 20, JUNIT_DEPTH_MAX = 64, JUNIT_NAMES_MAX = 20 };

/* Tests are counted where they stand, and a summary that says more is believed: a suite that could
 * not begin has failures, and no tests that show them. */
struct junit {
    int64_t tests, failures, errors, skipped;
    str failed[JUNIT_NAMES_MAX]; /* the names of the first that have failed or could not be run */
    size_t named;
};

/* INVALID, with the line and what was expected there; TOO_LARGE. */
err junit_read(struct arena *a, str text, struct junit *out);

#endif
