/* Numbers as texts whose byte order is the order of the numbers: key columns of snapshots.
 * docs/snapshot.md has the form. */
#ifndef DDBFS_CORE_SNAPSHOT_SORT_TEXT_H
#define DDBFS_CORE_SNAPSHOT_SORT_TEXT_H

#include "core/base/buf.h"
#include "core/base/span.h"

/* Appends the text of NUMBER, which has no number_fault. Numbers of the same value have the same
 * text. */
void sort_text_write(struct span number, struct buf *out);

#endif
