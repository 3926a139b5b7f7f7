/* store_check_test.c: a check of a database finds whatever is wrong with it. */
#include "core/audit.h"
#include "sim/postgres.h"
#include "store_work.h"

// clang-format off
static const struct {
    const char *rule, *text;
} planted[] = {
    { "log.ahead",        "UPDATE node SET seq = seq - 1 WHERE node_id = 1" },
    { "log.end",          "UPDATE run SET seq = 9999 WHERE session_name = 'done'" },
    { "log.end",          "UPDATE state SET last_seq = 9999 WHERE state_id = 'wfstate_3'" },
    { "log.floor",        "UPDATE replay SET floor = 10000" },
    { "log.floor",        "DELETE FROM replay" },
    { "log.gap",          "DELETE FROM log WHERE seq = (SELECT floor + 1 FROM replay)" },
    { "log.gap",          "DELETE FROM log WHERE seq = (SELECT floor FROM replay)" },
    { "log.gap",          "DELETE FROM log WHERE seq = (SELECT seq FROM node WHERE node_id = 1)" },
    { "log.type",         "UPDATE log SET type = 'nonsense' WHERE seq = (SELECT max(seq) FROM log)" },
    { "log.cause",        "UPDATE log SET cause = seq WHERE seq = (SELECT max(seq) FROM log)" },
    { "log.time",         "UPDATE log SET time = 5 WHERE seq = (SELECT max(seq) FROM log)" },
    { "log.clock",        "UPDATE node SET clock = 7 WHERE node_id = 1" },
    { "log.unkept",       "UPDATE log SET subject = 'nobody' WHERE seq = (SELECT min(seq) FROM log)" },
    { "state.version",    "UPDATE state SET version = version + 1 WHERE state_id = 'wfstate_3'" },
    { "state.version",    "UPDATE state SET last_seq = 99999 WHERE state_id = 'wfstate_3'" },
    { "state.snapshot",   "UPDATE state SET snap_seq = last_seq - 1 WHERE state_id = 'wfstate_4'" },
    { "state.overtaken",  "UPDATE state SET last_seq = (SELECT prev_seq FROM log WHERE seq = last_seq) WHERE state_id = 'wfstate_3'" },
    { "state.schema",     "DELETE FROM schema WHERE name = 'task'" },
    { "state.schema",     "UPDATE state SET schema_version = 2 WHERE state_id = 'wfstate_3'" },
    { "state.time",       "UPDATE state SET updated_at = 1 WHERE state_id = 'wfstate_3'" },
    { "history.link",     "UPDATE log SET prev_seq = 0 WHERE seq = (SELECT last_seq FROM state WHERE state_id = 'wfstate_3')" },
    { "history.link",     "UPDATE log SET prev_seq = prev_seq - 1 WHERE seq = (SELECT last_seq FROM state WHERE state_id = 'wfstate_3')" },
    { "history.version",  "UPDATE log SET version = 1 WHERE seq = (SELECT last_seq FROM state WHERE state_id = 'wfstate_3')" },
    { "history.snapshot", "UPDATE log SET body = NULL WHERE seq = (SELECT snap_seq FROM state WHERE state_id = 'wfstate_3')" },
    { "history.snapshot", "UPDATE log SET snap_seq = 1 WHERE version > 0 AND seq = (SELECT last_seq FROM state WHERE state_id = 'wfstate_3')" },
    { "session.tree",     "UPDATE session SET depth = 3 WHERE name = 'busy'" },
    { "session.tree",     "UPDATE session SET root_id = session_id WHERE name = 'busy'" },
    { "session.tree",     "UPDATE session SET parent_id = (SELECT s.session_id FROM session s WHERE s.name = 'busy') WHERE name = 'lead'" },
    { "session.tree",     "DELETE FROM session WHERE name = 'lead'" },
    { "session.state",    "UPDATE session SET state_id = 'wfstate_3' WHERE name = 'busy'" },
    { "session.state",    "UPDATE session SET state_id = 'wfstate_none' WHERE name = 'owner'" },
    { "session.name",     "UPDATE session SET name = (SELECT s.session_id FROM session s WHERE s.name = 'lead') WHERE name = 'owner'" },
    { "session.role",     "UPDATE session SET role = 'nobody' WHERE name = 'busy'" },
    { "session.alias",    "INSERT INTO alias (kind, what, session_id, at) VALUES ('process', 'p', 'ses_none', 1)" },
    { "session.status",   "UPDATE session SET live = 0 WHERE name = 'busy'" },
    { "session.status",   "UPDATE session SET status = 'nonsense' WHERE name = 'done'" },
    { "session.status",   "UPDATE session SET settled = 1 WHERE name = 'busy'" },
    { "session.run",      "UPDATE session SET run_id = (SELECT result_run FROM session WHERE name = 'done') WHERE name = 'done'" },
    { "session.run",      "UPDATE session SET run_id = 'run_none' WHERE name = 'lead'" },
    { "session.update",   "UPDATE session SET update_status = 'pending' WHERE name = 'done'" },
    { "session.stuck",    "UPDATE session SET run_id = '' WHERE name = 'next'" },
    { "session.silent",   "DELETE FROM callback" },
    { "session.event",    "UPDATE session_event SET session_id = 'ses_none' WHERE session_id = (SELECT session_id FROM session WHERE name = 'lead')" },
    { "run.session",      "UPDATE run SET session_id = 'ses_none' WHERE session_name = 'done'" },
    { "run.session",      "UPDATE run SET cycle = 2 WHERE session_name = 'done'" },
    { "run.command",      "UPDATE run SET argv = '[\"rm\"]' WHERE session_name = 'done'" },
    { "run.command",      "UPDATE run SET owner = 'somebody' WHERE session_name = 'done'" },
    { "run.command",      "UPDATE run SET session_id = 'ses_none' WHERE purpose = 'command'" },
    { "run.command",      "UPDATE run SET argv = '' WHERE purpose = 'command'" },
    { "run.status",       "UPDATE run SET live = 1 WHERE session_name = 'done'" },
    { "run.status",       "UPDATE run SET purpose = 'nonsense' WHERE session_name = 'done'" },
    { "run.queue",        "UPDATE run SET queued = 1 WHERE session_name = 'busy'" },
    { "run.queue",        "UPDATE session SET run_id = '' WHERE name = 'next'" },
    { "run.one",          "UPDATE session SET run_id = '' WHERE name = 'busy'" },
    { "run.lease",        "UPDATE run SET lease_until = 0 WHERE session_name = 'busy'" },
    { "run.lease",        "UPDATE run SET token_id = 'ss_1' WHERE session_name = 'done'" },
    { "run.due",          "DELETE FROM due WHERE kind = 'run_match'" },
    { "run.output",       "UPDATE run_output SET run_id = 'run_none' WHERE run_id = (SELECT result_run FROM session WHERE name = 'done')" },
    { "runner.due",       "DELETE FROM due WHERE kind = 'runner_silent'" },
    { "runner.due",       "UPDATE runner SET capacity = 0" },
    { "session.task",    "UPDATE session SET task = '{}' WHERE name = 'done'" },
    { "callback.child",   "UPDATE callback SET cycle = 2" },
    { "callback.child",   "UPDATE session SET settled = 0 WHERE name = 'done'" },
    { "callback.status",  "UPDATE callback SET status = 'in_flight'" },
    { "callback.status",  "UPDATE callback SET parent_id = 'ses_none'" },
    { "project.state",    "INSERT INTO project (name, project_dir, state_id, wake, created_at, updated_at) VALUES ('shop', '/', 'wfstate_none', 1, 1, 1)" },
    { "project.folder",   "INSERT INTO project_folder (hostname, common_dir, project, created_at) VALUES ('h', '/x', 'none', 1)" },
    { "project.member",   "UPDATE session SET project = 'none' WHERE name = 'lead'" },
    { "message.status",   "INSERT INTO message (message_id, sender_id, sender_name, receiver_id, receiver_name, seq, status, wakes, carrier, error, created_at, delivered_at, message) VALUES ('msg_1', '', 'op', 'ses_none', 'x', 1, 'pending', 0, '', '', 1, 0, 'x')" },
    { "waker.session",   "INSERT INTO waker (session_id, number, waker_id, way, handed, created_at) VALUES ('ses_none', 1, 'w', 'rewake', 0, 1)" },
    { "wake_queue.session", "INSERT INTO wake_queue (session_id, hostname, work_user, conversation, home, path, offered, failures) VALUES ('ses_none', 'h', 'u', 'c', '/h', '', 0, 0)" },
    { "permission.due",   "DELETE FROM due WHERE kind = 'permission_expire'" },
    { "permission.due",   "UPDATE permission SET status = 'nonsense'" },
    { "permission.due",   "UPDATE permission SET session_id = 'ses_none'" },
    { "sub_agent.session", "INSERT INTO sub_agent (session_id, agent_id, agent, execution_id, phase, started_at, ended_at) VALUES ('ses_none', 'a', 'x', 'wf_1', 'phase_0', 1, 0)" },
    { "todo_list.session", "INSERT INTO todo_list (session_id, items, told, updated_at) VALUES ('ses_none', '[]', '', 1)" },
    { "file_touch.session", "INSERT INTO file_touch (session_id, file, project, path, seen_at, wrote_at, added, removed) VALUES ('ses_none', 'h:/a', 'none', 'a', 1, 1, 0, 0)" },
    { "execution.status", "UPDATE execution SET open = 0 WHERE status = 'RUNNING'" },
    { "execution.status", "UPDATE execution SET status = 'nonsense' WHERE status = 'COMPLETED'" },
    { "execution.tokens", "UPDATE execution SET live = live + 1 WHERE status = 'RUNNING'" },
    { "execution.tokens", "UPDATE execution SET gone = gone + 1 WHERE status = 'COMPLETED'" },
    { "execution.tokens", "DELETE FROM mark WHERE node = 'build'" },
    { "execution.agenda", "UPDATE execution SET agenda = 1 WHERE status = 'RUNNING'" },
    { "execution.incidents", "DELETE FROM incident" },
    { "execution.document", "UPDATE execution SET state_id = 'wfstate_none'" },
    { "execution.workflow", "DELETE FROM workflow WHERE name = 'ship'" },
    { "execution.workflow", "UPDATE workflow SET digest = 'x' WHERE name = 'ship'" },
    { "workflow.unnamed", "INSERT INTO workflow (name, version, digest, kind, description, created_at, text) VALUES ('#x', 1, 'x', 'phases', '', 1, '{}')" },
    { "mark.execution",   "UPDATE mark SET no = 1 WHERE node = 'build'" },
    { "mark.execution",   "UPDATE mark SET status = 'nonsense' WHERE node = 'build'" },
    { "mark.execution",   "UPDATE mark SET todo = 7 WHERE node = 'build'" },
    { "mark.loop",        "UPDATE mark SET live = 0 WHERE node = 'lint' AND scope = 0" },
    { "mark.loop",        "UPDATE mark SET scope = 99 WHERE node = 'lint' AND scope > 0" },
    { "mark.timer",       "UPDATE mark SET timer = timer + 1 WHERE timer > 0" },
    { "due.mark",         "DELETE FROM mark WHERE timer > 0" },
    { "mark.job",         "UPDATE mark SET claim = 'claim_none' WHERE node = 'build'" },
    { "mark.job",         "UPDATE mark SET job_place = 3 WHERE node = 'build'" },
    { "mark.run",         "UPDATE mark SET ref = 'run_none' WHERE node = 'make'" },
    { "mark.check",       "UPDATE mark SET ref = '' WHERE node = 'prove'" },
    { "mark.check",       "UPDATE mark SET vars = NULL WHERE node = 'prove'" },
    { "mark.approval",    "UPDATE mark SET status = 'held' WHERE node = 'judge'" },
    { "mark.approval",    "DELETE FROM approval WHERE node = 'judge'" },
    { "approval.mark",    "DELETE FROM mark WHERE node = 'judge'" },
    { "approval.mark",    "UPDATE approval SET status = 'nonsense'" },
    { "approval.mark",    "UPDATE approval SET digest = ''" },
    { "approval.mark",    "UPDATE approval SET decided_at = 1 WHERE node = 'judge'" },
    { "approval.mark",    "UPDATE approval SET no = 1 WHERE node = 'judged'" },
    { "approval.due",     "DELETE FROM due WHERE kind = 'approval_expire'" },
    { "due.approval",     "UPDATE due SET subject = 'apr_none' WHERE kind = 'approval_expire'" },
    { "step.approval",    "UPDATE approval SET status = 'rejected' WHERE node = 'judged'" },
    { "step.approval",    "UPDATE approval SET decided_at = decided_at - 1 WHERE node = 'judged'" },
    { "step.approval",    "UPDATE step SET status = 'completed' WHERE node = 'judge'" },
    { "step.approval",    "UPDATE step SET status = 'in_progress' WHERE node = 'judge'" },
    { "share.mark",       "UPDATE mark SET attempt = 9 WHERE node = 'lift'" },
    { "share.mark",       "DELETE FROM mark WHERE node = 'lift'" },
    { "share.mark",       "UPDATE share SET status = 'nonsense'" },
    { "share.session",    "UPDATE share SET session_id = 'ses_none' WHERE status = 'working'" },
    { "share.session",    "UPDATE session SET task = '' WHERE task <> ''" },
    { "share.one",        "UPDATE share SET status = 'working', session_id = (SELECT session_id FROM session WHERE task <> '') WHERE status = 'waiting'" },
    { "share.turn",       "DELETE FROM due WHERE kind = 'share_turn'" },
    { "step.execution",   "UPDATE step SET no = 1 WHERE node = 'build'" },
    { "incident.execution", "UPDATE incident SET no = 1" },
    { "incident.execution", "UPDATE incident SET resolved_at = 1" },
    { "entry.form",       "INSERT INTO entry (catalog, name, text, source, created_at, updated_at) VALUES (7, 'x', '{}', 'api', 1, 1)" },
    { "schema.versions",  "UPDATE schema SET version = 3 WHERE name = 'Zebra'" },
    { "token.form",       "UPDATE token SET kind = 9" },
    { "token.form",       "UPDATE token SET hash = 'short'" },
    { "key.form",         "UPDATE idempotency SET digest = ''" },
    { "due.kind",         "UPDATE due SET kind = 'nonsense' WHERE kind = 'move_floor'" },
    { "due.form",         "UPDATE due SET at = 0" },
    { "due.form",         "INSERT INTO due (at, kind, subject, arg) VALUES (1, 'purge_state', 'wfstate_3', 1)" },
};

