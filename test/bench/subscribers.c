/* subscribers.c: many WebSocket subscribers who only listen.
 *
 * Frames are counted and not looked into: what they hold is the tests' business. */
#include "bench/subscribers.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/load.h"
#include "bench/set.h"

enum { ROOM = 256 << 10, FRAME_HEAD_MAX = 10, OPCODE_TEXT = 1, HEAR_MS = 30 * 1000 };

struct subscriber_conn {
    int fd;
    unsigned char head[FRAME_HEAD_MAX]; /* of the frame that has begun */
    size_t head_len;
    uint64_t body_left;
    bool in_body;
    uint64_t messages;
};

struct subscribers {
    int epoll;
    uint32_t count;
    struct subscriber_conn *ends;
    unsigned char *room;
    uint64_t wanted; /* messages that each is to have */
    uint32_t behind; /* how many have fewer */
    uint64_t reads, messages, bytes;
};

/* How long the head of a frame is, from its first two bytes; servers do not mask. */
static size_t head_bytes(const unsigned char *head)
{
    unsigned len = head[1] & 127;
    return len == 127 ? 10 : len == 126 ? 4 : 2;
}

static uint64_t body_bytes(const unsigned char *head)
{
    uint64_t len = head[1] & 127;
    size_t bytes = head_bytes(head);

    if (bytes > 2)
        len = 0;
    for (size_t i = 2; i < bytes; i++)
        len = len << 8 | head[i];
    return len;
}

static void frame_done(struct subscribers *a, struct subscriber_conn *e)
{
    e->head_len = 0;
    e->in_body = false;
    if ((e->head[0] & 15) != OPCODE_TEXT)
        return;
    e->messages++;
    a->messages++;
    if (e->messages == a->wanted)
        a->behind--;
}

static void bytes_take(struct subscribers *a, struct subscriber_conn *e, const unsigned char *at,
                       size_t len)
{
    while (len > 0) {
        if (e->in_body) {
            size_t take = len < e->body_left ? len : (size_t)e->body_left;
            e->body_left -= take;
            at += take;
            len -= take;
        } else {
            e->head[e->head_len++] = *at++;
            len--;
            if (e->head_len < 2 || e->head_len < head_bytes(e->head))
                continue;
            e->body_left = body_bytes(e->head);
            e->in_body = true;
        }
        if (e->in_body && e->body_left == 0)
            frame_done(a, e);
    }
}

void subscribers_receive(struct subscribers *a, uint64_t events)
{
    struct epoll_event ready[256];

    a->wanted += events;
    a->behind = 0;
    for (uint32_t i = 0; i < a->count; i++)
        a->behind += a->ends[i].messages < a->wanted;
    while (a->behind > 0) {
        int count = epoll_wait(a->epoll, ready, 256, HEAR_MS);
        if (count <= 0)
            fail("subscribers", STR("did not hear of all events"));
        for (int i = 0; i < count; i++) {
            struct subscriber_conn *e = ready[i].data.ptr;
            ssize_t got = recv(e->fd, a->room, ROOM, MSG_DONTWAIT);
            if (got <= 0)
                fail("a subscriber", str_from(got ? strerror(errno) : "was disconnected"));
            a->reads++;
            a->bytes += (uint64_t)got;
            bytes_take(a, e, a->room, (size_t)got);
        }
    }
}

struct subscribers_received subscribers_received(struct subscribers *a)
{
    struct subscribers_received heard = { 0 };

    if (a->messages)
        heard = (struct subscribers_received){ (double)a->messages / (double)a->reads,
                                               (double)a->bytes / (double)a->messages };
    a->reads = a->messages = a->bytes = 0;
    return heard;
}

/* A mask of zeros is one too. */
static void subscribe(int fd)
{
    static const char text[] = "{\"action\":\"subscribe\",\"types\":[\"workflow_state_updated\"]}";
    char frame[6 + sizeof text] = { (char)0x81, (char)(0x80 | (sizeof text - 1)) };

    memcpy(frame + 6, text, sizeof text - 1);
    load_ask(fd, (str){ frame, 6 + sizeof text - 1 });
}

struct subscribers *subscribers_new(int port, const char *token, uint32_t count)
{
    struct subscribers *a = mem_alloc(sizeof *a);
    struct arena *scratch = arena_new();
    char request[512];
    str none;

    *a = (struct subscribers){ .epoll = epoll_create1(EPOLL_CLOEXEC), .count = count };
    a->room = mem_alloc(ROOM);
    a->ends = mem_alloc(count * sizeof *a->ends);
    snprintf(request, sizeof request,
             "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
             "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
             token);
    for (uint32_t i = 0; i < count; i++) {
        struct subscriber_conn *e = &a->ends[i];
        *e = (struct subscriber_conn){ .fd = load_connect(port) };
        struct epoll_event event = { EPOLLIN, { .ptr = e } };
        load_ask(e->fd, str_from(request));
        if (load_answer(scratch, e->fd, &none) != 101)
            fail("a subscriber", STR("was not let in"));
        subscribe(e->fd);
        epoll_ctl(a->epoll, EPOLL_CTL_ADD, e->fd, &event);
        arena_reset(scratch);
    }
    arena_free(scratch);
    subscribers_receive(a, 1); /* what the subscription begins at */
    subscribers_received(a);
    return a;
}

void subscribers_free(struct subscribers *a)
{
    for (uint32_t i = 0; i < a->count; i++)
        close(a->ends[i].fd);
    close(a->epoll);
    mem_free(a->ends);
    mem_free(a->room);
    mem_free(a);
}
