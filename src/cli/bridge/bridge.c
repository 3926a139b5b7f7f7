/* bridge.c: baton mcp: the loop that waits for lines, answers and signals. */
#define _GNU_SOURCE /* ppoll */
#include "cli/bridge/private.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/place.h"
#include "client/caller.h"
#include "client/socket.h"

enum {
    DRAIN_MS = 1000,
    DOWN_MS = 5000,
    SILENCE_MS = 90 * 1000, /* no tool takes longer than half of that */
    PAUSE_MS = 1000,
    LEASE_MS = 300 * 1000,
    LEAVE_MS = 1000, /* for saying goodbye */
    WAITING_MAX = 1000,
    UNSENT_MAX = 4 << 20, /* bytes that the client has not read: then nothing more is taken */
    FIXED = 3,            /* descriptors besides those of connections */
};

static volatile sig_atomic_t told_to_end;

static void on_signal(int number)
{
    (void)number;
    told_to_end = 1;
}

/* ---- waiting ---- */

/* What is waited for: the client, the start of a server, and connections. */
struct watch_list {
    struct pollfd fds[FIXED + BRIDGE_CONNECTIONS_MAX];
    struct connection *connections[BRIDGE_CONNECTIONS_MAX];
    size_t count;
};

static bool is_full(const struct bridge *b)
{
    return lines_unsent(b) > UNSENT_MAX;
}

static void watch_all(struct bridge *b, struct watch_list *w)
{
    bool reads = !b->in.ended && !b->drain_until_ms && b->waiting_count < WAITING_MAX;

    w->fds[0] = (struct pollfd){ reads && !is_full(b) ? b->options.in : -1, POLLIN, 0 };
    w->fds[1] = (struct pollfd){ lines_unsent(b) ? b->out.fd : -1, POLLOUT, 0 };
    w->fds[2] = (struct pollfd){ b->upstream.starting, POLLIN, 0 };
    w->count = 0;
    LIST_EACH(it, &b->connections) {
        struct connection *c = LIST_ENTRY(it, struct connection, link);
        w->fds[FIXED + w->count] =
            (struct pollfd){ is_full(b) ? -1 : c->fd,
                             (short)(connection_sends(c) ? POLLIN | POLLOUT : POLLIN), 0 };
        w->connections[w->count++] = c;
    }
}

/* Whether there is anything to do: signals are let in nowhere else, so that none is missed. */
static bool wait_ms(struct watch_list *w, int64_t ms)
{
    struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
    sigset_t none;

    sigemptyset(&none);
    int ready = ppoll(w->fds, FIXED + w->count, ms < 0 ? NULL : &time, &none);
    for (size_t i = 0; ready < 0 && i < FIXED + w->count; i++)
        w->fds[i].revents = 0;
    return ready != 0;
}

/* Answers are waited for awake, where that pays; others may use the processor meanwhile: the client,
 * above all, which may take its time. */
static void wait_for(struct bridge *b, struct watch_list *w, int64_t ms)
{
    bool asked = !list_empty(&b->in_flight), came = false;
    int64_t from_us = asked ? socket_clock_us() : 0;

    if (asked && ms && busy_poll_pays(&b->awake)) {
        do {
            came = wait_ms(w, 0);
        } while (!came && sched_yield() == 0 && socket_clock_us() < from_us + BUSY_POLL_US);
        busy_poll_tried(&b->awake, came);
    }
    if (!came)
        wait_ms(w, ms);
    if (asked)
        busy_poll_turned(&b->awake, socket_clock_us() - from_us <= BUSY_POLL_TURN_US);
}

static int64_t patience_ms(struct bridge *b)
{
    int64_t next = exchanges_next_ms(b), wake = wake_next_ms(b);

    if (wake < next)
        next = wake;
    if (b->drain_until_ms && b->drain_until_ms < next)
        next = b->drain_until_ms;
    if (next == INT64_MAX)
        return -1;
    return next > b->now_ms ? next - b->now_ms : 0;
}

/* ---- the end ---- */

