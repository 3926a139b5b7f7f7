/* load.c: a client that asks a server as fast as it answers. */
#define _GNU_SOURCE
#include "bench/load.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/set.h"
#include "bench/target.h"

enum { RESPONSE_ROOM = 64 << 10 };

struct connection {
    int fd;
    uint32_t number;
    uint64_t count;
    double sent_at;
    struct buf request;
    size_t request_sent;

    /* The response: its head until it is complete, then how much of the body is missing. */
    char head[8192];
    size_t head_len, body_left;
    bool in_body;
    int status;
};

struct run {
    const struct load *load;
    struct connection *connections;
    char *room;
    int epoll;
    double begin, end, cpu_begin;
    bool measuring;
    uint64_t buckets[LOAD_BUCKETS];
    struct load_result result;
};

/* ---- latencies: 32 buckets for each doubling of nanoseconds ---- */

static unsigned bucket_of(double us)
{
    uint64_t ns = (uint64_t)(us * 1000) | 32;
    unsigned top = 63 - (unsigned)__builtin_clzll(ns);
    return (top - 5) * 32 + (unsigned)(ns >> (top - 5) & 31);
}

static double bucket_us(unsigned bucket)
{
    return (double)((32ull + bucket % 32) << bucket / 32) / 1000;
}

static double percentile(const struct run *r, double share)
{
    uint64_t wanted = (uint64_t)((double)r->result.requests * share), seen = 0;

    for (unsigned i = 0; i < LOAD_BUCKETS; i++) {
        seen += r->buckets[i];
        if (seen > wanted)
            return bucket_us(i);
    }
    return r->result.max_us;
}

/* ---- one connection ---- */

int load_connect(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };

    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        fail("connecting to a server", str_from(strerror(errno)));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

int load_connect_local(const char *path)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un to = { .sun_family = AF_UNIX };

    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        fail("connecting to a server's socket", str_from(strerror(errno)));
    return fd;
}

static void request_send(struct run *r, struct connection *c)
{
    str bytes = buf_str(&c->request);
    ssize_t sent = send(c->fd, bytes.at + c->request_sent, bytes.len - c->request_sent,
                        MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && errno != EAGAIN)
        r->result.broken = true;
    c->request_sent += sent > 0 ? (size_t)sent : 0;
    struct epoll_event e = { EPOLLIN | (c->request_sent < bytes.len ? EPOLLOUT : 0), { .ptr = c } };
    if (sent < 0 || c->request_sent < bytes.len || c->count == 0)
        epoll_ctl(r->epoll, EPOLL_CTL_MOD, c->fd, &e);
}

static void request_next(struct run *r, struct connection *c)
{
    c->request.len = 0;
    c->request_sent = 0;
    c->head_len = 0;
    c->in_body = false;
    r->load->request(r->load->self, &c->request, c->number, c->count);
    c->sent_at = now_s();
    request_send(r, c);
    c->count++;
}

static void response_done(struct run *r, struct connection *c)
{
    double now = now_s(), us = (now - c->sent_at) * 1e6;
    uint64_t most = r->load->requests_max;

    if (c->status < 200 || c->status > 299) {
        r->result.refused++;
        r->result.refusal = c->status;
    }
    if (r->measuring) {
        r->result.requests++;
        r->buckets[bucket_of(us)]++;
        if (us > r->result.max_us)
            r->result.max_us = us;
    }
    if (now < r->end && (!most || r->result.requests < most))
        request_next(r, c);
    else
        r->result.seconds = now - r->begin;
}

/* The status and the length, once the head is complete. */
static bool head_read(struct connection *c, size_t *body)
{
    char *end = memmem(c->head, c->head_len, "\r\n\r\n", 4);

    if (!end)
        return false;
    *end = '\0';
    c->status = atoi(c->head + 9);
    char *length = strcasestr(c->head, "\r\nContent-Length:");
    c->body_left = length ? strtoul(length + 17, NULL, 10) : 0;
    *body = c->head_len - (size_t)(end + 4 - c->head);
    return true;
}

static bool response_take(struct connection *c, const char *at, size_t len)
{
    if (!c->in_body) {
        size_t take = len < sizeof c->head - 1 - c->head_len ? len
                                                             : sizeof c->head - 1 - c->head_len;
        size_t body, rest = len - take;
        memcpy(c->head + c->head_len, at, take);
        c->head_len += take;
        if (!head_read(c, &body))
            return false;
        c->in_body = true;
        len = body + rest;
    }
    c->body_left -= len < c->body_left ? len : c->body_left;
    return c->body_left == 0;
}

