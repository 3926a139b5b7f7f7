/* plan.c: which files of a project would change, and how. */
#define _GNU_SOURCE
#include "base/utf8.h"
#include "cli/init/init.h"
#include "cli/init/json.h"
#include "cli/init/text.h"

enum { CHANGES_MAX = 16 };

/* ---- files of clients ---- */

/* The one that is there, of the names that it may have. */
static err file_read(struct arena *a, str root, const struct wire_file *w, struct init_file *out)
{
    struct init_file other;

    TRY(init_file_read(a, root, w->path, out));
    if (out->exists || !w->instead)
        return NULL;
    TRY(init_file_read(a, root, w->instead, &other));
    if (other.exists)
        *out = other;
    return NULL;
}

/* What a file would say that has nothing but what is ours. */
static str all_of_ours(const struct wiring *w, wire_edit *edit)
{
    struct wiring wanted = { w->arena, w->baton, true, NULL };
    str out = STR("");

    return edit(&wanted, STR(""), &out) ? STR("") : out;
}

static void change_plan(struct wiring w, str root, const struct wire_file *f,
                        struct init_change *out)
{
    struct buf kept = buf_in(w.arena);

    w.kept = &kept;
    *out = (struct init_change){ .client = f->client, .by_hand = STR("") };
    out->file.path = f->path;
    out->refused = file_read(w.arena, root, f, &out->file);
    if (!out->refused) {
        err e = f->edit(&w, out->file.text, &out->after);
        out->refused = e ? err_within(w.arena, e, "%s", out->file.path) : NULL;
    }
    out->kept = buf_str(&kept);
    if (out->refused)
        out->by_hand = all_of_ours(&w, f->edit);
}

err init_server_file(struct arena *a, str root, enum client_id id, struct init_file *out)
{
    const struct wire_file *f = wire_files;

    while (f->client != id)
        f++;
    return file_read(a, root, f, out);
}

bool init_wired(struct arena *a, str root, enum client_id id)
{
    struct buf kept = buf_in(a);
    struct wiring w = { a, STR("baton"), false, &kept };

    for (const struct wire_file *f = wire_files; f->path; f++) {
        struct init_file file;
        str without;
        if (f->client == id && !file_read(a, root, f, &file) && file.exists &&
            (f->edit(&w, file.text, &without) || !str_eq(without, file.text) || kept.len))
            return true;
    }
    return false;
}

/* ---- what agents read ---- */

/* Files that a client reads in the place of AGENTS.md, or that stand beside it. */
static const struct {
    enum client_id client; /* CLIENTS: any */
    const char *path;
    const char *unless; /* it is not read when this one is there */
    bool made;          /* it is made when it is not there */
} readings[] = {
    { CLIENTS, "AGENTS.md", NULL, true },
    { CLIENT_CLAUDE, "CLAUDE.md", NULL, false },
    { CLIENT_CLAUDE, ".claude/CLAUDE.md", "CLAUDE.md", false },
    { CLIENT_GEMINI, "GEMINI.md", NULL, true },
};

enum { READINGS = sizeof readings / sizeof *readings };

/* Whether a text takes AGENTS.md in, by a line or a word of it. */
static bool imports_agents(str text)
{
    return memmem(text.at, text.len, "@AGENTS.md", 10) ||
           memmem(text.at, text.len, "@./AGENTS.md", 12);
}

/* Whether Gemini was told to read AGENTS.md. */
static bool gemini_reads_agents(struct arena *a, str root)
{
    struct init_file file;
    struct json_text t;

    if (init_file_read(a, root, ".gemini/settings.json", &file) || json_text_open(a, file.text, &t))
        return false;
    const struct json *names = json_text_get(&t, "/context/fileName");
    str printed = names ? json_printed(a, names) : STR("");
    return memmem(printed.at, printed.len, "\"AGENTS.md\"", 11) != NULL;
}

static bool is_there(struct arena *a, str root, const char *path)
{
    struct init_file file;
    return path && !init_file_read(a, root, path, &file) && file.exists;
}

/* Whether the file of that number is to have the block, when these clients are wired. */
static bool is_read(struct arena *a, str root, size_t i, const bool wired[CLIENTS],
                    const struct init_file *f)
{
    bool any = false;

    for (int k = 0; k < CLIENTS; k++)
        any |= wired[k] && (readings[i].client == CLIENTS || readings[i].client == (unsigned)k);
    if (!any || (!f->exists && !readings[i].made) || is_there(a, root, readings[i].unless))
        return false;
    if (readings[i].client == CLIENTS)
        return true;
    return !imports_agents(f->text) &&
           !(readings[i].client == CLIENT_GEMINI && gemini_reads_agents(a, root));
}

/* Two names of one file, by a link, are planned once. */
static bool is_planned(const struct init_plan *p, str real)
{
    for (size_t i = 0; i < p->count; i++)
        if (!p->changes[i].refused && str_eq(p->changes[i].file.real, real))
            return true;
    return false;
}

static void readings_plan(struct arena *a, struct init_plan *p, const bool wired[CLIENTS])
{
    for (size_t i = 0; i < READINGS; i++) {
        struct init_change c = { .client = readings[i].client, .by_hand = STR("") };
        c.refused = init_file_read(a, p->root, readings[i].path, &c.file);
        c.file.path = readings[i].path;
        bool read = is_read(a, p->root, i, wired, &c.file);
        if (!c.refused && is_planned(p, c.file.real))
            continue;
        if (c.refused)
            c.by_hand = str_from(wire_briefing);
        else
            c.after = text_mark(a, c.file.text, read ? str_from(wire_briefing) : STR(""));
        if (read || init_changes(&c))
            p->changes[p->count++] = c;
    }
}

err init_plan_make(struct arena *a, str root, const bool chosen[CLIENTS], enum init_how how,
                   struct init_plan *out)
{
    bool remove = how == INIT_REMOVE;
    struct wiring w = { a, client_baton(a), !remove, NULL };
    bool wired[CLIENTS];

    *out = (struct init_plan){ .root = root, .baton = w.baton };
    if (!utf8_valid(w.baton) && !remove)
        return err_new(
            a, ERR_INVALID,
            "the path of this program is not UTF-8, so that no configuration can name it: "
            "move it, or have PATH lead to it");
    if (!utf8_valid(w.baton))
        w.baton = STR("baton"); /* as an example of what to take out */
    out->changes = ARENA_ARRAY(a, struct init_change, CHANGES_MAX);
    for (const struct wire_file *f = wire_files; f->path; f++)
        if (chosen[f->client] && (!f->asked || how != INIT_WIRE))
            change_plan(w, root, f, &out->changes[out->count++]);
    for (int k = 0; k < CLIENTS; k++)
        wired[k] = chosen[k] ? !remove : init_wired(a, root, (enum client_id)k);
    readings_plan(a, out, wired);
    return NULL;
}
