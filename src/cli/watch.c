/* watch.c: baton watch: the versions of a state, or what happens in an execution, live.
 *
 * Follows the events of one subject over WebSocket. When the connection is lost it
 * is made again, and the server goes on after the last number that was seen, so
 * that nothing is missed and nothing comes twice. */
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "cli/execution_verbs.h"
#include "cli/names.h"
#include "client/caller.h"
#include "client/ws_client.h"

enum {
    CONNECT_MS = 10000,
    SILENCE_MS = 90000, /* the server pings more often than that */
    WAIT_MOST_MS = 5000,
};

struct watch {
    struct cli *cli;
    struct arena *arena; /* of one message */
    struct arena *last;  /* of the last error */
    str subject;
    bool execution; /* that is the subject; else it is a state */
    str path;       /* empty: all */
    int64_t after;  /* the last number that was seen; −1: from now on */
    int64_t left;   /* events to go; −1: no limit */
    bool over;
};

/* What is printed was flushed, and nothing else needs an end. */
static void interrupted(int signal)
{
    (void)signal;
    _exit(0);
}

/* ---- which changes ---- */

/* Whether one of the pointers is the other, or leads to it. */
static bool related(str a, str b)
{
    if (a.len > b.len)
        return related(b, a);
    return str_starts(b, a) && (b.len == a.len || b.at[a.len] == '/');
}

/* A change of what holds the value changes the value too; what is moved away is gone. */
static bool concerns(const struct watch *w, const struct json *operation)
{
    return related(json_str(operation, "path"), w->path) ||
           (str_eq(json_str(operation, "op"), STR("move")) &&
            related(json_str(operation, "from"), w->path));
}

static bool is_wanted(const struct watch *w, const struct json *event)
{
    const struct json *patch = json_get(event, "patch");

    if (!w->path.len || !json_is(patch, JSON_ARRAY))
        return true;
    for (uint32_t i = 0; i < patch->len; i++)
        if (concerns(w, &patch->items[i]))
            return true;
    return false;
}

/* ---- printing ---- */

static void put_operation(struct cli *c, struct buf *out, const struct json *operation)
{
    const struct json *value = json_get(operation, "value");
    str path = json_str(operation, "path"), from = json_str(operation, "from");

    buf_add(out, STR("  "));
    term_put(out, c->coloured ? PAINT_DIM : PAINT_PLAIN, json_str(operation, "op"));
    buf_byte(out, ' ');
    if (from.len) {
        term_put(out, PAINT_PLAIN, from);
        buf_add(out, STR(" to "));
    }
    term_put(out, PAINT_PLAIN, path.len ? path : STR("(all of it)"));
    if (value) {
        buf_byte(out, ' ');
        render_json(c, out, value, false);
    }
    buf_byte(out, '\n');
}

/* A line for the version and one for each of its changes. */
static void put_event(const struct watch *w, struct buf *out, const struct json *event)
{
    const struct json *patch = json_get(event, "patch");
    struct cli *c = w->cli;
    str type = json_str(event, "event_type");

    if (str_starts(type, STR("workflow_state_")))
        type = str_slice(type, strlen("workflow_state_"), type.len);
    term_put(out, c->coloured ? PAINT_DIM : PAINT_PLAIN, json_str(event, "timestamp"));
    buf_printf(out, "  version %lld  ", (long long)json_int_or(event, "version", 0));
    term_put(out, PAINT_PLAIN, type);
    buf_add(out, STR(" by "));
    term_put(out, c->coloured ? PAINT_KEY : PAINT_PLAIN, json_str(event, "actor"));
    buf_byte(out, '\n');
    for (uint32_t i = 0; json_is(patch, JSON_ARRAY) && i < patch->len; i++)
        if (!w->path.len || concerns(w, &patch->items[i]))
            put_operation(c, out, &patch->items[i]);
}

/* Somebody who only looks on is told what there is to do. */
static void note_waits(const struct watch *w, const struct json *event)
{
    const struct json *moves = json_get(event, "moves");

    for (uint32_t i = 0; json_is(moves, JSON_ARRAY) && i < moves->len; i++) {
        str what = json_text(json_at(&moves->items[i], 1));
        if (str_eq(what, STR("asked")) || str_eq(what, STR("incident"))) {
            cli_note(w->cli, "it waits for you: `baton inbox` shows for what, and what to do");
            return;
        }
    }
}

