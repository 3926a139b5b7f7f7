/* states_test.c: operations on states and schemas, through op_perform. */
#include "check.h"
#include "core/retain.h"
#include "json_help.h"
#include "sim/both.h"
#include "sim/world.h"

static struct world *world_new(void)
{
    struct world *w;

    CHECK_OK(world_open("states.db", NULL, &w));
    CHECK_OK(world_call(w, "schema.create",
                        "{'name':'task','json_schema':{'type':'object','required':['status'],"
                        "'properties':{'status':{'enum':['open','done']}}}}",
                        "")
                 ->error); /* schema_1 */
    return w;
}

/* Performs a command that must succeed, and gives its answer with single quotes. */
static str answer(struct world *w, const char *op, const char *input)
{
    struct command *c = world_call(w, op, input, "");

    CHECK_OK(c->error);
    const struct json *json = json_parsed(check_arena(), c->answer.text);
    return json_shown(check_arena(), json);
}

static err refused(struct world *w, const char *op, const char *input)
{
    return world_call(w, op, input, "")->error;
}

static int count_of(str text, const char *part)
{
    int count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += str_starts(str_slice(text, i, text.len), str_from(part));
    return count;
}

static void create(struct world *w, const char *data)
{
    answer(w, "state.create",
           arena_printf(check_arena(), "{'schema_name':'task','initial_data':%s}", data).at);
}

static void patch(struct world *w, const char *id, const char *operations)
{
    answer(w, "state.patch",
           arena_printf(check_arena(), "{'state_id':'%s','operations':%s}", id, operations).at);
}

/* ---- what writes answer ---- */

#define HEAD(version)                                                                                     \
    "{'state_id':'wfstate_2','name':null,'schema_id':'schema_1','schema_name':'task','schema_version':1," \
    "'root_session_id':null,'root_session_name':null,'version':" version                                  \
    ",'created_at':'2025-01-15T10:35:00Z','updated_at':'2025-01-15T10:35:00Z'"

TEST_BOTH(a_write_answers_the_version_and_the_document_on_request)
{
    struct world *w = world_new();

    CHECK_STR(answer(w, "state.create", "{'schema_name':'task','initial_data':{'status':'open'}}"),
              HEAD("1") "}");
    CHECK_STR(answer(w, "state.update", "{'state_id':'wfstate_2','data':{'status':'done'}}"),
              HEAD("2") "}");
    CHECK_STR(answer(w, "state.patch",
                     "{'state_id':'wfstate_2','merge':{'n':1},'representation':true}"),
              HEAD("3") ",'current_data':{'status':'done','n':1}}");
    CHECK_STR(answer(w, "state.rollback",
                     "{'state_id':'wfstate_2','version':1,'representation':true}"),
              HEAD("4") ",'current_data':{'status':'open'}}");
    world_close(w);
}

/* By value: neither the order of members nor how a number is written is a change. */
TEST_BOTH(a_write_that_changes_nothing_makes_no_version)
{
    static const struct {
        const char *op, *members;
    } writes[] = {
        { "state.patch", "'operations':[]" },
        { "state.patch", "'operations':[{'op':'test','path':'/status','value':'open'}]" },
        { "state.patch", "'operations':[{'op':'replace','path':'/status','value':'open'}]" },
        { "state.patch",
          "'operations':[{'op':'add','path':'/a','value':1},{'op':'remove','path':'/a'}]" },
        { "state.patch",
          "'operations':[{'op':'remove','path':'/n'},{'op':'add','path':'/n','value':1.0}]" },
        { "state.patch", "'operations':[{'op':'move','from':'/n','path':'/n'}]" },
        { "state.patch", "'merge':{}" },
        { "state.patch", "'merge':{'none':null,'n':1e0}" },
        { "state.update", "'data':{'n':1,'status':'open'}" },
        { "state.rollback", "'version':1" },
        { "state.migrate", "'schema_version':1" },
    };
    struct world *w = world_new();

    create(w, "{'status':'open','n':1}");
    w->now_ms += 5000;
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        struct command *c =
            world_call(w, writes[i].op,
                       arena_printf(check_arena(),
                                    "{'state_id':'wfstate_2',%s,'expected_version':1}",
                                    writes[i].members)
                           .at,
                       "");
        CHECK_OK(c->error);
        CHECK(!c->events);
        CHECK_INT(c->answer.version, 1);
        const struct json *told = json_parsed(check_arena(), c->answer.text);
        CHECK_STR(json_shown(check_arena(), told), HEAD("1") ",'unchanged':true}");
        CHECK_ERR(refused(w, writes[i].op,
                          arena_printf(check_arena(),
                                       "{'state_id':'wfstate_2',%s,'expected_version':2}",
                                       writes[i].members)
                              .at),
                  ERR_CONFLICT);
    }
    world_audit(w);
    world_close(w);
}

