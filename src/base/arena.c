/* arena.c: blocks from malloc, each twice as large as the one before, up to a limit. */
#include "base/arena.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK_BYTES_MIN = 16 << 10, BLOCK_BYTES_MAX = 1 << 20 };

/* Under AddressSanitizer every allocation is a block of its own, so that a step beyond one is
 * found although its neighbour would be ours as well. */
#if defined(__SANITIZE_ADDRESS__)
#define BLOCKS_ARE_SHARED 0
#elif defined(__has_feature)
#define BLOCKS_ARE_SHARED !__has_feature(address_sanitizer)
#else
#define BLOCKS_ARE_SHARED 1
#endif

struct arena_block {
    struct arena_block *older;
    size_t bytes; /* after this header */
};

struct arena_hook {
    void (*call)(void *);
    void *thing;
    struct arena_hook *next;
};

static void out_of_memory(size_t size)
{
    fprintf(stderr, "baton: out of memory: %zu more bytes are not to be had\n", size);
    abort();
}

void *mem_alloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        out_of_memory(size);
    return p;
}

void *mem_grow(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);
    if (!p)
        out_of_memory(size);
    return p;
}

void mem_free(void *p)
{
    free(p);
}

/* The bytes of a block start at the next multiple of 16 after its header. */
static char *block_bytes(struct arena_block *block)
{
    _Static_assert(sizeof(struct arena_block) % 16 == 0, "what follows a block is aligned");
    return (char *)(block + 1);
}

static void block_use(struct arena *a, struct arena_block *block)
{
    a->newest = block;
    a->next = block_bytes(block);
    a->end = a->next + block->bytes;
}

/* ---- whose it is ---- */

#if ARENA_CHECKED
static _Thread_local char me; /* its address is another one in each thread */

void arena_give(struct arena *a)
{
    arena_check(a);
    a->owner = NULL;
}

void arena_take(struct arena *a)
{
    assert(a->owner == NULL); /* else somebody still uses it */
    a->owner = &me;
}

void arena_check(const struct arena *a)
{
    assert(a->owner == &me);
}
#endif

/* What is nobody's goes with the last one who holds it. */
static void check_end(const struct arena *a)
{
#if ARENA_CHECKED
    assert(a->owner == NULL || a->owner == &me);
#else
    (void)a;
#endif
}

/* ---- the arena ---- */

struct arena *arena_new(void)
{
    struct arena *a = mem_alloc(sizeof *a);
    *a = (struct arena){ 0 };
    arena_take(a);
    return a;
}

void *arena_alloc_slow(struct arena *a, size_t size)
{
    size_t bytes = a->newest ? a->newest->bytes * 2 : BLOCK_BYTES_MIN;

    assert(size % 16 == 0 && size > (size_t)(a->end - a->next));
    if (bytes > BLOCK_BYTES_MAX)
        bytes = BLOCK_BYTES_MAX;
    if (bytes < size || !BLOCKS_ARE_SHARED)
        bytes = size;
    if (size > SIZE_MAX / 2)
        out_of_memory(size);

    struct arena_block *block = mem_alloc(sizeof *block + bytes);
    *block = (struct arena_block){ a->newest, bytes };
    a->bytes += bytes;
    block_use(a, block);
    a->next += size;
    return block_bytes(block);
}

/* Hooks may use what lives in the arena, so they run before any of it goes. */
static void hooks_run(struct arena *a)
{
    while (a->hooks) {
        struct arena_hook *hook = a->hooks;
        a->hooks = hook->next;
        hook->call(hook->thing);
    }
}

void arena_reset(struct arena *a)
{
    arena_check(a);
    hooks_run(a);
    struct arena_block *kept = a->newest;
    if (!kept)
        return;

    /* The newest block is the largest, or was made for one large thing; keep it unless it is
     * larger than an ordinary request needs. */
    struct arena_block *block = kept->older;
    while (block) {
        struct arena_block *older = block->older;
        if (kept->bytes > BLOCK_BYTES_MAX && block->bytes <= BLOCK_BYTES_MAX) {
            struct arena_block *large = kept;
            kept = block;
            block = large;
        }
        free(block);
        block = older;
    }
    kept->older = NULL;
    a->bytes = kept->bytes;
    block_use(a, kept);
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    check_end(a);
    hooks_run(a);
    for (struct arena_block *block = a->newest; block;) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
    free(a);
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        out_of_memory(SIZE_MAX);
    return arena_alloc(a, bytes);
}

void *arena_grow(struct arena *a, void *old, size_t old_size, size_t new_size)
{
    size_t held = (old_size + 15) & ~(size_t)15, wanted = (new_size + 15) & ~(size_t)15;

    assert(new_size >= old_size);
    arena_check(a);
    if (old && (char *)old + held == a->next && wanted - held <= (size_t)(a->end - a->next)) {
        a->next += wanted - held;
        assert(a->next <= a->end);
        return old;
    }
    void *new = arena_alloc(a, new_size);
    if (old_size)
        memcpy(new, old, old_size);
    return new;
}

str arena_copy(struct arena *a, str s)
{
    char *at = arena_alloc(a, s.len + 1);
    if (s.len)
        memcpy(at, s.at, s.len);
    at[s.len] = '\0';
    return (str){ at, s.len };
}

void arena_on_release(struct arena *a, void (*fn)(void *), void *thing)
{
    struct arena_hook *hook = arena_alloc(a, sizeof *hook);
    *hook = (struct arena_hook){ fn, thing, a->hooks };
    a->hooks = hook;
}

/* ---- a buffer ---- */

/* Never more than the bound, or a write within the room would not be noticed. One piece that is
 * larger all by itself is put somewhere too, since its writer has been promised a place. */
static void buf_widen(struct buf *b, size_t n)
{
    size_t room = b->room ? b->room * 2 : 256;

    if (room < b->len + n)
        room = b->len + n; /* who asks for much at once knows how much it is */
    if (b->most && room > b->most)
        room = b->len + n > b->most ? b->len + n : b->most;
    b->at = arena_grow(b->arena, b->at, b->room, room);
    b->room = room;
}

char *buf_reserve(struct buf *b, size_t n)
{
    assert(b->len <= b->room && (!b->most || b->mark <= b->len));
    if (n > b->room - b->len && b->most && b->len + n > b->most) {
        b->full = true;
        b->len = b->mark;
    }
    if (n > b->room - b->len)
        buf_widen(b, n);
    return b->at + b->len;
}

void buf_vprintf(struct buf *b, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    assert(n >= 0);
    vsnprintf(buf_reserve(b, (size_t)n + 1), (size_t)n + 1, format, again);
    b->len += (size_t)n;
    va_end(again);
}

void buf_int(struct buf *b, int64_t n)
{
    char room[INT_ROOM];

    buf_add(b, str_of_int(room, n));
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
}

str buf_str(struct buf *b)
{
    *buf_reserve(b, 1) = '\0';
    return (str){ b->at, b->len };
}

str arena_printf(struct arena *a, const char *format, ...)
{
    struct buf b = buf_in(a);
    va_list args;

    va_start(args, format);
    buf_vprintf(&b, format, args);
    va_end(args);
    return buf_str(&b);
}
