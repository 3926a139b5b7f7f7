/* agent_test.c: agents and profiles as operations see them, and agents that are written in files. */
#include <stdio.h>
#include <sys/stat.h>

#include "client/agent_file.h"
#include "core/agent.h"
#include "core/profile_data.h"
#include "sim/both.h"
#include "calls.h"

static struct world *world_new(void)
{
    static int worlds;
    struct world *w;

    CHECK_OK(world_open(arena_printf(check_arena(), "agents%d.db", ++worlds).at, NULL, &w));
    return w;
}

/* A list of entries as "name:source name:source". */
static str names(const struct json *list)
{
    struct buf out = buf_in(check_arena());

    for (uint32_t i = 0; i < list->len; i++)
        buf_printf(&out, "%s" STR_FMT ":" STR_FMT, i ? " " : "",
                   STR_ARG(json_str(&list->items[i], "name")),
                   STR_ARG(json_str(&list->items[i], "source")));
    return buf_str(&out);
}

/* ---- agents ---- */

TEST_BOTH(an_agent_is_registered_changed_and_deleted)
{
    struct world *w = world_new();
    const struct json *a = answer(
        w, "agent.create",
        "{'name':'reviewer','description':'Reads changes','profile':'codex','tools':['Read']}");

    CHECK_STR(json_str(a, "source"), "api");
    CHECK_STR(json_str(answer(w, "agent.get", "{'name':'reviewer'}"), "profile"), "codex");
    a = answer(w, "agent.update",
               "{'name':'reviewer','merge':{'profile':null,'model':'large','tags':['qa']}}");
    CHECK(!json_get(a, "profile"));
    CHECK_STR(json_str(a, "model"), "large");
    CHECK_STR(json_str(a, "description"), "Reads changes");

    a = answer(w, "agent.list", "{}");
    CHECK_STR(names(json_get(a, "agents")), "reviewer:api");
    CHECK(!json_get(json_at(json_get(a, "agents"), 0), "tools"));
    answer(w, "agent.delete", "{'name':'reviewer'}");
    CHECK_ERR(refused(w, "agent.get", "{'name':'reviewer'}"), ERR_NOT_FOUND);
    CHECK_ERR(refused(w, "agent.delete", "{'name':'reviewer'}"), ERR_NOT_FOUND);
    world_close(w);
}

TEST_BOTH(every_change_of_an_agent_is_an_event_and_none_is_none)
{
    struct world *w = world_new();
    struct command *c = world_call(w, "agent.create", "{'name':'coder'}", "");

    CHECK_OK(c->error);
    CHECK_STR(str_from(event_name(c->events->type)), "agent_updated");
    CHECK_STR(c->events->subject, "coder");
    CHECK(!c->events->next);
    c = world_call(w, "agent.update", "{'name':'coder','merge':{}}", "");
    CHECK_OK(c->error);
    CHECK(!c->events);
    c = world_call(w, "agent.delete", "{'name':'coder'}", "");
    CHECK_STR(c->events->data, "{\"name\":\"coder\",\"source\":\"api\",\"deleted\":true}");
    world_close(w);
}

TEST_BOTH(a_name_is_taken_once)
{
    struct world *w = world_new();

    answer(w, "agent.create", "{'name':'coder'}");
    err e = refused(w, "agent.create", "{'name':'coder','description':'Another'}");
    CHECK_ERR(e, ERR_CONFLICT);
    CHECK_HAS(e->message, "agent.update");
    world_close(w);
}

