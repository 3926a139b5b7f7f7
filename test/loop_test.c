/* loop_test.c: real sockets around one loop: links, many of them, and how they are listened for. */
#include "wire/loop.h"

#include <fcntl.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "net_help.h"

/* A listener with links that do what a test's events say. */
struct fixture {
    struct loop *loop;
    struct listener *tcp, *local;
    uint16_t port;
    const struct link_events *events;
    struct link *link; /* the last that was accepted */
    void (*on_accept)(struct fixture *p);
    char log[256]; /* what was told, in order */
    size_t received;
    str big;
    sem_t full; /* the system takes no more for now */
    int open, most;
};

static void note(struct fixture *p, const char *what)
{
    strncat(p->log, what, sizeof p->log - strlen(p->log) - 1);
}

static void echo(void *owner, str bytes)
{
    struct fixture *p = owner;

    p->received += bytes.len;
    link_send(p->link, &bytes, 1);
}

static void note_bytes(void *owner, str bytes)
{
    struct fixture *p = owner;

    p->received += bytes.len;
    note(p, "bytes ");
}

static void note_sent(void *owner)
{
    note(owner, "sent ");
}

static void note_ended(void *owner)
{
    note(owner, "ended ");
}

static void ended_close(void *owner)
{
    struct fixture *p = owner;

    note(p, "ended ");
    link_close(p->link);
}

static void note_closed(void *owner)
{
    note(owner, "closed ");
}

static const struct link_events echoing = { echo, note_sent, ended_close, note_closed };
static const struct link_events noting = { note_bytes, note_sent, note_ended, note_closed };
static const struct link_events closing = { note_bytes, note_sent, ended_close, note_closed };

static void accept_one(void *owner, struct link *l)
{
    struct fixture *p = owner;

    p->link = l;
    link_open(l, p->events, p);
    if (p->on_accept)
        p->on_accept(p);
}

static struct fixture *fixture_new(const struct link_events *events)
{
    struct fixture *p = ARENA_NEW(check_arena(), struct fixture);

    p->loop = loop_new();
    p->events = events;
    sem_init(&p->full, 0, 0);
    CHECK_OK(loop_listen_tcp(p->loop, check_arena(), STR("127.0.0.1"), &p->port, accept_one, p,
                             &p->tcp));
    CHECK_OK(loop_listen_unix(p->loop, check_arena(), STR("test.sock"), accept_one, p, &p->local));
    CHECK(p->port != 0);
    return p;
}

static void fixture_free(struct fixture *p)
{
    listener_close(p->tcp);
    listener_close(p->local);
    loop_free(p->loop);
}

/* ---- links ---- */

static void say_hello(int fd)
{
    net_send(fd, STR("hello"));
    net_expect(fd, STR("hello"));
    net_send(fd, STR("again"));
    net_expect(fd, STR("again"));
    close(fd);
}

static void hello_tcp(void *with)
{
    struct fixture *p = with;
    say_hello(net_tcp(p->port));
}

static void hello_unix(void *with)
{
    (void)with;
    say_hello(net_unix("test.sock"));
}

TEST(link_carries_bytes_both_ways_over_either_kind_of_socket)
{
    void (*const kinds[])(void *) = { hello_tcp, hello_unix };

    for (int i = 0; i < 2; i++) {
        struct fixture *p = fixture_new(&echoing);
        net_play(p->loop, kinds[i], p);
        net_turn(p->loop);
        CHECK_INT(p->received, 10);
        CHECK_STR(str_from(p->log), "ended closed ");
        fixture_free(p);
    }
}

/* Who is in a dialogue is waited for awake; that must not keep anything else from being done. */

static void answer_with_what_is_noted(void *owner, str bytes)
{
    struct fixture *p = owner;
    str answer = str_starts(str_from(p->log), STR("time")) ? STR("t") : STR("-");

    p->received += bytes.len;
    link_send(p->link, &answer, 1);
}

static void note_time(void *owner)
{
    note(owner, "time ");
}

static void talk_until_it_is_time(void *with)
{
    int fd = net_unix("test.sock");
    char answer = '-';

    (void)with;
    for (int turns = 0; turns < 200 || answer == '-'; turns++) {
        net_send(fd, STR("?"));
        CHECK_INT(net_read(fd, &answer, 1), 1);
    }
    close(fd);
}

