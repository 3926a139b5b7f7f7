/* barrier.c: a node that knows all that others have committed, at one moment.
 *
 * Who asks gets a read of the database behind it, one for all who asked in the same
 * turn. Like every read it is answered after all that it saw was published, and
 * then this node knows what they need to know. */
#include <assert.h>

#include "wire/server_private.h"

struct fences {
    struct fence *asked, **end; /* who will share the next look at the database */
    struct fence *looked_for;   /* and who shares the one that is under way */
};

struct fences *fences_new(void)
{
    struct fences *all = mem_alloc(sizeof *all);

    *all = (struct fences){ .end = &all->asked };
    return all;
}

void server_fence(struct server *s, struct fence *f)
{
    struct fences *all = s->fences;

    assert(s->options.shared);
    f->follows = NULL;
    *all->end = f;
    all->end = &f->follows;
}

static struct fence *asked_take(struct server *s)
{
    struct fence *list = s->fences->asked;

    s->fences->asked = NULL;
    s->fences->end = &s->fences->asked;
    return list;
}

static void all_tell(struct fence *list, err refused)
{
    for (struct fence *f = list, *next; f; f = next) {
        next = f->follows;
        f->then(f->owner, refused);
    }
}

/* As with every read, this comes after all that it saw was published. */
static void looked(struct command *c)
{
    struct server *s = c->owner;
    struct fence *list = s->fences->looked_for;

    s->fences->looked_for = NULL;
    all_tell(list, c->error);
    server_arena_done(s, c->arena);
}

/* One look at a time: who asks while it is under way may have come after what it sees. */
bool fence_waits(const struct server *s)
{
    return s->fences->asked && !s->fences->looked_for;
}

void fence_look(struct server *s)
{
    struct arena *a = server_arena(s);
    struct command *c = ARENA_NEW(a, struct command);
    struct json *input = ARENA_NEW(a, struct json);

    *input = json_object();
    *c = (struct command){ .arena = a,
                           .op = op_find(s->options.table, STR("system.seen")),
                           .input = input,
                           .actor = s->options.system,
                           .done = looked,
                           .owner = s };
    s->fences->looked_for = asked_take(s);
    if (!server_submit(s, c)) {
        c->error = err_new(a, ERR_UNAVAILABLE, "more is asked for than can be done: try again");
        looked(c);
    }
}

void fences_free(struct server *s)
{
    static const char why[] = "the server has stopped";
    static const struct error stopped = { .kind = ERR_UNAVAILABLE,
                                          .message = { why, sizeof why - 1 } };

    assert(!s->fences->looked_for);
    all_tell(asked_take(s), &stopped);
    mem_free(s->fences);
}
