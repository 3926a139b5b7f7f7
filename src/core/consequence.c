/* consequence.c: what follows from an event, in the same transaction. */
#include "core/consequence.h"

#include <assert.h>

#include "core/callback.h"
#include "core/exec/share.h"
#include "core/member.h"
#include "core/permission.h"
#include "core/retain.h"
#include "core/wake_queue.h"

enum { CONSEQUENCES_MAX = 10000 }; /* of one command */

// clang-format off
static const struct {
    enum event_type after;
    err (*run)(struct tx *tx, const struct event *e);
} consequences[] = {
    { EVENT_RUN_STARTED,     callback_after_start   }, /* it owes anew; callbacks have arrived */
    { EVENT_RUN_STARTED,     share_after_started    }, /* the time of its attempt runs */
    { EVENT_RUN_FINISHED,    callback_after_run     }, /* ask for the state update, or settle */
    { EVENT_RUN_FINISHED,    execution_after_run    }, /* of a command: its step is done */
    { EVENT_STATE_CREATED,   callback_after_update  }, /* who was asked for it has paid */
    { EVENT_STATE_UPDATED,   member_after_update    }, /* others who wrote the same are told */
    { EVENT_STATE_UPDATED,   callback_after_update  },
    { EVENT_STATE_MIGRATED,  callback_after_update  },
    { EVENT_SESSION_SETTLED, callback_after_settled }, /* tell the parent */
    { EVENT_SESSION_SETTLED, permission_after_settled }, /* nobody need decide any more */
    { EVENT_SESSION_SETTLED, share_after_settled    }, /* its step goes on, or others have room */
    { EVENT_SESSION_SETTLED, retain_after_settled },   /* how long it is kept */
    { EVENT_SESSION_DELETED, retain_after_deleted },
    { EVENT_CALLBACK_WAITING, wake_queue_after_news  }, /* a runner may have to wake it */
    { EVENT_MESSAGE_SENT,    wake_queue_after_news   },
    { EVENT_APPROVAL_RESOLVED, callback_after_approval }, /* who was not resumed by it goes on */
};
// clang-format on

static err event_follow(struct tx *tx, const struct event *e, int *left)
{
    for (size_t i = 0; i < sizeof consequences / sizeof *consequences; i++) {
        if (consequences[i].after != e->type)
            continue;
        if ((*left)-- == 0)
            return err_new(tx->arena, ERR_LIMIT,
                           "this would lead to more than %d further changes at once: do it in "
                           "smaller pieces",
                           CONSEQUENCES_MAX);
        assert(e->seq > 0 && e->seq <= *tx->seq);
        tx->cause = e->seq;
        TRY(consequences[i].run(tx, e));
    }
    return NULL;
}

/* They are the server's own doing: an agent's end may move sessions which that agent does not
 * reach. The cause says who began it. */
err consequence_run(struct tx *tx)
{
    static const struct actor server = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };
    const struct actor *who = tx->actor;
    int64_t cause = tx->cause;
    int left = CONSEQUENCES_MAX;
    err failed = NULL;

    tx->actor = &server;
    for (const struct event *e = tx->first; e && !failed; e = e->next)
        failed = event_follow(tx, e, &left);
    tx->actor = who;
    tx->cause = cause;
    return failed;
}
