/* team_test.c: runners that wait, those who wait for a result, agents and what is theirs, with real
 * processes. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "black/black.h"
#include "json_help.h"

static const char *const without_runner[] = { "--runner", "off", NULL };

/* ---- runners ---- */

/* The server as one sees it who shows a runner's token. */
static struct black as_runner(const struct black *b)
{
    struct black r = *b;

    r.endpoint.token = black_add_token(b, "runner").text;
    return r;
}

struct claimer {
    str id;
    struct peer peer; /* its long poll */
};

static void claimer_ask(const struct black *b, struct claimer *c)
{
    str route = arena_printf(check_arena(), "GET /runner/runs?runner_id=" STR_FMT, STR_ARG(c->id));

    c->peer = peer_open(b, check_arena());
    CHECK(peer_send(&c->peer, arena_printf(check_arena(), STR_FMT "\r\n",
                                           STR_ARG(peer_head(check_arena(), b, route.at)))));
}

static struct claimer claimer_new(const struct black *b, int number, const char *tag)
{
    str body =
        arena_printf(check_arena(), "{'name':'r%d','hostname':'here','tags':['%s']}", number, tag);
    const struct json *made = black_expect(b, 201, "POST /runner/register", body.at);
    struct claimer c = { .id = arena_copy(check_arena(), json_str(made, "runner_id")) };

    claimer_ask(b, &c);
    return c;
}

static bool is_answered(const struct claimer *c)
{
    struct pollfd p = { .fd = c->peer.fd, .events = POLLIN };
    return poll(&p, 1, 0) == 1;
}

static const struct json *run_of(struct claimer *c)
{
    struct response r = peer_next(&c->peer);

    CHECK_INT(r.status, 200);
    const struct json *answer = json_parsed(check_arena(), r.body);
    return json_get(answer, "run");
}

/* Reports of the one who has the run: words with spaces between them. */
static void report(const struct black *b, const struct claimer *c, const struct json *run,
                   const char *words)
{
    str rest = str_from(words), word, id = json_str(run, "run_id");

    while (rest.len) {
        str_cut(rest, ' ', &word, &rest);
        str route = arena_printf(check_arena(), "POST /runner/runs/" STR_FMT "/" STR_FMT,
                                 STR_ARG(id), STR_ARG(word));
        str body = arena_printf(check_arena(), "{'runner_id':'" STR_FMT "','fence':%lld%s}",
                                STR_ARG(c->id), (long long)json_int_or(run, "fence", 0),
                                str_eq(word, STR("completed")) ? ",'result':'done'" : "");
        black_expect(b, 200, route.at, body.at);
    }
}

/* A claim is parked when its runner was seen once more after it was asked: one command after the
 * other goes to the writer. */
static void wait_until_parked(const struct black *b, struct claimer *all, int count)
{
    for (int i = 0; i < count; i++) {
        str body = arena_printf(check_arena(), "{'runner_id':'" STR_FMT "'}", STR_ARG(all[i].id));
        black_expect(b, 200, "POST /runner/heartbeat", body.at);
    }
}

#define START(name, more) "{'type':'start_session','session_name':'" name "','prompt':'go'" more "}"

TEST(one_of_ten_runners_gets_a_run_and_none_of_those_that_cannot_take_it)
{
    struct black b = { .args = without_runner };
    struct claimer all[15];
    int answered = 0;

    black_start(&b);
    struct black r = as_runner(&b);
    for (int i = 0; i < 15; i++)
        all[i] = claimer_new(&r, i, i % 3 == 2 ? "other" : "this");
    wait_until_parked(&r, all, 15);
    CHECK_INT(black_metric(&b, "baton_runners"), 15);
    black_expect(&b, 201, "POST /runs", START("a", ",'demands':{'tags':['this']}"));
    CHECK_STR(json_str(run_of(&all[0]), "session_name"), "a"); /* who came first */
    wait_until_parked(&r, all + 1, 14);
    for (int i = 1; i < 15; i++)
        answered += is_answered(&all[i]);
    CHECK_INT(answered, 0);

    black_expect(&b, 201, "POST /runs", START("b", ",'demands':{'tags':['other']}"));
    CHECK_STR(json_str(run_of(&all[2]), "session_name"), "b");
    black_stop(&b); /* those who wait are told, and asked to come back */
    CHECK_INT(peer_next(&all[1].peer).status, 503);
}

