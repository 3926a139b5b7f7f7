/* mirror_test.c: which files show a project's workflows, what is in them, and who hears of what others
 * did to them. */
#include "base/digest.h"
#include "hooks_fixture.h"
#include "ops/mirrors.h"

#define SHOP "/home/ann/shop"
#define ANN "aaaaaaaa-0000-4000-8000-000000000001"
#define PHASES                                                               \
    "{'workflow':'plan','phases':[{'id':'phase_0','title':'A','agent':'a'}," \
    "{'id':'phase_1','title':'B','agent':'b','prerequisites':['phase_0']}]}"
#define SCENES                                                                   \
    "{'workflow':'scenes','generation_steps':[{'step':1,'name':'Draft','agent':" \
    "'w','by':'report'},{'step':2,'name':'Check','agent':'w','by':'report'}]}"

/* ---- a project on the runner's machine ---- */

static struct fixture *project_new(void)
{
    struct fixture *t = fixture_new();

    CHECK_OK(call(t->w, "project.create",
                  "{'name':'shop','project_dir':'" SHOP "','host':'here',"
                  "'common_dir':'" SHOP "/.git'}")
                 ->error);
    CHECK_OK(call(t->w, "workflow.deploy", "{'definition':%s}", PHASES)->error);
    CHECK_OK(call(t->w, "workflow.deploy", "{'definition':%s}", SCENES)->error);
    return t;
}

static str start_in(struct fixture *t, const char *workflow, const char *folder)
{
    t->w->actor = the_operator;
    return at(call(t->w, "execution.start", "{'workflow':'%s','project_dir':'%s'}", workflow,
                   folder),
              "/execution_id");
}

static void phase_is(struct fixture *t, str id, const char *phase, const char *status)
{
    t->w->actor = the_operator;
    CHECK_OK(call(t->w, "phase.update",
                  "{'workflow_id':'" STR_FMT "','phase_id':'%s','status':'%s'}", STR_ARG(id), phase,
                  status)
                 ->error);
}

static struct command *asks(struct fixture *t, str runner, int64_t after, int timeout)
{
    as_runner(t);
    struct command *c = call(t->w, "runner.mirrors",
                             "{'runner_id':'" STR_FMT "','after':%lld,'timeout':%d}",
                             STR_ARG(runner), (long long)after, timeout);
    t->w->actor = the_operator;
    CHECK_OK(c->error);
    return c;
}

static const struct json *told(struct fixture *t, int64_t after)
{
    return answer_of(asks(t, t->runner, after, 0));
}

/* Paths, each with a star when there is a text; of one project. */
static str files_in(const struct json *answer)
{
    const struct json *projects = json_get(answer, "projects"),
                      *files = json_get(json_at(projects, 0), "files");
    struct buf out = buf_in(check_arena());

    CHECK(!projects || projects->len <= 1);
    for (uint32_t i = 0; files && i < files->len; i++)
        buf_printf(&out, "%s" STR_FMT "%s", i ? " " : "",
                   STR_ARG(json_str(&files->items[i], "path")),
                   json_get(&files->items[i], "text") ? "*" : "");
    return buf_str(&out);
}

static const struct json *file_in(const struct json *answer, size_t i)
{
    return json_at(json_get(json_at(json_get(answer, "projects"), 0), "files"), i);
}

static int64_t seq_of(const struct json *answer)
{
    return json_int_or(answer, "seq", 0);
}

/* ---- what a runner is told ---- */

TEST(a_runner_is_told_the_files_of_its_machine_and_what_is_in_them)
{
    struct fixture *t = project_new();

    CHECK_STR(files_in(told(t, 0)), "");
    str id = start_in(t, "plan", SHOP "/src");
    const struct json *answer = told(t, 0), *file = file_in(answer, 0);
    CHECK_STR(files_in(answer), ".claude/state/workflow.json* .claude/workflow_state_system.md*");
    CHECK_STR(json_str(json_at(json_get(answer, "projects"), 0), "folder"), SHOP);
    CHECK_STR(json_str(file, "view"), "workflow");
    CHECK(str_eq(json_str(file, "execution_id"), id));
    unsigned char sum[SHA256_BYTES];
    sha256(json_str(file, "text"), sum);
    CHECK(str_eq(hex_encode(check_arena(), (str){ (const char *)sum, sizeof sum }),
                 json_str(file, "sha256")));
    CHECK(str_ends(json_str(file, "text"), STR("\n}\n")));
    CHECK_HAS(json_str(file_in(answer, 1), "text"), "- [ ] Phase 1: B");
    phase_is(t, id, "phase_0", "active");
    phase_is(t, id, "phase_0", "completed");
    CHECK_HAS(json_str(file_in(told(t, 0), 1), "text"), "- [x] Phase 0: A");
    fixture_free(t);
}

