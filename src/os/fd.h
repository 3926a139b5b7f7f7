/* fd.h: descriptors: pipes, signals, who is at the other end. */
#ifndef OS_FD_H
#define OS_FD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Both ends are closed by an exec. False: errno says why. */
bool pipe_open(int ends[2]);

/* From this one on, none is open any more. */
void fds_close_from(int first);

/* The same pipe, opened for writing once more, with flags of its own, and never made to wait.
 * −1: the system cannot. */
int pipe_reopen(int fd);

/* A file that is in memory alone; −1: errno says why. */
int memory_open(void);

/* Gives signals that are blocked, without waiting; −1: errno says why. */
int signals_open(const sigset_t *blocked);

/* The number of the next one; 0: there is none. */
int signals_next(int fd);

/* A counter to wake a poll with: eight bytes, as a uint64_t, are written to it and read from it. */
int wake_open(void);

/* The process at the other end of a Unix socket, as it was when it connected; false: not known. */
bool socket_peer(int fd, uint32_t *uid, int64_t *pid);

#endif
