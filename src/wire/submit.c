/* submit.c: memory for requests, and commands on their way to the other threads.
 *
 * A turn of the loop gathers commands, and passes them on once, at its end. */
#include "wire/server_private.h"

enum {
    ARENAS_KEPT = 64,
    ARENA_BYTES_KEPT = 64 << 10,
    GATHERED_MAX = 8192,
};

void arenas_init(struct server *s)
{
    s->arenas = mem_alloc(ARENAS_KEPT * sizeof *s->arenas);
    s->gathered_end = &s->gathered;
}

void arenas_free(struct server *s)
{
    while (s->arena_count)
        arena_free(s->arenas[--s->arena_count]);
    mem_free(s->arenas);
}

struct arena *server_arena(struct server *s)
{
    return s->arena_count ? s->arenas[--s->arena_count] : arena_new();
}

void server_arena_done(struct server *s, struct arena *a)
{
    if (s->arena_count == ARENAS_KEPT || a->bytes > ARENA_BYTES_KEPT) {
        arena_free(a);
        return;
    }
    arena_reset(a);
    s->arenas[s->arena_count++] = a;
}

/* ---- commands, to the other threads ---- */

bool server_submit(struct server *s, struct command *c)
{
    if (s->gathered_count == GATHERED_MAX || s->freed)
        return false;
    s->gathered_count++;
    arena_give(c->arena);
    c->follows = NULL;
    *s->gathered_end = c;
    s->gathered_end = &c->follows;
    return true;
}

static struct command *gathered_take(struct server *s)
{
    struct command *list = s->gathered;

    for (struct command *c = list; c; c = c->follows)
        arena_take(c->arena);
    s->gathered = NULL;
    s->gathered_end = &s->gathered;
    s->gathered_count = 0;
    return list;
}

static void refuse_all(struct command *list, const char *why)
{
    for (struct command *c = list, *next; c; c = next) {
        next = c->follows;
        c->error = err_new(c->arena, ERR_UNAVAILABLE, "%s", why);
        c->done(c);
    }
}

void gathered_hand_over(struct server *s)
{
    struct command *list = gathered_take(s);

    if (list && !s->options.submit(s->options.self, list))
        refuse_all(list, "too much is waiting to be done; try again in a moment");
}

void gathered_refuse(struct server *s)
{
    refuse_all(gathered_take(s), "the server has stopped");
}
