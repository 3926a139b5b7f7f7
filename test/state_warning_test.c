/* state_warning_test.c: who has a large document is told so before a write is refused for it. */
#include "session_help.h"

/* A document of so many bytes. */
static const char *document(size_t bytes)
{
    struct buf out = buf_in(check_arena());

    buf_add(&out, STR("{'text':'"));
    while (out.len < bytes - 2)
        buf_byte(&out, 'x');
    buf_add(&out, STR("'}"));
    buf_byte(&out, '\0');
    return out.at;
}

TEST(a_large_state_is_answered_with_a_warning)
{
    enum { FROM = 256 << 10 };
    struct world *w = world_new();

    answer(w, "schema.create",
           "{'name':'any','json_schema':{'x-baton':{'state_bytes_max':300000}}}");
    struct command *c = call(w, "state.create",
                             "{'schema_name':'any','name':'plan','initial_data':%s}",
                             document(FROM - 1));
    CHECK(!json_get(answer_of(c), "warning"));
    CHECK(!json_get(answer_of(call(w, "state.read", "{'state_id':'plan'}")), "warning"));
    c = call(w, "state.update", "{'state_id':'plan','data':%s}", document(FROM));
    str warning = at(c, "/warning");
    CHECK(strstr(warning.at, "262144 bytes") && strstr(warning.at, "at 300000 a write is refused"));
    CHECK(strstr(c->answer.cached.at, "\"warning\":"));
    CHECK(str_eq(at(call(w, "state.read", "{'state_id':'plan'}"), "/warning"), warning));
    CHECK(at(call(w, "state.read", "{'state_id':'plan','pointer':''}"), "/warning").len);
    CHECK(at(call(w, "state.patch", "{'state_id':'plan','merge':{'n':1}}"), "/warning").len);
    CHECK_ERR(call(w, "state.update", "{'state_id':'plan','data':%s}", document(300001))->error,
              ERR_TOO_LARGE);
    w->team.state_warn_bytes = 1 << 20;
    CHECK(!json_get(answer_of(call(w, "state.read", "{'state_id':'plan'}")), "warning"));
    world_close(w);
}
