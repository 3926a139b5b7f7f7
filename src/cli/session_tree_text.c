/* session_tree_text.c: a tree of sessions as lines for people. */
#include "cli/cli.h"
#include "cli/session_tree.h"

enum {
    NAME_LEAST = 10,  /* characters of names, or a third of the line, before columns are left out */
    LAST_LEAST = 12,  /* and of what a session did last; */
    LAST_MORE = 12,   /* so many more where a name is cut anyway */
    MIDDLE_LEAST = 9, /* characters of a name that is cut in its middle */
    GAP = 2,
};

/* ---- small things ---- */

str tree_money(struct arena *a, int64_t micros)
{
    if (micros <= 0)
        return STR("");
    if (micros < 10000)
        return STR("<$0.01");
    return arena_printf(a, "$%.2f", (double)micros / 1e6);
}

str tree_count(struct arena *a, int64_t n)
{
    if (n < 1000)
        return n > 0 ? arena_printf(a, "%lld", (long long)n) : STR("");
    double thousands = (double)n / 1e3;
    const char *unit = "k";
    if (thousands >= 999.5) {
        thousands /= 1e3;
        unit = "M";
    }
    return arena_printf(a, thousands < 9.95 ? "%.1f%s" : "%.0f%s", thousands, unit);
}

/* ---- cells ---- */

struct drawing {
    struct buf *out;
    struct arena *arena;
    const struct session_tree *tree;
    const struct tree_style *style;
};

static str cell_status(const struct drawing *d, const struct tree_node *n)
{
    (void)d;
    return n->rank == RANK_SILENT ? STR("silent") : json_str(n->session, "status");
}

static str cell_update(const struct drawing *d, const struct tree_node *n)
{
    (void)d;
    return json_str(n->session, "state_update_status");
}

/* The role, and how its client is started where the role does not say it all. */
static str cell_agent(const struct drawing *d, const struct tree_node *n)
{
    str agent = json_str(n->session, "agent_name"), profile = json_str(n->session, "profile");

    if (!agent.len || !profile.len)
        return agent.len ? agent : profile.len ? profile : STR("outside");
    return arena_printf(d->arena, STR_FMT "/" STR_FMT, STR_ARG(agent), STR_ARG(profile));
}

static str cell_age(const struct drawing *d, const struct tree_node *n)
{
    return render_age(d->arena, d->style->now_ms - n->heard_ms);
}

static str cell_tokens(const struct drawing *d, const struct tree_node *n)
{
    return tree_count(d->arena, n->own.tokens);
}

static str cell_cost(const struct drawing *d, const struct tree_node *n)
{
    return tree_money(d->arena, n->own.cost);
}

static str cell_cost_all(const struct drawing *d, const struct tree_node *n)
{
    return tree_money(d->arena, n->all.cost);
}

static str cell_queued(const struct drawing *d, const struct tree_node *n)
{
    return tree_count(d->arena, n->queued);
}

static str cell_children(const struct drawing *d, const struct tree_node *n)
{
    return tree_count(d->arena, n->children);
}

/* Its first line; signs that are none would take more room than was counted. */
static str cell_last(const struct drawing *d, const struct tree_node *n)
{
    str error = json_str(n->session, "error"), line, rest;

    str_cut(error.len ? error : json_str(n->session, "last_event"), '\n', &line, &rest);
    str copy = arena_copy(d->arena, line);
    for (char *at = (char *)copy.at; *at; at++)
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
    return copy;
}

// clang-format off
static const struct {
    unsigned bit;
    const char *title;
    bool right;
    int stays; /* those with less go first when there is no room */
    str (*cell)(const struct drawing *d, const struct tree_node *n);
} columns[] = {
    { TREE_STATUS,   "status",   false, 9, cell_status },
    { TREE_UPDATE,   "update",   false, 6, cell_update },
    { TREE_AGENT,    "agent",    false, 3, cell_agent },
    { TREE_AGE,      "age",      true,  8, cell_age },
    { TREE_TOKENS,   "tokens",   true,  1, cell_tokens },
    { TREE_COST,     "cost",     true,  2, cell_cost },
    { TREE_COST_ALL, "with all", true,  4, cell_cost_all },
    { TREE_QUEUED,   "queued",   true,  5, cell_queued },
    { TREE_CHILDREN, "children", true,  0, cell_children },
    { TREE_LAST,     "last",     false, 7, cell_last },
};
// clang-format on

