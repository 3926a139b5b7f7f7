/* runner_profile_test.c: command lines, environments and files of profiles; and git's facts. */
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "core/profile_data.h"
#include "json/schema/schema.h"
#include "json_help.h"
#include "runner/git.h"
#include "runner/profile.h"

static const struct json *json_at_text(const char *text)
{
    struct json *j = ARENA_NEW(check_arena(), struct json);
    *j = json_of(check_arena(), text);
    return j;
}

static const struct json *built_in(const char *name)
{
    struct profile_built_in p;
    const struct json *parsed = NULL;

    for (size_t i = 0; (p = profile_built_in(i)).name; i++)
        if (strcmp(p.name, name) == 0)
            parsed = json_parsed(check_arena(), p.text);
    CHECK(parsed);
    return parsed;
}

/* Arguments with a bar between them. */
static str shown(char *const *argv)
{
    struct buf out = buf_in(check_arena());

    for (size_t i = 0; argv[i]; i++)
        buf_printf(&out, "%s%s", i ? "|" : "", argv[i]);
    return buf_str(&out);
}

static struct launch launch_of(const struct json *profile)
{
    return (struct launch){ .profile = profile,
                            .prompt = STR("do it"),
                            .prompt_file = STR("/run/prompt"),
                            .client_id = STR("id-1"),
                            .session_name = STR("worker"),
                            .project_dir = STR("/src"),
                            .mcp_file = STR("/run/mcp.json"),
                            .baton = STR("/bin/baton"),
                            .runner_dir = STR("/home/r"),
                            .url = STR("http://127.0.0.1:8765") };
}

TEST(built_in_profiles_fit_their_schema)
{
    struct arena *a = check_arena();
    const struct json *text, *profile;
    struct schema *schema;
    struct profile_built_in p;
    size_t i;

    text = json_parsed(a, str_from(profile_schema_text));
    CHECK_OK(schema_compile(a, text, NULL, &schema));
    for (i = 0; (p = profile_built_in(i)).name; i++) {
        profile = json_parsed(a, p.text);
        CHECK_STR(json_str(profile, "name"), p.name);
        CHECK_OK(schema_require(a, schema, profile));
    }
    CHECK_INT(i, 8);
    schema_free(schema);
}

