/* The versions of an item: the item as it is read at each moment of its environment's snapshots. A
 * moment is a version if the item's file differs from that at the moment before. */
#ifndef DDBFS_CORE_READ_HISTORY_H
#define DDBFS_CORE_READ_HISTORY_H

#include "core/read/tree.h"

struct history; /* versions on their way, the newest first */

struct history_version {
    int64_t moment_ms;
    bool deleted;      /* the item existed at the moment before; BYTES is empty */
    struct span bytes; /* of its file; borrowed for the time of the callback */
    int64_t ttl_left_ms;
};

/* With neither VERSION nor ERR there is no further version. An error is the last. An item that no
 * moment has is ERROR_NOT_FOUND. */
typedef void history_fn(void *arg, const struct history_version *version, const struct error *err);

/* PLACE is a PLACE_HISTORY, or a PLACE_VERSION, which has one version at most: ERROR_NOT_FOUND if
 * the item did not change then. PLACE must stay until the end. FN gets the first version later.
 * NULL with ERR filled. */
struct history *history_start(const struct tree *tree, const struct place *place, history_fn *fn,
                              void *arg, struct error *err);
/* Starts the next version, once for each. FN gets it later. */
void history_more(struct history *history);
/* Ends it, finished or not; FN is not called again. NULL is fine. */
void history_close(struct history *history);

#endif
