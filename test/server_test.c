/* server_test.c: what connections share: the way to other threads and back, grants, limits, the
 * end. The test plays the other threads. */
#include "wire/server.h"

#include <grp.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/event.h"
#include "server_help.h"

static char told[512]; /* what happened, in order */

static void tell(const char *what)
{
    strncat(told, what, sizeof told - strlen(told) - 1);
}

/* ---- commands ---- */

static struct bench *bench; /* the one of the test */

static void answered(struct command *c)
{
    char what[80];

    snprintf(what, sizeof what, "%s%s@%lld ", (const char *)c->owner,
             c->error ? error_look(c->error->kind)->name : "", (long long)bench->server->published);
    tell(what);
}

static struct command *command_new(const char *op, const char *name)
{
    struct command *c = ARENA_NEW(check_arena(), struct command);

    *c = (struct command){ .arena = check_arena(),
                           .op = op_find(bench->table, str_from(op)),
                           .done = answered,
                           .owner = (void *)name };
    CHECK(c->op);
    return c;
}

static struct command *read_at(const char *name, int64_t seq)
{
    struct command *c = command_new("thing.read", name);

    c->seq = seq;
    return c;
}

static struct command *write_at(const char *name, int64_t seq, enum event_type type, str subject)
{
    struct command *c = command_new("thing.write", name);
    struct event *e = ARENA_NEW(check_arena(), struct event);

    *e = (struct event){ .seq = seq, .type = type, .subject = subject, .data = STR("{}") };
    c->events = e;
    return c;
}

static struct command *update_at(const char *name, int64_t seq)
{
    return write_at(name, seq, EVENT_STATE_UPDATED, STR("wfstate_1"));
}

static void submit_three(void *with)
{
    struct bench *b = with;

    CHECK(server_submit(b->server, command_new("thing.read", "a")));
    CHECK(server_submit(b->server, command_new("thing.write", "b")));
    CHECK(server_submit(b->server, command_new("thing.read", "c")));
    CHECK_INT(b->submits, 0);
}

TEST(server_hands_over_all_commands_of_a_turn_at_once_and_in_order)
{
    struct bench *b = bench = bench_new(NULL);
    struct timer *t = timer_new(b->loop, submit_three, b);

    timer_set(t, 0);
    net_turn(b->loop);
    CHECK_INT(b->submits, 1);
    server_performed(b->server, b->submitted);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "a@4 b@4 c@4 ");
    timer_free(t);
    bench_free(b);
}

TEST(server_answers_commands_for_which_there_was_no_room)
{
    struct bench *b = bench = bench_new(NULL);

    b->full = true;
    submit_three(b);
    net_turn(b->loop);
    CHECK_INT(b->submits, 1);
    CHECK_STR(str_from(told), "aUNAVAILABLE@4 bUNAVAILABLE@4 cUNAVAILABLE@4 ");
    bench_free(b);
}

TEST(server_gathers_a_bounded_number_of_commands)
{
    struct bench *b = bench = bench_new(NULL);
    int count = 0;

    while (server_submit(b->server, command_new("thing.read", "x")))
        CHECK(++count < 100 * 1000);
    net_turn(b->loop);
    CHECK(server_submit(b->server, command_new("thing.read", "x")));
    net_turn(b->loop);
    bench_free(b);
}

TEST(server_publishes_the_events_of_a_delivery_before_its_first_answer)
{
    struct bench *b = bench = bench_new(NULL);
    struct command *first = update_at("first", 5);

    first->follows = update_at("second", 6);
    first->follows->follows = read_at("read", 6);
    server_performed(b->server, NULL);
    server_performed(b->server, first);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "first@6 second@6 read@6 ");
    bench_free(b);
}

/* Else a client could see version 2 by one read and version 1, out of the cache, by the next. */
TEST(server_holds_a_read_back_until_all_that_it_saw_is_published)
{
    struct bench *b = bench = bench_new(NULL);
    struct command *early = read_at("early", 6);

    early->follows = read_at("old", 4);
    server_performed(b->server, early);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "old@4 ");
    server_performed(b->server, update_at("one", 5));
    net_turn(b->loop);
    CHECK_STR(str_from(told), "old@4 one@5 ");
    server_performed(b->server, read_at("later", 7));
    server_performed(b->server, update_at("two", 6));
    net_turn(b->loop);
    CHECK_STR(str_from(told), "old@4 one@5 early@6 two@6 ");
    server_performed(b->server, update_at("three", 7));
    net_turn(b->loop);
    CHECK_STR(str_from(told), "old@4 one@5 early@6 two@6 later@7 three@7 ");
    bench_free(b);
}

