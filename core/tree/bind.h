/* From a place to what is read for it: the conditions of its pattern with the path's values in
 * them. */
#ifndef DDBFS_CORE_TREE_BIND_H
#define DDBFS_CORE_TREE_BIND_H

#include "core/source/read.h"
#include "core/tree/place.h"

/* Whether the place's record is read by its key alone, without a query. */
bool bind_has_key(const struct place *place);

/* The key of the record at PLACE, when bind_has_key; texts go to ARENA. False with ERR filled
 * (ERROR_NOT_FOUND) when no key can have those parts. */
bool bind_key(const struct place *place, struct arena *arena, struct key *out, struct error *err);

/* The query of the place's pattern: of its record, or of its listing. ATTRIBUTES of a record are
 * what will be looked at; NULL for all that the source gives. NULL with ERR filled as above. */
struct read *bind_query(const struct place *place, struct error *err);

/* Reads COUNT records by their keys from the place's table. ATTRIBUTE, unless empty, is the only
 * one asked for, apart from what bind_holds looks at. NULL with ERR filled when memory ran out. */
struct read *bind_items(const struct place *place, const struct key *keys, size_t count,
                        struct span attribute, struct error *err);

/* The base-table key that ITEM carries; false when an attribute is missing or of a wrong type, or
 * (ARENA->failed) when memory ran out. */
bool bind_item_key(const struct model *table, struct json item, struct arena *arena,
                   struct key *out);

/* Which entry of LISTING, the place's route or the one above it, the key is, and the parts it is
 * made of (borrowed from KEY); NULL when it is none, or when a part contradicts the path. */
const struct route *bind_entry(const struct place *place, const struct route *listing,
                               const struct key *key, struct bindings *parts);

/* Whether the key is of that kind, with no part that contradicts the path. */
bool bind_is_kind(const struct place *place, const struct map_kind *kind, const struct key *key,
                  struct bindings *parts);

/* Whether the key is of that kind, whatever the path says. */
bool bind_key_is_of(const struct model *table, const struct map_kind *kind, const struct key *key);

/* Whether the key is of some kind that the table's map declares. */
bool bind_is_declared(const struct model *table, const struct key *key);

/* The query that finds a record by its shortened name: the listing's, narrowed to what the name
 * still shows where that is a beginning of the sort key. */
struct read *bind_search(const struct place *place, struct error *err);

/* Whether the record with KEY and ITEM is what the path says it is: every condition of the
 * pattern holds. False with ERR filled: ERROR_NOT_FOUND, or that memory ran out. */
bool bind_holds(const struct place *place, const struct key *key, struct json item,
                struct error *err);

#endif
