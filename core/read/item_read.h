/* One step of a plan that is to give one record, asked through the cache. */
#ifndef DDBFS_CORE_READ_ITEM_READ_H
#define DDBFS_CORE_READ_ITEM_READ_H

#include "core/item/record.h"
#include "core/plan/plan.h"
#include "core/read/cache.h"
#include "core/read/place.h"
#include "core/source/source.h"

struct item_read {
    struct cache *cache;
    struct source *source;
    struct loop *loop;
    struct payer *payer; /* may be NULL; the question keeps its own reference */
    int64_t stale_ms;    /* by how much older than its ttl an answer may be in an outage */
    bool in_outage;      /* one was just met: what is not too old for it needs no second attempt */
    const struct plan *plan; /* borrowed; the question keeps its own reference */
    struct read *read; /* of one record by its key; handed over, whatever becomes of the question.
                        * NULL: the plan's query, of which the finder chooses */
    /* Of PLAN_SEARCH, whose item is the one with the place's shortened name; borrowed and copied.
     */
    const struct place *place;
    const struct place_options *names;
};

/* DONE gets a borrowed struct record, or NULL for a proven miss, as cache.h says. Ends early with
 * cache_leave. NULL when memory ran out. */
struct cache_wait *item_read_start(const struct item_read *ask, cache_done_fn *done, void *arg);

/* Where what a page brought comes from. */
void item_read_origin(struct loop *loop, const struct page *page, struct record_origin *out);

#endif
