/* session_begin.c: baton session start, resume, result: asking agents for work.
 *
 * Each is one or two operations and words for people: what happens now, and what to do next. */
#include "cli/session_verbs.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/names.h"

enum {
    ASK_S = 45,          /* how long one question waits for a session to settle */
    ASK_MORE_MS = 10000, /* and for the way */
};

/* ---- the prompt ---- */

/* Text, @FILE, or - for standard input. */
static err prompt_read(struct cli *c, bool reads, str *out)
{
    const char *given = cli_value(c, "--prompt");
    bool from_stdin = (given && strcmp(given, "-") == 0) || (!given && reads);

    *out = str_from(given);
    if (!given && (!reads || isatty(STDIN_FILENO)))
        return usage_error(c,
                           STR("expected what the agent is to do: -p TEXT, -p @FILE, or -p - for "
                               "standard input."));
    if (from_stdin)
        TRY(cli_read(c, c->arena, "-", out));
    else if (given[0] == '@')
        TRY(cli_read(c, c->arena, given + 1, out));
    if (!str_trim(*out).len)
        return usage_error(c, STR("expected what the agent is to do, but the prompt is empty."));
    if (!str_eq(term_utf8(c->arena, *out), *out))
        return usage_error(c, STR("expected a prompt in UTF-8."));
    return NULL;
}

/* ---- what is asked for ---- */

static void put_text(struct cli *c, struct json *body, const char *name, str value)
{
    if (value.len)
        json_put(c->arena, body, str_from(name), json_string(value));
}

static err seconds_read(struct cli *c, struct json *body)
{
    const char *given = cli_value(c, "--max-seconds");
    int64_t n;

    if (!given)
        return NULL;
    if (!str_to_int(str_from(given), &n) || n < 1)
        return usage_error(
            c, arena_printf(c->arena, "--max-seconds expects a number from 1 on, but found '%s'.",
                            given));
    json_put(c->arena, body, STR("max_seconds"), json_int(c->arena, n));
    return NULL;
}

static err mode_read(struct cli *c, struct json *body, bool *waits)
{
    static const struct {
        const char *word, *mode;
    } modes[] = {
        { "sync", "sync" },
        { "poll", "async_poll" },
        { "callback", "async_callback" },
        { "async_poll", "async_poll" },
        { "async_callback", "async_callback" },
    };
    const char *given = cli_value(c, "--mode");

    for (size_t i = 0; given && i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(given, modes[i].word) != 0)
            continue;
        put_text(c, body, "execution_mode", str_from(modes[i].mode));
        *waits = *waits || i == 0;
        return NULL;
    }
    return given ? usage_error(c, arena_printf(c->arena,
                                               "--mode expects sync, poll or callback, but found "
                                               "'%s'.",
                                               given))
                 : NULL;
}

static void demands_read(struct cli *c, struct json *body)
{
    struct json demands = json_object(), tags = json_array();

    put_text(c, &demands, "profile", str_from(cli_value(c, "--profile")));
    for (int i = 0; i < c->option_count; i++)
        if (strcmp(c->options[i].option->name, "--tag") == 0)
            json_push(c->arena, &tags, json_string(str_from(c->options[i].value)));
    if (tags.len)
        json_put(c->arena, &demands, STR("tags"), tags);
    if (demands.len)
        json_put(c->arena, body, STR("demands"), demands);
}

/* One JSON Pointer, or an array of them; each may be given more than once. */
static err pointers_read(struct cli *c, struct json *body)
{
    struct json all = json_array();

    for (int i = 0; i < c->option_count; i++) {
        const char *given = c->options[i].value;
        const struct json *array;
        if (strcmp(c->options[i].option->name, "--pointers") != 0)
            continue;
        if (given[0] != '[') {
            json_push(c->arena, &all, json_string(str_from(given)));
            continue;
        }
        err e = json_parse(c->arena, str_from(given), NULL, &array);
        if (e)
            return err_within(c->arena, e, "--pointers");
        for (uint32_t k = 0; k < array->len; k++)
            json_push(c->arena, &all, array->items[k]);
    }
    if (cli_value(c, "--pointers"))
        json_put(c->arena, body, STR("pointers"), all);
    return NULL;
}

/* Whether this command is an agent's own: what it starts is below it. */
static bool is_inside(void)
{
    const char *id = getenv("BATON_SESSION_ID");

    return id && *id;
}

/* A root works where its command was given, if its server, and so a runner, is on this machine. */
static err directory_read(struct cli *c, const struct url *server, struct json *body)
{
    const char *given = cli_value(c, "--project-dir");
    bool below = cli_value(c, "--parent") || is_inside();

    if (!given && (below || !url_is_loopback(server)))
        return NULL;
    char *whole = realpath(given ? given : ".", NULL);
    if (!whole && !given) /* the folder of this command was deleted: the runner has one */
        return NULL;
    if (!whole && given[0] != '/')
        return usage_error(c, arena_printf(c->arena, "there is no folder '%s'.", given));
    put_text(c, body, "project_dir", arena_copy(c->arena, str_from(whole ? whole : given)));
    free(whole);
    return NULL;
}

