/* files_test.c: who is on which file: what hooks tell of it, what others hear, and what is listed. */
#include "core/file_touch.h"
#include "hooks_fixture.h"

#define SHOP "/home/ann/shop"
#define ANN "aaaaaaaa-0000-4000-8000-000000000001"
#define BOB "bbbbbbbb-0000-4000-8000-000000000002"
#define ANN_NAME "claude-shop-aaaaaaaa"
#define BOB_NAME "codex-shop-bbbbbbbb"

/* ---- a project and its members ---- */

/* One event of a client that is somewhere. */
static str hook_in(struct fixture *t, const char *client, const char *id, const char *worktree,
                   const char *event, const char *members)
{
    t->w->actor = the_operator;
    struct command *c = call(t->w, "hook.event",
                             "{'client':'%s','host':'here','common_dir':'" SHOP "/.git',"
                             "'worktree':'%s','event':{'session_id':'%s','cwd':'%s',"
                             "'hook_event_name':'%s'%s%s}}",
                             client, worktree, id, worktree, event, *members ? "," : "", members);

    CHECK_OK(c->error);
    str said = json_str(json_get(answer_of(c), "hookSpecificOutput"), "additionalContext");
    CHECK_STR(json_str(json_get(answer_of(c), "hookSpecificOutput"), "permissionDecision"), "");
    world_pass(t->w, 1000);
    return said;
}

/* The same with a tool, in the project's own folder. */
static str uses(struct fixture *t, const char *client, const char *id, const char *event,
                const char *tool, const char *input)
{
    return hook_in(t, client, id, SHOP, event,
                   arena_printf(check_arena(), "'tool_name':'%s','tool_input':%s", tool, input).at);
}

static struct fixture *project_new(void)
{
    struct fixture *t = fixture_new();

    CHECK_OK(call(t->w, "project.create",
                  "{'name':'shop','project_dir':'" SHOP "','host':'here',"
                  "'common_dir':'" SHOP "/.git'}")
                 ->error);
    hook_in(t, "claude", ANN, SHOP, "SessionStart", "'source':'startup'");
    hook_in(t, "codex", BOB, SHOP, "SessionStart", "'source':'startup'");
    hook_in(t, "claude", ANN, SHOP, "UserPromptSubmit", "'prompt':'go'");
    hook_in(t, "codex", BOB, SHOP, "UserPromptSubmit", "'prompt':'go'");
    return t;
}

#define PATCH_A                                                                        \
    "{'command':'*** Begin Patch\\n*** Update File: src/a.c\\n@@\\n context\\n-old\\n" \
    "+new\\n+more\\n*** End Patch'}"
#define EDIT_A "{'file_path':'" SHOP "/src/a.c','old_string':'x\\ny\\n','new_string':'x\\nz\\n'}"
#define READ_A "{'file_path':'" SHOP "/src/a.c'}"

static void bob_writes(struct fixture *t)
{
    CHECK_STR(uses(t, "codex", BOB, "PostToolUse", "apply_patch", PATCH_A), "");
}

static void quiet(str said)
{
    CHECK_STR(said, "");
}

static const struct json *files(struct fixture *t, const char *more)
{
    t->w->actor = the_operator;
    return json_get(answer_of(call(t->w, "file.list", "{'name':'shop'%s}", more)), "files");
}

/* ---- being told ---- */

TEST(who_is_about_to_write_what_another_has_changed_is_told_once)
{
    struct fixture *t = project_new();

    quiet(uses(t, "claude", ANN, "PostToolUse", "Read", READ_A));
    bob_writes(t);
    quiet(hook_in(t, "claude", ANN, SHOP, "UserPromptSubmit", "'prompt':'on'"));
    str said = uses(t, "claude", ANN, "PreToolUse", "Edit", EDIT_A);
    CHECK_STR(said, "Changed by others since you last looked: \"src/a.c\" by `" BOB_NAME
                    "` 2 s ago (+2 -1 lines so far). You came to write there: read it again, and "
                    "make sure that nothing of theirs is lost. `send_message` reaches them.\n");
    quiet(uses(t, "claude", ANN, "PreToolUse", "Edit", EDIT_A));
    quiet(uses(t, "claude", ANN, "PostToolUse", "Edit", EDIT_A));
    quiet(uses(t, "claude", ANN, "PreToolUse", "Write", READ_A));
    /* A further change is told again, and in minutes. */
    CHECK_HAS(uses(t, "codex", BOB, "PostToolUse", "apply_patch", PATCH_A),
              "\"src/a.c\" by `" ANN_NAME "` 2 s ago (+1 -1 lines so far). You have written there "
              "now: make sure that nothing of theirs is lost.");
    world_pass(t->w, 180 * 1000);
    CHECK_HAS(uses(t, "claude", ANN, "PreToolUse", "Edit", EDIT_A),
              "` 3 min ago (+4 -2 lines so far)");
    fixture_free(t);
}

