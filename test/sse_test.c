/* sse_test.c: streams of events as curl shows them. */
#include "log_server.h"

#define START "GET /events%s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
#define TOKEN "Authorization: Bearer op_1\r\n"

struct stream {
    struct log_server *log;
    int fd;
    struct buf text; /* without the head */
    str head;
    bool ended;
};

static void stream_take(struct stream *s, str bytes)
{
    buf_add(&s->text, bytes);
    const char *end = s->head.len ? NULL : strstr(buf_str(&s->text).at, "\r\n\r\n");
    if (!end)
        return;
    size_t len = (size_t)(end + 4 - s->text.at);
    s->head = arena_copy(check_arena(), (str){ s->text.at, len });
    memmove(s->text.at, s->text.at + len, s->text.len - len);
    s->text.len -= len;
}

static bool stream_read(struct stream *s)
{
    char bytes[65536];
    ssize_t n = recv(s->fd, bytes, sizeof bytes, MSG_DONTWAIT);

    s->ended = s->ended || n == 0 || (n < 0 && errno == ECONNRESET);
    if (n > 0)
        stream_take(s, (str){ bytes, (size_t)n });
    return n > 0;
}

static void stream_listen(struct stream *s)
{
    for (int quiet = 0; quiet < 6; quiet++) {
        log_turn(s->log);
        while (stream_read(s))
            quiet = 0;
    }
}

static void stream_open(struct stream *s, struct log_server *w, const char *query,
                        const char *fields)
{
    *s = (struct stream){ .log = w, .fd = log_connect(w), .text = buf_in(check_arena()) };
    net_send(s->fd, arena_printf(check_arena(), START "%s\r\n", query, fields));
    stream_listen(s);
}

/* What was heard since the last look, each event's data cut to where it begins. */
static void check_heard(int line, struct stream *s, const char *expected)
{
    struct buf cut = buf_in(check_arena());

    stream_listen(s);
    str rest = buf_str(&s->text), one;
    while (rest.len) {
        str_cut(rest, '\n', &one, &rest);
        if (str_starts(one, STR("data: {\"seq\"")))
            one = STR("data: …");
        buf_add(&cut, one);
        buf_byte(&cut, '\n');
    }
    check_str(__FILE__, line, "heard", buf_str(&cut), expected);
    s->text.len = 0;
}

#define CHECK_HEARD(s, expected) check_heard(__LINE__, (s), (expected))

#define UPDATED(seq) "id: " seq "\nevent: workflow_state_updated\ndata: …\n\n"

TEST(sse_streams_what_comes_and_says_how_it_is_to_be_read)
{
    struct log_server *w = log_open(NULL);
    struct stream s;

    log_add(w, "a");
    log_turn(w);
    stream_open(&s, w, "", TOKEN);
    CHECK(str_starts(s.head, STR("HTTP/1.1 200 ")));
    CHECK(strstr(s.head.at, "Content-Type: text/event-stream\r\n"));
    CHECK(strstr(s.head.at, "Cache-Control: no-cache\r\n"));
    CHECK(strstr(s.head.at, "X-Accel-Buffering: no\r\n"));
    CHECK_HEARD(&s, "retry: 1000\nid: 1\n\n: caught up\nid: 1\n\n");
    log_add(w, "a");
    CHECK_HEARD(&s, UPDATED("2"));
    close(s.fd);
    log_close(w);
}

