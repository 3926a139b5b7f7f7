/* member.c: how sessions become members of a project, and what they hear of each other. */
#include "core/member.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/prompt_private.h"
#include "core/stored.h"

enum {
    VERSIONS_MAX = 20,  /* that an overlap is looked for in */
    POINTERS_MAX = 200, /* of a version */
    VALUE_SHOWN = 80,   /* bytes of a variable that is not followed */
    POINTER_SHOWN = 100,
};

/* ---- where it is ---- */

static str unfollowed(struct tx *tx, str before, const char *variable, str value, const char *why)
{
    return arena_printf(tx->arena, STR_FMT "%s%s=" STR_FMT " is not followed: %s.", STR_ARG(before),
                        before.len ? " " : "", variable, STR_ARG(utf8_cut(value, VALUE_SHOWN)),
                        why);
}

static err project_choose(struct tx *tx, const struct member_place *place, struct project *out,
                          bool *found, str *notice)
{
    *found = false;
    if (str_eq(place->project, STR("off")))
        return NULL;
    if (!place->project.len)
        return place->common_dir.len
                   ? project_at(tx, place->hostname, place->common_dir, out, found)
                   : NULL;
    TRY(project_find(tx, place->project, out, found));
    if (!*found)
        *notice = unfollowed(tx, *notice, "BATON_PROJECT", place->project,
                             "there is no project of that name (baton project list)");
    return NULL;
}

/* The state that whoever runs it has named; several may name one, and none owns it by that. */
static err state_choose(struct tx *tx, struct session *s, const struct member_place *place,
                        str *notice)
{
    struct state state;
    bool owned;
    err e;

    if (!place->state.len || str_eq(place->state, s->state_id))
        return NULL;
    e = state_head(tx, place->state, &state);
    if (e && e->kind != ERR_NOT_FOUND)
        return e;
    if (e) {
        *notice = unfollowed(tx, *notice, "WORKFLOW_STATE_ID", place->state,
                             "there is no such state (baton state list)");
        return NULL;
    }
    if (str_eq(state.id, s->state_id))
        return NULL;
    TRY(session_state_owned(tx, s, &owned));
    if (owned) {
        *notice = unfollowed(tx, *notice, "WORKFLOW_STATE_ID", place->state,
                             "this session has made a state of its own");
        return NULL;
    }
    TRY(session_state_select(tx, s->id, state.id));
    return session_load(tx, s->id, s);
}

err member_settle(struct tx *tx, struct session *s, const struct member_place *place, str *notice)
{
    struct project project;
    bool found = false;

    if (!s->attended || s->parent_id.len)
        return NULL;
    if (!s->project.len)
        TRY(project_choose(tx, place, &project, &found, notice));
    if (found || (place->worktree.len && !str_eq(place->worktree, s->worktree))) {
        s->project = found ? project.name : s->project;
        s->worktree = place->worktree.len ? place->worktree : s->worktree;
        if (!s->hostname.len)
            s->hostname = place->hostname;
        TRY(session_store(tx, s));
    }
    TRY(state_choose(tx, s, place, notice));
    if (found && !s->state_id.len) {
        TRY(session_state_select(tx, s->id, project.state_id));
        TRY(session_load(tx, s->id, s));
    }
    return NULL;
}

/* ---- signs of life ---- */

static err silence_become(struct tx *tx, struct session *s, bool silent)
{
    s->silent = silent;
    TRY(session_store(tx, s));
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);
    write_text(w, STR("session_name"), s->name);
    write_bool(w, STR("silent"), silent);
    return event_end(tx, &data, (struct event){ .type = EVENT_SESSION_UPDATED, .subject = s->id },
                     NULL);
}

/* The due row is looked at when it fires: a sign of life writes none where there is one. */
err member_seen(struct tx *tx, struct session *s)
{
    const struct row *row;

    if (!session_is_member(s))
        return NULL;
    if (s->silent)
        TRY(silence_become(tx, s, false));
    TRY(sql_one(tx->sql, &row, "SELECT 1 FROM due WHERE kind = 'member_silent' AND subject = $1",
                ARGS(TEXT(s->id))));
    return row ? NULL
               : due_add(tx, tx->now_ms + team_rules_of(tx)->member_silent_ms, DUE_MEMBER_SILENT,
                         s->id, 0);
}

