/* policy.c: what a schema says of its states beyond JSON Schema. */
#include "core/policy.h"

#include "json/pointer.h"
#include "json/schema/schema.h"

#define STATE_BYTES_CEILING (1u << 20)

/* A section of the document that has owners, or that has such sections below it. */
struct policy_section {
    str name;
    const str *owners;
    size_t owner_count; /* 0: those of the section around it */
    struct policy_section *sections;
    size_t section_count;
    struct json names; /* of those sections, as members of an object, in the same order */
};

/* ---- x-baton ---- */

#define JSON(...) #__VA_ARGS__

/* Times are seconds, or how long states are kept a number and its unit. */
static const char baton_schema[] = JSON({
    "properties": {
        "x-baton": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "format": { "enum": ["annotation", "assertion"] },
                "writer": { "enum": ["engine"] },
                "state_bytes_max": { "type": "integer", "minimum": 1, "maximum": 1048576 },
                "retention": {
                    "anyOf": [
                        { "type": "integer", "minimum": 0, "maximum": 3153600000 },
                        { "type": "string", "pattern": "^[0-9]{1,5}[smhd]$" }
                    ]
                },
                "state_update": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                        "max_retries": { "type": "integer", "minimum": 0, "maximum": 100 },
                        "timeout": { "type": "integer", "minimum": 1, "maximum": 86400 },
                        "retry_delay": { "type": "integer", "minimum": 0, "maximum": 86400 },
                        "policy": { "enum": ["always", "if_missing"] },
                        "on_failure": { "enum": ["try", "skip"] }
                    }
                }
            }
        }
    }
});

static err baton_check(struct arena *a, const struct json *schema)
{
    const struct json *text;
    struct schema *program;

    TRY(json_parse(a, str_from(baton_schema), NULL, &text));
    TRY(schema_compile(a, text, NULL, &program));
    err e = schema_require(a, program, schema);
    schema_free(program);
    return e;
}

static int64_t seconds_or_none(const struct json *said, const char *name)
{
    int64_t seconds = json_int_or(said, name, -1);

    return seconds < 0 ? -1 : seconds * 1000;
}

static struct policy_update update_read(const struct json *said)
{
    return (struct policy_update){
        .always = str_eq(json_str(said, "policy"), STR("always")),
        .skip_failure = str_eq(json_str(said, "on_failure"), STR("skip")),
        .attempts = json_int_or(said, "max_retries", -1),
        .timeout_ms = seconds_or_none(said, "timeout"),
        .delay_ms = seconds_or_none(said, "retry_delay"),
    };
}

/* "7d", or seconds; it has been checked. */
static int64_t retention_read(const struct json *said)
{
    static const struct {
        char unit;
        int64_t ms;
    } units[] = { { 's', 1000 }, { 'm', 60 * 1000 }, { 'h', 3600 * 1000 }, { 'd', 86400 * 1000 } };
    int64_t n = -1;

    if (!said)
        return -1;
    if (said->kind != JSON_STRING)
        return json_to_int(said, &n) ? n * 1000 : -1;
    str text = json_text(said);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (text.len && text.at[text.len - 1] == units[i].unit &&
            str_to_int(str_slice(text, 0, text.len - 1), &n))
            return n * units[i].ms;
    return -1;
}

static err baton_read(struct arena *a, const struct json *schema, struct policy *out)
{
    const struct json *said = json_get(schema, "x-baton");

    *out = (struct policy){ .formats_asserted = true,
                            .state_bytes_max = STATE_BYTES_CEILING,
                            .update = update_read(json_get(said, "state_update")),
                            .retention_ms = -1 };
    if (!said)
        return NULL;
    TRY(baton_check(a, schema));
    out->formats_asserted = !str_eq(json_str(said, "format"), STR("annotation"));
    out->engine_writes = json_str(said, "writer").len > 0;
    out->retention_ms = retention_read(json_get(said, "retention"));
    out->state_bytes_max = (uint32_t)json_int_or(said, "state_bytes_max", STATE_BYTES_CEILING);
    return NULL;
}

/* ---- x-owner ---- */

struct reading {
    struct arena *arena, *keep;
    struct buf path; /* in the schema */
};

static err unfit(struct reading *r, const char *message)
{
    return err_new(r->arena, ERR_UNFIT, STR_FMT ": %s", STR_ARG(buf_str(&r->path)), message);
}

static bool is_owner(str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i], low = (char)(c | 0x20);
        if (!(low >= 'a' && low <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '-' &&
            c != '.')
            return false;
    }
    return name.len > 0 && name.len <= 100;
}

