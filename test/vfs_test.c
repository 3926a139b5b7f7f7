/* vfs_test.c: real SQLite on the simulated disk: faults, several connections, several file systems. */
#include "sim/bank.h"

#include "json_help.h"

/* ---- faults ---- */

/* Whatever call fails, a deposit is made wholly or not at all, nothing that was acknowledged goes,
 * and a second try succeeds. */
TEST(a_deposit_survives_every_fault)
{
    const struct mode modes[] = { wal_full, { "DELETE", "FULL" } };
    int faults = 0;

    for (int m = 0; m < 2; m++)
        for (int kind = 0; kind < VFS_FAULT_KINDS; kind++)
            for (int n = 1;; n++, faults++) {
                struct vfs *w = vfs_new((uint64_t)n, 4096);
                sqlite3 *db = bank_new(w, &modes[m]);
                vfs_fail_nth(w, (uint64_t)n, (enum vfs_fault)kind);
                int acknowledged = bank_live(db);
                bool fired = vfs_fault_fired(w);
                vfs_fail_nth(w, 0, VFS_BAD_ANY);
                if (!sqlite3_get_autocommit(db))
                    run_sql(db, "ROLLBACK");
                int found = deposits(db);
                CHECK(found == acknowledged || found == acknowledged + 1);
                run_sql(db, deposit_sql(found + 1));
                CHECK_INT(deposits(db), found + 1);
                close_db(db);
                vfs_free(w);
                if (!fired)
                    break;
            }
    check_note("%d faults", faults);
    CHECK(faults > 200);
}

/* Seen with SQLite 3.40: a write that fails or finds no room ends the whole transaction, whatever
 * savepoints there are, and the next SAVEPOINT quietly begins a new one, which its RELEASE commits.
 * But not always: with a rollback journal an INSERT of many rows that met a full disk was undone
 * alone. So neither the error nor the statement tells which it was; sqlite3_get_autocommit does. */
TEST(a_full_disk_ends_the_transaction_and_a_savepoint_begins_another)
{
#define ROW "INSERT INTO a (bytes) VALUES (zeroblob(3000))"
#define ROWS                                                                                \
    "INSERT INTO a (bytes) SELECT zeroblob(3000)"                                           \
    "  FROM (WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 50)" \
    "        SELECT i FROM c)"
    // clang-format off
    static const struct {
        const char *journal, *statement;
        enum vfs_fault fault;
        int error;
        bool lives;
    } cases[] = {
        { "WAL",    ROW,  VFS_FULL,      SQLITE_FULL,  false },
        { "WAL",    ROWS, VFS_FULL,      SQLITE_FULL,  false },
        { "WAL",    ROW,  VFS_BAD_WRITE, SQLITE_IOERR, false },
        { "WAL",    ROWS, VFS_BAD_WRITE, SQLITE_IOERR, false },
        { "DELETE", ROW,  VFS_FULL,      SQLITE_FULL,  false },
        { "DELETE", ROWS, VFS_FULL,      SQLITE_FULL,  true  },
        { "DELETE", ROW,  VFS_BAD_WRITE, SQLITE_IOERR, false },
        { "DELETE", ROWS, VFS_BAD_WRITE, SQLITE_IOERR, false },
    };
    // clang-format on

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct mode mode = { cases[i].journal, "FULL" };
        struct vfs *w = vfs_new(1, 4096);
        sqlite3 *db = bank_new(w, &mode);
        run_sql(db, "PRAGMA cache_size = 5; CREATE TABLE note (text)");
        run_sql(db, "BEGIN IMMEDIATE; SAVEPOINT first; INSERT INTO note VALUES ('first');"
                    "RELEASE first; SAVEPOINT second");

        vfs_fail_nth(w, 9, cases[i].fault);
        int rc = SQLITE_OK;
        while (!vfs_fault_fired(w) && rc == SQLITE_OK)
            rc = try_sql(db, cases[i].statement);
        CHECK_INT(rc, cases[i].error);
        CHECK_INT(!sqlite3_get_autocommit(db), cases[i].lives);
        CHECK_INT(try_sql(db, "ROLLBACK TO second"), cases[i].lives ? SQLITE_OK : SQLITE_ERROR);

        run_sql(db, "SAVEPOINT third; INSERT INTO note VALUES ('third'); RELEASE third");
        CHECK_INT(try_sql(db, "COMMIT"), cases[i].lives ? SQLITE_OK : SQLITE_ERROR);
        CHECK_INT(ask(db, "SELECT count(*) FROM note WHERE text = 'first'"), cases[i].lives);
        CHECK_INT(ask(db, "SELECT count(*) FROM note WHERE text = 'third'"), 1);
        close_db(db);
        vfs_free(w);
    }
