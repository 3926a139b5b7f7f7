/* words_test.c: a session is named by its id or its name, under whichever word. */
#include "hostile.h"
#include "tools_fixture.h"

static const struct json *started(struct fixture *d, const char *arguments)
{
    const struct json *run = told(d, "start_agent_session", arguments);

    as_operator(d);
    did(d, "session.stop",
        arena_printf(check_arena(), "{'session_id':'" STR_FMT "'}",
                     STR_ARG(json_str(run, "session_id")))
            .at);
    as_session(d, "root", false);
    return run;
}

TEST(tools_take_a_session_by_any_word_for_it)
{
    static const char *const words[] = { "session_id", "session_name", "name", "session" };
    struct fixture *d = fixture_new(NULL);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        str given = arena_printf(check_arena(), "'%s':'one-%zu'", words[i], i);
        str name = arena_printf(check_arena(), "one-%zu", i);
        const struct json *run =
            started(d,
                    arena_printf(check_arena(), "{" STR_FMT ",'prompt':'go'}", STR_ARG(given)).at);
        CHECK_STR(json_str(run, "session_name"), name.at);
        str whole = arena_printf(check_arena(), "{" STR_FMT "}", STR_ARG(given));
        told(d, "get_agent_session_status", whole.at);
        told(d, "get_agent_session_result", whole.at);
        refuses(d, "resume_agent_session",
                arena_printf(check_arena(), "{" STR_FMT ",'prompt':'more'}", STR_ARG(given)).at,
                arena_printf(check_arena(),
                             "resume_agent_session was refused (Conflict): session " STR_FMT
                             " has had no turn yet: start it with start_agent_session (a run of "
                             "the type start_session)",
                             STR_ARG(name))
                    .at);
    }
    fixture_free(d);
}

/* Every operation that is about a session, whatever surface it is on. */
TEST(every_operation_that_takes_a_session_takes_it_by_id_and_by_name)
{
    static const char *const words[] = { "session_id", "session_name" };
    struct fixture *d = fixture_new(NULL);
    const struct op_table *t = d->w->table;
    int about = 0;

    for (size_t i = 0; i < op_count(t); i++) {
        const struct op *op = op_at(t, i);
        if (!op_field(t, op, STR("session_id")) && !op_field(t, op, STR("session_name")) &&
            !op_field(t, op, STR("session")))
            continue;
        about++;
        for (int k = 0; k < 2; k++)
            CHECK(op_field(t, op, op_field_meant(t, op, str_from(words[k]))));
    }
    CHECK(about > 12);
    CHECK_STR(op_field_meant(t, op_find(t, STR("agent.create")), STR("name")), "name");
    CHECK_STR(op_field_meant(t, op_find(t, STR("state.read")), STR("name")), "name");
    fixture_free(d);
}

TEST(a_session_that_is_given_twice_is_one)
{
    struct fixture *d = fixture_new(NULL);

    started(d, "{'session_name':'one','prompt':'go'}");
    told(d, "get_agent_session_status", "{'session_id':'one','session_name':'one'}");
    refuses(
        d, "get_agent_session_status", "{'session_id':'one','session_name':'kid'}",
        "get_agent_session_status was refused (Bad request): session.status: \"session_id\" and "
        "\"session_name\" are the same here: give one of them\n"
        "Correct the arguments and call it again.");
    refuses(
        d, "get_agent_session_status", "{'name':'kid','session_name':'one'}",
        "get_agent_session_status was refused (Bad request): session.status: \"session_id\" and "
        "\"session_name\" are the same here: give one of them\n"
        "Correct the arguments and call it again.");
    as_operator(d);
    err e = world_call(d->w, "run.create",
                       "{'type':'resume_session','session_id':'one','session_name':'kid',"
                       "'prompt':'more'}",
                       "")
                ->error;
    CHECK(e && e->kind == ERR_INVALID);
    CHECK_STR(e->message, "\"session_id\" is that of session one, and \"session_name\" is \"kid\": "
                          "give one of them");
    fixture_free(d);
}

/* Each name was looked for among all others. */
TEST(many_words_that_mean_nothing_are_told_so_soon)
{
    static const struct text many = MANY("{'name':'one'", ",'w\1':0", 90000, "}");
    struct fixture *d = fixture_new(NULL);

    as_operator(d);
    struct command *c =
        world_command(d->w, "session.status", text_make(check_arena(), &many, false).at, "");
    struct work start = work_now();
    CHECK(!op_prepare(d->w->table, c));
    check_work("90,000 words", work_since(start));
    CHECK_ERR(c->error, ERR_INVALID);
    fixture_free(d);
}
