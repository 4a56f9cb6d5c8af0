/* The latest changes of one table. A response may be older than a change that came before it: a
 * replica, or an index, is updated later than the stream. So each result is stored with the changes
 * of some seconds before its request. */
#ifndef DDBFS_CORE_LIVE_LIVE_HISTORY_H
#define DDBFS_CORE_LIVE_LIVE_HISTORY_H

#include "core/base/list.h"
#include "core/live/live_image.h"

struct live_history {
    struct list changes; /* of struct live_past, owned; the oldest first */
    size_t bytes;
    size_t *total;                                       /* of all histories; may be NULL */
    int64_t from_ms;                                     /* it has all changes that came since */
    void (*charge)(void *arg, size_t more, size_t less); /* see struct live_options */
    void *charge_arg;
};

/* Copies IMAGE, which came at NOW_MS. Without memory, or with too many changes in a short time, the
 * history begins later. */
void live_history_add(struct live_history *history, const struct live_image *image, int64_t now_ms);
/* Drops all; the history begins at NOW_MS. {0} is such a history of time 0. */
void live_history_restart(struct live_history *history, int64_t now_ms);

/* Drops changes that are too old, where none is added. */
void live_history_age(struct live_history *history, int64_t now_ms);

/* Changes of interest; the others need not be read. */
struct live_wanted_past {
    const uint64_t *hash; /* of an item's key; NULL: of any item */
    struct span text;     /* in the key or in one of the images, as it is in JSON; empty: any */
};

/* Calls FN for each wanted change that came since SINCE_MS, in their order. Others may come, too.
 */
void live_history_replay(const struct live_history *history, int64_t since_ms,
                         const struct live_wanted_past *wanted,
                         void (*fn)(void *arg, const struct live_image *image), void *arg);

#endif
