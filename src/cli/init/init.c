/* init.c: baton init: shows what would change in a project, asks, and writes it. */
#include "cli/init/init.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/init/project.h"
#include "cli/init/text_diff.h"
#include "json/write.h"

// clang-format off
const struct option init_options[] = {
    { "--claude",   0,   NULL,        "wire Claude Code" },
    { "--codex",    0,   NULL,        "wire Codex" },
    { "--gemini",   0,   NULL,        "wire Gemini CLI" },
    { "--opencode", 0,   NULL,        "wire opencode" },
    { "--orchestrator", 0, NULL,      "write the agent that plans in phases, for Claude Code" },
    { "--name",     0,   "NAME",      "the project's name (that of the repository)" },
    { "--schema",   0,   "FILE|NAME", "the schema of its state (the built-in project)" },
    { "--state",    0,   "ID",        "the state that its agents share (a new one)" },
    { "--project",  0,   "NAME",      "join a project that is there, with another clone or machine" },
    { "--start",    0,   NULL,        "start a server when there is none, as `baton mcp` does" },
    { "--dry-run",  'n', NULL,        "show what would change, and change nothing" },
    { "--remove",   0,   NULL,        "take out what init has written, and nothing else" },
    { "--yes",      'y', NULL,        "do not ask" },
    { "--dir",      0,   "DIR",       "the project (here)" },
    { "--json",     0,   NULL,        "print an object; asks nothing, so it needs --yes or --dry-run" },
    { 0 },
};
// clang-format on

const char init_details[] =
    "Without the name of a client it wires those that it finds: their program in PATH,\n"
    "or their files here or in your home. It writes, or adds to,\n"
    "\n"
    "  Claude Code   .mcp.json, .claude/settings.json\n"
    "  Codex         .codex/config.toml, .codex/hooks.json\n"
    "  Gemini CLI    .gemini/settings.json\n"
    "  opencode      opencode.json, .baton/opencode.js\n"
    "  --orchestrator  .claude/agents/delegation-orchestrator.md\n"
    "  all of them   a marked block in AGENTS.md, and where a client reads another file,\n"
    "                CLAUDE.md or GEMINI.md\n"
    "\n"
    "What else is in these files stays as it is, byte for byte, comments too; where a file\n"
    "cannot be read, what to add by hand is printed. Changes are shown first, and you are\n"
    "asked. Running it again changes nothing. No secret is written. --remove leaves what\n"
    "you have changed in a server or a hook of baton's, and says so.\n"
    "\n"
    "The folder, with all worktrees of its repository, becomes a project: a name, and a\n"
    "state that the agents which you start in it share. That takes a server; without one\n"
    "the files are written all the same, and it is said how to go on. --remove takes the\n"
    "folder out of its project, which stays, with its state.\n"
    "\n"
    "`baton doctor` proves that it works.\n"
    "\n"
    "Exit codes: 0 done, or nothing to do; 2 wrong usage, nobody to ask, or a file to be\n"
    "changed by hand; 4 a file must not be written; 5 no client, schema, state or project\n"
    "was found; 6 the name is another folder's, or the folder is another project; 14 no\n"
    "server, where one was needed.";

struct init {
    struct cli *cli;
    struct init_plan plan;
    struct init_project project;
    bool chosen[CLIENTS];
    str found[CLIENTS]; /* what tells that it is used here; empty: nothing */
    bool named;         /* clients were named */
    bool remove, orchestrator, applied;
};

/* ---- what is meant ---- */

err init_root(struct cli *c, str *out)
{
    const char *given = cli_value(c, "--dir");
    char *whole = realpath(given ? given : ".", NULL);

    if (!whole || access(arena_printf(c->arena, "%s/.", whole).at, F_OK) < 0) {
        free(whole);
        return usage_error(c,
                           arena_printf(c->arena, "there is no folder '%s'.", given ? given : "."));
    }
    *out = arena_copy(c->arena, str_from(whole));
    free(whole);
    return NULL;
}