enum { COLUMNS = sizeof columns / sizeof *columns };

/* ---- what there is room for ---- */

struct layout {
    size_t gutter, name; /* characters of the marks in front, and of names */
    size_t width[COLUMNS];
    bool shown[COLUMNS];
};

static size_t name_width(const struct tree_row *row)
{
    return (size_t)row->depth * 3 + render_text_width(row->node->name);
}

static void layout_measure(const struct drawing *d, struct layout *o)
{
    const struct session_tree *t = d->tree;

    *o = (struct layout){ .gutter = d->style->selected.len || t->ranks[RANK_NEEDS_YOU] ? 3 : 0,
                          .name = strlen("session") };
    for (size_t r = 0; r < t->count; r++) {
        size_t width = name_width(&t->rows[r]);
        o->name = width > o->name ? width : o->name;
        for (size_t i = 0; i < COLUMNS; i++) {
            if (!(d->style->columns & columns[i].bit))
                continue;
            width = render_text_width(columns[i].cell(d, t->rows[r].node));
            o->shown[i] = o->shown[i] || width > 0;
            o->width[i] = width > o->width[i] ? width : o->width[i];
        }
    }
    for (size_t i = 0; i < COLUMNS; i++)
        if (o->width[i] < strlen(columns[i].title))
            o->width[i] = strlen(columns[i].title);
}

static size_t layout_width(const struct layout *o, size_t name)
{
    size_t width = o->gutter + name;

    for (size_t i = 0; i < COLUMNS; i++)
        if (o->shown[i])
            width += GAP + (columns[i].bit == TREE_LAST ? LAST_LEAST : o->width[i]);
    return width;
}

/* Leaves columns out until names have room, the status last; then names get what there is. What a session
 * did last is worth more than the whole of a long name. */
static void layout_fit(const struct drawing *d, struct layout *o)
{
    size_t width = d->style->width, least = width / 3 > NAME_LEAST ? width / 3 : NAME_LEAST;

    if (!width)
        return;
    least = o->name < least ? o->name : least;
    for (int stays = 0; stays <= 9 && layout_width(o, stays < 2 ? o->name : least) > width; stays++)
        for (size_t i = 0; i < COLUMNS; i++)
            if (columns[i].stays == stays)
                o->shown[i] = false;
    size_t rest = layout_width(o, 0);
    size_t room = width > rest ? width - rest : 1;
    if (o->name > room && o->shown[COLUMNS - 1])
        room = room > least + LAST_MORE ? room - LAST_MORE : room < least ? room : least;
    o->name = o->name > room ? room : o->name;
    o->width[COLUMNS - 1] = width - layout_width(o, o->name) + LAST_LEAST;
}

/* ---- lines ---- */

static enum paint paint_of(str status)
{
    static const struct {
        const char *word;
        enum paint paint;
    } paints[] = {
        { "running", PAINT_GOOD },  { "pending", PAINT_KEY },  { "idle", PAINT_KEY },
        { "finished", PAINT_DIM },  { "stopped", PAINT_DIM },  { "skipped", PAINT_DIM },
        { "completed", PAINT_DIM }, { "failed", PAINT_ERROR }, { "silent", PAINT_DIM },
    };

    for (size_t i = 0; i < sizeof paints / sizeof *paints; i++)
        if (str_eq(status, str_from(paints[i].word)))
            return paints[i].paint;
    return PAINT_PLAIN;
}

static void put_spaces(struct buf *out, size_t n)
{
    while (n-- > 0)
        buf_byte(out, ' ');
}

static str cut(const struct drawing *d, str text, size_t width)
{
    if (d->style->unicode || render_text_width(text) <= width)
        return render_cut(d->arena, text, width);
    text = render_cut(d->arena, text, width);
    return arena_printf(d->arena, STR_FMT "~", STR_ARG(str_slice(text, 0, text.len - 3)));
}

