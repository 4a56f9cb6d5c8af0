/* The table's indexes, with how each kind of record writes their keys. */
#ifndef DDBFS_CORE_DRAFT_INFERRED_INDEXES_H
#define DDBFS_CORE_DRAFT_INFERRED_INDEXES_H

#include "core/draft/inference.h"

/* Declares the indexes anew, once the records are made. The parts of their keys become parts of the
 * kinds. False when memory ran out. */
bool inferred_indexes_make(struct inferring *inferring);

#endif
