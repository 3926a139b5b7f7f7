/* team_test.c: many random teams of agents that misbehave.
 *
 * $BATON_SEED names the first seed, $BATON_SIM_RUNS how many there are of each kind, $BATON_SIM_LOG
 * a file for their log. */
#include <malloc.h>
#include <stdlib.h>

#include "check.h"
#include "sim/team.h"

/* Sanitized, a run costs ten times as much. */
#ifdef __SANITIZE_ADDRESS__
enum { RUNS_ONCE = 500, RUNS_ALWAYS = 30 };
#else
enum { RUNS_ONCE = 2000, RUNS_ALWAYS = 150 };
#endif

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* So many, after the first `passed` ones. */
static void teams_run(bool restart_always, uint64_t passed, uint64_t runs)
{
    uint64_t seed = number_from("BATON_SEED", 1) + passed;
    const char *path = getenv("BATON_SIM_LOG");
    struct team_options options = { .restart_always = restart_always };
    struct team_totals totals = { .runs = 0 };
    unsigned char digest[SHA256_BYTES];

    /* Thousands of small disks come and go: what they were made of is not given back meanwhile. */
    mallopt(M_MMAP_THRESHOLD, 256 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    if (path)
        options.log = fopen(path, "ae");
    CHECK(!path || options.log);
    runs = number_from("BATON_SIM_RUNS", runs);
    while (totals.runs < runs)
        team_run(seed + totals.runs, &options, &totals, digest);
    check_note("seeds %llu to %llu: %llu calls, %llu restarts, %llu answers lost, %llu sessions, "
               "%llu turns, %llu of them for the update, %llu ends told to parents, %llu late "
               "completions, %llu reports refused",
               (unsigned long long)seed, (unsigned long long)(seed + runs - 1),
               (unsigned long long)totals.calls, (unsigned long long)totals.restarts,
               (unsigned long long)totals.lost, (unsigned long long)totals.sessions,
               (unsigned long long)totals.turns, (unsigned long long)totals.prompts,
               (unsigned long long)totals.told, (unsigned long long)totals.late,
               (unsigned long long)totals.refused);
    if (options.log)
        fclose(options.log);
}

TEST_LIMIT(team_keeps_every_promise_over_a_restart, 600)
{
    teams_run(false, 0, RUNS_ONCE / 2);
}

/* The other half, beside it. */
TEST_LIMIT(later_teams_keep_every_promise_over_a_restart, 600)
{
    teams_run(false, RUNS_ONCE / 2, RUNS_ONCE / 2);
}

TEST_LIMIT(team_keeps_every_promise_over_a_restart_at_every_step, 600)
{
    teams_run(true, 0, RUNS_ALWAYS);
}

TEST(the_same_seed_gives_the_same_team)
{
    struct team_options options = { .restart_always = false };
    struct team_totals totals = { .runs = 0 };
    unsigned char first[SHA256_BYTES], second[SHA256_BYTES], other[SHA256_BYTES];
    uint64_t seed = number_from("BATON_SEED", 1);

    team_run(seed, &options, &totals, first);
    team_run(seed + 1, &options, &totals, other);
    team_run(seed, &options, &totals, second);
    CHECK(memcmp(first, second, sizeof first) == 0);
    CHECK(memcmp(first, other, sizeof first) != 0);
}
