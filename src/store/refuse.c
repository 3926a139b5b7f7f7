/* refuse.c: what is said of a database that is refused. */
#include "store/driver.h"

err store_newer(struct arena *a, enum error_kind kind, const char *name, int64_t version, int known)
{
    if (version == STORE_UNFINISHED)
        return err_new(
            a, kind,
            "%s: a copy into it is going on, or did not end: what is there is not whole. "
            "If none is running, drop it (a file: delete it; PostgreSQL: dropdb and "
            "createdb), and run 'baton store copy' again",
            name);
    return err_new(a, kind,
                   "%s: a newer baton has brought this database to version %lld, this one knows "
                   "%d: run the newer one, or restore a backup from before",
                   name, (long long)version, known);
}

err store_older(struct arena *a, const char *name, int64_t version, int known)
{
    return err_new(a, ERR_CONFLICT,
                   "%s: this database is of version %lld, and %d is needed here: 'baton store "
                   "migrate' brings it there; make a copy of it before, if it is to stay as it is",
                   name, (long long)version, known);
}

err store_too_old(struct arena *a, const char *name, int64_t version, int version_min)
{
    return err_new(
        a, ERR_CONFLICT,
        "%s: this database is of version %lld, from before baton could bring its tables "
        "up to date; %d is the first that it can. Nothing in it was changed: use it with "
        "the baton that made it, and begin a new one here (serve --data DIR)",
        name, (long long)version, version_min);
}

err store_absent(struct arena *a, const char *name)
{
    return err_new(a, ERR_NOT_FOUND,
                   "%s: nothing of baton is in it: see whether this is the database that you mean; "
                   "'baton serve' makes the tables in a new one, and so does 'baton store migrate'",
                   name);
}

err store_foreign(struct arena *a, const char *name)
{
    return err_new(a, ERR_CONFLICT,
                   "%s: it has tables that are not baton's: give baton a database of its own",
                   name);
}