#undef ROW
#undef ROWS
}

TEST(a_disk_is_full_at_its_size_and_usable_when_there_is_room_again)
{
    struct vfs *w = vfs_new(1, 4096);
    sqlite3 *db = bank_new(w, &wal_full);
    int n = 1, rc;
    str file, wal;

    vfs_disk_bytes_max(w, 100000);
    while ((rc = try_sql(db, deposit_sql(n + 1))) == SQLITE_OK)
        n++;
    CHECK_INT(rc, SQLITE_FULL);
    CHECK(n > 5);
    CHECK_INT(deposits(db), n);
    CHECK(vfs_file(w, "bank.db", &file) && vfs_file(w, "bank.db-wal", &wal));
    CHECK_INT(file.len + wal.len, 100000);

    vfs_disk_bytes_max(w, 0);
    run_sql(db, deposit_sql(n + 1));
    CHECK_INT(deposits(db), n + 1);
    close_db(db);
    vfs_free(w);
}

/* ---- several connections ---- */

static int wal_bytes(struct vfs *w)
{
    str wal = STR("");
    vfs_file(w, "bank.db-wal", &wal);
    return (int)wal.len;
}

TEST(readers_keep_their_snapshot_beside_a_writer_and_a_checkpoint)
{
    struct vfs *w = vfs_new(1, 4096);
    sqlite3 *writer = bank_new(w, &wal_full), *other = open_db(w);
    sqlite3 *reader = open_db(w), *checkpointer = open_db(w);

    run_sql(reader, "BEGIN");
    CHECK_INT(deposits(reader), 1);
    for (int n = 2; n <= 4; n++)
        run_sql(writer, deposit_sql(n));
    CHECK_INT(deposits(reader), 1);
    CHECK_INT(deposits(other), 4);

    /* A checkpoint moves only what no snapshot forbids, and cannot empty the WAL. */
    run_sql(checkpointer, "PRAGMA wal_checkpoint(PASSIVE)");
    CHECK_INT(ask(checkpointer, "PRAGMA wal_checkpoint(TRUNCATE)"), 1);
    CHECK(wal_bytes(w) > 0);
    CHECK_INT(deposits(reader), 1);

    run_sql(writer, "BEGIN IMMEDIATE; INSERT INTO a VALUES (5, '')");
    CHECK_INT(try_sql(other, deposit_sql(5)), SQLITE_BUSY);
    CHECK_INT(deposits(other), 4);
    run_sql(writer, "ROLLBACK");

    run_sql(reader, "COMMIT");
    CHECK_INT(deposits(reader), 4);
    CHECK_INT(ask(checkpointer, "PRAGMA wal_checkpoint(TRUNCATE)"), 0);
    CHECK_INT(wal_bytes(w), 0);
    run_sql(other, deposit_sql(5));
    CHECK_INT(deposits(reader), 5);

    close_db(other);
    close_db(reader);
    close_db(checkpointer);
    CHECK(wal_bytes(w) > 0);
    close_db(writer);
    CHECK_INT(wal_bytes(w), 0);
    vfs_free(w);
}

/* Connections come, read, write, checkpoint and go in any order: every snapshot is one that was
 * acknowledged, and stays what it is. */
TEST(random_connections_see_what_was_acknowledged)
{
    enum { CONNECTIONS = 4 };
    struct vfs *w = vfs_new(1, 512);
    sqlite3 *db[CONNECTIONS];
    int snapshot[CONNECTIONS] = { 0 }, acknowledged = 1;
    struct random random = random_start();

    db[0] = bank_new(w, &wal_full);
    for (int i = 1; i < CONNECTIONS; i++)
        db[i] = open_db(w);
    for (int step = 0; step < 3000; step++) {
        uint32_t i = random_below(&random, CONNECTIONS), choice = random_below(&random, 8);
        if (snapshot[i]) {
            CHECK_INT(deposits(db[i]), snapshot[i]);
            if (choice < 4) {
                run_sql(db[i], "COMMIT");
                snapshot[i] = 0;
            }
        } else if (choice < 3) {
            run_sql(db[i], deposit_sql(++acknowledged));
        } else if (choice < 5) {
            run_sql(db[i], "BEGIN");
            snapshot[i] = deposits(db[i]);
            CHECK_INT(snapshot[i], acknowledged);
        } else if (choice == 5) {
            run_sql(db[i], "PRAGMA wal_checkpoint(PASSIVE)");
        } else if (choice == 6) {
            CHECK(ask(db[i], "PRAGMA wal_checkpoint(TRUNCATE)") >= 0);
        } else {
            close_db(db[i]);
            db[i] = open_db(w);
        }
        if (acknowledged > 60) {
            run_sql(db[i], "DELETE FROM a WHERE n > 1");
            run_sql(db[i], "DELETE FROM b WHERE n > 1");
            acknowledged = 1;
        }
    }
    for (int i = 0; i < CONNECTIONS; i++)
        close_db(db[i]);
    vfs_free(w);
}

