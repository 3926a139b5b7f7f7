/* json_bench.c: what checking, parsing and editing documents costs.
 *
 *   json_bench write DIRECTORY              the documents, for the peers, as NAME.jsonl
 *   json_bench measure SCHEMA PEERS-FILE    measures ours and prints it beside the peers' figures
 *
 * The peers' file has lines "PEER.WHAT.NAME nanoseconds"; what is not in it is shown as "-". Each
 * figure is the median of rounds, see measure.h. It judges by goals and always exits 0 when it
 * could measure: a benchmark on somebody's busy machine is no test. */
#include "bench/documents.h"
#include "bench/handwritten.h"
#include "bench/measure.h"
#include "bench/set.h"
#include "json/patch.h"
#include "json/path/path.h"
#include "json/schema/schema.h"

#include <math.h>
#include <stdio.h>

/* ---- the operations ---- */

struct subject {
    const struct set *set;
    size_t at; /* whose turn it is */
    const struct schema *schema;
    const struct json *patch;
    const struct json_path *path;
    struct arena *scratch;
};

static size_t turn(struct subject *s)
{
    size_t at = s->at;
    s->at = at + 1 == s->set->count ? 0 : at + 1;
    return at;
}

static void must_fit(bool fits)
{
    if (!fits)
        fail("unexpected verdict", STR("a document does not fit its schema"));
}

static const struct json *parse_next(struct subject *s)
{
    arena_reset(s->scratch);
    return parsed(s->scratch, s->set->texts[turn(s)]);
}

static void op_check(void *subject, size_t times)
{
    struct subject *s = subject;
    for (; times > 0; times--)
        must_fit(schema_check(s->schema, s->set->docs[turn(s)]) == SCHEMA_FITS);
}

static void op_check_by_hand(void *subject, size_t times)
{
    struct subject *s = subject;
    for (; times > 0; times--)
        must_fit(handwritten_check(s->set->docs[turn(s)]));
}

static void op_parse(void *subject, size_t times)
{
    for (; times > 0; times--)
        parse_next(subject);
}

static void op_parse_check(void *subject, size_t times)
{
    struct subject *s = subject;
    for (; times > 0; times--)
        must_fit(schema_check(s->schema, parse_next(s)) == SCHEMA_FITS);
}

static void op_parse_check_by_hand(void *subject, size_t times)
{
    for (; times > 0; times--)
        must_fit(handwritten_check(parse_next(subject)));
}

static void op_copy_text(void *subject, size_t times)
{
    struct subject *s = subject;
    str text = s->set->texts[0];
    arena_reset(s->scratch);
    char *to = arena_alloc(s->scratch, text.len);
    for (; times > 0; times--) {
        memcpy(to, text.at, text.len);
        __asm__ volatile("" : : "r"(to) : "memory"); /* or the copy would be dropped */
    }
}

static void op_print(void *subject, size_t times)
{
    struct subject *s = subject;
    for (; times > 0; times--) {
        arena_reset(s->scratch);
        json_printed(s->scratch, s->set->docs[0]);
    }
}

static void op_query(void *subject, size_t times)
{
    struct subject *s = subject;
    struct json_matches matches;
    for (; times > 0; times--) {
        arena_reset(s->scratch);
        must(json_path_run(s->scratch, s->path, s->set->docs[0], &matches));
    }
}

/* Values that a patch brings stay in the arena, so a fresh copy is taken now and then: seldom
 * enough that it does not count. */
static void op_patch(void *subject, size_t times)
{
    struct subject *s = subject;
    struct json doc = { 0 };
    for (size_t i = 0; i < times; i++) {
        if (i % 4096 == 0) {
            arena_reset(s->scratch);
            doc = json_copy(s->scratch, s->set->docs[0]);
        }
        must(json_patch(s->scratch, &doc, s->patch, &(struct json_patch_limits){ 0 }));
    }
}

/* ---- the peers' figures ---- */

struct figure {
    char name[64];
    double ns;
};

static struct figure figures[64];
static size_t figure_count;

static void figures_read(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail("cannot read", str_from(path));
    while (figure_count < sizeof figures / sizeof figures[0] &&
           fscanf(file, "%63s %lf", figures[figure_count].name, &figures[figure_count].ns) == 2)
        figure_count++;
    fclose(file);
}

/* NAN when the peer was not there. */
static double figure(const char *peer, const char *what, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "%s.%s.%s", peer, what, name);
    for (size_t i = 0; i < figure_count; i++)
        if (strcmp(figures[i].name, key) == 0)
            return figures[i].ns;
    return NAN;
}

/* ---- the tables ---- */

static unsigned goals, goals_missed, goals_unknown;

/* Prints a judgement at the end of a row. */
static void goal(const char *text, double found, double most)
{
    goals++;
    goals_missed += found > most;
    goals_unknown += isnan(found);
    printf("  %s: %s\n", text, isnan(found) ? "not measured" : found <= most ? "met" : "NOT MET");
}

