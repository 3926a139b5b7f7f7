/* run_output_test.c: what a run leaves behind: its output, what it has used, and its token. */
#include "core/output.h"
#include "runners.h"

/* ---- output ---- */

TEST(the_newest_output_is_kept_and_read_from_a_number_on)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    str run = start(w, "root", "");
    struct claim held = claim(w, &a);
    static const char digits[] = "0123456789";

    CHECK_OK(report(w, &a, &held, "started", "")->error);
    struct command *waits =
        call(w, "run.output", "{'run_id':'" STR_FMT "','wait':5}", STR_ARG(run));
    CHECK(waits->answer.waits);
    must_be(waits->answer.wait_subject, run);
    for (int i = 0; i < 15; i++) {
        struct command *c = report(
            w, &a, &held, "progress",
            arena_printf(check_arena(), ",'output':[{'stream':'stdout','text':'%s'}]", digits).at);
        must_be(c->answer.notify, run);
    }
    struct command *c = call(w, "run.output", "{'run_id':'" STR_FMT "'}", STR_ARG(run));
    CHECK_STR(at(c, "/output/0/number"), "6");
    CHECK_STR(at(c, "/next"), "15");
    CHECK_STR(at(c, "/ended"), "false");
    c = call(w, "run.output", "{'run_id':'" STR_FMT "','after':13,'limit':1}", STR_ARG(run));
    CHECK_STR(at(c, "/output/0/text"), digits);
    CHECK_STR(at(c, "/next"), "14");
    CHECK_OK(report(w, &a, &held, "completed", "")->error);
    c = call(w, "run.output", "{'run_id':'" STR_FMT "','after':15,'wait':5}", STR_ARG(run));
    CHECK(!c->answer.waits);
    CHECK_STR(at(c, "/ended"), "true");
    CHECK_STR(at(c, "/status"), "completed");
    world_end(w);
}

TEST(a_piece_of_output_has_a_limit)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    struct buf more = buf_in(check_arena());

    start(w, "root", "");
    struct claim held = claim(w, &a);
    buf_add(&more, STR(",'output':[{'stream':'stdout','text':'"));
    memset(buf_reserve(&more, OUTPUT_PIECE_MAX + 1), 'x', OUTPUT_PIECE_MAX + 1);
    more.len += OUTPUT_PIECE_MAX + 1;
    buf_add(&more, STR("'}]"));
    CHECK_ERR(report(w, &a, &held, "progress", buf_str(&more).at)->error, ERR_TOO_LARGE);
    world_end(w);
}

/* The last lines that fit, of stderr alone. */
TEST(a_failed_run_ends_with_the_last_lines_of_its_agent)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    struct claim held;
    str run = start(w, "root", "");

    held = claim(w, &a);
    CHECK_OK(report(w, &a, &held, "started", "")->error);
    CHECK_OK(report(w, &a, &held, "progress",
                    ",'output':[{'stream':'stderr','text':'one\\ntw'},"
                    "{'stream':'stdout','text':'no'},{'stream':'stderr','text':'o\\n'}]")
                 ->error);
    CHECK_OK(report(w, &a, &held, "failed", ",'error':'bad'")->error);
    CHECK_STR(show(w, run, "/error"), "bad\none\ntwo\n");
    world_end(w);
}

/* ---- what it used ---- */

static void check_usage(struct world *w, int64_t in, int64_t out, int64_t cached, int64_t cost,
                        const char *models)
{
    const struct row *row;
    struct store_node node;

    CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
    CHECK_OK(sql_one(w->engine.sql, &row,
                     "SELECT tokens_in, tokens_out, tokens_cached, cost, usage_models FROM session"
                     " WHERE name = 'root'",
                     NO_ARGS));
    CHECK_INT(row_int(row, 0), in);
    CHECK_INT(row_int(row, 1), out);
    CHECK_INT(row_int(row, 2), cached);
    CHECK_INT(row_int(row, 3), cost);
    CHECK_STR(row_str(row, 4), models);
    store_rollback(w->engine.sql);
}

/* A turn of the session: its first, or one more. */
static void turn_using(struct world *w, struct fake_runner *m, const char *usage)
{
    struct claim held = claim(w, m);

    CHECK_OK(report(w, m, &held, "started", ",'client_id':'c'")->error);
    CHECK_OK(report(w, m, &held, "completed", usage)->error);
}