/* Asked again under its key, it is answered as it was, though the document has changed since. */
TEST_BOTH(a_write_that_changed_nothing_is_repeated_under_its_key)
{
    static const char same[] = "{'state_id':'wfstate_2','merge':{'status':'open'}}";
    struct world *w = world_new();

    create(w, "{'status':'open'}");
    struct command *first = world_call(w, "state.patch", same, "key");
    CHECK_OK(first->error);
    patch(w, "wfstate_2", "[{'op':'replace','path':'/status','value':'done'}]");
    struct command *again = world_call(w, "state.patch", same, "key");
    CHECK_OK(again->error);
    CHECK(again->repeated && !again->events);
    CHECK_STR(again->answer.text, first->answer.text.at);
    CHECK_STR(answer(w, "state.read", "{'state_id':'wfstate_2','pointer':'/status'}"),
              HEAD("2") ",'pointer':'/status','value':'done'}");
    world_close(w);
}

TEST_BOTH(a_touch_makes_a_version_that_history_marks)
{
    struct world *w = world_new();

    create(w, "{'status':'open'}");
    CHECK_STR(answer(w, "state.patch", "{'state_id':'wfstate_2','operations':[],'touch':true}"),
              HEAD("2") "}");
    CHECK_STR(answer(w, "state.update",
                     "{'state_id':'wfstate_2','data':{'status':'open'},'touch':true}"),
              HEAD("3") "}");
    CHECK_STR(answer(w, "state.patch",
                     "{'state_id':'wfstate_2','merge':{'status':'done'},'touch':true}"),
              HEAD("4") "}");
    str history = answer(w, "state.history", "{'state_id':'wfstate_2'}");
    CHECK_INT(count_of(history, "'touch':true"), 2);
    CHECK_INT(count_of(history, "'touch':true,'time'"), 2);
    CHECK_HAS(history, "{'version':3,'seq':4,'type':'workflow_state_updated','touch':"
                       "true,'time':'2025-01-15T10:35:00Z','actor':'operator',"
                       "'session_id':null,'patch':[]}");
    CHECK_STR(answer(w, "state.diff", "{'state_id':'wfstate_2','from':1,'to':3}"),
              "{'state_id':'wfstate_2','from':1,'to':3,'patch':[]}");
    world_audit(w);
    world_close(w);
}

/* What a write leaves for readers is, to the byte, what a reader would be told. */
TEST_BOTH(every_write_shows_what_a_read_would_answer)
{
    static const struct {
        const char *op, *input;
    } writes[] = {
        { "state.create", "{'schema_name':'task','initial_data':{'status':'open'}}" },
        { "state.update", "{'state_id':'wfstate_2','data':{'status':'done','a':[]}}" },
        { "state.update",
          "{'state_id':'wfstate_2','data':{'status':'done'},'representation':true}" },
        { "state.patch",
          "{'state_id':'wfstate_2','operations':[{'op':'add','path':'/n','value':1.0}]}" },
        { "state.patch", "{'state_id':'wfstate_2','merge':{'n':2},'representation':true}" },
        { "state.rollback", "{'state_id':'wfstate_2','version':1}" },
        { "state.migrate",
          "{'state_id':'wfstate_2','schema_version':1,'operations':[{'op':'add','path':'/m',"
          "'value':1}]}" },
    };
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        struct command *write = world_call(w, writes[i].op, writes[i].input, "");
        CHECK_OK(write->error);
        CHECK_STR(write->answer.cached_id, "wfstate_2");
        struct command *read = world_call(w, "state.read", "{'state_id':'wfstate_2'}", "");
        CHECK_STR(write->answer.cached, read->answer.text.at);
        CHECK_STR(read->answer.cached, read->answer.text.at);
        CHECK_STR(read->answer.cached_id, "wfstate_2");
        CHECK_INT(read->answer.version, (long long)i + 1);
    }
    struct command *part =
        world_call(w, "state.read", "{'state_id':'wfstate_2','pointer':'/status'}", "");
    CHECK_STR(part->answer.cached_id, "");
    part = world_call(w, "state.read", "{'state_id':'wfstate_2','version':1}", "");
    CHECK_STR(part->answer.cached_id, "");
    world_close(w);
}

/* ---- what an update takes from others ---- */

static void act_as_session(struct world *w, const char *name)
{
    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = str_from(name),
                               .session_id = str_from(name),
                               .state_id = STR("wfstate_2") };
}

