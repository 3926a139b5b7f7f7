/* top_events.c: a thread that listens for events, and wakes whoever shows them.
 *
 * What an event says does not matter here: the one who is woken asks for everything again,
 * and paces that. */
#include "cli/cli.h"
#include "cli/top.h"

#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "client/endpoint.h"
#include "client/ws_client.h"

enum {
    CONNECT_MS = 10000,
    SILENCE_MS = 90000, /* the server pings more often than that */
    AGAIN_MS = 1000,
};

struct listener {
    const char *data;
    int wake;
};

static const char subscription[] =
    JSON({
    "action": "subscribe",
    "types": [
        "session_created", "session_updated", "session_settled", "session_deleted", "run_enqueued",
        "run_claimed", "run_started", "run_stopping", "run_finished", "runner_joined", "runner_lost",
        "execution_started", "execution_moved", "execution_ended", "incident_raised", "incident_resolved"
    ]
});

static void wake(const struct listener *h)
{
    ssize_t n = write(h->wake, "e", 1);
    (void)n; /* a full pipe wakes as well */
}

static err listen_once(const struct listener *h, struct arena *a, struct arena *message)
{
    struct ws_client *client;
    struct endpoint endpoint;
    str text;

    TRY(endpoint_find(a, h->data, &endpoint));
    TRY(ws_client_open(a, &endpoint, "/ws", CONNECT_MS, &client));
    err e = ws_client_send(client, a, str_from(subscription), CONNECT_MS);
    while (!e) {
        wake(h); /* first for what happened before there was a connection */
        arena_reset(message);
        e = ws_client_next(client, message, SILENCE_MS, &text);
    }
    ws_client_free(client);
    return NULL;
}

static void *listen_forever(void *self)
{
    struct listener *h = self;
    struct arena *a = arena_new(), *message = arena_new();

    for (;;) {
        arena_reset(a);
        listen_once(h, a, message);
        poll(NULL, 0, AGAIN_MS);
    }
    return NULL;
}

void top_listen(const char *data, int wake_to)
{
    static struct listener listener; /* of the process, as the thread is */
    sigset_t all, before;
    pthread_t thread;

    listener = (struct listener){ .data = data, .wake = wake_to };
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the one who has the terminal */
    int failed = pthread_create(&thread, NULL, listen_forever, &listener);
    assert(!failed);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
