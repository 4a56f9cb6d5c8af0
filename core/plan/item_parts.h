/* The parts of items' keys: which of them a query implies for every item that it returns, and which
 * the item alone has, because they are parts of the index's key. */
#ifndef DDBFS_CORE_PLAN_ITEM_PARTS_H
#define DDBFS_CORE_PLAN_ITEM_PARTS_H

#include "core/json/json.h"
#include "core/map/model.h"
#include "core/source/read.h"

/* Whether QUERY returns only items whose key attribute number I has KIND's format and agrees with
 * PATH. False where that is not certain. */
bool item_parts_are_implied(const struct model *table, const struct read *query,
                            const struct map_kind *kind, size_t i, const struct bindings *path);

/* The number of times that the part PARAM occurs in KIND's keys. */
size_t item_parts_count(const struct model *table, const struct map_kind *kind, const char *param);

/* Whether a part without a value in PATH occurs twice in KIND's keys. */
bool item_parts_repeat(const struct model *table, const struct map_kind *kind,
                       const struct bindings *path);

/* Whether QUERY returns only items that the listing PATTERN shows, so that the source can count
 * them. False where that is not certain. */
bool item_parts_all_count(const struct map_pattern *pattern, const struct read *query,
                          const struct bindings *path);

/* The value in ITEM of KEY, a key attribute of a table or an index; its bytes are in ARENA. False
 * if it is absent or of another type, or memory ran out (ARENA->failed). */
bool item_parts_read_key(const struct map_key *key, struct json item, struct arena *arena,
                         struct value *out);

/* Adds to PARTS those parts of INDEX's key that WANTED has, with their values in ITEM, an item of
 * KIND; values already in PARTS stay. Texts go to ARENA. False if ITEM is not in the index that
 * way: an attribute of the index's key is absent or of another type, or one with such parts does
 * not have KIND's format; or if memory ran out (ARENA->failed). */
bool item_parts_add_of_index(const struct model *table, const struct map_index *index,
                             const struct map_kind *kind, const struct format *wanted,
                             struct json item, struct arena *arena, struct bindings *parts);

#endif
