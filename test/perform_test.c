/* perform_test.c: operations through op_perform, in batches, under faults, on a real database. */
#include "json_help.h"
#include "json/schema/schema.h"
#include "sim/both.h"
#include "sim/world.h"

static struct world *world_new(void)
{
    static int worlds;
    struct world *w;

    CHECK_OK(world_open(arena_printf(check_arena(), "world%d.db", ++worlds).at, NULL, &w));
    return w;
}

static void prepare(struct world *w)
{
    CHECK_OK(
        world_call(
            w, "schema.create",
            "{'name':'code-review-workflow','json_schema':{'type':'object','required':['status'],"
            "'properties':{'status':{'enum':['pending','in_progress','done']}}}}",
            "")
            ->error);
    CHECK_OK(
        world_call(w, "state.create",
                   "{'schema_name':'code-review-workflow','initial_data':{'status':'pending'}}", "")
            ->error);
}

static int64_t version_now(struct world *w)
{
    struct command *c = world_call(w, "state.read", "{'state_id':'wfstate_2'}", "");
    CHECK_OK(c->error);
    return c->answer.version;
}

TEST_BOTH(a_state_is_made_read_and_patched_through_operations)
{
    struct world *w = world_new();
    prepare(w);

    struct command *c =
        world_call(w, "state.patch",
                   "{'state_id':'wfstate_2','operations':[{'op':'replace','path':'/status',"
                   "'value':'done'}],'expected_version':1}",
                   "");
    CHECK_OK(c->error);
    CHECK_STR(
        c->answer.text,
        "{\"state_id\":\"wfstate_2\",\"name\":null,\"schema_id\":\"schema_1\","
        "\"schema_name\":\"code-review-workflow\",\"schema_version\":1,"
        "\"root_session_id\":null,\"root_session_name\":null,\"version\":2,\"created_at\":\"2025-01-15T10:35:00Z\","
        "\"updated_at\":\"2025-01-15T10:35:00Z\"}");
    CHECK_INT(c->answer.version, 2);
    CHECK_INT(c->events->seq, 3);
    CHECK(c->events->type == EVENT_STATE_UPDATED && !c->events->next);

    c = world_call(w, "state.read", "{'state_id':'wfstate_2','pointer':'/status','version':1}", "");
    CHECK_OK(c->error);
    CHECK(str_ends(c->answer.text, STR("\"pointer\":\"/status\",\"value\":\"pending\"}")));
    c = world_call(w, "state.read", "{'state_id':'wfstate_2','query':'$.*'}", "");
    CHECK(str_ends(c->answer.text,
                   STR("\"matches\":[{\"pointer\":\"/status\",\"value\":\"done\"}]}")));
    c = world_call(w, "state.delete", "{'state_id':'wfstate_2'}", "");
    CHECK(!c->error && c->answer.empty);
    CHECK_ERR(world_call(w, "state.read", "{'state_id':'wfstate_2'}", "")->error, ERR_NOT_FOUND);
    world_close(w);
}

TEST_BOTH(bad_input_names_the_operation_and_what_is_wrong)
{
    struct world *w = world_new();
    prepare(w);

    err e = world_call(w, "state.patch", "{'state_id':'wfstate_2'}", "")->error;
    CHECK_ERR(e, ERR_INVALID);
    e = world_call(w, "state.read", "{'state_id':7}", "")->error;
    CHECK_ERR(e, ERR_INVALID);
    CHECK_STR(e->message, "state.read: /state_id: expected a string, found 7");
    e = world_call(w, "state.read", "{'state_id':'x','verion':1}", "")->error;
    CHECK_ERR(e, ERR_INVALID);
    e = world_call(w, "state.update", "{'state_id':'wfstate_2','data':{'status':'dnoe'}}", "")
            ->error;
    CHECK_ERR(e, ERR_UNFIT);
    CHECK_STR(e->message, "/status: expected one of \"pending\", \"in_progress\", \"done\", found "
                          "\"dnoe\"; did you mean \"done\"?");
    world_close(w);
}

