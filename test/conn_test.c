/* conn_test.c: connections with a protocol that only takes notes. */
#include "wire/conn.h"

#include <semaphore.h>

#include "server_fixture.h"

static char told[256]; /* what the protocol was told, in order */
static size_t received;
static sem_t full; /* the system takes no more: the peer may begin to read */

static void tell(const char *what)
{
    strncat(told, what, sizeof told - strlen(told) - 1);
}

static void take(struct conn *c, str bytes)
{
    (void)c;
    received += bytes.len;
    tell("bytes ");
}

// clang-format off
static void sent(struct conn *c) { (void)c; tell("sent "); }
static void ended(struct conn *c) { tell("ended "); conn_abort(c); }
static void late(struct conn *c) { tell("late "); conn_abort(c); }
static void revoked(struct conn *c) { (void)c; tell("revoked "); }
static void stopping(struct conn *c) { tell("stopping "); conn_finish(c); }
static void closed(struct conn *c) { (void)c; tell("closed "); }
// clang-format on

static const struct protocol noting = {
    "noting", take, sent, ended, late, revoked, stopping, closed,
};

static struct server_fixture *fixture_noting(void (*options)(struct server_options *o),
                                             void (*accepted)(struct server_fixture *b))
{
    struct server_fixture *b = fixture_new(options);

    b->protocol = &noting;
    b->accepted = accepted;
    sem_init(&full, 0, 0);
    return b;
}

static struct cached_answer *shown_new(str text)
{
    struct cached_answer *s = mem_alloc(sizeof *s);

    *s = (struct cached_answer){ .refs = 1, .text = text };
    return s;
}

/* ---- sending ---- */

static struct shared *frame; /* with the test's own reference */

static void answer_in_pieces(struct server_fixture *b)
{
    struct conn *c = b->conn;

    for (int round = 0; round < 2; round++) {
        conn_send(c, STR("head,"));
        conn_send(c, STR(""));
        conn_send(c, STR("more,"));
        CHECK_INT(c->out_count, 1);
        conn_send_cached(c, shown_new(STR("shown,")));
        conn_send_shared(c, frame);
        conn_send(c, STR("tail."));
        CHECK_INT(c->out_count, 4);
        CHECK_INT(c->out_bytes, 27);
        CHECK_INT(frame->refs, 2);
        conn_flush(c);
        CHECK_INT(c->out_count, 0);
        CHECK_INT(c->out_bytes, 0);
        CHECK_INT(frame->refs, 1);
        CHECK_INT(b->server->chunk_count, 2); /* to be used again, by whoever is next */
    }
    CHECK(sizeof *c + c->out_room * 32 < 512);
}

static void read_pieces(void *with)
{
    struct server_fixture *b = with;
    int fd = net_tcp(b->port);

    net_expect(fd, STR("head,more,shown,frame,tail.head,more,shown,frame,tail."));
    net_send(fd, STR("thanks"));
    close(fd);
}

TEST(conn_sends_copies_and_shared_bytes_in_order_and_keeps_no_memory_of_them)
{
    struct server_fixture *b = fixture_noting(NULL, answer_in_pieces);

    frame = shared_new(STR("frame,"));
    net_play(b->loop, read_pieces, b);
    net_turn(b->loop);
    CHECK_INT(received, 6);
    CHECK_STR(str_from(told), "bytes ended closed ");
    fixture_free(b);
    shared_unref(frame);
}

enum { FRAMES = 300, FRAME = 50 << 10 };

/* Copies between them, so that chunks are filled while others are with the link. */
static void send_frames(struct server_fixture *b)
{
    for (int i = 0; i < FRAMES; i++) {
        conn_send_shared(b->conn, frame);
        conn_send(b->conn, STR("<"));
        if (i == FRAMES / 2)
            conn_flush(b->conn);
        conn_send(b->conn, STR(">"));
    }
    CHECK(b->conn->sending);
    conn_flush(b->conn);
    sem_post(&full);
}

static struct shared *frame_new(void)
{
    char *bytes = arena_alloc(check_arena(), FRAME);

    for (int i = 0; i < FRAME; i++)
        bytes[i] = (char)('a' + i % 23);
    return shared_new((str){ bytes, FRAME });
}

