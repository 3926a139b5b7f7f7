/* store_backup_test.c: a backup that is made while somebody writes, and what is restored from one. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_work.h"

struct writer {
    struct world *world;
    atomic_bool stop;
    atomic_int count;
};

/* Writes, and reads what it has written, so that others get their turn. */
static void *write_on(void *self)
{
    struct writer *w = self;
    struct engine *reader;

    CHECK_OK(world_reader(w->world, &reader));
    for (int n = 1000; !w->stop; n++) {
        work_update(w->world, "wfstate_3", n);
        for (int i = 0; i < 3; i++)
            op_read(reader, world_command(w->world, "state.blame", "{'state_id':'wfstate_3'}", ""));
        w->count++;
    }
    return NULL;
}

TEST_LIMIT(a_backup_is_whole_while_somebody_writes, 60)
{
    struct writer w = { .stop = false };
    pthread_t thread;
    struct stat st;

    mkdir("team", 0700);
    work("team/baton.db");
    CHECK_OK(world_open("team/baton.db", NULL, &w.world));
    w.world->retention = work_retention;
    CHECK(pthread_create(&thread, NULL, write_on, &w) == 0);
    while (!w.count)
        ;
    int before = w.count;
    EXITS(STORE("backup", "1.db", "--data", "team"), 0);
    EXITS(STORE("check", "--data", "team"), 0);
    EXITS(STORE("backup", "2.db", "--data", "team", "--json"), 0);
    int after = w.count;
    w.stop = true;
    pthread_join(thread, NULL);
    world_close(w.world);
    CHECK(after > before);
    check_note("%d writes meanwhile", after - before);

    CHECK(access("1.db-wal", F_OK) < 0 && access("1.db-shm", F_OK) < 0);
    CHECK(stat("1.db", &st) == 0 && (st.st_mode & 0777) == 0600);
    EXITS(STORE("check", "1.db", "--deep"), 0);
    EXITS(STORE("check", "2.db", "--deep"), 0);
    EXITS(STORE("backup", "2.db", "--data", "team"), 6);
    CHECK(said("err", "it is there already"));
    EXITS(STORE("backup", "3.db", "--data", "nobody"), 5);
    CHECK(access("3.db", F_OK) < 0);
}

TEST(a_restored_backup_goes_on_from_where_it_was_made)
{
    mkdir("team", 0700);
    work("team/baton.db");
    str before = answers("team/baton.db");
    EXITS(STORE("backup", "saved.db", "--data", "team"), 0);
    goes_on("team/baton.db");
    CHECK(!str_eq(before, answers("team/baton.db")));
    file_copy("saved.db", "team/baton.db");
    same_answers(before, "team/baton.db");
    goes_on("team/baton.db");
    EXITS(STORE("check", "--deep", "--data", "team"), 0);
}