TEST(claim_that_found_nothing_is_answered_204)
{
    struct black b = { .args = (const char *const[]){ "--runner", "off", "--set", "poll_time=50ms",
                                                      NULL } };

    black_start(&b);
    struct black r = as_runner(&b);
    struct claimer c = claimer_new(&r, 1, "x");
    CHECK_INT(peer_next(&c.peer).status, 204);
    black_stop(&b);
}

/* ---- who waits for a result ---- */

static struct peer start_sync(const struct black *b, const char *body)
{
    struct peer p = peer_open(b, check_arena());
    str text = quotes_double(check_arena(), body);

    CHECK(peer_send(&p, arena_printf(check_arena(),
                                     STR_FMT "Content-Type: application/json\r\n"
                                             "Content-Length: %zu\r\n\r\n" STR_FMT,
                                     STR_ARG(peer_head(check_arena(), b, "POST /runs")), text.len,
                                     STR_ARG(text))));
    return p;
}

TEST(synchronous_start_is_answered_with_the_result)
{
    struct black b = { .args = without_runner };

    black_start(&b);
    struct black r = as_runner(&b);
    struct claimer c = claimer_new(&r, 1, "x");
    struct peer p = start_sync(&b, START("a", ",'execution_mode':'sync'"));
    const struct json *run = run_of(&c);
    CHECK_INT(black_metric(&b, "baton_runs{status=\"claimed\"}"), 1);
    report(&r, &c, run, "started");
    CHECK_INT(black_metric(&b, "baton_sessions{status=\"running\"}"), 1);
    report(&r, &c, run, "completed");
    struct response got = peer_next(&p);
    CHECK_INT(got.status, 200);
    const struct json *answer = json_parsed(check_arena(), got.body);
    CHECK_STR(json_str(answer, "result"), "done");
    CHECK_STR(json_str(answer, "status"), "finished");
    CHECK_INT(black_metric(&b, "baton_sessions{status=\"running\"}"), 0);
    black_stop(&b);
}

/* What a run writes is no event; whoever waits for it hears of it all the same. */
TEST(one_who_waits_for_output_gets_it_when_it_comes)
{
    struct black b = { .args = without_runner };

    black_start(&b);
    struct black r = as_runner(&b);
    struct claimer c = claimer_new(&r, 1, "x");
    black_expect(&b, 201, "POST /runs", START("a", ""));
    const struct json *run = run_of(&c);
    str id = json_str(run, "run_id");
    report(&r, &c, run, "started");

    struct peer p = peer_open(&b, check_arena());
    str route = arena_printf(check_arena(), "GET /runs/" STR_FMT "/output?wait=60", STR_ARG(id));
    CHECK(peer_send(&p, arena_printf(check_arena(), STR_FMT "\r\n",
                                     STR_ARG(peer_head(check_arena(), &b, route.at)))));
    route = arena_printf(check_arena(), "POST /runner/runs/" STR_FMT "/progress", STR_ARG(id));
    str body = arena_printf(check_arena(),
                            "{'runner_id':'" STR_FMT "','fence':%lld,"
                            "'output':[{'stream':'stdout','text':'here it is'}]}",
                            STR_ARG(c.id), (long long)json_int_or(run, "fence", 0));
    black_expect(&r, 200, route.at, body.at);
    struct response got = peer_next(&p);
    CHECK_INT(got.status, 200);
    json_parsed(check_arena(), got.body);
    CHECK(strstr(arena_copy(check_arena(), got.body).at, "here it is"));
    black_stop(&b);
}

/* ---- inside of a run ---- */

