/* worktree_test.c: a folder's repository is found as git finds it, without git. */
#include "cli/worktree.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "cli/place.h"

/* ---- folders by hand ---- */

static str root(void)
{
    char *here = realpath(".", NULL);
    str out = arena_copy(check_arena(), str_from(here));

    free(here);
    return out;
}

static void folder(const char *path)
{
    char part[PATH_MAX];

    for (const char *at = path; at;) {
        at = strchr(at + 1, '/');
        snprintf(part, sizeof part, "%.*s", at ? (int)(at - path) : (int)strlen(path), path);
        mkdir(part, 0700);
    }
}

static const char *in(const char *folder, const char *name)
{
    return arena_printf(check_arena(), "%s/%s", folder, name).at;
}

/* What git makes at least. */
static void git_dir(const char *path)
{
    folder(in(path, "objects"));
    folder(in(path, "refs"));
    check_write(in(path, "HEAD"), STR("ref: refs/heads/main\n"));
}

static void is_at(const char *at, const char *top, const char *common)
{
    struct worktree w = worktree_find(check_arena(), str_from(at));
    str base = root();

    CHECK_STR(w.top, *top ? in(base.at, top) : base.at);
    CHECK_STR(w.common_dir, *common ? in(base.at, common) : base.at);
}

TEST(worktree_of_a_repository_is_the_same_from_everywhere_in_it)
{
    git_dir("shop/.git");
    folder("shop/src/deep");
    is_at("shop", "shop", "shop/.git");
    is_at("shop/", "shop", "shop/.git");
    is_at("shop/src/deep", "shop", "shop/.git");
    is_at("shop/src/../src/./deep", "shop", "shop/.git");
    CHECK(symlink("shop/src", "link") == 0);
    is_at("link/deep", "shop", "shop/.git");
}

/* `git worktree add ../fix`: its .git is a file that names a directory in the repository's. */
static void linked(const char *path, const char *gitdir, const char *commondir)
{
    folder(path);
    folder("shop/.git/worktrees/fix");
    check_write("shop/.git/worktrees/fix/HEAD", STR("ref: refs/heads/fix\n"));
    check_write("shop/.git/worktrees/fix/commondir", str_from(commondir));
    check_write(in(path, ".git"), str_from(gitdir));
}

TEST(worktree_that_is_linked_has_the_common_directory_of_its_repository)
{
    git_dir("shop/.git");
    str whole = arena_printf(check_arena(), "gitdir: " STR_FMT "/shop/.git/worktrees/fix\n",
                             STR_ARG(root()));
    linked("fix", whole.at, "../..\n");
    folder("fix/src");
    is_at("fix/src", "fix", "shop/.git");
    linked("fix", "gitdir: ../shop/.git/worktrees/fix\r\n",
           arena_printf(check_arena(), STR_FMT "/shop/.git\n", STR_ARG(root())).at);
    is_at("fix/src", "fix", "shop/.git");
    CHECK(symlink("shop", "mall") == 0);
    linked("fix", "gitdir: ../mall/.git/worktrees/fix", "../..");
    is_at("fix/src", "fix", "shop/.git");
}

TEST(worktree_of_a_submodule_is_a_project_of_its_own)
{
    git_dir("shop/.git");
    git_dir("shop/.git/modules/cart");
    folder("shop/cart/src");
    check_write("shop/cart/.git", STR("gitdir: ../.git/modules/cart\n"));
    is_at("shop/cart/src", "shop/cart", "shop/.git/modules/cart");
    is_at("shop", "shop", "shop/.git");
}

TEST(worktree_of_a_bare_repository_and_inside_of_one)
{
    git_dir("bare.git");
    is_at("bare.git", "bare.git", "bare.git");
    is_at("bare.git/refs", "bare.git", "bare.git");
    folder("tree");
    check_write("tree/.git", STR("gitdir: ../bare.git\n"));
    is_at("tree", "tree", "bare.git");
    git_dir("shop/.git");
    is_at("shop/.git/refs", "shop/.git", "shop/.git"); /* the same project as around it */
}

