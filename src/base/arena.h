/* arena.h: the memory of one request, and a buffer that grows in it.
 *
 * Allocation moves a pointer; nothing is freed until all of it is. Out of
 * memory ends the process: a command is a transaction, so nothing is left half
 * done and no caller has a path for it. It belongs to one thread at a time, which
 * sanitized builds check. Does not know who uses it. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/str.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ARENA_CHECKED 1
#elif defined(__has_feature)
#define ARENA_CHECKED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define ARENA_CHECKED 0
#endif

struct arena {
    char *next, *end;           /* the free part of the newest block */
    struct arena_block *newest; /* blocks, newest first; the first one lives in a reset */
    struct arena_hook *hooks;   /* what to call at release, last registered first */
    size_t bytes;               /* in all blocks */
#if ARENA_CHECKED
    const void *owner; /* the thread that it belongs to; NULL: it is on its way to another */
#endif
};

struct arena *arena_new(void);
void arena_free(struct arena *a);

/* Everything allocated is gone, the hooks are run, and one block is kept, so that an arena used
 * again and again stops asking malloc. */
void arena_reset(struct arena *a);

/* An arena is its maker's. Whoever passes it on, with what lives in it, gives it away first, and
 * whoever gets it takes it: between the two it may be read and freed, and nothing else. So does what
 * is shared and does not change any more. Only builds that check it pay for it: there, whoever uses
 * what is another thread's, or nobody's, ends the process. */
#if ARENA_CHECKED
void arena_give(struct arena *a);
void arena_take(struct arena *a);
void arena_check(const struct arena *a);
#else
static inline void arena_give(struct arena *a)
{
    (void)a;
}
static inline void arena_take(struct arena *a)
{
    (void)a;
}
static inline void arena_check(const struct arena *a)
{
    (void)a;
}
#endif

void *arena_alloc_slow(struct arena *a, size_t size);

/* Memory aligned for any type, not cleared. Never NULL. */
static inline void *arena_alloc(struct arena *a, size_t size)
{
    arena_check(a);
    size = size ? (size + 15) & ~(size_t)15 : 16;
    if (size > (size_t)(a->end - a->next))
        return arena_alloc_slow(a, size);
    void *p = a->next;
    a->next += size;
    return p;
}

static inline void *arena_zero(struct arena *a, size_t size)
{
    return memset(arena_alloc(a, size), 0, size);
}

#define ARENA_NEW(a, type) ((type *)arena_zero((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_array((a), (n), sizeof(type)))

/* n elements, not cleared; an overflowing product ends the process. */
void *arena_array(struct arena *a, size_t n, size_t size);

/* Makes an allocation larger, in place where it was the last one. */
void *arena_grow(struct arena *a, void *old, size_t old_size, size_t new_size);

/* A copy of the bytes, followed by a NUL. */
str arena_copy(struct arena *a, str s);
str arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Calls fn(thing) when the arena is reset or freed: for references that a request holds. */
void arena_on_release(struct arena *a, void (*fn)(void *), void *thing);

/* malloc and realloc that end the process instead of returning NULL. */
void *mem_alloc(size_t size);
void *mem_grow(void *old, size_t size);
void mem_free(void *p);

/* ---- a buffer ---- */

/* Bytes that grow in an arena. What buf_str gives is followed by a NUL that it does not count.
 *
 * One that has a bound never holds more: what would exceed it is forgotten, from the mark on, and it
 * says that it is full. So whoever writes needs no way out, and whoever has set the bound asks once,
 * at the end; or writes a part, and where that was too much takes it back. */
struct buf {
    struct arena *arena;
    char *at;
    size_t len, room;
    size_t most; /* 0: no bound */
    size_t mark; /* what stands before it stays */
    bool full;
};

static inline struct buf buf_in(struct arena *a)
{
    return (struct buf){ .arena = a };
}

/* Space for n more bytes; the caller writes them and adds to len. */
char *buf_reserve(struct buf *b, size_t n);

static inline void buf_byte(struct buf *b, char c)
{
    if (b->len == b->room)
        buf_reserve(b, 1);
    b->at[b->len++] = c;
}

static inline void buf_add(struct buf *b, str s)
{
    if (s.len == 0)
        return;
    if (s.len > b->room - b->len)
        buf_reserve(b, s.len);
    memcpy(b->at + b->len, s.at, s.len);
    b->len += s.len;
}

void buf_int(struct buf *b, int64_t n);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list args);
str buf_str(struct buf *b);

#endif
