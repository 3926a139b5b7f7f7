/* place.c: where an agent is, as its hooks and its tools tell the server. */
#include "cli/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/worktree.h"

str place_host(struct arena *a)
{
    char host[256] = "";

    if (gethostname(host, sizeof host - 1) < 0)
        return STR("localhost");
    return arena_copy(a, str_from(host));
}

static bool is_folder(struct arena *a, str path)
{
    struct stat st;

    return str_starts(path, STR("/")) && !memchr(path.at, '\0', path.len) &&
           stat(arena_copy(a, path).at, &st) == 0 && S_ISDIR(st.st_mode);
}

str place_folder(struct arena *a, str client, str told)
{
    bool claude = str_eq(client, STR("claude"));
    str project = str_from(claude ? getenv("CLAUDE_PROJECT_DIR") : NULL);

    if (project.len)
        return arena_copy(a, project);
    if (!claude && is_folder(a, told))
        return arena_copy(a, told);
    char *here = getcwd(NULL, 0);
    str out = arena_copy(a, str_from(here));
    free(here);
    return out;
}

static bool can_be_told(str text, size_t most)
{
    return text.len && text.len <= most && utf8_valid(text);
}

bool place_is_name(str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] <= ' ' || text.at[i] > '~')
            return false;
    return text.len && text.len <= PLACE_NAME_BYTES_MAX;
}

const char *place_variable(const char *variable)
{
    const char *value = getenv(variable);

    if (!value || !*value)
        return NULL;
    if (place_is_name(str_from(value)))
        return value;
    fprintf(stderr, "baton: %s is not followed: it is no id and no name\n", variable);
    return NULL;
}

size_t place_members(struct arena *a, str folder, struct url_param out[PLACE_MEMBERS])
{
    const char *project = place_variable("BATON_PROJECT");
    struct worktree w = worktree_find(a, folder);
    str host = place_host(a);
    size_t count = 0;

    if (can_be_told(host, PLACE_HOST_BYTES_MAX))
        out[count++] = (struct url_param){ "host", host };
    if (can_be_told(w.common_dir, PLACE_DIR_BYTES_MAX))
        out[count++] = (struct url_param){ "common_dir", w.common_dir };
    if (can_be_told(w.top, PLACE_DIR_BYTES_MAX))
        out[count++] = (struct url_param){ "worktree", w.top };
    if (project)
        out[count++] = (struct url_param){ "project", str_from(project) };
    return count;
}
