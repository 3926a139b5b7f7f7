/* store_repair_test.c: damaged states are made whole from a backup, and nothing else is touched. */
#include "pg_help.h"
#include "sim/postgres.h"
#include "store_work.h"

// clang-format off
/* What is done to the store; `later`: it has gone on since the backup was made. */
static const struct {
    const char *damage;
    bool later, alone; /* alone: it can be repaired without a backup too */
    const char *how;
} damages[] = {
    { "UPDATE state SET body = '{' WHERE state_id = 'wfstate_3'", false, true, "its row from the copy" },
    { "UPDATE state SET body = '{' WHERE state_id = 'wfstate_3'", true, true, "its document from its history" },
    { "UPDATE state SET body = '{\"n\":7}' WHERE state_id = 'wfstate_3'", false, false, "its row from the copy" },
    { "UPDATE state SET version = version + 1 WHERE state_id = 'wfstate_3'", false, false, "its row from the copy" },
    { "UPDATE log SET body = '{' WHERE seq = (SELECT snap_seq FROM state WHERE state_id = 'wfstate_3')", false, false, "1 event of its history" },
    { "UPDATE log SET body = '{\"n\":7}' WHERE subject = 'wfstate_3' AND body IS NOT NULL", false, false, "of its history" },
    { "UPDATE log SET data = '[' WHERE seq = (SELECT last_seq FROM state WHERE state_id = 'wfstate_3')", false, false, "1 event of its history" },
    { "UPDATE log SET prev_seq = 0 WHERE seq = (SELECT last_seq FROM state WHERE state_id = 'wfstate_3')", false, false, "1 event of its history" },
    { "DELETE FROM log WHERE seq = (SELECT snap_seq FROM state WHERE state_id = 'wfstate_3')", false, false, "1 event of its history" },
    { "UPDATE schema SET text = 'false' WHERE name = 'task'", false, false, "the text of its schema" },
};
// clang-format on

static void later(const char *store)
{
    struct world *w;

    CHECK_OK(world_open(store, NULL, &w));
    work_update(w, "wfstate_3", 1000);
    work_update(w, "wfstate_3", 1001);
    world_close(w);
}

static void repaired_check(const char *store, const char *fresh, size_t i)
{
    str before;

    if (damages[i].later)
        later(fresh);
    before = answers(fresh);
    if (damages[i].later)
        later(store);
    rows_change(store, damages[i].damage);
    if (!damages[i].alone) {
        EXITS(STORE("check", store, "--repair", "--apply"), 1);
        if (!said("out", "left: state wfstate_3"))
            check_fail(__FILE__, __LINE__, "expected wfstate_3 to be left after %s, found " STR_FMT,
                       damages[i].damage, STR_ARG(check_read("out")));
    }
    EXITS(STORE("check", store, "--repair", "--from", "backup.db"), 1);
    CHECK(said("out", "would repair: state wfstate_3") && said("out", "--apply"));
    EXITS(STORE("check", store, "--deep"), 1); /* nothing was written */
    EXITS(STORE("check", store, "--repair", "--from", "backup.db", "--apply"), 0);
    if (!said("out", damages[i].how))
        check_fail(__FILE__, __LINE__, "expected \"%s\" after %s, found: " STR_FMT, damages[i].how,
                   damages[i].damage, STR_ARG(check_read("out")));
    EXITS(STORE("check", store, "--deep"), 0);
    same_answers(before, store);
}

TEST_LIMIT(a_damaged_state_is_made_whole_from_a_backup, 240)
{
    work("backup.db");
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        file_copy("backup.db", "store.db");
        file_copy("backup.db", "fresh.db");
        repaired_check("store.db", "fresh.db", i);
    }
}

/* A document that is no JSON comes back from the changes that are kept, without any backup. */
TEST(a_document_that_is_no_json_comes_back_from_its_history)
{
    work("store.db");
    str before = answers("store.db");
    rows_change("store.db", "UPDATE state SET body = '' WHERE state_id = 'wfstate_3'");
    EXITS(STORE("check", "store.db", "--repair", "--apply", "--json"), 0);
    CHECK(said("out", "\"place\":\"state wfstate_3\",\"repaired\":true"));
    CHECK(said("out", "\"applied\":true,") && said("out", "\"left\":0}"));
    same_answers(before, "store.db");
}

/* The backup is damaged in the same place, or is of another team: it is not believed. */
TEST(a_copy_that_is_not_whole_or_is_of_another_store_repairs_nothing)
{
    const char *damage =
        "UPDATE log SET data = '[' WHERE seq = (SELECT last_seq FROM state WHERE state_id = "
        "'wfstate_3')";

    work("store.db");
    rows_change("store.db", damage);
    file_copy("store.db", "backup.db");
    EXITS(STORE("check", "store.db", "--repair", "--from", "backup.db", "--apply"), 1);
    CHECK(said("out", "left: state wfstate_3") && said("out", "the copy does not help"));
    work("other.db");
    rows_change("other.db", "UPDATE state SET created_at = created_at + 1");
    EXITS(STORE("check", "store.db", "--repair", "--from", "other.db", "--apply"), 1);
    CHECK(said("out", "left: state wfstate_3"));
    EXITS(STORE("check", "store.db", "--repair", "--from", "store.db"), 2);
    EXITS(STORE("check", "store.db", "--apply"), 2);
}

/* A backup may be the only one: it is read and never changed, not even to this program's tables. */
TEST(a_copy_of_an_older_version_is_refused_and_stays_as_it_is)
{
    work("store.db");
    file_copy("store.db", "backup.db");
    rows_change("backup.db", "UPDATE node SET version = 2 WHERE node_id = 1");
    str before = check_read("backup.db");
    EXITS(STORE("check", "store.db", "--repair", "--from", "backup.db"), 6);
    CHECK(said("err", "this database is of version 2, and "));
    CHECK(str_eq(check_read("backup.db"), before));
}

/* Events that are lost stay lost, but no number is given twice. */
TEST(a_log_that_lost_its_end_goes_on_above_what_rows_name)
{
    struct world *w;

    work("store.db");
    rows_change("store.db", "DELETE FROM log WHERE seq > (SELECT seq - 3 FROM node"
                            " WHERE node_id = 1)");
    rows_change("store.db", "UPDATE node SET seq = seq - 3 WHERE node_id = 1");
    EXITS(STORE("check", "store.db"), 1);
    CHECK(said("out", "log.end"));
    STORE("check", "store.db", "--repair", "--apply");
    CHECK(said("out", "repaired: log: events go on from "));
    CHECK_OK(world_open("store.db", NULL, &w));
    w->ids = 1000;
    CHECK_OK(world_call(w, "schema.create", "{'name':'more','json_schema':true}", "")->error);
    world_close(w);
    STORE("check", "store.db");
    CHECK(!said("out", "log.end") && !said("out", "log.gap") && !said("out", "log.ahead"));
}

TEST_LIMIT(a_damaged_state_on_postgresql_is_made_whole_from_a_file, 120)
{
    struct postgres *p = postgres_start();

    work("backup.db");
    for (size_t i = 0; i < 6; i += 2) {
        const char *url = postgres_new_database(p), *fresh = postgres_new_database(p);
        EXITS(STORE("copy", "--from", "backup.db", "--to", url), 0);
        EXITS(STORE("copy", "--from", "backup.db", "--to", fresh), 0);
        repaired_check(url, fresh, i);
    }
    postgres_stop(p);
}
