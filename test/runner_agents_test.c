/* runner_agents_test.c: agents in files of a runner's machine: which are offered, and how one starts. */
#define _GNU_SOURCE /* accept4 */
#include <sys/stat.h>

#include "fake_server.h"
#include "runner/agents.h"

static const char reviewer[] = "---\n"
                               "name: reviewer\n"
                               "description: Reads changes\n"
                               "tools: Read, Bash(git diff:*)\n"
                               "model: opus\n"
                               "args: [rm, -rf, /]\n"
                               "---\n"
                               "You review.\n";

static void folders_make(void)
{
    static const char *const all[] = {
        "shop",          "shop/.git", "shop/.claude", "shop/.claude/agents", "shop/src",
        "shop/src/deep", "home",      "home/.claude", "home/.claude/agents", "data",
        "data/agents"
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK(mkdir(all[i], 0700) == 0 || errno == EEXIST);
    check_write("shop/.claude/agents/reviewer.md", str_from(reviewer));
    check_write("home/.claude/agents/writer.md", STR("---\ndescription: Writes\n---\n"));
    check_write("data/agents/keeper.json", STR("{'description':'Keeps'}"));
}

static const char *here(const char *below)
{
    char *at = getcwd(NULL, 0);
    const char *path = arena_printf(check_arena(), "%s%s", at, below).at;

    free(at);
    return path;
}

/* Waits until what the server was told of agents has a text in it, and gives all of it. */
static str agents_wait(struct fake_server *f, const char *part)
{
    struct timespec little = { .tv_nsec = 10000000 };
    str told = STR("");

    for (int i = 0; i < FAKE_PATIENCE_S * 100; i++) {
        pthread_mutex_lock(&f->mutex);
        if (f->agents)
            told = json_shown(check_arena(), f->agents);
        pthread_mutex_unlock(&f->mutex);
        if (str_contains(told, str_from(part)))
            return told;
        nanosleep(&little, NULL);
    }
    check_fail(__FILE__, __LINE__, "expected %s to be offered; told: " STR_FMT, part,
               STR_ARG(told));
}

TEST(agents_in_files_are_offered_and_again_when_they_have_changed)
{
    struct fake_server *f = fake_new();
    folders_make();
    check_write("data/agents/keeper.json", STR("{\"description\":\"Keeps\"}"));
    check_write("home/.claude/agents/bad.md", STR("no front matter"));
    check_write("home/.claude/agents/odd.md", STR("---\nname: a b\n---\n"));
    f->projects =
        arena_printf(check_arena(), "[{\"name\":\"shop\",\"folder\":\"%s\"}]", here("/shop")).at;
    const char *home = arena_printf(check_arena(), "HOME=%s", here("/home")).at;
    pid_t runner = runner_launch(f, (const char *const[]){ home, NULL });

    CHECK_STR(agents_wait(f, "shop"),
              arena_printf(check_arena(),
                           "[{'name':'reviewer','project':'%s','source':'project','description':"
                           "'Reads changes','model':'opus','tools':['Read','Bash(git diff:*)']},"
                           "{'name':'writer','source':'home','description':'Writes'},"
                           "{'name':'keeper','source':'data','description':'Keeps'}]",
                           here("/shop"))
                  .at);
    check_write("home/.claude/agents/editor.md", STR("---\ndescription: Edits\n---\n"));
    CHECK_HAS(agents_wait(f, "editor"), "'writer'");
    CHECK(unlink("home/.claude/agents/writer.md") == 0 &&
          unlink("home/.claude/agents/editor.md") == 0);
    check_write("home/.claude/agents/last.md", STR("---\ndescription: Last\n---\n"));
    CHECK(!str_contains(agents_wait(f, "'last'"), STR("writer")));
    runner_end(runner, SIGTERM);
    CHECK_HAS(check_read("log"), "bad.md: line 1: expected --- and the agent's name");
    CHECK_HAS(check_read("log"), "odd.md: expected a name of 1 to 60 letters");
}

/* What the file says of arguments is nobody's business: it may be an agent's own work. */
TEST(an_agent_in_a_file_is_started_as_the_file_says_then)
{
    struct fake_server *f = fake_new();
    folders_make();
    pid_t runner = runner_launch(f, NULL);
    static const struct {
        const char *agent, *source, *dir, *what, *told;
    } runs[] = {
        { "'reviewer'", "project", "/shop", "completed", "opus|You review." },
        { "{'name':'reviewer'}", "project", "/shop/src/deep", "completed", "opus|You review." },
        { "'writer'", "project", "/shop", "failed", "there is no file of an agent \"writer\"" },
        { "'reviewer'", "project", "/home", "failed", "/home/.claude/agents" },
        { "'keeper'", "data", "/shop", "completed", "m|Keep." },
    };

    check_write("data/agents/keeper.json", STR("{\"model\":\"m\",\"system_prompt\":\"Keep.\"}"));
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const char *id = arena_printf(check_arena(), "run_%zu", i).at;
        fake_offer(f, arena_printf(check_arena(),
                                   "{'run_id':'%s','type':'start_session','purpose':'task',"
                                   "'session_id':'ses_1','session_name':'worker','prompt':'do',"
                                   "'fence':1,'token':'ss_x','lease_seconds':1,'max_seconds':60,"
                                   "'agent':%s,'agent_source':'%s','project_dir':'%s',"
                                   "'profile':{'name':'p','start':['printf','%%s|%%s','{model}',"
                                   "'{system_prompt}'],'prompt':'stdin','client_id':'none',"
                                   "'output':{'format':'text'}}}",
                                   id, runs[i].agent, runs[i].source, here(runs[i].dir))
                          .at);
        const struct told_report *end = fake_wait(f, id, runs[i].what, 1);
        CHECK_HAS(json_str(end->body, strcmp(runs[i].what, "failed") ? "result" : "error"),
                  runs[i].told);
    }
    runner_end(runner, SIGTERM);
}

/* Nothing that files hold makes an offer that a server could not take. */
TEST(what_is_offered_is_bounded)
{
    struct arena *a = check_arena();
    struct runner_options o = { .home = STR("data") };
    struct json bad = json_array();
    char much[3000];

    folders_make();
    memset(much, 'x', sizeof much);
    setenv("HOME", here("/home"), 1);
    for (int i = 0; i < 300; i++)
        check_write(arena_printf(a, "data/agents/a%03d.md", i).at,
                    arena_printf(a, "---\ndescription: %.*s\nmodel: %.*s\ntools: [a, %.*s]\n---\n",
                                 (int)sizeof much, much, (int)sizeof much, much, (int)sizeof much,
                                 much));
    struct json all = agents_offered(a, &o, NULL, &bad);
    CHECK_INT(all.len, 200);
    CHECK_INT(json_str(&all.items[7], "description").len, 1000);
    CHECK(!json_get(&all.items[7], "model"));
    CHECK_INT(json_get(&all.items[7], "tools")->len, 1);
    CHECK(mkfifo("home/.claude/agents/pipe.md", 0600) == 0);
    bad.len = 0;
    agents_offered(a, &o, NULL, &bad);
    CHECK_HAS(json_printed(a, &bad), "pipe.md");
}
