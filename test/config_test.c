/* config_test.c: what can be set, from where, and what is said when it cannot. */
#include "app/config.h"

#include <stdlib.h>

#include "check.h"

static err read_text(struct config *c, const char *text)
{
    *c = config_default();
    return config_read(check_arena(), c, str_from(text), "baton.toml");
}

TEST(settings_of_a_file_are_read)
{
    struct config c;

    CHECK_OK(read_text(&c, "# settings\r\n"
                           "\n"
                           "listen = \"127.0.0.1:0\"   # any port\n"
                           "  socket='/run/a \\ b'\n"
                           "hosts = \"a \\\"quoted\\\" \\\\ name\"\n"
                           "batch_max = 64\n"
                           "cache_bytes = 1048576#comment\n"
                           "log_level = \"warn\"\n"
                           "[body]\n"
                           "bytes = \"8MiB\"\n"
                           "time = \"1m30s\"\n"
                           "[ behind ] # a table\n"
                           "events = 100"));
    CHECK_STR(c.listen, "127.0.0.1:0");
    CHECK_STR(c.socket, "/run/a \\ b");
    CHECK_STR(c.hosts, "a \"quoted\" \\ name");
    CHECK_INT(c.batch_max, 64);
    CHECK_INT(c.cache_bytes, 1 << 20);
    CHECK_INT(c.log_level, LOG_WARN);
    CHECK_INT(c.limits.http.body_max, 8 << 20);
    CHECK_INT(c.limits.body_ms, 90000);
    CHECK_INT(c.limits.behind_events, 100);
    CHECK_INT(c.limits.connections_kept, server_limits_default().connections_kept);
}

// clang-format off
static const struct {
    const char *text, *message;
} wrong[] = {
    { "body_byts = 1",              "baton.toml:1: there is no setting 'body_byts'; did you mean 'body_bytes'?"
                                  " See 'baton serve --settings'." },
    { "\n[body]\nbites = 1",        "baton.toml:3: there is no setting 'body_bites'; did you mean 'body_bytes'?"
                                  " See 'baton serve --settings'." },
    { "zzzzzzzzzzzz = 1",         "baton.toml:1: there is no setting 'zzzzzzzzzzzz'. See 'baton serve --settings'." },
    { "body_bytes = \"1MiB\"\nbody_bytes = \"2MiB\"",
                                  "baton.toml:2: 'body_bytes' was set before: keep one of them" },
    { "[body]\nbytes = \"1MiB\"\n[body]\nbytes = \"2MiB\"",
                                  "baton.toml:4: 'body_bytes' was set before: keep one of them" },
    { "body_bytes",                 "baton.toml:1: expected a line like name = value, but found 'body_bytes'" },
    { "body max = 3",             "baton.toml:1: expected a line like name = value, but found 'body max = 3'" },
    { "= 3",                      "baton.toml:1: expected a line like name = value, but found '= 3'" },
    { "[body",                    "baton.toml:1: expected a table like [name], but found '[body'" },
    { "[]",                       "baton.toml:1: expected a table's name of a-z, 0-9 and _, but found '[]'" },
    { "[[body]]",                 "baton.toml:1: expected a table like [name], but found '[[body]]'" },
    { "body_bytes =",               "baton.toml:1: expected a whole number, or a string in quotes, but found ''" },
    { "body_bytes = true",          "baton.toml:1: expected a whole number, or a string in quotes, but found 'true'" },
    { "body_bytes = 8MiB",          "baton.toml:1: expected a whole number, or a string in quotes, but found '8MiB'" },
    { "listen = 127.0.0.1:1",     "baton.toml:1: expected a whole number, or a string in quotes, but found '127.0.0.1:1'" },
    { "body_bytes = \"8MiB",        "baton.toml:1: expected a string that ends on its line, but found '\"8MiB'" },
    { "hosts = \"a\\n\"",         "baton.toml:1: expected \\\" or \\\\ where a string has a backslash, but found '\"a\\n\"'" },
    { "hosts = \"a\\",            "baton.toml:1: expected \\\" or \\\\ where a string has a backslash, but found '\"a\\'" },
    { "body_bytes = \"8MiB\" 3",    "baton.toml:1: expected a comment or the end of the line behind the value, but found '3'" },
    { "body_bytes = \"8MB\"",       "baton.toml:1: body_bytes: expected a size like 512KiB or 4MiB from 1KiB to 1GiB, but found '8MB'" },
    { "body_bytes = \"2GiB\"",      "baton.toml:1: body_bytes: expected a size like 512KiB or 4MiB from 1KiB to 1GiB, but found '2GiB'" },
    { "body_bytes = -1",            "baton.toml:1: body_bytes: expected a size like 512KiB or 4MiB from 1KiB to 1GiB, but found '-1'" },
    { "body_bytes = \"9999999999GiB\"",
                                  "baton.toml:1: body_bytes: expected a size like 512KiB or 4MiB from 1KiB to 1GiB, but found '9999999999GiB'" },
    { "batch_max = \"many\"",     "baton.toml:1: batch_max: expected a whole number from 1 to 1024, but found 'many'" },
    { "batch_max = 0",            "baton.toml:1: batch_max: expected a whole number from 1 to 1024, but found '0'" },
    { "idle_time = \"soon\"",  "baton.toml:1: idle_time: expected a time like 500ms, 10s or 2m from 1ms to 1d, but found 'soon'" },
    { "log_level = \"loud\"",     "baton.toml:1: log_level: expected debug, info, warn or error, but found 'loud'" },
};
// clang-format on

