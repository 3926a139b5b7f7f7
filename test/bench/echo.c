/* echo.c: servers that do nothing, to see what the rest costs. */
#define _GNU_SOURCE
#include "bench/echo.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/set.h"
#include "wire/http/parse.h"
#include "wire/http/text.h"
#include "wire/loop.h"

/* ---- what both answer ---- */

static void answer_write(struct buf *out, str body)
{
    http_write_status(out, 200);
    http_write_field(out, STR("Content-Type"), STR("application/json"));
    http_write_field(out, STR("Cache-Control"), STR("no-store"));
    http_write_field(out, STR("ETag"), STR("\"1\""));
    http_write_field(out, STR("Date"), STR("Mon, 16 Nov 2026 00:00:00 GMT"));
    http_write_number(out, STR("Content-Length"), (int64_t)body.len);
    http_write_end(out);
}

/* ---- on our loop ---- */

struct client {
    struct link *link;
    struct echo *echo;
    struct arena *arena;
    struct http_parser parser;
    struct buf head;
    struct client *next; /* in the queue of the log */
    bool queued, ended;  /* the peer may go while its body is in that queue */
};

struct echo {
    struct loop *loop;
    str document;

    /* ECHO_LOG: clients whose bodies wait to be written, and those that are. */
    int log;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct client *waiting, **waiting_end, *written;
    struct wakeup *wakeup;
};

static void client_again(struct client *c)
{
    arena_reset(c->arena);
    http_parser_init(&c->parser, c->arena, NULL);
}

static void client_answer(struct client *c)
{
    const struct http_request *r = &c->parser.request;
    str body = str_eq(r->method, STR("GET")) ? c->echo->document : r->body;
    struct buf head = buf_in(c->arena);

    answer_write(&head, body);
    if (link_send(c->link, (str[]){ buf_str(&head), body }, 2))
        client_again(c);
}

static void log_put(struct client *c)
{
    struct echo *e = c->echo;

    c->queued = true;
    pthread_mutex_lock(&e->lock);
    c->next = NULL;
    *e->waiting_end = c;
    e->waiting_end = &c->next;
    pthread_cond_signal(&e->wake);
    pthread_mutex_unlock(&e->lock);
}

static void client_bytes(void *owner, str bytes)
{
    struct client *c = owner;
    enum http_result result;
    size_t used;

    do {
        result = http_parse(&c->parser, bytes, &used);
        bytes = str_slice(bytes, used, bytes.len);
    } while (result == HTTP_HEAD_DONE);
    if (result == HTTP_REFUSED)
        link_close(c->link);
    else if (result == HTTP_REQUEST_DONE && c->echo->log >= 0)
        log_put(c);
    else if (result == HTTP_REQUEST_DONE)
        client_answer(c);
}

static void client_sent(void *owner)
{
    client_again(owner);
}

static void client_ended(void *owner)
{
    struct client *c = owner;

    c->ended = true;
    if (!c->queued)
        link_close(c->link);
}

static void client_closed(void *owner)
{
    struct client *c = owner;

    arena_free(c->arena);
    mem_free(c);
}

static void client_accept(void *owner, struct link *link)
{
    static const struct link_events events = { client_bytes, client_sent, client_ended,
                                               client_closed };
    struct client *c = mem_alloc(sizeof *c);

    *c = (struct client){ .link = link, .echo = owner, .arena = arena_new() };
    client_again(c);
    link_open(link, &events, c);
}

static void *log_writer(void *owner)
{
    struct echo *e = owner;

    for (;;) {
        pthread_mutex_lock(&e->lock);
        while (!e->waiting)
            pthread_cond_wait(&e->wake, &e->lock);
        struct client *batch = e->waiting, *last = batch;
        e->waiting = NULL;
        e->waiting_end = &e->waiting;
        pthread_mutex_unlock(&e->lock);
        for (struct client *c = batch; c; last = c, c = c->next)
            if (write(e->log, c->parser.request.body.at, c->parser.request.body.len) < 0)
                fail("writing the log", str_from(strerror(errno)));
        fdatasync(e->log);
        pthread_mutex_lock(&e->lock);
        last->next = e->written;
        e->written = batch;
        pthread_mutex_unlock(&e->lock);
        wakeup_send(e->wakeup);
    }
    return NULL;
}

static void log_written(void *owner)
{
    struct echo *e = owner;

    pthread_mutex_lock(&e->lock);
    struct client *c = e->written;
    e->written = NULL;
    pthread_mutex_unlock(&e->lock);
    while (c) {
        struct client *next = c->next;
        c->queued = false;
        if (c->ended)
            link_close(c->link);
        else
            client_answer(c);
        c = next;
    }
}

