/* One Read that is to give one record, asked through the cache. */
#ifndef DDBFS_CORE_TREE_ASK_H
#define DDBFS_CORE_TREE_ASK_H

#include "core/item/record.h"
#include "core/map/model.h"
#include "core/source/source.h"
#include "core/tree/cache.h"

struct ask {
    struct cache *cache;
    struct source *source;
    struct read *read; /* handed over, whatever becomes of the question */
    struct loop *loop;
    /* Only records of that kind count; NULL: all do. Both are borrowed: who asks holds
     * the model. */
    const struct model *table;
    const struct map_kind *kind;
    /* Which of several records is the answer: the one with the greatest or least ATTRIBUTE
     * (borrowed likewise), or the first if the Read's limit is 1, or else the only one; two
     * are ERROR_AMBIGUOUS. */
    enum map_pick pick;
    const char *pick_attribute;
    int64_t ttl_ms;
};

/* DONE gets a borrowed struct record, or NULL for a proven miss. Ends early with cache_leave.
 * NULL when memory ran out. */
struct cache_wait *ask_record(const struct ask *ask, cache_done_fn *done, void *arg);

#endif
