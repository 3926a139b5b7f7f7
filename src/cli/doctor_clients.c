/* doctor_clients.c: git, the clients, their wiring, their hooks. */
#include "cli/doctor.h"

#include <unistd.h>

#include "cli/init.h"
#include "cli/init_json.h"
#include "cli/toml_edit.h"
#include "client/socket.h"

enum { VERSION_MS = 10000, HOOK_MS = 5000 };

/* ---- programs ---- */

/* The first line that a program says of its version; empty: it says nothing. */
static str version_of(struct doctor *d, const char *program)
{
    const char *const argv[] = { program, "--version", NULL };
    struct doctor_child child;
    str line = STR(""), errors;

    if (child_start(d, argv, VERSION_MS, &child))
        return STR("");
    if (!child_line(&child, &line))
        line = STR("");
    child_end(&child, &errors);
    return str_trim(line);
}

void doctor_git(struct doctor *d)
{
    str version = client_program(d->arena, "git").len ? version_of(d, "git") : STR("");

    if (version.len)
        doctor_tell(d, DOCTOR_OK, "git", STR(""), STR_FMT, STR_ARG(version));
    else
        doctor_tell(d, DOCTOR_WARN, "git", STR("install git"),
                    "it is not in PATH: agents are not told what has changed in their files");
}

/* ---- wiring ---- */

/* Where each client's configuration names our program. */
static const struct {
    const char *path, *pointer; /* without a pointer, it is TOML */
} commands[CLIENTS] = {
    [CLIENT_CLAUDE] = { ".mcp.json", "/mcpServers/baton/command" },
    [CLIENT_CODEX] = { ".codex/config.toml", NULL },
    [CLIENT_GEMINI] = { ".gemini/settings.json", "/mcpServers/baton/command" },
    [CLIENT_OPENCODE] = { "opencode.json", "/mcp/baton/command/0" },
};

/* The program that the wiring names; empty: it names none. */
static str command_of(struct doctor *d, enum client_id id)
{
    struct init_file file;
    struct json_text t;
    str value = STR("");

    if (init_file_read(d->arena, d->root, commands[id].path, &file))
        return STR("");
    if (!commands[id].pointer) {
        if (toml_get(d->arena, file.text, "mcp_servers.baton.command", &value) || value.len < 2)
            return STR("");
        return arena_copy(d->arena, str_slice(value, 1, value.len - 1));
    }
    if (json_text_open(d->arena, file.text, &t))
        return STR("");
    const struct json *command = json_text_get(&t, commands[id].pointer);
    return json_is(command, JSON_STRING) ? arena_copy(d->arena, json_text(command)) : STR("");
}

static bool is_runnable(struct doctor *d, str command)
{
    if (command.at[0] == '/')
        return access(command.at, X_OK) == 0;
    return client_program(d->arena, command.at).len > 0;
}

/* The first file that init would change, or cannot; false: all are as they should be. */
static bool find_unfit(struct doctor *d, enum client_id id, struct init_change *out)
{
    bool chosen[CLIENTS] = { false };
    struct init_plan plan;

    chosen[id] = true;
    if (init_plan_make(d->arena, d->root, chosen, false, &plan))
        return false;
    for (size_t i = 0; i < plan.count; i++) {
        *out = plan.changes[i];
        if (out->refused || init_changes(out))
            return true;
    }
    return false;
}

static str fix_of(struct doctor *d, enum client_id id)
{
    const char *dir = cli_value(d->cli, "--dir");

    return dir ? arena_printf(d->arena, "baton init %s --dir '%s'", clients[id].option, dir)
               : arena_printf(d->arena, "baton init %s", clients[id].option);
}

