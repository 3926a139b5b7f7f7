/* store_mended_test.c: what goes wrong with a shared database while a server runs on it. Requests
 * are refused with what to do, nothing that was acknowledged is lost, and the server goes on by
 * itself when it is mended. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>

#include "black/black.h"
#include "json_help.h"
#include "store_help.h"

struct fixture {
    struct postgres *postgres;
    struct black node;
    str state;
    int64_t n; /* what was acknowledged last */
};

static void fixture_start(struct fixture *s, const char *url)
{
    const char **args = (const char **)ARENA_ARRAY(check_arena(), char *, 3);

    args[0] = "--store";
    args[1] = url;
    args[2] = NULL;
    s->node.args = args;
    black_start(&s->node);
    black_add_schema(&s->node);
    s->state = black_add_state(&s->node, "{'n':0}");
}

static struct reply fixture_put(struct fixture *s, const char *more)
{
    const char *body =
        arena_printf(check_arena(), "{'data':{'n':%lld%s}}", (long long)s->n + 1, more).at;
    struct reply r = black_ask(&s->node, black_route("PUT", s->state), body);

    s->n += r.status == 200;
    return r;
}

static void fixture_shows(const struct fixture *s)
{
    const struct json *shown = black_expect(&s->node, 200, black_route("GET", s->state), "");

    CHECK_INT(json_int_or(json_get(shown, "current_data"), "n", -1), s->n);
    CHECK_INT(json_int_or(shown, "version", -1), s->n + 1);
}

static int times_logged(const char *text)
{
    int n = 0;

    for (const char *at = check_read("log").at; (at = strstr(at, text)); at++)
        n++;
    return n;
}

/* It lives, says when to ask again, and tells others of what was acknowledged. What to do about the
 * database is in its log, and not in what a caller gets. Without a text, nobody looks there. */
static void fixture_refuses(struct fixture *s, int status, const char *text)
{
    int before = text ? times_logged(text) : 0;

    do {
        struct reply r = fixture_put(s, "");
        str after, detail = json_text(json_get(r.body, "detail"));
        CHECK_INT(r.status, status);
        CHECK(response_value(&r.response, "retry-after", &after));
        if ((text && strstr(detail.at, text)) || strstr(detail.at, "PostgreSQL"))
            check_fail(__FILE__, __LINE__, "it tells what is for the log: " STR_FMT,
                       STR_ARG(detail));
        usleep(20000);
    } while (text && times_logged(text) == before);
    black_alive(&s->node);
}

static void fixture_recovers(struct fixture *s)
{
    while (fixture_put(s, "").status != 200)
        usleep(20000);
    fixture_shows(s);
}

static void fixture_stop(struct fixture *s, const char *url)
{
    fixture_shows(s);
    black_stop(&s->node);
    CHECK_INT(COMMAND("store", "check", url, "--deep"), 0);
    postgres_stop(s->postgres);
}

/* The rights of docs/nodes.md for servers that may not change tables. */
static const char *const least[] = {
    "REVOKE ALL ON SCHEMA public FROM PUBLIC",
    "GRANT USAGE ON SCHEMA public TO baton",
    ("ALTER DEFAULT PRIVILEGES FOR ROLE baton_owner IN SCHEMA public"
     " GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO baton"),
};

