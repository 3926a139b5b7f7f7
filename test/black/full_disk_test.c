/* full_disk_test.c: a disk that has no space left, and has some again later.
 *
 * The disk is a tmpfs of a few MiB that only the test's own process and its server can see. Space
 * is taken by a file beside the database, the ballast. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "black/black.h"
#include "json_help.h"

enum { MIB = 1 << 20, DISK_MIB = 48, TEXT = 20000, CLIENTS = 8 };

static void disk_mount(void)
{
    const char *size = arena_printf(check_arena(), "size=%dm", DISK_MIB).at;

    CHECK(mkdir("disk", 0700) == 0);
    if (unshare(CLONE_NEWNS) < 0)
        check_skip("a disk of its own needs a mount namespace: %s", strerror(errno));
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", "disk", "tmpfs", 0, size) < 0)
        check_skip("a disk of its own needs a mount: %s", strerror(errno));
}

static void disk_unmount(void)
{
    CHECK(umount2("disk", MNT_DETACH) == 0);
}

static int64_t disk_free(void)
{
    struct statvfs v;

    CHECK(statvfs("disk", &v) == 0);
    return (int64_t)v.f_bavail * (int64_t)v.f_frsize;
}

/* Takes space until so many bytes are left. */
static void ballast_fill(int64_t left)
{
    static const char zeros[4096];
    int fd = open("disk/ballast", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    while (disk_free() > left && write(fd, zeros, sizeof zeros) > 0)
        ;
    close(fd);
}

static void ballast_drop(void)
{
    CHECK(unlink("disk/ballast") == 0);
}

/* The server looks at the disk now and then, so what it answers may be a moment behind. */
static struct reply put_until(const struct black *b, str id, int n, int status)
{
    const char *body = arena_printf(check_arena(), "{'data':{'n':%d}}", n).at;
    struct reply r;

    do
        r = black_ask(b, black_route("PUT", id), body);
    while (r.status != status && (r.status == 200 || r.status == 507));
    CHECK_INT(r.status, status);
    return r;
}

static int64_t n_of(const struct black *b, str id)
{
    const struct json *state = black_expect(b, 200, black_route("GET", id), "");
    return json_int_or(json_get(state, "current_data"), "n", -1);
}

TEST(disk_with_little_space_left_refuses_writes_and_recovers)
{
    struct black b = { .data = "disk/data",
                       .args = (const char *[]){ "--set", "disk_free_min=24MiB", NULL } };

    disk_mount();
    black_start(&b);
    black_add_schema(&b);
    str id = black_add_state(&b, "{'n':1}"), spare = black_add_state(&b, "{'n':1}");

    ballast_fill(20 * MIB); /* enough for what is written before the server looks again */
    struct reply refused = put_until(&b, id, 2, 507);
    int64_t n = n_of(&b, id); /* 2 when the server had not looked at the disk yet */
    CHECK(n == 1 || n == 2);
    CHECK(strstr(refused.response.body.at, "free some space"));
    CHECK_INT(black_ask(&b, "POST /tokens", "{'kind':'viewer'}").status, 507);
    black_expect(&b, 503, "GET /ready", "");
    put_until(&b, id, 3, 507);
    const char *told = strstr(check_read("log").at, "disk.full");
    CHECK(told && !strstr(told + 1, "disk.full")); /* once, however often it is met */
    black_expect(&b, 200, "GET /health", "");
    black_expect(&b, 200, "GET /events?after=0", "");
    black_expect(&b, 204, black_route("DELETE", spare), "");
    black_expect(&b, 404, black_route("GET", spare), "");
    CHECK_INT(n_of(&b, id), n);

    ballast_drop();
    put_until(&b, id, 3, 200);
    CHECK_INT(n_of(&b, id), 3);
    black_expect(&b, 200, "GET /ready", "");
    black_stop(&b);
    disk_unmount();
}

/* ---- no space at all ---- */

struct filler {
    const struct black *server;
    int number;
    str id;
    pthread_t thread;
    int64_t acknowledged; /* its last n */
    int refused;
};

/* Writes large documents until it was refused so often, or, given 0, once. */
static void fill(struct filler *f, int times)
{
    struct arena *a = arena_new();
    struct http_client *client = http_client_new(&f->server->endpoint);
    char *text = arena_alloc(a, TEXT + 1);

    memset(text, 'a' + f->number, TEXT);
    text[TEXT] = '\0';
    for (int refused = 0; times == 0 || refused < times;) {
        struct arena *one = arena_new();
        struct http_call call = {
            .method = "PUT",
            .target = arena_printf(one, "/workflow-states/" STR_FMT, STR_ARG(f->id)),
            .body = arena_printf(one, "{\"data\":{\"n\":%lld,\"text\":\"%s\"}}",
                                 (long long)f->acknowledged + 1, text),
        };
        struct response r;
        CHECK_OK(http_client_call(client, one, &call, &r));
        if (r.status == 507)
            refused++;
        else if (r.status == 200)
            f->acknowledged++;
        else
            check_fail(__FILE__, __LINE__, "status %d: " STR_FMT, r.status, STR_ARG(r.body));
        arena_free(one);
        if (times == 0)
            break;
    }
    f->refused += times;
    http_client_free(client);
    arena_free(a);
}

static void *fill_until_refused(void *self)
{
    fill(self, 20);
    return NULL;
}

static void check_acknowledged(const struct black *b, const struct filler *fillers)
{
    for (int i = 0; i < CLIENTS; i++) {
        const struct json *state = black_expect(b, 200, black_route("GET", fillers[i].id), "");
        CHECK_INT(json_int_or(state, "version", 0), fillers[i].acknowledged + 1);
        CHECK_INT(json_int_or(json_get(state, "current_data"), "n", -1), fillers[i].acknowledged);
    }
}

/* With nothing held back, SQLite itself meets the end of the disk, in the middle of a batch. */
TEST_LIMIT(disk_without_any_space_loses_nothing_that_was_acknowledged, 60)
{
    struct black b = { .data = "disk/data",
                       .args = (const char *[]){ "--set", "disk_free_min=0", NULL } };
    static struct filler fillers[CLIENTS];

    disk_mount();
    black_start(&b);
    black_add_schema(&b);
    for (int i = 0; i < CLIENTS; i++)
        fillers[i] =
            (struct filler){ .server = &b, .number = i, .id = black_add_state(&b, "{'n':0}") };
    ballast_fill(2 * MIB);
    for (int i = 0; i < CLIENTS; i++)
        CHECK(pthread_create(&fillers[i].thread, NULL, fill_until_refused, &fillers[i]) == 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(fillers[i].thread, NULL);
    black_alive(&b);
    check_acknowledged(&b, fillers);

    /* A server that is killed now, and started without a byte to spare, has it too. */
    black_kill(&b);
    black_start(&b);
    check_acknowledged(&b, fillers);

    ballast_drop();
    int64_t written = 0;
    for (int i = 0; i < CLIENTS; i++) {
        int64_t before = fillers[i].acknowledged;
        fill(&fillers[i], 0);
        CHECK_INT(fillers[i].acknowledged, before + 1);
        written += fillers[i].acknowledged;
    }
    check_acknowledged(&b, fillers);
    black_stop(&b);
    check_note("%lld writes, then %d refused, nothing lost", (long long)written,
               CLIENTS * fillers[0].refused);
    disk_unmount();
}