/* Where values were that an update has taken away; "": none. */
static str dropped(struct world *w, const char *members)
{
    struct command *c =
        world_call(w, "state.update",
                   arena_printf(check_arena(), "{'state_id':'wfstate_2',%s}", members).at, "");
    struct buf out = buf_in(check_arena());

    CHECK_OK(c->error);
    const struct json *all =
        json_get(json_get(json_parsed(check_arena(), c->answer.text), "dropped"), "pointers");
    for (uint32_t i = 0; all && i < all->len; i++)
        buf_printf(&out, "%s" STR_FMT, i ? " " : "", STR_ARG(json_text(&all->items[i])));
    return buf_str(&out);
}

TEST_BOTH(an_update_says_what_it_takes_from_others)
{
    struct world *w = world_new();

    create(w, "{'status':'open','a':{'x':1},'list':[1,2],'mine':0}");
    act_as_session(w, "ann");
    patch(w, "wfstate_2", "[{'op':'replace','path':'/mine','value':1}]");
    act_as_session(w, "bob");
    patch(
        w, "wfstate_2",
        "[{'op':'add','path':'/a/y','value':{'z':1}},{'op':'add','path':'/list/0','value':9},"
        "{'op':'add','path':'/new','value':true},{'op':'replace','path':'/status','value':'done'}]");
    act_as_session(w, "ann");
    /* She has not seen any of it: what is removed, and what is put back to what it was. */
    CHECK_STR(dropped(w, "'data':{'status':'open','a':{'x':1},'list':[1,2],'mine':2}"),
              "/status /a/y /list/0 /new");
    /* What was there before, and what she wrote herself, is hers to change. */
    CHECK_STR(dropped(w, "'data':{'status':'open','list':[2],'mine':3}"), "");
    world_audit(w);
    world_close(w);
}

TEST_BOTH(an_update_that_keeps_what_others_wrote_takes_nothing)
{
    struct world *w = world_new();

    create(w, "{'status':'open','list':[{'id':1}],'o':{}}");
    act_as_session(w, "ann");
    patch(w, "wfstate_2", "[{'op':'add','path':'/ann','value':1}]");
    act_as_session(w, "bob");
    patch(
        w, "wfstate_2",
        "[{'op':'add','path':'/list/-','value':{'id':2}},{'op':'add','path':'/o/bob','value':1}]");
    act_as_session(w, "ann");
    CHECK_STR(dropped(w, "'data':{'status':'done','list':[{'id':0},{'id':1},{'id':2}],"
                         "'o':{'bob':1,'ann':1}}"),
              "");
    world_close(w);
}

TEST_BOTH(an_update_counts_from_the_version_that_it_was_made_from)
{
    struct world *w = world_new();

    create(w, "{'status':'open'}");
    act_as_session(w, "bob");
    patch(w, "wfstate_2", "[{'op':'add','path':'/bob','value':1}]"); /* 2 */
    act_as_session(w, "ann");
    patch(w, "wfstate_2", "[{'op':'add','path':'/ann','value':1}]"); /* 3 */
    /* Her own last write does not say that she has seen what was before it; nor is hers told. */
    CHECK_STR(dropped(w, "'data':{'status':'open'},'base_version':1"), "/bob"); /* 4 */
    act_as_session(w, "bob");
    patch(w, "wfstate_2", "[{'op':'add','path':'/bob','value':2}]"); /* 5 */
    act_as_session(w, "ann");
    CHECK_STR(dropped(w, "'data':{'status':'done'},'base_version':5"), "");
    CHECK_STR(dropped(w, "'data':{'status':'open'},'expected_version':6"), "");
    CHECK_ERR(refused(w, "state.update",
                      "{'state_id':'wfstate_2','data':{'status':'done'},'base_version':8}"),
              ERR_INVALID);
    world_close(w);
}

/* The one who has not written before, or so long ago that it is not looked for. */
TEST_BOTH(an_update_of_somebody_new_says_which_members_are_gone)
{
    struct world *w = world_new();

    create(w, "{'status':'open','a':{'x':1,'y':{'z':1}},'b/c':[{'q':1}],'same':1}");
    act_as_session(w, "ann");
    CHECK_STR(dropped(w, "'data':{'status':'open','a':{'y':{}},'same':2}"), "/a/x /a/y/z /b~1c");
    act_as_session(w, "bob");
    for (int i = 0; i < 101; i++)
        patch(w, "wfstate_2",
              arena_printf(check_arena(), "[{'op':'add','path':'/m%02d','value':%d}]", i, i).at);
    act_as_session(w, "ann");
    struct command *c =
        world_call(w, "state.update", "{'state_id':'wfstate_2','data':{'status':'open'}}", "");
    CHECK_OK(c->error);
    const struct json *told = json_get(json_parsed(check_arena(), c->answer.text), "dropped");
    CHECK_INT(json_int_or(told, "count", 0), 103);
    CHECK_INT(json_get(told, "pointers")->len, 20);
    world_close(w);
}

