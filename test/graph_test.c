/* graph_test.c: definitions of workflows become graphs, or are told what is wrong with them. */
#include "graph_help.h"

#include "hostile.h"
#include "json_help.h"

static const struct graph *compiled(struct arena *a, const struct json *definition)
{
    const struct graph *g;

    CHECK_OK(graph_compile(a, definition, &g));
    graph_check(a, g);
    return g;
}

static const struct graph *graph_of(struct arena *a, const char *text)
{
    return compiled(a, json_parsed(a, quotes_double(a, text)));
}

/* ---- cases ---- */

static str lines_of(struct arena *a, const struct json *list)
{
    struct buf out = buf_in(a);

    for (uint32_t i = 0; i < list->len; i++) {
        if (i)
            buf_byte(&out, '\n');
        buf_add(&out, json_text(&list->items[i]));
    }
    return buf_str(&out);
}

static void check_graph(struct arena *a, const struct json *record)
{
    const struct graph *g = compiled(a, json_get(record, "definition"));

    CHECK_STR(graph_shown(a, g), lines_of(a, json_get(record, "graph")).at);
}

TEST(documents_become_graphs_as_they_are_printed)
{
    json_each_case("graph/graphs", "of documents as they are printed", check_graph);
}

TEST(steps_become_a_graph)
{
    json_each_case("graph/graphs", "of steps", check_graph);
}

TEST(phases_and_levels_become_a_graph)
{
    json_each_case("graph/graphs", "of phases and levels", check_graph);
}

TEST(nodes_and_flows_become_a_graph_and_are_warned_of)
{
    json_each_case("graph/graphs", "of nodes and flows", check_graph);
}

/* "/steps/0/x [unknown] step "a", x: there is no such member": a line for each. */
static str mistakes_shown(struct arena *a, err e)
{
    struct buf out = buf_in(a);
    str text = arena_printf(a, "{" STR_FMT "}", STR_ARG(e->members));
    const struct json *errors = json_get(json_parsed(a, text), "errors");

    CHECK(str_starts(e->message, json_str(&errors->items[0], "message")));
    for (uint32_t i = 0; i < errors->len; i++)
        buf_printf(&out, "%s" STR_FMT " [" STR_FMT "] " STR_FMT, i ? "\n" : "",
                   STR_ARG(json_str(&errors->items[i], "pointer")),
                   STR_ARG(json_str(&errors->items[i], "keyword")),
                   STR_ARG(json_str(&errors->items[i], "message")));
    return buf_str(&out);
}

static void check_mistakes(struct arena *a, const struct json *record)
{
    const struct graph *g;
    err e = graph_compile(a, json_get(record, "definition"), &g);

    CHECK_ERR(e, ERR_UNFIT);
    CHECK_STR(mistakes_shown(a, e), lines_of(a, json_get(record, "errors")).at);
}

TEST(mistakes_of_the_whole_are_told)
{
    json_each_case("graph/mistakes", "of the whole", check_mistakes);
}

TEST(mistakes_of_steps_are_told)
{
    json_each_case("graph/mistakes", "of steps", check_mistakes);
}

TEST(mistakes_of_work_are_told)
{
    json_each_case("graph/mistakes", "of work", check_mistakes);
}

TEST(mistakes_of_levels_are_told)
{
    json_each_case("graph/mistakes", "of levels", check_mistakes);
}

TEST(mistakes_of_nodes_and_flows_are_told)
{
    json_each_case("graph/mistakes", "of nodes and flows", check_mistakes);
}

/* What the page says a definition looks like is one, and needs no warning. */
TEST(examples_of_the_page_become_graphs)
{
    struct arena *a = check_arena();
    str text = check_read(check_source("docs/workflows.md")), line, example = STR("");
    bool inside = false;
    int count = 0;

    while (text.len) {
        str_cut(text, '\n', &line, &text);
        if (str_eq(line, STR("```json"))) {
            example = (str){ text.at, 0 };
            inside = true;
        } else if (inside && str_eq(line, STR("```"))) {
            const struct graph *g = compiled(a, json_parsed(a, example));
            CHECK_INT(g->warning_count, 0);
            inside = false;
            count++;
        } else if (inside) {
            example.len = (size_t)(line.at + line.len - example.at);
        }
    }
    CHECK_INT(count, 2);
}

/* ---- what can be asked of a graph ---- */

