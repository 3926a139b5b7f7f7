/* session_tree.h: sessions as the trees that they are, and pictures of them.
 *
 * Pure: from the server's JSON, a time and a width to text. Sums of what is below a session are
 * made here; so is the order, in which what needs somebody comes first. Does not know where
 * sessions come from. */
#ifndef CLI_SESSION_TREE_H
#define CLI_SESSION_TREE_H

#include "json/json.h"

/* What comes first. */
enum tree_rank { RANK_NEEDS_YOU, RANK_RUNNING, RANK_IDLE, RANK_SILENT, RANK_ENDED, RANKS };

struct tree_sum {
    int64_t cost;   /* in millionths of a dollar */
    int64_t tokens; /* read and written */
};

struct tree_node {
    const struct json *session;
    str id, name;
    struct tree_node *parent, *first, *next; /* above it, its first child, its next sibling */
    enum tree_rank rank, rank_below;         /* its own, and the first of all in its tree */
    struct tree_sum own, all;                /* all: with what is below it */
    int64_t created_ms, heard_ms;            /* heard: its last sign of life */
    int64_t queued;                          /* its runs that wait */
    int64_t children;
    bool seen; /* it has a row */
};

struct tree_row {
    struct tree_node *node;
    int depth;
    str branch; /* in front of the name, up to where the node itself begins */
    bool last;  /* of its siblings */
};

struct session_tree {
    struct tree_row *rows; /* as they are shown */
    size_t count;
    struct tree_sum sum;
    int64_t ranks[RANKS];
    int64_t queued;
};

/* What a tree is made of. */
struct tree_source {
    const struct json *sessions; /* an array, as session.list gives them */
    const struct json *runs;     /* those that wait; NULL: not known */
    const struct json *runners;  /* NULL: not known */
    int64_t now_ms;
    bool urgent_first; /* else in the order in which they were made */
    str top;           /* only this session and what is below it; empty: all */
};

/* Whose parent is not there is a root. Every session has one row, even if parents went round in a
 * circle. */
void session_tree_make(struct arena *a, const struct tree_source *s, struct session_tree *out);

/* The same as JSON: an array of the sessions in their order, parents before their children, each
 * with more members: how many `children` and `queued_runs` it has, whether it `needs_you`, and what
 * its `subtree` has used. */
void session_tree_json(struct json_writer *w, const struct session_tree *t);

/* ---- session_tree_text.c ---- */

/* Columns, in their order. */
enum tree_column {
    TREE_STATUS = 1,
    TREE_UPDATE = 2,
    TREE_AGENT = 4,
    TREE_AGE = 8,
    TREE_TOKENS = 16,
    TREE_COST = 32,
    TREE_COST_ALL = 64,
    TREE_QUEUED = 128,
    TREE_CHILDREN = 256,
    TREE_LAST = 512,
};

struct tree_style {
    unsigned columns; /* besides the name */
    size_t width;     /* of the terminal; 0: as wide as it gets */
    bool unicode, coloured;
    int64_t now_ms;
    size_t from, count; /* which rows; count 0: all from there on */
    str selected;       /* the id of the session whose row is marked; empty: none */
};

/* A line of titles, then a line for each row. Columns that have no room, the least important first,
 * are left out; then names are cut. */
void session_tree_print(struct buf *out, const struct session_tree *t, const struct tree_style *l);

/* "$0.12"; "950", "1.2k", "3.4M". */
str tree_money(struct arena *a, int64_t micros);
str tree_count(struct arena *a, int64_t n);

#endif
