/* serve_test.c: a whole server in a process of its own, over its real sockets. */
#include "app/serve.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "json_help.h"
#include "store_work.h"

/* ---- a server ---- */

static const struct verb verbs[] = {
    { .name = "serve", .summary = "", .options = serve_options, .run = serve_run },
    { 0 },
};

static const struct verb program = { .name = "baton", .summary = "", .verbs = verbs };

struct running {
    pid_t pid;
    int out; /* its standard output */
    uint16_t port;
};

enum { ARGS_MAX = 16 };

static void child_run(const char *const *args, int out)
{
    char *argv[ARGS_MAX] = { "baton", "serve", "--data", "data", "--listen", "127.0.0.1:0" };
    int count = 6;

    for (; args && *args; args++)
        argv[count++] = (char *)*args;
    dup2(out, STDOUT_FILENO);
    close(out);
    int log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, STDERR_FILENO);
    exit(cli_main(&program, count, argv));
}

static struct running launch(const char *const *args)
{
    struct running r = { 0 };
    int ends[2];

    CHECK(pipe(ends) == 0);
    fflush(NULL);
    r.pid = fork();
    CHECK(r.pid >= 0);
    if (r.pid == 0)
        child_run(args, ends[1]);
    close(ends[1]);
    r.out = ends[0];
    return r;
}

/* One line of what it prints, without its end; empty when there is none. */
static str line_of(const struct running *r)
{
    struct buf line = buf_in(check_arena());
    char c;

    while (read(r->out, &c, 1) == 1 && c != '\n')
        buf_byte(&line, c);
    return buf_str(&line);
}

/* Starts one on a free port and waits until it is ready. */
static struct running serve(const char *const *args)
{
    struct running r = launch(args);
    str line = line_of(&r), start = STR("baton listening on http://127.0.0.1:");
    int64_t port;

    if (!str_starts(line, start))
        check_fail(__FILE__, __LINE__, "not ready: \"" STR_FMT "\"; it logged:\n" STR_FMT,
                   STR_ARG(line), STR_ARG(check_read("log")));
    CHECK(str_to_int(str_slice(line, start.len, line.len), &port));
    r.port = (uint16_t)port;
    return r;
}

