/* Fuzz target: texts of times and durations.
 *
 * Whatever is taken is printed as a text that means the same; and every number has such a text. */
#include <assert.h>

#include "base/date.h"

static void check_text(str text)
{
    char buffer[DATE_TEXT_MAX];
    int64_t value, again;
    if (date_parse(text, &value))
        assert(date_parse(date_print(buffer, value), &again) && again == value);
    if (duration_parse(text, &value)) {
        assert(value >= 0);
        assert(duration_parse(duration_print(buffer, value), &again) && again == value);
    }
}

static void check_number(int64_t number)
{
    char buffer[DATE_TEXT_MAX];
    int64_t again, first = INT64_C(-62167219200000), last = INT64_C(253402300799999);
    int64_t nearest = number < first ? first : number > last ? last : number;
    assert(date_parse(date_print(buffer, number), &again) && again == nearest);
    assert(duration_parse(duration_print(buffer, number), &again) == (number >= 0));
    assert(number < 0 || again == number);

    int64_t days = number % 700000000; /* what fits in the year of an int */
    int year;
    unsigned month, day;
    date_civil(days, &year, &month, &day);
    assert(day >= 1 && day <= date_days_in_month(year, month));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t number;
    check_text((str){ (const char *)data, size });
    if (size >= sizeof(number)) {
        memcpy(&number, data, sizeof(number));
        check_number(number);
        check_number(number >> (data[0] & 63));
    }
    return 0;
}
