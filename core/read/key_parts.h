/* The parts of the keys of a listing's items, as columns. */
#ifndef DDBFS_CORE_READ_KEY_PARTS_H
#define DDBFS_CORE_READ_KEY_PARTS_H

#include "core/output/form.h"
#include "core/read/place.h"

struct key_parts {
    struct form_part *parts;  /* each once; borrowed of the model */
    struct sql_value *values; /* of these, in the item that was read latest */
    size_t count;
};

/* The parts that the keys of PLACE's items can have, PLACE being a listing: of the table's key,
 * then of the key of the index that it queries. False when memory ran out. */
bool key_parts_find(const struct place *place, struct arena *arena, struct key_parts *out);

/* Whether a part has that name. */
bool key_parts_has(const struct key_parts *parts, struct span name);

/* Reads the values of ITEM; a part that its key lacks is NULL. Texts go to ARENA. False when memory
 * ran out. */
bool key_parts_read(struct key_parts *parts, const struct place *place, struct json item,
                    struct arena *arena);

/* The value of PART as SQLite has it, in LIST@sqlite and in `ddbfs sql`: of a padded part the
 * number. Its bytes are those of PART. */
struct sql_value key_parts_value(const struct model *model, const struct binding *part);

#endif
