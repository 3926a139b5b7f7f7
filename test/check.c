/* check.c: runs the tests that check.h registered.
 *
 *   baton-test [--list] [--jobs N] [--totals FILE] [PATTERN]…
 *
 * A pattern is a glob over a test's name, or else any part of its name or file.
 *
 * Each test is a child process, the leader of its own process group, in an
 * empty directory. It tells how it went in a report, a file of lines that each
 * begin with a mark; what it prints is shown only when it fails. So a test may
 * crash, hang, print, or leave files and processes behind, and none of it
 * reaches the next. A service is a child like them that nobody waits for: it is
 * ready when it closes its end of a pipe, which all tests see at once. */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_S 20 /* as check.h says */
#define OUTPUT_SHOWN 16384
#define REPORT_MAX (1 << 20)
#define JOBS_MAX 64
#define LONG_S 480                /* a limit from which on a test is a long one */
#define WALL_FACTOR 8             /* of its limit: whatever the machine does, it is stuck then */
#define SLOW_S 5                  /* from here on it is worth a line */
#define MEMORY_BYTES (1ull << 30) /* that services and tests may fill */

/* Sanitized code is slower, and slower still on a busy machine. */
#ifdef __SANITIZE_ADDRESS__
#define LIMIT_FACTOR 4
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "print_stacktrace=1";
}
#else
#define LIMIT_FACTOR 1
#endif

enum mark {
    FAILURE = 'f',
    SKIP = 's',
    NOTE = 'n',
    READY = 'r', /* of a service: how to reach it */
    END = '.',   /* the test came to its end: exit(0) alone is not enough */
};

enum outcome { PASSED, FAILED, SKIPPED, OUTCOMES };

struct job {
    const struct test *test;
    pid_t pid; /* 0: this place is free */
    int report_fd, output_fd;
    double started, looked, deadline;
    double work, idle; /* its own, and the machine's, when it was looked at last, in seconds */
    bool late;
    char dir[64];
    char memory[64]; /* where it may have made another; empty: there is no room */
};

static struct test *tests;
static struct service *services; /* that were started */
static int test_count;
static int totals[OUTCOMES];
static int report_fd = -1; /* in a test's process: its report */
static _Thread_local struct arena
    *arena;                    /* in a test's process: the memory of one of its threads */
static const char *own_memory; /* in a test's process: its folder there */

void check_register(struct test *t)
{
    t->next = tests;
    tests = t;
    test_count++;
}

/* ---- what a test calls, in its own process ---- */

/* Writes a text to the report, each of its lines marked. */
static void report(enum mark mark, const char *place, const char *format, va_list args)
{
    char *text;
    if (vasprintf(&text, format, args) < 0)
        abort();
    dprintf(report_fd, "%c%s", mark, place);
    for (char *line = text, *end; line; line = end) {
        if ((end = strchr(line, '\n')))
            *end++ = '\0';
        dprintf(report_fd, "%s\n", line);
        if (end)
            dprintf(report_fd, "%c", mark);
    }
    free(text);
}

void check_fail(const char *file, int line, const char *format, ...)
{
    char place[256];
    va_list args;
    va_start(args, format);
    snprintf(place, sizeof(place), "%s:%d: ", file, line);
    report(FAILURE, place, format, args);
    va_end(args);
    fflush(NULL);
    _exit(1);
}

void check_skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(SKIP, "", format, args);
    va_end(args);
    _exit(0);
}

void check_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(NOTE, "", format, args);
    va_end(args);
}

void check_int(const char *file, int line, const char *what, long long found, long long expected)
{
    if (found != expected)
        check_fail(file, line, "%s\n  expected: %lld\n  found:    %lld", what, expected, found);
}

/* Part of a text as it can be shown: bytes that would upset a terminal are escaped, and of a long
 * text only the neighbourhood of `at` is left. */
static char *shown(str s, size_t at)
{
    enum { BEFORE = 60, AFTER = 200 };
    size_t from = at > BEFORE ? at - BEFORE : 0;
    size_t to = s.len - at > AFTER ? at + AFTER : s.len;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fputs(from ? "…" : "", out);
    for (size_t i = from; i < to; i++) {
        unsigned char c = (unsigned char)s.at[i];
        fprintf(out, c < 32 || c == 127 ? "\\x%02x" : "%c", c);
    }
    fputs(to < s.len ? "…" : "", out);
    fclose(out);
    return text;
}

