/* vfs_disk.c: a disk in memory that forgets what was not synced. */
#include "sim/vfs_disk.h"

#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>

/* ---- bytes ---- */

static void bytes_resize(struct disk_bytes *b, size_t len)
{
    if (len > b->room) {
        b->room = len > 2 * b->room ? len : 2 * b->room;
        b->at = mem_grow(b->at, b->room);
    }
    if (len > b->len)
        memset(b->at + b->len, 0, len - b->len);
    b->len = len;
}

static void bytes_put(struct disk_bytes *b, size_t offset, str bytes)
{
    if (bytes.len == 0)
        return;
    if (offset + bytes.len > b->len)
        bytes_resize(b, offset + bytes.len);
    memcpy(b->at + offset, bytes.at, bytes.len);
}

static void bytes_copy(struct disk_bytes *to, const struct disk_bytes *from)
{
    bytes_resize(to, from->len);
    if (from->len > 0)
        memcpy(to->at, from->at, from->len);
}

/* ---- files ---- */

static struct disk_file *file_new(struct disk *d, const char *name)
{
    struct disk_file *f = mem_alloc(sizeof *f);

    *f = (struct disk_file){ 0 };
    if (name) {
        size_t size = strlen(name) + 1;
        f->name = memcpy(mem_alloc(size), name, size);
    }
    list_append(&d->files, &f->link);
    return f;
}

static void file_free(struct disk_file *f)
{
    list_remove(&f->link);
    free(f->name);
    free(f->live.at);
    free(f->durable.at);
    free(f->pending_bytes.at);
    free(f->pending);
    free(f);
}

static void file_free_if_forgotten(struct disk_file *f)
{
    if (!f->named && !f->named_durably && f->users == 0 && f->changes == 0)
        file_free(f);
}

void disk_use(struct disk_file *f)
{
    f->users++;
}

void disk_leave(struct disk_file *f)
{
    assert(f->users > 0);
    f->users--;
    file_free_if_forgotten(f);
}

static struct disk_write *pending_add(struct disk_file *f)
{
    if (f->pending_count == f->pending_room) {
        f->pending_room = f->pending_room ? 2 * f->pending_room : 16;
        f->pending = mem_grow(f->pending, f->pending_room * sizeof *f->pending);
    }
    return &f->pending[f->pending_count++];
}

static str pending_bytes(const struct disk_file *f, const struct disk_write *w)
{
    return w->len ? (str){ f->pending_bytes.at + w->from, w->len } : STR("");
}

void disk_write(struct disk_file *f, size_t offset, str bytes)
{
    *pending_add(f) = (struct disk_write){
        .offset = offset,
        .len = bytes.len,
        .from = f->pending_bytes.len,
    };
    bytes_put(&f->pending_bytes, f->pending_bytes.len, bytes);
    bytes_put(&f->live, offset, bytes);
}

void disk_truncate(struct disk_file *f, size_t len)
{
    *pending_add(f) = (struct disk_write){ .offset = len, .truncates = true };
    bytes_resize(&f->live, len);
}

void disk_sync(struct disk_file *f)
{
    for (size_t i = 0; i < f->pending_count; i++) {
        const struct disk_write *w = &f->pending[i];
        if (w->truncates)
            bytes_resize(&f->durable, w->offset);
        else
            bytes_put(&f->durable, w->offset, pending_bytes(f, w));
    }
    f->pending_count = 0;
    f->pending_bytes.len = 0;
    assert(f->live.len == f->durable.len);
}

/* ---- the directory ---- */

void disk_init(struct disk *d, size_t sector_bytes)
{
    assert(sector_bytes >= 512 && (sector_bytes & (sector_bytes - 1)) == 0);
    *d = (struct disk){ .sector_bytes = sector_bytes };
    list_init(&d->files);
}

void disk_release(struct disk *d)
{
    LIST_EACH(it, &d->files)
        file_free(LIST_ENTRY(it, struct disk_file, link));
    free(d->changes);
}

struct disk_file *disk_find(const struct disk *d, const char *name)
{
    LIST_EACH(it, &d->files) {
        struct disk_file *f = LIST_ENTRY(it, struct disk_file, link);
        if (f->named && strcmp(f->name, name) == 0)
            return f;
    }
    return NULL;
}

static void change_add(struct disk *d, struct disk_file *f, bool creates)
{
    if (d->change_count == d->change_room) {
        d->change_room = d->change_room ? 2 * d->change_room : 16;
        d->changes = mem_grow(d->changes, d->change_room * sizeof *d->changes);
    }
    d->changes[d->change_count++] = (struct disk_change){ f, creates };
    f->changes++;
}

struct disk_file *disk_create(struct disk *d, const char *name)
{
    assert(!name || !disk_find(d, name));
    struct disk_file *f = file_new(d, name);
    if (name) {
        f->named = true;
        change_add(d, f, true);
    }
    return f;
}

void disk_remove(struct disk *d, struct disk_file *f)
{
    assert(f->named);
    f->named = false;
    change_add(d, f, false);
}

