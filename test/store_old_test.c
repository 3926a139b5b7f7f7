/* store_old_test.c: a database that an older program made is opened, read and worked on; one that is
 * too old for that is refused in words. The databases are SQL text: see test/cases/store/make.sh. */
#include <sqlite3.h>

#include "black/black.h"
#include "calls.h"
#include "store_help.h"

enum { MINUTE_MS = 60 * 1000 };

#define OLD "old/baton.db"

static int by_bytes(void *self, int a_len, const void *a, int b_len, const void *b)
{
    int order = memcmp(a, b, (size_t)(a_len < b_len ? a_len : b_len));

    (void)self;
    return order ? order : a_len - b_len;
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_create_collation(db, "C", SQLITE_UTF8, NULL, by_bytes), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        check_fail(__FILE__, __LINE__, "%s", sqlite3_errmsg(db));
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

static void old_make(void)
{
    CHECK_INT(mkdir("old", 0700), 0);
    run_sql(OLD, check_read(check_source("test/cases/store/e846cd1.sql")).at);
}

/* A minute after the older program ended: nothing in it is overdue, however old this file is. */
static struct world *old_open(void)
{
    struct store_node node;
    struct world *w;

    CHECK_OK(world_open(OLD, NULL, &w));
    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    store_rollback(w->engine.sql);
    w->now_ms = node.clock + MINUTE_MS / 2;
    return w;
}

static void shows(struct world *w, const char *op, const char *input, const char *text)
{
    struct command *c = world_call(w, op, input, "");

    CHECK_OK(c->error);
    if (!strstr(arena_copy(check_arena(), c->answer.text).at, text))
        check_fail(__FILE__, __LINE__, "%s %s: expected %s, found " STR_FMT, op, input, text,
                   STR_ARG(c->answer.text));
}

/* The id of the one of a list whose member has that value. */
static str id_in(const struct json *list, const char *id, const char *member, const char *value)
{
    for (size_t i = 0; i < list->len; i++) {
        const struct json *it = json_at(list, i);
        if (str_eq(json_printed(check_arena(), json_get(it, member)), str_from(value)))
            return arena_copy(check_arena(), json_str(it, id));
    }
    check_fail(__FILE__, __LINE__, "there is none whose %s is %s", member, value);
}

static const char *order_of(struct world *w)
{
    return id_in(json_get(answer(w, "state.list", "{'schema':'order'}"), "states"), "state_id",
                 "version", "6")
        .at;
}

TEST(an_older_database_is_migrated_and_all_of_it_is_there)
{
    old_make();
    CHECK_INT(COMMAND("store", "check", "--deep", OLD), 0);
    struct world *w = old_open();
    const char *order = order_of(w);
    str run = id_in(json_get(answer(w, "run.list", "{'session':'worker'}"), "runs"), "run_id",
                    "purpose", "\"work\"");

    // clang-format off
    const struct {
        const char *op, *input, *text;
    } cases[] = {
        { "schema.get",      "{'name':'order','version':1}",    "What was ordered." },
        { "schema.versions", "{'name':'order'}",                "\"version\":2" },
        { "state.read",      "{'state_id':'%s'}",               "\"paid\":true" },
        { "state.read",      "{'state_id':'%s','version':2}",   "[\"one\",\"two\",\"three\",\"four\"]" },
        { "state.read",      "{'state_id':'%s','version':4}",   "\"note\":\"short\"" },
        { "state.diff",      "{'state_id':'%s','from':1,'to':2}", "\"value\":\"four\"" },
        { "state.history",   "{'state_id':'%s'}",               "\"version\":1," },
        { "state.blame",     "{'state_id':'%s','pointer':'/paid'}", "\"version\":6" },
        { "session.state",   "{'session_id':'worker'}",         "{\"items\":[\"cart\"]}" },
        { "session.get",     "{'session_id':'worker'}",         "\"parent_session_name\":\"chief\"" },
        { "session.result",  "{'session_id':'worker'}",         "The cart is written." },
        { "session.events",  "{'session_id':'worker'}",         "\"event_type\":\"message\"" },
        { "session.get",     "{'session_id':'broken'}",         "the compiler is missing" },
        { "session.get",     "{'session_id':'halted'}",         "\"status\":\"stopped\"" },
        { "session.get",     "{'session_id':'claude-shop-22222222'}", "\"attended\":true" },
        { "run.output",      "{'run_id':'%r'}",                 "reading the shop" },
        { "run.get",         "{'run_id':'%r'}",                 "\"ticket\":7" },
        { "token.list",      "{}",                              "\"name\":\"wall\"" },
        { "runner.list",     "{}",                              "\"hostname\":\"box\"" },
        { "agent.get",       "{'name':'coder'}",                "You write code." },
        { "profile.get",     "{'name':'mine'}",                 "A client of our own." },
        { "permission.list", "{'status':'waiting'}",            "git push fork" },
        { "permission.list", "{'status':'denied'}",             "not yet" },
        { "event.list",      "{'type':['callback_delivered']}", "\"child_name\":\"worker\"" },
        { "event.list",      "{}",                              "\"seq\":1," },
    };
    // clang-format on
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = strchr(cases[i].input, '%');
        str input = at ? arena_printf(check_arena(), "%.*s%s%s", (int)(at - cases[i].input),
                                      cases[i].input, at[1] == 'r' ? run.at : order, at + 2)
                       : str_from(cases[i].input);
        shows(w, cases[i].op, input.at, cases[i].text);
    }
    world_audit(w);
    world_close(w);
    CHECK_INT(COMMAND("store", "check", "--deep", OLD), 0);
}