TEST_BOTH(only_who_may_call_an_operation_gets_through)
{
    struct world *w = world_new();
    prepare(w);

    w->actor = (struct actor){ .kind = ACTOR_VIEWER, .name = STR("viewer") };
    CHECK_ERR(world_call(w, "state.update", "{'state_id':'wfstate_2','data':{'status':'done'}}", "")
                  ->error,
              ERR_FORBIDDEN);
    CHECK_OK(world_call(w, "state.read", "{'state_id':'wfstate_2'}", "")->error);
    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = STR("other"),
                               .session_id = STR("ses_1"),
                               .state_id = STR("wfstate_9") };
    CHECK_ERR(world_call(w, "state.read", "{'state_id':'wfstate_2'}", "")->error, ERR_NOT_FOUND);
    world_close(w);
}

TEST_BOTH(a_refused_command_does_not_touch_its_neighbours)
{
    struct world *w = world_new();
    prepare(w);
    struct command *batch[] = {
        world_command(w, "state.update", "{'state_id':'wfstate_2','data':{'status':'done'}}", ""),
        world_command(w, "state.update", "{'state_id':'wfstate_2','data':{'status':'nonsense'}}",
                      ""),
        world_command(w, "state.update",
                      "{'state_id':'wfstate_2','data':{'status':'pending'},'expected_version':1}",
                      ""),
        world_command(w, "state.update", "{'state_id':'wfstate_2','data':{'status':'in_progress'}}",
                      ""),
    };

    op_perform(&w->engine, batch, 4);
    CHECK_OK(batch[0]->error);
    CHECK_ERR(batch[1]->error, ERR_UNFIT);
    CHECK_ERR(batch[2]->error, ERR_CONFLICT);
    CHECK_OK(batch[3]->error);
    CHECK_INT(batch[3]->answer.version, 3);
    CHECK_INT(batch[0]->events->seq, 3);
    CHECK_INT(batch[3]->events->seq, 4); /* no number was used up by the refused ones */
    world_close(w);
}

TEST_BOTH(a_key_applies_a_command_once)
{
    struct world *w = world_new();
    prepare(w);
    static const char update[] = "{'state_id':'wfstate_2','data':{'status':'done'}}";

    struct command *first = world_call(w, "state.update", update, "k1");
    struct command *again = world_call(w, "state.update", update, "k1");
    CHECK_OK(again->error);
    CHECK(again->repeated && !again->events);
    CHECK_STR(again->answer.text, first->answer.text.at);
    CHECK_INT(again->answer.version, 2);
    CHECK_INT(version_now(w), 2);
    CHECK_ERR(world_call(w, "state.update", "{'state_id':'wfstate_2','data':{'status':'pending'}}",
                         "k1")
                  ->error,
              ERR_UNFIT);
    /* A refused command leaves its key free. */
    CHECK_ERR(world_call(w, "state.update", "{'state_id':'wfstate_2','data':{}}", "k2")->error,
              ERR_UNFIT);
    CHECK_OK(
        world_call(w, "state.update", "{'state_id':'wfstate_2','data':{'status':'pending'}}", "k2")
            ->error);
    world_close(w);
}

TEST_BOTH(time_does_not_go_back_with_the_clock)
{
    struct world *w = world_new();
    prepare(w);
    w->now_ms -= 3600000;
    struct command *c =
        world_call(w, "state.update", "{'state_id':'wfstate_2','data':{'status':'done'}}", "");
    CHECK_OK(c->error);
    CHECK_INT(c->events->time_ms, 1736937300000);
    world_close(w);
}

/* Whatever storage call fails, each command of a batch happens wholly or not at all, what was
 * acknowledged is there, and a retry with the same key applies what was not, once. */
