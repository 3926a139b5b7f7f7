/* agent_folder.c: the agents of a folder. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "cli/agent_file.h"

enum { FILES_MAX = 1000 };

static const char project_folder[] = ".claude/agents";

static bool is_agent_file(str name)
{
    return name.len && name.at[0] != '.' &&
           (str_ends(name, STR(".md")) || str_ends(name, STR(".json")));
}

/* A file of JSON is the agent itself; its name need not be said twice. */
static err json_agent(struct arena *a, str text, str stem, struct json *out)
{
    const struct json *parsed;

    TRY(json_parse(a, text, NULL, &parsed));
    if (!json_is(parsed, JSON_OBJECT))
        return err_new(a, ERR_INVALID, "expected an object, found %s",
                       json_kind_name(parsed->kind));
    *out = json_copy(a, parsed);
    if (!json_get(out, "name"))
        json_put(a, out, STR("name"), json_string(stem));
    return NULL;
}

static err file_read(struct arena *a, const char *path, struct json *out)
{
    const char *slash = strrchr(path, '/');
    str name = str_from(slash ? slash + 1 : path), text;
    bool markdown = str_ends(name, STR(".md"));
    str stem = str_slice(name, 0, name.len - strlen(markdown ? ".md" : ".json"));
    struct cli nobody = { .arena = a }; /* only "-" would ask it anything */

    TRY(cli_read(&nobody, a, path, &text));
    err e = markdown ? agent_file_parse(a, text, stem, out) : json_agent(a, text, stem, out);
    return e ? err_within(a, e, "%s", path) : NULL;
}

static int by_path(const void *x, const void *y)
{
    return strcmp(((const struct agent_file *)x)->path, ((const struct agent_file *)y)->path);
}

err agent_folder_read(struct arena *a, const char *folder, const struct agent_file **out,
                      size_t *count)
{
    struct agent_file *all = ARENA_ARRAY(a, struct agent_file, FILES_MAX);
    DIR *dir = opendir(folder);
    const struct dirent *d;

    *out = all;
    *count = 0;
    if (!dir && errno == ENOENT)
        return NULL;
    if (!dir)
        return err_new(a, errno == EACCES ? ERR_FORBIDDEN : ERR_INVALID, "cannot read %s: %s",
                       folder, strerror(errno));
    while (*count < FILES_MAX && (d = readdir(dir)))
        if (is_agent_file(str_from(d->d_name)))
            all[(*count)++] =
                (struct agent_file){ .path = arena_printf(a, "%s/%s", folder, d->d_name).at };
    closedir(dir);
    qsort(all, *count, sizeof *all, by_path); /* the order of a folder is nobody's */
    for (size_t i = 0; i < *count; i++)
        all[i].error = file_read(a, all[i].path, &all[i].agent);
    return NULL;
}

err agent_folder_find(struct arena *a, const char *project_dir, str name, const struct json **out)
{
    const struct agent_file *all;
    size_t count;
    err e = NULL;

    *out = NULL;
    TRY(agent_folder_read(a, arena_printf(a, "%s/%s", project_dir, project_folder).at, &all,
                          &count));
    for (size_t i = 0; !*out && i < count; i++) {
        if (!all[i].error && str_eq(json_str(&all[i].agent, "name"), name))
            *out = &all[i].agent;
        str stem = arena_printf(a, "/" STR_FMT ".md", STR_ARG(name));
        if (all[i].error && str_ends(str_from(all[i].path), stem))
            e = all[i].error; /* most likely it is this one, and the reason helps */
    }
    return *out ? NULL : e;
}
