/* call.c: what commands that are written by hand do with more than one call. */
#include "cli/call.h"

#include <poll.h>

enum {
    WAIT_MOST_MS = 2000,
    PAGE = 500, /* what lists give at most */
};

err call_until_answered(struct cli *c, struct caller *k, struct arena *a, const struct call *call,
                        const struct json **out)
{
    for (int n = 0;; n++) {
        arena_reset(a);
        err e = caller_call(k, a, call, out);
        if (!e || e->kind != ERR_UNAVAILABLE || !k->reached)
            return e;
        if (n == 0)
            cli_warn(c, err_within(a, e, "asking again"));
        poll(NULL, 0, (int)retry_delay_ms(n, WAIT_MOST_MS));
    }
}

err call_pages(struct caller *k, struct arena *a, const char *pattern,
               const struct url_param *filter, const char *list, size_t most, struct json *out,
               bool *cut)
{
    str after = STR("");

    *out = json_array();
    for (*cut = false; !*cut;) {
        struct url_param params[3] = { { "limit", arena_printf(a, "%d", PAGE) } };
        struct call call = { .method = "GET", .pattern = pattern, .params = params };
        const struct json *page, *items;
        call.param_count = 1;
        if (filter)
            params[call.param_count++] = *filter;
        if (after.len)
            params[call.param_count++] = (struct url_param){ "after", after };
        TRY(caller_call(k, a, &call, &page));
        items = json_get(page, list);
        for (uint32_t i = 0; json_is(items, JSON_ARRAY) && i < items->len; i++)
            json_push(a, out, items->items[i]);
        after = json_str(page, "next");
        if (!after.len)
            return NULL;
        *cut = out->len >= most;
    }
    return NULL;
}