/* Which of many elements are another's takes too long to say. */
TEST(an_update_of_a_long_list_says_that_it_was_changed)
{
    struct buf old = buf_in(check_arena()), new = buf_in(check_arena());
    struct world *w = world_new();

    create(w, "{'status':'open'}");
    act_as_session(w, "ann");
    patch(w, "wfstate_2", "[{'op':'add','path':'/list','value':[]}]");
    for (int i = 0; i < 500; i++) {
        buf_printf(&old, "%s%d", i ? "," : "", i);
        buf_printf(&new, "%s%d", i ? "," : "", 1000 + i);
    }
    act_as_session(w, "bob");
    patch(w, "wfstate_2",
          arena_printf(check_arena(), "[{'op':'add','path':'/list','value':[" STR_FMT "]}]",
                       STR_ARG(buf_str(&old)))
              .at);
    act_as_session(w, "ann");
    CHECK_STR(dropped(w,
                      arena_printf(check_arena(), "'data':{'status':'open','list':[" STR_FMT "]}",
                                   STR_ARG(buf_str(&new)))
                          .at),
              "/list");
    world_close(w);
}

/* ---- reading ---- */

TEST_BOTH(a_reader_can_wait_for_a_version)
{
    struct world *w = world_new();
    create(w, "{'status':'open'}");
    static const char wait[] = "{'state_id':'wfstate_2','wait_version':2,'timeout':5}";

    struct command *c =
        world_call(w, "state.read", "{'state_id':'wfstate_2','wait_version':1}", "");
    CHECK(!c->error && !c->answer.waits);
    c = world_command(w, "state.read", wait, "");
    op_perform(&w->engine, &c, 1);
    CHECK_OK(c->error);
    CHECK(c->answer.waits && c->answer.text.len == 0);
    CHECK_STR(c->answer.wait_subject, "wfstate_2");
    CHECK_INT(c->answer.wait_seq, 2);
    CHECK_INT(c->answer.wait_until_ms, w->now_ms + 5000);

    c->wait_over = true;
    op_perform(&w->engine, &c, 1);
    CHECK(!c->error && !c->answer.waits);
    CHECK_INT(c->answer.version, 1);

    patch(w, "wfstate_2", "[{'op':'replace','path':'/status','value':'done'}]");
    c = world_call(w, "state.read", wait, "");
    CHECK(!c->error && !c->answer.waits);
    CHECK_INT(c->answer.version, 2);
    CHECK_ERR(refused(w, "state.read", "{'state_id':'wfstate_2','wait_version':3,'timeout':61}"),
              ERR_INVALID);
    CHECK_ERR(refused(w, "state.read", "{'state_id':'wfstate_9','wait_version':3}"), ERR_NOT_FOUND);
    world_close(w);
}

TEST_BOTH(a_reader_can_ask_for_what_changed)
{
    struct world *w = world_new();
    create(w, "{'status':'open','list':[1]}");
    patch(w, "wfstate_2", "[{'op':'add','path':'/list/-','value':2}]");
    patch(w, "wfstate_2", "[{'op':'add','path':'/list/-','value':3}]");

    CHECK_STR(answer(w, "state.read", "{'state_id':'wfstate_2','since_version':2}"),
              HEAD("3") ",'from_version':2,"
                        "'patch':[{'op':'add','path':'/list/-','value':3}]}");
    CHECK_STR(answer(w, "state.read", "{'state_id':'wfstate_2','since_version':3}"),
              HEAD("3") ",'from_version':3,'patch':[]}");
    CHECK_STR(
        answer(w, "state.diff", "{'state_id':'wfstate_2','from':3,'to':2}"),
        "{'state_id':'wfstate_2','from':3,'to':2,'patch':[{'op':'remove','path':'/list/2'}]}");
    CHECK_STR(answer(w, "state.diff", "{'state_id':'wfstate_2','from':2}"),
              "{'state_id':'wfstate_2','from':2,'to':3,"
              "'patch':[{'op':'add','path':'/list/-','value':3}]}");
    CHECK_ERR(refused(w, "state.read", "{'state_id':'wfstate_2','since_version':4}"),
              ERR_NOT_FOUND);
    static const char *const unclear[] = {
        "{'state_id':'wfstate_2','since_version':1,'pointer':'/list'}",
        "{'state_id':'wfstate_2','since_version':1,'version':2}",
        "{'state_id':'wfstate_2','query':'$.x','pointer':'/list'}",
        "{'state_id':'wfstate_2','wait_version':4,'version':1}",
    };
    for (size_t i = 0; i < sizeof unclear / sizeof *unclear; i++)
        CHECK_ERR(refused(w, "state.read", unclear[i]), ERR_INVALID);
    world_close(w);
}