static err owners_read(struct reading *r, const struct json *said, struct policy_section *out)
{
    const struct json *names = said->kind == JSON_ARRAY ? said->items : said;
    size_t count = said->kind == JSON_ARRAY ? said->len : 1;
    str *owners = ARENA_ARRAY(r->keep, str, count);

    for (size_t i = 0; i < count; i++) {
        if (names[i].kind != JSON_STRING || !is_owner(json_text(&names[i])))
            return unfit(r, "expected \"operator\", \"root\", the name of an agent, the id of a "
                            "session, or an array of those");
        owners[i] = arena_copy(r->keep, json_text(&names[i]));
    }
    if (count == 0)
        return unfit(r, "expected at least one owner");
    out->owners = owners;
    out->owner_count = count;
    return NULL;
}

/* How the value of a keyword is to be read on. */
enum keyword_kind { OF_SCHEMAS, OF_NAMED_SCHEMAS, OF_DATA };

static enum keyword_kind keyword_kind(str name)
{
    static const struct {
        const char *name;
        enum keyword_kind kind;
    } kinds[] = {
        { "patternProperties", OF_NAMED_SCHEMAS },
        { "$defs", OF_NAMED_SCHEMAS },
        { "definitions", OF_NAMED_SCHEMAS },
        { "dependentSchemas", OF_NAMED_SCHEMAS },
        { "dependencies", OF_NAMED_SCHEMAS },
        { "const", OF_DATA },
        { "enum", OF_DATA },
        { "default", OF_DATA },
        { "examples", OF_DATA },
        { "x-baton", OF_DATA },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq(name, str_from(kinds[i].name)))
            return kinds[i].kind;
    return OF_SCHEMAS;
}

static err strays_refuse(struct reading *r, const struct json *schema);

static err strays_refuse_each(struct reading *r, const struct json *container)
{
    for (uint32_t i = 0; i < container->len; i++) {
        size_t len = r->path.len;
        bool named = container->kind == JSON_OBJECT;
        if (named)
            json_pointer_add(&r->path, json_name(&container->members[i]));
        else
            json_pointer_add_index(&r->path, i);
        TRY(strays_refuse(r, named ? &container->members[i].value : &container->items[i]));
        r->path.len = len;
    }
    return NULL;
}

static err strays_refuse_keyword(struct reading *r, str name, const struct json *value)
{
    enum keyword_kind kind = str_eq(name, STR("properties")) ? OF_NAMED_SCHEMAS
                                                             : keyword_kind(name);
    bool container = value->kind == JSON_OBJECT || value->kind == JSON_ARRAY;
    size_t len = r->path.len;

    if (kind == OF_DATA || !container)
        return NULL;
    json_pointer_add(&r->path, name);
    TRY(kind == OF_SCHEMAS && value->kind == JSON_OBJECT ? strays_refuse(r, value)
                                                         : strays_refuse_each(r, value));
    r->path.len = len;
    return NULL;
}

/* Owners stand where a section of the document can be told: not behind $ref, anyOf or items. */
static err strays_refuse(struct reading *r, const struct json *schema)
{
    for (uint32_t i = 0; schema->kind == JSON_OBJECT && i < schema->len; i++) {
        const struct json_member *m = &schema->members[i];
        if (str_eq(json_name(m), STR("x-owner")))
            return unfit(r, "\"x-owner\" is understood at the top of a schema and at members of "
                            "its \"properties\", not here");
        TRY(strays_refuse_keyword(r, json_name(m), &m->value));
    }
    return NULL;
}

static err section_read(struct reading *r, const struct json *schema, struct policy_section *out);

static err sections_read(struct reading *r, const struct json *properties,
                         struct policy_section *out)
{
    size_t len = r->path.len;

    json_pointer_add(&r->path, STR("properties"));
    struct policy_section *found = ARENA_ARRAY(r->arena, struct policy_section, properties->len);
    for (uint32_t i = 0; i < properties->len; i++) {
        const struct json_member *m = &properties->members[i];
        struct policy_section section = { .name = json_name(m) };
        size_t at = r->path.len;
        json_pointer_add(&r->path, section.name);
        TRY(section_read(r, &m->value, &section));
        r->path.len = at;
        if (!section.owner_count && !section.section_count)
            continue;
        section.name = arena_copy(r->keep, section.name);
        found[out->section_count++] = section;
    }
    out->sections = ARENA_ARRAY(r->keep, struct policy_section, out->section_count);
    out->names = json_object();
    for (size_t i = 0; i < out->section_count; i++) {
        out->sections[i] = found[i];
        json_put(r->keep, &out->names, found[i].name, json_null());
    }
    r->path.len = len;
    return NULL;
}

static err section_read(struct reading *r, const struct json *schema, struct policy_section *out)
{
    for (uint32_t i = 0; schema->kind == JSON_OBJECT && i < schema->len; i++) {
        const struct json_member *m = &schema->members[i];
        if (str_eq(json_name(m), STR("x-owner")))
            TRY(owners_read(r, &m->value, out));
        else if (str_eq(json_name(m), STR("properties")) && m->value.kind == JSON_OBJECT)
            TRY(sections_read(r, &m->value, out));
        else
            TRY(strays_refuse_keyword(r, json_name(m), &m->value));
    }
    return NULL;
}

