/* lengths_test.c: no text that somebody sends is too long for a database: it is stored, or refused
 * at the door, on every store alike; and what a database says stays within the server. */
#include <stdio.h>
#include <time.h>

#include "app/clock.h"
#include "base/date.h"
#include "base/log.h"
#include "black/black.h"
#include "pg_help.h"
#include "runners.h"
#include "sim/both.h"

/* Inputs that are fine, of all operations that store texts of others. Each of their strings is made
 * long, one after the other. */
static const struct {
    const char *op, *input;
    bool runner; /* who asks; else the operator */
} asked[] = {
    { "schema.create", "{'name':'s1','description':'d','json_schema':{'title':'t'}}", false },
    { "state.create", "{'schema_name':'task','initial_data':{'a':'b'}}", false },
    { "session.create",
      "{'session_id':'ses_x','session_name':'x','project_dir':'/srv','agent_name':'coder',"
      " 'pointers':['/a']}",
      false },
    { "run.create",
      "{'type':'start_session','session_name':'y','prompt':'go','agent_name':'coder',"
      " 'project_dir':'/srv','metadata':{'a':'b'},"
      " 'demands':{'hostname':'h','tags':['t'],'profile':'shell'}}",
      false },
    { "run.create",
      "{'type':'start_session','session_name':'z','prompt':'go','agent_name':'coder',"
      " 'not_before':'1970-01-01T00:00:30Z','project_dir':'/srv',"
      " 'demands':{'hostname':'h','tags':['t'],'profile':'shell'}}",
      false },
    { "runner.register",
      "{'name':'n','hostname':'h','project_dir':'/srv','tags':['t'],'profiles':['shell']}", true },
    { "agent.create", "{'name':'a1','profile':'shell','args':['x'],'description':'d'}", false },
    { "token.create", "{'kind':'session','name':'n','scope':{'session_id':'root'}}", false },
    { "session.event", "{'session_id':'root','event_type':'message','role':'r','content':'c'}",
      false },
    { "session.stop", "{'session_id':'root','reason':'r'}", false },
    { "hook.event",
      "{'client':'claude','event':{'hook_event_name':'SessionStart','session_id':'c1',"
      " 'cwd':'/srv','source':'startup'}}",
      false },
    { "hook.event",
      "{'client':'claude','event':{'hook_event_name':'PreToolUse','session_id':'c2','cwd':'/srv',"
      " 'tool_name':'Bash','tool_use_id':'u','tool_input':{'command':'ls'}}}",
      false },
};

/* Strings of the value, in order; the one of that number becomes the text. How many there are. */
static int string_set(struct arena *a, struct json *v, int number, str text, int seen)
{
    if (v->kind == JSON_STRING) {
        if (seen == number)
            *v = json_string(text);
        return seen + 1;
    }
    for (uint32_t i = 0; v->kind == JSON_ARRAY && i < v->len; i++)
        seen = string_set(a, (struct json *)&v->items[i], number, text, seen);
    for (uint32_t i = 0; v->kind == JSON_OBJECT && i < v->len; i++)
        seen = string_set(a, (struct json *)&v->members[i].value, number, text, seen);
    return seen;
}

static int named; /* as many as there are names so far */

/* A name that was taken would be refused for that. */
static void names_make(struct json *input)
{
    for (uint32_t i = 0; i < input->len; i++) {
        struct json_member *m = &input->members[i];
        str name = json_name(m);
        bool id = str_eq(name, STR("session_id"));
        if ((id || str_ends(name, STR("name"))) && !str_eq(json_text(&m->value), STR("root")) &&
            !str_eq(name, STR("agent_name")) && !str_eq(name, STR("schema_name")))
            m->value = json_string(arena_printf(check_arena(), "%sx%d", id ? "ses_" : "", named++));
    }
}

static struct command *ask(struct world *w, size_t i, const struct json *input)
{
    struct fake_runner m = { .token = STR("rn_1") };
    struct command *c = world_command(w, asked[i].op, "{}", "");

    if (asked[i].runner)
        be(w, &m);
    c->input = input;
    *(struct actor *)c->actor = w->actor;
    op_perform(&w->engine, &c, 1);
    w->actor = the_operator;
    return c;
}

static void lengths_check(struct world *w, str text)
{
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct json whole = json_of(check_arena(), asked[i].input);
        int count = string_set(check_arena(), &whole, -1, text, 0);
        for (int n = 0; n < count; n++) {
            struct json *input = ARENA_NEW(check_arena(), struct json);
            *input = json_of(check_arena(), asked[i].input);
            names_make(input);
            string_set(check_arena(), input, n, text, 0);
            err e = ask(w, i, input)->error;
            if (e && (e->kind == ERR_INTERNAL || e->kind == ERR_UNAVAILABLE))
                check_fail(__FILE__, __LINE__, "%s %s, string %d: " STR_FMT, asked[i].op,
                           asked[i].input, n, STR_ARG(e->message));
            world_pass(w, 60000); /* what it has made due is done, too */
        }
    }
}

static str repeated(const char *piece, int times)
{
    struct buf out = buf_in(check_arena());

    buf_byte(&out, '/'); /* a directory, where one is expected */
    for (int i = 0; i < times; i++)
        buf_add(&out, str_from(piece));
    return buf_str(&out);
}