static void connection_turn(struct run *r, struct connection *c, uint32_t events)
{
    if (events & EPOLLOUT)
        request_send(r, c);
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    ssize_t got = recv(c->fd, r->room, RESPONSE_ROOM, MSG_DONTWAIT);
    if (got <= 0) {
        r->result.broken |= got == 0 || errno != EAGAIN;
        return;
    }
    if (response_take(c, r->room, (size_t)got))
        response_done(r, c);
}

/* ---- all of them ---- */

static void run_begin(struct run *r, struct arena *a)
{
    uint32_t count = r->load->connections;

    r->epoll = epoll_create1(EPOLL_CLOEXEC);
    r->room = mem_alloc(RESPONSE_ROOM);
    r->connections = arena_zero(a, count * sizeof *r->connections);
    for (uint32_t i = 0; i < count; i++) {
        struct connection *c = &r->connections[i];
        *c = (struct connection){ .fd = load_connect(r->load->port), .number = i };
        c->request = buf_in(a);
        struct epoll_event e = { EPOLLIN, { .ptr = c } };
        epoll_ctl(r->epoll, EPOLL_CTL_ADD, c->fd, &e);
    }
    r->begin = now_s();
    r->end = r->begin + r->load->seconds * 1.1;
    for (uint32_t i = 0; i < count; i++)
        request_next(r, &r->connections[i]);
}

static void run_end(struct run *r)
{
    for (uint32_t i = 0; i < r->load->connections; i++)
        close(r->connections[i].fd);
    close(r->epoll);
    mem_free(r->room);
}

static double run_cpu_s(const struct run *r)
{
    return r->load->pid ? process_cpu_s(r->load->pid) : 0;
}

static void run_measure(struct run *r)
{
    r->measuring = true;
    r->begin = now_s();
    r->cpu_begin = run_cpu_s(r);
}

static void run_judge(struct run *r)
{
    struct load_result *result = &r->result;

    result->seconds = now_s() - r->begin;
    if (!result->broken && result->requests)
        result->cpu_us = (run_cpu_s(r) - r->cpu_begin) * 1e6 / (double)result->requests;
    result->p50_us = percentile(r, 0.50);
    result->p99_us = percentile(r, 0.99);
}

struct load_result load_run(const struct load *l)
{
    struct arena *a = arena_new();
    struct run r = { .load = l };
    struct epoll_event events[256];
    uint64_t most = l->requests_max;

    run_begin(&r, a);
    while (!r.result.broken && now_s() < r.end && (!most || r.result.requests < most)) {
        if (!r.measuring && now_s() > r.begin + l->seconds * 0.1)
            run_measure(&r);
        int count = epoll_wait(r.epoll, events, 256, 100);
        for (int i = 0; i < count; i++)
            connection_turn(&r, events[i].data.ptr, events[i].events);
    }
    run_judge(&r);
    run_end(&r);
    arena_free(a);
    return r.result;
}

struct load_aside load_begin(const struct load *l)
{
    struct load_aside aside;
    int tell[2];

    if (pipe2(tell, O_CLOEXEC) != 0)
        fail("a pipe", str_from(strerror(errno)));
    fflush(stdout);
    aside.pid = fork();
    if (aside.pid == 0) {
        struct load_result result = load_run(l);
        _exit(write(tell[1], &result, sizeof result) != sizeof result);
    }
    close(tell[1]);
    aside.result = tell[0];
    return aside;
}

struct load_result load_end(struct load_aside *aside)
{
    struct load_result result;

    if (read(aside->result, &result, sizeof result) != sizeof result)
        fail("a load aside", STR("ended without a result"));
    close(aside->result);
    waitpid(aside->pid, NULL, 0);
    return result;
}

/* ---- by hand ---- */

void load_ask(int fd, str request)
{
    while (request.len) {
        ssize_t sent = send(fd, request.at, request.len, MSG_NOSIGNAL);
        if (sent <= 0)
            fail("sending a request", str_from(strerror(errno)));
        request = str_slice(request, (size_t)sent, request.len);
    }
}

int load_answer(struct arena *a, int fd, str *body)
{
    struct connection *c = arena_zero(a, sizeof *c);
    struct buf all = buf_in(a);

    for (bool done = false; !done;) {
        char *at = buf_reserve(&all, RESPONSE_ROOM);
        ssize_t got = recv(fd, at, RESPONSE_ROOM, 0);
        if (got <= 0)
            fail("reading an answer", str_from(got ? strerror(errno) : "the connection ended"));
        all.len += (size_t)got;
        done = response_take(c, at, (size_t)got);
    }
    str text = buf_str(&all);
    const char *head_end = memmem(text.at, text.len, "\r\n\r\n", 4);
    *body = str_slice(text, (size_t)(head_end + 4 - text.at), text.len);
    return c->status;
}

int load_once(struct arena *a, int port, str request, str *body)
{
    int fd = load_connect(port);

    load_ask(fd, request);
    int status = load_answer(a, fd, body);
    close(fd);
    return status;
}
