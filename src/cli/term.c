/* term.c: the terminal, files and standard input, and how a command ends.
 *
 * Knows no verb and no JSON beyond its strings. */
#include "cli/cli.h"

#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- colours ---- */

// clang-format off
static const char *const codes[] = {
    [PAINT_ERROR]  = "\033[31m",
    [PAINT_GOOD]   = "\033[32m",
    [PAINT_KEY]    = "\033[36m",
    [PAINT_STRING] = "\033[32m",
    [PAINT_DIM]    = "\033[2m",
};
// clang-format on

static bool env_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

bool term_coloured(int fd)
{
    if (env_set("NO_COLOR"))
        return false;
    if (env_set("CLICOLOR_FORCE") && strcmp(getenv("CLICOLOR_FORCE"), "0") != 0)
        return true;
    return isatty(fd) && env_set("TERM") && strcmp(getenv("TERM"), "dumb") != 0;
}

static void put_painted(struct buf *out, enum paint paint, str text)
{
    if (paint == PAINT_PLAIN) {
        buf_add(out, text);
        return;
    }
    buf_add(out, str_from(codes[paint]));
    buf_add(out, text);
    buf_add(out, STR("\033[0m"));
}

/* What a terminal would obey becomes \u escapes, bytes that are not UTF-8 become U+FFFD. Of texts that
 * we have made for a terminal, C0 is our own: lines, colours. */
static str visible(struct arena *a, str text, bool ours)
{
    struct buf out = buf_in(a);
    while (text.len > 0) {
        if (utf8_valid_to(str_slice(text, 0, 4)) == 0) {
            buf_add(&out, STR("\xef\xbf\xbd"));
            text = str_slice(text, 1, text.len);
            continue;
        }
        str before = text;
        uint32_t c = utf8_next(&text);
        if (utf8_is_control(c) && (c >= 0x20 || !ours))
            buf_printf(&out, "\\u%04x", (unsigned)c);
        else
            buf_add(&out, str_slice(before, 0, before.len - text.len));
    }
    return buf_str(&out);
}

str term_utf8(struct arena *a, str text)
{
    return utf8_valid(text) ? text : visible(a, text, false);
}

void term_put(struct buf *out, enum paint paint, str text)
{
    put_painted(out, paint, visible(out->arena, text, false));
}

/* One past the closing quote of the string that begins at `from`. */
static size_t string_end(str s, size_t from)
{
    size_t i = from + 1;
    while (s.at[i] != '"')
        i += s.at[i] == '\\' ? 2 : 1;
    return i + 1;
}

void term_put_json(struct buf *out, str printed)
{
    for (size_t i = 0, end; i < printed.len; i = end) {
        enum paint paint = PAINT_PLAIN;
        if (printed.at[i] == '"') {
            end = string_end(printed, i);
            paint = end < printed.len && printed.at[end] == ':' ? PAINT_KEY : PAINT_STRING;
        } else if (printed.at[i] == 'n') {
            end = i + strlen("null");
            paint = PAINT_DIM;
        } else {
            for (end = i + 1; end < printed.len; end++)
                if (printed.at[end] == '"' || printed.at[end] == 'n')
                    break;
        }
        put_painted(out, paint, str_slice(printed, i, end));
    }
}

/* ---- reading ---- */

enum { PIECE_MAX = 1 << 20 }; /* bytes that are read before they are looked at */

const char *cli_path_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static err read_error(struct arena *a, const char *path, int number)
{
    enum error_kind kind = number == ENOENT || number == ENOTDIR ? ERR_NOT_FOUND
                           : number == EACCES || number == EPERM ? ERR_FORBIDDEN
                                                                 : ERR_INVALID;
    return err_new(a, kind, "cannot read %s: %s", cli_path_name(path), strerror(number));
}

/* How deep the brackets are, looked at piece by piece: a gigabyte of them is not worth reading. What is
 * no JSON is for the parser to say. */
struct nesting {
    size_t depth, most; /* most is 0: nobody asks */
    bool quoted, escaped;
};

static bool nesting_within(struct nesting *n, str piece)
{
    for (size_t i = 0; n->most && i < piece.len; i++) {
        char c = piece.at[i];
        if (n->quoted) {
            n->quoted = n->escaped || c != '"';
            n->escaped = !n->escaped && c == '\\';
            continue;
        }
        n->quoted = c == '"';
        n->depth += c == '[' || c == '{';
        n->depth -= (c == ']' || c == '}') && n->depth;
        if (n->depth > n->most)
            return false;
    }
    return true;
}

struct reading {
    size_t bytes_max;
    struct nesting nesting;
};

static err too_large(struct arena *a, const char *path, const struct reading *r)
{
    return err_new(a, ERR_TOO_LARGE, "%s is larger than %zu bytes", cli_path_name(path),
                   r->bytes_max);
}

/* All bytes that the descriptor gives. The extra byte of room lets the last read see the end of a
 * file whose size was known, without growing the buffer. */
