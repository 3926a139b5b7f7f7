/* prompt_hello.c: who a session is in baton, for an agent that begins to work in it.
 *
 * Agents read it at the start of every conversation, so each line must be worth its tokens. */
#include <assert.h>

#include "core/prompt.h"
#include "core/prompt_private.h"

enum { CHILDREN_MAX = 3 }; /* that are named */

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

err prompt_hello(struct tx *tx, const struct session *s, str *out)
{
    struct buf text = buf_in(tx->arena);

    buf_add(&text, STR("You are session "));
    prompt_name(&text, s->name);
    buf_add(&text, STR(" in baton, which keeps the state of a team of agents"));
    if (s->parent_id.len) {
        buf_add(&text, STR("; you work for session "));
        prompt_name(&text, s->parent_name);
    }
    buf_add(&text, STR(".\n"));
    TRY(state_line(tx, &text, s));
    if (session_owes(s))
        buf_add(&text, STR("You owe it your result: record it with `state_patch` before you "
                           "stop.\n"));
    TRY(children_line(tx, &text, s));
    TRY(callbacks_line(tx, &text, s));
    assert(text.len <= PROMPT_HELLO_BYTES); /* names have at most 60 bytes, ids 100 */
    *out = buf_str(&text);
    return NULL;
}
