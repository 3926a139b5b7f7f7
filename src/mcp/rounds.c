/* rounds.c: requests that are answered in several rounds.
 *
 * Where more is needed, the client gets a text, requestState, and repeats its request with it.
 * Nothing is kept here meanwhile: the text says how far the request is. It comes from outside, so
 * it is signed, together with what it is good for: one token, one method, one thing that is asked
 * for with these arguments, until a time.
 *
 *   base64url( HMAC-SHA-256 (32 bytes) · {"until":ms,"payload":…} ) */
#include "base/digest.h"
#include "mcp/mcp_private.h"
#include "mcp/write.h"

/* ---- signing ---- */

/* What the request asks for, apart from what changes from round to round. */
static str arguments_digest(struct mcp_call *m)
{
    const struct json *arguments = json_get(m->message.params, "arguments");
    struct buf text = buf_in(m->arena);
    unsigned char digest[SHA256_BYTES];

    if (arguments)
        json_print_canonical(&text, arguments);
    sha256(buf_str(&text), digest);
    return hex_encode(m->arena, (str){ (const char *)digest, sizeof digest });
}

static str asked_for(const struct mcp_call *m)
{
    const struct json *name = json_get(m->message.params, "name");

    return json_str(m->message.params, name ? "name" : "uri");
}

/* An array of strings, so that no two sets of them are the same text. */
static void sign(struct mcp_call *m, str inner, unsigned char mac[SHA256_BYTES])
{
    str secret = { (const char *)m->mcp->options.secret, sizeof m->mcp->options.secret };
    str token = m->actor ? actor_token(m->actor) : STR("");
    const str parts[] = { STR("round"),      inner,        token,
                          m->message.method, asked_for(m), arguments_digest(m) };
    struct buf text = buf_in(m->arena);
    struct json_writer w = json_writer_to(&text);

    json_write_begin(&w, '[');
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        json_write_str(&w, parts[i]);
    json_write_end(&w, ']');
    hmac_sha256(secret, buf_str(&text), mac);
}

str round_seal(struct mcp_call *m, str payload, int64_t lives_ms)
{
    unsigned char mac[SHA256_BYTES];
    struct buf inner = buf_in(m->arena), whole = buf_in(m->arena);
    struct json_writer w = json_writer_to(&inner);

    json_write_begin(&w, '{');
    write_int(&w, STR("until"), m->now_ms + lives_ms);
    write_printed(&w, STR("payload"), payload);
    json_write_end(&w, '}');
    sign(m, buf_str(&inner), mac);
    buf_add(&whole, (str){ (const char *)mac, sizeof mac });
    buf_add(&whole, buf_str(&inner));
    return base64url_encode(m->arena, buf_str(&whole));
}

/* ---- opening ---- */

/* What is inside of a text that was sealed for this request; false: it was not. */
static bool unseal(struct mcp_call *m, const struct json *sealed, const struct json **out)
{
    unsigned char mac[SHA256_BYTES];
    str whole;

    if (!json_is(sealed, JSON_STRING) || !base64url_decode(m->arena, json_text(sealed), &whole) ||
        whole.len <= SHA256_BYTES)
        return false;
    str inner = str_slice(whole, SHA256_BYTES, whole.len);
    sign(m, inner, mac);
    return digest_equal((str){ (const char *)mac, sizeof mac },
                        str_slice(whole, 0, SHA256_BYTES)) &&
           !json_parse_own(m->arena, inner, out);
}

bool round_open(struct mcp_call *m, const struct json **out)
{
    const struct json *sealed = json_get(m->message.params, "requestState"), *inner;

    *out = NULL;
    if (!sealed)
        return true;
    if (!unseal(m, sealed, &inner)) {
        mcp_refuse(m, RPC_PARAMS, STR(""),
                   "expected the \"requestState\" that was given out for this request, as it was "
                   "and with the same arguments; begin again without it");
        return false;
    }
    if (json_int_or(inner, "until", 0) <= m->now_ms) {
        mcp_refuse(m, RPC_PARAMS, STR(""),
                   "this \"requestState\" has expired; begin again without it");
        return false;
    }
    *out = json_get(inner, "payload");
    return true;
}

/* ---- what the client answers ---- */

/* Of elicitation/create. What was filled in is there only when it was accepted. */
bool round_fits_elicitation(const struct json *response)
{
    str action = json_str(response, "action");
    const struct json *content = json_get(response, "content");

    if (str_eq(action, STR("accept")))
        return !content || json_is(content, JSON_OBJECT);
    return str_eq(action, STR("decline")) || str_eq(action, STR("cancel"));
}

/* Of sampling/createMessage. */
static bool fits_sampling(const struct json *response)
{
    const struct json *content = json_get(response, "content");

    return json_is(json_get(response, "role"), JSON_STRING) &&
           (json_is(content, JSON_OBJECT) || json_is(content, JSON_ARRAY));
}

/* Of roots/list. */
static bool fits_roots(const struct json *response)
{
    return json_is(json_get(response, "roots"), JSON_ARRAY);
}

const struct json *round_response(struct mcp_call *m, const char *name)
{
    const struct json *all = json_get(m->message.params, "inputResponses");
    const struct json *response = json_get(all, name);

    return round_fits_elicitation(response) || fits_sampling(response) || fits_roots(response)
               ? response
               : NULL;
}

/* ---- asking for more ---- */

struct json_writer *round_begin(struct mcp_call *m)
{
    return mcp_result_begin_as(m, "input_required");
}

void round_end(struct mcp_call *m, str request_state)
{
    if (request_state.len)
        write_text(&m->writer, STR("requestState"), request_state);
    mcp_result_end(m);
}
