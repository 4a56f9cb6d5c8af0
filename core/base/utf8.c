#include "core/base/utf8.h"

#include <stdint.h>

static bool utf8_continues(struct span text, size_t from, size_t count)
{
    if (text.size < from + count)
        return false;
    for (size_t i = from; i < from + count; i++)
        if (((uint8_t)text.data[i] & 0xC0) != 0x80)
            return false;
    return true;
}

size_t utf8_length(struct span text)
{
    if (text.size == 0)
        return 0;
    uint8_t first = (uint8_t)text.data[0];
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4)
        return 0;
    size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (!utf8_continues(text, 1, length - 1))
        return 0;
    uint8_t second = (uint8_t)text.data[1];
    bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    bool surrogate = first == 0xED && second > 0x9F;
    bool too_large = first == 0xF4 && second > 0x8F;
    return overlong || surrogate || too_large ? 0 : length;
}

bool utf8_valid(struct span text)
{
    size_t length = 1;
    while (text.size > 0 && length > 0) {
        length = utf8_length(text);
        text = span_from(text, length);
    }
    return length > 0;
}