// clang-format off
static const struct {
    const char *profile;
    bool resume;
    const char *agent, *argv;
} lines[] = {
    { "claude", false, "{}",
      "claude|-p|--output-format|stream-json|--verbose|--session-id|id-1|--mcp-config|/run/mcp.json|"
      "--allowedTools|mcp__baton__*|--permission-mode|acceptEdits|"
      "--allowedTools|Bash,WebFetch,WebSearch,Skill|--allowedTools|mcp__baton__*" },
    { "claude", true, "{'model':'m','tools':['Read','Bash(git log:*, git diff:*)'],'system_prompt':'You test.'}",
      "claude|-p|--output-format|stream-json|--verbose|--resume|id-1|--model|m|--append-system-prompt|You test.|"
      "--tools|Read,Bash|--allowedTools|Read,Bash(git log:*, git diff:*)|"
      "--mcp-config|/run/mcp.json|--allowedTools|mcp__baton__*|--permission-mode|acceptEdits" },
    { "claude", false, "{'permissions':'edit','mcp_servers':{'db':{}}}",
      "claude|-p|--output-format|stream-json|--verbose|--session-id|id-1|--mcp-config|/run/mcp.json|"
      "--allowedTools|mcp__baton__*|--permission-mode|acceptEdits" },
    { "claude", false, "{'permissions':'read'}",
      "claude|-p|--output-format|stream-json|--verbose|--session-id|id-1|--mcp-config|/run/mcp.json|"
      "--allowedTools|mcp__baton__*|--permission-mode|dontAsk|--disallowedTools|Edit,Write,NotebookEdit" },
    { "claude", false, "{'permissions':'work','mcp_servers':{'my db,Bash':{}}}",
      "claude|-p|--output-format|stream-json|--verbose|--session-id|id-1|--mcp-config|/run/mcp.json|"
      "--allowedTools|mcp__baton__*|--permission-mode|acceptEdits|"
      "--allowedTools|Bash,WebFetch,WebSearch,Skill|--allowedTools|mcp__baton__*,mcp__my_db_Bash__*" },
    { "codex", true, "{'model':'m'}",
      "codex|exec|--json|--skip-git-repo-check|-m|m|-s|workspace-write|-c|mcp_servers.baton.command='/bin/baton'|"
      "-c|mcp_servers.baton.args=[\"mcp\"]|"
      "-c|mcp_servers.baton.env_vars=[\"BATON_URL\",\"BATON_TOKEN\",\"BATON_SESSION_ID\",\"WORKFLOW_STATE_ID\",\"TRACEPARENT\"]|"
      "-c|mcp_servers.baton.default_tools_approval_mode=\"approve\"|resume|id-1|-" },
    { "gemini", true, "{}", "gemini|-o|stream-json|--skip-trust|-r|id-1|--approval-mode|yolo" },
    { "gemini", false, "{'permissions':'edit'}", "gemini|-o|stream-json|--skip-trust|--approval-mode|auto_edit" },
    { "gemini", false, "{'permissions':'read'}", "gemini|-o|stream-json|--skip-trust|--approval-mode|default" },
    { "opencode", false, "{'model':'a/b'}", "opencode|run|--format|json|-m|a/b" },
    { "aider", true, "{}",
      "aider|--yes-always|--no-stream|--no-pretty|--no-check-update|--no-show-release-notes|"
      "--restore-chat-history|--message-file|/run/prompt" },
    { "shell", false, "{'args':['/bin/sh','-c','echo {prompt} {args}']}", "/bin/sh|-c|echo {prompt} {args}" },
    { "scripted", false, "{}", "/bin/baton|scripted|--start|id-1" },
};
// clang-format on

TEST(profiles_make_the_command_lines_of_their_clients)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct launch l = launch_of(built_in(lines[i].profile));
        char **argv;
        l.agent = json_at_text(lines[i].agent);
        l.resume = lines[i].resume;
        CHECK_OK(profile_argv(check_arena(), &l, &argv));
        CHECK_STR(shown(argv), lines[i].argv);
    }
}

