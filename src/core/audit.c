/* audit.c: what holds in every database.
 *
 * Statements give a name and a number of what breaks their rule. They stand in a
 * table, so they go to the function below the macros of sql.h; the tests run each
 * of them on every database, on rows that break it. */
#include "core/audit.h"

#include "core/due.h"
#include "core/event.h"
#include "core/permission.h"
#include "core/state.h"
#include "core/team.h"

struct rule {
    const char *name;
    const char *subject, *number; /* what the two columns are; NULL: not shown */
    const char *text;
    const char *problem, *advice;
};

#define RESTORE "restore a backup; events from the one that is named on are not to be trusted"
#define GO_ON                                                                                    \
    "restore a backup that has them; or let events go on above the highest number that is named" \
    " with 'baton store check --repair'"
#define HARMLESS "nothing is lost: it is in nobody's way"

#define QUOTED(id, name) "'" name "', "
#define EVENT_NAMES EVENT_TYPES(QUOTED) "''"
#define DUE_KIND_NAMES DUE_KINDS(QUOTED) "''"

/* Words of a status; none of them is empty but where that is one. */
#define WORDS(LIST) "(" LIST(QUOTED) "'-')"

#define ASK_AGAIN "stop the session and ask it again; what it has written is there"
#define CANCEL "cancel the execution, and start another"
#define STOP_TREE "stop the root of its tree, and start anew"

/* The versions of states that are there, each with the row before it. */
#define HISTORY                                                               \
    "(SELECT l.subject, l.seq, l.version, l.prev_seq, l.snap_seq,"            \
    "  CASE WHEN l.body IS NULL THEN 0 ELSE 1 END AS whole,"                  \
    "  lag(l.seq) OVER w AS was_seq, lag(l.version) OVER w AS was_version"    \
    "  FROM log l JOIN state s ON s.state_id = l.subject WHERE l.version > 0" \
    "  WINDOW w AS (PARTITION BY l.subject ORDER BY l.seq)) AS h"

