/* words_http_test.c: other words for a session in a query. */
#include "mcp_server.h"

static void ask(struct mcp_peer *p, const char *query)
{
    mcp_peer_say(p, text_wire(arena_printf(check_arena(),
                                           "GET /runs?%s HTTP/1.1|Host: localhost|"
                                           "Authorization: Bearer " STR_FMT "||",
                                           query, STR_ARG(p->server->operator_token))
                                  .at));
}

TEST(a_query_may_name_a_session_by_any_word_for_it)
{
    static const char *const queries[] = { "session=a", "session_id=a", "session_name=a" };
    struct mcp_server *s = mcp_server_open(NULL, false);
    struct mcp_peer *p = mcp_peer_new(s);

    mcp_server_do(s, "run.create", "{'type':'start_session','name':'a','prompt':'go'}");
    mcp_server_do(s, "run.create", "{'type':'start_session','name':'b','prompt':'go'}");
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        ask(p, queries[i]);
        CHECK_PEER(p, "HTTP/1.1 200 *{'runs':[{*'session_name':'a'*}]*");
    }
    ask(p, "session=a&session_id=b");
    CHECK_PEER(p, "HTTP/1.1 400 *session*in the query*found another value*");
    ask(p, "nobody=a");
    CHECK_PEER(p, "HTTP/1.1 400 *has no parameter*nobody*");
    mcp_peer_close(p);
    mcp_server_close(s);
}