static const struct {
    const char *text, *problem;
} planted_deep[] = {
    { "UPDATE state SET body = '{\"n\":' WHERE state_id = 'wfstate_3'", "state wfstate_3" },
    { "UPDATE state SET body = '{\"n\":\"x\"}' WHERE state_id = 'wfstate_4'", "state wfstate_4" },
    { "UPDATE schema SET text = 'true' WHERE name = 'task'", "is not the text that was registered" },
    { "UPDATE state SET body = '{\"n\":12345}' WHERE state_id = 'wfstate_3'", "does not lead to what is stored" },
    { "UPDATE log SET body = '{\"n\":12345}' WHERE seq = (SELECT snap_seq FROM state WHERE state_id = 'wfstate_3')", "state wfstate_3" },
    { "UPDATE log SET data = '[]' WHERE seq = (SELECT last_seq FROM state WHERE state_id = 'wfstate_3')", "state wfstate_3" },
    { "UPDATE log SET data = '[' WHERE seq = (SELECT max(seq) FROM log)", "text.json" },
    { "UPDATE session SET usage_models = '{' WHERE name = 'lead'", "session ses" },
    { "UPDATE run SET metadata = '{' WHERE session_name = 'done'", "text.json" },
};
// clang-format on

TEST_LIMIT(a_check_finds_whatever_is_wrong, 60)
{
    work("good.db");
    EXITS(STORE("check", "good.db", "--deep"), 0);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        file_copy("good.db", "bad.db");
        rows_change("bad.db", planted[i].text);
        EXITS(STORE("check", "bad.db"), 1);
        str line = arena_printf(check_arena(), "%s: ", planted[i].rule);
        if (!said("out", line.at) || !said("out", "; to do: "))
            check_fail(__FILE__, __LINE__, "%s was not found after %s, but:\n" STR_FMT,
                       planted[i].rule, planted[i].text, STR_ARG(check_read("out")));
    }
    for (size_t i = 0; i < sizeof planted_deep / sizeof *planted_deep; i++) {
        file_copy("good.db", "bad.db");
        rows_change("bad.db", planted_deep[i].text);
        EXITS(STORE("check", "bad.db"), 0);
        EXITS(STORE("check", "bad.db", "--deep", "--json"), 1);
        CHECK(said("out", "\"ok\":false"));
        CHECK(said("out", planted_deep[i].problem));
    }
}

