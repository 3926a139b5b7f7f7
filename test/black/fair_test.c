/* fair_test.c: that one who asks for much makes others wait for a little of it, and not for all.
 *
 * What is counted is work that was done for the one while the other waited, and not time. */
#include <stdlib.h>

#include "black/adversary.h"

static void write_once(const struct black *b, str id, int n)
{
    black_expect(
        b, 200, black_route("PATCH", id),
        arena_printf(check_arena(), "{'operations':[{'op':'add','path':'/n','value':%d}]}", n).at);
}

/* ---- what is read ---- */

// clang-format off
static const struct load {
    const char *kind;
    int count;
    int rounds_most; /* while an honest client writes once */
} loads[] = {
    { "prompts that are as large",   100, 6 },
    { "an unknown token, pipelined", 500, 300 },
};
// clang-format on

enum { WRITES = BLACK_SANITIZED ? 5 : 20 };

static int by_number(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

/* On a busy machine the one who writes may have to wait for a processor while the others go on: so the
 * lower quartile counts. A server that is not fair makes every write wait. */
static void writes_beside(const struct black *b, const struct adversary_setup *setup, str id,
                          const struct load *load)
{
    struct adversary *a = adversary_begin(setup, adversary_kind(load->kind), load->count);
    int64_t rounds[WRITES];

    adversary_wait(a);
    for (int i = 0; i < WRITES; i++) {
        int64_t before = adversary_rounds(a);
        write_once(b, id, i);
        rounds[i] = adversary_rounds(a) - before;
    }
    qsort(rounds, WRITES, sizeof *rounds, by_number);
    check_note("%s: %lld rounds of theirs for one write", load->kind,
               (long long)rounds[WRITES / 4]);
    CHECK(rounds[WRITES / 4] <= load->rounds_most);
    adversary_end(a);
}

TEST_LIMIT(one_who_sends_little_does_not_wait_for_all_of_those_who_send_much, 120)
{
    struct black b = { 0 };

    black_start(&b);
    black_add_schema(&b);
    struct adversary_setup *setup = adversary_setup_new(&b);
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        writes_beside(&b, setup, black_add_state(&b, "{}"), &loads[i]);
    black_stop(&b);
}

/* ---- what is written ---- */

/* A token takes turns with the others at the writer, however many of its commands wait there. */
TEST_LIMIT(one_who_writes_does_not_wait_for_all_writes_of_another_token, 120)
{
    enum { CONNECTIONS = 60, EACH_MOST = 8 };
    struct black b = { 0 };

    black_start(&b);
    black_add_schema(&b);
    struct adversary_setup *setup = adversary_setup_new(&b);
    str id = black_add_state(&b, "{}");
    struct adversary *a = adversary_begin(setup, adversary_kind("patches that move"), CONNECTIONS);
    adversary_wait(a);
    int64_t before = black_metric(&b, "baton_batch_commands_total");
    for (int i = 1; i <= WRITES; i++)
        write_once(&b, id, i);
    int64_t each = (black_metric(&b, "baton_batch_commands_total") - before) / WRITES;
    check_note("%lld commands were performed for one write", (long long)each);
    CHECK(each <= EACH_MOST);
    adversary_end(a);
    black_stop(&b);
}

/* ---- what is read by readers ---- */

static struct peer ask_as(const struct black *b, str token, const char *route)
{
    struct peer p = peer_open(b, check_arena());

    peer_send(&p, arena_printf(check_arena(),
                               "%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " STR_FMT
                               "\r\n\r\n",
                               route, STR_ARG(token)));
    return p;
}

static str large_state(const struct black *b, int versions)
{
    enum { BYTES = 300000 };
    char *text = arena_zero(check_arena(), BYTES + 1);
    str id = black_add_state(b, "{}");

    for (int i = 0; i < versions; i++) {
        memset(text, 'a' + i, BYTES);
        black_expect(b, 200, black_route("PUT", id),
                     arena_printf(check_arena(), "{'data':{'text':'%s'}}", text).at);
    }
    return id;
}

/* And likewise at the readers. */
TEST_LIMIT(one_who_reads_does_not_wait_for_all_reads_of_another_token, 120)
{
    enum { READS = 60, LEFT_LEAST = 30 };
    struct black b = { 0 };
    struct peer peers[READS];

    black_start(&b);
    black_add_schema(&b);
    str large = large_state(&b, 12), small = black_add_state(&b, "{'n':1}");
    str token = black_add_token(&b, "viewer").text;
    const char *history = arena_printf(check_arena(), STR_FMT "/history?limit=12",
                                       STR_ARG(str_from(black_route("GET", large))))
                              .at;
    for (int i = 0; i < READS; i++)
        peers[i] = ask_as(&b, token, history);
    const char *part = arena_printf(check_arena(), "%s?pointer=/n", black_route("GET", small)).at;
    black_expect(&b, 200, part, "");
    int64_t left = black_metric(&b, "baton_reads_waiting");
    check_note("%lld of %d reads of the other token still waited", (long long)left, (int)READS);
    CHECK(left >= LEFT_LEAST);
    for (int i = 0; i < READS; i++)
        peer_close(&peers[i]);
    black_stop(&b);
}

/* ---- who waits ---- */

/* A long poll that has nothing to answer yet holds what it asks for, and not what it asks about. */
TEST_LIMIT(long_poll_that_waits_does_not_hold_the_document, 60)
{
    enum { POLLS = 40, BYTES_MOST = 4 << 20 };
    struct black b = { 0 };
    struct peer peers[POLLS];

    black_start(&b);
    black_add_schema(&b);
    str id = large_state(&b, 1), token = black_add_token(&b, "viewer").text;
    const char *route =
        arena_printf(check_arena(), "%s?wait_version=3&timeout=50", black_route("GET", id)).at;
    for (int i = 0; i < POLLS; i++)
        peers[i] = ask_as(&b, token, route);
    while (black_metric(&b, "baton_reads_waiting") > 0)
        black_alive(&b);
    int64_t held = black_metric(&b, "baton_buffered_bytes");
    check_note("%d polls hold %lld KiB", (int)POLLS, (long long)held >> 10);
    CHECK(held < BYTES_MOST);
    write_once(&b, id, 1);
    for (int i = 0; i < POLLS; i++) {
        CHECK_INT(peer_next(&peers[i]).status, 200);
        peer_close(&peers[i]);
    }
    black_stop(&b);
}
