/* session_event_test.c: what sessions tell of themselves, and who waits for their end. */
#include "session_help.h"

/* ---- what sessions tell ---- */

TEST(an_attended_session_works_while_it_tells_something)
{
    struct world *w = world_with_tree();

    const struct json *told =
        answer(w, "session.event", "{'session_id':'root','event_type':'session_start'}");
    CHECK_STR(json_shown(check_arena(), told), "{'number':1,'callbacks':0}");
    CHECK_STR(shown(w, "root", "status"), "'running'");
    answer(w, "session.event",
           "{'session_id':'root','event_type':'pre_tool','tool_name':'Bash','tool_input':{'n':1}}");
    CHECK_STR(shown(w, "root", "last_event"), "'pre_tool Bash'");
    answer(w, "session.event", "{'session_id':'root','event_type':'message','content':'so far'}");
    CHECK_STR(shown(w, "root", "last_event"), "'so far'");
    CHECK_STR(shown(w, "root", "last_event_at"), "'2025-01-15T10:35:00Z'");
    const struct json *page = answer(w, "session.events", "{'session_id':'root','limit':2}");
    CHECK_INT(json_int_or(page, "next", 0), 2);
    CHECK_STR(json_shown(check_arena(), json_get(page, "events")),
              "[{'number':1,'event_type':'session_start','time':'2025-01-15T10:35:00Z','data':{}},"
              "{'number':2,'event_type':'pre_tool','time':'2025-01-15T10:35:00Z',"
              "'data':{'tool_name':'Bash','tool_input':{'n':1}}}]");
    CHECK_ERR(refused(w, "session.event", "{'session_id':'root','event_type':'nonsense'}"),
              ERR_INVALID);
    world_close(w);
}

TEST(the_newest_events_of_a_session_are_kept)
{
    struct team_rules rules = team_rules_default;
    struct world *w = world_new();

    rules.session_events = 3;
    w->engine.team = &rules;
    session(w, "root", NULL);
    for (int i = 0; i < 5; i++)
        answer(w, "session.event", "{'session_id':'root','event_type':'message','content':'x'}");
    const struct json *page = answer(w, "session.events", "{'session_id':'root'}");
    CHECK_INT(json_get(page, "events")->len, 3);
    CHECK_INT(json_int_or(&json_get(page, "events")->items[0], "number", 0), 3);
    world_close(w);
}

TEST(an_event_that_is_too_large_is_kept_by_its_size)
{
    struct world *w = world_new();
    char *text = arena_alloc(check_arena(), 70001);

    session(w, "root", NULL);
    memset(text, 'x', 70000);
    text[70000] = 0;
    answer(w, "session.event",
           arena_printf(check_arena(),
                        "{'session_id':'root','event_type':'message','content':'%s'}", text)
               .at);
    const struct json *page = answer(w, "session.events", "{'session_id':'root'}");
    CHECK_STR(json_shown(check_arena(), json_get(&json_get(page, "events")->items[0], "data")),
              "{'truncated':true,'bytes':70014}");
    world_close(w);
}

/* A settled session that is heard again is in its next cycle. */
TEST(an_attended_session_that_goes_on_opens_a_cycle)
{
    struct world *w = world_new();

    session(w, "root", NULL);
    answer(w, "session.event", "{'session_id':'root','event_type':'session_start'}");
    answer(w, "session.event", "{'session_id':'root','event_type':'session_stop'}");
    CHECK_STR(shown(w, "root", "status"), "'finished'");
    CHECK_STR(shown(w, "root", "settled"), "true");
    CHECK_STR(shown(w, "root", "ended_at"), "'2025-01-15T10:35:00Z'");
    answer(w, "session.event", "{'session_id':'root','event_type':'message','content':'more'}");
    CHECK_STR(shown(w, "root", "status"), "'running'");
    CHECK_STR(shown(w, "root", "settled"), "false");
    CHECK_STR(shown(w, "root", "cycle"), "2");
    CHECK_STR(shown(w, "root", "ended_at"), "null");
    world_close(w);
}

