/* threat_black_test.c: what an agent that means ill finds out, and what it breaks, with real
 * processes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "black/pair.h"
#include "black/script.h"
#include "client/ws_client.h"
#include "json_help.h"
#include "pg_help.h"

static const char *const without_runner[] = { "--runner", "off", NULL };

enum { LIMIT_S = BLACK_SANITIZED ? 120 : 60, WS_MS = 10000 };

/* ---- a runner by hand ---- */

struct fake_runner {
    struct black as; /* the server, as one sees it who shows the runner's token */
    str runner_id, run_id, session_id, token;
    int64_t fence;
};

static struct fake_runner fake_runner_claim(const struct black *b, const char *session)
{
    struct fake_runner h = { .as = *b };
    struct arena *a = check_arena();

    h.as.endpoint.token = black_add_token(b, "runner").text;
    h.runner_id = json_str(black_expect(&h.as, 201, "POST /runner/register",
                                        "{'hostname':'h','tags':['hand']}"),
                           "runner_id");
    black_expect(b, 201, "POST /runs",
                 arena_printf(a,
                              "{'type':'start_session','session_name':'%s','prompt':'p',"
                              "'demands':{'tags':['hand']}}",
                              session)
                     .at);
    const char *route =
        arena_printf(a, "GET /runner/runs?runner_id=" STR_FMT, STR_ARG(h.runner_id)).at;
    const struct json *run = json_get(black_expect(&h.as, 200, route, ""), "run");
    h.run_id = json_str(run, "run_id");
    h.session_id = json_str(run, "session_id");
    h.token = json_str(run, "token");
    h.fence = json_int_or(run, "fence", 0);
    return h;
}

static void fake_runner_report(const struct fake_runner *h, const char *what)
{
    struct arena *a = check_arena();
    str route = arena_printf(a, "POST /runner/runs/" STR_FMT "/%s", STR_ARG(h->run_id), what);
    str body = arena_printf(a, "{'runner_id':'" STR_FMT "','fence':%lld}", STR_ARG(h->runner_id),
                            (long long)h->fence);

    black_expect(&h->as, 200, route.at, body.at);
}

/* ---- after its run ---- */

static int ask_on(struct peer *p, const struct black *as, const char *route)
{
    CHECK(peer_send(p, arena_printf(check_arena(), STR_FMT "\r\n",
                                    STR_ARG(peer_head(check_arena(), as, route)))));
    return peer_next(p).status;
}

/* The token of a run on one server, and the end of the run on another or the same. */
static void token_ends(const struct black *shown_to, const struct black *ended_on)
{
    struct fake_runner h = fake_runner_claim(ended_on, "root");
    struct black agent = *shown_to;
    struct ws_client *ws;
    str text;

    fake_runner_report(&h, "started");
    agent.endpoint.token = h.token;
    struct peer p = peer_open(&agent, check_arena());
    CHECK_INT(ask_on(&p, &agent, "GET /sessions/root"), 200);
    CHECK_OK(ws_client_open(check_arena(), &agent.endpoint, "/ws", WS_MS, &ws));
    str subscribe = arena_printf(check_arena(),
                                 "{\"action\":\"subscribe\",\"subject\":\"" STR_FMT "\"}",
                                 STR_ARG(h.session_id));
    CHECK_OK(ws_client_send(ws, check_arena(), subscribe, WS_MS));
    CHECK_OK(ws_client_next(ws, check_arena(), WS_MS, &text));

    fake_runner_report(&h, "completed");
    CHECK_INT(ask_on(&p, &agent, "GET /sessions/root"), 401);
    err e;
    do
        e = ws_client_next(ws, check_arena(), WS_MS, &text);
    while (!e);
    CHECK(strstr(e->message.at, "1008"));
    ws_client_free(ws);
    CHECK_INT(black_ask_as(shown_to, h.token, "GET /sessions/root", "").status, 401);
    CHECK_INT(black_ask_as(ended_on, h.token, "GET /sessions/root", "").status, 401);
}

TEST_LIMIT(token_of_a_run_opens_nothing_after_it, LIMIT_S)
{
    struct black b = { .args = without_runner };

    black_start(&b);
    token_ends(&b, &b);
    black_stop(&b);
}

