/* child.c: processes that are talked to, each until a time. */
#define _GNU_SOURCE
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/socket.h"
#include "os/fd.h"

enum { PIECE = 16 << 10, OUTPUT_MAX = 16 << 20, ERRORS_MAX = 8000, LOOK_MS = 10 };

/* It is a group of its own, so that what it starts can be ended with it. */
static void become(struct doctor *d, const char *const *argv, int in, int out, int errors)
{
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    fds_close_from(STDERR_FILENO + 1);
    if (chdir(d->root.at) == 0 && setenv("PWD", d->root.at, 1) == 0)
        execvp(argv[0], (char *const *)argv);
    _exit(127);
}

/* Standard error goes into memory: nobody has to empty it while the process runs. */
err child_start(struct doctor *d, const char *const *argv, int64_t time_ms,
                struct doctor_child *out)
{
    int in[2] = { -1, -1 }, from[2] = { -1, -1 };

    *out = (struct doctor_child){ .arena = d->arena,
                                  .output = buf_in(d->arena),
                                  .until_ms = socket_clock_ms() + time_ms };
    out->errors = memory_open();
    bool made = pipe_open(in) && pipe_open(from) && out->errors >= 0;
    cli_flush(d->cli);
    out->pid = made ? fork() : -1;
    if (out->pid == 0)
        become(d, argv, in[0], from[1], out->errors);
    close(in[0]);
    close(from[1]);
    out->in = in[1];
    out->out = from[0];
    if (out->pid > 0)
        return NULL;
    close(out->in);
    close(out->out);
    close(out->errors);
    return err_new(d->arena, ERR_UNAVAILABLE, "cannot start %s: %s", argv[0], strerror(errno));
}

/* Whether the descriptor can be used before the time is over. */
static bool in_time(struct doctor_child *c, int fd, short events)
{
    struct pollfd p = { .fd = fd, .events = events };
    int64_t left = c->until_ms - socket_clock_ms();
    int n = left > 0 ? poll(&p, 1, (int)left) : 0;

    c->late = c->late || n == 0;
    return n > 0;
}

void child_send(struct doctor_child *c, str text)
{
    while (text.len && in_time(c, c->in, POLLOUT)) {
        ssize_t n = write(c->in, text.at, text.len);
        if (n < 0 && errno != EINTR)
            return; /* it reads no more; what it said tells why */
        text = str_slice(text, n > 0 ? (size_t)n : 0, text.len);
    }
}

void child_close(struct doctor_child *c)
{
    if (c->in >= 0)
        close(c->in);
    c->in = -1;
}

bool child_line(struct doctor_child *c, str *line)
{
    for (bool more = true;;) {
        str all = buf_str(&c->output), rest = str_slice(all, c->taken, all.len);
        size_t end = str_find(rest, '\n');
        if (end < rest.len || (!more && rest.len)) {
            *line = arena_copy(c->arena, str_slice(rest, 0, end));
            c->taken += end < rest.len ? end + 1 : end;
            return true;
        }
        if (!more || all.len > OUTPUT_MAX || !in_time(c, c->out, POLLIN))
            return false;
        ssize_t n = read(c->out, buf_reserve(&c->output, PIECE), PIECE);
        c->output.len += n > 0 ? (size_t)n : 0;
        more = n > 0 || (n < 0 && errno == EINTR);
    }
}

static str errors_read(struct doctor_child *c)
{
    struct buf text = buf_in(c->arena);
    ssize_t n = pread(c->errors, buf_reserve(&text, ERRORS_MAX), ERRORS_MAX, 0);

    text.len = n > 0 ? (size_t)n : 0;
    return str_trim(buf_str(&text));
}

int child_end(struct doctor_child *c, str *errors)
{
    int status = -1;

    child_close(c);
    while (waitpid(c->pid, &status, WNOHANG) == 0) {
        if (socket_clock_ms() > c->until_ms) {
            c->late = true;
            kill(-c->pid, SIGKILL);
            waitpid(c->pid, &status, 0);
            break;
        }
        poll(NULL, 0, LOOK_MS);
    }
    *errors = errors_read(c);
    close(c->out);
    close(c->errors);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
