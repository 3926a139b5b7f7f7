/* private.h: what the files that read HTTP share: classes of bytes, and how a head is read. */
#ifndef WIRE_HTTP_PRIVATE_H
#define WIRE_HTTP_PRIVATE_H

#include "wire/http/parse.h"

/* ---- text.c ---- */

enum {
    HTTP_TOKEN = 1,  /* names, methods, words of lists */
    HTTP_TARGET = 2, /* what is visible, without '#' */
    HTTP_VALUE = 4,  /* what is visible, space, tab, and all beyond ASCII */
    HTTP_HOST = 8,   /* names, addresses, and the colon before a port */
};

extern const uint8_t http_classes[256];

/* How many bytes at the front are of a class. */
static inline size_t http_span(str s, uint8_t class)
{
    size_t i = 0;
    while (i < s.len && http_classes[(unsigned char)s.at[i]] & class)
        i++;
    return i;
}

/* The same for HTTP_VALUE, many bytes at a time: values are most of a head. */
size_t http_value_span(str s);

/* The value of a hexadecimal digit, or -1. */
int http_hex_digit(char c);

/* Without the spaces and tabs at either side; line ends are not space here. */
str http_trim(str s);

static inline str http_drop(str s, size_t n)
{
    return str_slice(s, n, s.len);
}

/* ---- head.c ---- */

/* Always false, which is what a function says that cannot go on. */
bool parse_refuse(struct http_parser *p, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What stands at a place, and a value cut to a size, for messages: the bytes of strangers must not
 * break our answer. */
const char *http_found(struct http_parser *p, str line, size_t at);
const char *http_printable(struct http_parser *p, str value);

/* True, or false with the request refused: */

bool http_read_request_line(struct http_parser *p, str line);

/* A line that is not empty. The field is only read: what it means is the next function's. */
bool http_read_field(struct http_parser *p, str line, struct http_field *field);

/* Notes what a field says about the message itself: its host, its length, its connection. */
bool http_read_framing(struct http_parser *p, struct http_field field);

/* What can be said when all fields were read. */
bool http_check_head(struct http_parser *p);

/* Whether the length that was announced is within the limit, which the caller may have lowered. */
bool http_check_length(struct http_parser *p);

#endif
