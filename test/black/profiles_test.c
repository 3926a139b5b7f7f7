/* profiles_test.c: the profiles that come with the program, on a real server with its runner.
 *
 * The clients are stand-ins of their names: each keeps what it was given (arguments, environment,
 * standard input, its MCP file), and says what the real one says in such a case. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "black/script.h"
#include "json/pointer.h"
#include "json_help.h"

enum { LIMIT_S = BLACK_SANITIZED ? 120 : 40 };

/* ---- stand-ins ---- */

#define CLIENT                                                       \
    "cd \"$STANDIN\" || exit 99\n"                                   \
    "basename \"$0\" >argv\n"                                        \
    "id= last=\n"                                                    \
    "for word; do\n"                                                 \
    "    printf '%s\\n' \"$word\" >>argv\n"                          \
    "    case $last in\n"                                            \
    "    --session-id | --resume) id=$word ;;\n"                     \
    "    --mcp-config) cat \"$word\" >mcp ;;\n"                      \
    "    esac\n"                                                     \
    "    last=$word\n"                                               \
    "done\n"                                                         \
    "env | sort >env\n"                                              \
    "cat >stdin\n"                                                   \
    "[ -z \"$GEMINI_CLI_SYSTEM_DEFAULTS_PATH\" ] ||\n"               \
    "    cat \"$GEMINI_CLI_SYSTEM_DEFAULTS_PATH\" >mcp\n"            \
    "[ -z \"$OPENCODE_CONFIG\" ] || cat \"$OPENCODE_CONFIG\" >mcp\n" \
    "sed \"s/@ID@/$id/\" says\n"                                     \
    "exit \"$(cat code)\"\n"

