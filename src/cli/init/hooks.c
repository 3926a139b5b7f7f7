/* hooks.c: hooks of ours in a client's settings: which events, and how they get there. */
#define _GNU_SOURCE /* memmem */
#include "cli/init/hooks.h"

#include "json/pointer.h"

struct hook_event {
    const char *name, *matcher; /* NULL: all */
    int seconds;
};

struct hook_style {
    const char *client;
    const struct hook_event *events; /* end with one without a name */
    bool words;                      /* the command's words are apart, and no shell is between */
    bool named;                      /* a hook has a name */
    int per_second;                  /* units of its time */
    bool waits; /* it goes on behind the agent, which it can wake (cli/hook_wait.h) */
};

/* Only what is looked at is matched, since each call is a process: before tools that a role may
 * have to ask for, which reading ones are not; after those that change what others see, or show what
 * others have changed. */
// clang-format off
static const struct hook_event claude_events[] = {
    { "SessionStart",     NULL, 10 },
    { "UserPromptSubmit", NULL, 10 },
    { "PreToolUse",       "^(Bash|Edit|Write|NotebookEdit|WebFetch|WebSearch|"
                          "mcp__(?!(plugin_baton_)?baton__).*)$", 10 },
    { "PostToolUse",      "^(Agent|Task|TaskCreate|TaskUpdate|TaskList|TaskStop|TodoWrite|"
                          "Read|Edit|MultiEdit|Write|NotebookEdit|"
                          "mcp__.*(state_(patch|update|read)|create_workflow_state|"
                          "update_phase_status))$", 10 },
    { "SubagentStart",    NULL, 10 },
    { "SubagentStop",     NULL, 20 },
    { "TaskCreated",      NULL, 10 },
    { "TaskCompleted",    NULL, 10 },
    { "Stop",             NULL, 20 },
    { "StopFailure",      NULL, 10 },
    { "SessionEnd",       NULL, 10 },
    { 0 },
};

/* There is one from each end of a turn on, and from each prompt on for turns that a person ends, which
 * no event tells of; of several, the server keeps the newest. The time is longer than any session:
 * when it is over, the client ends it without a word. */
static const struct hook_event claude_waits_events[] = {
    { "SessionStart",     NULL, 2000000 },
    { "UserPromptSubmit", NULL, 2000000 },
    { "Stop",             NULL, 2000000 },
    { 0 },
};

static const struct hook_event codex_events[] = {
    { "SessionStart",     NULL, 10 },
    { "UserPromptSubmit", NULL, 10 },
    { "PreToolUse",       "^(Bash|apply_patch|mcp__.*)$", 10 },
    { "PostToolUse",      "^(apply_patch|mcp__.*state_(patch|update|read))$", 10 },
    { "SubagentStart",    NULL, 10 },
    { "SubagentStop",     NULL, 20 },
    { "Stop",             NULL, 20 },
    { "SessionEnd",       NULL, 3 }, /* which it would cut to that, and say so */
    { 0 },
};

static const struct hook_event gemini_events[] = {
    { "SessionStart", NULL, 10 },
    { "BeforeAgent",  NULL, 10 },
    { "BeforeTool",   "^(run_shell_command|write_file|replace|web_fetch|mcp_(?!baton_).*)$", 10 },
    { "AfterTool",    "^(write_todos|tracker_.*|read_file|write_file|replace|"
                      "mcp_.*state_(patch|update|read))$", 10 },
    { "AfterAgent",   NULL, 20 },
    { "SessionEnd",   NULL, 10 },
    { 0 },
};

const struct hook_style claude_hooks = { "claude", claude_events,       true,  false, 1,    false };
const struct hook_style claude_waits = { "claude", claude_waits_events, true,  false, 1,    true  };
const struct hook_style codex_hooks  = { "codex",  codex_events,        false, false, 1,    false };
const struct hook_style gemini_hooks = { "gemini", gemini_events,       false, true,  1000, false };
// clang-format on

/* A word for a shell. */
static str quoted(struct arena *a, str word)
{
    struct buf out = buf_in(a);
    bool plain = true;

    for (size_t i = 0; i < word.len; i++)
        plain = plain && (strchr("/._-+", word.at[i]) || (word.at[i] >= '0' && word.at[i] <= '9') ||
                          ((word.at[i] | 32) >= 'a' && (word.at[i] | 32) <= 'z'));
    if (plain)
        return word;
    buf_byte(&out, '\'');
    for (size_t i = 0; i < word.len; i++) {
        if (word.at[i] == '\'')
            buf_add(&out, STR("'\\'"));
        buf_byte(&out, word.at[i]);
    }
    buf_byte(&out, '\'');
    return buf_str(&out);
}

