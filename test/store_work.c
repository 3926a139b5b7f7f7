/* store_work.c: a database with a team's work in it, and commands on whole databases, for tests. */
#include "store_work.h"

#include <stdio.h>
#include <unistd.h>

#include "app/store_verbs.h"
#include "calls.h"

enum { WORDS_MAX = 12 };

/* ---- commands ---- */

const struct verb store_program = {
    .name = "baton",
    .verbs = (const struct verb[]){ { .name = "store", .verbs = store_verbs }, { 0 } },
};

int store_call(const char *first, ...)
{
    char *words[WORDS_MAX] = { (char *)"baton", (char *)"store", (char *)first };
    int n = 3, kept[2] = { dup(1), dup(2) };
    va_list more;

    va_start(more, first);
    while ((words[n] = va_arg(more, char *)))
        n++;
    va_end(more);
    CHECK(freopen("out", "w", stdout) && freopen("err", "w", stderr));
    int code = cli_main(&store_program, n, words);
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], i + 1);
        close(kept[i]);
    }
    return code;
}

bool said(const char *file, const char *text)
{
    return strstr(arena_copy(check_arena(), check_read(file)).at, text) != NULL;
}

void expect_exit(const char *file, int line, int found, int expected)
{
    if (found != expected)
        check_fail(file, line, "expected exit code %d, found %d\n" STR_FMT STR_FMT, expected, found,
                   STR_ARG(check_read("out")), STR_ARG(check_read("err")));
}

/* ---- a team's work ---- */

const struct retention work_retention = {
    .events = 20,
    .events_ms = 1000,
    .versions = 10,
    .versions_step = 5,
    .keys_ms = 4 * 3600 * 1000,
    .rows = 7,
};

void work_update(struct world *w, const char *state, int n)
{
    str input =
        arena_printf(check_arena(), "{'state_id':'%s','data':{'n':%d,'by':[%d]}}", state, n, n % 3);
    str key = arena_printf(check_arena(), "%s-%d", state, n);

    CHECK_OK(world_call(w, "state.update", input.at, key.at)->error);
}

static void as_runner(struct world *w)
{
    w->actor =
        (struct actor){ .kind = ACTOR_RUNNER, .name = STR("runner"), .token_id = STR("rn_1") };
}

static void start(struct world *w, const char *name)
{
    w->actor = the_operator;
    CHECK_OK(call(w, "run.create",
                  "{'type':'start_session','session_name':'%s','parent_session_name':'lead',"
                  "'prompt':'go','callback':true,'agent_name':'careful'}",
                  name)
                 ->error);
}

/* Somebody starts a session, and its run says something and ends, or goes on. */
static void turn(struct world *w, str runner, const char *name, const char *end)
{
    start(w, name);
    as_runner(w);
    str run =
        at(call(w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(runner)), "/run/run_id");
    const char *const reports[][2] = {
        { "started", "" },
        { "progress", ",'output':[{'stream':'stdout','text':'hm'}]" },
        { end, "" },
    };
    for (int i = 0; i < 3; i++)
        CHECK_OK(call(w, arena_printf(check_arena(), "runner.%s", reports[i][0]).at,
                      "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':1%s}",
                      STR_ARG(runner), STR_ARG(run), reports[i][1])
                     ->error);
}

/* A team under a root that somebody attends to: one has settled, one is at work and asks whether it
 * may use a tool, one waits for a runner, like a command; and a root with a state. */
static void team(struct world *w)
{
    answer(w, "agent.create", "{'name':'careful','profile':'claude','ask':['Bash']}");
    answer(w, "session.create", "{'session_name':'owner'}");
    answer(w, "state.create", "{'schema_name':'task','initial_data':{},'root_session':'owner'}");
    answer(w, "session.create", "{'session_name':'lead'}");
    answer(w, "session.event", "{'session_id':'lead','event_type':'session_start'}");
    as_runner(w);
    str runner =
        json_str(answer(w, "runner.register", "{'hostname':'h','capacity':2}"), "runner_id");
    turn(w, runner, "done", "completed");
    turn(w, runner, "busy", "progress");
    start(w, "next");
    str busy = json_str(answer(w, "session.get", "{'session_id':'busy'}"), "session_id");
    w->actor = (struct actor){ .kind = ACTOR_SESSION, .name = STR("busy"), .session_id = busy };
    answer(w, "hook.event",
           "{'client':'claude','event':{'session_id':'c','hook_event_name':'PreToolUse',"
           "'tool_name':'Bash','tool_input':{'command':'ls'}}}");
    w->actor = the_operator;
    answer(w, "run.command", "{'argv':['make','ü'],'stdin':'{}','owner':'step_1','tags':['t']}");
}

/* A workflow that is under way: a worker has a job with a time, a loop is half done, a command waits for
 * a runner, as does a check of what was reported, an expression has come to nothing, and a person was asked
 * twice and has decided once; and one that has ended. */
