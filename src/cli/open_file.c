/* open_file.c: how a browser is led to an address that nobody else may read.
 *
 * What a program is started with can be read by every user of the machine. So it is started with
 * the address of a small file that only we can read, and the file leads to the address. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/status.h"
#include "client/endpoint.h"
#include "client/url.h"
#include "os/random.h"

enum { NAME_BYTES = 16 };

#define FILE_BEGINS "open-"
#define FILE_ENDS ".html"

/* Those of calls whose codes are over: of one that was killed, or of a machine that went down. */
static void old_remove(int folder, int64_t good_ms)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct stat st;

    if (!dir && fd >= 0)
        close(fd);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        str name = str_from(d->d_name);
        if (str_starts(name, STR(FILE_BEGINS)) && str_ends(name, STR(FILE_ENDS)) &&
            fstatat(folder, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            time(NULL) - st.st_mtime >= good_ms / 1000)
            unlinkat(folder, d->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

static void put_attribute(struct buf *out, str text)
{
    for (size_t i = 0; i < text.len; i++)
        switch (text.at[i]) {
        case '&': buf_add(out, STR("&amp;")); break;
        case '"': buf_add(out, STR("&quot;")); break;
        case '<': buf_add(out, STR("&lt;")); break;
        case '>': buf_add(out, STR("&gt;")); break;
        default: buf_byte(out, text.at[i]);
        }
}

static str page_of(struct arena *a, str url)
{
    struct buf out = buf_in(a);

    buf_add(&out, STR("<!doctype html>\n<meta charset=\"utf-8\">\n<title>baton</title>\n"
                      "<meta name=\"referrer\" content=\"no-referrer\">\n"
                      "<meta http-equiv=\"refresh\" content=\"0;url="));
    put_attribute(&out, url);
    buf_add(&out, STR("\">\n<p><a href=\""));
    put_attribute(&out, url);
    buf_add(&out, STR("\">to the page of baton</a>\n"));
    return buf_str(&out);
}

static str file_url(struct arena *a, str path)
{
    struct buf out = buf_in(a);
    str part, rest = path;

    buf_add(&out, STR("file://"));
    for (bool more = true, first = true; more; first = false) {
        more = str_cut(rest, '/', &part, &rest);
        if (!first)
            buf_byte(&out, '/');
        url_encode(&out, part);
    }
    return buf_str(&out);
}

static err failed(struct arena *a, const char *path, int number)
{
    return err_new(a, ERR_FORBIDDEN, "cannot make a file in %s to lead a browser: %s", path,
                   strerror(number));
}

static int file_make(int folder, const char *name, str text)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int number = fd < 0 ? errno : 0;

    if (fd >= 0 && write(fd, text.at, text.len) != (ssize_t)text.len)
        number = errno ? errno : EIO;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && number)
        unlinkat(folder, name, 0);
    return number;
}

err open_file_make(struct arena *a, const char *data, str url, int64_t good_ms, str *path,
                   str *leads)
{
    str dir, name;

    TRY(data_dir_find(a, data, &dir));
    char *real = realpath(dir.at, NULL);
    if (!real)
        return failed(a, dir.at, errno);
    dir = arena_copy(a, str_from(real));
    free(real);
    int folder = open(dir.at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return failed(a, dir.at, errno);
    old_remove(folder, good_ms);
    name = arena_printf(a, FILE_BEGINS STR_FMT FILE_ENDS, STR_ARG(random_hex(a, NAME_BYTES)));
    int number = file_make(folder, name.at, page_of(a, url));
    close(folder);
    if (number)
        return failed(a, dir.at, number);
    *path = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(dir), STR_ARG(name));
    *leads = file_url(a, *path);
    return NULL;
}

/* The browser and who removes the file go on without us, and say nothing into our terminal. */
bool open_file_show(str browser, str path, str leads, int64_t good_ms)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        setsid();
        for (int fd = 0; fd <= 2; fd++)
            dup2(null, fd);
        pid_t shows = fork();
        if (shows == 0) {
            execl(browser.at, browser.at, leads.at, (char *)NULL);
            _exit(127);
        }
        if (shows > 0 && fork() == 0) {
            poll(NULL, 0, (int)good_ms);
            unlink(path.at);
            _exit(0);
        }
        _exit(shows < 0);
    }
    bool shown = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
    if (!shown)
        unlink(path.at);
    return shown;
}
