/* loop_private.h: how the parts of the loop know libuv. Private to loop….c.
 *
 * Every handle is freed by its own close callback and nowhere else, because libuv
 * holds it until then; whatever a callback does, the thing it was called for is
 * therefore still there when it returns. */
#ifndef WIRE_LOOP_PRIVATE_H
#define WIRE_LOOP_PRIVATE_H

#include <assert.h>
#include <uv.h>

#include "base/busy_poll.h"
#include "wire/loop.h"

struct loop {
    uv_loop_t uv;
    uv_prepare_t turn;
    void (*each_turn)(void *owner);
    void *owner;
    struct busy_poll awake;
    uint64_t turned_ns;          /* when the last turn was over */
    const struct link *heard[2]; /* who spoke last; only to tell them from others */
    bool anybody, others;        /* spoke in this turn; besides those two */
    char bytes[LINK_READ_MAX];   /* of the link that is being read: an idle one needs none */
};

/* Either kind of stream. */
union stream {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

/* libuv refuses these calls only when they are used wrongly. */
static inline void loop_must(int status)
{
    assert(status == 0);
    (void)status;
}

/* ---- loop.c ---- */

/* Something has come from it. */
void loop_hears(struct loop *l, const struct link *from);

/* For uv_close: frees what the handle is part of. */
void handle_free(uv_handle_t *handle);

/* ---- loop_link.c ---- */

/* Makes one of either kind, for `thing`. */
void stream_init(union stream *s, uv_loop_t *loop, uv_handle_type type, void *thing);

/* The next connection that waits at a listening stream; NULL: it is gone already. */
struct link *link_take(uv_stream_t *from);

#endif
