/* data.c: the data directory of a server and the files in it. */
#include "app/data.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "json/write.h"

static err failed(struct arena *a, const char *path, const char *doing)
{
    enum error_kind kind = errno == ENOSPC || errno == EDQUOT  ? ERR_FULL
                           : errno == EACCES || errno == EPERM ? ERR_FORBIDDEN
                                                               : ERR_UNAVAILABLE;
    return err_new(a, kind, "%s: cannot %s it: %s", path, doing, strerror(errno));
}

str data_path(struct arena *a, str folder, const char *name)
{
    return arena_printf(a, STR_FMT "/%s", STR_ARG(folder), name);
}

/* ---- the directory ---- */

/* Makes it with all that is above it. */
err data_make(struct arena *a, str folder)
{
    char *path = (char *)arena_copy(a, folder).at; /* ours, and followed by a NUL */

    assert(folder.len > 0);
    for (char *at = path + 1; at <= path + folder.len; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char kept = *at;
        *at = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return failed(a, path, "make");
        *at = kept;
    }
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return NULL;
    return err_new(a, ERR_INVALID, "%s: expected a directory for the data, but found a file", path);
}

err data_check(struct arena *a, str folder)
{
    static const char *const tokens[] = { "operator.token", "runner.token" };
    const char *path = arena_copy(a, folder).at;
    struct stat st;

    if (stat(path, &st) == 0 && (st.st_mode & 022))
        return err_new(
            a, ERR_FORBIDDEN,
            "%s has mode %o: others can write to it, and could put a token or a server of "
            "their own there: chmod 700 '%s'",
            path, (unsigned)(st.st_mode & 07777), path);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        const char *token = data_path(a, folder, tokens[i]).at;
        if (lstat(token, &st) == 0 && (st.st_mode & 077) && !S_ISLNK(st.st_mode))
            return err_new(
                a, ERR_FORBIDDEN,
                "%s has mode %o: others can read it: remove it, and a new one is made; or, "
                "if nobody can have seen it, chmod 600 '%s'",
                token, (unsigned)(st.st_mode & 07777), token);
    }
    return NULL;
}

static err folder_sync(struct arena *a, str path)
{
    size_t slash = path.len;
    while (slash > 0 && path.at[slash - 1] != '/')
        slash--;
    str folder = slash ? arena_copy(a, str_slice(path, 0, slash)) : STR(".");

    int fd = open(folder.at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    err e = fd < 0 || fsync(fd) < 0 ? failed(a, folder.at, "sync") : NULL;
    if (fd >= 0)
        close(fd);
    return e;
}

/* ---- files ---- */

err data_read(struct arena *a, str path, str *out)
{
    struct buf text = buf_in(a);
    int fd = open(path.at, O_RDONLY | O_CLOEXEC);
    ssize_t n = 1;

    *out = STR("");
    if (fd < 0)
        return errno == ENOENT ? NULL : failed(a, path.at, "open");
    while (n > 0) {
        char *room = buf_reserve(&text, 4096);
        n = read(fd, room, 4096);
        if (n > 0)
            text.len += (size_t)n;
    }
    err e = n < 0 ? failed(a, path.at, "read") : NULL;
    close(fd);
    *out = buf_str(&text);
    return e;
}

static err write_all(struct arena *a, const char *path, str text)
{
    unlink(path); /* of a start that did not get to its end */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return failed(a, path, "make");
    bool written = write(fd, text.at, text.len) == (ssize_t)text.len && fsync(fd) == 0;
    err e = written ? NULL : failed(a, path, "write");
    close(fd);
    return e;
}

err data_write(struct arena *a, str path, str text)
{
    str temporary = arena_printf(a, STR_FMT ".new", STR_ARG(path));
    err e = write_all(a, temporary.at, text);

    if (!e && rename(temporary.at, path.at) < 0)
        e = failed(a, path.at, "replace");
    if (e)
        unlink(temporary.at);
    return e ? e : folder_sync(a, path);
}

/* ---- one server for each ---- */

/* Whoever has the directory has written how it is reached, unless it is just starting. */
static err folder_in_use(struct arena *a, str folder)
{
    const struct json *server = NULL;
    str text;

    TRY(data_read(a, data_path(a, folder, "server.json"), &text));
    if (!text.len || json_parse(a, text, NULL, &server) || !json_str(server, "url").len)
        return err_new(a, ERR_CONFLICT,
                       STR_FMT " is used by another baton, which is starting or stopping: wait for "
                               "it, or give this one another directory with --data",
                       STR_ARG(folder));
    return err_new(a, ERR_CONFLICT,
                   STR_FMT " is used by a baton that runs already, pid %lld, at " STR_FMT
                           ": use that one, or stop it, or give this one another directory with "
                           "--data",
                   STR_ARG(folder), (long long)json_int_or(server, "pid", 0),
                   STR_ARG(json_str(server, "url")));
}

static err database_in_use(struct arena *a, str database)
{
    return err_new(a, ERR_CONFLICT,
                   STR_FMT " is used by another baton, with another data directory: use that one, "
                           "or stop it, or give this one another --store",
                   STR_ARG(database));
}

/* Leaves −1 when somebody else has it; the lock goes with the process, however that ends. */
static err lock_take(struct arena *a, str file, int *out)
{
    int fd = open(file.at, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return failed(a, file.at, "open");
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        *out = fd;
        return NULL;
    }
    err e = errno == EWOULDBLOCK ? NULL : failed(a, file.at, "lock");
    close(fd);
    return e;
}

err data_open(struct arena *a, str folder, str database, struct data *out)
{
    *out = (struct data){
        .folder = folder,
        .database = database.len ? arena_copy(a, database) : data_path(a, folder, "baton.db"),
        .lock = -1,
        .database_lock = -1,
    };
    TRY(lock_take(a, data_path(a, folder, "baton.lock"), &out->lock));
    if (out->lock < 0)
        return folder_in_use(a, folder);
    if (!database.len)
        return NULL;
    TRY(lock_take(a, arena_printf(a, STR_FMT ".lock", STR_ARG(database)), &out->database_lock));
    return out->database_lock < 0 ? database_in_use(a, database) : NULL;
}

void data_close(struct data *d)
{
    if (d->lock >= 0)
        close(d->lock);
    if (d->database_lock >= 0)
        close(d->database_lock);
    d->lock = d->database_lock = -1;
}

/* ---- server.json ---- */

err data_announce(struct arena *a, const struct data *d, const struct data_server *s)
{
    struct buf text = buf_in(a);
    struct json_writer w = json_writer_to(&text);

    json_write_begin(&w, '{');
    write_or_null(&w, STR("url"), s->url);
    write_or_null(&w, STR("socket"), s->socket);
    write_or_null(&w, STR("store"), s->store);
    write_int(&w, STR("pid"), s->pid);
    write_or_null(&w, STR("version"), str_from(s->version));
    write_or_null(&w, STR("started_at"), s->started_at);
    json_write_end(&w, '}');
    buf_byte(&text, '\n');
    return data_write(a, data_path(a, d->folder, "server.json"), buf_str(&text));
}

void data_retract(struct arena *a, const struct data *d)
{
    unlink(data_path(a, d->folder, "server.json").at);
}

/* ---- the disk ---- */

int64_t data_free_bytes(const struct data *d)
{
    struct statvfs fs;

    if (statvfs(d->database.at, &fs) < 0)
        return INT64_MAX;
    return (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
}
