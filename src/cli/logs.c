/* logs.c: baton logs: what the agent of a run has written, and goes on writing.
 *
 * Pieces are numbered, so following is asking for what comes after the last one that was
 * seen: a server that restarts in between is nothing that is missed or comes twice. */
#include "cli/session_verbs.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/date.h"
#include "cli/names.h"

enum {
    WAIT_S = 30,
    WAIT_MORE_MS = 10000,
    PIECES = 1000, /* asked for at once */
};

struct logs {
    struct cli *cli;
    struct caller caller;
    struct arena *arena; /* of one answer */
    str run_id;
    bool follow, errors_only;
    int64_t since_ms;
    int64_t after;
    bool mid_line; /* the last piece did not end its line */
    bool ended;
    str status;
};

static void interrupted(int signal)
{
    (void)signal;
    _exit(0);
}

/* ---- which run ---- */

static err get(struct logs *l, const char *pattern, str id, const struct json **out)
{
    return caller_call(&l->caller, l->cli->arena,
                       &(struct call){ .method = "GET", .pattern = pattern, PARAMS({ "id", id }) },
                       out);
}

/* The run that a session is busy with, or its last. */
static err run_of_session(struct logs *l, str name)
{
    struct url_param session = { "session", name };
    const struct json *found;
    struct json runs;
    bool cut;

    TRY(get(l, "/sessions/{id}", name, &found));
    l->run_id = json_str(found, "run_id");
    if (l->run_id.len)
        return NULL;
    TRY(call_pages(&l->caller, l->cli->arena, "/runs", &session, "runs", (size_t)-1, &runs, &cut));
    if (!runs.len)
        return err_new(l->cli->arena, ERR_NOT_FOUND,
                       "session " STR_FMT " has had no run: somebody outside runs it",
                       STR_ARG(name));
    l->run_id = json_str(&runs.items[runs.len - 1], "run_id");
    return NULL;
}

/* Nobody was named: then there should be one that runs. */
static err run_of_any(struct logs *l)
{
    struct arena *a = l->cli->arena;
    struct url_param running = { "status", STR("running") };
    struct buf names = buf_in(a);
    struct json runs;
    bool cut;

    TRY(call_pages(&l->caller, a, "/runs", &running, "runs", PIECES, &runs, &cut));
    if (runs.len == 1) {
        l->run_id = json_str(&runs.items[0], "run_id");
        return NULL;
    }
    for (uint32_t i = 0; i < runs.len && i < 10; i++) {
        str session = json_str(&runs.items[i], "session_name"); /* a command has none */
        str name = session.len ? session : json_str(&runs.items[i], "run_id");
        buf_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(name));
    }
    if (!runs.len)
        return err_new(a, ERR_NOT_FOUND,
                       "nothing runs now: name a session or a run; `baton run list` shows them");
    return err_new(a, ERR_CONFLICT, "%u runs are at work, name one of them: " STR_FMT "%s",
                   (unsigned)runs.len, STR_ARG(buf_str(&names)), runs.len > 10 ? " …" : "");
}

static err run_find(struct logs *l)
{
    struct cli *c = l->cli;
    str name = c->arg_count ? str_from(c->args[0]) : STR("");
    const struct json *run;

    if (!name.len)
        return run_of_any(l);
    if (!str_starts(name, STR("run_")))
        return run_of_session(l, name);
    err e = get(l, "/runs/{id}", name, &run);
    if (e && e->kind == ERR_NOT_FOUND) /* a session may be called so, too */
        return run_of_session(l, name);
    l->run_id = name;
    return e;
}

/* ---- what is shown ---- */

/* A terminal gets lines whose control characters are shown and not sent. */
static void put_lines(struct logs *l, struct buf *out, str text, bool error)
{
    enum paint paint = error && l->cli->coloured ? PAINT_ERROR : PAINT_PLAIN;
    str line, rest = text;

    while (rest.len) {
        bool ends = str_cut(rest, '\n', &line, &rest);
        if (str_ends(line, STR("\r")))
            line = str_slice(line, 0, line.len - 1);
        term_put(out, paint, line);
        if (!ends)
            break;
        buf_byte(out, '\n');
    }
}

static bool is_wanted(const struct logs *l, const struct json *piece)
{
    int64_t at;

    if (l->errors_only && !str_eq(json_str(piece, "stream"), STR("stderr")))
        return false;
    return !date_parse(json_str(piece, "time"), &at) || at >= l->since_ms;
}

