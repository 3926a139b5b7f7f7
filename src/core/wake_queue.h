/* wake_queue.h: how a runner wakes an idle client whose own waker is gone.
 *
 * Codex takes messages for a conversation from a command of its own, which finds it by a folder. The
 * hooks of a conversation tell which that is, and as whom, on which machine and with which search path
 * the client runs. The waker beside the client goes first. What nobody has taken for a while is offered
 * to the runners of that machine that work as that user: one takes it, runs the command, and says how
 * that went; one that says nothing was in vain. Where it has failed a few times, there is no queue,
 * until a hook tells of it again. */
#ifndef CORE_WAKE_QUEUE_H
#define CORE_WAKE_QUEUE_H

#include "core/runner.h"
#include "core/wake.h"

struct wake_queue {
    str session_id;
    str hostname, user;
    str conversation; /* as the client calls it */
    str home, path;   /* the folder of the client, and its search path for programs; may be empty */
    bool offered;
    int64_t failures; /* since its hooks told of it */
};

/* The table `wake_queue`: see columns.h. */
// clang-format off
#define WAKE_QUEUE_COLUMNS(X, q)                 \
    X(session_id,   TEXT, INSERT, q->session_id) \
    X(hostname,     TEXT, INDEX,  q->hostname)   \
    X(work_user,    TEXT, INDEX,  q->user)       \
    X(conversation, TEXT, STORE,  q->conversation) \
    X(home,         TEXT, STORE,  q->home)       \
    X(path,         TEXT, STORE,  q->path)       \
    X(offered,      FLAG, INDEX,  q->offered)    \
    X(failures,     INT,  STORE,  q->failures)
#define WAKE_QUEUE_NAMES COLUMNS(WAKE_QUEUE_COLUMNS)
// clang-format on

/* A hook tells of the queue of its client: all but `offered` and `failures`. Costs no write where it was
 * so already. */
err wake_queue_set(struct tx *tx, const struct wake_queue *q);

/* There is none any more. */
err wake_queue_drop(struct tx *tx, str session_id);

/* Something has come for a session: see consequence.h. */
err wake_queue_after_news(struct tx *tx, const struct event *e);

/* What a runner is to put into the queue of a client. */
struct wake_errand {
    struct wake_queue queue;
    str waker; /* empty: there is nothing to do */
    str text;
};

/* The next errand for a runner, which is its own from now on. */
err wake_errand_take(struct tx *tx, const struct runner *r, struct wake_errand *out);

/* The runner says how one of its own went, as wake_report has it; NOT_FOUND when it is another one's. Of
 * one that is gone with its session there is nothing to say, and that is no error. */
err wake_errand_end(struct tx *tx, const struct runner *r, str waker, str failed);

/* Whether an event says that there may be one. */
bool wake_errand_wakes(const struct runner *r, const struct event *e);

due_run wake_due_offer, wake_due_lease;

#endif
