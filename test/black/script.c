/* script.c: agents that are shell scripts. */
#define _GNU_SOURCE
#include "black/script.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const script_runner[] = { "--runner", "on", NULL };

static const char *here(void)
{
    char *path = arena_alloc(check_arena(), 4096);

    CHECK(getcwd(path, 4096));
    return path;
}

void script_write(const char *path, const char *text)
{
    check_write(path, arena_printf(check_arena(), "#!/bin/sh\n%s", text));
    CHECK(chmod(path, 0755) == 0);
}

void script_agent(const struct black *b, const char *name, const char *text)
{
    script_write(name, text);
    black_expect(b, 201, "POST /agents",
                 arena_printf(check_arena(),
                              "{'name':'%s','description':'A script.','profile':'shell',"
                              "'args':['%s/%s']}",
                              name, here(), name)
                     .at);
}

static void ask(const struct black *b, struct json request)
{
    struct http_client *client = http_client_new(&b->endpoint);
    struct http_call call = { .method = "POST",
                              .target = STR("/runs"),
                              .body = json_printed(check_arena(), &request) };
    struct response r;

    CHECK_OK(http_client_call(client, check_arena(), &call, &r));
    http_client_free(client);
    if (r.status != 201)
        check_fail(__FILE__, __LINE__, "%d " STR_FMT, r.status, STR_ARG(r.body));
}

static void put(struct json *request, const char *name, const char *text)
{
    json_put(check_arena(), request, str_from(name), json_string(str_from(text)));
}

void script_start(const struct black *b, const char *session, const char *agent, const char *prompt,
                  const char *more)
{
    str text = arena_printf(check_arena(), "{'type':'start_session'%s}", more);
    const struct json *parsed = json_parsed(check_arena(), quotes_double(check_arena(), text.at));

    struct json request = json_copy(check_arena(), parsed);
    put(&request, "session_name", session);
    put(&request, "prompt", prompt);
    put(&request, "project_dir", here());
    if (*agent)
        put(&request, "agent_name", agent);
    ask(b, request);
}

void script_resume(const struct black *b, const char *session, const char *prompt)
{
    struct json request = json_object();

    put(&request, "type", "resume_session");
    put(&request, "session_name", session);
    put(&request, "prompt", prompt);
    ask(b, request);
}

const struct json *script_settled(const struct black *b, const char *session, const char *status)
{
    const char *route =
        arena_printf(check_arena(), "GET /sessions/%s/status?wait=true&timeout=60", session).at;
    const struct json *seen;

    do
        seen = black_expect(b, 200, route, "");
    while (!json_bool_or(seen, "settled", false));
    seen = black_expect(b, 200, arena_printf(check_arena(), "GET /sessions/%s", session).at, "");
    if (!str_eq(json_str(seen, "status"), str_from(status)))
        check_fail(__FILE__, __LINE__, "%s: expected %s: " STR_FMT, session, status,
                   STR_ARG(json_printed(check_arena(), seen)));
    return seen;
}

str script_result(const struct black *b, const char *session)
{
    const char *route = arena_printf(check_arena(), "GET /sessions/%s/result", session).at;
    return json_str(black_expect(b, 200, route, ""), "result");
}

str script_hear(const char *pipe)
{
    struct buf line = buf_in(check_arena());
    int fd = open(pipe, O_RDONLY);
    char c;

    CHECK(fd >= 0);
    while (read(fd, &c, 1) == 1 && c != '\n')
        buf_byte(&line, c);
    close(fd);
    return buf_str(&line);
}

void script_tell(const char *pipe)
{
    int fd = open(pipe, O_WRONLY);

    CHECK(fd >= 0 && write(fd, "go\n", 3) == 3);
    close(fd);
}

const char *script_program(const struct black *b)
{
    char *path = arena_alloc(check_arena(), 4096);
    ssize_t n = readlink(arena_printf(check_arena(), "/proc/%d/exe", (int)b->pid).at, path, 4095);

    CHECK(n > 0);
    path[n] = '\0';
    return path;
}
