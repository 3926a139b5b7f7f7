/* rpc.h: JSON-RPC 2.0 messages, as MCP has them: one at a time, with an id or without.
 *
 * Knows no method. */
#ifndef MCP_RPC_H
#define MCP_RPC_H

#include "json/json.h"

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE };

/* Codes of JSON-RPC, and those of MCP. */
enum rpc_code {
    RPC_PARSE = -32700,
    RPC_INVALID = -32600,
    RPC_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_RESOURCE_LEGACY = -32002, /* before 2026-07-28: there is no such resource */
    RPC_HEADER = -32020,          /* a header does not say what the body says */
    RPC_CAPABILITY = -32021,      /* the client cannot do what this needs */
    RPC_VERSION = -32022,         /* no such revision of the protocol */
};

struct rpc {
    enum rpc_kind kind;
    const struct json *whole;
    const struct json *id;             /* a string or an integer; NULL: a notification */
    str method;                        /* empty: a response */
    const struct json *params;         /* an object; an empty one when there is none */
    const struct json *result, *error; /* of a response: one of them */
};

/* What is wrong with a message, as it is answered. */
struct rpc_fault {
    enum rpc_code code;
    str message;
    str data; /* printed JSON; empty: none */
};

/* Reads one. False, with the fault and what is known of the id: it is not one. A batch is none. */
bool rpc_read(struct arena *a, str text, struct rpc *out, struct rpc_fault *fault);

/* The same, where its values may take so much memory and no more; 0: any. */
bool rpc_read_within(struct arena *a, str text, size_t memory_max, struct rpc *out,
                     struct rpc_fault *fault);

/* {"jsonrpc":"2.0","id":…,"result":  ; the caller writes the value, then rpc_end. */
void rpc_begin_result(struct json_writer *w, const struct json *id);
/* {"jsonrpc":"2.0","method":…,"params":  ; likewise. */
void rpc_begin_notification(struct json_writer *w, str method);
/* {"jsonrpc":"2.0","id":"…","method":…,"params":  ; likewise: a request of ours. */
void rpc_begin_request(struct json_writer *w, str id, str method);
void rpc_end(struct json_writer *w);

/* A whole error response. `id` may be NULL: it is not known, and the response has none. */
void rpc_write_fault(struct json_writer *w, const struct json *id, const struct rpc_fault *fault);

#endif