static void print_ns(double ns)
{
    if (isnan(ns))
        printf(" %9s", "-");
    else if (ns < 1000)
        printf(" %6.0f ns", ns);
    else if (ns < 1e6)
        printf(" %6.2f us", ns / 1e3);
    else
        printf(" %6.2f ms", ns / 1e6);
}

/* A peer's time, and ours as a multiple of it. */
static void print_peer(double ours, double peer)
{
    print_ns(peer);
    if (isnan(peer))
        printf(" %6s", "");
    else
        printf(" %5.2fx", ours / peer);
}

static void title(const char *what, const char *columns)
{
    printf("\n%-24s%s\n", what, columns);
}

static void table_check(const struct set *sets, struct subject *s)
{
    double ns[2];

    title("check", "     baton    by hand            Blaze              ajv");
    for (int i = 0; i < SHAPES; i++) {
        s->set = &sets[i];
        s->at = 0;
        measure_two(op_check, op_check_by_hand, s, ns);
        double blaze = figure("blaze", "check", shapes[i].name);
        printf("%-24s", shapes[i].label);
        print_ns(ns[0]);
        print_peer(ns[0], ns[1]);
        print_peer(ns[0], blaze);
        print_peer(ns[0], figure("ajv", "check", shapes[i].name));
        if (sets[i].count == 1)
            goal("at most 1.0x Blaze", ns[0] / blaze, 1.0);
        else
            goal("at most 1.5x by hand", ns[0] / ns[1], 1.5);
    }
}

static void table_parse_check(const struct set *sets, struct subject *s)
{
    double ns[2];

    title("parse and check", "     baton    by hand                               ajv");
    for (int i = 0; i < SHAPES; i++) {
        s->set = &sets[i];
        s->at = 0;
        measure_two(op_parse_check, op_parse_check_by_hand, s, ns);
        double ajv = figure("ajv", "parse+check", shapes[i].name);
        printf("%-24s", shapes[i].label);
        print_ns(ns[0]);
        print_peer(ns[0], ns[1]);
        print_peer(ns[0], NAN);
        print_peer(ns[0], ajv);
        if (i == SMALL_HOT || i == SMALL_MANY)
            goal("3x as fast as ajv", ns[0] / ajv, 1 / 3.0);
        else
            goal("2.5x as fast as ajv", ns[0] / ajv, 1 / 2.5);
    }
}

static void table_parse(struct arena *a, const struct set *sets, struct subject *s)
{
    const struct set strings = set_of_one(a, document_strings(a, MEGABYTE));
    const struct set numbers = set_of_one(a, document_numbers(a, MEGABYTE));
    const struct {
        const char *label, *name;
        const struct set *set;
    } rows[] = {
        { "1 KB", shapes[SMALL_HOT].name, &sets[SMALL_HOT] },
        { "50 KB", shapes[LARGE_HOT].name, &sets[LARGE_HOT] },
        { "1 MB of strings", "strings", &strings },
        { "1 MB of numbers", "numbers", &numbers },
    };

    title("parse", "     baton                   yyjson           memcpy");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        s->set = rows[i].set;
        s->at = 0;
        double ours = measure(op_parse, s);
        printf("%-24s", rows[i].label);
        print_ns(ours);
        printf(" %5.0f MB/s", (double)rows[i].set->bytes * 1e3 / ours);
        print_peer(ours, figure("yyjson", "parse", rows[i].name));
        print_peer(ours, measure(op_copy_text, s));
        putchar('\n');
    }
}

static void table_others(struct arena *a, const struct set *sets, struct subject *s)
{
    static const struct {
        const char *label;
        measured *run;
    } rows[] = {
        { "patch, one replace", op_patch },
        { "query by status", op_query },
        { "print", op_print },
    };

    s->patch =
        parsed(a, STR("[{\"op\":\"replace\",\"path\":\"/tasks/3/status\",\"value\":\"done\"}]"));
    must(json_path_compile(a, STR("$.tasks[?@.status == 'failed'].name"), &s->path));
    title("other operations", "      1 KB      50 KB");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("%-24s", rows[i].label);
        s->set = &sets[SMALL_HOT];
        print_ns(measure(rows[i].run, s));
        s->set = &sets[LARGE_HOT];
        print_ns(measure(rows[i].run, s));
        putchar('\n');
    }
}

/* Time for each part, which must stay the same while the whole grows; some growth is the memory's,
 * not ours, once the whole is beyond a cache. */
static void table_by_document(struct arena *a, struct subject *s)
{
    double first = 0, each = 0;

    title("growth with the document", "       check      ns for each task");
    for (size_t tasks = 10; tasks <= 10000; tasks *= 10) {
        const struct set set = set_of_one(a, document_state(a, tasks, tasks, 250));
        s->set = &set;
        s->at = 0;
        double ns = measure(op_check, s);
        each = ns / (double)tasks;
        if (tasks == 10)
            first = each;
        printf("%6zu tasks            ", tasks);
        print_ns(ns);
        printf(" %14.1f%s", each, tasks < 10000 ? "\n" : "");
    }
    goal("at most 3x the first", each / first, 3);
}

