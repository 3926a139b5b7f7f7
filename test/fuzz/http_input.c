/* fuzz: src/wire/http/input.c */
/* http_input.c: any bytes as a request that becomes the input of an operation.
 *
 * What is refused says why; what is taken is one object that has the captures of its path, a key of
 * visible characters, fields of the query as the operation knows them, and is the same when the
 * same bytes come again. */
#include <assert.h>

#include "base/utf8.h"
#include "ops/ops.h"
#include "wire/http/glue.h"
#include "wire/http/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct server server;
static struct quota *quota; /* of all requests */
static struct arena *arena; /* of the table */

static bool request_read(struct arena *a, str bytes, struct http *h)
{
    struct http_limits limits = { .body_max = 1 << 16 };
    size_t used;

    *h = (struct http){ .server = &server };
    h->x.arena = a;
    h->charge = charge_new(&server, a, quota);
    http_parser_init(&h->parser, a, &limits);
    if (http_parse(&h->parser, bytes, &used) != HTTP_HEAD_DONE ||
        http_parse(&h->parser, str_slice(bytes, used, bytes.len), &used) != HTTP_REQUEST_DONE)
        return false;
    op_route(server.options.table, h->parser.request.method, h->parser.request.path, &h->match);
    return h->match.op;
}

static void refused_check(err e)
{
    assert(e->kind == ERR_INVALID || e->kind == ERR_PRECONDITION || e->kind == ERR_TOO_LARGE);
    assert(e->message.len && utf8_valid(e->message));
}

static void taken_check(struct arena *a, struct http *h)
{
    const struct json *input = h->pending.command.input, *again;
    struct http_pair *pairs;
    size_t count;

    assert(json_is(input, JSON_OBJECT) && h->pending.command.op == h->match.op);
    err e = json_parse(a, json_printed(a, input),
                       &(struct json_limits){ .depth_max = JSON_DEPTH_MAX + 8 }, &again);
    assert(!e && json_equal(input, again));
    for (size_t i = 0; i < h->match.capture_count; i++) {
        str value;
        e = http_decode(a, h->match.captures[i].value, &value);
        assert(!e && str_eq(json_text(json_find(input, h->match.captures[i].field)), value));
    }
    assert(h->pending.command.key.len <= 255);
    for (size_t i = 0; i < h->pending.command.key.len; i++)
        assert(h->pending.command.key.at[i] >= ' ' && h->pending.command.key.at[i] < 0x7f);
    e = http_query(a, h->parser.request.query, &pairs, &count);
    assert(!e);
    for (size_t i = 0; i < count; i++) {
        str name = op_field_meant(server.options.table, h->match.op, pairs[i].name);
        assert(op_field(server.options.table, h->match.op, name) && json_find(input, name));
    }
    assert(!h->pending.command.precondition || json_int_or(input, "expected_version", 0) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    str bytes = size ? (str){ (const char *)data, size } : STR("");
    static struct http first, second;

    if (!arena) {
        struct op_table *table;
        arena = arena_new();
        err e = op_table_all(arena, &table);
        assert(!e);
        server.options.table = table;
        server.limits = server_limits_default();
        server.quotas = quotas_new();
        quota = quota_of(&server, NULL);
    }
    if (request_read(a, bytes, &first) && request_read(a, bytes, &second)) {
        err e = http_input(&first), same = http_input(&second);
        assert(!e == !same && (!e || str_eq(e->message, same->message)));
        if (e) {
            refused_check(e);
        } else {
            taken_check(a, &first);
            assert(json_equal(first.pending.command.input, second.pending.command.input));
        }
    }
    arena_free(a);
    return 0;
}
