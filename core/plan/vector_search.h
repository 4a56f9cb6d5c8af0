/* The search for the items whose vectors are nearest to that of one item. */
#ifndef DDBFS_CORE_PLAN_VECTOR_SEARCH_H
#define DDBFS_CORE_PLAN_VECTOR_SEARCH_H

#include "core/json/json.h"
#include "core/map/model.h"
#include "core/source/read.h"

/* The search in VECTOR, an index of the table TABLE_NAME with the keys of TABLE, for the TOP
 * nearest items. Its vector is not known yet; the source can print it, and not execute it. It
 * requests only keys. NULL when memory ran out. */
struct read *vector_search_new(const struct map_vector *vector, const struct model *table,
                               const char *table_name, uint32_t top);

/* SEARCH with the vector of ITEM. NULL with ERR filled: ERROR_INVALID if ITEM has no vector of this
 * index, or no value for the index's partition attribute; or memory ran out. A directory that
 * cannot be listed must not be "not found": the kernel takes that for its end. */
struct read *vector_search_from(const struct read *search, const struct map_vector *vector,
                                struct json item, struct error *err);

#endif