/* So that a rule without a planted row cannot be added. */
TEST(every_rule_of_a_check_is_planted)
{
    size_t rules = 0;

    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        rules += i == 0 || strcmp(planted[i].rule, planted[i - 1].rule) != 0;
    CHECK_INT(rules, audit_rule_count());
}

struct hunt {
    const char *rule;
    bool found;
};

static void hunt_take(void *self, const struct audit_finding *f)
{
    struct hunt *h = self;
    h->found = h->found || strcmp(f->rule, h->rule) == 0;
}

/* The rules are the same statements on PostgreSQL, and find the same. */
TEST_LIMIT(a_check_finds_the_same_on_postgresql, 60)
{
    struct postgres *p = postgres_start();
    const char *url = postgres_new_database(p);
    struct store_node node;
    struct world *w;

    work("good.db");
    EXITS(STORE("copy", "--from", "good.db", "--to", url), 0);
    CHECK_OK(world_open(url, NULL, &w));
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        struct hunt hunt = { .rule = planted[i].rule };
        CHECK_OK(store_begin(w->engine.sql, check_arena(), &node));
        CHECK_OK(sql_exec_(w->engine.sql, planted[i].text, NO_ARGS));
        struct tx tx = { .arena = check_arena(), .sql = w->engine.sql };
        CHECK_OK(audit_rows(&tx, hunt_take, &hunt));
        store_rollback(w->engine.sql);
        if (!hunt.found)
            check_fail(__FILE__, __LINE__, "%s was not found after %s", planted[i].rule,
                       planted[i].text);
    }
    world_close(w);
    postgres_stop(p);
}
