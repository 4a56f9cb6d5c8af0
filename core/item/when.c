#include "core/item/when.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/item/value.h"

/* Seconds of the year 5138. Numbers beyond, in either direction, are milliseconds. */
static const double SECONDS_END = 1e11;

/* A double has all digits of a date in milliseconds. Fractions are rounded down. */
static struct instant parse_number(struct span text)
{
    char copy[64] = {0};
    if (text.size >= sizeof copy || !number_is(text))
        return (struct instant){0};
    memcpy(copy, text.data, text.size);
    double number = floor(strtod(copy, NULL));
    double ms = fabs(number) < SECONDS_END ? number * 1000 : number;
    return fabs(ms) < 1e15 ? instant_of((int64_t)ms) : (struct instant){0};
}

/* No date has anything to escape. */
struct instant when_read(struct json typed)
{
    struct json tag = json_first(typed);
    struct span text;
    if (json_is(typed, JSON_OBJECT) && json_count(typed) == 1 &&
        json_plain_string(json_next(tag), &text)) {
        if (json_string_is(tag, SPAN_LITERAL("N")))
            return parse_number(text);
        if (json_string_is(tag, SPAN_LITERAL("S")))
            return instant_parse(text);
    }
    return (struct instant){0};
}
