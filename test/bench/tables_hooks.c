/* tables_hooks.c: how long an agent waits for a hook, which is a process of its own each time. */
#define _GNU_SOURCE
#include "bench/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench/set.h"

enum { RUNS = 300 };

#define CLIENT "\"session_id\":\"b2f1c8de-3a57-4c1e-9d57-0f6a8f3f2c11\",\"cwd\":\"/tmp\","
#define START "{" CLIENT "\"hook_event_name\":\"SessionStart\",\"source\":\"startup\"}"
#define TOOL                                                                                 \
    "{" CLIENT "\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Edit\",\"tool_use_id\":" \
    "\"toolu_01\",\"tool_input\":{\"file_path\":\"/tmp/parser.c\",\"old_string\":\"a\","     \
    "\"new_string\":\"b\"},\"tool_response\":{\"filePath\":\"/tmp/parser.c\",\"success\":true}}"
#define STOP                                                              \
    "{" CLIENT "\"hook_event_name\":\"Stop\",\"stop_hook_active\":false," \
    "\"last_assistant_message\":\"The tests of the parser pass.\",\"background_tasks\":[]}"

/* A program, and what it reads. */
struct hook {
    const char *name;
    const char *const *words;
    const char *folder; /* of its server */
    const char *event;
    const char *path; /* where that is written */
    double us[RUNS], cpu_us[RUNS];
};

static void event_write(struct hook *h, struct arena *a, const struct bench_paths *s, int number)
{
    h->path = arena_printf(a, "%s/hook-%d.json", s->folder, number).at;
    FILE *file = fopen(h->path, "w");
    if (!file || fputs(h->event, file) < 0 || fclose(file) != 0)
        fail("cannot write", str_from(h->path));
}

static void hook_run(struct hook *h, double *us, double *cpu_us)
{
    posix_spawn_file_actions_t files;
    struct rusage used;
    int status;
    pid_t pid;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, h->path, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    setenv("BATON_DATA", h->folder, 1);
    double began = now_s();
    int failed = posix_spawnp(&pid, h->words[0], &files, NULL, (char *const *)h->words, environ);
    if (failed)
        fail(h->words[0], str_from(strerror(failed)));
    if (wait4(pid, &status, 0, &used) != pid || status != 0)
        fail(h->name, STR("did not end with 0"));
    *us = (now_s() - began) * 1e6;
    *cpu_us = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
              (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    posix_spawn_file_actions_destroy(&files);
}

static double hook_print(struct hook *h)
{
    double p50 = median(h->us, RUNS), p99 = h->us[RUNS * 99 / 100]; /* they are in order now */

    printf("%-30s", h->name);
    report_us(p50);
    report_us(p99);
    report_us(median(h->cpu_us, RUNS));
    putchar('\n');
    return p99;
}

/* What is told with an event is committed before the agent goes on: so much of it is that. */
static void write_print(const struct target *t)
{
    struct load_result r = traffic_round(
        &(struct contestant){
            .name = "PATCH",
            .port = t->port,
            .pid = t->pid,
            .connections = 1,
            .traffic = { .kind = TRAFFIC_PATCH, .token = t->token, .count = SMALL_STATES } },
        0.5);

    printf("%-30s", "PATCH of a state, by HTTP");
    report_us(r.p50_us);
    report_us(r.p99_us);
    report_us(r.cpu_us);
    putchar('\n');
}

void table_hooks(const struct bench_paths *s, const struct target *t)
{
    struct arena *a = arena_new();
    const char *up = bench_path(a, s, "server").at, *none = bench_path(a, s, "none").at;
    const char *const words[] = { s->program, "hook", "claude", NULL }, *const empty[] = { "true",
                                                                                           NULL };
    struct hook start = { .name = "SessionStart", .words = words, .folder = up, .event = START };
    struct hook all[] = {
        { .name = "true, which does nothing", .words = empty, .folder = up, .event = "" },
        { .name = "PostToolUse", .words = words, .folder = up, .event = TOOL },
        { .name = "Stop", .words = words, .folder = up, .event = STOP },
        { .name = "PostToolUse, no server", .words = words, .folder = none, .event = TOOL },
        { .name = "Stop, no server", .words = words, .folder = none, .event = STOP },
    };
    enum { COUNT = sizeof all / sizeof *all };
    double worst = 0;

    event_write(&start, a, s, COUNT);
    hook_run(&start, &start.us[0], &start.cpu_us[0]);
    for (int i = 0; i < COUNT; i++)
        event_write(&all[i], a, s, i);
    for (int n = 0; n < RUNS; n++)
        for (int i = 0; i < COUNT; i++)
            hook_run(&all[i], &all[i].us[n], &all[i].cpu_us[n]);
    unsetenv("BATON_DATA");
    report_title("baton hook claude", "      p50       p99       cpu");
    for (int i = 0; i < COUNT; i++) {
        double p99 = hook_print(&all[i]);
        worst = i > 0 && p99 > worst ? p99 : worst;
    }
    write_print(t);
    goal_most("p99 at most 10 ms", worst / 1e3, 10);
    arena_free(a);
}
