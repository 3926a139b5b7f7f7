/* vfs_crash_test.c: real SQLite on the simulated disk when the power goes, at every write.
 *
 * Some tests expect losses: a disk that never loses anything would let every
 * other test pass. */
#include "sim/bank.h"

struct tally {
    int points, cycles;
    int lost;   /* acknowledged deposits were gone */
    int broken; /* the tables disagreed, or the file was damaged */
};

/* Recovery writes too, and so does closing: the power goes once more. */
static void crash_in_recovery(struct vfs *w, uint64_t n, uint64_t seed)
{
    sqlite3 *db = open_db(w);
    vfs_crash_at_nth_write(w, n);
    deposits(db);
    close_db(db);
    vfs_crash(w, seed);
}

/* The power goes in this moment: what one seed leaves of it. */
static void crash_once(const struct vfs *moment, int acknowledged, uint64_t seed, struct tally *t)
{
    struct vfs *w = vfs_copy(moment);
    vfs_crash(w, seed);
    if (seed % 4 == 0)
        crash_in_recovery(w, 1 + seed / 4 % 16, seed);

    sqlite3 *db = open_db(w);
    int found = deposits(db);
    t->cycles++;
    t->broken += found == BROKEN || found > acknowledged + 1;
    t->lost += found != BROKEN && found < acknowledged;
    if (found != BROKEN && seed % 8 == 1) {
        run_sql(db, deposit_sql(found + 1));
        CHECK_INT(deposits(db), found + 1);
    }
    close_db(db);
    vfs_free(w);
}

/* Crashes a bank at each call that would change its disk. The closing of the database, a checkpoint
 * and the removal of the WAL, counts as well. */
static struct tally crash_everywhere(const struct mode *mode, size_t sector_bytes, int seeds)
{
    struct tally t = { 0 };

    for (int n = 1;; n++) {
        struct vfs *w = vfs_new((uint64_t)n, sector_bytes);
        sqlite3 *db = bank_new(w, mode);
        vfs_crash_at_nth_write(w, (uint64_t)n);
        int acknowledged = bank_live(db);
        close_db(db);
        for (int i = 0; i < seeds; i++)
            crash_once(w, acknowledged, (uint64_t)n * 1000003 + (uint64_t)i, &t);
        bool fired = vfs_fault_fired(w);
        vfs_free(w);
        if (!fired)
            break;
        t.points++;
    }
    return t;
}

/* The promise that the server makes for every acknowledged write. */
TEST_LIMIT(wal_with_synchronous_full_survives_a_crash_at_every_write, 60)
{
    static const size_t sectors[] = { 512, 4096 };

    for (int i = 0; i < 2; i++) {
        struct tally t = crash_everywhere(&wal_full, sectors[i], 40);
        check_note("sectors of %zu: %d crash points, %d crashes", sectors[i], t.points, t.cycles);
        CHECK_INT(t.lost, 0);
        CHECK_INT(t.broken, 0);
        CHECK(t.points > 30);
    }
}

/* What SQLite documents about its settings, seen here: so the disk is one that really loses what
 * was not synced, and loses no more. With DELETE and FULL the removal of the journal is not synced;
 * when it comes back, it takes the acknowledged transaction away. */
TEST_LIMIT(each_mode_loses_what_it_does_not_sync, 60)
{
    // clang-format off
    static const struct {
        struct mode mode;
        bool keeps; /* what was acknowledged */
        bool holds; /* the database together */
    } cases[] = {
        /*  journal     synchronous  keeps  holds */
        { { "WAL",      "NORMAL" },  false, true  },
        { { "WAL",      "OFF"    },  false, false },
        { { "DELETE",   "EXTRA"  },  true,  true  },
        { { "DELETE",   "FULL"   },  false, true  },
        { { "DELETE",   "OFF"    },  false, false },
        { { "TRUNCATE", "FULL"   },  true,  true  },
        { { "PERSIST",  "FULL"   },  true,  true  },
    };
    // clang-format on

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct mode *m = &cases[i].mode;
        struct tally t = crash_everywhere(m, 512, 10);
        check_note("%s, %s: %d crash points, %d crashes, %d lost a deposit, %d broke the database",
                   m->journal, m->sync, t.points, t.cycles, t.lost, t.broken);
        CHECK_INT(t.lost == 0, cases[i].keeps);
        CHECK_INT(t.broken == 0, cases[i].holds);
    }
}

/* From the first call on: what was acknowledged is there once the directory is synced, and before
 * that there is no bank or a whole one. */
