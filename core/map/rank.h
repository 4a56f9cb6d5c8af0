/* The rank at the beginning of an entry's name, "007_…": which one of its listing it is, so that
 * names sort as the listing is ordered. It tells nothing of the record: the rest of the name says
 * which one that is, and so a name opens its record whatever has come before it since. */
#ifndef DDBFS_CORE_MAP_RANK_H
#define DDBFS_CORE_MAP_RANK_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/span.h"

enum {
    RANK_DIGITS = 7, /* where the listing has no limit; as many as the greatest limit has */
    RANK_MAX_BEHIND = 32,
};

/* What the map calls it. */
#define RANK_PARAM "rank"

struct map_rank {
    unsigned digits;    /* so many at least, with zeros in front; 0: names have no rank */
    struct span behind; /* the text between the rank and the rest, which begins with no digit */
};

/* How many digits the ranks of a listing have that shows at most LIMIT entries; 0 is no limit. */
unsigned rank_digits(uint32_t limit);

/* Appends NUMBER, the first being 1, and the text behind it; nothing where names have no rank.
 * False when the number has more digits, and would not sort. */
bool rank_write(const struct map_rank *rank, uint64_t number, struct buf *out);

/* The error of a number for which rank_write returned false. Returns false. */
bool rank_refuse(const struct map_rank *rank, struct error *err);

/* Takes the rank, of any number of digits, and the text behind it off NAME. False when there is
 * none, or nothing follows. */
bool rank_skip(const struct map_rank *rank, struct span *name);

/* Appends it as the map writes it: "{rank}_". */
void rank_write_format(const struct map_rank *rank, struct buf *out);

#endif
