/* http_team_test.c: what runners, agents and those who start them need of HTTP: reads that write,
 * answers behind a write, a selected state, and no operator inside of a run. */
#include "http_fixture.h"

/* ---- GET that writes ---- */

// clang-format off
static const struct {
    const char *ask, *heard;
} claims[] = {
    { GET("/claims"),                                          "HTTP/1.1 204 No Content|" DATE "|" },
    { "HEAD /claims HTTP/1.1|" A "|",                          "HTTP/1.1 405 *Allow: GET, OPTIONS|*" },
    { "POST /claims HTTP/1.1|" A "Content-Length: 0||",        "HTTP/1.1 405 *Allow: GET, OPTIONS|*" },
    { "OPTIONS /claims HTTP/1.1|" A "|",                       "HTTP/1.1 204 *Allow: GET, OPTIONS|*" },
    { "OPTIONS /things HTTP/1.1|" A "|",                       "HTTP/1.1 204 *Allow: POST, GET, HEAD, OPTIONS|*" },
    { "GET /claims HTTP/1.1|" A "If-None-Match: \"1\"||",      "HTTP/1.1 400 *this writes*" },
};
// clang-format on

TEST(get_that_writes_is_done_once_and_head_does_nothing)
{
    struct http_fixture *s = http_fixture_open(NULL);

    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        int performed = s->performed;
        http_fixture_connect(s);
        http_fixture_ask(s, claims[i].ask);
        CHECK_HEARD(s, claims[i].heard);
        CHECK_INT(s->performed - performed, i == 0);
        http_fixture_hang_up(s);
    }
    http_fixture_close(s);
}

static void pass(struct http_fixture *s, int64_t ms)
{
    s->now_ms += ms;
    for (int i = 0; i < 200 && s->heard.len == 0; i++) {
        timer_set(s->timer, 5);
        loop_run(s->loop);
        http_fixture_listen(s);
    }
}

TEST(claim_that_waited_in_vain_is_answered_with_nothing)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    http_fixture_ask(s, GET("/claims?timeout=20"));
    CHECK_HEARD(s, "");
    pass(s, 20);
    CHECK_HEARD(s, "HTTP/1.1 204 *");
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

TEST(claim_of_one_who_is_gone_is_not_performed_again)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    http_fixture_ask(s, GET("/things")); /* its token is known from now on */
    s->holds = true;
    http_fixture_ask(s, GET("/claims?timeout=20"));
    http_fixture_hang_up(s);
    http_fixture_perform(s); /* he went meanwhile */
    http_fixture_turn(s);
    s->holds = false;
    pass(s, 20);
    CHECK_INT(s->performed, 2);

    http_fixture_connect(s);
    http_fixture_ask(s, GET("/claims?timeout=20"));
    int performed = s->performed;
    http_fixture_hang_up(s);
    pass(s, 20);
    CHECK_INT(s->performed, performed);
    http_fixture_close(s);
}

/* ---- answers behind a write ---- */

#define START(fields, body) \
    "POST /starts HTTP/1.1|" A fields "Content-Type: application/json|Content-Length: " body

TEST(answer_behind_a_write_is_that_of_the_read)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    http_fixture_ask(s, START("Idempotency-Key: again|", "16||{\"thing_id\":\"x\"}"));
    CHECK_HEARD(s, "HTTP/1.1 200 *Idempotency-Replayed: true|*{'asked':{'thing_id':'x'}}");
    CHECK_INT(s->performed, 2);
    http_fixture_ask(s, START("", "29||{\"thing_id\":\"x\",\"timeout\":20}"));
    CHECK_HEARD(s, "");
    CHECK_INT(s->performed, 4);
    pass(s, 20);
    CHECK_HEARD(s, "HTTP/1.1 200 *{'asked':{'thing_id':'x','timeout':20}}");
    http_fixture_hang_up(s);
    http_fixture_close(s);
}

