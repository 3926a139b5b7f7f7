/* server_bench.c: what the server costs, beside servers that do nothing.
 *
 *   server_bench PROGRAM DIRECTORY [TABLE…]
 *
 * Data directories are made in DIRECTORY. Each figure is the median of rounds in which all that is
 * compared takes turns. It judges by goals and exits 0 whatever the figures are. */
#include "bench/tables.h"

#include <stdio.h>

#include "bench/set.h"
#include "bench/stolen.h"

// clang-format off
static const struct {
    const char *name;
    table *print;
} tables[] = {
    { "get",       table_get },
    { "patch",     table_patch },
    { "large",     table_large_and_hot },
    { "syncs",     table_syncs },
    { "fan-out",   table_fan_out },
    { "readers",   table_readers },
    { "growth",    table_growth },
    { "start",     table_start },
    { "histories", table_histories },
    { "memory",    table_memory },
    { "size",      table_size },
    { "nodes",     table_nodes },
    { "team",      table_team },
    { "claims",    table_claims },
    { "mcp",       table_mcp },
    { "hooks",     table_hooks },
    { "tokens",    table_tokens },
};
// clang-format on

int main(int count, char **words)
{
    struct arena *a = arena_new();

    setvbuf(stdout, NULL, _IOLBF, 0); /* a row is shown when it is known, through a pipe too */
    if (count < 3)
        fail("usage", STR("PROGRAM DIRECTORY [TABLE…]"));
    struct bench_paths paths = { words[1], words[2] };
    str folder = data_dir_fresh(a, &paths, "server");
    struct target t = target_start(paths.program, folder.at, NULL);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (int k = 3; k <= count; k++)
            if (k == count ? count == 3 : strcmp(words[k], tables[i].name) == 0) {
                struct stolen before = stolen_now();
                tables[i].print(&paths, &t);
                stolen_print(before);
            }
    target_stop(&t);
    report_end();
    arena_free(a);
    return 0;
}
