/* Environments of a map that is drafted: beginnings of names that its tables share. */
#ifndef DDBFS_CORE_DRAFT_DRAFTED_ENVIRONMENTS_H
#define DDBFS_CORE_DRAFT_DRAFTED_ENVIRONMENTS_H

#include "core/map/declaration.h"

/* Names of tables; borrowed. */
struct author_names {
    const char **names;
    size_t count;
};

/* What is known of where the tables are; texts may be NULL. */
struct author_where {
    const char *profile;
    const char *region;
    const char *endpoint;
    /* All tables that are there, drafted or not. False when nobody can say. */
    bool (*list)(void *arg, struct author_names *out);
    void *arg;
};

/* Gives MAP, whose tables are named as the service names them, its environments; DESCRIBED are the
 * same tables, in the same order, as they were described.
 *
 * "prod-Orders" and "staging-Orders" are one table of two environments where they are described
 * alike; the one with the most kinds of records stays. "dev-a-Orders" and "dev-b-Orders" beside
 * them are those of "dev-{branch}", unless there are other tables that would be taken for a branch.
 * A map's tables are in each of its environments, so what is in some of them alone is taken out,
 * and told in LEFT_OUT. Where nothing is shared there is one environment, "all", without a prefix.
 * False when memory ran out. */
bool author_add_environments(struct arena *arena, struct declared_map *map,
                             const struct declared_table *const *described,
                             const struct author_where *where, struct author_names *left_out);

#endif
