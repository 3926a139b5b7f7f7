/* init_test.c: edits of other people's files keep every byte that is not ours. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/init/init.h"
#include "cli/init/json.h"
#include "cli/init/text.h"
#include "cli/init/text_diff.h"
#include "cli/init/toml_edit.h"
#include "json_help.h"

/* ---- JSON ---- */

static struct json_text opened(const char *text)
{
    struct json_text t;
    CHECK_OK(json_text_open(check_arena(), str_from(text), &t));
    return t;
}

TEST(a_json_member_is_added_in_the_look_of_its_neighbours)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        { "", "{\n  \"m\": { \"x\": 1 }\n}\n" },
        { "{}", "{\n\n  \"m\": { \"x\": 1 }\n}" },
        { "{\n}\n", "{\n\n  \"m\": { \"x\": 1 }\n}\n" },
        { "{\"a\":1}", "{\"a\":1, \"m\": { \"x\": 1 }}" },
        { "{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 1,\n\t\"m\": { \"x\": 1 }\n}\n" },
        { "{\r\n    \"a\": [ ]\r\n}\r\n",
          "{\r\n    \"a\": [ ],\r\n    \"m\": { \"x\": 1 }\r\n}\r\n" },
        { "{\n  \"m\": {}\n}", "{\n  \"m\": {\n\n    \"x\": 1\n  }\n}" },
        { "{\n  \"m\": { \"y\": \"}\\\"\" }\n}", "{\n  \"m\": { \"y\": \"}\\\"\", \"x\": 1 }\n}" },
        { "{\n  \"m\": {\n    \"x\": [2, {}]\n  },\n  \"b\": 0\n}",
          "{\n  \"m\": {\n    \"x\": 1\n  },\n  \"b\": 0\n}" },
    };
    struct json one = json_int(check_arena(), 1);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_text t = opened(cases[i].before);
        CHECK_OK(json_text_set(&t, "/m/x", &one));
        CHECK_STR(t.text, cases[i].after);
    }
}

TEST(what_was_added_to_json_is_taken_out_without_a_trace)
{
    static const char *const texts[] = {
        "{\"a\":1}",
        "{ \"a\" : 1 ,  \"b\":[1,2] }\n",
        "{\n\t\"a\": {\"x\":  3},\n\n\t\"z\": null\n}",
        "{\r\n  \"a\": \"\\u0041 }]\"\r\n}\r\n",
        "\n  {\n      \"a\": 1\n  }\n\n",
        "{\"servers\":{},\"list\":[]}",
        "{\n  \"servers\": {},\n  \"list\": []\n}\n",
        "{}",
        "{}\n",
        "\xef\xbb\xbf{\r\n  \"a\": 1\r\n}\r\n",
        "{\"a\":1,}",
        "{\n  \"a\": 1,\n}\n",
        "// all of it\n{\n  // mine\n  \"a\": 1, // one\n  \"b\": 2 // two\n  // end\n}\n",
        "{\n  \"a\": 1, // one\n  \"b\": 2, /* two */ // and\r\n}\n",
        "{\n  \"a\": 1 /* x */, /* y */ }",
        "{ /* nothing */ }",
        "{ // nothing\n}",
        "{\n  \"servers\": { // by name\n  },\n  \"list\": [ /* none */ ] // end\n}",
        "{\"a\":1 // x\n}",
    };
    struct arena *a = check_arena();
    struct json value = json_of(a, "{'command':'baton','args':['mcp'],'more':{'deep':[1,2,3]}}");

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct json_text t = opened(texts[i]);
        CHECK_OK(json_text_set(&t, "/servers/baton", &value));
        CHECK_OK(json_text_push(&t, "/list", &value));
        CHECK_OK(json_text_push(&t, "/list", &value));
        CHECK_INT(json_text_get(&t, "/list")->len, 2);
        json_text_drop(&t, "/list/0");
        json_text_drop(&t, "/list/0");
        json_text_drop(&t, "/servers/baton");
        CHECK_STR(t.text, texts[i]);
    }
}

TEST(the_first_middle_and_last_entry_can_be_dropped)
{
    struct json_text t = opened("[ 1, [2, 3] ,\n 4 ]");

    json_text_drop(&t, "/1");
    CHECK_STR(t.text, "[ 1,\n 4 ]");
    json_text_drop(&t, "/0");
    CHECK_STR(t.text, "[ 4 ]");
    json_text_drop(&t, "/7");
    json_text_drop(&t, "/0");
    CHECK_STR(t.text, "[]");
    json_text_drop(&t, "/0");
    CHECK_STR(t.text, "[]");
}

