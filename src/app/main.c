/* main.c: the program's commands. What each does is elsewhere. */
#include "app/serve.h"
#include "app/store_verbs.h"
#include "cli/op_verbs.h"

static const struct option version_options[] = {
    { "--json", 0, NULL, "print an object" },
    { 0 },
};

static const struct verb verbs[] = {
    {
        .name = "serve",
        .summary = "Run the server that a team of agents shares",
        .example = "--data ./team --listen 127.0.0.1:8765",
        .details = serve_details,
        .options = serve_options,
        .run = serve_run,
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

static const struct verb program = {
    .name = "baton",
    .args = "COMMAND",
    .summary = "The shared memory and the control plane of a team of coding agents",
    .verbs = verbs,
    .more = op_verbs,
    .run = overview_run,
};

int main(int argc, char **argv)
{
    return cli_main(&program, argc, argv);
}
