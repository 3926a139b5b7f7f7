/* idna_table.c: writes src/json/schema/idna_data.c from the Unicode Character Database.
 *
 *   cc -std=gnu11 -Isrc tools/idna_table.c -o idna_table
 *   ./idna_table /usr/share/unicode > src/json/schema/idna_data.c
 *
 * The argument is the folder of Debian's package unicode-data. Run by hand when
 * that has a new version; the build uses what is in the tree. The derivation is
 * that of RFC 5892, section 3. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/schema/idna.h"

#define CODE_POINTS 0x110000
#define LINE_MAX_BYTES 1024
#define FIELDS_MAX 16

/* What the files say about one code point. */
struct facts {
    char category[3];
    struct idna_kind kind; /* as if it were allowed */
    bool unstable, ignorable, old_hangul, excluded;
    uint32_t decomposition[2]; /* canonical, of two */
};

static struct facts facts[CODE_POINTS];
static const char *folder;

static void die(const char *what, const char *name)
{
    fprintf(stderr, "idna_table: %s %s\n", what, name);
    exit(1);
}

/* ---- reading ---- */

typedef void (*row_fn)(uint32_t first, uint32_t last, char **field);

/* Calls back for each row, its fields split at ';' and trimmed. */
static void read_rows(const char *name, row_fn row)
{
    char path[LINE_MAX_BYTES], line[LINE_MAX_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    if (!f)
        die("cannot read", path);
    while (fgets(line, sizeof line, f)) {
        char *field[FIELDS_MAX] = { 0 }, *rest = line, *end;
        line[strcspn(line, "#\n")] = 0;
        for (int n = 0; n < FIELDS_MAX && (field[n] = strsep(&rest, ";")); n++) {
            field[n] += strspn(field[n], " ");
            for (end = field[n] + strlen(field[n]); end > field[n] && end[-1] == ' ';)
                *--end = 0;
        }
        if (!*field[0])
            continue;
        uint32_t first = (uint32_t)strtoul(field[0], &end, 16), last = first;
        if (strncmp(end, "..", 2) == 0)
            last = (uint32_t)strtoul(end + 2, NULL, 16);
        if (last >= CODE_POINTS)
            die("bad range in", path);
        row(first, last, field);
    }
    fclose(f);
}

static uint8_t bidi_class(const char *name)
{
    // clang-format off
    static const struct { const char *name; uint8_t bidi; } classes[] = {
        { "L", BIDI_L }, { "R", BIDI_R }, { "AL", BIDI_AL }, { "AN", BIDI_AN }, { "EN", BIDI_EN },
        { "NSM", BIDI_NSM }, { "ES", BIDI_NEUTRAL }, { "CS", BIDI_NEUTRAL },
        { "ET", BIDI_NEUTRAL }, { "ON", BIDI_NEUTRAL }, { "BN", BIDI_NEUTRAL },
    };
    // clang-format on
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(name, classes[i].name) == 0)
            return classes[i].bidi;
    return BIDI_OTHER;
}

/* UnicodeData.txt gives large ranges as two rows, named "<…, First>" and "<…, Last>". */
static void unicode_row(uint32_t first, uint32_t last, char **field)
{
    static uint32_t range_first;
    size_t length = strlen(field[1]);
    if (length > 8 && strcmp(field[1] + length - 8, ", First>") == 0) {
        range_first = first;
        return;
    }
    if (length > 7 && strcmp(field[1] + length - 7, ", Last>") == 0)
        first = range_first;
    for (uint32_t c = first; c <= last; c++) {
        struct facts *f = &facts[c];
        snprintf(f->category, sizeof f->category, "%s", field[2]);
        f->kind.combining = (uint8_t)atoi(field[3]);
        f->kind.bidi = bidi_class(field[4]);
        f->kind.mark = field[2][0] == 'M';
        if (field[5][0] != '<')
            sscanf(field[5], "%x %x", &f->decomposition[0], &f->decomposition[1]);
    }
}

