/* runner_mirror_test.c: files that are written into a folder where others work. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "runner/mirror_file.h"

static str here(const char *below)
{
    char *at = getcwd(NULL, 0);
    str path = arena_printf(check_arena(), "%s/%s", at, below);

    free(at);
    return path;
}

/* What is in the way; empty: nothing, and the file is there with that text. */
static str put(const char *root, const char *path, const char *text)
{
    struct mirror_seen seen = { 0 };
    int dir;
    str name;
    err e = mirror_folder_open(check_arena(), here(root), str_from(path), &dir, &name);

    if (e)
        return e->message;
    e = mirror_put(check_arena(), dir, name, str_from(text), &seen);
    close(dir);
    CHECK(e || (seen.there && strlen(seen.sha256) == 64));
    return e ? e->message : STR("");
}

TEST(a_file_is_written_with_the_folders_on_its_way_and_nothing_beside_it)
{
    struct stat st;

    CHECK(mkdir("shop", 0700) == 0);
    CHECK_STR(put("shop", ".claude/state/workflow.json", "one"), "");
    CHECK_STR(check_read("shop/.claude/state/workflow.json"), "one");
    check_write("shop/.claude/state/.workflow.json.baton", STR("left by one who was killed"));
    CHECK_STR(put("shop", ".claude/state/workflow.json", "two"), "");
    CHECK_STR(check_read("shop/.claude/state/workflow.json"), "two");
    CHECK(lstat("shop/.claude/state/.workflow.json.baton", &st) < 0 && errno == ENOENT);
    CHECK_STR(put("shop", "workspace/sessions/s/workflow-state/wf.json", "x"), "");
}

TEST(a_path_leads_nowhere_else)
{
    static const char *const bad[] = {
        "",
        "a",
        "/etc/passwd",
        ".claude",
        ".claude/",
        ".claude/../a",
        ".claude/./a",
        ".claude//a",
        ".claude/.git/config",
        "workspace/../.claude/a",
        "workspace/a/../../../b",
        "src/a.c",
        ".claude2/a",
        "workspace/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16",
    };

    CHECK(mkdir("shop", 0700) == 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_HAS(put("shop", bad[i], "x"), "expected a path in .claude/ or workspace/");
    CHECK(rmdir("shop") == 0); /* it is still empty */
    CHECK_HAS(put("shop", ".claude/a", "x"), "there is no folder");
    check_write("shop", STR("a file"));
    CHECK_HAS(put("shop", ".claude/a", "x"), "there is no folder");
}

TEST(no_link_is_followed)
{
    struct stat st;

    CHECK(mkdir("shop", 0700) == 0 && mkdir("out", 0700) == 0);
    CHECK(symlink("../out", "shop/.claude") == 0);
    CHECK_STR(put("shop", ".claude/a", "x"), ".claude is a symbolic link, which is not followed");
    CHECK(unlink("shop/.claude") == 0 && mkdir("shop/.claude", 0700) == 0);
    CHECK(symlink("../../out", "shop/.claude/state") == 0);
    CHECK_STR(put("shop", ".claude/state/a", "x"),
              "state is a symbolic link, which is not followed");
    /* The file itself: what it leads to stays as it is. */
    check_write("out/secret", STR("mine"));
    CHECK(symlink("../../out/secret", "shop/.claude/a") == 0);
    CHECK_STR(put("shop", ".claude/a", "x"), "");
    CHECK_STR(check_read("out/secret"), "mine");
    CHECK(lstat("shop/.claude/a", &st) == 0 && S_ISREG(st.st_mode));
    /* And the name that it has while it is written. */
    CHECK(symlink("../../out/secret", "shop/.claude/.b.baton") == 0);
    CHECK_STR(put("shop", ".claude/b", "x"), "");
    CHECK_STR(check_read("out/secret"), "mine");
    CHECK(rmdir("out") < 0 && unlink("out/secret") == 0 && rmdir("out") == 0);
}

TEST(what_is_in_the_way_is_told)
{
    CHECK(mkdir("shop", 0700) == 0 && mkdir("shop/.claude", 0700) == 0);
    CHECK(mkdir("shop/.claude/a", 0700) == 0);
    CHECK_HAS(put("shop", ".claude/a", "x"), "a: cannot write it: ");
    check_write("shop/.claude/b", STR("a file"));
    CHECK_HAS(put("shop", ".claude/b/c", "x"), "b: cannot make it: ");
    CHECK(mkdir("bare", 0700) == 0 && mkdir("bare/objects", 0700) == 0);
    check_write("bare/HEAD", STR("ref: refs/heads/main\n"));
    CHECK_HAS(put("bare", ".claude/a", "x"), "is a repository without a working tree");
}

TEST(a_file_is_read_when_somebody_has_touched_it)
{
    static const char one[] = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
                      two[] = "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3";
    struct arena *a = check_arena();
    struct mirror_seen seen = { 0 };
    int dir;
    str name;

    CHECK(mkdir("shop", 0700) == 0);
    CHECK_OK(mirror_folder_open(a, here("shop"), STR(".claude/a"), &dir, &name));
    CHECK_STR(name, "a");
    mirror_look(a, dir, name, &seen);
    CHECK(!seen.there && !seen.sha256[0]);
    CHECK_OK(mirror_put(a, dir, name, STR("one"), &seen));
    CHECK_STR(str_from(seen.sha256), one);
    seen.sha256[0] = 'x'; /* as long as nobody touches it, that is not looked at */
    mirror_look(a, dir, name, &seen);
    CHECK(seen.sha256[0] == 'x');
    check_write("shop/.claude/a", STR("two"));
    mirror_look(a, dir, name, &seen);
    CHECK_STR(str_from(seen.sha256), two);
    CHECK(unlink("shop/.claude/a") == 0 && mkfifo("shop/.claude/a", 0600) == 0);
    mirror_look(a, dir, name, &seen);
    CHECK(seen.there && !seen.sha256[0]);
    close(dir);
}

TEST(what_was_there_before_is_kept_beside)
{
    struct arena *a = check_arena();
    str name, kept;
    int dir;

    CHECK(mkdir("shop", 0700) == 0);
    CHECK_OK(mirror_folder_open(a, here("shop"), STR(".claude/a"), &dir, &name));
    for (int i = 1; i <= 20; i++) {
        check_write("shop/.claude/a", arena_printf(a, "%d", i));
        CHECK_OK(mirror_set_aside(a, dir, name, &kept));
    }
    CHECK_STR(check_read("shop/.claude/a.before-baton"), "1");
    CHECK_STR(check_read("shop/.claude/a.before-baton-20"), "20");
    check_write("shop/.claude/a", STR("21"));
    err e = mirror_set_aside(a, dir, name, &kept);
    CHECK(e && e->kind == ERR_CONFLICT);
    CHECK_STR(check_read("shop/.claude/a"), "21");
    close(dir);
}
