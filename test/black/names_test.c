/* names_test.c: a state's name over HTTP, where answers may come out of memory. */
#include "black/black.h"

static const char *const without_runner[] = { "--runner", "off", NULL };

static struct response ask_selecting(const struct black *b, str token, const char *route,
                                     const char *state)
{
    struct arena *a = check_arena();
    struct black as = *b;
    as.endpoint.token = token;
    struct peer p = peer_open(b, a);
    str head = peer_head(a, &as, route);

    CHECK(peer_send(&p, arena_printf(a, STR_FMT "X-Workflow-State-Id: %s\r\n\r\n", STR_ARG(head),
                                     state)));
    struct response r = peer_next(&p);
    peer_close(&p);
    return r;
}

/* Reads by a name find what has it now, though reads by id are answered out of memory. */
TEST(a_name_that_went_to_another_state_never_shows_the_old_one)
{
    struct black b = { .args = without_runner };

    black_start(&b);
    black_add_schema(&b);
    str one = black_add_state(&b, "{'n':1}"), two = black_add_state(&b, "{'n':2}");
    for (int i = 0; i < 20; i++) {
        str now = i % 2 ? one : two, other = i % 2 ? two : one;
        const char *rename =
            arena_printf(check_arena(), "POST /workflow-states/" STR_FMT "/name", STR_ARG(now)).at;
        black_expect(&b, 200, rename, "{'name':'plan'}");
        black_expect(&b, 200, black_route("GET", other), "");
        for (int k = 0; k < 3; k++) {
            const struct json *read = black_expect(&b, 200, "GET /workflow-states/plan", "");
            CHECK(str_eq(json_str(read, "state_id"), now));
            CHECK_STR(json_str(read, "name"), "plan");
            read = black_expect(&b, 200, black_route("GET", now), "");
            CHECK_STR(json_str(read, "name"), "plan");
            read = black_expect(&b, 200, black_route("GET", other), "");
            CHECK_STR(json_str(read, "name"), "");
        }
        black_expect(&b, 200, "POST /workflow-states/plan/name", "{'name':null}");
        CHECK_INT(black_ask(&b, "GET /workflow-states/plan", "").status, 404);
    }
    black_stop(&b);
}

TEST(a_request_selects_a_state_by_its_name_among_those_that_its_token_sees)
{
    struct black b = { .args = without_runner };

    black_start(&b);
    black_add_schema(&b);
    str one = black_add_state(&b, "{'n':1}"), two = black_add_state(&b, "{'n':2}");
    black_expect(
        &b, 200,
        arena_printf(check_arena(), "POST /workflow-states/" STR_FMT "/name", STR_ARG(one)).at,
        "{'name':'mine'}");
    black_expect(
        &b, 200,
        arena_printf(check_arena(), "POST /workflow-states/" STR_FMT "/name", STR_ARG(two)).at,
        "{'name':'others'}");
    str token = json_str(black_expect(&b, 201, "POST /tokens",
                                      "{'kind':'session','scope':{'session_id':'s-1',"
                                      "'state_id':'mine'}}"),
                         "token");
    static const struct {
        const char *state;
        int status;
    } cases[] = { { "mine", 200 }, { "others", 404 },       { "nobodys", 404 }, { "a b", 404 },
                  { "..", 404 },   { "wfstate_none", 404 }, { "mine\xff", 404 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 2; k++) { /* the second may be answered out of memory */
            CHECK_INT(ask_selecting(&b, token, black_route("GET", one), cases[i].state).status,
                      cases[i].status);
            CHECK_INT(ask_selecting(&b, token, "GET /sessions", cases[i].state).status,
                      cases[i].status);
        }
    CHECK_INT(ask_selecting(&b, b.endpoint.token, "GET /sessions", "nobodys").status, 200);
    black_stop(&b);
}
