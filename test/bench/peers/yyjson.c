/* yyjson.c: parsing by yyjson, with what json_parse promises added to it.
 *
 *   yyjson DIRECTORY NAME ...    prints "yyjson.parse.NAME ns" for each DIRECTORY/NAME.jsonl
 *
 * yyjson keeps a name that stands twice in an object and sets no bound to depth,
 * so one walk over the values follows. Numbers stay text, as ours do; that they
 * are within the range of a double, which json_parse checks, is not checked here. */
#include "bench/measure.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#define DEPTH_MAX 64
#define PAIRS_MAX 16 /* members up to which comparing each with each is fast */

static bool same_name(yyjson_val *a, yyjson_val *b)
{
    return yyjson_get_len(a) == yyjson_get_len(b) &&
           memcmp(yyjson_get_str(a), yyjson_get_str(b), yyjson_get_len(a)) == 0;
}

static int by_name(const void *a, const void *b)
{
    yyjson_val *x = *(yyjson_val *const *)a, *y = *(yyjson_val *const *)b;
    size_t m = yyjson_get_len(x), n = yyjson_get_len(y);

    return m != n ? (m > n) - (m < n) : memcmp(yyjson_get_str(x), yyjson_get_str(y), m);
}

static bool many_names_differ(yyjson_val *object, size_t count)
{
    yyjson_val **names = malloc(count * sizeof *names);
    yyjson_obj_iter members = yyjson_obj_iter_with(object);
    bool differ = true;

    for (size_t i = 0; i < count; i++)
        names[i] = yyjson_obj_iter_next(&members);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 1; i < count && differ; i++)
        differ = !same_name(names[i - 1], names[i]);
    free(names);
    return differ;
}

static bool names_differ(yyjson_val *object)
{
    yyjson_val *names[PAIRS_MAX];
    yyjson_obj_iter members = yyjson_obj_iter_with(object);
    size_t count = yyjson_obj_size(object);

    if (count > PAIRS_MAX)
        return many_names_differ(object, count);
    for (size_t i = 0; i < count; i++) {
        names[i] = yyjson_obj_iter_next(&members);
        for (size_t k = 0; k < i; k++)
            if (same_name(names[k], names[i]))
                return false;
    }
    return true;
}

static bool container_fits(yyjson_val *v, unsigned depth)
{
    size_t i, count;
    yyjson_val *name, *item;

    if (depth > DEPTH_MAX)
        return false;
    yyjson_arr_foreach(v, i, count, item) if (yyjson_is_ctn(item) &&
                                              !container_fits(item, depth + 1)) return false;
    yyjson_obj_foreach(v, i, count, name, item) if (yyjson_is_ctn(item) &&
                                                    !container_fits(item, depth + 1)) return false;
    return !yyjson_is_obj(v) || names_differ(v);
}

struct text {
    char *at, *memory; /* one block used again and again, which is what an arena is to us */
    size_t len, room;
};

static void parse(void *subject, size_t times)
{
    struct text *t = subject;
    yyjson_alc memory;

    for (; times > 0; times--) {
        yyjson_alc_pool_init(&memory, t->memory, t->room);
        yyjson_doc *doc = yyjson_read_opts(t->at, t->len, YYJSON_READ_NUMBER_AS_RAW, &memory, NULL);
        if (!doc || !container_fits(yyjson_doc_get_root(doc), 1)) {
            fprintf(stderr, "yyjson refuses a document\n");
            exit(1);
        }
    }
}

static struct text text_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    struct text t = { .len = (size_t)ftell(file) };
    rewind(file);
    t.room = yyjson_read_max_memory_usage(t.len, YYJSON_READ_NUMBER_AS_RAW);
    t.at = malloc(t.len);
    t.memory = malloc(t.room);
    if (!t.at || !t.memory || fread(t.at, 1, t.len, file) != t.len) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return t;
}

int main(int count, char **words)
{
    char path[4096];

    for (int i = 2; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s.jsonl", words[1], words[i]);
        struct text t = text_read(path);
        printf("yyjson.parse.%s %.1f\n", words[i], measure(parse, &t));
        free(t.at);
        free(t.memory);
    }
    return 0;
}
