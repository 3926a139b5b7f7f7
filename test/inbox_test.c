/* inbox_test.c: all that waits for a person, as one list. */
#include "hooks_fixture.h"
#include "sim/both.h"

/* One thing of each kind waits: a step, an execution that stands still, and an agent. */
static struct fixture *fixture_that_waits(void)
{
    struct fixture *t = fixture_new();

    CHECK_OK(call(t->w, "workflow.deploy",
                  "{'definition':{'workflow':'judge','steps':[{'id':'plan','title':'Plan it',"
                  "'approval':{'deadline':'1h','default':'approve'}}]}}")
                 ->error);
    CHECK_OK(call(t->w, "workflow.deploy",
                  "{'definition':{'workflow':'stuck','steps':[{'id':'each','for_each':'=list'}]}}")
                 ->error);
    CHECK_OK(
        call(t->w, "agent.create", "{'name':'careful','profile':'claude','ask':['Bash']}")->error);
    CHECK_OK(call(t->w, "run.create",
                  "{'type':'start_session','session_name':'solo','prompt':'go','agent_name':"
                  "'careful'}")
                 ->error);
    begin(t, "solo");
    as_session(t, "solo");
    hook(t, "claude", "own", "PreToolUse",
         "'tool_name':'Bash','tool_input':{'command':'git push'},'tool_use_id':'t1'");
    t->w->actor = the_operator;
    str id = at(call(t->w, "execution.start", "{'workflow':'judge'}"), "/execution_id");
    CHECK_OK(
        call(t->w, "execution.report", "{'execution_id':'" STR_FMT "','step':'plan'}", STR_ARG(id))
            ->error);
    CHECK_OK(call(t->w, "execution.start", "{'workflow':'stuck'}")->error);
    return t;
}

/* The entry of a kind. */
static str of_kind(struct fixture *t, const char *kind, const char *pointer)
{
    return at(call(t->w, "inbox.list", "{'kind':'%s'}", kind),
              arena_printf(check_arena(), "/entries/0%s", pointer).at);
}

static struct command *decide(struct fixture *t, str id, const char *decision, const char *more)
{
    return call(t->w, "inbox.decide", "{'id':'" STR_FMT "','decision':'%s'%s%s}", STR_ARG(id),
                decision, *more ? "," : "", more);
}

TEST_BOTH(inbox_has_all_that_waits_whatever_it_is)
{
    static const char *const kinds[] = { "approval", "incident", "permission" };
    struct fixture *t = fixture_that_waits();
    struct command *c = call(t->w, "inbox.list", "{}");

    CHECK_INT(json_get(answer_of(c), "entries")->len, 3);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        CHECK_STR(at(c, arena_printf(check_arena(), "/entries/%zu/kind", i).at), kinds[i]);

    CHECK_STR(of_kind(t, "approval", "/title"), "approve Plan it");
    CHECK_STR(of_kind(t, "approval", "/why"),
              "step plan of judge is done, and what comes after it waits for you");
    CHECK_STR(of_kind(t, "approval", "/if_nobody"), "it counts as approved");
    CHECK_HAS(of_kind(t, "approval", "/content"), "{\"content\":{\"step\":\"plan\",");
    CHECK_STR(of_kind(t, "approval", "/who/step"), "plan");
    CHECK(of_kind(t, "approval", "/until").len > 4);
    CHECK_STR(of_kind(t, "approval", "/decisions/2/decision"), "rework");
    CHECK(str_eq(of_kind(t, "approval", "/decisions/0/command"),
                 arena_printf(check_arena(), "baton inbox approve " STR_FMT,
                              STR_ARG(of_kind(t, "approval", "/id")))));

    CHECK_STR(of_kind(t, "incident", "/title"), "each of stuck stands still");
    CHECK_HAS(of_kind(t, "incident", "/why"), "for_each of each expected a list");
    CHECK_STR(of_kind(t, "incident", "/until"), "null");
    CHECK_STR(of_kind(t, "incident", "/content/kind"), "items");

    CHECK_STR(of_kind(t, "permission", "/title"), "solo wants to use Bash");
    CHECK_STR(of_kind(t, "permission", "/content"),
              "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git push\"}}");
    CHECK_STR(of_kind(t, "permission", "/who/session_name"), "solo");
    fixture_free(t);
}

TEST_BOTH(inbox_is_read_page_by_page_over_all_kinds)
{
    struct fixture *t = fixture_that_waits();
    const struct json *whole = json_get(answer_of(call(t->w, "inbox.list", "{}")), "entries");
    str after = STR("");

    for (uint32_t i = 0; i < whole->len; i++) {
        struct command *c =
            call(t->w, "inbox.list", "{'limit':1,'after':'" STR_FMT "'}", STR_ARG(after));
        CHECK(str_eq(at(c, "/entries/0/id"), json_str(&whole->items[i], "id")));
        after = json_str(answer_of(c), "next");
        CHECK((after.len > 0) == (i + 1 < whole->len));
    }
    fixture_free(t);
}

TEST_BOTH(inbox_decides_whatever_waits)
{
    struct fixture *t = fixture_that_waits();
    str approval = of_kind(t, "approval", "/id"), incident = of_kind(t, "incident", "/id"),
        permission = of_kind(t, "permission", "/id");

    CHECK_HAS(decide(t, incident, "approve", "")->error->message,
              "expected a decision on this incident, one of: retry, found \"approve\"");
    CHECK_HAS(decide(t, approval, "approve", "'variables':{'a':1}")->error->message,
              "\"variables\" is not of the kind approval");
    CHECK_ERR(decide(t, permission, "rework", "")->error, ERR_INVALID);
    CHECK_ERR(decide(t, STR("wfstate_1"), "approve", "")->error, ERR_NOT_FOUND);
    CHECK_ERR(call(t->w, "inbox.get", "{'id':'apr_none'}")->error, ERR_NOT_FOUND);
    CHECK_ERR(call(t->w, "inbox.get", "{'id':'prm_none'}")->error, ERR_NOT_FOUND);

    struct command *c = decide(t, approval, "approve", "'channel':'page'");
    CHECK_STR(at(c, "/status"), "approved");
    CHECK_STR(at(c, "/waits"), "false");
    CHECK_STR(at(c, "/decisions"), "[]");
    c = decide(t, incident, "resolve", "'variables':{'list':[]}");
    CHECK_STR(at(c, "/status"), "resolved");
    c = decide(t, permission, "allow", "'reason':'go on'");
    CHECK_STR(at(c, "/status"), "allowed");
    CHECK_STR(at(call(t->w, "inbox.list", "{}"), "/entries"), "[]");
    CHECK_STR(at(call(t->w, "inbox.get", "{'id':'" STR_FMT "'}", STR_ARG(permission)), "/status"),
              "allowed");
    CHECK_STR(at(call(t->w, "approval.get", "{'approval_id':'" STR_FMT "'}", STR_ARG(approval)),
                 "/channel"),
              "page");
    CHECK_STR(at(call(t->w, "execution.list", "{'status':'COMPLETED'}"), "/executions/1/status"),
              "COMPLETED");
    fixture_free(t);
}

TEST_BOTH(inbox_is_the_operators)
{
    struct fixture *t = fixture_that_waits();
    str approval = of_kind(t, "approval", "/id");

    as_session(t, "solo");
    CHECK_ERR(call(t->w, "inbox.list", "{}")->error, ERR_FORBIDDEN);
    CHECK_ERR(decide(t, approval, "approve", "")->error, ERR_FORBIDDEN);
    fixture_free(t);
}
