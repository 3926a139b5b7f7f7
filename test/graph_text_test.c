/* graph_text_test.c: pictures of workflows, from definitions to lines. */
#include "cli/graph_text.h"

#include "check.h"
#include "flow/graph.h"
#include "json_help.h"

static const struct json *drawing_of(const char *text)
{
    struct arena *a = check_arena();
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);
    const struct graph *g;

    CHECK_OK(graph_compile(a, json_parsed(a, quotes_double(a, text)), &g));
    graph_draw(a, &w, g);
    return json_parsed(a, buf_str(&out));
}

static str picture(const char *text, size_t width, bool unicode)
{
    struct graph_style style = { .width = width, .unicode = unicode };
    struct buf out = buf_in(check_arena());

    buf_byte(&out, '\n');
    graph_text(&out, drawing_of(text), &style);
    return buf_str(&out);
}

static const char diamond[] =
    "{'steps':[{'id':'a'},{'id':'b','after':'a'},"
    "{'id':'c','after':'a','title':'See to it'},{'id':'d','after':['c','b']}]}";

static const char fan[] =
    "{'steps':[{'id':'plan'},{'id':'v1','after':'plan'},{'id':'v2','after':'plan'},{'id':'v3','after':'plan'},"
    "{'id':'v4','after':'plan'},{'id':'v5','after':'plan'},{'id':'v6','after':'plan'},{'id':'v7','after':'plan'},"
    "{'id':'report','after':['v1','v2','v3','v4','v5','v6','v7']}]}";

static const char loop[] =
    "{'nodes':[{'id':'begin','kind':'start'},{'id':'again','kind':'pass'},{'id':'try','job':'x','title':'Try it'},"
    "{'id':'ok','kind':'xor','title':'ok?'},{'id':'done','kind':'end'},{'id':'fix','set':{'n':'=n + 1'}}],"
    "'flows':[{'from':'begin','to':'again'},{'from':'again','to':'try'},{'from':'try','to':'ok'},"
    "{'from':'ok','to':'done','when':'=ok'},{'from':'ok','to':'fix','when':'=n < 3'},"
    "{'from':'ok','to':'again','default':true,'id':'back'},{'from':'fix','to':'again'}]}";

TEST(a_chain_is_drawn_as_a_line)
{
    CHECK_STR(picture("{'steps':[{'id':1,'name':'Check'},{'id':2,'after':1},{'id':3,'after':2}]}",
                      80, true),
              "\n"
              "○ start\n"
              "● 1  Check\n"
              "● 2\n"
              "● 3\n"
              "○ end\n");
}

TEST(a_diamond_is_drawn_with_two_lanes)
{
    CHECK_STR(picture(diamond, 80, true), "\n"
                                          "○ start\n"
                                          "● a\n"
                                          "├─╮\n"
                                          "● │ b\n"
                                          "│ ● c  See to it\n"
                                          "├─╯\n"
                                          "● d\n"
                                          "○ end\n");
    CHECK_STR(picture(diamond, 80, false), "\n"
                                           "o start\n"
                                           "* a\n"
                                           "|-.\n"
                                           "* | b\n"
                                           "| * c  See to it\n"
                                           "|-'\n"
                                           "* d\n"
                                           "o end\n");
}

TEST(seven_beside_each_other_are_seven_lanes)
{
    CHECK_STR(picture(fan, 80, true), "\n"
                                      "○ start\n"
                                      "● plan\n"
                                      "├─┬─┬─┬─┬─┬─╮\n"
                                      "● │ │ │ │ │ │ v1\n"
                                      "│ ● │ │ │ │ │ v2\n"
                                      "│ │ ● │ │ │ │ v3\n"
                                      "│ │ │ ● │ │ │ v4\n"
                                      "│ │ │ │ ● │ │ v5\n"
                                      "│ │ │ │ │ ● │ v6\n"
                                      "│ │ │ │ │ │ ● v7\n"
                                      "├─┴─┴─┴─┴─┴─╯\n"
                                      "● report\n"
                                      "○ end\n");
}