/* ---- the end of a client ---- */

static void work(struct world *w, const char *name)
{
    answer(
        w, "session.event",
        arena_printf(check_arena(), "{'session_id':'%s','event_type':'session_start'}", name).at);
}

/* It will not hear of its children, and nobody waits for it to. */
TEST(a_session_whose_client_has_ended_settles_though_its_children_work)
{
    struct world *w = world_with_tree();

    work(w, "root");
    work(w, "a");
    answer(w, "session.event", "{'session_id':'root','event_type':'session_stop'}");
    CHECK_STR(shown(w, "root", "status"), "'idle'");
    answer(w, "session.event", "{'session_id':'root','event_type':'session_end'}");
    CHECK_STR(shown(w, "root", "status"), "'finished'");
    CHECK_STR(shown(w, "root", "settled"), "true");
    CHECK_STR(shown(w, "a", "status"), "'running'");
    answer(w, "session.event", "{'session_id':'root','event_type':'session_end'}");
    CHECK_STR(shown(w, "root", "cycle"), "1");
    world_close(w);
}

/* What is between the client and us can end before the client does. */
TEST(where_hooks_speak_for_a_session_theirs_is_the_end)
{
    struct world *w = world_new();

    answer(w, "hook.event",
           "{'client':'claude','event':{'session_id':'x-1','hook_event_name':'UserPromptSubmit'}}");
    answer(w, "session.event", "{'session_id':'claude-x-1','event_type':'session_end'}");
    CHECK_STR(shown(w, "claude-x-1", "status"), "'running'");
    answer(w, "hook.event",
           "{'client':'claude','event':{'session_id':'x-1','hook_event_name':'SessionEnd'}}");
    CHECK_STR(shown(w, "claude-x-1", "status"), "'finished'");
    world_close(w);
}

static str lease_of(struct world *w, const char *session)
{
    const char *input = arena_printf(check_arena(),
                                     "{'kind':'session','scope':{'session_id':'%s'},'lease':60}",
                                     session)
                            .at;
    return json_str(answer(w, "token.create", input), "token_id");
}

/* What the server asks of itself. */
static const struct json *itself(struct world *w, const char *op, const char *input)
{
    enum actor_kind kind = w->actor.kind;

    w->actor.kind = ACTOR_SYSTEM;
    const struct json *said = answer(w, op, input);
    w->actor.kind = kind;
    return said;
}

static void later(struct world *w, int64_t seconds)
{
    w->now_ms += seconds * 1000;
    while (json_bool_or(itself(w, "system.tick", "{}"), "more", false))
        ;
}

static bool is_revoked(struct world *w, str id)
{
    const struct json *all = json_get(answer(w, "token.list", "{}"), "tokens");

    for (uint32_t i = 0; i < all->len; i++)
        if (str_eq(json_str(&all->items[i], "token_id"), id))
            return json_is(json_get(&all->items[i], "revoked_at"), JSON_STRING);
    CHECK(!"the token is listed");
    return false;
}

/* As that of a bridge that was killed. */
TEST(a_token_that_is_not_renewed_is_revoked_and_its_session_ends)
{
    struct world *w = world_with_tree();
    str id = lease_of(w, "root");
    const char *renew =
        arena_printf(check_arena(), "{'token_id':'" STR_FMT "','lease':60}", STR_ARG(id)).at;

    work(w, "root");
    work(w, "a");
    for (int i = 0; i < 3; i++) {
        later(w, 50);
        CHECK(!is_revoked(w, id));
        answer(w, "token.renew", renew);
    }
    CHECK_STR(shown(w, "root", "status"), "'running'");
    later(w, 61);
    CHECK(is_revoked(w, id));
    CHECK_STR(shown(w, "root", "status"), "'finished'");
    CHECK_STR(shown(w, "root", "settled"), "true");
    CHECK_STR(shown(w, "a", "settled"), "false");
    CHECK_ERR(refused(w, "token.renew", renew), ERR_NOT_FOUND);
    world_close(w);
}

