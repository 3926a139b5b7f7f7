/* runner_evidence_test.c: what a step must have left behind, looked at in a folder of the test's own. */
#define _GNU_SOURCE
#include "runner/evidence.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "json_help.h"
#include "os/exec.h"

static const char sha_of_hello[] =
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

/* Checks are JSON with single quotes; the answer is shown so. */
static struct json look(const char *checks)
{
    struct arena *a = check_arena();
    struct json asked = json_of(a, arena_printf(a, "{'checks':%s}", checks).at), out;

    exec_adopt();
    CHECK_OK(evidence_check(a, &asked, &out));
    return out;
}

static void check_look(const char *checks, const char *expected)
{
    struct json found = look(checks);
    CHECK_STR(json_shown(check_arena(), &found), expected);
}

TEST(every_check_is_made_and_told_in_its_order)
{
    check_write("a.txt", STR("hello"));
    check_write("r.xml", STR("<testsuite><testcase name='x'/><testcase name='y'/></testsuite>"));
    check_look("[]", "{'ok':true,'checks':[]}");
    check_look("[{'kind':'command','argv':['sh','-c','exit 0']},{'kind':'file','path':'a.txt'},"
               "{'kind':'junit','path':'r.xml'}]",
               arena_printf(check_arena(),
                            "{'ok':true,'checks':["
                            "{'kind':'command','ok':true,'what':'exit 0','found':'exit 0'},"
                            "{'kind':'file','ok':true,'what':'a.txt','found':'5 bytes',"
                            "'sha256':'%s'},"
                            "{'kind':'junit','ok':true,'what':'r.xml','found':'2 tests, none "
                            "failed','tests':2,'failures':0}]}",
                            sha_of_hello)
                   .at);
    check_look("[{'kind':'command','argv':['false']},{'kind':'command','argv':['true']}]",
               "{'ok':false,'checks':["
               "{'kind':'command','ok':false,'what':'false','found':'exit 1'},"
               "{'kind':'command','ok':true,'what':'true','found':'exit 0'}]}");
}

/* ---- commands ---- */

TEST(how_a_command_has_ended_is_told)
{
    static const struct {
        const char *check, *found;
        bool ok;
    } cases[] = {
        { "'argv':['sh','-c','exit 2']", "exit 2", false },
        { "'argv':['sh','-c','exit 2'],'exit':2", "exit 2", true },
        { "'argv':['true'],'exit':2", "exit 0, expected 2", false },
        { "'argv':['sh','-c','kill -9 $$']", "ended by signal 9 (Killed)", false },
        { "'argv':['no-such-program']", "there is no program 'no-such-program'", false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json found =
            look(arena_printf(check_arena(), "[{'kind':'command',%s}]", cases[i].check).at);
        const struct json *one = json_at(json_get(&found, "checks"), 0);
        CHECK_HAS(json_str(one, "found"), cases[i].found);
        CHECK(json_bool_or(one, "ok", !cases[i].ok) == cases[i].ok);
        CHECK(json_bool_or(&found, "ok", !cases[i].ok) == cases[i].ok);
    }
}

TEST(of_a_failed_command_the_last_lines_are_told_and_of_a_good_one_none)
{
    struct json bad = look("[{'kind':'command','argv':['sh','-c','seq 1 100000 >&2; exit 1']}]"),
                good = look("[{'kind':'command','argv':['seq','1','9']}]");
    str output = json_str(json_at(json_get(&bad, "checks"), 0), "output");

    CHECK(str_starts(output, STR("99981\n99982\n")) && str_ends(output, STR("\n100000")));
    CHECK(!json_get(json_at(json_get(&good, "checks"), 0), "output"));
}

/* The answer of a run is kept, and shown to the agent whose step it was. */
TEST(whatever_commands_write_the_answer_is_short_and_json)
{
    struct buf checks = buf_in(check_arena());

    for (int i = 0; i < EVIDENCE_CHECKS_MAX; i++)
        buf_printf(&checks,
                   "%s{'kind':'command','argv':['sh','-c','head -c 300000 /dev/urandom; printf "
                   "\\\"%%01000d\\\\n\\\" 1; exit 1']}",
                   i ? "," : "[");
    buf_byte(&checks, ']');
    struct json found = look(buf_str(&checks).at);
    str printed = json_printed(check_arena(), &found);
    const struct json *again;

    CHECK(printed.len < 64 << 10);
    CHECK_OK(json_parse(check_arena(), printed, NULL, &again));
}

TEST(colours_of_a_terminal_are_left_out_of_what_is_told)
{
    check_write("bad", STR("\033[31mred\033[0m\007\377\n"));
    check_look("[{'kind':'command','argv':['sh','-c','cat bad; exit 1']}]",
               "{'ok':false,'checks':[{'kind':'command','ok':false,'what':'cat bad; exit 1',"
               "'found':'exit 1','output':'red?\?'}]}");
}

TEST(what_a_command_leaves_running_is_killed_before_the_next_one)
{
    struct json found = look("[{'kind':'command','argv':['sh','-c','setsid sleep 1000 & echo $! "
                             ">left.pid; while ! test -s left.pid; do :; done']},"
                             "{'kind':'command','argv':['sh','-c','! kill -0 $(cat left.pid)']}]");

    CHECK(json_bool_or(&found, "ok", false));
}

/* ---- files ---- */

TEST(files_of_the_folder_are_looked_at_and_no_others)
{
    static const struct {
        const char *check, *found;
        bool ok;
    } cases[] = {
        { "'path':'in/a.txt'", "5 bytes", true },
        { "'path':'./in//a.txt'", "5 bytes", true },
        { "'path':'in/link'", "5 bytes", true },
        { "'path':'in/a.txt',"
          "'sha256':'2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824'",
          "5 bytes", true },
        { "'path':'in/a.txt','sha256':null", "5 bytes", true },
        { "'path':'in/a.txt','sha256':'00'",
          "sha256 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824, expected 00",
          false },
        { "'path':'in/none.txt'", "no such file", false },
        { "'path':'in/a.txt/b'", "no such file", false },
        { "'path':'in'", "not a file", false },
        { "'path':'in/pipe'", "not a file", false },
        { "'path':'in/out'", "outside of the working directory", false },
        { "'path':'in/../in/a.txt'", "outside of the working directory", false },
        { "'path':'../in/a.txt'", "outside of the working directory", false },
        { "'path':'/etc/passwd'", "outside of the working directory", false },
        { "'path':'/nowhere'", "no such file", false },
    };
    CHECK(mkdir("in", 0700) == 0 && mkfifo("in/pipe", 0600) == 0);
    check_write("in/a.txt", STR("hello"));
    CHECK(symlink("a.txt", "in/link") == 0 && symlink("/etc/passwd", "in/out") == 0);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json found =
            look(arena_printf(check_arena(), "[{'kind':'file',%s}]", cases[i].check).at);
        const struct json *one = json_at(json_get(&found, "checks"), 0);
        CHECK_STR(json_str(one, "found"), cases[i].found);
        CHECK(json_bool_or(one, "ok", !cases[i].ok) == cases[i].ok);
    }
}