/* A server whose runner finds them, in a folder that agents are not started in. */
static void start(struct black *b)
{
    static const char *const names[] = { "claude", "codex", "gemini", "opencode" };
    static const char *const outer[] = {
        "CLAUDECODE",      "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_MESSAGING_TOKEN", "CODEX_HOME",
        "CODEX_THREAD_ID", "WORKFLOW_STATE_ID",      "AGENT_SESSION_NAME"
    };
    char folder[4000];

    CHECK(getcwd(folder, sizeof folder) && mkdir("bin", 0755) == 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        script_write(arena_printf(check_arena(), "bin/%s", names[i]).at, CLIENT);
    for (size_t i = 0; i < sizeof outer / sizeof *outer; i++)
        setenv(outer[i], "of an agent around us", 1);
    setenv("STANDIN", folder, 1);
    setenv("PATH", arena_printf(check_arena(), "%s/bin:%s", folder, getenv("PATH")).at, 1);
    black_start(b);
}

/* What the next client says, and its exit code. */
static void says(const char *stream, int code)
{
    check_write("says", quotes_double(check_arena(), stream));
    check_write("code", arena_printf(check_arena(), "%d", code));
}

/* The lines of a file, with bars between them. */
static str lines(const char *path)
{
    str text = arena_copy(check_arena(), str_trim(check_read(path)));

    for (char *at = (char *)text.at; (at = memchr(at, '\n', text.len - (size_t)(at - text.at)));)
        *at = '|';
    return text;
}

/* ---- streams ---- */

#define CLAUDE_BEGIN                                                                              \
    "{'type':'system','subtype':'hook_started','hook_event':'SessionStart'}\n"                    \
    "{'type':'system','subtype':'init','session_id':'@ID@','cwd':'/x','tools':['Task','Bash'],"   \
    "'mcp_servers':[{'name':'baton','status':'connected'}],'model':'m','permissionMode':"         \
    "'default','claude_code_version':'2.1.325'}\n"                                                \
    "{'type':'assistant','message':{'id':'msg_1','role':'assistant','content':[{'type':'text',"   \
    "'text':'Looking.'}]},'parent_tool_use_id':null,'session_id':'@ID@'}\n"                       \
    "{'type':'assistant','message':{'content':[{'type':'tool_use','name':'Bash','input':{}}]}}\n" \
    "{'type':'user','message':{'role':'user','content':[{'type':'tool_result'}]}}\n"              \
    "{'type':'rate_limit_event','rate_limit_info':{'status':'allowed'}}\n"

#define CLAUDE_USED                                                                    \
    "'total_cost_usd':0.0123,'usage':{'input_tokens':10,'output_tokens':20,"           \
    "'cache_creation_input_tokens':3,'cache_read_input_tokens':5},'modelUsage':{'m':{" \
    "'inputTokens':40,'outputTokens':60,'costUSD':0.0123}}"

#define CODEX_BEGIN                                                                       \
    "{'type':'thread.started','thread_id':'0199-thread'}\n"                               \
    "{'type':'item.completed','item':{'id':'i0','type':'error','message':'a warning'}}\n" \
    "{'type':'turn.started'}\n"                                                           \
    "{'type':'item.completed','item':{'id':'i1','type':'reasoning','text':'hm'}}\n"       \
    "{'type':'item.started','item':{'id':'i2','type':'command_execution','command':'ls'," \
    "'aggregated_output':'','exit_code':null,'status':'in_progress'}}\n"                  \
    "{'type':'item.completed','item':{'id':'i3','type':'agent_message','text':'Looking.'}}\n"

#define GEMINI_BEGIN                                                                        \
    "{'type':'init','timestamp':'t','session_id':'0a1b-gem','model':'g'}\n"                 \
    "{'type':'message','timestamp':'t','role':'user','content':'do it'}\n"                  \
    "{'type':'tool_use','timestamp':'t','tool_name':'ls','tool_id':'1','parameters':{}}\n"  \
    "{'type':'tool_result','timestamp':'t','tool_id':'1','status':'success','output':''}\n" \
    "{'type':'message','timestamp':'t','role':'assistant','content':'All ','delta':true}\n"

#define OPENCODE_BEGIN                                                                               \
    "{'type':'step_start','timestamp':1,'sessionID':'ses_oc1','part':{'type':'step-start'}}\n"       \
    "{'type':'text','timestamp':1,'sessionID':'ses_oc1','part':{'type':'text','text':'Looking.'}}\n" \
    "{'type':'step_finish','timestamp':1,'sessionID':'ses_oc1','part':{'type':'step-finish',"        \
    "'cost':0.01,'tokens':{'input':4,'output':5,'reasoning':1,'cache':{'read':6,'write':0}}}}\n"

/* What is expected of a session after such a turn; NULL: not looked at. */
static const struct {
    const char *profile, *stream;
    int code;
    const char *status, *client_id, *result, *error, *usage;
} turns[] = {
    { "claude",
      CLAUDE_BEGIN "{'type':'result','subtype':'success','is_error':false,'result':'All done.',"
                   "'session_id':'@ID@','num_turns':2,'terminal_reason':'completed'," CLAUDE_USED
                   "}\n",
      0, "finished", "", "All done.", NULL,
      "{'input_tokens':10,'output_tokens':20,'cached_tokens':5,'cost_usd':0.012300,'models':{'m':"
      "{'inputTokens':40,'outputTokens':60,'costUSD':0.0123}}}" },
    { "claude",
      CLAUDE_BEGIN "{'type':'result','subtype':'error_during_execution','is_error':true,'errors':["
                   "'API Error: 429 rate limit reached']," CLAUDE_USED "}\n",
      1, "failed", "", NULL, "API Error: 429 rate limit reached",
      "{'input_tokens':10,'output_tokens':20,'cached_tokens':5,'cost_usd':0.012300,'models':{'m':"
      "{'inputTokens':40,'outputTokens':60,'costUSD':0.0123}}}" },
    { "claude",
      CLAUDE_BEGIN "{'type':'result','subtype':'success','is_error':true,"
                   "'result':'Credit balance is too low'}\n",
      1, "failed", "", NULL, "Credit balance is too low", NULL },
    { "claude", CLAUDE_BEGIN "{'type':'result','subtype':'error_max_turns','is_error':false}\n", 0,
      "failed", "", NULL, "error_max_turns", NULL },
    { "claude", CLAUDE_BEGIN, 143, "failed", "", NULL, "exit code 143", NULL },
    { "codex",
      CODEX_BEGIN "{'type':'item.completed','item':{'id':'i4','type':'agent_message',"
                  "'text':'All done.'}}\n"
                  "{'type':'turn.completed','usage':{'input_tokens':100,'cached_input_tokens':60,"
                  "'cache_write_input_tokens':0,'output_tokens':7,'reasoning_output_tokens':2}}\n",
      0, "finished", "0199-thread", "All done.", NULL,
      "{'input_tokens':100,'output_tokens':7,'cached_tokens':60,'cost_usd':0.000000,"
      "'models':null}" },
    { "codex",
      CODEX_BEGIN "{'type':'error','message':'Reconnecting... 1/5'}\n"
                  "{'type':'turn.failed','error':{'message':'You have hit your usage limit.'}}\n",
      1, "failed", "0199-thread", NULL, "You have hit your usage limit.", NULL },
    { "gemini",
      GEMINI_BEGIN "{'type':'message','timestamp':'t','role':'assistant','content':'done.',"
                   "'delta':true}\n"
                   "{'type':'result','timestamp':'t','status':'success','stats':{'total_tokens':30,"
                   "'input_tokens':20,'output_tokens':10,'cached':4,'duration_ms':9,"
                   "'tool_calls':1,'models':{'g':{'total_tokens':30}}}}\n",
      0, "finished", "0a1b-gem", "All done.", NULL,
      "{'input_tokens':20,'output_tokens':10,'cached_tokens':4,'cost_usd':0.000000,"
      "'models':{'g':{'total_tokens':30}}}" },
    { "gemini",
      GEMINI_BEGIN "{'type':'result','timestamp':'t','status':'error','error':{'type':"
                   "'FatalTurnLimitedError','message':'Reached max session turns.'}}\n",
      53, "failed", "0a1b-gem", NULL, "Reached max session turns.", NULL },
    { "opencode",
      OPENCODE_BEGIN "{'type':'text','timestamp':2,'sessionID':'ses_oc1','part':{'type':'text',"
                     "'text':'All done.'}}\n"
                     "{'type':'step_finish','timestamp':2,'sessionID':'ses_oc1','part':{'type':"
                     "'step-finish','cost':0.02,'tokens':{'input':1,'output':2,'reasoning':0,"
                     "'cache':{'read':3,'write':0}}}}\n",
      0, "finished", "ses_oc1", "All done.", NULL,
      "{'input_tokens':5,'output_tokens':7,'cached_tokens':9,'cost_usd':0.030000,"
      "'models':null}" },
    { "opencode",
      OPENCODE_BEGIN "{'type':'error','timestamp':2,'sessionID':'ses_oc1','error':{'name':"
                     "'ProviderAuthError','data':{'providerID':'x','message':'No key.'}}}\n",
      1, "failed", "ses_oc1", NULL, "No key.", NULL },
};

static void check_turn(const struct black *b, const char *name, size_t i)
{
    const struct json *s = script_settled(b, name, turns[i].status);

    if (*turns[i].client_id)
        CHECK_STR(json_str(s, "client_id"), turns[i].client_id);
    else
        CHECK_INT(json_str(s, "client_id").len, 36); /* a UUID that we chose */
    if (turns[i].result)
        CHECK_STR(script_result(b, name), turns[i].result);
    if (turns[i].error)
        CHECK(strstr(arena_copy(check_arena(), json_str(s, "error")).at, turns[i].error));
    if (turns[i].usage)
        CHECK_STR(json_shown(check_arena(), json_get(s, "usage")), turns[i].usage);
}

TEST_LIMIT(streams_of_clients_are_read_as_result_usage_and_failure, LIMIT_S)
{
    struct black b = { .args = script_runner };

    start(&b);
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        const char *name = arena_printf(check_arena(), "s%zu", i).at;
        const char *demand =
            arena_printf(check_arena(), ",'demands':{'profile':'%s'}", turns[i].profile).at;
        says(turns[i].stream, turns[i].code);
        script_start(&b, name, "", "do it", demand);
        check_turn(&b, name, i);
    }
    black_stop(&b);
}

