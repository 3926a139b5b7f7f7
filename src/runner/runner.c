/* runner.c: a machine's worker: it claims runs and starts a keeper for each. */
#define _GNU_SOURCE
#include "runner/runner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "client/socket.h"
#include "runner/errand.h"
#include "runner/folder.h"
#include "runner/mirror.h"
#include "runner/offer.h"
#include "runner/report.h"
#include "runner/runner_private.h"

enum {
    CALL_MS = 15000,
    POLL_MORE_MS = 15000,  /* beyond the time that a claim waits */
    ALONE_MS = 60000,      /* without a server, a local runner ends */
    TAKE_OVER_MS = 5000,   /* for the runner before us to end */
    PAUSE_MOST_MS = 15000, /* between two tries */
    PAUSE_LOCAL_MS = 1000, /* the same, of a server that is about to be there */
    LOOK_AGAIN_MS = 1000,  /* when it is full */
    STOPPED_MAX = 64,      /* runs that it was told to stop lately */
    STOPPED_MS = 60000,
    READY_MS = 60000, /* for a keeper to tell that it has started */
};

/* A run that it was told to stop, and need not be told of again for a while. */
struct stopped_run {
    char id[65];
    int64_t until_ms;
};

struct worker {
    const struct runner_options *o;
    struct arena *arena; /* of one turn */
    struct caller caller;
    char id[128]; /* empty: not registered */
    int64_t poll_ms, beat_ms;
    int64_t answered_ms, beat_at_ms;
    int failures; /* one after the other */
    struct stopped_run stopped[STOPPED_MAX];
    bool over;

    bool mute;    /* the server does not want to hear of agents in files: it is an older one */
    pid_t mirror; /* the process that keeps files of workflows; 0: there is none */
};

/* ---- telling it to end ---- */

/* Whatever it was doing can be lost. */
static void on_signal(int number)
{
    (void)number;
    _exit(0);
}

static void signals_hold(bool hold)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

/* The runner of a server ends by the signal itself, so that the server can tell that from an end
 * that it has to put up with. */
static void signals_make(bool local)
{
    signal(SIGTERM, local ? SIG_DFL : on_signal);
    signal(SIGINT, local ? SIG_DFL : on_signal);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* how keepers end is seen by their locks */
    signals_hold(false);
}

/* ---- its directory ---- */

/* One that was killed may leave a child that was just forked, and holds the lock until it is a keeper:
 * that takes a moment, longer on a busy machine. */
static err take_over(struct arena *a, const struct runner_options *o, str path, int *lock)
{
    int64_t until_ms = socket_clock_ms() + TAKE_OVER_MS;
    pid_t other = folder_holder(a, path);
    bool gone = other && kill(other, 0) < 0 && errno == ESRCH;

    if (!gone && (!o->local || !other))
        return err_new(a, ERR_CONFLICT,
                       "another runner (process %d) has " STR_FMT
                       ": stop it, or give this one a directory of its own with --data DIR",
                       (int)other, STR_ARG(o->home));
    if (!gone)
        kill(other, SIGTERM);
    while (*lock < 0 && socket_clock_ms() < until_ms) {
        poll(NULL, 0, 10);
        *lock = folder_lock(a, path);
    }
    return *lock >= 0 ? NULL : err_new(a, ERR_CONFLICT, "runner %d does not end", (int)other);
}

static err home_take(struct arena *a, const struct runner_options *o)
{
    str path = folder_path(a, o->home, "runner.lock");
    int lock = folder_lock(a, path);

    if (lock < 0)
        TRY(take_over(a, o, path, &lock));
    if (ftruncate(lock, 0) < 0 || lseek(lock, 0, SEEK_SET) < 0 ||
        dprintf(lock, "%d\n", (int)getpid()) < 0)
        return err_new(a, ERR_UNAVAILABLE, STR_FMT ": %s", STR_ARG(path), strerror(errno));
    return NULL; /* it is held as long as the process lives */
}

/* What is in the environment of a process at its start can be read in /proc: the token is moved to
 * where it cannot be. */
static void token_hide(struct arena *a)
{
    char *value = getenv("BATON_TOKEN");

    if (!value)
        return;
    str copy = arena_copy(a, str_from(value));
    memset(value, 0, copy.len);
    setenv("BATON_TOKEN", copy.at, 1);
}

/* ---- requests ---- */

static err call_done(struct worker *w, err e)
{
    if (!e) {
        w->answered_ms = socket_clock_ms();
        w->failures = 0;
        return NULL;
    }
    if (e->kind != ERR_UNAVAILABLE || w->failures == 0)
        log_warn("runner.call", LOG_S("error", e->message));
    w->failures++;
    return e;
}