TEST(what_goes_back_and_what_is_asked_stands_below_its_node)
{
    CHECK_STR(picture(loop, 80, true), "\n"
                                       "○ begin\n"
                                       "· again\n"
                                       "● try  Try it\n"
                                       "◇ ok  ok?\n"
                                       "│   if ok → done\n"
                                       "│   if n < 3 → fix\n"
                                       "│   else ↺ again\n"
                                       "├─╮\n"
                                       "○ │ done\n"
                                       "  = fix\n"
                                       "      ↺ again\n");
}

/* One lane passes between two that others are joined from. */
TEST(lanes_pass_by_what_is_joined_around_them)
{
    CHECK_STR(
        picture(
            "{'steps':[{'id':'a'},{'id':'b','after':'a'},{'id':'c','after':'a'},{'id':'d','after':'a'},"
            "{'id':'e','after':['b','d']},{'id':'f','after':['c','e']}]}",
            80, false),
        "\n"
        "o start\n"
        "* a\n"
        "|-+-.\n"
        "* | | b\n"
        "| * | c\n"
        "| | * d\n"
        "|-|-'\n"
        "* | e\n"
        "|-'\n"
        "* f\n"
        "o end\n");
}

TEST(where_lanes_have_no_room_there_is_a_list)
{
    CHECK_STR(picture(fan, 24, false), "\n"
                                       "o start\n"
                                       "* plan\n"
                                       "* v1  after plan\n"
                                       "* v2  after plan\n"
                                       "* v3  after plan\n"
                                       "* v4  after plan\n"
                                       "* v5  after plan\n"
                                       "* v6  after plan\n"
                                       "* v7  after plan\n"
                                       "* report  after v1, v2,~\n"
                                       "o end  after report\n");
}

TEST(long_names_are_cut_and_signs_cannot_drive_a_terminal)
{
    CHECK_STR(
        picture(
            "{'steps':[{'id':'a','title':'One\\nline, \\u001b[31m and much longer than it is wide'}]}",
            30, true),
        "\n"
        "○ start\n"
        "● a  One line,  [31m and much…\n"
        "○ end\n");
}

TEST(a_drawing_of_nothing_is_empty)
{
    struct graph_style style = { .width = 80 };
    struct buf out = buf_in(check_arena());
    struct json nothing = json_object();

    graph_text(&out, &nothing, &style);
    CHECK_STR(buf_str(&out), "");
}

static str text_of(struct arena *a, const struct json *drawing, size_t width)
{
    struct graph_style style = { .width = width, .unicode = true };
    struct buf out = buf_in(a);

    graph_text(&out, drawing, &style);
    return buf_str(&out);
}

/* As wide as there is room, and each node on a line of its own. */
TEST(random_pictures_are_not_too_wide)
{
    struct random r = random_start();

    for (int i = 0; i < 2000; i++) {
        struct arena *a = arena_new();
        struct json definition = json_object(), *steps;
        struct buf out = buf_in(a);
        struct json_writer w = json_writer_to(&out);
        size_t width = 20 + random_below(&r, 60), lines = 0;
        uint32_t count = 1 + random_below(&r, 25);
        const struct graph *g;
        str line, rest;

        steps = json_put(a, &definition, STR("steps"), json_array());
        for (uint32_t k = 0; k < count; k++) {
            struct json *step = json_push(a, steps, json_object());
            json_put(a, step, STR("id"), json_string(arena_printf(a, "step_%u", k)));
            struct json *after = json_put(a, step, STR("after"), json_array());
            for (uint32_t n = 0; n < k; n++)
                if (random_below(&r, k) < 2)
                    json_push(a, after, json_string(arena_printf(a, "step_%u", n)));
        }
        CHECK_OK(graph_compile(a, &definition, &g));
        graph_draw(a, &w, g);
        rest = text_of(a, json_parsed(a, buf_str(&out)), width);
        while (rest.len) {
            str_cut(rest, '\n', &line, &rest);
            size_t columns = 0;
            for (size_t n = 0; n < line.len; n++)
                columns += ((unsigned char)line.at[n] & 0xc0) != 0x80;
            CHECK(columns <= width);
            lines += str_contains(line, STR("step_"));
        }
        CHECK(lines >= count);
        arena_free(a);
    }
}
