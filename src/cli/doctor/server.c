/* server.c: the data directory, the server, the token, a runner, the project. */
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/init/project.h"

/* ---- files ---- */

/* Names what others could read, or where somebody else could put a server of his own. */
static bool is_private(struct doctor *d, str path, mode_t mode)
{
    struct stat st;

    if (stat(path.at, &st) < 0)
        return true; /* what is not there tells nobody anything */
    if (st.st_uid != geteuid() && geteuid() != 0) {
        doctor_report(d, DOCTOR_FAIL, "data", STR("export BATON_DATA=DIR"),
                      "%s belongs to somebody else: a directory of your own is needed", path.at);
        return false;
    }
    if ((st.st_mode & 07777 & ~mode) == 0)
        return true;
    doctor_report(d, DOCTOR_FAIL, "data",
                  arena_printf(d->arena, "chmod %o '%s'", (unsigned)mode, path.at),
                  "%s has mode %o, and must be for its owner alone: %o", path.at,
                  (unsigned)(st.st_mode & 07777), (unsigned)mode);
    return false;
}

void doctor_data(struct doctor *d)
{
    static const char *const files[] = { "operator.token", "runner.token", "baton.db",
                                         "server.json", "baton.sock" };
    const char *url = getenv("BATON_URL");
    bool good = true;
    struct stat st;

    if (!d->data.len) {
        doctor_report(d, DOCTOR_SKIP, "data", STR(""), "the server is where BATON_URL says: %s",
                      url);
        return;
    }
    if (stat(d->data.at, &st) < 0 || !S_ISDIR(st.st_mode)) {
        doctor_report(d, DOCTOR_FAIL, "data", STR("baton serve"),
                      "there is no directory %s: no server was ever started for it", d->data.at);
        return;
    }
    good = is_private(d, d->data, 0700);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        good &= is_private(d, arena_printf(d->arena, "%s/%s", d->data.at, files[i]), 0600);
    if (good)
        doctor_report(d, DOCTOR_OK, "data", STR(""), "%s is for its owner alone", d->data.at);
}

/* ---- the server ---- */

static err get(struct doctor *d, const char *path, const struct json **out)
{
    return caller_call(&d->caller, d->arena, &(struct call){ .method = "GET", .pattern = path },
                       out);
}

static void version_report(struct doctor *d, str version)
{
    str where = d->caller.endpoint.url.scheme == URL_UNIX
                    ? d->caller.endpoint.url.socket
                    : arena_printf(d->arena, "http://" STR_FMT,
                                   STR_ARG(url_authority(d->arena, &d->caller.endpoint.url)));

    if (str_eq(version, STR(BATON_VERSION)))
        doctor_report(d, DOCTOR_OK, "server", STR(""), "version " STR_FMT " answers at " STR_FMT,
                      STR_ARG(version), STR_ARG(where));
    else
        doctor_report(d, DOCTOR_WARN, "server", STR("stop the server, then: baton serve"),
                      "version " STR_FMT " answers at " STR_FMT
                      ", and this program is " BATON_VERSION,
                      STR_ARG(version), STR_ARG(where));
}

/* Whose token it is cannot be asked; whether it is known, any list tells. */
static void token_report(struct doctor *d)
{
    struct call list = { .method = "GET", .pattern = "/sessions", PARAMS({ "limit", STR("1") }) };
    const struct json *answer;
    err e = caller_call(&d->caller, d->arena, &list, &answer);
    str fix = getenv("BATON_TOKEN") || getenv("BATON_TOKEN_FILE")
                  ? STR("unset BATON_TOKEN BATON_TOKEN_FILE")
                  : STR("stop the server, then: baton serve");

    d->works = !e || e->kind == ERR_FORBIDDEN;
    if (d->works)
        doctor_report(d, DOCTOR_OK, "token", STR(""), "the server knows it");
    else
        doctor_report(d, DOCTOR_FAIL, "token", fix, STR_FMT, STR_ARG(e->message));
}

