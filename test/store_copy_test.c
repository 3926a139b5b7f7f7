/* store_copy_test.c: whole databases: copied, checked, backed up and restored.
 *
 * The commands run as a user's do, from their arguments to their exit code, on files of worlds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/store_verbs.h"
#include "black/black.h"
#include "check.h"
#include "core/audit.h"
#include "json_help.h"
#include "sim/engine.h"
#include "sim/postgres.h"

enum { WORDS_MAX = 12 };

/* ---- commands ---- */

static const struct verb program = {
    .name = "baton",
    .verbs = (const struct verb[]){ { .name = "store", .verbs = store_verbs }, { 0 } },
};

/* Runs `baton store …`; what it prints is in the file "out", errors are in "err". */
static int store_call(const char *first, ...)
{
    char *words[WORDS_MAX] = { (char *)"baton", (char *)"store", (char *)first };
    int n = 3, kept[2] = { dup(1), dup(2) };
    va_list more;

    va_start(more, first);
    while ((words[n] = va_arg(more, char *)))
        n++;
    va_end(more);
    CHECK(freopen("out", "w", stdout) && freopen("err", "w", stderr));
    int code = cli_main(&program, n, words);
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], i + 1);
        close(kept[i]);
    }
    return code;
}

#define STORE(...) store_call(__VA_ARGS__, NULL)

static bool said(const char *file, const char *text)
{
    return strstr(arena_copy(check_arena(), check_read(file)).at, text) != NULL;
}

static void expect(int line, int found, int expected)
{
    if (found != expected)
        check_fail(__FILE__, line, "expected exit code %d, found %d\n" STR_FMT STR_FMT, expected,
                   found, STR_ARG(check_read("out")), STR_ARG(check_read("err")));
}

#define EXITS(call, code) expect(__LINE__, (call), (code))

/* ---- a team's work ---- */

/* Small numbers, so that histories are compacted and the floor moves. */
static const struct retention small = {
    .events = 20,
    .events_ms = 1000,
    .versions = 10,
    .versions_step = 5,
    .keys_ms = 4 * 3600 * 1000,
    .rows = 7,
};

static void call(struct world *w, const char *op, const char *input, const char *key)
{
    struct command *c = world_call(w, op, input, key);
    if (c->error)
        check_fail(__FILE__, __LINE__, "%s %s: " STR_FMT, op, input, STR_ARG(c->error->message));
}

static void update(struct world *w, const char *state, int n)
{
    call(w, "state.update",
         arena_printf(check_arena(), "{'state_id':'%s','data':{'n':%d,'by':[%d]}}", state, n, n % 3)
             .at,
         arena_printf(check_arena(), "%s-%d", state, n).at);
}

static void ticks(struct world *w)
{
    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    for (int hours = 0; hours < 3; hours++) {
        while (str_ends(world_call(w, "system.tick", "{}", "")->answer, STR("\"more\":true}")))
            ;
        w->now_ms += 3600 * 1000;
    }
    w->actor = (struct actor){ .kind = ACTOR_OPERATOR, .name = STR("operator") };
}

static str member(struct world *w, const char *op, const char *input, const char *name)
{
    struct command *c = world_call(w, op, input, "");
    const struct json *json;

    CHECK_OK(c->error);
    CHECK_OK(json_parse(check_arena(), c->answer, NULL, &json));
    const struct json *run = json_get(json, "run");
    return json_str(run ? run : json, name);
}

static void start(struct world *w, const char *name)
{
    call(w, "run.create",
         arena_printf(check_arena(),
                      "{'type':'start_session','session_name':'%s','parent_session_name':'lead',"
                      "'prompt':'go','callback':true,'agent_name':'careful'}",
                      name)
             .at,
         "");
}

/* A team under a root that somebody attends to: one has settled, one is at work and asks whether it
 * may use a tool, one waits for a runner; and a root with a state. */