TEST_BOTH(a_state_shows_its_schema)
{
    struct world *w = world_new();
    create(w, "{'status':'open'}");

    answer(w, "schema.create", "{'name':'task','json_schema':true,'description':'anything'}");
    CHECK_STR(answer(w, "state.schema", "{'state_id':'wfstate_2'}"),
              "{'schema_id':'schema_1','name':'task','version':1,'description':'',"
              "'created_at':'2025-01-15T10:35:00Z','updated_at':'2025-01-15T10:35:00Z',"
              "'json_schema':{'type':'object',"
              "'required':['status'],'properties':{'status':{'enum':['open','done']}}}}");
    world_close(w);
}

/* ---- lists ---- */

static str listed(struct world *w, const char *input)
{
    struct command *c = world_call(w, "state.list", input, "");
    struct buf ids = buf_in(check_arena());

    CHECK_OK(c->error);
    const struct json *json = json_parsed(check_arena(), c->answer.text);
    const struct json *states = json_get(json, "states");
    for (uint32_t i = 0; i < states->len; i++) {
        CHECK(!json_get(&states->items[i], "current_data"));
        buf_printf(&ids, "%s" STR_FMT, i ? " " : "",
                   STR_ARG(str_slice(json_str(&states->items[i], "state_id"), 8, 100)));
    }
    CHECK_STR(json_str(json, "next"), c->answer.next.len ? c->answer.next.at : "");
    if (c->answer.next.len)
        buf_printf(&ids, " > " STR_FMT, STR_ARG(c->answer.next));
    return buf_str(&ids);
}

TEST_BOTH(states_are_listed_by_page_and_by_what_they_belong_to)
{
    struct world *w = world_new();

    answer(w, "schema.create", "{'name':'other','json_schema':true}"); /* takes id 2 */
    static const char *const states[] = {
        "{'schema_name':'task','initial_data':{'status':'open'}}",
        "{'schema_name':'other','initial_data':1,'root_session':'ses_a'}",
        "{'schema_name':'task','initial_data':{'status':'open'},'root_session':'ses_b'}",
        "{'schema_name':'other','initial_data':2}",
    };
    answer(w, "session.create", "{'session_id':'ses_a','session_name':'a'}");
    answer(w, "session.create", "{'session_id':'ses_b','session_name':'b'}");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        answer(w, "state.create", states[i]);
    CHECK_STR(listed(w, "{}"), "3 4 5 6");
    CHECK_STR(listed(w, "{'limit':2}"), "3 4 > wfstate_4");
    CHECK_STR(listed(w, "{'limit':2,'after':'wfstate_4'}"), "5 6");
    CHECK_STR(listed(w, "{'schema':'task'}"), "3 5");
    CHECK_STR(listed(w, "{'schema':'task','limit':1}"), "3 > wfstate_3");
    CHECK_STR(listed(w, "{'schema':'task','active':true}"), "5");
    CHECK_STR(listed(w, "{'schema':'none'}"), "");
    CHECK_STR(listed(w, "{'root_session':'ses_a'}"), "4");
    CHECK_STR(listed(w, "{'root_session':'a'}"), "4");
    CHECK_STR(listed(w, "{'root_session':'ses_a','schema':'task'}"), "");
    CHECK_STR(listed(w, "{'active':true}"), "4 5");
    CHECK_STR(listed(w, "{'active':true,'after':'wfstate_4'}"), "5");
    answer(w, "session.stop", "{'session_id':'b'}");
    CHECK_STR(listed(w, "{'active':true}"), "4");
    CHECK_STR(listed(w, "{'root_session':'b','active':true}"), "");

    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = STR("x"),
                               .session_id = STR("ses_a"),
                               .state_id = STR("wfstate_4") };
    CHECK_STR(listed(w, "{}"), "4");
    CHECK_STR(listed(w, "{'schema':'task'}"), "");
    CHECK_STR(listed(w, "{'after':'wfstate_4'}"), "");
    world_close(w);
}