TEST(what_cannot_be_set_is_refused_with_its_line_and_what_was_expected)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct config c;
        err e = read_text(&c, wrong[i].text);
        CHECK_ERR(e, ERR_INVALID);
        CHECK_STR(e->message, wrong[i].message);
    }
}

TEST(environment_overrides_the_file_and_is_named_when_it_is_wrong)
{
    struct config c;

    CHECK_OK(read_text(&c, "body_bytes = \"8MiB\"\nbatch_max = 7"));
    setenv("BATON_BODY_BYTES", "2MiB", 1);
    setenv("BATON_URL", "http://elsewhere", 1); /* a client's, no setting of ours */
    CHECK_OK(config_environment(check_arena(), &c));
    CHECK_INT(c.limits.http.body_max, 2 << 20);
    CHECK_INT(c.batch_max, 7);

    setenv("BATON_IDLE_TIME", "-5s", 1);
    err e = config_environment(check_arena(), &c);
    CHECK_ERR(e, ERR_INVALID);
    CHECK_STR(e->message, "BATON_IDLE_TIME in the environment: idle_time: expected a time "
                          "like 500ms, 10s or 2m from 1ms to 1d, but found '-5s'");
}

/* As document 000 has them: counts, and plain seconds. */
TEST(settings_of_two_phase_completion_have_their_old_names)
{
    struct config c = config_default();

    CHECK_INT(c.team.update_attempts, 3);
    CHECK_INT(c.team.update_timeout_ms, 120 * 1000);
    CHECK_INT(c.team.update_delay_ms, 5 * 1000);
    setenv("BATON_STATE_UPDATE_MAX_RETRIES", "4", 1);
    setenv("BATON_STATE_UPDATE_TIMEOUT", "90", 1);
    setenv("BATON_STATE_UPDATE_RETRY_DELAY", "250ms", 1);
    CHECK_OK(config_environment(check_arena(), &c));
    CHECK_INT(c.team.update_attempts, 4);
    CHECK_INT(c.team.update_timeout_ms, 90 * 1000);
    CHECK_INT(c.team.update_delay_ms, 250);

    CHECK_OK(read_text(&c, "state_update_timeout = 7\n[tree]\nsessions_max = 3\ndepth_max = 2\n"
                           "[run]\nstop_time = '1s'\ngrace = 0"));
    CHECK_INT(c.team.update_timeout_ms, 7000);
    CHECK_INT(c.team.tree_max, 3);
    CHECK_INT(c.team.depth_max, 2);
    CHECK_INT(c.team.stop_ms, 1000);
    CHECK_INT(c.team.run_grace_ms, 0);
    CHECK_ERR(config_set(check_arena(), &c, STR("state_update_max_retries"), STR("0")),
              ERR_INVALID);
}

