/* format_idn.c: host names, of ASCII (RFC 1123) and of IDNA2008 (RFC 5890 to 5893).
 *
 * A name is checked label by label. A label beginning in xn-- is decoded and
 * must be what its decoded form encodes to; a label that is not ASCII is
 * checked as it is, and counts with the length that it has when encoded. */
#include "base/utf8.h"
#include "json/schema/format_private.h"
#include "json/schema/idna.h"

#define LABEL_MAX 63
#define NAME_MAX_BYTES 253

/* What is known of a name, label by label. */
struct name {
    size_t bytes;       /* in ASCII, with the dots */
    bool right_to_left; /* some label is, so that the Bidi rule holds for all */
    bool bidi_broken;   /* some label breaks that rule */
};

static const struct idna_kind *kind_of(uint32_t c)
{
    size_t low = 0, high = idna_range_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (idna_ranges[middle] >> 8 <= c)
            low = middle;
        else
            high = middle;
    }
    return &idna_kinds[idna_ranges[low] & 0xff];
}

/* ---- the contextual rules, RFC 5892 appendix A ---- */

/* Letters that join across the zero width non-joiner at `at`, with transparent ones between. */
static bool joins_across(const uint32_t *label, size_t count, size_t at)
{
    size_t before = at, after = at + 1;
    while (before > 0 && kind_of(label[before - 1])->joining == JOINING_TRANSPARENT)
        before--;
    while (after < count && kind_of(label[after])->joining == JOINING_TRANSPARENT)
        after++;
    if (before == 0 || after == count)
        return false;
    int left = kind_of(label[before - 1])->joining, right = kind_of(label[after])->joining;
    return (left == JOINING_LEFT || left == JOINING_DUAL) &&
           (right == JOINING_RIGHT || right == JOINING_DUAL);
}

static bool holds_between(const uint32_t *label, size_t count, uint32_t first, uint32_t last)
{
    for (size_t i = 0; i < count; i++)
        if (label[i] >= first && label[i] <= last)
            return true;
    return false;
}

static bool holds_japanese(const uint32_t *label, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (kind_of(label[i])->script == SCRIPT_JAPANESE)
            return true;
    return false;
}

/* Whether the code point, one of CONTEXTJ or CONTEXTO, may stand where it stands. */
static bool context_allows(const uint32_t *label, size_t count, size_t at)
{
    uint32_t c = label[at], after = at + 1 < count ? label[at + 1] : 0;
    uint32_t before = at > 0 ? label[at - 1] : 0; /* 0 is disallowed and of no script */
    bool virama = kind_of(before)->combining == VIRAMA;
    switch (c) {
    case 0x200c: return virama || joins_across(label, count, at);
    case 0x200d: return virama;
    case 0xb7: return before == 'l' && after == 'l';
    case 0x375: return kind_of(after)->script == SCRIPT_GREEK;
    case 0x5f3:
    case 0x5f4: return kind_of(before)->script == SCRIPT_HEBREW;
    case 0x30fb: return holds_japanese(label, count);
    }
    if (c >= 0x660 && c <= 0x669)
        return !holds_between(label, count, 0x6f0, 0x6f9);
    return !holds_between(label, count, 0x660, 0x669);
}

/* ---- labels that are not ASCII ---- */

static bool pair_composes(uint32_t first, uint32_t second)
{
    size_t low = 0, high = idna_pair_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const uint32_t *pair = idna_pairs[middle];
        if (pair[0] == first && pair[1] == second)
            return true;
        if (pair[0] < first || (pair[0] == first && pair[1] < second))
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Whether NFC would put the mark and the starter together. When the starter is a pair itself, a
 * mark of a lower class goes between the two, and may meet a partner there. */
static bool composes(uint32_t starter, uint32_t mark)
{
    if (pair_composes(starter, mark))
        return true;
    unsigned combining = kind_of(mark)->combining;
    for (size_t i = 0; combining && i < idna_pair_count; i++)
        if (idna_pairs[i][2] == starter)
            return combining < kind_of(idna_pairs[i][1])->combining &&
                   composes(idna_pairs[i][0], mark);
    return false;
}

/* Normalization Form C, of code points that are allowed in a label: those that NFC would take
 * apart are not, so what is left is the order of marks and what could be put together. */
static bool is_nfc(const uint32_t *label, size_t count)
{
    uint32_t starter = 0;
    unsigned last = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned combining = kind_of(label[i])->combining;
        if (combining && combining < last)
            return false;
        bool adjacent = i > 0 && label[i - 1] == starter && last == 0;
        if (starter && (adjacent || combining > last) && composes(starter, label[i]))
            return false;
        if (combining == 0)
            starter = label[i];
        last = combining;
    }
    return true;
}