TEST(value_is_one_argument_and_never_an_option)
{
    static const struct {
        const char *start, *prompt, *argv; /* argv NULL: refused */
    } cases[] = {
        { "['x','{prompt}']", "a b; $(c) \"d\"", "x|a b; $(c) \"d\"" },
        { "['x','{prompt}']", "--yolo", "x| --yolo" },
        { "['x','a {prompt}']", "p", "x|a {prompt}" },
        { "['x','{client_id}']", "p", "x|id-1" },
        { "['x','{model}']", "p", NULL },
        { "['x','{nothing}']", "p", NULL },
        { "['{args}']", "p", NULL },
        { "[]", "p", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text =
            arena_printf(check_arena(), "{'name':'p','start':%s}", cases[i].start).at;
        struct launch l = launch_of(json_at_text(text));
        char **argv;
        l.prompt = str_from(cases[i].prompt);
        err e = profile_argv(check_arena(), &l, &argv);
        if (cases[i].argv)
            CHECK_STR(shown(argv), cases[i].argv);
        else
            CHECK_ERR(e, ERR_INVALID);
    }
}

TEST(id_that_begins_with_a_dash_is_refused)
{
    struct launch l = launch_of(built_in("claude"));
    char **argv;

    l.resume = true;
    l.client_id = STR("--dangerously-skip-permissions");
    CHECK_ERR(profile_argv(check_arena(), &l, &argv), ERR_INVALID);
}

TEST(environment_is_ours_without_secrets_then_the_profiles_and_the_runs)
{
    char *ours[] = { "PATH=/bin",       "BATON_TOKEN=rn_x",
                     "BATON_STORE=y",   "CLAUDECODE=1",
                     "CODEX_A=1",       "TERM=dumb",
                     "TRACEPARENT=old", "AWS_A=1",
                     "AWS_B=1",         "X=1",
                     "NO_COLOR=no",     NULL };
    const struct json *profile =
        json_at_text("{'env':{'NO_COLOR':'1','F':'{mcp_file}','G':'{state_file}',"
                     "'U':'${BATON_URL}/x','L':'a {mcp_file}'},'unset':['AWS_*','X']}");
    const struct json *run = json_at_text("{'WORKFLOW_STATE_ID':'w','BATON_PARENT_SESSION_ID':'',"
                                          "'bad name':'x','N':7}");
    const struct env_pair more[] = { { "BATON_TOKEN", STR("ss_y") }, { "EMPTY", STR("") } };
    struct launch l = launch_of(profile);
    char **env;

    CHECK_OK(profile_env(check_arena(), &l, ours, NULL, run, more, 2, &env));
    CHECK_STR(shown(env), "PATH=/bin|TERM=dumb|NO_COLOR=1|F=/run/mcp.json|"
                          "U=http://127.0.0.1:8765/x|L=a {mcp_file}|WORKFLOW_STATE_ID=w|"
                          "BATON_TOKEN=ss_y");
}

/* Where nobody has installed it, agents find the program that has started them behind all others. */
TEST(agents_find_the_program_that_has_started_them)
{
    struct launch l = launch_of(json_at_text("{}"));
    char *without[] = { "PATH=/nowhere:relative", NULL }, *bare[] = { "X=1", NULL };
    char *with[] = { (char *)arena_printf(check_arena(), "PATH=/nowhere:%s/bin",
                                          getcwd(arena_alloc(check_arena(), 4096), 4096))
                         .at,
                     NULL };
    char **env;

    l.baton = STR("/src/build/baton");
    CHECK_OK(profile_env(check_arena(), &l, without, NULL, NULL, NULL, 0, &env));
    CHECK_STR(shown(env), "PATH=/nowhere:relative:/src/build");
    CHECK_OK(profile_env(check_arena(), &l, bare, NULL, NULL, NULL, 0, &env));
    CHECK_STR(shown(env), "X=1|PATH=/src/build");
    CHECK(mkdir("bin", 0700) == 0);
    check_write("bin/baton", STR("#!/bin/sh\n"));
    CHECK(chmod("bin/baton", 0700) == 0);
    CHECK_OK(profile_env(check_arena(), &l, with, NULL, NULL, NULL, 0, &env));
    CHECK_STR(shown(env), with[0]);
}

TEST(permissions_are_held_to_by_every_client_that_can_be_told)
{
    static const char *const levels[] = { "read", "edit" };
    static const struct {
        const char *profile;
        bool can;
        const char *args[2], *env[2]; /* by level; NULL: none */
    } cases[] = {
        { "claude",
          true,
          { "|--disallowedTools|Edit,Write,NotebookEdit", "|--permission-mode|acceptEdits" },
          { NULL, NULL } },
        { "codex", true, { "|-s|read-only|", "|-s|workspace-write|" }, { NULL, NULL } },
        { "gemini",
          true,
          { "|--approval-mode|default", "|--approval-mode|auto_edit" },
          { NULL, NULL } },
        { "opencode",
          true,
          { NULL, NULL },
          { "OPENCODE_PERMISSION={\"edit\":\"deny\",\"bash\":\"deny\"}",
            "OPENCODE_PERMISSION={\"edit\":\"allow\",\"bash\":\"deny\"}" } },
        { "kiro", false, { NULL }, { NULL } },
        { "aider", false, { NULL }, { NULL } },
        { "shell", false, { NULL }, { NULL } },
    };
    char *ours[] = { NULL };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < 2; k++) {
            struct launch l = launch_of(built_in(cases[i].profile));
            char **argv, **env;
            l.agent = json_at_text(
                arena_printf(check_arena(), "{'permissions':'%s','args':['x']}", levels[k]).at);
            err e = profile_argv(check_arena(), &l, &argv);
            if (!cases[i].can) {
                CHECK_ERR(e, ERR_INVALID);
                continue;
            }
            CHECK_OK(e);
            CHECK_OK(profile_env(check_arena(), &l, ours, NULL, NULL, NULL, 0, &env));
            if (cases[i].args[k])
                CHECK_HAS(shown(argv), cases[i].args[k]);
            if (cases[i].env[k])
                CHECK_HAS(shown(env), cases[i].env[k]);
        }
}