/* What does not fit is told with the place, and what to do. */
static const struct {
    const char *op, *input, *pointer, *part;
} unfit[] = {
    { "agent.create", "{'name':'a b'}", "/name", "a b" },
    { "agent.create", "{'name':'coder','profile':'codx'}", "/profile", "did you mean \"codex\"?" },
    { "agent.create", "{'name':'coder','model':'--danger'}", "/model", "" },
    { "agent.create", "{'name':'coder','profile':'kiro','permissions':'read'}", "/permissions",
      "profile \"kiro\" has no option for \"read\"" },
    { "agent.create", "{'name':'coder','args':[]}", "/args", "" },
    { "agent.create", "{'name':'coder','started_by':['a b']}", "/started_by/0", "a b" },
    { "agent.create", "{'name':'coder','mcp_servers':{'x':1}}", "/mcp_servers/x", "object" },
    { "profile.create", "{'name':'p','start':['x','{modle}']}", "/start/1",
      "{modle} stands for nothing here; there are {prompt}" },
    { "profile.create", "{'name':'p','start':['x','--model={model}']}", "/start/1",
      "write \"--model\", \"{model}\"" },
    { "profile.create", "{'name':'p','start':['sh','-c','agent {prompt} </dev/null']}", "/start/2",
      "make it an element of its own" },
    { "profile.create", "{'name':'p','start':['x'],'resume':['x','-r {client_id}']}", "/resume/1",
      "write \"-r\", \"{client_id}\"" },
    { "profile.create",
      "{'name':'p','start':['x'],'options':[{'if':'model','args':['-m','{args}']}]}",
      "/options/0/args/1", "{args} stands for nothing here" },
    { "profile.create",
      "{'name':'p','start':['x'],'options':[{'if':'read','env':{'FILE':'at {mcp_file}'}}]}",
      "/options/0/env/FILE", "a variable can be nothing but it" },
    { "profile.create", "{'name':'p','start':['x'],'options':[{'if':'read'}]}", "/options/0", "" },
    { "profile.create", "{'name':'p','start':['x'],'env':{'FILE':'at {mcp_file}'}}", "/env/FILE",
      "a variable can be nothing but it" },
    { "profile.create", "{'name':'p','start':[]}", "/start", "" },
    { "profile.create", "{'name':'p','start':['x'],'client_id':'guess'}", "/client_id", "uuid" },
    { "profile.create", "{'name':'p','start':['x'],'output':{'format':'xml'}}", "/output/format",
      "jsonl" },
};

TEST_BOTH(what_an_entry_must_not_be_is_told_with_its_place)
{
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++) {
        err e = refused(w, unfit[i].op, unfit[i].input);
        CHECK_ERR(e, ERR_UNFIT);
        CHECK_HAS(e->members,
                  arena_printf(check_arena(), "\"pointer\":\"%s\"", unfit[i].pointer).at);
        CHECK_HAS(e->message, unfit[i].part);
    }
    world_close(w);
}

/* Braces that are somebody else's are left alone. */
TEST_BOTH(what_only_looks_like_a_word_stands_for_itself)
{
    struct world *w = world_new();

    answer(w, "profile.create",
           "{'name':'p','start':['sh','-c','echo ${model} {} {Model} a{b}','{options}','{prompt}'],"
           "'env':{'A':'${BATON_URL}/mcp','B':'{mcp_file}'}}");
    world_close(w);
}

/* What is stored can be read again, though requests may nest a little deeper. */
TEST_BOTH(an_agent_that_is_too_deep_is_refused)
{
    struct world *w = world_new();
    struct buf text = buf_in(check_arena());
    struct command *c = world_command(w, "agent.create", "{}", "");

    buf_add(&text, STR("{\"name\":\"deep\",\"mcp_servers\":{\"x\":{\"y\":"));
    for (int i = 0; i < 2 * 63; i++)
        buf_byte(&text, i < 63 ? '[' : ']');
    buf_add(&text, STR("}}}"));
    CHECK_OK(json_parse(check_arena(), buf_str(&text),
                        &(struct json_limits){ .depth_max = JSON_DEPTH_MAX + 4 }, &c->input));
    op_perform(&w->engine, &c, 1);
    CHECK_ERR(c->error, ERR_INVALID);
    world_close(w);
}

