/* endpoint_test.c: which server, by which way, with which token. */
#include "client/endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

static const char *const variables[] = { "BATON_URL",  "BATON_TOKEN", "BATON_TOKEN_FILE",
                                         "BATON_DATA", "HOME",        "XDG_STATE_HOME" };

/* Nothing of the world outside of the test. */
static void env_clear(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
}

/* A path where something listens, as far as stat can tell. */
static void socket_make(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(address.sun_path, path);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    close(fd);
}

TEST(data_directory_is_what_was_said_last)
{
    struct arena *a = check_arena();
    str dir;

    env_clear();
    CHECK_ERR(data_dir_find(a, NULL, &dir), ERR_INVALID);
    setenv("HOME", "/home/me", 1);
    CHECK_OK(data_dir_find(a, NULL, &dir));
    CHECK_STR(dir, "/home/me/.local/state/baton");
    setenv("XDG_STATE_HOME", "relative", 1);
    CHECK_OK(data_dir_find(a, NULL, &dir));
    CHECK_STR(dir, "/home/me/.local/state/baton");
    setenv("XDG_STATE_HOME", "/state", 1);
    CHECK_OK(data_dir_find(a, NULL, &dir));
    CHECK_STR(dir, "/state/baton");
    setenv("BATON_DATA", "here", 1);
    CHECK_OK(data_dir_find(a, NULL, &dir));
    CHECK_STR(dir, "here");
    CHECK_OK(data_dir_find(a, "there", &dir));
    CHECK_STR(dir, "there");
}

TEST(endpoint_without_a_server_says_how_to_start_one)
{
    struct arena *a = check_arena();
    struct endpoint p;

    env_clear();
    setenv("BATON_DATA", "team", 1);
    err e = endpoint_find(a, NULL, &p);
    CHECK_ERR(e, ERR_UNAVAILABLE);
    CHECK_STR(e->message, "no server is running for team: start one with `baton serve`");
}

TEST(endpoint_of_a_directory_is_its_socket_before_its_port)
{
    struct arena *a = check_arena();
    struct endpoint p;

    env_clear();
    CHECK(mkdir("team", 0700) == 0);
    check_write("team/operator.token", STR("op_secret\n"));
    check_write("team/server.json", STR("{\"url\":\"http://127.0.0.1:8765\",\"pid\":1}"));
    CHECK_OK(endpoint_find(a, "team", &p));
    CHECK_INT(p.url.scheme, URL_HTTP);
    CHECK_INT(p.url.port, 8765);
    CHECK_STR(p.token, "op_secret");
    CHECK_STR(p.down, "no server is running for team: start one with `baton serve`");

    socket_make("team/baton.sock");
    CHECK_OK(endpoint_find(a, "team", &p));
    CHECK_STR(p.url.socket, "team/baton.sock");

    check_write("team/server.json",
                STR("{\"url\":\"http://127.0.0.1:8765\",\"socket\":\"/run/b.sock\"}"));
    CHECK_OK(endpoint_find(a, "team", &p));
    CHECK_STR(p.url.socket, "/run/b.sock");

    check_write("team/server.json", STR("{\"url\":"));
    CHECK_ERR(endpoint_find(a, "team", &p), ERR_INVALID);
}

TEST(endpoint_is_what_the_environment_says)
{
    struct arena *a = check_arena();
    struct endpoint p;

    env_clear();
    setenv("BATON_URL", "http://example.org:80/base", 1);
    setenv("BATON_TOKEN", "ss_one", 1);
    CHECK_OK(endpoint_find(a, NULL, &p));
    CHECK_STR(p.url.host, "example.org");
    CHECK_STR(p.token, "ss_one");
    CHECK_STR(p.down, "no server answers at BATON_URL http://example.org:80/base: start it, or "
                      "unset BATON_URL");

    unsetenv("BATON_TOKEN");
    check_write("token", STR("  ss_two\n"));
    setenv("BATON_TOKEN_FILE", "token", 1);
    CHECK_OK(endpoint_find(a, NULL, &p));
    CHECK_STR(p.token, "ss_two");

    setenv("BATON_URL", "ftp://example.org", 1);
    CHECK_ERR(endpoint_find(a, NULL, &p), ERR_INVALID);
}

/* Who can set BATON_URL must not thereby get the operator's token. */
TEST(token_of_the_operator_never_leaves_this_machine)
{
    static const struct {
        const char *url;
        bool sent;
    } cases[] = {
        { "http://127.0.0.1:8765", true },     { "http://127.9.9.9:8765", true },
        { "http://[::1]:8765", true },         { "http://localhost:8765", true },
        { "unix:/run/baton.sock", true },      { "http://example.org", false },
        { "http://10.0.0.1", false },          { "http://localhost.example.org", false },
        { "http://127.0.0.1.example", false }, { "http://0.0.0.0:8765", false },
    };
    struct arena *a = check_arena();
    struct endpoint p;

    env_clear();
    setenv("BATON_DATA", ".", 1);
    check_write("operator.token", STR("op_secret\n"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("BATON_URL", cases[i].url, 1);
        err e = endpoint_find(a, NULL, &p);
        if (cases[i].sent) {
            CHECK_OK(e);
            CHECK_STR(p.token, "op_secret");
        } else {
            CHECK_ERR(e, ERR_UNAUTHENTICATED);
            CHECK_STR(p.token, "");
        }
    }
}

TEST(token_of_its_own_goes_before_the_operators)
{
    struct arena *a = check_arena();
    struct endpoint p;

    env_clear();
    setenv("BATON_DATA", ".", 1);
    setenv("BATON_TOKEN", "ss_mine", 1);
    check_write("operator.token", STR("op_secret\n"));
    check_write("server.json", STR("{\"url\":\"http://127.0.0.1:8765\"}"));
    CHECK_OK(endpoint_find(a, NULL, &p));
    CHECK_STR(p.token, "ss_mine");
}

/* A token becomes a line of the request, and a wrong one must not be repeated in a message. */
TEST(token_is_one_word)
{
    static const char *const tokens[] = { "two words", "op_a\nX-Evil: 1", "op_\001",
                                          "op_\xc3\xa9" };
    struct arena *a = check_arena();
    struct endpoint p;

    env_clear();
    setenv("BATON_URL", "http://127.0.0.1:1", 1);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        setenv("BATON_TOKEN", tokens[i], 1);
        err e = endpoint_find(a, NULL, &p);
        CHECK_ERR(e, ERR_INVALID);
        CHECK(!strstr(arena_copy(a, e->message).at, tokens[i]));
    }
    unsetenv("BATON_TOKEN");
    setenv("BATON_TOKEN_FILE", "token", 1);
    CHECK_ERR(endpoint_find(a, NULL, &p), ERR_UNAUTHENTICATED);
    check_write("token", STR(" \n"));
    CHECK_ERR(endpoint_find(a, NULL, &p), ERR_UNAUTHENTICATED);
}