static void workflow(struct world *w)
{
    w->actor = the_operator;
    answer(w, "workflow.deploy",
           "{'name':'ship','definition':{'steps':["
           "{'id':'build','job':'build','timeout':'1h'},"
           "{'id':'lint','for_each':[1,2],'job':'lint','outputs':['ok'],'after':[]},"
           "{'id':'make','run':'make'},"
           "{'id':'prove','evidence':[{'run':'true'}]},"
           "{'id':'judge','for_each':[],'approval':{'deadline':'1h','default':'reject'}},"
           "{'id':'judged','for_each':[],'approval':true},"
           "{'id':'sum','for_each':'=missing','job':'sum'}]}}");
    answer(w, "workflow.deploy",
           "{'name':'short','definition':{'steps':[{'id':'a','set':{'y':1}}]}}");
    answer(w, "execution.start", "{'workflow':'short','input':{'x':'ß'}}");
    const struct json *started = answer(w, "execution.start", "{'workflow':'ship'}"),
                      *asked = answer(w, "approval.list", "{'status':'waiting'}");
    asked = json_get(asked, "approvals");
    for (uint32_t i = 0; i < asked->len; i++)
        if (str_eq(json_str(&asked->items[i], "step"), STR("judged")))
            answer(w, "approval.decide",
                   arena_printf(check_arena(), "{'approval_id':'" STR_FMT "','decision':'approve'}",
                                STR_ARG(json_str(&asked->items[i], "approval_id")))
                       .at);
    answer(w, "execution.report",
           arena_printf(check_arena(), "{'execution_id':'" STR_FMT "','step':'prove'}",
                        STR_ARG(json_str(started, "execution_id")))
               .at);
    answer(w, "job.claim", "{'types':['build'],'max':1,'lease_seconds':60,'worker':'w'}");
    const struct json *claimed =
        answer(w, "job.claim", "{'types':['lint'],'max':1,'lease_seconds':60,'worker':'w'}");
    answer(w, "job.complete",
           arena_printf(check_arena(), "{'job_id':'" STR_FMT "','outputs':{'ok':true}}",
                        STR_ARG(json_str(json_at(json_get(claimed, "jobs"), 0), "job_id")))
               .at);
}

/* Two agents for a step, of whom there is room for one. */
static void crew(struct world *w)
{
    const struct team_rules *all = w->engine.team;
    struct team_rules few = all ? *all : team_rules_default;

    few.profile_max = 1;
    w->engine.team = &few;
    answer(w, "agent.create", "{'name':'lifter','profile':'scripted'}");
    answer(w, "workflow.deploy",
           "{'definition':{'workflow':'crew','steps':["
           "{'id':'lift','agent':'lifter','parallel_agents':2,'outputs':['x']}]}}");
    answer(w, "execution.start", "{'workflow':'crew'}");
    w->engine.team = all;
}

void work(const char *path)
{
    struct world *w;

    CHECK_OK(world_open(path, NULL, &w));
    w->retention = work_retention;
    answer(w, "schema.create",
           "{'name':'task','json_schema':{'type':'object','properties':{'n':{'type':'integer'}}}}");
    answer(w, "schema.create", "{'name':'Zebra','json_schema':true,'description':'été'}");
    CHECK_OK(world_call(w, "state.create",
                        "{'schema_name':'task','initial_data':{'n':0,'text':'ß'}}", "made")
                 ->error);
    answer(w, "state.create", "{'schema_name':'task','initial_data':{'n':0}}");
    answer(w, "state.create", "{'schema_name':'Zebra','initial_data':[]}");
    for (int n = 1; n <= 60; n++)
        work_update(w, n % 3 ? "wfstate_3" : "wfstate_4", n);
    answer(w, "token.create", "{'kind':'operator'}");
    answer(w, "token.create", "{'kind':'viewer','expires_in':60}");
    for (int hours = 0; hours < 3; hours++) {
        world_pass(w, 0);
        w->now_ms += 3600 * 1000;
    }
    for (int n = 61; n <= 70; n++)
        work_update(w, "wfstate_3", n);
    answer(w, "state.delete", "{'state_id':'wfstate_5'}");
    team(w);
    workflow(w);
    crew(w);
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
    { "workflow.list", "{}" },
    { "execution.list", "{}" },
    { "incident.list", "{}" },
    { "approval.list", "{}" },
    { "inbox.list", "{}" },
    { "job.list", "{}" },
};

str answers(const char *store)
{
    struct buf out = buf_in(check_arena());
    struct world *w;

    CHECK_OK(world_open(store, NULL, &w));
    w->retention = work_retention;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct command *c = world_call(w, questions[i].op, questions[i].input, "");
        CHECK_OK(c->error);
        buf_printf(&out, "%s " STR_FMT "\n", questions[i].op, STR_ARG(c->answer.text));
    }
    struct command *floor = world_call(w, "event.list", "{}", "");
    CHECK_ERR(floor->error, ERR_GONE);
    buf_add(&out, floor->error->members);
    struct command *events = world_call(w, "event.list", "{'after':60,'limit':100}", "");
    CHECK_OK(events->error);
    buf_add(&out, events->answer.text);
    world_close(w);
    return buf_str(&out);
}

void goes_on(const char *store)
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
    CHECK_INT(next->answer.version, again->answer.version + 1);
    world_close(w);
}

void same_answers(str before, const char *store)
{
    str after = answers(store);
    if (!str_eq(before, after))
        check_fail(__FILE__, __LINE__, "before:\n" STR_FMT "\nafter:\n" STR_FMT, STR_ARG(before),
                   STR_ARG(after));
}

/* ---- by hand ---- */

/* The commit writes the row of `node` back, so what a text has made of it is read again. */
void rows_change(const char *store, const char *text)
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

void file_copy(const char *from, const char *to)
{
    check_write(to, check_read(from));
}
