/* What has to be taken out of one row of things, and put in, to get another: as little as can be
 * found without looking for ever. */
#ifndef DDBFS_CORE_BASE_EDITS_H
#define DDBFS_CORE_BASE_EDITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of two rows. Things are the same if their numbers are. */
struct edits_row {
    const uint32_t *items; /* borrowed: below 2^31, and not many times as large as COUNT */
    size_t count;          /* likewise */
    bool *changed;         /* borrowed: room for one more than COUNT, all false before */
};

/* Marks what is to be taken out of FROM and what to be put into it to make TO; the last of CHANGED
 * stays false. A run of changes that could stand in several places stands in the last of them, or
 * beside what changed in the other row. False when memory ran out. */
bool edits_find(struct edits_row *from, struct edits_row *to);

#endif