/* The newest open one; and when all have ended, the last, so that the file tells of its end. */
TEST(the_phases_that_are_shown_are_the_newest_open_ones)
{
    struct fixture *t = project_new();
    str first = start_in(t, "plan", SHOP);

    world_pass(t->w, 1000);
    str second = start_in(t, "plan", SHOP);
    CHECK(str_eq(json_str(file_in(told(t, 0), 0), "execution_id"), second));
    CHECK_OK(
        call(t->w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(second))->error);
    CHECK(str_eq(json_str(file_in(told(t, 0), 0), "execution_id"), first));
    CHECK_OK(
        call(t->w, "execution.cancel", "{'execution_id':'" STR_FMT "'}", STR_ARG(first))->error);
    CHECK(str_eq(json_str(file_in(told(t, 0), 0), "execution_id"), second));
    fixture_free(t);
}

TEST(of_many_executions_those_that_have_changed_have_a_text)
{
    struct fixture *t = project_new();
    str a = start_in(t, "scenes", SHOP);

    world_pass(t->w, 1000);
    str b = start_in(t, "scenes", SHOP);
    const struct json *first = told(t, 0);
    CHECK_STR(files_in(first),
              arena_printf(check_arena(),
                           "workspace/workflow-state/" STR_FMT ".json* "
                           "workspace/workflow-state/index.json* "
                           "workspace/logs/workflow-orchestration/" STR_FMT ".log* "
                           "workspace/workflow-state/" STR_FMT ".json* "
                           "workspace/logs/workflow-orchestration/" STR_FMT ".log*",
                           STR_ARG(b), STR_ARG(b), STR_ARG(a), STR_ARG(a))
                  .at);
    CHECK(!json_get(told(t, seq_of(first)), "projects"));
    CHECK_OK(call(t->w, "execution.report", "{'execution_id':'" STR_FMT "','step':'1'}", STR_ARG(a))
                 ->error);
    const struct json *second = told(t, seq_of(first));
    CHECK_STR(files_in(second),
              arena_printf(check_arena(),
                           "workspace/workflow-state/" STR_FMT ".json "
                           "workspace/workflow-state/index.json* "
                           "workspace/logs/workflow-orchestration/" STR_FMT ".log "
                           "workspace/workflow-state/" STR_FMT ".json* "
                           "workspace/logs/workflow-orchestration/" STR_FMT ".log*",
                           STR_ARG(b), STR_ARG(b), STR_ARG(a), STR_ARG(a))
                  .at);
    CHECK(!json_get(told(t, seq_of(second)), "projects"));
    fixture_free(t);
}

/* What moves something wakes whoever waits; all else does not, and is not looked at twice. */
TEST(a_runner_waits_until_a_workflow_has_moved)
{
    struct fixture *t = project_new();
    str id = start_in(t, "plan", SHOP);
    struct command *c = asks(t, t->runner, seq_of(told(t, 0)), 30);

    CHECK(c->answer.waits && !c->answer.wait_subject.len);
    CHECK_OK(call(t->w, "state.create", "{'schema_name':'s','initial_data':{}}")->error);
    int64_t seen = c->answer.wait_seq;
    c->waited = c->answer.wait_self;
    op_perform(&t->w->engine, &c, 1);
    CHECK_OK(c->error);
    CHECK(c->answer.waits && c->answer.wait_seq > seen);
    CHECK_INT(*(const int64_t *)c->answer.wait_self, c->answer.wait_seq);
    phase_is(t, id, "phase_0", "active");
    c->waited = c->answer.wait_self;
    op_perform(&t->w->engine, &c, 1);
    CHECK(!c->answer.waits);
    CHECK_STR(files_in(answer_of(c)),
              ".claude/state/workflow.json* .claude/workflow_state_system.md*");
    c = asks(t, t->runner, seq_of(answer_of(c)), 30);
    c->wait_over = true;
    op_perform(&t->w->engine, &c, 1);
    CHECK(!c->answer.waits && !json_get(answer_of(c), "projects"));
    fixture_free(t);
}