TEST(loop_with_a_dialogue_keeps_its_times)
{
    static const struct link_events events = { answer_with_what_is_noted, note_sent, ended_close,
                                               note_closed };
    struct fixture *p = fixture_new(&events);
    struct timer *t = timer_new(p->loop, note_time, p);

    timer_set(t, 5);
    net_play(p->loop, talk_until_it_is_time, p);
    net_turn(p->loop);
    CHECK(p->received >= 200);
    CHECK_STR(str_from(p->log), "time ended closed ");
    timer_free(t);
    fixture_free(p);
}

enum { BIG = 8 << 20 };

static str big_bytes(void)
{
    char *at = arena_alloc(check_arena(), BIG);

    for (size_t i = 0; i < BIG; i++)
        at[i] = (char)(i * 2654435761u >> 13);
    return (str){ at, BIG };
}

static void send_big(struct fixture *p)
{
    str pieces[LINK_PIECES_MAX];

    for (size_t i = 0; i < LINK_PIECES_MAX; i++)
        pieces[i] =
            str_slice(p->big, i * (BIG / LINK_PIECES_MAX), (i + 1) * (BIG / LINK_PIECES_MAX));
    CHECK(!link_send(p->link, pieces, LINK_PIECES_MAX));
    CHECK(link_unsent(p->link) > 0);
    note(p, "sending ");
    sem_post(&p->full);
}

static void read_big(void *with)
{
    struct fixture *p = with;
    char *found = arena_alloc(check_arena(), BIG);
    int fd = net_tcp(p->port);

    sem_wait(&p->full);
    CHECK_INT(net_read(fd, found, BIG), BIG);
    CHECK(memcmp(found, p->big.at, BIG) == 0);
    close(fd);
}

TEST(link_sends_more_than_the_system_takes_at_once_and_tells_when_all_is_gone)
{
    struct fixture *p = fixture_new(&closing);

    p->big = big_bytes();
    p->on_accept = send_big;
    net_play(p->loop, read_big, p);
    net_turn(p->loop);
    CHECK_STR(str_from(p->log), "sending sent ended closed ");
    fixture_free(p);
}

static void close_while_sending(struct fixture *p)
{
    send_big(p);
    link_close(p->link);
    link_close(p->link);
}

static void read_some(void *with)
{
    struct fixture *p = with;
    char some[1 << 16];
    int fd = net_tcp(p->port);

    sem_wait(&p->full);
    while (recv(fd, some, sizeof some, 0) > 0) {
    }
    close(fd);
}

TEST(link_that_is_closed_while_sending_tells_nothing_but_that)
{
    struct fixture *p = fixture_new(&noting);

    p->big = big_bytes();
    p->on_accept = close_while_sending;
    net_play(p->loop, read_some, p);
    net_turn(p->loop);
    CHECK_STR(str_from(p->log), "sending closed ");
    fixture_free(p);
}

static void reset_at_once(void *with)
{
    struct fixture *p = with;
    struct linger hard = { .l_onoff = 1 };
    int fd = net_tcp(p->port);

    net_send(fd, STR("x"));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(fd);
}

static void pause_at_once(struct fixture *p)
{
    link_pause(p->link); /* so that only sending can find out */
}

static void send_in_vain(void *owner)
{
    struct fixture *p = owner;

    CHECK(!link_send(p->link, (str[]){ STR("one"), STR("two") }, 2));
    note(p, "sending ");
}

TEST(link_to_a_peer_that_is_gone_ends_and_swallows_what_is_sent)
{
    struct fixture *p = fixture_new(&noting);
    struct timer *t = timer_new(p->loop, send_in_vain, p);

    p->on_accept = pause_at_once;
    net_play(p->loop, reset_at_once, p);
    CHECK_STR(str_from(p->log), "");
    timer_set(t, 0);
    net_turn(p->loop);
    CHECK_STR(str_from(p->log), "sending sent ended ");
    CHECK(link_send(p->link, (str[]){ STR("three") }, 1));
    timer_free(t);
    link_close(p->link);
    net_turn(p->loop);
    CHECK_STR(str_from(p->log), "sending sent ended closed ");
    fixture_free(p);
}