TEST(servers_of_an_agent_stand_beside_ours)
{
    struct launch l = launch_of(built_in("claude"));

    l.agent = json_at_text("{'mcp_servers':{'db':{'command':'x'},'baton':{'command':'evil'}}}");
    const struct json *mcp = json_parsed(check_arena(), profile_mcp(check_arena(), &l));
    const struct json *servers = json_get(mcp, "mcpServers");
    CHECK_INT(servers->len, 2);
    CHECK_STR(json_str(json_get(servers, "baton"), "type"), "http");
    CHECK_STR(json_str(json_get(servers, "baton"), "url"), "${BATON_URL}/mcp");
    CHECK_STR(json_str(json_get(servers, "db"), "command"), "x");
}

TEST(role_stands_before_the_first_prompt_of_clients_without_an_option_for_it)
{
    struct launch l = launch_of(built_in("codex"));

    l.agent = json_at_text("{'system_prompt':'You test.'}");
    CHECK_STR(profile_prompt(check_arena(), &l), "You test.\n\ndo it");
    l.resume = true;
    CHECK_STR(profile_prompt(check_arena(), &l), "do it");
    l = launch_of(built_in("claude"));
    l.agent = json_at_text("{'system_prompt':'You test.','initial_prompt':'Read first.'}");
    CHECK_STR(profile_prompt(check_arena(), &l), "Read first.\n\ndo it");
    l.prompt = STR("");
    CHECK_STR(profile_prompt(check_arena(), &l), "Read first.");
}

/* ---- git ---- */

#define STATUS(text) ((str){ text, sizeof text - 1 })

TEST(git_status_is_read_as_head_branch_and_dirty_files)
{
    static const struct {
        str status;
        const char *git;
    } cases[] = {
        { STATUS("# branch.oid abc\0# branch.head main\0"
                 "1 .M N... 100644 100644 100644 1 2 src/a b.c\0"
                 "2 R. N... 100644 100644 100644 1 2 R100 new\0old\0"
                 "u UU N... 100644 100644 100644 100644 1 2 3 both\0"
                 "? fresh\0"),
          "{'head':'abc','branch':'main','dirty':['src/a b.c','new','both','fresh']}" },
        { STATUS("# branch.oid (initial)\0# branch.head main\0"),
          "{'head':'(initial)','branch':'main','dirty':[]}" },
        { STATUS("# branch.oid a\0# branch.head m\0? bad\xff\0"),
          "{'head':'a','branch':'m','dirty':[]}" },
        { STATUS("# branch.oid a\0# branch.oid b\0# branch.head m\0"),
          "{'head':'a','branch':'m','dirty':[]}" }, /* a name twice would be no JSON */
        { STATUS("nonsense"), "null" },
        { STATUS(""), "null" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json git = git_read(check_arena(), cases[i].status);
        CHECK_STR(json_shown(check_arena(), &git), cases[i].git);
    }
}

TEST(agent_hears_what_changed_in_its_folder)
{
    static const struct {
        const char *before, *now, *text;
    } cases[] = {
        { "{'head':'a','branch':'m','dirty':['x']}", "{'head':'a','branch':'m','dirty':['x']}",
          "" },
        { "null", "{'head':'a','branch':'m','dirty':[]}", "" },
        { "{'head':'a','branch':'m','dirty':['x','y']}",
          "{'head':'b','branch':'m','dirty':['y','z']}",
          "The project folder has changed since your last turn:\n"
          "- commit: was a, is now b\n"
          "- files with changes that are not committed: z\n"
          "- files without such changes any more: x\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(git_changes(check_arena(), json_at_text(cases[i].before),
                              json_at_text(cases[i].now)),
                  cases[i].text);
}
