/* The parts of an index's key, which an item alone can tell: the table's key does not lead to them.
 */
#ifndef DDBFS_CORE_PLAN_INDEX_PARTS_H
#define DDBFS_CORE_PLAN_INDEX_PARTS_H

#include "core/json/json.h"
#include "core/map/model.h"

/* The value that ITEM has for KEY, a key attribute of a table or an index. False when it is missing
 * or of a wrong type, or (ARENA->failed) when memory ran out. Its bytes go to ARENA. */
bool index_parts_value(const struct map_key *key, struct json item, struct arena *arena,
                       struct value *out);

/* Adds to PARTS the parts of INDEX's key that stand in WANTED, as ITEM, a record of KIND, has them;
 * those that are in PARTS stay. False when ITEM is not in the index that way: an attribute of the
 * index's key is missing or of a wrong type, or one with such parts is not of KIND's format; or
 * (ARENA->failed) when memory ran out. Texts go to ARENA. */
bool index_parts_take(const struct model *table, const struct map_index *index,
                      const struct map_kind *kind, const struct format *wanted, struct json item,
                      struct arena *arena, struct bindings *parts);

#endif
