/* stream.c: what an agent writes → lines that may be shown, and facts. */
#define _GNU_SOURCE /* memmem */
#include "runner/stream.h"

#include <math.h>

#include "base/utf8.h"
#include "json/pointer.h"

enum { TOKENS_MOST = 1000000000, DOLLARS_MOST = 1000000 };

/* A text that lives as long as the stream and is bounded. */
struct owned {
    char *at;
    size_t len, room;
    bool lost; /* the beginning of it is not here any more */
};

struct stream {
    const struct json *output;
    bool text;
    struct owned secret;
    void (*line)(void *, str);
    void *to;

    struct owned partial; /* the line that has not ended */
    bool too_long;        /* and its rest is passed over */
    struct arena *arena;  /* of one line */

    struct owned client_id, result, error, heard, models, said;
    bool has_result, failed;
    struct stream_usage usage;
};

/* ---- texts that are kept ---- */

static void owned_add(struct owned *k, str s)
{
    if (!s.len)
        return;
    if (k->room - k->len < s.len) {
        k->room = (k->len + s.len) * 2;
        k->at = mem_grow(k->at, k->room);
    }
    memcpy(k->at + k->len, s.at, s.len);
    k->len += s.len;
}

static void owned_set(struct owned *k, str s)
{
    k->len = 0;
    owned_add(k, s);
}

static str owned_str(const struct owned *k)
{
    return (str){ k->at ? k->at : "", k->len };
}

/* Appends, and forgets the beginning when it is more than twice what is wanted. */
static void owned_add_tail(struct owned *k, str s, size_t most)
{
    k->lost = k->lost || s.len > 2 * most || k->len + s.len > 2 * most;
    if (s.len > 2 * most)
        s = str_slice(s, s.len - 2 * most, s.len);
    if (k->len + s.len > 2 * most) {
        size_t drop = k->len > most ? k->len - most : 0;
        memmove(k->at, k->at + drop, k->len - drop);
        k->len -= drop;
    }
    owned_add(k, s);
}

/* The last bytes of it, beginning with a whole character. */
static str tail_of(str s, size_t most)
{
    if (s.len <= most)
        return s;
    s = str_slice(s, s.len - most, s.len);
    while (s.len && ((unsigned char)s.at[0] & 0xc0) == 0x80)
        s = str_slice(s, 1, s.len);
    return s;
}

/* ---- a line that may be shown ---- */

static void put_valid(struct buf *out, str s)
{
    while (s.len) {
        size_t good = utf8_valid_to(s);
        size_t nul = str_find(str_slice(s, 0, good), '\0');
        size_t n = nul < good ? nul : good;
        buf_add(out, str_slice(s, 0, n));
        if (n < s.len)
            buf_add(out, STR("\xef\xbf\xbd"));
        s = str_slice(s, n + 1, s.len);
    }
}

static str repaired(struct stream *s, str line)
{
    struct buf out = buf_in(s->arena);

    if (line.len && line.at[line.len - 1] == '\r')
        line.len--;
    while (s->secret.len && line.len) {
        const char *found = memmem(line.at, line.len, s->secret.at, s->secret.len);
        if (!found)
            break;
        size_t before = (size_t)(found - line.at);
        put_valid(&out, str_slice(line, 0, before));
        buf_add(&out, STR("[token]"));
        line = str_slice(line, before + s->secret.len, line.len);
    }
    put_valid(&out, line);
    return buf_str(&out);
}

/* ---- facts that may be told ---- */

static void mask_in(const struct stream *s, char *at, size_t len)
{
    char *found;

    while (s->secret.len && len && (found = memmem(at, len, s->secret.at, s->secret.len)))
        memset(found, '*', s->secret.len);
}

/* A line shows no token, but what it stands for may: characters can be written as escapes. */
static str masked(struct stream *s, str text)
{
    bool told = s->secret.len && text.len && memmem(text.at, text.len, s->secret.at, s->secret.len);
    str copy = told ? arena_copy(s->arena, text) : text;

    if (told)
        mask_in(s, (char *)copy.at, copy.len);
    return copy;
}

/* And where pieces are joined, one may stand across the seam. */
static void mask_seam(const struct stream *s, struct owned *k, size_t added)
{
    size_t from = k->len > added + s->secret.len ? k->len - added - s->secret.len : 0;

    if (k->len)
        mask_in(s, k->at + from, k->len - from);
}

/* ---- rules ---- */

static const struct json *at(struct stream *s, const struct json *line, str pointer)
{
    const struct json *found;
    return json_pointer_get(s->arena, line, pointer, &found) ? NULL : found;
}

