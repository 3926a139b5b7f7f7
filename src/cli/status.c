/* status.c: baton status: is there a server, what runs, what waits for me, what is missing next.
 *
 * All of it is gathered as JSON, which is then shown for people. */
#include "cli/status.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/date.h"
#include "cli/inbox.h"
#include "cli/init/init.h"
#include "cli/place.h"
#include "cli/session_verbs.h"
#include "cli/unheard.h"
#include "cli/worktree.h"

enum {
    ASK_MS = 5000,
    SESSIONS_MAX = 5000,
    SHOWN_MAX = 5, /* of what waits: the commands show all */
    WORD_COLUMN = 10,
    STEP_COLUMN = 15,
};

struct status {
    struct cli *cli;
    struct arena *arena;
    struct caller caller;
    struct json server, agents, waits, folder, next; /* what --json prints */
};

static void put(struct status *s, struct json *object, const char *name, struct json value)
{
    json_put(s->arena, object, str_from(name), value);
}

static void put_text(struct status *s, struct json *object, const char *name, str text)
{
    put(s, object, name, text.len ? json_string(text) : json_null());
}

static void put_count(struct status *s, struct json *object, const char *name, int64_t n)
{
    put(s, object, name, json_int(s->arena, n));
}

/* What to type, and what for. */
static void suggest(struct status *s, const char *command, const char *why)
{
    struct json step = json_object();

    put_text(s, &step, "command", str_from(command));
    put_text(s, &step, "why", str_from(why));
    json_push(s->arena, &s->next, step);
}

static err get(struct status *s, const char *pattern, const struct json **out)
{
    return caller_call(&s->caller, s->arena, &(struct call){ .method = "GET", .pattern = pattern },
                       out);
}

/* ---- the server ---- */

/* What its data directory says of it, where it is the server of one. */
static void announced(struct status *s, const char *data)
{
    const struct json *file = NULL, *pid;
    str dir;

    if ((!data && getenv("BATON_URL") && *getenv("BATON_URL")) ||
        data_dir_find(s->arena, data, &dir))
        return;
    put_text(s, &s->server, "data", dir);
    const char *path = arena_printf(s->arena, STR_FMT "/server.json", STR_ARG(dir)).at;
    if (access(path, R_OK) < 0 || json_load(s->cli, s->arena, path, &file))
        return;
    pid = json_get(file, "pid");
    put_text(s, &s->server, "url", json_str(file, "url"));
    put(s, &s->server, "pid", pid ? *pid : json_null());
    put_text(s, &s->server, "since", json_str(file, "started_at"));
    put_text(s, &s->server, "store", json_str(file, "store"));
}

static err server_ask(struct status *s)
{
    const char *data = cli_value(s->cli, "--data");
    const struct json *health = NULL;
    err e = get(s, "/health", &health);

    put(s, &s->server, "running", json_bool(!e));
    put_text(s, &s->server, "version", json_str(health, "version"));
    announced(s, data);
    if (e)
        put_text(s, &s->server, "error", e->message);
    else if (!json_get(&s->server, "url"))
        put_text(s, &s->server, "url", str_from(getenv("BATON_URL")));
    if (e && e->kind == ERR_UNAVAILABLE)
        suggest(s, "baton serve", "starts a server");
    return e;
}

/* ---- who is at work ---- */

static struct json failed_shown(struct status *s, const struct json *session)
{
    struct json out = json_object();

    put_text(s, &out, "session_name", json_str(session, "session_name"));
    put_text(s, &out, "session_id", json_str(session, "session_id"));
    put_text(s, &out, "error", json_str(session, "error"));
    return out;
}

