#include "core/when.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/value.h"

enum { SECONDS_END = 100000000 }; /* thousands of seconds: the year 5138; beyond are ms */

/* The offset from UTC in seconds; false when TEXT is none. */
static bool parse_zone(const char *text, int *seconds)
{
    int hours, minutes;
    char sign;
    *seconds = 0;
    if (strcmp(text, "Z") == 0 || text[0] == '\0')
        return true;
    if (sscanf(text, "%c%2d:%2d", &sign, &hours, &minutes) != 3 &&
        sscanf(text, "%c%2d%2d", &sign, &hours, &minutes) != 3)
        return false;
    *seconds = (hours * 60 + minutes) * 60 * (sign == '-' ? -1 : 1);
    return sign == '-' || sign == '+';
}

/* The milliseconds of ".123456"; REST gets what follows. */
static int parse_fraction(const char *text, const char **rest)
{
    int ms = 0, scale = 100;
    *rest = text;
    if (text[0] != '.')
        return 0;
    for (text++; *text >= '0' && *text <= '9'; text++, scale /= 10)
        ms += (*text - '0') * scale;
    *rest = text;
    return ms;
}

int64_t when_parse(struct span text)
{
    char copy[64];
    struct tm date = {0};
    int used = 0, zone = 0, ms = 0;
    if (text.size >= sizeof copy || text.size < 10)
        return 0;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    if (sscanf(copy, "%4d-%2d-%2d%n", &date.tm_year, &date.tm_mon, &date.tm_mday, &used) != 3)
        return 0;
    const char *rest = copy + used;
    if (*rest == 'T' || *rest == ' ') {
        if (sscanf(rest + 1, "%2d:%2d:%2d%n", &date.tm_hour, &date.tm_min, &date.tm_sec, &used) !=
            3)
            return 0;
        ms = parse_fraction(rest + 1 + used, &rest);
    }
    if (!parse_zone(rest, &zone))
        return 0;
    date.tm_year -= 1900;
    date.tm_mon -= 1;
    return ((int64_t)timegm(&date) - zone) * 1000 + ms;
}

/* Whole seconds, or milliseconds when they are too many for seconds. */
static int64_t parse_number(struct span text)
{
    char copy[24];
    if (text.size >= sizeof copy)
        return 0;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    long long number = strtoll(copy, NULL, 10);
    return number / 1000 >= SECONDS_END ? number : number * 1000;
}

int64_t when_read(struct json typed)
{
    CLEAN_UP(buf_clean_up) struct buf storage = {0};
    struct value value;
    if (!value_read(typed, &storage, &value) || value.type == VALUE_B)
        return 0;
    return value.type == VALUE_N ? parse_number(value.bytes) : when_parse(value.bytes);
}

void when_write(struct buf *out, int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm date;
    char text[32];
    gmtime_r(&seconds, &date);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &date);
    buf_add_text(out, text);
}
