/* tool_call_test.c: calls that show little, wait long, or tell more than they were asked. */
#include "tools_fixture.h"

/* ---- large documents ---- */

/* {"status":"open","log":[…]}, of so many characters and some more. */
static const char *large(size_t chars)
{
    struct buf out = buf_in(check_arena());

    buf_add(&out, STR("{'status':'open','log':['"));
    while (out.len < chars)
        buf_add(&out, STR("a line of it','"));
    buf_add(&out, STR("the end']}"));
    return buf_str(&out).at;
}

TEST(of_a_large_state_what_fits_is_shown_whole_and_the_rest_is_listed)
{
    struct fixture *d = fixture_new(large(20000));
    const struct json *read = told(d, "state_read", "{}");
    const struct json *cut = json_at(json_get(read, "cut"), 0);

    CHECK(json_bool_or(read, "truncated", false));
    CHECK_STR(json_shown(check_arena(), json_get(read, "current_data")), "{'status':'open'}");
    CHECK_INT(json_int_or(read, "cut_count", 0), 1);
    CHECK_STR(json_str(cut, "pointer"), "/log");
    CHECK_STR(json_str(cut, "kind"), "array");
    CHECK(json_int_or(cut, "length", 0) > 1000);
    CHECK(json_int_or(cut, "chars", 0) > 19000);
    CHECK(json_str(read, "hint").len);

    /* By its pointer it is too large as well: an array is never shown in part. */
    read = told(d, "state_read", "{'pointer':'/log'}");
    CHECK(json_bool_or(read, "truncated", false) && !json_get(read, "value"));
    read = told(d, "state_read", "{'query':'$.log[-2:]'}");
    CHECK(!json_get(read, "truncated"));
    CHECK_INT(json_get(read, "matches")->len, 2);
    read = told(d, "state_read", "{'query':'$.log[*]'}");
    CHECK(json_bool_or(read, "truncated", false));
    CHECK(json_get(read, "matches")->len > 100);
    CHECK_INT(json_get(read, "matches")->len + (uint32_t)json_int_or(read, "cut_count", 0),
              json_int_or(cut, "length", 0));
    CHECK(json_printed(check_arena(), read).len < 8500);
    read = told(d, "state_read", "{'max_chars':100000}");
    CHECK(!json_get(read, "truncated"));
    CHECK_INT(json_get(read, "current_data")->len, 2);
    told(d, "state_update", "{'data':{'n':1},'expected_version':1}");
    read = told(d, "state_read", "{'since_version':1}");
    CHECK(json_get(read, "patch"));
    fixture_free(d);
}

TEST(a_patch_that_is_too_large_is_not_shown_in_part)
{
    struct fixture *d = fixture_new("{}");

    as_operator(d);
    did(d, "state.update",
        arena_printf(check_arena(), "{'state_id':'" STR_FMT "','data':%s}", STR_ARG(d->state),
                     large(20000))
            .at);
    as_session(d, "root", false);
    const struct json *read = told(d, "state_read", "{'since_version':1}");
    CHECK(json_bool_or(read, "truncated", false) && !json_get(read, "patch"));
    CHECK_STR(json_str(json_at(json_get(read, "cut"), 0), "kind"), "patch");
    fixture_free(d);
}

TEST(a_state_that_was_not_seen_whole_is_not_replaced)
{
    struct fixture *d = fixture_new(large(20000));
    const struct json *result = called(d, "state_update", "{'data':{'n':1}}");

    CHECK(json_bool_or(result, "isError", false));
    CHECK(strstr(text_of(result, 0).at, "at most 8000 are read at once"));
    CHECK(strstr(text_of(result, 0).at, "expected_version 1"));
    told(d, "state_update", "{'data':{'n':1},'expected_version':1}");
    told(d, "state_update", "{'data':{'n':2}}"); /* a small one was seen */
    fixture_free(d);
}

/* ---- out of memory ---- */

