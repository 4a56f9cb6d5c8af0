/* The values of a link's parts: as far as a record's path tells them, and as the record does. */
#ifndef DDBFS_CORE_READ_LINK_VALUES_H
#define DDBFS_CORE_READ_LINK_VALUES_H

#include "core/base/error.h"
#include "core/json/json.h"
#include "core/map/route.h"

/* A record, as its path says it. All borrowed. */
struct linked {
    const struct model *table;
    const struct route *route;
    const struct bindings *path;
    bool shortened; /* of its name only a digest is known */
};

/* Whether LINK, or any where it is NULL, needs no record: the path tells all. */
bool link_values_known(const struct linked *record, const struct map_link *link);

/* VALUES get those of LINK's parts; texts go to ARENA. False with ERR filled: ERROR_NOT_FOUND when
 * the record has no such link, or has to be read; or that memory ran out. */
bool link_values_of_path(const struct linked *record, const struct map_link *link,
                         struct arena *arena, struct bindings *values, struct error *err);
bool link_values_of_record(const struct linked *record, const struct map_link *link,
                           struct json item, struct arena *arena, struct bindings *values,
                           struct error *err);

#endif
