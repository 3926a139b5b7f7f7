/* prompt_hello.c: who a session is in baton, for an agent that begins to work in it.
 *
 * Agents read it at the start of every conversation, so each line must be worth its tokens. */
#include <assert.h>

#include "base/utf8.h"
#include "core/prompt.h"
#include "core/prompt_private.h"
#include "core/stored.h"

enum {
    CHILDREN_MAX = 3, /* that are named */
    MEMBERS_MAX = 3,  /* of the other members */
    GOAL_BYTES = 120, /* of what is shown of others' words */
    WORDS_BYTES = 40,
    VERSIONS_MAX = 50, /* that changes are looked for in */
    CHANGES_MAX = 4,   /* that are named */
    POINTER_BYTES = 40,
    MINUTE_MS = 60 * 1000,
};

static err state_line(struct tx *tx, struct buf *out, const struct session *s)
{
    struct state state;

    if (!s->state_id.len) {
        buf_add(out, s->parent_id.len ? STR("Its tree has no workflow state yet.\n")
                                      : STR("It has no workflow state yet; `state_create` makes "
                                            "one for it and all that it starts.\n"));
        return NULL;
    }
    TRY(state_load(tx, s->state_id, &state));
    buf_add(out, STR("Workflow state: "));
    prompt_name(out, s->state_id);
    buf_printf(out, ", version %lld; read what you need of it with `state_read`.\n",
               (long long)state.version);
    return NULL;
}

static err children_line(struct tx *tx, struct buf *out, const struct session *s)
{
    const struct row *rows, *number;
    size_t count;

    TRY(sql_one(tx->sql, &number,
                "SELECT count(*) FROM session WHERE parent_id = $1 AND settled = 0",
                ARGS(TEXT(s->id))));
    if (row_int(number, 0) == 0)
        return NULL;
    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT name FROM session WHERE parent_id = $1 AND settled = 0"
                " ORDER BY session_id LIMIT $2",
                ARGS(TEXT(s->id), INT(CHILDREN_MAX))));
    buf_add(out, STR("At work below you: "));
    for (size_t i = 0; i < count; i++) {
        buf_add(out, i ? STR(", ") : STR(""));
        prompt_name(out, row_str(&rows[i], 0));
    }
    if (row_int(number, 0) > (int64_t)count)
        buf_printf(out, " and %lld more", (long long)(row_int(number, 0) - (int64_t)count));
    buf_add(out, STR("; you will hear of their ends.\n"));
    return NULL;
}

static err callbacks_line(struct tx *tx, struct buf *out, const struct session *s)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT count(*) FROM callback WHERE parent_id = $1 AND status = 'waiting'",
                ARGS(TEXT(s->id))));
    int64_t count = row_int(row, 0);
    if (count)
        buf_printf(out, "Ends of children that wait to be told to you: %lld.\n", (long long)count);
    return NULL;
}

/* ---- members ---- */

/* Words of others, quoted, and cut. */
static void quoted_add(struct buf *out, str words, size_t most)
{
    struct json text = json_string(utf8_cut(words, most));

    json_print(out, &text);
    if (words.len > most)
        buf_add(out, STR("…"));
}

/* Each part is there whole, or not at all: what does not fit is not half told. */
static bool part_add(struct buf *out, str part, size_t most)
{
    if (out->len + part.len > most)
        return false;
    buf_add(out, part);
    return true;
}

static err goal_part(struct tx *tx, const struct state *state, str *out)
{
    struct buf text = buf_in(tx->arena);
    const struct json *doc;

    *out = STR("");
    TRY(stored_parse(tx, THING("state", state->id), state->body, &doc));
    str goal = json_str(doc, "goal");
    if (!goal.len)
        return NULL;
    buf_add(&text, STR("Its goal: "));
    quoted_add(&text, goal, GOAL_BYTES);
    buf_add(&text, STR(".\n"));
    *out = buf_str(&text);
    return NULL;
}