/* What is printed is a file that sets the same. */
TEST(printed_settings_read_back_as_they_were)
{
    struct config before = config_default(), after;
    struct buf printed = buf_in(check_arena()), again = buf_in(check_arena());

    CHECK_OK(config_set(check_arena(), &before, STR("idle_time"), STR("1500ms")));
    CHECK_OK(config_set(check_arena(), &before, STR("message_bytes"), STR("1025")));
    CHECK_OK(config_set(check_arena(), &before, STR("disk_free_min"), STR("0")));
    CHECK_OK(config_set(check_arena(), &before, STR("log_level"), STR("debug")));
    CHECK_OK(config_set(check_arena(), &before, STR("hosts"), STR("a \"b\" \\ c # d")));
    config_print(&printed, &before);
    CHECK_OK(read_text(&after, buf_str(&printed).at));
    CHECK_INT(after.limits.idle_ms, 1500);
    CHECK_INT(after.limits.message_max, 1025);
    CHECK_INT(after.disk_free_min, 0);
    CHECK_STR(after.hosts, "a \"b\" \\ c # d");
    config_print(&again, &after);
    CHECK(str_eq(buf_str(&printed), buf_str(&again)));
}

TEST(rows_for_limits_leave_out_what_the_server_lists_itself)
{
    struct config c = config_default();
    size_t count;
    const str *rows = config_rows(check_arena(), &c, &count);
    bool cache = false;
    int team = 0;

    CHECK(count > 0 && count % 2 == 0);
    for (size_t i = 0; i < count; i += 2) {
        CHECK(!str_eq(rows[i], STR("body_bytes")));
        if (str_eq(rows[i], STR("cache_bytes"))) {
            cache = true;
            CHECK_STR(rows[i + 1], "67108864");
        }
        team += str_eq(rows[i], STR("state_update_timeout_ms")) &&
                str_eq(rows[i + 1], STR("120000"));
        team += str_eq(rows[i], STR("run_grace_ms")) && str_eq(rows[i + 1], STR("30000"));
        team += str_eq(rows[i], STR("tree_sessions_max")) && str_eq(rows[i + 1], STR("64"));
    }
    CHECK(cache);
    CHECK_INT(team, 3);
}

static const struct {
    const char *store, *shown;
} stores[] = {
    { "sqlite", "sqlite" },
    { "sqlite:a:b@c", "sqlite:a:b@c" },
    { "postgres://h/db", "postgres://h/db" },
    { "postgres://u@h:5432/db", "postgres://u@h:5432/db" },
    { "postgres://u:@h/db", "postgres://u:@h/db" },
    { "postgres://u:pw@h/db", "postgres://u:…@h/db" },
    { "postgresql://u:p@w/:d@h/db", "postgresql://u:…@h/db" },
    { "postgres:///db?user=u&password=pw&host=h", "postgres:///db?user=u&password=…&host=h" },
    { "postgres://u:pw@h/db?sslpassword=pw", "postgres://u:…@h/db?sslpassword=…" },
    { "mysql://u:pw@h", "mysql://u:…@h" },
};

TEST(password_of_a_store_is_never_shown)
{
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        str store = str_from(stores[i].store), shown = config_store_redacted(check_arena(), store);
        CHECK_STR(shown, stores[i].shown);
        CHECK_INT(config_store_has_password(store), !str_eq(shown, store));

        struct config c = config_default();
        struct buf printed = buf_in(check_arena());
        CHECK_OK(config_set(check_arena(), &c, STR("store"), store));
        CHECK_STR(c.store, stores[i].store);
        config_print(&printed, &c);
        CHECK(strstr(buf_str(&printed).at, stores[i].shown));
    }
}

TEST(text_that_is_wrong_is_not_quoted_as_far_as_a_password)
{
    struct config c;
    err e = read_text(&c, "store = \"postgres://u:pw@h/db");

    CHECK(e && strstr(e->message.at, "postgres") && !strstr(e->message.at, "pw"));
}