static void team(struct world *w)
{
    struct actor boss = w->actor;

    call(w, "agent.create", "{'name':'careful','profile':'claude','ask':['Bash']}", "");
    call(w, "session.create", "{'session_name':'owner'}", "");
    call(w, "state.create", "{'schema_name':'task','initial_data':{},'root_session':'owner'}", "");
    call(w, "session.create", "{'session_name':'lead'}", "");
    call(w, "session.event", "{'session_id':'lead','event_type':'session_start'}", "");
    w->actor =
        (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = STR("rn_1") };
    str runner = member(w, "runner.register", "{'hostname':'h','capacity':2}", "runner_id");
    static const char *const ends[] = { "completed", "progress" };
    for (int i = 0; i < 2; i++) {
        w->actor = boss;
        start(w, i ? "busy" : "done");
        w->actor =
            (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = STR("rn_1") };
        str run =
            member(w, "runner.claim",
                   arena_printf(check_arena(), "{'runner_id':'" STR_FMT "'}", STR_ARG(runner)).at,
                   "run_id");
        str held = arena_printf(check_arena(),
                                "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':1",
                                STR_ARG(runner), STR_ARG(run));
        call(w, "runner.started", arena_printf(check_arena(), STR_FMT "}", STR_ARG(held)).at, "");
        call(w, "runner.progress",
             arena_printf(check_arena(), STR_FMT ",'output':[{'stream':'stdout','text':'hm'}]}",
                          STR_ARG(held))
                 .at,
             "");
        call(w, arena_printf(check_arena(), "runner.%s", ends[i]).at,
             arena_printf(check_arena(), STR_FMT "}", STR_ARG(held)).at, "");
    }
    w->actor = boss;
    start(w, "next");
    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = STR("busy"),
                               .session_id = member(w, "session.get", "{'session_id':'busy'}",
                                                    "session_id") };
    call(w, "hook.event",
         "{'client':'claude','event':{'session_id':'c','hook_event_name':'PreToolUse',"
         "'tool_name':'Bash','tool_input':{'command':'ls'}}}",
         "");
    w->actor = boss;
}

/* Two states with compacted histories, one deleted, tokens, keys, work that is due, a team. */
static void work(const char *path)
{
    struct world *w;

    CHECK_OK(world_open(path, NULL, &w));
    w->retention = small;
    call(w, "schema.create",
         "{'name':'task','json_schema':{'type':'object','properties':{'n':{'type':'integer'}}}}",
         "");
    call(w, "schema.create", "{'name':'Zebra','json_schema':true,'description':'été'}", "");
    call(w, "state.create", "{'schema_name':'task','initial_data':{'n':0,'text':'ß'}}", "made");
    call(w, "state.create", "{'schema_name':'task','initial_data':{'n':0}}", "");
    call(w, "state.create", "{'schema_name':'Zebra','initial_data':[]}", "");
    for (int n = 1; n <= 60; n++)
        update(w, n % 3 ? "wfstate_3" : "wfstate_4", n);
    call(w, "token.create", "{'kind':'operator'}", "");
    call(w, "token.create", "{'kind':'viewer','expires_in':60}", "");
    ticks(w);
    for (int n = 61; n <= 70; n++)
        update(w, "wfstate_3", n);
    call(w, "state.delete", "{'state_id':'wfstate_5'}", "");
    team(w);
    world_close(w);
}

static const struct {
    const char *op, *input;
} questions[] = {
    { "schema.list", "{}" },
    { "state.list", "{}" },
    { "state.read", "{'state_id':'wfstate_3'}" },
    { "state.read", "{'state_id':'wfstate_3','version':5}" },
    { "state.read", "{'state_id':'wfstate_3','version':45}" },
    { "state.history", "{'state_id':'wfstate_3','limit':100}" },
    { "state.blame", "{'state_id':'wfstate_4'}" },
    { "state.diff", "{'state_id':'wfstate_3','from':40,'to':50}" },
    { "token.list", "{}" },
    { "session.list", "{}" },
    { "session.events", "{'session_id':'lead'}" },
    { "session.result", "{'session_id':'done'}" },
    { "run.list", "{}" },
    { "runner.list", "{}" },
};