static void claims(struct world *w, str runner, const char *name)
{
    struct command *c = call(w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(runner));
    const struct json *run = json_get(answer_of(c), "run");

    CHECK(run);
    CHECK_STR(json_str(run, "session_name"), name);
    CHECK_OK(call(w, "runner.completed",
                  "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':%lld,'result':'ok'}",
                  STR_ARG(runner), STR_ARG(json_str(run, "run_id")),
                  (long long)json_int_or(run, "fence", 0))
                 ->error);
}

TEST(an_older_database_goes_on)
{
    old_make();
    struct world *w = old_open();
    const char *order = order_of(w);
    const char *four = arena_printf(check_arena(),
                                    "{'operations':[{'op':'add','path':'/items/-',"
                                    "'value':'four'}],'state_id':'%s'}",
                                    order)
                           .at;

    /* What was done under a key is not done again; without one it is, as the next version. */
    struct command *again = world_call(w, "state.patch", four, "order-four");
    CHECK_OK(again->error);
    CHECK(again->repeated);
    CHECK_STR(at(world_call(w, "state.patch", four, ""), "/version"), "7");
    str lead = STR("{'client':'claude','event':{'hook_event_name':'UserPromptSubmit',"
                   "'session_id':'22222222-2222-4222-8222-222222222222','prompt':'go on'}}");
    shows(w, "hook.event", lead.at, "helper");
    CHECK(!strstr(at(world_call(w, "hook.event", lead.at, ""), "").at, "helper")); /* only once */

    /* The same runner takes what waited; what it had and does not speak of any more is given out
     * again. */
    str token =
        id_in(json_get(answer(w, "token.list", "{}"), "tokens"), "token_id", "name", "\"box\"");
    w->actor = (struct actor){ .kind = ACTOR_RUNNER, .name = STR("box"), .token_id = token };
    str runner = at(call(w, "runner.register", "{'hostname':'box','tags':['gpu'],'capacity':8}"),
                    "/runner_id");
    claims(w, runner, "next");
    w->actor = the_operator;
    CHECK_STR(at(call(w, "session.get", "{'session_id':'next'}"), "/status"), "finished");
    world_pass(w, 5 * MINUTE_MS);
    CHECK_STR(at(call(w, "run.list", "{'session':'busy'}"), "/runs/0/attempt"), "2");
    world_audit(w);
    world_close(w);
    CHECK_INT(COMMAND("store", "check", "--deep", OLD), 0);
}

TEST(a_server_starts_on_an_older_database)
{
    struct black b = { .data = "old" };

    old_make();
    black_start(&b);
    black_expect(&b, 200, "GET /sessions/worker", "");
    const struct json *states =
        json_get(black_expect(&b, 200, "GET /workflow-states?schema=order", ""), "states");
    str order = id_in(states, "state_id", "version", "6");
    black_expect(&b, 200, black_route("PATCH", order),
                 "{'operations':[{'op':'replace','path':'/paid','value':false}]}");
    black_stop(&b);
    CHECK_INT(COMMAND("store", "check", "--deep", OLD), 0);
}

/* By its version, not by what an SQL statement finds missing. */
TEST(a_database_that_is_too_old_is_refused_in_words)
{
    CHECK_INT(mkdir("old", 0700), 0);
    good_make();
    run_sql(OLD, "CREATE TABLE node (node_id BIGINT PRIMARY KEY, version BIGINT NOT NULL,"
                 " seq BIGINT NOT NULL, clock BIGINT NOT NULL);"
                 "INSERT INTO node VALUES (1, 1, 1, 1);"
                 "CREATE TABLE state (state_id TEXT PRIMARY KEY, body TEXT NOT NULL);");
    str before = arena_copy(check_arena(), check_read(OLD));
    REFUSED("sqlite:" OLD, ERR_CONFLICT,
            "is of version 1, from before baton could bring its tables up to date");
    expect(__LINE__, COMMAND("store", "migrate", OLD), ERR_CONFLICT, "Nothing in it was changed");
    expect(__LINE__, COMMAND("serve", "--listen", "127.0.0.1:0", "--data", "old"), ERR_CONFLICT,
           "serve --data DIR");
    CHECK(str_eq(check_read(OLD), before));
}
