/* page.c: what a browser sees that is led here: that the server is alive, and what to type next.
 *
 * Whoever can reach the server can read it, so it tells nothing but the version, as /health does. */
#include "wire/http/page.h"

#include "wire/http/text.h"

/* A file as bytes of the program. The build runs where src/ is. */
// clang-format off
__asm__(".section .rodata\n"
        "page_at:\n"
        ".incbin \"src/wire/http/page.html\"\n"
        "page_end:\n"
        ".byte 0\n"
        ".previous\n");
// clang-format on
extern const char page_at[], page_end[];

static str page_text(struct server *s, struct arena *a)
{
    str rest = { page_at, (size_t)(page_end - page_at) }, before;
    struct buf out = buf_in(a);

    while (str_cut(rest, '{', &before, &rest)) {
        buf_add(&out, before);
        bool version = str_starts(rest, STR("version}"));
        buf_add(&out, version ? str_from(s->options.version) : STR("{"));
        rest = str_slice(rest, version ? strlen("version}") : 0, rest.len);
    }
    buf_add(&out, before);
    return buf_str(&out);
}

/* The one thing that it may have is its own style, known by its sum. */
const struct http_file http_page = {
    .type = "text/html; charset=utf-8",
    .caching = "no-cache",
    .text = page_text,
    .fields =
        "Content-Security-Policy: default-src 'none'; style-src "
        "'sha256-VV8iFPQmYm4h7ACZbRe6/zEfHv5vnxqBYLtqwr94vKc='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\n"
        "Vary: Accept\r\n",
};

bool http_wants_page(const struct server *s, const struct http_request *r)
{
    bool named = false;
    str accept;

    (void)s;
    return (str_eq(r->method, STR("GET")) || str_eq(r->method, STR("HEAD"))) &&
           http_header(r, "accept", &accept) &&
           http_accepts(accept, STR("text/html"), &named) > 0 && named;
}