TEST(what_is_written_beside_comments_leaves_them_where_they_are)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        { "{\n  \"a\": 1 // one\n}", "{\n  \"a\": 1, // one\n  \"m\": { \"x\": 1 }\n}" },
        { "{\n  \"a\": 1, // one\n}", "{\n  \"a\": 1, // one\n  \"m\": { \"x\": 1 },\n}" },
        { "{\n  \"a\": 1\n  // last\n}", "{\n  \"a\": 1,\n  \"m\": { \"x\": 1 }\n  // last\n}" },
        { "{\n  // none yet\n}\n", "{\n  // none yet\n  \"m\": { \"x\": 1 }\n}\n" },
        { "\xef\xbb\xbf{\r\n\t\"a\": 1,\r\n}",
          "\xef\xbb\xbf{\r\n\t\"a\": 1,\r\n\t\"m\": { \"x\": 1 },\r\n}" },
        { "{ \"m\": { /* } */ } }", "{ \"m\": { /* } */\n  \"x\": 1 } }" },
        { "{ \"m\": { \"x\": /* two */ 2 /* 2 */ } }",
          "{ \"m\": { \"x\": /* two */ 1 /* 2 */ } }" },
    };
    struct json one = json_int(check_arena(), 1);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_text t = opened(cases[i].before);
        CHECK_OK(json_text_set(&t, "/m/x", &one));
        CHECK_STR(t.text, cases[i].after);
    }
}

TEST(comments_around_what_is_dropped_stay)
{
    static const struct {
        const char *before, *pointer, *after;
    } cases[] = {
        { "{\n  // ours\n  \"a\": 1, // one\n  \"b\": 2\n}", "/a",
          "{\n  // ours\n // one\n  \"b\": 2\n}" },
        { "{\n  \"a\": 1,\n  // two\n  \"b\": 2 // end\n}", "/b",
          "{\n  \"a\": 1\n  // two\n // end\n}" },
        { "{ // x\n \"a\": 1 }", "/a", "{ // x\n }" },
        { "{ \"a\": { /* why */ \"b\": 1 } }", "/a/b", "{ \"a\": { /* why */ } }" },
        { "{ \"a\": 1 /* apart */ , \"b\": 2 }", "/a", "{ /* apart */  \"b\": 2 }" },
        { "/* head */ { \"a\": 1 }", "/a", "/* head */ {}" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_text t = opened(cases[i].before);
        json_text_drop(&t, cases[i].pointer);
        CHECK_STR(t.text, cases[i].after);
    }
}

TEST(a_json_edit_refuses_what_is_not_an_object_on_its_way)
{
    struct json one = json_int(check_arena(), 1);
    struct json_text t = opened("{\"m\": [], \"n\": {}}");

    CHECK_ERR(json_text_set(&t, "/m/x", &one), ERR_INVALID);
    CHECK_ERR(json_text_push(&t, "/n", &one), ERR_INVALID);
    CHECK_STR(t.text, "{\"m\": [], \"n\": {}}");
}

/* Values at random go in and out of texts at random; whatever happens, the text is JSON that says
 * what it should. */
TEST(random_json_edits_say_what_they_should)
{
    struct random r = random_start();
    struct arena *a = check_arena();

    for (int i = 0; i < 300; i++) {
        struct json doc = random_json(a, &r, 3, 5), value = random_json(a, &r, 3, 5);
        struct buf text = buf_in(a);
        struct json_text t;
        if (random_below(&r, 2))
            json_print_pretty(&text, &doc);
        else
            json_print(&text, &doc);
        CHECK_OK(json_text_open(a, buf_str(&text), &t));
        if (!json_is(&doc, JSON_OBJECT))
            continue;
        str before = t.text;
        CHECK_OK(json_text_set(&t, "/new", &value));
        CHECK(json_equal(json_text_get(&t, "/new"), &value));
        json_text_drop(&t, "/new");
        CHECK(doc.len == 0 || str_eq(t.text, before));
        CHECK(json_equal(t.json, &doc));
    }
}

TEST(comments_and_trailing_commas_become_spaces)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        { "{\"a\": \"// no /* comment, }\"}", "{\"a\": \"// no /* comment, }\"}" },
        { "{ // x\n\"a\": 1, /* y */ }", "{     \n\"a\": 1          }" },
        { "[1,\n]", "[1 \n]" },
        { "[,]", "[,]" },
        { "[1,,]", "[1,,]" },
        { "[1] /*/ open", "[1]         " },
        { "[\"\\\"//\", 2]", "[\"\\\"//\", 2]" },
        { "\xef\xbb\xbf{}", "   {}" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(json_text_plain(check_arena(), str_from(cases[i].before)), cases[i].after);
}

/* ---- TOML ---- */

static const struct toml_key two_keys[] = {
    { "command", { "\"baton\"", 7 }, false },
    { "wait", { "30", 2 }, true },
};

TEST(a_toml_table_of_ours_is_added_and_taken_out_without_a_trace)
{
    static const char *const texts[] = {
        "",
        "model = \"x\"\n",
        "model = \"x\"",
        "a = 1\r\n[t]\r\nb = 2\r\n",
        "# only a comment\n\n\n",
        "text = '''\n[mcp_servers.baton]\n'''\nlist = [\n  [1],\n  \"]\", # ]\n]\n[[x.y]]\nz = { a = 1 }",
        "[mcp_servers.other]\ncommand = \"o\"\n\n[mcp_servers.other.env]\nK = \"v\"\n",
        "\xef\xbb\xbfmodel = \"x\"\n",
        "# ends with a carriage return\r",
        "\n\r",
    };
    struct arena *a = check_arena();
    str with, again, without;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_OK(toml_put(a, str_from(texts[i]), "mcp_servers.baton", two_keys, 2, &with));
        CHECK(strstr(with.at, "[mcp_servers.baton]"));
        CHECK_OK(toml_put(a, with, "mcp_servers.baton", two_keys, 2, &again));
        CHECK_STR(again, with.at);
        CHECK_OK(toml_drop(a, with, "mcp_servers.baton", &without));
        CHECK_STR(without, texts[i]);
    }
}

