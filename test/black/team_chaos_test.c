/* team_chaos_test.c: many small trees of agents, on servers and runners that are killed again and
 * again: every end of a child is told to its parent exactly once.
 *
 * That is checked twice: by the log of the server, and by what the parents' agents were asked. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "black/team.h"
#include "black/roaming_client.h"
#include "client/socket.h"
#include "sim/postgres.h"

enum {
    NODES_MAX = 2,
    STEP_MS = 300,                               /* between two deeds, on average */
    DOWN_MS = 200,                               /* that what was killed is away at most */
    LIVE_MAX = BLACK_SANITIZED ? 8 : 16,         /* sessions that are live before others start */
    SETTLE_MS = BLACK_SANITIZED ? 120000 : 60000 /* until all has come to its end */
};

struct deployment {
    struct black nodes[NODES_MAX];
    pid_t runners[NODES_MAX];
    int count;
    struct random random;
    int trees, kills, runner_kills;
};

static void deployment_start(struct deployment *w)
{
    setenv("BATON_AGENT_STOP_TIME", "200ms", 1);
    for (int i = 0; i < w->count; i++)
        black_start(&w->nodes[i]);
    team_prepare(&w->nodes[0]);
    black_add_schema(&w->nodes[0]);
    for (int i = 0; i < w->count; i++)
        w->runners[i] = team_runner_start(&w->nodes[i]);
}

static int any_node(struct deployment *w)
{
    return (int)random_below(&w->random, (uint32_t)w->count);
}

/* ---- trees ---- */

#define MAKE_STATE "{'call':{'op':'state.create','input':{'schema_name':'any','initial_data':{}}}}"
#define SLOW "{'sleep_ms':50}"

// clang-format off
/* Their names end in the number of their tree, %1$d. */
static const char *const kinds[] = {
    /* two children, one of which forgets once */
    "{'work':[" MAKE_STATE ","
        TEAM_START("a-%1$d",
            "{'work':[" SLOW "],'state_update':[[" TEAM_WRITE("a") "]]}") ","
        TEAM_START("b-%1$d",
            "{'work':[],'state_update':[[],[" TEAM_WRITE("b") "]]}") "]}",
    /* one that has a child of its own */
    "{'work':[" MAKE_STATE ","
        TEAM_START("m-%1$d",
            "{'work':["
                TEAM_START("l-%1$d",
                    "{'work':[" SLOW "],'state_update':[[" TEAM_WRITE("l") "]]}") "],"
            "'state_update':[[" TEAM_WRITE("m") "]]}") "]}",
    /* one that fails, and says so; one that never records anything */
    "{'work':[" MAKE_STATE ","
        TEAM_START("f-%1$d",
            "{'work':[" SLOW ",{'exit':1}],'state_update':[[],[],[" TEAM_WRITE("f") "]]}") ","
        TEAM_START("n-%1$d",
            "{'work':[],'state_update':[]}") "," SLOW "]}",
};
// clang-format on

static void tree_start(struct deployment *w)
{
    struct arena *a = check_arena();
    int number = w->trees++;
    const char *text = kinds[number % (int)(sizeof kinds / sizeof *kinds)];
    struct json scenario = json_of(a, arena_printf(a, text, number).at);
    struct json body = json_of(a, arena_printf(a,
                                               "{'type':'start_session','session_name':'lead-%d',"
                                               "'demands':{'profile':'scripted'}}",
                                               number)
                                      .at);

    json_put(a, &body, STR("prompt"), json_string(json_printed(a, &scenario)));
    black_expect(&w->nodes[any_node(w)], 201, "POST /runs", json_printed(a, &body).at);
}

static int64_t live_sessions(struct deployment *w)
{
    static const char *const live[] = { "pending", "running", "idle" };
    int64_t sum = 0;

    for (int i = 0; i < 3; i++)
        sum +=
            black_metric(&w->nodes[0],
                         arena_printf(check_arena(), "baton_sessions{status=\"%s\"}", live[i]).at);
    return sum;
}

/* ---- what happens ---- */

static void kill_server(struct deployment *w, int i)
{
    black_kill(&w->nodes[i]);
    chaos_wait_ms((long)random_below(&w->random, DOWN_MS));
    black_start(&w->nodes[i]);
    w->kills++;
}

static void kill_runner(struct deployment *w, int i)
{
    team_runner_kill(w->runners[i]);
    chaos_wait_ms((long)random_below(&w->random, DOWN_MS));
    w->runners[i] = team_runner_start(&w->nodes[i]);
    w->runner_kills++;
}

