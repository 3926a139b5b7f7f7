/* handwritten.c: one pass over the members of each object; a name is told by its length and its bytes, a
 * required member by a bit. */
#include "bench/handwritten.h"

enum { HAS_STATUS = 1, HAS_TASKS = 2, HAS_NAME = 4 };

#define IS(text, literal) (memcmp((text), "" literal, sizeof(literal) - 1) == 0)

static bool task_status_fits(const struct json *v)
{
    if (v->kind != JSON_STRING)
        return false;
    switch (v->len) {
    case 4: return IS(v->text, "done");
    case 6: return IS(v->text, "failed");
    case 7: return IS(v->text, "pending") || IS(v->text, "running");
    }
    return false;
}

static bool task_member_fits(const struct json_member *m, unsigned *has)
{
    switch (m->name_len) {
    case 4:
        if (IS(m->name, "name")) {
            *has |= HAS_NAME;
            return m->value.kind == JSON_STRING;
        }
        return true;
    case 6:
        if (IS(m->name, "status")) {
            *has |= HAS_STATUS;
            return task_status_fits(&m->value);
        }
        return !IS(m->name, "result") || m->value.kind == JSON_STRING;
    case 11: return !IS(m->name, "assigned_to") || m->value.kind == JSON_STRING;
    }
    return true;
}

static bool task_fits(const struct json *task)
{
    unsigned has = 0;

    if (task->kind != JSON_OBJECT)
        return false;
    for (uint32_t i = 0; i < task->len; i++)
        if (!task_member_fits(&task->members[i], &has))
            return false;
    return has == (HAS_NAME | HAS_STATUS);
}

static bool tasks_fit(const struct json *v)
{
    if (v->kind != JSON_ARRAY)
        return false;
    for (uint32_t i = 0; i < v->len; i++)
        if (!task_fits(&v->items[i]))
            return false;
    return true;
}

static bool status_fits(const struct json *v)
{
    if (v->kind != JSON_STRING)
        return false;
    switch (v->len) {
    case 6: return IS(v->text, "review") || IS(v->text, "failed");
    case 7: return IS(v->text, "pending");
    case 9: return IS(v->text, "completed");
    case 11: return IS(v->text, "in_progress");
    }
    return false;
}

static bool member_fits(const struct json_member *m, unsigned *has)
{
    switch (m->name_len) {
    case 5:
        if (IS(m->name, "tasks")) {
            *has |= HAS_TASKS;
            return tasks_fit(&m->value);
        }
        return true;
    case 6:
        if (IS(m->name, "status")) {
            *has |= HAS_STATUS;
            return status_fits(&m->value);
        }
        return true;
    case 7: return !IS(m->name, "summary") || m->value.kind == JSON_STRING;
    case 8: return !IS(m->name, "metadata") || m->value.kind == JSON_OBJECT;
    }
    return true;
}

bool handwritten_check(const struct json *doc)
{
    unsigned has = 0;

    if (doc->kind != JSON_OBJECT)
        return false;
    for (uint32_t i = 0; i < doc->len; i++)
        if (!member_fits(&doc->members[i], &has))
            return false;
    return has == (HAS_STATUS | HAS_TASKS);
}