static bool has_pending(const struct bridge *b)
{
    LIST_EACH(it, &b->waiting) {
        if (message_is_pending(LIST_ENTRY(it, struct exchange, link)))
            return true;
    }
    LIST_EACH(it, &b->in_flight) {
        if (message_is_pending(LIST_ENTRY(it, struct exchange, link)))
            return true;
    }
    return lines_unsent(b) > 0;
}

static void give_up(struct bridge *b, struct list *exchanges)
{
    err e = b->upstream.down_since_ms && b->upstream.why
                ? b->upstream.why
                : err_new(b->scratch, ERR_UNAVAILABLE,
                          "the input ended before this was answered; what was asked for may have "
                          "been done");

    LIST_EACH(it, exchanges) {
        struct exchange *c = LIST_ENTRY(it, struct exchange, link);
        if (message_is_pending(c))
            c->kind->failed(b, c, e);
        else
            exchange_end(b, c);
    }
}

/* Whatever still waits or is in flight is given up; what the server is to know is said. */
static void leave(struct bridge *b)
{
    give_up(b, &b->waiting);
    give_up(b, &b->in_flight);
    lines_flush(b);
    b->leaving = true;
    b->drain_until_ms = b->now_ms + LEAVE_MS;
    legacy_end(b);
    identity_end(b);
    exchanges_pump(b);
}

/* True: it is over. What is in flight when the input ends has a moment to come back; the start of a
 * server takes as long as it takes. */
static bool is_over(struct bridge *b)
{
    bool ended = b->in.ended || b->out.closed || told_to_end;

    if (!ended)
        return false;
    if (!b->drain_until_ms)
        b->drain_until_ms = b->now_ms + b->options.drain_ms;
    if (b->upstream.state == UPSTREAM_STARTING && !told_to_end && !b->leaving)
        b->drain_until_ms = b->now_ms + b->options.drain_ms;
    bool late = b->now_ms >= b->drain_until_ms;
    if (b->leaving)
        return late || (list_empty(&b->waiting) && list_empty(&b->in_flight));
    if (late || b->out.closed || !has_pending(b))
        leave(b);
    return b->leaving && list_empty(&b->waiting) && list_empty(&b->in_flight);
}

/* ---- the loop ---- */

/* A full pipeline is sent before the rest is looked at. */
static void messages_take(struct bridge *b)
{
    str line;

    lines_read(b);
    for (int taken = 1; lines_next(b, &line); taken++) {
        message_take(b, line);
        if (taken % BRIDGE_PIPELINE_MAX == 0)
            exchanges_pump(b);
    }
}

static void start_ended(struct bridge *b)
{
    err e = upstream_started(b);

    if (e)
        exchanges_fail(b, e);
}

static void turn(struct bridge *b, struct watch_list *w)
{
    if (w->fds[1].revents)
        lines_flush(b);
    if (w->fds[2].revents)
        start_ended(b);
    wake_look(b);
    for (size_t i = 0; i < w->count; i++) {
        struct connection *c = w->connections[i];
        short events = w->fds[FIXED + i].revents;
        if (events & ~POLLOUT && c->fd >= 0)
            connection_receive(b, c);
        if (events & POLLOUT && c->fd >= 0 && connection_sends(c))
            connection_send(b, c);
    }
    if (w->fds[0].revents)
        messages_take(b);
}

static void run(struct bridge *b)
{
    struct watch_list *w = mem_alloc(sizeof *w);

    b->now_ms = socket_clock_ms();
    while (!is_over(b)) {
        watch_all(b, w);
        wait_for(b, w, patience_ms(b));
        b->now_ms = socket_clock_ms();
        arena_reset(b->scratch);
        turn(b, w);
        lines_flush(b);
        exchanges_pump(b);
        lines_flush(b);
        connections_sweep(b);
    }
    mem_free(w);
}

static void exchanges_free(struct list *exchanges)
{
    LIST_EACH(it, exchanges) {
        struct exchange *c = LIST_ENTRY(it, struct exchange, link);
        list_remove(&c->link);
        arena_free(c->arena);
        mem_free(c);
    }
}

