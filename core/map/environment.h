/* Which of a map's environments a user means by a name. */
#ifndef DDBFS_CORE_MAP_ENVIRONMENT_H
#define DDBFS_CORE_MAP_ENVIRONMENT_H

#include "core/map/map.h"

/* Whether EACH, an environment of MAP, is meant by NAME: its own name as the map writes it, or one
 * that it can have and that no other environment is called by. NULL means all. VALUES (which may be
 * NULL) get what the parameters of its name stand for, or a "*" each. */
bool environment_is_meant(const struct map *map, const struct map_environment *each,
                          const char *name, struct bindings *values);

/* Fills ERR: MAP has none that NAME means, but others. Returns false. */
bool environment_fail(const struct map *map, const char *name, struct error *err);

/* Whether TABLE, a table's whole name, is what an environment of MAP calls MODEL's table. */
bool environment_calls(const struct map *map, const struct model *model, struct span table);

#endif