TEST(who_reads_what_another_has_changed_is_told_and_may_write_it)
{
    struct fixture *t = project_new();

    bob_writes(t);
    CHECK_HAS(uses(t, "claude", ANN, "PostToolUse", "Read", READ_A), "They may still be at it.");
    quiet(uses(t, "claude", ANN, "PostToolUse", "Read", READ_A));
    quiet(uses(t, "claude", ANN, "PreToolUse", "Edit", EDIT_A));
    quiet(uses(t, "claude", ANN, "PostToolUse", "Edit", EDIT_A));
    fixture_free(t);
}

TEST(who_is_alone_at_a_file_is_told_nothing)
{
    struct fixture *t = project_new();

    for (int i = 0; i < 3; i++) {
        quiet(uses(t, "claude", ANN, "PreToolUse", "Edit", EDIT_A));
        quiet(uses(t, "claude", ANN, "PostToolUse", "Edit", EDIT_A));
        quiet(uses(t, "claude", ANN, "PostToolUse", "Read", READ_A));
    }
    /* Others read it, or write another one. */
    quiet(uses(t, "codex", BOB, "PostToolUse", "read_file", "{'file_path':'src/b.c'}"));
    quiet(uses(t, "codex", BOB, "PostToolUse", "apply_patch",
               "{'command':'*** Add File: src/a.cc\\n+x'}"));
    quiet(uses(t, "claude", ANN, "PreToolUse", "Edit", EDIT_A));
    fixture_free(t);
}

