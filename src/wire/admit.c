/* admit.c: who gets in: which connections there is room for, and who may speak as the operator. */
#include <unistd.h>

#include "wire/server_private.h"

enum { UNKNOWN_TOGETHER = 16 }; /* connections that go when there are no descriptors */

/* Others than our own user are kept from a Unix socket by its file's mode; this also holds when
 * somebody has changed that. */
bool admit_is_stranger(const struct link *l)
{
    uint32_t uid;
    int64_t pid;

    return link_is_local(l) && (!link_peer(l, &uid, &pid) || (uid != geteuid() && uid != 0));
}

/* A process may be looked at when it connects; what it shows is known later, and often is not the
 * operator's. So it is looked at then, and once. */
static bool is_inside(struct conn *c)
{
    const struct server_options *o = &c->server->options;
    uint32_t uid;
    int64_t pid;

    if (!c->looked && o->inside && link_is_local(c->link) && link_peer(c->link, &uid, &pid))
        c->inside = o->inside(pid);
    c->looked = true;
    return c->inside;
}

err server_check_inside(struct conn *c, const struct grant *g, struct arena *a)
{
    if (!g->operates || !is_inside(c))
        return NULL;
    return err_new(a, ERR_FORBIDDEN,
                   "this process belongs to a run of an agent, and the operator's token is not for "
                   "agents: use the run's own, which is in BATON_TOKEN, or let the operator do it "
                   "outside of the run");
}

err server_check_welcome(struct conn *c, const struct grant *g, struct arena *a)
{
    struct quota *sh = quota_of(c->server, g);
    err e = c->quota == sh ? NULL : quota_check_connection(c->server, sh, a);

    quota_unref(sh);
    return e ? e : server_check_inside(c, g, a);
}

/* Closes the connection without a token that has been there for longest, unless what it shows is
 * just being looked up. False: there is none. */
static bool unknown_close(struct server *s, const struct conn *but)
{
    LIST_EACH(it, &s->unknown) {
        struct conn *c = LIST_ENTRY(it, struct conn, unknown);
        if (c->admitting || c == but)
            continue;
        s->dropped++;
        conn_abort(c);
        return true;
    }
    return false;
}

/* A new connection has shown nothing yet, and may be the operator: it gets the place of one that has
 * had time to show something. */
bool admit_has_room(struct server *s)
{
    bool crowded = s->unknown_count >= s->limits.connections_unknown ||
                   s->open_count >= s->limits.connections_max;

    return !crowded || unknown_close(s, NULL);
}

bool server_makes_room(struct conn *c)
{
    return (!c->grant || c->grant->operates) && unknown_close(c->server, c);
}

/* Without descriptors nobody can come: some of those go who have shown nothing. */
void admit_no_descriptors(struct server *s)
{
    for (int i = 0; i < UNKNOWN_TOGETHER && unknown_close(s, NULL); i++) {
    }
}
