/* top.c: baton top: who is at work, who needs you, and what it costs, live.
 *
 * Events say that something has changed; what there is now is asked for again, at most a
 * few times a second and less often when that takes long. */
#include "cli/top.h"

#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/session_verbs.h"
#include "cli/unheard.h"
#include "client/socket.h"

enum {
    SESSIONS_MAX = 5000,
    FRAME_MS = 200,    /* between two frames, at least */
    PACE = 4,          /* and so many times what it takes to ask */
    REFRESH_MS = 2000, /* what agents do is no event, and ages grow */
    COUNT_MS = 250,    /* while a decision is on its way, its seconds are counted */
    ASK_MS = 5000,
    NAME_MAX_BYTES = 128,
    PROJECTS_MAX = 8, /* that are asked for files */
};

struct top {
    struct cli *cli;
    struct caller caller;
    struct arena *now, *next; /* of what is shown, and of what is asked for */
    struct arena *frame;
    struct json sessions, runs, runners, files, unheard, executions, inbox;
    struct session_tree tree;
    struct top_view view;
    struct top_decisions decisions;
    char selected[NAME_MAX_BYTES];
    char notice[256];
    int wake[2];
    bool keys, stale, over;
    int64_t loaded_ms, took_ms;
    str last;   /* the line of JSON that was printed last */
    char *kept; /* its memory */
    bool rings;
    char *rung; /* those that have not heard and that it has rung for; NULL: it has just begun */
};

/* ---- what there is ---- */

/* A list that this token may not see is not known, which is no error. */
static err list(struct top *t, const char *pattern, const struct url_param *filter,
                const char *member, struct json *out)
{
    bool cut;

    err e = call_pages(&t->caller, t->next, pattern, filter, member, SESSIONS_MAX, out, &cut);
    if (e && e->kind == ERR_FORBIDDEN) {
        *out = json_null();
        return NULL;
    }
    if (out == &t->sessions)
        t->view.cut = cut;
    return e;
}

/* Of a project that two members are at work in, the files that two are at. What cannot be asked, of a
 * server that is older or of a project that is gone, is none. */
static void files_load(struct top *t, str project)
{
    const struct json *answer, *files;

    if (caller_call(&t->caller, t->next,
                    &(struct call){ .method = "GET",
                                    .pattern = "/projects/{name}/files",
                                    PARAMS({ "name", project }, { "shared", STR("true") }) },
                    &answer))
        return;
    files = json_get(answer, "files");
    for (uint32_t i = 0; json_is(files, JSON_ARRAY) && i < files->len; i++)
        json_push(t->next, &t->files, files->items[i]);
}

static void files_load_all(struct top *t)
{
    struct {
        str project;
        int members;
    } seen[PROJECTS_MAX] = { 0 };
    size_t count = 0;

    t->files = json_array();
    for (uint32_t i = 0; json_is(&t->sessions, JSON_ARRAY) && i < t->sessions.len; i++) {
        const struct json *s = &t->sessions.items[i];
        str project = json_str(s, "project");
        size_t k = 0;
        if (!project.len || !json_bool_or(s, "attended", false) ||
            json_bool_or(s, "silent", false) || json_str(s, "ended_at").len)
            continue;
        while (k < count && !str_eq(seen[k].project, project))
            k++;
        if (k == PROJECTS_MAX)
            continue;
        count = k == count ? count + 1 : count;
        seen[k].project = project;
        if (++seen[k].members == 2)
            files_load(t, project);
    }
}