/* ---- what a client is given ---- */

/* How each is started and resumed by an agent with a model, a role and tools; ID, FILE and
 * BATON stand for those of the run. */
static const struct {
    const char *profile, *stream, *start, *resume, *prompt, *mcp;
} given[] = {
    { "claude",
      "{'type':'system','subtype':'init','session_id':'@ID@'}\n"
      "{'type':'result','is_error':false,'result':'ok'}\n",
      "claude|-p|--output-format|stream-json|--verbose|--session-id|ID|--model|m|"
      "--append-system-prompt|You test.|--tools|Read,Bash|--allowedTools|Read,Bash(git *)|"
      "--mcp-config|FILE|--allowedTools|mcp__baton__*|--permission-mode|acceptEdits",
      "claude|-p|--output-format|stream-json|--verbose|--resume|ID|--model|m|"
      "--append-system-prompt|You test.|--tools|Read,Bash|--allowedTools|Read,Bash(git *)|"
      "--mcp-config|FILE|--allowedTools|mcp__baton__*|--permission-mode|acceptEdits",
      "do it",
      "{'mcpServers':{'baton':{'type':'http','url':'${BATON_URL}/mcp','headers':{'Authorization':"
      "'Bearer ${BATON_TOKEN}','X-Workflow-State-Id':'${WORKFLOW_STATE_ID:-}'},"
      "'timeout':120000}}}" },
    { "codex",
      "{'type':'thread.started','thread_id':'th-1'}\n"
      "{'type':'item.completed','item':{'type':'agent_message','text':'ok'}}\n",
      "codex|exec|--json|--skip-git-repo-check|-m|m|-s|workspace-write|-c|mcp_servers.baton.command='BATON'|"
      "-c|mcp_servers.baton.args=[\"mcp\"]|"
      "-c|mcp_servers.baton.env_vars=[\"BATON_URL\",\"BATON_TOKEN\",\"BATON_SESSION_ID\",\"WORKFLOW_STATE_ID\",\"TRACEPARENT\"]|"
      "-c|mcp_servers.baton.default_tools_approval_mode=\"approve\"|-",
      "codex|exec|--json|--skip-git-repo-check|-m|m|-s|workspace-write|-c|mcp_servers.baton.command='BATON'|"
      "-c|mcp_servers.baton.args=[\"mcp\"]|"
      "-c|mcp_servers.baton.env_vars=[\"BATON_URL\",\"BATON_TOKEN\",\"BATON_SESSION_ID\",\"WORKFLOW_STATE_ID\",\"TRACEPARENT\"]|"
      "-c|mcp_servers.baton.default_tools_approval_mode=\"approve\"|resume|ID|-",
      "You test.||do it", NULL },
    { "gemini",
      "{'type':'init','session_id':'g-1'}\n{'type':'message','role':'assistant','content':'ok'}\n",
      "gemini|-o|stream-json|--skip-trust|-m|m|--approval-mode|yolo",
      "gemini|-o|stream-json|--skip-trust|-r|ID|-m|m|--approval-mode|yolo", "You test.||do it",
      "{'mcpServers':{'baton':{'httpUrl':'${BATON_URL}/mcp','headers':{'Authorization':"
      "'Bearer ${BATON_TOKEN}'},'timeout':120000,'trust':true}}}" },
    { "opencode", "{'type':'text','sessionID':'ses_1','part':{'text':'ok'}}\n",
      "opencode|run|--format|json|-m|m", "opencode|run|--format|json|-s|ID|-m|m",
      "You test.||do it",
      "{'mcp':{'baton':{'type':'remote','url':'{env:BATON_URL}/mcp','headers':{'Authorization':"
      "'Bearer {env:BATON_TOKEN}'},'oauth':false,'enabled':true}}}" },
};

