/* socket.c: bytes to and from a server, each step until a time and no longer. */
#include "client/socket.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int64_t socket_clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t socket_clock_ms(void)
{
    return socket_clock_us() / 1000;
}

/* ---- waiting ---- */

static enum socket_result wait_for(int fd, short events, int64_t until_ms)
{
    struct pollfd p = { .fd = fd, .events = events };

    for (;;) {
        int64_t left = until_ms - socket_clock_ms();
        if (left < 0)
            left = 0;
        int n = poll(&p, 1, left > INT_MAX ? INT_MAX : (int)left);
        if (n > 0)
            return SOCKET_DONE; /* errors show in the call that follows */
        if (n == 0 && left <= INT_MAX)
            return SOCKET_LATE;
        if (n < 0 && errno != EINTR)
            return SOCKET_LOST;
    }
}

bool socket_ready(int fd)
{
    return wait_for(fd, POLLIN, 0) == SOCKET_DONE;
}

/* ---- connecting ---- */

/* Connects to one address: 0, or an errno. */
static int try_address(const struct sockaddr *address, socklen_t len, int64_t until_ms, int *out)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int failed = 0;
    socklen_t size = sizeof failed;

    if (fd < 0)
        return errno;
    if (connect(fd, address, len) != 0)
        failed = errno;
    if (failed == EINPROGRESS) {
        if (wait_for(fd, POLLOUT, until_ms) != SOCKET_DONE)
            failed = ETIMEDOUT;
        else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) != 0)
            failed = errno;
    }
    if (failed) {
        close(fd);
        return failed;
    }
    if (address->sa_family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    *out = fd;
    return 0;
}

static int open_unix(str path, int64_t until_ms, int *fd)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    assert(path.len < sizeof address.sun_path); /* url_parse has looked */
    memcpy(address.sun_path, path.at, path.len);
    return try_address((const struct sockaddr *)&address, sizeof address, until_ms, fd);
}

/* The machine itself, without asking anyone what "localhost" is. */
static int open_localhost(uint16_t port, int64_t until_ms, int *fd)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
                               .sin6_port = htons(port),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    int failed = try_address((const struct sockaddr *)&v4, sizeof v4, until_ms, fd);

    if (failed && try_address((const struct sockaddr *)&v6, sizeof v6, until_ms, fd) == 0)
        return 0;
    return failed;
}

/* The addresses of a name, one after the other; the error is that of the last. */
static err open_named(struct arena *a, const struct url *u, int64_t until_ms, int *fd, int *failed)
{
    const struct addrinfo hints = { .ai_family = AF_UNSPEC,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_NUMERICSERV };
    struct addrinfo *all;
    char port[8];

    snprintf(port, sizeof port, "%u", (unsigned)u->port);
    int code = getaddrinfo(arena_copy(a, u->host).at, port, &hints, &all);
    if (code)
        return err_new(a, ERR_UNAVAILABLE, "cannot find the host " STR_FMT ": %s", STR_ARG(u->host),
                       gai_strerror(code));
    *failed = EHOSTUNREACH;
    for (const struct addrinfo *i = all; i && *failed; i = i->ai_next)
        *failed = try_address(i->ai_addr, i->ai_addrlen, until_ms, fd);
    freeaddrinfo(all);
    return NULL;
}

err socket_open(struct arena *a, const struct endpoint *p, int64_t until_ms, int *fd)
{
    const struct url *u = &p->url;
    int failed = 0;

    if (u->scheme == URL_HTTPS)
        return err_new(a, ERR_INVALID,
                       "expected http:// or unix: in the server's URL, found https://: these "
                       "commands do not speak TLS; reach the server through a tunnel");
    if (u->scheme == URL_UNIX)
        failed = open_unix(u->socket, until_ms, fd);
    else if (str_eq(u->host, STR("localhost")))
        failed = open_localhost(u->port, until_ms, fd);
    else
        TRY(open_named(a, u, until_ms, fd, &failed));
    if (failed == ENOENT || failed == ECONNREFUSED)
        return err_new(a, ERR_UNAVAILABLE, STR_FMT, STR_ARG(p->down));
    if (failed)
        return err_new(a, ERR_UNAVAILABLE, "cannot connect to " STR_FMT ": %s",
                       STR_ARG(u->scheme == URL_UNIX ? u->socket : url_authority(a, u)),
                       strerror(failed));
    return NULL;
}

/* ---- bytes ---- */

enum socket_result socket_send(int fd, str bytes, int64_t until_ms)
{
    while (bytes.len > 0) {
        ssize_t n = send(fd, bytes.at, bytes.len, MSG_NOSIGNAL);
        if (n >= 0) {
            bytes = str_slice(bytes, (size_t)n, bytes.len);
            continue;
        }
        if (errno != EAGAIN && errno != EINTR)
            return SOCKET_LOST;
        enum socket_result waited = wait_for(fd, POLLOUT, until_ms);
        if (waited != SOCKET_DONE)
            return waited;
    }
    return SOCKET_DONE;
}

enum socket_result socket_receive(int fd, char *at, size_t room, int64_t until_ms, size_t *n)
{
    for (;;) {
        ssize_t got = recv(fd, at, room, 0);
        if (got >= 0) {
            *n = (size_t)got;
            return SOCKET_DONE;
        }
        if (errno != EAGAIN && errno != EINTR)
            return SOCKET_LOST;
        enum socket_result waited = wait_for(fd, POLLIN, until_ms);
        if (waited != SOCKET_DONE)
            return waited;
    }
}