void check_str(const char *file, int line, const char *what, str found, const char *expected)
{
    str want = str_from(expected);
    size_t at = 0;

    if (str_eq(found, want))
        return;
    while (at < found.len && at < want.len && found.at[at] == want.at[at])
        at++;
    check_fail(file, line, "%s\n  expected: %s\n  found:    %s\n  which differ from byte %zu on",
               what, shown(want, at), shown(found, at), at);
}

void check_has(const char *file, int line, const char *what, str found, const char *part)
{
    if (!str_contains(found, str_from(part)))
        check_fail(file, line, "%s\n  expected in it: %s\n  found:          " STR_FMT, what, part,
                   STR_ARG(found));
}

void check_ok(const char *file, int line, const char *what, err e)
{
    if (e)
        check_fail(file, line, "%s\n  expected: success\n  found:    %s: " STR_FMT, what,
                   error_kind_info(e->kind)->name, STR_ARG(e->message));
}

void check_err(const char *file, int line, const char *what, err e, enum error_kind kind,
               const char *kind_name)
{
    if (!e)
        check_fail(file, line, "%s\n  expected: %s\n  found:    success", what, kind_name);
    if (e->kind != kind)
        check_fail(file, line, "%s\n  expected: %s\n  found:    %s: " STR_FMT, what, kind_name,
                   error_kind_info(e->kind)->name, STR_ARG(e->message));
}

/* What a test's other threads leave is looked at when they have ended, and goes with the process; the
 * leak check must find who knows of it. */
static void arena_keep(struct arena *of_thread)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct kept {
        struct arena *arena;
        struct kept *next;
    } * all;
    struct kept *k = mem_alloc(sizeof *k);

    pthread_mutex_lock(&mutex);
    *k = (struct kept){ of_thread, all };
    all = k;
    pthread_mutex_unlock(&mutex);
}

struct arena *check_arena(void)
{
    if (arena)
        return arena;
    arena = arena_new();
    if (gettid() != getpid())
        arena_keep(arena);
    return arena;
}

static void release(void *of_test)
{
    arena_free(of_test);
}

struct arena *check_arena_new(void)
{
    struct arena *a = arena_new();

    arena_on_release(check_arena(), release, a);
    return a;
}

str check_read(const char *path)
{
    struct buf b = buf_in(check_arena());
    FILE *in = fopen(path, "re");
    size_t n;

    if (!in)
        check_fail(__FILE__, __LINE__, "%s: %s", path, strerror(errno));
    while ((n = fread(buf_reserve(&b, 65536), 1, 65536, in)) > 0)
        b.len += n;
    if (ferror(in))
        check_fail(__FILE__, __LINE__, "%s: %s", path, strerror(errno));
    fclose(in);
    return buf_str(&b);
}

void check_write(const char *path, str text)
{
    FILE *out = fopen(path, "we");

    if (!out || fwrite(text.at, 1, text.len, out) != text.len || fclose(out) != 0)
        check_fail(__FILE__, __LINE__, "%s: %s", path, strerror(errno));
}

const char *check_source(const char *path)
{
    return arena_printf(check_arena(), "%s/%s", SOURCE_DIR, path).at;
}

const char *check_suite(const char *name)
{
    const char *suites = getenv("BATON_SUITES");
    if (!suites)
        suites = check_source("../shared/suites");
    const char *path = arena_printf(check_arena(), "%s/%s", suites, name).at;
    if (access(path, R_OK) != 0)
        check_skip("the suite %s is not here: set BATON_SUITES to the folder that holds it", name);
    return path;
}

/* ---- reports ---- */

/* What a memory file holds, or the end of it, as a string to be freed. */
static char *slurp(int fd, off_t most)
{
    off_t size = lseek(fd, 0, SEEK_END);
    off_t from = size > most ? size - most : 0;
    char *text = mem_alloc((size_t)(size - from) + 1);
    ssize_t n = pread(fd, text, (size_t)(size - from), from);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

/* The first line that has the mark; NULL: none has. */
static const char *marked(const char *text, char mark)
{
    for (const char *line = text; *line; line = next_line(line))
        if (*line == mark)
            return line;
    return NULL;
}

static bool has(const char *text, char mark)
{
    return marked(text, mark) != NULL;
}

/* The first line that has the mark, without it; empty: none has. */
static str told(const char *text, char mark)
{
    const char *line = marked(text, mark);

    return line ? arena_copy(check_arena(), (str){ line + 1, strcspn(line + 1, "\n") }) : STR("");
}

const char *check_memory_folder(void)
{
    if (!own_memory || !*own_memory)
        return ".";
    CHECK(mkdir(own_memory, 0711) == 0 || errno == EEXIST);
    return own_memory;
}

/* ---- services, as those see them who offer and who use them ---- */

static struct service *own_service; /* in a service's process */

void check_serve(const char *how)
{
    sigset_t end;
    int got;

    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, NULL);
    dprintf(report_fd, "%c%s\n", READY, how);
    close(own_service->ready[1]);
    sigwait(&end, &got);
}