TEST(downstream_of_a_step_is_all_that_comes_after_it)
{
    struct arena *a = check_arena();
    const struct graph *g = graph_of(
        a, "{'steps':[{'id':'a'},{'id':'b','after':'a'},{'id':'c'},{'id':'d','after':['b','c']},"
           "{'id':'e','after':'c'}]}");
    static const char *const expected[] = { "abd", "bd", "cde", "d", "e" };

    for (uint16_t i = 0; i < g->step_count; i++) {
        const bool *is = graph_downstream(a, g, i);
        struct buf out = buf_in(a);
        for (uint16_t k = 0; k < g->step_count; k++)
            if (is[k])
                buf_add(&out, g->steps[k].id);
        CHECK_STR(buf_str(&out), expected[i]);
    }
}

TEST(what_is_not_there_is_not_found)
{
    const struct graph *g = graph_of(check_arena(), "{'steps':[{'id':'a'},{'id':'b'}]}");

    CHECK_INT(graph_node_find(g, STR("c")), GRAPH_NONE);
    CHECK_INT(graph_node_find(g, STR("")), GRAPH_NONE);
    CHECK_INT(graph_flow_find(g, STR("a->b")), GRAPH_NONE);
    CHECK_INT(graph_step_find(g, STR("start")), GRAPH_NONE);
}

/* What is no expression is meant as it stands there, whatever is in it. */
TEST(random_values_stay_as_they_are)
{
    struct random r = random_start();

    for (int i = 0; i < 3000; i++) {
        struct arena *a = arena_new();
        struct json definition = json_of(a, "{'steps':[{'id':'a','set':{}}]}");
        struct json *set =
            (struct json *)json_get(&json_get(&definition, "steps")->items[0], "set");
        struct json value = random_json(a, &r, 4, 5);
        struct feel_result found;
        const struct graph *g;

        json_put(a, set, STR("x"), value);
        CHECK_OK(graph_compile(a, &definition, &g));
        CHECK_OK(feel_eval(a, g->nodes[1].settings.at[0].value, NULL, 0, &found));
        if (!json_equal(found.value, &value))
            check_fail(__FILE__, __LINE__, STR_FMT " became " STR_FMT,
                       STR_ARG(json_printed(a, &value)), STR_ARG(json_printed(a, found.value)));
        arena_free(a);
    }
}

TEST(texts_with_signs_in_them_stay_as_they_are)
{
    struct arena *a = check_arena();
    static const char text[] =
        "{\"steps\":[{\"id\":\"a\",\"set\":{\"x\":"
        "[\"\\\"q\\\" \\\\ \\/ \\b\\f\\n\\r\\t \\u0001 \\u00e9 \\ud83d\\ude00 {{x}} null\",1e3,-0.0,"
        "123456789012345678901234567890,1E-7,{\"a b\":1,\"\":2,\"\\\"\":3,\"null\":null,\"if\":[]}]}}]}";
    const struct json *definition = json_parsed(a, str_from(text));
    const struct graph *g = compiled(a, definition);
    struct feel_result found;

    CHECK_OK(feel_eval(a, g->nodes[1].settings.at[0].value, NULL, 0, &found));
    const struct json *set = json_get(&json_get(definition, "steps")->items[0], "set");
    CHECK(json_equal(found.value, json_get(set, "x")));
}

/* ---- drawings ---- */

/* "b2.1": its layer, and its row there; of edges those that go back. */
static str drawn(struct arena *a, const char *text)
{
    struct buf out = buf_in(a), shown = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    graph_draw(a, &w, graph_of(a, text));
    const struct json *drawing = json_parsed(a, buf_str(&out)), *nodes = json_get(drawing, "nodes"),
                      *edges = json_get(drawing, "edges");
    for (uint32_t i = 0; i < nodes->len; i++)
        buf_printf(&shown, "%s" STR_FMT "%lld.%lld", i ? " " : "",
                   STR_ARG(json_str(&nodes->items[i], "id")),
                   (long long)json_int_or(&nodes->items[i], "layer", -1),
                   (long long)json_int_or(&nodes->items[i], "row", -1));
    for (uint32_t i = 0; i < edges->len; i++)
        if (json_bool_or(&edges->items[i], "back", false))
            buf_printf(&shown, " " STR_FMT, STR_ARG(json_str(&edges->items[i], "id")));
    return buf_str(&shown);
}