static void rage(struct deployment *w)
{
    int64_t end = socket_clock_ms() + chaos_ms(15, 8);

    while (socket_clock_ms() < end || !w->kills || !w->runner_kills) {
        if (live_sessions(w) < LIVE_MAX)
            tree_start(w);
        chaos_wait_ms((long)random_below(&w->random, STEP_MS));
        uint32_t chance = random_below(&w->random, 3);
        if (chance == 0)
            kill_server(w, any_node(w));
        if (chance == 1)
            kill_runner(w, any_node(w));
    }
}

/* ---- what has become of it ---- */

static bool is_settled(struct deployment *w)
{
    struct json sessions = team_sessions(&w->nodes[0]);

    for (uint32_t i = 0; i < sessions.len; i++)
        if (!json_bool_or(&sessions.items[i], "settled", false))
            return false;
    return true;
}

/* Looks one after the other show one moment when nothing has happened meanwhile. */
static void settle_wait(struct deployment *w)
{
    int64_t until = socket_clock_ms() + SETTLE_MS, seq;
    bool over = false;

    while (!over && socket_clock_ms() < until) { /* then the check that follows says what is not */
        chaos_wait_ms(100);
        seq = black_metric(&w->nodes[0], "baton_published_seq");
        over = is_settled(w) && black_metric(&w->nodes[0], "baton_published_seq") == seq;
    }
}

/* How often a parent's agent was told of a child. */
static int told_by_prompts(str prompts, str child)
{
    str line = arena_printf(check_arena(), "\nSession: `" STR_FMT "`\n", STR_ARG(child));
    int count = 0;

    for (const char *at = prompts.at;
         (at = memmem(at, prompts.len - (size_t)(at - prompts.at), line.at, line.len));
         at += line.len)
        count++;
    return count;
}

static void check_prompts(const struct json *sessions)
{
    for (uint32_t i = 0; i < sessions->len; i++) {
        const struct json *s = &sessions->items[i];
        str parent = json_str(s, "parent_session_name"), child = json_str(s, "session_name");
        if (!parent.len)
            continue;
        int told = told_by_prompts(team_prompts(parent), child);
        if (told != json_int_or(s, "cycle", 0))
            check_fail(__FILE__, __LINE__,
                       STR_FMT " was told %d times of " STR_FMT ", which has settled %lld times",
                       STR_ARG(parent), told, STR_ARG(child),
                       (long long)json_int_or(s, "cycle", 0));
    }
}

static void deployment_check(struct deployment *w)
{
    struct json sessions = team_sessions(&w->nodes[0]);
    struct json settled = team_events(&w->nodes[0], "session_settled");
    struct json delivered = team_events(&w->nodes[0], "callback_delivered");

    team_check_told(&sessions, &settled, &delivered, 0);
    check_prompts(&sessions);
    int agents = team_check_agents();
    CHECK_INT(team_events(&w->nodes[0], "run_started").len, agents);
    check_note("%d trees of %u sessions, %d turns, %u callbacks, each told once; %d servers and %d "
               "runners killed",
               w->trees, (unsigned)sessions.len, agents, (unsigned)delivered.len, w->kills,
               w->runner_kills);
}

static void deployment_stop(struct deployment *w, const char *store)
{
    for (int i = 0; i < w->count; i++) {
        kill(w->runners[i], SIGTERM);
        CHECK(waitpid(w->runners[i], NULL, 0) == w->runners[i]);
        black_stop(&w->nodes[i]);
    }
    black_run((const char *const[]){ "store", "check", store, "--deep", NULL });
}

static void play(struct deployment *w, const char *store)
{
    deployment_start(w);
    rage(w);
    settle_wait(w);
    deployment_check(w);
    deployment_stop(w, store);
}

TEST_LIMIT(each_child_is_told_once_by_a_server_and_a_runner_that_are_killed_again_and_again, 240)
{
    static struct deployment w = { .count = 1 };

    w.random = random_start();
    w.nodes[0] = (struct black){ .data = "data", .args = team_args("off", NULL, NULL) };
    play(&w, "data/baton.db");
}

TEST_LIMIT(each_child_is_told_once_by_two_nodes_and_their_runners_that_are_killed, 240)
{
    static struct deployment w = { .count = 2 };

    w.random = random_start();
    struct postgres *postgres = postgres_start();
    const char *store = postgres_new_database(postgres);
    for (int i = 0; i < w.count; i++)
        w.nodes[i] = (struct black){ .data = i ? "node_b" : "node_a",
                                     .args = team_args("off", store, NULL) };
    play(&w, store);
    postgres_stop(postgres);
}
