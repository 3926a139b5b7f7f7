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

/* Columns that are empty in all rows are not there. */
TEST(list_is_a_table)
{
    const char *schemas = "{\"schemas\":[{\"name\":\"a\",\"version\":1,\"description\":\"\"},"
                          "{\"name\":\"longer\",\"version\":12,\"description\":\"\"}]}";

    for (int terminal = 0; terminal <= 1; terminal++) {
        CHECK_STR(rendered("schema", "list", terminal, schemas), "name    version\n"
                                                                 "a       1\n"
                                                                 "longer  12\n");
        CHECK_STR(rendered("schema", "list", terminal, "{\"schemas\":[]}"), "none\n");
    }
}

/* On a terminal words are cut, then columns go, then cells are cut; into a pipe all is whole. */
TEST(table_is_as_wide_as_the_terminal_and_whole_in_a_pipe)
{
    const char *runs =
        "{\"runs\":[{\"run_id\":\"run_1\",\"session_id\":\"ses_1\",\"session_name\":"
        "\"build\",\"metadata\":{},\"purpose\":\"work\",\"status\":\"failed\",\"agent_name\":"
        "\"compiler\",\"attempt\":1,\"error\":\"it took too long\\nfor anybody to bear\"}]}";
    const char *sessions =
        "{\"sessions\":[{\"session_name\":\"a_name_that_is_forty_characters_long_"
        "here\",\"status\":\"running\",\"session_id\":\"ses_012345678901\"}]}";

    CHECK_STR(rendered("run", "list", true, runs),
              "session  status  purpose  try  error                   id\n"
              "build    failed  work     1    it took too long for …  run_1\n");
    CHECK_STR(
        rendered("run", "list", false, runs),
        "session  status  purpose  try  agent     error                                 id\n"
        "build    failed  work     1    compiler  it took too long for anybody to bear  run_1\n");
    CHECK_STR(rendered("session", "list", true, sessions),
              "name                               status   id\n"
              "a_name_that_is_forty_characters_…  running  ses_012345678901\n");
    CHECK(strstr(rendered("session", "list", false, sessions).at,
                 "a_name_that_is_forty_characters_long_here  running"));
}

/* A document is JSON, also one with arrays in it; so is the diff of two versions. */
TEST(document_is_json)
{
    const char *agent = "{\"name\":\"a\",\"tools\":[\"Read\"],\"model\":null}";

    CHECK_STR(rendered("agent", "get", true, agent), "{\n"
                                                     "  \"name\": \"a\",\n"
                                                     "  \"tools\": [\n"
                                                     "    \"Read\"\n"
                                                     "  ],\n"
                                                     "  \"model\": null\n"
                                                     "}\n");
    CHECK_STR(rendered("agent", "get", false, agent),
              "{\"name\":\"a\",\"tools\":[\"Read\"],\"model\":null}\n");
}

/* A document must not be able to drive the reader's terminal. */
TEST(control_characters_are_shown_and_not_sent)
{
    CHECK_STR(rendered("state", "read", true, "{\"name\":\"a\\u001b[2Jb\"}"),
              "{\n  \"name\": \"a\\u001b[2Jb\"\n}\n");
    for (int terminal = 0; terminal <= 1; terminal++)
        CHECK_STR(rendered("schema", "list", terminal,
                           "{\"schemas\":[{\"name\":\"a\\u001b[2Jb\",\"version\":1}]}"),
                  "name         version\n"
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
                  arena_printf(a, "{\n  \"name\": \"a%sb\"\n}\n", all[i].shown).at);
        CHECK(strstr(rendered("state", "read", true, deep).at, all[i].shown));
        CHECK(!strstr(rendered("state", "read", true, deep).at, all[i].raw));
        CHECK(strstr(rendered("state", "read", false, deep).at, all[i].raw)); /* a pipe gets all */
    }
}

TEST(pipe_gets_a_document_in_one_line)
{
    CHECK_STR(rendered("state", "read", false, "{ \"version\": 1 }"), "{\"version\":1}\n");
    CHECK_STR(rendered("state", "delete", false, ""), "");
}