static void sessions_count(struct status *s, const struct session_tree *t)
{
    int64_t counts[RANKS] = { 0 }, silent = 0;
    struct json failed = json_array();

    for (size_t i = 0; i < t->count; i++) {
        const struct tree_node *n = t->rows[i].node;
        bool quiet = json_bool_or(n->session, "silent", false) && n->rank != RANK_ENDED;
        silent += quiet;
        counts[n->rank] += !quiet;
        if (n->rank == RANK_NEEDS_YOU && str_eq(json_str(n->session, "status"), STR("failed")))
            json_push(s->arena, &failed, failed_shown(s, n->session));
    }
    put_count(s, &s->agents, "running", counts[RANK_RUNNING]);
    put_count(s, &s->agents, "idle", counts[RANK_IDLE]);
    put_count(s, &s->agents, "silent", silent);
    put_count(s, &s->agents, "runs_queued", t->queued);
    put(s, &s->waits, "failed", failed);
}

static void runners_count(struct status *s, const struct json *runners)
{
    int64_t alive = 0, capacity = 0, busy = 0;

    for (uint32_t i = 0; i < runners->len; i++) {
        if (!json_bool_or(&runners->items[i], "alive", false))
            continue;
        alive++;
        capacity += json_int_or(&runners->items[i], "capacity", 0);
        busy += json_int_or(&runners->items[i], "runs", 0);
    }
    put_count(s, &s->agents, "runs", busy);
    put_count(s, &s->agents, "runners", alive);
    put_count(s, &s->agents, "capacity", capacity);
    if (!alive)
        suggest(s, "baton runner",
                "runs agents: there is no runner, so those that are started wait");
}

/* A list that this token may not see is null. */
static err list(struct status *s, const char *pattern, const struct url_param *filter,
                const char *member, struct json *out)
{
    bool cut;
    err e = call_pages(&s->caller, s->arena, pattern, filter, member, SESSIONS_MAX, out, &cut);

    if (!e || e->kind != ERR_FORBIDDEN)
        return e;
    *out = json_null();
    return NULL;
}

static err agents_ask(struct status *s)
{
    struct url_param pending = { "status", STR("pending") };
    struct json *sessions = ARENA_NEW(s->arena, struct json),
                *runs = ARENA_NEW(s->arena, struct json),
                *runners = ARENA_NEW(s->arena, struct json);
    struct tree_source source = { .sessions = sessions, .runs = runs, .now_ms = cli_now_ms() };
    struct session_tree tree;

    TRY(list(s, "/sessions", NULL, "sessions", sessions));
    TRY(list(s, "/runs", &pending, "runs", runs));
    TRY(list(s, "/runners", NULL, "runners", runners));
    if (json_is(runners, JSON_ARRAY))
        source.runners = runners;
    session_tree_make(s->arena, &source, &tree);
    sessions_count(s, &tree);
    if (json_is(runners, JSON_ARRAY))
        runners_count(s, runners);
    return NULL;
}

/* ---- what waits ---- */

/* Ends of children whose parents were not told yet: a number among the server's numbers. */
static int64_t callbacks_waiting(struct status *s)
{
    struct call call = { .method = "GET", .pattern = "/metrics" };
    str line, rest, name = STR("baton_callbacks_waiting ");
    struct response r;
    int64_t n;

    if (caller_request(&s->caller, s->arena, &call, &r) || r.status != 200)
        return 0;
    rest = r.body;
    for (bool more = true; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        if (str_starts(line, name) && str_to_int(str_slice(line, name.len, line.len), &n))
            return n;
    }
    return 0;
}

/* Workflows that run, and what of them waits for a person; a server that is older has none. */
static err executions_ask(struct status *s)
{
    struct url_param open[] = { { "status", STR("open") } };
    struct json executions = json_array(), incidents = json_array();
    err e = list(s, "/executions", open, "executions", &executions);

    if (!e)
        e = list(s, "/incidents", open, "incidents", &incidents);
    if (e && e->kind != ERR_NOT_FOUND)
        return e;
    if (executions.kind != JSON_ARRAY)
        executions = json_array(); /* they are not for this token */
    if (incidents.kind != JSON_ARRAY)
        incidents = json_array();
    put_count(s, &s->agents, "executions", executions.len);
    put(s, &s->waits, "incidents", incidents);
    return NULL;
}

