/* route.c: which route a request is for, of those that are no operations; and their files. */
#include "base/digest.h"
#include "wire/http/glue.h"

enum { ETAG_CHARS = 20 };

/* One that was asked for. */
struct file {
    const struct http_file *file;
    struct shared *bytes;
    char etag[ETAG_CHARS];
    struct file *next;
};

static bool is_at(const struct http_route *route, str path)
{
    bool below = route->path.len > 1 && str_ends(route->path, STR("/"));

    return below ? str_starts(path, route->path) : str_eq(path, route->path);
}

const struct http_route *route_find(const struct server *s, const struct http_request *r)
{
    for (const struct http_route *route = s->routes; route->path.len; route++)
        if (is_at(route, r->path) && (!route->applies || route->applies(s, r)))
            return route;
    return NULL;
}

enum route_need route_needs(const struct server *s, const struct http_route *route)
{
    if (!route)
        return ROUTE_NONE;
    return s->options.mcp_open && route->need == ROUTE_FENCED ? ROUTE_OPEN : route->need;
}

bool route_has_head(const struct http_route *route)
{
    return !route || !route->methods[1].len;
}

struct shared *route_file(struct server *s, const struct http_file *file, str *etag)
{
    struct file *f = s->files;

    while (f && f->file != file)
        f = f->next;
    if (!f) {
        struct arena *a = server_arena(s);
        unsigned char sum[SHA256_BYTES];
        f = mem_alloc(sizeof *f);
        *f = (struct file){ .file = file,
                            .bytes = shared_new(file->text ? file->text(s, a) : file->bytes),
                            .next = s->files };
        sha256(f->bytes->bytes, sum);
        memcpy(f->etag, hex_encode(a, (str){ (char *)sum, ETAG_CHARS / 2 }).at, ETAG_CHARS);
        s->files = f;
        server_arena_done(s, a);
    }
    *etag = (str){ f->etag, ETAG_CHARS };
    return f->bytes;
}

void route_files_free(struct server *s)
{
    while (s->files) {
        struct file *f = s->files;
        s->files = f->next;
        shared_unref(f->bytes);
        mem_free(f);
    }
}
