/* Differences: of two rows of numbers, and of two texts as `diff -u` prints them. */
#ifndef DDBFS_CORE_BASE_UNIFIED_H
#define DDBFS_CORE_BASE_UNIFIED_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/span.h"

/* One of two rows. Things are equal if their numbers are. */
struct edits_row {
    const uint32_t *items; /* borrowed: below 2^31, and not many times as large as COUNT */
    size_t count;          /* likewise */
    bool *changed;         /* borrowed: room for one more than COUNT, all false before */
};

/* Marks the things to remove from FROM, and those to insert into it, to make TO; the last of
 * CHANGED stays false. If a run of changes has several possible places, the last one is chosen, or
 * the one beside a change of the other row. False when memory ran out. */
bool edits_find(struct edits_row *from, struct edits_row *to);

/* A text and the name that is printed for it. */
struct unified_text {
    struct span label;
    struct span text;
};

/* Appends the differences of FROM and TO with three lines around each; nothing if they are equal.
 * OUT->failed when memory ran out. */
void unified_write(struct buf *out, const struct unified_text *from, const struct unified_text *to);

#endif
