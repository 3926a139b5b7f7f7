/* clients.c: the clients, and what tells that they are used here. */
#define _GNU_SOURCE
#include "cli/init/init.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "os/program.h"

const struct client clients[CLIENTS] = {
    [CLIENT_CLAUDE] = {
        .name = "claude",
        .title = "Claude Code",
        .option = "--claude",
        .here = { ".claude", ".mcp.json", "CLAUDE.md" },
        .home = { ".claude", ".claude.json" },
        .next = "start it here once and trust the folder: then it uses the server and the hooks",
        .usable = "Connected",
        .unseen = "start it here once, trust the folder, and approve the server in /mcp",
    },
    [CLIENT_CODEX] = {
        .name = "codex",
        .title = "Codex",
        .option = "--codex",
        .here = { ".codex" },
        .home = { ".codex" },
        .next = "start it here once, trust the folder, and trust the hooks in /hooks",
        .usable = "enabled",
        .unseen = "start it here once and trust the folder",
    },
    [CLIENT_GEMINI] = {
        .name = "gemini",
        .title = "Gemini CLI",
        .option = "--gemini",
        .here = { ".gemini", "GEMINI.md" },
        .home = { ".gemini" },
        .next = "start it here once and trust the folder",
        .usable = "Connected",
        .unseen = "start it here once and trust the folder",
    },
    [CLIENT_OPENCODE] = {
        .name = "opencode",
        .title = "opencode",
        .option = "--opencode",
        .here = { "opencode.json", "opencode.jsonc", ".opencode" },
        .home = { ".config/opencode" },
        .next = "nothing: it reads opencode.json at its next start; with a plugin, the first start "
                "of all waits for npm's registry, without one about a minute",
        .usable = "connected",
        .unseen = "look at its entry: is it enabled, and does `baton mcp` start?",
    },
};

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

str client_program(struct arena *a, const char *name)
{
    str folders = str_from(getenv("PATH")), folder;

    while (folders.len) {
        str rest = STR("");
        str_cut(folders, ':', &folder, &rest);
        str path = arena_printf(a, STR_FMT "/%s", STR_ARG(folder), name);
        /* One that is relative means another program in another folder. */
        if (folder.len && folder.at[0] == '/' && is_program(path.at))
            return path;
        folders = rest;
    }
    return STR("");
}

static bool is_there(struct arena *a, str folder, const char *name)
{
    return access(arena_printf(a, STR_FMT "/%s", STR_ARG(folder), name).at, F_OK) == 0;
}

str client_found(struct arena *a, const struct client *k, str root)
{
    str home = str_from(getenv("HOME"));

    if (client_program(a, k->name).len)
        return arena_printf(a, "%s is in PATH", k->name);
    for (const char *const *name = k->here; *name; name++)
        if (is_there(a, root, *name))
            return arena_printf(a, "%s is here", *name);
    for (const char *const *name = k->home; home.len && *name; name++)
        if (is_there(a, home, *name))
            return arena_printf(a, "~/%s is there", *name);
    return STR("");
}

str client_baton(struct arena *a)
{
    str found = client_program(a, "baton");
    struct stat one, other;
    str path = program_path(a);

    if (found.len && stat(found.at, &one) == 0 && stat(program_self(), &other) == 0 &&
        one.st_dev == other.st_dev && one.st_ino == other.st_ino)
        return STR("baton");
    return path.len ? path : STR("baton");
}
