/* tables_growth.c: many states, long histories, and starting with them. */
#include "bench/tables.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "bench/set.h"
#include "core/tables.h"

enum { THOUSAND, HUNDRED_THOUSAND, MILLION, SIZES };

static const struct {
    const char *name, *folder;
    uint64_t states;
} sizes[SIZES] = {
    { "1 thousand states", "states-1k", 1000 },
    { "100 thousand states", "states-100k", 100000 },
    { "1 million states", "states-1m", 1000000 },
};

enum { HOT_STATES = 1000, KEPT_SECONDS = 12 * 3600 };

/* ---- filling, which takes long for a million: what was filled before is used again ---- */

/* Tells whether a folder was filled by a program with the same tables, not so long ago that its
 * events are to be dropped, which would be measured too. */
static bool filled(const char *stamp, const char *text)
{
    char found[64] = "";
    struct stat s;
    FILE *file = fopen(stamp, "r");

    if (!file)
        return false;
    bool same = fgets(found, sizeof found, file) && strcmp(found, text) == 0;
    fclose(file);
    return same && stat(stamp, &s) == 0 && time(NULL) - s.st_mtime < KEPT_SECONDS;
}

static void stamp_text(char text[64], uint64_t states)
{
    uint32_t tables = 0;

    for (int i = 0; i < tables_step_count; i++)
        for (const char *const *at = tables_steps[i].statements; *at; at++)
            tables = tables * 31 + hash_bytes(*at, strlen(*at));
    snprintf(text, 64, "%llu states, tables %08x\n", (unsigned long long)states, tables);
}

static const char *folder_of(struct arena *a, const struct bench_paths *s, int size)
{
    char text[64];
    str folder = bench_path(a, s, sizes[size].folder);
    const char *stamp = arena_printf(a, STR_FMT "/filled", STR_ARG(folder)).at;

    stamp_text(text, sizes[size].states);
    if (size == MILLION && filled(stamp, text))
        return folder.at;
    remove(stamp);
    data_dir_empty(folder.at);
    struct filler *f = fill_open(folder.at);
    fill_states(f, 0, sizes[size].states, 4, 215);
    fill_close(f);
    FILE *file = fopen(stamp, "w");
    if (!file)
        fail("cannot write", str_from(stamp));
    fputs(text, file);
    fclose(file);
    return folder.at;
}

/* ---- requests ---- */

enum { PATCH_HOT, GET_HOT, PATCH_ALL, GET_ALL, KINDS };

/* All sizes take turns. */
static void measure_kind(const struct target *servers, int kind, double p99_us[SIZES][KINDS])
{
    struct contestant all[SIZES];

    for (int i = 0; i < SIZES; i++)
        all[i] = (struct contestant){
            .name = sizes[i].name,
            .port = servers[i].port,
            .pid = servers[i].pid,
            .connections = 16,
            .traffic = { .kind = kind == PATCH_HOT || kind == PATCH_ALL ? TRAFFIC_PATCH
                                                                        : TRAFFIC_GET,
                         .token = servers[i].token,
                         .count = kind == PATCH_HOT || kind == GET_HOT ? HOT_STATES
                                                                       : sizes[i].states },
        };
    contest(all, SIZES, 3, 0.8);
    for (int i = 0; i < SIZES; i++)
        p99_us[i][kind] = all[i].p99_us;
}

static void growth_goals(double p99_us[SIZES][KINDS], double log_bytes, double state_bytes)
{
    double *few = p99_us[THOUSAND], *many = p99_us[MILLION];

    goal_most("a million, hot PATCH p99 at most twice a thousand's",
              many[PATCH_HOT] / few[PATCH_HOT], 2);
    goal_most("a million, hot GET p99 at most twice", many[GET_HOT] / few[GET_HOT], 2);
    goal_most("a million, all: PATCH p99 at most 4 times", many[PATCH_ALL] / few[PATCH_ALL], 4);
    goal_most("a million, all: GET p99 at most 4 times", many[GET_ALL] / few[GET_ALL], 4);
    goal_most("log at most 64 MiB", log_bytes / (1 << 20), 64);
    goal_most("at most 3 KB of disk for a new state of 1 KB", state_bytes / 1024, 3);
}

static void growth_rows(struct arena *a, const struct bench_paths *s, double p99_us[SIZES][KINDS],
                        const double disk[SIZES])
{
    double log_bytes = 0;

    report_title("p99, 16 connections",
                 " PATCH hot   GET hot PATCH all   GET all       log      disk");
    for (int i = 0; i < SIZES; i++) {
        double log = file_bytes(bench_path(a, s, sizes[i].folder).at, "baton.db-wal");
        printf("%-30s", sizes[i].name);
        for (int kind = 0; kind < KINDS; kind++)
            report_us(p99_us[i][kind]);
        report_bytes(log);
        report_bytes(disk[i]);
        putchar('\n');
        log_bytes = log > log_bytes ? log : log_bytes;
    }
    growth_goals(p99_us, log_bytes,
                 (disk[HUNDRED_THOUSAND] - disk[THOUSAND]) /
                     (double)(sizes[HUNDRED_THOUSAND].states - sizes[THOUSAND].states));
}