static void put_cell(const struct drawing *d, enum paint paint, str text, size_t width, bool right)
{
    text = cut(d, text, width);
    size_t space = width - render_text_width(text);
    if (right)
        put_spaces(d->out, space);
    term_put(d->out, paint, text);
    if (!right)
        put_spaces(d->out, space);
}

/* Both of its ends: names that are made of a client's, a folder's and an id differ in either. */
static str name_cut(const struct drawing *d, str name, size_t room)
{
    if (name.len <= room || room < MIDDLE_LEAST || render_text_width(name) != name.len)
        return name;
    size_t tail = (room - 1) / 2;
    return arena_printf(d->arena, STR_FMT "%s" STR_FMT,
                        STR_ARG(str_slice(name, 0, room - 1 - tail)), d->style->unicode ? "…" : "~",
                        STR_ARG(str_slice(name, name.len - tail, name.len)));
}

static str name_shown(const struct drawing *d, const struct tree_row *row, size_t width)
{
    size_t before = (size_t)row->depth * 3;
    static const char *const signs[2][4] = { { "|  ", "   ", "|- ", "`- " },
                                             { "│  ", "   ", "├─ ", "└─ " } };
    const char *const *sign = signs[d->style->unicode];
    struct buf out = buf_in(d->arena);

    for (size_t i = 0; i < row->branch.len; i++)
        buf_add(&out, str_from(sign[row->branch.at[i] == '|' ? 0 : 1]));
    if (row->depth > 0)
        buf_add(&out, str_from(sign[row->last ? 3 : 2]));
    buf_add(&out, name_cut(d, row->node->name, width > before ? width - before : 0));
    return buf_str(&out);
}

static void end_line(struct buf *out, size_t from)
{
    while (out->len > from && out->at[out->len - 1] == ' ')
        out->len--;
    buf_byte(out, '\n');
}

static void put_titles(const struct drawing *d, const struct layout *o)
{
    enum paint paint = d->style->coloured ? PAINT_DIM : PAINT_PLAIN;
    size_t from = d->out->len;

    put_spaces(d->out, o->gutter);
    put_cell(d, paint, STR("session"), o->name, false);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!o->shown[i])
            continue;
        put_spaces(d->out, GAP);
        put_cell(d, paint, str_from(columns[i].title), o->width[i], columns[i].right);
    }
    end_line(d->out, from);
}

/* The marks in front say in signs what colours say too. */
static void put_row(const struct drawing *d, const struct layout *o, const struct tree_row *row)
{
    const struct tree_node *n = row->node;
    bool selected = d->style->selected.len && str_eq(d->style->selected, n->id);
    bool coloured = d->style->coloured && !selected;
    size_t from = d->out->len;

    if (selected && d->style->coloured)
        buf_add(d->out, STR("\033[7m"));
    if (o->gutter)
        buf_printf(d->out, "%c%c ", selected ? '>' : ' ', n->rank == RANK_NEEDS_YOU ? '!' : ' ');
    put_cell(d, PAINT_PLAIN, name_shown(d, row, o->name), o->name, false);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!o->shown[i])
            continue;
        str text = columns[i].cell(d, n);
        put_spaces(d->out, GAP);
        put_cell(d, coloured ? paint_of(text) : PAINT_PLAIN, text, o->width[i], columns[i].right);
    }
    if (selected && d->style->coloured)
        buf_add(d->out, STR("\033[0m"));
    end_line(d->out, from);
}

void session_tree_print(struct buf *out, const struct session_tree *t, const struct tree_style *l)
{
    struct drawing d = { .out = out, .arena = out->arena, .tree = t, .style = l };
    struct layout layout;

    layout_measure(&d, &layout);
    layout_fit(&d, &layout);
    put_titles(&d, &layout);
    for (size_t i = l->from; i < t->count && (!l->count || i < l->from + l->count); i++)
        put_row(&d, &layout, &t->rows[i]);
}
