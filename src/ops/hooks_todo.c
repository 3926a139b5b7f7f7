/* hooks_todo.c: the list of what there is to do that an agent keeps in its client, as its tools tell of it.
 *
 * A hook cannot call a client's tools: where the list is not what the workflow says, the agent is told
 * what to change in it. */
#include "base/utf8.h"
#include "ops/hooks.h"
#include "view/view.h"

enum {
    ID_BYTES_MAX = 100,
    DIFFERENCES_SHOWN = 12,
    TITLE_SHOWN = 120,
};

/* ---- items ---- */

static str text_cut(const struct json *of, const char *name)
{
    return utf8_cut(str_trim(json_str(of, name)), TODO_TEXT_MAX);
}

/* In the words of the list; empty: it is not to be done any more. */
static str status_of(str word)
{
    static const char *const gone[] = { "deleted", "cancelled" };
    static const char *const kept[] = { "in_progress", "completed" };

    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (str_eq(word, str_from(gone[i])))
            return STR("");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (str_eq(word, str_from(kept[i])))
            return str_from(kept[i]);
    return STR("pending");
}

static void item_push(struct arena *a, struct json *list, str id, str content, str status,
                      str active)
{
    struct json item = json_object();

    if (!status.len || !content.len || list->len == TODO_ITEMS_MAX)
        return;
    json_put(a, &item, STR("id"), json_string(utf8_cut(id, ID_BYTES_MAX)));
    json_put(a, &item, STR("content"), json_string(content));
    json_put(a, &item, STR("status"), json_string(status));
    json_put(a, &item, STR("activeForm"), json_string(active));
    json_push(a, list, item);
}

static str number_of(struct arena *a, const struct json *item, uint32_t i)
{
    str id = json_str(item, "id");

    return id.len ? id : arena_printf(a, "%u", i + 1);
}

static const struct json *item_with(const struct json *list, str id)
{
    for (uint32_t i = 0; i < list->len; i++)
        if (str_eq(json_str(&list->items[i], "id"), id))
            return &list->items[i];
    return NULL;
}

/* ---- what tools do to it ---- */

/* TodoWrite, and Gemini's write_todos: the whole list, each time. */
static void list_written(struct arena *a, const struct json *was, const struct json *payload,
                         struct json *out)
{
    const struct json *todos = json_get(json_get(payload, "tool_input"), "todos");

    (void)was;
    for (uint32_t i = 0; json_is(todos, JSON_ARRAY) && i < todos->len; i++) {
        const struct json *t = &todos->items[i];
        str content = text_cut(t, "content");
        item_push(a, out, number_of(a, t, i), content.len ? content : text_cut(t, "description"),
                  status_of(json_str(t, "status")), text_cut(t, "activeForm"));
    }
}

static void task_created(struct arena *a, const struct json *was, const struct json *payload,
                         struct json *out)
{
    const struct json *input = json_get(payload, "tool_input");
    const struct json *task = json_get(json_get(payload, "tool_response"), "task");
    str id = json_str(task, "id");

    for (uint32_t i = 0; i < was->len; i++)
        if (!str_eq(json_str(&was->items[i], "id"), id))
            json_push(a, out, was->items[i]);
    if (id.len)
        item_push(a, out, id, text_cut(input, "subject"), STR("pending"),
                  text_cut(input, "activeForm"));
}

static void task_updated(struct arena *a, const struct json *was, const struct json *payload,
                         struct json *out)
{
    const struct json *input = json_get(payload, "tool_input");
    bool refused = !json_bool_or(json_get(payload, "tool_response"), "success", true);
    str id = json_str(input, "taskId");

    for (uint32_t i = 0; i < was->len; i++) {
        const struct json *item = &was->items[i];
        if (refused || !str_eq(json_str(item, "id"), id)) {
            json_push(a, out, *item);
            continue;
        }
        str content = text_cut(input, "subject"), active = text_cut(input, "activeForm");
        str status = json_str(input, "status");
        item_push(a, out, id, content.len ? content : json_str(item, "content"),
                  status_of(status.len ? status : json_str(item, "status")),
                  active.len ? active : json_str(item, "activeForm"));
    }
}

/* It shows all that there are: what was not heard of is mended by it. */
static void tasks_listed(struct arena *a, const struct json *was, const struct json *payload,
                         struct json *out)
{
    const struct json *tasks = json_get(json_get(payload, "tool_response"), "tasks");

    if (!json_is(tasks, JSON_ARRAY))
        *out = *was;
    for (uint32_t i = 0; json_is(tasks, JSON_ARRAY) && i < tasks->len; i++) {
        const struct json *t = &tasks->items[i];
        str id = json_str(t, "id");
        item_push(a, out, id, text_cut(t, "subject"), status_of(json_str(t, "status")),
                  json_str(item_with(was, id), "activeForm"));
    }
}

// clang-format off
static const struct todo_tool {
    const char *name;
    bool own; /* each agent inside of a client has a list of its own by it */
    void (*change)(struct arena *a, const struct json *was, const struct json *payload, struct json *out);
} tools[] = {
    { "TaskCreate",  false, task_created },
    { "TaskUpdate",  false, task_updated },
    { "TaskList",    false, tasks_listed },
    { "TodoWrite",   true,  list_written },
    { "write_todos", true,  list_written },
};
// clang-format on