/* Makes the first n changes durable and forgets the others. */
static void changes_end(struct disk *d, size_t n)
{
    for (size_t i = 0; i < d->change_count; i++) {
        if (i < n)
            d->changes[i].file->named_durably = d->changes[i].creates;
        d->changes[i].file->changes--;
    }
    d->change_count = 0;
}

void disk_sync_names(struct disk *d)
{
    changes_end(d, d->change_count);
    LIST_EACH(it, &d->files)
        file_free_if_forgotten(LIST_ENTRY(it, struct disk_file, link));
}

size_t disk_bytes_used(const struct disk *d)
{
    size_t used = 0;

    LIST_EACH(it, &d->files) {
        const struct disk_file *f = LIST_ENTRY(it, struct disk_file, link);
        if (f->named || f->users > 0)
            used += f->live.len;
    }
    return used;
}

/* ---- crashes ---- */

/* How much of one file survives. Drawn for each file anew, so that none, all, and "all up to some
 * moment" are as likely as a mixture. */
struct survival {
    uint64_t *random;
    unsigned quarters; /* 0: nothing, 4: everything */
    size_t until;      /* what was written later is lost */
};

static struct survival survival_draw(const struct disk_file *f, uint64_t *random)
{
    struct survival s = { random, (unsigned)(random_draw(random) % 5), f->pending_count };

    if (random_draw(random) & 1)
        s.until = random_draw(random) % (f->pending_count + 1);
    return s;
}

static bool survives(const struct survival *s)
{
    return random_draw(s->random) % 4 < s->quarters;
}

/* One write within one sector. */
static void crash_sector(struct disk_bytes *durable, size_t offset, str bytes,
                         const struct survival *s)
{
    uint64_t draw = random_draw(s->random);
    size_t old_len = durable->len, end = offset + bytes.len;

    if (survives(s)) {
        bytes_put(durable, offset, bytes);
        return;
    }
    size_t cut = (draw >> 8) % (bytes.len + 1);
    if (s->quarters > 0 && draw % 8 == 0)
        bytes_put(durable, offset, str_slice(bytes, 0, cut));
    else if (s->quarters > 0 && draw % 8 == 1)
        bytes_put(durable, offset + cut, str_slice(bytes, cut, bytes.len));
    else if (end > old_len && draw % 8 < 4)
        bytes_resize(durable, end);
}

static void crash_write(struct disk_file *f, const struct disk_write *w, size_t sector_bytes,
                        const struct survival *s)
{
    str rest = pending_bytes(f, w);

    for (size_t offset = w->offset; rest.len > 0;) {
        size_t len = sector_bytes - offset % sector_bytes;
        str piece = str_slice(rest, 0, len);
        crash_sector(&f->durable, offset, piece, s);
        rest = str_slice(rest, len, rest.len);
        offset += piece.len;
    }
}

static void crash_file(struct disk_file *f, size_t sector_bytes, uint64_t *random)
{
    struct survival s = survival_draw(f, random);

    for (size_t i = 0; i < s.until; i++) {
        const struct disk_write *w = &f->pending[i];
        if (!w->truncates)
            crash_write(f, w, sector_bytes, &s);
        else if (survives(&s))
            bytes_resize(&f->durable, w->offset);
    }
    f->pending_count = 0;
    f->pending_bytes.len = 0;
    bytes_copy(&f->live, &f->durable);
}

void disk_crash(struct disk *d, uint64_t *random)
{
    changes_end(d, random_draw(random) % (d->change_count + 1));
    LIST_EACH(it, &d->files) {
        struct disk_file *f = LIST_ENTRY(it, struct disk_file, link);
        assert(f->users == 0);
        f->named = f->named_durably;
        if (f->named)
            crash_file(f, d->sector_bytes, random);
        else
            file_free(f);
    }
}

/* ---- copies ---- */

static struct disk_file *file_copy(struct disk *to, const struct disk_file *from)
{
    struct disk_file *f = file_new(to, from->name);

    f->named = from->named;
    f->named_durably = from->named_durably;
    bytes_copy(&f->live, &from->live);
    bytes_copy(&f->durable, &from->durable);
    bytes_copy(&f->pending_bytes, &from->pending_bytes);
    for (size_t i = 0; i < from->pending_count; i++)
        *pending_add(f) = from->pending[i];
    return f;
}

/* A copy is beside what it is a copy of: both lists have one order. */
static struct disk_file *copy_of(const struct disk *to, const struct disk *from,
                                 const struct disk_file *f)
{
    const struct list *twin = &to->files;

    for (const struct list *it = &from->files; it != &f->link; it = it->next)
        twin = twin->next;
    return LIST_ENTRY(twin, struct disk_file, link);
}

void disk_copy(struct disk *to, const struct disk *from)
{
    disk_init(to, from->sector_bytes);
    LIST_EACH(it, &from->files)
        file_copy(to, LIST_ENTRY(it, struct disk_file, link));
    for (size_t i = 0; i < from->change_count; i++)
        change_add(to, copy_of(to, from, from->changes[i].file), from->changes[i].creates);
    LIST_EACH(it, &to->files)
        file_free_if_forgotten(LIST_ENTRY(it, struct disk_file, link));
}
