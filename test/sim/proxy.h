/* proxy.h: a wire to a PostgreSQL server that can be cut at a commit.
 *
 * It listens on a socket of its own and carries bytes both ways, on a thread. At the first COMMIT
 * that a client sends after proxy_arm it does what the plan says; what is connected later is carried
 * as it is. */
#ifndef SIM_PROXY_H
#define SIM_PROXY_H

struct proxy;

enum proxy_plan {
    PROXY_CUT_BEFORE,  /* the server never gets it, and sees the end of the connection */
    PROXY_STALL,       /* the server never gets it, and sees nothing: as behind a lost network */
    PROXY_CUT_ANSWER,  /* the server commits, and its answer is lost */
    PROXY_CUT_FOR_EVER /* the same, and nobody can connect again */
};

/* To the server whose socket is in `folder`. After the cut and before anything else, `then` is
 * called on the proxy's thread; NULL: nothing. */
struct proxy *proxy_start(const char *folder, enum proxy_plan plan, void (*then)(void *with),
                          void *with);
void proxy_arm(struct proxy *p);
void proxy_stop(struct proxy *p);

/* A store's name for a database behind it. */
const char *proxy_url(const struct proxy *p, const char *database);

#endif
