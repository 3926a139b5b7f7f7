/* chaos_test.c: sixteen writers, a server that is killed twice a second, and nothing lost. */
#include "black/roaming_client.h"
#include "client/socket.h"

enum { UP_MS = 400 }; /* that a server lives, on average */

/* About twice a second, where a start takes a tenth of one, and never before there was time to work
 * for a while. */
static int kill_now_and_then(struct black *server, struct random *random)
{
    int64_t end = socket_clock_ms() + chaos_ms(15, 4);
    int kills = 0;

    for (; socket_clock_ms() < end; kills++) {
        chaos_wait_ms(UP_MS / 2 + (long)random_below(random, UP_MS));
        black_kill(server);
        black_start(server);
    }
    return kills;
}

TEST_LIMIT(nothing_acknowledged_is_lost_or_doubled_by_a_server_that_is_killed_again_and_again, 240)
{
    static const char *const args[] = { "--set", "versions_kept=10000000", NULL };
    static struct black server = { .args = args };
    static struct chaos c = { .nodes = &server, .node_count = 1, .patience_ms = 20000 };
    struct random random = random_start();

    black_start(&server);
    chaos_begin(&c, &random);
    int kills = kill_now_and_then(&server, &random);
    CHECK(kills > 0);
    chaos_end(&c, arena_printf(check_arena(), "%d kills", kills).at);
    black_stop(&server);
}
