/* Paths for a table whose records and indexes have formats, whatever declared these. */
#ifndef DDBFS_CORE_DRAFT_DRAFTED_PATHS_H
#define DDBFS_CORE_DRAFT_DRAFTED_PATHS_H

#include "core/map/declaration.h"

/* Adds paths to TABLE, behind its present ones:
 *
 * - readable ones: for each format of the partition key a directory with its parts as steps
 *   ("user/{user_id}/"), which holds the whole partition; likewise for each index
 *   ("by-status/{status}/"). In each, one hidden directory a kind has windows on the first part of
 *   the kind's sort key ("user/{user_id}/order/2024*"), with which its names begin.
 * - generic ones by whole keys, items/ and by/ (generic_view.h). They replace those of TABLE.
 *
 * Items that fit no kind are of the kind "other", by whole keys, which is added unless TABLE has
 * such a kind. Each item is listed once below each tree that can be walked. No path is ambiguous.
 * Notes explain the paths. False when memory ran out. */
bool drafted_paths_add(struct arena *arena, struct declared_table *table);

#endif