/* What was told to an agent that its client shows nothing before a tool. */
TEST(clients_that_show_nothing_before_a_tool_are_told_behind_it)
{
    static const struct {
        const char *client, *before, *after, *tool, *input;
    } cases[] = {
        { "codex", "PreToolUse", "PostToolUse", "apply_patch", PATCH_A },
        { "gemini", "BeforeTool", "AfterTool", "replace",
          "{'file_path':'src/a.c','old_string':'x','new_string':'y'}" },
        { "gemini", "BeforeTool", "AfterTool", "write_file",
          "{'file_path':'./src//../src/a.c','content':'y'}" },
        { "gemini", "BeforeTool", "AfterTool", "read_file",
          "{'absolute_path':'" SHOP "/src/a.c'}" },
        { "opencode", "PreToolUse", "PostToolUse", "Edit",
          "{'filePath':'src/a.c','oldString':'x','newString':'y'}" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *t = project_new();
        const char *id = "cccccccc";
        quiet(uses(t, "claude", ANN, "PostToolUse", "Edit", EDIT_A));
        hook_in(t, cases[i].client, id, SHOP, "SessionStart", "");
        quiet(uses(t, cases[i].client, id, cases[i].before, cases[i].tool, cases[i].input));
        CHECK_HAS(uses(t, cases[i].client, id, cases[i].after, cases[i].tool, cases[i].input),
                  "\"src/a.c\" by `" ANN_NAME "`");
        quiet(uses(t, cases[i].client, id, cases[i].after, cases[i].tool, cases[i].input));
        fixture_free(t);
    }
}

/* ---- how much ---- */

TEST(lines_are_counted_from_what_a_client_shows_of_them)
{
    static const struct {
        const char *tool, *members;
        int added, removed;
    } cases[] = {
        { "Write", "'tool_input':{'file_path':'f','content':'a\\nb\\nc'}", 3, 0 },
        { "Write", "'tool_input':{'file_path':'f','content':''}", 0, 0 },
        { "Write",
          "'tool_input':{'file_path':'f','content':'a\\nb\\n'},'tool_response':{'structuredPatch':"
          "[{'lines':[' a','-x','+b']},{'lines':['+c',3,{}]},7]}",
          2, 1 },
        { "Write",
          "'tool_input':{'file_path':'f','content':'a'},'tool_response':{'structuredPatch':[]}", 1,
          0 },
        { "Edit", "'tool_input':{'file_path':'f','old_string':'a\\nb','new_string':'a\\nb'}", 0,
          0 },
        { "Edit",
          "'tool_input':{'file_path':'f','old_string':'a\\nb\\nc\\n','new_string':'a\\nB\\nc\\n'}",
          1, 1 },
        { "Edit", "'tool_input':{'file_path':'f','old_string':'one','new_string':'one two'}", 1,
          1 },
        { "Edit", "'tool_input':{'file_path':'f','old_string':'','new_string':'a\\nb\\n'}", 2, 0 },
        { "Edit", "'tool_input':{'file_path':'f','old_string':7,'new_string':null}", 0, 0 },
        { "MultiEdit",
          "'tool_input':{'file_path':'f','edits':[{'old_string':'a','new_string':'b'},"
          "{'old_string':'c\\nd','new_string':''},3]}",
          1, 3 },
        { "NotebookEdit", "'tool_input':{'notebook_path':'f','new_source':'x\\ny'}", 2, 0 },
        { "replace",
          "'tool_input':{'file_path':'f','old_string':'a','new_string':'b'},'tool_response':"
          "{'returnDisplay':{'diffStat':{'model_added_lines':5,'model_removed_lines':2}}}",
          5, 2 },
        { "replace",
          "'tool_input':{'file_path':'f','old_string':'a','new_string':'b'},'tool_response':"
          "{'returnDisplay':{'diffStat':{'model_added_lines':-5,'model_removed_lines':2}}}",
          1, 1 },
        { "write_file",
          "'tool_input':{'file_path':'f','content':'a'},'tool_response':{'returnDisplay':"
          "{'diffStat':{'model_added_lines':900000000000,'model_removed_lines':0}}}",
          1000000, 0 },
        { "apply_patch",
          "'tool_input':{'command':'+before\\n*** Update File: f\\r\\n@@ -1\\n-a\\n-b\\n+c\\n '}",
          1, 2 },
        { "apply_patch", "'tool_input':{'patchText':'*** Delete File: f'}", 0, 0 },
    };

    struct fixture *t = project_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str id = arena_printf(check_arena(), "c%zu", i);
        str members =
            arena_printf(check_arena(), "'tool_name':'%s',%s", cases[i].tool, cases[i].members);
        hook_in(t, "claude", id.at, SHOP, "SessionStart", "");
        hook_in(t, "claude", id.at, SHOP, "PostToolUse", members.at);
        const struct json *f = json_at(files(t, ""), 0);
        CHECK_STR(json_str(f, "path"), "f");
        const struct json *first = json_at(json_get(f, "members"), 0);
        CHECK_INT(json_int_or(first, "added", -1), cases[i].added);
        CHECK_INT(json_int_or(first, "removed", -1), cases[i].removed);
    }
    fixture_free(t);
}

/* What Gemini CLI 0.61.0 and Codex 0.169.0 send of their own tools. Of a patch that has failed, whatever
 * the reason, Codex sends nothing. */
TEST(file_tools_of_real_clients_are_counted)
{
    str text = check_read(check_source("test/cases/file_hooks.json"));
    const struct json *cases;
    struct fixture *t = project_new();

    CHECK_OK(json_parse(check_arena(), text, NULL, &cases));
    for (uint32_t i = 0; i < cases->len; i++) {
        const struct json *told = &cases->items[i];
        const char *client = arena_copy(check_arena(), json_str(told, "client")).at;
        str id = arena_printf(check_arena(), "r%u", i);
        struct json event = *json_get(told, "event");
        json_put(check_arena(), &event, STR("session_id"), json_string(id));
        hook_in(t, client, id.at, "/shop", "SessionStart", "");
        t->w->actor = the_operator;
        str place = arena_printf(check_arena(),
                                 "{'client':'%s','host':'here','common_dir':'" SHOP
                                 "/.git','worktree':'/shop'}",
                                 client);
        struct command *c = world_command(t->w, "hook.event", place.at, "");
        json_put(check_arena(), (struct json *)c->input, STR("event"), event);
        op_perform(&t->w->engine, &c, 1);
        CHECK_OK(c->error);
        const struct json *f = json_at(files(t, ""), 0), *m = json_at(json_get(f, "members"), 0);
        CHECK(str_eq(json_str(f, "path"), json_str(told, "file")));
        CHECK_INT(json_int_or(m, "added", 0), json_int_or(told, "added", -1));
        CHECK_INT(json_int_or(m, "removed", 0), json_int_or(told, "removed", -1));
        hook_in(t, client, id.at, "/shop", "SessionEnd", "'reason':'other'");
    }
    CHECK_INT(cases->len, 7);
    fixture_free(t);
}