static void socket_report(struct doctor *d)
{
    if (d->caller.endpoint.url.scheme == URL_UNIX)
        doctor_report(d, DOCTOR_OK, "socket", STR(""), "programs of this machine use " STR_FMT,
                      STR_ARG(d->caller.endpoint.url.socket));
    else if (d->data.len)
        doctor_report(d, DOCTOR_WARN, "socket", STR("baton serve, without --socket off"),
                      "there is none: whoever takes the server's port would be shown the token");
}

void doctor_server(struct doctor *d)
{
    const struct json *health;
    err e = get(d, "/health", &health);

    if (!e && !json_is(health, JSON_OBJECT)) /* another program may have taken its place */
        e = err_new(d->arena, ERR_INTERNAL, "expected the server's answer to be an object");
    if (e) {
        doctor_report(d, DOCTOR_FAIL, "server",
                      e->kind == ERR_UNAUTHENTICATED ? STR("export BATON_TOKEN_FILE=FILE")
                                                     : STR("baton serve"),
                      STR_FMT, STR_ARG(e->message));
        return;
    }
    version_report(d, json_str(health, "version"));
    socket_report(d);
    token_report(d);
}

/* The server's own, which it starts again by itself. False: it is well, or there is to be none. */
static bool own_runner_report(struct doctor *d)
{
    const struct json *ready;

    if (get(d, "/ready", &ready))
        return false;
    const struct json *own = json_get(ready, "runner");
    str state = json_str(own, "state"), end = json_str(own, "last_end");
    if (str_eq(state, STR("ended")))
        doctor_report(d, DOCTOR_WARN, "runner",
                      STR("see runner.log in the server's data directory"),
                      "the server's own has ended: " STR_FMT "; it is started again in %lld ms",
                      STR_ARG(end), (long long)json_int_or(own, "again_in_ms", 0));
    else if (str_eq(state, STR("removed")))
        doctor_report(d, DOCTOR_WARN, "runner", STR("stop the server, then: baton serve"),
                      "the server's own was removed by the operator");
    else
        return false;
    return true;
}

void doctor_runner(struct doctor *d)
{
    const struct json *answer, *runners;
    size_t alive = 0;

    if (!d->works) {
        doctor_report(d, DOCTOR_SKIP, "runner", STR(""), "there is no server to ask");
        return;
    }
    if (own_runner_report(d))
        return;
    err e = get(d, "/runners", &answer);
    if (e) {
        doctor_report(d, DOCTOR_SKIP, "runner", STR(""), "this token may not ask");
        return;
    }
    runners = json_get(answer, "runners");
    for (uint32_t i = 0; json_is(runners, JSON_ARRAY) && i < runners->len; i++)
        alive += json_bool_or(&runners->items[i], "alive", false);
    if (alive)
        doctor_report(d, DOCTOR_OK, "runner", STR(""), "%zu can run agents", alive);
    else
        doctor_report(d, DOCTOR_WARN, "runner", STR("baton runner"),
                      "there is none: agents that are started wait until there is one");
}

/* What agents that a person starts here have in common. */
void doctor_project(struct doctor *d)
{
    struct init_project p;

    if (!d->works) {
        doctor_report(d, DOCTOR_SKIP, "project", STR(""), "there is no server to ask");
        return;
    }
    err e = init_project_find(&d->caller, d->arena, d->root, &p);
    if (e && e->kind == ERR_FORBIDDEN)
        doctor_report(d, DOCTOR_SKIP, "project", STR(""), "this token may not ask");
    else if (e)
        doctor_report(d, DOCTOR_FAIL, "project", STR(""), STR_FMT, STR_ARG(e->message));
    else if (p.name.len)
        doctor_report(d, DOCTOR_OK, "project", STR(""),
                      STR_FMT ": agents that are started here share the state " STR_FMT,
                      STR_ARG(p.name), STR_ARG(p.state_id));
    else
        doctor_report(d, DOCTOR_WARN, "project", STR("baton init"),
                      "the server knows no project of " STR_FMT
                      ": agents that are started here share nothing",
                      STR_ARG(p.top));
}