TEST(server_that_is_freed_answers_what_is_still_held)
{
    struct bench *b = bench = bench_new(NULL);

    server_performed(b->server, read_at("held", 9));
    net_turn(b->loop);
    listener_close(b->tcp);
    server_stop(b->server, 0, bench_stopped);
    loop_run(b->loop);
    CHECK(b->stopped);
    server_performed(b->server, read_at("brought", 4));
    server_submit(b->server, read_at("gathered", 4));
    CHECK_STR(str_from(told), "");
    server_free(b->server);
    CHECK(strstr(told, "held@"));
    CHECK(strstr(told, "brought@"));
    CHECK(strstr(told, "gatheredUNAVAILABLE@"));
    loop_free(b->loop);
    op_table_free(b->table);
}

/* ---- a store that is shared ---- */

static void is_shared(struct server_options *o)
{
    o->shared = true;
}

/* The follower brings events from..to of other nodes, each of the subject. */
static void bring(struct bench *b, int64_t from, int64_t to, str subject)
{
    struct arena *a = arena_new();
    struct event *first = NULL, **end = &first;

    for (int64_t seq = from; seq <= to; seq++) {
        *end = ARENA_NEW(a, struct event);
        **end = (struct event){
            .seq = seq, .type = EVENT_STATE_UPDATED, .subject = subject, .data = STR("{}")
        };
        end = &(*end)->next;
    }
    server_published(b->server, a, first);
    net_turn(b->loop);
}

TEST(server_holds_a_write_back_until_the_events_of_others_before_it_are_published)
{
    struct bench *b = bench = bench_new(is_shared);
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
    bench_free(b);
}

TEST(server_publishes_an_event_once_whoever_brings_it_first)
{
    struct bench *b = bench = bench_new(is_shared);

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
    bench_free(b);
}

static struct command *showing(struct command *c, str text)
{
    c->shown_id = STR("wfstate_1");
    c->shown = text;
    return c;
}

/* What the cache has of the state, "" when nothing. */
static str peeked(struct bench *b)
{
    static const struct actor anybody = { .kind = ACTOR_OPERATOR };
    static const struct op read = { .peek = true };
    struct op_shown *shown = op_peek(b->server->cache, &read, STR("wfstate_1"), &anybody);

    if (!shown)
        return STR("");
    str text = arena_copy(check_arena(), shown->text);
    op_shown_unref(shown);
    return text;
}

TEST(server_does_not_show_what_a_write_left_when_others_may_have_changed_it_since)
{
    struct bench *b = bench = bench_new(is_shared);

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
    bench_free(b);
}

TEST(server_that_is_freed_answers_writes_that_wait_for_others_and_takes_what_was_brought)
{
    struct bench *b = bench = bench_new(is_shared);

    server_performed(b->server, update_at("held", 9));
    net_turn(b->loop);
    CHECK_STR(str_from(told), "");
    server_published(b->server, arena_new(), NULL);
    bench_free(b);
    CHECK(strstr(told, "held@"));
}

static void fence_passed(void *owner, err refused)
{
    char what[80];

    snprintf(what, sizeof what, "%s%s@%lld ", (const char *)owner,
             refused ? error_look(refused->kind)->name : "", (long long)bench->server->published);
    tell(what);
}

static void fence_ask(struct bench *b, const char *name)
{
    struct fence *f = ARENA_NEW(check_arena(), struct fence);

    *f = (struct fence){ .then = fence_passed, .owner = (void *)name };
    server_fence(b->server, f);
}

/* The look that was submitted has seen so much, or failed. */
static void look_comes_back(struct bench *b, int64_t seq, enum error_kind failed)
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
    struct bench *b = bench = bench_new(is_shared);

    fence_ask(b, "a");
    fence_ask(b, "b");
    net_turn(b->loop);
    CHECK_INT(b->submits, 1);
    fence_ask(b, "later");
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
    bench_free(b);
}