TEST(creating_a_database_survives_a_crash_at_every_write)
{
    int cycles = 0;

    for (int n = 1;; n++) {
        struct vfs *w = vfs_new(1, 512);
        sqlite3 *db = open_db(w);
        vfs_crash_at_nth_write(w, (uint64_t)n);
        try_sql(db, "PRAGMA page_size = 1024; PRAGMA synchronous = EXTRA;"
                    "PRAGMA journal_mode = WAL;"
                    "BEGIN;"
                    "CREATE TABLE a (n INTEGER PRIMARY KEY, bytes BLOB);"
                    "CREATE TABLE b (n INTEGER PRIMARY KEY, bytes BLOB);"
                    "COMMIT");
        bool acknowledged = try_sql(db, deposit_sql(1)) == SQLITE_OK;
        bool fired = vfs_fault_fired(w);
        if (!fired)
            vfs_sync_directory(w);
        for (uint64_t seed = 0; seed < 50; seed++, cycles++) {
            struct vfs *copy = vfs_copy(w);
            vfs_crash(copy, seed);
            sqlite3 *again = open_db(copy);
            int tables = ask(again, "SELECT count(*) FROM sqlite_schema");
            CHECK(tables == 2 || (tables == 0 && !acknowledged));
            if (tables == 2 && ask(again, "SELECT count(*) FROM a") > 0)
                CHECK_INT(deposits(again), 1);
            else
                CHECK(!acknowledged);
            close_db(again);
            vfs_free(copy);
        }
        close_db(db);
        vfs_free(w);
        if (!fired)
            break;
    }
    check_note("%d crashes", cycles);
}

/* kill -9 takes the process and not the page cache. */
TEST(a_killed_process_loses_nothing_that_it_wrote)
{
    const struct mode off = { "WAL", "OFF" };
    struct vfs *w = vfs_new(1, 4096);
    sqlite3 *db = bank_new(w, &off);

    run_sql(db, deposit_sql(2));
    vfs_kill(w);
    CHECK_INT(try_sql(db, deposit_sql(3)), SQLITE_IOERR);
    CHECK_INT(try_sql(db, "SELECT * FROM a"), SQLITE_IOERR);

    sqlite3 *again = open_db(w);
    CHECK_INT(deposits(again), 2);
    run_sql(again, deposit_sql(3));
    close_db(db);
    CHECK_INT(deposits(again), 3);
    close_db(again);
    vfs_free(w);
}

/* Memory that was shared before a crash tells of frames that may be gone: who comes after it must
 * not see it, also when the dead have not been closed yet. */
TEST(the_dead_do_not_reach_those_who_come_after_a_crash)
{
    const struct mode normal = { "WAL", "NORMAL" };
    int lost = 0;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct vfs *w = vfs_new(seed, 512);
        sqlite3 *dead = bank_new(w, &normal);
        run_sql(dead, deposit_sql(2));
        run_sql(dead, "BEGIN");
        CHECK_INT(deposits(dead), 2);
        vfs_crash(w, seed);

        sqlite3 *db = open_db(w);
        int found = deposits(db);
        CHECK(found == 1 || found == 2);
        lost += found == 1;
        run_sql(db, deposit_sql(found + 1));
        CHECK_INT(try_sql(dead, "INSERT INTO b VALUES (3, '')"), SQLITE_IOERR);
        close_db(dead);
        CHECK_INT(deposits(db), found + 1);
        close_db(db);
        vfs_free(w);
    }
    CHECK(lost > 0);
}

static struct vfs *crashed_bank(uint64_t seed, uint64_t crash_seed)
{
    const struct mode off = { "WAL", "OFF" };
    struct vfs *w = vfs_new(seed, 512);
    sqlite3 *db = bank_new(w, &off);

    bank_live(db);
    vfs_crash(w, crash_seed);
    close_db(db);
    return w;
}

static bool same_disk(const struct vfs *a, const struct vfs *b)
{
    static const char *const names[] = { "bank.db", "bank.db-wal", "bank.db-journal" };

    for (int i = 0; i < 3; i++) {
        str x = STR("none"), y = STR("none");
        vfs_file(a, names[i], &x);
        vfs_file(b, names[i], &y);
        if (!str_eq(x, y))
            return false;
    }
    return true;
}

TEST(the_same_seeds_give_the_same_bytes)
{
    int alike = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct vfs *a = crashed_bank(seed, seed), *b = crashed_bank(seed, seed);
        struct vfs *other = crashed_bank(seed, seed + 1);
        CHECK(same_disk(a, b));
        alike += same_disk(a, other);
        vfs_free(a);
        vfs_free(b);
        vfs_free(other);
    }
    CHECK(alike < 5);
}