TEST(a_small_document_comes_out_of_the_cache_and_a_large_one_is_cut)
{
    struct fixture *d = fixture_new("{'status':'open'}");
    struct actor before = d->w->actor;

    d->cache = op_cache_new(1 << 20);
    const char *const bodies[] = { "{'n':1}", large(20000), "{'n':2}" };
    for (int i = 0; i < 3; i++) {
        as_operator(d);
        op_cache_written(d->cache, world_call(d->w, "state.update",
                                              arena_printf(check_arena(),
                                                           "{'state_id':'" STR_FMT "','data':%s}",
                                                           STR_ARG(d->state), bodies[i])
                                                  .at,
                                              ""));
        d->w->actor = before;
        const struct json *read = told(d, "state_read", "{}");
        CHECK_INT(json_int_or(read, "version", 0), i + 2);
        CHECK(json_bool_or(read, "truncated", false) == (i == 1));
        CHECK_INT(d->performed, i == 1 ? 1 : 0);
    }
    told(d, "state_read", "{'pointer':'/n'}"); /* a part is not in there */
    CHECK_INT(d->performed, 1);
    fixture_free(d);
}

static struct tool_text known(struct fixture *d)
{
    struct cached_answer *shown =
        op_peek(d->cache, op_find(d->w->table, STR("state.read")), d->state, &d->w->actor);
    struct tool_text told = { arena_copy(check_arena(), shown->tool.text),
                              arena_copy(check_arena(), shown->tool.quoted) };

    cached_answer_unref(shown);
    return told;
}

static void write_cached(struct fixture *d, const char *data)
{
    struct actor before = d->w->actor;

    as_operator(d);
    str input = arena_printf(check_arena(), "{'state_id':'" STR_FMT "','data':%s}",
                             STR_ARG(d->state), data);
    op_cache_written(d->cache, world_call(d->w, "state.update", input.at, ""));
    d->w->actor = before;
}

TEST(a_document_in_memory_is_told_in_the_same_words_until_it_is_written)
{
    struct fixture *d = fixture_new("{}");

    d->cache = op_cache_new(1 << 20);
    write_cached(d, "{'note':'a \\\"word\\\"'}");
    CHECK_INT((int)known(d).text.len, 0);
    const struct json *first = called(d, "state_read", "{}");
    CHECK(str_eq(known(d).text, text_of(first, 0)));
    const struct json *second = called(d, "state_read", "{}");
    CHECK(json_equal(second, first));
    CHECK_INT(d->performed, 0);

    write_cached(d, "{'note':'another'}");
    CHECK_INT((int)known(d).text.len, 0);
    called(d, "state_read", "{}");
    CHECK(strstr(known(d).text.at, "another"));
    CHECK(strstr(known(d).quoted.at, "another"));
    fixture_free(d);
}

static struct cached_answer *held(struct op_cache *c, const char *id)
{
    static const struct op read = { .peek = true };
    static const struct actor anybody = { .kind = ACTOR_OPERATOR };

    return op_peek(c, &read, str_from(id), &anybody);
}

TEST(what_is_told_of_a_document_takes_room_in_the_cache)
{
    struct op_cache *c = op_cache_new(2000);
    char text[600];

    memset(text, 'x', sizeof text);
    for (int i = 0; i < 2; i++) {
        struct command wrote = { .answer.cached_id = i ? STR("b") : STR("a"),
                                 .answer.cached = { text, 250 } };
        op_cache_written(c, &wrote);
    }
    struct cached_answer *a = held(c, "a"), *b = held(c, "b");
    cached_answer_unref(b);
    cached_answer_unref(held(c, "a"));
    op_cache_keep_tool_text(c, STR("a"), a, (struct tool_text){ { text, 600 }, { text, 600 } });
    CHECK_INT((int)a->tool.quoted.len, 600);
    CHECK(!held(c, "b"));

    struct command again = { .answer.cached_id = STR("a"), .answer.cached = { text, 250 } };
    op_cache_written(c, &again);
    op_cache_keep_tool_text(c, STR("a"), a,
                            (struct tool_text){ { text, 1 }, { text, 1 } }); /* it is old */
    cached_answer_unref(a);
    a = held(c, "a");
    CHECK_INT((int)a->tool.text.len, 0);
    cached_answer_unref(a);
    op_cache_free(c);
}