/* What cannot be asked, of a server that is older or not ready, is not known. */
static err load(struct top *t)
{
    struct url_param pending = { "status", STR("pending") };
    struct json sessions = t->sessions, runs = t->runs, runners = t->runners, files = t->files,
                unheard = t->unheard, executions = t->executions, inbox = t->inbox;
    struct call get_ready = { .method = "GET", .pattern = "/ready" };
    const struct json *ready = NULL;
    int64_t begun = socket_clock_ms();

    arena_reset(t->next);
    t->stale = false;
    err e = list(t, "/sessions", NULL, "sessions", &t->sessions);
    if (!e)
        e = list(t, "/runs", &pending, "runs", &t->runs);
    if (!e)
        e = list(t, "/runners", NULL, "runners", &t->runners);
    if (!e && caller_call(&t->caller, t->next, &get_ready, &ready))
        ready = NULL;
    if (!e) {
        files_load_all(t);
        unheard_load(&t->caller, t->next, &t->unheard);
        top_inbox_load(&t->caller, t->next, &t->inbox);
        top_executions_load(&t->caller, t->next, &t->inbox, &t->executions);
    }
    t->loaded_ms = socket_clock_ms();
    t->took_ms = t->loaded_ms - begun;
    if (e) { /* what was there stays */
        t->sessions = sessions;
        t->runs = runs;
        t->runners = runners;
        t->files = files;
        t->executions = executions;
        t->inbox = inbox;
        t->unheard = unheard;
        return e;
    }
    struct arena *gone = t->now;
    t->now = t->next;
    t->next = gone;
    struct tree_source source = { .sessions = &t->sessions,
                                  .runs = &t->runs,
                                  .runners = t->runners.kind == JSON_ARRAY ? &t->runners : NULL,
                                  .now_ms = cli_now_ms(),
                                  .urgent_first = true };
    session_tree_make(t->now, &source, &t->tree);
    t->view.tree = &t->tree;
    t->view.runners = source.runners;
    t->view.own = json_get(ready, "runner");
    t->view.files = t->files.len ? &t->files : NULL;
    t->view.executions = t->executions.len ? &t->executions : NULL;
    t->view.inbox = t->inbox.len ? &t->inbox : NULL;
    t->view.unheard = t->unheard.len ? &t->unheard : NULL;
    return NULL;
}

static int64_t load_due(const struct top *t)
{
    int64_t pace = t->took_ms * PACE > FRAME_MS ? t->took_ms * PACE : FRAME_MS;

    return t->loaded_ms + (t->stale || pace > REFRESH_MS ? pace : REFRESH_MS);
}

/* ---- what is shown ---- */

static void view_fill(struct top *t)
{
    struct cli *c = t->cli;

    t->view.now_ms = cli_now_ms();
    t->view.width = c->terminal ? render_width() : 0;
    t->view.height = t->view.live ? terminal_height() : 0;
    t->view.unicode = session_unicode();
    t->view.coloured = c->coloured;
    t->view.selected = str_from(t->selected);
    t->view.notice = str_from(t->notice);
    t->view.decisions = &t->decisions;
    t->view.clock_ms = socket_clock_ms();
}

static void select_row(struct top *t, size_t row)
{
    size_t count = t->tree.count;

    if (!count)
        return;
    str id = t->tree.rows[row < count ? row : count - 1].node->id;
    id = str_slice(id, 0, sizeof t->selected - 1);
    memcpy(t->selected, id.at, id.len);
    t->selected[id.len] = '\0';
    t->view.selected = str_from(t->selected);
}

/* A session that is gone is not asked about any more, and nothing else takes its place in a
 * question. */
static void selection_keep(struct top *t)
{
    size_t at = top_selected(&t->view);

    if (t->tree.count && str_eq(t->tree.rows[at].node->id, t->view.selected))
        return;
    if (t->view.mode != TOP_WHICH) /* which is about no session */
        t->view.mode = TOP_LIST;
    select_row(t, 0);
}

static void notice_put(struct top *t, str text)
{
    snprintf(t->notice, sizeof t->notice, STR_FMT, STR_ARG(text));
    t->view.notice = str_from(t->notice);
}

/* A number that means something else than what was seen with it decides nothing. */
static void question_keep(struct top *t)
{
    if (t->view.mode != TOP_WHICH || !top_decide_changed(&t->decisions, &t->view))
        return;
    t->view.mode = TOP_LIST;
    notice_put(t, STR("what waits for you has changed: choose again"));
}

