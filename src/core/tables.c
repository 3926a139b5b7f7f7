/* tables.c: the data model. Read from top to bottom, it is all that baton remembers.
 *
 * Types are TEXT, BIGINT and BYTEA; times are milliseconds, JSON is TEXT, truth
 * is 0 or 1. What is ordered or paged by a text says COLLATE "C". A change is a
 * new step at the end: what was released is never edited. */
#include "core/tables.h"

#include <stddef.h>

static const char *const step_1[] = {
    /* A schema is immutable: a changed one is the next version of its name. */
    "CREATE TABLE schema ("
    " schema_id TEXT PRIMARY KEY,"
    " name TEXT COLLATE \"C\" NOT NULL,"
    " version BIGINT NOT NULL,"
    " text TEXT NOT NULL,"
    " digest TEXT NOT NULL," /* SHA-256 of the text: compiled ones are kept by it */
    " description TEXT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " UNIQUE (name, version))",

    /* The current version of each document. Its history is a chain through the log: last_seq is
     * the row of this version, snap_seq the last row that holds a whole body. */
    "CREATE TABLE state ("
    " state_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " schema_id TEXT NOT NULL,"
    " schema_name TEXT COLLATE \"C\" NOT NULL," /* of the schema, which never changes: no join */
    " schema_version BIGINT NOT NULL,"
    " root_session TEXT COLLATE \"C\" NOT NULL," /* empty: made by the operator */
    " version BIGINT NOT NULL,"
    " last_seq BIGINT NOT NULL,"
    " snap_seq BIGINT NOT NULL,"
    " snap_version BIGINT NOT NULL,"
    " patch_bytes BIGINT NOT NULL," /* logged since that body */
    " created_at BIGINT NOT NULL,"
    " updated_at BIGINT NOT NULL,"
    " body TEXT NOT NULL)", /* last, so that lists need not read over it */
    "CREATE INDEX state_by_root ON state (root_session, state_id)",
    "CREATE INDEX state_by_schema ON state (schema_name, state_id)",
    "CREATE INDEX state_by_life ON state (state_id) WHERE root_session <> ''",

    /* Who may come in. */
    "CREATE TABLE token ("
    " token_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " kind BIGINT NOT NULL,"
    " name TEXT NOT NULL,"
    " hash TEXT NOT NULL,"
    " scope TEXT NOT NULL,"
    " session_id TEXT COLLATE \"C\" NOT NULL," /* of the scope; empty where it ends with a run */
    " created_at BIGINT NOT NULL,"
    " expires_at BIGINT NOT NULL,"
    " revoked_at BIGINT NOT NULL)",
    "CREATE INDEX token_of_session ON token (session_id)"
    " WHERE session_id <> '' AND revoked_at = 0",
    "CREATE INDEX token_revoked ON token (revoked_at) WHERE revoked_at > 0",
    "CREATE INDEX token_expires ON token (expires_at) WHERE expires_at > 0",

    /* Answers that were given, for who asks again with the same key. */
    "CREATE TABLE idempotency ("
    " actor TEXT COLLATE \"C\" NOT NULL,"
    " key TEXT COLLATE \"C\" NOT NULL,"
    " digest TEXT NOT NULL," /* of the operation and its input */
    " answer TEXT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " PRIMARY KEY (actor, key))",
    "CREATE INDEX idempotency_by_time ON idempotency (created_at)",

    /* Everything that happened: see event.h. */
    "CREATE TABLE log ("
    " seq BIGINT PRIMARY KEY,"
    " type TEXT NOT NULL,"
    " subject TEXT COLLATE \"C\" NOT NULL,"
    " actor TEXT NOT NULL,"
    " session_id TEXT NOT NULL,"
    " time BIGINT NOT NULL,"
    " cause BIGINT NOT NULL,"
    " version BIGINT NOT NULL,"
    " prev_seq BIGINT NOT NULL,"
    " snap_seq BIGINT NOT NULL,"
    " data TEXT NOT NULL,"
    " body TEXT)",

    /* How far back it can be replayed: rows below the floor are there as history alone. */
    "CREATE TABLE replay ("
    " replay_id BIGINT PRIMARY KEY,"
    " floor BIGINT NOT NULL)",
    "INSERT INTO replay (replay_id, floor) VALUES (1, 1)",

    /* What must happen later: see due.h. */
    "CREATE TABLE due ("
    " at BIGINT NOT NULL,"
    " kind TEXT COLLATE \"C\" NOT NULL,"
    " subject TEXT COLLATE \"C\" NOT NULL,"
    " arg BIGINT NOT NULL,"
    " PRIMARY KEY (kind, subject))",
    "CREATE INDEX due_by_time ON due (at, kind, subject)",

    /* Roles, and how clients are started: see agent.h. Those built in are not here. */
    "CREATE TABLE entry ("
    " catalog BIGINT NOT NULL," /* 0: an agent, 1: a profile */
    " name TEXT COLLATE \"C\" NOT NULL,"
    " text TEXT NOT NULL,"
    " source TEXT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " updated_at BIGINT NOT NULL,"
    " PRIMARY KEY (catalog, name))",

    /* Conversations of agents: see session.h. */
    "CREATE TABLE session ("
    " session_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " name TEXT COLLATE \"C\" NOT NULL,"
    " parent_id TEXT COLLATE \"C\" NOT NULL,"
    " root_id TEXT COLLATE \"C\" NOT NULL,"
    " depth BIGINT NOT NULL,"
    " agent TEXT NOT NULL,"
    " profile TEXT COLLATE \"C\" NOT NULL,"
    " project_dir TEXT NOT NULL,"
    " status TEXT COLLATE \"C\" NOT NULL,"
    " live BIGINT NOT NULL,"
    " state_id TEXT COLLATE \"C\" NOT NULL,"
    " pointers TEXT NOT NULL,"
    " attended BIGINT NOT NULL,"
    " calls_back BIGINT NOT NULL,"
    " settled BIGINT NOT NULL,"
    " cycle BIGINT NOT NULL,"
    " update_status TEXT NOT NULL,"
    " update_attempts BIGINT NOT NULL,"
    " wrote_version BIGINT NOT NULL,"
    " seen_version BIGINT NOT NULL,"
    " run_id TEXT NOT NULL,"
    " client_id TEXT NOT NULL,"
    " hostname TEXT NOT NULL,"
    " git TEXT NOT NULL,"
    " result_run TEXT NOT NULL,"
    " error TEXT NOT NULL,"
    " tokens_in BIGINT NOT NULL,"
    " tokens_out BIGINT NOT NULL,"
    " tokens_cached BIGINT NOT NULL,"
    " cost BIGINT NOT NULL,"
    " usage_models TEXT NOT NULL,"
    " heard TEXT NOT NULL,"
    " heard_at BIGINT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " updated_at BIGINT NOT NULL,"
    " ended_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX session_by_name ON session (name)",
    "CREATE INDEX session_by_parent ON session (parent_id, session_id)",
    "CREATE INDEX session_by_root ON session (root_id, session_id)",
    "CREATE INDEX session_by_status ON session (status, session_id)",
    "CREATE INDEX session_unsettled ON session (parent_id) WHERE settled = 0",
    "CREATE INDEX session_live ON session (root_id) WHERE live = 1",
    "CREATE INDEX session_live_profile ON session (profile) WHERE live = 1",

    /* What agents and hooks told of themselves; the newest of each session. */
    "CREATE TABLE session_event ("
    " session_id TEXT COLLATE \"C\" NOT NULL,"
    " number BIGINT NOT NULL,"
    " type TEXT NOT NULL,"
    " at BIGINT NOT NULL,"
    " data TEXT NOT NULL,"
    " PRIMARY KEY (session_id, number))",

    /* Turns of sessions: see run.h. Those with queued = 1 may be claimed. */
    "CREATE TABLE run ("
    " run_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " session_id TEXT COLLATE \"C\" NOT NULL,"
    " session_name TEXT NOT NULL,"
    " type TEXT NOT NULL,"
    " purpose TEXT NOT NULL,"
    " status TEXT COLLATE \"C\" NOT NULL,"
    " mode TEXT NOT NULL,"
    " live BIGINT NOT NULL,"
    " queued BIGINT NOT NULL,"
    " profile TEXT COLLATE \"C\" NOT NULL,"
    " agent TEXT NOT NULL,"
    " project_dir TEXT NOT NULL,"
    " demand TEXT NOT NULL,"
    " place TEXT COLLATE \"C\" NOT NULL," /* in the queue, whatever its directory */
    " place_in_dir TEXT COLLATE \"C\" NOT NULL,"
    " priority BIGINT NOT NULL,"
    " not_before BIGINT NOT NULL,"
    " max_ms BIGINT NOT NULL,"
    " cycle BIGINT NOT NULL,"
    " attempt BIGINT NOT NULL,"
    " fence BIGINT NOT NULL,"
    " runner_id TEXT COLLATE \"C\" NOT NULL,"
    " token_id TEXT NOT NULL,"
    " lease_until BIGINT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " claimed_at BIGINT NOT NULL,"
    " started_at BIGINT NOT NULL,"
    " ended_at BIGINT NOT NULL,"
    " seq BIGINT NOT NULL,"
    " metadata TEXT NOT NULL,"
    " error TEXT NOT NULL,"
    " prompt TEXT NOT NULL,"
    " result TEXT NOT NULL)",
    "CREATE INDEX run_queue ON run (place) WHERE queued = 1",
    "CREATE INDEX run_queue_in_dir ON run (place_in_dir) WHERE queued = 1",
    "CREATE INDEX run_by_session ON run (session_id, seq)",
    "CREATE INDEX run_by_status ON run (status, run_id)",
    "CREATE INDEX run_held ON run (runner_id, status, seq) WHERE live = 1 AND runner_id <> ''",

    /* What they have written, in pieces. */
    "CREATE TABLE run_output ("
    " run_id TEXT COLLATE \"C\" NOT NULL,"
    " number BIGINT NOT NULL,"
    " error BIGINT NOT NULL,"
    " at BIGINT NOT NULL,"
    " bytes BIGINT NOT NULL," /* of this piece and all before it */
    " text TEXT NOT NULL,"
    " PRIMARY KEY (run_id, number))",

    /* Machines that run them. They are few. */
    "CREATE TABLE runner ("
    " runner_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " token_id TEXT COLLATE \"C\" NOT NULL,"
    " name TEXT COLLATE \"C\" NOT NULL,"
    " hostname TEXT NOT NULL,"
    " project_dir TEXT NOT NULL,"
    " tags TEXT NOT NULL," /* JSON arrays of strings */
    " profiles TEXT NOT NULL,"
    " capacity BIGINT NOT NULL,"
    " registered_at BIGINT NOT NULL,"
    " seen_at BIGINT NOT NULL,"
    " lost BIGINT NOT NULL,"
    " looked TEXT COLLATE \"C\" NOT NULL,"
    " UNIQUE (token_id, name))",

    /* Ends of children on their way to their parents: see callback.h. */
    "CREATE TABLE callback ("
    " callback_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " parent_id TEXT COLLATE \"C\" NOT NULL,"
    " child_id TEXT COLLATE \"C\" NOT NULL,"
    " child_name TEXT NOT NULL,"
    " cycle BIGINT NOT NULL,"
    " seq BIGINT NOT NULL," /* of the event that the child settled: their order */
    " status TEXT NOT NULL,"
    " run_id TEXT COLLATE \"C\" NOT NULL,"
    " child_status TEXT NOT NULL,"
    " update_status TEXT NOT NULL,"
    " state_version BIGINT NOT NULL,"
    " error TEXT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " delivered_at BIGINT NOT NULL,"
    " UNIQUE (child_id, cycle))",
    "CREATE INDEX callback_waiting ON callback (parent_id, seq) WHERE status = 'waiting'",
    "CREATE INDEX callback_by_run ON callback (run_id) WHERE status = 'in_flight'",

    /* The servers that are there, or were within a day: see member.h. They are few. */
    "CREATE TABLE member ("
    " node_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " name TEXT NOT NULL,"
    " url TEXT NOT NULL,"
    " version TEXT NOT NULL,"
    " started_at BIGINT NOT NULL,"
    " seen_at BIGINT NOT NULL,"
    " seq BIGINT NOT NULL)",
    NULL,
};