static bool matches(struct stream *s, const struct json *rule, const struct json *line)
{
    const struct json *where = json_get(rule, "where");

    for (uint32_t i = 0; json_is(where, JSON_OBJECT) && i < where->len; i++) {
        const struct json *found = at(s, line, json_name(&where->members[i]));
        if (!found || !json_equal(found, &where->members[i].value))
            return false;
    }
    return true;
}

/* The first rule of a list that matches and points at a text; NULL: none does. */
static const struct json *rule_for(struct stream *s, const char *list, const struct json *line,
                                   str *text)
{
    const struct json *rules = json_get(s->output, list);

    for (uint32_t i = 0; json_is(rules, JSON_ARRAY) && i < rules->len; i++) {
        const struct json *rule = &rules->items[i], *value;
        if (!matches(s, rule, line))
            continue;
        value = at(s, line, json_str(rule, "at"));
        if (json_is(value, JSON_STRING)) {
            *text = masked(s, json_text(value));
            return rule;
        }
    }
    return NULL;
}

static bool any_matches(struct stream *s, const char *list, const struct json *line)
{
    const struct json *rules = json_get(s->output, list);

    for (uint32_t i = 0; json_is(rules, JSON_ARRAY) && i < rules->len; i++)
        if (matches(s, &rules->items[i], line))
            return true;
    return false;
}

/* ---- facts ---- */

