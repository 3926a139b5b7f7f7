/* scripted_test.c: the player of scenarios, without a process and without a server. */
#include "check.h"
#include "json_help.h"
#include "runner/scripted.h"
#include "sim/world.h"

/* Whoever does things for the player: notes all of it in one text. */
struct stub {
    struct buf log;
    const char *const *answers; /* "201 {'state_id':'s'}" for each call, up to NULL; then 200 {} */
    int calls, looks;
    bool impatient; /* time does not pass */
};

static err stub_tell(void *self, struct arena *a, const struct json *line)
{
    struct stub *s = self;

    buf_printf(&s->log, STR_FMT "\n", STR_ARG(json_shown(a, line)));
    return NULL;
}

static err stub_call(void *self, struct arena *a, str op, const struct json *input, int *status,
                     const struct json **answer)
{
    struct stub *s = self;
    const char *text = s->answers && s->answers[s->calls] ? s->answers[s->calls++] : "200 {}";
    struct json *json = arena_alloc(a, sizeof *json);

    buf_printf(&s->log, "> " STR_FMT " " STR_FMT "\n", STR_ARG(op), STR_ARG(json_shown(a, input)));
    *status = atoi(text);
    *json = json_of(a, text + 4);
    *answer = json;
    return NULL;
}

static err stub_pause(void *self, struct arena *a, int64_t ms)
{
    struct stub *s = self;

    if (s->impatient)
        return err_new(a, ERR_UNAVAILABLE, "killed");
    buf_printf(&s->log, "pause %lld\n", (long long)ms);
    return NULL;
}

static err stub_touch(void *self, struct arena *a, str path)
{
    struct stub *s = self;

    (void)a;
    buf_printf(&s->log, "touch " STR_FMT "\n", STR_ARG(path));
    return NULL;
}

/* A file is there at the third look. */
static bool stub_exists(void *self, str path)
{
    struct stub *s = self;

    (void)path;
    return ++s->looks == 3;
}

/* A scenario from a prompt with single quotes. */
static const struct json *scenario_of(const char *prompt)
{
    const struct json *scenario;

    CHECK_OK(scripted_read(check_arena(), quotes_double(check_arena(), prompt), &scenario));
    return scenario;
}

static struct stub *played(const char *scenario, const char *purpose, int64_t attempt,
                           const char *const *answers, int exit_expected)
{
    struct stub *s = ARENA_NEW(check_arena(), struct stub);
    struct scripted_io io = { s, stub_tell, stub_call, stub_pause, stub_touch, stub_exists };
    struct scripted_turn turn = { str_from(purpose), attempt, STR("c"), STR("ses_1"),
                                  STR("exec-1") };

    s->log = buf_in(check_arena());
    s->answers = answers;
    CHECK_INT(scripted_play(check_arena(), scenario_of(scenario), &turn, &io), exit_expected);
    return s;
}

#define INIT "{'type':'init','client_id':'c'}\n"
#define RESULT(text)                                                                  \
    "{'type':'result','text':'" text "','usage':{'input_tokens':0,'output_tokens':0," \
    "'cached_tokens':0,'cost_usd':0}}\n"

/* ---- steps ---- */

