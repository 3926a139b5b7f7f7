/* database_url.c: where a PostgreSQL database is. */
#include "store/database_url.h"

#include <stdlib.h>

#include "base/arena.h"

static const char *option_of(const PQconninfoOption *options, const char *name)
{
    for (; options->keyword; options++)
        if (strcmp(options->keyword, name) == 0)
            return options->val ? options->val : "";
    return "";
}

/* A password with an unescaped / or @ ends up in a neighbour, which messages show. */
static bool is_plain(const PQconninfoOption *options)
{
    const char *port = option_of(options, "port");

    return strspn(port, "0123456789,") == strlen(port) &&
           !strchr(option_of(options, "host"), '@') && !strchr(option_of(options, "dbname"), '@');
}

static void redacted_write(struct buf *out, const PQconninfoOption *options)
{
    const char *database = option_of(options, "dbname"), *host = option_of(options, "host");
    const char *user = option_of(options, "user"), *port = option_of(options, "port");

    buf_printf(out, "PostgreSQL");
    if (*database)
        buf_printf(out, " database %s", database);
    if (*host)
        buf_printf(out, " at %s%s%s", host, *port ? ":" : "", port);
    if (*user)
        buf_printf(out, " as %s", user);
}

static char *copied(str s)
{
    char *copy = mem_alloc(s.len + 1);

    memcpy(copy, s.at, s.len);
    copy[s.len] = '\0';
    return copy;
}

err database_url_init(struct database_url *p, struct arena *a, str url)
{
    TRY(libpq_load(a, &p->pq));
    const char *password = getenv("PGPASSWORD");
    p->password = password ? copied(str_from(password)) : NULL;
    p->url = copied(url);
    char *reason = NULL;
    PQconninfoOption *options = p->pq->conninfo_parse(p->url, &reason);
    bool fits = options && is_plain(options);
    struct buf redacted = buf_in(a);

    if (fits)
        redacted_write(&redacted, options);
    p->redacted = copied(buf_str(&redacted));
    p->pq->conninfo_free(options);
    p->pq->free_memory(reason); /* it may quote the password */
    if (fits)
        return NULL;
    database_url_release(p);
    return err_new(a, ERR_INVALID,
                   "the store's URL cannot be read: expected postgres://USER@HOST:PORT/DATABASE, "
                   "with what is special in a name or password written as %%40 for @, %%2F for /");
}

void database_url_release(struct database_url *p)
{
    mem_free(p->password);
    mem_free(p->url);
    mem_free(p->redacted);
}