TEST(a_writer_with_a_rollback_journal_waits_for_readers)
{
    const struct mode mode = { "DELETE", "FULL" };
    struct vfs *w = vfs_new(1, 4096);
    sqlite3 *writer = bank_new(w, &mode), *reader = open_db(w), *late = open_db(w);

    run_sql(reader, "BEGIN");
    CHECK_INT(deposits(reader), 1);
    CHECK_INT(try_sql(writer, deposit_sql(2)), SQLITE_BUSY);
    /* The writer waits with its lock: nobody may start to read, or it would wait for ever. */
    CHECK_INT(try_sql(late, "SELECT * FROM a"), SQLITE_BUSY);
    CHECK_INT(deposits(reader), 1);
    run_sql(reader, "COMMIT");
    run_sql(writer, "COMMIT");
    CHECK_INT(deposits(late), 2);
    CHECK_INT(deposits(reader), 2);

    close_db(writer);
    close_db(reader);
    close_db(late);
    vfs_free(w);
}

/* ---- file systems ---- */

TEST(worlds_are_apart_and_their_clocks_are_numbers)
{
    struct vfs *w1 = vfs_new(1, 512), *w2 = vfs_new(2, 4096);
    sqlite3 *db1 = bank_new(w1, &wal_full), *db2 = bank_new(w2, &wal_full);

    run_sql(db1, deposit_sql(2));
    vfs_crash(w1, 1);
    CHECK_INT(deposits(db2), 1);
    CHECK_INT(try_sql(db1, "SELECT * FROM a"), SQLITE_IOERR);

    vfs_set_time_ms(w2, 1736937300000);
    CHECK_INT(ask(db2, "SELECT strftime('%s', 'now')"), 1736937300);
    sqlite3_busy_timeout(db2, 5000);
    sqlite3 *other = open_db(w2);
    run_sql(other, "BEGIN IMMEDIATE");
    CHECK_INT(try_sql(db2, deposit_sql(2)), SQLITE_BUSY);
    CHECK(vfs_time_ms(w2) >= 1736937300000 + 4000);

    close_db(other);
    close_db(db1);
    close_db(db2);
    vfs_free(w1);
    vfs_free(w2);
}

TEST(calls_are_counted)
{
    struct vfs *w = vfs_new(1, 4096);
    sqlite3 *db = bank_new(w, &wal_full);
    run_sql(db, deposit_sql(2));
    struct vfs_counts before = *vfs_counts(w), after;

    /* Each frame of the WAL is a header of 24 bytes and a page of 1,024, in two writes. */
    run_sql(db, "UPDATE a SET bytes = zeroblob(10) WHERE n = 1");
    after = *vfs_counts(w);
    CHECK_INT(after.calls[VFS_SYNC] - before.calls[VFS_SYNC], 1);
    CHECK_INT(after.calls[VFS_WRITE] - before.calls[VFS_WRITE], 2);
    CHECK_INT(after.bytes_written - before.bytes_written, 24 + 1024);
    close_db(db);
    vfs_free(w);
}

/* From the crash point on the disk is out of reach, for all connections old and new. */
TEST(nothing_changes_after_the_crash_point)
{
    struct vfs *w = vfs_new(1, 4096);
    sqlite3 *db = bank_new(w, &wal_full), *other = open_db(w), *late;
    CHECK_INT(deposits(other), 1);

    vfs_crash_at_nth_write(w, 3);
    CHECK_INT(try_sql(db, deposit_sql(2)), SQLITE_IOERR);
    CHECK(vfs_fault_fired(w));
    struct vfs_counts counts = *vfs_counts(w);
    CHECK_INT(try_sql(db, deposit_sql(2)), SQLITE_IOERR);
    CHECK_INT(try_sql(other, deposit_sql(2)), SQLITE_IOERR);
    CHECK(sqlite3_open_v2("bank.db", &late, SQLITE_OPEN_READWRITE, vfs_name(w)) != SQLITE_OK);
    sqlite3_close(late);
    close_db(db);
    close_db(other);
    CHECK(memcmp(&counts, vfs_counts(w), sizeof counts) == 0);

    vfs_kill(w);
    db = open_db(w);
    CHECK_INT(deposits(db), 1);
    close_db(db);
    vfs_free(w);
}