static const struct {
    const char *scenario, *purpose;
    int64_t attempt;
    int exit;
    const char *log;
} turns[] = {
    { "{}", "work", 0, 0, INIT RESULT("done") },
    { "{'work':[{'say':'a'},{'say':'b'}]}", "work", 0, 0,
      INIT "{'type':'say','text':'a'}\n{'type':'say','text':'b'}\n" RESULT("b") },
    { "{'work':[{'say':'a'}]}", "task", 0, 0, INIT "{'type':'say','text':'a'}\n" RESULT("a") },
    { "{'work':[{'say':'a'}],'callback':[{'say':'c'}]}", "callback", 0, 0,
      INIT "{'type':'say','text':'c'}\n" RESULT("c") },
    { "{'state_update':[[{'say':'1'}],[{'say':'2'}]]}", "state_update", 2, 0,
      INIT "{'type':'say','text':'2'}\n" RESULT("2") },
    { "{'state_update':[[{'say':'1'}]]}", "state_update", 3, 0, INIT RESULT("done") },
    { "{'work':[{'call':{'op':'state.patch','input':{'merge':{}}}}]}", "work", 0, 0,
      INIT "> state.patch {'merge':{}}\n" RESULT("done") },
    { "{'work':[{'start':{'session_name':'kid','prompt':{'work':[]}}}]}", "work", 0, 0,
      INIT "> run.create {'type':'start_session','session_name':'kid','prompt':'{\\'work\\':[]}',"
           "'demands':{'profile':'scripted'}}\n" RESULT("done") },
    { "{'work':[{'start':{'session_name':'kid','prompt':'go','agent':'x','mode':'sync'}}]}", "work",
      0, 0,
      INIT "> run.create {'type':'start_session','session_name':'kid','prompt':'go',"
           "'agent_name':'x','execution_mode':'sync'}\n" RESULT("done") },
    { "{'work':[{'sleep_ms':70},{'touch':'f'},{'wait_file':'g'}]}", "work", 0, 0,
      INIT "pause 70\ntouch f\npause 20\npause 20\n" RESULT("done") },
    { "{'work':[{'say':'a','exit':3},{'say':'b'}]}", "work", 0, 3,
      INIT "{'type':'say','text':'a'}\n" },
    { "{'work':[{'exit':0}]}", "work", 0, 0, INIT },
    { "{'work':[{'record':{'artifacts':{'n':1},'error':''}},{'record':{'error':'no paper'}}]}",
      "task", 0, 0,
      INIT "> step.update {'workflow_id':'exec-1','status':'completed','artifacts':{'n':1}}\n"
           "> step.update {'workflow_id':'exec-1','status':'failed','error':'no paper'}\n" RESULT(
               "done") },
    { "{'work':[{'cost_usd':0.25,'tokens':[3,4]},{'tokens':[10,20]}]}", "work", 0, 0,
      INIT "{'type':'result','text':'done','usage':{'input_tokens':13,'output_tokens':24,"
           "'cached_tokens':0,'cost_usd':0.25}}\n" },
};

TEST(a_turn_does_what_its_scenario_says)
{
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        struct stub *s =
            played(turns[i].scenario, turns[i].purpose, turns[i].attempt, NULL, turns[i].exit);
        CHECK_STR(buf_str(&s->log), turns[i].log);
    }
}

TEST(an_answer_that_was_not_expected_fails_the_turn)
{
    static const char *const conflict[] = { "409 {'detail':'taken'}", NULL };
    const char *call = "{'work':[{'call':{'op':'state.patch','input':{}}},{'say':'never'}]}";
    struct stub *s = played(call, "work", 0, conflict, 1);

    CHECK_STR(buf_str(&s->log),
              INIT "> state.patch {}\n"
                   "{'type':'error','text':'state.patch: expected a success, found 409: taken'}\n");
    s = played("{'work':[{'call':{'op':'state.patch','expect':409}}]}", "work", 0, conflict, 0);
    CHECK_STR(buf_str(&s->log), INIT "> state.patch {}\n" RESULT("done"));
    s = played("{'work':[{'call':{'op':'state.patch','expect':409}}]}", "work", 0, NULL, 1);
    CHECK(strstr(buf_str(&s->log).at, "expected 409, found 200"));
}

TEST(a_stall_lasts_until_it_is_ended_from_outside)
{
    struct stub s = { .log = buf_in(check_arena()), .impatient = true };
    struct scripted_io io = { &s, stub_tell, stub_call, stub_pause, stub_touch, stub_exists };
    struct scripted_turn turn = { STR("work"), 0, STR("c"), STR("ses_1"), STR("") };

    CHECK_INT(scripted_play(check_arena(), scenario_of("{'work':[{'stall':true},{'say':'never'}]}"),
                            &turn, &io),
              1);
    CHECK_STR(buf_str(&s.log), INIT "{'type':'error','text':'killed'}\n");
}

/* The way of clients with hooks: requests to record come as refusals to stop. */
TEST(a_refused_stop_is_a_request_to_record)
{
    static const char *const answers[] = { "200 {'decision':'block'}", "200 {'decision':'block'}",
                                           "200 {}", "200 {'callbacks':0}", NULL };
    struct stub *s = played("{'work':[{'stop_hook':true}],'state_update':[[{'say':'no'}],"
                            "[{'call':{'op':'state.patch'}}]]}",
                            "work", 0, answers, 0);

    CHECK_STR(buf_str(&s->log), INIT
              "> session.event {'session_id':'ses_1','event_type':'session_stop'}\n"
              "{'type':'say','text':'no'}\n"
              "> session.event {'session_id':'ses_1','event_type':'session_stop'}\n"
              "> state.patch {}\n"
              "> session.event {'session_id':'ses_1','event_type':'session_stop'}\n" RESULT("no"));
}

