/* feel_bench.c: what an expression costs to compile and to evaluate.
 *
 * Beside it the limit: the same variable looked up and compared by hand in C. An evaluation begins with
 * an empty arena that is used again, as a command does it. It always exits 0 when it could measure. */
#include "bench/measure.h"
#include "bench/set.h"
#include "flow/feel.h"

#include <stdio.h>

struct subject {
    str text;
    const struct feel *feel;
    const struct json *vars;
    struct arena *scratch;
};

static const char vars_text[] =
    "{\"execution\":\"8d3f\",\"decision\":\"approve\",\"attempts\":2,\"cost\":1.25,"
    "\"tests\":{\"passed\":true,\"failed\":0},\"labels\":[\"risky\",\"docs\"],"
    "\"files\":[{\"path\":\"Makefile\",\"lines\":3},{\"path\":\"src/a.c\",\"lines\":40},"
    "{\"path\":\"src/b.c\",\"lines\":7}],\"due\":\"2026-12-01T12:00:00Z\"}";

static void op_eval(void *subject, size_t times)
{
    struct subject *s = subject;
    struct feel_scope scope = { .vars = s->vars };
    struct feel_result result;

    for (; times > 0; times--) {
        arena_reset(s->scratch);
        must(feel_eval(s->scratch, s->feel, &scope, 0, &result));
    }
}

static void op_compile(void *subject, size_t times)
{
    struct subject *s = subject;
    const struct feel *feel;

    for (; times > 0; times--) {
        arena_reset(s->scratch);
        must(feel_compile(s->scratch, s->text, &feel));
    }
}

/* attempts < 3 */
static void op_by_hand(void *subject, size_t times)
{
    struct subject *s = subject;
    int64_t n;

    for (; times > 0; times--) {
        const struct json *attempts = json_get(s->vars, "attempts");
        if (!attempts || !json_to_int(attempts, &n) || n >= 3)
            fail("unexpected value", STR("attempts"));
        __asm__ volatile("" : : : "memory"); /* or it would be done once */
    }
}

static const struct {
    const char *text;
    double goal_ns; /* of an evaluation; 0: none */
} rows[] = {
    { "attempts < 3", 50 },
    { "decision = \"approve\"", 50 },
    { "tests.passed", 50 },
    { "attempts < 3 and tests.passed and decision = \"approve\"", 150 },
    { "cost * 1.19 + 0.5 < 10", 0 },
    { "attempts in [1..5]", 0 },
    { "list contains(labels, \"risky\")", 0 },
    { "files[lines > 10].path", 0 },
    { "some f in files satisfies f.lines > 100", 0 },
    { "sum(for f in files return f.lines)", 0 },
    { "matches(decision, \"^app\")", 0 },
    { "date and time(due) - now() > duration(\"P1D\")", 0 },
    { "\"attempt \" + string(attempts) + \" of \" + execution", 0 },
    { "missing > 1", 0 },
};

int main(void)
{
    struct arena *a = arena_new();
    struct subject s = { .vars = parsed(a, str_from(vars_text)), .scratch = arena_new() };
    unsigned missed = 0;

    setvbuf(stdout, NULL, _IOLBF, 0); /* a row is shown when it is known, through a pipe too */
    printf("%-60s %8s %8s\n", "expression", "evaluate", "compile");
    printf("%-60s %5.0f ns\n", "attempts < 3, by hand", measure(op_by_hand, &s));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s.text = str_from(rows[i].text);
        must(feel_compile(a, s.text, &s.feel));
        double eval_ns = measure(op_eval, &s), compile_ns = measure(op_compile, &s);
        printf("%-60s %5.0f ns %5.2f us", rows[i].text, eval_ns, compile_ns / 1e3);
        bool met = (rows[i].goal_ns == 0 || eval_ns <= rows[i].goal_ns) && compile_ns <= 5000;
        missed += !met;
        printf("%s\n", met ? "" : "  NOT MET");
    }
    printf("\ngoals: 50 ns for a comparison, 150 ns for three, 5 us to compile; %u not met\n",
           missed);
    arena_free(s.scratch);
    arena_free(a);
    return 0;
}
