/* keeper.c: one run from its claim to its end, in a process of its own. */
#define _GNU_SOURCE
#include "runner/keeper.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/date.h"
#include "base/log.h"
#include "client/socket.h"
#include "os/fd.h"
#include "runner/keeper_private.h"

enum {
    TERM_MS = 5000,   /* between asking an agent to end and ending it, unless told otherwise */
    TICK_MS = 50,     /* how often one looks whether all of it has ended */
    PIECE = 64 << 10, /* bytes that are read at once */
    STDERR_TAIL = 4 << 10,
    COMMAND_RESULT = 64 << 10,
    LEASE_LEAST_MS = 300,
    PLACE_BYTES_MAX = 1000, /* a longer folder is not told: the server would not take it */
    END_PATIENCE_MS = 24 * 3600 * 1000, /* for a server that is away */
};

/* ---- what it writes ---- */

static void stdout_line(void *self, str line)
{
    struct keeper *k = self;
    heartbeat_output(k->heartbeat, HEARTBEAT_STDOUT, line);
}

static void stderr_line(void *self, str line)
{
    struct keeper *k = self;
    heartbeat_output(k->heartbeat, HEARTBEAT_STDERR, line);
}

/* Reads what is there, but not for longer than one piece; closes it at its end. */
static void read_some(struct keeper *k, int *fd, struct stream *to)
{
    char piece[PIECE];

    if (*fd < 0)
        return;
    ssize_t n = read(*fd, piece, sizeof piece);
    if (n > 0) {
        stream_feed(to, (str){ piece, (size_t)n });
        struct stream_facts f = stream_facts(k->out);
        heartbeat_facts(k->heartbeat, f.client_id, f.heard);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(*fd);
        *fd = -1;
    }
}

/* All that is left of it, once nobody writes any more. */
static void read_rest(struct keeper *k)
{
    for (int *fd = &k->out_fd; *fd >= 0;) {
        struct pollfd p = { .fd = *fd, .events = POLLIN };
        if (poll(&p, 1, 0) <= 0)
            break;
        read_some(k, fd, k->out);
    }
    for (int *fd = &k->err_fd; *fd >= 0;) {
        struct pollfd p = { .fd = *fd, .events = POLLIN };
        if (poll(&p, 1, 0) <= 0)
            break;
        read_some(k, fd, k->err);
    }
    stream_end(k->out);
    stream_end(k->err);
}

/* ---- its life ---- */

/* The first reason counts; a lost run stays lost. */
static void end_because(struct keeper *k, enum reason why)
{
    int64_t term_ms;

    if (k->why == BY_ITSELF || why == LOST)
        k->why = why;
    if (k->kill_ms)
        return;
    if (!duration_parse(str_from(getenv("BATON_AGENT_STOP_TIME")), &term_ms))
        term_ms = TERM_MS;
    k->kill_ms = socket_clock_ms() + term_ms;
    exec_signal(SIGTERM, k->pid);
}

static void signals_take(struct keeper *k)
{
    int number;

    while ((number = signals_next(k->signal_fd))) {
        if (number == SIGUSR1)
            end_because(k, STOPPED);
        if (number == SIGTERM)
            end_because(k, SHUT_DOWN);
    }
}

static void word_take(struct keeper *k)
{
    uint64_t count;
    ssize_t n = read(k->wake_fd, &count, sizeof count);
    enum heartbeat_word word = heartbeat_word(k->heartbeat);

    (void)n;
    if (word == HEARTBEAT_STOP)
        end_because(k, STOPPED);
    if (word == HEARTBEAT_LOST && !k->ended)
        end_because(k, LOST);
}

static int64_t wait_ms(const struct keeper *k)
{
    int64_t left = k->deadline_ms - socket_clock_ms();

    if (k->kill_ms)
        return TICK_MS;
    return left < 0 ? 0 : left < 60000 ? left : 60000;
}

/* Ends the rest when the agent itself has ended, and all of it when it has to. True: nothing of it
 * is there any more. */
static bool is_gone(struct keeper *k)
{
    int status;

    if (!k->ended && waitpid(k->pid, &status, WNOHANG) == k->pid) {
        k->ended = true;
        k->status = status;
        end_because(k, BY_ITSELF);
    }
    if (!k->ended && socket_clock_ms() >= k->deadline_ms)
        end_because(k, TIMED_OUT);
    if (!k->kill_ms)
        return false;
    bool late = socket_clock_ms() >= k->kill_ms;
    return exec_signal(late ? SIGKILL : 0, k->ended ? 0 : k->pid) == 0 && k->ended;
}

