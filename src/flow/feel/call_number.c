/* call_number.c: the functions on numbers. */
#include "flow/feel/private.h"

static struct feel_value too_large(struct feel_run *run)
{
    return feel_null(run, "the result is too large a number");
}

static struct feel_value rounded(struct feel_run *run, const struct feel_value *args,
                                 uint32_t count, enum feel_rounding how)
{
    struct feel_value out;
    int64_t scale = 0;

    if (count == 2 && !feel_number_to_int(args[1], &scale))
        return feel_null_of(run, "expected a whole number of digits, found \1", args[1], args[1]);
    return feel_number_round(args[0], scale, how, &out) ? out : too_large(run);
}

#define ROUNDING(name, how)                                                            \
    static struct feel_value name(struct feel_run *run, const struct feel_value *args, \
                                  uint32_t count)                                      \
    {                                                                                  \
        return rounded(run, args, count, how);                                         \
    }

ROUNDING(call_half_even, ROUND_HALF_EVEN)
ROUNDING(call_half_up, ROUND_HALF_UP)
ROUNDING(call_half_down, ROUND_HALF_DOWN)
ROUNDING(call_up, ROUND_UP)
ROUNDING(call_down, ROUND_DOWN)
ROUNDING(call_floor, ROUND_FLOOR)
ROUNDING(call_ceiling, ROUND_CEILING)

static struct feel_value call_abs(struct feel_run *run, const struct feel_value *args,
                                  uint32_t count)
{
    (void)run, (void)count;
    return feel_number_compare(args[0], feel_int(0)) < 0 ? feel_number_negate(args[0]) : args[0];
}

/* What is left of a division whose quotient is rounded down: it has the divisor's sign. */
static bool modulo(struct feel_value a, struct feel_value b, struct feel_value *out)
{
    int64_t n, by;

    if (feel_number_to_int(a, &n) && feel_number_to_int(b, &by) && by != -1) {
        int64_t rest = n % by;
        return feel_number_add(feel_int(rest), feel_int(rest && (rest < 0) != (by < 0) ? by : 0),
                               out);
    }
    return feel_number_divide(a, b, out) && feel_number_round(*out, 0, ROUND_FLOOR, out) &&
           feel_number_multiply(*out, b, out) && feel_number_subtract(a, *out, out);
}

static struct feel_value call_modulo(struct feel_run *run, const struct feel_value *args,
                                     uint32_t count)
{
    struct feel_value out;

    (void)count;
    if (feel_number_compare(args[1], feel_int(0)) == 0)
        return feel_null(run, "a division by zero");
    return modulo(args[0], args[1], &out) ? out : too_large(run);
}

static struct feel_value parity(struct feel_run *run, struct feel_value v, int64_t wanted)
{
    int64_t n;

    if (feel_number_to_int(v, &n))
        return feel_bool((n & 1) == wanted);
    if (v.kind == FEEL_NUMBER && v.exponent > 0) /* a multiple of ten */
        return feel_bool(!wanted);
    return feel_null_of(run, "expected a whole number of at most 18 digits, found \1", v, v);
}

static struct feel_value call_odd(struct feel_run *run, const struct feel_value *args,
                                  uint32_t count)
{
    (void)count;
    return parity(run, args[0], 1);
}

static struct feel_value call_even(struct feel_run *run, const struct feel_value *args,
                                   uint32_t count)
{
    (void)count;
    return parity(run, args[0], 0);
}

// clang-format off
const struct feel_function feel_calls_number[] = {
    { "decimal",         2, 2, "nn", call_half_even, "decimal(number, digits)", false },
    { "floor",           1, 2, "nn", call_floor,     "floor(number, digits)", false },
    { "ceiling",         1, 2, "nn", call_ceiling,   "ceiling(number, digits)", false },
    { "round up",        2, 2, "nn", call_up,        "round up(number, digits)", false },
    { "round down",      2, 2, "nn", call_down,      "round down(number, digits)", false },
    { "round half up",   2, 2, "nn", call_half_up,   "round half up(number, digits)", false },
    { "round half down", 2, 2, "nn", call_half_down, "round half down(number, digits)", false },
    { "round half even", 2, 2, "nn", call_half_even, "round half even(number, digits)", false },
    { "abs",             1, 1, "n",  call_abs,       "abs(number)", false },
    { "modulo",          2, 2, "nn", call_modulo,    "modulo(number, divisor)", false },
    { "odd",             1, 1, "n",  call_odd,       "odd(number)", false },
    { "even",            1, 1, "n",  call_even,      "even(number)", false },
    { 0 },
};
// clang-format on