TEST(a_toml_table_keeps_what_somebody_has_added_to_it)
{
    static const char text[] = "[mcp_servers.baton] # ours\n"
                               "command = \"/old/baton\" # here\n"
                               "wait=99\n"
                               "extra = [\n  1,\n]\n"
                               "\n"
                               "[mcp_servers.baton.env]\nK = \"v\"\n"
                               "\n"
                               "[z]\n";
    struct arena *a = check_arena();
    str out;

    CHECK_OK(toml_put(a, str_from(text), "mcp_servers.baton", two_keys, 2, &out));
    CHECK_STR(out, "[mcp_servers.baton] # ours\n"
                   "command = \"baton\" # here\n"
                   "wait=99\n"
                   "extra = [\n  1,\n]\n"
                   "\n"
                   "[mcp_servers.baton.env]\nK = \"v\"\n"
                   "\n"
                   "[z]\n");
    CHECK_OK(toml_drop(a, out, "mcp_servers.baton", &out));
    CHECK_STR(out, "\n[z]\n");
    CHECK_OK(toml_put(a, STR("[mcp_servers.baton]\ncommand = 'x'"), "mcp_servers.baton", two_keys,
                      2, &out));
    CHECK_STR(out, "[mcp_servers.baton]\ncommand = \"baton\"\nwait = 30");
}

TEST(toml_that_cannot_be_edited_is_refused_with_its_line)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "a = \"x\n", "line 1" },
        { "\n\nnot toml\n", "line 3" },
        { "[a\n", "line 1" },
        { "a = [1,\n", "line 1" },
        { "mcp_servers = { baton = {} }\n", "mcp_servers outside of it" },
        { "mcp_servers.baton.command = 'x'\n", "mcp_servers.baton.command outside of it" },
        { "[mcp_servers]\nbaton = { command = 'x' }\n", "mcp_servers.baton outside of it" },
    };
    str out;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err e = toml_put(check_arena(), str_from(cases[i].text), "mcp_servers.baton", two_keys, 2,
                         &out);
        CHECK_ERR(e, ERR_INVALID);
        if (!strstr(e->message.at, cases[i].says))
            check_fail(__FILE__, __LINE__, "expected '%s' in: %s", cases[i].says, e->message.at);
    }
}

TEST(toml_strings_are_escaped)
{
    CHECK_STR(toml_string(check_arena(), STR("C:\\x \"y\"\n")), "\"C:\\\\x \\\"y\\\"\\u000A\"");
}

/* ---- marked blocks ---- */

TEST(a_marked_block_is_replaced_in_its_place_and_removed_without_a_trace)
{
    static const char *const texts[] = {
        "", "# Title\n", "# Title", "a\r\nb\r\n", "\n\n", "a\n\n", "\r", "a\r", "\n\r", "a\r\nb\n"
    };
    struct arena *a = check_arena();

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        str text = str_from(texts[i]), with = text_mark(a, text, STR("one\ntwo\n"));
        CHECK(strstr(with.at, MARK_BEGIN));
        CHECK_STR(text_mark(a, with, STR("one\ntwo\n")), with.at);
        CHECK_STR(text_mark(a, text_mark(a, with, STR("three\n")), STR("")), texts[i]);
    }
    CHECK_STR(text_mark(a, STR("x\n\n" MARK_BEGIN "\nold\n" MARK_END "\ny\n"), STR("new\n")),
              "x\n\n" MARK_BEGIN "\nnew\n" MARK_END "\ny\n");
    CHECK_STR(text_mark(a, STR("x\n\n" MARK_BEGIN "\nold\n" MARK_END "\ny\n"), STR("")), "x\ny\n");
    CHECK_STR(text_mark(a, STR(MARK_END "\n"), STR("")), MARK_END "\n");
}

/* ---- diffs ---- */

