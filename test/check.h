/* check.h: tests that register themselves by being written.
 *
 *   TEST(run_returns_to_the_queue_when_its_lease_passes) { CHECK_INT(1 + 1, 2); }
 *
 * Each test runs in a process and an empty directory of its own, under a time
 * limit; a failed CHECK says what was expected and what was found and ends the
 * test. */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct service;

struct test {
    const char *name, *file;
    int line;
    int limit_s; /* seconds of a processor that it may take; 0: 20 */
    void (*run)(void);
    struct service *service; /* that it uses; NULL: none */
    struct test *next;
};

void check_register(struct test *t);

#define TEST_USING(name_, limit_, service_)                                    \
    static void test_##name_(void);                                            \
    __attribute__((constructor)) static void register_##name_(void)            \
    {                                                                          \
        static struct test t = { #name_,       __FILE__,   __LINE__, (limit_), \
                                 test_##name_, (service_), NULL };             \
        check_register(&t);                                                    \
    }                                                                          \
    static void test_##name_(void)

#define TEST_LIMIT(name, limit) TEST_USING(name, limit, NULL)
#define TEST(name) TEST_LIMIT(name, 0)

/* Something that is slow to start and that many tests use, a server. It is a process with an empty
 * directory, as a test is, and lives from the first test that uses it to the last of all. */
struct service {
    const char *name;
    void (*run)(void);   /* starts it, and calls check_serve */
    struct test as_test; /* the rest is the runner's */
    struct service *next;
    struct job *job;
    int ready[2];
};

/* In the service: it is ready, and this is how to reach it. Returns when it is to end. */
void check_serve(const char *how);

/* In a test that uses it: waits until it is ready. A service that could not be started skips or
 * fails whoever asks, with its reason. */
str check_service(struct service *s);

#define CHECK(condition) \
    ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, "not true: %s", #condition))
#define CHECK_INT(found, expected) \
    check_int(__FILE__, __LINE__, #found, (long long)(found), (long long)(expected))
#define CHECK_STR(found, expected) check_str(__FILE__, __LINE__, #found, (found), (expected))
#define CHECK_HAS(found, part) check_has(__FILE__, __LINE__, #found, (found), (part))
#define CHECK_OK(expression) check_ok(__FILE__, __LINE__, #expression, (expression))
#define CHECK_ERR(expression, kind) \
    check_err(__FILE__, __LINE__, #expression, (expression), (kind), #kind)

/* Ends the test as failed, with a message like printf's. */
void check_fail(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* Ends the test as skipped, with the reason. */
void check_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* A line shown with the test's result: a count, a seed. */
void check_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

void check_int(const char *file, int line, const char *what, long long found, long long expected);
void check_str(const char *file, int line, const char *what, str found, const char *expected);
void check_has(const char *file, int line, const char *what, str found, const char *part);
void check_ok(const char *file, int line, const char *what, err e);
void check_err(const char *file, int line, const char *what, err e, enum error_kind kind,
               const char *kind_name);

/* An arena that lives as long as the test; each of its threads has one of its own. */
struct arena *check_arena(void);

/* A new one that does, too: of what is passed on as if to another thread. */
struct arena *check_arena_new(void);

/* A folder for files that need no disk, which goes with the test: in memory where there is room, else
 * the test's own. */
const char *check_memory_folder(void);

/* A whole file in the test's arena; the test fails when it cannot be read. */
str check_read(const char *path);

/* A file with just this text, in place of what was there. */
void check_write(const char *path, str text);

/* Where the sources are (an absolute path), for files of cases: check_source("test/cases/x.json"). */
const char *check_source(const char *path);

/* The folder of a public suite (in $BATON_SUITES, else ../shared/suites beside the sources); skips
 * the test when it is not there. */
const char *check_suite(const char *name);

#endif
