/* wake_private.h: what wakers carry. Private to wake*.c, which are, from below
 * to above: wake_load.c, wake_queue.c, wake.c. */
#ifndef CORE_WAKE_PRIVATE_H
#define CORE_WAKE_PRIVATE_H

#include "core/wake.h"

struct load {
    struct callback *callbacks;
    struct message *messages;
    size_t callback_count, message_count;
};

static inline bool load_is_empty(const struct load *l)
{
    return l->callback_count + l->message_count == 0;
}

/* What waits to be told and may wake it. */
err load_waiting(struct tx *tx, str session_id, struct load *out);

/* What a waker has; an empty id: what any has that did not hand it over. */
err load_carried(struct tx *tx, str session_id, str waker_id, struct load *out);

/* It is this waker's from now on; an empty id: nobody's. */
err load_give(struct tx *tx, struct load *l, str waker_id);

/* One text, which begins with the ids of all that it tells of. */
void load_tell(struct tx *tx, const struct load *l, struct wake_news *out);

/* What a waker has, or with an empty id all that none has handed over, is nobody's again; `told`: those
 * who wait hear of it. */
err load_return(struct tx *tx, str session_id, str waker_id, bool told);

/* Why it is not to be woken; empty: it may be. */
err wake_off_reason(struct tx *tx, const struct session *s, str *out);

/* Old ones are told that they are; those that never ask again are forgotten by and by. */
err waker_add(struct tx *tx, struct waker w);

err waker_find(struct tx *tx, str id, struct waker *out, bool *found);

/* See wake_report. */
err waker_report(struct tx *tx, const struct waker *w, str failed);

#endif