static void read_frames(void *with)
{
    struct server_fixture *b = with;
    char *found = arena_alloc(check_arena(), FRAME + 2);
    int fd = net_tcp(b->port);

    sem_wait(&full);
    for (int i = 0; i < FRAMES; i++) {
        CHECK_INT(net_read(fd, found, FRAME + 2), FRAME + 2);
        CHECK(memcmp(found, frame->bytes.at, FRAME) == 0);
        CHECK(memcmp(found + FRAME, "<>", 2) == 0);
    }
    close(fd);
}

TEST(conn_sends_more_than_the_peer_takes_at_once_and_says_when_there_is_room)
{
    struct server_fixture *b = fixture_noting(NULL, send_frames);

    frame = frame_new();
    net_play(b->loop, read_frames, b);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "sent ended closed ");
    CHECK_INT(frame->refs, 1);
    fixture_free(b);
    shared_unref(frame);
}

static void gather(struct server_fixture *b)
{
    struct conn *c = b->conn;

    conn_send(c, STR("one "));
    conn_flush_later(c);
    conn_send(c, STR("two "));
    conn_flush_later(c);
    conn_send(c, STR("three"));
    CHECK_INT(c->out_count, 1);
    CHECK_INT(c->out_bytes, 13);
}

static void gather_and_flush(struct server_fixture *b)
{
    gather(b);
    conn_flush(b->conn); /* by somebody else: who waits for room is told all the same */
    CHECK_INT(b->conn->out_count, 0);
}

static void read_gathered(void *with)
{
    struct server_fixture *b = with;
    int fd = net_tcp(b->port);

    net_expect(fd, STR("one two three"));
    close(fd);
}

TEST(conn_that_is_flushed_later_sends_at_the_end_of_the_turn)
{
    void (*const ways[])(struct server_fixture *) = { gather, gather_and_flush };

    for (int i = 0; i < 2; i++) {
        struct server_fixture *b = fixture_noting(NULL, ways[i]);
        told[0] = '\0';
        net_play(b->loop, read_gathered, b);
        net_turn(b->loop);
        CHECK_STR(str_from(told), "sent ended closed ");
        fixture_free(b);
    }
}

/* ---- closing ---- */

static void abort_while_sending(struct server_fixture *b)
{
    send_frames(b);
    conn_abort(b->conn);
    conn_abort(b->conn);
    conn_send(b->conn, STR("too late"));
    conn_send_shared(b->conn, frame);
    conn_send_cached(b->conn, shown_new(STR("too late")));
    conn_flush(b->conn);
    conn_flush_later(b->conn);
    conn_finish(b->conn);
}

static void read_all(int fd)
{
    char some[1 << 16];

    while (recv(fd, some, sizeof some, 0) > 0) {
    }
    close(fd);
}

static void read_to_the_end(void *with)
{
    struct server_fixture *b = with;
    read_all(net_tcp(b->port));
}

static void read_what_is_left(void *with)
{
    struct server_fixture *b = with;
    int fd = net_tcp(b->port);

    sem_wait(&full);
    read_all(fd);
}

TEST(conn_that_is_aborted_while_sending_lets_everything_go)
{
    struct server_fixture *b = fixture_noting(NULL, abort_while_sending);

    frame = frame_new();
    net_play(b->loop, read_what_is_left, b);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "closed ");
    CHECK_INT(frame->refs, 1);
    CHECK_INT(b->server->conn_count, 0);
    fixture_free(b);
    shared_unref(frame);
}

static void finish_while_sending(struct server_fixture *b)
{
    send_frames(b);
    conn_finish(b->conn);
    conn_send(b->conn, STR("too late"));
}

TEST(conn_that_is_finished_sends_all_before_it_closes)
{
    struct server_fixture *b = fixture_noting(NULL, finish_while_sending);

    frame = frame_new();
    net_play(b->loop, read_frames, b);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "closed ");
    fixture_free(b);
    shared_unref(frame);
}

enum { UNREAD = 4 << 20 };

static void refuse_at_once(struct server_fixture *b)
{
    link_pause(b->conn->link);
    conn_send(b->conn, STR("413"));
    conn_finish(b->conn);
}

