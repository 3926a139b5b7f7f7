/* loop_link.c: connected streams, whatever their kind: reading, sending, closing. */
#include <sys/socket.h>

#include "os/fd.h"
#include "wire/loop_private.h"

struct link {
    union stream uv;
    uv_write_t write;
    const struct link_events *events;
    void *owner;
    size_t read_most; /* bytes, at once */
    bool sending;
    bool paused;   /* the owner wants no bytes, */
    bool yielding; /* or others' first */
    bool ended;    /* the owner was told so */
    bool broken;   /* nothing that is sent arrives any more */
};

/* ---- made and unmade ---- */

void stream_init(union stream *s, uv_loop_t *loop, uv_handle_type type, void *thing)
{
    if (type == UV_TCP)
        loop_must(uv_tcp_init(loop, &s->tcp));
    else
        loop_must(uv_pipe_init(loop, &s->pipe, 0));
    s->handle.data = thing;
}

struct link *link_take(uv_stream_t *from)
{
    struct link *l = memset(mem_alloc(sizeof *l), 0, sizeof *l);

    stream_init(&l->uv, from->loop, from->type, l);
    if (uv_accept(from, &l->uv.stream) != 0) {
        link_close(l);
        return NULL;
    }
    if (from->type == UV_TCP)
        uv_tcp_nodelay(&l->uv.tcp, 1); /* what is sent is whole: waiting for more only delays it */
    return l;
}

static bool link_closing(const struct link *l)
{
    return uv_is_closing(&l->uv.handle);
}

static void on_link_closed(uv_handle_t *handle)
{
    struct link *l = handle->data;

    if (l->events)
        l->events->closed(l->owner);
    mem_free(l);
}

void link_close(struct link *l)
{
    if (!link_closing(l))
        uv_close(&l->uv.handle, on_link_closed);
}

/* ---- reading ---- */

static void link_ended(struct link *l)
{
    if (l->ended || link_closing(l))
        return;
    l->ended = true;
    uv_read_stop(&l->uv.stream);
    l->events->ended(l->owner);
}

static void on_alloc(uv_handle_t *handle, size_t filter, uv_buf_t *out)
{
    struct loop *loop = handle->loop->data;
    const struct link *l = handle->data;

    (void)filter;
    *out = uv_buf_init(loop->bytes, (unsigned)l->read_most);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes)
{
    struct link *l = stream->data;

    if (count > 0) {
        loop_hears(stream->loop->data, l);
        l->events->bytes(l->owner, (str){ bytes->base, (size_t)count });
    } else if (count < 0) {
        l->broken = l->broken || count != UV_EOF;
        link_ended(l);
    }
}

void link_open(struct link *l, const struct link_events *events, void *owner)
{
    l->events = events;
    l->owner = owner;
    l->read_most = LINK_READ_MAX;
    link_resume(l);
}

void link_read_most(struct link *l, size_t bytes)
{
    assert(bytes > 0 && bytes <= LINK_READ_MAX);
    l->read_most = bytes;
}

static void link_read(struct link *l)
{
    if (!l->paused && !l->yielding && !l->ended && !link_closing(l))
        uv_read_start(&l->uv.stream, on_alloc, on_read); /* again, while it reads: does nothing */
}

void link_pause(struct link *l)
{
    l->paused = true;
    uv_read_stop(&l->uv.stream);
}

void link_resume(struct link *l)
{
    l->paused = false;
    link_read(l);
}

void link_yield(struct link *l)
{
    l->yielding = true;
    uv_read_stop(&l->uv.stream);
}

void link_go_on(struct link *l)
{
    l->yielding = false;
    link_read(l);
}

/* ---- sending ---- */

static void on_written(uv_write_t *write, int status)
{
    struct link *l = write->handle->data;

    l->sending = false;
    if (link_closing(l))
        return;
    l->broken = l->broken || status < 0;
    l->events->sent(l->owner);
    if (status < 0)
        link_ended(l);
}

bool link_send(struct link *l, const str *pieces, size_t count)
{
    uv_buf_t bufs[LINK_PIECES_MAX], *first = bufs, *end = bufs + count;

    assert(count <= LINK_PIECES_MAX && !l->sending);
    if (l->broken || count == 0)
        return true;
    for (size_t i = 0; i < count; i++)
        bufs[i] = (uv_buf_t){ (char *)pieces[i].at, pieces[i].len };
    int sent = uv_try_write(&l->uv.stream, bufs, (unsigned)count);
    size_t taken = sent > 0 ? (size_t)sent : 0;
    while (first < end && taken >= first->len)
        taken -= first++->len;
    if (first == end)
        return true;
    first->base += taken;
    first->len -= taken;

    /* An error of the first try comes again with this one, which reports it from the loop. */
    if (uv_write(&l->write, &l->uv.stream, first, (unsigned)(end - first), on_written) != 0) {
        l->broken = true;
        return true;
    }
    l->sending = true;
    return false;
}

size_t link_unsent(const struct link *l)
{
    return uv_stream_get_write_queue_size(&l->uv.stream);
}

static int link_fd(const struct link *l)
{
    uv_os_fd_t fd = -1;

    uv_fileno(&l->uv.handle, &fd);
    return fd;
}

void link_finish(struct link *l)
{
    assert(!l->sending);
    shutdown(link_fd(l), SHUT_WR);
}

/* ---- who is there ---- */

bool link_is_local(const struct link *l)
{
    return l->uv.handle.type == UV_NAMED_PIPE;
}

bool link_peer(const struct link *l, uint32_t *uid, int64_t *pid)
{
    return link_is_local(l) && socket_peer(link_fd(l), uid, pid);
}
