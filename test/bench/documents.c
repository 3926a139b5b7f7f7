/* documents.c: each random number is taken in a statement of its own, because C leaves the order of
 * arguments open and the bytes must not depend on the compiler. */
#include "bench/documents.h"

#include "random.h"

#define PICK(random, list) (list)[below((random), sizeof(list) / sizeof((list)[0]))]

#define OTHERS_BYTES 60 /* of a task: all but the prose of its result */

static const char *const words[] = {
    "patched",  "the",    "parser", "and",     "ran",   "all",     "tests", "of",
    "module",   "review", "found",  "nothing", "new",   "in",      "this",  "change",
    "deployed", "to",     "a",      "staging", "queue", "timeout", "fixed", "by",
};

static size_t below(uint64_t *random, size_t end)
{
    return (size_t)(random_draw(random) % end);
}

/* Words up to about that many bytes; `escapes` in a hundred gaps are a line end instead of a
 * space. */
static void add_prose(struct buf *b, uint64_t *random, size_t bytes, unsigned escapes)
{
    for (size_t start = b->len; b->len < start + bytes;) {
        buf_add(b, str_from(PICK(random, words)));
        buf_add(b, below(random, 100) < escapes ? STR("\\n") : STR(" "));
    }
    buf_byte(b, '.');
}

/* About `bytes` long on the average: what the other members leave is the result's, whose length
 * varies from half to one and a half times that. */
static void add_task(struct buf *b, uint64_t *random, size_t index, size_t bytes)
{
    static const char *const states[] = { "pending", "running", "done", "failed" };
    const char *status = PICK(random, states);
    size_t number = below(random, 1000000), middle = bytes - OTHERS_BYTES;

    if (below(random, 4) == 0)
        buf_printf(b, "{\"status\":\"%s\",\"name\":\"task %zu of %zu\"", status, index, number);
    else
        buf_printf(b, "{\"name\":\"task %zu of %zu\",\"status\":\"%s\"", index, number, status);
    if (below(random, 8) != 0) {
        buf_add(b, STR(",\"result\":\""));
        add_prose(b, random, middle / 2 + below(random, middle), 3);
        buf_byte(b, '"');
    }
    if (below(random, 8) != 0)
        buf_printf(b, ",\"assigned_to\":\"agent-%zu\"", below(random, 500));
    buf_byte(b, '}');
}

str document_state(struct arena *a, uint64_t seed, size_t tasks, size_t task_bytes)
{
    static const char *const states[] = { "pending", "in_progress", "review", "completed",
                                          "failed" };
    struct buf b = buf_in(a);
    uint64_t random = seed;

    buf_printf(&b, "{\"status\":\"%s\",\"tasks\":[", PICK(&random, states));
    for (size_t i = 0; i < tasks; i++) {
        if (i > 0)
            buf_byte(&b, ',');
        add_task(&b, &random, i, task_bytes);
    }
    buf_add(&b, STR("],\"summary\":\""));
    add_prose(&b, &random, 40 + below(&random, 80), 0);
    buf_printf(&b, "\",\"metadata\":{\"attempt\":%zu,", below(&random, 9));
    buf_printf(&b, "\"cost\":%zu.5,\"note\":null}}", below(&random, 100));
    return buf_str(&b);
}

str document_flat(struct arena *a, size_t count, size_t of)
{
    struct buf b = buf_in(a);

    for (size_t i = 0; i < count; i++)
        buf_printf(&b, "%c\"property_%zu\":\"value %zu\"", i ? ',' : '{', i * of / count, i);
    buf_byte(&b, '}');
    return buf_str(&b);
}

str document_flat_schema(struct arena *a, size_t of)
{
    struct buf b = buf_in(a);

    buf_add(&b, STR("{\"$schema\":\"http://json-schema.org/draft-07/schema#\","
                    "\"type\":\"object\",\"properties\":"));
    for (size_t i = 0; i < of; i++)
        buf_printf(&b, "%c\"property_%zu\":{\"type\":\"string\"}", i ? ',' : '{', i);
    buf_add(&b, STR("}}"));
    return buf_str(&b);
}

str document_strings(struct arena *a, size_t bytes)
{
    struct buf b = buf_in(a);
    uint64_t random = 1;

    buf_byte(&b, '[');
    while (b.len < bytes) {
        buf_add(&b, b.len > 1 ? STR(",\"") : STR("\""));
        if (below(&random, 8) == 0)
            buf_add(&b, STR("r\xc3\xa9sum\xc3\xa9 \xe2\x80\x94 "));
        add_prose(&b, &random, 20 + below(&random, 200), 3);
        buf_byte(&b, '"');
    }
    buf_byte(&b, ']');
    return buf_str(&b);
}

str document_numbers(struct arena *a, size_t bytes)
{
    struct buf b = buf_in(a);
    uint64_t random = 1;

    buf_byte(&b, '[');
    while (b.len < bytes) {
        buf_printf(&b, b.len > 1 ? ",[%zu," : "[%zu,", below(&random, 1000));
        buf_printf(&b, "%zu,", below(&random, 1u << 31));
        buf_printf(&b, "-%zu.125,", below(&random, 180));
        buf_printf(&b, "1.%zue-7]", below(&random, 1u << 31));
    }
    buf_byte(&b, ']');
    return buf_str(&b);
}