TEST(fence_says_so_when_the_database_does_not_answer_or_nobody_looks_any_more)
{
    struct bench *b = bench = bench_new(is_shared);

    fence_ask(b, "a");
    net_turn(b->loop);
    fence_ask(b, "b");
    look_comes_back(b, 0, ERR_UNAVAILABLE);
    CHECK_STR(str_from(told), "aUNAVAILABLE@4 ");
    b->full = true;
    fence_ask(b, "c");
    net_turn(b->loop);
    look_comes_back(b, 4, 0);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "aUNAVAILABLE@4 b@4 cUNAVAILABLE@4 ");
    fence_ask(b, "d");
    bench_free(b);
    CHECK(strstr(told, "dUNAVAILABLE@4 "));
}

static void say(struct bench *b, int fd, const char *route)
{
    net_send(fd, arena_printf(check_arena(),
                              "%s HTTP/1.1\r\nHost: localhost\r\n"
                              "Authorization: Bearer secret\r\n\r\n",
                              route));
    net_turn(b->loop);
}

TEST(request_comes_to_its_token_only_behind_the_fence)
{
    struct bench *b = bench = bench_new(is_shared);
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
    bench_free(b);
}

TEST(request_is_answered_503_when_the_database_does_not_answer)
{
    struct bench *b = bench = bench_new(is_shared);
    int fd = net_tcp(b->port);

    say(b, fd, "PUT /thing");
    look_comes_back(b, 0, ERR_UNAVAILABLE);
    net_expect(fd, STR("HTTP/1.1 503 "));
    close(fd);
    bench_free(b);
}

static void go_away(struct bench *b, int fd)
{
    conn_abort(LIST_ENTRY(b->server->conns.next, struct conn, all));
    net_turn(b->loop);
    close(fd);
    CHECK_INT(b->server->conn_count, 0);
}

/* What is left over, a sanitized build finds. */
TEST(connection_may_go_away_while_its_request_is_at_the_fence)
{
    struct bench *b = bench = bench_new(is_shared);
    int at_look = net_tcp(b->port), at_end;

    say(b, at_look, "GET /thing");
    go_away(b, at_look);
    look_comes_back(b, 4, 0);
    at_end = net_tcp(b->port);
    say(b, at_end, "GET /thing");
    go_away(b, at_end);
    server_performed(b->server, b->submitted); /* and is still on its way at the end */
    bench_free(b);
    CHECK_INT(b->asks, 0);
}

enum { THREADS = 4, EACH = 2000 };

static int done_count;

static void count_done(struct command *c)
{
    (void)c;
    if (++done_count == THREADS * EACH)
        loop_stop(bench->loop);
}

static void *perform_many(void *commands)
{
    struct command *all = commands;

    for (int i = 0; i < EACH; i++)
        server_performed(bench->server, &all[i]);
    return NULL;
}

TEST(server_takes_what_many_threads_have_performed)
{
    struct bench *b = bench = bench_new(NULL);
    struct command *all = arena_alloc(check_arena(), THREADS * EACH * sizeof *all);
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS * EACH; i++)
        all[i] = (struct command){ .op = op_find(b->table, STR("thing.read")), .done = count_done };
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, perform_many, all + i * EACH) == 0);
    loop_run(b->loop);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(done_count, THREADS * EACH);
    bench_free(b);
}

TEST(server_keeps_a_few_arenas_and_no_large_ones)
{
    struct bench *b = bench = bench_new(NULL);
    struct arena *a = server_arena(b->server), *many[100];

    arena_alloc(a, 100);
    server_arena_done(b->server, a);
    CHECK(server_arena(b->server) == a);
    arena_alloc(a, 2 << 20);
    server_arena_done(b->server, a);
    CHECK_INT(b->server->arena_count, 0);
    for (int i = 0; i < 100; i++)
        many[i] = server_arena(b->server);
    for (int i = 0; i < 100; i++)
        server_arena_done(b->server, many[i]);
    CHECK_INT(b->server->arena_count, 64);
    bench_free(b);
}

/* ---- grants ---- */

/* Never freed: the test holds a reference, and counts the others. */
static struct grant *grant_new(str token_id)
{
    struct grant *g = ARENA_NEW(check_arena(), struct grant);

    *g = (struct grant){ .token_id = token_id, .refs = 1 };
    return g;
}