static const char *const step_2[] = {
    /* What is in a session's way, as its client says: a rate limit. Empty: nothing. */
    "ALTER TABLE session ADD COLUMN notice TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE session ADD COLUMN notice_until BIGINT NOT NULL DEFAULT 0", /* 0: nobody said */

    /* Tools that agents may use when a person has said so: see permission.h. */
    "CREATE TABLE permission ("
    " permission_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " session_id TEXT COLLATE \"C\" NOT NULL,"
    " session_name TEXT NOT NULL,"
    " client TEXT NOT NULL,"
    " tool TEXT COLLATE \"C\" NOT NULL,"
    " digest TEXT COLLATE \"C\" NOT NULL," /* SHA-256 of the whole input */
    " input TEXT NOT NULL,"
    " status TEXT COLLATE \"C\" NOT NULL,"
    " reason TEXT NOT NULL,"
    " decided_by TEXT NOT NULL,"
    " used_by TEXT NOT NULL," /* the call that was allowed by it; empty: none yet */
    " seq BIGINT NOT NULL,"   /* of the event that it was asked for: their order */
    " created_at BIGINT NOT NULL,"
    " decided_at BIGINT NOT NULL)",
    "CREATE INDEX permission_by_call ON permission (session_id, tool, digest, seq)",
    "CREATE INDEX permission_waiting ON permission (session_id) WHERE status = 'waiting'",
    "CREATE INDEX permission_by_status ON permission (status, permission_id)",
    NULL,
};