/* What git would not take for a repository, either. */
TEST(worktree_of_what_is_no_repository_is_the_folder_itself)
{
    static const char *const odd[] = {
        "",
        "gitdir: ",
        "gitdir: \n",
        "gitdir:../shop/.git\n",
        "shop/.git\n",
        "gitdir: ../nowhere\n",
        "gitdir: ../empty\n",
        "gitdir: ../shop/.git/worktrees/gone\n",
        "gitdir: .git\n",
        "gitdir: .\n",
    };
    folder("plain/a");
    is_at("plain/a", "plain/a", "plain/a");
    git_dir("shop/.git");
    folder("empty");
    folder("shop/odd/src");
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        check_write("shop/odd/.git", str_from(odd[i]));
        is_at("shop/odd/src", "shop/odd/src", "shop/odd/src");
    }
    str huge = { mem_alloc(1 << 16), 1 << 16 };
    memset((char *)huge.at, 'a', huge.len);
    memcpy((char *)huge.at, "gitdir: /", 9);
    check_write("shop/odd/.git", huge);
    is_at("shop/odd", "shop/odd", "shop/odd");
    mem_free((char *)huge.at);
    check_write("shop/odd/.git", (str){ "gitdir: ../.git\0/x", 18 });
    is_at("shop/odd", "shop/odd", "shop/odd");
    CHECK(unlink("shop/odd/.git") == 0 && mkfifo("shop/odd/.git", 0600) == 0);
    is_at("shop/odd", "shop/odd", "shop/odd"); /* and nobody waits for a writer */
    CHECK(unlink("shop/odd/.git") == 0);
    folder("shop/odd/.git"); /* an empty folder is passed over */
    is_at("shop/odd/src", "shop", "shop/.git");
    linked("fix", "gitdir: ../shop/.git/worktrees/fix\n", "../gone\n");
    is_at("fix", "fix", "fix");
}

TEST(worktree_of_a_folder_that_is_not_there_is_what_was_asked_for)
{
    struct worktree w = worktree_find(check_arena(), STR("/no/such/folder"));

    CHECK_STR(w.top, "/no/such/folder");
    CHECK_STR(w.common_dir, "/no/such/folder");
    w = worktree_find(check_arena(), STR(""));
    CHECK_STR(w.top, "");
}

/* ---- folders by git ---- */

static void sh(const char *command)
{
    if (system(command) != 0)
        check_fail(__FILE__, __LINE__, "%s", command);
}

static str printed_by(const char *command)
{
    char line[PATH_MAX];
    FILE *f = popen(command, "r");

    CHECK(f);
    bool got = fgets(line, sizeof line, f);
    pclose(f);
    CHECK(got);
    return arena_copy(check_arena(), str_trim(str_from(line)));
}

/* It and git say the same of a folder. */
static void as_git_says(const char *path)
{
    struct worktree w = worktree_find(check_arena(), str_from(path));
    const char *ask = "git -C %s rev-parse --path-format=absolute %s";
    str top = printed_by(arena_printf(check_arena(), ask, path, "--show-toplevel").at);
    str common = printed_by(arena_printf(check_arena(), ask, path, "--git-common-dir").at);

    char real[PATH_MAX];
    CHECK_STR(w.top, realpath(top.at, real));
    CHECK_STR(w.common_dir, realpath(common.at, real));
}

