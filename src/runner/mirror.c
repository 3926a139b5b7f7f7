/* mirror.c: the process that keeps files of workflows, and the server told of files of agents. */
#define _GNU_SOURCE
#include "runner/mirror.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "client/caller.h"
#include "client/socket.h"
#include "os/fd.h"
#include "os/program.h"
#include "runner/folder.h"
#include "runner/mirror_file.h"
#include "runner/offer.h"
#include "runner/report.h"

enum {
    ANSWER_MORE_MS = 15000, /* beyond the time that the server waits */
    CALL_MS = 15000,
    SETTLE_MS = 100, /* between two answers: what changes at once is written once */
    PAUSE_MOST_MS = 15000,
    UNKNOWN_MS = 60000, /* for a server that knows no such files, or us no more */
    RECORDS_MAX = 2000,
    DETAIL_MAX = 300,
};

struct file {
    str project, folder, path;
    str text;
    char sha256[SHA256_TEXT];
    bool known;              /* there is a text */
    struct mirror_seen seen; /* after it was last written, or found as it is to be */
    const char *found;       /* that the server has not heard of yet; NULL: nothing */
    str detail;
    bool blocked; /* as the server was told last */
};

struct keeper {
    const struct runner_options *o;
    str runner_id;
    int64_t look_ms;
    struct caller caller;
    struct offer offer;
    struct arena *turn; /* of one round */
    int64_t seq;        /* of the last answer; 0: everything is to be told */
    int failures;

    struct arena *arena; /* of the files */
    struct file *files;
    size_t count;

    struct arena *records_arena;
    struct json records; /* whole path → what we wrote there, and before */
};

/* ---- what we wrote ---- */

static str records_path(struct keeper *k)
{
    return folder_path(k->turn, k->o->home, "mirrors.json");
}

static void records_load(struct keeper *k)
{
    const struct json *parsed;
    str text;

    k->records = json_object();
    err e = folder_read(k->turn, records_path(k), &text);
    if (e || json_parse(k->turn, text, NULL, &parsed) || !json_is(parsed, JSON_OBJECT))
        return;
    k->records = json_copy(k->records_arena, parsed);
}

static err records_store(struct keeper *k)
{
    str path = records_path(k), fresh = folder_path(k->turn, k->o->home, "mirrors.json.new");

    unlink(fresh.at);
    TRY(folder_write(k->turn, fresh, json_printed(k->turn, &k->records), NULL));
    if (rename(fresh.at, path.at) < 0)
        return err_new(k->turn, ERR_UNAVAILABLE, STR_FMT ": cannot write it: %s", STR_ARG(path),
                       strerror(errno));
    return NULL;
}

static str whole_path(struct keeper *k, const struct file *f)
{
    return arena_printf(k->turn, STR_FMT "/" STR_FMT, STR_ARG(f->folder), STR_ARG(f->path));
}

/* Whether these bytes are ours: the last that we wrote there, or the ones before, if we were killed
 * between noting and writing. */
static bool is_ours(const struct json *record, const char *sha256)
{
    for (uint32_t i = 0; json_is(record, JSON_ARRAY) && i < record->len; i++)
        if (json_is(&record->items[i], JSON_STRING) && sha256[0] &&
            str_eq(json_text(&record->items[i]), str_from(sha256)))
            return true;
    return false;
}

/* Noted first, and then written. The arena is begun anew now and then, with the newest of all. */
static err record_put(struct keeper *k, const struct file *f, const char *before)
{
    str path = whole_path(k, f);
    struct arena *fresh = arena_new();
    struct json all = json_object(), own = json_array();
    uint32_t from = k->records.len > RECORDS_MAX ? k->records.len - RECORDS_MAX : 0;

    for (uint32_t i = from; i < k->records.len; i++)
        if (!str_eq(json_name(&k->records.members[i]), path))
            json_put(fresh, &all, arena_copy(fresh, json_name(&k->records.members[i])),
                     json_copy(fresh, &k->records.members[i].value));
    json_push(fresh, &own, json_string(arena_copy(fresh, str_from(f->sha256))));
    if (before[0])
        json_push(fresh, &own, json_string(arena_copy(fresh, str_from(before))));
    json_put(fresh, &all, arena_copy(fresh, path), own);
    k->records = all;
    arena_free(k->records_arena);
    k->records_arena = fresh;
    return records_store(k);
}

