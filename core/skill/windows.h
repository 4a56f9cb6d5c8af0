/* Windows: directories below a listing that show a part of it, and that no listing shows. Listings
 * share few sets of them, so a document describes each set once. */
#ifndef DDBFS_CORE_SKILL_WINDOWS_H
#define DDBFS_CORE_SKILL_WINDOWS_H

#include "core/map/map.h"
#include "core/map/route.h"

enum { WINDOW_MOST_SETS = 4 };

/* {0} has none. */
struct window_sets {
    struct buf texts[WINDOW_MOST_SETS]; /* owned: each set as it is described */
    size_t count;
    bool failed; /* memory ran out; no answer since then counts */
};

void window_sets_clean_up(struct window_sets *sets);

/* Collects the sets of all tables of MAP, as many as there is room for. */
void window_sets_collect(struct window_sets *sets, const struct map *map);

/* Which of SETS has the windows of LISTING, from 1 on; 0 for none. */
size_t window_sets_find(struct window_sets *sets, const struct route *listing);

/* Whether ROUTE is a window of the listing above it, and SETS has that listing's. */
bool window_sets_have(struct window_sets *sets, const struct route *route);

/* Appends the section that describes SETS; nothing if there are none. */
void window_sets_write(const struct window_sets *sets, struct buf *out);

#endif