static void watch(struct keeper *k)
{
    while (!is_gone(k)) {
        struct pollfd fds[] = {
            { .fd = k->signal_fd, .events = POLLIN },
            { .fd = k->wake_fd, .events = POLLIN },
            { .fd = k->out_fd, .events = POLLIN },
            { .fd = k->err_fd, .events = POLLIN },
        };
        if (poll(fds, sizeof fds / sizeof *fds, (int)wait_ms(k)) < 0)
            continue;
        if (fds[0].revents)
            signals_take(k);
        if (fds[1].revents)
            word_take(k);
        if (fds[2].revents)
            read_some(k, &k->out_fd, k->out);
        if (fds[3].revents)
            read_some(k, &k->err_fd, k->err);
    }
    read_rest(k);
}

/* ---- its start ---- */

static err agent_start(struct keeper *k)
{
    int out[2], error[2];
    struct exec_plan plan;

    TRY(keeper_prepare(k, &plan));
    if (!pipe_open(out) || !pipe_open(error))
        return err_new(k->arena, ERR_UNAVAILABLE, "cannot make a pipe: %s", strerror(errno));
    plan.out = out[1];
    plan.error = error[1];
    err e = exec_start(k->arena, &plan, &k->pid);
    close(out[1]);
    close(error[1]);
    if (plan.in >= 0)
        close(plan.in);
    k->out_fd = out[0];
    k->err_fd = error[0];
    fcntl(k->out_fd, F_SETFL, O_NONBLOCK); /* our ends alone: the agent's are other ones */
    fcntl(k->err_fd, F_SETFL, O_NONBLOCK);
    return e;
}

static void agent_run(struct keeper *k)
{
    int64_t seconds = json_int_or(k->run, "max_seconds", 0);

    if (seconds <= 0 || seconds > 366 * 24 * 3600)
        seconds = 24 * 3600;
    k->deadline_ms = socket_clock_ms() + seconds * 1000;
    k->out = stream_new(json_get(k->profile, "output"), k->token, stdout_line, k);
    k->err = stream_new(NULL, k->token, stderr_line, k);
    k->heartbeat = heartbeat_new(&k->report, k->lease_ms, k->wake_fd);
    k->failure = agent_start(k);
    if (!k->failure) {
        heartbeat_facts(k->heartbeat, k->client_id, STR(""));
        log_info("run.start", LOG_S("run", k->report.run_id), LOG_N("pid", k->pid));
        watch(k);
    }
}

/* ---- its end ---- */

static const char *end_word(const struct keeper *k, const struct stream_facts *f)
{
    if (k->failure)
        return "failed";
    if (k->why == STOPPED)
        return "stopped";
    if (k->why == TIMED_OUT)
        return "timed_out";
    bool good = WIFEXITED(k->status) && profile_exit_is_good(k->profile, WEXITSTATUS(k->status));
    return good && !f->failed ? "completed" : "failed";
}

static str end_error(struct keeper *k, const struct stream_facts *f, const char *word)
{
    if (strcmp(word, "completed") == 0)
        return STR("");
    if (k->failure)
        return k->failure->message;
    if (k->why == STOPPED)
        return STR("it was asked to stop");
    if (k->why == TIMED_OUT)
        return STR("it took longer than it may");
    if (f->failed && f->error.len)
        return f->error;
    const char *what = k->is_command ? "command" : "agent";
    if (WIFSIGNALED(k->status))
        return arena_printf(k->arena, "the %s was ended by signal %d (%s)", what,
                            WTERMSIG(k->status), strsignal(WTERMSIG(k->status)));
    return arena_printf(k->arena, "the %s ended with exit code %d", what, WEXITSTATUS(k->status));
}

static void put_text(struct keeper *k, struct json *facts, const char *name, str text)
{
    if (text.len)
        json_put(k->arena, facts, str_from(name), json_string(text));
}

/* The end of a text, whole characters of it. */
static str tail(str text, size_t most)
{
    size_t from = text.len > most ? text.len - most : 0;

    while (from > 0 && from < text.len && ((unsigned char)text.at[from] & 0xc0) == 0x80)
        from++;
    return str_slice(text, from, text.len);
}