void table_growth(const struct bench_paths *s, const struct target *t)
{
    struct arena *a = arena_new();
    struct target servers[SIZES];
    double p99_us[SIZES][KINDS], disk[SIZES];

    (void)t;
    for (int i = 0; i < SIZES; i++) {
        const char *folder = folder_of(a, s, i);
        disk[i] = file_bytes(folder, "baton.db");
        servers[i] = target_start(s->program, folder, NULL);
    }
    for (int kind = 0; kind < KINDS; kind++)
        measure_kind(servers, kind, p99_us);
    growth_rows(a, s, p99_us, disk);
    for (int i = 0; i < SIZES; i++)
        target_stop(&servers[i]);
    arena_free(a);
}

/* ---- starting ---- */

static double start_clean_ms(const struct bench_paths *s, const char *folder)
{
    struct target t = target_start(s->program, folder, NULL);

    target_stop(&t);
    return t.ready_ms;
}

/* Ends a server while it is written to, then starts it again. */
static double start_after_kill_ms(const struct bench_paths *s, const char *folder,
                                  double *log_bytes)
{
    struct target t = target_start(s->program, folder, NULL);
    struct traffic traffic = { .kind = TRAFFIC_PATCH,
                               .token = t.token,
                               .count = sizes[MILLION].states,
                               .random = (uint64_t)t.pid };
    struct load_aside aside = load_begin(&(struct load){ .port = t.port,
                                                         .connections = 64,
                                                         .seconds = 5,
                                                         .request = traffic_request,
                                                         .self = &traffic });
    usleep(900 * 1000);
    target_kill(&t);
    load_end(&aside);
    *log_bytes = file_bytes(folder, "baton.db-wal");
    return start_clean_ms(s, folder);
}

void table_start(const struct bench_paths *s, const struct target *t)
{
    enum { STARTS = 3 };
    struct arena *a = arena_new();
    const char *folder = folder_of(a, s, MILLION);
    double clean[STARTS], killed[STARTS], log_bytes = 0;

    (void)t;
    start_clean_ms(s, folder); /* the first one may have to finish what others left */
    for (int i = 0; i < STARTS; i++)
        clean[i] = start_clean_ms(s, folder);
    for (int i = 0; i < STARTS; i++)
        killed[i] = start_after_kill_ms(s, folder, &log_bytes);
    double clean_ms = median(clean, STARTS), killed_ms = median(killed, STARTS);
    report_title("ready, with 1 million states", "     time  log to recover");
    printf("%-30s %6.1f ms\n", "after a stop", clean_ms);
    printf("%-30s %6.1f ms     ", "after kill -9 under load", killed_ms);
    report_bytes(log_bytes);
    putchar('\n');
    goal_most("after a stop, at most 50 ms", clean_ms, 50);
    goal_most("after kill -9, at most 200 ms", killed_ms, 200);
    arena_free(a);
}

/* ---- histories ---- */

enum { HISTORIES = 4, SHORT_VERSIONS = 10, LONG_VERSIONS = 10000 };

static struct contestant history_of(const struct target *t, uint64_t first, enum traffic_kind kind,
                                    const char *behind, uint32_t connections)
{
    return (struct contestant){ .name = "history",
                                .port = t->port,
                                .pid = t->pid,
                                .connections = connections,
                                .traffic = { .kind = kind,
                                             .token = t->token,
                                             .behind = behind,
                                             .first = first,
                                             .count = HISTORIES } };
}

static void histories_fill(const char *folder)
{
    data_dir_empty(folder);
    struct filler *f = fill_open(folder);
    fill_states(f, FILL_SHORT, HISTORIES, 4, 215);
    fill_states(f, FILL_LONG, HISTORIES, 4, 215);
    for (uint64_t i = 0; i < HISTORIES; i++) {
        fill_versions(f, FILL_SHORT + i, SHORT_VERSIONS - 1);
        fill_versions(f, FILL_LONG + i, LONG_VERSIONS - 1);
    }
    fill_close(f);
}

void table_histories(const struct bench_paths *s, const struct target *t)
{
    struct arena *a = arena_new();
    const char *folder = bench_path(a, s, "histories").at;

    (void)t;
    histories_fill(folder);
    struct target server = target_start(s->program, folder, NULL);
    struct contestant all[] = {
        history_of(&server, FILL_SHORT, TRAFFIC_PATH, "?version=5", 1),
        history_of(&server, FILL_LONG, TRAFFIC_PATH, "?version=5005", 1),
        history_of(&server, FILL_SHORT, TRAFFIC_PATH, "/blame", 1),
        history_of(&server, FILL_LONG, TRAFFIC_PATH, "/blame", 1),
        history_of(&server, FILL_SHORT, TRAFFIC_PATCH, NULL, 16),
        history_of(&server, FILL_LONG, TRAFFIC_PATCH, NULL, 16),
    };
    contest(all, 4, 3, 0.4);
    contest(all + 4, 2, 3, 0.8);
    report_title("histories", "    PATCH  an old version      blame");
    for (int i = 0; i < 2; i++) {
        printf("%-30s", i == 0 ? "of 10 versions" : "of 10,000 versions");
        report_rate(all[4 + i].rate);
        printf("     ");
        report_us(all[i].p50_us);
        report_us(all[2 + i].p50_us);
        putchar('\n');
    }
    goal_most("blame over 10,000 versions, at most 50 ms", all[3].p50_us / 1e3, 50);
    target_stop(&server);
    arena_free(a);
}
