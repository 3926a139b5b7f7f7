/* server_shared_test.c: a server whose store others write to as well: events of theirs come between
 * its own, and a request is answered only when what others did before it is known. */
#include "server_told.h"

TEST(server_holds_a_write_back_until_the_events_of_others_before_it_are_published)
{
    struct server_fixture *b = fixture = fixture_new(is_shared);
    struct command *first = update_at("seven", 7);

    first->follows = command_new("thing.write", "none");
    first->follows->follows = read_at("read", 4);
    first->follows->follows->follows = update_at("eight", 8);
    server_performed(b->server, first);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "read@4 ");
    server_performed(b->server, read_at("early", 8));
    bring(b, 5, 5, STR("wfstate_2"));
    CHECK_STR(str_from(told), "read@4 ");
    CHECK_INT(b->server->published, 5);
    bring(b, 6, 6, STR("wfstate_2"));
    CHECK_STR(str_from(told), "read@4 early@8 seven@8 none@8 eight@8 ");
    CHECK_INT(server_seq(b->server), 8);
    fixture_free(b);
}

TEST(server_publishes_an_event_once_whoever_brings_it_first)
{
    struct server_fixture *b = fixture = fixture_new(is_shared);

    bring(b, 5, 6, STR("wfstate_1"));
    server_performed(b->server, update_at("five", 5));
    server_performed(b->server, update_at("six", 6));
    net_turn(b->loop);
    CHECK_STR(str_from(told), "five@6 six@6 ");
    server_performed(b->server, update_at("seven", 7));
    net_turn(b->loop);
    bring(b, 5, 8, STR("wfstate_1"));
    CHECK_INT(b->server->published, 8);
    server_performed(b->server, update_at("nine", 9));
    net_turn(b->loop);
    CHECK_STR(str_from(told), "five@6 six@6 seven@7 nine@9 ");
    fixture_free(b);
}

static struct command *showing(struct command *c, str text)
{
    c->answer.cached_id = STR("wfstate_1");
    c->answer.cached = text;
    return c;
}

/* What the cache has of the state, "" when nothing. */
static str peeked(struct server_fixture *b)
{
    static const struct actor anybody = { .kind = ACTOR_OPERATOR };
    static const struct op read = { .peek = true };
    struct cached_answer *shown = op_peek(b->server->cache, &read, STR("wfstate_1"), &anybody);

    if (!shown)
        return STR("");
    str text = arena_copy(check_arena(), shown->text);
    cached_answer_unref(shown);
    return text;
}

TEST(server_does_not_show_what_a_write_left_when_others_may_have_changed_it_since)
{
    struct server_fixture *b = fixture = fixture_new(is_shared);

    server_performed(b->server, showing(update_at("five", 5), STR("new")));
    net_turn(b->loop);
    CHECK_STR(peeked(b), "new");
    bring(b, 6, 7, STR("wfstate_1")); /* 6 is ours, 7 another's */
    CHECK_STR(peeked(b), "");
    server_performed(b->server, showing(update_at("six", 6), STR("old")));
    server_performed(b->server, showing(command_new("thing.write", "none"), STR("older")));
    net_turn(b->loop);
    CHECK_STR(peeked(b), "");
    server_performed(b->server, showing(update_at("nine", 9), STR("waits")));
    net_turn(b->loop);
    CHECK_STR(peeked(b), "");
    bring(b, 8, 8, STR("wfstate_1"));
    CHECK_STR(peeked(b), "waits");
    CHECK_STR(str_from(told), "five@5 six@7 none@7 nine@9 ");
    fixture_free(b);
}

TEST(server_that_is_freed_answers_writes_that_wait_for_others_and_takes_what_was_brought)
{
    struct server_fixture *b = fixture = fixture_new(is_shared);

    server_performed(b->server, update_at("held", 9));
    net_turn(b->loop);
    CHECK_STR(str_from(told), "");
    server_published(b->server, arena_new(), NULL);
    fixture_free(b);
    CHECK(strstr(told, "held@"));
}

/* ---- fences ---- */

static void fence_passed(void *owner, err refused)
{
    tell_answer(owner, refused);
}

static void barrier_ask(struct server_fixture *b, const char *name)
{
    struct barrier *f = ARENA_NEW(check_arena(), struct barrier);

    *f = (struct barrier){ .then = fence_passed, .owner = (void *)name };
    server_barrier(b->server, f);
}

