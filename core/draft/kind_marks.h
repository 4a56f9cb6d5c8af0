/* Attributes that say which kind an item is: "__edb_e__", "_type", "EntityType". */
#ifndef DDBFS_CORE_DRAFT_KIND_MARKS_H
#define DDBFS_CORE_DRAFT_KIND_MARKS_H

#include "core/draft/inference.h"

/* What the items of KIND call their kind; empty where they do not, or where another kind has that
 * name, too. KIND's rows must be the final ones. */
struct span kind_marks_name(const struct inferring *inferring, const struct inferred_kind *kind);

#endif
