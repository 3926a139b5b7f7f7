/* session_event.c: what agents and hooks tell of themselves. */
#include <assert.h>

#include "base/utf8.h"
#include "core/columns.h"
#include "core/session.h"

enum { LAST_EVENT_BYTES = 160 }; /* of the last event: enough for one line */

/* ---- the last sign of life ---- */

/* The first words of an event: of a message its content, of the others their type and tool. */
static str event_words(struct tx *tx, str type, str data)
{
    const struct json *json = NULL;
    err unread = json_parse_own(tx->arena, data, &json);
    str text = unread ? STR("") : json_str(json, "content");
    str tool = unread ? STR("") : json_str(json, "tool_name");

    if (!text.len)
        text = tool.len ? arena_printf(tx->arena, STR_FMT " " STR_FMT, STR_ARG(type), STR_ARG(tool))
                        : type;
    return utf8_cut(text, LAST_EVENT_BYTES);
}

/* The next turn of work of an attended session begins with whatever it says first. */
static err work_begin(struct tx *tx, struct session *s)
{
    TRY(session_reopen(tx, s, s->calls_back));
    if (s->status == SESSION_RUNNING)
        return NULL;
    s->update_attempts = 0;
    s->error = STR("");
    if (s->update == UPDATE_COMPLETED || s->update == UPDATE_SKIPPED)
        s->update = UPDATE_NONE;
    return session_become(tx, s, SESSION_RUNNING);
}

/* ---- the list ---- */

err session_event_note(struct tx *tx, struct session *s, str type, str data, int64_t *number)
{
    int64_t most = team_rules_of(tx)->session_events;
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT coalesce(max(number), 0) FROM session_event WHERE session_id = $1",
                ARGS(TEXT(s->id))));
    assert(row);
    *number = row_int(row, 0) + 1;
    struct session_event event = { s->id, *number, type, tx->now_ms, data };
    TRY(sql_exec(tx->sql, INSERT_INTO(session_event, SESSION_EVENT_COLUMNS),
                 ARGS(VALUES(SESSION_EVENT_COLUMNS, (&event)))));
    TRY(sql_exec(tx->sql, "DELETE FROM session_event WHERE session_id = $1 AND number <= $2",
                 ARGS(TEXT(s->id), INT(*number - most))));
    s->last_event = event_words(tx, type, data);
    s->last_event_at_ms = tx->now_ms;
    if (!str_eq(type, STR("session_end"))) { /* that changes nothing about what was in its way */
        s->notice = STR("");
        s->notice_until_ms = 0;
    }
    return session_store(tx, s);
}

bool session_is_limited(const struct session *s)
{
    return str_starts(s->notice, STR("rate_limit"));
}

err session_event_add(struct tx *tx, struct session *s, str type, str data, int64_t *number)
{
    TRY(session_event_note(tx, s, type, data, number));
    return s->attended && !str_eq(type, STR("session_stop")) ? work_begin(tx, s) : NULL;
}

err session_event_list(struct tx *tx, str session_id, int64_t after, int64_t limit,
                       const struct session_event **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " SESSION_EVENT_NAMES " FROM session_event"
                " WHERE session_id = $1 AND number > $2 ORDER BY number LIMIT $3",
                ARGS(TEXT(session_id), INT(after), INT(limit))));
    struct session_event *all = ARENA_ARRAY(tx->arena, struct session_event, *count);
    for (size_t i = 0; i < *count; i++)
        COLUMNS_READ(SESSION_EVENT_COLUMNS, tx, &rows[i], "session", (&all[i]));
    assert(!*count || all[0].number > after);
    *out = all;
    return NULL;
}
