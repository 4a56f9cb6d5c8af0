/* The kind of record that has whatever no other kind fits: by whole keys. */
#ifndef DDBFS_CORE_DRAFT_WHOLE_KIND_H
#define DDBFS_CORE_DRAFT_WHOLE_KIND_H

#include "core/map/declaration.h"

/* The record of TABLE whose keys are one open part each, added where there is none, with such a
 * part for each key of each index. NULL when memory ran out. */
const struct declared_record *whole_kind(struct arena *arena, struct declared_table *table);

#endif
