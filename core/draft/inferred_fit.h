/* Which kind each sampled record is of, by the formats of the kinds' keys, as it will be when the
 * map is read. */
#ifndef DDBFS_CORE_DRAFT_INFERRED_FIT_H
#define DDBFS_CORE_DRAFT_INFERRED_FIT_H

#include "core/draft/inference.h"

/* Drops one of two kinds that are as good for a record, or one that has none. False when there is
 * neither: then each kind has the records that are of it. The formats of all kinds must be there.
 */
bool inferred_fit_drop_unsure(struct inferring *inferring);

#endif
