/* sign_in_test.c: codes that a page gets a token of its own for. */
#include "calls.h"
#include "core/token.h"

static struct world *opened(void)
{
    struct world *w;

    CHECK_OK(world_open("sign_in.db", NULL, &w));
    w->actor = the_operator;
    return w;
}

/* As the server asks for who shows a code. */
static struct command *exchange(struct world *w, str code)
{
    struct actor was = w->actor;

    w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    struct command *c = call(w, "token.exchange", "{'code':'" STR_FMT "'}", STR_ARG(code));
    w->actor = was;
    return c;
}

TEST(a_code_is_worth_one_token_once)
{
    struct world *w = opened();
    struct command *code = call(w, "token.code", "{'name':'ann'}");
    struct command *token = exchange(w, at(code, "/code"));

    CHECK_STR(at(code, "/kind"), "operator");
    CHECK_STR(at(token, "/kind"), "operator");
    CHECK_STR(at(token, "/name"), "ann");
    CHECK_STR(at(token, "/scope"), "{\"page\":true}");
    CHECK(!str_eq(at(token, "/token_id"), at(code, "/token_id")));
    CHECK_ERR(exchange(w, at(code, "/code"))->error, ERR_UNAUTHENTICATED);
    CHECK_ERR(exchange(w, at(token, "/token"))->error, ERR_UNAUTHENTICATED);
    CHECK_ERR(exchange(w, STR("cd_no.thing"))->error, ERR_UNAUTHENTICATED);
    CHECK_ERR(exchange(w, at(code, "/token_id"))->error, ERR_UNAUTHENTICATED);
    world_close(w);
}

TEST(a_code_is_worth_nothing_when_its_time_is_over_or_it_was_revoked)
{
    struct world *w = opened();
    struct command *late = call(w, "token.code", "{}");
    struct command *longer = call(w, "token.code", "{'valid_for':31}");
    struct command *revoked = call(w, "token.code", "{}");

    answer_of(
        call(w, "token.revoke", "{'token_id':'" STR_FMT "'}", STR_ARG(at(revoked, "/token_id"))));
    CHECK_ERR(exchange(w, at(revoked, "/code"))->error, ERR_UNAUTHENTICATED);
    w->now_ms += 30 * 1000;
    CHECK_ERR(exchange(w, at(late, "/code"))->error, ERR_UNAUTHENTICATED);
    CHECK_OK(exchange(w, at(longer, "/code"))->error);
    world_close(w);
}

/* What was made for a page: the secret of it is not another way in, and the code is none at all. */
TEST(the_token_of_a_page_makes_no_others)
{
    static const char *const gives[] = { "token.create", "token.code" };
    struct world *w = opened();

    w->actor.is_page = true;
    for (size_t i = 0; i < sizeof gives / sizeof *gives; i++) {
        err e = refused(w, gives[i], i ? "{}" : "{'kind':'operator'}");
        CHECK_ERR(e, ERR_FORBIDDEN);
        CHECK_HAS(e->message, "one of a page gets no others");
    }
    answer(w, "token.list", "{}");
    world_close(w);
}

TEST(a_viewer_puts_away_its_own_token_and_no_other)
{
    struct world *w = opened();
    struct command *code = call(w, "token.code", "{'kind':'viewer','expires_in':60}");
    struct command *mine = exchange(w, at(code, "/code")), *other = call(w, "token.code", "{}");

    CHECK_STR(at(mine, "/kind"), "viewer");
    CHECK_STR(at(mine, "/name"), "viewer");
    w->actor = (struct actor){ .kind = ACTOR_VIEWER,
                               .name = STR("viewer"),
                               .token_id = at(mine, "/token_id"),
                               .is_page = true };
    CHECK_ERR(call(w, "token.revoke", "{'token_id':'" STR_FMT "'}", STR_ARG(at(other, "/token_id")))
                  ->error,
              ERR_FORBIDDEN);
    CHECK_ERR(refused(w, "token.code", "{}"), ERR_FORBIDDEN);
    answer_of(
        call(w, "token.revoke", "{'token_id':'" STR_FMT "'}", STR_ARG(at(mine, "/token_id"))));
    world_close(w);
}
