/* compile_kinds.c: keywords that speak of an instance by its kind → the rules of a node.
 *
 * Objects, arrays, strings, numbers, and `type`, `enum` and `const`. What applies
 * schemas to the instance itself is compile.c's business. */
#include "base/utf8.h"
#include "json/schema/build.h"

/* ---- small values ---- */

static uint32_t count_of(const struct json *value, uint32_t otherwise)
{
    int64_t n;

    if (!value)
        return otherwise;
    return json_to_int(value, &n) && n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static struct name *names_of(struct build *b, const struct json *strings)
{
    struct name *names = ARENA_ARRAY(b->arena, struct name, strings->len);

    for (uint32_t i = 0; i < strings->len; i++)
        names[i] = name_of(json_text(&strings->items[i]));
    return names;
}

static err regex_of(struct build *b, const struct schema_location *at, enum keyword k, str text,
                    const struct regex **out)
{
    struct regex *regex = map_get(&b->patterns, text);

    *out = regex;
    if (regex)
        return NULL;
    TRY(build_count(b, at->pointer, SCHEMA_PATTERN_PARTS));
    bool loose;
    err e = regex_compile_loose(b->errors, text, &loose, &regex);
    if (loose)
        build_warn(b, at->pointer, keyword_name(k),
                   "\"" STR_FMT
                   "\" is no pattern with the flag u, which JSON Schema asks for; it is "
                   "read without it",
                   STR_ARG(utf8_cut(text, 100)));
    if (e)
        return build_error(b, at->pointer, keyword_name(k), "\"" STR_FMT "\": " STR_FMT,
                           STR_ARG(text), STR_ARG(e->message));
    arena_on_release(b->arena, (void (*)(void *))regex_free, regex);
    map_put(&b->patterns, text, regex);
    *out = regex;
    return NULL;
}

/* ---- the table of names ---- */

/* Names that are required and not declared join the table; each required one gets a bit. */
static void table_of(struct build *b, struct object_rules *o, const struct json *properties,
                     const struct json *required)
{
    uint32_t declared = properties ? properties->len : 0, listed = required ? required->len : 0;
    struct property *names = arena_zero(b->arena, (declared + listed + 1) * sizeof *names);
    struct map index = map_in(b->arena);

    for (uint32_t i = 0; i < declared; i++) {
        const struct json_member *m = &properties->members[i];
        names[i] = (struct property){ name_of(json_name(m)), build_node(b, &m->value), 0, 0 };
        map_put(&index, json_name(m), &names[i]);
    }
    o->name_count = declared;
    struct name *wanted = ARENA_ARRAY(b->arena, struct name, listed);
    for (uint32_t i = 0; i < listed; i++) {
        str name = json_text(&required->items[i]);
        struct property *p = map_get(&index, name);
        if (!p) {
            p = &names[o->name_count++];
            *p = (struct property){ name_of(name), NULL, 0, 0 };
            map_put(&index, name, p);
        }
        if (p->required)
            continue;
        wanted[o->required_count] = p->name;
        if (o->required_count < 64)
            o->required |= p->required = 1ull << o->required_count;
        o->required_count++;
    }
    o->required_names = wanted;
    if (o->required_count > 64) {
        o->required_more = wanted + 64;
        o->required_more_count = o->required_count - 64;
    }
    if (o->name_count)
        slots_make(b->arena, o, names);
}

/* ---- objects ---- */

static err patterns_of(struct build *b, const struct schema_location *at, struct object_rules *o,
                       const struct json *patterns)
{
    struct pattern_rule *rules = ARENA_ARRAY(b->arena, struct pattern_rule, patterns->len);

    for (uint32_t i = 0; i < patterns->len; i++) {
        const struct json_member *m = &patterns->members[i];
        rules[i] = (struct pattern_rule){ NULL, json_name(m), build_node(b, &m->value) };
        TRY(regex_of(b, at, KEYWORD_PATTERN_PROPERTIES, rules[i].text, &rules[i].regex));
    }
    o->patterns = rules;
    o->pattern_count = patterns->len;
    return NULL;
}

static void dependencies_of(struct build *b, struct object_rules *o, const struct keywords *k)
{
    static const enum keyword sources[] = { KEYWORD_DEPENDENT_REQUIRED, KEYWORD_DEPENDENT_SCHEMAS,
                                            KEYWORD_DEPENDENCIES };
    uint32_t count = 0;
    for (int s = 0; s < 3; s++)
        count += k->at[sources[s]] ? k->at[sources[s]]->len : 0;
    if (!count)
        return;

    struct dependency *all = arena_zero(b->arena, count * sizeof *all);
    o->dependencies = all;
    o->dependency_count = count;
    for (int s = 0; s < 3; s++) {
        const struct json *map = k->at[sources[s]];
        for (uint32_t i = 0; map && i < map->len; i++, all++) {
            const struct json *value = &map->members[i].value;
            all->keyword = keyword_name(sources[s]);
            all->name = name_of(json_name(&map->members[i]));
            if (value->kind == JSON_ARRAY) {
                all->required = names_of(b, value);
                all->required_count = value->len;
            } else {
                all->node = build_node(b, value);
            }
        }
    }
}

static err object_of(struct build *b, const struct schema_location *at, const struct keywords *k,
                     const struct object_rules **out)
{
    struct object_rules *o = ARENA_NEW(b->arena, struct object_rules);

    o->count_min = count_of(k->at[KEYWORD_MIN_PROPERTIES], 0);
    o->count_max = count_of(k->at[KEYWORD_MAX_PROPERTIES], UINT32_MAX);
    if (k->at[KEYWORD_PROPERTIES] || k->at[KEYWORD_REQUIRED])
        table_of(b, o, k->at[KEYWORD_PROPERTIES], k->at[KEYWORD_REQUIRED]);
    if (k->at[KEYWORD_PATTERN_PROPERTIES])
        TRY(patterns_of(b, at, o, k->at[KEYWORD_PATTERN_PROPERTIES]));
    o->additional = build_node(b, k->at[KEYWORD_ADDITIONAL_PROPERTIES]);
    o->names = build_node(b, k->at[KEYWORD_PROPERTY_NAMES]);
    o->unevaluated = build_node(b, k->at[KEYWORD_UNEVALUATED_PROPERTIES]);
    dependencies_of(b, o, k);
    o->plain = o->name_count && !o->pattern_count && !o->additional && !o->names &&
               !o->unevaluated && !o->dependency_count && !o->required_more_count;

    bool says_anything = o->name_count || o->pattern_count || o->additional || o->names ||
                         o->unevaluated || o->dependency_count || o->count_min ||
                         o->count_max != UINT32_MAX;
    *out = says_anything ? o : NULL;
    return NULL;
}

/* ---- arrays ---- */

/* Before 2020-12, `items` is either the schema of all elements or the list for the first ones. */
static void items_of(struct build *b, struct array_rules *a, const struct keywords *k)
{
    const struct json *old = k->at[KEYWORD_ITEMS_OLD];
    const struct json *prefix = json_is(old, JSON_ARRAY) ? old : k->at[KEYWORD_PREFIX_ITEMS];
    const struct json *rest = old ? old : k->at[KEYWORD_ITEMS];

    a->items_keyword = "items";
    if (prefix && prefix == old) {
        rest = k->at[KEYWORD_ADDITIONAL_ITEMS];
        a->items_keyword = "additionalItems";
    }
    if (prefix) {
        a->prefix = build_nodes(b, prefix);
        a->prefix_count = prefix->len;
    }
    a->items = build_node(b, rest);
}

static const struct array_rules *array_of(struct build *b, const struct schema_location *at,
                                          const struct keywords *k)
{
    struct array_rules *a = ARENA_NEW(b->arena, struct array_rules);
    const struct json *unique = k->at[KEYWORD_UNIQUE_ITEMS];

    a->count_min = count_of(k->at[KEYWORD_MIN_ITEMS], 0);
    a->count_max = count_of(k->at[KEYWORD_MAX_ITEMS], UINT32_MAX);
    a->unique = unique && unique->len;
    items_of(b, a, k);
    a->contains = build_node(b, k->at[KEYWORD_CONTAINS]);
    a->contains_min = count_of(k->at[KEYWORD_MIN_CONTAINS], 1);
    a->contains_max = count_of(k->at[KEYWORD_MAX_CONTAINS], UINT32_MAX);
    a->contains_marks = at->resource->dialect.draft == DRAFT_2020;
    a->unevaluated = build_node(b, k->at[KEYWORD_UNEVALUATED_ITEMS]);

    a->plain = a->items && !a->prefix_count && !a->contains && !a->unique && !a->unevaluated &&
               !a->count_min && a->count_max == UINT32_MAX;
    bool says_anything = a->count_min || a->count_max != UINT32_MAX || a->unique ||
                         a->prefix_count || a->items || a->contains || a->unevaluated;
    return says_anything ? a : NULL;
}

/* ---- strings, numbers, values ---- */

static err string_of(struct build *b, const struct schema_location *at, const struct keywords *k,
                     const struct string_rules **out)
{
    struct string_rules *s = ARENA_NEW(b->arena, struct string_rules);
    bool asserts = b->options->assert_formats ||
                   at->resource->dialect.vocabularies & VOCABULARY_FORMAT_ASSERTED;

    s->length_min = count_of(k->at[KEYWORD_MIN_LENGTH], 0);
    s->length_max = count_of(k->at[KEYWORD_MAX_LENGTH], UINT32_MAX);
    if (k->at[KEYWORD_PATTERN]) {
        s->pattern_text = json_text(k->at[KEYWORD_PATTERN]);
        TRY(regex_of(b, at, KEYWORD_PATTERN, s->pattern_text, &s->pattern));
    }
    if (k->at[KEYWORD_FORMAT] && asserts)
        s->format = format_find(json_text(k->at[KEYWORD_FORMAT]));

    bool says_anything = s->length_min || s->length_max != UINT32_MAX || s->pattern || s->format;
    *out = says_anything ? s : NULL;
    return NULL;
}

static struct bound bound_of(const struct json *number, bool excluded)
{
    struct bound bound = { .number = number, .excluded = excluded };

    if (number)
        bound.is_small = json_to_int(number, &bound.value);
    return bound;
}

/* Of an including and an excluding bound only the narrower one matters. */
static struct bound bound_narrow(const struct json *included, const struct json *excluded, int sign)
{
    if (included && excluded)
        return sign * json_number_compare(included, excluded) > 0 ? bound_of(included, false)
                                                                  : bound_of(excluded, true);
    return included ? bound_of(included, false) : bound_of(excluded, true);
}

/* Of a `whole` number that somebody reads as one of 64 bits, also those where the schema has none. */
static const struct number_rules *number_of(struct build *b, const struct keywords *k, bool whole)
{
    static const char least[] = "-9223372036854775808", most[] = "9223372036854775807";
    static const struct json bounds[] = {
        { .kind = JSON_INTEGER, .len = sizeof least - 1, .text = least },
        { .kind = JSON_INTEGER, .len = sizeof most - 1, .text = most },
    };
    struct number_rules *n = ARENA_NEW(b->arena, struct number_rules);

    n->min = bound_narrow(k->at[KEYWORD_MINIMUM], k->at[KEYWORD_EXCLUSIVE_MINIMUM], 1);
    n->max = bound_narrow(k->at[KEYWORD_MAXIMUM], k->at[KEYWORD_EXCLUSIVE_MAXIMUM], -1);
    if (whole && b->options->integers_64 && !n->min.number)
        n->min = bound_of(&bounds[0], false);
    if (whole && b->options->integers_64 && !n->max.number)
        n->max = bound_of(&bounds[1], false);
    n->multiple = k->at[KEYWORD_MULTIPLE_OF];
    n->digits = (n->min.number ? n->min.number->len : 0) +
                (n->max.number ? n->max.number->len : 0) + (n->multiple ? n->multiple->len : 0);
    if (n->multiple && !json_to_int(n->multiple, &n->multiple_value))
        n->multiple_value = 0;
    return n->min.number || n->max.number || n->multiple ? n : NULL;
}

static const struct value_rules *values_of(struct build *b, const struct json *all,
                                           const char *keyword)
{
    struct value_rules *v = ARENA_NEW(b->arena, struct value_rules);
    struct name *texts = ARENA_ARRAY(b->arena, struct name, all->len);

    for (uint32_t i = 0; i < all->len; i++) {
        const struct json *value = &all->items[i];
        if (value->kind == JSON_STRING) {
            texts[v->text_count++] = name_of(json_text(value));
        } else {
            v->others++;
        }
    }
    texts_make(b->arena, v, texts);
    v->keyword = keyword;
    v->all = all;
    return v;
}

static const struct value_rules *constant_of(struct build *b, const struct json *value)
{
    struct json *all = arena_alloc(b->arena, sizeof *all);

    *all = json_array();
    json_push(b->arena, all, *value);
    return values_of(b, all, "const");
}

/* `type`: the kinds that pass. An "integer" may be written with a fraction of zero. */
static void type_of(const struct json *type, struct node *n)
{
    uint32_t count = type->kind == JSON_ARRAY ? type->len : 1;
    unsigned kinds = 0;

    for (uint32_t i = 0; i < count; i++)
        kinds |= type_kinds(json_text(type->kind == JSON_ARRAY ? &type->items[i] : type));
    if ((kinds & JSON_NUMBERS) == 1 << JSON_INTEGER) {
        kinds |= 1 << JSON_REAL;
        n->whole = true;
    }
    n->kinds = (uint8_t)kinds;
}

/* ---- all of them ---- */

err build_kinds(struct build *b, const struct schema_location *at, const struct keywords *k,
                struct node *n)
{
    if (k->at[KEYWORD_TYPE])
        type_of(k->at[KEYWORD_TYPE], n);
    if (k->at[KEYWORD_CONST])
        n->constant = constant_of(b, k->at[KEYWORD_CONST]);
    if (k->at[KEYWORD_ENUM])
        n->values = values_of(b, k->at[KEYWORD_ENUM], "enum");
    n->number = number_of(b, k, n->whole);
    n->array = array_of(b, at, k);
    TRY(string_of(b, at, k, &n->string));
    return object_of(b, at, k, &n->object);
}