TEST(nodes_stand_below_all_that_leads_to_them)
{
    struct arena *a = check_arena();

    CHECK_STR(drawn(a,
                    "{'steps':[{'id':'a'},{'id':'b','after':'a'},{'id':'c','after':['a','b']}]}"),
              "start0.0 a1.0 b2.0 c#ready3.0 c4.0 end5.0");
    CHECK_STR(
        drawn(
            a,
            "{'nodes':[{'id':'s','kind':'start'},{'id':'a','kind':'pass'},{'id':'x','kind':'xor'},"
            "{'id':'e','kind':'end'}],'flows':[{'from':'s','to':'a'},{'from':'a','to':'x'},"
            "{'from':'x','to':'a','when':'=no'},{'from':'x','to':'e'},{'from':'x','to':'x','default':true}]}"),
        "s0.0 a1.0 x2.0 e3.0 x->a x->x");
}

/* In the order of the definition, each of the three would cross another. */
TEST(edges_that_need_not_cross_do_not)
{
    CHECK_STR(drawn(check_arena(),
                    "{'steps':[{'id':'a'},{'id':'b'},{'id':'c'},{'id':'x','after':'c'},"
                    "{'id':'y','after':'b'},{'id':'z','after':'a'}]}"),
              "start0.0 a1.0 b1.1 c1.2 x2.2 y2.1 z2.0 end3.0");
}

/* ---- random definitions ---- */

/* Steps after some that were before them, and now and then something that should not be. */
static struct json random_steps(struct arena *a, struct random *r)
{
    struct json definition = json_object(), *steps;
    uint32_t count = 1 + random_below(r, 30);

    steps = json_put(a, &definition, STR("steps"), json_array());
    for (uint32_t i = 0; i < count; i++) {
        struct json *step = json_push(a, steps, json_object());
        json_put(a, step, STR("id"), json_int(a, random_below(r, 400) ? i : 0));
        struct json *after = json_put(a, step, STR("after"), json_array());
        for (uint32_t k = 0; i && k < random_below(r, 4); k++)
            json_push(a, after, json_int(a, random_below(r, random_below(r, 100) ? i : count + 1)));
        if (i == 0 || random_below(r, 4) == 0)
            json_put(a, step, STR("retry"), json_of(a, "{'max_attempts':3}"));
        if (random_below(r, 30) == 0)
            json_put(a, step, STR("triggers_retry"), json_bool(random_below(r, 2)));
    }
    return definition;
}

static struct json random_nodes(struct arena *a, struct random *r)
{
    static const char *const kinds[] = { "pass", "xor", "and", "report", "end", "start" };
    struct json definition = json_object(), *nodes, *flows;
    uint32_t count = 1 + random_below(r, 20);

    nodes = json_put(a, &definition, STR("nodes"), json_array());
    for (uint32_t i = 0; i < count; i++) {
        struct json *node = json_push(a, nodes, json_object());
        json_put(a, node, STR("id"), json_int(a, i));
        uint32_t kind = random_below(r, random_below(r, 50) ? 4 : 6);
        json_put(a, node, STR("kind"), json_string(str_from(i ? kinds[kind] : "start")));
    }
    flows = json_put(a, &definition, STR("flows"), json_array());
    for (uint32_t i = random_below(r, 3 * count); i > 0; i--) {
        struct json *flow = json_push(a, flows, json_object());
        json_put(a, flow, STR("id"), json_int(a, i));
        json_put(a, flow, STR("from"), json_int(a, random_below(r, count)));
        json_put(a, flow, STR("to"),
                 json_int(a,
                          random_below(r, 200) && count > 1 ? 1 + random_below(r, count - 1) : 0));
        if (random_below(r, 8) == 0)
            json_put(a, flow, STR("when"), json_string(STR("=x > 1")));
    }
    return definition;
}