/* Everything that can be asked, as one text. */
static str answers(const char *store)
{
    struct buf out = buf_in(check_arena());
    struct world *w;

    CHECK_OK(world_open(store, NULL, &w));
    w->retention = small;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct command *c = world_call(w, questions[i].op, questions[i].input, "");
        CHECK_OK(c->error);
        buf_printf(&out, "%s " STR_FMT "\n", questions[i].op, STR_ARG(c->answer));
    }
    struct command *floor = world_call(w, "event.list", "{}", "");
    CHECK_ERR(floor->error, ERR_GONE);
    buf_add(&out, floor->error->members);
    struct command *events = world_call(w, "event.list", "{'after':60,'limit':100}", "");
    CHECK_OK(events->error);
    buf_add(&out, events->answer);
    world_close(w);
    return buf_str(&out);
}

/* A request that was answered before is answered from its key, and the next write goes on. */
static void goes_on(const char *store)
{
    struct world *w;

    CHECK_OK(world_open(store, NULL, &w));
    struct command *again = world_call(w, "state.update",
                                       "{'state_id':'wfstate_3','data':{'n':70,'by':[1]}}",
                                       "wfstate_3-70");
    CHECK_OK(again->error);
    CHECK(!again->events);
    struct command *next =
        world_call(w, "state.patch", "{'state_id':'wfstate_3','merge':{'n':71}}", "");
    CHECK_OK(next->error);
    CHECK_INT(next->version, again->version + 1);
    world_close(w);
}

static void same_answers(str before, const char *store)
{
    str after = answers(store);
    if (!str_eq(before, after))
        check_fail(__FILE__, __LINE__, "before:\n" STR_FMT "\nafter:\n" STR_FMT, STR_ARG(before),
                   STR_ARG(after));
}

/* ---- copying ---- */

TEST(a_copy_answers_as_the_original_does)
{
    work("a.db");
    str before = answers("a.db");
    EXITS(STORE("copy", "--from", "a.db", "--to", "sqlite:b.db"), 0);
    CHECK(said("out", "; both are the same"));
    CHECK_INT(check_read("err").len, 0);
    same_answers(before, "b.db");
    EXITS(STORE("check", "b.db", "--deep"), 0);
    CHECK(said("out", "OK: b.db: "));
    EXITS(STORE("copy", "--from", "b.db", "--to", "c.db", "--json"), 0);
    CHECK(said("out", "\"to\":\"c.db\""));
    goes_on("b.db");
    goes_on("a.db");
    EXITS(STORE("check", "b.db", "--deep"), 0);
}

TEST_LIMIT(a_copy_goes_through_postgresql_and_back, 60)
{
    struct postgres *p = postgres_start();
    const char *url = postgres_new_database(p);

    work("a.db");
    str before = answers("a.db");
    EXITS(STORE("copy", "--from", "a.db", "--to", url), 0);
    EXITS(STORE("check", url, "--deep"), 0);
    EXITS(STORE("copy", "--from", "a.db", "--to", url), 6);
    CHECK(said("err", "is not empty"));
    same_answers(before, url);
    EXITS(STORE("copy", "--from", url, "--to", "b.db", "--verbose"), 0);
    CHECK(said("err", "100%"));
    same_answers(before, "b.db");
    EXITS(STORE("check", "b.db", "--deep"), 0);
    goes_on(url);
    EXITS(STORE("check", url, "--deep"), 0);
    postgres_stop(p);
}

TEST(a_copy_is_refused_where_something_would_be_lost)
{
    struct world *w;

    work("a.db");
    work("b.db");
    EXITS(STORE("copy", "--from", "a.db", "--to", "b.db"), 6);
    CHECK(said("err", "b.db is not empty"));
    EXITS(STORE("copy", "--from", "none.db", "--to", "c.db"), 5);
    CHECK(access("c.db", F_OK) < 0);
    EXITS(STORE("copy", "--from", "a.db", "--to", "a.db"), 2);
    EXITS(STORE("copy", "--from", "a.db"), 2);
    EXITS(STORE("copy", "--from", "mysql://host/a", "--to", "c.db"), 2);
    CHECK_OK(world_open("new.db", NULL, &w)); /* migrated, and nothing in it */
    world_close(w);
    EXITS(STORE("copy", "--from", "a.db", "--to", "new.db"), 0);
}

