/* Kinds of record that write the table's partition key alike but for what its parts are called,
 * "account#{id}" and "account#{accountId}": the same records stand in both, so each such part gets
 * one name, where no kind has that name elsewhere. */
#ifndef DDBFS_CORE_DRAFT_ONE_NAME_H
#define DDBFS_CORE_DRAFT_ONE_NAME_H

#include "core/map/declaration.h"

/* Changes the formats of TABLE, and notes of a kind what is called otherwise than in the model. */
void one_name_merge(struct arena *arena, struct declared_table *table);

#endif
