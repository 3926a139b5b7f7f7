/* program.c: the program's commands. What each does is elsewhere. */
#include "app/program.h"

#include "app/evidence_verb.h"
#include "app/local_runner.h"
#include "app/runner_verbs.h"
#include "app/scripted_verb.h"
#include "app/serve.h"
#include "app/start_server.h"
#include "app/stop_verb.h"
#include "app/store_verbs.h"
#include "cli/codex_start.h"
#include "cli/demo.h"
#include "cli/doctor/doctor.h"
#include "cli/hook.h"
#include "cli/inbox.h"
#include "cli/init/init.h"
#include "cli/bridge/bridge.h"
#include "cli/names.h"
#include "cli/op_verbs.h"
#include "cli/session_verbs.h"
#include "cli/status.h"

static const struct option version_options[] = {
    { "--json", 0, NULL, "print an object" },
    { 0 },
};

static err mcp_run(struct cli *c)
{
    return mcp_bridge_verb_run(c, start_server);
}

static err init_start_run(struct cli *c)
{
    return init_run(c, start_server);
}

const struct verb program_verbs[] = {
    {
        .name = "runner",
        .args = "[COMMAND]",
        .noun = true,
        .summary = "Run the agents of a server on this machine, or see who does",
        .example = "--url http://127.0.0.1:8765 --tag linux --capacity 8",
        .details = runner_verb_details,
        .options = runner_verb_options,
        .run = runner_verb_run,
    },
    {
        .name = "serve",
        .summary = "Run the server that a team of agents shares",
        .example = "--data ./team --listen 127.0.0.1:8765",
        .details = serve_details,
        .options = serve_options,
        .run = serve_run,
    },
    {
        .name = "status",
        .summary = "Say where the server is, what runs, what waits for you, and what to do next",
        .example = "",
        .details = status_details,
        .options = status_options,
        .run = status_run,
    },
    {
        .name = "inbox",
        .args = "[COMMAND]",
        .noun = true,
        .summary = "Show what waits for you, and decide it",
        .example = "approve apr_4hq2m7k1x9ab",
        .details = inbox_details,
        .options = inbox_list_options,
        .run = inbox_list_run,
    },
    {
        .name = "approvals",
        .summary = "Show which steps wait for your approval",
        .example = "",
        .options = inbox_plain_options,
        .run = inbox_approvals_run,
    },
    {
        .name = "approve",
        .args = "[INBOX_ID]",
        .args_max = 1,
        .summary = "Approve what waits for you",
        .example = "apr_4hq2m7k1x9ab --variant A",
        .details = inbox_approve_details,
        .options = inbox_approve_options,
        .run = inbox_approve_run,
    },
    {
        .name = "reject",
        .args = "[INBOX_ID]",
        .args_max = 1,
        .summary = "Reject what waits for you",
        .example = "apr_4hq2m7k1x9ab --reason 'the tests come first'",
        .details = inbox_reject_details,
        .options = inbox_reject_options,
        .run = inbox_reject_run,
    },
    {
        .name = "answer",
        .args = "[INBOX_ID] WORD",
        .args_min = 1,
        .args_max = 2,
        .summary = "Decide what waits for you by a word",
        .example = "approve",
        .details = inbox_answer_details,
        .options = inbox_answer_options,
        .run = inbox_answer_run,
    },
    {
        .name = "stop",
        .summary = "End the server, in peace",
        .example = "",
        .details = stop_details,
        .options = stop_options,
        .run = stop_run,
    },
    {
        .name = "open",
        .summary = "Open the server's page in a browser",
        .example = "",
        .details = open_details,
        .options = open_options,
        .run = open_run,
    },
    {
        .name = "init",
        .summary = "Wire the agents of a project to baton",
        .example = "--claude --codex",
        .details = init_details,
        .options = init_options,
        .run = init_start_run,
    },
    {
        .name = "doctor",
        .summary = "Prove that server, hooks and MCP work, and say how to mend what does not",
        .example = "",
        .details = doctor_details,
        .options = doctor_options,
        .run = doctor_run,
    },
    {
        .name = "demo",
        .args = "[STORY]",
        .args_max = 1,
        .summary = "Watch a scripted team of agents on a server of its own",
        .example = "generation",
        .details = demo_details,
        .options = demo_options,
        .run = demo_run,
    },
    {
        .name = "hook",
        .args = "CLIENT",
        .args_min = 1,
        .args_max = 1,
        .summary = "Tell the server what a client's hook was called with",
        .example = "claude",
        .details = hook_details,
        .options = hook_options,
        .run = hook_run,
    },
    {
        .name = "mcp",
        .summary = "Give an agent baton's tools: MCP over standard input and output",
        .example = "--state-id wfstate_4hq2m7k1x9ab",
        .details = mcp_bridge_verb_details,
        .options = mcp_bridge_verb_options,
        .run = mcp_run,
    },
    {
        .name = "json",
        .args = "COMMAND",
        .summary = "Check, change, compare and query JSON documents",
        .example = "check schema.json order.json",
        .details = "A file named - is standard input.\n"
                   "\n"
                   "Exit codes: 0 done, and what was checked fits; 12 a document does not fit;\n"
                   "2 wrong usage or malformed input; 5 no such file or value; 6 a test of a\n"
                   "patch failed; 13 a limit was reached; 1 or 15 the output could not be written.",
        .verbs = json_verbs,
    },
    {
        .name = "store",
        .args = "COMMAND",
        .summary = "Copy, check, migrate and back up a whole database",
        .example = "check",
        .verbs = store_verbs,
    },
    {
        .name = "help",
        .args = "[COMMAND...]",
        .args_max = ARGS_MANY,
        .summary = "Explain a command: its options, examples and exit codes",
        .example = "json check",
        .run = help_run,
    },
    {
        .name = "version",
        .summary = "Print the version",
        .example = "",
        .options = version_options,
        .run = version_run,
    },
    {
        .name = "completions",
        .args = "SHELL",
        .args_min = 1,
        .args_max = 1,
        .summary = "Print a completion script for bash, zsh or fish",
        .example = "bash",
        .details = "Install it once, in the file where your shell looks for it:\n"
                   "  bash   ~/.local/share/bash-completion/completions/baton\n"
                   "  zsh    _baton, in a folder of $fpath\n"
                   "  fish   ~/.config/fish/completions/baton.fish",
        .run = completions_run,
    },
    { 0 },
};

