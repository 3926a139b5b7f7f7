/* wake.h: how the idle client of an agent that a person started is woken.
 *
 * A waker is a process beside the client: a hook that waits, the bridge of its tools, a plugin. It asks
 * for news: ends of children that its agent asked to hear of, and messages of people. What it is given
 * is in flight, and delivered only when the client itself shows that it arrived: its next prompt holds
 * the ids. So nothing is lost when a waker, the server or the client dies in between, and what comes
 * twice is known by its id.
 *
 * There is one waker for a session: the newest. Where there is none any more, a runner may be one for
 * once, and supersedes nobody: see wake_queue.h. A session that is at work is given the time of
 * wake_grace_ms to hear by its own hooks and tools, which cost less. */
#ifndef CORE_WAKE_H
#define CORE_WAKE_H

#include "core/callback.h"
#include "core/message.h"

enum { WAKER_ID_MAX = 64, WAKERS_KEPT = 32 };

struct waker {
    str session_id;
    int64_t number; /* the highest of its session is the newest */
    str id;         /* as it calls itself */
    enum wake_way way;
    bool handed;   /* what it took is with its client for good: a queue that outlives it */
    str runner_id; /* the runner that this is; empty: it is a process beside the client */
    int64_t created_at_ms;
};

/* The table `waker`: see columns.h. */
// clang-format off
#define WAKER_COLUMNS(X, w)                   \
    X(session_id, TEXT, INSERT, w->session_id) \
    X(number,     INT,  INSERT, w->number)     \
    X(waker_id,  TEXT, INSERT, w->id)         \
    X(way,        WORD, INSERT, w->way)        \
    X(handed,     FLAG, STORE,  w->handed)     \
    X(created_at, TIME, INSERT, w->created_at_ms) \
    X(runner_id,  TEXT, INSERT, w->runner_id)
#define WAKER_NAMES COLUMNS(WAKER_COLUMNS)
// clang-format on

enum wake_answer {
    WAKE_NEWS,       /* here it is */
    WAKE_NONE,       /* nothing yet */
    WAKE_REGISTERED, /* it is the newest from now on, which others are to hear */
    WAKE_SUPERSEDED, /* a newer one is there */
    WAKE_OFF,        /* nobody wants it woken */
};

struct wake_news {
    enum wake_answer answer;
    str text;
    const str *ids;
    size_t id_count;
    str reason;       /* why it is off */
    int64_t again_ms; /* with none: when there will be something; 0: nobody knows */
};

/* What a waker is told. Writes only where it answers news for the first time, or registers. */
err wake_take(struct tx *tx, const struct session *s, str waker_id, enum wake_way way,
              struct wake_news *out);

/* The session of a waker. NOT_FOUND when it is not known (any more), or out of the actor's reach. */
err wake_session(struct tx *tx, str waker_id, struct session *out);

/* A waker says that its client has what it was given; or why it cannot have it: then others may, and
 * the session's events say so. */
err wake_report(struct tx *tx, str waker_id, str failed);

/* A prompt of the client: what of ours it holds has arrived. `again`: it is nothing but what had arrived
 * before, and need not be read twice. */
err wake_receipt(struct tx *tx, const struct session *s, str prompt, bool *again);

/* A live session whose client somebody outside has started, and which has not heard what would wake it for
 * longer than that takes: it cannot be woken, or is not any more. */
struct unheard {
    str session_id, name;
    int64_t ends, messages;
    int64_t since_ms; /* of the oldest of them */
};

/* By id, from `after` on. */
err wake_unheard(struct tx *tx, str after, int64_t limit, const struct unheard **out,
                 size_t *count);

/* The client begins, stops its turn or ends: what wakers took and what never arrived is offered again,
 * at once or (a stop) after a while. At its end no waker of it is the newest. */
err wake_on_start(struct tx *tx, const struct session *s);
err wake_on_stop(struct tx *tx, const struct session *s);
err wake_on_end(struct tx *tx, const struct session *s);

due_run wake_due_return;

#endif
