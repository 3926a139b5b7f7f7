/* hostile.c: inputs made to hurt, and what they may cost, for tests. */
#include "hostile.h"

#include <sys/resource.h>

#include "base/utf8.h"

/* A sixth above the largest case, which is 140 million units: 100 to 150 ms (test/work.c). A linear
 * search where there is an index was 8,116 million. */
#define CASE_UNITS 165000000

enum { MEMORY_MB = 256 };

#ifdef __SANITIZE_ADDRESS__
enum { LARGER = 8 };
#else
enum { LARGER = 1 };
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

static void note(const char *name, struct work spent)
{
    if (work_is_counted())
        check_note("%s: %.1f million units", name, (double)spent.units / 1e6);
    else
        check_note("%s: %.1f ms", name, spent.ms);
}

static void check_within(const char *name, struct work spent, uint64_t most)
{
    if (work_is_counted() && spent.units > most)
        check_fail(__FILE__, __LINE__, "%s is %.1f million units of work, at most %.1f", name,
                   (double)spent.units / 1e6, (double)most / 1e6);
}

void check_work(const char *name, struct work spent)
{
    note(name, spent);
    check_within(name, spent, CASE_UNITS);
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

void check_hostile(const struct hostile *h, size_t count, hostile_run *run)
{
    check_hostile_within(h, count, run, CASE_UNITS);
    check_memory("all of them together");
}

void check_hostile_within(const struct hostile *h, size_t count, hostile_run *run, uint64_t most)
{
    const char *name = "";
    struct work largest = { 0 };

    for (; count > 0; h++, count--) {
        struct arena *a = arena_new();
        struct work spent;
        check_outcome(h, run(a, h, &spent));
        arena_free(a);
        check_within(h->name, spent, most);
        if (work_is_counted() ? spent.units > largest.units : spent.ms > largest.ms) {
            largest = spent;
            name = h->name;
        }
    }
    note(name, largest);
}

struct json value_of(struct arena *a, const struct text *t)
{
    const struct json_limits limits = { .bytes_max = 64u << 20 };
    const struct json *out;

    CHECK_OK(json_parse(a, text_make(a, t, true), &limits, &out));
    return *out;
}