static int status_of(const struct running *r)
{
    int status;

    CHECK(waitpid(r->pid, &status, 0) == r->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Nothing but its one line was printed, and it ends well. */
static void stop(struct running *r)
{
    kill(r->pid, SIGTERM);
    CHECK_STR(line_of(r), "");
    int status = status_of(r);
    if (status)
        check_fail(__FILE__, __LINE__, "it ended with %d; it logged:\n" STR_FMT, status,
                   STR_ARG(check_read("log")));
    close(r->out);
}

static void crash(struct running *r)
{
    kill(r->pid, SIGKILL);
    CHECK_INT(status_of(r), -SIGKILL);
    close(r->out);
}

/* ---- requests ---- */

static int connect_tcp(const struct running *r)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(r->port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(connect(fd, (struct sockaddr *)&at, sizeof at) == 0);
    return fd;
}

static int connect_local(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(at.sun_path, path);
    CHECK(connect(fd, (struct sockaddr *)&at, sizeof at) == 0);
    return fd;
}

struct reply {
    int status;
    str body;
};

static str token(void)
{
    return str_trim(check_read("data/operator.token"));
}

static void send_request(int fd, const char *route, str shown, str body)
{
    struct buf out = buf_in(check_arena());

    buf_printf(&out, "%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", route);
    if (shown.len)
        buf_printf(&out, "Authorization: Bearer " STR_FMT "\r\n", STR_ARG(shown));
    if (body.len)
        buf_printf(&out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", body.len);
    buf_printf(&out, "\r\n" STR_FMT, STR_ARG(body));
    str text = buf_str(&out);
    CHECK(send(fd, text.at, text.len, MSG_NOSIGNAL) == (ssize_t)text.len);
}

/* Status 0: the connection ended before there was an answer. */
static struct reply reply_of(int fd)
{
    struct buf in = buf_in(check_arena());
    struct reply r = { 0 };
    ssize_t n;

    while ((n = read(fd, buf_reserve(&in, 4096), 4096)) > 0)
        in.len += (size_t)n;
    close(fd);
    str text = buf_str(&in);
    const char *end = text.len ? strstr(text.at, "\r\n\r\n") : NULL;
    if (!end || sscanf(text.at, "HTTP/1.1 %d", &r.status) != 1)
        return r;
    r.body = str_slice(text, (size_t)(end + 4 - text.at), text.len);
    return r;
}

/* The body is JSON with single quotes, or empty. */
static struct reply ask(const struct running *r, const char *route, const char *body)
{
    int fd = connect_tcp(r);
    str text = STR("");

    if (*body) {
        struct json json = json_of(check_arena(), body);
        text = json_printed(check_arena(), &json);
    }
    send_request(fd, route, token(), text);
    return reply_of(fd);
}

static const struct json *body_of(struct reply r)
{
    return json_parsed(check_arena(), r.body);
}

static void add_schema(const struct running *r)
{
    CHECK_INT(
        ask(r, "POST /workflow-schemas", "{'name':'note','json_schema':{'type':'object'}}").status,
        201);
}

static str add_state(const struct running *r, const char *data)
{
    str body = arena_printf(check_arena(), "{'schema_name':'note','initial_data':%s}", data);
    struct reply made = ask(r, "POST /workflow-states", body.at);
    CHECK_INT(made.status, 201);
    return json_str(body_of(made), "state_id");
}

static str route_of(const char *method, str state_id)
{
    return arena_printf(check_arena(), "%s /workflow-states/" STR_FMT, method, STR_ARG(state_id));
}

static int64_t metric_of(const struct running *r, const char *name)
{
    struct reply all = ask(r, "GET /metrics", "");
    str wanted = arena_printf(check_arena(), "\n%s ", name);
    const char *at = strstr(all.body.at, wanted.at);

    CHECK(at);
    return atoll(at + wanted.len);
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    CHECK(lstat(path, &st) == 0);
    return st.st_mode & 07777;
}

static bool is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* ---- starting and stopping ---- */

TEST(server_answers_on_its_port_and_its_socket_and_leaves_no_trace_of_running)
{
    struct running r = serve(NULL);

    CHECK_INT(ask(&r, "GET /health", "").status, 200);
    int fd = connect_local("data/baton.sock");
    send_request(fd, "GET /tokens", token(), STR(""));
    CHECK_INT(reply_of(fd).status, 200);
    fd = connect_local("data/baton.sock"); /* being on this machine is not enough */
    send_request(fd, "GET /tokens", STR(""), STR(""));
    CHECK_INT(reply_of(fd).status, 401);

    CHECK_INT(mode_of("data"), 0700);
    CHECK_INT(mode_of("data/operator.token"), 0600);
    CHECK_INT(mode_of("data/baton.sock"), 0600);
    CHECK_INT(mode_of("data/server.json"), 0600);
    const struct json *said = json_parsed(check_arena(), check_read("data/server.json"));
    str url = arena_printf(check_arena(), "http://127.0.0.1:%u", (unsigned)r.port);
    CHECK(str_eq(json_str(said, "url"), url));
    CHECK_INT(json_int_or(said, "pid", 0), r.pid);
    CHECK(str_ends(json_str(said, "socket"), STR("/data/baton.sock")));

    stop(&r);
    CHECK(!is_there("data/server.json"));
    CHECK(!is_there("data/baton.sock"));
    CHECK(!strstr(check_read("log").at, token().at));
}

TEST(server_without_a_socket_makes_none)
{
    struct running r = serve((const char *[]){ "--socket", "off", NULL });

    CHECK_INT(ask(&r, "GET /tokens", "").status, 200);
    CHECK(!is_there("data/baton.sock"));
    stop(&r);
}

TEST(database_can_be_elsewhere_and_is_for_one_server)
{
    struct running r = serve((const char *[]){ "--store", "sqlite:other.db", NULL });

    CHECK(is_there("other.db") && !is_there("data/baton.db"));
    struct running second =
        launch((const char *[]){ "--data", "more", "--store", "sqlite:other.db", NULL });
    CHECK_INT(status_of(&second), error_kind_info(ERR_CONFLICT)->exit);
    stop(&r);
}

TEST(second_server_of_a_directory_is_told_who_has_it)
{
    struct running r = serve(NULL), second = launch(NULL);

    CHECK_STR(line_of(&second), "");
    CHECK_INT(status_of(&second), error_kind_info(ERR_CONFLICT)->exit);
    str who =
        arena_printf(check_arena(), "pid %d, at http://127.0.0.1:%u", (int)r.pid, (unsigned)r.port);
    CHECK(strstr(check_read("log").at, who.at));
    CHECK_INT(ask(&r, "GET /health", "").status, 200);
    stop(&r);
}

// clang-format off
static const struct {
    const char *args[3], *message;
    enum error_kind kind;
} refused[] = {
    { { "--listen", "0.0.0.0:8765" },   "can be reached from other machines",          ERR_INVALID },
    { { "--listen", "[::]:8765" },      "can be reached from other machines",          ERR_INVALID },
    { { "--listen", "example.com:80" }, "put a proxy that speaks TLS in front of it",  ERR_INVALID },
    { { "--listen", "8765" },           "--listen expects HOST:PORT like 127.0.0.1:8765, but found '8765'", ERR_INVALID },
    { { "--store", "mysql://u@h/x" },   "or postgres://USER@HOST/DATABASE, but found 'mysql://u@h/x'", ERR_INVALID },
    { { "--store", "postgres://u:hush@h/x" }, "put it into PGPASSWORD or ~/.pgpass",   ERR_INVALID },
    { { "--set", "store=postgres://h/x?password=hush" }, "into BATON_STORE",           ERR_INVALID },
    { { "--store", "postgres://u@%2Fnowhere/x" }, "cannot be reached",                 ERR_UNAVAILABLE },
    { { "--set", "body_byts=1" },         "did you mean 'body_bytes'?",                    ERR_INVALID },
    { { "--set", "body_bytes" },          "--set expects NAME=VALUE",                    ERR_INVALID },
    { { "--log-level", "loud" },        "expected debug, info, warn or error",         ERR_INVALID },
    { { "--data", "/dev/null/x" },      "/dev/null",                                   ERR_UNAVAILABLE },
};
// clang-format on

TEST(server_that_cannot_start_says_why_and_what_to_do)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        unlink("log");
        struct running r = launch(refused[i].args);
        CHECK_STR(line_of(&r), "");
        CHECK_INT(status_of(&r), error_kind_info(refused[i].kind)->exit);
        if (!strstr(check_read("log").at, refused[i].message))
            check_fail(__FILE__, __LINE__, "expected to say: %s\nbut said: " STR_FMT,
                       refused[i].message, STR_ARG(check_read("log")));
        CHECK(!strstr(check_read("log").at, "hush"));
        CHECK(!is_there("data/server.json"));
    }
}

TEST(password_of_a_database_that_cannot_be_reached_is_in_no_message)
{
    setenv("BATON_STORE", "postgres://u:hush@%2Fnowhere/x", 1);
    struct running r = launch(NULL);
    CHECK_STR(line_of(&r), "");
    CHECK_INT(status_of(&r), error_kind_info(ERR_UNAVAILABLE)->exit);
    CHECK(strstr(check_read("log").at, "/nowhere"));
    CHECK(!strstr(check_read("log").at, "hush"));
}

/* A client that never ends its request holds the server up no longer than it is asked twice. */
TEST(second_signal_ends_the_server_at_once)
{
    struct running r = serve((const char *[]){ "--set", "stop_time=1h", NULL });
    int fd = connect_tcp(&r);
    static const char half[] = "POST /workflow-states HTTP/1.1\r\nHost: localhost\r\n"
                               "Content-Length: 100\r\n\r\n{";

    CHECK(send(fd, half, sizeof half - 1, 0) == sizeof half - 1);
    CHECK_INT(ask(&r, "GET /health", "").status, 200); /* it has been read by now */
    kill(r.pid, SIGTERM);
    while (!strstr(check_read("log").at, "serve.stop"))
        usleep(1000);
    kill(r.pid, SIGTERM);
    CHECK_INT(status_of(&r), 1);
    close(fd);
}

TEST(grace_bounds_how_long_a_stop_takes)
{
    struct running r = serve((const char *[]){ "--set", "stop_time=50ms", NULL });
    int fd = connect_tcp(&r);

    CHECK(send(fd, "POST / HTTP/1.1\r\n", 17, 0) == 17);
    CHECK_INT(ask(&r, "GET /health", "").status, 200);
    stop(&r);
    close(fd);
}

TEST(service_manager_hears_when_it_is_ready_and_when_it_stops)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "notify" };
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    char text[64];

    CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0);
    setenv("NOTIFY_SOCKET", "notify", 1);
    struct running r = serve(NULL);
    ssize_t n = recv(fd, text, sizeof text, 0);
    CHECK_STR(((str){ text, (size_t)n }), "READY=1");
    stop(&r);
    n = recv(fd, text, sizeof text, 0);
    CHECK_STR(((str){ text, (size_t)n }), "STOPPING=1");
}