static void event_show(struct watch *w, str message, const struct json *event)
{
    struct execution_text look = execution_text_here(w->cli);
    struct buf out = buf_in(w->arena);

    if (w->cli->json) {
        buf_add(&out, message);
        buf_byte(&out, '\n');
    } else if (w->execution) {
        execution_event_put(&out, &look, event);
    } else {
        put_event(w, &out, event);
    }
    cli_write(w->cli, buf_str(&out));
    if (w->left > 0)
        w->left--;
    if (w->execution)
        note_waits(w, event);
    if (!cli_flush(w->cli) || w->left == 0)
        w->over = true;
}

/* ---- messages ---- */

static void event_take(struct watch *w, str text, const struct json *event)
{
    if (is_wanted(w, event))
        event_show(w, text, event);
    w->after = json_int_or(event, "seq", w->after);
    str type = json_str(event, "event_type");
    if (str_eq(type, STR("workflow_state_deleted")) || str_eq(type, STR("execution_ended")))
        w->over = true; /* nothing will come any more */
}

static err message_take(struct watch *w, str text)
{
    const struct json *m;

    err e = json_parse(w->arena, text, &json_limits_own, &m);
    if (e)
        return err_within(w->arena, e, "the server's message is not JSON");
    str control = json_str(m, "type");
    if (str_eq(control, STR("error")))
        return err_new(w->arena, response_kind((int)json_int_or(m, "status", 500)),
                       STR_FMT ": " STR_FMT, STR_ARG(json_str(m, "title")),
                       STR_ARG(json_str(m, "detail")));
    if (str_eq(control, STR("reset"))) {
        /* What is older than the server's log cannot be shown; what follows can. */
        cli_warn(w->cli, err_new(w->arena, ERR_UNAVAILABLE,
                                 "what came after event %lld is missing here: the server does not "
                                 "keep its events for so long; `baton state history` may have it",
                                 (long long)w->after));
        w->after = json_int_or(m, "oldest", w->after + 1) - 1;
    }
    if (control.len && w->after < 0)
        w->after = json_int_or(m, "seq", w->after);
    if (!control.len)
        event_take(w, text, m);
    return NULL;
}

/* ---- the connection ---- */

static str subscription(struct watch *w)
{
    struct buf out = buf_in(w->arena);
    struct json_writer j = json_writer_to(&out);

    json_write_begin(&j, '{');
    json_write_name(&j, STR("action"));
    json_write_str(&j, STR("subscribe"));
    json_write_name(&j, w->execution ? STR("subject") : STR("state_id"));
    json_write_str(&j, w->subject);
    if (w->after >= 0) {
        json_write_name(&j, STR("after"));
        json_write_int(&j, w->after);
    }
    json_write_end(&j, '}');
    return buf_str(&out);
}

/* Follows until all is seen or the connection ends; *reached: there was one. The server is looked
 * for each time, since it may have come back at another place. */
static err follow(struct watch *w, struct arena *a, bool *reached)
{
    struct ws_client *client;
    struct endpoint endpoint;
    str message;

    TRY(endpoint_find(a, cli_value(w->cli, "--data"), &endpoint));
    TRY(ws_client_open(a, &endpoint, "/ws", CONNECT_MS, &client));
    *reached = true;
    err e = ws_client_send(client, a, subscription(w), CONNECT_MS);
    while (!e && !w->over) {
        arena_reset(w->arena);
        e = ws_client_next(client, w->arena, SILENCE_MS, &message);
        if (!e)
            e = message_take(w, message);
    }
    ws_client_free(client);
    return e ? err_copy(a, e) : NULL;
}

/* One try, whose memory goes with it: a server may be away for days. */
static err try_once(struct watch *w, bool *reached)
{
    struct arena *a = arena_new();
    err e = follow(w, a, reached);

    if (e)
        e = err_copy(w->last, e);
    arena_free(a);
    return e;
}

/* Goes on for as long as a server may come back. That it is not there at first is told at once:
 * then it is more likely that something was mistyped. */
static err watch_loop(struct watch *w)
{
    bool ever = false;
    int tries = 0;

    while (!w->over) {
        bool reached = false;
        arena_reset(w->last);
        err e = try_once(w, &reached);
        ever = ever || reached;
        if (e && (e->kind != ERR_UNAVAILABLE || !ever))
            return err_copy(w->cli->arena, e);
        if (!e)
            break;
        if (reached)
            tries = 0;
        if (tries == 0)
            cli_warn(w->cli, err_within(w->last, e, "connecting again"));
        poll(NULL, 0, (int)retry_delay_ms(tries++, WAIT_MOST_MS));
    }
    return NULL;
}

