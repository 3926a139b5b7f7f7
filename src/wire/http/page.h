/* page.h: the page that a browser sees at /. */
#ifndef WIRE_HTTP_PAGE_H
#define WIRE_HTTP_PAGE_H

#include "wire/http/glue.h"

extern const struct http_file http_page;

/* Whether it is a browser that asks: programs are told what they lack. */
bool http_wants_page(const struct server *s, const struct http_request *r);

#endif