static struct grant *given;
static int given_count, refused_count;

static void take_grant(void *owner, struct grant *g, err refused)
{
    CHECK(owner == bench);
    CHECK_INT(!g, !!refused);
    if (g) {
        CHECK(!g->revoked);
        given = g;
        given_count++;
        grant_unref(g);
    } else {
        refused_count++;
    }
}

static void ask_for(struct bench *b, str token)
{
    server_grant(b->server, token, take_grant, b);
}

/* The one who looks tokens up answers the last question. */
static void admit(struct bench *b, struct grant *g)
{
    struct admission *a = b->asked;

    a->grant = g ? grant_ref(g) : NULL;
    a->error = g ? NULL : err_new(a->arena, ERR_UNAUTHENTICATED, "not known");
    server_admitted(b->server, a);
    net_turn(b->loop);
}

TEST(grant_is_looked_up_once_for_all_who_show_the_token)
{
    struct bench *b = bench = bench_new(NULL);
    struct grant *g = grant_new(STR("tok_1")), *h = grant_new(STR("tok_2"));

    for (int i = 0; i < 3; i++)
        ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 1);
    CHECK_STR(b->asked->token, "secret");
    CHECK_INT(given_count, 0);
    admit(b, g);
    CHECK_INT(given_count, 3);
    ask_for(b, STR("secret"));
    CHECK_INT(given_count, 4);
    CHECK_INT(b->asks, 1);
    CHECK(given == g);

    ask_for(b, STR("another"));
    CHECK_INT(b->asks, 2);
    admit(b, h);
    CHECK(given == h);
    bench_free(b);
    CHECK_INT(g->refs, 1);
    CHECK_INT(h->refs, 1);
}

TEST(grant_that_was_refused_is_asked_for_again)
{
    struct bench *b = bench = bench_new(NULL);

    ask_for(b, STR("secret"));
    ask_for(b, STR("secret"));
    admit(b, NULL);
    CHECK_INT(refused_count, 2);
    ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 2);
    admit(b, NULL);
    CHECK_INT(refused_count, 3);
    bench_free(b);
}

TEST(grant_is_asked_for_again_when_its_time_has_passed)
{
    struct bench *b = bench = bench_new(NULL);
    struct grant *g = grant_new(STR("tok_1"));

    g->expires_at_ms = b->now_ms + 1000;
    ask_for(b, STR("secret"));
    admit(b, g);
    b->now_ms += 999;
    ask_for(b, STR("secret"));
    CHECK_INT(given_count, 2);
    b->now_ms += 1;
    ask_for(b, STR("secret"));
    CHECK_INT(given_count, 2);
    CHECK_INT(b->asks, 2);
    admit(b, NULL);
    CHECK_INT(refused_count, 1);
    CHECK_INT(g->refs, 1);
    bench_free(b);
}

static void publish_revocation(struct bench *b, int64_t seq, str token_id)
{
    server_performed(b->server, write_at("revoked", seq, EVENT_TOKEN_REVOKED, token_id));
    net_turn(b->loop);
}

TEST(grant_ends_when_its_revocation_is_published)
{
    struct bench *b = bench = bench_new(NULL);
    struct grant *g = grant_new(STR("tok_1")), *other = grant_new(STR("tok_2"));

    ask_for(b, STR("secret"));
    admit(b, g);
    ask_for(b, STR("other"));
    admit(b, other);
    publish_revocation(b, 5, STR("tok_1"));
    CHECK(g->revoked);
    CHECK_INT(g->refs, 1);
    ask_for(b, STR("other"));
    CHECK_INT(b->asks, 2);
    ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 3);
    admit(b, NULL);
    CHECK_INT(refused_count, 1);
    bench_free(b);
    CHECK(!other->revoked);
}

static struct command *mint_at(int64_t seq)
{
    static const struct actor actor = { .kind = ACTOR_SESSION, .token_id = { "tok_1", 5 } };
    static const struct minted minted = { .text = { "secret", 6 }, .actor = &actor };
    struct command *c = write_at("claimed", seq, EVENT_RUN_CLAIMED, STR("run_1"));

    c->minted = &minted;
    return c;
}

