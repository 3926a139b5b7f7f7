/* trouble.c: what the store could not do: logged once, and told without what is only for the log. */
#include <stdio.h>

#include "base/log.h"
#include "ops/perform.h"

enum {
    TROUBLE_AGAIN_MS = 60 * 1000, /* the same is logged again after this time */
    TROUBLE_OTHER_MS = 1000,      /* and something else after this */
};

/* One may say more of the same: that it is tried again. */
static bool is_same(const struct engine *e, err why)
{
    str before = str_from(e->trouble_text);

    return e->trouble == why->kind &&
           (str_starts(why->message, before) || str_starts(before, why->message));
}

/* The store's own condition lasts, and is logged once; what it makes of one command is logged for
 * each. */
static void trouble_log(struct engine *e, err why)
{
    bool lasts = why->kind == ERR_UNAVAILABLE || why->kind == ERR_FULL;
    int64_t now = e->now_ms ? e->now_ms(e->clock) : 1;

    if (lasts && e->trouble_at_ms &&
        now - e->trouble_at_ms < (is_same(e, why) ? TROUBLE_AGAIN_MS : TROUBLE_OTHER_MS))
        return;
    if (lasts) {
        e->trouble = why->kind;
        e->trouble_at_ms = now;
        snprintf(e->trouble_text, sizeof e->trouble_text, STR_FMT, STR_ARG(why->message));
    }
    log_warn("store.error", LOG_S("kind", str_from(error_kind_info(why->kind)->name)),
             LOG_S("error", why->message));
}

err op_public_error(struct engine *e, struct arena *a, err why)
{
    static const char *const texts[ERROR_KIND_COUNT] = {
        [ERR_UNAVAILABLE] = "the database cannot do this now, and nothing was changed: try again",
        [ERR_FULL] = "the database has no space left, and nothing was changed: free some on its "
                     "disk; reads and deletes go on",
        [ERR_INVALID] = "the database does not take a text of it: texts are UTF-8 without NUL",
    };
    const char *text = texts[why->kind];

    if (!why->hidden)
        return err_copy(a, why);
    trouble_log(e, why);
    str members = arena_copy(a, why->members);
    if (why->damage)
        return err_with(a,
                        err_damage(a, "the database is damaged, and nothing was changed: the "
                                      "server's log says where (store.error)"),
                        members);
    err shown = err_new(a, why->kind, "%s",
                        text ? text
                             : "the database could not do this, and nothing was changed: the "
                               "server's log says why (store.error)");
    return err_with(a, shown, members);
}
