/* stop_verb.c: baton stop: ends the server of a data directory of this machine.
 *
 * The process that server.json names is ended only if it is the one that listens on the directory's
 * socket, or, where there is no socket, if it is a `baton serve` while the directory is in use: a
 * number that was given to another process since is left alone. */
#include "app/stop_verb.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "app/data.h"
#include "cli/call.h"
#include "client/socket.h"
#include "json/write.h"
#include "os/fd.h"
#include "os/processes.h"

enum {
    ASK_MS = 2000,
    WAIT_MS = 30000, /* beyond its stop_time, unless that is set to more */
    LOOK_MS = 20,
    SHOWN_MAX = 10,
    ARGUMENTS_BYTES = 4096,
};

struct stop {
    struct cli *cli;
    struct arena *arena;
    str dir, url;
    int64_t pid;
    struct process process;
    struct json running; /* names of sessions that are at work */
};

/* Whether some server has the directory. */
static bool is_used(struct stop *s)
{
    int fd = open(data_path(s->arena, s->dir, "baton.lock").at, O_RDWR | O_CLOEXEC);
    bool used = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;

    if (fd >= 0)
        close(fd);
    return used;
}

/* The process at the other end of its socket; 0: it has none, or nobody is there. */
static int64_t listening(struct stop *s)
{
    struct endpoint endpoint;
    int64_t pid = 0;
    uint32_t uid;
    int fd;

    if (endpoint_find(s->arena, s->dir.at, &endpoint) || endpoint.url.scheme != URL_UNIX ||
        socket_open(s->arena, &endpoint, socket_clock_ms() + ASK_MS, &fd))
        return 0;
    if (!socket_peer(fd, &uid, &pid))
        pid = 0;
    close(fd);
    return pid;
}

static bool serves(int64_t pid)
{
    char arguments[ARGUMENTS_BYTES];
    size_t len = process_arguments(pid, arguments, sizeof arguments);

    for (size_t at = 0; at < len; at += strnlen(arguments + at, len - at) + 1)
        if (strncmp(arguments + at, "serve", len - at) == 0)
            return true;
    return false;
}

static err server_find(struct stop *s)
{
    const struct json *server = NULL;
    str text;

    TRY(data_read(s->arena, data_path(s->arena, s->dir, "server.json"), &text));
    if (!text.len || json_parse(s->arena, text, NULL, &server) || !json_int_or(server, "pid", 0))
        return err_new(s->arena, ERR_CONFLICT,
                       STR_FMT " is used by a server that is starting or stopping: try again in a "
                               "moment",
                       STR_ARG(s->dir));
    s->pid = json_int_or(server, "pid", 0);
    s->url = json_str(server, "url");
    int64_t found = json_str(server, "socket").len ? listening(s) : serves(s->pid) ? s->pid : 0;
    if (found != s->pid || !process_read(PROCESSES, s->pid, &s->process))
        return err_new(s->arena, ERR_CONFLICT,
                       STR_FMT "/server.json names the process %lld, but that is not the server of "
                               "this directory: nothing was stopped; end the server where it was "
                               "started",
                       STR_ARG(s->dir), (long long)s->pid);
    return NULL;
}

/* Who is at work, for those who want to know; a server that does not say is stopped all the same. */
static void running_ask(struct stop *s)
{
    struct url_param running = { "status", STR("running") };
    struct json sessions = json_array();
    struct caller k;
    bool cut;

    caller_init(&k, s->dir.at);
    k.timeout_ms = ASK_MS;
    if (!call_pages(&k, s->arena, "/sessions", &running, "sessions", 500, &sessions, &cut))
        for (uint32_t i = 0; i < sessions.len; i++)
            json_push(s->arena, &s->running,
                      json_string(json_str(&sessions.items[i], "session_name")));
    caller_release(&k);
}

static bool is_gone(const struct stop *s)
{
    struct process now;

    return !process_read(PROCESSES, s->pid, &now) || now.ended ||
           strcmp(now.start, s->process.start) != 0;
}

static err end(struct stop *s)
{
    int64_t until_ms = socket_clock_ms() + WAIT_MS;

    if (kill((pid_t)s->pid, SIGTERM) < 0 && errno != ESRCH)
        return err_new(s->arena, ERR_FORBIDDEN, "cannot end the process %lld: %s",
                       (long long)s->pid, strerror(errno));
    while (!is_gone(s)) {
        if (socket_clock_ms() >= until_ms)
            return err_new(s->arena, ERR_UNAVAILABLE,
                           "the server, pid %lld, was told to end and has not after %d s: it waits "
                           "for requests, or is stuck; `kill -9 %lld` ends it, and nothing that it "
                           "acknowledged is lost",
                           (long long)s->pid, WAIT_MS / 1000, (long long)s->pid);
        poll(NULL, 0, LOOK_MS);
    }
    return NULL;
}

static void print(struct stop *s, bool stopped)
{
    struct buf out = buf_in(s->arena);
    struct json_writer w = json_writer_to(&out);

    if (s->cli->json) {
        json_write_begin(&w, '{');
        json_write_name(&w, STR("stopped"));
        json_write_bool(&w, stopped);
        write_text(&w, STR("data"), s->dir);
        if (stopped) {
            write_int(&w, STR("pid"), s->pid);
            write_text(&w, STR("url"), s->url);
            json_write_name(&w, STR("running"));
            json_write_value(&w, &s->running);
        }
        json_write_end(&w, '}');
    } else if (!stopped) {
        buf_printf(&out, "nothing to stop: no server is running for " STR_FMT, STR_ARG(s->dir));
    } else {
        buf_printf(&out, "stopped the server at " STR_FMT " (pid %lld, " STR_FMT ")",
                   STR_ARG(s->url), (long long)s->pid, STR_ARG(s->dir));
        for (uint32_t i = 0; i < s->running.len && i < SHOWN_MAX; i++)
            buf_printf(&out, "%s" STR_FMT, i ? ", " : "\nat work, and going on without it: ",
                       STR_ARG(json_text(&s->running.items[i])));
        if (s->running.len > SHOWN_MAX)
            buf_printf(&out, " and %u more", s->running.len - SHOWN_MAX);
        if (s->running.len)
            buf_add(&out, STR("; what they did is reported when a server is back"));
    }
    buf_byte(&out, '\n');
    cli_write(s->cli, buf_str(&out));
}

err stop_run(struct cli *c)
{
    const char *data = cli_value(c, "--data"), *url = getenv("BATON_URL");
    struct stop s = { .cli = c, .arena = c->arena, .running = json_array() };

    if (!data && url && *url)
        return err_new(c->arena, ERR_INVALID,
                       "BATON_URL names the server at %s, and only one of a data directory of this "
                       "machine can be stopped: give it with --data DIR",
                       url);
    TRY(data_dir_find(c->arena, data, &s.dir));
    if (!is_used(&s)) {
        print(&s, false);
        return NULL;
    }
    TRY(server_find(&s));
    running_ask(&s);
    TRY(end(&s));
    print(&s, true);
    return NULL;
}

// clang-format off
const struct option stop_options[] = {
    { "--json", 0, NULL,  "one line of JSON, and errors as JSON too" },
    { "--data", 0, "DIR", "the server of this data directory" },
    { 0 },
};
// clang-format on

const char stop_details[] =
    "What is in flight is answered first. It returns when the server has ended, and is\n"
    "content when there was none. Agents that are at work go on; their ends are\n"
    "reported when a server is back.\n"
    "\n"
    "Exit codes: 0 there is no server any more; 6 the one that is there is not the one\n"
    "that DIR names; 14 it has not ended after 30 s.";