// clang-format off
static const struct rule rules[] = {
    /* ---- the log ---- */
    { "log.ahead", NULL, "event",
      "SELECT l.subject, l.seq FROM log l JOIN node n ON n.node_id = 1 WHERE l.seq > n.seq"
      " ORDER BY 2 LIMIT $1",
      "it has a number above the one of the last event", RESTORE },
    { "log.end", "the row of", "event",
      "SELECT t.name, t.seq FROM (SELECT state_id AS name, last_seq AS seq FROM state"
      "  UNION ALL SELECT run_id, seq FROM run UNION ALL SELECT callback_id, seq FROM callback"
      "  UNION ALL SELECT permission_id, seq FROM permission"
      "  UNION ALL SELECT message_id, seq FROM message"
      "  UNION ALL SELECT execution_id, no FROM execution) AS t"
      " JOIN node n ON n.node_id = 1 WHERE t.seq > n.seq ORDER BY 2 LIMIT $1",
      "it names an event that is above the number of the last one: the log has lost its end", GO_ON },
    { "log.floor", NULL, "last event",
      "SELECT '', n.seq FROM node n WHERE n.node_id = 1 AND NOT EXISTS"
      " (SELECT 1 FROM replay r WHERE r.replay_id = 1 AND r.floor >= 1 AND r.floor <= n.seq + 1)"
      " LIMIT $1",
      "where the log can be replayed from is not said, or is neither an event nor the next one",
      RESTORE },
    { "log.gap", NULL, "event",
      "SELECT '', r.floor FROM replay r JOIN node n ON n.node_id = 1"
      " WHERE r.floor <= n.seq AND NOT EXISTS (SELECT 1 FROM log WHERE seq = r.floor)"
      " UNION ALL"
      " SELECT '', l.seq + 1 FROM log l JOIN replay r ON r.floor <= l.seq"
      " JOIN node n ON n.node_id = 1 AND n.seq > l.seq"
      " WHERE NOT EXISTS (SELECT 1 FROM log m WHERE m.seq = l.seq + 1)"
      " ORDER BY 2 LIMIT $1",
      "it is not there, though it can be replayed", RESTORE },
    { "log.type", "kind", "event",
      "SELECT type, seq FROM log WHERE type NOT IN (" EVENT_NAMES ") ORDER BY 2 LIMIT $1",
      "it is of a kind that there is not", "use the newest baton that has used this database" },
    { "log.cause", NULL, "event",
      "SELECT subject, seq FROM log WHERE cause < 0 OR cause >= seq ORDER BY 2 LIMIT $1",
      "what led to it came after it", RESTORE },
    { "log.time", NULL, "event",
      "SELECT t.subject, t.seq FROM (SELECT subject, seq, time,"
      "  lag(time) OVER (ORDER BY seq) AS was FROM log) AS t"
      " WHERE t.time < t.was ORDER BY 2 LIMIT $1",
      "it is older than the event before it", RESTORE },
    { "log.clock", NULL, "event",
      "SELECT l.subject, l.seq FROM log l JOIN node n ON n.node_id = 1 WHERE l.time > n.clock"
      " ORDER BY 2 LIMIT $1",
      "it is later than the latest time that was used", RESTORE },
    { "log.unkept", "subject", "event",
      "SELECT l.subject, l.seq FROM log l JOIN replay r ON r.floor > l.seq"
      " WHERE NOT (l.version > 0"
      "  AND (EXISTS (SELECT 1 FROM state WHERE state_id = l.subject)"
      "   OR EXISTS (SELECT 1 FROM due WHERE kind = 'purge_state'"
      "    AND subject = l.subject AND arg >= l.seq)))"
      " ORDER BY 2 LIMIT $1",
      "it can not be replayed, is no history, and was not dropped", HARMLESS },

    /* ---- states and their histories ---- */
    { "state.version", "state", "event",
      "SELECT s.state_id, s.last_seq FROM state s WHERE s.version < 1 OR NOT EXISTS"
      " (SELECT 1 FROM log l WHERE l.seq = s.last_seq AND l.subject = s.state_id"
      "   AND l.version = s.version)"
      " ORDER BY 1 LIMIT $1",
      "the event of its version is not in the log, or is of another version", RESTORE_STATE },
    { "state.snapshot", "state", "event",
      "SELECT s.state_id, s.snap_seq FROM state s WHERE s.patch_bytes < 0 OR NOT EXISTS"
      " (SELECT 1 FROM log l WHERE l.seq = s.snap_seq AND l.subject = s.state_id"
      "   AND l.version = s.snap_version AND l.body IS NOT NULL)"
      " ORDER BY 1 LIMIT $1",
      "the event of its last whole document is not in the log, or holds none", RESTORE_STATE },
    { "state.overtaken", "state", "event",
      "SELECT s.state_id, l.seq FROM log l JOIN state s ON s.state_id = l.subject"
      " WHERE l.version > 0 AND l.seq > s.last_seq ORDER BY 2 LIMIT $1",
      "the log has a later version of it", RESTORE_STATE },
    { "state.schema", "state", "schema version",
      "SELECT s.state_id, s.schema_version FROM state s WHERE NOT EXISTS"
      " (SELECT 1 FROM schema c WHERE c.schema_id = s.schema_id AND c.name = s.schema_name"
      "   AND c.version = s.schema_version)"
      " ORDER BY 1 LIMIT $1",
      "its schema is not there, or has another name or version", RESTORE_STATE },
    { "state.time", "state", "version",
      "SELECT state_id, version FROM state WHERE updated_at < created_at ORDER BY 1 LIMIT $1",
      "it was changed before it was made", RESTORE_STATE },
    { "history.link", "state", "event",
      "SELECT h.subject, h.seq FROM " HISTORY
      " WHERE h.prev_seq <> coalesce(h.was_seq, 0) ORDER BY 2 LIMIT $1",
      "it is not linked to the version before it", RESTORE_STATE },
    { "history.version", "state", "event",
      "SELECT h.subject, h.seq FROM " HISTORY
      " WHERE h.version <= coalesce(h.was_version, 0)"
      "  OR (h.whole = 0 AND h.version <> coalesce(h.was_version, -1) + 1)"
      " ORDER BY 2 LIMIT $1",
      "a change, but the version that it changes is not before it", RESTORE_STATE },
    { "history.snapshot", "state", "event",
      "SELECT h.subject, h.seq FROM " HISTORY
      " WHERE (h.whole = 1 AND h.snap_seq <> h.seq)"
      "  OR (h.whole = 0 AND NOT EXISTS (SELECT 1 FROM log b WHERE b.seq = h.snap_seq"
      "   AND b.subject = h.subject AND b.seq < h.seq AND b.body IS NOT NULL))"
      " ORDER BY 2 LIMIT $1",
      "the whole document that it builds on is not there", RESTORE_STATE },

    /* ---- sessions: on a depth that grows by one from a root, no tree has a cycle ---- */
    { "session.tree", "session", "depth",
      "SELECT s.session_id, s.depth FROM session s"
      " LEFT JOIN session p ON p.session_id = s.parent_id"
      " WHERE (s.parent_id = '' AND (s.depth <> 1 OR s.root_id <> s.session_id))"
      "  OR (s.parent_id <> '' AND (p.session_id IS NULL OR s.depth <> p.depth + 1"
      "   OR s.root_id <> p.root_id))"
      " ORDER BY 1 LIMIT $1",
      "its parent is not there, or is not where the depth and root of this one say", STOP_TREE },
    { "session.state", "session", "depth",
      "SELECT s.session_id, s.depth FROM session s JOIN session r ON r.session_id = s.root_id"
      " WHERE s.state_id <> r.state_id OR (s.state_id <> '' AND NOT EXISTS"
      "  (SELECT 1 FROM state t WHERE t.state_id = s.state_id))"
      " ORDER BY 1 LIMIT $1",
      "it does not have the state of its tree's root, or that state is not there", STOP_TREE },
    { "session.name", "session", "depth",
      "SELECT s.session_id, s.depth FROM session s WHERE s.name = ''"
      " OR EXISTS (SELECT 1 FROM session o WHERE o.session_id = s.name"
      "  AND o.session_id <> s.session_id)"
      " ORDER BY 1 LIMIT $1",
      "its name is the id of another one", "delete one of the two when it has ended" },
    { "session.role", "session", "cycle",
      "SELECT session_id, cycle FROM session WHERE role <> '' AND role <> agent ORDER BY 1 LIMIT $1",
      "it has the role of an agent that it does not have", ASK_AGAIN },
    { "session.alias", "session", "at",
      "SELECT a.session_id, a.at FROM alias a WHERE NOT EXISTS"
      " (SELECT 1 FROM session s WHERE s.session_id = a.session_id) ORDER BY 1 LIMIT $1",
      "a process or a conversation is tied to it, and it is not there", STOP_TREE },
    { "session.status", "session", "cycle",
      "SELECT session_id, cycle FROM session WHERE status NOT IN " WORDS(SESSION_STATUSES)
      " OR update_status NOT IN " WORDS(UPDATE_STATUSES) " OR cycle < 1"
      " OR live <> CASE WHEN status IN ('pending', 'running', 'idle') THEN 1 ELSE 0 END"
      " OR (live = 1 AND ended_at <> 0)"
      " OR (settled = 1 AND (live = 1 OR ended_at = 0 OR update_status = 'pending'))"
      " ORDER BY 1 LIMIT $1",
      "whether it is live, has ended, and has settled do not agree", ASK_AGAIN },
    { "session.run", "session", "cycle",
      "SELECT s.session_id, s.cycle FROM session s WHERE s.run_id <> '' AND NOT EXISTS"
      " (SELECT 1 FROM run r WHERE r.run_id = s.run_id AND r.session_id = s.session_id"
      "   AND r.live = 1)"
      " ORDER BY 1 LIMIT $1",
      "the run that it is busy with is not a live one of its own", ASK_AGAIN },
    { "session.update", "session", "attempt",
      "SELECT s.session_id, s.update_attempts FROM session s WHERE s.update_status = 'pending'"
      " AND s.run_id = '' AND NOT EXISTS"
      "  (SELECT 1 FROM due d WHERE d.kind = 'update_overdue' AND d.subject = s.session_id)"
      " AND NOT EXISTS (SELECT 1 FROM session c WHERE c.parent_id = s.session_id"
      "  AND c.settled = 0 AND c.calls_back = 1)"
      " AND NOT EXISTS (SELECT 1 FROM callback b WHERE b.parent_id = s.session_id"
      "  AND b.status IN ('waiting', 'in_flight'))"
      " AND NOT EXISTS (SELECT 1 FROM permission p WHERE p.session_id = s.session_id"
      "  AND p.status = 'waiting')"
      " ORDER BY 1 LIMIT $1",
      "it was asked for its update, and nothing will come of that", ASK_AGAIN },
    { "session.stuck", "session", "cycle",
      "SELECT s.session_id, s.cycle FROM session s WHERE s.settled = 0 AND s.attended = 0"
      " AND s.run_id = ''"
      " AND NOT EXISTS (SELECT 1 FROM session c WHERE c.parent_id = s.session_id"
      "  AND c.settled = 0 AND c.calls_back = 1)"
      " AND NOT EXISTS (SELECT 1 FROM callback b WHERE b.parent_id = s.session_id"
      "  AND b.status IN ('waiting', 'in_flight'))"
      " AND NOT EXISTS (SELECT 1 FROM permission p WHERE p.session_id = s.session_id"
      "  AND p.status = 'waiting')"
      " ORDER BY 1 LIMIT $1",
      "it has not settled, and waits for nothing", ASK_AGAIN },
    { "session.silent", "session", "cycle",
      "SELECT s.session_id, s.cycle FROM session s WHERE s.settled = 1 AND s.calls_back = 1"
      " AND s.parent_id <> '' AND NOT EXISTS"
      "  (SELECT 1 FROM callback b WHERE b.child_id = s.session_id AND b.cycle = s.cycle)"
      " ORDER BY 1 LIMIT $1",
      "its parent will not hear that it has settled", "resume the parent, and tell it" },
    { "session.task", "session", "cycle",
      "SELECT session_id, cycle FROM session WHERE task <> '' AND settled = 1 ORDER BY 1 LIMIT $1",
      "it works for a step, and has settled", ASK_AGAIN },
    { "session.event", "session", "number",
      "SELECT e.session_id, e.number FROM session_event e WHERE e.number < 1 OR NOT EXISTS"
      " (SELECT 1 FROM session s WHERE s.session_id = e.session_id)"
      " ORDER BY 1, 2 LIMIT $1",
      "an event of a session that is not there", HARMLESS },

    /* ---- runs and callbacks ---- */
    { "run.session", "run", "cycle",
      "SELECT r.run_id, r.cycle FROM run r WHERE r.purpose <> 'command'"
      " AND NOT EXISTS (SELECT 1 FROM session s"
      "  WHERE s.session_id = r.session_id AND s.name = r.session_name AND s.cycle >= r.cycle)"
      " ORDER BY 1 LIMIT $1",
      "its session is not there, has another name, or has not come so far", ASK_AGAIN },
    { "run.command", "run", "attempt",
      "SELECT run_id, attempt FROM run WHERE (purpose = 'command') <> (argv <> '')"
      " OR (purpose = 'command') <> (type = '')"
      " OR (purpose = 'command' AND (session_id <> '' OR session_name <> '' OR token_id <> ''))"
      " OR (purpose <> 'command' AND (owner <> '' OR input <> ''))"
      " ORDER BY 1 LIMIT $1",
      "a command with a session or without words to execute, or a turn with what only commands have",
      "stop it, and have its maker ask again" },
    { "run.status", "run", "attempt",
      "SELECT run_id, attempt FROM run WHERE status NOT IN " WORDS(RUN_STATUSES)
      " OR type NOT IN " WORDS(RUN_TYPES) " OR purpose NOT IN " WORDS(RUN_PURPOSES)
      " OR mode NOT IN " WORDS(RUN_MODES)
      " OR live <> CASE WHEN status IN ('pending', 'claimed', 'running', 'stopping')"
      "  THEN 1 ELSE 0 END"
      " OR (live = 1 AND ended_at <> 0) OR (live = 0 AND ended_at = 0)"
      " ORDER BY 1 LIMIT $1",
      "whether it is live and when it ended do not agree", ASK_AGAIN },
    { "run.queue", "run", "attempt",
      "SELECT r.run_id, r.attempt FROM run r WHERE r.queued = 1 AND (r.status <> 'pending'"
      " OR (r.purpose <> 'command' AND NOT EXISTS (SELECT 1 FROM session s WHERE s.session_id = r.session_id"
      "  AND s.run_id = r.run_id)))"
      " ORDER BY 1 LIMIT $1",
      "it may be claimed, though it is not pending, or its session is busy with another",
      ASK_AGAIN },
    { "run.one", "run", "fence",
      "SELECT r.run_id, r.fence FROM run r WHERE r.status IN ('claimed', 'running', 'stopping')"
      " AND r.purpose <> 'command' AND NOT EXISTS (SELECT 1 FROM session s WHERE s.session_id = r.session_id"
      "  AND s.run_id = r.run_id)"
      " ORDER BY 1 LIMIT $1",
      "somebody runs it, though its session is busy with another", ASK_AGAIN },
    { "run.lease", "run", "fence",
      "SELECT run_id, fence FROM run WHERE (status IN ('claimed', 'running')"
      "  AND (lease_until = 0 OR fence < 1 OR runner_id = ''"
      "   OR (token_id = '' AND purpose <> 'command')))"
      " OR (live = 0 AND (lease_until <> 0 OR token_id <> '')) ORDER BY 1 LIMIT $1",
      "it is held without a lease, or has ended with one", ASK_AGAIN },
    { "run.due", "run", "attempt",
      "SELECT r.run_id, r.attempt FROM run r WHERE r.live = 1 AND (r.purpose = 'command'"
      " OR EXISTS (SELECT 1 FROM session s WHERE s.run_id = r.run_id)) AND NOT EXISTS (SELECT 1 FROM due d WHERE d.subject = r.run_id"
      "  AND d.kind IN ('run_ready', 'run_match', 'run_lease', 'run_time', 'run_stop'))"
      " ORDER BY 1 LIMIT $1",
      "nobody will look at it again if nothing is heard of it", ASK_AGAIN },
    { "run.output", "run", "piece",
      "SELECT o.run_id, o.number FROM run_output o WHERE NOT EXISTS"
      " (SELECT 1 FROM run r WHERE r.run_id = o.run_id) ORDER BY 1, 2 LIMIT $1",
      "output of a run that is not there", HARMLESS },
    { "runner.due", "runner", "capacity",
      "SELECT r.runner_id, r.capacity FROM runner r WHERE r.capacity < 1 OR (r.lost = 0"
      " AND NOT EXISTS (SELECT 1 FROM due d WHERE d.kind = 'runner_silent'"
      "  AND d.subject = r.runner_id))"
      " ORDER BY 1 LIMIT $1",
      "it can take no run, or will not be missed when it is gone",
      "remove the runner; it registers again by itself" },
    { "callback.child", "callback", "cycle",
      "SELECT b.callback_id, b.cycle FROM callback b JOIN session s ON s.session_id = b.child_id"
      " WHERE b.cycle > s.cycle OR (b.cycle = s.cycle AND s.settled = 0)"
      "  OR b.parent_id <> s.parent_id"
      " ORDER BY 1 LIMIT $1",
      "its child has not settled in that cycle, or has another parent", ASK_AGAIN },
    { "callback.status", "callback", "cycle",
      "SELECT b.callback_id, b.cycle FROM callback b"
      " WHERE b.status NOT IN " WORDS(CALLBACK_STATUSES)
      " OR (b.status IN ('waiting', 'in_flight') AND NOT EXISTS"
      "  (SELECT 1 FROM session p WHERE p.session_id = b.parent_id))"
      " OR (b.status = 'in_flight' AND NOT EXISTS"
      "  (SELECT 1 FROM run r WHERE r.run_id = b.run_id AND r.live = 1)"
      "  AND NOT EXISTS (SELECT 1 FROM session p WHERE p.session_id = b.parent_id"
      "   AND p.attended = 1 AND b.run_id <> ''))"
      " ORDER BY 1 LIMIT $1",
      "nobody is there to hear it, or no run carries it", ASK_AGAIN },
    { "project.state", "project", "created",
      "SELECT p.name, p.created_at FROM project p WHERE p.name = '' OR NOT EXISTS"
      " (SELECT 1 FROM state s WHERE s.state_id = p.state_id) ORDER BY 1 LIMIT $1",
      "the state that its members share is not there",
      "give it another one with 'baton project update NAME --state ID'" },
    { "project.folder", "project", "created",
      "SELECT f.project, f.created_at FROM project_folder f WHERE NOT EXISTS"
      " (SELECT 1 FROM project p WHERE p.name = f.project) ORDER BY 1 LIMIT $1",
      "a folder belongs to it, and it is not there", HARMLESS },
    { "project.member", "session", "depth",
      "SELECT s.session_id, s.depth FROM session s WHERE s.project <> '' AND (s.parent_id <> ''"
      " OR NOT EXISTS (SELECT 1 FROM project p WHERE p.name = s.project)) ORDER BY 1 LIMIT $1",
      "it is a member of a project that is not there, or is below another session", STOP_TREE },
    { "message.status", "message", "event",
      "SELECT m.message_id, m.seq FROM message m WHERE m.status NOT IN " WORDS(MESSAGE_STATUSES)
      " OR m.message = '' OR (m.status = 'delivered') <> (m.delivered_at > 0)"
      " OR (m.carrier <> '' AND m.status <> 'pending')"
      " OR NOT EXISTS (SELECT 1 FROM session s WHERE s.session_id = m.receiver_id)"
      " ORDER BY 1 LIMIT $1",
      "nobody is there to read it, or it is not said whether it was read", HARMLESS },
    { "waker.session", "session", "number",
      "SELECT w.session_id, w.number FROM waker w WHERE w.way NOT IN " WORDS(WAKE_WAYS)
      " OR NOT EXISTS (SELECT 1 FROM session s WHERE s.session_id = w.session_id)"
      " ORDER BY 1, 2 LIMIT $1",
      "something waits to wake it, and it is not there", HARMLESS },
    { "wake_queue.session", "session", "failures",
      "SELECT q.session_id, q.failures FROM wake_queue q WHERE q.conversation = ''"
      " OR NOT EXISTS (SELECT 1 FROM session s WHERE s.session_id = q.session_id)"
      " ORDER BY 1 LIMIT $1",
      "its client has a queue, and it is not there", HARMLESS },
    { "file_touch.session", "session", "lines added",
      "SELECT f.session_id, f.added FROM file_touch f"
      " WHERE f.added < 0 OR f.removed < 0 OR f.wrote_at > f.seen_at"
      " OR NOT EXISTS (SELECT 1 FROM session s WHERE s.session_id = f.session_id)"
      " OR NOT EXISTS (SELECT 1 FROM project p WHERE p.name = f.project)"
      " ORDER BY 1, 2 LIMIT $1",
      "it is at a file, and is not there, or its project is not", HARMLESS },
    { "sub_agent.session", "session", "started",
      "SELECT g.session_id, g.started_at FROM sub_agent g"
      " WHERE g.agent_id = '' OR g.phase = '' OR (g.ended_at > 0 AND g.ended_at < g.started_at)"
      " OR NOT EXISTS (SELECT 1 FROM session s WHERE s.session_id = g.session_id)"
      " ORDER BY 1, 2 LIMIT $1",
      "an agent inside of its client does a phase, and it is not there", HARMLESS },
    { "todo_list.session", "session", "changed",
      "SELECT t.session_id, t.updated_at FROM todo_list t"
      " WHERE NOT EXISTS (SELECT 1 FROM session s WHERE s.session_id = t.session_id)"
      " ORDER BY 1 LIMIT $1",
      "it has a list of what there is to do, and is not there", HARMLESS },

    { "permission.due", "permission", "event",
      "SELECT p.permission_id, p.seq FROM permission p"
      " WHERE p.status NOT IN " WORDS(PERMISSION_STATUSES)
      " OR NOT EXISTS (SELECT 1 FROM session s WHERE s.session_id = p.session_id)"
      " OR (p.status = 'waiting' AND NOT EXISTS (SELECT 1 FROM due d"
      "  WHERE d.kind = 'permission_expire' AND d.subject = p.permission_id))"
      " ORDER BY 1 LIMIT $1",
      "nobody waits for it, or it would wait for ever", ASK_AGAIN },

    /* ---- workflows that run: tokens are neither made nor lost but by moves ---- */
    { "execution.status", "execution", "number",
      "SELECT execution_id, no FROM execution WHERE status NOT IN " WORDS(EXECUTION_STATUSES)
      " OR open <> CASE WHEN status IN ('RUNNING', 'PAUSED') THEN 1 ELSE 0 END"
      " OR (open = 1) <> (ended_at = 0) OR execution_id = '' ORDER BY 2 LIMIT $1",
      "whether it is open and when it ended do not agree", CANCEL },
    { "execution.tokens", "execution", "number",
      "SELECT e.execution_id, e.no FROM execution e"
      " WHERE e.live <> (SELECT count(*) FROM mark m WHERE m.no = e.no AND m.scope = 0)"
      " OR e.agenda <> (SELECT count(*) FROM mark m WHERE m.no = e.no AND m.todo > 0)"
      " OR e.next_n - 1 <> e.gone + (SELECT count(*) FROM mark m WHERE m.no = e.no)"
      " OR (e.open = 0 AND e.live <> 0) ORDER BY 2 LIMIT $1",
      "it has not as many tokens as it says", CANCEL },
    { "execution.agenda", "execution", "number",
      "SELECT e.execution_id, e.no FROM execution e WHERE e.agenda > 0 AND e.status = 'RUNNING'"
      " AND e.halted = 0 AND NOT EXISTS (SELECT 1 FROM due d WHERE d.kind = 'execution_go'"
      "  AND d.subject = CAST(e.no AS TEXT)) ORDER BY 2 LIMIT $1",
      "it has moves left, and nobody will make them", "pause it, and resume it" },
    { "execution.incidents", "execution", "number",
      "SELECT e.execution_id, e.no FROM execution e WHERE e.incidents <>"
      " (SELECT count(*) FROM incident i WHERE i.no = e.no AND i.status = 'open')"
      " ORDER BY 2 LIMIT $1",
      "it has not as many open incidents as it says", CANCEL },
    { "execution.document", "execution", "number",
      "SELECT e.execution_id, e.no FROM execution e WHERE NOT EXISTS"
      " (SELECT 1 FROM state s WHERE s.state_id = e.state_id) ORDER BY 2 LIMIT $1",
      "its document is not there", "delete it when it has ended" },
    { "execution.workflow", "execution", "version",
      "SELECT e.execution_id, e.version FROM execution e WHERE e.open = 1 AND NOT EXISTS"
      " (SELECT 1 FROM workflow w WHERE w.name = e.workflow AND w.version = e.version"
      "  AND w.digest = e.digest) ORDER BY 1 LIMIT $1",
      "its definition is not there, or is another one", "deploy that definition again" },
    { "workflow.unnamed", "workflow", "version",
      "SELECT w.name, w.version FROM workflow w WHERE substr(w.name, 1, 1) = '#' AND NOT EXISTS"
      " (SELECT 1 FROM execution e WHERE e.workflow = w.name) ORDER BY 1 LIMIT $1",
      "no execution runs by it any more", HARMLESS },
    { "mark.execution", "token of execution", "token",
      "SELECT CAST(m.no AS TEXT), m.n FROM mark m WHERE m.status NOT IN " WORDS(MARK_STATUSES)
      " OR (m.todo > 0) <> (m.status IN ('enter', 'begin', 'leave', 'more', 'prove'))"
      " OR NOT EXISTS (SELECT 1 FROM execution e WHERE e.no = m.no AND e.open = 1"
      "  AND m.n < e.next_n) ORDER BY 1, 2 LIMIT $1",
      "its execution is not there or has ended, or what it has to do is not known", CANCEL },
    { "mark.loop", "token of execution", "token",
      "SELECT CAST(m.no AS TEXT), m.n FROM mark m WHERE (m.scope > 0 AND NOT EXISTS"
      "  (SELECT 1 FROM mark l WHERE l.no = m.no AND l.scope = 0 AND l.n = m.scope"
      "   AND l.node = m.node AND m.item >= 0 AND m.item < l.started))"
      " OR m.done + m.live <> m.started OR m.started > m.total"
      " OR m.live <> (SELECT count(*) FROM mark i WHERE i.no = m.no AND i.scope = m.n"
      "  AND m.scope = 0 AND i.status <> 'done') ORDER BY 1, 2 LIMIT $1",
      "a loop and its instances do not agree", CANCEL },
    { "mark.timer", "token of execution", "token",
      "SELECT CAST(m.no AS TEXT), m.n FROM mark m WHERE (m.timer > 0) <> (EXISTS"
      " (SELECT 1 FROM due d WHERE d.kind = 'mark_time' AND d.at = m.timer AND d.subject ="
      "  CAST(m.no AS TEXT) || '/' || substr('000000000' || CAST(m.n AS TEXT),"
      "   length(CAST(m.n AS TEXT)) + 1) || '/' || CAST(m.scope AS TEXT)))"
      " ORDER BY 1, 2 LIMIT $1",
      "it waits for a time that will not come, or a time comes for nothing", CANCEL },
    { "due.mark", "work for", "time",
      "SELECT d.subject, d.at FROM due d WHERE d.kind = 'mark_time' AND NOT EXISTS"
      " (SELECT 1 FROM mark m WHERE m.timer = d.at AND d.subject ="
      "  CAST(m.no AS TEXT) || '/' || substr('000000000' || CAST(m.n AS TEXT),"
      "   length(CAST(m.n AS TEXT)) + 1) || '/' || CAST(m.scope AS TEXT))"
      " ORDER BY 1 LIMIT $1",
      "a time comes for a token that is gone, or does not wait for it", HARMLESS },
    { "mark.job", "token of execution", "token",
      "SELECT CAST(m.no AS TEXT), m.n FROM mark m WHERE"
      " (m.job_type <> '' AND (m.status <> 'work' OR m.fence < 1))"
      " OR (m.job_place <> 0 AND (m.job_type = '' OR m.claim <> ''))"
      " OR (m.claim <> '' AND (m.lease_until = 0 OR NOT EXISTS (SELECT 1 FROM due d"
      "  WHERE d.kind = 'job_lease' AND d.subject = m.claim))) ORDER BY 1, 2 LIMIT $1",
      "a job that nobody may claim, or whose worker would not be missed", CANCEL },
    { "mark.run", "token of execution", "token",
      "SELECT CAST(m.no AS TEXT), m.n FROM mark m WHERE m.ref <> '' AND NOT EXISTS"
      " (SELECT 1 FROM run r WHERE r.run_id = m.ref AND r.live = 1) ORDER BY 1, 2 LIMIT $1",
      "the run that does its work has ended, or is not there", CANCEL },
    { "mark.check", "token of execution", "token",
      "SELECT CAST(m.no AS TEXT), m.n FROM mark m WHERE m.status = 'check'"
      " AND (m.ref = '' OR coalesce(m.vars, '') = '') ORDER BY 1, 2 LIMIT $1",
      "its evidence is to be checked, and nothing checks it", CANCEL },
    { "mark.approval", "token of execution", "token",
      "SELECT CAST(m.no AS TEXT), m.n FROM mark m WHERE (m.status = 'approval') <> (EXISTS"
      " (SELECT 1 FROM approval p WHERE p.no = m.no AND p.scope = m.scope AND p.n = m.n"
      "  AND p.status = 'waiting')) ORDER BY 1, 2 LIMIT $1",
      "it waits for a person who is not asked, or who is asked for nothing", CANCEL },
    { "approval.mark", "approval", "token",
      "SELECT p.approval_id, p.n FROM approval p WHERE p.status NOT IN " WORDS(APPROVAL_STATUSES)
      " OR (p.status = 'waiting') <> (p.decided_at = 0) OR length(p.digest) <> 64 OR NOT EXISTS"
      " (SELECT 1 FROM execution e WHERE e.no = p.no AND e.execution_id = p.execution_id)"
      " OR (p.status = 'waiting' AND NOT EXISTS (SELECT 1 FROM mark m WHERE m.no = p.no"
      "  AND m.scope = p.scope AND m.n = p.n AND m.status = 'approval')) ORDER BY 1 LIMIT $1",
      "a person is asked, and nothing waits for the answer", CANCEL },
    { "approval.due", "approval", "token",
      "SELECT p.approval_id, p.n FROM approval p WHERE"
      " (p.status = 'waiting' AND p.deadline > 0 AND p.fallback <> '') <> (EXISTS"
      "  (SELECT 1 FROM due d WHERE d.kind = 'approval_expire' AND d.subject = p.approval_id))"
      " ORDER BY 1 LIMIT $1",
      "its deadline will not come, or comes when it is decided", CANCEL },
    { "due.approval", "work for", "time",
      "SELECT d.subject, d.at FROM due d WHERE d.kind = 'approval_expire' AND NOT EXISTS"
      " (SELECT 1 FROM approval p WHERE p.approval_id = d.subject AND p.status = 'waiting')"
      " ORDER BY 1 LIMIT $1",
      "a deadline comes for an approval that does not wait", HARMLESS },
    /* Invariant 16: what comes after it has begun by its being done. */
    { "step.approval", "step of execution", "attempt",
      "SELECT CAST(s.no AS TEXT), s.attempt FROM step s JOIN execution e ON e.no = s.no"
      " WHERE (s.status = 'completed'"
      "  AND EXISTS (SELECT 1 FROM approval p WHERE p.no = s.no AND p.node = s.node)"
      "  AND NOT EXISTS (SELECT 1 FROM approval p WHERE p.no = s.no AND p.node = s.node"
      "   AND p.decided_at = s.ended_at AND (p.status = 'approved'"
      "    OR (p.status = 'expired' AND p.fallback = 'approve'))))"
      " OR (EXISTS (SELECT 1 FROM workflow w WHERE w.name = e.workflow"
      "   AND w.version = e.version AND w.digest = e.digest AND w.kind <> 'nodes')"
      "  AND (s.status = 'waiting_approval') <> (EXISTS"
      "  (SELECT 1 FROM approval p WHERE p.no = s.no AND p.node = s.node"
      "   AND p.status = 'waiting'))) ORDER BY 1, 2 LIMIT $1",
      "it counts as done and no person has approved it, or waits for one who is not asked", CANCEL },
    { "share.mark", "share of execution", "token",
      "SELECT CAST(h.no AS TEXT), h.n FROM share h WHERE h.status NOT IN " WORDS(SHARE_STATUSES)
      " OR NOT EXISTS (SELECT 1 FROM mark m WHERE m.no = h.no AND m.scope = h.scope AND m.n = h.n"
      "  AND m.status = 'work' AND m.attempt = h.attempt) ORDER BY 1, 2 LIMIT $1",
      "an agent works for an attempt that is over, or is not there", CANCEL },
    { "share.session", "share of execution", "token",
      "SELECT CAST(h.no AS TEXT), h.n FROM share h WHERE h.status = 'working' AND NOT EXISTS"
      " (SELECT 1 FROM session s WHERE s.session_id = h.session_id AND s.settled = 0"
      "  AND s.task <> '') ORDER BY 1, 2 LIMIT $1",
      "nobody works for it, and nobody will say so", CANCEL },
    { "share.one", "session", "shares",
      "SELECT h.session_id, count(*) FROM share h WHERE h.status = 'working'"
      " GROUP BY h.session_id HAVING count(*) > 1 ORDER BY 1 LIMIT $1",
      "it works for several at once", CANCEL },
    { "share.turn", "session to be", "turn",
      "SELECT h.session_name, h.seq FROM share h WHERE h.status = 'waiting' AND NOT EXISTS"
      " (SELECT 1 FROM due d WHERE d.kind = 'share_turn') ORDER BY 2 LIMIT $1",
      "it waits for room, and nobody will look whether there is any", CANCEL },
    { "step.execution", "step of execution", "attempt",
      "SELECT CAST(s.no AS TEXT), s.attempt FROM step s WHERE s.status NOT IN "
      WORDS(STEP_STATUSES) " OR NOT EXISTS (SELECT 1 FROM execution e WHERE e.no = s.no)"
      " ORDER BY 1, 2 LIMIT $1",
      "its execution is not there, or what became of it is not known", HARMLESS },
    { "incident.execution", "incident", "token",
      "SELECT i.incident_id, i.n FROM incident i WHERE i.status NOT IN " WORDS(INCIDENT_STATUSES)
      " OR (i.status = 'open') <> (i.resolved_at = 0) OR NOT EXISTS"
      " (SELECT 1 FROM execution e WHERE e.no = i.no AND (e.open = 1 OR i.status <> 'open'))"
      " ORDER BY 1 LIMIT $1",
      "its execution is not there, or has ended without it", HARMLESS },

    /* ---- the rest ---- */
    { "entry.form", "entry", "catalog",
      "SELECT name, catalog FROM entry WHERE catalog NOT IN (0, 1) OR name = '' OR text = ''"
      " ORDER BY 1 LIMIT $1",
      "it is neither an agent nor a profile", "write it anew" },
    { "schema.versions", "schema", "versions",
      "SELECT name, count(*) FROM schema GROUP BY name"
      " HAVING min(version) <> 1 OR max(version) <> count(*) ORDER BY 1 LIMIT $1",
      "its versions are not 1, 2, 3 …", "restore a backup" },
    { "token.form", "token", "kind",
      "SELECT token_id, kind FROM token WHERE kind < 1 OR kind > 5 OR length(hash) <> 64"
      " OR token_id = '' OR expires_at < 0 OR revoked_at < 0 ORDER BY 1 LIMIT $1",
      "nobody can come in with it", "make a new token" },
    { "key.form", "key", "time",
      "SELECT key, created_at FROM idempotency WHERE length(key) < 1 OR length(key) > 255"
      " OR length(digest) <> 64 OR answer = '' OR created_at < 1 ORDER BY 1 LIMIT $1",
      "a request that comes again under it cannot be answered",
      "none: keys are forgotten after a day" },
    { "due.kind", "work", "time",
      "SELECT kind, at FROM due WHERE kind NOT IN (" DUE_KIND_NAMES ") ORDER BY 1 LIMIT $1",
      "nobody knows how to do it", "use the newest baton that has used this database" },
    { "due.form", "work for", "time",
      "SELECT subject, at FROM due WHERE at < 1"
      " OR (kind IN ('compact_state', 'purge_state') AND subject = '')"
      " OR (kind = 'purge_state' AND EXISTS (SELECT 1 FROM state WHERE state_id = due.subject))"
      " ORDER BY 1 LIMIT $1",
      "it names no time, or no state, or one to be purged that is there",
      "restore a backup before the server does it" },
};
// clang-format on

