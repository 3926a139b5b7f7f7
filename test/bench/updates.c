/* updates.c: what PostgreSQL does by itself: UPDATE of a state by its id, each a transaction.
 *
 * One thread; each connection has one statement under way, as each of load.c's has a request. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cluster.h"
#include "bench/documents.h"
#include "bench/set.h"
#include "bench/tables.h"
#include "store/libpq.h"

enum { TIMES_MAX = 1 << 20, DOCUMENTS = 64 };

struct updating {
    const struct libpq *pq;
    PGconn **conns;
    double *sent_at;
    str documents[DOCUMENTS];
    uint64_t count;
    double *us; /* of each, as far as they go */
};

static void must_send(struct updating *u, uint32_t i, int sent)
{
    if (!sent)
        fail("plain UPDATE", str_from(u->pq->error_message(u->conns[i])));
}

static void update_send(struct updating *u, uint32_t i)
{
    char id[FILL_ID_BYTES];
    str document = u->documents[rand() % DOCUMENTS];
    const char *values[] = { id, document.at };
    int lengths[] = { 0, (int)document.len }, formats[] = { 0, 1 };

    fill_id(id, (uint64_t)rand() % SMALL_STATES);
    u->sent_at[i] = now_s();
    must_send(u, i,
              u->pq->send_query_prepared(u->conns[i], "update", 2, values, lengths, formats, 0));
}

/* All that has come on a connection. True: its statement has ended. */
static bool update_take(struct updating *u, uint32_t i)
{
    PGresult *r;

    must_send(u, i, u->pq->consume_input(u->conns[i]));
    while (!u->pq->is_busy(u->conns[i])) {
        if (!(r = u->pq->get_result(u->conns[i])))
            return true;
        if (u->pq->result_status(r) != PGRES_COMMAND_OK)
            fail("plain UPDATE", str_from(u->pq->error_message(u->conns[i])));
        u->pq->clear(r);
    }
    return false;
}

static void connection_make(struct updating *u, uint32_t i, const char *url)
{
    const char *names[] = { "dbname", NULL }, *values[] = { url, NULL };
    PGresult *r;

    u->conns[i] = u->pq->connectdb_params(names, values, 1);
    must_send(u, i, u->pq->status(u->conns[i]) == CONNECTION_OK);
    must_send(u, i,
              u->pq->send_prepare(u->conns[i], "update",
                                  "UPDATE state SET version = version + 1, body = $2"
                                  " WHERE state_id = $1",
                                  0, NULL));
    while ((r = u->pq->get_result(u->conns[i])))
        u->pq->clear(r);
}

static void updates_until(struct updating *u, struct pollfd *wires, uint32_t count, double end)
{
    while (now_s() < end) {
        poll(wires, count, 100);
        for (uint32_t i = 0; i < count; i++) {
            if (!wires[i].revents || !update_take(u, i))
                continue;
            if (u->count < TIMES_MAX)
                u->us[u->count] = (now_s() - u->sent_at[i]) * 1e6;
            u->count++;
            update_send(u, i);
        }
    }
}

struct updates updates_run(const char *url, uint32_t connections, double seconds)
{
    struct arena *a = arena_new();
    struct updating u = { .conns = ARENA_ARRAY(a, PGconn *, connections),
                          .sent_at = ARENA_ARRAY(a, double, connections),
                          .us = mem_alloc(TIMES_MAX * sizeof(double)) };
    struct pollfd *wires = ARENA_ARRAY(a, struct pollfd, connections);

    must(libpq_load(a, &u.pq));
    for (size_t i = 0; i < DOCUMENTS; i++)
        u.documents[i] = document_state(a, i, 4, 215);
    for (uint32_t i = 0; i < connections; i++) {
        connection_make(&u, i, url);
        wires[i] = (struct pollfd){ u.pq->socket(u.conns[i]), POLLIN, 0 };
        update_send(&u, i);
    }
    updates_until(&u, wires, connections, now_s() + seconds / 10);
    u.count = 0;
    double began = now_s();
    updates_until(&u, wires, connections, began + seconds);
    struct updates result = { .rate = (double)u.count / (now_s() - began) };
    for (uint32_t i = 0; i < connections; i++)
        u.pq->finish(u.conns[i]);
    uint64_t kept = u.count < TIMES_MAX ? u.count : TIMES_MAX;
    figures_sort(u.us, kept);
    result.p50_us = kept ? u.us[kept / 2] : 0;
    result.p99_us = kept ? u.us[kept * 99 / 100] : 0;
    mem_free(u.us);
    arena_free(a);
    return result;
}