/* Its picture: each edge that closes no circle leads downwards, and no two nodes stand at one place. */
static void check_drawing(struct arena *a, const struct graph *g)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);
    int64_t *layer = arena_zero(a, g->node_count * sizeof *layer);

    graph_draw(a, &w, g);
    const struct json *drawing = json_parsed(a, buf_str(&out)), *nodes = json_get(drawing, "nodes"),
                      *edges = json_get(drawing, "edges");
    int64_t layers = json_int_or(drawing, "layers", 0);
    bool *taken = arena_zero(a, (size_t)layers * g->node_count);
    CHECK_INT(nodes->len, g->node_count);
    CHECK_INT(edges->len, g->flow_count);
    for (uint16_t i = 0; i < g->node_count; i++) {
        int64_t row = json_int_or(&nodes->items[i], "row", -1);
        layer[i] = json_int_or(&nodes->items[i], "layer", -1);
        CHECK(layer[i] >= 0 && layer[i] < layers && row >= 0 && row < g->node_count);
        CHECK(!taken[layer[i] * g->node_count + row]);
        taken[layer[i] * g->node_count + row] = true;
    }
    for (uint16_t i = 0; i < g->flow_count; i++)
        if (!json_bool_or(&edges->items[i], "back", true))
            CHECK(layer[g->flows[i].source] < layer[g->flows[i].target]);
}

TEST(random_definitions_become_graphs_that_hold_together)
{
    struct random r = random_start();
    int made = 0;

    for (int i = 0; i < 8000; i++) {
        struct arena *a = arena_new();
        struct json definition = random_below(&r, 2) ? random_steps(a, &r) : random_nodes(a, &r);
        const struct graph *g;
        err e = graph_compile(a, &definition, &g);
        CHECK(!e || e->kind == ERR_UNFIT);
        if (!e) {
            graph_check(a, g);
            check_drawing(a, g);
            made++;
        }
        arena_free(a);
    }
    check_note("%d graphs", made);
    CHECK(made > 1500);
}

/* ---- hostile definitions ---- */

static err compile_hostile(struct arena *a, const struct hostile *h, struct work *spent)
{
    struct json definition = value_of(a, &h->first);
    const struct graph *g;

    struct work start = work_now();
    err e = graph_compile(a, &definition, &g);
    if (!e) {
        struct buf out = buf_in(a);
        struct json_writer w = json_writer_to(&out);
        graph_draw(a, &w, g);
        graph_downstream(a, g, 0);
    }
    *spent = work_since(start);
    return e;
}

#define NOTHING PLAIN("")