TEST_LIMIT(a_role_that_may_only_change_rows_is_enough_and_missing_rights_are_503, 60)
{
    struct fixture s = { .postgres = postgres_start() };

    postgres_exec(s.postgres, "CREATE ROLE baton_owner LOGIN");
    postgres_exec(s.postgres, "CREATE ROLE baton LOGIN");
    postgres_exec(s.postgres, "CREATE DATABASE baton OWNER baton_owner");
    const char *owner = postgres_url(s.postgres, "baton_owner", "baton"),
               *url = postgres_url(s.postgres, "baton", "baton");
    for (size_t i = 0; i < sizeof least / sizeof *least; i++)
        pg_exec(owner, least[i]);
    expect(__LINE__, COMMAND("store", "migrate", url), ERR_UNAVAILABLE, "permission denied");
    CHECK_INT(COMMAND("store", "migrate", owner), 0);

    fixture_start(&s, url);
    CHECK_INT(fixture_put(&s, "").status, 200);
    pg_exec(owner, "REVOKE UPDATE ON state FROM baton");
    fixture_refuses(&s, 503, "GRANT it what is missing");
    fixture_shows(&s);
    pg_exec(owner, "GRANT UPDATE ON state TO baton");
    fixture_recovers(&s);

    pg_exec(owner, "REVOKE ALL ON node FROM baton");
    fixture_refuses(&s, 503, "GRANT it what is missing");
    CHECK_INT(black_ask(&s.node, black_route("GET", s.state), "").status, 503);
    pg_exec(owner, "GRANT SELECT, INSERT, UPDATE, DELETE ON node TO baton");
    fixture_recovers(&s);
    fixture_stop(&s, url);
}

/* As providers make a database whose disk is nearly full; connections that were made meanwhile
 * have it as their own setting. */
TEST_LIMIT(a_database_that_takes_no_writes_is_503_until_it_does_again, 60)
{
    struct fixture s = { .postgres = postgres_start() };

    postgres_exec(s.postgres, "CREATE DATABASE calm");
    const char *url = postgres_url(s.postgres, "postgres", "calm");
    fixture_start(&s, url);
    CHECK_INT(fixture_put(&s, "").status, 200);
    postgres_exec(s.postgres, "ALTER DATABASE calm SET default_transaction_read_only = on");
    postgres_number(s.postgres, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                                " WHERE application_name = 'baton'");
    fixture_refuses(&s, 503, "name the primary");
    fixture_shows(&s);
    postgres_exec(s.postgres, "ALTER DATABASE calm RESET default_transaction_read_only");
    fixture_recovers(&s);
    fixture_stop(&s, url);
}

/* ---- a full disk ---- */

enum { DISK_MIB = 32, TEXT_BYTES = 60000 };

static void disk_mount(void)
{
    const char *size = arena_printf(check_arena(), "size=%dm,mode=777", DISK_MIB).at;

    CHECK(mkdir("disk", 0777) == 0);
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", "disk", "tmpfs", 0, size) < 0)
        check_skip("a disk of its own needs a mount: %s", strerror(errno));
}

/* The folder is to be the server's own. */
static const char *database_on_disk(struct postgres *p)
{
    char *folder = getcwd(NULL, 0);

    pg_folder(p, "disk/space");
    postgres_exec(
        p,
        arena_printf(check_arena(), "CREATE TABLESPACE small LOCATION '%s/disk/space'", folder).at);
    free(folder);
    postgres_exec(p, "CREATE DATABASE small TABLESPACE small");
    return postgres_url(p, "postgres", "small");
}

