/* clients.c: git, the clients, their wiring, their hooks. */
#include "cli/doctor/doctor.h"

#include <unistd.h>

#include "cli/init/init.h"
#include "cli/init/json.h"
#include "cli/init/toml_edit.h"
#include "client/socket.h"
#include "os/program.h"

enum { VERSION_MS = 10000, HOOK_MS = 5000, LIST_MS = 30000 };

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
        doctor_report(d, DOCTOR_OK, "git", STR(""), STR_FMT, STR_ARG(version));
    else
        doctor_report(d, DOCTOR_WARN, "git", STR("install git"),
                      "it is not in PATH: agents are not told what has changed in their files");
}

/* ---- wiring ---- */

/* Where each client's configuration names our program; NULL: it is TOML. */
static const char *const commands[CLIENTS] = {
    [CLIENT_CLAUDE] = "/mcpServers/baton/command",
    [CLIENT_GEMINI] = "/mcpServers/baton/command",
    [CLIENT_OPENCODE] = "/mcp/baton/command/0",
};

/* The program that the wiring names, and in which file; empty: it names none. */
static str command_of(struct doctor *d, enum client_id id, const char **path)
{
    struct init_file file;
    struct json_text t;
    str value = STR("");

    if (init_server_file(d->arena, d->root, id, &file))
        return STR("");
    *path = file.path;
    if (!commands[id]) {
        if (toml_get(d->arena, file.text, "mcp_servers.baton.command", &value) || value.len < 2)
            return STR("");
        return arena_copy(d->arena, str_slice(value, 1, value.len - 1));
    }
    if (json_text_open(d->arena, file.text, &t))
        return STR("");
    const struct json *command = json_text_get(&t, commands[id]);
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
    if (init_plan_make(d->arena, d->root, chosen, INIT_WIRE, &plan))
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

static void wiring_report(struct doctor *d, enum client_id id, const char *check)
{
    const char *path = "";
    str command = command_of(d, id, &path), fix = fix_of(d, id);
    struct init_change change;
    bool unfit = find_unfit(d, id, &change);

    if (command.len && !is_runnable(d, command))
        doctor_report(d, DOCTOR_FAIL, check, fix, "%s names " STR_FMT ", which is not %s", path,
                      STR_ARG(command), command.at[0] == '/' ? "there" : "in PATH");
    else if (unfit && change.refused)
        doctor_report(d, DOCTOR_FAIL, check, fix, STR_FMT, STR_ARG(change.refused->message));
    else if (unfit) /* what agents read may be older without harm */
        doctor_report(d,
                      str_ends(str_from(change.file.path), STR(".md")) ? DOCTOR_WARN : DOCTOR_FAIL,
                      check, fix, "%s is not as this program would write it", change.file.path);
    else
        doctor_report(d, DOCTOR_OK, check, STR(""), "as `baton init` writes it");
}

/* ---- what the client sees ---- */

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* A line without colours. */
static str without_colours(struct arena *a, str line)
{
    struct buf out = buf_in(a);

    for (size_t i = 0; i < line.len; i++) {
        if (line.at[i] != '\033')
            buf_byte(&out, line.at[i]);
        else
            while (i + 1 < line.len && !is_letter(line.at[i]))
                i++;
    }
    return str_trim(buf_str(&out));
}

/* Whether a line of a list is that of our server: its name stands first, behind marks alone. */
static bool is_our_line(str line)
{
    size_t at = 0;

    while (at < line.len && !is_letter(line.at[at]))
        at++;
    str rest = str_slice(line, at, line.len);
    return str_starts(rest, STR("baton:")) || str_starts(rest, STR("baton ")) ||
           str_starts(rest, STR("plugin:baton:baton:"));
}

static bool has_word(str line, const char *word)
{
    size_t len = strlen(word);

    for (size_t i = 0; i + len <= line.len; i++)
        if (str_eq(str_slice(line, i, i + len), str_from(word)) &&
            (i == 0 || !is_letter(line.at[i - 1])) &&
            (i + len == line.len || !is_letter(line.at[i + len])))
            return true;
    return false;
}

/* The line of our server in what the client lists, on whichever stream; empty: there is none. *all:
 * what it said otherwise, and *code its exit code. */
static str listed_line(struct doctor *d, const struct client *k, str *all, int *code)
{
    const char *const argv[] = { k->name, "mcp", "list", NULL };
    struct buf said = buf_in(d->arena);
    struct doctor_child child;
    str line, errors;

    *all = STR("");
    *code = -1;
    if (child_start(d, argv, LIST_MS, &child))
        return STR("");
    child_close(&child);
    while (child_line(&child, &line))
        buf_printf(&said, STR_FMT "\n", STR_ARG(line));
    *code = child_end(&child, &errors);
    buf_add(&said, errors);
    for (str text = buf_str(&said), rest; text.len; text = rest) {
        rest = STR("");
        str_cut(text, '\n', &line, &rest);
        line = without_colours(d->arena, line);
        if (is_our_line(line))
            return line;
        if (line.len && !all->len)
            *all = line;
    }
    return STR("");
}

/* In a folder that a client does not trust, it reads none of our files, or runs nothing of them. So
 * it is asked itself. It starts the server's bridge then, which has to find a server. */
static void list_report(struct doctor *d, enum client_id id)
{
    const struct client *k = &clients[id];
    const char *check = arena_printf(d->arena, "%s mcp list", k->name).at;
    const char *dir = cli_value(d->cli, "--dir");
    str all, fix = dir ? arena_printf(d->arena, "cd '%s' && %s", dir, k->name) : str_from(k->name);
    int code;

    if (!d->works) {
        doctor_report(d, DOCTOR_SKIP, check, STR(""), "there is no server to ask");
        return;
    }
    str line = listed_line(d, k, &all, &code);
    if (line.len && has_word(line, k->usable))
        doctor_report(d, DOCTOR_OK, check, STR(""), "%s uses the server", k->title);
    else if (line.len)
        doctor_report(d, DOCTOR_FAIL, check, fix, "it says '" STR_FMT "': %s", STR_ARG(line),
                      k->unseen);
    else if (code == 0)
        doctor_report(d, DOCTOR_FAIL, check, fix, "%s does not see the server ('" STR_FMT "'): %s",
                      k->title, STR_ARG(all), k->unseen);
    else
        doctor_report(d, DOCTOR_WARN, check, arena_printf(d->arena, "%s mcp list", k->name),
                      "it does not list its servers, so it is not known whether it uses this one");
}

static void client_report(struct doctor *d, enum client_id id)
{
    const struct client *k = &clients[id];
    bool wired = init_wired(d->arena, d->root, id);
    bool here = client_program(d->arena, k->name).len > 0;
    const char *wiring = arena_printf(d->arena, "%s wiring", k->name).at;

    if (here) {
        str version = version_of(d, k->name);
        if (version.len)
            doctor_report(d, DOCTOR_OK, k->name, STR(""), STR_FMT, STR_ARG(version));
        else
            doctor_report(d, DOCTOR_WARN, k->name, arena_printf(d->arena, "%s --version", k->name),
                          "it is in PATH, but does not tell its version");
        if (!wired)
            doctor_report(d, DOCTOR_WARN, wiring, fix_of(d, id), "not wired");
    } else if (wired) {
        doctor_report(d, DOCTOR_WARN, k->name, arena_printf(d->arena, "install %s", k->title),
                      "wired, but %s is not in PATH", k->name);
    } else {
        doctor_report(d, DOCTOR_SKIP, k->name, STR(""), "neither in PATH nor wired");
    }
    if (wired)
        wiring_report(d, id, wiring);
    if (wired && here)
        list_report(d, id);
}

void doctor_clients(struct doctor *d)
{
    for (int id = 0; id < CLIENTS; id++)
        client_report(d, (enum client_id)id);
}

/* ---- hooks ---- */

/* An event of no session registers none: it goes to the server and back, and leaves nothing. A hook
 * that could not reach the server says nothing, so that an object proves the way. */
static void hook_report(struct doctor *d, const char *client)
{
    const char *const argv[] = { program_self(), "hook", client, NULL };
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
        doctor_report(d, DOCTOR_OK, check, STR(""), "there and back in %lld ms",
                      (long long)took_ms);
    else
        doctor_report(d, DOCTOR_FAIL, check,
                      arena_printf(d->arena, "echo '{}' | baton hook %s", client),
                      "no answer came back: " STR_FMT,
                      STR_ARG(errors.len ? errors : STR("it said nothing")));
}

void doctor_hooks(struct doctor *d)
{
    static const char *const names[] = { "claude", "codex", "gemini" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (d->works)
            hook_report(d, names[i]);
        else
            doctor_report(d, DOCTOR_SKIP, arena_printf(d->arena, "hook %s", names[i]).at, STR(""),
                          "there is no server to ask");
}