static void normalization_row(uint32_t first, uint32_t last, char **field)
{
    for (uint32_t c = first; c <= last; c++) {
        facts[c].unstable |= strcmp(field[1], "Changes_When_NFKC_Casefolded") == 0;
        facts[c].excluded |= strcmp(field[1], "Full_Composition_Exclusion") == 0;
    }
}

static void ignorable_row(uint32_t first, uint32_t last, char **field)
{
    for (uint32_t c = first; c <= last; c++)
        facts[c].ignorable |= strcmp(field[1], "Default_Ignorable_Code_Point") == 0 ||
                              strcmp(field[1], "White_Space") == 0 ||
                              strcmp(field[1], "Noncharacter_Code_Point") == 0;
}

static void hangul_row(uint32_t first, uint32_t last, char **field)
{
    for (uint32_t c = first; c <= last; c++)
        facts[c].old_hangul = strlen(field[1]) == 1; /* L, V, T, but not LV and LVT */
}

static void joining_row(uint32_t first, uint32_t last, char **field)
{
    static const char types[] = " LRDT"; /* in the order of enum idna_joining */
    const char *type = strchr(types, field[1][0]);
    for (uint32_t c = first; c <= last; c++)
        facts[c].kind.joining = type ? (uint8_t)(type - types) : JOINING_NONE;
}

static void script_row(uint32_t first, uint32_t last, char **field)
{
    uint8_t script = SCRIPT_OTHER;
    if (strcmp(field[1], "Greek") == 0)
        script = SCRIPT_GREEK;
    else if (strcmp(field[1], "Hebrew") == 0)
        script = SCRIPT_HEBREW;
    else if (!strcmp(field[1], "Hiragana") || !strcmp(field[1], "Katakana") ||
             !strcmp(field[1], "Han"))
        script = SCRIPT_JAPANESE;
    for (uint32_t c = first; c <= last; c++)
        facts[c].kind.script = script;
}

/* ---- deriving ---- */

/* RFC 5892, section 2.6: what the general rules would get wrong. -1: not listed. */
static int exception(uint32_t c)
{
    static const uint32_t valid[] = { 0xdf, 0x3c2, 0x6fd, 0x6fe, 0xf0b, 0x3007 };
    static const uint32_t context[] = { 0xb7, 0x375, 0x5f3, 0x5f4, 0x30fb };
    static const uint32_t disallowed[] = { 0x640,  0x7fa,  0x302e, 0x302f, 0x3031,
                                           0x3032, 0x3033, 0x3034, 0x3035, 0x303b };
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        if (c == valid[i])
            return IDNA_VALID;
    for (size_t i = 0; i < sizeof context / sizeof *context; i++)
        if (c == context[i])
            return IDNA_CONTEXT;
    for (size_t i = 0; i < sizeof disallowed / sizeof *disallowed; i++)
        if (c == disallowed[i])
            return IDNA_DISALLOWED;
    if ((c >= 0x660 && c <= 0x669) || (c >= 0x6f0 && c <= 0x6f9))
        return IDNA_CONTEXT;
    return -1;
}

/* Combining Diacritical Marks for Symbols, Musical Symbols, Ancient Greek Musical Notation. */
static bool ignorable_block(uint32_t c)
{
    return (c >= 0x20d0 && c <= 0x20ff) || (c >= 0x1d100 && c <= 0x1d24f);
}

static bool letter_or_digit(const char *category)
{
    static const char *const categories[] = { "Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc" };
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (strcmp(category, categories[i]) == 0)
            return true;
    return false;
}

