/* The paths of a table as a tree of segments: what may stand at each step of a path. */
#ifndef DDBFS_CORE_MAP_ROUTE_H
#define DDBFS_CORE_MAP_ROUTE_H

#include "core/map/findings.h"
#include "core/map/model.h"

/* One step. A directory has neither FILE nor, unless it is a listing, LIST. */
struct route {
    struct format segment;
    struct route *parent;
    struct route *children; /* the more specific first */
    struct route *next;     /* of the same parent */
    const struct map_pattern *list;
    const struct map_pattern *file;
    const struct map_kind *kind;   /* of FILE: the record's kind; NULL where several are */
    const struct map_entry *entry; /* FILE is the listing above, this an entry of it */
    bool hidden;           /* no listing shows it: so say all paths that end here or below */
    const char *count;     /* the parameter here that says how many entries are shown; or NULL */
    unsigned line, column; /* of the path that made it */
};

/* Appends the step as the map writes it, the rank of an entry included. */
void route_write_segment(const struct route *route, struct buf *out);

/* The step below LISTING that is that entry of it; NULL when a path of its own takes its names. */
const struct route *route_of_entry(const struct route *listing, const struct map_entry *entry);

/* How many segments a path may have: routes are walked by recursion. */
enum { ROUTE_MAX_DEPTH = 64 };

/* The tree of MODEL's patterns, in ARENA, which is MODEL's. NULL with what is wrong in FINDINGS:
 * paths that can't be, that are the same, or, if the model is WHOLE, that match the same names:
 * what tells them apart may be in a part that could not be read. */
struct route *route_build(const struct model *model, struct arena *arena, bool whole,
                          struct findings *findings);

#endif
