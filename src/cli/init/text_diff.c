/* text_diff.c: how two texts differ, line by line, as people read it.
 *
 * What is the same at both ends is set aside; the longest common subsequence of the rest says which
 * lines stay. Its table is as large as the product of both, so that what is too large for it is
 * shown as removed and added as a whole. */
#include "cli/init/text_diff.h"

#include <assert.h>

#include "cli/cli.h"

enum { AROUND = 3, CELLS_MAX = 4 << 20 };

struct lines {
    str *at; /* each without its end */
    size_t count;
    bool ends; /* the last one has an end */
};

/* One line of the comparison: of both texts, or of one of them. */
struct row {
    char sign;       /* ' ', '-' or '+' */
    size_t old, new; /* how many lines of each are before it */
};

struct diff {
    struct arena *arena;
    struct lines old, new;
    struct row *rows;
    size_t count;
};

static struct lines lines_of(struct arena *a, str text)
{
    struct lines l = { .ends = str_ends(text, STR("\n")) };
    size_t most = 1;

    for (size_t i = 0; i < text.len; i++)
        most += text.at[i] == '\n';
    l.at = ARENA_ARRAY(a, str, most);
    while (text.len) {
        str rest = STR("");
        str_cut(text, '\n', &l.at[l.count++], &rest);
        text = rest;
    }
    return l;
}

/* Whether line i of the old text stays as line j of the new one; the end of a text counts. */
static bool same(const struct diff *d, size_t i, size_t j)
{
    bool last_i = i + 1 == d->old.count && !d->old.ends;
    bool last_j = j + 1 == d->new.count && !d->new.ends;

    return last_i == last_j && str_eq(d->old.at[i], d->new.at[j]);
}

static void row_add(struct diff *d, char sign, size_t *i, size_t *j)
{
    d->rows[d->count++] = (struct row){ sign, *i, *j };
    *i += sign != '+';
    *j += sign != '-';
}

/* Lines from *i to i_end and from *j to j_end, by the table of how long the best rest is. */
static void rows_between(struct diff *d, size_t *i, size_t i_end, size_t *j, size_t j_end)
{
    size_t n = i_end - *i, m = j_end - *j, width = m + 1, i0 = *i, j0 = *j;
    bool tabled = n < CELLS_MAX && m < CELLS_MAX && (n + 1) * width <= CELLS_MAX;
    uint32_t *best = tabled ? arena_zero(d->arena, (n + 1) * width * sizeof *best) : NULL;

    for (size_t p = n; tabled && p-- > 0;)
        for (size_t q = m; q-- > 0;) {
            uint32_t down = best[(p + 1) * width + q], right = best[p * width + q + 1];
            best[p * width + q] = same(d, i0 + p, j0 + q) ? best[(p + 1) * width + q + 1] + 1
                                  : down > right          ? down
                                                          : right;
        }
    while (*i < i_end || *j < j_end) {
        size_t p = *i - i0, q = *j - j0;
        if (*i == i_end)
            row_add(d, '+', i, j);
        else if (*j == j_end || !tabled)
            row_add(d, '-', i, j);
        else if (same(d, *i, *j))
            row_add(d, ' ', i, j);
        else
            row_add(d, best[(p + 1) * width + q] >= best[p * width + q + 1] ? '-' : '+', i, j);
    }
}

static void rows_make(struct diff *d)
{
    size_t i = 0, j = 0, tail = 0, n = d->old.count, m = d->new.count;

    d->rows = ARENA_ARRAY(d->arena, struct row, n + m + 1);
    while (i < n && j < m && same(d, i, j))
        row_add(d, ' ', &i, &j);
    while (tail < n - i && tail < m - j && same(d, n - 1 - tail, m - 1 - tail))
        tail++;
    rows_between(d, &i, n - tail, &j, m - tail);
    while (i < n)
        row_add(d, ' ', &i, &j);
    assert(j == m);
}

/* ---- showing ---- */

static void put_line(struct buf *out, const struct diff *d, const struct row *r, bool coloured)
{
    bool old = r->sign != '+';
    const struct lines *l = old ? &d->old : &d->new;
    size_t number = old ? r->old : r->new;
    enum paint paint = !coloured || r->sign == ' ' ? PAINT_PLAIN : old ? PAINT_ERROR : PAINT_GOOD;
    str line = l->at[number];

    if (str_ends(line, STR("\r"))) /* the end of a line, where lines end so */
        line.len--;
    term_put(out, paint, arena_printf(out->arena, "%c" STR_FMT, r->sign, STR_ARG(line)));
    buf_byte(out, '\n');
    if (number + 1 == l->count && !l->ends)
        buf_add(out, STR("\\ No newline at end of file\n"));
}

/* A range as diffs write it: counted from 1, and of no lines from the one before. */
static void put_range(struct buf *out, char sign, size_t from, size_t count)
{
    buf_printf(out, "%c%zu", sign, count ? from + 1 : from);
    if (count != 1)
        buf_printf(out, ",%zu", count);
}

static void put_hunk(struct buf *out, const struct diff *d, size_t from, size_t to, bool coloured)
{
    size_t old = 0, new = 0;

    for (size_t i = from; i < to; i++) {
        old += d->rows[i].sign != '+';
        new += d->rows[i].sign != '-';
    }
    buf_add(out, STR("@@ "));
    put_range(out, '-', d->rows[from].old, old);
    buf_byte(out, ' ');
    put_range(out, '+', d->rows[from].new, new);
    buf_add(out, STR(" @@\n"));
    for (size_t i = from; i < to; i++)
        put_line(out, d, &d->rows[i], coloured);
}

/* The index of the first changed row at or after `from`. */
static size_t next_change(const struct diff *d, size_t from)
{
    while (from < d->count && d->rows[from].sign == ' ')
        from++;
    return from;
}

static void put_hunks(struct buf *out, const struct diff *d, bool coloured)
{
    size_t at = next_change(d, 0);

    while (at < d->count) {
        size_t from = at > AROUND ? at - AROUND : 0, last = at;
        /* Changes whose lines around them would meet are shown as one. */
        while ((at = next_change(d, last + 1)) < d->count && at - last <= 2 * AROUND + 1)
            last = at;
        size_t to = last + 1 + AROUND < d->count ? last + 1 + AROUND : d->count;
        put_hunk(out, d, from, to, coloured);
    }
}

void text_diff(struct buf *out, const char *path, str old, str new, bool coloured)
{
    struct diff d = { .arena = out->arena };

    if (str_eq(old, new))
        return;
    d.old = lines_of(d.arena, old);
    d.new = lines_of(d.arena, new);
    rows_make(&d);
    buf_printf(out, "--- %s%s\n", old.len ? "a/" : "/dev/null", old.len ? path : "");
    buf_printf(out, "+++ %s%s\n", new.len ? "b/" : "/dev/null", new.len ? path : "");
    put_hunks(out, &d, coloured);
}