TEST(grant_of_a_token_that_was_made_here_is_known)
{
    struct bench *b = bench = bench_new(NULL);

    server_performed(b->server, mint_at(5));
    net_turn(b->loop);
    ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 0);
    CHECK_INT(given_count, 1);
    CHECK_STR(given->token_id, "tok_1");
    publish_revocation(b, 6, STR("tok_1"));
    ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 1);
    admit(b, NULL);
    CHECK_INT(refused_count, 1);
    bench_free(b);
}

/* Another node may have revoked it already, and the log has brought that first. */
TEST(grant_of_a_new_token_is_asked_for_when_more_is_known_than_its_making)
{
    struct bench *b = bench = bench_new(is_shared);

    bring(b, 5, 6, STR("wfstate_1"));
    server_performed(b->server, mint_at(5));
    net_turn(b->loop);
    ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 1);
    admit(b, NULL);
    bench_free(b);
}

/* The look-up may have read the row before the revocation was committed. */
TEST(grant_is_not_given_when_a_revocation_came_between_question_and_answer)
{
    struct bench *b = bench = bench_new(NULL);
    struct grant *g = grant_new(STR("tok_1"));

    ask_for(b, STR("secret"));
    publish_revocation(b, 5, STR("tok_1"));
    admit(b, g);
    CHECK_INT(given_count, 0);
    CHECK_INT(b->asks, 2); /* again, now from behind the revocation */
    CHECK_INT(g->refs, 1);
    admit(b, NULL);
    CHECK_INT(refused_count, 1);

    /* Brought together: whichever was there first. */
    ask_for(b, STR("secret"));
    b->asked->grant = grant_ref(g);
    server_admitted(b->server, b->asked);
    publish_revocation(b, 6, STR("tok_1"));
    CHECK_INT(given_count, 0);
    CHECK_INT(b->asks, 4);
    admit(b, NULL);
    CHECK_INT(refused_count, 2);
    bench_free(b);
}

TEST(grants_are_kept_up_to_a_number_and_the_least_used_one_goes)
{
    struct bench *b = bench = bench_new(NULL);
    struct grant *g = grant_new(STR("tok_1"));

    for (int i = 0; i <= 4096; i++) {
        ask_for(b, arena_printf(check_arena(), "token %d", i));
        admit(b, g);
        ask_for(b, STR("token 0"));
    }
    CHECK_INT(b->asks, 4097);
    CHECK_INT(g->refs, 1 + 4096);
    ask_for(b, STR("token 4096"));
    CHECK_INT(b->asks, 4097);
    ask_for(b, STR("token 1"));
    CHECK_INT(b->asks, 4098);
    admit(b, g);
    bench_free(b);
    CHECK_INT(g->refs, 1);
}

TEST(grant_that_is_still_asked_for_at_the_end_is_refused)
{
    struct bench *b = bench = bench_new(NULL);

    ask_for(b, STR("secret"));
    ask_for(b, STR("other"));
    bench_free(b);
    CHECK_INT(refused_count, 2);
}

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

static void post_accepted(struct bench *b)
{
    (void)b;
    sem_post(&accepted);
}

static struct bench *bench_with(const struct protocol *p, void (*options)(struct server_options *o))
{
    bench = bench_new(options);
    bench->protocol = p;
    bench->accepted = post_accepted;
    sem_init(&accepted, 0, 0);
    return bench;
}

/* Connects and stays. */
static int peer_fds[3];

static void connect_three(void *with)
{
    struct bench *b = with;

    for (int i = 0; i < 3; i++) {
        peer_fds[i] = net_tcp(b->port);
        sem_wait(&accepted);
    }
}

static void connect_with_grants(struct bench *b, struct grant *grants[3])
{
    int i = 0;

    net_play(b->loop, connect_three, b);
    LIST_EACH(it, &b->server->conns)
        LIST_ENTRY(it, struct conn, all)->grant = grant_ref(grants[i++]);
    CHECK_INT(i, 3);
}

TEST(conns_are_told_when_their_token_is_revoked)
{
    struct bench *b = bench_with(&obedient, NULL);
    struct grant *g = grant_new(STR("tok_1")), *other = grant_new(STR("tok_2"));
    struct grant *again = grant_new(STR("tok_1")); /* the same token, looked up a second time */

    connect_with_grants(b, (struct grant *[]){ g, other, again });
    publish_revocation(b, 5, STR("tok_1"));
    CHECK(g->revoked && again->revoked && !other->revoked);
    CHECK_STR(str_from(told), "revoked revoked revoked@5 closed closed ");
    CHECK_INT(b->server->conn_count, 1);
    bench_free(b);
    CHECK_INT(g->refs + other->refs + again->refs, 3);
}