static void wiring_tell(struct doctor *d, enum client_id id, const char *check)
{
    str command = command_of(d, id), fix = fix_of(d, id);
    struct init_change change;
    bool unfit = find_unfit(d, id, &change);

    if (command.len && !is_runnable(d, command))
        doctor_tell(d, DOCTOR_FAIL, check, fix, "%s names " STR_FMT ", which is not %s",
                    commands[id].path, STR_ARG(command),
                    command.at[0] == '/' ? "there" : "in PATH");
    else if (unfit && change.refused)
        doctor_tell(d, DOCTOR_FAIL, check, fix, STR_FMT, STR_ARG(change.refused->message));
    else if (unfit) /* what agents read may be older without harm */
        doctor_tell(d, str_ends(str_from(change.file.path), STR(".md")) ? DOCTOR_WARN : DOCTOR_FAIL,
                    check, fix, "%s is not as this program would write it", change.file.path);
    else
        doctor_tell(d, DOCTOR_OK, check, STR(""), "as `baton init` writes it");
}

static void client_tell(struct doctor *d, enum client_id id)
{
    const struct client *k = &clients[id];
    bool wired = init_wired(d->arena, d->root, id);
    const char *wiring = arena_printf(d->arena, "%s wiring", k->name).at;

    if (client_program(d->arena, k->name).len) {
        str version = version_of(d, k->name);
        if (version.len)
            doctor_tell(d, DOCTOR_OK, k->name, STR(""), STR_FMT, STR_ARG(version));
        else
            doctor_tell(d, DOCTOR_WARN, k->name, arena_printf(d->arena, "%s --version", k->name),
                        "it is in PATH, but does not tell its version");
        if (!wired)
            doctor_tell(d, DOCTOR_WARN, wiring, fix_of(d, id), "not wired");
    } else if (wired) {
        doctor_tell(d, DOCTOR_WARN, k->name, arena_printf(d->arena, "install %s", k->title),
                    "wired, but %s is not in PATH", k->name);
    } else {
        doctor_tell(d, DOCTOR_SKIP, k->name, STR(""), "neither in PATH nor wired");
    }
    if (wired)
        wiring_tell(d, id, wiring);
}

void doctor_clients(struct doctor *d)
{
    for (int id = 0; id < CLIENTS; id++)
        client_tell(d, (enum client_id)id);
}

/* ---- hooks ---- */

/* An event of no session registers none: it goes to the server and back, and leaves nothing. A hook
 * that could not reach the server says nothing, so that an object proves the way. */
static void hook_tell(struct doctor *d, const char *client)
{
    const char *const argv[] = { "/proc/self/exe", "hook", client, NULL };
    const char *check = arena_printf(d->arena, "hook %s", client).at;
    int64_t began_ms = socket_clock_ms(), took_ms;
    const struct json *answer = NULL;
    struct doctor_child child;
    str line = STR(""), errors;

    if (child_start(d, argv, HOOK_MS, &child))
        return;
    child_send(&child, STR("{\"hook_event_name\":\"Notification\",\"message\":\"baton doctor\"}"));
    child_close(&child);
    bool said = child_line(&child, &line) && !json_parse(d->arena, line, NULL, &answer);
    took_ms = socket_clock_ms() - began_ms;
    int code = child_end(&child, &errors);
    if (said && code == 0 && json_is(answer, JSON_OBJECT))
        doctor_tell(d, DOCTOR_OK, check, STR(""), "there and back in %lld ms", (long long)took_ms);
    else
        doctor_tell(d, DOCTOR_FAIL, check,
                    arena_printf(d->arena, "echo '{}' | baton hook %s", client),
                    "no answer came back: " STR_FMT,
                    STR_ARG(errors.len ? errors : STR("it said nothing")));
}

void doctor_hooks(struct doctor *d)
{
    static const char *const names[] = { "claude", "codex", "gemini" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (d->works)
            hook_tell(d, names[i]);
        else
            doctor_tell(d, DOCTOR_SKIP, arena_printf(d->arena, "hook %s", names[i]).at, STR(""),
                        "there is no server to ask");
}