static str replaced(str text, str from, const char *to)
{
    struct buf out = buf_in(check_arena());
    const char *found;

    while (from.len && (found = memmem(text.at, text.len, from.at, from.len))) {
        size_t before = (size_t)(found - text.at);
        buf_add(&out, str_slice(text, 0, before));
        buf_add(&out, str_from(to));
        text = str_slice(text, before + from.len, text.len);
    }
    buf_add(&out, text);
    return buf_str(&out);
}

/* The word behind another one. */
static str word_after(str words, const char *word)
{
    str one, last = STR("");

    while (words.len) {
        str_cut(words, '|', &one, &words);
        if (str_eq(last, str_from(word)))
            return one;
        last = one;
    }
    return STR("");
}

/* The program that a client is to start, in an argument with quotes around it. */
static str program_in(str argv)
{
    static const char before[] = "command='";
    const char *found = memmem(argv.at, argv.len, before, strlen(before));
    str path = STR(""), rest;

    if (found)
        str_cut((str){ found + strlen(before),
                       argv.len - (size_t)(found - argv.at) - strlen(before) },
                '\'', &path, &rest);
    return path;
}

static void check_argv(str client_id, const char *expected)
{
    str argv = lines("argv");

    argv = replaced(argv, word_after(argv, "--mcp-config"), "FILE");
    argv = replaced(argv, program_in(argv), "BATON");
    CHECK_STR(replaced(argv, client_id, "ID"), expected);
}

