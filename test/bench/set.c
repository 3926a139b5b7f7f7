#define _GNU_SOURCE
#include "bench/set.h"
#include "bench/documents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

// clang-format off
const struct shape shapes[SHAPES] = {
    /*               name         label                    seed tasks bytes count */
    [SMALL_HOT]  = { "1kb-hot",   "1 KB, one document",    63,  4,    215,  1    },
    [SMALL_MANY] = { "1kb-many",  "1 KB, 4,000 documents", 63,  4,    215,  4000 },
    [LARGE_HOT]  = { "50kb-hot",  "50 KB, one document",   2,   200,  250,  1    },
    [LARGE_MANY] = { "50kb-many", "50 KB, 400 documents",  2,   200,  250,  400  },
};
// clang-format on

void fail(const char *what, str why)
{
    fprintf(stderr, "%s: %s: " STR_FMT "\n", program_invocation_short_name, what, STR_ARG(why));
    exit(1);
}

void must(err e)
{
    if (e)
        fail("unexpected error", e->message);
}

const struct json *parsed(struct arena *a, str text)
{
    const struct json *doc;
    must(json_parse(a, text, NULL, &doc));
    return doc;
}

static size_t value_bytes(const struct json *j)
{
    size_t bytes = sizeof *j;

    for (uint32_t i = 0; j->kind == JSON_ARRAY && i < j->len; i++)
        bytes += value_bytes(&j->items[i]);
    for (uint32_t i = 0; j->kind == JSON_OBJECT && i < j->len; i++)
        bytes += sizeof j->members[i] - sizeof *j + value_bytes(&j->members[i].value);
    return bytes;
}

static str set_text(struct arena *a, const struct shape *shape, size_t i)
{
    return document_state(a, shape->seed + i, shape->tasks, shape->task_bytes);
}

/* In a random order, or the processor would fetch the next document before it is asked for. */
static void set_shuffle(struct set *set)
{
    srand(1);
    for (size_t i = set->count; i-- > 1;) {
        size_t k = (size_t)rand() % (i + 1);
        str text = set->texts[i];
        const struct json *doc = set->docs[i];
        set->texts[i] = set->texts[k];
        set->docs[i] = set->docs[k];
        set->texts[k] = text;
        set->docs[k] = doc;
    }
}

struct set set_make(struct arena *a, const struct shape *shape)
{
    struct set set = { .texts = ARENA_ARRAY(a, str, shape->count),
                       .docs = ARENA_ARRAY(a, const struct json *, shape->count),
                       .count = shape->count };

    for (size_t i = 0; i < set.count; i++) {
        set.texts[i] = set_text(a, shape, i);
        set.bytes += set.texts[i].len;
    }
    for (size_t i = 0; i < set.count; i++) {
        set.docs[i] = parsed(a, set.texts[i]);
        set.value_bytes += value_bytes(set.docs[i]);
    }
    set_shuffle(&set);
    return set;
}

struct set set_of_one(struct arena *a, str text)
{
    struct set set = { .texts = ARENA_NEW(a, str),
                       .docs = ARENA_NEW(a, const struct json *),
                       .count = 1,
                       .bytes = text.len };

    set.texts[0] = text;
    set.docs[0] = parsed(a, text);
    return set;
}

static FILE *file_new(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.jsonl", directory, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        fail("cannot write", str_from(path));
    return file;
}

static void file_line(FILE *file, str text)
{
    if (fwrite(text.at, 1, text.len, file) != text.len || fputc('\n', file) == EOF)
        fail("cannot write", STR("a document"));
}

void sets_write(struct arena *a, const char *directory)
{
    FILE *file;

    for (const struct shape *s = shapes; s < shapes + SHAPES; s++) {
        file = file_new(directory, s->name);
        for (size_t i = 0; i < s->count; i++) {
            file_line(file, set_text(a, s, i));
            arena_reset(a);
        }
        fclose(file);
    }
    file = file_new(directory, "strings");
    file_line(file, document_strings(a, MEGABYTE));
    fclose(file);
    file = file_new(directory, "numbers");
    file_line(file, document_numbers(a, MEGABYTE));
    fclose(file);
}