TEST_LIMIT(token_of_a_run_opens_nothing_after_it_on_any_node, LIMIT_S)
{
    struct pair p = pair_start();

    token_ends(&p.b, &p.a);
    pair_stop(&p);
}

/* ---- secrets ---- */

struct secrets {
    str all[3];
};

static void secrets_absent(const struct secrets *s, str text, const char *where)
{
    for (size_t i = 0; i < sizeof s->all / sizeof *s->all; i++)
        if (text.len && memmem(text.at, text.len, s->all[i].at, s->all[i].len))
            check_fail(__FILE__, __LINE__, "%s holds the secret %zu", where, i);
}

/* What stands behind the dot of a token. */
static str secret_of(str token)
{
    str id, secret;

    CHECK(str_cut(token, '.', &id, &secret) && secret.len >= 32);
    return secret;
}

static void answers_absent(const struct black *b, const struct secrets *s)
{
    static const char *const routes[] = {
        "GET /events?limit=1000",
        "GET /metrics",
        "GET /sessions",
        "GET /sessions/root",
        "GET /runs",
        "GET /runners",
        "GET /tokens",
        "GET /sessions/root/events",
        "GET /agents",
        "GET /profiles",
        "GET /limits",
        "GET /openapi.json",
        "GET /sessions/root/result",
    };
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        secrets_absent(s, black_ask(b, routes[i], "").response.body, routes[i]);
    const struct json *runs = json_get(black_expect(b, 200, "GET /runs", ""), "runs");
    for (uint32_t i = 0; i < runs->len; i++) {
        str id = json_str(&runs->items[i], "run_id");
        str route = arena_printf(check_arena(), "GET /runs/" STR_FMT "/output", STR_ARG(id));
        str body = black_ask(b, route.at, "").response.body;
        secrets_absent(s, body, route.at);
        CHECK(strstr(arena_copy(check_arena(), body).at, "I say [token]."));
    }
    /* Nor does a refusal repeat what was shown. */
    str wrong = arena_printf(check_arena(), "op_x." STR_FMT, STR_ARG(s->all[0]));
    struct reply r = black_ask_as(b, wrong, "GET /sessions", "");
    CHECK_INT(r.status, 401);
    secrets_absent(s, r.response.body, "401");
}

/* All files of a folder, but for those that are there to hold a token. */
static int files_absent(const struct secrets *s, const char *folder)
{
    DIR *d = opendir(folder);
    const struct dirent *entry;
    struct stat st;
    int count = 0;

    CHECK(d);
    while ((entry = readdir(d))) {
        const char *path = arena_printf(check_arena(), "%s/%s", folder, entry->d_name).at;
        if (entry->d_name[0] == '.' || str_ends(str_from(entry->d_name), STR("token")) ||
            stat(path, &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode))
            count += files_absent(s, path);
        if (S_ISREG(st.st_mode)) {
            secrets_absent(s, check_read(path), path);
            count++;
        }
    }
    closedir(d);
    return count;
}

static bool is_pid(const char *name)
{
    int64_t ignored;
    return str_to_int(str_from(name), &ignored);
}

/* Of all processes of the machine; `must` is one that has to be among them. */
static void command_lines_absent(const struct secrets *s, const char *must)
{
    DIR *d = opendir("/proc");
    const struct dirent *entry;
    char line[65536];
    bool found = false;

    while ((entry = readdir(d))) {
        int fd =
            is_pid(entry->d_name)
                ? open(arena_printf(check_arena(), "/proc/%s/cmdline", entry->d_name).at, O_RDONLY)
                : -1;
        ssize_t n = fd >= 0 ? read(fd, line, sizeof line) : 0;
        if (fd >= 0)
            close(fd);
        if (n <= 0)
            continue;
        secrets_absent(s, (str){ line, (size_t)n }, "a command line");
        found |= memmem(line, (size_t)n, must, strlen(must)) != NULL;
    }
    closedir(d);
    CHECK(found);
}

/* An agent tells its own token in every way that it has, and waits; then it ends. */
static struct secrets secrets_tell(const struct black *b, const char *data)
{
    struct secrets s;

