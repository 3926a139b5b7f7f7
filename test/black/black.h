/* black.h: the program itself as a process, and peers of it, for tests that know nothing of its
 * insides.
 *
 * The program is the one that was built the same way as the test: a sanitized test starts a
 * sanitized server, or the one that $BATON_SERVER names. Functions that take an arena may be called from any thread. */
#ifndef TEST_BLACK_BLACK_H
#define TEST_BLACK_BLACK_H

#include <sys/types.h>

#include "check.h"
#include "client/http_client.h"
#include "json_help.h"

/* How the test was built: a sanitized server needs more time and more memory. */
#ifdef __SANITIZE_ADDRESS__
enum { BLACK_SANITIZED = 1 };
#else
enum { BLACK_SANITIZED = 0 };
#endif

/* Larger numbers in a soak: how often as many. */
int black_times(void);

/* ---- the server ---- */

struct black {
    const char *data; /* its directory; NULL: ./data */
    const char *const
        *args;     /* more arguments, up to a NULL; or NULL. No runner, unless they say so */
    uint16_t port; /* 0: a free one, which it keeps when it is started again */
    pid_t pid;
    int out;                  /* its standard output */
    struct endpoint endpoint; /* where clients find it, with the operator's token */
};

/* The program: the one that $BATON_SERVER names; else beside the test (build/asan/baton), or a folder
 * above it (build/baton). */
const char *black_program(void);

/* Starts it and waits until it is ready. What it logs is added to ./log. */
void black_start(struct black *b);

/* Asks it to end and checks that it ended well; or ends it at once. */
void black_stop(struct black *b);
void black_kill(struct black *b);

/* Waits until it has ended by itself, and gives its exit code; of a signal it is negative. */
int black_end(struct black *b);

/* Stops it where it is, as a machine that sleeps; and lets it go on. */
void black_pause(struct black *b);
void black_continue(struct black *b);

/* Fails the test when it has ended. */
void black_alive(const struct black *b);

/* Memory that it has in use, and the most that it ever had, in KiB. */
long black_memory(const struct black *b);
long black_memory_peak(const struct black *b);

/* A figure of its GET /metrics. */
int64_t black_metric(const struct black *b, const char *name);

/* Another command of the program ("store", "check", …, NULL), to its end, which must be a good
 * one. */
void black_run(const char *const *words);

/* ---- requests of somebody who behaves ---- */

struct reply {
    int status;
    const struct json *body; /* NULL: there is none, or it is not JSON */
    struct response response;
};

/* One request, as the operator, to a route like "PATCH /workflow-states/x"; the body is JSON with
 * single quotes, or empty. The reply lives as long as the test. */
struct reply black_ask(const struct black *b, const char *route, const char *body);

/* The same with another token, which may be empty. */
struct reply black_ask_as(const struct black *b, str token, const char *route, const char *body);

/* The same with a status that it must have. */
const struct json *black_expect(const struct black *b, int status, const char *route,
                                const char *body);

/* Asks again and again until it has it: of a server that is coming back. */
struct reply black_ask_until(const struct black *b, int status, const char *route,
                             const char *body);

/* A schema `any` that all fits, and a state of it; its id. */
void black_add_schema(const struct black *b);
str black_add_state(const struct black *b, const char *data);

/* A new token of a kind. */
struct black_token {
    str id, text;
} black_add_token(const struct black *b, const char *kind);

/* "METHOD /workflow-states/ID" */
const char *black_route(const char *method, str state_id);

/* ---- requests of somebody who does not ---- */

struct peer {
    int fd;
    struct arena *arena;
    char *piece; /* bytes that were received and not looked at */
    size_t from, len;
};

struct peer peer_open(const struct black *b, struct arena *a);
void peer_close(struct peer *p);

/* False: the server takes no more. */
bool peer_send(struct peer *p, str bytes);

/* The head of a request up to its empty line, with Host and the operator's token. */
str peer_head(struct arena *a, const struct black *b, const char *route);

/* The next answer; its status is 0 when the connection ended before it was whole. */
struct response peer_next(struct peer *p);

/* Waits until the server has closed the connection; whatever it still sent is passed over. */
void peer_expect_end(struct peer *p);

#endif
