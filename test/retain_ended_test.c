/* retain_ended_test.c: how long trees of sessions and their states are kept after they have ended. */
#include "session_help.h"
#include "sim/both.h"

enum { DAY_MS = 24 * 60 * 60 * 1000 };

/* root ← child, whose state is kept for as long as the schema says. */
static struct world *world_with_root(const char *x_baton)
{
    struct world *w = world_new();

    CHECK_OK(call(w, "schema.create", "{'name':'task','json_schema':{'type':'object'%s}}", x_baton)
                 ->error);
    answer(w, "state.create", "{'schema_name':'task','initial_data':{},'name':'plan'}");
    answer(w, "session.create", "{'session_name':'root','workflow_state_id':'plan'}");
    answer(w, "session.create", "{'session_name':'child','parent_session_name':'root'}");
    return w;
}

/* With all below it, of which some come later. */
static void end(struct world *w, const char *session_name)
{
    CHECK_OK(call(w, "session.stop", "{'session_id':'%s'}", session_name)->error);
    world_pass(w, 0);
}

static bool is_there(struct world *w, const char *state)
{
    struct command *c = call(w, "state.read", "{'state_id':'%s'}", state);

    CHECK(!c->error || c->error->kind == ERR_NOT_FOUND);
    return !c->error;
}

static bool has_session(struct world *w, const char *name)
{
    return !call(w, "session.get", "{'session_id':'%s'}", name)->error;
}

TEST_BOTH(a_state_goes_when_its_root_has_ended_for_as_long_as_its_schema_says)
{
    static const char *const said[] = { ",'x-baton':{'retention':'7d'}",
                                        ",'x-baton':{'retention':604800}" };

    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct world *w = world_with_root(said[i]);
        world_pass(w, 30LL * DAY_MS);
        CHECK(is_there(w, "plan")); /* it is at work */
        end(w, "root");
        world_pass(w, 7LL * DAY_MS - 1000);
        CHECK(is_there(w, "plan"));
        world_pass(w, 2000);
        CHECK(!is_there(w, "plan"));
        CHECK_STR(shown(w, "root", "workflow_state_id"), "null");
        world_audit(w);
        world_close(w);
    }
}

TEST(a_state_is_kept_for_good_unless_its_schema_says)
{
    struct world *w = world_with_root("");

    end(w, "root");
    world_pass(w, 3000LL * DAY_MS);
    CHECK(is_there(w, "plan"));
    world_close(w);
}

/* It counts from the last end. */
TEST(a_state_whose_root_goes_on_stays)
{
    struct world *w = world_with_root(",'x-baton':{'retention':'2d'}");

    end(w, "root");
    world_pass(w, DAY_MS);
    CHECK_OK(call(w, "session.event", "{'session_id':'root','event_type':'message'}")->error);
    world_pass(w, 5LL * DAY_MS);
    CHECK(is_there(w, "plan"));
    end(w, "root");
    world_pass(w, 2LL * DAY_MS - 1000);
    CHECK(is_there(w, "plan"));
    world_pass(w, 2000);
    CHECK(!is_there(w, "plan"));
    world_close(w);
}

TEST(a_state_whose_root_was_deleted_goes_as_well)
{
    struct world *w = world_with_root(",'x-baton':{'retention':'1h'}");

    end(w, "root");
    CHECK_OK(call(w, "session.delete", "{'session_id':'root'}")->error);
    world_pass(w, 50 * 60 * 1000);
    CHECK(is_there(w, "plan"));
    world_pass(w, 20 * 60 * 1000);
    CHECK(!is_there(w, "plan"));
    world_close(w);
}

TEST(how_long_a_state_is_kept_is_said_so_that_it_is_understood)
{
    static const char *const bad[] = { "'7 days'",        "'d'", "-1", "1.5", "'7w'",
                                       "{'states':'7d'}", "null" };
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_ERR(call(w, "schema.create",
                       "{'name':'x','json_schema':{'x-baton':{'retention':%s}}}", bad[i])
                      ->error,
                  ERR_UNFIT);
    world_close(w);
}