static void piece_show(struct logs *l, struct buf *out, const struct json *piece)
{
    bool error = str_eq(json_str(piece, "stream"), STR("stderr"));
    str text = json_str(piece, "text");
    int64_t number = json_int_or(piece, "number", 0);

    if (l->after == 0 && number > 1)
        cli_note(l->cli, "the first %lld pieces are not kept any more", (long long)(number - 1));
    l->after = number;
    if (!is_wanted(l, piece))
        return;
    if (l->cli->json) {
        json_print(out, piece);
        buf_byte(out, '\n');
        return;
    }
    if (l->cli->terminal)
        put_lines(l, out, text, error);
    else
        buf_add(out, text);
    l->mid_line = text.len ? text.at[text.len - 1] != '\n' : l->mid_line;
}

/* ---- asking ---- */

/* One answer; *more: there may be another at once. */
static err step(struct logs *l, bool *more)
{
    char after[32], wait[32];
    int after_len = snprintf(after, sizeof after, "%lld", (long long)l->after);
    int wait_len = snprintf(wait, sizeof wait, "%d", l->follow ? WAIT_S : 0);
    struct call call = { .method = "GET",
                         .pattern = "/runs/{id}/output",
                         .timeout_ms = WAIT_S * 1000 + WAIT_MORE_MS,
                         PARAMS({ "id", l->run_id }, { "after", { after, (size_t)after_len } },
                                { "wait", { wait, (size_t)wait_len } }, { "limit", STR("1000") }) };
    const struct json *answer, *pieces;

    TRY(call_until_answered(l->cli, &l->caller, l->arena, &call, &answer));
    pieces = json_get(answer, "output");
    struct buf out = buf_in(l->arena);
    for (uint32_t i = 0; json_is(pieces, JSON_ARRAY) && i < pieces->len; i++)
        piece_show(l, &out, &pieces->items[i]);
    cli_write(l->cli, buf_str(&out));
    l->ended = json_bool_or(answer, "ended", true);
    l->status = arena_copy(l->cli->arena, json_str(answer, "status"));
    *more = (l->follow ? !l->ended : pieces && pieces->len > 0) && cli_flush(l->cli);
    return NULL;
}

static err logs_print(struct logs *l)
{
    struct cli *c = l->cli;
    bool more = true;

    TRY(run_find(l));
    while (more) {
        err e = step(l, &more);
        if (e)
            return err_copy(c->arena, e);
    }
    if (l->mid_line && c->terminal)
        cli_write(c, STR("\n"));
    if (c->terminal && l->after == 0)
        cli_note(c, "run " STR_FMT " is " STR_FMT " and has written nothing", STR_ARG(l->run_id),
                 STR_ARG(l->status));
    else if (c->terminal && l->follow)
        cli_note(c, "run " STR_FMT " is " STR_FMT, STR_ARG(l->run_id), STR_ARG(l->status));
    return NULL;
}

/* A time, or how long ago. */
static err since_read(struct cli *c, int64_t *out)
{
    const char *given = cli_value(c, "--since");
    int64_t ago;

    *out = INT64_MIN;
    if (!given || date_parse(str_from(given), out))
        return NULL;
    if (!duration_parse(str_from(given), &ago))
        return usage_error(c, arena_printf(c->arena,
                                           "--since expects a duration like 10m or a time like "
                                           "2025-01-15T10:35:00Z, but found '%s'.",
                                           given));
    *out = cli_now_ms() - ago;
    return NULL;
}

static err logs_run(struct cli *c)
{
    struct logs l = { .cli = c,
                      .follow = cli_flag(c, "--follow"),
                      .errors_only = cli_flag(c, "--stderr"),
                      .arena = arena_new() };

    signal(SIGINT, interrupted);
    caller_init(&l.caller, cli_value(c, "--data"));
    err e = since_read(c, &l.since_ms);
    if (!e)
        e = logs_print(&l);
    if (c->arg_count)
        e = names_meant(c, &l.caller, e, "session", str_from(c->args[0]));
    caller_release(&l.caller);
    arena_free(l.arena);
    return e;
}

// clang-format off
static const struct option logs_options[] = {
    { "--follow", 'f', NULL,   "go on with what is written, until the run has ended" },
    { "--stderr", 0,   NULL,   "only what was written to standard error" },
    { "--since",  0,   "TIME", "only what came since then: 10m, or 2025-01-15T10:35:00Z" },
    { "--json",   0,   NULL,   "one line of JSON for each piece" },
    { "--data",   0,   "DIR",  "ask the server of this data directory" },
    { 0 },
};
// clang-format on

const struct verb logs_verb = {
    .name = "logs",
    .args = "[SESSION|RUN]",
    .args_max = 1,
    .summary = "Show what an agent writes",
    .example = "reviewer -f",
    .details = "Of a session it shows the run that it is busy with, or its last one; `baton run\n"
               "list --session NAME` lists all. Without a name, it shows the one run that there\n"
               "is. What is old is dropped when there is much. When the server restarts, -f goes\n"
               "on where it was. Ctrl-C ends it.",
    .options = logs_options,
    .run = logs_run,
};
