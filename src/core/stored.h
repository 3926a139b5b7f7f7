/* stored.h: what we have stored, read back.
 *
 * Every text that goes into a row was made here and was whole; one that is not
 * any more was damaged, by a disk or by a hand. That is nobody's fault who asks:
 * it is INTERNAL, marked as damage, and names what is damaged, so that it can be
 * found, counted and repaired. What is in it is not shown.
 *
 * Does not know rows: see audit.h for who looks at all of them. */
#ifndef CORE_STORED_H
#define CORE_STORED_H

#include "core/team.h"
#include "json/json.h"

/* What a text or a row is of: { "state", id }. */
struct stored {
    const char *kind;
    str id;
};

#define THING(kind, id) ((struct stored){ (kind), (id) })

/* Parses such a text. */
err stored_parse(struct tx *tx, struct stored of, str text, const struct json **out);

/* The same for a text that is an array, or an object, as long as it is whole. */
err stored_parse_as(struct tx *tx, struct stored of, str text, enum json_kind kind,
                    const struct json **out);

/* The texts that an array is of. */
err stored_texts(struct tx *tx, struct stored of, const struct json *array, const str **out,
                 size_t *count);

/* Whether it is JSON: for texts that are passed on as they are. When one is not, the command
 * has failed, see stored_note. */
bool stored_is_json(struct tx *tx, struct stored of, str text);

/* The number of a word that was stored. One that is not known is 0, and the command has failed. */
int stored_word(struct tx *tx, struct stored of, const struct team_words *words, str word);

/* The error: `problem` is what was found instead. */
err stored_damage(struct tx *tx, struct stored of, const char *problem);

/* For readers of rows that give no error: the command fails with this one, whatever it answers. */
void stored_note(struct tx *tx, err damage);

#endif