static uint8_t derive(uint32_t c)
{
    const struct facts *f = &facts[c];
    if (exception(c) >= 0)
        return (uint8_t)exception(c);
    if (!f->category[0])
        return IDNA_DISALLOWED;
    if (c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'))
        return IDNA_VALID;
    if (c == 0x200c || c == 0x200d)
        return IDNA_CONTEXT;
    if (f->old_hangul || f->unstable || f->ignorable || ignorable_block(c))
        return IDNA_DISALLOWED;
    return letter_or_digit(f->category) ? IDNA_VALID : IDNA_DISALLOWED;
}

/* ---- writing ---- */

static struct idna_kind kinds[256];
static size_t kind_count;

static size_t kind_index(const struct idna_kind *k)
{
    size_t i = 0;
    while (i < kind_count && memcmp(&kinds[i], k, sizeof *k) != 0)
        i++;
    if (i == kind_count) {
        if (kind_count == 256)
            die("more kinds than a byte counts", "");
        kinds[kind_count++] = *k;
    }
    return i;
}

static void write_ranges(void)
{
    size_t count = 0, last = (size_t)-1;
    printf("const uint32_t idna_ranges[] = {");
    for (uint32_t c = 0; c < CODE_POINTS; c++) {
        size_t index = kind_index(&facts[c].kind);
        if (index == last)
            continue;
        printf("%s0x%x,", count++ % 9 ? " " : "\n    ", (unsigned)(c << 8 | index));
        last = index;
    }
    printf("\n};\n\nconst size_t idna_range_count = sizeof idna_ranges / sizeof *idna_ranges;\n");
}

static void write_kinds(void)
{
    printf("\n/* class, bidi, joining, script, mark, combining class */\n"
           "const struct idna_kind idna_kinds[] = {");
    for (size_t i = 0; i < kind_count; i++)
        printf("%s{ %d, %d, %d, %d, %d, %d },", i % 4 ? " " : "\n    ", kinds[i].class,
               kinds[i].bidi, kinds[i].joining, kinds[i].script, kinds[i].mark, kinds[i].combining);
    printf("\n};\n");
}

static int compare_pairs(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    if (x[0] != y[0])
        return x[0] < y[0] ? -1 : 1;
    return x[1] < y[1] ? -1 : x[1] > y[1];
}

static void write_pairs(void)
{
    static uint32_t pairs[4096][3];
    size_t count = 0;
    for (uint32_t c = 0; c < CODE_POINTS; c++) {
        const uint32_t *d = facts[c].decomposition;
        if (!d[1] || facts[c].excluded || !facts[d[0]].kind.class || !facts[d[1]].kind.class)
            continue;
        if (count == sizeof pairs / sizeof *pairs)
            die("too many pairs", "");
        memcpy(pairs[count], d, 2 * sizeof *d);
        pairs[count++][2] = c;
    }
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    printf("\nconst uint32_t idna_pairs[][3] = {");
    for (size_t i = 0; i < count; i++)
        printf("%s{ 0x%x, 0x%x, 0x%x },", i % 4 ? " " : "\n    ", pairs[i][0], pairs[i][1],
               pairs[i][2]);
    printf("\n};\n\nconst size_t idna_pair_count = sizeof idna_pairs / sizeof *idna_pairs;\n");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        die("usage:", "idna_table FOLDER");
    folder = argv[1];
    read_rows("UnicodeData.txt", unicode_row);
    read_rows("DerivedNormalizationProps.txt", normalization_row);
    read_rows("DerivedCoreProperties.txt", ignorable_row);
    read_rows("PropList.txt", ignorable_row);
    read_rows("HangulSyllableType.txt", hangul_row);
    read_rows("extracted/DerivedJoiningType.txt", joining_row);
    read_rows("Scripts.txt", script_row);

    for (uint32_t c = 0; c < CODE_POINTS; c++) {
        facts[c].kind.class = derive(c);
        if (facts[c].kind.class == IDNA_DISALLOWED)
            facts[c].kind = (struct idna_kind){ 0 };
    }
    printf("/* idna_data.c: generated by tools/idna_table.c; do not edit.\n"
           " *\n"
           " * From the Unicode Character Database 15.0.0, as Debian's package unicode-data has\n"
           " * it. Copyright 1991-2022 Unicode, Inc., under the Unicode License Agreement for\n"
           " * Data Files and Software, https://www.unicode.org/license.txt */\n"
           "#include \"json/schema/idna.h\"\n\n"
           "// clang-format off\n");
    write_ranges();
    write_kinds();
    write_pairs();
    printf("// clang-format on\n");
    return 0;
}
