/* The access policy that a map needs. It is made without any request, from the paths of the map and
 * the settings of its environments. It grants only operations of core/dynamo/request.h. */
#ifndef DDBFS_CORE_GRANTS_H
#define DDBFS_CORE_GRANTS_H

#include "core/sources.h"

/* Grants beside those of the map's paths. */
struct grants_more {
    bool tables;  /* all that paths below tables/ read, of any table */
    bool scan;    /* and Scans of these */
    bool live;    /* the streams of the map's tables; else of environments that are live */
    bool similar; /* searches in the vector indexes of the map's tables, which no map names */
};

/* Appends the policy of MAP, or of the one environment ENVIRONMENT (not NULL): a name that a path
 * may have, or the name in the map. Without a map the policy is that of tables/. Unknown parts of
 * an ARN and the values of parameters are "*". False with ERR filled: no such environment, or no
 * memory. */
bool grants_write(struct sources *sources, const struct map *map, const char *environment,
                  const struct grants_more *more, bool compact, struct buf *out, struct error *err);

#endif
