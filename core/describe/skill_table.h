/* What a skill says of one table: its kinds of record, paths with their costs, parameters, links.
 */
#ifndef DDBFS_CORE_DESCRIBE_SKILL_TABLE_H
#define DDBFS_CORE_DESCRIBE_SKILL_TABLE_H

#include "core/describe/window_sets.h"
#include "core/read/place.h"

/* How much is told of a table: the more tables there are, the less of each. */
struct skill_measure {
    size_t kinds, paths, params, links;
    size_t values; /* of a parameter */
};

/* All borrowed. */
struct skill_of {
    const struct map *map;
    const struct map_environment *environment; /* of which examples are */
    const struct place_options *names;
    struct window_sets *windows;
    const char *list_cost, *item_cost; /* which the document says once; NULL: of none */
};

/* Appends the cost of the first listing of MODEL's table, or of the first item by its key, of which
 * most cost the same; nothing if there is none. False when memory ran out. */
bool skill_table_usual_cost(const struct skill_of *of, const struct model *table, bool list,
                            struct buf *out);

/* Appends the section. What MEASURE leaves out is told, with where it is found. False when memory
 * ran out. */
bool skill_table_write(const struct skill_of *of, const struct model *table,
                       const struct skill_measure *measure, struct buf *out);

#endif