TEST(tool_that_failed_has_written_nothing)
{
    struct fixture *t = project_new();

    hook_in(t, "gemini", "g", SHOP, "AfterTool",
            "'tool_name':'write_file','tool_input':{'file_path':'f','content':'a'},"
            "'tool_response':{'error':{'message':'no'}}");
    hook_in(t, "claude", ANN, SHOP, "PostToolUseFailure",
            "'tool_name':'Write','tool_input':{'file_path':'f','content':'a'}");
    hook_in(t, "claude", ANN, SHOP, "PostToolUse",
            "'tool_name':'Write','tool_input':{'file_path':'f','content':'a'},"
            "'tool_response':{'is_error':true}");
    CHECK_INT(files(t, "")->len, 0);
    fixture_free(t);
}

TEST(patch_of_many_files_tells_of_each_and_of_those_beyond)
{
    struct fixture *t = project_new();
    struct buf patch = buf_in(check_arena());

    for (int i = 0; i < 5000; i++)
        buf_printf(&patch, "*** Update File: d/%04d\\n+x\\n", i);
    str input = arena_printf(check_arena(), "{'command':'%s'}", buf_str(&patch).at);
    quiet(uses(t, "codex", BOB, "PostToolUse", "apply_patch", input.at));
    CHECK_INT(files(t, ",'limit':500")->len, FILE_TOUCHES_AT_ONCE_MAX);
    hook_in(t, "codex", "third", SHOP, "SessionStart", "");
    str said = uses(t, "codex", "third", "PostToolUse", "apply_patch", input.at);
    CHECK_HAS(said, "\"d/0007\" by `" BOB_NAME "`");
    CHECK_HAS(said, "(+1 -0 lines so far) and 56 files more. You have written");
    CHECK(!str_contains(said, STR("d/0008")));
    CHECK(said.len < 2000);
    /* A file that moves is written where it was and where it goes. */
    uses(t, "codex", BOB, "PostToolUse", "apply_patch",
         "{'command':'*** Update File: z1\\n*** Move to: z2\\n+x\\n'}");
    CHECK_STR(json_str(json_at(files(t, ",'limit':500"), 65), "path"), "z2");
    fixture_free(t);
}

/* ---- whose it is ---- */

TEST(working_trees_and_machines_are_apart)
{
    struct fixture *t = project_new();
    const char *tool = "'tool_name':'Edit','tool_input':{'file_path':'src/a.c'}";

    hook_in(t, "claude", "other", "/home/ann/shop-2", "PostToolUse", tool);
    CHECK_STR(json_str(session(t, "claude-other"), "project"), "shop");
    t->w->actor = the_operator;
    struct command *c =
        call(t->w, "hook.event",
             "{'client':'claude','host':'there','project':'shop','common_dir':'" SHOP
             "/.git','worktree':'" SHOP "','event':{'session_id':'far',"
             "'cwd':'" SHOP "','hook_event_name':'PostToolUse',%s}}",
             tool);
    CHECK_OK(c->error);
    CHECK_STR(json_str(session(t, "claude-far"), "project"), "shop");
    quiet(uses(t, "claude", ANN, "PreToolUse", "Edit", EDIT_A));
    quiet(uses(t, "claude", ANN, "PostToolUse", "Edit", EDIT_A));
    CHECK_INT(files(t, "")->len, 3);
    CHECK_STR(json_str(json_at(files(t, ""), 1), "worktree"), "/home/ann/shop");
    CHECK_STR(json_str(json_at(files(t, ""), 0), "worktree"), "/home/ann/shop-2");
    CHECK_STR(json_str(json_at(files(t, ""), 2), "host"), "there");
    CHECK_INT(files(t, ",'shared':true")->len, 0);
    fixture_free(t);
}

