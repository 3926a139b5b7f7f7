/* dialect.c: which keywords count, by a schema's draft and the vocabularies turned on.
 *
 * Does not know what they mean, nor where in a document a schema stands. */
#include "json/schema/build.h"
#include "json/uri.h"

#define DRAFT_2020_URI "https://json-schema.org/draft/2020-12/schema"

enum {
    META_DEPTH_MAX = 8, /* meta-schemas that are described by meta-schemas */
};

/* ---- keywords ---- */

struct keyword_row {
    str name;
    unsigned drafts, vocabulary;
};

static const struct keyword_row keyword_rows[KEYWORD_COUNT] = {
#define KEYWORD_ROW(id, name_, drafts_, vocabulary_, shape) \
    { { name_, sizeof(name_) - 1 }, drafts_, VOCABULARY_##vocabulary_ },
    KEYWORDS(KEYWORD_ROW)
#undef KEYWORD_ROW
};

const char *keyword_name(enum keyword k)
{
    return keyword_rows[k].name.at;
}

static bool keyword_active(const struct keyword_row *row, struct dialect d)
{
    return row->drafts & d.draft && row->vocabulary & (d.vocabularies | VOCABULARY_CORE);
}

void keywords_read(const struct json *schema, struct dialect dialect, struct keywords *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < schema->len; i++) {
        const struct json_member *m = &schema->members[i];
        for (int k = 0; k < KEYWORD_COUNT; k++)
            if (keyword_rows[k].name.len == m->name_len &&
                memcmp(keyword_rows[k].name.at, m->name, m->name_len) == 0 &&
                keyword_active(&keyword_rows[k], dialect))
                out->at[k] = &m->value;
    }
    /* Before 2019-09 a reference stands alone: whatever is beside it says nothing. */
    if (dialect.draft == DRAFT_07 && out->at[KEYWORD_REF])
        out->at[KEYWORD_ID] = NULL;
}

/* ---- dialects ---- */

/* Each of them turns on every vocabulary; which of their keywords it has, KEYWORDS says. */
static const struct {
    const char *uri;
    enum draft draft;
} drafts[] = {
    { "http://json-schema.org/draft-07/schema", DRAFT_07 },
    { "https://json-schema.org/draft/2019-09/schema", DRAFT_2019 },
    { DRAFT_2020_URI, DRAFT_2020 },
};

enum {
    VOCABULARIES_OF_DRAFTS = VOCABULARY_CORE | VOCABULARY_APPLICATOR | VOCABULARY_UNEVALUATED |
                             VOCABULARY_VALIDATION | VOCABULARY_METADATA | VOCABULARY_FORMAT |
                             VOCABULARY_CONTENT,
};

/* In 2019-09 the applicators included unevaluated…. */
static const struct {
    const char *name;
    unsigned in_2019, in_2020;
} vocabulary_names[] = {
    { "core", VOCABULARY_CORE, VOCABULARY_CORE },
    { "applicator", VOCABULARY_APPLICATOR | VOCABULARY_UNEVALUATED, VOCABULARY_APPLICATOR },
    { "unevaluated", 0, VOCABULARY_UNEVALUATED },
    { "validation", VOCABULARY_VALIDATION, VOCABULARY_VALIDATION },
    { "meta-data", VOCABULARY_METADATA, VOCABULARY_METADATA },
    { "format", VOCABULARY_FORMAT, 0 },
    { "format-annotation", 0, VOCABULARY_FORMAT },
    { "format-assertion", 0, VOCABULARY_FORMAT | VOCABULARY_FORMAT_ASSERTED },
    { "content", VOCABULARY_CONTENT, VOCABULARY_CONTENT },
};

static unsigned vocabulary_find(str uri)
{
    str place = uri_without_scheme(uri);
    bool is_2019 = str_starts(place, STR("//json-schema.org/draft/2019-09/vocab/"));
    bool is_2020 = str_starts(place, STR("//json-schema.org/draft/2020-12/vocab/"));
    str name = str_slice(place, sizeof "//json-schema.org/draft/2020-12/vocab/" - 1, place.len);

    for (size_t i = 0; i < sizeof vocabulary_names / sizeof *vocabulary_names; i++)
        if (str_eq(name, str_from(vocabulary_names[i].name)))
            return is_2019   ? vocabulary_names[i].in_2019
                   : is_2020 ? vocabulary_names[i].in_2020
                             : 0;
    return 0;
}

/* A meta-schema that was given has the draft of the one that describes it. */
static err dialect_follow(struct build *b, str pointer, str uri, int depth, struct dialect *out)
{
    uri = uri_without_empty_fragment(uri);
    for (size_t i = 0; i < sizeof drafts / sizeof *drafts; i++) {
        if (uri_is_twin(uri, str_from(drafts[i].uri))) {
            *out = (struct dialect){ drafts[i].draft, VOCABULARIES_OF_DRAFTS };
            return NULL;
        }
    }
    const struct json *meta = build_document(b, uri);
    str above = json_str(meta, "$schema");
    if (!meta || depth == META_DEPTH_MAX || !above.len || str_eq(above, uri))
        return build_error(b, pointer, "$schema",
                           "expected draft-07, 2019-09 or 2020-12 (\"" DRAFT_2020_URI
                           "\"), or a meta-schema that was given, found \"" STR_FMT "\"",
                           STR_ARG(uri));
    TRY(dialect_follow(b, pointer, above, depth + 1, out));

    const struct json *vocabularies = json_get(meta, "$vocabulary");
    if (!json_is(vocabularies, JSON_OBJECT) || out->draft == DRAFT_07)
        return NULL;
    out->vocabularies = 0;
    for (uint32_t i = 0; i < vocabularies->len; i++) {
        const struct json_member *m = &vocabularies->members[i];
        unsigned vocabulary = vocabulary_find(json_name(m));
        if (!vocabulary && json_is(&m->value, JSON_BOOL) && m->value.len)
            return build_error(b, pointer, "$schema",
                               "its meta-schema requires the vocabulary \"" STR_FMT
                               "\", which is not known here",
                               STR_ARG(json_name(m)));
        out->vocabularies |= vocabulary;
    }
    return NULL;
}

err dialect_find(struct build *b, str pointer, str uri, struct dialect *out)
{
    if (!uri.len)
        uri = b->options->dialect;
    return dialect_follow(b, pointer, uri.len ? uri : STR(DRAFT_2020_URI), 0, out);
}
