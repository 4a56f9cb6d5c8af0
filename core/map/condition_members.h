/* Inside the map: the "where" and "filter" members of a path, read into declarations. */
#ifndef DDBFS_CORE_MAP_CONDITION_MEMBERS_H
#define DDBFS_CORE_MAP_CONDITION_MEMBERS_H

#include "core/map/declaration.h"
#include "core/map/member_reader.h"

/* Each appends what VALUE says to the list CONDITIONS, all of which have to hold. A "where" is
 * about keys, and says of each one thing that a key condition can say; a "filter" may say all else.
 */
bool map_read_where(struct map_reader *reader, struct json value,
                    struct declared_condition **conditions);
bool map_read_filter(struct map_reader *reader, struct json value,
                     struct declared_condition **conditions);

/* What a map calls the operation: "begins_with". */
const char *map_condition_word(enum cond_op op);

#endif