/* Those that are named; else those that are found, and to be removed whichever is wired. */
static err clients_choose(struct init *in, str root)
{
    struct arena *a = in->cli->arena;
    bool any = false;

    for (int k = 0; k < CLIENTS; k++) {
        in->found[k] = client_found(a, &clients[k], root);
        in->named |= cli_flag(in->cli, clients[k].option);
    }
    for (int k = 0; k < CLIENTS; k++) {
        in->chosen[k] = in->named    ? cli_flag(in->cli, clients[k].option)
                        : in->remove ? true
                                     : in->found[k].len > 0;
        any |= in->chosen[k];
    }
    return any ? NULL
               : err_new(
                     a, ERR_NOT_FOUND,
                     "found no client: none of claude, codex, gemini and opencode is in PATH or "
                     "has files here; name those to wire, as in `baton init --claude`");
}

static const char *action_of(const struct init_change *c)
{
    return c->refused         ? "by_hand"
           : !init_changes(c) ? "unchanged"
           : !c->after.len    ? "removed"
           : c->file.exists   ? "changed"
                              : "created";
}

/* ---- showing ---- */

static void put_found(struct init *in, struct buf *out)
{
    for (int k = 0; k < CLIENTS; k++) {
        str found = in->found[k];
        buf_printf(out, "%-12s ", clients[k].title);
        if (found.len)
            term_put(out, PAINT_PLAIN, found);
        else
            buf_add(out, STR("not found"));
        if (!in->chosen[k])
            buf_printf(out, "; `baton init %s` wires it", clients[k].option);
        buf_byte(out, '\n');
    }
    if (!str_eq(in->plan.baton, STR("baton")))
        buf_printf(
            out,
            "\nPATH does not lead to this program, so the files name it by its place: " STR_FMT
            "\n",
            STR_ARG(in->plan.baton));
    buf_printf(out, "\n%-12s ", "project");
    if (in->project.unknown)
        buf_add(out, STR("none yet: the server could not be asked"));
    else
        term_put(out, PAINT_PLAIN, in->project.what);
    buf_add(out, STR("\n\n"));
}

static void put_diffs(struct init *in, struct buf *out)
{
    for (size_t i = 0; i < in->plan.count; i++) {
        const struct init_change *c = &in->plan.changes[i];
        if (init_changes(c))
            text_diff(out, c->file.path, c->file.text, c->after, in->cli->coloured);
    }
}

static void put_by_hand(struct init *in, struct buf *out)
{
    for (size_t i = 0; i < in->plan.count; i++) {
        const struct init_change *c = &in->plan.changes[i];
        if (!c->refused)
            continue;
        buf_byte(out, '\n');
        term_put(out, in->cli->coloured ? PAINT_ERROR : PAINT_PLAIN, c->refused->message);
        buf_printf(out, "\n%s by hand, in %s:\n\n",
                   in->remove ? "Take what is like this out" : "Add this", c->file.path);
        for (str line, text = c->by_hand, rest = STR(""); text.len; text = rest, rest = STR("")) {
            str_cut(text, '\n', &line, &rest);
            buf_printf(out, "    " STR_FMT "\n", STR_ARG(line));
        }
    }
}

/* What somebody has changed is theirs to take out. */
static void put_kept(struct init *in, struct buf *out)
{
    for (size_t i = 0; i < in->plan.count; i++) {
        const struct init_change *c = &in->plan.changes[i];
        for (str line, text = c->kept, rest = STR(""); text.len; text = rest, rest = STR("")) {
            str_cut(text, '\n', &line, &rest);
            buf_printf(out, "kept     %s ", c->file.path);
            term_put(out, PAINT_PLAIN, line);
            buf_byte(out, '\n');
        }
    }
}

static void put_project(struct init *in, struct buf *out)
{
    const struct init_project *p = &in->project;

    if (!init_project_changes(p))
        return;
    buf_printf(out, "%-8s project ", init_project_action_name(p->action));
    term_put(out, PAINT_PLAIN, p->name);
    if (p->action != PROJECT_LEFT)
        buf_printf(out, ", with the state " STR_FMT "\n", STR_ARG(p->state_id));
    else
        buf_printf(out,
                   ": it stays, and so does its state; `baton project delete " STR_FMT
                   "` and `baton state delete " STR_FMT "` delete them\n",
                   STR_ARG(p->name), STR_ARG(p->state_id));
}