static void answer_after_the_end(void *owner)
{
    struct fixture *p = owner;

    note(p, "ended ");
    CHECK(link_send(p->link, (str[]){ STR("still"), STR(""), STR(" here") }, 3));
    link_finish(p->link);
}

static void end_half(void *with)
{
    struct fixture *p = with;
    int fd = net_tcp(p->port);

    net_send(fd, STR("bye"));
    shutdown(fd, SHUT_WR);
    net_expect(fd, STR("still here"));
    net_expect_end(fd);
    close(fd);
}

TEST(link_can_send_to_a_peer_that_sends_no_more)
{
    static const struct link_events events = { note_bytes, note_sent, answer_after_the_end,
                                               note_closed };
    struct fixture *p = fixture_new(&events);

    net_play(p->loop, end_half, p);
    CHECK_STR(str_from(p->log), "bytes ended ");
    link_close(p->link);
    fixture_free(p);
    CHECK_STR(str_from(p->log), "bytes ended closed ");
}

static void send_and_stay(void *with)
{
    struct fixture *p = with;
    static int fd;

    fd = net_tcp(p->port);
    net_send(fd, STR("waiting"));
}

TEST(link_that_is_paused_leaves_bytes_with_the_system)
{
    struct fixture *p = fixture_new(&noting);

    p->on_accept = pause_at_once;
    net_play(p->loop, send_and_stay, p);
    net_turn(p->loop);
    CHECK_INT(p->received, 0);
    link_resume(p->link);
    link_resume(p->link);
    net_turn(p->loop);
    CHECK_INT(p->received, 7);
    link_close(p->link);
    fixture_free(p);
}

/* ---- many ---- */

enum { MANY = 1000 };

struct one {
    struct link *link;
    struct fixture *fixture;
};

static void one_echo(void *owner, str bytes)
{
    struct one *o = owner;
    CHECK(link_send(o->link, &bytes, 1));
}

static void one_ended(void *owner)
{
    struct one *o = owner;
    link_close(o->link);
}

static void one_closed(void *owner)
{
    struct one *o = owner;

    if (--o->fixture->open == 0)
        loop_stop(o->fixture->loop);
    mem_free(o);
}

static const struct link_events one_of_many = { one_echo, note_sent, one_ended, one_closed };

static void accept_many(void *owner, struct link *l)
{
    struct one *o = mem_alloc(sizeof *o);

    *o = (struct one){ l, owner };
    o->fixture->most = ++o->fixture->open;
    link_open(l, &one_of_many, o);
}

static void be_many(void *with)
{
    struct fixture *p = with;
    int fds[MANY];

    for (int i = 0; i < MANY; i++)
        fds[i] = net_tcp(p->port);
    for (int i = 0; i < MANY; i++)
        net_send(fds[i], (str){ (char *)&i, sizeof i });
    for (int i = 0; i < MANY; i++)
        net_expect(fds[i], (str){ (char *)&i, sizeof i });
    CHECK_INT(p->most, MANY);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
}

TEST(loop_serves_a_thousand_links)
{
    struct fixture p = { .loop = loop_new() };
    struct rlimit files;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_max < 2 * MANY + 50)
        check_skip("%lu descriptors are too few", (unsigned long)files.rlim_max);
    CHECK_OK(
        loop_listen_tcp(p.loop, check_arena(), STR("127.0.0.1"), &p.port, accept_many, &p, &p.tcp));
    net_play(p.loop, be_many, &p);
    if (p.open)
        loop_run(p.loop);
    CHECK_INT(p.open, 0);
    listener_close(p.tcp);
    loop_free(p.loop);
}

/* ---- listening ---- */

