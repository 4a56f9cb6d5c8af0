/* Environments of a map that is drafted: beginnings of names that its tables share. */
#ifndef DDBFS_CORE_AUTHOR_ENVIRONMENTS_H
#define DDBFS_CORE_AUTHOR_ENVIRONMENTS_H

#include "core/map/declaration.h"

/* What is known of where the tables are; texts may be NULL. */
struct author_where {
    const char *profile;
    const char *region;
    const char *endpoint;
};

/* Gives MAP, whose tables are named as the service names them, its environments. "prod-Orders" and
 * "prod-Users" are two tables of "prod"; "staging-Orders" beside "prod-Orders" is the same table of
 * another environment, where each of them has all tables: of the same tables, those of the first
 * environment stay. Else there is one environment, "all", without a prefix. False when memory ran
 * out. */
bool author_add_environments(struct arena *arena, struct declared_map *map,
                             const struct author_where *where);

#endif