TEST(a_stop_that_is_always_refused_ends_at_last)
{
    const char *answers[40] = { NULL };

    for (int i = 0; i < 39; i++)
        answers[i] = "200 {'decision':'block'}";
    struct stub *s = played("{'work':[{'stop_hook':true}]}", "work", 0, answers, 1);
    CHECK(strstr(buf_str(&s->log).at, "was not allowed to stop 20 times"));
}

/* ---- scenarios ---- */

static const struct {
    const char *prompt, *error;
} bad[] = {
    { "please write a parser", "expects its scenario in the prompt" },
    { "", "expects its scenario in the prompt" },
    { "{\"work\":[}", "expects one JSON object in the prompt" },
    { "{\"wrok\":[]}", "this is no scenario: /wrok" },
    { "{\"work\":[{\"sya\":\"x\"}]}", "/work/0/sya" },
    { "{\"work\":[{\"say\":1}]}", "/work/0/say" },
    { "{\"work\":[{}]}", "/work/0" },
    { "{\"work\":[{\"call\":{\"input\":{}}}]}", "/work/0/call" },
    { "{\"state_update\":[{\"say\":\"x\"}]}", "/state_update/0" },
    { "{\"work\":[{\"start\":{\"session_name\":\"a\",\"prompt\":\"b\",\"mode\":\"later\"}}]}",
      "/work/0/start/mode" },
    { "{\"work\":[{\"exit\":256}]}", "/work/0/exit" },
};

TEST(a_bad_scenario_is_told_with_its_place)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct json *scenario;
        err e = scripted_read(check_arena(), str_from(bad[i].prompt), &scenario);
        CHECK_ERR(e, ERR_INVALID);
        if (!strstr(e->message.at, bad[i].error))
            check_fail(__FILE__, __LINE__, "expected %s, found " STR_FMT, bad[i].error,
                       STR_ARG(e->message));
    }
}

TEST(a_scenario_is_found_within_a_prompt)
{
    CHECK_STR(json_shown(check_arena(),
                         scenario_of(
                             "Since you were last here: nothing.\n\n{'work':[{'say':'{'}]}\n"
                             "Good luck")),
              "{'work':[{'say':'{'}]}");
    CHECK_STR(json_shown(check_arena(),
                         scenario_of(
                             "## Step 5\n\n{'work':[{'say':'\\\\'}]}\n\nCall:\n{'workflow_id': "
                             "'exec-1', 'artifacts': {…}}")),
              "{'work':[{'say':'\\\\'}]}");
}

/* ---- the same player in the process of the server's rules ---- */

static err world_op(void *self, struct arena *a, str op, const struct json *input, int *status,
                    const struct json **answer)
{
    struct world *w = self;
    struct command *c = world_command(w, arena_copy(a, op).at, "{}", "");

    c->input = input;
    op_perform(&w->engine, &c, 1);
    *answer = NULL;
    *status = c->error ? error_kind_info(c->error->kind)->http : c->answer.created ? 201 : 200;
    return c->error || c->answer.empty ? NULL : json_parse(a, c->answer.text, NULL, answer);
}

static err quiet_tell(void *self, struct arena *a, const struct json *line)
{
    (void)self, (void)a, (void)line;
    return NULL;
}

TEST(the_player_needs_no_process)
{
    struct world *w;
    CHECK_OK(world_open("scripted.db", NULL, &w));
    struct scripted_io io = { .self = w, .emit = quiet_tell, .call = world_op };
    struct scripted_turn turn = { STR("work"), 0, STR("c"), STR("ses_1"), STR("") };
    const struct json *scenario = scenario_of(
        "{'work':[{'call':{'op':'schema.create','input':{'name':'any','json_schema':true},"
        "'expect':201}},"
        "{'call':{'op':'state.create','input':{'schema_name':'any','initial_data':{}}}},"
        "{'call':{'op':'state.read','input':{'state_id':'wfstate_none'},'expect':404}},"
        "{'start':{'session_name':'kid','prompt':{'work':[]}}}]}");

    CHECK_INT(scripted_play(check_arena(), scenario, &turn, &io), 0);
    struct command *c = world_call(w, "session.get", "{'session_id':'kid'}", "");
    CHECK_OK(c->error);
    CHECK(strstr(c->answer.text.at, "\"profile\":\"scripted\""));
    world_close(w);
}
