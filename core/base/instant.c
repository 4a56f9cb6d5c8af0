#include "core/base/instant.h"

static const int64_t FIRST_MS = -62167219200000, LAST_MS = 253402300799999;

static bool instant_take_char(const char **text, char c)
{
    if (**text != c)
        return false;
    ++*text;
    return true;
}

/* Exactly COUNT digits. */
static bool instant_take_number(const char **text, int count, int *out)
{
    *out = 0;
    for (; count > 0; count--, ++*text) {
        if (**text < '0' || **text > '9')
            return false;
        *out = *out * 10 + (**text - '0');
    }
    return true;
}

static int instant_days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool instant_take_date(const char **text, struct tm *date)
{
    if (!instant_take_number(text, 4, &date->tm_year) || !instant_take_char(text, '-') ||
        !instant_take_number(text, 2, &date->tm_mon) || !instant_take_char(text, '-') ||
        !instant_take_number(text, 2, &date->tm_mday))
        return false;
    if (date->tm_mon < 1 || date->tm_mon > 12 || date->tm_mday < 1 ||
        date->tm_mday > instant_days_of_month(date->tm_year, date->tm_mon))
        return false;
    date->tm_year -= 1900;
    date->tm_mon -= 1;
    return true;
}

/* A leap second is a second. */
static bool instant_take_time(const char **text, struct tm *date)
{
    return instant_take_number(text, 2, &date->tm_hour) && instant_take_char(text, ':') &&
           instant_take_number(text, 2, &date->tm_min) && instant_take_char(text, ':') &&
           instant_take_number(text, 2, &date->tm_sec) && date->tm_hour < 24 && date->tm_min < 60 &&
           date->tm_sec <= 60;
}

/* The milliseconds of ".123456", which may be missing. */
static int instant_take_fraction(const char **text)
{
    int ms = 0, scale = 100;
    if (!instant_take_char(text, '.'))
        return 0;
    for (; **text >= '0' && **text <= '9'; ++*text, scale /= 10)
        ms += (**text - '0') * scale;
    return ms;
}

/* The offset from UTC in seconds, "+02:00", "-0530", "Z", or "UTC", as older versions of the AWS
 * CLI write it; nothing at all is UTC. */