/* ---- settings ---- */

TEST(settings_come_from_the_file_then_the_environment_then_flags)
{
    mkdir("data", 0700);
    check_write("data/baton.toml", STR("batch_max = 10\nstop_time = '2s'\ncache_bytes = '3MiB'\n"));
    setenv("BATON_CACHE_BYTES", "5MiB", 1);
    setenv("BATON_STOP_TIME", "3s", 1);

    struct running r = serve((const char *[]){ "--set", "stop_time=4s", NULL });
    const struct json *limits = body_of(ask(&r, "GET /limits", ""));
    CHECK_INT(json_int_or(limits, "batch_max", 0), 10);
    CHECK_INT(json_int_or(limits, "cache_bytes", 0), 5 << 20);
    CHECK_INT(json_int_or(limits, "stop_ms", 0), 4000);
    stop(&r);
}

/* ---- the operator's token ---- */

TEST(operators_token_stays_and_is_made_anew_when_it_is_gone_or_void)
{
    struct running r = serve(NULL);
    str first = token();
    stop(&r);

    r = serve(NULL);
    CHECK(str_eq(token(), first));
    str id;
    str_cut(first, '.', &id, &(str){ 0 });
    stop(&r);

    unlink("data/operator.token");
    r = serve(NULL);
    str second = token();
    CHECK(!str_eq(second, first));
    str revoke = arena_printf(check_arena(), "DELETE /tokens/" STR_FMT, STR_ARG(id));
    CHECK_INT(ask(&r, revoke.at, "").status, 204);
    stop(&r);

    check_write("data/operator.token", first);
    r = serve(NULL);
    CHECK(!str_eq(token(), first));
    CHECK_INT(ask(&r, "GET /tokens", "").status, 200);
    stop(&r);
}