/* A root that is to have a state is registered with it first, and then started. A repetition after
 * a lost connection finds it registered: it goes on when that has the same state. */
static err root_register(struct cli *c, struct caller *k, const struct json *run)
{
    str state_id = str_from(cli_value(c, "--state"));
    struct json body = json_object();
    const struct json *found;

    if (!cli_value(c, "--state") && !cli_value(c, "--parent") && !is_inside())
        state_id = str_from(getenv("WORKFLOW_STATE_ID"));
    if (!state_id.len)
        return NULL;
    put_text(c, &body, "session_name", str_from(c->args[0]));
    put_text(c, &body, "workflow_state_id", state_id);
    put_text(c, &body, "agent_name", json_str(run, "agent_name"));
    put_text(c, &body, "project_dir", json_str(run, "project_dir"));
    put_text(c, &body, "parent_session_name", json_str(run, "parent_session_name"));
    if (json_get(run, "pointers"))
        json_put(c->arena, &body, STR("pointers"), *json_get(run, "pointers"));
    err e = caller_call(k, c->arena,
                        &(struct call){ .method = "POST",
                                        .pattern = "/sessions",
                                        .body = json_printed(c->arena, &body),
                                        .key = idempotency_key(c->arena) },
                        &found);
    if (!e || e->kind != ERR_CONFLICT)
        return e;
    err seen = caller_call(k, c->arena,
                           &(struct call){ .method = "GET",
                                           .pattern = "/sessions/{id}",
                                           PARAMS({ "id", str_from(c->args[0]) }) },
                           &found);
    if (seen || !str_eq(json_str(found, "status"), STR("pending")))
        return e;
    str has = json_str(found, "workflow_state_id");
    seen = caller_call(k, c->arena,
                       &(struct call){
                           .method = "GET",
                           .pattern = "/workflow-states/{state_id}",
                           PARAMS({ "state_id", state_id }, { "max_chars", STR("1000") }) },
                       &found);
    return !seen && str_eq(json_str(found, "state_id"), has) ? NULL : e;
}

/* A session goes on with the state that it has: says so, where the environment names another. */
static err state_compare(struct cli *c, struct caller *k)
{
    str named = str_from(getenv("WORKFLOW_STATE_ID"));
    const struct json *session, *state;

    if (!named.len || is_inside())
        return NULL;
    TRY(caller_call(k, c->arena,
                    &(struct call){ .method = "GET",
                                    .pattern = "/sessions/{id}",
                                    PARAMS({ "id", str_from(c->args[0]) }) },
                    &session));
    str has = json_str(session, "workflow_state_id");
    err e =
        caller_call(k, c->arena,
                    &(struct call){ .method = "GET",
                                    .pattern = "/workflow-states/{state_id}",
                                    PARAMS({ "state_id", named }, { "max_chars", STR("1000") }) },
                    &state);
    if (!e && str_eq(json_str(state, "state_id"), has))
        return NULL;
    cli_note(c,
             "WORKFLOW_STATE_ID is " STR_FMT ", but session %s goes on with %s" STR_FMT
             ": start another session to work with that one",
             STR_ARG(named), c->args[0], has.len ? "its state " : "no state", STR_ARG(has));
    return NULL;
}

/* ---- results ---- */

static void exit_by(struct cli *c, const struct json *result)
{
    str status = json_str(result, "status");

    if (!json_bool_or(result, "settled", true))
        c->exit = SESSION_EXIT_OPEN;
    else if (str_eq(status, STR("failed")))
        c->exit = SESSION_EXIT_FAILED;
    else if (str_eq(status, STR("stopped")))
        c->exit = SESSION_EXIT_STOPPED;
}

/* A terminal gets lines whose control characters are shown and not sent. */
static void put_result(struct cli *c, struct buf *out, str text)
{
    str line, rest = text;

    if (!c->terminal)
        buf_add(out, text);
    for (bool more = c->terminal; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        term_put(out, PAINT_PLAIN, line);
        if (more)
            buf_byte(out, '\n');
    }
    if (out->len && out->at[out->len - 1] != '\n')
        buf_byte(out, '\n');
}

/* How it ended, for people. */
static void note_end(struct cli *c, const struct json *result)
{
    str name = json_str(result, "session_name"), status = json_str(result, "status");
    str error = json_str(result, "error");

    if (c->exit == SESSION_EXIT_OPEN)
        cli_note(c,
                 "session " STR_FMT " is " STR_FMT " and has not settled; `baton session "
                 "result " STR_FMT " --wait` waits for it",
                 STR_ARG(name), STR_ARG(status), STR_ARG(name));
    else if (c->exit)
        cli_note(c, "session " STR_FMT " " STR_FMT "%s" STR_FMT, STR_ARG(name), STR_ARG(status),
                 error.len ? ": " : "", STR_ARG(error));
    else if (!json_str(result, "result").len)
        cli_note(c, "session " STR_FMT " finished without a word", STR_ARG(name));
    if (str_eq(json_str(result, "state_update_status"), STR("failed")))
        cli_note(c, "session " STR_FMT " did not record its result in its state", STR_ARG(name));
}

