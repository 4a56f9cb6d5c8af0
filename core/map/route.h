/* Routes: the paths of a table as a tree of segments. */
#ifndef DDBFS_CORE_MAP_ROUTE_H
#define DDBFS_CORE_MAP_ROUTE_H

#include "core/map/findings.h"
#include "core/map/model.h"

/* One step. A plain directory has neither FILE nor LIST. */
struct route {
    struct format segment;
    struct route *parent;
    struct route *children; /* the more specific first */
    struct route *next;     /* of the same parent */
    const struct map_pattern *list;
    const struct map_pattern *file;
    const struct map_kind *kind;     /* of FILE's item; NULL for several */
    const struct map_entry *entry;   /* FILE is the listing above, this is an entry of it */
    bool hidden;                     /* no listing shows it: all paths here and below are hidden */
    const struct map_vector *vector; /* of a vector index's directory, and of the placeholder in it,
                                      * which matches no name */
    const char *count;               /* the parameter here with the number of entries; or NULL */
    unsigned line, column;           /* of the first path with it */
};

/* Appends the step as in the map, with the rank of an entry. */
void route_write_segment(const struct route *route, struct buf *out);

/* The step below LISTING for ENTRY; NULL if another path has its names. */
const struct route *route_of_entry(const struct route *listing, const struct map_entry *entry);

/* The most segments of a path: routes are walked by recursion. */
enum { ROUTE_MAX_DEPTH = 64 };

/* The tree of MODEL's patterns, in ARENA, which is MODEL's. NULL with findings: invalid paths,
 * equal paths, or paths that match the same names. The last are reported only if the model is
 * WHOLE: an unreadable part may distinguish them. */
struct route *route_build(const struct model *model, struct arena *arena, bool whole,
                          struct findings *findings);

#endif
