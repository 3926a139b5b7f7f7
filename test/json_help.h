/* json_help.h: JSON values for tests, from legible text and at random. */
#ifndef TEST_JSON_HELP_H
#define TEST_JSON_HELP_H

#include <stdlib.h>

#include "check.h"
#include "json/json.h"
#include "random.h"

/* JSON stands in C with single quotes, to be legible: these change them for double ones, and back. */
static inline str quotes_double(struct arena *a, const char *text)
{
    str copy = arena_copy(a, str_from(text));

    for (char *at = (char *)copy.at; (at = strchr(at, '\''));)
        *at = '"';
    return copy;
}

static inline str quotes_single(struct arena *a, str text)
{
    str copy = arena_copy(a, text);

    for (size_t i = 0; i < copy.len; i++)
        if (copy.at[i] == '"')
            ((char *)copy.at)[i] = '\'';
    return copy;
}

/* What a text is that must be JSON. */
static inline const struct json *json_parsed(struct arena *a, str text)
{
    const struct json *parsed;

    CHECK_OK(json_parse(a, text, NULL, &parsed));
    return parsed;
}

/* JSON written with single quotes, as a value of its own that may be edited. */
static inline struct json json_of(struct arena *a, const char *text)
{
    return json_copy(a, json_parsed(a, quotes_double(a, text)));
}

/* The compact form, with single quotes again. */
static inline str json_shown(struct arena *a, const struct json *j)
{
    return quotes_single(a, json_printed(a, j));
}

/* Runs the records of one group of test/cases/FILE.json. */
static inline void json_each_case(const char *file, const char *group,
                                  void (*check)(struct arena *a, const struct json *record))
{
    struct arena *a = check_arena();
    str text = check_read(check_source(arena_printf(a, "test/cases/%s.json", file).at));
    const struct json *groups, *records;

    CHECK_OK(json_parse(a, text, NULL, &groups));
    records = json_get(groups, group);
    CHECK(json_is(records, JSON_ARRAY) && records->len > 0);
    for (uint32_t i = 0; i < records->len; i++)
        check(a, &records->items[i]);
}

struct random {
    uint64_t state;
};

/* The seed of this run: $BATON_SEED, else 1. It is shown with the test's result. */
static inline struct random random_start(void)
{
    const char *text = getenv("BATON_SEED");
    struct random r = { text ? strtoull(text, NULL, 10) : 1 };
    check_note("seed %llu", (unsigned long long)r.state);
    return r;
}

static inline uint64_t random_next(struct random *r)
{
    return random_draw(&r->state);
}

static inline uint32_t random_below(struct random *r, uint32_t n)
{
    return (uint32_t)(random_next(r) % n);
}

/* Few names and scalars, so that two random documents have much in common. */
static inline str random_name(struct random *r)
{
    static const char *const names[] = { "a",   "b", "id", "name", "status", "x/y",
                                         "m~n", "",  "0",  "-",    "\"q\"",  "\xc3\xa9t\xc3\xa9" };
    return str_from(names[random_below(r, sizeof names / sizeof names[0])]);
}

static inline struct json random_scalar(struct arena *a, struct random *r)
{
    switch (random_below(r, 5)) {
    case 0: return json_null();
    case 1: return json_bool(random_below(r, 2));
    case 2: return json_string(random_name(r));
    case 3: return (struct json){ .kind = JSON_REAL, .len = 3, .text = "2.0" };
    default: return json_int(a, random_below(r, 6));
    }
}

/* An array or an object of fewer than `width`, with containers in it down to `depth`. */
static inline struct json random_json(struct arena *a, struct random *r, unsigned depth,
                                      uint32_t width)
{
    if (depth == 0 || random_below(r, 4) == 0)
        return random_scalar(a, r);
    bool is_array = random_below(r, 2);
    struct json container = is_array ? json_array() : json_object();
    for (uint32_t n = random_below(r, width); n > 0; n--) {
        struct json value = random_json(a, r, depth - 1, width);
        str name = random_name(r);
        if (is_array)
            json_push(a, &container, value);
        else if (!json_find(&container, name))
            json_put(a, &container, name, value);
    }
    return container;
}

#endif