    CHECK(mkfifo("heard", 0600) == 0 && mkfifo("go", 0600) == 0);
    script_agent(b, "teller",
                 "echo \"I say $BATON_TOKEN.\"; echo \"and shout $BATON_TOKEN\" >&2\n"
                 "cat \"$BATON_TOKEN_FILE\"; printf '%s' \"$BATON_TOKEN\"; echo\n"
                 "\"$PROGRAM\" session event \"$BATON_SESSION_ID\" message --content hello >&2\n"
                 "echo \"$BATON_TOKEN\" >heard\n"
                 "read line <go\n");
    script_start(b, "root", "teller", "tell", "");
    s.all[0] = secret_of(script_hear("heard"));
    s.all[1] = secret_of(b->endpoint.token);
    s.all[2] =
        secret_of(str_trim(check_read(arena_printf(check_arena(), "%s/runner.token", data).at)));
    command_lines_absent(&s, "keep-run");
    files_absent(&s, data); /* of the keeper too, while it is there */
    script_tell("go");
    script_settled(b, "root", "finished");
    return s;
}

TEST_LIMIT(secrets_are_in_no_file_no_answer_and_no_command_line, LIMIT_S)
{
    struct black b = { .args = script_runner };

    black_start(&b);
    setenv("PROGRAM", script_program(&b), 1);
    black_stop(&b);
    b.endpoint.token = STR("");
    black_start(&b); /* so that its agents know the program */
    struct secrets s = secrets_tell(&b, "data");
    answers_absent(&b, &s);
    CHECK(files_absent(&s, "data") >= 3);
    black_stop(&b);
    files_absent(&s, "data");
    secrets_absent(&s, check_read("log"), "the log");
}

TEST_LIMIT(secrets_are_not_in_a_dump_of_a_shared_database, LIMIT_S)
{
    struct pair p = pair_start();
    const char *url = postgres_url(p.postgres, "postgres", "postgres");

    black_stop(&p.a);
    p.a.args = (const char *const[]){ "--store", url, "--runner", "on", NULL };
    black_start(&p.a);
    setenv("PROGRAM", "true", 1);
    struct secrets s = secrets_tell(&p.a, "node_a");
    PG_RUN(p.postgres, "pg_dump", url);
    str dump = check_read("pg.log");
    CHECK(strstr(dump.at, "I say [token]."));
    secrets_absent(&s, dump, "the dump");
    files_absent(&s, "node_a");
    files_absent(&s, "node_b");
    pair_stop(&p);
}

/* ---- prompts ---- */

#define EVIL "--help; touch pwned $(touch pwned) `touch pwned` '\" | -x\n-y {args} ${BATON_URL}"

TEST_LIMIT(prompt_is_one_argument_or_standard_input_whatever_it_looks_like, LIMIT_S)
{
    struct black b = { .args = script_runner };
    char folder[4096];

    CHECK(getcwd(folder, sizeof folder));
    black_start(&b);
    script_write("show", "printf '%s|' \"$#\" \"$@\"; echo; cat\n");
    black_expect(&b, 201, "POST /profiles",
                 arena_printf(check_arena(),
                              "{'name':'argue','prompt':'argument','client_id':'none',"
                              "'start':['%s/show','-p','{prompt}'],"
                              "'output':{'format':'text'}}",
                              folder)
                     .at);
    script_start(&b, "by-argument", "", EVIL, ",'demands':{'profile':'argue'}");
    script_settled(&b, "by-argument", "finished");
    CHECK_STR(script_result(&b, "by-argument"), "2|-p| " EVIL "|");

    script_agent(&b, "reader", "printf '%s|' \"$#\" \"$@\"; cat\n");
    script_start(&b, "by-stdin", "reader", EVIL, "");
    script_settled(&b, "by-stdin", "finished");
    CHECK_STR(script_result(&b, "by-stdin"), "0|" EVIL);
    CHECK(access("pwned", F_OK) < 0);
    black_stop(&b);
}

/* ---- the operator's token, which an agent of the same user can read ---- */

#define AS_OPERATOR "\"$0\" token list --data data >/dev/null 2>>refusals"

