/* hooks_event.c: what clients tell, as it is kept and read: bounded, and in one form for all. */
#include "base/date.h"
#include "base/utf8.h"
#include "ops/hooks.h"

enum {
    CONTENT_BYTES_MAX = 2000, /* of what was said */
    TEXT_BYTES_MAX = 300,     /* of any other text */
    EVENT_BYTES_MAX = 8192,   /* of an event that is kept */
    NAME_BYTES_MAX = 100,     /* of a member that is kept: a cut name might be another's */
    ITEMS_MAX = 12,           /* of a list */
    MEMBERS_MAX = 40,         /* of an object */
    DEPTH_MAX = 4,
    FAILURE_BYTES_MAX = 400,
};

const char *const hook_client_names[HOOK_CLIENT_COUNT] = { "claude", "codex", "gemini",
                                                           "opencode" };

/* ---- cutting ---- */

static str text_cut(struct arena *a, str text, size_t most)
{
    if (text.len <= most)
        return text;
    return arena_printf(a, STR_FMT "…", STR_ARG(utf8_cut(text, most)));
}

static struct json cut_at(struct arena *a, const struct json *v, size_t text_max, int depth)
{
    struct json out;

    switch (v->kind) {
    case JSON_STRING: return json_string(text_cut(a, json_text(v), text_max));
    case JSON_ARRAY:
        out = json_array();
        for (uint32_t i = 0; depth < DEPTH_MAX && i < v->len && i < ITEMS_MAX; i++)
            json_push(a, &out, cut_at(a, &v->items[i], text_max, depth + 1));
        return out;
    case JSON_OBJECT:
        out = json_object();
        for (uint32_t i = 0; depth < DEPTH_MAX && i < v->len && i < MEMBERS_MAX; i++) {
            str name = json_name(&v->members[i]);
            if (name.len <= NAME_BYTES_MAX)
                json_put(a, &out, name, cut_at(a, &v->members[i].value, text_max, depth + 1));
        }
        return out;
    default: return *v;
    }
}

struct json hook_cut(struct arena *a, const struct json *value, size_t text_max)
{
    return cut_at(a, value, text_max, 0);
}

/* ---- what is kept ---- */

/* Of these the first that is there is what was said. */
static const struct {
    const char *member, *role;
} said[] = {
    { "prompt_response", "assistant" },
    { "last_assistant_message", "assistant" },
    { "prompt", "user" },
    { "task_subject", NULL },
    { "message", NULL },
};

/* What every event has, or what is told otherwise. */
static const char *const left_out[] = {
    "session_id",      "transcript_path", "cwd",        "prompt_id",
    "permission_mode", "effort",          "timestamp",  "agent_transcript_path",
    "model",           "turn_id",         "mcp_server", "last_assistant_message",
    "prompt_response", "prompt",
};

static bool is_left_out(str name)
{
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (str_eq(name, str_from(left_out[i])))
            return true;
    return false;
}

static void content_put(struct arena *a, const struct hook *h, struct json *out)
{
    size_t i = 0;

    while (i < sizeof said / sizeof *said && !json_str(h->payload, said[i].member).len)
        i++;
    if (i == sizeof said / sizeof *said)
        return;
    str text = json_str(h->payload, said[i].member);
    if (said[i].role)
        json_put(a, out, STR("role"), json_string(str_from(said[i].role)));
    json_put(a, out, STR("content"), json_string(text_cut(a, text, CONTENT_BYTES_MAX)));
}

static str digest_within(struct arena *a, const struct hook *h, size_t text_max)
{
    struct json out = json_object();

    content_put(a, h, &out);
    for (uint32_t i = 0; i < h->payload->len && i < MEMBERS_MAX; i++) {
        str name = json_name(&h->payload->members[i]);
        if (name.len <= NAME_BYTES_MAX && !is_left_out(name) && !json_find(&out, name))
            json_put(a, &out, name, cut_at(a, &h->payload->members[i].value, text_max, 1));
    }
    return json_printed(a, &out);
}