str check_service(struct service *s)
{
    struct pollfd wait = { s->ready[0], POLLIN, 0 };

    CHECK(s->job); /* else the test was not registered as one that uses it */
    while (poll(&wait, 1, -1) < 0)
        CHECK(errno == EINTR);
    char *text = slurp(s->job->report_fd, REPORT_MAX);
    if (has(text, SKIP))
        check_skip("%s", told(text, SKIP).at);
    if (!has(text, READY))
        check_fail(__FILE__, __LINE__, "%s does not start: %s", s->name, told(text, FAILURE).at);
    str how = told(text, READY);
    free(text);
    return how;
}

/* ---- the runner: one test from start to end ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int limit_s(const struct test *t)
{
    return (t->limit_s ? t->limit_s : LIMIT_S) * LIMIT_FACTOR;
}

/* ---- the runner: limits count work, and only where nobody works, seconds ---- */

/* What all processes of a group have used of processors, and those of theirs that have ended. */
static double group_work(pid_t group)
{
    double ticks = 0;
    struct dirent *entry;
    DIR *all = opendir("/proc");

    while (all && (entry = readdir(all))) {
        char path[64], text[1024];
        unsigned long long user, system, below_user, below_system;
        int in;
        snprintf(path, sizeof path, "/proc/%.20s/stat", entry->d_name);
        FILE *f = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "re") : NULL;
        if (!f)
            continue;
        size_t n = fread(text, 1, sizeof text - 1, f);
        fclose(f);
        text[n] = '\0';
        const char *rest = strrchr(text, ')'); /* a name may have anything in it */
        if (rest &&
            sscanf(rest, ") %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu", &in,
                   &user, &system, &below_user, &below_system) == 5 &&
            in == group)
            ticks += (double)(user + system + below_user + below_system);
    }
    if (all)
        closedir(all);
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