/* ---- waiting ---- */

TEST(no_call_waits_longer_than_a_client_bears)
{
    struct fixture *d = fixture_new("{}");

    d->older = true;
    CHECK_INT(json_int_or(told(d, "state_read", "{'wait_version':2}"), "version", 0), 1);
    CHECK_INT(d->waited_ms, 45000);
    told(d, "state_read", "{'wait_version':2,'timeout':60}");
    CHECK_INT(d->waited_ms, 45000);
    told(d, "state_read", "{'wait_version':2,'timeout':3}");
    CHECK_INT(d->waited_ms, 3000);
    told(d, "get_agent_session_result", "{'session_id':'kid','wait':true}");
    CHECK_INT(d->waited_ms, 45000);
    told(d, "state_read", "{'wait_version':1}");
    CHECK_INT(d->waited_ms, 0);
    fixture_free(d);
}

/* A newer client repeats the request without its model; there is an end to that. */
static int rounds(struct fixture *d, const char *tool, const char *arguments)
{
    int count = 0;

    for (d->request_state = STR("");; count++) {
        const struct json *result = called(d, tool, arguments);
        if (!str_eq(json_str(result, "resultType"), STR("input_required")))
            return count;
        CHECK(!json_get(result, "inputRequests") && !json_get(result, "content"));
        d->request_state = arena_copy(check_arena(), json_str(result, "requestState"));
        CHECK(d->request_state.len && count < 10);
    }
}

TEST(a_newer_client_waits_by_repeating_its_request)
{
    struct fixture *d = fixture_new("{}");

    CHECK_INT(rounds(d, "state_read", "{'wait_version':2}"), 5);
    CHECK_INT(rounds(d, "state_read", "{'wait_version':2,'timeout':3}"), 0);
    CHECK_INT(rounds(d, "get_agent_session_status", "{'session_id':'kid','wait':true}"), 5);
    d->request_state = STR("");
    called(d, "state_read", "{'wait_version':2}");
    meanwhile(d, as_operator, "state.patch",
              arena_printf(check_arena(), "{'state_id':'" STR_FMT "','merge':{'n':1}}",
                           STR_ARG(d->state))
                  .at);
    CHECK_INT(rounds(d, "state_read", "{'wait_version':2}"), 0);
    fixture_free(d);
}

#define SYNC "{'session_name':'one','prompt':'go','execution_mode':'sync'}"

TEST(a_start_that_is_not_done_says_how_to_go_on)
{
    struct fixture *d = fixture_new(NULL);

    d->older = true;
    const struct json *result = told(d, "start_agent_session", SYNC);
    CHECK_INT(d->waited_ms, 45000);
    CHECK_STR(json_str(result, "status"), "pending");
    CHECK(!json_bool_or(result, "settled", true));
    CHECK_STR(json_str(result, "hint"),
              "it has not settled: ask for its result again with wait=true "
              "(get_agent_session_result), or go on and be called back if it was started so");
    run_through(d);
    result = told(d, "get_agent_session_result", "{'session_id':'one','wait':true}");
    CHECK_STR(json_str(result, "result"), "all done");
    CHECK_INT(d->waited_ms, 0);
    fixture_free(d);
}

/* Its answer shows the prompt: as text inside of a result it is longer than a request may be. */
TEST(a_start_with_the_longest_prompt_is_a_start_like_any_other)
{
    enum { CHARS = 1000000 };
    struct fixture *d = fixture_new(NULL);
    struct buf arguments = buf_in(check_arena());

    d->older = true;
    buf_add(&arguments, STR("{'session_name':'one','execution_mode':'sync','prompt':'"));
    for (int i = 0; i < CHARS; i++)
        buf_add(&arguments, STR("\xf0\x9f\x98\x80"));
    buf_add(&arguments, STR("'}"));
    CHECK_STR(json_str(told(d, "start_agent_session", buf_str(&arguments).at), "status"),
              "pending");
    fixture_free(d);
}

