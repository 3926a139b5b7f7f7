/* lines.c: lines in and out.
 *
 * What is written in one turn of the loop goes out in one write. A client that does
 * not read is waited for without holding up what it writes, up to a bound. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/bridge/private.h"
#include "os/fd.h"

enum {
    LINE_MAX = JSON_BYTES_MAX, /* as much as the server takes in one request */
    HELD_MAX = 64 << 20,       /* of a longer line, to find out which request it is */
    KEPT_ROOM = 1 << 20,       /* a buffer that was larger is given back */
};

/* ---- out ---- */

/* Flags of the output are shared with whoever else has it open, so a pipe is opened again to get some
 * of our own. A file never makes us wait, and a socket can be told not to with each write. */
void lines_open(struct bridge *b)
{
    int fd = b->options.out;
    struct stat st;
    bool known = fstat(fd, &st) == 0;

    b->out.is_socket = known && S_ISSOCK(st.st_mode);
    b->out.fd = known && S_ISFIFO(st.st_mode) ? pipe_reopen(fd) : -1;
    if (b->out.fd < 0)
        b->out.fd = dup(fd);
    b->out.closed = b->out.fd < 0;
}

void lines_close(struct bridge *b)
{
    if (b->out.fd >= 0)
        close(b->out.fd);
    mem_free(b->in.at);
    mem_free(b->out.at);
}

size_t lines_unsent(const struct bridge *b)
{
    return b->out.len - b->out.from;
}

static char *out_reserve(struct lines_out *o, size_t n)
{
    if (o->room - o->len < n) {
        o->room = 2 * o->room > o->len + n ? 2 * o->room : o->len + n;
        o->at = mem_grow(o->at, o->room);
    }
    return o->at + o->len;
}

/* In JSON, a line's end is a space like any other: inside strings it is always escaped. */
void lines_put(struct bridge *b, str text)
{
    if (b->out.closed || text.len == 0)
        return;
    char *to = out_reserve(&b->out, text.len + 1);
    memcpy(to, text.at, text.len);
    for (char *end = memchr(to, '\n', text.len); end;
         end = memchr(end, '\n', (size_t)(to + text.len - end)))
        *end = ' ';
    to[text.len] = '\n';
    b->out.len += text.len + 1;
}

void lines_flush(struct bridge *b)
{
    struct lines_out *o = &b->out;

    while (o->from < o->len && !o->closed) {
        ssize_t n = o->is_socket ? send(o->fd, o->at + o->from, o->len - o->from,
                                        MSG_NOSIGNAL | MSG_DONTWAIT)
                                 : write(o->fd, o->at + o->from, o->len - o->from);
        if (n >= 0)
            o->from += (size_t)n;
        else if (errno == EAGAIN)
            return;
        else if (errno != EINTR)
            o->closed = true; /* nobody reads any more */
    }
    o->from = o->len = 0;
    if (o->room > KEPT_ROOM) {
        mem_free(o->at);
        o->at = NULL;
        o->room = 0;
    }
}

void lines_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("baton mcp: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void lines_fault(struct bridge *b, const struct json *id, int code, str message)
{
    struct buf out = buf_in(b->scratch);
    struct json_writer w = json_writer_to(&out);
    struct rpc_fault fault = { .code = (enum rpc_code)code, .message = message };

    rpc_write_fault(&w, id, &fault);
    lines_put(b, buf_str(&out));
}

/* ---- in ---- */

/* Room for what is read next, behind what there is of a line. */
static char *in_reserve(struct lines_in *in)
{
    if (in->from > 0) {
        memmove(in->at, in->at + in->from, in->len - in->from);
        in->len -= in->from;
        in->looked -= in->from;
        in->from = 0;
    }
    if (in->len == 0 && in->room > KEPT_ROOM) {
        mem_free(in->at);
        *in = (struct lines_in){ .skipping = in->skipping };
    }
    if (in->room - in->len < BRIDGE_PIECE) {
        in->room = 2 * in->room > in->len + BRIDGE_PIECE ? 2 * in->room : in->len + BRIDGE_PIECE;
        in->at = mem_grow(in->at, in->room);
    }
    return in->at + in->len;
}

/* The next whole line; at the end of input, what there is. */
static bool line_next(struct lines_in *in, str *line)
{
    str rest = { in->at + in->looked, in->len - in->looked };
    size_t end = str_find(rest, '\n');

    if (end == rest.len && !(in->ended && in->from < in->len)) {
        in->looked = in->len;
        return false;
    }
    size_t line_end = in->looked + end;
    *line = (str){ in->at + in->from, line_end - in->from };
    in->from = in->looked = line_end < in->len ? line_end + 1 : in->len;
    return true;
}

/* The request that it was is told, so that nobody waits for its answer. */
static void refuse_long(struct bridge *b, str line)
{
    static const struct json_limits limits = { .depth_max = 2 * JSON_DEPTH_MAX,
                                               .bytes_max = JSON_BYTES_CEILING };
    const struct json *message = NULL, *id = NULL;
    struct arena *a = arena_new();

    if (line.len <= HELD_MAX && !json_parse(a, line, &limits, &message))
        id = json_get(message, "id");
    bool known = json_is(id, JSON_STRING) || json_is(id, JSON_INTEGER);
    lines_fault(b, known ? id : NULL, RPC_INVALID,
                arena_printf(a,
                             "this message is too large: expected at most %d bytes; write less at "
                             "a time, for example with state_patch",
                             LINE_MAX));
    arena_free(a);
}

bool lines_next(struct bridge *b, str *line)
{
    struct lines_in *in = &b->in;

    while (line_next(in, line)) {
        *line = str_trim(*line);
        if (in->skipping)
            in->skipping = false;
        else if (line->len > LINE_MAX)
            refuse_long(b, *line);
        else if (line->len)
            return true;
    }
    if (in->len - in->from <= HELD_MAX)
        return false;
    if (!in->skipping)
        refuse_long(b, (str){ in->at + in->from, in->len - in->from });
    in->skipping = true;
    in->from = in->looked = in->len;
    return false;
}

void lines_read(struct bridge *b)
{
    struct lines_in *in = &b->in;
    char *to = in_reserve(in);
    ssize_t n = read(b->options.in, to, in->room - in->len);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    in->len += n > 0 ? (size_t)n : 0;
    in->ended = n <= 0;
}