TEST(who_is_silent_or_has_ended_is_at_no_file)
{
    struct fixture *t = project_new();

    bob_writes(t);
    hook_in(t, "codex", BOB, SHOP, "SessionEnd", "'reason':'other'");
    quiet(uses(t, "claude", ANN, "PreToolUse", "Edit", EDIT_A));
    CHECK_INT(files(t, "")->len, 0);

    /* It comes back: what it has written counts again. */
    hook_in(t, "codex", BOB, SHOP, "UserPromptSubmit", "'prompt':'on'");
    CHECK_INT(files(t, "")->len, 1);
    for (int i = 0; i < 11; i++) { /* Ann shows signs of life, and Bob does not */
        world_pass(t->w, 60 * 1000);
        hook_in(t, "claude", ANN, SHOP, "UserPromptSubmit", "'prompt':'on'");
    }
    CHECK(json_bool_or(session(t, BOB_NAME), "silent", false));
    quiet(uses(t, "claude", ANN, "PreToolUse", "Edit", EDIT_A));
    CHECK_INT(files(t, "")->len, 0);
    hook_in(t, "codex", BOB, SHOP, "UserPromptSubmit", "'prompt':'on'");
    CHECK_HAS(uses(t, "claude", ANN, "PreToolUse", "Edit", EDIT_A), BOB_NAME);
    fixture_free(t);
}

TEST(sessions_that_are_no_members_of_a_project_are_at_no_file)
{
    struct fixture *t = project_new();

    bob_writes(t);
    t->w->actor = the_operator;
    struct command *c =
        call(t->w, "hook.event",
             "{'client':'claude','host':'here','common_dir':'" SHOP "/.git','worktree':'" SHOP "',"
             "'project':'off','event':{'session_id':'alone','cwd':'" SHOP "',"
             "'hook_event_name':'PreToolUse','tool_name':'Edit','tool_input':" EDIT_A "}}");
    CHECK_STR(c->answer.text, "{}");
    CHECK_INT(files(t, ",'shared':true")->len, 0);
    fixture_free(t);
}

TEST(agent_inside_of_a_client_counts_as_its_session)
{
    struct fixture *t = project_new();

    quiet(hook_in(t, "claude", ANN, SHOP, "PostToolUse",
                  "'agent_id':'inner','tool_name':'Edit','tool_input':" EDIT_A));
    CHECK_HAS(uses(t, "codex", BOB, "PostToolUse", "apply_patch", PATCH_A), ANN_NAME);
    CHECK_HAS(hook_in(t, "claude", ANN, SHOP, "PreToolUse",
                      "'agent_id':'inner','tool_name':'Edit','tool_input':" EDIT_A),
              BOB_NAME);
    quiet(uses(t, "claude", ANN, "PreToolUse", "Edit", EDIT_A));
    fixture_free(t);
}

/* ---- which file it is ---- */

TEST(paths_are_texts_within_the_working_tree)
{
    static const struct {
        const char *path, *kept; /* NULL: it is nobody's */
    } cases[] = {
        { "a.c", "a.c" },
        { "./b/../a.c", "a.c" },
        { SHOP "/./x//y/../a.c", "x/a.c" },
        { "../shop/a.c", "a.c" },
        { "...", "..." },
        { "ö/ü.c", "ö/ü.c" },
        { "", NULL },
        { ".", NULL },
        { "/", NULL },
        { SHOP, NULL },
        { SHOP "/", NULL },
        { SHOP "2/a.c", NULL },
        { "../a.c", NULL },
        { "../../../../../../../../a.c", NULL },
        { "/etc/passwd", NULL },
        { SHOP "/../../etc/passwd", NULL },
        { "a\\u007f.c", NULL },
        { "a\\n.c", NULL },
        { "a\\u001b[31m.c", NULL },
        { "a\\u202e.c", NULL },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *t = project_new();
        str input = arena_printf(check_arena(), "{'file_path':'%s'}", cases[i].path);
        quiet(uses(t, "claude", ANN, "PostToolUse", "Read", input.at));
        const struct json *list = files(t, "");
        CHECK_INT(list->len, cases[i].kept ? 1 : 0);
        if (cases[i].kept)
            CHECK_STR(json_str(json_at(list, 0), "path"), cases[i].kept);
        fixture_free(t);
    }
}

