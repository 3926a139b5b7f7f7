/* both.c: the same test on SQLite and on PostgreSQL, and what was answered compared. */
#include "sim/both.h"

#include "sim/rows.h"

enum { SHOWN = 2000 }; /* bytes of a line */

static struct postgres *server; /* NULL: worlds are files */
static struct buf *transcript;  /* NULL: nobody listens */

const char *both_store(const char *path)
{
    return server ? postgres_new_schema(server) : path;
}

bool both_listens(void)
{
    return transcript != NULL;
}

void both_note(str lines)
{
    buf_add(transcript, lines);
}

void both_note_rows(struct sql *sql)
{
    if (transcript)
        both_note(rows_told(sql, check_arena()));
}

/* ---- the comparison ---- */

/* The line that holds a byte. */
static str line_at(str text, size_t at)
{
    size_t from = at, to = at;

    while (from > 0 && text.at[from - 1] != '\n')
        from--;
    while (to < text.len && text.at[to] != '\n' && to - from < SHOWN)
        to++;
    return str_slice(text, from, to);
}

void both_compare(str sqlite, str told)
{
    size_t at = 0, line = 1;

    if (str_eq(sqlite, told))
        return;
    while (at < sqlite.len && at < told.len && sqlite.at[at] == told.at[at])
        line += sqlite.at[at++] == '\n';
    check_fail(__FILE__, __LINE__,
               "line %zu differs\n  SQLite:     " STR_FMT "\n  PostgreSQL: " STR_FMT, line,
               STR_ARG(line_at(sqlite, at)), STR_ARG(line_at(told, at)));
}

/* ---- the two runs ---- */

void both_run(void (*body)(void))
{
    struct buf sqlite = buf_in(check_arena()), postgres = buf_in(check_arena());
    struct postgres *shared = postgres_shared(); /* first: it may skip the test */

    transcript = &sqlite;
    body();
    server = shared;
    transcript = &postgres;
    body();
    server = NULL;
    transcript = NULL;
    postgres_leave(shared);
    CHECK(sqlite.len > 0); /* else nothing was compared: is there a world that is never closed? */
    both_compare(buf_str(&sqlite), buf_str(&postgres));
}
