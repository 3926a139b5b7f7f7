/* loop.c: sockets, timers and wake-ups of one thread, by libuv.
 *
 * Every handle is freed by its own close callback and nowhere else, because libuv
 * holds it until then; whatever a callback does, the thing it was called for is
 * therefore still there when it returns. */
#define _GNU_SOURCE /* struct ucred */
#include "wire/loop.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

enum { READ_BYTES = 64 << 10, BACKLOG = 1024, PORT_TEXT_MAX = 5, ADDRESS_TEXT_MAX = 64 };

struct loop {
    uv_loop_t uv;
    uv_prepare_t turn;
    void (*each_turn)(void *owner);
    void *owner;
    char bytes[READ_BYTES]; /* of the link that is being read: so an idle one needs no buffer */
};

/* Either kind of stream. */
union stream {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

struct link {
    union stream uv;
    uv_write_t write;
    const struct link_events *events;
    void *owner;
    bool sending;
    bool ended;  /* the owner was told so */
    bool broken; /* nothing that is sent arrives any more */
};

struct listener {
    union stream uv;
    link_accept *accept;
    void *owner;
};

struct timer {
    uv_timer_t uv;
    void (*fn)(void *owner);
    void *owner;
};

struct wakeup {
    uv_async_t uv;
    void (*fn)(void *owner);
    void *owner;
};

struct signal_watch {
    uv_signal_t uv;
    void (*fn)(void *owner);
    void *owner;
};

/* libuv refuses these calls only when they are used wrongly. */
static void must(int status)
{
    assert(status == 0);
    (void)status;
}

static void *zeroed(size_t size)
{
    return memset(mem_alloc(size), 0, size);
}

/* ---- the loop ---- */

/* libuv calls this between timers and the wait for sockets, hence after everything that can happen
 * in a turn: what the sockets, wake-ups and closed links of the last wait brought, and the timers. */
static void on_turn(uv_prepare_t *turn)
{
    struct loop *l = turn->data;

    if (l->each_turn)
        l->each_turn(l->owner);
}

struct loop *loop_new(void)
{
    struct loop *l = mem_alloc(sizeof *l);

