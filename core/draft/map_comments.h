/* The comments of a first map: what stands where, and how to go on. */
#ifndef DDBFS_CORE_DRAFT_MAP_COMMENTS_H
#define DDBFS_CORE_DRAFT_MAP_COMMENTS_H

#include "core/map/declaration.h"

/* Gives MAP and its first table notes, where they have none. */
void author_teach(struct declared_map *map);

#endif