/* ---- what was acknowledged ---- */

TEST(state_is_there_after_a_stop)
{
    struct running r = serve(NULL);
    add_schema(&r);
    str id = add_state(&r, "{'text':'kept'}");
    stop(&r);

    r = serve(NULL);
    struct reply read = ask(&r, route_of("GET", id).at, "");
    CHECK_INT(read.status, 200);
    CHECK_STR(json_str(json_get(body_of(read), "current_data"), "text"), "kept");
    stop(&r);
}

/* Many requests are on their way when the server is killed. Those that it answered must be there,
 * each with what was written; of the others each is there wholly or not at all. */
TEST_LIMIT(acknowledged_writes_survive_being_killed, 60)
{
    enum { ROUNDS = 5, AT_A_TIME = 24 };
    int known = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct running r = serve(NULL);
        if (round == 0)
            add_schema(&r);
        int fds[AT_A_TIME];
        str ids[AT_A_TIME] = { { 0 } };
        for (int i = 0; i < AT_A_TIME; i++) {
            str body = arena_printf(check_arena(),
                                    "{\"schema_name\":\"note\",\"initial_data\":{\"n\":%d}}", i);
            fds[i] = connect_tcp(&r);
            send_request(fds[i], "POST /workflow-states", token(), body);
        }
        ids[0] = json_str(body_of(reply_of(fds[0])), "state_id");
        crash(&r);
        for (int i = 1; i < AT_A_TIME; i++) {
            struct reply made = reply_of(fds[i]);
            if (made.status == 201)
                ids[i] = json_str(body_of(made), "state_id");
        }
        r = serve(NULL);
        for (int i = 0; i < AT_A_TIME; i++) {
            if (!ids[i].len)
                continue;
            struct reply read = ask(&r, route_of("GET", ids[i]).at, "");
            CHECK_INT(read.status, 200);
            CHECK_INT(json_int_or(json_get(body_of(read), "current_data"), "n", -1), i);
            known++;
        }
        crash(&r);
    }
    CHECK(known >= ROUNDS);
    check_note("%d acknowledged writes were found again", known);
}