TEST_BOTH(an_entry_keeps_its_name)
{
    struct world *w = world_new();

    answer(w, "agent.create", "{'name':'coder'}");
    err e = refused(w, "agent.update", "{'name':'coder','merge':{'name':'writer'}}");
    CHECK_ERR(e, ERR_UNFIT);
    CHECK_HAS(e->members, "\"pointer\":\"/name\"");
    answer(w, "agent.update", "{'name':'coder','merge':{'name':null,'model':'m'}}");
    CHECK_STR(json_str(answer(w, "agent.get", "{'name':'coder'}"), "name"), "coder");
    world_close(w);
}

/* ---- profiles ---- */

TEST_BOTH(what_comes_with_the_program_is_what_a_profile_must_be)
{
    struct world *w = world_new();
    size_t count = 0;

    for (struct profile_built_in p; (p = profile_built_in(count)).name; count++) {
        const struct json *text = json_parsed(check_arena(), p.text);
        CHECK_STR(json_str(text, "name"), p.name);
        struct command *c = world_command(w, "profile.create", "{}", "");
        c->input = text;
        op_perform(&w->engine, &c, 1);
        CHECK_OK(c->error);
    }
    CHECK(count >= 8);
    world_close(w);
}

TEST_BOTH(a_stored_profile_stands_before_the_one_that_is_built_in)
{
    struct world *w = world_new();
    const struct json *p = answer(w, "profile.get", "{'name':'claude'}");

    CHECK_STR(json_str(p, "source"), "built in");
    CHECK(json_is(json_get(p, "created_at"), JSON_NULL));
    err e = refused(w, "profile.delete", "{'name':'claude'}");
    CHECK_ERR(e, ERR_NOT_FOUND);
    CHECK_HAS(e->message, "comes with the program");

    p = answer(w, "profile.update", "{'name':'claude','merge':{'env':{'TERM':'dumb'}}}");
    CHECK_STR(json_str(p, "source"), "api");
    CHECK_STR(json_str(json_get(p, "env"), "NO_COLOR"), "1");
    CHECK_STR(json_str(json_get(p, "env"), "TERM"), "dumb");
    answer(w, "profile.delete", "{'name':'claude'}");
    CHECK_STR(json_str(answer(w, "profile.get", "{'name':'claude'}"), "source"), "built in");
    world_close(w);
}

TEST_BOTH(profiles_are_listed_by_name_wherever_they_come_from)
{
    struct world *w = world_new();
    const char *all = "aider:built in also-mine:api claude:api codex:built in gemini:built in "
                      "kiro:built in opencode:built in scripted:built in shell:built in zed:api";
    struct buf paged = buf_in(check_arena());
    str after = STR("");

    answer(w, "profile.create", "{'name':'zed','start':['zed']}");
    answer(w, "profile.create", "{'name':'also-mine','start':['x']}");
    answer(w, "profile.create", "{'name':'claude','start':['my-claude']}");
    CHECK_STR(names(json_get(answer(w, "profile.list", "{}"), "profiles")), all);
    for (bool more = true; more;) {
        const struct json *page = answer(
            w, "profile.list",
            arena_printf(check_arena(), "{'limit':3,'after':'" STR_FMT "'}", STR_ARG(after)).at);
        buf_printf(&paged, "%s" STR_FMT, after.len ? " " : "",
                   STR_ARG(names(json_get(page, "profiles"))));
        after = json_str(page, "next");
        more = after.len > 0;
    }
    CHECK_STR(buf_str(&paged), all);
    world_close(w);
}

TEST_BOTH(who_asks_for_one_that_is_not_there_is_told_what_there_is)
{
    struct world *w = world_new();

    err e = refused(w, "agent.get", "{'name':'coder'}");
    CHECK_STR(e->message, "there is no agent \"coder\": none is registered yet");
    answer(w, "agent.create", "{'name':'reviewer'}");
    e = refused(w, "agent.get", "{'name':'coder'}");
    CHECK_STR(e->message, "there is no agent \"coder\"; there are: reviewer");
    e = refused(w, "agent.get", "{'name':'revewer'}");
    CHECK_STR(e->message,
              "there is no agent \"revewer\"; did you mean \"reviewer\"? There are: reviewer");
    world_close(w);
}

