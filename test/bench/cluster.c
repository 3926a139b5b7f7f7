/* cluster.c: a PostgreSQL of the benchmark's own. */
#include "bench/cluster.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/set.h"
#include "bench/tables.h"
#include "sim/postgres.h"

static void server_start(void *self)
{
    static const char *const as_it_comes[] = { NULL };
    struct cluster *c = self;

    c->server = postgres_start_with(as_it_comes);
}

static void folder_renew(const char *folder)
{
    char command[4096];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0 || mkdir(folder, 0755) != 0)
        fail("cannot make", str_from(folder));
}

static const char *database_make(struct cluster *c)
{
    const char *url = postgres_new_database(c->server);
    struct filler *f = fill_open_store(url);

    fill_states(f, 0, SMALL_STATES, 4, 215);
    fill_close(f);
    return url;
}

/* A server lives in the directory that it is started in. */
bool cluster_start(struct cluster *c, const char *folder)
{
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    folder_renew(folder);
    if (here < 0 || chdir(folder) != 0)
        fail("cannot enter", str_from(folder));
    bool started = cluster_try(server_start, c);
    if (fchdir(here) != 0)
        fail("cannot leave", str_from(folder));
    close(here);
    if (!started)
        return false;
    c->url = database_make(c);
    c->plain = database_make(c);
    return true;
}

void cluster_stop(struct cluster *c)
{
    postgres_stop(c->server);
}