/* All that a person decides, whatever it is; a server that is older has none. */
static err inbox_ask(struct status *s)
{
    struct json entries = json_array();
    err e = list(s, "/inbox", NULL, "entries", &entries);

    if (e && e->kind != ERR_NOT_FOUND)
        return e;
    put(s, &s->waits, "inbox", inbox_sorted(s->arena, &entries));
    if (json_get(&s->waits, "inbox")->len)
        suggest(s, "baton inbox",
                "shows what waits for you; `baton inbox show ID` what there is to judge");
    return NULL;
}

static err waits_ask(struct status *s)
{
    struct url_param waiting = { "status", STR("waiting") };
    struct json permissions = json_array(), unheard;

    TRY(list(s, "/permissions", &waiting, "permissions", &permissions));
    if (permissions.kind == JSON_NULL)
        permissions = json_array(); /* they are not for who may not decide */
    put(s, &s->waits, "permissions", permissions);
    put_count(s, &s->waits, "callbacks", callbacks_waiting(s));
    TRY(executions_ask(s));
    TRY(inbox_ask(s));
    unheard_load(&s->caller, s->arena, &unheard);
    put(s, &s->waits, "unheard", unheard);
    return NULL;
}

/* ---- this folder ---- */

/* Files that show its workflows, as far as somebody has edited or deleted them, or they cannot be
 * written. */
static void mirrors_ask(struct status *s, str project)
{
    struct json touched = json_array();
    const struct json *answer = NULL, *files;

    err e = caller_call(&s->caller, s->arena,
                        &(struct call){ .method = "GET",
                                        .pattern = "/projects/{name}/mirrors",
                                        PARAMS({ "name", project }) },
                        &answer);
    files = json_get(answer, "files");
    for (uint32_t i = 0; !e && json_is(files, JSON_ARRAY) && i < files->len; i++)
        if (json_str(&files->items[i], "found").len)
            json_push(s->arena, &touched, files->items[i]);
    put(s, &s->folder, "mirrors", touched);
}

/* The project that this folder is, where the server knows projects. */
static void project_ask(struct status *s, str common)
{
    const struct json *answer = NULL, *found;

    err e = caller_call(&s->caller, s->arena,
                        &(struct call){
                            .method = "GET",
                            .pattern = "/projects",
                            PARAMS({ "host", place_host(s->arena) }, { "common_dir", common }) },
                        &answer);
    if (e)
        return;
    found = json_at(json_get(answer, "projects"), 0);
    put(s, &s->folder, "project", found ? *found : json_null());
    if (found)
        mirrors_ask(s, json_str(found, "name"));
    if (!found)
        suggest(s, "baton init", "makes this folder a project, whose agents share a state");
}

static void folder_ask(struct status *s, bool server)
{
    struct json wired = json_array();
    char *here = realpath(".", NULL);
    struct worktree tree = worktree_find(s->arena, str_from(here ? here : "."));

    free(here);
    put_text(s, &s->folder, "path", tree.top);
    for (int id = 0; id < CLIENTS; id++)
        if (init_wired(s->arena, tree.top, (enum client_id)id))
            json_push(s->arena, &wired, json_string(str_from(clients[id].name)));
    put(s, &s->folder, "wired", wired);
    uint32_t before = s->next.len;
    if (server)
        project_ask(s, tree.common_dir);
    if (!wired.len && s->next.len == before)
        suggest(s, "baton init", "wires the agents that you start in this folder");
}

/* ---- for people ---- */

static void put_word(struct status *s, struct buf *out, const char *word)
{
    if (*word)
        term_put(out, s->cli->coloured ? PAINT_KEY : PAINT_PLAIN, str_from(word));
    for (size_t n = strlen(word); n < WORD_COLUMN; n++)
        buf_byte(out, ' ');
}

/* A line behind the word's column, cut at the edge of a terminal. */
static void put_line(struct status *s, struct buf *out, const char *word, str line)
{
    put_word(s, out, word);
    if (s->cli->terminal)
        line = render_cut(s->arena, line, render_width() - WORD_COLUMN);
    term_put(out, PAINT_PLAIN, line);
    buf_byte(out, '\n');
}

