/* The proof that a snapshot file is what docs/snapshot.md describes. */
#ifndef DDBFS_CORE_IMPORT_SNAPSHOT_CHECK_H
#define DDBFS_CORE_IMPORT_SNAPSHOT_CHECK_H

#include "core/base/error.h"

enum { SNAPSHOT_FAULTS = 20 /* of a table that are reported */ };

struct snapshot_check_options {
    const char *file;
    /* Called for each fact that is proven, and for each fault; TABLE may be NULL. */
    void (*report)(void *arg, bool is_proven, const char *table, const char *text);
    void *arg;
};

/* Examines all of the file; nothing is written. False with ERR filled if it can't be read to the
 * end. Faults in readable parts are reported alone. */
bool snapshot_check(const struct snapshot_check_options *options, struct error *err);

#endif
