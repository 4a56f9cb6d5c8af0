/* The indexes of a table while it is inferred, with the formats of their keys for each kind. */
#ifndef DDBFS_CORE_DRAFT_INFERRED_INDEXES_H
#define DDBFS_CORE_DRAFT_INFERRED_INDEXES_H

#include "core/draft/inferred_parts.h"

/* Declares the indexes, once the records are made. The parts of their keys become parts of the
 * kinds. False when memory ran out. */
bool inferred_indexes_make(struct inferred_table *inferred);

/* States which kinds each index holds, if the items are all of the table. The same result. */
bool inferred_indexes_find_held(struct inferred_table *inferred);

#endif