err member_due_silent(struct tx *tx, const struct due *due)
{
    struct session s;
    bool found;

    TRY(session_find_id(tx, due->subject, &s, &found));
    if (!found || !session_is_member(&s) || !session_is_live(s.status) || s.silent)
        return NULL;
    int64_t at = s.last_event_at_ms + team_rules_of(tx)->member_silent_ms;
    if (at > tx->now_ms)
        return due_add(tx, at, DUE_MEMBER_SILENT, s.id, 0);
    return silence_become(tx, &s, true);
}

/* ---- two who write the same ---- */

/* Whether one is the other, or lies around it. */
static bool pointers_meet(str a, str b)
{
    if (a.len > b.len) {
        str t = a;
        a = b;
        b = t;
    }
    return str_starts(b, a) && (a.len == b.len || a.len == 0 || b.at[a.len] == '/');
}

/* The first pointer of a patch that meets one of another. */
static bool patches_meet(const struct json *a, const struct json *b, str *where)
{
    for (uint32_t i = 0; i < a->len && i < POINTERS_MAX; i++) {
        str at = json_str(&a->items[i], "path");
        for (uint32_t k = 0; k < b->len && k < POINTERS_MAX; k++) {
            if (!pointers_meet(at, json_str(&b->items[k], "path")))
                continue;
            *where = at;
            return true;
        }
    }
    return false;
}

static str pointer_shown(struct tx *tx, str pointer)
{
    struct json text = json_string(utf8_cut(pointer, POINTER_SHOWN));
    return json_printed(tx->arena, &text);
}

/* Neither is silently overwritten: each can read what the other wrote. */
static err both_told(struct tx *tx, const struct event *e, const struct event *other, str where)
{
    struct session writer, before;
    struct message ignored;
    bool found, both;
    str at = pointer_shown(tx, where);

    TRY(session_find_id(tx, e->session_id, &writer, &found));
    TRY(session_find_id(tx, other->session_id, &before, &both));
    if (!found || !both)
        return NULL;
    err full = message_send(
        tx, &writer,
        arena_printf(tx->arena,
                     "Your write of " STR_FMT " (version %lld of the project's state) changed what "
                     "session `" STR_FMT "` had written there in version %lld. If you had not seen "
                     "that, `state_read` with `version` %lld shows it. It is told, too.",
                     STR_ARG(at), (long long)e->version, STR_ARG(before.name),
                     (long long)other->version, (long long)other->version),
        true, &ignored);
    if (full && full->kind != ERR_LIMIT)
        return full;
    full = message_send(
        tx, &before,
        arena_printf(tx->arena,
                     "Session `" STR_FMT "` changed " STR_FMT
                     " of the project's state in version %lld, which you had written in version "
                     "%lld: `state_read` with `version` %lld shows what you wrote.",
                     STR_ARG(writer.name), STR_ARG(at), (long long)e->version,
                     (long long)other->version, (long long)other->version),
        true, &ignored);
    return full && full->kind != ERR_LIMIT ? full : NULL;
}

/* What others have written since this writer last looked or wrote, the newest first; the first that
 * meets this change is told of. */
static err overlap_find(struct tx *tx, const struct event *e, int64_t since)
{
    const struct json *patch, *theirs;
    const struct event *at = e;
    struct state state;
    str where;

    TRY(state_load(tx, e->subject, &state));
    TRY(stored_parse_as(tx, THING("state", state.id), e->data, JSON_ARRAY, &patch));
    for (int i = 0; i < VERSIONS_MAX; i++) {
        TRY(state_row_before(tx, &state, at, &at));
        if (!at || at->version <= since || !at->data.len)
            return NULL;
        if (!at->session_id.len || str_eq(at->session_id, e->session_id))
            continue;
        TRY(stored_parse_as(tx, THING("state", state.id), at->data, JSON_ARRAY, &theirs));
        if (patches_meet(patch, theirs, &where))
            return both_told(tx, e, at, where);
    }
    return NULL;
}

err member_after_update(struct tx *tx, const struct event *e)
{
    struct session s;
    bool found = false;
    str project;

    if (!e->session_id.len || !e->data.len || e->type != EVENT_STATE_UPDATED)
        return NULL;
    TRY(session_find_id(tx, e->session_id, &s, &found));
    if (!found)
        return NULL;
    TRY(project_of_state(tx, e->subject, &project));
    if (!project.len)
        return NULL;
    int64_t since = s.seen_version > s.wrote_version ? s.seen_version : s.wrote_version;
    return overlap_find(tx, e, tx->seen_version > since ? tx->seen_version : since);
}
