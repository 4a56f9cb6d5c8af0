/* The files of a store, for its sources. */
#ifndef DDBFS_CORE_SNAPSHOT_STORE_FILES_H
#define DDBFS_CORE_SNAPSHOT_STORE_FILES_H

#include "core/base/worker.h"
#include "core/snapshot/snapshot_reader.h"

struct snapshot_store; /* core/snapshot/store.h */

/* Starts the store's thread, if it does not run. False when memory, descriptors or threads ran
 * out. */
bool store_start(struct snapshot_store *store);
struct worker *store_worker(const struct snapshot_store *store); /* NULL before store_start */
/* It belongs to the thread. */
struct snapshot_reader *store_reader(const struct snapshot_store *store);
struct loop *store_loop(const struct snapshot_store *store);

/* A table's state at a moment, valid until the next refresh, or as long as the file is held. */
struct store_place {
    struct snapshot_file *file; /* borrowed */
    const struct snapshot_table *table;
    const struct snapshot_moment *moment;
};

/* The newest state of the table NAME that is not later than AT_MS. False if it has no such state.
 */
bool store_find_table(const struct snapshot_store *store, const char *name, int64_t at_ms,
                      struct store_place *out);

/* The names of the tables that have a state at AT_MS, in byte order. False when memory ran out. */
bool store_list_tables(const struct snapshot_store *store, int64_t at_ms, struct arena *arena,
                       struct span **names, size_t *count);

/* False with ERR filled: a file was replaced or removed. */
bool store_check_files(const struct snapshot_store *store, struct error *err);

#endif
