/* The Date header, and what it says about the clock here. */
#include "core/aws/skew.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    MAX_ROUND_TRIP_MS = 15 * 60 * 1000,
    TOLERANCE_MS = 4 * 60 * 1000,
};

/* The month's number, from 0; -1 when it is none. */
static int skew_month_of(const char name[4])
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (size_t i = 0; i < 12; i++)
        if (memcmp(names + 3 * i, name, 3) == 0)
            return (int)i;
    return -1;
}

/* "Wed, 18 Nov 2026 08:34:10 GMT". Not strptime, whose month names are those of the locale. */
static bool skew_read_date(const char *text, int64_t *ms)
{
    struct tm tm = {0};
    char month[4] = "";
    if (sscanf(text, "%*3[A-Za-z], %2d %3s %4d %2d:%2d:%2d GMT", &tm.tm_mday, month, &tm.tm_year,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
        return false;
    tm.tm_mon = skew_month_of(month);
    tm.tm_year -= 1900;
    if (tm.tm_mon < 0)
        return false;
    *ms = (int64_t)timegm(&tm) * 1000;
    return true;
}

bool skew_read(const struct http_response *response, int64_t sent_wall_ms, int64_t *skew_ms)
{
    const char *date = http_header(response, "Date");
    int64_t date_ms;
    if (!date || http_header(response, "Age") || response->elapsed_ms > MAX_ROUND_TRIP_MS ||
        !skew_read_date(date, &date_ms))
        return false;
    *skew_ms = date_ms - (sent_wall_ms + response->elapsed_ms / 2);
    return true;
}

bool skew_differs(int64_t a_ms, int64_t b_ms)
{
    int64_t apart_ms = a_ms - b_ms;
    return apart_ms > TOLERANCE_MS || apart_ms < -TOLERANCE_MS;
}