/* ---- which runner, and of which project ---- */

TEST(of_the_runners_of_a_machine_one_writes)
{
    struct fixture *t = project_new();
    str others[3];
    int writers = 0;

    start_in(t, "plan", SHOP);
    for (int i = 0; i < 3; i++) {
        as_runner(t);
        others[i] =
            at(call(t->w, "runner.register", "{'hostname':'%s','name':'r%d'%s}",
                    i == 2 ? "there" : "here", i, i == 1 ? ",'project_dir':'/elsewhere'" : ""),
               "/runner_id");
    }
    writers += files_in(answer_of(asks(t, t->runner, 0, 0))).len > 0;
    writers += files_in(answer_of(asks(t, others[0], 0, 0))).len > 0;
    CHECK_INT(writers, 1);
    CHECK_STR(files_in(answer_of(asks(t, others[1], 0, 0))), "");
    CHECK_STR(files_in(answer_of(asks(t, others[2], 0, 0))), "");
    fixture_free(t);
}

TEST(a_project_shows_what_belongs_to_it)
{
    struct fixture *t = project_new();

    start_in(t, "plan", "/home/ann/shop2");
    start_in(t, "plan", "/home/ann");
    CHECK_OK(call(t->w, "execution.start", "{'workflow':'plan'}")->error);
    CHECK_STR(files_in(told(t, 0)), "");
    /* One that a member has started is its project's, wherever it works. */
    CHECK_OK(call(t->w, "hook.event",
                  "{'client':'claude','host':'here','common_dir':'" SHOP "/.git','worktree':'" SHOP
                  "','event':{'session_id':'" ANN "','cwd':'" SHOP
                  "','hook_event_name':'SessionStart','source':'startup'}}")
                 ->error);
    as_session(t, "claude-shop-aaaaaaaa");
    str id = at(call(t->w, "execution.start", "{'workflow':'plan','project_dir':'/tmp'}"),
                "/execution_id");
    t->w->actor = the_operator;
    CHECK(str_eq(json_str(file_in(told(t, 0), 0), "execution_id"), id));
    fixture_free(t);
}

TEST(a_project_says_which_files_it_wants)
{
    struct fixture *t = project_new();
    static const struct {
        const char *mirrors, *files;
    } cases[] = {
        { "[]", "" },
        { "['markdown']", ".claude/workflow_state_system.md*" },
        { "['log']", "workspace/logs/workflow-orchestration/%.*s.log*" },
        { "['workflow','markdown','workflow-state','log']",
          ".claude/state/workflow.json* .claude/workflow_state_system.md* "
          "workspace/workflow-state/%.*s.json* workspace/workflow-state/index.json* "
          "workspace/logs/workflow-orchestration/%.*s.log*" },
    };
    start_in(t, "plan", SHOP);
    str id = start_in(t, "scenes", SHOP);
    int64_t seq = seq_of(told(t, 0));

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command *c =
            call(t->w, "project.update", "{'name':'shop','mirrors':%s}", cases[i].mirrors);
        struct json wanted = json_of(check_arena(), cases[i].mirrors);
        CHECK_STR(at(c, "/mirrors"), json_printed(check_arena(), &wanted).at);
        struct buf expected = buf_in(check_arena());
        str rest = str_from(cases[i].files), part;
        for (bool more = true; more;) {
            more = str_cut(rest, '%', &part, &rest);
            buf_add(&expected, part);
            if (more)
                buf_add(&expected, id);
            rest = more ? str_slice(rest, 3, rest.len) : rest;
        }
        CHECK_STR(files_in(told(t, seq)), buf_str(&expected).at);
    }
    CHECK(refused(t->w, "project.update", "{'name':'shop','mirrors':['all']}")->kind ==
          ERR_INVALID);
    fixture_free(t);
}

/* ---- what others did ---- */

static void found(struct fixture *t, const char *what, const char *more)
{
    as_runner(t);
    CHECK_OK(call(t->w, "runner.mirrored",
                  "{'runner_id':'" STR_FMT
                  "','project':'shop','path':'.claude/state/workflow.json','found':'%s'%s}",
                  STR_ARG(t->runner), what, more)
                 ->error);
    t->w->actor = the_operator;
}

