/* git.c: what version control sees in the folder where an agent works. */
#include "runner/git.h"

#include "base/utf8.h"

enum { DIRTY_MAX = 50, LOOK_MS = 10000, STATUS_MAX = 4 << 20, SHOWN_MAX = 20 };

/* ---- reading ---- */

/* Behind so many spaces. */
static str field_after(str line, int spaces)
{
    str before;

    while (spaces-- > 0)
        str_cut(line, ' ', &before, &line);
    return line;
}

/* Where each kind of line has its path. */
static str path_of(str line)
{
    switch (line.len ? line.at[0] : '\0') {
    case '1': return field_after(line, 8);
    case '2': return field_after(line, 9);
    case 'u': return field_after(line, 10);
    case '?': return field_after(line, 1);
    default: return STR("");
    }
}

static void header_take(struct arena *a, struct json *git, str line)
{
    static const struct {
        str prefix;
        const char *member;
    } headers[] = { { { "# branch.oid ", 13 }, "head" }, { { "# branch.head ", 14 }, "branch" } };

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (str_starts(line, headers[i].prefix) && utf8_valid(line) &&
            !json_get(git, headers[i].member))
            json_put(a, git, str_from(headers[i].member),
                     json_string(str_slice(line, headers[i].prefix.len, line.len)));
}

struct json git_read(struct arena *a, str status)
{
    struct json git = json_object(), dirty = json_array();
    str line;

    status = arena_copy(a, status);
    while (status.len) {
        str_cut(status, '\0', &line, &status);
        str path = path_of(line);
        if (path.len && utf8_valid(path) && dirty.len < DIRTY_MAX)
            json_push(a, &dirty, json_string(path));
        if (line.len && line.at[0] == '2')
            str_cut(status, '\0', &line, &status); /* where it was before: not a line */
        else
            header_take(a, &git, line);
    }
    if (!json_get(&git, "head"))
        return json_null();
    json_put(a, &git, STR("dirty"), dirty);
    return git;
}

struct json git_snapshot(struct arena *a, str folder, char *const *env,
                         const struct exec_user *user)
{
    char *argv[] = { "git",
                     "--no-optional-locks",
                     "-c",
                     "core.fsmonitor=false",
                     "status",
                     "-z",
                     "--porcelain=v2",
                     "--branch",
                     NULL };
    struct exec_plan plan = { .argv = argv,
                              .env = env,
                              .folder = arena_copy(a, folder).at,
                              .in = -1,
                              .out = -1,
                              .error = -1,
                              .user = user };
    str status;

    if (!exec_output(a, &plan, LOOK_MS, STATUS_MAX, &status))
        return json_null();
    return git_read(a, status);
}

/* ---- comparing ---- */

static bool lists(const struct json *list, str path)
{
    for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->len; i++)
        if (json_is(&list->items[i], JSON_STRING) && str_eq(json_text(&list->items[i]), path))
            return true;
    return false;
}

/* Paths of one list that are not in the other. */
static void put_new(struct buf *out, const struct json *of, const struct json *not_in,
                    const char *title)
{
    int shown = 0;

    for (uint32_t i = 0; json_is(of, JSON_ARRAY) && i < of->len; i++) {
        const struct json *path = &of->items[i];
        if (!json_is(path, JSON_STRING) || lists(not_in, json_text(path)) || shown >= SHOWN_MAX)
            continue;
        buf_printf(out, "%s " STR_FMT, shown++ ? "," : title, STR_ARG(json_text(path)));
    }
    if (shown)
        buf_byte(out, '\n');
}

static void put_move(struct buf *out, const struct json *before, const struct json *now,
                     const char *member, const char *title)
{
    str was = json_str(before, member), is = json_str(now, member);

    if (!str_eq(was, is))
        buf_printf(out, "- %s: was " STR_FMT ", is now " STR_FMT "\n", title, STR_ARG(was),
                   STR_ARG(is));
}

str git_changes(struct arena *a, const struct json *before, const struct json *now)
{
    struct buf out = buf_in(a);
    size_t begin;

    if (!json_is(before, JSON_OBJECT) || !json_is(now, JSON_OBJECT))
        return STR("");
    buf_add(&out, STR("The project folder has changed since your last turn:\n"));
    begin = out.len;
    put_move(&out, before, now, "branch", "branch");
    put_move(&out, before, now, "head", "commit");
    const struct json *was = json_get(before, "dirty"), *is = json_get(now, "dirty");
    put_new(&out, is, was, "- files with changes that are not committed:");
    put_new(&out, was, is, "- files without such changes any more:");
    return out.len > begin ? buf_str(&out) : STR("");
}