/* ---- whose profile ---- */

static str profile_of(struct world *w, const char *name, const char *input)
{
    const struct json *run =
        answer(w, "run.create",
               arena_printf(check_arena(),
                            "{'type':'start_session','session_name':'%s','prompt':'go'%s}", name,
                            input)
                   .at);

    return json_str(run, "profile");
}

TEST_BOTH(a_session_has_the_profile_of_its_agent_else_the_one_asked_for_else_claude)
{
    struct world *w = world_new();

    answer(w, "agent.create", "{'name':'set','profile':'codex'}");
    answer(w, "agent.create", "{'name':'free'}");
    CHECK_STR(profile_of(w, "a", ""), "claude");
    CHECK_STR(profile_of(w, "b", ",'demands':{'profile':'gemini'}"), "gemini");
    CHECK_STR(profile_of(w, "c", ",'agent_name':'free'"), "claude");
    CHECK_STR(profile_of(w, "d", ",'agent_name':'free','demands':{'profile':'gemini'}"), "gemini");
    CHECK_STR(profile_of(w, "e", ",'agent_name':'set','demands':{'profile':'gemini'}"), "codex");
    CHECK_ERR(
        refused(w, "run.create",
                "{'type':'start_session','session_name':'x','prompt':'go','agent_name':'no'}"),
        ERR_NOT_FOUND);
    CHECK_ERR(refused(w, "run.create",
                      "{'type':'start_session','session_name':'x','prompt':'go',"
                      "'demands':{'profile':'no'}}"),
              ERR_NOT_FOUND);
    world_close(w);
}

/* ---- files of the server's directory ---- */

static const struct json *load(struct world *w, const char *op, const char *entries)
{
    struct actor before = w->actor;

    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    const struct json *a = answer(w, op, entries);
    w->actor = before;
    return a;
}

TEST_BOTH(agents_of_files_come_and_go_with_them)
{
    struct world *w = world_new();
    const struct json *a = load(w, "agent.load", "{'entries':[{'name':'a'},{'name':'b'}]}");

    CHECK_INT(json_int_or(a, "kept", 0), 2);
    CHECK_STR(names(json_get(answer(w, "agent.list", "{}"), "agents")), "a:file b:file");
    a = load(w, "agent.load", "{'entries':[{'name':'b','model':'m'},{'name':'c'}]}");
    CHECK_INT(json_int_or(a, "dropped", 0), 1);
    CHECK_STR(names(json_get(answer(w, "agent.list", "{}"), "agents")), "b:file c:file");
    CHECK_STR(json_str(answer(w, "agent.get", "{'name':'b'}"), "model"), "m");
    world_close(w);
}

TEST_BOTH(files_that_did_not_change_change_nothing)
{
    struct world *w = world_new();
    const char *entries = "{'entries':[{'name':'a','model':'m'}]}";

    load(w, "agent.load", entries);
    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    CHECK(!world_call(w, "agent.load", entries, "")->events);
    world_close(w);
}

TEST_BOTH(a_bad_file_does_not_keep_the_others_out_nor_take_away_what_it_said_before)
{
    struct world *w = world_new();

    load(w, "agent.load", "{'entries':[{'name':'a','model':'m'}]}");
    const struct json *a =
        load(w, "agent.load", "{'entries':[{'name':'a','model':7},{'name':'b'}]}");
    const struct json *why = json_at(json_get(a, "refused"), 0);
    CHECK_STR(json_str(why, "name"), "a");
    CHECK_HAS(json_str(why, "error"), "/model");
    CHECK_STR(names(json_get(answer(w, "agent.list", "{}"), "agents")), "a:file b:file");
    CHECK_STR(json_str(answer(w, "agent.get", "{'name':'a'}"), "model"), "m");
    world_close(w);
}

