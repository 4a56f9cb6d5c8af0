/* A set of snapshot files, opened for reading, and the moments that they have. Their items are read
 * by core/snapshot/snapshot.h. */
#ifndef DDBFS_CORE_SNAPSHOT_STORE_H
#define DDBFS_CORE_SNAPSHOT_STORE_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/loop.h"

struct snapshot_store;

struct snapshot_store_options {
    struct loop *loop;
    const struct log *log; /* may be NULL */
    const char *const *files;
    size_t file_count;
    const char
        *folder; /* its files *.ddb, hidden ones excepted, are part of the set; may be NULL */
};

/* Reads what tables and moments the files have. LOOP and LOG are borrowed, the rest is copied. The
 * caller holds the only reference. NULL with ERR filled: a file is missing or no snapshot, or the
 * set has no file. No thread is started, and no file stays open. */
struct snapshot_store *snapshot_store_open(const struct snapshot_store_options *options,
                                           struct error *err);
struct snapshot_store *snapshot_store_ref(struct snapshot_store *store);
/* Sources hold references, too. NULL is fine. */
void snapshot_store_unref(struct snapshot_store *store);

/* Looks for new, changed and removed files. Calls that have started read their file to the end.
 * False with ERR filled: a file can't be read. The known moments of it stay, and reads of it report
 * the failure; all other files are refreshed. */
bool snapshot_store_refresh(struct snapshot_store *store, struct error *err);

/* The moments of all tables, each once, in milliseconds since 1970. NEWEST_FIRST is valid until the
 * next refresh. */
size_t snapshot_store_moments(const struct snapshot_store *store, const int64_t **newest_first);

/* Appends where the state of TABLE at AT_MS comes from, in words: the moment, the file and the
 * export. Nothing if the table has no state at that moment. */
void snapshot_store_write_origin(const struct snapshot_store *store, const char *table,
                                 int64_t at_ms, struct buf *out);
/* Sets STATE_MS to the moment of that state. False if the store has no state as old. */
bool snapshot_store_find_state(const struct snapshot_store *store, const char *table, int64_t at_ms,
                               int64_t *state_ms);

#endif