/* ---- one file ---- */

static void note(struct keeper *k, struct file *f, const char *found, str detail)
{
    f->found = found;
    f->detail = arena_copy(k->arena, utf8_cut(detail, DETAIL_MAX));
    log_warn("mirror.found", LOG_S("path", whole_path(k, f)), LOG_S("found", str_from(found)),
             LOG_S("detail", f->detail));
}

/* What is there is not what is to be there. */
static err file_replace(struct keeper *k, struct file *f, int dir, str name)
{
    const struct json *record = json_find(&k->records, whole_path(k, f));
    struct mirror_seen was = f->seen;
    str kept;

    if (was.there && !record) {
        TRY(mirror_set_aside(k->turn, dir, name, &kept));
        note(k, f, "edited",
             arena_printf(k->turn, "it was there before, and is kept as " STR_FMT, STR_ARG(kept)));
    } else if (record && !was.there) {
        note(k, f, "deleted", STR(""));
    } else if (record && !is_ours(record, was.sha256)) {
        note(k, f, "edited", STR(""));
    }
    TRY(record_put(k, f, is_ours(record, was.sha256) ? was.sha256 : ""));
    TRY(mirror_put(k->turn, dir, name, f->text, &f->seen));
    log_info("mirror.write", LOG_S("path", whole_path(k, f)), LOG_N("bytes", (int64_t)f->text.len));
    return NULL;
}

static err file_settle(struct keeper *k, struct file *f)
{
    const struct json *record = json_find(&k->records, whole_path(k, f));
    int dir = -1;
    str name;
    err e = mirror_folder_open(k->turn, f->folder, f->path, &dir, &name);

    if (e)
        return e;
    mirror_look(k->turn, dir, name, &f->seen);
    if (!f->seen.there || strcmp(f->seen.sha256, f->sha256) != 0)
        e = file_replace(k, f, dir, name);
    else if (!is_ours(record, f->sha256))
        e = record_put(k, f, "");
    close(dir);
    return e;
}

/* ---- telling the server ---- */

static err tell(struct keeper *k, const struct file *f, const char *found, str detail)
{
    struct json body = json_object();
    const struct json *answer;
    struct arena *a = k->turn;

    json_put(a, &body, STR("runner_id"), json_string(k->runner_id));
    json_put(a, &body, STR("project"), json_string(f->project));
    json_put(a, &body, STR("path"), json_string(f->path));
    json_put(a, &body, STR("found"), json_string(str_from(found)));
    if (detail.len)
        json_put(a, &body, STR("detail"), json_string(detail));
    struct call call = { .method = "POST",
                         .pattern = "/runner/mirrors",
                         .body = json_printed(a, &body),
                         .key = idempotency_key(a),
                         .timeout_ms = CALL_MS };
    return caller_call(&k->caller, a, &call, &answer);
}

/* One that cannot be written is told once, and once more when it can. */
static void file_keep(struct keeper *k, struct file *f)
{
    err e = f->known ? file_settle(k, f) : NULL;

    if (e && !f->blocked)
        note(k, f, "blocked", e->message);
    if (!e && f->blocked && !f->found)
        f->found = "written";
    if (!f->found || tell(k, f, f->found, f->detail))
        return;
    f->blocked = strcmp(f->found, "blocked") == 0;
    f->found = NULL;
}

/* ---- all of them ---- */

static const struct file *file_find(const struct keeper *k, str folder, str path)
{
    for (size_t i = 0; i < k->count; i++)
        if (str_eq(k->files[i].path, path) && str_eq(k->files[i].folder, folder))
            return &k->files[i];
    return NULL;
}

/* One that is as it was has no text in the answer. */
static void file_take(struct keeper *k, struct arena *a, const struct json *project,
                      const struct json *said, struct file *out)
{
    str folder = json_str(project, "folder"), path = json_str(said, "path");
    const struct file *was = file_find(k, folder, path);
    const struct json *text = json_get(said, "text");
    unsigned char sum[SHA256_BYTES];

    *out = was ? *was : (struct file){ .known = false };
    out->project = arena_copy(a, json_str(project, "project"));
    out->folder = arena_copy(a, folder);
    out->path = arena_copy(a, path);
    out->detail = arena_copy(a, out->detail);
    out->known = out->known || json_is(text, JSON_STRING);
    out->text = arena_copy(a, json_is(text, JSON_STRING) ? json_text(text) : out->text);
    sha256(out->text, sum);
    memcpy(out->sha256, hex_encode(a, (str){ (const char *)sum, sizeof sum }).at, SHA256_TEXT);
}

