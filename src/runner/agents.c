/* agents.c: what agents there are in files, and the one that a run asks for. */
#define _GNU_SOURCE
#include "runner/agents.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "client/agent_file.h"
#include "os/exec.h"

enum {
    OFFERED_MAX = 200,
    TOOLS_MAX = 50,
    NAME_MAX_BYTES = 60,
    DESCRIPTION_MAX = 1000,
    WORD_MAX = 100, /* of a model or a tool */
    FOLDERS_ABOVE_MAX = 64,
    FOLDER_BYTES_MAX = 1200, /* of one that is told: the server takes no longer one */
};

static const char in_project[] = "/.claude/agents";

/* ---- where they are ---- */

static str user_home(struct arena *a, str user)
{
    struct exec_user found;

    if (user.len)
        return exec_user_find(a, user, &found) ? STR("") : found.home;
    return str_from(getenv("HOME"));
}

static str folder_in(struct arena *a, str folder, const char *below)
{
    return folder.len ? arena_printf(a, STR_FMT "%s", STR_ARG(folder), below) : STR("");
}

/* ---- one file ---- */

static bool is_name(str name)
{
    bool good = name.len > 0 && name.len <= NAME_MAX_BYTES;

    for (size_t i = 0; i < name.len && good; i++) {
        char c = name.at[i], low = (char)(c | 0x20);
        good = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    }
    return good;
}

static void bad_add(struct arena *a, struct json *bad, str text)
{
    if (bad)
        json_push(a, bad, json_string(text));
}

/* The members that count, as they stand there. */
static struct json agent_reduced(struct arena *a, const struct json *agent)
{
    static const char *const kept[] = { "name",          "description",    "model",      "tools",
                                        "system_prompt", "initial_prompt", "permissions" };
    struct json out = json_object();

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const struct json *value = json_get(agent, kept[i]);
        if (value)
            json_put(a, &out, str_from(kept[i]), *value);
    }
    return out;
}

/* ---- offers ---- */

struct offers {
    struct arena *arena;
    struct json list;
    struct json *bad;
};

static bool is_offered(const struct json *list, str name, str project, const char *source)
{
    for (uint32_t i = 0; i < list->len; i++)
        if (str_eq(json_str(&list->items[i], "name"), name) &&
            str_eq(json_str(&list->items[i], "project"), project) &&
            str_eq(json_str(&list->items[i], "source"), str_from(source)))
            return true;
    return false;
}

static struct json tools_offered(struct arena *a, const struct json *tools)
{
    struct json out = json_array();

    for (uint32_t i = 0; json_is(tools, JSON_ARRAY) && i < tools->len && out.len < TOOLS_MAX; i++)
        if (json_is(&tools->items[i], JSON_STRING) && tools->items[i].len <= WORD_MAX)
            json_push(a, &out, tools->items[i]);
    return out;
}

static struct json offer_of(struct arena *a, const struct json *agent, str project,
                            const char *source)
{
    str model = json_str(agent, "model");
    struct json out = json_object(), tools = tools_offered(a, json_get(agent, "tools"));

    json_put(a, &out, STR("name"), json_string(json_str(agent, "name")));
    if (project.len)
        json_put(a, &out, STR("project"), json_string(project));
    json_put(a, &out, STR("source"), json_string(str_from(source)));
    json_put(a, &out, STR("description"),
             json_string(utf8_cut(json_str(agent, "description"), DESCRIPTION_MAX)));
    if (model.len && model.len <= WORD_MAX)
        json_put(a, &out, STR("model"), json_string(model));
    if (tools.len)
        json_put(a, &out, STR("tools"), tools);
    return out;
}

