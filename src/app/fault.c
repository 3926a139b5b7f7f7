/* fault.c: what went wrong by our fault, or by damage of the store, as the log tells it. */
#include "app/threads_private.h"
#include "base/log.h"

void fault_note(struct threads *t, const char *what, err e)
{
    if (!e || e->kind != ERR_INTERNAL)
        return;
    if (e->damage)
        COUNT(t->damage_count, 1);
    log_error(e->damage ? "store.damage" : "fault", LOG_S("op", str_from(what)),
              LOG_S("error", e->message));
}
