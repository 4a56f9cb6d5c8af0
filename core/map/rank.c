#include "core/map/rank.h"

#include <inttypes.h>
#include <stdio.h>

unsigned rank_digits(uint32_t limit)
{
    char text[16];
    return limit ? (unsigned)snprintf(text, sizeof text, "%" PRIu32, limit) : RANK_DIGITS;
}

bool rank_write(const struct map_rank *rank, uint64_t number, struct buf *out)
{
    if (rank->digits == 0)
        return true;
    char text[24];
    int size = snprintf(text, sizeof text, "%0*" PRIu64, (int)rank->digits, number);
    buf_add_text(out, text);
    buf_add_span(out, rank->behind);
    return size == (int)rank->digits;
}

bool rank_refuse(const struct map_rank *rank, struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "more entries than ranks of %u digits can tell apart: let the map say "
                     "\"newest\" or \"oldest\" with a number, or take {" RANK_PARAM
                     "} out of \"name\"",
                     rank->digits);
}

bool rank_skip(const struct map_rank *rank, struct span *name)
{
    if (rank->digits == 0)
        return true;
    size_t digits = 0;
    while (digits < name->size && name->data[digits] >= '0' && name->data[digits] <= '9')
        digits++;
    struct span rest = span_from(*name, digits);
    if (digits == 0 || !span_starts(rest, rank->behind) || rest.size == rank->behind.size)
        return false;
    *name = span_from(rest, rank->behind.size);
    return true;
}

void rank_write_format(const struct map_rank *rank, struct buf *out)
{
    if (rank->digits == 0)
        return;
    buf_add_text(out, "{" RANK_PARAM "}");
    buf_add_span(out, rank->behind);
}
