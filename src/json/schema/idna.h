/* idna.h: what IDNA2008 asks about a code point.
 *
 * The tables are generated from the Unicode Character Database by
 * tools/idna_table.c; format_idn.c is their one reader. */
#ifndef JSON_SCHEMA_IDNA_H
#define JSON_SCHEMA_IDNA_H

#include <stddef.h>
#include <stdint.h>

/* RFC 5892. A code point that is not assigned is disallowed; one of CONTEXTJ or CONTEXTO is allowed
 * where its rule says so. */
enum idna_class { IDNA_DISALLOWED, IDNA_VALID, IDNA_CONTEXT };

/* Bidi_Class, as far as RFC 5893 tells them apart: BIDI_NEUTRAL is ES, CS, ET, ON and BN. */
enum idna_bidi { BIDI_OTHER, BIDI_L, BIDI_R, BIDI_AL, BIDI_AN, BIDI_EN, BIDI_NEUTRAL, BIDI_NSM };

/* Joining_Type, for the rule of the zero width non-joiner. */
enum idna_joining { JOINING_NONE, JOINING_LEFT, JOINING_RIGHT, JOINING_DUAL, JOINING_TRANSPARENT };

/* The scripts that contextual rules name; Hiragana, Katakana and Han only ever come together. */
enum idna_script { SCRIPT_OTHER, SCRIPT_GREEK, SCRIPT_HEBREW, SCRIPT_JAPANESE };

/* All zero for what is disallowed. */
struct idna_kind {
    uint8_t class, bidi, joining, script;
    uint8_t mark;      /* may not begin a label */
    uint8_t combining; /* Canonical_Combining_Class */
};

#define VIRAMA 9 /* as combining class */

extern const struct idna_kind idna_kinds[];

/* first code point << 8 | index into idna_kinds, in order, beginning with code point 0. */
extern const uint32_t idna_ranges[];
extern const size_t idna_range_count;

/* Pairs of allowed code points that NFC would replace by one, which is the third; in order. */
extern const uint32_t idna_pairs[][3];
extern const size_t idna_pair_count;

#endif