TEST_LIMIT(agent_with_the_operators_token_is_refused_at_the_socket, LIMIT_S)
{
    struct black b = { .args = script_runner };

    black_start(&b);
    const char *text = arena_printf(check_arena(),
                                    "program='%s'\n"
                                    "unset BATON_TOKEN BATON_TOKEN_FILE BATON_URL\n"
                                    "sh -c '" AS_OPERATOR "' \"$program\"; echo $?\n"
                                    /* Without the variables that tell whose it is. */
                                    "env -i sh -c '" AS_OPERATOR "' \"$program\"; echo $?\n"
                                    /* And as an orphan, in a session of its own. */
                                    "mkfifo told\n"
                                    "env -i setsid -f sh -c '" AS_OPERATOR
                                    "; echo $? >told' \"$program\" & wait\n"
                                    "read code <told; echo $code\n",
                                    script_program(&b))
                           .at;
    script_agent(&b, "thief", text);
    script_start(&b, "root", "thief", "steal", "");
    script_settled(&b, "root", "finished");
    CHECK_STR(script_result(&b, "root"), "4\n4\n4");
    CHECK(strstr(check_read("refusals").at, "belongs to a run"));
    black_stop(&b);
}

/* ---- streams that lie ---- */

#define STREAM_PROFILE                                                                \
    "{'name':'liar','prompt':'stdin','client_id':'stream','start':['%s/%s'],"         \
    "'resume':['%s/%s','{client_id}'],'output':{'format':'jsonl',"                    \
    "'client_id':[{'where':{'/type':'init'},'at':'/id'}],"                            \
    "'result':[{'where':{'/type':'result'},'at':'/text'}],"                           \
    "'usage':[{'where':{'/type':'result'},'add':'sum','input':'/in','output':'/out'," \
    "'cost_usd':'/cost','models':'/models'}]}}"

#define LIES                                                                                   \
    "say() { printf '%s\\n' \"$1\"; }\n"                                                       \
    "say '{\"type\":\"init\",\"id\":\"good-1\"}'\n"                                            \
    "say '{\"type\":\"init\",\"id\":\"--dangerously-skip-permissions\"}'\n"                    \
    "say '{\"type\":\"init\",\"id\":\"../../etc/passwd\"}'\n"                                  \
    "say '{\"type\":\"init\",\"id\":{\"a\":1}}'\n"                                             \
    "say '{\"type\":\"result\",\"text\":\"one\",\"in\":-5,\"out\":99999999999999999999,"       \
    "\"cost\":-1,\"models\":[]}'\n"                                                            \
    "say '{\"type\":\"result\",\"text\":\"two\",\"in\":9223372036854775807,\"out\":\"x\","     \
    "\"cost\":1e308,\"models\":{\"m\":1e308}}'\n"                                              \
    "say '{\"type\":\"result\",\"text\":7,\"in\":9223372036854775807,\"cost\":1e999}'\n"       \
    "head -c 300000 /dev/zero | tr '\\000' '['; echo\n"                                        \
    "printf '{\"type\":\"result\",\"text\":\"'; head -c 64000000 /dev/zero | tr '\\000' 'a'\n" \
    "echo '\"}'\n"                                                                             \
    "printf '\\377\\376{\"type\":\"result\",\"text\":\"\\300\\257\"}\\n\\000\\000\\n'\n"       \
    "say '{\"type\":\"result\",\"text\":\"\\ud800\"}'\n"                                       \
    "say '{\"type\":\"result\",\"type\":\"init\",\"id\":\"twice\",\"text\":\"twice\"}'\n"      \
    "say '{\"type\":\"result\",\"text\":\"the end\"}'\n"

TEST_LIMIT(stream_of_lies_leaves_a_session_that_is_as_good_as_any, LIMIT_S)
{
    struct black b = { .args = script_runner };
    char folder[4096];
    int64_t tokens;

    CHECK(getcwd(folder, sizeof folder));
    black_start(&b);
    script_write("liar", LIES);
    black_expect(&b, 201, "POST /profiles",
                 arena_printf(check_arena(), STREAM_PROFILE, folder, "liar", folder, "liar").at);
    script_start(&b, "root", "", "lie", ",'demands':{'profile':'liar'}");
    const struct json *s = script_settled(&b, "root", "finished");
    const struct json *usage = json_get(s, "usage");
    CHECK_STR(json_str(s, "client_id"), "good-1");
    CHECK_STR(script_result(&b, "root"), "the end");
    CHECK(json_to_int(json_get(usage, "input_tokens"), &tokens) && tokens > 0);
    CHECK(json_to_double(json_get(usage, "cost_usd")) > 0);

    script_resume(&b, "root", "lie again");
    script_settled(&b, "root", "finished");
    CHECK_INT(black_metric(&b, "baton_runs{status=\"running\"}"), 0);
    black_stop(&b);
}
