/* vfs_disk_test.c: that a crash can do what vfs_disk.h says, and nothing else. */
#include "sim/vfs_disk.h"

#include "check.h"

#define SECTOR 512
#define SECTORS 4

/* A disk with one durable file "f" of four sectors of the letter 'o'. */
static struct disk_file *old_file(struct disk *d)
{
    char old[SECTOR * SECTORS];

    memset(old, 'o', sizeof old);
    disk_init(d, SECTOR);
    struct disk_file *f = disk_create(d, "f");
    disk_write(f, 0, (str){ old, sizeof old });
    disk_sync(f);
    disk_sync_names(d);
    return f;
}

static void write_sectors(struct disk_file *f, size_t offset, size_t len, char letter)
{
    char bytes[SECTOR * SECTORS];

    CHECK(len <= sizeof bytes);
    memset(bytes, letter, len);
    disk_write(f, offset, (str){ bytes, len });
}

static size_t count(const struct disk_file *f, size_t from, size_t to, char letter)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        n += f->live.at[i] == letter;
    return n;
}

/* Whether one part of a sector is new and the other old, and nothing is in between. */
static bool torn(const struct disk_file *f, size_t from)
{
    int changes = 0;
    for (size_t i = from + 1; i < from + SECTOR; i++)
        changes += f->live.at[i] != f->live.at[i - 1];
    CHECK(changes <= 1);
    return changes == 1;
}

TEST(a_crash_keeps_any_set_of_sectors_and_tears_some)
{
    int seen[1 << SECTORS] = { 0 }, tears = 0;

    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct disk d;
        struct disk_file *f = old_file(&d);
        unsigned set = 0, torn_here = 0;
        uint64_t random = seed;

        write_sectors(f, 0, SECTOR * SECTORS, 'n');
        disk_crash(&d, &random);
        CHECK_INT(f->live.len, SECTOR * SECTORS);
        for (unsigned i = 0; i < SECTORS; i++) {
            set |= (unsigned)(f->live.at[i * SECTOR] == 'n') << i;
            torn_here += torn(f, (size_t)i * SECTOR);
        }
        seen[set] += torn_here == 0;
        tears += torn_here > 0;
        disk_release(&d);
    }
    for (unsigned set = 0; set < 1 << SECTORS; set++)
        CHECK(seen[set] > 0);
    CHECK(tears > 0);
}

TEST(a_crash_keeps_what_was_synced_and_what_was_not_written)
{
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct disk d;
        struct disk_file *f = old_file(&d);
        uint64_t random = seed;

        write_sectors(f, 300, 500, 's');
        disk_sync(f);
        write_sectors(f, 900, 300, 'n');
        disk_crash(&d, &random);
        CHECK_INT(count(f, 300, 800, 's'), 500);
        CHECK_INT(count(f, 0, 300, 'o') + count(f, 800, 900, 'o') + count(f, 1200, 2048, 'o'),
                  300 + 100 + 848);
        CHECK_INT(count(f, 900, 1200, 'n') + count(f, 900, 1200, 'o'), 300);
        disk_release(&d);
    }
}

/* Later writes without earlier ones, growth without its bytes, and truncations lost or kept. */
TEST(a_crash_knows_no_order_among_what_is_pending)
{
    int only_second = 0, zeros = 0, short_file = 0, long_file = 0;

    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct disk d;
        struct disk_file *f = old_file(&d);
        uint64_t random = seed;

        write_sectors(f, 0, SECTOR, '1');
        write_sectors(f, SECTOR, SECTOR, '2');
        write_sectors(f, 2048, SECTOR, '3');
        disk_truncate(f, 1024);
        disk_crash(&d, &random);
        only_second += count(f, 0, SECTOR, '1') == 0 && count(f, SECTOR, 1024, '2') == SECTOR;
        zeros += f->live.len == 2560 && count(f, 2048, 2560, '\0') == SECTOR;
        short_file += f->live.len == 1024;
        long_file += f->live.len == 2560;
        disk_release(&d);
    }
    CHECK(only_second > 0 && zeros > 0 && short_file > 0 && long_file > zeros);
}

/* Of the changes of the directory a first part survives; a synced file can lose its name. */
TEST(a_crash_keeps_the_first_changes_of_the_directory)
{
    int kept[4] = { 0 };

    for (uint64_t seed = 0; seed < 200; seed++) {
        struct disk d;
        uint64_t random = seed;

        disk_remove(&d, old_file(&d));
        disk_sync(disk_create(&d, "g"));
        disk_sync(disk_create(&d, "f"));
        disk_crash(&d, &random);
        struct disk_file *f = disk_find(&d, "f"), *g = disk_find(&d, "g");
        int first = f && f->live.len ? 0 : !g ? 1 : !f ? 2 : 3;
        CHECK_INT(g != NULL, first >= 2);
        kept[first]++;
        disk_release(&d);
    }
    CHECK(kept[0] > 0 && kept[1] > 0 && kept[2] > 0 && kept[3] > 0);
}

TEST(a_removed_file_lives_while_it_is_used)
{
    struct disk d;
    struct disk_file *f = old_file(&d);

    disk_use(f);
    disk_remove(&d, f);
    disk_sync_names(&d);
    CHECK(!disk_find(&d, "f"));
    CHECK_INT(disk_bytes_used(&d), SECTOR * SECTORS);
    write_sectors(f, 0, SECTOR, 'n');
    CHECK_INT(count(f, 0, SECTOR, 'n'), SECTOR);
    disk_leave(f);
    CHECK_INT(disk_bytes_used(&d), 0);
    CHECK(list_empty(&d.files));
    disk_release(&d);
}
