/* mcp_recorded_test.c: what real clients have sent is answered. */
#include "mcp_outcome.h"

/* The tools of the server that the recording was made with, as ours are called. */
static str with_our_tools(struct arena *a, str text)
{
    struct buf out = buf_in(a);

    while (text.len) {
        if (str_starts(text, STR("\"state_get\"")) || str_starts(text, STR("\"state_set\""))) {
            buf_add(&out, text.at[7] == 'g' ? STR("\"state_read\"") : STR("\"state_patch\""));
            text = str_slice(text, strlen("\"state_get\""), text.len);
        } else {
            buf_byte(&out, text.at[0]);
            text = str_slice(text, 1, text.len);
        }
    }
    return buf_str(&out);
}

static bool find_recorded(const void *self, const char *name, str *value)
{
    const struct json *fields = self;

    for (uint32_t i = 0; i < fields->len; i++)
        if (fields->members[i].name_len == strlen(name) &&
            strncasecmp(fields->members[i].name, name, strlen(name)) == 0) {
            *value = json_text(&fields->members[i].value);
            return true;
        }
    return false;
}

/* A message with all that it asks for done, as a line. */
static str played(struct world *w, struct mcp *mcp, const struct json *record,
                  struct mcp_client *session, bool *in_session)
{
    struct mcp_call *m = ARENA_NEW(w->arena, struct mcp_call);

    m->arena = w->arena;
    m->mcp = mcp;
    m->actor = &w->actor;
    m->session = *in_session ? session : NULL;
    m->now_ms = w->now_ms;
    m->head = (struct mcp_head){ find_recorded, json_get(record, "headers") };
    mcp_begin(m, json_printed(w->arena, json_get(record, "message")));
    while (m->next == MCP_PERFORM) {
        str input = json_shown(w->arena, m->input);
        mcp_performed(m, world_call(w, m->op->name, input.at, ""));
    }
    if (m->next == MCP_INITIALIZE) {
        *session = m->client;
        *in_session = true;
    }
    str line = outcome(m);
    if (m->next == MCP_ANSWER && json_bool_or(json_get(answer_of(m), "result"), "isError", false))
        line = arena_printf(w->arena, STR_FMT " that is an error", STR_ARG(line));
    return arena_printf(w->arena, STR_FMT ": " STR_FMT "\n", STR_ARG(m->message.method),
                        STR_ARG(line));
}

static str replay(const char *name)
{
    str path = arena_printf(check_arena(), "%s/%s", check_suite("client-traces"), name);
    str text = with_our_tools(check_arena(), check_read(path.at));
    struct buf lines = buf_in(check_arena());
    struct mcp_client session;
    bool in_session = false;
    struct world *w;

    CHECK_OK(world_open("mcp.db", NULL, &w));
    const struct json *records = json_parsed(w->arena, text);
    struct mcp *mcp =
        mcp_new(&(struct mcp_options){ .table = w->table, .version = "1.2.3", .wait_ms = 45000 });
    for (uint32_t i = 0; i < records->len; i++)
        if (str_eq(json_str(&records->items[i], "method"), STR("POST")))
            buf_add(&lines, played(w, mcp, &records->items[i], &session, &in_session));
    mcp_free(mcp);
    world_close(w);
    return buf_str(&lines);
}

/* There is no state yet, so the tools' results say so; that is for the agent to read. */
TEST(what_claude_code_sends_is_answered)
{
    CHECK_STR(replay("claude-code-mcp-2026-07-28-http.json"),
              "server/discover: 200 result\n"
              "tools/list: 200 result\n"
              "tools/call: 200 result that is an error\n"
              "subscriptions/listen: listen\n");
}

TEST(what_codex_sends_is_answered)
{
    CHECK_STR(replay("codex-0.166.0-mcp-2025-06-18-http.json"),
              "initialize: 200 result and a session\n"
              "notifications/initialized: 202 accepted\n"
              "tools/list: 200 result\n"
              "tools/call: 200 result that is an error\n"
              "tools/call: 200 result that is an error\n"
              "tools/call: 200 result that is an error\n");
}