/* Of writers who all expect the same version, one wins; the versions have no gap. */
TEST(concurrent_writers_of_one_state_take_turns)
{
    enum { WRITERS = 40 };
    struct running r = serve(NULL);
    int fds[WRITERS], won = 0;

    add_schema(&r);
    str id = add_state(&r, "{'n':0}"), route = route_of("PUT", id);
    for (int i = 0; i < WRITERS; i++) {
        str body = arena_printf(check_arena(), "{\"data\":{\"n\":%d},\"expected_version\":%d}",
                                i + 1, 1 + i % 2);
        fds[i] = connect_tcp(&r);
        send_request(fds[i], route.at, token(), body);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = reply_of(fds[i]).status;
        CHECK(status == 200 || status == 409);
        won += status == 200;
    }
    CHECK(won == 1 || won == 2);
    struct reply read = ask(&r, route_of("GET", id).at, "");
    CHECK_INT(json_int_or(body_of(read), "version", 0), 1 + won);
    stop(&r);
}

/* ---- the disk ---- */

TEST(full_disk_refuses_writes_and_nothing_else)
{
    struct running r = serve(NULL);
    add_schema(&r);
    str id = add_state(&r, "{'n':1}"), spare = add_state(&r, "{'n':2}");
    stop(&r);

    /* More than any disk has. */
    r = serve((const char *[]){ "--set", "disk_free_min=1048576GiB", NULL });
    struct reply put = ask(&r, route_of("PUT", id).at, "{'data':{'n':3}}");
    CHECK_INT(put.status, 507);
    CHECK(strstr(put.body.at, "writes are refused"));
    CHECK_INT(ask(&r, "POST /tokens", "{'kind':'viewer'}").status, 507);
    CHECK_INT(ask(&r, route_of("GET", id).at, "").status, 200);
    CHECK_INT(ask(&r, "GET /ready", "").status, 503);
    CHECK_INT(ask(&r, route_of("DELETE", spare).at, "").status, 204);
    stop(&r);

    r = serve(NULL);
    CHECK_INT(ask(&r, route_of("PUT", id).at, "{'data':{'n':3}}").status, 200);
    CHECK_INT(ask(&r, "GET /ready", "").status, 200);
    stop(&r);
}

/* Without checkpoints the log would hold every page that was ever written. */
/* ---- damage ---- */