TEST_BOTH(batches_survive_every_fault)
{
    static const enum fault_kind kinds[] = { FAULT_CALL, FAULT_DEATH, FAULT_COMMIT, FAULT_LOST };
    int faults = 0;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (uint64_t nth = 1;; nth++) {
            struct world *w = world_new();
            prepare(w);
            struct command *batch[3];
            for (int i = 0; i < 3; i++)
                batch[i] =
                    world_command(w, "state.patch",
                                  arena_printf(check_arena(),
                                               "{'state_id':'wfstate_2','operations':[{'op':'add',"
                                               "'path':'/n%d','value':%d}]}",
                                               i, i)
                                      .at,
                                  arena_printf(check_arena(), "key%d", i).at);
            w->fault = (struct fault){ kinds[k], nth, 0, 0, false };
            op_perform(&w->engine, batch, 3);
            bool fired = w->fault.fired, stopped = w->engine.stopped;
            w->fault.kind = FAULT_NONE;
            CHECK_INT(stopped, fired && kinds[k] == FAULT_LOST);
            w->engine.stopped = false; /* as after a restart */

            int64_t acknowledged = 0;
            for (int i = 0; i < 3; i++)
                acknowledged += !stopped && !batch[i]->error;
            int64_t before = version_now(w);
            CHECK_INT(before, stopped ? 4 : 1 + acknowledged);
            for (int i = 0; i < 3; i++) {
                op_perform(&w->engine, &batch[i], 1);
                CHECK_OK(batch[i]->error);
            }
            CHECK_INT(version_now(w), 4);
            world_close(w);
            if (!fired)
                break;
            faults++;
        }
    }
    check_note("%d faults", faults);
    CHECK(faults > 30);
}

TEST_BOTH(tokens_are_minted_listed_and_revoked)
{
    struct world *w = world_new();
    struct command *c = world_call(w, "token.create", "{'kind':'viewer','expires_in':60}", "k");

    CHECK_OK(c->error);
    CHECK(c->answer.created);
    CHECK_STR(c->answer.text,
              "{\"token_id\":\"vw_1\",\"kind\":\"viewer\",\"name\":\"viewer\",\"scope\":{},"
              "\"created_at\":\"2025-01-15T10:35:00Z\","
              "\"expires_at\":\"2025-01-15T10:36:00Z\",\"revoked_at\":null,"
              "\"token\":\"vw_1.BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH\"}");
    /* A secret is never kept for a repeat: the same key mints another. */
    c = world_call(w, "token.create", "{'kind':'viewer','expires_in':60}", "k");
    CHECK(!c->error && !c->repeated);
    CHECK_OK(world_call(w, "token.revoke", "{'token_id':'vw_1'}", "")->error);
    c = world_call(w, "token.list", "{'limit':1}", "");
    CHECK_STR(c->answer.next, "vw_1");
    CHECK_ERR(world_call(w, "token.create", "{'kind':'king'}", "")->error, ERR_INVALID);
    CHECK_ERR(world_call(w, "token.create", "{'kind':'session'}", "")->error, ERR_INVALID);
    w->actor = (struct actor){ .kind = ACTOR_VIEWER, .name = STR("viewer") };
    CHECK_ERR(world_call(w, "token.list", "{}", "")->error, ERR_FORBIDDEN);
    world_close(w);
}

TEST_BOTH(events_are_listed_after_a_number)
{
    struct world *w = world_new();
    prepare(w);
    struct command *c = world_call(w, "event.list", "{'after':1}", "");

    CHECK_OK(c->error);
    CHECK_STR(c->answer.text,
              "{\"events\":[{\"seq\":2,\"type\":\"workflow_state_created\","
              "\"subject\":\"wfstate_2\",\"actor\":\"operator\",\"session_id\":null,"
              "\"time\":\"2025-01-15T10:35:00Z\",\"cause\":0,\"version\":1,\"data\":[{"
              "\"op\":\"add\",\"path\":\"\",\"value\":{\"status\":\"pending\"}}]}],"
              "\"next\":2,\"seen\":2,\"oldest\":1}");
    c = world_call(w, "event.list", "{'after':2}", "");
    CHECK_STR(c->answer.text, "{\"events\":[],\"next\":2,\"seen\":2,\"oldest\":1}");
    world_close(w);
}

/* The whole table of operations and kinds of tokens. */
TEST_BOTH(every_operation_refuses_the_kinds_that_it_is_not_for)
{
    static const str job = { "build", 5 };
    static const struct {
        enum actor_kind kind;
        unsigned by;
        size_t jobs;
    } kinds[] = { { ACTOR_OPERATOR, BY_OPERATOR, 0 },
                  { ACTOR_SESSION, BY_SESSION, 0 },
                  { ACTOR_RUNNER, BY_RUNNER, 0 },
                  { ACTOR_RUNNER, BY_WORKER, 1 },
                  { ACTOR_VIEWER, BY_VIEWER, 0 } };
    struct world *w = world_new();

    for (size_t i = 0; i < op_count(w->table); i++) {
        const struct op *op = op_at(w->table, i);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            w->actor = (struct actor){ .kind = kinds[k].kind,
                                       .name = STR("somebody"),
                                       .jobs = &job,
                                       .job_count = kinds[k].jobs };
            err e = world_call(w, op->name, "{'no such field':1}", "")->error;
            CHECK_ERR(e, op->by & kinds[k].by ? ERR_INVALID : ERR_FORBIDDEN);
        }
    }
    check_note("%zu operations", op_count(w->table));
    world_close(w);
}

