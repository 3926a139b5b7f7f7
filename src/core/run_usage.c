/* run_usage.c: what turns have used, added up.
 *
 * Numbers of a session are sums over its turns; a client that resumes a conversation may
 * have made the sum itself. What is known by model is a JSON object in the words of its
 * client, so numbers of one name are added, and what is no number is as it was said last. */
#include <math.h>

#include "core/run_private.h"
#include "core/stored.h"

enum { MODELS_BYTES_MAX = 8192 }; /* of a text that a client writes and we keep */

static struct json number_sum(struct arena *a, const struct json *x, const struct json *y)
{
    int64_t first, second, sum;

    if (json_to_int(x, &first) && json_to_int(y, &second) &&
        !__builtin_add_overflow(first, second, &sum))
        return json_int(a, sum);
    double real = json_to_double(x) + json_to_double(y);
    if (!isfinite(real))
        return *y;
    str text = arena_printf(a, "%.10g", real);
    return (struct json){ .kind = JSON_REAL, .len = (uint32_t)text.len, .text = text.at };
}

static struct json models_sum(struct arena *a, const struct json *x, const struct json *y)
{
    struct json sum = json_object();

    if (json_is_number(x) && json_is_number(y))
        return number_sum(a, x, y);
    if (!json_is(x, JSON_OBJECT) || !json_is(y, JSON_OBJECT))
        return *y;
    for (uint32_t i = 0; i < x->len; i++) {
        const struct json_member *m = &x->members[i];
        const struct json *more = json_find(y, json_name(m));
        json_put(a, &sum, json_name(m), more ? models_sum(a, &m->value, more) : m->value);
    }
    for (uint32_t i = 0; i < y->len; i++)
        if (!json_find(x, json_name(&y->members[i])))
            json_put(a, &sum, json_name(&y->members[i]), y->members[i].value);
    return sum;
}

static err models_add(struct tx *tx, struct stored of, str *to, str more, bool whole)
{
    const struct json *x, *y;

    if (!more.len || more.len > MODELS_BYTES_MAX)
        return NULL;
    if (to->len && !whole) {
        TRY(stored_parse(tx, of, *to, &x));
        TRY(json_parse_own(tx->arena, more, &y));
        struct json sum = models_sum(tx->arena, x, y);
        more = json_printed(tx->arena, &sum);
    }
    if (more.len <= MODELS_BYTES_MAX)
        *to = more;
    return NULL;
}

/* A count of the whole conversation has what is here in it, unless it is less: then the client has
 * begun to count anew. What cannot be counted any more stays at the most. */
static void count_add(int64_t *to, int64_t more, bool whole)
{
    if (whole && more >= *to)
        *to = more;
    else if (__builtin_add_overflow(*to, more, to))
        *to = INT64_MAX;
}

err usage_add(struct tx *tx, str session_id, struct usage *to, const struct usage *more,
              struct usage_whole whole)
{
    count_add(&to->tokens_in, more->tokens_in, whole.tokens_in);
    count_add(&to->tokens_out, more->tokens_out, whole.tokens_out);
    count_add(&to->tokens_cached, more->tokens_cached, whole.tokens_cached);
    count_add(&to->cost, more->cost, whole.cost);
    return models_add(tx, THING("session", session_id), &to->models, more->models, whole.models);
}