static void loop_serve(str document, const char *log_path, int tell)
{
    struct echo e = { .loop = loop_new(), .document = document, .log = -1 };
    struct listener *listener;
    uint16_t port = 0;
    pthread_t writer;

    if (log_path) {
        e.log = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
        e.waiting_end = &e.waiting;
        pthread_mutex_init(&e.lock, NULL);
        pthread_cond_init(&e.wake, NULL);
        e.wakeup = wakeup_new(e.loop, log_written, &e);
        pthread_create(&writer, NULL, log_writer, &e);
    }
    err failed =
        loop_listen_tcp(e.loop, arena_new(), STR("127.0.0.1"), &port, client_accept, &e, &listener);
    if (failed)
        fail("listening", failed->message);
    dprintf(tell, "%d\n", port);
    loop_run(e.loop);
}

/* ---- on bare epoll ---- */

enum { ROOM = 64 << 10 };

/* A request is expected to come in one piece, which a load of small ones on one machine does. */
static void epoll_answer(int fd, const char *answer, size_t answer_len)
{
    static char room[ROOM];
    ssize_t got = recv(fd, room, sizeof room, 0);

    if (got <= 0) {
        close(fd);
        return;
    }
    if (memmem(room, (size_t)got, "\r\n\r\n", 4))
        send(fd, answer, answer_len, MSG_NOSIGNAL);
}

/* A socket that listens; its port is told. */
static int listener_bare(int flags, int tell)
{
    int listener = socket(AF_INET, SOCK_STREAM | flags, 0);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t len = sizeof at;

    if (bind(listener, (struct sockaddr *)&at, len) || listen(listener, 1024) ||
        getsockname(listener, (struct sockaddr *)&at, &len))
        fail("listening", str_from(strerror(errno)));
    dprintf(tell, "%d\n", ntohs(at.sin_port));
    return listener;
}

static void epoll_serve(str document, int tell)
{
    int listener = listener_bare(SOCK_NONBLOCK, tell), poll = epoll_create1(0), on = 1;
    struct buf answer = buf_in(arena_new());
    struct epoll_event events[256], e = { EPOLLIN, { .fd = listener } };

    answer_write(&answer, document);
    buf_add(&answer, document);
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &e);
    for (;;) {
        int count = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd != listener) {
                epoll_answer(events[i].data.fd, answer.at, answer.len);
                continue;
            }
            int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            e.data.fd = fd;
            epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e);
        }
    }
}

/* ---- to many ---- */

/* Takes the handshake and the subscription, and answers each. */
static int fan_accept(int listener)
{
    char room[1024];
    int fd = accept(listener, NULL, NULL), on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (recv(fd, room, sizeof room, 0) <= 0 ||
        send(fd, "HTTP/1.1 101 Switching Protocols\r\n\r\n", 36, MSG_NOSIGNAL) != 36 ||
        recv(fd, room, sizeof room, 0) <= 0 || send(fd, "\x81\x02{}", 4, MSG_NOSIGNAL) != 4)
        fail("a subscriber", STR("went away"));
    return fd;
}

static void fan_serve(uint32_t subscribers, size_t frame_bytes, int tell, int heard)
{
    int listener = listener_bare(0, tell);
    int *fds = mem_alloc(subscribers * sizeof *fds);
    unsigned char *frame = mem_alloc(frame_bytes);

    memset(frame, ' ', frame_bytes);
    memcpy(frame,
           (unsigned char[]){ 0x81, 126, (unsigned char)((frame_bytes - 4) >> 8),
                              (unsigned char)(frame_bytes - 4) },
           4);
    for (uint32_t i = 0; i < subscribers; i++)
        fds[i] = fan_accept(listener);
    for (char byte; read(heard, &byte, 1) == 1;)
        for (uint32_t i = 0; i < subscribers; i++)
            if (send(fds[i], frame, frame_bytes, MSG_NOSIGNAL) < 0)
                fail("a subscriber", str_from(strerror(errno)));
}

/* ---- processes ---- */

/* The child tells its port by a line. */
static void port_read(int from, int *port)
{
    char text[16] = "";

    if (read(from, text, sizeof text - 1) <= 0)
        fail("a server that echoes", STR("did not start"));
    *port = atoi(text);
    close(from);
}

static void pipe_make(int ends[2])
{
    if (pipe(ends) != 0)
        fail("a pipe", str_from(strerror(errno)));
}

pid_t echo_start(enum echo_kind kind, const char *document, const char *log_path, int *port)
{
    int tell[2];

    pipe_make(tell);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (kind == ECHO_EPOLL)
            epoll_serve(str_from(document), tell[1]);
        else
            loop_serve(str_from(document), kind == ECHO_LOG ? log_path : NULL, tell[1]);
        _exit(0);
    }
    close(tell[1]);
    port_read(tell[0], port);
    return pid;
}

pid_t echo_fan_start(uint32_t subscribers, size_t frame_bytes, int *port, int *tell)
{
    int ports[2], turns[2];

    pipe_make(ports);
    pipe_make(turns);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(turns[1]); /* or its own end would never be the last */
        fan_serve(subscribers, frame_bytes, ports[1], turns[0]);
        _exit(0);
    }
    close(ports[1]);
    close(turns[0]);
    port_read(ports[0], port);
    *tell = turns[1];
    return pid;
}