static str hook_command(const struct wiring *w, const struct hook_style *s)
{
    return s->words
               ? w->baton
               : arena_printf(w->arena, STR_FMT " hook %s%s", STR_ARG(quoted(w->arena, w->baton)),
                              s->client, s->waits ? " --wait" : "");
}

static struct json hook_args(const struct wiring *w, const struct hook_style *s)
{
    struct json args = json_array();

    json_push(w->arena, &args, json_string(STR("hook")));
    json_push(w->arena, &args, json_string(str_from(s->client)));
    if (s->waits)
        json_push(w->arena, &args, json_string(STR("--wait")));
    return args;
}

static struct json hook_group(const struct wiring *w, const struct hook_style *s,
                              const struct hook_event *e)
{
    struct arena *a = w->arena;
    struct json group = json_object(), list = json_array(), hook = json_object();

    if (s->named)
        json_put(a, &hook, STR("name"), json_string(STR("baton")));
    json_put(a, &hook, STR("type"), json_string(STR("command")));
    json_put(a, &hook, STR("command"), json_string(hook_command(w, s)));
    if (s->words)
        json_put(a, &hook, STR("args"), hook_args(w, s));
    json_put(a, &hook, STR("timeout"), json_int(a, (int64_t)e->seconds * s->per_second));
    if (s->waits)
        json_put(a, &hook, STR("asyncRewake"), json_bool(true));
    json_push(a, &list, hook);
    if (e->matcher)
        json_put(a, &group, STR("matcher"), json_string(str_from(e->matcher)));
    json_put(a, &group, STR("hooks"), list);
    return group;
}

static const struct hook_event *event_find(const struct hook_style *s, str name)
{
    for (const struct hook_event *e = s->events; e->name; e++)
        if (str_eq(str_from(e->name), name))
            return e;
    return NULL;
}

/* ---- those that are there ---- */

enum whose { SOMEBODYS, WRAPPED, OURS };

/* A word of a shell without its quotes. */
static str unquoted(struct arena *a, str word)
{
    struct buf out = buf_in(a);

    if (word.len < 2 || word.at[0] != '\'' || word.at[word.len - 1] != '\'')
        return word;
    for (size_t i = 1; i + 1 < word.len; i++) {
        if (str_starts(str_slice(word, i, word.len), STR("'\\'")))
            i += 2;
        buf_byte(&out, word.at[i]);
    }
    return buf_str(&out);
}

/* Whose a hook is. One of ours runs the program that *program is, and nothing else; one that leads to
 * it by something that somebody has put around it is heard of, and is theirs. */
static enum whose hook_whose(const struct wiring *w, const struct hook_style *s,
                             const struct json *hook, str *program)
{
    str command = json_str(hook, "command");
    str end = arena_printf(w->arena, " hook %s%s", s->client, s->waits ? " --wait" : "");
    struct json args = hook_args(w, s);
    const struct json *found = json_get(hook, "args");

    if (found ? !json_equal(found, &args) : !str_ends(command, end))
        return SOMEBODYS;
    str word = found ? command : str_slice(command, 0, command.len - end.len);
    *program = found ? word : unquoted(w->arena, word);
    if (wiring_names_baton(w, *program) && (found || str_eq(quoted(w->arena, *program), word)))
        return OURS;
    return memmem(word.at, word.len, "baton", 5) ? WRAPPED : SOMEBODYS;
}

/* In the way in which it is written there. */
static err hook_mend(const struct wiring *w, const struct hook_style *s, struct json_text *t,
                     str at)
{
    struct hook_style style = *s;

    style.words = json_get(json_text_get(t, at.at), "args") != NULL;
    str pointer = arena_printf(w->arena, STR_FMT "/command", STR_ARG(at));
    struct json command = json_string(hook_command(w, &style));
    if (json_equal(json_text_get(t, pointer.at), &command))
        return NULL;
    return json_text_set(t, pointer.at, &command);
}

/* Matchers that init has written before. */
static const struct {
    const char *client, *event, *matcher;
} former[] = {
    { "claude", "PostToolUse", "^(Agent|TaskUpdate|TaskStop|mcp__.*state_(patch|update))$" },
    { "claude", "PostToolUse",
      "^(Agent|TaskUpdate|TaskStop|Read|Edit|MultiEdit|Write|NotebookEdit|"
      "mcp__.*state_(patch|update|read))$" },
    { "codex", "PostToolUse", "^mcp__.*state_(patch|update)$" },
    { "gemini", "AfterTool", "^(write_todos|tracker_.*|mcp_.*state_(patch|update))$" },
};

