/* hooks_file.c: files that tools of clients read and write.
 *
 * A table says how each tool names its file and what it does to it. Whatever a payload holds, what
 * cannot be read is not there: no tool is refused for it. */
#include "core/file_touch.h"
#include "ops/hooks.h"
#include "ops/mirrors.h"

enum { LINES_MAX = 1000 * 1000 }; /* of a change that a client counts itself */

struct files {
    struct file_change list[FILE_TOUCHES_AT_ONCE_MAX];
    size_t count;
};

/* ---- how much ---- */

static int64_t lines_of(str text)
{
    int64_t n = text.len && text.at[text.len - 1] != '\n';

    for (size_t i = 0; i < text.len; i++)
        n += text.at[i] == '\n';
    return n;
}

/* A text in place of another, without the lines that both begin and end with. */
static void count_replaced(str old, str new, struct file_change *c)
{
    size_t head = 0, most = old.len < new.len ? old.len : new.len, whole = 0, tail = 0;

    while (head < most && old.at[head] == new.at[head])
        if (old.at[head++] == '\n')
            whole = head;
    if (head == most && old.len == new.len)
        return;
    old = str_slice(old, whole, old.len);
    new = str_slice(new, whole, new.len);
    most = old.len < new.len ? old.len : new.len;
    whole = 0;
    while (tail < most && old.at[old.len - 1 - tail] == new.at[new.len - 1 - tail])
        if (old.at[old.len - 1 - tail++] == '\n')
            whole = tail - 1; /* the end of the line before stays with it */
    c->removed += lines_of(str_slice(old, 0, old.len - whole));
    c->added += lines_of(str_slice(new, 0, new.len - whole));
}

static str first_str(const struct json *of, const char *const *names, size_t count)
{
    str text = STR("");

    for (size_t i = 0; i < count && !text.len; i++)
        text = json_str(of, names[i]);
    return text;
}
#define FIRST_STR(of, ...)                                \
    first_str((of), (const char *const[]){ __VA_ARGS__ }, \
              sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void count_edit(const struct json *edit, struct file_change *c)
{
    count_replaced(FIRST_STR(edit, "old_string", "oldString"),
                   FIRST_STR(edit, "new_string", "newString"), c);
}

static void count_edits(const struct json *input, struct file_change *c)
{
    const struct json *edits = json_get(input, "edits");

    for (uint32_t i = 0; json_is(edits, JSON_ARRAY) && i < edits->len; i++)
        count_edit(&edits->items[i], c);
}

static void count_content(const struct json *input, struct file_change *c)
{
    c->added += lines_of(FIRST_STR(input, "content", "new_source"));
}

/* What a client has counted, or shows line by line, is better than what can be seen in the input. */
static bool count_response(const struct json *response, struct file_change *c)
{
    const struct json *hunks = json_get(response, "structuredPatch");
    const struct json *stat = json_get(json_get(response, "returnDisplay"), "diffStat");
    int64_t added = json_int_or(stat, "model_added_lines", -1);
    int64_t removed = json_int_or(stat, "model_removed_lines", -1);

    if (added >= 0 && removed >= 0) {
        c->added += added < LINES_MAX ? added : LINES_MAX;
        c->removed += removed < LINES_MAX ? removed : LINES_MAX;
        return true;
    }
    if (!json_is(hunks, JSON_ARRAY) || !hunks->len)
        return false;
    for (uint32_t i = 0; i < hunks->len; i++) {
        const struct json *lines = json_get(&hunks->items[i], "lines");
        for (uint32_t k = 0; json_is(lines, JSON_ARRAY) && k < lines->len; k++) {
            str line = json_is(&lines->items[k], JSON_STRING) ? json_text(&lines->items[k])
                                                              : STR("");
            c->added += str_starts(line, STR("+"));
            c->removed += str_starts(line, STR("-"));
        }
    }
    return true;
}

/* ---- which files ---- */

static const char *const path_members[] = { "file_path", "filePath", "notebook_path",
                                            "absolute_path" };

static struct file_change *file_add(struct files *out, str path)
{
    if (out->count == FILE_TOUCHES_AT_ONCE_MAX)
        return NULL;
    out->list[out->count] = (struct file_change){ .path = path };
    return &out->list[out->count++];
}

/* A patch of many files: lines that name one, and below them the lines that come and go. */
static void patch_read(str text, struct files *out)
{
    static const char *const heads[] = { "*** Add File: ", "*** Update File: ", "*** Delete File: ",
                                         "*** Move to: " };
    struct file_change *at = NULL;
    str line;

    for (bool more = true; more;) {
        more = str_cut(text, '\n', &line, &text);
        if (at) {
            at->added += str_starts(line, STR("+"));
            at->removed += str_starts(line, STR("-"));
        }
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
            str head = str_from(heads[i]);
            if (!str_starts(line, head))
                continue;
            at = file_add(out, str_trim(str_slice(line, head.len, line.len)));
            if (!at)
                return;
        }
    }
}

