/* tables_memory.c: what it takes to be there. */
#include "bench/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/subscribers.h"
#include "bench/set.h"

enum { CONNECTIONS = 4000, LISTENERS = 500, FILES = 6000 };

/* Each has asked for something once and is kept. */
static int *connections_open(const struct target *t)
{
    int *fds = mem_alloc(CONNECTIONS * sizeof *fds);
    struct arena *a = arena_new();
    struct traffic traffic = { .kind = TRAFFIC_GET, .token = t->token, .count = SMALL_STATES };
    str body;

    for (int i = 0; i < CONNECTIONS; i++) {
        struct buf request = buf_in(a);
        traffic_request(&traffic, &request, 0, 0);
        fds[i] = load_connect(t->port);
        load_ask(fds[i], buf_str(&request));
        if (load_answer(a, fds[i], &body) != 200)
            fail("unexpected answer", body);
        arena_reset(a);
    }
    arena_free(a);
    return fds;
}

static double memory_row(const char *name, const struct target *t)
{
    double all = process_bytes(t->pid, "VmRSS");

    printf("%-30s", name);
    report_bytes(all);
    report_bytes(process_bytes(t->pid, "RssAnon"));
    putchar('\n');
    return all;
}

static bool files_allow(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_max < FILES)
        return false;
    files.rlim_cur = files.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &files) == 0;
}

void table_memory(const struct bench_paths *s, const struct target *t)
{
    struct arena *a = arena_new();
    double many = NAN;

    (void)t;
    bool allowed = files_allow();
    str folder = data_dir_fresh(a, s, "memory");
    struct target server = target_start(s->program, folder.at, "connections=5000");
    report_title("memory", "  resident   its own");
    double idle = memory_row("idle", &server);
    if (allowed) {
        int *fds = connections_open(&server);
        memory_row("with 4,000 connections", &server);
        struct subscribers *subscribers = subscribers_new(server.port, server.token, LISTENERS);
        many = memory_row("and 500 subscribers", &server);
        subscribers_free(subscribers);
        for (int i = 0; i < CONNECTIONS; i++)
            close(fds[i]);
        mem_free(fds);
    }
    goal_most("idle, at most 12 MB", idle / 1e6, 12);
    goal_most("4,000 connections and 500 subscribers, at most 60 MB more", (many - idle) / 1e6, 60);
    target_stop(&server);
    arena_free(a);
}

void table_size(const struct bench_paths *s, const struct target *t)
{
    char command[8192];
    double bytes = NAN;

    (void)t;
    snprintf(command, sizeof command, "strip -o '%s/stripped' '%s' 2>/dev/null", s->folder,
             s->program);
    if (system(command) == 0)
        bytes = file_bytes(s->folder, "stripped");
    report_title("the program, stripped", "      size");
    printf("%-30s", s->program);
    report_bytes(bytes);
    putchar('\n');
    goal_most("at most 4 MB", bytes / 1e6, 4);
}
