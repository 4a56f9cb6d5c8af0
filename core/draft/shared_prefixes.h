/* Beginnings of names that tables share: which of them are the same table of another environment.
 */
#ifndef DDBFS_CORE_DRAFT_SHARED_PREFIXES_H
#define DDBFS_CORE_DRAFT_SHARED_PREFIXES_H

#include "core/base/arena.h"

/* A table. Two that have the same SHAPE are described alike, but for their names. */
struct named_table {
    struct span name;
    const char *shape;
};

/* Each prefix with each base is the name of a table, and those of one base have one shape. Prefixes
 * end in a delimiter. They are in the order of the tables, and borrow from their names. */
struct shared_prefixes {
    struct span *prefixes;
    size_t prefix_count; /* 0: the names share nothing */
    struct span *bases;
    size_t base_count;
};

bool shared_prefixes_is_delimiter(char c);

/* What the tables share. It may leave some out, but never half of them. One prefix alone is that of
 * all tables. Where there is but one base, the prefixes have to say by usual words ("prod",
 * "staging") that they are environments. False when memory ran out. */
bool shared_prefixes_find(struct arena *arena, const struct named_table *tables, size_t count,
                          struct shared_prefixes *out);

/* The number of the table that is called PREFIX BASE; COUNT when there is none. */
size_t shared_prefixes_table(const struct named_table *tables, size_t count, struct span prefix,
                             struct span base);

#endif
