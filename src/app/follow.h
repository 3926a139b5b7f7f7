/* follow.h: what other nodes commit to a store that is shared, brought to this node's server.
 *
 * Hears that there was a commit, reads the log from where the server is, and hands
 * the events over. Reads at times without having heard anything, so that a word that was
 * lost costs a moment and nothing else. Does not know which events are this node's
 * own: the server passes over those that it has published. */
#ifndef APP_FOLLOW_H
#define APP_FOLLOW_H

#include "base/queue.h"
#include "ops/perform.h"
#include "wire/server.h"

struct follow;

/* Connects twice: to listen, and to read. */
err follow_new(struct arena *a, struct store *store, struct follow **out);
void follow_free(struct follow *f);

/* Follows the log until the queue is closed; for a thread of its own. */
void follow_run(struct follow *f, struct server *server, struct queue *until);

/* From any thread: since when it has been without the database, in ms; 0: it is not. */
int64_t follow_lost_ms(const struct follow *f);

#endif
