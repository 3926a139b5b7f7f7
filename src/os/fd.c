/* fd.c: descriptors: pipes, signals, who is at the other end. */
#define _GNU_SOURCE /* pipe2, close_range, memfd_create, struct ucred */
#include "os/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

bool pipe_open(int ends[2])
{
    return pipe2(ends, O_CLOEXEC) == 0;
}

void fds_close_from(int first)
{
    close_range((unsigned)first, ~0u, 0);
}

int pipe_reopen(int fd)
{
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

int memory_open(void)
{
    return memfd_create("memory", MFD_CLOEXEC);
}

int signals_open(const sigset_t *blocked)
{
    return signalfd(-1, blocked, SFD_NONBLOCK | SFD_CLOEXEC);
}

int signals_next(int fd)
{
    struct signalfd_siginfo info;

    return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

int wake_open(void)
{
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

bool socket_peer(int fd, uint32_t *uid, int64_t *pid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    *uid = peer.uid;
    *pid = peer.pid;
    return true;
}
