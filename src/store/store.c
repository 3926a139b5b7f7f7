/* store.c: which kind of store a name means. */
#include "store/store.h"

#include "store/driver.h"

bool store_is_shared(str name)
{
    return str_starts(name, STR("postgres://")) || str_starts(name, STR("postgresql://"));
}

err store_open(struct arena *a, str name, const struct store_options *options, struct store **out)
{
    const struct store_kind *kind = store_is_shared(name) ? &postgres_kind : &sqlite_kind;
    return kind->open(a, name, options, out);
}

err store_connect(struct arena *a, struct store *s, enum store_use use, struct sql **out)
{
    return s->kind->connect(a, s, use, out);
}

void store_close(struct store *s)
{
    s->kind->close(s);
}