TEST(what_turns_use_is_added_up)
{
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");

    start(w, "root", "");
    turn_using(w, &a,
               ",'usage':{'input_tokens':10,'output_tokens':5,'cached_tokens':2,"
               "'cost_usd':0.25,'models':{'m':{'in':10,'usd':0.25},'x':1}}");
    resume(w, "root", "");
    turn_using(w, &a,
               ",'usage':{'input_tokens':1,'output_tokens':1,'cost_usd':0.000001,"
               "'models':{'m':{'in':1,'usd':0.5},'y':'?'}}");
    check_usage(w, 11, 6, 2, 250001, "{\"m\":{\"in\":11,\"usd\":0.75},\"x\":1,\"y\":\"?\"}");
    world_end(w);
}

/* Clients that resume a conversation may say what all of it has used; output_tokens here are less
 * than before, so they were counted anew. */
TEST(what_a_client_has_added_up_itself_is_not_added_again)
{
    static const char whole[] = "'whole':['input_tokens','output_tokens','cost_usd','models']}";
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");

    start(w, "root", "");
    turn_using(w, &a,
               arena_printf(check_arena(),
                            ",'usage':{'input_tokens':10,'output_tokens':5,'cached_tokens':2,"
                            "'cost_usd':0.25,'models':{'m':{'in':10}},%s",
                            whole)
                   .at);
    check_usage(w, 10, 5, 2, 250000, "{\"m\":{\"in\":10}}");
    resume(w, "root", "");
    turn_using(w, &a,
               arena_printf(check_arena(),
                            ",'usage':{'input_tokens':13,'output_tokens':3,'cached_tokens':4,"
                            "'cost_usd':0.5,'models':{'m':{'in':13}},%s",
                            whole)
                   .at);
    check_usage(w, 13, 8, 6, 500000, "{\"m\":{\"in\":13}}");
    world_end(w);
}

/* ---- tokens ---- */

static int64_t tokens_listed(struct world *w)
{
    const struct json *json;

    CHECK_OK(json_parse(check_arena(), call(w, "token.list", "{'limit':500}")->answer.text, NULL,
                        &json));
    return json_get(json, "tokens")->len;
}

/* Every turn leaves one. */
TEST(tokens_that_are_worthless_are_forgotten_after_a_day)
{
    enum { HOUR_MS = 3600 * 1000, TURNS = 3 };
    struct world *w = world_new();
    struct fake_runner a = fake_runner_new(w, "a", "");
    str kept = at(call(w, "token.create", "{'kind':'viewer'}"), "/token");

    call(w, "token.create", "{'kind':'viewer','expires_in':60}");
    for (int i = 0; i < TURNS; i++) {
        start(w, arena_printf(check_arena(), "s%d", i).at, "");
        struct claim held = claim(w, &a);
        CHECK_OK(report(w, &a, &held, "completed", "")->error);
    }
    world_pass(w, 23 * HOUR_MS);
    CHECK_INT(tokens_listed(w), 2 + TURNS);
    world_pass(w, 2 * HOUR_MS);
    CHECK_INT(tokens_listed(w), 1);
    CHECK_STR(token_error(w, kept), "");
    world_end(w);
}

TEST(a_deleted_session_has_no_tokens_any_more)
{
    struct world *w = world_new();

    CHECK_OK(call(w, "session.create", "{'session_name':'root'}")->error);
    CHECK_OK(
        call(w, "session.create", "{'session_name':'child','parent_session_name':'root'}")->error);
    str token =
        at(call(w, "token.create", "{'kind':'session','scope':{'session_id':'child'}}"), "/token");
    str other =
        at(call(w, "token.create", "{'kind':'session','scope':{'session_id':'else'}}"), "/token");
    CHECK_STR(token_error(w, token), "");
    CHECK_OK(call(w, "session.stop", "{'session_id':'root'}")->error);
    world_pass(w, STOP_MS);
    CHECK_OK(call(w, "session.delete", "{'session_id':'root'}")->error);
    CHECK(token_error(w, token).len > 0);
    CHECK_STR(token_error(w, other), "");
    world_end(w);
}
