#include "core/source/range_bounds.h"

#include <string.h>

/* The least value that sorts behind all that begin with PREFIX: its last byte is one greater. False
 * if that is no byte, or no character. */
static bool range_bounds_behind(struct value prefix, struct arena *arena, struct value *out)
{
    struct span bytes = prefix.bytes;
    size_t last = bytes.size - 1;
    char *data = bytes.size > 0 ? arena_alloc(arena, bytes.size) : NULL;
    if (!data)
        return false;
    memcpy(data, bytes.data, bytes.size);
    unsigned char byte = (unsigned char)data[last]++;
    *out = (struct value){prefix.type, span_of(data, bytes.size)};
    return prefix.type == VALUE_B ? byte < 0xFF : byte != 0x7F && byte < 0xBF;
}

bool range_bounds_of(const struct read *read, struct arena *arena, struct range_bounds *out)
{
    const struct cond *cond = read_sort_cond(read);
    *out = (struct range_bounds){0};
    if (!cond)
        return true;
    out->low = cond->value;
    out->high = cond->op == COND_BETWEEN ? cond->upper : cond->value;
    out->has_low = cond->op != COND_LT && cond->op != COND_LE;
    out->has_high = cond->op != COND_GT && cond->op != COND_GE;
    return cond->op != COND_BEGINS || range_bounds_behind(cond->value, arena, &out->high);
}

struct read *range_bounds_read(const struct range_bounds *bounds, const struct read *read)
{
    struct cond cond = {.attribute = read->sort[0],
                        .op = !bounds->has_high  ? COND_GE
                              : !bounds->has_low ? COND_LE
                                                 : COND_BETWEEN,
                        .value = bounds->has_low ? bounds->low : bounds->high,
                        .upper = bounds->high};
    return read_copy(read, &cond);
}
