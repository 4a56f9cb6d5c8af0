#include "core/map/entry_limit.h"

bool entry_limit_is(struct span text)
{
    size_t digits = 0;
    while (digits < text.size && text.data[digits] >= '0' && text.data[digits] <= '9')
        digits++;
    return digits > 0 && digits == text.size;
}

bool entry_limit_parse(const char *param, struct span text, uint32_t *out, struct error *err)
{
    uint32_t limit = 0;
    for (size_t i = 0; entry_limit_is(text) && i < text.size && limit <= ENTRY_LIMIT_MOST; i++)
        limit = limit * 10 + (uint32_t)(text.data[i] - '0');
    *out = limit;
    return (limit > 0 && limit <= ENTRY_LIMIT_MOST) ||
           (err &&
            error_set(err, ERROR_INVALID,
                      "{%s} says how many entries are shown: a number from 1 to %d, which "
                      "\"%.*s\" is not",
                      param, ENTRY_LIMIT_MOST, text.size > 100 ? 100 : (int)text.size, text.data));
}