TEST(a_copy_waits_for_no_server_but_says_who_it_is)
{
    mkdir("team", 0700);
    work("team/baton.db");
    int lock = open("team/baton.lock", O_RDWR | O_CREAT, 0600);
    CHECK(flock(lock, LOCK_EX | LOCK_NB) == 0);
    FILE *f = fopen("team/server.json", "w");
    fprintf(f, "{\"url\":\"http://127.0.0.1:1\",\"pid\":4711,\"version\":\"%s\"}", BATON_VERSION);
    fclose(f);
    EXITS(STORE("copy", "--from", "team", "--to", "b.db"), 6);
    CHECK(said("err", "pid 4711: stop it first"));
    EXITS(STORE("check", "team"), 0);
    EXITS(STORE("backup", "b.db", "--data", "team"), 0);
    close(lock);
    EXITS(STORE("copy", "--from", "team", "--to", "c.db"), 0);

    /* Another version would migrate the tables under the server. */
    f = fopen("team/server.json", "w");
    fprintf(f, "{\"url\":\"http://127.0.0.1:1\",\"pid\":4711,\"version\":\"0.0.1\"}");
    fclose(f);
    EXITS(STORE("check", "team"), 6);
    CHECK(said("err", "baton 0.0.1"));
}

/* Nobody has a lock on a shared database; who serves it is known by its own word. */
TEST_LIMIT(a_copy_of_a_database_that_is_served_is_refused_at_once, 60)
{
    struct postgres *p = postgres_start();
    const char *url = postgres_new_database(p);
    struct black node = { .args = (const char *const[]){ "--store", url, NULL } };

    black_start(&node);
    while (json_get(black_expect(&node, 200, "GET /nodes", ""), "nodes")->len == 0)
        ; /* until it has said so, which is the first thing that it does */
    EXITS(STORE("copy", "--from", url, "--to", "b.db"), 6);
    CHECK(said("err", arena_printf(check_arena(), "at http://127.0.0.1:%u: stop it first",
                                   (unsigned)node.port)
                          .at));
    CHECK(access("b.db", F_OK) < 0);
    EXITS(STORE("check", url), 0);
    black_stop(&node);
    EXITS(STORE("copy", "--from", url, "--to", "b.db"), 0);
    postgres_stop(p);
}

/* ---- rows by hand ---- */

/* The commit writes the row of `node` back, so what a text has made of it is read again. */
static void rows_change(const char *store, const char *text)
{
    const struct row *row;
    struct store_node node;
    struct world *w;
    err why;

    CHECK_OK(world_open(store, NULL, &w));
    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_exec_(w->engine.sql, text, NO_ARGS));
    CHECK_OK(
        sql_one_(w->engine.sql, &row, "SELECT seq, clock FROM node WHERE node_id = 1", NO_ARGS));
    node.seq = row_int(row, 0);
    node.clock = row_int(row, 1);
    CHECK_INT(store_commit(w->engine.sql, &node, &why), STORE_COMMITTED);
    world_close(w);
}

/* A row that no request can have made is not found in the order of keys: so the copy stops, after
 * all other rows were written. */
TEST(an_unfinished_copy_is_refused_and_can_be_made_again)
{
    struct world *w;

    work("a.db");
    rows_change("a.db", "INSERT INTO idempotency (actor, key, digest, answer, created_at)"
                        " VALUES ('', '', '', '', 0)");
    EXITS(STORE("copy", "--from", "a.db", "--to", "b.db"), 1);
    CHECK(said("err", "check it with 'baton store check'"));
    CHECK_ERR(world_open("b.db", NULL, &w), ERR_CONFLICT);
    EXITS(STORE("check", "b.db"), 6);

    rows_change("a.db", "DELETE FROM idempotency WHERE key = ''");
    EXITS(STORE("copy", "--from", "a.db", "--to", "b.db"), 6);
    CHECK(said("err", "did not end: what is there is not whole"));
    unlink("b.db");
    EXITS(STORE("copy", "--from", "a.db", "--to", "b.db"), 0);

    /* Of a backup that cannot be finished, nothing is left. */
    rows_change("a.db", "INSERT INTO idempotency (actor, key, digest, answer, created_at)"
                        " VALUES ('', '', '', '', 0)");
    mkdir("team", 0700);
    CHECK(rename("a.db", "team/baton.db") == 0);
    EXITS(STORE("backup", "c.db", "--data", "team"), 1);
    CHECK(access("c.db", F_OK) < 0);
}