/* Whether one is among them that was not before. Whoever begins to look sees them. */
static bool unheard_is_new(struct top *t)
{
    struct buf all = buf_in(t->frame);
    bool fresh = false;

    for (uint32_t i = 0; i < t->unheard.len; i++) {
        const struct json *one = &t->unheard.items[i];
        str name = arena_printf(t->frame, STR_FMT " " STR_FMT "\n",
                                STR_ARG(json_str(one, "session_id")),
                                STR_ARG(json_str(one, "since")));
        fresh = fresh || (t->rung && !str_contains(str_from(t->rung), name));
        buf_add(&all, name);
    }
    str text = buf_str(&all);
    mem_free(t->rung);
    t->rung = mem_alloc(text.len + 1);
    memcpy(t->rung, text.at, text.len);
    t->rung[text.len] = '\0';
    return fresh;
}

static void draw(struct top *t)
{
    arena_reset(t->frame);
    struct buf frame = buf_in(t->frame), out = buf_in(t->frame);

    view_fill(t);
    selection_keep(t);
    question_keep(t);
    top_scroll(&t->view);
    top_frame(&frame, &t->view);
    terminal_frame(&out, buf_str(&frame));
    if (unheard_is_new(t) && t->rings)
        buf_byte(&out, '\a');
    cli_write(t->cli, buf_str(&out));
    if (!cli_flush(t->cli))
        t->over = true;
}

/* A line for each change. */
static void print_json(struct top *t)
{
    arena_reset(t->frame);
    struct buf out = buf_in(t->frame);

    view_fill(t);
    top_json(&out, &t->view);
    if (str_eq(buf_str(&out), t->last))
        return;
    cli_write(t->cli, buf_str(&out));
    t->over = !cli_flush(t->cli);
    mem_free(t->kept);
    t->kept = mem_alloc(out.len);
    memcpy(t->kept, out.at, out.len);
    t->last = (str){ t->kept, out.len };
}

/* ---- keys ---- */

static void key_down(struct top *t)
{
    select_row(t, top_selected(&t->view) + 1);
}

static void key_up(struct top *t)
{
    size_t at = top_selected(&t->view);
    select_row(t, at ? at - 1 : 0);
}

static void key_first(struct top *t)
{
    select_row(t, 0);
}

static void key_last(struct top *t)
{
    select_row(t, t->tree.count);
}

static void key_details(struct top *t)
{
    t->view.mode = t->view.mode == TOP_DETAILS ? TOP_LIST : TOP_DETAILS;
}

static void key_back(struct top *t)
{
    t->view.mode = TOP_LIST;
}

static void key_stop(struct top *t)
{
    if (t->tree.count)
        t->view.mode = TOP_CONFIRM;
}

static void key_quit(struct top *t)
{
    t->over = true;
}

static void ask(struct top *t, const char *decision)
{
    notice_put(t, top_decide_ask(t->frame, &t->decisions, &t->view, decision));
}

static void key_approve(struct top *t)
{
    ask(t, "approve");
}

static void key_reject(struct top *t)
{
    ask(t, "reject");
}

static void key_rework(struct top *t)
{
    ask(t, "rework");
}

static void key_take_back(struct top *t)
{
    notice_put(t, top_decide_take_back(t->frame, &t->decisions));
}

// clang-format off
static const struct {
    const char *bytes;
    void (*act)(struct top *t);
} key_table[] = {
    { "\033[A", key_up },   { "\033OA", key_up },   { "k", key_up },
    { "\033[B", key_down }, { "\033OB", key_down }, { "j", key_down },
    { "g", key_first },     { "G", key_last },
    { "\r", key_details },  { "\n", key_details },
    { "s", key_stop },      { "q", key_quit },
    { "a", key_approve },   { "r", key_reject },
    { "w", key_rework },    { "z", key_take_back },
    { "\033", key_back },   { "\177", key_back },
};
// clang-format on