// clang-format off
static const struct hostile hostile_cases[] = {
    { "a chain as long as it may be",
      MANY("{'steps':[{'id':'s0'}", ",{'id':'s\2','after':['s\1']}", 1997, "]}"), NOTHING, "ok" },
    { "steps beside each other",
      MANY("{'steps':[{'id':'s0'}", ",{'id':'s\2'}", 1997, "]}"), NOTHING, "ok" },
    { "ten thousand steps",
      MANY("{'steps':[{'id':'s0'}", ",{'id':'s\2','after':['s\1']}", 9999, "]}"), NOTHING, "UNFIT: at most 1998 steps" },
    { "joins, as many as there may be",
      MANY("{'steps':[{'id':'s0'},{'id':'s1','after':'s0'}", ",{'id':'j\1','after':['s0','s1']}", 996, "]}"), NOTHING, "ok" },
    { "more joins than there may be",
      MANY("{'steps':[{'id':'s0'},{'id':'s1','after':'s0'}", ",{'id':'j\1','after':['s0','s1']}", 1500, "]}"), NOTHING, "UNFIT: make 3004 nodes" },
    { "a step after two thousand",
      { "{'steps':[{'id':'s0'}", ",{'id':'s\2'}", 1900, ",{'id':'x','after':['s0'", ",'s\2'", "]}]}" }, NOTHING, "ok" },
    { "more prerequisites than there may be",
      { "{'steps':[{'id':'a','after':['b'", ",'b'", 6000, "]},{'id':'b'}]}", "", "" }, NOTHING, "UNFIT: at most 5000" },
    { "steps that wait for nobody who is there",
      MANY("{'steps':[{'id':'s0'}", ",{'id':'step\2','after':['stepp\1','stap\1']}", 1997, "]}"), NOTHING, "UNFIT: and 3" },
    { "one circle of all",
      MANY("{'steps':[{'id':'s0','after':'s1997'}", ",{'id':'s\2','after':['s\1']}", 1997, "]}"), NOTHING, "UNFIT: wait for each other" },
    { "circles of two",
      MANY("{'steps':[{'id':'s0'}", ",{'id':'s\2','after':['t\2']},{'id':'t\2','after':['s\2']}", 990, "]}"), NOTHING, "UNFIT: and 989 more" },
    { "triggers of all",
      MANY("{'steps':[{'id':'s0','retry':{'max_attempts':3}}", ",{'id':'s\2','after':['s\1'],'triggers_retry':'s0'}", 1997, "]}"), NOTHING, "ok" },
    { "members that are none",
      MANY("{'steps':[{'id':'a'", ",'membrr\1':1", 50000, "}]}"), NOTHING, "UNFIT: and 49999 more" },
    { "a text of a megabyte",
      MANY("{'steps':[{'id':'", LONG_A, 16384, "'}]}"), NOTHING, "UNFIT: at most 1048576 bytes" },
    { "a text of nearly a megabyte",
      MANY("{'steps':[{'id':'", LONG_A, 16000, "'}]}"), NOTHING, "UNFIT: expected an id" },
    { "a title of nearly a megabyte",
      MANY("{'steps':[{'id':'a','title':'", LONG_A, 16000, "'}]}"), NOTHING, "ok" },
    { "texts that are no expressions",
      MANY("{'steps':[{'id':'s0'}", ",{'id':'s\2','when':'=(((((((((((((((((((((((((((((('}", 1997, "]}"), NOTHING, "UNFIT: and 1996 more" },
    { "one long expression for each",
      MANY("{'steps':[{'id':'s0'}", ",{'id':'s\2','when':'=" LONG_A LONG_A LONG_A LONG_A LONG_A LONG_A "'}", 1997, "]}"), NOTHING, "ok" },
    { "variables, as many as there is room for",
      MANY("{'steps':[{'id':'a','set':{'x':1", ",'v\1':'=v\1'", 50000, "}}]}"), NOTHING, "ok" },
    { "outputs, as many as there is room for",
      MANY("{'steps':[{'id':'a','outputs':['x'", ",'o\1'", 4999, "]}]}"), NOTHING, "ok" },
    { "outputs beyond that",
      MANY("{'steps':[{'id':'a','outputs':['x'", ",'o\1'", 50000, "]}]}"), NOTHING, "UNFIT: at most 5000" },
    { "levels without phases",
      MANY("{'planning_phases':{'scene':[{'phase':1}]", ",'l\1':['x']", 50000, "}}"), NOTHING, "ok" },
    { "a circle as long as it may be",
      { "{'nodes':[{'id':'s','kind':'start'},{'id':'n0','kind':'pass'}", ",{'id':'n\2','kind':'pass'}", 1998, "],'flows':[{'from':'s','to':'n0'},{'from':'n1998','to':'n0'}", ",{'from':'n\1','to':'n\2'}", "]}" }, NOTHING, "ok" },
    { "joins that wait for the next ones",
      { "{'nodes':[{'id':'s','kind':'start'},{'id':'n0','kind':'and'}", ",{'id':'n\2','kind':'and'}", 1998, "],'flows':[{'from':'s','to':'n0'}", ",{'from':'n\1','to':'n\2'},{'from':'n\2','to':'n\1'}", "]}" }, NOTHING, "ok" },
    { "more flows than there may be",
      MANY("{'nodes':[{'id':'a','kind':'xor'}],'flows':[{'from':'a','to':'a'}", ",{'id':'f\1','from':'a','to':'a'}", 6000, "]}"), NOTHING, "UNFIT: at most 5000 flows" },
    { "flows from one node",
      MANY("{'nodes':[{'id':'a','kind':'xor'},{'id':'b','kind':'pass'}],'flows':[{'from':'a','to':'b'}", ",{'id':'f\1','from':'a','to':'b','when':'=x'}", 4990, "]}"), NOTHING, "ok" },
    { "an input of many patterns",
      MANY("{'steps':[{'id':'a'}],'input':{'properties':{'x':{}", ",'p\1':{'pattern':'(a*)*b\1'}", 3000, "}}}"), NOTHING, "UNFIT: input" },
    { "an input of as many as there may be",
      MANY("{'steps':[{'id':'a'}],'input':{'properties':{'x':{}", ",'p\1':{'pattern':'(a*)*b\1'}", 90, "}}}"), NOTHING, "ok" },
    { "lists within lists",
      { "{'steps':[{'id':'a','set':{'x':", "[", 50, "1", "]", "}}]}" }, NOTHING, "UNFIT: column" },
};
// clang-format on

TEST(hostile_definitions_are_answered_soon)
{
    CHECK_HOSTILE(hostile_cases, compile_hostile);
}