static const char *const step_3[] = {
    /* The agent of a session where that is its role, so that it owns what the role does: see
     * session.h. Roots are made by the operator alone. */
    "ALTER TABLE session ADD COLUMN role TEXT NOT NULL DEFAULT ''",
    "UPDATE session SET role = agent WHERE parent_id = ''",
    NULL,
};

static const char *const step_4[] = {
    /* What else is known to be a session that somebody runs outside of baton: see tie.h. */
    "CREATE TABLE tie ("
    " kind TEXT COLLATE \"C\" NOT NULL,"
    " what TEXT COLLATE \"C\" NOT NULL,"
    " session_id TEXT COLLATE \"C\" NOT NULL,"
    " at BIGINT NOT NULL," /* when it was last heard of */
    " PRIMARY KEY (kind, what))",
    "CREATE INDEX tie_by_session ON tie (session_id)",
    "CREATE INDEX tie_by_time ON tie (kind, at)",
    NULL,
};

static const char *const step_5[] = {
    /* 0: its id was chosen by another session, so it owns nothing by it. */
    "ALTER TABLE session ADD COLUMN id_given BIGINT NOT NULL DEFAULT 1",
    NULL,
};

static const char *const step_6[] = {
    /* Where a conversation is, beside its machine: as whom its client runs, and in which folder. */
    "ALTER TABLE session ADD COLUMN work_user TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE session ADD COLUMN work_dir TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE runner ADD COLUMN work_user TEXT NOT NULL DEFAULT ''", /* as whom it runs agents */
    NULL,
};