/* For how long the processors had nothing to do, on average. */
static double machine_idle(void)
{
    unsigned long long idle = 0, waits = 0;
    FILE *f = fopen("/proc/stat", "re");

    if (f && fscanf(f, "cpu %*u %*u %*u %llu %llu", &idle, &waits) != 2)
        idle = waits = 0;
    if (f)
        fclose(f);
    return (double)(idle + waits) / (double)sysconf(_SC_CLK_TCK) /
           (double)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Whether it is over its limit now that the seconds of it are over: it has used as much of a
 * processor; or it could have, and did not. Else others had them, and it gets more time. */
static bool job_is_late(struct job *j)
{
    double limit = limit_s(j->test), work = group_work(j->pid), idle = machine_idle();
    double since = now() - j->looked;
    bool worked = work - j->work > since / 10, others = idle - j->idle < since / 4;

    if (work >= limit || (!worked && !others) || now() - j->started >= WALL_FACTOR * limit)
        return true;
    j->work = work;
    j->idle = idle;
    j->looked = now();
    j->deadline = j->looked + limit / 2;
    return false;
}

static void die(const char *what)
{
    fprintf(stderr, "baton-test: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void child(struct job *j)
{
    sigset_t none;
    struct rlimit no_core = { 0, 0 };

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* A shell that runs us in the background, and nohup, have them ignored. */
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    setrlimit(RLIMIT_CORE, &no_core);
    int nothing = open("/dev/null", O_RDONLY);
    if (chdir(j->dir) != 0 || dup2(nothing, 0) < 0 || dup2(j->output_fd, 1) < 0 ||
        dup2(j->output_fd, 2) < 0)
        _exit(2);

    report_fd = j->report_fd;
    own_memory = j->memory;
    j->test->run();
    if (arena)
        arena_free(arena);
    arena = NULL;
    dprintf(report_fd, "%c\n", END);
    exit(0); /* not _exit: the leak check of a sanitized build runs here */
}

static const char *disk_folder(void)
{
    const char *tmp = getenv("TMPDIR");

    return tmp && strlen(tmp) < 40 ? tmp : "/tmp";
}

/* NULL: there is not enough of it. */
static const char *memory_folder(void)
{
    static const char memory[] = "/dev/shm";
    struct statvfs room;

    return statvfs(memory, &room) == 0 && access(memory, W_OK) == 0 &&
                   (unsigned long long)room.f_bavail * room.f_bsize >= MEMORY_BYTES
               ? memory
               : NULL;
}

static void job_start(struct job *j, const struct test *t, const char *folder)
{
    snprintf(j->dir, sizeof(j->dir), "%s/baton-test-XXXXXX", folder);
    if (!mkdtemp(j->dir))
        die(j->dir);
    j->memory[0] = '\0';
    if (memory_folder())
        snprintf(j->memory, sizeof j->memory, "%s%s-more", memory_folder(), strrchr(j->dir, '/'));
    j->test = t;
    j->late = false;
    j->started = j->looked = now();
    j->deadline = j->started + limit_s(t);
    j->work = 0;
    j->idle = machine_idle();
    j->report_fd = memfd_create("report", MFD_CLOEXEC);
    j->output_fd = memfd_create("output", MFD_CLOEXEC);
    if (j->report_fd < 0 || j->output_fd < 0)
        die("memfd_create");
    j->pid = fork();
    if (j->pid < 0)
        die("fork");
    if (j->pid == 0)
        child(j);
    setpgid(j->pid, j->pid); /* the child does too: whoever comes first */
}

/* Prints the lines that have the mark, without it; or all lines when `mark` is 0. */
static void show(const char *text, char mark, const char *before, const char *name)
{
    for (const char *line = text; *line; line = next_line(line)) {
        if (mark && *line != mark)
            continue;
        const char *from = mark ? line + 1 : line;
        printf("%s%s%.*s\n", before, name, (int)strcspn(from, "\n"), from);
    }
}

static void show_failure(const struct job *j, int status, const char *text)
{
    char *output = slurp(j->output_fd, OUTPUT_SHOWN);

    printf("FAIL %s (%s:%d)\n", j->test->name, j->test->file, j->test->line);
    if (has(text, FAILURE))
        show(text, FAILURE, "     ", "");
    else if (j->late)
        printf("     took longer than %d s of a processor, or did nothing for as long\n",
               limit_s(j->test));
    else if (WIFSIGNALED(status))
        printf("     ended by signal %d, %s\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        printf("     exited with status %d\n", WEXITSTATUS(status));
    else
        printf("     exited before its end\n");
    show(output, 0, "     | ", "");
    free(output);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)ftw;
    return type == FTW_DP ? rmdir(path) : unlink(path);
}

static void job_clear(struct job *j)
{
    if (j->pid)
        kill(-j->pid, SIGKILL); /* whatever the test has left running */
    nftw(j->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (*j->memory)
        nftw(j->memory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    close(j->report_fd);
    close(j->output_fd);
    j->pid = 0;
}

static void job_end(struct job *j, int status)
{
    char *text = slurp(j->report_fd, REPORT_MAX);
    char name[256];
    enum outcome outcome = FAILED;

    if (status == 0 && !j->late && !has(text, FAILURE))
        outcome = has(text, SKIP) ? SKIPPED : has(text, END) ? PASSED : FAILED;
    totals[outcome]++;
    snprintf(name, sizeof(name), "%s: ", j->test->name);
    if (outcome == FAILED)
        show_failure(j, status, text);
    double took = now() - j->started;
    if (took >= SLOW_S)
        printf("slow %s: %.0f s\n", j->test->name, took);
    show(text, SKIP, "skip ", name);
    show(text, NOTE, "note ", name);
    fflush(stdout);
    job_clear(j);
    free(text);
}

/* ---- the runner: services ---- */

static void service_start(struct service *s)
{
    if (s->job)
        return;
    s->job = mem_alloc(sizeof *s->job);
    s->as_test = (struct test){ .name = s->name, .run = s->run };
    if (pipe2(s->ready, O_CLOEXEC) != 0)
        die("pipe2");
    const char *memory = memory_folder(); /* nobody needs its files for long */
    own_service = s;
    job_start(s->job, &s->as_test, memory ? memory : disk_folder());
    own_service = NULL;
    close(s->ready[1]);
    s->next = services;
    services = s;
}

/* One that could not start has ended, but for its report. */
static void service_ended(pid_t pid)
{
    for (struct service *s = services; s; s = s->next)
        if (s->job->pid == pid)
            s->job->pid = 0;
}

static void services_end(void)
{
    for (struct service *s = services; s; s = s->next) {
        if (s->job->pid && kill(s->job->pid, SIGTERM) == 0)
            waitpid(s->job->pid, NULL, 0);
        job_clear(s->job);
        close(s->ready[0]);
        mem_free(s->job);
    }
}

/* ---- the runner: all of them ---- */

/* Sleeps until a child ends or the next limit passes, and ends what is over its limit. */
static void wait_for_news(struct job *jobs, int n, const sigset_t *child_signal)
{
    double next = now() + 60;
    for (int i = 0; i < n; i++)
        if (jobs[i].pid && !jobs[i].late && jobs[i].deadline < next)
            next = jobs[i].deadline;
    double wait = next > now() ? next - now() : 0;
    struct timespec t = { (time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9) };
    sigtimedwait(child_signal, NULL, &t);

    for (int i = 0; i < n; i++)
        if (jobs[i].pid && !jobs[i].late && jobs[i].deadline <= now() && job_is_late(&jobs[i])) {
            jobs[i].late = true;
            kill(-jobs[i].pid, SIGKILL);
        }
}

static void run_all(const struct test **chosen, int count, int places)
{
    struct job jobs[JOBS_MAX] = { 0 };
    sigset_t child_signal;
    int next = 0, running = 0, status;

    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_signal, NULL);
    while (next < count || running > 0) {
        for (int i = 0; i < places && next < count; i++)
            if (!jobs[i].pid) {
                if (chosen[next]->service)
                    service_start(chosen[next]->service);
                job_start(&jobs[i], chosen[next++], disk_folder()), running++;
            }
        wait_for_news(jobs, places, &child_signal);
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
            for (int i = 0; i < places; i++)
                if (jobs[i].pid == pid)
                    job_end(&jobs[i], status), running--;
            service_ended(pid);
        }
    }
    services_end();
}

static int by_place(const void *a, const void *b)
{
    const struct test *x = *(const struct test *const *)a, *y = *(const struct test *const *)b;
    int order = strcmp(x->file, y->file);
    return order ? order : x->line - y->line;
}

/* Those that may take longest begin first, so that none of them is left alone at the end. */
static int by_turn(const void *a, const void *b)
{
    const struct test *x = *(const struct test *const *)a, *y = *(const struct test *const *)b;
    int order = y->limit_s - x->limit_s;

    return order && (x->limit_s >= LONG_S || y->limit_s >= LONG_S) ? order : by_place(a, b);
}

static bool matches(const struct test *t, char **patterns)
{
    for (char **p = patterns; *p; p++)
        if (strpbrk(*p, "*?[") ? fnmatch(*p, t->name, 0) == 0
                               : strstr(t->name, *p) || strstr(t->file, *p))
            return true;
    return !*patterns;
}

static void list_all(const struct test **chosen, int count)
{
    for (int i = 0; i < count; i++)
        printf("%s:%d %s\n", chosen[i]->file, chosen[i]->line, chosen[i]->name);
}

static void append_totals(const char *path)
{
    FILE *out = fopen(path, "a");
    if (!out)
        die(path);
    fprintf(out, "%d %d %d\n", totals[PASSED], totals[FAILED], totals[SKIPPED]);
    fclose(out);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "list", no_argument, NULL, 'l' },
        { "jobs", required_argument, NULL, 'j' },
        { "totals", required_argument, NULL, 't' },
        { 0 },
    };
    const char *totals_path = NULL;
    bool list = false;
    long places = sysconf(_SC_NPROCESSORS_ONLN) + 1; /* some wait for something */
    int count = 0;
    double start = now();

    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (o) {
        case 'l': list = true; break;
        case 'j': places = atol(optarg); break;
        case 't': totals_path = optarg; break;
        default: return 2;
        }

    const struct test **chosen = mem_alloc((size_t)(test_count + 1) * sizeof(*chosen));
    for (const struct test *t = tests; t; t = t->next)
        if (matches(t, argv + optind))
            chosen[count++] = t;
    qsort(chosen, (size_t)count, sizeof(*chosen), list ? by_place : by_turn);
    if (list)
        list_all(chosen, count);
    else
        run_all(chosen, count, places < 1 ? 1 : places > JOBS_MAX ? JOBS_MAX : (int)places);
    free(chosen);
    if (totals_path)
        append_totals(totals_path);
    if (!list)
        printf("%d tests: %d passed, %d failed, %d skipped, in %.1f s\n", count, totals[PASSED],
               totals[FAILED], totals[SKIPPED], now() - start);
    return totals[FAILED] > 0 || count == 0;
}
