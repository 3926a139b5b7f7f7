/* net_help.h: the other end of a socket, for tests: plain blocking calls, in a thread of their own
 * beside the loop under test. A peer that waits in vain fails the test. */
#ifndef TEST_NET_HELP_H
#define TEST_NET_HELP_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "wire/loop.h"

#define NET_UNUSED __attribute__((unused))

static int net_open(int family)
{
    struct timeval patience = { .tv_sec = 10 };
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return fd;
}

NET_UNUSED static int net_tcp(uint16_t port)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int fd = net_open(AF_INET);

    CHECK(connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

NET_UNUSED static int net_unix(const char *path)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = net_open(AF_UNIX);

    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

NET_UNUSED static void net_send(int fd, str bytes)
{
    while (bytes.len) {
        ssize_t n = send(fd, bytes.at, bytes.len, MSG_NOSIGNAL);
        CHECK(n > 0);
        bytes = str_slice(bytes, (size_t)n, bytes.len);
    }
}

/* So many bytes, or fewer where the peer ends before. */
NET_UNUSED static size_t net_read(int fd, char *to, size_t count)
{
    size_t len = 0;

    while (len < count) {
        ssize_t n = recv(fd, to + len, count - len, 0);
        if (n < 0)
            check_fail(__FILE__, __LINE__, "recv: %s", strerror(errno));
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return len;
}

NET_UNUSED static void net_expect(int fd, str expected)
{
    char found[4096];

    CHECK(expected.len <= sizeof found);
    size_t len = net_read(fd, found, expected.len);
    if (!str_eq((str){ found, len }, expected))
        check_fail(__FILE__, __LINE__, "received \"%.*s\", expected \"" STR_FMT "\"", (int)len,
                   found, STR_ARG(expected));
}

/* The peer has closed, gently or not, and nothing was left to read. */
NET_UNUSED static void net_expect_end(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, 0);

    CHECK(n == 0 || (n < 0 && errno == ECONNRESET));
}

/* ---- the peer's thread ---- */

struct net_peer {
    void (*play)(void *);
    void *with;
    struct wakeup *over;
};

static void *net_peer_run(void *self)
{
    struct net_peer *p = self;

    p->play(p->with);
    wakeup_send(p->over);
    return NULL;
}

static void net_stop(void *loop)
{
    loop_stop(loop);
}

/* Runs the loop while `play` plays the peer, until it has played to the end. */
NET_UNUSED static void net_play(struct loop *l, void (*play)(void *), void *with)
{
    struct net_peer p = { play, with, wakeup_new(l, net_stop, l) };
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, net_peer_run, &p) == 0);
    loop_run(l);
    pthread_join(thread, NULL);
    wakeup_free(p.over);
}

struct net_turns {
    struct loop *loop;
    struct wakeup *next;
    int left;
};

static void net_turn_on(void *self)
{
    struct net_turns *t = self;

    if (--t->left)
        wakeup_send(t->next);
    else
        loop_stop(t->loop);
}

/* Runs it for a few turns, in which all comes about that is already there: accept, read, close. */
NET_UNUSED static void net_turn(struct loop *l)
{
    struct net_turns t = { .loop = l, .left = 8 };

    t.next = wakeup_new(l, net_turn_on, &t);
    wakeup_send(t.next);
    loop_run(l);
    wakeup_free(t.next);
}

#endif