/* ---- interrupted ---- */

/* A copy that has to say how far it is, to somebody who does not listen, gets no further than the
 * end of its first table. */
static pid_t copy_start_and_hold(const char *from, const char *to)
{
    static const char noise[4096];
    int ends[2];

    CHECK(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    while (write(ends[1], noise, sizeof noise) > 0)
        ;
    CHECK(fcntl(ends[1], F_SETFL, 0) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        char *words[] = { "baton", "store",    "copy",      "--from", (char *)from,
                          "--to",  (char *)to, "--verbose", NULL };
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDERR_FILENO);
        exit(cli_main(&program, 8, words));
    }
    return pid;
}

static void interrupt(const char *from, const char *to, int with)
{
    pid_t pid = copy_start_and_hold(from, to);
    int status;

    while (STORE("check", to) != error_look(ERR_CONFLICT)->exit)
        usleep(1000); /* until it is under way */
    kill(pid, with);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == with);
    EXITS(STORE("check", to), 6);
    EXITS(STORE("copy", "--from", from, "--to", to), 6);
    CHECK(said("err", "did not end: what is there is not whole"));
    CHECK(said("err", "drop it (a file: delete it; PostgreSQL: dropdb and createdb)"));
}

TEST_LIMIT(an_interrupted_copy_leaves_the_source_whole_and_the_target_marked, 60)
{
    struct postgres *p = postgres_start();

    work("a.db");
    str before = answers("a.db");
    interrupt("a.db", "b.db", SIGINT);
    interrupt("a.db", postgres_new_database(p), SIGKILL);
    same_answers(before, "a.db");
    postgres_stop(p);
}

/* Every table of the data model moves, with every column, or is one of those that stay. */
TEST(a_copy_forgets_no_table_and_no_column)
{
    const struct row *tables, *columns;
    size_t count, column_count, moved = 0;
    struct store_node node;
    struct world *w;

    CHECK_OK(world_open("a.db", NULL, &w));
    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_all_(w->engine.sql, &tables, &count,
                      "SELECT name FROM sqlite_master WHERE type = 'table'", NO_ARGS));
    for (size_t i = 0; i < count; i++) {
        str name = row_str(&tables[i], 0);
        const struct rows_table *t = rows_tables;
        while (t < rows_tables + rows_table_count && !str_eq(str_from(t->name), name))
            t++;
        if (str_eq(name, STR("node")) || str_eq(name, STR("member")))
            continue;
        if (t == rows_tables + rows_table_count)
            check_fail(__FILE__, __LINE__, "core/rows.c lacks the table " STR_FMT, STR_ARG(name));
        CHECK_OK(sql_all_(w->engine.sql, &columns, &column_count,
                          "SELECT name FROM pragma_table_info($1)", ARGS(TEXT(name))));
        CHECK_INT(column_count, t->columns);
        moved++;
    }
    CHECK_INT(moved, rows_table_count);
    store_rollback(w->engine.sql);
    world_close(w);
}

/* ---- checking ---- */

