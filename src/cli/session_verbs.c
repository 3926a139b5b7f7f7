/* session_verbs.c: baton session tree, stop, and the table of what people do with sessions. */
#define _GNU_SOURCE /* strcasestr */
#include "cli/session_verbs.h"

#include "cli/names.h"

#include <stdlib.h>

enum { SESSIONS_MAX = 5000 }; /* of a picture: more than anybody looks at */

/* ---- this machine ---- */

bool session_unicode(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

/* ---- tree ---- */

/* The sessions of the tree that a session is in; without a name, of all trees. */
static err sessions_load(struct cli *c, struct caller *k, const char *name, struct json *out,
                         str *top)
{
    const struct json *session;
    struct url_param root = { "root", STR("") };
    bool cut;

    *top = STR("");
    if (name) {
        TRY(caller_call(k, c->arena,
                        &(struct call){ .method = "GET",
                                        .pattern = "/sessions/{id}",
                                        PARAMS({ "id", str_from(name) }) },
                        &session));
        *top = json_str(session, "session_id");
        root.value = json_str(session, "root_session_id");
    }
    TRY(call_pages(k, c->arena, "/sessions", name ? &root : NULL, "sessions", SESSIONS_MAX, out,
                   &cut));
    if (cut)
        cli_note(c, "there are more than %d sessions: name one to see all of its tree",
                 SESSIONS_MAX);
    return NULL;
}

static err tree_load(struct cli *c, struct caller *k, const char *name, struct session_tree *out)
{
    struct json *sessions = ARENA_NEW(c->arena, struct json);
    struct tree_source source = { .sessions = sessions, .now_ms = cli_now_ms() };

    TRY(sessions_load(c, k, name, sessions, &source.top));
    session_tree_make(c->arena, &source, out);
    return NULL;
}

static void tree_print(struct cli *c, struct buf *out, const struct session_tree *t)
{
    struct tree_style look = { .columns = TREE_STATUS | TREE_UPDATE | TREE_COST | TREE_COST_ALL |
                                          TREE_AGE | TREE_CHILDREN | TREE_LAST,
                               .width = c->terminal ? render_width() : 0,
                               .unicode = session_unicode(),
                               .coloured = c->coloured,
                               .now_ms = cli_now_ms() };
    if (t->count)
        session_tree_print(out, t, &look);
    else
        buf_add(out, STR("none; `baton session start NAME -p PROMPT` starts one\n"));
}

static err tree_run(struct cli *c)
{
    const char *name = c->arg_count ? c->args[0] : NULL;
    struct buf out = buf_in(c->arena);
    struct session_tree tree;
    struct caller k;

    caller_init(&k, cli_value(c, "--data"));
    err e = names_meant(c, &k, tree_load(c, &k, name, &tree), "session", str_from(name));
    caller_release(&k);
    if (e)
        return e;
    if (c->json) {
        struct json_writer w = json_writer_to(&out);
        json_write_begin(&w, '{');
        json_write_name(&w, STR("sessions"));
        session_tree_json(&w, &tree);
        json_write_end(&w, '}');
        buf_byte(&out, '\n');
    } else {
        tree_print(c, &out, &tree);
    }
    cli_write(c, buf_str(&out));
    return NULL;
}

/* ---- stop ---- */

static bool is_live(const struct tree_node *n)
{
    return !json_is(json_get(n->session, "ended_at"), JSON_STRING);
}

static void stopped_json(struct cli *c, struct buf *out, const struct session_tree *before,
                         const struct json *now)
{
    struct json_writer w = json_writer_to(out);

    (void)c;
    json_write_begin(&w, '{');
    json_write_name(&w, STR("session"));
    json_write_value(&w, now);
    json_write_name(&w, STR("stopped"));
    json_write_begin(&w, '[');
    for (size_t i = 0; i < before->count; i++)
        if (is_live(before->rows[i].node))
            json_write_str(&w, before->rows[i].node->name);
    json_write_end(&w, ']');
    json_write_end(&w, '}');
    buf_byte(out, '\n');
}

static void stopped_print(struct cli *c, struct buf *out, const struct session_tree *before)
{
    size_t live = 0, busy = 0;

    for (size_t i = 0; i < before->count; i++) {
        const struct tree_node *n = before->rows[i].node;
        if (!is_live(n))
            continue;
        buf_add(out, STR("stopped "));
        term_put(out, c->coloured ? PAINT_KEY : PAINT_PLAIN, n->name);
        buf_printf(out, ", which was " STR_FMT "\n", STR_ARG(json_str(n->session, "status")));
        busy += str_eq(json_str(n->session, "status"), STR("running"));
        live++;
    }
    if (!live)
        buf_add(out, STR("nothing to stop: it has ended, and so has all that is below it\n"));
    if (busy)
        buf_printf(out,
                   "Agents at work have been told to end; `baton session tree %s` shows how far "
                   "they are.\n",
                   c->args[0]);
}

static err stop(struct cli *c, struct caller *k, struct session_tree *before,
                const struct json **now)
{
    struct json body = json_object();

    if (cli_value(c, "--reason"))
        json_put(c->arena, &body, STR("reason"), json_string(str_from(cli_value(c, "--reason"))));
    TRY(tree_load(c, k, c->args[0], before));
    return caller_call(k, c->arena,
                       &(struct call){ .method = "POST",
                                       .pattern = "/sessions/{id}/stop",
                                       .body = json_printed(c->arena, &body),
                                       .key = idempotency_key(c->arena),
                                       PARAMS({ "id", str_from(c->args[0]) }) },
                       now);
}

static err stop_run(struct cli *c)
{
    struct buf out = buf_in(c->arena);
    struct session_tree before;
    const struct json *now;
    struct caller k;

    caller_init(&k, cli_value(c, "--data"));
    err e = names_meant(c, &k, stop(c, &k, &before, &now), "session", str_from(c->args[0]));
    caller_release(&k);
    if (e)
        return e;
    if (c->json || !c->terminal)
        stopped_json(c, &out, &before, now);
    else
        stopped_print(c, &out, &before);
    cli_write(c, buf_str(&out));
    return NULL;
}

/* ---- the table ---- */

static err start_run(struct cli *c)
{
    return session_begin(c, false, cli_flag(c, "--wait"), false);
}

static err resume_run(struct cli *c)
{
    return session_begin(c, true, cli_flag(c, "--wait"), false);
}

static err result_run(struct cli *c)
{
    return session_result(c, cli_flag(c, "--wait"));
}

// clang-format off
#define PLAIN_OPTIONS                                                                              \
    { "--json", 0, NULL,  "one line of JSON, and errors as JSON too" },                            \
    { "--data", 0, "DIR", "ask the server of this data directory" },                               \
    { 0 }

#define TURN_OPTIONS                                                                               \
    { "--prompt",      'p', "TEXT", "what the agent is to do; @FILE: from it; -: from stdin" },    \
    { "--mode",        0,   "MODE", "how its end is heard of: sync, --wait; poll, when asked; "    \
                                    "callback, its parent is told" },                              \
    { "--max-seconds", 0,   "N",    "how long the turn may take" },                                \
    { "--wait",        'w', NULL,   "wait until it has settled, and print its result" }

const struct option session_start_options[] = {
    TURN_OPTIONS,
    { "--agent",       'a', "NAME", "its role, as `baton agent list` shows them" },
    { "--profile",     0,   "NAME", "its kind of client, where the role does not say (claude)" },
    { "--parent",      0,   "NAME", "the session that it is below" },
    { "--project-dir", 0,   "DIR",  "where it works; here, or where its parent does" },
    { "--project",     0,   "NAME", "the project that it works for: it has that one's state" },
    { "--state",       0,   "ID",   "of a root: the state of its tree ($WORKFLOW_STATE_ID)" },
    { "--pointers",    0,   "POINTER", "a part of the state that it may write; may be repeated" },
    { "--tag",         't', "TAG",  "only a runner with this tag; may be repeated" },
    PLAIN_OPTIONS,
};

const struct option session_resume_options[] = { TURN_OPTIONS, PLAIN_OPTIONS };

const struct option session_result_options[] = {
    { "--wait", 'w', NULL, "wait until it has settled" },
    PLAIN_OPTIONS,
};

const struct option session_plain_options[] = { PLAIN_OPTIONS };

static const struct option stop_options[] = {
    { "--reason", 0, "TEXT", "why, for those who wonder later" },
    PLAIN_OPTIONS,
};
// clang-format on

#define EXITS                                                                         \
    "Exit codes of a result: 0 it finished; 16 it failed; 17 it was stopped; 18 it\n" \
    "has not settled yet."

const struct verb session_verbs[] = {
    {
        .name = "start",
        .args = "NAME",
        .args_min = 1,
        .args_max = 1,
        .summary = "Start an agent, with a name and a prompt",
        .example = "reviewer -a reviewer -p 'Review the last commit' --wait",
        .details =
            "A runner starts it: `baton serve` has one for its own machine, and `baton runner\n"
            "list` shows all. The name is how the session is called from then on.\n"
            "\n" EXITS,
        .options = session_start_options,
        .run = start_run,
    },
    {
        .name = "resume",
        .args = "NAME",
        .args_min = 1,
        .args_max = 1,
        .summary = "Ask an agent that was started for more, in the same conversation",
        .example = "reviewer -p 'And the tests?' --wait",
        .details = "One that is at work gets it as its next turn.\n"
                   "\n" EXITS,
        .options = session_resume_options,
        .run = resume_run,
    },
    {
        .name = "result",
        .args = "NAME",
        .args_min = 1,
        .args_max = 1,
        .summary = "Print what an agent said last",
        .example = "reviewer --wait",
        .details = EXITS,
        .options = session_result_options,
        .run = result_run,
    },
    {
        .name = "tree",
        .args = "[NAME]",
        .args_max = 1,
        .summary = "Show sessions as the trees that they are",
        .example = "reviewer",
        .details =
            "For each: its status, how its result came into the state (update), when it was\n"
            "last heard, what it cost itself and with all below it, and its last words or\n"
            "why it failed. A ! stands in front of what needs you.",
        .options = session_plain_options,
        .run = tree_run,
    },
    {
        .name = "stop",
        .args = "NAME",
        .args_min = 1,
        .args_max = 1,
        .summary = "Stop an agent and all that it has started",
        .example = "reviewer --reason 'wrong branch'",
        .options = stop_options,
        .run = stop_run,
    },
    { 0 },
};
