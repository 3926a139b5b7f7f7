/* mcp_relay.c: what no program that passes lines on to a server can be faster than.
 *
 * One process passes bytes from a pipe to a socket and back, another answers each line with as many
 * bytes as a server would. Both wait for events, awake as ours are, and never fall asleep over it
 * while the other works; neither looks at what it is given. */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/busy_poll.h"
#include "bench/mcp_load.h"
#include "bench/set.h"
#include "bench/target.h"

enum { PIECE = 64 << 10 };

static bool send_all(int fd, const char *at, size_t len)
{
    while (len > 0) {
        ssize_t sent = write(fd, at, len);
        if (sent <= 0)
            return false;
        at += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* For a moment awake. */
static bool wait_for(struct pollfd *fds, nfds_t count)
{
    double until_s = now_s() + BUSY_POLL_US / 1e6;

    do {
        if (poll(fds, count, 0) > 0)
            return true;
        sched_yield();
    } while (now_s() < until_s);
    return poll(fds, count, -1) > 0;
}

/* Waits for an event and then reads, as everything must that serves more than one. */
static ssize_t next_piece(int fd, char *piece)
{
    struct pollfd one = { fd, POLLIN, 0 };

    return wait_for(&one, 1) ? read(fd, piece, PIECE) : -1;
}

/* What one read gave is answered by one write. */
static void answer_lines(int fd, size_t bytes)
{
    struct arena *a = arena_new();
    char *in = arena_alloc(a, PIECE);
    struct buf out = buf_in(a);

    for (ssize_t got; (got = next_piece(fd, in)) > 0;) {
        out.len = 0;
        for (ssize_t i = 0; i < got; i++)
            if (in[i] == '\n') {
                char *at = buf_reserve(&out, bytes);
                memset(at, 'x', bytes - 1);
                at[bytes - 1] = '\n';
                out.len += bytes;
            }
        if (!send_all(fd, out.at, out.len))
            break;
    }
    arena_free(a);
}

static bool pass(int from, int to, char *piece)
{
    ssize_t got = read(from, piece, PIECE);

    return got > 0 && send_all(to, piece, (size_t)got);
}

static void pass_both_ways(int in, int out, int server)
{
    struct pollfd fds[] = { { in, POLLIN, 0 }, { server, POLLIN, 0 } };
    char *piece = mem_alloc(PIECE);
    bool goes_on = true;

    while (goes_on && wait_for(fds, 2)) {
        if (fds[0].revents)
            goes_on = pass(in, server, piece);
        if (goes_on && fds[1].revents)
            goes_on = pass(server, out, piece);
    }
    mem_free(piece);
}

/* A process of its own; 0: this is it. */
static pid_t part_start(void)
{
    pid_t pid = fork();

    if (pid < 0)
        fail("a process", str_from(strerror(errno)));
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

struct mcp_pipe mcp_relay_start(size_t answer_bytes, pid_t *server)
{
    struct arena *a = arena_new();
    struct mcp_pipe p = { .arena = a, .lines = buf_in(a), .room = mem_alloc(MCP_ROOM + 1) };
    int to[2], from[2], line[2];

    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0)
        fail("a pipe", str_from(strerror(errno)));
    *server = part_start();
    if (*server == 0) {
        close(line[1]);
        close(to[1]);
        answer_lines(line[0], answer_bytes);
        _exit(0);
    }
    close(line[0]);
    p.pid = part_start();
    if (p.pid == 0) {
        close(to[1]);
        pass_both_ways(to[0], from[1], line[1]);
        _exit(0);
    }
    close(line[1]);
    close(to[0]);
    close(from[1]);
    p.to = to[1];
    p.from = from[0];
    return p;
}