/* Nobody who asks is blamed; the operator finds it in the log and in the metrics. */
TEST(damaged_state_is_a_fault_of_the_server_that_the_log_and_the_metrics_tell)
{
    struct running r = serve(NULL);

    add_schema(&r);
    str good = add_state(&r, "{'n':1}"), bad = add_state(&r, "{'n':2}");
    stop(&r);
    rows_change("data/baton.db",
                arena_printf(check_arena(),
                             "UPDATE state SET body = '{\"n\":secret' WHERE state_id = '" STR_FMT
                             "'",
                             STR_ARG(bad))
                    .at);
    r = serve(NULL);
    CHECK_INT(metric_of(&r, "baton_damage_total"), 0);
    struct reply read = ask(&r, route_of("GET", bad).at, "");
    CHECK_INT(read.status, 500);
    CHECK(str_contains(read.body,
                       arena_printf(check_arena(), "state " STR_FMT " is damaged", STR_ARG(bad))));
    CHECK_INT(ask(&r, route_of("PUT", bad).at, "{'data':{'n':3}}").status, 500);
    CHECK_INT(ask(&r, route_of("GET", bad).at, "").status, 500); /* it is not in a cache, either */
    CHECK_INT(ask(&r, route_of("GET", good).at, "").status, 200);
    CHECK_INT(metric_of(&r, "baton_damage_total"), 3);
    stop(&r);
    str log = check_read("log");
    CHECK_HAS(log, "store.damage op=state.read");
    CHECK(str_contains(log, bad) && !str_contains(log, STR("secret")));
}

TEST(log_that_ends_before_what_rows_say_is_not_served)
{
    struct running r = serve(NULL);

    add_schema(&r);
    add_state(&r, "{'n':1}");
    stop(&r);
    rows_change("data/baton.db", "UPDATE node SET seq = seq - 1 WHERE node_id = 1");
    r = launch(NULL);
    CHECK(status_of(&r) != 0);
    CHECK_HAS(check_read("log"), "the log ends at event ");
    CHECK_HAS(check_read("log"), "baton store check --repair --apply");
    rows_change("data/baton.db", "UPDATE node SET seq = seq + 1 WHERE node_id = 1");
    r = serve(NULL);
    stop(&r);
    rows_change("data/baton.db", "DELETE FROM log WHERE seq = (SELECT max(seq) FROM log)");
    r = launch(NULL);
    CHECK(status_of(&r) != 0);
    CHECK_INT(STORE("check", "data/baton.db", "--repair", "--apply"), 1);
    r = serve(NULL);
    add_state(&r, "{'n':2}");
    stop(&r);
}

TEST_LIMIT(log_of_the_database_begins_anew_at_its_limit, 60)
{
    enum { WRITES = 300, TEXT = 20000 };
    struct running r = serve((const char *[]){ "--set", "wal_bytes_max=1MiB", NULL });
    struct buf text = buf_in(check_arena());
    struct stat st;

    add_schema(&r);
    str id = add_state(&r, "{}"), route = route_of("PUT", id);
    for (int i = 0; i < WRITES; i++) {
        text.len = 0;
        buf_printf(&text, "{'data':{'n':%d,'text':'", i);
        memset(buf_reserve(&text, TEXT), 'a' + i % 26, TEXT);
        text.len += TEXT;
        buf_add(&text, STR("'}}"));
        CHECK_INT(ask(&r, route.at, buf_str(&text).at).status, 200);
    }
    CHECK(metric_of(&r, "baton_wal_restarts_total") > 0);
    CHECK(metric_of(&r, "baton_wal_bytes") < 4 << 20);
    CHECK(metric_of(&r, "baton_batches_total") >= WRITES);
    CHECK(metric_of(&r, "baton_batch_commands_total") >= WRITES);
    CHECK(stat("data/baton.db-wal", &st) == 0 && st.st_size < 8 << 20);
    stop(&r);
    CHECK(stat("data/baton.db-wal", &st) < 0 || st.st_size == 0);
}
