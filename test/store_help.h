/* store_help.h: commands on stores, as a user gives them, for tests of what they say. */
#ifndef TEST_STORE_HELP_H
#define TEST_STORE_HELP_H

#include <stdlib.h>

#include "app/serve.h"
#include "app/store_verbs.h"
#include "pg_help.h"
#include "sim/world.h"

enum { WORDS_MAX = 12 };

/* ---- commands ---- */

static const struct verb help_verbs[] = {
    { .name = "serve", .summary = "", .options = serve_options, .run = serve_run },
    { .name = "store", .verbs = store_verbs },
    { 0 },
};

static const struct verb program = { .name = "baton", .verbs = help_verbs };

/* Runs `baton …` in a process of its own; all that it says is in the file "said". */
static inline int command(const char *const *words)
{
    char *argv[WORDS_MAX] = { (char *)"baton" };
    int count = 1, status;

    for (; *words; words++)
        argv[count++] = (char *)*words;
    CHECK(count < WORDS_MAX);
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int fd = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        exit(cli_main(&program, count, argv));
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define COMMAND(...) command((const char *const[]){ __VA_ARGS__, NULL })

static inline bool said(const char *text)
{
    return strstr(arena_copy(check_arena(), check_read("said")).at, text) != NULL;
}

static inline void expect(int line, int found, enum error_kind kind, const char *text)
{
    int expected = error_kind_info(kind)->exit;

    if (found != expected || !said(text) || said("s3cret"))
        check_fail(__FILE__, line,
                   "expected exit code %d and \"%s\", found %d and (which must not tell the "
                   "password): " STR_FMT,
                   expected, text, found, STR_ARG(check_read("said")));
}

/* Whatever is done with such a store is refused in the same way. */
static inline void all_refuse(int line, const char *url, enum error_kind kind, const char *text)
{
    expect(line, COMMAND("serve", "--listen", "127.0.0.1:0", "--data", "d", "--store", url), kind,
           text);
    expect(line, COMMAND("store", "check", url), kind, text);
    expect(line, COMMAND("store", "check", url, "--json"), kind, "{\"error\":\"");
    expect(line, COMMAND("store", "copy", "--from", "good.db", "--to", url), kind, text);
    expect(line, COMMAND("store", "copy", "--from", url, "--to", "copy.db"), kind, text);
    CHECK(access("copy.db", F_OK) < 0);
}

#define REFUSED(url, kind, text) all_refuse(__LINE__, url, kind, text)

static inline void good_make(void)
{
    struct world *w;

    CHECK_OK(world_open("good.db", NULL, &w));
    CHECK_OK(world_call(w, "schema.create", "{'name':'any','json_schema':true}", "")->error);
    world_close(w);
}

static inline str socket_escaped(const char *folder)
{
    struct buf out = buf_in(check_arena());

    for (; *folder; folder++)
        buf_printf(&out, *folder == '/' ? "%%2F" : "%c", *folder);
    return buf_str(&out);
}

#endif
