/* roaming_client.h: somebody with a connection, who moves to another node when one does not answer.
 *
 * For the threads of chaos: whatever happens to the servers, each gets its answers in the end. */
#ifndef TEST_BLACK_ROAMING_CLIENT_H
#define TEST_BLACK_ROAMING_CLIENT_H

#include "black/chaos.h"

struct roaming_client {
    struct chaos *chaos;
    struct random random;
    struct arena *arena; /* of what it does at the moment */
    struct http_client *client;
    int node;
    int patience_ms; /* as that of chaos, until somebody changes it */
    int64_t sent_again;
};

/* For a thread that takes its arena: see arena_take. */
void roaming_client_open(struct roaming_client *v, struct chaos *c, uint64_t seed);
void roaming_client_close(struct roaming_client *v);

/* To another node, where there is one. */
void roaming_client_move(struct roaming_client *v);

/* Asks until there is an answer, with the same key each time. */
struct response roaming_client_send(struct roaming_client *v, const char *method, str target,
                                    str key, str body);

/* Asks for a state until there is an answer, with the same key each time. `query` is empty or
 * "?…". */
struct response roaming_client_ask(struct roaming_client *v, const char *method, int state,
                                   const char *query, str key, str body);

/* Reads one. Fails the test when it is shown less than anybody, on any node, was shown before it
 * asked. */
const struct json *roaming_client_read(struct roaming_client *v, int state, const char *query);

/* ---- what others need, too ---- */

/* Somebody was shown this version, or was told that he wrote it. */
void chaos_shown(struct chaos *c, int state, int64_t version);

/* Any node but this one, or this one if there is no other. */
int chaos_other_node(const struct chaos *c, int node, struct random *random);

void chaos_wait_ms(long ms);

#endif