static err read_all(struct arena *a, int fd, const char *path, struct reading *r, str *out)
{
    struct stat st;
    struct buf text = buf_in(a);
    bool sized = fstat(fd, &st) == 0 && st.st_size > 0;
    if (sized && (uint64_t)st.st_size > r->bytes_max)
        return too_large(a, path, r);
    if (sized)
        buf_reserve(&text, (size_t)st.st_size + 1);

    for (;;) {
        if (text.room - text.len == 0)
            buf_reserve(&text, 64 << 10);
        size_t most = text.room - text.len;
        ssize_t n = read(fd, text.at + text.len, most < PIECE_MAX ? most : PIECE_MAX);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return read_error(a, path, errno);
        if (n == 0)
            break;
        text.len += (size_t)n;
        if (text.len > r->bytes_max)
            return too_large(a, path, r);
        if (!nesting_within(&r->nesting, (str){ text.at + text.len - n, (size_t)n }))
            return err_new(
                a, ERR_INVALID,
                "%s: expected at most %zu containers inside each other, found more within "
                "the first %zu bytes",
                cli_path_name(path), r->nesting.most, text.len);
    }
    *out = buf_str(&text);
    return NULL;
}

static err read_path(struct cli *c, struct arena *a, const char *path, struct reading *r, str *out)
{
    if (strcmp(path, "-") == 0) {
        if (c->stdin_used)
            return err_new(a, ERR_INVALID,
                           "standard input can be read only once, but '-' is given twice");
        c->stdin_used = true;
        return read_all(a, STDIN_FILENO, path, r, out);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return read_error(a, path, errno);
    err e = read_all(a, fd, path, r, out);
    close(fd);
    return e;
}

err cli_read(struct cli *c, struct arena *a, const char *path, str *out)
{
    struct reading r = { .bytes_max = JSON_BYTES_CEILING };

    return read_path(c, a, path, &r, out);
}

err cli_read_json(struct cli *c, struct arena *a, const char *path,
                  const struct json_limits *limits, str *out)
{
    struct reading r = { .bytes_max = limits->bytes_max, .nesting.most = limits->depth_max };

    return read_path(c, a, path, &r, out);
}

/* ---- writing, and the end ---- */

static void write_out(struct cli *c, str text)
{
    if (fwrite(text.at, 1, text.len, stdout) < text.len && !c->write_error)
        c->write_error = errno;
}

static bool is_ascii(str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.at[i] >= 0x7f)
            return false;
    return true;
}

/* The one way to standard output: whatever has put a text together, a terminal gets nothing of it
 * that could drive it. */
void cli_write(struct cli *c, str text)
{
    if (c->terminal && !is_ascii(text)) {
        struct arena *a = arena_new();
        text = visible(a, text, true);
        write_out(c, text);
        arena_free(a);
    } else {
        write_out(c, text);
    }
}

bool cli_flush(struct cli *c)
{
    if (fflush(stdout) != 0 && !c->write_error)
        c->write_error = errno;
    return !c->write_error;
}

static void print_error(struct cli *c, err e)
{
    struct buf out = buf_in(c->arena);
    if (c->json) {
        struct json_writer w = json_writer_to(&out);
        json_write_begin(&w, '{');
        json_write_name(&w, STR("error"));
        json_write_str(&w, term_utf8(c->arena, e->message));
        if (e->members.len) {
            buf_byte(&out, ',');
            buf_add(&out, e->members);
        }
        json_write_end(&w, '}');
    } else {
        bool coloured = term_coloured(STDERR_FILENO);
        put_painted(&out, coloured ? PAINT_ERROR : PAINT_PLAIN, STR("baton:"));
        buf_byte(&out, ' ');
        term_put(&out, PAINT_PLAIN, e->message);
    }
    buf_byte(&out, '\n');
    str text = isatty(STDERR_FILENO) ? visible(c->arena, buf_str(&out), true) : buf_str(&out);
    fwrite(text.at, 1, text.len, stderr);
}

void cli_warn(struct cli *c, err e)
{
    cli_flush(c);
    print_error(c, e);
}

void cli_note(struct cli *c, const char *format, ...)
{
    struct buf text = buf_in(c->arena);
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    if (!c->json)
        cli_warn(c, err_new(c->arena, ERR_UNAVAILABLE, STR_FMT, STR_ARG(buf_str(&text))));
}

int cli_end(struct cli *c, err e)
{
    if (e)
        cli_warn(c, e);
    if (cli_flush(c))
        return e ? error_kind_info(e->kind)->exit : c->exit;

    /* Whoever read our output has seen enough: end as the signal would have ended us, silently. */
    if (c->write_error == EPIPE)
        return 128 + SIGPIPE;
    enum error_kind kind = c->write_error == ENOSPC || c->write_error == EDQUOT ? ERR_FULL
                                                                                : ERR_INTERNAL;
    print_error(c, err_new(c->arena, kind, "cannot write to standard output: %s",
                           strerror(c->write_error)));
    return error_kind_info(kind)->exit;
}

int64_t cli_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
