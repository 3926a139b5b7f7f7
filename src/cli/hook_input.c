/* hook_input.c: what a client says to its hook, by standard input. */
#include "cli/hook_input.h"

#include <errno.h>
#include <unistd.h>

enum { PIECE = 64 << 10, INPUT_MAX = 16 << 20 };

err hook_input(struct arena *a, str *out)
{
    struct buf text = buf_in(a);
    ssize_t n = 1;

    while (n != 0 && text.len <= INPUT_MAX) {
        n = read(STDIN_FILENO, buf_reserve(&text, PIECE), PIECE);
        if (n < 0 && errno != EINTR)
            return err_new(a, ERR_INVALID, "cannot read standard input: %s", strerror(errno));
        text.len += n > 0 ? (size_t)n : 0;
    }
    hook_mend(text.at, text.len);
    *out = buf_str(&text);
    if (str_trim(*out).len == 0)
        return err_new(a, ERR_INVALID,
                       "expected the client's JSON on standard input, found nothing");
    return NULL;
}

static int hex_of(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

/* The code of \uXXXX at a place; −1: there is none. */
static int escape_at(const char *text, size_t len, size_t at)
{
    int code = 0;

    if (len < 6 || at > len - 6 || text[at] != '\\' || text[at + 1] != 'u')
        return -1;
    for (size_t i = at + 2; i < at + 6; i++) {
        int digit = hex_of(text[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* A backslash outside of a string is no JSON anyway, so strings need not be told from the rest. */
void hook_mend(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '\\')
            continue;
        int code = escape_at(text, len, i), next = escape_at(text, len, i + 6);
        bool high = code >= 0xd800 && code < 0xdc00, low = code >= 0xdc00 && code < 0xe000;
        bool pair = high && next >= 0xdc00 && next < 0xe000;
        if (code == 0 || low || (high && !pair))
            memcpy(text + i + 2, "fffd", 4);
        i += pair ? 11 : code >= 0 ? 5 : 1;
    }
}

/* By bytes, since what is behind it is for later. */
bool hook_input_line(struct arena *a, str *out)
{
    struct buf line = buf_in(a);
    char c = 0;
    ssize_t n = 1;

    while (n != 0 && c != '\n' && line.len < INPUT_MAX) {
        n = read(STDIN_FILENO, &c, 1);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0 && c != '\n')
            buf_byte(&line, c);
    }
    *out = buf_str(&line);
    return c == '\n' || line.len > 0;
}
