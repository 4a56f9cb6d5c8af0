/* A row: one version of an item, or of its part in an index, as typed JSON. */
#ifndef DDBFS_CORE_LIVE_LIVE_ROW_H
#define DDBFS_CORE_LIVE_LIVE_ROW_H

#include <stdint.h>

#include "core/base/span.h"

/* Counted, and constant: a reader may still hold a row that a change has replaced. */
struct live_row {
    size_t references;
    uint64_t hash; /* of the item's key; equal keys have equal hashes */
    size_t size;
    char text[]; /* a typed item */
};

/* A copy of TEXT with one reference; NULL when memory ran out. */
struct live_row *live_row_new(struct span text, uint64_t hash);
struct live_row *live_row_ref(struct live_row *row); /* NULL for NULL */
/* The last one wipes and frees the row. NULL is fine. */
void live_row_unref(struct live_row *row);

static inline struct span live_row_text(const struct live_row *row)
{
    return span_of(row->text, row->size);
}

#endif