/* ---- turns of a writer who has others waiting ---- */

struct shift {
    size_t done, most;
    struct command *late; /* who comes when the first are done; NULL: nobody */
};

static bool shift_enough(void *self, size_t done)
{
    struct shift *s = self;

    s->done = done;
    return done >= s->most;
}

static size_t shift_join(void *self, struct command **room, size_t most)
{
    struct shift *s = self;

    if (!s->late || !most || !s->done)
        return 0;
    room[0] = s->late;
    s->late = NULL;
    return 1;
}

static struct command *patch_of(struct world *w, const char *status)
{
    return world_command(w, "state.patch",
                         arena_printf(w->arena,
                                      "{'state_id':'wfstate_2','operations':[{'op':'replace',"
                                      "'path':'/status','value':'%s'}]}",
                                      status)
                             .at,
                         "");
}

TEST_BOTH(a_batch_ends_when_enough_was_done_and_leaves_the_rest_as_it_was)
{
    struct world *w = world_new();
    prepare(w);
    struct command *batch[6];
    struct shift shift = { .most = 2 };
    struct op_turn turn = { .most = 6, .join = shift_join, .enough = shift_enough, .self = &shift };
    size_t count = 5;

    for (int i = 0; i < 5; i++)
        batch[i] = patch_of(w, i % 2 ? "pending" : "done");
    CHECK_INT(op_perform_turn(&w->engine, batch, &count, &turn), 2);
    CHECK_INT(count, 5);
    CHECK(!batch[1]->error && batch[1]->answer.version == 3);
    for (int i = 2; i < 5; i++)
        CHECK(!batch[i]->error && !batch[i]->answer.version && !batch[i]->answer.text.len);
    CHECK_INT(version_now(w), 3);

    /* The rest is performed in the next turn, with whoever came meanwhile. */
    shift = (struct shift){ .most = 100, .late = patch_of(w, "in_progress") };
    count = 3;
    CHECK_INT(op_perform_turn(&w->engine, batch + 2, &count, &turn), 4);
    CHECK_INT(count, 4);
    CHECK_INT(batch[5]->answer.version, 7);
    world_close(w);
}

static int64_t answer_version(const struct command *c)
{
    CHECK_OK(c->error);
    const struct json *answer = json_parsed(c->arena, c->answer.text);
    return json_int_or(answer, "version", 0);
}

TEST_BOTH(a_prepared_command_does_what_one_does_that_was_not)
{
    struct world *w = world_new();
    static const char *const inputs[] = {
        "{'name':'a','json_schema':{'properties':{'x':{'pattern':'^a+$'}}}}",
        "{'name':'a','json_schema':{'properties':{'x':{'pattern':'^a+$'}}}}",
        "{'name':'a','json_schema':{'type':'strin'}}",
        "{'name':'a'}",
        "{'name':'a b','json_schema':true}",
    };

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct command *plain = world_command(w, "schema.create", inputs[i], "");
        struct command *ahead = world_command(w, "schema.create", inputs[i], "");
        CHECK(op_wants_preparing(ahead));
        bool good = op_prepare(w->table, ahead);
        CHECK(good == !ahead->error);
        op_perform(&w->engine, &plain, 1);
        if (good)
            op_perform(&w->engine, &ahead, 1);
        CHECK(!plain->error == !ahead->error);
        if (plain->error)
            CHECK_STR(ahead->error->message, plain->error->message.at);
        else
            CHECK_STR(ahead->answer.text, plain->answer.text.at);
    }

    /* One that is performed again, because its batch was, makes again what it has given away. */
    struct command *twice =
        world_command(w, "schema.create", "{'name':'b','json_schema':true}", "");
    CHECK(op_prepare(w->table, twice));
    op_perform(&w->engine, &twice, 1);
    CHECK_OK(world_call(w, "schema.create", "{'name':'b','json_schema':false}", "")->error);
    op_perform(&w->engine, &twice, 1);
    CHECK_INT(answer_version(twice), 3);
    w->actor = (struct actor){ .kind = ACTOR_VIEWER, .name = STR("viewer") };
    struct command *forbidden = world_command(w, "schema.create", inputs[0], "");
    CHECK(!op_prepare(w->table, forbidden));
    CHECK_ERR(forbidden->error, ERR_FORBIDDEN);
    world_close(w);
}

