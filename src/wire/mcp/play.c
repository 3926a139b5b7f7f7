/* play.c: a message that is answered by several, one after the other.
 *
 * Between two of them may be a pause, or a question to the client, whose answer comes by a request
 * of its own. Only clients with a session are asked anything. */
#include <assert.h>

#include "wire/mcp/private.h"

enum { RETRY_MS = 500 }; /* until a client comes back for the rest, when nothing else is said */

static void step_send(struct mcp_work *w)
{
    mcp_channel_send(w->channel, w->play.text);
}

static void step_ask(struct mcp_work *w)
{
    mcp_channel_send(w->channel, w->play.text);
    if (w->play.pause_ms > 0)
        timer_set(w->timer, w->play.pause_ms);
}

static void step_pause(struct mcp_work *w)
{
    timer_set(w->timer, w->play.pause_ms);
}

/* Who has no session gets everything by this one connection. */
static void step_cut(struct mcp_work *w)
{
    if (w->session)
        mcp_channel_cut(w->channel, w->play.pause_ms > 0 ? w->play.pause_ms : RETRY_MS);
}

static void step_end(struct mcp_work *w)
{
    (void)w; /* what is next is its owner's to do */
}

// clang-format off
static const struct {
    void (*take)(struct mcp_work *w);
    bool stays; /* something must come before the next one */
} steps[] = {
    [MCP_STEP_SEND]  = { step_send,  false },
    [MCP_STEP_ASK]   = { step_ask,   true  },
    [MCP_STEP_PAUSE] = { step_pause, true  },
    [MCP_STEP_CUT]   = { step_cut,   false },
    [MCP_STEP_END]   = { step_end,   true  },
};
// clang-format on

bool mcp_play_on(struct mcp_work *w)
{
    enum mcp_step step;

    assert(w->timer);
    timer_clear(w->timer);
    do {
        w->play.pause_ms = 0;
        mcp_play(&w->call, &w->play);
        step = w->play.step;
        w->play.number++;
        w->play.reply = NULL;
        if (w->call.changed)
            mcp_listeners_tell(w->server, w->call.changed);
        w->call.changed = NULL;
        steps[step].take(w);
    } while (!steps[step].stays);
    return step == MCP_STEP_END;
}

/* ---- what the client answers ---- */

static bool asks(const struct mcp_work *w, const struct json *id)
{
    return w->call.next == MCP_PLAY && w->play.step == MCP_STEP_ASK && json_is(id, JSON_STRING) &&
           str_eq(w->play.ask_id, json_text(id));
}

static const struct json *copy_to(struct arena *a, const struct json *from)
{
    struct json *copy = ARENA_NEW(a, struct json);

    if (!from)
        return NULL;
    *copy = json_copy(a, from);
    return copy;
}

/* The reply's own memory goes with the request that brought it. */
static void reply_take(struct mcp_work *w, const struct rpc *reply)
{
    struct rpc *copy = ARENA_NEW(w->arena, struct rpc);

    *copy = (struct rpc){ .kind = RPC_RESPONSE,
                          .whole = copy_to(w->arena, reply->whole),
                          .method = STR("") };
    copy->id = json_get(copy->whole, "id");
    copy->result = json_get(copy->whole, "result");
    copy->error = json_get(copy->whole, "error");
    copy->params = copy_to(w->arena, reply->params);
    w->play.reply = copy;
    w->play.ask_id = STR("");
}

/* One that nobody waits for is of a question that was given up. */
struct mcp_work *mcp_play_reply(struct mcp_session *session, const struct rpc *reply)
{
    LIST_EACH(it, &session->works) {
        struct mcp_work *w = LIST_ENTRY(it, struct mcp_work, link);
        if (asks(w, reply->id)) {
            reply_take(w, reply);
            return w;
        }
    }
    return NULL;
}