// clang-format off
static const struct {
    const char *rule, *text;
} planted[] = {
    { "log.ahead",        "UPDATE node SET seq = seq - 1 WHERE node_id = 1" },
    { "log.floor",        "UPDATE replay SET floor = 10000" },
    { "log.floor",        "DELETE FROM replay" },
    { "log.gap",          "DELETE FROM log WHERE seq = (SELECT floor + 1 FROM replay)" },
    { "log.gap",          "DELETE FROM log WHERE seq = (SELECT floor FROM replay)" },
    { "log.gap",          "DELETE FROM log WHERE seq = (SELECT seq FROM node WHERE node_id = 1)" },
    { "log.type",         "UPDATE log SET type = 'nonsense' WHERE seq = (SELECT max(seq) FROM log)" },
    { "log.cause",        "UPDATE log SET cause = seq WHERE seq = (SELECT max(seq) FROM log)" },
    { "log.time",         "UPDATE log SET time = 5 WHERE seq = (SELECT max(seq) FROM log)" },
    { "log.clock",        "UPDATE node SET clock = 7 WHERE node_id = 1" },
    { "log.unkept",       "UPDATE log SET subject = 'nobody' WHERE seq = (SELECT min(seq) FROM log)" },
    { "state.version",    "UPDATE state SET version = version + 1 WHERE state_id = 'wfstate_3'" },
    { "state.version",    "UPDATE state SET last_seq = 99999 WHERE state_id = 'wfstate_3'" },
    { "state.snapshot",   "UPDATE state SET snap_seq = last_seq - 1 WHERE state_id = 'wfstate_4'" },
    { "state.overtaken",  "UPDATE state SET last_seq = (SELECT prev_seq FROM log WHERE seq = last_seq) WHERE state_id = 'wfstate_3'" },
    { "state.schema",     "DELETE FROM schema WHERE name = 'task'" },
    { "state.schema",     "UPDATE state SET schema_version = 2 WHERE state_id = 'wfstate_3'" },
    { "state.time",       "UPDATE state SET updated_at = 1 WHERE state_id = 'wfstate_3'" },
    { "history.link",     "UPDATE log SET prev_seq = 0 WHERE seq = (SELECT last_seq FROM state WHERE state_id = 'wfstate_3')" },
    { "history.link",     "UPDATE log SET prev_seq = prev_seq - 1 WHERE seq = (SELECT last_seq FROM state WHERE state_id = 'wfstate_3')" },
    { "history.version",  "UPDATE log SET version = 1 WHERE seq = (SELECT last_seq FROM state WHERE state_id = 'wfstate_3')" },
    { "history.snapshot", "UPDATE log SET body = NULL WHERE seq = (SELECT snap_seq FROM state WHERE state_id = 'wfstate_3')" },
    { "history.snapshot", "UPDATE log SET snap_seq = 1 WHERE version > 0 AND seq = (SELECT last_seq FROM state WHERE state_id = 'wfstate_3')" },
    { "session.tree",     "UPDATE session SET depth = 3 WHERE name = 'busy'" },
    { "session.tree",     "UPDATE session SET root_id = session_id WHERE name = 'busy'" },
    { "session.tree",     "UPDATE session SET parent_id = (SELECT s.session_id FROM session s WHERE s.name = 'busy') WHERE name = 'lead'" },
    { "session.tree",     "DELETE FROM session WHERE name = 'lead'" },
    { "session.state",    "UPDATE session SET state_id = 'wfstate_3' WHERE name = 'busy'" },
    { "session.state",    "UPDATE session SET state_id = 'wfstate_3' WHERE name = 'owner'" },
    { "session.name",     "UPDATE session SET name = (SELECT s.session_id FROM session s WHERE s.name = 'lead') WHERE name = 'owner'" },
    { "session.status",   "UPDATE session SET live = 0 WHERE name = 'busy'" },
    { "session.status",   "UPDATE session SET status = 'nonsense' WHERE name = 'done'" },
    { "session.status",   "UPDATE session SET settled = 1 WHERE name = 'busy'" },
    { "session.run",      "UPDATE session SET run_id = (SELECT result_run FROM session WHERE name = 'done') WHERE name = 'done'" },
    { "session.run",      "UPDATE session SET run_id = 'run_none' WHERE name = 'lead'" },
    { "session.update",   "UPDATE session SET update_status = 'pending' WHERE name = 'done'" },
    { "session.stuck",    "UPDATE session SET run_id = '' WHERE name = 'next'" },
    { "session.silent",   "DELETE FROM callback" },
    { "session.event",    "UPDATE session_event SET session_id = 'ses_none' WHERE session_id = (SELECT session_id FROM session WHERE name = 'lead')" },
    { "run.session",      "UPDATE run SET session_id = 'ses_none' WHERE session_name = 'done'" },
    { "run.session",      "UPDATE run SET cycle = 2 WHERE session_name = 'done'" },
    { "run.status",       "UPDATE run SET live = 1 WHERE session_name = 'done'" },
    { "run.status",       "UPDATE run SET purpose = 'nonsense' WHERE session_name = 'done'" },
    { "run.queue",        "UPDATE run SET queued = 1 WHERE session_name = 'busy'" },
    { "run.queue",        "UPDATE session SET run_id = '' WHERE name = 'next'" },
    { "run.one",          "UPDATE session SET run_id = '' WHERE name = 'busy'" },
    { "run.lease",        "UPDATE run SET lease_until = 0 WHERE session_name = 'busy'" },
    { "run.lease",        "UPDATE run SET token_id = 'ss_1' WHERE session_name = 'done'" },
    { "run.due",          "DELETE FROM due WHERE kind = 'run_match'" },
    { "run.output",       "UPDATE run_output SET run_id = 'run_none' WHERE run_id = (SELECT result_run FROM session WHERE name = 'done')" },
    { "runner.due",       "DELETE FROM due WHERE kind = 'runner_silent'" },
    { "runner.due",       "UPDATE runner SET capacity = 0" },
    { "callback.child",   "UPDATE callback SET cycle = 2" },
    { "callback.child",   "UPDATE session SET settled = 0 WHERE name = 'done'" },
    { "callback.status",  "UPDATE callback SET status = 'in_flight'" },
    { "callback.status",  "UPDATE callback SET parent_id = 'ses_none'" },
    { "permission.due",   "DELETE FROM due WHERE kind = 'permission_expire'" },
    { "permission.due",   "UPDATE permission SET status = 'nonsense'" },
    { "permission.due",   "UPDATE permission SET session_id = 'ses_none'" },
    { "entry.form",       "INSERT INTO entry (catalog, name, text, source, created_at, updated_at) VALUES (7, 'x', '{}', 'api', 1, 1)" },
    { "schema.versions",  "UPDATE schema SET version = 3 WHERE name = 'Zebra'" },
    { "token.form",       "UPDATE token SET kind = 9" },
    { "token.form",       "UPDATE token SET hash = 'short'" },
    { "key.form",         "UPDATE idempotency SET digest = ''" },
    { "due.kind",         "UPDATE due SET kind = 'nonsense' WHERE kind = 'move_floor'" },
    { "due.form",         "UPDATE due SET at = 0" },
    { "due.form",         "INSERT INTO due (at, kind, subject, arg) VALUES (1, 'purge_state', 'wfstate_3', 1)" },
};