// clang-format off
static const struct file_tool {
    const char *name;
    enum file_act act;
    void (*count)(const struct json *input, struct file_change *c); /* NULL: a patch, or it reads */
} tools[] = {
    { "Read",         FILE_READ,  NULL          }, /* Claude Code; opencode by its plugin */
    { "Edit",         FILE_WROTE, count_edit    },
    { "MultiEdit",    FILE_WROTE, count_edits   },
    { "Write",        FILE_WROTE, count_content },
    { "NotebookEdit", FILE_WROTE, count_content },
    { "apply_patch",  FILE_WROTE, NULL          }, /* Codex; opencode */
    { "read_file",    FILE_READ,  NULL          }, /* Gemini CLI */
    { "replace",      FILE_WROTE, count_edit    },
    { "write_file",   FILE_WROTE, count_content },
};
// clang-format on

static const struct file_tool *tool_find(str name)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (str_eq(name, str_from(tools[i].name)))
            return &tools[i];
    return NULL;
}

static void files_read(const struct file_tool *tool, const struct json *payload, struct files *out)
{
    const struct json *input = json_get(payload, "tool_input");
    struct file_change *c;

    out->count = 0;
    if (tool->act == FILE_WROTE && !tool->count) {
        patch_read(FIRST_STR(input, "command", "input", "patch", "patchText"), out);
        return;
    }
    c = file_add(out, first_str(input, path_members, sizeof path_members / sizeof *path_members));
    if (tool->count && !count_response(json_get(payload, "tool_response"), c))
        tool->count(input, c);
}

/* ---- before and after ---- */

/* Told once: before, to those who listen then. */
static err pictures_note(struct tx *tx, struct hook *h, enum file_act act,
                         const struct files *files, struct hook_reply *r)
{
    bool told_before = h->client == HOOK_CLAUDE;
    str warning;

    if (act == FILE_READ || told_before != (act == FILE_BEFORE_WRITE))
        return NULL;
    for (size_t i = 0; i < files->count; i++) {
        TRY(mirror_warning(tx, &h->s, json_str(h->payload, "cwd"), files->list[i].path, &warning));
        hook_context_add(r, warning);
    }
    return NULL;
}

/* Some clients tell of a tool's end also when it failed. */
static bool has_failed(const struct json *response)
{
    const struct json *error = json_get(response, "error");

    return (error && !json_is(error, JSON_NULL)) || json_bool_or(response, "is_error", false) ||
           json_bool_or(response, "isError", false);
}

static err files_note(struct tx *tx, struct hook *h, const struct file_tool *tool,
                      enum file_act act, struct hook_reply *r)
{
    struct files *files = ARENA_NEW(tx->arena, struct files);
    str told;

    files_read(tool, h->payload, files);
    TRY(file_touch_note(tx, &h->s, act, json_str(h->payload, "cwd"), files->list, files->count,
                        &told));
    hook_context_add(r, told);
    return pictures_note(tx, h, act, files, r);
}

err hook_file_before(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    const struct file_tool *tool = tool_find(json_str(h->payload, "tool_name"));
    bool shows = h->client == HOOK_CLAUDE; /* others' agents read nothing before a tool */

    if (!tool || tool->act != FILE_WROTE || !shows || r->decision != HOOK_NOTHING)
        return NULL;
    return files_note(tx, h, tool, FILE_BEFORE_WRITE, r);
}

err hook_file_after(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    const struct file_tool *tool = tool_find(json_str(h->payload, "tool_name"));

    if (!tool || has_failed(json_get(h->payload, "tool_response")))
        return NULL;
    return files_note(tx, h, tool, tool->act, r);
}
