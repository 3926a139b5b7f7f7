/* wakes.c: operations of processes that wait to wake an agent's client: see core/wake.h. */
#include "core/wake.h"

#include "core/alias.h"
#include "ops/hooks.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

/* The session of a conversation, as its hooks or its tools have told of it. */
static err session_of(struct tx *tx, const struct input *in, struct session *out, bool *found)
{
    str own = input_str(in, "conversation"), known = STR("");
    str id = own.len ? hook_session_id(tx->arena, input_str(in, "client"), own)
                     : input_str(in, "session_id");
    bool reached = false;

    if (own.len)
        TRY(alias_find(tx, ALIAS_CONVERSATION, id, &known));
    TRY(session_find_id(tx, known.len ? known : id, out, found));
    if (*found)
        TRY(session_in_reach(tx, out, &reached));
    *found = reached;
    return NULL;
}

static const char *const words[] = {
    [WAKE_NEWS] = "news",       [WAKE_NONE] = "none",
    [WAKE_REGISTERED] = "none", [WAKE_SUPERSEDED] = "superseded",
    [WAKE_OFF] = "off",
};

static void write_news(struct json_writer *w, str session_id, const struct wake_news *news)
{
    json_write_begin(w, '{');
    write_text(w, STR("status"), str_from(words[news->answer]));
    if (news->reason.len)
        write_text(w, STR("reason"), news->reason);
    if (news->answer == WAKE_NEWS) {
        write_text(w, STR("session_id"), session_id);
        write_text(w, STR("text"), news->text);
        write_begin(w, STR("ids"), '[');
        for (size_t i = 0; i < news->id_count; i++)
            json_write_str(w, news->ids[i]);
        json_write_end(w, ']');
    }
    json_write_end(w, '}');
}

/* Whatever happens to the session, and what is sent to it, wakes who waits. The first question only
 * registers, since nothing may be written before it waits. */
static err wake_take_op(struct tx *tx, const struct input *in, struct answer *out)
{
    enum wake_way way = (enum wake_way)team_word(&way_words, input_str(in, "way"));
    int64_t until = tx->now_ms + input_int(in, "timeout", 30) * 1000;
    struct wake_news news = { .answer = WAKE_OFF, .reason = STR("there is no such session") };
    struct session s = { .id = STR("") };
    bool found;

    TRY(session_of(tx, in, &s, &found));
    if (found)
        TRY(wake_take(tx, &s, input_str(in, "waker"), way, &news));
    if (news.answer == WAKE_REGISTERED)
        out->notify = s.id;
    if (news.answer == WAKE_NONE && !in->wait_over) {
        out->waits = true;
        out->wait_subject = s.id;
        out->wait_seq = *tx->seq;
        out->wait_until_ms = until;
        out->wait_again_ms = news.again_ms;
        return NULL;
    }
    write_news(&out->json, s.id, &news);
    return NULL;
}

static err wake_report_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str waker = input_str(in, "waker");
    struct session s;

    out->empty = true;
    TRY(wake_session(tx, waker, &s));
    return wake_report(tx, waker, input_str(in, "failed"));
}

static err wake_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct unheard *all;
    size_t count;

    TRY(wake_unheard(tx, input_str(in, "after"), page_rows(in), &all, &count));
    size_t shown = page_begin(in, out, STR("unheard"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++) {
        json_write_begin(&out->json, '{');
        write_text(&out->json, STR("session_id"), all[i].session_id);
        write_text(&out->json, STR("session_name"), all[i].name);
        write_int(&out->json, STR("ends"), all[i].ends);
        write_int(&out->json, STR("messages"), all[i].messages);
        write_time(&out->json, STR("since"), all[i].since_ms);
        json_write_end(&out->json, '}');
    }
    page_end(out, shown < count ? all[shown - 1].session_id : STR(""));
    return NULL;
}

// clang-format off

#define WAKER JSON("waker": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$", \
    "description": "What the waiting process calls itself; no other does." })

static const struct op ops[] = {
    {
        .name = "wake.take", .http = "POST /wakes", .effect = OP_WRITES, .wait = true, .secret = true,
        .on = ON_HTTP, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Wait for what an idle agent that a person started is to be woken with; it is given to the newest who waits.",
        .input = FIELDS(JSON("waker", "way"), WAKER "," JSON(
            "client": { "type": "string", "pattern": "^[A-Za-z0-9-]{1,40}$", "description": "What runs the agent: claude, codex, opencode." },
            "conversation": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "What that client calls the conversation." },
            "session_id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The session, where no conversation is given." },
            "way": { "enum": ["rewake", "queue", "plugin"], "description": "How the client will be woken." },
            "timeout": { "type": "integer", "minimum": 0, "maximum": 60, "default": 30, "description": "How many seconds to wait at most." })),
        .output = SHAPE(JSON("status"), JSON(
            "status": { "enum": ["news", "none", "superseded", "off"], "description": "Whether there is something; none: ask again; superseded, off: end." },
            "reason": { "type": "string", "description": "Why it is off." },
            "session_id": { "type": "string", "description": "The session that the news are for." },
            "text": { "type": "string", "description": "What the agent is to read; it begins with the ids, by which the client's receipt is known." },
            "ids": { "type": "array", "items": { "type": "string" }, "description": "The callbacks and messages that the text tells of." })),
        .run = wake_take_op,
    },
    {
        .name = "wake.list", .http = "GET /wakes", .on = ON_HTTP, .by = BY_OPERATOR | BY_VIEWER,
        .summary = "List agents that people have started and that have not heard what came for them: their clients cannot be woken, and hear at their next prompt.",
        .input = FIELDS("", PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("unheard"), SHAPE_LIST("unheard", "By the id of the session.", SHAPE(
            JSON("session_id", "session_name", "ends", "messages", "since"), JSON(
                "session_id": { "type": "string", "description": "The session that has not heard." },
                "session_name": { "type": "string", "description": "How it is called." },
                "ends": { "type": "integer", "description": "Of how many ends of agents that it has started." },
                "messages": { "type": "integer", "description": "And of how many messages of people." },
                "since": { "type": "string", "format": "date-time", "description": "When the oldest of them came." }))) "," PAGE_NEXT),
        .run = wake_list_op,
    },
    {
        .name = "wake.report", .http = "POST /wakes/{waker}", .effect = OP_WRITES,
        .on = ON_HTTP, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Tell that a client has what it was to be woken with, or that it cannot be had there: then others get it.",
        .input = FIELDS(JSON("waker"), WAKER "," JSON(
            "handed": { "type": "boolean", "description": "The client has it, and keeps it over its own restart." },
            "failed": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "Why it could not be handed over." })),
        .output = SHAPE("", ""), .run = wake_report_op,
    },
};
// clang-format on

const struct op_list wake_ops = { ops, sizeof ops / sizeof *ops };
