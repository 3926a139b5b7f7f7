/* regex.h: regular expressions of ECMA-262 and of RFC 9485 (I-Regexp), on PCRE2.
 *
 * Compiled once, immutable, usable from any thread, and matched without
 * allocating. Matching is bounded: a pattern that backtracks too much answers
 * REGEX_LIMIT instead of taking for ever. */
#ifndef JSON_REGEX_REGEX_H
#define JSON_REGEX_REGEX_H

#include "base/arena.h"
#include "base/err.h"

struct regex;

enum regex_result { REGEX_NO, REGEX_YES, REGEX_LIMIT };

/* An ECMA-262 pattern with the `u` flag, as JSON Schema's "pattern" wants it, searched anywhere in
 * the subject. INVALID, with the position, for what ECMA-262 does not know. Free it with
 * regex_free. */
err regex_compile(struct arena *a, str pattern, struct regex **out);

/* The same for patterns in the wild: one that only the `u` flag refuses is tried without it, and
 * `loose` tells. It still speaks of characters, not of halves of them. */
err regex_compile_loose(struct arena *a, str pattern, bool *loose, struct regex **out);

/* Only whether regex_compile would take it: the format "regex". */
bool regex_valid(str pattern);

/* An I-Regexp: `whole` anchors it at both ends (JSONPath's match), else it is searched. */
err iregexp_compile(struct arena *a, str pattern, bool whole, struct regex **out);

void regex_free(struct regex *r);

/* The subject is valid UTF-8. It costs some of `steps`: few for most matches, thousands for one that
 * backtracks much, so that many such matches end in REGEX_LIMIT too. No steps are left then. */
#define REGEX_STEPS_MAX(len) (22001 + (len)) /* the most that one match costs */
enum regex_result regex_match(const struct regex *r, str subject, uint32_t *steps);

#endif
