/* render_test.c: what a terminal and a pipe get of an answer. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "cli/op_verbs.h"
#include "client/http_response.h"

/* What a command prints of an answer, to a terminal of 60 columns or to a pipe. */
static str rendered(const char *noun, const char *verb, bool terminal, const char *body)
{
    struct arena *a = check_arena();
    struct response r = { .status = 200, .body = str_from(body) };
    struct cli c = { .arena = a, .terminal = terminal };

    setenv("COLUMNS", "60", 1);
    c.verb = verb_find(verb_find(op_verbs(a), str_from(noun))->verbs, str_from(verb));
    CHECK(freopen("out", "w", stdout) != NULL);
    CHECK_OK(render_answer(&c, &r));
    CHECK(cli_flush(&c));
    return check_read("out");
}

TEST(list_is_a_table_for_a_terminal)
{
    CHECK_STR(rendered("schema", "list", true,
                       "{\"schemas\":[{\"name\":\"a\",\"version\":1,\"description\":\"\"},"
                       "{\"name\":\"longer\",\"version\":12,\"description\":\"\"}],"
                       "\"next\":\"longer\"}"),
              "name    version\n"
              "a       1\n"
              "longer  12\n"
              "next     longer\n");
    CHECK_STR(rendered("schema", "list", true, "{\"schemas\":[]}"), "none\n");
}

/* A document in a table stands below its row when there is no room for it. */
TEST(wide_cells_stand_below_their_row)
{
    CHECK_STR(rendered("state", "history", true,
                       "{\"versions\":[{\"patch\":[{\"op\":\"remove\",\"path\":\"/a\"}],"
                       "\"version\":2,\"time\":\"2025-01-15T10:40:00.123Z\",\"actor\":\"me\"}]}"),
              "version  time                      actor\n"
              "2        2025-01-15T10:40:00.123Z  me\n"
              "    [{\"op\":\"remove\",\"path\":\"/a\"}]\n");
    CHECK_STR(rendered("state", "history", true,
                       "{\"versions\":[{\"patch\":[{\"op\":\"replace\",\"path\":\"/a\","
                       "\"value\":\"much longer than it should be\"}],\"version\":2}]}"),
              "version  patch\n"
              "2        [{\"op\":\"replace\",\"path\":\"/a\",\"value\":\"much longer …\n");
}

/* Of sessions and runs people see what they look for, as far as there is room; a pipe gets all. */
TEST(long_rows_are_shown_by_chosen_columns)
{
    const char *runs = "{\"runs\":[{\"run_id\":\"run_1\",\"session_id\":\"ses_1\",\"session_name\":"
                       "\"build\",\"metadata\":{},\"purpose\":\"work\",\"status\":\"failed\","
                       "\"attempt\":1,\"error\":\"it took too long\\nfor anybody\"}]}";

    CHECK_STR(rendered("run", "list", true, runs),
              "run_id  session_name  status  purpose  attempt  error\n"
              "run_1   build         failed  work     1        it took too…\n");
    CHECK(strstr(rendered("run", "list", false, runs).at, "\"session_id\":\"ses_1\"") != NULL);
}

TEST(object_is_names_and_values_for_a_terminal)
{
    CHECK_STR(rendered("state", "read", true,
                       "{\"state_id\":\"wfstate_1\",\"root\":null,\"version\":7,"
                       "\"current_data\":[{\"a\":1}]}"),
              "state_id      wfstate_1\n"
              "root          null\n"
              "version       7\n"
              "current_data\n"
              "[\n"
              "  {\n"
              "    \"a\": 1\n"
              "  }\n"
              "]\n");
}

/* A document must not be able to drive the reader's terminal. */
TEST(control_characters_are_shown_and_not_sent)
{
    CHECK_STR(rendered("state", "read", true, "{\"name\":\"a\\u001b[2Jb\"}"),
              "name  a\\u001b[2Jb\n");
    CHECK_STR(rendered("schema", "list", true,
                       "{\"schemas\":[{\"name\":\"a\\u001b[2Jb\",\"version\":1}]}"),
              "name    version\n"
              "a\\u001b[2Jb  1\n");
}

/* Controls of eight bits, and those that turn the direction of a line, whichever way they come. */
TEST(what_a_terminal_would_obey_is_shown_in_every_answer)
{
    static const struct {
        const char *raw, *shown;
    } all[] = {
        { "\xc2\x9b", "\\u009b" },     { "\xc2\x85", "\\u0085" },     { "\xd8\x9c", "\\u061c" },
        { "\xe2\x80\x8e", "\\u200e" }, { "\xe2\x80\xae", "\\u202e" }, { "\xe2\x81\xa6", "\\u2066" },
        { "\xe2\x81\xa9", "\\u2069" },
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct arena *a = check_arena();
        const char *one = arena_printf(a, "{\"name\":\"a%sb\"}", all[i].raw).at;
        const char *deep = arena_printf(a, "{\"x\":[{\"y\":\"a%sb\"}]}", all[i].raw).at;
        CHECK_STR(rendered("state", "read", true, one),
                  arena_printf(a, "name  a%sb\n", all[i].shown).at);
        CHECK(strstr(rendered("state", "read", true, deep).at, all[i].shown));
        CHECK(!strstr(rendered("state", "read", true, deep).at, all[i].raw));
        CHECK(strstr(rendered("state", "read", false, deep).at, all[i].raw)); /* a pipe gets all */
    }
}

TEST(pipe_gets_the_answer_in_one_line)
{
    CHECK_STR(rendered("schema", "list", false, "{ \"schemas\": [ ] }"), "{\"schemas\":[]}\n");
    CHECK_STR(rendered("state", "delete", false, ""), "");
}
