/* todos.c: the operation on the list that an agent keeps in its own client of what there is to do. */
#include "ops/hooks.h"
#include "ops/ops.h"
#include "ops/shapes.h"
#include "ops/write.h"

static err session_todos_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct execution e = { .no = 0 };
    struct todo_list list;
    struct session s;
    str differs = STR("");
    bool found;

    TRY(session_see(tx, input_str(in, "session_id"), &s));
    TRY(todo_load(tx, s.id, &list, &found));
    if (found)
        TRY(hook_todo_differs(tx, &s, &list, &e, &differs));
    json_write_begin(w, '{');
    write_text(w, STR("session_id"), s.id);
    write_text(w, STR("session_name"), s.name);
    write_stored(tx, w, STR("todos"), THING("session", s.id), list.items);
    write_time_or_null(w, STR("updated_at"), list.updated_at_ms);
    write_or_null(w, STR("workflow_id"), e.id);
    write_or_null(w, STR("differs"), differs);
    json_write_end(w, '}');
    return NULL;
}

// clang-format off

static const struct op ops[] = {
    {
        .name = "session.todos", .http = "GET /sessions/{session_id}/todos", .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION | BY_VIEWER,
        .summary = "Show what a session's agent lists as to do in its own client, and how that differs from its workflow.",
        .input = FIELDS(JSON("session_id"), JSON(
            "session_id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The session, by id or name." })),
        .output = SHAPE(JSON("session_id", "session_name", "todos", "updated_at", "workflow_id", "differs"), JSON(
            "session_id": { "type": "string", "description": "The session." },
            "session_name": { "type": "string", "description": "Its name." },
            "updated_at": { "type": ["string", "null"], "format": "date-time", "description": "When the list last changed; null: nothing was heard of one." },
            "workflow_id": { "type": ["string", "null"], "description": "The newest workflow of phases that it has, an open one first; null: none, or no list to compare with it." },
            "differs": { "type": ["string", "null"], "description": "What the agent is told to change in its list, a line for each; null: it is as the workflow says." }) ","
            SHAPE_LIST("todos", "As its client's tools told of it, in their order.", SHAPE(JSON("id", "content", "status", "activeForm"), JSON(
                "id": { "type": "string", "description": "How the client calls it." },
                "content": { "type": "string", "description": "What is to be done." },
                "status": { "enum": ["pending", "in_progress", "completed"], "description": "How far it is." },
                "activeForm": { "type": "string", "description": "What its person reads while it is done; often empty." })))),
        .run = session_todos_op,
    },
};
// clang-format on

const struct op_list todo_ops = { ops, sizeof ops / sizeof *ops };
