/* property.c: the names inside \p{…}, from ECMA-262 to PCRE2.
 *
 * ECMA-262 wants exact names from three lists: general categories, binary
 * properties, and Script= or Script_Extensions= with a script. PCRE2 is laxer
 * about spelling and knows scripts without a prefix, so the first two lists are
 * checked here; scripts are left to it. */
#include <ctype.h>

#include "json/regex/private.h"

struct category {
    const char *names; /* all that ECMA-262 allows, with a space behind each */
    const char *pcre;
};

// clang-format off
static const struct category categories[] = {
    { "L Letter ",                               "L"  },
    { "LC Cased_Letter ",                        "L&" },
    { "Lu Uppercase_Letter ",                    "Lu" },
    { "Ll Lowercase_Letter ",                    "Ll" },
    { "Lt Titlecase_Letter ",                    "Lt" },
    { "Lm Modifier_Letter ",                     "Lm" },
    { "Lo Other_Letter ",                        "Lo" },
    { "M Mark Combining_Mark ",                  "M"  },
    { "Mn Nonspacing_Mark ",                     "Mn" },
    { "Mc Spacing_Mark ",                        "Mc" },
    { "Me Enclosing_Mark ",                      "Me" },
    { "N Number ",                               "N"  },
    { "Nd Decimal_Number digit ",                "Nd" },
    { "Nl Letter_Number ",                       "Nl" },
    { "No Other_Number ",                        "No" },
    { "P Punctuation punct ",                    "P"  },
    { "Pc Connector_Punctuation ",               "Pc" },
    { "Pd Dash_Punctuation ",                    "Pd" },
    { "Ps Open_Punctuation ",                    "Ps" },
    { "Pe Close_Punctuation ",                   "Pe" },
    { "Pi Initial_Punctuation ",                 "Pi" },
    { "Pf Final_Punctuation ",                   "Pf" },
    { "Po Other_Punctuation ",                   "Po" },
    { "S Symbol ",                               "S"  },
    { "Sm Math_Symbol ",                         "Sm" },
    { "Sc Currency_Symbol ",                     "Sc" },
    { "Sk Modifier_Symbol ",                     "Sk" },
    { "So Other_Symbol ",                        "So" },
    { "Z Separator ",                            "Z"  },
    { "Zs Space_Separator ",                     "Zs" },
    { "Zl Line_Separator ",                      "Zl" },
    { "Zp Paragraph_Separator ",                 "Zp" },
    { "C Other ",                                "C"  },
    { "Cc Control cntrl ",                       "Cc" },
    { "Cf Format ",                              "Cf" },
    { "Cs Surrogate ",                           "Cs" },
    { "Co Private_Use ",                         "Co" },
    { "Cn Unassigned ",                          "Cn" },
};

/* Those of ECMA-262 that PCRE2 has, under the same names; that is all but
 * Changes_When_NFKC_Casefolded and Assigned. */
static const char binary[] =
    "ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Bidi_Control Bidi_C Bidi_Mirrored Bidi_M "
    "Case_Ignorable CI Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM "
    "Changes_When_Lowercased CWL Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash "
    "Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia Emoji Emoji_Component EComp "
    "Emoji_Modifier EMod Emoji_Modifier_Base EBase Emoji_Presentation EPres "
    "Extended_Pictographic ExtPict Extender Ext Grapheme_Base Gr_Base Grapheme_Extend Gr_Ext "
    "Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC ID_Start "
    "IDS Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower Math "
    "Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS "
    "Quotation_Mark QMark Radical Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD "
    "Terminal_Punctuation Term Unified_Ideograph UIdeo Uppercase Upper Variation_Selector VS "
    "White_Space space XID_Continue XIDC XID_Start XIDS ";

/* What may stand before '='; a category needs no prefix in PCRE2. */
static const struct { const char *ecma, *pcre; } prefixes[] = {
    { "General_Category", "" },    { "gc", "" },
    { "Script", "sc:" },           { "sc", "sc:" },
    { "Script_Extensions", "scx:" }, { "scx", "scx:" },
};
// clang-format on

/* Whether `names` holds the name, with a space behind each. */
static bool listed(const char *names, str name)
{
    for (const char *space; (space = strchr(names, ' ')); names = space + 1)
        if (str_eq(name, (str){ names, (size_t)(space - names) }))
            return true;
    return false;
}

static const char *category_find(str name)
{
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (listed(categories[i].names, name))
            return categories[i].pcre;
    return NULL;
}

static bool script_like(str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!isalnum((unsigned char)name.at[i]) && name.at[i] != '_')
            return false;
    return name.len > 0 && isupper((unsigned char)name.at[0]);
}

static void write_property(struct buf *out, bool negated, const char *prefix, str name)
{
    buf_printf(out, "\\%c{%s" STR_FMT "}", negated ? 'P' : 'p', prefix, STR_ARG(name));
}

bool regex_property(struct buf *out, str name, bool negated)
{
    str prefix, value;
    const char *pcre_prefix = NULL, *category;
    bool prefixed = str_cut(name, '=', &prefix, &value);
    if (!prefixed)
        value = name;
    for (size_t i = 0; prefixed && i < sizeof prefixes / sizeof *prefixes; i++)
        if (str_eq(prefix, str_from(prefixes[i].ecma)))
            pcre_prefix = prefixes[i].pcre;

    if (prefixed && !pcre_prefix)
        return false;
    if (prefixed && *pcre_prefix) {
        if (!script_like(value))
            return false;
        write_property(out, negated, pcre_prefix, value);
    } else if ((category = category_find(value))) {
        write_property(out, negated, "", str_from(category));
    } else if (!prefixed && str_eq(name, STR("Assigned"))) {
        write_property(out, !negated, "", STR("Cn"));
    } else if (!prefixed && listed(binary, name)) {
        write_property(out, negated, "", name);
    } else {
        return false;
    }
    return true;
}