TEST(what_others_did_to_a_file_is_kept_and_told)
{
    struct fixture *t = project_new();
    str id = start_in(t, "plan", SHOP);

    found(t, "edited", "");
    found(t, "edited", "");
    found(t, "deleted", ",'detail':'why'");
    struct command *c = call(t->w, "project.mirrors", "{'name':'shop'}");
    CHECK_STR(at(c, "/files/0/found"), "deleted");
    CHECK_STR(at(c, "/files/0/detail"), "why");
    CHECK_STR(at(c, "/files/0/times"), "3");
    CHECK(str_eq(at(c, "/files/0/execution_id"), id));
    CHECK_STR(at(c, "/files/1/found"), "null");
    CHECK_STR(
        at(call(t->w, "event.list", "{'type':['mirror_found']}"), "/events/2/data"),
        "{\"path\":\".claude/state/workflow.json\",\"found\":\"deleted\",\"detail\":\"why\"}");
    found(t, "written", ""); /* it was not blocked */
    CHECK_STR(at(call(t->w, "project.mirrors", "{'name':'shop'}"), "/files/0/found"), "deleted");
    found(t, "blocked", "");
    found(t, "written", "");
    CHECK_STR(at(call(t->w, "project.mirrors", "{'name':'shop'}"), "/files/0/found"), "null");
    fixture_free(t);
}

