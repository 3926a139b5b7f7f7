/* barrier.c: the moment at which this node knows all that other nodes have committed.
 *
 * Who asks gets a read of the database behind it, one for all who asked in the same
 * turn. Like every read it is answered after all that it saw was published, and
 * then this node knows what they need to know. */
#include <assert.h>

#include "wire/server_private.h"

struct barriers {
    struct barrier *asked, **end; /* that will share the next read of the database */
    struct barrier *reading;      /* and those that share the one under way */
};

struct barriers *barriers_new(void)
{
    struct barriers *all = mem_alloc(sizeof *all);

    *all = (struct barriers){ .end = &all->asked };
    return all;
}

void server_barrier(struct server *s, struct barrier *f)
{
    struct barriers *all = s->barriers;

    assert(s->options.shared);
    f->follows = NULL;
    *all->end = f;
    all->end = &f->follows;
}

static struct barrier *asked_take(struct server *s)
{
    struct barrier *list = s->barriers->asked;

    s->barriers->asked = NULL;
    s->barriers->end = &s->barriers->asked;
    return list;
}

static void all_tell(struct barrier *list, err refused)
{
    for (struct barrier *f = list, *next; f; f = next) {
        next = f->follows;
        f->then(f->owner, refused);
    }
}

/* As with every read, this comes after all that it saw was published. */
static void looked(struct command *c)
{
    struct server *s = c->owner;
    struct barrier *list = s->barriers->reading;

    s->barriers->reading = NULL;
    all_tell(list, c->error);
    server_arena_done(s, c->arena);
}

/* One read at a time: who asks while it is under way may have come after what it sees. */
bool barrier_waits(const struct server *s)
{
    return s->barriers->asked && !s->barriers->reading;
}

void barrier_read(struct server *s)
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
    s->barriers->reading = asked_take(s);
    if (!server_submit(s, c)) {
        c->error = err_new(a, ERR_UNAVAILABLE, "more is asked for than can be done: try again");
        looked(c);
    }
}

void barriers_free(struct server *s)
{
    static const char why[] = "the server has stopped";
    static const struct error stopped = { .kind = ERR_UNAVAILABLE,
                                          .message = { why, sizeof why - 1 } };

    assert(!s->barriers->reading);
    all_tell(asked_take(s), &stopped);
    mem_free(s->barriers);
}
