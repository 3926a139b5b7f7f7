/* process.c: what the server asks of the system for the whole process. */
#include "app/process.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/clock.h"
#include "base/date.h"

enum { LARGE_BYTES = 256 << 10 }; /* of one allocation */

/* ---- the log ---- */

/* A line goes out in one call, so that those of several threads do not mix. */
static void line_write(void *to, enum log_level level, str line)
{
    static const char *const names[] = {
        [LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn", [LOG_ERROR] = "error"
    };
    char time[DATE_TEXT_MAX], text[4096];
    str now = date_print(time, clock_wall_ms());
    int saved = errno;

    (void)to;
    int len = snprintf(text, sizeof text, STR_FMT " %s " STR_FMT, STR_ARG(now), names[level],
                       STR_ARG(line));
    if (len >= (int)sizeof text) {
        len = sizeof text;
        text[len - 1] = '\n';
    }
    while (write(STDERR_FILENO, text, (size_t)len) < 0 && errno == EINTR)
        ;
    errno = saved;
}

void process_log(enum log_level least)
{
    log_to(least, line_write, NULL);
}

/* ---- limits and signals ---- */

uint64_t process_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    struct rlimit raised = { limit.rlim_max, limit.rlim_max };
    return setrlimit(RLIMIT_NOFILE, &raised) < 0 ? limit.rlim_cur : raised.rlim_cur;
}

/* glibc takes what was freed once from its heaps from then on, up to 32 MiB at a time, and heaps have
 * holes: a server under load had half as much again as it used. What is large is mapped by itself,
 * and goes back when it is freed. */
static void memory_give_back(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
#endif
}

void process_prepare(void)
{
    umask(077);
    signal(SIGPIPE, SIG_IGN);
    memory_give_back();
}

/* The texts are overwritten too, since /proc shows those that the process was started with. */
void process_forget(void)
{
    static const char *const names[] = { "PGPASSWORD", "BATON_STORE", "BATON_TOKEN" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *value = getenv(names[i]);
        if (value)
            memset(value, 0, strlen(value));
        unsetenv(names[i]);
    }
}

/* ---- the service manager ---- */

void process_notify(const char *message)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    const char *path = getenv("NOTIFY_SOCKET");
    size_t len = path ? strlen(path) : 0;

    if (len == 0 || len >= sizeof to.sun_path)
        return;
    memcpy(to.sun_path, path, len);
    if (path[0] == '@')
        to.sun_path[0] = '\0'; /* a name that is in no folder */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    if (fd < 0 ||
        sendto(fd, message, strlen(message), MSG_NOSIGNAL, (struct sockaddr *)&to, size) < 0)
        log_warn("notify", LOG_S("socket", str_from(path)),
                 LOG_S("error", str_from(strerror(errno))));
    if (fd >= 0)
        close(fd);
}