static err post(struct worker *w, const char *pattern, const struct json *body,
                const struct json **answer)
{
    struct call call = { .method = "POST",
                         .pattern = pattern,
                         .body = json_printed(w->arena, body),
                         .timeout_ms = CALL_MS };

    return call_done(w, caller_call(&w->caller, w->arena, &call, answer));
}

static struct json strings(struct arena *a, const str *list, size_t count)
{
    struct json all = json_array();

    for (size_t i = 0; i < count; i++)
        json_push(a, &all, json_string(list[i]));
    return all;
}

/* One that speaks for a runner that there is no more. */
static void mirror_end(struct worker *w)
{
    if (w->mirror)
        kill(w->mirror, SIGKILL);
    w->mirror = 0;
}

static err enlist(struct worker *w)
{
    const struct runner_options *o = w->o;
    struct arena *a = w->arena;
    struct json body = json_object();
    const struct json *answer;
    char host[256] = "";

    mirror_end(w);
    if (gethostname(host, sizeof host - 1) < 0)
        strcpy(host, "localhost");
    json_put(a, &body, STR("name"), json_string(o->name));
    json_put(a, &body, STR("hostname"), json_string(str_from(host)));
    json_put(a, &body, STR("tags"), strings(a, o->tags, o->tag_count));
    json_put(a, &body, STR("user"), json_string(exec_user_name(a, o->user)));
    if (o->profile_count)
        json_put(a, &body, STR("profiles"), strings(a, o->profiles, o->profile_count));
    if (o->project_dir.len && !o->local)
        json_put(a, &body, STR("project_dir"), json_string(o->project_dir));
    json_put(a, &body, STR("commands"), json_bool(o->commands));
    json_put(a, &body, STR("capacity"), json_int(a, o->capacity));
    if (!w->mute)
        json_put(a, &body, STR("agents"), offer_first(a, o));
    err e = post(w, "/runner/register", &body, &answer);
    if (e && e->kind == ERR_INVALID && !w->mute) {
        w->mute = true; /* work goes on, with the agents that are registered */
        return enlist(w);
    }
    TRY(e);

    str id = json_str(answer, "runner_id");
    if (!id.len || id.len >= sizeof w->id)
        return err_new(a, ERR_INTERNAL, "the server registered a runner without an id");
    memcpy(w->id, id.at, id.len);
    w->id[id.len] = '\0';
    w->poll_ms = json_int_or(answer, "poll_timeout_seconds", 30) * 1000;
    w->beat_ms = json_int_or(answer, "heartbeat_interval_seconds", 10) * 1000;
    log_info("runner.ready", LOG_S("runner", id), LOG_N("capacity", o->capacity));
    if (o->ready)
        o->ready(o->to, id);
    return NULL;
}

/* ---- runs ---- */

static void stopped_add(struct worker *w, str id)
{
    int64_t now = socket_clock_ms();

    for (int i = 0; i < STOPPED_MAX; i++)
        if (now >= w->stopped[i].until_ms && id.len < sizeof w->stopped[i].id) {
            memcpy(w->stopped[i].id, id.at, id.len);
            w->stopped[i].id[id.len] = '\0';
            w->stopped[i].until_ms = now + STOPPED_MS;
            return;
        }
}

static void stops_take(struct worker *w, const struct json *ids)
{
    for (uint32_t i = 0; json_is(ids, JSON_ARRAY) && i < ids->len; i++) {
        if (!json_is(&ids->items[i], JSON_STRING))
            continue;
        runs_stop(w->arena, w->o->home, json_text(&ids->items[i]));
        stopped_add(w, json_text(&ids->items[i]));
    }
}

static void errand_take(struct worker *w, const struct json *wake)
{
    if (json_is(wake, JSON_OBJECT))
        errand_start(w->arena, w->o, str_from(w->id), wake);
}

static err beat(struct worker *w, const struct json *ids)
{
    struct json body = json_object();
    const struct json *answer;

    if (socket_clock_ms() < w->beat_at_ms)
        return NULL;
    w->beat_at_ms = socket_clock_ms() + w->beat_ms;
    json_put(w->arena, &body, STR("runner_id"), json_string(str_from(w->id)));
    json_put(w->arena, &body, STR("runs"), *ids);
    TRY(post(w, "/runner/heartbeat", &body, &answer));
    stops_take(w, json_get(answer, "stop_runs"));
    errand_take(w, json_get(answer, "wake"));
    return NULL;
}

/* Until the server knows that the run has started, it would give it to us again. */
static void ready_wait(struct worker *w, int ready)
{
    struct json ids = json_array();
    int64_t until_ms = socket_clock_ms() + READY_MS;
    struct pollfd p = { .fd = ready, .events = POLLIN };

    while (poll(&p, 1, LOOK_AGAIN_MS) == 0 && socket_clock_ms() < until_ms) {
        ids.len = 0;
        runs_count(w->arena, w->o->home, &ids);
        beat(w, &ids);
    }
    close(ready);
}