static const char *const step_7[] = {
    /* Whether a run's result is the end of a longer one. */
    "ALTER TABLE run ADD COLUMN result_cut BIGINT NOT NULL DEFAULT 0",
    NULL,
};

static const char *const step_8[] = {
    /* Of sessions that were there before it was kept who chose their ids, those below another one may
     * have it from that. */
    "UPDATE session SET id_given = 0 WHERE parent_id <> '' AND substr(session_id, 1, 4) <> 'ses_'",
    NULL,
};

static const char *const step_9[] = {
    /* Names that say what they are: see node.h (`node` is the store's own), alias.h, and the lists of
     * columns. An index cannot be renamed on both databases. */
    "ALTER TABLE member RENAME TO cluster_node",
    "ALTER TABLE tie RENAME TO alias",
    "DROP INDEX tie_by_session",
    "DROP INDEX tie_by_time",
    "CREATE INDEX alias_by_session ON alias (session_id)",
    "CREATE INDEX alias_by_time ON alias (kind, at)",
    "ALTER TABLE session RENAME COLUMN heard TO last_event",
    "ALTER TABLE session RENAME COLUMN heard_at TO last_event_at",
    "ALTER TABLE run RENAME COLUMN place TO queue_position",
    "ALTER TABLE run RENAME COLUMN place_in_dir TO queue_position_in_dir",
    "ALTER TABLE runner RENAME COLUMN looked TO claim_cursor",
    NULL,
};