/* What the person has confirmed. */
static void stop_selected(struct top *t)
{
    const struct tree_node *n = t->tree.rows[top_selected(&t->view)].node;
    const struct json *answer;

    err e = caller_call(&t->caller, t->frame,
                        &(struct call){ .method = "POST",
                                        .pattern = "/sessions/{id}/stop",
                                        .body = STR("{}"),
                                        .key = idempotency_key(t->frame),
                                        .timeout_ms = ASK_MS,
                                        PARAMS({ "id", n->id }) },
                        &answer);
    if (e)
        snprintf(t->notice, sizeof t->notice, STR_FMT, STR_ARG(e->message));
    else
        snprintf(t->notice, sizeof t->notice, STR_FMT " and all below it are told to stop",
                 STR_ARG(n->name));
    t->stale = true;
}

/* Sends the decisions whose time has come, or all. What was not sent is told; the last of that is the
 * error. */
static err decisions_send(struct top *t, bool all)
{
    err last = NULL;
    str says;

    while (t->decisions.count && (all || top_decide_due(&t->decisions) <= socket_clock_ms())) {
        err e = top_decide_send(&t->caller, t->frame, &t->decisions, &says);
        notice_put(t, e ? e->message : says);
        t->stale = true;
        last = e ? e : last;
    }
    terminal_hold(t->decisions.count > 0);
    return last;
}

/* Takes one key off the front. */
static str key_take(struct top *t, str bytes)
{
    t->view.clock_ms = socket_clock_ms();
    if (t->view.mode == TOP_WHICH) {
        notice_put(t, top_decide_which(t->frame, &t->decisions, &t->view, bytes.at[0]));
        return str_slice(bytes, bytes.at[0] == '\033' ? bytes.len : 1, bytes.len);
    }
    if (t->view.mode == TOP_CONFIRM) {
        t->view.mode = TOP_LIST;
        if (bytes.at[0] == 'y' || bytes.at[0] == 'Y')
            stop_selected(t);
        return str_slice(bytes, bytes.at[0] == '\033' ? bytes.len : 1, bytes.len);
    }
    for (size_t i = 0; i < sizeof key_table / sizeof *key_table; i++) {
        str key = str_from(key_table[i].bytes);
        if (!str_starts(bytes, key))
            continue;
        t->notice[0] = '\0';
        key_table[i].act(t);
        return str_slice(bytes, key.len, bytes.len);
    }
    return str_slice(bytes, 1, bytes.len);
}

static void keys_take(struct top *t)
{
    char bytes[64];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);

    if (n <= 0)
        t->keys = false;
    for (str rest = { bytes, n > 0 ? (size_t)n : 0 }; rest.len && !t->over;) {
        rest = key_take(t, rest);
        terminal_hold(t->decisions.count > 0);
        if (!t->over)
            draw(t); /* what a key did is seen, however fast the next one came */
    }
}

/* ---- the loop ---- */

/* Waits until there is something to do. */
static void wait(struct top *t)
{
    struct pollfd fds[2] = { { .fd = t->wake[0], .events = POLLIN },
                             { .fd = t->keys ? STDIN_FILENO : -1, .events = POLLIN } };
    int64_t left = load_due(t) - socket_clock_ms();
    char bytes[256];

    if (t->decisions.count && left > COUNT_MS)
        left = COUNT_MS;
    if (poll(fds, 2, left > 0 ? (int)left : 0) <= 0)
        return;
    if (fds[1].revents)
        keys_take(t);
    if (!fds[0].revents)
        return;
    ssize_t n = read(t->wake[0], bytes, sizeof bytes);
    t->stale = t->stale || (n > 0 && memchr(bytes, 'e', (size_t)n));
}

/* A server that is away comes back; until then what was seen last is shown. */
static void load_again(struct top *t)
{
    bool was_away = str_starts(str_from(t->notice), STR("away: "));

    err e = load(t);
    if (e)
        snprintf(t->notice, sizeof t->notice, "away: " STR_FMT, STR_ARG(e->message));
    else if (was_away)
        t->notice[0] = '\0';
}