static void run_take(struct worker *w, const struct json *run)
{
    str id = json_str(run, "run_id");
    int ready = -1;

    signals_hold(true);
    err e = runs_start(w->arena, w->o, str_from(w->id), run, &ready);
    signals_hold(false);
    if (!e) {
        log_info("runner.start", LOG_S("run", id), LOG_S("session", json_str(run, "session_name")));
        ready_wait(w, ready);
        return;
    }
    log_warn("runner.start", LOG_S("run", id), LOG_S("error", e->message));
    poll(NULL, 0, LOOK_AGAIN_MS);
}

/* The server has forgotten us: while we were away for long, or because somebody wants it so. */
static void removed(struct worker *w, int64_t away_ms)
{
    log_warn("runner.removed", LOG_S("runner", str_from(w->id)));
    w->id[0] = '\0';
    w->over = away_ms < ALONE_MS;
}

static err claim(struct worker *w)
{
    struct url_param params[STOPPED_MAX + 1] = { { "runner_id", str_from(w->id) } };
    struct call call = { .method = "GET",
                         .pattern = "/runner/runs",
                         .params = params,
                         .param_count = 1,
                         .once = true, /* a GET that claims */
                         .timeout_ms = w->poll_ms + POLL_MORE_MS };
    const struct json *answer;
    int64_t now = socket_clock_ms(), away_ms = now - w->answered_ms;

    for (int i = 0; i < STOPPED_MAX; i++)
        if (now < w->stopped[i].until_ms)
            params[call.param_count++] = (struct url_param){ "known", str_from(w->stopped[i].id) };
    TRY(call_done(w, caller_call(&w->caller, w->arena, &call, &answer)));
    if (json_bool_or(answer, "deregistered", false))
        removed(w, away_ms);
    stops_take(w, json_get(answer, "stop_runs"));
    errand_take(w, json_get(answer, "wake"));
    if (json_is(json_get(answer, "run"), JSON_OBJECT))
        run_take(w, json_get(answer, "run"));
    return NULL;
}

/* ---- turns ---- */

/* It may have been killed, also by us: with what a keeper has left behind. */
static void mirror_keep(struct worker *w)
{
    if (!w->mirror || (kill(w->mirror, 0) < 0 && errno == ESRCH))
        w->mirror = mirror_start(w->o, str_from(w->id), w->beat_ms);
}

static err turn(struct worker *w, int64_t *live)
{
    struct json ids = json_array();

    *live = runs_count(w->arena, w->o->home, &ids);
    if (!w->id[0])
        return enlist(w);
    mirror_keep(w);
    if (*live < w->o->capacity)
        return claim(w);
    TRY(beat(w, &ids));
    poll(NULL, 0, LOOK_AGAIN_MS);
    return NULL;
}

/* What to do when a turn failed; an error here is the end. */
static err failed(struct worker *w, err e, int64_t live)
{
    bool away = e->kind == ERR_UNAVAILABLE || e->kind == ERR_LIMIT || e->kind == ERR_INTERNAL ||
                e->kind == ERR_FULL;
    bool unknown = e->kind == ERR_UNAUTHENTICATED || e->kind == ERR_NOT_FOUND;

    if (!away && !(unknown && w->o->local))
        return e;
    if (unknown)
        w->id[0] = '\0'; /* the server has another database than the one that knew us */
    if (w->o->local && !live && socket_clock_ms() - w->answered_ms > ALONE_MS) {
        log_info("runner.alone", LOG_S("why", STR("there is no server any more")));
        return e;
    }
    poll(NULL, 0, (int)retry_delay_ms(w->failures, w->o->local ? PAUSE_LOCAL_MS : PAUSE_MOST_MS));
    return NULL;
}

static err work(struct worker *w)
{
    err e = NULL;

    while (!e && !w->over) {
        int64_t live = 0;
        arena_reset(w->arena);
        e = turn(w, &live);
        if (e)
            e = failed(w, e, live);
    }
    return e;
}

err runner_run(struct arena *a, const struct runner_options *o)
{
    struct worker w = { .o = o, .answered_ms = socket_clock_ms() };

    TRY(home_take(a, o));
    token_hide(a);
    exec_hide();
    exec_adopt();
    signals_make(o->local);
    w.arena = arena_new();
    caller_init(&w.caller, o->data.len ? o->data.at : NULL);
    w.caller.refusal = report_refusal;
    err e = work(&w);
    if (e)
        e = err_copy(a, e);
    mirror_end(&w);
    caller_release(&w.caller);
    arena_free(w.arena);
    return e;
}