TEST(worktree_is_what_git_says_it_is)
{
    if (system("git --version >/dev/null 2>&1") != 0)
        check_skip("there is no git");
    setenv("HOME", root().at, 1);
    setenv("GIT_CEILING_DIRECTORIES", root().at, 1);
    sh("git config --global user.email a@b.c && git config --global user.name ada &&"
       " git config --global protocol.file.allow always &&"
       " git init -q -b main shop && cd shop && git commit -q --allow-empty -m first &&"
       " mkdir src && git worktree add -q ../fix && git worktree add -q .trees/inner &&"
       " git init -q -b main ../cart && cd ../cart && git commit -q --allow-empty -m first &&"
       " cd ../shop && git submodule --quiet add ../cart cart 2>/dev/null &&"
       " cd .. && git clone -q --bare shop bare.git 2>/dev/null &&"
       " git -C bare.git worktree add -q ../of_bare main 2>/dev/null");
    static const char *const folders[] = { "shop", "shop/src",  "fix",    "shop/.trees/inner",
                                           "cart", "shop/cart", "of_bare" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        as_git_says(folders[i]);
    is_at("fix", "fix", "shop/.git");
    is_at("of_bare", "of_bare", "bare.git");
    is_at("shop/cart", "shop/cart", "shop/.git/modules/cart");
}

/* ---- what is told of it ---- */

static str members_of(const char *client, const char *told)
{
    struct url_param params[PLACE_MEMBERS];
    str folder = place_folder(check_arena(), str_from(client), str_from(told));
    size_t count = place_members(check_arena(), folder, params);
    struct buf out = buf_in(check_arena());

    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%s=" STR_FMT " ", params[i].name,
                   STR_ARG(strcmp(params[i].name, "host") ? params[i].value : STR("here")));
    return buf_str(&out);
}

static str members(void)
{
    return members_of("claude", "");
}

TEST(place_tells_the_folder_that_the_agent_was_started_in)
{
    str base = root();

    git_dir("shop/.git");
    folder("shop/src");
    unsetenv("CLAUDE_PROJECT_DIR");
    unsetenv("BATON_PROJECT");
    CHECK(chdir("shop/src") == 0);
    str shop = arena_printf(check_arena(),
                            "host=here common_dir=" STR_FMT "/shop/.git worktree=" STR_FMT "/shop ",
                            STR_ARG(base), STR_ARG(base));
    CHECK(str_eq(members(), shop));
    CHECK(chdir("/") == 0);
    setenv("CLAUDE_PROJECT_DIR", in(base.at, "shop"), 1);
    CHECK(str_eq(members(), shop));
    setenv("BATON_PROJECT", "off", 1);
    CHECK(str_ends(members(), STR(" project=off ")));
    setenv("BATON_PROJECT", "two words", 1);
    CHECK(str_eq(members(), shop));

    /* A name that is no UTF-8, or longer than the server takes, is not told. */
    char longest[2000];
    memset(longest, 'a', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    setenv("CLAUDE_PROJECT_DIR", longest, 1);
    CHECK_STR(members(), "host=here ");
    setenv("CLAUDE_PROJECT_DIR", "/\xff", 1);
    CHECK_STR(members(), "host=here ");
}

/* A daemon runs the hooks of many conversations, with the environment of whoever was first. */
TEST(place_of_a_client_that_tells_its_own_is_that_one)
{
    static const char *const clients[] = { "codex", "gemini", "opencode" };
    str base = root();

    git_dir("shop/.git");
    git_dir("cart/.git");
    folder("shop/src");
    unsetenv("BATON_PROJECT");
    CHECK(chdir("cart") == 0);
    str cart = arena_printf(check_arena(), " worktree=" STR_FMT "/cart ", STR_ARG(base));
    str shop = arena_printf(check_arena(), " worktree=" STR_FMT "/shop ", STR_ARG(base));
    setenv("CLAUDE_PROJECT_DIR", "/", 1);
    for (size_t i = 0; i < sizeof clients / sizeof *clients; i++) {
        CHECK(str_ends(members_of(clients[i], in(base.at, "shop/src")), shop));
        CHECK(str_ends(members_of(clients[i], ""), cart));
        CHECK(str_ends(members_of(clients[i], "../shop"), cart));
        CHECK(str_ends(members_of(clients[i], in(base.at, "gone")), cart));
    }
    /* Claude Code's goes where its agent goes. */
    setenv("CLAUDE_PROJECT_DIR", in(base.at, "cart"), 1);
    CHECK(str_ends(members_of("claude", in(base.at, "shop/src")), cart));
    unsetenv("CLAUDE_PROJECT_DIR");
    CHECK(str_ends(members_of("claude", in(base.at, "shop/src")), cart));
}
