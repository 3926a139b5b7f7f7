/* evidence.c: commands, files and reports of tests, looked at. */
#define _GNU_SOURCE
#include "runner/evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/utf8.h"
#include "os/exec.h"
#include "os/fd.h"
#include "runner/junit.h"

enum {
    TICK_MS = 20,       /* between two looks at whether a command has ended */
    KILL_ROUNDS = 1000, /* for one that the system does not let go of */
    DRAIN_ROUNDS = 64,
    PIECE = 64 << 10,   /* bytes that are read at once */
    KEPT = 64 << 10,    /* of what a command writes: the end of it */
    LINES_SHOWN = 20,   /* of that, when it has failed */
    OUTPUT_ONE = 4096,  /* bytes of them */
    OUTPUT_ALL = 12288, /* for all checks: the whole answer is a short one */
    WHAT_MAX = 120,
    FOUND_MAX = 300,
    NAMES_SHOWN = 5,
};

extern char **environ;

struct check {
    struct arena *arena;
    const struct json *asked;
    size_t output_max;
    bool ok;
    str what, found, output, sha256;
    bool has_tests;
    int64_t tests, failures;
};

/* ---- words ---- */

/* What a terminal does with colours and the like is taken out, and what is no text becomes a '?'. */
static str readable(struct arena *a, str text)
{
    struct buf out = buf_in(a);

    for (size_t i = 0; i < text.len;) {
        str rest = str_slice(text, i, text.len);
        unsigned char c = (unsigned char)text.at[i];
        size_t good = c < 0x80 ? 1 : 0;
        for (size_t n = 2; !good && n <= 4 && n <= rest.len; n++)
            good = utf8_valid(str_slice(rest, 0, n)) ? n : 0;
        if (c == 0x1b && rest.len > 1 && rest.at[1] == '[') {
            for (i += 2; i < text.len && (text.at[i] < '@' || text.at[i] > '~'); i++)
                ;
            i++;
            continue;
        }
        if (!good || (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            buf_byte(&out, '?');
        else
            buf_add(&out, str_slice(rest, 0, good));
        i += good ? good : 1;
    }
    return buf_str(&out);
}

static str shortened(struct arena *a, str text, size_t most)
{
    str clean = readable(a, text);

    if (clean.len <= most)
        return clean;
    return arena_printf(a, STR_FMT "…", STR_ARG(utf8_cut(clean, most - strlen("…"))));
}

/* The last lines, as far as they fit. */
static str last_lines(struct arena *a, str text, size_t most)
{
    str clean = str_trim(readable(a, text));
    size_t from = clean.len, lines = 0;

    while (from > 0 && clean.len - from < most) {
        lines += clean.at[from - 1] == '\n';
        if (lines == LINES_SHOWN)
            break;
        from--;
    }
    while (from < clean.len && ((unsigned char)clean.at[from] & 0xc0) == 0x80)
        from++; /* a whole character */
    return str_slice(clean, from, clean.len);
}

/* As somebody would type it, nearly: for people. */
static str command_shown(struct arena *a, const struct json *argv)
{
    struct buf out = buf_in(a);
    bool shell = argv->len == 3 && str_eq(json_text(&argv->items[1]), STR("-c"));

    if (shell)
        return json_text(&argv->items[2]);
    for (uint32_t i = 0; i < argv->len; i++) {
        if (i)
            buf_byte(&out, ' ');
        buf_add(&out, json_text(&argv->items[i]));
    }
    return buf_str(&out);
}

/* ---- commands ---- */

/* The end of what was written, in a room twice as large. */
static void output_add(struct buf *kept, str piece)
{
    buf_add(kept, piece);
    if (kept->len <= 2 * KEPT)
        return;
    memmove(kept->at, kept->at + kept->len - KEPT, KEPT);
    kept->len = KEPT;
}

/* False: nobody writes there any more, or nothing is there now. */
static bool output_read(int fd, struct buf *kept)
{
    char piece[PIECE];
    ssize_t n;

    do
        n = read(fd, piece, sizeof piece);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        output_add(kept, (str){ piece, (size_t)n });
    return n > 0;
}

/* By its end, and not by that of its output: what it has started may have that for longer. */
static int command_wait(pid_t pid, int fd, struct buf *kept)
{
    bool open = true;
    int status = 0;

    while (waitpid(pid, &status, open ? WNOHANG : 0) == 0) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (poll(&p, 1, TICK_MS) > 0)
            open = output_read(fd, kept);
    }
    return status;
}

/* What it has left behind is killed, and then all that was written is there. */
static void command_end(int fd, struct buf *kept)
{
    for (int i = 0; i < KILL_ROUNDS && exec_signal(SIGKILL, 0) > 0; i++)
        poll(NULL, 0, 1);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < DRAIN_ROUNDS && output_read(fd, kept); i++)
        ;
}