static void release(struct bridge *b)
{
    LIST_EACH(it, &b->connections)
        connection_close(b, LIST_ENTRY(it, struct connection, link));
    connections_sweep(b);
    exchanges_free(&b->waiting);
    exchanges_free(&b->in_flight);
    exchanges_free(&b->spare);
    lines_close(b);
    upstream_release(b);
    legacy_release(b);
    identity_release(b);
    wake_release(b);
    arena_free(b->scratch);
    mem_free(b);
}

static void signals_take(sigset_t *before)
{
    static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
    struct sigaction action = { .sa_handler = on_signal };
    sigset_t ours;

    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaddset(&ours, numbers[i]);
        sigaction(numbers[i], &action, NULL);
    }
    sigprocmask(SIG_BLOCK, &ours, before);
    signal(SIGPIPE, SIG_IGN);
}

static int64_t or_else(int64_t given, int64_t otherwise)
{
    return given ? given : otherwise;
}

void mcp_bridge(const struct mcp_bridge_options *o)
{
    struct bridge *b = mem_alloc(sizeof *b);
    sigset_t before;

    memset(b, 0, sizeof *b);
    b->options = *o;
    b->options.drain_ms = or_else(o->drain_ms, DRAIN_MS);
    b->options.down_ms = or_else(o->down_ms, DOWN_MS);
    b->options.silence_ms = or_else(o->silence_ms, SILENCE_MS);
    b->options.pause_ms = or_else(o->pause_ms, PAUSE_MS);
    b->options.lease_ms = or_else(o->lease_ms, LEASE_MS);
    b->scratch = arena_new();
    list_init(&b->waiting);
    list_init(&b->in_flight);
    list_init(&b->spare);
    list_init(&b->connections);
    snprintf(b->key, sizeof b->key, "mcp-%s-", idempotency_key(b->scratch).at);
    signals_take(&before);
    lines_open(b);
    upstream_init(b);
    identity_init(b, legacy_leave);
    legacy_init(b);
    wake_init(b);
    run(b);
    release(b);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- the verb ---- */

// clang-format off
const struct option mcp_bridge_verb_options[] = {
    { "--state-id", 0, "ID",  "the state that tools mean when they name none" },
    { "--data",     0, "DIR", "the server of this data directory" },
    { 0 },
};
// clang-format on

const char mcp_bridge_verb_details[] =
    "For the configuration of an agent, which starts it and writes messages to its\n"
    "standard input, one in each line. `baton init` writes that configuration.\n"
    "\n"
    "It talks to the server that all commands find: at $BATON_URL, or that of DIR.\n"
    "Where none runs for DIR, it starts one, which goes on when this one ends: its log\n"
    "is DIR/serve.log, and `baton serve` says how to stop it. With BATON_URL it starts\n"
    "none. A server that is restarted is found again, and what was not answered is\n"
    "asked again; nothing is done twice.\n"
    "\n"
    "Inside of a run, it acts as the run's session: BATON_TOKEN says so. Else it makes\n"
    "a session for the agent that started it, so that this one has a state, and hears\n"
    "of those that it starts. With BATON_TOKEN or BATON_TOKEN_FILE it uses that token.\n"
    "\n"
    "WORKFLOW_STATE_ID is --state-id when that is not given. What is wrong with the\n"
    "server is told in answers and on standard error, and ends nothing; the end of its\n"
    "input does, and SIGTERM: exit code 0.";

err mcp_bridge_verb_run(struct cli *c, mcp_start *start)
{
    const char *given = cli_value(c, "--state-id");
    str state = str_from(given ? given : place_variable("WORKFLOW_STATE_ID"));

    if (state.len && !place_is_name(state))
        return usage_error(c,
                           STR("--state-id expects an id like wfstate_4hq2m7k1x9ab, or a name."));
    mcp_bridge(&(struct mcp_bridge_options){ .in = STDIN_FILENO,
                                             .out = STDOUT_FILENO,
                                             .data = cli_value(c, "--data"),
                                             .state_id = state,
                                             .start = start });
    return NULL;
}