/* It becomes an argument of the next turn's command line. */
static bool is_id(str text)
{
    bool good = text.len > 0 && text.len <= STREAM_ID_MAX && text.at[0] != '-';

    for (size_t i = 0; good && i < text.len; i++) {
        char c = text.at[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == ':' || c == '-';
    }
    return good;
}

/* A few words in one line. */
static void heard_set(struct stream *s, str text)
{
    text = utf8_cut(str_trim(text), STREAM_HEARD_MAX);
    if (!text.len)
        return;
    owned_set(&s->heard, text);
    for (size_t i = 0; i < s->heard.len; i++)
        if ((unsigned char)s->heard.at[i] < ' ')
            s->heard.at[i] = ' ';
}

static void result_take(struct stream *s, const struct json *line)
{
    str text;
    const struct json *rule = rule_for(s, "result", line, &text);

    if (!rule)
        return;
    if (!str_eq(json_str(rule, "add"), STR("join")))
        s->result.len = s->result.lost = 0;
    owned_add_tail(&s->result, text, STREAM_RESULT_MAX);
    mask_seam(s, &s->result, text.len);
    s->has_result = true;
}

static int64_t tokens_at(struct stream *s, const struct json *line, const struct json *rule,
                         const char *member)
{
    str pointer = json_str(rule, member);
    const struct json *found = pointer.len ? at(s, line, pointer) : NULL;
    int64_t n;

    if (!json_is_number(found) || !json_to_int(found, &n) || n < 0)
        return 0;
    return n < TOKENS_MOST ? n : TOKENS_MOST;
}

static int64_t cost_at(struct stream *s, const struct json *line, const struct json *rule)
{
    str pointer = json_str(rule, "cost_usd");
    const struct json *found = pointer.len ? at(s, line, pointer) : NULL;
    double dollars = json_is_number(found) ? json_to_double(found) : 0;

    if (!(dollars > 0))
        return 0;
    return (int64_t)round((dollars < DOLLARS_MOST ? dollars : DOLLARS_MOST) * 1e6);
}

/* A figure that counts the whole conversation counts all of this turn, too. */
static bool is_summed(const struct json *rule, str figure)
{
    const struct json *whole = json_get(rule, "whole");

    for (uint32_t i = 0; json_is(whole, JSON_ARRAY) && i < whole->len; i++)
        if (str_eq(json_text(&whole->items[i]), figure))
            return false;
    return str_eq(json_str(rule, "add"), STR("sum"));
}

static void count(int64_t *total, const struct json *rule, str figure, int64_t more)
{
    int64_t most = INT64_MAX / 2;

    if (!is_summed(rule, figure))
        *total = more;
    else
        *total = *total + more < most ? *total + more : most;
}

static void usage_add(struct stream *s, const struct json *line, const struct json *rule)
{
    str pointer = json_str(rule, "models");
    const struct json *models = pointer.len ? at(s, line, pointer) : NULL;
    struct stream_usage *u = &s->usage;

    u->known = true;
    u->whole = json_get(rule, "whole");
    count(&u->tokens_in, rule, STR("input_tokens"), tokens_at(s, line, rule, "input"));
    count(&u->tokens_out, rule, STR("output_tokens"), tokens_at(s, line, rule, "output"));
    count(&u->tokens_cached, rule, STR("cached_tokens"), tokens_at(s, line, rule, "cached"));
    count(&u->cost, rule, STR("cost_usd"), cost_at(s, line, rule));
    if (json_is(models, JSON_OBJECT) && json_print_size(models) <= STREAM_MODELS_MAX)
        owned_set(&s->models, masked(s, json_printed(s->arena, models)));
}

static void facts_take(struct stream *s, const struct json *line)
{
    const struct json *rules = json_get(s->output, "usage");
    str text;

    if (rule_for(s, "client_id", line, &text) && is_id(text))
        owned_set(&s->client_id, text);
    if (rule_for(s, "heard", line, &text))
        heard_set(s, text);
    result_take(s, line);
    if (any_matches(s, "failed", line)) {
        s->failed = true;
        text = STR("");
        rule_for(s, "failed", line, &text);
        owned_set(&s->error, utf8_cut(text, STREAM_ERROR_MAX));
    }
    for (uint32_t i = 0; json_is(rules, JSON_ARRAY) && i < rules->len; i++)
        if (matches(s, &rules->items[i], line))
            usage_add(s, line, &rules->items[i]);
}

/* ---- lines ---- */

/* What is no JSON among JSON lines is said by somebody on the way: a wrapper, a warning. */
static void text_take(struct stream *s, str line)
{
    owned_add_tail(&s->said, line, STREAM_RESULT_MAX);
    owned_add_tail(&s->said, STR("\n"), STREAM_RESULT_MAX);
    if (s->text)
        heard_set(s, line);
}

static void line_take(struct stream *s, str bytes, bool cut)
{
    const struct json *parsed;
    str line;

    arena_reset(s->arena);
    line = repaired(s, cut ? str_slice(bytes, 0, 2 * STREAM_LINE_KEPT) : bytes);
    if (cut)
        line = arena_printf(s->arena, STR_FMT " [the rest of this line is left out]",
                            STR_ARG(utf8_cut(line, STREAM_LINE_KEPT)));
    if (s->text || cut || json_parse(s->arena, line, NULL, &parsed) ||
        !json_is(parsed, JSON_OBJECT))
        text_take(s, line);
    else
        facts_take(s, parsed);
    s->line(s->to, line);
}

/* More of the line that has not ended. */
static void partial_add(struct stream *s, str bytes)
{
    if (s->too_long)
        return;
    if (s->partial.len + bytes.len <= STREAM_LINE_MAX) {
        owned_add(&s->partial, bytes);
        return;
    }
    /* More than is shown, so that a token across the cut is still seen whole. */
    owned_add(&s->partial, str_slice(bytes, 0, 2 * STREAM_LINE_KEPT));
    s->too_long = true;
}

static void partial_end(struct stream *s)
{
    line_take(s, owned_str(&s->partial), s->too_long);
    s->partial.len = 0;
    s->too_long = false;
}

void stream_feed(struct stream *s, str bytes)
{
    while (bytes.len) {
        size_t end = str_find(bytes, '\n');
        partial_add(s, str_slice(bytes, 0, end));
        if (end == bytes.len)
            return;
        partial_end(s);
        bytes = str_slice(bytes, end + 1, bytes.len);
    }
}

void stream_end(struct stream *s)
{
    if (s->partial.len)
        partial_end(s);
}

/* A client that ends without saying what its result is has said something before. */
static str result_of(const struct stream *s, bool *cut)
{
    *cut = false;
    if (!s->text && !s->has_result && s->heard.len)
        return owned_str(&s->heard);
    str whole = !s->text && s->has_result ? owned_str(&s->result) : str_trim(owned_str(&s->said));
    *cut = whole.len > STREAM_RESULT_MAX || (!s->text && s->has_result ? s->result : s->said).lost;
    return tail_of(whole, STREAM_RESULT_MAX);
}

struct stream_facts stream_facts(struct stream *s)
{
    bool cut;
    struct stream_facts f = { .client_id = owned_str(&s->client_id),
                              .result = result_of(s, &cut),
                              .error = owned_str(&s->error),
                              .failed = s->failed,
                              .heard = owned_str(&s->heard),
                              .usage = s->usage };

    f.result_cut = cut;
    f.usage.models = owned_str(&s->models);
    return f;
}

/* ---- coming and going ---- */

struct stream *stream_new(const struct json *output, str secret, void (*line)(void *to, str text),
                          void *to)
{
    struct stream *s = mem_alloc(sizeof *s);

    *s = (struct stream){ .output = output, .line = line, .to = to, .arena = arena_new() };
    s->text = !str_eq(json_str(output, "format"), STR("jsonl"));
    owned_set(&s->secret, secret);
    return s;
}

void stream_free(struct stream *s)
{
    struct owned *all[] = { &s->secret, &s->partial, &s->client_id, &s->result,
                            &s->error,  &s->heard,   &s->models,    &s->said };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]->at);
    arena_free(s->arena);
    mem_free(s);
}
