/* top.h: what baton top shows at one moment, how that becomes text, and the terminal that it is on.
 *
 * top_screen.c is pure: it knows no terminal, no server and no time. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "cli/session_tree.h"
#include "client/caller.h"

/* ---- top_screen.c ---- */

enum top_mode { TOP_LIST, TOP_DETAILS, TOP_CONFIRM, TOP_WHICH };

enum { TOP_INBOX_SHOWN_MAX = 5 }; /* `baton inbox` has all */

struct top_decisions;

struct top_view {
    const struct session_tree *tree;
    const struct json *runners;    /* NULL: not known */
    const struct json *own;        /* the server's own runner, as /ready has it; NULL: not known */
    const struct json *files;      /* that two members are at, as file.list has them; NULL: none */
    const struct json *unheard;    /* who has not heard, as wake.list has them; NULL: none */
    const struct json *executions; /* that are open, as execution.get has them; NULL: none */
    const struct json *inbox; /* that waits for a person, as inbox.list has it; NULL: nothing */
    bool cut;                 /* there are more sessions than were asked for */
    int64_t now_ms;
    size_t width, height; /* 0: no limit */
    bool unicode, coloured;
    bool live; /* keys do something */
    enum top_mode mode;
    str selected;                          /* the id of a session; empty: none */
    size_t from;                           /* the first row that is shown */
    str notice;                            /* what happened last; empty: nothing worth telling */
    const struct top_decisions *decisions; /* of this person; NULL: none */
    int64_t clock_ms;                      /* of a clock that does not jump, for them */
};

/* The row of the selected session; the first one when it is not there. */
size_t top_selected(const struct top_view *v);

/* Moves `from` so that the selected row is shown. */
void top_scroll(struct top_view *v);

/* The frame, in lines. With a height it has exactly so many. */
void top_frame(struct buf *out, const struct top_view *v);

/* The same as one line of JSON, but for what changes by time alone. */
void top_json(struct buf *out, const struct top_view *v);

/* ---- top_executions.c ---- */

/* Asks for workflows that run, those first that wait for a person: they are in the inbox. A server that has none, or none for
 * this token, gives an empty list. */
void top_executions_load(struct caller *k, struct arena *a, const struct json *inbox,
                         struct json *out);

/* How many lines they take, which depends on the height; and the lines. */
size_t top_executions_lines(const struct top_view *v);
void top_executions_put(struct buf *out, const struct top_view *v);

void top_executions_json(struct json_writer *w, const struct top_view *v);

/* ---- top_inbox.c ---- */

/* Asks for what waits for a person; nothing for a token that may not decide. */
void top_inbox_load(struct caller *k, struct arena *a, struct json *out);

/* Whether something of an execution is in it. */
bool top_inbox_has(const struct json *inbox, str execution);

/* How many of it are shown: the first ones. */
size_t top_inbox_shown(const struct top_view *v);

/* How many lines it takes, and the lines. */
size_t top_inbox_lines(const struct top_view *v);
void top_inbox_put(struct buf *out, const struct top_view *v);

void top_inbox_json(struct json_writer *w, const struct top_view *v);

/* ---- top_decide.c ---- */

enum { TOP_PENDING_MAX = 8, TOP_UNDO_MS = 5000, TOP_ID_MAX = 101 };

/* A decision that is sent when its time has come, unless it is taken back. */
struct top_pending {
    char id[TOP_ID_MAX], title[128], digest[TOP_ID_MAX];
    const char *decision;
    int64_t due_ms;
};

struct top_decisions {
    struct top_pending all[TOP_PENDING_MAX]; /* in the order in which they are due */
    size_t count;
    const char *asked;                          /* TOP_WHICH: what is to be decided, */
    char rows[TOP_INBOX_SHOWN_MAX][TOP_ID_MAX]; /* and what the numbers mean */
    size_t row_count;
};

/* How many of the rows that are shown take a decision, and the first of them. */
size_t top_decide_rows(const struct top_view *v, const char *decision, size_t *first);

/* Decides what alone takes the decision; where several do, the mode becomes TOP_WHICH. What is to be
 * said about it, or empty. */
str top_decide_ask(struct arena *a, struct top_decisions *d, struct top_view *v,
                   const char *decision);

/* The key that answers: a number, or enter for the first. The mode is TOP_LIST then. */
str top_decide_which(struct arena *a, struct top_decisions *d, struct top_view *v, char key);

/* Whether the numbers mean something else by now. */
bool top_decide_changed(const struct top_decisions *d, const struct top_view *v);

/* Takes back the last one. */
str top_decide_take_back(struct arena *a, struct top_decisions *d);

/* When the first one is to be sent; INT64_MAX: there is none. */
int64_t top_decide_due(const struct top_decisions *d);

/* Sends the first one, which is on its way no more, whatever comes of it. */
err top_decide_send(struct caller *k, struct arena *a, struct top_decisions *d, str *says);

/* ---- top_terminal.c ---- */

/* Takes the terminal of standard output, and keys from standard input where that is one too. However
 * the command ends, by its own will or by a signal, it is given back. A byte is written to `wake` when
 * its size has changed, or after it was given back for a while (Ctrl-Z). Ctrl-C ends the program. */
void terminal_take(int wake);
void terminal_give_back(void);

/* While something is to be done before the end, the first Ctrl-C, SIGTERM or SIGHUP only wakes, and
 * terminal_ended says so. */
void terminal_hold(bool hold);
bool terminal_ended(void);

/* How many lines it has. */
size_t terminal_height(void);

/* The frame, of as many lines as there are, as what makes a terminal show it and nothing else. */
void terminal_frame(struct buf *out, str frame);

/* ---- top_events.c ---- */

/* Writes a byte to `wake` for every event of sessions, runs, runners and executions, for as long as the process
 * lives. When the server is away it is looked for again. */
void top_listen(const char *data, int wake);

#endif
