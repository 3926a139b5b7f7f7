/* names.c: what there is on the server, by name or id. */
#define _GNU_SOURCE /* memmem */
#include "cli/names.h"

enum {
    LINE_MS = 500, /* somebody waits at a prompt with half a word */
};

// clang-format off
static const struct kind {
    const char *name, *pattern, *list, *members[2];
} kinds[] = {
    { "session",    "/sessions",         "sessions",    { "session_name" }     },
    { "state",      "/workflow-states",  "states",      { "name", "state_id" } },
    { "project",    "/projects",         "projects",    { "name" }             },
    { "schema",     "/workflow-schemas", "schemas",     { "name" }             },
    { "agent",      "/agents",           "agents",      { "name" }             },
    { "profile",    "/profiles",         "profiles",    { "name" }             },
    { "run",        "/runs",             "runs",        { "run_id" }           },
    { "runner",     "/runners",          "runners",     { "runner_id" }        },
    { "permission", "/permissions",      "permissions", { "permission_id" }    },
    { "token",      "/tokens",           "tokens",      { "token_id" }         },
    { "workflow",   "/workflows",        "workflows",   { "workflow" }         },
    { "execution",  "/executions",       "executions",  { "execution_id" }     },
    { "job",        "/jobs",             "jobs",        { "job_id" }           },
    { "incident",   "/incidents",        "incidents",   { "incident_id" }      },
    { "approval",   "/approvals",        "approvals",   { "approval_id" }      },
    { "inbox",      "/inbox",            "entries",     { "id" }               },
};

/* Fields that are called otherwise than what they name. */
static const struct {
    const char *field, *kind;
} others[] = {
    { "parent",              "session" },
    { "parent_session_name", "session" },
    { "root",                "session" },
    { "root_session",        "session" },
    { "to",                  "session" },
    { "workflow_state_id",   "state"   },
    { "workflow_id",         "execution" },
};
// clang-format on

enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct kind *kind_find(str name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (str_eq(str_from(kinds[i].name), name))
            return &kinds[i];
    return NULL;
}

/* "[STATE_ID]" and "--state-id" are "state_id"; of "[SESSION|RUN]" the first counts. */
static str field_of(struct arena *a, str called)
{
    struct buf out = buf_in(a);

    for (size_t i = 0; i < called.len && called.at[i] != '|'; i++) {
        char c = called.at[i];
        if (c >= 'A' && c <= 'Z')
            buf_byte(&out, (char)(c - 'A' + 'a'));
        else if ((c >= 'a' && c <= 'z') || (c == '_' && out.len))
            buf_byte(&out, c);
        else if (c == '-' && out.len)
            buf_byte(&out, '_');
    }
    return buf_str(&out);
}

const char *names_kind(struct arena *a, str noun, str called)
{
    str field = field_of(a, called);

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_eq(field, str_from(others[i].field)))
            return others[i].kind;
    if (str_eq(field, STR("name")))
        field = noun;
    else if (str_ends(field, STR("_id")))
        field.len -= 3;
    else if (str_ends(field, STR("_name")))
        field.len -= 5;
    const struct kind *kind = kind_find(field);
    return kind ? kind->name : NULL;
}

err names_list(struct caller *k, struct arena *a, const char *kind, struct json *out)
{
    const struct kind *of = kind_find(str_from(kind));
    struct call call = { .method = "GET", .pattern = of->pattern, PARAMS({ "limit", STR("500") }) };
    const struct json *page, *items;

    TRY(caller_call(k, a, &call, &page));
    items = json_get(page, of->list);
    for (uint32_t i = 0; json_is(items, JSON_ARRAY) && i < items->len; i++) {
        for (size_t m = 0; m < 2 && of->members[m]; m++) {
            str name = json_str(&items->items[i], of->members[m]);
            if (name.len)
                json_push(a, out, json_string(name));
        }
    }
    return NULL;
}

err names_meant(struct cli *c, struct caller *k, err e, const char *kind, str name)
{
    struct json names = json_array();
    struct guess g = { .wanted = name };

    if (!e || e->kind != ERR_NOT_FOUND || c->json || !kind || !name.len ||
        !memmem(e->message.at, e->message.len, name.at, name.len) ||
        strstr(e->message.at, "did you mean") || names_list(k, c->arena, kind, &names))
        return e;
    for (uint32_t i = 0; i < names.len; i++)
        guess_try(&g, arena_copy(c->arena, json_text(&names.items[i])).at);
    if (!g.name || !g.distance) /* none, or it is there, and something of it is not */
        return e;
    return err_new(c->arena, e->kind, STR_FMT "; did you mean '%s'?", STR_ARG(e->message), g.name);
}

/* Shells look at what they offer as at words that were typed. */
static bool is_plain(str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && !memchr("_-.:@/+", c, 7))
            return false;
    }
    return name.len > 0;
}

err names_run(struct cli *c)
{
    struct json names = json_array();
    struct buf out = buf_in(c->arena);
    struct caller k;

    if (!kind_find(str_from(c->args[0])))
        return NULL;
    caller_init(&k, NULL);
    k.timeout_ms = LINE_MS;
    err e = names_list(&k, c->arena, c->args[0], &names);
    caller_release(&k);
    for (uint32_t i = 0; !e && i < names.len; i++)
        if (is_plain(json_text(&names.items[i])))
            buf_printf(&out, STR_FMT "\n", STR_ARG(json_text(&names.items[i])));
    cli_write(c, buf_str(&out));
    return NULL;
}