TEST_BOTH(schemas_are_listed_by_page)
{
    struct world *w = world_new();

    answer(w, "schema.create", "{'name':'task','json_schema':true,'description':'anything'}");
    struct command *again =
        world_call(w, "schema.create",
                   "{'name':'task','json_schema':true,'description':'other words'}", "");
    CHECK(!again->error && !again->answer.created && !again->events);
    answer(w, "schema.create", "{'name':'b','json_schema':false}");
    CHECK_STR(
        answer(w, "schema.list", "{'limit':1}"),
        "{'schemas':[{'schema_id':'schema_3','name':'b','version':1,'description':'',"
        "'created_at':'2025-01-15T10:35:00Z','updated_at':'2025-01-15T10:35:00Z'}],'next':'b'}");
    CHECK_STR(
        answer(w, "schema.list", "{'limit':1,'after':'b'}"),
        "{'schemas':[{'schema_id':'schema_2','name':'task','version':2,"
        "'description':'anything','created_at':'2025-01-15T10:35:00Z','updated_at':'2025-01-15T10:35:00Z'}]}");
    struct command *c = world_call(w, "schema.versions", "{'name':'task','limit':1}", "");
    CHECK_STR(c->answer.next, "2");
    CHECK(str_ends(c->answer.text, STR("\"next\":2}")));
    c = world_call(w, "schema.versions", "{'name':'task','limit':1,'after':2}", "");
    CHECK_STR(c->answer.next, "");
    CHECK(str_starts(c->answer.text, STR("{\"schemas\":[{\"schema_id\":\"schema_1\"")));
    world_close(w);
}

/* ---- history ---- */

TEST_BOTH(history_is_listed_by_page)
{
    struct world *w = world_new();
    create(w, "{'status':'open'}");
    patch(w, "wfstate_2", "[{'op':'add','path':'/n','value':1}]");
    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = STR("child"),
                               .session_id = STR("ses_1"),
                               .state_id = STR("wfstate_2") };
    patch(w, "wfstate_2", "[{'op':'remove','path':'/n'}]");

    CHECK_STR(answer(w, "state.history", "{'state_id':'wfstate_2','limit':1}"),
              "{'versions':[{'version':3,'seq':4,'type':'workflow_state_updated',"
              "'time':'2025-01-15T10:35:00Z','actor':'child','session_id':'ses_1',"
              "'patch':[{'op':'remove','path':'/n'}]}],'next':3}");
    CHECK_STR(answer(w, "state.history", "{'state_id':'wfstate_2','after':2}"),
              "{'versions':[{'version':1,'seq':2,'type':'workflow_state_created',"
              "'time':'2025-01-15T10:35:00Z','actor':'operator','session_id':null,"
              "'patch':[{'op':'add','path':'','value':{'status':'open'}}]}]}");
    CHECK_STR(answer(w, "state.history", "{'state_id':'wfstate_2','after':1}"), "{'versions':[]}");
    world_close(w);
}

/* Of what was compacted, some versions are left; the others say so. */
TEST_BOTH(a_compacted_version_says_which_ones_there_are)
{
    static const struct retention small = {
        .events = 1, .events_ms = 1, .versions = 10, .versions_step = 5, .keys_ms = 1, .rows = 1000
    };
    struct world *w = world_new();
    w->engine.retention = &small;
    create(w, "{'status':'open','old':1,'pad':'0123456789012345678901234567890123456789'}");
    for (int i = 2; i <= 27; i++)
        patch(w, "wfstate_2",
              arena_printf(check_arena(), "[{'op':'add','path':'/n','value':%d}]", i).at);
    w->now_ms += 100;
    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    for (int i = 0; i < 50; i++) {
        CHECK_OK(world_call(w, "system.tick", "{}", "")->error);
        w->now_ms += 3600 * 1000;
    }
    w->actor = (struct actor){ .kind = ACTOR_OPERATOR, .name = STR("operator") };

    for (int v = 1; v <= 27; v++) {
        err e = refused(w, "state.read",
                        arena_printf(check_arena(), "{'state_id':'wfstate_2','version':%d}", v).at);
        if (v >= 15 || v % 5 == 0)
            CHECK_OK(e);
        else
            CHECK_ERR(e, ERR_GONE);
        if (v == 7)
            CHECK_STR(e->message, "version 7 of state wfstate_2 is not kept any more: there are "
                                  "those from 15 on, and of the older ones each 5th");
    }
    struct command *c = world_call(w, "state.history", "{'state_id':'wfstate_2','after':16}", "");
    const struct json *json = json_parsed(check_arena(), c->answer.text);
    CHECK_INT(json_get(json, "versions")->len, 3); /* 15, 10 and 5 */

    CHECK_ERR(refused(w, "state.rollback", "{'state_id':'wfstate_2','version':7}"), ERR_GONE);
    CHECK_STR(answer(w, "state.blame", "{'state_id':'wfstate_2','pointer':'/old'}"),
              "{'state_id':'wfstate_2','version':27,'entries':[{'pointer':'/old',"
              "'version':null,'before':16}],'truncated':false}");
    answer(w, "state.rollback", "{'state_id':'wfstate_2','version':5}");
    world_close(w);
}