/* Another holder, or hooks, may still speak for it; and while no server is there, nobody is late. */
TEST(a_lease_ends_no_session_that_is_heard_otherwise)
{
    struct world *w = world_with_tree();
    str one = lease_of(w, "root"), other = lease_of(w, "root"), hooked;

    work(w, "root");
    later(w, 50);
    answer(w, "token.renew",
           arena_printf(check_arena(), "{'token_id':'" STR_FMT "','lease':60}", STR_ARG(other)).at);
    later(w, 20);
    CHECK(is_revoked(w, one) && !is_revoked(w, other));
    CHECK_STR(shown(w, "root", "settled"), "false");

    w->now_ms += 1000 * 1000;
    itself(w, "system.start", "{'node_id':'n'}");
    later(w, 50);
    CHECK(!is_revoked(w, other));
    later(w, 20);
    CHECK(is_revoked(w, other));
    CHECK_STR(shown(w, "root", "settled"), "true");

    hooked = lease_of(w, "claude-x-1");
    later(w, 50);
    answer(w, "hook.event",
           "{'client':'claude','event':{'session_id':'x-1','hook_event_name':'UserPromptSubmit'}}");
    later(w, 20);
    CHECK(is_revoked(w, hooked));
    CHECK_STR(shown(w, "claude-x-1", "settled"), "false");
    world_close(w);
}

/* A hook may be the last that is heard of a client, later than its bridge. */
TEST(a_session_whose_hooks_fall_silent_after_its_lease_ends)
{
    for (int restart = 0; restart < 2; restart++) {
        struct world *w = world_new();
        const char *event = "{'client':'claude','event':{'session_id':'x-1','hook_event_name':"
                            "'UserPromptSubmit'}}";
        lease_of(w, "claude-x-1");
        for (int i = 0; i < 3; i++) {
            later(w, 50);
            answer(w, "hook.event", event);
        }
        later(w, 50);
        CHECK_STR(shown(w, "claude-x-1", "settled"), "false");
        if (restart) { /* nobody could be heard meanwhile */
            w->now_ms += 1000 * 1000;
            itself(w, "system.start", "{'node_id':'n'}");
            later(w, 50);
            CHECK_STR(shown(w, "claude-x-1", "settled"), "false");
        }
        later(w, 20);
        CHECK_STR(shown(w, "claude-x-1", "settled"), "true");
        world_close(w);
    }
}

TEST(a_session_speaks_for_itself_and_for_those_that_nobody_runs)
{
    struct world *w = world_with_tree();

    become(w, "a");
    answer(w, "session.event", "{'session_id':'a','event_type':'session_start'}");
    answer(w, "session.event", "{'session_id':'b','event_type':'session_start'}");
    CHECK_ERR(refused(w, "session.event", "{'session_id':'root','event_type':'session_start'}"),
              ERR_NOT_FOUND);
    world_close(w);
}

/* ---- waiting ---- */

TEST(who_waits_for_a_session_is_answered_when_it_has_settled)
{
    struct world *w = world_new();

    session(w, "root", NULL);
    struct command *c =
        world_call(w, "session.result", "{'session_id':'root','wait':true,'timeout':7}", "");
    CHECK(!c->error && c->answer.waits);
    CHECK_STR(c->answer.wait_subject, "ses_root");
    CHECK_INT(c->answer.wait_until_ms, w->now_ms + 7000);
    const struct json *now = answer(w, "session.result", "{'session_id':'root'}");
    CHECK_STR(json_str(now, "status"), "pending");
    CHECK(json_str(now, "hint").len > 0);
    CHECK(json_is(json_get(now, "result"), JSON_NULL));
    answer(w, "session.event", "{'session_id':'root','event_type':'session_stop'}");
    now = answer(w, "session.status", "{'session_id':'root','wait':true}");
    CHECK_STR(json_str(now, "status"), "finished");
    now = answer(w, "session.result", "{'session_id':'root','wait':true}");
    CHECK(json_is(json_get(now, "hint"), JSON_NULL));
    world_close(w);
}
