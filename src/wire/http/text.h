/* text.h: what targets and values of fields say, and how the head of a response is written.
 *
 * Pure functions of text. What a request wants with it is its reader's business. */
#ifndef WIRE_HTTP_TEXT_H
#define WIRE_HTTP_TEXT_H

#include "base/arena.h"
#include "base/err.h"

/* ---- targets ---- */

/* A part of a path without its percent-encoding. Each '%' must stand before two hexadecimal digits,
 * and the result must be UTF-8 without NUL: else INVALID. A decoded '/' is a letter like others. */
err http_decode(struct arena *a, str encoded, str *out);

struct http_pair {
    str name, value;
};

/* A query as pairs, decoded as above and with '+' as a space, which is how forms write it; %2B is a
 * plus. Empty parts are skipped; a name without '=' has an empty value; a name may come twice. */
err http_query(struct arena *a, str query, struct http_pair **pairs, size_t *count);

/* ---- values of fields ---- */

/* The next of the parts between `separator`s, without spaces around it; a separator within double
 * quotes is none, and empty parts are skipped. False at the end. */
bool http_list_next(str *rest, char separator, str *part);

struct http_etag {
    str tag;   /* without its quotes */
    bool weak; /* W/"…" */
    bool any;  /* * */
};

/* Takes one entity tag off the value of If-Match or If-None-Match; at its end tag->tag.at is NULL.
 * A value that is neither * alone nor a list of tags is INVALID. */
err http_etag_next(struct arena *a, str *rest, struct http_etag *tag);

/* Whether Prefer has a preference; of two of the same name the first counts. Its value is empty
 * where it has none: `return=minimal` has minimal, `respond-async` has none. */
bool http_prefers(str prefer, str name, str *value);

/* How welcome a media type is to Accept, in thousandths; 0: not at all. The closest range decides:
 * one that names the type, then one that names its first half, then the one of all types. `named`
 * (may be NULL): it was of the first sort. */
unsigned http_accepts(str accept, str type, bool *named);

/* Whether a Content-Type is that media type; parameters and case do not matter. */
bool http_media_is(str content_type, str type);

/* ---- responses ---- */

/* "Not Found" of 404; NULL of a status that we do not know. */
const char *http_reason(int status);

/* The head of a response, in this order: its status, any number of fields, its end. A name that is
 * no token or a value with line ends or other controls is our own mistake, and asserted. */
void http_write_status(struct buf *out, int status);
void http_write_field(struct buf *out, str name, str value);
void http_write_number(struct buf *out, str name, int64_t value);
void http_write_end(struct buf *out);

#endif