/* A client that sends all of a large body before it reads the answer. */
static void send_then_read(void *with)
{
    struct server_fixture *b = with;
    char *body = arena_zero(check_arena(), UNREAD);
    int fd = net_tcp(b->port);

    net_send(fd, (str){ body, UNREAD });
    net_expect(fd, STR("413"));
    net_expect_end(fd);
    close(fd);
}

TEST(conn_that_is_finished_lets_the_peer_read_its_answer_first)
{
    struct server_fixture *b = fixture_noting(NULL, refuse_at_once);

    net_play(b->loop, send_then_read, b);
    while (!*told)
        net_turn(b->loop); /* what is sent in vain is read in turns */
    CHECK_STR(str_from(told), "closed ");
    CHECK_INT(received, 0);
    fixture_free(b);
}

static void finish_silently(struct server_fixture *b)
{
    conn_finish(b->conn);
}

TEST(conn_that_was_silent_closes_at_once)
{
    struct server_fixture *b = fixture_noting(NULL, finish_silently);

    net_play(b->loop, read_to_the_end, b);
    CHECK_STR(str_from(told), "closed ");
    fixture_free(b);
}

/* ---- time ---- */

static void in_milliseconds(struct server_options *o)
{
    o->limits.write_ms = 30;
}

static void set_deadlines(struct server_fixture *b)
{
    conn_deadline(b->conn, 1);
    conn_deadline(b->conn, 0);
    conn_deadline(b->conn, 20);
}

TEST(conn_is_late_when_its_deadline_has_passed)
{
    struct server_fixture *b = fixture_noting(in_milliseconds, set_deadlines);

    int64_t begin = loop_now_ms(b->loop);
    net_play(b->loop, read_to_the_end, b);
    int64_t took = loop_now_ms(b->loop) - begin;
    CHECK_STR(str_from(told), "late closed ");
    CHECK(took >= 20);
    CHECK(took < 10 * 1000); /* which is stuck, on whatever machine */
    fixture_free(b);
}

static sem_t is_closed;

static void take_nothing(void *with)
{
    struct server_fixture *b = with;
    int fd = net_tcp(b->port);

    sem_wait(&is_closed);
    close(fd);
}

static void closed_post(struct conn *c)
{
    closed(c);
    sem_post(&is_closed);
}

TEST(conn_whose_peer_takes_nothing_is_cut_off)
{
    static const struct protocol stalling = {
        "stalling", take, sent, ended, late, revoked, stopping, closed_post,
    };
    struct server_fixture *b = fixture_noting(in_milliseconds, send_frames);

    frame = frame_new();
    sem_init(&is_closed, 0, 0);
    b->protocol = &stalling;
    net_play(b->loop, take_nothing, b);
    CHECK_STR(str_from(told), "closed ");
    CHECK_INT(frame->refs, 1);
    fixture_free(b);
    shared_unref(frame);
}

/* ---- protocols ---- */

static void take_new(struct conn *c, str bytes)
{
    (void)bytes;
    tell("new ");
    conn_send(c, STR("new"));
    conn_flush(c);
}

static void switch_over(struct conn *c, str bytes)
{
    static const struct protocol next = {
        "next", take_new, sent, ended, late, revoked, stopping, closed,
    };

    (void)bytes;
    tell("old ");
    conn_send(c, STR("old"));
    conn_flush(c);
    conn_switch(c, &next, NULL);
}

static void ask_twice(void *with)
{
    struct server_fixture *b = with;
    int fd = net_tcp(b->port);

    net_send(fd, STR("1"));
    net_expect(fd, STR("old"));
    net_send(fd, STR("2"));
    net_expect(fd, STR("new"));
    close(fd);
}

TEST(conn_gives_bytes_to_the_protocol_it_was_switched_to)
{
    static const struct protocol first = {
        "first", switch_over, sent, ended, late, revoked, stopping, closed,
    };
    struct server_fixture *b = fixture_noting(NULL, NULL);

    b->protocol = &first;
    net_play(b->loop, ask_twice, b);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "old new ended closed ");
    fixture_free(b);
}
