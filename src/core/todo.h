/* todo.h: the list of what there is to do that an agent keeps in its own client.
 *
 * Hooks mirror it in (TaskCreate, TaskUpdate, TodoWrite); it is shown, and compared with the phases of the
 * workflow that the session works on, and is never the truth about them. */
#ifndef CORE_TODO_H
#define CORE_TODO_H

#include "core/session.h"

enum { TODO_ITEMS_MAX = 100, TODO_TEXT_MAX = 300 };

struct todo_list {
    str session_id;
    str items; /* printed JSON array of {"id", "content", "status", "activeForm"} */
    str told;  /* how it differs from a workflow, as its agent was told last; empty: it does not */
    int64_t updated_at_ms;
};

/* The table `todo_list`: see columns.h. */
// clang-format off
#define TODO_LIST_COLUMNS(X, t)                \
    X(session_id, TEXT, INSERT, t->session_id) \
    X(items,      JSON, STORE,  t->items)      \
    X(told,       TEXT, STORE,  t->told)       \
    X(updated_at, TIME, STORE,  t->updated_at_ms)
#define TODO_LIST_NAMES COLUMNS(TODO_LIST_COLUMNS)
// clang-format on

/* Of a session; `found` is false, and the list empty, when nothing was heard of one. */
err todo_load(struct tx *tx, str session_id, struct todo_list *out, bool *found);
err todo_store(struct tx *tx, const struct todo_list *t);

/* Its items, parsed: an array. */
err todo_items(struct tx *tx, const struct todo_list *t, const struct json **out);

#endif
