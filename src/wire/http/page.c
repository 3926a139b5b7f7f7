/* page.c: the page that a browser sees, and the files that it is made of.
 *
 * All of it is part of the program: web/ as tools/page.sh has packed it, which begins with a line for
 * each file (its path, its type, how many bytes it has plain and gzip'd) and an empty one; then come
 * their bytes in that order. A file's name changes with its bytes, so it is kept by browsers for good.
 *
 * Whoever can reach the server can read it, so it tells nothing but the version, as /health does. */
#include "wire/http/page.h"

#include <assert.h>

#include "wire/http/text.h"

enum { FILES_MAX = 32 };

/* The build runs where build/ is. */
// clang-format off
__asm__(".section .rodata\n"
        "page_at:\n"
        ".incbin \"build/web/page.pack\"\n"
        "page_end:\n"
        ".byte 0\n"
        ".previous\n");
// clang-format on
extern const char page_at[], page_end[];

/* Scripts and styles are files of ours alone; nothing is sent anywhere else, nothing may frame the
 * page, and text becomes markup only by what cleans Markdown. */
#define POLICY                                                                                \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "      \
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "         \
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types dompurify\r\n" \
    "X-Content-Type-Options: nosniff\r\n"                                                     \
    "Referrer-Policy: no-referrer\r\n"                                                        \
    "Cross-Origin-Opener-Policy: same-origin\r\n"                                             \
    "Cross-Origin-Resource-Policy: same-origin\r\n"

#define FOR_GOOD "public, max-age=31536000, immutable"

/* ---- what is in the pack ---- */

static struct packed {
    str path;
    struct http_file plain, gzip;
} files[FILES_MAX];
static size_t file_count;

static str take(str *rest, size_t len)
{
    str taken = str_slice(*rest, 0, len);

    assert(taken.len == len); /* the pack is as the build has written it */
    *rest = str_slice(*rest, len, rest->len);
    return taken;
}

static size_t number_of(str text)
{
    int64_t n;
    bool fits = str_to_int(text, &n);

    assert(fits && n >= 0);
    return (size_t)n;
}

static void entry_read(str line, str *bytes)
{
    struct packed *f = &files[file_count++];
    str type, plain, gzip;

    assert(file_count <= FILES_MAX);
    str_cut(line, '\t', &f->path, &line);
    str_cut(line, '\t', &type, &line);
    str_cut(line, '\t', &plain, &gzip);
    /* Types are texts of C elsewhere: these end with the line that they stand in. */
    char *kept = mem_alloc(type.len + 1);
    memcpy(kept, type.at, type.len);
    kept[type.len] = 0;
    f->plain = (struct http_file){ .type = kept,
                                   .caching = FOR_GOOD,
                                   .bytes = take(bytes, number_of(plain)),
                                   .fields = POLICY "Vary: Accept-Encoding\r\n" };
    f->gzip = f->plain;
    f->gzip.bytes = take(bytes, number_of(gzip));
    f->gzip.fields = POLICY "Vary: Accept-Encoding\r\nContent-Encoding: gzip\r\n";
}

/* Only the loop's thread asks for files. */
static void pack_read(void)
{
    str pack = { page_at, (size_t)(page_end - page_at) }, line, lines = pack;
    size_t head = 0;

    while (str_cut(lines, '\n', &line, &lines) && line.len)
        head += line.len + 1;
    str bytes = str_slice(pack, head + 1, pack.len), rest = str_slice(pack, 0, head);
    while (str_cut(rest, '\n', &line, &rest))
        entry_read(line, &bytes);
    assert(file_count && !bytes.len);
}

static const struct packed *packed_find(str path)
{
    if (!file_count)
        pack_read();
    for (size_t i = 0; i < file_count; i++)
        if (str_eq(path, files[i].path))
            return &files[i];
    return NULL;
}

const struct http_file *page_file(str path, bool gzip)
{
    const struct packed *f = packed_find(path);

    return !f || str_eq(path, STR("/")) ? NULL : gzip ? &f->gzip : &f->plain;
}

/* ---- what is asked for ---- */

static bool takes_gzip(struct http_exchange *x)
{
    str list, part, coding, weight;

    if (!http_header_list(x->arena, x->request, "accept-encoding", &list))
        return false;
    while (http_list_next(&list, ',', &part)) {
        str_cut(part, ';', &coding, &weight);
        if (http_same(str_trim(coding), STR("gzip")))
            return !str_eq(str_trim(weight), STR("q=0"));
    }
    return false;
}

void page_route(struct http_exchange *x)
{
    const struct http_file *file = page_file(x->request->path, takes_gzip(x));

    if (file)
        http_answer_file(http_of(x), file);
    else
        http_refuse(x, err_new(x->arena, ERR_NOT_FOUND,
                               "there is no such file in this version of the page: load it anew"));
}

/* The page itself, with the version where it says {version}. */
static str page_text(struct server *s, struct arena *a)
{
    const struct packed *page = packed_find(STR("/"));
    str rest, before;
    struct buf out = buf_in(a);

    assert(page);
    rest = page->plain.bytes;
    while (str_cut(rest, '{', &before, &rest)) {
        buf_add(&out, before);
        bool version = str_starts(rest, STR("version}"));
        buf_add(&out, version ? str_from(s->options.version) : STR("{"));
        rest = str_slice(rest, version ? strlen("version}") : 0, rest.len);
    }
    buf_add(&out, before);
    return buf_str(&out);
}

const struct http_file http_page = {
    .type = "text/html; charset=utf-8",
    .caching = "no-cache",
    .text = page_text,
    .fields = POLICY "Vary: Accept\r\n",
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
