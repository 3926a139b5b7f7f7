/* page.h: the page that a browser sees at /, and the files that it is made of. */
#ifndef WIRE_HTTP_PAGE_H
#define WIRE_HTTP_PAGE_H

#include "wire/http/glue.h"

extern const struct http_file http_page;

/* Whether it is a browser that asks: programs are told what they lack. */
bool http_wants_page(const struct server *s, const struct http_request *r);

/* The file at a path below /page/, gzip'd if `gzip`; NULL: there is none. */
const struct http_file *page_file(str path, bool gzip);

/* GET /page/…: anybody may have them, as they say nothing of what is stored. */
void page_route(struct http_exchange *x);

#endif
