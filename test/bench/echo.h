/* echo.h: servers that do nothing, to see what the rest costs.
 *
 * ECHO_LOOP is our own loop and parser with a fixed answer; ECHO_EPOLL is a bare
 * epoll server that finds the end of a request and no more; ECHO_LOG is our loop
 * with a thread that appends each request's body to a file, one fdatasync for all
 * that waited, and answers after it: the least that a durable write can cost.
 *
 * GET is answered by a document of 1 KB, anything else by its own body. */
#ifndef BENCH_ECHO_H
#define BENCH_ECHO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum echo_kind { ECHO_LOOP, ECHO_EPOLL, ECHO_LOG };

/* Starts one in a process of its own; gives its pid and port. */
pid_t echo_start(enum echo_kind kind, const char *document, const char *log_path, int *port);

/* Lets that many WebSockets in and then, at each byte that is written to *tell, sends every one of
 * them a frame of that length, by one call to the system: the least that a delivery can cost. */
pid_t echo_fan_start(uint32_t subscribers, size_t frame_bytes, int *port, int *tell);

#endif
