/* server_conn_test.c: what the server does to its connections: whom it lets in, and when it ends
 * them. */
#include <grp.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "server_told.h"

/* ---- connections ---- */

static sem_t accepted;

// clang-format off
static void take(struct conn *c, str bytes) { (void)c, (void)bytes; }
static void sent(struct conn *c) { (void)c; }
static void ended(struct conn *c) { tell("ended "); conn_abort(c); }
static void late(struct conn *c) { tell("late "); conn_abort(c); }
static void revoked(struct conn *c) { tell("revoked "); conn_finish(c); }
static void finish(struct conn *c) { tell("stopping "); conn_send(c, STR("bye")); conn_finish(c); }
static void stay(struct conn *c) { (void)c; tell("staying "); }
static void closed(struct conn *c) { (void)c; tell("closed "); }
// clang-format on

static const struct protocol obedient = {
    "obedient", take, sent, ended, late, revoked, finish, closed,
};
static const struct protocol stubborn = {
    "stubborn", take, sent, ended, late, revoked, stay, closed,
};

static void post_accepted(struct server_fixture *b)
{
    (void)b;
    sem_post(&accepted);
}

static struct server_fixture *fixture_with(const struct protocol *p,
                                           void (*options)(struct server_options *o))
{
    fixture = fixture_new(options);
    fixture->protocol = p;
    fixture->accepted = post_accepted;
    sem_init(&accepted, 0, 0);
    return fixture;
}

/* Connects and stays. */
static int peer_fds[3];

static void connect_three(void *with)
{
    struct server_fixture *b = with;

    for (int i = 0; i < 3; i++) {
        peer_fds[i] = net_tcp(b->port);
        sem_wait(&accepted);
    }
}

static void connect_with_grants(struct server_fixture *b, struct grant *grants[3])
{
    int i = 0;

    net_play(b->loop, connect_three, b);
    LIST_EACH(it, &b->server->conns)
        LIST_ENTRY(it, struct conn, all)->grant = grant_ref(grants[i++]);
    CHECK_INT(i, 3);
}

TEST(conns_are_told_when_their_token_is_revoked)
{
    struct server_fixture *b = fixture_with(&obedient, NULL);
    struct grant *g = grant_new(STR("tok_1")), *other = grant_new(STR("tok_2"));
    struct grant *again = grant_new(STR("tok_1")); /* the same token, looked up a second time */

    connect_with_grants(b, (struct grant *[]){ g, other, again });
    publish_revocation(b, 5, STR("tok_1"));
    CHECK(g->revoked && again->revoked && !other->revoked);
    CHECK_STR(str_from(told), "revoked revoked revoked@5 closed closed ");
    CHECK_INT(b->server->conn_count, 1);
    fixture_free(b);
    CHECK_INT(g->refs + other->refs + again->refs, 3);
}

/* A session got a state: whoever shows its token again is looked up again, and who is connected
 * goes on as what the session is now. */
TEST(grants_change_when_their_session_is_bound)
{
    struct server_fixture *b = fixture_with(&obedient, NULL);
    struct actor one = { .kind = ACTOR_SESSION, .name = STR("one"), .session_id = STR("ses_1") };
    struct actor two = { .kind = ACTOR_SESSION, .name = STR("two"), .session_id = STR("ses_2") };
    struct grant *g = grant_new(STR("tok_1")), *other = grant_new(STR("tok_2"));
    const struct actor *now[3];
    int i = 0;

    g->actor = &one;
    other->actor = &two;
    connect_with_grants(b, (struct grant *[]){ g, other, g });
    ask_for(b, STR("secret"));
    admit(b, g);
    struct command *c = write_at("bound", 5, EVENT_SESSION_BOUND, STR("ses_1"));
    ((struct event *)c->events)->data = STR("{\"workflow_state_id\":\"wfstate_7\"}");
    server_performed(b->server, c);
    net_turn(b->loop);
    LIST_EACH(it, &b->server->conns)
        now[i++] = LIST_ENTRY(it, struct conn, all)->grant->actor;
    for (i = 0; i < 3; i += 2) {
        CHECK_STR(now[i]->state_id, "wfstate_7");
        CHECK_STR(now[i]->session_id, "ses_1");
    }
    CHECK(now[1] == &two);
    CHECK_INT(one.state_id.len, 0); /* others may be using it */
    CHECK_INT(g->refs, 1);
    CHECK_STR(str_from(told), "bound@5 "); /* and nobody is told */
    ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 2);
    admit(b, NULL);
    fixture_free(b);
    CHECK_INT(other->refs, 1);
}

