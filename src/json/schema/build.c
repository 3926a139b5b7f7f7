/* build.c: what all who make a program share: its errors and bounds, the documents that were given,
 * and the nodes, each of which is made when it is first asked for and filled later. */
#include "json/schema/build.h"

#include <assert.h>

#include "json/schema/message.h"
#include "json/uri.h"

/* ---- errors ---- */

err build_error(struct build *b, str pointer, const char *keyword, const char *format, ...)
{
    struct buf message = buf_in(b->errors);
    va_list args;

    va_start(args, format);
    buf_vprintf(&message, format, args);
    va_end(args);

    struct violation violation = { pointer, str_from(keyword), buf_str(&message) };
    err e = err_new(b->errors, ERR_UNFIT, "schema " STR_FMT "%s%s: " STR_FMT, STR_ARG(pointer),
                    keyword[0]    ? "/"
                    : pointer.len ? ""
                                  : "(whole document)",
                    keyword, STR_ARG(violation.message));
    return err_with(b->errors, e, message_errors(b->errors, &violation, 1));
}

void build_warn(struct build *b, str pointer, const char *keyword, const char *format, ...)
{
    struct schema_warnings *w = b->options->warnings;
    struct buf message = buf_in(b->errors);
    va_list args;

    if (!w || w->count == SCHEMA_WARNINGS_MAX)
        return;
    va_start(args, format);
    buf_vprintf(&message, format, args);
    va_end(args);
    w->items[w->count++] =
        (struct violation){ arena_copy(b->errors, pointer), str_from(keyword), buf_str(&message) };
}

err build_count(struct build *b, str pointer, uint32_t parts)
{
    uint32_t most = b->options->parts_max ? b->options->parts_max : SCHEMA_PARTS_MAX;

    b->parts += parts;
    if (b->parts <= most || b->options->is_known)
        return NULL;
    return err_new(
        b->errors, ERR_TOO_LARGE,
        "schema " STR_FMT ": expected at most %u schemas inside each other and beside each "
        "other, a different pattern counted as %d, found more: refer to one from several "
        "places with $ref, or split the document",
        STR_ARG(pointer), (unsigned)most, SCHEMA_PATTERN_PARTS);
}

/* ---- documents ---- */

const struct json *build_document(const struct build *b, str uri)
{
    for (size_t i = 0; i < b->options->document_count; i++)
        if (str_eq(uri_without_empty_fragment(b->options->documents[i].uri), uri))
            return b->options->documents[i].text;
    return NULL;
}

/* ---- nodes ---- */

const struct node *build_node_at(struct build *b, const struct schema_location *location)
{
    struct node *n = map_get(&b->nodes, address_key(&location->json));
    if (n)
        return n;
    if (b->count == b->room) {
        uint32_t room = b->room ? b->room * 2 : 64;
        b->queue =
            arena_grow(b->arena, b->queue, b->room * sizeof *b->queue, room * sizeof *b->queue);
        b->made = arena_grow(b->arena, b->made, b->room * sizeof *b->made, room * sizeof *b->made);
        b->room = room;
    }
    const struct json **key = arena_alloc(b->arena, sizeof *key);
    *key = location->json;
    assert(b->count < b->room && b->nodes.count == b->count);
    n = ARENA_NEW(b->arena, struct node);
    n->number_in_build = b->count;
    map_put(&b->nodes, address_key(key), n);
    b->queue[b->count] = *location;
    b->made[b->count++] = n;
    return n;
}

const struct node *build_node(struct build *b, const struct json *json)
{
    if (!json)
        return NULL;
    const struct schema_location *location = build_location(b, json);
    assert(location);
    return build_node_at(b, location);
}

const struct node **build_nodes(struct build *b, const struct json *array)
{
    const struct node **nodes = ARENA_ARRAY(b->arena, const struct node *, array->len);

    for (uint32_t i = 0; i < array->len; i++)
        nodes[i] = build_node(b, &array->items[i]);
    return nodes;
}