static bool u_label_fits(const uint32_t *label, size_t count)
{
    if (label[0] == '-' || label[count - 1] == '-' || kind_of(label[0])->mark)
        return false;
    if (count >= 4 && label[2] == '-' && label[3] == '-')
        return false;
    for (size_t i = 0; i < count; i++) {
        int class = kind_of(label[i])->class;
        if (class == IDNA_DISALLOWED || (class == IDNA_CONTEXT && !context_allows(label, count, i)))
            return false;
    }
    return is_nfc(label, count);
}

/* ---- the Bidi rule, RFC 5893 section 2 ---- */

#define BIT(bidi) (1u << BIDI_##bidi)

static bool bidi_fits(const uint32_t *label, size_t count)
{
    unsigned seen = 0, first = 1u << kind_of(label[0])->bidi, last = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned bit = 1u << kind_of(label[i])->bidi;
        seen |= bit;
        if (bit != BIT(NSM))
            last = bit;
    }
    if (first & (BIT(R) | BIT(AL)))
        return !(seen & (BIT(L) | BIT(OTHER))) && last & (BIT(R) | BIT(AL) | BIT(EN) | BIT(AN)) &&
               (seen & (BIT(EN) | BIT(AN))) != (BIT(EN) | BIT(AN));
    return first & BIT(L) && !(seen & (BIT(R) | BIT(AL) | BIT(AN) | BIT(OTHER))) &&
           last & (BIT(L) | BIT(EN));
}

static void name_note_bidi(struct name *n, const uint32_t *label, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (1u << kind_of(label[i])->bidi & (BIT(R) | BIT(AL) | BIT(AN)))
            n->right_to_left = true;
    if (!bidi_fits(label, count))
        n->bidi_broken = true;
}

/* ---- names ---- */

/* Letters, digits, and hyphens inside. Makes letters small. */
static bool ldh_fits(uint32_t *label, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (format_is_letter(label[i]))
            label[i] |= 32;
        else if (!format_is_digit(label[i]) && label[i] != '-')
            return false;
    }
    return label[0] != '-' && label[count - 1] != '-';
}

/* What follows xn-- must decode to a label that is not ASCII and encodes to the same again. */
static bool a_label_fits(struct name *n, const uint32_t *label, size_t count)
{
    char text[LABEL_MAX], again[LABEL_MAX];
    uint32_t decoded[LABEL_MAX];
    size_t decoded_count, again_len;
    for (size_t i = 4; i < count; i++)
        text[i - 4] = (char)label[i];
    str encoded = { text, count - 4 };
    if (!punycode_decode(encoded, decoded, LABEL_MAX, &decoded_count) || decoded_count == 0 ||
        !holds_between(decoded, decoded_count, 0x80, UINT32_MAX) ||
        !u_label_fits(decoded, decoded_count))
        return false;
    if (!punycode_encode(decoded, decoded_count, again, LABEL_MAX, &again_len) ||
        !str_eq(encoded, (str){ again, again_len }))
        return false;
    name_note_bidi(n, decoded, decoded_count);
    return true;
}

static bool label_fits(struct name *n, uint32_t *label, size_t count, bool idn)
{
    char encoded[LABEL_MAX];
    size_t len = count;
    if (count == 0)
        return false;
    if (holds_between(label, count, 0x80, UINT32_MAX)) {
        if (!idn || !u_label_fits(label, count) ||
            !punycode_encode(label, count, encoded, LABEL_MAX - 4, &len))
            return false;
        len += 4;
        name_note_bidi(n, label, count);
    } else {
        if (!ldh_fits(label, count))
            return false;
        static const uint32_t prefix[] = { 'x', 'n', '-', '-' };
        if (count < 4 || memcmp(label, prefix, sizeof prefix) != 0)
            n->bidi_broken |= format_is_digit(label[0]); /* all that can break it in ASCII */
        else if (!a_label_fits(n, label, count))
            return false;
    }
    n->bytes += len;
    return true;
}

static bool is_separator(uint32_t c, bool idn)
{
    return c == '.' || (idn && (c == 0x3002 || c == 0xff0e || c == 0xff61));
}

static bool name_fits(str s, bool idn)
{
    struct name n = { 0 };
    uint32_t label[LABEL_MAX];
    size_t count = 0;
    while (s.len) {
        uint32_t c = utf8_next(&s);
        if (!is_separator(c, idn)) {
            if (count == LABEL_MAX)
                return false;
            label[count++] = c;
            continue;
        }
        if (!label_fits(&n, label, count, idn))
            return false;
        n.bytes++;
        count = 0;
    }
    return label_fits(&n, label, count, idn) && n.bytes <= NAME_MAX_BYTES &&
           !(n.right_to_left && n.bidi_broken);
}

bool format_hostname(str s)
{
    return name_fits(s, false);
}

bool format_idn_hostname(str s)
{
    return name_fits(s, true);
}
