/* endpoint.c: where the server is, and with which token it is asked. */
#include "client/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/json.h"

enum {
    TOKEN_MAX = 4096,         /* bytes of a token */
    SMALL_FILE_MAX = 8 << 10, /* of server.json and of files with a token */
};

/* A variable that is set to something, or NULL. */
static const char *env(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* The start of a small file; an errno, or 0. */
static int file_read(struct arena *a, str path, str *out)
{
    char *at = arena_alloc(a, SMALL_FILE_MAX);
    size_t len = 0;
    ssize_t n = 1;
    int fd = open(path.at, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return errno;
    while (len < SMALL_FILE_MAX && n != 0) {
        n = read(fd, at + len, SMALL_FILE_MAX - len);
        if (n < 0 && errno != EINTR)
            break;
        len += n > 0 ? (size_t)n : 0;
    }
    int failed = n < 0 ? errno : 0;
    close(fd);
    *out = (str){ at, len };
    return failed;
}

static str path_in(struct arena *a, str dir, const char *name)
{
    return arena_printf(a, STR_FMT "/%s", STR_ARG(dir), name);
}

/* ---- the directory ---- */

err data_dir_find(struct arena *a, const char *given, str *out)
{
    const char *state = env("XDG_STATE_HOME"), *home = env("HOME");

    if (!given || !*given)
        given = env("BATON_DATA");
    if (given)
        *out = arena_copy(a, str_from(given));
    else if (state && state[0] == '/') /* a relative one is to be ignored, its specification says */
        *out = arena_printf(a, "%s/baton", state);
    else if (home)
        *out = arena_printf(a, "%s/.local/state/baton", home);
    else
        return err_new(a, ERR_INVALID,
                       "expected a data directory, found neither HOME nor BATON_DATA: give one "
                       "with --data DIR");
    return NULL;
}

/* ---- the token ---- */

/* A token becomes part of a header, so it must be one word; what else was there is not shown. */
static err token_check(struct arena *a, const char *from, str *token)
{
    *token = str_trim(*token);
    if (token->len == 0)
        return err_new(a, ERR_UNAUTHENTICATED, "expected a token in %s, found nothing", from);
    if (token->len > TOKEN_MAX)
        return err_new(a, ERR_INVALID, "expected a token in %s, found more than %d bytes", from,
                       TOKEN_MAX);
    for (size_t i = 0; i < token->len; i++)
        if (token->at[i] <= ' ' || token->at[i] > '~')
            return err_new(a, ERR_INVALID,
                           "expected one token in %s, found a space or control character at byte "
                           "%zu",
                           from, i + 1);
    return NULL;
}

static err token_file(struct arena *a, str path, str *out)
{
    int failed = file_read(a, path, out);

    if (failed)
        return err_new(a, failed == ENOENT ? ERR_UNAUTHENTICATED : ERR_FORBIDDEN,
                       "cannot read the token in " STR_FMT ": %s; set BATON_TOKEN or "
                       "BATON_TOKEN_FILE to another one",
                       STR_ARG(path), strerror(failed));
    return token_check(a, path.at, out);
}

/* A token that was meant for us goes before the operator's, which can do more. */
static err token_find(struct arena *a, str dir, bool local, str *out)
{
    const char *token = env("BATON_TOKEN"), *file = env("BATON_TOKEN_FILE");

    if (token) {
        *out = arena_copy(a, str_from(token));
        return token_check(a, "BATON_TOKEN", out);
    }
    if (file)
        return token_file(a, str_from(file), out);
    if (local)
        return token_file(a, path_in(a, dir, "operator.token"), out);
    return err_new(a, ERR_UNAUTHENTICATED,
                   "BATON_URL is not on this machine, so it needs a token of its own: set "
                   "BATON_TOKEN or BATON_TOKEN_FILE");
}

/* ---- the server ---- */

/* The members of server.json that say where its server listens; empty where it does not. */
static err server_read(struct arena *a, str dir, str *socket, str *url)
{
    str path = path_in(a, dir, "server.json"), text;
    const struct json *server;

    *socket = *url = STR("");
    int failed = file_read(a, path, &text);
    if (failed == ENOENT || failed == ENOTDIR)
        return NULL;
    if (failed)
        return err_new(a, ERR_FORBIDDEN, "cannot read " STR_FMT ": %s", STR_ARG(path),
                       strerror(failed));
    err e = json_parse(a, text, NULL, &server);
    if (e)
        return err_within(a, e, STR_FMT, STR_ARG(path));
    *socket = json_str(server, "socket");
    *url = json_str(server, "url");
    return NULL;
}

static bool is_socket(str path)
{
    struct stat st;
    return stat(path.at, &st) == 0 && S_ISSOCK(st.st_mode);
}

static err find_in(struct arena *a, str dir, struct endpoint *out)
{
    str socket, url;

    out->down = arena_printf(a,
                             "no server is running for " STR_FMT ": start one with `baton serve`",
                             STR_ARG(dir));
    TRY(server_read(a, dir, &socket, &url));
    if (!socket.len && is_socket(path_in(a, dir, "baton.sock")))
        socket = path_in(a, dir, "baton.sock");
    if (socket.len)
        url = arena_printf(a, "unix:" STR_FMT, STR_ARG(socket));
    if (!url.len)
        return err_new(a, ERR_UNAVAILABLE, STR_FMT, STR_ARG(out->down));
    err e = url_parse(a, url, &out->url);
    return e ? err_within(a, e, STR_FMT "/server.json", STR_ARG(dir)) : NULL;
}

static err find_url(struct arena *a, const char *url, struct endpoint *out)
{
    err e = url_parse(a, str_from(url), &out->url);
    if (e)
        return err_within(a, e, "BATON_URL");
    out->down =
        arena_printf(a, "no server answers at BATON_URL %s: start it, or unset BATON_URL", url);
    return NULL;
}

err endpoint_find(struct arena *a, const char *given, struct endpoint *out)
{
    const char *url = given ? NULL : env("BATON_URL");
    str dir = STR("");

    *out = (struct endpoint){ .token = STR("") };
    err no_dir = data_dir_find(a, given, &dir);
    if (no_dir && !url)
        return no_dir;
    TRY(url ? find_url(a, url, out) : find_in(a, dir, out));
    return token_find(a, dir, !no_dir && url_is_loopback(&out->url), &out->token);
}

str endpoint_url(struct arena *a, const char *given)
{
    str socket, url;

    if (!given)
        return str_from(getenv("BATON_URL"));
    return server_read(a, str_from(given), &socket, &url) ? STR("") : url;
}
