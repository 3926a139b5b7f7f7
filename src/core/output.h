/* output.h: what runs have written, in pieces; the oldest go when there is too much. */
#ifndef CORE_OUTPUT_H
#define CORE_OUTPUT_H

#include "core/tx.h"

#define OUTPUT_PIECE_MAX 65536

struct output {
    str run_id;
    int64_t number; /* of the run's: 1, 2 … */
    bool error;     /* of stderr */
    int64_t at_ms;
    int64_t bytes; /* of this piece and all before it */
    str text;
};

/* The table `run_output`: see columns.h. */
// clang-format off
#define RUN_OUTPUT_COLUMNS(X, o)       \
    X(run_id, TEXT, INSERT, o->run_id) \
    X(number, INT,  INSERT, o->number) \
    X(error,  FLAG, INSERT, o->error)  \
    X(at,     TIME, INSERT, o->at_ms)  \
    X(bytes,  INT,  INSERT, o->bytes)  \
    X(text,   TEXT, INSERT, o->text)
#define RUN_OUTPUT_NAMES COLUMNS(RUN_OUTPUT_COLUMNS)
// clang-format on

/* Appends a piece. TOO_LARGE beyond OUTPUT_PIECE_MAX. */
err output_add(struct tx *tx, str run_id, bool error, str text);

/* Pieces after a number, in order, of at most about 1 MiB in all. */
err output_list(struct tx *tx, str run_id, int64_t after, int64_t limit, const struct output **out,
                size_t *count);

/* The end of what was written to stderr, of at most so many bytes, cut at a line. */
err output_tail(struct tx *tx, str run_id, size_t bytes, str *out);

#endif
