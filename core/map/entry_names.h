/* Inside the map: how the entries of a listing are named. */
#ifndef DDBFS_CORE_MAP_ENTRY_NAMES_H
#define DDBFS_CORE_MAP_ENTRY_NAMES_H

#include "core/map/pattern_draft.h"

/* Fills in pattern->entries: one a kind, named by the parts of the key that the path does not say,
 * unless the map has a name of its own. False with a finding. */
bool entry_names_compile(struct pattern_draft *draft);

#endif
