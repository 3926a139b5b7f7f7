/* stored.c: what we have stored, read back. */
#include "core/stored.h"

#define NOT_JSON "what is stored of it is not JSON"
#define OTHER_KIND "what is stored of it is JSON of another kind"

err stored_damage(struct tx *tx, struct stored of, const char *problem)
{
    return err_damage(tx->arena,
                      "%s " STR_FMT " is damaged in the store: %s; nothing is wrong with the "
                      "request: have the operator run 'baton store check --deep'",
                      of.kind, STR_ARG(of.id), problem);
}

void stored_note(struct tx *tx, err damage)
{
    if (!tx->damage)
        tx->damage = damage;
}

err stored_parse(struct tx *tx, struct stored of, str text, const struct json **out)
{
    return json_parse_own(tx->arena, text, out) ? stored_damage(tx, of, NOT_JSON) : NULL;
}

err stored_parse_as(struct tx *tx, struct stored of, str text, enum json_kind kind,
                    const struct json **out)
{
    TRY(stored_parse(tx, of, text, out));
    return json_is(*out, kind) ? NULL : stored_damage(tx, of, OTHER_KIND);
}

err stored_texts(struct tx *tx, struct stored of, const struct json *array, const str **out,
                 size_t *count)
{
    if (!json_is(array, JSON_ARRAY))
        return stored_damage(tx, of, OTHER_KIND);
    str *texts = ARENA_ARRAY(tx->arena, str, array->len);
    for (uint32_t i = 0; i < array->len; i++) {
        if (array->items[i].kind != JSON_STRING)
            return stored_damage(tx, of, OTHER_KIND);
        texts[i] = json_text(&array->items[i]);
    }
    *out = texts;
    *count = array->len;
    return NULL;
}

bool stored_is_json(struct tx *tx, struct stored of, str text)
{
    const struct json *parsed;

    /* What it is parsed into goes at once: a page of events may hold megabytes. */
    struct arena *scratch = arena_new();
    bool good = !json_parse_own(scratch, text, &parsed);
    arena_free(scratch);
    if (!good)
        stored_note(tx, stored_damage(tx, of, NOT_JSON));
    return good;
}

int stored_word(struct tx *tx, struct stored of, const struct team_words *words, str word)
{
    int number = team_word_find(words, word);

    if (number >= 0)
        return number;
    stored_note(tx, stored_damage(tx, of, "it has a word in it that is not known"));
    return 0;
}