/* Whatever becomes of the read, what was started is not started again. */
TEST(answer_is_that_of_the_write_when_the_read_behind_it_fails)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    http_fixture_ask(s, START("", "19||{\"thing_id\":\"none\"}"));
    CHECK_HEARD(s, "HTTP/1.1 201 *{'started':'none'}");

    s->holds = true;
    http_fixture_ask(s, START("", "16||{\"thing_id\":\"x\"}"));
    s->full = true;
    http_fixture_perform(s);
    http_fixture_ask(s, "");
    CHECK_HEARD(s, "HTTP/1.1 201 *{'started':'x'}");
    s->full = s->holds = false;

    http_fixture_ask(s, START("", "32||{\"thing_id\":\"x\",\"timeout\":20000}"));
    CHECK_HEARD(s, "");
    server_stop(s->server, 1000, http_fixture_stopped);
    http_fixture_ask(s, "");
    CHECK_HEARD(s, "HTTP/1.1 201 *{'started':'x'}<closed>");
    listener_close(s->unix_socket);
    listener_close(s->tcp);
    while (!s->stopped)
        http_fixture_turn(s);
    server_free(s->server);
    timer_free(s->timer);
    wakeup_free(s->stop);
    loop_free(s->loop);
    op_table_free(s->table);
}

TEST(one_who_is_gone_after_his_write_has_nothing_read_for_him)
{
    struct http_fixture *s = http_fixture_open(NULL);

    http_fixture_connect(s);
    http_fixture_ask(s, GET("/things")); /* its token is known from now on */
    s->holds = true;
    http_fixture_ask(s, START("", "16||{\"thing_id\":\"x\"}"));
    http_fixture_hang_up(s);
    CHECK(s->waiting);
    http_fixture_perform(s);
    http_fixture_turn(s);
    CHECK(!s->waiting);
    CHECK_INT(s->performed, 2);
    s->holds = false;
    http_fixture_close(s);
}

/* ---- X-Workflow-State-Id ---- */

#define SELECT(token, id) \
    "GET /things/x HTTP/1.1|" H "Authorization: Bearer " token "|X-Workflow-State-Id: " id "||"

TEST(state_in_the_head_selects_and_gives_nothing)
{
    // clang-format off
    static const struct { const char *ask, *heard; } cases[] = {
        { SELECT("session", "x"), "HTTP/1.1 200 *" },
        { SELECT("session", "wfstate_y"), "HTTP/1.1 404 *there is no state wfstate_y for this token*" },
        { SELECT("session", "a b"), "HTTP/1.1 404 *there is no state a b for this token*" },
        { SELECT("session", ""),  "HTTP/1.1 200 *" },
        { SELECT("op", "y"),      "HTTP/1.1 200 *" },
    };
    // clang-format on
    struct http_fixture *s = http_fixture_open(NULL);

    for (int round = 0; round < 2; round++) { /* asked, and then out of memory */
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            http_fixture_connect(s);
            http_fixture_ask(s, cases[i].ask);
            CHECK_HEARD(s, cases[i].heard);
            http_fixture_hang_up(s);
        }
    }
    http_fixture_close(s);
}

/* ---- inside of a run ---- */

TEST(operators_token_is_refused_inside_of_a_run_and_others_are_not)
{
    struct http_fixture *s = http_fixture_open(NULL);

    fixture_is_inside = true;
    http_fixture_connect_local(s);
    http_fixture_ask(s, GET("/things"));
    CHECK_HEARD(s, "HTTP/1.1 403 *belongs to a run of an agent*BATON_TOKEN*");
    http_fixture_ask(s, GET_AS("session", "/things/x"));
    CHECK_HEARD(s, "HTTP/1.1 200 *");
    http_fixture_ask(s, GET("/things")); /* what another showed does not help */
    CHECK_HEARD(s, "HTTP/1.1 403 *");
    http_fixture_hang_up(s);

    http_fixture_connect(s); /* nobody can say who that is */
    http_fixture_ask(s, GET("/things"));
    CHECK_HEARD(s, "HTTP/1.1 200 *");
    http_fixture_hang_up(s);

    fixture_is_inside = false;
    http_fixture_connect_local(s);
    http_fixture_ask(s, GET("/things"));
    CHECK_HEARD(s, "HTTP/1.1 200 *");
    http_fixture_hang_up(s);
    http_fixture_close(s);
}
