/* fuzz: src/flow/graph.c src/flow/nodes.c src/flow/steps.c src/flow/work.c src/flow/builder.c src/flow/walk.c src/flow/draw.c src/cli/graph_text.c */
/* graph.c: definitions of workflows, and their pictures as lines. Input: the width of a terminal in a
 * byte, then the definition's text.
 *
 * What compiles holds together, is drawn as JSON that parses, and in no line that is too wide; what does
 * not has at least one mistake at a place that is there, or whose parent is. */
#include <assert.h>

#include "cli/graph_text.h"
#include "cli/cli.h"
#include "graph_help.h"
#include "json/pointer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(struct arena *a, const struct json *drawing, size_t width, bool unicode)
{
    struct graph_style style = { .width = width, .unicode = unicode };
    struct buf out = buf_in(a);
    str line, rest;

    graph_text(&out, drawing, &style);
    for (rest = buf_str(&out); rest.len;) {
        str_cut(rest, '\n', &line, &rest);
        assert(!width || render_text_width(line) <= (width > 20 ? width : 20));
    }
}

static void check_graph(struct arena *a, const struct graph *g, size_t width)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);
    const struct json *drawing;

    graph_check(a, g);
    for (uint16_t i = 0; i < g->step_count && i < 20; i++)
        assert(graph_downstream(a, g, i)[i]);
    graph_draw(a, &w, g);
    err e = json_parse_own(a, buf_str(&out), &drawing);
    assert(!e);
    check_lines(a, drawing, width, true);
    check_lines(a, drawing, width, false);
    graph_shown(a, g);
}

static void check_mistakes(struct arena *a, const struct json *definition, err e)
{
    const struct json *members, *errors, *value;
    str text = arena_printf(a, "{" STR_FMT "}", STR_ARG(e->members));

    assert(e->kind == ERR_UNFIT);
    err broken = json_parse_own(a, text, &members);
    assert(!broken);
    errors = json_get(members, "errors");
    assert(json_is(errors, JSON_ARRAY) && errors->len > 0 && errors->len <= 20);
    for (uint32_t i = 0; i < errors->len; i++) {
        str pointer = json_str(&errors->items[i], "pointer");
        assert(json_str(&errors->items[i], "message").len);
        if (str_starts(pointer, STR("/input")) || pointer.len > 100)
            continue; /* of a schema, or cut */
        broken = json_pointer_get(a, definition, pointer, &value);
        assert(!broken);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    const struct json *definition;
    const struct graph *g;

    if (size && !json_parse(a, (str){ (const char *)data + 1, size - 1 }, NULL, &definition)) {
        err e = graph_compile(a, definition, &g);
        if (e)
            check_mistakes(a, definition, e);
        else
            check_graph(a, g, data[0]);
    }
    arena_free(a);
    return 0;
}