/* A token may be minted before its session comes, and then knows nothing of it. */
TEST(grants_change_when_their_session_comes)
{
    static const str own = STR("/own");
    struct server_fixture *b = fixture_with(&obedient, NULL);
    struct actor one = { .kind = ACTOR_SESSION, .session_id = STR("ses_1"), .is_attended = true };
    struct actor narrow = one;
    struct grant *g = grant_new(STR("tok_1")), *h = grant_new(STR("tok_2"));
    const struct actor *now[3];
    int i = 0;

    narrow.pointers = &own;
    narrow.pointer_count = 1;
    g->actor = &one;
    h->actor = &narrow;
    connect_with_grants(b, (struct grant *[]){ g, h, h });
    ask_for(b, STR("secret"));
    admit(b, g);
    struct command *c = write_at("created", 5, EVENT_SESSION_CREATED, STR("ses_1"));
    ((struct event *)c->events)->data =
        STR("{\"parent_session_id\":\"ses_0\",\"workflow_state_id\":\"wfstate_7\","
            "\"attended\":false,\"pointers\":[\"/a\",\"/b\"]}");
    server_performed(b->server, c);
    net_turn(b->loop);
    LIST_EACH(it, &b->server->conns)
        now[i++] = LIST_ENTRY(it, struct conn, all)->grant->actor;
    for (i = 0; i < 3; i++) {
        CHECK_STR(now[i]->state_id, "wfstate_7");
        CHECK(now[i]->is_child && !now[i]->is_attended);
    }
    CHECK_INT(now[0]->pointer_count, 2);
    CHECK_STR(now[0]->pointers[1], "/b");
    CHECK_INT(now[1]->pointer_count, 1);
    CHECK_STR(now[1]->pointers[0], "/own");
    ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 2);
    admit(b, NULL);
    fixture_free(b);
}

static void in_milliseconds(struct server_options *o)
{
    o->limits.idle_ms = 50;
}

static void read_end(void *with)
{
    (void)with;
    net_expect_end(peer_fds[0]);
}

TEST(conns_are_told_when_the_time_of_their_token_has_passed)
{
    struct server_fixture *b = fixture_with(&obedient, in_milliseconds);
    struct grant *g = grant_new(STR("tok_1")), *other = grant_new(STR("tok_2"));

    g->expires_at_ms = b->now_ms + 60 * 1000;
    other->expires_at_ms = b->now_ms + 61 * 1000;
    connect_with_grants(b, (struct grant *[]){ g, other, g });
    b->now_ms += 60 * 1000;
    net_play(b->loop, read_end, b);
    CHECK(g->revoked && !other->revoked);
    CHECK_STR(str_slice(str_from(told), 0, 16), "revoked revoked ");
    fixture_free(b);
}

TEST(server_stops_when_its_connections_have_finished)
{
    struct server_fixture *b = fixture_with(&obedient, NULL);

    net_play(b->loop, connect_three, b);
    for (int i = 0; i < 3; i++)
        shutdown(peer_fds[i], SHUT_WR);
    server_stop(b->server, 60 * 1000, fixture_stopped);
    CHECK(!b->stopped);
    int64_t begin = loop_now_ms(b->loop);
    loop_run(b->loop);
    CHECK(b->stopped);
    CHECK(loop_now_ms(b->loop) - begin < 10 * 1000);
    CHECK_INT(b->server->conn_count, 0);
    for (int i = 0; i < 3; i++)
        net_expect(peer_fds[i], STR("bye"));
    fixture_free(b);
}

TEST(server_cuts_off_what_has_not_finished_after_the_grace)
{
    struct server_fixture *b = fixture_with(&stubborn, NULL);

    net_play(b->loop, connect_three, b);
    int64_t begin = loop_now_ms(b->loop);
    server_stop(b->server, 30, fixture_stopped);
    loop_run(b->loop);
    CHECK(b->stopped);
    CHECK(loop_now_ms(b->loop) - begin >= 30);
    CHECK_STR(str_from(told), "staying staying staying closed closed closed ");
    for (int i = 0; i < 3; i++)
        net_expect_end(peer_fds[i]);
    fixture_free(b);
}

TEST(server_that_stops_takes_no_more_connections)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    int fd = net_tcp(b->port);

    server_stop(b->server, 0, fixture_stopped);
    net_turn(b->loop);
    net_turn(b->loop);
    CHECK_INT(b->server->conn_count, 0);
    net_expect_end(fd);
    fixture_free(b);
}

/* ---- who may come by the Unix socket ---- */

static void connect_as_nobody(void *with)
{
    enum { NOBODY = 65534 };
    pid_t child = fork();
    int status;

    (void)with;
    if (child == 0) {
        struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "test.sock" };
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        char byte;

        if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY) ||
            connect(fd, (struct sockaddr *)&to, sizeof to))
            _exit(2);
        _exit(recv(fd, &byte, 1, 0) == 0 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

/* The file's mode keeps others out; this is for when somebody has changed it. */
TEST(server_refuses_other_users_on_its_unix_socket)
{
    struct server_fixture *b = fixture = fixture_new(NULL);

    if (geteuid() != 0)
        check_skip("only root can be somebody else");
    CHECK_OK(loop_listen_unix(b->loop, check_arena(), STR("test.sock"), server_accept, b->server,
                              &b->local));
    CHECK(chmod(".", 0711) == 0 && chmod("test.sock", 0666) == 0);
    int fd = net_unix("test.sock");
    net_turn(b->loop);
    CHECK_INT(b->server->conn_count, 1);
    net_play(b->loop, connect_as_nobody, b);
    CHECK_INT(b->server->conn_count, 1);
    close(fd);
    fixture_free(b);
}
