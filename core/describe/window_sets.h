/* Windows: directories below a listing that show a part of it and are not listed. Many listings
 * share a set of them, so a document describes each set once. */
#ifndef DDBFS_CORE_DESCRIBE_WINDOW_SETS_H
#define DDBFS_CORE_DESCRIBE_WINDOW_SETS_H

#include "core/base/buf.h"
#include "core/map/route.h"

enum { WINDOW_MOST_SETS = 4 };

/* {0} is empty. */
struct window_sets {
    const struct route *listings[WINDOW_MOST_SETS]; /* borrowed: the first that has each set */
    size_t count;
    bool failed; /* memory ran out; later results mean nothing */
};

/* Collects the sets of the listings at ROUTE and below, as many as there is room for. */
void window_sets_collect(struct window_sets *sets, const struct route *route);

/* The number of the set with the windows of LISTING, from 1 on; 0 for none. */
size_t window_sets_find(struct window_sets *sets, const struct route *listing);

/* Whether ROUTE is a window of the listing above it, and SETS has that listing's. */
bool window_sets_have(struct window_sets *sets, const struct route *route);

/* WINDOW is one of a set, STEP its last step, "newest/", and SHOWN the part that it shows. */
typedef void window_fn(void *arg, const struct route *window, struct span step, struct span shown);

/* Calls FN for each window of LISTING. False when memory ran out. */
bool window_sets_each(const struct route *listing, window_fn *fn, void *arg);

/* Whether LISTING has the window STEP and it shows SHOWN; an empty SHOWN means any part. */
bool window_sets_include(const struct route *listing, struct span step, struct span shown);

/* The last set before SET, counted from 0, whose steps are all in SET; else SET itself.
 */
size_t window_sets_base(const struct window_sets *sets, size_t set);

#endif
