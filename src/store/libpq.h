/* libpq.h: PostgreSQL's client library, found when a store needs it.
 *
 * It is never linked: whoever stores in a file needs none of it, and the two dozen libraries that
 * it brings along stay out of the program. Private to store/ and to tests. */
#ifndef STORE_LIBPQ_H
#define STORE_LIBPQ_H

/* Debian keeps it in a folder of its own. */
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

#include "base/err.h"

#define LIBPQ_CALLS(X)                          \
    X(connectdb_params, PQconnectdbParams)      \
    X(conninfo_parse, PQconninfoParse)          \
    X(conninfo_free, PQconninfoFree)            \
    X(free_memory, PQfreemem)                   \
    X(finish, PQfinish)                         \
    X(status, PQstatus)                         \
    X(error_message, PQerrorMessage)            \
    X(server_version, PQserverVersion)          \
    X(socket, PQsocket)                         \
    X(set_notice_receiver, PQsetNoticeReceiver) \
    X(exec, PQexec)                             \
    X(send_prepare, PQsendPrepare)              \
    X(send_query_prepared, PQsendQueryPrepared) \
    X(flush, PQflush)                           \
    X(consume_input, PQconsumeInput)            \
    X(is_busy, PQisBusy)                        \
    X(get_result, PQgetResult)                  \
    X(notifies, PQnotifies)                     \
    X(result_status, PQresultStatus)            \
    X(result_error_field, PQresultErrorField)   \
    X(cmd_status, PQcmdStatus)                  \
    X(cmd_tuples, PQcmdTuples)                  \
    X(ntuples, PQntuples)                       \
    X(nfields, PQnfields)                       \
    X(ftype, PQftype)                           \
    X(getisnull, PQgetisnull)                   \
    X(getvalue, PQgetvalue)                     \
    X(getlength, PQgetlength)                   \
    X(clear, PQclear)

struct libpq {
#define LIBPQ_MEMBER(name, symbol) __typeof__(symbol) *name;
    LIBPQ_CALLS(LIBPQ_MEMBER)
#undef LIBPQ_MEMBER
    /* Since 14, and NULL before; so are the two results, which older headers do not name. */
    int (*enter_pipeline_mode)(PGconn *c);
    int (*pipeline_sync)(PGconn *c);
};

enum { LIBPQ_PIPELINE_SYNC = 10, LIBPQ_PIPELINE_ABORTED = 11 };

/* The library, loaded once. UNAVAILABLE, with what to install, when it is not there. */
err libpq_load(struct arena *a, const struct libpq **out);

/* The same of another file. */
err libpq_load_from(struct arena *a, const char *file, struct libpq *out);

#endif