static struct schema *compiled(struct arena *a, str text)
{
    struct schema *schema;
    must(schema_compile(a, parsed(a, text), NULL, &schema));
    return schema;
}

static double ns_each_member(struct arena *a, struct subject *s, size_t members, size_t properties)
{
    const struct set set = set_of_one(a, document_flat(a, members, properties));
    s->set = &set;
    s->at = 0;
    return measure(op_check, s) / (double)members;
}

static void table_by_schema(struct arena *a, struct subject *s)
{
    double first = 0, few = 0;

    title("growth with the schema", "  ns for each member of 10    of all");
    for (size_t properties = 10; properties <= 1000; properties *= 10) {
        struct schema *schema = compiled(a, document_flat_schema(a, properties));
        s->schema = schema;
        few = ns_each_member(a, s, 10, properties);
        if (properties == 10)
            first = few;
        printf("%6zu properties        %22.1f %9.1f%s", properties, few,
               ns_each_member(a, s, properties, properties), properties < 1000 ? "\n" : "");
        schema_free(schema);
    }
    goal("at most 2x the first", few / first, 2);
}

/* ---- all of it ---- */

/* The validator by hand is a limit only as long as it means the same. */
static void must_agree(struct arena *a, const struct schema *schema)
{
    static const char *const unfit[] = {
        "[]",
        "{}",
        "{\"status\":\"review\"}",
        "{\"tasks\":[]}",
        "{\"status\":\"running\",\"tasks\":[]}",
        "{\"status\":7,\"tasks\":[]}",
        "{\"status\":\"review\",\"tasks\":{}}",
        "{\"status\":\"review\",\"tasks\":[[]]}",
        "{\"status\":\"review\",\"tasks\":[{\"name\":\"a\"}]}",
        "{\"status\":\"review\",\"tasks\":[{\"status\":\"done\"}]}",
        "{\"status\":\"review\",\"tasks\":[{\"name\":1,\"status\":\"done\"}]}",
        "{\"status\":\"review\",\"tasks\":[{\"name\":\"a\",\"status\":\"review\"}]}",
        "{\"status\":\"review\",\"tasks\":[{\"name\":\"a\",\"status\":\"done\",\"result\":null}]}",
        "{\"status\":\"review\",\"tasks\":[{\"name\":\"a\",\"status\":\"done\",\"assigned_to\":1}]}",
        "{\"status\":\"review\",\"tasks\":[],\"summary\":[]}",
        "{\"status\":\"review\",\"tasks\":[],\"metadata\":\"\"}",
    };

    for (size_t i = 0; i < sizeof unfit / sizeof unfit[0]; i++) {
        const struct json *doc = parsed(a, str_from(unfit[i]));
        if (schema_check(schema, doc) != SCHEMA_UNFIT || handwritten_check(doc))
            fail("should not fit", str_from(unfit[i]));
    }
}

static str file_read(struct arena *a, const char *path)
{
    struct buf b = buf_in(a);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("cannot read", str_from(path));
    for (int c; (c = getc(file)) != EOF;)
        buf_byte(&b, (char)c);
    fclose(file);
    return buf_str(&b);
}

static void measure_all(struct arena *a, const char *schema_path)
{
    struct schema *schema = compiled(a, file_read(a, schema_path));
    struct subject subject = { .schema = schema, .scratch = arena_new() };
    struct set sets[SHAPES];

    must_agree(a, schema);
    for (int i = 0; i < SHAPES; i++) {
        sets[i] = set_make(a, &shapes[i]);
        printf("%-24s%10zu bytes of text %10zu of values\n", shapes[i].label, sets[i].bytes,
               sets[i].value_bytes);
    }
    table_check(sets, &subject);
    table_parse_check(sets, &subject);
    table_parse(a, sets, &subject);
    table_others(a, sets, &subject);
    table_by_document(a, &subject);
    table_by_schema(a, &subject);
    printf("\n%u goals, %u not met, %u not measured\n", goals, goals_missed, goals_unknown);
    schema_free(schema);
    arena_free(subject.scratch);
}

int main(int count, char **words)
{
    struct arena *a = arena_new();

    setvbuf(stdout, NULL, _IOLBF, 0); /* a row is shown when it is known, through a pipe too */
    if (count == 3 && strcmp(words[1], "write") == 0) {
        sets_write(a, words[2]);
    } else if (count == 4 && strcmp(words[1], "measure") == 0) {
        figures_read(words[3]);
        measure_all(a, words[2]);
    } else {
        fail("usage", STR("write DIRECTORY | measure SCHEMA PEERS-FILE"));
    }
    arena_free(a);
    return 0;
}
