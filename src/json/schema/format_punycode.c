/* format_punycode.c: Punycode, RFC 3492.
 *
 * Code points that are not ASCII become a list of steps: each says how many
 * positions to walk on, over and over the text with the code point rising by
 * one on each round, before the next insertion. Steps are written as numbers of
 * variable length whose thresholds adapt to what was written before. */
#include "json/schema/format_private.h"

#define BASE 36u
#define T_MIN 1u
#define T_MAX 26u
#define SKEW 38u
#define DAMP 700u
#define BIAS_FIRST 72u
#define CODE_POINT_FIRST 0x80u
#define CODE_POINT_LAST 0x10ffffu

static uint32_t adapt(uint32_t step, uint32_t points, bool first)
{
    uint32_t k = 0;
    step = first ? step / DAMP : step / 2;
    step += step / points;
    for (; step > (BASE - T_MIN) * T_MAX / 2; k += BASE)
        step /= BASE - T_MIN;
    return k + (BASE - T_MIN + 1) * step / (step + SKEW);
}

static uint32_t threshold(uint32_t k, uint32_t bias)
{
    if (k <= bias + T_MIN)
        return T_MIN;
    return k >= bias + T_MAX ? T_MAX : k - bias;
}

static bool digit_value(char c, uint32_t *value)
{
    unsigned char byte = (unsigned char)c;
    if (format_is_digit(byte))
        *value = byte - '0' + 26u;
    else if (format_is_letter(byte))
        *value = (byte | 32u) - 'a';
    else
        return false;
    return true;
}

/* One number off the front; false at the end of the text or when it is beyond all use. */
static bool take_step(str *s, uint32_t bias, uint32_t *step)
{
    uint64_t value = 0, weight = 1;
    for (uint32_t k = BASE;; k += BASE) {
        uint32_t digit;
        if (!s->len || !digit_value(s->at[0], &digit))
            return false;
        *s = str_slice(*s, 1, s->len);
        value += digit * weight;
        if (value > UINT32_MAX)
            return false;
        uint32_t t = threshold(k, bias);
        if (digit < t)
            break;
        weight *= BASE - t;
        if (weight > UINT32_MAX)
            return false;
    }
    *step = (uint32_t)value;
    return true;
}

bool punycode_decode(str text, uint32_t *out, size_t room, size_t *count)
{
    size_t n = 0, basic = text.len;
    while (basic > 0 && text.at[basic - 1] != '-')
        basic--;
    if (basic > room)
        return false;
    for (; n + 1 < basic; n++)
        out[n] = (unsigned char)text.at[n];

    uint32_t bias = BIAS_FIRST, step;
    uint64_t place = 0, point = CODE_POINT_FIRST;
    for (str rest = str_slice(text, basic, text.len); rest.len; place++) {
        if (n == room || !take_step(&rest, bias, &step))
            return false;
        bias = adapt(step, (uint32_t)n + 1, place == 0);
        place += step;
        point += place / (n + 1);
        place %= n + 1;
        if (point > CODE_POINT_LAST)
            return false;
        memmove(out + place + 1, out + place, (n - place) * sizeof *out);
        out[place] = (uint32_t)point;
        n++;
    }
    *count = n;
    return true;
}

static bool put(char *out, size_t room, size_t *len, char c)
{
    if (*len == room)
        return false;
    out[(*len)++] = c;
    return true;
}

static bool put_step(char *out, size_t room, size_t *len, uint32_t bias, uint32_t step)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    for (uint32_t k = BASE;; k += BASE) {
        uint32_t t = threshold(k, bias);
        if (step < t)
            return put(out, room, len, digits[step]);
        if (!put(out, room, len, digits[t + (step - t) % (BASE - t)]))
            return false;
        step = (step - t) / (BASE - t);
    }
}

/* The smallest code point that is at least `least`; 0 when there is none. */
static uint32_t next_point(const uint32_t *in, size_t count, uint32_t least)
{
    uint32_t next = 0;
    for (size_t i = 0; i < count; i++)
        if (in[i] >= least && (!next || in[i] < next))
            next = in[i];
    return next;
}

bool punycode_encode(const uint32_t *in, size_t count, char *out, size_t room, size_t *len)
{
    *len = 0;
    for (size_t i = 0; i < count; i++)
        if (in[i] < CODE_POINT_FIRST && !put(out, room, len, (char)in[i]))
            return false;
    uint32_t basic = (uint32_t)*len, done = basic;
    if (basic && !put(out, room, len, '-'))
        return false;

    uint32_t bias = BIAS_FIRST, step = 0, least = CODE_POINT_FIRST, point;
    for (; (point = next_point(in, count, least)); least = point + 1, step++) {
        /* With at most 63 bytes of room the product stays far below 2^32. */
        step += (point - least) * (done + 1);
        for (size_t i = 0; i < count; i++) {
            step += in[i] < point;
            if (in[i] != point)
                continue;
            if (!put_step(out, room, len, bias, step))
                return false;
            bias = adapt(step, done + 1, done == basic);
            step = 0;
            done++;
        }
    }
    return true;
}
