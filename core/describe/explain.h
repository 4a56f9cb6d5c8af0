/* A place in words: what it reads, what that costs, and the equal `aws` commands. Nobody is asked
 * for it. */
#ifndef DDBFS_CORE_DESCRIBE_EXPLAIN_H
#define DDBFS_CORE_DESCRIBE_EXPLAIN_H

#include "core/read/tree.h"

/* Appends the explanation for a person, or as one JSON object. PATH is what the user typed. False
 * with ERR filled when the path's values can't be what the map expects. */
bool explain_write(const struct tree *tree, const struct place *place, struct span path, bool json,
                   struct buf *out, struct error *err);

/* Appends the content of @info for RECORD at PLACE, which it took FOUND_UNITS read units to find
 * (less than 0: not told). STALE, unless NULL, says why the record is too old. False when memory
 * ran out. */
bool explain_write_info(const struct tree *tree, const struct place *place,
                        const struct record *record, double found_units, const struct error *stale,
                        struct buf *out);

/* Appends the content of a listing's @info: PLACE, and what listing it took. LEFT_OUT, unless NULL,
 * says which directory could not be listed for its name. False when memory ran out. */
bool explain_write_list_info(const struct tree *tree, const struct place *place,
                             const struct tree_listing *listing, const struct error *left_out,
                             struct buf *out);

#endif
