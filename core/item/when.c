#include "core/item/when.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/instant.h"

enum { SECONDS_END = 100000000 }; /* thousands of seconds: the year 5138; beyond are ms */

static const int64_t LAST_MS = 253402300799999; /* of the year 9999 */

/* Whole seconds, or milliseconds when they are too many for seconds. */
static int64_t parse_number(struct span text)
{
    char copy[24] = {0};
    if (text.size >= sizeof copy)
        return 0;
    memcpy(copy, text.data, text.size);
    long long number = strtoll(copy, NULL, 10);
    if (number < 0 || number > LAST_MS)
        return 0;
    return number / 1000 >= SECONDS_END ? number : number * 1000;
}

/* No date has anything to escape. */
int64_t when_read(struct json typed)
{
    struct json tag = json_first(typed);
    struct span text;
    if (!json_is(typed, JSON_OBJECT) || json_count(typed) != 1 ||
        !json_plain_string(json_next(tag), &text))
        return 0;
    if (json_string_is(tag, SPAN_LITERAL("N")))
        return parse_number(text);
    return json_string_is(tag, SPAN_LITERAL("S")) ? instant_parse(text) : 0;
}