TEST_BOTH(sessions_go_with_their_runs_when_all_of_their_tree_have_ended)
{
    struct world *w = world_with_root("");

    w->retention.sessions_ms = DAY_MS;
    CHECK_OK(call(w, "run.create",
                  "{'type':'start_session','session_name':'worker','prompt':'go',"
                  "'parent_session_name':'root'}")
                 ->error);
    end(w, "worker");
    end(w, "child");
    world_pass(w, 10LL * DAY_MS);
    CHECK(has_session(w, "worker")); /* its root may ask for it */
    end(w, "root");
    world_pass(w, DAY_MS - 1000);
    CHECK(has_session(w, "root") && has_session(w, "worker"));
    world_pass(w, 60 * 60 * 1000 + 2000);
    CHECK(!has_session(w, "root") && !has_session(w, "child") && !has_session(w, "worker"));
    CHECK_INT(json_get(answer_of(call(w, "run.list", "{}")), "runs")->len, 0);
    CHECK(is_there(w, "plan"));                             /* that is its schema's business */
    answer(w, "session.create", "{'session_name':'root'}"); /* the name is free */
    world_audit(w);
    world_close(w);
}

TEST(sessions_are_kept_for_good_unless_the_settings_say)
{
    struct world *w = world_with_root("");

    end(w, "root");
    world_pass(w, 3000LL * DAY_MS);
    CHECK(has_session(w, "root"));
    world_close(w);
}

/* More than one firing deletes. */
TEST(a_large_tree_goes_in_pieces_from_below)
{
    struct world *w = world_with_root("");

    w->retention.sessions_ms = DAY_MS;
    w->team.tree_max = 1000;
    for (int i = 0; i < 250; i++)
        CHECK_OK(
            call(w, "session.create", "{'session_name':'s%d','parent_session_name':'child'}", i)
                ->error);
    end(w, "root");
    world_pass(w, DAY_MS + 2 * 60 * 60 * 1000);
    CHECK_STR(listed(w, "{}"), "");
    world_audit(w);
    world_close(w);
}

/* One that is delivered to whoever asks for what waits, as session `name`. */
static void message_read(struct world *w, const char *name)
{
    str id = shown(w, name, "session_id");
    struct actor before = w->actor;

    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = str_from(name),
                               .token_id = STR("ss_1"),
                               .session_id = str_slice(id, 1, id.len - 1) };
    CHECK_HAS(at(call(w, "callback.take", "{}"), "/text"), "hello");
    w->actor = before;
}

static uint32_t messages(struct world *w)
{
    return json_get(answer_of(call(w, "message.list", "{}")), "messages")->len;
}

/* Their receiver may go on for ever, and the ones that it has not read stay as long. */
TEST_BOTH(messages_that_were_read_go_after_the_time_of_what_has_ended)
{
    struct world *w = world_with_root("");

    for (int i = 0; i < 3; i++)
        answer(w, "message.send", "{'to':'root','message':'hello'}");
    message_read(w, "root");
    answer(w, "message.send", "{'to':'root','message':'hello again'}");
    world_pass(w, 3000LL * DAY_MS);
    CHECK_INT(messages(w), 4); /* for good, unless the settings say */
    w->retention.sessions_ms = DAY_MS;
    w->retention.rows = 2; /* of a firing */
    world_pass(w, 60 * 60 * 1000 + 1000);
    CHECK_INT(messages(w), 1);
    message_read(w, "root");
    world_pass(w, DAY_MS - 1000);
    CHECK_INT(messages(w), 1);
    world_pass(w, 60 * 60 * 1000 + 2000);
    CHECK_INT(messages(w), 0);
    CHECK(has_session(w, "root"));
    world_audit(w);
    world_close(w);
}
