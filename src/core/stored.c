/* stored.c: what we have stored, read back. */
#include "core/stored.h"

#define NOT_JSON "what is stored of it is not JSON"

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