static const char *const step_10[] = {
    /* Folders whose agents work together, and where each is on which machine: see project.h. */
    "CREATE TABLE project ("
    " name TEXT COLLATE \"C\" PRIMARY KEY,"
    " project_dir TEXT NOT NULL,"
    " state_id TEXT COLLATE \"C\" NOT NULL,"
    " wake BIGINT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " updated_at BIGINT NOT NULL)",
    "CREATE INDEX project_by_state ON project (state_id)",
    "CREATE TABLE project_folder ("
    " hostname TEXT COLLATE \"C\" NOT NULL,"
    " common_dir TEXT COLLATE \"C\" NOT NULL,"
    " project TEXT COLLATE \"C\" NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " PRIMARY KEY (hostname, common_dir))",
    "CREATE INDEX project_folder_by_project ON project_folder (project, hostname, common_dir)",
    "ALTER TABLE session ADD COLUMN project TEXT COLLATE \"C\" NOT NULL DEFAULT ''",
    "ALTER TABLE session ADD COLUMN worktree TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE session ADD COLUMN wake BIGINT NOT NULL DEFAULT 1",
    "ALTER TABLE session ADD COLUMN silent BIGINT NOT NULL DEFAULT 0",
    "CREATE INDEX session_by_project ON session (project, session_id) WHERE project <> ''",
    "CREATE INDEX session_root_by_state ON session (state_id)"
    " WHERE parent_id = '' AND state_id <> ''",

    /* What agents and people write to each other: see message.h. */
    "CREATE TABLE message ("
    " message_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " sender_id TEXT COLLATE \"C\" NOT NULL," /* a session; empty: a person, or the server */
    " sender_name TEXT NOT NULL,"
    " receiver_id TEXT COLLATE \"C\" NOT NULL,"
    " receiver_name TEXT NOT NULL,"
    " seq BIGINT NOT NULL," /* of the event that it was sent: their order */
    " status TEXT COLLATE \"C\" NOT NULL,"
    " wakes BIGINT NOT NULL,"
    " carrier TEXT COLLATE \"C\" NOT NULL," /* the waker that has it; empty: none */
    " error TEXT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " delivered_at BIGINT NOT NULL,"
    " message TEXT NOT NULL)",
    "CREATE INDEX message_pending ON message (receiver_id, seq) WHERE status = 'pending'",
    "CREATE INDEX message_by_receiver ON message (receiver_id, message_id)",
    "CREATE INDEX message_by_sender ON message (sender_id, message_id)",

    /* Processes that wait to wake a client: see wake.h. */
    "CREATE TABLE waker ("
    " session_id TEXT COLLATE \"C\" NOT NULL,"
    " number BIGINT NOT NULL,"
    " waker_id TEXT COLLATE \"C\" NOT NULL,"
    " way TEXT NOT NULL,"
    " handed BIGINT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " PRIMARY KEY (session_id, number))",
    "CREATE INDEX waker_by_id ON waker (waker_id)",
    "CREATE INDEX callback_carried ON callback (parent_id, seq) WHERE status = 'in_flight'",
    "CREATE INDEX callback_told ON callback (parent_id, delivered_at)"
    " WHERE status = 'delivered'",
    NULL,
};

static const char *const step_11[] = {
    /* Requests may call a state by its name. */
    "ALTER TABLE state ADD COLUMN name TEXT COLLATE \"C\" NOT NULL DEFAULT ''",
    "CREATE UNIQUE INDEX state_by_name ON state (name) WHERE name <> ''",
    NULL,
};

static const char *const step_12[] = {
    /* Who has read and written which file: see file_touch.h. */
    "CREATE TABLE file_touch ("
    " session_id TEXT COLLATE \"C\" NOT NULL,"
    " file TEXT COLLATE \"C\" NOT NULL,"
    " project TEXT COLLATE \"C\" NOT NULL,"
    " path TEXT NOT NULL,"
    " seen_at BIGINT NOT NULL,"
    " wrote_at BIGINT NOT NULL,"
    " added BIGINT NOT NULL,"
    " removed BIGINT NOT NULL,"
    " PRIMARY KEY (session_id, file))",
    "CREATE INDEX file_touch_by_project ON file_touch (project, file)",
    "CREATE INDEX file_touch_by_age ON file_touch (session_id, seen_at, file)",
    NULL,
};

