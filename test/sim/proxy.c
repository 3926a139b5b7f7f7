/* proxy.c: a wire to a PostgreSQL server that can be cut. */
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
    pthread_mutex_t lock; /* of the plan and what became of it */
    enum proxy_plan plan;
    unsigned left;    /* messages until then; 0: until a COMMIT */
    bool answer_next; /* is to be lost */
    bool armed, cut;
    void (*then)(void *with);
    void *with;
    struct sockaddr_un server;
    const char *folder;
    int listener;
    int client[PAIRS_MAX], backend[PAIRS_MAX]; /* -1: closed */
    atomic_bool ended;
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
    int pair = 0;

    while (pair < PAIRS_MAX && (p->client[pair] >= 0 || p->backend[pair] >= 0))
        pair++;
    CHECK(client >= 0 && backend >= 0 && pair < PAIRS_MAX);
    CHECK_INT(connect(backend, (struct sockaddr *)&p->server, sizeof p->server), 0);
    p->client[pair] = client;
    p->backend[pair] = backend;
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
    p->armed = p->answer_next = false;
    p->cut = true;
    if (p->plan == PROXY_CUT_FOR_EVER)
        end(&p->listener);
    if (p->plan != PROXY_STALL)
        end(&p->backend[pair]);
    if (p->then)
        p->then(p->with);
    end(&p->client[pair]);
}

/* Whether this message is the one of the plan. */
static bool is_planned(struct proxy *p, const char *bytes, ssize_t count)
{
    if (!p->armed || p->answer_next)
        return false;
    if (p->left)
        return --p->left == 0;
    return memmem(bytes, (size_t)count, "COMMIT", strlen("COMMIT") + 1);
}

static void from_client(struct proxy *p, int pair, const char *bytes, ssize_t count)
{
    bool planned = is_planned(p, bytes, count);

    if (planned && (p->plan == PROXY_CUT_BEFORE || p->plan == PROXY_STALL)) {
        cut_now(p, pair);
        return;
    }
    p->answer_next |= planned;
    carry(p->backend[pair], bytes, count);
}

static void from_server(struct proxy *p, int pair, const char *bytes, ssize_t count)
{
    if (p->answer_next)
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
        for (int i = 0; i < PAIRS_MAX; i++) {
            fds[1 + 2 * i] = (struct pollfd){ p->client[i], POLLIN, 0 };
            fds[2 + 2 * i] = (struct pollfd){ p->backend[i], POLLIN, 0 };
        }
        poll(fds, 1 + 2 * PAIRS_MAX, 20);
        pthread_mutex_lock(&p->lock);
        for (int i = 0; i < PAIRS_MAX; i++) {
            if (fds[1 + 2 * i].revents && p->client[i] >= 0)
                move(p, i, true);
            if (fds[2 + 2 * i].revents && p->backend[i] >= 0)
                move(p, i, false);
        }
        pthread_mutex_unlock(&p->lock);
        if (fds[0].revents && p->listener >= 0)
            accept_one(p);
    }
    return NULL;
}

struct proxy *proxy_start(const char *folder, void (*then)(void *with), void *with)
{
    static int proxies;
    struct proxy *p = ARENA_NEW(check_arena(), struct proxy);

    *p = (struct proxy){ .then = then, .with = with, .server = address_in(folder) };
    for (int i = 0; i < PAIRS_MAX; i++)
        p->client[i] = p->backend[i] = -1;
    char *here = getcwd(NULL, 0);
    p->folder = arena_printf(check_arena(), "%s/proxy%d", here, ++proxies).at;
    free(here);
    CHECK_INT(mkdir(p->folder, 0700), 0);
    struct sockaddr_un own = address_in(p->folder);
    p->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK_INT(bind(p->listener, (struct sockaddr *)&own, sizeof own), 0);
    CHECK_INT(listen(p->listener, PAIRS_MAX), 0);
    pthread_mutex_init(&p->lock, NULL);
    CHECK_INT(pthread_create(&p->thread, NULL, proxy_run, p), 0);
    return p;
}

void proxy_arm(struct proxy *p, enum proxy_plan plan, unsigned nth)
{
    pthread_mutex_lock(&p->lock);
    p->plan = plan;
    p->left = nth;
    p->armed = true;
    p->cut = p->answer_next = false;
    pthread_mutex_unlock(&p->lock);
}

bool proxy_disarm(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    bool cut = p->cut;
    p->armed = p->cut = p->answer_next = false;
    pthread_mutex_unlock(&p->lock);
    return cut;
}

void proxy_stop(struct proxy *p)
{
    p->ended = true;
    pthread_join(p->thread, NULL);
    pthread_mutex_destroy(&p->lock);
    end(&p->listener);
    for (int i = 0; i < PAIRS_MAX; i++) {
        end(&p->client[i]);
        end(&p->backend[i]);
    }
}

const char *proxy_url(const struct proxy *p, const char *database)
{
    return arena_printf(check_arena(), "postgres://postgres@/%s?host=%s", database, p->folder).at;
}
