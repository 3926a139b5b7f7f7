/* nodes_fault_test.c: nodes that die, stop, or lose the database they share: nobody else is harmed,
 * and nothing is done twice. */
#include <unistd.h>

#include "black/pair.h"

/* ---- the database goes and comes ---- */

TEST_LIMIT(node_says_503_while_the_database_is_away_and_goes_on_by_itself, 60)
{
    struct pair p = pair_start_with("lost_time=100ms");
    str retry;

    black_add_schema(&p.a);
    str state = black_add_state(&p.a, "{'n':0}");
    CHECK_INT(node_shown_n(&p.b, state), 0);
    black_expect(&p.a, 200, "GET /ready", "");
    postgres_stop(p.postgres);
    struct reply read = black_ask(&p.b, black_route("GET", state), "");
    CHECK_INT(read.status, 503);
    CHECK(response_value(&read.response, "retry-after", &retry));
    struct reply write = black_ask(&p.a, black_route("PATCH", state), node_patch_to(1));
    CHECK_INT(write.status, 503);
    CHECK(response_value(&write.response, "retry-after", &retry));
    black_ask_until(&p.a, 503, "GET /ready", "");
    black_expect(&p.b, 200, "GET /ready", ""); /* which is more patient */
    black_expect(&p.a, 200, "GET /health", "");
    postgres_start_again(p.postgres);
    black_ask_until(&p.a, 200, black_route("PATCH", state), node_patch_to(2));
    black_ask_until(&p.a, 200, "GET /ready", "");
    read = black_ask_until(&p.b, 200, black_route("GET", state), "");
    CHECK_INT(json_int_or(json_get(read.body, "current_data"), "n", -1), 2);
    pair_stop(&p);
}

/* ---- a writer that is held up ---- */

/* From now on, who writes to the log does this at the time that the trigger says. */
static void hold_up(struct postgres *p, const char *trigger, const char *does)
{
    postgres_exec(p, arena_printf(check_arena(),
                                  "CREATE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS"
                                  " $$ BEGIN PERFORM %s; RETURN NEW; END $$",
                                  does)
                         .at);
    postgres_exec(
        p, arena_printf(check_arena(), "%s FOR EACH ROW EXECUTE FUNCTION hold_up()", trigger).at);
}

static void until_held_up(struct postgres *p, const char *event)
{
    postgres_until(p, arena_printf(check_arena(),
                                   "SELECT count(*) FROM pg_stat_activity WHERE wait_event = '%s'",
                                   event)
                          .at);
}

TEST_LIMIT(node_that_stops_while_it_writes_loses_its_turn_and_nothing_else, 60)
{
    struct pair p = pair_start_with("lock_time=300ms");

    black_add_schema(&p.a);
    str state = black_add_state(&p.a, "{'list':[]}");
    hold_up(p.postgres, "CREATE TRIGGER hold_up BEFORE INSERT ON log",
            "pg_advisory_xact_lock_shared(7)");
    postgres_number(p.postgres, "SELECT 1 FROM pg_advisory_lock(7)");
    struct peer held = node_begin_add_one(&p.a, state, "\"held\"");
    until_held_up(p.postgres, "advisory");
    black_pause(&p.a);
    CHECK(postgres_number(p.postgres, "SELECT pg_advisory_unlock(7)::int"));
    CHECK_INT(node_add_one(&p.b, state, "\"other\"").status, 200);
    black_continue(&p.a);
    int status = peer_next(&held).status;
    CHECK(status == 503 || status == 200);
    CHECK_INT(node_shown_count(&p.b, state), status == 503 ? 1 : 2);
    CHECK_INT(node_add_one(&p.a, state, "\"held\"").status, 200);
    CHECK_INT(node_shown_count(&p.a, state), 2);
    CHECK_INT(node_shown_count(&p.b, state), 2);
    peer_close(&held);
    pair_stop(&p);
}

/* ---- commits of which nobody knows ---- */

/* The database crashes while a node waits for a commit, and stays away for longer than the node
 * looks for it. The node ends, and answers nothing. Later all of it is there or nothing, and who asks
 * again, anywhere, has it once. */
static void lose_a_commit(struct pair *p, str state, const char *event, int64_t made)
{
    struct peer asked = node_begin_add_one(&p->a, state, "\"unknown\"");

    until_held_up(p->postgres, event);
    postgres_stop(p->postgres);
    CHECK_INT(black_end(&p->a), 70);
    CHECK_INT(peer_next(&asked).status, 0);
    peer_close(&asked);

    postgres_start_again(p->postgres);
    postgres_exec(p->postgres, "DROP TRIGGER hold_up ON log");
    black_start(&p->a);
    CHECK_INT(node_shown_count(&p->a, state), made);
    CHECK_INT(node_add_one(&p->a, state, "\"unknown\"").status, 200);
    black_ask_until(&p->b, 200, black_route("GET", state), "");
    CHECK_INT(node_add_one(&p->b, state, "\"unknown\"").status, 200);
    CHECK_INT(node_shown_count(&p->a, state), 1);
    CHECK_INT(node_shown_count(&p->b, state), 1);
}

/* It is on the disk, and waits for a standby, of which there is none, to have it too. */
TEST_LIMIT(node_that_cannot_know_of_a_commit_that_was_made_ends, 60)
{
    static const char *const settings[] = { "fsync=off", "synchronous_commit=local",
                                            "synchronous_standby_names=nobody", NULL };
    struct pair p = pair_start_on(postgres_start_with(settings), "commit_time=300ms");

    black_add_schema(&p.a);
    str state = black_add_state(&p.a, "{'list':[]}");
    hold_up(p.postgres, "CREATE TRIGGER hold_up BEFORE INSERT ON log",
            "set_config('synchronous_commit', 'on', true)");
    lose_a_commit(&p, state, "SyncRep", 1);
    pair_stop(&p);
}