static void command_judge(struct check *c, int status, str output)
{
    int64_t expected = json_int_or(c->asked, "exit", 0);

    c->ok = WIFEXITED(status) && WEXITSTATUS(status) == expected;
    if (WIFSIGNALED(status))
        c->found = arena_printf(c->arena, "ended by signal %d (%s)", WTERMSIG(status),
                                strsignal(WTERMSIG(status)));
    else if (c->ok || expected == 0)
        c->found = arena_printf(c->arena, "exit %d", WEXITSTATUS(status));
    else
        c->found = arena_printf(c->arena, "exit %d, expected %lld", WEXITSTATUS(status),
                                (long long)expected);
    if (!c->ok)
        c->output = last_lines(c->arena, output, c->output_max);
}

static err command_argv(struct check *c, char ***out)
{
    const struct json *argv = json_get(c->asked, "argv");
    uint32_t count = json_is(argv, JSON_ARRAY) ? argv->len : 0;

    *out = ARENA_ARRAY(c->arena, char *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        if (!json_is(&argv->items[i], JSON_STRING))
            return err_new(c->arena, ERR_INVALID, "expected the argv of a check to hold texts");
        (*out)[i] = (char *)arena_copy(c->arena, json_text(&argv->items[i])).at;
    }
    (*out)[count] = NULL;
    if (!count)
        return err_new(c->arena, ERR_INVALID, "expected a check of a command to have an argv");
    c->what = command_shown(c->arena, argv);
    return NULL;
}

/* A program that is not there is what was found, and no trouble of ours. */
static err command_check(struct check *c)
{
    struct buf kept = buf_in(c->arena);
    char **argv;
    int ends[2];
    pid_t pid;

    TRY(command_argv(c, &argv));
    if (!pipe_open(ends))
        return err_new(c->arena, ERR_UNAVAILABLE, "cannot make a pipe: %s", strerror(errno));
    struct exec_plan plan = {
        .argv = argv, .env = environ, .folder = ".", .in = -1, .out = ends[1], .error = ends[1]
    };
    err e = exec_start(c->arena, &plan, &pid);
    close(ends[1]);
    if (!e) {
        int status = command_wait(pid, ends[0], &kept);
        command_end(ends[0], &kept);
        command_judge(c, status, buf_str(&kept));
    } else {
        c->found = e->message;
    }
    close(ends[0]);
    return NULL;
}

/* ---- files ---- */

static bool has_dots(str path)
{
    bool more = true, found = false;
    str part;

    while (more) {
        more = str_cut(path, '/', &part, &path);
        found = found || str_eq(part, STR(".."));
    }
    return found;
}

/* Opens a file of the folder that we are in; −1, with what was found, when there is none. */
static int file_open(struct check *c, str path)
{
    char *here = realpath(".", NULL), *real = NULL;
    struct stat st;
    int fd = -1;

    if (!memchr(path.at, '\0', path.len))
        real = realpath(arena_copy(c->arena, path).at, NULL);
    bool gone = !real;
    int why = errno;
    str root = str_from(here), at = str_from(real);
    bool inside = real && here &&
                  (root.len == 1 || (str_starts(at, root) && at.at[root.len] == '/'));
    if (has_dots(path) || (!gone && !inside))
        c->found = STR("outside of the working directory");
    else if (gone)
        c->found = why == ENOENT || why == ENOTDIR
                       ? STR("no such file")
                       : arena_printf(c->arena, "cannot be read: %s", strerror(why));
    else if ((fd = open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) < 0)
        c->found = arena_printf(c->arena, "cannot be read: %s", strerror(errno));
    else if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        c->found = STR("not a file");
    free(here);
    free(real);
    if (fd < 0 || !c->found.len)
        return fd;
    close(fd);
    return -1;
}

static err file_path(struct check *c, str *out)
{
    *out = c->what = json_str(c->asked, "path");
    return out->len ? NULL
                    : err_new(c->arena, ERR_INVALID, "expected a check of a file to have a path");
}

static bool file_hash(struct check *c, int fd, int64_t *bytes)
{
    unsigned char sum[SHA256_BYTES];
    char piece[PIECE];
    struct sha256 s;
    ssize_t n;

    *bytes = 0;
    sha256_init(&s);
    while ((n = read(fd, piece, sizeof piece)) > 0) {
        sha256_add(&s, (str){ piece, (size_t)n });
        *bytes += n;
    }
    sha256_end(&s, sum);
    c->sha256 = hex_encode(c->arena, (str){ (const char *)sum, sizeof sum });
    return n == 0;
}

static bool is_hash(str expected, str hex)
{
    bool same = expected.len == hex.len;

    for (size_t i = 0; i < hex.len && same; i++) {
        char c = expected.at[i];
        same = (c >= 'A' && c <= 'F' ? c | 0x20 : c) == hex.at[i];
    }
    return same;
}

