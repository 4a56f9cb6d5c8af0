/* The access policy that a map needs, or who has none. Nothing is asked for it: it is made of what
 * the map's paths may read, and of where settings say that its environments are. */
#ifndef DDBFS_CORE_GRANTS_H
#define DDBFS_CORE_GRANTS_H

#include "core/sources.h"

/* What is granted beside what the map's paths may read. */
struct grants_more {
    bool tables; /* all that is asked below tables/, of any table */
    bool scan;   /* and Scans of these */
};

/* Appends the policy of MAP, or (ENVIRONMENT is not NULL) of the environment of that name alone:
 * one that there can be, or as the map writes it. Without a map it is that of tables/: to read all
 * tables there are. What of an ARN is not known is a "*", and so are
 * the values of parameters. False with ERR filled: no such environment, or no memory. */
bool grants_write(struct sources *sources, const struct map *map, const char *environment,
                  const struct grants_more *more, bool compact, struct buf *out, struct error *err);

#endif
