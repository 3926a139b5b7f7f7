/* sessions.h: the handlers of operations on sessions. Private to ops/; sessions.c has the table. */
#ifndef OPS_SESSIONS_H
#define OPS_SESSIONS_H

#include "core/session.h"
#include "ops/op.h"

/* ---- sessions_read.c ---- */

op_run session_list_op, session_get_op, session_status_op, session_result_op, session_state_op,
    session_events_op;

/* All of a session, as SESSION_MEMBERS in shapes.h says. */
void write_session(struct tx *tx, struct json_writer *w, const struct session *s);

/* What something has used: an object of tokens and dollars. */
void write_usage(struct tx *tx, struct json_writer *w, str name, str session_id,
                 const struct usage *u);

/* ---- sessions_write.c ---- */

op_run session_create_op, session_delete_op, session_clear_op, session_event_op, session_stop_op;

#endif
