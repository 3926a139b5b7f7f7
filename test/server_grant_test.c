/* server_grant_test.c: who shows a token is looked up once, and again when that may have changed. */
#include "server_told.h"

TEST(grant_is_looked_up_once_for_all_who_show_the_token)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct grant *g = grant_new(STR("tok_1")), *h = grant_new(STR("tok_2"));

    for (int i = 0; i < 3; i++)
        ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 1);
    CHECK_STR(b->asked->token, "secret");
    CHECK_INT(given_count, 0);
    admit(b, g);
    CHECK_INT(given_count, 3);
    ask_for(b, STR("secret"));
    CHECK_INT(given_count, 4);
    CHECK_INT(b->asks, 1);
    CHECK(given == g);

    ask_for(b, STR("another"));
    CHECK_INT(b->asks, 2);
    admit(b, h);
    CHECK(given == h);
    fixture_free(b);
    CHECK_INT(g->refs, 1);
    CHECK_INT(h->refs, 1);
}

TEST(grant_that_was_refused_is_asked_for_again)
{
    struct server_fixture *b = fixture = fixture_new(NULL);

    ask_for(b, STR("secret"));
    ask_for(b, STR("secret"));
    admit(b, NULL);
    CHECK_INT(refused_count, 2);
    ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 2);
    admit(b, NULL);
    CHECK_INT(refused_count, 3);
    fixture_free(b);
}

TEST(grant_is_asked_for_again_when_its_time_has_passed)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct grant *g = grant_new(STR("tok_1"));

    g->expires_at_ms = b->now_ms + 1000;
    ask_for(b, STR("secret"));
    admit(b, g);
    b->now_ms += 999;
    ask_for(b, STR("secret"));
    CHECK_INT(given_count, 2);
    b->now_ms += 1;
    ask_for(b, STR("secret"));
    CHECK_INT(given_count, 2);
    CHECK_INT(b->asks, 2);
    admit(b, NULL);
    CHECK_INT(refused_count, 1);
    CHECK_INT(g->refs, 1);
    fixture_free(b);
}

TEST(grant_ends_when_its_revocation_is_published)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct grant *g = grant_new(STR("tok_1")), *other = grant_new(STR("tok_2"));

    ask_for(b, STR("secret"));
    admit(b, g);
    ask_for(b, STR("other"));
    admit(b, other);
    publish_revocation(b, 5, STR("tok_1"));
    CHECK(g->revoked);
    CHECK_INT(g->refs, 1);
    ask_for(b, STR("other"));
    CHECK_INT(b->asks, 2);
    ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 3);
    admit(b, NULL);
    CHECK_INT(refused_count, 1);
    fixture_free(b);
    CHECK(!other->revoked);
}

static struct command *mint_at(int64_t seq)
{
    static const struct actor actor = { .kind = ACTOR_SESSION, .token_id = { "tok_1", 5 } };
    static const struct minted minted = { .text = { "secret", 6 }, .actor = &actor };
    struct command *c = write_at("claimed", seq, EVENT_RUN_CLAIMED, STR("run_1"));

    c->minted = &minted;
    return c;
}

TEST(grant_of_a_token_that_was_made_here_is_known)
{
    struct server_fixture *b = fixture = fixture_new(NULL);

    server_performed(b->server, mint_at(5));
    net_turn(b->loop);
    ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 0);
    CHECK_INT(given_count, 1);
    CHECK_STR(given->token_id, "tok_1");
    publish_revocation(b, 6, STR("tok_1"));
    ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 1);
    admit(b, NULL);
    CHECK_INT(refused_count, 1);
    fixture_free(b);
}

/* Another node may have revoked it already, and the log has brought that first. */
TEST(grant_of_a_new_token_is_asked_for_when_more_is_known_than_its_making)
{
    struct server_fixture *b = fixture = fixture_new(is_shared);

    bring(b, 5, 6, STR("wfstate_1"));
    server_performed(b->server, mint_at(5));
    net_turn(b->loop);
    ask_for(b, STR("secret"));
    CHECK_INT(b->asks, 1);
    admit(b, NULL);
    fixture_free(b);
}

/* The look-up may have read the row before the revocation was committed. */
TEST(grant_is_not_given_when_a_revocation_came_between_question_and_answer)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct grant *g = grant_new(STR("tok_1"));

    ask_for(b, STR("secret"));
    publish_revocation(b, 5, STR("tok_1"));
    admit(b, g);
    CHECK_INT(given_count, 0);
    CHECK_INT(b->asks, 2); /* again, now from behind the revocation */
    CHECK_INT(g->refs, 1);
    admit(b, NULL);
    CHECK_INT(refused_count, 1);

    /* Brought together: whichever was there first. */
    ask_for(b, STR("secret"));
    b->asked->grant = grant_ref(g);
    server_admitted(b->server, b->asked);
    publish_revocation(b, 6, STR("tok_1"));
    CHECK_INT(given_count, 0);
    CHECK_INT(b->asks, 4);
    admit(b, NULL);
    CHECK_INT(refused_count, 2);
    fixture_free(b);
}

TEST(grants_are_kept_up_to_a_number_and_the_least_used_one_goes)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct grant *g = grant_new(STR("tok_1"));

    for (int i = 0; i <= 4096; i++) {
        ask_for(b, arena_printf(check_arena(), "token %d", i));
        admit(b, g);
        ask_for(b, STR("token 0"));
    }
    CHECK_INT(b->asks, 4097);
    CHECK_INT(g->refs, 1 + 4096);
    ask_for(b, STR("token 4096"));
    CHECK_INT(b->asks, 4097);
    ask_for(b, STR("token 1"));
    CHECK_INT(b->asks, 4098);
    admit(b, g);
    fixture_free(b);
    CHECK_INT(g->refs, 1);
}

TEST(grant_that_is_still_asked_for_at_the_end_is_refused)
{
    struct server_fixture *b = fixture = fixture_new(NULL);

    ask_for(b, STR("secret"));
    ask_for(b, STR("other"));
    fixture_free(b);
    CHECK_INT(refused_count, 2);
}