/* ---- reports of tests ---- */

TEST(a_report_of_tests_says_which_have_failed)
{
    static const struct {
        const char *text, *found;
        bool ok;
    } cases[] = {
        { "<testsuite><testcase name='x'/></testsuite>", "1 test, none failed", true },
        { "<testsuite/>", "no tests in it", false },
        { "<testsuite tests='41'><testcase name='a'><failure/></testcase><testcase "
          "name='b'><error/></testcase><testcase name='c'><failure/></testcase></testsuite>",
          "3 of 41 tests failed: a, b, c", false },
        { "<testsuite tests='41' failures='9'><testcase name='a'><failure/></testcase></testsuite>",
          "9 of 41 tests failed: a and 8 more", false },
        { "41 passed",
          "no report of tests: line 1: expected nothing but one element, found text beside it",
          false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_write("r.xml", str_from(cases[i].text));
        struct json found = look("[{'kind':'junit','path':'r.xml'}]");
        const struct json *one = json_at(json_get(&found, "checks"), 0);
        CHECK_STR(json_str(one, "found"), cases[i].found);
        CHECK(json_bool_or(one, "ok", !cases[i].ok) == cases[i].ok);
    }
    check_look("[{'kind':'junit','path':'none.xml'}]",
               "{'ok':false,'checks':[{'kind':'junit','ok':false,'what':'none.xml',"
               "'found':'no such file'}]}");
}

/* ---- what is no check ---- */

TEST(what_is_no_check_is_refused)
{
    static const char *const cases[] = {
        "{}",
        "{'checks':{}}",
        "{'checks':['x']}",
        "{'checks':[{'kind':'magic'}]}",
        "{'checks':[{'kind':'command'}]}",
        "{'checks':[{'kind':'command','argv':[]}]}",
        "{'checks':[{'kind':'command','argv':['true',1]}]}",
        "{'checks':[{'kind':'file'}]}",
        "{'checks':[{'kind':'junit','path':''}]}",
    };
    struct arena *a = check_arena();
    struct json out, many = json_of(a, "{'checks':[]}");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json asked = json_of(a, cases[i]);
        err e = evidence_check(a, &asked, &out);
        CHECK(e && e->kind == ERR_INVALID);
    }
    for (int i = 0; i <= EVIDENCE_CHECKS_MAX; i++)
        json_push(a, &many.members[0].value, json_of(a, "{'kind':'file','path':'x'}"));
    err e = evidence_check(a, &many, &out);
    CHECK(e && e->kind == ERR_INVALID);
}
