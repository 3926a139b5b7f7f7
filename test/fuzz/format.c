/* fuzz: src/json/schema/format.c src/json/schema/format_idn.c src/json/schema/format_net.c src/json/schema/format_punycode.c src/json/schema/format_time.c src/json/schema/format_uri.c */
/* fuzz/format.c: any text, in every format.
 *
 * Some formats are part of others, and a host name that is taken is taken in its encoded form too:
 * what holds for every text is asserted. */
#include "json/schema/format.h"

#include <assert.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "json/schema/format_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool fits(const char *name, str text)
{
    return format_find(str_from(name))->fits(text);
}

static void implies(str text, const char *narrow, const char *wide)
{
    assert(!fits(narrow, text) || fits(wide, text));
}

/* What decodes, and encodes again within the same room, decodes to the same. */
static void check_punycode(str text)
{
    uint32_t points[64], again[64];
    char encoded[64];
    size_t count, len, again_count;
    if (!punycode_decode(text, points, 64, &count) ||
        !punycode_encode(points, count, encoded, sizeof encoded, &len))
        return;
    assert(punycode_decode((str){ encoded, len }, again, 64, &again_count));
    assert(count == again_count && memcmp(points, again, count * sizeof *points) == 0);
}

/* A label of an international name, encoded, is a host name. */
static void check_label(str text)
{
    uint32_t points[64];
    char encoded[64] = "xn--";
    size_t count = 0, len;
    bool ascii = true;
    for (str rest = text; rest.len && count < 64; count++) {
        points[count] = utf8_next(&rest);
        if (points[count] == '.' || points[count] == 0x3002 || points[count] == 0xff0e ||
            points[count] == 0xff61)
            return;
        ascii = ascii && points[count] < 0x80;
    }
    if (ascii || !fits("idn-hostname", text))
        return;
    assert(punycode_encode(points, count, encoded + 4, 59, &len));
    assert(fits("hostname", (str){ encoded, len + 4 }));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "date",
                                         "date-time",
                                         "duration",
                                         "email",
                                         "json-pointer",
                                         "regex",
                                         "relative-json-pointer",
                                         "time",
                                         "uri-template",
                                         "uuid" };
    str text = { (const char *)data, size };
    if (!utf8_valid(text))
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fits(names[i], text);
    implies(text, "uri", "uri-reference");
    implies(text, "uri", "iri");
    implies(text, "uri-reference", "iri-reference");
    implies(text, "iri", "iri-reference");
    implies(text, "hostname", "idn-hostname");
    implies(text, "email", "idn-email");
    implies(text, "ipv4", "hostname");
    check_punycode(text);
    check_label(text);
    return 0;
}