/* Names of states begin so only when somebody wants them to. Executions of generation and planning are
 * called otherwise: whether there is one is asked. */
static bool is_execution_id(struct cli *c, str id)
{
    struct call call = { .method = "GET", .pattern = "/executions/{id}", PARAMS({ "id", id }) };
    struct response answer;
    struct caller caller;

    if (str_starts(id, STR("exec-")) || str_starts(id, STR("wfstate_")))
        return id.at[0] == 'e';
    caller_init(&caller, cli_value(c, "--data"));
    err e = caller_request(&caller, c->arena, &call, &answer);
    caller_release(&caller);
    return !e && answer.status < 400;
}

/* Nobody waits for what happens to something that is not there; *seen: it is. One that has ended is
 * said to have. */
static err subject_look(struct watch *w, bool *seen)
{
    struct cli *c = w->cli;
    struct call call = { .method = "GET",
                         .pattern = w->execution ? "/executions/{id}" : "/workflow-states/{id}",
                         PARAMS({ "id", w->subject }) };
    const struct json *found;
    struct response answer;
    struct caller caller;

    caller_init(&caller, cli_value(c, "--data"));
    err e = caller_request(&caller, c->arena, &call, &answer);
    *seen = !e && answer.status < 400;
    if (!e && answer.status == 404)
        e = names_meant(c, &caller, response_error(c->arena, &answer),
                        w->execution ? "execution" : "state", w->subject);
    caller_release(&caller);
    if (e || !*seen)
        return e ? e : render_answer(c, &answer);
    if (!w->execution || json_parse(c->arena, answer.body, &json_limits_own, &found) ||
        !json_str(found, "ended_at").len)
        return NULL;
    *seen = false;
    cli_note(c, "it is " STR_FMT " already: `baton execution log` shows what happened",
             STR_ARG(json_str(found, "status")));
    return NULL;
}

/* A number that an option gives, or what stands in for it. */
static err number_of(struct cli *c, const char *name, int64_t least, int64_t otherwise,
                     int64_t *out)
{
    const char *value = cli_value(c, name);

    *out = otherwise;
    if (value && (!str_to_int(str_from(value), out) || *out < least))
        return usage_error(c, arena_printf(c->arena,
                                           "%s expects a number from %lld on, but found '%s'.",
                                           name, (long long)least, value));
    return NULL;
}

static err watch_run(struct cli *c)
{
    const char *path = cli_value(c, "--path");
    struct watch w = { .cli = c, .subject = str_from(c->args[0]), .path = str_from(path) };

    TRY(number_of(c, "--after", 0, -1, &w.after));
    TRY(number_of(c, "--count", 1, -1, &w.left));
    if (w.path.len && w.path.at[0] != '/')
        return usage_error(c, arena_printf(c->arena,
                                           "--path expects a JSON Pointer like /tasks/0, but "
                                           "found '%s'.",
                                           path));
    w.execution = is_execution_id(c, w.subject);
    if (w.execution && w.path.len)
        return usage_error(c, STR("--path is for states: an execution has no values, but its "
                                  "document (state_id) has."));
    bool seen = true;
    if (w.after < 0) /* what was before can be shown of one that was deleted too */
        TRY(subject_look(&w, &seen));
    if (!seen)
        return NULL;
    signal(SIGINT, interrupted);
    w.arena = arena_new();
    w.last = arena_new();
    err e = watch_loop(&w);
    arena_free(w.arena);
    arena_free(w.last);
    return e;
}

// clang-format off
static const struct option watch_options[] = {
    { "--path",  0, "PTR", "only changes of the value at this JSON Pointer" },
    { "--after", 0, "SEQ", "begin after the event of this number; 0: with the first" },
    { "--count", 0, "N",   "end after so many" },
    { "--json",  0, NULL,  "one line of JSON for each" },
    { "--data",  0, "DIR", "ask the server of this data directory" },
    { 0 },
};
// clang-format on

const struct verb watch_verb = {
    .name = "watch",
    .args = "STATE_ID|EXECUTION_ID",
    .args_min = 1,
    .args_max = 1,
    .summary = "Show the versions of a state, or what happens in an execution, as it comes",
    .example = "wfstate_4hq2m7k1x9ab --path /tasks",
    .details = "For each version it prints when it was written, its number, by whom, and what it\n"
               "changed; of an execution, what moved. It begins with the next one, unless --after\n"
               "says from where. When the server restarts it goes on where it was. Ctrl-C ends\n"
               "it; so does the end of the execution.",
    .options = watch_options,
    .run = watch_run,
};
