/* load.c: documents, the resources and anchors in them, and what references mean.
 *
 * A document is scanned once, along the keywords that hold schemas and no
 * others: an "$id" inside an enum names nothing. What a reference reaches
 * outside of those places is scanned when it is reached. */
#include "base/utf8.h"
#include "json/pointer.h"
#include "json/schema/build.h"
#include "json/uri.h"

enum {
    WIDE_OBJECT = 32, /* members from which on an object gets an index */
};

/* ---- scanning ---- */

static struct resource *resource_add(struct build *b, str uri, const struct json *root,
                                     struct dialect dialect)
{
    struct resource *r = ARENA_NEW(b->arena, struct resource);

    *r = (struct resource){
        .uri = uri,
        .root = root,
        .dialect = dialect,
        .index = b->resource_count++,
        .anchors = map_in(b->arena),
        .dynamic_anchors = map_in(b->arena),
        .previous = b->last,
    };
    b->last = r;
    return r;
}

static err scan(struct build *b, struct schema_location at);

static err scan_below(struct build *b, const struct schema_location *at, const struct json *json,
                      const char *keyword, const str *name, const uint32_t *index)
{
    struct buf pointer = buf_in(b->arena);

    buf_add(&pointer, at->pointer);
    json_pointer_add(&pointer, str_from(keyword));
    if (name)
        json_pointer_add(&pointer, *name);
    if (index)
        json_pointer_add_index(&pointer, *index);
    return scan(b, (struct schema_location){ json, at->resource, buf_str(&pointer) });
}

static err scan_array(struct build *b, const struct schema_location *at, const struct json *array,
                      const char *keyword)
{
    for (uint32_t i = 0; i < array->len; i++)
        TRY(scan_below(b, at, &array->items[i], keyword, NULL, &i));
    return NULL;
}

/* The schemas of a map; `dependencies` holds arrays of names as well. */
static err scan_map(struct build *b, const struct schema_location *at, const struct json *map,
                    const char *keyword, bool names_too)
{
    for (uint32_t i = 0; i < map->len; i++) {
        str name = json_name(&map->members[i]);
        if (!names_too || map->members[i].value.kind != JSON_ARRAY)
            TRY(scan_below(b, at, &map->members[i].value, keyword, &name, NULL));
    }
    return NULL;
}

static err scan_keyword(struct build *b, const struct schema_location *at, enum keyword k,
                        const struct json *value)
{
    const char *name = keyword_name(k);

    TRY(shape_check(b, at->pointer, k, value));
    switch (keyword_shape(k)) {
    case SHAPE_SCHEMA: return scan_below(b, at, value, name, NULL, NULL);
    case SHAPE_SCHEMAS: return scan_array(b, at, value, name);
    case SHAPE_SCHEMA_MAP: return scan_map(b, at, value, name, false);
    case SHAPE_DEPENDENCIES: return scan_map(b, at, value, name, true);
    case SHAPE_SCHEMA_OR_ARRAY:
        return value->kind == JSON_ARRAY ? scan_array(b, at, value, name)
                                         : scan_below(b, at, value, name, NULL, NULL);
    default: return NULL;
    }
}

static bool anchor_valid(str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i], low = (char)(c | 0x20);
        bool first = (low >= 'a' && low <= 'z') || c == '_';
        bool more = (c >= '0' && c <= '9') || c == '-' || c == '.' || c == ':';
        if (!first && (i == 0 || !more))
            return false;
    }
    return name.len > 0;
}

static err anchor_add(struct build *b, const struct schema_location *at, enum keyword k, str name,
                      struct map *anchors)
{
    if (!anchor_valid(name))
        return build_error(b, at->pointer, keyword_name(k),
                           "expected a letter or '_', then letters, digits and - _ . :, found "
                           "\"" STR_FMT "\"",
                           STR_ARG(name));
    const struct json *before = map_put(anchors, name, (void *)(uintptr_t)at->json);
    if (before && before != at->json)
        return build_error(b, at->pointer, keyword_name(k),
                           "expected each anchor once in a resource, found \"" STR_FMT "\" again",
                           STR_ARG(name));
    return NULL;
}