static const char *const step_13[] = {
    /* Where the queue of a client is, for runners of its machine: see wake_queue.h. */
    "CREATE TABLE wake_queue ("
    " session_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " hostname TEXT COLLATE \"C\" NOT NULL,"
    " work_user TEXT COLLATE \"C\" NOT NULL,"
    " conversation TEXT NOT NULL,"
    " home TEXT NOT NULL,"
    " path TEXT NOT NULL,"
    " offered BIGINT NOT NULL,"
    " failures BIGINT NOT NULL)",
    "CREATE INDEX wake_queue_offered ON wake_queue (hostname, work_user, session_id)"
    " WHERE offered = 1",
    "ALTER TABLE waker ADD COLUMN runner_id TEXT COLLATE \"C\" NOT NULL DEFAULT ''",
    "CREATE INDEX message_by_end ON message (delivered_at) WHERE status = 'delivered'",
    "CREATE INDEX session_live_agent ON session (agent) WHERE live = 1",
    NULL,
};

static const char *const step_14[] = {
    /* Runs of purpose command have no session: see run.h. Runners that do not say so take none. */
    "ALTER TABLE run ADD COLUMN exit_code BIGINT NOT NULL DEFAULT -1",
    "ALTER TABLE run ADD COLUMN owner TEXT COLLATE \"C\" NOT NULL DEFAULT ''",
    "ALTER TABLE run ADD COLUMN argv TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE run ADD COLUMN input TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE runner ADD COLUMN commands BIGINT NOT NULL DEFAULT 0",
    NULL,
};