TEST_BOTH(what_was_registered_over_the_api_stands_before_a_file)
{
    struct world *w = world_new();

    load(w, "profile.load", "{'entries':[{'name':'p','start':['file']}]}");
    answer(w, "profile.update", "{'name':'p','merge':{'start':['api']}}");
    const struct json *a = load(w, "profile.load", "{'entries':[{'name':'p','start':['file']}]}");
    CHECK_HAS(json_str(json_at(json_get(a, "refused"), 0), "error"), "registered over the API");
    CHECK_STR(json_text(json_at(json_get(answer(w, "profile.get", "{'name':'p'}"), "start"), 0)),
              "api");
    load(w, "profile.load", "{'entries':[]}");
    CHECK_STR(json_str(answer(w, "profile.get", "{'name':'p'}"), "source"), "api");
    world_close(w);
}

TEST_BOTH(only_the_operator_says_how_agents_are_started)
{
    struct world *w = world_new();
    static const enum actor_kind kinds[] = { ACTOR_SESSION, ACTOR_RUNNER, ACTOR_VIEWER };
    static const char *const writes[] = { "agent.create",   "agent.update",   "agent.delete",
                                          "profile.create", "profile.update", "profile.delete",
                                          "agent.load",     "profile.load" };

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
            w->actor = (struct actor){ .kind = kinds[k], .name = STR("x"), .session_id = STR("s") };
            CHECK_ERR(refused(w, writes[i], "{'name':'x','start':['x'],'merge':{},'entries':[]}"),
                      ERR_FORBIDDEN);
        }
    answer(w, "agent.list", "{}");
    world_close(w);
}

/* ---- files of a project ---- */

/* JSON with single quotes on the right, or what is complained of. */
static const struct {
    const char *text, *agent, *error;
} files[] = {
    { "---\nname: reviewer\ndescription: Reads changes\ntools: Read, Grep\nmodel: opus\n---\nYou "
      "review.\n\nBe kind.\n",
      "{'name':'reviewer','description':'Reads changes','tools':['Read','Grep'],'model':'opus',"
      "'profile':'claude','system_prompt':'You review.\\n\\nBe kind.'}",
      NULL },
    { "---\ndescription: no name\n---\n",
      "{'description':'no name','name':'stem','profile':'claude'}", NULL },
    { "\xef\xbb\xbf---\r\nname: a\r\nprofile: codex\r\n---\r\nHello\r\n",
      "{'name':'a','profile':'codex','system_prompt':'Hello'}", NULL },
    { "---\nname: a # the first\n# nothing\n\ndescription: uses C#, and issue#1\n---",
      "{'name':'a','description':'uses C#, and issue#1','profile':'claude'}", NULL },
    { "---\nname: a\ndescription: Use it when: a thing breaks: then\n---\n",
      "{'name':'a','description':'Use it when: a thing breaks: then','profile':'claude'}", NULL },
    { "---\nname: a\ntools: Bash(git add:*, git commit:*), Read\n---\n",
      "{'name':'a','tools':['Bash(git add:*, git commit:*)','Read'],'profile':'claude'}", NULL },
    { "---\nname: a\ntools:\n  - Read\n  - 'Bash(x, y)'  # two\n- Grep\ntags: [x, \"y, z\", w]\n"
      "---\n",
      "{'name':'a','tools':['Read','Bash(x, y)','Grep'],'tags':['x','y, z','w'],'profile':"
      "'claude'}",
      NULL },
    { "---\nname: a\ndescription: |\n  one\n    two\n\n  three\ncolor: red\n---\n",
      "{'name':'a','description':'one\\n  two\\n\\nthree','profile':'claude'}", NULL },
    { "---\nname: a\ndescription: >-\n  one\n  two\n\n  three\n---\n",
      "{'name':'a','description':'one two\\nthree','profile':'claude'}", NULL },
    { "---\nname: a\ndescription: one\n  two\n  three\n---\n",
      "{'name':'a','description':'one two three','profile':'claude'}", NULL },
    { "---\nname: a\ndescription: \"a\\tb \\\\ # c\" # d\n---\n",
      "{'name':'a','description':'a\\tb \\\\ # c','profile':'claude'}", NULL },
    { "---\nname: a\nhooks:\n  Stop:\n    - matcher: x\nmodel: inherit\ntools:\n---\nB\n---\nC\n",
      "{'name':'a','profile':'claude','system_prompt':'B\\n---\\nC'}", NULL },
    { "You review.\n", NULL, "line 1: expected ---" },
    { "", NULL, "line 1: expected ---" },
    { "---\nname: a\n", NULL, "line 2: expected --- at the end" },
    { "---\nname: a\njust words\n---\n", NULL, "line 3: expected `key: value`" },
    { "---\nname: a\n  stray\nx: 1\n  - y\n: z\nname:\"b\"\n---\n", NULL,
      "line 7: expected `key:" },
    { "---\nname: a\nname: b\n---\n", NULL, "line 3: 'name' is there twice" },
    { "---\nname: [a, b]\n---\n", NULL, "line 2: expected a text for 'name', found a list" },
    { "---\nname: \"a\n---\n", NULL, "line 2: expected a closing quote" },
    { "---\nname: 'a' b\n---\n", NULL, "line 2: expected nothing behind the closing quote" },
    { "---\nname: \"\\q\"\n---\n", NULL, "line 2: expected one of \\n" },
    { "---\ntools: [a, b\n---\n", NULL, "line 2: expected a list [a, b] to end" },
    { "---\ntools: [a] b\n---\n", NULL, "line 2: expected nothing behind the ]" },
    { "---\nname: {a: b}\n---\n", NULL, "line 2: expected a text or a list" },
    { "---\nname: \xff\n---\n", NULL, "expected text in UTF-8" },
};

