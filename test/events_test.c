/* events_test.c: the log as it is listed: what fits, who may see it, and waiting for more. */
#include "check.h"
#include "json_help.h"
#include "sim/both.h"
#include "sim/world.h"

static struct world *world_new(void)
{
    struct world *w;

    CHECK_OK(world_open("events.db", NULL, &w));
    CHECK_OK(
        world_call(w, "schema.create", "{'name':'s','json_schema':{'type':'object'}}", "")->error);
    return w;
}

/* Two states, written by turns: after the schema (1), numbers 2 and 3 make them, and then each
 * even number is a version of wfstate_2 and each odd one of wfstate_3. */
static struct world *world_with_states(int writes)
{
    struct world *w = world_new();

    for (int i = 0; i < 2; i++)
        CHECK_OK(world_call(w, "state.create", "{'schema_name':'s','initial_data':{}}", "")->error);
    for (int i = 0; i < writes; i++) {
        str input =
            arena_printf(check_arena(), "{'state_id':'wfstate_%d','data':{'n':%d}}", 2 + i % 2, i);
        CHECK_OK(world_call(w, "state.update", input.at, "")->error);
    }
    return w;
}

/* The numbers of the events, and after a slash `next`. */
static str listed(struct world *w, const char *input)
{
    struct command *c = world_call(w, "event.list", input, "");
    struct buf out = buf_in(check_arena());

    CHECK_OK(c->error);
    CHECK(!c->answer.waits);
    const struct json *answer = json_parsed(check_arena(), c->answer.text);
    const struct json *events = json_get(answer, "events");
    for (uint32_t i = 0; i < events->len; i++)
        buf_printf(&out, "%lld ", (long long)json_int_or(&events->items[i], "seq", 0));
    buf_printf(&out, "/ %lld", (long long)json_int_or(answer, "next", 0));
    return buf_str(&out);
}

static void as_session(struct world *w, const char *state_id)
{
    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = STR("child"),
                               .session_id = STR("ses_1"),
                               .state_id = str_from(state_id) };
}

