/* init.h: baton init: the agents of a project are wired to baton by their own configuration.
 *
 * Its files, from below to above:
 *
 *   text.c, text_diff.c, json.c, toml_edit.c   texts
 *   file.c      files of a project, and never any outside of it
 *   clients.c   the clients: what tells that they are here
 *   wiring.c    which program is named, and what is said to stay
 *   hooks.c     the hooks in a client's settings
 *   opencode.c  the plugin for opencode
 *   orchestrator.c  the agent of Claude Code that plans
 *   wire.c      what each file of each client is to say
 *   plan.c      which files would change, and how
 *   project.c   the project that the folder is, on the server
 *   init.c      the command: what is shown, asked and written
 *
 * cli/doctor/doctor.c asks the same plan whether anything would change. */
#ifndef CLI_INIT_INIT_H
#define CLI_INIT_INIT_H

#include "cli/bridge/bridge.h"
#include "cli/cli.h"

enum client_id { CLIENT_CLAUDE, CLIENT_CODEX, CLIENT_GEMINI, CLIENT_OPENCODE, CLIENTS };

/* ---- clients.c ---- */

struct client {
    const char *name, *title;
    const char *option;  /* "--claude" */
    const char *here[4]; /* files and folders of a project that tell of it */
    const char *home[3]; /* and of a home */
    const char *next;    /* what a person has to do once */
    const char *usable;  /* what its own list says of a server that it uses */
    const char *unseen;  /* what to do when it does not say that */
};

extern const struct client clients[CLIENTS];

/* The first program of that name in PATH; empty: there is none. */
str client_program(struct arena *a, const char *name);

/* What tells that a client is used here: "claude in PATH"; empty: nothing does. */
str client_found(struct arena *a, const struct client *k, str root);

/* How configurations are to name this program: "baton" where that is what PATH leads to, else by
 * its place. */
str client_baton(struct arena *a);

/* ---- file.c ---- */

struct init_file {
    const char *path; /* in the project */
    str real;         /* where it is; links inside of the project are followed */
    str text;         /* empty: there is none */
    bool exists;
    unsigned mode, owner, group;
};

/* FORBIDDEN: it leads out of the project, or must not be read. INVALID: it is no file. */
err init_file_read(struct arena *a, str root, const char *path, struct init_file *out);

/* Gives it another text: by a temporary file, with the mode that it had. CONFLICT: it is not what
 * it was when it was read. With an empty text it is removed, and its folder if that is then empty. */
err init_file_write(struct arena *a, str root, const struct init_file *f, str text);

/* ---- wiring.c ---- */

struct wiring {
    struct arena *arena;
    str baton;   /* as client_baton says */
    bool wanted; /* false: what is ours is taken out */
    /* Where it is said, in lines, what names this program and stays all the same, since it is not
     * as init writes it; NULL: nobody asks. */
    struct buf *kept;
};

/* Whether a configuration names this program, wherever it was when that was written. */
bool wiring_names_baton(const struct wiring *w, str program);

/* Says that something stays: where, and what of it is not ours. */
void wiring_note_kept(const struct wiring *w, str where, const char *why);

/* One file of a client: the text that it should have; an empty one is no file. INVALID: it cannot
 * be edited without harm, for the reason that the message gives. */
typedef err wire_edit(const struct wiring *w, str text, str *out);

/* ---- opencode.c ---- */

wire_edit wire_opencode_plugin;

/* ---- orchestrator.c ---- */

wire_edit wire_orchestrator;

/* ---- wire.c ---- */

struct wire_file {
    enum client_id client;
    const char *path;
    const char *instead; /* another name of it, when that is there */
    wire_edit *edit;
    bool asked; /* it is written only when somebody asks for it; taken out like the others */
};

/* Ends with an entry without a path. The first of a client has its MCP server. */
extern const struct wire_file wire_files[];

/* What agents read at the start, for AGENTS.md and its like. */
extern const char wire_briefing[];

/* ---- plan.c ---- */

struct init_change {
    struct init_file file;
    str after;   /* what it should say; empty: it should not be there */
    err refused; /* it cannot be edited; `by_hand` is what it lacks */
    str by_hand;
    str kept;              /* lines that say what stays in it, though it names this program */
    enum client_id client; /* CLIENTS: for all of them */
};

struct init_plan {
    str root, baton;
    struct init_change *changes; /* also those of files that are as they should be */
    size_t count;
};

static inline bool init_changes(const struct init_change *c)
{
    return !c->refused && !str_eq(c->file.text, c->after);
}

enum init_how { INIT_WIRE, INIT_WIRE_ORCHESTRATOR, INIT_REMOVE };

/* What is to be done so that the chosen clients are wired, also with the agent that plans, or no more. */
err init_plan_make(struct arena *a, str root, const bool chosen[CLIENTS], enum init_how how,
                   struct init_plan *out);

/* Whether a client's configuration has anything of ours. */
bool init_wired(struct arena *a, str root, enum client_id id);

/* The file that has a client's MCP server, or would have it. */
err init_server_file(struct arena *a, str root, enum client_id id, struct init_file *out);

/* ---- init.c ---- */

extern const struct option init_options[];
extern const char init_details[];
err init_run(struct cli *c, mcp_start *start);

/* The project's real path: --dir, or here. */
err init_root(struct cli *c, str *out);

#endif
