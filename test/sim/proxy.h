/* proxy.h: a wire to a PostgreSQL server that can be cut.
 *
 * It listens on a socket of its own and carries bytes both ways, on a thread. Once it is armed, it
 * counts what clients send, and does what the plan says at one of these messages; what is connected
 * later is carried as it is. A message is what a client sends at once: often several statements. */
#ifndef SIM_PROXY_H
#define SIM_PROXY_H

#include <stdbool.h>

struct proxy;

enum proxy_plan {
    PROXY_CUT_BEFORE,  /* the server never gets it, and sees the end of the connection */
    PROXY_STALL,       /* the server never gets it, and sees nothing: as behind a lost network */
    PROXY_CUT_ANSWER,  /* the server gets it, and its answer is lost */
    PROXY_CUT_FOR_EVER /* the same, and nobody can connect again */
};

/* To the server whose socket is in `folder`. After a cut and before anything else, `then` is
 * called on the proxy's thread; NULL: nothing. */
struct proxy *proxy_start(const char *folder, void (*then)(void *with), void *with);
void proxy_stop(struct proxy *p);

/* Plans a cut, at the message of that number from now on, counted from 1; 0: at the one in which a
 * connection says COMMIT for the first time. */
void proxy_arm(struct proxy *p, enum proxy_plan plan, unsigned nth);

/* Takes the plan back; whether it was carried out. */
bool proxy_disarm(struct proxy *p);

/* A store's name for a database behind it. */
const char *proxy_url(const struct proxy *p, const char *database);

#endif