static void put_next(struct init *in, struct buf *out)
{
    if (in->project.started.len)
        buf_printf(out, "\nA server was started for " STR_FMT ": `baton stop` ends it.\n",
                   STR_ARG(in->project.started));
    if (in->project.unknown)
        buf_printf(out, "\nThe project is not made yet: " STR_FMT ".\n%s",
                   STR_ARG(in->project.unknown->message),
                   in->project.unknown->kind == ERR_UNAVAILABLE
                       ? "`baton init --start` starts a server and makes it, or `baton init` again "
                         "when one runs.\n"
                       : "");
    buf_add(out, STR("\n  start two agents here: they share the state, and see each other\n"
                     "  baton top      shows them at work\n"
                     "  baton status   shows what runs, and what waits for you\n"));
}

static void put_done(struct init *in, struct buf *out)
{
    for (size_t i = 0; i < in->plan.count; i++) {
        const struct init_change *c = &in->plan.changes[i];
        if (init_changes(c))
            buf_printf(out, "%-8s %s\n", action_of(c), c->file.path);
    }
    put_project(in, out);
    if (in->remove && in->project.unknown && !in->named)
        buf_add(out, STR("No server answers: if this folder is in a project, it stays there until "
                         "`baton init --remove` is run with one.\n"));
    if (in->remove)
        return;
    buf_add(out, STR("\nNext:\n"));
    for (int k = 0; k < CLIENTS; k++)
        if (in->chosen[k])
            buf_printf(out, "  %-12s %s\n", clients[k].title, clients[k].next);
    buf_add(out, STR("  baton doctor proves that it works; baton init --remove takes it back\n"));
    put_next(in, out);
}

static void write_change(struct json_writer *w, struct arena *a, const struct init_change *c)
{
    struct buf diff = buf_in(a);

    json_write_begin(w, '{');
    json_write_name(w, STR("path"));
    json_write_str(w, str_from(c->file.path));
    json_write_name(w, STR("client"));
    json_write_str(w, str_from(c->client == CLIENTS ? "all" : clients[c->client].name));
    json_write_name(w, STR("action"));
    json_write_str(w, str_from(action_of(c)));
    if (init_changes(c)) {
        text_diff(&diff, c->file.path, c->file.text, c->after, false);
        json_write_name(w, STR("diff"));
        json_write_str(w, term_utf8(a, buf_str(&diff)));
    }
    if (c->refused) {
        json_write_name(w, STR("problem"));
        json_write_str(w, term_utf8(a, c->refused->message));
        json_write_name(w, STR("by_hand"));
        json_write_str(w, c->by_hand);
    }
    if (c->kept.len) {
        json_write_name(w, STR("kept"));
        json_write_str(w, term_utf8(a, c->kept));
    }
    json_write_end(w, '}');
}

static void write_project(struct json_writer *w, const struct init_project *p)
{
    write_begin(w, STR("project"), '{');
    write_or_null(w, STR("name"), p->name);
    write_text(w, STR("action"), str_from(init_project_action_name(p->action)));
    write_or_null(w, STR("state_id"), p->state_id);
    write_or_null(w, STR("schema_name"), p->schema_name);
    write_or_null(w, STR("problem"), p->unknown ? p->unknown->message : STR(""));
    json_write_end(w, '}');
}

static void show_json(struct init *in)
{
    struct buf out = buf_in(in->cli->arena);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    json_write_name(&w, STR("dir"));
    json_write_str(&w, term_utf8(out.arena, in->plan.root));
    json_write_name(&w, STR("command"));
    json_write_str(&w, term_utf8(out.arena, in->plan.baton));
    json_write_name(&w, STR("applied"));
    json_write_bool(&w, in->applied);
    json_write_name(&w, STR("clients"));
    json_write_begin(&w, '{');
    for (int k = 0; k < CLIENTS; k++) {
        json_write_name(&w, str_from(clients[k].name));
        json_write_begin(&w, '{');
        json_write_name(&w, STR("found"));
        if (in->found[k].len)
            json_write_str(&w, in->found[k]);
        else
            json_write_null(&w);
        json_write_name(&w, STR("chosen"));
        json_write_bool(&w, in->chosen[k]);
        json_write_end(&w, '}');
    }
    json_write_end(&w, '}');
    json_write_name(&w, STR("files"));
    json_write_begin(&w, '[');
    for (size_t i = 0; i < in->plan.count; i++)
        write_change(&w, out.arena, &in->plan.changes[i]);
    json_write_end(&w, ']');
    write_project(&w, &in->project);
    json_write_end(&w, '}');
    buf_byte(&out, '\n');
    cli_write(in->cli, buf_str(&out));
}

