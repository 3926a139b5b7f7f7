/* team_check.c: what must be true of a team in the end, by the log and by its agents' record. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "black/team.h"

/* ---- the agents' own record ---- */

/* A file of prompts/: who was asked, in which run, as which process. */
struct asked {
    str name, run_id;
    pid_t pid;
    const char *path;
};

static int by_run(const void *a, const void *b)
{
    const struct asked *x = a, *y = b;
    return str_compare(x->run_id, y->run_id);
}

/* All of them, by run. */
static const struct asked *asked_list(size_t *count)
{
    struct arena *a = check_arena();
    struct asked *all = NULL;
    size_t room = 0;
    DIR *folder = opendir("prompts");
    const struct dirent *entry;

    *count = 0;
    while (folder && (entry = readdir(folder))) {
        str rest, number;
        struct asked one = { .path = arena_printf(a, "prompts/%s", entry->d_name).at };
        if (!str_cut(arena_copy(a, str_from(entry->d_name)), '.', &one.name, &rest) ||
            !str_cut(rest, '.', &one.run_id, &number) || !one.name.len)
            continue;
        one.pid = (pid_t)atoi(number.at);
        if (*count == room) {
            all = arena_grow(a, all, room * sizeof *all, (room + 64) * 2 * sizeof *all);
            room = (room + 64) * 2;
        }
        all[(*count)++] = one;
    }
    if (folder)
        closedir(folder);
    if (*count)
        qsort(all, *count, sizeof *all, by_run);
    return all;
}

int team_starts(const char *name)
{
    size_t count;
    const struct asked *all = asked_list(&count);
    int starts = 0;

    for (size_t i = 0; i < count; i++)
        starts += str_eq(all[i].name, str_from(name));
    return starts;
}

str team_prompts(str name)
{
    struct buf out = buf_in(check_arena());
    size_t count;
    const struct asked *all = asked_list(&count);

    for (size_t i = 0; i < count; i++)
        if (str_eq(all[i].name, name))
            buf_add(&out, check_read(all[i].path));
    return buf_str(&out);
}

static struct asked asked_of(struct team *t, const char *name, int n)
{
    str run_id = json_str(team_run_of(t, name, n), "run_id");
    size_t count;
    const struct asked *all = asked_list(&count);

    for (size_t i = 0; i < count; i++)
        if (str_eq(all[i].run_id, run_id))
            return all[i];
    check_fail(__FILE__, __LINE__, "no agent was started for " STR_FMT " of %s", STR_ARG(run_id),
               name);
}

str team_prompt(struct team *t, const char *name, int n)
{
    return check_read(asked_of(t, name, n).path);
}

pid_t team_pid(struct team *t, const char *name, int n)
{
    return asked_of(t, name, n).pid;
}

/* Those that have ended and that nobody has asked for do not count. */
bool team_is_gone(pid_t group)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    bool gone = true;

    while (proc && gone && (entry = readdir(proc))) {
        char path[300], line[1024], state;
        int of;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *in = fopen(path, "re");
        const char *end = in && fgets(line, sizeof line, in) ? strrchr(line, ')') : NULL;
        if (end && sscanf(end + 1, " %c %*d %d", &state, &of) == 2)
            gone = of != group || state == 'Z' || state == 'X';
        if (in)
            fclose(in);
    }
    if (proc)
        closedir(proc);
    return gone;
}

int team_check_agents(void)
{
    size_t count;
    const struct asked *all = asked_list(&count);

    for (size_t i = 0; i < count; i++) {
        if (i && str_eq(all[i].run_id, all[i - 1].run_id))
            check_fail(__FILE__, __LINE__, "two agents were started for " STR_FMT " of " STR_FMT,
                       STR_ARG(all[i].run_id), STR_ARG(all[i].name));
        if (!team_is_gone(all[i].pid))
            check_fail(__FILE__, __LINE__, "of the agent of %s, processes are left", all[i].path);
    }
    return (int)count;
}

/* ---- the log ---- */

static const struct json *session_of(const struct json *sessions, str id)
{
    for (uint32_t i = 0; i < sessions->len; i++)
        if (str_eq(json_str(&sessions->items[i], "session_id"), id))
            return &sessions->items[i];
    return NULL;
}

/* How often the end of this cycle was told, and not before it was one. */
static int told(const struct json *settled, const struct json *delivered)
{
    str child = json_str(settled, "subject");
    int64_t cycle = json_int_or(json_get(settled, "data"), "cycle", -1);
    int count = 0;

    for (uint32_t i = 0; i < delivered->len; i++) {
        const struct json *e = &delivered->items[i], *data = json_get(e, "data");
        if (!str_eq(json_str(data, "child_id"), child) || json_int_or(data, "cycle", 0) != cycle)
            continue;
        CHECK(json_int_or(e, "seq", 0) > json_int_or(settled, "seq", 0));
        count++;
    }
    return count;
}

void team_check_told(const struct json *sessions, const struct json *settled,
                     const struct json *delivered, int unheard)
{
    int64_t heard = 0;

    for (uint32_t i = 0; i < sessions->len; i++)
        if (!json_bool_or(&sessions->items[i], "settled", false))
            check_fail(__FILE__, __LINE__, "it has not settled: " STR_FMT,
                       STR_ARG(json_printed(check_arena(), &sessions->items[i])));
    for (uint32_t i = 0; i < settled->len; i++) {
        const struct json *e = &settled->items[i];
        const struct json *s = session_of(sessions, json_str(e, "subject"));
        bool calls = s && json_bool_or(s, "callback", false);
        int times = told(e, delivered);
        if (times == 0 && calls)
            unheard--;
        if (times > 1 || (times == 0 && calls && unheard < 0))
            check_fail(__FILE__, __LINE__, "this was told %d times: " STR_FMT, times,
                       STR_ARG(json_printed(check_arena(), e)));
        heard += times;
    }
    CHECK_INT(unheard, 0);
    CHECK_INT(heard, delivered->len); /* nothing was told that had not settled */
}