err hook_todo_tool_done(struct tx *tx, struct hook *h)
{
    str tool = json_str(h->payload, "tool_name"), printed;
    struct json items = json_array();
    const struct json *was;
    struct todo_list list;
    size_t i = 0;
    bool found;

    while (i < sizeof tools / sizeof *tools && !str_eq(tool, str_from(tools[i].name)))
        i++;
    if (i == sizeof tools / sizeof *tools || (h->inner && tools[i].own))
        return NULL;
    TRY(todo_load(tx, h->s.id, &list, &found));
    TRY(todo_items(tx, &list, &was));
    tools[i].change(tx->arena, was, h->payload, &items);
    printed = json_printed(tx->arena, &items);
    if (found && str_eq(printed, list.items))
        return NULL;
    list.items = printed;
    list.updated_at_ms = tx->now_ms;
    return todo_store(tx, &list);
}

/* ---- what it should say ---- */

/* An entry is a phase's when it has its title in it, or begins with its id. */
static bool is_of(const struct json *item, const struct graph_step *step)
{
    str content = json_str(item, "content");
    str rest = str_slice(content, step->id.len, content.len);
    bool named = str_starts(content, step->id) && (!rest.len || strchr(": -.,", rest.at[0]));

    return named || (step->title.len && str_contains(content, step->title));
}

static const struct json *item_of(const struct json *items, const struct graph_step *step,
                                  bool *taken)
{
    for (uint32_t i = 0; i < items->len; i++)
        if (!taken[i] && is_of(&items->items[i], step)) {
            taken[i] = true;
            return &items->items[i];
        }
    return NULL;
}

static str wanted_status(enum step_status status)
{
    bool done = status == STEP_COMPLETED || status == STEP_SKIPPED;
    bool at_work = status == STEP_IN_PROGRESS || status == STEP_APPROVAL;

    return done ? STR("completed") : at_work ? STR("in_progress") : STR("pending");
}

/* A phase that has failed is not done, whatever else the list says of it. */
static bool is_wrong(enum step_status status, str word)
{
    return status == STEP_FAILED ? str_eq(word, STR("completed"))
                                 : !str_eq(word, wanted_status(status));
}

/* What there is to change; of a workflow that has ended, only what its entries say. */
static str difference_of(const struct view *v, const struct json *items)
{
    struct arena *a = v->tx->arena;
    bool *taken = arena_zero(a, items->len + 1), open = execution_is_open(v->e->status);
    struct buf out = buf_in(a);
    size_t count = 0;

    for (uint16_t i = 0; i < v->count; i++) {
        const struct view_step *s = &v->steps[i];
        const struct json *item = item_of(items, s->step, taken);
        struct json title = json_string(utf8_cut(s->step->title, TITLE_SHOWN));
        bool failed = s->row.status == STEP_FAILED;
        if ((item && !is_wrong(s->row.status, json_str(item, "status"))) || (!item && !open))
            continue;
        if (count++ >= DIFFERENCES_SHOWN)
            continue;
        str shown = json_printed(a, &title), wanted = wanted_status(s->row.status);
        if (item)
            buf_printf(&out, "- entry " STR_FMT ", " STR_FMT ": " STR_FMT "\n",
                       STR_ARG(json_str(item, "id")), STR_ARG(shown),
                       STR_ARG(failed ? STR("not completed, its phase has failed") : wanted));
        else
            buf_printf(&out, "- add " STR_FMT ": " STR_FMT "\n", STR_ARG(shown), STR_ARG(wanted));
    }
    if (count > DIFFERENCES_SHOWN)
        buf_printf(&out, "- and %zu more\n", count - DIFFERENCES_SHOWN);
    return str_trim(buf_str(&out));
}

err hook_todo_differs(struct tx *tx, const struct session *s, const struct todo_list *list,
                      struct execution *e, str *out)
{
    const struct json *items;
    struct view v;
    bool found;

    *out = STR("");
    TRY(session_phases(tx, s, true, e, &found));
    if (!found)
        return NULL;
    err gone = view_load(tx, e, &v);
    if (gone)
        return gone->kind == ERR_CONFLICT ? NULL : gone;
    TRY(todo_items(tx, list, &items));
    *out = difference_of(&v, items);
    return NULL;
}

err hook_todo_tell(struct tx *tx, const struct session *s, struct hook_reply *r)
{
    struct todo_list list;
    struct execution e;
    str difference;
    bool found;

    TRY(todo_load(tx, s->id, &list, &found));
    if (!found)
        return NULL; /* it keeps none */
    TRY(hook_todo_differs(tx, s, &list, &e, &difference));
    if (str_eq(difference, list.told))
        return NULL;
    list.told = difference;
    if (difference.len)
        hook_context_add(r,
                         arena_printf(tx->arena,
                                      "Your task list is not what the workflow " STR_FMT
                                      " says. Change your list, or, where the list is right, say "
                                      "so with update_phase_status:\n" STR_FMT,
                                      STR_ARG(e.id), STR_ARG(difference)));
    return todo_store(tx, &list);
}
