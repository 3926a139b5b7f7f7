/* math.c: the operators between values. Which kinds go together is decided here, how numbers and times
 * are computed in number.c and time.c. */
#include "flow/feel/private.h"

static struct feel_value too_large(struct feel_run *run)
{
    return feel_null(run, "the result is too large a number");
}

static struct feel_value strings_added(struct feel_run *run, struct feel_value a,
                                       struct feel_value b)
{
    size_t len = (size_t)a.len + b.len;

    if (len > FEEL_RESULT_MAX) {
        feel_stop(run, "a text in it is too long");
        return a;
    }
    if (!feel_spend(run, feel_text_steps(len)))
        return a;
    char *at = arena_alloc(run->arena, len);
    memcpy(at, a.text, a.len);
    memcpy(at + a.len, b.text, b.len);
    return feel_string((str){ at, len });
}

struct feel_value feel_sum(struct feel_run *run, bool subtract, struct feel_value a,
                           struct feel_value b)
{
    struct feel_value out;
    bool fits = true;

    if (feel_is_number(a) && feel_is_number(b))
        return (subtract ? feel_number_subtract : feel_number_add)(a, b, &out) ? out
                                                                               : too_large(run);
    if (a.kind == FEEL_STRING && b.kind == FEEL_STRING && !subtract)
        return strings_added(run, a, b);
    if (feel_time_add(a, b, subtract, &fits, &out))
        return out;
    if (!fits)
        return feel_null(run, "the result is in no year from 0000 to 9999");
    if (subtract)
        return feel_null_of(run, "cannot take \2 from \1: only numbers, dates and durations", a, b);
    return feel_null_of(run,
                        "cannot add \1 and \2: only numbers, strings (see string()), dates and "
                        "durations",
                        a, b);
}

struct feel_value feel_product(struct feel_run *run, bool divide, struct feel_value a,
                               struct feel_value b)
{
    struct feel_value out;
    bool a_lasts = a.kind == FEEL_SPAN || a.kind == FEEL_MONTHS,
         b_lasts = b.kind == FEEL_SPAN || b.kind == FEEL_MONTHS;

    if (divide && a_lasts && a.kind == b.kind) {
        a = feel_int(a.n);
        b = feel_int(b.n);
        a_lasts = b_lasts = false;
    }
    if (divide && feel_is_number(b) && feel_number_compare(b, feel_int(0)) == 0)
        return feel_null_of(run, "a division by zero", a, b);
    if (feel_is_number(a) && feel_is_number(b))
        return (divide ? feel_number_divide : feel_number_multiply)(a, b, &out) ? out
                                                                                : too_large(run);
    if (!divide && b_lasts && feel_is_number(a)) {
        struct feel_value number = a;
        a = b;
        b = number;
        a_lasts = true;
    }
    if (a_lasts && feel_is_number(b))
        return feel_time_scale(a, b, divide, &out)
                   ? out
                   : feel_null(run, "the result is too long a duration");
    if (divide)
        return feel_null_of(run, "cannot divide \1 by \2: only numbers and durations", a, b);
    return feel_null_of(run, "cannot multiply \1 and \2: only numbers and durations", a, b);
}

struct feel_value feel_power(struct feel_run *run, bool other, struct feel_value a,
                             struct feel_value b)
{
    struct feel_value out;
    int64_t power;

    (void)other;
    if (!feel_is_number(a) || !feel_is_number(b))
        return feel_null_of(run, "expected two numbers around '**', found \1 and \2", a, b);
    if (!feel_number_to_int(b, &power))
        return feel_null_of(run, "expected a whole number behind '**', found \2", a, b);
    /* It is squared as often as its power has bits. */
    feel_spend(run, 64u - (unsigned)__builtin_clzll((uint64_t)power | 1));
    return feel_number_power(a, power, &out) ? out : too_large(run);
}

struct feel_value feel_negated(struct feel_run *run, struct feel_value v)
{
    if (feel_is_number(v))
        return feel_number_negate(v);
    if (v.kind == FEEL_SPAN || v.kind == FEEL_MONTHS) {
        v.n = -v.n;
        return v;
    }
    if (v.kind == FEEL_NULL)
        return feel_null_from(run, v);
    return feel_null_of(run, "expected a number or a duration behind '-', found \1", v, v);
}
