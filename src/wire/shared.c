/* shared.c: bytes that many connections may be sending at once. */
#include "wire/shared.h"

#include <assert.h>

#include "wire/server_private.h"

struct shared *shared_new(str bytes)
{
    struct shared *s = mem_alloc(sizeof *s + bytes.len);
    char *copy = (char *)(s + 1);

    if (bytes.len)
        memcpy(copy, bytes.at, bytes.len);
    *s = (struct shared){ .refs = 1, .bytes = { copy, bytes.len } };
    return s;
}

struct shared *shared_ref(struct shared *s)
{
    s->refs++;
    return s;
}

void shared_unref(struct shared *s)
{
    assert(s->refs > 0);
    if (--s->refs == 0)
        mem_free(s);
}

void shared_hold(struct server *s, struct shared *f)
{
    if (f->holders++ == 0)
        s->held += f->bytes.len;
}

void shared_release(struct server *s, struct shared *f)
{
    assert(f->holders > 0);
    if (--f->holders == 0)
        s->held -= f->bytes.len;
    shared_unref(f);
}