/* A command of the program as another process; its exit code. */
static int run_program(const struct black *b, const char *format, const char *arguments)
{
    char path[4096];
    str link = arena_printf(check_arena(), "/proc/%lld/exe", (long long)b->pid);
    ssize_t len = readlink(link.at, path, sizeof path - 1);

    CHECK(len > 0);
    path[len] = '\0';
    setenv("PROGRAM", path, 1);
    setenv("ARGUMENTS", arguments, 1);
    int status = system(format);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define PROGRAM "$PROGRAM $ARGUMENTS --data data >out 2>err"

TEST(processes_of_a_run_do_not_act_as_the_operator)
{
    struct black b = { .args = without_runner };

    black_start(&b);
    unsetenv("BATON_RUN_ID");
    CHECK_INT(run_program(&b, PROGRAM, "token list"), 0);
    CHECK_INT(run_program(&b, "BATON_RUN_ID=run_1 " PROGRAM, "token list"), 4);
    CHECK(strstr(check_read("err").at, "belongs to a run"));
    /* What a process of the run starts is of the run, whatever it forgets. */
    setenv("BATON_RUN_ID", "run_1", 1);
    CHECK_INT(run_program(&b, "env -u BATON_RUN_ID sh -c '" PROGRAM "; exit $?'; exit $?",
                          "token list"),
              4);

    const struct json *made =
        black_expect(&b, 201, "POST /tokens", "{'kind':'session','scope':{'session_id':'ses_x'}}");
    setenv("BATON_TOKEN", arena_copy(check_arena(), json_str(made, "token")).at, 1);
    CHECK_INT(run_program(&b, PROGRAM, "state list"), 0);
    CHECK_INT(run_program(&b, PROGRAM, "token list"), 4); /* which is the operator's */
    CHECK(!strstr(check_read("err").at, "belongs to a run"));
    black_stop(&b);
}

/* ---- files ---- */

TEST(agents_and_profiles_of_the_data_directory_are_there_while_their_files_are)
{
    struct black b = { .args = without_runner };

    mkdir("data", 0700);
    mkdir("data/agents", 0700);
    mkdir("data/profiles", 0700);
    check_write("data/agents/reviewer.md",
                STR("---\nname: reviewer\ndescription: Reads.\n---\nBe kind."));
    check_write("data/agents/tester.json",
                STR("{\"description\": \"Tests.\", \"profile\": \"mine\"}"));
    check_write("data/agents/broken.json", STR("{\"description\":\n  nothing}"));
    check_write("data/profiles/mine.json", STR("{\"name\":\"mine\",\"start\":[\"true\"]}"));
    check_write("data/profiles/README.md", STR("not a profile"));
    black_start(&b);
    const struct json *agent = black_expect(&b, 200, "GET /agents/reviewer", "");
    CHECK_STR(json_str(agent, "system_prompt"), "Be kind.");
    black_expect(&b, 200, "GET /agents/tester", "");
    black_expect(&b, 200, "GET /profiles/mine", "");
    black_expect(&b, 404, "GET /agents/broken", "");
    CHECK(strstr(check_read("log").at, "agents/broken.json"));
    CHECK(strstr(check_read("log").at, "line 2"));
    CHECK(!strstr(check_read("log").at, "README"));
    black_stop(&b);

    /* What cannot be read may be the one that is missing: nothing goes until it is mended. */
    unlink("data/agents/reviewer.md");
    black_start(&b);
    black_expect(&b, 200, "GET /agents/reviewer", "");
    black_stop(&b);

    unlink("data/agents/broken.json");
    black_start(&b);
    black_expect(&b, 404, "GET /agents/reviewer", "");
    black_expect(&b, 200, "GET /agents/tester", "");
    black_stop(&b);
}

TEST(settings_of_teams_are_among_the_limits_and_count)
{
    struct black b = { .args = (const char *const[]){ "--runner", "off", "--set",
                                                      "tree_depth_max=1", NULL } };

    setenv("BATON_STATE_UPDATE_TIMEOUT", "90", 1);
    black_start(&b);
    const struct json *limits = black_expect(&b, 200, "GET /limits", "");
    CHECK_INT(json_int_or(limits, "tree_depth_max", 0), 1);
    CHECK_INT(json_int_or(limits, "state_update_timeout_ms", 0), 90000);
    black_expect(&b, 201, "POST /sessions", "{'session_name':'a'}");
    black_expect(&b, 429, "POST /sessions", "{'session_name':'b','parent_session_name':'a'}");
    black_stop(&b);
}
