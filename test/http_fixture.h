/* http_fixture.h: a real server with a client, for tests of its protocols.
 *
 * The loop is turned by hand, so nothing has to be waited for. Behind the server
 * stand operations on things, of the tests' own, which are performed when a test
 * says. */
#ifndef TEST_HTTP_FIXTURE_H
#define TEST_HTTP_FIXTURE_H

#include "check.h"
#include "wire/server_private.h"

struct http_fixture {
    struct loop *loop;
    struct wakeup *stop;
    struct timer *timer;
    struct op_table *table;
    struct server *server;
    struct listener *unix_socket, *tcp;
    uint16_t port;
    bool holds; /* what is submitted stays in these: */
    struct command *waiting;
    struct admission *asking;
    bool full, stopped;
    int lookups, performed;
    const char *unready;
    int64_t now_ms;
    int fd;
    struct buf heard;
};

/* Tokens are the ids of these. They are never freed. The brief one expires at 5,000 ms; the session
 * sees the state x. */
enum { FIXTURE_OPERATOR, FIXTURE_VIEWER, FIXTURE_BRIEF, FIXTURE_SESSION };
extern struct grant fixture_grants[];

/* Whether this process is said to belong to a run. */
extern bool fixture_is_inside;

/* The limits may be NULL, for the defaults. It is 1994-11-06T08:49:37Z there. */
struct http_fixture *http_fixture_open(const struct server_limits *limits);

/* Stops the server and checks that nothing of it is left. */
void http_fixture_close(struct http_fixture *s);
void http_fixture_stopped(void *self);

/* So many turns of the loop that a request comes to its token, its command and its answer. */
void http_fixture_turn(struct http_fixture *s);

/* The client: what it hears is gathered in s->heard, with '|' for CR LF and single quotes. */
void http_fixture_connect(struct http_fixture *s);
void http_fixture_connect_local(struct http_fixture *s); /* by the Unix socket */
void http_fixture_say(struct http_fixture *s, str bytes);
void http_fixture_ask(struct http_fixture *s, const char *text); /* with '|' for CR LF */
void http_fixture_listen(struct http_fixture *s);
void http_fixture_hang_up(struct http_fixture *s);

/* Performs the commands that are held, and answers who asks for grants. */
void http_fixture_perform(struct http_fixture *s);
void http_fixture_answer_admissions(struct http_fixture *s);

/* Bytes of legible text: '|' is CR LF. And what has come so far, as such a text with single quotes;
 * an end is `<closed>`. */
str text_wire(const char *text);
void text_hear(int fd, struct buf *heard);

/* Puts commands behind those that wait already. */
void commands_wait(struct command **waiting, struct command *list);

/* Whether it is like the pattern, in which '*' stands for anything. */
bool text_fits(const char *text, const char *pattern);

#define CHECK_HEARD(fixture, pattern)                                          \
    do {                                                                       \
        check_fits(__FILE__, __LINE__, buf_str(&(fixture)->heard), (pattern)); \
        (fixture)->heard.len = 0;                                              \
    } while (0)

void check_fits(const char *file, int line, str found, const char *pattern);

/* ---- parts of requests and responses ---- */

#define H "Host: localhost:8765|"
#define A H "Authorization: Bearer op|"
#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT|Cache-Control: no-store|"
#define CLOSE DATE "Connection: close|"
#define JSON_TYPE "Content-Type: application/json|"
#define PROBLEM "Content-Type: application/problem+json|"
#define GET(path) "GET " path " HTTP/1.1|" A "|"
#define GET_AS(token, path) "GET " path " HTTP/1.1|" H "Authorization: Bearer " token "||"

#endif