static void put_server(struct status *s, struct buf *out)
{
    const struct json *v = &s->server;
    str url = json_str(v, "url"), data = json_str(v, "data"), since = json_str(v, "since");
    struct buf more = buf_in(s->arena);
    int64_t ms;

    if (!json_bool_or(v, "running", false)) {
        str why = json_str(v, "error"), rest;
        if (data.len)
            str_cut(why, ':', &why, &rest); /* what to do is said below */
        put_line(s, out, "server", why);
        return;
    }
    put_line(s, out, "server",
             arena_printf(s->arena, STR_FMT " (baton " STR_FMT ")", STR_ARG(url),
                          STR_ARG(json_str(v, "version"))));
    if (json_get(v, "pid"))
        buf_printf(&more, "pid %lld, ", (long long)json_int_or(v, "pid", 0));
    if (since.len && date_parse(since, &ms))
        buf_printf(&more, "up for " STR_FMT ", ", STR_ARG(render_age(s->arena, cli_now_ms() - ms)));
    if (data.len)
        buf_printf(&more, "in " STR_FMT, STR_ARG(data));
    if (more.len)
        put_line(s, out, "", buf_str(&more));
}

static void put_agents(struct status *s, struct buf *out)
{
    static const char *const words[] = { "running", "idle", "silent" };
    struct buf line = buf_in(s->arena);
    int64_t queued = json_int_or(&s->agents, "runs_queued", 0),
            runners = json_int_or(&s->agents, "runners", 0),
            executions = json_int_or(&s->agents, "executions", 0);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (json_int_or(&s->agents, words[i], 0))
            buf_printf(&line, "%s%lld %s", line.len ? ", " : "",
                       (long long)json_int_or(&s->agents, words[i], 0), words[i]);
    put_line(s, out, "agents", line.len ? buf_str(&line) : STR("none at work"));
    line = buf_in(s->arena);
    if (runners)
        buf_printf(&line, "%lld runner%s, %lld of %lld busy", (long long)runners,
                   runners == 1 ? "" : "s", (long long)json_int_or(&s->agents, "runs", 0),
                   (long long)json_int_or(&s->agents, "capacity", 0));
    else if (json_get(&s->agents, "runners"))
        buf_add(&line, STR("no runner"));
    if (queued)
        buf_printf(&line, "%s%lld run%s queued", line.len ? "; " : "", (long long)queued,
                   queued == 1 ? "" : "s");
    if (executions)
        buf_printf(&line, "%s%lld workflow%s open", line.len ? "; " : "", (long long)executions,
                   executions == 1 ? "" : "s");
    if (line.len)
        put_line(s, out, "", buf_str(&line));
}

static const char *waits_word(const char **word)
{
    const char *now = *word;

    *word = "";
    return now;
}

/* What is asked, and what there is to know of it that has room in a line. */
static str inbox_told(struct status *s, const struct json *entry)
{
    const struct json *who = json_get(entry, "who"), *content = json_get(entry, "content"),
                      *input = json_get(content, "tool_input");
    str kind = json_str(entry, "kind"), step = json_str(who, "step");

    if (str_eq(kind, STR("permission")))
        return arena_printf(s->arena, STR_FMT " asks to use " STR_FMT ": " STR_FMT,
                            STR_ARG(json_str(who, "session_name")),
                            STR_ARG(json_str(content, "tool_name")),
                            STR_ARG(input ? json_printed(s->arena, input) : STR("")));
    if (str_eq(kind, STR("incident")))
        return arena_printf(s->arena, STR_FMT " stands still%s" STR_FMT ": " STR_FMT,
                            STR_ARG(json_str(who, "workflow")), step.len ? " at " : "",
                            STR_ARG(step), STR_ARG(json_str(content, "message")));
    return arena_printf(s->arena, STR_FMT " of " STR_FMT "%s" STR_FMT,
                        STR_ARG(json_str(entry, "title")), STR_ARG(json_str(who, "workflow")),
                        json_str(entry, "until").len ? ", or it is " : "; it ",
                        STR_ARG(inbox_otherwise(s->arena, entry, cli_now_ms())));
}

