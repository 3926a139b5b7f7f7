/* fuzz: src/runner/stream.c */
/* stream.c: any bytes as what an agent writes, under the rules of each profile that there is.
 *
 * Whatever comes in whichever pieces, lines and facts are the same, are UTF-8 without NUL, are
 * within their limits, and never show the secret, however it was written. */
#define _GNU_SOURCE /* memmem */
#include <assert.h>

#include "base/utf8.h"
#include "core/profile_data.h"
#include "runner/stream.h"

enum { PROFILES_MAX = 16 };

static const str secret = { "ss_k", 4 };
static struct arena *arena; /* of what follows */
static const struct json *outputs[PROFILES_MAX];
static size_t output_count;

static void line_keep(void *to, str line)
{
    assert(utf8_valid(line) && !memchr(line.at, '\0', line.len) &&
           !memchr(line.at, '\n', line.len));
    assert(!memmem(line.at, line.len, secret.at, secret.len));
    buf_add(to, line);
    buf_byte(to, '\n');
}

static void outputs_read(void)
{
    const struct json *profile;

    arena = arena_new();
    for (struct profile_built_in p; (p = profile_built_in(output_count)).name;) {
        err e = json_parse(arena, p.text, NULL, &profile);
        assert(!e);
        outputs[output_count++] = json_get(profile, "output");
    }
}

static void put_fact(struct buf *out, str text, size_t most)
{
    assert(text.len <= most && utf8_valid(text));
    assert(!text.len || !memmem(text.at, text.len, secret.at, secret.len));
    buf_add(out, text);
    buf_byte(out, '\n');
}

static str played(struct arena *a, const struct json *output, str bytes, size_t piece)
{
    struct buf out = buf_in(a);
    struct stream *s = stream_new(output, secret, line_keep, &out);

    for (size_t at = 0; at < bytes.len; at += piece)
        stream_feed(s, str_slice(bytes, at, at + piece));
    stream_end(s);
    struct stream_facts f = stream_facts(s);
    assert(f.usage.tokens_in >= 0 && f.usage.tokens_out >= 0 && f.usage.cost >= 0);
    assert(!f.client_id.len || f.client_id.at[0] != '-');
    put_fact(&out, f.client_id, STREAM_ID_MAX);
    put_fact(&out, f.result, STREAM_RESULT_MAX);
    put_fact(&out, f.error, STREAM_ERROR_MAX);
    put_fact(&out, f.heard, STREAM_HEARD_MAX);
    put_fact(&out, f.usage.models, STREAM_MODELS_MAX);
    buf_printf(&out, "%lld %lld", (long long)f.usage.tokens_in, (long long)f.usage.cost);
    stream_free(s);
    return buf_str(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!output_count)
        outputs_read();
    if (size < 2)
        return 0;
    const struct json *output = outputs[data[0] % output_count];
    str bytes = { (const char *)data + 2, size - 2 };
    struct arena *a = arena_new();
    str whole = played(a, output, bytes, bytes.len + 1);
    str pieces = played(a, output, bytes, 1 + data[1] % 64);
    assert(str_eq(whole, pieces));
    arena_free(a);
    return 0;
}
