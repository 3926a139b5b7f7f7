/* date.h: times and durations as integers, and their texts.
 *
 * Times are milliseconds since 1970-01-01T00:00:00Z, durations milliseconds.
 * Does not know what time it is. */
#ifndef BASE_DATE_H
#define BASE_DATE_H

#include "base/str.h"

/* RFC 3339, any offset, `T` and `Z` in either case, fractions beyond milliseconds cut off, leap
 * second :60 accepted where 23:59:60Z can be and taken as the next second. A time that is in no
 * year from 0000 to 9999 when taken to UTC is refused. */
bool date_parse(str text, int64_t *ms);

/* "2025-01-15T10:35:00Z", with ".123" when there are milliseconds. A time before year 0000 or after
 * 9999 is printed as the first or the last one in them. */
#define DATE_TEXT_MAX 32
str date_print(char buffer[DATE_TEXT_MAX], int64_t ms);

/* "2h", "1h30m", "90s", "250ms", "1d", "1.5h", a bare number of seconds; units d h m s ms, each at
 * most once and in that order. Negative ones, empty text, overflow and what is no whole number of
 * milliseconds are refused. */
bool duration_parse(str text, int64_t *ms);
str duration_print(char buffer[DATE_TEXT_MAX], int64_t ms); /* "1h30m", "0s", "-5s" */

/* The proleptic Gregorian date of so many days since 1970-01-01, and the other way. */
void date_civil(int64_t days, int *year, unsigned *month, unsigned *day);
int64_t date_days(int year, unsigned month, unsigned day);
unsigned date_days_in_month(int year, unsigned month);

#endif