/* A session got a state: whoever shows its token again is looked up again, and who is connected
 * goes on as what the session is now. */
TEST(grants_change_when_their_session_is_bound)
{
    struct bench *b = bench_with(&obedient, NULL);
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
    bench_free(b);
    CHECK_INT(other->refs, 1);
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
    struct bench *b = bench_with(&obedient, in_milliseconds);
    struct grant *g = grant_new(STR("tok_1")), *other = grant_new(STR("tok_2"));

    g->expires_at_ms = b->now_ms + 60 * 1000;
    other->expires_at_ms = b->now_ms + 61 * 1000;
    connect_with_grants(b, (struct grant *[]){ g, other, g });
    b->now_ms += 60 * 1000;
    net_play(b->loop, read_end, b);
    CHECK(g->revoked && !other->revoked);
    CHECK_STR(str_slice(str_from(told), 0, 16), "revoked revoked ");
    bench_free(b);
}

TEST(server_stops_when_its_connections_have_finished)
{
    struct bench *b = bench_with(&obedient, NULL);

    net_play(b->loop, connect_three, b);
    for (int i = 0; i < 3; i++)
        shutdown(peer_fds[i], SHUT_WR);
    server_stop(b->server, 60 * 1000, bench_stopped);
    CHECK(!b->stopped);
    int64_t begin = loop_now_ms(b->loop);
    loop_run(b->loop);
    CHECK(b->stopped);
    CHECK(loop_now_ms(b->loop) - begin < 10 * 1000);
    CHECK_INT(b->server->conn_count, 0);
    for (int i = 0; i < 3; i++)
        net_expect(peer_fds[i], STR("bye"));
    bench_free(b);
}

TEST(server_cuts_off_what_has_not_finished_after_the_grace)
{
    struct bench *b = bench_with(&stubborn, NULL);

    net_play(b->loop, connect_three, b);
    int64_t begin = loop_now_ms(b->loop);
    server_stop(b->server, 30, bench_stopped);
    loop_run(b->loop);
    CHECK(b->stopped);
    CHECK(loop_now_ms(b->loop) - begin >= 30);
    CHECK_STR(str_from(told), "staying staying staying closed closed closed ");
    for (int i = 0; i < 3; i++)
        net_expect_end(peer_fds[i]);
    bench_free(b);
}

TEST(server_that_stops_takes_no_more_connections)
{
    struct bench *b = bench = bench_new(NULL);
    int fd = net_tcp(b->port);

    server_stop(b->server, 0, bench_stopped);
    net_turn(b->loop);
    net_turn(b->loop);
    CHECK_INT(b->server->conn_count, 0);
    net_expect_end(fd);
    bench_free(b);
}

/* ---- limits ---- */

static void two_connections(struct server_options *o)
{
    o->limits.connections_max = 2;
    o->limits.connections_kept = 0;
}

static void connect_one_too_many(void *with)
{
    struct bench *b = with;
    char found[1024];
    int a = net_tcp(b->port), c = net_tcp(b->port), one_more = net_tcp(b->port);

    size_t len = net_read(one_more, found, sizeof found - 1);
    found[len] = '\0';
    CHECK(str_starts(str_from(found), STR("HTTP/1.1 503 Service Unavailable\r\n")));
    CHECK(strstr(found, "\r\nRetry-After: 1\r\n"));
    CHECK(strstr(found, "\r\nConnection: close\r\n"));
    const char *body = strstr(found, "\r\n\r\n") + 4, *length = strstr(found, "Content-Length: ");
    CHECK(length);
    CHECK_INT(atoi(length + 16), strlen(body));
    close(one_more);
    close(a);
    close(c);
}

TEST(server_tells_the_connection_that_is_one_too_many)
{
    struct bench *b = bench = bench_new(two_connections);

    net_play(b->loop, connect_one_too_many, b);
    net_turn(b->loop);
    CHECK_INT(b->server->conn_count, 0);
    bench_free(b);
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
    struct bench *b = bench = bench_new(NULL);

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
    bench_free(b);
}