static struct json end_facts(struct keeper *k, const struct stream_facts *f, const char *word)
{
    struct json facts = json_object();
    struct json git = keeper_git(k);
    str result = k->is_command ? tail(f->result, COMMAND_RESULT) : f->result;

    put_text(k, &facts, "result", result);
    if (f->result_cut || result.len < f->result.len)
        json_put(k->arena, &facts, STR("result_truncated"), json_bool(true));
    put_text(k, &facts, "error", end_error(k, f, word));
    put_text(k, &facts, "stderr_tail", tail(stream_facts(k->err).result, STDERR_TAIL));
    if (!k->failure)
        put_text(k, &facts, "client_id", f->client_id.len ? f->client_id : k->client_id);
    if (!k->failure && WIFEXITED(k->status))
        json_put(k->arena, &facts, STR("exit_code"), json_int(k->arena, WEXITSTATUS(k->status)));
    report_usage(k->arena, &facts, &f->usage);
    if (json_is(&git, JSON_OBJECT))
        json_put(k->arena, &facts, STR("git"), git);
    return facts;
}

/* A server that cannot take the whole of it is told the least: a run must not hang because its
 * agent said something odd. */
static void end_report(struct keeper *k)
{
    struct stream_facts f = stream_facts(k->out);
    const char *word = end_word(k, &f);
    struct json facts = end_facts(k, &f, word), least = json_object();

    heartbeat_free(k->heartbeat, END_PATIENCE_MS);
    k->heartbeat = NULL;
    if (k->why == LOST || k->why == SHUT_DOWN)
        return; /* the lease brings it back; or it is somebody else's already */
    enum report_answer r = report_until(&k->report, word, 1, &facts, END_PATIENCE_MS);
    if (r == REPORT_WRONG) {
        put_text(k, &least, "error", STR("the server did not take the report of this run's end"));
        r = report_until(&k->report, "failed", 2, &least, END_PATIENCE_MS);
    }
    log_info("run.end", LOG_S("run", k->report.run_id), LOG_S("status", str_from(word)),
             LOG_N("heard", r == REPORT_TAKEN));
}

/* ---- from the first to the last ---- */

static void signals_make(struct keeper *k)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    k->signal_fd = signals_open(&set);
    k->wake_fd = wake_open();
    assert(k->signal_fd >= 0 && k->wake_fd >= 0);
}

/* Nothing is started that the server does not know of: a run that is not ours any more costs
 * nothing. */
static bool start_report(struct keeper *k)
{
    struct json facts = json_object();

    if (k->project_dir.len <= PLACE_BYTES_MAX)
        put_text(k, &facts, "project_dir", k->project_dir);
    enum report_answer r = report_until(&k->report, "started", 1, &facts, k->lease_ms);

    close(KEEPER_READY);
    if (r != REPORT_TAKEN)
        log_warn("run.give_up", LOG_S("run", k->report.run_id));
    return r == REPORT_TAKEN;
}

static void keep(struct keeper *k)
{
    k->lease_ms = json_int_or(k->run, "lease_seconds", 60) * 1000;
    if (k->lease_ms < LEASE_LEAST_MS)
        k->lease_ms = LEASE_LEAST_MS;
    if (!start_report(k))
        return;
    agent_run(k);
    folder_remove_agent(k->arena, k->folder); /* the token first of all */
    end_report(k);
    stream_free(k->out);
    stream_free(k->err);
}

err keeper_run(struct arena *a, str folder)
{
    struct keeper k = { .arena = a, .folder = folder, .out_fd = -1, .err_fd = -1 };
    struct caller caller;

    if (fcntl(KEEPER_LOCK, F_SETFD, FD_CLOEXEC) < 0 || fcntl(KEEPER_READY, F_SETFD, FD_CLOEXEC) < 0)
        return err_new(a, ERR_INVALID,
                       "expected the descriptors of a runner: this command is its own, and not for "
                       "people");
    TRY(keeper_read(&k));
    signals_make(&k);
    exec_adopt();
    exec_hide();
    caller_init(&caller, k.data);
    caller.refusal = report_refusal;
    k.report.caller = &caller;
    keep(&k);
    caller_release(&caller);
    folder_remove(a, folder);
    return NULL;
}
