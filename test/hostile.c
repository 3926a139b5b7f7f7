/* hostile.c: inputs made to hurt, and what they may cost, for tests. */
#include "hostile.h"

#include <sys/resource.h>
#include <time.h>

#include "base/utf8.h"

enum { CASE_MS = 100, MEMORY_MB = 256, TRIES = 8 };

#define FIXED_WORK_MS 1.3 /* of slowness(), on the machine that the limit was set on */

#ifdef __SANITIZE_ADDRESS__
enum { SLOWER = 20, LARGER = 8 };
#else
enum { SLOWER = 1, LARGER = 1 };
#endif

static void add_piece(struct buf *out, const char *piece, uint32_t number, uint32_t left,
                      bool quotes)
{
    for (; *piece; piece++) {
        if (*piece == '\1' || *piece == '\2')
            buf_printf(out, "%u", (unsigned)(number + (*piece == '\2')));
        else if (*piece == '\3')
            buf_printf(out, "%u", (unsigned)left);
        else
            buf_byte(out, quotes && *piece == '\'' ? '"' : *piece);
    }
}

str text_make(struct arena *a, const struct text *t, bool quotes)
{
    struct buf out = buf_in(a);

    add_piece(&out, t->head, 0, 0, quotes);
    for (uint32_t i = 0; i < t->count; i++)
        add_piece(&out, t->unit, i, t->count - 1 - i, quotes);
    add_piece(&out, t->core, 0, 0, quotes);
    for (uint32_t i = 0; i < t->count; i++)
        add_piece(&out, t->close, i, t->count - 1 - i, quotes);
    add_piece(&out, t->tail, 0, 0, quotes);
    return buf_str(&out);
}

double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A machine may be slower than the one that the limit was set on, or busy now: then a fixed piece
 * of work takes longer as well, and every limit is longer by as much. The piece is repeated for as
 * long as the case took, because a machine that is busy is so by moments: a case that took 50 ms has
 * met the same ones as 50 ms of it, on average. */
static double slowness(double case_ms)
{
    double total = 0;
    int count = 0;
    struct arena *a = arena_new();
    str text = text_make(a, &(struct text)MANY("[0", ",\1", 100000, "]"), false);

    while (count < 5 || total < case_ms) {
        struct arena *scratch = arena_new();
        const struct json *j;
        double start = cpu_ms();
        CHECK_OK(json_parse(scratch, text, NULL, &j));
        total += cpu_ms() - start;
        count++;
        arena_free(scratch);
    }
    arena_free(a);
    double each = total / count;
    return each > FIXED_WORK_MS ? each / FIXED_WORK_MS : 1;
}

static void check_within(const char *name, double ms, double limit_ms)
{
    double most = limit_ms * SLOWER * (ms > limit_ms * SLOWER ? slowness(ms) : 1);

    if (ms > most)
        check_fail(__FILE__, __LINE__, "%s took %.0f ms, at most %.0f", name, ms, most);
}

void check_time(const char *name, double ms)
{
    check_within(name, ms, CASE_MS);
}

void check_memory(const char *name)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    if (use.ru_maxrss / 1024 > MEMORY_MB * LARGER)
        check_fail(__FILE__, __LINE__, "%s: %ld MB", name, use.ru_maxrss / 1024);
}

/* "INVALID: text": the kind, and a part of the message. */
static void check_outcome(const struct hostile *h, err e)
{
    str kind, part;

    str_cut(str_from(h->expected), ':', &kind, &part);
    if (!e ? str_eq(kind, STR("ok"))
           : str_eq(kind, str_from(error_kind_info(e->kind)->name)) &&
                 str_contains(e->message, str_trim(part)))
        return;
    check_fail(__FILE__, __LINE__, "%s\nexpected: %s\nfound:    %s: " STR_FMT, h->name, h->expected,
               e ? error_kind_info(e->kind)->name : "ok",
               STR_ARG(e ? utf8_cut(e->message, 500) : STR("")));
}

/* The time of the processor too is longer where others use its caches. So what counts is how much
 * work it is: of a try that takes long, the time is divided by how long the fixed piece of work
 * takes right then, and the best try counts. */
static double check_case(const struct hostile *h, hostile_run *run, double limit_ms)
{
    double best = 1e9;

    for (int i = 0; i < TRIES && best > limit_ms * SLOWER; i++) {
        struct arena *a = arena_new();
        double ms;
        check_outcome(h, run(a, h, &ms));
        arena_free(a);
        if (ms > limit_ms * SLOWER)
            ms /= slowness(ms);
        best = ms < best ? ms : best;
    }
    if (best > limit_ms * SLOWER)
        check_fail(__FILE__, __LINE__, "%s is as much work as %.0f ms, at most %.0f", h->name, best,
                   limit_ms * SLOWER);
    return best;
}

void check_hostile(const struct hostile *h, size_t count, hostile_run *run)
{
    check_hostile_within(h, count, run, CASE_MS);
    check_memory("all of them together");
}

void check_hostile_within(const struct hostile *h, size_t count, hostile_run *run, double limit_ms)
{
    const char *slowest = "";
    double most = 0;

    for (; count > 0; h++, count--) {
        double ms = check_case(h, run, limit_ms);
        if (ms > most) {
            most = ms;
            slowest = h->name;
        }
    }
    check_note("slowest: %s, %.1f ms", slowest, most);
}

struct json value_of(struct arena *a, const struct text *t)
{
    const struct json_limits limits = { .bytes_max = 64u << 20 };
    const struct json *out;

    CHECK_OK(json_parse(a, text_make(a, t, true), &limits, &out));
    return *out;
}
