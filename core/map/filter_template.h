/* Inside the map: what of a query's answer counts. */
#ifndef DDBFS_CORE_MAP_FILTER_TEMPLATE_H
#define DDBFS_CORE_MAP_FILTER_TEMPLATE_H

#include "core/map/pattern_draft.h"

/* Fills in pattern->filter, and checks "pick". False with a finding. */
bool filter_template_compile(struct pattern_draft *draft);

#endif