static const char *const step_15[] = {
    /* Workflows, and what runs by them: see exec/. An execution is called by its number in all other
     * tables. */
    "CREATE TABLE workflow ("
    " name TEXT COLLATE \"C\" NOT NULL,"
    " version BIGINT NOT NULL,"
    " digest TEXT COLLATE \"C\" NOT NULL,"
    " kind TEXT NOT NULL,"
    " description TEXT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " text TEXT NOT NULL,"
    " PRIMARY KEY (name, version))",
    "CREATE TABLE execution ("
    " no BIGINT PRIMARY KEY,"
    " execution_id TEXT COLLATE \"C\" NOT NULL,"
    " workflow TEXT COLLATE \"C\" NOT NULL,"
    " version BIGINT NOT NULL,"
    " digest TEXT NOT NULL,"
    " status TEXT COLLATE \"C\" NOT NULL,"
    " open BIGINT NOT NULL,"
    " reason TEXT NOT NULL,"
    " state_id TEXT COLLATE \"C\" NOT NULL,"
    " session_id TEXT COLLATE \"C\" NOT NULL,"
    " root_id TEXT COLLATE \"C\" NOT NULL,"
    " workflow_state_id TEXT NOT NULL,"
    " workspace TEXT COLLATE \"C\" NOT NULL,"
    " project_dir TEXT NOT NULL,"
    " business_key TEXT COLLATE \"C\" NOT NULL,"
    " live BIGINT NOT NULL,"
    " next_n BIGINT NOT NULL,"
    " gone BIGINT NOT NULL,"
    " turn BIGINT NOT NULL,"
    " agenda BIGINT NOT NULL,"
    " spin BIGINT NOT NULL,"
    " incidents BIGINT NOT NULL,"
    " failing BIGINT NOT NULL,"
    " halted BIGINT NOT NULL,"
    " started_by TEXT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " updated_at BIGINT NOT NULL,"
    " ended_at BIGINT NOT NULL,"
    " vars TEXT NOT NULL,"
    " result TEXT)",
    "CREATE UNIQUE INDEX execution_by_id ON execution (execution_id)",
    "CREATE INDEX execution_by_status ON execution (status, no)",
    "CREATE INDEX execution_by_workflow ON execution (workflow, status, no)",
    "CREATE INDEX execution_by_root ON execution (root_id, no) WHERE root_id <> ''",
    "CREATE INDEX execution_by_key ON execution (workflow, business_key)"
    " WHERE business_key <> '' AND open = 1",

    /* Where its tokens rest. */
    "CREATE TABLE mark ("
    " no BIGINT NOT NULL,"
    " scope BIGINT NOT NULL,"
    " n BIGINT NOT NULL,"
    " node TEXT NOT NULL,"
    " via TEXT NOT NULL,"
    " status TEXT NOT NULL,"
    " again TEXT NOT NULL,"
    " todo BIGINT NOT NULL,"
    " total BIGINT NOT NULL,"
    " started BIGINT NOT NULL,"
    " done BIGINT NOT NULL,"
    " live BIGINT NOT NULL,"
    " item BIGINT NOT NULL,"
    " attempt BIGINT NOT NULL,"
    " fence BIGINT NOT NULL,"
    " spared BIGINT NOT NULL,"
    " lost BIGINT NOT NULL,"
    " ref TEXT COLLATE \"C\" NOT NULL,"
    " job_type TEXT COLLATE \"C\" NOT NULL,"
    " job_place BIGINT NOT NULL,"
    " worker TEXT NOT NULL,"
    " claim TEXT COLLATE \"C\" NOT NULL,"
    " lease_until BIGINT NOT NULL,"
    " timer BIGINT NOT NULL,"
    " since BIGINT NOT NULL,"
    " vars TEXT,"
    " PRIMARY KEY (no, scope, n))",
    "CREATE INDEX mark_queue ON mark (job_type, job_place) WHERE job_place > 0",
    "CREATE INDEX mark_agenda ON mark (no, todo) WHERE todo > 0",
    "CREATE INDEX mark_by_ref ON mark (ref) WHERE ref <> ''",
    "CREATE INDEX mark_by_claim ON mark (claim) WHERE claim <> ''",

    /* What became of its steps. */
    "CREATE TABLE step ("
    " no BIGINT NOT NULL,"
    " node TEXT COLLATE \"C\" NOT NULL,"
    " status TEXT NOT NULL,"
    " attempt BIGINT NOT NULL,"
    " before BIGINT NOT NULL,"
    " opened BIGINT NOT NULL,"
    " started_at BIGINT NOT NULL,"
    " ended_at BIGINT NOT NULL,"
    " data TEXT NOT NULL,"
    " PRIMARY KEY (no, node))",

    /* What stops it until a person has helped. */
    "CREATE TABLE incident ("
    " incident_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " no BIGINT NOT NULL,"
    " scope BIGINT NOT NULL,"
    " n BIGINT NOT NULL,"
    " execution_id TEXT COLLATE \"C\" NOT NULL,"
    " workflow TEXT NOT NULL,"
    " node TEXT NOT NULL,"
    " kind TEXT NOT NULL,"
    " message TEXT NOT NULL,"
    " status TEXT COLLATE \"C\" NOT NULL,"
    " raised_at BIGINT NOT NULL,"
    " resolved_at BIGINT NOT NULL,"
    " resolved_by TEXT NOT NULL)",
    "CREATE INDEX incident_by_execution ON incident (no, incident_id)",
    "CREATE INDEX incident_by_status ON incident (status, incident_id)",
    NULL,
};