TEST(listen_takes_addresses_and_tells_the_port)
{
    static const struct {
        const char *text;
        int kind; /* of the error; -1: none */
    } cases[] = {
        { "127.0.0.1:0", -1 },
        { "127.0.0.1", -1 },
        { "localhost:0", -1 },
        { "localhost", -1 },
        { "", ERR_INVALID },
        { "::1", ERR_INVALID },
        { "[::1", ERR_INVALID },
        { "127.0.0.1:", ERR_INVALID },
        { "127.0.0.1:65536", ERR_INVALID },
        { "127.0.0.1:-1", ERR_INVALID },
        { "127.0.0.1:80x", ERR_INVALID },
        { "127.0.0.256:0", ERR_INVALID },
        { "example.org:80", ERR_INVALID },
        { "0123456789012345678901234567890123456789012345678901234567890123456789", ERR_INVALID },
        { "192.0.2.1:0", ERR_UNAVAILABLE }, /* an address for documents, which nobody has */
    };
    struct loop *loop = loop_new();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct listener *l = NULL;
        uint16_t port = 0;
        err e = loop_listen_tcp(loop, check_arena(), str_from(cases[i].text), &port, accept_one,
                                NULL, &l);
        if ((e ? (int)e->kind : -1) != cases[i].kind)
            check_fail(__FILE__, __LINE__, "%s: %s", cases[i].text, e ? e->message.at : "no error");
        CHECK(e || port != 0);
        if (l)
            listener_close(l);
    }
    loop_free(loop);
}

TEST(listen_on_a_port_that_is_taken_is_a_conflict)
{
    struct fixture *p = fixture_new(&echoing);
    struct listener *l;

    CHECK_ERR(loop_listen_tcp(p->loop, check_arena(), STR("127.0.0.1"), &p->port, accept_one, p,
                              &l),
              ERR_CONFLICT);
    fixture_free(p);
}

TEST(listen_on_a_unix_socket_makes_a_private_file_that_goes_with_it)
{
    struct fixture *p = fixture_new(&echoing);
    struct stat st;

    CHECK(stat("test.sock", &st) == 0);
    CHECK(S_ISSOCK(st.st_mode));
    CHECK_INT(st.st_mode & 0777, 0600);
    fixture_free(p);
    CHECK(stat("test.sock", &st) != 0);
}

TEST(listen_replaces_only_a_socket_that_nobody_listens_on)
{
    struct fixture *p = fixture_new(&echoing);
    struct sockaddr_un stale = { .sun_family = AF_UNIX, .sun_path = "stale.sock" };
    struct listener *l;
    struct stat st;
    int fd = net_open(AF_UNIX);
    char far[300];

    CHECK(bind(fd, (struct sockaddr *)&stale, sizeof stale) == 0);
    close(fd);
    CHECK_OK(loop_listen_unix(p->loop, check_arena(), STR("stale.sock"), accept_one, p, &l));
    close(net_unix("stale.sock"));
    net_turn(p->loop);
    listener_close(l);

    CHECK_ERR(loop_listen_unix(p->loop, check_arena(), STR("test.sock"), accept_one, p, &l),
              ERR_CONFLICT);
    net_turn(p->loop);
    net_play(p->loop, hello_unix, p); /* and is left as it was */

    fd = open("file", O_CREAT | O_WRONLY, 0600);
    close(fd);
    CHECK_ERR(loop_listen_unix(p->loop, check_arena(), STR("file"), accept_one, p, &l),
              ERR_CONFLICT);
    CHECK(stat("file", &st) == 0 && S_ISREG(st.st_mode));

    memset(far, 'x', sizeof far);
    CHECK_ERR(loop_listen_unix(p->loop, check_arena(), (str){ far, 108 }, accept_one, p, &l),
              ERR_INVALID);
    CHECK_ERR(loop_listen_unix(p->loop, check_arena(), STR("no/such/folder"), accept_one, p, &l),
              ERR_UNAVAILABLE);
    net_turn(p->loop);
    fixture_free(p);
}

TEST(link_knows_who_is_at_the_other_end_of_a_unix_socket)
{
    struct fixture *p = fixture_new(&closing);
    uint32_t uid;
    int64_t pid;

    int fd = net_unix("test.sock");
    net_turn(p->loop);
    CHECK(link_is_local(p->link));
    CHECK(link_peer(p->link, &uid, &pid));
    CHECK_INT(uid, geteuid());
    CHECK_INT(pid, getpid());
    link_close(p->link);
    close(fd);

    fd = net_tcp(p->port);
    net_turn(p->loop);
    CHECK(!link_is_local(p->link));
    CHECK(!link_peer(p->link, &uid, &pid));
    link_close(p->link);
    close(fd);
    fixture_free(p);
}
