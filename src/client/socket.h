/* socket.h: bytes to and from a server, each step until a time and no longer.
 *
 * Knows TCP and Unix sockets, and no protocol above them. */
#ifndef CLIENT_SOCKET_H
#define CLIENT_SOCKET_H

#include "client/endpoint.h"

/* A clock that never jumps; deadlines are times of it, in milliseconds. */
int64_t socket_clock_ms(void);
int64_t socket_clock_us(void);

/* Connects. UNAVAILABLE: nothing listens there, or not in time. */
err socket_open(struct arena *a, const struct endpoint *p, int64_t until_ms, int *fd);

enum socket_result {
    SOCKET_DONE,
    SOCKET_LOST, /* the other end has gone, or never was there */
    SOCKET_LATE, /* the time is over */
};

/* Sends all of it. */
enum socket_result socket_send(int fd, str bytes, int64_t until_ms);

/* At least one byte; *n is 0 when the other end has closed in peace. */
enum socket_result socket_receive(int fd, char *at, size_t room, int64_t until_ms, size_t *n);

/* Whether there is something to receive at once: of an idle connection that is its end. */
bool socket_ready(int fd);

#endif