static err live(struct top *t)
{
    int made = pipe(t->wake);

    assert(made == 0); /* a process that has just begun has descriptors left */
    fcntl(t->wake[0], F_SETFL, O_NONBLOCK);
    fcntl(t->wake[1], F_SETFL, O_NONBLOCK);
    top_listen(cli_value(t->cli, "--data"), t->wake[1]);
    t->keys = !t->cli->json && isatty(STDIN_FILENO);
    t->view.live = !t->cli->json;
    if (!t->cli->json)
        terminal_take(t->wake[1]);
    while (!t->over) {
        if (t->cli->json)
            print_json(t);
        else
            draw(t);
        wait(t);
        t->over = t->over || terminal_ended();
        if (!t->over && decisions_send(t, false))
            continue; /* what was refused is seen before anything else */
        if (!t->over && socket_clock_ms() >= load_due(t))
            load_again(t);
    }
    err e = decisions_send(t, true);
    if (!t->cli->json)
        terminal_give_back();
    return e ? err_copy(t->cli->arena, e) : NULL;
}

static err once(struct top *t)
{
    struct buf out = buf_in(t->frame);

    view_fill(t);
    if (t->cli->json)
        top_json(&out, &t->view);
    else
        top_frame(&out, &t->view);
    cli_write(t->cli, buf_str(&out));
    return NULL;
}

static err top_run(struct cli *c)
{
    struct top t = { .cli = c, .now = arena_new(), .next = arena_new(), .frame = arena_new() };
    bool one = cli_flag(c, "--once") || (!c->terminal && !c->json);

    caller_init(&t.caller, cli_value(c, "--data"));
    t.caller.timeout_ms = ASK_MS;
    t.last = STR("");
    t.rings = !cli_flag(c, "--no-bell");
    err e = load(&t);
    if (e)
        e = err_copy(c->arena, e);
    else
        e = one ? once(&t) : live(&t);
    caller_release(&t.caller);
    arena_free(t.now);
    arena_free(t.next);
    arena_free(t.frame);
    mem_free(t.kept);
    mem_free(t.rung);
    return e;
}

// clang-format off
static const struct option top_options[] = {
    { "--once", 0, NULL,  "print what there is now, and end" },
    { "--json", 0, NULL,  "one line of JSON, and another one for each change" },
    { "--no-bell", 0, NULL, "do not ring when somebody begins to wait to hear of something" },
    { "--data", 0, "DIR", "ask the server of this data directory" },
    { 0 },
};
// clang-format on

const struct verb top_verb = {
    .name = "top",
    .summary = "Show who is at work, who needs you, and what it costs, live",
    .example = "--once",
    .details = "Trees of sessions: first those with somebody who needs you, marked with !, then\n"
               "those at work, idle ones, and what has ended. Of each: its status, how its\n"
               "result came into the state (update), its role and kind of client, when it was\n"
               "last heard, tokens, what it cost itself and with all below it, runs that wait,\n"
               "and what it did last.\n"
               "\n"
               "A member of a project of which nothing was heard for long is silent. Below the\n"
               "trees are the files that two members are at, with when and how much each wrote,\n"
               "what waits for you with the command to type, and workflows that run: how far each\n"
               "is, and what it waits for.\n"
               "\n"
               "Whoever has not heard of an end or of your message, because the client cannot be\n"
               "woken, is named below them, and the bell of the terminal rings once when one\n"
               "begins to wait; not with --no-bell.\n"
               "\n"
               "What needs you: a root that has failed within the last day, runs that wait while\n"
               "there is no runner, and workflows that stand still until a person has helped.\n"
               "\n"
               "Keys: j, k or arrows move; g, G first, last; enter shows all of one; s stops it,\n"
               "with all below it, after a question; q quits. When the output is no terminal, it\n"
               "prints what there is once.\n"
               "\n"
               "Where something waits for you, a approves it, r rejects it and w has it done\n"
               "anew; of several, a number or enter says which. It is sent after 5 seconds, in\n"
               "which z takes it back. Whoever leaves has decided, and it is sent then.",
    .options = top_options,
    .run = top_run,
};
