/* server_test.c: the way of commands from connections to other threads and back. */
#define _GNU_SOURCE /* pthread_timedjoin_np */
#include <errno.h>

#include "server_told.h"

static void submit_three(void *with)
{
    struct server_fixture *b = with;

    CHECK(server_submit(b->server, command_new("thing.read", "a")));
    CHECK(server_submit(b->server, command_new("thing.write", "b")));
    CHECK(server_submit(b->server, command_new("thing.read", "c")));
    CHECK_INT(b->submits, 0);
}

TEST(server_hands_over_all_commands_of_a_turn_at_once_and_in_order)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct timer *t = timer_new(b->loop, submit_three, b);

    timer_set(t, 0);
    net_turn(b->loop);
    CHECK_INT(b->submits, 1);
    server_performed(b->server, b->submitted);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "a@4 b@4 c@4 ");
    timer_free(t);
    fixture_free(b);
}

TEST(server_answers_commands_for_which_there_was_no_room)
{
    struct server_fixture *b = fixture = fixture_new(NULL);

    b->full = true;
    submit_three(b);
    net_turn(b->loop);
    CHECK_INT(b->submits, 1);
    CHECK_STR(str_from(told), "aUNAVAILABLE@4 bUNAVAILABLE@4 cUNAVAILABLE@4 ");
    fixture_free(b);
}

TEST(server_gathers_a_bounded_number_of_commands)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    int count = 0;

    while (server_submit(b->server, command_new("thing.read", "x")))
        CHECK(++count < 100 * 1000);
    net_turn(b->loop);
    CHECK(server_submit(b->server, command_new("thing.read", "x")));
    net_turn(b->loop);
    fixture_free(b);
}

TEST(server_publishes_the_events_of_a_delivery_before_its_first_answer)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct command *first = update_at("first", 5);

    first->follows = update_at("second", 6);
    first->follows->follows = read_at("read", 6);
    server_performed(b->server, NULL);
    server_performed(b->server, first);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "first@6 second@6 read@6 ");
    fixture_free(b);
}

/* Else a client could see version 2 by one read and version 1, out of the cache, by the next. */
TEST(server_holds_a_read_back_until_all_that_it_saw_is_published)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
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
    fixture_free(b);
}

TEST(server_that_is_freed_answers_what_is_still_held)
{
    struct server_fixture *b = fixture = fixture_new(NULL);

    server_performed(b->server, read_at("held", 9));
    net_turn(b->loop);
    listener_close(b->tcp);
    server_stop(b->server, 0, fixture_stopped);
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

static void *keep_up(void *server)
{
    server_keep_up(server);
    return NULL;
}

static bool waits_on(pthread_t thread)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 250 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT;
}

static struct command *read_large(void)
{
    struct command *c = read_at("large", 4);

    c->arena = check_arena_new();
    arena_alloc(c->arena, 17 << 20);
    return c;
}

/* A machine may be so busy that the loop has no turn for seconds, and two readers can fill the memory
 * meanwhile. */
TEST(readers_wait_for_the_loop_for_as_long_as_it_takes)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    pthread_t reader;

    server_keep_up(b->server);
    server_performed(b->server, read_large());
    CHECK(pthread_create(&reader, NULL, keep_up, b->server) == 0);
    CHECK(waits_on(reader));
    net_turn(b->loop);
    CHECK(pthread_join(reader, NULL) == 0);

    server_performed(b->server, read_large());
    CHECK(pthread_create(&reader, NULL, keep_up, b->server) == 0);
    server_loop_ended(b->server);
    CHECK(pthread_join(reader, NULL) == 0);
    net_turn(b->loop);
    fixture_free(b);
}

enum { THREADS = 4, EACH = 2000 };

static int done_count;

static void count_done(struct command *c)
{
    (void)c;
    if (++done_count == THREADS * EACH)
        loop_stop(fixture->loop);
}

static void *perform_many(void *commands)
{
    struct command *all = commands;

    for (int i = 0; i < EACH; i++) {
        arena_take(all[i].arena);
        server_performed(fixture->server, &all[i]);
    }
    return NULL;
}

TEST(server_takes_what_many_threads_have_performed)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct command *all = arena_alloc(check_arena(), THREADS * EACH * sizeof *all);
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS * EACH; i++)
        all[i] = (struct command){ .arena = check_arena_new(),
                                   .op = op_find(b->table, STR("thing.read")),
                                   .done = count_done };
    for (int i = 0; i < THREADS * EACH; i++)
        arena_give(all[i].arena);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, perform_many, all + i * EACH) == 0);
    loop_run(b->loop);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(done_count, THREADS * EACH);
    fixture_free(b);
}

TEST(server_keeps_a_few_arenas_and_no_large_ones)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
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
    fixture_free(b);
}