TEST(a_file_is_an_agent_or_the_line_is_told_where_it_is_none)
{
    struct arena *a = check_arena();

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct json found;
        err e = agent_file_parse(a, str_from(files[i].text), STR("stem"), &found);
        str shown = e ? e->message : json_shown(a, &found);
        bool good = files[i].agent ? !e && str_eq(shown, str_from(files[i].agent))
                                   : e && e->kind == ERR_INVALID &&
                                         str_contains(shown, str_from(files[i].error));
        if (!good)
            check_fail(__FILE__, __LINE__, "expected %s, found " STR_FMT " for:\n%s",
                       files[i].agent ? files[i].agent : files[i].error, STR_ARG(shown),
                       files[i].text);
    }
}

TEST(the_agents_of_a_folder_are_its_files_by_name_and_each_bad_one_is_told)
{
    struct arena *a = check_arena();
    const struct agent_file *all;
    size_t count;

    CHECK_OK(agent_folder_read(a, ".claude/agents", &all, &count));
    CHECK_INT(count, 0);
    CHECK(mkdir(".claude", 0700) == 0 && mkdir(".claude/agents", 0700) == 0);
    check_write(".claude/agents/z.md", STR("---\nname: first\n---\nHello\n"));
    check_write(".claude/agents/b.json", STR("{\"model\":\"m\"}"));
    check_write(".claude/agents/bad.md", STR("nothing"));
    check_write(".claude/agents/.hidden.md", STR("nothing"));
    check_write(".claude/agents/notes.txt", STR("nothing"));
    CHECK_OK(agent_folder_read(a, ".claude/agents", &all, &count));
    CHECK_INT(count, 3);
    CHECK_STR(json_shown(a, &all[0].agent), "{'model':'m','name':'b'}");
    CHECK_STR(all[1].error->message,
              ".claude/agents/bad.md: line 1: expected --- and the agent's name and description "
              "below it");
    CHECK_STR(json_str(&all[2].agent, "name"), "first");
    CHECK_STR(json_str(&all[2].agent, "system_prompt"), "Hello");
}