/* The names of variables that are ours or an agent's, in order. */
static str names_given(void)
{
    static const char *const prefixes[] = { "AGENT_",   "BATON_",       "CLAUDE",
                                            "CODEX",    "GEMINI_",      "NO_C",
                                            "OPENCODE", "TRACEPARENT=", "WORKFLOW_" };
    struct buf out = buf_in(check_arena());
    str line, name, rest = check_read("env"), value;

    while (rest.len) {
        str_cut(rest, '\n', &line, &rest);
        str_cut(line, '=', &name, &value);
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            if (str_starts(line, str_from(prefixes[i])))
                buf_printf(&out, "%s" STR_FMT, out.len ? " " : "", STR_ARG(name));
        CHECK(!strstr(arena_copy(check_arena(), value).at, "an agent around us"));
    }
    return buf_str(&out);
}

#define NAMES_FIRST                                                       \
    "AGENT_SESSION_NAME BATON_RUN_ID BATON_RUN_PURPOSE BATON_SESSION_ID " \
    "BATON_TOKEN BATON_TOKEN_FILE BATON_URL "

static const struct {
    const char *profile, *names;
} environments[] = {
    { "claude", NAMES_FIRST "NO_COLOR TRACEPARENT" },
    { "codex", NAMES_FIRST "NO_COLOR TRACEPARENT" },
    { "gemini", NAMES_FIRST "GEMINI_CLI_SYSTEM_DEFAULTS_PATH NO_COLOR TRACEPARENT" },
    { "opencode", NAMES_FIRST "NO_COLOR OPENCODE_CONFIG TRACEPARENT" },
};

static void check_given(const struct black *b, size_t i)
{
    const char *name = given[i].profile;

    unlink("mcp");
    says(given[i].stream, 0);
    script_start(b, name, name, "do it", "");
    str id = json_str(script_settled(b, name, "finished"), "client_id");
    CHECK(id.len > 0);
    check_argv(id, given[i].start);
    CHECK_STR(lines("stdin"), given[i].prompt);
    CHECK_STR(names_given(), environments[i].names);
    if (given[i].mcp)
        CHECK_STR(replaced(str_trim(check_read("mcp")), STR("\""), "'"), given[i].mcp);
    else
        CHECK(access("mcp", F_OK) < 0);

    script_resume(b, name, "and more");
    CHECK_STR(json_str(script_settled(b, name, "finished"), "client_id"),
              arena_copy(check_arena(), id).at);
    check_argv(id, given[i].resume);
    CHECK(str_ends(check_read("stdin"), STR("and more")));
}

TEST_LIMIT(clients_are_given_their_arguments_environment_and_files_and_nothing_else, LIMIT_S)
{
    struct black b = { .args = script_runner };

    start(&b);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        CHECK(strcmp(given[i].profile, environments[i].profile) == 0);
        black_expect(&b, 201, "POST /agents",
                     arena_printf(check_arena(),
                                  "{'name':'%s','description':'d','profile':'%s','model':'m',"
                                  "'system_prompt':'You test.','tools':['Read','Bash(git *)']}",
                                  given[i].profile, given[i].profile)
                         .at);
        check_given(&b, i);
    }
    black_stop(&b);
}