TEST_BOTH(events_are_listed_by_number_subject_and_type)
{
    struct world *w = world_with_states(6);
    static const struct {
        const char *input, *expected;
    } cases[] = {
        { "{}", "1 2 3 4 5 6 7 8 9 / 9" },
        { "{'after':7}", "8 9 / 9" },
        { "{'after':9}", "/ 9" },
        { "{'after':12}", "/ 12" },
        { "{'after':9223372036854775807}", "/ 9223372036854775807" },
        { "{'limit':2}", "1 2 / 2" },
        { "{'after':2,'limit':2}", "3 4 / 4" },
        { "{'subject':'wfstate_3'}", "3 5 7 9 / 9" },
        { "{'subject':'wfstate_2'}", "2 4 6 8 / 9" },
        { "{'subject':'wfstate_2','limit':2}", "2 4 / 4" },
        { "{'subject':'wfstate_2','after':4,'limit':1}", "6 / 6" },
        { "{'subject':'wfstate_2','after':6,'limit':1}", "8 / 9" },
        { "{'subject':'wfstate_2','after':8}", "/ 9" },
        { "{'subject':'nobody'}", "/ 9" },
        { "{'type':['workflow_state_created']}", "2 3 / 9" },
        { "{'type':['workflow_state_created','schema_registered']}", "1 2 3 / 9" },
        { "{'type':['workflow_state_created','schema_registered'],'limit':2}", "1 2 / 2" },
        { "{'type':['workflow_state_created'],'subject':'wfstate_3'}", "3 / 9" },
        { "{'type':['workflow_state_updated'],'subject':'wfstate_3','limit':2}", "5 7 / 7" },
        { "{'type':['token_revoked']}", "/ 9" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(listed(w, cases[i].input), cases[i].expected);
    err e = world_call(w, "event.list", "{'type':['workflow_state_craeted']}", "")->error;
    CHECK_ERR(e, ERR_INVALID);
    world_close(w);
}

/* A state that is gone has no chain to follow, and its events are there all the same. */
TEST_BOTH(the_events_of_a_deleted_state_are_listed)
{
    struct world *w = world_with_states(2);

    CHECK_OK(world_call(w, "state.delete", "{'state_id':'wfstate_2'}", "")->error);
    CHECK_STR(listed(w, "{'subject':'wfstate_2'}"), "2 4 6 / 6");
    CHECK_STR(listed(w, "{'type':['workflow_state_deleted']}"), "6 / 6");
    world_close(w);
}

TEST_BOTH(a_link_to_the_next_page_is_there_when_there_is_one)
{
    struct world *w = world_with_states(2);

    CHECK_STR(world_call(w, "event.list", "{'limit':4}", "")->answer.next, "4");
    CHECK_STR(world_call(w, "event.list", "{'limit':5}", "")->answer.next, "");
    CHECK_STR(world_call(w, "event.list", "{'subject':'wfstate_2','limit':1}", "")->answer.next,
              "2");
    CHECK_STR(world_call(w, "event.list", "{'subject':'wfstate_2','limit':2}", "")->answer.next,
              "");
    world_close(w);
}

TEST_BOTH(a_session_sees_the_events_of_its_state_alone)
{
    struct world *w = world_with_states(4);

    as_session(w, "wfstate_2");
    CHECK_STR(listed(w, "{}"), "2 4 6 / 7");
    CHECK_STR(listed(w, "{'subject':'wfstate_2','after':2}"), "4 6 / 7");
    CHECK_ERR(world_call(w, "event.list", "{'subject':'wfstate_3'}", "")->error, ERR_NOT_FOUND);
    as_session(w, "");
    CHECK_STR(listed(w, "{}"), "/ 7"); /* none of itself */
    CHECK_ERR(world_call(w, "event.list", "{'subject':'wfstate_2'}", "")->error, ERR_NOT_FOUND);
    w->actor =
        (struct actor){ .kind = ACTOR_VIEWER, .name = STR("viewer"), .state_id = STR("wfstate_3") };
    CHECK_STR(listed(w, "{}"), "3 5 7 / 7");
    world_close(w);
}

/* ---- a long log ---- */

static void revocations(struct world *w, int count)
{
    struct store_node node;
    err why;

    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    struct tx tx = { .arena = check_arena(),
                     .sql = w->engine.sql,
                     .now_ms = w->now_ms,
                     .seq = &node.seq,
                     .actor = &w->actor };
    for (int i = 0; i < count; i++)
        CHECK_OK(event_emit(
            &tx, (struct event){ .type = EVENT_TOKEN_REVOKED, .subject = STR("op_1") }, NULL));
    CHECK_INT(store_commit(w->engine.sql, &node, &why), STORE_COMMITTED);
}

/* However far apart they are, a state's events are found by their chain; those of others by going
 * on, a bounded part of the log at a time. */
TEST_BOTH(one_call_looks_at_a_bounded_part_of_the_log)
{
    struct world *w = world_with_states(0);

    revocations(w, 24997);
    CHECK_OK(world_call(w, "state.update", "{'state_id':'wfstate_2','data':{'n':1}}", "")->error);
    CHECK_STR(listed(w, "{'subject':'wfstate_2'}"), "2 25001 / 25001");
    CHECK_STR(listed(w, "{'subject':'wfstate_2','after':2,'limit':1}"), "25001 / 25001");
    CHECK_STR(listed(w, "{'subject':'wfstate_9'}"), "/ 10000");
    CHECK_STR(listed(w, "{'type':['workflow_state_updated']}"), "/ 10000");
    CHECK_STR(listed(w, "{'type':['workflow_state_updated'],'after':10000}"), "/ 20000");
    CHECK_STR(listed(w, "{'type':['workflow_state_updated'],'after':20000}"), "25001 / 25001");
    CHECK_STR(world_call(w, "event.list", "{'subject':'wfstate_9'}", "")->answer.next, "10000");
    world_close(w);
}

/* Large events come a few at a time, and none is left out. */
TEST_BOTH(one_answer_holds_a_bounded_number_of_bytes)
{
    struct world *w = world_new();
    str input =
        arena_printf(check_arena(), "{'schema_name':'s','initial_data':{'x':'%0900000d'}}", 7);
    int64_t after = 0;
    int calls = 0;

    for (int i = 0; i < 10; i++)
        CHECK_OK(world_call(w, "state.create", input.at, "")->error);
    for (; after < 11; calls++) {
        struct command *c =
            world_call(w, "event.list",
                       arena_printf(check_arena(), "{'after':%lld}", (long long)after).at, "");
        const struct json *answer;
        CHECK_OK(c->error);
        CHECK(c->answer.text.len < 5 << 20);
        CHECK_OK(json_parse(check_arena(), c->answer.text,
                            &(struct json_limits){ .bytes_max = JSON_BYTES_CEILING }, &answer));
        int64_t next = json_int_or(answer, "next", 0);
        CHECK_INT(json_get(answer, "events")->len, next - after);
        CHECK(next > after);
        after = next;
    }
    CHECK_INT(calls, 3);
    world_close(w);
}

/* ---- waiting ---- */

static struct command *waiting(struct world *w, const char *input, bool over)
{
    struct command *c = world_command(w, "event.list", input, "");

    c->wait_over = over;
    op_perform(&w->engine, &c, 1);
    CHECK_OK(c->error);
    world_check_answer(w, c);
    return c;
}

TEST_BOTH(who_waits_is_answered_when_there_is_something_or_the_time_is_up)
{
    struct world *w = world_with_states(0);

    CHECK(!waiting(w, "{'after':2,'wait':30}", false)->answer.waits);
    struct command *c = waiting(w, "{'after':3,'wait':30}", false);
    CHECK(c->answer.waits);
    CHECK_STR(c->answer.wait_subject, "");
    CHECK_INT(c->answer.wait_seq, 3);
    CHECK_INT(c->answer.wait_until_ms, w->now_ms + 30000);
    c = waiting(w, "{'after':3,'subject':'wfstate_2','wait':1}", false);
    CHECK(c->answer.waits);
    CHECK_STR(c->answer.wait_subject, "wfstate_2");

    c = waiting(w, "{'after':3,'wait':30}", true);
    CHECK(!c->answer.waits);
    CHECK_STR(c->answer.text, "{\"events\":[],\"next\":3,\"seen\":3,\"oldest\":1}");
    CHECK(!waiting(w, "{'after':3}", false)->answer.waits);

    as_session(w, "wfstate_3");
    c = waiting(w, "{'after':3,'wait':1}", false);
    CHECK(c->answer.waits);
    CHECK_STR(c->answer.wait_subject, "wfstate_3");
    world_close(w);
}

/* With more of the log to look at, there is nothing to wait for yet. */
TEST_BOTH(who_has_not_seen_all_of_the_log_does_not_wait)
{
    struct world *w = world_new();

    revocations(w, 10001);
    struct command *c = waiting(w, "{'after':1,'subject':'op_2','wait':30}", false);
    CHECK(!c->answer.waits);
    CHECK_STR(c->answer.next, "10001");
    CHECK(waiting(w, "{'after':10001,'subject':'op_2','wait':30}", false)->answer.waits);
    world_close(w);
}

TEST_BOTH(a_revoked_token_is_an_event_of_the_token)
{
    struct world *w = world_new();

    CHECK_OK(world_call(w, "token.create",
                        "{'kind':'session','scope':{'session_id':'ses_1','state_id':'wfstate_2',"
                        "'pointers':['/a']}}",
                        "")
                 ->error);
    CHECK_OK(world_call(w, "token.revoke", "{'token_id':'ss_2'}", "")->error);
    CHECK_OK(world_call(w, "token.revoke", "{'token_id':'ss_2'}", "")->error); /* and only one */
    struct command *c = world_call(w, "event.list", "{'subject':'ss_2','shape':'message'}", "");
    CHECK_OK(c->error);
    CHECK_STR(c->answer.text, "{\"events\":[{\"event_type\":\"token_revoked\",\"subject\":\"ss_2\","
                              "\"timestamp\":\"2025-01-15T10:35:00Z\",\"seq\":2,"
                              "\"actor\":\"operator\",\"data\":null}],"
                              "\"next\":2,\"seen\":2,\"oldest\":1}");
    c = world_call(w, "token.list", "{}", "");
    CHECK(strstr(c->answer.text.at, "\"name\":\"ses_1\""));
    world_close(w);
}
