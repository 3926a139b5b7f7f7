/* stream.h: what an agent writes → lines that may be shown, and facts.
 *
 * Bytes come in any pieces; lines and facts are the same for all of them. A line is
 * repaired before anything else sees it: what is not UTF-8 is replaced, NUL too, the
 * run's own token is taken out, and of one that is too long only the beginning is
 * kept. Which lines hold which facts, the rules of the profile say; no fact shows the
 * token either, however it was written. Nothing that an agent writes is trusted to be
 * what it should be: a fact of the wrong kind is none.
 *
 * Knows no processes and no server. */
#ifndef RUNNER_STREAM_H
#define RUNNER_STREAM_H

#include "json/json.h"

enum {
    STREAM_LINE_MAX = 1 << 20, /* of a longer one, STREAM_LINE_KEPT bytes are */
    STREAM_LINE_KEPT = 4 << 10,
    STREAM_RESULT_MAX = 256 << 10, /* the end of a longer result is kept */
    STREAM_HEARD_MAX = 200,
    STREAM_ERROR_MAX = 4 << 10,
    STREAM_ID_MAX = 128,
    STREAM_MODELS_MAX = 32 << 10,
};

struct stream_usage {
    bool known;
    int64_t tokens_in, tokens_out, tokens_cached;
    int64_t cost;             /* in millionths of a dollar */
    str models;               /* a printed JSON object; empty: nobody said */
    const struct json *whole; /* which of them count the conversation from its start; NULL: none */
};

/* What is known so far; the texts are the stream's, good until it is fed again. */
struct stream_facts {
    str client_id; /* letters, digits and . _ : - only */
    str result;
    bool result_cut; /* it was more than STREAM_RESULT_MAX bytes: this is its end */
    str error;       /* with `failed`: what the agent says of it; may be empty */
    bool failed;
    str heard; /* its last words, a few of them, in one line */
    struct stream_usage usage;
};

struct stream;

/* `output` is the member of that name of a profile, which lives as long as the stream; NULL: all is
 * text. `secret` is what no line may show; empty: nothing. `line` gets each, without its end. */
struct stream *stream_new(const struct json *output, str secret, void (*line)(void *to, str text),
                          void *to);
void stream_free(struct stream *s);

void stream_feed(struct stream *s, str bytes);

/* There is no more: what stands behind the last line end is a line too. */
void stream_end(struct stream *s);

struct stream_facts stream_facts(struct stream *s);

#endif