static void file_offer(struct offers *all, const struct agent_file *f, str project,
                       const char *source)
{
    str name = json_str(&f->agent, "name");

    if (f->error)
        bad_add(all->arena, all->bad, f->error->message);
    else if (!is_name(name))
        bad_add(all->arena, all->bad,
                arena_printf(all->arena,
                             "%s: expected a name of 1 to %d letters, digits and - _ . , found "
                             "\"" STR_FMT "\"",
                             f->path, NAME_MAX_BYTES, STR_ARG(utf8_cut(name, WORD_MAX))));
    else if (all->list.len < OFFERED_MAX && !is_offered(&all->list, name, project, source))
        json_push(all->arena, &all->list, offer_of(all->arena, &f->agent, project, source));
}

static void folder_offer(struct offers *all, str folder, str project, const char *source)
{
    const struct agent_file *files;
    size_t count;

    if (!folder.len)
        return;
    err e = agent_folder_read(all->arena, folder.at, &files, &count);
    if (e)
        bad_add(all->arena, all->bad, e->message);
    for (size_t i = 0; !e && i < count; i++)
        file_offer(all, &files[i], project, source);
}

/* A run gets those of the folder that it works in or below. */
static void project_offer(struct offers *all, str folder)
{
    if (str_starts(folder, STR("/")) && folder.len <= FOLDER_BYTES_MAX)
        folder_offer(all, folder_in(all->arena, folder, in_project), folder, "project");
}

struct json agents_offered(struct arena *a, const struct runner_options *o,
                           const struct json *projects, struct json *bad)
{
    struct offers all = { .arena = a, .list = json_array(), .bad = bad };
    str home = user_home(a, o->user);
    bool own = o->project_dir.len > 0 && !str_eq(o->project_dir, home);

    for (uint32_t i = 0; json_is(projects, JSON_ARRAY) && i < projects->len; i++) {
        str folder = json_str(&projects->items[i], "folder");
        own = own && !str_eq(folder, o->project_dir);
        project_offer(&all, folder);
    }
    if (own)
        project_offer(&all, o->project_dir);
    folder_offer(&all, folder_in(a, home, in_project), STR(""), "home");
    folder_offer(&all, folder_in(a, o->home, "/agents"), STR(""), "data");
    return all.list;
}

/* ---- the one that a run asks for ---- */

static err folder_find(struct arena *a, str folder, str name, struct buf *looked, struct json *out,
                       bool *found)
{
    const struct agent_file *files;
    size_t count = 0;

    if (!folder.len)
        return NULL;
    buf_printf(looked, "%s" STR_FMT, looked->len ? ", " : "", STR_ARG(folder));
    TRY(agent_folder_read(a, folder.at, &files, &count));
    for (size_t i = 0; i < count && !*found; i++) {
        *found = !files[i].error && str_eq(json_str(&files[i].agent, "name"), name);
        if (*found)
            *out = agent_reduced(a, &files[i].agent);
    }
    return NULL;
}

/* In the folder of the run, and in those above it: the nearest. */
static err project_find(struct arena *a, str dir, str name, struct buf *looked, struct json *out,
                        bool *found)
{
    for (int i = 0; i < FOLDERS_ABOVE_MAX && dir.len > 1 && !*found; i++) {
        TRY(folder_find(a, folder_in(a, dir, in_project), name, looked, out, found));
        do
            dir.len--;
        while (dir.len && dir.at[dir.len] != '/');
    }
    return NULL;
}

err agents_find(struct arena *a, const struct agents_place *p, str source, str name,
                struct json *out)
{
    struct buf looked = buf_in(a);
    bool found = false;

    if (str_eq(source, STR("project")))
        TRY(project_find(a, p->project_dir, name, &looked, out, &found));
    else if (str_eq(source, STR("home")))
        TRY(folder_find(a, folder_in(a, user_home(a, p->user), in_project), name, &looked, out,
                        &found));
    else if (str_eq(source, STR("data")))
        TRY(folder_find(a, folder_in(a, p->data, "/agents"), name, &looked, out, &found));
    if (found)
        return NULL;
    return err_new(a, ERR_NOT_FOUND,
                   "there is no file of an agent \"" STR_FMT "\" any more; looked in: " STR_FMT,
                   STR_ARG(name), STR_ARG(looked.len ? buf_str(&looked) : STR("nowhere")));
}