static void put_waits(struct status *s, struct buf *out)
{
    const struct json *inbox = json_get(&s->waits, "inbox"),
                      *failed = json_get(&s->waits, "failed"),
                      *unheard = json_get(&s->waits, "unheard");
    int64_t callbacks = json_int_or(&s->waits, "callbacks", 0);
    const char *word = "for you";

    for (uint32_t i = 0; i < inbox->len && i < SHOWN_MAX; i++) {
        put_line(s, out, waits_word(&word), inbox_told(s, &inbox->items[i]));
        put_line(s, out, "",
                 arena_printf(s->arena, "  " STR_FMT,
                              STR_ARG(inbox_command(s->arena, &inbox->items[i]))));
    }
    if (inbox->len > SHOWN_MAX)
        put_line(s, out, "",
                 arena_printf(s->arena, "and %u more: baton inbox", inbox->len - SHOWN_MAX));
    for (uint32_t i = 0; i < failed->len && i < SHOWN_MAX; i++) {
        str line, rest;
        str_cut(json_str(&failed->items[i], "error"), '\n', &line, &rest);
        put_line(s, out, waits_word(&word),
                 arena_printf(s->arena, STR_FMT " failed: " STR_FMT,
                              STR_ARG(json_str(&failed->items[i], "session_name")), STR_ARG(line)));
    }
    if (failed->len > SHOWN_MAX)
        put_line(s, out, "",
                 arena_printf(s->arena, "and %u more that failed", failed->len - SHOWN_MAX));
    for (uint32_t i = 0; i < unheard->len && i < SHOWN_MAX; i++)
        put_line(s, out, waits_word(&word),
                 unheard_told(s->arena, &unheard->items[i], cli_now_ms()));
    if (unheard->len > SHOWN_MAX)
        put_line(s, out, "",
                 arena_printf(s->arena, "and %u more that have not heard",
                              unheard->len - SHOWN_MAX));
    if (callbacks && !unheard->len) /* they are mostly the same */
        put_line(s, out, waits_word(&word),
                 arena_printf(s->arena,
                              "%lld end%s of agents that who started them was not told of yet",
                              (long long)callbacks, callbacks == 1 ? "" : "s"));
    if (*word)
        put_line(s, out, word, STR("nothing waits"));
}

static str mirror_shown(struct status *s, const struct json *file)
{
    str found = json_str(file, "found"), detail = json_str(file, "detail"), age = STR("");
    int64_t ms;

    if (date_parse(json_str(file, "found_at"), &ms))
        age = render_age(s->arena, cli_now_ms() - ms);
    if (str_eq(found, STR("blocked")))
        return arena_printf(s->arena, STR_FMT " cannot be written: " STR_FMT,
                            STR_ARG(json_str(file, "path")), STR_ARG(detail));
    return arena_printf(s->arena,
                        STR_FMT " was " STR_FMT " " STR_FMT
                                " ago, and written anew" STR_FMT STR_FMT,
                        STR_ARG(json_str(file, "path")), STR_ARG(found), STR_ARG(age),
                        STR_ARG(detail.len ? STR(": ") : STR("")), STR_ARG(detail));
}

static void put_mirrors(struct status *s, struct buf *out)
{
    const struct json *files = json_get(&s->folder, "mirrors");
    uint32_t count = json_is(files, JSON_ARRAY) ? files->len : 0;

    for (uint32_t i = 0; i < count && i < SHOWN_MAX; i++)
        put_line(s, out, "", mirror_shown(s, &files->items[i]));
    if (count > SHOWN_MAX)
        put_line(s, out, "",
                 arena_printf(s->arena, "and %u more files like these: baton project mirrors",
                              count - SHOWN_MAX));
}