/* Who else is at work, the last heard first, and on what. */
static err others_part(struct tx *tx, const struct session *s, struct buf *out)
{
    const struct row *rows, *number;
    size_t count;

    TRY(sql_one(tx->sql, &number,
                "SELECT count(*) FROM session WHERE project = $1 AND project <> ''"
                " AND attended = 1 AND live = 1 AND silent = 0 AND session_id <> $2",
                ARGS(TEXT(s->project), TEXT(s->id))));
    int64_t others = row_int(number, 0);
    if (others == 0) {
        buf_add(out, STR("No other member is at work.\n"));
        return NULL;
    }
    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT name, last_event, last_event_at FROM session"
                " WHERE project = $1 AND project <> '' AND attended = 1 AND live = 1"
                " AND silent = 0 AND session_id <> $2 ORDER BY last_event_at DESC, session_id"
                " LIMIT $3",
                ARGS(TEXT(s->project), TEXT(s->id), INT(MEMBERS_MAX))));
    buf_add(out, STR("At work here, too: "));
    for (size_t i = 0; i < count; i++) {
        buf_add(out, i ? STR(", ") : STR(""));
        prompt_name(out, row_str(&rows[i], 0));
        buf_add(out, STR(" ("));
        quoted_add(out, row_str(&rows[i], 1), WORDS_BYTES);
        buf_printf(out, ", %lld min ago)",
                   (long long)((tx->now_ms - row_int(&rows[i], 2)) / MINUTE_MS));
    }
    if (others > (int64_t)count)
        buf_printf(out, " and %lld more", (long long)(others - (int64_t)count));
    buf_add(out, STR("; `send_message` reaches them.\n"));
    return NULL;
}

/* The places that others have changed since it looked, each once with who did so last. */
static err changes_part(struct tx *tx, const struct session *s, const struct state *state,
                        struct buf *out)
{
    str shown[CHANGES_MAX];
    size_t shown_count = 0, more = 0;
    const struct event *rows;
    const struct json *patch;
    size_t count;
    bool cut;

    TRY(state_history(tx, state, 0, VERSIONS_MAX, &rows, &count, &cut));
    for (size_t i = 0; i < count && rows[i].version > s->seen_version; i++) {
        if (!rows[i].data.len || str_eq(rows[i].session_id, s->id))
            continue;
        TRY(stored_parse_as(tx, THING("state", state->id), rows[i].data, JSON_ARRAY, &patch));
        for (uint32_t k = 0; k < patch->len; k++) {
            str at = json_str(&patch->items[k], "path");
            size_t n = 0;
            while (n < shown_count && !str_eq(shown[n], at))
                n++;
            if (n < shown_count)
                continue;
            if (shown_count == CHANGES_MAX) {
                more++;
                continue;
            }
            buf_add(out, shown_count ? STR(", ") : STR("Changed by others since you looked: "));
            quoted_add(out, at, POINTER_BYTES);
            buf_add(out, STR(" by "));
            prompt_name(out, rows[i].actor);
            shown[shown_count++] = at;
        }
    }
    if (shown_count == 0)
        return NULL;
    if (more)
        buf_printf(out, " and %zu more", more);
    buf_printf(out, "; `state_read` with `since_version` %lld shows what.\n",
               (long long)s->seen_version);
    return NULL;
}

err prompt_changes(struct tx *tx, struct session *s, str *out)
{
    struct buf text = buf_in(tx->arena);
    struct state state;

    *out = STR("");
    if (!session_is_member(s) || !s->state_id.len)
        return NULL;
    TRY(state_load(tx, s->state_id, &state));
    if (state.version <= s->seen_version)
        return NULL;
    if (s->seen_version)
        TRY(changes_part(tx, s, &state, &text));
    s->seen_version = state.version;
    TRY(session_store(tx, s));
    *out = buf_str(&text);
    return NULL;
}

