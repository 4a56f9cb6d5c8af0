/* Paths for a table whose records and indexes have formats, from whatever said them. */
#ifndef DDBFS_CORE_DRAFT_DRAFTED_PATHS_H
#define DDBFS_CORE_DRAFT_DRAFTED_PATHS_H

#include "core/map/declaration.h"

/* Adds paths to TABLE, behind those that it has:
 *
 * - readable ones: for each way in which partition keys are written a directory that says it in
 *   steps ("user/{user_id}/"), with all that the partition holds; likewise for each index
 *   ("by-status/{status}/"); hidden in them one directory a kind with windows on the first part of
 *   its sort key ("user/{user_id}/order/2024*");
 * - the generic ones by whole keys, items/ and by/ (describe.h); what TABLE had of these goes.
 *
 * Whatever no kind fits is there as well, as a record of a kind by whole keys, "other", which is
 * added where there is none. Each record stands once below each tree that can be walked. No path is
 * ambiguous. Notes say what the paths are for. False when memory ran out. */
bool author_add_paths(struct arena *arena, struct declared_table *table);

#endif
