/* top_terminal.c: the whole of a terminal for one command, and its return as it was. */
#include "cli/top.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { HEIGHT_DEFAULT = 24 };

/* Signals reach nothing but what is here. */
static struct termios before;
static bool keys; /* standard input is a terminal, and `before` is how it was */
static int wake_fd;
static volatile sig_atomic_t held, ended;

static void put(const char *text)
{
    ssize_t n = write(STDOUT_FILENO, text, strlen(text));
    (void)n; /* a terminal that is gone needs nothing */
}

/* ---- calls that a handler of signals may make ---- */

static void enter(void)
{
    struct termios raw = before;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (keys)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    put("\033[?1049h\033[?25l"); /* another screen, without a cursor */
}

static void leave(void)
{
    put("\033[?25h\033[?1049l");
    if (keys)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

static void wake(void)
{
    ssize_t n = write(wake_fd, "w", 1);
    (void)n; /* a full pipe wakes as well */
}

static void on_resize(int signal)
{
    (void)signal;
    wake();
}

/* Whether the end can wait for what is to be done before; a second time it cannot. */
static bool holds(void)
{
    bool waits = held && !ended;

    if (waits) {
        ended = 1;
        wake();
    }
    return waits;
}

static void on_interrupt(int signal)
{
    (void)signal;
    if (holds())
        return;
    leave();
    _exit(0);
}

/* As if there were no handler, but with the terminal given back. */
static void on_end(int number)
{
    if ((number == SIGTERM || number == SIGHUP) && holds())
        return;
    leave();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_stop(int signal)
{
    (void)signal;
    leave();
    raise(SIGSTOP);
    enter();
    wake();
}

/* ---- for the command ---- */

static const struct {
    int signal;
    void (*handler)(int signal);
} handlers[] = {
    { SIGWINCH, on_resize }, { SIGINT, on_interrupt }, { SIGTSTP, on_stop }, { SIGTERM, on_end },
    { SIGHUP, on_end },      { SIGQUIT, on_end },      { SIGABRT, on_end },  { SIGSEGV, on_end },
};

void terminal_take(int wake_to)
{
    wake_fd = wake_to;
    keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &before) == 0;
    enter();
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        sigaction(handlers[i].signal,
                  &(struct sigaction){ .sa_handler = handlers[i].handler, .sa_flags = SA_RESTART },
                  NULL);
}

void terminal_give_back(void)
{
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        signal(handlers[i].signal, SIG_DFL);
    leave();
}

void terminal_hold(bool hold)
{
    held = hold;
}

bool terminal_ended(void)
{
    return ended;
}

size_t terminal_height(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row
                                                                           : HEIGHT_DEFAULT;
}

/* Each line clears what is left of the one that it covers; the last has no end: it would scroll. */
void terminal_frame(struct buf *out, str frame)
{
    str line, rest = frame;

    buf_add(out, STR("\033[H"));
    while (str_cut(rest, '\n', &line, &rest)) {
        buf_add(out, line);
        buf_add(out, STR("\033[K"));
        if (rest.len)
            buf_add(out, STR("\r\n"));
    }
    buf_add(out, STR("\033[J"));
}