enum { RULE_COUNT = sizeof rules / sizeof *rules };

size_t audit_rule_count(void)
{
    return RULE_COUNT;
}

static str place_of(struct arena *a, const struct rule *rule, const struct row *row)
{
    struct buf out = buf_in(a);

    if (rule->subject)
        buf_printf(&out, "%s " STR_FMT, rule->subject, STR_ARG(row_str(row, 0)));
    if (rule->number)
        buf_printf(&out, "%s%s %lld", out.len ? ", " : "", rule->number,
                   (long long)row_int(row, 1));
    return buf_str(&out);
}

err audit_rows(struct tx *tx, audit_sink *sink, void *self)
{
    for (size_t i = 0; i < RULE_COUNT; i++) {
        const struct rule *rule = &rules[i];
        const struct row *rows;
        size_t count;
        TRY(sql_all_(tx->sql, &rows, &count, rule->text, ARGS(INT(AUDIT_SHOWN))));
        for (size_t k = 0; k < count; k++) {
            struct audit_finding finding = { .rule = rule->name,
                                             .place = place_of(tx->arena, rule, &rows[k]),
                                             .problem = str_from(rule->problem),
                                             .advice = rule->advice };
            if (rule->subject && strcmp(rule->subject, "state") == 0)
                finding.state = row_str(&rows[k], 0);
            sink(self, &finding);
        }
    }
    return NULL;
}