static bool instant_take_zone(const char **text, int *seconds)
{
    int hours, minutes;
    *seconds = 0;
    if (**text == '\0' || instant_take_char(text, 'Z'))
        return true;
    if (strncmp(*text, "UTC", 3) == 0) {
        *text += 3;
        return true;
    }
    int sign = instant_take_char(text, '-') ? -1 : 1;
    if (sign > 0 && !instant_take_char(text, '+'))
        return false;
    if (!instant_take_number(text, 2, &hours))
        return false;
    instant_take_char(text, ':');
    if (!instant_take_number(text, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *seconds = sign * (hours * 60 + minutes) * 60;
    return true;
}

struct instant instant_of(int64_t ms)
{
    return (struct instant){.ms = ms, .known = ms >= FIRST_MS && ms <= LAST_MS};
}

struct instant instant_parse(struct span text)
{
    static const struct instant none;
    char copy[64] = {0};
    struct tm date = {0};
    int zone = 0, ms = 0;
    if (text.size >= sizeof copy)
        return none;
    memcpy(copy, text.data, text.size);
    const char *rest = copy;
    if (!instant_take_date(&rest, &date))
        return none;
    if (instant_take_char(&rest, 'T') || instant_take_char(&rest, ' ')) {
        if (!instant_take_time(&rest, &date))
            return none;
        ms = instant_take_fraction(&rest);
    }
    if (!instant_take_zone(&rest, &zone) || rest != copy + text.size)
        return none;
    return instant_of(((int64_t)timegm(&date) - zone) * 1000 + ms);
}

/* Takes the fields of a time as far as they are written, each behind its mark. MS gets the
 * milliseconds of the last field. False if a field is incomplete or out of range. */
static bool instant_take_fields(const char **text, struct tm *date, int *fraction, int64_t *ms)
{
    static const struct {
        char mark;
        int most;
        int64_t ms;
    } fields[] = {{'T', 23, 3600000}, {':', 59, 60000}, {':', 60, 1000}};
    int *const values[] = {&date->tm_hour, &date->tm_min, &date->tm_sec};
    size_t count = 0;
    while (count < 3 && (instant_take_char(text, fields[count].mark) ||
                         (count == 0 && instant_take_char(text, ' ')))) {
        if (!instant_take_number(text, 2, values[count]) || *values[count] > fields[count].most)
            return false;
        *ms = fields[count++].ms;
    }
    if (count < 3 || **text != '.')
        return true;
    const char *digits = *text + 1;
    *fraction = instant_take_fraction(text);
    *ms = *text - digits == 1 ? 100 : *text - digits == 2 ? 10 : 1;
    return *text > digits;
}

/* Takes a year, a month or a date. END gets the beginning of the next one. */
static bool instant_take_days(const char **text, struct tm *date, struct tm *end)
{
    *date = *end = (struct tm){.tm_mday = 1};
    bool ok = instant_take_number(text, 4, &date->tm_year);
    date->tm_year -= 1900;
    end->tm_year = date->tm_year + 1;
    if (!ok || !instant_take_char(text, '-'))
        return ok;
    ok = instant_take_number(text, 2, &date->tm_mon) && date->tm_mon >= 1 && date->tm_mon <= 12;
    date->tm_mon -= 1;
    *end = *date;
    end->tm_mon++;
    if (!ok || !instant_take_char(text, '-'))
        return ok;
    ok = instant_take_number(text, 2, &date->tm_mday) && date->tm_mday >= 1 &&
         date->tm_mday <= instant_days_of_month(date->tm_year + 1900, date->tm_mon + 1);
    *end = *date;
    end->tm_mday++;
    return ok;
}

/* FIRST_MS gets the first millisecond that the prefix TEXT includes, LAST_MS the last one. */
static bool instant_parse_range(struct span text, int64_t *first_ms, int64_t *last_ms)
{
    char copy[64] = {0};
    struct tm date, end;
    int zone = 0, fraction = 0;
    int64_t ms = 0;
    if (text.size >= sizeof copy || text.size == 0)
        return false;
    memcpy(copy, text.data, text.size);
    const char *rest = copy;
    if (!instant_take_days(&rest, &date, &end))
        return false;
    bool is_date = rest - copy == sizeof "2026-11-02" - 1;
    if (is_date && !instant_take_fields(&rest, &date, &fraction, &ms))
        return false;
    if ((ms > 0 && !instant_take_zone(&rest, &zone)) || rest != copy + text.size)
        return false;
    *first_ms = ((int64_t)timegm(&date) - zone) * 1000 + fraction;
    *last_ms = ms > 0 ? *first_ms + ms - 1 : (int64_t)timegm(&end) * 1000 - 1;
    return true;
}

bool instant_parse_prefix(struct span text, int64_t *last_ms)
{
    int64_t first_ms;
    return instant_parse_range(text, &first_ms, last_ms);
}

struct instant instant_parse_first(struct span text)
{
    int64_t first_ms, last_ms;
    bool found = instant_parse_range(text, &first_ms, &last_ms);
    return found ? instant_of(first_ms) : (struct instant){0};
}

struct timespec instant_timespec(int64_t ms)
{
    int64_t beyond = ms % 1000;
    beyond += beyond < 0 ? 1000 : 0;
    return (struct timespec){.tv_sec = (ms - beyond) / 1000, .tv_nsec = (long)beyond * 1000000};
}

void instant_write(struct buf *out, int64_t ms)
{
    time_t seconds = instant_timespec(ms).tv_sec;
    struct tm date;
    gmtime_r(&seconds, &date);
    buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02dZ", date.tm_year + 1900, date.tm_mon + 1,
               date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec);
}

void instant_write_exact(struct buf *out, int64_t ms)
{
    long beyond = instant_timespec(ms).tv_nsec / 1000000;
    instant_write(out, ms);
    if (beyond == 0)
        return;
    buf_truncate(out, out->size - 1);
    buf_printf(out, ".%03ldZ", beyond);
}