TEST_LIMIT(node_that_cannot_know_of_a_commit_that_was_not_made_ends, 60)
{
    struct pair p = pair_start_with("commit_time=300ms");

    black_add_schema(&p.a);
    str state = black_add_state(&p.a, "{'list':[]}");
    hold_up(p.postgres,
            "CREATE CONSTRAINT TRIGGER hold_up AFTER INSERT ON log DEFERRABLE INITIALLY DEFERRED",
            "pg_sleep(60)");
    lose_a_commit(&p, state, "PgSleep", 0);
    pair_stop(&p);
}

/* ---- what nodes do for all of them ---- */

enum { WORKS = 50 };

/* Work that finds nothing to do, and leaves a trace. */
static void work_add(struct postgres *p, const char *name)
{
    postgres_exec(p, arena_printf(check_arena(),
                                  "INSERT INTO due (at, kind, subject, arg)"
                                  " SELECT 1, 'compact_state', '%s' || n, 0"
                                  " FROM generate_series(1, %d) AS n",
                                  name, WORKS)
                         .at);
}

static void work_done_once(struct postgres *p, const char *name)
{
    postgres_until(p, "SELECT (count(*) = 0)::int FROM due WHERE kind = 'compact_state'");
    const char *done = "SELECT count(%s) FROM done WHERE subject LIKE '%s%%'";
    CHECK_INT(postgres_number(p, arena_printf(check_arena(), done, "*", name).at), WORKS);
    CHECK_INT(postgres_number(p, arena_printf(check_arena(), done, "DISTINCT subject", name).at),
              WORKS);
}

TEST_LIMIT(work_that_is_due_is_done_once_and_goes_on_when_a_node_dies, 60)
{
    struct pair p = pair_start();

    postgres_exec(p.postgres, "CREATE TABLE done (subject TEXT)");
    postgres_exec(p.postgres,
                  "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS"
                  " $$ BEGIN INSERT INTO done VALUES (OLD.subject); RETURN NULL; END $$");
    postgres_exec(p.postgres, "CREATE TRIGGER note AFTER DELETE ON due FOR EACH ROW"
                              " EXECUTE FUNCTION note()");
    work_add(p.postgres, "both");
    black_add_schema(&p.a); /* who was asked for something looks sooner */
    black_add_state(&p.b, "{}");
    work_done_once(p.postgres, "both");
    black_kill(&p.a);
    work_add(p.postgres, "alone");
    work_done_once(p.postgres, "alone");
    black_start(&p.a);
    pair_stop(&p);
}

/* It is older than all of them, and fails whoever does it. */
TEST_LIMIT(work_that_always_fails_keeps_no_other_from_being_done, 60)
{
    struct pair p = pair_start();

    postgres_exec(p.postgres, "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
                              " $$ BEGIN RAISE 'it is damaged'; END $$");
    postgres_exec(p.postgres, "CREATE TRIGGER fail BEFORE DELETE ON due FOR EACH ROW"
                              " WHEN (OLD.subject = 'bad') EXECUTE FUNCTION fail()");
    postgres_exec(p.postgres, "INSERT INTO due (at, kind, subject, arg) VALUES"
                              " (1, 'run_ready', 'bad', 0), (2, 'run_ready', 'good', 0)");
    black_add_schema(&p.a);
    postgres_until(p.postgres, "SELECT (count(*) = 0)::int FROM due WHERE subject = 'good'");
    CHECK_INT(postgres_number(p.postgres, "SELECT count(*) FROM due WHERE subject = 'bad'"), 1);
    CHECK(postgres_number(p.postgres, "SELECT at FROM due WHERE subject = 'bad'") > 1);
    pair_stop(&p);
}

/* ---- being seen ---- */

static uint32_t listed_nodes(const struct black *b, bool alive)
{
    const struct json *nodes = json_get(black_expect(b, 200, "GET /nodes", ""), "nodes");
    uint32_t count = 0;

    for (uint32_t i = 0; i < nodes->len; i++)
        count += json_bool_or(&nodes->items[i], "alive", !alive) == alive;
    return count;
}

/* It is the first thing that a node does. */
static void both_are_alive(const struct black *b)
{
    while (listed_nodes(b, true) != 2)
        usleep(1000);
}

TEST_LIMIT(nodes_are_listed_while_they_are_there, 60)
{
    struct pair p = pair_start();

    both_are_alive(&p.a);
    black_stop(&p.b);
    CHECK_INT(listed_nodes(&p.a, true), 1);
    CHECK_INT(listed_nodes(&p.a, false), 0);
    black_stop(&p.a);
    postgres_stop(p.postgres);
}

TEST_LIMIT(node_that_was_killed_is_listed_as_one_that_is_not_alive, 60)
{
    struct pair p = pair_start();

    both_are_alive(&p.b);
    black_kill(&p.a);
    postgres_exec(p.postgres, arena_printf(check_arena(), /* a while later */
                                           "UPDATE cluster_node SET seen_at = seen_at - 15001"
                                           " WHERE name LIKE '%%:%d'",
                                           (int)p.a.pid)
                                  .at);
    CHECK_INT(listed_nodes(&p.b, true), 1);
    CHECK_INT(listed_nodes(&p.b, false), 1);
    black_start(&p.a);
    both_are_alive(&p.b);
    pair_stop(&p);
}
