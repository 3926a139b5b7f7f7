/* page.h: lists that are answered a page at a time. Private to ops/.
 *
 * A row more is asked for than a page has: when it is there, another page follows, which begins
 * after the last row of this one. Knows neither what is listed nor in which order. */
#ifndef OPS_PAGE_H
#define OPS_PAGE_H

#include "ops/op.h"

/* How many rows to ask for. */
int64_t page_rows(const struct input *in);

/* {"name":[  and how many of the rows found belong on the page; the caller writes them, each after
 * page_row has said so. */
size_t page_begin(const struct input *in, struct answer *out, str name, size_t found);

/* Whether row i of those shown is to be written. False behind the last; and when the one before it
 * was more than an answer may hold: then that one is taken back, and is the next page's first. Of one
 * row alone nothing is taken back: the answer is too large. */
bool page_row(struct answer *out, size_t i, size_t *shown);

/* ],"next":…}  with what the next page begins after; empty or 0: this was the last. */
void page_end(struct answer *out, str next);
void page_end_number(struct tx *tx, struct answer *out, int64_t next);

/* ---- for the table: what such an operation takes and answers beside the rows ---- */

// clang-format off
#define PAGE_AFTER_ID JSON("after": { "type": "string", "description": "Begin after this id: the last page's next." })
#define PAGE_AFTER_NAME JSON("after": { "type": "string", "description": "Begin after this name: the last page's next." })
#define PAGE_LIMIT JSON("limit": { "type": "integer", "minimum": 1, "maximum": 500, "default": 50, "description": "How many to answer at most; where there are more, next says where to go on." })

#define PAGE_NEXT JSON("next": { "type": "string", "description": "Where the next page begins; not there on the last." })
#define PAGE_NEXT_NUMBER JSON("next": { "type": "integer", "description": "Where the next page begins; not there on the last." })
// clang-format on

#endif