static const struct {
    const char *text, *problem;
} planted_deep[] = {
    { "UPDATE state SET body = '{\"n\":' WHERE state_id = 'wfstate_3'", "state wfstate_3" },
    { "UPDATE state SET body = '{\"n\":\"x\"}' WHERE state_id = 'wfstate_4'", "state wfstate_4" },
    { "UPDATE schema SET text = 'true' WHERE name = 'task'", "is not the text that was registered" },
};
// clang-format on

static void file_copy(const char *from, const char *to)
{
    str text = check_read(from);
    FILE *f = fopen(to, "w");

    CHECK(f && fwrite(text.at, 1, text.len, f) == text.len && fclose(f) == 0);
}

TEST_LIMIT(a_check_finds_whatever_is_wrong, 60)
{
    work("good.db");
    EXITS(STORE("check", "good.db", "--deep"), 0);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        file_copy("good.db", "bad.db");
        rows_change("bad.db", planted[i].text);
        EXITS(STORE("check", "bad.db"), 1);
        str line = arena_printf(check_arena(), "%s: ", planted[i].rule);
        if (!said("out", line.at) || !said("out", "; to do: "))
            check_fail(__FILE__, __LINE__, "%s was not found after %s, but:\n" STR_FMT,
                       planted[i].rule, planted[i].text, STR_ARG(check_read("out")));
    }
    for (size_t i = 0; i < sizeof planted_deep / sizeof *planted_deep; i++) {
        file_copy("good.db", "bad.db");
        rows_change("bad.db", planted_deep[i].text);
        EXITS(STORE("check", "bad.db"), 0);
        EXITS(STORE("check", "bad.db", "--deep", "--json"), 1);
        CHECK(said("out", "\"ok\":false"));
        CHECK(said("out", planted_deep[i].problem));
    }
}