static void disk_fill(void)
{
    static const char zeros[4096];
    int fd = open("disk/ballast", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    while (write(fd, zeros, sizeof zeros) > 0)
        ;
    close(fd);
}

static void disk_unmount(void)
{
    CHECK(umount2("disk", MNT_DETACH) == 0);
}

TEST_LIMIT(a_full_disk_of_the_database_is_507_and_loses_nothing, 60)
{
    struct buf text = buf_in(check_arena());
    struct fixture s = { 0 };
    int status;

    disk_mount();
    s.postgres = postgres_start();
    const char *url = database_on_disk(s.postgres);
    fixture_start(&s, url);
    buf_add(&text, STR(",'text':'"));
    memset(buf_reserve(&text, TEXT_BYTES), 'x', TEXT_BYTES);
    text.len += TEXT_BYTES;
    buf_add(&text, STR("'"));

    CHECK_INT(fixture_put(&s, "").status, 200);
    disk_fill();
    while ((status = fixture_put(&s, buf_str(&text).at).status) == 200)
        ;
    CHECK_INT(status, 507);
    black_alive(&s.node);
    fixture_shows(&s);
    CHECK(unlink("disk/ballast") == 0);
    fixture_recovers(&s);
    check_note("%lld versions", (long long)s.n + 1);
    fixture_stop(&s, url);
    disk_unmount();
}

/* ---- standbys ---- */

struct standby {
    struct postgres *primary;
    const char *folder; /* of its socket */
    pid_t pid;
};

static struct standby standby_start(struct postgres *primary)
{
    char *folder = getcwd(NULL, 0);
    struct standby s = { primary, arena_printf(check_arena(), "%s/standby", folder).at, 0 };

    free(folder);
    pg_folder(primary, "standby");
    PG_RUN(primary, "pg_basebackup", "-h", postgres_folder(primary), "-U", "postgres", "-D",
           s.folder, "-R", "-X", "stream", "--no-sync", "-c", "fast");
    CHECK(unlink("standby/.s.PGSQL.5432.lock") == 0); /* the primary's, which lies in its folder */
    s.pid = pg_start(primary, (const char *const[]){ "postgres", "-D", s.folder, "-c",
                                                     "listen_addresses=", "-c", "fsync=off", "-k",
                                                     s.folder, NULL });
    return s;
}

static void standby_stop(struct standby *s)
{
    kill(s->pid, SIGQUIT);
    CHECK(waitpid(s->pid, NULL, 0) == s->pid);
}

/* Of one server, or of whichever of both takes writes. */
static const char *standby_url(const struct standby *s, const char *database, bool both)
{
    str standby = socket_escaped(s->folder), primary = socket_escaped(postgres_folder(s->primary));

    return both ? arena_printf(check_arena(),
                               "postgres://postgres@" STR_FMT "," STR_FMT
                               "/%s?target_session_attrs=read-write",
                               STR_ARG(primary), STR_ARG(standby), database)
                      .at
                : arena_printf(check_arena(), "postgres://postgres@" STR_FMT "/%s",
                               STR_ARG(standby), database)
                      .at;
}

/* With a standby that every commit waits for, nothing that was acknowledged is lost. */
TEST_LIMIT(a_node_goes_on_with_the_standby_that_takes_over, 60)
{
    struct fixture s = { .postgres = postgres_start() };

    good_make();
    postgres_exec(s.postgres, "CREATE DATABASE team");
    CHECK_INT(COMMAND("store", "migrate", postgres_url(s.postgres, "postgres", "team")), 0);
    struct standby b = standby_start(s.postgres);
    const char *alone = standby_url(&b, "team", false), *both = standby_url(&b, "team", true);
    while (!pg_try(alone, "SELECT 1"))
        usleep(20000);
    expect(__LINE__, COMMAND("serve", "--listen", "127.0.0.1:0", "--data", "d", "--store", alone),
           ERR_UNAVAILABLE, "it takes no writes, as a standby does: name the primary");
    expect(__LINE__, COMMAND("store", "copy", "--from", "good.db", "--to", alone), ERR_UNAVAILABLE,
           "it takes no writes, as a standby does: name the primary");
    CHECK_INT(COMMAND("store", "check", alone, "--deep"), 0); /* reading is as good there */
    CHECK_INT(COMMAND("store", "copy", "--from", alone, "--to", "copy.db"), 0);

    postgres_exec(s.postgres, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    CHECK(postgres_number(s.postgres, "SELECT pg_reload_conf()::int"));
    postgres_until(s.postgres,
                   "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'");
    fixture_start(&s, both);
    for (int i = 0; i < 20; i++)
        CHECK_INT(fixture_put(&s, "").status, 200);
    postgres_stop(s.postgres);
    fixture_refuses(&s, 503, NULL);
    pg_exec(alone, "SELECT pg_promote()");
    fixture_recovers(&s);
    black_stop(&s.node);
    CHECK_INT(COMMAND("store", "check", alone, "--deep"), 0);
    standby_stop(&b);
}
