/* loop_listen.c: where connections come from: addresses of this machine, and sockets in files. */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire/loop_private.h"

enum { BACKLOG = 1024, PORT_TEXT_MAX = 5, ADDRESS_TEXT_MAX = 64 };

struct listener {
    union stream uv;
    link_accept *accept;
    void *owner;
};

/* libuv takes connections off the socket until none is left, and calls this for each. */
static void on_connection(uv_stream_t *stream, int status)
{
    struct listener *from = stream->data;

    if (status < 0) { /* out of descriptors: libuv has dropped the connection and goes on */
        from->accept(from->owner, NULL);
        return;
    }
    struct link *l = link_take(stream);
    if (l)
        from->accept(from->owner, l);
}

void listener_close(struct listener *l)
{
    uv_close(&l->uv.handle, handle_free);
}

static struct listener *listener_new(struct loop *loop, uv_handle_type type, link_accept *accept,
                                     void *owner)
{
    struct listener *l = mem_alloc(sizeof *l);

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