TEST_BOTH(what_is_taken_although_it_should_not_be_is_told)
{
    struct world *w = world_new();
    struct command *c = world_call(w, "schema.create",
                                   "{'name':'a','json_schema':{'$schema':"
                                   "'https://json-schema.org/draft-07/schema#',"
                                   "'properties':{'x':{'$id':'#/properties/x'}}}}",
                                   "");
    CHECK_OK(c->error);
    CHECK_HAS(c->answer.text, "\"warnings\":[{\"pointer\":\"/properties/x\",\"keyword\":\"$id\",");
    c = world_call(w, "schema.create", "{'name':'b','json_schema':true}", "");
    CHECK(!str_contains(c->answer.text, STR("warnings")));
    c = world_call(w, "schema.create", "{'name':'c','json_schema':{'$ref':'#'}}", "");
    CHECK_ERR(c->error, ERR_UNFIT);
    CHECK_HAS(c->error->message, "# → #");
    world_close(w);
}

/* ---- integers ---- */

static bool is_refused_at(const struct op_table *t, const struct op *op, str field,
                          const char *value)
{
    struct arena *a = check_arena();
    struct json input = json_object();
    const struct violation *why;
    str pointer = arena_printf(a, "/" STR_FMT, STR_ARG(field));

    const struct json *parsed = json_parsed(a, str_from(value));
    json_put(a, &input, field, *parsed);
    size_t count = schema_explain(a, op_input_schema(t, op), &input, 50, &why);
    for (size_t i = 0; i < count; i++)
        if (str_eq(why[i].pointer, pointer))
            return true;
    return false;
}

/* A handler that asked for an integer and got none would take it for absent. */
TEST(every_integer_of_an_input_is_one_of_64_bits)
{
    static const char *const beyond[] = {
        "9223372036854775808",  "-9223372036854775809", "1e300", "-1e300", "1e19", "1.5",
        "9223372036854775807.5"
    };
    struct op_table *t;
    int fields = 0;

    CHECK_OK(op_table_all(check_arena(), &t));
    for (size_t i = 0; i < op_count(t); i++) {
        const struct op *op = op_at(t, i);
        const struct json *all = op_fields(t, op);
        for (uint32_t f = 0; f < all->len; f++) {
            str name = json_name(&all->members[f]);
            if (!str_eq(json_str(&all->members[f].value, "type"), STR("integer")))
                continue;
            fields++;
            for (size_t v = 0; v < sizeof beyond / sizeof *beyond; v++)
                if (!is_refused_at(t, op, name, beyond[v]))
                    check_fail(__FILE__, __LINE__, "%s takes %s for " STR_FMT, op->name, beyond[v],
                               STR_ARG(name));
        }
    }
    CHECK(fields > 30);
    check_note("%d fields", fields);
    op_table_free(t);
}

TEST_BOTH(a_version_that_no_state_can_have_is_a_bad_request)
{
    struct world *w = world_new();
    prepare(w);
    static const struct {
        const char *version;
        bool good;
    } cases[] = {
        { "9223372036854775808", false },
        { "1e300", false },
        { "18446744073709551617", false },
        { "1.5", false },
        { "0", false },
        { "1.0", true },
        { "0.1e1", true },
        { "1", true },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t version = version_now(w);
        struct command *c =
            world_call(w, "state.update",
                       arena_printf(w->arena,
                                    "{'state_id':'wfstate_2','data':{'status':'done'},"
                                    "'expected_version':%s}",
                                    cases[i].version)
                           .at,
                       "");
        if (!cases[i].good)
            CHECK_ERR(c->error, ERR_INVALID);
        else if (version == 1)
            CHECK_OK(c->error);
        else
            CHECK_ERR(c->error, ERR_CONFLICT);
        CHECK_INT(version_now(w), version + (c->error ? 0 : 1));
    }
    world_close(w);
}
