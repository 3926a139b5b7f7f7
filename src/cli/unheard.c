/* unheard.c: agents that have not heard what came for them, for the people at their clients. */
#include "cli/unheard.h"

#include "base/date.h"
#include "cli/call.h"
#include "cli/cli.h"

enum { UNHEARD_MAX = 1000 };

void unheard_load(struct caller *c, struct arena *a, struct json *out)
{
    bool cut;

    if (call_pages(c, a, "/wakes", NULL, "unheard", UNHEARD_MAX, out, &cut) ||
        !json_is(out, JSON_ARRAY))
        *out = json_array();
}

static void put_some(struct buf *out, int64_t n, const char *what, bool and)
{
    if (n)
        buf_printf(out, "%s%lld %s%s", and? " and " : "", (long long)n, what, n == 1 ? "" : "s");
}

str unheard_told(struct arena *a, const struct json *one, int64_t now_ms)
{
    int64_t since_ms, ends = json_int_or(one, "ends", 0),
                      messages = json_int_or(one, "messages", 0);
    struct buf out = buf_in(a);

    buf_add(&out, json_str(one, "session_name"));
    buf_add(&out, STR(" has not heard of "));
    put_some(&out, ends, "end", false);
    put_some(&out, messages, "message", ends > 0);
    if (date_parse(json_str(one, "since"), &since_ms))
        buf_printf(&out, " for " STR_FMT, STR_ARG(render_age(a, now_ms - since_ms)));
    buf_add(&out, STR(": its client hears at its next prompt"));
    return buf_str(&out);
}