/* "$id": a new resource begins here; in draft-07 its fragment is an anchor. */
static err scan_id(struct build *b, struct schema_location *at, str id, struct dialect dialect)
{
    str uri, fragment;

    uri_split(id, &uri, &fragment);
    if (dialect.draft == DRAFT_07 && fragment.len && fragment.at[0] == '/') {
        build_warn(b, at->pointer, "$id",
                   "expected a URI or the name of a place like \"#name\", found \"" STR_FMT
                   "\", a pointer, which is ignored: places are reached by their pointers anyway",
                   STR_ARG(utf8_cut(id, 100)));
        return NULL;
    }
    if (fragment.len && dialect.draft != DRAFT_07)
        return build_error(b, at->pointer, "$id",
                           "expected a URI without fragment (use $anchor to name a place), found "
                           "\"" STR_FMT "\"",
                           STR_ARG(id));
    if (uri.len) {
        uri = uri_resolve(b->arena, at->resource->uri, uri);
        struct resource *before = map_get(&b->resources, uri);
        if (before && before->root != at->json)
            return build_error(b, at->pointer, "$id",
                               "expected each $id once, found \"" STR_FMT "\" again", STR_ARG(uri));
        at->resource = resource_add(b, uri, at->json, dialect);
        map_put(&b->resources, uri, at->resource);
    }
    if (fragment.len)
        TRY(anchor_add(b, at, KEYWORD_ID, fragment, &at->resource->anchors));
    return NULL;
}

static err scan_anchors(struct build *b, const struct schema_location *at, const struct keywords *k)
{
    struct resource *r = at->resource;
    const struct json *anchor = k->at[KEYWORD_ANCHOR], *dynamic = k->at[KEYWORD_DYNAMIC_ANCHOR];
    const struct json *recursive = k->at[KEYWORD_RECURSIVE_ANCHOR];

    if (json_is(anchor, JSON_STRING))
        TRY(anchor_add(b, at, KEYWORD_ANCHOR, json_text(anchor), &r->anchors));
    if (json_is(dynamic, JSON_STRING)) {
        TRY(anchor_add(b, at, KEYWORD_DYNAMIC_ANCHOR, json_text(dynamic), &r->anchors));
        map_put(&r->dynamic_anchors, json_text(dynamic), (void *)(uintptr_t)at->json);
    }
    if (json_is(recursive, JSON_BOOL) && recursive->len && at->json == r->root)
        map_put(&r->dynamic_anchors, STR(""), (void *)(uintptr_t)at->json);
    return NULL;
}

/* A schema and all that are inside it. Recursion is as deep as the document, which is bounded. */
static err scan(struct build *b, struct schema_location at)
{
    struct keywords k;

    if (at.json->kind != JSON_OBJECT && at.json->kind != JSON_BOOL)
        return build_error(b, at.pointer, "",
                           "expected a schema (an object, true or false), found %s",
                           json_kind_name(at.json->kind));
    if (build_location(b, at.json))
        return NULL;
    TRY(build_count(b, at.pointer, 1));
    struct schema_location *location = arena_alloc(b->arena, sizeof *location);
    *location = at;
    map_put(&b->known, address_key(&location->json), location);
    if (at.json->kind == JSON_BOOL)
        return NULL;

    struct dialect dialect = at.resource->dialect;
    str schema = json_str(at.json, "$schema");
    if (schema.len && json_get(at.json, "$id"))
        TRY(dialect_find(b, at.pointer, schema, &dialect));
    keywords_read(at.json, dialect, &k);
    if (json_is(k.at[KEYWORD_ID], JSON_STRING))
        TRY(scan_id(b, location, json_text(k.at[KEYWORD_ID]), dialect));
    TRY(scan_anchors(b, location, &k));
    for (int i = 0; i < KEYWORD_COUNT; i++)
        if (k.at[i])
            TRY(scan_keyword(b, location, i, k.at[i]));
    return NULL;
}

/* ---- documents ---- */

/* Pointers into a document other than the root begin with its address. */
static err document_load(struct build *b, str uri, const struct json *text, struct resource **out)
{
    str pointer = uri.len ? arena_printf(b->arena, STR_FMT "#", STR_ARG(uri)) : STR("");
    struct dialect dialect;

    TRY(dialect_find(b, pointer, json_str(text, "$schema"), &dialect));
    *out = resource_add(b, uri, text, dialect);
    map_put(&b->resources, uri, *out);
    return scan(b, (struct schema_location){ text, *out, pointer });
}

static err document_copy(struct build *b, str uri, const struct json *text, struct resource **out)
{
    struct json *copy = arena_alloc(b->arena, sizeof *copy);

    *copy = json_copy(b->arena, text);
    uri = arena_copy(b->arena, uri);
    return document_load(b, uri, copy, out);
}

/* Takes back the resources that were found after `last`. */
static void resources_forget(struct build *b, struct resource *last)
{
    for (; b->last != last; b->last = b->last->previous) {
        map_put(&b->resources, b->last->uri, NULL);
        b->resource_count--;
    }
}

/* An address that no document has may be an $id inside one that was not looked at yet. What is
 * wrong with documents that nobody refers to does not matter; but they were scanned in part only,
 * so whoever does refer to one must have it loaded again and learn what is wrong. */
static void documents_scan_all(struct build *b)
{
    for (size_t i = 0; i < b->options->document_count; i++) {
        const struct schema_document *d = &b->options->documents[i];
        str uri = uri_without_empty_fragment(d->uri);
        struct resource *last = b->last, *ignored;
        if (!map_get(&b->resources, uri) && document_copy(b, uri, d->text, &ignored))
            resources_forget(b, last);
    }
}