    l->each_turn = NULL;
    must(uv_loop_init(&l->uv));
    l->uv.data = l;
    must(uv_prepare_init(&l->uv, &l->turn));
    l->turn.data = l;
    must(uv_prepare_start(&l->turn, on_turn)); /* also keeps an empty loop running */
    return l;
}

/* A peer that is gone must be an error of the call that writes to it, not a signal that ends the
 * process. Only this thread's mask is changed, and only while it runs the loop. */
void loop_run(struct loop *l)
{
    static const struct timespec at_once = { 0, 0 };
    sigset_t pipe, before;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    on_turn(&l->turn); /* of the turn that was stopped */
    if (!sigismember(&before, SIGPIPE))
        sigtimedwait(&pipe, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void loop_stop(struct loop *l)
{
    uv_stop(&l->uv);
}

void loop_free(struct loop *l)
{
    enum { TURNS_MAX = 16 }; /* what is told that it was closed may close something else */

    uv_close((uv_handle_t *)&l->turn, NULL);
    for (int turns = 0; uv_loop_close(&l->uv) != 0; turns++) {
        assert(turns < TURNS_MAX && "everything in the loop was closed");
        uv_run(&l->uv, UV_RUN_NOWAIT);
    }
    mem_free(l);
}

int64_t loop_now_ms(const struct loop *l)
{
    return (int64_t)uv_now(&l->uv);
}

void loop_each_turn(struct loop *l, void (*fn)(void *owner), void *owner)
{
    l->each_turn = fn;
    l->owner = owner;
}

/* ---- links ---- */

static bool link_closing(const struct link *l)
{
    return uv_is_closing(&l->uv.handle);
}

static void link_ended(struct link *l)
{
    if (l->ended || link_closing(l))
        return;
    l->ended = true;
    uv_read_stop(&l->uv.stream);
    l->events->ended(l->owner);
}

static void on_alloc(uv_handle_t *handle, size_t wish, uv_buf_t *out)
{
    struct loop *l = handle->loop->data;

    (void)wish;
    *out = uv_buf_init(l->bytes, READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes)
{
    struct link *l = stream->data;

    if (count > 0) {
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
    link_resume(l);
}

void link_pause(struct link *l)
{
    uv_read_stop(&l->uv.stream);
}

void link_resume(struct link *l)
{
    if (!l->ended && !link_closing(l))
        uv_read_start(&l->uv.stream, on_alloc, on_read); /* again, while it reads: does nothing */
}

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

bool link_is_local(const struct link *l)
{
    return l->uv.handle.type == UV_NAMED_PIPE;
}

bool link_peer(const struct link *l, uint32_t *uid, int64_t *pid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (!link_is_local(l) || getsockopt(link_fd(l), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    *uid = peer.uid;
    *pid = peer.pid;
    return true;
}

/* ---- listening ---- */

static void stream_init(union stream *s, uv_loop_t *loop, uv_handle_type type, void *thing)
{
    if (type == UV_TCP)
        must(uv_tcp_init(loop, &s->tcp));
    else
        must(uv_pipe_init(loop, &s->pipe, 0));
    s->handle.data = thing;
}

/* libuv takes connections off the socket until none is left, and calls this for each. */
static void on_connection(uv_stream_t *stream, int status)
{
    struct listener *from = stream->data;

    if (status < 0)
        return; /* out of descriptors: libuv has dropped the connection and goes on */
    struct link *l = zeroed(sizeof *l);
    stream_init(&l->uv, stream->loop, stream->type, l);
    if (uv_accept(stream, &l->uv.stream) != 0) {
        link_close(l);
        return;
    }
    if (stream->type == UV_TCP)
        uv_tcp_nodelay(&l->uv.tcp, 1); /* what is sent is whole: waiting for more only delays it */
    from->accept(from->owner, l);
}

static void on_listener_closed(uv_handle_t *handle)
{
    mem_free(handle->data);
}

void listener_close(struct listener *l)
{
    uv_close(&l->uv.handle, on_listener_closed);
}

static struct listener *listener_new(struct loop *loop, uv_handle_type type, link_accept *accept,
                                     void *owner)
{
    struct listener *l = zeroed(sizeof *l);

    l->accept = accept;
    l->owner = owner;
    stream_init(&l->uv, &loop->uv, type, l);
    return l;
}

static err cannot_listen(struct arena *a, str where, int status)
{
    if (status == UV_EADDRINUSE)
        return err_new(a, ERR_CONFLICT,
                       "cannot listen on " STR_FMT
                       ": something else does; stop it, or listen elsewhere",
                       STR_ARG(where));
    return err_new(a, ERR_UNAVAILABLE, "cannot listen on " STR_FMT ": %s", STR_ARG(where),
                   uv_strerror(status));
}

/* Splits HOST:PORT at the colon that is behind the host: [::1] has others inside. */
static bool split_port(str text, str *host, uint16_t *port)
{
    size_t colon = text.len;
    int64_t number;

    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == ']')
            colon = text.len;
        else if (text.at[i] == ':')
            colon = i;
    }
    *host = str_slice(text, 0, colon);
    if (colon == text.len)
        return true;
    str digits = str_slice(text, colon + 1, text.len);
    if (digits.len > PORT_TEXT_MAX || !str_to_int(digits, &number) || number < 0 ||
        number > UINT16_MAX)
        return false;
    *port = (uint16_t)number;
    return true;
}

static bool read_address(str text, uint16_t *port, struct sockaddr_storage *out)
{
    char name[ADDRESS_TEXT_MAX];
    str host;

    if (!split_port(text, &host, port) || host.len >= sizeof name)
        return false;
    if (str_eq(host, STR("localhost")))
        host = STR("127.0.0.1");
    bool six = host.len > 2 && host.at[0] == '[' && host.at[host.len - 1] == ']';
    if (six)
        host = str_slice(host, 1, host.len - 1);
    snprintf(name, sizeof name, STR_FMT, STR_ARG(host));
    return (six ? uv_ip6_addr(name, *port, (struct sockaddr_in6 *)out)
                : uv_ip4_addr(name, *port, (struct sockaddr_in *)out)) == 0;
}

static int listen_tcp(struct listener *l, const struct sockaddr *address, uint16_t *port)
{
    struct sockaddr_storage bound;
    int status, size = sizeof bound;

    if ((status = uv_tcp_bind(&l->uv.tcp, address, 0)) ||
        (status = uv_listen(&l->uv.stream, BACKLOG, on_connection)) ||
        (status = uv_tcp_getsockname(&l->uv.tcp, (struct sockaddr *)&bound, &size)))
        return status;
    *port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                              : ((struct sockaddr_in *)&bound)->sin_port);
    return 0;
}

err loop_listen_tcp(struct loop *loop, struct arena *a, str host, uint16_t *port,
                    link_accept *accept, void *owner, struct listener **out)
{
    struct sockaddr_storage address;

    if (!read_address(host, port, &address))
        return err_new(a, ERR_INVALID,
                       "expected an address like 127.0.0.1:8765, [::1]:8765 or localhost:8765,"
                       " found \"" STR_FMT "\"",
                       STR_ARG(host));
    struct listener *l = listener_new(loop, UV_TCP, accept, owner);
    int status = listen_tcp(l, (struct sockaddr *)&address, port);
    if (status) {
        listener_close(l);
        return cannot_listen(a, host, status);
    }
    *out = l;
    return NULL;
}

/* Whether there is a socket at the path that nobody listens on: its process was killed. */
static bool socket_is_stale(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct stat st;

    if (lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    bool refused = connect(fd, (struct sockaddr *)&address, sizeof address) != 0 &&
                   errno == ECONNREFUSED;
    close(fd);
    return refused;
}

/* The file has its mode from its first moment: a change afterwards would leave a gap. */
static int bind_private(struct listener *l, const char *path)
{
    mode_t before = umask(0177);
    int status = uv_pipe_bind(&l->uv.pipe, path);

    umask(before);
    return status;
}

static int listen_unix(struct listener *l, const char *path)
{
    int status = bind_private(l, path);

    if (status == UV_EADDRINUSE && socket_is_stale(path) && unlink(path) == 0)
        status = bind_private(l, path);
    return status ? status : uv_listen(&l->uv.stream, BACKLOG, on_connection);
}

err loop_listen_unix(struct loop *loop, struct arena *a, str path, link_accept *accept, void *owner,
                     struct listener **out)
{
    size_t most = sizeof((struct sockaddr_un *)0)->sun_path - 1;

    if (path.len == 0 || path.len > most)
        return err_new(a, ERR_INVALID,
                       "expected a path of 1 to %zu bytes for a socket, found %zu: " STR_FMT, most,
                       path.len, STR_ARG(path));
    struct listener *l = listener_new(loop, UV_NAMED_PIPE, accept, owner);
    int status = listen_unix(l, arena_copy(a, path).at);
    if (status) {
        listener_close(l);
        return cannot_listen(a, path, status);
    }
    *out = l;
    return NULL;
}

/* ---- time and other threads ---- */

static void on_closed(uv_handle_t *handle)
{
    mem_free(handle->data);
}

static void on_timer(uv_timer_t *uv)
{
    struct timer *t = uv->data;
    t->fn(t->owner);
}

struct timer *timer_new(struct loop *l, void (*fn)(void *owner), void *owner)
{
    struct timer *t = mem_alloc(sizeof *t);

    t->fn = fn;
    t->owner = owner;
    must(uv_timer_init(&l->uv, &t->uv));
    t->uv.data = t;
    return t;
}

void timer_set(struct timer *t, int64_t ms)
{
    must(uv_timer_start(&t->uv, on_timer, ms > 0 ? (uint64_t)ms : 0, 0));
}

void timer_clear(struct timer *t)
{
    uv_timer_stop(&t->uv);
}

void timer_free(struct timer *t)
{
    uv_close((uv_handle_t *)&t->uv, on_closed);
}

static void on_wakeup(uv_async_t *uv)
{
    struct wakeup *w = uv->data;
    w->fn(w->owner);
}

struct wakeup *wakeup_new(struct loop *l, void (*fn)(void *owner), void *owner)
{
    struct wakeup *w = mem_alloc(sizeof *w);

    w->fn = fn;
    w->owner = owner;
    w->uv.data = w;
    must(uv_async_init(&l->uv, &w->uv, on_wakeup));
    return w;
}

void wakeup_send(struct wakeup *w)
{
    uv_async_send(&w->uv);
}

void wakeup_free(struct wakeup *w)
{
    uv_close((uv_handle_t *)&w->uv, on_closed);
}

static void on_signal(uv_signal_t *uv, int number)
{
    struct signal_watch *s = uv->data;

    (void)number;
    s->fn(s->owner);
}

struct signal_watch *signal_new(struct loop *l, int number, void (*fn)(void *owner), void *owner)
{
    struct signal_watch *s = mem_alloc(sizeof *s);

    s->fn = fn;
    s->owner = owner;
    must(uv_signal_init(&l->uv, &s->uv));
    s->uv.data = s;
    must(uv_signal_start(&s->uv, on_signal, number));
    return s;
}

void signal_free(struct signal_watch *s)
{
    uv_close((uv_handle_t *)&s->uv, on_closed);
}