/* How many notes there are; and the lowest path of them. */
static int64_t kept(struct fixture *t, str *lowest)
{
    const struct row *row;
    struct store_node node;

    CHECK_OK(store_begin(t->w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_one(t->w->engine.sql, &row, "SELECT count(*), min(path) FROM mirror", NO_ARGS));
    int64_t count = row_int(row, 0);
    *lowest = count ? arena_copy(check_arena(), row_str(row, 1)) : STR("");
    store_rollback(t->w->engine.sql);
    return count;
}

TEST(what_is_kept_of_files_is_bounded_and_goes_with_the_project)
{
    struct fixture *t = project_new();
    str lowest;

    as_runner(t);
    for (int i = 0; i < MIRRORS_NOTED_MAX + 20; i++) {
        CHECK_OK(call(t->w, "runner.mirrored",
                      "{'runner_id':'" STR_FMT "','project':'shop','path':'.claude/%03d',"
                      "'found':'edited'}",
                      STR_ARG(t->runner), i)
                     ->error);
        world_pass(t->w, 10);
    }
    CHECK_INT(kept(t, &lowest), MIRRORS_NOTED_MAX);
    CHECK_STR(lowest, ".claude/020");
    t->w->actor = the_operator;
    CHECK_OK(call(t->w, "project.delete", "{'name':'shop'}")->error);
    CHECK_INT(kept(t, &lowest), 0);
    as_runner(t);
    struct command *c = call(t->w, "runner.mirrored",
                             "{'runner_id':'" STR_FMT
                             "','project':'shop','path':'.claude/x','found':'edited'}",
                             STR_ARG(t->runner));
    CHECK(c->error && c->error->kind == ERR_NOT_FOUND);
    fixture_free(t);
}

TEST(a_runner_is_told_of_the_projects_on_its_machine)
{
    struct fixture *t = project_new();

    CHECK_OK(call(t->w, "project.create",
                  "{'name':'far','project_dir':'/f','host':'there',"
                  "'common_dir':'/f/.git'}")
                 ->error);
    CHECK_OK(call(t->w, "project.create",
                  "{'name':'bare','project_dir':'/g','host':'here',"
                  "'common_dir':'/g'}")
                 ->error);
    as_runner(t);
    struct command *c =
        call(t->w, "runner.projects", "{'runner_id':'" STR_FMT "'}", STR_ARG(t->runner));
    CHECK_STR(json_shown(check_arena(), answer_of(c)),
              "{'projects':[{'name':'bare','folder':'/g'},{'name':'shop','folder':'" SHOP "'}]}");
    t->w->actor = the_operator;
    fixture_free(t);
}

/* ---- an agent that edits one ---- */

static str uses(struct fixture *t, const char *client, const char *event, const char *path)
{
    t->w->actor = the_operator;
    struct command *c = call(t->w, "hook.event",
                             "{'client':'%s','host':'here','common_dir':'" SHOP
                             "/.git','worktree':'" SHOP "','event':{'session_id':'" ANN
                             "','cwd':'" SHOP "','hook_event_name':'%s','tool_name':'Write',"
                             "'tool_input':{'file_path':'%s','content':'x'}}}",
                             client, event, path);
    CHECK_OK(c->error);
    world_pass(t->w, 1000);
    return json_str(json_get(answer_of(c), "hookSpecificOutput"), "additionalContext");
}

TEST(an_agent_that_edits_a_picture_is_told_where_the_workflow_is_changed)
{
    struct fixture *t = project_new();
    str none = STR(".claude/state/workflow.json is a picture");

    uses(t, "claude", "PreToolUse", "src/a.c"); /* it is a member from here on */
    CHECK(!str_contains(uses(t, "claude", "PreToolUse", ".claude/state/workflow.json"), none));
    str plan = start_in(t, "plan", SHOP), scene = start_in(t, "scenes", SHOP);
    CHECK_HAS(
        uses(t, "claude", "PreToolUse", ".claude/state/workflow.json"),
        ".claude/state/workflow.json is a picture of the workflow's phases that baton writes");
    CHECK_HAS(uses(t, "claude", "PreToolUse", SHOP "/.claude/../.claude/workflow_state_system.md"),
              "update_phase_status");
    const char *state =
        arena_printf(check_arena(), "workspace/workflow-state/" STR_FMT ".json", STR_ARG(scene)).at;
    CHECK_HAS(uses(t, "claude", "PreToolUse", state), "update_workflow_state");
    state =
        arena_printf(check_arena(), "workspace/workflow-state/" STR_FMT ".json", STR_ARG(plan)).at;
    CHECK_STR(uses(t, "claude", "PreToolUse", state), "");
    CHECK_STR(uses(t, "claude", "PreToolUse", "sub/.claude/state/workflow.json"), "");
    CHECK_STR(uses(t, "claude", "PreToolUse", "/elsewhere/.claude/state/workflow.json"), "");
    CHECK_STR(uses(t, "claude", "PostToolUse", ".claude/state/workflow.json"), "");
    t->w->actor = the_operator;
    CHECK_OK(call(t->w, "project.update", "{'name':'shop','mirrors':[]}")->error);
    CHECK_STR(uses(t, "claude", "PreToolUse", ".claude/state/workflow.json"), "");
    fixture_free(t);
}

TEST(clients_that_show_nothing_before_a_tool_hear_of_pictures_behind_it)
{
    struct fixture *t = project_new();

    start_in(t, "plan", SHOP);
    uses(t, "codex", "PreToolUse", "src/a.c");
    CHECK_STR(uses(t, "codex", "PreToolUse", ".claude/state/workflow.json"), "");
    CHECK_HAS(uses(t, "codex", "PostToolUse", ".claude/state/workflow.json"), "is a picture of");
    fixture_free(t);
}

TEST(what_a_path_would_show_is_known_by_its_form)
{
    static const struct {
        const char *path;
        enum mirror_kind kind;
        const char *id;
    } cases[] = {
        { ".claude/state/workflow.json", MIRROR_WORKFLOW, "" },
        { ".claude/workflow_state_system.md", MIRROR_MARKDOWN, "" },
        { ".claude/settings.json", MIRROR_KINDS, "" },
        { "workspace/workflow-state/wf.json", MIRROR_STATE, "wf" },
        { "workspace/workflow-state/index.json", MIRROR_STATE, "" },
        { "workspace/workflow-state/a/wf.json", MIRROR_KINDS, "a/wf" },
        { "workspace/sessions/s/workflow-state/wf.json", MIRROR_STATE, "wf" },
        { "workspace/sessions//workflow-state/wf.json", MIRROR_KINDS, "" },
        { "workspace/sessions/wf.json", MIRROR_KINDS, "" },
        { "workspace/logs/workflow-orchestration/wf.log", MIRROR_LOG, "wf" },
        { "workspace/logs/workflow-orchestration/.log", MIRROR_KINDS, "" },
        { "workspace", MIRROR_KINDS, "" },
        { "", MIRROR_KINDS, "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str id;
        if (mirror_kind_of(str_from(cases[i].path), &id) != cases[i].kind)
            check_fail(__FILE__, __LINE__, "%s", cases[i].path);
        CHECK(cases[i].kind == MIRROR_KINDS || str_eq(id, str_from(cases[i].id)));
    }
}