TEST(payloads_of_any_shape_are_no_files)
{
    static const char *const members[] = {
        "'tool_name':'Edit'",
        "'tool_name':'Edit','tool_input':null",
        "'tool_name':'Edit','tool_input':7",
        "'tool_name':'Edit','tool_input':[]",
        "'tool_name':'Edit','tool_input':'f'",
        "'tool_name':'Edit','tool_input':{'file_path':{}}",
        "'tool_name':'Edit','tool_input':{'file_path':['f']}",
        "'tool_name':'Edit','tool_input':{'file_path':true},'tool_response':[[[[[[1]]]]]]",
        "'tool_name':{},'tool_input':{'file_path':'f'}",
        "'tool_name':'MultiEdit','tool_input':{'edits':{}}",
        "'tool_name':'apply_patch','tool_input':{'command':['*** Update File: f']}",
        "'tool_name':'apply_patch','tool_input':{'command':'*** Update File: '}",
        "'tool_name':'apply_patch','tool_input':{'command':' *** Update File: f'}",
        "'tool_name':'apply_patch'",
        "'tool_name':'edit','tool_input':{'file_path':'f'}",
    };

    struct fixture *t = project_new();
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        for (int before = 0; before < 2; before++)
            quiet(
                hook_in(t, "claude", ANN, SHOP, before ? "PreToolUse" : "PostToolUse", members[i]));
    CHECK_INT(files(t, "")->len, 0);
    fixture_free(t);
}

TEST(long_paths_are_not_kept)
{
    struct fixture *t = project_new();
    char name[5001];

    memset(name, 'n', sizeof name - 1);
    for (size_t len = FILE_PATH_MAX - sizeof SHOP + 2; len >= FILE_PATH_MAX - sizeof SHOP; len--) {
        str input = arena_printf(check_arena(), "{'file_path':'%.*s'}", (int)len, name);
        quiet(uses(t, "claude", ANN, "PostToolUse", "Read", input.at));
        CHECK_INT(files(t, "")->len, len <= FILE_PATH_MAX - sizeof SHOP ? 1 : 0);
    }
    name[5000] = '\0';
    str input = arena_printf(check_arena(), "{'file_path':'%s'}", name);
    quiet(uses(t, "claude", ANN, "PostToolUse", "Read", input.at));
    CHECK_INT(files(t, "")->len, 1);
    fixture_free(t);
}

TEST(session_keeps_the_files_that_it_was_at_last)
{
    enum { PATCHES = FILE_TOUCHES_MAX / FILE_TOUCHES_AT_ONCE_MAX + 3 };
    struct fixture *t = project_new();
    size_t listed = 0;
    str after = STR("");

    for (int i = 0; i < PATCHES; i++) {
        struct buf patch = buf_in(check_arena());
        for (int k = 0; k < FILE_TOUCHES_AT_ONCE_MAX; k++)
            buf_printf(&patch, "*** Add File: %02d/%02d\\n", i, k);
        uses(t, "codex", BOB, "PostToolUse", "apply_patch",
             arena_printf(check_arena(), "{'command':'%s'}", buf_str(&patch).at).at);
    }
    do {
        t->w->actor = the_operator;
        const struct json *page =
            answer_of(call(t->w, "file.list", "{'name':'shop','limit':500,'after':'" STR_FMT "'}",
                           STR_ARG(after)));
        if (!after.len) /* the first patches are gone */
            CHECK(str_compare(json_str(json_at(json_get(page, "files"), 0), "path"), STR("02/00")) >
                  0);
        listed += json_get(page, "files")->len;
        after = json_str(page, "next");
    } while (after.len);
    CHECK_INT(listed, FILE_TOUCHES_MAX);
    fixture_free(t);
}

/* ---- listing ---- */