static size_t files_count(const struct json *projects)
{
    size_t count = 0;

    for (uint32_t i = 0; i < projects->len; i++) {
        const struct json *files = json_get(&projects->items[i], "files");
        count += json_is(files, JSON_ARRAY) ? files->len : 0;
    }
    return count;
}

/* True: there is one of which nobody has said what is in it. */
static bool files_take(struct keeper *k, const struct json *projects)
{
    struct arena *a = arena_new();
    struct file *all = ARENA_ARRAY(a, struct file, files_count(projects));
    bool unknown = false;
    size_t count = 0;

    for (uint32_t i = 0; i < projects->len; i++) {
        const struct json *files = json_get(&projects->items[i], "files");
        for (uint32_t n = 0; json_is(files, JSON_ARRAY) && n < files->len; n++, count++) {
            file_take(k, a, &projects->items[i], &files->items[n], &all[count]);
            unknown = unknown || !all[count].known;
        }
    }
    arena_free(k->arena);
    k->arena = a;
    k->files = all;
    k->count = count;
    return unknown;
}

/* ---- rounds ---- */

static err ask(struct keeper *k, const struct json **answer)
{
    struct arena *a = k->turn;
    int64_t seconds = k->seq ? (k->look_ms + 999) / 1000 : 0;
    struct call call = { .method = "GET",
                         .pattern = "/runner/mirrors",
                         PARAMS({ "runner_id", k->runner_id },
                                { "after", arena_printf(a, "%lld", (long long)k->seq) },
                                { "timeout", arena_printf(a, "%lld", (long long)seconds) }),
                         .timeout_ms = seconds * 1000 + ANSWER_MORE_MS };

    return caller_call(&k->caller, a, &call, answer);
}

/* Who does not know us, or of such files, is asked again by and by: the runner may have registered
 * anew by then, and have started another one of us. */
static void pause_after(struct keeper *k, err e)
{
    bool away = e->kind == ERR_UNAVAILABLE || e->kind == ERR_LIMIT;

    if (!away && !k->failures)
        log_warn("mirror.call", LOG_S("error", e->message));
    k->seq = 0;
    poll(NULL, 0, away ? (int)retry_delay_ms(k->failures, PAUSE_MOST_MS) : UNKNOWN_MS);
    k->failures++;
}

static void turn(struct keeper *k)
{
    const struct json *answer, *projects;
    int64_t asked = k->seq;
    err e = ask(k, &answer);

    if (e) {
        pause_after(k, e);
        return;
    }
    k->failures = 0;
    k->seq = json_int_or(answer, "seq", 0);
    projects = json_get(answer, "projects");
    bool news = json_is(projects, JSON_ARRAY);
    if (news && files_take(k, projects) && asked)
        k->seq = 0;
    for (size_t i = 0; i < k->count; i++)
        file_keep(k, &k->files[i]);
    offer_tell(&k->offer, k->turn, &k->caller);
    poll(NULL, 0, SETTLE_MS);
}

static void mirror_run(const struct runner_options *o, str runner_id, int64_t look_ms)
{
    struct keeper k = { .o = o,
                        .runner_id = runner_id,
                        .look_ms = look_ms,
                        .turn = arena_new(),
                        .arena = arena_new(),
                        .records_arena = arena_new() };

    caller_init(&k.caller, o->data.len ? o->data.at : NULL);
    k.caller.refusal = report_refusal;
    records_load(&k);
    offer_init(&k.offer, o, runner_id);
    for (;;) {
        arena_reset(k.turn);
        turn(&k);
    }
}

/* The runner has one thread, so that anything may be called in its child. What the runner holds, its
 * directory's lock above all, is not the child's. */
pid_t mirror_start(const struct runner_options *o, str runner_id, int64_t look_ms)
{
    pid_t runner = getpid(), pid = fork();
    sigset_t none;

    if (pid < 0)
        log_warn("mirror.start", LOG_S("error", str_from(strerror(errno))));
    if (pid != 0)
        return pid > 0 ? pid : 0;
    fds_close_from(3);
    program_die_with_parent(SIGKILL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    if (getppid() == runner)
        mirror_run(o, runner_id, look_ms);
    _exit(0);
}
