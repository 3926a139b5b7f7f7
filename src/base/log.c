/* log.c: one line of key=value for each thing that happened.
 *
 * A line is put together on the stack and cut where it becomes too long, so that logging works
 * when memory is short and a line into a pipe arrives in one piece. Knows no clock: whoever keeps
 * the lines (journald, a container's runtime) stamps them. */
#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "base/utf8.h"

#define LINE_BYTES 4000 /* with a level before it, still below the 4,096 that pipes take whole */

static void stderr_write(void *to, enum log_level level, str line);

static struct {
    enum log_level least;
    void (*write)(void *to, enum log_level level, str line);
    void *to;
} sink = { LOG_INFO, stderr_write, NULL };

void log_to(enum log_level least, void (*write)(void *to, enum log_level level, str line), void *to)
{
    assert(write);
    sink.least = least;
    sink.write = write;
    sink.to = to;
}

/* Lines that somebody should look at say so. */
static void stderr_write(void *to, enum log_level level, str line)
{
    static const char *const prefix[] = {
        [LOG_DEBUG] = "debug: ", [LOG_INFO] = "", [LOG_WARN] = "warn: ", [LOG_ERROR] = "error: "
    };
    (void)to;
    char text[LINE_BYTES + 16];
    size_t prefix_len = strlen(prefix[level]), len = prefix_len + line.len;
    assert(len <= sizeof(text));
    memcpy(text, prefix[level], prefix_len);
    memcpy(text + prefix_len, line.at, line.len);

    /* A caller may log before it looks at errno. What cannot be written is lost: there is nowhere
     * to say so. */
    int saved = errno;
    ssize_t n;
    do
        n = write(STDERR_FILENO, text, len);
    while (n < 0 && errno == EINTR);
    errno = saved;
}

struct line {
    char at[LINE_BYTES];
    size_t len;
    bool cut;
};

static void put(struct line *l, str s)
{
    size_t room = sizeof(l->at) - 1 - l->len; /* the newline always fits */
    if (s.len > room) {
        s.len = room;
        l->cut = true;
    }
    if (s.len)
        memcpy(l->at + l->len, s.at, s.len);
    l->len += s.len;
}

/* The bytes of the character at the front; *shown: as they are, and not as numbers, because a terminal
 * would obey it or cannot know it. */
static size_t char_bytes(str s, bool *shown)
{
    str rest = s;

    *shown = false;
    if ((unsigned char)s.at[0] >= 0x80 && utf8_valid_to(str_slice(s, 0, 4)) == 0)
        return 1;
    *shown = !utf8_is_control(utf8_next(&rest));
    return s.len - rest.len;
}

static bool needs_quotes(str s)
{
    bool shown = true;

    for (size_t i = 0; i < s.len && shown; i += char_bytes(str_slice(s, i, s.len), &shown))
        if (s.at[i] == ' ' || s.at[i] == '"')
            return true;
    return s.len == 0 || !shown;
}

static void put_number(struct line *l, char c)
{
    char hex[] = { '\\', 'x', "0123456789abcdef"[c >> 4 & 15], "0123456789abcdef"[c & 15] };

    put(l, (str){ hex, sizeof(hex) });
}

static void put_quoted(struct line *l, str s)
{
    bool shown;

    put(l, STR("\""));
    for (size_t i = 0, n; i < s.len && !l->cut; i += n) {
        char c = s.at[i];
        n = char_bytes(str_slice(s, i, s.len), &shown);
        if (c == '\n')
            put(l, STR("\\n"));
        else if (c == '"' || c == '\\')
            put(l, (str){ (char[]){ '\\', c }, 2 });
        else if (shown)
            put(l, str_slice(s, i, i + n));
        else
            for (size_t k = i; k < i + n; k++)
                put_number(l, s.at[k]);
    }
    put(l, STR("\""));
}

static void put_int(struct line *l, int64_t number)
{
    char room[INT_ROOM];

    put(l, str_of_int(room, number));
}

/* Replaces the end by dots, and takes away what that leaves of a character of several bytes. */
static void put_dots(struct line *l)
{
    const str dots = STR("...");
    l->len -= dots.len;
    while (l->len && (l->at[l->len] & 0xc0) == 0x80)
        l->len--;
    put(l, dots);
}

void log_line(enum log_level level, const char *what, const struct log_field *fields)
{
    if (level < sink.least)
        return;
    struct line l;
    l.len = 0;
    l.cut = false;

    put(&l, str_from(what));
    for (const struct log_field *f = fields; f->key && !l.cut; f++) {
        put(&l, STR(" "));
        put(&l, str_from(f->key));
        put(&l, STR("="));
        if (f->kind == LOG_INT)
            put_int(&l, f->number);
        else if (needs_quotes(f->text))
            put_quoted(&l, f->text);
        else
            put(&l, f->text);
    }
    if (l.cut)
        put_dots(&l);
    assert(l.len < sizeof l.at);
    l.at[l.len++] = '\n';
    sink.write(sink.to, level, (str){ l.at, l.len });
}
