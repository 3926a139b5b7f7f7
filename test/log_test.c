/* log_test.c: what a line looks like, and which are kept. */
#include "base/log.h"

#include <errno.h>
#include <unistd.h>

#include "base/utf8.h"
#include "check.h"

struct kept {
    struct buf lines;
    enum log_level level; /* of the last one */
    int count;
};

static void keep(void *to, enum log_level level, str line)
{
    struct kept *kept = to;
    kept->level = level;
    kept->count++;
    buf_add(&kept->lines, line);
}

static void keep_from(enum log_level least, struct kept *kept)
{
    *kept = (struct kept){ .lines = buf_in(check_arena()) };
    log_to(least, keep, kept);
}

TEST(log_line_is_what_happened_and_then_its_fields)
{
    struct kept kept;
    keep_from(LOG_INFO, &kept);
    log_info("server.start");
    log_info("run.claim", LOG_S("run", STR("run_8f2")), LOG_N("attempt", 2), LOG_N("ms", -3));
    CHECK_STR(buf_str(&kept.lines), "server.start\n"
                                    "run.claim run=run_8f2 attempt=2 ms=-3\n");
    CHECK_INT(kept.count, 2);
}

TEST(log_prints_the_whole_range_of_numbers)
{
    struct kept kept;
    keep_from(LOG_INFO, &kept);
    log_info("n", LOG_N("a", 0), LOG_N("b", INT64_MAX), LOG_N("c", INT64_MIN));
    CHECK_STR(buf_str(&kept.lines), "n a=0 b=9223372036854775807 c=-9223372036854775808\n");
}

TEST(log_quotes_values_that_would_break_the_line)
{
    // clang-format off
    static const struct { str value; const char *shown; } cases[] = {
        { STR("plain"),              "plain" },
        { STR("/a=b?c\\d"),          "/a=b?c\\d" },
        { STR("caf\xc3\xa9"),        "caf\xc3\xa9" },
        { STR(""),                   "\"\"" },
        { STR("two words"),          "\"two words\"" },
        { STR("a\"b"),               "\"a\\\"b\"" },
        { STR("a \\ b"),             "\"a \\\\ b\"" },
        { STR("x\nerror: forged"),   "\"x\\nerror: forged\"" },
        { STR("\x1b[31m\t\x7f"),     "\"\\x1b[31m\\x09\\x7f\"" },
        { STR("nul\0end"),           "\"nul\\x00end\"" },
    };
    // clang-format on
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct kept kept;
        keep_from(LOG_INFO, &kept);
        log_info("v", LOG_S("k", cases[i].value));
        str expected = arena_printf(check_arena(), "v k=%s\n", cases[i].shown);
        CHECK_STR(buf_str(&kept.lines), expected.at);
    }
}

TEST(log_drops_lines_below_the_least_level)
{
    struct kept kept;
    keep_from(LOG_WARN, &kept);
    log_debug("a");
    log_info("b");
    CHECK_INT(kept.count, 0);
    log_warn("c");
    CHECK_INT(kept.level, LOG_WARN);
    log_error("d");
    CHECK_INT(kept.level, LOG_ERROR);
    CHECK_STR(buf_str(&kept.lines), "c\nd\n");

    keep_from(LOG_DEBUG, &kept);
    log_debug("e");
    CHECK_STR(buf_str(&kept.lines), "e\n");
}

/* A pipe takes up to 4,096 bytes in one piece. */
TEST(log_cuts_long_lines_at_a_character_and_shows_it)
{
    char text[6000];
    for (size_t shift = 0; shift < 4; shift++)
        for (int quoted = 0; quoted < 2; quoted++) {
            memset(text, quoted ? ' ' : 'x', sizeof(text));
            for (size_t i = shift; i + 4 <= sizeof(text); i += 4)
                memcpy(text + i, "\xf0\x9f\x98\x80", 4);
            struct kept kept;
            keep_from(LOG_INFO, &kept);
            log_info("v", LOG_S("k", ((str){ text, sizeof(text) - 3 })), LOG_N("after", 1));
            CHECK_INT(kept.count, 1);
            str line = buf_str(&kept.lines);
            CHECK(line.len > 3900 && line.len <= 4096);
            CHECK(utf8_valid(line));
            CHECK(str_ends(line, STR("...\n")));
        }
}

TEST(log_writes_to_standard_error_unless_told)
{
    int ends[2], old = dup(STDERR_FILENO);
    CHECK(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    errno = EBADF;
    log_debug("dropped");
    log_info("run.claim", LOG_S("run", STR("r1")));
    log_warn("disk.low", LOG_N("bytes", 12));
    log_error("journal.broken");
    int kept_errno = errno;
    dup2(old, STDERR_FILENO);

    char text[256];
    ssize_t n = read(ends[0], text, sizeof(text));
    CHECK(n > 0);
    CHECK_STR(((str){ text, (size_t)n }), "run.claim run=r1\n"
                                          "warn: disk.low bytes=12\n"
                                          "error: journal.broken\n");
    CHECK_INT(kept_errno, EBADF);
}

TEST(log_loses_lines_quietly_when_standard_error_is_gone)
{
    int old = dup(STDERR_FILENO);
    close(STDERR_FILENO);
    errno = 0;
    log_error("nobody.listens");
    int kept_errno = errno;
    dup2(old, STDERR_FILENO);
    CHECK_INT(kept_errno, 0);
}

/* Whoever looks at the log in a terminal sees them, and they do nothing. */
TEST(log_shows_what_a_terminal_would_obey)
{
    struct kept kept;
    keep_from(LOG_INFO, &kept);
    log_info("x",
             LOG_S("a", STR("\xc2\x9b"
                            "2J")),
             LOG_S("b", STR("\xe2\x80\xae"
                            "gpj")),
             LOG_S("c", STR("\xc3\xa4")), LOG_S("d", STR("\x9b")));
    CHECK_STR(buf_str(&kept.lines),
              "x a=\"\\xc2\\x9b2J\" b=\"\\xe2\\x80\\xaegpj\" c=\xc3\xa4 d=\"\\x9b\"\n");
}