/* In each round the same session is waited for: nothing is started twice. */
TEST(a_start_is_one_start_in_all_of_its_rounds)
{
    struct fixture *d = fixture_new(NULL);

    CHECK_INT(rounds(d, "start_agent_session", SYNC), 5);
    CHECK_INT(json_get(meanwhile(d, as_operator, "run.list", "{'session':'one'}"), "runs")->len, 1);
    claim(d);
    report(d, "runner.started", "");
    const struct json *result = called(d, "start_agent_session", SYNC);
    CHECK_STR(json_str(json_of_text(result), "status"), "running");
    report(d, "runner.completed", ",'result':'all done','client_id':'c-1'");
    result = told(d, "start_agent_session", SYNC);
    CHECK_INT(d->performed, 1); /* it was waited for, and not started */
    CHECK_STR(json_str(result, "status"), "finished");
    CHECK_STR(json_str(result, "result"), "all done");
    d->request_state = STR("");
    const struct json *again = called(d, "start_agent_session", SYNC);
    CHECK(json_bool_or(again, "isError", false));
    fixture_free(d);
}

TEST(a_client_that_has_tasks_gets_one)
{
    struct fixture *d = fixture_new("{}");

    d->tasks = true;
    const struct json *result = called(d, "start_agent_session", SYNC);
    CHECK_STR(json_str(result, "resultType"), "task");
    const struct json *runs =
        json_get(meanwhile(d, as_operator, "run.list", "{'session':'one'}"), "runs");
    CHECK(str_eq(json_str(result, "taskId"), json_str(json_at(runs, 0), "run_id")));
    CHECK_INT(d->waited_ms, 0);
    fixture_free(d);
}

/* ---- children that have ended ---- */

static void as_attended(struct fixture *d)
{
    as_session(d, "root", false);
    d->w->actor.is_attended = true;
}

static void child_ends(struct fixture *d, const char *name)
{
    as_session(d, "root", false); /* who is not known to be attended takes nothing */
    told(d, "start_agent_session",
         arena_printf(check_arena(), "{'session_name':'%s','prompt':'go'}", name).at);
    run_through(d);
    as_attended(d);
}

/* What a client passes on to its model, of a result: some the JSON alone, where there is one, and
 * some the texts. */
static str shown_json_first(const struct json *result)
{
    const struct json *json = json_get(result, "structuredContent");

    return json_printed(check_arena(), json ? json : json_get(result, "content"));
}

static str shown_texts(const struct json *result)
{
    return json_printed(check_arena(), json_get(result, "content"));
}

TEST(whatever_a_client_shows_of_an_answer_has_the_callback_in_it)
{
    static str (*const ways[])(const struct json *result) = { shown_json_first, shown_texts };
    static const enum mcp_version older[] = { MCP_2025_03_26, MCP_2025_06_18, MCP_2025_11_25 };
    struct fixture *d = fixture_new(NULL);
    int64_t children = 0;

    for (size_t way = 0; way < 2; way++) {
        for (size_t i = 0; i < 4; i++) {
            d->older = i < 3;
            d->legacy.version = d->older ? older[i] : MCP_2026_07_28;
            child_ends(d, arena_printf(check_arena(), "child-%lld", (long long)++children).at);
            const struct json *result = called(d, "list_agent_blueprints", "{}");
            CHECK(strstr(ways[way](result).at, "Child Session Completed"));
            CHECK(strstr(ways[way](result).at, "agents"));
            result = called(d, "list_agent_blueprints", "{}");
            CHECK(!strstr(ways[way](result).at, "Child Session"));
        }
    }
    const struct json *told_of = meanwhile(d, as_operator, "event.list", "{'limit':500}");
    int64_t delivered = 0;
    for (uint32_t i = 0; i < json_get(told_of, "events")->len; i++)
        delivered += str_eq(json_str(&json_get(told_of, "events")->items[i], "type"),
                            STR("callback_delivered"));
    CHECK_INT(delivered, children);
    fixture_free(d);
}