TEST(sse_begins_where_it_is_told_to)
{
    static const struct {
        const char *query, *fields, *heard;
    } cases[] = {
        { "?after=2", TOKEN,
          "retry: 1000\nid: 2\n\n" UPDATED("3") UPDATED("4") ": caught up\nid: 4\n\n" },
        { "?after=0", TOKEN "Last-Event-ID: 3\r\n",
          "retry: 1000\nid: 3\n\n" UPDATED("4") ": caught up\nid: 4\n\n" },
        { "?after=0&subject=b", TOKEN,
          "retry: 1000\nid: 0\n\n" UPDATED("2") UPDATED("4") ": caught up\nid: 4\n\n" },
        { "?after=0&type=workflow_state_deleted&type=x", TOKEN,
          "retry: 1000\nid: 0\n\n: caught up\nid: 4\n\n" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct log_server *w = log_open(NULL);
        struct stream s;
        for (int n = 0; n < 4; n++)
            log_add(w, n % 2 ? "b" : "a");
        log_turn(w);
        stream_open(&s, w, cases[i].query, cases[i].fields);
        CHECK_HEARD(&s, cases[i].heard);
        close(s.fd);
        log_close(w);
    }
}

TEST(sse_refuses_before_it_begins)
{
    static const struct {
        const char *query, *fields, *status;
    } cases[] = {
        { "", "", "401" },
        { "?after=x", TOKEN, "400" },
        { "?after=-1", TOKEN, "400" },
        { "?limit=3", TOKEN, "400" },
        { "", TOKEN "Last-Event-ID: x\r\n", "400" },
        { "?subject=b", "Authorization: Bearer ss_1\r\n", "404" },
        { "", "Authorization: Bearer ss_1\r\n", "200" },
        { "?subject=a", "Authorization: Bearer ss_1\r\n", "200" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct log_server *w = log_open(NULL);
        struct stream s;
        stream_open(&s, w, cases[i].query, cases[i].fields);
        CHECK_STR(str_slice(s.head, 9, 12), cases[i].status);
        close(s.fd);
        log_close(w);
    }
}

TEST(sse_says_reset_when_events_are_gone)
{
    struct log_server *w = log_open(NULL);
    struct stream s;

    for (int i = 0; i < 4; i++)
        log_add(w, "a");
    w->floor = 4;
    log_turn(w);
    stream_open(&s, w, "?after=1", TOKEN);
    CHECK_HEARD(&s, "retry: 1000\nid: 1\n\n"
                    "id: 3\nevent: reset\ndata: {\"oldest\":4,\"newest\":4}\n\n" UPDATED(
                        "4") ": caught up\nid: 4\n\n");
    close(s.fd);
    log_close(w);
}

TEST(sse_breaks_a_silence)
{
    struct server_limits limits = server_limits_default();
    struct stream s;

    limits.ping_ms = 20;
    struct log_server *w = log_open(&limits);
    stream_open(&s, w, "", TOKEN);
    s.text.len = 0;
    while (!strstr(buf_str(&s.text).at, ":\n\n:\n\n")) {
        log_turn(w);
        stream_read(&s);
    }
    close(s.fd);
    log_close(w);
}

static void stopped(void *self)
{
    (void)self;
}

TEST(sse_ends_when_the_token_is_revoked_or_the_server_stops)
{
    for (int stops = 0; stops <= 1; stops++) {
        struct log_server *w = log_open(NULL);
        struct stream s;
        stream_open(&s, w, "", TOKEN);
        s.text.len = 0;
        if (stops) {
            server_stop(w->server, 1000, stopped);
        } else {
            log_commit(w, "tok_1", EVENT_TOKEN_REVOKED);
            log_publish(w);
            log_add(w, "a");
        }
        stream_listen(&s);
        CHECK(s.ended && !strstr(buf_str(&s.text).at, "id: 2"));
        close(s.fd);
        log_close(w);
    }
}

TEST(sse_holds_back_for_a_slow_client_and_loses_nothing)
{
    static char big[4096];
    struct server_limits limits = server_limits_default();
    struct stream s;

    limits.behind_bytes = 64 << 10;
    struct log_server *w = log_open(&limits);
    memset(big, ' ', sizeof big);
    big[0] = '[';
    big[sizeof big - 1] = ']';
    w->data = (str){ big, sizeof big };
    stream_open(&s, w, "", TOKEN);
    s.text.len = 0;
    struct conn *conn = LIST_ENTRY(w->server->conns.next, struct conn, all);
    for (int i = 0; i < 300; i++) {
        log_add(w, "a");
        log_turn(w);
        CHECK(conn->out_bytes < limits.behind_bytes + 2 * sizeof big);
    }
    stream_listen(&s);
    const char *at = buf_str(&s.text).at;
    for (int i = 1; i <= 300; i++) {
        at = strstr(at, arena_printf(check_arena(), "id: %d\nevent: w", i).at);
        if (!at)
            check_fail(__FILE__, __LINE__, "event %d is missing or not in order", i);
    }
    close(s.fd);
    log_close(w);
}