/* What the agent said goes to standard output as it is; how it ended goes beside it. */
static void result_print(struct cli *c, const struct json *result)
{
    struct buf out = buf_in(c->arena);

    exit_by(c, result);
    if (c->json) {
        json_print(&out, result);
        buf_byte(&out, '\n');
    } else {
        put_result(c, &out, json_str(result, "result"));
    }
    cli_write(c, buf_str(&out));
    note_end(c, result);
}

static err result_read(struct cli *c, struct caller *k, str session, bool wait,
                       const struct json **out)
{
    struct arena *a = arena_new();
    struct call call = { .method = "GET",
                         .pattern = "/sessions/{id}/result",
                         .timeout_ms = ASK_S * 1000 + ASK_MORE_MS,
                         PARAMS({ "id", session }, { "wait", wait ? STR("true") : STR("false") },
                                { "timeout", arena_printf(c->arena, "%d", ASK_S) }) };
    const struct json *result = NULL;
    err e;

    do {
        e = call_until_answered(c, k, a, &call, &result);
    } while (!e && wait && !json_bool_or(result, "settled", true));
    if (e) {
        e = err_copy(c->arena, e);
    } else {
        struct json *copy = ARENA_NEW(c->arena, struct json);
        *copy = json_copy(c->arena, result);
        *out = copy;
    }
    arena_free(a);
    return e;
}

err session_result(struct cli *c, bool wait)
{
    const struct json *result;
    struct caller k;

    caller_init(&k, cli_value(c, "--data"));
    err e = result_read(c, &k, str_from(c->args[0]), wait, &result);
    if (!e)
        result_print(c, result);
    e = names_meant(c, &k, e, "session", str_from(c->args[0]));
    caller_release(&k);
    return e;
}

/* ---- beginning ---- */

static void begun_print(struct cli *c, const struct json *run)
{
    const char *name = c->args[0];
    struct buf out = buf_in(c->arena);

    if (c->json || !c->terminal) {
        json_print(&out, run);
        buf_byte(&out, '\n');
        cli_write(c, buf_str(&out));
        return;
    }
    str run_id = json_str(run, "run_id"), queued = STR(" waits for a runner");
    if (!json_bool_or(run, "queued", true))
        queued = STR(" comes when the one before it has ended");
    buf_add(&out, STR("session "));
    term_put(&out, c->coloured ? PAINT_KEY : PAINT_PLAIN, str_from(name));
    buf_printf(&out, ": run " STR_FMT STR_FMT "\n\n", STR_ARG(run_id), STR_ARG(queued));
    buf_printf(&out,
               "  baton logs %s -f                 what its agent writes\n"
               "  baton session result %s --wait   its result, when it has settled\n"
               "  baton session tree %s            it and what it has started\n"
               "  baton session stop %s            stop it, and all below it\n",
               name, name, name, name);
    cli_write(c, buf_str(&out));
}

static err begin(struct cli *c, struct caller *k, bool resumes, bool waits, bool reads)
{
    struct json body = json_object();
    const struct json *run, *result;
    str prompt;

    TRY(prompt_read(c, reads, &prompt));
    TRY(caller_find(k, c->arena));
    put_text(c, &body, "type", resumes ? STR("resume_session") : STR("start_session"));
    put_text(c, &body, "session_name", str_from(c->args[0]));
    put_text(c, &body, "prompt", prompt);
    TRY(seconds_read(c, &body));
    TRY(mode_read(c, &body, &waits));
    if (!resumes) {
        put_text(c, &body, "agent_name", str_from(cli_value(c, "--agent")));
        put_text(c, &body, "parent_session_name", str_from(cli_value(c, "--parent")));
        put_text(c, &body, "project", str_from(cli_value(c, "--project")));
        demands_read(c, &body);
        TRY(pointers_read(c, &body));
        TRY(directory_read(c, &k->endpoint.url, &body));
        TRY(root_register(c, k, &body));
    } else {
        TRY(state_compare(c, k));
    }
    TRY(caller_call(k, c->arena,
                    &(struct call){ .method = "POST",
                                    .pattern = "/runs",
                                    .body = json_printed(c->arena, &body),
                                    .key = idempotency_key(c->arena),
                                    .timeout_ms = ASK_S * 1000 + ASK_MORE_MS },
                    &run));
    if (!waits) {
        begun_print(c, run);
        return NULL;
    }
    if (c->terminal)
        cli_note(c, "session %s is at work; Ctrl-C leaves it there", c->args[0]);
    TRY(result_read(c, k, str_from(c->args[0]), true, &result));
    result_print(c, result);
    return NULL;
}

err session_begin(struct cli *c, bool resumes, bool waits, bool reads)
{
    struct caller k;

    caller_init(&k, cli_value(c, "--data"));
    err e = begin(c, &k, resumes, waits, reads);
    if (resumes || cli_value(c, "--parent"))
        e = names_meant(c, &k, e, "session",
                        str_from(resumes ? c->args[0] : cli_value(c, "--parent")));
    caller_release(&k);
    return e;
}