TEST_BOTH(a_deleted_state_is_due_to_be_purged)
{
    struct world *w = world_new();
    const struct row *row;
    create(w, "{'status':'open'}");

    CHECK_ERR(refused(w, "state.delete", "{'state_id':'wfstate_2','expected_version':2}"),
              ERR_CONFLICT);
    CHECK_OK(refused(w, "state.delete", "{'state_id':'wfstate_2'}"));
    CHECK_OK(store_begin(w->engine.sql, check_arena(), &(struct store_node){ 0 }));
    CHECK_OK(sql_one(w->engine.sql, &row,
                     "SELECT at, arg FROM due WHERE kind = 'purge_state' AND subject = 'wfstate_2'",
                     NO_ARGS));
    CHECK(row);
    CHECK_INT(row_int(row, 0), w->now_ms + 24 * 3600 * 1000);
    CHECK_INT(row_int(row, 1), 2);
    store_rollback(w->engine.sql);
    world_close(w);
}

/* ---- migrating ---- */

TEST_BOTH(a_state_is_migrated_to_another_version_of_its_schema)
{
    struct world *w = world_new();
    create(w, "{'status':'open'}");
    answer(w, "schema.create",
           "{'name':'task','json_schema':{'required':['phase'],'properties':{'status':false}}}");
    static const char operations[] =
        "'operations':[{'op':'move','from':'/status','path':'/phase'}]";

    CHECK_STR(answer(w, "state.migrate",
                     arena_printf(check_arena(),
                                  "{'state_id':'wfstate_2','schema_version':2,'dry_run':true,%s}",
                                  operations)
                         .at),
              HEAD("1") ",'valid':true,'errors':[],'would_be':{'phase':'open'}}");
    CHECK_STR(answer(w, "state.migrate",
                     "{'state_id':'wfstate_2','schema_version':2,'dry_run':true,'operations':"
                     "[{'op':'remove','path':'/status'}]}"),
              HEAD("1") ",'valid':false,'errors':[{'pointer':'','keyword':'required',"
                        "'message':'the required member \\'phase\\' is missing'}],'would_be':{}}");
    CHECK_ERR(refused(w, "state.migrate", "{'state_id':'wfstate_2','schema_version':2}"),
              ERR_UNFIT);
    CHECK_ERR(refused(w, "state.migrate", "{'state_id':'wfstate_2','schema_version':3}"),
              ERR_NOT_FOUND);

    struct command *c = world_call(w, "state.migrate",
                                   arena_printf(check_arena(),
                                                "{'state_id':'wfstate_2','schema_version':2,"
                                                "'expected_version':1,%s}",
                                                operations)
                                       .at,
                                   "");
    CHECK_OK(c->error);
    CHECK(c->events->type == EVENT_STATE_MIGRATED);
    CHECK_STR(answer(w, "state.read", "{'state_id':'wfstate_2'}"),
              "{'state_id':'wfstate_2','name':null,'schema_id':'schema_3','schema_name':'task',"
              "'schema_version':2,'root_session_id':null,'root_session_name':null,'version':2,"
              "'created_at':'2025-01-15T10:35:00Z','updated_at':'2025-01-15T10:35:00Z',"
              "'current_data':{'phase':'open'}}");
    /* From now on the new schema counts, and what was before is still there. */
    CHECK_ERR(refused(w, "state.patch", "{'state_id':'wfstate_2','merge':{'status':'open'}}"),
              ERR_UNFIT);
    CHECK_ERR(refused(w, "state.rollback", "{'state_id':'wfstate_2','version':1}"), ERR_UNFIT);
    answer(w, "state.read", "{'state_id':'wfstate_2','version':1}");
    world_close(w);
}

/* ---- limits and reach ---- */

static str nested(int depth)
{
    struct buf out = buf_in(check_arena());

    for (int i = 0; i < depth; i++)
        buf_add(&out, STR("["));
    for (int i = 0; i < depth; i++)
        buf_add(&out, STR("]"));
    return buf_str(&out);
}