static void show(struct init *in, void (*put)(struct init *in, struct buf *out))
{
    struct buf out = buf_in(in->cli->arena);

    put(in, &out);
    if (!in->cli->json)
        cli_write(in->cli, buf_str(&out));
}

/* ---- doing ---- */

/* Whether to go on. Nobody is asked who could not have read the changes. */
static err consent(struct init *in, bool *yes)
{
    struct cli *c = in->cli;
    char answer[16] = "";

    *yes = cli_flag(c, "--yes");
    if (*yes)
        return NULL;
    if (c->json || !c->terminal || !isatty(STDIN_FILENO))
        return err_new(c->arena, ERR_INVALID,
                       "nothing was changed, since there is no terminal to ask at: give --yes to "
                       "make these changes, or --dry-run to see them only");
    cli_write(c, STR("\nMake these changes? [y/N] "));
    cli_flush(c);
    *yes = fgets(answer, sizeof answer, stdin) && (answer[0] | 32) == 'y';
    if (!*yes)
        cli_write(c, STR("Nothing was changed.\n"));
    return NULL;
}

/* Files that could not be edited are somebody's work, so that it is no success. */
static err left_over(struct init *in)
{
    size_t count = 0;

    for (size_t i = 0; i < in->plan.count; i++)
        count += in->plan.changes[i].refused || in->plan.changes[i].kept.len;
    if (!count)
        return NULL;
    return err_new(in->cli->arena, ERR_INVALID, "%zu file%s must be changed by hand, as shown",
                   count, count > 1 ? "s" : "");
}

static err change(struct init *in)
{
    bool yes = false;

    show(in, put_diffs);
    if (!cli_flag(in->cli, "--dry-run"))
        TRY(consent(in, &yes));
    if (!yes)
        return NULL;
    TRY(init_project_do(in->cli,
                        &in->project)); /* the server may refuse it: then nothing is done */
    for (size_t i = 0; i < in->plan.count; i++) {
        const struct init_change *c = &in->plan.changes[i];
        if (init_changes(c))
            TRY(init_file_write(in->cli->arena, in->plan.root, &c->file, c->after));
    }
    in->applied = true;
    show(in, put_done);
    return NULL;
}

static err init_all(struct init *in, str root)
{
    struct cli *c = in->cli;
    bool changes = init_project_changes(&in->project);

    TRY(init_plan_make(c->arena, root, in->chosen,
                       in->remove         ? INIT_REMOVE
                       : in->orchestrator ? INIT_WIRE_ORCHESTRATOR
                                          : INIT_WIRE,
                       &in->plan));
    if (!in->remove)
        show(in, put_found);
    for (size_t i = 0; i < in->plan.count; i++)
        changes = changes || init_changes(&in->plan.changes[i]);
    if (changes)
        TRY(change(in));
    else if (!c->json && !left_over(in))
        cli_write(c, in->remove ? STR("Nothing to remove: nothing of baton is in these files.\n")
                                : STR("Nothing to change: all of it is as it should be.\n"));
    if (!changes && !in->remove)
        show(in, put_next);
    show(in, put_kept);
    show(in, put_by_hand);
    if (c->json)
        show_json(in);
    return left_over(in);
}

err init_run(struct cli *c, mcp_start *start)
{
    struct init in = { .cli = c,
                       .remove = cli_flag(c, "--remove"),
                       .orchestrator = cli_flag(c, "--orchestrator") };
    str root;

    TRY(init_root(c, &root));
    TRY(clients_choose(&in, root));
    if (in.orchestrator && !in.chosen[CLIENT_CLAUDE])
        return usage_error(c, STR("--orchestrator is for Claude Code, which is not wired here: add "
                                  "--claude."));
    err e = init_project_plan(c, root, in.remove, start, &in.project);
    if (!e && in.remove && in.named)
        in.project.action = PROJECT_NONE; /* the others stay in it */
    if (!e)
        e = init_all(&in, root);
    init_project_release(&in.project);
    return e;
}
