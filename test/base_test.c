/* base_test.c: str, buf, arena, err, map and list. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/map.h"

TEST(texts_are_cut_trimmed_and_compared)
{
    str before, after;

    CHECK(str_cut(STR("a=b=c"), '=', &before, &after));
    CHECK_STR(before, "a");
    CHECK_STR(after, "b=c");
    CHECK(!str_cut(STR("abc"), '=', &before, &after));
    CHECK_STR(before, "abc");
    CHECK_STR(after, "");
    CHECK_STR(str_trim(STR(" \t\na b\r\n ")), "a b");
    CHECK_STR(str_trim(STR("   ")), "");
    CHECK(str_compare(STR("a"), STR("ab")) < 0);
    CHECK(str_compare(STR("b"), STR("ab")) > 0);
    CHECK(str_compare(STR(""), STR("")) == 0);
    CHECK(str_starts(STR("abc"), STR("ab")) && !str_starts(STR("a"), STR("ab")));
    CHECK(str_ends(STR("abc"), STR("bc")) && !str_ends(STR("c"), STR("bc")));
    CHECK_STR(str_slice(STR("abc"), 1, 99), "bc");
    CHECK_STR(str_slice(STR("abc"), 5, 2), "");
    CHECK_INT(str_find(STR("abc"), 'c'), 2);
    CHECK_INT(str_find(STR("abc"), 'x'), 3);
    CHECK(str_contains(STR("abcabd"), STR("abd")) && str_contains(STR("abc"), STR("abc")));
    CHECK(str_contains(STR("abc"), STR("")) && str_contains(STR(""), STR("")));
    CHECK(!str_contains(STR("ababab"), STR("abb")) && !str_contains(STR("ab"), STR("abc")));
}

TEST(integers_are_read_exactly_or_not_at_all)
{
    static const struct {
        const char *text;
        bool good;
        int64_t value;
    } cases[] = {
        { "0", true, 0 },
        { "-0", true, 0 },
        { "42", true, 42 },
        { "9223372036854775807", true, INT64_MAX },
        { "-9223372036854775808", true, INT64_MIN },
        { "9223372036854775808", false, 0 },
        { "-9223372036854775809", false, 0 },
        { "", false, 0 },
        { "-", false, 0 },
        { "+1", false, 0 },
        { "1 ", false, 0 },
        { "1.0", false, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 0;
        CHECK_INT(str_to_int(str_from(cases[i].text), &value), cases[i].good);
        CHECK_INT(value, cases[i].value);
    }
}

TEST(integers_are_printed_as_they_are_read)
{
    static const int64_t numbers[] = { 0, 7, -1, 10, 99, 100, -4096, INT64_MAX, INT64_MIN };
    struct buf out = buf_in(check_arena());
    int64_t back;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        out.len = 0;
        buf_int(&out, numbers[i]);
        CHECK(str_to_int(buf_str(&out), &back) && back == numbers[i]);
    }
    CHECK_STR(buf_str(&out), "-9223372036854775808");
}

TEST(distance_counts_changes_and_swaps)
{
    CHECK_INT(str_distance(STR("done"), STR("done"), 3), 0);
    CHECK_INT(str_distance(STR("done!"), STR("done"), 3), 1);
    CHECK_INT(str_distance(STR("statsu"), STR("status"), 3), 1);
    CHECK_INT(str_distance(STR("kitten"), STR("sitting"), 5), 3);
    CHECK_INT(str_distance(STR("kitten"), STR("sitting"), 1), 2);
    CHECK_INT(str_distance(STR(""), STR("abc"), 9), 3);
}

TEST(a_buffer_grows_and_ends_in_nul)
{
    struct buf b = buf_in(check_arena());
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, "%d,", i);
    buf_add(&b, STR("end"));
    str s = buf_str(&b);
    CHECK_INT(s.len, 10 * 2 + 90 * 3 + 900 * 4 + 3);
    CHECK_INT(s.at[s.len], 0);
    CHECK(str_ends(s, STR("998,999,end")));
}

static int released;

static void count_release(void *thing)
{
    released = released * 10 + *(int *)thing;
}

TEST(an_arena_runs_its_hooks_last_first_and_starts_again)
{
    struct arena *a = arena_new();
    int one = 1, two = 2;

    arena_on_release(a, count_release, &one);
    arena_on_release(a, count_release, &two);
    for (int i = 0; i < 100; i++)
        memset(arena_alloc(a, (size_t)i * 1000), i, (size_t)i * 1000);
    arena_reset(a);
    CHECK_INT(released, 21);
    arena_on_release(a, count_release, &one);
    arena_free(a);
    CHECK_INT(released, 211);
}

#if ARENA_CHECKED
/* Whether a process ends that does this. */
static bool ends(void (*what)(struct arena *a), struct arena *a)
{
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        fclose(stderr);
        signal(SIGABRT, SIG_DFL);
        what(a);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void use(struct arena *a)
{
    arena_alloc(a, 1);
}

static void *use_elsewhere(void *a)
{
    use(a);
    return NULL;
}

static void use_by_another(struct arena *a)
{
    pthread_t other;

    pthread_create(&other, NULL, use_elsewhere, a);
    pthread_join(other, NULL);
}

static void *take_elsewhere(void *a)
{
    arena_take(a);
    use(a);
    arena_give(a);
    return NULL;
}

TEST(an_arena_is_used_by_the_one_thread_that_it_belongs_to)
{
    struct arena *a = arena_new();
    pthread_t other;

    CHECK(!ends(use, a));
    CHECK(ends(arena_take, a)); /* from oneself, as from another */
    CHECK(ends(use_by_another, a));
    arena_give(a);
    CHECK(ends(use, a));
    CHECK(ends(arena_give, a));
    CHECK(ends(arena_reset, a));
    CHECK(pthread_create(&other, NULL, take_elsewhere, a) == 0);
    pthread_join(other, NULL);
    arena_take(a);
    use(a);
    arena_give(a);
    arena_free(a);
}
#endif

TEST(allocations_are_aligned_and_apart)
{
    struct arena *a = arena_new();
    char *last = NULL;
    for (size_t size = 0; size < 200; size++) {
        char *p = arena_alloc(a, size);
        CHECK_INT((uintptr_t)p % 16, 0);
        memset(p, 0xaa, size);
        CHECK(p != last || size == 0);
        last = p;
    }
    arena_free(a);
}

TEST(growing_keeps_the_bytes)
{
    struct arena *a = check_arena();
    char *p = memcpy(arena_alloc(a, 5), "hello", 5);
    p = arena_grow(a, p, 5, 100);
    CHECK(memcmp(p, "hello", 5) == 0);
    arena_alloc(a, 1);
    p = arena_grow(a, p, 100, 100000);
    CHECK(memcmp(p, "hello", 5) == 0);
}

TEST(errors_know_how_they_look_on_every_wire)
{
    struct arena *a = check_arena();
    err e = err_new(a, ERR_CONFLICT, "state is at version %d, expected %d", 4, 3);
    CHECK_STR(e->message, "state is at version 4, expected 3");
    CHECK_INT(error_kind_info(e->kind)->http, 409);
    CHECK_INT(error_kind_info(e->kind)->exit, 6);
    e = err_within(a, err_with(a, e, STR("\"current_version\":4")), "state %s", "s1");
    CHECK_STR(e->message, "state s1: state is at version 4, expected 3");
    CHECK_STR(e->members, "\"current_version\":4");
    CHECK_INT(error_kind_info(ERR_UNFIT)->exit, 12);
    CHECK_INT(error_kind_info(ERR_INVALID)->exit, 2);
}

TEST(a_map_finds_what_was_put_and_keeps_its_order)
{
    struct arena *a = check_arena();
    struct map m = map_in(a);

    CHECK(!map_get(&m, STR("x")));
    for (uintptr_t i = 1; i <= 500; i++)
        CHECK(!map_put(&m, arena_printf(a, "key%u", (unsigned)i), (void *)i));
    CHECK_INT((uintptr_t)map_put(&m, STR("key7"), (void *)7000), 7);
    for (uintptr_t i = 1; i <= 500; i++) {
        str key = arena_printf(a, "key%u", (unsigned)i);
        CHECK_INT((uintptr_t)map_get(&m, key), i == 7 ? 7000 : i);
        CHECK(str_eq(m.entries[i - 1].key, key));
    }
    CHECK(!map_get(&m, STR("key501")) && !map_get(&m, STR("")));
}

/* Every byte counts, whatever the length. */
TEST(keys_differ_where_texts_differ)
{
    char a[41] = "0123456789abcdefghijklmnopqrstuvwxyzABCD", b[41];
    for (size_t len = 1; len <= 40; len++) {
        for (size_t at = 0; at < len; at++) {
            memcpy(b, a, sizeof b);
            b[at] ^= 1;
            CHECK(hash_key(a, len) != hash_key(b, len));
            CHECK(hash_bytes(a, len) != hash_bytes(b, len));
        }
    }
}

struct thing {
    int n;
    struct list link;
};

TEST(a_list_keeps_order_and_lets_go_of_entries)
{
    struct list all;
    struct thing things[4];
    int sum = 0;

    list_init(&all);
    CHECK(list_empty(&all));
    for (int i = 0; i < 4; i++) {
        things[i].n = i + 1;
        list_append(&all, &things[i].link);
    }
    LIST_EACH(it, &all) {
        struct thing *t = LIST_ENTRY(it, struct thing, link);
        sum = sum * 10 + t->n;
        if (t->n % 2)
            list_remove(it);
    }
    CHECK_INT(sum, 1234);
    CHECK_INT(LIST_ENTRY(all.next, struct thing, link)->n, 2);
    list_remove(&things[0].link);
    CHECK_INT(LIST_ENTRY(all.prev, struct thing, link)->n, 4);
}

/* What would exceed the bound is forgotten, back to the mark. */
TEST(a_buffer_with_a_bound_never_holds_more)
{
    struct buf b = buf_in(check_arena());

    b.most = 1000;
    for (int i = 0; i < 200; i++)
        buf_add(&b, STR("12345"));
    CHECK(!b.full);
    CHECK_INT(b.len, 1000);
    buf_byte(&b, '!');
    CHECK(b.full);
    CHECK_STR(buf_str(&b), "!");

    b.full = false;
    b.mark = b.len;
    for (int i = 0; i < 100000; i++)
        buf_printf(&b, "%d,", i);
    CHECK(b.full && b.len < 1000 && b.room <= 1000);
    CHECK(buf_str(&b).at[0] == '!');
}
