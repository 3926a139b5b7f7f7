/* quota.h: how much each token takes of what all share: connections, waits, sessions, bytes.
 *
 * A quota belongs to a token, whichever connections show it; all that have shown
 * none yet have one small quota together. The operator's is as large as all there
 * is, and a part of that is for nobody else, so that the operator always gets in.
 * The limits of a quota are in server_limits. Does not know what the bytes are for. */
#ifndef WIRE_QUOTA_H
#define WIRE_QUOTA_H

#include "base/list.h"
#include "ops/op.h"

struct server;

struct quota {
    struct list link; /* in its bucket */
    struct list bulk; /* connections that bring much, and wait for their turn to go on */
    struct list turn; /* in the server's list of quotas that have such */
    str token_id;     /* empty: of all who have shown none */
    bool operates;
    unsigned refs;
    uint32_t connections, waits, sessions, requests;
    uint64_t buffered; /* bytes of requests */
    uint64_t held; /* of answers that wait for their readers, without what they have in common */
};

struct quotas *quotas_new(void);
void quotas_free(struct server *s);

/* That of a grant, NULL: of those who have shown nothing. It is the caller's to let go of. */
struct quota *quota_of(struct server *s, const struct grant *g);
void quota_unref(struct quota *sh);

/* LIMIT, naming it, when one more, or so many more, is too much for the token. */
err quota_check_connection(const struct server *s, const struct quota *sh, struct arena *a);
err quota_check_wait(const struct server *s, const struct quota *sh, size_t more, struct arena *a);
err quota_check_request(const struct server *s, const struct quota *sh, struct arena *a);
err quota_check_session(const struct server *s, const struct quota *sh, struct arena *a);

static inline uint64_t bytes_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Of a budget of which more than all may be used, since an operator may go beyond it. */
static inline uint64_t bytes_left(uint64_t most, uint64_t used)
{
    return used < most ? most - used : 0;
}

/* What it may still take of a budget of which so much is used, and so much by itself. */
uint64_t quota_room(const struct server *s, const struct quota *sh, uint64_t most, uint64_t used,
                    uint64_t own);

/* ---- bytes of requests ---- */

/* What one request holds, or what somebody else does for it. */
struct charge {
    struct server *server;
    struct quota *quota;
    uint64_t bytes;
};

void charge_begin(struct charge *c, struct server *s, struct quota *sh);
void charge_end(struct charge *c);

/* One that lives in the request's arena, and ends with it, whoever that is handed to. */
struct charge *charge_new(struct server *s, struct arena *a, struct quota *sh);

/* It counts for the quota, with so many bytes. */
void charge_set(struct charge *c, struct quota *sh, uint64_t bytes);

/* Whether it could be so many; and how many it could be at most. */
bool charge_fits(const struct charge *c, uint64_t bytes);
uint64_t charge_most(const struct charge *c);

#endif
