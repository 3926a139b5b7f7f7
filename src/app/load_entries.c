/* load_entries.c: agents and profiles that the operator keeps as files of the data directory. */
#include "app/load_entries.h"

#include <assert.h>

#include "app/data.h"
#include "base/log.h"
#include "client/agent_file.h"
#include "core/tx.h"

static const struct {
    const char *folder, *op;
    bool markdown; /* a profile has no prose */
} catalogs[] = {
    { "profiles", "profile.load", false },
    { "agents", "agent.load", true }, /* which name profiles */
};

err system_perform(struct arena *a, struct engine *e, const char *op, const struct json *input,
                   const struct json **answer)
{
    static const struct actor system = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };
    struct command c = {
        .arena = a, .op = op_find(e->table, str_from(op)), .input = input, .actor = &system
    };

    assert(c.op);
    op_perform(e, &(struct command *){ &c }, 1);
    if (e->stopped)
        return err_new(a, ERR_UNAVAILABLE,
                       "the disk failed during the start (%s): see the system's log, then start "
                       "again",
                       op);
    if (c.error)
        return err_within(a, c.error, "%s", op);
    return json_parse_own(a, c.answer.text, answer);
}

static void warn(const char *op, str why)
{
    log_warn(op, LOG_S("error", why));
}

/* The file of an entry that was refused, for the one who has to repair it. */
static const char *path_of(const struct agent_file *files, size_t count, str name)
{
    for (size_t i = 0; i < count; i++)
        if (!files[i].error && str_eq(json_str(&files[i].agent, "name"), name))
            return files[i].path;
    return "?";
}

/* Entries whose file is gone go too, unless the file may be there: it cannot be read, or is another
 * node's. */
static err folder_load(struct arena *a, struct engine *e, str folder, bool shared, size_t which)
{
    const char *op = catalogs[which].op;
    str path = data_path(a, folder, catalogs[which].folder);
    struct json input = json_object(), entries = json_array();
    const struct agent_file *files;
    const struct json *answer, *refused;
    size_t count;
    bool drop = !shared;
    err unread = agent_folder_read(a, path.at, &files, &count);

    if (unread) {
        warn(op, unread->message);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (!catalogs[which].markdown && str_ends(str_from(files[i].path), STR(".md")))
            continue;
        drop = drop && !files[i].error;
        if (files[i].error)
            warn(op, files[i].error->message);
        else
            json_push(a, &entries, files[i].agent);
    }
    json_put(a, &input, STR("entries"), entries);
    json_put(a, &input, STR("drop"), json_bool(drop));
    TRY(system_perform(a, e, op, &input, &answer));
    refused = json_get(answer, "refused");
    for (uint32_t i = 0; i < refused->len; i++) {
        str name = json_str(&refused->items[i], "name");
        str why = json_str(&refused->items[i], "error");
        warn(op, arena_printf(a, "%s: " STR_FMT, path_of(files, count, name), STR_ARG(why)));
    }
    return NULL;
}

err entries_load(struct arena *a, struct engine *e, str folder, bool shared)
{
    for (size_t i = 0; i < sizeof catalogs / sizeof *catalogs; i++)
        TRY(folder_load(a, e, folder, shared, i));
    return NULL;
}