/* The look that was submitted has seen so much, or failed. */
static void look_comes_back(struct server_fixture *b, int64_t seq, enum error_kind failed)
{
    struct command *c = b->submitted;

    CHECK(c && !c->follows);
    CHECK_STR(str_from(c->op->name), "system.seen");
    b->submitted = NULL;
    b->submitted_end = &b->submitted;
    c->seq = seq;
    if (failed)
        c->error = err_new(c->arena, failed, "away");
    server_performed(b->server, c);
    net_turn(b->loop);
}

TEST(fence_is_shared_by_all_of_a_turn_and_passed_when_all_that_was_seen_is_published)
{
    struct server_fixture *b = fixture = fixture_new(is_shared);

    barrier_ask(b, "a");
    barrier_ask(b, "b");
    net_turn(b->loop);
    CHECK_INT(b->submits, 1);
    barrier_ask(b, "later");
    net_turn(b->loop);
    CHECK_INT(b->submits, 1); /* the look under way may be too old for it */
    look_comes_back(b, 5, 0);
    CHECK_STR(str_from(told), "");
    bring(b, 5, 5, STR("wfstate_1"));
    CHECK_STR(str_from(told), "a@5 b@5 ");
    net_turn(b->loop);
    CHECK_INT(b->submits, 2);
    look_comes_back(b, 5, 0);
    CHECK_STR(str_from(told), "a@5 b@5 later@5 ");
    fixture_free(b);
}

TEST(fence_says_so_when_the_database_does_not_answer_or_nobody_looks_any_more)
{
    struct server_fixture *b = fixture = fixture_new(is_shared);

    barrier_ask(b, "a");
    net_turn(b->loop);
    barrier_ask(b, "b");
    look_comes_back(b, 0, ERR_UNAVAILABLE);
    CHECK_STR(str_from(told), "aUNAVAILABLE@4 ");
    b->full = true;
    barrier_ask(b, "c");
    net_turn(b->loop);
    look_comes_back(b, 4, 0);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "aUNAVAILABLE@4 b@4 cUNAVAILABLE@4 ");
    barrier_ask(b, "d");
    fixture_free(b);
    CHECK(strstr(told, "dUNAVAILABLE@4 "));
}

static void say(struct server_fixture *b, int fd, const char *route)
{
    net_send(fd, arena_printf(check_arena(),
                              "%s HTTP/1.1\r\nHost: localhost\r\n"
                              "Authorization: Bearer secret\r\n\r\n",
                              route));
    net_turn(b->loop);
}

TEST(request_comes_to_its_token_only_behind_the_fence)
{
    struct server_fixture *b = fixture = fixture_new(is_shared);
    int fd = net_tcp(b->port);

    say(b, fd, "GET /thing");
    CHECK_INT(b->asks, 0);
    look_comes_back(b, 5, 0);
    CHECK_INT(b->asks, 0);
    bring(b, 5, 5, STR("wfstate_1"));
    CHECK_INT(b->asks, 1);
    b->asked->error = err_new(b->asked->arena, ERR_UNAUTHENTICATED, "not known");
    server_admitted(b->server, b->asked);
    net_turn(b->loop);
    net_expect(fd, STR("HTTP/1.1 401 "));
    close(fd);
    fixture_free(b);
}

TEST(request_is_answered_503_when_the_database_does_not_answer)
{
    struct server_fixture *b = fixture = fixture_new(is_shared);
    int fd = net_tcp(b->port);

    say(b, fd, "PUT /thing");
    look_comes_back(b, 0, ERR_UNAVAILABLE);
    net_expect(fd, STR("HTTP/1.1 503 "));
    close(fd);
    fixture_free(b);
}

static void go_away(struct server_fixture *b, int fd)
{
    conn_abort(LIST_ENTRY(b->server->conns.next, struct conn, all));
    net_turn(b->loop);
    close(fd);
    CHECK_INT(b->server->conn_count, 0);
}

/* What is left over, a sanitized build finds. */
TEST(connection_may_go_away_while_its_request_is_at_the_fence)
{
    struct server_fixture *b = fixture = fixture_new(is_shared);
    int at_look = net_tcp(b->port), at_end;

    say(b, at_look, "GET /thing");
    go_away(b, at_look);
    look_comes_back(b, 4, 0);
    at_end = net_tcp(b->port);
    say(b, at_end, "GET /thing");
    go_away(b, at_end);
    server_performed(b->server, b->submitted); /* and is still on its way at the end */
    fixture_free(b);
    CHECK_INT(b->asks, 0);
}