TEST(list_says_who_is_at_which_file)
{
    struct fixture *t = project_new();

    uses(t, "claude", ANN, "PostToolUse", "Read", READ_A);
    uses(t, "codex", BOB, "PostToolUse", "Read", READ_A);
    uses(t, "claude", ANN, "PostToolUse", "Read", "{'file_path':'b.c'}");
    CHECK_INT(files(t, "")->len, 2);
    CHECK_INT(files(t, ",'shared':true")->len, 0); /* two readers are in nobody's way */
    bob_writes(t);
    const struct json *shared = files(t, ",'shared':true");
    CHECK_INT(shared->len, 1);
    const struct json *f = json_at(shared, 0);
    CHECK_STR(json_str(f, "path"), "src/a.c");
    CHECK_STR(json_str(f, "worktree"), SHOP);
    CHECK_STR(json_str(f, "host"), "here");
    CHECK_INT(json_get(f, "members")->len, 2);
    CHECK_STR(json_shown(check_arena(), json_get(f, "names")), "['" BOB_NAME "','" ANN_NAME "']");
    const struct json *bob = json_at(json_get(f, "members"), 0);
    CHECK_STR(json_str(f, "changed_at"), arena_copy(check_arena(), json_str(bob, "wrote_at")).at);
    CHECK_STR(json_str(bob, "session_name"), BOB_NAME);
    CHECK(json_str(bob, "wrote_at").len > 0);
    CHECK_INT(json_int_or(bob, "added", 0), 2);
    CHECK(json_is(json_get(json_at(json_get(f, "members"), 1), "wrote_at"), JSON_NULL));
    /* Page by page. */
    struct command *c = call(t->w, "file.list", "{'name':'shop','limit':1}");
    CHECK_STR(at(c, "/files/0/path"), "b.c");
    c = call(t->w, "file.list", "{'name':'shop','limit':1,'after':'" STR_FMT "'}",
             STR_ARG(at(c, "/next")));
    CHECK_STR(at(c, "/files/0/path"), "src/a.c");
    CHECK(!json_get(answer_of(c), "next"));
    fixture_free(t);
}

TEST(session_lists_the_files_of_its_own_project)
{
    struct fixture *t = project_new();

    bob_writes(t);
    CHECK_OK(call(t->w, "project.create", "{'name':'other','project_dir':'/o'}")->error);
    CHECK_OK(call(t->w, "session.create",
                  "{'session_name':'child','parent_session_name':'" ANN_NAME "'}")
                 ->error);
    CHECK_OK(call(t->w, "session.create", "{'session_name':'stranger'}")->error);
    as_session(t, ANN_NAME);
    CHECK_INT(json_get(answer(t->w, "file.list", "{'name':'shop'}"), "files")->len, 1);
    CHECK(refused(t->w, "file.list", "{'name':'other'}")->kind == ERR_NOT_FOUND);
    as_session(t, "child");
    CHECK_INT(json_get(answer(t->w, "file.list", "{'name':'shop'}"), "files")->len, 1);
    as_session(t, "stranger");
    CHECK(refused(t->w, "file.list", "{'name':'shop'}")->kind == ERR_NOT_FOUND);
    t->w->actor = the_operator;
    CHECK(refused(t->w, "file.list", "{'name':'none'}")->kind == ERR_NOT_FOUND);
    t->w->actor = (struct actor){ .kind = ACTOR_VIEWER, .name = STR("v"), .state_id = STR("x") };
    CHECK(refused(t->w, "file.list", "{'name':'shop'}")->kind == ERR_NOT_FOUND);
    fixture_free(t);
}

/* ---- going ---- */

static int64_t kept(struct fixture *t)
{
    const struct row *row;
    struct store_node node;

    CHECK_OK(store_begin(t->w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_one(t->w->engine.sql, &row, "SELECT count(*) FROM file_touch", NO_ARGS));
    int64_t count = row_int(row, 0);
    store_rollback(t->w->engine.sql);
    return count;
}

TEST(what_was_kept_of_files_goes_with_the_session_and_with_the_project)
{
    struct fixture *t = project_new();

    bob_writes(t);
    uses(t, "claude", ANN, "PostToolUse", "Read", READ_A);
    CHECK_INT(kept(t), 2);
    hook_in(t, "codex", BOB, SHOP, "SessionEnd", "'reason':'other'");
    CHECK_INT(kept(t), 2);
    CHECK_OK(call(t->w, "session.delete", "{'session_id':'" BOB_NAME "'}")->error);
    CHECK_INT(kept(t), 1);
    CHECK_OK(call(t->w, "project.delete", "{'name':'shop'}")->error);
    CHECK_INT(kept(t), 0);
    quiet(uses(t, "claude", ANN, "PreToolUse", "Edit", EDIT_A));
    fixture_free(t);
}