TEST_BOTH_LIMIT(no_text_is_too_long_for_a_database, 120)
{
    static const struct {
        const char *piece;
        int times;
    } texts[] = { { "x", 1000 },
                  { "x", 1190 },
                  { "x", 3000 },
                  { "\xf0\x9f\x98\x80", 290 },
                  { "\xf0\x9f\x98\x80", 1000 },
                  { "\"", 590 },
                  { "\"", 1100 },
                  { "\001", 1100 },
                  { "ab/", 30000 } };
    struct world *w = world_new();

    named = 0;
    answer(w, "schema.create", "{'name':'task','json_schema':{'type':'object'}}");
    answer(w, "agent.create", "{'name':'coder','profile':'shell','args':['x'],'ask':['Bash']}");
    answer(w, "session.create", "{'session_id':'ses_root','session_name':'root'}");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        lengths_check(w, repeated(texts[i].piece, texts[i].times));
    world_end(w);
}

/* As long as each part may be, all of them together fit into an index. */
TEST_BOTH(longest_demand_has_a_place_in_the_queue)
{
    struct world *w = world_new();
    str dir = repeated("d", 1196), host = repeated("h", 250);
    struct buf tags = buf_in(check_arena());

    for (int i = 0; i < 6; i++)
        buf_printf(&tags, "%s'%095d'", i ? "," : "", i);
    answer(w, "agent.create", "{'name':'coder','profile':'shell','args':['x'],'description':'d'}");
    answer_of(call(w, "run.create",
                   "{'type':'start_session','session_name':'one','prompt':'go',"
                   "'agent_name':'coder','project_dir':'" STR_FMT "',"
                   "'demands':{'hostname':'" STR_FMT "','tags':[" STR_FMT "]}}",
                   STR_ARG(dir), STR_ARG(host), STR_ARG(buf_str(&tags))));
    CHECK_ERR(call(w, "run.create",
                   "{'type':'start_session','session_name':'two','prompt':'go',"
                   "'agent_name':'coder','demands':{'tags':[" STR_FMT ",'%095d','%095d']}}",
                   STR_ARG(buf_str(&tags)), 8, 9)
                  ->error,
              ERR_INVALID);
    world_end(w);
}

/* ---- what a database says ---- */

static struct buf logged;

static void line_keep(void *to, enum log_level level, str line)
{
    (void)to, (void)level;
    buf_add(&logged, line);
}

/* Neither to who asks, nor to who comes in; and a condition that lasts is logged once. */
TEST_USING(what_a_database_says_is_for_the_log, 60, &postgres_service)
{
    struct postgres *p = postgres_shared();
    const char *url = postgres_new_database(p);
    struct grant *grant;
    struct world *w;

    CHECK_OK(world_open(url, NULL, &w));
    logged = buf_in(check_arena());
    log_to(LOG_INFO, line_keep, NULL);
    w->actor = the_operator;
    CHECK(pg_try(url, "ALTER TABLE session RENAME TO gone; ALTER TABLE token RENAME TO lost"));
    err e = world_call(w, "session.create", "{'session_name':'x'}", "")->error;
    CHECK_ERR(e, ERR_INTERNAL);
    CHECK(!strstr(e->message.at, "postgres") && !strstr(e->message.at, "session"));
    CHECK(strstr(buf_str(&logged).at, "store.error") && strstr(buf_str(&logged).at, "postgres"));
    e = op_admit(&w->engine, check_arena(), STR("op_00000000000000000000000000000000000"), &grant);
    CHECK(e && !strstr(e->message.at, "postgres") && !strstr(e->message.at, "relation"));
    world_close(w);
    postgres_leave(p);
}

/* ---- work that fails ---- */

enum { FAILING = 63, LATE_MS_MAX = 45 * 1000 };

/* Asks for a run at a time; its id. */
static str run_at(const struct black *b, int n, int64_t at_ms)
{
    char time[DATE_TEXT_MAX];
    str when = date_print(time, at_ms);

    return json_str(black_expect(b, 201, "POST /runs",
                                 arena_printf(check_arena(),
                                              "{'type':'start_session','session_name':'s%d',"
                                              "'agent_name':'coder','prompt':'go',"
                                              "'not_before':'" STR_FMT "'}",
                                              n, STR_ARG(when))
                                     .at),
                    "run_id");
}

/* Rows that cannot be written, as a database that somebody has changed may have, are put off one by
 * one, and what is due behind them comes at its time. */
TEST_USING(work_that_fails_delays_nobody, 120, &postgres_service)
{
    struct postgres *p = postgres_shared();
    const char *url = postgres_new_database(p);
    const char *args[] = { "--runner", "off", "--store", url, "--set", "profile_sessions_max=100",
                           NULL };
    struct black b = { .args = args };
    int64_t hour_ms = 3600 * 1000, due_ms = clock_wall_ms() + hour_ms;

    black_start(&b);
    black_expect(&b, 201, "POST /agents", "{'name':'coder','profile':'shell','args':['x']}");
    for (int i = 0; i < FAILING; i++)
        run_at(&b, i, due_ms);
    CHECK(pg_try(
        url, "UPDATE run SET queue_position_in_dir = repeat('x', 3000) || queue_position_in_dir"));
    str id = run_at(&b, FAILING, due_ms + 1);
    const char *good = arena_printf(check_arena(), "GET /runs/" STR_FMT, STR_ARG(id)).at;
    /* Now their time has come, however long all of this took. */
    CHECK(pg_try(url, arena_printf(check_arena(),
                                   "UPDATE run SET not_before = not_before - %lld;"
                                   "UPDATE due SET at = at - %lld WHERE kind = 'run_ready'",
                                   2ll * hour_ms, 2ll * hour_ms)
                          .at));
    int64_t began_ms = clock_wall_ms();
    while (!json_bool_or(black_expect(&b, 200, good, ""), "queued", false))
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    /* A second for each of those that fail would be more than a minute. */
    CHECK(clock_wall_ms() - began_ms < LATE_MS_MAX);
    CHECK(strstr(check_read("log").at, "run_ready"));
    black_stop(&b);
    postgres_leave(p);
}