static err resource_find(struct build *b, str uri, struct resource **out)
{
    *out = map_get(&b->resources, uri);
    if (*out)
        return NULL;
    const struct json *text = build_document(b, uri);
    if (text)
        return document_copy(b, uri, text, out);
    uri = schema_meta_uri(uri);
    *out = map_get(&b->resources, uri);
    if (*out)
        return NULL;
    str meta = schema_meta_text(uri);
    if (meta.len) {
        TRY(json_parse(b->arena, meta, NULL, &text));
        return document_load(b, uri, text, out);
    }
    documents_scan_all(b);
    *out = map_get(&b->resources, uri);
    return NULL;
}

err build_load_root(struct build *b, const struct json *text, struct schema_location *out)
{
    struct resource *root;
    struct json *copy = arena_alloc(b->arena, sizeof *copy);

    *copy = json_copy(b->arena, text);
    if (copy->kind != JSON_OBJECT && copy->kind != JSON_BOOL)
        return build_error(b, STR(""), "", "expected a schema (an object, true or false), found %s",
                           json_kind_name(copy->kind));
    TRY(document_load(b, STR(""), copy, &root));
    *out = *build_location(b, copy);
    return NULL;
}

/* ---- references ---- */

/* One step of a pointer. A wide object, as $defs of thousands, is indexed once, or references into
 * it would take the square of their number. */
static const struct json *step_into(struct build *b, const struct json *at, str token)
{
    if (at->kind != JSON_OBJECT || at->len < WIDE_OBJECT)
        return json_pointer_step(at, token);
    struct map *index = map_get(&b->indexes, address_key(&at));
    if (!index) {
        const struct json **key = arena_alloc(b->arena, sizeof *key);
        *key = at;
        index = arena_alloc(b->arena, sizeof *index);
        *index = map_in(b->arena);
        for (uint32_t i = 0; i < at->len; i++)
            map_put(index, json_name(&at->members[i]), &at->members[i].value);
        map_put(&b->indexes, address_key(key), index);
    }
    return map_get(index, token);
}

/* Follows a pointer from a resource's root; on the way it may enter other resources. */
static err pointer_follow(struct build *b, struct resource *r, str text,
                          struct schema_location *out, bool *found)
{
    struct json_pointer pointer;
    *found = false;
    if (json_pointer_parse(b->arena, text, &pointer))
        return NULL;

    struct schema_location at = *build_location(b, r->root);
    struct buf path = buf_in(b->arena);
    buf_add(&path, at.pointer);
    for (size_t i = 0; i < pointer.count; i++) {
        at.json = step_into(b, at.json, pointer.tokens[i]);
        if (!at.json)
            return NULL;
        json_pointer_add(&path, pointer.tokens[i]);
        const struct schema_location *known = build_location(b, at.json);
        if (known)
            at.resource = known->resource;
    }
    at.pointer = buf_str(&path);
    TRY(scan(b, at));
    *out = *build_location(b, at.json);
    *found = true;
    return NULL;
}

err build_resolve(struct build *b, const struct schema_location *from, enum keyword keyword,
                  str reference, struct schema_location *out, str *dynamic)
{
    str uri, fragment;
    struct resource *r;
    bool found = false;

    uri_split(reference, &uri, &fragment);
    uri = uri_resolve(b->arena, from->resource->uri, uri);
    if (!uri.len || str_eq(uri, from->resource->uri))
        r = from->resource;
    else
        TRY(resource_find(b, uri, &r));
    if (!r)
        return build_error(b, from->pointer, keyword_name(keyword),
                           "there is no schema \"" STR_FMT "\": it is neither an $id in this "
                           "document nor one of the documents that were given, and nothing is "
                           "fetched from a network",
                           STR_ARG(uri));

    fragment = uri_decode(b->arena, fragment);
    if (dynamic)
        *dynamic = STR("");
    if (fragment.len == 0 || fragment.at[0] == '/') {
        TRY(pointer_follow(b, r, fragment, out, &found));
    } else {
        const struct json *json = map_get(&r->anchors, fragment);
        found = json != NULL;
        if (found)
            *out = *build_location(b, json);
        if (found && dynamic && map_get(&r->dynamic_anchors, fragment))
            *dynamic = fragment;
    }
    if (!found)
        return build_error(b, from->pointer, keyword_name(keyword),
                           "\"" STR_FMT "\" leads nowhere: there is no %s \"" STR_FMT
                           "\" in %s" STR_FMT,
                           STR_ARG(reference),
                           fragment.len && fragment.at[0] != '/' ? "anchor" : "value at",
                           STR_ARG(fragment), r->uri.len ? "" : "this document", STR_ARG(r->uri));
    return NULL;
}
