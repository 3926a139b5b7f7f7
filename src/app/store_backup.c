/* store_backup.c: the command `store backup`: a copy into a new SQLite file, checked and synced. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/store_verbs.h"

static err file_sync(struct cli *c, str path, int flags)
{
    int fd = open(path.at, O_RDONLY | O_CLOEXEC | flags);
    err e = fd >= 0 && fsync(fd) == 0
                ? NULL
                : err_new(c->arena, ERR_UNAVAILABLE, STR_FMT ": it cannot be synced: %s",
                          STR_ARG(path), strerror(errno));

    if (fd >= 0)
        close(fd);
    return e;
}

static err backup_sync(struct cli *c, str path)
{
    size_t slash = path.len;

    while (slash > 0 && path.at[slash - 1] != '/')
        slash--;
    TRY(file_sync(c, path, 0));
    return file_sync(c, slash ? arena_copy(c->arena, str_slice(path, 0, slash)) : STR("."),
                     O_DIRECTORY);
}

static err backup_write(struct cli *c, struct database *from, struct database *to)
{
    struct copy_result result;
    size_t findings;

    TRY(copy_run(c, from, to, false, &result));
    database_close(to); /* the last to close it moves the log into the file */
    TRY(check_run(c, to, false, &findings));
    database_close(to);
    TRY(backup_sync(c, to->name));
    copy_print(c, from, to, &result);
    c->exit = findings ? 1 : 0;
    return NULL;
}

static void backup_remove(struct cli *c, str path)
{
    static const char *const ends[] = { "", "-wal", "-shm" };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        unlink(arena_printf(c->arena, STR_FMT "%s", STR_ARG(path), ends[i]).at);
}

err store_backup_verb(struct cli *c)
{
    struct database from,
        to = { .name = str_from(c->args[0]), .shown = str_from(c->args[0]), .locks = { -1, -1 } };
    struct stat st;

    if (!to.name.len || store_is_shared(to.name))
        return usage_error(c, STR("expected FILE, a path; to a database copy with 'store copy'"));
    TRY(database_name(c, NULL, &from));
    TRY(database_exists(c, &from));
    if (lstat(to.name.at, &st) == 0)
        return err_new(c->arena, ERR_CONFLICT, STR_FMT ": it is there already: name a new file",
                       STR_ARG(to.name));
    err e = backup_write(c, &from, &to);
    database_release(&from);
    database_release(&to);
    if (e)
        backup_remove(c, to.name);
    return e;
}
