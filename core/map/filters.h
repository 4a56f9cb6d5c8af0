/* Inside the map: what of a query's answer counts. */
#ifndef DDBFS_CORE_MAP_FILTERS_H
#define DDBFS_CORE_MAP_FILTERS_H

#include "core/map/draft.h"

/* Fills in pattern->filter, and checks "pick". False with a finding. */
bool filters_compile(struct draft *draft);

#endif