static const char *const step_16[] = {
    /* What only a person decides: see exec/approval.h. */
    "CREATE TABLE approval ("
    " approval_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " no BIGINT NOT NULL,"
    " scope BIGINT NOT NULL,"
    " n BIGINT NOT NULL,"
    " execution_id TEXT COLLATE \"C\" NOT NULL,"
    " workflow TEXT NOT NULL,"
    " node TEXT NOT NULL,"
    " title TEXT NOT NULL,"
    " kind TEXT NOT NULL,"
    " content TEXT NOT NULL,"
    " digest TEXT NOT NULL,"
    " options TEXT NOT NULL,"
    " on_reject TEXT NOT NULL,"
    " attended BIGINT NOT NULL,"
    " fallback TEXT NOT NULL,"
    " deadline BIGINT NOT NULL,"
    " session_id TEXT COLLATE \"C\" NOT NULL,"
    " root_id TEXT COLLATE \"C\" NOT NULL,"
    " status TEXT COLLATE \"C\" NOT NULL,"
    " decision TEXT NOT NULL,"
    " decided_by TEXT NOT NULL,"
    " channel TEXT NOT NULL,"
    " created_at BIGINT NOT NULL,"
    " decided_at BIGINT NOT NULL)",
    "CREATE INDEX approval_by_status ON approval (status, approval_id)",
    "CREATE INDEX approval_by_execution ON approval (no, approval_id)",

    /* What each agent does of an attempt of a step: see exec/share.h. */
    "CREATE TABLE share ("
    " no BIGINT NOT NULL,"
    " n BIGINT NOT NULL,"
    " number BIGINT NOT NULL,"
    " scope BIGINT NOT NULL,"
    " attempt BIGINT NOT NULL,"
    " agent TEXT NOT NULL,"
    " session_name TEXT NOT NULL,"
    " session_id TEXT COLLATE \"C\" NOT NULL,"
    " status TEXT COLLATE \"C\" NOT NULL,"
    " task TEXT NOT NULL,"
    " prompt TEXT NOT NULL,"
    " outputs TEXT,"
    " error TEXT NOT NULL,"
    " seq BIGINT NOT NULL,"
    " waited BIGINT NOT NULL,"
    " not_before BIGINT NOT NULL,"
    " started_at BIGINT NOT NULL,"
    " ended_at BIGINT NOT NULL,"
    " PRIMARY KEY (no, n, number))",
    "CREATE INDEX share_by_session ON share (session_id) WHERE session_id <> ''",
    "CREATE INDEX share_waiting ON share (seq) WHERE status = 'waiting'",

    /* What a session owes when it works for a step: a record of that, and no update of a state. */
    "ALTER TABLE session ADD COLUMN task TEXT NOT NULL DEFAULT ''",

    /* How the definition of an execution is written: documents 001 and 002 know their own by it. */
    "ALTER TABLE execution ADD COLUMN kind TEXT COLLATE \"C\" NOT NULL DEFAULT ''",
    "UPDATE execution SET kind = coalesce((SELECT w.kind FROM workflow w"
    " WHERE w.name = execution.workflow AND w.version = execution.version"
    " AND w.digest = execution.digest), '')",
    "CREATE INDEX execution_by_kind ON execution (kind, no)"
    " WHERE kind IN ('phases', 'generation', 'planning')",

    /* Agents that a runner's machine has, and files that a project wants written. */
    "ALTER TABLE runner ADD COLUMN agents TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE project ADD COLUMN mirrors TEXT NOT NULL DEFAULT ''",

    /* Files of workflows that somebody has touched: see mirror.h. */
    "CREATE TABLE mirror ("
    " project TEXT COLLATE \"C\" NOT NULL,"
    " path TEXT COLLATE \"C\" NOT NULL,"
    " found TEXT NOT NULL,"
    " detail TEXT NOT NULL,"
    " times BIGINT NOT NULL,"
    " found_at BIGINT NOT NULL,"
    " PRIMARY KEY (project, path))",

    /* The list of what there is to do that an agent keeps in its own client. */
    "CREATE TABLE todo_list ("
    " session_id TEXT COLLATE \"C\" PRIMARY KEY,"
    " items TEXT NOT NULL,"
    " told TEXT NOT NULL,"
    " updated_at BIGINT NOT NULL)",

    /* Commands are deleted in the order in which they have ended. */
    "CREATE INDEX run_command_ended ON run (ended_at) WHERE session_id = '' AND live = 0",

    /* Agents inside of a client's process that do phases: see sub_agent.h. */
    "CREATE TABLE sub_agent ("
    " session_id TEXT COLLATE \"C\" NOT NULL,"
    " agent_id TEXT COLLATE \"C\" NOT NULL,"
    " agent TEXT NOT NULL,"
    " execution_id TEXT COLLATE \"C\" NOT NULL,"
    " phase TEXT NOT NULL,"
    " started_at BIGINT NOT NULL,"
    " ended_at BIGINT NOT NULL,"
    " PRIMARY KEY (session_id, agent_id))",
    "CREATE INDEX sub_agent_by_id ON sub_agent (agent_id)",
    NULL,
};

// clang-format off
const struct tables_step tables_steps[] = {
    { 1, step_1 },
    { 2, step_2 },
    { 3, step_3 },
    { 4, step_4 },
    { 5, step_5 },
    { 6, step_6 },
    { 7, step_7 },
    { 8, step_8 },
    { 9, step_9 },
    { 10, step_10 },
    { 11, step_11 },
    { 12, step_12 },
    { 13, step_13 },
    { 14, step_14 },
    { 15, step_15 },
    { 16, step_16 },
};
// clang-format on
const int tables_step_count = sizeof tables_steps / sizeof *tables_steps;