TEST(a_diff_shows_changed_lines_with_three_around_them)
{
    static const struct {
        const char *old, *new, *diff;
    } cases[] = {
        { "a\n", "a\n", "" },
        { "", "a\nb\n", "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n" },
        { "a\n", "", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n" },
        { "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
          "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n" },
        { "a", "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n" },
        { "a\nb\nc\n", "b\nc\nd\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n-a\n b\n c\n+d\n" },
        { "x\n", "\033[2J\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+\\u001b[2J\n" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = buf_in(check_arena());
        text_diff(&out, "f", str_from(cases[i].old), str_from(cases[i].new), false);
        CHECK_STR(buf_str(&out), cases[i].diff);
    }
}

/* What `patch` would make of it: the diff is applied to the old text. */
static str patched(struct arena *a, str old, str diff)
{
    struct buf out = buf_in(a);
    size_t at = 0, line_number = 1, from;
    str line, rest = STR("");

    for (; diff.len; diff = rest, rest = STR("")) {
        str_cut(diff, '\n', &line, &rest);
        if (sscanf(line.at, "@@ -%zu", &from) == 1) {
            for (; line_number < from && at < old.len; line_number++) {
                size_t n = str_find(str_slice(old, at, old.len), '\n') + 1;
                buf_add(&out, str_slice(old, at, at + n));
                at += n;
            }
        } else if (line.at[0] == ' ' || (line.at[0] == '-' && !str_starts(line, STR("---")))) {
            if (line.at[0] == ' ')
                buf_printf(&out, STR_FMT "\n", STR_ARG(str_slice(line, 1, line.len)));
            at += line.len;
            line_number++;
        } else if (line.at[0] == '+' && !str_starts(line, STR("+++"))) {
            buf_printf(&out, STR_FMT "\n", STR_ARG(str_slice(line, 1, line.len)));
        }
    }
    buf_add(&out, str_slice(old, at, old.len));
    return buf_str(&out);
}

TEST(a_diff_leads_from_one_text_to_the_other)
{
    struct random r = random_start();
    struct arena *a = check_arena();

    for (int i = 0; i < 200; i++) {
        struct buf old = buf_in(a), new = buf_in(a), diff = buf_in(a);
        for (uint32_t n = 1 + random_below(&r, 30); n > 0; n--) {
            unsigned word = random_below(&r, 6);
            if (random_below(&r, 4))
                buf_printf(&old, "%u\n", word);
            if (random_below(&r, 4))
                buf_printf(&new, "%u\n", word);
        }
        if (!old.len || !new.len)
            continue;
        text_diff(&diff, "f", buf_str(&old), buf_str(&new), false);
        CHECK_STR(patched(a, buf_str(&old), buf_str(&diff)), buf_str(&new).at);
    }
}

/* ---- what is written for clients ---- */

static str edited(const struct wire_file *f, const char *baton, bool wanted, str text)
{
    struct wiring w = { check_arena(), str_from(baton), wanted, NULL };
    str out;

    CHECK_OK(f->edit(&w, text, &out));
    return out;
}

/* Somebody's own text for each kind of file. */
static const char *own_text(const struct wire_file *f)
{
    if (str_ends(str_from(f->path), STR(".toml")))
        return "model = \"m\"\n\n[mcp_servers.other]\ncommand = \"o\"\n";
    return "{\n    \"hooks\": {\n        \"Stop\": [\n"
           "            { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] }\n"
           "        ]\n    },\n"
           "    \"mcpServers\": {\"other\": {\"command\": \"o\"}},\n"
           "    \"permissions\": { \"allow\": [ \"Bash(ls:*)\" ], \"deny\": [] }\n}\n";
}

TEST(every_file_is_wired_once_and_unwired_without_a_trace)
{
    for (const struct wire_file *f = wire_files; f->path; f++) {
        const char *const texts[] = { "", own_text(f) };
        bool ours = str_ends(str_from(f->path), STR(".js")) || f->asked; /* all of it */
        size_t count = ours ? 1 : 2;
        for (size_t i = 0; i < count; i++) {
            str with = edited(f, "baton", true, str_from(texts[i]));
            CHECK(!str_eq(with, str_from(texts[i])));
            CHECK_STR(edited(f, "baton", true, with), with.at);
            CHECK_STR(edited(f, "baton", false, with), texts[i]);
        }
    }
}

/* Of JSON, whatever it looks like. */
static bool says_the_same(str a, str b)
{
    const struct json *one, *other;

    if (a.at[0] != '{')
        return str_eq(a, b);
    one = json_parsed(check_arena(), a);
    other = json_parsed(check_arena(), b);
    return json_equal(one, other);
}

TEST(a_program_that_has_moved_is_put_right_and_nothing_doubled)
{
    for (const struct wire_file *f = wire_files; f->path; f++) {
        str old = edited(f, "/old place/baton", true, STR(""));
        CHECK(says_the_same(edited(f, "baton", true, old), edited(f, "baton", true, STR(""))));
        CHECK_STR(edited(f, "/new/baton", false, old), "");
    }
}

TEST(times_that_somebody_has_set_are_kept)
{
    const struct wire_file *mcp = &wire_files[0], *settings = &wire_files[1];
    str text = STR("{\"mcpServers\":{\"baton\":{\"type\":\"stdio\",\"command\":\"baton\","
                   "\"args\":[\"mcp\"],\"timeout\":5,\"alwaysLoad\":false,\"env\":{}}}}");

    CHECK_STR(edited(mcp, "baton", true, text), text.at);
    str with = edited(settings, "baton", true, STR(""));
    char *time = strstr((char *)with.at, "\"timeout\": 10");
    CHECK(time);
    memcpy(time, "\"timeout\": 99", 13);
    CHECK_STR(edited(settings, "baton", true, with), with.at);
}

TEST(a_server_that_is_reached_by_a_url_is_left_alone)
{
    static const char *const texts[] = {
        "{\"mcpServers\":{\"baton\":{\"type\":\"http\",\"url\":\"http://h/mcp\"}}}",
        "{\"mcpServers\":{\"baton\":{\"httpUrl\":\"http://h/mcp\"}}}",
    };

    for (size_t i = 0; i < 2; i++) {
        CHECK_STR(edited(&wire_files[0], "baton", true, str_from(texts[i])), texts[i]);
        CHECK_STR(edited(&wire_files[0], "baton", false, str_from(texts[i])), texts[i]);
    }
}

TEST(what_is_not_json_is_refused)
{
    static const char *const texts[] = { "{ nonsense", "[]", "// nothing but this\n",
                                         "{\"a\":1,,}" };
    struct wiring w = { check_arena(), STR("baton"), true, NULL };
    str out;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK_ERR(wire_files[0].edit(&w, str_from(texts[i]), &out), ERR_INVALID);
}

/* With what is ours it is longer than documents otherwise may be, and can be taken back all the same. */
TEST(a_file_that_is_almost_too_long_is_wired_and_comes_back)
{
    struct buf text = buf_in(check_arena());

    buf_add(&text, STR("{ \"a\": \""));
    memset(buf_reserve(&text, JSON_BYTES_MAX), 'x', JSON_BYTES_MAX - 40);
    text.len += JSON_BYTES_MAX - 40;
    buf_add(&text, STR("\" }\n"));
    str with = edited(&wire_files[0], "baton", true, buf_str(&text));
    CHECK(with.len > JSON_BYTES_MAX);
    CHECK(str_eq(edited(&wire_files[0], "baton", false, with), buf_str(&text)));
}

static const struct wire_file *file_of(const char *path)
{
    const struct wire_file *f = wire_files;

    while (f->path && strcmp(f->path, path) != 0)
        f++;
    CHECK(f->path);
    return f;
}

/* What is there before init is there after it was taken back: comments, empty containers, a file. */
TEST(files_with_comments_are_wired_in_place_and_come_back)
{
    static const struct {
        const char *path, *text;
    } cases[] = {
        { "opencode.json", "{\n  // mine\n  \"mcp\": {}\n}\n" },
        { "opencode.json", "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n" },
        { "opencode.json", "{ \"$schema\": \"https://opencode.ai/config.json\", \"mcp\": {} }" },
        { ".gemini/settings.json",
          "\xef\xbb\xbf{\r\n  // dark\r\n  \"theme\": \"dark\", /* , */\r\n}\r\n" },
        { ".gemini/settings.json", "{\n  \"hooks\": {\n    // none\n  },\n}\n" },
        { ".gemini/settings.json", "{\"hooks\":{\"Stop\":[]},\"mcpServers\":{}}" },
        { ".mcp.json", "{}\n" },
        { ".mcp.json", "{\n  \"mcpServers\": {\n    \"x\": {}, // x\n  }\n}\n" },
        { ".claude/settings.json", "{\n  \"permissions\": { \"allow\": [] }\n}\n" },
        { ".claude/settings.json", "{ \"hooks\": { \"Stop\": [ /* later */ ] } }\n" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wire_file *f = file_of(cases[i].path);
        str with = edited(f, "baton", true, str_from(cases[i].text));
        CHECK_HAS(with, "baton");
        CHECK_STR(edited(f, "baton", true, with), with.at);
        CHECK_STR(edited(f, "/moved/baton", false, with), cases[i].text);
    }
}

/* `kept`: what is said of it. */
TEST(what_init_did_not_write_is_kept_and_said)
{
    static const struct {
        const char *path, *text, *kept;
    } cases[] = {
        { ".mcp.json",
          "{\"mcpServers\":{\"baton\":{\"type\":\"stdio\",\"command\":\"baton\",\"args\":[\"mcp\"],"
          "\"timeout\":120000,\"alwaysLoad\":true,\"env\":{\"BATON_DATA\":\"/d\"}}}}",
          "/mcpServers/baton: init did not write its \"env\"" },
        { ".mcp.json", "{\"mcpServers\":{\"baton\":{\"command\":\"/opt/orchestra/baton-music\"}}}",
          "/mcpServers/baton: init did not write its \"command\"" },
        { ".mcp.json", "{\"mcpServers\":{\"baton\":{\"command\":\"baton\"}}}",
          "/mcpServers/baton: init writes more members than it has" },
        { "opencode.json",
          "{\"mcp\":{\"baton\":{\"type\":\"local\",\"command\":[\"baton\",\"mcp\"],\"enabled\":true,"
          "\"timeout\":30000/* ms */}}}",
          "/mcp/baton: somebody has put comments into it" },
        { ".claude/settings.json",
          "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"baton\","
          "\"args\":[\"hook\",\"claude\"],\"timeout\":99}]}]}}",
          "/hooks/Stop/0/hooks/0: it is not as init writes it" },
        { ".claude/settings.json",
          "{\"hooks\":{\"PreCompact\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"baton\","
          "\"args\":[\"hook\",\"claude\"],\"timeout\":10}]}]}}",
          "/hooks/PreCompact/0/hooks/0: it is not as init writes it" },
        { ".codex/hooks.json",
          "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\","
          "\"command\":\"X=1 baton hook codex\",\"timeout\":20}]}]}}",
          "/hooks/Stop/0/hooks/0: it is not as init writes it" },
        { ".codex/hooks.json",
          "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\","
          "\"command\":\"tidy hook codex\"}]}]}}",
          NULL },
        { ".codex/config.toml",
          "[mcp_servers.baton]\ncommand = \"baton\"\nargs = [\"mcp\"] # mine\n",
          "[mcp_servers.baton]: its lines are not those that init writes" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf kept = buf_in(check_arena());
        struct wiring w = { check_arena(), STR("baton"), false, &kept };
        str out;
        CHECK_OK(file_of(cases[i].path)->edit(&w, str_from(cases[i].text), &out));
        CHECK_STR(out, cases[i].text);
        if (cases[i].kept)
            CHECK_HAS(buf_str(&kept), cases[i].kept);
        else
            CHECK_INT(kept.len, 0);
    }
}

TEST(a_table_that_somebody_has_added_to_is_kept)
{
    const struct wire_file *f = file_of(".codex/config.toml");
    str with = edited(f, "baton", true, STR("model = \"x\"\n"));
    str more = arena_printf(check_arena(), STR_FMT "\n[mcp_servers.baton.env]\nK = \"v\"\n",
                            STR_ARG(with));

    CHECK_STR(edited(f, "baton", false, with), "model = \"x\"\n");
    CHECK_STR(edited(f, "baton", false, more), more.at);
}

TEST(a_plugin_is_all_ours_or_somebody_elses)
{
    const struct wire_file *f = file_of(".baton/opencode.js");
    struct buf kept = buf_in(check_arena());
    struct wiring w = { check_arena(), STR("baton"), true, &kept };
    str with = edited(f, "/a \"b\"/baton", true, STR("")), out;

    CHECK_HAS(with, "const program = \"/a \\\"b\\\"/baton\";\n");
    CHECK_HAS(edited(f, "baton", true, with), "const program = \"baton\";\n"); /* it has moved */
    CHECK_STR(edited(f, "baton", false, with), "");
    /* What another version has written is put right; what somebody has changed is left to him. */
    str changed = arena_printf(check_arena(), STR_FMT "// mine\n", STR_ARG(with));
    CHECK_STR(edited(f, "baton", true, changed), edited(f, "baton", true, STR("")).at);
    w.wanted = false;
    CHECK_OK(f->edit(&w, changed, &out));
    CHECK_STR(out, changed.at);
    CHECK_HAS(buf_str(&kept), "it is not as init writes it");
    w.wanted = true;
    CHECK_ERR(f->edit(&w, STR("export default {}\n"), &out), ERR_INVALID);
    CHECK_STR(edited(f, "baton", false, STR("export default {}\n")), "export default {}\n");
}

/* A hook that leads to this program by something else is heard of, and nothing is put in its place;
 * one that is written as a line for a shell stays one. */
TEST(hooks_are_put_right_in_the_way_in_which_they_are_written)
{
    static const struct {
        const char *command, *after;
    } cases[] = {
        { "env X=1 baton hook claude", "env X=1 baton hook claude" },
        { "/old/baton hook claude", "'/new place/baton' hook claude" },
        { "baton hook claude", "'/new place/baton' hook claude" },
        { "baton hook claude --wait", "'/new place/baton' hook claude --wait" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str text = arena_printf(check_arena(),
                                "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\","
                                "\"command\":\"%s\"}]}]}}",
                                cases[i].command);
        str out = edited(file_of(".claude/settings.json"), "/new place/baton", true, text);
        const struct json *json, *stop;
        json = json_parsed(check_arena(), out);
        stop = json_get(json_get(json, "hooks"), "Stop");
        CHECK_INT(stop->len, 2); /* and the one that waits, or that does not */
        CHECK_STR(json_str(json_at(json_get(json_at(stop, 0), "hooks"), 0), "command"),
                  cases[i].after);
    }
}

/* A matcher of a former version becomes today's, and goes with its hook; one of somebody else's
 * stays. */
TEST(matchers_that_init_has_written_before_are_put_right)
{
    static const struct {
        const char *file, *event, *hook, *was, *is;
    } cases[] = {
        { ".claude/settings.json", "PostToolUse",
          "\"command\":\"baton\",\"args\":[\"hook\",\"claude\"]",
          "^(Agent|TaskUpdate|TaskStop|mcp__.*state_(patch|update))$", "|NotebookEdit|" },
        { ".claude/settings.json", "PostToolUse",
          "\"command\":\"baton\",\"args\":[\"hook\",\"claude\"]",
          "^(Agent|TaskUpdate|TaskStop|Read|Edit|MultiEdit|Write|NotebookEdit|"
          "mcp__.*state_(patch|update|read))$",
          "|TaskCreate|" },
        { ".codex/hooks.json", "PostToolUse", "\"command\":\"baton hook codex\"",
          "^mcp__.*state_(patch|update)$", "^(apply_patch|" },
        { ".gemini/settings.json", "AfterTool",
          "\"name\":\"baton\",\"command\":\"baton hook gemini\"",
          "^(write_todos|tracker_.*|mcp_.*state_(patch|update))$", "|write_file|" },
        { ".claude/settings.json", "PostToolUse",
          "\"command\":\"baton\",\"args\":[\"hook\",\"claude\"]", "^Edit$", "^Edit$" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wire_file *f = file_of(cases[i].file);
        bool ours = i < 4;
        str text = arena_printf(check_arena(),
                                "{\"hooks\":{\"%s\":[{\"matcher\":\"%s\",\"hooks\":[{\"type\":"
                                "\"command\",%s,\"timeout\":%d}]}]}}",
                                cases[i].event, cases[i].was, cases[i].hook,
                                str_starts(str_from(cases[i].file), STR(".gemini")) ? 10000 : 10);
        const struct json *out = json_parsed(check_arena(), edited(f, "baton", true, text));
        const struct json *groups = json_get(json_get(out, "hooks"), cases[i].event);
        CHECK_INT(groups->len, 1);
        CHECK_HAS(json_str(json_at(groups, 0), "matcher"), cases[i].is);
        CHECK(str_contains(edited(f, "baton", false, text), STR("matcher")) == !ours);
    }
}

/* ---- files ---- */

static str here(void)
{
    char path[4096];
    CHECK(realpath(".", path));
    return arena_copy(check_arena(), str_from(path));
}

TEST(no_link_leads_a_write_out_of_the_project)
{
    struct arena *a = check_arena();
    struct init_file f;

    CHECK(mkdir("project", 0700) == 0 && mkdir("outside", 0700) == 0);
    check_write("outside/settings.json", STR("{}"));
    CHECK(symlink("../outside", "project/.claude") == 0);
    CHECK(symlink("../outside/settings.json", "project/.mcp.json") == 0);
    CHECK(symlink("nowhere", "project/AGENTS.md") == 0);
    str root = arena_printf(a, STR_FMT "/project", STR_ARG(here()));
    CHECK_ERR(init_file_read(a, root, ".claude/settings.json", &f), ERR_FORBIDDEN);
    CHECK_ERR(init_file_read(a, root, ".claude/new.json", &f), ERR_FORBIDDEN);
    CHECK_ERR(init_file_read(a, root, ".mcp.json", &f), ERR_FORBIDDEN);
    CHECK_ERR(init_file_read(a, root, "AGENTS.md", &f), ERR_FORBIDDEN);
}

TEST(a_link_inside_of_the_project_stays_a_link)
{
    struct arena *a = check_arena();
    bool chosen[CLIENTS] = { [CLIENT_CLAUDE] = true };
    struct init_plan plan;
    struct stat st;
    size_t blocks = 0;

    check_write("AGENTS.md", STR("# Mine\n"));
    CHECK(symlink("AGENTS.md", "CLAUDE.md") == 0);
    CHECK_OK(init_plan_make(a, here(), chosen, INIT_WIRE, &plan));
    for (size_t i = 0; i < plan.count; i++) {
        blocks += str_ends(str_from(plan.changes[i].file.path), STR(".md"));
        CHECK_OK(init_file_write(a, plan.root, &plan.changes[i].file, plan.changes[i].after));
    }
    CHECK_INT(blocks, 1); /* one file, one block */
    CHECK(lstat("CLAUDE.md", &st) == 0 && S_ISLNK(st.st_mode));
}

TEST(a_file_keeps_its_mode_and_is_not_overwritten_when_it_has_changed)
{
    struct arena *a = check_arena();
    struct init_file f;
    struct stat st;

    check_write("x.json", STR("{}"));
    CHECK(chmod("x.json", 0640) == 0);
    CHECK_OK(init_file_read(a, here(), "x.json", &f));
    CHECK_OK(init_file_write(a, here(), &f, STR("{\"a\":1}")));
    CHECK(stat("x.json", &st) == 0);
    CHECK_INT(st.st_mode & 07777, 0640);
    CHECK_ERR(init_file_write(a, here(), &f, STR("{}")), ERR_CONFLICT);
    CHECK_STR(check_read("x.json"), "{\"a\":1}");
}

static str planned(const struct init_plan *p, const char *path)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->changes[i].file.path, path) == 0)
            return p->changes[i].after;
    return STR("(not planned)");
}

TEST(the_agent_that_plans_is_written_for_who_asks_for_it)
{
    const char path[] = ".claude/agents/delegation-orchestrator.md";
    const struct wire_file *f = file_of(path);
    bool claude[CLIENTS] = { [CLIENT_CLAUDE] = true };
    struct buf kept = buf_in(check_arena());
    struct wiring w = { check_arena(), STR("baton"), true, &kept };
    struct init_plan plan;
    str with = edited(f, "baton", true, STR("")), out;

    CHECK(str_starts(with, STR("---\nname: delegation-orchestrator\n")));
    CHECK_STR(edited(f, "baton", false, with), "");
    str changed = arena_printf(check_arena(), STR_FMT "Be brief.\n", STR_ARG(with));
    CHECK_STR(edited(f, "baton", true, changed), arena_copy(check_arena(), with).at);
    w.wanted = false;
    CHECK_OK(f->edit(&w, changed, &out));
    CHECK_STR(out, changed.at);
    CHECK_HAS(buf_str(&kept), "it is not as init writes it");
    w.wanted = true;
    CHECK_ERR(f->edit(&w, STR("---\nname: mine\n---\n"), &out), ERR_INVALID);

    CHECK_OK(init_plan_make(check_arena(), here(), claude, INIT_WIRE, &plan));
    CHECK_STR(planned(&plan, path), "(not planned)");
    CHECK_OK(init_plan_make(check_arena(), here(), claude, INIT_WIRE_ORCHESTRATOR, &plan));
    CHECK_STR(planned(&plan, path), arena_copy(check_arena(), with).at);
    CHECK_OK(init_plan_make(check_arena(), here(), claude, INIT_REMOVE, &plan));
    CHECK_STR(planned(&plan, path), "");
}

TEST(the_block_goes_where_each_client_reads_it)
{
    struct arena *a = check_arena();
    bool claude[CLIENTS] = { [CLIENT_CLAUDE] = true }, gemini[CLIENTS] = { [CLIENT_GEMINI] = true };
    struct init_plan plan;

    CHECK_OK(init_plan_make(a, here(), claude, INIT_WIRE, &plan));
    CHECK(str_starts(planned(&plan, "AGENTS.md"), STR(MARK_BEGIN)));
    CHECK_STR(planned(&plan, "CLAUDE.md"), "(not planned)");
    check_write("CLAUDE.md", STR("# Mine\n"));
    CHECK_OK(init_plan_make(a, here(), claude, INIT_WIRE, &plan));
    CHECK(strstr(planned(&plan, "CLAUDE.md").at, MARK_BEGIN));
    check_write("CLAUDE.md", STR("# Mine\n@AGENTS.md\n"));
    CHECK_OK(init_plan_make(a, here(), claude, INIT_WIRE, &plan));
    CHECK_STR(planned(&plan, "CLAUDE.md"), "(not planned)");

    CHECK_OK(init_plan_make(a, here(), gemini, INIT_WIRE, &plan));
    CHECK(str_starts(planned(&plan, "GEMINI.md"), STR(MARK_BEGIN)));
    CHECK(mkdir(".gemini", 0700) == 0);
    check_write(".gemini/settings.json", STR("{\"context\":{\"fileName\":[\"AGENTS.md\"]}}"));
    CHECK_OK(init_plan_make(a, here(), gemini, INIT_WIRE, &plan));
    CHECK_STR(planned(&plan, "GEMINI.md"), "(not planned)");
}

/* ---- the plugin, which says the same in other files ---- */

static const struct json *source_json(const char *path)
{
    return json_parsed(check_arena(), check_read(check_source(path)));
}

static const struct json *wired_json(const struct wire_file *f)
{
    return json_parsed(check_arena(), edited(f, "baton", true, STR("")));
}

TEST(the_plugin_wires_what_init_wires)
{
    CHECK(json_equal(json_get(source_json("plugin/hooks/hooks.json"), "hooks"),
                     json_get(wired_json(&wire_files[1]), "hooks")));
    CHECK(json_equal(source_json("plugin/.mcp.json"), wired_json(&wire_files[0])));
    CHECK_STR(json_str(source_json("plugin/.claude-plugin/plugin.json"), "version"), BATON_VERSION);
}