/* Clients cut what is long, or put it into a file: a callback would be lost in there. */
TEST(a_callback_waits_for_an_answer_that_clients_show_whole)
{
    struct fixture *d = fixture_new(NULL);
    char *words = ARENA_ARRAY(check_arena(), char, 20001);

    memset(words, 'x', 20000);
    told(d, "start_agent_session", "{'session_name':'one','prompt':'go'}");
    claim(d);
    report(d, "runner.started", "");
    report(d, "runner.completed",
           arena_printf(check_arena(), ",'client_id':'c-1','result':'%s'", words).at);
    as_attended(d);
    const struct json *result = called(d, "get_agent_session_result", "{'session_id':'one'}");
    CHECK(text_of(result, 0).len > 20000);
    CHECK_INT(json_get(result, "content")->len, 1);
    result = called(d, "list_agent_blueprints", "{}");
    CHECK_INT(json_get(result, "content")->len, 2);
    CHECK(strstr(text_of(result, 1).at, "Child Session Completed"));
    fixture_free(d);
}

TEST(an_attended_session_hears_of_its_children_once_with_its_next_answer)
{
    struct fixture *d = fixture_new(NULL);

    child_ends(d, "one");
    const struct json *result = called(d, "list_agent_blueprints", "{}");
    CHECK_INT(json_get(result, "content")->len, 2);
    CHECK(strstr(text_of(result, 1).at, "Child Session Completed"));
    CHECK(strstr(text_of(result, 1).at, "one"));
    CHECK_INT(d->performed, 3); /* it, a look, and the taking */
    result = called(d, "list_agent_blueprints", "{}");
    CHECK_INT(json_get(result, "content")->len, 1);
    CHECK_INT(d->performed, 2);

    /* Also with an answer that is a refusal, and of two at once. */
    child_ends(d, "two");
    child_ends(d, "three");
    result = called(d, "get_agent_session_status", "{'session_id':'nobody'}");
    CHECK(json_bool_or(result, "isError", false));
    CHECK(strstr(text_of(result, 1).at, "two") && strstr(text_of(result, 1).at, "three"));
    CHECK_INT(json_get(called(d, "list_agent_blueprints", "{}"), "content")->len, 1);
    fixture_free(d);
}

TEST(looking_for_callbacks_writes_nothing_and_others_do_not_look)
{
    struct fixture *d = fixture_new("{}");

    as_attended(d);
    int64_t before = json_int_or(meanwhile(d, as_operator, "event.list", "{}"), "next", 0);
    told(d, "state_read", "{}");
    CHECK_INT(d->performed, 2);
    CHECK_INT(json_int_or(meanwhile(d, as_operator, "event.list", "{}"), "next", 0), before);
    as_session(d, "kid", true);
    told(d, "state_read", "{}");
    CHECK_INT(d->performed, 1);
    fixture_free(d);
}

/* What cannot be taken now is not lost. */
TEST(a_callback_that_cannot_be_taken_waits_on)
{
    struct fixture *d = fixture_new(NULL);
    const struct json *result;

    child_ends(d, "one");
    d->w->fault = (struct fault){ .kind = FAULT_CALL, .nth = 1 };
    result = called(d, "list_agent_blueprints", "{}");
    CHECK_INT(json_get(result, "content")->len, 1);
    CHECK(!json_get(result, "isError"));
    d->w->fault.kind = FAULT_NONE;
    result = called(d, "list_agent_blueprints", "{}");
    CHECK_INT(json_get(result, "content")->len, 2);
    fixture_free(d);
}
