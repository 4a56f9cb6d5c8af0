/* Inside the map: from what a path says to the key condition of its query. */
#ifndef DDBFS_CORE_MAP_KEY_CONDITIONS_H
#define DDBFS_CORE_MAP_KEY_CONDITIONS_H

#include "core/map/pattern_draft.h"

/* Fills in pattern->where: an equality for each partition attribute, and what can be said of the
 * sort key. False with a finding. */
bool key_conditions_compile(struct pattern_draft *draft);

#endif