static err file_check(struct check *c)
{
    str expected = json_str(c->asked, "sha256"), path;
    int64_t bytes;

    TRY(file_path(c, &path));
    int fd = file_open(c, path);
    if (fd < 0)
        return NULL;
    bool whole = file_hash(c, fd, &bytes);
    close(fd);
    c->ok = whole && (!expected.len || is_hash(expected, c->sha256));
    c->found = !whole ? STR("cannot be read to its end")
               : c->ok
                   ? arena_printf(c->arena, "%lld byte%s", (long long)bytes, bytes == 1 ? "" : "s")
                   : arena_printf(c->arena, "sha256 " STR_FMT ", expected " STR_FMT,
                                  STR_ARG(c->sha256), STR_ARG(utf8_cut(expected, 100)));
    return NULL;
}

/* ---- reports of tests ---- */

static err report_read(struct check *c, int fd, str *text)
{
    struct buf out = buf_in(c->arena);
    ssize_t n = 1;

    while (n > 0 && out.len <= JUNIT_BYTES_MAX) {
        n = read(fd, buf_reserve(&out, PIECE), PIECE);
        out.len += n > 0 ? (size_t)n : 0;
    }
    *text = buf_str(&out);
    return n < 0 ? err_new(c->arena, ERR_UNAVAILABLE, "cannot be read to its end") : NULL;
}

static void tests_judge(struct check *c, const struct junit *j)
{
    int64_t failed = j->failures + j->errors;
    struct buf names = buf_in(c->arena);
    size_t shown = j->named < NAMES_SHOWN ? j->named : NAMES_SHOWN;

    c->has_tests = true;
    c->tests = j->tests;
    c->failures = failed;
    c->ok = j->tests > 0 && failed == 0;
    for (size_t i = 0; i < shown; i++)
        buf_printf(&names, "%s" STR_FMT, i ? ", " : ": ", STR_ARG(j->failed[i]));
    if (shown && failed > (int64_t)shown)
        buf_printf(&names, " and %lld more", (long long)(failed - (int64_t)shown));
    if (failed)
        c->found = arena_printf(c->arena, "%lld of %lld tests failed" STR_FMT, (long long)failed,
                                (long long)j->tests, STR_ARG(buf_str(&names)));
    else if (!j->tests)
        c->found = STR("no tests in it");
    else
        c->found = arena_printf(c->arena, "%lld test%s, none failed", (long long)j->tests,
                                j->tests == 1 ? "" : "s");
}

static err junit_check(struct check *c)
{
    struct junit report;
    str path, text;

    TRY(file_path(c, &path));
    int fd = file_open(c, path);
    if (fd < 0)
        return NULL;
    err e = report_read(c, fd, &text);
    close(fd);
    if (!e)
        e = junit_read(c->arena, text, &report);
    if (e)
        c->found = arena_printf(c->arena, "no report of tests: " STR_FMT, STR_ARG(e->message));
    else
        tests_judge(c, &report);
    return NULL;
}

/* ---- all of them ---- */

static const struct {
    const char *kind;
    err (*look)(struct check *c);
} kinds[] = {
    { "command", command_check },
    { "file", file_check },
    { "junit", junit_check },
};

static err check_one(struct check *c)
{
    str kind = json_str(c->asked, "kind");

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq(kind, str_from(kinds[i].kind)))
            return kinds[i].look(c);
    return err_new(c->arena, ERR_INVALID,
                   "expected the kind of a check to be command, file or junit, found \"" STR_FMT
                   "\"",
                   STR_ARG(kind));
}

static struct json check_shown(struct check *c)
{
    struct arena *a = c->arena;
    struct json out = json_object();

    json_put(a, &out, STR("kind"), json_string(json_str(c->asked, "kind")));
    json_put(a, &out, STR("ok"), json_bool(c->ok));
    json_put(a, &out, STR("what"), json_string(shortened(a, c->what, WHAT_MAX)));
    json_put(a, &out, STR("found"), json_string(shortened(a, c->found, FOUND_MAX)));
    if (c->output.len)
        json_put(a, &out, STR("output"), json_string(c->output));
    if (c->sha256.len)
        json_put(a, &out, STR("sha256"), json_string(c->sha256));
    if (c->has_tests) {
        json_put(a, &out, STR("tests"), json_int(a, c->tests));
        json_put(a, &out, STR("failures"), json_int(a, c->failures));
    }
    return out;
}

err evidence_check(struct arena *a, const struct json *asked, struct json *out)
{
    const struct json *checks = json_get(asked, "checks");
    struct json seen = json_array();
    bool ok = true;

    if (!json_is(checks, JSON_ARRAY) || checks->len > EVIDENCE_CHECKS_MAX)
        return err_new(a, ERR_INVALID, "expected {\"checks\": […]} with at most %d of them",
                       EVIDENCE_CHECKS_MAX);
    size_t share = OUTPUT_ALL / (checks->len ? checks->len : 1);
    for (uint32_t i = 0; i < checks->len; i++) {
        struct check c = { .arena = a,
                           .asked = &checks->items[i],
                           .output_max = share < OUTPUT_ONE ? share : OUTPUT_ONE };
        TRY(check_one(&c));
        ok = ok && c.ok;
        json_push(a, &seen, check_shown(&c));
    }
    *out = json_object();
    json_put(a, out, STR("ok"), json_bool(ok));
    json_put(a, out, STR("checks"), seen);
    return NULL;
}
