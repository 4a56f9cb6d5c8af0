/* The source of a snapshot: the state of its tables at a moment. SQLite works on the store's
 * thread, and pages are delivered by the loop. Capacity is 0, and requests are 0. A Scan is always
 * allowed, and its items come in the order of their keys. See docs/internals/snapshot.md. */
#ifndef DDBFS_CORE_SNAPSHOT_SNAPSHOT_H
#define DDBFS_CORE_SNAPSHOT_SNAPSHOT_H

#include "core/snapshot/store.h"
#include "core/source/source.h"

extern const struct source_ops snapshot_ops;

/* Each table is read as it was at its newest moment not later than AT_MS; INT64_MAX: at its newest.
 * Holds a reference to STORE. NULL when memory ran out. */
struct source *snapshot_new(struct snapshot_store *store, int64_t at_ms);

#endif