/* Of a hook that is alone in its group, such a one becomes today's; one of somebody else's stays. */
static err matcher_mend(const struct wiring *w, const struct hook_style *s, struct json_text *t,
                        str group, const struct hook_event *e)
{
    str pointer = arena_printf(w->arena, STR_FMT "/matcher", STR_ARG(group));
    const struct json *found = json_text_get(t, group.at);

    for (size_t i = 0; e && i < sizeof former / sizeof *former; i++) {
        if (strcmp(former[i].client, s->client) != 0 || strcmp(former[i].event, e->name) != 0 ||
            json_get(found, "hooks")->len != 1 ||
            !str_eq(json_str(found, "matcher"), str_from(former[i].matcher)))
            continue;
        struct json matcher = json_string(str_from(e->matcher));
        return json_text_set(t, pointer.at, &matcher);
    }
    return NULL;
}

struct hook_location {
    str group, hook; /* pointers */
    const struct hook_event *event;
    str program; /* that it runs */
};

/* Takes a hook out, with its group if it was alone in it; false: one of them is not as init writes
 * it. */
static bool hook_drop(const struct wiring *w, const struct hook_style *s, struct json_text *t,
                      const struct hook_location *at)
{
    struct wiring then = { w->arena, at->program, true, NULL };
    const struct json *group = json_text_get(t, at->group.at);
    bool alone = json_get(group, "hooks")->len == 1;
    str taken = alone ? at->group : at->hook;

    if (!at->event || json_text_commented(t, taken.at))
        return false;
    struct json made = hook_group(&then, s, at->event);
    const struct json *hook = json_at(json_get(&made, "hooks"), 0);
    if (!json_equal(json_text_get(t, taken.at), alone ? &made : hook))
        return false;
    json_text_drop(t, taken.at);
    return true;
}

/* Of the hooks of ours for one event, the last is kept, and the others go; all of them, when none is
 * wanted. From the back, so that what is before a hook keeps its number. */
static err event_tidy(const struct wiring *w, const struct hook_style *s, struct json_text *t,
                      str event, const struct hook_event *e, bool *kept)
{
    struct arena *a = w->arena;
    const struct json *groups = json_text_get(t, event.at);

    for (uint32_t g = json_is(groups, JSON_ARRAY) ? groups->len : 0; g-- > 0;) {
        struct hook_location at = { .event = e };
        at.group = arena_printf(a, STR_FMT "/%u", STR_ARG(event), (unsigned)g);
        const struct json *hooks = json_get(json_text_get(t, at.group.at), "hooks");
        for (uint32_t i = json_is(hooks, JSON_ARRAY) ? hooks->len : 0; i-- > 0;) {
            at.hook = arena_printf(a, STR_FMT "/hooks/%u", STR_ARG(at.group), (unsigned)i);
            enum whose whose = hook_whose(w, s, json_text_get(t, at.hook.at), &at.program);
            if (whose == SOMEBODYS)
                continue;
            bool keep = w->wanted && !*kept;
            if (whose == OURS)
                TRY(matcher_mend(w, s, t, at.group, e));
            if (keep && whose == OURS)
                TRY(hook_mend(w, s, t, at.hook));
            bool dropped = !keep && whose == OURS && hook_drop(w, s, t, &at);
            if (!dropped && !w->wanted)
                wiring_note_kept(w, at.hook, "it is not as init writes it");
            *kept = true;
        }
    }
    return NULL;
}

err hooks_put(const struct wiring *w, struct json_text *t, const struct hook_style *s)
{
    const struct json *all = json_text_get(t, "/hooks");
    unsigned kept = 0;

    for (uint32_t i = json_is(all, JSON_OBJECT) ? all->len : 0; i-- > 0;) {
        str name = json_name(&all->members[i]);
        const struct hook_event *e = event_find(s, name);
        struct buf at = buf_in(w->arena);
        bool has = false;
        buf_add(&at, STR("/hooks"));
        json_pointer_add(&at, name);
        if (e || !w->wanted)
            TRY(event_tidy(w, s, t, buf_str(&at), e, &has));
        kept |= e && has ? 1u << (e - s->events) : 0;
    }
    for (const struct hook_event *e = s->events; w->wanted && e->name; e++) {
        struct json group = hook_group(w, s, e);
        if (!(kept >> (e - s->events) & 1))
            TRY(json_text_push(t, arena_printf(w->arena, "/hooks/%s", e->name).at, &group));
    }
    return NULL;
}
