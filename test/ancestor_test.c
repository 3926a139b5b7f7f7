/* ancestor_test.c: which process is found to be the client. */
#include "cli/ancestor.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

/* A process, as /proc has it. */
static void process(int pid, const char *name, int parent, int start)
{
    struct arena *a = check_arena();

    mkdir(arena_printf(a, "p/%d", pid).at, 0700);
    check_write(arena_printf(a, "p/%d/stat", pid).at,
                arena_printf(a, "%d (%s) S %d 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 %d 1 1\n",
                             pid, name, parent, start));
}

static void processes_make(void)
{
    static const char *const folders[] = {
        "p", "p/sys", "p/sys/kernel", "p/sys/kernel/random", "p/self", "p/self/ns"
    };

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        CHECK(mkdir(folders[i], 0700) == 0);
    check_write("p/sys/kernel/random/boot_id", STR("b00t\n"));
    CHECK(symlink("pid:[4]", "p/self/ns/pid") == 0);
    process(1, "systemd", 0, 1);
    process(5, "bash", 1, 50);
    process(6, "node (gemini) x", 5, 60);
    process(7, "sh", 6, 70);
    process(8, "baton", 7, 80);
    process(9, "baton", 6, 90);
    process(10, "baton", 5, 100);
    process(11, "node", 6, 110);
    process(12, "baton", 11, 120);
}

TEST(hooks_and_tools_have_the_same_client_above_them)
{
    struct arena *a = check_arena();

    processes_make();
    CHECK_STR(ancestor_client(a, "p", 9), "b00t/pid:[4]/6/60");
    CHECK_STR(ancestor_client(a, "p", 8), "b00t/pid:[4]/6/60");
    CHECK_STR(ancestor_client(a, "p", 12), "b00t/pid:[4]/11/110"); /* a client within a client */
}

TEST(who_has_lost_its_client_or_has_none_is_tied_to_nothing)
{
    struct arena *a = check_arena();

    processes_make();
    CHECK_STR(ancestor_client(a, "p", 10), "");
    process(13, "baton", 1, 130);
    CHECK_STR(ancestor_client(a, "p", 13), "");
    process(20, "systemd", 1, 200); /* of a person's sessions, who takes in orphans too */
    process(21, "baton", 20, 210);
    CHECK_STR(ancestor_client(a, "p", 21), "");
    process(14, "baton", 77, 140);
    CHECK_STR(ancestor_client(a, "p", 14), "");
    CHECK_STR(ancestor_client(a, "nowhere", 9), "");
    check_write("p/9/stat", STR("9 ("));
    CHECK_STR(ancestor_client(a, "p", 9), "");
    check_write("p/9/stat", STR(""));
    CHECK_STR(ancestor_client(a, "p", 9), "");
}