err policy_read(struct arena *a, struct arena *keep, const struct json *schema, struct policy *out)
{
    struct reading r = { .arena = a, .keep = keep, .path = buf_in(a) };
    struct policy_section *document = ARENA_NEW(keep, struct policy_section);

    TRY(baton_read(a, schema, out));
    TRY(section_read(&r, schema, document));
    if (document->owner_count || document->section_count)
        out->owned = document;
    return NULL;
}

/* ---- checking a change ---- */

struct change {
    struct arena *arena;
    const struct policy_writer *by;
    struct buf path; /* in the document */
};

bool policy_binds(const struct policy *p, const struct actor *who)
{
    return p->owned && who->kind != ACTOR_OPERATOR && who->kind != ACTOR_SYSTEM;
}

/* An agent that is called "operator" or "root" is not thereby one. */
static bool owns(const struct change *c, str owner)
{
    str id = c->by->who->session_id;

    if (str_eq(owner, STR("operator")))
        return false;
    if (str_eq(owner, STR("root")))
        return c->by->is_member || (id.len && str_eq(id, c->by->root_session));
    return (c->by->id_given && id.len && str_eq(owner, id)) ||
           (c->by->role.len && str_eq(owner, c->by->role));
}

static err require_owner(struct change *c, const struct policy_section *owners)
{
    struct buf names = buf_in(c->arena);
    bool chosen = false;

    for (size_t i = 0; i < owners->owner_count; i++) {
        if (owns(c, owners->owners[i]))
            return NULL;
        chosen = chosen || str_eq(owners->owners[i], c->by->agent);
        buf_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(owners->owners[i]));
    }
    return err_new(c->arena, ERR_FORBIDDEN,
                   "\"" STR_FMT "\" may be changed by its owners only (" STR_FMT "), not by "
                   "\"" STR_FMT "\"%s: leave it as it is",
                   STR_ARG(buf_str(&c->path)), STR_ARG(buf_str(&names)), STR_ARG(c->by->who->name),
                   chosen
                       ? ", whose agent was chosen by a session that may not give this role (the "
                         "operator says in the agent's started_by who may)"
                       : "");
}

static bool same(const struct json *before, const struct json *after)
{
    return before && after ? json_equal(before, after) : before == after;
}

/* A value, and which of its members the sections of a section are; NULL: it has none of them. */
struct found_sections {
    const struct json *value;
    const uint32_t *at;
};

static struct found_sections sections_in(struct change *c, const struct policy_section *p,
                                         const struct json *value)
{
    bool matters = json_is(value, JSON_OBJECT) && p->section_count;

    return (struct found_sections){ value,
                                    matters ? json_match(c->arena, &p->names, value) : NULL };
}

static const struct json *section_at(const struct found_sections *v, size_t section)
{
    return v->at && v->at[section] != JSON_NONE ? &v->value->members[v->at[section]].value : NULL;
}

/* The value without members that have owners of their own. */
static const struct json *without_sections(struct change *c, const struct policy_section *p,
                                           const struct found_sections *v)
{
    if (!v->at)
        return v->value;
    struct json *rest = ARENA_NEW(c->arena, struct json);
    bool *owned = arena_zero(c->arena, v->value->len + 1);
    *rest = json_object();
    for (size_t i = 0; i < p->section_count; i++)
        if (v->at[i] != JSON_NONE)
            owned[v->at[i]] = true;
    for (uint32_t i = 0; i < v->value->len; i++) {
        const struct json_member *m = &v->value->members[i];
        if (!owned[i])
            json_put(c->arena, rest, json_name(m), m->value);
    }
    return rest;
}

/* `owners` is the nearest section at or around this one that has some; NULL: everyone may. */
static err section_check(struct change *c, const struct policy_section *p,
                         const struct policy_section *owners, const struct json *before,
                         const struct json *after)
{
    const struct found_sections old = sections_in(c, p, before), new = sections_in(c, p, after);

    if (p->owner_count)
        owners = p;
    if (owners && !same(without_sections(c, p, &old), without_sections(c, p, &new)))
        TRY(require_owner(c, owners));
    for (size_t i = 0; i < p->section_count; i++) {
        size_t len = c->path.len;
        str name = p->sections[i].name;
        json_pointer_add(&c->path, name);
        TRY(section_check(c, &p->sections[i], owners, section_at(&old, i), section_at(&new, i)));
        c->path.len = len;
    }
    return NULL;
}

err policy_check(struct arena *a, const struct policy *p, const struct policy_writer *by,
                 const struct json *before, const struct json *after)
{
    struct change c = { .arena = a, .by = by, .path = buf_in(a) };

    return policy_binds(p, by->who) ? section_check(&c, p->owned, NULL, before, after) : NULL;
}
