/* The names of the parts of a kind's keys. Within a kind one name is one thing, in the table's keys
 * and in those of its indexes; between kinds, what stands at the same place has the same name. */
#ifndef DDBFS_CORE_DRAFT_INFERRED_PARTS_H
#define DDBFS_CORE_DRAFT_INFERRED_PARTS_H

#include "core/draft/inference.h"

/* All functions that return bool: false when memory ran out. */

/* Names the parts of KIND's keys, each key by itself. */
bool inferred_parts_name(struct inferring *inferring, struct inferred_kind *kind);

/* What stands at the same place of another kind's key has that kind's name, at best one that an
 * attribute gave: "INDEX#{index_name}" makes "INDEX#{index_name}#CONFIG". SIDE is which key. */
void inferred_parts_name_likewise(struct inferring *inferring, size_t side);

/* Gives the parts of one key of KIND their final names, in NAMES, which stands beside SHAPE's
 * tokens, and notes what they are in each record. KIND's rows must be the final ones. ROW_OF says
 * which of COLUMN's specimens each of its records is, SIZE_MAX for none. FIXED: the names are
 * final. */
bool inferred_parts_resolve(struct inferring *inferring, struct inferred_kind *kind,
                            const struct column *column, const size_t *row_of,
                            const struct key_shape *shape, struct part_name *names, bool fixed);

/* The part of KIND that was settled under NAME, or NULL. */
const struct inferred_part *inferred_parts_find(const struct inferred_kind *kind, const char *name);

/* The format of keys of COLUMN, of SHAPE, whose parts have NAMES. */
bool inferred_parts_format(struct inferring *inferring, const struct column *column,
                           const struct key_shape *shape, const struct part_name *names,
                           struct format *out);

#endif
