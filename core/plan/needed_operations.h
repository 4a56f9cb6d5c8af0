/* What the paths of a table may ask of the service, whatever values they are given: what an access
 * policy has to grant. */
#ifndef DDBFS_CORE_PLAN_NEEDED_OPERATIONS_H
#define DDBFS_CORE_PLAN_NEEDED_OPERATIONS_H

#include "core/map/model.h"

/* Reads of the table itself. */
struct needed_operations {
    bool one;   /* one record by its key */
    bool many;  /* many records by their keys */
    bool query; /* a query */
};

/* What all plans of TABLE's paths come to: it says of the patterns what plan_new says of their
 * places. */
void needed_operations_of_table(const struct model *table, struct needed_operations *out);

/* Whether a path queries INDEX, which is one of TABLE's. */
bool needed_operations_index(const struct model *table, const struct map_index *index);

#endif
