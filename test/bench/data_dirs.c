/* data_dirs.c: data directories of the measured servers. */
#include <stdio.h>

#include "bench/tables.h"

str bench_path(struct arena *a, const struct bench_paths *s, const char *name)
{
    return arena_printf(a, "%s/%s", s->folder, name);
}

void data_dir_empty(const char *folder)
{
    static const char *const files[] = { "baton.db",       "baton.db-wal", "baton.db-shm",
                                         "operator.token", "runner.token", "baton.toml" };
    char path[4096];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
}

str data_dir_fresh(struct arena *a, const struct bench_paths *s, const char *name)
{
    str folder = bench_path(a, s, name);

    data_dir_empty(folder.at);
    struct filler *f = fill_open(folder.at);
    fill_states(f, 0, SMALL_STATES, 4, 215);
    fill_states(f, FILL_LARGE, LARGE_STATES, 200, 250);
    fill_close(f);
    return folder;
}