static void put_folder(struct status *s, struct buf *out)
{
    const struct json *wired = json_get(&s->folder, "wired"),
                      *project = json_get(&s->folder, "project");
    struct buf line = buf_in(s->arena);

    buf_add(&line, json_str(&s->folder, "path"));
    put_line(s, out, "folder", buf_str(&line));
    if (json_is(project, JSON_OBJECT))
        put_line(s, out, "",
                 arena_printf(s->arena,
                              "project " STR_FMT ", %lld at work, state " STR_FMT
                              " at version %lld",
                              STR_ARG(json_str(project, "name")),
                              (long long)json_int_or(project, "members", 0),
                              STR_ARG(json_str(project, "state_id")),
                              (long long)json_int_or(project, "state_version", 0)));
    put_mirrors(s, out);
    line = buf_in(s->arena);
    buf_add(&line, wired->len ? STR("wired for ") : STR("no agent is wired"));
    for (uint32_t i = 0; i < wired->len; i++)
        buf_printf(&line, "%s" STR_FMT, i ? ", " : "", STR_ARG(json_text(&wired->items[i])));
    put_line(s, out, "", buf_str(&line));
}

static void put_next(struct status *s, struct buf *out)
{
    const char *word = "next";

    for (uint32_t i = 0; i < s->next.len; i++) {
        const struct json *step = &s->next.items[i];
        str command = json_str(step, "command");
        size_t column = WORD_COLUMN + STEP_COLUMN;
        put_word(s, out, waits_word(&word));
        term_put(out, s->cli->coloured ? PAINT_GOOD : PAINT_PLAIN, command);
        if (command.len + 2 > STEP_COLUMN)
            buf_printf(out, "\n%*s", (int)column, "");
        else
            buf_printf(out, "%*s", (int)(STEP_COLUMN - command.len), "");
        help_put(out, column, json_str(step, "why"));
        buf_byte(out, '\n');
    }
}

/* ---- the command ---- */

static void print(struct status *s, bool server)
{
    struct buf out = buf_in(s->arena);
    struct json all = json_object();

    if (s->cli->json) {
        put(s, &all, "server", s->server);
        put(s, &all, "agents", server ? s->agents : json_null());
        put(s, &all, "waits", server ? s->waits : json_null());
        put(s, &all, "folder", s->folder);
        put(s, &all, "next", s->next);
        json_print(&out, &all);
        buf_byte(&out, '\n');
    } else {
        put_server(s, &out);
        if (server) {
            put_agents(s, &out);
            put_waits(s, &out);
        }
        put_folder(s, &out);
        put_next(s, &out);
    }
    cli_write(s->cli, buf_str(&out));
}

err status_run(struct cli *c)
{
    struct status s = { .cli = c,
                        .arena = c->arena,
                        .server = json_object(),
                        .agents = json_object(),
                        .waits = json_object(),
                        .folder = json_object(),
                        .next = json_array() };

    caller_init(&s.caller, cli_value(c, "--data"));
    s.caller.timeout_ms = ASK_MS;
    err e = server_ask(&s);
    bool server = !e;
    if (server)
        e = agents_ask(&s);
    if (server && !e)
        e = waits_ask(&s);
    if (!server || !e) {
        folder_ask(&s, server);
        print(&s, server);
    }
    caller_release(&s.caller);
    if (server || (e->kind != ERR_UNAVAILABLE && !c->json))
        return e;
    c->exit = error_kind_info(e->kind)->exit; /* it was said why */
    return NULL;
}

// clang-format off
const struct option status_options[] = {
    { "--json", 0, NULL,  "one line of JSON" },
    { "--data", 0, "DIR", "of the server of this data directory" },
    { 0 },
};
// clang-format on

const char status_details[] =
    "Where the server is, who is at work, what waits for you, how this folder is wired,\n"
    "and what to type next. A member of a project without a sign for long is silent.\n"
    "\n"
    "Exit codes: 0 a server answers; 14 none does; 3 it does not know the token.";
