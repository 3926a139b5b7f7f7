/* rows.c: the tables row by row, each from its list of columns. */
#include "core/rows.h"

#include <assert.h>

#include "core/agent.h"
#include "core/callback.h"
#include "core/exec/approval.h"
#include "core/exec/incident.h"
#include "core/exec/share.h"
#include "core/file_touch.h"
#include "core/idempotency.h"
#include "core/mirror.h"
#include "core/output.h"
#include "core/permission.h"
#include "core/alias.h"
#include "core/project.h"
#include "core/sub_agent.h"
#include "core/todo.h"
#include "core/token.h"
#include "core/wake_queue.h"

#define TABLE(table, LIST, key_count, after, order, limit)                             \
    .name = #table, .keys = (key_count), .columns = COLUMNS_TABLE(LIST),               \
    .column_count = COLUMNS_COUNT(LIST), .count = "SELECT count(*) FROM " #table,      \
    .times = TIMES_UPDATE(table, LIST), .deadlines = DEADLINES_UPDATE(table, LIST),    \
    .page = "SELECT " COLUMNS(LIST) " FROM " #table " WHERE " after " ORDER BY " order \
                                    " LIMIT " limit,                                   \
    .insert = INSERT_INTO(table, LIST)

/* One whose key is one column, two, or three. */
#define BY_1(table, LIST, key) TABLE(table, LIST, 1, #key " > $1", #key, "$2")
#define BY_3(table, LIST, key, key_2, key_3)                                   \
    TABLE(table, LIST, 3, "(" #key ", " #key_2 ", " #key_3 ") > ($1, $2, $3)", \
          #key ", " #key_2 ", " #key_3, "$4")
#define BY_2(table, LIST, key, key_2) \
    TABLE(table, LIST, 2, "(" #key ", " #key_2 ") > ($1, $2)", #key ", " #key_2, "$3")

/* The log comes first: it is nearly all there is, so the rest adds little to how long it takes. */
const struct rows_table rows_tables[] = {
    { BY_1(log, LOG_COLUMNS, seq) },
    { BY_2(schema, SCHEMA_COLUMNS, name, version) },
    { BY_1(state, STATE_COLUMNS, state_id) },
    { BY_1(token, TOKEN_COLUMNS, token_id) },
    { BY_2(idempotency, IDEMPOTENCY_COLUMNS, actor, key) },
    { BY_2(due, DUE_COLUMNS, kind, subject) },
    { BY_2(entry, ENTRY_COLUMNS, catalog, name) },
    { BY_1(session, SESSION_COLUMNS, session_id) },
    { BY_2(session_event, SESSION_EVENT_COLUMNS, session_id, number) },
    { BY_1(run, RUN_COLUMNS, run_id) },
    { BY_2(run_output, RUN_OUTPUT_COLUMNS, run_id, number) },
    { BY_1(runner, RUNNER_COLUMNS, runner_id) },
    { BY_1(callback, CALLBACK_COLUMNS, callback_id) },
    { BY_1(permission, PERMISSION_COLUMNS, permission_id) },
    { BY_2(alias, ALIAS_COLUMNS, kind, what) },
    { BY_1(project, PROJECT_COLUMNS, name) },
    { BY_2(project_folder, PROJECT_FOLDER_COLUMNS, hostname, common_dir) },
    { BY_1(message, MESSAGE_COLUMNS, message_id) },
    { BY_2(waker, WAKER_COLUMNS, session_id, number) },
    { BY_1(wake_queue, WAKE_QUEUE_COLUMNS, session_id) },
    { BY_2(workflow, WORKFLOW_COLUMNS, name, version) },
    { BY_1(execution, EXECUTION_COLUMNS, no) },
    { BY_3(mark, MARK_COLUMNS, no, scope, n) },
    { BY_2(step, STEP_COLUMNS, no, node) },
    { BY_1(incident, INCIDENT_COLUMNS, incident_id) },
    { BY_1(approval, APPROVAL_COLUMNS, approval_id) },
    { BY_3(share, SHARE_COLUMNS, no, n, number) },
    { BY_1(todo_list, TODO_LIST_COLUMNS, session_id) },
    { BY_2(sub_agent, SUB_AGENT_COLUMNS, session_id, agent_id) },
    { BY_2(file_touch, FILE_TOUCH_COLUMNS, session_id, file) },
    { BY_2(mirror, MIRROR_COLUMNS, project, path) },
    {
        BY_1(replay, REPLAY_COLUMNS,
             replay_id) " ON CONFLICT (replay_id) DO UPDATE SET floor = excluded.floor",
        .seeded = true,
    },
};
const size_t rows_table_count = sizeof rows_tables / sizeof *rows_tables;

_Static_assert(sizeof rows_tables / sizeof *rows_tables <= ROWS_TABLES_MAX,
               "there is room for all");

bool rows_hold_json(const struct rows_table *t)
{
    for (size_t i = 0; i < t->column_count; i++)
        if (t->columns[i].json)
            return true;
    return false;
}

struct sql_args rows_after(const struct rows_table *t, const struct row *last, int64_t limit,
                           struct sql_value room[ROWS_KEYS_MAX + 1])
{
    size_t n = t->keys;

    assert(!last || last->count == t->column_count);
    for (size_t i = 0; i < n; i++) {
        if (last)
            room[i] = last->values[i];
        else
            room[i] = t->columns[i].kind == SQL_INT ? INT(INT64_MIN) : TEXT(STR(""));
    }
    room[n] = INT(limit);
    return (struct sql_args){ room, n + 1 };
}
