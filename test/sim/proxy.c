/* proxy.c: a wire to a PostgreSQL server that can be cut at a commit. */
#define _GNU_SOURCE
#include "sim/proxy.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

enum { PAIRS_MAX = 16, CHUNK_BYTES = 1 << 16 };

struct proxy {
    enum proxy_plan plan;
    void (*then)(void *with);
    void *with;
    struct sockaddr_un server;
    const char *folder;
    int listener;
    int client[PAIRS_MAX], backend[PAIRS_MAX]; /* -1: closed */
    int pairs;
    bool cut, answer_next;
    atomic_bool armed, ended;
    pthread_t thread;
};

static struct sockaddr_un address_in(const char *folder)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    str path = arena_printf(check_arena(), "%s/.s.PGSQL.5432", folder);

    CHECK(path.len < sizeof to.sun_path);
    memcpy(to.sun_path, path.at, path.len);
    return to;
}

static void accept_one(struct proxy *p)
{
    int client = accept(p->listener, NULL, NULL), backend = socket(AF_UNIX, SOCK_STREAM, 0);

    CHECK(client >= 0 && backend >= 0 && p->pairs < PAIRS_MAX);
    CHECK_INT(connect(backend, (struct sockaddr *)&p->server, sizeof p->server), 0);
    p->client[p->pairs] = client;
    p->backend[p->pairs++] = backend;
}

static void end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void carry(int to, const char *bytes, ssize_t count)
{
    while (count > 0) {
        ssize_t sent = send(to, bytes, (size_t)count, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* the other side is gone, which its own end will tell */
        bytes += sent;
        count -= sent;
    }
}

/* The wire is cut where it was to be. */
static void cut_now(struct proxy *p, int pair)
{
    p->cut = true;
    if (p->plan == PROXY_CUT_FOR_EVER)
        end(&p->listener);
    if (p->plan != PROXY_STALL)
        end(&p->backend[pair]);
    if (p->then)
        p->then(p->with);
    end(&p->client[pair]);
}

static void from_client(struct proxy *p, int pair, const char *bytes, ssize_t count)
{
    bool commits = p->armed && !p->cut &&
                   memmem(bytes, (size_t)count, "COMMIT", strlen("COMMIT") + 1);

    if (commits && (p->plan == PROXY_CUT_BEFORE || p->plan == PROXY_STALL)) {
        cut_now(p, pair);
        return;
    }
    p->answer_next = commits;
    carry(p->backend[pair], bytes, count);
}

static void from_server(struct proxy *p, int pair, const char *bytes, ssize_t count)
{
    if (p->answer_next && !p->cut)
        cut_now(p, pair);
    else if (p->client[pair] >= 0)
        carry(p->client[pair], bytes, count);
}

static void move(struct proxy *p, int pair, bool up)
{
    static char bytes[CHUNK_BYTES];
    int *from = up ? &p->client[pair] : &p->backend[pair];
    ssize_t count = read(*from, bytes, sizeof bytes);

    if (count <= 0) {
        end(&p->client[pair]);
        end(&p->backend[pair]);
    } else if (up)
        from_client(p, pair, bytes, count);
    else
        from_server(p, pair, bytes, count);
}

static void *proxy_run(void *self)
{
    struct proxy *p = self;

    while (!p->ended) {
        struct pollfd fds[1 + 2 * PAIRS_MAX] = { { p->listener, POLLIN, 0 } };
        int pairs = p->pairs;
        for (int i = 0; i < pairs; i++) {
            fds[1 + 2 * i] = (struct pollfd){ p->client[i], POLLIN, 0 };
            fds[2 + 2 * i] = (struct pollfd){ p->backend[i], POLLIN, 0 };
        }
        poll(fds, (nfds_t)(1 + 2 * pairs), 20);
        for (int i = 0; i < pairs; i++) {
            if (fds[1 + 2 * i].revents && p->client[i] >= 0)
                move(p, i, true);
            if (fds[2 + 2 * i].revents && p->backend[i] >= 0)
                move(p, i, false);
        }
        if (fds[0].revents && p->listener >= 0)
            accept_one(p);
    }
    return NULL;
}

struct proxy *proxy_start(const char *folder, enum proxy_plan plan, void (*then)(void *with),
                          void *with)
{
    static int proxies;
    struct proxy *p = ARENA_NEW(check_arena(), struct proxy);

    *p = (struct proxy){ .plan = plan, .then = then, .with = with, .server = address_in(folder) };
    p->folder = arena_printf(check_arena(), "%s/../proxy%d", folder, ++proxies).at;
    CHECK_INT(mkdir(p->folder, 0700), 0);
    struct sockaddr_un own = address_in(p->folder);
    p->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK_INT(bind(p->listener, (struct sockaddr *)&own, sizeof own), 0);
    CHECK_INT(listen(p->listener, PAIRS_MAX), 0);
    CHECK_INT(pthread_create(&p->thread, NULL, proxy_run, p), 0);
    return p;
}

void proxy_arm(struct proxy *p)
{
    p->armed = true;
}

void proxy_stop(struct proxy *p)
{
    p->ended = true;
    pthread_join(p->thread, NULL);
    CHECK(p->cut);
    end(&p->listener);
    for (int i = 0; i < p->pairs; i++) {
        end(&p->client[i]);
        end(&p->backend[i]);
    }
}

const char *proxy_url(const struct proxy *p, const char *database)
{
    return arena_printf(check_arena(), "postgres://postgres@/%s?host=%s", database, p->folder).at;
}