str hook_digest(struct arena *a, const struct hook *h)
{
    str printed = digest_within(a, h, TEXT_BYTES_MAX);

    if (printed.len > EVENT_BYTES_MAX)
        printed = digest_within(a, h, TEXT_BYTES_MAX / 10);
    if (printed.len > EVENT_BYTES_MAX)
        printed =
            arena_printf(a, "{\"truncated\":true,\"bytes\":%zu}", json_print_size(h->payload));
    return printed;
}

/* ---- failures ---- */

/* Clients tell times in seconds or milliseconds since 1970, or as text. */
static int64_t time_in(const struct json *v)
{
    const int64_t ms_from = 100000000000; /* as seconds, the year 5138 */
    int64_t n = 0;

    if (json_is_number(v) && !json_to_int(v, &n))
        n = (int64_t)json_to_double(v);
    if (json_is(v, JSON_STRING) && !date_parse(json_text(v), &n)) {
        if (!str_to_int(json_text(v), &n))
            return 0;
    } else if (json_is(v, JSON_STRING)) {
        return n;
    }
    return n <= 0 ? 0 : n < ms_from ? n * 1000 : n;
}

static int64_t until_in(const struct json *v, int64_t now_ms)
{
    static const char *const times[] = { "resets_at", "reset_at", "resetsAt", "resetAt" };
    static const char *const spans[] = { "retry_after", "retryAfter", "retry_after_seconds" };
    const int64_t span_max = 366 * 86400;

    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (time_in(json_get(v, times[i])))
            return time_in(json_get(v, times[i]));
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        int64_t s = json_int_or(v, spans[i], 0);
        if (s > 0 && s <= span_max)
            return now_ms + s * 1000;
    }
    return 0;
}

/* Claude Code ends some messages with a bar and the second at which a limit is over. */
static int64_t until_behind_bar(struct arena *a, str text)
{
    size_t at = text.len;

    while (at > 0 && text.at[at - 1] >= '0' && text.at[at - 1] <= '9')
        at--;
    if (at == 0 || at == text.len || text.at[at - 1] != '|')
        return 0;
    struct json digits = json_string(arena_copy(a, str_slice(text, at, text.len)));
    return time_in(&digits);
}

str hook_failure(struct arena *a, const struct json *payload, int64_t now_ms, int64_t *until_ms)
{
    const struct json *details = json_get(payload, "error_details");
    str kind = json_str(payload, "error");
    str text = json_is(details, JSON_STRING) ? json_text(details)
               : details                     ? json_printed(a, details)
                                             : STR("");
    const struct json *places[] = { payload, details, json_get(payload, "rate_limit_info"),
                                    json_get(details, "rate_limit_info") };

    *until_ms = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places && !*until_ms; i++)
        *until_ms = until_in(places[i], now_ms);
    if (!*until_ms)
        *until_ms = until_behind_bar(a, text);
    if (!kind.len)
        kind = STR("unknown");
    return text_cut(a,
                    text.len ? arena_printf(a, STR_FMT ": " STR_FMT, STR_ARG(kind), STR_ARG(text))
                             : kind,
                    FAILURE_BYTES_MAX);
}

/* ---- what goes on ---- */

bool hook_goes_on(const struct json *payload)
{
    static const char *const over[] = { "completed", "failed", "stopped", "killed", "cancelled" };
    const struct json *tasks = json_get(payload, "background_tasks");
    const struct json *crons = json_get(payload, "session_crons");

    for (uint32_t i = 0; json_is(tasks, JSON_ARRAY) && i < tasks->len; i++) {
        str status = json_str(&tasks->items[i], "status");
        bool ended = false;
        for (size_t k = 0; k < sizeof over / sizeof *over; k++)
            ended = ended || str_eq(status, str_from(over[k]));
        if (!ended)
            return true;
    }
    return json_is(crons, JSON_ARRAY) && crons->len > 0;
}
