/* Environments of a drafted map: prefixes that the names of its tables share. */
#ifndef DDBFS_CORE_DRAFT_DRAFTED_ENVIRONMENTS_H
#define DDBFS_CORE_DRAFT_DRAFTED_ENVIRONMENTS_H

#include "core/map/declaration.h"

/* Names of tables; borrowed. */
struct table_names {
    const char **names;
    size_t count;
};

/* The account of the tables; texts may be NULL. */
struct environment_origin {
    const char *profile;
    const char *region;
    const char *endpoint;
    const char *snapshot;
    /* Lists all tables, drafted or not. False when they can't be listed. */
    bool (*list)(void *arg, struct table_names *out);
    void *arg;
};

/* Adds environments to MAP, whose tables have their names at the service. DESCRIBED are the generic
 * declarations of the same tables, in the same order.
 *
 * "prod-Orders" and "staging-Orders" are one table of two environments if their descriptions are
 * the same; the one with the most kinds of items stays. "dev-a-Orders" and "dev-b-Orders" beside
 * them are those of "dev-{branch}", unless other tables would be taken for a branch. A map's tables
 * are in each of its environments: a table of only some environments is removed and listed in
 * LEFT_OUT. If the names share nothing, there is one environment, "all", without a prefix. False
 * when memory ran out. */
bool drafted_environments_add(struct arena *arena, struct declared_map *map,
                              const struct declared_table *const *described,
                              const struct environment_origin *origin,
                              struct table_names *left_out);

#endif