/* What the program calls itself for, and no help shows. */
static const struct verb hidden[] = {
    {
        .name = "keep-run",
        .args = "FOLDER",
        .args_min = 1,
        .args_max = 1,
        .summary = "Keep one run, for the runner that has claimed it",
        .run = keep_run_verb_run,
    },
    {
        .name = "evidence",
        .summary = "Look whether what a step must have left behind is there, for its runner",
        .details = evidence_verb_details,
        .run = evidence_verb_run,
    },
    {
        .name = "codex-start",
        .args = "THREAD MESSAGE",
        .args_min = 2,
        .args_max = 2,
        .summary = "Have Codex begin with a queued message, for its bridge",
        .run = codex_start_run,
    },
    {
        .name = "serve-runner",
        .args = "FOLDER MASK FILES",
        .args_min = 3,
        .args_max = 3,
        .summary = "Be the runner of a server's own machine",
        .run = serve_runner_verb_run,
    },
    {
        .name = "names",
        .args = "KIND",
        .args_min = 1,
        .args_max = 1,
        .summary = "Print the names that completions offer",
        .run = names_run,
    },
    {
        .name = "scripted",
        .summary = "Play a scenario, for the runner that has a run of the profile scripted",
        .options = scripted_verb_options,
        .run = scripted_verb_run,
    },
    { 0 },
};

static const struct verb inner = { .name = "baton", .summary = "", .verbs = hidden };

static const struct verb *verb_for(const struct verb *program, int argc, char **argv)
{
    str word = str_from(argc > 1 ? argv[1] : NULL);
    const struct verb *named = argc > 0 ? ao_verb(argv[0]) : NULL;

    if (named)
        return named;
    if (verb_find(hidden, word))
        return &inner;
    return program;
}

int program_main(const struct verb *verbs, int argc, char **argv)
{
    const struct verb program = {
        .name = "baton",
        .args = "COMMAND",
        .summary = "The shared memory and the control plane of a team of coding agents",
        .verbs = verbs,
        .more = op_verbs,
        .run = overview_run,
    };
    int code = cli_main(verb_for(&program, argc, argv), argc, argv);
    return hook_is_called(argc, argv) ? hook_exit(code) : code;
}