/* The last that it was told, for a conversation that may have died with it. */
static err told_part(struct tx *tx, const struct session *s, struct buf *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT callback_id, child_name FROM callback WHERE parent_id = $1"
                " AND status = 'delivered' ORDER BY delivered_at DESC, seq DESC LIMIT 1",
                ARGS(TEXT(s->id))));
    if (!row)
        return NULL;
    buf_printf(out, "Told last: [" STR_FMT "] the end of ", STR_ARG(row_str(row, 0)));
    prompt_name(out, row_str(row, 1));
    buf_add(out, STR(".\n"));
    return NULL;
}

static err member_hello(struct tx *tx, struct session *s, bool resumed, str *out)
{
    struct buf text = buf_in(tx->arena);
    struct buf others = buf_in(tx->arena), below = buf_in(tx->arena), told = buf_in(tx->arena);
    str goal, changes;
    struct state state;

    buf_add(&text, STR("You are session "));
    prompt_name(&text, s->name);
    buf_add(&text, STR(" of project "));
    prompt_name(&text, s->project);
    buf_add(&text, STR(" in baton"));
    if (s->state_id.len) {
        TRY(state_load(tx, s->state_id, &state));
        buf_printf(&text,
                   ". Its agents share one state, version %lld: read it with `state_read`, record "
                   "plan, decisions and findings with `state_patch`.\n",
                   (long long)state.version);
        TRY(goal_part(tx, &state, &goal));
        part_add(&text, goal, PROMPT_MEMBER_BYTES);
    } else {
        buf_add(&text, STR(".\n"));
    }
    TRY(children_line(tx, &below, s));
    TRY(callbacks_line(tx, &below, s));
    part_add(&text, buf_str(&below), PROMPT_MEMBER_BYTES);
    TRY(others_part(tx, s, &others));
    part_add(&text, buf_str(&others), PROMPT_MEMBER_BYTES);
    if (resumed)
        TRY(told_part(tx, s, &told));
    part_add(&text, buf_str(&told), PROMPT_MEMBER_BYTES);
    TRY(prompt_changes(tx, s, &changes));
    part_add(&text, changes, PROMPT_MEMBER_BYTES);
    *out = buf_str(&text);
    return NULL;
}

/* The step that it works for, and how that is recorded; what is too long to be shown its tool knows. */
static err task_line(struct tx *tx, struct buf *out, const struct session *s)
{
    enum { SHOWN = 60 };
    const struct json *task;

    TRY(stored_parse_as(tx, THING("session", s->id), s->task, JSON_OBJECT, &task));
    str step = json_str(task, "step"), id = json_str(task, "workflow_id");
    buf_add(out, STR("You work for "));
    if (step.len <= SHOWN && id.len <= SHOWN) {
        buf_add(out, STR("step "));
        prompt_name(out, step);
        buf_add(out, STR(" of workflow "));
        prompt_name(out, id);
    } else {
        buf_add(out, STR("a step of a workflow"));
    }
    buf_printf(out, ": record its result with `" STR_FMT "` before you stop.\n",
               STR_ARG(json_str(task, "tool")));
    return NULL;
}

err prompt_hello(struct tx *tx, struct session *s, bool resumed, str *out)
{
    struct buf text = buf_in(tx->arena);

    if (session_is_member(s))
        return member_hello(tx, s, resumed, out);
    buf_add(&text, STR("You are session "));
    prompt_name(&text, s->name);
    buf_add(&text, STR(" in baton, which keeps the state of a team of agents"));
    if (s->parent_id.len) {
        buf_add(&text, STR("; you work for session "));
        prompt_name(&text, s->parent_name);
    }
    buf_add(&text, STR(".\n"));
    TRY(state_line(tx, &text, s));
    if (s->task.len)
        TRY(task_line(tx, &text, s));
    else if (session_owes(s))
        buf_add(&text, STR("You owe it your result: record it with `state_patch` before you "
                           "stop.\n"));
    TRY(children_line(tx, &text, s));
    TRY(callbacks_line(tx, &text, s));
    if (resumed)
        TRY(told_part(tx, s, &text));
    assert(text.len <= PROMPT_HELLO_BYTES); /* names have at most 60 bytes, ids 100 */
    *out = buf_str(&text);
    return NULL;
}
