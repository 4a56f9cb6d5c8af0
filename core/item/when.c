#include "core/item/when.h"

#include <stdlib.h>
#include <string.h>

#include "core/item/value.h"

/* Seconds of the year 5138. Numbers beyond, in either direction, are milliseconds. */
static const int64_t SECONDS_END = 100000000000;

/* A double has all digits of a date in milliseconds. Fractions are rounded down. */
static struct instant when_parse_number(struct span text)
{
    char copy[64] = {0};
    if (text.size >= sizeof copy || !number_is(text))
        return (struct instant){0};
    memcpy(copy, text.data, text.size);
    double number = strtod(copy, NULL);
    if (number < -1e15 || number > 1e15)
        return (struct instant){0};
    int64_t whole = (int64_t)number;
    whole -= (double)whole > number;
    return instant_of(whole > -SECONDS_END && whole < SECONDS_END ? whole * 1000 : whole);
}

/* No date has anything to escape. */
struct instant when_read(struct json typed)
{
    struct json tag = json_first(typed);
    struct span text;
    if (json_is(typed, JSON_OBJECT) && json_count(typed) == 1 &&
        json_plain_string(json_next(tag), &text)) {
        if (json_string_is(tag, SPAN_LITERAL("N")))
            return when_parse_number(text);
        if (json_string_is(tag, SPAN_LITERAL("S")))
            return instant_parse(text);
    }
    return (struct instant){0};
}