/* So that a rule without a planted row cannot be added. */
TEST(every_rule_of_a_check_is_planted)
{
    size_t rules = 0;

    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        rules += i == 0 || strcmp(planted[i].rule, planted[i - 1].rule) != 0;
    CHECK_INT(rules, audit_rule_count());
}

struct hunt {
    const char *rule;
    bool found;
};

static void hunt_take(void *self, const struct audit_finding *f)
{
    struct hunt *h = self;
    h->found = h->found || strcmp(f->rule, h->rule) == 0;
}

/* The rules are the same statements on PostgreSQL, and find the same. */
TEST_LIMIT(a_check_finds_the_same_on_postgresql, 60)
{
    struct postgres *p = postgres_start();
    const char *url = postgres_new_database(p);
    struct store_node node;
    struct world *w;

    work("good.db");
    EXITS(STORE("copy", "--from", "good.db", "--to", url), 0);
    CHECK_OK(world_open(url, NULL, &w));
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        struct hunt hunt = { .rule = planted[i].rule };
        CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
        CHECK_OK(sql_exec_(w->engine.sql, planted[i].text, NO_ARGS));
        struct tx tx = { .arena = check_arena(), .sql = w->engine.sql };
        CHECK_OK(audit_rows(&tx, hunt_take, &hunt));
        store_rollback(w->engine.sql);
        if (!hunt.found)
            check_fail(__FILE__, __LINE__, "%s was not found after %s", planted[i].rule,
                       planted[i].text);
    }
    world_close(w);
    postgres_stop(p);
}

/* ---- backups ---- */

struct writer {
    struct world *world;
    atomic_bool stop;
    atomic_int count;
};

/* Writes, and reads what it has written, so that others get their turn. */
static void *write_on(void *self)
{
    struct writer *w = self;
    struct engine *reader;

    CHECK_OK(world_reader(w->world, &reader));
    for (int n = 1000; !w->stop; n++) {
        update(w->world, "wfstate_3", n);
        for (int i = 0; i < 3; i++)
            op_read(reader, world_command(w->world, "state.blame", "{'state_id':'wfstate_3'}", ""));
        w->count++;
    }
    return NULL;
}

TEST_LIMIT(a_backup_is_whole_while_somebody_writes, 60)
{
    struct writer w = { .stop = false };
    pthread_t thread;
    struct stat st;

    mkdir("team", 0700);
    work("team/baton.db");
    CHECK_OK(world_open("team/baton.db", NULL, &w.world));
    w.world->retention = small;
    CHECK(pthread_create(&thread, NULL, write_on, &w) == 0);
    while (!w.count)
        ;
    int before = w.count;
    EXITS(STORE("backup", "1.db", "--data", "team"), 0);
    EXITS(STORE("check", "--data", "team"), 0);
    EXITS(STORE("backup", "2.db", "--data", "team", "--json"), 0);
    int after = w.count;
    w.stop = true;
    pthread_join(thread, NULL);
    world_close(w.world);
    CHECK(after > before);
    check_note("%d writes meanwhile", after - before);

    CHECK(access("1.db-wal", F_OK) < 0 && access("1.db-shm", F_OK) < 0);
    CHECK(stat("1.db", &st) == 0 && (st.st_mode & 0777) == 0600);
    EXITS(STORE("check", "1.db", "--deep"), 0);
    EXITS(STORE("check", "2.db", "--deep"), 0);
    EXITS(STORE("backup", "2.db", "--data", "team"), 6);
    CHECK(said("err", "it is there already"));
    EXITS(STORE("backup", "3.db", "--data", "nobody"), 5);
    CHECK(access("3.db", F_OK) < 0);
}

TEST(a_restored_backup_goes_on_from_where_it_was_made)
{
    mkdir("team", 0700);
    work("team/baton.db");
    str before = answers("team/baton.db");
    EXITS(STORE("backup", "saved.db", "--data", "team"), 0);
    goes_on("team/baton.db");
    CHECK(!str_eq(before, answers("team/baton.db")));
    file_copy("saved.db", "team/baton.db");
    same_answers(before, "team/baton.db");
    goes_on("team/baton.db");
    EXITS(STORE("check", "--deep", "--data", "team"), 0);
}