/* An envelope lets requests be deeper than documents may be. */
TEST_BOTH(a_document_as_deep_as_allowed_can_be_had_again_and_a_deeper_one_is_refused)
{
    static const struct json_limits envelope = { .depth_max = JSON_DEPTH_MAX + 4 };
    struct world *w = world_new();
    answer(w, "schema.create", "{'name':'any','json_schema':true}");

    answer(w, "state.create", "{'schema_name':'any','initial_data':null}"); /* wfstate_3 */
    for (int depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
        struct command *c =
            world_command(w, "state.update", "{'state_id':'wfstate_3','data':0}", "");
        CHECK_OK(json_parse(check_arena(),
                            arena_printf(check_arena(), "{\"state_id\":\"wfstate_3\",\"data\":%s}",
                                         nested(depth).at),
                            &envelope, &c->input));
        op_perform(&w->engine, &c, 1);
        if (depth == JSON_DEPTH_MAX)
            CHECK_OK(c->error);
        else
            CHECK_ERR(c->error, ERR_INVALID);
    }
    answer(w, "state.update", "{'state_id':'wfstate_3','data':1}");
    struct command *c = world_command(w, "state.read", "{'state_id':'wfstate_3','version':2}", "");
    op_perform(&w->engine, &c, 1);
    CHECK_OK(c->error);
    CHECK_OK(refused(w, "state.blame", "{'state_id':'wfstate_3'}"));
    world_close(w);
}

/* What is kept of an answer is wrapped once more, and must be read all the same. */
TEST_BOTH(a_repeated_key_is_answered_however_deep_the_answer_is)
{
    static const struct json_limits envelope = { .depth_max = JSON_DEPTH_MAX + 4 };
    struct world *w = world_new();
    struct command *all[2];

    answer(w, "schema.create", "{'name':'any','json_schema':true}");
    for (int i = 0; i < 2; i++) {
        all[i] = world_command(w, "state.create", "{'schema_name':'any'}", "deep");
        CHECK_OK(json_parse(check_arena(),
                            arena_printf(check_arena(),
                                         "{\"schema_name\":\"any\",\"representation\":true,"
                                         "\"initial_data\":%s}",
                                         nested(JSON_DEPTH_MAX).at),
                            &envelope, &all[i]->input));
        op_perform(&w->engine, &all[i], 1);
        CHECK_OK(all[i]->error);
    }
    CHECK(!all[0]->repeated && all[1]->repeated);
    CHECK_HAS(all[0]->answer.text, nested(JSON_DEPTH_MAX).at);
    CHECK(str_eq(all[0]->answer.text, all[1]->answer.text));
    world_close(w);
}

TEST_BOTH(a_patch_with_too_many_operations_is_refused)
{
    struct world *w = world_new();
    struct buf operations = buf_in(check_arena());
    create(w, "{'status':'open'}");

    for (int i = 0; i < 1001; i++)
        buf_printf(&operations, "%s{'op':'test','path':'/status','value':'open'}", i ? "," : "");
    CHECK_ERR(refused(w, "state.patch",
                      arena_printf(check_arena(), "{'state_id':'wfstate_2','operations':[%s]}",
                                   buf_str(&operations).at)
                          .at),
              ERR_TOO_LARGE);
    world_close(w);
}

TEST_BOTH(a_session_owns_what_it_creates_and_creates_one)
{
    struct world *w = world_new();

    w->actor =
        (struct actor){ .kind = ACTOR_SESSION, .name = STR("root"), .session_id = STR("ses_1") };
    answer(w, "state.create",
           "{'schema_name':'task','initial_data':{'status':'open'},'root_session':'ses_9'}");
    CHECK_ERR(refused(w, "state.read", "{'state_id':'wfstate_2'}"), ERR_NOT_FOUND);
    w->actor.state_id = STR("wfstate_2");
    struct command *c = world_call(w, "state.read", "{'state_id':'wfstate_2'}", "");
    const struct json *json = json_parsed(check_arena(), c->answer.text);
    CHECK_STR(json_str(json, "root_session_id"), "ses_1");
    CHECK_ERR(refused(w, "state.create", "{'schema_name':'task','initial_data':{'status':'open'}}"),
              ERR_CONFLICT);
    world_close(w);
}

/* Names and descriptions are all that a reader of the documentation gets. */
TEST(every_field_of_states_and_schemas_is_described)
{
    struct world *w = world_new();
    size_t fields = 0;

    for (size_t i = 0; i < op_count(w->table); i++) {
        const struct op *op = op_at(w->table, i);
        if (!str_starts(str_from(op->name), STR("state.")) &&
            !str_starts(str_from(op->name), STR("schema.")))
            continue;
        const char *const texts[] = { op->input, op->output };
        for (int t = 0; t < 2; t++) {
            const struct json *schema = json_parsed(check_arena(), str_from(texts[t]));
            const struct json *properties = json_get(schema, "properties");
            for (uint32_t p = 0; p < properties->len; p++, fields++)
                if (json_str(&properties->members[p].value, "description").len == 0)
                    check_fail(__FILE__, __LINE__, "%s: " STR_FMT, op->name,
                               STR_ARG(json_name(&properties->members[p])));
        }
    }
    check_note("%zu fields", fields);
    CHECK(fields > 100);
    world_close(w);
}
